//! One stack on its way: a course with what its rows mean.
//!
//! A walk is made from what was read, and kept for as long as nobody else writes to the stack. [`Walk::advance`] takes in
//! what came of deeds, does everything that can be done without leaving the database, and stops when somebody outside has
//! to do something, when time has to pass, or after [`STEPS_MAX`] steps, so that no transaction grows without bound.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use hostler_engine::stack::{Course, DeedRef, Ended, Failure, Goal, Hands, Outcome, Step, Verdict};
use hostler_model::stack::{
    DeedBody, DeedKind, ResourceBody, STACK_DEPTH_MAX, Stack, StackFailure, StackHook,
    StackResource, plugin_type,
};
use hostler_model::{Error, Generation, Span, StackId, StackResourceId};
use serde_json::{Map, Value};

use super::StackKey;
use super::blueprint::Blueprint;
use super::examine::Question;
use super::hidden::{Hidden, secrets_of};
use super::live::Live;
use super::perform::{
    AGAIN, Siblings, StackDesk, Task, Told, call, deed_as_is, lasting, wanted_of,
};
use super::plugin::{Change, ChildWish, Ctx, Plugin, Progress, Seen};
use super::present::Present;
use super::scene::{Child, Scene};
use super::scope::{Facade, StackScope};
use crate::Control;

/// How long other servers leave a deed to the one that has it in hand, without hearing of it.
pub(crate) const LEASE: Span = Span::from_secs(30);
/// Deeds outside that are under way at once in a stack for which nothing else is chosen.
const AT_ONCE: u32 = 64;
/// What waits is not looked at again sooner than this, whatever its plugin says.
const LOOK_AFTER: Duration = Duration::from_millis(50);
/// Steps of one transaction, about.
const STEPS_MAX: usize = 4096;

/// A stack that is under way, as this server knows it.
pub(crate) struct Walk {
    /// Of the stack when it was read or written last.
    pub(super) generation: Generation,
    pub(super) key: StackKey,
    pub(super) course: Course,
    pub(super) blueprint: Option<Arc<Blueprint>>,
    pub(super) bodies: HashMap<StackResourceId, ResourceBody>,
    pub(super) children: HashMap<StackResourceId, Child>,
    pub(super) facade: Option<Facade>,
    /// How many are worked on at once, where that was chosen.
    pub(super) at_once: Option<u32>,
    /// What resources are to be as, that were looked at and not begun with.
    meant: HashMap<StackResourceId, DeedBody>,
    /// Bodies that have to be sealed anew.
    dirty: BTreeSet<StackResourceId>,
    pub(super) wishes: Vec<(StackResourceId, ChildWish)>,
    pub(super) paused: Vec<(StackResourceId, StackHook)>,
    /// Deeds that are to be carried out when they are committed.
    outside: Vec<(DeedRef, DeedKind)>,
    /// The end of the course was written.
    pub(super) is_told: bool,
    /// Properties as they are in the world, of resources that were asked for them.
    pub(super) live: HashMap<StackResourceId, Live>,
    pub(super) is_looked: bool,
}

/// What a pass has to know besides the rows.
pub(super) struct Company<'a> {
    pub control: &'a Control,
    /// Deeds that this server is at.
    pub flying: &'a HashSet<DeedRef>,
}

impl Walk {
    pub(super) fn new(control: &Control, scene: Scene) -> Result<Walk, Error> {
        let Scene { mut stack, key, blueprint, trouble, rows, bodies, children, facade } = scene;
        let (generation, at_once) = (stack.generation, stack.options.at_once);
        stack.options.at_once = Some(at_once.unwrap_or(AT_ONCE));
        let is_told = !stack.standing.is_under_way();
        let is_obstacle = !is_told && stack.wanted.is_some() && stack.failure.is_none();
        if let Some(reason) = trouble.filter(|_| is_obstacle) {
            stack.failure = Some(StackFailure { reason, is_kept: false });
        }
        let goal = goal_of(control, &stack, blueprint.as_deref());
        let ids = control.ids.clone();
        let hands =
            Hands { server: control.server_id, lease: LEASE, fresh: Box::new(move || ids.fresh()) };
        let course = Course::new(stack, goal, rows, hands, control.now());
        Ok(Walk {
            generation,
            key,
            course: course.map_err(Error::internal)?,
            blueprint,
            bodies,
            children,
            facade,
            at_once,
            meant: HashMap::new(),
            dirty: BTreeSet::new(),
            wishes: Vec::new(),
            paused: Vec::new(),
            outside: Vec::new(),
            is_told,
            live: HashMap::new(),
            is_looked: false,
        })
    }

