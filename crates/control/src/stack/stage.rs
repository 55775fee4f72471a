//! A stack with everything below it, taken out of the rows to be tried out: nothing of it is ever written.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_engine::stack::begin;
use hostler_model::stack::{DeedKind, DefinitionBody, Stack, StackAction};
use hostler_model::{Error, Generation, StackDefinitionId, StackId, StackResourceId};
use hostler_store::Conn;

use super::blueprint::Blueprint;
use super::enter::NewStack;
use super::hidden::{Hidden, secrets_of};
use super::live::Live;
use super::scene::Scene;
use crate::Control;

/// A scene, and the stages of the stacks below its resources.
pub(crate) struct Stage {
    pub scene: Scene,
    pub below: HashMap<StackResourceId, Stage>,
    /// What objects are like in the world, where somebody looked.
    pub live: HashMap<StackResourceId, Live>,
}

impl Stage {
    fn of(scene: Scene) -> Stage {
        Stage { scene, below: HashMap::new(), live: HashMap::new() }
    }

    /// Every stack below, and the generation it was read at.
    pub fn generations(&self) -> Vec<(StackId, Generation)> {
        let mut found = Vec::new();
        for stage in self.below.values() {
            found.push((stage.scene.stack.id, stage.scene.stack.generation));
            found.extend(stage.generations());
        }
        found
    }

    /// What is secret of it, of what lies below it, and of what its objects give now.
    pub fn secrets(&self, control: &Control) -> Vec<String> {
        let mut found = self.scene.secrets(control);
        for (id, live) in &self.live {
            let body = self.scene.bodies.get(id);
            let plugin = body.and_then(|body| control.stack_plugin(&body.plugin));
            if let (Some(body), Some(plugin), Some(live)) = (body, plugin, live) {
                let mut now = body.clone();
                now.attributes.extend(live.clone());
                secrets_of(plugin.as_ref(), &now, &mut found);
            }
        }
        self.below.values().for_each(|below| found.extend(below.secrets(control)));
        found
    }

    /// What is under way with its objects is taken to end well.
    fn finish(&mut self) {
        for row in &self.scene.rows {
            let Some(kind) = row.deed.as_ref().map(|deed| deed.kind) else { continue };
            let Some(body) = self.scene.bodies.get_mut(&row.id) else { continue };
            let Some(deed) = body.deed.take() else { continue };
            if kind != DeedKind::Delete {
                body.properties = deed.properties;
                body.update_policy = deed.update_policy;
                body.description = deed.description;
                if body.metadata.is_null() {
                    body.metadata = deed.metadata;
                }
            }
        }
    }
}

impl Control {
    /// A stack as it is, with the stacks below it, as deep as they are.
    pub(crate) fn stack_stage<'a>(
        &'a self,
        read: &'a mut Conn,
        stack: Stack,
    ) -> BoxFuture<'a, Result<Stage, Error>> {
        async move {
            let mut stage = Stage::of(self.stack_scene(read, stack).await?);
            for (id, child) in &stage.scene.children {
                let below = self.stack_stage(read, child.stack.clone()).await?;
                stage.below.insert(*id, below);
            }
            stage.finish();
            Ok(stage)
        }
        .boxed()
    }

    /// A stack that there is not.
    pub(crate) fn stack_stage_new(&self, new: NewStack<'_>) -> Result<Stage, Error> {
        let (stack, _) = self.stack_draft(new)?;
        let key = self.stack_key(&stack)?;
        let scene = Scene {
            stack,
            key,
            blueprint: None,
            trouble: None,
            rows: Vec::new(),
            bodies: HashMap::new(),
            children: HashMap::new(),
            facade: None,
        };
        Ok(Stage::of(scene))
    }

    /// Looks at what is in the world, of a stack and of everything below it.
    pub(crate) fn stack_stage_look<'a>(
        &'a self,
        stage: &'a mut Stage,
        is_all: bool,
    ) -> BoxFuture<'a, ()> {
        async move {
            for (id, live) in self.stack_live(&stage.scene, is_all).await {
                match live {
                    Ok(Some(live)) => drop(stage.live.insert(id, live)),
                    Ok(None) => {}
                    Err(error) => {
                        let error = Hidden::of(stage.secrets(self)).scrub(&error.to_string());
                        tracing::warn!(resource = %id, error, "a resource cannot be looked at");
                    }
                }
            }
            for below in stage.below.values_mut() {
                self.stack_stage_look(below, is_all).await;
            }
        }
        .boxed()
    }

    /// The stack as it would begin to go towards a definition, and that definition.
    pub(super) fn stack_begun(
        &self,
        stack: &Stack,
        action: StackAction,
        body: Option<DefinitionBody>,
    ) -> Result<(Stack, Option<Arc<Blueprint>>), hostler_template::diagnostic::Diagnostics> {
        let mut begun = stack.clone();
        let id = body.as_ref().map(|_| self.ids.fresh::<StackDefinitionId>());
        begin(&mut begun, action, id, self.now());
        let blueprint = match (id, body) {
            (Some(id), Some(body)) => {
                Some(Arc::new(Blueprint::read(&begun, id, body, &self.stack_catalog)?))
            }
            _ => None,
        };
        Ok((begun, blueprint))
    }
}
