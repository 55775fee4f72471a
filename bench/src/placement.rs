//! How long one pass of placement takes, inside the decision itself: no database, no network.
//!
//! The decision is pure, so it is called as a library. Each pass decides over a fresh copy of the same
//! scene; making the copy is not counted. What is checked: as many tasks are placed as the scene has
//! room for, so that a pass that gives up early is an error and not a number.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use hostler_engine::place::{
    About, Amounts, Ask, Counts, Gang, GpuOffer, NodeOffer, NumaOffer, Observed, Plan, Scene,
    Settings, Shape, place,
};
use hostler_model::{
    ArrayId, Bytes, Cores, CpuSet, GpuRequest, GpuShareSize, Labels, NodeId, NodeState,
    NumaRequest, PlacementRules, ProjectId, Resources, Strategy, Timestamp, WorkloadId,
};

use crate::figures::{Section, quantile};

const TASKS: usize = 10_000;
const NODES: usize = 1_000;
const PASSES: usize = 100;
const TARGET_MILLIS: f64 = 50.0;
const SIZES: [(usize, usize); 5] =
    [(1_000, 100), (10_000, 1_000), (20_000, 2_000), (50_000, 5_000), (100_000, 10_000)];
const GROWTH: [Mix; 9] = [
    Mix::Everything,
    Mix::Shapes(1),
    Mix::Distinct,
    Mix::Crowded,
    Mix::Unfit,
    Mix::Hopeless,
    Mix::Spread,
    Mix::Together,
    Mix::Near,
];

pub async fn measure() -> anyhow::Result<Section> {
    tokio::task::spawn_blocking(run).await.context("the measurement panicked")?
}

fn run() -> anyhow::Result<Section> {
    let how = format!(
        "One pass of `engine::place` over a scene: {TASKS} tasks of 8 projects and 3 priorities wait for {NODES} nodes (64 cores in two NUMA nodes, 256 GiB, every eighth with 8 GPUs), of which a third is in use. {PASSES} passes each. Then the same at other sizes, in processor time, and cases in which looking at every node for every task would show."
    );
    let mut section = Section::new("The decision", how);
    for mix in [Mix::Everything, Mix::Shapes(40), Mix::Crowded, Mix::Distinct] {
        let what = mix.words();
        let scene = scene(TASKS, NODES, mix)?;
        let millis = passes(&scene, PASSES, mix)?;
        let p99 = quantile(&millis.wall, 0.99);
        let median = quantile(&millis.wall, 0.5);
        let own = quantile(&millis.processor, 0.5);
        let value = format!("{median:.1} ms, {own:.1} ms");
        section.note(format!("{what}: median, of processor time"), value);
        let target = format!("under {TARGET_MILLIS:.0} ms");
        let value = format!("{p99:.1} ms");
        section.judge(format!("{what}: p99"), value, target, p99 < TARGET_MILLIS);
    }
    for mix in GROWTH {
        growth(mix, &mut section)?;
    }
    Ok(section)
}

/// The same at every size, with what each task costs.
fn growth(mix: Mix, section: &mut Section) -> anyhow::Result<()> {
    let what = mix.words();
    let mut each: Vec<(f64, f64)> = Vec::new();
    for (tasks, nodes) in SIZES {
        let scene = scene(tasks, nodes, mix)?;
        let median = quantile(&passes(&scene, 5, mix)?.processor, 0.5);
        let micros = median * 1000.0 / tasks as f64;
        let looks = place(&mut scene.clone()).looks as f64 / tasks as f64;
        each.push((micros, looks));
        let value = format!("{median:.1} ms, {micros:.2} us, {looks:.1}");
        section.note(
            format!("{what}: {tasks} tasks, {nodes} nodes: a pass, a task, nodes looked at for it"),
            value,
        );
    }
    if let [_, from, .., to] = each.as_slice() {
        let value = format!("{:.1} times, {:.1} times", to.0 / from.0, to.1 / from.1);
        section.note(
            format!("{what}: what a task costs at ten times the size, in time and in nodes looked at (1 is linear, 10 is tasks times nodes)"),
            value,
        );
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq)]
enum Mix {
    /// All that can be asked for, gangs and what fits nowhere included.
    Everything,
    Shapes(usize),
    Distinct,
    Crowded,
    Unfit,
    Hopeless,
    Spread,
    Together,
    Near,
}

