//! Previews as Heat has them: what a stack would be made of, and what an update would do. Nothing is kept.

use std::collections::HashMap;

use hostler_model::stack::{
    DefinitionBody, STACK_DEPTH_MAX, Stack, StackAction, StackChangeKind, StackChanges, StackName,
    StackOptions, StackResourceChange,
};
use hostler_model::{Mandate, Project, StackId};
use serde_json::{Map, Value};

use super::stack::{StackAsk, StackEdit};
use super::stack_apply::{Making, Turn};
use super::stack_look::StackResourceDetail;
use super::stack_refusal::StackRefusal;
use crate::stack::{NewStack, Stage, Tried, Wish};
use crate::{Control, Cx};

/// A stack that there is not.
#[derive(Clone, Debug)]
pub struct StackPreview {
    /// Its id means nothing.
    pub stack: Stack,
    /// With those that every template has; hidden ones hidden.
    pub parameters: Map<String, Value>,
    pub resources: Vec<StackPreviewResource>,
}

/// A resource that there is not.
#[derive(Clone, Debug)]
pub struct StackPreviewResource {
    pub name: String,
    pub kind: String,
    pub description: String,
    /// What is not known yet is nothing.
    pub properties: Value,
    /// Of stacks below it is empty.
    pub metadata: Value,
    pub required_by: Vec<String>,
    /// The resources of the stack that it is.
    pub nested: Option<Vec<StackPreviewResource>>,
}

/// What an update would do.
#[derive(Clone, Debug)]
pub struct StackPreviewChanges {
    pub stack: Stack,
    pub changes: StackChanges,
    /// Those that there are, with those of stacks below where they were asked for.
    pub resources: Vec<StackResourceDetail>,
    /// Those that would be added.
    pub added: Vec<StackPreviewResource>,
}

impl Control {
    pub async fn stack_preview_create(
        &self,
        cx: &Cx,
        project: &Project,
        ask: StackAsk,
    ) -> Result<StackPreview, StackRefusal> {
        let making = self.stack_making(cx, project, ask).await?;
        if self.store.read().await?.stack_by_name(project.id, making.name.as_str()).await?.is_some()
        {
            return Err(super::stack::exists(&making.name));
        }
        let Making { id, name, body, options, action, .. } = making;
        let stage = self.stack_stage_of(cx, project, (id, &name), &body, &options, action)?;
        let tried = self.stack_try(&stage, Wish::new(action, Some(body)))?;
        let parameters = tried.blueprint.as_ref().map(|blueprint| blueprint.parameters.shown());
        Ok(StackPreview {
            stack: stage.scene.stack,
            parameters: parameters.unwrap_or_default(),
            resources: previewed(&tried, &[]),
        })
    }

    pub async fn stack_preview_update(
        &self,
        cx: &Cx,
        project: &Project,
        name_or_id: &str,
        edit: StackEdit,
        with_nested: bool,
    ) -> Result<StackPreviewChanges, StackRefusal> {
        let turn = self.stack_turning(cx, project, name_or_id, edit).await?;
        let Turn { seen, body, options, action, .. } = turn;
        let mut stage = {
            let mut read = self.store.read().await?;
            self.stack_stage(&mut read, seen.clone()).await?
        };
        self.stack_stage_look(&mut stage, options.converges).await;
        let mut tried = self.stack_try(&stage, Wish::new(action, Some(body)))?;
        let added = previewed(&tried, &[StackChangeKind::Create, StackChangeKind::Adopt]);
        if !with_nested {
            tried.resources.retain(|one| one.path.is_empty());
        }
        let depth = if with_nested { STACK_DEPTH_MAX } else { 0 };
        let resources = self.stack_resources(cx, project, name_or_id, depth).await?;
        let Tried { resources: lines, parameters, outputs, .. } = tried;
        let changes =
            StackChanges { action, resources: lines, parameters, outputs, warnings: Vec::new() };
        Ok(StackPreviewChanges { stack: seen, changes, resources, added })
    }

    /// A stage for a stack that there is not.
    pub(super) fn stack_stage_of(
        &self,
        cx: &Cx,
        project: &Project,
        (id, name): (StackId, &StackName),
        body: &DefinitionBody,
        options: &StackOptions,
        action: StackAction,
    ) -> Result<Stage, StackRefusal> {
        Ok(self.stack_stage_new(NewStack {
            id,
            project_id: project.id,
            name: name.clone(),
            body,
            options: options.clone(),
            mandate: Mandate::of(&cx.caller, project.id),
            created_by: cx.actor(),
            action,
            above: None,
        })?)
    }
}

/// Lines of what was tried out, by the way to them.
struct Lines<'a> {
    tried: &'a Tried,
    at: HashMap<&'a [String], Vec<&'a StackResourceChange>>,
}

/// Resources that would be made, each with what lies below it; only those with these changes, where some are named.
fn previewed(tried: &Tried, only: &[StackChangeKind]) -> Vec<StackPreviewResource> {
    let mut at: HashMap<&[String], Vec<&StackResourceChange>> = HashMap::new();
    for line in &tried.resources {
        at.entry(&line.path).or_default().push(line);
    }
    let lines = Lines { tried, at };
    let mut users: HashMap<&str, Vec<String>> = HashMap::new();
    let blueprint = tried.blueprint.as_deref();
    for part in blueprint.map(|it| it.parts.as_slice()).unwrap_or_default() {
        for required in &part.requires {
            users.entry(required).or_default().push(part.name.clone());
        }
    }
    let is_meant = |one: &&&StackResourceChange| only.is_empty() || only.contains(&one.change);
    let here: &[String] = &[];
    let all = lines.at.get(here).map(Vec::as_slice).unwrap_or_default();
    let mut top: Vec<StackPreviewResource> =
        all.iter().filter(is_meant).map(|line| lines.resource(line)).collect();
    for resource in &mut top {
        resource.required_by = users.remove(resource.name.as_str()).unwrap_or_default();
    }
    let place = |name: &str| blueprint.and_then(|it| it.position(name)).unwrap_or(usize::MAX);
    top.sort_by_key(|resource| place(&resource.name));
    top
}

impl Lines<'_> {
    fn resource(&self, line: &StackResourceChange) -> StackPreviewResource {
        let mut path = line.path.clone();
        path.push(line.name.clone());
        let nested = self.at.get(path.as_slice());
        let nested = nested.map(|all| all.iter().map(|line| self.resource(line)).collect());
        let values = line.properties.iter();
        let values = values.map(|it| (it.name.clone(), it.after.clone().unwrap_or_default()));
        let blueprint = self.tried.blueprint.as_deref().filter(|_| line.path.is_empty());
        let metadata = self.tried.metadata.get(&line.name).filter(|_| line.path.is_empty());
        StackPreviewResource {
            name: line.name.clone(),
            kind: line.kind.clone(),
            description: blueprint.map(|it| it.described(&line.name)).unwrap_or_default(),
            properties: Value::Object(values.collect()),
            metadata: metadata.cloned().unwrap_or_else(|| Value::Object(Map::new())),
            required_by: Vec::new(),
            nested,
        }
    }
}
