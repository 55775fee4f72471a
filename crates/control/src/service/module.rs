//! Modules that are kept, and bringing them to files that ask for them.
//!
//! A module is kept with everything that it needs, and so is a workflow: what it asked for when it was pushed becomes
//! part of its text, in the versions of that moment. Nothing is looked up when it is carried out, so neither a later
//! push nor a removal changes what a kept workflow does.

use std::collections::BTreeMap;

use hostler_lua::{Bundle, Files, Given, Mistakes, ROUNDS, Shelf, is_kept};
use hostler_model::suggest::nearest;
use hostler_model::workflow::{ModuleAsk, ModuleVersion, is_module_name};
use hostler_model::{
    BlobKind, BlobScope, Code, Diagnostic, Digest, Error, EventKind, Limit, ObjectKind, ObjectRef,
    Page, Project, VersionPayload,
};
use serde_json::json;

use super::task::Names;
use super::workflow::{BUNDLE_MAX, seconds};
use crate::{Control, Cx, audit_state};

const FILE_MAX: usize = 256;
/// How deep modules need each other, seen from a workflow.
const DEPTH_MAX: usize = 8;

/// A module to be kept.
#[derive(Clone, Debug)]
pub struct NewModule {
    pub name: String,
    pub bundle: Bundle,
    pub is_strict: bool,
}

/// What became of a module.
#[derive(Clone, Debug, PartialEq)]
pub struct ModulePushed {
    pub module: ModuleDetail,
    pub warnings: Vec<String>,
}

/// A version with who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct ModuleDetail {
    pub version: ModuleVersion,
    pub created_by: String,
}

fn module_object(version: &ModuleVersion) -> ObjectRef {
    ObjectRef::new(ObjectKind::Module, version.id, &version.name)
}

impl Control {
    /// Keeps a module: it gets a version, unless the newest is the same.
    pub async fn module_push(
        &self,
        cx: &Cx,
        project: &Project,
        new: NewModule,
    ) -> Result<ModulePushed, Error> {
        check_module(&new)?;
        check_bundle(&new.bundle)?;
        let now = self.now();
        let given = Given { now: seconds(now), strict: new.is_strict, ..Given::default() };
        let Bundle { name: file, text, files } = new.bundle;
        let work = {
            let (name, file) = (new.name.clone(), file.clone());
            move |files: Box<dyn Files>| hostler_lua::module(&name, &file, &text, files, &given)
        };
        let (bundle, remarks) = self.with_modules(project, files, work).await?;
        check_bundle_size(&bundle)?;
        if bundle.depth() >= DEPTH_MAX {
            let text = format!("modules need each other at most {DEPTH_MAX} deep");
            return Err(Error::invalid(vec![Diagnostic::new("/bundle", text)]));
        }
        let modules = bundle.modules();
        let digest = self.bundle_keep(cx, project, &bundle).await?;
        let fresh = &ModuleVersion {
            id: self.ids.fresh(),
            project_id: project.id,
            name: new.name,
            version: 0,
            bundle: digest,
            file,
            modules,
            created_by: cx.caller.principal_id,
            time_created: now,
        };
        let scope = BlobScope::Project(project.id);
        let version = self
            .store
            .tx("module_push", |tx| {
                Box::pin(async move {
                    let was = tx.module_version_get(project.id, &fresh.name, None).await?;
                    let version = tx.module_version_insert(fresh).await?;
                    if version.id == fresh.id {
                        tx.blob_use(&[(scope, digest, version.id.to_string())], now).await?;
                        let object = module_object(&version);
                        let words = format!("version {}", version.version);
                        let kind = EventKind::ModulePushed;
                        let event = self
                            .event(kind, Some(project.id), &object, cx.actor(), words)
                            .with_payload(VersionPayload {
                                version: Some(version.version),
                                bundle: Some(digest),
                            });
                        let detail = json!({ "version": version.version, "bundle": digest });
                        let was = was.as_ref().map(audit_state::module);
                        let audit = self
                            .audit(cx, "module.push", &object, Some(project.id), detail)
                            .with_states(was.as_ref(), Some(&audit_state::module(&version)));
                        tx.journal_append(&[event], &[audit]).await?;
                    }
                    Ok::<_, Error>(version)
                })
            })
            .await?;
        self.feed.ring();
        let mut read = self.store.read().await?;
        let created_by = Names::default().principal(&mut read, version.created_by).await?;
        let warnings = remarks.iter().map(ToString::to_string).collect();
        Ok(ModulePushed { module: ModuleDetail { version, created_by }, warnings })
    }

