//! Timelines: everything that touched an object, from every place that knows something of it.
//!
//! What is read of each source is put together by `engine::timeline`. Sources that the caller may not see are left
//! out, and said to be. In a project nothing is asked of the journal but this project's events; the nodes that
//! an object was on are the exception, for those who may see the events of the installation.

use std::collections::{BTreeMap, HashSet};

use hostler_engine::timeline::{Part, Places, Row, Stay, merge, stays, union};
use hostler_model::schedule::{Fire, Schedule};
use hostler_model::{
    Action, Code, Error, Event, EventKind, HookId, Limit, Name, Need, NodeId, ObjectKind,
    ObjectRef, Permission, Project, RunId, ScheduleId, Scope, TimelineEntry, TimelineSource,
    Timestamp, WorkloadId,
};
use hostler_store::{AuditFilter, Conn, DeliveryFilter, EventFilter};

use super::timeline_rows::{audit_row, delivery_row, event_row, fire_row, run_row};
use super::timeline_subject::{Known, Question, Subject, find, find_all, kinds_about};
use crate::{Control, Cx};

/// Schedules of one workload whose times are looked at.
const SCHEDULES_MAX: usize = 16;

/// What somebody wants to see of a timeline.
#[derive(Clone, Debug, Default)]
pub struct TimelineQuery {
    /// Not before this time...
    pub since: Option<Timestamp>,
    /// ...and before this one.
    pub until: Option<Timestamp>,
    /// Only these; all where it is empty.
    pub sources: Vec<TimelineSource>,
}

/// A page of a timeline.
#[derive(Clone, Debug)]
pub struct Timeline {
    pub object: ObjectRef,
    /// Newest first.
    pub entries: Vec<TimelineEntry>,
    /// Where it goes on.
    pub next: Option<Places>,
    /// What is not in it, and why.
    pub left_out: Vec<(TimelineSource, &'static str)>,
    /// Older events are gone.
    pub kept_since: Option<Timestamp>,
}

/// What is asked of every source.
struct Ask<'a> {
    project: Option<&'a Project>,
    subject: &'a Subject,
    query: &'a TimelineQuery,
    /// One more than a page has.
    limit: Limit,
    /// Whether fires are told of by themselves, and not by events.
    has_fires: bool,
    /// Whether events are told of, so that what they say needs no saying again.
    has_events: bool,
}

impl Control {
    /// A page of the timeline of an object of a project, or of the installation.
    pub async fn timeline(
        &self,
        cx: &Cx,
        project: Option<&Project>,
        (kind, name_or_id): (ObjectKind, &str),
        query: &TimelineQuery,
        places: Places,
        limit: Limit,
    ) -> Result<Timeline, Error> {
        if project.is_none() {
            require_all(cx)?;
        }
        let mut read = self.store.read().await?;
        let subject = &find(&mut read, project, kind, name_or_id).await?;
        let (sources, left_out) = sources(cx, project, subject, query);
        let ask = &Ask {
            project,
            subject,
            query,
            limit: Limit::new(limit.get() + 1).unwrap_or(Limit::LARGEST),
            has_fires: sources.contains(&TimelineSource::Fire),
            has_events: sources.contains(&TimelineSource::Event),
        };
        let mut parts = Vec::new();
        for source in sources {
            let Ok(before) = places.before(source) else { continue };
            let (rows, is_all) = match source {
                TimelineSource::Event => events(&mut read, ask, before).await?,
                TimelineSource::Node => nodes(&mut read, ask, before).await?,
                TimelineSource::Run => runs(&mut read, ask, before).await?,
                TimelineSource::Fire => fires(&mut read, ask, before).await?,
                TimelineSource::Delivery => deliveries(&mut read, cx, ask, before).await?,
                TimelineSource::Audit => audit(&mut read, ask, before).await?,
            };
            parts.push(Part { source, rows, is_all });
        }
        let kept_since = read.event_kept_since().await?;
        drop(read);
        let (entries, next) = merge(parts, places, limit.get() as usize);
        let kept_since = kept_since.filter(|kept| query.since.is_none_or(|since| since < *kept));
        Ok(Timeline { object: subject.object.clone(), entries, next, left_out, kept_since })
    }

