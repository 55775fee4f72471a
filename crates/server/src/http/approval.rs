//! Approvals and their policies.

use hostler_api::approval::{
    ApprovalApprove, ApprovalDecisionView, ApprovalDeny, ApprovalGet, ApprovalList,
    ApprovalNeedView, ApprovalPolicyGet, ApprovalPolicyList, ApprovalPolicyRemove,
    ApprovalPolicySet, ApprovalPolicyView, ApprovalView, ApprovalWithdraw,
    ProjectApprovalPolicyGet, ProjectApprovalPolicyList, ProjectApprovalPolicyRemove,
    ProjectApprovalPolicySet,
};
use hostler_api::{Listing, Nothing, PageQuery};
use hostler_control::{ApprovalDetail, ApprovalPolicyDetail, ApprovalQuery, Cx};
use hostler_model::{
    ApprovalId, ApprovalRule, Diagnostic, Error, Generation, Name, Project, Timestamp,
};

use super::error::malformed;
use super::gate::Gate;
use super::gather::Gather;
use super::{Answer, App, Call};

pub(crate) async fn list(
    app: App,
    call: Call<ApprovalList>,
) -> Result<Answer<Listing<ApprovalView>>, Error> {
    let mut list = Gather::of::<ApprovalList>(&call.query)?;
    let query = ApprovalQuery {
        is_mine: call.query.mine == Some(true),
        is_to_decide: call.query.to_decide == Some(true),
        state: call.query.state,
    };
    let now = app.clock().now();
    while let Some(ask) = list.ask() {
        let found = app.control().approval_list(&call.cx, &query, ask.after(), ask.limit).await?;
        list.take(found, |detail| view(detail, now))?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<ApprovalGet>) -> Result<Answer<ApprovalView>, Error> {
    let id = parsed(&call.path.approval)?;
    Ok(shown(&app, app.control().approval_get(&call.cx, id).await?))
}

pub(crate) async fn approve(
    app: App,
    call: Call<ApprovalApprove>,
) -> Result<Answer<ApprovalView>, Error> {
    let (id, body) = (parsed(&call.path.approval)?, &call.body);
    let decide = app.control().approval_decide(&call.cx, id, true, &body.reason, body.digest);
    Ok(shown(&app, decide.await?))
}

pub(crate) async fn deny(
    app: App,
    call: Call<ApprovalDeny>,
) -> Result<Answer<ApprovalView>, Error> {
    let id = parsed(&call.path.approval)?;
    let decide = app.control().approval_decide(&call.cx, id, false, &call.body.reason, None);
    Ok(shown(&app, decide.await?))
}

pub(crate) async fn withdraw(
    app: App,
    call: Call<ApprovalWithdraw>,
) -> Result<Answer<ApprovalView>, Error> {
    let id = parsed(&call.path.approval)?;
    Ok(shown(&app, app.control().approval_withdraw(&call.cx, id).await?))
}

pub(crate) async fn policies(
    app: App,
    call: Call<ApprovalPolicyList>,
) -> Result<Answer<Listing<ApprovalPolicyView>>, Error> {
    listed(&app, &call.cx, None, &call.query).await
}

pub(crate) async fn project_policies(
    app: App,
    call: Call<ProjectApprovalPolicyList>,
) -> Result<Answer<Listing<ApprovalPolicyView>>, Error> {
    listed(&app, &call.cx, Some(call.project()), &call.query).await
}

async fn listed(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    query: &PageQuery,
) -> Result<Answer<Listing<ApprovalPolicyView>>, Error> {
    let mut list = Gather::of::<ApprovalPolicyList>(query)?;
    let control = app.control();
    while let Some(ask) = list.ask() {
        let found = control.approval_policy_list(cx, project, ask.after(), ask.limit).await?;
        list.take(found, policy_view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn policy(
    app: App,
    call: Call<ApprovalPolicyGet>,
) -> Result<Answer<ApprovalPolicyView>, Error> {
    let found = app.control().approval_policy_get(&call.cx, None, &call.path.policy).await?;
    Ok(policy_shown(found))
}

pub(crate) async fn project_policy(
    app: App,
    call: Call<ProjectApprovalPolicyGet>,
) -> Result<Answer<ApprovalPolicyView>, Error> {
    let (control, policy) = (app.control(), &call.path.policy);
    Ok(policy_shown(control.approval_policy_get(&call.cx, Some(call.project()), policy).await?))
}

pub(crate) async fn policy_set(
    app: App,
    call: Call<ApprovalPolicySet>,
) -> Result<Answer<ApprovalPolicyView>, Error> {
    let rule = call.body.clone();
    set(&app, &call.cx, None, &call.path.policy, rule, call.expected).await
}

pub(crate) async fn project_policy_set(
    app: App,
    call: Call<ProjectApprovalPolicySet>,
) -> Result<Answer<ApprovalPolicyView>, Error> {
    let (project, rule) = (Some(call.project()), call.body.clone());
    set(&app, &call.cx, project, &call.path.policy, rule, call.expected).await
}

async fn set(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    policy: &str,
    rule: ApprovalRule,
    expected: Generation,
) -> Result<Answer<ApprovalPolicyView>, Error> {
    let name: Name = policy.parse().map_err(|problem| bad_name(&problem))?;
    let set = app.control().approval_policy_set(cx, project, &name, rule, expected);
    Ok(policy_shown(set.await?))
}

fn bad_name(problem: &dyn std::fmt::Display) -> Error {
    let detail = problem.to_string();
    let mut error = malformed(detail.clone(), "choose a name such as two-eyes");
    error.errors = vec![Diagnostic::new("/path/policy", detail)];
    error
}

pub(crate) async fn policy_remove(
    app: App,
    call: Call<ApprovalPolicyRemove>,
) -> Result<Answer<Nothing>, Error> {
    let (control, policy) = (app.control(), &call.path.policy);
    control.approval_policy_remove(&call.cx, None, policy, call.expected).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn project_policy_remove(
    app: App,
    call: Call<ProjectApprovalPolicyRemove>,
) -> Result<Answer<Nothing>, Error> {
    let (control, project) = (app.control(), Some(call.project()));
    control.approval_policy_remove(&call.cx, project, &call.path.policy, call.expected).await?;
    Ok(Answer::new(Nothing {}))
}

fn parsed(given: &str) -> Result<ApprovalId, Error> {
    given.parse().map_err(|_| Error::not_found("approval", super::error::shortened(given)))
}

fn shown(app: &App, detail: ApprovalDetail) -> Answer<ApprovalView> {
    let generation = detail.approval.generation;
    Answer::new(view(detail, app.clock().now())).with_generation(generation)
}

fn view(detail: ApprovalDetail, now: Timestamp) -> ApprovalView {
    let approval = detail.approval;
    let needs = approval.needs.iter().map(|need| ApprovalNeedView {
        policy: need.name.clone(),
        approvals: need.approvals,
        agreed: approval.agreed(need),
        by: need.by.clone(),
    });
    let decisions = approval.decisions.iter().map(|decision| ApprovalDecisionView {
        by: decision.name.clone(),
        is_approval: decision.is_approval,
        reason: decision.reason.clone(),
        time: decision.time,
    });
    ApprovalView {
        id: approval.id,
        project: detail.project,
        verb: approval.verb,
        state: approval.state_at(now),
        requested_by: detail.requested_by,
        digest: approval.digest,
        needs: needs.collect(),
        decisions: decisions.collect(),
        is_decidable: detail.is_decidable,
        generation: approval.generation.get(),
        time_created: approval.time_created,
        time_expires: approval.time_expires,
        time_ended: approval.time_ended,
        array: approval.array_id,
        name: approval.name,
        what: approval.what,
        tasks: approval.tasks,
        why: approval.why,
    }
}

fn policy_shown(detail: ApprovalPolicyDetail) -> Answer<ApprovalPolicyView> {
    let generation = detail.policy.generation;
    Answer::new(policy_view(detail)).with_generation(generation)
}

fn policy_view(detail: ApprovalPolicyDetail) -> ApprovalPolicyView {
    let policy = detail.policy;
    ApprovalPolicyView {
        id: policy.id,
        name: policy.name,
        project: detail.project,
        rule: policy.rule,
        created_by: detail.created_by,
        generation: policy.generation.get(),
        time_created: policy.time_created,
        time_modified: policy.time_modified,
    }
}
