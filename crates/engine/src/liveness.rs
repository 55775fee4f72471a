//! Liveness: what a node's silence means.
//!
//! The age of a lease decides. Two guards keep an outage of our own from looking like an outage of
//! the fleet: silence counts only from when this server began to watch without interruption
//! (`watching_since` moves forward whenever the database was away), and `joined` nodes are never quiet.

use std::time::Duration;

use hostler_model::{LivenessEvent, NodeId, NodeState, Timestamp};

/// How long a node may be quiet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    pub stale_after: Duration,
    pub offline_after: Duration,
    /// After this long, what ran there is declared lost.
    pub lost_after: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience {
            stale_after: Duration::from_secs(20),
            offline_after: Duration::from_secs(90),
            lost_after: Duration::from_secs(600),
        }
    }
}

/// A node as liveness sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watched {
    pub id: NodeId,
    pub state: NodeState,
    pub time_seen: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The node's state changes.
    Change { node: NodeId, to: NodeState },
    /// Whatever is not settled on the node is lost.
    RunsLost { node: NodeId },
}

pub fn decide(
    nodes: &[Watched],
    watching_since: Timestamp,
    now: Timestamp,
    patience: Patience,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for node in nodes {
        let Some(seen) = node.time_seen else { continue };
        let quiet = now.since(seen.max(watching_since));
        // A lease fresher than the watch is proof of life even in the guarded time.
        let event = if now.since(seen) < patience.stale_after {
            LivenessEvent::Seen
        } else if quiet >= patience.offline_after {
            LivenessEvent::QuietOffline
        } else if quiet >= patience.stale_after {
            LivenessEvent::QuietStale
        } else {
            continue;
        };
        if let Some(to) = node.state.apply(event) {
            verdicts.push(Verdict::Change { node: node.id, to });
        }
        if quiet >= patience.lost_after && node.state != NodeState::Removed {
            verdicts.push(Verdict::RunsLost { node: node.id });
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const START: Timestamp = Timestamp::from_micros(1_000_000_000_000);

    fn at(seconds: u64) -> Timestamp {
        START.plus(Duration::from_secs(seconds))
    }

    fn check(state: NodeState, seen: Option<u64>, watching: u64, now: u64) -> Vec<Verdict> {
        let id = NodeId::from_uuid(Uuid::from_u128(1));
        decide(
            &[Watched { id, state, time_seen: seen.map(at) }],
            at(watching),
            at(now),
            Patience::default(),
        )
    }

    #[test]
    fn silence_has_steps() {
        let id = NodeId::from_uuid(Uuid::from_u128(1));
        let change = |to| Verdict::Change { node: id, to };
        assert_eq!(check(NodeState::Online, Some(0), 0, 10), []);
        assert_eq!(check(NodeState::Online, Some(0), 0, 30), [change(NodeState::Stale)]);
        assert_eq!(check(NodeState::Online, Some(0), 0, 100), [change(NodeState::Offline)]);
        assert_eq!(check(NodeState::Stale, Some(0), 0, 100), [change(NodeState::Offline)]);
        assert_eq!(check(NodeState::Offline, Some(0), 0, 100), []);
        assert_eq!(check(NodeState::Offline, Some(0), 0, 700), [Verdict::RunsLost { node: id }]);
        assert_eq!(check(NodeState::Offline, Some(695), 0, 700), [change(NodeState::Online)]);
        assert_eq!(check(NodeState::Joined, None, 0, 9999), []);
    }

    #[test]
    fn our_own_absence_is_not_the_nodes() {
        assert_eq!(check(NodeState::Online, Some(0), 995, 1000), []);
        assert_eq!(check(NodeState::Online, Some(0), 900, 950).len(), 1);
    }
}
