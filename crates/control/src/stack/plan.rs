//! What a change of a stack would do, tried out on a stage that is thrown away.
//!
//! The same course decides as in a pass ([`hostler_engine::stack::plan`]), and every resource is examined by the same question
//! ([`Question`]), so a plan and what is done afterwards have the same rules. What differs is only what nobody can know before
//! it is done: what new objects will be called and give, and what an object outside will give when it was changed. Values
//! that depend on such are open ([`Sight`]), and a resource that would be changed only because of them is uncertain.
//!
//! Types without an effect outside are asked what they would do; so values that pass through them are known, and stacks below are
//! tried out in their turn.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use hostler_engine::stack::{
    ChangeKind, Failure, Goal, Hands, PlannedChange, Restriction, Verdict, plan,
};
use hostler_model::stack::{
    DeedBody, DeedKind, DefinitionBody, ResourceBody, Stack, StackAction, StackChangeKind,
    StackResource, StackResourceChange, StackValueChange,
};
use hostler_model::{Error, StackResourceId};
use serde_json::{Map, Value};

use super::blueprint::Blueprint;
use super::examine::Question;
use super::hidden::{Hidden, secrets_of};
use super::pass::{LEASE, goal_of};
use super::perform::{Others, is_meant};
use super::plan_below::{After, everything};
use super::plan_words::{
    conceal_all, conceal_resources, difference, outputs_differ, parameters_differ, reason,
};
use super::plugin::{Change, ChildCourse, Plugin, Seen};
use super::scope::{Facade, Resources, StackScope};
use super::sight::{Open, Sight};
use super::stage::Stage;
use crate::Control;
use crate::service::StackRefusal;

/// A change that is to be tried out.
#[derive(Default)]
pub(crate) struct Wish {
    pub action: Option<StackAction>,
    /// Nothing when the stack is to go.
    pub body: Option<DefinitionBody>,
    pub(super) facade: Option<Facade>,
    pub(super) path: Vec<String>,
}

/// What it would do.
pub(crate) struct Tried {
    pub resources: Vec<StackResourceChange>,
    pub parameters: Vec<StackValueChange>,
    pub outputs: Vec<StackValueChange>,
    /// Of resources that would be made, by their names.
    pub metadata: HashMap<String, Value>,
    /// What the stack would be as.
    pub blueprint: Option<Arc<Blueprint>>,
}

impl Wish {
    pub fn new(action: StackAction, body: Option<DefinitionBody>) -> Wish {
        Wish { action: Some(action), body, ..Wish::default() }
    }
}

/// What is known of a resource besides what becomes of it.
#[derive(Default)]
struct Line {
    properties: Vec<StackValueChange>,
    reason: String,
    is_uncertain: bool,
    /// What it is stays the same: it only passes the change on, and nothing is to be done below.
    is_same: bool,
    below: Vec<StackResourceChange>,
}

impl Line {
    /// On the way to what it is to be something else happens.
    fn say(&mut self, course: Option<&ChildCourse>) {
        let Some(course) = course else { return };
        let before = std::mem::take(&mut self.reason);
        let join = if before.is_empty() { "" } else { "; " };
        self.reason = format!("{before}{join}{}", course.words);
    }
}

pub(super) struct Trial<'a> {
    pub(super) control: &'a Control,
    pub(super) stage: &'a Stage,
    /// Where the change begins.
    pub(super) stack: &'a Stack,
    pub(super) blueprint: Option<&'a Blueprint>,
    facade: Option<Facade>,
    pub(super) path: Vec<String>,
    names: HashMap<&'a str, &'a StackResource>,
    /// Resources as they would be, where they would be otherwise.
    rows: HashMap<String, StackResource>,
    bodies: HashMap<StackResourceId, ResourceBody>,
    open: HashMap<String, Open>,
    lines: HashMap<String, Line>,
}

