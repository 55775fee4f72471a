//! The application: what Hostler does, without any transport.
//!
//! - [`Control`] is the handle that every transport holds. Its service methods (one file per noun in
//!   `service/`) authorise ownership, validate, and change rows in one named transaction that also
//!   writes events and audit entries; afterwards they wake the reconcilers concerned.
//! - `reconcile/` holds the loops that make the world match the rows; `operation/` the steps of long
//!   changes.
//! - `node_session` is what a server does for a connected agent, free of gRPC; `links` knows which
//!   agents are connected to this process.
//!
//! Endpoint-level access (which role may call what) is decided by [`Control::authorise`], asked by
//! every transport before anything else; rules about *whose* object it is are here, in the services.

mod bootstrap;
mod config;
mod control;
mod cx;
mod detail;
mod ends;
mod feed;
mod links;
mod node_blob;
mod node_gpus;
mod node_images;
mod node_report;
mod node_session;
mod operation;
mod output;
mod reconcile;
mod service;

pub use bootstrap::{Boot, BootError};
pub use config::{BlobLimits, ControlConfig};
pub use control::{Control, Parts};
pub use cx::{Cx, Idempotency, RequestMeta};
pub use detail::{
    AccountDetail, AccountQuery, Applied, ArrayDetail, AuditQuery, EventQuery, Explanation,
    FireDetail, ImageOnNode, ImagePresence, Joined, LoginGrant, LoginKind, MemberDetail, NewArray,
    NewJoinToken, NewTask, NewToken, NewUser, NodeExplanation, NodeFilter, NodeHeld,
    NodeWorkloadDetail, NumaHeld, PlacementDetail, QueueDetail, QueuedTask, RunDetail, TaskDetail,
    TaskRun, TokenDetail, UserDetail, UserPatch, WorkloadDetail, WorkloadExplanation,
    WorkloadNodeExplanation, WorkloadQuery,
};
pub use feed::EventFollower;
pub use links::{NodeLink, PeerLinks};
pub use node_blob::NodePut;
pub use node_report::{ReportAck, StatusAck};
pub use node_session::{Attach, Attached, DesiredBatch, HelloFacts};
pub use output::{ExecAsk, NodeAsk, OutputItem, OutputQuery, OutputReceiver};
pub use reconcile::{
    ArrayFillReport, LeaseReport, LivenessReport, OperationAdvance, OperationReport,
    PlacementReport, ServicePlaceReport, Wakers,
};
pub(crate) use service::task::object as service_object;
pub use service::{BlobDetail, BlobReader, NewBlob, NewExec, NewImage, ProjectChange};
