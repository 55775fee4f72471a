//! The devices as the driver's library tells of them.
//!
//! The library is opened when it is first asked, and stays open as long as there are devices: opening
//! it anew may take seconds where nothing else keeps the driver awake. Device numbers are the library's,
//! which are in the order of the bus. A machine without the library, the driver or devices has none.

use std::sync::{Arc, Mutex, PoisonError};

use hostler_model::{Bytes, GpuFact, GpuMetrics};
use nvml_wrapper::bitmasks::event::EventTypes;
use nvml_wrapper::enum_wrappers::device::TemperatureSensor;
use nvml_wrapper::enums::event::XidError;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, EventSet, Nvml};

use super::{GpuError, Gpus};
use crate::facts::text;

/// How long the library waits for an error before it is asked whether to go on.
const PATIENCE_MS: u32 = 500;
/// "GPU has fallen off the bus".
const LOST: u64 = 79;

#[derive(Default)]
pub struct Library {
    open: Mutex<Option<Arc<Nvml>>>,
}

impl Library {
    /// The library, where it is there and knows of devices.
    fn get(&self) -> Option<Arc<Nvml>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.is_none() {
            let found = Nvml::init().ok()?;
            *open = (count(&found) > 0).then(|| Arc::new(found));
        }
        open.clone()
    }
}

fn count(nvml: &Nvml) -> u32 {
    nvml.device_count().unwrap_or(0)
}

impl Gpus for Library {
    fn list(&self) -> Vec<GpuFact> {
        let Some(nvml) = self.get() else { return Vec::new() };
        let driver = nvml.sys_driver_version().unwrap_or_default();
        (0..count(&nvml)).map(|index| fact(&nvml, index, &driver)).collect()
    }

    fn sample(&self) -> Vec<GpuMetrics> {
        let Some(nvml) = self.get() else { return Vec::new() };
        let each = (0..count(&nvml)).filter_map(|index| {
            let device = nvml.device_by_index(index).ok()?;
            Some(metrics(index, &device))
        });
        each.collect()
    }

    fn listen(&self, is_over: &dyn Fn() -> bool, tell: &mut dyn FnMut(GpuError)) {
        let Some(nvml) = self.get() else { return };
        let Some(set) = register(&nvml) else {
            tracing::debug!("gpus do not tell of errors");
            return;
        };
        while !is_over() {
            match set.wait(PATIENCE_MS) {
                Ok(event) => {
                    let xid = match event.event_data {
                        Some(XidError::Value(xid)) => xid,
                        Some(XidError::Unknown) | None => continue,
                    };
                    match event.device.index() {
                        Ok(index) => tell(GpuError { index, xid }),
                        Err(_) => lost(&nvml).for_each(|index| tell(GpuError { index, xid })),
                    }
                }
                Err(NvmlError::Timeout) => {}
                Err(NvmlError::GpuLost) => {
                    lost(&nvml).for_each(|index| tell(GpuError { index, xid: LOST }));
                    return;
                }
                Err(error) => {
                    tracing::warn!(%error, "gpu errors cannot be listened for");
                    return;
                }
            }
        }
    }
}

fn fact(nvml: &Nvml, index: u32, driver: &str) -> GpuFact {
    let asked = nvml.device_by_index(index).and_then(|device| Ok((device.uuid()?, device)));
    let (uuid, device) = match asked {
        Ok(asked) => asked,
        Err(error) => {
            let trouble = Some(format!("it does not answer: {error}"));
            return GpuFact { index, driver: driver.to_owned(), trouble, ..GpuFact::default() };
        }
    };
    let memory = device.memory_info();
    let is_lost = matches!(memory, Err(NvmlError::GpuLost));
    GpuFact {
        index,
        uuid,
        model: device.name().unwrap_or_default(),
        memory: Bytes::new(memory.map_or(0, |memory| memory.total)),
        driver: driver.to_owned(),
        numa: device.pci_info().ok().and_then(|pci| numa(&pci.bus_id)),
        trouble: is_lost.then(|| super::xid::words(LOST)),
    }
}

/// The kernel knows where a device is plugged in; it says -1 where that makes no difference.
fn numa(bus_id: &str) -> Option<u32> {
    let name = kernel_name(bus_id)?;
    text(format!("/sys/bus/pci/devices/{name}/numa_node")).trim().parse().ok()
}

/// The library writes domains with eight digits, the kernel with four.
fn kernel_name(bus_id: &str) -> Option<String> {
    let (domain, rest) = bus_id.trim().split_once(':')?;
    let domain = u32::from_str_radix(domain, 16).ok()?;
    Some(format!("{domain:04x}:{}", rest.to_lowercase()))
}

fn metrics(index: u32, device: &Device<'_>) -> GpuMetrics {
    let busy = device.utilization_rates().ok().map(|rates| f64::from(rates.gpu) / 100.0);
    GpuMetrics {
        index,
        utilisation: busy,
        memory_used: Bytes::new(device.memory_info().map_or(0, |memory| memory.used)),
        temperature: device.temperature(TemperatureSensor::Gpu).ok().map(f64::from),
        power: device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1000.0),
        processes: device.running_compute_processes_count().unwrap_or(0),
        errors: 0,
    }
}

/// Every device that tells of errors, in one set. A set that a device refuses is of no use any more, so
/// each is tried with a set of its own first.
fn register(nvml: &Nvml) -> Option<EventSet<'_>> {
    const WANTED: EventTypes = EventTypes::CRITICAL_XID_ERROR;
    let device = |index| nvml.device_by_index(index).ok();
    let tells = |device: &Device<'_>| {
        let set = nvml.create_event_set();
        set.is_ok_and(|set| device.register_events(WANTED, set).is_ok())
    };
    let telling: Vec<_> = (0..count(nvml)).filter_map(device).filter(tells).collect();
    let set = (!telling.is_empty()).then(|| nvml.create_event_set().ok())??;
    telling.iter().try_fold(set, |set, device| device.register_events(WANTED, set).ok())
}

/// Devices that do not answer any more.
fn lost(nvml: &Nvml) -> impl Iterator<Item = u32> {
    let is_lost = |index: &u32| {
        let asked = nvml.device_by_index(*index).and_then(|device| device.memory_info());
        matches!(asked, Err(NvmlError::GpuLost))
    };
    (0..count(nvml)).filter(is_lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buses_are_named_as_the_kernel_names_them() {
        assert_eq!(kernel_name("00000000:C6:00.0").as_deref(), Some("0000:c6:00.0"));
        assert_eq!(kernel_name("00010000:01:00.0").as_deref(), Some("10000:01:00.0"));
        assert_eq!(kernel_name("nonsense"), None);
    }

    #[test]
    fn a_machine_with_or_without_devices_answers() {
        let library = Library::default();
        let listed = library.list();
        assert_eq!(library.sample().len(), listed.iter().filter(|g| g.trouble.is_none()).count());
    }
}
