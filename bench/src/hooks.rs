//! 100,000 events, 50 hooks, and receivers of which some are slow, some fail and one is not there.
//!
//! Events of one's own are told as fast as the API takes them, about [`OBJECTS`] objects. Every hook looks at every
//! event and takes one of [`GROUPS`] groups, so each event becomes five deliveries: one to a receiver that
//! answers well, one to a slow one, one to a moody one, one to a receiver that refuses everything until the last event has
//! been told, and one to another that answers well; but for the last hook, whose receiver nobody listens for. What that one
//! gives up is listed when everything else has arrived, its receiver appears, and all of it is replayed.
//!
//! Nothing that waits may be held in memory. So the weight of the server is sampled from before the first event
//! until the last delivery, while deliveries wait by the hundred thousand, and has a bound ([`GROWTH_MAX_KIB`]) in which
//! the number of events does not occur.

mod receiver;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures::StreamExt;
use hostler_api::Nothing;
use hostler_api::hook::{
    DeadLetterBody, DeliveryQuery, DeliveryView, HookView, ProjectHookDeliveryList, ProjectHookGet,
    ProjectHookPath, ProjectHookReplay, ProjectHookSet,
};
use hostler_api::record::{EventEmit, EventEmitBody};
use hostler_client::Client;
use hostler_model::{DeliveryState, EventHookSpec};
use serde_json::json;
use tokio::task::JoinSet;

use crate::figures::{Section, mb};
use crate::proc;
use crate::rig::Rig;
use crate::say;
use crate::throughput::project;
use receiver::{Book, Manner, Receiver, SLOW};

const EVENTS: u64 = 100_000;
const HOOKS: u64 = 50;
const GROUPS: u64 = 10;
const OBJECTS: u64 = 400;
const TOLD_AT_ONCE: usize = 64;
/// Tries of the hook whose receiver is not there.
const TRIES_IN_VAIN: u32 = 2;
/// What the server may weigh beyond what it weighs at rest. It holds 500 tries at a time, each with an event of up to 16
/// KiB, the call that is made of it and a connection (32 MB in all), one batch of 500 events with their deliveries, and the
/// caches of nine connections to its database (24 MB); as much again is left to the allocator.
const GROWTH_MAX_KIB: u64 = 128_000_000 / 1024;
/// How much more it may weigh in the second half of the time than it ever did in the first.
const HALVES_MAX: f64 = 1.25;
/// Long enough for everything that happens once after a start.
const SETTLE: Duration = Duration::from_secs(10);
const SAMPLED_EVERY: Duration = Duration::from_millis(500);
/// Rows that are written down of all the samples.
const SHOWN: usize = 10;
/// What does not move for so long does not move any more.
const PATIENCE: Duration = Duration::from_secs(120);
const PACE: Duration = Duration::from_millis(100);
const SETTINGS: &str = "[egress]
allow = ['127.0.0.1']
[limits]
requests_per_second = 1000000
requests_burst = 1000000
source_requests_per_second = 1000000
source_requests_burst = 1000000
";

/// What the server weighed at one moment, in KiB, and how far everything was.
#[derive(Clone, Copy, Debug)]
struct Sample {
    after: Duration,
    told: u64,
    accepted: u64,
    rss: u64,
}

/// What was found out.
struct Found {
    events: u64,
    told_in: Duration,
    arrived_in: Duration,
    replayed_in: Duration,
    /// What waited when the last event had been told.
    backlog: u64,
    rest: u64,
    samples: Vec<Sample>,
    /// Numbers of different events among the dead letters.
    dead: BTreeSet<u64>,
    replayed: u64,
    /// Everything that is still open or given up at the end.
    left: u64,
    books: Vec<Book>,
}

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let events = match std::env::var("HOSTLER_BENCH_EVENTS") {
        Ok(words) => words.parse().context("HOSTLER_BENCH_EVENTS is a number")?,
        Err(_) => EVENTS,
    };
    let room = usize::try_from(events).context("so many events fit")?;
    let receivers: anyhow::Result<Vec<Receiver>> =
        (0..HOOKS).map(|n| Receiver::start(manner(n), room)).collect();
    let mut receivers = receivers?;
    let rig = Rig::configured(binary, None, SETTINGS).await?;
    for (n, receiver) in (0..HOOKS).zip(&receivers) {
        let spec = spec(n, receiver)?;
        rig.client.call::<ProjectHookSet>(&place(n), &Nothing {}, &spec).await?;
    }
    tokio::time::sleep(SETTLE).await;
    let found = carry_out(&rig, &mut receivers, events).await?;
    Ok(judge(&found))
}

