//! Servers, reconcilers, versions, completion, help.

use std::time::Duration;

use hostler_api::system::{
    MetricsHistory, MetricsHistoryQuery, ReconcilerList, ServerList, Version, VersionView,
};
use serde::Serialize;

use super::{Cx, DONE, NONE};
use crate::args::{DebugCommand, MetricsArgs, ShellName};
use crate::failure::{Failure, Outcome};
use crate::output;

pub async fn servers(cx: &Cx) -> Outcome {
    cx.list::<ServerList, _>(&cx.link()?, &NONE, &NONE, None).await
}

pub async fn metrics(cx: &Cx, args: &MetricsArgs) -> Outcome {
    let names: Vec<&str> = args.figures.iter().map(|figure| figure.label()).collect();
    let query = MetricsHistoryQuery {
        series: (!names.is_empty()).then(|| names.join(",")),
        since: Some(args.since.moment(cx.now())),
    };
    let view = cx.link()?.client.call::<MetricsHistory>(&NONE, &query, &NONE).await?;
    match cx.ui.format() {
        Some(format) if !cx.is_for_people() && !cx.ui.is_quiet() => {
            output::document(&cx.ui, format, &view)?;
        }
        _ => {
            output::list(&cx.ui, cx.now(), &output::figure_rows(&view))?;
            if view.times.is_empty() {
                cx.ui.say("the server has just started; there is something after ten seconds");
            }
        }
    }
    Ok(DONE)
}

pub async fn debug(cx: &Cx, command: DebugCommand) -> Outcome {
    match command {
        DebugCommand::Reconcilers => {
            cx.list::<ReconcilerList, _>(&cx.link()?, &NONE, &NONE, None).await
        }
    }
}

/// What this program was built from, where its builder said so. Neither the time nor the place of a build
/// is in the program: the same sources make the same one.
const COMMIT: Option<&str> = option_env!("HOSTLER_COMMIT");

#[derive(Serialize)]
struct Versions {
    client: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<VersionView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// A server that is away is no failure: the version of this program is known without it.
pub async fn version(cx: &Cx) -> Outcome {
    let asked = match cx.link() {
        Ok(link) => {
            let client = link.client.with_timeout(Duration::from_secs(5));
            client.call::<Version>(&NONE, &NONE, &NONE).await.map_err(Failure::from)
        }
        Err(failure) => Err(failure),
    };
    let client = env!("CARGO_PKG_VERSION").to_owned();
    let versions = match asked {
        Ok(server) => Versions { client, commit: COMMIT, server: Some(server), problem: None },
        Err(failure) => {
            let told = failure.render(false);
            let problem = told.lines().next().unwrap_or_default().trim_start_matches("error: ");
            Versions { client, commit: COMMIT, server: None, problem: Some(problem.to_owned()) }
        }
    };
    match cx.ui.format() {
        Some(format) => output::document(&cx.ui, format, &versions)?,
        None => {
            let commit = COMMIT.map(|commit| format!(" (commit {commit})")).unwrap_or_default();
            cx.ui.line(&format!("hostler {}{commit}", versions.client))?;
            match (&versions.server, &versions.problem) {
                (Some(server), _) => {
                    cx.ui.line(&format!(
                        "server  {} (API {})",
                        server.version, server.api_version
                    ))?;
                }
                (None, problem) => {
                    cx.ui.say(&format!("server  {}", problem.as_deref().unwrap_or("unknown")))
                }
            }
        }
    }
    Ok(DONE)
}

/// The script asks this program for everything, so it stays right when the program changes.
pub fn completion(cx: &Cx, shell: ShellName) -> Outcome {
    cx.ui.data(&crate::complete::script(shell)?)?;
    Ok(DONE)
}

pub fn help(cx: &Cx, words: &[String]) -> Outcome {
    cx.ui.data(crate::help::help(words)?.as_bytes())?;
    Ok(DONE)
}
