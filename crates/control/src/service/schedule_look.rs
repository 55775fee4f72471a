//! What schedules show: when they come next and what became of what came. And doing now what one is for.

use hostler_engine::schedule::Timetable;
use hostler_model::schedule::{Fire, FireCause, FireRemark, FireState, Schedule, ScheduleSpec};
use hostler_model::{
    Code, Error, Limit, Need, ObjectKind, ObjectRef, Page, Permission, Project, ScheduleId,
    Timestamp,
};
use hostler_store::{Conn, Tx};
use serde_json::json;

use super::schedule::{find, own};
use super::task::Names;
use crate::schedule::{ScheduleCounts, schedule_object};
use crate::{ActionStanding, Consent, Control, Cx, audit_state, standings};

/// A schedule with what people want to see beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleDetail {
    pub schedule: Schedule,
    /// In whose name its target is done.
    pub owner: String,
    /// Its newest fire.
    pub last: Option<FireDetails>,
}

/// A fire with how what it made stands.
#[derive(Clone, Debug, PartialEq)]
pub struct FireDetails {
    pub fire: Fire,
    pub standing: Option<ActionStanding>,
}

/// A time that will come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextFire {
    pub time: Timestamp,
    /// The time, put off by jitter.
    pub start: Timestamp,
    /// The time as clocks show it in the schedule's zone.
    pub local: String,
    pub remark: Option<FireRemark>,
}

