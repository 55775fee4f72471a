//! Logging in at an identity provider, and which identities there are whose.

use hostler_api::oidc::{
    OidcBegin, OidcBegunView, OidcFinish, OidcShow, OidcView, UserIdentityAdd, UserIdentityList,
    UserIdentityRemove, UserIdentityView,
};
use hostler_api::session::LoginView;
use hostler_api::{Listing, Nothing};
use hostler_model::{Error, UserIdentity};

use super::session::{control_kind, granted};
use super::{Answer, App, Call, PublicCall, page};

pub(crate) async fn show(app: App, _: PublicCall<OidcShow>) -> Result<Answer<OidcView>, Error> {
    let label = app.control().config().oidc.as_ref().map(|config| config.label.clone());
    Ok(Answer::new(OidcView { label }))
}

pub(crate) async fn begin(
    app: App,
    _: PublicCall<OidcBegin>,
) -> Result<Answer<OidcBegunView>, Error> {
    let begun = app.control().oidc_begin().await?;
    Ok(Answer::new(OidcBegunView { url: begun.url, ticket: begun.ticket }))
}

pub(crate) async fn finish(
    app: App,
    call: PublicCall<OidcFinish>,
) -> Result<Answer<LoginView>, Error> {
    let (body, kind) = (&call.body, control_kind(call.body.kind));
    let finished =
        app.control().oidc_finish(&call.request, &body.ticket, &body.state, &body.code, kind);
    Ok(granted(&app, Box::pin(finished).await?))
}

pub(crate) async fn list(
    app: App,
    call: Call<UserIdentityList>,
) -> Result<Answer<Listing<UserIdentityView>>, Error> {
    let identities = app.control().user_identity_list(&call.cx, &call.path.user).await?;
    Ok(Answer::new(page::whole(identities, view)))
}

pub(crate) async fn add(
    app: App,
    call: Call<UserIdentityAdd>,
) -> Result<Answer<UserIdentityView>, Error> {
    let (user, subject) = (&call.path.user, &call.body.subject);
    Ok(Answer::new(view(app.control().user_identity_add(&call.cx, user, subject).await?)))
}

pub(crate) async fn remove(
    app: App,
    call: Call<UserIdentityRemove>,
) -> Result<Answer<Nothing>, Error> {
    let (user, body) = (&call.path.user, &call.body);
    app.control().user_identity_remove(&call.cx, user, &body.issuer, &body.subject).await?;
    Ok(Answer::new(Nothing {}))
}

fn view(identity: UserIdentity) -> UserIdentityView {
    UserIdentityView {
        issuer: identity.issuer,
        subject: identity.subject,
        email: identity.email,
        time_created: identity.time_created,
        time_last_used: identity.time_last_used,
    }
}
