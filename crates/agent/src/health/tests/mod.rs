//! Watches with real sockets and processes, and over a clock that tests move.

mod network;
mod pattern;
mod processes;
mod timetable;

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::FutureExt;
use hostler_base::ManualClock;
use hostler_model::{Check, Span, Timestamp};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::*;

const DEADLINE: Duration = Duration::from_secs(30);
const INTERVAL: Duration = Duration::from_secs(10);

fn run(number: u128) -> RunId {
    RunId::from_uuid(Uuid::from_u128(number))
}

fn subject(number: u128) -> Subject {
    Subject { run: run(number), pid: 1, start_ticks: None, began: Duration::ZERO, before: None }
}

fn exec() -> HealthCheck {
    HealthCheck::new(Check::Exec(vec!["check".to_owned()]))
}

fn exit(code: i32) -> ExecEnd {
    ExecEnd { code: Some(code), ..ExecEnd::default() }
}

type Ending = BoxFuture<'static, Result<ExecEnd, String>>;

/// Commands that end as a function of how many were run before says.
struct Commands {
    end: Box<dyn Fn(usize) -> Ending + Send + Sync>,
    asked: AtomicUsize,
}

impl Commands {
    fn new(end: impl Fn(usize) -> Ending + Send + Sync + 'static) -> Arc<Commands> {
        Arc::new(Commands { end: Box::new(end), asked: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Beside for Commands {
    fn run<'a>(&'a self, _: RunId, _: &'a [String], _: Duration) -> Ending {
        (self.end)(self.asked.fetch_add(1, Ordering::SeqCst))
    }
}

/// Commands that end at once, with these codes one after the other and the last again and again.
fn codes(codes: &'static [i32]) -> Arc<Commands> {
    Commands::new(move |nth| {
        let code = codes.get(nth).or(codes.last()).copied().unwrap_or(0);
        async move { Ok(exit(code)) }.boxed()
    })
}

/// No output at all, as long as the run lives.
struct Silence;

impl Lines for Silence {
    fn follow(&self, _: RunId) -> BoxStream<'static, Vec<u8>> {
        futures::stream::pending().boxed()
    }
}

/// A checker with its surroundings.
struct Ward {
    manual: ManualClock,
    checker: Checker,
    events: mpsc::Receiver<HealthEvent>,
    watches: JoinSet<()>,
}

impl Ward {
    /// On a clock that the test moves.
    fn by_hand(beside: Arc<dyn Beside>, lines: Arc<dyn Lines>) -> Ward {
        let manual = ManualClock::new(Timestamp::from_micros(1_700_000_000_000_000));
        Ward::new(manual.clock(), manual, beside, lines)
    }

    /// On the machine's clock.
    fn in_real_time() -> Ward {
        let manual = ManualClock::new(Timestamp::EPOCH);
        Ward::new(Clock::system(), manual, codes(&[0]), Arc::new(Silence))
    }

    fn new(
        clock: Clock,
        manual: ManualClock,
        beside: Arc<dyn Beside>,
        lines: Arc<dyn Lines>,
    ) -> Ward {
        let (news, events) = mpsc::channel(1);
        let checker = Checker::new(clock, beside, lines, news);
        Ward { manual, checker, events, watches: JoinSet::new() }
    }

    fn watch(&mut self, subject: Subject, checks: Vec<HealthCheck>) -> CheckerHandle {
        let (handle, watch) = self.checker.watch(subject, checks);
        self.watches.spawn(watch);
        handle
    }

    /// One interval goes by, in which every check of `sleepers` is asked once.
    async fn interval(&self, sleepers: usize) {
        self.rest(sleepers).await;
        self.manual.advance(INTERVAL);
        self.rest(sleepers).await;
    }

    /// Everybody waits for time to pass.
    async fn rest(&self, sleepers: usize) {
        in_time(self.manual.wait_for_sleepers(sleepers)).await;
    }

    async fn event(&mut self) -> HealthEvent {
        in_time(self.events.recv()).await.expect("the checker lives")
    }

    fn is_quiet(&mut self) -> bool {
        self.events.try_recv().is_err()
    }

    /// Waits until every watch has ended.
    async fn end(mut self) {
        in_time(async {
            while let Some(ended) = self.watches.join_next().await {
                ended.expect("no watch panics");
            }
        })
        .await;
    }
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, future).await.expect("in time")
}

fn healthy(number: u128) -> HealthEvent {
    HealthEvent { run: run(number), health: Health::Healthy, action: None }
}

fn unhealthy(number: u128, check: &str, why: &str, action: Option<Action>) -> HealthEvent {
    let health = Health::Unhealthy { check: check.to_owned(), why: why.to_owned() };
    HealthEvent { run: run(number), health, action }
}

/// Asked quickly, and believed at once.
fn quick(check: Check) -> HealthCheck {
    HealthCheck {
        interval: Span::from_millis(100),
        timeout: Span::from_secs(10),
        unhealthy_after: 1,
        on_unhealthy: OnUnhealthy::Mark,
        ..HealthCheck::new(check)
    }
}