    /// What of a project has this name or id.
    pub async fn timeline_find(
        &self,
        _: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Vec<ObjectRef>, Error> {
        let mut read = self.store.read().await?;
        find_all(&mut read, project, name_or_id).await
    }
}

fn require_all(cx: &Cx) -> Result<(), Error> {
    match cx.caller.projects_with(Permission::EventRead) {
        None => Ok(()),
        Some(_) => Err(Error::forbidden(
            "what belongs to no project is seen by those who may see the events of the whole installation",
        )),
    }
}

/// Which sources are read, and which ones not though they may have something.
fn sources(
    cx: &Cx,
    project: Option<&Project>,
    subject: &Subject,
    query: &TimelineQuery,
) -> (Vec<TimelineSource>, Vec<(TimelineSource, &'static str)>) {
    let may = |permission| cx.caller.may(Need::of(permission, project.map(|it| it.id)));
    let is_run = matches!(subject.known, Known::Task(_) | Known::Workload(..));
    let is_timed = is_run || matches!(subject.known, Known::Schedule(_));
    let sees_all = cx.caller.projects_with(Permission::EventRead).is_none();
    let all = [
        (TimelineSource::Event, true, true, ""),
        (TimelineSource::Node, is_run, sees_all, "event.read on the whole installation"),
        (
            TimelineSource::Run,
            matches!(subject.known, Known::Workload(..)),
            may(Permission::WorkloadRead),
            "workload.read",
        ),
        (
            TimelineSource::Fire,
            is_timed && project.is_some(),
            may(Permission::ScheduleRead),
            "schedule.read",
        ),
        (
            TimelineSource::Delivery,
            subject.line().is_some(),
            may(Permission::HookGlobal) || (project.is_some() && may(Permission::HookRead)),
            "hook.read",
        ),
        (TimelineSource::Audit, true, may(Permission::AuditRead), "audit.read"),
    ];
    let (mut read, mut left_out) = (Vec::new(), Vec::new());
    for (source, has_any, is_allowed, need) in all {
        let is_wanted = query.sources.is_empty() || query.sources.contains(&source);
        match (has_any && is_wanted, is_allowed) {
            (false, _) => {}
            (true, true) => read.push(source),
            (true, false) => left_out.push((source, need)),
        }
    }
    (read, left_out)
}

type Rows = (Vec<Row>, bool);

/// A page cursor that was made by somebody else.
fn strange() -> Error {
    Error::new(
        Code::Malformed,
        "the cursor was not made by this endpoint",
        "use `nextCursor` to page, unchanged",
    )
}

fn number(before: Option<&str>) -> Result<Option<u64>, Error> {
    before.map(|key| key.parse().map_err(|_| strange())).transpose()
}

/// A key of two parts.
fn pair<A: std::str::FromStr, B: std::str::FromStr>(
    before: Option<&str>,
) -> Result<Option<(A, B)>, Error> {
    let Some(key) = before else { return Ok(None) };
    let (first, second) = key.split_once('/').ok_or_else(strange)?;
    let first = first.parse().map_err(|_| strange())?;
    Ok(Some((first, second.parse().map_err(|_| strange())?)))
}

impl Ask<'_> {
    fn filter(&self) -> EventFilter<'_> {
        EventFilter {
            project: self.project.map(|project| project.id),
            since: self.query.since,
            until: self.query.until,
            ..EventFilter::default()
        }
    }

    fn is_all<T>(&self, found: &[T]) -> bool {
        found.len() < self.limit.get() as usize
    }

    /// Whether a moment is after what is asked for, and whether it is before it.
    fn is_after(&self, time: Timestamp) -> bool {
        self.query.until.is_some_and(|until| time >= until)
    }

    fn is_before(&self, time: Timestamp) -> bool {
        self.query.since.is_some_and(|since| time < since)
    }

    /// What was found of a source that knows nothing of times, the newest first.
    fn within(&self, rows: Vec<Row>, is_all: bool) -> Rows {
        let is_past = rows.last().is_some_and(|row| self.is_before(row.time));
        let rows = rows.into_iter().map(|row| match self.is_after(row.time) {
            true => Row { entry: None, ..row },
            false => row,
        });
        (rows.filter(|row| !self.is_before(row.time)).collect(), is_all || is_past)
    }
}

async fn recent(
    read: &mut Conn,
    ask: &Ask<'_>,
    filter: EventFilter<'_>,
    before: Option<u64>,
) -> Result<(Vec<Event>, bool), Error> {
    let page = read.event_list_recent(filter, before, ask.limit).await?;
    Ok((page.items, page.next.is_none()))
}

async fn events(read: &mut Conn, ask: &Ask<'_>, before: Option<&str>) -> Result<Rows, Error> {
    let before = number(before)?;
    let mut found = Vec::new();
    for question in ask.subject.questions() {
        let of = ask.filter();
        found.push(match &question {
            Question::About(kinds, ids) => {
                let filter = EventFilter { object_kinds: kinds, object_ids: ids, ..of };
                recent(read, ask, filter, before).await?
            }
            Question::Named(kind) => {
                let kinds = kinds_about(*kind);
                let name = Some(ask.subject.object.name.as_str());
                recent(read, ask, EventFilter { kinds: &kinds, object_name: name, ..of }, before)
                    .await?
            }
            Question::CausedBy(causes) => {
                recent(read, ask, EventFilter { causes, ..of }, before).await?
            }
            Question::CausedUnder(cause) => {
                recent(read, ask, EventFilter { cause_under: Some(cause), ..of }, before).await?
            }
        });
    }
    let (events, is_all) = union(found, |event| event.sequence);
    let row = |event: Event| {
        let is_told = ask.has_fires && is_of_fire(event.event.kind);
        let mut row = event_row(event, TimelineSource::Event);
        if is_told {
            row.entry = None;
        }
        row
    };
    Ok((events.into_iter().map(row).collect(), is_all))
}