    pub(crate) fn id(&self) -> StackId {
        self.course.stack().id
    }

    /// The stack as it is to be written.
    pub(super) fn stack(&self) -> Stack {
        let mut stack = self.course.stack().clone();
        stack.options.at_once = self.at_once;
        stack.generation = self.generation;
        stack
    }

    /// What is secret of it: nobody is told, and none of it is written in clear.
    pub(super) fn hidden(&self, control: &Control) -> Arc<Hidden> {
        let above = self.blueprint.iter().flat_map(|it| it.hidden.values()).cloned();
        let below = self.children.values().flat_map(|child| child.secrets.iter().cloned());
        let mut found: Vec<String> = above.chain(below).collect();
        for body in self.bodies.values() {
            if let Some(plugin) = control.stack_plugin(&body.plugin) {
                secrets_of(plugin.as_ref(), body, &mut found);
            }
        }
        Hidden::of(found)
    }

    /// Whether there is nothing to keep in memory for.
    pub(super) fn is_at_rest(&self) -> bool {
        self.is_told && self.course.stack().time_due.is_none()
    }

    /// Takes in what came of deeds, and does what follows. True when there is more to do at once.
    pub(super) async fn advance(&mut self, company: &Company<'_>, told: &[Told]) -> bool {
        let now = company.control.now();
        self.course.at(now);
        for deed in company.flying.iter().copied().collect::<BTreeSet<_>>() {
            self.renew(deed, now);
        }
        for one in told {
            self.take_in(company.control, one.deed, one.progress.as_ref().cloned());
        }
        self.look_live(company.control).await;
        for _ in 0..STEPS_MAX {
            let Some(step) = self.course.next_step() else { return false };
            match step {
                Step::Examine { row } => self.examine(company.control, row),
                Step::Begin { deed, kind } => self.begin(company.control, deed, kind).await,
                Step::Carry { deed, .. } if company.flying.contains(&deed) => {}
                Step::Carry { deed, kind } => self.go_on(company.control, deed, kind).await,
                Step::Pause { row, hook } => self.paused.push((row, hook)),
            }
        }
        true
    }

    /// Says again that this server is at a deed, when that was said a while ago.
    fn renew(&mut self, deed: DeedRef, now: hostler_model::Timestamp) {
        let Some(row) = self.course.row(deed.row) else { return };
        let owner = row.deed.as_ref().and_then(|deed| deed.owner);
        let half = LEASE.duration() / 2;
        if owner.is_some_and(|owner| owner.time_lease <= now.plus(half)) {
            self.course.renew(deed);
        }
    }

    fn examine(&mut self, control: &Control, id: StackResourceId) {
        self.put_away(id);
        let answer = self.answer(control, id);
        if let Ok((Verdict::Unchanged, _)) = &answer {
            self.take_version(id);
        }
        let verdict = match answer {
            Ok((verdict, meant)) => {
                if matches!(verdict, Verdict::Unchanged)
                    && let Some(body) = self.bodies.get_mut(&id)
                    && body.description != meant.description
                {
                    body.description.clone_from(&meant.description);
                    self.dirty.insert(id);
                }
                if matches!(verdict, Verdict::Create | Verdict::Update) {
                    self.meant.insert(id, meant);
                }
                verdict
            }
            Err(failure) => Verdict::Impossible(failure),
        };
        self.course.examined(id, verdict);
    }

    /// An object that is as it is to be is looked after by another version of the same type from now on.
    fn take_version(&mut self, id: StackResourceId) {
        let name = self.course.row(id).map(|row| row.name.as_str()).unwrap_or_default();
        let part = self.blueprint.as_ref().and_then(|blueprint| blueprint.part(name));
        if let (Some(part), Some(body)) = (part, self.bodies.get_mut(&id))
            && body.plugin != part.plugin
            && plugin_type(&body.plugin) == plugin_type(&part.plugin)
        {
            body.plugin.clone_from(&part.plugin);
            self.dirty.insert(id);
        }
    }

