//! Temperatures and the health of disks, as the kernel's `/sys` tells them.
//!
//! Nothing is asked of a device but by reading files that the kernel keeps: no program is started, no
//! raw command is sent, no right beyond reading is needed. So what is told is what the kernel knows:
//! thermal zones and sensor chips, the wear that eMMC devices count themselves (in steps of a tenth of
//! their life), and state and temperature of NVMe controllers. A machine that has none of these tells
//! nothing, which is the same as not being asked.
//!
//! Every function takes the place where `/sys` is mounted, so that a test can give it another one.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hostler_model::{DiskHealthFact, TemperatureFact};

use super::text;

pub(crate) const SYS: &str = "/sys";
/// More than any machine has; a driver that goes mad must not fill a message.
const SENSORS_MAX: usize = 64;
const TRIPS_MAX: u32 = 16;

/// Every sensor that shows something, by name.
pub(crate) fn temperatures(sys: &Path) -> Vec<TemperatureFact> {
    let mut found = zones(&sys.join("class/thermal"));
    let zones: HashSet<String> = found.iter().map(|zone| zone.sensor.clone()).collect();
    // The kernel shows thermal zones a second time, as chips of the same name.
    let chips = chips(&sys.join("class/hwmon"));
    found.extend(chips.into_iter().filter(|chip| !zones.contains(&chip.sensor)));
    found.sort_by(|a, b| a.sensor.cmp(&b.sensor));
    found.truncate(SENSORS_MAX);
    found
}

/// The hottest of them, in degrees Celsius. Asked often, so nothing else is read.
pub(crate) fn hottest(sys: &Path) -> Option<f64> {
    let zones = entries(&sys.join("class/thermal"), "thermal_zone").into_iter();
    let zones = zones.map(|zone| zone.join("temp"));
    let chips = entries(&sys.join("class/hwmon"), "hwmon").into_iter();
    let inputs = chips.flat_map(|chip| {
        let numbers = input_numbers(&chip).into_iter();
        numbers.map(move |n| chip.join(format!("temp{n}_input")))
    });
    zones.chain(inputs).filter_map(|file| celsius(&file)).reduce(f64::max)
}

fn zones(folder: &Path) -> Vec<TemperatureFact> {
    let zones = entries(folder, "thermal_zone").into_iter();
    zones
        .filter_map(|zone| {
            Some(TemperatureFact {
                celsius: celsius(&zone.join("temp"))?,
                sensor: line(&zone.join("type")).unwrap_or_else(|| name_of(&zone)),
                critical: critical_trip(&zone),
            })
        })
        .collect()
}

fn critical_trip(zone: &Path) -> Option<f64> {
    let trips = (0..TRIPS_MAX).map(|n| zone.join(format!("trip_point_{n}_type")));
    let (n, _) = trips.enumerate().find(|(_, file)| text(file).trim() == "critical")?;
    celsius(&zone.join(format!("trip_point_{n}_temp")))
}

fn chips(folder: &Path) -> Vec<TemperatureFact> {
    let chips = entries(folder, "hwmon").into_iter();
    chips.flat_map(|chip| inputs(&chip)).collect()
}

fn inputs(chip: &Path) -> Vec<TemperatureFact> {
    let name = line(&chip.join("name")).unwrap_or_else(|| name_of(chip));
    input_numbers(chip)
        .into_iter()
        .filter_map(|n| {
            let file = |what: &str| chip.join(format!("temp{n}_{what}"));
            let sensor = match line(&file("label")) {
                Some(label) => format!("{name} {label}"),
                None if n == 1 => name.clone(),
                None => format!("{name} {n}"),
            };
            let critical = celsius(&file("crit"));
            Some(TemperatureFact { sensor, celsius: celsius(&file("input"))?, critical })
        })
        .collect()
}

fn input_numbers(chip: &Path) -> Vec<u32> {
    let inputs = entries(chip, "temp").into_iter();
    let number = |path: PathBuf| {
        name_of(&path).strip_prefix("temp")?.strip_suffix("_input")?.parse::<u32>().ok()
    };
    inputs.filter_map(number).collect()
}

