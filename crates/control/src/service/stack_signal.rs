//! Resources of stacks are spoken to from outside: signalled, let go on from a hook, said to be broken.

use hostler_engine::stack::{Happening, clear_hook};
use hostler_model::stack::{
    ResourceAction, ResourceStanding, Stack, StackEventStatus, StackHook, StackResource,
    StackStatus,
};
use hostler_model::{
    Actor, ActorKind, Error, EventKind, NewAuditEntry, NewEvent, Permission, Project, StackId,
};
use hostler_store::{Conn, StackChange, Tx};
use serde_json::{Value, json};

use super::stack_refusal::StackRefusal;
use crate::stack::{SignalPass, Signalled, stack_object, stack_payload};
use crate::{Control, Cx, RequestMeta, Stateless, audit_state};

/// How often a signal is tried to be written, when others write to the stack at the same time.
const TRIES: usize = 16;
/// What is said of a resource that somebody marked without saying why.
const MARKED: &str = "state changed by resource_mark_unhealthy api";

/// Who sends a signal.
struct Sender<'a> {
    actor: Actor,
    request: &'a RequestMeta,
}

impl Control {
    /// Signals a resource; what is answered is for senders that wait for it. `{"unset_hook": "pre-create"}` lets it go on.
    pub async fn stack_signal(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        resource: &str,
        body: &Value,
    ) -> Result<Value, StackRefusal> {
        let (_, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackSignal).await?;
        if let Some(hook) = body.get("unset_hook") {
            let word = hook.as_str().map_or_else(|| hook.to_string(), str::to_owned);
            self.stack_hook_clear(cx, project, &stack, resource, &word).await?;
            return Ok(Value::Null);
        }
        let sender = Sender { actor: cx.actor(), request: &cx.request };
        self.stack_signalled(&sender, &stack, resource, body, None).await
    }

    /// Signals a resource by an address that somebody was given: whoever knows it may.
    pub async fn stack_signal_by_address(
        &self,
        request: &RequestMeta,
        stack: StackId,
        resource: &str,
        pass: &SignalPass,
        body: &Value,
    ) -> Result<Value, StackRefusal> {
        let found = self.store.read().await?.stack_get(stack).await?;
        let Some(found) = found.filter(|stack| !stack.is_deleted()) else { return Err(refused()) };
        let actor = Actor { kind: ActorKind::System, name: "signal".to_owned() };
        let sender = Sender { actor, request };
        self.stack_signalled(&sender, &found, resource, body, Some(pass)).await
    }

    async fn stack_signalled(
        &self,
        sender: &Sender<'_>,
        stack: &Stack,
        resource: &str,
        body: &Value,
        pass: Option<&SignalPass>,
    ) -> Result<Value, StackRefusal> {
        for _ in 0..TRIES {
            let mut read = self.store.read().await?;
            let now = read.stack_get(stack.id).await?.filter(|stack| !stack.is_deleted());
            let Some(now) = now else {
                return Err(StackRefusal::missing("stack", stack.name.as_str()));
            };
            let scene = self.stack_scene(&mut read, now).await?;
            drop(read);
            let row = row_of(scene.names().into_values(), resource);
            if let Some(pass) = pass {
                let id = row.map(|row| row.id).ok_or_else(refused)?;
                if !pass.is_good(&scene.key, id, self.now()) {
                    return Err(refused());
                }
            }
            let row = row.ok_or_else(|| missing(resource, &scene.stack))?.clone();
            if matches!(row.standing.action, ResourceAction::Suspend | ResourceAction::Delete) {
                let text = format!("Cannot signal resource during {}", row.standing.action.heat());
                let hint = "signal it when that is over";
                return Err(StackRefusal::state("NotSupported", text, hint));
            }
            let told = |stack: &Stack, reason: &str| self.signal_told(sender, stack, &row, reason);
            match self.stack_take_signal(scene, row.id, body, told).await? {
                Signalled::Taken(answer) => {
                    self.stacks_changed();
                    return Ok(answer);
                }
                Signalled::Ignored => return Ok(Value::Null),
                Signalled::NotSupported => {
                    let text = "signal is not supported for resource.";
                    return Err(StackRefusal::invalid("ResourceActionNotSupported", "", text));
                }
                Signalled::Refused(text) => {
                    return Err(StackRefusal::invalid("StackValidationFailed", "", text));
                }
                Signalled::Lost => {}
            }
        }
        Err(Error::unavailable("too much happens to the stack at once", "others were faster")
            .into())
    }

