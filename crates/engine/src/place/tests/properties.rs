//! What holds for every scene. The judge here counts for itself and trusts none of the code it judges.

use std::collections::{BTreeMap, BTreeSet};

use super::scenes::any_scene;
use super::*;
use proptest::prelude::*;

fn find(scene: &Scene, id: WorkloadId) -> &Ask {
    scene.queue.iter().find(|ask| ask.workload_id == id).expect("only what waits is placed")
}

/// Whether a reservation is what was asked for, and free on the node as it is.
fn check_reservation(
    asked: &Resources,
    given: &Reservation,
    node: &NodeOffer,
) -> Result<(), TestCaseError> {
    let room = |capacity: u64, used: u64, more: u64| more == 0 || used + more <= capacity;
    let (has, used, seen) = (node.capacity, node.used, node.observed);
    prop_assert_eq!(
        (given.cores, given.memory, given.disk),
        (asked.cores, asked.memory, asked.disk)
    );
    prop_assert!(room(
        has.cores.millis().into(),
        used.cores.millis().into(),
        given.cores.millis().into()
    ));
    prop_assert!(room(
        has.memory.get(),
        used.memory.get().max(seen.memory.get()),
        given.memory.get()
    ));
    prop_assert!(room(has.disk.get(), used.disk.get(), given.disk.get()));
    let own = if asked.exclusive { asked.cores.millis() / 1000 } else { 0 };
    prop_assert_eq!(given.cpus.len(), own as usize);
    prop_assert!(given.cpus.iter().all(|cpu| node.cpus.contains(cpu) && !node.held.contains(cpu)));
    match (asked.numa, given.numa) {
        (None, None) => {}
        (Some(wanted), Some(index)) => {
            prop_assert!(wanted == NumaRequest::Any || wanted == NumaRequest::Index(index));
            let numa = node.numa.iter().find(|numa| numa.index == index).expect("it exists");
            prop_assert!(given.cpus.iter().all(|cpu| numa.cpus.contains(cpu)));
        }
        (wanted, found) => prop_assert!(false, "{wanted:?} became {found:?}"),
    }
    let wanted = &asked.gpus;
    prop_assert_eq!(given.gpus.len(), wanted.count as usize);
    let indexes: BTreeSet<u32> = given.gpus.iter().map(|gpu| gpu.index).collect();
    prop_assert_eq!(indexes.len(), given.gpus.len(), "a GPU only once");
    if !wanted.ids.is_empty() {
        prop_assert_eq!(indexes, wanted.ids.iter().copied().collect::<BTreeSet<u32>>());
    }
    for hold in &given.gpus {
        let gpu = node.gpus.iter().find(|gpu| gpu.index == hold.index).expect("it exists");
        prop_assert_eq!(hold.share, wanted.share);
        prop_assert!(gpu.trouble.is_none() && gpu.used + hold.share.millis() <= 1000);
        prop_assert!(
            wanted.model.as_ref().is_none_or(|model| gpu.model.to_lowercase().contains(model))
        );
        prop_assert!(gpu.memory >= wanted.memory);
    }
    Ok(())
}

fn millis(cpus: usize) -> u32 {
    u32::try_from(cpus).unwrap() * 1000
}

/// What is bound to a NUMA node, by counting everything that was given there.
fn check_numa(
    node: &NodeOffer,
    given: &[&Reservation],
    before: &NodeOffer,
) -> Result<(), TestCaseError> {
    for (numa, was) in node.numa.iter().zip(&before.numa) {
        let own =
            |r: &Reservation| millis(r.cpus.iter().filter(|cpu| numa.cpus.contains(*cpu)).count());
        let cores = |r: &&Reservation| match r.numa {
            Some(index) if index == numa.index => r.cores.millis(),
            Some(_) => 0,
            None => own(r),
        };
        let used = was.used_cores.millis() + given.iter().map(cores).sum::<u32>();
        prop_assert_eq!(used, numa.used_cores.millis());
        prop_assert!(used <= millis(numa.cpus.len()) && numa.used_memory <= numa.memory);
    }
    Ok(())
}

