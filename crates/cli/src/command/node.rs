//! Nodes, and tickets with which machines become nodes.

use futures::TryStreamExt;
use std::collections::HashMap;

use hostler_api::node::{
    JoinTokenCreate, JoinTokenCreateBody, JoinTokenList, JoinTokenPath, JoinTokenRevoke,
    NodeCordon, NodeCordonBody, NodeDrain, NodeDrainBody, NodeGet, NodeHeldList, NodeHeldView,
    NodeList, NodeListQuery, NodePath, NodeReload, NodeRemove, NodeUncordon, NodeUpdate,
    NodeUpdateBody, NodeView,
};
use hostler_api::record::{EventList, EventListQuery};
use hostler_api::workload::{NodeUsage, NodeUsageQuery};
use hostler_model::{DiskHealthFact, Generation, Labels, NodeId, ObjectKind, label_problem};

use super::{Cx, DONE, Link, NONE, PAGE, again_if_stale, bare, machine, operation, spec, watch};
use crate::args::{
    DrainArgs, JoinTokenCommand, JoinTokenCreateArgs, LabelArgs, NodeCommand, NodeListArgs,
};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Description, Format, NodeResources, age, moment};

pub async fn perform(cx: &Cx, command: NodeCommand) -> Outcome {
    match command {
        NodeCommand::Ls(args) => ls(cx, args).await,
        NodeCommand::Describe(args) if cx.is_for_people() => describe(cx, &args.node).await,
        NodeCommand::Get(args) | NodeCommand::Describe(args) => {
            cx.one(&get(&cx.link()?, &args.node).await?)
        }
        NodeCommand::Label(args) => label(cx, args).await,
        NodeCommand::Cordon(args) => {
            let link = cx.link()?;
            let body = NodeCordonBody { reason: args.reason };
            for node in &args.nodes.nodes {
                let node = link.client.call::<NodeCordon>(&path(node), &NONE, &body).await?;
                cx.changed(&node, "takes no new work")?;
            }
            Ok(DONE)
        }
        NodeCommand::Uncordon(args) => {
            let link = cx.link()?;
            for node in &args.nodes {
                let node = link.client.call::<NodeUncordon>(&path(node), &NONE, &NONE).await?;
                cx.changed(&node, "takes work again")?;
            }
            Ok(DONE)
        }
        NodeCommand::Reload(args) => reload(cx, &args.nodes).await,
        NodeCommand::Drain(args) => drain(cx, args).await,
        NodeCommand::Rm(args) => rm(cx, &args.nodes).await,
        NodeCommand::Usage(args) => {
            let query = NodeUsageQuery { since: Some(args.since.moment(cx.now())) };
            let path = path(&args.node.node);
            let samples = cx.link()?.client.call::<NodeUsage>(&path, &query, &NONE).await?;
            output::node_usage(&cx.ui, cx.now(), samples.items)?;
            Ok(DONE)
        }
        NodeCommand::Health(args) => machine::health(cx, args).await,
        NodeCommand::Packages(command) => machine::packages_command(cx, command).await,
        NodeCommand::Services(command) => machine::services_command(cx, command).await,
        NodeCommand::Logs(args) => machine::logs(cx, args).await,
        NodeCommand::Processes(command) => machine::processes_command(cx, command).await,
        NodeCommand::Disk(args) => machine::disk(cx, args).await,
        NodeCommand::Users(command) => machine::users_command(cx, command).await,
        NodeCommand::Backup(command) => machine::backup_command(cx, command).await,
        NodeCommand::Watch => watch::nodes(cx).await,
        NodeCommand::Token(command) => token(cx, command).await,
    }
}

fn path(node: &str) -> NodePath {
    NodePath { node: bare("node", node).to_owned() }
}

async fn get(link: &Link, node: &str) -> Result<NodeView, hostler_client::Error> {
    link.client.call::<NodeGet>(&path(node), &NONE, &NONE).await
}

async fn ls(cx: &Cx, args: NodeListArgs) -> Outcome {
    let link = cx.link()?;
    let query = NodeListQuery {
        state: args.state,
        selector: args.selector,
        filter: args.list.filter,
        limit: PAGE,
        ..NodeListQuery::default()
    };
    if !args.resources {
        return cx.list::<NodeList, _>(&link, &NONE, &query, args.list.limit).await;
    }
    let pages = link.client.pages::<NodeList, _>(&NONE, &query, args.list.limit)?;
    let nodes: Vec<NodeView> = pages.try_collect().await?;
    let held = link.client.call::<NodeHeldList>(&NONE, &NONE, &NONE).await?;
    let mut held: HashMap<NodeId, NodeHeldView> =
        held.items.into_iter().map(|held| (held.id, held)).collect();
    let with_held = |node: NodeView| NodeResources { held: held.remove(&node.id), node };
    let nodes: Vec<NodeResources> = nodes.into_iter().map(with_held).collect();
    output::list(&cx.ui, cx.now(), &nodes)?;
    Ok(DONE)
}

