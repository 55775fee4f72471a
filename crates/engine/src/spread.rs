//! Spreading: on which nodes a service is, and what each of them is to be told.
//!
//! `spread` compares what a service asks for with the placements it has, over one snapshot of the
//! nodes, and answers with the fewest steps that make them agree. What it may ask for:
//!
//! - a *node* of its own: it waits for that node, is stopped there while the node is drained, and
//!   started again when the node takes work;
//! - *every* node that fits: it also goes to those that come later;
//! - a *count* of nodes: new ones are taken where the fewest services are, then where the most is free,
//!   then by name; or as its preferences and strategy say.
//!
//! A placement stays where it is while its node still matches, also when the node is cordoned. It
//! leaves a node that is drained, or that no longer matches. A node that has been away for too long
//! does not count any more, and another one is taken; when the first comes back there is one too many,
//! and the newest that runs is kept, so that the one which came back goes unless its replacement is not
//! up yet. What has ended for good has no process to move: it stays and counts wherever it is. New
//! reservations of a placement that stays are taken as they are; nothing else is pushed away for them.
//!
//! Invariants (property-tested): removal is never taken back; a node has at most one placement of a
//! service; there are never more than asked for on nodes that are there; there are fewer only if no
//! other node fits; when the steps were taken and nothing else changed, there are none.

use hostler_model::{
    Desired, Generation, Mode, NodeId, NodeState, Phase, PlacementId, PlacementStatus, Reservation,
    WorkloadId,
};

use crate::place::{self, NodeOffer, Settings, Shape};

/// What a service asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    pub workload_id: WorkloadId,
    pub shape: Shape,
    pub desired: Desired,
    pub revision: Generation,
}

/// A placement that is not released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seat {
    pub placement_id: PlacementId,
    pub node_id: NodeId,
    pub desired: Desired,
    pub revision: Generation,
    pub standing: Standing,
}

/// How a placement stands under the present revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Not heard of, or on its way.
    NotYet,
    /// It does what it is there for.
    Up,
    /// It has ended for good.
    Settled,
}

impl Standing {
    /// What runs once and was stopped on its node is not begun again elsewhere.
    pub fn of(status: Option<&PlacementStatus>, revision: Generation, mode: &Mode) -> Standing {
        match status.filter(|status| status.revision == revision).map(|status| status.phase) {
            Some(Phase::Running | Phase::Idle) => Standing::Up,
            Some(Phase::Completed | Phase::Failed) => Standing::Settled,
            Some(Phase::Stopped) if *mode == Mode::Once => Standing::Settled,
            _ => Standing::NotYet,
        }
    }
}

/// A node as spreading sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    pub offer: NodeOffer,
    pub is_draining: bool,
    /// It has been offline for so long that it is not waited for.
    pub is_away: bool,
    /// Placements of services on it.
    pub services: u64,
}

/// Why a placement leaves its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    Removed,
    NoMatch,
    Drained,
    Surplus,
}

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Why::Removed => "the workload is removed",
            Why::NoMatch => "the node is not what the workload asks for",
            Why::Drained => "the node is being drained",
            Why::Surplus => "it runs on enough other nodes",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Give it to this node, and this of it.
    Add { node: NodeId, reservation: Reservation },
    /// Tell the placement's node this.
    Tell { placement: PlacementId, desired: Desired, revision: Generation },
    /// Take it away from its node.
    Leave { placement: PlacementId, why: Why },
    /// Its node is gone, and whatever was there with it.
    Release { placement: PlacementId },
}

