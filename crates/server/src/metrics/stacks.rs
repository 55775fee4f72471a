//! Stacks in numbers: counted in `control` and in rows, shown here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use hostler_control::{STACK_LENGTH_BOUNDS, StackCounts, StackLengths};
use hostler_model::stack::{StackAction, StackStatus};
use prometheus_client::encoding::{EncodeLabelSet, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::catalogue::{
    STACK, STACK_CHANGES, STACK_DRIFTED, STACK_LENGTHS, STACK_LOCK_OLDEST, STACK_OLDEST,
    STACK_RESOURCES, STACK_UNDER_WAY, STACKS,
};
use super::numbers::{Outcomes, add, copy, set_outcomes, signed};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StandingLabels {
    action: &'static str,
    status: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResourceLabels {
    r#type: String,
    status: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ActionLabel {
    action: &'static str,
}

/// How long changes took, by what was done.
#[derive(Clone, Debug, Default)]
struct Lengths(Arc<Mutex<BTreeMap<StackAction, StackLengths>>>);

pub(super) struct Stacks {
    standing: Family<StandingLabels, Gauge>,
    resources: Family<ResourceLabels, Gauge>,
    drifted: Gauge,
    oldest: Gauge,
    lock_oldest: Gauge,
    changes: Family<StandingLabels, Counter>,
    lengths: Lengths,
    done: Outcomes,
    under_way: Gauge,
}

impl Stacks {
    pub(super) fn new(registry: &mut Registry) -> Stacks {
        Stacks {
            standing: add(registry, STACKS, Family::default()),
            resources: add(registry, STACK_RESOURCES, Family::default()),
            drifted: add(registry, STACK_DRIFTED, Gauge::default()),
            oldest: add(registry, STACK_OLDEST, Gauge::default()),
            lock_oldest: add(registry, STACK_LOCK_OLDEST, Gauge::default()),
            changes: add(registry, STACK_CHANGES, Family::default()),
            lengths: add(registry, STACK_LENGTHS, Lengths::default()),
            done: add(registry, STACK, Family::default()),
            under_way: add(registry, STACK_UNDER_WAY, Gauge::default()),
        }
    }

    pub(super) fn set(&self, counts: &StackCounts) {
        for action in StackAction::ALL {
            for status in StackStatus::ALL {
                let labels = StandingLabels { action: action.label(), status: status.label() };
                let is_it = |of: &str, at: &str| of == labels.action && at == labels.status;
                let known = counts.stacks.iter().find(|(of, at, _)| is_it(of, at));
                let count = known.map_or(0, |(_, _, count)| *count);
                self.standing.get_or_create(&labels).set(signed(count));
                if *status != StackStatus::InProgress {
                    let ended = counts.ended.get(&(*action, *status));
                    let count = ended.map_or(0, StackLengths::count);
                    copy(&self.changes.get_or_create(&labels), count);
                }
            }
        }
        // Types that nothing is of any more are not told of.
        self.resources.clear();
        for ((kind, status), count) in &counts.resources {
            let labels = ResourceLabels { r#type: kind.clone(), status: status.clone() };
            self.resources.get_or_create(&labels).set(signed(*count));
        }
        self.drifted.set(signed(counts.drifted));
        self.oldest.set(signed(counts.oldest.as_secs()));
        self.lock_oldest.set(signed(counts.lock_oldest.as_secs()));
        self.lengths.set(counts);
        let done = [("pass", counts.passes), ("deed", counts.deeds), ("error", counts.errors)];
        set_outcomes(&self.done, done);
        self.under_way.set(signed(counts.under_way));
    }
}

impl Lengths {
    fn set(&self, counts: &StackCounts) {
        let mut all: BTreeMap<StackAction, StackLengths> = BTreeMap::new();
        for ((action, _), lengths) in &counts.ended {
            let sum = all.entry(*action).or_default();
            for (into, count) in sum.buckets.iter_mut().zip(lengths.buckets) {
                *into += count;
            }
            sum.micros = sum.micros.saturating_add(lengths.micros);
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = all;
    }
}

impl EncodeMetric for Lengths {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        #[expect(clippy::cast_precision_loss, reason = "how long changes take fits a float well")]
        let seconds = |micros: u64| micros as f64 / 1e6;
        for (action, lengths) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let bounds = STACK_LENGTH_BOUNDS.iter().map(|millis| seconds(millis * 1000));
            let ends = bounds.chain(std::iter::once(f64::INFINITY));
            let buckets: Vec<(f64, u64)> = ends.zip(lengths.buckets).collect();
            let labels = ActionLabel { action: action.label() };
            encoder.encode_family(&labels)?.encode_histogram::<NoLabelSet>(
                seconds(lengths.micros),
                lengths.count(),
                &buckets,
                None,
            )?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}
