//! What is told of stacks: which there are, what they are made of, their resources, outputs, events, revisions; and what stacks
//! can be made of.

use std::collections::HashMap;
use std::sync::Arc;

use hostler_model::stack::{
    DefinitionBody, SnapshotBody, Stack, StackAction, StackEvent, StackResource, StackRevision,
    StackStatus,
};
use hostler_model::{
    Actor, Error, Limit, Need, Page, Permission, PrincipalId, Project, Scope, Span, StackEventId,
    StackId, Timestamp,
};
use hostler_store::{StackEventFilter, StackEventScope, StackFilter, StackOrder, StackSort};
use hostler_template::environment::Types;
use hostler_template::schema::{ResourceSchema, Status};
use hostler_template::template::Template;
use serde_json::{Map, Value};

use super::stack::stack_find;
use super::stack_refusal::{StackRefusal, require};
use super::stack_signal::{missing, row_of};
use super::task::Names;
use crate::stack::{Blueprint, Hidden, Scene};
use crate::{Control, Cx};

const HIDDEN: &str = "******";

/// A stack as people see it.
#[derive(Clone, Debug)]
pub struct StackDetail {
    pub stack: Stack,
    /// In whose name it acts.
    pub owner: String,
    /// With those that every template has; hidden ones hidden.
    pub parameters: Map<String, Value>,
    /// Empty where they were not asked for.
    pub outputs: Vec<StackOutput>,
    /// Why what it is to be cannot be read.
    pub trouble: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StackOutput {
    pub name: String,
    pub description: Option<String>,
    /// Or why there is none.
    pub value: Result<Value, String>,
}

/// A resource as people see it.
#[derive(Clone, Debug)]
pub struct StackResourceDetail {
    /// Without what is sealed.
    pub row: StackResource,
    /// The stack that it is of.
    pub stack: Stack,
    pub description: String,
    pub required_by: Vec<String>,
    /// The stack that it is.
    pub child: Option<StackId>,
    /// The resource of the stack above that its stack is.
    pub parent_resource: Option<String>,
    pub metadata: Value,
    /// With what came from hidden parameters hidden, as in attributes.
    pub properties: Value,
    pub attributes: Map<String, Value>,
}

/// Which stacks to list; what is empty does not matter.
#[derive(Clone, Debug, Default)]
pub struct StackQuery {
    pub ids: Vec<StackId>,
    pub names: Vec<String>,
    pub actions: Vec<StackAction>,
    pub statuses: Vec<StackStatus>,
    pub standings: Vec<(Option<StackAction>, StackStatus)>,
    pub reasons: Vec<String>,
    pub parents: Vec<StackId>,
    pub principals: Vec<PrincipalId>,
    pub tags: Vec<String>,
    pub tags_any: Vec<String>,
    pub not_tags: Vec<String>,
    pub not_tags_any: Vec<String>,
    pub is_rollback_enabled: Option<bool>,
    pub timeouts: Vec<Span>,
    pub with_deleted: bool,
    pub with_nested: bool,
    pub sort: Vec<StackSort>,
    pub is_ascending: bool,
}

/// Which events of a stack to list; what is empty does not matter.
#[derive(Clone, Debug, Default)]
pub struct StackEventQuery {
    /// How many stacks below each other are looked into.
    pub depth: u32,
    pub names: Vec<String>,
    pub kinds: Vec<String>,
    pub actions: Vec<String>,
    pub statuses: Vec<StackStatus>,
    pub resources_only: bool,
    pub is_descending: bool,
}

/// What a stack goes towards, or was as.
#[derive(Clone, Debug)]
pub struct StackDefinitionDetail {
    pub body: DefinitionBody,
    pub created_by: Actor,
    pub time_created: Timestamp,
}

/// A type of resource under one of its names.
#[derive(Clone, Debug)]
pub struct StackType {
    pub name: String,
    /// The type that it is another name of.
    pub of: Option<String>,
    pub schema: ResourceSchema,
}

impl StackQuery {
    fn filter<'a>(&'a self, project: Option<&Project>) -> StackFilter<'a> {
        StackFilter {
            project: project.map(|project| project.id),
            ids: &self.ids,
            names: &self.names,
            actions: &self.actions,
            statuses: &self.statuses,
            standings: &self.standings,
            reasons: &self.reasons,
            parents: &self.parents,
            principals: &self.principals,
            tags: &self.tags,
            tags_any: &self.tags_any,
            not_tags: &self.not_tags,
            not_tags_any: &self.not_tags_any,
            is_rollback_enabled: self.is_rollback_enabled,
            timeouts: &self.timeouts,
            looks_for_drift: false,
            with_deleted: self.with_deleted,
            with_nested: self.with_nested,
        }
    }
}

