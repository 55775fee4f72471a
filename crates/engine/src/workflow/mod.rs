//! How an execution of a workflow goes on.
//!
//! [`Course`] is the state of one execution, and every method is a decision: something happened, the time is this, so do
//! that. It starts steps whose dependencies allow it, in the order of the definition and as many at once as are allowed;
//! it tries again what failed, after a while; it stops what takes too long; it says who is skipped and why; and when
//! nothing is left it undoes what can be undone, if that is wanted, and says how it all ended. Whoever performs it tells
//! it of every end exactly once.
//!
//! Times are since the beginning of the execution. What an earlier server, or an earlier process, found out is given at
//! the beginning ([`Course::resume`]), and nothing of it is done again.
//!
//! When a step does not run, others learn of it: one whose own condition did not hold counts as done for those that
//! depend on it; one that failed, or was itself skipped because of a failure, does not, however far away that failure was.

mod files;
mod wait;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::Span;
use hostler_model::workflow::{ExecutionOutcome, OnFailure, SkipReason, StepEnd, Workflow};

pub use hostler_model::workflow::Standing;

pub use files::missing;
pub use wait::delay;

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Begin a try of a step.
    Start { step: usize, attempt: u32 },
    /// End a running step like this; its end is told as any other.
    Stop { step: usize, end: StepEnd },
    /// A step does not run.
    Skip { step: usize, reason: SkipReason },
    /// A step failed and is tried again later.
    Again { step: usize, attempt: u32, at: Span },
    /// Undo a step that succeeded.
    Undo { step: usize },
    /// It is over.
    Finish { outcome: ExecutionOutcome },
}

/// How an execution is carried out, besides what its workflow says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only these steps and what they depend on.
    pub only: Option<BTreeSet<usize>>,
    /// How many run at once where the workflow does not say it.
    pub at_once: Option<u32>,
    /// Makes the jitter of this execution different from that of others.
    pub seed: u64,
    /// Somebody wanted it to end before it was taken up.
    pub is_cancelled: bool,
}

/// One execution.
#[derive(Clone, Debug)]
pub struct Course {
    workflow: Workflow,
    options: Options,
    standing: Vec<Standing>,
    /// What each step depends on, and whose failure it is there for.
    depends: Vec<Vec<usize>>,
    after_failure: Vec<Vec<usize>>,
    /// Who waits for each step.
    followers: Vec<Vec<usize>>,
    /// How many that it waits for are not over.
    open: Vec<usize>,
    /// How many are not over at all.
    left: usize,
    ready: BTreeSet<usize>,
    /// Steps that take a place.
    running: u32,
    /// When something is due: timeouts and further tries.
    due: BTreeSet<(Span, usize)>,
    /// Steps in the order in which they succeeded.
    succeeded: Vec<usize>,
    ending: Option<ExecutionOutcome>,
    undoing: Option<Vec<usize>>,
    /// Steps that were undone before.
    undone: BTreeSet<usize>,
    /// Whoever performs it was asked to undo one, and has not said that it is done.
    is_undoing: bool,
    outcome: Option<ExecutionOutcome>,
}

impl Course {
    /// A new execution, and what to do first.
    pub fn begin(workflow: Workflow, options: Options) -> (Course, Vec<Action>) {
        Course::resume(workflow, options, &[], &BTreeSet::new(), Span::default())
    }

