//! A thousand schedules that come every second, two servers on one PostgreSQL, and kills.
//!
//! Every time of every schedule is to be one row, and one call that somebody outside receives under the key of that
//! time. The receiver is in this process. Every [`BETWEEN_KILLS`] one of the two servers is killed with SIGKILL, stays
//! away for [`AWAY`], and comes back; the other goes on. Catching up is `all`, so nothing may be missed.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures::StreamExt;
use hostler_api::Nothing;
use hostler_api::schedule::{
    ScheduleApply, ScheduleFireView, ScheduleHistory, ScheduleHistoryQuery, SchedulePath,
};
use hostler_base::Clock;
use hostler_client::Client;
use hostler_model::schedule::{FireState, ScheduleSpec};
use hostler_model::{Action, CatchUp, HttpAction, Overlap, Span, Timestamp};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use crate::figures::{Section, quantile};
use crate::rig::{Rig, until};
use crate::say;
use crate::state::Postgres;

const SCHEDULES: usize = 1000;
const SECONDS: u64 = 180;
const BETWEEN_KILLS: Duration = Duration::from_secs(20);
const AWAY: Duration = Duration::from_secs(3);
const ASKED_AT_ONCE: usize = 16;

/// How often each key was received.
type Received = Arc<Mutex<HashMap<String, u32>>>;

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let seconds = match std::env::var("HOSTLER_BENCH_SECONDS") {
        Ok(words) => words.parse().context("HOSTLER_BENCH_SECONDS is a number")?,
        Err(_) => SECONDS,
    };
    let database = Postgres::start().await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let received = Received::default();
    let mut receiver = JoinSet::new();
    receiver.spawn(receive(listener, Arc::clone(&received)));
    let settings = format!("[egress]\nallow = ['127.0.0.1:{port}']\n");
    let mut rig = Rig::configured(binary, Some(&database.url()), &settings).await?;
    let (mut second, mut other) = rig.companion("second").await?;

    let now = Clock::system().now().micros().div_euclid(1_000_000);
    let starts = Timestamp::from_micros((now + 15) * 1_000_000);
    let ends = starts.plus(Duration::from_secs(seconds - 1));
    let url = format!("http://127.0.0.1:{port}/");
    let spec = ScheduleSpec {
        overlap: Overlap::Allow,
        catch_up: CatchUp::All,
        catch_up_limit: 1000,
        starts: Some(starts),
        ends: Some(ends),
        ..ScheduleSpec::every(Span::from_secs(1), Action::Http(Box::new(call(url))))
    };
    let made = futures::stream::iter(0..SCHEDULES)
        .map(|n| apply(&rig.client, n, &spec))
        .buffer_unordered(ASKED_AT_ONCE);
    for made in made.collect::<Vec<_>>().await {
        made?;
    }
    ensure!(Clock::system().now() < starts, "making the schedules took too long");

    let ends_in = Duration::from_secs(seconds + 15);
    let begun = Instant::now();
    let mut kills = 0_u32;
    while begun.elapsed() + BETWEEN_KILLS < ends_in {
        tokio::time::sleep(BETWEEN_KILLS - AWAY).await;
        if kills.is_multiple_of(2) {
            rig.kill_server(AWAY).await?;
        } else {
            drop(second);
            tokio::time::sleep(AWAY).await;
            (second, other) = rig.companion("second").await?;
        }
        kills += 1;
        say(&format!("    {kills} kills, {} calls", count(&received)));
    }
    let expected = SCHEDULES as u64 * seconds;
    until("every time has come", async || Ok((count(&received) >= expected).then_some(()))).await?;

    let mut fires = BTreeMap::new();
    let asked = futures::stream::iter(0..SCHEDULES)
        .map(|n| history(&other, n))
        .buffer_unordered(ASKED_AT_ONCE);
    let mut asked = std::pin::pin!(asked);
    while let Some(told) = asked.next().await {
        let (n, told) = told?;
        ensure!(fires.insert(n, told).is_none(), "each is asked once");
    }
    receiver.abort_all();
    drop(second);
    Ok(judge(&fires, &received, starts, seconds, kills))
}

fn call(url: String) -> HttpAction {
    let words = serde_json::json!({ "url": url });
    serde_json::from_value(words).expect("an address is all that a call needs")
}

fn place(n: usize) -> SchedulePath {
    SchedulePath { project: "default".to_owned(), schedule: format!("s{n}") }
}

