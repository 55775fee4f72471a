//! Changes of stacks are written, by whoever asks for them directly and by whoever carries out a plan.
//!
//! In one transaction: that nobody else has locked the stack, that it is as it was when it was looked at, what it uses of other
//! stacks and that no circle arises, that a plan is used once, and the definition with the beginning of the change.

use hostler_model::stack::{
    DefinitionBody, Stack, StackAction, StackName, StackOptions, StackStatus,
};
use hostler_model::{
    Error, EventKind, Generation, Mandate, Permission, Project, StackId, StackPlanId,
};
use hostler_store::Tx;
use serde_json::json;

use super::project::taken;
use super::quota::room_for_stack;
use super::stack::{check_change, check_top, exists, stack_find, why_detail};
use super::stack_approval::{StackDeed, To};
use super::stack_refusal::{StackRefusal, require};
use crate::stack::{Blueprint, NewStack, stack_object};
use crate::{Control, Cx, audit_state};

/// How a stack has to be for a change to be written.
#[derive(Clone, Debug)]
pub(super) enum Base {
    Any,
    /// The traversal that the caller has seen.
    Traversal(Generation),
    /// As it was to the last detail, with every stack below.
    Exactly(Generation, Vec<(StackId, Generation)>),
}

/// A stack that is to be made.
pub(super) struct Making {
    pub id: StackId,
    pub name: StackName,
    pub body: DefinitionBody,
    pub options: StackOptions,
    /// [`StackAction::Create`] or [`StackAction::Adopt`].
    pub action: StackAction,
    pub plan: Option<StackPlanId>,
}

/// A stack that is to go towards another definition.
pub(super) struct Turn {
    pub seen: Stack,
    /// What it is made of now.
    pub known: Option<DefinitionBody>,
    pub body: DefinitionBody,
    pub options: StackOptions,
    /// [`StackAction::Update`] or [`StackAction::Restore`].
    pub action: StackAction,
    pub base: Base,
    pub plan: Option<StackPlanId>,
}

impl Turn {
    /// What is done by itself has a reason of its own; this is why somebody wants it.
    pub(super) fn because(mut self, reason: &str) -> Turn {
        let own = &mut self.body.reason;
        match (own.is_empty(), reason.is_empty()) {
            (_, true) => {}
            (true, false) => reason.clone_into(own),
            (false, false) => *own = format!("{own}: {reason}"),
        }
        self
    }
}

/// A stack that is to go.
pub(super) struct Ending<'a> {
    pub name_or_id: &'a str,
    /// Though others use it.
    pub is_forced: bool,
    pub base: Base,
    pub plan: Option<StackPlanId>,
    pub reason: String,
}

impl<'a> Ending<'a> {
    pub(super) fn of(name_or_id: &'a str) -> Ending<'a> {
        let (base, reason) = (Base::Any, String::new());
        Ending { name_or_id, is_forced: false, base, plan: None, reason }
    }
}

impl Control {
    pub(super) async fn stack_make(
        &self,
        cx: &Cx,
        project: &Project,
        making: Making,
    ) -> Result<Stack, StackRefusal> {
        let Making { id, name, body, options, action, plan } = making;
        let why = body.reason.clone();
        let (stack, definition) = self.stack_draft(NewStack {
            id,
            project_id: project.id,
            name,
            body: &body,
            options,
            mandate: Mandate::of(&cx.caller, project.id),
            created_by: cx.actor(),
            action,
            above: None,
        })?;
        self.stack_plugins_here([&body]).await?;
        let blueprint = Blueprint::read(&stack, definition.id, body.clone(), &self.stack_catalog)?;
        let deed = StackDeed {
            verb: Permission::StackApply,
            name: &stack.name,
            seen: None,
            action,
            options: &stack.options,
            to: To::Definition(&body, &blueprint),
            is_forced: false,
            plan,
            reason: &why,
        };
        let pass = &self.stack_pass(cx, project, &deed, true).await?;
        let uses = &blueprint.dependencies(&stack);
        let news = [
            self.stack_told(cx, &stack, EventKind::StackCreated, "asked for"),
            self.stack_begun_told(cx, &stack, &why),
        ];
        let object = stack_object(&stack);
        let mut detail = why_detail(&why);
        detail["plan"] = json!(plan);
        let audit = [self
            .audit(cx, "stack.create", &object, Some(project.id), detail)
            .with_states(None, Some(&audit_state::stack(&stack)))];
        let (stack, definition, object) = (&stack, &definition, &object);
        let (news, audit) = (&news, &audit);
        let made = self
            .store
            .tx("stack_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return made.id.parse().map_err(|e| Error::internal(e).into());
                    }
                    self.stack_unlocked(tx, cx, project, &stack.name).await?;
                    if tx.stack_by_name(project.id, stack.name.as_str()).await?.is_some() {
                        return Err(exists(&stack.name));
                    }
                    room_for_stack(tx, project).await?;
                    self.stack_plan_used(tx, plan).await?;
                    let entered = self.stack_enter(tx, stack, definition).await;
                    entered.map_err(|e| taken(e, "stack", &stack.name))?;
                    self.stack_uses_keep(tx, stack, uses).await?;
                    self.approval_use(tx, cx, pass).await?;
                    tx.journal_append(news, audit).await?;
                    Ok::<StackId, StackRefusal>(stack.id)
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.stacks_changed();
        self.stack_known(project, made).await
    }