    /// An execution that began before. Steps are given as they stand, those that are over in the order in which they
    /// ended; of others nothing is known and nothing was done.
    pub fn resume(
        workflow: Workflow,
        options: Options,
        known: &[(usize, Standing)],
        undone: &BTreeSet<usize>,
        now: Span,
    ) -> (Course, Vec<Action>) {
        let count = workflow.steps.len();
        let position: BTreeMap<&str, usize> =
            workflow.steps.iter().enumerate().map(|(i, step)| (step.name.as_str(), i)).collect();
        let positions = |names: &[String]| -> Vec<usize> {
            names.iter().filter_map(|name| position.get(name.as_str()).copied()).collect()
        };
        let depends: Vec<_> =
            workflow.steps.iter().map(|step| positions(&step.depends_on)).collect();
        let after_failure: Vec<_> =
            workflow.steps.iter().map(|step| positions(&step.after_failure_of)).collect();
        let mut followers = vec![Vec::new(); count];
        let mut open = vec![0; count];
        for i in 0..count {
            let waits: BTreeSet<usize> =
                depends[i].iter().chain(&after_failure[i]).copied().collect();
            open[i] = waits.len();
            for j in waits {
                followers[j].push(i);
            }
        }
        let mut course = Course {
            standing: vec![Standing::Waiting; count],
            left: count,
            depends,
            after_failure,
            followers,
            open,
            ready: BTreeSet::new(),
            running: 0,
            due: BTreeSet::new(),
            succeeded: Vec::new(),
            ending: None,
            undoing: None,
            undone: BTreeSet::new(),
            is_undoing: false,
            outcome: None,
            workflow,
            options,
        };
        let mut actions = Vec::new();
        if let Some(timeout) = course.workflow.config.timeout {
            course.due.insert((timeout, usize::MAX));
        }
        let selected = course.selected();
        course.ready = (0..count).filter(|&i| course.open[i] == 0).collect();
        for (step, standing) in known {
            course.recall(*step, *standing);
        }
        for (step, standing) in known.iter().filter(|(_, standing)| standing.is_over()) {
            course.settle(*step, *standing, &mut actions);
        }
        for step in (0..count).filter(|step| !selected.contains(step)) {
            course.skip(step, SkipReason::NotSelected, &mut actions);
        }
        let is_known = |step: &usize| known.iter().any(|(i, at)| i == step && at.is_over());
        actions.retain(|action| !matches!(action, Action::Skip { step, .. } if is_known(step)));
        course.undone = undone.clone();
        let is_late = course.workflow.config.timeout.is_some_and(|timeout| timeout <= now);
        if course.options.is_cancelled {
            course.end_all(ExecutionOutcome::Cancelled, StepEnd::Cancelled, &mut actions);
        } else if is_late && (course.left > 0 || course.was_stopped()) {
            course.end_all(ExecutionOutcome::TimedOut, StepEnd::Cancelled, &mut actions);
        }
        course.go_on(now, &mut actions);
        (course, actions)
    }

    /// A step is under way, or rests.
    fn recall(&mut self, step: usize, standing: Standing) {
        let definition = &self.workflow.steps[step];
        match standing {
            Standing::Running { since, .. } => {
                if !definition.background {
                    self.running += 1;
                }
                if let Some(timeout) = definition.timeout {
                    self.due.insert((Span::from_millis(since.millis() + timeout.millis()), step));
                }
            }
            Standing::Resting { until, .. } => {
                self.due.insert((until, step));
            }
            Standing::Waiting | Standing::Ended(_) | Standing::Skipped(_) => return,
        }
        self.ready.remove(&step);
        self.standing[step] = standing;
    }

    /// What is asked for, with all that it depends on.
    fn selected(&self) -> BTreeSet<usize> {
        let Some(only) = &self.options.only else { return (0..self.standing.len()).collect() };
        let mut found = BTreeSet::new();
        let mut left: Vec<usize> = only.iter().copied().collect();
        while let Some(i) = left.pop() {
            if found.insert(i) {
                left.extend(&self.depends[i]);
            }
        }
        found
    }

    pub fn workflow(&self) -> &Workflow {
        &self.workflow
    }
    pub fn standing(&self, step: usize) -> Standing {
        self.standing[step]
    }
    pub fn outcome(&self) -> Option<ExecutionOutcome> {
        self.outcome
    }
    /// When to ask again at the latest.
    pub fn next_due(&self) -> Option<Span> {
        self.due.first().map(|(at, _)| *at)
    }

    /// A try of a step ended.
    pub fn ended(&mut self, step: usize, end: StepEnd, now: Span) -> Vec<Action> {
        self.over(step, end, now, true)
    }

    /// The same where another try would end alike: there is none.
    pub fn given_up(&mut self, step: usize, end: StepEnd, now: Span) -> Vec<Action> {
        self.over(step, end, now, false)
    }

