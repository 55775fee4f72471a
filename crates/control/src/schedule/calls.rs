//! Makes the calls that schedules are for. They wait in rows until some server takes them.
//!
//! A pass never waits for whoever is called. It writes how the calls ended that ended since the last pass, takes
//! as many as there is room for, and begins with them; a call that ends wakes it. So rows are written many at a
//! time when there are many, and a slow call keeps no other from being made.

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_base::reconcile::{Pass, Reconciler};
use hostler_model::schedule::{Delivery, Fire, FireState, Schedule};
use hostler_model::{Action, Error, Project, Timestamp};
use serde::Serialize;
use tokio::task::JoinSet;

use super::perform::{ended, fire_order};
use crate::Control;

/// How many calls one server makes at once.
const AT_ONCE: usize = 256;
/// Beyond the time of the call itself, until another server asks what became of it.
const LEASE_MARGIN: Duration = Duration::from_secs(15);

/// What a pass over calls did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ScheduleCallReport {
    pub begun: usize,
    /// Made and written down, whatever was answered.
    pub made: usize,
    pub failed: usize,
    pub uncertain: usize,
    /// Calls under way on this server.
    pub under_way: usize,
}

/// The loop that makes calls.
pub struct ScheduleCalls {
    control: Control,
    calls: JoinSet<Ended>,
    /// Ended, and not written yet.
    ended: Vec<Ended>,
}

/// A call and how its row ends.
struct Ended {
    schedule: Schedule,
    fire: Fire,
}

impl Control {
    pub fn schedule_calls_reconciler(&self) -> ScheduleCalls {
        ScheduleCalls { control: self.clone(), calls: JoinSet::new(), ended: Vec::new() }
    }
}

impl Reconciler for ScheduleCalls {
    const NAME: &'static str = "schedule_call";
    const DESCRIPTION: &'static str = "makes the calls that schedules are for";
    type Report = ScheduleCallReport;

    async fn reconcile(&mut self) -> Pass<ScheduleCallReport> {
        crate::reconcile::pass(self.call().await)
    }
}

impl ScheduleCalls {
    async fn call(&mut self) -> Result<Pass<ScheduleCallReport>, Error> {
        let mut report = ScheduleCallReport::default();
        while let Some(ended) = self.calls.try_join_next() {
            match ended {
                Ok(ended) => self.ended.push(ended),
                Err(error) => tracing::error!(%error, "a call broke off; its lease ends it"),
            }
        }
        report.made = self.ended.len();
        let is_failed = |ended: &&Ended| ended.fire.state == FireState::Failed;
        report.failed = self.ended.iter().filter(is_failed).count();
        let room = AT_ONCE.saturating_sub(self.calls.len());
        let (begin, uncertain) = self.take(room).await?;
        report.begun = begin.len();
        report.uncertain = uncertain.len();
        for (schedule, fire, project) in begin {
            let control = self.control.clone();
            self.calls.spawn(async move {
                let order = fire_order(&schedule, &fire, &project, None);
                let answer = control.action_perform(&order).await;
                let fire = ended(&fire, answer, control.now());
                control.wakers.schedule_call.wake();
                Ended { schedule, fire }
            });
        }
        self.ended.extend(uncertain);
        self.write().await?;
        report.under_way = self.calls.len();
        let due = match report.under_way < AT_ONCE {
            true => self.control.store.read().await?.schedule_fires_next_left(true).await?,
            false => None,
        };
        Ok(Pass::done(report).due_at(due))
    }

    async fn write(&mut self) -> Result<(), Error> {
        if !self.ended.is_empty() {
            let over: Vec<(&Schedule, Fire)> =
                self.ended.iter().map(|one| (&one.schedule, one.fire.clone())).collect();
            self.control.fires_end(&over).await?;
            self.ended.clear();
        }
        Ok(())
    }

    /// Takes calls that wait. Those that were taken before are uncertain where they must not be repeated.
    async fn take(
        &self,
        room: usize,
    ) -> Result<(Vec<(Schedule, Fire, Project)>, Vec<Ended>), Error> {
        let control = &self.control;
        let now = control.now();
        let limit = u32::try_from(room).unwrap_or(u32::MAX);
        let left = control.store.read().await?.schedule_fires_left(true, now, limit).await?;
        if left.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut by_patience: BTreeMap<Duration, Vec<(Schedule, Fire)>> = BTreeMap::new();
        for (schedule, fire) in control.fires_with_schedules(left).await? {
            by_patience.entry(patience(&schedule)).or_default().push((schedule, fire));
        }
        let (mut taken, mut uncertain) = (Vec::new(), Vec::new());
        for (patience, found) in by_patience {
            let (schedules, fires): (Vec<Schedule>, Vec<Fire>) = found.into_iter().unzip();
            let ours = control.fires_take(&fires, now.plus(patience)).await?;
            let mut ours = ours.into_iter().peekable();
            // In the order they were given, without those that another server was faster with.
            for (schedule, fire) in schedules.into_iter().zip(&fires) {
                let is_same = |ours: &Fire| ours.key() == fire.key();
                let Some(fire) = ours.next_if(is_same) else { continue };
                match schedule.spec.delivery {
                    Delivery::AtMostOnce if fire.tries > 1 => {
                        uncertain.push(Ended { schedule, fire: uncertain_row(&fire, now) });
                    }
                    Delivery::AtMostOnce | Delivery::AtLeastOnce => taken.push((schedule, fire)),
                }
            }
        }
        let projects = control.fires_projects(&taken).await?;
        let with = |(schedule, fire): (Schedule, Fire)| {
            let project = projects.get(&schedule.project_id)?.clone();
            Some((schedule, fire, project))
        };
        Ok((taken.into_iter().filter_map(with).collect(), uncertain))
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
