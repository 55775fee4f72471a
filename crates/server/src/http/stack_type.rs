//! What stacks can be made of.

use hostler_api::Listing;
use hostler_api::stack_type::{
    StackEditionList, StackEditionView, StackTypeDetailView, StackTypeGet, StackTypeList,
    StackTypeView,
};
use hostler_control::{StackEdition, StackType};
use hostler_model::Error;

use super::{Answer, App, Call, page};

fn line(StackType { name, of, schema }: StackType) -> StackTypeView {
    StackTypeView { name, of, description: schema.description }
}

fn edition(found: StackEdition) -> StackEditionView {
    let words = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
    StackEditionView {
        key: found.key.to_owned(),
        version: found.version.to_owned(),
        alias: found.alias.map(str::to_owned),
        functions: words(found.functions),
        conditions: words(found.conditions),
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<StackTypeList>,
) -> Result<Answer<Listing<StackTypeView>>, Error> {
    let after = page::after(call.query.cursor.as_deref())?;
    let limit = page::limit(call.query.limit)?;
    let wanted = call.query.name.as_deref().unwrap_or_default().to_lowercase();
    let is_meant = |name: &str| name.to_lowercase().contains(&wanted);
    let mut found = app.control().stack_types(call.project(), is_meant, None, None).await?;
    found.sort_by(|a, b| a.name.cmp(&b.name));
    let found = page::part(found, after.as_deref(), limit, |one| one.name.clone())?;
    Ok(Answer::new(page::listing(found, line)))
}

pub(crate) async fn get(
    app: App,
    call: Call<StackTypeGet>,
) -> Result<Answer<StackTypeDetailView>, Error> {
    let StackType { name, of, schema } =
        app.control().stack_type(call.project(), &call.path.kind).await?;
    Ok(Answer::new(StackTypeDetailView {
        name,
        of,
        schema: schema.describe(),
        template: schema.to_template(true),
        description: schema.description,
    }))
}

pub(crate) async fn editions(
    app: App,
    _: Call<StackEditionList>,
) -> Result<Answer<Listing<StackEditionView>>, Error> {
    Ok(Answer::new(page::whole(app.control().stack_editions(), edition)))
}