impl Control {
    /// Tries a change out.
    pub(crate) fn stack_try(&self, stage: &Stage, wish: Wish) -> Result<Tried, StackRefusal> {
        let scene = &stage.scene;
        let action = wish.action.unwrap_or(StackAction::Update);
        let (stack, after) = self.stack_begun(&scene.stack, action, wish.body)?;
        let mut trial = Trial {
            control: self,
            stage,
            stack: &stack,
            blueprint: after.as_deref(),
            facade: wish.facade.or_else(|| scene.facade.clone()),
            path: wish.path,
            names: scene.names(),
            rows: HashMap::new(),
            bodies: HashMap::new(),
            open: HashMap::new(),
            lines: HashMap::new(),
        };
        let goal = match action {
            StackAction::Delete => Goal::default(),
            _ => goal_of(self, &stack, after.as_deref()),
        };
        let ids = self.ids.clone();
        let hands =
            Hands { server: self.server_id, lease: LEASE, fresh: Box::new(move || ids.fresh()) };
        let rows = scene.rows.clone();
        let planned = plan(stack.clone(), goal, rows, hands, self.now(), |row| trial.verdict(row));
        let mut resources = trial.told(planned.map_err(Error::internal)?);
        let now = scene.outputs(self);
        let mut outputs = outputs_differ(&now, &trial.outputs());
        let mut parameters = parameters_differ(scene.blueprint.as_deref(), after.as_deref());
        let mut metadata = trial.metadata();
        let hidden = trial.hidden();
        conceal_resources(&mut resources, &hidden);
        conceal_all(&mut outputs, &hidden);
        conceal_all(&mut parameters, &hidden);
        metadata.values_mut().for_each(|metadata| hidden.hide(metadata));
        Ok(Tried { resources, parameters, outputs, metadata, blueprint: after })
    }
}

