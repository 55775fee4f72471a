//! Backups of machines: made on many at once, looked into, verified, put back.

use hostler_api::node::NodeView;
use hostler_api::node_backup::{
    NodeBackupCreate, NodeBackupCreateBody, NodeBackupFiles, NodeBackupFilesQuery, NodeBackupGet,
    NodeBackupList, NodeBackupListQuery, NodeBackupPath, NodeBackupRemove, NodeBackupRestore,
    NodeBackupRestoreBody, NodeBackupVerify, NodeBackupView,
};
use hostler_api::operation::{OperationGet, OperationGetQuery, OperationPath, OperationView};
use hostler_model::{NodeBackupState, OperationState, RestoreOutcome, RestoreTo};

use super::super::{Cx, DONE, Link, NONE, PAGE, bare};
use super::deed::ended;
use super::fleet::{Chosen, NodeAnswer, show as show_answers};
use super::look::path;
use crate::args::{
    NodeBackupArg, NodeBackupCommand, NodeBackupCreateArgs, NodeBackupFilesArgs,
    NodeBackupListArgs, NodeBackupRefs, NodeBackupRestoreArgs, NodeBackupVerifyArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Description, age, moment};

pub async fn backup_command(cx: &Cx, command: NodeBackupCommand) -> Outcome {
    match command {
        NodeBackupCommand::Create(args) => create(cx, args).await,
        NodeBackupCommand::Ls(args) => ls(cx, args).await,
        NodeBackupCommand::Show(args) => show(cx, &args).await,
        NodeBackupCommand::Files(args) => files(cx, args).await,
        NodeBackupCommand::Verify(args) => verify(cx, args).await,
        NodeBackupCommand::Restore(args) => restore(cx, args).await,
        NodeBackupCommand::Rm(args) => rm(cx, args).await,
    }
}

fn named(backup: &str) -> NodeBackupPath {
    NodeBackupPath { backup: bare("backup", backup).to_owned() }
}

async fn create(cx: &Cx, args: NodeBackupCreateArgs) -> Outcome {
    let (paths, nodes): (Vec<String>, Vec<String>) =
        args.words.into_iter().partition(|word| word.starts_with('/'));
    if paths.is_empty() {
        let detail = "no path is named";
        return Err(Failure::usage(detail, "name what is to be kept, such as /etc"));
    }
    let body = NodeBackupCreateBody {
        paths,
        exclude: args.exclude,
        cross_filesystems: args.cross_filesystems,
        store: args.store,
        label: args.label,
        keep: args.keep,
    };
    let mut chosen = Chosen::from(args.on);
    chosen.names.extend(nodes);
    let link = cx.link()?;
    let (body, is_waited) = (&body, !args.no_wait);
    let answers = chosen
        .ask(cx, &link, "backing up", async |link, node| make(link, node, body, is_waited).await)
        .await?;
    let is_partial = |answer: &NodeAnswer<NodeBackupView>| {
        let outcome = answer.result.as_ref().and_then(|backup| backup.outcome.as_ref());
        outcome.is_some_and(|outcome| outcome.unreadable > 0)
    };
    let worst = match answers.iter().any(is_partial) {
        true => exit::Code::Unhealthy.number(),
        false => DONE,
    };
    show_answers(cx, &answers, &["BACKUP", "STATE", "WHAT"], rows, worst)
}

async fn make(
    link: &Link,
    node: &NodeView,
    body: &NodeBackupCreateBody,
    is_waited: bool,
) -> Result<NodeBackupView, Failure> {
    let begun = link.client.call::<NodeBackupCreate>(&path(node), &NONE, body).await?;
    if !is_waited {
        return Ok(begun);
    }
    let path = OperationPath { operation: begun.operation.to_string() };
    let query = OperationGetQuery::default();
    let operation = link.client.call::<OperationGet>(&path, &query, &NONE).await?;
    let operation = ended(link, operation).await?;
    succeeded(&operation)?;
    let path = NodeBackupPath { backup: begun.id.to_string() };
    Ok(link.client.call::<NodeBackupGet>(&path, &NONE, &NONE).await?)
}

