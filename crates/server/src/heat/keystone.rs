//! As much of Keystone as clients ask for: a token for a name and a password, and where everything is.
//!
//! A name and a password (and a code, where there is a second factor) give a session of ours, as the login page does: the
//! same counting of guesses, the same entry in the audit trail, the same end after some hours or when nobody uses it, and it
//! is in the list of sessions, where it can be ended. An application credential is an API token: its id and its secret. A
//! token that is shown again, or an application credential, makes nothing new: what is given back is what was presented, so
//! that it ends when that ends. No token says which project it is for; each request names that in its path, and is judged
//! there.
//!
//! There is one domain, called `Default`, which everybody and every project is in. Sessions end by `DELETE`; API tokens do
//! not, so that no client that tidies up after itself takes away what somebody set up.

use hostler_control::Cx;
use hostler_model::{Caller, Credential, Error, Project, Scope, Timestamp};
use hostler_trust::SecretString;
use http::header::VARY;
use serde_json::{Map, Value, json};

use super::call::{Call, Gathering};
use super::door;
use super::fault::Fault;
use super::keystone_view::{self as view, Issued};
use super::mount::SUBJECT;
use super::reply::Reply;
use crate::http::{Gate, Presented};

/// How long what runs may be said to be good for; its identity is made anew before that.
const WORKLOAD_TTL: std::time::Duration = std::time::Duration::from_secs(300);
/// What is said of whoever could not prove to be somebody, or asks for what is not theirs.
const REFUSED: &str = "The request you have made requires authentication.";

pub(super) async fn versions(call: Call) -> Result<Reply, Fault> {
    Ok(Reply::choices(json!({ "versions": { "values": [view::version(&call.here)] } })))
}

pub(super) async fn version(call: Call) -> Result<Reply, Fault> {
    Ok(Reply::ok(json!({ "version": view::version(&call.here) })))
}

/// Somebody who has just proved who they are.
struct Proven {
    secret: SecretString,
    caller: Caller,
    method: Vec<String>,
}

fn refused() -> Fault {
    Fault::unauthorised(REFUSED)
}

fn map<'a>(within: &'a Map<String, Value>, name: &str) -> Result<&'a Map<String, Value>, Fault> {
    let found = within.get(name).and_then(Value::as_object);
    found.ok_or_else(|| Fault::bad(format!("'{name}' is missing, or no map")))
}

fn text<'a>(within: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    within.get(name).and_then(Value::as_str)
}

/// The caller that a secret stands for, from where the request comes.
async fn caller_of(call: &Call, presented: &Presented) -> Result<Caller, Fault> {
    let caller = presented.caller(call.app()).await.map_err(|_| refused())?;
    match caller.may_come_from(call.request.source.parse().ok()) {
        true => Ok(caller),
        false => Err(refused()),
    }
}

async fn by_password(call: &Call, identity: &Map<String, Value>) -> Result<Proven, Fault> {
    let user = map(map(identity, "password")?, "user")?;
    let given = text(user, "password").unwrap_or_default();
    let name = match (text(user, "name"), text(user, "id")) {
        (Some(name), _) => name.to_owned(),
        (None, Some(id)) => name_of(call, id).await?,
        (None, None) => return Err(Fault::bad("the user has neither a name nor an id")),
    };
    let code = match identity.get("totp") {
        None => None,
        Some(_) => text(map(map(identity, "totp")?, "user")?, "passcode").map(SecretString::new),
    };
    let methods = ["password", "totp"].into_iter().take(if code.is_some() { 2 } else { 1 });
    let (password, kind) = (SecretString::new(given), hostler_control::LoginKind::Cookie);
    let (control, request) = (call.control(), &call.request);
    let grant = control.login(request, &name, &password, code.as_ref(), kind).await?;
    let presented = Presented::Session(grant.secret.clone());
    let caller = caller_of(call, &presented).await?;
    let method = methods.map(str::to_owned).collect();
    Ok(Proven { secret: grant.secret, caller, method })
}

/// Who an id is of; for nobody the id, which is nobody's name.
async fn name_of(call: &Call, id: &str) -> Result<String, Fault> {
    let Ok(known) = id.parse() else { return Ok(id.to_owned()) };
    let mut read = call.control().store().read().await.map_err(Error::from)?;
    let found = read.principal_get(known).await.map_err(Error::from)?;
    Ok(found.map_or_else(|| id.to_owned(), |principal| principal.name.to_string()))
}