fn check_rules(ask: &Ask, node: &NodeOffer) -> Result<(), TestCaseError> {
    let (shape, rules) = (&ask.shape, &ask.shape.rules);
    prop_assert!(node.cordon.is_none() && node.state == NodeState::Online);
    prop_assert!(rules.node.as_ref().is_none_or(|name| *name == node.name));
    prop_assert!(rules.selector.iter().all(|(key, value)| node.labels.get(key) == Some(value)));
    prop_assert!(!shape.needs_engine || node.about.container_engine.is_some());
    let is_there = |tag: &String| node.tagged(shape.project, tag) > 0;
    prop_assert!(!rules.apart.iter().any(is_there));
    prop_assert!(rules.together.is_empty() || rules.together.iter().any(is_there));
    Ok(())
}

fn check_given(before: &Scene, after: &Scene, plan: &Plan) -> Result<(), TestCaseError> {
    let mut nodes: BTreeMap<NodeId, NodeOffer> =
        before.nodes.iter().map(|node| (node.id, node.clone())).collect();
    let mut given: BTreeMap<NodeId, Vec<&Reservation>> = BTreeMap::new();
    for decision in &plan.placed {
        let ask = find(before, decision.workload_id);
        let node = nodes.get_mut(&decision.node_id).expect("only nodes of the scene");
        check_rules(ask, node)?;
        check_reservation(&ask.shape.resources, &decision.reservation, node)?;
        node.take(&decision.reservation);
        given.entry(node.id).or_default().push(&decision.reservation);
        for tag in &ask.shape.tags {
            *node.tags.entry(ask.shape.project).or_default().entry(tag.clone()).or_default() += 1;
        }
    }
    for node in &after.nodes {
        let was = before.nodes.iter().find(|was| was.id == node.id).expect("no node is lost");
        let here = given.get(&node.id).cloned().unwrap_or_default();
        let sum = |of: fn(&Reservation) -> u64| here.iter().map(|r| of(r)).sum::<u64>();
        let cores = u64::from(was.used.cores.millis()) + sum(|r| r.cores.millis().into());
        let memory = was.used.memory.get() + sum(|r| r.memory.get());
        let disk = was.used.disk.get() + sum(|r| r.disk.get());
        prop_assert!(cores <= node.capacity.cores.millis().into());
        prop_assert!(memory <= node.capacity.memory.get() && disk <= node.capacity.disk.get());
        prop_assert_eq!(u64::from(node.used.cores.millis()), cores);
        prop_assert_eq!((node.used.memory.get(), node.used.disk.get()), (memory, disk));
        for gpu in &node.gpus {
            let is_it = |hold: &&hostler_model::GpuHold| hold.index == gpu.index;
            let was = was.gpus.iter().find(|was| was.index == gpu.index).expect("known").used;
            let holds = here.iter().flat_map(|r| r.gpus.iter()).filter(is_it);
            let used =
                u32::from(was) + holds.map(|hold| u32::from(hold.share.millis())).sum::<u32>();
            prop_assert!(used <= 1000 && used == u32::from(gpu.used));
        }
        prop_assert_eq!(
            node.held.len(),
            was.held.len() + here.iter().map(|r| r.cpus.len()).sum::<usize>()
        );
        check_numa(node, &here, was)?;
    }
    Ok(())
}

