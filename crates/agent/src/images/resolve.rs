//! Which version a workload means: the server knows, and where none can be reached, what is here.

use std::time::Duration;

use hostler_model::{Bytes, ImageRef, PullPolicy, StoredImage};
use hostler_proto::v1::{self, agent_link_client::AgentLinkClient};
use tonic::transport::Channel;

use super::{Images, engine_name, names};
use crate::blobs::BlobError;
use crate::container::EngineError;

/// How long a server may take, with the connection to it.
pub(super) const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Why it is not known which version is meant.
#[derive(Debug)]
pub(crate) enum Unresolved {
    /// It may be tried again.
    Later(String),
    Never(String),
}

impl From<EngineError> for Unresolved {
    fn from(error: EngineError) -> Unresolved {
        match error {
            EngineError::Away { .. } => Unresolved::Later(error.to_string()),
            e => Unresolved::Never(e.to_string()),
        }
    }
}

impl Images {
    /// The version that is meant. Where the policy forbids to fetch, or no server can be reached, it is the
    /// newest that is here.
    pub async fn resolve(
        &self,
        reference: &ImageRef,
        policy: PullPolicy,
    ) -> Result<StoredImage, Unresolved> {
        let here = self.newest_here(reference).await?;
        if policy == PullPolicy::Never {
            return here.ok_or_else(|| {
                Unresolved::Never(format!(
                    "image hostler://{reference} is not on this node and its pull policy is never; bring it here with `hostler image sync`, or set container.pull"
                ))
            });
        }
        match (tokio::time::timeout(ANSWER_TIME, self.ask(reference)).await, here) {
            (Ok(Ok(found)), _) => found.ok_or_else(|| {
                Unresolved::Never(format!(
                    "there is no image hostler://{reference}; `hostler image ls` lists those that are kept, `hostler image push` adds one"
                ))
            }),
            (Ok(Err(_)) | Err(_), Some(here)) => {
                tracing::info!(image = %here, "no server says which image is meant, this one is here");
                Ok(here)
            }
            (Ok(Err(BlobError::Alone)), None) => Err(Unresolved::Never(format!(
                "image hostler://{reference} is not on this node, and there is no server to have it from"
            ))),
            (Ok(Err(e)), None) => Err(Unresolved::Later(format!(
                "image hostler://{reference} cannot be looked up: {e}"
            ))),
            (Err(_), None) => Err(Unresolved::Later(format!(
                "image hostler://{reference} cannot be looked up: no server answers"
            ))),
        }
    }

    async fn ask(&self, reference: &ImageRef) -> Result<Option<StoredImage>, BlobError> {
        let channel = self.inner.blobs.reach().channel().await?;
        self.ask_over(&channel, reference).await
    }

    /// The version that the server says is meant; `None` when it has none.
    pub(super) async fn ask_over(
        &self,
        channel: &Channel,
        reference: &ImageRef,
    ) -> Result<Option<StoredImage>, BlobError> {
        let request = v1::ResolveImageRequest { reference: reference.to_string() };
        let reply = AgentLinkClient::new(channel.clone()).resolve_image(request).await;
        let reply = reply.map_err(|status| BlobError::Away(status.message().to_owned()))?;
        let image_json = reply.into_inner().image_json;
        if image_json.is_empty() {
            return Ok(None);
        }
        let found = serde_json::from_str(&image_json);
        found.map(Some).map_err(|e| BlobError::Away(format!("the server is not understood: {e}")))
    }

    async fn newest_here(&self, reference: &ImageRef) -> Result<Option<StoredImage>, EngineError> {
        let mut here = self.here(reference).await?;
        here.sort_by_key(|image| image.version);
        Ok(here.pop())
    }

    /// What the engine calls those that are meant.
    pub(super) async fn local_names(
        &self,
        reference: &ImageRef,
    ) -> Result<Vec<String>, EngineError> {
        Ok(self.here(reference).await?.iter().map(engine_name).collect())
    }

    async fn here(&self, reference: &ImageRef) -> Result<Vec<StoredImage>, EngineError> {
        let mut here = Vec::new();
        for row in self.inner.engine.images().await? {
            let size = Bytes::new(row.size);
            for (name, version, digest) in row.names.iter().filter_map(|name| names::stored(name)) {
                if names::is_meant(reference, &name, version, digest) {
                    here.push(StoredImage { name, version, digest, size });
                }
            }
        }
        Ok(here)
    }
}
