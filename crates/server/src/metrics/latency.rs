//! How fast requests are answered, in a form that can be asked for the time since it was last asked: for the
//! history. Requests that may wait on purpose are left out, and so they are in the alert and the dashboard that
//! are shipped ([`WAITING`]).

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;

/// Upper ends of classes, in seconds, each half as long again as the one before.
const FIRST: f64 = 0.0005;
const GROWTH: f64 = 1.5;
const CLASSES: usize = 32;

/// Endpoints whose answers wait: for something to happen, for a node or an address outside to say something, or
/// for all that a client sends.
pub const WAITING: &[&str] = &[
    "task_get",
    "operation_get",
    "lock_acquire",
    "hook_test",
    "project_hook_test",
    "node_health",
    "node_packages",
    "node_services",
    "node_logs",
    "node_processes",
    "node_disks",
    "node_users",
    "node_deed_check",
    "node_image_list",
    "node_image_remove",
    "image_nodes",
    "node_container_list",
    "node_container_remove",
    "node_container_files",
    "workload_exec",
    "image_push",
    "chunk_put",
    "shared_chunk_put",
    "none",
];

/// What was counted since it was last asked.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Answered {
    pub requests: u64,
    /// That failed inside.
    pub errors: u64,
    measured: u64,
    seconds: f64,
    classes: [u64; CLASSES],
}

impl Answered {
    /// The average, where anything was measured.
    #[expect(clippy::cast_precision_loss, reason = "a mean for people")]
    pub fn mean(&self) -> Option<f64> {
        (self.measured > 0).then(|| self.seconds / self.measured as f64)
    }

    /// Nineteen of twenty were no slower, to the end of a class.
    pub fn high(&self) -> Option<f64> {
        let rank = self.measured - self.measured / 20;
        let mut sum = 0;
        let class = self.classes.iter().position(|count| {
            sum += count;
            sum >= rank
        });
        let exponent = i32::try_from(class.filter(|_| self.measured > 0)?).ok()?;
        Some(FIRST * GROWTH.powi(exponent))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Latency(Mutex<Answered>);

impl Latency {
    pub fn record(&self, endpoint: &'static str, status: StatusCode, took: Duration) {
        let seconds = took.as_secs_f64();
        let mut answered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        answered.requests += 1;
        answered.errors += u64::from(status.is_server_error());
        if WAITING.contains(&endpoint) {
            return;
        }
        let ends = (0..CLASSES).scan(FIRST, |end, _| {
            let this = *end;
            *end *= GROWTH;
            Some(this)
        });
        let class = ends.take_while(|end| seconds > *end).count().min(CLASSES - 1);
        answered.measured += 1;
        answered.seconds += seconds;
        answered.classes[class] += 1;
    }

    /// Everything since this was last called.
    pub fn take(&self) -> Answered {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nineteen_of_twenty_are_no_slower() {
        let latency = Latency::default();
        assert_eq!((latency.take().mean(), latency.take().high()), (None, None));
        for n in 0..100_u64 {
            let took = Duration::from_millis(if n < 95 { 1 } else { 900 });
            latency.record("node_list", StatusCode::OK, took);
        }
        for endpoint in ["task_get", "operation_get", "lock_acquire", "node_health", "hook_test"] {
            latency.record(endpoint, StatusCode::OK, Duration::from_secs(60));
        }
        latency.record("node_list", StatusCode::INTERNAL_SERVER_ERROR, Duration::from_millis(1));
        let answered = latency.take();
        assert_eq!((answered.requests, answered.errors), (106, 1));
        let high = answered.high().unwrap();
        assert!((0.001..0.0016).contains(&high), "{high}");
        assert!((0.04..0.05).contains(&answered.mean().unwrap()));
        latency.record("node_list", StatusCode::OK, Duration::from_secs(100_000));
        assert!(latency.take().high().unwrap() > 100.0);
        assert_eq!(latency.take(), Answered::default());
    }
}
