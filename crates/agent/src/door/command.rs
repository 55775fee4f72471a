//! Start, stop, restart: the wish, and what it came to.

use std::sync::Arc;
use std::time::Duration;

use hostler_engine::supervise::Command;
use hostler_model::{Hook, Phase, PlacementId, Span};
use tokio::sync::Mutex;

use super::Door;
use super::view::{Done, Outcome, Refusal, RefusalCode};
use crate::supervisor::ServiceView;

/// How long the board may take to show a wish that was taken.
const BOARD_LAG: Duration = Duration::from_secs(2);
/// How long a start may take that has no hook before it.
const START: Duration = Duration::from_secs(10);
/// What a stop may take beyond its grace.
const STOP_SLACK: Duration = Duration::from_secs(5);

/// Who wants something of a workload waits for those who wanted something of it before.
pub(super) struct Turns([Mutex<()>; 64]);

impl Default for Turns {
    fn default() -> Turns {
        Turns(std::array::from_fn(|_| Mutex::default()))
    }
}

impl Turns {
    fn of(&self, placement: PlacementId) -> &Mutex<()> {
        let number = placement.uuid().as_u64_pair().1 % 64;
        &self.0[usize::try_from(number).unwrap_or(0)]
    }
}

impl Door {
    /// Starts a workload now: whatever it waited for in time, and although it was stopped.
    pub async fn start(&self, name: &str) -> Result<Done, Refusal> {
        let before = {
            let placement = self.service(name).await?.assignment.placement_id;
            let _turn = self.turns.of(placement).lock().await;
            let before = self.service(name).await?;
            match before.status.phase {
                Phase::Running | Phase::Starting => {
                    return Ok(done(&before, Outcome::AlreadyRunning));
                }
                Phase::Waiting => return Ok(done(&before, Outcome::Waiting)),
                _ => {}
            }
            self.wish(&before, Command::Start).await?;
            self.until(BOARD_LAG, || {
                let now = self.of(placement)?;
                let is_taken = now.launched > before.launched || now.status != before.status;
                is_taken.then_some(())
            })
            .await;
            before
        };
        Ok(self.began(&before, Outcome::Started).await)
    }

    /// Stops it if it runs, and starts it in any case.
    pub async fn restart(&self, name: &str) -> Result<Done, Refusal> {
        let before = {
            let placement = self.service(name).await?.assignment.placement_id;
            let _turn = self.turns.of(placement).lock().await;
            let before = self.service(name).await?;
            self.wish(&before, Command::Restart).await?;
            before
        };
        Ok(self.began(&before, Outcome::Restarted).await)
    }

    /// Stops it, and keeps it stopped until somebody starts or changes it.
    pub async fn stop(&self, name: &str) -> Result<Done, Refusal> {
        let before = {
            let placement = self.service(name).await?.assignment.placement_id;
            let _turn = self.turns.of(placement).lock().await;
            let before = self.service(name).await?;
            if Phase::SETTLED.contains(&before.status.phase) {
                return Ok(done(&before, Outcome::NotRunning));
            }
            self.wish(&before, Command::Stop).await?;
            before
        };
        let placement = before.assignment.placement_id;
        let stopped = self.until(stop_limit(&before), || match self.of(placement) {
            None => Some(before.clone()),
            Some(now) if now.status.phase == Phase::Stopped => Some(now),
            Some(_) => None,
        });
        Ok(match stopped.await {
            Some(now) => done(&now, Outcome::Stopped),
            None => done(&self.of(placement).unwrap_or(before), Outcome::UnderWay),
        })
    }

