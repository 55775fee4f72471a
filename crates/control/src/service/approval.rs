//! Approvals: what waits for others to agree, deciding, taking back, and what follows.
//!
//! A decision, and everything that follows from it (tasks that go on, or never will), is one
//! transaction that begins with reading the request: of two that decide, or of a decision and the end of
//! its time, one comes first and the other finds it settled.

use std::sync::atomic::{AtomicU64, Ordering};

use hostler_model::{
    Approval, ApprovalDecision, ApprovalId, ApprovalRefusal, ApprovalState, Code, Digest, Error,
    EventKind, Limit, Name, Need, NewEvent, Page, Permission, PrincipalKind, RunPayload, TaskEvent,
    TaskStateKind, Workload, approval_digest,
};
use hostler_store::{ApprovalFilter, Conn, Tx};
use serde_json::json;

use super::access::refusal;
use super::approval_gate::{REASON_MAX, approval_object, array_whole, rights_lost, tasks_whole};
use super::project::check_text;
use super::task::{Names, object};
use super::task_submit::{array_object, give_up_time, ready_time};
use crate::ends::{Follow, Moved};
use crate::{Control, Cx, audit_state};

/// A request with names, and whether the caller can decide on it.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalDetail {
    pub approval: Approval,
    /// `None` is the whole installation.
    pub project: Option<Name>,
    pub requested_by: String,
    pub is_decidable: bool,
}

/// Which requests are wanted.
#[derive(Clone, Debug, Default)]
pub struct ApprovalQuery {
    /// Only those the caller made.
    pub is_mine: bool,
    /// Only those the caller can decide on now.
    pub is_to_decide: bool,
    pub state: Option<ApprovalState>,
}

/// What became of requests on this server, since it started.
#[derive(Debug, Default)]
pub(crate) struct ApprovalTally {
    approved: AtomicU64,
    denied: AtomicU64,
    expired: AtomicU64,
    used: AtomicU64,
    broken: AtomicU64,
}

impl ApprovalTally {
    pub(crate) fn used(&self) {
        self.used.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn broken(&self) {
        self.broken.fetch_add(1, Ordering::Relaxed);
    }
}

/// For metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalCounts {
    pub waiting: u64,
    pub approved: u64,
    pub denied: u64,
    pub expired: u64,
    pub used: u64,
    pub broken: u64,
}

/// What a change of a request is recorded as.
struct News {
    kind: EventKind,
    action: &'static str,
    message: String,
}

/// What has to be told after the commit.
#[derive(Default)]
struct After {
    follow: Follow,
    /// An array may be made now.
    is_array: bool,
}

