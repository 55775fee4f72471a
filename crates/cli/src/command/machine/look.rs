//! Looking at machines.

use hostler_api::host::{
    NodeDisks, NodeDisksQuery, NodeHealth, NodeLogs, NodeLogsQuery, NodePackages,
    NodePackagesQuery, NodeProcesses, NodeProcessesQuery, NodeServices, NodeServicesQuery,
    NodeUsers, NodeUsersQuery,
};
use hostler_api::node::{NodePath, NodeView};
use hostler_model::host::{
    HealthLevel, HostDisks, HostHealth, HostLogs, HostMount, HostPackage, HostPackages,
    HostProcess, HostService, HostServices, HostTree, HostUser, PackageWhich,
};

use super::super::{Cx, DONE, Link, NONE};
use super::fleet::{Chosen, NodeAnswer, show};
use crate::args::{
    NodeDiskArgs, NodeHealthArgs, NodeLogsArgs, PackagesListArgs, PackagesSearchArgs,
    ProcessesListArgs, ServiceStatusArgs, ServicesListArgs, UsersListArgs,
};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, age, moment, span};

/// Longer than a server waits for a machine.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

pub(super) fn path(node: &NodeView) -> NodePath {
    NodePath { node: node.id.to_string() }
}

fn client(link: &Link) -> hostler_client::Client {
    link.client.with_timeout(PATIENCE)
}

pub async fn health(cx: &Cx, args: NodeHealthArgs) -> Outcome {
    let link = cx.link()?;
    let chosen = Chosen::from(args.nodes);
    let answers = chosen
        .ask(cx, &link, "measuring", async |link, node| {
            Ok(client(link).call::<NodeHealth>(&path(node), &NONE, &NONE).await?)
        })
        .await?;
    let is_critical = |answer: &NodeAnswer<HostHealth>| {
        answer.result.as_ref().is_some_and(|health| health.level == HealthLevel::Critical)
    };
    let worst = match answers.iter().any(is_critical) {
        true => exit::Code::Unhealthy.number(),
        false => DONE,
    };
    show(cx, &answers, &["HEALTH", "LOAD", "MEMORY", "UP", "FINDINGS"], health_rows, worst)
}

fn level(level: HealthLevel) -> Cell {
    match level {
        HealthLevel::Ok => Cell::new(level).good(),
        HealthLevel::Warning => Cell::new(level).warning(),
        HealthLevel::Critical => Cell::new(level).bad(),
    }
}

fn health_rows(health: &HostHealth) -> Vec<Vec<Cell>> {
    let vitals = &health.vitals;
    let memory = vitals.memory.saturating_sub(vitals.memory_available);
    let first = health.findings.first().map(|finding| finding.message.clone());
    let head = vec![
        level(health.level),
        Cell::new(format!("{:.2}", vitals.load[0])),
        Cell::new(format!("{memory} of {}", vitals.memory)),
        Cell::new(span(std::time::Duration::from_secs(vitals.uptime_seconds))),
        first.into(),
    ];
    let rest = health.findings.iter().skip(1).map(|finding| {
        let nothing = || Cell::new(" ");
        vec![level(finding.level), nothing(), nothing(), nothing(), Cell::new(&finding.message)]
    });
    std::iter::once(head).chain(rest).collect()
}

pub async fn packages(cx: &Cx, args: PackagesListArgs) -> Outcome {
    let which = match args.upgradable {
        true => PackageWhich::Upgradable,
        false => PackageWhich::Installed,
    };
    let query = NodePackagesQuery { which: Some(which), filter: args.filter, limit: None };
    list_packages(cx, Chosen::from(args.nodes), query, "listing packages").await
}

pub async fn search(cx: &Cx, args: PackagesSearchArgs) -> Outcome {
    let which = Some(PackageWhich::Available);
    let query = NodePackagesQuery { which, filter: Some(args.text), limit: None };
    list_packages(cx, Chosen::from(args.on), query, "searching").await
}

async fn list_packages(cx: &Cx, chosen: Chosen, query: NodePackagesQuery, doing: &str) -> Outcome {
    let (link, query) = (cx.link()?, &query);
    let answers = chosen
        .ask(cx, &link, doing, async |link, node| {
            Ok(client(link).call::<NodePackages>(&path(node), query, &NONE).await?)
        })
        .await?;
    let row = |one: &HostPackage| {
        vec![Cell::new(&one.name), one.version.as_ref().into(), Cell::new(&one.description)]
    };
    let rows = |found: &HostPackages| found.packages.iter().map(row).collect();
    show(cx, &answers, &["PACKAGE", "VERSION", "DESCRIPTION"], rows, DONE)
}

