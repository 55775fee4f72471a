//! State beside what people keep such things in: etcd, Redis, and a table of PostgreSQL.
//!
//! Everybody syncs every change to disk before it is answered. Every client is a connection of its own with one request
//! under way, as programs are; all clients are threads of this process, whatever they speak with. Each system in turn,
//! several rounds of all of them; medians are compared, so that what disturbs one round does not decide.

mod etcd;
mod ours;
mod pgbench;
mod process;
mod redis;

pub use process::Postgres;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::ensure;

use crate::figures::{Section, quantile};
use crate::say;

const CLIENTS: usize = 64;
const ROUNDS: usize = 3;
const LENGTH: Duration = Duration::from_secs(4);
const WARM_UP: Duration = Duration::from_secs(1);
const VALUE: usize = 256;
const KEYS_EACH: usize = 100;
const LOCKS: usize = 300;
const WATCHED: usize = 200;

const OURS: &str = "Hostler on SQLite";
const OURS_SHARED: &str = "Hostler on PostgreSQL";
const ETCD: &str = "etcd";
const ETCD_SEALED: &str = "etcd with TLS and certificates";
const REDIS: &str = "Redis";
const PGBENCH: &str = "pgbench, upserts";
const SYSTEMS: [&str; 6] = [OURS, ETCD, ETCD_SEALED, REDIS, OURS_SHARED, PGBENCH];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Put,
    Swap,
    Get,
}

impl What {
    const ALL: [What; 3] = [What::Put, What::Swap, What::Get];

    const fn words(self) -> &'static str {
        match self {
            What::Put => "puts",
            What::Swap => "compare and swap",
            What::Get => "gets",
        }
    }
}

/// A connection with one request under way.
trait Caller: Send + Sized + 'static {
    fn put(&mut self, key: &str, value: &str) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// Only if nobody has changed it since this caller did, and an error otherwise.
    fn swap(&mut self, key: &str, value: &str) -> impl Future<Output = anyhow::Result<()>> + Send;
    /// An error when there is none.
    fn get(&mut self, key: &str) -> impl Future<Output = anyhow::Result<()>> + Send;
}

/// What one round of a system came to.
#[derive(Default)]
struct Measured {
    /// Changes or reads a second, by what was done and by how many.
    rates: BTreeMap<(What, usize), f64>,
    /// How long each took.
    millis: BTreeMap<(What, usize), Vec<f64>>,
    lock_millis: Vec<f64>,
    watch_millis: Vec<f64>,
}

/// All rounds of a system.
#[derive(Default)]
struct Rounds(Vec<Measured>);

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let mut all: BTreeMap<&str, Rounds> = BTreeMap::new();
    for round in 1..=ROUNDS {
        for system in SYSTEMS {
            say(&format!("    {system}, round {round} of {ROUNDS}"));
            let measured = match system {
                OURS => Box::pin(ours::measure(binary)).await?,
                OURS_SHARED => Box::pin(ours::measure_shared(binary)).await?,
                ETCD => etcd::measure().await?,
                ETCD_SEALED => etcd::measure_sealed().await?,
                REDIS => redis::measure().await?,
                _ => pgbench::measure().await?,
            };
            all.entry(system).or_default().0.push(measured);
        }
    }
    Ok(section(&all))
}

/// Does what a client does all the time, of one client and of many, and keeps how fast.
async fn rates<C: Caller>(
    measured: &mut Measured,
    mut connect: impl AsyncFnMut() -> anyhow::Result<C>,
) -> anyhow::Result<()> {
    for what in What::ALL {
        for clients in [1, CLIENTS] {
            let mut callers = Vec::new();
            for _ in 0..clients {
                callers.push(connect().await?);
            }
            let begin = Instant::now() + WARM_UP;
            let mut working = tokio::task::JoinSet::new();
            for (client, caller) in callers.into_iter().enumerate() {
                working.spawn(work(client, caller, what, begin));
            }
            let mut millis = Vec::new();
            while let Some(done) = working.join_next().await {
                millis.extend(done??);
            }
            ensure!(!millis.is_empty(), "nothing was done");
            let rate = millis.len() as f64 / LENGTH.as_secs_f64();
            measured.rates.insert((what, clients), rate);
            measured.millis.insert((what, clients), millis);
        }
    }
    Ok(())
}

async fn work<C: Caller>(
    client: usize,
    mut caller: C,
    what: What,
    begin: Instant,
) -> anyhow::Result<Vec<f64>> {
    let value = "v".repeat(VALUE);
    let mut millis = Vec::new();
    let keys: Vec<String> = (0..KEYS_EACH).map(|key| format!("bench/{client}/{key}")).collect();
    for key in &keys {
        caller.put(key, &value).await?;
    }
    for key in keys.iter().cycle() {
        let begun = Instant::now();
        if begun >= begin + LENGTH {
            break;
        }
        match what {
            What::Put => caller.put(key, &value).await?,
            What::Swap => caller.swap(key, &value).await?,
            What::Get => caller.get(key).await?,
        }
        if begun >= begin {
            millis.push(begun.elapsed().as_secs_f64() * 1000.0);
        }
    }
    Ok(millis)
}