/// Every disk that says something about itself, by name.
pub(super) fn disk_health(sys: &Path) -> Vec<DiskHealthFact> {
    let cards = entries(&sys.join("block"), "mmcblk").into_iter().filter_map(|disk| card(&disk));
    let nvme = entries(&sys.join("class/nvme"), "nvme").into_iter().filter_map(|disk| nvme(&disk));
    let mut found: Vec<DiskHealthFact> = cards.chain(nvme).collect();
    found.sort_by(|a, b| a.device.cmp(&b.device));
    found
}

/// An eMMC device, or an SD card. Boot areas and the like are devices of their own and say the same.
fn card(disk: &Path) -> Option<DiskHealthFact> {
    let device = name_of(disk);
    if !device.trim_start_matches("mmcblk").bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let about = disk.join("device");
    let kind = match line(&about.join("type")).as_deref() {
        Some("MMC") => "emmc",
        Some("SD") => "sd",
        _ => return None,
    };
    Some(DiskHealthFact {
        device,
        kind: kind.to_owned(),
        model: line(&about.join("name")).unwrap_or_default(),
        life_used: life_used(&text(about.join("life_time"))),
        spare: spare(&text(about.join("pre_eol_info"))),
        ..DiskHealthFact::default()
    })
}

/// The worse of its two kinds of cells: each is told in steps of ten percent, 11 is beyond its estimate,
/// 0 says nothing.
fn life_used(text: &str) -> Option<u8> {
    let steps = text.split_ascii_whitespace().filter_map(hexadecimal);
    match steps.filter(|step| (1..=11).contains(step)).max()? {
        11 => Some(101),
        step => u8::try_from(step * 10).ok(),
    }
}

fn spare(text: &str) -> Option<String> {
    let words = match hexadecimal(text.trim())? {
        1 => "normal",
        2 => "warning",
        3 => "urgent",
        _ => return None,
    };
    Some(words.to_owned())
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

fn nvme(controller: &Path) -> Option<DiskHealthFact> {
    let device = name_of(controller);
    if !device.trim_start_matches("nvme").bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // The chip lies directly below the controller, or in a folder below its device.
    let places = [controller.to_owned(), controller.join("device/hwmon")];
    let mut chips = places.iter().flat_map(|place| entries(place, "hwmon"));
    let temperature = chips.find_map(|chip| celsius(&chip.join("temp1_input")));
    Some(DiskHealthFact {
        device,
        kind: "nvme".to_owned(),
        model: line(&controller.join("model")).unwrap_or_default(),
        state: line(&controller.join("state")),
        celsius: temperature,
        ..DiskHealthFact::default()
    })
}

/// What lies in a folder under names that begin so, in order.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(prefix)))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn line(file: &Path) -> Option<String> {
    Some(text(file).trim().to_owned()).filter(|line| !line.is_empty())
}

