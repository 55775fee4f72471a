//! Steps that wait for people.

use hostler_model::workflow::{ApprovalStep, StepEnd, StepResult};
use hostler_model::{
    Approval, ApprovalNeed, ApprovalPolicyId, ApprovalState, Error, EventKind, Generation,
    Permission, Span, approval_digest,
};
use serde_json::json;

use super::super::report::MESSAGE_MAX;
use super::{LOOK_AGAIN, Pass, needs_node};

/// How long people have to agree.
const PATIENCE: Span = Span::from_secs(7 * 86_400);

impl Pass<'_> {
    /// What people said to a step that waits for them.
    pub(super) async fn agreed(&mut self, step: usize) -> Result<Option<StepResult>, Error> {
        let scene = &self.change.scene;
        let approval = scene.steps[step].approval_id.and_then(|id| scene.approvals.get(&id));
        let Some(approval) = approval.cloned() else {
            return Ok(Some(StepResult::new(StepEnd::Failed, "what it waited for is gone")));
        };
        match approval.state_at(scene.now) {
            ApprovalState::Waiting => {
                self.look_within(LOOK_AGAIN);
                Ok(None)
            }
            ApprovalState::Approved | ApprovalState::Used => {
                if approval.state == ApprovalState::Approved {
                    let used = approval.ended(ApprovalState::Used, "", scene.now);
                    self.change.settled.push((approval.clone(), used));
                }
                let definition = scene.execution.graph.steps[step].clone();
                if needs_node(&definition, &scene.execution.graph.handlers) {
                    return self.begin_try(step, &definition, 1).await;
                }
                let names: Vec<String> =
                    approval.decisions.iter().map(|d| d.name.to_string()).collect();
                let words = format!("agreed to by {}", names.join(", "));
                Ok(Some(StepResult::new(StepEnd::Succeeded, words)))
            }
            state => {
                let why = match approval.why.as_str() {
                    "" => format!("its approval is {state}"),
                    why => why.to_owned(),
                };
                Ok(Some(StepResult::new(StepEnd::Failed, why)))
            }
        }
    }

    /// Asks people.
    pub(super) fn ask(&mut self, step: usize, asked: &ApprovalStep) {
        let scene = &self.change.scene;
        let execution = &scene.execution;
        let name = format!("{}/{}", execution.workflow, scene.steps[step].name);
        let parties = asked.approvers.iter().filter_map(|who| who.parse().ok()).collect();
        let what = json!({
            "execution": execution.id,
            "workflow": execution.workflow,
            "version": execution.version,
            "step": scene.steps[step].name,
            "try": scene.steps[step].tries,
            "message": asked.message,
        });
        let approval = Approval {
            id: self.control.ids.fresh(),
            project_id: Some(execution.project_id),
            verb: Permission::WorkflowRun,
            digest: approval_digest(
                Permission::WorkflowRun,
                Some(execution.project_id),
                &name,
                &what,
            ),
            name,
            what,
            requested_by: execution.created_by,
            tasks: Vec::new(),
            array_id: None,
            needs: vec![ApprovalNeed {
                policy: ApprovalPolicyId::from_uuid(execution.id.uuid()),
                name: "workflow".parse().expect("a word is a name"),
                approvals: asked.count.max(1),
                by: parties,
                approval_ttl: PATIENCE,
            }],
            decisions: Vec::new(),
            state: ApprovalState::Waiting,
            why: String::new(),
            generation: Generation::FIRST,
            time_created: scene.now,
            time_expires: scene.now.plus(PATIENCE.duration()),
            time_ended: None,
        };
        let words = match asked.message.as_str() {
            "" => format!("{} waits for somebody to agree", scene.steps[step].name),
            message => format!("{}: {message}", scene.steps[step].name),
        };
        let id = approval.id;
        self.change.asked.push(approval);
        let row = self.row(step);
        row.approval_id = Some(id);
        let how = format!("waits for somebody to agree: hostler approval approve {id}");
        let why: String = asked.message.chars().take(MESSAGE_MAX / 2).collect();
        row.message = if why.is_empty() { how } else { format!("{why}; {how}") };
        self.step_event(EventKind::ExecutionStepWaits, Some(step), words);
        self.look_within(LOOK_AGAIN);
    }
}
