//! Dividing what a project may keep of its output between nodes, so that what is in force never adds up to
//! more.
//!
//! Nodes that have runs or output of the project get equal parts. An eighth is held back, for nodes that come
//! to it: each begins with half of what is free ([`first`]), before anything of the project runs there, and
//! has its equal part once the others have made room. Shares are lowered at once, but hold their place up to
//! their ceiling until the node has said that they are in force; they are raised only with what no ceiling
//! holds. So it does not matter which nodes are away, or for how long.

use hostler_model::NodeId;

/// A node with a share, or one that is to have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    pub node_id: NodeId,
    pub granted: u64,
    /// The most that may be in force there; not less than what is granted.
    pub ceiling: u64,
    /// It has runs or output of the project, or may have.
    pub is_wanted: bool,
}

/// What each holder is to be granted now, in their order.
pub fn divide(quota: u64, holders: &[Holder]) -> Vec<u64> {
    let given = quota - quota / 8;
    let wanted = holders.iter().filter(|holder| holder.is_wanted).count() as u64;
    let part = given.checked_div(wanted).unwrap_or(0);
    let held = holders.iter().fold(0, |sum: u64, holder| sum.saturating_add(holder.ceiling));
    let mut free = given.saturating_sub(held);
    holders
        .iter()
        .map(|holder| {
            let part = if holder.is_wanted { part } else { 0 };
            // Up to its ceiling it takes nothing from anybody.
            let granted = part.min(holder.ceiling.saturating_add(free));
            free -= granted.saturating_sub(holder.ceiling);
            granted
        })
        .collect()
}

/// What a node begins with, when so much is held by others.
pub fn first(quota: u64, held: u64) -> u64 {
    quota.saturating_sub(held).div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use uuid::Uuid;

    fn holder(number: u128, ceiling: u64) -> Holder {
        let node_id = NodeId::from_uuid(Uuid::from_u128(number));
        Holder { node_id, granted: ceiling, ceiling, is_wanted: true }
    }

    #[test]
    fn parts_are_equal_and_an_eighth_is_free() {
        assert_eq!(divide(800, &[holder(1, 0)]), [700]);
        assert_eq!(divide(800, &[holder(1, 0), holder(2, 0)]), [350, 350]);
        assert_eq!(divide(800, &[]), [0; 0]);
        let unwanted = Holder { is_wanted: false, ..holder(2, 350) };
        assert_eq!(divide(800, &[holder(1, 350), unwanted]), [350, 0]);
    }

    #[test]
    fn a_newcomer_waits_for_those_who_make_room() {
        let (old, new) = (holder(1, 700), holder(2, first(800, 700)));
        assert_eq!(new.granted, 50);
        assert_eq!(divide(800, &[old, new]), [350, 50]);
        let lowered = Holder { granted: 350, ceiling: 350, ..old };
        assert_eq!(divide(800, &[lowered, new]), [350, 350]);
    }

    #[test]
    fn a_node_that_is_away_holds_its_place() {
        let away = Holder { granted: 0, is_wanted: false, ..holder(1, 700) };
        assert_eq!(divide(800, &[away, holder(2, 0)]), [0, 0]);
        assert_eq!(divide(100, &[away, holder(2, 0)]), [0, 0]);
    }

    /// What can happen to a project's shares.
    #[derive(Clone, Copy, Debug)]
    enum Step {
        Join(usize),
        Leave(usize),
        /// The node says what is in force there, as of the grant it has heard of last.
        Ack(usize),
        Hear(usize),
        Want(usize, bool),
        Quota(u64),
        Divide,
    }

    /// A node's side: what it was told last, and what it enforces.
    #[derive(Clone, Copy, Debug)]
    struct Node {
        holder: Holder,
        generation: u64,
        heard: (u64, u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        let node = 0..6_usize;
        prop_oneof![
            2 => node.clone().prop_map(Step::Join),
            1 => node.clone().prop_map(Step::Leave),
            4 => node.clone().prop_map(Step::Ack),
            4 => node.clone().prop_map(Step::Hear),
            2 => (node, any::<bool>()).prop_map(|(node, is)| Step::Want(node, is)),
            1 => prop_oneof![Just(0_u64), 1..100_u64, Just(u64::MAX / 2)].prop_map(Step::Quota),
            6 => Just(Step::Divide),
        ]
    }

    proptest! {
        #[test]
        fn what_is_in_force_never_adds_up_to_more(steps in prop::collection::vec(step(), 1..200)) {
            let mut quota = 1000_u64;
            // Only while a quota that was lowered is on its way may there be more, and never more than there was.
            let mut allowed = quota;
            let mut nodes: [Option<Node>; 6] = [None; 6];
            let mut number = 0;
            for step in steps {
                let held = |nodes: &[Option<Node>; 6]| {
                    nodes.iter().flatten().map(|node| node.holder.ceiling).sum::<u64>()
                };
                match step {
                    Step::Join(at) if nodes[at].is_none() => {
                        number += 1;
                        let granted = first(quota, held(&nodes));
                        let holder = holder(at as u128, granted);
                        nodes[at] = Some(Node { holder, generation: number, heard: (0, 0) });
                    }
                    Step::Join(_) => {}
                    Step::Leave(at) => nodes[at] = None,
                    Step::Hear(at) => if let Some(node) = &mut nodes[at] {
                        node.heard = (node.generation, node.holder.granted);
                    },
                    Step::Ack(at) => if let Some(node) = &mut nodes[at]
                        && node.heard.0 == node.generation
                    {
                        node.holder.ceiling = node.holder.granted;
                    },
                    Step::Want(at, is) => if let Some(node) = &mut nodes[at] {
                        node.holder.is_wanted = is;
                    },
                    Step::Quota(to) => {
                        quota = to;
                        allowed = quota.max(held(&nodes));
                    }
                    Step::Divide => {
                        let holders: Vec<Holder> =
                            nodes.iter().flatten().map(|node| node.holder).collect();
                        let granted = divide(quota, &holders);
                        prop_assert!(granted.iter().sum::<u64>() <= quota);
                        for (node, granted) in nodes.iter_mut().flatten().zip(granted) {
                            if node.holder.granted != granted {
                                number += 1;
                                node.generation = number;
                                node.holder.granted = granted;
                                node.holder.ceiling = node.holder.ceiling.max(granted);
                            }
                        }
                    }
                }
                let held = held(&nodes);
                prop_assert!(held <= allowed, "{held} of {allowed}");
                allowed = quota.max(held);
                let in_force: u64 = nodes.iter().flatten().map(|node| node.heard.1).sum();
                prop_assert!(in_force <= held, "{in_force} in force, {held} counted");
            }
        }

        #[test]
        fn when_all_have_answered_the_parts_are_equal(count in 1..20_u64, quota in 0..1_000_000_u64) {
            let mut holders: Vec<Holder> =
                (0..count).map(|n| holder(n.into(), 0)).collect();
            holders[0] = Holder { ceiling: quota, granted: quota, ..holders[0] };
            for _ in 0..3 {
                for (holder, granted) in holders.clone().iter().zip(divide(quota, &holders)) {
                    let at = holders.iter_mut().find(|one| one.node_id == holder.node_id).unwrap();
                    (at.granted, at.ceiling) = (granted, granted);
                }
            }
            let part = (quota - quota / 8) / count;
            prop_assert!(holders.iter().all(|holder| holder.granted == part), "{holders:?}");
        }
    }
}
