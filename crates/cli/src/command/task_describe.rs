//! Everything about one task, for people.

use hostler_api::record::{EventList, EventListQuery};
use hostler_api::task::{ArrayGet, ArrayPath, GivenView, RunList, RunView, TaskExplain, TaskView};
use hostler_model::{ObjectKind, Timestamp};

use super::task::{get, quoted};
use super::{Cx, DONE, Link, NONE, spec_text};
use crate::failure::Outcome;
use crate::output::{Description, age, moment, span};

pub async fn describe(cx: &Cx, name: &str) -> Outcome {
    let link = cx.link()?;
    let task = get(&link, name).await?;
    let path = link.task(&task.id.to_string());
    let query = EventListQuery {
        object: Some(ObjectKind::Task),
        id: Some(task.id.to_string()),
        limit: Some(20),
        ..EventListQuery::default()
    };
    let explanation = link.client.call::<TaskExplain>(&path, &NONE, &NONE).await?;
    let runs = link.client.call::<RunList>(&path, &NONE, &NONE).await?;
    let events = link.client.call::<EventList>(&NONE, &query, &NONE).await?;
    let seat = seat(&link, &task).await;
    let now = cx.now();

    let mut text = Description::default();
    about(&mut text, &task, seat, now);
    spec(&mut text, &task);
    text.section("Why").text(explanation.summary);
    explanation.hints.into_iter().for_each(|hint| {
        text.text(format!("hint: {hint}"));
    });
    text.section("Runs");
    for run in &runs.items {
        text.text(history(run));
    }
    text.section("Events");
    for event in events.items {
        text.text(format!("{:>8}  {}", age(event.time, now), event.message));
    }
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}

/// Its place in an array, by name where that can be had.
async fn seat(link: &Link, task: &TaskView) -> Option<String> {
    let seat = task.array?;
    let path = ArrayPath { project: link.project.clone(), array: seat.array.to_string() };
    Some(match link.client.call::<ArrayGet>(&path, &NONE, &NONE).await {
        Ok(array) if array.is_gang => {
            format!("{} (rank {} of a gang of {})", array.name, seat.index, array.size)
        }
        Ok(array) => format!("{} (index {} of {})", array.name, seat.index, array.range),
        Err(_) => format!("{} (index {})", seat.array, seat.index),
    })
}

fn about(text: &mut Description, task: &TaskView, seat: Option<String>, now: Timestamp) {
    let status = &task.status;
    let time = |time: Timestamp| format!("{} ({})", moment(time, now, true), age(time, now));
    let waited = match (task.time_ready, status.time_started) {
        (Some(ready), Some(started)) => Some(span(started.since(ready))),
        _ => None,
    };
    let ready = task.time_ready.filter(|_| status.time_started.is_none());
    text.pair("Name", task.name.to_string())
        .pair("Id", task.id.to_string())
        .pair("Project", task.project.to_string())
        .pair("Array", seat)
        .pair("State", format!("{}: {}", status.state, status.message))
        .pair("Node", status.node.as_ref().map(ToString::to_string))
        .pair("Pid", status.pid.map(|pid| pid.to_string()))
        .pair("Exit", status.exit.as_ref().map(ToString::to_string))
        .pair("Attempts", task.attempts.to_string())
        .pair("Created", format!("{} by {}", time(task.time_created), task.created_by))
        .pair("Ready", ready.map(time))
        .pair("Trace", task.trace.clone())
        .pair("Waited", waited)
        .pair("Started", status.time_started.map(time))
        .pair("Ended", status.time_ended.map(time));
}

fn spec(text: &mut Description, task: &TaskView) {
    let spec = &task.spec;
    let env = spec.env.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join("\n");
    text.section("Spec")
        .pair("Command", quoted(&spec.argv()))
        .pair("Env", env)
        .pair("Workdir", spec.workdir.clone())
        .pair("User", spec.user.clone())
        .pair("Timeout", spec.timeout.map(|timeout| timeout.to_string()))
        .pair("Stop", format!("{}, then SIGKILL after {}", spec.stop.signal, spec.stop.grace));
    spec_text::resources(text, spec);
    spec_text::placement(text, spec);
    spec_text::queue(text, spec);
    spec_text::container(text, spec);
    spec_text::secrets(text, spec);
}

fn history(run: &RunView) -> String {
    let exit = run.exit.as_ref().map(|exit| format!(", {exit}")).unwrap_or_default();
    let length = match (run.time_started, run.time_ended) {
        (Some(started), Some(ended)) => format!(" for {}", span(ended.since(started))),
        _ => String::new(),
    };
    let given = given(&run.given).map(|given| format!(", with {given}")).unwrap_or_default();
    format!("{} attempt {}: {}{length}{exit}{given}", run.id, run.attempt, run.state)
}

/// Which processors and devices a run was given.
fn given(given: &GivenView) -> Option<String> {
    let cpus = (!given.cpus.is_empty()).then(|| format!("processors {}", given.cpus));
    let numa = given.numa.map(|numa| format!("NUMA node {numa}"));
    let gpus = given.gpus.iter().map(|gpu| match gpu.share {
        share if share < 1.0 => format!("{share} of GPU {}", gpu.index),
        _ => format!("GPU {}", gpu.index),
    });
    let words: Vec<String> = cpus.into_iter().chain(numa).chain(gpus).collect();
    (!words.is_empty()).then(|| words.join(", "))
}
