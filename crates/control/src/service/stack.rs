//! Stacks are asked for, changed and taken down.
//!
//! Everything is looked at before anything is written ([`super::stack_form`]). What is written is the definition, and that the
//! stack begins to go towards it; the rest is done by whoever carries stacks on.

use hostler_model::stack::{
    DefinitionBody, Stack, StackAction, StackName, StackOptions, StackStatus,
};
use hostler_model::{
    Error, EventKind, Generation, Mandate, NewEvent, Permission, Project, Span, StackId,
};
use hostler_store::{Conn, Tx};
use hostler_template::diagnostic::Diagnostics;
use serde_json::{Map, Value, json};

use super::approval_gate::{Deed, Pass, What};
use super::project::taken;
use super::quota::room_for_stack;
use super::stack_form::{Reading, StackForm, check_options};
use super::stack_refusal::{StackRefusal, require};
use crate::stack::{Blueprint, NewStack, identity_of, stack_object, stack_payload};
use crate::{Control, Cx, audit_state};

/// A stack that is to be made.
#[derive(Clone, Debug)]
pub struct StackAsk {
    pub name: StackName,
    pub form: StackForm,
    pub options: StackOptions,
    /// Resources that are taken over instead of being made, by name, as an exported document has them.
    pub left: Option<Map<String, Value>>,
}

/// How a stack is to be changed. What is not said stays as it is.
#[derive(Clone, Debug, Default)]
pub struct StackEdit {
    pub form: StackForm,
    /// The form says only what is to change.
    pub is_patch: bool,
    /// Parameters whose values are forgotten; of a patch.
    pub clear_parameters: Vec<String>,
    pub is_rollback_enabled: Option<bool>,
    pub timeout: Option<Span>,
    pub tags: Option<Vec<String>>,
    pub converges: Option<bool>,
    pub at_once: Option<u32>,
    /// The traversal that the caller has seen.
    pub expected: Option<Generation>,
}

/// A template that was looked at, for whoever only wants to know.
#[derive(Clone, Debug)]
pub struct StackChecked {
    /// As Heat tells of it.
    pub summary: Value,
    pub warnings: Diagnostics,
    pub resources: usize,
}

impl StackEdit {
    fn options(&self, known: &StackOptions) -> StackOptions {
        StackOptions {
            is_rollback_enabled: self.is_rollback_enabled.unwrap_or(known.is_rollback_enabled),
            timeout: self.timeout.or(known.timeout),
            tags: self.tags.clone().unwrap_or_else(|| known.tags.clone()),
            converges: self.converges.unwrap_or(known.converges),
            at_once: self.at_once.or(known.at_once),
        }
    }
}

