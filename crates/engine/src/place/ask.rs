//! What waits, what is placed already, and the snapshot that a pass decides over.

use std::collections::BTreeMap;
use std::sync::Arc;

use hostler_model::{
    ArrayId, Bytes, Cores, Name, NodeId, PlacementRules, ProjectId, Quota, Reservation, Resources,
    Runtime, Span, Strategy, Timestamp, WorkloadId, WorkloadSpec,
};

use super::NodeOffer;
use super::devices::asked_cores;

/// What a workload asks for, without saying which workload it is.
///
/// Tasks that ask for the same are decided together. They are recognised by their content; sharing one
/// `Arc` among the tasks of an array saves looking.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    pub project: ProjectId,
    pub resources: Resources,
    pub rules: PlacementRules,
    pub priority: i32,
    /// What others may want to be together with, or apart from.
    pub tags: Vec<String>,
    /// What the strategy `spread` spreads: workloads of the same project and family; see [`family`].
    pub family: String,
    /// When it is stopped at the latest, counted from its start.
    pub timeout: Option<Span>,
    /// Whether it runs in a container.
    pub needs_engine: bool,
}

/// The family that a workload, or an array, of this name belongs to: its stem, without a last part that has
/// a number in it.
pub fn family(name: &Name) -> &str {
    let name = name.as_str();
    match name.rsplit_once('-') {
        Some((stem, last)) if !stem.is_empty() && last.contains(|c: char| c.is_ascii_digit()) => {
            stem
        }
        _ => name,
    }
}

impl Shape {
    /// `name` is that of the workload, or of its array.
    pub fn of(project: ProjectId, name: &Name, spec: &WorkloadSpec) -> Shape {
        Shape {
            project,
            resources: spec.resources.clone(),
            rules: spec.placement.clone(),
            priority: spec.queue.priority,
            tags: spec.tags.clone(),
            family: family(name).to_owned(),
            timeout: spec.timeout,
            needs_engine: spec.runtime == Runtime::Container,
        }
    }

    /// The strategy in force for it.
    pub(super) fn strategy(&self, settings: &Settings) -> Strategy {
        let rules = &self.rules;
        match (rules.strategy, &rules.over, &rules.near) {
            (Some(strategy), _, _) => strategy,
            (None, Some(_), _) => Strategy::Spread,
            (None, None, Some(_)) => Strategy::Location,
            (None, None, None) => settings.strategy,
        }
    }

    /// What it takes from its project's quota.
    pub fn weight(&self) -> Holding {
        let gpus = &self.resources.gpus;
        Holding {
            cores: asked_cores(&self.resources).millis().into(),
            memory: self.resources.memory.get(),
            gpus: u64::from(gpus.count) * u64::from(gpus.share.millis()),
        }
    }
}

/// A task that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub workload_id: WorkloadId,
    pub shape: Arc<Shape>,
    /// Since when nothing but room keeps it waiting; the oldest goes first.
    pub time_ready: Timestamp,
    /// The array it belongs to, where that limits how many run at once.
    pub array: Option<ArrayId>,
    pub gang: Option<Gang>,
}

/// One of several that run at the same time on as many nodes, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gang {
    pub id: ArrayId,
    pub rank: u32,
    pub size: u32,
}

/// A task that holds something of a node: one that may be pushed away, or whose end is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Held {
    pub workload_id: WorkloadId,
    pub node_id: NodeId,
    pub priority: i32,
    pub is_preemptible: bool,
    /// It is being stopped already.
    pub is_leaving: bool,
    pub time_started: Timestamp,
    /// When its timeout ends it at the latest.
    pub ends_by: Option<Timestamp>,
    pub reservation: Reservation,
}

/// A node that is kept for a task.
#[derive(Clone, Debug)]
pub struct Kept {
    pub(super) node_id: NodeId,
    pub(super) shape: Arc<Shape>,
    pub(super) expected: Option<Timestamp>,
    pub(super) leaving: Vec<Reservation>,
}

