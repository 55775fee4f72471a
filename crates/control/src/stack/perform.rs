//! Deeds are carried out: plugins are called with everything that they may want to know.
//!
//! A type without an effect outside is called in the pass. Everything else becomes a [`Task`], which owns what it needs and
//! is run beside others once its deed is committed. What came of it ([`Told`]) is given to a later pass of its stack; when the
//! stack has moved on meanwhile, the number of the deed says whether it still counts.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_base::chain::chain;
use hostler_engine::stack::{DeedRef, Failure};
use hostler_model::stack::{DeedBody, DeedKind, ResourceBody, Stack, StackResource};
use hostler_model::{Code, Error, StackId};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::StackKey;
use super::hidden::{Hidden, secrets_of};
use super::live::within;
use super::plugin::{ChildView, Ctx, Desk, Plugin, Progress, Seen, SignalKind, Wanted};
use crate::Control;

/// What a call that may go better later waits for.
pub(super) const AGAIN: Duration = Duration::from_secs(5);

/// How long one call of a plugin may take, which is not meant to wait for anything. What it began goes on outside; it is called
/// again, under the same key.
const CALL_MAX: Duration = Duration::from_secs(300);

/// Other resources of the stack of whoever asks.
pub(super) trait Others: Sync {
    fn find(&self, reference: &str) -> Option<Seen<'_>>;
}

/// The desk of one call.
pub(super) struct StackDesk<'a> {
    pub control: &'a Control,
    pub key: &'a StackKey,
    pub stack: &'a Stack,
    pub row: &'a StackResource,
    pub others: &'a dyn Others,
}

impl Desk for StackDesk<'_> {
    fn control(&self) -> &Control {
        self.control
    }

    fn sibling(&self, reference: &str) -> Option<Seen<'_>> {
        self.others.find(reference)
    }

    fn signal_url(&self, kind: SignalKind) -> Result<String, Error> {
        Ok(self.control.stack_signal_url(self.key, self.stack, self.row, kind))
    }

    fn fresh_id(&self) -> Uuid {
        self.control.ids.fresh()
    }

    fn software_config<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        self.control.stack_software_config(self.stack.project_id, id).boxed()
    }
}

/// What the object of a row is to be as: what its deed says, or else what it is.
pub(super) fn wanted_of(body: &ResourceBody) -> Wanted {
    match &body.deed {
        Some(deed) => Wanted {
            properties: deed.properties.clone(),
            metadata: deed.metadata.clone(),
            update_policy: deed.update_policy.clone(),
            template: deed.template.clone(),
        },
        None => Wanted {
            properties: body.properties.clone(),
            metadata: body.metadata.clone(),
            update_policy: body.update_policy.clone(),
            template: None,
        },
    }
}

/// A deed on an object as it is.
pub(super) fn deed_as_is(body: &ResourceBody) -> DeedBody {
    DeedBody {
        properties: body.properties.clone(),
        metadata: body.metadata.clone(),
        update_policy: body.update_policy.clone(),
        description: body.description.clone(),
        ..DeedBody::default()
    }
}

/// Calls a plugin for a deed: to begin with it, or to look what became of it.
pub(super) async fn call(
    plugin: &dyn Plugin,
    ctx: &Ctx<'_>,
    kind: DeedKind,
    left: Option<&Map<String, Value>>,
) -> Result<Progress, Error> {
    if !plugin.can(kind) {
        return Ok(Progress::done());
    }
    let deed = ctx.body.deed.as_deref();
    if deed.is_some_and(|deed| deed.is_waiting) {
        return plugin.look(ctx).await;
    }
    match kind {
        DeedKind::Create => plugin.create(ctx).await,
        DeedKind::Update => {
            plugin.update(ctx, deed.map_or(&[][..], |deed| deed.changed.as_slice())).await
        }
        DeedKind::Delete => plugin.delete(ctx).await,
        DeedKind::Suspend => plugin.suspend(ctx).await,
        DeedKind::Resume => plugin.resume(ctx).await,
        DeedKind::Snapshot => plugin.snapshot(ctx).await,
        DeedKind::Check => plugin.check(ctx).await,
        DeedKind::Adopt => match left {
            Some(left) => plugin.adopt(ctx, left).await,
            None => plugin.create(ctx).await,
        },
    }
}

