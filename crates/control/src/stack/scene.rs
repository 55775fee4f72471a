//! What is known of a stack when somebody looks at it: its rows, opened, what it is to be as, and the stacks below it.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_model::stack::{
    DeletionPolicy, ResourceAction, ResourceBody, STACK_RESOURCES_MAX, Stack, StackAction,
    StackResource,
};
use hostler_model::{Error, StackDefinitionId, StackId, StackResourceId};
use hostler_store::Conn;
use serde_json::{Map, Value};

use super::StackKey;
use super::blueprint::Blueprint;
use super::hidden::secrets_of;
use super::plugin::{ChildView, Member, Plugin, Seen, software_config_of};
use super::scope::{Facade, Resources, StackScope};
use crate::Control;

/// A stack below a resource.
pub(crate) struct Child {
    pub stack: Stack,
    pub view: ChildView,
    /// What is secret of it, with everything below it.
    pub secrets: Vec<String>,
}

/// A stack with everything that belongs to it.
pub(crate) struct Scene {
    pub stack: Stack,
    pub key: StackKey,
    /// What it goes towards, or is as.
    pub blueprint: Option<Arc<Blueprint>>,
    /// Why that cannot be read.
    pub trouble: Option<String>,
    /// Without what is sealed.
    pub rows: Vec<StackResource>,
    pub bodies: HashMap<StackResourceId, ResourceBody>,
    /// By the resource that they are.
    pub children: HashMap<StackResourceId, Child>,
    /// What the resource of the stack above says, that this stack is.
    pub facade: Option<Facade>,
}

impl Scene {
    /// The row that is the resource of each name: the newest that nothing takes the place of.
    pub fn names(&self) -> HashMap<&str, &StackResource> {
        let mut names: HashMap<&str, &StackResource> = HashMap::with_capacity(self.rows.len());
        for row in &self.rows {
            let known = names.get(row.name.as_str());
            let is_better = known.is_none_or(|known| rank(row) >= rank(known));
            if is_better {
                names.insert(&row.name, row);
            }
        }
        names
    }

    pub fn seen<'a>(&'a self, row: &'a StackResource) -> Option<Seen<'a>> {
        let body = self.bodies.get(&row.id)?;
        let child = self.children.get(&row.id).map(|child| &child.view);
        Some(Seen { stack: &self.stack, row, body, child })
    }

    /// What is secret of it: values of hidden parameters, what its types call so, and the same of stacks above and below.
    pub fn secrets(&self, control: &Control) -> Vec<String> {
        let above = self.blueprint.iter().flat_map(|it| it.hidden.values()).cloned();
        let below = self.children.values().flat_map(|child| child.secrets.iter().cloned());
        let mut found: Vec<String> = above.chain(below).collect();
        for body in self.bodies.values() {
            if let Some(plugin) = control.stack_plugin(&body.plugin) {
                secrets_of(plugin.as_ref(), body, &mut found);
            }
        }
        found
    }

    /// The outputs of the stack as far as they can be had: by name, each with its value or why there is none.
    pub fn outputs(&self, control: &Control) -> Vec<Output> {
        let Some(blueprint) = &self.blueprint else { return Vec::new() };
        let resources = Named { scene: self, names: self.names(), control };
        let scope = StackScope { blueprint, resources: &resources, facade: self.facade.as_ref() };
        blueprint.outputs(&scope)
    }