impl Control {
    /// Stacks of a project, the newest first where nothing else is asked for.
    pub async fn stack_list(
        &self,
        cx: &Cx,
        project: &Project,
        query: &StackQuery,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Stack>, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let order = StackOrder { keys: &query.sort, is_ascending: query.is_ascending };
        let mut read = self.store.read().await?;
        Ok(read.stack_list(query.filter(Some(project)), order, after, limit).await?)
    }

    /// Stacks of all projects, for who may see those of all.
    pub async fn stack_list_everywhere(
        &self,
        cx: &Cx,
        query: &StackQuery,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Stack>, StackRefusal> {
        let need = Need { permission: Permission::StackRead, scope: Scope::Global };
        self.authorise(&cx.caller, need)?;
        let order = StackOrder { keys: &query.sort, is_ascending: query.is_ascending };
        let mut read = self.store.read().await?;
        Ok(read.stack_list(query.filter(None), order, after, limit).await?)
    }

    /// How many there are on all pages.
    pub async fn stack_count(
        &self,
        cx: &Cx,
        project: &Project,
        query: &StackQuery,
    ) -> Result<u64, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        Ok(self.store.read().await?.stack_count(query.filter(Some(project))).await?)
    }

    /// The row of a stack alone, by name or by id.
    pub async fn stack_resolve(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Stack, StackRefusal> {
        require(cx, project, Permission::StackRead)?;
        let mut read = self.store.read().await?;
        stack_find(&mut read, project, name_or_id).await
    }

    pub async fn stack_get(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        with_outputs: bool,
    ) -> Result<StackDetail, StackRefusal> {
        let scene = self.stack_seen(cx, project, name_or_id).await?;
        let outputs = match with_outputs {
            true => self.stack_outputs_of(cx, &scene),
            false => Vec::new(),
        };
        let mut read = self.store.read().await?;
        let owner = Names::default().principal(&mut read, scene.stack.mandate.principal).await?;
        let blueprint = scene.blueprint.as_ref();
        let mut parameters =
            blueprint.map(|blueprint| blueprint.parameters.shown()).unwrap_or_default();
        if let Some(blueprint) = blueprint {
            blueprint.hidden.hide_in(&mut parameters);
        }
        self.stack_veil(cx, &scene).hide_in(&mut parameters);
        Ok(StackDetail { owner, parameters, outputs, trouble: scene.trouble, stack: scene.stack })
    }

    pub async fn stack_outputs(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Vec<StackOutput>, StackRefusal> {
        let scene = self.stack_seen(cx, project, name_or_id).await?;
        Ok(self.stack_outputs_of(cx, &scene))
    }

    fn stack_outputs_of(&self, cx: &Cx, scene: &Scene) -> Vec<StackOutput> {
        let veil = self.stack_veil(cx, scene);
        let outputs = scene.outputs(self).into_iter();
        let shown = |mut value: Value| {
            veil.hide(&mut value);
            value
        };
        let output = |it: crate::stack::Output| StackOutput {
            name: it.name,
            description: it.description,
            value: it.value.map(shown).map_err(|why| veil.scrub(&why)),
        };
        outputs.map(output).collect()
    }

    /// What is not for the caller: nothing, where they may change the stack.
    fn stack_veil(&self, cx: &Cx, scene: &Scene) -> Arc<Hidden> {
        let need = Need::of(Permission::StackApply, Some(scene.stack.project_id));
        match cx.caller.may(need) {
            true => Hidden::nothing(),
            false => Hidden::of(scene.secrets(self)),
        }
    }

    async fn stack_seen(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
    ) -> Result<Scene, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        Ok(self.stack_scene(&mut read, stack).await?)
    }

    /// Resources of a stack, in the order of its template, and those of stacks below it down to a depth.
    pub async fn stack_resources(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        depth: u32,
    ) -> Result<Vec<StackResourceDetail>, StackRefusal> {
        let scene = self.stack_seen(cx, project, name_or_id).await?;
        let (mut found, mut level) = (Vec::new(), vec![(scene, None::<String>)]);
        for at in 0..=depth {
            let mut below = Vec::new();
            for (scene, parent) in std::mem::take(&mut level) {
                let names: HashMap<_, _> =
                    scene.rows.iter().map(|row| (row.id, row.name.clone())).collect();
                found.extend(self.stack_members(cx, &scene, parent.as_deref()));
                if at < depth {
                    for (id, child) in scene.children {
                        below.push((child.stack, names.get(&id).cloned()));
                    }
                }
            }
            below.sort_by_key(|(stack, _)| stack.id);
            for (stack, parent) in below {
                let mut read = self.store.read().await?;
                level.push((self.stack_scene(&mut read, stack).await?, parent));
            }
        }
        Ok(found)
    }

    /// One resource, by its name or by what it is in the world.
    pub async fn stack_resource(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        resource: &str,
    ) -> Result<StackResourceDetail, StackRefusal> {
        let scene = self.stack_seen(cx, project, name_or_id).await?;
        let parent = match scene.stack.parent {
            Some(parent) => self.store.read().await?.stack_resource_get(parent.resource_id).await?,
            None => None,
        };
        let row = row_of(scene.names().into_values(), resource).map(|row| row.id);
        let parent = parent.map(|row| row.name);
        let mut all = self.stack_members(cx, &scene, parent.as_deref()).into_iter();
        let found = all.find(|one| Some(one.row.id) == row);
        found.ok_or_else(|| missing(resource, &scene.stack))
    }

    fn stack_members(
        &self,
        cx: &Cx,
        scene: &Scene,
        parent: Option<&str>,
    ) -> Vec<StackResourceDetail> {
        let blueprint = scene.blueprint.as_deref();
        let veil = self.stack_veil(cx, scene);
        let place = |name: &str| blueprint.and_then(|it| it.position(name)).unwrap_or(usize::MAX);
        let mut rows: Vec<&StackResource> = scene.names().into_values().collect();
        rows.sort_by(|a, b| (place(&a.name), &a.name).cmp(&(place(&b.name), &b.name)));
        let mut users: HashMap<&str, Vec<String>> = HashMap::new();
        for part in blueprint.map(|blueprint| blueprint.parts.as_slice()).unwrap_or_default() {
            for required in &part.requires {
                users.entry(required).or_default().push(part.name.clone());
            }
        }
        let detail = |row: &&StackResource| {
            let seen = scene.seen(row)?;
            let plugin = self.stack_plugin(&seen.body.plugin);
            let attributes = plugin.map(|it| it.attributes(&seen)).unwrap_or_default();
            let shown = |values: &Map<String, Value>| {
                let mut shown = match blueprint {
                    Some(blueprint) => blueprint.shown_properties(values),
                    None => Value::Object(Map::new()),
                };
                veil.hide(&mut shown);
                shown
            };
            let mut metadata = seen.body.metadata.clone();
            veil.hide(&mut metadata);
            Some(StackResourceDetail {
                row: (*row).clone(),
                stack: scene.stack.clone(),
                description: seen.body.description.clone(),
                required_by: users.get(row.name.as_str()).cloned().unwrap_or_default(),
                child: scene.children.get(&row.id).map(|child| child.stack.id),
                parent_resource: parent.map(str::to_owned),
                metadata,
                properties: shown(&seen.body.properties),
                attributes: match shown(&attributes) {
                    Value::Object(attributes) => attributes,
                    _ => Map::new(),
                },
            })
        };
        rows.iter().filter_map(detail).collect()
    }

    /// What happened to a stack, the oldest first where nothing else is asked for.
    pub async fn stack_events(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        query: &StackEventQuery,
        page: (Option<&str>, Limit),
    ) -> Result<Page<StackEvent>, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let mut among = vec![stack.id];
        let scope = match (query.depth, stack.root_id == stack.id) {
            (0, _) => StackEventScope::One(stack.id),
            (depth, true) => StackEventScope::Below { root: stack.id, depth },
            (depth, false) => {
                let mut level = vec![stack.id];
                for _ in 0..depth {
                    let mut below = Vec::new();
                    for id in level {
                        below.extend(read.stack_children(id).await?.iter().map(|one| one.id));
                    }
                    among.extend(&below);
                    level = below;
                }
                StackEventScope::Among(&among)
            }
        };
        let filter = StackEventFilter {
            scope,
            names: &query.names,
            kinds: &query.kinds,
            actions: &query.actions,
            statuses: &query.statuses,
            resources_only: query.resources_only,
            is_ascending: !query.is_descending,
        };
        Ok(read.stack_event_list(filter, page.0, page.1).await?)
    }