impl Mix {
    fn words(self) -> &'static str {
        match self {
            Mix::Everything => "mixed: 120 shapes, gangs, a tenth fits nowhere",
            Mix::Shapes(1) => "all equal",
            Mix::Shapes(_) => "40 shapes, room for all",
            Mix::Distinct => "every task of another shape, room for all",
            Mix::Crowded => "40 shapes, room for a tenth, all have waited long",
            Mix::Unfit => "nothing fits now, every task of another shape",
            Mix::Hopeless => {
                "nothing can ever fit, every task of another shape, all have waited long"
            }
            Mix::Spread => "every task of a family of its own, spread",
            Mix::Together => "every task beside others with its tag",
            Mix::Near => "every task near one of 200 places",
        }
    }

    /// How many shapes there are.
    fn shapes(self, tasks: usize) -> usize {
        match self {
            Mix::Everything => 120,
            Mix::Shapes(count) => count,
            Mix::Crowded => 40,
            _ => tasks,
        }
    }

    /// What is in use of each node, in thousandths of cores.
    fn used(self) -> u32 {
        match self {
            Mix::Crowded => 62_900,
            Mix::Unfit => 60_000,
            _ => 21_000,
        }
    }
}

/// What passes took, in milliseconds.
#[derive(Default)]
struct Millis {
    wall: Vec<f64>,
    /// Of this thread: what they cost, whoever else is busy.
    processor: Vec<f64>,
}

fn passes(scene: &Scene, count: usize, mix: Mix) -> anyhow::Result<Millis> {
    let mut millis = Millis::default();
    for _ in 0..count {
        let mut copy = scene.clone();
        let (begun, worked) = (Instant::now(), worked_millis());
        let plan = place(&mut copy);
        millis.wall.push(begun.elapsed().as_secs_f64() * 1000.0);
        millis.processor.push(worked_millis() - worked);
        check(&plan, scene, mix)?;
    }
    Ok(millis)
}

/// Processor time of this thread.
fn worked_millis() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1000.0 + time.tv_nsec as f64 / 1e6
}

fn check(plan: &Plan, scene: &Scene, mix: Mix) -> anyhow::Result<()> {
    let (placed, all) = (plan.placed.len(), scene.queue.len());
    let expected = match mix {
        Mix::Everything => all * 85 / 100..=all * 95 / 100,
        Mix::Crowded => all / 50..=all / 2,
        Mix::Unfit | Mix::Hopeless => 0..=0,
        _ => all..=all,
    };
    ensure!(expected.contains(&placed), "{}: {placed} of {all} were placed", mix.words());
    Ok(())
}

fn scene(tasks: usize, nodes: usize, mix: Mix) -> anyhow::Result<Scene> {
    let shapes = (0..mix.shapes(tasks))
        .map(|n| Ok(Arc::new(shape(n, mix)?)))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let now = Timestamp::from_micros(match mix {
        Mix::Crowded | Mix::Hopeless => 3_600_000_000,
        _ => (tasks as i64) * 100,
    });
    let ask = |n: usize| {
        let shape = match mix {
            Mix::Everything if n % 50 < 4 => &shapes[n / 50 % 10],
            _ => &shapes[scattered(n) % shapes.len()],
        };
        let gang = (mix == Mix::Everything && n % 50 < 4).then(|| Gang {
            id: ArrayId::from_uuid(uuid::Uuid::from_u128((n / 50) as u128)),
            rank: u32::try_from(n % 50).unwrap_or_default(),
            size: 4,
        });
        Ask {
            workload_id: WorkloadId::from_uuid(uuid::Uuid::from_u128(n as u128)),
            shape: Arc::clone(shape),
            time_ready: Timestamp::from_micros((n as i64) * 100),
            array: None,
            gang,
        }
    };
    let nodes = (0..nodes).map(|n| node(n, mix)).collect::<anyhow::Result<Vec<_>>>()?;
    let queue = (0..tasks).map(ask).collect();
    Ok(Scene { now, queue, nodes, settings: Settings::default(), ..Scene::default() })
}