    fn answer(
        &self,
        control: &Control,
        id: StackResourceId,
    ) -> Result<(Verdict, DeedBody), Failure> {
        let blueprint = self.blueprint.as_deref();
        let (Some(row), Some(blueprint)) = (self.course.row(id), blueprint) else {
            return Err(Failure::new("Error", "nothing is known of what it is to be"));
        };
        let resources = Present { walk: self, control };
        let scope = StackScope { blueprint, resources: &resources, facade: self.facade.as_ref() };
        let meant = blueprint.meant(&row.name, &scope)?;
        let nothing = ResourceBody::default();
        let question = Question {
            control,
            key: &self.key,
            stack: self.course.stack(),
            row,
            body: self.bodies.get(&id).unwrap_or(&nothing),
            child: self.children.get(&id).map(|child| &child.view),
            live: self.live.get(&id),
            blueprint,
            others: &resources,
        };
        question.answer(meant)
    }

    async fn begin(&mut self, control: &Control, deed: DeedRef, kind: DeedKind) {
        self.put_away(deed.row);
        let name = self.course.row(deed.row).map(|row| row.name.clone()).unwrap_or_default();
        let part = self.blueprint.as_ref().and_then(|blueprint| blueprint.part(&name));
        let body = self.bodies.entry(deed.row).or_default();
        let meant = match kind {
            DeedKind::Create | DeedKind::Update | DeedKind::Adopt => self.meant.remove(&deed.row),
            _ => None,
        };
        if meant.is_some()
            && let Some(part) = part
        {
            body.plugin.clone_from(&part.plugin);
        }
        body.deed = Some(Box::new(meant.unwrap_or_else(|| deed_as_is(body))));
        self.dirty.insert(deed.row);
        self.go_on(control, deed, kind).await;
    }

    /// Does it at once where nobody outside sees it, or leaves it to be done when it is committed.
    async fn go_on(&mut self, control: &Control, deed: DeedRef, kind: DeedKind) {
        let Some(row) = self.course.row(deed.row) else { return };
        let body = self.bodies.entry(deed.row).or_default();
        if let Some(external) = self.blueprint.as_ref().and_then(|b| b.external(&row.name))
            && matches!(kind, DeedKind::Create | DeedKind::Adopt | DeedKind::Update)
        {
            let change = Change::physical(external);
            self.take_in(control, deed, Ok(Progress::Done(change)));
            return;
        }
        let Some(plugin) = control.stack_plugin(&body.plugin) else {
            let message = format!("The Resource Type ({}) could not be found.", body.plugin);
            self.take_in(control, deed, Ok(Progress::failed("EntityNotFound", message)));
            return;
        };
        if !plugin.is_local() {
            self.outside.push((deed, kind));
            return;
        }
        let progress = self.call(control, plugin.as_ref(), deed, kind).await;
        self.take_in(control, deed, progress.as_ref().cloned());
    }

    async fn call(
        &self,
        control: &Control,
        plugin: &dyn Plugin,
        deed: DeedRef,
        kind: DeedKind,
    ) -> Result<Progress, Error> {
        let (Some(row), Some(body)) = (self.course.row(deed.row), self.bodies.get(&deed.row))
        else {
            return Ok(Progress::done());
        };
        let resources = Present { walk: self, control };
        let desk = StackDesk {
            control,
            key: &self.key,
            stack: self.course.stack(),
            row,
            others: &resources,
        };
        let (key, wanted, nothing) = (row.deed_key(), wanted_of(body), Map::new());
        let now = control.now();
        let ctx = Ctx {
            seen: Seen {
                stack: self.course.stack(),
                row,
                body,
                child: self.children.get(&row.id).map(|child| &child.view),
            },
            wanted: &wanted,
            key: &key,
            begun: row.deed.as_ref().map_or(now, |deed| deed.time_begun),
            now,
            files: self.blueprint.as_ref().map_or(&nothing, |blueprint| blueprint.files.as_ref()),
            desk: &desk,
        };
        call(plugin, &ctx, kind, self.left(&row.name)).await
    }

