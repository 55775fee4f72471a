//! How many short tasks a second go through everything: API, rows, session, ledger, shim and back.
//!
//! The clock runs from the first request to the moment when the API knows of no task that has not
//! ended. Afterwards every task is looked at, its events are counted, and the audit chain is verified.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use futures::{StreamExt as _, TryStreamExt as _};
use hostler_api::record::{AuditVerify, EventList, EventListQuery, EventView};
use hostler_api::task::{
    TaskBatchBody, TaskGet, TaskGetQuery, TaskList, TaskListQuery, TaskPath, TaskSubmit,
    TaskSubmitBatch, TaskSubmitBody, TaskView,
};
use hostler_api::{Nothing, ProjectPath};
use hostler_client::Client;
use hostler_model::{EventKind, Span, TaskStateKind, WorkloadId, WorkloadSpec};

use crate::figures::{Section, quantile};
use crate::proc;
use crate::rig::{Rig, until};

pub const TASKS: usize = 2000;
const BATCH: usize = 500;
const CONCURRENT: usize = 32;
const ROUNDS: usize = 3;
/// "Several hundred tasks a second", as a number.
const TARGET: f64 = 300.0;

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let rig = Rig::with_agent(binary).await?;
    let mut section = Section::new(
        "Throughput",
        format!(
            "{TASKS} tasks `true` through the API to a server on SQLite and one agent, each a process of its own, from the first request until the last task is completed; {ROUNDS} rounds each on one installation. Afterwards every task was checked for exit code 0 and a run of its own, the events were counted and the audit chain verified.",
        ),
    );
    let watched = [
        ("server", rig.server_pid()),
        ("agent", rig.agent_pid()?),
        ("executor (without shims and tasks)", rig.executor_pid().await?),
    ];
    let before = watched.map(|(_, pid)| proc::cpu_seconds(pid));
    let batches = rounds(&rig.client, Way::Batches).await?;
    let singles = rounds(&rig.client, Way::Singles).await?;
    let after = watched.map(|(_, pid)| proc::cpu_seconds(pid));
    let count = TASKS * ROUNDS * 2;
    verify(&rig.client, count).await?;
    for (what, rates) in [
        (format!("batches of {BATCH}"), &batches),
        (format!("single requests, {CONCURRENT} at a time"), &singles),
    ] {
        let median = quantile(rates, 0.5);
        let target = format!("at least {TARGET:.0} /s");
        section.judge(
            format!("{what}: median"),
            format!("{median:.0} /s"),
            target,
            median >= TARGET,
        );
        let all: Vec<String> = rates.iter().map(|rate| format!("{rate:.0}")).collect();
        section.note(format!("{what}: each round"), all.join(", "));
    }
    for (index, (name, _)) in watched.iter().enumerate() {
        let millis = (after[index] - before[index]) * 1000.0 / count as f64;
        section.note(format!("processor time per task: {name}"), format!("{millis:.2} ms"));
    }
    section.note("tasks, runs and events checked; audit chain intact", count.to_string());
    Ok(section)
}

#[derive(Clone, Copy)]
enum Way {
    Batches,
    Singles,
}

async fn rounds(client: &Client, way: Way) -> anyhow::Result<Vec<f64>> {
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let begun = Instant::now();
        let last = match way {
            Way::Batches => submit_batches(client, TASKS, &body(&["true"])).await?,
            Way::Singles => submit_singles(client).await?,
        };
        wait_all(client, last).await?;
        rates.push(TASKS as f64 / begun.elapsed().as_secs_f64());
    }
    Ok(rates)
}

pub fn project() -> ProjectPath {
    ProjectPath { project: "default".to_owned() }
}

pub fn task(id: WorkloadId) -> TaskPath {
    TaskPath { project: "default".to_owned(), task: id.to_string() }
}

pub fn body(words: &[&str]) -> TaskSubmitBody {
    TaskSubmitBody { name: None, spec: WorkloadSpec::command(words.iter().copied()) }
}

/// Submits copies of a task; says the last one.
pub async fn submit_batches(
    client: &Client,
    count: usize,
    one: &TaskSubmitBody,
) -> anyhow::Result<WorkloadId> {
    let mut last = None;
    for _ in 0..count / BATCH.min(count) {
        let batch = TaskBatchBody { tasks: vec![one.clone(); BATCH.min(count)] };
        let made = client.call::<TaskSubmitBatch>(&project(), &Nothing {}, &batch).await?;
        last = made.tasks.last().map(|task| task.id);
    }
    last.context("nothing was submitted")
}

async fn submit_singles(client: &Client) -> anyhow::Result<WorkloadId> {
    let (project, body) = (project(), body(&["true"]));
    let (project, body) = (&project, &body);
    let requests = futures::stream::iter(0..TASKS).map(|_| async move {
        client.call::<TaskSubmit>(project, &Nothing {}, body).await.map(|task| task.id)
    });
    let made: Vec<WorkloadId> = requests.buffer_unordered(CONCURRENT).try_collect().await?;
    made.last().copied().context("nothing was submitted")
}

/// Waits for one task, then until there is none that has not ended.
pub async fn wait_all(client: &Client, last: WorkloadId) -> anyhow::Result<()> {
    let wait = TaskGetQuery { wait: Some(Span::from_secs(60)) };
    client.call::<TaskGet>(&task(last), &wait, &Nothing {}).await?;
    for state in [TaskStateKind::Pending, TaskStateKind::Assigning, TaskStateKind::Running] {
        let query = TaskListQuery { state: Some(state), limit: Some(1), ..Default::default() };
        until("all tasks have ended", async || {
            let left = client.call::<TaskList>(&project(), &query, &Nothing {}).await?;
            Ok(left.items.is_empty().then_some(()))
        })
        .await?;
    }
    Ok(())
}

/// Every task completed with exit code 0 in a run of its own, and the records say so.
pub async fn verify(client: &Client, count: usize) -> anyhow::Result<()> {
    let query = TaskListQuery { limit: Some(1000), ..Default::default() };
    let tasks = client.list_all::<TaskList, TaskView>(&project(), &query).await?.items;
    ensure!(tasks.len() == count, "{} tasks were recorded, not {count}", tasks.len());
    for task in &tasks {
        let code = task.status.exit.as_ref().and_then(|exit| exit.code);
        let is_good = task.status.state == TaskStateKind::Completed && code == Some(0);
        ensure!(is_good, "task {} is {}: {}", task.name, task.status.state, task.status.message);
    }
    let runs: HashSet<_> = tasks.iter().filter_map(|task| task.status.run).collect();
    ensure!(runs.len() == count, "{} runs for {count} tasks", runs.len());
    for kind in [EventKind::TaskCreated, EventKind::TaskAssigned, EventKind::TaskCompleted] {
        let query = EventListQuery {
            kind: Some(kind.into()),
            limit: Some(1000),
            ..EventListQuery::default()
        };
        let events = client.list_all::<EventList, EventView>(&Nothing {}, &query).await?.items;
        let about: HashSet<_> = events.iter().map(|event| &event.object.id).collect();
        let is_one_each = events.len() == count && about.len() == count;
        ensure!(is_one_each, "{} events {kind} for {count} tasks", events.len());
    }
    let verdict = client.call::<AuditVerify>(&Nothing {}, &Nothing {}, &Nothing {}).await?;
    ensure!(verdict.is_intact, "the audit chain is broken: {:?}", verdict.problem);
    ensure!(verdict.entries >= 1, "nothing was audited");
    Ok(())
}