/// What is to be done; takes what it gives from `hosts`.
pub fn spread(wish: &Wish, seats: &[Seat], hosts: &mut [Host], settings: &Settings) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut kept: Vec<(&Seat, &Host)> = Vec::new();
    for seat in seats {
        let placement = seat.placement_id;
        match hosts.iter().find(|host| host.offer.id == seat.node_id) {
            None => steps.push(Step::Release { placement }),
            Some(_) if seat.desired == Desired::Remove => {}
            Some(host) => match leaves(wish, seat, host) {
                Some(why) => steps.push(Step::Leave { placement, why }),
                None => kept.push((seat, host)),
            },
        }
    }
    if wish.desired == Desired::Remove {
        return steps;
    }
    let missing = if wish.shape.rules.every {
        usize::MAX
    } else {
        let wanted = wanted(wish);
        let counted = kept.iter().filter(|(seat, host)| counts(wish, seat, host)).count();
        for placement in surplus(wish, &kept, wanted) {
            kept.retain(|(seat, _)| seat.placement_id != placement);
            steps.push(Step::Leave { placement, why: Why::Surplus });
        }
        wanted.saturating_sub(counted)
    };
    for (seat, host) in &kept {
        let (desired, revision) = (told(wish, seat, host), wish.revision);
        if seat.desired != desired || seat.revision != revision {
            steps.push(Step::Tell { placement: seat.placement_id, desired, revision });
        }
    }
    if wish.desired == Desired::Run {
        steps.extend(add(wish, seats, hosts, missing, settings));
    }
    steps
}

/// On how many nodes it is to be, where that is a number.
fn wanted(wish: &Wish) -> usize {
    match wish.shape.rules.node {
        Some(_) => 1,
        None => wish.shape.rules.count.unwrap_or(1) as usize,
    }
}

fn leaves(wish: &Wish, seat: &Seat, host: &Host) -> Option<Why> {
    let rules = &wish.shape.rules;
    if wish.desired == Desired::Remove {
        Some(Why::Removed)
    } else if !place::is_wanted(rules, &host.offer) {
        Some(Why::NoMatch)
    } else if host.is_draining && rules.node.is_none() && seat.standing != Standing::Settled {
        Some(Why::Drained)
    } else {
        None
    }
}

/// Whether no other node is needed for this one.
fn counts(wish: &Wish, seat: &Seat, host: &Host) -> bool {
    !host.is_away || wish.shape.rules.node.is_some() || seat.standing == Standing::Settled
}

/// Those that are too many: what is kept is what is reachable, up, not cordoned and newest.
fn surplus(wish: &Wish, kept: &[(&Seat, &Host)], wanted: usize) -> Vec<PlacementId> {
    let mut here: Vec<_> =
        kept.iter().filter(|(seat, host)| counts(wish, seat, host)).copied().collect();
    let worth = |(seat, host): &(&Seat, &Host)| {
        let is_online = host.offer.state == NodeState::Online;
        (is_online, seat.standing, host.offer.cordon.is_none(), seat.placement_id)
    };
    here.sort_by_key(|entry| std::cmp::Reverse(worth(entry)));
    here.into_iter().skip(wanted).map(|(seat, _)| seat.placement_id).collect()
}

fn told(wish: &Wish, seat: &Seat, host: &Host) -> Desired {
    let is_bound = wish.shape.rules.node.is_some();
    match wish.desired {
        Desired::Run if is_bound && seat.standing == Standing::Settled => seat.desired,
        Desired::Run if is_bound && host.is_draining => Desired::Stop,
        Desired::Run if is_bound && host.offer.cordon.is_some() => seat.desired,
        desired => desired,
    }
}

fn add(
    wish: &Wish,
    seats: &[Seat],
    hosts: &mut [Host],
    missing: usize,
    settings: &Settings,
) -> Vec<Step> {
    let shape = &wish.shape;
    let mut taken: Vec<NodeId> = seats.iter().map(|seat| seat.node_id).collect();
    let mut added = Vec::new();
    while added.len() < missing {
        let best = hosts
            .iter_mut()
            .filter(|host| !taken.contains(&host.offer.id) && place::fits(shape, &host.offer))
            .min_by_key(|host| preference(host, shape, settings));
        let Some(host) = best else { break };
        let Some(reservation) = place::reserve(&shape.resources, &host.offer) else { break };
        host.offer.take(&reservation);
        host.services += 1;
        taken.push(host.offer.id);
        added.push(Step::Add { node: host.offer.id, reservation });
    }
    added
}

/// Smaller is better: preferences, then (where no strategy is asked for) the fewest services, then the
/// strategy, then the name.
fn preference(host: &Host, shape: &Shape, settings: &Settings) -> impl Ord + use<> {
    let (preferences, key) = place::standing(&host.offer, shape, settings);
    let services = if shape.rules.strategy.is_none() { host.services } else { 0 };
    (preferences, services, key, host.offer.name.clone())
}

#[cfg(test)]
mod tests;
