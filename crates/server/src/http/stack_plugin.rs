//! Plugins of stacks.

use hostler_api::stack_plugin::{
    StackPluginGet, StackPluginList, StackPluginPush, StackPluginRemove, StackPluginTypeView,
    StackPluginVersionList, StackPluginView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{Bundle, NewStackPlugin, StackPluginDetail, StackPluginSource};
use hostler_model::stack::PluginType;
use hostler_model::{Diagnostic, Error};

use super::{Answer, App, Call, page};

fn view(StackPluginDetail { plugin, created_by }: StackPluginDetail) -> StackPluginView {
    let of_type = |(name, it): (String, PluginType)| {
        let told = StackPluginTypeView {
            description: it.description,
            properties: it.properties.into_keys().collect(),
            attributes: it.attributes.into_keys().collect(),
            verbs: it.verbs,
        };
        (name, told)
    };
    StackPluginView {
        name: plugin.name.to_string(),
        version: plugin.version,
        kind: plugin.kind,
        file: plugin.file,
        artefact: plugin.artefact,
        types: plugin.manifest.types.into_iter().map(of_type).collect(),
        place: plugin.place,
        created_by,
        time_created: plugin.time_created,
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<StackPluginList>,
) -> Result<Answer<Listing<StackPluginView>>, Error> {
    let after = page::after(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let found = app.control().stack_plugin_list(call.project(), after.as_deref(), limit).await?;
    Ok(Answer::new(page::listing(found, view)))
}

pub(crate) async fn push(
    app: App,
    call: Call<StackPluginPush>,
) -> Result<Answer<StackPluginView>, Error> {
    let body = call.body.clone();
    let source = match (body.executable, body.lua) {
        (Some(it), None) => StackPluginSource::Executable { file: it.file, blob: it.blob },
        (None, Some(given)) => StackPluginSource::Lua(Bundle {
            name: given.name,
            text: given.text,
            files: given.files,
        }),
        _ => {
            let text = "give either `executable` or `lua`";
            return Err(Error::invalid(vec![Diagnostic::new("", text)]));
        }
    };
    let new = NewStackPlugin { name: body.name, source, place: body.place };
    let kept = Box::pin(app.control().stack_plugin_push(&call.cx, call.project(), new)).await?;
    Ok(Answer::new(view(kept)))
}

pub(crate) async fn get(
    app: App,
    call: Call<StackPluginGet>,
) -> Result<Answer<StackPluginView>, Error> {
    let (name, version) = (&call.path.plugin, call.query.version);
    Ok(Answer::new(view(app.control().stack_plugin_get(call.project(), name, version).await?)))
}

pub(crate) async fn versions(
    app: App,
    call: Call<StackPluginVersionList>,
) -> Result<Answer<Listing<StackPluginView>>, Error> {
    let after = page::after(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let name = &call.path.plugin;
    let control = app.control();
    let found =
        control.stack_plugin_versions(call.project(), name, after.as_deref(), limit).await?;
    Ok(Answer::new(page::listing(found, view)))
}

pub(crate) async fn remove(
    app: App,
    call: Call<StackPluginRemove>,
) -> Result<Answer<Nothing>, Error> {
    let (name, version) = (&call.path.plugin, call.query.version);
    app.control().stack_plugin_remove(&call.cx, call.project(), name, version).await?;
    Ok(Answer::new(Nothing {}))
}
