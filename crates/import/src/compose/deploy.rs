//! How much, how many and where: `deploy`, and the older keys that say the same.

use hostler_model::{Mode, RestartOn};

use super::service::Reading;
use super::tree::Node;
use crate::quantities;

const PERIOD: f64 = 100_000.0;

pub fn read(reading: &mut Reading<'_, '_>, deploy: &Node<'_>) {
    for pair in deploy.pairs() {
        let key = format!("deploy.{}", pair.key);
        let value = &pair.value;
        match pair.key.as_str() {
            "replicas" => replicas(reading, &key, value),
            "mode" => match value.scalar().unwrap_or_default() {
                "global" => {
                    reading.spec.placement.every = true;
                    reading.spec.placement.count = None;
                }
                "global-job" | "replicated-job" => reading.spec.mode = Mode::Once,
                _ => {}
            },
            "labels" => {
                for (_, key, value) in value.entries() {
                    reading.spec.tags.push(format!("{key}={}", value.unwrap_or_default()));
                }
            }
            "resources" => resources(reading, value),
            "restart_policy" => restart(reading, value),
            "placement" => placement(reading, value),
            _ => reading.lost(pair.place, &key, "it has no equivalent"),
        }
    }
}

/// Copies run on as many nodes; two on one node are two workloads.
pub fn replicas(reading: &mut Reading<'_, '_>, key: &str, value: &Node<'_>) {
    match reading.parsed(key, value, |text| text.parse::<u32>().ok()) {
        Some(0) => reading.changed(
            value.place,
            key,
            "none were wanted; there is one as soon as it is applied, until \
             `hostler workload stop`",
        ),
        Some(1) | None => {}
        Some(count) => {
            reading.spec.placement.count = Some(count);
            reading.changed(
                value.place,
                key,
                format!(
                    "one on each of {count} nodes; several on one node are several \
                     workloads"
                ),
            );
        }
    }
}

/// The older keys, beside `deploy`.
pub fn limit(reading: &mut Reading<'_, '_>, key: &str, value: &Node<'_>) {
    match key {
        "mem_limit" => memory(reading, key, value),
        "mem_reservation" => {
            if let Some(memory) = reading.parsed(key, value, quantities::size) {
                reading.spec.resources.memory = memory;
            }
        }
        "cpus" => cpus(reading, key, value),
        "cpu_shares" => {
            if let Some(shares) = reading.parsed(key, value, |text| text.parse().ok())
                && shares != 0
            {
                let weight = quantities::weight_of_shares(shares);
                reading.spec.limits.cpu_weight = Some(weight);
                reading.changed(
                    value.place,
                    key,
                    format!(
                        "{shares} shares of the usual 1024 are a weight of {weight} against the \
                         usual 100"
                    ),
                );
            }
        }
        "cpu_quota" | "cpu_period" => {
            let number = |key: &str| reading.node.get(key)?.scalar()?.parse::<f64>().ok();
            let quota = number("cpu_quota").filter(|quota| *quota > 0.0);
            let period = number("cpu_period").filter(|period| *period > 0.0).unwrap_or(PERIOD);
            if let Some(cores) = quota.and_then(|quota| quantities::cores(quota / period)) {
                reading.spec.limits.cpu = Some(cores);
            }
        }
        _ => pids(reading, key, value),
    }
}

fn memory(reading: &mut Reading<'_, '_>, key: &str, value: &Node<'_>) {
    if let Some(memory) = reading.parsed(key, value, quantities::size) {
        reading.spec.limits.memory = Some(memory).filter(|memory| memory.get() > 0);
    }
}

fn cpus(reading: &mut Reading<'_, '_>, key: &str, value: &Node<'_>) {
    let cores = reading.parsed(key, value, |text| quantities::cores(text.parse().ok()?));
    reading.spec.limits.cpu = cores.filter(|cores| cores.millis() > 0);
}

fn pids(reading: &mut Reading<'_, '_>, key: &str, value: &Node<'_>) {
    let pids = reading.parsed(key, value, |text| text.parse::<i64>().ok());
    reading.spec.limits.pids = pids.and_then(|pids| u32::try_from(pids).ok()).filter(|n| *n > 0);
}

fn resources(reading: &mut Reading<'_, '_>, value: &Node<'_>) {
    for side in value.pairs() {
        for pair in side.value.pairs() {
            let key = format!("deploy.resources.{}.{}", side.key, pair.key);
            match (side.key.as_str(), pair.key.as_str()) {
                ("limits", "cpus") => cpus(reading, &key, &pair.value),
                ("limits", "memory") => memory(reading, &key, &pair.value),
                ("limits", "pids") => pids(reading, &key, &pair.value),
                ("reservations", "cpus") => {
                    let cores = reading
                        .parsed(&key, &pair.value, |text| quantities::cores(text.parse().ok()?));
                    reading.spec.resources.cores = cores.unwrap_or(reading.spec.resources.cores);
                }
                ("reservations", "memory") => {
                    if let Some(memory) = reading.parsed(&key, &pair.value, quantities::size) {
                        reading.spec.resources.memory = memory;
                    }
                }
                _ => reading.lost(pair.place, &key, "nothing of the kind is reserved"),
            }
        }
    }
}

fn restart(reading: &mut Reading<'_, '_>, value: &Node<'_>) {
    let (mode, on) = match value.get("condition").and_then(Node::scalar) {
        Some("none") => (Mode::Once, None),
        Some("on-failure") => (Mode::Forever, Some(RestartOn::Failure)),
        _ => (Mode::Forever, None),
    };
    reading.spec.mode = mode;
    reading.spec.restart.on = on;
    for pair in value.pairs() {
        let key = format!("deploy.restart_policy.{}", pair.key);
        match pair.key.as_str() {
            "condition" => {}
            "delay" => {
                if let Some(delay) = reading.parsed(&key, &pair.value, quantities::go_span) {
                    let restart = &mut reading.spec.restart;
                    (restart.delay, restart.max_delay, restart.factor) = (delay, delay, 1);
                }
            }
            "max_attempts" => {
                let attempts = reading.parsed(&key, &pair.value, |text| text.parse::<u32>().ok());
                reading.spec.restart.attempts = attempts.filter(|attempts| *attempts > 0);
            }
            "window" => {
                if let Some(window) = reading.parsed(&key, &pair.value, quantities::go_span)
                    && !window.is_zero()
                {
                    reading.spec.restart.reset_after = window;
                    reading.changed(
                        pair.place,
                        &key,
                        "a run of this length counts as a good start; attempts are counted \
                         within `restart.window`",
                    );
                }
            }
            _ => reading.lost(pair.place, &key, "it has no equivalent"),
        }
    }
}

fn placement(reading: &mut Reading<'_, '_>, value: &Node<'_>) {
    for pair in value.pairs() {
        let key = format!("deploy.placement.{}", pair.key);
        if pair.key != "constraints" {
            reading.lost(pair.place, &key, "it has no equivalent");
            continue;
        }
        for (place, rule) in pair.value.texts() {
            let (what, wanted) = match rule.split_once("==") {
                Some((what, wanted)) => (what.trim(), wanted.trim()),
                None => ("", ""),
            };
            if let Some(label) = what.strip_prefix("node.labels.") {
                reading.spec.placement.selector.insert(label.to_owned(), wanted.to_owned());
            } else if what == "node.hostname"
                && let Ok(node) = wanted.parse()
            {
                reading.spec.placement.node = Some(node);
            } else {
                reading.lost(
                    place,
                    &key,
                    format!(
                        "`{rule}` cannot be said; give nodes labels and use `placement.selector`"
                    ),
                );
            }
        }
    }
}
