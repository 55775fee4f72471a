//! What to think of a machine: measurements in, findings out.
//!
//! Thresholds are on the side of quiet: what is a finding is worth somebody's time. A file system that cannot be
//! written is not judged by how full it is, a sensor without a critical temperature of its own is judged by a usual
//! one, and what was not measured is not found.

use std::time::Duration;

use hostler_model::host::{HealthLevel, HostFinding, HostHealth, HostMount, HostVitals, Vital};
use hostler_model::{Span, Timestamp};

/// From where on something is a warning, and from where on it is critical.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds<T> {
    pub warning: T,
    pub critical: T,
}

impl<T: PartialOrd> Bounds<T> {
    fn of(&self, value: &T) -> Option<HealthLevel> {
        if *value >= self.critical {
            Some(HealthLevel::Critical)
        } else if *value >= self.warning {
            Some(HealthLevel::Warning)
        } else {
            None
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds {
    /// Of the load over five minutes, for each core.
    pub load: Bounds<f64>,
    /// Of memory in use, in percent.
    pub memory: Bounds<u64>,
    pub swap: Bounds<u64>,
    pub disk: Bounds<u64>,
    pub inodes: Bounds<u64>,
    /// How far the clock may be off.
    pub clock: Bounds<Duration>,
    /// How far below its critical temperature a sensor may be, in degrees.
    pub temperature_margin: Bounds<f64>,
    /// The critical temperature of a sensor that names none, in degrees Celsius.
    pub temperature_usual: f64,
    /// How long a certificate is valid at least.
    pub certificate: Bounds<Duration>,
    pub zombies: Bounds<u32>,
}

impl Default for Thresholds {
    fn default() -> Thresholds {
        Thresholds {
            load: Bounds { warning: 1.5, critical: 4.0 },
            memory: Bounds { warning: 90, critical: 97 },
            swap: Bounds { warning: 60, critical: 90 },
            disk: Bounds { warning: 85, critical: 95 },
            inodes: Bounds { warning: 85, critical: 95 },
            clock: Bounds { warning: Duration::from_secs(5), critical: Duration::from_secs(60) },
            temperature_margin: Bounds { warning: 10.0, critical: 3.0 },
            temperature_usual: 100.0,
            certificate: Bounds { warning: Duration::from_hours(6), critical: Duration::ZERO },
            zombies: Bounds { warning: 100, critical: 2000 },
        }
    }
}

/// When a machine was asked, and when it had answered, by our own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub from: Timestamp,
    pub to: Timestamp,
}

pub fn judge(vitals: HostVitals, asked: Asked, thresholds: &Thresholds) -> HostHealth {
    let mut found = Findings(Vec::new());
    found.load(&vitals, thresholds);
    found.memory(&vitals, thresholds);
    for mount in vitals.mounts.iter().filter(|mount| !mount.is_read_only) {
        found.mount(mount, thresholds);
    }
    found.services(&vitals);
    found.clock(vitals.time, asked, thresholds);
    found.temperatures(&vitals, thresholds);
    found.certificate(&vitals, asked.to, thresholds);
    if let Some(level) = thresholds.zombies.of(&vitals.zombies) {
        let text = format!(
            "{} processes are dead and nobody has waited for them; restart their parent",
            vitals.zombies
        );
        found.say(Vital::Processes, level, text);
    }
    if let Some(why) = &vitals.reboot {
        let text = format!("a restart is wanted: {why}");
        found.say(Vital::Reboot, HealthLevel::Warning, text);
    }
    let mut findings = found.0;
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.level));
    let level = findings.first().map_or(HealthLevel::Ok, |finding| finding.level);
    HostHealth { level, findings, vitals }
}

struct Findings(Vec<HostFinding>);

impl Findings {
    fn say(&mut self, about: Vital, level: HealthLevel, message: String) {
        self.0.push(HostFinding { about, level, message });
    }

