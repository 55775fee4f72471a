//! Doing something to machines: each node's part is an operation, which is waited for.

use std::time::Duration;

use hostler_api::host::{NodeDeed, NodeDeedBody, NodeDeedCheck, NodeProcesses, NodeProcessesQuery};
use hostler_api::node::NodeView;
use hostler_api::operation::{OperationGet, OperationGetQuery, OperationPath, OperationView};
use hostler_model::host::{HostDeed, HostOutcome, ProcessOrder, ServiceVerb, UserAdd};
use hostler_model::{OperationState, Span};
use serde::Serialize;

use super::super::{Cx, DONE, Link, NONE};
use super::fleet::{Chosen, NodeAnswer, show};
use super::look::path;
use crate::args::{
    ChoiceArgs, DeedArgs, MachineUserKeyArgs, NodePackagesCommand, NodeServicesCommand,
    NodeUsersCommand, ProcessKillArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::Cell;

/// How long one question about an operation waits.
const WAIT: Span = Span::from_secs(20);
const PATIENCE: Duration = Duration::from_secs(60);

/// What came of it on one node.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    /// Absent after a check.
    #[serde(skip_serializing_if = "Option::is_none")]
    operation: Option<String>,
    /// Absent where it was not waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<HostOutcome>,
}

pub async fn packages_change(cx: &Cx, command: NodePackagesCommand) -> Outcome {
    let (deed, args) = match command {
        NodePackagesCommand::Install(args) => {
            let deed = HostDeed::PackagesInstall { names: args.packages, refresh: args.refresh };
            (deed, args.deed)
        }
        NodePackagesCommand::Remove(args) => {
            let deed = HostDeed::PackagesRemove { names: args.packages, purge: args.purge };
            (deed, args.deed)
        }
        NodePackagesCommand::Upgrade(args) => {
            (HostDeed::PackagesUpgrade { names: args.packages }, args.deed)
        }
        NodePackagesCommand::Refresh(args) => (HostDeed::PackagesRefresh {}, args),
        NodePackagesCommand::Ls(_) | NodePackagesCommand::Search(_) => return Ok(DONE),
    };
    perform(cx, deed, args).await
}

pub async fn services_change(cx: &Cx, command: NodeServicesCommand) -> Outcome {
    let (verb, args) = match command {
        NodeServicesCommand::Start(args) => (ServiceVerb::Start, args),
        NodeServicesCommand::Stop(args) => (ServiceVerb::Stop, args),
        NodeServicesCommand::Restart(args) => (ServiceVerb::Restart, args),
        NodeServicesCommand::Reload(args) => (ServiceVerb::Reload, args),
        NodeServicesCommand::Enable(args) => (ServiceVerb::Enable, args),
        NodeServicesCommand::Disable(args) => (ServiceVerb::Disable, args),
        NodeServicesCommand::Ls(_) | NodeServicesCommand::Status(_) => return Ok(DONE),
    };
    perform(cx, HostDeed::Service { name: args.service, verb }, args.deed).await
}

pub async fn users_change(cx: &Cx, command: NodeUsersCommand) -> Outcome {
    let (deed, args) = match command {
        NodeUsersCommand::Add(args) => {
            let user = UserAdd {
                name: args.user,
                uid: args.uid,
                group: args.group,
                groups: args.groups,
                home: args.home,
                shell: args.shell,
                comment: args.comment,
                system: args.system,
            };
            (HostDeed::UserAdd(user), args.deed)
        }
        NodeUsersCommand::Rm(args) => {
            (HostDeed::UserRemove { name: args.user, home: args.home }, args.deed)
        }
        NodeUsersCommand::Lock(args) => (HostDeed::UserLock { name: args.user }, args.deed),
        NodeUsersCommand::Unlock(args) => (HostDeed::UserUnlock { name: args.user }, args.deed),
        NodeUsersCommand::Groups(args) => {
            let (name, groups, exact) = (args.user, args.groups, args.exact);
            (HostDeed::UserGroups { name, groups, exact }, args.deed)
        }
        NodeUsersCommand::KeyAdd(args) => {
            let key = key(&args)?;
            (HostDeed::UserKeyAdd { name: args.user, key }, args.deed)
        }
        NodeUsersCommand::KeyRm(args) => {
            let key = key(&args)?;
            (HostDeed::UserKeyRemove { name: args.user, key }, args.deed)
        }
        NodeUsersCommand::Ls(_) => return Ok(DONE),
    };
    perform(cx, deed, args).await
}

