//! Decides on the times of schedules, hundreds at once, and enters a row for each.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hostler_engine::schedule::{Skip, Skipped, Start, Turn};
use hostler_model::schedule::{Fire, FireCause, FireState, Schedule};
use hostler_model::{
    Action, Error, EventKind, NewEvent, ObjectRef, Overlap, ScheduleId, SchedulePayload, Timestamp,
};
use hostler_store::ScheduleTurn;
use serde::Serialize;

use super::{BATCH, FIRE_LEASE, log_of, log_value, schedule_object, timetable};
use crate::{Control, standings};

/// Whose turn it is to decide.
const LEASE: &str = "schedule";
const LEASE_TIME: Duration = Duration::from_secs(3);

/// What a pass over schedules did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScheduleReport {
    /// Schedules whose time had come.
    pub due: usize,
    pub begun: usize,
    pub missed: u64,
    /// Begun before, and left behind.
    pub taken_over: usize,
    pub failed: usize,
}

/// What is known when the times of a schedule are decided on.
struct Seen {
    schedule: Schedule,
    is_running: bool,
}

/// A decision, as it is written.
struct Decided {
    turn: ScheduleTurn,
    fires: Vec<Fire>,
    events: Vec<NewEvent>,
}

impl Control {
    /// One pass: says too whether there is more to do at once, and otherwise when.
    pub async fn schedules_advance(
        &self,
    ) -> Result<(ScheduleReport, bool, Option<Timestamp>), Error> {
        let mut report = ScheduleReport::default();
        let now = self.now();
        let (due, left, next) = {
            let mut read = self.store.read().await?;
            let due = read.schedule_due(now, BATCH).await?;
            let left = read.schedule_fires_left(false, now, BATCH).await?;
            let next = match due.is_empty() {
                true => read.schedule_next_due().await?,
                false => None,
            };
            (due, left, next)
        };
        if due.is_empty() && left.is_empty() {
            return Ok((report, false, next));
        }
        if !self.schedules_hold(now).await? {
            return Ok((report, false, Some(now.plus(LEASE_TIME / 3))));
        }
        let is_full = due.len() >= BATCH as usize || left.len() >= BATCH as usize;
        report.due = due.len();
        let mut begun = self.schedules_take_over(left, now).await?;
        report.taken_over = begun.len();
        let (fresh, missed) = self.schedules_decide(due, now).await?;
        (report.begun, report.missed) = (fresh.len(), missed);
        begun.extend(fresh);
        let has_calls = begun.iter().any(|(_, fire)| fire.is_call);
        begun.retain(|(_, fire)| !fire.is_call);
        if has_calls {
            self.wakers.schedule_call.wake();
        }
        report.failed = self.fires_perform(begun).await?;
        let next = self.store.read().await?.schedule_next_due().await?;
        Ok((report, is_full, next))
    }

    async fn schedules_hold(&self, now: Timestamp) -> Result<bool, Error> {
        self.store
            .tx("schedule_hold", |tx| {
                Box::pin(async move {
                    let until = now.plus(LEASE_TIME);
                    Ok::<_, Error>(tx.lease_acquire(LEASE, self.server_id, now, until).await?)
                })
            })
            .await
    }

    /// What others began and did not end.
    async fn schedules_take_over(
        &self,
        left: Vec<Fire>,
        now: Timestamp,
    ) -> Result<Vec<(Schedule, Fire)>, Error> {
        if left.is_empty() {
            return Ok(Vec::new());
        }
        let taken = self.fires_take(&left, now.plus(FIRE_LEASE)).await?;
        self.fires_with_schedules(taken).await
    }

    /// Takes rows over, each as it was read; answers those that are this server's now.
    pub(super) async fn fires_take(
        &self,
        left: &[Fire],
        lease: Timestamp,
    ) -> Result<Vec<Fire>, Error> {
        let server = self.server_id;
        let taken: HashSet<(ScheduleId, Timestamp)> = self
            .store
            .tx("schedule_fire_take", |tx| {
                Box::pin(async move {
                    let taken = tx.schedule_fire_take_batch(left, server, lease).await?;
                    Ok::<_, Error>(taken.into_iter().collect())
                })
            })
            .await?;
        let is_taken = |fire: &&Fire| taken.contains(&(fire.schedule_id, fire.time));
        let now_ours = |fire: &Fire| Fire {
            server_id: server,
            time_lease: lease,
            tries: fire.tries + 1,
            ..fire.clone()
        };
        Ok(left.iter().filter(is_taken).map(now_ours).collect())
    }

