//! Plans, below resources: types without an effect outside are asked what they would do, and stacks below are tried out.

use std::collections::BTreeSet;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_engine::stack::Failure;
use hostler_model::Error;
use hostler_model::stack::{
    Deed, DeedBody, DeedKind, DefinitionBody, DeletionPolicy, ResourceBody, STACK_DEPTH_MAX,
    StackAction, StackChangeKind, StackParent, StackResource, StackResourceChange,
};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::child::name_below;
use super::enter::NewStack;
use super::perform::{StackDesk, call, wanted_of};
use super::plan::{Trial, Wish};
use super::plugin::{Change, ChildForm, ChildWish, Ctx, Desk, Plugin, Progress, Seen, SignalKind};
use super::scope::Facade;
use super::stage::Stage;
use crate::Control;

/// The desk of whoever is only asked what would be done.
struct TrialDesk<'a>(StackDesk<'a>);

impl Desk for TrialDesk<'_> {
    fn control(&self) -> &Control {
        self.0.control()
    }

    fn sibling(&self, reference: &str) -> Option<Seen<'_>> {
        self.0.sibling(reference)
    }

    fn signal_url(&self, kind: SignalKind) -> Result<String, Error> {
        self.0.signal_url(kind)
    }

    fn fresh_id(&self) -> Uuid {
        self.0.fresh_id()
    }

    fn is_trial(&self) -> bool {
        true
    }

    fn software_config<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<Map<String, Value>>, Error>> {
        self.0.software_config(id)
    }
}

/// What came of asking a type what it would do.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once")]
pub(super) enum After {
    Known(Change),
    Below(Box<ChildForm>),
    Unknown,
    Failed(Failure),
}

