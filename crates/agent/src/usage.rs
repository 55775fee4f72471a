//! What everything on this node uses, over time: sampled every ten seconds, kept in memory alone (a
//! sample is not worth a write to a card), told to whoever asks. A run that does nothing is looked at
//! less and less often, down to once in two minutes, and only at its processor time, so that a node full
//! of sleepers sleeps too; where many runs are new at once they are taken up a few at a time.
//!
//! This is what wakes an agent that has nothing else to do, so afterwards it gives back the program text
//! that it ran through.
//!
//! The same pass watches memory against its limit: above nine tenths of it the workload's status says
//! so, until it is below eight tenths again.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::Clock;
use hostler_base::history::{History, SAMPLE_EVERY};
use hostler_engine::health::{MemoryEvent, MemoryWatch};
use hostler_model::{Bytes, PlacementId, RunId, Timestamp, UsageSample, WorkloadUsage};

use crate::facts::{self, text};
use crate::runner::{Runner, Usage};
use crate::supervisor::{ServiceView, Supervisor};
use crate::sys;

/// Everything that was sampled.
#[derive(Default)]
pub(crate) struct UsageBook(Mutex<Pages>);

#[derive(Default)]
struct Pages {
    node: History<UsageSample>,
    placements: BTreeMap<PlacementId, History<UsageSample>>,
}

impl UsageBook {
    pub fn node(&self, since: Timestamp) -> Vec<UsageSample> {
        self.lock().node.since(since)
    }

    pub fn placement(&self, placement: PlacementId, since: Timestamp) -> Vec<UsageSample> {
        self.lock().placements.get(&placement).map(|ring| ring.since(since)).unwrap_or_default()
    }

