//! Events.

use hostler_api::Listing;
use hostler_api::record::{EventList, EventView};
use hostler_control::EventQuery;
use hostler_model::{Error, Need, Permission};

use super::gate::unknown_project;
use super::watch::{self, Watched};
use super::{Answer, App, Call, page, view};

pub(crate) async fn events(
    app: App,
    call: Call<EventList>,
) -> Result<Answer<Listing<EventView>>, Error> {
    let project = match &call.query.project {
        Some(given) => Some(visible_project(&app, &call, given).await?),
        None => None,
    };
    let query = EventQuery {
        project,
        kind: call.query.kind,
        object: call.query.object,
        id: call.query.id.clone(),
        with_nodes: false,
    };
    if call.query.watch == Some(true) {
        let cursor = call.query.cursor.clone();
        return watch::open(app, call, cursor, Watched::Events(query)).await;
    }
    let before = page::before(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let head = app.control().event_head().await?;
    let events = app.control().event_list(&call.cx, &query, before, limit).await?;
    let mut listing = page::listing(events, view::event);
    listing.watch_cursor = Some(head.to_string());
    Ok(Answer::new(listing))
}

async fn visible_project(
    app: &App,
    call: &Call<EventList>,
    given: &str,
) -> Result<hostler_model::ProjectId, Error> {
    let project = app.control().project_resolve(given).await?;
    match call.cx.caller.may(Need::of(Permission::EventRead, Some(project.id))) {
        true => Ok(project.id),
        false => Err(unknown_project(given)),
    }
}
