//! The graphics processors of this machine: which there are, how busy they are, and which of them
//! nobody should be given.
//!
//! A [`Gpus`] is where that comes from: the driver's library ([`nvml`]), or a file that says what the
//! library would ([`simulated`]), for tests and for trying things out. [`Devices`] is what the rest of
//! the agent holds: the last look at the devices, the last sample of each, and their troubles. Reading
//! what it holds never waits; what asks the library blocks, and a library whose device is lost may do
//! so for long, so looking, sampling and waiting for errors each have a thread of their own while they
//! do it and nothing else waits for them.
//!
//! A device is in trouble when its driver tells of an error after which it cannot be relied on
//! ([`xid`]), when it does not answer, or when it was there before and is not any more. Trouble stays
//! until somebody has the node looked at anew and the device answers, or until the agent starts again:
//! an error may come again with the next program, and whoever has reset or replaced the device knows it
//! best. Nothing of this is on disk; after a crash a device that is still unwell says so again.
//!
//! A machine without such devices costs nothing: no thread waits, and the library is not kept open.

mod env;
mod nvml;
mod simulated;
#[cfg(test)]
mod tests;
mod xid;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_base::{Clock, OnError, Tasks};
use hostler_model::{GpuFact, GpuMetrics};
use tokio::sync::watch;

pub(crate) use env::{NOTHING, NVIDIA, about_gang, about_gpus};

/// How often devices are sampled.
const SAMPLE_EVERY: Duration = Duration::from_secs(5);
/// A sample that is older is not told any more: the library does not answer.
const SAMPLE_FRESH: Duration = Duration::from_mins(1);
/// How long to wait before errors are listened for again, when that could not be done.
const LISTEN_AGAIN: Duration = Duration::from_secs(30);

/// Where devices are asked. Everything here blocks.
pub(crate) trait Gpus: Send + Sync {
    /// The devices there are; one that does not answer is listed with its trouble.
    fn list(&self) -> Vec<GpuFact>;
    fn sample(&self) -> Vec<GpuMetrics>;
    /// Tells of errors as they come, until `is_over` or until there is no way to hear of them.
    fn listen(&self, is_over: &dyn Fn() -> bool, tell: &mut dyn FnMut(GpuError));
}

/// What a driver said of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GpuError {
    pub index: u32,
    /// By NVIDIA's numbers.
    pub xid: u64,
}

/// What the agent knows of its devices.
pub(crate) struct Devices {
    source: Box<dyn Gpus>,
    known: Mutex<Known>,
    seen: watch::Sender<Seen>,
}

#[derive(Default)]
struct Known {
    /// As they were last seen, by number, without what errors say.
    facts: BTreeMap<u32, GpuFact>,
    /// What errors say.
    troubles: BTreeMap<u32, String>,
    errors: BTreeMap<u32, u64>,
    sample: Option<(Duration, Vec<GpuMetrics>)>,
}

/// What others wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub devices: usize,
    /// Grows whenever the trouble of a device changes.
    pub troubles: u64,
}

impl Devices {
    /// Of this machine, or as a file says.
    pub fn new(simulated: Option<PathBuf>) -> Devices {
        match simulated {
            Some(path) => Devices::of(Box::new(simulated::Simulated::new(path))),
            None => Devices::of(Box::<nvml::Library>::default()),
        }
    }

