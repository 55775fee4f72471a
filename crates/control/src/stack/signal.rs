//! A signal comes in for a resource of a stack.
//!
//! Its plugin says what follows. That is written with what is told of it in one transaction that names the generation of the
//! stack that was looked at; whoever loses that race looks anew. Everything that waits in the stack is due then.

use hostler_engine::stack::{Failure, Happening};
use hostler_model::stack::{Stack, StackEventStatus, StackResource};
use hostler_model::{Error, NewAuditEntry, NewEvent, StackResourceId};
use serde_json::{Map, Value};

use super::pass::Walk;
use super::perform::{StackDesk, wanted_of};
use super::plugin::{Ctx, Plugin, Signal, SignalTaken};
use super::present::Present;
use super::scene::Scene;
use crate::Control;

/// What became of a signal.
pub(crate) enum Signalled {
    NotSupported,
    Ignored,
    Refused(String),
    Taken(Value),
    /// Somebody else wrote to the stack: it has to be looked at anew.
    Lost,
}

impl Walk {
    fn signal(
        &self,
        control: &Control,
        plugin: &dyn Plugin,
        row: &StackResource,
        body: &Value,
    ) -> Signal {
        let Some(seen) = self.seen(row) else { return Signal::NotSupported };
        let resources = Present { walk: self, control };
        let stack = self.course.stack();
        let desk = StackDesk { control, key: &self.key, stack, row, others: &resources };
        let (key, wanted, nothing) = (row.deed_key(), wanted_of(seen.body), Map::new());
        let now = control.now();
        let ctx = Ctx {
            seen,
            wanted: &wanted,
            key: &key,
            begun: row.deed.as_ref().map_or(now, |deed| deed.time_begun),
            now,
            files: self.blueprint.as_ref().map_or(&nothing, |blueprint| blueprint.files.as_ref()),
            desk: &desk,
        };
        plugin.signal(&ctx, body)
    }

    /// Remembers what follows from a signal, and has everything looked at that waits.
    fn take_signal(&mut self, control: &Control, taken: SignalTaken) -> Option<Failure> {
        for (id, change) in taken.changes {
            if self.bodies.contains_key(&id)
                && let Some(failure) = self.apply(control, id, change)
            {
                return Some(failure);
            }
        }
        let waits = |row: &&StackResource| row.deed.as_ref().is_some_and(|it| it.owner.is_none());
        let waiting: Vec<StackResourceId> =
            self.course.rows().filter(waits).map(|row| row.id).collect();
        for id in waiting {
            self.course.wake(id);
        }
        None
    }
}

impl Control {
    /// Gives a signal to a resource. `told` says what the journal has of it.
    pub(crate) async fn stack_take_signal(
        &self,
        scene: Scene,
        id: StackResourceId,
        body: &Value,
        told: impl Fn(&Stack, &str) -> (NewEvent, NewAuditEntry),
    ) -> Result<Signalled, Error> {
        let mut walk = Walk::new(self, scene)?;
        let Some(row) = walk.course.row(id).cloned() else { return Ok(Signalled::Lost) };
        let plugin = walk.bodies.get(&id).and_then(|body| self.stack_plugin(&body.plugin));
        let Some(plugin) = plugin.filter(|plugin| plugin.takes_signals()) else {
            return Ok(Signalled::NotSupported);
        };
        let taken = match walk.signal(self, plugin.as_ref(), &row, body) {
            Signal::NotSupported => return Ok(Signalled::NotSupported),
            Signal::Ignored => return Ok(Signalled::Ignored),
            Signal::Refused(words) => return Ok(Signalled::Refused(words)),
            Signal::Taken(taken) => taken,
        };
        let (reason, answer) = (walk.hidden(self).scrub(&taken.reason), taken.answer.clone());
        if let Some(failure) = walk.take_signal(self, taken) {
            return Ok(Signalled::Refused(failure.message));
        }
        let status = StackEventStatus::Signal(row.standing.status);
        let (news, audit) = told(&walk.stack(), &reason);
        let happening = Happening::of_resource(&row, status, reason);
        match self.stack_write_signal(&mut walk, &happening, news, audit).await? {
            true => Ok(Signalled::Taken(answer)),
            false => Ok(Signalled::Lost),
        }
    }
}
