//! The histogram of how long tasks waited: counted in `control`, shown here.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_control::{QueueCounts, WAIT_CLASSES};
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;

#[derive(Clone, Debug, Default)]
pub(super) struct Waits(Arc<Mutex<QueueCounts>>);

impl Waits {
    pub fn set(&self, counts: &QueueCounts) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = counts.clone();
    }
}

impl EncodeMetric for Waits {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let ends = WAIT_CLASSES.iter().copied().chain([f64::INFINITY]);
        let classes: Vec<(f64, u64)> = ends.zip(counts.waits).collect();
        encoder.encode_histogram::<NoLabelSet>(counts.wait_seconds, counts.placed(), &classes, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