    fn load(&mut self, vitals: &HostVitals, thresholds: &Thresholds) {
        let load = vitals.load[1];
        let each = load / f64::from(vitals.cores.max(1));
        if let Some(level) = thresholds.load.of(&each) {
            let text = format!(
                "the load is {load:.1} on {} cores; `hostler node processes ls` shows what runs",
                vitals.cores
            );
            self.say(Vital::Load, level, text);
        }
    }

    fn memory(&mut self, vitals: &HostVitals, thresholds: &Thresholds) {
        let used = vitals.memory.saturating_sub(vitals.memory_available);
        let percent = percent(used.get(), vitals.memory.get());
        if let Some(level) = thresholds.memory.of(&percent) {
            let text = format!(
                "{percent} % of {} are in use, {} are available",
                vitals.memory, vitals.memory_available
            );
            self.say(Vital::Memory, level, text);
        }
        let used = vitals.swap.saturating_sub(vitals.swap_free);
        let percent = self::percent(used.get(), vitals.swap.get());
        if let Some(level) = thresholds.swap.of(&percent) {
            let text = format!("{percent} % of {} swap are in use", vitals.swap);
            self.say(Vital::Swap, level, text);
        }
    }

    fn mount(&mut self, mount: &HostMount, thresholds: &Thresholds) {
        let point = &mount.point;
        if let Some(level) = thresholds.disk.of(&mount.used_percent()) {
            let text = format!(
                "{point} is {} % full, {} are available; `hostler node disk --largest {point}` shows what fills it",
                mount.used_percent(),
                mount.available
            );
            self.say(Vital::Disk, level, text);
        }
        if let Some(level) = thresholds.inodes.of(&mount.inodes_percent()) {
            let left = mount.inodes.saturating_sub(mount.inodes_used);
            let text = format!(
                "{} % of the inodes of {point} are in use, {left} files more can be made",
                mount.inodes_percent()
            );
            self.say(Vital::Inodes, level, text);
        }
    }

    fn services(&mut self, vitals: &HostVitals) {
        let Some(failed) = vitals.failed_services.as_deref().filter(|failed| !failed.is_empty())
        else {
            return;
        };
        let text = match failed {
            [one] => format!("{one} failed; `hostler node services status {one}` says why"),
            many => format!("{} services failed: {}", many.len(), some(many)),
        };
        self.say(Vital::Services, HealthLevel::Critical, text);
    }

    /// Off is what lies outside the time in which it was asked.
    fn clock(&mut self, time: Timestamp, asked: Asked, thresholds: &Thresholds) {
        let behind = asked.from.micros().saturating_sub(time.micros());
        let ahead = time.micros().saturating_sub(asked.to.micros());
        let off = Duration::from_micros(u64::try_from(behind.max(ahead)).unwrap_or(0));
        if let Some(level) = thresholds.clock.of(&off) {
            let which = if behind > ahead { "behind" } else { "ahead of" };
            let text = format!(
                "the clock is {} {which} the server's; let the machine keep its time by NTP",
                Span::from_millis(u64::try_from(off.as_millis()).unwrap_or(u64::MAX))
            );
            self.say(Vital::Clock, level, text);
        }
    }

    fn temperatures(&mut self, vitals: &HostVitals, thresholds: &Thresholds) {
        for sensor in &vitals.temperatures {
            let critical = sensor.critical.filter(|degrees| *degrees > 0.0);
            let critical = critical.unwrap_or(thresholds.temperature_usual);
            let margin = critical - sensor.celsius;
            let bounds = thresholds.temperature_margin;
            let level = match margin {
                margin if margin <= bounds.critical => HealthLevel::Critical,
                margin if margin <= bounds.warning => HealthLevel::Warning,
                _ => continue,
            };
            let text = format!(
                "{} has {:.0} °C, critical are {critical:.0}; look after its cooling",
                sensor.sensor, sensor.celsius
            );
            self.say(Vital::Temperature, level, text);
        }
    }

