//! The state of one pass over a stack. The rules are in the essay of the module above.
//!
//! Rows are known by their positions in here. A row that is the resource of a wanted name has a *node*, which waits for other
//! nodes; a row that nobody wants waits until those that require it are *released*: as wanted in this traversal, or gone.

mod build;
mod clear;
mod hooks;
mod make;
mod settle;
mod told;

use std::collections::{BTreeSet, HashMap, VecDeque};

use hostler_model::stack::{
    DeedKind, ResourceAction, ResourceStanding, Stack, StackEventStatus, StackResource, StackStatus,
};
use hostler_model::{ServerId, Span, StackResourceId, Timestamp};

use super::{Goal, Happening, Step};

pub use hooks::{HookRefusal, clear_hook};
pub use settle::Ended;

/// Where ids of new rows come from.
pub type FreshId = Box<dyn FnMut() -> StackResourceId + Send + Sync>;

/// Who carries deeds out.
pub struct Hands {
    pub server: ServerId,
    /// How long others leave a deed to this server without hearing of it.
    pub lease: Span,
    pub fresh: FreshId,
}

/// A row that has to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub resource: StackResource,
    /// There is no such row yet.
    pub is_new: bool,
}

/// What has to be written of a course. The generation of the stack is the caller's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    pub is_stack_changed: bool,
    /// In the order of their ids.
    pub rows: Vec<Changed>,
    /// Rows that are to be removed.
    pub gone: Vec<StackResourceId>,
    /// What is told, in order.
    pub happenings: Vec<Happening>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        !self.is_stack_changed
            && self.rows.is_empty()
            && self.gone.is_empty()
            && self.happenings.is_empty()
    }
}

/// What is done to a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// It becomes as the goal says.
    Converge,
    /// The same is done to every object.
    Each(DeedKind),
    /// Nothing is wanted; what is under way is brought to its end.
    Tend,
}

/// What a row is to the course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The resource of a wanted name.
    Node(usize),
    /// It is to go.
    Unwanted,
    /// Nobody asks for anything.
    Aside,
    Gone,
}

#[derive(Debug)]
struct Row {
    resource: StackResource,
    is_new: bool,
    role: Role,
    /// Positions of what it required when the course began.
    requires: Vec<usize>,
    /// How much it waits for before it may go.
    left: usize,
    /// Whatever waits for it to be as wanted, or gone, waits no more.
    is_released: bool,
}

#[derive(Debug, Default)]
struct Node {
    row: usize,
    /// Its position among what is wanted.
    wanted: Option<usize>,
    requires: Vec<usize>,
    followers: Vec<usize>,
    /// How many that it requires are not done.
    open: usize,
    /// Its row was given out to be examined.
    is_asked: bool,
    is_done: bool,
    /// Unwanted rows of the same name, which go when it is done.
    after: Vec<usize>,
}

/// One pass over a stack.
pub struct Course {
    stack: Stack,
    goal: Goal,
    hands: Hands,
    now: Timestamp,
    mode: Mode,
    rows: Vec<Row>,
    position: HashMap<StackResourceId, usize>,
    nodes: Vec<Node>,
    /// Nodes that can be examined, and unwanted rows that may go.
    ready: BTreeSet<usize>,
    clearable: BTreeSet<usize>,
    steps: VecDeque<Step>,
    /// When a lease ends, or somebody has to look.
    due: BTreeSet<(Timestamp, usize)>,
    /// Rows whose deed nobody has in hand.
    resting: BTreeSet<usize>,
    /// Deeds in somebody's hands.
    held: usize,
    /// Questions without an answer.
    asked: usize,
    /// Deeds, and questions without an answer.
    busy: usize,
    /// Those of them that take a place.
    taken: usize,
    /// Rows that wait at a hook.
    paused: BTreeSet<usize>,
    /// Nodes that are not done, and unwanted rows that are not gone.
    unmade: usize,
    uncleared: usize,
    is_stack_changed: bool,
    changed: BTreeSet<usize>,
    gone: Vec<StackResourceId>,
    happenings: Vec<Happening>,
    ended: Option<Ended>,
    /// There is nothing to do until somebody says something, or time passes.
    is_drained: bool,
    touches: u64,
}

impl Course {
    pub fn stack(&self) -> &Stack {
        &self.stack
    }

    pub fn goal(&self) -> &Goal {
        &self.goal
    }

    /// A row, as long as it is not gone.
    pub fn row(&self, id: StackResourceId) -> Option<&StackResource> {
        let row = &self.rows[*self.position.get(&id)?];
        (row.role != Role::Gone).then_some(&row.resource)
    }

    /// Every row that is not gone, in the order of their ids.
    pub fn rows(&self) -> impl Iterator<Item = &StackResource> {
        self.rows.iter().filter(|row| row.role != Role::Gone).map(|row| &row.resource)
    }