    fn over(&mut self, step: usize, end: StepEnd, now: Span, is_worth: bool) -> Vec<Action> {
        let mut actions = Vec::new();
        let Standing::Running { attempt, .. } = self.standing[step] else { return actions };
        self.release(step);
        let retry = &self.workflow.steps[step].retry;
        let is_stopping = self.ending.is_some();
        if is_worth && end.is_retried() && attempt <= retry.retries && !is_stopping {
            let at = Span::from_millis(
                now.millis() + delay(retry, attempt, self.options.seed, step).millis(),
            );
            self.standing[step] = Standing::Resting { attempt: attempt + 1, until: at };
            self.due.insert((at, step));
            actions.push(Action::Again { step, attempt: attempt + 1, at });
        } else {
            self.settle(step, Standing::Ended(end), &mut actions);
        }
        self.go_on(now, &mut actions);
        actions
    }

    /// A step was undone, or could not be.
    pub fn undone(&mut self, step: usize, now: Span) -> Vec<Action> {
        let mut actions = Vec::new();
        if let Some(left) = &mut self.undoing {
            left.retain(|other| *other != step);
        }
        self.is_undoing = false;
        self.go_on(now, &mut actions);
        actions
    }

    /// Somebody wants it to end.
    pub fn cancel(&mut self, now: Span) -> Vec<Action> {
        let mut actions = Vec::new();
        self.end_all(ExecutionOutcome::Cancelled, StepEnd::Cancelled, &mut actions);
        self.go_on(now, &mut actions);
        actions
    }

