//! Schedules.

use hostler_api::schedule::{
    NextFireView, ScheduleApply, ScheduleFireView, ScheduleGet, ScheduleHistory, ScheduleList,
    ScheduleNext, SchedulePause, SchedulePreview, ScheduleRemove, ScheduleResume, ScheduleRun,
    ScheduleView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{FireDetails, NextFire, ScheduleDetail};
use hostler_model::{Diagnostic, Error, Name, ScheduleId};

use super::error::malformed;
use super::gather::Gather;
use super::{Answer, App, Call, page};

const NEXT_DEFAULT: u32 = 10;

fn fire(FireDetails { fire, standing }: FireDetails) -> ScheduleFireView {
    ScheduleFireView {
        lateness: fire.lateness(),
        time: fire.time,
        state: fire.state,
        cause: fire.cause,
        time_planned: fire.time_planned,
        time_begun: fire.time_begun,
        time_ended: fire.time_ended,
        count: fire.count,
        time_last: fire.time_last,
        object: fire.object,
        is_good: standing.as_ref().and_then(|standing| standing.is_good),
        standing: standing.map(|standing| standing.state),
        status: fire.status,
        message: fire.message,
        asked_by: fire.asked_by,
        tries: fire.tries,
    }
}

fn view(ScheduleDetail { schedule, owner, last }: ScheduleDetail) -> ScheduleView {
    ScheduleView {
        id: schedule.id,
        name: schedule.name,
        timing: schedule.spec.timing(),
        kind: schedule.spec.target.kind(),
        summary: schedule.spec.target.summary(),
        spec: schedule.spec,
        owner,
        pause: schedule.pause,
        time_next: schedule.time_next,
        last: last.map(fire),
        generation: schedule.generation,
        time_created: schedule.time_created,
        time_modified: schedule.time_modified,
    }
}

fn shown(detail: ScheduleDetail) -> Answer<ScheduleView> {
    let generation = detail.schedule.generation;
    Answer::new(view(detail)).with_generation(generation)
}

fn next_view(next: NextFire) -> NextFireView {
    NextFireView { time: next.time, start: next.start, local: next.local, remark: next.remark }
}

fn count(asked: Option<u32>) -> Result<usize, Error> {
    match asked.unwrap_or(NEXT_DEFAULT) {
        count @ 1..=1000 => Ok(count as usize),
        _ => Err(malformed("from 1 to 1000 times are shown", "ask for fewer")),
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<ScheduleList>,
) -> Result<Answer<Listing<ScheduleView>>, Error> {
    let mut list = Gather::of::<ScheduleList>(&call.query)?;
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found = control.schedule_list(&call.cx, project, ask.after(), ask.limit).await?;
        list.take(found, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<ScheduleGet>) -> Result<Answer<ScheduleView>, Error> {
    let name = &call.path.schedule;
    Ok(shown(app.control().schedule_get(&call.cx, call.project(), name).await?))
}

pub(crate) async fn apply(
    app: App,
    call: Call<ScheduleApply>,
) -> Result<Answer<ScheduleView>, Error> {
    let (control, project, given) = (app.control(), call.project(), &call.path.schedule);
    let name: Name = match given.parse::<ScheduleId>() {
        Ok(_) => control.schedule_get(&call.cx, project, given).await?.schedule.name,
        Err(_) => given.parse().map_err(|problem| bad_name(&problem))?,
    };
    let (detail, _) =
        control.schedule_apply(&call.cx, project, &name, &call.body, Some(call.expected)).await?;
    Ok(shown(detail))
}

fn bad_name(problem: &dyn std::fmt::Display) -> Error {
    let detail = problem.to_string();
    let mut error = malformed(detail.clone(), "choose a name such as nightly");
    error.errors = vec![Diagnostic::new("/path/schedule", detail)];
    error
}

pub(crate) async fn remove(app: App, call: Call<ScheduleRemove>) -> Result<Answer<Nothing>, Error> {
    let name = &call.path.schedule;
    app.control().schedule_remove(&call.cx, call.project(), name, None).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn pause(
    app: App,
    call: Call<SchedulePause>,
) -> Result<Answer<ScheduleView>, Error> {
    let (name, reason) = (&call.path.schedule, &call.body.reason);
    Ok(shown(app.control().schedule_pause(&call.cx, call.project(), name, reason).await?))
}

pub(crate) async fn resume(
    app: App,
    call: Call<ScheduleResume>,
) -> Result<Answer<ScheduleView>, Error> {
    let name = &call.path.schedule;
    Ok(shown(app.control().schedule_resume(&call.cx, call.project(), name).await?))
}

pub(crate) async fn run(
    app: App,
    call: Call<ScheduleRun>,
) -> Result<Answer<ScheduleFireView>, Error> {
    let name = &call.path.schedule;
    Ok(Answer::new(fire(app.control().schedule_run(&call.cx, call.project(), name).await?)))
}

pub(crate) async fn next(
    app: App,
    call: Call<ScheduleNext>,
) -> Result<Answer<Listing<NextFireView>>, Error> {
    let (name, count) = (&call.path.schedule, count(call.query.count)?);
    let next = app.control().schedule_next(call.project(), name, count).await?;
    Ok(Answer::new(page::whole(next, next_view)))
}

pub(crate) async fn preview(
    app: App,
    call: Call<SchedulePreview>,
) -> Result<Answer<Listing<NextFireView>>, Error> {
    let next = app.control().schedule_preview(&call.body, count(call.query.count)?)?;
    Ok(Answer::new(page::whole(next, next_view)))
}

pub(crate) async fn history(
    app: App,
    call: Call<ScheduleHistory>,
) -> Result<Answer<Listing<ScheduleFireView>>, Error> {
    let mut list = Gather::of::<ScheduleHistory>(&call.query)?;
    let (name, state) = (&call.path.schedule, call.query.state);
    let (control, project) = (app.control(), call.project());
    while let Some(ask) = list.ask() {
        let found = control.schedule_history(project, name, state, ask.after(), ask.limit).await?;
        list.take(found, fire)?;
    }
    Ok(Answer::new(list.listing()))
}
