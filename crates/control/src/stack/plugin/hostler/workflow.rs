//! `Hostler::Workflow`, a file of workflows that the project keeps, and `Hostler::Execution`, one of them carried out.

use std::collections::BTreeMap;

use hostler_model::workflow::{ExecutionOptions, ExecutionOutcome};
use hostler_model::{Diagnostic, Error, ExecutionId, Limit, Permission};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::Ctx;
use super::super::read::Read;
use super::hand::Hand;
use super::noun::{Found, Naming, Noun, Standing};
use super::{is_removing, present, since};
use crate::{Bundle, ExecutionDetail, NewExecution, NewWorkflow, WorkflowDetail};

/// A file, kept under the name of one workflow that it defines. A change is another version of it.
pub(super) struct Workflow;

/// What a workflow of a file is called in messages about it.
const FILE: &str = "main.sloth";

fn bundle(properties: &Map<String, Value>) -> Bundle {
    let files = properties.map("files").into_iter().flatten();
    let text = |(name, text): (&String, &Value)| Some((name.clone(), text.as_str()?.to_owned()));
    Bundle {
        name: properties.text("file").filter(|name| !name.is_empty()).unwrap_or(FILE).to_owned(),
        text: properties.text("source").unwrap_or_default().to_owned(),
        files: files.filter_map(text).collect::<BTreeMap<_, _>>(),
    }
}

impl Workflow {
    /// Keeps the file, and refuses one that does not define what it is called after.
    async fn push(hand: &Hand<'_>) -> Result<(), Error> {
        hand.need(Permission::WorkflowPush)?;
        let properties = &hand.ctx.wanted.properties;
        let name = properties.text("name").unwrap_or_default();
        let new = NewWorkflow {
            bundle: bundle(properties),
            values: properties.get("values").cloned().unwrap_or_default(),
            is_strict: false,
        };
        let pushed = hand.control.workflow_push(&hand.cx("push"), &hand.project, new).await?;
        let names: Vec<&str> =
            pushed.workflows.iter().map(|one| one.version.name.as_str()).collect();
        if names == [name] {
            return Ok(());
        }
        let is_fresh = |one: &&WorkflowDetail| one.version.time_created >= hand.ctx.now;
        for one in pushed.workflows.iter().filter(is_fresh) {
            let (name, project) = (&one.version.name, &hand.project);
            let all = hand.control.workflow_versions(project, name, None, Limit::LARGEST).await?;
            if all.items.len() == 1 {
                hand.control.workflow_remove(&hand.plain(), project, name).await?;
            }
        }
        let text = format!("the file defines {}, and not `{name}` alone", names.join(", "));
        Err(Error::invalid(vec![Diagnostic::new("/source", text)]))
    }
}

impl Noun for Workflow {
    fn schema(&self) -> ResourceSchema {
        let about = "A workflow that the project keeps: the text of a file that defines it. A change is another version.";
        since("Hostler::Workflow", about)
            .property(
                "name",
                PropertySchema::string("The workflow that the file defines.").required(),
            )
            .property(
                "source",
                PropertySchema::string("The text; `get_file` brings it from a file.")
                    .required()
                    .updatable(),
            )
            .property(
                "file",
                PropertySchema::string("What the file is called in its mistakes.").updatable(),
            )
            .property(
                "files",
                PropertySchema::map("What it imports: texts, by their names relative to it.")
                    .updatable(),
            )
            .property(
                "values",
                PropertySchema::map("Values that it is looked at with.").updatable(),
            )
            .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
            .attribute("version", AttributeSchema::new("The newest version.").of(Kind::Integer))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        Naming::Given(ctx.wanted.properties.text("name").unwrap_or_default().to_owned())
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::WorkflowRead)?;
        let found = present(hand.control.workflow_get(&hand.project, at, None).await)?;
        let Some(detail) = found else { return Ok(None) };
        let source = hand.control.workflow_source(&hand.project, at, None).await?;
        Ok(Some(
            Found::new(detail.version.name.clone())
                .live("source", source.text)
                .attribute("name", detail.version.name)
                .attribute("version", detail.version.version),
        ))
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        Workflow::push(hand).await?;
        Ok(name.to_owned())
    }

    async fn change(&self, hand: &Hand<'_>, _: &str, _: &[String]) -> Result<(), Error> {
        Workflow::push(hand).await
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::WorkflowRemove)?;
        hand.control.workflow_remove(&hand.plain(), &hand.project, at).await
    }
}

/// A workflow, carried out once.
pub(super) struct Execution;