    /// Each with its schedule as it is now; those whose schedule is gone went with it.
    pub(super) async fn fires_with_schedules(
        &self,
        fires: Vec<Fire>,
    ) -> Result<Vec<(Schedule, Fire)>, Error> {
        let ids: HashSet<ScheduleId> = fires.iter().map(|fire| fire.schedule_id).collect();
        let ids: Vec<ScheduleId> = ids.into_iter().collect();
        let found = self.store.read().await?.schedule_get_batch(&ids).await?;
        let by_id: HashMap<ScheduleId, Schedule> =
            found.into_iter().map(|schedule| (schedule.id, schedule)).collect();
        let with = |fire: Fire| Some((by_id.get(&fire.schedule_id)?.clone(), fire));
        Ok(fires.into_iter().filter_map(with).collect())
    }

    async fn schedules_decide(
        &self,
        due: Vec<Schedule>,
        now: Timestamp,
    ) -> Result<(Vec<(Schedule, Fire)>, u64), Error> {
        if due.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let seen = self.schedules_seen(due).await?;
        let all: Vec<Decided> = seen.iter().map(|one| self.schedule_decided(one, now)).collect();
        let all = &all;
        let entered: Vec<Fire> = self
            .store
            .tx("schedule_decide", |tx| {
                Box::pin(async move {
                    let turns: Vec<ScheduleTurn> =
                        all.iter().map(|decided| decided.turn.clone()).collect();
                    let written: HashSet<ScheduleId> =
                        tx.schedule_turn_batch(&turns).await?.into_iter().collect();
                    let (mut fires, mut events) = (Vec::new(), Vec::new());
                    for decided in all.iter().filter(|one| written.contains(&one.turn.id)) {
                        fires.extend(decided.fires.iter().cloned());
                        events.extend(decided.events.iter().cloned());
                    }
                    let entered: HashSet<(ScheduleId, Timestamp)> =
                        tx.schedule_fire_insert_batch(&fires).await?.into_iter().collect();
                    fires.retain(|fire| entered.contains(&(fire.schedule_id, fire.time)));
                    if !events.is_empty() {
                        tx.journal_append(&events, &[]).await?;
                    }
                    Ok::<_, Error>(fires)
                })
            })
            .await?;
        let missed = entered.iter().filter(|fire| fire.state == FireState::Missed);
        let missed: u64 = missed.map(|fire| u64::from(fire.count)).sum();
        if missed > 0 {
            self.schedule_tally.ended(FireState::Missed, missed);
            self.feed.ring();
        }
        let mut by_id: HashMap<ScheduleId, Schedule> =
            seen.into_iter().map(|one| (one.schedule.id, one.schedule)).collect();
        let mut begun: Vec<(Schedule, Fire)> = Vec::new();
        for fire in entered.into_iter().filter(|fire| fire.state == FireState::Begun) {
            if let Some(schedule) = by_id.get_mut(&fire.schedule_id) {
                begun.push((schedule.clone(), fire));
            }
        }
        Ok((begun, missed))
    }

    /// Whether what each of them made last still goes on.
    async fn schedules_seen(&self, due: Vec<Schedule>) -> Result<Vec<Seen>, Error> {
        let mut read = self.store.read().await?;
        let cares = |schedule: &&Schedule| schedule.spec.overlap != Overlap::Allow;
        let ids: Vec<ScheduleId> = due.iter().filter(cares).map(|one| one.id).collect();
        let begun: HashSet<ScheduleId> =
            read.schedule_fires_begun(&ids).await?.into_iter().collect();
        let made: Vec<&ObjectRef> =
            due.iter().filter(cares).filter_map(|one| one.last_made.as_ref()).collect();
        let standings = standings(&mut read, &made).await?;
        drop(read);
        let goes_on = |made: &ObjectRef| {
            standings.get(&(made.kind, made.id.clone())).is_some_and(|standing| !standing.is_over)
        };
        let seen = due.into_iter().map(|schedule| {
            let is_running =
                begun.contains(&schedule.id) || schedule.last_made.as_ref().is_some_and(goes_on);
            Seen { schedule, is_running }
        });
        Ok(seen.collect())
    }