/// The one key in the file.
fn key(args: &MachineUserKeyArgs) -> Result<String, Failure> {
    let shown = args.key.display();
    let bad = |why: String| {
        Failure::usage(
            format!("{shown} has no public key: {why}"),
            "name a file such as id_ed25519.pub",
        )
    };
    let text = std::fs::read_to_string(&args.key).map_err(|e| bad(e.to_string()))?;
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    match lines.as_slice() {
        [one] if one.contains("PRIVATE KEY") => Err(bad("it is a private one".to_owned())),
        [one] => Ok((*one).to_owned()),
        _ => Err(bad("it must have one line".to_owned())),
    }
}

pub async fn processes_kill(cx: &Cx, args: ProcessKillArgs) -> Outcome {
    let chosen = Chosen { names: vec![args.node], choice: one_at_a_time() };
    let (pid, signal, wanted) = (args.pid, args.signal, args.name.as_deref());
    let link = cx.link()?;
    let is_check = args.check;
    let answers = chosen
        .ask(cx, &link, "signalling", async |link, node| {
            let deed = seen(link, node, pid, wanted).await?;
            let deed = HostDeed::Signal { pid, start_ticks: deed.0, name: deed.1, signal };
            match is_check {
                true => check(link, node, &deed).await,
                false => carry_out(link, node, &deed, true).await,
            }
        })
        .await?;
    finish(cx, &answers, is_check)
}

fn one_at_a_time() -> ChoiceArgs {
    ChoiceArgs { together: 1, ..ChoiceArgs::default() }
}

/// When it started and what it is called.
async fn seen(
    link: &Link,
    node: &NodeView,
    pid: u32,
    wanted: Option<&str>,
) -> Result<(u64, String), Failure> {
    let query =
        NodeProcessesQuery { order: Some(ProcessOrder::Pid), ..NodeProcessesQuery::default() };
    let client = link.client.with_timeout(PATIENCE);
    let found = client.call::<NodeProcesses>(&path(node), &query, &NONE).await?;
    let Some(process) = found.processes.into_iter().find(|process| process.pid == pid) else {
        let detail = format!("there is no process {pid} on {}", node.name);
        let hint = "`hostler node processes ls` shows those that are there";
        return Err(Failure::told(exit::Code::NotFound, detail, hint));
    };
    if wanted.is_some_and(|wanted| wanted != process.name) {
        let detail = format!("process {pid} on {} is `{}`", node.name, process.name);
        return Err(Failure::told(exit::Code::Conflict, detail, "list again, and name that one"));
    }
    Ok((process.start_ticks, process.name))
}

async fn perform(cx: &Cx, deed: HostDeed, args: DeedArgs) -> Outcome {
    if !args.check && is_grave(&deed) {
        let who = whom(&args);
        cx.ui.confirm(&format!("{} on {who}?", capital(&deed.words())))?;
    }
    let link = cx.link()?;
    let (deed, is_check, is_waited) = (&deed, args.check, !args.no_wait);
    let answers = Chosen::from(args.on)
        .ask(cx, &link, &deed.words(), async |link, node| match is_check {
            true => check(link, node, deed).await,
            false => carry_out(link, node, deed, is_waited).await,
        })
        .await?;
    finish(cx, &answers, is_check)
}

/// What cannot be undone by doing the opposite.
fn is_grave(deed: &HostDeed) -> bool {
    match deed {
        HostDeed::PackagesRemove { .. } | HostDeed::UserRemove { .. } => true,
        HostDeed::PackagesUpgrade { names } => names.is_empty(),
        _ => false,
    }
}