impl Trial<'_> {
    fn row(&self, name: &str) -> Option<&StackResource> {
        self.rows.get(name).or_else(|| self.names.get(name).copied())
    }

    pub(super) fn body(&self, id: StackResourceId) -> Option<&ResourceBody> {
        self.bodies.get(&id).or_else(|| self.stage.scene.bodies.get(&id))
    }

    fn seen_row<'s>(&'s self, row: &'s StackResource) -> Option<Seen<'s>> {
        Some(Seen {
            stack: self.stack,
            row,
            body: self.body(row.id)?,
            child: self.stage.scene.children.get(&row.id).map(|child| &child.view),
        })
    }

    fn verdict(&mut self, row: &StackResource) -> Verdict {
        let answer = self.answer(row);
        let (verdict, meant, unknown) = match answer {
            Ok(answer) => answer,
            Err(failure) => return Verdict::Impossible(failure),
        };
        match self.note(row, &verdict, meant, &unknown) {
            Ok(()) => verdict,
            Err(failure) => Verdict::Impossible(failure),
        }
    }

    fn answer(
        &self,
        row: &StackResource,
    ) -> Result<(Verdict, DeedBody, BTreeSet<String>), Failure> {
        let nothing = || Failure::new("Error", "nothing is known of what it is to be");
        let blueprint = self.blueprint.ok_or_else(nothing)?;
        let scope = StackScope { blueprint, resources: self, facade: self.facade.as_ref() };
        let (meant, unknown) =
            blueprint.meant_so_far(&row.name, &Sight::with(&scope, &self.open))?;
        let body = ResourceBody::default();
        let question = self.question(row, blueprint, self.body(row.id).unwrap_or(&body));
        let (verdict, meant) = question.answer(meant)?;
        Ok((verdict, meant, unknown))
    }

    fn question<'q>(
        &'q self,
        row: &'q StackResource,
        blueprint: &'q Blueprint,
        body: &'q ResourceBody,
    ) -> Question<'q> {
        let scene = &self.stage.scene;
        Question {
            control: self.control,
            key: &scene.key,
            stack: self.stack,
            row,
            body,
            child: scene.children.get(&row.id).map(|child| &child.view),
            live: self.stage.live.get(&row.id),
            blueprint,
            others: self,
        }
    }

    /// Remembers what would become of a resource, for those that come after it.
    fn note(
        &mut self,
        row: &StackResource,
        verdict: &Verdict,
        meant: DeedBody,
        unknown: &BTreeSet<String>,
    ) -> Result<(), Failure> {
        match verdict {
            Verdict::Create => self.note_new(row, meant, unknown),
            Verdict::Update => self.note_changed(row, meant, unknown),
            Verdict::Replace => {
                let line = self.line(row, &meant, unknown, verdict);
                self.lines.insert(row.name.clone(), line);
                Ok(())
            }
            Verdict::Unchanged | Verdict::Refused(_) | Verdict::Impossible(_) => {
                if self.row(&row.name).is_none_or(|known| known.id != row.id) {
                    self.rows.insert(row.name.clone(), row.clone());
                }
                Ok(())
            }
        }
    }

    fn note_new(
        &mut self,
        row: &StackResource,
        meant: DeedBody,
        unknown: &BTreeSet<String>,
    ) -> Result<(), Failure> {
        let mut line = match self.lines.remove(&row.name) {
            Some(line) => line,
            None => self.line(row, &meant, unknown, &Verdict::Create),
        };
        let part = self.blueprint.and_then(|blueprint| blueprint.part(&row.name));
        let plugin = part.map(|part| part.plugin.clone()).unwrap_or_default();
        let body = ResourceBody { plugin, ..as_meant(ResourceBody::default(), &meant) };
        self.bodies.insert(row.id, body);
        let kind = match self.stack.standing.action {
            StackAction::Adopt => DeedKind::Adopt,
            _ => DeedKind::Create,
        };
        if let After::Below(form) = self.ask(row, &meant, unknown, kind, true) {
            line.say(form.course.as_ref());
            line.below = self.below(row, &meant, *form, None)?;
        }
        self.open.insert(row.name.clone(), Open::Whole);
        self.rows.insert(row.name.clone(), row.clone());
        self.lines.insert(row.name.clone(), line);
        Ok(())
    }

    fn note_changed(
        &mut self,
        row: &StackResource,
        meant: DeedBody,
        unknown: &BTreeSet<String>,
    ) -> Result<(), Failure> {
        let mut line = self.line(row, &meant, unknown, &Verdict::Update);
        let before = self.body(row.id).cloned().unwrap_or_default();
        let is_described = before.metadata == meant.metadata && meant.changed.is_empty();
        let mut after = (row.clone(), as_meant(before, &meant));
        match self.ask(row, &meant, unknown, DeedKind::Update, false) {
            After::Known(change) => {
                let beside: Vec<_> = change.beside.iter().map(|(id, _)| *id).collect();
                let names = self.stage.scene.rows.iter().filter(|row| beside.contains(&row.id));
                let open = names.map(|row| (row.name.clone(), Open::Attributes));
                let open: Vec<_> = open.collect();
                self.open.extend(open);
                remember(&mut after, change);
            }
            After::Below(form) => {
                let stage = self.stage.below.get(&row.id);
                line.say(form.course.as_ref());
                line.below = self.below(row, &meant, *form, stage)?;
                let is_quiet =
                    line.below.iter().all(|one| one.change == StackChangeKind::Unchanged);
                line.is_same = is_quiet && is_described && stage.is_some();
                if !is_quiet {
                    self.open.insert(row.name.clone(), Open::Attributes);
                }
            }
            After::Unknown => match self.given_now(row, &meant) {
                Some(given) => after.1.attributes.extend(given),
                None => drop(self.open.insert(row.name.clone(), Open::Attributes)),
            },
            After::Failed(failure) => return Err(failure),
        }
        let (row, body) = after;
        self.bodies.insert(row.id, body);
        self.lines.insert(row.name.clone(), line);
        self.rows.insert(row.name.clone(), row);
        Ok(())
    }

    /// What an object gives that only passes on what it was looked at for.
    fn given_now(&self, row: &StackResource, meant: &DeedBody) -> Option<Map<String, Value>> {
        let plugin = self.control.stack_plugin(&self.body(row.id)?.plugin)?;
        let live = self.stage.live.get(&row.id)?.clone()?;
        (plugin.is_looked_at() && meant.changed.is_empty()).then_some(live)
    }

    fn line(
        &self,
        row: &StackResource,
        meant: &DeedBody,
        unknown: &BTreeSet<String>,
        verdict: &Verdict,
    ) -> Line {
        let Some(blueprint) = self.blueprint else { return Line::default() };
        let Some(part) = blueprint.part(&row.name) else { return Line::default() };
        let Some(plugin) = self.control.stack_plugin(&part.plugin) else { return Line::default() };
        let nothing = ResourceBody::default();
        let question = self.question(row, blueprint, self.body(row.id).unwrap_or(&nothing));
        let is_known = |name: &String| !unknown.contains(name);
        let is_other = question.body.metadata != meant.metadata && part.has_metadata
            || question.body.update_policy != meant.update_policy;
        Line {
            properties: difference(&question, plugin.as_ref(), meant, unknown, verdict),
            reason: reason(&question, part, plugin.as_ref(), meant, verdict),
            is_uncertain: !meant.changed.is_empty()
                && !meant.changed.iter().any(is_known)
                && !is_other,
            ..Line::default()
        }
    }

    /// Of everything that would be made.
    fn metadata(&self) -> HashMap<String, Value> {
        let is_new =
            |(name, _): &(&String, &StackResource)| self.open.get(*name) == Some(&Open::Whole);
        let of = |(name, row): (&String, &StackResource)| {
            Some((name.clone(), self.bodies.get(&row.id)?.metadata.clone()))
        };
        self.rows.iter().filter(is_new).filter_map(of).collect()
    }

    /// What nobody is shown: of the stack as it is, of what it would be as, and of what would be made.
    fn hidden(&self) -> Arc<Hidden> {
        let mut found = self.stage.secrets(self.control);
        found.extend(self.blueprint.iter().flat_map(|it| it.hidden.values()).cloned());
        for body in self.bodies.values() {
            if let Some(plugin) = self.control.stack_plugin(&body.plugin) {
                secrets_of(plugin.as_ref(), body, &mut found);
            }
        }
        Hidden::of(found)
    }

    fn outputs(&self) -> Vec<(String, Option<Value>, bool)> {
        let Some(blueprint) = self.blueprint else { return Vec::new() };
        let scope = StackScope { blueprint, resources: self, facade: self.facade.as_ref() };
        blueprint.outputs_so_far(&Sight::with(&scope, &self.open))
    }

    /// The lines of the plan, in its order, each followed by what lies below it.
    fn told(&mut self, planned: Vec<PlannedChange>) -> Vec<StackResourceChange> {
        let scene = &self.stage.scene;
        let physical: HashMap<StackResourceId, &StackResource> =
            scene.rows.iter().map(|row| (row.id, row)).collect();
        let mut found = Vec::with_capacity(planned.len());
        for one in planned {
            let is_going = matches!(one.change, ChangeKind::Delete | ChangeKind::Forget);
            let mut line = match is_going {
                true => Line::default(),
                false => self.lines.remove(&one.name).unwrap_or_default(),
            };
            let change = match &one.change {
                ChangeKind::Create => StackChangeKind::Create,
                ChangeKind::Adopt => StackChangeKind::Adopt,
                ChangeKind::Update if line.is_same => StackChangeKind::Unchanged,
                ChangeKind::Update => StackChangeKind::Update,
                ChangeKind::Replace => StackChangeKind::Replace,
                ChangeKind::Delete => StackChangeKind::Delete,
                ChangeKind::Forget => StackChangeKind::Forget,
                ChangeKind::Unchanged => StackChangeKind::Unchanged,
                ChangeKind::Refused(_) | ChangeKind::Impossible(_) => StackChangeKind::Impossible,
            };
            match &one.change {
                ChangeKind::Refused(Restriction::Update) => {
                    "the environment forbids to update it".clone_into(&mut line.reason);
                }
                ChangeKind::Refused(Restriction::Replace) => {
                    "the environment forbids to replace it".clone_into(&mut line.reason);
                }
                ChangeKind::Impossible(failure) => line.reason = failure.text(&one.name),
                _ => {}
            }
            let row = one.row.and_then(|id| physical.get(&id));
            let is_quiet = change == StackChangeKind::Unchanged;
            found.push(StackResourceChange {
                name: one.name.clone(),
                path: self.path.clone(),
                kind: one.kind,
                change,
                physical: row.and_then(|row| row.physical.clone()),
                is_uncertain: line.is_uncertain,
                reason: if is_quiet { String::new() } else { line.reason },
                properties: if is_quiet { Vec::new() } else { line.properties },
            });
            found.append(&mut line.below);
            let goes = is_going || change == StackChangeKind::Replace;
            if let Some(stage) = one.row.and_then(|id| self.stage.below.get(&id)).filter(|_| goes) {
                let kind = if change == StackChangeKind::Forget {
                    change
                } else {
                    StackChangeKind::Delete
                };
                let mut path = self.path.clone();
                path.push(one.name);
                everything(stage, kind, &path, &mut found);
            }
        }
        found
    }
}

fn as_meant(before: ResourceBody, meant: &DeedBody) -> ResourceBody {
    ResourceBody {
        properties: meant.properties.clone(),
        metadata: meant.metadata.clone(),
        update_policy: meant.update_policy.clone(),
        description: meant.description.clone(),
        ..before
    }
}

/// What a plugin wants remembered.
fn remember((row, body): &mut (StackResource, ResourceBody), change: Change) {
    if change.physical.is_some() {
        row.physical = change.physical;
    }
    if change.reference.is_some() {
        body.reference = change.reference;
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
}

impl Resources for Trial<'_> {
    fn seen(&self, name: &str) -> Option<Seen<'_>> {
        self.seen_row(self.row(name)?)
    }

    fn plugin(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        self.control.stack_plugin(&self.body(self.row(name)?.id)?.plugin)
    }
}

impl Others for Trial<'_> {
    fn find(&self, reference: &str) -> Option<Seen<'_>> {
        let known = self.names.keys().filter_map(|name| self.seen(name));
        let new = self.rows.values().filter_map(|row| self.seen_row(row));
        known.chain(new).find(|seen| is_meant(seen, reference))
    }
}
