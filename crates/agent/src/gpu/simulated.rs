//! Devices that are not there: what a file says, read anew each time, so that changing the file changes
//! the machine. For tests, and for trying things out on a machine that has none.
//!
//! ```json
//! { "driver": "550.54",
//!   "gpus": [ { "uuid": "GPU-a", "model": "simulated A100", "memory": "40GiB", "numa": 0,
//!               "utilisation": 0.5, "memoryUsed": "3GiB", "temperature": 61, "power": 210,
//!               "processes": 1, "xids": [13], "isLost": false } ] }
//! ```
//!
//! Everything but `model` may be absent. `xids` are all errors so far: those that are added after the
//! file was first read are told as they are found. A file that cannot be read means what it meant
//! before, and nothing at the beginning.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_model::{Bytes, GpuFact, GpuMetrics};
use serde::Deserialize;

use super::{GpuError, Gpus, xid};
use crate::sys;

/// How soon a change of the file is noticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// "GPU has fallen off the bus".
const LOST: u64 = 79;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct Machine {
    driver: String,
    gpus: Vec<Simulation>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct Simulation {
    uuid: Option<String>,
    model: String,
    memory: Bytes,
    numa: Option<u32>,
    utilisation: Option<f64>,
    memory_used: Bytes,
    temperature: Option<f64>,
    power: Option<f64>,
    processes: u32,
    xids: Vec<u64>,
    is_lost: bool,
}

pub struct Simulated {
    path: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    machine: Machine,
    /// How many errors of each were told, and whether its loss was; absent before the first look.
    told: Option<Vec<(usize, bool)>>,
}

impl Simulated {
    pub fn new(path: PathBuf) -> Simulated {
        Simulated { path, state: Mutex::default() }
    }

    /// As the file is now.
    fn read(&self) -> MutexGuard<'_, State> {
        let text = std::fs::read(&self.path);
        let read = text
            .map_err(|e| e.to_string())
            .and_then(|bytes| serde_json::from_slice::<Machine>(&bytes).map_err(|e| e.to_string()));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(machine) => state.machine = machine,
            Err(problem) => {
                tracing::warn!(file = %self.path.display(), problem, "simulated gpus cannot be read");
            }
        }
        if state.told.is_none() {
            let known = |gpu: &Simulation| (gpu.xids.len(), gpu.is_lost);
            state.told = Some(state.machine.gpus.iter().map(known).collect());
        }
        state
    }
}

fn numbered(machine: &Machine) -> impl Iterator<Item = (u32, &Simulation)> {
    (0..).zip(&machine.gpus)
}

impl Gpus for Simulated {
    fn list(&self) -> Vec<GpuFact> {
        let state = self.read();
        let each = numbered(&state.machine).map(|(index, gpu)| GpuFact {
            index,
            uuid: gpu.uuid.clone().unwrap_or_else(|| format!("GPU-simulated-{index}")),
            model: gpu.model.clone(),
            memory: gpu.memory,
            driver: state.machine.driver.clone(),
            numa: gpu.numa,
            trouble: gpu.is_lost.then(|| xid::words(LOST)),
        });
        each.collect()
    }

    fn sample(&self) -> Vec<GpuMetrics> {
        let state = self.read();
        let each = numbered(&state.machine).filter(|(_, gpu)| !gpu.is_lost);
        let each = each.map(|(index, gpu)| GpuMetrics {
            index,
            utilisation: gpu.utilisation,
            memory_used: gpu.memory_used,
            temperature: gpu.temperature,
            power: gpu.power,
            processes: gpu.processes,
            errors: 0,
        });
        each.collect()
    }

    fn listen(&self, is_over: &dyn Fn() -> bool, tell: &mut dyn FnMut(GpuError)) {
        while !is_over() {
            for error in self.news() {
                tell(error);
            }
            sys::poll(&mut [], Some(LOOK_EVERY));
        }
    }
}

impl Simulated {
    /// Errors that were not told yet.
    fn news(&self) -> Vec<GpuError> {
        let mut state = self.read();
        let State { machine, told } = &mut *state;
        let told = told.get_or_insert_default();
        told.resize(machine.gpus.len(), (0, false));
        let mut news = Vec::new();
        for ((index, gpu), (count, was_lost)) in numbered(machine).zip(told) {
            let fresh = gpu.xids.iter().skip(*count).map(|xid| GpuError { index, xid: *xid });
            news.extend(fresh);
            if gpu.is_lost && !*was_lost {
                news.push(GpuError { index, xid: LOST });
            }
            (*count, *was_lost) = (gpu.xids.len(), gpu.is_lost);
        }
        news
    }
}
