//! Projects with endless work get what they are due.

use super::*;
use proptest::prelude::*;

fn endless(owner: u128, from: u128, count: u128, of: &Shape) -> Vec<Ask> {
    let shape = Arc::new(Shape { project: project(owner), ..of.clone() });
    (from..from + count)
        .map(|n| Ask { shape: Arc::clone(&shape), ..ask(n, (*shape).clone()) })
        .collect()
}

fn counted(scene: &Scene, plan: &Plan, owner: u128) -> i64 {
    let is_own = |id: WorkloadId| {
        scene.queue.iter().any(|a| a.workload_id == id && a.shape.project == project(owner))
    };
    plan.placed.iter().filter(|d| is_own(d.workload_id)).count() as i64
}

proptest! {
    #[test]
    fn equal_projects_stay_within_one_task(sizes in prop::collection::vec(1u32..9, 1..6), millis in 200u32..3000) {
        let nodes: Vec<NodeOffer> = sizes.iter().zip(1u128..).map(|(cores, n)| node(n, *cores)).collect();
        let mut queue = endless(1, 1000, 100, &shape(cores(millis)));
        queue.extend(endless(2, 3000, 100, &shape(cores(millis))));
        let mut scene = scene(nodes, queue);
        let plan = place(&mut scene);
        let (one, two) = (counted(&scene, &plan, 1), counted(&scene, &plan, 2));
        prop_assert!((one - two).abs() <= 1 || one + two >= 199, "{one} and {two}");
    }

    #[test]
    fn weights_divide_what_there_is(weights in (1u32..6, 1u32..6), cpus in 4u32..40) {
        let mut queue = endless(1, 1000, 100, &shape(cores(500)));
        queue.extend(endless(2, 3000, 100, &shape(cores(500))));
        let mut scene = scene(vec![node(1, cpus)], queue);
        for (owner, weight) in [(1, weights.0), (2, weights.1)] {
            scene.projects.insert(project(owner), ProjectShare { weight, ..ProjectShare::default() });
        }
        let plan = place(&mut scene);
        let (one, two) = (counted(&scene, &plan, 1), counted(&scene, &plan, 2));
        let (heavy, light) = (one * i64::from(weights.1), two * i64::from(weights.0));
        let most = i64::from(weights.0.max(weights.1));
        prop_assert!((heavy - light).abs() <= most || one + two >= 199, "{one} and {two} by {weights:?}");
    }

    #[test]
    fn who_holds_less_catches_up_first(held in 0u64..8000) {
        let mut queue = endless(1, 1000, 20, &shape(cores(1000)));
        queue.extend(endless(2, 3000, 20, &shape(cores(1000))));
        let mut scene = scene(vec![node(1, 16)], queue);
        let held = Holding { cores: held, ..Holding::default() };
        scene.projects.insert(project(1), ProjectShare { held, ..ProjectShare::default() });
        let plan = place(&mut scene);
        let [one, two] = [1, 2].map(|owner| scene.projects[&project(owner)].held.cores as i64);
        prop_assert!((one - two).abs() <= 1000, "{one} and {two}, {} placed", plan.placed.len());
    }
}

#[test]
fn the_dominant_resource_counts() {
    let memory = Resources { memory: Bytes::mib(2048), ..cores(100) };
    let mut queue = endless(1, 1000, 20, &shape(memory));
    queue.extend(endless(2, 3000, 20, &shape(cores(1000))));
    let mut scene = scene(vec![node(1, 16)], queue);
    let plan = place(&mut scene);
    assert_eq!(
        (counted(&scene, &plan, 1), counted(&scene, &plan, 2)),
        (8, 15),
        "until one side is full"
    );
    let first: Vec<u128> = where_to(&plan).iter().take(6).map(|(task, _)| *task / 1000).collect();
    assert_eq!(first, [1, 3, 3, 1, 3, 3], "an eighth of the memory is two sixteenths of the cores");
}
