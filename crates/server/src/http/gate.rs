//! Who is calling, and may they: asked once per request, before its body is read.
//!
//! A caller proves itself by a Bearer token or by the session cookie, never by both. A cookie alone
//! is not enough for a change: the request must also carry the CSRF token and come from our own
//! pages, because browsers send cookies along with requests that other sites make.
//!
//! A project that the caller may do nothing in does not exist for it: the answer is the same as for a
//! name that was never used. Streams keep what was presented ([`Presented`]) and ask again while they
//! live, so that revoking a credential ends them.

use std::future::Future;
use std::net::IpAddr;

use hostler_api::{Access, CSRF_HEADER, SESSION_COOKIE};
use hostler_base::Clock;
use hostler_model::{Caller, Code, Error, Need, Permission, Project, Scope};
use hostler_trust::SecretString;
use hostler_trust::secret::constant_time_eq;
use http::header::{AUTHORIZATION, COOKIE, HOST, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::error::malformed;
use super::limit::Limits;

/// What mounting needs to know about the application.
pub trait Gate: Clone + Send + Sync + 'static {
    fn caller_by_token(
        &self,
        secret: &SecretString,
    ) -> impl Future<Output = Result<Caller, Error>> + Send;
    fn caller_by_session(
        &self,
        secret: &SecretString,
    ) -> impl Future<Output = Result<Caller, Error>> + Send;
    /// The CSRF token that belongs to a session.
    fn csrf_token(&self, session: &SecretString) -> String;
    fn authorise(&self, caller: &Caller, need: Need) -> Result<(), Error>;
    /// Refuses a caller who has to prove more before any role counts.
    fn check_proven(&self, caller: &Caller) -> Result<(), Error>;
    fn project_resolve(&self, project: &str)
    -> impl Future<Output = Result<Project, Error>> + Send;
    fn limits(&self) -> &Limits;
    fn clock(&self) -> &Clock;
    /// Resolves when this server begins to stop.
    fn stopping(&self) -> impl Future<Output = ()> + Send;
}

/// The credential a request came with.
#[derive(Clone, Debug)]
pub enum Presented {
    Token(SecretString),
    Session(SecretString),
}

impl Presented {
    /// The session secret, when a browser calls.
    pub fn session(&self) -> Option<&SecretString> {
        match self {
            Presented::Session(secret) => Some(secret),
            Presented::Token(_) => None,
        }
    }

    /// Who it stands for now.
    pub(crate) async fn caller<G: Gate>(&self, gate: &G) -> Result<Caller, Error> {
        match self {
            Presented::Token(secret) => gate.caller_by_token(secret).await,
            Presented::Session(secret) => gate.caller_by_session(secret).await,
        }
    }
}

/// Reads the credential of a request, without asking anybody about it.
pub(crate) fn presented(headers: &HeaderMap) -> Result<Presented, Error> {
    match (bearer(headers)?, session_cookie(headers)?) {
        (Some(_), Some(_)) => {
            Err(malformed("the request carries a token and a session cookie", "send one of them"))
        }
        (Some(token), None) => Ok(Presented::Token(token)),
        (None, Some(cookie)) => Ok(Presented::Session(cookie)),
        (None, None) => Err(Error::unauthenticated("nobody is logged in")),
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<SecretString>, Error> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(malformed("there are two Authorization headers", "send one"));
    }
    let not_bearer = || Error::unauthenticated("the Authorization header is not `Bearer TOKEN`");
    let text = value.to_str().map_err(|_| not_bearer())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(not_bearer)?;
    let token = token.trim();
    if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
        return Err(not_bearer());
    }
    Ok(Some(SecretString::new(token)))
}