impl Rounds {
    fn median(&self, of: impl Fn(&Measured) -> Option<f64>) -> Option<f64> {
        let values: Vec<f64> = self.0.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| quantile(&values, 0.5))
    }

    fn rate(&self, what: What, clients: usize) -> Option<f64> {
        self.median(|round| round.rates.get(&(what, clients)).copied())
    }

    fn took(&self, what: What, clients: usize, share: f64) -> Option<f64> {
        self.median(|round| round.millis.get(&(what, clients)).map(|all| quantile(all, share)))
    }

    fn lock(&self) -> Option<f64> {
        let is_there = |all: &[f64]| (!all.is_empty()).then(|| quantile(all, 0.5));
        self.median(|round| is_there(&round.lock_millis))
    }

    fn watch(&self, share: f64) -> Option<f64> {
        let is_there = |all: &[f64]| (!all.is_empty()).then(|| quantile(all, share));
        self.median(|round| is_there(&round.watch_millis))
    }
}

fn section(all: &BTreeMap<&str, Rounds>) -> Section {
    let mut section = Section::new(
        "State",
        format!(
            "One client and {CLIENTS} at once, each a connection of its own with one request under way, for {} s after {} s to warm up; values of {VALUE} bytes, {KEYS_EACH} keys for each client; every change synced to disk before it is answered; then {LOCKS} times a lock is taken and given back, and a watch tells of {WATCHED} puts. Ours over the state stream (locks: one HTTP request each), with TLS and authorisation; the others without either, but for the second etcd, which has TLS and asks its clients for certificates. Targets are beside the plain etcd. Medians of {ROUNDS} rounds. Clients and servers share the machine.",
            LENGTH.as_secs(),
            WARM_UP.as_secs()
        ),
    );
    judge(&mut section, all);
    for system in SYSTEMS {
        let Some(rounds) = all.get(system) else { continue };
        tell(&mut section, system, rounds);
    }
    section
}

fn judge(section: &mut Section, all: &BTreeMap<&str, Rounds>) {
    let rate = |system: &str, what| all.get(system).and_then(|rounds| rounds.rate(what, CLIENTS));
    for (ours, theirs, what, at_least) in [
        (OURS, ETCD, What::Put, 2.5),
        (OURS, ETCD, What::Swap, 2.5),
        (OURS_SHARED, PGBENCH, What::Put, 0.7),
    ] {
        let (Some(of_ours), Some(of_theirs)) = (rate(ours, what), rate(theirs, what)) else {
            continue;
        };
        let ratio = of_ours / of_theirs;
        section.judge(
            format!("{ours} beside {theirs}: {}, {CLIENTS} clients", what.words()),
            format!("{ratio:.2}"),
            format!("at least {at_least}"),
            ratio >= at_least,
        );
    }
    for what in What::ALL {
        if let (Some(ours), Some(theirs)) = (rate(OURS, what), rate(ETCD_SEALED, what)) {
            let words = format!("{OURS} beside {ETCD_SEALED}: {}, {CLIENTS} clients", what.words());
            section.note(words, format!("{:.2}", ours / theirs));
        }
    }
    let of = |system: &str| all.get(system);
    if let (Some(ours), Some(theirs)) =
        (of(OURS).and_then(Rounds::lock), of(ETCD_SEALED).and_then(Rounds::lock))
    {
        let words = format!("lock and unlock beside {ETCD_SEALED}: median");
        section.note(words, format!("{:.2}", ours / theirs));
    }
    if let (Some(ours), Some(theirs)) =
        (of(OURS).and_then(Rounds::lock), of(ETCD).and_then(Rounds::lock))
    {
        section.judge(
            "lock and unlock beside etcd: median",
            format!("{:.2}", ours / theirs),
            "at most 1",
            ours <= theirs,
        );
    }
    if let Some(median) = of(OURS).and_then(|rounds| rounds.watch(0.5)) {
        section.judge(
            "watch: put sent to change told, median",
            format!("{median:.2} ms"),
            "under 5 ms",
            median < 5.0,
        );
    }
}

fn tell(section: &mut Section, system: &str, rounds: &Rounds) {
    for what in What::ALL {
        let Some(alone) = rounds.rate(what, 1) else { continue };
        let words = what.words();
        section.note(format!("{system}: {words}, one client"), format!("{alone:.0}/s"));
        let Some(together) = rounds.rate(what, CLIENTS) else { continue };
        section.note(format!("{system}: {words}, {CLIENTS} clients"), format!("{together:.0}/s"));
        if let Some(within) = rounds.took(what, CLIENTS, 0.99) {
            let words = format!("{system}: {words}, {CLIENTS} clients, 99 of 100 within");
            section.note(words, format!("{within:.2} ms"));
        }
    }
    if let Some(median) = rounds.lock() {
        section.note(format!("{system}: lock and unlock, median"), format!("{median:.2} ms"));
    }
    for (words, share) in [("median", 0.5), ("99 of 100 within", 0.99)] {
        if let Some(value) = rounds.watch(share) {
            let words = format!("{system}: put sent to watch told, {words}");
            section.note(words, format!("{value:.2} ms"));
        }
    }
}
