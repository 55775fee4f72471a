//! Workloads.

use std::time::Duration;

use hostler_api::Listing;
use hostler_api::workload::{
    ExecLine, FireView, NodeUsage, PlacementView, WorkloadApply, WorkloadExec, WorkloadExplain,
    WorkloadExplanation, WorkloadGet, WorkloadList, WorkloadLogLine, WorkloadLogs, WorkloadNext,
    WorkloadPlacementList, WorkloadRemove, WorkloadRestart, WorkloadRunList, WorkloadRunView,
    WorkloadStart, WorkloadStop, WorkloadUsage, WorkloadView,
};
use hostler_control::{FireDetail, OutputItem, OutputReceiver, WorkloadDetail, WorkloadQuery};
use hostler_model::{Caller, Code, Diagnostic, Error, Name, UsageSample, WorkloadId};

use super::error::malformed;
use super::gate::Gate;
use super::gather::Gather;
use super::watch::{self, Watched};
use super::{Answer, App, Call, exec, gather, page, standing, workload_logs, workload_view};

const FIRES: u32 = 10;
const FIRES_MAX: u32 = 1000;
/// How long a node may take to say what was used.
const USAGE_TIME: Duration = Duration::from_secs(20);
const USAGE_MAX: usize = 100_000;

pub(crate) async fn list(
    app: App,
    call: Call<WorkloadList>,
) -> Result<Answer<Listing<WorkloadView>>, Error> {
    let query = WorkloadQuery { mode: call.query.mode, tag: call.query.tag.clone(), desired: None };
    let phase = call.query.phase;
    if call.query.watch == Some(true) {
        let cursor = call.query.cursor.clone();
        let asked = gather::filter::<WorkloadList>(call.query.filter.as_deref())?;
        let project = call.project().clone();
        let watched = Watched::Workloads { project, query, phase };
        return watch::open(app, call, cursor, watched, asked).await;
    }
    let mut list = Gather::of::<WorkloadList>(&call.query)?.sifted(phase.is_some());
    let head = app.control().event_head().await?;
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found =
            control.workload_list(&call.cx, project, &query, ask.after(), ask.limit).await?;
        list.sift(found, |detail| {
            let is_asked = phase.is_none_or(|phase| standing::status(&detail).phase == phase);
            is_asked.then(|| workload_view::workload(&call.cx.caller, detail))
        })?;
    }
    let mut listing = list.listing();
    listing.watch_cursor = Some(head.to_string());
    Ok(Answer::new(listing))
}

pub(crate) async fn get(app: App, call: Call<WorkloadGet>) -> Result<Answer<WorkloadView>, Error> {
    let found = app.control().workload_get(&call.cx, call.project(), &call.path.workload).await?;
    Ok(shown(&call.cx.caller, found))
}

pub(crate) async fn apply(
    app: App,
    call: Call<WorkloadApply>,
) -> Result<Answer<WorkloadView>, Error> {
    let problems = call.body.problems("");
    if !problems.is_empty() {
        return Err(Error::invalid(problems));
    }
    let (control, project, given) = (app.control(), call.project(), &call.path.workload);
    let name: Name = match given.parse::<WorkloadId>() {
        Ok(_) => control.workload_get(&call.cx, project, given).await?.service.name,
        Err(_) => given.parse().map_err(|problem| bad_name(&problem))?,
    };
    let (detail, _) =
        control.workload_apply(&call.cx, project, &name, &call.body, Some(call.expected)).await?;
    Ok(shown(&call.cx.caller, detail))
}

fn bad_name(problem: &dyn std::fmt::Display) -> Error {
    let detail = problem.to_string();
    let mut error = malformed(detail.clone(), "choose a name such as web-1");
    error.errors = vec![Diagnostic::new("/path/workload", detail)];
    error
}

pub(crate) async fn remove(
    app: App,
    call: Call<WorkloadRemove>,
) -> Result<Answer<WorkloadView>, Error> {
    let control = app.control();
    let removed =
        control.workload_remove(&call.cx, call.project(), &call.path.workload, None).await?;
    Ok(shown(&call.cx.caller, removed))
}

pub(crate) async fn start(
    app: App,
    call: Call<WorkloadStart>,
) -> Result<Answer<WorkloadView>, Error> {
    let control = app.control();
    Ok(shown(
        &call.cx.caller,
        control.workload_start(&call.cx, call.project(), &call.path.workload).await?,
    ))
}

pub(crate) async fn stop(
    app: App,
    call: Call<WorkloadStop>,
) -> Result<Answer<WorkloadView>, Error> {
    let control = app.control();
    Ok(shown(
        &call.cx.caller,
        control.workload_stop(&call.cx, call.project(), &call.path.workload).await?,
    ))
}

