//! Plans of changes to stacks, and drift.

use hostler_api::stack::{StackCreateBody, StackView};
use hostler_api::stack_plan::{
    StackDriftDetect, StackDriftGet, StackDriftView, StackPlanApply, StackPlanBody,
    StackPlanCreate, StackPlanGet, StackPlanList, StackPlanRemove, StackPlanView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{StackAsk, StackDriftDetail, StackEdit, StackIntent, StackPlanDetail};
use hostler_model::stack::StackPoint;
use hostler_model::{Code, Diagnostic, Error};

use super::gather::Gather;
use super::stack::{edit, form, refused, shown};
use super::{Answer, App, Call};

fn view(StackPlanDetail { plan, stack, changes }: StackPlanDetail) -> StackPlanView {
    StackPlanView {
        id: plan.id,
        stack,
        stack_id: plan.stack_id,
        base: plan.base,
        digest: plan.digest,
        changes,
        created_by: plan.created_by,
        time_created: plan.time_created,
        time_expires: plan.time_expires,
        time_used: plan.time_used,
    }
}

fn drift(StackDriftDetail { drift, items, is_current }: StackDriftDetail) -> StackDriftView {
    StackDriftView {
        is_drifted: drift.is_drifted(),
        is_current,
        looked: drift.looked,
        changed: drift.changed,
        missing: drift.missing,
        unknown: drift.unknown,
        items,
        time: drift.time,
    }
}

/// A point in time of a stack, as it was written in a field.
pub(super) fn point(field: &str, text: &str) -> Result<StackPoint, Error> {
    text.parse().map_err(|problem: hostler_model::stack::ParseStackPointError| {
        Error::invalid(vec![Diagnostic::new(field, problem.to_string())])
    })
}

/// What is wanted, and the field of the request that says it.
fn intent(body: StackPlanBody) -> Result<(StackIntent, &'static str), Error> {
    Ok(match body {
        StackPlanBody::Create(StackCreateBody { name, form: given, options, reason }) => {
            let ask = StackAsk { name, form: form(given), options, left: None, reason };
            (StackIntent::Create(ask), "/create")
        }
        StackPlanBody::Update { stack, form, options, reason } => {
            (StackIntent::Update { stack, edit: edit(form, options, reason) }, "/update")
        }
        StackPlanBody::Patch { stack, form, clear_parameters, options, reason } => {
            let edit = edit(form, options, reason);
            let edit = StackEdit { is_patch: true, clear_parameters, ..edit };
            (StackIntent::Update { stack, edit }, "/patch")
        }
        StackPlanBody::Remove { stack, force: is_forced, reason } => {
            (StackIntent::Delete { stack, is_forced, reason }, "/remove")
        }
        StackPlanBody::Restore { stack, point: text, reason } => {
            let point = point("/restore/point", &text)?;
            (StackIntent::Restore { stack, point, reason }, "/restore")
        }
        StackPlanBody::Fix { stack, reason } => (StackIntent::Fix { stack, reason }, "/fix"),
    })
}

pub(crate) async fn list(
    app: App,
    call: Call<StackPlanList>,
) -> Result<Answer<Listing<StackPlanView>>, Error> {
    let mut list = Gather::of::<StackPlanList>(&call.query)?;
    let (control, project, stack) = (app.control(), call.project(), call.query.stack.as_deref());
    while let Some(ask) = list.ask() {
        let found =
            control.stack_plan_list(&call.cx, project, stack, ask.after(), ask.limit).await?;
        list.take(found, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn create(
    app: App,
    call: Call<StackPlanCreate>,
) -> Result<Answer<StackPlanView>, Error> {
    let (intent, field) = intent(call.body.clone())?;
    let made = app.control().stack_plan_create(&call.cx, call.project(), intent).await;
    let made = view(made.map_err(refused(field))?);
    let location = format!("/api/v1/projects/{}/stack-plans/{}", call.project().name, made.id);
    Ok(Answer::new(made).with_location(location))
}

pub(crate) async fn get(
    app: App,
    call: Call<StackPlanGet>,
) -> Result<Answer<StackPlanView>, Error> {
    let plan = call.path.plan;
    Ok(Answer::new(view(app.control().stack_plan_get(&call.cx, call.project(), plan).await?)))
}

pub(crate) async fn remove(
    app: App,
    call: Call<StackPlanRemove>,
) -> Result<Answer<Nothing>, Error> {
    app.control().stack_plan_remove(&call.cx, call.project(), call.path.plan).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn apply(
    app: App,
    call: Call<StackPlanApply>,
) -> Result<Answer<StackView>, Error> {
    let plan = call.path.plan;
    Ok(shown(app.control().stack_plan_apply(&call.cx, call.project(), plan).await?))
}

pub(crate) async fn drift_detect(
    app: App,
    call: Call<StackDriftDetect>,
) -> Result<Answer<StackDriftView>, Error> {
    let stack = &call.path.stack;
    let found = app.control().stack_drift_detect(&call.cx, call.project(), stack).await?;
    Ok(Answer::new(drift(found)))
}

pub(crate) async fn drift_get(
    app: App,
    call: Call<StackDriftGet>,
) -> Result<Answer<StackDriftView>, Error> {
    let stack = &call.path.stack;
    let found = app.control().stack_drift_get(&call.cx, call.project(), stack).await?;
    let found = found.ok_or_else(|| {
        let words = format!("nobody has looked yet whether the stack `{stack}` has drifted");
        Error::new(Code::NotFound, words, "look with `hostler stack drift detect`")
    })?;
    Ok(Answer::new(drift(found)))
}