    pub(super) async fn stack_turn(
        &self,
        cx: &Cx,
        project: &Project,
        turn: Turn,
    ) -> Result<Stack, StackRefusal> {
        let Turn { seen, known, body, options, action, base, plan } = turn;
        let key = self.stack_key(&seen)?;
        let definition = self.stack_definition(&key, seen.id, &body, cx.actor())?;
        self.stack_plugins_here([Some(&body), known.as_ref()].into_iter().flatten()).await?;
        let after = Blueprint::read(&seen, definition.id, body.clone(), &self.stack_catalog)?;
        self.stack_keeps_immutable(&seen, known, &after)?;
        let why = body.reason.as_str();
        let deed = StackDeed {
            verb: Permission::StackApply,
            name: &seen.name,
            seen: Some(&seen),
            action,
            options: &options,
            to: To::Definition(&body, &after),
            is_forced: false,
            plan,
            reason: why,
        };
        let pass = &self.stack_pass(cx, project, &deed, true).await?;
        let (seen, options, definition, body) = (&seen, &options, &definition, &body);
        let (uses, base) = (&after.dependencies(seen), &base);
        let word = match action {
            StackAction::Restore => "stack.restore",
            _ => "stack.update",
        };
        self.store
            .tx("stack_update", |tx| {
                Box::pin(async move {
                    let before = self.stack_again(tx, seen).await?;
                    if self.claim(tx, cx, &stack_object(&before)).await?.is_some() {
                        return Ok(());
                    }
                    self.stack_unlocked(tx, cx, project, &before.name).await?;
                    check_change(&before)?;
                    if before.wanted != seen.wanted {
                        return Err(Error::stale("stack", before.traversal).into());
                    }
                    self.stack_is_at(tx, &before, base).await?;
                    self.stack_plan_used(tx, plan).await?;
                    let mut after = Stack {
                        options: options.clone(),
                        mandate: Mandate::of(&cx.caller, project.id),
                        ..before.clone()
                    };
                    self.stack_begin(tx, &mut after, action, Some((definition, body))).await?;
                    self.stack_uses_keep(tx, &after, uses).await?;
                    self.approval_use(tx, cx, pass).await?;
                    self.stack_journal(tx, cx, word, &before, &after, why).await
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.stacks_changed();
        self.stack_known(project, seen.id).await
    }

    pub(super) async fn stack_take_down(
        &self,
        cx: &Cx,
        project: &Project,
        ending: Ending<'_>,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, Permission::StackRemove)?;
        let seen = {
            let mut read = self.store.read().await?;
            stack_find(&mut read, project, ending.name_or_id).await?
        };
        if seen.is_deleted() {
            return Err(StackRefusal::missing("stack", ending.name_or_id));
        }
        check_top(&seen)?;
        let deed = StackDeed {
            is_forced: ending.is_forced,
            plan: ending.plan,
            reason: &ending.reason,
            ..StackDeed::of_end(&seen)
        };
        let is_change = !is_going(&seen);
        let pass = &self.stack_pass(cx, project, &deed, is_change).await?;
        let (seen, ending) = (&seen, &ending);
        self.store
            .tx("stack_delete", |tx| {
                Box::pin(async move {
                    let before = self.stack_again(tx, seen).await?;
                    let is_claimed = self.claim(tx, cx, &stack_object(&before)).await?.is_some();
                    if is_claimed || is_going(&before) {
                        return Ok(());
                    }
                    self.stack_unlocked(tx, cx, project, &before.name).await?;
                    self.stack_is_at(tx, &before, &ending.base).await?;
                    if !ending.is_forced {
                        self.stack_unused(tx, &before).await?;
                    }
                    self.stack_plan_used(tx, ending.plan).await?;
                    let mut after = before.clone();
                    self.stack_begin(tx, &mut after, StackAction::Delete, None).await?;
                    self.approval_use(tx, cx, pass).await?;
                    let why = &ending.reason;
                    self.stack_journal(tx, cx, "stack.delete", &before, &after, why).await
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.stacks_changed();
        self.stack_known(project, seen.id).await
    }

    /// Whether a stack still is as it was when a change was looked at.
    async fn stack_is_at(
        &self,
        tx: &mut Tx<'_>,
        stack: &Stack,
        base: &Base,
    ) -> Result<(), StackRefusal> {
        let is_moved = match base {
            Base::Any => false,
            Base::Traversal(seen) => *seen != stack.traversal,
            Base::Exactly(seen, below) => {
                let now = tx.stack_below(stack.id).await?;
                let is_known = |one: &Stack| below.contains(&(one.id, one.generation));
                *seen != stack.generation || now.len() != below.len() || !now.iter().all(is_known)
            }
        };
        match is_moved {
            true => Err(Error::stale("stack", stack.traversal).into()),
            false => Ok(()),
        }
    }

    /// A plan is carried out only once, and not when it has expired.
    async fn stack_plan_used(
        &self,
        tx: &mut Tx<'_>,
        plan: Option<StackPlanId>,
    ) -> Result<(), StackRefusal> {
        let Some(plan) = plan else { return Ok(()) };
        match tx.stack_plan_use(plan, self.now()).await? {
            true => Ok(()),
            false => Err(plan_over(plan)),
        }
    }
}

fn is_going(stack: &Stack) -> bool {
    stack.standing.action == StackAction::Delete && stack.standing.status == StackStatus::InProgress
}

pub(super) fn plan_over(plan: StackPlanId) -> StackRefusal {
    let text = format!("the plan {plan} was carried out before, or has expired");
    StackRefusal::state("NotSupported", text, "make another plan and look at it")
}