    fn left(&self, name: &str) -> Option<&Map<String, Value>> {
        self.blueprint.as_ref()?.left.get(name)?.as_object()
    }

    /// What came of a deed. Of one that is over nothing is believed.
    fn take_in(&mut self, control: &Control, deed: DeedRef, progress: Result<Progress, &Error>) {
        let Some(row) = self.course.row(deed.row) else { return };
        let Some(kind) = row.deed.as_ref().map(|deed| deed.kind) else { return };
        if row.deeds != deed.number {
            return;
        }
        let progress = match progress {
            Ok(progress) => progress,
            Err(error) => match lasting(error) {
                Some(failure) => Progress::Failed(Change::default(), failure),
                None => {
                    let until = Some(control.now().plus(AGAIN));
                    self.course.told(deed, Outcome::Waiting { until, is_idle: false });
                    return;
                }
            },
        };
        let is_making = matches!(kind, DeedKind::Create | DeedKind::Adopt);
        let outcome = match progress {
            Progress::Done(change) => {
                self.end(deed.row, kind != DeedKind::Delete);
                self.apply(control, deed.row, change);
                Outcome::Done
            }
            Progress::Wait(change, until) => {
                if let Some(failure) = self.apply(control, deed.row, change) {
                    self.end(deed.row, is_making);
                    Outcome::Failed(failure)
                } else {
                    let body = self.bodies.entry(deed.row).or_default();
                    body.deed.get_or_insert_default().is_waiting = true;
                    let is_chosen = self.at_once.is_some();
                    let is_idle = control.stack_plugin(&body.plugin).is_some_and(|plugin| {
                        plugin.has_child() || plugin.is_local() && !is_chosen
                    });
                    let soonest = control.now().plus(LOOK_AFTER);
                    Outcome::Waiting { until: Some(until.max(soonest)), is_idle }
                }
            }
            Progress::Failed(change, failure) => {
                self.end(deed.row, is_making);
                self.apply(control, deed.row, change);
                Outcome::Failed(failure)
            }
            Progress::Gone => {
                self.end(deed.row, false);
                Outcome::Gone
            }
        };
        self.course.told(deed, outcome);
        if self.course.row(deed.row).is_none() {
            self.bodies.remove(&deed.row);
            self.dirty.remove(&deed.row);
        }
    }

    /// What an object was to be as, when that was broken off: what there is of one that was never made to its end is that.
    fn put_away(&mut self, id: StackResourceId) {
        let is_left = self.bodies.get(&id).is_some_and(|body| body.deed.is_some());
        if let Some(row) = self.course.row(id).filter(|_| is_left) {
            self.end(id, row.definition.is_none());
        }
    }

    /// A deed is over. `is_as_meant`: the object is now what the deed said.
    fn end(&mut self, id: StackResourceId, is_as_meant: bool) {
        let body = self.bodies.entry(id).or_default();
        let Some(deed) = body.deed.take() else { return };
        if is_as_meant {
            let deed = *deed;
            body.properties = deed.properties;
            body.update_policy = deed.update_policy;
            body.description = deed.description;
            if body.metadata.is_null() {
                body.metadata = deed.metadata;
            }
        }
        self.dirty.insert(id);
    }

    /// Remembers what a plugin wants remembered. A stack below that cannot be is a failure.
    pub(super) fn apply(
        &mut self,
        control: &Control,
        id: StackResourceId,
        change: Change,
    ) -> Option<Failure> {
        for (other, change) in change.beside {
            if other != id && self.bodies.contains_key(&other) {
                self.apply(control, other, Change { beside: Vec::new(), child: None, ..change });
                self.course.wake(other);
            }
        }
        let mut physical = change.physical;
        if let Some(wish) = change.child {
            if matches!(wish, ChildWish::Apply(_)) && !self.children.contains_key(&id) {
                if self.course.stack().depth >= STACK_DEPTH_MAX {
                    let text = format!("Recursion depth exceeds {STACK_DEPTH_MAX}.");
                    return Some(Failure::new("RequestLimitExceeded", text));
                }
                physical = Some(control.ids.fresh::<StackId>().to_string());
            }
            self.wishes.push((id, wish));
        }
        let body = self.bodies.entry(id).or_default();
        if let Some(reference) = change.reference {
            body.reference = Some(reference);
        }
        if let Some(attributes) = change.attributes {
            body.attributes = attributes;
        }
        if let Some(metadata) = change.metadata {
            body.metadata = metadata;
        }
        if let Some(data) = change.data {
            body.data = data;
        }
        self.dirty.insert(id);
        if physical.is_some() {
            self.course.object_changed(id, physical, Vec::new());
        }
        None
    }