async fn by_token(call: &Call, identity: &Map<String, Value>) -> Result<Proven, Fault> {
    let secret = text(map(identity, "token")?, "id").ok_or_else(refused)?;
    let caller = caller_of(call, &door::of_secret(secret)).await?;
    let method = vec!["token".to_owned()];
    Ok(Proven { secret: SecretString::new(secret), caller, method })
}

async fn by_credential(call: &Call, identity: &Map<String, Value>) -> Result<Proven, Fault> {
    let given = map(identity, "application_credential")?;
    let secret = SecretString::new(text(given, "secret").ok_or_else(refused)?);
    let caller = caller_of(call, &Presented::Token(secret.clone())).await?;
    let Credential::Token { id, .. } = &caller.credential else { return Err(refused()) };
    let is_it = match text(given, "id") {
        Some(known) => known == id.to_string(),
        None => {
            let cx = Cx { caller: caller.clone(), request: call.request.clone() };
            let token = call.control().token_get(&cx, *id).await?.token;
            let user = map(given, "user")?;
            let is_own = text(user, "name") == Some(caller.name.as_str())
                || text(user, "id") == Some(caller.principal_id.to_string().as_str());
            is_own && text(given, "name") == Some(token.name.as_str())
        }
    };
    if !is_it {
        return Err(refused());
    }
    let method = vec!["application_credential".to_owned()];
    Ok(Proven { secret, caller, method })
}

pub(super) async fn login(call: Call) -> Result<Reply, Fault> {
    let body = call.map()?;
    let auth = map(&body, "auth")?;
    let identity = map(auth, "identity")?;
    let methods = identity.get("methods").and_then(Value::as_array).cloned().unwrap_or_default();
    let has = |name: &str| methods.iter().any(|method| method.as_str() == Some(name));
    let proven = if has("password") {
        by_password(&call, identity).await?
    } else if has("application_credential") {
        by_credential(&call, identity).await?
    } else if has("token") {
        by_token(&call, identity).await?
    } else {
        return Err(Fault::unauthorised(
            "there are the methods password (with totp), token and application_credential",
        ));
    };
    let project = project_of(&call, &proven.caller, auth.get("scope")).await?;
    let cx = Cx { caller: proven.caller, request: call.request.clone() };
    let issued = issued(&call, &cx, proven.method, project).await?;
    Ok(Reply::created(view::token(&call, &cx.caller, &issued))
        .with(SUBJECT, proven.secret.expose())
        .with(VARY, "X-Auth-Token"))
}

/// The project that a token is asked for. Where none is named: the caller's only one, or the default one, if there.
async fn project_of(
    call: &Call,
    caller: &Caller,
    scope: Option<&Value>,
) -> Result<Option<Project>, Fault> {
    let named = match scope {
        None | Some(Value::Null) => return default_of(call, caller).await,
        Some(Value::Object(scope)) if scope.contains_key("unscoped") => return Ok(None),
        Some(Value::Object(scope)) if scope.contains_key("project") => map(scope, "project")?,
        Some(Value::String(word)) if word == "unscoped" => return Ok(None),
        Some(_) => {
            return Err(Fault::forbidden(
                "tokens are for a project here, not for a domain or the system",
            ));
        }
    };
    let given = text(named, "id").or_else(|| text(named, "name")).ok_or_else(refused)?;
    visible(call, caller, given).await.map(Some).map_err(|_| refused())
}

async fn visible(call: &Call, caller: &Caller, given: &str) -> Result<Project, Fault> {
    let project = call.control().project_resolve(given).await?;
    match caller.sees(Scope::Project(project.id)) {
        true => Ok(project),
        false => Err(Fault::missing("project", given)),
    }
}

async fn default_of(call: &Call, caller: &Caller) -> Result<Option<Project>, Fault> {
    if let Some([only]) = caller.visible_projects().as_deref() {
        return Ok(call.control().project_resolve(&only.to_string()).await.ok());
    }
    Ok(visible(call, caller, hostler_model::DEFAULT_PROJECT).await.ok())
}

