//! Timelines: which object is meant, and all pages of what touched it.

use hostler_api::Listing;
use hostler_api::ProjectPath;
use hostler_api::node::{NodeGet, NodePath};
use hostler_api::timeline::{
    ProjectTimeline, ProjectTimelinePath, TimelineFind, TimelineFindQuery, TimelineGet,
    TimelinePath, TimelineQuery, TimelineView,
};
use hostler_client::Error;
use hostler_model::{Code, ObjectKind, ObjectRef, TimelineEntry, TimelineSource};
use serde::Serialize;

use super::{Cx, DONE, Link, NONE, PAGE};
use crate::args::TimelineArgs;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format, TimelineRow};

/// What is printed as a document.
#[derive(Serialize)]
struct Whole {
    object: ObjectRef,
    #[serde(flatten)]
    items: Listing<TimelineEntry>,
    #[serde(rename = "leftOut", skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<hostler_api::timeline::TimelineLeftOut>,
    #[serde(rename = "keptSince", skip_serializing_if = "Option::is_none")]
    kept_since: Option<hostler_model::Timestamp>,
}

pub async fn timeline(cx: &Cx, args: TimelineArgs) -> Outcome {
    let link = cx.link()?;
    let (kind, name) = meant(&link, &args.object).await?;
    let whole = all(cx, &link, (kind, &name), &args).await?;
    if let Some(kept) = whole.kept_since {
        cx.ui.warn(&format!("events before {kept} are not kept any more"));
    }
    for left in &whole.left_out {
        let what = words(left.source);
        cx.ui.warn(&format!("{what} are left out: seeing them takes {}", left.needs));
    }
    match cx.ui.format() {
        Some(format @ (Format::Json | Format::Yaml | Format::JsonPath(_))) => {
            output::document(&cx.ui, format, &whole)?;
        }
        _ => {
            let object = &whole.object;
            let entries = whole.items.items.into_iter();
            let rows: Vec<TimelineRow> =
                entries.map(|entry| TimelineRow::new(entry, object)).collect();
            output::list(&cx.ui, cx.now(), &rows)?;
        }
    }
    Ok(DONE)
}

fn words(source: TimelineSource) -> &'static str {
    match source {
        TimelineSource::Event => "events",
        TimelineSource::Node => "events of its nodes",
        TimelineSource::Run => "runs",
        TimelineSource::Fire => "times of schedules",
        TimelineSource::Delivery => "deliveries of hooks",
        TimelineSource::Audit => "audit entries",
    }
}

/// Kind and name: as they stand, or of the one object that has the name.
async fn meant(link: &Link, given: &str) -> Result<(ObjectKind, String), Failure> {
    if let Some((kind, name)) = given.split_once('/')
        && let Ok(kind) = kind.parse()
        && !name.is_empty()
    {
        return Ok((kind, name.to_owned()));
    }
    let path = ProjectPath { project: link.project.clone() };
    let query = TimelineFindQuery { object: given.to_owned() };
    let mut found = link.client.call::<TimelineFind>(&path, &query, &NONE).await?.items;
    let path = NodePath { node: given.to_owned() };
    match link.client.call::<NodeGet>(&path, &NONE, &NONE).await {
        Ok(node) => found.push(ObjectRef::new(ObjectKind::Node, node.id, &node.name)),
        Err(error) if is_none(&error) => {}
        Err(error) => return Err(error.into()),
    }
    let called = |one: &ObjectRef| format!("{}/{}", one.kind, one.name);
    match found.as_slice() {
        [] => Err(Failure::told(
            exit::Code::NotFound,
            format!("nothing is called `{given}` in project {}", link.project),
            "say its kind too, such as workload/web: then what is gone is found as well",
        )),
        [one] => Ok((one.kind, one.id.clone())),
        many => {
            let names: Vec<String> = many.iter().map(called).collect();
            Err(Failure::usage(
                format!("`{given}` may be {}", names.join(", ")),
                format!("say which: hostler timeline {}", names[0]),
            ))
        }
    }
}

/// No such thing, or none that one may know of.
fn is_none(error: &Error) -> bool {
    [Code::NotFound, Code::Forbidden, Code::Malformed].iter().any(|code| error.is(*code))
}

async fn all(
    cx: &Cx,
    link: &Link,
    (kind, name): (ObjectKind, &str),
    args: &TimelineArgs,
) -> Result<Whole, Failure> {
    let sources: Vec<&str> = args.source.iter().map(|source| source.label()).collect();
    let mut query = TimelineQuery {
        since: args.since.map(|when| when.moment(cx.now())),
        until: args.until.map(|when| when.moment(cx.now())),
        sources: (!sources.is_empty()).then(|| sources.join(",")),
        limit: PAGE,
        cursor: None,
    };
    let mut whole: Option<Whole> = None;
    loop {
        let known = whole.as_ref().map_or(0, |whole| whole.items.items.len());
        if args.limit > 0 {
            query.limit = u32::try_from(args.limit.saturating_sub(known)).ok().min(PAGE);
        }
        let page = page(link, kind, name, &query).await?;
        let TimelineView { object, items, next_cursor, left_out, kept_since } = page;
        let whole = whole.get_or_insert_with(|| {
            let items = Listing { items: Vec::new(), next_cursor: None, watch_cursor: None };
            Whole { object, items, left_out, kept_since }
        });
        whole.items.items.extend(items);
        query.cursor = next_cursor;
        let is_enough = args.limit > 0 && whole.items.items.len() >= args.limit;
        if is_enough || query.cursor.is_none() {
            break;
        }
    }
    if let Some(whole) = &mut whole
        && args.limit > 0
    {
        whole.items.items.truncate(args.limit);
    }
    whole.ok_or_else(|| Failure::Other(anyhow::anyhow!("a timeline without a page")))
}

async fn page(
    link: &Link,
    kind: ObjectKind,
    name: &str,
    query: &TimelineQuery,
) -> Result<TimelineView, Failure> {
    let object = name.to_owned();
    if kind.is_global() {
        let path = TimelinePath { kind, object };
        return Ok(link.client.call::<TimelineGet>(&path, query, &NONE).await?);
    }
    let path = ProjectTimelinePath { project: link.project.clone(), kind, object };
    match link.client.call::<ProjectTimeline>(&path, query, &NONE).await {
        // It may be one of the whole installation.
        Err(error) if kind == ObjectKind::Hook && error.is(Code::NotFound) => {
            let path = TimelinePath { kind, object: path.object };
            match link.client.call::<TimelineGet>(&path, query, &NONE).await {
                Err(_) => Err(error.into()),
                Ok(page) => Ok(page),
            }
        }
        other => Ok(other?),
    }
}
