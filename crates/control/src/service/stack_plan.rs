//! Plans: what a change would do is looked at, kept, and carried out as it was shown, or not at all.
//!
//! A plan is made from a stack as it is, to the last detail ([`Base::Exactly`]): when anything of it has moved, or of a stack below,
//! the plan is refused. It can be carried out once, within an hour. What it goes towards is sealed; what is shown of it has no
//! secrets, and its digest is in the audit.

use hostler_model::stack::{
    DefinitionBody, STACK_PLAN_TTL, Stack, StackAction, StackChanges, StackName, StackOptions,
    StackPlan, StackPoint,
};
use hostler_model::{
    Digest, Error, Generation, Limit, ObjectKind, ObjectRef, Page, Permission, Project, StackId,
    StackPlanId,
};
use hostler_template::diagnostic::Diagnostics;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::stack::{StackAsk, StackEdit, check_change, check_reason, check_top, stack_find};
use super::stack_apply::{Base, Ending, Making, Turn, plan_over};
use super::stack_refusal::{StackRefusal, require};
use crate::stack::{Stage, Tried, Wish};
use crate::{Control, Cx, audit_state};

/// What somebody wants to know before it is done.
#[derive(Clone, Debug)]
pub enum StackIntent {
    Create(StackAsk),
    Update {
        stack: String,
        edit: StackEdit,
    },
    Delete {
        stack: String,
        /// Though others use it.
        is_forced: bool,
        /// Why.
        reason: String,
    },
    /// It becomes as it was.
    Restore {
        stack: String,
        point: StackPoint,
        /// Why; it stands at the revision.
        reason: String,
    },
    /// What was changed behind its back is put right, and nothing else.
    Fix {
        stack: String,
        /// Why; it stands at the revision.
        reason: String,
    },
}

/// A plan with what it would do.
#[derive(Clone, Debug)]
pub struct StackPlanDetail {
    /// Without what is sealed.
    pub plan: StackPlan,
    pub stack: StackName,
    pub changes: StackChanges,
}

/// What is shown of a plan, as it is kept.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    stack: StackName,
    changes: StackChanges,
}

/// What a plan does, as it is sealed.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sealed {
    name: StackName,
    action: StackAction,
    #[serde(default)]
    body: Option<DefinitionBody>,
    options: StackOptions,
    #[serde(default)]
    is_forced: bool,
    #[serde(default)]
    below: Vec<(StackId, Generation)>,
    /// Where there is no body that says it.
    #[serde(default)]
    reason: String,
}

/// A change that is to be looked at.
struct Draft {
    stack_id: StackId,
    base: Generation,
    sealed: Sealed,
    stage: Stage,
    warnings: Vec<String>,
}

