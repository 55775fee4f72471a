//! Plugins of stacks that a project keeps: types of resources of its own.
//!
//! What a plugin says of its types is found out once, where it is to run: pushing one submits a task that asks it, and waits for
//! that. What came is looked at as a whole, and kept with the version; every later call has to say the same. A version is
//! never changed, and not removed while a stack is made with it.

use std::time::Duration;

use hostler_lua::Bundle;
use hostler_model::stack::{
    PLUGIN_SIZE_MAX, PLUGIN_VERSIONS_MAX, PLUGINS_MAX, PluginKind, PluginManifest, PluginPlace,
    StackPlugin,
};
use hostler_model::suggest::nearest;
use hostler_model::{
    BlobScope, Code, Diagnostic, Digest, Error, EventKind, Limit, Name, Need, ObjectKind,
    ObjectRef, Page, Permission, Project, VersionPayload,
};
use serde_json::json;

use super::module::{check_bundle, check_bundle_size};
use super::task::Names;
use crate::stack::plugin::{Bid, answer_of, silence_of};
use crate::{Control, Cx, audit_state};

/// How long whoever pushes waits for a node to say what the plugin is.
const DESCRIBE: Duration = Duration::from_secs(60);
const FILE_MAX: usize = 256;

/// What a plugin is made of.
#[derive(Clone, Debug)]
pub enum StackPluginSource {
    /// Its content is one that the project has.
    Executable {
        file: String,
        blob: Digest,
    },
    Lua(Bundle),
}

/// A plugin to be kept.
#[derive(Clone, Debug)]
pub struct NewStackPlugin {
    pub name: Name,
    pub source: StackPluginSource,
    pub place: PluginPlace,
}

/// A version with who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct StackPluginDetail {
    pub plugin: StackPlugin,
    pub created_by: String,
}

fn plugin_object(plugin: &StackPlugin) -> ObjectRef {
    ObjectRef::new(ObjectKind::StackPlugin, plugin.id, &plugin.name)
}

impl Control {
    /// Keeps a plugin: it gets a version, unless the newest is the same.
    pub async fn stack_plugin_push(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewStackPlugin,
    ) -> Result<StackPluginDetail, Error> {
        // It runs as a task, in the name of whoever pushes it.
        self.authorise(&cx.caller, Need::of(Permission::TaskSubmit, Some(project.id)))?;
        check(&new)?;
        let (kind, file, artefact) = match new.source {
            StackPluginSource::Executable { file, blob } => {
                let found = self.blob_get(BlobScope::Project(project.id), blob).await?.blob;
                if found.size == 0 || found.size > PLUGIN_SIZE_MAX as u64 {
                    let text = format!("a program has 1 to {PLUGIN_SIZE_MAX} bytes");
                    return Err(Error::invalid(vec![Diagnostic::new("/executable/blob", text)]));
                }
                (PluginKind::Executable, file, blob)
            }
            StackPluginSource::Lua(bundle) => {
                let bundle = self.plugin_bundle(project, bundle).await?;
                let kept = self.bundle_keep(cx, project, &bundle).await?;
                (PluginKind::Lua, bundle.name, kept)
            }
        };
        let mut plugin = StackPlugin {
            id: self.ids.fresh(),
            project_id: project.id,
            name: new.name,
            version: 0,
            kind,
            file,
            artefact,
            manifest: PluginManifest::default(),
            place: new.place,
            created_by: cx.caller.principal_id,
            time_created: self.now(),
        };
        plugin.manifest = self.plugin_described(cx, project, &plugin).await?;
        self.plugin_fits(project, &plugin).await?;
        let version = self.plugin_keep(cx, project, &plugin).await?;
        self.feed.ring();
        self.plugin_detail(version).await
    }

    /// A file of Lua with everything that it asks for.
    async fn plugin_bundle(&self, project: &Project, bundle: Bundle) -> Result<Bundle, Error> {
        check_bundle(&bundle)?;
        let Bundle { name: file, text, files } = bundle;
        let work = {
            let given = hostler_lua::Given::default();
            let file = file.clone();
            move |files: Box<dyn hostler_lua::Files>| {
                hostler_lua::module("plugin", &file, &text, files, &given)
            }
        };
        let (bundle, _) = self.with_modules(project, files, work).await?;
        check_bundle_size(&bundle)?;
        Ok(bundle)
    }

