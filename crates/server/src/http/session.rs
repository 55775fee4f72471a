//! Getting in and out.

use hostler_api::session::{
    Login, LoginKind, LoginView, Logout, PasswordChange, Setup, WebSessionEnd, WebSessionList,
    WebSessionView, Whoami, WhoamiView,
};
use hostler_api::{Listing, Nothing, SESSION_COOKIE};
use hostler_control::LoginGrant;
use hostler_model::{Code, Error, Timestamp};
use hostler_trust::SecretString;

use super::gate::Gate;
use super::{Answer, App, Call, PublicCall, page, view};

pub(crate) async fn setup(app: App, call: PublicCall<Setup>) -> Result<Answer<LoginView>, Error> {
    let body = call.body;
    let password = SecretString::new(body.password);
    let kind = control_kind(body.kind);
    let grant = app.control().setup(&call.request, &body.code, body.name, &password, kind).await?;
    Ok(granted(&app, grant))
}

pub(crate) async fn login(app: App, call: PublicCall<Login>) -> Result<Answer<LoginView>, Error> {
    let body = call.body;
    let password = SecretString::new(body.password);
    let (limits, now) = (app.limits(), app.clock().instant());
    limits.account_check(&body.name, now)?;
    let result =
        app.control().login(&call.request, &body.name, &password, control_kind(body.kind)).await;
    match result {
        Ok(grant) => Ok(granted(&app, grant)),
        Err(error) => {
            if error.code == Code::Unauthenticated {
                limits.account_failed(&body.name, now);
            }
            Err(error)
        }
    }
}

fn control_kind(kind: LoginKind) -> hostler_control::LoginKind {
    match kind {
        LoginKind::Cookie => hostler_control::LoginKind::Cookie,
        LoginKind::Token => hostler_control::LoginKind::Token,
    }
}

fn granted(app: &App, grant: LoginGrant) -> Answer<LoginView> {
    let view = |token, csrf_token| LoginView {
        name: grant.principal.name.clone(),
        token,
        csrf_token,
        time_expires: grant.time_expires,
    };
    match grant.kind {
        hostler_control::LoginKind::Token => {
            Answer::new(view(Some(grant.secret.expose().to_owned()), None))
        }
        hostler_control::LoginKind::Cookie => {
            let csrf = app.csrf_token(&grant.secret);
            let cookie = cookie(grant.secret.expose(), grant.time_expires, app.clock().now());
            Answer::new(view(None, Some(csrf))).with_cookie(cookie)
        }
    }
}

fn cookie(value: &str, expires: Timestamp, now: Timestamp) -> String {
    let seconds = expires.since(now).as_secs();
    format!(
        "{SESSION_COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; Secure; SameSite=Strict"
    )
}

pub(crate) async fn logout(app: App, call: Call<Logout>) -> Result<Answer<Nothing>, Error> {
    app.control().logout(&call.cx).await?;
    let answer = Answer::new(Nothing {});
    let now = app.clock().now();
    Ok(match call.presented.session() {
        Some(_) => answer.with_cookie(cookie("", now, now)),
        None => answer,
    })
}

pub(crate) async fn whoami(app: App, call: Call<Whoami>) -> Result<Answer<WhoamiView>, Error> {
    let csrf = call.presented.session().map(|session| app.csrf_token(session));
    Ok(Answer::new(view::whoami(&call.cx.caller, csrf)))
}

pub(crate) async fn password_change(
    app: App,
    call: Call<PasswordChange>,
) -> Result<Answer<Nothing>, Error> {
    let account = call.cx.caller.name.to_string();
    let (limits, now) = (app.limits(), app.clock().instant());
    limits.account_check(&account, now)?;
    let (current, new) = (SecretString::new(call.body.current), SecretString::new(call.body.new));
    let result = app.control().password_change(&call.cx, &current, &new).await;
    if result.is_err() {
        limits.account_failed(&account, now);
    }
    result.map(|()| Answer::new(Nothing {}))
}

pub(crate) async fn list(
    app: App,
    call: Call<WebSessionList>,
) -> Result<Answer<Listing<WebSessionView>>, Error> {
    let sessions = app.control().web_session_list(&call.cx).await?;
    Ok(Answer::new(page::whole(sessions, |session| view::web_session(session, &call.cx.caller))))
}

pub(crate) async fn end(app: App, call: Call<WebSessionEnd>) -> Result<Answer<Nothing>, Error> {
    let given = &call.path.session;
    let id = given.parse().map_err(|_| Error::not_found("session", given))?;
    app.control().web_session_end(&call.cx, id).await?;
    Ok(Answer::new(Nothing {}))
}
