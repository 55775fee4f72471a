use super::*;
use crate::place::{About, Amounts, Counts, Observed};
use hostler_model::{
    Bytes, Cores, CpuSet, Labels, PlacementRules, ProjectId, Resources, Timestamp,
};
use proptest::prelude::*;
use uuid::Uuid;

fn node_id(n: u128) -> NodeId {
    NodeId::from_uuid(Uuid::from_u128(n))
}

fn host(n: u128) -> Host {
    Host {
        offer: NodeOffer {
            id: node_id(n),
            name: format!("n{n}").parse().unwrap(),
            labels: Labels::from([("zone".to_owned(), format!("z{}", n % 2))]),
            state: NodeState::Online,
            cordon: None,
            about: About::default(),
            address: String::new(),
            capacity: Amounts {
                cores: Cores::from_millis(1000),
                memory: Bytes::mib(1024),
                ..Amounts::default()
            },
            used: Amounts::default(),
            observed: Observed::default(),
            cpus: (0..1).collect(),
            held: CpuSet::default(),
            numa: Vec::new(),
            gpus: Vec::new(),
            runs: 0,
            last_given: Timestamp::EPOCH,
            tags: Counts::new(),
            families: Counts::new(),
            lasting: Vec::new(),
        },
        is_draining: false,
        is_away: false,
        services: 0,
    }
}

fn drained(mut host: Host) -> Host {
    host.offer.cordon = Some("new disk".to_owned());
    host.is_draining = true;
    host
}

fn away(mut host: Host) -> Host {
    host.offer.state = NodeState::Offline;
    host.is_away = true;
    host
}

fn small() -> Resources {
    Resources { cores: Cores::from_millis(100), ..Resources::default() }
}

fn spread(wish: &Wish, seats: &[Seat], hosts: &mut [Host]) -> Vec<Step> {
    super::spread(wish, seats, hosts, &Settings::default())
}

fn wish(rules: PlacementRules) -> Wish {
    Wish {
        workload_id: WorkloadId::from_uuid(Uuid::from_u128(1)),
        shape: Shape {
            project: ProjectId::from_uuid(Uuid::from_u128(9)),
            resources: small(),
            rules,
            priority: 0,
            tags: Vec::new(),
            family: "f".to_owned(),
            timeout: None,
            needs_engine: false,
        },
        desired: Desired::Run,
        revision: Generation::FIRST,
    }
}

fn count(n: u32) -> Wish {
    wish(PlacementRules { count: Some(n), ..PlacementRules::default() })
}

fn bound(name: &str) -> Wish {
    wish(PlacementRules { node: Some(name.parse().unwrap()), ..PlacementRules::default() })
}

fn every(zone: &str) -> Wish {
    let selector = Labels::from([("zone".to_owned(), zone.to_owned())]);
    wish(PlacementRules { every: true, selector, ..PlacementRules::default() })
}

fn seat(id: u128, node: u128) -> Seat {
    Seat {
        placement_id: PlacementId::from_uuid(Uuid::from_u128(id)),
        node_id: node_id(node),
        desired: Desired::Run,
        revision: Generation::FIRST,
        standing: Standing::Up,
    }
}

fn leave(id: u128, why: Why) -> Step {
    Step::Leave { placement: PlacementId::from_uuid(Uuid::from_u128(id)), why }
}

fn tell(id: u128, desired: Desired, revision: u64) -> Step {
    let revision = Generation::from_u64(revision);
    Step::Tell { placement: PlacementId::from_uuid(Uuid::from_u128(id)), desired, revision }
}

fn add_to(n: u128) -> Step {
    let reservation = Reservation { cores: small().cores, ..Reservation::default() };
    Step::Add { node: node_id(n), reservation }
}

#[test]
fn a_count_goes_to_those_with_the_fewest_services_then_the_most_room() {
    let mut hosts = vec![host(1), host(2), host(3), host(4)];
    hosts[0].services = 1;
    hosts[1].offer.used.cores = Cores::from_millis(500);
    hosts[3].offer.cordon = Some("disk".to_owned());
    assert_eq!(spread(&count(2), &[], &mut hosts.clone()), [add_to(3), add_to(2)]);
    assert_eq!(spread(&count(9), &[], &mut hosts), [add_to(3), add_to(2), add_to(1)]);
}