fn session_cookie(headers: &HeaderMap) -> Result<Option<SecretString>, Error> {
    let mut found = None;
    for value in headers.get_all(COOKIE) {
        let Ok(text) = value.to_str() else { continue };
        for part in text.split(';') {
            let Some((SESSION_COOKIE, value)) = part.trim().split_once('=') else {
                continue;
            };
            if !value.is_empty() && found.replace(SecretString::new(value)).is_some() {
                return Err(malformed(
                    "the session cookie is there twice",
                    "delete the cookies of this site and log in again",
                ));
            }
        }
    }
    Ok(found)
}

/// Refuses what another site made a browser send.
pub(crate) fn check_browser<G: Gate>(
    gate: &G,
    parts: &Parts,
    session: &SecretString,
) -> Result<(), Error> {
    if is_safe(&parts.method) {
        return match from_own_page(parts) {
            Some(false) => Err(foreign_page()),
            Some(true) | None => Ok(()),
        };
    }
    if from_own_page(parts) != Some(true) {
        return Err(foreign_page());
    }
    let sent = parts.headers.get(CSRF_HEADER).map(http::HeaderValue::as_bytes);
    let expected = gate.csrf_token(session);
    match sent {
        Some(sent) if constant_time_eq(sent, expected.as_bytes()) => Ok(()),
        _ => Err(Error::new(
            Code::Forbidden,
            format!("the `{CSRF_HEADER}` header is missing or wrong"),
            "reload the page; programs should use a token instead of a cookie",
        )),
    }
}

/// For endpoints without a caller: pages of other sites may not use them either.
pub(crate) fn check_public(parts: &Parts) -> Result<(), Error> {
    if !is_safe(&parts.method) && from_own_page(parts) == Some(false) {
        return Err(foreign_page());
    }
    Ok(())
}

fn is_safe(method: &Method) -> bool {
    *method == Method::GET || *method == Method::HEAD
}

fn foreign_page() -> Error {
    Error::new(
        Code::Forbidden,
        "the request does not come from a page of this server",
        "use the dashboard at its own address; programs should use a token instead of a cookie",
    )
}

/// Whether one of our own pages made the request; `None` where the browser does not say.
fn from_own_page(parts: &Parts) -> Option<bool> {
    if let Some(site) = parts.headers.get("sec-fetch-site") {
        let is_own = site == "same-origin" || (site == "none" && is_safe(&parts.method));
        return Some(is_own);
    }
    let origin = parts.headers.get(ORIGIN)?.to_str().unwrap_or_default();
    Some(origin.strip_prefix("https://").is_some_and(|host| {
        !host.is_empty() && host_of(parts).is_some_and(|own| own.eq_ignore_ascii_case(host))
    }))
}

fn host_of(parts: &Parts) -> Option<&str> {
    match parts.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => parts.headers.get(HOST)?.to_str().ok(),
    }
}

/// Refuses a token that is used from somewhere else than it is for.
pub(crate) fn check_source(caller: &Caller, source: Option<IpAddr>) -> Result<(), Error> {
    if caller.may_come_from(source) {
        return Ok(());
    }
    let from = source.map_or_else(|| "an unknown address".to_owned(), |ip| ip.to_string());
    tracing::warn!(user = %caller.name, source = %from, "token used from an address it is not for");
    Err(Error::new(
        Code::Forbidden,
        format!("this token is not for use from {from}"),
        "use it from one of its addresses, or make another with `hostler token create --from`; \
         if it was not you, revoke it with `hostler token rm`",
    ))
}

