//! What should move: reconcilers, operations, executions, the queue.

use std::time::Duration;

use hostler_model::{Finding, NodeState};

use super::{Observations, Reconciler, count, critical, length, warn};

/// Passes that failed one after the other.
const FAILED_OFTEN: u64 = 3;
/// A reconciler that has not begun for so many periods, and at least so long, does not run.
const PERIODS_MISSED: u32 = 10;
const MISSED_MIN: Duration = Duration::from_mins(5);
const OPERATION_STILL: Duration = Duration::from_mins(30);
const EXECUTION_LATE: Duration = Duration::from_mins(5);
const QUEUE_STILL: Duration = Duration::from_mins(15);

pub(super) fn reconcilers(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "reconcilers";
    let mut found = Vec::new();
    let told = |reconciler: &Reconciler| {
        let error = reconciler.error.as_deref().unwrap_or("no error was told");
        format!("{}: failed {} times, {error}", reconciler.name, reconciler.consecutive_errors)
    };
    let failing = seen.reconcilers.iter().filter(|r| r.consecutive_errors >= FAILED_OFTEN);
    let failing: Vec<String> = failing.map(told).collect();
    if !failing.is_empty() {
        found.push(
            critical(CHECK, format!("{} of this server fail", count(failing.len(), "reconciler")))
                .why("what they keep as the rows say is not kept any more")
                .evidence(failing)
                .next("hostler debug reconcilers"),
        );
    }
    let is_still = |r: &&Reconciler| {
        let patience = (r.period * PERIODS_MISSED).max(MISSED_MIN);
        r.time_last_started.is_some_and(|time| seen.now.since(time) >= patience)
    };
    let still: Vec<String> = seen
        .reconcilers
        .iter()
        .filter(is_still)
        .map(|r| match r.is_running {
            true => format!("{}: its pass does not end", r.name),
            false => format!("{}: it has not begun one", r.name),
        })
        .collect();
    if !still.is_empty() {
        found.push(
            critical(
                CHECK,
                format!("{} of this server stand still", count(still.len(), "reconciler")),
            )
            .why("what they keep as the rows say is not kept any more")
            .evidence(still)
            .next("restart this server, and report it"),
        );
    }
    let panicked = seen.reconcilers.iter().filter(|r| r.panics > 0);
    let panicked: Vec<String> =
        panicked.map(|r| format!("{}: {} times", r.name, r.panics)).collect();
    if !panicked.is_empty() {
        found.push(
            warn(CHECK, "a reconciler of this server panicked")
                .why("it goes on after a pause; it is a defect")
                .evidence(panicked)
                .next("look at the server's log, and report it"),
        );
    }
    if found.is_empty() && !seen.reconcilers.is_empty() {
        found.push(Finding::ok(CHECK, format!("{} run", seen.reconcilers.len())));
    }
    found
}

pub(super) fn operations(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "operations";
    let still: Vec<String> = seen
        .operations
        .iter()
        .filter(|one| seen.now.since(one.time_modified) >= OPERATION_STILL)
        .map(|one| {
            let owner = if one.has_owner { "" } else { ", nobody carries it on" };
            let quiet = length(seen.now.since(one.time_modified));
            format!("{} {}: no progress for {quiet}{owner}", one.kind, one.id)
        })
        .collect();
    let mut found = Vec::new();
    if !still.is_empty() {
        found.push(
            warn(CHECK, format!("{} without progress", count(still.len(), "operation")))
                .why("somebody waits for it")
                .evidence(still)
                .next("hostler operation show ID says what it waits for; hostler operation cancel ID ends it"),
        );
    }
    if let Some(due) = seen.execution_due
        && seen.now.since(due) >= EXECUTION_LATE
    {
        found.push(
            warn(CHECK, "an execution of a workflow is not carried on")
                .why("its steps wait")
                .evidence([format!("it was due {} ago", length(seen.now.since(due)))])
                .next("hostler workflow executions; hostler debug reconcilers"),
        );
    }
    if found.is_empty() {
        found.push(Finding::ok(CHECK, format!("{} under way", seen.operations.len())));
    }
    found
}

pub(super) fn queue(seen: &Observations) -> Vec<Finding> {
    const CHECK: &str = "queue";
    let waiting = usize::try_from(seen.queue.waiting).unwrap_or(usize::MAX);
    let still = seen.queue.oldest.map(|oldest| seen.now.since(oldest));
    let Some(still) = still.filter(|still| *still >= QUEUE_STILL) else {
        return vec![Finding::ok(CHECK, format!("{} waiting", count(waiting, "task")))];
    };
    let has_nodes = seen.nodes.iter().any(|node| node.state == NodeState::Online);
    let evidence =
        [format!("{} waiting", count(waiting, "task")), format!("the first for {}", length(still))];
    vec![match has_nodes {
        false => critical(CHECK, "tasks wait, and no node is there to run them")
            .why("nothing can be placed")
            .evidence(evidence)
            .next("hostler node ls"),
        true => warn(CHECK, "tasks have waited for long")
            .why("they ask for more than is free, or for what no node has")
            .evidence(evidence)
            .next("hostler queue; hostler task explain TASK says why one waits"),
    }]
}
