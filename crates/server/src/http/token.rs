//! API tokens.

use hostler_api::token::{
    TokenCreate, TokenCreatedView, TokenGet, TokenList, TokenRevoke, TokenView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::NewToken;
use hostler_model::{Error, TokenId};

use super::gather::Gather;
use super::{Answer, App, Call, view};

pub(crate) async fn list(
    app: App,
    call: Call<TokenList>,
) -> Result<Answer<Listing<TokenView>>, Error> {
    let mut list = Gather::of::<TokenList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let tokens = app.control().token_list(&call.cx, ask.after(), ask.limit).await?;
        list.take(tokens, view::token)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn create(
    app: App,
    call: Call<TokenCreate>,
) -> Result<Answer<TokenCreatedView>, Error> {
    let body = call.body;
    let projects = match (body.project, body.projects) {
        (Some(one), several) => Some(several.into_iter().flatten().chain([one]).collect()),
        (None, several) => several,
    };
    let new = NewToken {
        name: body.name,
        user: body.user,
        role: body.role,
        projects,
        can: body.can,
        sources: body.from,
        ttl: body.ttl,
    };
    let (detail, secret) = app.control().token_create(&call.cx, new).await?;
    let location = format!("/api/v1/tokens/{}", detail.token.id);
    let created =
        TokenCreatedView { token: view::token(detail), secret: secret.expose().to_owned() };
    Ok(Answer::new(created).with_location(location))
}

pub(crate) async fn get(app: App, call: Call<TokenGet>) -> Result<Answer<TokenView>, Error> {
    let detail = app.control().token_get(&call.cx, id(&call.path.token)?).await?;
    Ok(Answer::new(view::token(detail)))
}

pub(crate) async fn revoke(app: App, call: Call<TokenRevoke>) -> Result<Answer<Nothing>, Error> {
    app.control().token_revoke(&call.cx, id(&call.path.token)?).await?;
    Ok(Answer::new(Nothing {}))
}

fn id(given: &str) -> Result<TokenId, Error> {
    given.parse().map_err(|_| Error::not_found("token", given))
}
