//! Deeds: they are written, carried on, and come to their end.

use hostler_model::stack::{Deed, DeedKind, DeedOwner, ResourceAction, StackHook, StackStatus};
use hostler_model::{StackDefinitionId, StackResourceId, Timestamp};

use super::super::{DeedRef, Failure, Outcome, Step};
use super::{CHANGED, Course, Mode, Role, action_of};

impl Course {
    /// Writes a deed into a row. Nothing is told of one that is part of what is under way already.
    pub(super) fn write_deed(
        &mut self,
        row: usize,
        kind: DeedKind,
        definition: Option<StackDefinitionId>,
    ) {
        let resource = &self.rows[row].resource;
        let is_part = resource.standing.action == ResourceAction::Delete
            && resource.standing.status == StackStatus::InProgress;
        if !is_part {
            self.stand(row, action_of(kind), StackStatus::InProgress, CHANGED);
        }
        let owner = self.owner();
        let resource = &mut self.rows[row].resource;
        resource.deeds += 1;
        resource.deed = Some(Deed {
            kind,
            definition,
            traversal: self.stack.traversal,
            owner: Some(owner),
            is_idle: false,
            time_due: None,
            time_begun: self.now,
        });
        let deed = DeedRef { row: resource.id, number: resource.deeds };
        self.touch(row);
        self.watch(row);
        self.steps.push_back(Step::Begin { deed, kind });
    }

    fn owner(&self) -> DeedOwner {
        let time_lease = self.now.plus(self.hands.lease.duration());
        DeedOwner { server_id: self.hands.server, time_lease }
    }

    /// When somebody has to look at a deed: when the lease of its owner ends, or when its time has come.
    fn due_of(&self, row: usize) -> Option<Timestamp> {
        let deed = self.rows[row].resource.deed.as_ref()?;
        deed.owner.map_or(deed.time_due, |owner| Some(owner.time_lease))
    }

    /// Counts the deed of a row in.
    pub(super) fn watch(&mut self, row: usize) {
        let Some(deed) = &self.rows[row].resource.deed else { return };
        self.busy += 1;
        self.taken += usize::from(!deed.is_idle);
        if deed.owner.is_some() {
            self.held += 1;
        } else {
            self.resting.insert(row);
        }
        if let Some(due) = self.due_of(row) {
            self.due.insert((due, row));
        }
    }

    /// Counts the deed of a row out, before it becomes another.
    fn unwatch(&mut self, row: usize) {
        if let Some(due) = self.due_of(row) {
            self.due.remove(&(due, row));
        }
        let Some(deed) = &self.rows[row].resource.deed else { return };
        self.busy -= 1;
        self.taken -= usize::from(!deed.is_idle);
        self.held -= usize::from(deed.owner.is_some());
        self.resting.remove(&row);
    }

    /// Time has passed.
    pub fn at(&mut self, now: Timestamp) {
        self.now = now.max(self.now);
        self.is_drained = false;
        if !self.is_late() {
            return;
        }
        if self.mode != Mode::Tend && self.stack.failure.is_none() {
            self.give_up(TIMED_OUT, false);
        }
        for row in std::mem::take(&mut self.resting) {
            self.abort(row, TIMED_OUT);
        }
    }

    fn is_late(&self) -> bool {
        self.stack.time_deadline.is_some_and(|deadline| deadline <= self.now)
    }

    /// A deed that somebody has to go on with.
    pub(super) fn carry(&mut self) -> Option<Step> {
        let (_, row) = self.due.first().copied().filter(|(due, _)| *due <= self.now)?;
        self.unwatch(row);
        let owner = self.owner();
        let resource = &mut self.rows[row].resource;
        let deed = resource.deed.as_mut().expect("what is due is a deed");
        deed.owner = Some(owner);
        deed.is_idle = false;
        deed.time_due = None;
        let kind = deed.kind;
        let deed = DeedRef { row: resource.id, number: resource.deeds };
        self.touch(row);
        self.watch(row);
        Some(Step::Carry { deed, kind })
    }

    /// Whoever has a deed in hand goes on with it.
    pub fn renew(&mut self, deed: DeedRef) {
        let Some(row) = self.find(deed) else { return };
        let owner = self.owner();
        self.unwatch(row);
        if let Some(deed) = &mut self.rows[row].resource.deed {
            deed.owner = Some(owner);
        }
        self.touch(row);
        self.watch(row);
    }

    /// Something came in for a row, such as a signal: what waits is looked at now.
    pub fn wake(&mut self, row: StackResourceId) {
        let Some(row) = self.position.get(&row).copied() else { return };
        if !self.resting.contains(&row) {
            return;
        }
        self.is_drained = false;
        self.unwatch(row);
        let now = self.now;
        if let Some(deed) = &mut self.rows[row].resource.deed {
            deed.time_due = Some(now);
        }
        self.touch(row);
        self.watch(row);
    }

    /// The row of a deed that is still under way.
    fn find(&self, deed: DeedRef) -> Option<usize> {
        let row = *self.position.get(&deed.row)?;
        let resource = &self.rows[row].resource;
        (resource.deed.is_some() && resource.deeds == deed.number).then_some(row)
    }