    /// What it says of its types, where it is to run.
    async fn plugin_described(
        &self,
        cx: &Cx,
        project: &Project,
        plugin: &StackPlugin,
    ) -> Result<PluginManifest, Error> {
        let bid = Bid { plugin, request: None, digest: None, word: "describe" };
        let task = bid.task(self, cx).await?;
        // The key of the request is for the version, and not for the task that looks at it.
        let plain = Cx {
            request: crate::RequestMeta { idempotency: None, ..cx.request.clone() },
            ..cx.clone()
        };
        let made = self.task_submit(&plain, project, vec![task]).await?;
        let made = made.first().ok_or_else(|| Error::internal("a submission without a task"))?;
        let id = made.workload.id.to_string();
        let told = self.task_wait(&plain, project, &id, DESCRIBE).await?;
        if !told.workload.state.is_settled() {
            self.task_kill(&plain, project, &id, None).await?;
            let text = format!(
                "no node said what the plugin is within {} s (task {id})",
                DESCRIBE.as_secs()
            );
            let hint = "see with `hostler task explain` why its task did not run, or choose other nodes for it";
            return Err(Error::new(Code::Unavailable, text, hint));
        }
        let answer = answer_of(self, project, &told.workload).await?;
        let refused = |why: String| {
            Error::invalid(vec![Diagnostic::new("/plugin", format!("{why} (task {id})"))])
        };
        let Some(answer) = answer else {
            return Err(refused(silence_of(&told.workload.state)));
        };
        let manifest = match (answer.manifest, answer.trouble) {
            (Some(manifest), _) => manifest,
            (None, why) => {
                return Err(refused(why.unwrap_or_else(|| "it does not say what it is".into())));
            }
        };
        let problems = manifest.problems();
        if !problems.is_empty() {
            let at =
                |one: Diagnostic| Diagnostic::new(format!("/manifest{}", one.pointer), one.detail);
            return Err(Error::invalid(problems.into_iter().map(at).collect()));
        }
        Ok(manifest)
    }

