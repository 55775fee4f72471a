//! A server with a long queue: what it weighs, how long its lists and its passes of placement take, and
//! how long what fits waits behind what does not.
//!
//! What is checked: the whole queue is there, each task once, and what fits is run although everything
//! before it waits for ever.

use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use hostler_api::project::{ProjectCreate, ProjectCreateBody};
use hostler_api::system::{ReconcilerList, ReconcilerView};
use hostler_api::task::{
    TaskBatchBody, TaskGet, TaskGetQuery, TaskList, TaskListQuery, TaskPath, TaskSubmit,
    TaskSubmitBatch, TaskSubmitBody,
};
use hostler_api::{Nothing, ProjectPath};
use hostler_client::Client;
use hostler_model::{Bytes, Cores, Span, TaskStateKind, WorkloadId};

use crate::figures::{Section, mb, quantile};
use crate::proc::memory;
use crate::rig::{Rig, until};
use crate::throughput::{body, project};

const QUEUED: usize = 100_000;
const BATCH: usize = 1000;
const PAGE: u32 = 100;
const PASSES: u64 = 10;
/// 200 MB of a million bytes each.
const RSS_MAX_KIB: u64 = 200_000_000 / 1024;

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let queued = queued()?;
    let rig = Rig::with_agent(binary).await?;
    let (client, server) = (&rig.client, rig.server_pid());
    let mut section = Section::new(
        "A long queue",
        format!(
            "A server on SQLite and one agent, each a process of its own. {queued} tasks of one project, submitted in batches of {BATCH}, ask for more cores than there are and wait. Then the whole list is read in pages of {PAGE}, {PASSES} passes of placement are timed by the server itself, and tasks `true` are submitted that do fit."
        ),
    );
    section.note("idle server: RSS", mb(memory(server)?.rss));
    let begun = Instant::now();
    for part in 0..queued / BATCH {
        submit(client, |_| None).await?;
        if (part + 1) % (queued / BATCH / 4).max(1) == 0 {
            let what = format!("with {} tasks: RSS", (part + 1) * BATCH);
            section.note(what, mb(memory(server)?.rss));
        }
    }
    let rate = queued as f64 / begun.elapsed().as_secs_f64();
    section.note("submitted", format!("{rate:.0} /s"));
    pages(client, queued, &mut section).await?;
    passes(client, "all alike", &mut section).await?;
    behind(client, &mut section).await?;
    for part in 0..queued / BATCH {
        submit(client, |n| Some((part * BATCH + n) as u64)).await?;
    }
    passes(client, "as many again, each asking for something else", &mut section).await?;
    behind(client, &mut section).await?;
    let weight = memory(server)?;
    let what = format!("with {} tasks, after all of that: RSS", queued * 2);
    section.note(what, mb(weight.rss));
    section.judge(
        "the most it ever was: RSS",
        mb(weight.peak),
        "at most 200 MB",
        weight.peak <= RSS_MAX_KIB,
    );
    Ok(section)
}

fn queued() -> anyhow::Result<usize> {
    match std::env::var("HOSTLER_BENCH_QUEUED") {
        Ok(text) => text.parse().with_context(|| format!("HOSTLER_BENCH_QUEUED is `{text}`")),
        Err(_) => Ok(QUEUED),
    }
}

/// Submits a batch that nothing can run; `memory` makes each of them another request.
async fn submit(client: &Client, memory: impl Fn(usize) -> Option<u64>) -> anyhow::Result<()> {
    let one = |n: usize| {
        let mut one = body(&["true"]);
        one.spec.resources.cores = Cores::from_millis(10_000_000);
        one.spec.resources.memory = memory(n).map_or(Bytes::ZERO, Bytes::new);
        one
    };
    let batch = TaskBatchBody { tasks: (0..BATCH).map(one).collect() };
    client.call::<TaskSubmitBatch>(&project(), &Nothing {}, &batch).await?;
    Ok(())
}

/// Reads the whole list.
async fn pages(client: &Client, queued: usize, section: &mut Section) -> anyhow::Result<()> {
    let mut millis = Vec::new();
    let mut seen: HashSet<WorkloadId> = HashSet::new();
    let mut query = TaskListQuery { limit: Some(PAGE), ..TaskListQuery::default() };
    loop {
        let begun = Instant::now();
        let page = client.call::<TaskList>(&project(), &query, &Nothing {}).await?;
        millis.push(begun.elapsed().as_secs_f64() * 1000.0);
        seen.extend(page.items.iter().map(|task| task.id));
        match page.next_cursor {
            Some(cursor) => query.cursor = Some(cursor),
            None => break,
        }
    }
    ensure!(seen.len() == queued, "{} tasks are listed, not {queued}", seen.len());
    section.note("a page of the list: median", format!("{:.1} ms", quantile(&millis, 0.5)));
    section.note("a page of the list: p99", format!("{:.1} ms", quantile(&millis, 0.99)));
    let (first, last) = (millis.first(), millis.last());
    if let Some((first, last)) = first.zip(last) {
        section.note("the first page, the last page", format!("{first:.1} ms, {last:.1} ms"));
    }
    Ok(())
}

/// How long passes of placement take over what waits.
async fn passes(client: &Client, what: &str, section: &mut Section) -> anyhow::Result<()> {
    let begun = placement(client).await?.passes;
    let mut counted = begun;
    let mut millis = Vec::new();
    while counted < begun + PASSES {
        let next = until("there was another pass", async || {
            let now = placement(client).await?;
            Ok((now.passes > counted).then_some(now))
        })
        .await?;
        counted = next.passes;
        millis.push(next.seconds_last * 1000.0);
    }
    let (median, longest) = (quantile(&millis, 0.5), quantile(&millis, 1.0));
    section.note(
        format!("a pass of placement, {what}: median, longest"),
        format!("{median:.0} ms, {longest:.0} ms"),
    );
    Ok(())
}

async fn placement(client: &Client) -> anyhow::Result<ReconcilerView> {
    let all = client.call::<ReconcilerList>(&Nothing {}, &Nothing {}, &Nothing {}).await?;
    let found = all.items.into_iter().find(|one| one.name == "placement");
    found.context("there is no reconciler `placement`")
}

/// Submits a task that fits, behind the others and in a project of its own.
async fn behind(client: &Client, section: &mut Section) -> anyhow::Result<()> {
    let create = ProjectCreateBody {
        name: "other".parse()?,
        description: String::new(),
        weight: None,
        quota: None,
    };
    let _made_before = client.call::<ProjectCreate>(&Nothing {}, &Nothing {}, &create).await;
    for (what, name) in [("of another project", "other"), ("behind all of them", "default")] {
        let path = ProjectPath { project: name.to_owned() };
        let one: TaskSubmitBody = body(&["true"]);
        let begun = Instant::now();
        let made = client.call::<TaskSubmit>(&path, &Nothing {}, &one).await?;
        let path = TaskPath { project: name.to_owned(), task: made.id.to_string() };
        let wait = TaskGetQuery { wait: Some(Span::from_secs(60)) };
        let task = client.call::<TaskGet>(&path, &wait, &Nothing {}).await?;
        let took: Duration = begun.elapsed();
        ensure!(task.status.state == TaskStateKind::Completed, "it is {}", task.status.state);
        let took = format!("{:.0} ms", took.as_secs_f64() * 1000.0);
        section.note(format!("one that fits, {what}: submitted to ended"), took);
    }
    Ok(())
}