impl Trial<'_> {
    /// Asks a type without an effect outside what it would do. Of new objects only what lies below them is of interest.
    pub(super) fn ask(
        &self,
        row: &StackResource,
        meant: &DeedBody,
        unknown: &BTreeSet<String>,
        kind: DeedKind,
        is_new: bool,
    ) -> After {
        let Some(body) = self.body(row.id) else { return After::Unknown };
        let Some(plugin) = self.control.stack_plugin(&body.plugin) else { return After::Unknown };
        if !plugin.is_local() || !unknown.is_empty() || is_new && !plugin.has_child() {
            return After::Unknown;
        }
        let now = self.control.now();
        let mut row = row.clone();
        row.deeds += 1;
        row.deed = Some(Deed {
            kind,
            definition: self.stack.wanted,
            traversal: self.stack.traversal,
            owner: None,
            is_idle: false,
            time_due: None,
            time_begun: now,
        });
        let body = ResourceBody { deed: Some(Box::new(meant.clone())), ..body.clone() };
        self.asked(&row, &body, plugin.as_ref(), kind)
    }

    fn asked(
        &self,
        row: &StackResource,
        body: &ResourceBody,
        plugin: &dyn Plugin,
        kind: DeedKind,
    ) -> After {
        let scene = &self.stage.scene;
        let desk = TrialDesk(StackDesk {
            control: self.control,
            key: &scene.key,
            stack: self.stack,
            row,
            others: self,
        });
        let (key, nothing) = (row.deed_key(), Map::new());
        let wanted = wanted_of(body);
        let now = self.control.now();
        let child = scene.children.get(&row.id).map(|child| &child.view);
        let ctx = Ctx {
            seen: Seen { stack: self.stack, row, body, child },
            wanted: &wanted,
            key: &key,
            begun: now,
            now,
            files: self.blueprint.map_or(&nothing, |blueprint| blueprint.files.as_ref()),
            desk: &desk,
        };
        let left = self.blueprint.and_then(|blueprint| blueprint.left.get(&row.name)?.as_object());
        match call(plugin, &ctx, kind, left).now_or_never() {
            Some(Ok(Progress::Done(change))) => After::Known(change),
            Some(Ok(Progress::Wait(Change { child: Some(ChildWish::Apply(form)), .. }, _))) => {
                After::Below(form)
            }
            Some(Ok(Progress::Failed(_, failure))) => After::Failed(failure),
            _ => After::Unknown,
        }
    }

    /// What would become of what lies below a resource.
    pub(super) fn below(
        &self,
        row: &StackResource,
        meant: &DeedBody,
        form: ChildForm,
        known: Option<&Stage>,
    ) -> Result<Vec<StackResourceChange>, Failure> {
        let Some(blueprint) = self.blueprint else { return Ok(Vec::new()) };
        let template = form.course.as_ref().map_or(&form.template, |course| &course.template);
        let body = DefinitionBody {
            template: template.clone(),
            environment: blueprint.environment_below(&row.name, &form),
            files: blueprint.files.as_ref().clone(),
            environment_files: blueprint.environment_files.clone(),
            parameters: form.parameters.clone(),
            secrets: Vec::new(),
            left: form.left.clone(),
            reason: String::new(),
            is_live: blueprint.is_live,
            plugins: blueprint.plugins.clone(),
        };
        let facade = Facade {
            metadata: meant.metadata.clone(),
            update_policy: meant.update_policy.clone(),
            deletion_policy: deletion_word(row.deletion_policy),
        };
        let mut path = self.path.clone();
        path.push(row.name.clone());
        let mut wish = Wish {
            action: Some(StackAction::Update),
            body: Some(body),
            facade: Some(facade),
            path,
        };
        let tried = match known {
            Some(stage) => self.control.stack_try(stage, wish),
            None => {
                wish.action = Some(match form.left.is_empty() {
                    true => StackAction::Create,
                    false => StackAction::Adopt,
                });
                let stage = self.stage_below(row, &wish)?;
                self.control.stack_try(&stage, wish)
            }
        };
        match tried {
            Ok(tried) => Ok(tried.resources),
            Err(refusal) => Err(Failure::new(refusal.kind, refusal.message)),
        }
    }

    /// A stack that would come to be below a resource.
    fn stage_below(&self, row: &StackResource, wish: &Wish) -> Result<Stage, Failure> {
        if self.stack.depth >= STACK_DEPTH_MAX {
            let text = format!("Recursion depth exceeds {STACK_DEPTH_MAX}.");
            return Err(Failure::new("RequestLimitExceeded", text));
        }
        let parent = StackParent { stack_id: self.stack.id, resource_id: row.id };
        let empty = DefinitionBody::default();
        let made = self.control.stack_stage_new(NewStack {
            id: self.control.ids.fresh(),
            project_id: self.stack.project_id,
            name: name_below(self.stack, &row.name, row.id),
            body: wish.body.as_ref().unwrap_or(&empty),
            options: self.stack.options.clone(),
            mandate: self.stack.mandate,
            created_by: self.control.system_actor(),
            action: wish.action.unwrap_or(StackAction::Create),
            above: Some((self.stack, parent)),
        });
        made.map_err(|error| Failure::new("Error", error.detail))
    }
}

/// Everything of a stack goes.
pub(super) fn everything(
    stage: &Stage,
    change: StackChangeKind,
    path: &[String],
    found: &mut Vec<StackResourceChange>,
) {
    for row in &stage.scene.rows {
        found.push(StackResourceChange {
            name: row.name.clone(),
            path: path.to_vec(),
            kind: row.kind.clone(),
            change,
            physical: row.physical.clone(),
            is_uncertain: false,
            reason: String::new(),
            properties: Vec::new(),
        });
        if let Some(below) = stage.below.get(&row.id) {
            let path: Vec<String> = path.iter().cloned().chain([row.name.clone()]).collect();
            everything(below, change, &path, found);
        }
    }
}

const fn deletion_word(policy: DeletionPolicy) -> &'static str {
    match policy {
        DeletionPolicy::Delete => "Delete",
        DeletionPolicy::Retain => "Retain",
        DeletionPolicy::Snapshot => "Snapshot",
    }
}
