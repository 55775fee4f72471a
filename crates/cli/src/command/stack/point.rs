//! What stacks were: revisions and snapshots, what is different since, and the way back.

use futures::TryStreamExt;
use hostler_api::PageQuery;
use hostler_api::stack::{
    StackDefinitionGet, StackDefinitionQuery, StackDefinitionView, StackGet, StackPath,
};
use hostler_api::stack_plan::{StackPlanBody, StackPlanCreate};
use hostler_api::stack_point::{
    StackCompare, StackCompareQuery, StackComparisonView, StackRevisionGet, StackRevisionList,
    StackRevisionPath, StackRevisionView, StackSnapshotBody, StackSnapshotCreate, StackSnapshotGet,
    StackSnapshotList, StackSnapshotPath, StackSnapshotRemove, StackSnapshotView,
};
use hostler_model::StackSnapshotId;
use hostler_model::stack::{StackChangeKind, StackStatus};
use serde::Serialize;

use super::super::{Cx, DONE, Link, NONE, PAGE};
use super::follow::{End, Watch, until_over};
use super::{change, path, plan, project};
use crate::args::{
    StackHistoryArgs, StackRevisionCommand, StackRevisionRef, StackSnapshotCommand,
    StackSnapshotCreateArgs, StackSnapshotRef, StackWaitArgs, StackWhyArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};

pub async fn history(cx: &Cx, args: StackHistoryArgs) -> Outcome {
    let link = cx.link()?;
    let query = args.list.page();
    let place = path(&link, &args.which.stack);
    cx.list::<StackRevisionList, _>(&link, &place, &query, args.list.limit).await
}

pub async fn revisions(cx: &Cx, command: StackRevisionCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StackRevisionCommand::Show(args) => show(cx, &link, &args).await,
        StackRevisionCommand::Compare { which, other } => {
            let from = format!("v{}", which.revision);
            let to = other.map(|number| format!("v{number}"));
            compare(cx, &link, &which.which.stack, from, to).await
        }
        StackRevisionCommand::Restore(args) => {
            let StackRevisionRef { which, revision } = &args.revision;
            let point = format!("v{revision}");
            restore(cx, &link, &which.stack, point, (&args.why, &args.wait)).await
        }
    }
}

/// A revision with what it was made of.
#[derive(Serialize)]
struct Revision {
    #[serde(flatten)]
    revision: StackRevisionView,
    definition: StackDefinitionView,
}

async fn show(cx: &Cx, link: &Link, args: &StackRevisionRef) -> Outcome {
    let StackPath { project, stack } = path(link, &args.which.stack);
    let query = StackDefinitionQuery { revision: Some(args.revision) };
    let place = path(link, &stack);
    let definition = link.client.call::<StackDefinitionGet>(&place, &query, &NONE).await?;
    let place = StackRevisionPath { project, stack, revision: args.revision };
    let revision = link.client.call::<StackRevisionGet>(&place, &NONE, &NONE).await?;
    let format = cx.ui.format().cloned().unwrap_or(Format::Yaml);
    output::document(&cx.ui, &format, &Revision { revision, definition })?;
    Ok(DONE)
}

async fn compare(cx: &Cx, link: &Link, stack: &str, from: String, to: Option<String>) -> Outcome {
    let query = StackCompareQuery { from, to };
    let found = link.client.call::<StackCompare>(&path(link, stack), &query, &NONE).await?;
    let changed = || found.resources.iter().filter(|one| one.change != StackChangeKind::Unchanged);
    let is_same =
        changed().next().is_none() && found.parameters.is_empty() && found.outputs.is_empty();
    if !cx.is_for_people() || cx.ui.is_quiet() {
        cx.one(&found)?;
    } else {
        let StackComparisonView { from, to, .. } = &found;
        match is_same {
            true => cx.ui.say(&format!("{from} and {to} are the same")),
            false => {
                let mut text: String = changed().map(change::resource).collect();
                text.push_str(&change::values("parameters", &found.parameters));
                text.push_str(&change::values("outputs", &found.outputs));
                cx.ui.say(&format!("from {from} to {to}:"));
                cx.ui.data(text.as_bytes())?;
            }
        }
    }
    Ok(if is_same { DONE } else { exit::Code::ChangesPresent.number() })
}

/// Back to a point, with a plan.
async fn restore(
    cx: &Cx,
    link: &Link,
    stack: &str,
    point: String,
    (why, wait): (&StackWhyArgs, &StackWaitArgs),
) -> Outcome {
    let known = link.client.call::<StackGet>(&path(link, stack), &NONE, &NONE).await?;
    let (stack, reason) = (known.id.to_string(), why.text());
    let body = StackPlanBody::Restore { stack, point, reason };
    let plan = link.client.call::<StackPlanCreate>(&project(link), &NONE, &body).await?;
    plan::carry_out(cx, link, &plan, Some(&known), wait).await
}

