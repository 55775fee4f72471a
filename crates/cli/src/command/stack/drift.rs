//! How far the objects of a stack are from what it says, and putting that right.

use hostler_api::stack::StackGet;
use hostler_api::stack_plan::{
    StackDriftDetect, StackDriftGet, StackDriftView, StackPlanBody, StackPlanCreate,
};
use hostler_model::Code;
use hostler_model::stack::{StackDriftItem, StackDriftKind};

use super::super::{Cx, DONE, NONE};
use super::change::{is_nothing, values};
use super::{path, plan, project};
use crate::args::{StackDriftCommand, StackFixArgs};
use crate::exit;
use crate::failure::Outcome;
use crate::output::{age, lies};

pub async fn perform(cx: &Cx, command: StackDriftCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StackDriftCommand::Detect(args) => {
            let place = path(&link, &args.stack);
            let found = link.client.call::<StackDriftDetect>(&place, &NONE, &NONE).await?;
            told(cx, &place.stack, &found)
        }
        StackDriftCommand::Show(args) => {
            let place = path(&link, &args.stack);
            let found = link.client.call::<StackDriftGet>(&place, &NONE, &NONE).await;
            let found = found.map_err(|error| {
                let hint = format!("look with `hostler stack drift detect {}`", place.stack);
                error.with_hint(Code::NotFound, hint)
            })?;
            told(cx, &place.stack, &found)
        }
        StackDriftCommand::Fix(args) => fix(cx, args).await,
    }
}

fn told(cx: &Cx, stack: &str, found: &StackDriftView) -> Outcome {
    if !cx.is_for_people() || cx.ui.is_quiet() {
        cx.one(found)?;
    } else {
        let differing = found.items.iter().filter(|item| item.drift != StackDriftKind::InSync);
        for item in differing {
            cx.ui.data(line(item).as_bytes())?;
        }
        let mut words = match found.is_drifted {
            true => format!(
                "stack {stack}: {} of {} resources changed, {} missing",
                found.changed, found.looked, found.missing
            ),
            false => format!("stack {stack}: {} resources are as it says", found.looked),
        };
        if found.unknown > 0 {
            words.push_str(&format!(", {} could not be looked at", found.unknown));
        }
        words.push_str(&format!(", {}", age(found.time, cx.now())));
        if !found.is_current {
            words.push_str("; it was changed since");
        }
        cx.ui.say(&words);
        if found.is_drifted {
            cx.ui.say(&format!("`hostler stack drift fix {stack}` puts it right"));
        }
    }
    Ok(if found.is_drifted { exit::Code::ChangesPresent.number() } else { DONE })
}

/// What differs of one object: as the stack says, and as it is.
fn line(item: &StackDriftItem) -> String {
    let message = match item.message.as_str() {
        "" => String::new(),
        message => format!(": {message}"),
    };
    let mark = if item.drift.is_drift() { "≠" } else { "?" };
    let head = format!(
        "{mark} {} ({}) {}{message}\n",
        lies(&item.path, &item.name),
        item.kind,
        item.drift
    );
    let values = values("as it should be → as it is", &item.properties);
    format!("{head}{values}")
}

async fn fix(cx: &Cx, args: StackFixArgs) -> Outcome {
    let link = cx.link()?;
    let known = link.client.call::<StackGet>(&path(&link, &args.which.stack), &NONE, &NONE).await?;
    let (stack, reason) = (known.id.to_string(), args.why.text());
    let body = StackPlanBody::Fix { stack, reason };
    let plan = link.client.call::<StackPlanCreate>(&project(&link), &NONE, &body).await?;
    if is_nothing(&plan.changes) {
        if cx.ui.format().is_some() || cx.ui.is_quiet() {
            return cx.one(&known);
        }
        cx.ui.say(&format!("stack {}: nothing differs from what it says", known.name));
        return Ok(DONE);
    }
    plan::carry_out(cx, &link, &plan, Some(&known), &args.wait).await
}
