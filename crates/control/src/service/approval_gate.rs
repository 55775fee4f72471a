//! What holds things back: whether something needs an approval, and the approval that lets it through.
//!
//! There is one mechanism. What somebody is about to do (a [`Deed`]) is compared with the policies that
//! hold there. Where one is met, a request is made that is bound to the digest of the whole deed. Tasks
//! and arrays wait for it themselves, and approving them carries them on. Anything else is refused with
//! the id of the request; once approved, the same is asked for again with that id, which is used up in
//! the transaction that does it. What was edited in between has another digest and is not let through.
//!
//! The rights of who asked, and of everybody who agreed, are looked at again when it is done. Who has
//! `approval.break-glass` can do without, with a reason, an event and an audit entry of their own.

use hostler_model::{
    Approval, ApprovalId, ApprovalNeed, ApprovalPolicy, ApprovalState, ArrayId, Caller, Code,
    Credential, Digest, Error, EventKind, Generation, Labels, Name, Need, NewAuditEntry, NewEvent,
    ObjectKind, ObjectRef, Permission, PrincipalId, PrincipalKind, Project, ProjectId, Span,
    TaskArray, WebSessionId, Workload, WorkloadId, WorkloadSpec, approval_digest,
};
use hostler_store::{Conn, Tx};
use serde_json::{Value, json};

use super::access::refusal;
use super::project::check_text;
use super::stack_approval::StackDeed;
use crate::{Consent, Control, Cx, Stateless, audit_state};

pub(super) const REASON_MAX: usize = 1000;

/// Something that somebody is about to do.
pub(crate) struct Deed<'a> {
    pub verb: Permission,
    pub project: Option<&'a Project>,
    /// Of what it is done to.
    pub name: String,
    pub what: What<'a>,
    /// What would run.
    pub specs: Vec<&'a WorkloadSpec>,
    /// Labels of the node that it is done to.
    pub node: Option<&'a Labels>,
}

/// What is done, put into words only where a policy asks.
pub(crate) enum What<'a> {
    Plain(Value),
    Spec(&'a Name, &'a WorkloadSpec),
    Tasks(&'a [Workload]),
    Array(&'a TaskArray),
    Stack(&'a StackDeed<'a>),
}

impl What<'_> {
    /// All of it.
    fn whole(&self) -> Value {
        match self {
            What::Plain(what) => what.clone(),
            What::Spec(name, spec) => json!({ "name": name, "spec": spec }),
            What::Tasks(tasks) => tasks_whole(tasks),
            What::Array(array) => array_whole(array),
            What::Stack(deed) => deed.whole(),
        }
    }

    /// The same without what not everybody may see.
    fn shown(&self) -> Value {
        match self {
            What::Plain(what) => what.clone(),
            What::Spec(name, spec) => json!({ "name": name, "spec": shown_spec(spec) }),
            What::Tasks(tasks) => {
                let one =
                    |task: &Workload| json!({ "name": task.name, "spec": shown_spec(&task.spec) });
                json!({ "tasks": tasks.iter().map(one).collect::<Vec<_>>() })
            }
            What::Array(array) => json!({
                "name": array.name,
                "spec": shown_spec(&array.spec),
                "range": array.range,
                "isGang": array.is_gang,
            }),
            What::Stack(deed) => deed.shown(),
        }
    }
}

impl Deed<'_> {
    fn project_id(&self) -> Option<ProjectId> {
        self.project.map(|project| project.id)
    }

    fn digest(&self) -> Digest {
        approval_digest(self.verb, self.project_id(), &self.name, &self.what.whole())
    }

    fn is_met_by(&self, policy: &ApprovalPolicy) -> bool {
        let when = &policy.rule.when;
        // A workflow submits tasks: what holds these back holds it back.
        let is_meant = |verb: &Permission| {
            *verb == self.verb
                || self.verb == Permission::WorkflowRun && *verb == Permission::TaskSubmit
        };
        policy.rule.verbs.iter().any(is_meant)
            && match self.specs.as_slice() {
                [] => when.matches(None, self.node),
                specs => specs.iter().any(|spec| when.matches(Some(*spec), None)),
            }
    }
}