    /// Whether its types are nobody else's.
    async fn plugin_fits(&self, project: &Project, plugin: &StackPlugin) -> Result<(), Error> {
        let mut read = self.store.read().await?;
        let others = read.stack_plugin_list(project.id, None, Limit::LARGEST).await?.items;
        drop(read);
        let mut problems = Vec::new();
        for name in plugin.manifest.types.keys() {
            let at = format!("/manifest/types/{name}");
            if self.stack_catalog.schema_of(name).is_some() {
                problems.push(Diagnostic::new(at, "there is a type of that name already"));
                continue;
            }
            let other = others
                .iter()
                .find(|other| other.name != plugin.name && other.manifest.types.contains_key(name));
            if let Some(other) = other {
                let text = format!("the plugin `{}` has a type of that name", other.name);
                problems.push(Diagnostic::new(at, text));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
    }

    async fn plugin_keep(
        &self,
        cx: &Cx,
        project: &Project,
        plugin: &StackPlugin,
    ) -> Result<StackPlugin, Error> {
        let (scope, now) = (BlobScope::Project(project.id), self.now());
        self.store
            .tx("stack_plugin_push", |tx| {
                Box::pin(async move {
                    let name = plugin.name.as_str();
                    let was = tx.stack_plugin_get(project.id, name, None).await?;
                    let version = tx.stack_plugin_insert(plugin).await?;
                    if version.id != plugin.id {
                        return Ok(version);
                    }
                    room(was.as_ref(), tx.stack_plugin_counts(project.id, name).await?)?;
                    tx.blob_use(&[(scope, plugin.artefact, version.id.to_string())], now).await?;
                    let object = plugin_object(&version);
                    let words = format!("version {}", version.version);
                    let kind = EventKind::StackPluginPushed;
                    let event = self
                        .event(kind, Some(project.id), &object, cx.actor(), words)
                        .with_payload(VersionPayload {
                            version: Some(version.version),
                            bundle: Some(version.artefact),
                        });
                    let detail =
                        json!({ "version": version.version, "artefact": version.artefact });
                    let was = was.as_ref().map(audit_state::stack_plugin);
                    let audit = self
                        .audit(cx, "stack-plugin.push", &object, Some(project.id), detail)
                        .with_states(was.as_ref(), Some(&audit_state::stack_plugin(&version)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(version)
                })
            })
            .await
    }

    pub async fn stack_plugin_list(
        &self,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackPluginDetail>, Error> {
        let page = self.store.read().await?.stack_plugin_list(project.id, after, limit).await?;
        self.plugin_details(page).await
    }

    pub async fn stack_plugin_versions(
        &self,
        project: &Project,
        name: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackPluginDetail>, Error> {
        self.stack_plugin_get(project, name, None).await?;
        let mut read = self.store.read().await?;
        let page = read.stack_plugin_versions(project.id, name, after, limit).await?;
        drop(read);
        self.plugin_details(page).await
    }

    async fn plugin_details(
        &self,
        page: Page<StackPlugin>,
    ) -> Result<Page<StackPluginDetail>, Error> {
        let mut read = self.store.read().await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for plugin in page.items {
            let created_by = names.principal(&mut read, plugin.created_by).await?;
            items.push(StackPluginDetail { plugin, created_by });
        }
        Ok(Page { items, next: page.next })
    }

    async fn plugin_detail(&self, plugin: StackPlugin) -> Result<StackPluginDetail, Error> {
        let mut read = self.store.read().await?;
        let created_by = Names::default().principal(&mut read, plugin.created_by).await?;
        Ok(StackPluginDetail { plugin, created_by })
    }

    pub async fn stack_plugin_get(
        &self,
        project: &Project,
        name: &str,
        version: Option<u32>,
    ) -> Result<StackPluginDetail, Error> {
        let mut read = self.store.read().await?;
        if let Some(found) = read.stack_plugin_get(project.id, name, version).await? {
            drop(read);
            return self.plugin_detail(found).await;
        }
        let newest = read.stack_plugin_get(project.id, name, None).await?;
        if let (Some(newest), Some(version)) = (newest, version) {
            let text = format!("there is no version {version} of the plugin `{name}`");
            let hint = format!("its newest version is {}", newest.version);
            return Err(Error::new(Code::NotFound, text, hint));
        }
        let all = read.stack_plugin_list(project.id, None, Limit::LARGEST).await?;
        let meant = nearest(name, all.items.iter().map(|known| known.name.as_str()));
        Err(match meant {
            Some(meant) => Error::new(
                Code::NotFound,
                format!("there is no plugin `{name}`"),
                format!("did you mean `{meant}`?"),
            ),
            None => Error::not_found("plugin", name),
        })
    }

    /// Removes one version of a plugin, or all of them. Nothing is removed while a stack is made with any of those.
    pub async fn stack_plugin_remove(
        &self,
        cx: &Cx,
        project: &Project,
        name: &str,
        version: Option<u32>,
    ) -> Result<(), Error> {
        let found = self.stack_plugin_get(project, name, version).await?.plugin;
        let object = plugin_object(&found);
        let words = match version {
            Some(version) => format!("version {version} removed"),
            None => "removed with all its versions".to_owned(),
        };
        let kind = EventKind::StackPluginRemoved;
        let event = &[self
            .event(kind, Some(project.id), &object, cx.actor(), words)
            .with_payload(VersionPayload { version: Some(found.version), bundle: None })];
        let detail = json!({ "version": version });
        let audit = &[self
            .audit(cx, "stack-plugin.remove", &object, Some(project.id), detail)
            .with_states(Some(&audit_state::stack_plugin(&found)), None)];
        let gone = self
            .store
            .tx("stack_plugin_remove", |tx| {
                Box::pin(async move {
                    let all = match version {
                        Some(_) => tx
                            .stack_plugin_get(project.id, name, version)
                            .await?
                            .into_iter()
                            .collect(),
                        None => {
                            let all = Limit::LARGEST;
                            tx.stack_plugin_versions(project.id, name, None, all).await?.items
                        }
                    };
                    let mut gone = Vec::new();
                    for one in all {
                        let users = tx.stack_plugin_users(one.id).await?;
                        if !users.is_empty() {
                            return Err(in_use(&one, &users));
                        }
                        tx.stack_plugin_remove(one.id).await?;
                        gone.push(one.id);
                    }
                    if !gone.is_empty() {
                        tx.journal_append(event, audit).await?;
                    }
                    Ok::<_, Error>(gone)
                })
            })
            .await?;
        gone.into_iter().for_each(|id| self.stack_catalog.shelf().forget(id));
        self.feed.ring();
        Ok(())
    }
}

fn in_use(plugin: &StackPlugin, users: &[String]) -> Error {
    let text = format!(
        "version {} of the plugin `{}` is in use by {}",
        plugin.version,
        plugin.name,
        users.join(", ")
    );
    Error::conflict(text, "update those stacks to a newer version, or remove them, first")
}

/// How many plugins there are, and how many versions of this one, with it.
fn room(was: Option<&StackPlugin>, (plugins, versions): (u64, u64)) -> Result<(), Error> {
    let text = if was.is_none() && plugins > PLUGINS_MAX {
        format!("a project has at most {PLUGINS_MAX} plugins")
    } else if versions > PLUGIN_VERSIONS_MAX {
        format!("at most {PLUGIN_VERSIONS_MAX} versions of a plugin are kept")
    } else {
        return Ok(());
    };
    Err(Error::new(Code::QuotaExceeded, text, "remove one that is not used any more"))
}

fn check(new: &NewStackPlugin) -> Result<(), Error> {
    let mut problems = new.place.problems("/place");
    let file = match &new.source {
        StackPluginSource::Executable { file, .. } => file,
        StackPluginSource::Lua(bundle) => &bundle.name,
    };
    let is_file = (1..=FILE_MAX).contains(&file.len())
        && !file.contains(|c: char| c.is_control() || c == '/');
    if !is_file {
        let text =
            format!("the name of a file has 1 to {FILE_MAX} printable characters without `/`");
        problems.push(Diagnostic::new("/file", text));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}
