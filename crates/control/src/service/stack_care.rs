//! What executions of workflows ask of stacks: what anybody may ask for, under ids that were chosen before, so that asking
//! again after a server died is the same question.

use hostler_model::stack::{Stack, StackPoint, StackSnapshot, StackStatus};
use hostler_model::workflow::{CarePhase, CareStanding, ExecutionOptions, StackCare, Workflow};
use hostler_model::{
    Code, Diagnostic, Error, ExecutionId, Generation, Limit, Mandate, Need, Permission, Project,
    StackSnapshotId,
};

use super::stack::{check_change, stack_find};
use super::stack_apply::Base;
use super::stack_refusal::StackRefusal;
use crate::{Control, Cx};

/// How many snapshots of executions a stack keeps.
const KEPT: usize = 8;
/// What the names of snapshots of executions begin with.
const SNAPSHOT: &str = "execution-";

impl Control {
    /// What an execution is to do for its stack, and in whose name its steps change it; nothing where it has none.
    pub(super) async fn execution_care(
        &self,
        cx: &Cx,
        project: &Project,
        graph: &Workflow,
        options: &ExecutionOptions,
    ) -> Result<Option<StackCare>, Error> {
        let refused =
            |text: String| Err(Error::invalid(vec![Diagnostic::new("/options/stack", text)]));
        let wanted = graph.config.care();
        let asked = graph.asks_for_stack();
        let named = match (&options.stack, &graph.stack, asked) {
            (Some(name), _, _) | (None, Some(name), Some(_)) => name,
            (None, None, Some(asked)) => {
                return refused(format!(
                    "`{asked}` of `{}` needs a stack; say `stack(\"NAME\")` in the file, or name it with --stack",
                    graph.name
                ));
            }
            (None, Some(name), None) => name,
            (None, None, None) => return Ok(None),
        };
        let mut read = self.store.read().await?;
        let stack = match stack_find(&mut read, project, named).await {
            Ok(stack) if !stack.is_deleted() => stack,
            Err(refusal) if refusal.error.code != Code::NotFound => return Err(refusal.into()),
            // Files for other systems name stacks that nobody made; their steps are told when they ask for it.
            Ok(_) | Err(_) if asked.is_none() && options.stack.is_none() => return Ok(None),
            Ok(_) | Err(_) => {
                return refused(format!(
                    "there is no stack `{named}` in project `{}`; make it with `hostler stack apply`, or name another with --stack",
                    project.name
                ));
            }
        };
        let allowed =
            self.authorise(&cx.caller, Need::of(Permission::StackApply, Some(project.id)));
        if wanted.is_empty() {
            if allowed.is_err() {
                return Ok(None);
            }
        } else {
            check_change(&stack)?;
            allowed?;
        }
        let phase =
            |kind| CarePhase { kind, standing: CareStanding::Waiting, message: String::new() };
        Ok(Some(StackCare {
            stack: stack.name,
            stack_id: stack.id,
            mandate: Mandate::of(&cx.caller, project.id),
            hold: self.ids.fresh(),
            patience: graph.config.lock_timeout.unwrap_or(StackCare::PATIENCE),
            snapshot: self.ids.fresh(),
            revision: 0,
            phases: wanted.into_iter().map(phase).collect(),
            way: None,
            failure: None,
        }))
    }

    /// The snapshot that an execution wants, which is begun where it is not there; nothing while something else is done to
    /// the stack.
    pub(crate) async fn stack_snapshot_for(
        &self,
        cx: &Cx,
        project: &Project,
        stack: &Stack,
        execution: ExecutionId,
        id: StackSnapshotId,
    ) -> Result<Option<StackSnapshot>, Error> {
        if let Some(found) = self.store.read().await?.stack_snapshot_get(id).await? {
            return Ok(Some(found));
        }
        if stack.standing.is_under_way() {
            return Ok(None);
        }
        self.stack_snapshots_thin(cx, project, stack).await?;
        let name = format!("{SNAPSHOT}{execution}");
        let at = stack.id.to_string();
        let made = self.stack_snapshot_create_as(cx, project, &at, &name, id).await;
        match made {
            Ok(made) => Ok(Some(made)),
            // Somebody was faster with the stack, or with this very snapshot.
            Err(refusal) if refusal.kind == "ActionInProgress" => {
                Ok(self.store.read().await?.stack_snapshot_get(id).await?)
            }
            Err(refusal) => Err(refusal.into()),
        }
    }

    /// Forgets old snapshots of executions that are over.
    async fn stack_snapshots_thin(
        &self,
        cx: &Cx,
        project: &Project,
        stack: &Stack,
    ) -> Result<(), Error> {
        let mut read = self.store.read().await?;
        let all = read.stack_snapshot_list(stack.id, None, Limit::LARGEST).await?.items;
        let of_execution = |one: &StackSnapshot| -> Option<ExecutionId> {
            one.name.strip_prefix(SNAPSHOT)?.parse().ok()
        };
        let mut own: Vec<(ExecutionId, StackSnapshot)> = all
            .into_iter()
            .filter(|one| one.status != StackStatus::InProgress)
            .filter_map(|one| Some((of_execution(&one)?, one)))
            .collect();
        own.sort_by_key(|(_, one)| std::cmp::Reverse((one.time_created, one.id)));
        let mut gone = Vec::new();
        for (execution, one) in own.into_iter().skip(KEPT - 1) {
            let found = read.execution_get(execution).await?;
            if found.is_none_or(|found| found.state.is_over()) {
                gone.push(one.id);
            }
        }
        drop(read);
        for id in gone {
            self.stack_snapshot_remove(cx, project, &stack.id.to_string(), id).await?;
        }
        Ok(())
    }

    /// Begins to bring a stack back to what it was, with its objects looked at as they really are, unless somebody changed it
    /// since.
    pub(crate) async fn stack_roll_back(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        point: StackPoint,
        since: Generation,
        why: &str,
    ) -> Result<Stack, StackRefusal> {
        let mut turn = self.stack_restoring(cx, project, name_or_id, point).await?.because(why);
        turn.body.is_live = true;
        turn.base = Base::Traversal(since);
        self.stack_turn(cx, project, turn).await
    }
}