pub(crate) async fn restart(
    app: App,
    call: Call<WorkloadRestart>,
) -> Result<Answer<WorkloadView>, Error> {
    let control = app.control();
    Ok(shown(
        &call.cx.caller,
        control.workload_restart(&call.cx, call.project(), &call.path.workload).await?,
    ))
}

pub(crate) async fn runs(
    app: App,
    call: Call<WorkloadRunList>,
) -> Result<Answer<Listing<WorkloadRunView>>, Error> {
    let mut list = Gather::of::<WorkloadRunList>(&call.query)?;
    let (control, project, name) = (app.control(), call.project(), &call.path.workload);
    while let Some(ask) = list.ask() {
        let runs =
            control.workload_runs(&call.cx, project, name, None, ask.after(), ask.limit).await?;
        list.take(runs, workload_view::run)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn placements(
    app: App,
    call: Call<WorkloadPlacementList>,
) -> Result<Answer<Listing<PlacementView>>, Error> {
    let placements =
        app.control().workload_placements(&call.cx, call.project(), &call.path.workload).await?;
    Ok(Answer::new(page::whole(placements, workload_view::placement)))
}

pub(crate) async fn logs(
    app: App,
    call: Call<WorkloadLogs>,
) -> Result<Answer<WorkloadLogLine>, Error> {
    workload_logs::open(app, call).await
}

pub(crate) async fn run_command(
    app: App,
    call: Call<WorkloadExec>,
) -> Result<Answer<ExecLine>, Error> {
    exec::open(app, call).await
}

pub(crate) async fn explain(
    app: App,
    call: Call<WorkloadExplain>,
) -> Result<Answer<WorkloadExplanation>, Error> {
    let (control, project, name) = (app.control(), call.project(), &call.path.workload);
    let detail = control.workload_get(&call.cx, project, name).await?;
    let explained = control.workload_explain(&call.cx, project, name).await?;
    let phase = standing::status(&detail).phase;
    Ok(Answer::new(workload_view::explanation(explained, phase)))
}

pub(crate) async fn next(
    app: App,
    call: Call<WorkloadNext>,
) -> Result<Answer<Listing<FireView>>, Error> {
    let count = call.query.count.unwrap_or(FIRES);
    if !(1..=FIRES_MAX).contains(&count) {
        let detail = format!("count must be 1 to {FIRES_MAX}");
        let mut error = malformed(detail.clone(), "ask for less");
        error.errors = vec![Diagnostic::new("/query/count", detail)];
        return Err(error);
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let (project, name, node) = (call.project(), &call.path.workload, call.query.node.as_deref());
    let fires = app.control().workload_next(&call.cx, project, name, node, count).await?;
    let shown = |FireDetail { time, start, nodes }| FireView { time, start, nodes };
    Ok(Answer::new(page::whole(fires, shown)))
}

pub(crate) async fn usage(
    app: App,
    call: Call<WorkloadUsage>,
) -> Result<Answer<Listing<UsageSample>>, Error> {
    let (node, since) = (call.query.node.as_deref(), call.query.since);
    let told = app
        .control()
        .workload_usage(&call.cx, call.project(), &call.path.workload, node, since)
        .await?;
    gathered(&app, told).await
}

pub(crate) async fn node_usage(
    app: App,
    call: Call<NodeUsage>,
) -> Result<Answer<Listing<UsageSample>>, Error> {
    let told = app.control().node_usage(&call.cx, &call.path.node, call.query.since).await?;
    gathered(&app, told).await
}

async fn gathered(app: &App, told: OutputReceiver) -> Result<Answer<Listing<UsageSample>>, Error> {
    let gathered = app.clock().timeout(USAGE_TIME, gather(told)).await;
    let points = gathered.map_err(|late| {
        Error::new(Code::NodeUnreachable, "the node takes too long to answer", "ask again")
            .with_retry_after(5)
            .with_source(late)
    })??;
    Ok(Answer::new(page::whole(points, |point| point)))
}

async fn gather(mut told: OutputReceiver) -> Result<Vec<UsageSample>, Error> {
    let mut points = Vec::new();
    while let Some(item) = told.recv().await {
        match item? {
            OutputItem::Data { bytes, .. } if points.len() < USAGE_MAX => {
                points.push(serde_json::from_slice(&bytes).map_err(Error::internal)?);
            }
            item if item.is_last() => break,
            _ => {}
        }
    }
    Ok(points)
}

fn shown(caller: &Caller, detail: WorkloadDetail) -> Answer<WorkloadView> {
    let generation = detail.service.generation;
    Answer::new(workload_view::workload(caller, detail)).with_generation(generation)
}
