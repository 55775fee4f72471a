//! Writes what a pass decided: all of it, if nobody else was faster.

use std::collections::HashSet;

use super::StackKey;
use super::child::Below;
use super::document::document;
use super::hidden::Hidden;
use super::pass::{Company, Walk};
use super::perform::{Task, Told};
use crate::Control;
use hostler_engine::stack::{Changes, DeedRef, Ended, Happening};
use hostler_model::stack::{
    SnapshotBody, Stack, StackAction, StackDependency, StackEvent, StackEventStatus, StackResource,
    StackRevision, StackStatus,
};
use hostler_model::{Error, EventKind, Limit, NewAuditEntry, NewEvent, StackEventId, Timestamp};
use hostler_store::{StackChange, Tx};

/// What became of a pass over a stack.
pub(crate) struct Advanced {
    /// What is kept in memory of it; nothing when it is to be read anew.
    pub walk: Option<Walk>,
    /// Deeds that are committed, and wait to be carried out.
    pub tasks: Vec<Task>,
    /// Whether something was written.
    pub is_moved: bool,
    /// Somebody else was faster, so what came of deeds is not written.
    pub is_lost: bool,
    /// Whether there is more to do at once.
    pub is_more: bool,
}

/// Everything that one transaction writes.
struct Writing {
    stack: Stack,
    resources: Vec<StackResource>,
    gone: Vec<hostler_model::StackResourceId>,
    events: Vec<StackEvent>,
    news: Vec<NewEvent>,
    audits: Vec<NewAuditEntry>,
    below: Vec<Below>,
    revision: Option<StackRevision>,
    /// What a snapshot holds that was taken, and what it is sealed with.
    snapshot: Option<(StackKey, SnapshotBody)>,
    /// What the stack uses of others, when it went back to what it was, or is below another.
    uses: Option<Vec<StackDependency>>,
    /// It ended, and somebody may wait for it.
    is_end: bool,
}

impl Writing {
    /// Nothing but the stack itself.
    fn of(stack: Stack) -> Writing {
        Writing {
            stack,
            resources: Vec::new(),
            gone: Vec::new(),
            events: Vec::new(),
            news: Vec::new(),
            audits: Vec::new(),
            below: Vec::new(),
            revision: None,
            snapshot: None,
            uses: None,
            is_end: false,
        }
    }
}

impl Control {
    /// Looks at a stack, does what can be done, and writes it. A walk that is given is believed as long as the stack is as it
    /// was written then.
    pub(crate) async fn stack_advance(
        &self,
        id: hostler_model::StackId,
        kept: Option<Walk>,
        told: &[Told],
        flying: &HashSet<DeedRef>,
    ) -> Result<Advanced, Error> {
        let nothing = Advanced {
            walk: None,
            tasks: Vec::new(),
            is_moved: false,
            is_lost: false,
            is_more: false,
        };
        let mut read = self.store.read().await?;
        let Some(stack) = read.stack_get(id).await?.filter(|stack| !stack.is_deleted()) else {
            return Ok(nothing);
        };
        let kept = kept.filter(|walk| walk.generation == stack.generation);
        let mut walk = match kept {
            Some(walk) => walk,
            None => {
                let mut scene = self.stack_scene(&mut read, stack).await?;
                if scene.trouble.is_none() {
                    scene.trouble = self.stack_crowd(&mut read, &scene).await?;
                }
                Walk::new(self, scene)?
            }
        };
        drop(read);
        let company = Company { control: self, flying };
        let is_more = walk.advance(&company, told).await;
        let Some(writing) = self.stack_writing(&mut walk)? else {
            let walk = (!walk.is_at_rest()).then_some(walk);
            return Ok(Advanced { walk, is_more, ..nothing });
        };
        if !self.stack_write(&writing, walk.generation).await? {
            return Ok(Advanced { is_lost: true, is_more: true, ..nothing });
        }
        self.stack_tally.told(&writing.stack, &writing.events);
        walk.generation = walk.generation.next();
        let tasks = walk.take_tasks(self);
        self.feed.ring();
        if writing.is_end || !writing.below.is_empty() {
            self.wakers.stack.wake();
        }
        let is_turning = walk.course.ended() == Some(Ended::RollingBack);
        let is_kept = !walk.is_at_rest() && !is_turning && writing.below.is_empty();
        Ok(Advanced {
            walk: is_kept.then_some(walk),
            tasks,
            is_moved: true,
            is_lost: false,
            is_more: is_more || is_turning,
        })
    }

