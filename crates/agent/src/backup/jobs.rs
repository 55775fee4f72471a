//! Jobs under way, by the operation that wants them: begun by the first question that says what is to be done,
//! remembered for those that follow.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::{OnError, Tasks};
use hostler_model::{JobState, OperationId};
use tokio::sync::watch;

use super::Progress;

/// How many that have ended are remembered.
const REMEMBERED: usize = 64;
/// The most that wait for their turn.
const WAITING_MAX: usize = 32;
/// So long a question waits for the end of a job, so that what is quick is told at once.
const MOMENT: Duration = Duration::from_secs(2);

pub(super) struct Jobs<T> {
    known: Mutex<HashMap<OperationId, Job<T>>>,
}

type Found<T> = (watch::Receiver<JobState<T>>, Arc<Progress>);

struct Job<T> {
    state: watch::Receiver<JobState<T>>,
    progress: Arc<Progress>,
}

/// What goes on beside a job ends with it, also when the agent stops.
struct Guard(Arc<Progress>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl<T> Default for Jobs<T> {
    fn default() -> Jobs<T> {
        Jobs { known: Mutex::default() }
    }
}

impl<T: Clone + Send + Sync + 'static> Jobs<T> {
    /// How it stands, after a moment. Without `begin` none is begun.
    pub async fn ask<B, F>(&self, tasks: &Tasks, id: OperationId, begin: Option<B>) -> JobState<T>
    where
        B: FnOnce(Arc<Progress>) -> F,
        F: Future<Output = JobState<T>> + Send + 'static,
    {
        let (mut state, progress) = match self.find_or_begin(tasks, id, begin) {
            Ok(found) => found,
            Err(state) => return state,
        };
        let ended = state.wait_for(|state| !matches!(state, JobState::Going { .. }));
        match tokio::time::timeout(MOMENT, ended).await {
            Ok(Ok(ended)) => ended.clone(),
            // The agent is stopping.
            Ok(Err(_)) => JobState::Going { words: "the agent is stopping".to_owned() },
            Err(_) => JobState::Going { words: progress.told() },
        }
    }

    fn find_or_begin<B, F>(
        &self,
        tasks: &Tasks,
        id: OperationId,
        begin: Option<B>,
    ) -> Result<Found<T>, JobState<T>>
    where
        B: FnOnce(Arc<Progress>) -> F,
        F: Future<Output = JobState<T>> + Send + 'static,
    {
        let mut known = self.locked();
        if let Some(job) = known.get(&id) {
            return Ok((job.state.clone(), job.progress.clone()));
        }
        let Some(begin) = begin else { return Err(JobState::Unknown) };
        let is_going = |job: &Job<T>| matches!(*job.state.borrow(), JobState::Going { .. });
        if known.values().filter(|job| is_going(job)).count() >= WAITING_MAX {
            let words = "too much is read or put back on this machine already; it waits".to_owned();
            return Err(JobState::Going { words });
        }
        if known.len() >= REMEMBERED {
            known.retain(|_, job| is_going(job));
        }
        let (sender, state) = watch::channel(JobState::Going { words: String::new() });
        let progress = Arc::new(Progress::default());
        known.insert(id, Job { state: state.clone(), progress: progress.clone() });
        let job = begin(progress.clone());
        let guard = Guard(progress.clone());
        tasks.spawn_until_cancelled("backup", OnError::Log, async move {
            let _guard = guard;
            sender.send_replace(job.await);
        });
        Ok((state, progress))
    }

    /// What has not begun is not begun; what has, ends soon.
    pub fn forget(&self, id: OperationId) {
        if let Some(job) = self.locked().get(&id) {
            job.progress.stop();
        }
    }

    fn locked(&self) -> MutexGuard<'_, HashMap<OperationId, Job<T>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
