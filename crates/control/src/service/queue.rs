//! The queue: what waits, in the order in which placement looks at it, and what keeps it waiting.
//!
//! Asking is answered by deciding: a pass is made over what placement would see now, and nothing of it is
//! written.

use std::collections::{BTreeMap, HashMap};

use hostler_engine::place::{self, NodeOffer, Outlook};
use hostler_model::{
    Bytes, Error, Name, Node, Permission, Project, ProjectId, ProjectUsage, Workload, WorkloadId,
};
use hostler_store::Conn;

use crate::reconcile::scene::{Stage, by_id};
use crate::{Control, Cx, QueueDetail, QueuedTask};

/// How much of a queue is decided over.
const LOOK: u32 = 4096;
/// How many of each are shown, and explained.
const SHOWN: usize = 20;

/// What waits, and what the next pass of placement would make of it.
pub(super) struct Waiting {
    pub(super) offers: Vec<NodeOffer>,
    outlook: Outlook,
    tasks: HashMap<WorkloadId, Workload>,
}

impl Waiting {
    /// Why a task waits; tasks of other projects are not named.
    pub(super) fn explain(&self, task: &Workload) -> Option<place::Explanation> {
        let name_of = |id: WorkloadId| {
            let other = self.tasks.get(&id)?;
            let is_near = other.project_id == task.project_id;
            Some(if is_near { other.name.to_string() } else { "a task of another project".into() })
        };
        self.outlook.explain(task.id, name_of)
    }

    fn detail(
        &self,
        project: Project,
        counts: BTreeMap<String, u64>,
        usage: ProjectUsage,
    ) -> QueueDetail {
        let held = self.outlook.share(project.id).held;
        let lines = self.outlook.lines();
        let line = lines.get(&project.id).map(Vec::as_slice).unwrap_or_default();
        let shown = line.iter().zip(1u64..).take(SHOWN).filter_map(|(ask, position)| {
            let task = self.tasks.get(&ask.workload_id)?;
            Some(QueuedTask {
                id: task.id,
                name: task.name.clone(),
                position,
                priority: ask.shape.priority,
                time_ready: ask.time_ready,
                reason: self.explain(task)?.first_reason(),
            })
        });
        QueueDetail { held, counts, usage, next: shown.collect(), project }
    }
}

/// What nodes say that they keep of the output of projects that have a quota for it.
fn logs_kept(nodes: &[Node]) -> HashMap<Name, Bytes> {
    let mut kept: HashMap<Name, Bytes> = HashMap::new();
    let metrics = nodes.iter().filter_map(|node| node.lease.as_ref()?.metrics.as_ref());
    for output in metrics.flat_map(|metrics| &metrics.outputs) {
        let sum = kept.entry(output.project.clone()).or_default();
        *sum = sum.saturating_add(output.bytes);
    }
    kept
}

impl Control {
    /// What waits now; with this task at the end, if it is not among that.
    pub(super) async fn waiting(
        &self,
        read: &mut Conn,
        task: Option<&Workload>,
    ) -> Result<Waiting, Error> {
        let mut stage = Stage::open(read, self.now(), &self.config.placement).await?;
        let mut tasks = stage.next(read, LOOK).await?;
        let is_missing = |task: &&Workload| !tasks.iter().any(|other| other.id == task.id);
        if let Some(task) = task.filter(is_missing) {
            tasks.push(task.clone());
        }
        stage.enqueue(read, &tasks).await?;
        let offers = stage.scene.nodes.clone();
        Ok(Waiting { offers, outlook: Outlook::of(stage.scene), tasks: by_id(tasks) })
    }

    /// What waits in every project that the caller may see; whose turn it is first comes first.
    pub async fn queue_show(&self, cx: &Cx) -> Result<Vec<QueueDetail>, Error> {
        let visible = cx.caller.projects_with(Permission::TaskRead);
        let mut read = self.store.read().await?;
        let mut counts: BTreeMap<ProjectId, BTreeMap<String, u64>> = BTreeMap::new();
        for (project, state, count) in read.workload_count_open_by_project().await? {
            counts.entry(project).or_default().insert(state.label().to_owned(), count);
        }
        let usage = read.project_usage_all().await?;
        let logs = logs_kept(&read.node_list_all_present().await?);
        let mut projects = read.project_list_all().await?;
        projects
            .retain(|project| visible.as_ref().is_none_or(|visible| visible.contains(&project.id)));
        let waiting = self.waiting(&mut read, None).await?;
        projects.sort_by(|a, b| {
            let turn = |project: &Project| waiting.outlook.turn(project.id);
            turn(a).total_cmp(&turn(b)).then_with(|| a.name.cmp(&b.name))
        });
        let detail = |project: Project| {
            let counts = counts.remove(&project.id).unwrap_or_default();
            let mut usage = usage.get(&project.id).copied().unwrap_or_default();
            usage.logs = logs.get(&project.name).copied().unwrap_or_default();
            waiting.detail(project, counts, usage)
        };
        Ok(projects.into_iter().map(detail).collect())
    }
}
