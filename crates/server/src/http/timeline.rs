//! Timelines.

use hostler_api::Listing;
use hostler_api::timeline::{
    OBJECT_MAX, ProjectTimeline, TimelineFind, TimelineGet, TimelineLeftOut,
    TimelineQuery as Asked, TimelineView,
};
use hostler_control::{Cx, TimelinePlaces, TimelineQuery};
use hostler_model::label::UnknownLabel;
use hostler_model::{
    Diagnostic, Error, ObjectKind, ObjectRef, Page, Project, TimelineEntry, TimelineSource,
};

use super::error::malformed;
use super::{Answer, App, Call, page};

pub(crate) async fn find(
    app: App,
    call: Call<TimelineFind>,
) -> Result<Answer<Listing<ObjectRef>>, Error> {
    let object = &call.query.object;
    if !(1..=OBJECT_MAX).contains(&object.chars().count()) {
        let detail = format!("a name or an id has 1 to {OBJECT_MAX} characters");
        let mut refused = malformed(detail.clone(), "name the object");
        refused.errors = vec![Diagnostic::new("/query/object", detail)];
        return Err(refused);
    }
    let found = app.control().timeline_find(&call.cx, call.project(), object).await?;
    Ok(Answer::new(page::whole(found, |object| object)))
}

pub(crate) async fn of_project(
    app: App,
    call: Call<ProjectTimeline>,
) -> Result<Answer<TimelineView>, Error> {
    let object = (call.path.kind, call.path.object.as_str());
    shown(&app, &call.cx, Some(call.project()), object, &call.query).await
}

pub(crate) async fn of_all(
    app: App,
    call: Call<TimelineGet>,
) -> Result<Answer<TimelineView>, Error> {
    let object = (call.path.kind, call.path.object.as_str());
    shown(&app, &call.cx, None, object, &call.query).await
}

async fn shown(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    object: (ObjectKind, &str),
    asked: &Asked,
) -> Result<Answer<TimelineView>, Error> {
    let query = TimelineQuery {
        since: asked.since,
        until: asked.until,
        sources: sources(asked.sources.as_deref())?,
    };
    let places = places(asked.cursor.as_deref())?;
    let limit = page::limit(asked.limit)?;
    let found = app.control().timeline(cx, project, object, &query, places, limit).await?;
    let next = match &found.next {
        Some(places) => Some(serde_json::to_string(places).map_err(Error::internal)?),
        None => None,
    };
    let listing = page::listing(Page { items: found.entries, next }, |entry: TimelineEntry| entry);
    let left_out = found.left_out.into_iter();
    Ok(Answer::new(TimelineView {
        object: found.object,
        items: listing.items,
        next_cursor: listing.next_cursor,
        left_out: left_out
            .map(|(source, needs)| TimelineLeftOut { source, needs: needs.to_owned() })
            .collect(),
        kept_since: found.kept_since,
    }))
}

fn sources(given: Option<&str>) -> Result<Vec<TimelineSource>, Error> {
    let words = given.into_iter().flat_map(|text| text.split(','));
    words
        .map(|word| {
            word.trim().parse().map_err(|error: UnknownLabel| {
                let mut refused = malformed("a source is not known", "name one of those listed");
                refused.errors = vec![Diagnostic::new("/query/sources", error.to_string())];
                refused
            })
        })
        .collect()
}

fn places(cursor: Option<&str>) -> Result<TimelinePlaces, Error> {
    let Some(text) = page::after(cursor)? else { return Ok(TimelinePlaces::default()) };
    serde_json::from_str(&text).map_err(|_| {
        malformed("the cursor was not made by this endpoint", "use `nextCursor` to page, unchanged")
    })
}
