//! Invitations and password resets.

use hostler_api::invitation::{
    InvitationAccept, InvitationCreate, InvitationCreateBody, InvitationCreatedView,
    InvitationList, InvitationOfferView, InvitationRevoke, InvitationShow, InvitationView,
    PasswordResetIssue, PasswordResetUse, PasswordResetUsedView, PasswordResetView,
    ProjectInvitationCreate, ProjectInvitationList, ProjectInvitationRevoke,
};
use hostler_api::session::LoginView;
use hostler_api::{Listing, Nothing, PageQuery};
use hostler_control::{Cx, InvitationDetail, NewInvitation};
use hostler_model::{Error, InvitationId, Project, Timestamp};
use hostler_trust::{Link, SecretString, SecretToken};

use super::gate::Gate;
use super::gather::Gather;
use super::session::{control_kind, granted};
use super::{Answer, App, Call, PublicCall};

pub(crate) async fn list(
    app: App,
    call: Call<InvitationList>,
) -> Result<Answer<Listing<InvitationView>>, Error> {
    listed(&app, &call.cx, None, &call.query).await
}

pub(crate) async fn project_list(
    app: App,
    call: Call<ProjectInvitationList>,
) -> Result<Answer<Listing<InvitationView>>, Error> {
    listed(&app, &call.cx, Some(call.project()), &call.query).await
}

async fn listed(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    query: &PageQuery,
) -> Result<Answer<Listing<InvitationView>>, Error> {
    let mut list = Gather::of::<InvitationList>(query)?;
    let now = app.clock().now();
    while let Some(ask) = list.ask() {
        let found = app.control().invitation_list(cx, project, ask.after(), ask.limit).await?;
        list.take(found, |detail| view(detail, now))?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn create(
    app: App,
    call: Call<InvitationCreate>,
) -> Result<Answer<InvitationCreatedView>, Error> {
    created(&app, &call.cx, None, call.body).await
}

pub(crate) async fn project_create(
    app: App,
    call: Call<ProjectInvitationCreate>,
) -> Result<Answer<InvitationCreatedView>, Error> {
    created(&app, &call.cx, Some(call.project()), call.body.clone()).await
}

async fn created(
    app: &App,
    cx: &Cx,
    project: Option<&Project>,
    body: InvitationCreateBody,
) -> Result<Answer<InvitationCreatedView>, Error> {
    let new = NewInvitation { role: body.role, name: body.name, email: body.email, ttl: body.ttl };
    let (detail, secret) = app.control().invitation_create(cx, project, new).await?;
    Ok(Answer::new(InvitationCreatedView {
        invitation: view(detail, app.clock().now()),
        link: link(app, secret),
    }))
}

/// Where the secret is opened; it stands in the fragment, which nobody sends.
fn link(app: &App, token: SecretToken) -> String {
    let link = Link {
        address: format!("https://{}", app.api_address()),
        token,
        authority: app.control().authority().fingerprint(),
    };
    link.encode().expose().to_owned()
}

pub(crate) async fn revoke(
    app: App,
    call: Call<InvitationRevoke>,
) -> Result<Answer<Nothing>, Error> {
    let id = parsed(&call.path.invitation)?;
    app.control().invitation_revoke(&call.cx, None, id).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn project_revoke(
    app: App,
    call: Call<ProjectInvitationRevoke>,
) -> Result<Answer<Nothing>, Error> {
    let id = parsed(&call.path.invitation)?;
    app.control().invitation_revoke(&call.cx, Some(call.project()), id).await?;
    Ok(Answer::new(Nothing {}))
}

fn parsed(given: &str) -> Result<InvitationId, Error> {
    given.parse().map_err(|_| Error::not_found("invitation", super::error::shortened(given)))
}

pub(crate) async fn show(
    app: App,
    call: PublicCall<InvitationShow>,
) -> Result<Answer<InvitationOfferView>, Error> {
    let detail = app.control().invitation_look(&call.body.invitation).await?;
    Ok(Answer::new(InvitationOfferView {
        role: detail.invitation.role,
        project: detail.project,
        name: detail.invitation.user_name,
        created_by: detail.created_by,
        time_expires: detail.invitation.time_expires,
    }))
}

pub(crate) async fn accept(
    app: App,
    call: PublicCall<InvitationAccept>,
) -> Result<Answer<LoginView>, Error> {
    let body = call.body;
    let password = SecretString::new(body.password);
    let kind = control_kind(body.kind);
    let accepted = app.control().invitation_accept(
        &call.request,
        &body.invitation,
        body.name,
        &password,
        kind,
    );
    Ok(granted(&app, accepted.await?))
}

pub(crate) async fn reset_issue(
    app: App,
    call: Call<PasswordResetIssue>,
) -> Result<Answer<PasswordResetView>, Error> {
    let (reset, user, secret) =
        app.control().password_reset_issue(&call.cx, &call.path.user, call.body.ttl).await?;
    let link = link(&app, secret);
    Ok(Answer::new(PasswordResetView { user, link, time_expires: reset.time_expires }))
}

pub(crate) async fn reset_use(
    app: App,
    call: PublicCall<PasswordResetUse>,
) -> Result<Answer<PasswordResetUsedView>, Error> {
    let password = SecretString::new(call.body.password);
    let used = app.control().password_reset_use(&call.request, &call.body.reset, &password);
    Ok(Answer::new(PasswordResetUsedView { user: used.await? }))
}

fn view(detail: InvitationDetail, now: Timestamp) -> InvitationView {
    let invitation = detail.invitation;
    InvitationView {
        id: invitation.id,
        role: invitation.role,
        project: detail.project,
        state: invitation.state(now),
        name: invitation.user_name,
        email: invitation.email,
        created_by: detail.created_by,
        used_by: detail.used_by,
        time_created: invitation.time_created,
        time_expires: invitation.time_expires,
    }
}