impl Control {
    /// Looks at what a change would do, and keeps it for a while to be carried out.
    pub async fn stack_plan_create(
        &self,
        cx: &Cx,
        project: &Project,
        intent: StackIntent,
    ) -> Result<StackPlanDetail, StackRefusal> {
        let draft = Box::pin(self.stack_plan_draft(cx, project, intent)).await?;
        let Draft { stack_id, base, sealed, stage, warnings } = draft;
        let tried = self.stack_try(&stage, Wish::new(sealed.action, sealed.body.clone()))?;
        if let (Some(before), Some(after)) = (&stage.scene.blueprint, &tried.blueprint)
            && let Some(problem) = before.parameters.immutable_problem(&after.parameters)
        {
            return Err(Diagnostics::from(problem).into());
        }
        let shown = Shown {
            stack: sealed.name.clone(),
            changes: changes_of(tried, sealed.action, warnings),
        };
        let changes = serde_json::to_value(&shown).map_err(Error::internal)?;
        let id: StackPlanId = self.ids.fresh();
        let text = serde_json::to_vec(&sealed).map_err(Error::internal)?;
        let now = self.now();
        let plan = StackPlan {
            id,
            project_id: project.id,
            stack_id,
            base,
            digest: Digest::from_bytes(*blake3::hash(changes.to_string().as_bytes()).as_bytes()),
            sealed: self.keyring.seal(&text, &plan_place(id)).map_err(Error::internal)?,
            changes,
            created_by: cx.actor(),
            time_created: now,
            time_expires: now.plus(STACK_PLAN_TTL.duration()),
            time_used: None,
        };
        let object = ObjectRef::new(ObjectKind::Stack, stack_id, &sealed.name);
        let own = &ObjectRef::new(ObjectKind::Stack, id, &sealed.name);
        let detail = json!({ "plan": id, "digest": plan.digest });
        let audit = &[self
            .audit(cx, "stack.plan", &object, Some(project.id), detail)
            .with_states(None, Some(&audit_state::stack_plan(&plan)))];
        let plan = &plan;
        let made = self
            .store
            .tx("stack_plan_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, own).await? {
                        return made.id.parse().map_err(Error::internal);
                    }
                    tx.stack_plan_insert(plan).await?;
                    tx.journal_append(&[], audit).await?;
                    Ok::<StackPlanId, Error>(plan.id)
                })
            })
            .await?;
        if made != plan.id {
            return self.stack_plan_get(cx, project, made).await;
        }
        let plan = StackPlan { sealed: Vec::new(), ..plan.clone() };
        Ok(StackPlanDetail { plan, stack: shown.stack, changes: shown.changes })
    }

    pub async fn stack_plan_get(
        &self,
        cx: &Cx,
        project: &Project,
        id: StackPlanId,
    ) -> Result<StackPlanDetail, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let found = self.store.read().await?.stack_plan_get(id).await?;
        let found = found.filter(|plan| plan.project_id == project.id);
        detail_of(found.ok_or_else(|| StackRefusal::missing("Plan", &id.to_string()))?)
    }

    /// Plans of a project, or of one stack of it; the newest first.
    pub async fn stack_plan_list(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: Option<&str>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackPlanDetail>, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let mut read = self.store.read().await?;
        let stack = match name_or_id {
            Some(name) => Some(stack_find(&mut read, project, name).await?.id),
            None => None,
        };
        let page = read.stack_plan_list(project.id, stack, after, limit).await?;
        let items = page.items.into_iter().map(detail_of).collect::<Result<Vec<_>, _>>()?;
        Ok(Page { items, next: page.next })
    }

    pub async fn stack_plan_remove(
        &self,
        cx: &Cx,
        project: &Project,
        id: StackPlanId,
    ) -> Result<(), StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let found = self.stack_plan_get(cx, project, id).await?;
        let object = ObjectRef::new(ObjectKind::Stack, found.plan.stack_id, &found.stack);
        let audit = &[self
            .audit(cx, "stack.plan-remove", &object, Some(project.id), json!({ "plan": id }))
            .with_states(Some(&audit_state::stack_plan(&found.plan)), None)];
        self.store
            .tx("stack_plan_remove", |tx| {
                Box::pin(async move {
                    if tx.stack_plan_delete(id).await? {
                        tx.journal_append(&[], audit).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Ok(())
    }

    /// Carries a plan out, if the stack still is as it was looked at.
    pub async fn stack_plan_apply(
        &self,
        cx: &Cx,
        project: &Project,
        id: StackPlanId,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let found = self.store.read().await?.stack_plan_get(id).await?;
        let found = found.filter(|plan| plan.project_id == project.id);
        let plan = found.ok_or_else(|| StackRefusal::missing("Plan", &id.to_string()))?;
        if plan.time_used.is_some() || plan.time_expires <= self.now() {
            return self.stack_plan_again(cx, project, &plan).await;
        }
        let text = self.keyring.open(&plan.sealed, &plan_place(id)).map_err(|error| {
            Error::unavailable(format!("what is sealed of plan {id} cannot be opened"), error)
        })?;
        let sealed: Sealed = serde_json::from_slice(&text).map_err(Error::internal)?;
        let Sealed { name, action, body, options, is_forced, below, reason } = sealed;
        let base = Base::Exactly(plan.base, below);
        let stack_id = plan.stack_id.to_string();
        match (action, body) {
            (StackAction::Create | StackAction::Adopt, Some(body)) => {
                require(cx, project, Permission::StackApply)?;
                let making =
                    Making { id: plan.stack_id, name, body, options, action, plan: Some(id) };
                Box::pin(self.stack_make(cx, project, making)).await
            }
            (_, Some(body)) => {
                require(cx, project, Permission::StackApply)?;
                let seen = self.stack_known(project, plan.stack_id).await?;
                check_change(&seen)?;
                let known = self.stack_body(&seen).await?;
                let plan = Some(id);
                let turn = Turn { seen, known, body, options, action, base, plan };
                Box::pin(self.stack_turn(cx, project, turn)).await
            }
            (_, None) => {
                let name_or_id = stack_id.as_str();
                let ending = Ending { name_or_id, is_forced, base, plan: Some(id), reason };
                Box::pin(self.stack_take_down(cx, project, ending)).await
            }
        }
    }

    /// A plan that is over: whoever asks again for what it did itself is told what came of it.
    async fn stack_plan_again(
        &self,
        cx: &Cx,
        project: &Project,
        plan: &StackPlan,
    ) -> Result<Stack, StackRefusal> {
        let name = detail_of(plan.clone())?.stack;
        let object = &ObjectRef::new(ObjectKind::Stack, plan.stack_id, &name);
        self.store
            .tx("stack_plan_apply", |tx| {
                Box::pin(async move {
                    match self.claim(tx, cx, object).await? {
                        Some(_) => Ok(()),
                        None => Err(plan_over(plan.id)),
                    }
                })
            })
            .await?;
        self.stack_known(project, plan.stack_id).await
    }

    async fn stack_plan_draft(
        &self,
        cx: &Cx,
        project: &Project,
        intent: StackIntent,
    ) -> Result<Draft, StackRefusal> {
        match intent {
            StackIntent::Create(ask) => {
                let making = self.stack_making(cx, project, ask).await?;
                self.stack_draft_new(cx, project, making).await
            }
            StackIntent::Update { stack, edit } => {
                let turn = self.stack_turning(cx, project, &stack, edit).await?;
                self.stack_draft_turn(turn).await
            }
            StackIntent::Restore { stack, point, reason } => {
                check_reason(&reason)?;
                let turn = self.stack_restoring(cx, project, &stack, point).await?;
                let turn = turn.because(&reason);
                self.stack_draft_turn(turn).await
            }
            StackIntent::Fix { stack, reason } => {
                check_reason(&reason)?;
                let turn = self.stack_fixing(cx, project, &stack).await?.because(&reason);
                self.stack_draft_turn(turn).await
            }
            StackIntent::Delete { stack, is_forced, reason } => {
                require(cx, project, Permission::StackRemove)?;
                check_reason(&reason)?;
                let mut read = self.store.read().await?;
                let seen = stack_find(&mut read, project, &stack).await?;
                if seen.is_deleted() {
                    return Err(StackRefusal::missing("stack", &stack));
                }
                check_top(&seen)?;
                let stage = self.stack_stage(&mut read, seen.clone()).await?;
                let sealed = Sealed {
                    name: seen.name.clone(),
                    action: StackAction::Delete,
                    body: None,
                    options: seen.options.clone(),
                    is_forced,
                    below: stage.generations(),
                    reason,
                };
                let (stack_id, base) = (seen.id, seen.generation);
                Ok(Draft { stack_id, base, sealed, stage, warnings: Vec::new() })
            }
        }
    }

    async fn stack_draft_new(
        &self,
        cx: &Cx,
        project: &Project,
        making: Making,
    ) -> Result<Draft, StackRefusal> {
        let Making { id, name, body, options, action, .. } = making;
        if self.store.read().await?.stack_by_name(project.id, name.as_str()).await?.is_some() {
            return Err(super::stack::exists(&name));
        }
        let stage = self.stack_stage_of(cx, project, (id, &name), &body, &options, action)?;
        let (below, reason) = (Vec::new(), String::new());
        let sealed =
            Sealed { name, action, body: Some(body), options, is_forced: false, below, reason };
        let base = Generation::ZERO;
        Ok(Draft { stack_id: id, base, sealed, stage, warnings: Vec::new() })
    }

    async fn stack_draft_turn(&self, turn: Turn) -> Result<Draft, StackRefusal> {
        let Turn { seen, body, options, action, base, .. } = turn;
        let mut read = self.store.read().await?;
        let now = read.stack_get(seen.id).await?.unwrap_or(seen);
        if let Base::Traversal(expected) = base
            && expected != now.traversal
        {
            return Err(Error::stale("stack", now.traversal).into());
        }
        let mut stage = self.stack_stage(&mut read, now.clone()).await?;
        drop(read);
        self.stack_stage_look(&mut stage, body.is_live || options.converges).await;
        let mut warnings = Vec::new();
        if now.standing.is_under_way() {
            warnings.push(
                "something is under way: the plan is refused as soon as that goes on".to_owned(),
            );
        }
        if let Some(trouble) = &stage.scene.trouble {
            warnings.push(format!("what the stack is made of now cannot be read: {trouble}"));
        }
        let sealed = Sealed {
            name: now.name.clone(),
            action,
            body: Some(body),
            options,
            is_forced: false,
            below: stage.generations(),
            reason: String::new(),
        };
        Ok(Draft { stack_id: now.id, base: now.generation, sealed, stage, warnings })
    }
}

fn changes_of(tried: Tried, action: StackAction, warnings: Vec<String>) -> StackChanges {
    let Tried { resources, parameters, outputs, .. } = tried;
    StackChanges { action, resources, parameters, outputs, warnings }
}

pub(super) fn plan_place(id: StackPlanId) -> Vec<u8> {
    format!("stack-plan/{id}").into_bytes()
}

fn detail_of(mut plan: StackPlan) -> Result<StackPlanDetail, StackRefusal> {
    let shown: Shown = serde_json::from_value(plan.changes.clone()).map_err(Error::internal)?;
    plan.sealed = Vec::new();
    Ok(StackPlanDetail { plan, stack: shown.stack, changes: shown.changes })
}