/// What a project holds, in the units that quotas are counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holding {
    /// Thousandths of cores.
    pub cores: u64,
    /// Bytes.
    pub memory: u64,
    /// Thousandths of GPUs.
    pub gpus: u64,
}

impl Holding {
    pub fn of(reservation: &Reservation) -> Holding {
        Holding {
            cores: reservation.cores.millis().into(),
            memory: reservation.memory.get(),
            gpus: reservation.gpus.iter().map(|gpu| u64::from(gpu.share.millis())).sum(),
        }
    }

    #[must_use]
    pub fn plus(self, other: Holding) -> Holding {
        Holding {
            cores: self.cores.saturating_add(other.cores),
            memory: self.memory.saturating_add(other.memory),
            gpus: self.gpus.saturating_add(other.gpus),
        }
    }

    #[must_use]
    pub(super) fn times(self, count: u64) -> Holding {
        Holding {
            cores: self.cores.saturating_mul(count),
            memory: self.memory.saturating_mul(count),
            gpus: self.gpus.saturating_mul(count),
        }
    }
}

/// A project's part of the fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectShare {
    pub weight: u32,
    pub quota: Quota,
    /// Everything that is placed for it.
    pub held: Holding,
}

impl Default for ProjectShare {
    fn default() -> ProjectShare {
        ProjectShare { weight: 1, quota: Quota::default(), held: Holding::default() }
    }
}

impl ProjectShare {
    /// Whether so much more stays within the quota. What is not asked for is not looked at, so that a
    /// project that is over a quota already can still place what does not touch it.
    pub fn admits(&self, more: Holding) -> bool {
        let within = |limit: Option<u64>, held: u64, more: u64| {
            more == 0 || limit.is_none_or(|limit| held.saturating_add(more) <= limit)
        };
        within(self.quota.cores.map(cores_limit), self.held.cores, more.cores)
            && within(self.quota.memory.map(Bytes::get), self.held.memory, more.memory)
            && within(self.quota.gpus.map(gpus_limit), self.held.gpus, more.gpus)
    }
}

pub(super) fn cores_limit(cores: Cores) -> u64 {
    cores.millis().into()
}

pub(super) fn gpus_limit(gpus: u32) -> u64 {
    u64::from(gpus) * 1000
}

/// How many tasks of an array may run at once, and how many do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayRoom {
    pub at_once: Option<u32>,
    pub placed: u32,
}

impl ArrayRoom {
    pub fn is_full(&self) -> bool {
        self.at_once.is_some_and(|limit| self.placed >= limit)
    }
}

/// How decisions are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// For workloads that say nothing about it.
    pub strategy: Strategy,
    /// What has waited this long for room is kept a place free.
    pub hold_after: Span,
    /// For so many of each project and priority at a time.
    pub holds: u32,
    /// Whether preemptible tasks give way to those of higher priority.
    pub is_preempting: bool,
    /// For so many tasks in one pass.
    pub preemptions: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            strategy: Strategy::MostFree,
            hold_after: Span::from_secs(30),
            holds: 2,
            is_preempting: true,
            preemptions: 16,
        }
    }
}

/// Everything a pass decides over. `place` takes what it gives from it and marks what gives way, so that
/// afterwards it is what the fleet will look like.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub now: Timestamp,
    /// In any order.
    pub queue: Vec<Ask>,
    pub nodes: Vec<NodeOffer>,
    /// Those not listed have the weight 1, no quota, and hold nothing.
    pub projects: BTreeMap<ProjectId, ProjectShare>,
    /// Those not listed are not limited.
    pub arrays: BTreeMap<ArrayId, ArrayRoom>,
    /// May be left out in parts: what is not listed is neither pushed away nor expected to end.
    pub held: Vec<Held>,
    /// Nodes that earlier passes over this scene keep for somebody; empty at first. So a long queue can
    /// be decided in parts, one `queue` after the other.
    pub kept: Vec<Kept>,
    pub settings: Settings,
}