    pub async fn stack_event_get(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        id: StackEventId,
    ) -> Result<StackEvent, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let found = read.stack_event_get(stack.id, id).await?;
        found.ok_or_else(|| StackRefusal::missing("Event", &id.to_string()))
    }

    /// Template, environment and files: what the stack goes towards, or what a revision of it was. Values of hidden
    /// parameters are hidden from who may not change the stack.
    pub async fn stack_definition_of(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        revision: Option<u32>,
    ) -> Result<StackDefinitionDetail, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        let none = || StackRefusal::missing("Template", stack.name.as_str());
        let id = match revision {
            None => stack.wanted.or(stack.settled).ok_or_else(none)?,
            Some(number) => {
                let found = read.stack_revision_get(stack.id, number).await?;
                let missing = || StackRefusal::missing("Revision", &number.to_string());
                found.ok_or_else(missing)?.definition
            }
        };
        let found = read.stack_definition_get(id).await?.ok_or_else(none)?;
        let key = self.stack_key(&stack)?;
        let mut body = key.open_definition(id, &found.sealed)?;
        let scene = self.stack_scene(&mut read, stack.clone()).await?;
        let veil = self.stack_veil(cx, &scene);
        let need = Need::of(Permission::StackApply, Some(project.id));
        if !cx.caller.may(need) {
            let then = Blueprint::read(&stack, id, body.clone(), &self.stack_catalog).ok();
            conceal(&mut body);
            let then = then.map(|blueprint| Arc::clone(&blueprint.hidden));
            for veil in [Some(veil), then].into_iter().flatten() {
                veil.hide(&mut body.template);
                veil.hide(&mut body.environment);
                veil.hide_in(&mut body.files);
                veil.hide_in(&mut body.parameters);
                veil.hide_in(&mut body.left);
            }
        }
        body.secrets.clear();
        Ok(StackDefinitionDetail {
            body,
            created_by: found.created_by,
            time_created: found.time_created,
        })
    }

    /// The numbered states of a stack, the newest first, without what they hold.
    pub async fn stack_revisions(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackRevision>, StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackRead).await?;
        Ok(read.stack_revision_list(stack.id, after, limit).await?)
    }

    /// A revision with what it holds.
    pub async fn stack_revision_get(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        number: u32,
    ) -> Result<(StackRevision, SnapshotBody), StackRefusal> {
        let (mut read, stack) =
            self.stack_reading(cx, project, name_or_id, Permission::StackApply).await?;
        let found = read.stack_revision_get(stack.id, number).await?;
        let found = found.ok_or_else(|| StackRefusal::missing("Revision", &number.to_string()))?;
        let body = self.stack_key(&stack)?.open_revision(number, &found.sealed)?;
        Ok((found, body))
    }

    /// Types of resources whose names are meant, of a version and of a support status where one is asked for.
    pub async fn stack_types(
        &self,
        project: &Project,
        is_meant: impl Fn(&str) -> bool,
        version: Option<&str>,
        status: Option<Status>,
    ) -> Result<Vec<StackType>, Error> {
        let own = self.stack_project_types(project.id).await?;
        let entries = self.stack_catalog.listed(&is_meant, version, status).into_iter();
        let entry = |entry: crate::stack::plugin::Entry<'_>| StackType {
            name: entry.name,
            of: entry.of.map(str::to_owned),
            schema: entry.schema.clone(),
        };
        let is_shown = |schema: &&ResourceSchema| {
            is_meant(&schema.type_name)
                && status.is_none_or(|status| status == schema.support.status)
                && version.is_none_or(|version| schema.support.version.as_deref() == Some(version))
        };
        let own = own.own().map(|plugin| plugin.schema()).filter(is_shown);
        let own = own.map(|schema| StackType {
            name: schema.type_name.clone(),
            of: None,
            schema: schema.clone(),
        });
        let mut all: Vec<StackType> = entries.map(entry).chain(own).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    /// A type by any of its names.
    pub async fn stack_type(
        &self,
        project: &Project,
        name: &str,
    ) -> Result<StackType, StackRefusal> {
        let own = self.stack_project_types(project.id).await?;
        let schema = own.schema(name).cloned();
        let missing = || StackRefusal::missing("Resource Type", name);
        let schema = schema.ok_or_else(missing)?;
        let of = (schema.type_name != name).then(|| schema.type_name.clone());
        Ok(StackType { name: name.to_owned(), of, schema })
    }
}

/// Hides the values of all parameters but those that the template declares and does not hide.
fn conceal(body: &mut DefinitionBody) {
    let template = Template::from_value("template", &body.template).ok();
    let is_open = |name: &String| {
        let declared = template.as_ref().map(|template| template.parameters.iter());
        declared.is_some_and(|mut all| all.any(|one| one.name == *name && !one.is_hidden))
    };
    let hide = |values: &mut Map<String, Value>| {
        for (_, value) in values.iter_mut().filter(|(name, _)| !is_open(name)) {
            *value = Value::String(HIDDEN.to_owned());
        }
    };
    hide(&mut body.parameters);
    for (_, text) in body.files.iter_mut().filter(|(name, _)| body.environment_files.contains(name))
    {
        *text = Value::String(HIDDEN.to_owned());
    }
    for section in ["parameters", "parameter_defaults"] {
        if let Some(Value::Object(values)) = body.environment.get_mut(section) {
            hide(values);
        }
    }
}
