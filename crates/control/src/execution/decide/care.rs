//! What is done for the stack of an execution: phases before the first step and after the last one, and the lock meanwhile.
//!
//! A pass begins the phase whose turn it is and looks how far it is; what takes longer is looked at again by whoever
//! comes next. Everything is asked of the services that people ask, in the name of whoever began the execution and with
//! the rights that they have now, under ids that are in the row already: a server that dies between asking and writing
//! leaves nothing behind that the next one does not find.
//!
//! A phase that cannot be done before the first step ends the execution, and so does a lock that is lost while steps may
//! run. What cannot be done for a passing reason is tried again until the time of the phase is over.

use hostler_model::stack::{StackCheckResult, StackDriftKind, StackStatus};
use hostler_model::workflow::{
    CareEnd, CareKind, CareStanding, CareWay, ExecutionOutcome, ExecutionState, Handler, JobKind,
    StackCare,
};
use hostler_model::{
    Code, Error, EventKind, ExecutionPhasePayload, LockHold, LockHolder, LockOutcome, Span,
};

use super::super::{execution_object, mandate_cx};
use super::Pass;
use crate::Cx;
use crate::service::{LockAsk, StackSubject};

/// How long the lock lives without being renewed, and how often it is.
const LOCK_LIVES: Span = Span::from_secs(120);
const RENEWED: Span = Span::from_secs(20);
/// How often one looks at what takes a while.
const LOOK: Span = Span::from_secs(1);
/// How long looking at a stack may be tried.
const LOOKING: Span = Span::from_secs(300);
/// How long a snapshot may take, or the way back.
const CHANGING: Span = Span::from_secs(3600);
/// How much of what was found is told.
const MESSAGE_MAX: usize = 2000;

/// How far a phase came.
enum Came {
    /// It goes on, with what it waits for.
    Still(String),
    Held(String),
    Ended(CareEnd, String),
}

impl Came {
    fn failed(words: impl Into<String>) -> Came {
        Came::Ended(CareEnd::Failed, words.into())
    }

    /// What an error means for a phase: some pass.
    fn of(error: &Error) -> Came {
        let words = match error.hint.as_str() {
            "" => error.detail.clone(),
            hint => format!("{}; {hint}", error.detail),
        };
        match error.code {
            Code::Unavailable | Code::Internal | Code::RateLimited | Code::Stale => {
                Came::Still(words)
            }
            _ => Came::failed(words),
        }
    }
}

fn patience(care: &StackCare, kind: CareKind) -> Span {
    match kind {
        CareKind::Lock => care.patience,
        CareKind::Validate | CareKind::Drift | CareKind::DriftAfter => LOOKING,
        CareKind::Snapshot | CareKind::Rollback => CHANGING,
    }
}

fn holder_words(hold: &LockHold) -> String {
    match hold.holder.why.as_str() {
        "" => hold.by.clone(),
        why => format!("{} ({why})", hold.by),
    }
}

