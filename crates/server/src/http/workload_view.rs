//! From records of workloads to what callers see.

use hostler_api::node::NodeWorkloadView;
use hostler_api::workload::{
    PlacementView, WorkloadExplanation, WorkloadNodeExplanation, WorkloadPhase, WorkloadRunView,
    WorkloadView,
};
use hostler_control::{NodeWorkloadDetail, PlacementDetail, RunDetail, WorkloadDetail};
use hostler_model::{Caller, Generation, Name, Need, Permission, RunState};

use super::standing;

pub(crate) fn workload(caller: &Caller, detail: WorkloadDetail) -> WorkloadView {
    let status = standing::status(&detail);
    let mut service = detail.service;
    let need = Need::of(Permission::WorkloadEnv, Some(service.project_id));
    if !caller.may_or_made(need, service.created_by) {
        service.spec.hide_environment();
    }
    WorkloadView {
        id: service.id,
        name: service.name,
        project: detail.project,
        spec: service.spec,
        desired: service.desired,
        revision: service.revision.get(),
        generation: service.generation.get(),
        status,
        placements: detail.placements.into_iter().map(placement).collect(),
        created_by: detail.created_by,
        time_created: service.time_created,
        time_modified: service.time_modified,
    }
}

pub(crate) fn placement(detail: PlacementDetail) -> PlacementView {
    let PlacementDetail { placement, node, node_state, run } = detail;
    let (run, pid, since) = match run {
        Some(run) => match run.state {
            RunState::Running { pid, since } | RunState::Paused { pid, since } => {
                (Some(run.id), Some(pid), Some(since))
            }
            RunState::Assigned | RunState::Exited { .. } | RunState::Lost { .. } => {
                (Some(run.id), None, None)
            }
        },
        None => (None, None, None),
    };
    let status = placement.status;
    PlacementView {
        id: placement.id,
        node,
        node_state,
        desired: placement.desired,
        phase: status.as_ref().map(|status| status.phase),
        health: status.as_ref().and_then(|status| status.health),
        pid,
        run,
        runs: status.as_ref().map_or(0, |status| status.runs),
        failures: status.as_ref().map_or(0, |status| status.failures),
        missed: status.as_ref().map_or(0, |status| status.missed),
        next: status.as_ref().and_then(|status| status.next),
        reason: status.as_ref().and_then(|status| status.reason.clone()),
        warning: status.as_ref().and_then(|status| status.warning.clone()),
        revision: status.as_ref().map_or(Generation::ZERO, |status| status.revision).get(),
        last_exit: status.and_then(|status| status.last_exit),
        since,
    }
}

pub(crate) fn on_node(detail: NodeWorkloadDetail) -> NodeWorkloadView {
    let NodeWorkloadDetail { project, workload, placement: there } = detail;
    NodeWorkloadView { project, workload, placement: placement(there) }
}

pub(crate) fn run(detail: RunDetail) -> WorkloadRunView {
    let RunDetail { run, node } = detail;
    let (pid, exit) = match &run.state {
        RunState::Running { pid, .. } | RunState::Paused { pid, .. } => (Some(*pid), None),
        RunState::Exited { exit } => (None, Some(exit.clone())),
        RunState::Assigned | RunState::Lost { .. } => (None, None),
    };
    WorkloadRunView {
        id: run.id,
        node: node.unwrap_or_else(gone),
        number: run.attempt,
        cause: run.cause,
        fire: run.fire,
        state: run.state.kind(),
        pid,
        exit,
        time_started: run.time_started,
        time_ended: run.time_ended,
    }
}

/// Stands for a node whose record is gone.
fn gone() -> Name {
    "gone".parse().expect("a word of small letters is a name")
}

pub(crate) fn explanation(
    explained: hostler_control::WorkloadExplanation,
    phase: WorkloadPhase,
) -> WorkloadExplanation {
    let nodes = explained.nodes.into_iter().map(|node| WorkloadNodeExplanation {
        node: node.node,
        labels: node.labels,
        standing: node.standing,
        is_fitting: node.reasons.is_empty(),
        reasons: node.reasons,
    });
    WorkloadExplanation {
        phase,
        summary: explained.summary,
        nodes: nodes.collect(),
        hints: explained.hints,
    }
}
