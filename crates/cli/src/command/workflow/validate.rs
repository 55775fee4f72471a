//! Looking at files without running them.

use std::path::Path;

use hostler_lua::{Definition, Given, Mistakes, define};
use hostler_model::workflow::Workflow;
use serde::Serialize;

use super::super::{Cx, DONE};
use super::{given, module, server};
use crate::args::{WorkflowFileArgs, WorkflowValidateArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Defines a file, with what is beside it and the modules that the server keeps.
pub async fn defined(
    cx: &Cx,
    name: &str,
    path: &Path,
    text: &str,
    given: &Given,
) -> Result<Result<Definition, Mistakes>, Failure> {
    module::with_modules(cx, path, |files| define(name, text, files, given)).await
}

/// The definition of a file, or the failure that tells its mistakes. What is only odd is said.
pub async fn definition(cx: &Cx, args: &WorkflowFileArgs) -> Result<Definition, Failure> {
    let given = given::given(cx, &args.values, &args.set, args.strict)?;
    let (name, text) = given::read(&cx.ui, &args.file)?;
    let found = defined(cx, &name, &args.file, &text, &given).await?;
    let found = found.map_err(|mistakes| given::wrong(&mistakes))?;
    for remark in &found.remarks {
        cx.ui.warn(&remark.to_string());
    }
    Ok(found)
}

/// The workflows of a definition that are asked for.
pub fn chosen<'a>(
    definition: &'a Definition,
    name: Option<&str>,
) -> Result<Vec<&'a Workflow>, Failure> {
    let Some(name) = name else { return Ok(definition.workflows.iter().collect()) };
    let found: Vec<&Workflow> =
        definition.workflows.iter().filter(|workflow| workflow.name == name).collect();
    if found.is_empty() {
        let known: Vec<&str> =
            definition.workflows.iter().map(|workflow| workflow.name.as_str()).collect();
        return Err(Failure::told(
            exit::Code::NotFound,
            format!("there is no workflow `{name}` in the file"),
            format!("there is {}", known.join(", ")),
        ));
    }
    Ok(found)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Judged {
    file: String,
    is_valid: bool,
    workflows: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

pub async fn validate(cx: &Cx, args: &WorkflowValidateArgs) -> Outcome {
    let given = given::given(cx, &args.values, &args.set, args.strict)?;
    let mut judged = Vec::new();
    for path in &args.files {
        let file = path.display().to_string();
        let result = match given::on_server(path) {
            Some(name) => server::source(cx, name).await.map(|kept| {
                let files = Box::new(kept.files);
                define(&kept.name, &kept.text, files, &given)
            }),
            None => match given::read(&cx.ui, path) {
                Ok((name, text)) => defined(cx, &name, path, &text, &given).await,
                Err(failure) => Err(failure),
            },
        };
        judged.push(match result {
            Err(failure) => Judged {
                file,
                is_valid: false,
                workflows: Vec::new(),
                mistakes: vec![
                    failure.render(false).trim().trim_start_matches("error: ").to_owned(),
                ],
                remarks: Vec::new(),
            },
            Ok(Err(mistakes)) => Judged {
                file,
                is_valid: false,
                workflows: Vec::new(),
                mistakes: mistakes.0.iter().map(ToString::to_string).collect(),
                remarks: mistakes.1.iter().map(ToString::to_string).collect(),
            },
            Ok(Ok(found)) => Judged {
                file,
                is_valid: true,
                workflows: found.workflows.iter().map(|workflow| workflow.name.clone()).collect(),
                mistakes: Vec::new(),
                remarks: found.remarks.iter().map(ToString::to_string).collect(),
            },
        });
    }
    let wrong = judged.iter().filter(|file| !file.is_valid).count();
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        output::document(&cx.ui, format, &judged)?;
    } else {
        for file in &judged {
            for mistake in &file.mistakes {
                cx.ui.line(&format!("error: {mistake}"))?;
            }
            for remark in &file.remarks {
                cx.ui.line(&format!("warning: {remark}"))?;
            }
            if file.is_valid {
                cx.ui.say(&format!("{}: valid ({})", file.file, file.workflows.join(", ")));
            }
        }
    }
    Ok(if wrong > 0 { exit::Code::Usage.number() } else { DONE })
}

pub async fn show(cx: &Cx, args: &WorkflowFileArgs) -> Outcome {
    let definition = definition(cx, args).await?;
    let chosen = chosen(&definition, args.workflow.as_deref())?;
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &chosen)?,
        None => {
            for workflow in chosen {
                cx.ui.line(&super::graph::plan(workflow))?;
            }
        }
    }
    Ok(DONE)
}