#[test]
fn strategy_preferences_and_tags_are_honoured() {
    let mut wish = count(1);
    wish.shape.rules.strategy = Some(hostler_model::Strategy::BinPack);
    let mut hosts = vec![host(1), host(2), host(3)];
    hosts[1].offer.used.cores = Cores::from_millis(500);
    hosts[1].services = 7;
    assert_eq!(spread(&wish, &[], &mut hosts.clone()), [add_to(2)], "the fullest");
    wish.shape.rules.prefer = vec!["label.zone = z1".parse().unwrap()];
    assert_eq!(spread(&wish, &[], &mut hosts.clone()), [add_to(1)], "one that is preferred");
    wish.shape.rules.apart = vec!["db".to_owned()];
    hosts[0].offer.tags.entry(wish.shape.project).or_default().insert("db".to_owned(), 1);
    assert_eq!(spread(&wish, &[], &mut hosts), [add_to(3)], "apart from what is there");
}

#[test]
fn a_service_gets_cores_of_its_own_and_leaves_a_node_that_no_longer_qualifies() {
    let mut wish = count(2);
    wish.shape.resources =
        Resources { exclusive: true, cores: Cores::from_millis(1000), ..small() };
    wish.shape.rules.constraints = vec!["kernel >= 6".parse().unwrap()];
    let mut hosts = vec![host(1), host(2)];
    hosts.iter_mut().for_each(|host| host.offer.about.kernel = "6.1".to_owned());
    let steps = spread(&wish, &[], &mut hosts.clone());
    let cpus = |step: &Step| match step {
        Step::Add { reservation, .. } => reservation.cpus.to_string(),
        other => panic!("{other:?}"),
    };
    assert_eq!(steps.iter().map(cpus).collect::<Vec<_>>(), ["0", "0"]);
    hosts[0].offer.about.kernel = "5.10".to_owned();
    let steps = spread(&wish, &[seat(11, 1), seat(12, 2)], &mut hosts);
    assert_eq!(steps, [leave(11, Why::NoMatch)]);
}

#[test]
fn every_node_that_fits_gets_one() {
    let mut hosts = vec![host(1), host(2), host(3), host(5)];
    hosts[2].offer.cordon = Some("disk".to_owned());
    assert_eq!(spread(&every("z1"), &[], &mut hosts), [add_to(1), add_to(5)]);
    let seats = [seat(11, 1), seat(12, 3), seat(13, 5)];
    assert_eq!(spread(&every("z1"), &seats, &mut hosts), [], "also those on cordoned nodes stay");
    hosts[2] = drained(host(3));
    hosts[0].offer.labels.clear();
    let steps = spread(&every("z1"), &seats, &mut hosts);
    assert_eq!(steps, [leave(11, Why::NoMatch), leave(12, Why::Drained)]);
}

#[test]
fn a_bound_one_waits_is_stopped_by_a_drain_and_started_after_the_cordon() {
    let wish = bound("n2");
    assert_eq!(spread(&wish, &[], &mut [host(1)]), []);
    assert_eq!(spread(&wish, &[], &mut [host(1), host(2)]), [add_to(2)]);
    let mut seats = vec![seat(11, 2)];
    assert_eq!(spread(&wish, &seats, &mut [away(host(2))]), []);
    assert_eq!(spread(&wish, &seats, &mut [drained(host(2))]), [tell(11, Desired::Stop, 1)]);
    seats[0].desired = Desired::Stop;
    let mut cordoned = drained(host(2));
    cordoned.is_draining = false;
    assert_eq!(spread(&wish, &seats, &mut [cordoned]), [], "the drain is over, the cordon is not");
    assert_eq!(spread(&wish, &seats, &mut [host(2)]), [tell(11, Desired::Run, 1)]);
    let gone = Step::Release { placement: seats[0].placement_id };
    assert_eq!(spread(&wish, &seats, &mut [host(1)]), [gone]);
}

