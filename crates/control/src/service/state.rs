//! State: reading, changing, listing, looking back, watching, emptying.
//!
//! Whoever may write may write everything of the project's state; there is no ownership below that, as
//! entries are there to be shared. `owner` says who changed an entry last.
//!
//! What empties a namespace is recorded before the first entry goes, with what the namespace held. It is
//! done page by page, so that others get their turn in between, and ends when nothing is left of what was
//! there; each entry's end is in the log like any other.

use hostler_model::{
    Code, Error, EventKind, Limit, Name, ObjectKind, ObjectRef, Page, Project, StateAct,
    StateAddress, StateAnswer, StateCondition, StateKey, StateMark, StateOp, StatePayload,
    StateRecord, StateRelation, StateSum, StateTtl, StateTxn, StateValue,
};
use hostler_store::StateListing;
use serde_json::json;

use crate::state::feed::gone;
use crate::state::{Once, StateFollower, StateSeen};
use crate::{Control, Cx, audit_state};

/// Entries that go with one commit when a namespace is emptied.
const CLEAR_PAGE: Limit = match Limit::new(500) {
    Some(limit) => limit,
    None => Limit::DEFAULT,
};

/// An entry of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePlace {
    pub namespace: Name,
    pub key: StateKey,
}

impl StatePlace {
    pub fn of(&self, project: &Project) -> StateAddress {
        StateAddress {
            project_id: project.id,
            namespace: self.namespace.clone(),
            key: self.key.clone(),
        }
    }
}

/// What has to be true of an entry for one change of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StatePrecondition {
    #[default]
    None,
    Absent,
    /// Its revision is this.
    Revision(u64),
}

impl StatePrecondition {
    pub fn txn(self, op: StateOp) -> StateTxn {
        match self {
            StatePrecondition::None => StateTxn::one(op),
            StatePrecondition::Absent => StateTxn::one_if(StateCondition::Absent, op),
            StatePrecondition::Revision(revision) => {
                let is = StateRelation::Equal;
                StateTxn::one_if(StateCondition::Mark(StateMark::Revision, is, revision), op)
            }
        }
    }
}

fn absent(place: &StatePlace) -> Error {
    Error::new(
        Code::NotFound,
        format!("there is no `{}` in the namespace `{}`", place.key, place.namespace),
        format!("list what there is with `hostler state ls --namespace {}`", place.namespace),
    )
}

