//! Which cores and devices a request becomes.

use super::*;
use hostler_model::GpuShareSize;

fn reserved(resources: &Resources, node: &mut NodeOffer) -> Option<String> {
    let reservation = reserve(resources, node)?;
    node.take(&reservation);
    let numa = reservation.numa.map(|index| format!(" numa {index}")).unwrap_or_default();
    let gpus: Vec<String> = reservation
        .gpus
        .iter()
        .map(|hold| format!("{}:{}", hold.index, hold.share.millis()))
        .collect();
    Some(format!("cpus {} gpus {}{numa}", reservation.cpus, gpus.join(",")))
}

fn gpus(request: GpuRequest) -> Resources {
    Resources { gpus: request, ..cores(100) }
}

fn part(millis: u16) -> Resources {
    gpus(GpuRequest { share: GpuShareSize::from_millis(millis), ..GpuRequest::count(1) })
}

#[test]
fn own_cores_come_from_the_fullest_numa_node_that_has_enough() {
    let mut node = numa_node(1, 8, 2);
    let mut get = |count| reserved(&own(count), &mut node);
    assert_eq!(get(1).unwrap(), "cpus 0 gpus ");
    assert_eq!(get(2).unwrap(), "cpus 1-2 gpus ", "beside what is taken");
    assert_eq!(get(2).unwrap(), "cpus 4-5 gpus ", "one is left in the first");
    assert_eq!(get(3).unwrap(), "cpus 3,6-7 gpus ", "across, when no part has enough");
    assert_eq!(get(1), None);
}

#[test]
fn own_cores_leave_shared_cores_their_room() {
    let mut node = numa_node(1, 4, 2);
    assert!(reserved(&cores(500), &mut node).is_some());
    assert_eq!(reserve(&own(4), &node), None, "half a core is in use");
    let bound = Resources { numa: Some(NumaRequest::Index(0)), ..cores(1500) };
    assert_eq!(reserved(&bound, &mut node).unwrap(), "cpus  gpus  numa 0");
    assert_eq!(reserve(&own(2), &node).unwrap().cpus.to_string(), "2-3", "not half of NUMA node 0");
    assert_eq!(reserve(&bound, &node), None);
}

#[test]
fn a_numa_node_is_the_one_asked_for_or_the_fullest_with_room() {
    let mut node = numa_node(1, 8, 2);
    let on = |wanted, millis| Resources {
        numa: Some(wanted),
        memory: Bytes::mib(1024),
        ..cores(millis)
    };
    assert_eq!(reserve(&on(NumaRequest::Any, 1000), &node).unwrap().numa, Some(0));
    assert_eq!(
        reserved(&on(NumaRequest::Index(1), 1000), &mut node).unwrap(),
        "cpus  gpus  numa 1"
    );
    assert_eq!(reserve(&on(NumaRequest::Any, 1000), &node).unwrap().numa, Some(1));
    assert_eq!(reserve(&on(NumaRequest::Any, 4000), &node).unwrap().numa, Some(0));
    assert_eq!(reserve(&on(NumaRequest::Any, 5000), &node), None, "8 cores, but 4 in each");
    assert_eq!(reserve(&on(NumaRequest::Index(2), 100), &node), None);
    let much = Resources { memory: Bytes::mib(4097), ..on(NumaRequest::Any, 100) };
    assert_eq!(reserve(&much, &node), None, "memory of one NUMA node counts too");
}

#[test]
fn parts_of_gpus_are_packed_and_whole_ones_are_nobody_elses() {
    let mut node = gpu_node(1, 8, 2);
    assert_eq!(reserved(&part(500), &mut node).unwrap(), "cpus  gpus 0:500");
    assert_eq!(reserved(&part(250), &mut node).unwrap(), "cpus  gpus 0:250");
    assert_eq!(reserved(&part(300), &mut node).unwrap(), "cpus  gpus 1:300");
    assert_eq!(reserve(&gpus(GpuRequest::count(1)), &node), None);
    assert_eq!(reserved(&part(700), &mut node).unwrap(), "cpus  gpus 1:700");
    assert_eq!(reserve(&part(251), &node), None);
}

