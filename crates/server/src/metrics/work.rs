//! Nodes and what runs on them in numbers: counted in `control` and in rows, shown here.

use hostler_model::{Desired, NodeBackupState, NodeState, Phase, TaskStateKind};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Sample;
use super::catalogue::*;
use super::numbers::{
    Outcomes, StateLabel, States, add, copy, count_of, set_outcomes, set_states, signed,
};
use super::waits::Waits;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DesiredLabel {
    desired: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PhaseLabel {
    phase: &'static str,
}

pub(super) struct Work {
    nodes: States,
    node_backups: States,
    node_images: Outcomes,
    sessions: Gauge,
    tasks: States,
    tasks_ended: Family<StateLabel, Counter>,
    executions: States,
    workloads: Family<DesiredLabel, Gauge>,
    placements: Family<PhaseLabel, Gauge>,
    placement_failures: Family<ReasonLabel, Counter>,
    waits: Waits,
}

impl Work {
    pub(super) fn new(registry: &mut Registry) -> Work {
        Work {
            nodes: add(registry, NODES, Family::default()),
            node_backups: add(registry, NODE_BACKUPS, Family::default()),
            node_images: add(registry, NODE_IMAGES, Family::default()),
            sessions: add(registry, SESSIONS, Gauge::default()),
            tasks: add(registry, TASKS, Family::default()),
            tasks_ended: add(registry, TASKS_ENDED, Family::default()),
            executions: add(registry, EXECUTIONS, Family::default()),
            workloads: add(registry, WORKLOADS, Family::default()),
            placements: add(registry, PLACEMENTS, Family::default()),
            placement_failures: add(registry, PLACEMENT_FAILURES, Family::default()),
            waits: add(registry, QUEUE_WAIT, Waits::default()),
        }
    }

    pub(super) fn set(&self, sample: &Sample) {
        let nodes = NodeState::ALL.iter().map(|it| (it.label(), count_of(&sample.nodes, *it)));
        set_states(&self.nodes, nodes);
        let backups = &sample.node_backups;
        let backups = NodeBackupState::ALL.iter().map(|it| (it.label(), count_of(backups, *it)));
        set_states(&self.node_backups, backups);
        let (removed, failed) = sample.images_tidied;
        set_outcomes(&self.node_images, [("removed", removed), ("failed", failed)]);
        self.sessions.set(signed(sample.sessions));
        let tasks = TaskStateKind::ALL.iter().map(|it| (it.label(), count_of(&sample.tasks, *it)));
        set_states(&self.tasks, tasks);
        for state in TaskStateKind::SETTLED {
            let count = sample.queue.ended.get(state).copied().unwrap_or(0);
            copy(&self.tasks_ended.get_or_create(&StateLabel { state: state.label() }), count);
        }
        let executions = ["preparing", "beginning", "running", "settling", "finishing", "ended"]
            .map(|state| {
                let known = sample.executions.iter().find(|(label, _)| label == state);
                (state, known.map_or(0, |(_, count)| *count))
            });
        set_states(&self.executions, executions);
        for desired in Desired::ALL {
            let label = DesiredLabel { desired: desired.label() };
            let count = count_of(&sample.workloads, *desired);
            self.workloads.get_or_create(&label).set(signed(count));
        }
        for phase in Phase::ALL {
            let label = PhaseLabel { phase: phase.label() };
            let count = count_of(&sample.placements, *phase);
            self.placements.get_or_create(&label).set(signed(count));
        }
        for (hindrance, count) in sample.queue.failures() {
            let label = ReasonLabel { reason: hindrance.label() };
            copy(&self.placement_failures.get_or_create(&label), count);
        }
        self.waits.set(&sample.queue);
    }
}
