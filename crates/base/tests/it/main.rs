//! One binary for the integration tests of this crate.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ledger;
mod reconcile;
mod shutdown;
mod telemetry;

use std::future::Future;
use std::time::Duration;

/// Waits for something that must happen, and fails the test when it does not.
async fn within<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(20), future)
        .await
        .expect("it should have happened within 20 seconds")
}
