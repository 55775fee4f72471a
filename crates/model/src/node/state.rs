//! States of a node.
//!
//! ```text
//!   joined --seen--> online --quiet--> stale --quiet--> offline
//!                      ^  \_____seen____/  \____seen____/ |
//!                      |__________________________________|
//!   any but removed --remove--> removed
//! ```
//!
//! Owner of every state but `removed` is the liveness reconciler, whose deadlines are the ages of the
//! node's lease; `joined` waits for the first connection and is ended by the node's certificate
//! expiring or by an operator removing it.

crate::labels! {
    pub enum NodeState ("node state") {
        /// Has a certificate, has never connected.
        Joined = "joined",
        Online = "online",
        /// Quiet for longer than a heartbeat or two; nothing new is placed on it.
        Stale = "stale",
        /// Quiet for so long that its runs may be declared lost.
        Offline = "offline",
        /// Taken out by an operator; its certificates are refused.
        Removed = "removed",
    }
}

crate::labels! {
    pub enum LivenessEvent ("liveness event") {
        Seen = "seen",
        QuietStale = "quiet-stale",
        QuietOffline = "quiet-offline",
        Remove = "remove",
    }
}

impl NodeState {
    /// States in which a session may exist.
    pub const PRESENT: &'static [NodeState] =
        &[NodeState::Joined, NodeState::Online, NodeState::Stale, NodeState::Offline];

    /// The next state; `None` where the event changes nothing or is not allowed.
    pub const fn apply(self, event: LivenessEvent) -> Option<NodeState> {
        use LivenessEvent as E;
        use NodeState as S;
        match (self, event) {
            (S::Joined | S::Stale | S::Offline, E::Seen) => Some(S::Online),
            (S::Online, E::QuietStale) => Some(S::Stale),
            (S::Online | S::Stale, E::QuietOffline) => Some(S::Offline),
            (S::Joined | S::Online | S::Stale | S::Offline, E::Remove) => Some(S::Removed),
            (S::Online, E::Seen)
            | (S::Joined | S::Stale | S::Offline, E::QuietStale)
            | (S::Joined | S::Offline, E::QuietOffline)
            | (S::Removed, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transition_table() {
        let mut table = String::new();
        for state in NodeState::ALL {
            for event in LivenessEvent::ALL {
                let next = state.apply(*event).map_or("-", NodeState::label);
                table.push_str(&format!("{state:<8} {event:<14} {next}\n"));
            }
        }
        insta::assert_snapshot!(table);
    }
}