    /// Writes what a signal led to, and that it came. False when somebody else was faster.
    pub(super) async fn stack_write_signal(
        &self,
        walk: &mut Walk,
        happening: &Happening,
        news: NewEvent,
        audit: NewAuditEntry,
    ) -> Result<bool, Error> {
        let writing = self.stack_writing(walk)?;
        let mut writing = writing.unwrap_or_else(|| Writing::of(walk.stack()));
        let event = self.stack_event(walk, happening, &Hidden::nothing(), self.now());
        writing.events.insert(0, event);
        writing.news.push(news);
        writing.audits.push(audit);
        self.stack_write(&writing, walk.generation).await
    }

    /// What a walk has to write; nothing when it is as it was.
    fn stack_writing(&self, walk: &mut Walk) -> Result<Option<Writing>, Error> {
        let now = self.now();
        walk.seal()?;
        let ended = walk.news_of_end();
        let mut changes = walk.course.take_changes();
        let wishes = std::mem::take(&mut walk.wishes);
        if changes.is_empty() && wishes.is_empty() && ended.is_none() {
            return Ok(None);
        }
        let mut stack = walk.stack();
        let hidden = match is_failing(&stack, &changes) {
            true => walk.hidden(self),
            false => Hidden::nothing(),
        };
        veil(&mut stack, &mut changes, &hidden);
        let events = changes.happenings.iter();
        let events = events.map(|it| self.stack_event(walk, it, &hidden, now)).collect();
        let mut writing = Writing {
            stack,
            resources: changes.rows.into_iter().map(|row| row.resource).collect(),
            gone: changes.gone,
            events,
            news: Vec::new(),
            audits: Vec::new(),
            below: self.stack_below(walk, wishes)?,
            revision: None,
            snapshot: None,
            uses: None,
            is_end: ended.is_some(),
        };
        for (id, hook) in std::mem::take(&mut walk.paused) {
            let Some(row) = walk.course.row(id) else { continue };
            let words = format!("{}: {}", row.name, hook.paused());
            writing.news.push(self.stack_news(&writing.stack, EventKind::StackPaused, words));
        }
        if let Some(ended) = ended {
            self.stack_end(walk, &mut writing, &changes.happenings, ended)?;
            walk.is_told = true;
        }
        Ok(Some(writing))
    }