    /// What came of a deed. Of one that is over, or was begun by somebody else since, nothing is believed; then the answer
    /// is no.
    pub fn told(&mut self, deed: DeedRef, outcome: Outcome) -> bool {
        let Some(row) = self.find(deed) else { return false };
        self.is_drained = false;
        self.unwatch(row);
        match outcome {
            Outcome::Waiting { until, is_idle } => self.wait(row, until, is_idle),
            Outcome::Done => self.finish(row),
            Outcome::Failed(failure) => self.end_badly(row, &failure),
            Outcome::Gone => self.miss(row),
        }
        true
    }

    fn wait(&mut self, row: usize, until: Option<Timestamp>, is_idle: bool) {
        if let Some(deed) = &mut self.rows[row].resource.deed {
            deed.owner = None;
            deed.time_due = until;
            deed.is_idle = is_idle;
        }
        self.touch(row);
        self.watch(row);
        if self.is_late() {
            self.abort(row, TIMED_OUT);
        } else if self.is_in_vain(row) {
            let reason = format!("Stack {} started", self.stack.standing.action.heat());
            self.abort(row, &reason);
        }
    }

    /// It waits for something that nobody wants any more.
    pub(super) fn is_in_vain(&self, row: usize) -> bool {
        let at = &self.rows[row];
        let is_removal = at.resource.standing.action == ResourceAction::Delete;
        self.resting.contains(&row) && at.role == Role::Unwanted && !is_removal
    }

    /// Breaks off what waits.
    pub(super) fn abort(&mut self, row: usize, why: &str) {
        self.resting.insert(row);
        self.unwatch(row);
        let action = self.rows[row].resource.standing.action;
        self.end(row, &format!("{} aborted ({why})", action.heat()));
    }

    fn take_deed(&mut self, row: usize) -> Deed {
        self.rows[row].resource.deed.take().expect("a deed that ends was under way")
    }

    fn finish(&mut self, row: usize) {
        let deed = self.take_deed(row);
        let is_part = self.rows[row].resource.standing.action == ResourceAction::Delete;
        match deed.kind {
            DeedKind::Snapshot if is_part => {
                return self.write_deed(row, DeedKind::Delete, deed.definition);
            }
            DeedKind::Delete => return self.removed(row),
            DeedKind::Create | DeedKind::Adopt | DeedKind::Update => {
                self.rows[row].resource.definition = deed.definition;
            }
            DeedKind::Suspend | DeedKind::Resume | DeedKind::Snapshot | DeedKind::Check => {}
        }
        self.stand(row, action_of(deed.kind), StackStatus::Complete, CHANGED);
        let is_now = deed.traversal == self.stack.traversal && self.stack.failure.is_none();
        if deed.kind == DeedKind::Adopt && is_now && self.is_external(row) {
            return self.check_external(row, &deed);
        }
        self.go_on(row, &deed, true);
    }

    fn removed(&mut self, row: usize) {
        self.stand(row, ResourceAction::Delete, StackStatus::Complete, CHANGED);
        if self.mode != Mode::Tend && self.stops_at(row, StackHook::PostDelete) {
            return;
        }
        self.forget(row);
    }

    /// The object of a deed is not there.
    fn miss(&mut self, row: usize) {
        let deed = self.rows[row].resource.deed.as_ref().expect("a deed that ends was under way");
        let is_now = deed.traversal == self.stack.traversal && self.stack.failure.is_none();
        match (deed.kind, self.rows[row].role) {
            (DeedKind::Delete, _) => self.finish(row),
            (DeedKind::Update, Role::Node(node)) if is_now && self.mode == Mode::Converge => {
                self.take_deed(row);
                self.replace(row, node);
            }
            _ => {
                let resource = &self.rows[row].resource;
                let class = resource.kind.rsplit("::").next().unwrap_or(&resource.kind);
                let id = resource.physical.as_ref().unwrap_or(&resource.name);
                let message = format!("The {class} ({id}) could not be found.");
                self.end_badly(row, &Failure::new("EntityNotFound", message));
            }
        }
    }

    fn end_badly(&mut self, row: usize, failure: &Failure) {
        let text = failure.text(&self.rows[row].resource.name);
        self.end(row, &text);
    }

    /// A deed was in vain. That is a failure of the traversal that wanted it, and of no later one.
    fn end(&mut self, row: usize, reason: &str) {
        let deed = self.take_deed(row);
        let action = self.rows[row].resource.standing.action;
        self.stand(row, action, StackStatus::Failed, reason);
        if deed.traversal == self.stack.traversal && self.mode != Mode::Each(DeedKind::Check) {
            self.fail(action, reason);
        }
        self.go_on(row, &deed, false);
    }

    /// What follows from the end of a deed.
    pub(super) fn go_on(&mut self, row: usize, deed: &Deed, is_well: bool) {
        let is_now = deed.traversal == self.stack.traversal;
        if self.mode == Mode::Tend || is_now && !is_well {
            self.rows[row].resource.traversal = deed.traversal;
        }
        match self.rows[row].role {
            Role::Node(node) if is_now => {
                let is_check = self.mode == Mode::Each(DeedKind::Check);
                if is_well && self.mode == Mode::Converge {
                    self.be_as_wanted(row, node);
                    if let Some(hook) = StackHook::after(deed.kind)
                        && self.stops_at(row, hook)
                    {
                        return;
                    }
                }
                if is_well || is_check {
                    self.done(node);
                }
            }
            Role::Node(node) => self.try_ready(node),
            Role::Unwanted if is_well || !is_now => self.try_clear(row),
            Role::Unwanted | Role::Aside | Role::Gone => {}
        }
    }
}

/// Why what takes too long is given up.
const TIMED_OUT: &str = "Timed out";
