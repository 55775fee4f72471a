//! Who goes where: strategies, rules, order, limits, gangs, giving way.

use super::*;
use hostler_model::Quota;

fn many(from: u128, count: u128, of: &Shape) -> Vec<Ask> {
    (from..from + count).map(|n| ask(n, of.clone())).collect()
}

fn by(strategy: Strategy, millis: u32) -> Shape {
    let mut shape = shape(cores(millis));
    shape.rules.strategy = Some(strategy);
    shape
}

fn nodes_of(plan: &Plan) -> Vec<u128> {
    where_to(plan).into_iter().map(|(_, node)| node).collect()
}

#[test]
fn most_free_goes_by_the_free_share_of_cores() {
    let mut scene = scene(vec![node(1, 4), node(2, 2)], many(10, 6, &shape(cores(1000))));
    assert_eq!(nodes_of(&place(&mut scene)), [1, 2, 1, 2, 1, 1]);
    assert!(!has_room(&scene.nodes));
}

#[test]
fn every_strategy_in_its_own_way() {
    let fleet = || {
        let mut nodes = vec![node(1, 8), node(2, 8), node(3, 8)];
        nodes[1].take(&Reservation { cores: Cores::from_millis(4000), ..Reservation::default() });
        nodes[0].last_given = seconds(9);
        nodes[1].last_given = seconds(5);
        nodes[2].last_given = seconds(7);
        nodes[0].observed.cpu = 900;
        nodes[2].observed.cpu = 300;
        nodes
    };
    let go = |strategy| nodes_of(&place(&mut scene(fleet(), many(10, 5, &by(strategy, 1000)))));
    assert_eq!(go(Strategy::MostFree), [1, 3, 1, 3, 1]);
    assert_eq!(go(Strategy::BinPack), [2, 2, 2, 2, 1]);
    assert_eq!(go(Strategy::RoundRobin), [2, 3, 1, 2, 3]);
    assert_eq!(go(Strategy::LeastLoaded), [2, 2, 2, 3, 2], "what is given counts as load to come");
    assert_eq!(go(Strategy::Spread), [1, 3, 2, 1, 3], "fewest of the family, then fewest at all");
}

#[test]
fn spreading_over_a_label_is_even_over_its_values() {
    let mut over = by(Strategy::Spread, 100);
    over.rules.over = Some("zone".to_owned());
    let mut nodes = vec![node(1, 8), node(2, 8), node(3, 8), node(5, 8)];
    nodes[1].families.entry(project(1)).or_default().insert("f".to_owned(), 1);
    assert_eq!(nodes_of(&place(&mut scene(nodes, many(10, 5, &over)))), [1, 2, 3, 5, 2]);
}

#[test]
fn preferences_come_before_the_strategy_but_not_before_room() {
    let mut shape = shape(cores(2000));
    shape.rules.prefer = vec!["label.zone = z0".parse().unwrap(), "node != n4".parse().unwrap()];
    let queue = many(10, 4, &shape);
    assert_eq!(
        nodes_of(&place(&mut scene(vec![node(1, 8), node(2, 2), node(4, 2)], queue))),
        [2, 1, 4, 1]
    );
}

#[test]
fn together_and_apart_see_what_is_placed_in_the_same_pass() {
    let mut near = shape(cores(100));
    near.rules.together = vec!["db".to_owned()];
    let mut db = shape(cores(1000));
    db.tags = vec!["db".to_owned()];
    db.rules.apart = vec!["db".to_owned()];
    let mut far = near.clone();
    far.project = project(2);
    let mut queue = vec![ask(10, near.clone()), ask(11, far)];
    queue.extend(many(20, 3, &db));
    let plan = place(&mut scene(vec![node(1, 4), node(2, 4)], queue));
    assert_eq!(
        where_to(&plan),
        [(20, 1), (10, 1), (21, 2)],
        "10 waits for its tag, 11 is of another project"
    );
}

#[test]
fn only_open_nodes_that_match_are_taken() {
    let mut nodes = vec![node(1, 4), node(2, 4), node(3, 4), node(4, 4)];
    nodes[0].cordon = Some("disk".to_owned());
    nodes[1].state = NodeState::Stale;
    nodes[3].about.container_engine = Some("docker 29".to_owned());
    let mut boxed = shape(cores(100));
    boxed.needs_engine = true;
    let mut named = shape(cores(100));
    named.rules.node = Some("n1".parse().unwrap());
    let mut newer = shape(cores(100));
    newer.rules.constraints = vec!["kernel >= 6.2".parse().unwrap()];
    let queue = vec![ask(10, boxed), ask(11, named), ask(12, newer), ask(13, shape(cores(100)))];
    assert_eq!(where_to(&place(&mut scene(nodes, queue))), [(10, 4), (13, 3)]);
}