async fn apply(client: &Client, n: usize, spec: &ScheduleSpec) -> anyhow::Result<()> {
    client.call::<ScheduleApply>(&place(n), &Nothing {}, spec).await?;
    Ok(())
}

async fn history(client: &Client, n: usize) -> anyhow::Result<(usize, Vec<ScheduleFireView>)> {
    let query = ScheduleHistoryQuery { limit: Some(1000), ..ScheduleHistoryQuery::default() };
    let all = client.list_all::<ScheduleHistory, _>(&place(n), &query).await?;
    Ok((n, all.items))
}

fn count(received: &Received) -> u64 {
    received.lock().unwrap_or_else(PoisonError::into_inner).len() as u64
}

/// What is outside: answers every call, and keeps its key.
async fn receive(listener: TcpListener, received: Received) {
    let mut talks = JoinSet::new();
    while let Ok((caller, _)) = listener.accept().await {
        talks.spawn(answer(caller, Arc::clone(&received)));
        while talks.try_join_next().is_some() {}
    }
}

async fn answer(caller: TcpStream, received: Received) -> std::io::Result<()> {
    let mut caller = BufReader::new(caller);
    loop {
        let (mut key, mut length) = (None, 0);
        loop {
            let mut line = String::new();
            if caller.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let Some((name, value)) = line.split_once(':') else {
                if line.trim_end().is_empty() {
                    break;
                }
                continue;
            };
            match name.to_ascii_lowercase().as_str() {
                "idempotency-key" => key = Some(value.trim().to_owned()),
                "content-length" => length = value.trim().parse().unwrap_or_default(),
                _ => {}
            }
        }
        caller.read_exact(&mut vec![0; length]).await?;
        if let Some(key) = key {
            let mut received = received.lock().unwrap_or_else(PoisonError::into_inner);
            *received.entry(key).or_default() += 1;
        }
        caller.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await?;
    }
}

fn judge(
    fires: &BTreeMap<usize, Vec<ScheduleFireView>>,
    received: &Received,
    starts: Timestamp,
    seconds: u64,
    kills: u32,
) -> Section {
    let mut late = Vec::new();
    let (mut absent, mut surplus, mut not_done, mut taken_over) = (0, 0, 0, 0);
    for fires in fires.values() {
        let mut of_time: BTreeMap<Timestamp, u64> = BTreeMap::new();
        for fire in fires {
            *of_time.entry(fire.time).or_default() += u64::from(fire.count);
            not_done += u64::from(fire.state != FireState::Done);
            taken_over += u64::from(fire.tries > 1);
            late.push(fire.lateness.duration().as_secs_f64());
        }
        for second in 0..seconds {
            match of_time.remove(&starts.plus(Duration::from_secs(second))) {
                None => absent += 1,
                Some(times) => surplus += times - 1,
            }
        }
        surplus += of_time.values().sum::<u64>();
    }
    let received = received.lock().unwrap_or_else(PoisonError::into_inner);
    let twice = received.values().filter(|times| **times > 1).count();
    let expected = SCHEDULES as u64 * seconds;
    let mut section = Section::new(
        "Schedules",
        format!(
            "{SCHEDULES} schedules that come every second for {seconds} s and call an address; two servers on one PostgreSQL that syncs every commit; {kills} times one of the two was killed with SIGKILL, turn about, and came back after {} s. Servers, database and receiver share the machine. Lateness is what the rows say: from the time to when it was begun.",
            AWAY.as_secs()
        ),
    );
    let none = |number: u64| number == 0;
    section.note("times that were to come", expected.to_string());
    section.judge("times that did not come", absent.to_string(), "0", none(absent));
    section.judge("times that came twice", surplus.to_string(), "0", none(surplus));
    section.judge(
        "fires that ended otherwise than done",
        not_done.to_string(),
        "0",
        none(not_done),
    );
    let unheard = expected.saturating_sub(received.len() as u64);
    section.judge("calls that never arrived", unheard.to_string(), "0", none(unheard));
    section.note("calls made again under the same key after a kill", twice.to_string());
    section.note("fires that another server took over", taken_over.to_string());
    for (words, share) in [("half", 0.5), ("99 of 100", 0.99), ("all", 1.0)] {
        let within = quantile(&late, share);
        section.note(format!("lateness: {words} within"), format!("{within:.2} s"));
    }
    section
}