pub async fn snapshots(cx: &Cx, command: StackSnapshotCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        StackSnapshotCommand::Create(args) => create(cx, &link, args).await,
        StackSnapshotCommand::Ls { which, list } => {
            let query = list.page();
            let place = path(&link, &which.stack);
            cx.list::<StackSnapshotList, _>(&link, &place, &query, list.limit).await
        }
        StackSnapshotCommand::Show(args) => {
            let place = of_snapshot(&link, &args.which.stack, &args.snapshot).await?;
            cx.one(&link.client.call::<StackSnapshotGet>(&place, &NONE, &NONE).await?)
        }
        StackSnapshotCommand::Compare(StackSnapshotRef { which, snapshot }) => {
            let place = of_snapshot(&link, &which.stack, &snapshot).await?;
            compare(cx, &link, &which.stack, place.snapshot.to_string(), None).await
        }
        StackSnapshotCommand::Restore(args) => {
            let StackSnapshotRef { which, snapshot } = &args.snapshot;
            let place = of_snapshot(&link, &which.stack, snapshot).await?;
            let point = place.snapshot.to_string();
            restore(cx, &link, &which.stack, point, (&args.why, &args.wait)).await
        }
        StackSnapshotCommand::Rm { which, snapshots } => {
            for snapshot in &snapshots {
                let place = of_snapshot(&link, &which.stack, snapshot).await?;
                link.client.call::<StackSnapshotRemove>(&place, &NONE, &NONE).await?;
                cx.ui.say(&format!("snapshot {snapshot} of stack {} removed", place.stack));
            }
            Ok(DONE)
        }
    }
}

/// A snapshot by its id, or by its name where there is one of that name.
async fn of_snapshot(link: &Link, stack: &str, given: &str) -> Result<StackSnapshotPath, Failure> {
    let StackPath { project, stack } = path(link, stack);
    let at = |snapshot: StackSnapshotId| StackSnapshotPath {
        project: project.clone(),
        stack: stack.clone(),
        snapshot,
    };
    let given = super::bare("snapshot", given);
    if let Ok(id) = given.parse() {
        return Ok(at(id));
    }
    let query = PageQuery { limit: PAGE, ..PageQuery::default() };
    let pages = link.client.pages::<StackSnapshotList, _>(&path(link, &stack), &query, None)?;
    let all: Vec<StackSnapshotView> = pages.try_collect().await?;
    let named: Vec<&StackSnapshotView> = all.iter().filter(|one| one.name == given).collect();
    match named[..] {
        [one] => Ok(at(one.id)),
        [] => Err(Failure::told(
            exit::Code::NotFound,
            format!("stack {stack} has no snapshot `{given}`"),
            format!("`hostler stack snapshot ls {stack}` lists them"),
        )),
        _ => Err(Failure::told(
            exit::Code::Conflict,
            format!("stack {stack} has {} snapshots `{given}`", named.len()),
            format!("say which by its id: `hostler stack snapshot ls {stack}`"),
        )),
    }
}

async fn create(cx: &Cx, link: &Link, args: StackSnapshotCreateArgs) -> Outcome {
    let place = path(link, &args.which.stack);
    let watch = Watch::before(link, &place.stack).await?;
    let body = StackSnapshotBody { name: args.name };
    let begun = link.client.call::<StackSnapshotCreate>(&place, &NONE, &body).await?;
    if args.wait.detach {
        cx.changed(&begun, "is being taken")?;
        return Ok(DONE);
    }
    let stack = link.client.call::<StackGet>(&place, &NONE, &NONE).await?;
    if let End::Left(code) = until_over(cx, link, &stack, watch, &args.wait).await? {
        return Ok(code);
    }
    let StackPath { project, stack } = place;
    let place = StackSnapshotPath { project, stack, snapshot: begun.id };
    let taken = link.client.call::<StackSnapshotGet>(&place, &NONE, &NONE).await?;
    // What it holds is a matter of `show`.
    let taken = StackSnapshotView {
        resources: serde_json::Map::new(),
        outputs: serde_json::Map::new(),
        ..taken
    };
    match taken.status {
        StackStatus::Complete => cx.changed(&taken, "taken"),
        _ => {
            cx.changed(&taken, &format!("was not taken: {}", taken.reason))?;
            Ok(exit::Code::Unhealthy.number())
        }
    }
}