impl Control {
    /// By name.
    pub async fn schedule_list(
        &self,
        cx: &Cx,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ScheduleDetail>, Error> {
        let mut read = self.store.read().await?;
        let page = read.schedule_list(project.id, after, limit).await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for schedule in page.items {
            items.push(detail(&mut read, &mut names, cx, schedule).await?);
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn schedule_get(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<ScheduleDetail, Error> {
        let mut read = self.store.read().await?;
        let schedule = find(&mut read, project, name_or_id).await?;
        detail(&mut read, &mut Names::default(), cx, schedule).await
    }

    /// The next times at which it comes; none while it is paused.
    pub async fn schedule_next(
        &self,
        project: &Project,
        name_or_id: &str,
        count: usize,
    ) -> Result<Vec<NextFire>, Error> {
        let schedule = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?
        };
        match schedule.pause {
            Some(_) => Ok(Vec::new()),
            None => self.next_fires(&schedule.spec, schedule.id, count),
        }
    }

    fn next_fires(
        &self,
        spec: &ScheduleSpec,
        id: ScheduleId,
        count: usize,
    ) -> Result<Vec<NextFire>, Error> {
        let timetable = Timetable::of(spec, id).map_err(Error::invalid)?;
        let mut before = None;
        let fires = timetable.preview(self.now(), count).into_iter().map(|fire| {
            let remark = timetable.remark(fire.time, before.replace(fire.time));
            let local = spec.local_time(fire.time);
            NextFire { time: fire.time, start: fire.start, local, remark }
        });
        Ok(fires.collect())
    }

    /// What became of its times, newest first.
    pub async fn schedule_history(
        &self,
        project: &Project,
        name_or_id: &str,
        state: Option<FireState>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<FireDetails>, Error> {
        let after = match after {
            None => None,
            Some(text) => {
                let micros = text.parse().map_err(|_| {
                    Error::new(
                        Code::Malformed,
                        "the cursor is none of ours",
                        "list again from the start",
                    )
                })?;
                Some(Timestamp::from_micros(micros))
            }
        };
        let mut read = self.store.read().await?;
        let schedule = find(&mut read, project, name_or_id).await?;
        let page = read.schedule_fire_list(schedule.id, state, after, limit).await?;
        Ok(Page { items: with_standings(&mut read, page.items).await?, next: page.next })
    }

    /// The times at which a schedule like this would come, without making it.
    pub fn schedule_preview(
        &self,
        spec: &ScheduleSpec,
        count: usize,
    ) -> Result<Vec<NextFire>, Error> {
        let mut problems = spec.problems();
        problems.retain(|problem| !problem.pointer.starts_with("/target"));
        if !problems.is_empty() {
            return Err(Error::invalid(problems));
        }
        self.next_fires(spec, self.ids.fresh(), count)
    }

    /// Does now what the schedule is for, in its owner's name, whatever still goes on of what came before. It
    /// can be paused.
    pub async fn schedule_run(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<FireDetails, Error> {
        let schedule = {
            let mut read = self.store.read().await?;
            find(&mut read, project, name_or_id).await?
        };
        let now = self.now();
        let fresh = Fire {
            cause: FireCause::Manual,
            asked_by: Some(cx.caller.name.to_string()),
            ..self.fire_fresh(&schedule, now, now)
        };
        let (schedule, fresh) = (&schedule, &fresh);
        let time = self
            .store
            .tx("schedule_run", |tx| Box::pin(self.fire_enter(tx, cx, project, schedule, fresh)))
            .await?;
        let mut fire = fresh.clone();
        if time != fresh.time {
            let found = self.store.read().await?.schedule_fire_get(schedule.id, time).await?;
            fire = found.ok_or_else(|| Error::not_found("fire", time))?;
        } else if fire.is_call {
            self.wakers.schedule_call.wake();
        } else {
            let consent = self.consent_of(cx, schedule);
            fire = self.fire_perform(schedule, &fire, project, consent).await?;
        }
        let mut read = self.store.read().await?;
        let mut all = with_standings(&mut read, vec![fire]).await?;
        all.pop().ok_or_else(|| Error::not_found("fire", time))
    }

    /// An approval, or breaking the glass, is its owner's to use.
    fn consent_of(&self, cx: &Cx, schedule: &Schedule) -> Option<Consent> {
        let is_own = schedule.mandate.principal == cx.caller.principal_id;
        cx.request.consent.clone().filter(|_| is_own)
    }

    /// Enters a fire that somebody asked for; the time of an earlier one where the request is a repeat.
    async fn fire_enter(
        &self,
        tx: &mut Tx<'_>,
        cx: &Cx,
        project: &Project,
        schedule: &Schedule,
        fire: &Fire,
    ) -> Result<Timestamp, Error> {
        own(tx, cx, project, schedule).await?;
        let of_fire = ObjectRef::new(ObjectKind::Schedule, fire.time.micros(), &schedule.name);
        if let Some(before) = self.claim(tx, cx, &of_fire).await? {
            return before.id.parse().map(Timestamp::from_micros).map_err(Error::internal);
        }
        let entered = tx.schedule_fire_insert_batch(std::slice::from_ref(fire)).await?;
        if entered.is_empty() {
            return Err(Error::conflict("it was done at this very moment", "try again"));
        }
        let (object, state) = (schedule_object(schedule), audit_state::schedule(schedule));
        let detail = json!({ "fire": fire.key() });
        let audit = self
            .audit(cx, "schedule.run", &object, Some(project.id), detail)
            .with_states(Some(&state), Some(&state));
        tx.journal_append(&[], &[audit]).await?;
        Ok(fire.time)
    }

    /// How many schedules there are, and what this server did about them; for metrics.
    pub async fn schedule_counts(&self) -> Result<ScheduleCounts, Error> {
        let (all, paused) = self.store.read().await?.schedule_count().await?;
        Ok(self.schedule_tally.counts(all, paused))
    }
}

async fn detail(
    read: &mut Conn,
    names: &mut Names,
    cx: &Cx,
    mut schedule: Schedule,
) -> Result<ScheduleDetail, Error> {
    let owner = names.principal(read, schedule.mandate.principal).await?;
    let env = Need::of(Permission::TaskEnv, Some(schedule.project_id));
    if !cx.caller.may_or_made(env, schedule.mandate.principal) {
        schedule.spec.target.hide();
    }
    let one = Limit::new(1).unwrap_or(Limit::DEFAULT);
    let newest = read.schedule_fire_list(schedule.id, None, None, one).await?.items;
    let last = with_standings(read, newest).await?.pop();
    Ok(ScheduleDetail { schedule, owner, last })
}

async fn with_standings(read: &mut Conn, fires: Vec<Fire>) -> Result<Vec<FireDetails>, Error> {
    let made: Vec<&ObjectRef> = fires.iter().filter_map(|fire| fire.object.as_ref()).collect();
    let mut standings = standings(read, &made).await?;
    let with = |fire: Fire| {
        let key = fire.object.as_ref().map(|made| (made.kind, made.id.clone()));
        let standing = key.and_then(|key| standings.remove(&key));
        FireDetails { fire, standing }
    };
    Ok(fires.into_iter().map(with).collect())
}