    /// As the stack above sees it.
    fn view(&self, control: &Control) -> ChildView {
        let outputs = self.outputs(control).into_iter();
        let outputs = outputs.map(|output| (output.name, output.value.unwrap_or(Value::Null)));
        let names = self.names();
        let place = |name: &str| {
            let blueprint = self.blueprint.as_ref();
            blueprint.and_then(|blueprint| blueprint.position(name)).unwrap_or(usize::MAX)
        };
        let mut rows: Vec<&StackResource> = names.into_values().collect();
        rows.sort_by(|a, b| (place(&a.name), &a.name).cmp(&(place(&b.name), &b.name)));
        let member = |row: &&StackResource| {
            let seen = self.seen(row)?;
            let plugin = control.stack_plugin(&seen.body.plugin);
            let reference = match &plugin {
                Some(plugin) => plugin.reference(&seen),
                None => Value::String(seen.reference_text().to_owned()),
            };
            Some(Member {
                name: row.name.clone(),
                kind: row.kind.clone(),
                physical: row.physical.clone(),
                reference,
                standing: row.standing.clone(),
                time_created: row.time_created,
                attributes: plugin.map(|plugin| plugin.attributes(&seen)).unwrap_or_default(),
            })
        };
        ChildView {
            id: self.stack.id,
            name: self.stack.name.clone(),
            standing: self.stack.standing.clone(),
            template: self.blueprint.as_ref().map(|b| b.document.clone()).unwrap_or_default(),
            outputs: outputs.collect(),
            members: rows.iter().filter_map(member).collect(),
        }
    }
}

/// The better a row is as the resource of its name, the higher.
fn rank(row: &StackResource) -> (bool, bool, StackResourceId) {
    (row.replaced_by.is_none(), row.standing.action != ResourceAction::Delete, row.id)
}

/// One output of a stack.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    pub name: String,
    pub description: Option<String>,
    pub value: Result<Value, String>,
}

/// Resources of a scene by their names.
struct Named<'a> {
    scene: &'a Scene,
    names: HashMap<&'a str, &'a StackResource>,
    control: &'a Control,
}

impl Resources for Named<'_> {
    fn seen(&self, name: &str) -> Option<Seen<'_>> {
        self.scene.seen(self.names.get(name)?)
    }

    fn plugin(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        self.control.stack_plugin(&self.seen(name)?.body.plugin)
    }
}