    /// What belongs to the end of a change: the revision, and what everybody is told.
    fn stack_end(
        &self,
        walk: &Walk,
        writing: &mut Writing,
        happenings: &[Happening],
        ended: Ended,
    ) -> Result<(), Error> {
        let action = writing.stack.standing.action;
        let is_version = matches!(
            action,
            StackAction::Create
                | StackAction::Update
                | StackAction::Adopt
                | StackAction::Restore
                | StackAction::Rollback
        );
        if ended == Ended::Complete
            && is_version
            && let Some(definition) = writing.stack.wanted
        {
            let number = writing.stack.revision + 1;
            let blueprint = walk.blueprint.as_ref();
            let asked_by = blueprint.and_then(|blueprint| blueprint.created_by.clone());
            let is_asked = action != StackAction::Rollback;
            let said = blueprint.map(|blueprint| blueprint.reason.clone());
            let said = said.filter(|said| is_asked && !said.is_empty());
            let body = self.stack_document(walk);
            writing.stack.revision = number;
            writing.revision = Some(StackRevision {
                stack_id: writing.stack.id,
                number,
                definition,
                action,
                reason: said.unwrap_or_else(|| writing.stack.standing.reason.clone()),
                resources: u32::try_from(body.resources.len()).unwrap_or(u32::MAX),
                sealed: walk.key.seal_revision(number, &body)?,
                created_by: asked_by.unwrap_or_else(|| self.system_actor()),
                time_created: self.now(),
            });
        }
        // What a stack below uses is known when it has seen its parameters; nobody asks for it by itself.
        let is_below = writing.stack.parent.is_some() && is_version;
        if (action == StackAction::Rollback || is_below)
            && let Some(blueprint) = &walk.blueprint
        {
            writing.uses = Some(blueprint.dependencies(&writing.stack));
        }
        if action == StackAction::Snapshot {
            writing.snapshot = Some((walk.key.clone(), self.stack_document(walk)));
        }
        if writing.stack.parent.is_some() {
            return Ok(());
        }
        let of_stack = happenings.iter().filter(|it| it.resource_id.is_none());
        for it in of_stack {
            let StackEventStatus::Stack(action, status) = it.status else { continue };
            let kind = match status {
                StackStatus::InProgress => EventKind::StackBegun,
                StackStatus::Failed => EventKind::StackFailed,
                StackStatus::Complete if action == StackAction::Delete => EventKind::StackRemoved,
                StackStatus::Complete => EventKind::StackCompleted,
            };
            let mut as_told = writing.stack.clone();
            as_told.standing.action = action;
            as_told.standing.status = status;
            as_told.standing.reason.clone_from(&it.reason);
            writing.news.push(self.stack_news(&as_told, kind, it.reason.clone()));
        }
        Ok(())
    }

    /// The objects of a stack and its outputs, as they are now.
    fn stack_document(&self, walk: &Walk) -> SnapshotBody {
        let outputs = walk.with_scope(self, |blueprint, scope| blueprint.outputs(scope));
        document(walk.course.rows(), &walk.bodies, outputs.unwrap_or_default())
    }

    fn stack_event(
        &self,
        walk: &Walk,
        happening: &Happening,
        hidden: &Hidden,
        now: Timestamp,
    ) -> StackEvent {
        let is_failure =
            matches!(happening.status, StackEventStatus::Resource(_, StackStatus::Failed));
        let properties = happening.resource_id.filter(|_| is_failure).and_then(|id| {
            let mut shown = serde_json::Value::Object(walk.bodies.get(&id)?.properties.clone());
            walk.blueprint.as_ref()?;
            hidden.hide(&mut shown);
            Some(shown)
        });
        StackEvent { properties, ..self.stack_event_of(walk.id(), happening, now) }
    }

    /// A line of a stack's history.
    pub(crate) fn stack_event_of(
        &self,
        stack: hostler_model::StackId,
        happening: &Happening,
        now: Timestamp,
    ) -> StackEvent {
        let Happening { resource_id, name, kind, physical, status, reason } = happening.clone();
        let id = self.ids.fresh::<StackEventId>();
        StackEvent {
            id,
            stack_id: stack,
            resource_id,
            name,
            kind,
            physical,
            status,
            reason,
            properties: None,
            time: now,
        }
    }