fn succeeded(operation: &OperationView) -> Result<(), Failure> {
    if operation.state == OperationState::Succeeded {
        return Ok(());
    }
    let why = operation.error.clone().unwrap_or_else(|| operation.state.to_string());
    let hint = format!("`hostler operation get {}` shows it", operation.id);
    Err(Failure::told(exit::Code::Unhealthy, why, hint))
}

fn rows(backup: &NodeBackupView) -> Vec<Vec<Cell>> {
    let words = match (&backup.outcome, &backup.error) {
        (Some(outcome), _) => outcome.words(),
        (None, Some(error)) => error.clone(),
        (None, None) => format!("operation {}", backup.operation),
    };
    let state = match backup.state {
        NodeBackupState::Complete => Cell::new(backup.state).good(),
        state => Cell::new(state),
    };
    vec![vec![Cell::new(backup.id), state, Cell::new(words)]]
}

async fn ls(cx: &Cx, args: NodeBackupListArgs) -> Outcome {
    let link = cx.link()?;
    let query = NodeBackupListQuery {
        node: args.node.map(|node| bare("node", &node).to_owned()),
        state: args.state,
        label: args.label,
        filter: args.list.filter,
        limit: PAGE,
        cursor: None,
    };
    cx.list::<NodeBackupList, _>(&link, &NONE, &query, args.list.limit).await
}

async fn show(cx: &Cx, args: &NodeBackupArg) -> Outcome {
    let path = named(&args.backup);
    let found = cx.link()?.client.call::<NodeBackupGet>(&path, &NONE, &NONE).await?;
    if !cx.is_for_people() {
        return cx.one(&found);
    }
    let now = cx.now();
    let time = |time| format!("{} ({})", moment(time, now, true), age(time, now));
    let mut told = Description::default();
    told.section("Backup")
        .pair("ID", found.id.to_string())
        .pair("Name", Some(found.label.clone()).filter(|label| !label.is_empty()))
        .pair("Node", found.node.to_string())
        .pair("State", found.state.to_string())
        .pair("Store", found.store.to_string())
        .pair("Paths", found.spec.paths.join(" "))
        .pair("Left out", Some(found.spec.exclude.join(" ")).filter(|text| !text.is_empty()))
        .pair("Made by", found.created_by.name.clone())
        .pair("Begun", time(found.time_created))
        .pair("Ended", found.time_ended.map(time))
        .pair("Operation", found.operation.to_string())
        .pair("Error", found.error.clone());
    if let Some(outcome) = &found.outcome {
        told.section("Content")
            .pair("Files", outcome.files.to_string())
            .pair("Directories", outcome.directories.to_string())
            .pair("Links", outcome.links.to_string())
            .pair("Bytes", outcome.bytes.to_string())
            .pair("Sent", outcome.bytes_sent.to_string());
        for (name, count) in [
            ("Changed meanwhile", outcome.changed),
            ("Vanished meanwhile", outcome.vanished),
            ("Unreadable", outcome.unreadable),
            ("Left out, no files", outcome.special),
        ] {
            told.pair(name, (count > 0).then(|| count.to_string()));
        }
        if !outcome.troubles.is_empty() {
            told.section("Troubles");
            for trouble in &outcome.troubles {
                told.text(format!("{}: {}", trouble.path, trouble.why));
            }
        }
    }
    if let Some(verdict) = &found.verdict {
        let words = verdict.problem.clone();
        told.section("Verified")
            .pair("When", time(verdict.time))
            .pair("Result", words.unwrap_or_else(|| "everything is there and right".to_owned()));
    }
    cx.ui.data(told.render().as_bytes())?;
    Ok(DONE)
}