/// Numbers without order, the same every time.
fn scattered(n: usize) -> usize {
    n.wrapping_mul(0x9E37_79B9).wrapping_add(n >> 7) >> 3
}

fn node(n: usize, mix: Mix) -> anyhow::Result<NodeOffer> {
    let used = mix.used();
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
            ("location".to_owned(), format!("eu/city{}/rack{}", n % 20, n % 100)),
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
        tags: match mix {
            Mix::Together => Counts::from([(project(n % 8)?, [(format!("t{}", n % 7), 1)].into())]),
            _ => Counts::new(),
        },
        families: Counts::new(),
        lasting: Vec::new(),
    })
}

fn project(n: usize) -> anyhow::Result<ProjectId> {
    Ok(ProjectId::from_uuid(uuid::Uuid::from_u128(u128::try_from(n + 1)?)))
}

fn shape(n: usize, mix: Mix) -> anyhow::Result<Shape> {
    let mut shape = Shape {
        project: project(n % 8)?,
        resources: Resources {
            cores: Cores::from_millis([100, 250, 500, 1000, 2000, 4000][n % 6]),
            memory: Bytes::mib([64, 256, 1024, 2048, 4096][n % 5]),
            ..Resources::default()
        },
        rules: PlacementRules::default(),
        priority: i32::try_from(n % 3)?,
        tags: Vec::new(),
        family: format!("f{}", n % 10),
        timeout: None,
        needs_engine: false,
    };
    let (resources, rules) = (&mut shape.resources, &mut shape.rules);
    match mix {
        Mix::Everything if matches!(n % 20, 13 | 17) && n >= 10 => {
            resources.cores = Cores::from_millis(500_000);
        }
        Mix::Everything if n >= 10 => various(n, &mut shape)?,
        Mix::Shapes(2..) | Mix::Crowded => various(n, &mut shape)?,
        Mix::Distinct => {
            resources.memory = Bytes::new(resources.memory.get() + n as u64);
            various(n, &mut shape)?;
        }
        // The more cores the less memory, so that none of them asks for more than another.
        Mix::Unfit | Mix::Hopeless => {
            let base: u32 = if mix == Mix::Unfit { 10_000 } else { 70_000 };
            let step = u32::try_from(n % 50_000)?;
            resources.cores = Cores::from_millis(base + step);
            resources.memory = Bytes::mib(200_000 - u64::from(step));
        }
        Mix::Spread => {
            (rules.strategy, shape.family) = (Some(Strategy::Spread), format!("family{n}"));
        }
        Mix::Together => {
            resources.memory = Bytes::new(resources.memory.get() + n as u64);
            rules.together = vec![format!("t{}", n % 7)];
        }
        Mix::Near => rules.near = Some(format!("eu/city{}/rack{}", n % 25, n % 200)),
        Mix::Everything | Mix::Shapes(_) => {}
    }
    Ok(shape)
}

/// All that can be asked for.
fn various(n: usize, shape: &mut Shape) -> anyhow::Result<()> {
    let Shape { resources, rules, tags, .. } = shape;
    match n % 20 {
        0 => {
            resources.gpus =
                GpuRequest { share: GpuShareSize::from_millis(250), ..GpuRequest::count(1) }
        }
        1 => rules.near = Some(format!("eu/city{}", n % 20)),
        2 => resources.numa = Some(NumaRequest::Any),
        3 => (resources.exclusive, resources.cores) = (true, Cores::from_millis(1000)),
        4 => drop(rules.selector.insert("zone".to_owned(), format!("z{}", n % 4))),
        5 => rules.constraints = vec!["kernel >= 6.6".parse().map_err(anyhow::Error::msg)?],
        6 => rules.strategy = Some(Strategy::BinPack),
        7 => rules.prefer = vec!["label.zone = z1".parse().map_err(anyhow::Error::msg)?],
        8 => rules.strategy = Some(Strategy::Spread),
        9 => rules.strategy = Some(Strategy::RoundRobin),
        10 => rules.strategy = Some(Strategy::LeastLoaded),
        11 => (rules.apart, *tags) = (vec![format!("t{}", n % 7)], vec!["other".to_owned()]),
        12 => rules.over = Some("zone".to_owned()),
        _ => {}
    }
    Ok(())
}
