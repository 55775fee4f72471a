//! What all metrics are made of: how they are registered, labels that many have, and counts that somebody else keeps.

use std::sync::atomic::Ordering;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Metric, Registry};

use super::catalogue::{MetricDoc, help, registered};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct OutcomeLabel {
    pub outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct StateLabel {
    pub state: &'static str,
}

/// Of what may be unknown, and then is absent.
pub(super) type NoLabels = [(&'static str, &'static str); 0];
/// Counted by how something ended.
pub(super) type Outcomes = Family<OutcomeLabel, Counter>;
/// How many are in each state.
pub(super) type States = Family<StateLabel, Gauge>;

pub(super) fn add<M: Metric + Clone>(registry: &mut Registry, doc: MetricDoc, metric: M) -> M {
    registry.register(registered(doc), help(doc), metric.clone());
    metric
}

pub(super) fn durations() -> Histogram {
    Histogram::new(exponential_buckets(0.0005, 2.5, 13))
}

/// A count that somebody else keeps.
pub(super) fn copy(counter: &Counter, count: u64) {
    counter.inner().store(count, Ordering::Relaxed);
}

pub(super) fn set_outcomes(
    family: &Outcomes,
    counts: impl IntoIterator<Item = (&'static str, u64)>,
) {
    for (outcome, count) in counts {
        copy(&family.get_or_create(&OutcomeLabel { outcome }), count);
    }
}

pub(super) fn set_states(family: &States, counts: impl IntoIterator<Item = (&'static str, u64)>) {
    for (state, count) in counts {
        family.get_or_create(&StateLabel { state }).set(signed(count));
    }
}

/// How many of a list are in a state.
pub(super) fn count_of<S: PartialEq>(counts: &[(S, u64)], state: S) -> u64 {
    counts.iter().filter(|(known, _)| *known == state).map(|(_, count)| count).sum()
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
