//! Scenes of every kind, small enough to be crowded.

use super::*;
use hostler_model::{GpuShareSize, Quota};
use proptest::prelude::*;
use proptest::strategy::Strategy;

const GIB: u64 = 1 << 30;

fn any_node(n: u128) -> impl Strategy<Value = NodeOffer> {
    let parts = (1u32..3, 1u32..4, 0u32..4, 0u8..12, 0u64..5, 0u32..1000, 0i64..4);
    parts.prop_map(move |(numa, each, gpus, kind, seen, busy, given)| {
        let mut node = numa_node(n, numa * each, numa);
        match kind {
            0 => node.cordon = Some("disk".to_owned()),
            1 => node.state = NodeState::Offline,
            2 => node.numa.clear(),
            3 => node.capacity.cores = Cores::from_millis(1500),
            4 => node.cpus.insert(100),
            _ => {}
        }
        node.gpus = (0..gpus)
            .map(|index| GpuOffer {
                numa: (kind % 2 == 0).then_some(index % numa),
                trouble: (kind == 5 && index == 0).then(|| "xid 79".to_owned()),
                ..gpu(index, if index % 2 == 0 { "A100" } else { "T4" })
            })
            .collect();
        node.observed =
            Observed { cpu: busy, memory: Bytes::new(seen * GIB / 2), disk: Bytes::ZERO };
        node.about.container_engine = (kind > 6).then(|| "docker".to_owned());
        node.last_given = seconds(given);
        node
    })
}

fn any_gpus() -> impl Strategy<Value = GpuRequest> {
    let plain = (1u32..3).prop_map(GpuRequest::count);
    let part = (1u16..1001, 1u32..3).prop_map(|(share, count)| GpuRequest {
        share: GpuShareSize::from_millis(share),
        ..GpuRequest::count(count)
    });
    let model = Just(GpuRequest { model: Some("t4".to_owned()), ..GpuRequest::count(1) });
    let named = prop::collection::btree_set(0u32..4, 1..3)
        .prop_map(|ids| GpuRequest::ids(ids.into_iter().collect()));
    prop_oneof![6 => Just(GpuRequest::default()), 1 => plain, 2 => part, 1 => model, 1 => named]
}

fn any_resources() -> impl Strategy<Value = Resources> {
    let numa = prop_oneof![
        6 => Just(None),
        1 => Just(Some(NumaRequest::Any)),
        1 => (0u32..3).prop_map(|index| Some(NumaRequest::Index(index))),
    ];
    let amounts =
        (prop_oneof![Just(0u32), 1u32..4000, (1u32..5).prop_map(|n| n * 1000)], 0u64..5, 0u64..3);
    (amounts, 0u8..4, any_gpus(), numa).prop_map(|((millis, memory, disk), kind, gpus, numa)| {
        let exclusive = kind == 0 && millis >= 1000;
        Resources {
            cores: Cores::from_millis(if exclusive { millis / 1000 * 1000 } else { millis }),
            exclusive,
            memory: Bytes::new(memory * GIB / 2),
            disk: Bytes::mib(disk * 300),
            gpus,
            numa,
        }
    })
}

fn any_rules() -> impl Strategy<Value = PlacementRules> {
    let tags = || prop::collection::vec("[ab]", 0..2);
    let choice = prop::option::of(prop::sample::select(hostler_model::Strategy::ALL));
    (0u8..16, tags(), tags(), choice).prop_map(|(kind, together, apart, strategy)| {
        let mut rules = PlacementRules { strategy, ..PlacementRules::default() };
        match kind {
            0 => rules.node = Some("n2".parse().unwrap()),
            1 => rules.node = Some("n9".parse().unwrap()),
            2 => drop(rules.selector.insert("zone".to_owned(), "z1".to_owned())),
            3 => rules.constraints = vec!["node != n1".parse().unwrap()],
            4 => rules.constraints = vec!["gpus >= 1".parse().unwrap()],
            5 => rules.prefer = vec!["label.zone = z0".parse().unwrap()],
            6 => (rules.together, rules.strategy) = (together, None),
            7 | 8 => rules.apart = apart,
            9 => (rules.strategy, rules.over) = (None, Some("zone".to_owned())),
            10 => (rules.strategy, rules.near) = (None, Some("eu/berlin".to_owned())),
            _ => {}
        }
        rules
    })
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let timeout = prop::option::of((1u64..200).prop_map(Span::from_secs));
    let tags = prop::collection::vec("[ab]", 0..2);
    let rest = (1u128..4, -1i32..2, tags, "[xy]", timeout, 0u8..8);
    (any_resources(), any_rules(), rest).prop_map(
        |(resources, rules, (owner, priority, tags, family, timeout, engine))| Shape {
            project: project(owner),
            resources,
            rules,
            priority,
            tags,
            family,
            timeout,
            needs_engine: engine == 0,
        },
    )
}