    fn schedule_decided(&self, seen: &Seen, now: Timestamp) -> Decided {
        let schedule = &seen.schedule;
        let turn = match timetable(schedule) {
            Ok(timetable) => timetable.turn(&log_of(schedule, now), now, seen.is_running),
            Err(error) => {
                tracing::warn!(schedule = %schedule.id, %error, "a schedule cannot be followed");
                let log = log_of(schedule, now);
                Turn { starts: Vec::new(), missed: Vec::new(), log, due: None, next: None }
            }
        };
        let mut fires: Vec<Fire> =
            turn.starts.iter().map(|start| self.fire_begun(seen, start, now)).collect();
        fires.extend(turn.missed.iter().map(|skipped| self.fire_missed(schedule, skipped, now)));
        let of = |skipped: &Skipped| {
            let (kind, object) = (EventKind::ScheduleMissed, schedule_object(schedule));
            let (project, actor) = (Some(schedule.project_id), self.system_actor());
            let fire = self.fire_missed(schedule, skipped, now);
            self.event(kind, project, &object, actor, missed_words(skipped))
                .with_payload(SchedulePayload::from(&fire))
                .caused_by(fire.key())
        };
        let events = turn.missed.iter().map(of).collect();
        let turn = ScheduleTurn {
            id: schedule.id,
            turn: schedule.turn,
            log: log_value(&turn.log),
            time_due: turn.due,
            time_next: turn.next,
        };
        Decided { turn, fires, events }
    }

    fn fire_begun(&self, seen: &Seen, start: &Start, now: Timestamp) -> Fire {
        let schedule = &seen.schedule;
        let fire = self.fire_fresh(schedule, start.fire.time, now);
        Fire {
            cause: if start.is_late { FireCause::CaughtUp } else { FireCause::Planned },
            time_planned: start.fire.start,
            replaces: schedule.last_made.clone().filter(|_| start.is_replacing),
            ..fire
        }
    }

    /// One that is begun now, because somebody asked for it.
    pub(crate) fn fire_fresh(&self, schedule: &Schedule, time: Timestamp, now: Timestamp) -> Fire {
        let is_call = matches!(schedule.spec.target, Action::Http(_));
        Fire {
            schedule_id: schedule.id,
            time,
            project_id: schedule.project_id,
            state: FireState::Begun,
            cause: FireCause::Manual,
            time_planned: time,
            time_begun: now,
            time_ended: None,
            time_last: time,
            count: 1,
            object: None,
            status: None,
            message: String::new(),
            replaces: None,
            asked_by: None,
            is_call,
            tries: u32::from(!is_call),
            server_id: self.server_id,
            time_lease: if is_call { now } else { now.plus(FIRE_LEASE) },
        }
    }

    fn fire_missed(&self, schedule: &Schedule, skipped: &Skipped, now: Timestamp) -> Fire {
        Fire {
            state: FireState::Missed,
            cause: cause_of(skipped.why),
            time_ended: Some(now),
            time_last: skipped.last,
            count: skipped.count,
            tries: 0,
            time_lease: now,
            ..self.fire_fresh(schedule, skipped.first, now)
        }
    }
}

const fn cause_of(why: Skip) -> FireCause {
    match why {
        Skip::Missed => FireCause::Outage,
        Skip::Overlap => FireCause::Overlap,
        Skip::TooMany => FireCause::TooMany,
    }
}

fn missed_words(skipped: &Skipped) -> String {
    let why = match skipped.why {
        Skip::Missed => "no server was there in time, or the clock was set forward",
        Skip::Overlap => "what was begun before still went on",
        Skip::TooMany => "more times had passed than are caught up with",
    };
    match skipped.count {
        1 => format!("{}: {why}", skipped.first.brief()),
        many => {
            let (first, last) = (skipped.first.brief(), skipped.last.brief());
            format!("{many} times from {first} to {last}: {why}")
        }
    }
}
