//! Objects are made, changed and replaced.

use std::collections::HashSet;

use hostler_model::StackResourceId;
use hostler_model::stack::{Deed, DeedKind, ResourceAction, StackAction, StackHook, StackStatus};

use super::super::{Failure, Restriction, Verdict, Wanted, described};
use super::{CHANGED, Course, Mode, Role, is_blank};

impl Course {
    /// What a row that was given out is, compared with what is wanted.
    pub fn examined(&mut self, row: StackResourceId, verdict: Verdict) {
        let Some(i) = self.position.get(&row).copied() else { return };
        let Role::Node(node) = self.rows[i].role else { return };
        if !std::mem::take(&mut self.nodes[node].is_asked) {
            return;
        }
        self.is_drained = false;
        self.asked -= 1;
        self.busy -= 1;
        self.taken -= 1;
        if self.stack.failure.is_some() || self.mode != Mode::Converge {
            return;
        }
        let is_blank = is_blank(&self.rows[i].resource);
        match verdict {
            Verdict::Refused(restriction) => self.refuse(i, restriction),
            Verdict::Impossible(failure) => self.give_up_on(i, &failure),
            _ if is_blank && (self.is_external(i) || self.is_adoption()) => {
                self.begin(i, DeedKind::Adopt);
            }
            _ if is_blank => self.begin(i, DeedKind::Create),
            Verdict::Unchanged => self.leave(i, node),
            Verdict::Update => self.begin(i, DeedKind::Update),
            Verdict::Create | Verdict::Replace => self.replace(i, node),
        }
    }

    fn is_adoption(&self) -> bool {
        self.stack.standing.action == StackAction::Adopt
    }

    /// Whether somebody else looks after the object of a row.
    pub(super) fn is_external(&self, row: usize) -> bool {
        self.wanted_of(row).is_some_and(|wanted| wanted.is_external)
    }

    fn wanted_of(&self, row: usize) -> Option<&Wanted> {
        let Role::Node(node) = self.rows[row].role else { return None };
        self.nodes[node].wanted.map(|wanted| &self.goal.wanted[wanted])
    }

    /// What was taken over from somebody else is checked at once, where its type can do that.
    pub(super) fn check_external(&mut self, row: usize, adopted: &Deed) {
        if self.wanted_of(row).is_some_and(|wanted| wanted.is_checkable) {
            return self.write_deed(row, DeedKind::Check, adopted.definition);
        }
        let reason = unsupported(&self.rows[row].resource.kind);
        self.stand(row, ResourceAction::Check, StackStatus::Complete, reason);
        self.go_on(row, adopted, true);
    }

    /// It is as wanted without doing anything.
    fn leave(&mut self, row: usize, node: usize) {
        let standing = &self.rows[row].resource.standing;
        if standing.status == StackStatus::Failed {
            let action = standing.action;
            self.stand(row, action, StackStatus::Complete, CHANGED);
        }
        self.rows[row].resource.definition = self.goal.definition;
        self.be_as_wanted(row, node);
        self.done(node);
    }

    fn refuse(&mut self, row: usize, restriction: Restriction) {
        let reason = format!("{} is restricted for resource.", restriction.label());
        self.tell(row, ResourceAction::Update, StackStatus::Failed, reason.clone());
        let text = Failure::new("ResourceActionRestricted", reason);
        let text = text.text(&self.rows[row].resource.name);
        self.fail(ResourceAction::Update, &text);
    }

    /// Nothing was done to it, so an object that is there stands as before.
    fn give_up_on(&mut self, row: usize, failure: &Failure) {
        let text = failure.text(&self.rows[row].resource.name);
        let mut action = ResourceAction::Update;
        if is_blank(&self.rows[row].resource) {
            action = ResourceAction::Create;
            self.rows[row].resource.traversal = self.stack.traversal;
            self.stand(row, action, StackStatus::Failed, text.clone());
        } else {
            self.tell(row, action, StackStatus::Failed, text.clone());
        }
        self.fail(action, &text);
    }

    /// Writes a deed, unless the row has to stop at a hook first.
    fn begin(&mut self, row: usize, kind: DeedKind) {
        if let Some(hook) = StackHook::before(kind)
            && self.stops_at(row, hook)
        {
            return;
        }
        let Role::Node(node) = self.rows[row].role else { return };
        let mut requires = self.required(node);
        if let Some(wanted) = self.nodes[node].wanted {
            let goal = &self.goal.wanted[wanted];
            let resource = &mut self.rows[row].resource;
            resource.kind.clone_from(&goal.kind);
            resource.deletion_policy = goal.deletion_policy;
            let known: HashSet<StackResourceId> = resource.requires.iter().copied().collect();
            requires.retain(|id| !known.contains(id));
            resource.requires.append(&mut requires);
        }
        self.write_deed(row, kind, self.goal.definition);
    }

    /// The rows that a node requires.
    fn required(&self, node: usize) -> Vec<StackResourceId> {
        let requires = self.nodes[node].requires.iter();
        requires.map(|&other| self.rows[self.nodes[other].row].resource.id).collect()
    }

    /// What the goal says of it besides its properties.
    pub(super) fn be_as_wanted(&mut self, row: usize, node: usize) {
        let requires = self.required(node);
        if let Some(wanted) = self.nodes[node].wanted {
            let goal = &self.goal.wanted[wanted];
            let resource = &mut self.rows[row].resource;
            resource.requires = requires;
            resource.kind.clone_from(&goal.kind);
            resource.deletion_policy = goal.deletion_policy;
        }
        self.touch(row);
    }