    pub async fn module_list(
        &self,
        project: &Project,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ModuleDetail>, Error> {
        let page = self.store.read().await?.module_list(project.id, after, limit).await?;
        self.module_details(page).await
    }

    pub async fn module_versions(
        &self,
        project: &Project,
        name: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ModuleDetail>, Error> {
        self.module_get(project, name, None).await?;
        let mut read = self.store.read().await?;
        let page = read.module_versions(project.id, name, after, limit).await?;
        drop(read);
        self.module_details(page).await
    }

    async fn module_details(&self, page: Page<ModuleVersion>) -> Result<Page<ModuleDetail>, Error> {
        let mut read = self.store.read().await?;
        let mut names = Names::default();
        let mut items = Vec::with_capacity(page.items.len());
        for version in page.items {
            let created_by = names.principal(&mut read, version.created_by).await?;
            items.push(ModuleDetail { version, created_by });
        }
        Ok(Page { items, next: page.next })
    }

    pub async fn module_get(
        &self,
        project: &Project,
        name: &str,
        version: Option<u32>,
    ) -> Result<ModuleDetail, Error> {
        let mut read = self.store.read().await?;
        if let Some(found) = read.module_version_get(project.id, name, version).await? {
            let created_by = Names::default().principal(&mut read, found.created_by).await?;
            return Ok(ModuleDetail { version: found, created_by });
        }
        let newest = read.module_version_get(project.id, name, None).await?;
        if let (Some(newest), Some(version)) = (newest, version) {
            let text = format!("there is no version {version} of the module `{name}`");
            let hint = format!("its newest version is {}", newest.version);
            return Err(Error::new(Code::NotFound, text, hint));
        }
        let all = read.module_list(project.id, None, Limit::LARGEST).await?;
        let meant = nearest(name, all.items.iter().map(|known| known.name.as_str()));
        Err(match meant {
            Some(meant) => Error::new(
                Code::NotFound,
                format!("there is no module `{name}`"),
                format!("did you mean `{meant}`?"),
            ),
            None => Error::not_found("module", name),
        })
    }

    /// A version and its text.
    pub async fn module_source(
        &self,
        project: &Project,
        name: &str,
        version: Option<u32>,
    ) -> Result<(ModuleVersion, Bundle), Error> {
        let found = self.module_get(project, name, version).await?.version;
        let bundle = self.bundle_read(project, found.bundle).await?;
        let bundle = bundle.ok_or_else(|| Error::not_found("text of the module", name))?;
        Ok((found, bundle))
    }

    /// Removes a module with all its versions. What was kept with one of them still has its text.
    pub async fn module_remove(&self, cx: &Cx, project: &Project, name: &str) -> Result<(), Error> {
        let found = self.module_get(project, name, None).await?.version;
        let object = module_object(&found);
        let words = "removed with all its versions";
        let kind = EventKind::ModuleRemoved;
        let event = &[self
            .event(kind, Some(project.id), &object, cx.actor(), words)
            .with_payload(VersionPayload { version: Some(found.version), bundle: None })];
        let audit = &[self
            .audit(cx, "module.remove", &object, Some(project.id), json!({}))
            .with_states(Some(&audit_state::module(&found)), None)];
        self.store
            .tx("module_remove", |tx| {
                Box::pin(async move {
                    if tx.module_remove(project.id, name).await? > 0 {
                        tx.journal_append(event, audit).await?;
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        Ok(())
    }

    /// Runs a file, in a thread of its own because it computes, and brings it the modules of the project that it asks
    /// for, until it has them all.
    pub(crate) async fn with_modules<T: Send + 'static>(
        &self,
        project: &Project,
        files: BTreeMap<String, String>,
        work: impl Fn(Box<dyn Files>) -> Result<T, Mistakes> + Clone + Send + 'static,
    ) -> Result<T, Error> {
        let shelf = Shelf::new(files);
        let mut round = 0;
        loop {
            let (on, run) = (shelf.clone(), work.clone());
            let ran = tokio::task::spawn_blocking(move || run(Box::new(on))).await;
            let ran = ran.map_err(Error::internal)?;
            let mut is_more = false;
            for ask in shelf.asked() {
                let found = self.module_bundle(project, &ask).await?;
                is_more |= found.is_some();
                shelf.put(ask, found.as_ref().map(|(version, bundle)| (*version, bundle)));
                if shelf.size() > BUNDLE_MAX {
                    return Err(too_large());
                }
            }
            round += 1;
            if !is_more || round == ROUNDS {
                return ran.map_err(wrong);
            }
        }
    }

    async fn module_bundle(
        &self,
        project: &Project,
        ask: &ModuleAsk,
    ) -> Result<Option<(u32, Bundle)>, Error> {
        let mut read = self.store.read().await?;
        let found = read.module_version_get(project.id, &ask.name, ask.version).await?;
        drop(read);
        let Some(found) = found else { return Ok(None) };
        let bundle = self.bundle_read(project, found.bundle).await?;
        Ok(bundle.map(|bundle| (found.version, bundle)))
    }

    /// Keeps a text as content of the project.
    pub(crate) async fn bundle_keep(
        &self,
        cx: &Cx,
        project: &Project,
        bundle: &Bundle,
    ) -> Result<Digest, Error> {
        let text = serde_json::to_vec(bundle).map_err(Error::internal)?;
        let scope = BlobScope::Project(project.id);
        let by = Some(cx.caller.principal_id);
        self.blob_of(scope, BlobKind::File, bundle.name.clone(), &text, by).await
    }

    pub(crate) async fn bundle_read(
        &self,
        project: &Project,
        digest: Digest,
    ) -> Result<Option<Bundle>, Error> {
        let scope = BlobScope::Project(project.id);
        let text = self.blob_bytes(scope, digest, 4 * BUNDLE_MAX as u64).await?;
        Ok(text.and_then(|text| serde_json::from_slice(&text).ok()))
    }
}

fn check_module(new: &NewModule) -> Result<(), Error> {
    let mut problems = Vec::new();
    if !is_module_name(&new.name) {
        let text =
            "a module's name has 1 to 128 letters, digits, `_` and `-`, with `.` between them";
        problems.push(Diagnostic::new("/name", text));
    }
    let file = &new.bundle.name;
    let is_file = (1..=FILE_MAX).contains(&file.len())
        && !file.contains(|c: char| c.is_control() || c == '/');
    if !is_file {
        let text =
            format!("the name of a file has 1 to {FILE_MAX} printable characters without `/`");
        problems.push(Diagnostic::new("/bundle/name", text));
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}

/// What is given is text of its own; modules are brought by us.
pub(super) fn check_bundle(bundle: &Bundle) -> Result<(), Error> {
    if bundle.files.keys().any(|name| is_kept(name)) {
        let text = "names of files have no `//`; leave out the modules that the project keeps";
        return Err(Error::invalid(vec![Diagnostic::new("/bundle/files", text)]));
    }
    check_bundle_size(bundle)
}

pub(super) fn check_bundle_size(bundle: &Bundle) -> Result<(), Error> {
    if bundle.size() > BUNDLE_MAX { Err(too_large()) } else { Ok(()) }
}

fn too_large() -> Error {
    let text = format!("a file has at most {BUNDLE_MAX} bytes, with what it imports");
    Error::new(Code::TooLarge, text, "leave out what is not needed")
}

/// Mistakes of a file, each at its place.
pub(super) fn wrong(Mistakes(mistakes, _): Mistakes) -> Error {
    let one = |mistake: &hostler_lua::Mistake| Diagnostic::new("/bundle", mistake.to_string());
    Error::invalid(mistakes.iter().map(one).collect())
}