fn is_of_fire(kind: EventKind) -> bool {
    use EventKind as E;
    matches!(kind, E::ScheduleFired | E::ScheduleFailed | E::ScheduleMissed)
}

/// What happened to the nodes that it was on, while it was there.
async fn nodes(read: &mut Conn, ask: &Ask<'_>, before: Option<&str>) -> Result<Rows, Error> {
    let before = number(before)?;
    let (Known::Task(id) | Known::Workload(id, _)) = ask.subject.known else {
        return Ok((Vec::new(), true));
    };
    let placed = read.placement_by_workload(id).await?;
    let lasted = placed.into_iter().map(|it| Stay {
        node: it.node_id,
        from: it.time_created,
        until: it.is_released.then_some(it.time_modified),
    });
    let mut found = Vec::new();
    for stay in stays(lasted.collect()) {
        let until = stay.until.into_iter().chain(ask.query.until).min();
        let filter = EventFilter {
            object_kinds: &[ObjectKind::Node],
            object_ids: &[stay.node.to_string()],
            since: ask.query.since.max(Some(stay.from)),
            until,
            ..EventFilter::default()
        };
        found.push(recent(read, ask, filter, before).await?);
    }
    let (events, is_all) = union(found, |event| event.sequence);
    Ok((events.into_iter().map(|event| event_row(event, TimelineSource::Node)).collect(), is_all))
}

/// Ends of runs of a service. That they begin is told in events, as is everything about tasks.
async fn runs(read: &mut Conn, ask: &Ask<'_>, before: Option<&str>) -> Result<Rows, Error> {
    let Known::Workload(id, _) = ask.subject.known else { return Ok((Vec::new(), true)) };
    let before = pair::<i64, RunId>(before)?;
    let before = before.map(|(time, run)| (Timestamp::from_micros(time), run));
    let (since, until) = (ask.query.since, ask.query.until);
    let ended = read.run_list_ended(&[id], since, until, before, ask.limit).await?;
    let is_all = ask.is_all(&ended);
    let ids: HashSet<NodeId> = ended.iter().map(|run| run.node_id).collect();
    let nodes = read.node_get_many(&ids.into_iter().collect::<Vec<_>>()).await?;
    let names: BTreeMap<NodeId, Name> = nodes.into_iter().map(|it| (it.id, it.name)).collect();
    let object = &ask.subject.object;
    let rows = ended.into_iter().filter_map(|run| run_row(&run, names.get(&run.node_id), object));
    Ok((rows.collect(), is_all))
}

/// Times of its schedules. What a task was made by is one of them.
async fn fires(read: &mut Conn, ask: &Ask<'_>, before: Option<&str>) -> Result<Rows, Error> {
    let before = pair::<i64, ScheduleId>(before)?;
    let before = before.map(|(time, id)| (Timestamp::from_micros(time), id));
    let Some(project) = ask.project else { return Ok((Vec::new(), true)) };
    let schedules = match &ask.subject.known {
        Known::Task(id) => {
            let fire = fire_of_task(read, project, *id).await?;
            let fire = fire.filter(|(_, fire)| {
                before.is_none_or(|before| (fire.time, fire.schedule_id) < before)
            });
            let rows = fire.iter().map(|(name, fire)| fire_row(name, fire)).collect();
            return Ok(ask.within(rows, true));
        }
        Known::Schedule(id) => read.schedule_get(*id).await?.into_iter().collect(),
        Known::Workload(_, name) => schedules_of(read, project, name).await?,
        Known::Hook(_) | Known::Named(_) | Known::Other => Vec::new(),
    };
    let mut found = Vec::new();
    for schedule in &schedules {
        // Of those at the same time the ones with smaller ids are still to come.
        let after = before.map(|(time, id)| match schedule.id < id {
            true => Timestamp::from_micros(time.micros().saturating_add(1)),
            false => time,
        });
        let after = after.into_iter().chain(ask.query.until).min();
        let page = read.schedule_fire_list(schedule.id, None, after, ask.limit).await?;
        found.push((page.items, page.next.is_none()));
    }
    let (fires, is_all) = union(found, |fire| (fire.time, fire.schedule_id));
    let name = |id| schedules.iter().find(|it| it.id == id).map(|it| &it.name);
    let rows = fires.iter().filter_map(|fire| Some(fire_row(name(fire.schedule_id)?, fire)));
    Ok(ask.within(rows.collect(), is_all))
}