/// Why something may be done now.
#[derive(Debug)]
pub(crate) enum Pass {
    /// It needs no approval.
    Free,
    /// It changes nothing, as far as was seen; if it would, it needs an approval.
    Unchanged,
    Approved {
        id: ApprovalId,
        digest: Digest,
    },
    /// Without the approval that it needs.
    BreakGlass {
        reason: String,
        object: ObjectRef,
        project_id: Option<ProjectId>,
        detail: Value,
    },
}

/// How tasks begin.
#[derive(Debug)]
pub(super) enum Hold {
    Free(Pass),
    /// They wait for this.
    Wait(Box<Approval>),
}

/// What waits for an approval by itself.
pub(super) struct Held {
    pub tasks: Vec<WorkloadId>,
    pub array_id: Option<ArrayId>,
}

impl Control {
    /// Lets something through, or makes a request for it and refuses it.
    pub(super) async fn approval_pass(&self, cx: &Cx, deed: &Deed<'_>) -> Result<Pass, Error> {
        self.approval_pass_if(cx, deed, true).await
    }

    /// The same for what may change nothing.
    pub(super) async fn approval_pass_if(
        &self,
        cx: &Cx,
        deed: &Deed<'_>,
        is_change: bool,
    ) -> Result<Pass, Error> {
        let policies = self.approval_policies_met(cx, deed).await?;
        if policies.is_empty() {
            return Ok(Pass::Free);
        }
        if !is_change {
            return Ok(Pass::Unchanged);
        }
        match &cx.request.consent {
            None => {
                let nothing = Held { tasks: Vec::new(), array_id: None };
                let fresh = self.approval_fresh(cx, deed, &policies, nothing);
                Err(self.approval_ask(cx, fresh).await?)
            }
            Some(Consent::Given) => {
                let nothing = Held { tasks: Vec::new(), array_id: None };
                let fresh = self.approval_fresh(cx, deed, &policies, nothing);
                let (by, now) = (fresh.requested_by, fresh.time_created);
                let known = {
                    let mut read = self.store.read().await?;
                    read.approval_open(by, fresh.verb, fresh.digest, now).await?
                };
                match known.filter(|known| known.state == ApprovalState::Approved) {
                    Some(known) => Ok(Pass::Approved { id: known.id, digest: known.digest }),
                    None => Err(self.approval_ask(cx, fresh).await?),
                }
            }
            Some(Consent::BreakGlass(reason)) => self.approval_break_glass(cx, deed, reason),
            Some(Consent::Approval(id)) => self.approval_shown(cx, deed, *id).await,
        }
    }

    /// Whether tasks may begin at once.
    pub(super) async fn approval_hold(
        &self,
        cx: &Cx,
        deed: &Deed<'_>,
        held: Held,
    ) -> Result<Hold, Error> {
        let policies = self.approval_policies_met(cx, deed).await?;
        match (&cx.request.consent, policies.is_empty()) {
            (_, true) => Ok(Hold::Free(Pass::Free)),
            (None | Some(Consent::Given), false) => {
                Ok(Hold::Wait(Box::new(self.approval_fresh(cx, deed, &policies, held))))
            }
            (Some(Consent::BreakGlass(reason)), false) => {
                self.approval_break_glass(cx, deed, reason).map(Hold::Free)
            }
            (Some(Consent::Approval(_)), false) => Err(Error::conflict(
                "tasks wait for their approval by themselves, and go on when it is given",
                "submit them without an approval; `hostler task explain` says who can approve them",
            )),
        }
    }

    async fn approval_policies_met(
        &self,
        cx: &Cx,
        deed: &Deed<'_>,
    ) -> Result<Vec<ApprovalPolicy>, Error> {
        let project = deed.project_id();
        let mut read = self.store.read().await?;
        let mut met = read.approval_policies_in(project).await?;
        met.retain(|policy| deed.is_met_by(policy));
        if met.is_empty() {
            return Ok(met);
        }
        let groups = read.groups_of(cx.caller.principal_id).await?;
        let scope = Need::of(Permission::ApprovalDecide, project).scope;
        met.retain(|policy| {
            !policy.rule.exempt.iter().any(|party| party.has(&cx.caller, &groups, scope))
        });
        Ok(met)
    }

