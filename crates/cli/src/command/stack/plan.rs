//! `plan` and `apply`: from a file to a stack, with a look at what would be done in between.

use hostler_api::stack::{StackCreateBody, StackGet, StackUpdate, StackUpdateBody, StackView};
use hostler_api::stack_plan::{
    StackPlanApply, StackPlanBody, StackPlanCreate, StackPlanGet, StackPlanPath, StackPlanView,
};
use hostler_model::Code;
use hostler_model::stack::{StackName, StackOptions, StackStatus};

use super::super::{Cx, DONE, Link, NONE};
use super::follow::{Watch, follow};
use super::form::{self, Form};
use super::{change, path, project};
use crate::args::{StackApplyArgs, StackOptionArgs, StackPlanArgs, StackWaitArgs, StackWhyArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};

pub async fn plan(cx: &Cx, args: StackPlanArgs) -> Outcome {
    let form = Form::read(cx, &args.file, &args.given)?;
    let name = form::name(&args.file, args.name.as_ref())?;
    let link = cx.link()?;
    let known = known(&link, &name).await?;
    let how = (&args.options, &args.why);
    let plan = planned(&link, &name, known.as_ref(), &form, how).await?;
    let is_nothing = is_nothing(&plan, known.as_ref(), &args.options);
    if !cx.is_for_people() || cx.ui.is_quiet() {
        cx.one(&plan)?;
    } else {
        cx.ui.line(&format!("stack {name}\n{}", change::told(&plan.changes)))?;
        if !is_nothing && !plan.changes.is_impossible() {
            cx.ui.say(&format!("`hostler stack apply --plan {}` does it", plan.id));
        }
    }
    Ok(match (plan.changes.is_impossible(), is_nothing) {
        (true, _) => exit::Code::Failure.number(),
        (false, true) => DONE,
        (false, false) => exit::Code::ChangesPresent.number(),
    })
}

pub async fn apply(cx: &Cx, args: StackApplyArgs) -> Outcome {
    match (&args.file, args.plan) {
        (Some(file), None) => {
            let form = Form::read(cx, file, &args.given)?;
            let name = form::name(file, args.name.as_ref())?;
            file_applied(cx, &form, &name, &args).await
        }
        (_, Some(id)) => {
            let link = cx.link()?;
            let path = StackPlanPath { project: link.project.clone(), plan: id };
            let plan = link.client.call::<StackPlanGet>(&path, &NONE, &NONE).await?;
            let known = known(&link, &plan.stack).await?;
            carry_out(cx, &link, &plan, known.as_ref(), &args.wait).await
        }
        (None, None) => Err(Failure::usage(
            "what is to be applied?",
            "name a file with a template, or a plan with --plan",
        )),
    }
}

/// Plans and carries out. What moved in between without making a difference is planned again.
async fn file_applied(cx: &Cx, form: &Form, name: &StackName, args: &StackApplyArgs) -> Outcome {
    let link = cx.link()?;
    let (mut shown, mut tries) = (None, 0);
    loop {
        tries += 1;
        let known = known(&link, name).await?;
        if let Some(busy) = known.as_ref().filter(|known| known.standing.is_under_way()) {
            return superseded(cx, &link, form, busy, args).await;
        }
        let how = (&args.options, &args.why);
        let plan = planned(&link, name, known.as_ref(), form, how).await?;
        if let Some(known) =
            known.as_ref().filter(|known| is_nothing(&plan, Some(known), &args.options))
        {
            return unchanged(cx, &plan, known);
        }
        if shown.as_ref() != Some(&plan.digest) {
            agreed(cx, &plan)?;
            shown = Some(plan.digest);
        }
        match begun(cx, &link, &plan, known.as_ref(), &args.wait).await {
            Err(Failure::Client(error)) if error.is(Code::Stale) && tries < 3 => {}
            other => return other,
        }
    }
}

/// What is under way makes place for something newer; nobody can say yet what that will have to do.
async fn superseded(
    cx: &Cx,
    link: &Link,
    form: &Form,
    busy: &StackView,
    args: &StackApplyArgs,
) -> Outcome {
    let action = busy.standing.action;
    cx.ui.confirm(&format!("Stack {}: {action} is under way. Do this instead?", busy.name))?;
    let place = path(link, &busy.id.to_string());
    let watch = Watch::before(link, &place.stack).await?;
    let (form_body, options) = (form.body.clone(), form::edit(&args.options));
    let body = StackUpdateBody { form: form_body, options, reason: args.why.text() };
    let asked = link.client.call_if_match::<StackUpdate>(&place, &NONE, &body, busy.traversal);
    let begun = asked.await.map_err(|error| form.refused(error))?;
    follow(cx, link, begun, watch, &args.wait).await
}

