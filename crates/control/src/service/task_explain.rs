//! Why a task is where it is: every reason, for every node.

use hostler_engine::place::{self, Ask};
use hostler_model::{Error, NodeState, Project, TaskState};

use super::task::find;
use crate::reconcile::placement::offers;
use crate::{Control, Cx, Explanation, NodeExplanation};

impl Control {
    pub async fn task_explain(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Explanation, Error> {
        let mut read = self.store.read().await?;
        let workload = find(&mut read, project, name_or_id).await?;
        let state = workload.state.kind();
        let plain = |summary: String, hints: Vec<String>| Explanation {
            state,
            summary,
            nodes: Vec::new(),
            hints,
        };
        let name = &workload.name;
        Ok(match &workload.state {
            TaskState::Pending => {
                let offers = offers(&mut read).await?;
                let ask = Ask {
                    workload_id: workload.id,
                    resources: workload.spec.resources,
                    rules: workload.spec.placement.clone(),
                };
                let judged: Vec<_> =
                    offers.iter().map(|node| (node, place::reasons(&ask, node))).collect();
                let fitting = judged.iter().filter(|(_, reasons)| reasons.is_empty()).count();
                let hopeless =
                    judged.iter().all(|(_, reasons)| reasons.iter().any(|r| !r.is_passing()));
                let summary = match (judged.len(), fitting) {
                    (0, _) => "there is no node".to_owned(),
                    (_, 0) if hopeless => {
                        format!("none of {} nodes can ever run it as it is", judged.len())
                    }
                    (_, 0) => format!("none of {} nodes can run it now", judged.len()),
                    (_, fitting) => format!(
                        "{fitting} of {} nodes fit; it will be placed in a moment",
                        judged.len()
                    ),
                };
                let mut hints = Vec::new();
                if judged.is_empty() {
                    hints.push("add a node: `hostler node token create`, then run the command it prints on the machine".to_owned());
                } else if fitting == 0 && hopeless {
                    hints.push("ask for less, or for other labels or another node, or add a node that fits".to_owned());
                } else if fitting == 0 {
                    hints.push(
                        "it starts by itself when one of the passing reasons below goes away"
                            .to_owned(),
                    );
                }
                if judged
                    .iter()
                    .any(|(node, _)| node.cordon.is_some() && node.state == NodeState::Online)
                {
                    hints.push(
                        "`hostler node uncordon NODE` lets a cordoned node take work again"
                            .to_owned(),
                    );
                }
                let nodes = judged
                    .into_iter()
                    .map(|(node, reasons)| NodeExplanation {
                        node: node.name.clone(),
                        labels: node.labels.clone(),
                        reasons: reasons.iter().map(ToString::to_string).collect(),
                    })
                    .collect();
                Explanation { state, summary, nodes, hints }
            }
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
                plain(
                    summary,
                    vec![
                        "a node that stays silent is declared lost, and the task with it"
                            .to_owned(),
                    ],
                )
            }
            TaskState::Running { .. } => plain(
                "it is running".to_owned(),
                vec![format!("`hostler task logs -f {name}` follows its output")],
            ),
            TaskState::Completed { exit, .. } => {
                plain(format!("it has ended well: {exit}"), Vec::new())
            }
            TaskState::Failed { exit, .. } => plain(
                format!("it has ended badly: {exit}"),
                vec![format!("`hostler task logs {name}` shows what it said")],
            ),
            TaskState::Killed { exit, .. } => plain(
                exit.as_ref().map_or_else(
                    || "it was stopped before it ran".to_owned(),
                    |exit| format!("it was stopped: {exit}"),
                ),
                Vec::new(),
            ),
            TaskState::Lost { why, .. } => plain(
                format!("it was lost: {why}"),
                vec![
                    "if its node comes back, its true end is recorded; otherwise submit it again"
                        .to_owned(),
                ],
            ),
        })
    }
}
