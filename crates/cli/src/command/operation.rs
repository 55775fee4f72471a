//! Operations.

use std::time::Duration;

use hostler_api::operation::{
    OperationCancel, OperationGet, OperationGetQuery, OperationList, OperationListQuery,
    OperationPath, OperationView,
};
use hostler_model::{OperationState, Span, StepState};

use super::wait::{deadline, settle, timed_out};
use super::{Cx, DONE, Link, NONE, PAGE, bare};
use crate::args::OperationCommand;
use crate::exit;
use crate::failure::Outcome;

pub async fn perform(cx: &Cx, command: OperationCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        OperationCommand::Ls(args) => {
            let query = OperationListQuery {
                state: args.state,
                filter: args.list.filter,
                limit: PAGE,
                cursor: None,
            };
            cx.list::<OperationList, _>(&link, &NONE, &query, args.list.limit).await
        }
        OperationCommand::Get { operation } => {
            let query = OperationGetQuery::default();
            cx.one(&link.client.call::<OperationGet>(&path(&operation), &query, &NONE).await?)
        }
        OperationCommand::Wait(args) => wait(cx, &link, &args.operation, args.timeout).await,
        OperationCommand::Cancel { operation } => {
            let operation =
                link.client.call::<OperationCancel>(&path(&operation), &NONE, &NONE).await?;
            cx.changed(&operation, "ends after its present step")
        }
    }
}

fn path(operation: &str) -> OperationPath {
    OperationPath { operation: bare("operation", operation).to_owned() }
}

/// Goes on with an operation that was just made: waits for its end, or tells its id.
pub async fn started(cx: &Cx, link: &Link, operation: OperationView, is_detached: bool) -> Outcome {
    if !is_detached {
        return wait(cx, link, &operation.id.to_string(), None).await;
    }
    if cx.ui.format().is_some() {
        return cx.one(&operation);
    }
    cx.ui.say(&format!("`hostler operation wait {}` waits for its end", operation.id));
    cx.ui.line(&operation.id.to_string())?;
    Ok(DONE)
}

/// Waits for the end, showing the steps.
pub async fn wait(cx: &Cx, link: &Link, id: &str, timeout: Option<Span>) -> Outcome {
    let path = path(id);
    let client = link.client.with_timeout(Duration::from_mins(1));
    let fetch = async |length: Span| {
        let query = OperationGetQuery { wait: Some(length.min(STEP)) };
        client.call::<OperationGet>(&path, &query, &NONE).await
    };
    let spinner = cx.ui.spinner(format!("operation {id}"));
    let mut shown = String::new();
    let progress = |operation: &OperationView| {
        let now = at(operation);
        if now != shown {
            spinner.message(now.clone());
            shown = now;
        }
    };
    let ended =
        settle(deadline(timeout), fetch, |operation| operation.state.is_settled(), progress)
            .await?;
    drop(spinner);
    let Some(operation) = ended else {
        return Err(timed_out(&format!("operation {id}"), timeout));
    };
    if cx.ui.format().is_some() {
        cx.one(&operation)?;
    } else {
        let error = operation.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        cx.ui.say(&format!("operation {} {}{error}", operation.plan.label(), operation.state));
    }
    Ok(match operation.state {
        OperationState::Succeeded => DONE,
        OperationState::Pending
        | OperationState::Running
        | OperationState::Failed
        | OperationState::Cancelled => exit::Code::Unhealthy.number(),
    })
}

/// Short, so that progress is seen.
const STEP: Span = Span::from_secs(2);

fn at(operation: &OperationView) -> String {
    match operation.steps.iter().find(|step| step.state == StepState::Running) {
        Some(step) => format!("{}: {} {}", operation.plan.label(), step.name, step.message),
        None => format!("{}: {}", operation.plan.label(), operation.state),
    }
}
