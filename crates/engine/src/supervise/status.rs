//! How a service stands, in the words that people and servers get; and when it is to be looked at
//! again.

use std::time::Duration;

use hostler_model::{Desired, Exit, ExitReason, Mode, Phase, PlacementStatus, WorkloadSpec};

use super::{AgentState, Held, Local, Moment, Vitals, Volatile};

/// It was neither finished nor did it fail: it was stopped, and nobody had asked for that.
fn is_cut_short(spec: &WorkloadSpec, exit: &Exit) -> bool {
    spec.mode == Mode::Once && exit.reason == ExitReason::Stopped
}

impl AgentState {
    pub fn phase(&self, held: &Held, volatile: &Volatile) -> Phase {
        let Some(service) = &held.service else { return Phase::Running };
        let spec = &held.assignment.spec;
        let wants = AgentState::wants(held);
        let mut live = self.live(held).peekable();
        if live.peek().is_some() {
            return match wants {
                Desired::Run | Desired::Pause
                    if live.any(|(_, run)| matches!(run.local, Local::Running { .. })) =>
                {
                    Phase::Running
                }
                Desired::Run | Desired::Pause => Phase::Starting,
                Desired::Stop | Desired::Remove => Phase::Stopping,
            };
        }
        match wants {
            Desired::Remove if held.runs.is_empty() => return Phase::Removed,
            Desired::Remove => return Phase::Stopping,
            Desired::Stop => return Phase::Stopped,
            Desired::Run | Desired::Pause => {}
        }
        let is_ok = |exit: &Exit| spec.restart.is_success(exit);
        if service.gave_up.is_some() {
            Phase::Failed
        } else if service.is_complete(spec) {
            match &service.last_exit {
                Some(exit) if is_cut_short(spec, exit) => Phase::Stopped,
                Some(exit) if is_ok(exit) || matches!(spec.mode, Mode::Times(_)) => {
                    Phase::Completed
                }
                _ => Phase::Failed,
            }
        } else if self.missing(held, volatile).is_some() {
            Phase::Waiting
        } else if service.wants_again(spec) {
            Phase::Backoff
        } else if matches!(spec.mode, Mode::Schedule(_)) {
            Phase::Idle
        } else {
            Phase::Starting
        }
    }

    /// How a service stands; `None` for a task.
    pub fn status(&self, held: &Held, volatile: &Volatile) -> Option<PlacementStatus> {
        let service = held.service.as_ref()?;
        let vitals = volatile.get(held.assignment.placement_id);
        let phase = self.phase(held, volatile);
        let unhealthy = vitals.and_then(|vitals| vitals.health.as_ref());
        let unhealthy = unhealthy.filter(|(run, ..)| held.runs.contains(run));
        let reason = match phase {
            Phase::Waiting => self.missing(held, volatile),
            Phase::Starting => vitals.and_then(|vitals| vitals.lacking.clone()),
            Phase::Running => unhealthy.and_then(|(_, _, why)| why.clone()),
            Phase::Stopped if service.is_down => Some("stopped on the node itself".to_owned()),
            Phase::Stopped if AgentState::wants(held) == Desired::Run => {
                Some("stopped together with its agent; it runs again when it is started".to_owned())
            }
            Phase::Failed => {
                let gave_up = service.gave_up.clone();
                gave_up.or_else(|| service.last_exit.as_ref().map(ToString::to_string))
            }
            Phase::Backoff => service.last_exit.as_ref().map(ToString::to_string),
            _ => None,
        };
        let next = match phase {
            Phase::Backoff => vitals.and_then(|vitals| vitals.due_at),
            Phase::Idle => vitals.and_then(|vitals| vitals.next_fire),
            _ => None,
        };
        Some(PlacementStatus {
            phase,
            reason,
            health: volatile.health(held),
            warning: vitals.filter(|_| phase == Phase::Running).and_then(Vitals::warning),
            next,
            runs: service.counted,
            failures: service.streak,
            missed: service.missed,
            untold: service.untold,
            restarts: service.restarts.clone(),
            last_exit: service.last_exit.clone(),
            revision: held.assignment.revision,
        })
    }

    /// In how long a service is to be looked at again, if nothing happens before.
    pub fn wake_in(&self, held: &Held, now: Moment<'_>, volatile: &Volatile) -> Option<Duration> {
        let vitals = volatile.get(held.assignment.placement_id)?;
        match self.phase(held, volatile) {
            Phase::Backoff => Some(vitals.due.saturating_sub(now.mono)),
            Phase::Idle | Phase::Running | Phase::Starting => {
                vitals.wake.map(|wake| wake.since(now.wall))
            }
            _ => None,
        }
    }
}
