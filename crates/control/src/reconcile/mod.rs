//! The reconcilers. All servers run all of them; conditional writes make that safe, and where the work
//! is heavy a lease row makes it cheap.

mod approval;
mod array_fill;
mod audit_anchor;
mod audit_sink;
mod audit_watch;
mod authority;
mod backup;
mod event_feed;
mod execution;
mod gc;
mod hook_deliver;
mod hook_dispatch;
mod identity_key;
mod lease_flush;
mod liveness;
mod lock;
mod log_share;
mod node_feed;
mod operation;
pub(crate) mod placement;
pub(crate) mod scene;
mod schedule;
mod server_renew;
pub(crate) mod service_place;
mod stack;
mod stack_drift;
mod state_compact;
mod state_expiry;
mod state_feed;
mod watcher;

use std::time::Duration;

use hostler_base::reconcile::{Driver, Pass, Waker};
use hostler_model::Error;

use crate::Control;

pub use approval::{ApprovalNotice, ApprovalNoticeReport};
pub use array_fill::ArrayFillReport;
pub use audit_anchor::{AuditAnchorKeeper, AuditAnchorReport};
pub use audit_sink::{AuditSinkFeed, AuditSinkReport};
pub(crate) use audit_watch::ChainVerdict;
pub use audit_watch::{AuditWatch, AuditWatchReport};
pub use backup::{BackupKeeper, BackupReport};
pub use execution::ExecutionReport;
pub(crate) use hook_deliver::HookTally;
pub use hook_deliver::{HookCounts, HookDeliver, HookDeliverReport};
pub use hook_dispatch::{HookDispatch, HookDispatchReport};
pub use identity_key::IdentityKeyKeeper;
pub use lease_flush::LeaseReport;
pub use liveness::LivenessReport;
pub use lock::{LockWatch, LockWatchReport};
pub use log_share::LogShareReport;
pub use operation::{OperationAdvance, OperationReport};
pub use placement::PlacementReport;
pub use server_renew::{ServerRenew, ServerRenewReport};
pub use service_place::ServicePlaceReport;
pub use stack::{StackAdvance, StackReport};
pub use stack_drift::{StackDriftReport, StackDriftWatch};
pub use state_compact::{StateCompact, StateCompactReport};
pub use state_expiry::{StateExpiry, StateExpiryReport};
pub use state_feed::{StateTail, StateTailReport};

/// Who can wake what. One field per reconciler that can be woken.
#[derive(Clone, Debug, Default)]
pub struct Wakers {
    pub placement: Waker,
    pub array_fill: Waker,
    pub service_place: Waker,
    pub operation: Waker,
    pub backup: Waker,
    pub execution: Waker,
    pub schedule: Waker,
    pub schedule_call: Waker,
    pub stack: Waker,
    pub watcher: Waker,
    pub hook_dispatch: Waker,
    pub hook_deliver: Waker,
    pub liveness: Waker,
    pub state_expiry: Waker,
    pub state_feed: Waker,
    pub gc: Waker,
}

pub(crate) fn register_all(control: &Control, driver: &Driver) {
    let Wakers {
        placement,
        array_fill,
        service_place,
        operation,
        backup,
        execution,
        hook_deliver,
        hook_dispatch,
        liveness,
        schedule,
        schedule_call,
        stack,
        watcher,
        state_expiry,
        state_feed,
        gc,
    } = control.wakers.clone();
    let of = || control.clone();
    driver.register(placement::Placement::new(of()), Duration::from_secs(2), placement);
    driver.register(array_fill::ArrayFill::new(of()), Duration::from_secs(2), array_fill);
    let places = service_place::ServicePlace::new(of());
    driver.register(places, Duration::from_secs(3), service_place);
    driver.register(node_feed::NodeFeed::new(of()), Duration::from_millis(250), Waker::new());
    driver.register(event_feed::EventFeed::new(of()), Duration::from_millis(250), Waker::new());
    driver.register(lease_flush::LeaseFlush::new(of()), Duration::from_secs(2), Waker::new());
    driver.register(liveness::Liveness::new(of()), Duration::from_secs(2), liveness);
    driver.register(control.lock_watch(), Duration::from_millis(250), Waker::new());
    let log_shares = log_share::LogShares::new(of());
    driver.register(log_shares, Duration::from_secs(3), Waker::new());
    driver.register(control.operation_reconciler(), Duration::from_secs(1), operation);
    let executions = execution::ExecutionAdvance::new(of());
    driver.register(executions, Duration::from_secs(1), execution);
    let schedules = schedule::ScheduleFollow::new(of());
    driver.register(schedules, Duration::from_secs(1), schedule);
    let calls = control.schedule_calls_reconciler();
    driver.register(calls, Duration::from_secs(2), schedule_call);
    driver.register(control.stack_reconciler(), Duration::from_secs(1), stack);
    driver.register(control.stack_alarms(), Duration::from_secs(10), Waker::new());
    driver.register(control.stack_drift_reconciler(), Duration::from_secs(30), Waker::new());
    driver.register(control.hook_dispatch_reconciler(), Duration::from_secs(1), hook_dispatch);
    driver.register(control.hook_deliver_reconciler(), Duration::from_secs(1), hook_deliver);
    driver.register(watcher::WatcherOrders::new(of()), Duration::from_secs(5), watcher);
    let watchers = watcher::WatcherFeed::new(of());
    driver.register(watchers, Duration::from_secs(1), Waker::new());
    driver.register(server_renew::ServerRenew::new(of()), Duration::from_secs(5), Waker::new());
    driver.register(control.audit_anchor_reconciler(), Duration::from_secs(15), Waker::new());
    driver.register(control.audit_sink_reconciler(), Duration::from_secs(2), Waker::new());
    driver.register(control.audit_watch_reconciler(), Duration::from_secs(15), Waker::new());
    let authorities = authority::AuthorityFollow::new(of());
    driver.register(authorities, Duration::from_secs(2), Waker::new());
    driver.register(approval::ApprovalSweep::new(of()), Duration::from_secs(5), Waker::new());
    driver.register(control.approval_notice_reconciler(), Duration::from_secs(2), Waker::new());
    driver.register(control.identity_key_reconciler(), Duration::from_secs(60), Waker::new());
    driver.register(control.backup_reconciler(), Duration::from_secs(30), backup);
    driver.register(control.state_expiry_reconciler(), Duration::from_secs(5), state_expiry);
    driver.register(control.state_feed_reconciler(), Duration::from_millis(250), state_feed);
    driver.register(control.state_compact_reconciler(), Duration::from_secs(10), Waker::new());
    driver.register(gc::Gc::new(of()), Duration::from_secs(60), gc);
}

/// A pass from a fallible body.
pub(crate) fn pass<R: Default>(result: Result<Pass<R>, Error>) -> Pass<R> {
    result.unwrap_or_else(|error| Pass::failed(R::default(), &error))
}
