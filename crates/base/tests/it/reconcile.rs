//! The driver: when passes run, what their status says, and what a panic does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_base::clock::{Clock, ManualClock};
use hostler_base::reconcile::{Activity, Driver, Pass, PassOutcome, Reconciler, Status, Waker};
use hostler_base::shutdown::{Phase, Shutdown};
use hostler_model::Timestamp;
use serde::Serialize;
use tokio::sync::{Semaphore, mpsc};

use crate::within;

const PERIOD: Duration = Duration::from_secs(100);

/// Reports each pass, then does as the script says for it.
struct Scripted {
    passes: usize,
    began: mpsc::Sender<usize>,
    gate: Arc<Semaphore>,
    script: fn(usize) -> Pass<Report>,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Report {
    changed: usize,
}

impl Reconciler for Scripted {
    const NAME: &'static str = "thing_tend";
    const DESCRIPTION: &'static str = "Tends things.";
    type Report = Report;

    async fn reconcile(&mut self) -> Pass<Report> {
        self.passes += 1;
        self.began.send(self.passes).await.unwrap();
        self.gate.acquire().await.unwrap().forget();
        (self.script)(self.passes)
    }
}

struct World {
    manual: ManualClock,
    shutdown: Shutdown,
    driver: Driver,
    waker: Waker,
    began: mpsc::Receiver<usize>,
    gate: Arc<Semaphore>,
    observed: Arc<Mutex<Vec<PassOutcome>>>,
}

impl World {
    /// Registers a scripted reconciler; `free` passes may run without being let through.
    fn new(free: usize, script: fn(usize) -> Pass<Report>) -> World {
        let manual = ManualClock::new(Timestamp::from_micros(1_790_000_000_000_000));
        let shutdown = Shutdown::new(Clock::system());
        let observed = Arc::new(Mutex::new(Vec::new()));
        let outcomes = observed.clone();
        let driver = Driver::new(shutdown.tasks(Phase::Reconcilers), manual.clock()).with_observer(
            Arc::new(move |name, outcome, _| {
                assert_eq!(name, "thing_tend");
                outcomes.lock().unwrap().push(outcome);
            }),
        );
        let (sender, began) = mpsc::channel(100);
        let gate = Arc::new(Semaphore::new(free));
        let waker = Waker::new();
        let reconciler = Scripted { passes: 0, began: sender, gate: gate.clone(), script };
        driver.register(reconciler, PERIOD, waker.clone());
        World { manual, shutdown, driver, waker, began, gate, observed }
    }

    async fn pass(&mut self) -> usize {
        within(self.began.recv()).await.unwrap()
    }

    /// Waits until the loop rests, and makes sure that nothing else began meanwhile.
    async fn rest(&mut self) {
        within(self.manual.wait_for_sleepers(1)).await;
        assert!(self.began.try_recv().is_err(), "an unexpected pass began");
    }

