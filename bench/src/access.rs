//! Many people at once: how long each kind of request takes when fifty principals ask for two hundred
//! things a second, and whether somebody who guesses passwords can spoil that.
//!
//! 1. Requests are sent when they are due, whether or not those before were answered, and the clock of
//!    each runs from when it was due. A server that stands still for a second shows as two hundred slow
//!    answers and not as one.
//! 2. Nothing is repeated: the clients try once, and what is not answered as it should be is an error.
//!    To be refused is right where the caller may not, and wrong everywhere else. Only who changes what
//!    somebody else has just changed reads it again, as people do; that is part of the time it took.
//! 3. Whoever guesses comes from another address each time, so that only the limit on passwords that
//!    are looked at stands between them and the processors.
//!
//! What is checked afterwards: every task that was submitted has completed, and the audit chain is
//! intact.

mod guesses;
mod people;
mod requests;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use hostler_api::record::AuditVerify;
use hostler_api::task::{TaskList, TaskListQuery, TaskView};
use hostler_api::{Nothing, ProjectPath};
use hostler_model::TaskStateKind;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::figures::{Section, mb, quantile};
use crate::proc;
use crate::rig::{Rig, until};
use guesses::{GUESSES_PER_SECOND, Guesses};
use people::{PEOPLE, TEAMS, World, team};
use requests::Kind;

const SECONDS: u64 = 60;
const PER_SECOND: u64 = 200;
/// What was sent may be this much less than what was due, for timers that fire late.
const RATE_MIN: f64 = 199.0;
/// What others may wait for while somebody guesses.
const P99_MAX: f64 = 250.0;
/// Errors that are shown in words.
const SHOWN: usize = 5;

/// Whether somebody guesses meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Weather {
    Calm,
    Guessing,
}

pub async fn measure(binary: &Path, weather: Weather) -> anyhow::Result<Section> {
    let seconds = seconds()?;
    let rig = Rig::with_agent(binary).await?;
    let world = Arc::new(World::new(&rig).await?);
    let watched = [("server", rig.server_pid()), ("agent", rig.agent_pid()?)];
    let before = watched.map(|(_, pid)| proc::cpu_seconds(pid));
    let begun = Instant::now();
    let (samples, guesses) = match weather {
        Weather::Calm => (load(&world, seconds).await?, None),
        Weather::Guessing => {
            let (samples, guesses) =
                tokio::try_join!(load(&world, seconds), Guesses::make(&rig, &world, seconds))?;
            (samples, Some(guesses))
        }
    };
    let took = begun.elapsed();
    let after = watched.map(|(_, pid)| proc::cpu_seconds(pid));
    verify(&rig, &world).await?;

    let mut section = section(weather, seconds);
    judge(&mut section, &samples, seconds, weather);
    if let Some(guesses) = guesses {
        guesses.write(&mut section);
    }
    for (index, (name, pid)) in watched.into_iter().enumerate() {
        let share = (after[index] - before[index]) / took.as_secs_f64() * 100.0;
        section.note(format!("{name}: of one core"), format!("{share:.0} %"));
        let weight = proc::memory(pid)?;
        section.note(
            format!("{name}: RSS, the most it ever was"),
            format!("{}, {}", mb(weight.rss), mb(weight.peak)),
        );
    }
    Ok(section)
}

fn seconds() -> anyhow::Result<u64> {
    match std::env::var("HOSTLER_BENCH_SECONDS") {
        Ok(text) => text.parse().with_context(|| format!("HOSTLER_BENCH_SECONDS is `{text}`")),
        Err(_) => Ok(SECONDS),
    }
}

fn section(weather: Weather, seconds: u64) -> Section {
    let how = format!(
        "A server on SQLite and one agent, each a process of its own. {PEOPLE} principals, half of them people who logged in and half service accounts, with different roles in {TEAMS} projects, each with a connection of its own, send {PER_SECOND} requests a second for {seconds} seconds, whether or not those before were answered. Times run from when a request was due. To change a workload or the labels of a node means to read it first (and again, where somebody else was faster), and counts as one. Nothing else is tried twice."
    );
    match weather {
        Weather::Calm => Section::new("Mixed requests", how),
        Weather::Guessing => Section::new(
            "Mixed requests while somebody guesses passwords",
            format!(
                "{how} Meanwhile {GUESSES_PER_SECOND} logins a second with a wrong password arrive, each from another address, and every five seconds somebody logs in with the right one."
            ),
        ),
    }
}