    pub fn of(source: Box<dyn Gpus>) -> Devices {
        Devices { source, known: Mutex::default(), seen: watch::Sender::default() }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks which devices there are. Blocks.
    pub fn look(&self) -> Vec<GpuFact> {
        let found = self.source.list();
        let before = self.facts();
        self.known().take(found);
        let after = self.facts();
        self.tell(&before, &after);
        after
    }

    /// The same, and what errors said is forgotten of devices that answer. Blocks.
    pub fn look_anew(&self) -> Vec<GpuFact> {
        let found = self.source.list();
        let before = self.facts();
        {
            let mut known = self.known();
            let is_well = |index: &u32| {
                found.iter().any(|fact| fact.index == *index && fact.trouble.is_none())
            };
            known.troubles.retain(|index, _| !is_well(index));
            known.facts.retain(|index, _| found.iter().any(|fact| fact.index == *index));
            known.take(found);
        }
        let after = self.facts();
        self.tell(&before, &after);
        after
    }

    /// As they were last looked at, with their troubles.
    pub fn facts(&self) -> Vec<GpuFact> {
        let known = self.known();
        let each = known.facts.values().map(|fact| {
            let trouble = known.troubles.get(&fact.index).or(fact.trouble.as_ref()).cloned();
            GpuFact { trouble, ..fact.clone() }
        });
        each.collect()
    }

    /// The last sample, unless it is old.
    pub fn metrics(&self, now: Duration) -> Vec<GpuMetrics> {
        let known = self.known();
        let Some((time, sample)) = &known.sample else { return Vec::new() };
        if now.saturating_sub(*time) > SAMPLE_FRESH {
            return Vec::new();
        }
        let errors = |index: u32| known.errors.get(&index).copied().unwrap_or_default();
        let each = sample.iter().map(|one| GpuMetrics { errors: errors(one.index), ..one.clone() });
        each.collect()
    }

    /// Blocks.
    pub fn sample(&self, clock: &Clock) {
        let sample = self.source.sample();
        self.known().sample = Some((clock.instant(), sample));
    }

    pub fn seen(&self) -> watch::Receiver<Seen> {
        self.seen.subscribe()
    }

    fn error(&self, error: GpuError) {
        let GpuError { index, xid } = error;
        let before = self.facts();
        *self.known().errors.entry(index).or_default() += 1;
        let meaning = xid::meaning(xid);
        if !xid::is_fatal(xid) {
            tracing::warn!(gpu = index, xid, meaning, "gpu error of a program");
            return;
        }
        tracing::error!(gpu = index, xid, meaning, "gpu is out of service");
        self.known().troubles.entry(index).or_insert_with(|| xid::words(xid));
        self.tell(&before, &self.facts());
    }

    /// Says what others wait for, where it has changed.
    fn tell(&self, before: &[GpuFact], after: &[GpuFact]) {
        let trouble = |facts: &[GpuFact]| -> Vec<(u32, Option<String>)> {
            facts.iter().map(|fact| (fact.index, fact.trouble.clone())).collect()
        };
        let is_other = !before.is_empty() && trouble(before) != trouble(after);
        self.seen.send_if_modified(|seen| {
            let now = Seen { devices: after.len(), troubles: seen.troubles + u64::from(is_other) };
            std::mem::replace(seen, now) != now
        });
    }

    /// Samples the devices and listens for their errors, once there are any, until the agent stops.
    pub async fn watch(self: Arc<Devices>, tasks: Tasks, clock: Clock) {
        let mut seen = self.seen();
        if seen.wait_for(|seen| seen.devices > 0).await.is_err() {
            return;
        }
        let listener = self.clone().listen(tasks.clone(), clock.clone());
        tasks.spawn_until_cancelled("gpu errors", OnError::Log, listener);
        loop {
            let (devices, at) = (self.clone(), clock.clone());
            if tasks.run_blocking("gpu sample", move || devices.sample(&at)).await.is_err() {
                return;
            }
            clock.sleep(SAMPLE_EVERY).await;
        }
    }

    async fn listen(self: Arc<Devices>, tasks: Tasks, clock: Clock) {
        loop {
            let (devices, token) = (self.clone(), tasks.token());
            let listen = move || {
                let is_over = || token.is_cancelled();
                devices.source.listen(&is_over, &mut |error| devices.error(error));
            };
            if tasks.run_blocking("gpu errors", listen).await.is_err() {
                return;
            }
            clock.sleep(LISTEN_AGAIN).await;
        }
    }
}

impl Known {
    /// Takes in what was found. What was there before and is not any more is in trouble.
    fn take(&mut self, found: Vec<GpuFact>) {
        for (index, known) in &mut self.facts {
            if !found.iter().any(|fact| fact.index == *index) {
                known.trouble = Some("it is not there any more".to_owned());
            }
        }
        for fact in found {
            let known = self.facts.remove(&fact.index).filter(|_| fact.uuid.is_empty());
            let (index, trouble) = (fact.index, fact.trouble.clone());
            let fact = known.map_or(fact, |known| GpuFact { trouble, ..known });
            self.facts.insert(index, fact);
        }
    }
}
