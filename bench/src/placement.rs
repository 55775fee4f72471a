//! How long one pass of placement takes, inside the decision itself: no database, no network.
//!
//! The decision is pure, so it is called as a library. Each pass decides over a fresh copy of the same
//! scene; making the copy is not counted. What is checked: as many tasks are placed as the scene has
//! room for, so that a pass that gives up early is an error and not a number.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use hostler_engine::place::{
    About, Amounts, Ask, Counts, GpuOffer, NodeOffer, NumaOffer, Observed, Plan, Scene, Settings,
    Shape, place,
};
use hostler_model::{
    Bytes, Cores, CpuSet, GpuRequest, Labels, NodeId, NodeState, NumaRequest, PlacementRules,
    ProjectId, Resources, Strategy, Timestamp, WorkloadId,
};

use crate::figures::{Section, quantile};

const TASKS: usize = 10_000;
const NODES: usize = 1_000;
const PASSES: usize = 100;
const TARGET_MILLIS: f64 = 50.0;
const SIZES: [(usize, usize); 4] =
    [(10_000, 1_000), (20_000, 2_000), (50_000, 5_000), (100_000, 10_000)];

pub async fn measure() -> anyhow::Result<Section> {
    tokio::task::spawn_blocking(run).await.context("the measurement panicked")?
}

fn run() -> anyhow::Result<Section> {
    let how = format!(
        "One pass of `engine::place` over a scene: {TASKS} tasks of 8 projects and 3 priorities wait for {NODES} nodes (64 cores in two NUMA nodes, 256 GiB, every eighth with 8 GPUs), of which a third is in use. {PASSES} passes each."
    );
    let mut section = Section::new("Placement", how);
    for (what, mix) in [
        ("40 shapes, room for all", Mix::Shapes(40)),
        ("every task of another shape, room for all", Mix::Distinct),
        ("40 shapes, room for a tenth, all have waited long", Mix::Crowded),
    ] {
        let scene = scene(TASKS, NODES, mix)?;
        let millis = passes(&scene, PASSES, mix)?;
        let p99 = quantile(&millis, 0.99);
        section.note(format!("{what}: median"), format!("{:.1} ms", quantile(&millis, 0.5)));
        let (what, value) = (format!("{what}: p99"), format!("{p99:.1} ms"));
        match mix {
            Mix::Distinct => section.note(what, value),
            Mix::Shapes(_) | Mix::Crowded => {
                let target = format!("under {TARGET_MILLIS:.0} ms");
                section.judge(what, value, target, p99 < TARGET_MILLIS);
            }
        }
    }
    let mut medians: Vec<f64> = Vec::new();
    for (tasks, nodes) in SIZES {
        let scene = scene(tasks, nodes, Mix::Shapes(40))?;
        let median = quantile(&passes(&scene, 5, Mix::Shapes(40))?, 0.5);
        let each = median * 1000.0 / tasks as f64;
        medians.push(median);
        let what = format!("{tasks} tasks on {nodes} nodes: median, and for each task");
        section.note(what, format!("{median:.1} ms, {each:.2} us"));
    }
    if let [first, .., last] = medians.as_slice() {
        section.note(
            "growth from the first to the last size, ten times as large (10 is linear, 100 is tasks times nodes)",
            format!("{:.1} times", last / first),
        );
    }
    Ok(section)
}

#[derive(Clone, Copy, PartialEq)]
enum Mix {
    Shapes(usize),
    Distinct,
    Crowded,
}

fn passes(scene: &Scene, count: usize, mix: Mix) -> anyhow::Result<Vec<f64>> {
    let mut millis = Vec::new();
    for _ in 0..count {
        let mut copy = scene.clone();
        let begun = Instant::now();
        let plan = place(&mut copy);
        millis.push(begun.elapsed().as_secs_f64() * 1000.0);
        check(&plan, scene, mix)?;
    }
    Ok(millis)
}

fn check(plan: &Plan, scene: &Scene, mix: Mix) -> anyhow::Result<()> {
    let (placed, all) = (plan.placed.len(), scene.queue.len());
    match mix {
        Mix::Crowded => {
            ensure!(placed > all / 50 && placed < all / 2, "{placed} of {all} were placed")
        }
        Mix::Shapes(_) | Mix::Distinct => {
            ensure!(placed == all, "only {placed} of {all} were placed")
        }
    }
    Ok(())
}