async fn label(cx: &Cx, args: LabelArgs) -> Outcome {
    let changes = args.labels.iter().map(|text| change(text)).collect::<Result<Vec<_>, _>>()?;
    let link = cx.link()?;
    let path = path(&args.node);
    let node = again_if_stale(async || {
        let node = get(&link, &args.node).await?;
        let body = NodeUpdateBody { labels: changed(node.labels, &changes) };
        let generation = Generation::from_u64(node.generation);
        link.client.call_if_match::<NodeUpdate>(&path, &NONE, &body, generation).await
    });
    let node = node.await?;
    let labels = node.labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(" ");
    cx.changed(
        &node,
        &format!("is labelled {}", if labels.is_empty() { "with nothing" } else { &labels }),
    )
}

/// A label to set, or with `None` to remove.
fn change(text: &str) -> Result<(String, Option<String>), Failure> {
    let (key, value) = match (text.split_once('='), text.strip_suffix('-')) {
        (Some((key, value)), _) => (key, Some(value)),
        (None, Some(key)) => (key, None),
        (None, None) => {
            return Err(Failure::usage(
                format!("`{text}` is neither KEY=VALUE nor KEY-"),
                "KEY=VALUE sets a label, KEY- removes it",
            ));
        }
    };
    match label_problem(key, value.unwrap_or_default()) {
        None => Ok((key.to_owned(), value.map(str::to_owned))),
        Some(problem) => Err(Failure::usage(problem, "")),
    }
}

fn changed(mut labels: Labels, changes: &[(String, Option<String>)]) -> Labels {
    for (key, value) in changes {
        match value {
            Some(value) => labels.insert(key.clone(), value.clone()),
            None => labels.remove(key),
        };
    }
    labels
}

async fn drain(cx: &Cx, args: DrainArgs) -> Outcome {
    let link = cx.link()?;
    let body = NodeDrainBody { reason: args.reason, deadline: args.deadline };
    let operation = link.client.call::<NodeDrain>(&path(&args.node.node), &NONE, &body).await?;
    operation::started(cx, &link, operation, args.no_wait).await
}

async fn reload(cx: &Cx, nodes: &[String]) -> Outcome {
    let link = cx.link()?;
    for name in nodes {
        let reloaded = link.client.call::<NodeReload>(&path(name), &NONE, &NONE).await?;
        let machine = match reloaded.facts_changed.as_slice() {
            [] => "its machine is as it was".to_owned(),
            changed => format!("its machine has changed: {}", changed.join(", ")),
        };
        let placements = reloaded.placements;
        let told = format!("is told again of {placements} tasks and workloads; {machine}");
        match cx.ui.format() {
            None | Some(Format::Table | Format::Wide | Format::Name) => {
                cx.changed(&reloaded.node, &told)?;
            }
            Some(format) => output::document(&cx.ui, format, &reloaded)?,
        }
    }
    Ok(DONE)
}

async fn rm(cx: &Cx, nodes: &[String]) -> Outcome {
    let names = nodes.join(", ");
    cx.ui.confirm(&format!("Stop what runs on {names}, revoke its certificates and forget it?"))?;
    let link = cx.link()?;
    let mut exit = DONE;
    for name in nodes {
        let remove = again_if_stale(async || {
            let node = get(&link, name).await?;
            let generation = Generation::from_u64(node.generation);
            link.client.call_if_match::<NodeRemove>(&path(name), &NONE, &NONE, generation).await
        });
        let operation = remove.await?;
        exit = exit.max(operation::started(cx, &link, operation, false).await?);
    }
    Ok(exit)
}

async fn describe(cx: &Cx, name: &str) -> Outcome {
    let link = cx.link()?;
    let node = get(&link, name).await?;
    let query = EventListQuery {
        object: Some(ObjectKind::Node),
        id: Some(node.id.to_string()),
        limit: Some(20),
        ..EventListQuery::default()
    };
    let events = link.client.call::<EventList>(&NONE, &query, &NONE).await?;
    let now = cx.now();
    let mut text = Description::default();
    about(&mut text, &node, now);
    text.section("Events");
    for event in events.items {
        text.text(format!("{:>8}  {}", age(event.time, now), event.message));
    }
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}