#[test]
fn what_is_away_for_too_long_is_replaced_and_goes_when_it_comes_back() {
    let mut hosts = vec![away(host(1)), host(2)];
    let mut seats = vec![seat(11, 1)];
    assert_eq!(spread(&count(1), &seats, &mut hosts.clone()), [add_to(2)]);
    seats.push(seat(12, 2));
    seats[1].standing = Standing::NotYet;
    assert_eq!(spread(&count(1), &seats, &mut hosts.clone()), []);
    hosts[0] = host(1);
    let early = spread(&count(1), &seats, &mut hosts.clone());
    assert_eq!(early, [leave(12, Why::Surplus)], "the replacement is not up yet");
    seats[1].standing = Standing::Up;
    assert_eq!(spread(&count(1), &seats, &mut hosts), [leave(11, Why::Surplus)]);
}

#[test]
fn what_has_ended_for_good_is_neither_replaced_nor_moved() {
    let mut seats = vec![seat(11, 1)];
    seats[0].standing = Standing::Settled;
    assert_eq!(spread(&count(1), &seats, &mut [away(host(1)), host(2)]), []);
    assert_eq!(spread(&count(1), &seats, &mut [drained(host(1)), host(2)]), []);
}

#[test]
fn a_drain_moves_a_count() {
    let steps = spread(&count(1), &[seat(11, 1)], &mut [drained(host(1)), host(2)]);
    assert_eq!(steps, [leave(11, Why::Drained), add_to(2)]);
}

#[test]
fn stopping_keeps_and_removing_takes_everything_away() {
    let seats = [seat(11, 1), seat(12, 2)];
    let mut hosts = [host(1), host(2), host(3)];
    let mut wish = count(2);
    wish.desired = Desired::Stop;
    let stop = [tell(11, Desired::Stop, 1), tell(12, Desired::Stop, 1)];
    assert_eq!(spread(&wish, &seats, &mut hosts), stop);
    wish.desired = Desired::Run;
    wish.revision = Generation::from_u64(2);
    let changed = [tell(11, Desired::Run, 2), tell(12, Desired::Run, 2)];
    assert_eq!(spread(&wish, &seats, &mut hosts), changed);
    wish.desired = Desired::Remove;
    let removed = [leave(11, Why::Removed), leave(12, Why::Removed)];
    assert_eq!(spread(&wish, &seats, &mut hosts), removed);
}

#[test]
fn a_node_that_still_holds_the_old_one_does_not_get_a_new_one() {
    let mut seats = vec![seat(11, 1)];
    seats[0].desired = Desired::Remove;
    assert_eq!(spread(&count(1), &seats, &mut [host(1)]), []);
    assert_eq!(spread(&count(1), &seats, &mut [host(1), host(2)]), [add_to(2)]);
}

#[test]
fn a_standing_holds_for_its_revision_only() {
    let mut status = PlacementStatus::new(Phase::Running, Generation::FIRST);
    let of = |status: &PlacementStatus, revision: u64, mode: &Mode| {
        Standing::of(Some(status), Generation::from_u64(revision), mode)
    };
    assert_eq!(of(&status, 1, &Mode::Forever), Standing::Up);
    assert_eq!(of(&status, 2, &Mode::Forever), Standing::NotYet);
    status.phase = Phase::Completed;
    assert_eq!(of(&status, 1, &Mode::Once), Standing::Settled);
    status.phase = Phase::Stopped;
    assert_eq!(of(&status, 1, &Mode::Once), Standing::Settled);
    assert_eq!(of(&status, 1, &Mode::Forever), Standing::NotYet);
    assert_eq!(Standing::of(None, Generation::FIRST, &Mode::Once), Standing::NotYet);
}

fn any_host(n: u128) -> impl Strategy<Value = Host> {
    (0u8..8, 0u32..1200, 0u64..3).prop_map(move |(kind, used, services)| {
        let mut host = match kind {
            0 => drained(host(n)),
            1 => away(host(n)),
            _ => host(n),
        };
        match kind {
            2 => host.offer.cordon = Some("disk".to_owned()),
            3 => host.offer.state = NodeState::Stale,
            _ => {}
        }
        host.offer.used.cores = Cores::from_millis(used);
        host.services = services;
        host
    })
}

