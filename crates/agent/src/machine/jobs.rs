//! Deeds under way. A job is begun by the first question about it and remembered for those that follow, also when
//! the session they came over is gone; the outcome of one that has ended is kept until there are many.
//!
//! An agent that dies forgets its jobs. The operation asks the next one, which begins again: a deed says how
//! something is to be, so what was done already is found to be so.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::{OnError, Tasks};
use hostler_host::{Host, HostError};
use hostler_model::host::{HostDeed, HostOutcome};
use hostler_model::{JobState, OperationId};
use tokio::sync::watch;

use super::deed;

/// How many that have ended are remembered.
const REMEMBERED: usize = 64;
/// The most that wait for their turn.
const WAITING_MAX: usize = 32;
type State = JobState<HostOutcome>;

pub(super) struct Jobs {
    host: Host,
    tasks: Tasks,
    /// One deed at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    known: Arc<Mutex<HashMap<OperationId, Job>>>,
    /// So long a question waits for the end of a job, so that what is quick is told at once.
    moment: Duration,
}

struct Job {
    state: watch::Receiver<State>,
    /// Held by whoever still wants it; one that has not begun is given up when nobody does.
    wanted: watch::Sender<bool>,
}

impl Jobs {
    pub fn new(host: Host, tasks: Tasks, moment: Duration) -> Jobs {
        Jobs { host, tasks, turn: Arc::default(), known: Arc::default(), moment }
    }

    /// How it stands, after a moment; begins what is not known.
    pub async fn ask(&self, id: OperationId, deed: HostDeed) -> State {
        let state = match self.find_or_begin(id, deed) {
            Ok(state) => state,
            Err(refused) => return refused,
        };
        let mut followed = state.clone();
        let ended = followed.wait_for(|state| !matches!(state, JobState::Going { .. }));
        match tokio::time::timeout(self.moment, ended).await {
            Ok(Ok(ended)) => ended.clone(),
            // The agent is stopping.
            Ok(Err(_)) => JobState::Unknown,
            Err(_) => state.borrow().clone(),
        }
    }

    fn find_or_begin(
        &self,
        id: OperationId,
        deed: HostDeed,
    ) -> Result<watch::Receiver<State>, State> {
        let mut known = locked(&self.known);
        if let Some(job) = known.get(&id) {
            return Ok(job.state.clone());
        }
        let is_going = |job: &Job| matches!(*job.state.borrow(), JobState::Going { .. });
        if known.values().filter(|job| is_going(job)).count() >= WAITING_MAX {
            let words = "too much is being done to this machine already; it waits".to_owned();
            return Err(JobState::Going { words });
        }
        if known.len() >= REMEMBERED {
            known.retain(|_, job| is_going(job));
        }
        let words = "it waits for what is done to this machine before it".to_owned();
        let (sender, state) = watch::channel(JobState::Going { words });
        let (wanted, is_wanted) = watch::channel(true);
        known.insert(id, Job { state: state.clone(), wanted });
        let (host, turn) = (self.host.clone(), self.turn.clone());
        self.tasks.spawn("deed", OnError::Log, async move {
            let ended = carry_out(&host, &turn, deed, &sender, is_wanted).await;
            sender.send_replace(ended);
        });
        Ok(state)
    }

    /// Nobody waits for it any more: what has not begun is not begun.
    pub fn forget(&self, id: OperationId) {
        if let Some(job) = locked(&self.known).get(&id) {
            job.wanted.send_replace(false);
        }
    }
}

