//! Why a task waits: what keeps it back in the queue, and what speaks against each node.
//!
//! The answer is found by deciding: a pass is made over the scene, and what then speaks against a node
//! is what really kept the task from it, including what went to others before it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use hostler_model::{
    AfterCondition, ArrayId, Bytes, Cores, LOCATION_LABEL, Name, NodeId, ProjectId, Strategy,
    Timestamp, WorkloadId,
};

use super::ask::{ArrayRoom, Holding, ProjectShare, cores_limit, gpus_limit};
use super::queue::{Shares, dominant_share};
use super::{Ask, Decision, NodeOffer, Plan, Reason, Scene, Settings, Shape, place, reasons};

/// Why a task waits, or where it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// It goes there, to the node of this name, as soon as the next pass is made.
    pub decision: Option<(Name, Decision)>,
    /// How that node lies to the place that is asked for, if one is.
    pub place: Option<String>,
    /// What keeps it back wherever there is room.
    pub queue: Vec<QueueReason>,
    /// For every node, what speaks against it.
    pub nodes: Vec<(NodeId, Name, Vec<Reason>)>,
}

/// What keeps a task back, whatever the nodes are like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QueueReason {
    /// Somebody has to agree first.
    Approval,
    After {
        task: String,
        on: AfterCondition,
    },
    NotBefore {
        time: Timestamp,
    },
    QuotaCores {
        asked: Cores,
        held: Cores,
        limit: Cores,
    },
    QuotaMemory {
        asked: Bytes,
        held: Bytes,
        limit: Bytes,
    },
    /// In thousandths of GPUs.
    QuotaGpus {
        asked: u64,
        held: u64,
        limit: u64,
    },
    ArrayFull {
        at_once: u32,
        placed: u32,
    },
    /// Not all of those that run together are ready.
    GangIncomplete {
        ready: u32,
        size: u32,
    },
    /// Fewer nodes fit than it has members.
    GangRoom {
        fitting: u32,
        size: u32,
    },
    /// Others have to give way first, and are on their way.
    MakingRoom {
        victims: u32,
    },
    /// A node is kept for it.
    KeptFor {
        node: Name,
        expected: Option<Timestamp>,
    },
    /// Others come first where there is room.
    Behind {
        higher: usize,
        fairer: usize,
        older: usize,
    },
}

impl QueueReason {
    /// Whether waiting can help; otherwise the request or the limit has to change.
    pub fn is_passing(&self) -> bool {
        match self {
            QueueReason::QuotaCores { asked, limit, .. } => asked <= limit,
            QueueReason::QuotaMemory { asked, limit, .. } => asked <= limit,
            QueueReason::QuotaGpus { asked, limit, .. } => asked <= limit,
            _ => true,
        }
    }
}

impl fmt::Display for QueueReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueReason::Approval => f.write_str("somebody has to approve it"),
            QueueReason::After { task, on: AfterCondition::Ok } => {
                write!(f, "it waits until `{task}` has completed")
            }
            QueueReason::After { task, on: AfterCondition::Any } => {
                write!(f, "it waits until `{task}` has ended")
            }
            QueueReason::After { task, on: AfterCondition::Fail } => {
                write!(f, "it waits until `{task}` has ended in another way than completed")
            }
            QueueReason::NotBefore { time } => write!(f, "it is not to begin before {time}"),
            QueueReason::QuotaCores { asked, held, limit } => {
                write!(
                    f,
                    "its project may hold {limit} cores and holds {held}, it asks for {asked}"
                )
            }
            QueueReason::QuotaMemory { asked, held, limit } => {
                write!(
                    f,
                    "its project may hold {limit} of memory and holds {held}, it asks for {asked}"
                )
            }
            QueueReason::QuotaGpus { asked, held, limit } => {
                let [asked, held, limit] =
                    [asked, held, limit].map(|millis| *millis as f64 / 1000.0);
                write!(f, "its project may hold {limit} GPUs and holds {held}, it asks for {asked}")
            }
            QueueReason::ArrayFull { at_once, placed } => {
                write!(f, "its array runs at most {at_once} at once, and {placed} are running")
            }
            QueueReason::GangIncomplete { ready, size } => {
                write!(f, "{ready} of the {size} that run together are ready")
            }
            QueueReason::GangRoom { fitting, size } => {
                write!(f, "{fitting} nodes fit now, it needs {size} at the same time")
            }
            QueueReason::MakingRoom { victims } => {
                write!(
                    f,
                    "{victims} of lower priority give way to it; it starts when they have stopped"
                )
            }
            QueueReason::KeptFor { node, expected: None } => {
                write!(f, "node `{node}` is kept for it, until enough of what runs there has ended")
            }
            QueueReason::KeptFor { node, expected: Some(time) } => {
                write!(f, "node `{node}` is kept for it; it can start at {time} at the latest")
            }
            QueueReason::Behind { higher, fairer, older } => write!(
                f,
                "{} first: {higher} of higher priority, {fairer} of projects that hold less, {older} that waited longer",
                match higher + fairer + older {
                    1 => "1 other comes".to_owned(),
                    others => format!("{others} others come"),
                }
            ),
        }
    }
}

