//! Events.

use hostler_api::Listing;
use hostler_api::record::{EventEmit, EventEmitBody, EventExport, EventList, EventView};
use hostler_control::{Cx, EventQuery, NewCustomEvent};
use hostler_model::filter::Filter;
use hostler_model::{
    Diagnostic, Error, EventName, EventPattern, Need, Permission, ProjectId, read_event_filter,
};

use super::error::malformed;
use super::gate::unknown_project;
use super::watch::{self, Watched};
use super::{Answer, App, Call, gather, page, view};

pub(crate) async fn events(
    app: App,
    call: Call<EventList>,
) -> Result<Answer<Listing<EventView>>, Error> {
    let project = visible_project(&app, &call.cx, call.query.project.as_deref()).await?;
    let query = EventQuery {
        project,
        kind: call.query.kind.clone(),
        object: call.query.object,
        id: call.query.id.clone(),
        name: call.query.name.clone(),
        cause: call.query.cause.clone(),
        since: call.query.since,
        until: call.query.until,
        filter: filter(call.query.filter.as_deref(), call.query.kind.as_slice())?,
        with_nodes: false,
    };
    if call.query.watch == Some(true) {
        if query.since.is_some() || query.until.is_some() {
            let next = "list with `since`, and watch from the `watchCursor` of the list";
            return Err(malformed("what is watched begins now and has no end", next));
        }
        let cursor = call.query.cursor.clone();
        return watch::open(app, call, cursor, Watched::Events(query), None).await;
    }
    let before = page::before(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let head = app.control().event_head().await?;
    let events = app.control().event_list(&call.cx, &query, before, limit).await?;
    let projects = app.control().event_projects(&events.items).await?;
    let mut listing = page::listing(events, |event| view::event(event, &projects));
    listing.watch_cursor = Some(head.to_string());
    Ok(Answer::new(listing))
}

fn filter(given: Option<&str>, kinds: &[EventPattern]) -> Result<Option<Filter>, Error> {
    gather::read(given, |text| read_event_filter(text, kinds))
}

async fn visible_project(
    app: &App,
    cx: &Cx,
    given: Option<&str>,
) -> Result<Option<ProjectId>, Error> {
    let Some(given) = given else { return Ok(None) };
    let project = app.control().project_resolve(given).await?;
    match cx.caller.may(Need::of(Permission::EventRead, Some(project.id))) {
        true => Ok(Some(project.id)),
        false => Err(unknown_project(given)),
    }
}

pub(crate) async fn export(
    app: App,
    call: Call<EventExport>,
) -> Result<Answer<Listing<EventView>>, Error> {
    let asked = &call.query;
    let query = EventQuery {
        project: visible_project(&app, &call.cx, asked.project.as_deref()).await?,
        kind: asked.kind.clone(),
        object: asked.object,
        id: asked.id.clone(),
        name: asked.name.clone(),
        cause: asked.cause.clone(),
        since: asked.since,
        until: asked.until,
        filter: filter(asked.filter.as_deref(), asked.kind.as_slice())?,
        with_nodes: false,
    };
    let after = page::before(asked.cursor.as_deref())?.or(asked.after);
    let limit = page::limit(asked.limit)?;
    let events = app.control().event_export(&call.cx, &query, after, limit).await?;
    let projects = app.control().event_projects(&events.items).await?;
    Ok(Answer::new(page::listing(events, |event| view::event(event, &projects))))
}

pub(crate) async fn emit(app: App, call: Call<EventEmit>) -> Result<Answer<EventView>, Error> {
    let EventEmitBody { kind, message, payload } = &call.body;
    let EventName::Custom(name) = kind else {
        let words = format!("`{kind}` is told by Hostler itself; yours are `custom.NAME`");
        return Err(Error::invalid(vec![Diagnostic::new("/kind", words)]));
    };
    let new = NewCustomEvent {
        name: name.clone(),
        message: message.clone(),
        payload: payload.clone(),
        cause: None,
    };
    let told = app.control().event_emit(&call.cx, call.project(), new).await?;
    let projects = app.control().event_projects(std::slice::from_ref(&told)).await?;
    Ok(Answer::new(view::event(told, &projects)))
}
