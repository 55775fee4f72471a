//! `Hostler::StackOutput`: what another stack of the same project gives, by the names of the stack and of the output.
//!
//! It is read when the resource is made, and again by every update of its stack. A stack that is under way is waited for; one
//! that is not there, or does not give such an output, is a mistake. Who uses whom is kept beside
//! (`service::stack_deps`), so that no circle arises and nobody takes away what others use.

use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_engine::stack::Failure;
use hostler_model::stack::{ResourceBody, StackStatus};
use hostler_model::{Error, ProjectId};
use hostler_template::schema::{AttributeSchema, PropertySchema, ResourceSchema, Support};
use serde_json::{Map, Value};

use super::super::Hidden;
use super::{Change, Ctx, Doing, Plugin, Progress, Seen};
use crate::Control;

/// What the type is called.
pub(crate) const STACK_OUTPUT: &str = "Hostler::StackOutput";

const VALUE: &str = "value";
/// What is remembered of a value that is secret where it comes from.
const SECRET: &str = "secret";
/// How long it waits before it looks again at a stack that is under way.
const AGAIN: Duration = Duration::from_secs(2);

/// What another stack gives under a name.
pub(crate) enum Given {
    /// And whether it is secret there.
    Value(Value, bool),
    /// It is under way.
    Busy,
    /// Nothing, and why.
    Nothing(String),
}

pub(super) struct StackOutput(ResourceSchema);

impl StackOutput {
    pub(super) fn new() -> StackOutput {
        let about = "An output of another stack of the same project.";
        let schema = ResourceSchema {
            support: Support::since("1"),
            ..ResourceSchema::new(STACK_OUTPUT, about)
        }
        .property(
            "stack",
            PropertySchema::string("The name of the other stack.").required().updatable(),
        )
        .property("output", PropertySchema::string("Which of its outputs.").required().updatable())
        .attribute(VALUE, AttributeSchema::new("What it gives."));
        StackOutput(schema)
    }

    async fn read(ctx: &Ctx<'_>) -> Result<(String, Given), Error> {
        let text = |name| ctx.property(name).and_then(Value::as_str).unwrap_or_default();
        let (stack, output) = (text("stack"), text("output"));
        let control = ctx.desk.control();
        let given = control.stack_gives(ctx.stack.project_id, stack, output).await?;
        Ok((format!("{stack}/{output}"), given))
    }

    async fn take(ctx: &Ctx<'_>) -> Result<Progress, Error> {
        let (name, given) = StackOutput::read(ctx).await?;
        Ok(match given {
            Given::Value(value, is_secret) => {
                let data = Map::from_iter([(SECRET.to_owned(), Value::Bool(is_secret))]);
                let change = Change {
                    metadata: Some(ctx.wanted.metadata.clone()),
                    data: Some(data),
                    ..Change::physical(name)
                };
                Progress::Done(change.attribute(VALUE, value))
            }
            Given::Busy => Progress::Wait(Change::default(), ctx.now.plus(AGAIN)),
            Given::Nothing(why) => {
                Progress::Failed(Change::default(), Failure::new("EntityNotFound", why))
            }
        })
    }
}

impl Plugin for StackOutput {
    fn schema(&self) -> &ResourceSchema {
        &self.0
    }

    fn is_local(&self) -> bool {
        false
    }

    fn is_looked_at(&self) -> bool {
        true
    }

    fn is_kept_after_failure(&self, seen: &Seen<'_>) -> bool {
        seen.row.physical.is_some()
    }

    fn create<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        StackOutput::take(ctx).boxed()
    }

    fn update<'a>(&'a self, ctx: &'a Ctx<'a>, _: &'a [String]) -> Doing<'a> {
        StackOutput::take(ctx).boxed()
    }

    fn look<'a>(&'a self, ctx: &'a Ctx<'a>) -> Doing<'a> {
        StackOutput::take(ctx).boxed()
    }

    fn is_secret_here(&self, body: &ResourceBody, attribute: &str) -> bool {
        attribute == VALUE && body.data.get(SECRET) == Some(&Value::Bool(true))
    }

    fn reference(&self, seen: &Seen<'_>) -> Value {
        let known = seen.body.attributes.get(VALUE).cloned();
        known.unwrap_or_else(|| Value::String(seen.reference_text().to_owned()))
    }

    fn live_state<'a>(
        &'a self,
        ctx: &'a Ctx<'a>,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        async move {
            match StackOutput::read(ctx).await?.1 {
                Given::Value(value, _) => Ok(Some(Map::from_iter([(VALUE.to_owned(), value)]))),
                Given::Busy => Ok(None),
                Given::Nothing(why) => {
                    Err(Error::conflict(why, "make the stack that gives it, or take another one"))
                }
            }
        }
        .boxed()
    }
}

impl Control {
    /// What a stack of a project gives.
    pub(crate) async fn stack_gives(
        &self,
        project: ProjectId,
        name: &str,
        output: &str,
    ) -> Result<Given, Error> {
        let mut read = self.store.read().await?;
        let Some(stack) = read.stack_by_name(project, name).await? else {
            return Ok(Given::Nothing(format!("The Stack ({name}) could not be found.")));
        };
        if stack.standing.status == StackStatus::InProgress {
            return Ok(Given::Busy);
        }
        let scene = self.stack_scene(&mut read, stack).await?;
        let found = scene.outputs(self).into_iter().find(|one| one.name == output);
        Ok(match found.map(|one| one.value) {
            Some(Ok(value)) => {
                let mut shown = value.clone();
                Hidden::of(scene.secrets(self)).hide(&mut shown);
                let is_secret = shown != value;
                Given::Value(value, is_secret)
            }
            Some(Err(why)) => {
                Given::Nothing(format!("The Output ({output}) of Stack {name} has no value: {why}"))
            }
            None => {
                Given::Nothing(format!("The Output ({output}) could not be found in Stack {name}."))
            }
        })
    }
}
