//! Stacks in numbers: counted in `control` and in rows, shown here.

use std::sync::atomic::Ordering;

use hostler_control::StackCounts;
use hostler_model::stack::{StackAction, StackStatus};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::catalogue::{STACK, STACK_UNDER_WAY, STACKS};
use super::{OutcomeLabel, add, signed};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StandingLabels {
    action: &'static str,
    status: &'static str,
}

pub(super) struct Stacks {
    standing: Family<StandingLabels, Gauge>,
    done: Family<OutcomeLabel, Counter>,
    under_way: Gauge,
}

impl Stacks {
    pub(super) fn new(registry: &mut Registry) -> Stacks {
        Stacks {
            standing: add(registry, STACKS, Family::default()),
            done: add(registry, STACK, Family::default()),
            under_way: add(registry, STACK_UNDER_WAY, Gauge::default()),
        }
    }

    pub(super) fn set(&self, counts: &StackCounts) {
        for action in StackAction::ALL {
            for status in StackStatus::ALL {
                let (action, status) = (action.label(), status.label());
                let known = counts.stacks.iter().find(|(of, at, _)| of == action && at == status);
                let count = known.map_or(0, |(_, _, count)| *count);
                self.standing.get_or_create(&StandingLabels { action, status }).set(signed(count));
            }
        }
        for (outcome, count) in
            [("pass", counts.passes), ("deed", counts.deeds), ("error", counts.errors)]
        {
            let label = OutcomeLabel { outcome };
            self.done.get_or_create(&label).inner().store(count, Ordering::Relaxed);
        }
        self.under_way.set(signed(counts.under_way));
    }
}