    fn certificate(&mut self, vitals: &HostVitals, now: Timestamp, thresholds: &Thresholds) {
        let Some(expires) = vitals.certificate_expires else { return };
        let left = u64::try_from(expires.micros().saturating_sub(now.micros())).unwrap_or(0);
        let left = Duration::from_micros(left);
        let level = if left <= thresholds.certificate.critical {
            HealthLevel::Critical
        } else if left <= thresholds.certificate.warning {
            HealthLevel::Warning
        } else {
            return;
        };
        let left = Span::from_secs(left.as_secs());
        let text = format!(
            "the agent's certificate is valid for {left} more and should have been renewed; see the agent's log"
        );
        self.say(Vital::Certificate, level, text);
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    u64::try_from(u128::from(part) * 100 / u128::from(whole.max(1))).unwrap_or(100)
}

fn some(names: &[String]) -> String {
    match names.len() {
        ..=5 => names.join(", "),
        count => format!("{} and {} more", names[..4].join(", "), count - 4),
    }
}

#[cfg(test)]
mod tests {
    use hostler_model::{Bytes, TemperatureFact};

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    fn well() -> HostVitals {
        HostVitals {
            time: NOW,
            uptime_seconds: 100,
            cores: 4,
            load: [9.0, 1.0, 1.0],
            memory: Bytes::mib(1000),
            memory_available: Bytes::mib(500),
            swap: Bytes::mib(100),
            swap_free: Bytes::mib(100),
            mounts: vec![mount("/", 50, 50)],
            failed_services: Some(Vec::new()),
            temperatures: vec![sensor(50.0, Some(90.0)), sensor(60.0, None)],
            reboot: None,
            certificate_expires: Some(NOW.plus(Duration::from_hours(20))),
            zombies: 1,
        }
    }

    fn mount(point: &str, used: u64, available: u64) -> HostMount {
        HostMount {
            point: point.to_owned(),
            used: Bytes::mib(used),
            available: Bytes::mib(available),
            size: Bytes::mib(used + available),
            inodes: 1000,
            inodes_used: 10,
            ..HostMount::default()
        }
    }

    fn sensor(celsius: f64, critical: Option<f64>) -> TemperatureFact {
        TemperatureFact { sensor: "cpu".into(), celsius, critical }
    }

    fn judged(vitals: HostVitals) -> HostHealth {
        judge(vitals, Asked { from: NOW, to: NOW }, &Thresholds::default())
    }

    fn levels(health: &HostHealth) -> Vec<(Vital, HealthLevel)> {
        health.findings.iter().map(|finding| (finding.about, finding.level)).collect()
    }

    #[test]
    fn a_machine_that_is_well_has_no_findings() {
        let health = judged(well());
        assert_eq!((health.level, health.findings), (HealthLevel::Ok, Vec::new()));
        let nothing = judged(HostVitals { time: NOW, ..HostVitals::default() });
        assert_eq!(nothing.level, HealthLevel::Ok, "what was not measured is not found");
    }