/// What an error of a call means: nothing when it may go better later.
pub(super) fn lasting(error: &Error) -> Option<Failure> {
    let is_passing = matches!(
        error.code,
        Code::Unavailable
            | Code::Internal
            | Code::RateLimited
            | Code::NodeUnreachable
            | Code::Stale
    );
    if is_passing {
        return None;
    }
    let kind = match error.code {
        Code::NotFound => "EntityNotFound",
        Code::Forbidden | Code::Unauthenticated => "Forbidden",
        Code::Conflict => "Conflict",
        _ => "Error",
    };
    Some(Failure::new(kind, error.detail.clone()))
}

/// A deed to be carried out outside of any pass.
pub(crate) struct Task {
    pub(super) control: Control,
    pub(super) plugin: Arc<dyn Plugin>,
    pub(super) key: StackKey,
    pub(super) stack: Arc<Stack>,
    pub(super) row: StackResource,
    pub(super) body: ResourceBody,
    pub(super) child: Option<ChildView>,
    pub(super) files: Arc<Map<String, Value>>,
    /// What it requires.
    pub(super) others: Siblings,
    pub(super) left: Option<Map<String, Value>>,
    /// Of the definition.
    pub(super) secrets: Arc<Hidden>,
    pub(super) deed: DeedRef,
    pub(super) kind: DeedKind,
}

/// Resources that a task was given along.
pub(super) struct Siblings {
    pub stack: Arc<Stack>,
    pub rows: Vec<(StackResource, ResourceBody)>,
}

/// What came of a deed.
pub(crate) struct Told {
    stack: StackId,
    pub(super) deed: DeedRef,
    pub(super) progress: Result<Progress, Error>,
}

impl Told {
    /// Nobody knows what came of it; it is carried out again.
    pub(crate) fn broken(stack: StackId, deed: DeedRef) -> Told {
        let error = Error::internal("whoever carried it out broke off");
        Told { stack, deed, progress: Err(error) }
    }

    pub(crate) fn stack(&self) -> StackId {
        self.stack
    }

    pub(crate) fn deed(&self) -> DeedRef {
        self.deed
    }
}

impl Others for Siblings {
    fn find(&self, reference: &str) -> Option<Seen<'_>> {
        let seen = |(row, body)| Seen { stack: &self.stack, row, body, child: None };
        let mut all = self.rows.iter().map(|(row, body)| seen((row, body)));
        all.find(|seen| is_meant(seen, reference))
    }
}

/// Whether a resource is the one that is referred to so.
pub(super) fn is_meant(seen: &Seen<'_>, reference: &str) -> bool {
    seen.reference_text() == reference
        || seen.row.physical.as_deref() == Some(reference)
        || seen.row.name == reference
}

impl Task {
    pub(crate) fn stack(&self) -> StackId {
        self.stack.id
    }

    pub(crate) fn deed(&self) -> DeedRef {
        self.deed
    }

    /// What is secret of everything that it was given.
    fn hidden(&self) -> Arc<Hidden> {
        let mut found = self.secrets.values().to_vec();
        let bodies = self.others.rows.iter().map(|(_, body)| body).chain([&self.body]);
        for body in bodies {
            if let Some(plugin) = self.control.stack_plugin(&body.plugin) {
                secrets_of(plugin.as_ref(), body, &mut found);
            }
        }
        Hidden::of(found)
    }

    /// Carries the deed out, or goes on with it.
    pub(crate) async fn run(self) -> Told {
        let (key, wanted) = (self.row.deed_key(), wanted_of(&self.body));
        let desk = StackDesk {
            control: &self.control,
            key: &self.key,
            stack: &self.stack,
            row: &self.row,
            others: &self.others,
        };
        let now = desk.control().now();
        let ctx = Ctx {
            seen: Seen {
                stack: &self.stack,
                row: &self.row,
                body: &self.body,
                child: self.child.as_ref(),
            },
            wanted: &wanted,
            key: &key,
            begun: self.row.deed.as_ref().map_or(now, |deed| deed.time_begun),
            now,
            files: &self.files,
            desk: &desk,
        };
        let called = call(self.plugin.as_ref(), &ctx, self.kind, self.left.as_ref());
        let progress = within(&self.control, CALL_MAX, called).await;
        if let Err(error) = &progress {
            let (stack, resource) = (&self.stack.name, &self.row.name);
            let error = self.hidden().scrub(&chain(error).to_string());
            tracing::debug!(%stack, resource, error, "a deed of a stack met an error");
        }
        Told { stack: self.stack.id, deed: self.deed, progress }
    }
}
