//! What a spec says, in words: what it reserves, where it may go, how it waits, in what it runs.

use std::fmt::Display;

use hostler_model::{
    Container, GpuRequest, Labels, NumaRequest, Resources, RetryPolicy, WorkloadSpec,
};

use super::task::quoted;
use crate::output::Description;

fn joined<T: Display>(items: &[T], between: &str) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

fn pairs(labels: &Labels) -> String {
    labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(",")
}

pub fn resources(text: &mut Description, spec: &WorkloadSpec) {
    let Resources { cores, exclusive, memory, disk, gpus, numa } = &spec.resources;
    let own = if *exclusive { ", of its own" } else { "" };
    text.pair("Cores", format!("{cores}{own}"))
        .pair("Memory", memory.to_string())
        .pair("Disk", (!disk.is_zero()).then(|| disk.to_string()))
        .pair("GPUs", (!gpus.is_none()).then(|| gpu_words(gpus)))
        .pair(
            "NUMA",
            numa.map(|numa| match numa {
                NumaRequest::Any => "any one".to_owned(),
                NumaRequest::Index(index) => format!("node {index}"),
            }),
        );
    let limits = &spec.limits;
    let cpu = limits.cpu.map(|cpu| format!("{cpu} cores"));
    let memory = limits.memory.map(|memory| format!("{memory} of memory"));
    text.pair("At most", [cpu, memory].into_iter().flatten().collect::<Vec<_>>().join(", "));
}

fn gpu_words(gpus: &GpuRequest) -> String {
    let share = (!gpus.share.is_whole())
        .then(|| format!("{} of each", f64::from(gpus.share.millis()) / 1000.0));
    let ids = (!gpus.ids.is_empty()).then(|| format!("numbers {}", joined(&gpus.ids, ", ")));
    let model = gpus.model.as_ref().map(|model| format!("model {model}"));
    let memory = (!gpus.memory.is_zero()).then(|| format!("with at least {}", gpus.memory));
    let words = [Some(gpus.count.to_string()), share, ids, model, memory];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

pub fn placement(text: &mut Description, spec: &WorkloadSpec) {
    let rules = &spec.placement;
    let strategy = rules.strategy.map(|strategy| match (&rules.over, &rules.near) {
        (Some(label), _) => format!("{strategy} over {label}"),
        (None, Some(place)) => format!("{strategy} near {place}"),
        (None, None) => strategy.to_string(),
    });
    text.pair("On node", rules.node.as_ref().map(ToString::to_string))
        .pair("Selector", pairs(&rules.selector))
        .pair("Only where", joined(&rules.constraints, "\n"))
        .pair("Rather where", joined(&rules.prefer, "\n"))
        .pair("Together", rules.together.join(", "))
        .pair("Apart", rules.apart.join(", "))
        .pair("Strategy", strategy)
        .pair("Tags", spec.tags.join(", "));
}

pub fn queue(text: &mut Description, spec: &WorkloadSpec) {
    let rules = &spec.queue;
    let after = rules.after.iter().map(|after| format!("{} ({})", after.task, after.on));
    text.pair("Priority", (rules.priority != 0).then(|| rules.priority.to_string()))
        .pair("After", after.collect::<Vec<_>>().join("\n"))
        .pair("Delay", rules.delay.map(|delay| delay.to_string()))
        .pair("Not before", rules.not_before.map(|time| time.to_string()))
        .pair("Start within", rules.start_within.map(|within| within.to_string()))
        .pair("Retries", (rules.retry.times > 0).then(|| retry_words(&rules.retry)))
        .pair("Preemptible", rules.preemptible.then(|| "yes".to_owned()))
        .pair("Nodes", rules.nodes.map(|nodes| format!("{nodes} at once")));
}

fn retry_words(retry: &RetryPolicy) -> String {
    let RetryPolicy { times, delay, on, .. } = retry;
    format!("up to {times}, after {}; the first after {delay}", joined(on, ", "))
}

pub fn secrets(text: &mut Description, spec: &WorkloadSpec) {
    let each = spec.secrets.iter().map(|given| match (&given.env, &given.file) {
        (Some(name), _) => format!("{} in the variable {name}", given.secret),
        (None, file) => {
            format!("{} in the file {}", given.secret, file.as_deref().unwrap_or_default())
        }
    });
    let identity = spec.identity.as_ref().map(|identity| {
        let role = match &identity.role {
            Some(role) => format!("role {role}"),
            None => "no role".to_owned(),
        };
        let others = identity.tokens.iter();
        let others = others.map(|token| format!("{} in the file {}", token.audience, token.file));
        std::iter::once(role).chain(others).collect::<Vec<_>>().join("\n")
    });
    text.pair("Secrets", each.collect::<Vec<_>>().join("\n")).pair("Identity", identity);
}

pub fn container(text: &mut Description, spec: &WorkloadSpec) {
    let Some(Container { image, pull, entrypoint, mounts, network, privileged }) = &spec.container
    else {
        return;
    };
    let mounts = mounts.iter().map(|mount| {
        let mode = if mount.read_only { " (read only)" } else { "" };
        format!("{} at {}{mode}", mount.source, mount.target)
    });
    text.pair("Image", format!("{image}, pulled {pull}"))
        .pair("Entry point", entrypoint.as_ref().map(|words| quoted(words)))
        .pair("Mounts", mounts.collect::<Vec<_>>().join("\n"))
        .pair("Network", network.to_string())
        .pair("Privileged", privileged.then(|| "yes".to_owned()));
}
