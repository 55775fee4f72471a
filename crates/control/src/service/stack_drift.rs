//! Drift: what is in the world is compared with what a stack says, when somebody asks and as often as was chosen for the stack.
//!
//! What was found last is kept. An event tells of it when it is not what was found before. It is put right by a plan
//! ([`StackIntent::Fix`](super::stack_plan::StackIntent::Fix)).

use hostler_model::stack::{Stack, StackDrift, StackDriftItem, StackDriftKind, StackStatus};
use hostler_model::{Error, EventKind, Permission, Project};
use serde_json::{Value, json};

use super::stack_refusal::StackRefusal;
use crate::stack::{stack_object, stack_payload};
use crate::{Control, Cx, audit_state};

/// How many objects are named in an event.
const NAMED: usize = 5;

/// What was found when somebody looked last.
#[derive(Clone, Debug)]
pub struct StackDriftDetail {
    pub drift: StackDrift,
    pub items: Vec<StackDriftItem>,
    /// Nothing was changed since.
    pub is_current: bool,
}

impl Control {
    /// Looks at every object of a stack, and keeps what was found.
    pub async fn stack_drift_detect(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<StackDriftDetail, StackRefusal> {
        let (_, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        if stack.is_deleted() {
            return Err(StackRefusal::missing("stack", name_or_id));
        }
        let (drift, items) = self.stack_drift_now(&stack).await?;
        self.stack_drift_keep(Some(cx), &stack, &drift, &items).await?;
        let now = self.stack_known(project, stack.id).await?;
        Ok(StackDriftDetail { is_current: now.traversal == drift.traversal, drift, items })
    }

    /// What was found last; nothing when nobody has looked.
    pub async fn stack_drift_get(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Option<StackDriftDetail>, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let Some(drift) = read.stack_drift_get(stack.id).await? else { return Ok(None) };
        let items = serde_json::from_value(drift.report.clone()).map_err(Error::internal)?;
        let is_current = stack.traversal == drift.traversal;
        Ok(Some(StackDriftDetail { drift, items, is_current }))
    }

    /// Looks because the time for it has come. False when somebody else was faster.
    pub(crate) async fn stack_drift_due(&self, stack: &Stack) -> Result<bool, Error> {
        let (drift, items) = self.stack_drift_now(stack).await?;
        self.stack_drift_keep(None, stack, &drift, &items).await
    }

    pub(super) async fn stack_drift_now(
        &self,
        stack: &Stack,
    ) -> Result<(StackDrift, Vec<StackDriftItem>), Error> {
        let stage = {
            let mut read = self.store.read().await?;
            self.stack_stage(&mut read, stack.clone()).await?
        };
        let items = self.stack_drift_look(&stage).await;
        let count = |is_meant: fn(StackDriftKind) -> bool| {
            let found = items.iter().filter(|item| is_meant(item.drift)).count();
            u32::try_from(found).unwrap_or(u32::MAX)
        };
        let drift = StackDrift {
            stack_id: stack.id,
            traversal: stage.scene.stack.traversal,
            looked: count(|kind| kind != StackDriftKind::Unknown),
            changed: count(|kind| kind.is_drift() && kind != StackDriftKind::Missing),
            missing: count(|kind| kind == StackDriftKind::Missing),
            unknown: count(|kind| kind == StackDriftKind::Unknown),
            report: serde_json::to_value(&items).map_err(Error::internal)?,
            time: self.now(),
        };
        Ok((drift, items))
    }

    /// Keeps what was found, and tells of it when it is news.
    async fn stack_drift_keep(
        &self,
        cx: Option<&Cx>,
        stack: &Stack,
        drift: &StackDrift,
        items: &[StackDriftItem],
    ) -> Result<bool, Error> {
        let actor = cx.map_or_else(|| self.system_actor(), Cx::actor);
        let (object, of) = (&stack_object(stack), Some(stack.project_id));
        let event = &self
            .event(EventKind::StackDrifted, of, object, actor, words(items))
            .with_payload(stack_payload(stack));
        let is_kept = self
            .store
            .tx("stack_drift", |tx| {
                Box::pin(async move {
                    let before = tx.stack_drift_get(stack.id).await?;
                    let since = before.as_ref().map(|before| before.time);
                    let every = stack.options.drift_every.filter(|_| cx.is_none());
                    let is_early = every
                        .zip(since)
                        .is_some_and(|(every, since)| since.plus(every.duration()) > drift.time);
                    if is_early || !tx.stack_drift_put(drift).await? {
                        return Ok(false);
                    }
                    let known = before.as_ref().map_or(&Value::Null, |before| &before.report);
                    let news = match drift.is_drifted() && differs(known, &drift.report) {
                        true => std::slice::from_ref(event),
                        false => &[],
                    };
                    let entry = cx.map(|cx| {
                        self.audit(cx, "stack.drift", object, of, json!({})).with_states(
                            before.as_ref().map(audit_state::stack_drift).as_ref(),
                            Some(&audit_state::stack_drift(drift)),
                        )
                    });
                    if !news.is_empty() || entry.is_some() {
                        tx.journal_append(news, entry.as_slice()).await?;
                    }
                    Ok::<_, Error>(true)
                })
            })
            .await?;
        self.feed.ring();
        Ok(is_kept)
    }

    /// Whether drift of a stack is to be looked for by itself as it stands.
    pub(crate) fn stack_wants_drift(stack: &Stack) -> bool {
        stack.wanted.is_some()
            && stack.standing.status != StackStatus::InProgress
            && !stack.is_deleted()
    }
}

/// Whether something else differs than before.
fn differs(before: &Value, after: &Value) -> bool {
    let drifted = |report: &Value| -> Vec<Value> {
        let items = report.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_drift = |item: &&Value| {
            let kind = item.get("drift").and_then(Value::as_str).and_then(|it| it.parse().ok());
            kind.is_some_and(StackDriftKind::is_drift)
        };
        items.iter().filter(is_drift).cloned().collect()
    };
    drifted(before) != drifted(after)
}

fn words(items: &[StackDriftItem]) -> String {
    let drifted: Vec<&StackDriftItem> = items.iter().filter(|item| item.drift.is_drift()).collect();
    let one = |item: &&StackDriftItem| {
        let path: Vec<&str> =
            item.path.iter().map(String::as_str).chain([item.name.as_str()]).collect();
        format!("{} ({})", path.join("/"), item.drift)
    };
    let named: Vec<String> = drifted.iter().take(NAMED).map(one).collect();
    let more = match drifted.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("not as the template says: {}{more}", named.join(", "))
}
