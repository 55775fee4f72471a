//! Stacks are asked for, changed and taken down.
//!
//! Everything is looked at before anything is written ([`super::stack_form`]). What is written is the definition, and that the
//! stack begins to go towards it; the rest is done by whoever carries stacks on.

use hostler_model::stack::{DefinitionBody, Stack, StackAction, StackName, StackOptions};
use hostler_model::{
    Error, EventKind, Generation, NewEvent, Permission, Project, Span, StackId, StackPayload,
};
use hostler_store::{Conn, Reader, Tx};
use hostler_template::diagnostic::Diagnostics;
use serde_json::{Map, Value, json};

use super::project::check_text;
use super::stack_apply::{Base, Ending, Making, Turn};
use super::stack_form::{Reading, StackForm, check_options};
use super::stack_refusal::{StackRefusal, require};
use crate::stack::{Blueprint, identity_of, stack_object, stack_payload};
use crate::{Control, Cx, audit_state};

/// A stack that is to be made.
#[derive(Clone, Debug)]
pub struct StackAsk {
    pub name: StackName,
    pub form: StackForm,
    pub options: StackOptions,
    /// Resources that are taken over instead of being made, by name, as an exported document has them.
    pub left: Option<Map<String, Value>>,
    /// Why; it stands at the revision.
    pub reason: String,
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
    /// Zero ends it.
    pub drift_every: Option<Span>,
    /// Why; it stands at the revision.
    pub reason: Option<String>,
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
            drift_every: self.drift_every.or(known.drift_every).filter(|every| !every.is_zero()),
        }
    }
}

impl Control {
    /// Looks at a template without making anything of it.
    pub async fn stack_check(
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
        let types = &self.stack_project_types(project.id).await?;
        let identity = &identity;
        let reading = Reading { identity, types, options: &options, known: None, needs_values };
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
        let making = self.stack_making(cx, project, ask).await?;
        self.stack_make(cx, project, making).await
    }

    /// A stack that is asked for, looked at as a whole.
    pub(super) async fn stack_making(
        &self,
        cx: &Cx,
        project: &Project,
        ask: StackAsk,
    ) -> Result<Making, StackRefusal> {
        require(cx, project, Permission::StackApply)?;
        let StackAsk { name, form, options, left, reason } = ask;
        check_options(&options)?;
        check_reason(&reason)?;
        let id: StackId = self.ids.fresh();
        let identity = identity_of(project.id, &name, id);
        let reading = Reading {
            identity: &identity,
            types: &self.stack_project_types(project.id).await?,
            options: &options,
            known: None,
            needs_values: true,
        };
        let mut body = self.stack_formed(&form, &reading)?.body;
        let action = if left.is_some() { StackAction::Adopt } else { StackAction::Create };
        body.left = left.unwrap_or_default();
        body.reason = reason;
        Ok(Making { id, name, body, options, action, plan: None })
    }

    /// What a form would be as a stack.
    pub(super) async fn stack_form_blueprint(
        &self,
        cx: &Cx,
        project: &Project,
        name: &StackName,
        form: &StackForm,
    ) -> Result<Blueprint, StackRefusal> {
        let (id, options) = (self.ids.fresh::<StackId>(), StackOptions::default());
        let identity = identity_of(project.id, name, id);
        let reading = Reading {
            identity: &identity,
            types: &self.stack_project_types(project.id).await?,
            options: &options,
            known: None,
            needs_values: true,
        };
        let body = self.stack_formed(form, &reading)?.body;
        let action = StackAction::Create;
        let stage = self.stack_stage_of(cx, project, (id, name), &body, &options, action)?;
        let definition = self.ids.fresh();
        Ok(Blueprint::read(&stage.scene.stack, definition, body, &self.stack_catalog)?)
    }