/// Decides by the endpoint's rule; gives the project where the rule is about one.
pub(crate) async fn authorise<G: Gate>(
    gate: &G,
    caller: &Caller,
    access: Access,
    permission: Option<Permission>,
    project: Option<&str>,
) -> Result<Option<Project>, Error> {
    if matches!(access, Access::Global(_) | Access::Project(_)) {
        gate.check_proven(caller)?;
    }
    match (access, permission) {
        (Access::Public | Access::LoggedIn, None) => Ok(None),
        // Each sees its own; but a token that is for some permissions only needs this one.
        (Access::Public | Access::LoggedIn, Some(permission)) => {
            if caller.credential.allows(permission) {
                return Ok(None);
            }
            Err(Error::new(
                Code::Forbidden,
                format!("the token is not for {permission}"),
                "use another token; `hostler token ls -o wide` shows what each is for",
            ))
        }
        (Access::Global(_) | Access::Project(_), None) => {
            Err(Error::internal("an endpoint asks for a role without a permission"))
        }
        (Access::Global(_), Some(permission)) => {
            let scope = Scope::Global;
            gate.authorise(caller, Need { permission, scope }).map(|()| None)
        }
        (Access::Project(_), Some(permission)) => {
            let given = project.unwrap_or_default();
            let project = match gate.project_resolve(given).await {
                Ok(project) => project,
                Err(error) if error.code == Code::NotFound => return Err(unknown_project(given)),
                Err(error) => return Err(error),
            };
            let scope = Scope::Project(project.id);
            if !caller.sees(scope) {
                return Err(unknown_project(given));
            }
            gate.authorise(caller, Need { permission, scope })?;
            Ok(Some(project))
        }
    }
}

pub(crate) fn unknown_project(given: &str) -> Error {
    Error::not_found("project", super::error::shortened(given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn parts(headers: &[(&str, &str)], method: Method) -> Parts {
        let mut request = Request::builder().method(method).uri("/api/v1/x");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    fn code(result: Result<Presented, Error>) -> Option<Code> {
        result.err().map(|e| e.code)
    }

    #[test]
    fn credentials_are_read_one_way_or_not_at_all() {
        let read = |headers: &[(&str, &str)]| presented(&parts(headers, Method::GET).headers);
        assert!(matches!(read(&[("authorization", "bearer abc")]), Ok(Presented::Token(_))));
        assert!(matches!(
            read(&[("cookie", "a=b; hostler_session=xyz; c=d")]),
            Ok(Presented::Session(_))
        ));
        assert_eq!(code(read(&[])), Some(Code::Unauthenticated));
        assert_eq!(code(read(&[("authorization", "Basic abc")])), Some(Code::Unauthenticated));
        assert_eq!(code(read(&[("authorization", "Bearer ")])), Some(Code::Unauthenticated));
        assert_eq!(code(read(&[("cookie", "hostler_session=")])), Some(Code::Unauthenticated));
        assert_eq!(
            code(read(&[("authorization", "Bearer a"), ("authorization", "Bearer b")])),
            Some(Code::Malformed)
        );
        assert_eq!(
            code(read(&[("authorization", "Bearer a"), ("cookie", "hostler_session=b")])),
            Some(Code::Malformed)
        );
        assert_eq!(
            code(read(&[("cookie", "hostler_session=a; hostler_session=b")])),
            Some(Code::Malformed)
        );
    }

    #[test]
    fn only_our_own_pages_count_as_own() {
        let own = |headers: &[(&str, &str)]| from_own_page(&parts(headers, Method::POST));
        assert_eq!(own(&[]), None);
        assert_eq!(own(&[("sec-fetch-site", "same-origin")]), Some(true));
        assert_eq!(own(&[("sec-fetch-site", "same-site")]), Some(false));
        assert_eq!(own(&[("sec-fetch-site", "cross-site")]), Some(false));
        assert_eq!(own(&[("sec-fetch-site", "none")]), Some(false));
        assert_eq!(own(&[("origin", "https://h:7443"), ("host", "h:7443")]), Some(true));
        assert_eq!(own(&[("origin", "http://h:7443"), ("host", "h:7443")]), Some(false));
        assert_eq!(own(&[("origin", "https://h:7443.evil"), ("host", "h:7443")]), Some(false));
        assert_eq!(own(&[("origin", "null"), ("host", "h:7443")]), Some(false));
        assert_eq!(
            own(&[("sec-fetch-site", "cross-site"), ("origin", "https://h"), ("host", "h")]),
            Some(false)
        );
        assert_eq!(from_own_page(&parts(&[("sec-fetch-site", "none")], Method::GET)), Some(true));
    }
}
