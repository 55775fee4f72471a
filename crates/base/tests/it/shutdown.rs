//! Tasks have owners, panics are contained, and stopping has an order.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_base::clock::{Clock, ManualClock};
use hostler_base::shutdown::{OnError, Phase, Shutdown};
use hostler_model::Timestamp;

use crate::within;

type Journal = Arc<Mutex<Vec<String>>>;

fn note(journal: &Journal, text: impl Into<String>) {
    journal.lock().unwrap().push(text.into());
}

#[tokio::test]
async fn phases_stop_in_order_and_each_waits_for_the_one_before() {
    let shutdown = Shutdown::new(Clock::system());
    let journal = Journal::default();
    for phase in Phase::ALL.iter().rev() {
        for number in 0..3 {
            let (tasks, journal) = (shutdown.tasks(*phase), journal.clone());
            let token = tasks.token();
            tasks.spawn(format!("{phase}-{number}"), OnError::Log, async move {
                token.cancelled().await;
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                note(&journal, phase.label());
            });
        }
    }
    assert_eq!(shutdown.running().len(), 15);
    let report = within(shutdown.run(Duration::from_secs(10))).await;
    assert!(report.is_clean(), "{report:?}");
    assert!(shutdown.running().is_empty());
    let expected: Vec<_> = Phase::ALL
        .iter()
        .flat_map(|phase| std::iter::repeat_n(phase.label().to_owned(), 3))
        .collect();
    assert_eq!(*journal.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_panic_is_contained_and_counted() {
    let shutdown = Shutdown::new(Clock::system());
    let tasks = shutdown.tasks(Phase::Sessions);
    let handle = tasks.spawn("clumsy", OnError::Log, async { panic!("dropped a tray") });
    within(handle.wait()).await;
    assert!(handle.is_ended());
    assert_eq!(shutdown.panics(), 1);
    assert!(!shutdown.is_requested());
    assert!(shutdown.running().is_empty());
    let report = within(shutdown.run(Duration::from_secs(1))).await;
    assert_eq!((report.panics, report.is_clean()), (1, false));
}

#[tokio::test]
async fn a_vital_task_takes_the_process_with_it() {
    for is_panic in [false, true] {
        let shutdown = Shutdown::new(Clock::system());
        shutdown.tasks(Phase::Listeners).spawn("api listener", OnError::Shutdown, async move {
            assert!(!is_panic, "no port");
            Err(std::io::Error::other("address in use"))
        });
        within(shutdown.requested()).await;
        let reason = shutdown.reason().unwrap();
        assert!(reason.contains("api listener"), "{reason}");
        assert_eq!(reason.contains("address in use"), !is_panic);
    }
}

#[tokio::test]
async fn stuck_tasks_are_named_and_dropped_after_the_grace_period() {
    let manual = ManualClock::new(Timestamp::EPOCH);
    let shutdown = Shutdown::new(manual.clock());
    let journal = Journal::default();
    shutdown.tasks(Phase::Sessions).spawn(
        "stuck session",
        OnError::Log,
        std::future::pending::<()>(),
    );
    let store = shutdown.tasks(Phase::Store);
    let (token, last) = (store.token(), journal.clone());
    store.spawn("store", OnError::Log, async move {
        token.cancelled().await;
        note(&last, "store closed");
    });
    let stopping = shutdown.run(Duration::from_secs(10));
    let moving = async {
        loop {
            manual.wait_for_sleepers(1).await;
            manual.advance(Duration::from_secs(1));
            tokio::task::yield_now().await;
        }
    };
    let report = within(async {
        tokio::select! {
            report = stopping => report,
            () = moving => unreachable!("time does not end"),
        }
    })
    .await;
    assert_eq!(report.aborted, ["stuck session"]);
    assert_eq!(*journal.lock().unwrap(), ["store closed"]);
    assert!(manual.clock().instant() >= Duration::from_secs(10));
}

#[tokio::test]
async fn a_scope_stops_alone_and_belongs_to_its_group() {
    let shutdown = Shutdown::new(Clock::system());
    let tasks = shutdown.tasks(Phase::Sessions);
    let (one, two) = (tasks.scope(), tasks.scope());
    for scope in [&one, &two] {
        let token = scope.token();
        scope.spawn("member", OnError::Log, async move {
            token.cancelled().await;
        });
    }
    within(one.stop()).await;
    assert!(one.is_cancelled() && !two.is_cancelled() && !tasks.is_cancelled());
    assert_eq!(shutdown.running().len(), 1);
    let report = within(shutdown.run(Duration::from_secs(10))).await;
    assert!(report.is_clean() && two.is_cancelled());
}

#[tokio::test]
async fn nothing_starts_after_its_phase_is_over() {
    let shutdown = Shutdown::new(Clock::system());
    within(shutdown.run(Duration::from_secs(1))).await;
    let journal = Journal::default();
    let late = journal.clone();
    let handle =
        shutdown.tasks(Phase::Store).spawn("late", OnError::Log, async move { note(&late, "ran") });
    assert!(handle.is_ended());
    assert!(journal.lock().unwrap().is_empty());
}

#[tokio::test]
async fn dropped_when_cancelled_means_dropped() {
    let shutdown = Shutdown::new(Clock::system());
    shutdown.tasks(Phase::Listeners).spawn_until_cancelled(
        "waiting",
        OnError::Log,
        std::future::pending::<()>(),
    );
    let report = within(shutdown.run(Duration::from_secs(10))).await;
    assert!(report.is_clean());
}

#[tokio::test]
async fn blocking_work_returns_its_value_or_the_news_of_its_panic() {
    let shutdown = Shutdown::new(Clock::system());
    let tasks = shutdown.tasks(Phase::Operations);
    let sum = within(tasks.run_blocking("sum", || 40 + 2)).await.unwrap();
    assert_eq!(sum, 42);
    let failed = within(tasks.run_blocking("bad sum", || -> u32 { panic!("overflow") })).await;
    assert_eq!(failed.unwrap_err().name, "bad sum");
    assert_eq!(shutdown.panics(), 1);
}

#[tokio::test]
async fn the_first_reason_is_kept() {
    let shutdown = Shutdown::new(Clock::system());
    assert_eq!(shutdown.reason(), None);
    shutdown.request("upgrade");
    shutdown.request("boredom");
    within(shutdown.requested()).await;
    assert_eq!(shutdown.reason().as_deref(), Some("upgrade"));
}