    /// Time has passed.
    pub fn tick(&mut self, now: Span) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some((at, step)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.due.remove(&(at, step));
            if step == usize::MAX {
                self.end_all(ExecutionOutcome::TimedOut, StepEnd::Cancelled, &mut actions);
                continue;
            }
            match self.standing[step] {
                Standing::Running { .. } => {
                    actions.push(Action::Stop { step, end: StepEnd::TimedOut });
                }
                Standing::Resting { .. } => {
                    self.ready.insert(step);
                }
                _ => {}
            }
        }
        self.go_on(now, &mut actions);
        actions
    }

    /// No place and no time is kept for a step any more.
    fn release(&mut self, step: usize) {
        if !self.workflow.steps[step].background {
            self.running -= 1;
        }
        self.due.retain(|(_, other)| *other != step);
    }

    fn skip(&mut self, step: usize, reason: SkipReason, actions: &mut Vec<Action>) {
        self.settle(step, Standing::Skipped(reason), actions);
    }

    /// A step is over: those that wait for it learn of it.
    fn settle(&mut self, step: usize, standing: Standing, actions: &mut Vec<Action>) {
        if self.standing[step].is_over() {
            return;
        }
        self.standing[step] = standing;
        self.left -= 1;
        self.ready.remove(&step);
        match standing {
            Standing::Ended(StepEnd::Succeeded) => self.succeeded.push(step),
            Standing::Skipped(reason) => actions.push(Action::Skip { step, reason }),
            _ => {}
        }
        let followers = std::mem::take(&mut self.followers[step]);
        for follower in followers {
            self.open[follower] -= 1;
            self.look_at(follower, actions);
        }
        let may_fail = self.workflow.steps[step].may_fail;
        let is_abort = standing == Standing::Ended(StepEnd::Aborted);
        let is_last_straw = self.workflow.config.fail_fast && standing.is_failure() && !may_fail;
        if is_abort || is_last_straw {
            self.end_all(ExecutionOutcome::Failed, StepEnd::Cancelled, actions);
        }
    }

    /// Whether a step can run now, or never will.
    fn look_at(&mut self, step: usize, actions: &mut Vec<Action>) {
        if self.standing[step] != Standing::Waiting {
            return;
        }
        let in_the_way = self.depends[step].iter().any(|&i| match self.standing[i] {
            Standing::Ended(StepEnd::Succeeded | StepEnd::Skipped) => false,
            Standing::Ended(end) => !(end.is_failure() && self.workflow.steps[i].may_fail),
            Standing::Skipped(reason) => {
                !matches!(reason, SkipReason::Condition | SkipReason::NotSelected)
            }
            _ => false,
        });
        let waits_for_failure = !self.after_failure[step].is_empty();
        let has_failed = self.after_failure[step].iter().any(|&i| self.standing[i].is_failure());
        let reason = if in_the_way {
            Some(SkipReason::Dependency)
        } else if self.open[step] > 0 {
            return;
        } else if waits_for_failure && !has_failed {
            Some(SkipReason::NoFailure)
        } else {
            None
        };
        match reason {
            Some(reason) => self.skip(step, reason, actions),
            None => {
                self.ready.insert(step);
            }
        }
    }

    /// Nothing begins any more, and what runs is stopped.
    fn end_all(&mut self, outcome: ExecutionOutcome, end: StepEnd, actions: &mut Vec<Action>) {
        if self.ending.is_some() || self.outcome.is_some() {
            return;
        }
        self.ending = Some(outcome);
        self.ready.clear();
        for step in 0..self.standing.len() {
            match self.standing[step] {
                Standing::Running { .. } => actions.push(Action::Stop { step, end }),
                Standing::Resting { .. } => {
                    self.due.retain(|(_, other)| *other != step);
                    self.standing[step] = Standing::Waiting;
                    self.skip(step, SkipReason::Ended, actions);
                }
                Standing::Waiting => self.skip(step, SkipReason::Ended, actions),
                Standing::Ended(_) | Standing::Skipped(_) => {}
            }
        }
    }

    fn go_on(&mut self, now: Span, actions: &mut Vec<Action>) {
        let places = self.workflow.config.max_parallel.or(self.options.at_once).unwrap_or(u32::MAX);
        while self.ending.is_none() {
            let free = self.running < places;
            let next =
                self.ready.iter().copied().find(|&i| free || self.workflow.steps[i].background);
            let Some(step) = next else { break };
            self.start(step, now, actions);
        }
        if self.outcome.is_none() && self.left == 0 {
            self.finish(actions);
        }
    }

    fn start(&mut self, step: usize, now: Span, actions: &mut Vec<Action>) {
        self.ready.remove(&step);
        let attempt = match self.standing[step] {
            Standing::Resting { attempt, .. } => attempt,
            _ => 1,
        };
        self.standing[step] = Standing::Running { attempt, since: now };
        let definition = &self.workflow.steps[step];
        if !definition.background {
            self.running += 1;
        }
        if let Some(timeout) = definition.timeout {
            self.due.insert((Span::from_millis(now.millis() + timeout.millis()), step));
        }
        actions.push(Action::Start { step, attempt });
    }

    /// Whether a step was made to end.
    fn was_stopped(&self) -> bool {
        self.standing.contains(&Standing::Ended(StepEnd::Cancelled))
    }

    fn finish(&mut self, actions: &mut Vec<Action>) {
        let has_failed = self
            .standing
            .iter()
            .enumerate()
            .any(|(i, standing)| standing.is_failure() && !self.workflow.steps[i].may_fail);
        let outcome = match self.ending {
            Some(outcome) => outcome,
            None if has_failed => ExecutionOutcome::Failed,
            None if self.was_stopped() => ExecutionOutcome::Cancelled,
            None => ExecutionOutcome::Succeeded,
        };
        if outcome != ExecutionOutcome::Succeeded
            && matches!(
                self.workflow.config.on_failure,
                OnFailure::Compensate | OnFailure::Rollback
            )
        {
            let (steps, undone) = (&self.workflow.steps, &self.undone);
            let left = self.undoing.get_or_insert_with(|| {
                let can =
                    |step: &&usize| steps[**step].compensation.is_some() && !undone.contains(*step);
                self.succeeded.iter().rev().filter(can).copied().collect()
            });
            if let Some(&step) = left.first() {
                if !self.is_undoing {
                    self.is_undoing = true;
                    actions.push(Action::Undo { step });
                }
                return;
            }
        }
        self.due.clear();
        self.outcome = Some(outcome);
        actions.push(Action::Finish { outcome });
    }
}
