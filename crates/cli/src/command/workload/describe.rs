//! Everything about one workload, for people.

use hostler_api::PageQuery;
use hostler_api::record::{EventList, EventListQuery};
use hostler_api::workload::{
    PlacementView, WorkloadExplain, WorkloadRunList, WorkloadRunView, WorkloadView,
};
use hostler_model::{Mode, ObjectKind, Timestamp};

use super::super::task::quoted;
use super::super::{Cx, DONE, NONE, spec_text};
use super::{get, reasons};
use crate::failure::Outcome;
use crate::output::{Description, age, counted, moment, span};

const RUNS: u32 = 10;
const EVENTS: u32 = 20;

pub async fn describe(cx: &Cx, name: &str) -> Outcome {
    let link = cx.link()?;
    let workload = get(&link, name).await?;
    let path = link.workload(&workload.id.to_string());
    let explanation = link.client.call::<WorkloadExplain>(&path, &NONE, &NONE).await?;
    let query = PageQuery { limit: Some(RUNS), ..PageQuery::default() };
    let runs = link.client.call::<WorkloadRunList>(&path, &query, &NONE).await?;
    let query = EventListQuery {
        object: Some(ObjectKind::Workload),
        id: Some(workload.id.to_string()),
        limit: Some(EVENTS),
        ..EventListQuery::default()
    };
    let events = link.client.call::<EventList>(&NONE, &query, &NONE).await?;
    let now = cx.now();

    let mut text = Description::default();
    about(&mut text, &workload, now);
    text.section("On nodes");
    for placement in &workload.placements {
        text.pair(placement.node.as_str(), standing(placement, now));
    }
    text.section("Why").text(explanation.summary.clone());
    reasons(&mut text, &explanation);
    text.section("Runs");
    for run in &runs.items {
        text.text(history(run, now));
    }
    text.section("Events");
    for event in events.items {
        text.text(format!("{:>8}  {}", age(event.time, now), event.message));
    }
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}

fn about(text: &mut Description, workload: &WorkloadView, now: Timestamp) {
    let (spec, status) = (&workload.spec, &workload.status);
    let time = |time: Timestamp| format!("{} ({})", moment(time, now, true), age(time, now));
    let reason = status.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let pairs = |map: &mut dyn Iterator<Item = (&String, &String)>| {
        map.map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("\n")
    };
    text.pair("Name", workload.name.to_string())
        .pair("Id", workload.id.to_string())
        .pair("Project", workload.project.to_string())
        .pair("Phase", format!("{}{reason}", status.phase))
        .pair("Ready", format!("{} of {}", status.ready, status.wanted))
        .pair("Health", status.health.map(|health| health.to_string()))
        .pair("Restarts", status.restarts.to_string())
        .pair("Next", status.next.map(time))
        .pair("Wanted", workload.desired.to_string())
        .pair("Revision", workload.revision.to_string())
        .pair("Created", format!("{} by {}", time(workload.time_created), workload.created_by))
        .pair("Changed", time(workload.time_modified));
    text.section("Spec")
        .pair("Mode", mode(&spec.mode))
        .pair("Command", quoted(&spec.argv()))
        .pair("Env", pairs(&mut spec.env.iter()))
        .pair("Workdir", spec.workdir.clone())
        .pair("User", spec.user.clone())
        .pair("Timeout", spec.timeout.map(|timeout| timeout.to_string()))
        .pair("Stop", format!("{}, then SIGKILL after {}", spec.stop.signal, spec.stop.grace))
        .pair("Checks", (!spec.health.is_empty()).then(|| spec.health.len().to_string()))
        .pair("Version", spec.version.clone());
    spec_text::resources(text, spec);
    spec_text::placement(text, spec);
    spec_text::container(text, spec);
    spec_text::secrets(text, spec);
}

pub(crate) fn mode(mode: &Mode) -> String {
    match mode {
        Mode::Once | Mode::Forever => mode.kind().to_string(),
        Mode::Times(times) => counted(*times, "time"),
        Mode::Schedule(schedule) => format!("schedule {} ({})", schedule.cron, schedule.timezone),
    }
}

fn standing(placement: &PlacementView, now: Timestamp) -> String {
    let mut words = match placement.phase {
        Some(phase) => phase.to_string(),
        None => "not heard of yet".to_owned(),
    };
    let mut add = |more: Option<String>| words.extend(more.map(|more| format!(", {more}")));
    add(placement.pid.map(|pid| format!("pid {pid}")));
    add(placement.since.map(|since| format!("since {}", age(since, now))));
    add(placement.health.map(|health| health.to_string()));
    add(Some(counted(placement.runs, "run")));
    add((placement.failures > 0).then(|| format!("{} failures in a row", placement.failures)));
    add(placement.next.map(|next| format!("next {}", age(next, now))));
    add(placement.reason.clone());
    add(placement.last_exit.as_ref().map(|exit| format!("last exit: {exit}")));
    add((placement.node_state != hostler_model::NodeState::Online)
        .then(|| format!("the node is {}", placement.node_state)));
    words
}

fn history(run: &WorkloadRunView, now: Timestamp) -> String {
    let cause = run.cause.map(|cause| format!(" ({cause})")).unwrap_or_default();
    let when = run.time_started.map(|time| format!(", {}", age(time, now))).unwrap_or_default();
    let long = run.time_started.zip(run.time_ended);
    let long = long.map(|(from, to)| format!(", for {}", span(to.since(from)))).unwrap_or_default();
    let exit = run.exit.as_ref().map(|exit| format!(", {exit}")).unwrap_or_default();
    format!("{} on {} #{}{cause}: {}{when}{long}{exit}", run.id, run.node, run.number, run.state)
}
