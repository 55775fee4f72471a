//! Placement: which waiting task goes to which node, and what of it becomes its own.
//!
//! `place` decides over one snapshot, the [`Scene`], for everything that waits at once:
//!
//! 1. *Order* (`queue`): priority, then fair share between projects, then age; quotas and the limits
//!    of arrays are hard.
//! 2. *Fit* (`rules`, `devices`, `offer`): a node fits when nothing speaks against it. What speaks
//!    against it can be said in words (`reason`), and what a task gets is named down to the core.
//! 3. *Choice* (`fleet`, `order`, `need`, `circle`, `ranking`): among the nodes that fit, the one with the most preferences
//!    met, then the nearest to the place that is asked for, then the best by the task's strategy, then the
//!    first by name.
//! 4. *Large work* (`hold`): what has waited long is kept a node free, which small work may use only
//!    where it does not delay it.
//! 5. *Urgent work* (`preempt`): what finds no room may take that of lower, preemptible work; it is
//!    placed at a later pass, when the room is there.
//!
//! Gangs are placed whole, each member on another node, or not at all.
//!
//! Invariants (property-tested): nothing of a node is given twice, and no capacity is exceeded in any
//! dimension; quotas and array limits hold; a task is left waiting only if its project or array may
//! not have more, or every node has a reason against it or is kept for another; gangs are whole; equal
//! projects with endless equal work stay within one task of each other; what waits for a lot gets it
//! after a bounded number of runs has ended; the same scene always gives the same plan.

mod ask;
mod circle;
mod devices;
mod explain;
mod families;
mod fleet;
mod frontier;
mod grade;
mod hash;
mod hindrance;
mod hold;
mod need;
mod offer;
mod order;
mod pass;
mod preempt;
mod queue;
mod ranking;
mod reason;
mod rules;

pub use ask::{
    ArrayRoom, Ask, Gang, Held, Holding, Kept, ProjectShare, Scene, Settings, Shape, family,
};
pub use devices::reserve;
pub use explain::{Explanation, Outlook, QueueReason, explain};
pub use hindrance::hindrance;
pub use offer::{About, Amounts, Counts, GpuOffer, NodeOffer, NumaOffer, Observed};
pub use pass::place;
pub use reason::{GpuRoom, GpuTrouble, NumaAsk, NumaRoom, Reason, reasons};

pub(crate) use fleet::standing;
pub(crate) use rules::is_wanted;

use hostler_model::{NodeId, Reservation, Timestamp, WorkloadId};

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    pub placed: Vec<Decision>,
    pub preempt: Vec<Preemption>,
    /// Nodes that are kept for somebody; nothing has to be done about them.
    pub holds: Vec<Hold>,
    /// How many nodes, and blocks of nodes, were looked at: what the decisions cost on any machine.
    pub looks: usize,
}

/// A task goes to a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    pub workload_id: WorkloadId,
    pub node_id: NodeId,
    pub reservation: Reservation,
}

/// A task has to give way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preemption {
    pub victim: WorkloadId,
    pub node_id: NodeId,
    pub by: WorkloadId,
}

/// A node is kept for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hold {
    pub node_id: NodeId,
    pub workload_id: WorkloadId,
    /// When it can start at the latest, where that is known.
    pub expected: Option<Timestamp>,
}

/// Whether anything at all can still be placed.
pub fn has_room(nodes: &[NodeOffer]) -> bool {
    nodes.iter().filter(|node| node.is_open()).any(|node| node.free().cores.millis() > 0)
}

/// Whether a node takes this now; the same as having no reasons.
pub fn fits(shape: &Shape, node: &NodeOffer) -> bool {
    node.is_open()
        && rules::matches(shape, node)
        && rules::is_together(shape, node)
        && rules::conflict(shape, node).is_none()
        && reserve(&shape.resources, node).is_some()
}

#[cfg(test)]
mod tests;