async fn carry_out(
    host: &Host,
    turn: &tokio::sync::Mutex<()>,
    deed: HostDeed,
    state: &watch::Sender<State>,
    mut wanted: watch::Receiver<bool>,
) -> State {
    let given_up = JobState::Failed { why: "it was given up before it began".to_owned() };
    let turn = tokio::select! {
        turn = turn.lock() => turn,
        _ = wanted.wait_for(|is_wanted| !is_wanted) => return given_up,
    };
    if !*wanted.borrow() {
        return given_up;
    }
    let words = deed.words();
    state.send_replace(JobState::Going { words: words.clone() });
    let done: Result<_, HostError> = async {
        let plan = deed::plan(host, &deed).await?;
        plan.perform(host).await
    }
    .await;
    drop(turn);
    match done {
        Ok(outcome) => {
            tracing::info!(deed = %words, changed = outcome.changed, "deed done");
            JobState::Done { content: Some(deed::outcome(outcome)) }
        }
        Err(error) => {
            let why = hostler_base::chain(&error).to_string();
            tracing::warn!(deed = %words, %why, "deed failed");
            JobState::Failed { why }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use hostler_base::{Clock, Phase, Shutdown};
    use hostler_host::call::Running;
    use hostler_host::{Call, Commands, Finished, Privilege};
    use hostler_model::host::ServiceVerb;
    use tokio::sync::Semaphore;

    use super::*;

    const MOMENT: Duration = Duration::from_millis(100);

    /// Programs that end when they are let go, counted.
    #[derive(Debug)]
    struct Held {
        gate: Semaphore,
        restarts: AtomicUsize,
        busy: AtomicUsize,
    }

    impl Commands for Held {
        fn run(&self, _: Call) -> Running<'_> {
            Box::pin(async move {
                assert_eq!(self.busy.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                self.gate.acquire().await.unwrap().forget();
                self.busy.fetch_sub(1, Ordering::SeqCst);
                self.restarts.fetch_add(1, Ordering::SeqCst);
                Ok(Finished { code: Some(0), ..Finished::default() })
            })
        }

        fn find(&self, program: &str) -> Option<PathBuf> {
            Some(PathBuf::from("/usr/bin").join(program))
        }
    }

    fn restart(name: &str) -> HostDeed {
        HostDeed::Service { name: name.into(), verb: ServiceVerb::Restart }
    }

    fn job(number: u128) -> OperationId {
        OperationId::from_uuid(uuid::Uuid::from_u128(number))
    }

    struct World {
        held: Arc<Held>,
        jobs: Jobs,
        shutdown: Shutdown,
        root: tempfile::TempDir,
    }

    impl World {
        fn new() -> World {
            let root = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(root.path().join("run/systemd/system")).unwrap();
            let held = Arc::new(Held {
                gate: Semaphore::new(0),
                restarts: AtomicUsize::default(),
                busy: AtomicUsize::default(),
            });
            let host = Host::new(root.path(), held.clone(), Privilege::Root);
            let shutdown = Shutdown::new(Clock::system());
            let jobs = Jobs::new(host, shutdown.tasks(Phase::Sessions), MOMENT);
            World { held, jobs, shutdown, root }
        }

        /// Asks until it has ended, as an operation does.
        async fn ended(&self, id: u128, name: &str) -> State {
            loop {
                match self.jobs.ask(job(id), restart(name)).await {
                    JobState::Going { .. } => {}
                    ended => return ended,
                }
            }
        }
    }

    #[tokio::test]
    async fn a_deed_is_begun_once_however_often_it_is_asked_for() {
        let world = World::new();
        let first = world.jobs.ask(job(1), restart("a")).await;
        assert_eq!(first, JobState::Going { words: "restart a".into() });
        let waiting = world.jobs.ask(job(2), restart("b")).await;
        assert!(matches!(waiting, JobState::Going { words } if words.contains("waits")));
        world.held.gate.add_permits(2);
        for (id, name) in [(1, "a"), (2, "b"), (1, "a")] {
            let JobState::Done { content: Some(outcome) } = world.ended(id, name).await else {
                panic!("it has been done");
            };
            assert_eq!(outcome.message, format!("{name}.service: restart"));
        }
        assert_eq!(world.held.restarts.load(Ordering::SeqCst), 2);
        world.shutdown.run(Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn what_nobody_wants_is_not_begun_and_what_has_begun_goes_on() {
        let world = World::new();
        world.jobs.ask(job(1), restart("a")).await;
        world.jobs.ask(job(2), restart("b")).await;
        world.jobs.forget(job(1));
        world.jobs.forget(job(2));
        let given_up = world.ended(2, "b").await;
        assert!(matches!(given_up, JobState::Failed { why } if why.contains("given up")));
        world.held.gate.add_permits(1);
        assert!(matches!(world.ended(1, "a").await, JobState::Done { .. }));
        assert_eq!(world.held.restarts.load(Ordering::SeqCst), 1);
        world.shutdown.run(Duration::from_secs(1)).await;
    }

    #[tokio::test]
    async fn a_machine_without_a_service_manager_says_so() {
        let world = World::new();
        std::fs::remove_dir(world.root.path().join("run/systemd/system")).unwrap();
        let JobState::Failed { why } = world.ended(1, "a").await else {
            panic!("it cannot be done");
        };
        assert!(why.contains("systemd is missing"), "{why}");
        world.shutdown.run(Duration::from_secs(1)).await;
    }
}
