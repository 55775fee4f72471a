//! Large work gets its turn, and small work is not held up for nothing.

use std::collections::BTreeMap;

use super::*;
use proptest::prelude::*;

/// A fleet over time: what was placed runs for so many steps of ten seconds.
struct World {
    scene: Scene,
    running: BTreeMap<WorkloadId, Running>,
    step: i64,
    next: u128,
}

struct Running {
    owner: ProjectId,
    node_id: NodeId,
    reservation: Reservation,
    ends: i64,
}

impl World {
    fn new(nodes: Vec<NodeOffer>) -> World {
        World {
            scene: scene(nodes, Vec::new()),
            running: BTreeMap::new(),
            step: 0,
            next: 1_000_000,
        }
    }

    fn submit(&mut self, shape: Shape) -> WorkloadId {
        self.next += 1;
        let time_ready = seconds(self.step * 10);
        self.scene.queue.push(Ask { time_ready, ..ask(self.next, shape) });
        task(self.next)
    }

    /// Makes a pass and lets ten seconds go by; says what was placed.
    fn pass(&mut self, length: impl Fn(WorkloadId) -> i64) -> Vec<WorkloadId> {
        self.scene.now = seconds(self.step * 10);
        let plan = place(&mut self.scene);
        let placed: Vec<WorkloadId> = plan.placed.iter().map(|d| d.workload_id).collect();
        for Decision { workload_id, node_id, reservation } in plan.placed {
            let owner = self
                .scene
                .queue
                .iter()
                .find(|ask| ask.workload_id == workload_id)
                .unwrap()
                .shape
                .project;
            let ends = self.step + length(workload_id);
            self.running.insert(workload_id, Running { owner, node_id, reservation, ends });
        }
        self.scene.queue.retain(|ask| !placed.contains(&ask.workload_id));
        self.step += 1;
        let (step, nodes) = (self.step, &mut self.scene.nodes);
        self.running.retain(|_, run| {
            if run.ends <= step {
                nodes
                    .iter_mut()
                    .find(|node| node.id == run.node_id)
                    .unwrap()
                    .give_back(&run.reservation);
            }
            run.ends > step
        });
        self.scene.projects.clear();
        for run in self.running.values() {
            let share = self.scene.projects.entry(run.owner).or_default();
            share.held = share.held.plus(Holding::of(&run.reservation));
        }
        placed
    }
}

