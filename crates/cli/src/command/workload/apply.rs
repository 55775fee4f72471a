//! `apply` and `validate`: from files to workloads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures::TryStreamExt;
use hostler_api::ProjectPath;
use hostler_api::workload::{WorkloadApply, WorkloadList, WorkloadListQuery, WorkloadView};
use hostler_client::Error;
use hostler_manifest::{Difference, Item, Loader, Report, Set, Source, diff};
use hostler_model::{Generation, Name, WorkloadSpec};
use serde_json::json;

use super::super::{Cx, DONE, Link, NONE, PAGE};
use super::settle::{self, Aim};
use crate::args::WorkloadApplyArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::ui::Ui;

pub fn validate(cx: &Cx, files: &[PathBuf]) -> Outcome {
    let set = match load(&cx.ui, files, &Loader::new().open())? {
        Ok(set) => set,
        Err(report) => {
            if let Some(format) = cx.ui.format() {
                output::document(&cx.ui, format, &report)?;
                return Ok(exit::Code::Usage.number());
            }
            return Err(wrong(&report, "correct them"));
        }
    };
    match cx.ui.format() {
        Some(format) => {
            let names: Vec<&Name> = set.workloads.keys().collect();
            output::document(&cx.ui, format, &json!({ "mistakes": [], "workloads": names }))?;
        }
        None => cx.ui.say(&format!("{}, no mistakes", output::counted(set.len(), "workload"))),
    }
    Ok(DONE)
}

pub async fn apply(cx: &Cx, args: WorkloadApplyArgs) -> Outcome {
    let link = cx.link()?;
    let path = ProjectPath { project: link.project.clone() };
    let query = WorkloadListQuery { limit: PAGE, ..WorkloadListQuery::default() };
    let known: Vec<WorkloadView> =
        link.client.pages::<WorkloadList, _>(&path, &query, None)?.try_collect().await?;
    let known: BTreeMap<Name, WorkloadView> =
        known.into_iter().map(|view| (view.name.clone(), view)).collect();
    let loader = Loader::new().known(known.keys().cloned());
    let set = load(&cx.ui, &args.files, &loader)?
        .map_err(|report| wrong(&report, "correct them; nothing was applied"))?;
    if set.is_empty() {
        return Err(Failure::usage(
            "there is no workload in these files",
            "is it the right folder?",
        ));
    }
    let difference = diff(&present(&known, &set), &set);
    if args.dry_run {
        return dry_run(cx, &difference);
    }
    if !difference.is_empty() {
        cx.ui.say(&difference.to_string());
    }
    let outcome = each(cx, &link, &set, &known, &difference).await?;
    if args.wait.wait && outcome.exit == DONE {
        return settle::all(cx, &link, outcome.applied, Aim::Up, args.wait.timeout).await;
    }
    if cx.ui.format().is_some() || cx.ui.is_quiet() {
        output::list(&cx.ui, cx.now(), &outcome.applied)?;
    }
    Ok(outcome.exit)
}

/// Reads all files as one set. The outer error is about the command, the inner one about the files.
fn load(ui: &Ui, files: &[PathBuf], loader: &Loader) -> Result<Result<Set, Report>, Failure> {
    let mut whole = Set::default();
    let mut mistakes = Vec::new();
    for path in files {
        let read = match path {
            path if path == Path::new("-") => loader.str("stdin", &ui.input_all()?),
            path if path.is_dir() => loader.dir(path),
            path => loader.file(path),
        };
        let set = match read {
            Ok(set) => set,
            Err(report) => {
                mistakes.extend(report.mistakes);
                continue;
            }
        };
        for (name, item) in set.workloads {
            let Source { file, line } = item.source.clone();
            if let Some(before) = whole.workloads.insert(name.clone(), item) {
                return Err(Failure::usage(
                    format!(
                        "workload {name} is in {file}:{line} and in {}:{}",
                        before.source.file, before.source.line
                    ),
                    "give one of them another name",
                ));
            }
        }
    }
    Ok(if mistakes.is_empty() { Ok(whole) } else { Err(Report { mistakes }) })
}

fn wrong(report: &Report, hint: &str) -> Failure {
    Failure::usage(format!("{}\n\n{}\n", report.summary(), report.with_source()), hint)
}

/// What the server has of the names in the files.
fn present(known: &BTreeMap<Name, WorkloadView>, set: &Set) -> Set {
    let source = || Source { file: "the server".to_owned(), line: 0 };
    let found = known.iter().filter(|(name, _)| set.workloads.contains_key(name));
    let items = found
        .map(|(name, view)| (name.clone(), Item { spec: view.spec.clone(), source: source() }));
    Set { workloads: items.collect() }
}

fn dry_run(cx: &Cx, difference: &Difference) -> Outcome {
    match cx.ui.format() {
        Some(format) => {
            let changed: Vec<_> = difference
                .changed
                .iter()
                .map(|(name, changes)| {
                    let fields: Vec<String> = changes.iter().map(ToString::to_string).collect();
                    json!({ "name": name, "changes": fields })
                })
                .collect();
            let document = json!({
                "added": difference.added,
                "changed": changed,
                "unchanged": difference.unchanged,
            });
            output::document(&cx.ui, format, &document)?;
        }
        None if difference.is_empty() => cx.ui.say("nothing would change"),
        None => cx.ui.line(&difference.to_string())?,
    }
    let is_same = difference.is_empty();
    Ok(if is_same { DONE } else { exit::Code::ChangesPresent.number() })
}

struct Applied {
    applied: Vec<WorkloadView>,
    exit: u8,
}

/// Applies one after the other; what the server refuses is told, and the rest goes on.
async fn each(
    cx: &Cx,
    link: &Link,
    set: &Set,
    known: &BTreeMap<Name, WorkloadView>,
    difference: &Difference,
) -> Result<Applied, Failure> {
    let mut outcome = Applied { applied: Vec::new(), exit: DONE };
    let is_talkative = cx.ui.format().is_none();
    for (name, item) in &set.workloads {
        let before = known.get(name);
        let is_same = difference.unchanged.contains(name);
        if let Some(view) = before.filter(|_| is_same) {
            if is_talkative {
                cx.ui.say(&format!("workload {name} unchanged"));
            }
            outcome.applied.push(view.clone());
            continue;
        }
        match one(link, name, &item.spec, before).await {
            Ok(view) => {
                if is_talkative {
                    let what = if before.is_some() { "changed" } else { "created" };
                    cx.ui.say(&format!("workload {name} {what}"));
                }
                outcome.applied.push(view);
            }
            Err(error) => {
                let failure = Failure::from(error);
                cx.ui.warn(&format!("workload {name} was not applied"));
                cx.ui.fail(&failure);
                outcome.exit = outcome.exit.max(failure.exit());
            }
        }
    }
    Ok(outcome)
}

async fn one(
    link: &Link,
    name: &Name,
    spec: &WorkloadSpec,
    before: Option<&WorkloadView>,
) -> Result<WorkloadView, Error> {
    let path = link.workload(name.as_str());
    match before {
        None => link.client.call::<WorkloadApply>(&path, &NONE, spec).await,
        Some(view) => {
            let generation = Generation::from_u64(view.generation);
            link.client.call_if_match::<WorkloadApply>(&path, &NONE, spec, generation).await
        }
    }
}
