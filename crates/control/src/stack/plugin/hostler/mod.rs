//! Our own types, `Hostler::*`: one for every noun that templates can make.
//!
//! Most of them are objects of the services and have the same life ([`noun`]); what is so on machines is declared to agents
//! ([`host`]). All of them act in the name of whoever asked for the stack, and may do no more ([`hand`]).

mod alarm;
mod hand;
mod host;
mod image;
mod noun;
mod people;
mod secret;
mod spec;
mod task;
mod watch;
mod workflow;
mod workload;

pub(crate) use alarm::{ALARM, ALARM_BEGIN, AlarmSpec, alarm_state};

use std::sync::Arc;

use hostler_model::stack::{DeedKind, StackResource};
use hostler_model::{Code, Error};
use hostler_template::schema::{ResourceSchema, Support};

use super::{Ctx, Plugin};
pub(super) use hand::Hand;
use noun::Own;
pub(super) use noun::{next_look, told};

/// The release that they came with.
const SINCE: &str = "hostler";

pub(super) fn all() -> Vec<Arc<dyn Plugin>> {
    let mut all: Vec<Arc<dyn Plugin>> = vec![
        Arc::new(alarm::Alarm::new()),
        Own::of(image::Image),
        Own::of(image::NodeBackup),
        Own::of(people::Account::service()),
        Own::of(people::Account::user()),
        Own::of(people::Group),
        Own::of(people::Project),
        Own::of(people::Role),
        Own::of(people::RoleBinding),
        Own::of(secret::Secret),
        Own::of(secret::StateEntry),
        Own::of(task::Task),
        Own::of(watch::Hook),
        Own::of(watch::Schedule),
        Own::of(watch::Watcher),
        Own::of(workflow::Execution),
        Own::of(workflow::Workflow),
        Own::of(workload::Workload::any()),
        Own::of(workload::Workload::container()),
    ];
    all.extend(host::all());
    all
}

fn since(name: &str, about: &str) -> ResourceSchema {
    ResourceSchema { support: Support::since(SINCE), ..ResourceSchema::new(name, about) }
}

/// What was asked for, or nothing where it is not there.
pub(super) fn present<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.code == Code::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether another resource is the same object, and is to stay: of this stack, or of any.
async fn is_said_by_others(ctx: &Ctx<'_>, physical: &str, anywhere: bool) -> Result<bool, Error> {
    let mut read = ctx.desk.control().store.read().await?;
    let of = (!anywhere).then_some(ctx.stack.id);
    let rows = read.stack_resources_physical(of, physical).await?;
    Ok(rows.iter().any(|row| row.id != ctx.row.id && !is_on_its_way_out(row)))
}

/// Whether another resource is the same object and is about to remove it: of this stack, or of one above or below it, or of any.
async fn is_going(ctx: &Ctx<'_>, physical: &str, anywhere: bool) -> Result<bool, Error> {
    let mut read = ctx.desk.control().store.read().await?;
    let rows = read.stack_resources_physical(None, physical).await?;
    for row in rows.iter().filter(|row| row.id != ctx.row.id && is_on_its_way_out(row)) {
        let root = read.stack_get(row.stack_id).await?.map(|stack| stack.root_id);
        if anywhere || root == Some(ctx.stack.root_id) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_on_its_way_out(row: &StackResource) -> bool {
    row.deed.as_ref().is_some_and(|deed| deed.kind == DeedKind::Delete)
}

/// Whether what is under way is the end of it.
fn is_removing(ctx: &Ctx<'_>) -> bool {
    ctx.deed_kind() == Some(DeedKind::Delete)
}