impl Control {
    /// Entries by key, without what is past its time; with the revision to watch from.
    pub async fn state_list(
        &self,
        project: &Project,
        namespace: &Name,
        prefix: &str,
        with_values: bool,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<(Page<StateRecord>, u64), Error> {
        let mut read = self.store.read().await?;
        let head = read.state_head().await?;
        let of = StateListing {
            project: project.id,
            namespace,
            prefix,
            after,
            with_values,
            now: self.now().max(head.time),
        };
        Ok((read.state_list(of, limit).await?, head.revision))
    }

    pub async fn state_get(
        &self,
        project: &Project,
        place: &StatePlace,
    ) -> Result<StateRecord, Error> {
        let mut read = self.store.read().await?;
        let (_, found) = self.state_seen(&mut read, &[place.of(project).to_string()]).await?;
        found.into_iter().next().ok_or_else(|| absent(place))
    }

    /// Gives an entry a value; fails where the precondition does not hold.
    pub async fn state_put(
        &self,
        cx: &Cx,
        project: &Project,
        place: &StatePlace,
        value: StateValue,
        ttl: StateTtl,
        precondition: StatePrecondition,
    ) -> Result<StateRecord, Error> {
        let op = StateOp { at: place.of(project), act: StateAct::Put { value, ttl } };
        let answer = self.state_single(cx, project, place, op, precondition).await?;
        let entry = answer.results.into_iter().next().and_then(|result| result.entry);
        entry.ok_or_else(|| Error::internal("a put without an entry"))
    }

    /// Takes an entry away; fails where there is none, or where the precondition does not hold.
    pub async fn state_delete(
        &self,
        cx: &Cx,
        project: &Project,
        place: &StatePlace,
        precondition: StatePrecondition,
    ) -> Result<u64, Error> {
        let op = StateOp { at: place.of(project), act: StateAct::Delete };
        let answer = self.state_single(cx, project, place, op, precondition).await?;
        match answer.results.first() {
            Some(result) if result.is_deleted => Ok(answer.revision),
            _ => Err(absent(place)),
        }
    }

    async fn state_single(
        &self,
        cx: &Cx,
        project: &Project,
        place: &StatePlace,
        op: StateOp,
        precondition: StatePrecondition,
    ) -> Result<StateAnswer, Error> {
        let at = place.of(project);
        let mut txn = precondition.txn(op);
        txn.otherwise = vec![StateOp { at, act: StateAct::Get }];
        let answer = self.state_transact(txn, cx.actor(), None).await?;
        if answer.is_held {
            return Ok(answer);
        }
        let now = answer.results.first().and_then(|result| result.entry.as_ref());
        Err(match (precondition, now) {
            (StatePrecondition::Absent, _) => Error::new(
                Code::AlreadyExists,
                format!("`{}` is there already", place.key),
                "read it, and swap it by its revision; or delete it first",
            ),
            (_, Some(entry)) => Error::new(
                Code::Stale,
                format!("`{}` has changed; its revision is now {}", place.key, entry.revision),
                "read it again, look at the change, and repeat with the new revision",
            ),
            (_, None) => absent(place),
        })
    }

    /// Carries a transaction out.
    pub async fn state_commit(&self, cx: &Cx, txn: StateTxn) -> Result<StateAnswer, Error> {
        let once = cx.request.idempotency.clone().map(|idempotency| {
            let principal = cx.caller.principal_id;
            Once { principal, idempotency, only_held: false }
        });
        self.state_transact(txn, cx.actor(), once).await
    }

    /// Namespaces that hold something, and how much.
    pub async fn state_namespaces(
        &self,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StateSum>, Error> {
        Ok(self.store.read().await?.state_namespaces(project.id, after, limit).await?)
    }

    /// Changes of an entry, newest first, as far as they are kept. `before` is the revision that the page
    /// before ended with.
    pub async fn state_history(
        &self,
        project: &Project,
        place: &StatePlace,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<StateSeen>, Error> {
        let at = place.of(project);
        let mut read = self.store.read().await?;
        let mut revision = match before {
            Some(revision) => revision,
            None => {
                let found = read.state_rows(&[at.to_string()], false).await?;
                found.first().ok_or_else(|| absent(place))?.revision
            }
        };
        let mut items: Vec<StateSeen> = Vec::new();
        let mut batch = None;
        while revision > 0 && items.len() < limit.get() as usize {
            let is_in = |b: &hostler_model::StateBatch| (b.first..=b.last).contains(&revision);
            if !batch.as_ref().is_some_and(is_in) {
                batch = read.state_log_at(revision).await?;
            }
            let Some(of) = &batch else {
                if before == Some(revision) {
                    let first = read.state_log_first().await?;
                    let head = read.state_head().await?.revision;
                    return Err(gone(revision, first.unwrap_or(head + 1)));
                }
                revision = 0;
                break;
            };
            let found = of.changes.iter().find(|c| c.revision == revision && c.at == at);
            let Some(change) = found else {
                return Err(Error::invalid(vec![hostler_model::Diagnostic::new(
                    "/query/cursor",
                    "the cursor is of another entry",
                )]));
            };
            revision = change.previous;
            items.push(StateSeen { change: change.clone(), time: of.time });
        }
        Ok(Page { items, next: (revision > 0).then(|| revision.to_string()) })
    }

    /// Follows the changes of entries whose keys begin with `prefix`, after a revision.
    pub async fn state_follow(
        &self,
        project: &Project,
        namespace: Name,
        prefix: String,
        after: Option<u64>,
    ) -> Result<StateFollower, Error> {
        let head = self.store.read().await?.state_head().await?.revision;
        let cursor = after.unwrap_or(head);
        if cursor > head {
            return Err(Error::new(
                Code::CursorGone,
                format!("nothing has revision {cursor} yet: the newest is {head}"),
                "list the entries again, and watch from the `watchCursor` of that list",
            ));
        }
        let bell = self.state.feed.listen();
        let (control, project) = (self.clone(), project.id);
        Ok(StateFollower { control, bell, project, namespace, prefix, cursor })
    }

    /// Deletes everything in a namespace; returns how many entries went.
    pub async fn state_clear(
        &self,
        cx: &Cx,
        project: &Project,
        namespace: &Name,
    ) -> Result<u64, Error> {
        let id = format!("{}/{namespace}", project.id);
        let object = &ObjectRef::new(ObjectKind::StateNamespace, id, namespace);
        self.store
            .tx("state_clear", |tx| {
                Box::pin(async move {
                    let sums = tx.state_sums([(project.id, Some(namespace))]).await?;
                    let Some(sum) = sums.first().filter(|sum| sum.entries > 0) else {
                        return Err(Error::new(
                            Code::NotFound,
                            format!("there is nothing in the namespace `{namespace}`"),
                            "`hostler state namespaces` lists those with something in them",
                        ));
                    };
                    let before = audit_state::state_namespace(namespace, Some(sum));
                    let detail = json!({ "entries": sum.entries, "bytes": sum.bytes });
                    let audit = self
                        .audit(cx, "state.clear", object, Some(project.id), detail)
                        .with_states(Some(&before), None);
                    let words = format!("{} entries, {} bytes", sum.entries, sum.bytes);
                    let kind = EventKind::StateCleared;
                    let event = self
                        .event(kind, Some(project.id), object, cx.actor(), words)
                        .with_payload(StatePayload {
                            namespace: Some(namespace.clone()),
                            entries: Some(sum.entries),
                            bytes: Some(sum.bytes),
                        });
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok(())
                })
            })
            .await?;
        self.feed.ring();
        let mut count = 0;
        loop {
            let (page, _) =
                self.state_list(project, namespace, "", false, None, CLEAR_PAGE).await?;
            if page.items.is_empty() {
                return Ok(count);
            }
            let delete = |record: StateRecord| StateOp { at: record.at, act: StateAct::Delete };
            let then = page.items.into_iter().map(delete).collect();
            let txn = StateTxn { then, ..StateTxn::default() };
            let answer = self.state_transact_large(txn, cx.actor()).await?;
            count += answer.results.iter().filter(|result| result.is_deleted).count() as u64;
        }
    }
}
