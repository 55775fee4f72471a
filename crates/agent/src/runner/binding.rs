//! What a reservation means for the processes of a run: which processors they are bound to, and the
//! memory of which NUMA node.

use std::sync::Arc;

use hostler_model::{CpuSet, Reservation};

use super::{Runner, Shared, blocking};
use crate::facts::text;
use crate::gpu::Devices;
use crate::wire::Binding;

const NODES: &str = "/sys/devices/system/node";

/// The processors that are its own, or else those of its NUMA node. A container is bound by its engine.
pub fn of(held: &Reservation, is_container: bool) -> Binding {
    if is_container || (held.cpus.is_empty() && held.numa.is_none()) {
        return Binding::default();
    }
    Binding::new(&cpus(held), held.numa)
}

/// None where it may use all.
pub fn cpus(held: &Reservation) -> CpuSet {
    match held.numa {
        Some(numa) if held.cpus.is_empty() => cpus_of(numa),
        _ => held.cpus.clone(),
    }
}

fn cpus_of(numa: u32) -> CpuSet {
    text(format!("{NODES}/node{numa}/cpulist")).parse().unwrap_or_default()
}

impl Runner {
    /// From now on runs are told of the devices that they hold.
    pub(crate) fn know_of(&self, devices: Arc<Devices>) {
        // Whoever comes second knows the same devices.
        let _ = self.shared().devices.set(devices);
    }
}

impl Shared {
    /// Looks at the node's GPUs before they are named to the first run that holds some.
    pub(super) async fn know_devices(&self, held: &Reservation) {
        let Some(devices) = self.devices.get().filter(|_| !held.gpus.is_empty()) else { return };
        if devices.facts().is_empty() {
            let devices = devices.clone();
            // Where nothing is found, the run is told numbers.
            let _ = blocking(move || Ok(devices.look())).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_processors_come_before_those_of_a_numa_node() {
        let held = |cpus: &str, numa| Reservation {
            cpus: cpus.parse().unwrap(),
            numa,
            ..Reservation::default()
        };
        assert!(of(&held("", None), false).is_none());
        assert!(of(&held("0-1", Some(0)), true).is_none(), "its engine does it");
        let both = of(&held("1", Some(0)), false);
        assert_eq!((both.cpus().to_string().as_str(), both.numa), ("1", Some(0)));
        let all = text(format!("{NODES}/node0/cpulist")).trim().to_owned();
        assert_eq!(of(&held("", Some(0)), false).cpus().to_string(), all);
        let none = of(&held("", Some(4095)), false);
        assert!(none.cpus().is_empty() && none.numa == Some(4095));
    }
}