/// Shows a plan, asks, has it done, and waits.
pub async fn carry_out(
    cx: &Cx,
    link: &Link,
    plan: &StackPlanView,
    known: Option<&StackView>,
    wait: &StackWaitArgs,
) -> Outcome {
    agreed(cx, plan)?;
    begun(cx, link, plan, known, wait).await
}

/// Whether it is to be done, in somebody's eyes who sees what it is.
fn agreed(cx: &Cx, plan: &StackPlanView) -> Result<(), Failure> {
    let told = change::told(&plan.changes);
    if plan.changes.is_impossible() {
        return Err(Failure::told(
            exit::Code::Failure,
            format!("this cannot be done\n{told}"),
            "change the template; nothing was done",
        ));
    }
    if cx.is_for_people() {
        cx.ui.say(&format!("stack {}\n{told}", plan.stack));
    }
    cx.ui.confirm("Do that?")
}

async fn begun(
    cx: &Cx,
    link: &Link,
    plan: &StackPlanView,
    known: Option<&StackView>,
    wait: &StackWaitArgs,
) -> Outcome {
    let watch = match known {
        Some(known) => Watch::from_now(link, &known.id.to_string()).await?,
        None => Watch::of_new(),
    };
    let watch = watch.of_work(&plan.changes);
    let path = StackPlanPath { project: link.project.clone(), plan: plan.id };
    let begun = link.client.call::<StackPlanApply>(&path, &NONE, &NONE).await?;
    follow(cx, link, begun, watch, wait).await
}

/// The stack of a name, if there is one.
pub async fn known(link: &Link, name: &StackName) -> Result<Option<StackView>, Failure> {
    match link.client.call::<StackGet>(&path(link, name.as_str()), &NONE, &NONE).await {
        Ok(known) => Ok(Some(known)),
        Err(error) if error.is(Code::NotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

async fn planned(
    link: &Link,
    name: &StackName,
    known: Option<&StackView>,
    form: &Form,
    (options, why): (&StackOptionArgs, &StackWhyArgs),
) -> Result<StackPlanView, Failure> {
    let told = form.body.clone();
    let body = match known {
        None => StackPlanBody::Create(StackCreateBody {
            name: name.clone(),
            form: told,
            options: form::options(options),
            reason: why.text(),
        }),
        Some(known) => StackPlanBody::Update {
            stack: known.id.to_string(),
            form: told,
            options: form::edit(options),
            reason: why.text(),
        },
    };
    let made = link.client.call::<StackPlanCreate>(&project(link), &NONE, &body).await;
    made.map_err(|error| form.refused(error))
}

/// Whether everything is as wanted, and what is chosen besides is chosen already.
fn is_nothing(plan: &StackPlanView, known: Option<&StackView>, wanted: &StackOptionArgs) -> bool {
    let Some(known) = known else { return false };
    let StackOptions { is_rollback_enabled, timeout, tags, converges, at_once, drift_every } =
        &known.options;
    let wanted = form::edit(wanted);
    let is_chosen = wanted.is_rollback_enabled.is_none_or(|it| it == *is_rollback_enabled)
        && wanted.timeout.is_none_or(|it| Some(it) == *timeout)
        && wanted.tags.is_none_or(|it| it == *tags)
        && wanted.converges.is_none_or(|it| it == *converges)
        && wanted.at_once.is_none_or(|it| Some(it) == *at_once)
        && wanted.drift_every.is_none_or(|it| it == drift_every.unwrap_or_default());
    is_chosen && known.standing.status == StackStatus::Complete && change::is_nothing(&plan.changes)
}

fn unchanged(cx: &Cx, plan: &StackPlanView, known: &StackView) -> Outcome {
    if cx.ui.format().is_some() || cx.ui.is_quiet() {
        return cx.one(known);
    }
    cx.ui.say(&format!("stack {}: {}", known.name, change::told(&plan.changes)));
    Ok(DONE)
}