    fn signal_told(
        &self,
        sender: &Sender<'_>,
        stack: &Stack,
        row: &StackResource,
        reason: &str,
    ) -> (NewEvent, NewAuditEntry) {
        let (object, of) = (stack_object(stack), Some(stack.project_id));
        let words = format!("{}: {reason}", row.name);
        let actor = sender.actor.clone();
        let event = self
            .event(EventKind::StackSignalled, of, &object, actor.clone(), words)
            .with_payload(stack_payload(stack));
        let (what, detail) = (Stateless::StackSignal, json!({ "resource": row.name }));
        (event, self.audit_by(actor, sender.request, what, &object, of, detail))
    }

    async fn stack_hook_clear(
        &self,
        cx: &Cx,
        project: &Project,
        stack: &Stack,
        resource: &str,
        word: &str,
    ) -> Result<(), StackRefusal> {
        const KIND: &str = "InvalidBreakPointHook";
        let hook = word.parse::<StackHook>().map_err(|_| {
            StackRefusal::invalid(KIND, "/unset_hook", format!("Invalid hook type \"{word}\""))
        })?;
        let at = Place { cx, project, stack, resource };
        self.stack_touch(&at, "stack.clear-hook", EventKind::StackHookCleared, |stack, row| {
            let told = clear_hook(stack, row, hook, self.now());
            let told = told.map_err(|no| {
                let text = no.to_string();
                StackRefusal::invalid(KIND, "/unset_hook", text)
            })?;
            Ok(Some(told))
        })
        .await
    }

    /// Says that a resource is broken, so that the next update replaces it, or that it is not.
    pub async fn stack_mark(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        resource: &str,
        is_unhealthy: bool,
        reason: Option<&str>,
    ) -> Result<(), StackRefusal> {
        let (_, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackSignal).await?;
        let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or(MARKED);
        let at = Place { cx, project, stack: &stack, resource };
        self.stack_touch(&at, "stack.mark", EventKind::StackMarked, |stack, row| {
            if row.deed.is_some() {
                let action = stack.standing.action.heat();
                let text =
                    format!("Stack {} already has an action ({action}) in progress.", stack.name);
                let hint = "try again when it has ended";
                return Err(StackRefusal::state("ActionInProgress", text, hint));
            }
            let is_failed = row.standing.action == ResourceAction::Check
                && row.standing.status == StackStatus::Failed;
            let status = match is_unhealthy {
                true if row.standing.action != ResourceAction::Delete => StackStatus::Failed,
                false if is_failed => StackStatus::Complete,
                _ => return Ok(None),
            };
            let action = ResourceAction::Check;
            row.standing = ResourceStanding { action, status, reason: reason.to_owned() };
            row.time_modified = self.now();
            let status = StackEventStatus::Resource(action, status);
            Ok(Some(Happening::of_resource(row, status, reason)))
        })
        .await
    }

