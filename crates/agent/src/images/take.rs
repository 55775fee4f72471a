//! Giving an image to the installation: one that the engine has, or what a container is now.

use futures::TryStreamExt;
use hostler_model::{Bytes, ImageSource, JobState, OperationId, TakenImage};
use tokio::sync::watch;
use tokio_util::io::StreamReader;

use super::{Images, is_abandoned, locked};
use crate::blobs::PutAs;
use crate::container::EngineError;

/// How many ended jobs are remembered, until their operation has asked.
const REMEMBERED: usize = 32;
/// News come when so much more was sent.
const STEP: u64 = 64 << 20;

pub(super) struct Take {
    state: watch::Receiver<JobState>,
}

impl Images {
    /// How a job stands. Without a grant none is begun.
    pub(super) fn take_job(
        &self,
        job: OperationId,
        grant: Option<String>,
        source: ImageSource,
    ) -> JobState {
        let mut takes = locked(&self.inner.takes);
        if let Some(take) = takes.get(&job) {
            let state = take.state.borrow().clone();
            if !matches!(state, JobState::Going { .. }) || !is_abandoned(&take.state) {
                return state;
            }
        }
        let Some(grant) = grant else { return JobState::Unknown };
        if takes.len() >= REMEMBERED {
            takes.retain(|_, take| matches!(*take.state.borrow(), JobState::Going { .. }));
        }
        let begun = JobState::Going { words: format!("{source} is looked at") };
        let (sender, state) = watch::channel(begun.clone());
        takes.insert(job, Take { state });
        let images = self.clone();
        self.begin(async move {
            let ended = match images.give(job, grant, &source, &sender).await {
                Ok(content) => JobState::Done { content: Some(content) },
                Err(why) => JobState::Failed { why },
            };
            sender.send_replace(ended);
        });
        begun
    }

    async fn give(
        &self,
        job: OperationId,
        grant: String,
        source: &ImageSource,
        state: &watch::Sender<JobState>,
    ) -> Result<TakenImage, String> {
        let words = |e: EngineError| e.to_string();
        match source {
            ImageSource::Image { image } => self.send(image, grant, source, state).await,
            ImageSource::Container { container } => {
                let name = self.inner.mark.taken(job);
                state.send_replace(JobState::Going { words: format!("{source} is copied") });
                self.inner.engine.commit(container, &name).await.map_err(words)?;
                let sent = self.send(&name, grant, source, state).await;
                let _swept_later = self.inner.engine.remove_image(&name, false).await;
                sent
            }
        }
    }

    async fn send(
        &self,
        image: &str,
        grant: String,
        source: &ImageSource,
        state: &watch::Sender<JobState>,
    ) -> Result<TakenImage, String> {
        let exported = self.inner.engine.export_image(image).await.map_err(|e| e.to_string())?;
        let content = StreamReader::new(exported.content.map_err(std::io::Error::other));
        let mut told = 0;
        let progress = |so_far: crate::blobs::Progress| {
            if so_far.bytes >= told + STEP {
                told = so_far.bytes;
                let words = format!("{source} is sent, {} so far", Bytes::new(told));
                state.send_replace(JobState::Going { words });
            }
        };
        let put = self.inner.blobs.put(&PutAs::Grant(grant), content, image, progress).await;
        let content = put.map_err(|e| hostler_base::chain(&e).to_string())?;
        Ok(TakenImage { digest: content.digest, size: Bytes::new(content.size) })
    }

    /// Removes what jobs of an agent before this one left in the engine.
    pub async fn sweep(&self) -> Result<(), EngineError> {
        for row in self.inner.engine.images().await? {
            let left = row.names.iter().filter(|name| {
                let job = self.inner.mark.taken_by(name);
                job.is_some_and(|job| !locked(&self.inner.takes).contains_key(&job))
            });
            for name in left {
                self.inner.engine.remove_image(name, false).await?;
                tracing::info!(image = %name, "left image removed");
            }
        }
        Ok(())
    }
}