#[test]
fn gpus_are_of_the_kind_that_is_asked_for() {
    let mut node = gpu_node(1, 8, 3);
    node.gpus[1].model = "Tesla T4".to_owned();
    node.gpus[1].memory = Bytes::mib(16 * 1024);
    node.gpus[0].trouble = Some("xid 79".to_owned());
    let get = |request| {
        reserve(&gpus(request), &node).map(|r| r.gpus.iter().map(|g| g.index).collect::<Vec<_>>())
    };
    assert_eq!(get(GpuRequest { model: Some("t4".into()), ..GpuRequest::count(1) }), Some(vec![1]));
    assert_eq!(
        get(GpuRequest { memory: Bytes::mib(20_000), ..GpuRequest::count(1) }),
        Some(vec![2])
    );
    assert_eq!(get(GpuRequest { memory: Bytes::mib(20_000), ..GpuRequest::count(2) }), None);
    assert_eq!(get(GpuRequest::ids(vec![2, 1])), Some(vec![1, 2]));
    assert_eq!(get(GpuRequest::ids(vec![0])), None, "nobody gets one with an error");
    assert_eq!(get(GpuRequest::ids(vec![7])), None);
}

#[test]
fn gpus_and_cores_are_next_to_each_other_where_that_is_possible() {
    let mut node = numa_node(1, 8, 2);
    node.gpus =
        (0..4).map(|index| GpuOffer { numa: Some(index / 2), ..gpu(index, "A100") }).collect();
    node.gpus[0].used = 1000;
    let two = Resources { gpus: GpuRequest::count(2), ..own(2) };
    assert_eq!(reserved(&two, &mut node.clone()).unwrap(), "cpus 4-5 gpus 2:1000,3:1000");
    let one = Resources { gpus: GpuRequest::count(1), ..own(2) };
    assert_eq!(
        reserved(&one, &mut node.clone()).unwrap(),
        "cpus 0-1 gpus 1:1000",
        "pairs stay whole"
    );
    let bound = Resources { numa: Some(NumaRequest::Any), ..two };
    assert_eq!(reserved(&bound, &mut node).unwrap(), "cpus 4-5 gpus 2:1000,3:1000 numa 1");
}

#[test]
fn memory_is_free_only_where_nobody_is_seen_to_use_it() {
    let mut node = node(1, 4);
    let want = |mib| Resources { memory: Bytes::mib(mib), ..cores(100) };
    node.observed.memory = Bytes::mib(3000);
    assert!(reserve(&want(1096), &node).is_some());
    assert!(reserve(&want(1097), &node).is_none());
    node.take(&Reservation { memory: Bytes::mib(3500), ..Reservation::default() });
    assert!(reserve(&want(597), &node).is_none(), "the larger of both counts");
    node.observed.memory = Bytes::mib(9000);
    assert_eq!(node.free().memory, Bytes::ZERO, "never negative");
    assert!(reserve(&want(0), &node).is_some());
}

#[test]
fn giving_back_undoes_taking() {
    let mut node = numa_node(1, 8, 2);
    node.gpus = (0..2).map(|index| gpu(index, "A100")).collect();
    let before = node.clone();
    let asked = Resources { gpus: GpuRequest::count(1), numa: Some(NumaRequest::Any), ..own(3) };
    let reservation = reserve(&asked, &node).unwrap();
    node.take(&reservation);
    assert_ne!(node, before);
    node.give_back(&reservation);
    assert_eq!(node, before);
}

#[test]
fn a_gpu_in_trouble_is_offered_to_nobody() {
    let fact = |index, trouble: Option<&str>| hostler_model::GpuFact {
        index,
        model: "A100".to_owned(),
        numa: Some(index),
        trouble: trouble.map(str::to_owned),
        ..hostler_model::GpuFact::default()
    };
    let facts = hostler_model::Facts {
        cores: Cores::from_millis(4000),
        gpus: vec![fact(0, Some("Xid 79: GPU has fallen off the bus")), fact(1, None)],
        ..hostler_model::Facts::default()
    };
    let offer = NodeOffer::of(&hostler_model::Node {
        id: node_id(1),
        name: "n1".parse().unwrap(),
        labels: Labels::new(),
        state: NodeState::Online,
        cordon: None,
        facts: Some(facts),
        agent_version: String::new(),
        generation: hostler_model::Generation::FIRST,
        desired_generation: hostler_model::Generation::ZERO,
        time_created: seconds(0),
        time_modified: seconds(0),
        time_state: seconds(0),
        lease: None,
    });
    assert_eq!(offer.gpus[1].numa, Some(1));
    let held = |request| reserve(&gpus(request), &offer).map(|held| held.gpus[0].index);
    assert_eq!(held(GpuRequest::count(1)), Some(1));
    assert_eq!((held(GpuRequest::count(2)), held(GpuRequest::ids(vec![0]))), (None, None));
}