    fn approval_fresh(
        &self,
        cx: &Cx,
        deed: &Deed<'_>,
        policies: &[ApprovalPolicy],
        held: Held,
    ) -> Approval {
        let now = self.now();
        let need = |policy: &ApprovalPolicy| ApprovalNeed {
            policy: policy.id,
            name: policy.name.clone(),
            approvals: policy.rule.approvals,
            by: policy.rule.by.clone(),
            approval_ttl: policy.rule.approval_ttl,
        };
        let life = policies.iter().map(|policy| policy.rule.request_ttl).min();
        Approval {
            id: self.ids.fresh(),
            project_id: deed.project_id(),
            verb: deed.verb,
            name: deed.name.clone(),
            digest: deed.digest(),
            what: deed.what.shown(),
            requested_by: cx.caller.principal_id,
            tasks: held.tasks,
            array_id: held.array_id,
            needs: policies.iter().map(need).collect(),
            decisions: Vec::new(),
            state: ApprovalState::Waiting,
            why: String::new(),
            generation: Generation::FIRST,
            time_created: now,
            time_expires: now.plus(life.unwrap_or(Span::from_secs(86_400)).duration()),
            time_ended: None,
        }
    }

    /// What is recorded of a new request.
    pub(super) fn approval_news(&self, cx: &Cx, approval: &Approval) -> (NewEvent, NewAuditEntry) {
        let object = approval_object(approval);
        let message = format!("{} asks for {} of {}", cx.caller.name, approval.verb, approval.name);
        let project = approval.project_id;
        let event = self
            .event(EventKind::ApprovalRequested, project, &object, cx.actor(), message)
            .with_payload(approval.payload());
        let policies: Vec<&str> = approval.needs.iter().map(|need| need.name.as_str()).collect();
        let detail = json!({
            "verb": approval.verb,
            "name": approval.name,
            "digest": approval.digest,
            "policies": policies,
        });
        let audit = self
            .audit(cx, "approval.request", &object, project, detail)
            .with_states(None, Some(&audit_state::approval(approval)));
        (event, audit)
    }

    /// Makes a request, or finds the one that was made for the same; the answer is what to tell.
    async fn approval_ask(&self, cx: &Cx, fresh: Approval) -> Result<Error, Error> {
        let (event, audit) = self.approval_news(cx, &fresh);
        let (fresh, event, audit) = (&fresh, &event, &audit);
        let asked = self
            .store
            .tx("approval_request", |tx| {
                Box::pin(async move {
                    let (by, now) = (fresh.requested_by, fresh.time_created);
                    let known = tx.approval_open(by, fresh.verb, fresh.digest, now).await?;
                    if let Some(known) = known {
                        return Ok(known);
                    }
                    tx.approval_insert(fresh).await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(fresh.clone())
                })
            })
            .await?;
        self.feed.ring();
        let (verb, name, id) = (asked.verb, &asked.name, asked.id);
        Ok(match asked.state {
            ApprovalState::Approved => Error::new(
                Code::ApprovalRequired,
                format!(
                    "{verb} of {name} was approved, but the request does not name the approval"
                ),
                format!("repeat it with `--approval {id}`"),
            ),
            _ => Error::new(
                Code::ApprovalRequired,
                format!("{verb} of {name} needs an approval; the request {id} waits for it"),
                format!(
                    "`hostler approval show {id}` says who can approve it; then repeat it with `--approval {id}`"
                ),
            ),
        })
    }

    fn approval_break_glass(&self, cx: &Cx, deed: &Deed<'_>, reason: &str) -> Result<Pass, Error> {
        let need = Need::of(Permission::ApprovalBreakGlass, deed.project_id());
        if !cx.caller.may(need) {
            return Err(refusal(&cx.caller, need));
        }
        check_text("/breakGlass", reason, 1..=REASON_MAX)?;
        Ok(Pass::BreakGlass {
            reason: reason.to_owned(),
            object: ObjectRef::new(ObjectKind::Approval, "none", &deed.name),
            project_id: deed.project_id(),
            detail: json!({
                "verb": deed.verb,
                "name": deed.name,
                "digest": deed.digest(),
                "reason": reason,
            }),
        })
    }