async fn files(cx: &Cx, args: NodeBackupFilesArgs) -> Outcome {
    let link = cx.link()?;
    let query = NodeBackupFilesQuery { path: args.path, limit: PAGE, cursor: None };
    let path = named(&args.backup.backup);
    cx.list::<NodeBackupFiles, _>(&link, &path, &query, args.limit.limit).await
}

async fn verify(cx: &Cx, args: NodeBackupVerifyArgs) -> Outcome {
    let link = cx.link()?;
    let path = named(&args.backup.backup);
    let operation = link.client.call::<NodeBackupVerify>(&path, &NONE, &NONE).await?;
    super::super::operation::started(cx, &link, operation, args.no_wait).await
}

async fn restore(cx: &Cx, args: NodeBackupRestoreArgs) -> Outcome {
    let to = match (&args.to, args.in_place) {
        (Some(path), _) => RestoreTo::Directory { path: path.display().to_string() },
        (None, true) => RestoreTo::InPlace,
        (None, false) => RestoreTo::Fresh,
    };
    let backup = &args.backup.backup;
    if args.overwrite && !args.check && to != RestoreTo::Fresh {
        cx.ui.confirm(&format!("Put files of {backup} in the place of those that are there?"))?;
    }
    let body = NodeBackupRestoreBody {
        node: args.node.map(|node| bare("node", &node).to_owned()),
        to,
        paths: args.path,
        overwrite: args.overwrite,
        check: args.check,
    };
    let link = cx.link()?;
    let operation = link.client.call::<NodeBackupRestore>(&named(backup), &NONE, &body).await?;
    if args.no_wait {
        return super::super::operation::started(cx, &link, operation, true).await;
    }
    let operation = ended(&link, operation).await?;
    let result = operation.steps.iter().find_map(|step| step.result.clone());
    let outcome: Option<RestoreOutcome> =
        result.and_then(|result| serde_json::from_value(result).ok());
    let Some(outcome) = outcome else {
        succeeded(&operation)?;
        return cx.one(&operation);
    };
    told(cx, &operation, &outcome, args.check)?;
    Ok(match (operation.state, outcome.changed) {
        (OperationState::Succeeded, changed) if args.check && changed > 0 => {
            exit::Code::ChangesPresent.number()
        }
        (OperationState::Succeeded, _) => DONE,
        _ => exit::Code::Unhealthy.number(),
    })
}

/// What came of it: in words with what did not go well, or as a document.
fn told(
    cx: &Cx,
    operation: &OperationView,
    outcome: &RestoreOutcome,
    is_check: bool,
) -> Result<(), Failure> {
    if cx.ui.is_quiet() {
        return cx.ui.line(&outcome.directory);
    }
    if !cx.is_for_people() {
        return cx.one(operation).map(drop);
    }
    for change in outcome.changes.iter().filter(|_| is_check) {
        cx.ui.line(&format!("{}: {}", change.path, change.why))?;
    }
    cx.ui.line(&outcome.words(is_check))?;
    if !outcome.troubles.is_empty() {
        cx.ui.warn(&format!("{} could not be put back, or not as they were", outcome.failed));
    }
    for trouble in &outcome.troubles {
        cx.ui.instruct(&format!("  {}: {}", trouble.path, trouble.why));
    }
    Ok(())
}

async fn rm(cx: &Cx, args: NodeBackupRefs) -> Outcome {
    cx.ui.confirm(&format!("Remove {}?", args.backups.join(", ")))?;
    let link = cx.link()?;
    for backup in &args.backups {
        let path = named(backup);
        let found = link.client.call::<NodeBackupGet>(&path, &NONE, &NONE).await?;
        let path = NodeBackupPath { backup: found.id.to_string() };
        link.client.call::<NodeBackupRemove>(&path, &NONE, &NONE).await?;
        cx.changed(&found, "is not kept any more")?;
    }
    Ok(DONE)
}
