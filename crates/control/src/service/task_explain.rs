//! Why a task is where it is: every reason, for every node, and what would help.

use hostler_engine::place::{QueueReason, Reason};
use hostler_model::{Desired, Error, NodeId, NodeState, Project, RunId, TaskState, Workload};
use hostler_store::Conn;

use super::task::find;
use crate::{Control, Cx, Explanation, NodeExplanation};

impl Control {
    pub async fn task_explain(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Explanation, Error> {
        let mut read = self.store.read().await?;
        let task = find(&mut read, project, name_or_id).await?;
        let state = task.state.kind();
        if let TaskState::Pending = task.state {
            return self.explain_waiting(&mut read, &task).await;
        }
        let (mut summary, mut hints) = settled(&mut read, &task).await?;
        if let TaskState::PendingApproval = task.state
            && let Some(approval) = read.approval_of_task(task.id).await?
        {
            let (who, command) = Control::approval_words(&approval);
            summary = format!("{summary}, until {}", approval.time_expires);
            hints.push(format!("who can agree: {who}"));
            hints.push(format!("they type {command}"));
        }
        let waiting = waiting_on_node(&mut read, &task).await?;
        drop(read);
        let readiness = match waiting {
            Some((node, run)) => self.readiness(node, run).await,
            None => None,
        };
        if let Some(readiness) = &readiness {
            let words = readiness.words(self.now());
            summary = match task.state {
                TaskState::Running { .. } => format!("its program has ended: {words}"),
                _ => format!("{summary}: {words}"),
            };
        }
        let (nodes, trace) = (Vec::new(), task.trace);
        Ok(Explanation { state, summary, nodes, hints, readiness, trace })
    }

    async fn explain_waiting(
        &self,
        read: &mut Conn,
        task: &Workload,
    ) -> Result<Explanation, Error> {
        let state = task.state.kind();
        let mut before = waits_for(read, task).await?;
        if let Some(time) = task.time_ready.filter(|time| *time > self.now()) {
            before.push(QueueReason::NotBefore { time }.to_string());
        }
        if task.desired == Desired::Pause {
            before.push("it is held back: it was paused before it was placed".to_owned());
        }
        let waiting = self.waiting(read, Some(task)).await?;
        let offers = &waiting.offers;
        let explained = waiting.explain(task).unwrap_or_default();
        let nodes: Vec<NodeExplanation> = offers
            .iter()
            .map(|offer| NodeExplanation {
                node: offer.name.clone(),
                labels: offer.labels.clone(),
                reasons: explained
                    .nodes
                    .iter()
                    .find(|(id, _, _)| *id == offer.id)
                    .map(|(_, _, reasons)| reasons.iter().map(ToString::to_string).collect())
                    .unwrap_or_default(),
            })
            .collect();
        let summary = before.first().cloned().unwrap_or_else(|| explained.summary());
        let mut hints: Vec<String> = before.into_iter().skip(1).collect();
        hints.extend(
            explained.queue.iter().map(ToString::to_string).filter(|text| *text != summary),
        );
        if offers.is_empty() {
            hints.push("add a node: `hostler node token create`, then run the command it prints on the machine".to_owned());
        } else if explained.is_hopeless() {
            if explained.nodes.iter().any(|(_, _, found)| *found == [Reason::NoEngine]) {
                hints.push(
                    "install or start a container engine on a node; its agent notices".to_owned(),
                );
            }
            hints.push(
                "ask for less, or for other labels or another node, or add a node that fits"
                    .to_owned(),
            );
        } else if explained.decision.is_none() {
            hints.push("it starts by itself when one of the passing reasons goes away".to_owned());
        }
        if offers.iter().any(|node| node.cordon.is_some() && node.state == NodeState::Online) {
            hints.push(
                "`hostler node uncordon NODE` lets a cordoned node take work again".to_owned(),
            );
        }
        let (readiness, trace) = (None, task.trace);
        Ok(Explanation { state, summary, nodes, hints, readiness, trace })
    }
}

/// The run that a node may have to say something of: what it needs to start, or what it left.
async fn waiting_on_node(
    read: &mut Conn,
    task: &Workload,
) -> Result<Option<(NodeId, RunId)>, Error> {
    match &task.state {
        TaskState::Assigning { placement } => {
            let placement = read.placement_get(*placement).await?;
            Ok(placement.and_then(|it| Some((it.node_id, it.run_id?))))
        }
        TaskState::Running { run, .. } if !task.spec.outputs.is_empty() => {
            let run = read.run_get(*run).await?;
            Ok(run.map(|run| (run.node_id, run.id)))
        }
        _ => Ok(None),
    }
}

/// What a task waits for before any node is looked at.
async fn waits_for(read: &mut Conn, task: &Workload) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for waiting in read.task_after_of(task.id).await? {
        let name = match (waiting.on_id.parse(), waiting.on_id.parse()) {
            (Ok(id), _) if read.workload_get(id).await?.is_some() => {
                read.workload_get(id).await?.map(|task| task.name.to_string())
            }
            (_, Ok(id)) => read.task_array_get(id).await?.map(|s| s.array.name.to_string()),
            _ => None,
        };
        let task = name.unwrap_or(waiting.on_id);
        found.push(QueueReason::After { task, on: waiting.condition }.to_string());
    }
    Ok(found)
}

