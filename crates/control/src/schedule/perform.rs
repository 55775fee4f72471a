//! Does what was begun, and writes how it ended.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use hostler_model::schedule::{Fire, FireState, Schedule};
use hostler_model::{
    ActionOutcome, Error, EventKind, NewEvent, Project, ProjectId, ScheduleId, SchedulePayload,
    Timestamp,
};
use hostler_store::ScheduleMade;

use super::schedule_object;
use crate::{ActionFailure, Consent, Control, Order};

/// So often something is tried that could succeed later.
const TRIES_MAX: u32 = 5;
/// How long it waits after the first try; longer after each.
const REST: Duration = Duration::from_secs(5);
const MESSAGE_MAX: usize = 2000;

impl Control {
    /// Does what was begun; answers how many failed.
    pub(super) async fn fires_perform(&self, begun: Vec<(Schedule, Fire)>) -> Result<usize, Error> {
        if begun.is_empty() {
            return Ok(0);
        }
        let projects = self.fires_projects(&begun).await?;
        let (mut fires, mut orders) = (Vec::new(), Vec::new());
        for (schedule, fire) in &begun {
            let Some(project) = projects.get(&schedule.project_id) else { continue };
            let order = fire_order(schedule, fire, project, None);
            if let Some(old) = &fire.replaces
                && let Err(error) = self.action_stop(&order, old).await
            {
                let failed = ended(fire, Err(error.into()), self.now());
                fires.push((schedule, failed));
                continue;
            }
            orders.push((schedule, fire, order));
        }
        let asked: Vec<Order<'_>> = orders.iter().map(|(_, _, order)| order.clone()).collect();
        let answers = Box::pin(self.action_perform_all(&asked)).await;
        let now = self.now();
        for ((schedule, fire, _), answer) in orders.iter().zip(answers) {
            fires.push((*schedule, ended(fire, answer, now)));
        }
        let failed = fires.iter().filter(|(_, fire)| fire.state == FireState::Failed).count();
        self.fires_end(&fires).await?;
        Ok(failed)
    }

    /// Does one at once, because somebody waits for it.
    pub(crate) async fn fire_perform(
        &self,
        schedule: &Schedule,
        fire: &Fire,
        project: &Project,
        consent: Option<Consent>,
    ) -> Result<Fire, Error> {
        let order = fire_order(schedule, fire, project, consent);
        let answer = Box::pin(self.action_perform(&order)).await;
        let over = ended(fire, answer, self.now());
        self.fires_end(&[(schedule, over.clone())]).await?;
        Ok(over)
    }

    pub(super) async fn fires_projects(
        &self,
        begun: &[(Schedule, Fire)],
    ) -> Result<HashMap<ProjectId, Project>, Error> {
        let ids: HashSet<ProjectId> = begun.iter().map(|(one, _)| one.project_id).collect();
        let mut read = self.store.read().await?;
        let mut projects = HashMap::new();
        for id in ids {
            if let Some(project) = read.project_get(id).await? {
                projects.insert(id, project);
            }
        }
        Ok(projects)
    }

    /// Writes how they ended, and tells of it.
    pub(super) async fn fires_end(&self, over: &[(&Schedule, Fire)]) -> Result<(), Error> {
        let written: HashSet<(ScheduleId, Timestamp)> = self
            .store
            .tx("schedule_fire_end", |tx| {
                Box::pin(async move {
                    let fires: Vec<Fire> = over.iter().map(|(_, fire)| fire.clone()).collect();
                    let written: HashSet<(ScheduleId, Timestamp)> =
                        tx.schedule_fire_end_batch(&fires).await?.into_iter().collect();
                    let (mut made, mut events) = (Vec::new(), Vec::new());
                    for (schedule, fire) in over {
                        if !written.contains(&(fire.schedule_id, fire.time)) {
                            continue;
                        }
                        let (id, time) = (fire.schedule_id, fire.time);
                        let object = fire.object.clone();
                        made.extend(object.map(|object| ScheduleMade { id, time, object }));
                        events.extend(self.fire_event(schedule, fire));
                    }
                    tx.schedule_made_batch(&latest(made)).await?;
                    if !events.is_empty() {
                        tx.journal_append(&events, &[]).await?;
                    }
                    Ok::<_, Error>(written)
                })
            })
            .await?;
        for (_, fire) in over {
            let is_ours = written.contains(&(fire.schedule_id, fire.time));
            if is_ours && fire.state != FireState::Begun {
                self.schedule_tally.ended(fire.state, 1);
                self.schedule_tally.late(fire.time_begun.since(fire.time_planned));
            }
        }
        self.feed.ring();
        Ok(())
    }

    fn fire_event(&self, schedule: &Schedule, fire: &Fire) -> Option<NewEvent> {
        let late = fire.lateness();
        let (kind, words) = match fire.state {
            FireState::Begun | FireState::Missed => return None,
            FireState::Done => {
                let what = match (&fire.object, fire.status) {
                    (Some(object), _) => format!("{} {}", object.kind, object.name),
                    (None, Some(status)) => format!("answered with status {status}"),
                    (None, None) => schedule.spec.target.summary(),
                };
                (EventKind::ScheduleFired, format!("{}: {what}; {late} late", fire.time.brief()))
            }
            FireState::Failed | FireState::Uncertain => {
                (EventKind::ScheduleFailed, format!("{}: {}", fire.time.brief(), fire.message))
            }
        };
        let (project, actor) = (Some(schedule.project_id), self.system_actor());
        let event = self.event(kind, project, &schedule_object(schedule), actor, words);
        Some(event.with_payload(SchedulePayload::from(fire)).caused_by(fire.key()))
    }
}

pub(super) fn fire_order<'a>(
    schedule: &'a Schedule,
    fire: &Fire,
    project: &'a Project,
    consent: Option<Consent>,
) -> Order<'a> {
    Order {
        mandate: schedule.mandate,
        project,
        action: &schedule.spec.target,
        key: fire.key(),
        cause: format!("schedule {}", schedule.name),
        consent,
    }
}

/// The row of a fire after it was tried.
pub(super) fn ended(
    fire: &Fire,
    answer: Result<ActionOutcome, ActionFailure>,
    now: Timestamp,
) -> Fire {
    match answer {
        Ok(ActionOutcome { object, status }) => Fire {
            state: FireState::Done,
            time_ended: Some(now),
            object,
            status,
            message: String::new(),
            ..fire.clone()
        },
        Err(failure) => {
            let is_tried_again = failure.is_passing && !fire.is_call && fire.tries < TRIES_MAX;
            let message = words(&failure.error);
            match is_tried_again {
                true => Fire { time_lease: now.plus(REST * fire.tries), message, ..fire.clone() },
                false => Fire {
                    state: FireState::Failed,
                    time_ended: Some(now),
                    status: failure.status,
                    message,
                    ..fire.clone()
                },
            }
        }
    }
}

/// What went wrong and what to do, within bounds.
fn words(error: &Error) -> String {
    let mut said = error.detail.clone();
    for mistake in error.errors.iter().filter(|mistake| mistake.detail != error.detail) {
        said = format!("{said}; {}: {}", mistake.pointer, mistake.detail);
    }
    if !error.hint.is_empty() {
        said = format!("{said}; {}", error.hint);
    }
    said.chars().take(MESSAGE_MAX).collect()
}

/// Of each schedule the latest.
fn latest(mut made: Vec<ScheduleMade>) -> Vec<ScheduleMade> {
    made.sort_by_key(|one| (one.id, std::cmp::Reverse(one.time)));
    made.dedup_by_key(|one| one.id);
    made
}