impl Control {
    pub async fn approval_list(
        &self,
        cx: &Cx,
        query: &ApprovalQuery,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ApprovalDetail>, Error> {
        let permission = match query.is_to_decide {
            true => Permission::ApprovalDecide,
            false => Permission::ApprovalRead,
        };
        let projects = match query.is_mine {
            true => None,
            false => cx.caller.projects_with(permission),
        };
        let filter = ApprovalFilter {
            projects: projects.as_deref(),
            requested_by: query.is_mine.then_some(cx.caller.principal_id),
            state: if query.is_to_decide { Some(ApprovalState::Waiting) } else { query.state },
        };
        let mut read = self.store.read().await?;
        let page = read.approval_list(filter, after, limit).await?;
        let mut items = Vec::with_capacity(page.items.len());
        for approval in page.items {
            let detail = self.approval_detail(&mut read, cx, approval).await?;
            if detail.is_decidable || !query.is_to_decide {
                items.push(detail);
            }
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn approval_get(&self, cx: &Cx, id: ApprovalId) -> Result<ApprovalDetail, Error> {
        let mut read = self.store.read().await?;
        let approval = find(&mut read, cx, id).await?;
        self.approval_detail(&mut read, cx, approval).await
    }

    async fn approval_detail(
        &self,
        read: &mut Conn,
        cx: &Cx,
        approval: Approval,
    ) -> Result<ApprovalDetail, Error> {
        let project = match approval.project_id {
            Some(id) => read.project_get(id).await?.map(|project| project.name),
            None => None,
        };
        let requested_by = Names::default().principal(read, approval.requested_by).await?;
        let is_waiting = approval.state_at(self.now()) == ApprovalState::Waiting;
        let is_decidable = is_waiting && decider(read, cx, &approval, true).await?.is_ok();
        Ok(ApprovalDetail { approval, project, requested_by, is_decidable })
    }

    /// Agrees to a request, or not. With `digest`, only if that is what it is for.
    pub async fn approval_decide(
        &self,
        cx: &Cx,
        id: ApprovalId,
        is_approval: bool,
        reason: &str,
        digest: Option<Digest>,
    ) -> Result<ApprovalDetail, Error> {
        let least = usize::from(!is_approval);
        check_text("/reason", reason, least..=REASON_MAX)?;
        let now = self.now();
        let (decided, after) = self
            .store
            .tx("approval_decide", |tx| {
                Box::pin(async move {
                    let before = find(tx, cx, id).await?;
                    if self.claim(tx, cx, &approval_object(&before)).await?.is_some() {
                        return Ok((None, After::default()));
                    }
                    if digest.is_some_and(|digest| digest != before.digest) {
                        return Err(Error::conflict(
                            format!("the request is for {}, another digest", before.digest),
                            format!("look at it again with `hostler approval show {id}`"),
                        ));
                    }
                    let policies = decider(tx, cx, &before, is_approval).await??;
                    let decision = ApprovalDecision {
                        by: cx.caller.principal_id,
                        name: cx.caller.name.clone(),
                        is_approval,
                        reason: reason.to_owned(),
                        policies,
                        time: now,
                    };
                    let decided = before.decided(decision).map_err(|refused| told(id, refused))?;
                    let (last, after) = self.approval_follow(tx, cx, &before, decided).await?;
                    Ok::<_, Error>((Some(last.state), after))
                })
            })
            .await?;
        match decided {
            Some(ApprovalState::Denied) => {
                self.approval_tally.denied.fetch_add(1, Ordering::Relaxed);
            }
            Some(ApprovalState::Approved) => {
                self.approval_tally.approved.fetch_add(1, Ordering::Relaxed);
            }
            Some(ApprovalState::Used) => {
                self.approval_tally.approved.fetch_add(1, Ordering::Relaxed);
                self.approval_tally.used();
            }
            _ => {}
        }
        self.approval_after(after);
        self.approval_get(cx, id).await
    }

    /// Takes a request back that one made oneself.
    pub async fn approval_withdraw(
        &self,
        cx: &Cx,
        id: ApprovalId,
    ) -> Result<ApprovalDetail, Error> {
        let now = self.now();
        let after = self
            .store
            .tx("approval_withdraw", |tx| {
                Box::pin(async move {
                    let before = find(tx, cx, id).await?;
                    if before.requested_by != cx.caller.principal_id {
                        return Err(Error::new(
                            Code::Forbidden,
                            "only who made a request takes it back",
                            format!("who decides denies it: `hostler approval deny {id}`"),
                        ));
                    }
                    if self.claim(tx, cx, &approval_object(&before)).await?.is_some() {
                        return Ok(After::default());
                    }
                    let state = before.state_at(now);
                    if state.is_final() {
                        return Err(told(id, ApprovalRefusal::Settled(state)));
                    }
                    let why = format!("withdrawn by {}", cx.caller.name);
                    let ended = before.ended(ApprovalState::Withdrawn, why, now);
                    let (_, after) = self.approval_follow(tx, cx, &before, ended).await?;
                    Ok::<_, Error>(after)
                })
            })
            .await?;
        self.approval_after(after);
        self.approval_get(cx, id).await
    }

    /// Ends what nobody decided in time, or nobody used, and what nothing waits for any more; says how
    /// many.
    pub async fn approval_sweep(&self) -> Result<usize, Error> {
        const BATCH: u32 = 50;
        let now = self.now();
        let due = {
            let mut read = self.store.read().await?;
            let mut due = read.approval_overdue(now, BATCH).await?;
            due.extend(read.approval_orphans(BATCH).await?);
            due
        };
        let mut count = 0;
        for seen in due {
            let id = seen.id;
            let (state, after) = self
                .store
                .tx("approval_expire", |tx| {
                    Box::pin(async move {
                        // Somebody may have decided since, or another server may have been faster.
                        let Some(before) = tx.approval_get(id).await? else {
                            return Ok((None, After::default()));
                        };
                        if before.state.is_final() {
                            return Ok((None, After::default()));
                        }
                        let ended = match before.state_at(now) {
                            ApprovalState::Expired => {
                                let why = match before.state {
                                    ApprovalState::Approved => "it was not done in time",
                                    _ => "nobody decided in time",
                                };
                                before.ended(ApprovalState::Expired, why, now)
                            }
                            ApprovalState::Waiting if before.verb == Permission::TaskSubmit => {
                                before.ended(
                                    ApprovalState::Void,
                                    "nothing waits for it any more",
                                    now,
                                )
                            }
                            _ => return Ok((None, After::default())),
                        };
                        let (last, after) = self.approval_end(tx, None, &before, ended).await?;
                        Ok::<_, Error>((Some(last.state), after))
                    })
                })
                .await?;
            if state == Some(ApprovalState::Expired) {
                self.approval_tally.expired.fetch_add(1, Ordering::Relaxed);
            }
            count += usize::from(state.is_some());
            self.approval_after(after);
        }
        Ok(count)
    }

    pub async fn approval_counts(&self) -> Result<ApprovalCounts, Error> {
        let waiting = self.store.read().await?.approval_count_waiting().await?;
        let tally = &self.approval_tally;
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Ok(ApprovalCounts {
            waiting,
            approved: of(&tally.approved),
            denied: of(&tally.denied),
            expired: of(&tally.expired),
            used: of(&tally.used),
            broken: of(&tally.broken),
        })
    }

    /// Who can agree to a request, and the command; for `explain`.
    pub(super) fn approval_words(approval: &Approval) -> (String, String) {
        let who: Vec<String> = approval
            .needs
            .iter()
            .map(|need| {
                let by: Vec<String> = need.by.iter().map(ToString::to_string).collect();
                let by = match by.as_slice() {
                    [] => "whoever has approval.decide (operators)".to_owned(),
                    by => by.join(", "),
                };
                let (agreed, count) = (approval.agreed(need), need.approvals);
                format!("{by} ({agreed} of {count} agreed, policy {})", need.name)
            })
            .collect();
        let id = approval.id;
        (
            who.join("; "),
            format!("`hostler approval approve {id}`, or `hostler approval deny {id}`"),
        )
    }

    /// What follows from a decision: an approved task goes on at once.
    async fn approval_follow(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        before: &Approval,
        decided: Approval,
    ) -> Result<(Approval, After), Error> {
        if decided.state != ApprovalState::Approved || decided.verb != Permission::TaskSubmit {
            return self.approval_end(tx, Some(cx), before, decided).await;
        }
        let now = self.now();
        let lost = match rights_lost(tx, &decided).await? {
            Some(why) => Some(why),
            None => {
                let is_same = is_same(tx, &decided).await?;
                (!is_same).then(|| "what it was for is not there any more as it was".to_owned())
            }
        };
        if let Some(why) = lost {
            let void = decided.ended(ApprovalState::Void, why, now);
            return self.approval_end(tx, Some(cx), before, void).await;
        }
        let used = decided.ended(ApprovalState::Used, "", now);
        tx.approval_update(&used, before.generation).await?.required("approval", used.id)?;
        let mut after = After::default();
        let mut events = vec![
            self.approval_event(cx, &used, EventKind::ApprovalApproved, "approved"),
            self.approval_event(cx, &used, EventKind::ApprovalUsed, "carried on"),
        ];
        events.extend(self.tasks_carry_on(tx, cx, &used, &mut after).await?);
        let detail = decision_detail(&used);
        let object = approval_object(&used);
        let audit = self
            .audit(cx, "approval.approve", &object, used.project_id, detail)
            .with_states(Some(&audit_state::approval(before)), Some(&audit_state::approval(&used)));
        tx.journal_append(&events, &[audit]).await?;
        Ok((used, after))
    }

    /// Writes a change that lets nothing through by itself; what waits for it and has no hope is rejected.
    async fn approval_end(
        &self,
        tx: &mut Tx<'_>,
        cx: Option<&Cx>,
        before: &Approval,
        next: Approval,
    ) -> Result<(Approval, After), Error> {
        tx.approval_update(&next, before.generation).await?.required("approval", next.id)?;
        let news = news(&next);
        let (object, project) = (approval_object(&next), next.project_id);
        let actor = cx.map_or_else(|| self.system_actor(), Cx::actor);
        let event = self.event(news.kind, project, &object, actor, news.message);
        let mut events = vec![event.with_payload(next.payload())];
        let detail = decision_detail(&next);
        let audit = match cx {
            Some(cx) => self.audit(cx, news.action, &object, project, detail),
            None => self.audit_system(news.action, &object, project, detail),
        };
        let (was, is) = (audit_state::approval(before), audit_state::approval(&next));
        let audit = audit.with_states(Some(&was), Some(&is));
        let mut after = After::default();
        let mut moved = Vec::new();
        if next.state.is_final() {
            let (ended, more) = self.tasks_reject(tx, cx, &next).await?;
            moved = ended;
            events.extend(more);
        }
        tx.journal_append(&events, &[audit]).await?;
        after.follow.changed.extend(moved.iter().map(|moved| moved.task.id));
        merge(&mut after.follow, self.follow_ends(tx, moved).await?);
        if let Some(array) = next.array_id.filter(|_| next.state.is_final()) {
            merge(&mut after.follow, self.follow_array(tx, array).await?);
        }
        Ok((next, after))
    }

    /// Lets go what waited for an approval.
    async fn tasks_carry_on(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        approval: &Approval,
        after: &mut After,
    ) -> Result<Vec<NewEvent>, Error> {
        let now = self.now();
        let (mut saved, mut events) = (Vec::new(), Vec::new());
        for task in tx.workload_get_batch(&approval.tasks).await? {
            let Ok(state) = task.state.apply(task.desired, TaskEvent::Approved) else { continue };
            let ready = task.time_ready.map(|_| ready_time(&task.spec, task.time_created).max(now));
            let next = Workload {
                state,
                time_ready: ready,
                time_give_up: ready.and_then(|ready| give_up_time(&task.spec, ready)),
                generation: task.generation.next(),
                time_modified: now,
                ..task
            };
            let kind = EventKind::ApprovalApproved;
            let words = "approved; waits to be placed";
            let project = approval.project_id;
            let event = self.event(kind, project, &object(&next), cx.actor(), words);
            events.push(event.with_payload(approval.payload()));
            after.follow.changed.push(next.id);
            saved.push(next);
        }
        after.follow.is_ready = true;
        tx.workload_save_batch(&saved).await?;
        if let Some(id) = approval.array_id
            && let Some(standing) = tx.task_array_get(id).await?
        {
            tx.task_array_touch(id, now).await?;
            let array = array_object(&standing.array);
            let kind = EventKind::ApprovalApproved;
            let event = self.event(kind, approval.project_id, &array, cx.actor(), "approved");
            events.push(event.with_payload(approval.payload()));
            after.is_array = true;
        }
        Ok(events)
    }

    /// Ends what waited for an approval that will never come.
    async fn tasks_reject(
        &self,
        tx: &mut Tx<'_>,
        cx: Option<&Cx>,
        approval: &Approval,
    ) -> Result<(Vec<Moved>, Vec<NewEvent>), Error> {
        let now = self.now();
        let actor = cx.map_or_else(|| self.system_actor(), Cx::actor);
        let (mut saved, mut moved, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for task in tx.workload_get_batch(&approval.tasks).await? {
            let event = TaskEvent::Rejected { why: approval.why.clone(), time: now };
            let Ok(state) = task.state.apply(task.desired, event) else { continue };
            let before = task.state.kind();
            let next = Workload {
                state,
                generation: task.generation.next(),
                time_modified: now,
                time_ended: Some(now),
                ..task
            };
            let (kind, why) = (EventKind::TaskRejected, approval.why.clone());
            let project = approval.project_id;
            let event = self.event(kind, project, &object(&next), actor.clone(), why);
            events.push(event.with_payload(RunPayload::of(&next.spec)));
            moved.push(Moved { before, task: next.clone() });
            saved.push(next);
        }
        tx.workload_save_batch(&saved).await?;
        if let Some(id) = approval.array_id
            && let Some(standing) = tx.task_array_get(id).await?
        {
            let unmade = standing.array.range.len().saturating_sub(standing.made);
            if tx.task_array_stop(id, unmade).await? {
                let array = array_object(&standing.array);
                let (kind, why) = (EventKind::TaskRejected, approval.why.clone());
                let event = self.event(kind, approval.project_id, &array, actor, why);
                events.push(event.with_payload(RunPayload::of(&standing.array.spec)));
            }
        }
        Ok((moved, events))
    }

    fn approval_event(
        &self,
        cx: &Cx,
        approval: &Approval,
        kind: EventKind,
        words: &str,
    ) -> NewEvent {
        let words = format!("{words} by {}", cx.caller.name);
        self.event(kind, approval.project_id, &approval_object(approval), cx.actor(), words)
            .with_payload(approval.payload())
    }

    fn approval_after(&self, after: After) {
        // A step of an execution may have waited for it.
        self.wakers.execution.wake();
        self.after_ends(after.follow);
        if after.is_array {
            self.wakers.array_fill.wake();
        }
        self.feed.ring();
    }
}

fn merge(all: &mut Follow, more: Follow) {
    all.changed.extend(more.changed);
    all.nodes.extend(more.nodes);
    all.is_ready |= more.is_ready;
    all.is_end |= more.is_end;
    all.ends.extend(more.ends);
}

async fn find(read: &mut Conn, cx: &Cx, id: ApprovalId) -> Result<Approval, Error> {
    let found = read.approval_get(id).await?;
    let is_seen = |approval: &Approval| {
        let need = Need::of(Permission::ApprovalRead, approval.project_id);
        cx.caller.may_or_made(need, approval.requested_by)
    };
    found.filter(is_seen).ok_or_else(|| Error::not_found("approval", id))
}

/// Whether the caller may decide, and for which policies. Nobody agrees to what they asked for, by
/// whatever account: a service account never decides, nor does who was ever given a token of the one that
/// asks.
async fn decider(
    read: &mut Conn,
    cx: &Cx,
    approval: &Approval,
    is_approval: bool,
) -> Result<Result<Vec<hostler_model::ApprovalPolicyId>, Error>, Error> {
    let caller = &cx.caller;
    let barred = |detail: &str| {
        let hint = "another person decides; `hostler approval show` says who can";
        Ok(Err(Error::new(Code::Forbidden, detail, hint)))
    };
    if caller.kind != PrincipalKind::User {
        return barred("a service account does not decide on what others do");
    }
    if caller.principal_id == approval.requested_by {
        return barred("you asked for it yourself: another person has to agree");
    }
    if read.token_maker_is(approval.requested_by, caller.principal_id).await? {
        return barred("you made a token of the account that asks: another person has to agree");
    }
    for permission in [Permission::ApprovalDecide, approval.verb] {
        let need = Need::of(permission, approval.project_id);
        if !caller.may(need) {
            return Ok(Err(refusal(caller, need)));
        }
    }
    let groups = read.groups_of(caller.principal_id).await?;
    let policies = approval.asked_of(caller, &groups);
    if policies.is_empty() {
        return barred("the policies that hold it back name others to decide");
    }
    if is_approval && approval.decisions.iter().any(|d| d.by == caller.principal_id) {
        return Ok(Err(told(approval.id, ApprovalRefusal::Twice)));
    }
    Ok(Ok(policies))
}

fn told(id: ApprovalId, refused: ApprovalRefusal) -> Error {
    match refused {
        ApprovalRefusal::Own | ApprovalRefusal::NotAsked => Error::new(
            Code::Forbidden,
            refused.to_string(),
            "another person decides; `hostler approval show` says who can",
        ),
        ApprovalRefusal::Settled(_) | ApprovalRefusal::Twice => {
            Error::conflict(refused.to_string(), format!("`hostler approval show {id}` shows it"))
        }
    }
}

/// Whether what waits for an approval is what it was asked for.
async fn is_same(read: &mut Conn, approval: &Approval) -> Result<bool, Error> {
    let whole = match approval.array_id {
        Some(id) => match read.task_array_get(id).await? {
            Some(standing) if !standing.array.is_stopped => array_whole(&standing.array),
            _ => return Ok(false),
        },
        None => {
            let mut tasks = read.workload_get_batch(&approval.tasks).await?;
            tasks.sort_by_key(|task| approval.tasks.iter().position(|id| *id == task.id));
            if !tasks.iter().any(|task| task.state.kind() == TaskStateKind::PendingApproval) {
                return Ok(false);
            }
            tasks_whole(&tasks)
        }
    };
    let digest = approval_digest(approval.verb, approval.project_id, &approval.name, &whole);
    Ok(digest == approval.digest)
}

fn decision_detail(approval: &Approval) -> serde_json::Value {
    let last = approval.decisions.last();
    json!({
        "verb": approval.verb,
        "name": approval.name,
        "digest": approval.digest,
        "state": approval.state,
        "why": approval.why,
        "reason": last.map(|decision| decision.reason.as_str()),
    })
}

fn news(approval: &Approval) -> News {
    let by = approval.decisions.last().map(|decision| decision.name.to_string());
    let by = by.unwrap_or_default();
    let why = approval.why.clone();
    let (kind, action, message) = match approval.state {
        ApprovalState::Waiting => (
            EventKind::ApprovalRequested,
            "approval.approve",
            format!("{by} agreed; somebody else has to agree too"),
        ),
        ApprovalState::Approved => {
            (EventKind::ApprovalApproved, "approval.approve", format!("approved by {by}"))
        }
        ApprovalState::Used => (EventKind::ApprovalUsed, "approval.use", "used".to_owned()),
        ApprovalState::Denied => (EventKind::ApprovalDenied, "approval.deny", why),
        ApprovalState::Expired => (EventKind::ApprovalExpired, "approval.expire", why),
        ApprovalState::Withdrawn => (EventKind::ApprovalWithdrawn, "approval.withdraw", why),
        ApprovalState::Void => (EventKind::ApprovalVoid, "approval.void", why),
    };
    News { kind, action, message }
}