/// What a pass over a scene comes to, for whoever asks why.
#[derive(Clone, Debug)]
pub struct Outlook {
    /// As it is after the pass.
    scene: Scene,
    plan: Plan,
    /// What projects held before it.
    projects: BTreeMap<ProjectId, ProjectShare>,
}

impl Outlook {
    pub fn of(mut scene: Scene) -> Outlook {
        let projects = scene.projects.clone();
        let plan = place(&mut scene);
        Outlook { scene, plan, projects }
    }

    /// What a project holds now.
    pub fn share(&self, project: ProjectId) -> ProjectShare {
        self.projects.get(&project).cloned().unwrap_or_default()
    }

    /// Projects by whose turn it is first at equal priority.
    pub fn turn(&self, project: ProjectId) -> f64 {
        let total = Shares::new(&self.projects, &self.scene.nodes).total();
        dominant_share(&self.share(project), total)
    }

    /// What waits in each project, in the order in which it is looked at.
    pub fn lines(&self) -> BTreeMap<ProjectId, Vec<&Ask>> {
        let mut lines: BTreeMap<ProjectId, Vec<&Ask>> = BTreeMap::new();
        for ask in &self.scene.queue {
            lines.entry(ask.shape.project).or_default().push(ask);
        }
        for line in lines.values_mut() {
            line.sort_by_key(|ask| (Reverse(ask.shape.priority), ask.time_ready, ask.workload_id));
        }
        lines
    }

    /// Why a task of the queue waits; none when it is not in it. `name_of` knows what others are called.
    pub fn explain(
        &self,
        workload_id: WorkloadId,
        name_of: impl Fn(WorkloadId) -> Option<String>,
    ) -> Option<Explanation> {
        let Outlook { scene, plan, .. } = self;
        let ask = scene.queue.iter().find(|ask| ask.workload_id == workload_id)?;
        let decision = plan.placed.iter().find(|decision| decision.workload_id == workload_id);
        if let Some(decision) = decision.cloned() {
            let node = scene.nodes.iter().find(|node| node.id == decision.node_id);
            let place = node.and_then(|node| about_place(&ask.shape, node, &scene.settings));
            let decision = node.map(|node| (node.name.clone(), decision));
            return Some(Explanation { decision, place, ..Explanation::default() });
        }
        let against = |node: &NodeOffer| {
            let found = reasons(&ask.shape, node);
            let hold = plan.holds.iter().find(|hold| hold.node_id == node.id);
            match hold.filter(|hold| !is_for(ask, hold.workload_id, scene)) {
                Some(hold) if found.is_empty() => {
                    let holder = hold.workload_id;
                    let task = name_of(holder).unwrap_or_else(|| holder.to_string());
                    vec![Reason::HeldFor { task, expected: hold.expected }]
                }
                _ => found,
            }
        };
        let nodes: Vec<_> =
            scene.nodes.iter().map(|node| (node.id, node.name.clone(), against(node))).collect();
        let fitting = nodes.iter().filter(|(_, _, reasons)| reasons.is_empty()).count();
        let mut queue = Vec::new();
        about_limits(scene, ask, &mut queue);
        about_gang(scene, ask, fitting, &mut queue);
        about_room(scene, plan, ask, &mut queue);
        queue.extend(self.behind(ask));
        Some(Explanation { queue, nodes, ..Explanation::default() })
    }