async fn carry_out(rig: &Rig, receivers: &mut [Receiver], events: u64) -> anyhow::Result<Found> {
    let (pid, absent) = (rig.server_pid(), HOOKS - 1);
    let rest = proc::memory(pid)?.rss;
    let in_vain = (0..events).filter(|number| is_for(absent, *number)).count() as u64;
    let expected: u64 =
        (0..HOOKS).map(|n| (0..events).filter(|number| is_for(n, *number)).count() as u64).sum();
    let (told, accepted) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
    let samples = Arc::<Mutex<Vec<Sample>>>::default();
    let mut sampler = JoinSet::new();
    let begun = Instant::now();
    sampler.spawn(sample(
        pid,
        begun,
        Arc::clone(&told),
        Arc::clone(&accepted),
        Arc::clone(&samples),
    ));

    {
        let telling = tell_all(rig, events, &told);
        let counting = count(receivers, &accepted);
        tokio::select! {
            done = telling => done?,
            never = counting => match never {},
        }
    }
    let told_in = begun.elapsed();
    let arrived = total(receivers);
    say(&format!("    {events} events told in {:.0} s, {arrived} arrived", told_in.as_secs_f64()));
    for receiver in receivers.iter_mut().filter(|one| one.manner == Manner::Late) {
        receiver.recover()?;
    }
    settle(&accepted, receivers, expected - in_vain).await;
    let arrived_in = begun.elapsed();
    say(&format!("    {} arrived in {:.0} s", total(receivers), arrived_in.as_secs_f64()));

    wait_dead(&rig.client, absent, in_vain).await?;
    let dead = dead_letters(&rig.client, absent).await?;
    say(&format!("    {} dead letters are replayed", dead.len()));
    if let Some(receiver) = receivers.last_mut() {
        receiver.recover()?;
    }
    let began = Instant::now();
    let mut replayed = 0;
    loop {
        let all = DeadLetterBody::default();
        let some = rig.client.call::<ProjectHookReplay>(&place(absent), &Nothing {}, &all).await?;
        replayed += some.count;
        if some.count == 0 {
            break;
        }
    }
    settle(&accepted, receivers, expected).await;
    let replayed_in = began.elapsed();
    let left = left_over(&rig.client).await?;
    sampler.abort_all();
    let samples = samples.lock().unwrap_or_else(PoisonError::into_inner).clone();
    ensure!(!samples.is_empty(), "the server was never weighed");
    Ok(Found {
        events,
        told_in,
        arrived_in,
        replayed_in,
        backlog: expected - arrived,
        rest,
        samples,
        dead,
        replayed,
        left,
        books: receivers.iter().map(Receiver::book).collect(),
    })
}

/// Which receiver a hook has; the five that take the same events have all manners.
const fn manner(hook: u64) -> Manner {
    match hook / GROUPS {
        _ if hook == HOOKS - 1 => Manner::Absent,
        1 => Manner::Slow,
        2 => Manner::Moody,
        3 => Manner::Late,
        _ => Manner::Well,
    }
}

const fn is_for(hook: u64, number: u64) -> bool {
    number % GROUPS == hook % GROUPS
}

fn spec(hook: u64, receiver: &Receiver) -> anyhow::Result<EventHookSpec> {
    let attempts = if receiver.manner == Manner::Absent { TRIES_IN_VAIN } else { 100 };
    let most = if receiver.manner == Manner::Absent { "50ms" } else { "5s" };
    Ok(serde_json::from_value(json!({
        "on": ["custom.*"],
        "filter": format!("payload.group == {}", hook % GROUPS),
        "retry": { "attempts": attempts, "min": "50ms", "max": most, "giveUpAfter": "7d" },
        "action": { "webhook": { "url": receiver.url } },
    }))?)
}

fn place(hook: u64) -> ProjectHookPath {
    ProjectHookPath { project: project().project, hook: format!("h{hook}") }
}

