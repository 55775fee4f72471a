//! How a stack stands when nothing can go on.

use hostler_model::Timestamp;
use hostler_model::stack::{
    DeedKind, ResourceAction, StackAction, StackFailure, StackStanding, StackStatus,
};

use super::super::{Happening, begin};
use super::make::unsupported;
use super::{Course, Mode, Role};

/// How a course came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    Complete,
    /// What waits by itself goes on until its end, and the course with it.
    Failed,
    /// It failed, and goes back to where it was. Another course leads there, towards what the stack wants now.
    RollingBack,
}

impl Course {
    /// How the course ended, once it has.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// What is under way ends as failed. `is_kept`: nothing is undone, even where that was chosen.
    pub fn give_up(&mut self, reason: impl Into<String>, is_kept: bool) {
        if self.mode == Mode::Tend || self.stack.failure.is_some() {
            return;
        }
        self.stack.failure = Some(StackFailure { reason: reason.into(), is_kept });
        self.is_stack_changed = true;
        self.is_drained = false;
    }

    pub(super) fn fail(&mut self, action: ResourceAction, text: &str) {
        self.give_up(format!("Resource {} failed: {text}", action.heat()), false);
    }

    /// When somebody has to ask again at the latest: at once where not every step was taken, or a question has no answer,
    /// for whoever asked may be gone.
    pub(super) fn time_due(&self) -> Option<Timestamp> {
        let is_open = self.mode != Mode::Tend || self.busy > 0;
        let is_in_talk = is_open && (!self.is_drained || self.asked > 0);
        if is_in_talk || self.ended == Some(Ended::RollingBack) {
            return Some(self.now);
        }
        let is_awaited = self.mode != Mode::Tend && self.stack.failure.is_none();
        let is_awaited = is_awaited || !self.resting.is_empty();
        let deadline = self.stack.time_deadline.filter(|at| is_awaited && *at > self.now);
        let due = self.due.first().map(|(due, _)| *due);
        due.into_iter().chain(deadline).min()
    }

    pub(super) fn settle(&mut self) {
        if self.mode == Mode::Tend {
            if self.busy == 0 && self.stack.time_deadline.take().is_some() {
                self.is_stack_changed = true;
            }
            return;
        }
        if self.stack.failure.is_none() && self.is_stuck() {
            self.give_up("Resources that are to go wait for each other", true);
        }
        if self.stack.failure.is_some() {
            if self.held == 0 {
                self.end_failed();
            }
        } else if self.unmade == 0 && self.uncleared == 0 {
            self.end_complete();
        }
    }

    /// Nobody does anything, nobody is waited for, and yet it is not complete. No rows that were written here lead to this.
    fn is_stuck(&self) -> bool {
        self.busy == 0
            && self.paused.is_empty()
            && self.ready.is_empty()
            && self.clearable.is_empty()
            && self.unmade + self.uncleared > 0
    }

    fn end_complete(&mut self) {
        let action = self.stack.standing.action;
        let mut standing = StackStanding::completed(action);
        if self.mode == Mode::Each(DeedKind::Check) {
            let (failures, is_supported) = self.checked();
            if !failures.is_empty() {
                let reason = format!("Resource CHECK failed: {}", failures.join("; "));
                self.stack.failure = Some(StackFailure { reason, is_kept: true });
                return self.end_failed();
            }
            if !is_supported {
                standing.reason.push_str(". 'CHECK' not fully supported (see resources)");
            }
        }
        if action == StackAction::Delete {
            self.stack.time_deleted = Some(self.now);
        } else if self.mode == Mode::Converge {
            self.stack.settled = self.stack.wanted;
        }
        self.end_as(standing, Ended::Complete);
    }

    /// What every check found, and whether every resource could be checked.
    fn checked(&self) -> (Vec<String>, bool) {
        let mut failures = Vec::new();
        let mut is_supported = true;
        for node in &self.nodes {
            let resource = &self.rows[node.row].resource;
            if resource.standing.status == StackStatus::Failed {
                failures.push(format!("{}: {}", resource.name, resource.standing.reason));
            } else if resource.standing.reason == unsupported(&resource.kind) {
                is_supported = false;
            }
        }
        (failures, is_supported)
    }

    fn end_failed(&mut self) {
        let Some(failure) = self.stack.failure.take() else { return };
        let action = self.stack.standing.action;
        let is_undone = !failure.is_kept && self.stack.options.is_rollback_enabled;
        self.end_as(StackStanding::failed(action, failure.reason), Ended::Failed);
        let leads_back = match action {
            StackAction::Create | StackAction::Adopt => true,
            StackAction::Update | StackAction::Restore => self.stack.settled.is_some(),
            StackAction::Delete
            | StackAction::Rollback
            | StackAction::Suspend
            | StackAction::Resume
            | StackAction::Snapshot
            | StackAction::Check => false,
        };
        if is_undone && leads_back {
            let settled = self.stack.settled;
            let told = begin(&mut self.stack, StackAction::Rollback, settled, self.now);
            self.happenings.push(told);
            self.ended = Some(Ended::RollingBack);
        }
    }

    fn end_as(&mut self, standing: StackStanding, ended: Ended) {
        self.stack.standing = standing;
        self.is_stack_changed = true;
        self.happenings.push(Happening::of_stack(&self.stack));
        self.ended = Some(ended);
        self.mode = Mode::Tend;
        for node in &mut self.nodes {
            let was_asked = usize::from(std::mem::take(&mut node.is_asked));
            self.asked -= was_asked;
            self.busy -= was_asked;
            self.taken -= was_asked;
        }
        if self.busy == 0 {
            self.stack.time_deadline = None;
        }
        for row in &mut self.rows {
            if row.role != Role::Gone {
                row.role = Role::Aside;
            }
        }
    }
}