    /// How many come before it at the beginning of the pass.
    fn behind(&self, ask: &Ask) -> Option<QueueReason> {
        let total = Shares::new(&self.projects, &self.scene.nodes).total();
        let none = ProjectShare::default();
        let share = |ask: &Ask| {
            dominant_share(self.projects.get(&ask.shape.project).unwrap_or(&none), total)
        };
        let (priority, project, own) = (ask.shape.priority, ask.shape.project, share(ask));
        let (mut higher, mut fairer, mut older) = (0, 0, 0);
        for other in &self.scene.queue {
            let is_older =
                (other.time_ready, other.workload_id) < (ask.time_ready, ask.workload_id);
            if other.shape.priority > priority {
                higher += 1;
            } else if other.shape.priority < priority {
            } else if other.shape.project != project && share(other) < own {
                fairer += 1;
            } else if is_older && (other.shape.project == project || share(other) <= own) {
                older += 1;
            }
        }
        (higher + fairer + older > 0).then_some(QueueReason::Behind { higher, fairer, older })
    }
}

/// How a node lies to the place that is asked for.
fn about_place(shape: &Shape, node: &NodeOffer, settings: &Settings) -> Option<String> {
    let near = shape.rules.near.as_ref()?;
    if shape.strategy(settings) != Strategy::Location {
        return None;
    }
    Some(match node.labels.get(LOCATION_LABEL) {
        Some(here) => format!("at `{here}`, as near to `{near}` as there is room"),
        None => format!("which does not say where it is: there is no room nearer to `{near}`"),
    })
}

/// Why a task of the scene's queue waits; see [`Outlook::explain`].
pub fn explain(
    scene: Scene,
    workload_id: WorkloadId,
    name_of: impl Fn(WorkloadId) -> Option<String>,
) -> Option<Explanation> {
    Outlook::of(scene).explain(workload_id, name_of)
}

impl Explanation {
    /// Nodes that would take it.
    pub fn fitting(&self) -> usize {
        self.nodes.iter().filter(|(_, _, reasons)| reasons.is_empty()).count()
    }

    /// Whether waiting does not help: it has to change, or a node.
    pub fn is_hopeless(&self) -> bool {
        let never = |found: &[Reason]| found.iter().any(|reason| !reason.is_passing());
        !self.nodes.is_empty() && self.nodes.iter().all(|(_, _, found)| never(found))
    }

    /// The answer in one sentence.
    pub fn summary(&self) -> String {
        let count = self.nodes.len();
        match (&self.decision, self.queue.first()) {
            (Some((node, _)), _) => {
                let place =
                    self.place.as_ref().map(|place| format!(", {place}")).unwrap_or_default();
                format!("it goes to node `{node}` in a moment{place}")
            }
            _ if count == 0 => "there is no node".to_owned(),
            (None, Some(reason)) if self.fitting() > 0 => reason.to_string(),
            _ if self.is_hopeless() => {
                format!("none of {count} nodes can run it, and waiting does not help")
            }
            _ => format!("none of {count} nodes can run it now"),
        }
    }

    /// The first thing that keeps it waiting: in the queue, or else on most nodes.
    pub fn first_reason(&self) -> String {
        let is_limit = |reason: &&QueueReason| !matches!(reason, QueueReason::Behind { .. });
        if let Some(reason) = self.queue.iter().find(is_limit) {
            return reason.to_string();
        }
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (_, _, found) in &self.nodes {
            if let Some(first) = found.first() {
                *counts.entry(first.to_string()).or_default() += 1;
            }
        }
        let common = counts.into_iter().max_by_key(|(text, count)| (*count, Reverse(text.clone())));
        match common.filter(|_| self.fitting() == 0) {
            Some((text, count)) if count < self.nodes.len() => {
                format!("{}; on most: {text}", self.summary())
            }
            Some((text, _)) => format!("{}: {text}", self.summary()),
            None => self.summary(),
        }
    }
}