/// Tells of every event; the API answers when it is durable.
async fn tell_all(rig: &Rig, events: u64, told: &AtomicU64) -> anyhow::Result<()> {
    let telling = futures::stream::iter(0..events)
        .map(|number| async move {
            let body = EventEmitBody {
                kind: format!("custom.bench.o{}", number % OBJECTS).parse()?,
                message: "told by the bench".to_owned(),
                payload: Some(json!({ "number": number, "group": number % GROUPS })),
            };
            rig.client.call::<EventEmit>(&project(), &Nothing {}, &body).await?;
            told.fetch_add(1, Ordering::Relaxed);
            anyhow::Ok(())
        })
        .buffer_unordered(TOLD_AT_ONCE);
    let mut telling = std::pin::pin!(telling);
    while let Some(told) = telling.next().await {
        told?;
    }
    Ok(())
}

fn total(receivers: &[Receiver]) -> u64 {
    receivers.iter().map(Receiver::accepted).sum()
}

/// Keeps the number for the samples true, for as long as it is asked.
async fn count(receivers: &[Receiver], accepted: &AtomicU64) -> std::convert::Infallible {
    loop {
        accepted.store(total(receivers), Ordering::Relaxed);
        tokio::time::sleep(PACE).await;
    }
}

/// Waits until so many have arrived, or nothing arrives any more.
async fn settle(accepted: &AtomicU64, receivers: &[Receiver], expected: u64) {
    let (mut before, mut moved) = (0, Instant::now());
    loop {
        let now = total(receivers);
        accepted.store(now, Ordering::Relaxed);
        if now != before {
            (before, moved) = (now, Instant::now());
        }
        if now >= expected || moved.elapsed() > PATIENCE {
            return;
        }
        tokio::time::sleep(PACE).await;
    }
}

async fn look(client: &Client, hook: u64) -> anyhow::Result<HookView> {
    Ok(client.call::<ProjectHookGet>(&place(hook), &Nothing {}, &Nothing {}).await?)
}