impl Pass<'_> {
    fn care(&self) -> Option<&StackCare> {
        self.change.scene.execution.care.as_ref()
    }

    /// Nothing more is to begin: somebody wants that, or its stack does.
    pub(super) fn is_ending(&self) -> bool {
        let execution = &self.change.scene.execution;
        execution.is_cancel_requested
            || execution.care.as_ref().is_some_and(|care| care.failure.is_some())
    }

    /// What ends because of its stack has failed; nobody cancelled it.
    pub(super) fn true_outcome(&self, outcome: ExecutionOutcome) -> ExecutionOutcome {
        let is_cancelled = self.change.scene.execution.is_cancel_requested;
        let failure = self.care().and_then(|care| care.failure.as_ref());
        match (failure, outcome) {
            (Some(_), ExecutionOutcome::Cancelled) if !is_cancelled => ExecutionOutcome::Failed,
            (_, outcome) => outcome,
        }
    }

    /// Where it goes when no step is left.
    pub(super) fn after_steps(&self, outcome: ExecutionOutcome) -> ExecutionState {
        match self.care() {
            Some(care) if care.open(&CareKind::AFTER).is_some() => {
                ExecutionState::Settling(outcome)
            }
            _ => ExecutionState::Finishing(outcome),
        }
    }

    /// Whether everything before the first step is over.
    pub(super) async fn prepare(&mut self) -> Result<bool, Error> {
        while let Some(kind) = self.care().and_then(|care| care.open(&CareKind::BEFORE)) {
            if self.is_ending() {
                if kind == CareKind::Lock {
                    self.let_go_of_lock().await?;
                }
                self.phase_ended(kind, CareEnd::Skipped, "the execution ends before it");
            } else if !self.phase(kind).await? {
                return Ok(false);
            }
        }
        if !self.is_ending() {
            self.remember_revision().await?;
        }
        let was_begun = self.jobs(JobKind::Before).next().is_some();
        let scene = &mut self.change.scene;
        let is_called = scene.execution.graph.handlers.contains(&Handler::Start) && !was_begun;
        scene.execution.time_begun = scene.now;
        scene.execution.state = match is_called {
            true => ExecutionState::Beginning,
            false => ExecutionState::Running,
        };
        Ok(true)
    }

    /// Whether everything after the last step is over.
    pub(super) async fn settle(&mut self, outcome: ExecutionOutcome) -> Result<bool, Error> {
        while let Some(kind) = self.care().and_then(|care| care.open(&CareKind::AFTER)) {
            match self.care().and_then(|care| care.needless(kind, outcome)) {
                Some(why) => self.phase_ended(kind, CareEnd::Skipped, why),
                None if !self.phase(kind).await? => return Ok(false),
                None => {}
            }
        }
        self.change.scene.execution.state = ExecutionState::Finishing(outcome);
        Ok(true)
    }

    /// Goes on with a phase; whether others need not wait for it any more.
    async fn phase(&mut self, kind: CareKind) -> Result<bool, Error> {
        let now = self.change.scene.now;
        let Some(care) = self.care() else { return Ok(true) };
        let standing = care.phase(kind).map(|phase| phase.standing).unwrap_or_default();
        let (since, until) = match standing {
            CareStanding::Running { since, until } => (since, until),
            _ => (now, now.plus(patience(care, kind).duration())),
        };
        let care = care.clone();
        let came = Box::pin(self.phase_came(kind, &care)).await;
        let came = match came.unwrap_or_else(|error| Came::of(&error)) {
            Came::Still(words) if now >= until => {
                if kind == CareKind::Lock {
                    self.let_go_of_lock().await?;
                }
                Came::failed(match kind {
                    CareKind::Lock => format!("it was not free within {}: {words}", care.patience),
                    _ => format!("it took too long: {words}"),
                })
            }
            came => came,
        };
        let standing = CareStanding::Running { since, until };
        let Some(phase) = self.phase_row(kind) else { return Ok(true) };
        phase.standing = standing;
        match came {
            Came::Still(words) => {
                let is_news = phase.message.is_empty() && !words.is_empty();
                phase.message.clone_from(&words);
                if is_news {
                    self.phase_event(kind, format!("{kind}: {words}"));
                }
                self.look_within(LOOK);
                Ok(false)
            }
            Came::Held(words) => {
                phase.standing = CareStanding::Held { since, renewed: now };
                phase.message.clone_from(&words);
                self.phase_event(kind, format!("{kind}: {words}"));
                self.look_within(RENEWED);
                Ok(true)
            }
            Came::Ended(end, words) => {
                self.phase_ended(kind, end, &words);
                if end.is_bad() && CareKind::BEFORE.contains(&kind) {
                    self.ends_because(kind, &words);
                }
                Ok(true)
            }
        }
    }

    async fn phase_came(&mut self, kind: CareKind, care: &StackCare) -> Result<Came, Error> {
        match kind {
            CareKind::Lock => self.locked(care).await,
            CareKind::Validate => self.validated(care).await,
            CareKind::Drift | CareKind::DriftAfter => self.drifted(care).await,
            CareKind::Snapshot => self.kept(care).await,
            CareKind::Rollback => Box::pin(self.rolled_back(care)).await,
        }
    }

    /// Asks for the lock, and keeps its place in the queue.
    async fn locked(&self, care: &StackCare) -> Result<Came, Error> {
        let scene = &self.change.scene;
        let cx = self.mandate(care, None).await?;
        let execution = &scene.execution;
        let holder = LockHolder {
            command: format!("execution {}", execution.id),
            why: format!("workflow {}, execution {}", execution.workflow, execution.id),
            ..LockHolder::default()
        };
        let wait = Some(Span::default());
        let ask = LockAsk { id: care.hold, slots: 1, ttl: LOCK_LIVES, wait, holder };
        let at = care.stack_id.to_string();
        let answer = self.control.stack_lock_acquire(&cx, &scene.project, &at, ask).await?;
        Ok(match (answer.outcome, answer.holders.first()) {
            (LockOutcome::Held, _) => Came::Held(format!("stack {} is locked", care.stack)),
            (LockOutcome::Waiting | LockOutcome::Busy, Some(hold)) => {
                Came::Still(format!("stack {} is locked by {}", care.stack, holder_words(hold)))
            }
            (LockOutcome::Waiting | LockOutcome::Busy, None) => {
                Came::Still(format!("others wait for the lock of stack {}", care.stack))
            }
        })
    }

    async fn validated(&self, care: &StackCare) -> Result<Came, Error> {
        let cx = self.mandate(care, None).await?;
        let subject = StackSubject::Stack(care.stack_id.to_string());
        let project = &self.change.scene.project;
        let list = self.control.stack_checklist(&cx, project, &subject).await?;
        let failed = list.lines.iter().filter(|line| line.result == StackCheckResult::Failed);
        let wrong: Vec<String> =
            failed.map(|line| format!("{}: {}", line.check, line.message)).collect();
        Ok(match wrong.is_empty() {
            true => {
                let count = list.lines.len();
                Came::Ended(CareEnd::Succeeded, format!("nothing of {count} checks is against it"))
            }
            false => Came::failed(wrong.join("; ")),
        })
    }

    async fn drifted(&self, care: &StackCare) -> Result<Came, Error> {
        let cx = self.mandate(care, None).await?;
        let (project, at) = (&self.change.scene.project, care.stack_id.to_string());
        let found = self.control.stack_drift_detect(&cx, project, &at).await?;
        let names: Vec<String> = found
            .items
            .iter()
            .filter(|item| item.drift.is_drift())
            .take(5)
            .map(|item| format!("{} ({})", item.name, item.drift))
            .collect();
        let unknown =
            found.items.iter().filter(|item| item.drift == StackDriftKind::Unknown).count();
        Ok(match (found.drift.is_drifted(), unknown) {
            (true, _) => Came::Ended(
                CareEnd::Warned,
                format!(
                    "{} of {} objects are not as the template says: {}",
                    found.drift.changed + found.drift.missing,
                    found.drift.looked,
                    names.join(", ")
                ),
            ),
            (false, 0) => Came::Ended(
                CareEnd::Succeeded,
                format!("all {} objects are as the template says", found.drift.looked),
            ),
            (false, unknown) => Came::Ended(
                CareEnd::Succeeded,
                format!(
                    "{} objects are as the template says; of {unknown} nobody can tell",
                    found.drift.looked
                ),
            ),
        })
    }

    /// Has the stack kept as it is.
    async fn kept(&self, care: &StackCare) -> Result<Came, Error> {
        let scene = &self.change.scene;
        let cx = self.mandate(care, None).await?;
        let stack = self.stack_of(care).await?;
        let asked = self.control.stack_snapshot_for(
            &cx,
            &scene.project,
            &stack,
            scene.execution.id,
            care.snapshot,
        );
        let Some(snapshot) = asked.await? else {
            let words = format!("stack {}: {}", care.stack, stack.standing.heat());
            return Ok(Came::Still(words));
        };
        let id = care.snapshot;
        Ok(match snapshot.status {
            StackStatus::InProgress => Came::Still(format!("snapshot {id} is taken")),
            StackStatus::Complete => Came::Ended(CareEnd::Succeeded, format!("snapshot {id}")),
            StackStatus::Failed => Came::failed(format!("snapshot {id}: {}", snapshot.reason)),
        })
    }

    /// Has the stack become as it was. What the change is based on is written before it is asked for, so that it is asked for
    /// once, and known again.
    async fn rolled_back(&mut self, care: &StackCare) -> Result<Came, Error> {
        let Some(point) = care.way_back() else {
            return Ok(Came::failed("the stack had no revision, so there is no way back"));
        };
        let stack = self.stack_of(care).await?;
        let began = match care.way {
            // What a step began is finished first.
            None if stack.standing.is_under_way() => {
                return Ok(Came::Still(format!("stack {}: {}", care.stack, stack.standing.heat())));
            }
            None => {
                self.go_way(Some(CareWay::From(stack.traversal)));
                return Ok(Came::Still(format!("stack {} is to be as at {point}", care.stack)));
            }
            Some(CareWay::From(base)) => {
                let key = format!("{}:rollback:{}", self.change.scene.execution.id, care.hold);
                let cx = self.mandate(care, Some(&key)).await?;
                let (project, at) = (&self.change.scene.project, care.stack_id.to_string());
                let why = format!("execution {} did not succeed", self.change.scene.execution.id);
                let asked =
                    self.control.stack_roll_back(&cx, project, &at, point, base, &why).await;
                match asked {
                    Ok(_) => {}
                    Err(refusal) if refusal.error.code == Code::Stale => {
                        self.go_way(None);
                        return Ok(Came::Still(format!(
                            "stack {} was changed meanwhile",
                            care.stack
                        )));
                    }
                    Err(refusal) => return Err(refusal.into()),
                }
                let began = base.next();
                self.go_way(Some(CareWay::Begun(began)));
                began
            }
            Some(CareWay::Begun(began)) => began,
        };
        let stack = self.stack_of(care).await?;
        let (name, reason) = (&care.stack, &stack.standing.reason);
        Ok(match stack.standing.status {
            _ if stack.traversal != began => Came::failed(format!(
                "another change of stack {name} came instead: {}: {reason}",
                stack.standing.heat()
            )),
            StackStatus::InProgress => Came::Still(format!("stack {name} goes back to {point}")),
            StackStatus::Complete => {
                Came::Ended(CareEnd::Succeeded, format!("stack {name} is as it was at {point}"))
            }
            StackStatus::Failed => Came::failed(format!("stack {name}: {reason}")),
        })
    }

    fn go_way(&mut self, way: Option<CareWay>) {
        if let Some(care) = &mut self.change.scene.execution.care {
            care.way = way;
        }
    }

    async fn stack_of(&self, care: &StackCare) -> Result<hostler_model::stack::Stack, Error> {
        let found = self.control.store.read().await?.stack_get(care.stack_id).await?;
        found
            .filter(|stack| !stack.is_deleted())
            .ok_or_else(|| Error::not_found("stack", &care.stack))
    }

    async fn remember_revision(&mut self) -> Result<(), Error> {
        let Some(care) = self.care() else { return Ok(()) };
        let revision = self.stack_of(care).await.map_or(0, |stack| stack.revision);
        if let Some(care) = &mut self.change.scene.execution.care {
            care.revision = revision;
        }
        Ok(())
    }

    /// Says that the one who holds the lock is still there.
    pub(super) async fn renew_lock(&mut self) -> Result<(), Error> {
        let Some(care) = self.care() else { return Ok(()) };
        let standing = care.phase(CareKind::Lock).map(|phase| phase.standing);
        let Some(CareStanding::Held { since, renewed }) = standing else { return Ok(()) };
        let now = self.change.scene.now;
        self.look_within(RENEWED);
        if renewed.plus(RENEWED.duration()) > now {
            return Ok(());
        }
        let Some(care) = self.care().cloned() else { return Ok(()) };
        match self.renewed(&care).await {
            Ok(()) => {
                if let Some(phase) = self.phase_row(CareKind::Lock) {
                    phase.standing = CareStanding::Held { since, renewed: now };
                }
            }
            Err(error) => match Came::of(&error) {
                Came::Still(_) => self.look_within(LOOK),
                _ => {
                    self.phase_ended(CareKind::Lock, CareEnd::Lost, &error.detail);
                    let state = self.change.scene.execution.state;
                    if state.outcome().is_none() {
                        self.ends_because(CareKind::Lock, &error.detail);
                    }
                }
            },
        }
        Ok(())
    }

    async fn renewed(&self, care: &StackCare) -> Result<(), Error> {
        let cx = self.mandate(care, None).await?;
        let (project, at) = (&self.change.scene.project, care.stack_id.to_string());
        self.control.stack_lock_renew(&cx, project, &at, care.hold, None).await?;
        Ok(())
    }

    /// Gives the lock back when everything is over.
    pub(super) async fn release_lock(&mut self) -> Result<(), Error> {
        let standing = self.care().and_then(|care| care.phase(CareKind::Lock)).map(|p| p.standing);
        if !matches!(standing, Some(CareStanding::Held { .. })) {
            return Ok(());
        }
        match self.let_go_of_lock().await? {
            None => self.phase_ended(CareKind::Lock, CareEnd::Released, "it was given back"),
            Some(why) => self.phase_ended(CareKind::Lock, CareEnd::Lost, &why),
        }
        Ok(())
    }

    /// Gives the lock back, or the place in its queue; why it is not held any more, where it is not.
    async fn let_go_of_lock(&self) -> Result<Option<String>, Error> {
        let Some(care) = self.care() else { return Ok(None) };
        let released = async {
            let cx = self.mandate(care, None).await?;
            let (project, at) = (&self.change.scene.project, care.stack_id.to_string());
            self.control.stack_lock_release(&cx, project, &at, Some(care.hold)).await?;
            Ok::<_, Error>(())
        };
        match released.await {
            Ok(()) => Ok(None),
            Err(error) => match Came::of(&error) {
                Came::Still(_) => Err(error),
                // It is free when it has not been renewed for long enough.
                _ => Ok(Some(error.detail)),
            },
        }
    }

    async fn mandate(&self, care: &StackCare, key: Option<&str>) -> Result<Cx, Error> {
        mandate_cx(self.control, &self.change.scene.execution, care, key).await
    }

    fn ends_because(&mut self, kind: CareKind, words: &str) {
        if let Some(care) = &mut self.change.scene.execution.care {
            care.failure.get_or_insert_with(|| format!("{kind}: {words}"));
        }
    }

    fn phase_row(&mut self, kind: CareKind) -> Option<&mut hostler_model::workflow::CarePhase> {
        self.change.scene.execution.care.as_mut()?.phase_mut(kind)
    }

    fn phase_ended(&mut self, kind: CareKind, end: CareEnd, words: &str) {
        let at = self.change.scene.now;
        let Some(phase) = self.phase_row(kind) else { return };
        let since = phase.standing.since().unwrap_or(at);
        phase.standing = CareStanding::Ended { since, at, end };
        phase.message = words.chars().take(MESSAGE_MAX).collect();
        let words = match phase.message.as_str() {
            "" => format!("{kind}: {end}"),
            message => format!("{kind}: {end}: {message}"),
        };
        if end != CareEnd::Skipped {
            self.phase_event(kind, words);
        }
    }

    fn phase_event(&mut self, kind: CareKind, words: String) {
        let execution = &self.change.scene.execution;
        let Some(care) = &execution.care else { return };
        let payload = ExecutionPhasePayload {
            workflow: Some(execution.workflow.clone()),
            version: Some(execution.version),
            stack: Some(care.stack.to_string()),
            phase: Some(kind.to_string()),
            standing: care.phase(kind).map(|phase| phase.standing.label().to_owned()),
        };
        let (object, project) = (execution_object(execution), Some(execution.project_id));
        let actor = self.control.system_actor();
        let event = self.control.event(EventKind::ExecutionPhase, project, &object, actor, words);
        self.change.events.push(event.with_payload(payload));
    }
}