    /// False when somebody else has written to the stack since it was read.
    async fn stack_write(
        &self,
        writing: &Writing,
        expected: hostler_model::Generation,
    ) -> Result<bool, Error> {
        self.store
            .tx("stack_advance", |tx| {
                Box::pin(async move {
                    let change = StackChange {
                        stack: &writing.stack,
                        resources: &writing.resources,
                        gone: &writing.gone,
                        events: &writing.events,
                    };
                    if !tx.stack_save(change, expected).await?.is_updated() {
                        return Ok(false);
                    }
                    if let Some(revision) = &writing.revision {
                        tx.stack_revision_insert(revision).await?;
                    }
                    if let Some((key, body)) = &writing.snapshot {
                        self.stack_snapshot_write(tx, &writing.stack, key, body).await?;
                    }
                    if let Some(uses) = &writing.uses {
                        tx.stack_dependency_set(writing.stack.id, uses).await?;
                    }
                    for below in &writing.below {
                        self.stack_below_write(tx, below).await?;
                    }
                    if writing.is_end {
                        tx.stack_definition_prune(writing.stack.id).await?;
                        self.stack_wake_above(tx, &writing.stack).await?;
                    }
                    if !writing.news.is_empty() || !writing.audits.is_empty() {
                        tx.journal_append(&writing.news, &writing.audits).await?;
                    }
                    Ok::<_, Error>(true)
                })
            })
            .await
    }

    /// The snapshots that somebody asked for are taken, or cannot be.
    async fn stack_snapshot_write(
        &self,
        tx: &mut Tx<'_>,
        stack: &Stack,
        key: &StackKey,
        body: &SnapshotBody,
    ) -> Result<(), Error> {
        let all = tx.stack_snapshot_list(stack.id, None, Limit::LARGEST).await?.items;
        for mut snapshot in all.into_iter().filter(|one| one.status == StackStatus::InProgress) {
            snapshot.status = stack.standing.status;
            snapshot.reason.clone_from(&stack.standing.reason);
            snapshot.sealed = key.seal_snapshot(snapshot.id, body)?;
            tx.stack_snapshot_end(&snapshot).await?;
        }
        Ok(())
    }

    /// Whoever is the resource that this stack is, has to look at it now.
    async fn stack_wake_above(&self, tx: &mut Tx<'_>, stack: &Stack) -> Result<(), Error> {
        let Some(parent) = stack.parent else { return Ok(()) };
        let Some(mut above) = tx.stack_get(parent.stack_id).await? else { return Ok(()) };
        let Some(mut row) = tx.stack_resource_get(parent.resource_id).await? else { return Ok(()) };
        let now = self.now();
        let Some(deed) = row.deed.as_mut().filter(|deed| deed.owner.is_none()) else {
            return Ok(());
        };
        deed.time_due = Some(now);
        above.time_due = Some(above.time_due.map_or(now, |due| due.min(now)));
        row.sealed = Vec::new();
        let expected = above.generation;
        let resources = std::slice::from_ref(&row);
        let change = StackChange { resources, ..StackChange::of(&above) };
        tx.stack_save(change, expected).await?.required("stack", above.id)?;
        Ok(())
    }
}

/// Only what fails says something that comes from values.
fn is_failing(stack: &Stack, changes: &Changes) -> bool {
    let is_failed = |status: StackEventStatus| {
        matches!(
            status,
            StackEventStatus::Stack(_, StackStatus::Failed)
                | StackEventStatus::Resource(_, StackStatus::Failed)
        )
    };
    stack.failure.is_some()
        || stack.standing.status == StackStatus::Failed
        || changes.rows.iter().any(|row| row.resource.standing.status == StackStatus::Failed)
        || changes.happenings.iter().any(|it| is_failed(it.status))
}

/// Reasons are kept in clear and told to everybody: nothing that is secret stands in them.
fn veil(stack: &mut Stack, changes: &mut Changes, hidden: &Hidden) {
    if hidden.is_empty() {
        return;
    }
    let rows = changes.rows.iter_mut().map(|row| &mut row.resource.standing.reason);
    let told = changes.happenings.iter_mut().map(|it| &mut it.reason);
    let own = [&mut stack.standing.reason].into_iter();
    let failure = stack.failure.iter_mut().map(|failure| &mut failure.reason);
    for reason in rows.chain(told).chain(own).chain(failure) {
        *reason = hidden.scrub(reason);
    }
}