fn any_wish() -> impl Strategy<Value = Wish> {
    let rules = prop_oneof![
        (1u32..5).prop_map(count),
        (0u128..7).prop_map(|n| bound(&format!("n{n}"))),
        prop::bool::ANY.prop_map(|odd| every(if odd { "z1" } else { "z0" })),
    ];
    (rules, 0u8..6, 1u64..3).prop_map(|(mut wish, desired, revision)| {
        wish.desired = match desired {
            0 => Desired::Stop,
            1 => Desired::Remove,
            _ => Desired::Run,
        };
        wish.revision = Generation::from_u64(revision);
        wish
    })
}

/// At most one on each node, as spreading itself keeps it.
fn any_seats() -> impl Strategy<Value = Vec<Seat>> {
    prop::collection::btree_map(0u128..8, (0u8..4, 0u8..3, 1u64..3), 0..7).prop_map(|by_node| {
        by_node
            .into_iter()
            .map(|(node, (desired, standing, revision))| Seat {
                desired: match desired {
                    0 => Desired::Remove,
                    1 => Desired::Stop,
                    _ => Desired::Run,
                },
                standing: [Standing::NotYet, Standing::Up, Standing::Settled]
                    [usize::from(standing)],
                revision: Generation::from_u64(revision),
                ..seat(100 + node, node)
            })
            .collect()
    })
}

fn carry_out(steps: &[Step], seats: &mut Vec<Seat>, revision: Generation) {
    for step in steps {
        match step.clone() {
            Step::Add { node, .. } => {
                let id = 1000 + seats.len() as u128;
                seats.push(Seat {
                    placement_id: PlacementId::from_uuid(Uuid::from_u128(id)),
                    node_id: node,
                    desired: Desired::Run,
                    revision,
                    standing: Standing::NotYet,
                });
            }
            Step::Tell { placement, desired, revision } => {
                let seat = seats.iter_mut().find(|s| s.placement_id == placement).unwrap();
                assert_ne!(seat.desired, Desired::Remove, "removal is never taken back");
                (seat.desired, seat.revision) = (desired, revision);
            }
            Step::Leave { placement, .. } => {
                let seat = seats.iter_mut().find(|s| s.placement_id == placement).unwrap();
                assert_ne!(seat.desired, Desired::Remove, "asked for once");
                seat.desired = Desired::Remove;
            }
            Step::Release { placement } => seats.retain(|s| s.placement_id != placement),
        }
    }
}

proptest! {
    #[test]
    fn the_rules_hold_and_the_answer_is_final(
        wish in any_wish(),
        hosts in (any_host(1), any_host(2), any_host(3), any_host(4), any_host(5), any_host(6)),
        seats in any_seats(),
    ) {
        let (a, b, c, d, e, f) = hosts;
        let mut hosts = vec![a, b, c, d, e, f];
        let before = hosts.clone();
        let mut seats = seats;
        let steps = spread(&wish, &seats, &mut hosts);
        carry_out(&steps, &mut seats, wish.revision);

        for host in &before {
            let here = seats.iter().filter(|seat| seat.node_id == host.offer.id).count();
            prop_assert!(here <= 1, "one for each node");
        }
        for step in &steps {
            if let Step::Add { node, .. } = step {
                let host = before.iter().find(|host| host.offer.id == *node).unwrap();
                prop_assert!(place::fits(&wish.shape, &host.offer));
                prop_assert_eq!(wish.desired, Desired::Run);
            }
        }
        let live: Vec<&Seat> = seats.iter().filter(|s| s.desired != Desired::Remove).collect();
        let counted = live
            .iter()
            .filter(|seat| {
                let host = before.iter().find(|host| host.offer.id == seat.node_id).unwrap();
                counts(&wish, seat, host)
            })
            .count();
        if wish.desired == Desired::Remove {
            prop_assert!(live.is_empty());
        } else if !wish.shape.rules.every {
            prop_assert!(counted <= wanted(&wish));
        }
        let is_short = wish.shape.rules.every || counted < wanted(&wish);
        if wish.desired == Desired::Run && is_short {
            for host in &hosts {
                let is_taken = seats.iter().any(|seat| seat.node_id == host.offer.id);
                prop_assert!(is_taken || !place::fits(&wish.shape, &host.offer));
            }
        }
        prop_assert_eq!(spread(&wish, &seats, &mut hosts), vec![], "nothing is left to do");
    }
}
