//! What can be counted, in the text form that Prometheus reads.

use std::collections::HashMap;
use std::fmt::Write;

use hostler_model::{Health, Phase, RunId};

use super::Door;
use crate::facts::hottest;
use crate::metrics::agent_memory;
use crate::runner::Usage;
use crate::supervisor::ServiceView;

/// One family of samples: its name, kind, help, and how to find the number of a workload.
struct Family {
    name: &'static str,
    kind: &'static str,
    help: &'static str,
    of: fn(&ServiceView, Option<&Usage>) -> Option<f64>,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "hostler_workload_up",
        kind: "gauge",
        help: "1 while it runs.",
        of: |service, _| Some(flag(service.status.phase == Phase::Running)),
    },
    Family {
        name: "hostler_workload_healthy",
        kind: "gauge",
        help: "1 when its health checks say so, absent before they say anything.",
        of: |service, _| service.status.health.map(|health| flag(health == Health::Healthy)),
    },
    Family {
        name: "hostler_workload_runs_total",
        kind: "counter",
        help: "Runs made.",
        of: |service, _| Some(number(service.launched)),
    },
    Family {
        name: "hostler_workload_restarts_total",
        kind: "counter",
        help: "Runs made after the first.",
        of: |service, _| Some(number(service.launched.saturating_sub(1))),
    },
    Family {
        name: "hostler_workload_failures",
        kind: "gauge",
        help: "Failures in a row.",
        of: |service, _| Some(f64::from(service.status.failures)),
    },
    Family {
        name: "hostler_workload_missed_total",
        kind: "counter",
        help: "Scheduled times that were left out.",
        of: |service, _| Some(number(service.status.missed)),
    },
    Family {
        name: "hostler_workload_memory_bytes",
        kind: "gauge",
        help: "Memory in use.",
        of: |_, usage| usage.map(|usage| number(usage.memory.get())),
    },
    Family {
        name: "hostler_workload_cpu_seconds",
        kind: "gauge",
        help: "Processor time of the present run.",
        of: |_, usage| usage.map(|usage| usage.cpu.as_secs_f64()),
    },
    Family {
        name: "hostler_workload_processes",
        kind: "gauge",
        help: "Processes and threads.",
        of: |_, usage| usage.map(|usage| f64::from(usage.pids)),
    },
];

fn flag(is_so: bool) -> f64 {
    f64::from(u8::from(is_so))
}

#[expect(clippy::cast_precision_loss, reason = "samples are floating point numbers")]
fn number(number: u64) -> f64 {
    number as f64
}

impl Door {
    pub async fn metrics(&self) -> String {
        let services = self.services().await;
        let usages: HashMap<RunId, Usage> = self.parts.runner.usages().await.into_iter().collect();
        let mut text = String::new();
        for family in FAMILIES {
            let samples = services.iter().filter_map(|service| {
                let usage = service.live.and_then(|live| usages.get(&live.run));
                let value = (family.of)(service, usage)?;
                let (name, project) = (service.name(), &service.assignment.project_name);
                Some((format!("{{workload=\"{name}\",project=\"{project}\"}}"), value))
            });
            write_family(&mut text, family.name, family.kind, family.help, samples);
        }
        let phases = services.iter().map(|service| {
            let (name, phase) = (service.name(), service.status.phase);
            let project = &service.assignment.project_name;
            let labels = format!("{{workload=\"{name}\",project=\"{project}\",phase=\"{phase}\"}}");
            (labels, 1.0)
        });
        let help = "1 for the phase that it is in.";
        write_family(&mut text, "hostler_workload_phase", "gauge", help, phases);
        let whole = |value: f64| std::iter::once((String::new(), value));
        let memory = whole(number(agent_memory().get()));
        let help = "Memory of the agent itself.";
        write_family(&mut text, "hostler_agent_memory_bytes", "gauge", help, memory);
        let live = self.parts.runner.live().len();
        let live = whole(number(u64::try_from(live).unwrap_or(u64::MAX)));
        let help = "Runs that live.";
        write_family(&mut text, "hostler_agent_runs_active", "gauge", help, live);
        let tidied = self.parts.runner.images().news().counts();
        let tidied = [("removed", tidied.removed), ("failed", tidied.failed)].into_iter();
        let tidied = tidied.map(|(how, count)| (format!("{{outcome=\"{how}\"}}"), number(count)));
        let help = "Versions of images removed from this node because nobody needs them, or that could not be.";
        write_family(&mut text, "hostler_agent_images_tidied_total", "counter", help, tidied);
        let day = self.parts.tally.by_what().into_iter();
        let day = day.map(|(what, bytes)| (format!("{{what=\"{what}\"}}"), number(bytes)));
        let help = "Written to disk today (UTC) by the agent and its shims.";
        write_family(&mut text, "hostler_agent_written_bytes", "gauge", help, day);
        let writes = self.parts.tally.metrics();
        if let Some(budget) = writes.budget {
            let budget = number(budget.get());
            let help = "The most that should be written in a day.";
            let name = "hostler_agent_write_budget_bytes";
            write_family(&mut text, name, "gauge", help, whole(budget));
            let help = "Share of the day's budget that is written.";
            let share = whole(number(writes.today.get()) / budget.max(1.0));
            let name = "hostler_agent_write_budget_ratio";
            write_family(&mut text, name, "gauge", help, share);
        }
        if let Some(degrees) = hottest() {
            let help = "The hottest sensor of the machine.";
            let name = "hostler_agent_temperature_celsius";
            write_family(&mut text, name, "gauge", help, whole(degrees));
        }
        let version = format!("{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"));
        let info = std::iter::once((version, 1.0));
        write_family(&mut text, "hostler_agent_info", "gauge", "The agent's version.", info);
        text
    }
}

fn write_family(
    text: &mut String,
    name: &str,
    kind: &str,
    help: &str,
    samples: impl Iterator<Item = (String, f64)>,
) {
    let written = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    written.expect("writing to a String cannot fail");
    for (labels, value) in samples {
        writeln!(text, "{name}{labels} {value}").expect("writing to a String cannot fail");
    }
}
