//! Modules that projects keep.

use hostler_api::module::{
    ModuleGet, ModuleList, ModulePush, ModulePushed, ModuleRemove, ModuleSource, ModuleText,
    ModuleVersionList, ModuleView,
};
use hostler_api::workflow::WorkflowBundle;
use hostler_api::{Listing, Nothing};
use hostler_control::{Bundle, ModuleDetail, NewModule};
use hostler_model::Error;

use super::gather::Gather;
use super::{Answer, App, Call};

fn module(ModuleDetail { version, created_by }: ModuleDetail) -> ModuleView {
    ModuleView {
        name: version.name,
        version: version.version,
        bundle: version.bundle,
        file: version.file,
        modules: version.modules,
        created_by,
        time_created: version.time_created,
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<ModuleList>,
) -> Result<Answer<Listing<ModuleView>>, Error> {
    let mut list = Gather::of::<ModuleList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let found = app.control().module_list(call.project(), ask.after(), ask.limit).await?;
        list.take(found, module)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn push(app: App, call: Call<ModulePush>) -> Result<Answer<ModulePushed>, Error> {
    let given = call.body.bundle.clone();
    let bundle = Bundle { name: given.name, text: given.text, files: given.files };
    let new = NewModule { name: call.body.name.clone(), bundle, is_strict: call.body.strict };
    let pushed = app.control().module_push(&call.cx, call.project(), new).await?;
    Ok(Answer::new(ModulePushed { module: module(pushed.module), warnings: pushed.warnings }))
}

pub(crate) async fn get(app: App, call: Call<ModuleGet>) -> Result<Answer<ModuleView>, Error> {
    let (name, version) = (&call.path.module, call.query.version);
    Ok(Answer::new(module(app.control().module_get(call.project(), name, version).await?)))
}

pub(crate) async fn source(
    app: App,
    call: Call<ModuleSource>,
) -> Result<Answer<ModuleText>, Error> {
    let (name, version) = (&call.path.module, call.query.version);
    let (found, bundle) = app.control().module_source(call.project(), name, version).await?;
    let Bundle { name, text, files } = bundle;
    let bundle = WorkflowBundle { name, text, files };
    Ok(Answer::new(ModuleText { name: found.name, version: found.version, bundle }))
}

pub(crate) async fn versions(
    app: App,
    call: Call<ModuleVersionList>,
) -> Result<Answer<Listing<ModuleView>>, Error> {
    let mut list = Gather::of::<ModuleVersionList>(&call.query)?;
    let (control, name) = (app.control(), &call.path.module);
    while let Some(ask) = list.ask() {
        let found = control.module_versions(call.project(), name, ask.after(), ask.limit).await?;
        list.take(found, module)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn remove(app: App, call: Call<ModuleRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().module_remove(&call.cx, call.project(), &call.path.module).await?;
    Ok(Answer::new(Nothing {}))
}
