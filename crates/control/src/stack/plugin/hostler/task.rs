//! `Hostler::Task`: something that is done once, on a node that has room for it.
//!
//! A task never changes: other properties are another task. Its deed is over when it has ended, and has failed when the task
//! has. Records of tasks are kept for a while only; that one ended is remembered here. Removing stops it first.

use hostler_model::{Error, Permission, TaskState, TaskStateKind, WorkloadSpec};
use hostler_template::schema::{AttributeSchema, Kind, PropertySchema, ResourceSchema};
use serde_json::{Map, Value, json};

use super::super::read::Read;
use super::super::{Ctx, Given};
use super::hand::{Hand, name_from, name_of, named};
use super::noun::{Found, Naming, Noun, Standing};
use super::{is_removing, present, since, spec};
use crate::{NewTask, TaskDetail};

const LEAVE: [&str; 1] = ["name"];
/// What workloads have and tasks do not.
const OF_WORKLOADS: [&str; 5] = ["mode", "restart", "health", "depends", "hooks"];
/// How it ended stands in what is remembered.
const ENDED: &str = "ended";

pub(super) struct Task;

fn found(detail: &TaskDetail) -> Found {
    let task = &detail.workload;
    let standing = match &task.state {
        TaskState::Completed { .. } => Standing::Ready,
        state if state.is_settled() => Standing::Broken(why(state)),
        _ => Standing::Going,
    };
    let code = match &task.state {
        TaskState::Completed { exit, .. } | TaskState::Failed { exit, .. } => exit.code,
        _ => None,
    };
    let mut data = Map::new();
    if standing == Standing::Ready {
        data.insert(ENDED.to_owned(), json!(TaskStateKind::Completed));
    }
    Found { standing, data, ..Found::new(task.id.to_string()) }
        .attribute("name", task.name.as_str())
        .attribute("state", task.state.kind().label())
        .attribute("exit_code", code.map_or(Value::Null, Value::from))
        .attribute("node", detail.node.as_ref().map_or(Value::Null, |node| json!(node)))
}

fn why(state: &TaskState) -> String {
    let told = match state {
        TaskState::Rejected { why, .. } | TaskState::Lost { why, .. } => Some(why.clone()),
        TaskState::Failed { exit, .. }
        | TaskState::KilledOom { exit, .. }
        | TaskState::Stopped { exit, .. } => match (&exit.message, exit.code) {
            (Some(message), _) => Some(message.clone()),
            (None, code) => code.map(|code| format!("it ended with {code}")),
        },
        _ => None,
    };
    let kind = state.kind();
    told.map_or_else(|| format!("the task is {kind}"), |told| format!("the task is {kind}: {told}"))
}

impl Noun for Task {
    fn schema(&self) -> ResourceSchema {
        let about = "Something that is done once, on a node that has room for it. It is there when it has ended well, and never \
                     changes: other properties are another task.";
        let base = since("Hostler::Task", about)
            .property("name", PropertySchema::string("What its name begins with."));
        let schema = spec::with_fields::<WorkloadSpec>(base, |name, it| {
            let it = PropertySchema { is_updatable: false, ..it };
            (!OF_WORKLOADS.contains(&name)).then_some(it)
        });
        schema
            .attribute("name", AttributeSchema::new("What it is called.").of(Kind::String))
            .attribute("state", AttributeSchema::new("How it stands.").of(Kind::String))
            .attribute(
                "exit_code",
                AttributeSchema::new("What its program ended with.").of(Kind::Integer),
            )
            .attribute("node", AttributeSchema::new("Where it ran.").of(Kind::String))
    }

    fn naming(&self, ctx: &Ctx<'_>) -> Naming {
        let stem = ctx.wanted.properties.text("name").filter(|name| !name.is_empty());
        let name = stem.map_or_else(|| name_of(&ctx.seen), |stem| name_from(stem, &ctx.seen));
        Naming::Own(name.to_string())
    }

    async fn find(&self, hand: &Hand<'_>, at: &str) -> Result<Option<Found>, Error> {
        hand.need(Permission::TaskRead)?;
        let task = hand.control.task_get(&hand.plain(), &hand.project, at).await;
        let ctx = hand.ctx;
        Ok(match present(task)? {
            Some(detail) => Some(found(&detail)),
            None if ctx.body.data.contains_key(ENDED) && !is_removing(ctx) => Some(Found {
                attributes: ctx.body.attributes.clone(),
                data: ctx.body.data.clone(),
                ..Found::new(at)
            }),
            None => None,
        })
    }

    async fn make(&self, hand: &Hand<'_>, name: &str) -> Result<String, Error> {
        hand.need(Permission::TaskSubmit)?;
        let spec = spec::read(&hand.ctx.wanted.properties, &LEAVE)?;
        let new = NewTask { name: Some(named(name)?), spec };
        let made = hand.control.task_submit(&hand.cx("submit"), &hand.project, vec![new]).await?;
        let made = made.first().ok_or_else(|| Error::internal("a submission without a task"))?;
        Ok(made.workload.id.to_string())
    }

    fn problems(&self, given: &Given<'_>) -> Vec<String> {
        spec::problems::<WorkloadSpec>(given.properties, &LEAVE)
    }

    async fn remove(&self, hand: &Hand<'_>, at: &str) -> Result<(), Error> {
        let plain = hand.plain();
        let task = hand.control.task_get(&plain, &hand.project, at).await?;
        if task.workload.state.is_settled() {
            hand.need(Permission::TaskRemove)?;
            return hand.control.task_remove(&plain, &hand.project, at).await;
        }
        hand.need(Permission::TaskKill)?;
        hand.control.task_kill(&plain, &hand.project, at, None).await.map(drop)
    }
}
