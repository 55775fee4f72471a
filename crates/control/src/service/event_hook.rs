//! Event hooks: making and changing them, what they delivered, and replaying what they could not.
//!
//! Who writes a hook is who it acts for. They have to be allowed now to do what it will do, and it will do no
//! more than they, and the credential they used, could. A hook hears of nothing that happened before it was
//! made or enabled, nor of that: the event about it is the next one.

use std::time::Duration;

use hostler_engine::hook::Tried;
use hostler_lua::{Bundle, Given, define};
use hostler_model::{
    DeliveryState, Diagnostic, Error, EventHook, EventHookSpec, EventKind, Generation, HookAction,
    HookDelivery, HookSetPayload, Limit, LuaAction, Mandate, Name, Need, ObjectKind, ObjectRef,
    Page, Permission, Project, ProjectId, Scope, WebhookAction, hook_correlation,
};
use hostler_store::{DeliveryCounts, DeliveryFilter};
use serde_json::{Value as Json, json};

use super::project::{settled, taken};
use super::task::Names;
use super::workflow::{NewWorkflow, seconds};
use crate::hook::{check_template, lua_workflow, with_event};
use crate::{Control, Cx, Stateless};

/// Hooks of one project, and of the whole installation.
const HOOKS_MAX: u64 = 200;
/// Dead letters that one request replays or discards.
const REPLAY_MAX: u64 = 10_000;

/// A hook with names, and how its deliveries stand.
#[derive(Clone, Debug, PartialEq)]
pub struct EventHookDetail {
    pub hook: EventHook,
    /// `None` is the whole installation.
    pub project: Option<Name>,
    pub owner: String,
    pub counts: DeliveryCounts,
}

/// What a test of a hook did.
#[derive(Clone, Debug, PartialEq)]
pub struct HookTest {
    /// Whether it matches the hook's patterns and filter.
    pub is_match: bool,
    pub is_done: bool,
    pub note: String,
    pub status: Option<u16>,
    pub made: Option<ObjectRef>,
}

fn scope(project: Option<&Project>) -> Scope {
    project.map_or(Scope::Global, |project| Scope::Project(project.id))
}

pub(super) fn object(hook: &EventHook) -> ObjectRef {
    ObjectRef::new(ObjectKind::Hook, hook.id, &hook.name)
}

fn project_id(hook: &EventHook) -> Option<ProjectId> {
    match hook.scope {
        Scope::Global => None,
        Scope::Project(id) => Some(id),
    }
}

fn state(hook: &EventHook) -> Json {
    json!({
        "id": hook.id,
        "name": hook.name,
        "spec": hook.spec,
        "user": hook.mandate.principal,
        "isEnabled": hook.is_enabled,
    })
}