    async fn wish(&self, service: &ServiceView, command: Command) -> Result<(), Refusal> {
        if self.parts.shutdown.is_requested() {
            let detail = "the agent is stopping; ask the next one";
            return Err(Refusal::new(RefusalCode::Conflict, detail));
        }
        let placement = service.assignment.placement_id;
        match self.parts.supervisor.command(placement, command).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal::unknown(service.name().as_str())),
            Err(error) => Err(Refusal::internal(&error)),
        }
    }

    /// Waits until a new run has begun, or it is clear that none does.
    async fn began(&self, before: &Arc<ServiceView>, good: Outcome) -> Done {
        let placement = before.assignment.placement_id;
        let limit = stop_limit(before) + start_limit(before);
        let judged = self.until(limit, || {
            let Some(now) = self.of(placement) else {
                return Some((before.clone(), Outcome::NotRunning));
            };
            let has_begun = now.launched > before.launched;
            let outcome = match now.status.phase {
                Phase::Waiting => Outcome::Waiting,
                Phase::Stopping | Phase::Stopped if has_begun => Outcome::NotRunning,
                Phase::Running | Phase::Idle | Phase::Completed if has_begun => good,
                Phase::Backoff | Phase::Failed if has_begun => match is_success(&now) {
                    true => good,
                    false => Outcome::Failed,
                },
                _ => return None,
            };
            Some((now, outcome))
        });
        match judged.await {
            Some((now, outcome)) => done(&now, outcome),
            None => {
                let now = self.of(placement).unwrap_or_else(|| before.clone());
                done(&now, Outcome::UnderWay)
            }
        }
    }

    fn of(&self, placement: PlacementId) -> Option<Arc<ServiceView>> {
        let services = self.parts.supervisor.board().services();
        services.into_iter().find(|one| one.assignment.placement_id == placement)
    }

    /// Looks whenever something has changed; `None` when that took too long.
    async fn until<T>(&self, limit: Duration, mut look: impl FnMut() -> Option<T>) -> Option<T> {
        let mut changes = self.parts.supervisor.board().changes();
        let found = async {
            loop {
                if let Some(found) = look() {
                    return Some(found);
                }
                changes.changed().await.ok()?;
            }
        };
        self.parts.clock.timeout(limit, found).await.ok().flatten()
    }
}

fn is_success(service: &ServiceView) -> bool {
    let policy = &service.assignment.spec.restart;
    service.status.last_exit.as_ref().is_some_and(|exit| policy.is_success(exit))
}

fn hook_time(hook: Option<&Hook>) -> Duration {
    hook.map_or(Duration::ZERO, |hook| hook.timeout.duration())
}

/// How long stopping it can take.
pub(crate) fn stop_limit(service: &ServiceView) -> Duration {
    let spec = &service.assignment.spec;
    let grace: Span = service.assignment.grace.unwrap_or(spec.stop.grace);
    let hooks = hook_time(spec.hooks.pre_stop.as_ref()) + hook_time(spec.hooks.post_stop.as_ref());
    grace.duration() + hooks + STOP_SLACK
}

fn start_limit(service: &ServiceView) -> Duration {
    START + hook_time(service.assignment.spec.hooks.pre_start.as_ref())
}

fn done(service: &ServiceView, outcome: Outcome) -> Done {
    let name = service.name();
    let why = || {
        let exit = || service.last_exit().map(ToString::to_string);
        service.status.reason.clone().or_else(exit).unwrap_or_default()
    };
    let message = match outcome {
        Outcome::Started => format!("Started '{name}'"),
        Outcome::Stopped => format!("Stopped '{name}'"),
        Outcome::Restarted => format!("Restarted '{name}'"),
        Outcome::AlreadyRunning => format!("Workload '{name}' is already running"),
        Outcome::NotRunning => format!("Workload '{name}' is not running"),
        Outcome::Waiting => format!("Workload '{name}' waits: {}", why()),
        Outcome::Failed => format!("Workload '{name}' ran and failed: {}", why()),
        Outcome::UnderWay => {
            format!("Workload '{name}' is still {}; that goes on", service.status.phase)
        }
    };
    Done {
        name: name.clone(),
        outcome,
        message,
        phase: service.status.phase,
        pid: service.live.and_then(|live| live.pid),
    }
}
