//! State for steps: what the modules of a step say of entries, in terms of the project's state.
//!
//! Entries are those of the namespace `default`. What a change does to a value is decided by the same function as on a
//! developer's machine (`Change::apply`), and written only if nobody else changed the entry meanwhile; then it is decided
//! again. The exception is counting in whole numbers, which the state does by itself.
//!
//! A change comes with a promise that it is the same one when it comes again. What it did is found in the log of the
//! state then, and answered as it was the first time.

use hostler_lua::modules::services::wire::Reply;
use hostler_lua::modules::services::{Change, Changed, Entry, Next, ServiceError, codec};
use hostler_model::{
    Code, Error, Limit, Name, STATE_OPS_MAX, StateAct, StateAddress, StateCondition, StateKey,
    StateMark, StateOp, StateRecord, StateRelation, StateTtl, StateTxn, StateValue, Timestamp,
};
use hostler_store::Claim;
use serde_json::{Number, Value as Json};

use super::state::StatePlace;
use super::step_ask::{Stepper, unfit};
use crate::state::Once;
use crate::{Control, Idempotency};

/// How often a change is decided again because somebody else changed the entry.
const TRIES: u32 = 64;
/// Entries of one answer, and bytes of their values, about.
const PAGE: Limit = match Limit::new(50) {
    Some(limit) => limit,
    None => Limit::DEFAULT,
};
const PAGE_KEYS: Limit = match Limit::new(1000) {
    Some(limit) => limit,
    None => Limit::DEFAULT,
};
const PAGE_BYTES: usize = 1 << 20;

fn namespace() -> Name {
    "default".parse().expect("it is a name")
}

fn place(key: &str) -> Result<StatePlace, Error> {
    let key = key.parse::<StateKey>().map_err(|error| unfit(&error))?;
    Ok(StatePlace { namespace: namespace(), key })
}

fn entry(record: StateRecord) -> Entry {
    Entry {
        value: record.value.as_deref().map_or(Json::Null, codec::decode),
        time_modified: record.time_modified,
        time_expires: record.time_expires,
    }
}