pub async fn services(cx: &Cx, args: ServicesListArgs) -> Outcome {
    let link = cx.link()?;
    let query = &NodeServicesQuery {
        state: args.state,
        filter: args.filter,
        ..NodeServicesQuery::default()
    };
    let answers = Chosen::from(args.nodes)
        .ask(cx, &link, "listing services", async |link, node| {
            Ok(client(link).call::<NodeServices>(&path(node), query, &NONE).await?)
        })
        .await?;
    let row = |one: &HostService| {
        let state = match one.state.as_str() {
            "running" => Cell::new(&one.state).good(),
            "failed" => Cell::new(&one.state).bad(),
            "unknown" => Cell::new(&one.state).dim(),
            _ => Cell::new(&one.state),
        };
        vec![Cell::new(&one.name), state, Cell::new(&one.active), Cell::new(&one.description)]
    };
    let rows = |found: &HostServices| found.services.iter().map(row).collect();
    let exit = show(cx, &answers, &["SERVICE", "STATE", "ACTIVE", "DESCRIPTION"], rows, DONE)?;
    notes(cx, &answers, |found| found.note.as_deref());
    Ok(exit)
}

/// What could not be told, for people.
fn notes<T>(cx: &Cx, answers: &[NodeAnswer<T>], note: impl Fn(&T) -> Option<&str>) {
    if !cx.is_for_people() {
        return;
    }
    for answer in answers {
        if let Some(note) = answer.result.as_ref().and_then(&note) {
            cx.ui.say(&format!("{}: {note}", answer.node));
        }
    }
}

pub async fn service_status(cx: &Cx, args: ServiceStatusArgs) -> Outcome {
    let link = cx.link()?;
    let query = &NodeServicesQuery { name: Some(args.service), ..NodeServicesQuery::default() };
    let answers = Chosen::from(args.on)
        .ask(cx, &link, "asking", async |link, node| {
            Ok(client(link).call::<NodeServices>(&path(node), query, &NONE).await?)
        })
        .await?;
    if cx.is_for_people() {
        for answer in &answers {
            for service in answer.result.iter().flat_map(|found| &found.services) {
                let status = service.status.as_deref().unwrap_or_default();
                cx.ui.say(&format!("-- {}", answer.node));
                cx.ui.task_data(format!("{}\n", status.trim_end()).as_bytes())?;
            }
        }
        return show(cx, &answers, &[], |_| Vec::new(), DONE);
    }
    show(cx, &answers, &[], |_| Vec::new(), DONE)
}

pub async fn logs(cx: &Cx, args: NodeLogsArgs) -> Outcome {
    let link = cx.link()?;
    let now = cx.now();
    let query = &NodeLogsQuery {
        service: args.service,
        file: args.file,
        kernel: args.kernel.then_some(true),
        lines: Some(args.lines),
        since: args.since.map(|when| when.moment(now)),
        until: args.until.map(|when| when.moment(now)),
        priority: args.priority,
        grep: args.grep,
    };
    let answers = Chosen::from(args.nodes)
        .ask(cx, &link, "reading logs", async |link, node| {
            Ok(client(link).call::<NodeLogs>(&path(node), query, &NONE).await?)
        })
        .await?;
    if cx.is_for_people() && !cx.ui.is_quiet() {
        print_lines(cx, &answers)?;
    }
    show(cx, &answers, &[], |_| Vec::new(), DONE)
}

/// As they are; with the node in front where there are several.
fn print_lines(cx: &Cx, answers: &[NodeAnswer<HostLogs>]) -> Result<(), Failure> {
    let (is_one, now) = (answers.len() == 1, cx.now());
    for answer in answers {
        for line in answer.result.iter().flat_map(|found| &found.lines) {
            let node = if is_one { String::new() } else { format!("{}: ", answer.node) };
            let time = line.time.map(|time| format!("{} ", moment(time, now, true)));
            let by = line.by.as_ref().map(|by| format!("{by}: "));
            let (time, by) = (time.unwrap_or_default(), by.unwrap_or_default());
            cx.ui.task_data(format!("{node}{time}{by}{}\n", line.text).as_bytes())?;
        }
    }
    Ok(())
}

