//! What is wrong with templates, and with stacks.

use std::path::Path;

use hostler_api::stack_check::{
    StackChecklist, StackChecklistAll, StackChecklistView, StackTemplateCheck,
    StackTemplateCheckBody, StackTemplateView,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::{Cx, DONE, Link, NONE};
use super::form::Form;
use super::{path, project};
use crate::args::{StackGivenArgs, StackValidateArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, StackCheckRow};

/// Every stack of the project.
const ALL: &str = "all";
const ENDINGS: [&str; 5] = [".yaml", ".yml", ".json", ".template", ".hot"];

/// A template that was looked at.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Judged {
    file: String,
    is_valid: bool,
    resources: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Value::is_null")]
    summary: Value,
}

fn is_file(what: &str) -> bool {
    let has_ending = ENDINGS.iter().any(|ending| what.ends_with(ending));
    what == "-" || what.contains('/') || has_ending || Path::new(what).is_file()
}

pub async fn validate(cx: &Cx, args: StackValidateArgs) -> Outcome {
    let link = cx.link()?;
    let (files, stacks): (Vec<&String>, Vec<&String>) =
        args.what.iter().partition(|what| is_file(what));
    let mut code = DONE;
    if !files.is_empty() {
        let mut judged = Vec::new();
        for file in &files {
            judged.push(template(cx, &link, file, &args.given).await?);
        }
        told(cx, &judged)?;
        if judged.iter().any(|one| !one.is_valid) {
            code = exit::Code::Usage.number();
        }
    }
    if stacks.is_empty() && !files.is_empty() {
        return Ok(code);
    }
    let lists = lists(&link, &stacks).await?;
    let rows: Vec<StackCheckRow> = lists.iter().flat_map(StackCheckRow::all_of).collect();
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &json!({ "items": lists }))?,
        None => output::list(&cx.ui, cx.now(), &rows)?,
    }
    if lists.iter().any(|list| !list.is_passed) {
        code = code.max(exit::Code::Unhealthy.number());
    }
    Ok(code)
}

/// What is wrong with a template, or what it says. Only what is no answer is a failure.
async fn template(
    cx: &Cx,
    link: &Link,
    file: &str,
    given: &StackGivenArgs,
) -> Result<Judged, Failure> {
    let file = file.to_owned();
    let wrong = |file, mistakes| Judged { file, mistakes, ..Judged::default() };
    let mut form = match Form::read(cx, Path::new(&file), given) {
        Ok(form) => form,
        Err(Failure::Told { exit: exit::Code::Usage, detail, .. }) => {
            return Ok(wrong(file, vec![detail]));
        }
        Err(failure) => return Err(failure),
    };
    // Who gives values means all of them.
    let needs_values = !given.environment.is_empty() || !form.body.parameters.is_empty();
    let body =
        StackTemplateCheckBody { form: std::mem::take(&mut form.body), needs_values, nested: true };
    match link.client.call::<StackTemplateCheck>(&project(link), &NONE, &body).await {
        Ok(StackTemplateView { resources, summary, warnings }) => {
            let warnings = warnings.iter().map(|warning| form.named(warning)).collect();
            let mistakes = Vec::new();
            Ok(Judged { file, is_valid: true, resources, mistakes, warnings, summary })
        }
        Err(error) if !error.diagnostics().is_empty() => {
            let found = error.diagnostics().iter().map(|one| form.named(&one.detail));
            Ok(wrong(file, found.collect()))
        }
        Err(error) => Err(error.into()),
    }
}

fn told(cx: &Cx, judged: &[Judged]) -> Result<(), Failure> {
    if let Some(format) = cx.ui.format().filter(|_| !cx.is_for_people()) {
        return output::document(&cx.ui, format, &json!({ "items": judged }));
    }
    for Judged { file, is_valid, resources, mistakes, warnings, .. } in judged {
        if !mistakes.is_empty() {
            let text = output::lines(&mistakes.join("\n\n"));
            cx.ui.line(&text)?;
        }
        for warning in warnings {
            cx.ui.warn(warning);
        }
        match is_valid {
            true => cx
                .ui
                .say(&format!("{file}: {}, no mistakes", output::counted(*resources, "resource"))),
            false => cx.ui.say(&format!("{file}: mistakes")),
        }
    }
    Ok(())
}

async fn lists(link: &Link, stacks: &[&String]) -> Result<Vec<StackChecklistView>, Failure> {
    if stacks.is_empty() || stacks.iter().any(|name| *name == ALL) {
        let found = link.client.call::<StackChecklistAll>(&project(link), &NONE, &NONE).await?;
        return Ok(found.items);
    }
    let mut lists = Vec::new();
    for name in stacks {
        lists.push(link.client.call::<StackChecklist>(&path(link, name), &NONE, &NONE).await?);
    }
    Ok(lists)
}
