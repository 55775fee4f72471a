//! Events and the audit trail.

use hostler_api::Listing;
use hostler_api::record::{AuditList, AuditVerify, AuditView, EventList, EventView};
use hostler_control::{AuditQuery, EventQuery};
use hostler_model::{AuditVerdict, Error, Scope};

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
    match call.cx.caller.role_in(Scope::Project(project.id)) {
        Some(_) => Ok(project.id),
        None => Err(unknown_project(given)),
    }
}

pub(crate) async fn audit(
    app: App,
    call: Call<AuditList>,
) -> Result<Answer<Listing<AuditView>>, Error> {
    let before = page::before(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let query = AuditQuery { actor: call.query.actor.clone(), action: call.query.action.clone() };
    let entries = app.control().audit_list(&call.cx, &query, before, limit).await?;
    Ok(Answer::new(page::listing(entries, view::audit)))
}

pub(crate) async fn verify(
    app: App,
    call: Call<AuditVerify>,
) -> Result<Answer<AuditVerdict>, Error> {
    Ok(Answer::new(app.control().audit_verify(&call.cx).await?))
}