fn check_limits(before: &Scene, after: &Scene, plan: &Plan) -> Result<(), TestCaseError> {
    for (id, project) in &after.projects {
        let was = before.projects.get(id).cloned().unwrap_or_default();
        let mut held = was.held;
        for decision in &plan.placed {
            if find(before, decision.workload_id).shape.project == *id {
                held = held.plus(Holding::of(&decision.reservation));
            }
        }
        prop_assert_eq!(held, project.held);
        let is_within = |limit: Option<u64>, was: u64, held: u64| {
            held == was || limit.is_none_or(|limit| held <= limit)
        };
        prop_assert!(is_within(
            was.quota.cores.map(|c| c.millis().into()),
            was.held.cores,
            held.cores
        ));
        prop_assert!(is_within(was.quota.memory.map(Bytes::get), was.held.memory, held.memory));
        prop_assert!(is_within(
            was.quota.gpus.map(|n| u64::from(n) * 1000),
            was.held.gpus,
            held.gpus
        ));
    }
    for (id, room) in &after.arrays {
        let is_of = |d: &&Decision| find(before, d.workload_id).array == Some(*id);
        let more = u32::try_from(plan.placed.iter().filter(is_of).count()).unwrap();
        prop_assert_eq!(room.placed, before.arrays[id].placed + more);
        prop_assert!(more == 0 || room.at_once.is_none_or(|limit| room.placed <= limit));
    }
    Ok(())
}

fn check_gangs(before: &Scene, plan: &Plan) -> Result<(), TestCaseError> {
    let mut gangs: BTreeMap<ArrayId, Vec<&Decision>> = BTreeMap::new();
    for decision in &plan.placed {
        match find(before, decision.workload_id).gang {
            Some(gang) => gangs.entry(gang.id).or_default().push(decision),
            None => prop_assert!(decision.reservation.gang.is_none()),
        }
    }
    for (id, members) in gangs {
        let seats: Vec<_> =
            members.iter().map(|d| d.reservation.gang.clone().expect("a seat")).collect();
        let size = before
            .queue
            .iter()
            .find_map(|ask| ask.gang.filter(|gang| gang.id == id))
            .expect("known")
            .size;
        prop_assert_eq!(members.len(), size as usize, "all or none");
        let nodes: BTreeSet<NodeId> = members.iter().map(|d| d.node_id).collect();
        prop_assert_eq!(nodes.len(), members.len(), "each on another node");
        for (seat, decision) in seats.iter().zip(&members) {
            prop_assert_eq!(
                seat.rank,
                find(before, decision.workload_id).gang.expect("a gang").rank
            );
            let name = before
                .nodes
                .iter()
                .find(|node| node.id == decision.node_id)
                .expect("known")
                .name
                .to_string();
            prop_assert_eq!(&seat.nodes[seat.rank as usize], &name);
            prop_assert_eq!((seat.size, seat.nodes.len()), (size, size as usize));
        }
    }
    Ok(())
}

/// Whoever waits has a reason.
fn check_waiting(before: &Scene, after: &Scene, plan: &Plan) -> Result<(), TestCaseError> {
    let placed: BTreeSet<WorkloadId> = plan.placed.iter().map(|d| d.workload_id).collect();
    let kept: BTreeSet<NodeId> = plan.holds.iter().map(|hold| hold.node_id).collect();
    for ask in before.queue.iter().filter(|ask| !placed.contains(&ask.workload_id)) {
        let size = ask.gang.map_or(1, |gang| gang.size);
        let ready = match ask.gang {
            Some(gang) => {
                before.queue.iter().filter(|a| a.gang.is_some_and(|g| g.id == gang.id)).count()
            }
            None => 1,
        };
        let weight = ask.shape.weight().times(size.into());
        let is_admitted = after.projects[&ask.shape.project].admits(weight)
            && !ask.array.is_some_and(|id| after.arrays[&id].is_full())
            && ready == size as usize;
        let is_fitting =
            |node: &&NodeOffer| !kept.contains(&node.id) && reasons(&ask.shape, node).is_empty();
        let fitting = after.nodes.iter().filter(is_fitting).count();
        prop_assert!(!is_admitted || fitting < size as usize, "{ask:?} waits for nothing");
    }
    Ok(())
}