/// Whether a hold is for the ask, or for the gang it is part of.
fn is_for(ask: &Ask, holder: WorkloadId, scene: &Scene) -> bool {
    let is_same_gang = |gang: super::Gang| {
        let holder = scene.queue.iter().find(|other| other.workload_id == holder);
        holder.and_then(|holder| holder.gang).is_some_and(|other| other.id == gang.id)
    };
    holder == ask.workload_id || ask.gang.is_some_and(is_same_gang)
}

fn about_limits(scene: &Scene, ask: &Ask, queue: &mut Vec<QueueReason>) {
    let project = scene.projects.get(&ask.shape.project).cloned().unwrap_or_default();
    let size = ask.gang.map_or(1, |gang| u64::from(gang.size));
    let asked = ask.shape.weight().times(size);
    queue.extend(over_quota(&project, asked));
    let room =
        ask.array.and_then(|id: ArrayId| scene.arrays.get(&id)).filter(|room| room.is_full());
    if let Some(ArrayRoom { at_once: Some(at_once), placed }) = room.copied() {
        queue.push(QueueReason::ArrayFull { at_once, placed });
    }
}

fn over_quota(project: &ProjectShare, asked: Holding) -> Vec<QueueReason> {
    let ProjectShare { quota, held, .. } = project;
    let is_over =
        |limit: u64, held: u64, asked: u64| asked > 0 && held.saturating_add(asked) > limit;
    let cores = |millis: u64| Cores::from_millis(u32::try_from(millis).unwrap_or(u32::MAX));
    let mut found = Vec::new();
    if let Some(limit) =
        quota.cores.filter(|limit| is_over(cores_limit(*limit), held.cores, asked.cores))
    {
        found.push(QueueReason::QuotaCores {
            asked: cores(asked.cores),
            held: cores(held.cores),
            limit,
        });
    }
    if let Some(limit) =
        quota.memory.filter(|limit| is_over(limit.get(), held.memory, asked.memory))
    {
        let [asked, held] = [asked.memory, held.memory].map(Bytes::new);
        found.push(QueueReason::QuotaMemory { asked, held, limit });
    }
    if let Some(limit) =
        quota.gpus.map(gpus_limit).filter(|limit| is_over(*limit, held.gpus, asked.gpus))
    {
        found.push(QueueReason::QuotaGpus { asked: asked.gpus, held: held.gpus, limit });
    }
    found
}

fn about_gang(scene: &Scene, ask: &Ask, fitting: usize, queue: &mut Vec<QueueReason>) {
    let Some(gang) = ask.gang else { return };
    let members =
        scene.queue.iter().filter(|other| other.gang.is_some_and(|other| other.id == gang.id));
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let (ready, fitting) = (number(members.count()), number(fitting));
    if ready < gang.size {
        queue.push(QueueReason::GangIncomplete { ready, size: gang.size });
    } else if fitting < gang.size {
        queue.push(QueueReason::GangRoom { fitting, size: gang.size });
    }
}

fn about_room(scene: &Scene, plan: &Plan, ask: &Ask, queue: &mut Vec<QueueReason>) {
    let victims =
        plan.preempt.iter().filter(|preemption| is_for(ask, preemption.by, scene)).count();
    if victims > 0 {
        queue.push(QueueReason::MakingRoom { victims: u32::try_from(victims).unwrap_or(u32::MAX) });
    }
    for hold in plan.holds.iter().filter(|hold| is_for(ask, hold.workload_id, scene)) {
        if let Some(node) = scene.nodes.iter().find(|node| node.id == hold.node_id) {
            queue.push(QueueReason::KeptFor { node: node.name.clone(), expected: hold.expected });
        }
    }
}