fn about(text: &mut Description, node: &NodeView, now: hostler_model::Timestamp) {
    let time = |time: hostler_model::Timestamp| {
        format!("{} ({})", moment(time, now, true), age(time, now))
    };
    text.pair("Name", node.name.to_string())
        .pair("Id", node.id.to_string())
        .pair("State", format!("{}, since {}", node.state, time(node.time_state)))
        .pair(
            "Cordon",
            node.cordon.as_ref().map(|cordon| {
                let draining = if cordon.is_draining { ", draining" } else { "" };
                format!("{}{draining}, since {}", cordon.reason, time(cordon.time))
            }),
        )
        .pair(
            "Labels",
            node.labels.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("\n"),
        )
        .pair("Seen", node.time_seen.map(time))
        .pair("Joined", time(node.time_created))
        .pair("Agent", node.agent_version.clone())
        .pair("Applied", format!("{} of {}", node.applied_generation, node.desired_generation));
    text.section("Machine");
    if let Some(facts) = &node.facts {
        text.pair("Host name", facts.hostname.clone())
            .pair("System", facts.os.clone())
            .pair("Kernel", format!("{} {}", facts.kernel, facts.architecture))
            .pair("Cores", format!("{} ({})", facts.cores, facts.cpu_model))
            .pair("Memory", format!("{}, swap {}", facts.memory, facts.swap))
            .pair("Time zone", facts.timezone.clone())
            .pair("Addresses", facts.addresses.join(", "))
            .pair("Cgroups", facts.cgroup.clone())
            .pair("Containers", facts.container_engine.clone())
            .pair("Root", if facts.is_root { "yes" } else { "no" }.to_owned());
        for disk in &facts.disks {
            text.pair(
                &format!("Disk {}", disk.mount),
                format!("{} of {} free", disk.available, disk.size),
            );
        }
        for disk in &facts.disk_health {
            text.pair(&format!("Health {}", disk.device), health(disk));
        }
        for sensor in &facts.temperatures {
            let critical = sensor.critical.map(|degrees| format!(", critical at {degrees:.0} °C"));
            let critical = critical.unwrap_or_default();
            let name = format!("Sensor {}", sensor.sensor);
            text.pair(&name, format!("{:.1} °C{critical}", sensor.celsius));
        }
        text.pair("Link", facts.is_metered.then(|| "metered".to_owned()));
        for gpu in &facts.gpus {
            let measured = node.metrics.iter().flat_map(|metrics| &metrics.gpus);
            let metrics = measured.into_iter().find(|other| other.index == gpu.index);
            text.pair(&format!("GPU {}", gpu.index), output::gpu(gpu, metrics));
        }
    }
    text.section("Load");
    if let Some(metrics) = &node.metrics {
        text.pair("Load", format!("{:.2}", metrics.load_1m))
            .pair("CPU", format!("{:.0}%", metrics.cpu_ratio * 100.0))
            .pair("Memory", metrics.memory_used.to_string())
            .pair("Disk", format!("{} of {}", metrics.disk_used, metrics.disk_size))
            .pair("Runs", metrics.runs_active.to_string())
            .pair("Temperature", metrics.temperature.map(|degrees| format!("{degrees:.1} °C")))
            .pair("Written today", metrics.writes.as_ref().map(output::written_today));
    }
}

/// What a disk says about itself.
fn health(disk: &DiskHealthFact) -> String {
    let verdict = match (disk.is_failing(), disk.is_worn()) {
        (true, _) => Some("failing, replace it".to_owned()),
        (false, true) => Some("worn".to_owned()),
        (false, false) => None,
    };
    let used = disk.life_used.map(|percent| match percent {
        0..=100 => format!("at most {percent}% of its life used"),
        _ => "has outlived its estimate".to_owned(),
    });
    let spare = disk.spare.as_ref().map(|spare| format!("spare blocks {spare}"));
    let degrees = disk.celsius.map(|degrees| format!("{degrees:.0} °C"));
    let name = [disk.kind.as_str(), disk.model.as_str()].join(" ").trim().to_owned();
    let words = [Some(name), disk.state.clone(), used, spare, degrees, verdict];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

async fn token(cx: &Cx, command: JoinTokenCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        JoinTokenCommand::Create(args) => token_create(cx, &link, args).await,
        JoinTokenCommand::Ls(list) => {
            let query = list.page();
            cx.list::<JoinTokenList, _>(&link, &NONE, &query, list.limit).await
        }
        JoinTokenCommand::Rm { tokens } => {
            for token in tokens {
                let path = JoinTokenPath { token: bare("join-token", &token).to_owned() };
                link.client.call::<JoinTokenRevoke>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("ticket {} revoked", path.token));
            }
            Ok(DONE)
        }
    }
}

async fn token_create(cx: &Cx, link: &Link, args: JoinTokenCreateArgs) -> Outcome {
    let body =
        JoinTokenCreateBody { name: args.name, labels: spec::labels(&args.labels)?, ttl: args.ttl };
    let made = link.client.call::<JoinTokenCreate>(&NONE, &NONE, &body).await?;
    match cx.ui.format() {
        _ if cx.ui.is_quiet() => cx.ui.line(&made.ticket)?,
        None | Some(Format::Table | Format::Wide) => {
            let until = age(made.token.time_expires, cx.now());
            cx.ui.say(&format!("run this on the machine; it works once and expires {until}:"));
            cx.ui.line(&made.command)?;
        }
        Some(Format::Name) => cx.ui.line(&format!("join-token/{}", made.token.id))?,
        Some(format) => output::document(&cx.ui, format, &made)?,
    }
    Ok(DONE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_set_and_removed() {
        let before: Labels =
            [("a", "1"), ("b", "2")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let changes: Vec<_> =
            ["a-", "c=3", "d=", "gone-"].iter().map(|text| change(text).unwrap()).collect();
        let after = changed(before, &changes);
        let expected =
            [("b", "2"), ("c", "3"), ("d", "")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        assert_eq!(after, expected.into());
        for bad in ["x", "=1", "a b=1", "a=x y"] {
            assert!(change(bad).is_err(), "{bad}");
        }
    }
}
