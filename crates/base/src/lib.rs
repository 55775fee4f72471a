//! Runtime pieces that server and agent share: time and ids as things passed in, tasks with owners
//! and an ordered shutdown, the reconciler driver, the durable journal, careful file writing, logs.
//!
//! Reading order is the order of the modules below.

pub mod clock;
pub mod ids;

pub mod backoff;
pub mod chain;

pub mod shutdown;

pub mod reconcile;

pub mod fs;
pub mod history;
pub mod host;
pub mod image_stream;
pub mod image_tar;
pub mod ledger;

pub mod log;

pub mod notify;

pub use backoff::Backoff;
pub use chain::chain;
pub use clock::{Clock, ManualClock};
pub use ids::Ids;
pub use shutdown::{OnError, Phase, Shutdown, Tasks};