/// What is told of a credential, and until when it is good.
async fn issued(
    call: &Call,
    cx: &Cx,
    methods: Vec<String>,
    project: Option<Project>,
) -> Result<Issued, Fault> {
    let now = call.control().clock().now();
    let (id, begun, ends): (String, Timestamp, Timestamp) = match &cx.caller.credential {
        Credential::WebSession(id) => {
            let sessions = call.control().web_session_list(cx).await?;
            let found = sessions.into_iter().find(|session| session.id == *id);
            let session = found.ok_or_else(refused)?;
            (id.to_string(), session.time_created, session.time_expires)
        }
        Credential::Token { id, .. } => {
            let token = call.control().token_get(cx, *id).await?.token;
            let ends = token.time_expires.unwrap_or_else(|| now.plus(TOKEN_TTL));
            (id.to_string(), token.time_created, ends)
        }
        Credential::Workload(run) => (run.run_id.to_string(), now, now.plus(WORKLOAD_TTL)),
    };
    Ok(Issued { id, methods, begun, ends, project })
}

/// What is said of a token that never ends.
const TOKEN_TTL: std::time::Duration = std::time::Duration::from_secs(10 * 365 * 86_400);

/// The token that a request is about, which has to be of whoever asks.
async fn subject(call: &Call) -> Result<(SecretString, Cx), Fault> {
    let secret = call.subject.clone().ok_or_else(|| Fault::bad("X-Subject-Token is missing"))?;
    let missing = || Fault::nothing("Could not find token.");
    let caller = caller_of(call, &door::of_secret(secret.expose())).await.map_err(|_| missing())?;
    if caller.principal_id != call.cx().caller.principal_id {
        return Err(missing());
    }
    Ok((secret, Cx { caller, request: call.request.clone() }))
}

pub(super) async fn token(call: Call) -> Result<Reply, Fault> {
    let (secret, cx) = subject(&call).await?;
    let project = default_of(&call, &cx.caller).await?;
    let issued = issued(&call, &cx, vec!["token".to_owned()], project).await?;
    Ok(Reply::ok(view::token(&call, &cx.caller, &issued))
        .with(SUBJECT, secret.expose())
        .with(VARY, "X-Auth-Token"))
}

pub(super) async fn revoke(call: Call) -> Result<Reply, Fault> {
    let (_, cx) = subject(&call).await?;
    match &cx.caller.credential {
        Credential::WebSession(id) => {
            call.control().web_session_end(call.cx(), *id).await?;
            Ok(Reply::nothing())
        }
        Credential::Token { .. } | Credential::Workload(_) => Err(Fault::forbidden(
            "this is an API token, which is not made here: revoke it with `hostler token rm`",
        )),
    }
}

pub(super) async fn catalog(call: Call) -> Result<Reply, Fault> {
    let project = default_of(&call, &call.cx().caller).await?;
    let link = format!("{}/auth/catalog", call.here.identity());
    Ok(Reply::ok(json!({
        "catalog": view::catalog(&call, project.as_ref()),
        "links": { "self": link, "next": Value::Null, "previous": Value::Null },
    })))
}

/// The projects that the caller may know of.
pub(super) async fn projects(call: Call) -> Result<Reply, Fault> {
    call.app().check_proven(&call.cx().caller)?;
    let (control, cx) = (call.control(), call.cx());
    let mut found = Gathering::new(None, None);
    while let Some((after, step)) = found.next() {
        let page = control.project_list(cx, after, step).await?;
        found.take(page);
    }
    let mut all = found.all();
    if let Some(name) = call.query.get("name") {
        all.retain(|project| project.name.as_str() == name);
    }
    let projects: Vec<Value> = all.iter().map(|one| view::project(&call.here, one)).collect();
    let link = format!("{}/projects", call.here.identity());
    Ok(Reply::ok(json!({
        "projects": projects,
        "links": { "self": link, "next": Value::Null, "previous": Value::Null },
    })))
}

pub(super) async fn project(call: Call) -> Result<Reply, Fault> {
    call.app().check_proven(&call.cx().caller)?;
    let given = call.part("named");
    let missing = |_| Fault::nothing(format!("Could not find project: {given}."));
    let found = visible(&call, &call.cx().caller, given).await.map_err(missing)?;
    Ok(Reply::ok(json!({ "project": view::project(&call.here, &found) })))
}
