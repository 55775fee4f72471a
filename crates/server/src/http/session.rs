//! Getting in and out.

use hostler_api::session::{
    Login, LoginKind, LoginView, Logout, PasswordChange, SessionsEndedView, Setup, UserSessionEnd,
    UserSessionEndAll, UserSessionList, WebSessionEnd, WebSessionEndOthers, WebSessionList,
    WebSessionView, Whoami, WhoamiView,
};
use hostler_api::{Listing, Nothing, SESSION_COOKIE};
use hostler_control::{LoginGrant, Rekeyed, SessionsEnded};
use hostler_model::{Error, Timestamp, WebSessionId};
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
    let code = body.code.map(SecretString::new);
    let (name, kind) = (&body.name, control_kind(body.kind));
    let grant = app.control().login(&call.request, name, &password, code.as_ref(), kind).await?;
    Ok(granted(&app, grant))
}

pub(super) fn control_kind(kind: LoginKind) -> hostler_control::LoginKind {
    match kind {
        LoginKind::Cookie => hostler_control::LoginKind::Cookie,
        LoginKind::Token => hostler_control::LoginKind::Token,
    }
}

pub(super) fn granted(app: &App, grant: LoginGrant) -> Answer<LoginView> {
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

/// Gives the browser the new secret of its session, where there is one.
pub(super) fn with_rekeyed<T>(app: &App, answer: Answer<T>, rekeyed: Option<Rekeyed>) -> Answer<T> {
    match rekeyed {
        Some(rekeyed) => {
            let now = app.clock().now();
            answer.with_cookie(cookie(rekeyed.secret.expose(), rekeyed.time_expires, now))
        }
        None => answer,
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
    let mut who = view::whoami(&call.cx.caller, csrf);
    who.second_factor = app.control().second_factor_show(&call.cx).await?.state;
    let ids: Vec<_> = who.projects.iter().map(|role| role.project).collect();
    let names = app.control().project_names(&ids).await?;
    for (role, name) in who.projects.iter_mut().zip(names) {
        role.name = name;
    }
    Ok(Answer::new(who))
}

pub(crate) async fn password_change(
    app: App,
    call: Call<PasswordChange>,
) -> Result<Answer<Nothing>, Error> {
    let (current, new) = (SecretString::new(call.body.current), SecretString::new(call.body.new));
    let rekeyed = app.control().password_change(&call.cx, &current, &new).await?;
    Ok(with_rekeyed(&app, Answer::new(Nothing {}), rekeyed))
}

pub(crate) async fn list(
    app: App,
    call: Call<WebSessionList>,
) -> Result<Answer<Listing<WebSessionView>>, Error> {
    let sessions = app.control().web_session_list(&call.cx).await?;
    Ok(Answer::new(page::whole(sessions, |session| view::web_session(session, &call.cx.caller))))
}

pub(crate) async fn end(app: App, call: Call<WebSessionEnd>) -> Result<Answer<Nothing>, Error> {
    let id = parsed(&call.path.session)?;
    app.control().web_session_end(&call.cx, id).await?;
    Ok(Answer::new(Nothing {}))
}

fn parsed(given: &str) -> Result<WebSessionId, Error> {
    given.parse().map_err(|_| Error::not_found("session", super::error::shortened(given)))
}

pub(crate) async fn end_others(
    app: App,
    call: Call<WebSessionEndOthers>,
) -> Result<Answer<SessionsEndedView>, Error> {
    Ok(ended(app.control().own_sessions_end(&call.cx).await?))
}

pub(crate) async fn list_of(
    app: App,
    call: Call<UserSessionList>,
) -> Result<Answer<Listing<WebSessionView>>, Error> {
    let sessions = app.control().user_session_list(&call.cx, &call.path.user).await?;
    Ok(Answer::new(page::whole(sessions, |session| view::web_session(session, &call.cx.caller))))
}

pub(crate) async fn end_of(app: App, call: Call<UserSessionEnd>) -> Result<Answer<Nothing>, Error> {
    let id = parsed(&call.path.session)?;
    app.control().user_session_end(&call.cx, &call.path.user, id).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn end_all_of(
    app: App,
    call: Call<UserSessionEndAll>,
) -> Result<Answer<SessionsEndedView>, Error> {
    Ok(ended(app.control().user_sessions_end(&call.cx, &call.path.user).await?))
}

fn ended(ended: SessionsEnded) -> Answer<SessionsEndedView> {
    Answer::new(SessionsEndedView { browsers: ended.browsers, command_lines: ended.command_lines })
}
