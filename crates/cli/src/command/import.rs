//! `hostler import`: reads files, shows the plan, writes what was asked for.
//!
//! The workloads are data and go to stdout, as documents that `hostler workload apply -f -` takes; the
//! remarks are talk and go to stderr, or are part of the document with `-o json`. With `--out` nothing
//! is written unless everything can be.

use std::path::Path;

use anyhow::Context;
use hostler_base::fs;
use hostler_import::{CrontabForm, Plan, Remark, RemarkKind, Source, Unreadable, Variables};
use hostler_model::{Name, WorkloadSpec};
use serde::Serialize;

use super::{Cx, DONE};
use crate::args::{ImportCommand, ImportFilesArgs};
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::{exit, ui::Ui};

pub fn perform(cx: &Cx, command: ImportCommand) -> Outcome {
    let (files, plan) = match command {
        ImportCommand::Compose(args) => {
            let mut variables = variables(&cx.ui, args.env_file.as_deref())?;
            variables.extend(std::env::vars_os().filter_map(|(key, value)| {
                Some((key.into_string().ok()?, value.into_string().ok()?))
            }));
            let texts = read_all(&cx.ui, &args.files)?;
            (args.files, hostler_import::compose(&sources(&texts), &variables))
        }
        ImportCommand::Crontab(args) => {
            let form = if args.system { CrontabForm::System } else { CrontabForm::Guess };
            let texts = read_all(&cx.ui, &args.files)?;
            (args.files, hostler_import::crontab(&sources(&texts), form))
        }
        ImportCommand::Systemd(files) => {
            let texts = read_all(&cx.ui, &files)?;
            (files, hostler_import::systemd(&sources(&texts)))
        }
        ImportCommand::Procfile(args) => {
            let variables = variables(&cx.ui, args.env_file.as_deref())?;
            let texts = read_all(&cx.ui, &args.files)?;
            (args.files, hostler_import::procfile(&sources(&texts), &variables))
        }
        ImportCommand::Supervisord(files) => {
            let texts = read_all(&cx.ui, &files)?;
            (files, hostler_import::supervisord(&sources(&texts)))
        }
    };
    let plan = plan.map_err(unreadable)?;
    if let Some(folder) = &files.out {
        write(&cx.ui, &plan, folder, files.force)?;
    }
    show(&cx.ui, &plan, files.out.is_none())
}

fn unreadable(error: Unreadable) -> Failure {
    Failure::usage(error.to_string(), error.hint)
}

/// A file's name and text.
type Text = (String, String);

fn sources(texts: &[Text]) -> Vec<Source<'_>> {
    texts.iter().map(|(file, text)| Source { file, text }).collect()
}

fn read_all(ui: &Ui, args: &ImportFilesArgs) -> Result<Vec<Text>, Failure> {
    args.files.iter().map(|path| read(ui, path)).collect()
}

fn read(ui: &Ui, path: &Path) -> Result<Text, Failure> {
    if path == Path::new("-") {
        return Ok(("stdin".to_owned(), ui.input_all()?));
    }
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::usage(format!("{file}: {error}"), "give a file that can be read")
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        Failure::usage(format!("{file}:{line}:{column}: this is not text"), "give a UTF-8 file")
    })?;
    Ok((file, text))
}

fn variables(ui: &Ui, file: Option<&Path>) -> Result<Variables, Failure> {
    let Some(path) = file else {
        return Ok(Variables::new());
    };
    let (file, text) = read(ui, path)?;
    hostler_import::variables(Source { file: &file, text: &text }).map_err(unreadable)
}

fn write(ui: &Ui, plan: &Plan, folder: &Path, may_replace: bool) -> Result<(), Failure> {
    let path = |name: &Name| folder.join(format!("{name}.yaml"));
    let taken: Vec<String> = plan
        .workloads
        .iter()
        .map(|(name, _)| path(name))
        .filter(|path| !may_replace && path.exists())
        .map(|path| path.display().to_string())
        .collect();
    if !taken.is_empty() {
        return Err(Failure::told(
            exit::Code::Conflict,
            format!("there already: {}", taken.join(", ")),
            "nothing was written; choose another folder, or say --force",
        ));
    }
    std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    for (name, spec) in &plan.workloads {
        fs::write_atomic(&path(name), yaml(name, spec).as_bytes(), 0o644)?;
        ui.say(&format!("wrote {}", path(name).display()));
    }
    Ok(())
}

fn yaml(name: &Name, spec: &WorkloadSpec) -> String {
    hostler_manifest::to_yaml(name, spec)
}

#[derive(Serialize)]
struct Document<'a> {
    workloads: Vec<Entry<'a>>,
    remarks: &'a [Remark],
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a Name,
    spec: &'a WorkloadSpec,
}

fn show(ui: &Ui, plan: &Plan, has_workloads: bool) -> Outcome {
    if let Some(format) = ui.format() {
        let workloads = plan.workloads.iter().map(|(name, spec)| Entry { name, spec }).collect();
        output::document(ui, format, &Document { workloads, remarks: &plan.remarks })?;
        return Ok(DONE);
    }
    if ui.is_quiet() {
        plan.workloads.iter().try_for_each(|(name, _)| ui.line(name.as_str()))?;
        return Ok(DONE);
    }
    if has_workloads {
        let documents: Vec<String> =
            plan.workloads.iter().map(|(name, spec)| yaml(name, spec)).collect();
        ui.data(documents.join("---\n").as_bytes())?;
    }
    for remark in &plan.remarks {
        let Remark { file, line, subject, kind, detail } = remark;
        ui.say(&format!("{file}:{line}: {kind}: {subject}: {detail}"));
    }
    ui.say(&summary(plan));
    Ok(DONE)
}

fn summary(plan: &Plan) -> String {
    let count = |kind| plan.remarks.iter().filter(|remark| remark.kind == kind).count();
    let workloads = match plan.workloads.len() {
        1 => "1 workload".to_owned(),
        many => format!("{many} workloads"),
    };
    let (lost, changed) = (count(RemarkKind::Lost), count(RemarkKind::Changed));
    format!("{workloads}; {lost} lost, {changed} changed, {} notes", count(RemarkKind::Note))
}