#[test]
fn priority_goes_before_share_and_share_before_age() {
    let of = |n, project_number, priority| {
        let mut shape = shape(cores(1000));
        (shape.project, shape.priority) = (project(project_number), priority);
        ask(n, shape)
    };
    let queue = vec![of(10, 1, 0), of(11, 1, 0), of(12, 2, 0), of(13, 1, 5)];
    let mut fair = scene(vec![node(1, 3)], queue.clone());
    assert_eq!(where_to(&place(&mut fair)), [(13, 1), (12, 1), (10, 1)]);
    let mut rich = scene(vec![node(1, 3)], queue);
    let held = Holding { cores: 2000, ..Holding::default() };
    rich.projects.insert(project(2), ProjectShare { held, ..ProjectShare::default() });
    assert_eq!(where_to(&place(&mut rich)), [(13, 1), (10, 1), (11, 1)]);
}

#[test]
fn quotas_are_hard_and_let_what_does_not_touch_them_pass() {
    let gpus =
        |count| Resources { gpus: GpuRequest::count(count), memory: Bytes::mib(10), ..cores(1000) };
    let mut scene = scene(
        vec![gpu_node(1, 8, 4)],
        vec![
            ask(10, shape(gpus(2))),
            ask(11, shape(gpus(2))),
            ask(12, shape(gpus(1))),
            ask(13, shape(cores(0))),
            ask(14, shape(cores(1000))),
            ask(15, shape(cores(1000))),
        ],
    );
    let quota = Quota { gpus: Some(3), cores: Some(Cores::from_millis(3000)), ..Quota::default() };
    scene.projects.insert(project(1), ProjectShare { quota, ..ProjectShare::default() });
    let before = scene.clone();
    let placed: Vec<u128> =
        where_to(&place(&mut scene)).into_iter().map(|(task, _)| task).collect();
    assert_eq!(placed, [10, 12, 13, 14]);
    let told = |n| explain(before.clone(), task(n), |_| None).unwrap().queue;
    let text: Vec<String> = told(11).iter().chain(&told(15)).map(ToString::to_string).collect();
    insta::assert_snapshot!(text.join("\n"), @r"
    its project may hold 3 cores and holds 3, it asks for 1
    its project may hold 3 GPUs and holds 3, it asks for 2
    1 other comes first: 0 of higher priority, 0 of projects that hold less, 1 that waited longer
    its project may hold 3 cores and holds 3, it asks for 1
    5 others come first: 0 of higher priority, 0 of projects that hold less, 5 that waited longer
    ");
}

#[test]
fn an_array_runs_as_many_at_once_as_it_says() {
    let mut queue: Vec<Ask> = many(10, 5, &shape(cores(100)));
    queue.iter_mut().take(4).for_each(|ask| ask.array = Some(array(1)));
    let mut scene = scene(vec![node(1, 8)], queue);
    scene.arrays.insert(array(1), ArrayRoom { at_once: Some(3), placed: 1 });
    assert_eq!(where_to(&place(&mut scene)), [(10, 1), (11, 1), (14, 1)]);
    assert_eq!(scene.arrays[&array(1)].placed, 3);
}

fn gang_of(size: u32, from: u128, resources: &Resources) -> Vec<Ask> {
    let one = shape(resources.clone());
    let seat = |rank| Some(Gang { id: array(7), rank, size });
    (0..size)
        .map(|rank| Ask { gang: seat(rank), ..ask(from + u128::from(rank), one.clone()) })
        .collect()
}

#[test]
fn a_gang_is_placed_whole_each_on_another_node() {
    let nodes = || vec![node(1, 4), node(2, 2), node(3, 4)];
    let plan = place(&mut scene(nodes(), gang_of(3, 10, &cores(2000))));
    assert_eq!(where_to(&plan), [(10, 1), (11, 2), (12, 3)]);
    let seat = plan.placed[1].reservation.gang.clone().unwrap();
    assert_eq!((seat.rank, seat.size), (1, 3));
    assert_eq!(seat.nodes, ["n1", "n2", "n3"]);
    assert_eq!(seat.addresses, ["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
    let wide = || scene(nodes(), gang_of(3, 10, &cores(3000)));
    assert_eq!(place(&mut wide()).placed, []);
    let told = explain(wide(), task(11), |_| None).unwrap();
    assert!(told.queue.contains(&QueueReason::GangRoom { fitting: 2, size: 3 }), "{told:?}");
    let mut part = scene(nodes(), gang_of(3, 10, &cores(1000)));
    part.queue.pop();
    assert_eq!(place(&mut part.clone()).placed, []);
    let told = explain(part, task(10), |_| None).unwrap();
    assert!(told.queue.contains(&QueueReason::GangIncomplete { ready: 2, size: 3 }), "{told:?}");
}

#[test]
fn lower_preemptible_work_gives_way_the_fewest_lowest_and_youngest() {
    let mut nodes = vec![node(1, 4), node(2, 4)];
    let mut holders = vec![
        held(50, &mut nodes[0], 1, &cores(2000)),
        held(51, &mut nodes[0], 0, &cores(1000)),
        held(52, &mut nodes[0], 0, &cores(1000)),
        held(53, &mut nodes[1], 0, &cores(3000)),
        held(54, &mut nodes[1], 9, &cores(1000)),
    ];
    let urgent = |millis, priority| {
        let mut shape = shape(cores(millis));
        shape.priority = priority;
        ask(10, shape)
    };
    let go = |ask: Ask, holders: &[Held]| {
        let mut scene = scene(nodes.clone(), vec![ask]);
        scene.held = holders.to_vec();
        let plan = place(&mut scene);
        assert_eq!(plan.placed, [], "not before they are gone");
        plan.preempt.iter().map(|p| p.victim.uuid().as_u128()).collect::<Vec<u128>>()
    };
    assert_eq!(go(urgent(1000, 1), &holders), [52]);
    assert_eq!(go(urgent(2000, 5), &holders), [53], "one is fewer than two");
    assert_eq!(go(urgent(3000, 1), &holders), [53], "50 is not lower");
    assert_eq!(go(urgent(4000, 5), &holders), [50, 51, 52]);
    assert_eq!(go(urgent(5000, 5), &holders), [] as [u128; 0], "it would not fit anyway");
    assert_eq!(go(urgent(1000, 0), &holders), [] as [u128; 0]);
    holders[3].is_leaving = true;
    assert_eq!(go(urgent(3000, 5), &holders), [] as [u128; 0], "that much is leaving already");
    holders.iter_mut().for_each(|held| held.is_preemptible = false);
    assert_eq!(go(urgent(1000, 5), &holders), [] as [u128; 0]);
}

#[test]
fn who_is_spared_keeps_the_memory_it_was_seen_to_use() {
    let mut nodes = vec![gpu_node(1, 2, 2)];
    let memory = |mib| Resources { memory: Bytes::mib(mib), ..cores(0) };
    let gpus = |count| GpuRequest::count(count);
    let holders = vec![
        held(51, &mut nodes[0], -1, &Resources { gpus: gpus(1), ..cores(0) }),
        held(52, &mut nodes[0], -1, &memory(512)),
    ];
    nodes[0].observed.memory = Bytes::mib(1024);
    let wanted = Resources { gpus: gpus(2), ..memory(1536) };
    let mut scene = scene(nodes, vec![ask(10, shape(wanted))]);
    scene.held = holders;
    let victims: Vec<_> = place(&mut scene).preempt.iter().map(|p| p.victim).collect();
    assert_eq!(victims, [task(51), task(52)], "both: one has the GPU, the other the memory");
}

#[test]
fn room_that_is_made_is_kept_for_whom_it_was_made() {
    let mut nodes = vec![node(1, 4)];
    let mut victim = held(50, &mut nodes[0], 0, &cores(3000));
    victim.is_leaving = true;
    let mut urgent = shape(cores(4000));
    urgent.priority = 1;
    let mut scene = scene(nodes, vec![ask(10, urgent), ask(11, shape(cores(1000)))]);
    scene.held = vec![victim];
    let plan = place(&mut scene.clone());
    assert_eq!((plan.placed.len(), plan.preempt.len(), plan.holds.len()), (0, 0, 1));
    scene.nodes[0].give_back(&scene.held[0].reservation.clone());
    scene.held.clear();
    assert_eq!(where_to(&place(&mut scene)), [(10, 1)]);
}