fn check_giving_way(before: &Scene, after: &Scene, plan: &Plan) -> Result<(), TestCaseError> {
    let mut seen = BTreeSet::new();
    for preemption in &plan.preempt {
        let victim =
            before.held.iter().find(|held| held.workload_id == preemption.victim).expect("known");
        let by = find(before, preemption.by);
        prop_assert!(seen.insert(victim.workload_id), "asked once");
        prop_assert!(
            victim.is_preemptible && !victim.is_leaving && victim.node_id == preemption.node_id
        );
        prop_assert!(victim.priority < by.shape.priority);
        prop_assert!(!plan.placed.iter().any(|decision| decision.workload_id == by.workload_id));
        let mut node =
            after.nodes.iter().find(|node| node.id == victim.node_id).expect("known").clone();
        let is_gone = |held: &&Held| {
            let is_victim = plan.preempt.iter().any(|p| p.victim == held.workload_id);
            held.node_id == node.id
                && (is_victim
                    || held.is_leaving && held.is_preemptible && held.priority < by.shape.priority)
        };
        before
            .held
            .iter()
            .filter(is_gone)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|held| node.outlive(&held.reservation));
        let short = Shape { timeout: None, ..(*by.shape).clone() };
        prop_assert!(reserve(&short.resources, &node).is_some(), "it fits when they are gone");
    }
    Ok(())
}

/// Of two that differ in nothing but their turn, the later is not placed alone.
fn check_turns(before: &Scene, plan: &Plan) -> Result<(), TestCaseError> {
    let placed: BTreeSet<WorkloadId> = plan.placed.iter().map(|d| d.workload_id).collect();
    let single = || before.queue.iter().filter(|ask| ask.gang.is_none());
    for first in single().filter(|ask| !placed.contains(&ask.workload_id)) {
        for later in
            single().filter(|ask| placed.contains(&ask.workload_id) && ask.array == first.array)
        {
            let same =
                Shape { priority: first.shape.priority, ..(*later.shape).clone() } == *first.shape;
            let turn = |ask: &Ask| (-ask.shape.priority, ask.time_ready, ask.workload_id);
            prop_assert!(!same || turn(later) < turn(first), "{later:?} before {first:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_rules_hold_for_every_scene(before in any_scene()) {
        let mut after = before.clone();
        let plan = place(&mut after);
        check_given(&before, &after, &plan)?;
        check_limits(&before, &after, &plan)?;
        check_gangs(&before, &plan)?;
        check_waiting(&before, &after, &plan)?;
        check_giving_way(&before, &after, &plan)?;
        check_turns(&before, &plan)?;
    }

    #[test]
    fn the_same_scene_gives_the_same_plan(scene in any_scene(), by in 0usize..24) {
        let plan = place(&mut scene.clone());
        let mut turned = scene;
        let at = by.min(turned.queue.len());
        turned.queue.rotate_left(at);
        turned.nodes.reverse();
        turned.held.reverse();
        prop_assert_eq!(plan, place(&mut turned));
    }

    #[test]
    fn a_node_fits_exactly_when_nothing_speaks_against_it(mut scene in any_scene()) {
        let before = scene.nodes.clone();
        place(&mut scene);
        for ask in &scene.queue {
            for node in before.iter().chain(&scene.nodes) {
                let found = reasons(&ask.shape, node);
                prop_assert_eq!(fits(&ask.shape, node), found.is_empty(), "{:?}", found);
                prop_assert!(found.iter().all(|reason| !reason.to_string().is_empty()));
                let is_possible = found.iter().all(Reason::is_passing);
                let mut bare = node.clone();
                (bare.lasting, bare.observed) = (Vec::new(), Observed::default());
                let is_held_back = node.gpus.iter().any(|gpu| gpu.trouble.is_some());
                let could = hold::could_fit(&ask.shape.resources, &bare);
                let matches = rules::matches(&ask.shape, node);
                prop_assert!(!(could && matches) || is_possible, "{:?} is not for ever", found);
                prop_assert!(!is_possible || !matches || could || is_held_back, "{:?} is for ever", found);
            }
        }
    }

    #[test]
    fn whoever_waits_can_be_told_why(scene in any_scene()) {
        for ask in &scene.queue {
            let told = explain(scene.clone(), ask.workload_id, |_| None).expect("it is in the queue");
            let is_reasoned = told.nodes.iter().all(|(_, _, reasons)| !reasons.is_empty());
            prop_assert!(told.decision.is_some() || !told.queue.is_empty() || is_reasoned, "{:?}", told);
        }
    }
}