/// How long a task runs: from one step to so many, by its number.
fn steps(id: WorkloadId, longest: i64) -> i64 {
    1 + i64::try_from(id.uuid().as_u128()).unwrap().rem_euclid(longest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn what_asks_for_a_lot_is_placed_however_much_small_work_arrives(
        sizes in prop::collection::vec(2u32..7, 1..4),
        longest in 2i64..6,
        millis in prop::sample::select(vec![300u32, 700, 1000, 1900]),
        owners in 1u128..4,
    ) {
        let nodes: Vec<NodeOffer> = sizes.iter().zip(1u128..).map(|(cores, n)| node(n, *cores)).collect();
        let largest = sizes.iter().max().unwrap() * 1000;
        let mut world = World::new(nodes);
        let length = |id: WorkloadId| steps(id, longest);
        let arrive = |world: &mut World| (0..40u128).for_each(|n| {
            world.submit(Shape { project: project(1 + n % owners), ..shape(cores(millis)) });
        });
        for _ in 0..3 {
            arrive(&mut world);
            world.pass(length);
        }
        let large = world.submit(shape(cores(largest)));
        let mut waited = 0;
        loop {
            world.scene.queue.retain(|ask| ask.workload_id == large);
            arrive(&mut world);
            if world.pass(length).contains(&large) {
                break;
            }
            waited += 1;
            prop_assert!(waited <= 4 + longest, "it waits after {waited} steps");
        }
    }

    #[test]
    fn several_large_ones_come_one_after_the_other(longest in 1i64..5, large in 2usize..5) {
        let mut world = World::new(vec![node(1, 4), node(2, 4)]);
        let length = |id: WorkloadId| steps(id, longest);
        let mut left: Vec<WorkloadId> = Vec::new();
        for step in 0..(4 + longest) * (large as i64 + 1) {
            world.scene.queue.retain(|ask| left.contains(&ask.workload_id));
            for _ in 0..20 {
                world.submit(shape(cores(900)));
            }
            if step == 2 {
                left = (0..large).map(|_| world.submit(shape(cores(4000)))).collect();
            }
            let placed = world.pass(length);
            left.retain(|id| !placed.contains(id));
        }
        prop_assert!(left.is_empty(), "{} of {large} wait still", left.len());
    }
}

fn waiting(n: u128, resources: Resources) -> Ask {
    Ask { time_ready: seconds(-60), ..ask(n, shape(resources)) }
}

#[test]
fn a_held_node_takes_only_what_does_not_delay_the_holder() {
    let mut node = gpu_node(1, 8, 2);
    let holder = Resources { gpus: GpuRequest::count(2), memory: Bytes::mib(1024), ..cores(4000) };
    let other = Resources { gpus: GpuRequest::count(1), ..cores(2000) };
    let taken = held(50, &mut node, 0, &other);
    let queue = vec![
        waiting(10, holder),
        ask(20, shape(cores(2000))),
        ask(21, shape(cores(1000))),
        ask(22, shape(Resources { gpus: GpuRequest::count(1), ..cores(0) })),
        ask(23, shape(Resources { memory: Bytes::mib(8 * 1024), ..cores(0) })),
        ask(24, shape(Resources { memory: Bytes::mib(7 * 1024), ..cores(0) })),
    ];
    let mut scene = scene(vec![node], queue);
    scene.held = vec![Held { is_preemptible: false, ..taken }];
    let before = scene.clone();
    let plan = place(&mut scene);
    assert_eq!(where_to(&plan), [(20, 1), (24, 1)], "2 of 6 free cores can be spared, and no GPU");
    assert_eq!(plan.holds, [Hold { node_id: node_id(1), workload_id: task(10), expected: None }]);
    let told = explain(before.clone(), task(22), |_| Some("large".to_owned())).unwrap();
    assert_eq!(told.nodes[0].2, [Reason::HeldFor { task: "large".to_owned(), expected: None }]);
    let told = explain(before, task(10), |_| None).unwrap();
    assert!(matches!(told.queue[..], [QueueReason::KeptFor { .. }]), "{told:?}");
}

#[test]
fn a_holder_gets_its_node_after_smaller_ones_were_refused() {
    let fresh = ask(20, Shape { project: project(2), ..shape(cores(1000)) });
    let mut scene = scene(vec![node(1, 4)], vec![waiting(10, cores(4000)), fresh]);
    let held = Holding { cores: 1000, ..Holding::default() };
    scene.projects.insert(project(1), ProjectShare { held, ..ProjectShare::default() });
    assert_eq!(
        where_to(&place(&mut scene)),
        [(10, 1)],
        "the other project holds less and asks first"
    );
}

#[test]
fn as_much_of_another_kind_does_not_take_room_that_is_made() {
    let mut nodes = vec![gpu_node(1, 2, 2)];
    nodes[0].gpus[1].model = "Tesla T4".to_owned();
    let of = |model: &str, millis| Resources {
        gpus: GpuRequest { model: Some(model.to_owned()), ..GpuRequest::count(1) },
        ..cores(millis)
    };
    let victim = held(50, &mut nodes[0], 0, &of("a100", 0));
    let urgent = ask(10, Shape { priority: 1, ..shape(of("a100", 2000)) });
    let mut scene = scene(nodes, vec![urgent, ask(20, shape(of("t4", 2000)))]);
    scene.held = vec![victim];
    let plan = place(&mut scene);
    assert_eq!((where_to(&plan), plan.preempt.len()), (Vec::new(), 1));
}

#[test]
fn a_queue_may_be_decided_in_parts() {
    let mut nodes = vec![node(1, 4), node(2, 4)];
    let runs = [
        held(50, &mut nodes[0], 0, &cores(4000)),
        Held { is_preemptible: false, ..held(51, &mut nodes[1], 0, &cores(2000)) },
    ];
    let urgent = |n| ask(n, Shape { priority: 1, ..shape(cores(1000)) });
    let mut scene = scene(nodes, vec![urgent(9), waiting(10, cores(4000))]);
    scene.held = runs.to_vec();
    let first = place(&mut scene);
    assert_eq!((where_to(&first), first.holds.len()), (vec![(9, 2)], 1));
    assert_eq!(first.holds[0].workload_id, task(10));
    scene.queue = vec![ask(20, shape(cores(1000))), urgent(21)];
    assert_eq!(
        where_to(&place(&mut scene)),
        [(21, 2)],
        "kept from 20, but not from a higher priority"
    );
    scene.queue = vec![urgent(22)];
    let victims: Vec<_> = place(&mut scene).preempt.iter().map(|p| p.victim).collect();
    assert_eq!(victims, [task(50)]);
    scene.queue = vec![urgent(23)];
    assert_eq!(place(&mut scene).preempt, [], "it was asked once");
}

#[test]
fn who_can_push_others_away_holds_no_second_node() {
    let mut nodes = vec![node(1, 4), node(2, 4)];
    let runs = [
        held(50, &mut nodes[0], -1, &cores(4000)),
        Held { is_preemptible: false, ..held(51, &mut nodes[1], 0, &cores(3000)) },
    ];
    let mut scene = scene(nodes, vec![waiting(10, cores(4000)), ask(11, shape(cores(1000)))]);
    scene.held = runs.to_vec();
    let plan = place(&mut scene);
    assert_eq!((plan.preempt.len(), plan.holds.len(), where_to(&plan)), (1, 1, vec![(11, 2)]));
}

#[test]
fn short_work_may_use_the_time_until_the_holder_can_start() {
    let mut node = node(1, 4);
    let mut runs = vec![held(50, &mut node, 0, &cores(2000)), held(51, &mut node, 0, &cores(1000))];
    runs[0].ends_by = Some(seconds(600));
    runs[1].ends_by = Some(seconds(60));
    let timed = |n, timeout| {
        let shape = Shape { timeout: Some(Span::from_secs(timeout)), ..shape(cores(500)) };
        ask(n, shape)
    };
    let queue =
        vec![waiting(10, cores(4000)), timed(20, 601), timed(21, 600), timed(22, 30), timed(23, 5)];
    let mut scene = scene(vec![node], queue);
    scene.held = runs;
    let plan = place(&mut scene);
    assert_eq!(where_to(&plan), [(21, 1), (22, 1)]);
    assert_eq!(plan.holds[0].expected, Some(seconds(600)));
}

#[test]
fn room_is_kept_only_for_what_has_waited_and_could_ever_fit() {
    let mut full = node(1, 4);
    full.take(&Reservation { cores: Cores::from_millis(2000), ..Reservation::default() });
    let small = ask(20, shape(cores(1000)));
    let go = |first: Ask, node: &NodeOffer| {
        let mut scene = scene(vec![node.clone()], vec![first, small.clone()]);
        where_to(&place(&mut scene))
    };
    assert_eq!(go(waiting(10, cores(4000)), &full), [], "it is kept");
    let fresh = Ask { time_ready: seconds(-29), ..waiting(10, cores(4000)) };
    assert_eq!(go(fresh, &full), [(20, 1)], "it has not waited long");
    assert_eq!(go(waiting(10, cores(5000)), &full), [(20, 1)], "it never fits there");
    full.lasting.push(Reservation { cores: Cores::from_millis(2000), ..Reservation::default() });
    assert_eq!(go(waiting(10, cores(4000)), &full), [(20, 1)], "what is there never ends");
}

#[test]
fn every_reason_is_said_with_its_numbers() {
    let mut offer = numa_node(1, 4, 2);
    offer.state = NodeState::Stale;
    offer.cordon = Some("disk swap".to_owned());
    offer.gpus = (0..4).map(|index| gpu(index, "NVIDIA A100")).collect();
    offer.gpus[1].used = 1000;
    offer.gpus[1].holders = vec!["train".to_owned()];
    offer.gpus[2].trouble = Some("xid 79".to_owned());
    offer.tags.entry(project(1)).or_default().insert("db".to_owned(), 1);
    let mut wish = shape(Resources {
        memory: Bytes::mib(8192),
        disk: Bytes::mib(2048),
        gpus: GpuRequest::count(3),
        numa: Some(NumaRequest::Any),
        ..own(5)
    });
    wish.rules.node = Some("other".parse().unwrap());
    wish.rules.selector.insert("rack".to_owned(), "r1".to_owned());
    wish.rules.selector.insert("zone".to_owned(), "z7".to_owned());
    wish.rules.constraints =
        vec!["kernel >= 6.9".parse().unwrap(), "label.ssd exists".parse().unwrap()];
    wish.rules.together = vec!["web".to_owned(), "api".to_owned()];
    wish.rules.apart = vec!["db".to_owned()];
    wish.needs_engine = true;
    let first: Vec<String> = reasons(&wish, &offer).iter().map(ToString::to_string).collect();
    wish.resources.gpus = GpuRequest::ids(vec![1, 2, 9]);
    wish.resources.numa = Some(NumaRequest::Index(7));
    let second = reasons(&wish, &offer).into_iter().map(|reason| reason.to_string());
    let mut text = first.clone();
    text.extend(second.filter(|reason| !first.contains(reason)));
    wish.resources = Resources { gpus: GpuRequest::count(5), ..own(5) };
    text.extend(
        reasons(&wish, &offer).into_iter().map(|r| r.to_string()).filter(|r| !first.contains(r)),
    );
    let kept = Reason::HeldFor { task: "large".to_owned(), expected: Some(seconds(0)) };
    text.push(kept.to_string());
    insta::assert_snapshot!(text.join("\n"), @r"
    it asks for node `other`
    label rack is missing, it asks for `r1`
    label zone is `z1`, it asks for `z7`
    it asks for `kernel >= 6.9`, the node has `6.1`
    it asks for `label.ssd exists`, of which the node tells nothing
    it runs in a container, and no container engine answers there
    the node is stale
    the node is cordoned: disk swap
    asks for 5 cores, the node has 4 in all (4 free)
    asks for 8GiB of memory, the node has 4GiB in all (4GiB free)
    asks for 2GiB of disk, the node has 1GiB in all (1GiB free)
    asks for 5 cores of its own and 8GiB of memory of one NUMA node; nearest is 0, of which 2 of 2 cores and 2GiB of 2GiB are free
    2 of 4 GPUs are free, asks for 3; `train` holds the rest; GPU 2 is out of service: xid 79
    it wants to be beside something tagged `web` or `api`, nothing of that is there
    it wants to be apart from what is tagged `db`, and that is there
    it asks for NUMA node 7, the node has 0, 1
    it asks for GPU 1, of which 0 of 1000 parts are free and 1000 are asked for; `train` holds the rest
    it asks for GPU 2, which is out of service: xid 79
    it asks for GPU 9, the node has none of that number
    asks for 5 cores of its own, the node has 4 in all (4 free)
    asks for 5 GPUs, the node has 4 in all (2 free)
    the room is kept for `large`, which has waited longer and can start at 1970-01-01T00:00:00.000000Z; a timeout that ends before that would fit
    ");
}