async fn schedules_of(
    read: &mut Conn,
    project: &Project,
    name: &Name,
) -> Result<Vec<Schedule>, Error> {
    let all = read.schedule_list(project.id, None, Limit::LARGEST).await?.items.into_iter();
    let is_meant = |schedule: &Schedule| match &schedule.spec.target {
        Action::Workload(it) => it.name == *name,
        _ => false,
    };
    Ok(all.filter(is_meant).take(SCHEDULES_MAX).collect())
}

async fn fire_of_task(
    read: &mut Conn,
    project: &Project,
    id: WorkloadId,
) -> Result<Option<(Name, Fire)>, Error> {
    let filter = EventFilter {
        project: Some(project.id),
        kinds: &[EventKind::TaskCreated],
        object_ids: &[id.to_string()],
        ..EventFilter::default()
    };
    let made = read.event_list(filter, 0, Limit::DEFAULT).await?;
    let cause = made.into_iter().find_map(|event| event.event.correlation);
    let key = cause.as_deref().and_then(|cause| cause.strip_prefix("fire/"));
    let Ok(Some((schedule, time))) = pair::<ScheduleId, i64>(key) else { return Ok(None) };
    let Some(schedule) = read.schedule_get(schedule).await? else { return Ok(None) };
    let fire = read.schedule_fire_get(schedule.id, Timestamp::from_micros(time)).await?;
    Ok(fire.filter(|fire| fire.project_id == project.id).map(|fire| (schedule.name, fire)))
}

/// What hooks did about it; of a hook, what it did.
async fn deliveries(
    read: &mut Conn,
    cx: &Cx,
    ask: &Ask<'_>,
    before: Option<&str>,
) -> Result<Rows, Error> {
    let before = pair::<u64, HookId>(before)?;
    let mut names: BTreeMap<HookId, Name> = BTreeMap::new();
    let (found, is_all) = if let Known::Hook(id) = ask.subject.known {
        names.extend(ask.subject.object.name.parse().map(|name| (id, name)));
        let before = before.map(|(sequence, _)| sequence);
        let of = DeliveryFilter::default();
        let page = read.hook_delivery_list(id, of, before, ask.limit).await?;
        (page.items, page.next.is_none())
    } else {
        let scopes = [
            ask.project.map(|project| Scope::Project(project.id)),
            cx.caller.may(Need::of(Permission::HookGlobal, None)).then_some(Scope::Global),
        ];
        for scope in scopes.into_iter().flatten() {
            let hooks = read.event_hook_list(scope, None, Limit::LARGEST).await?;
            names.extend(hooks.items.into_iter().map(|hook| (hook.id, hook.name)));
        }
        let Some(line) = ask.subject.line().filter(|_| !names.is_empty()) else {
            return Ok((Vec::new(), true));
        };
        let hooks: Vec<HookId> = names.keys().copied().collect();
        let found = read.hook_delivery_about(&hooks, &line, before, ask.limit).await?;
        let is_all = ask.is_all(&found);
        (found, is_all)
    };
    let rows = found.iter().filter_map(|it| Some(delivery_row(it, names.get(&it.line.hook)?)));
    Ok(ask.within(rows.collect(), is_all))
}

/// What people did, as far as no event tells of it.
async fn audit(read: &mut Conn, ask: &Ask<'_>, before: Option<&str>) -> Result<Rows, Error> {
    let object = &ask.subject.object;
    let is_named = matches!(ask.subject.known, Known::Named(_));
    let filter = AuditFilter {
        object_kind: Some(object.kind),
        object: Some(if is_named { &object.name } else { &object.id }),
        project: ask.project.map(|project| project.id),
        since: ask.query.since,
        until: ask.query.until,
        ..AuditFilter::default()
    };
    let page = read.audit_list(filter, number(before)?, ask.limit).await?;
    let causes: Vec<String> =
        page.items.iter().map(|entry| entry.entry.request_id.clone()).collect();
    let told = match ask.has_events && !causes.is_empty() {
        false => HashSet::new(),
        true => {
            let of = EventFilter { causes: &causes, ..EventFilter::default() };
            let of = match is_named {
                true => EventFilter { object_name: Some(&object.name), ..of },
                false => EventFilter { object_id: Some(&object.id), ..of },
            };
            let events = read.event_list(of, 0, Limit::LARGEST).await?;
            events.into_iter().filter_map(|event| event.event.correlation).collect()
        }
    };
    let rows = page.items.into_iter().map(|entry| audit_row(entry, &told)).collect();
    Ok((rows, page.next.is_none()))
}
