//! The resources of a walk, as its templates and plugins see them; and what is in the world, where that counts.

use std::sync::Arc;

use hostler_model::stack::{StackAction, StackResource, StackStatus};
use serde_json::Map;

use super::live::{Looked, Looking, all};
use super::pass::Walk;
use super::perform::{Others, is_meant};
use super::plugin::{Plugin, Seen};
use super::scope::Resources;
use crate::Control;

impl Walk {
    /// Has what is in the world looked at before it is compared: everything, where that was chosen, and always what changes by
    /// itself.
    pub(super) async fn look_live(&mut self, control: &Control) {
        let stack = self.course.stack();
        let is_asked = matches!(stack.standing.action, StackAction::Update | StackAction::Restore)
            && stack.standing.status == StackStatus::InProgress;
        if !is_asked || std::mem::replace(&mut self.is_looked, true) {
            return;
        }
        let is_live = self.blueprint.as_ref().is_some_and(|blueprint| blueprint.is_live);
        let is_all = is_live || self.course.stack().options.converges;
        let (walk, nothing) = (&*self, &Map::new());
        let (others, stack) = (&Present { walk, control }, walk.course.stack());
        let files = walk.blueprint.as_ref().map_or(nothing, |blueprint| blueprint.files.as_ref());
        let looks = walk.course.rows().filter(|row| row.deed.is_none()).filter_map(|row| {
            let body = walk.bodies.get(&row.id)?;
            let plugin = control.stack_plugin(&body.plugin).filter(|it| !it.is_local())?;
            if !is_all && !plugin.is_looked_at() {
                return None;
            }
            let child = walk.children.get(&row.id).map(|child| &child.view);
            let looking =
                Looking { control, key: &walk.key, stack, row, body, child, files, others };
            Some(async move { (row.id, looking.ask(plugin.as_ref()).await) })
        });
        let found = all(looks.collect()).await;
        let heard = |(id, live): Looked| match live {
            Ok(live) => Some((id, live?)),
            Err(error) => {
                let error = walk.hidden(control).scrub(&error.to_string());
                tracing::warn!(resource = %id, error, "a resource cannot be looked at");
                None
            }
        };
        self.live = found.into_iter().filter_map(heard).collect();
    }
}

/// The resources of a walk, by what the goal calls them.
pub(super) struct Present<'a> {
    pub walk: &'a Walk,
    pub control: &'a Control,
}

impl Present<'_> {
    fn row(&self, name: &str) -> Option<&StackResource> {
        let position = self.walk.blueprint.as_ref().and_then(|b| b.position(name));
        position.and_then(|position| self.walk.course.resource(position)).or_else(|| {
            let mut all = self.walk.course.rows();
            all.find(|row| row.name == name && row.replaced_by.is_none())
        })
    }
}

impl Resources for Present<'_> {
    fn seen(&self, name: &str) -> Option<Seen<'_>> {
        self.walk.seen(self.row(name)?)
    }

    fn plugin(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        self.control.stack_plugin(&self.walk.bodies.get(&self.row(name)?.id)?.plugin)
    }
}

impl Others for Present<'_> {
    fn find(&self, reference: &str) -> Option<Seen<'_>> {
        let mut all = self.walk.course.rows().filter_map(|row| self.walk.seen(row));
        all.find(|seen| is_meant(seen, reference))
    }
}
