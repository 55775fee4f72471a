//! Schedules: apply, pause, resume, remove.
//!
//! Whoever applies a schedule is who its target is done as, also when it was somebody else's before: nobody has
//! something done with rights that are not their own.

use hostler_engine::schedule::FireLog;
use hostler_model::schedule::{Pause, Schedule, ScheduleSpec};
use hostler_model::suggest::nearest;
use hostler_model::{
    Code, Diagnostic, Error, EventKind, Generation, Limit, Mandate, Name, Permission, Project,
    ScheduleId, SchedulePayload,
};
use hostler_store::{Conn, Tx};
use serde_json::json;

use super::project::{check_text, settled, taken};
use super::schedule_look::ScheduleDetail;
use super::task::{Names, require_own};
use crate::schedule::{log_value, schedule_object, timetable};
use crate::{Applied, Control, Cx, audit_state};

const REASON_LENGTH: std::ops::RangeInclusive<usize> = 1..=500;
/// How many schedules a project has at most.
const SCHEDULES_MAX: u64 = 10_000;

struct News {
    kind: EventKind,
    action: &'static str,
    words: String,
}

impl Control {
    /// Makes a schedule of this name be like this. With `expected`, only if it is there and still as the caller
    /// saw it; with zero, only if it is not there, or like this already.
    pub async fn schedule_apply(
        &self,
        cx: &Cx,
        project: &Project,
        name: &Name,
        spec: &ScheduleSpec,
        expected: Option<Generation>,
    ) -> Result<(ScheduleDetail, Applied), Error> {
        self.schedule_check(cx, project, spec).await?;
        let fresh = &self.schedule_fresh(cx, project, name, spec)?;
        let (id, applied) = self
            .store
            .tx("schedule_apply", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.schedule_by_name(project.id, name).await? else {
                        if expected.is_some_and(|expected| expected != Generation::ZERO) {
                            return Err(Error::not_found("schedule", name));
                        }
                        self.schedule_create(tx, cx, project, fresh).await?;
                        return Ok((fresh.id, Applied::Created));
                    };
                    let object = schedule_object(&before);
                    if self.claim(tx, cx, &object).await?.is_some() {
                        return Ok((before.id, Applied::Unchanged));
                    }
                    own(tx, cx, project, &before).await?;
                    let is_same = before.spec == *spec && before.mandate == fresh.mandate;
                    match expected {
                        Some(Generation::ZERO) if !is_same => {
                            return Err(Error::already_exists("schedule", name));
                        }
                        Some(seen) if seen != Generation::ZERO && seen != before.generation => {
                            return Err(Error::stale("schedule", before.generation));
                        }
                        _ if is_same => return Ok((before.id, Applied::Unchanged)),
                        _ => {}
                    }
                    let after = self.schedule_changed(&before, fresh);
                    let words = format!("{}: {}", spec.timing(), spec.target.summary());
                    let (kind, action) = (EventKind::ScheduleChanged, "schedule.apply");
                    self.schedule_write(tx, cx, &before, after, &News { kind, action, words })
                        .await?;
                    Ok::<_, Error>((before.id, Applied::Changed))
                })
            })
            .await?;
        self.schedules_changed();
        Ok((self.schedule_get(cx, project, &id.to_string()).await?, applied))
    }

    /// Keeps a schedule from doing anything until it is resumed. Asking again changes nothing.
    pub async fn schedule_pause(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        reason: &str,
    ) -> Result<ScheduleDetail, Error> {
        check_text("/reason", reason, REASON_LENGTH)?;
        let words = reason.to_owned();
        let news = News { kind: EventKind::SchedulePaused, action: "schedule.pause", words };
        self.schedule_edit(cx, project, name_or_id, &news, |schedule| {
            if schedule.pause.is_some() {
                return Ok(false);
            }
            let (by, reason) = (cx.caller.name.to_string(), reason.to_owned());
            schedule.pause = Some(Pause { by, reason, time: self.now() });
            (schedule.time_due, schedule.time_next) = (None, None);
            Ok(true)
        })
        .await
    }

    /// Lets a schedule go on from now: what would have come while it was paused is not made up for.
    pub async fn schedule_resume(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<ScheduleDetail, Error> {
        let words = "goes on".to_owned();
        let news = News { kind: EventKind::ScheduleResumed, action: "schedule.resume", words };
        self.schedule_edit(cx, project, name_or_id, &news, |schedule| {
            if schedule.pause.take().is_none() {
                return Ok(false);
            }
            self.schedule_go_on(schedule)?;
            Ok(true)
        })
        .await
    }

    pub async fn schedule_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        expected: Option<Generation>,
    ) -> Result<(), Error> {
        let id = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?.id
        };
        self.store
            .tx("schedule_remove", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.schedule_get(id).await? else { return Ok(()) };
                    own(tx, cx, project, &before).await?;
                    if expected.is_some_and(|expected| expected != before.generation) {
                        return Err(Error::stale("schedule", before.generation));
                    }
                    let update = tx.schedule_delete(id, before.generation).await?;
                    settled(update, "schedule", &before.name)?;
                    let object = schedule_object(&before);
                    let (kind, of) = (EventKind::ScheduleRemoved, Some(project.id));
                    let words = "removed; what it made goes on";
                    let event = self
                        .event(kind, of, &object, cx.actor(), words)
                        .with_payload(SchedulePayload::from(&before));
                    let audit = self
                        .audit(cx, "schedule.remove", &object, of, json!({}))
                        .with_states(Some(&audit_state::schedule(&before)), None);
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    async fn schedule_check(
        &self,
        cx: &Cx,
        project: &Project,
        spec: &ScheduleSpec,
    ) -> Result<(), Error> {
        let mut problems = spec.problems();
        if spec.at.is_some_and(|at| at <= self.now()) {
            let text = "this time has passed; `hostler schedule run` does it now";
            problems.push(Diagnostic::new("/at", text));
        }
        if spec.ends.is_some_and(|ends| ends <= self.now()) {
            problems.push(Diagnostic::new("/ends", "this time has passed"));
        }
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        self.action_check(cx, project, &spec.target, "/target").await
    }

    fn schedule_fresh(
        &self,
        cx: &Cx,
        project: &Project,
        name: &Name,
        spec: &ScheduleSpec,
    ) -> Result<Schedule, Error> {
        let now = self.now();
        let mut schedule = Schedule {
            id: self.ids.fresh(),
            project_id: project.id,
            name: name.clone(),
            spec: spec.clone(),
            mandate: Mandate::of(&cx.caller, project.id),
            pause: None,
            log: serde_json::Value::Null,
            turn: Generation::FIRST,
            last_made: None,
            time_due: None,
            time_next: None,
            created_by: cx.caller.principal_id,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
        };
        self.schedule_go_on(&mut schedule)?;
        Ok(schedule)
    }

    /// Its times count from now.
    fn schedule_go_on(&self, schedule: &mut Schedule) -> Result<(), Error> {
        let now = self.now();
        let next = timetable(schedule)?.next_start(now).map(|fire| fire.start);
        schedule.log = log_value(&FireLog::starting(now));
        (schedule.time_due, schedule.time_next) = (next, next);
        Ok(())
    }

    /// The schedule as it is to be. Where its times are others, they count from now; otherwise they go on.
    fn schedule_changed(&self, before: &Schedule, fresh: &Schedule) -> Schedule {
        let mut after =
            Schedule { spec: fresh.spec.clone(), mandate: fresh.mandate, ..before.clone() };
        if before.spec.has_other_times(&fresh.spec) {
            after.log = fresh.log.clone();
            after.time_due = fresh.time_due;
            after.time_next = fresh.time_next;
        } else if before.time_due.is_some() {
            after.time_due = Some(self.now());
        }
        if before.pause.is_some() {
            (after.time_due, after.time_next) = (None, None);
        }
        after
    }

    async fn schedule_create(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        project: &Project,
        fresh: &Schedule,
    ) -> Result<(), Error> {
        let object = schedule_object(fresh);
        if self.claim(tx, cx, &object).await?.is_some() {
            return Err(Error::conflict(
                format!("schedule `{}` was made by this request before, and is gone", fresh.name),
                "use a fresh Idempotency-Key to make it again",
            ));
        }
        if tx.schedule_count_in(project.id).await? >= SCHEDULES_MAX {
            return Err(Error::new(
                Code::QuotaExceeded,
                format!("a project has at most {SCHEDULES_MAX} schedules"),
                "remove those that are over: `hostler schedule ls`",
            ));
        }
        tx.schedule_insert(fresh).await.map_err(|e| taken(e, "schedule", &fresh.name))?;
        let words = format!("{}: {}", fresh.spec.timing(), fresh.spec.target.summary());
        let (kind, of) = (EventKind::ScheduleCreated, Some(project.id));
        let event = self
            .event(kind, of, &object, cx.actor(), words)
            .with_payload(SchedulePayload::from(fresh));
        let detail = json!({ "when": fresh.spec.timing(), "target": fresh.spec.target.kind() });
        let audit = self
            .audit(cx, "schedule.apply", &object, of, detail)
            .with_states(None, Some(&audit_state::schedule(fresh)));
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    /// Changes a schedule as it is now. `edit` says whether it changed anything.
    async fn schedule_edit(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        news: &News,
        edit: impl Fn(&mut Schedule) -> Result<bool, Error> + Send + Sync,
    ) -> Result<ScheduleDetail, Error> {
        let edit = &edit;
        let id = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?.id
        };
        self.store
            .tx("schedule_edit", |tx| {
                Box::pin(async move {
                    let Some(before) = tx.schedule_get(id).await? else {
                        return Err(Error::not_found("schedule", name_or_id));
                    };
                    own(tx, cx, project, &before).await?;
                    if self.claim(tx, cx, &schedule_object(&before)).await?.is_some() {
                        return Ok(());
                    }
                    let mut after = before.clone();
                    if edit(&mut after)? {
                        self.schedule_write(tx, cx, &before, after, news).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.schedules_changed();
        self.schedule_get(cx, project, &id.to_string()).await
    }

    async fn schedule_write(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        before: &Schedule,
        mut after: Schedule,
        news: &News,
    ) -> Result<(), Error> {
        after.time_modified = self.now();
        let update = tx.schedule_update(&after, before.generation).await?;
        settled(update, "schedule", &before.name)?;
        after.generation = before.generation.next();
        let (object, of) = (schedule_object(before), Some(before.project_id));
        let event = self
            .event(news.kind, of, &object, cx.actor(), news.words.clone())
            .with_payload(SchedulePayload::from(&after));
        let detail = json!({ "when": after.spec.timing(), "target": after.spec.target.kind() });
        let audit = self.audit(cx, news.action, &object, of, detail).with_states(
            Some(&audit_state::schedule(before)),
            Some(&audit_state::schedule(&after)),
        );
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    fn schedules_changed(&self) {
        self.wakers.schedule.wake();
        self.feed.ring();
    }
}

pub(super) async fn own(
    read: &mut Conn,
    cx: &Cx,
    project: &Project,
    schedule: &Schedule,
) -> Result<(), Error> {
    let by = schedule.mandate.principal;
    let owner = Names::default().principal(read, by).await?;
    require_own(cx, project, "schedule", Permission::ScheduleManage, by, &owner)
}

pub(super) async fn find(
    read: &mut Conn,
    project: &Project,
    name_or_id: &str,
) -> Result<Schedule, Error> {
    let found = match (name_or_id.parse::<ScheduleId>(), name_or_id.parse::<Name>()) {
        (Ok(id), _) => read.schedule_get(id).await?,
        (_, Ok(name)) => read.schedule_by_name(project.id, &name).await?,
        _ => None,
    };
    if let Some(found) = found.filter(|found| found.project_id == project.id) {
        return Ok(found);
    }
    let all = read.schedule_list(project.id, None, Limit::LARGEST).await?;
    let meant = nearest(name_or_id, all.items.iter().map(|known| known.name.as_str()));
    Err(match meant {
        Some(meant) => Error::new(
            Code::NotFound,
            format!("there is no schedule `{name_or_id}`"),
            format!("did you mean `{meant}`?"),
        ),
        None => Error::not_found("schedule", name_or_id),
    })
}
