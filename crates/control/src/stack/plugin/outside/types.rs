//! Which types there are for a definition: those of everybody, and those of its project in the versions that it says.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use hostler_model::stack::{DefinitionBody, ResourceBody, StackPlugin, plugin_key};
use hostler_model::{Error, Limit, ProjectId, StackPluginId};
use hostler_store::Conn;
use hostler_template::environment::{Registry, Types};
use hostler_template::schema::ResourceSchema;

use super::super::{Catalog, Plugin};
use super::Outside;
use crate::Control;

type ByName = HashMap<String, Arc<dyn Plugin>>;

/// What was made of versions of plugins.
#[derive(Default)]
pub(crate) struct Shelf(RwLock<HashMap<StackPluginId, ByName>>);

impl Shelf {
    pub(crate) fn find(&self, id: StackPluginId, type_name: &str) -> Option<Arc<dyn Plugin>> {
        let shelf = self.0.read().unwrap_or_else(PoisonError::into_inner);
        shelf.get(&id)?.get(type_name).cloned()
    }

    fn has(&self, id: StackPluginId) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains_key(&id)
    }

    pub(crate) fn put(&self, plugin: StackPlugin) {
        let id = plugin.id;
        let of = |it: Arc<dyn Plugin>| (it.schema().type_name.clone(), it);
        let types = Outside::all(plugin).into_iter().map(of).collect();
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(id, types);
    }

    pub(crate) fn forget(&self, id: StackPluginId) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}

/// Every type that a definition can have.
pub(crate) struct ProjectTypes<'c> {
    catalog: &'c Catalog,
    own: BTreeMap<String, Arc<dyn Plugin>>,
    pins: BTreeMap<String, StackPluginId>,
}

impl<'c> ProjectTypes<'c> {
    /// Of a definition; versions that are not on the shelf are not there.
    pub(crate) fn of(
        catalog: &'c Catalog,
        pins: &BTreeMap<String, StackPluginId>,
    ) -> ProjectTypes<'c> {
        let find = |(name, id): (&String, &StackPluginId)| {
            Some((name.clone(), catalog.shelf().find(*id, name)?))
        };
        ProjectTypes { catalog, own: pins.iter().filter_map(find).collect(), pins: pins.clone() }
    }

    /// Whoever makes resources of a type.
    pub(crate) fn plugin(&self, name: &str) -> Option<Arc<dyn Plugin>> {
        self.own.get(name).cloned().or_else(|| self.catalog.plugin(name))
    }

    pub(crate) fn own(&self) -> impl Iterator<Item = &Arc<dyn Plugin>> {
        self.own.values()
    }

    /// The versions of those that a definition names somewhere.
    pub(crate) fn pins_of(&self, body: &DefinitionBody) -> BTreeMap<String, StackPluginId> {
        if self.pins.is_empty() {
            return BTreeMap::new();
        }
        let texts = [body.template.to_string(), body.environment.to_string()];
        let files = body.files.values().map(ToString::to_string);
        let all: Vec<String> = texts.into_iter().chain(files).collect();
        let is_named = |name: &String| all.iter().any(|text| text.contains(name.as_str()));
        let pins = self.pins.iter().filter(|(name, _)| is_named(name));
        pins.map(|(name, id)| (name.clone(), *id)).collect()
    }
}

impl Types for ProjectTypes<'_> {
    fn schema(&self, type_name: &str) -> Option<&ResourceSchema> {
        let own = self.own.get(type_name).map(|plugin| plugin.schema());
        own.or_else(|| self.catalog.schema(type_name))
    }

    fn names(&self) -> Vec<&str> {
        self.own.keys().map(String::as_str).chain(self.catalog.names()).collect()
    }

    fn global(&self) -> Option<&Registry> {
        self.catalog.global()
    }
}

impl Control {
    /// Has these versions on the shelf, as far as they are there.
    pub(crate) async fn stack_plugins_ready(
        &self,
        read: &mut Conn,
        ids: impl IntoIterator<Item = StackPluginId>,
    ) -> Result<(), Error> {
        let shelf = self.stack_catalog.shelf();
        for id in ids {
            if !shelf.has(id)
                && let Some(plugin) = read.stack_plugin_by_id(id).await?
            {
                shelf.put(plugin);
            }
        }
        Ok(())
    }

    /// The same for those that definitions are read with.
    pub(crate) async fn stack_plugins_here<'b>(
        &self,
        bodies: impl IntoIterator<Item = &'b DefinitionBody>,
    ) -> Result<(), Error> {
        let ids: Vec<_> =
            bodies.into_iter().flat_map(|body| body.plugins.values()).copied().collect();
        if ids.is_empty() {
            return Ok(());
        }
        let mut read = self.store.read().await?;
        self.stack_plugins_ready(&mut read, ids).await
    }

    /// The same for those that look after resources.
    pub(crate) async fn stack_plugins_of(
        &self,
        read: &mut Conn,
        bodies: impl Iterator<Item = &ResourceBody> + Send,
    ) -> Result<(), Error> {
        let ids: Vec<_> = bodies.filter_map(|body| Some(plugin_key(&body.plugin)?.1)).collect();
        self.stack_plugins_ready(read, ids).await
    }

    /// The types of a project, its own in their newest versions.
    pub(crate) async fn stack_project_types(
        &self,
        project: ProjectId,
    ) -> Result<ProjectTypes<'_>, Error> {
        let mut read = self.store.read().await?;
        let all = read.stack_plugin_list(project, None, Limit::LARGEST).await?.items;
        let shelf = self.stack_catalog.shelf();
        let mut pins = BTreeMap::new();
        for plugin in all {
            pins.extend(plugin.manifest.types.keys().map(|name| (name.clone(), plugin.id)));
            if !shelf.has(plugin.id) {
                shelf.put(plugin);
            }
        }
        Ok(ProjectTypes::of(&self.stack_catalog, &pins))
    }

    /// A definition that is taken up again: what was removed meanwhile is the newest now.
    pub(crate) async fn stack_pins_again(
        &self,
        project: ProjectId,
        body: &mut DefinitionBody,
    ) -> Result<(), Error> {
        if body.plugins.is_empty() {
            return Ok(());
        }
        let newest = self.stack_project_types(project).await?.pins;
        let mut read = self.store.read().await?;
        for (name, id) in &mut body.plugins {
            if read.stack_plugin_by_id(*id).await?.is_none()
                && let Some(newest) = newest.get(name)
            {
                *id = *newest;
            }
        }
        let ids: Vec<_> = body.plugins.values().copied().collect();
        self.stack_plugins_ready(&mut read, ids).await
    }
}