/// How it ended stands in what is remembered.
const ENDED: &str = "ended";

fn execution_found(detail: &ExecutionDetail) -> Found {
    let execution = &detail.execution;
    let outcome = execution.state.outcome().filter(|_| execution.state.is_over());
    let standing = match outcome {
        None => Standing::Going,
        Some(ExecutionOutcome::Succeeded) => Standing::Ready,
        Some(outcome) => {
            let steps = detail.steps.iter().filter(|step| !step.message.is_empty());
            let said = steps.map(|step| format!("{}: {}", step.name, step.message)).next();
            let said = said.map(|said| format!(" ({said})")).unwrap_or_default();
            Standing::Broken(format!("the execution ended as {}{said}", outcome.label()))
        }
    };
    let mut data = Map::new();
    if let Some(outcome) = outcome {
        data.insert(ENDED.to_owned(), json!(outcome.label()));
    }
    Found { standing, data, ..Found::new(execution.id.to_string()) }
        .attribute("version", execution.version)
        .attribute("outputs", detail.outputs())
}

impl Noun for Execution {
    fn schema(&self) -> ResourceSchema {
        let about = "A workflow, carried out once. It is there when all its steps have ended well, and never changes: other \
                     properties are another execution. Removing one that is under way cancels it.";
        since("Hostler::Execution", about)
            .property(
                "workflow",
                PropertySchema::string("The workflow, which the project keeps.").required(),
            )
            .property(
                "version",
                PropertySchema::any("Which version; the newest when nothing is said."),
            )
            .property("values", PropertySchema::map("Values for it."))
            .property(
                "only",
                PropertySchema::list("Only these steps, and what they depend on.")
                    .default(json!([])),
            )
            .property(
                "delegate_to",
                PropertySchema::list("Nodes for steps that do not say it themselves.")
                    .default(json!([])),
            )
            .property(
                "triggers",
                PropertySchema::any(
                    "Whatever it is: when it changes, the workflow is carried out again.",
                ),
            )
            .attribute(
                "version",
                AttributeSchema::new("The version that was carried out.").of(Kind::Integer),
            )
            .attribute(
                "outputs",
                AttributeSchema::new("What its steps gave out, by name.").of(Kind::Map),
            )
    }

    fn naming(&self, _: &Ctx<'_>) -> Naming {
        Naming::Keyed
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::WorkflowRead)?;
        let Ok(id) = at.parse::<ExecutionId>() else { return Ok(None) };
        let ctx = hand.ctx;
        let found = present(hand.control.execution_get(&hand.project, id).await)?;
        Ok(match found {
            Some(detail) if is_removing(ctx) && detail.execution.state.is_over() => None,
            Some(detail) => Some(execution_found(&detail)),
            None if ctx.body.data.contains_key(ENDED) && !is_removing(ctx) => Some(Found {
                attributes: ctx.body.attributes.clone(),
                data: ctx.body.data.clone(),
                ..Found::new(at)
            }),
            None => None,
        })
    }

    async fn make(&self, hand: &Hand<'_>, _: &str) -> Result<String, Error> {
        hand.need(Permission::WorkflowRun)?;
        hand.need(Permission::WorkflowRead)?;
        let properties = &hand.ctx.wanted.properties;
        let texts = |name: &str| properties.texts(name).into_iter().map(str::to_owned).collect();
        let new = NewExecution {
            version: version(properties)?,
            values: properties.get("values").cloned().unwrap_or_default(),
            options: ExecutionOptions {
                only: texts("only"),
                delegate_to: texts("delegate_to"),
                ..ExecutionOptions::default()
            },
        };
        let name = properties.text("workflow").unwrap_or_default();
        let cx = hand.cx("run");
        let begun = Box::pin(hand.control.workflow_run(&cx, &hand.project, name, new)).await?;
        Ok(begun.execution.id.to_string())
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        hand.need(Permission::WorkflowCancel)?;
        let Ok(id) = at.parse::<ExecutionId>() else { return Ok(()) };
        hand.control.execution_cancel(&hand.plain(), &hand.project, id).await.map(drop)
    }
}

/// A version as a number or as a text with one; an empty text is none.
fn version(properties: &Map<String, Value>) -> Result<Option<u32>, Error> {
    let wrong = || Error::invalid(vec![Diagnostic::new("/version", "a version is a number")]);
    match properties.get("version") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) => text.parse().map(Some).map_err(|_| wrong()),
        Some(other) => {
            let number = other.as_u64().and_then(|number| u32::try_from(number).ok());
            number.map(Some).ok_or_else(wrong)
        }
    }
}