/// Asks from a few shapes, so that equal ones meet.
fn any_queue() -> impl Strategy<Value = Vec<Ask>> {
    let one = (0usize..6, -100i64..0, 0u8..12);
    (prop::collection::vec(any_shape(), 6), prop::collection::vec(one, 0..24)).prop_map(
        |(shapes, picks)| {
            let shapes: Vec<Arc<Shape>> = shapes.into_iter().map(Arc::new).collect();
            let mut queue: Vec<Ask> = Vec::new();
            for ((pick, time, kind), n) in picks.into_iter().zip(1000u128..) {
                let shape = if kind % 2 == 0 {
                    Arc::clone(&shapes[pick])
                } else {
                    Arc::new((*shapes[pick]).clone())
                };
                let base = Ask {
                    workload_id: task(n),
                    shape,
                    time_ready: seconds(time),
                    array: None,
                    gang: None,
                };
                match kind {
                    0 | 1 => queue.push(Ask { array: Some(array(1)), ..base }),
                    2 => {
                        let missing = u32::from(time % 5 == 0);
                        for rank in 0..2 + u32::from(pick > 3) - missing {
                            let gang = Gang { id: array(n), rank, size: 2 + u32::from(pick > 3) };
                            let workload_id = task(n * 100 + u128::from(rank));
                            queue.push(Ask { workload_id, gang: Some(gang), ..base.clone() });
                        }
                    }
                    _ => queue.push(base),
                }
            }
            queue
        },
    )
}

fn any_project() -> impl Strategy<Value = ProjectShare> {
    let limit = || prop::option::weighted(0.3, 0u32..5);
    (1u32..3, limit(), limit(), limit(), 0u64..3000).prop_map(
        |(weight, cores, memory, gpus, held)| ProjectShare {
            weight,
            quota: Quota {
                cores: cores.map(|n| Cores::from_millis(n * 1000)),
                memory: memory.map(|n| Bytes::new(u64::from(n) * GIB)),
                gpus,
                ..Quota::default()
            },
            held: Holding { cores: held, ..Holding::default() },
        },
    )
}

type Running = (Resources, usize, i32, bool, bool, Option<i64>);

fn any_running() -> impl Strategy<Value = Vec<Running>> {
    let ends = prop::option::of(1i64..100);
    let one =
        (any_resources(), 0usize..5, -2i32..1, prop::bool::ANY, prop::bool::weighted(0.2), ends);
    prop::collection::vec(one, 0..12)
}

pub(super) fn any_scene() -> impl Strategy<Value = Scene> {
    let nodes = (any_node(1), any_node(2), any_node(3), any_node(4), any_node(5));
    let limits = (prop::option::of(0u32..4), 0u32..2, 0u64..120);
    (nodes, 1usize..6, any_queue(), any_running(), prop::collection::vec(any_project(), 2), limits)
        .prop_map(
            |((a, b, c, d, e), count, queue, running, projects, (at_once, placed, hold_after))| {
                let mut nodes = vec![a, b, c, d, e];
                nodes.truncate(count);
                let mut held = Vec::new();
                for ((resources, at, priority, is_preemptible, is_leaving, ends), n) in
                    running.into_iter().zip(1u128..)
                {
                    let Some(node) = nodes.get_mut(at) else { continue };
                    let Some(reservation) = reserve(&resources, node) else { continue };
                    node.take(&reservation);
                    if n.is_multiple_of(5) {
                        node.lasting.push(reservation);
                        continue;
                    }
                    held.push(Held {
                        workload_id: task(n),
                        node_id: node.id,
                        priority,
                        is_preemptible,
                        is_leaving,
                        time_started: seconds(-i64::try_from(n).unwrap()),
                        ends_by: ends.map(seconds),
                        reservation,
                    });
                }
                Scene {
                    now: Timestamp::EPOCH,
                    queue,
                    nodes,
                    projects: (1u128..).map(project).zip(projects).collect(),
                    arrays: [(array(1), ArrayRoom { at_once, placed })].into(),
                    held,
                    kept: Vec::new(),
                    settings: Settings {
                        hold_after: Span::from_secs(hold_after),
                        ..Settings::default()
                    },
                }
            },
        )
}