    /// Another row takes its place. It is told of only where an object that was well turns out to be the wrong one.
    pub(super) fn replace(&mut self, row: usize, node: usize) {
        if self.stops_at(row, StackHook::PreUpdate) {
            return;
        }
        let resource = &self.rows[row].resource;
        let wanted = self.nodes[node].wanted.expect("what converges has a place in the goal");
        let is_same_kind = resource.kind == self.goal.wanted[wanted].kind;
        let is_begun = resource.standing.status == StackStatus::InProgress;
        if is_begun || resource.standing.status == StackStatus::Complete && is_same_kind {
            let text = described(resource, &self.stack);
            let update = ResourceAction::Update;
            if !is_begun {
                self.stand(row, update, StackStatus::InProgress, CHANGED);
            }
            let reason = format!("The Resource {text} requires replacement.");
            self.stand(row, update, StackStatus::Complete, reason);
        }
        let new = match self.earlier(node) {
            Some(earlier) => {
                self.bring_back(earlier, node, row);
                earlier
            }
            None => self.push_new(wanted, Some(self.rows[row].resource.id)),
        };
        self.rows[row].resource.replaced_by = Some(self.rows[new].resource.id);
        self.rows[row].resource.traversal = self.stack.traversal;
        self.rows[row].role = Role::Unwanted;
        self.rows[row].left += 1;
        self.uncleared += 1;
        self.touch(row);
        self.nodes[node].after.push(row);
        self.nodes[node].row = new;
        self.rows[new].role = Role::Node(node);
        self.try_ready(node);
    }

    /// An object that stood in this place before, and that an update which was overtaken did not come to remove: a change that
    /// leads back finds it as it was. What was replaced in this very traversal is not what is wanted.
    fn earlier(&self, node: usize) -> Option<usize> {
        let wanted = self.nodes[node].wanted.map(|wanted| &self.goal.wanted[wanted])?;
        let rows = self.nodes[node].after.iter().copied();
        let mut fitting = rows.filter(|&i| {
            let resource = &self.rows[i].resource;
            resource.replaced_by.is_some()
                && resource.traversal != self.stack.traversal
                && resource.deed.is_none()
                && resource.kind == wanted.kind
                && resource.physical.is_some()
                && resource.standing.status == StackStatus::Complete
                && resource.standing.action != ResourceAction::Delete
                && !self.is_paused(i)
        });
        fitting.next_back()
    }

    /// A row that was to go is the resource of its name again, in the place of another.
    fn bring_back(&mut self, row: usize, node: usize, instead_of: usize) {
        self.put_back(row);
        self.nodes[node].after.retain(|&i| i != row);
        self.rows[row].left -= 1;
        self.uncleared -= 1;
        self.rows[row].resource.replaces = Some(self.rows[instead_of].resource.id);
        self.touch(row);
    }

    /// The part of a node in this traversal is done, and whoever waited for it waits no more.
    pub(super) fn done(&mut self, node: usize) {
        if std::mem::replace(&mut self.nodes[node].is_done, true) {
            return;
        }
        let row = self.nodes[node].row;
        self.rows[row].resource.traversal = self.stack.traversal;
        self.touch(row);
        self.unmade -= 1;
        for follower in std::mem::take(&mut self.nodes[node].followers) {
            self.touches += 1;
            self.nodes[follower].open -= 1;
            self.try_ready(follower);
        }
        for after in std::mem::take(&mut self.nodes[node].after) {
            self.wait_less(after);
        }
        self.release(row);
    }

    pub(super) fn try_ready(&mut self, node: usize) {
        let at = &self.nodes[node];
        let row = at.row;
        if at.open == 0
            && !at.is_done
            && !at.is_asked
            && self.rows[row].resource.deed.is_none()
            && !self.is_paused(row)
        {
            self.ready.insert(node);
        }
    }

    /// The same is done to every object: now to this one. An object that was not made or changed to its end stays failed,
    /// whatever else is done, so that nobody takes it for what the definition says; it does not pass a check.
    pub(super) fn do_each(&mut self, node: usize, kind: DeedKind) {
        let row = self.nodes[node].row;
        let resource = &self.rows[row].resource;
        let standing = &resource.standing;
        let action = standing.action;
        let is_complete = standing.status == StackStatus::Complete;
        let is_half = !is_complete
            && matches!(
                action,
                ResourceAction::Create | ResourceAction::Update | ResourceAction::Adopt
            );
        match kind {
            DeedKind::Check | DeedKind::Snapshot | DeedKind::Resume if is_half => {
                return self.done(node);
            }
            DeedKind::Check => {
                let goal = self.nodes[node].wanted.map(|wanted| &self.goal.wanted[wanted]);
                if goal.is_some_and(|goal| !goal.is_checkable) {
                    if !is_complete {
                        return self.done(node);
                    }
                    let reason = unsupported(&resource.kind);
                    self.stand(row, ResourceAction::Check, StackStatus::Complete, reason);
                    return self.done(node);
                }
            }
            DeedKind::Suspend if action == ResourceAction::Suspend && is_complete => {
                return self.done(node);
            }
            DeedKind::Suspend if action != ResourceAction::Suspend && !is_complete => {
                let message = format!("State {} invalid for suspend", standing.heat());
                let text = Failure::new("Error", message).text(&resource.name);
                self.tell(row, ResourceAction::Suspend, StackStatus::Failed, text.clone());
                return self.fail(ResourceAction::Suspend, &text);
            }
            DeedKind::Resume if action == ResourceAction::Resume && is_complete => {
                return self.done(node);
            }
            _ => {}
        }
        let definition = resource.definition;
        self.write_deed(row, kind, definition);
    }
}

/// What stands at a resource whose type cannot be checked.
pub(super) fn unsupported(kind: &str) -> String {
    format!("CHECK not supported for {kind}")
}