/// A task that does not wait for a node: what to say of it, and what helps.
async fn settled(read: &mut Conn, task: &Workload) -> Result<(String, Vec<String>), Error> {
    let name = &task.name;
    let again = format!("`hostler task retry {name}` puts it back into the queue");
    let logs = format!("`hostler task logs {name}` shows what it said");
    Ok(match &task.state {
        TaskState::Pending => (String::new(), Vec::new()),
        TaskState::PendingApproval => ("it waits for somebody to agree".to_owned(), Vec::new()),
        TaskState::Rejected { why, .. } => (format!("it was rejected: {why}"), Vec::new()),
        TaskState::Assigning { placement } => {
            let node = match read.placement_get(*placement).await? {
                Some(placement) => read.node_get(placement.node_id).await?,
                None => None,
            };
            let summary = match node {
                Some(node) => format!(
                    "given to node `{}` ({}), which has not started it yet",
                    node.name, node.state
                ),
                None => "given to a node that is gone".to_owned(),
            };
            let hint = "a node that stays silent is declared lost, and the task with it";
            (summary, vec![hint.to_owned()])
        }
        TaskState::Running { .. } => (
            "it is running".to_owned(),
            vec![format!("`hostler task logs -f {name}` follows its output")],
        ),
        TaskState::Paused { .. } => (
            "it is paused: it keeps what it holds, and gets no processor time".to_owned(),
            vec![format!("`hostler task resume {name}` lets it go on")],
        ),
        TaskState::Completed { exit, .. } => (format!("it has ended well: {exit}"), Vec::new()),
        TaskState::Failed { run: None, exit } => (format!("it never ran: {exit}"), vec![again]),
        TaskState::Failed { exit, .. } => {
            (format!("it has ended badly: {exit}"), vec![logs, again])
        }
        TaskState::KilledOom { exit, .. } => (
            format!("the kernel killed it for memory: {exit}"),
            vec!["ask for more with `limits.memory`".to_owned(), logs, again],
        ),
        TaskState::Stopped { exit, .. } => {
            (format!("it was stopped by Hostler: {exit}"), vec![again])
        }
        TaskState::Killed { exit, .. } => (
            exit.as_ref().map_or_else(
                || "it was stopped before it ran".to_owned(),
                |exit| format!("it was stopped: {exit}"),
            ),
            vec![again],
        ),
        TaskState::Lost { why, .. } => (
            format!("it was lost: {why}"),
            vec!["if its node comes back, its true end is recorded".to_owned(), again],
        ),
    })
}