impl Control {
    /// A stack as it is, with the stacks below it.
    pub(crate) fn stack_scene<'a>(
        &'a self,
        read: &'a mut Conn,
        stack: Stack,
    ) -> BoxFuture<'a, Result<Scene, Error>> {
        async move {
            let key = self.stack_key(&stack)?;
            let (mut rows, mut bodies) = (read.stack_resources(stack.id).await?, HashMap::new());
            for row in &mut rows {
                let sealed = std::mem::take(&mut row.sealed);
                bodies.insert(row.id, key.open_resource(row.id, &sealed)?);
            }
            self.stack_plugins_of(read, bodies.values()).await?;
            let (mut blueprint, mut trouble) = (None, None);
            if let Some(id) = goal_of(&stack, &rows) {
                match self.stack_blueprint(read, &stack, &key, id).await? {
                    Ok(read) => blueprint = Some(Arc::new(read)),
                    Err(why) => trouble = Some(why),
                }
            }
            let mut children = HashMap::new();
            let below = match bodies.values().any(|body| self.has_child(body)) {
                true => read.stack_children(stack.id).await?,
                false => Vec::new(),
            };
            for child in below {
                let Some(parent) = child.parent else { continue };
                let scene = self.stack_scene(read, child).await?;
                let (view, secrets) = (scene.view(self), scene.secrets(self));
                let child = Child { stack: scene.stack, view, secrets };
                children.insert(parent.resource_id, child);
            }
            let facade = self.stack_facade(read, &stack).await?;
            Ok(Scene { stack, key, blueprint, trouble, rows, bodies, children, facade })
        }
        .boxed()
    }

    fn has_child(&self, body: &ResourceBody) -> bool {
        self.stack_plugin(&body.plugin).is_some_and(|plugin| plugin.has_child())
    }

    /// Reads a definition; the inner error is one for people, of the definition.
    pub(crate) async fn stack_blueprint(
        &self,
        read: &mut Conn,
        stack: &Stack,
        key: &StackKey,
        id: StackDefinitionId,
    ) -> Result<Result<Blueprint, String>, Error> {
        let Some(definition) = read.stack_definition_get(id).await? else {
            return Ok(Err(format!("the definition {id} is not kept any more")));
        };
        let body = key.open_definition(id, &definition.sealed)?;
        self.stack_plugins_ready(read, body.plugins.values().copied()).await?;
        let found = Blueprint::read(stack, id, body, &self.stack_catalog);
        let found = found.map(|mut blueprint| {
            blueprint.created_by = Some(definition.created_by);
            blueprint
        });
        Ok(found.map_err(|wrong| match wrong.first() {
            Some(first) => format!("{}: {}", first.fault.heat_type(), first.api_message()),
            None => "StackValidationFailed: its template cannot be read".to_owned(),
        }))
    }

    async fn stack_facade(&self, read: &mut Conn, stack: &Stack) -> Result<Option<Facade>, Error> {
        let Some(parent) = stack.parent else { return Ok(None) };
        let above = read.stack_get(parent.stack_id).await?;
        let row = read.stack_resource_get(parent.resource_id).await?;
        let (Some(above), Some(row)) = (above, row) else { return Ok(None) };
        let body = self.stack_key(&above)?.open_resource(row.id, &row.sealed)?;
        let deed = body.deed.as_deref();
        Ok(Some(Facade {
            metadata: deed.map_or(body.metadata.clone(), |deed| deed.metadata.clone()),
            update_policy: deed
                .map_or(body.update_policy.clone(), |deed| deed.update_policy.clone()),
            deletion_policy: match row.deletion_policy {
                DeletionPolicy::Delete => "Delete",
                DeletionPolicy::Retain => "Retain",
                DeletionPolicy::Snapshot => "Snapshot",
            },
        }))
    }

    /// Why a stack has more than stacks may have, where it does.
    pub(super) async fn stack_crowd(
        &self,
        read: &mut Conn,
        scene: &Scene,
    ) -> Result<Option<String>, Error> {
        let (stack, Some(blueprint)) = (&scene.stack, &scene.blueprint) else { return Ok(None) };
        if !stack.standing.is_under_way() || stack.wanted.is_none() {
            return Ok(None);
        }
        let counts = read.stack_resource_counts(stack.root_id).await?;
        let others = counts.into_iter().filter(|(id, _)| *id != stack.id).map(|(_, count)| count);
        let all = others.sum::<u64>() + blueprint.parts.len() as u64;
        let text = "RequestLimitExceeded: Maximum resources per stack exceeded.";
        Ok((all > u64::from(STACK_RESOURCES_MAX)).then(|| text.to_owned()))
    }

    /// A stack by its id, as it is.
    pub(crate) async fn stack_look(&self, id: StackId) -> Result<Option<Scene>, Error> {
        let mut read = self.store.read().await?;
        let Some(stack) = read.stack_get(id).await? else { return Ok(None) };
        self.stack_scene(&mut read, stack).await.map(Some)
    }

    /// Who looks after objects of a type.
    pub(crate) fn stack_plugin(&self, type_name: &str) -> Option<Arc<dyn Plugin>> {
        self.stack_catalog.plugin(type_name)
    }

    /// A configuration of software of a project, whole: one that was entered by itself, or that a stack has made.
    pub(crate) async fn stack_software_config(
        &self,
        project: hostler_model::ProjectId,
        id: &str,
    ) -> Result<Option<Map<String, Value>>, Error> {
        let mut read = self.store.read().await?;
        if let Ok(known) = id.parse()
            && let Some(config) = self.software_config_entered(&mut read, project, known).await?
        {
            return Ok(Some(config));
        }
        for row in read.stack_resources_physical(None, id).await? {
            let Some(stack) = read.stack_get(row.stack_id).await? else { continue };
            if stack.project_id != project {
                continue;
            }
            let body = self.stack_key(&stack)?.open_resource(row.id, &row.sealed)?;
            if let Some(config) = software_config_of(&row, &body) {
                return Ok(Some(config));
            }
        }
        Ok(None)
    }
}

/// The definition that a stack is read by. One that is to go is read by what it was, for what is said of hooks there.
fn goal_of(stack: &Stack, rows: &[StackResource]) -> Option<StackDefinitionId> {
    let is_going = stack.standing.action == StackAction::Delete;
    let former = || stack.settled.or_else(|| rows.iter().rev().find_map(|row| row.definition));
    stack.wanted.or_else(|| is_going.then(former).flatten())
}