    /// Looks at an approval that a request names. One that is for something else is refused, and that is
    /// recorded. One that was used is let through to where repeats of the same request are recognised.
    async fn approval_shown(
        &self,
        cx: &Cx,
        deed: &Deed<'_>,
        id: ApprovalId,
    ) -> Result<Pass, Error> {
        let found = self.store.read().await?.approval_get(id).await?;
        let approval = found.filter(|it| it.requested_by == cx.caller.principal_id);
        let approval = approval.ok_or_else(|| Error::not_found("approval", id))?;
        let digest = deed.digest();
        if approval.verb == deed.verb && approval.digest == digest {
            return Ok(Pass::Approved { id, digest });
        }
        // What rests on how something was is something else once it was done.
        let is_used = approval.verb == deed.verb && approval.state == ApprovalState::Used;
        if is_used && cx.request.idempotency.is_some() {
            return Ok(Pass::Approved { id, digest: approval.digest });
        }
        let object = approval_object(&approval);
        let detail = json!({ "verb": deed.verb, "name": deed.name, "digest": digest });
        let audit = self.audit(cx, Stateless::ApprovalRefuse, &object, deed.project_id(), detail);
        let audit = &audit;
        self.store
            .tx("approval_refuse", |tx| {
                Box::pin(async move {
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        Err(Error::new(
            Code::ApprovalRequired,
            format!("the approval {id} is for something else: what is asked for was changed"),
            "ask for exactly what was approved, or without an approval to make a new request",
        ))
    }

    /// Uses an approval up, in the transaction that does what it is for. Only one caller ever can.
    pub(super) async fn approval_use(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        pass: &Pass,
    ) -> Result<(), Error> {
        let (id, digest) = match pass {
            Pass::Free => return Ok(()),
            Pass::Unchanged => {
                return Err(Error::conflict(
                    "it was changed by somebody else just now",
                    "try again",
                ));
            }
            Pass::BreakGlass { reason, object, project_id, detail } => {
                let words = format!(
                    "{} did without an approval: {}; {reason}",
                    cx.caller.name, object.name
                );
                let kind = EventKind::ApprovalBreakGlass;
                let event = self.event(kind, *project_id, object, cx.actor(), words);
                let action = Stateless::ApprovalBreakGlass;
                let audit = self.audit(cx, action, object, *project_id, detail.clone());
                tx.journal_append(&[event], &[audit]).await?;
                return Ok(());
            }
            Pass::Approved { id, digest } => (*id, *digest),
        };
        let now = self.now();
        let Some(approval) = tx.approval_get(id).await? else {
            return Err(Error::not_found("approval", id));
        };
        let state = approval.state_at(now);
        if state != ApprovalState::Approved
            || approval.digest != digest
            || approval.requested_by != cx.caller.principal_id
        {
            return Err(Error::new(
                Code::ApprovalRequired,
                format!("the approval {id} is {state}"),
                "only what is approved can be used, and once; ask without an approval to make a new request",
            ));
        }
        if let Some(why) = rights_lost(tx, &approval).await? {
            return Err(Error::new(
                Code::ApprovalRequired,
                format!("the approval {id} is worth nothing any more: {why}"),
                "ask without an approval to make a new request",
            ));
        }
        let used = approval.ended(ApprovalState::Used, "", now);
        tx.approval_update(&used, approval.generation).await?.required("approval", id)?;
        let object = approval_object(&used);
        let (project, words) = (used.project_id, format!("used by {}", cx.caller.name));
        let event = self.event(EventKind::ApprovalUsed, project, &object, cx.actor(), words);
        let detail = json!({ "digest": digest });
        let audit = self.audit(cx, "approval.use", &object, project, detail).with_states(
            Some(&audit_state::approval(&approval)),
            Some(&audit_state::approval(&used)),
        );
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    /// Tells, once it is committed, that something was done that needs an approval.
    pub(super) fn approval_done(&self, cx: &Cx, pass: &Pass) {
        match pass {
            Pass::Free | Pass::Unchanged => {}
            Pass::Approved { .. } => self.approval_tally.used(),
            Pass::BreakGlass { reason, object, .. } => {
                let (who, what) = (cx.caller.name.as_str(), object.name.as_str());
                tracing::warn!(who, what, reason, "done without the approval that it needs");
                self.approval_tally.broken();
            }
        }
    }
}

pub(super) fn approval_object(approval: &Approval) -> ObjectRef {
    ObjectRef::new(
        ObjectKind::Approval,
        approval.id,
        format!("{} {}", approval.verb, approval.name),
    )
}

/// All of some tasks that are submitted together.
pub(super) fn tasks_whole(tasks: &[Workload]) -> Value {
    let one = |task: &Workload| json!({ "name": task.name, "spec": &*task.spec });
    json!({ "tasks": tasks.iter().map(one).collect::<Vec<_>>() })
}

pub(super) fn array_whole(array: &TaskArray) -> Value {
    json!({
        "name": array.name,
        "spec": array.spec,
        "range": array.range,
        "isGang": array.is_gang,
    })
}

/// A spec for everybody who may know of it.
fn shown_spec(spec: &WorkloadSpec) -> WorkloadSpec {
    let mut shown = spec.clone();
    shown.hide_environment();
    shown
}

/// Tasks that are about to be submitted.
pub(super) fn tasks_deed<'a>(project: &'a Project, tasks: &'a [Workload]) -> Deed<'a> {
    let first = tasks.first().map(|task| task.name.to_string()).unwrap_or_default();
    let name = match tasks.len() {
        0 | 1 => first,
        more => format!("{first} and {} more", more - 1),
    };
    Deed {
        verb: Permission::TaskSubmit,
        project: Some(project),
        name,
        what: What::Tasks(tasks),
        specs: tasks.iter().map(|task| &*task.spec).collect(),
        node: None,
    }
}

/// An array, or a gang, that is about to be submitted: one request for all of it.
pub(super) fn array_deed<'a>(project: &'a Project, array: &'a TaskArray) -> Deed<'a> {
    Deed {
        verb: Permission::TaskSubmit,
        project: Some(project),
        name: array.name.to_string(),
        what: What::Array(array),
        specs: vec![&array.spec],
        node: None,
    }
}

/// Somebody as they are now, whatever they came with; `None` when they are gone or disabled.
async fn present(read: &mut Conn, id: PrincipalId) -> Result<Option<Caller>, Error> {
    let principal = read.principal_get(id).await?.filter(|principal| !principal.is_disabled);
    let Some(principal) = principal else { return Ok(None) };
    let grants = read.grants_of(id).await?;
    Ok(Some(Caller {
        principal_id: id,
        name: principal.name,
        kind: principal.kind,
        grants,
        credential: Credential::WebSession(WebSessionId::from_uuid(id.uuid())),
    }))
}

/// Why an approval is worth nothing any more, though nobody took it back: whom it rests on may not do it
/// now.
pub(super) async fn rights_lost(
    read: &mut Conn,
    approval: &Approval,
) -> Result<Option<String>, Error> {
    let verb = Need::of(approval.verb, approval.project_id);
    let decide = Need::of(Permission::ApprovalDecide, approval.project_id);
    match present(read, approval.requested_by).await? {
        None => return Ok(Some("who asked is not there any more".to_owned())),
        Some(asker) if !asker.may(verb) => {
            return Ok(Some(format!("{} may not do {} any more", asker.name, approval.verb)));
        }
        Some(_) => {}
    }
    for decision in approval.decisions.iter().filter(|decision| decision.is_approval) {
        let name = &decision.name;
        match present(read, decision.by).await? {
            None => return Ok(Some(format!("{name}, who agreed, is not there any more"))),
            Some(one) if one.kind != PrincipalKind::User || !one.may(decide) || !one.may(verb) => {
                return Ok(Some(format!("{name}, who agreed, may not do so any more")));
            }
            Some(_) => {}
        }
    }
    Ok(None)
}
