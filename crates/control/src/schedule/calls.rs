//! Makes the calls that schedules are for. They wait in rows until some server takes them; how many are made at
//! once is bounded, and a slow one keeps no other from being made.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use hostler_model::schedule::{Delivery, Fire, FireState, Schedule};
use hostler_model::{Action, Error, Project, Timestamp};
use serde::Serialize;

use super::perform::{ended, fire_order};
use crate::Control;

/// How many calls one server makes at once.
const AT_ONCE: usize = 64;
/// Beyond the time of the call itself, until another server asks what became of it.
const LEASE_MARGIN: Duration = Duration::from_secs(15);
/// How long a pass goes on taking calls while others are under way.
const PASS_MAX: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// What a pass over calls did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScheduleCallReport {
    pub made: usize,
    pub failed: usize,
    pub uncertain: usize,
}

impl Control {
    /// Makes every call that waits; says too when the next one is left behind, if nobody ends it.
    pub async fn schedule_calls(&self) -> Result<(ScheduleCallReport, Option<Timestamp>), Error> {
        let mut report = ScheduleCallReport::default();
        let mut under_way = FuturesUnordered::new();
        let until = self.clock.instant() + PASS_MAX;
        loop {
            let room = AT_ONCE - under_way.len();
            if room > 0 && self.clock.instant() < until {
                for (schedule, fire, project) in self.calls_take(room, &mut report).await? {
                    under_way.push(self.call_made(schedule, fire, project));
                }
            }
            if under_way.is_empty() {
                break;
            }
            tokio::select! {
                Some(result) = under_way.next() => {
                    let state = result?;
                    report.made += 1;
                    report.failed += usize::from(state == FireState::Failed);
                }
                () = self.clock.sleep(LOOK_AGAIN) => {}
            }
        }
        let next = self.store.read().await?.schedule_fires_next_left(true).await?;
        Ok((report, next))
    }

    /// Takes calls that wait. Those that were taken before are uncertain where they must not be repeated.
    async fn calls_take(
        &self,
        room: usize,
        report: &mut ScheduleCallReport,
    ) -> Result<Vec<(Schedule, Fire, Project)>, Error> {
        let now = self.now();
        let limit = u32::try_from(room).unwrap_or(u32::MAX);
        let left = self.store.read().await?.schedule_fires_left(true, now, limit).await?;
        if left.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.fires_with_schedules(left).await?;
        let (mut taken, mut uncertain) = (Vec::new(), Vec::new());
        for (schedule, fire) in found {
            let lease = now.plus(patience(&schedule));
            for fire in self.fires_take(std::slice::from_ref(&fire), lease).await? {
                let is_repeat = fire.tries > 1;
                match schedule.spec.delivery {
                    Delivery::AtMostOnce if is_repeat => {
                        uncertain.push((schedule.clone(), uncertain_row(&fire, now)));
                    }
                    Delivery::AtMostOnce | Delivery::AtLeastOnce => {
                        taken.push((schedule.clone(), fire));
                    }
                }
            }
        }
        report.uncertain += uncertain.len();
        let told: Vec<(&Schedule, Fire)> =
            uncertain.iter().map(|(schedule, fire)| (schedule, fire.clone())).collect();
        if !told.is_empty() {
            self.fires_end(&told).await?;
        }
        let projects = self.fires_projects(&taken).await?;
        let with = |(schedule, fire): (Schedule, Fire)| {
            let project = projects.get(&schedule.project_id)?.clone();
            Some((schedule, fire, project))
        };
        Ok(taken.into_iter().filter_map(with).collect())
    }

    async fn call_made(
        &self,
        schedule: Schedule,
        fire: Fire,
        project: Project,
    ) -> Result<FireState, Error> {
        let answer = self.action_perform(&fire_order(&schedule, &fire, &project, None)).await;
        let over = ended(&fire, answer, self.now());
        self.fires_end(&[(&schedule, over.clone())]).await?;
        Ok(over.state)
    }
}

/// How long whoever makes the call of a schedule is left alone with it.
fn patience(schedule: &Schedule) -> Duration {
    match &schedule.spec.target {
        Action::Http(call) => call.timeout.duration() + LEASE_MARGIN,
        Action::Task(_) | Action::Workflow(_) | Action::Workload(_) | Action::Operation(_) => {
            LEASE_MARGIN
        }
    }
}

fn uncertain_row(fire: &Fire, now: Timestamp) -> Fire {
    Fire {
        state: FireState::Uncertain,
        time_ended: Some(now),
        message: "the server that made the call did not say what came of it, and it is not made \
                  again; whoever was called knows, by the key of the call"
            .to_owned(),
        ..fire.clone()
    }
}