impl Control {
    /// Looks at a template without making anything of it.
    pub fn stack_check(
        &self,
        cx: &Cx,
        project: &Project,
        form: &StackForm,
        needs_values: bool,
        with_nested: bool,
    ) -> Result<StackChecked, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let identity = hostler_template::parameter::Identity::nobody();
        let options = StackOptions::default();
        let reading = Reading { identity: &identity, options: &options, known: None, needs_values };
        let formed = self.stack_formed(form, &reading)?;
        Ok(StackChecked {
            summary: formed.validated.summary(&formed.template, with_nested),
            resources: formed.validated.loaded.resources.len(),
            warnings: formed.validated.warnings,
        })
    }

    /// Begins to make a stack, or to take over what another one left.
    pub async fn stack_create(
        &self,
        cx: &Cx,
        project: &Project,
        ask: StackAsk,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let StackAsk { name, form, options, left } = ask;
        check_options(&options)?;
        let id: StackId = self.ids.fresh();
        let identity = identity_of(project.id, &name, id);
        let reading =
            Reading { identity: &identity, options: &options, known: None, needs_values: true };
        let mut body = self.stack_formed(&form, &reading)?.body;
        let action = if left.is_some() { StackAction::Adopt } else { StackAction::Create };
        body.left = left.unwrap_or_default();
        let pass = &self.stack_pass(cx, project, Permission::StackApply, &name, &body).await?;
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
        Blueprint::read(&stack, definition.id, body, &self.stack_catalog)?;
        let news = [
            self.stack_told(cx, &stack, EventKind::StackCreated, "asked for"),
            self.stack_told(cx, &stack, EventKind::StackBegun, stack.standing.reason.clone()),
        ];
        let object = stack_object(&stack);
        let audit = [self
            .audit(cx, "stack.create", &object, Some(project.id), json!({}))
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
                    if tx.stack_by_name(project.id, stack.name.as_str()).await?.is_some() {
                        return Err(exists(&stack.name));
                    }
                    room_for_stack(tx, project).await?;
                    let entered = self.stack_enter(tx, stack, definition).await;
                    entered.map_err(|e| taken(e, "stack", &stack.name))?;
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

    /// Begins to change a stack.
    pub async fn stack_update(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        edit: StackEdit,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let seen = {
            let mut read = self.store.read().await?;
            stack_find(&mut read, project, name_or_id).await?
        };
        check_change(&seen)?;
        let options = edit.options(&seen.options);
        check_options(&options)?;
        let (key, known) = (self.stack_key(&seen)?, self.stack_body(&seen).await?);
        let identity = identity_of(project.id, &seen.name, seen.id);
        let patched = known.as_ref().filter(|_| edit.is_patch);
        let reading = Reading {
            identity: &identity,
            options: &options,
            known: patched.map(|known| (known, edit.clear_parameters.as_slice())),
            needs_values: true,
        };
        let body = self.stack_formed(&edit.form, &reading)?.body;
        let definition = self.stack_definition(&key, seen.id, &body, cx.actor())?;
        let after = Blueprint::read(&seen, definition.id, body.clone(), &self.stack_catalog)?;
        self.stack_keeps_immutable(&seen, known, &after)?;
        let pass = &self.stack_pass(cx, project, Permission::StackApply, &seen.name, &body).await?;
        let (seen, options, definition, body) = (&seen, &options, &definition, &body);
        let expected = edit.expected;
        self.store
            .tx("stack_update", |tx| {
                Box::pin(async move {
                    let before = self.stack_again(tx, seen).await?;
                    if self.claim(tx, cx, &stack_object(&before)).await?.is_some() {
                        return Ok(());
                    }
                    check_change(&before)?;
                    let is_moved = expected.is_some_and(|known| known != before.traversal);
                    if is_moved || before.wanted != seen.wanted {
                        return Err(Error::stale("stack", before.traversal).into());
                    }
                    let mut after = Stack {
                        options: options.clone(),
                        mandate: Mandate::of(&cx.caller, project.id),
                        ..before.clone()
                    };
                    let change = Some((definition, body));
                    self.stack_begin(tx, &mut after, StackAction::Update, change).await?;
                    self.approval_use(tx, cx, pass).await?;
                    self.stack_journal(tx, cx, "stack.update", &before, &after).await
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.stacks_changed();
        self.stack_known(project, seen.id).await
    }

    /// Begins to take a stack down, whatever is under way.
    pub async fn stack_delete(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, Permission::StackRemove)?;
        let seen = {
            let mut read = self.store.read().await?;
            stack_find(&mut read, project, name_or_id).await?
        };
        if seen.is_deleted() {
            return Err(StackRefusal::missing("stack", name_or_id));
        }
        check_top(&seen)?;
        let deed = Deed {
            verb: Permission::StackRemove,
            project: Some(project),
            name: seen.name.to_string(),
            what: What::Plain(json!({ "stack": seen.id })),
            specs: Vec::new(),
            node: None,
        };
        let pass = &self.approval_pass(cx, &deed).await?;
        let seen = &seen;
        self.store
            .tx("stack_delete", |tx| {
                Box::pin(async move {
                    let before = self.stack_again(tx, seen).await?;
                    let is_going = before.standing.action == StackAction::Delete
                        && before.standing.status == StackStatus::InProgress;
                    let is_claimed = self.claim(tx, cx, &stack_object(&before)).await?.is_some();
                    if is_claimed || is_going {
                        return Ok(());
                    }
                    let mut after = before.clone();
                    self.stack_begin(tx, &mut after, StackAction::Delete, None).await?;
                    self.approval_use(tx, cx, pass).await?;
                    self.stack_journal(tx, cx, "stack.delete", &before, &after).await
                })
            })
            .await?;
        self.approval_done(cx, pass);
        self.stacks_changed();
        self.stack_known(project, seen.id).await
    }

    /// Parameters that may never change are as they were.
    fn stack_keeps_immutable(
        &self,
        stack: &Stack,
        known: Option<DefinitionBody>,
        after: &Blueprint,
    ) -> Result<(), StackRefusal> {
        let (Some(known), Some(id)) = (known, stack.wanted) else { return Ok(()) };
        let Ok(before) = Blueprint::read(stack, id, known, &self.stack_catalog) else {
            return Ok(());
        };
        match before.parameters.immutable_problem(&after.parameters) {
            Some(problem) => Err(Diagnostics::from(problem).into()),
            None => Ok(()),
        }
    }

    /// Whether somebody else has to agree that this is made.
    async fn stack_pass(
        &self,
        cx: &Cx,
        project: &Project,
        verb: Permission,
        name: &StackName,
        body: &DefinitionBody,
    ) -> Result<Pass, Error> {
        let text = serde_json::to_vec(body).map_err(Error::internal)?;
        let what = json!({ "definition": blake3::hash(&text).to_hex().as_str() });
        let deed = Deed {
            verb,
            project: Some(project),
            name: name.to_string(),
            what: What::Plain(what),
            specs: Vec::new(),
            node: None,
        };
        self.approval_pass(cx, &deed).await
    }

    /// What a stack goes towards, or is as.
    pub(super) async fn stack_body(&self, stack: &Stack) -> Result<Option<DefinitionBody>, Error> {
        let Some(id) = stack.wanted else { return Ok(None) };
        let found = self.store.read().await?.stack_definition_get(id).await?;
        let Some(found) = found else { return Ok(None) };
        self.stack_key(stack)?.open_definition(id, &found.sealed).map(Some)
    }

    /// A stack that was seen, as it is in a transaction.
    pub(super) async fn stack_again(
        &self,
        tx: &mut Tx<'_>,
        seen: &Stack,
    ) -> Result<Stack, StackRefusal> {
        let found = tx.stack_get(seen.id).await?.filter(|stack| !stack.is_deleted());
        found.ok_or_else(|| StackRefusal::missing("stack", seen.name.as_str()))
    }

    pub(super) async fn stack_known(
        &self,
        project: &Project,
        id: StackId,
    ) -> Result<Stack, StackRefusal> {
        let mut read = self.store.read().await?;
        stack_find(&mut read, project, &id.to_string()).await
    }

    /// What somebody did with a stack.
    pub(super) fn stack_told(
        &self,
        cx: &Cx,
        stack: &Stack,
        kind: EventKind,
        words: impl Into<String>,
    ) -> NewEvent {
        self.event(kind, Some(stack.project_id), &stack_object(stack), cx.actor(), words)
            .with_payload(stack_payload(stack))
    }

    /// That somebody began something with a stack.
    pub(super) async fn stack_journal(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        action: &'static str,
        before: &Stack,
        after: &Stack,
    ) -> Result<(), StackRefusal> {
        let words = after.standing.reason.clone();
        let event = self.stack_told(cx, after, EventKind::StackBegun, words);
        let audit = self
            .audit(cx, action, &stack_object(before), Some(before.project_id), json!({}))
            .with_states(Some(&audit_state::stack(before)), Some(&audit_state::stack(after)));
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }

    pub(super) fn stacks_changed(&self) {
        self.wakers.stack.wake();
        self.feed.ring();
    }
}

fn exists(name: &StackName) -> StackRefusal {
    let message = format!("The Stack ({name}) already exists.");
    StackRefusal::new("StackExists", message, Error::already_exists("stack", name))
}

/// Only whole stacks are changed: what is a resource of another is changed through that.
pub(super) fn check_top(stack: &Stack) -> Result<(), StackRefusal> {
    if stack.parent.is_none() {
        return Ok(());
    }
    let text = format!("stack {} is a resource of another one", stack.name);
    Err(StackRefusal::state("NotSupported", text, "change the stack that it is a resource of"))
}

/// Stacks that cannot be changed as they stand.
fn check_change(stack: &Stack) -> Result<(), StackRefusal> {
    if stack.is_deleted() {
        return Err(StackRefusal::missing("stack", stack.name.as_str()));
    }
    check_top(stack)?;
    let (state, hint) = match stack.standing.action {
        StackAction::Suspend => ("suspended", "resume it first"),
        StackAction::Delete => ("deleting", "make another one when it is gone"),
        _ => return Ok(()),
    };
    let text = format!("Updating a stack when it is {state} is not supported.");
    Err(StackRefusal::state("NotSupported", text, hint))
}

/// A stack of a project, by name or by id. By its id also one that was deleted.
pub(super) async fn stack_find(
    read: &mut Conn,
    project: &Project,
    name_or_id: &str,
) -> Result<Stack, StackRefusal> {
    let by_id = match name_or_id.parse::<StackId>() {
        Ok(id) => read.stack_get(id).await?,
        Err(_) => None,
    };
    let found = match by_id {
        Some(found) => Some(found),
        None => read.stack_by_name(project.id, name_or_id).await?,
    };
    let found = found.filter(|stack| stack.project_id == project.id);
    found.ok_or_else(|| StackRefusal::missing("stack", name_or_id))
}