impl Control {
    /// Of a project, or of the whole installation, by name.
    pub async fn event_hook_list(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<EventHookDetail>, Error> {
        let page = self.store.read().await?.event_hook_list(scope(project), after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for hook in page.items {
            items.push(self.event_hook_detail(cx, project, hook).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn event_hook_get(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
    ) -> Result<EventHookDetail, Error> {
        let hook = self.event_hook_find(project, name).await?;
        self.event_hook_detail(cx, project, hook).await
    }

    async fn event_hook_detail(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        mut hook: EventHook,
    ) -> Result<EventHookDetail, Error> {
        let mut read = self.store.read().await?;
        let counts = read.hook_delivery_counts(Some(hook.id)).await?;
        let owner = Names::default().principal(&mut read, hook.mandate.principal).await?;
        if !self.is_hook_of(cx, &hook) {
            hook.spec.action.hide();
        }
        let project = project.map(|project| project.name.clone());
        Ok(EventHookDetail { hook, project, owner, counts })
    }

    /// Makes a hook of this name be like this. One that is there is changed only from the generation that
    /// the caller saw; zero is none.
    pub async fn event_hook_set(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &Name,
        mut spec: EventHookSpec,
        expected: Generation,
    ) -> Result<EventHookDetail, Error> {
        let scope = scope(project);
        let problems = spec.problems(scope, "");
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        let known = self.store.read().await?.event_hook_by_name(scope, name).await?;
        if let Some(known) = &known {
            self.require_hook_of(cx, known)?;
        }
        let acts_in = match (project, &spec.project) {
            (Some(project), _) => project.clone(),
            (None, Some(named)) => self.project_resolve(named.as_str()).await?,
            (None, None) => return Err(Error::not_found("project", name)),
        };
        let acts_in = &acts_in;
        self.event_hook_check(cx, acts_in, name, &spec).await?;
        if let HookAction::Lua(it) = &mut spec.action {
            it.version = self.event_hook_keep_lua(cx, acts_in, name, it).await?;
        }
        let now = self.now();
        let fresh = EventHook {
            id: self.ids.fresh(),
            scope,
            name: name.clone(),
            spec,
            mandate: Mandate::of(&cx.caller, acts_in.id),
            is_enabled: true,
            after: 0,
            is_loop_told: false,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        let fresh = &fresh;
        self.store
            .tx("event_hook_set", |tx| {
                Box::pin(async move {
                    let before = tx.event_hook_by_name(scope, name).await?;
                    let newest = tx.event_bounds().await?.1;
                    let (after, kind) = match &before {
                        None if expected != Generation::ZERO => {
                            return Err(Error::not_found("hook", name));
                        }
                        None => {
                            if tx.event_hook_count(scope).await? >= HOOKS_MAX {
                                return Err(too_many());
                            }
                            tx.hook_cursor_start(newest).await?;
                            let made = EventHook { after: newest + 1, ..fresh.clone() };
                            tx.event_hook_insert(&made)
                                .await
                                .map_err(|e| taken(e, "hook", name))?;
                            (made, EventKind::HookCreated)
                        }
                        Some(before) if expected == Generation::ZERO => {
                            return Err(Error::stale("hook", before.generation));
                        }
                        Some(before) => {
                            let changed = EventHook {
                                id: before.id,
                                is_enabled: before.is_enabled,
                                after: before.after,
                                time_created: before.time_created,
                                ..fresh.clone()
                            };
                            let update = tx.event_hook_update(&changed, expected).await?;
                            settled(update, "hook", name)?;
                            if !matches!(changed.spec.action, HookAction::Lua(_)) {
                                lua_drop(tx, before).await?;
                            }
                            for line in tx.hook_lines_stuck(before.id).await? {
                                tx.hook_line_advance(&line, changed.spec.on_dead, now).await?;
                            }
                            (changed, EventKind::HookChanged)
                        }
                    };
                    self.event_hook_note(tx, cx, "hook.set", kind, before.as_ref(), Some(&after))
                        .await
                })
            })
            .await?;
        self.hooks_changed();
        self.event_hook_get(cx, project, name.as_str()).await
    }

    pub async fn event_hook_enable(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        is_enabled: bool,
    ) -> Result<EventHookDetail, Error> {
        let hook = self.event_hook_find(project, name).await?;
        self.require_hook_of(cx, &hook)?;
        let (hook, now) = (&hook, self.now());
        self.store
            .tx("event_hook_enable", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.event_hook_by_name(hook.scope, &hook.name).await? else {
                        return Err(Error::not_found("hook", &hook.name));
                    };
                    if before.is_enabled == is_enabled {
                        return Ok(());
                    }
                    let newest = tx.event_bounds().await?.1;
                    if is_enabled {
                        tx.hook_cursor_start(newest).await?;
                    }
                    let after = EventHook {
                        is_enabled,
                        after: if is_enabled { newest + 1 } else { before.after },
                        is_loop_told: false,
                        time_modified: now,
                        ..before.clone()
                    };
                    let update = tx.event_hook_update(&after, before.generation).await?;
                    settled(update, "hook", &before.name)?;
                    let action = if is_enabled { "hook.enable" } else { "hook.disable" };
                    let kind = EventKind::HookChanged;
                    self.event_hook_note(tx, cx, action, kind, Some(&before), Some(&after)).await
                })
            })
            .await?;
        self.hooks_changed();
        self.event_hook_get(cx, project, name).await
    }

    pub async fn event_hook_remove(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        expected: Generation,
    ) -> Result<(), Error> {
        let hook = self.event_hook_find(project, name).await?;
        self.require_hook_of(cx, &hook)?;
        let hook = &hook;
        self.store
            .tx("event_hook_remove", |tx| {
                Box::pin(async move {
                    let update = tx.event_hook_delete(hook, expected).await?;
                    settled(update, "hook", &hook.name)?;
                    lua_drop(tx, hook).await?;
                    let kind = EventKind::HookRemoved;
                    self.event_hook_note(tx, cx, "hook.remove", kind, Some(hook), None).await
                })
            })
            .await?;
        self.hooks_changed();
        Ok(())
    }

    /// What a hook delivered, is about to deliver or could not, newest first.
    pub async fn hook_delivery_list(
        &self,
        _: &Cx,
        project: Option<&Project>,
        name: &str,
        state: Option<DeliveryState>,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<HookDelivery>, Error> {
        let hook = self.event_hook_find(project, name).await?;
        let filter = DeliveryFilter { state };
        Ok(self.store.read().await?.hook_delivery_list(hook.id, filter, before, limit).await?)
    }

    /// Delivers dead letters again: one, or all.
    pub async fn hook_delivery_replay(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        sequence: Option<u64>,
    ) -> Result<u64, Error> {
        self.hook_dead_letters(cx, project, name, sequence, Stateless::HookReplay).await
    }

    /// Forgets dead letters: one, or all.
    pub async fn hook_delivery_discard(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        sequence: Option<u64>,
    ) -> Result<u64, Error> {
        self.hook_dead_letters(cx, project, name, sequence, Stateless::HookDiscard).await
    }

    async fn hook_dead_letters(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        sequence: Option<u64>,
        action: Stateless,
    ) -> Result<u64, Error> {
        let hook = self.event_hook_find(project, name).await?;
        self.require_hook_of(cx, &hook)?;
        let (hook, now) = (&hook, self.now());
        let on_dead = hook.spec.on_dead;
        let count = self
            .store
            .tx("hook_dead_letters", |tx| {
                Box::pin(async move {
                    let (id, max) = (hook.id, REPLAY_MAX);
                    let count = match action {
                        Stateless::HookReplay => {
                            tx.hook_delivery_replay(id, sequence, on_dead, now, max).await?
                        }
                        _ => tx.hook_delivery_discard(id, sequence, on_dead, now, max).await?,
                    };
                    if count == 0 && sequence.is_some() {
                        let number = sequence.unwrap_or_default();
                        return Err(Error::not_found("dead letter", number));
                    }
                    let detail = json!({ "count": count, "sequence": sequence });
                    let audit = self.audit(cx, action, &object(hook), project_id(hook), detail);
                    tx.journal_append(&[], &[audit]).await?;
                    Ok::<_, Error>(count)
                })
            })
            .await?;
        self.wakers.hook_deliver.wake();
        Ok(count)
    }

    /// Delivers one event now, whatever the hook's patterns and filter say, and tells what happened.
    pub async fn event_hook_test(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        name: &str,
        sequence: u64,
    ) -> Result<HookTest, Error> {
        let hook = self.event_hook_find(project, name).await?;
        self.require_hook_of(cx, &hook)?;
        let event = self.store.read().await?.event_get(sequence).await?;
        let event = event.filter(|event| match hook.scope {
            Scope::Global => true,
            Scope::Project(id) => event.event.project_id == Some(id),
        });
        let event = event.ok_or_else(|| Error::not_found("event", sequence))?;
        let document = event.document();
        let filter = hook.spec.filter().ok().flatten();
        let is_match = hook.spec.takes(&event.event.name())
            && filter.is_none_or(|filter| filter.matches(&document));
        let detail = json!({ "sequence": sequence });
        let audit =
            &[self.audit(cx, Stateless::HookTest, &object(&hook), project_id(&hook), detail)];
        self.store
            .tx("event_hook_test", |tx| {
                Box::pin(async move { Ok::<_, Error>(tx.journal_append(&[], audit).await?) })
            })
            .await?;
        let key = format!("{}/test-{}", hook_correlation(hook.id, sequence), cx.request.request_id);
        let test = |is_done, note, status, made| HookTest { is_match, is_done, note, status, made };
        Ok(match self.hook_do(&hook, &document, key).await {
            Ok(Tried::Done { note, status }) => test(true, note, status, None),
            Ok(Tried::Begun { made }) => {
                let note = format!("began {} {}", made.kind, made.name);
                test(true, note, None, Some(made))
            }
            Ok(Tried::Failed { why, status, .. }) => test(false, why, status, None),
            Ok(Tried::Goes | Tried::Again) => test(true, String::new(), None, None),
            Err(failure) => {
                let note = format!("{}; {}", failure.error.detail, failure.error.hint);
                test(false, note, failure.status, None)
            }
        })
    }

    /// How deliveries stand, of all hooks: how many in each state, and how long the oldest has waited.
    pub async fn hook_standing(&self) -> Result<(DeliveryCounts, Duration), Error> {
        let mut read = self.store.read().await?;
        let counts = read.hook_delivery_counts(None).await?;
        let oldest = read.hook_delivery_oldest().await?;
        Ok((counts, oldest.map_or(Duration::ZERO, |time| self.now().since(time))))
    }

    pub(crate) fn hooks_changed(&self) {
        self.has_hooks.store(true, std::sync::atomic::Ordering::Relaxed);
        self.wakers.hook_dispatch.wake();
        self.wakers.hook_deliver.wake();
        self.feed.ring();
    }

    async fn event_hook_note(
        &self,
        tx: &mut hostler_store::Tx<'_>,
        cx: &Cx,
        action: &str,
        kind: EventKind,
        before: Option<&EventHook>,
        after: Option<&EventHook>,
    ) -> Result<(), Error> {
        let Some(hook) = after.or(before) else { return Ok(()) };
        let (object, project) = (object(hook), project_id(hook));
        let message = match kind {
            EventKind::HookRemoved => "removed".to_owned(),
            _ if !hook.is_enabled => "disabled".to_owned(),
            _ => hook.spec.action.summary(),
        };
        let event = self
            .event(kind, project, &object, cx.actor(), message)
            .with_payload(HookSetPayload::from(hook));
        let detail = json!({ "on": hook.spec.on, "action": hook.spec.action.summary() });
        let (before, after) = (before.map(state), after.map(state));
        let audit = self
            .audit(cx, action, &object, project, detail)
            .with_states(before.as_ref(), after.as_ref());
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    async fn event_hook_find(
        &self,
        project: Option<&Project>,
        name: &str,
    ) -> Result<EventHook, Error> {
        let missing = || Error::not_found("hook", name);
        let parsed: Name = name.parse().map_err(|_| missing())?;
        let found = self.store.read().await?.event_hook_by_name(scope(project), &parsed).await?;
        found.ok_or_else(missing)
    }

    fn is_hook_of(&self, cx: &Cx, hook: &EventHook) -> bool {
        let need = match hook.scope {
            Scope::Global => Need::of(Permission::HookGlobal, None),
            Scope::Project(id) => Need::of(Permission::HookManage, Some(id)),
        };
        hook.mandate.principal == cx.caller.principal_id || cx.caller.may(need)
    }

    fn require_hook_of(&self, cx: &Cx, hook: &EventHook) -> Result<(), Error> {
        match self.is_hook_of(cx, hook) {
            true => Ok(()),
            false => Err(Error::forbidden(
                "the hook is somebody else's; its owner changes it, or somebody with hook.manage (the role operator has it)",
            )),
        }
    }

    /// Whether the caller may do what the hook will do, and whether it can be done at all.
    async fn event_hook_check(
        &self,
        cx: &Cx,
        acts_in: &Project,
        name: &Name,
        spec: &EventHookSpec,
    ) -> Result<(), Error> {
        let action = with_event(name, &spec.action, &json!({}));
        let need = Need::of(action.permission(), Some(acts_in.id));
        self.authorise(&cx.caller, need)?;
        match &spec.action {
            HookAction::Webhook(it) => self.event_hook_check_webhook(acts_in, it).await,
            HookAction::Lua(_) => {
                self.authorise(&cx.caller, Need::of(Permission::WorkflowPush, Some(acts_in.id)))
            }
            _ => self.action_check(cx, acts_in, &action, "/action").await,
        }
    }

    async fn event_hook_check_webhook(
        &self,
        acts_in: &Project,
        it: &WebhookAction,
    ) -> Result<(), Error> {
        let mut problems = Vec::new();
        let mut say = |at: &str, text: String| {
            problems.push(Diagnostic::new(format!("/action/webhook{at}"), text));
        };
        if let Some(problem) = check_template(it) {
            say("/template", problem);
        }
        if it.url_secret.is_none()
            && let Some(why) = self.address_problem(&it.url).await
        {
            say("/url", why);
        }
        let mut read = self.store.read().await?;
        let secrets =
            [("/urlSecret", &it.url_secret), ("/bearer", &it.bearer), ("/sign", &it.sign)];
        for (at, reference) in secrets {
            let Some(reference) = reference else { continue };
            if read.secret_find(acts_in.id, reference).await?.is_none() {
                say(
                    at,
                    format!("there is no secret `{reference}`; set it with `hostler secret set`"),
                );
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
    }

    /// Keeps a Lua file as a workflow; says which version it is.
    async fn event_hook_keep_lua(
        &self,
        cx: &Cx,
        acts_in: &Project,
        name: &Name,
        it: &LuaAction,
    ) -> Result<u32, Error> {
        let workflow = lua_workflow(name);
        let bundle = Bundle {
            name: format!("{workflow}.lua"),
            text: it.text.clone(),
            files: Default::default(),
        };
        let Bundle { name: file, text, files } = bundle.clone();
        let given = Given { now: seconds(self.now()), ..Given::default() };
        let work = move |files| define(&file, &text, files, &given);
        let definition = self.with_modules(acts_in, files, work).await?;
        let is_handler = |graph: &hostler_model::workflow::Workflow| {
            graph.name == workflow && graph.steps.iter().any(|step| step.name == "on_event")
        };
        if !definition.workflows.iter().all(is_handler) || definition.workflows.len() != 1 {
            let text = format!(
                "`{}` has no function `on_event(event)`; a file that defines workflows is pushed, and named with `workflow`",
                it.file
            );
            return Err(Error::invalid(vec![Diagnostic::new("/action/lua/text", text)]));
        }
        let new = NewWorkflow { bundle, values: Json::Null, is_strict: false };
        let pushed = self.workflow_push(cx, acts_in, new).await?;
        let kept = pushed.workflows.first().map(|kept| kept.version.version);
        kept.ok_or_else(|| Error::not_found("workflow", workflow))
    }
}

/// Removes the workflow that a Lua file was kept as, unless a hook of the same name acts in the same project.
async fn lua_drop(tx: &mut hostler_store::Tx<'_>, hook: &EventHook) -> Result<(), Error> {
    if !matches!(hook.spec.action, HookAction::Lua(_)) {
        return Ok(());
    }
    let place = match (hook.scope, &hook.spec.project) {
        (Scope::Project(id), _) => Some(id),
        (Scope::Global, Some(name)) => tx.project_by_name(name).await?.map(|project| project.id),
        (Scope::Global, None) => None,
    };
    let Some(place) = place else { return Ok(()) };
    let others = [
        tx.event_hook_by_name(Scope::Global, &hook.name).await?,
        tx.event_hook_by_name(Scope::Project(place), &hook.name).await?,
    ];
    let is_used =
        |other: &EventHook| other.id != hook.id && matches!(other.spec.action, HookAction::Lua(_));
    if !others.iter().flatten().any(is_used) {
        tx.workflow_remove(place, &lua_workflow(&hook.name)).await?;
    }
    Ok(())
}

fn too_many() -> Error {
    Error::new(
        hostler_model::Code::QuotaExceeded,
        format!("there are {HOOKS_MAX} hooks here already"),
        "remove one that is not needed, or let one hook name several events",
    )
}
