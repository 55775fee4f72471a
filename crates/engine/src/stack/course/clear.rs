//! Rows that nobody wants any more go, those that require others before these.

use hostler_model::stack::{DeedKind, DeletionPolicy, ResourceAction, StackHook, StackStatus};

use super::{CHANGED, Course, Mode, Role, is_blank};

impl Course {
    /// Whoever waits for a row to be as wanted, or gone, waits no more.
    pub(super) fn release(&mut self, row: usize) {
        if self.mode != Mode::Converge || std::mem::replace(&mut self.rows[row].is_released, true) {
            return;
        }
        for required in std::mem::take(&mut self.rows[row].requires) {
            self.touches += 1;
            self.wait_less(required);
        }
    }

    pub(super) fn wait_less(&mut self, row: usize) {
        self.rows[row].left -= 1;
        self.try_clear(row);
    }

    pub(super) fn try_clear(&mut self, row: usize) {
        let at = &self.rows[row];
        if at.role == Role::Unwanted
            && at.left == 0
            && at.resource.deed.is_none()
            && !self.is_paused(row)
        {
            self.clearable.insert(row);
        }
    }

    /// Nothing requires it any more, so it goes.
    pub(super) fn clear(&mut self, row: usize) {
        let resource = &self.rows[row].resource;
        let delete = ResourceAction::Delete;
        let is_removed =
            resource.standing.action == delete && resource.standing.status == StackStatus::Complete;
        if is_removed || is_blank(resource) {
            return self.forget(row);
        }
        if self.stops_at(row, StackHook::PreDelete) {
            return;
        }
        let resource = &self.rows[row].resource;
        let is_half_made = resource.standing.status == StackStatus::Failed
            && matches!(resource.standing.action, ResourceAction::Create | ResourceAction::Adopt);
        let definition = resource.definition;
        match resource.deletion_policy {
            DeletionPolicy::Retain => {
                self.stand(row, delete, StackStatus::InProgress, CHANGED);
                self.stand(row, delete, StackStatus::Complete, CHANGED);
                self.forget(row);
            }
            DeletionPolicy::Snapshot if resource.physical.is_some() && !is_half_made => {
                self.stand(row, delete, StackStatus::InProgress, CHANGED);
                self.write_deed(row, DeedKind::Snapshot, definition);
            }
            DeletionPolicy::Snapshot | DeletionPolicy::Delete => {
                self.write_deed(row, DeedKind::Delete, definition);
            }
        }
    }

    /// The row is gone, and nobody speaks of it any more.
    pub(super) fn forget(&mut self, row: usize) {
        let was_unwanted =
            std::mem::replace(&mut self.rows[row].role, Role::Gone) == Role::Unwanted;
        let resource = &self.rows[row].resource;
        let (id, replaces, replaced_by) = (resource.id, resource.replaces, resource.replaced_by);
        if !self.rows[row].is_new {
            self.gone.push(id);
        }
        self.changed.remove(&row);
        if let Some(&old) = replaces.and_then(|old| self.position.get(&old))
            && self.rows[old].role != Role::Gone
            && self.rows[old].resource.replaced_by == Some(id)
        {
            self.rows[old].resource.replaced_by = None;
            self.touch(old);
        }
        if let Some(&new) = replaced_by.and_then(|new| self.position.get(&new))
            && self.rows[new].role != Role::Gone
            && self.rows[new].resource.replaces == Some(id)
        {
            self.rows[new].resource.replaces = None;
            self.touch(new);
        }
        self.uncleared -= usize::from(was_unwanted);
        self.release(row);
    }
}