impl Control {
    async fn step_record(
        &self,
        step: &Stepper,
        place: &StatePlace,
    ) -> Result<Option<StateRecord>, Error> {
        match self.state_get(&step.project, place).await {
            Ok(record) => Ok(Some(record)),
            Err(error) if error.code == Code::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) async fn step_state_get(
        &self,
        step: &Stepper,
        key: &str,
    ) -> Result<Option<Entry>, Error> {
        Ok(self.step_record(step, &place(key)?).await?.map(entry))
    }

    pub(super) async fn step_state_list(
        &self,
        step: &Stepper,
        prefix: &str,
        after: Option<&str>,
        with_values: bool,
    ) -> Result<Reply, Error> {
        let limit = if with_values { PAGE } else { PAGE_KEYS };
        let (project, namespace) = (&step.project, &namespace());
        let listed = self.state_list(project, namespace, prefix, with_values, after, limit);
        let (page, _) = listed.await?;
        let mut next = page.next;
        let (mut entries, mut bytes) = (Vec::with_capacity(page.items.len()), 0);
        for record in page.items {
            let (key, size) = (record.at.key.to_string(), usize::try_from(record.size));
            bytes += size.unwrap_or(usize::MAX);
            entries.push((key.clone(), entry(record)));
            if with_values && bytes > PAGE_BYTES {
                next = Some(key);
                break;
            }
        }
        Ok(Reply::Entries { entries, next })
    }

    /// How many of these entries there were.
    pub(super) async fn step_state_forget(
        &self,
        step: &Stepper,
        keys: &[String],
    ) -> Result<usize, Error> {
        let mut count = 0;
        for some in keys.chunks(STATE_OPS_MAX) {
            let delete = |key: &String| {
                let at = place(key)?.of(&step.project);
                Ok(StateOp { at, act: StateAct::Delete })
            };
            let then = some.iter().map(delete).collect::<Result<Vec<_>, Error>>()?;
            let txn = StateTxn { then, ..StateTxn::default() };
            let answer = self.state_transact(txn, step.cx.actor(), None).await?;
            count += answer.results.iter().filter(|result| result.is_deleted).count();
        }
        Ok(count)
    }

    /// Changes an entry, once.
    pub(super) async fn step_state_change(
        &self,
        step: &Stepper,
        key: &str,
        change: Change,
        idempotency: Idempotency,
    ) -> Result<Changed, Error> {
        let place = place(key)?;
        let at = place.of(&step.project);
        let principal = step.cx.caller.principal_id;
        let once = Once { principal, idempotency, only_held: true };
        if let Some(counted) = self.step_count(step, &at, &change, &once).await? {
            return Ok(counted);
        }
        for _ in 0..TRIES {
            let found = self.step_record(step, &place).await?;
            let revision = found.as_ref().map_or(0, |record| record.revision);
            // What is found is alive; when it ends is not decided here.
            let known = found.map(|record| Entry { time_expires: None, ..entry(record) });
            let (next, changed) =
                change.clone().apply(key, known.as_ref(), Timestamp::EPOCH).map_err(misfit)?;
            let act = match act(&change, next) {
                Some(act) if changed.is_applied => act,
                _ => {
                    // It may be so because this very change was made before.
                    let done = self.step_done(&once, &at, &change).await?;
                    return Ok(done.unwrap_or(changed));
                }
            };
            let condition =
                StateCondition::Mark(StateMark::Revision, StateRelation::Equal, revision);
            let txn = StateTxn::one_if(condition, StateOp { at: at.clone(), act });
            match self.state_transact(txn, step.cx.actor(), Some(once.clone())).await {
                Ok(answer) if answer.is_held => return Ok(changed),
                Ok(_) => {}
                Err(error) if error.code == Code::Conflict => {
                    return self.step_done(&once, &at, &change).await?.ok_or(error);
                }
                Err(error) => return Err(error),
            }
        }
        Err(Error::new(
            Code::Unavailable,
            format!("too many change state `{key}` at the same time"),
            "use several keys, or a lock",
        ))
    }

    /// Counts in whole numbers; nothing where the entry is none, or the change another.
    async fn step_count(
        &self,
        step: &Stepper,
        at: &StateAddress,
        change: &Change,
        once: &Once,
    ) -> Result<Option<Changed>, Error> {
        let Some(by) = whole(change) else { return Ok(None) };
        let act = StateAct::Increment { by, ttl: StateTtl::Keep };
        let txn = StateTxn::one(StateOp { at: at.clone(), act });
        match self.state_transact(txn, step.cx.actor(), Some(once.clone())).await {
            Ok(answer) => {
                let number = answer.results.first().and_then(|result| result.number);
                let after = number.map(|number| Json::Number(Number::from(number)));
                Ok(Some(Changed { is_applied: true, before: None, after }))
            }
            // It was made before, or what is there is no whole number.
            Err(error) if error.code == Code::Conflict => self.step_done(once, at, change).await,
            Err(error) => Err(error),
        }
    }

    /// What a change did that was made before.
    async fn step_done(
        &self,
        once: &Once,
        at: &StateAddress,
        change: &Change,
    ) -> Result<Option<Changed>, Error> {
        let Once { principal, idempotency: Idempotency { key, request_hash }, .. } = once;
        let claim = self
            .store
            .tx("step_done", |tx| {
                Box::pin(async move {
                    Ok::<_, Error>(tx.idempotency_find(*principal, key, request_hash).await?)
                })
            })
            .await?;
        let revision = match claim {
            Claim::Fresh => return Ok(None),
            Claim::Replay(done) => done.id.parse::<u64>().map_err(Error::internal)?,
            Claim::Mismatch => {
                return Err(Error::new(
                    Code::KeyReused,
                    "two changes came with one id",
                    "give every change an id of its own",
                ));
            }
        };
        let gone = || {
            Error::conflict(
                format!(
                    "this change was made before, at revision {revision}, and what it did is not known any more"
                ),
                "look at the entry",
            )
        };
        let mut read = self.store.read().await?;
        let batch = read.state_log_at(revision).await?.ok_or_else(gone)?;
        let is_it = |revision: u64| {
            move |c: &&hostler_model::StateChange| c.revision == revision && c.at == *at
        };
        let made = batch.changes.iter().find(is_it(revision)).ok_or_else(gone)?;
        let value = |value: &Option<StateValue>| value.as_deref().map(codec::decode);
        let after = match change {
            Change::Pop => {
                let before = read.state_log_at(made.previous).await?.ok_or_else(gone)?;
                let before = before.changes.iter().find(is_it(made.previous)).ok_or_else(gone)?;
                match value(&before.value) {
                    Some(Json::Array(mut items)) => items.pop(),
                    _ => return Err(gone()),
                }
            }
            _ => value(&made.value),
        };
        Ok(Some(Changed { is_applied: true, before: None, after }))
    }
}

/// By how much it counts, where that is a whole number that is exact.
#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53 are exact")]
fn whole(change: &Change) -> Option<i64> {
    match change {
        Change::Add(by) if by.fract() == 0.0 && by.abs() < 9_007_199_254_740_992.0 => {
            Some(*by as i64)
        }
        _ => None,
    }
}

/// What is done to the entry for a change.
fn act(change: &Change, next: Next) -> Option<StateAct> {
    let time = |ttl: Option<hostler_model::Span>| ttl.map_or(StateTtl::Never, StateTtl::After);
    Some(match (next, change) {
        (Next::Keep, _) => return None,
        (Next::Remove, _) => StateAct::Delete,
        (Next::Put(_), Change::Expire(ttl)) => StateAct::Touch { ttl: time(*ttl) },
        (Next::Put(entry), change) => {
            let ttl = match change {
                Change::Set { ttl, .. } => time(*ttl),
                _ => StateTtl::Keep,
            };
            StateAct::Put { value: codec::encode(&entry.value).into(), ttl }
        }
    })
}

fn misfit(error: ServiceError) -> Error {
    match error {
        ServiceError::Refused(words) => Error::new(Code::Invalid, words, ""),
        unavailable => Error::internal(unavailable),
    }
}