    /// The row that is the resource of a wanted name.
    pub fn resource(&self, wanted: usize) -> Option<&StackResource> {
        let node = self.nodes.get(wanted).filter(|node| node.wanted == Some(wanted))?;
        Some(&self.rows[node.row].resource)
    }

    /// How often something was touched: for tests of how the work grows.
    pub fn touches(&self) -> u64 {
        self.touches
    }

    /// What has to be written since the last time this was asked.
    pub fn take_changes(&mut self) -> Changes {
        let time_due = self.time_due();
        let is_due_changed = std::mem::replace(&mut self.stack.time_due, time_due) != time_due;
        let mut rows = Vec::with_capacity(self.changed.len());
        for i in std::mem::take(&mut self.changed) {
            let row = &mut self.rows[i];
            let is_new = std::mem::replace(&mut row.is_new, false);
            rows.push(Changed { resource: row.resource.clone(), is_new });
        }
        Changes {
            is_stack_changed: std::mem::take(&mut self.is_stack_changed) || is_due_changed,
            rows,
            gone: std::mem::take(&mut self.gone),
            happenings: std::mem::take(&mut self.happenings),
        }
    }

    /// The object of a row has another body, or is another thing in the world.
    pub fn object_changed(
        &mut self,
        row: StackResourceId,
        physical: Option<String>,
        sealed: Vec<u8>,
    ) {
        let Some(i) = self.position.get(&row).copied() else { return };
        if self.rows[i].role == Role::Gone {
            return;
        }
        self.rows[i].resource.physical = physical;
        self.rows[i].resource.sealed = sealed;
        self.touch(i);
    }

    /// What can be done now; nothing when somebody has to answer first, when time has to pass, or at the end.
    pub fn next_step(&mut self) -> Option<Step> {
        loop {
            if let Some(step) = self.steps.pop_front() {
                return Some(step);
            }
            if self.ended == Some(Ended::RollingBack) {
                return None;
            }
            if let Some(step) = self.carry() {
                return Some(step);
            }
            if self.may_begin()
                && let Some(node) = self.ready.pop_first()
            {
                match self.mode {
                    Mode::Each(kind) => self.do_each(node, kind),
                    Mode::Converge | Mode::Tend => return Some(self.ask(node)),
                }
                continue;
            }
            if self.may_begin()
                && let Some(row) = self.clearable.pop_first()
            {
                self.clear(row);
                continue;
            }
            self.settle();
            self.is_drained = true;
            return None;
        }
    }

    /// Whether there is a place for another deed.
    fn may_begin(&self) -> bool {
        let places = self.stack.options.at_once.map_or(usize::MAX, |places| places.max(1) as usize);
        self.mode != Mode::Tend && self.stack.failure.is_none() && self.taken < places
    }

    fn ask(&mut self, node: usize) -> Step {
        self.touches += 1;
        self.nodes[node].is_asked = true;
        self.asked += 1;
        self.busy += 1;
        self.taken += 1;
        Step::Examine { row: self.rows[self.nodes[node].row].resource.id }
    }

    fn touch(&mut self, row: usize) {
        self.touches += 1;
        self.rows[row].resource.time_modified = self.now;
        self.changed.insert(row);
    }

    /// A row stands otherwise than before, and that is told.
    fn stand(
        &mut self,
        row: usize,
        action: ResourceAction,
        status: StackStatus,
        reason: impl Into<String>,
    ) {
        let reason = reason.into();
        self.tell(row, action, status, reason.clone());
        self.rows[row].resource.standing = ResourceStanding { action, status, reason };
        self.touch(row);
    }

    fn tell(&mut self, row: usize, action: ResourceAction, status: StackStatus, reason: String) {
        let status = StackEventStatus::Resource(action, status);
        self.happenings.push(Happening::of_resource(&self.rows[row].resource, status, reason));
    }
}

/// What is told of everything that begins or is complete.
const CHANGED: &str = "state changed";

/// The action that a deed is part of.
const fn action_of(kind: DeedKind) -> ResourceAction {
    match kind {
        DeedKind::Create => ResourceAction::Create,
        DeedKind::Update => ResourceAction::Update,
        DeedKind::Delete => ResourceAction::Delete,
        DeedKind::Suspend => ResourceAction::Suspend,
        DeedKind::Resume => ResourceAction::Resume,
        DeedKind::Adopt => ResourceAction::Adopt,
        DeedKind::Snapshot => ResourceAction::Snapshot,
        DeedKind::Check => ResourceAction::Check,
    }
}

/// Nothing was ever done for it.
fn is_blank(resource: &StackResource) -> bool {
    resource.deeds == 0 && resource.physical.is_none()
}
