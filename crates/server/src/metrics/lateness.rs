//! A histogram that somebody else keeps: how late schedules were.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_control::{LATENESS_BOUNDS, ScheduleCounts};
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

#[derive(Clone, Debug, Default)]
pub(super) struct Lateness(Arc<Mutex<ScheduleCounts>>);

impl Lateness {
    pub(super) fn set(&self, counts: &ScheduleCounts) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(counts);
    }
}

impl EncodeMetric for Lateness {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), fmt::Error> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        #[expect(clippy::cast_precision_loss, reason = "microseconds of lateness fit a float well")]
        let seconds = |micros: u64| micros as f64 / 1e6;
        let bounds = LATENESS_BOUNDS.iter().map(|millis| seconds(millis * 1000));
        let counted = counts.lateness.iter().copied().chain(std::iter::repeat(0));
        let buckets: Vec<(f64, u64)> =
            bounds.chain(std::iter::once(f64::INFINITY)).zip(counted).collect();
        let count = counts.lateness.iter().sum();
        let sum = seconds(counts.lateness_micros);
        encoder.encode_histogram::<NoLabelSet>(sum, count, &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