    /// Changes the row of a resource, and tells of it. `change` says what is told, if it changed anything.
    async fn stack_touch(
        &self,
        at: &Place<'_>,
        action: &'static str,
        kind: EventKind,
        change: impl Fn(&Stack, &mut StackResource) -> Result<Option<Happening>, StackRefusal>
        + Send
        + Sync,
    ) -> Result<(), StackRefusal> {
        let change = &change;
        self.store
            .tx("stack_touch", |tx| {
                Box::pin(async move {
                    let stack = self.stack_again(tx, at.stack).await?;
                    if self.claim(tx, at.cx, &stack_object(&stack)).await?.is_some() {
                        return Ok(());
                    }
                    let rows = rows_named(tx, &stack, at.resource).await?;
                    let mut refusal = None;
                    for before in rows.into_iter().rev() {
                        let mut row = StackResource { sealed: Vec::new(), ..before.clone() };
                        match change(&stack, &mut row) {
                            Ok(None) => return Ok(()),
                            Ok(Some(told)) => {
                                let (event, entry) =
                                    self.touched(at, action, kind, &before, &row, &told);
                                self.stack_touched(tx, stack, &row, &told).await?;
                                return Ok(tx.journal_append(&[event], &[entry]).await?);
                            }
                            Err(no) => refusal = refusal.or(Some(no)),
                        }
                    }
                    Err(refusal.unwrap_or_else(|| missing(at.resource, at.stack)))
                })
            })
            .await?;
        self.stacks_changed();
        Ok(())
    }

    fn touched(
        &self,
        at: &Place<'_>,
        action: &'static str,
        kind: EventKind,
        before: &StackResource,
        after: &StackResource,
        told: &Happening,
    ) -> (NewEvent, NewAuditEntry) {
        let (object, of) = (stack_object(at.stack), Some(at.project.id));
        let words = format!("{}: {}", after.name, told.reason);
        let event = self.stack_told(at.cx, at.stack, kind, words);
        let detail = json!({ "resource": after.name });
        let entry = self.audit(at.cx, action, &object, of, detail).with_states(
            Some(&audit_state::stack_resource(before)),
            Some(&audit_state::stack_resource(after)),
        );
        (event, entry)
    }

    async fn stack_touched(
        &self,
        tx: &mut Tx<'_>,
        mut stack: Stack,
        row: &StackResource,
        told: &Happening,
    ) -> Result<(), Error> {
        let now = self.now();
        if stack.standing.is_under_way() {
            stack.time_due = Some(stack.time_due.map_or(now, |due| due.min(now)));
        }
        let events = [self.stack_event_of(stack.id, told, now)];
        let resources = std::slice::from_ref(row);
        let change = StackChange { resources, events: &events, ..StackChange::of(&stack) };
        tx.stack_save(change, stack.generation).await?.required("stack", stack.id)?;
        Ok(())
    }
}

/// Which resource somebody speaks to.
struct Place<'a> {
    cx: &'a Cx,
    project: &'a Project,
    stack: &'a Stack,
    resource: &'a str,
}

/// The rows of a name, or of an object in the world; what was replaced first.
async fn rows_named(
    read: &mut Conn,
    stack: &Stack,
    resource: &str,
) -> Result<Vec<StackResource>, Error> {
    let mut rows = read.stack_resources_named(stack.id, resource).await?;
    if rows.is_empty() {
        rows = read.stack_resources_physical(Some(stack.id), resource).await?;
    }
    rows.sort_by_key(|row| (row.replaced_by.is_none(), row.id));
    Ok(rows)
}

/// A resource by its name, or by what it is in the world.
pub(super) fn row_of<'a>(
    rows: impl Iterator<Item = &'a StackResource>,
    resource: &str,
) -> Option<&'a StackResource> {
    let rows: Vec<&StackResource> = rows.collect();
    let named = rows.iter().find(|row| row.name == resource);
    named.or_else(|| rows.iter().find(|row| row.physical.as_deref() == Some(resource))).copied()
}

pub(super) fn missing(resource: &str, stack: &Stack) -> StackRefusal {
    let message = format!("The Resource ({resource}) could not be found in Stack {}.", stack.name);
    let error = Error::not_found("resource", resource);
    StackRefusal::new("ResourceNotFound", message, error)
}

/// What whoever has an address that is not good is told: nothing.
fn refused() -> StackRefusal {
    Error::forbidden("this address is not one at which a resource can be signalled").into()
}
