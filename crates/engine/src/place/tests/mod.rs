use std::sync::Arc;

use hostler_model::{
    ArrayId, Bytes, Cores, CpuSet, GpuRequest, Labels, NodeId, NodeState, NumaRequest,
    PlacementRules, ProjectId, Reservation, Resources, Span, Strategy, Timestamp, WorkloadId,
};
use uuid::Uuid;

use super::*;

mod choice;
mod devices;
mod fairness;
mod growth;
mod hindrances;
mod properties;
mod scenes;
mod tables;
mod waiting;

fn node_id(n: u128) -> NodeId {
    NodeId::from_uuid(Uuid::from_u128(n))
}

fn task(n: u128) -> WorkloadId {
    WorkloadId::from_uuid(Uuid::from_u128(n))
}

fn project(n: u128) -> ProjectId {
    ProjectId::from_uuid(Uuid::from_u128(n))
}

fn array(n: u128) -> ArrayId {
    ArrayId::from_uuid(Uuid::from_u128(n))
}

fn seconds(n: i64) -> Timestamp {
    Timestamp::from_micros(n * 1_000_000)
}

/// A node with so many processors, a GiB of memory for each, and nothing else.
fn node(n: u128, cores: u32) -> NodeOffer {
    NodeOffer {
        id: node_id(n),
        name: format!("n{n}").parse().unwrap(),
        labels: Labels::from([("zone".to_owned(), format!("z{}", n % 2))]),
        state: NodeState::Online,
        cordon: None,
        about: About { kernel: "6.1".to_owned(), ..About::default() },
        address: format!("10.0.0.{n}"),
        capacity: Amounts {
            cores: Cores::from_millis(cores * 1000),
            memory: Bytes::mib(u64::from(cores) * 1024),
            disk: Bytes::mib(1024),
        },
        used: Amounts::default(),
        observed: Observed::default(),
        cpus: (0..cores).collect(),
        held: CpuSet::default(),
        numa: Vec::new(),
        gpus: Vec::new(),
        runs: 0,
        last_given: Timestamp::EPOCH,
        tags: Counts::new(),
        families: Counts::new(),
        lasting: Vec::new(),
    }
}

/// The same, its processors and memory divided evenly into NUMA nodes.
fn numa_node(n: u128, cores: u32, parts: u32) -> NodeOffer {
    let each = cores / parts;
    let part = |index: u32| NumaOffer {
        index,
        cpus: (index * each..(index + 1) * each).collect(),
        memory: Bytes::mib(u64::from(each) * 1024),
        ..NumaOffer::default()
    };
    NodeOffer { numa: (0..parts).map(part).collect(), ..node(n, cores) }
}

fn gpu(index: u32, model: &str) -> GpuOffer {
    GpuOffer {
        index,
        model: model.to_owned(),
        memory: Bytes::mib(40 * 1024),
        ..GpuOffer::default()
    }
}

fn gpu_node(n: u128, cores: u32, gpus: u32) -> NodeOffer {
    NodeOffer { gpus: (0..gpus).map(|index| gpu(index, "NVIDIA A100")).collect(), ..node(n, cores) }
}

fn cores(millis: u32) -> Resources {
    Resources { cores: Cores::from_millis(millis), ..Resources::default() }
}

fn own(count: u32) -> Resources {
    Resources { exclusive: true, ..cores(count * 1000) }
}

fn shape(resources: Resources) -> Shape {
    Shape {
        project: project(1),
        resources,
        rules: PlacementRules::default(),
        priority: 0,
        tags: Vec::new(),
        family: "f".to_owned(),
        timeout: None,
        needs_engine: false,
    }
}

fn ask(n: u128, shape: Shape) -> Ask {
    let time_ready = Timestamp::from_micros(i64::try_from(n).unwrap());
    Ask { workload_id: task(n), shape: Arc::new(shape), time_ready, array: None, gang: None }
}

fn scene(nodes: Vec<NodeOffer>, queue: Vec<Ask>) -> Scene {
    Scene { nodes, queue, ..Scene::default() }
}

/// Which task went to which node.
fn where_to(plan: &Plan) -> Vec<(u128, u128)> {
    plan.placed
        .iter()
        .map(|d| (d.workload_id.uuid().as_u128(), d.node_id.uuid().as_u128()))
        .collect()
}

fn held(n: u128, on: &mut NodeOffer, priority: i32, resources: &Resources) -> Held {
    let reservation = reserve(resources, on).expect("the test gives it room");
    on.take(&reservation);
    Held {
        workload_id: task(n),
        node_id: on.id,
        priority,
        is_preemptible: true,
        is_leaving: false,
        time_started: Timestamp::from_micros(i64::try_from(n).unwrap()),
        ends_by: None,
        reservation,
    }
}