/// Waits until a hook gave up so many, or gives up no more.
async fn wait_dead(client: &Client, hook: u64, expected: u64) -> anyhow::Result<()> {
    let (mut before, mut moved) = (0, Instant::now());
    loop {
        let view = look(client, hook).await?;
        let dead = view.deliveries.get(&DeliveryState::Dead).copied().unwrap_or_default();
        if dead != before {
            (before, moved) = (dead, Instant::now());
        }
        if dead >= expected || moved.elapsed() > PATIENCE {
            return Ok(());
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Lists what a hook gave up; gives the numbers of the events.
async fn dead_letters(client: &Client, hook: u64) -> anyhow::Result<BTreeSet<u64>> {
    let query = DeliveryQuery {
        state: Some(DeliveryState::Dead),
        limit: Some(1000),
        ..DeliveryQuery::default()
    };
    let listed =
        client.list_all::<ProjectHookDeliveryList, DeliveryView>(&place(hook), &query).await?.items;
    let mut numbers = BTreeSet::new();
    for letter in &listed {
        ensure!(letter.attempts == TRIES_IN_VAIN, "tried {} times: {}", letter.attempts, letter.id);
        ensure!(!letter.note.is_empty(), "a dead letter says why: {}", letter.id);
        let number = letter.event["payload"]["number"].as_u64();
        let number = number.context("a dead letter has its event")?;
        ensure!(is_for(hook, number), "{number} is not for this hook");
        ensure!(numbers.insert(number), "{number} is listed twice");
    }
    Ok(numbers)
}

/// Deliveries of all hooks that are neither done nor forgotten, when those that just arrived have been noted.
async fn left_over(client: &Client) -> anyhow::Result<u64> {
    let begun = Instant::now();
    loop {
        let mut left = 0;
        for hook in 0..HOOKS {
            let view = look(client, hook).await?;
            let open = view.deliveries.iter().filter(|(state, _)| **state != DeliveryState::Done);
            left += open.map(|(_, count)| *count).sum::<u64>();
        }
        if left == 0 || begun.elapsed() > PATIENCE {
            return Ok(left);
        }
        tokio::time::sleep(PACE).await;
    }
}

/// Weighs the server for as long as there is one.
async fn sample(
    pid: u32,
    begun: Instant,
    told: Arc<AtomicU64>,
    accepted: Arc<AtomicU64>,
    samples: Arc<Mutex<Vec<Sample>>>,
) {
    while let Ok(weight) = proc::memory(pid) {
        let sample = Sample {
            after: begun.elapsed(),
            told: told.load(Ordering::Relaxed),
            accepted: accepted.load(Ordering::Relaxed),
            rss: weight.rss,
        };
        samples.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
        tokio::time::sleep(SAMPLED_EVERY).await;
    }
}

fn judge(found: &Found) -> Section {
    let Found { events, books, samples, .. } = found;
    let sum = |of: fn(&Book) -> u64| books.iter().map(of).sum::<u64>();
    let absent = HOOKS - 1;
    let wanted = |hook: u64| (0..*events).filter(|number| is_for(hook, *number)).count() as u64;
    let expected: u64 = (0..HOOKS).map(wanted).sum();
    let mut section = Section::new(
        "Hooks",
        format!(
            "A server on SQLite that syncs every commit, and {HOOKS} hooks. {events} events about {OBJECTS} objects are told as fast as the API takes them, {TOLD_AT_ONCE} at a time. Every hook looks at every event with a filter and takes a tenth of them, so each event becomes five deliveries over HTTP. Of the receivers 19 answer well, 10 take {} ms for each answer, 10 answer every third call with 500 and every seventh not at all, 10 answer with 503 until the last event has been told, and one is not there until its dead letters are replayed. A hook has at most 20 deliveries under way. Server, receivers and the bench share the machine.",
            SLOW.as_millis()
        ),
    );
    let none = |number: u64| number == 0;
    let per_second = |number: u64, time: Duration| {
        format!("{:.0} /s", number as f64 / time.as_secs_f64().max(0.001))
    };
    section.note("events told", per_second(*events, found.told_in));
    section.note("deliveries that were to arrive", expected.to_string());
    section.note(
        "deliveries, until all but the dead letters had arrived",
        per_second(expected - wanted(absent), found.arrived_in),
    );
    section.note("waited when the last event had been told", found.backlog.to_string());
    section
        .note("calls that were refused or not answered", sum(|book| book.turned_away).to_string());
    let lost = expected.saturating_sub(sum(|book| book.accepted));
    section.judge("deliveries that never arrived", lost.to_string(), "0", none(lost));
    let disordered = sum(|book| book.disordered);
    section.judge(
        "deliveries after a later one about the same object",
        disordered.to_string(),
        "0",
        none(disordered),
    );
    let strange = sum(|book| book.strange);
    section.judge("calls that tell of no event", strange.to_string(), "0", none(strange));
    section.note("accepted again under the same key", sum(|book| book.again).to_string());
    let dead = found.dead.len() as u64;
    section.judge(
        "dead letters listed of the receiver that is not there",
        dead.to_string(),
        wanted(absent).to_string(),
        dead == wanted(absent),
    );
    section.judge(
        "dead letters replayed",
        found.replayed.to_string(),
        wanted(absent).to_string(),
        found.replayed == wanted(absent),
    );
    section.note("replayed ones arrived", per_second(found.replayed, found.replayed_in));
    section.judge(
        "deliveries that are open or dead at the end",
        found.left.to_string(),
        "0",
        none(found.left),
    );
    weigh(&mut section, found, samples);
    section
}

fn weigh(section: &mut Section, found: &Found, samples: &[Sample]) {
    let most = |samples: &[Sample]| samples.iter().map(|one| one.rss).max().unwrap_or_default();
    let peak = most(samples);
    let growth = peak.saturating_sub(found.rest);
    section.note("server at rest: RSS", mb(found.rest));
    section.note("server, the most: RSS", mb(peak));
    section.judge(
        "server, the most beyond what it weighs at rest: RSS",
        mb(growth),
        "at most 128 MB",
        growth <= GROWTH_MAX_KIB,
    );
    let (first, second) = samples.split_at(samples.len() / 2);
    let share = most(second) as f64 / most(first).max(1) as f64;
    section.judge(
        "the most in the second half of the time, to the most in the first",
        format!("{share:.2}"),
        format!("at most {HALVES_MAX}"),
        share <= HALVES_MAX,
    );
    let step = samples.len().div_ceil(SHOWN).max(1);
    for one in samples.iter().step_by(step) {
        section.note(
            format!(
                "after {:.0} s, {} events told, {} deliveries arrived: RSS",
                one.after.as_secs_f64(),
                one.told,
                one.accepted
            ),
            mb(one.rss),
        );
    }
}
