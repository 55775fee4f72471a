//! What an agent weighs: idle, and with many tasks that do nothing but be there.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hostler_api::Nothing;
use hostler_api::task::{TaskList, TaskListQuery, TaskView};
use hostler_model::{Cores, Resources, TaskStateKind};

use crate::figures::{Section, kb, mb};
use crate::proc::{self, memory};
use crate::rig::{Rig, until};
use crate::throughput::{body, project, submit_batches};

const SLEEPERS: usize = 200;
/// Long enough for everything that happens once after a start.
const SETTLE: Duration = Duration::from_secs(20);
/// 25 MB and 0.3 MB of a million bytes each.
const IDLE_MAX_KIB: u64 = 25_000_000 / 1024;
const SHIM_MAX_KIB: u64 = 300_000 / 1024;

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let rig = Rig::with_agent(binary).await?;
    let (agent, executor) = (rig.agent_pid()?, rig.executor_pid().await?);
    tokio::time::sleep(SETTLE).await;
    let idle = (memory(agent)?, memory(executor)?);
    let mut section = Section::new(
        "Memory of an agent",
        format!(
            "An agent {} s after its start, then with {SLEEPERS} tasks `sleep`. RSS counts shared pages in full, PSS divides them by the number of their users; the server, which runs from the same file on the same machine, is one of those, so the agent's PSS would be larger on a machine of its own.",
            SETTLE.as_secs()
        ),
    );
    let target = "at most 25 MB";
    let is_met = idle.0.rss <= IDLE_MAX_KIB;
    section.judge("idle agent: RSS", mb(idle.0.rss), target, is_met);
    section.note("idle agent: of that, backed by no file", mb(idle.0.anonymous));
    section.note("idle agent: PSS", mb(idle.0.pss));
    section.note("idle executor: RSS", mb(idle.1.rss));
    section.note("idle executor: PSS", mb(idle.1.pss));
    section.note("idle executor: of its RSS, backed by no file", mb(idle.1.anonymous));

    let shims = sleepers(&rig).await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mut weights = Vec::new();
    for shim in &shims {
        weights.push(memory(*shim)?.pss);
    }
    let mean = weights.iter().sum::<u64>() / weights.len().max(1) as u64;
    let max = weights.iter().copied().max().context("there are no shims")?;
    let target = "at most 0.3 MB";
    section.judge("shim: PSS, mean", kb(mean), target, mean <= SHIM_MAX_KIB);
    section.judge("shim: PSS, largest", kb(max), target, max <= SHIM_MAX_KIB);
    let busy = (memory(agent)?, memory(executor)?);
    section.note(format!("agent with {SLEEPERS} tasks: RSS"), mb(busy.0.rss));
    section.note(format!("executor with {SLEEPERS} tasks: PSS"), mb(busy.1.pss));
    let all = |weights: u64, (agent, executor): (proc::Memory, proc::Memory)| {
        weights + agent.pss + executor.pss
    };
    let growth = all(weights.iter().sum(), busy).saturating_sub(all(0, idle));
    let each = growth / SLEEPERS as u64;
    section.judge(
        "each further task, in agent, executor and shim together: PSS",
        kb(each),
        target,
        each <= SHIM_MAX_KIB,
    );
    Ok(section)
}

/// Starts tasks that sleep; gives the parents of their processes.
async fn sleepers(rig: &Rig) -> anyhow::Result<Vec<u32>> {
    let mut one = body(&["sleep", "600"]);
    one.spec.resources = Resources { cores: Cores::from_millis(1), ..Resources::default() };
    submit_batches(&rig.client, SLEEPERS, &one).await?;
    let query = TaskListQuery {
        state: Some(TaskStateKind::Running),
        limit: Some(1000),
        ..TaskListQuery::default()
    };
    let tasks: Vec<TaskView> = until("all tasks run", async || {
        let tasks = rig.client.call::<TaskList>(&project(), &query, &Nothing {}).await?.items;
        Ok((tasks.len() == SLEEPERS).then_some(tasks))
    })
    .await?;
    let pids = tasks.iter().filter_map(|task| task.status.pid);
    let shims: BTreeSet<u32> = pids.filter_map(proc::parent).collect();
    ensure!(shims.len() == SLEEPERS, "{} shims for {SLEEPERS} tasks", shims.len());
    Ok(shims.into_iter().collect())
}