    #[test]
    fn each_sign_is_found_from_its_bound_on() {
        use HealthLevel::{Critical, Warning};
        let change = |alter: fn(&mut HostVitals)| {
            let mut vitals = well();
            alter(&mut vitals);
            vitals
        };
        let table: Vec<(HostVitals, Option<(Vital, HealthLevel)>)> = vec![
            (change(|v| v.load[1] = 5.9), None),
            (change(|v| v.load[1] = 6.0), Some((Vital::Load, Warning))),
            (change(|v| v.load[1] = 16.0), Some((Vital::Load, Critical))),
            (change(|v| v.memory_available = Bytes::mib(101)), None),
            (change(|v| v.memory_available = Bytes::mib(100)), Some((Vital::Memory, Warning))),
            (change(|v| v.memory_available = Bytes::mib(30)), Some((Vital::Memory, Critical))),
            (change(|v| v.memory_available = Bytes::ZERO), Some((Vital::Memory, Critical))),
            (change(|v| v.swap_free = Bytes::mib(40)), Some((Vital::Swap, Warning))),
            (change(|v| v.swap_free = Bytes::ZERO), Some((Vital::Swap, Critical))),
            (change(|v| v.mounts[0] = mount("/", 84, 16)), None),
            (change(|v| v.mounts[0] = mount("/", 85, 15)), Some((Vital::Disk, Warning))),
            (change(|v| v.mounts[0] = mount("/", 95, 5)), Some((Vital::Disk, Critical))),
            (change(|v| v.mounts[0].inodes_used = 900), Some((Vital::Inodes, Warning))),
            (change(|v| v.mounts[0].inodes_used = 1000), Some((Vital::Inodes, Critical))),
            (change(|v| v.failed_services = None), None),
            (
                change(|v| v.failed_services = Some(vec!["nginx.service".into()])),
                Some((Vital::Services, Critical)),
            ),
            (change(|v| v.temperatures[0].celsius = 79.9), None),
            (change(|v| v.temperatures[0].celsius = 80.0), Some((Vital::Temperature, Warning))),
            (change(|v| v.temperatures[0].celsius = 88.0), Some((Vital::Temperature, Critical))),
            (change(|v| v.temperatures[1].celsius = 91.0), Some((Vital::Temperature, Warning))),
            (change(|v| v.reboot = Some("linux-image".into())), Some((Vital::Reboot, Warning))),
            (change(|v| v.certificate_expires = None), None),
            (
                change(|v| v.certificate_expires = Some(NOW.plus(Duration::from_hours(5)))),
                Some((Vital::Certificate, Warning)),
            ),
            (
                change(|v| v.certificate_expires = Some(NOW.minus(Duration::from_hours(5)))),
                Some((Vital::Certificate, Critical)),
            ),
            (change(|v| v.zombies = 100), Some((Vital::Processes, Warning))),
        ];
        for (vitals, expected) in table {
            let health = judged(vitals);
            assert_eq!(levels(&health), expected.into_iter().collect::<Vec<_>>(), "{health:?}");
            assert_eq!(health.level, expected.map_or(HealthLevel::Ok, |(_, level)| level));
        }
    }

    #[test]
    fn a_full_file_system_that_cannot_be_written_is_no_finding() {
        let image = HostMount { is_read_only: true, ..mount("/snap/x", 100, 0) };
        assert_eq!(judged(HostVitals { mounts: vec![image], ..well() }).level, HealthLevel::Ok);
    }

    #[test]
    fn a_clock_is_off_by_what_the_way_cannot_explain() {
        let second = Duration::from_secs(1);
        let asked = Asked { from: NOW, to: NOW.plus(10 * second) };
        let found = |time| {
            let health = judge(HostVitals { time, ..well() }, asked, &Thresholds::default());
            health.findings.into_iter().next().map(|finding| (finding.level, finding.message))
        };
        assert_eq!(found(NOW.plus(9 * second)), None);
        assert_eq!(found(NOW.plus(14 * second)), None);
        assert_eq!(found(NOW.minus(4 * second)), None);
        let (level, message) = found(NOW.minus(7 * second)).unwrap();
        assert_eq!(level, HealthLevel::Warning);
        assert!(message.contains("7s behind"), "{message}");
        let (level, message) = found(NOW.plus(110 * second)).unwrap();
        assert_eq!(level, HealthLevel::Critical);
        assert!(message.contains("ahead of"), "{message}");
    }

    #[test]
    fn the_worst_comes_first() {
        let health = judged(HostVitals {
            reboot: Some("x".into()),
            failed_services: Some((0..9).map(|n| format!("s{n}")).collect()),
            ..well()
        });
        assert_eq!(health.level, HealthLevel::Critical);
        assert_eq!(health.findings[0].about, Vital::Services);
        assert!(health.findings[0].message.ends_with("s3 and 5 more"));
        assert_eq!(health.findings[1].about, Vital::Reboot);
    }
}