/// From thousandths; values that no sensor can mean are left out.
fn celsius(file: &Path) -> Option<f64> {
    let thousandths: f64 = text(file).trim().parse().ok()?;
    Some(thousandths / 1000.0).filter(|degrees| (-40.0..=150.0).contains(degrees))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/sys` with these files.
    fn sys(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        root
    }

    #[test]
    fn a_board_with_a_thermal_zone_and_an_emmc() {
        let root = sys(&[
            ("class/thermal/thermal_zone0/type", "cpu-thermal\n"),
            ("class/thermal/thermal_zone0/temp", "48312\n"),
            ("class/thermal/thermal_zone0/trip_point_0_type", "passive\n"),
            ("class/thermal/thermal_zone0/trip_point_0_temp", "80000\n"),
            ("class/thermal/thermal_zone0/trip_point_1_type", "critical\n"),
            ("class/thermal/thermal_zone0/trip_point_1_temp", "110000\n"),
            ("class/thermal/cooling_device0/type", "fan\n"),
            ("class/hwmon/hwmon0/name", "cpu-thermal\n"),
            ("class/hwmon/hwmon0/temp1_input", "48312\n"),
            ("block/mmcblk0/device/type", "MMC\n"),
            ("block/mmcblk0/device/name", "DG4016\n"),
            ("block/mmcblk0/device/life_time", "0x02 0x04\n"),
            ("block/mmcblk0/device/pre_eol_info", "0x01\n"),
            ("block/mmcblk0boot0/device/type", "MMC\n"),
            ("block/sda/device/model", "disk\n"),
        ]);
        let critical = Some(110.0);
        let zone = TemperatureFact { sensor: "cpu-thermal".into(), celsius: 48.312, critical };
        assert_eq!(temperatures(root.path()), [zone]);
        assert_eq!(hottest(root.path()), Some(48.312));
        let health = disk_health(root.path());
        assert_eq!(health.len(), 1);
        assert_eq!((health[0].device.as_str(), health[0].kind.as_str()), ("mmcblk0", "emmc"));
        assert_eq!((health[0].model.as_str(), health[0].life_used), ("DG4016", Some(40)));
        assert_eq!(health[0].spare.as_deref(), Some("normal"));
        assert!(!health[0].is_worn());
    }

    #[test]
    fn a_server_with_chips_and_nvme() {
        let root = sys(&[
            ("class/hwmon/hwmon3/name", "coretemp\n"),
            ("class/hwmon/hwmon3/temp1_input", "41000\n"),
            ("class/hwmon/hwmon3/temp1_label", "Package id 0\n"),
            ("class/hwmon/hwmon3/temp1_crit", "100000\n"),
            ("class/hwmon/hwmon3/temp2_input", "39500\n"),
            ("class/hwmon/hwmon4/name", "broken\n"),
            ("class/hwmon/hwmon4/temp1_input", "-273150\n"),
            ("class/hwmon/hwmon4/temp2_input", "no number\n"),
            ("class/nvme/nvme0/model", "Fast 960  \n"),
            ("class/nvme/nvme0/state", "live\n"),
            ("class/nvme/nvme0/hwmon5/temp1_input", "36850\n"),
            ("class/nvme/nvme1/model", "Old 480\n"),
            ("class/nvme/nvme1/state", "dead\n"),
            ("class/nvme/nvme1/device/hwmon/hwmon6/temp1_input", "71850\n"),
        ]);
        let found = temperatures(root.path());
        let names: Vec<&str> = found.iter().map(|sensor| sensor.sensor.as_str()).collect();
        assert_eq!(names, ["coretemp 2", "coretemp Package id 0"]);
        assert_eq!(found[1].critical, Some(100.0));
        assert_eq!(hottest(root.path()), Some(41.0));
        let health = disk_health(root.path());
        assert_eq!(
            health.iter().map(|d| d.celsius).collect::<Vec<_>>(),
            [Some(36.85), Some(71.85)]
        );
        assert_eq!(health[0].model, "Fast 960");
        assert!(!health[0].is_failing() && health[1].is_failing());
    }

    #[test]
    fn wear_is_the_worse_of_two_and_may_be_unknown() {
        for (text, used) in [
            ("0x01 0x01\n", Some(10)),
            ("0x00 0x0a\n", Some(100)),
            ("0x0b 0x01\n", Some(101)),
            ("0x00 0x00\n", None),
            ("0xff 0x20\n", None),
            ("", None),
        ] {
            assert_eq!(life_used(text), used, "{text:?}");
        }
        for (text, words) in
            [("0x01\n", Some("normal")), ("0x02", Some("warning")), ("0x03", Some("urgent"))]
        {
            assert_eq!(spare(text).as_deref(), words);
        }
        assert_eq!(spare("0x00\n"), None);
    }

    #[test]
    fn a_machine_without_sensors_tells_nothing() {
        let root = tempfile::tempdir().unwrap();
        assert!(temperatures(root.path()).is_empty() && disk_health(root.path()).is_empty());
        assert_eq!(hottest(root.path()), None);
    }
}
