//! The typed client: what `api` declares, called over HTTPS.
//!
//! A call names its endpoint as a type and gets that endpoint's reply or an [`Error`] that says what
//! to do next. The client pins the installation's authority and trusts nothing else; before there is
//! anything to pin, [`probe`] shows whose server it is without sending a secret.
//!
//! 1. Every POST carries an `Idempotency-Key`, the same over all retries of one call, so a call whose
//!    answer was lost is repeated without a second effect.
//! 2. Retries are bounded twice: by a number of attempts and by the call's deadline.
//! 3. Streams (watch, output) resume by cursor after a dropped connection: nothing is missed and
//!    nothing is delivered twice.
//!
//! Reading order is the order of the modules below.

mod error;

mod retry;

mod request;

mod client;
mod page;

mod sse;
mod stream;

mod blob;
mod logs;
mod state;
mod watch;

mod contact;

#[doc(hidden)]
pub mod fuzz;

pub use blob::{Progress, UploadTo};
pub use client::{Answer, Client, ClientConfig, Consent};
pub use contact::{Presented, probe, probe_for};
pub use error::Error;
pub use logs::{decode_data, encode_data};
pub use page::Paged;
pub use retry::RetryPolicy;
pub use state::{StateCaller, StateReceiver, StateSender};
pub use stream::ResumePolicy;
pub use watch::WatchStream;