fn scene(tasks: usize, nodes: usize, mix: Mix) -> anyhow::Result<Scene> {
    let count = match mix {
        Mix::Shapes(count) => count,
        Mix::Distinct => tasks,
        Mix::Crowded => 40,
    };
    let shapes =
        (0..count).map(|n| Ok(Arc::new(shape(n, mix)?))).collect::<anyhow::Result<Vec<_>>>()?;
    let now = Timestamp::from_micros(3_600_000_000);
    let ask = |n: usize| Ask {
        workload_id: WorkloadId::from_uuid(uuid::Uuid::from_u128(n as u128)),
        shape: Arc::clone(&shapes[scattered(n) % shapes.len()]),
        time_ready: Timestamp::from_micros((n as i64) * 1000),
        array: None,
        gang: None,
    };
    let used = if mix == Mix::Crowded { 62_900 } else { 21_000 };
    let nodes = (0..nodes).map(|n| node(n, used)).collect::<anyhow::Result<Vec<_>>>()?;
    let queue = (0..tasks).map(ask).collect();
    Ok(Scene { now, queue, nodes, settings: Settings::default(), ..Scene::default() })
}

/// Numbers without order, the same every time.
fn scattered(n: usize) -> usize {
    n.wrapping_mul(0x9E37_79B9).wrapping_add(n >> 7) >> 3
}

fn node(n: usize, used: u32) -> anyhow::Result<NodeOffer> {
    let numa = |index: u32| NumaOffer {
        index,
        cpus: (index * 32..(index + 1) * 32).collect(),
        memory: Bytes::mib(128 << 10),
        ..NumaOffer::default()
    };
    let gpu = |index: u32| GpuOffer {
        index,
        model: "NVIDIA A100".to_owned(),
        memory: Bytes::mib(80 << 10),
        numa: Some(index / 4),
        ..GpuOffer::default()
    };
    let spread = u32::try_from(scattered(n) % 1000)?;
    Ok(NodeOffer {
        id: NodeId::from_uuid(uuid::Uuid::from_u128(n as u128)),
        name: format!("node-{n:05}").parse()?,
        labels: Labels::from([
            ("zone".to_owned(), format!("z{}", n % 4)),
            ("rack".to_owned(), format!("r{}", n % 50)),
        ]),
        state: NodeState::Online,
        cordon: None,
        about: About { kernel: format!("6.{}", n % 12), ..About::default() },
        address: String::new(),
        capacity: Amounts {
            cores: Cores::from_millis(64_000),
            memory: Bytes::mib(256 << 10),
            disk: Bytes::mib(1 << 20),
        },
        used: Amounts {
            cores: Cores::from_millis(used + spread),
            memory: Bytes::mib(64 << 10),
            ..Amounts::default()
        },
        observed: Observed { cpu: 300, memory: Bytes::mib(70 << 10), disk: Bytes::ZERO },
        cpus: (0..64).collect(),
        held: CpuSet::default(),
        numa: vec![numa(0), numa(1)],
        gpus: if n.is_multiple_of(8) { (0..8).map(gpu).collect() } else { Vec::new() },
        runs: u64::from(used / 1000),
        last_given: Timestamp::from_micros((scattered(n) % 100_000) as i64),
        tags: Counts::new(),
        families: Counts::new(),
        lasting: Vec::new(),
    })
}

fn shape(n: usize, mix: Mix) -> anyhow::Result<Shape> {
    let small = |from: usize, below: usize| u32::try_from(from + n % below);
    let mut resources = Resources {
        cores: Cores::from_millis([100, 250, 500, 1000, 2000, 4000][n % 6]),
        memory: Bytes::mib([64, 256, 1024, 2048, 4096][n % 5]),
        ..Resources::default()
    };
    if mix == Mix::Distinct {
        resources.memory = Bytes::new(resources.memory.get() + n as u64);
    }
    let mut rules = PlacementRules::default();
    let mut shape_tags = Vec::new();
    match n % 20 {
        0 | 1 => resources.gpus = GpuRequest::count(0),
        2 => resources.numa = Some(NumaRequest::Any),
        3 => (resources.exclusive, resources.cores) = (true, Cores::from_millis(1000)),
        4 => drop(rules.selector.insert("zone".to_owned(), format!("z{}", n % 4))),
        5 => rules.constraints = vec!["kernel >= 6.6".parse().map_err(anyhow::Error::msg)?],
        6 => rules.strategy = Some(Strategy::BinPack),
        7 => rules.prefer = vec!["label.zone = z1".parse().map_err(anyhow::Error::msg)?],
        8 => rules.strategy = Some(Strategy::Spread),
        9 => rules.strategy = Some(Strategy::RoundRobin),
        10 => rules.strategy = Some(Strategy::LeastLoaded),
        11 => (rules.apart, shape_tags) = (vec![format!("t{}", n % 7)], vec!["other".to_owned()]),
        _ => {}
    }
    if n % 40 == 20 {
        resources.gpus = GpuRequest::count(1);
        resources.gpus.share = hostler_model::GpuShareSize::from_millis(250);
    }
    Ok(Shape {
        project: ProjectId::from_uuid(uuid::Uuid::from_u128(small(1, 8)?.into())),
        resources,
        rules,
        priority: i32::try_from(small(0, 3)?)?,
        tags: shape_tags,
        family: format!("f{}", n % 10),
        timeout: None,
        needs_engine: false,
    })
}