    /// Seals what changed, so that it is among what the course has to write.
    pub(super) fn seal(&mut self) -> Result<(), Error> {
        for id in std::mem::take(&mut self.dirty) {
            let (Some(row), Some(body)) = (self.course.row(id), self.bodies.get(&id)) else {
                continue;
            };
            let physical = row.physical.clone();
            let sealed = self.key.seal_resource(id, body)?;
            self.course.object_changed(id, physical, sealed);
        }
        Ok(())
    }

    /// What is to be carried out now that it is committed.
    pub(super) fn take_tasks(&mut self, control: &Control) -> Vec<Task> {
        let outside = std::mem::take(&mut self.outside);
        if outside.is_empty() {
            return Vec::new();
        }
        let stack = Arc::new(self.stack());
        let files = self.blueprint.as_ref().map(|blueprint| Arc::clone(&blueprint.files));
        let files = files.unwrap_or_default();
        let secrets = self.blueprint.as_ref().map(|blueprint| Arc::clone(&blueprint.hidden));
        let secrets = secrets.unwrap_or_else(Hidden::nothing);
        let task = |(deed, kind): (DeedRef, DeedKind)| {
            let row = self.course.row(deed.row)?;
            let body = self.bodies.get(&row.id)?.clone();
            let required = row.requires.iter().filter_map(|id| {
                Some((self.course.row(*id)?.clone(), self.bodies.get(id)?.clone()))
            });
            Some(Task {
                control: control.clone(),
                plugin: control.stack_plugin(&body.plugin)?,
                key: self.key.clone(),
                stack: Arc::clone(&stack),
                row: row.clone(),
                child: self.children.get(&row.id).map(|child| child.view.clone()),
                files: Arc::clone(&files),
                others: Siblings { stack: Arc::clone(&stack), rows: required.collect() },
                left: self.left(&row.name).cloned(),
                secrets: Arc::clone(&secrets),
                body,
                deed,
                kind,
            })
        };
        outside.into_iter().filter_map(task).collect()
    }

    /// A scope over what is there now, for outputs.
    pub(super) fn with_scope<T>(
        &self,
        control: &Control,
        look: impl FnOnce(&Blueprint, &StackScope<'_>) -> T,
    ) -> Option<T> {
        let blueprint = self.blueprint.as_deref()?;
        let resources = Present { walk: self, control };
        let scope = StackScope { blueprint, resources: &resources, facade: self.facade.as_ref() };
        Some(look(blueprint, &scope))
    }

    pub(super) fn seen<'a>(&'a self, row: &'a StackResource) -> Option<Seen<'a>> {
        Some(Seen {
            stack: self.course.stack(),
            row,
            body: self.bodies.get(&row.id)?,
            child: self.children.get(&row.id).map(|child| &child.view),
        })
    }

    /// Whether the course ended in this pass, and how.
    pub(super) fn news_of_end(&self) -> Option<Ended> {
        self.course.ended().filter(|_| !self.is_told)
    }
}

/// What the course has to know of what a stack is to be.
pub(super) fn goal_of(control: &Control, stack: &Stack, blueprint: Option<&Blueprint>) -> Goal {
    let Some(blueprint) = blueprint else {
        return Goal { definition: stack.wanted, ..Goal::default() };
    };
    match stack.wanted {
        Some(_) => blueprint.goal(&|type_name| {
            control.stack_plugin(type_name).is_some_and(|plugin| plugin.can(DeedKind::Check))
        }),
        None => Goal { definition: None, wanted: Vec::new(), hooks: blueprint.hooks.clone() },
    }
}