/// How one request went.
struct Sample {
    kind: Kind,
    /// When it was sent, and when it was answered, after it was due.
    sent: f64,
    answered: f64,
    error: Option<String>,
}

/// Sends everything when it is due.
async fn load(world: &Arc<World>, seconds: u64) -> anyhow::Result<Vec<Sample>> {
    let begun = Instant::now() + Duration::from_millis(100);
    let mut running = JoinSet::new();
    for number in 0..seconds * PER_SECOND {
        let due = begun + Duration::from_micros(number * 1_000_000 / PER_SECOND);
        tokio::time::sleep_until(due).await;
        let world = Arc::clone(world);
        running.spawn(async move {
            let kind = Kind::of(number);
            let sent = millis(due);
            let done = Box::pin(requests::perform(&world, kind, number)).await;
            let error = done.err().map(|error| format!("{}: {error:#}", kind.label()));
            Sample { kind, sent, answered: millis(due), error }
        });
    }
    let mut samples = Vec::new();
    while let Some(sample) = running.join_next().await {
        samples.push(sample?);
    }
    Ok(samples)
}

fn millis(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

fn judge(section: &mut Section, samples: &[Sample], seconds: u64, weather: Weather) {
    let late: Vec<f64> = samples.iter().map(|sample| sample.sent).collect();
    let slowest = quantile(&late, 1.0);
    let rate = samples.len() as f64 / (seconds as f64 + slowest / 1000.0);
    section.judge(
        "requests sent",
        format!("{rate:.1} /s"),
        format!("at least {RATE_MIN:.0} /s"),
        rate >= RATE_MIN,
    );
    section.note("sent after they were due, at most", format!("{slowest:.1} ms"));
    let errors: Vec<&String> = samples.iter().filter_map(|sample| sample.error.as_ref()).collect();
    section.judge("errors", errors.len().to_string(), "none", errors.is_empty());
    for error in errors.into_iter().take(SHOWN) {
        section.note("an error", error.replace('|', "/"));
    }
    let all: Vec<f64> = samples.iter().map(|sample| sample.answered).collect();
    let p99 = quantile(&all, 0.99);
    match weather {
        Weather::Calm => section.note("all: p99", format!("{p99:.1} ms")),
        Weather::Guessing => section.judge(
            "all: p99",
            format!("{p99:.1} ms"),
            format!("at most {P99_MAX:.0} ms"),
            p99 <= P99_MAX,
        ),
    }
    let mut by_kind: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
    for sample in samples {
        by_kind.entry(sample.kind).or_default().push(sample.answered);
    }
    section.note("all: how many, median, p99, longest", spread(&all));
    for (kind, times) in by_kind {
        let what = format!("{}: how many, median, p99, longest", kind.label());
        section.note(what, spread(&times));
    }
}

fn spread(times: &[f64]) -> String {
    let [median, p99, longest] = [0.5, 0.99, 1.0].map(|share| quantile(times, share));
    format!("{}, {median:.1} ms, {p99:.1} ms, {longest:.1} ms", times.len())
}

/// Everything that was submitted has completed, and the records are whole.
async fn verify(rig: &Rig, world: &World) -> anyhow::Result<()> {
    let mut completed = 0;
    for number in 0..TEAMS {
        let project = ProjectPath { project: team(number) };
        let query = TaskListQuery { limit: Some(1000), ..TaskListQuery::default() };
        let tasks = until("all tasks have ended", async || {
            let all = rig.client.list_all::<TaskList, TaskView>(&project, &query).await?.items;
            let is_done = all.iter().all(|task| task.status.time_ended.is_some());
            Ok(is_done.then_some(all))
        })
        .await?;
        for task in &tasks {
            let state = task.status.state;
            ensure!(state == TaskStateKind::Completed, "{}: {}", task.name, task.status.message);
        }
        completed += tasks.len() as u64;
    }
    let submitted = world.submitted();
    ensure!(completed >= submitted, "{completed} tasks completed of {submitted}");
    let verdict = rig.client.call::<AuditVerify>(&Nothing {}, &Nothing {}, &Nothing {}).await?;
    ensure!(verdict.is_intact, "the audit chain is broken: {:?}", verdict.problem);
    Ok(())
}