pub async fn processes(cx: &Cx, args: ProcessesListArgs) -> Outcome {
    let (link, now) = (cx.link()?, cx.now());
    let query = &NodeProcessesQuery {
        order: Some(args.sort),
        filter: args.filter,
        user: args.user,
        limit: Some(args.limit),
    };
    let answers = Chosen::from(args.nodes)
        .ask(cx, &link, "listing processes", async |link, node| {
            Ok(client(link).call::<NodeProcesses>(&path(node), query, &NONE).await?)
        })
        .await?;
    let row = |one: &HostProcess| {
        let command =
            if one.command.is_empty() { format!("[{}]", one.name) } else { one.command.clone() };
        vec![
            Cell::new(one.pid),
            Cell::new(&one.user),
            Cell::new(&one.state),
            Cell::new(format!("{:.0}%", one.cpu * 100.0)),
            Cell::new(one.memory),
            Cell::new(one.threads),
            one.time_started.map(|time| age(time, now)).into(),
            Cell::new(command),
        ]
    };
    let titles = ["PID", "USER", "STATE", "CPU", "MEMORY", "THREADS", "STARTED", "COMMAND"];
    show(cx, &answers, &titles, |found| found.processes.iter().map(row).collect(), DONE)
}

pub async fn disk(cx: &Cx, args: NodeDiskArgs) -> Outcome {
    let link = cx.link()?;
    let is_tree = args.largest.is_some();
    let query = &NodeDisksQuery { largest: args.largest, limit: Some(args.limit) };
    let answers = Chosen::from(args.nodes)
        .ask(cx, &link, "measuring", async |link, node| {
            Ok(client(link).call::<NodeDisks>(&path(node), query, &NONE).await?)
        })
        .await?;
    let exit = match is_tree {
        true => {
            let row = |one: &HostTree| {
                let kind = if one.is_directory { "directory" } else { "file" };
                vec![
                    Cell::new(one.size),
                    Cell::new(kind),
                    Cell::new(one.files),
                    Cell::new(&one.path),
                ]
            };
            let rows = |found: &HostDisks| found.largest.iter().map(row).collect();
            show(cx, &answers, &["SIZE", "KIND", "FILES", "PATH"], rows, DONE)?
        }
        false => {
            let rows = |found: &HostDisks| found.mounts.iter().map(mount_row).collect();
            let titles = ["MOUNT", "SIZE", "USED", "AVAILABLE", "USE", "INODES", "TYPE", "DEVICE"];
            show(cx, &answers, &titles, rows, DONE)?
        }
    };
    notes(cx, &answers, |found| found.note.as_deref());
    Ok(exit)
}

fn mount_row(mount: &HostMount) -> Vec<Cell> {
    let share = |percent: u64, is_known: bool| {
        let cell = Cell::new(format!("{percent}%"));
        match percent {
            _ if !is_known => Cell::new("-").dim(),
            _ if mount.is_read_only => cell,
            95.. => cell.bad(),
            85.. => cell.warning(),
            _ => cell,
        }
    };
    vec![
        Cell::new(&mount.point),
        Cell::new(mount.size),
        Cell::new(mount.used),
        Cell::new(mount.available),
        share(mount.used_percent(), mount.size.get() > 0),
        share(mount.inodes_percent(), mount.inodes > 0),
        Cell::new(&mount.filesystem),
        Cell::new(&mount.device),
    ]
}

pub async fn users(cx: &Cx, args: UsersListArgs) -> Outcome {
    let link = cx.link()?;
    let query = &NodeUsersQuery { system: args.system.then_some(true), filter: args.filter };
    let answers = Chosen::from(args.nodes)
        .ask(cx, &link, "listing users", async |link, node| {
            Ok(client(link).call::<NodeUsers>(&path(node), query, &NONE).await?)
        })
        .await?;
    let row = |one: &HostUser| {
        vec![
            Cell::new(&one.name),
            Cell::new(one.uid),
            Cell::new(one.groups.join(",")),
            Cell::new(&one.home),
            Cell::new(&one.shell),
            one.is_locked.map(|is| if is { "locked" } else { "open" }).into(),
            one.keys.into(),
        ]
    };
    let titles = ["USER", "UID", "GROUPS", "HOME", "SHELL", "PASSWORD", "KEYS"];
    show(cx, &answers, &titles, |found| found.users.iter().map(row).collect(), DONE)
}