fn whom(args: &DeedArgs) -> String {
    match (&args.on.choice.selector, args.on.choice.all) {
        (_, true) => "all nodes".to_owned(),
        (Some(selector), false) => format!("all nodes with {selector}"),
        (None, false) => args.on.nodes.join(", "),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

async fn check(link: &Link, node: &NodeView, deed: &HostDeed) -> Result<Done, Failure> {
    let body = NodeDeedBody { deed: deed.clone() };
    let client = link.client.with_timeout(PATIENCE);
    let outcome = client.call::<NodeDeedCheck>(&path(node), &NONE, &body).await?;
    Ok(Done { operation: None, outcome: Some(outcome) })
}

async fn carry_out(
    link: &Link,
    node: &NodeView,
    deed: &HostDeed,
    is_waited: bool,
) -> Result<Done, Failure> {
    let body = NodeDeedBody { deed: deed.clone() };
    let begun = link.client.call::<NodeDeed>(&path(node), &NONE, &body).await?;
    let id = begun.id.to_string();
    if !is_waited {
        return Ok(Done { operation: Some(id), outcome: None });
    }
    let ended = ended(link, begun).await?;
    if ended.state != OperationState::Succeeded {
        let why = ended.error.unwrap_or_else(|| ended.state.to_string());
        let hint = format!("`hostler operation get {id}` shows it");
        return Err(Failure::told(exit::Code::Unhealthy, why, hint));
    }
    let result = ended.steps.into_iter().find_map(|step| step.result);
    let outcome = result.and_then(|result| serde_json::from_value(result).ok());
    Ok(Done { operation: Some(id), outcome })
}

pub(super) async fn ended(
    link: &Link,
    mut operation: OperationView,
) -> Result<OperationView, Failure> {
    let client = link.client.with_timeout(PATIENCE);
    let path = OperationPath { operation: operation.id.to_string() };
    let query = OperationGetQuery { wait: Some(WAIT) };
    while !operation.state.is_settled() {
        operation = client.call::<OperationGet>(&path, &query, &NONE).await?;
    }
    Ok(operation)
}

fn finish(cx: &Cx, answers: &[NodeAnswer<Done>], is_check: bool) -> Outcome {
    let has_changes = answers
        .iter()
        .filter_map(|answer| answer.result.as_ref()?.outcome.as_ref())
        .any(|outcome| outcome.changed);
    let worst = match is_check && has_changes {
        true => exit::Code::ChangesPresent.number(),
        false => DONE,
    };
    let rows = |done: &Done| rows(done, is_check);
    show(cx, answers, &["RESULT", "WHAT"], rows, worst)
}

fn rows(done: &Done, is_check: bool) -> Vec<Vec<Cell>> {
    let Some(outcome) = &done.outcome else {
        let id = done.operation.as_deref().unwrap_or_default();
        return vec![vec![Cell::new("begun"), Cell::new(format!("operation {id}"))]];
    };
    let result = match (outcome.changed, is_check) {
        (false, _) => Cell::new("unchanged").dim(),
        (true, true) => Cell::new("would change").warning(),
        (true, false) => Cell::new("changed").good(),
    };
    let mut rows = vec![vec![result, Cell::new(&outcome.message)]];
    if is_check {
        let changes = outcome.changes.iter();
        rows.extend(changes.map(|change| vec![Cell::new(" "), Cell::new(change.to_string())]));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_undone_is_asked_about() {
        let names = vec!["x".to_owned()];
        for (deed, is) in [
            (HostDeed::PackagesRemove { names: names.clone(), purge: false }, true),
            (HostDeed::PackagesUpgrade { names: Vec::new() }, true),
            (HostDeed::PackagesUpgrade { names: names.clone() }, false),
            (HostDeed::PackagesInstall { names, refresh: false }, false),
            (HostDeed::UserRemove { name: "x".into(), home: false }, true),
            (HostDeed::Service { name: "x".into(), verb: ServiceVerb::Restart }, false),
        ] {
            assert_eq!(is_grave(&deed), is, "{deed:?}");
        }
        assert_eq!(capital("install x"), "Install x");
    }

    #[test]
    fn rows_say_whether_something_changed() {
        let done = |changed| Done {
            operation: None,
            outcome: Some(HostOutcome { changed, message: "m".into(), ..HostOutcome::default() }),
        };
        let first = |done: &Done, is_check| rows(done, is_check)[0][0].text().to_owned();
        assert_eq!(first(&done(false), true), "unchanged");
        assert_eq!(first(&done(true), true), "would change");
        assert_eq!(first(&done(true), false), "changed");
        assert_eq!(first(&Done { operation: Some("1".into()), outcome: None }, false), "begun");
    }
}