    /// What every placement used last, of those that were looked at lately; those with the most memory,
    /// where there are very many.
    pub fn newest(&self, now: Timestamp) -> Vec<WorkloadUsage> {
        let pages = self.lock();
        let used = pages.placements.iter().filter_map(|(placement, history)| {
            let UsageSample { time, cpu, memory, .. } = *history.newest()?;
            if now.since(time) > SAMPLE_EVERY * (SLOWEST + 2) {
                return None;
            }
            Some(WorkloadUsage { placement: *placement, cpu, memory })
        });
        let mut used: Vec<WorkloadUsage> = used.collect();
        used.sort_by_key(|usage| (std::cmp::Reverse(usage.memory), usage.placement));
        used.truncate(WorkloadUsage::MOST);
        used
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes the samples.
pub(crate) struct Observer {
    pub clock: Clock,
    pub runner: Runner,
    pub supervisor: Supervisor,
    pub data_dir: PathBuf,
}

/// What was counted when the last samples were taken.
#[derive(Default)]
struct Before {
    at: Duration,
    runs: HashMap<RunId, Pace>,
    node: Option<Counted>,
}

/// How often a run is looked at.
#[derive(Clone, Copy, Debug)]
struct Pace {
    usage: Usage,
    at: Duration,
    /// Ticks from one look to the next, and until the next.
    step: u32,
    left: u32,
}

const SLOWEST: u32 = 12;
/// Where a run begins that has done nothing when it is first looked at.
const SLOW: u32 = 4;
/// A run that uses less than this share of a core does nothing.
const IDLE: f64 = 0.001;
/// How many new runs are looked at in one go, apart from those whose memory is limited.
const NEW_MAX: usize = 32;

impl Observer {
    pub async fn run(self) {
        let mut before = Before { at: self.clock.instant(), ..Before::default() };
        let mut watches = HashMap::new();
        loop {
            self.clock.sleep(SAMPLE_EVERY).await;
            let services = self.supervisor.board().services();
            let live = services.iter().filter_map(|service| {
                let is_limited = service.assignment.spec.limits.memory.is_some();
                Some((service.live?.run, is_limited))
            });
            let due = before.due(live);
            drop(services);
            let usages = self.runner.usages_of(due).await;
            let alarms = self.sample(usages, &mut before, &mut watches);
            sys::give_back_text();
            for (placement, warning) in alarms {
                if self.supervisor.warn_of_memory(placement, warning).await.is_err() {
                    return;
                }
            }
        }
    }

    fn sample(
        &self,
        usages: Vec<(RunId, Usage)>,
        before: &mut Before,
        watches: &mut HashMap<PlacementId, MemoryWatch>,
    ) -> Vec<(PlacementId, Option<String>)> {
        let services = self.supervisor.board().services();
        let usages: HashMap<RunId, Usage> = usages.into_iter().collect();
        let (now, time) = (self.clock.instant(), self.clock.now());
        let node = Counted::now(&self.data_dir);
        let mut pages = self.supervisor.book().lock();
        if let Some(counted) = &before.node {
            let seconds = now.saturating_sub(before.at).as_secs_f64().max(0.001);
            pages.node.push(node.since(counted, time, seconds));
        }
        let mut alarms = Vec::new();
        for service in &services {
            let placement = service.assignment.placement_id;
            let Some((run, usage)) = usage_of(service, &usages) else { continue };
            let sample = before.pace(run, usage, now, time);
            pages.placements.entry(placement).or_default().push(sample);
            if let Some(limit) = service.assignment.spec.limits.memory {
                let event = watches.entry(placement).or_default().sample(usage.memory, limit);
                alarms.extend(event.map(|event| (placement, words(&event, limit))));
            }
        }
        let is_here = |placement: &PlacementId| {
            services.iter().any(|service| service.assignment.placement_id == *placement)
        };
        pages.placements.retain(|placement, _| is_here(placement));
        watches.retain(|placement, _| is_here(placement));
        (before.at, before.node) = (now, Some(node));
        alarms
    }
}

impl Before {
    /// The runs to look at now, with what they used when they were last looked at; those that are gone
    /// are forgotten. Given are all that live, and whether their memory is limited.
    fn due(&mut self, live: impl Iterator<Item = (RunId, bool)>) -> Vec<(RunId, Option<Usage>)> {
        let live: BTreeMap<RunId, bool> = live.collect();
        self.runs.retain(|run, _| live.contains_key(run));
        let mut due = Vec::new();
        let mut room = NEW_MAX;
        for (run, is_limited) in live {
            match self.runs.get_mut(&run) {
                Some(pace) => {
                    pace.left = pace.left.saturating_sub(1);
                    if pace.left == 0 {
                        due.push((run, Some(pace.usage)));
                    }
                }
                None if is_limited => due.push((run, None)),
                None if room > 0 => {
                    room -= 1;
                    due.push((run, None));
                }
                None => {}
            }
        }
        due
    }

    /// What a run used since it was last looked at, and when it is looked at again.
    fn pace(&mut self, run: RunId, usage: Usage, now: Duration, time: Timestamp) -> UsageSample {
        let last = self.runs.get(&run).copied();
        let at = last.map_or(self.at, |pace| pace.at);
        let earlier = last.map_or_else(Usage::default, |pace| pace.usage);
        let seconds = now.saturating_sub(at).as_secs_f64().max(0.001);
        let sample = since(&usage, &earlier, time, seconds);
        let step = match last {
            Some(pace) if sample.cpu < IDLE => (pace.step * 2).min(SLOWEST),
            None if sample.cpu < IDLE => SLOW,
            _ => 1,
        };
        self.runs.insert(run, Pace { usage, at: now, step, left: step });
        sample
    }
}

fn words(event: &MemoryEvent, limit: Bytes) -> Option<String> {
    match event {
        MemoryEvent::High { percent } => {
            Some(format!("memory is at {percent}% of its limit of {limit}"))
        }
        MemoryEvent::Normal => None,
    }
}

fn usage_of(service: &ServiceView, usages: &HashMap<RunId, Usage>) -> Option<(RunId, Usage)> {
    let run = service.live?.run;
    Some((run, *usages.get(&run)?))
}

fn since(now: &Usage, before: &Usage, time: Timestamp, seconds: f64) -> UsageSample {
    let rate = |now: Bytes, before: Bytes| per_second(now.get(), before.get(), seconds);
    UsageSample {
        time,
        seconds,
        cpu: now.cpu.saturating_sub(before.cpu).as_secs_f64() / seconds,
        memory: now.memory,
        disk_read: rate(now.io_read, before.io_read),
        disk_written: rate(now.io_written, before.io_written),
        pids: Some(now.pids),
        ..UsageSample::default()
    }
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people needs no more than 52 bits")]
fn per_second(now: u64, before: u64, seconds: f64) -> f64 {
    now.saturating_sub(before) as f64 / seconds
}

/// What the machine has counted since it booted.
#[derive(Default)]
struct Counted {
    /// Busy and all, in ticks of all cores together.
    cpu: (u64, u64),
    cores: f64,
    memory: Bytes,
    disk: (u64, u64),
    net: (u64, u64),
    disk_used: Bytes,
    temperature: Option<f64>,
}

impl Counted {
    fn now(data_dir: &std::path::Path) -> Counted {
        let memory = text("/proc/meminfo");
        let in_memory = |key| facts::meminfo(&memory, key).unwrap_or_default();
        let space = facts::disk_space(data_dir);
        let stat = text("/proc/stat");
        let cores = stat.lines().filter(|line| is_core(line)).count();
        Counted {
            cpu: facts::cpu_times(&stat).unwrap_or_default(),
            cores: f64::from(u32::try_from(cores).unwrap_or(1).max(1)),
            memory: Bytes::new(in_memory("MemTotal").saturating_sub(in_memory("MemAvailable"))),
            disk: disk_bytes(&text("/proc/diskstats")),
            net: net_bytes(&text("/proc/net/dev")),
            disk_used: space.map_or(Bytes::ZERO, |space| space.size.saturating_sub(space.free)),
            temperature: facts::hottest(),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a share needs no more than 52 bits")]
    fn since(&self, before: &Counted, time: Timestamp, seconds: f64) -> UsageSample {
        let busy = self.cpu.0.saturating_sub(before.cpu.0) as f64;
        let all = self.cpu.1.saturating_sub(before.cpu.1).max(1) as f64;
        let rate = |now, before| per_second(now, before, seconds);
        UsageSample {
            time,
            seconds,
            cpu: busy / all * self.cores,
            memory: self.memory,
            disk_read: rate(self.disk.0, before.disk.0),
            disk_written: rate(self.disk.1, before.disk.1),
            net_received: Some(rate(self.net.0, before.net.0)),
            net_sent: Some(rate(self.net.1, before.net.1)),
            disk_used: Some(self.disk_used),
            temperature: self.temperature,
            pids: None,
        }
    }
}

fn is_core(line: &str) -> bool {
    line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

const SECTOR: u64 = 512;

/// Read and written, of whole disks.
fn disk_bytes(diskstats: &str) -> (u64, u64) {
    let mut sum = (0, 0);
    for line in diskstats.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [_, _, name, _, _, read, _, _, _, written, ..] = words[..] else { continue };
        let is_whole = ["sd", "vd", "xvd", "hd"].iter().any(|prefix| name.starts_with(prefix))
            && !name.ends_with(|c: char| c.is_ascii_digit())
            || (name.starts_with("nvme") || name.starts_with("mmcblk")) && !name.contains('p');
        if is_whole {
            sum.0 += read.parse::<u64>().unwrap_or_default() * SECTOR;
            sum.1 += written.parse::<u64>().unwrap_or_default() * SECTOR;
        }
    }
    sum
}

/// Received and sent, of everything but loopback.
fn net_bytes(dev: &str) -> (u64, u64) {
    let mut sum = (0, 0);
    for line in dev.lines() {
        let Some((name, counts)) = line.split_once(':') else { continue };
        let counts: Vec<u64> =
            counts.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        if name.trim() != "lo" && counts.len() >= 9 {
            sum.0 += counts[0];
            sum.1 += counts[8];
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(n: u128) -> RunId {
        RunId::from_uuid(uuid::Uuid::from_u128(n))
    }

    #[test]
    fn sleepers_are_taken_up_a_few_at_a_time_and_then_left_alone() {
        let mut before = Before::default();
        let live = || (0..100).map(|n| (run(n), n == 99));
        let mut looks = Vec::new();
        for tick in 1..=40_u64 {
            let now = SAMPLE_EVERY * u32::try_from(tick).unwrap();
            let due = before.due(live());
            for (id, earlier) in &due {
                assert_eq!(earlier.is_none(), !before.runs.contains_key(id));
                before.pace(*id, Usage::default(), now, Timestamp::EPOCH);
            }
            before.at = now;
            looks.push(due.len());
        }
        assert_eq!(looks[..5], [33, 32, 32, 3, 33], "the limited one at once; again after four");
        assert!(looks[28..].iter().sum::<usize>() <= 100, "each once in two minutes: {looks:?}");
        let busy = Usage { cpu: Duration::from_secs(500), ..Usage::default() };
        before.pace(run(0), busy, before.at + SAMPLE_EVERY, Timestamp::EPOCH);
        assert_eq!(before.due([(run(0), false)].into_iter()).len(), 1, "the very next time");
        assert_eq!(before.runs.len(), 1, "the others are gone");
    }

    #[test]
    fn what_is_told_is_fresh_and_not_without_end() {
        let book = UsageBook::default();
        let at = |seconds| Timestamp::EPOCH.plus(Duration::from_secs(seconds));
        let placement = |n: u128| PlacementId::from_uuid(uuid::Uuid::from_u128(n));
        let sample = |seconds, memory| UsageSample {
            time: at(seconds),
            seconds: 10.0,
            cpu: 0.5,
            memory: Bytes::new(memory),
            ..UsageSample::default()
        };
        for n in 0..300 {
            let mut pages = book.lock();
            let history = pages.placements.entry(placement(n)).or_default();
            history.push(sample(10, u64::try_from(n).unwrap()));
        }
        let told = book.newest(at(20));
        assert_eq!(told.len(), WorkloadUsage::MOST);
        assert_eq!((told[0].placement, told[0].memory), (placement(299), Bytes::new(299)));
        book.lock().placements.entry(placement(7)).or_default().push(sample(500, 1));
        let fresh: Vec<PlacementId> = book.newest(at(510)).iter().map(|u| u.placement).collect();
        assert_eq!(fresh, [placement(7)]);
    }

    #[test]
    fn the_kernels_counts_are_read() {
        let disks = "8 0 sda 1 0 10 0 1 0 20 0 0 0 0\n8 1 sda1 1 0 5 0 1 0 5 0 0 0 0\n259 0 nvme0n1 1 0 1 0 1 0 2 0 0 0 0\n259 1 nvme0n1p1 9 9 9 9 9 9 9 9 9 9 9\n";
        assert_eq!(disk_bytes(disks), (11 * 512, 22 * 512));
        let dev = "Inter-| x\n face |bytes\n    lo: 5 0 0 0 0 0 0 0 5 0 0 0 0 0 0 0\n  eth0: 7 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n";
        assert_eq!(net_bytes(dev), (7, 9));
        let now = Counted::now(std::path::Path::new("/"));
        assert!(now.memory > Bytes::ZERO && now.cores >= 1.0);
        let sample = now.since(&Counted::default(), Timestamp::EPOCH, 10.0);
        assert!(sample.cpu >= 0.0 && sample.net_received.is_some());
    }
}