    /// Begins to change a stack.
    pub async fn stack_update(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        edit: StackEdit,
    ) -> Result<Stack, StackRefusal> {
        let turn = self.stack_turning(cx, project, name_or_id, edit).await?;
        self.stack_turn(cx, project, turn).await
    }

    /// A change that is asked for, looked at as a whole.
    pub(super) async fn stack_turning(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        edit: StackEdit,
    ) -> Result<Turn, StackRefusal> {
        let (_, seen) = self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        check_change(&seen)?;
        let options = edit.options(&seen.options);
        check_options(&options)?;
        let known = self.stack_body(&seen).await?;
        let identity = identity_of(project.id, &seen.name, seen.id);
        let patched = known.as_ref().filter(|_| edit.is_patch);
        let reading = Reading {
            identity: &identity,
            types: &self.stack_project_types(project.id).await?,
            options: &options,
            known: patched.map(|known| (known, edit.clear_parameters.as_slice())),
            needs_values: true,
        };
        let mut body = self.stack_formed(&edit.form, &reading)?.body;
        body.reason = edit.reason.unwrap_or_default();
        check_reason(&body.reason)?;
        let base = edit.expected.map_or(Base::Any, Base::Traversal);
        Ok(Turn { seen, known, body, options, action: StackAction::Update, base, plan: None })
    }

    /// Begins to take a stack down, whatever is under way; not one that others use.
    pub async fn stack_delete(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Stack, StackRefusal> {
        self.stack_take_down(cx, project, Ending::of(name_or_id)).await
    }

    /// The same, for a reason; `is_forced`: though others use it.
    pub async fn stack_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        is_forced: bool,
        reason: &str,
    ) -> Result<Stack, StackRefusal> {
        check_reason(reason)?;
        let ending = Ending { is_forced, reason: reason.to_owned(), ..Ending::of(name_or_id) };
        self.stack_take_down(cx, project, ending).await
    }

    /// Parameters that may never change are as they were.
    pub(super) fn stack_keeps_immutable(
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

    /// A stack that the caller may do this with, and a connection to read more of it.
    pub(super) async fn stack_reading(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        permission: Permission,
    ) -> Result<(Reader, Stack), StackRefusal> {
        require(cx, project, permission)?;
        let mut read = self.store.read().await?;
        let stack = stack_find(&mut read, project, name_or_id).await?;
        Ok((read, stack))
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

    /// That something begins, and why somebody wants it.
    pub(super) fn stack_begun_told(&self, cx: &Cx, stack: &Stack, why: &str) -> NewEvent {
        let reason = &stack.standing.reason;
        let words = match why {
            "" => reason.clone(),
            why => format!("{reason}: {why}"),
        };
        let payload = StackPayload { why: why.to_owned(), ..stack_payload(stack) };
        self.stack_told(cx, stack, EventKind::StackBegun, words).with_payload(payload)
    }

    /// That somebody began something with a stack.
    pub(super) async fn stack_journal(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        action: &'static str,
        before: &Stack,
        after: &Stack,
        why: &str,
    ) -> Result<(), StackRefusal> {
        let event = self.stack_begun_told(cx, after, why);
        let detail = why_detail(why);
        let audit = self
            .audit(cx, action, &stack_object(before), Some(before.project_id), detail)
            .with_states(Some(&audit_state::stack(before)), Some(&audit_state::stack(after)));
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }

    pub(super) fn stacks_changed(&self) {
        self.wakers.stack.wake();
        self.feed.ring();
    }
}

/// Why somebody wants something.
pub(super) fn check_reason(reason: &str) -> Result<(), Error> {
    check_text("/reason", reason, 0..=1000)
}

/// The same in the audit trail.
pub(super) fn why_detail(why: &str) -> Value {
    match why {
        "" => json!({}),
        why => json!({ "reason": why }),
    }
}

pub(super) fn exists(name: &StackName) -> StackRefusal {
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
pub(super) fn check_change(stack: &Stack) -> Result<(), StackRefusal> {
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
