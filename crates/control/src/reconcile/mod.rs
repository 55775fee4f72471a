//! The reconcilers. All servers run all of them; conditional writes make that safe, and where the work
//! is heavy a lease row makes it cheap.

mod approval;
mod array_fill;
mod audit_anchor;
mod audit_sink;
mod authority;
mod event_feed;
mod execution;
mod gc;
mod identity_key;
mod lease_flush;
mod liveness;
mod log_share;
mod node_feed;
mod operation;
pub(crate) mod placement;
pub(crate) mod scene;
mod server_renew;
pub(crate) mod service_place;

use std::time::Duration;

use hostler_base::reconcile::{Driver, Pass, Waker};
use hostler_model::Error;

use crate::Control;

pub use approval::{ApprovalNotice, ApprovalNoticeReport};
pub use array_fill::ArrayFillReport;
pub use audit_anchor::{AuditAnchorKeeper, AuditAnchorReport};
pub use audit_sink::{AuditSinkFeed, AuditSinkReport};
pub use execution::ExecutionReport;
pub use identity_key::IdentityKeyKeeper;
pub use lease_flush::LeaseReport;
pub use liveness::LivenessReport;
pub use log_share::LogShareReport;
pub use operation::{OperationAdvance, OperationReport};
pub use placement::PlacementReport;
pub use service_place::ServicePlaceReport;

/// Who can wake what. One field per reconciler that can be woken.
#[derive(Clone, Debug, Default)]
pub struct Wakers {
    pub placement: Waker,
    pub array_fill: Waker,
    pub service_place: Waker,
    pub operation: Waker,
    pub execution: Waker,
    pub liveness: Waker,
    pub gc: Waker,
}

pub(crate) fn register_all(control: &Control, driver: &Driver) {
    let Wakers { placement, array_fill, service_place, operation, execution, liveness, gc } =
        control.wakers.clone();
    let of = || control.clone();
    driver.register(placement::Placement::new(of()), Duration::from_secs(2), placement);
    driver.register(array_fill::ArrayFill::new(of()), Duration::from_secs(2), array_fill);
    let places = service_place::ServicePlace::new(of());
    driver.register(places, Duration::from_secs(3), service_place);
    driver.register(node_feed::NodeFeed::new(of()), Duration::from_millis(250), Waker::new());
    driver.register(event_feed::EventFeed::new(of()), Duration::from_millis(250), Waker::new());
    driver.register(lease_flush::LeaseFlush::new(of()), Duration::from_secs(2), Waker::new());
    driver.register(liveness::Liveness::new(of()), Duration::from_secs(2), liveness);
    let log_shares = log_share::LogShares::new(of());
    driver.register(log_shares, Duration::from_secs(3), Waker::new());
    driver.register(control.operation_reconciler(), Duration::from_secs(1), operation);
    let executions = execution::ExecutionAdvance::new(of());
    driver.register(executions, Duration::from_secs(1), execution);
    driver.register(server_renew::ServerRenew::new(of()), Duration::from_secs(5), Waker::new());
    driver.register(control.audit_anchor_reconciler(), Duration::from_secs(15), Waker::new());
    driver.register(control.audit_sink_reconciler(), Duration::from_secs(2), Waker::new());
    let authorities = authority::AuthorityFollow::new(of());
    driver.register(authorities, Duration::from_secs(2), Waker::new());
    driver.register(approval::ApprovalSweep::new(of()), Duration::from_secs(5), Waker::new());
    driver.register(control.approval_notice_reconciler(), Duration::from_secs(2), Waker::new());
    driver.register(control.identity_key_reconciler(), Duration::from_secs(60), Waker::new());
    driver.register(gc::Gc::new(of()), Duration::from_secs(60), gc);
}

/// A pass from a fallible body.
fn pass<R: Default>(result: Result<Pass<R>, Error>) -> Pass<R> {
    result.unwrap_or_else(|error| Pass::failed(R::default(), &error))
}