    fn status(&self) -> Status {
        self.driver.statuses().remove(0)
    }
}

fn done(number: usize) -> Pass<Report> {
    Pass::done(Report { changed: number })
}

#[tokio::test]
async fn a_pass_runs_at_once_and_then_every_period() {
    let mut world = World::new(usize::MAX >> 4, done);
    assert_eq!(world.pass().await, 1);
    for number in 2..20 {
        world.rest().await;
        world.manual.advance(PERIOD.mul_f64(0.89));
        world.rest().await;
        world.manual.advance(PERIOD.mul_f64(0.22));
        assert_eq!(world.pass().await, number);
    }
    world.rest().await;
    let status = world.status();
    assert_eq!((status.passes, status.woken, status.activity), (19, 0, Activity::Idle));
    assert_eq!(status.report_last, serde_json::json!({ "changed": 19 }));
    assert_eq!(status.time_last_started, Some(world.manual.clock().now()));
    assert_eq!(*world.observed.lock().unwrap(), [PassOutcome::Ok; 19]);
}

#[tokio::test]
async fn a_pass_begins_when_the_one_before_said_something_is_due() {
    let mut world = World::new(usize::MAX >> 4, |number| {
        let due = match number {
            1 => Timestamp::from_micros(1_790_000_007_000_000),
            2 => Timestamp::EPOCH,
            _ => Timestamp::from_micros(1_790_999_000_000_000),
        };
        done(number).due_at(Some(due))
    });
    assert_eq!(world.pass().await, 1);
    world.rest().await;
    world.manual.advance(Duration::from_millis(6_999));
    world.rest().await;
    world.manual.advance(Duration::from_millis(1));
    assert_eq!(world.pass().await, 2, "in time");
    world.rest().await;
    world.manual.advance(Duration::from_millis(5));
    assert_eq!(world.pass().await, 3, "soon where it is too late, and not at once");
    world.rest().await;
    world.manual.advance(PERIOD.mul_f64(1.11));
    assert_eq!(world.pass().await, 4, "no later than the period");
}

#[tokio::test]
async fn many_wakes_before_a_pass_cause_one_pass() {
    let mut world = World::new(1, done);
    assert_eq!(world.pass().await, 1);
    world.rest().await;
    for _ in 0..50 {
        world.waker.wake();
    }
    assert_eq!(world.pass().await, 2);
    for _ in 0..50 {
        world.waker.wake();
    }
    assert!(matches!(world.status().activity, Activity::Running { .. }));
    world.gate.add_permits(2);
    assert_eq!(world.pass().await, 3, "woken while it ran");
    world.rest().await;
    let status = world.status();
    assert_eq!((status.passes, status.woken), (3, 100));
}

#[tokio::test]
async fn a_wake_before_registration_is_not_lost_and_never_blocks() {
    let waker = Waker::new();
    assert!(!waker.take_pending());
    waker.wake();
    waker.clone().wake();
    assert!(waker.take_pending());
    assert!(!waker.take_pending());
    assert_eq!(waker.count(), 2);
}

#[tokio::test]
async fn a_full_batch_runs_again_at_once_unless_it_failed() {
    let mut world = World::new(usize::MAX >> 4, |number| match number {
        1..4 => done(number).again_if(true),
        4 => Pass {
            again: true,
            ..Pass::failed(Report { changed: 1 }, &std::io::Error::other("no rows"))
        },
        _ => done(number),
    });
    for number in 1..=4 {
        assert_eq!(world.pass().await, number);
    }
    world.rest().await;
    let status = world.status();
    assert_eq!(status.error_last.as_deref(), Some("no rows"));
    assert_eq!(status.consecutive_errors, 1);
    assert_eq!(status.report_last, serde_json::json!({ "changed": 1 }));

    world.waker.wake();
    assert_eq!(world.pass().await, 5);
    world.rest().await;
    let status = world.status();
    assert_eq!((status.error_last, status.consecutive_errors), (None, 0));
    assert_eq!(world.observed.lock().unwrap()[3], PassOutcome::Error);
}

#[tokio::test]
async fn a_panic_is_survived_after_a_backoff() {
    let mut world = World::new(usize::MAX >> 4, |number| {
        assert!(number > 3, "pass {number} went wrong");
        done(number)
    });
    for number in 1..=3 {
        assert_eq!(world.pass().await, number);
        world.rest().await;
        let status = world.status();
        assert!(matches!(status.activity, Activity::Backoff { .. }));
        assert_eq!(status.panics, u64::try_from(number).unwrap());
        let text = format!("panicked: pass {number} went wrong");
        assert_eq!(status.error_last, Some(text));
        world.waker.wake();
        world.rest().await;
        world.manual.advance(Duration::from_secs(60));
    }
    assert_eq!(world.pass().await, 4);
    assert_eq!(world.pass().await, 5, "the wake during the backoff");
    world.rest().await;
    let status = world.status();
    assert_eq!((status.panics, status.consecutive_errors), (3, 0));
    assert_eq!(world.observed.lock().unwrap()[0], PassOutcome::Panic);
    assert_eq!(world.shutdown.panics(), 0, "contained by the driver");
}

#[tokio::test]
async fn a_shutdown_lets_the_pass_end() {
    let mut world = World::new(0, done);
    assert_eq!(world.pass().await, 1);
    let stopping = world.shutdown.run(Duration::from_secs(20));
    let finishing = async {
        within(world.shutdown.tasks(Phase::Reconcilers).token().cancelled()).await;
        world.gate.add_permits(1);
    };
    let (report, ()) = within(async { tokio::join!(stopping, finishing) }).await;
    assert!(report.is_clean(), "{report:?}");
    let status = world.status();
    assert_eq!((status.passes, status.activity), (1, Activity::Stopped));
}

#[tokio::test]
async fn statuses_are_json_with_a_schema_and_wakers_are_found_by_name() {
    let mut world = World::new(usize::MAX >> 4, done);
    world.pass().await;
    world.rest().await;
    let json = serde_json::to_value(world.status()).unwrap();
    assert_eq!(json["name"], "thing_tend");
    assert_eq!(json["period"], "1m40s");
    assert_eq!(json["activity"]["kind"], "idle");
    let back: Status = serde_json::from_value(json).unwrap();
    assert_eq!(back, world.status());

    world.driver.waker("thing_tend").unwrap().wake();
    assert_eq!(world.pass().await, 2);
    assert!(world.driver.waker("nothing").is_none());
}
