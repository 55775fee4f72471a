//! Admission: everything that happens to a request before its handler sees it.
//!
//! The order matters and is the same for every endpoint: who is it, is the budget spent, may they,
//! and only then the parameters, the headers and the body. Who may not call an endpoint learns nothing
//! of its objects and has no body read.

use std::any::TypeId;
use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::extract::{FromRequestParts, RawPathParams, Request};
use bytes::Bytes;
use hostler_api::{
    APPROVAL_HEADER, Access, BREAK_GLASS_HEADER, Endpoint, IDEMPOTENCY_KEY, IfMatch, Nothing,
    Stream,
};
use hostler_control::{Consent, Idempotency, RequestMeta};
use hostler_model::{Caller, Code, Error, Generation, Permission, Project};
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, IF_MATCH, USER_AGENT};
use http::request::Parts;
use http::{HeaderMap, Method};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::decode;
use super::envelope::Trace;
use super::error::{self, malformed};
use super::gate::{self, Gate, Presented};
use super::limit::{Busy, Public};
use super::strict;

const BODY_MAX: usize = 1 << 20;
const BATCH_BODY_MAX: usize = 16 << 20;

/// The address a connection came from.
#[derive(Clone, Copy, Debug)]
pub struct Peer(pub SocketAddr);

/// What of an endpoint its admission depends on.
#[derive(Clone)]
pub(crate) struct Rule {
    method: Method,
    access: Access,
    permission: Option<Permission>,
    if_match: IfMatch,
    public: Option<Public>,
    body_max: usize,
    is_raw: bool,
    /// The body is bytes, whatever it is said to be.
    is_any: bool,
    /// The body is left to the handler.
    is_duplex: bool,
}

impl Rule {
    pub(super) fn of<E: Endpoint>() -> Rule {
        let public = match (E::ACCESS, E::NAME) {
            (Access::Public, "join") => Some(Public::Join),
            (Access::Public, "readyz" | "version" | "jwks") => Some(Public::Probe),
            (Access::Public, _) if E::METHOD == Method::POST => Some(Public::Login),
            _ => None,
        };
        Rule {
            method: E::METHOD,
            access: E::ACCESS,
            permission: E::PERMISSION,
            if_match: E::IF_MATCH,
            public,
            body_max: match (E::RAW_BODY, E::NAME) {
                (Some(max), _) => max,
                (
                    None,
                    "task_submit_batch"
                    | "blob_commit"
                    | "image_push"
                    | "workflow_push"
                    | "module_push"
                    | "stack_plugin_push"
                    | "state_commit"
                    | "stack_create"
                    | "stack_update"
                    | "stack_patch"
                    | "stack_plan_create"
                    | "stack_adopt"
                    | "stack_template_check"
                    | "stack_form_check",
                ) => BATCH_BODY_MAX,
                (None, _) => BODY_MAX,
            },
            is_raw: E::RAW_BODY.is_some(),
            is_any: false,
            is_duplex: E::STREAM == Stream::Duplex,
        }
    }

    /// Of a route beside the API, whose body is JSON.
    pub(crate) const fn beside(
        method: Method,
        access: Access,
        permission: Option<Permission>,
        public: Option<Public>,
        body_max: usize,
    ) -> Rule {
        Rule {
            method,
            access,
            permission,
            if_match: IfMatch::Never,
            public,
            body_max,
            is_raw: false,
            is_any: false,
            is_duplex: false,
        }
    }

    /// The body is taken as bytes, whatever it is said to be.
    pub(crate) fn with_any_body(self) -> Rule {
        Rule { is_any: true, ..self }
    }
}

/// A request whose sender may make it, with everything read but nothing typed.
pub(crate) struct Admitted {
    pub(crate) request: RequestMeta,
    pub(crate) path: Vec<(String, String)>,
    pub(crate) query: Option<String>,
    pub(crate) body: Option<Value>,
    pub(crate) raw: Bytes,
    pub(super) incoming: Body,
    pub(super) expected: Generation,
    pub(crate) known: Option<Known>,
    pub(super) last_event_id: Option<String>,
}

pub(crate) struct Known {
    pub(crate) caller: Caller,
    pub(crate) presented: Presented,
    pub(crate) project: Option<Project>,
}

pub(super) type Typed<E> = (<E as Endpoint>::Path, <E as Endpoint>::Query, <E as Endpoint>::Body);

impl Admitted {
    pub(super) fn typed<E: Endpoint>(&self) -> Result<Typed<E>, Error> {
        let path = self.path.iter().map(|(k, v)| (k.as_str(), v.as_str()));
        Ok((
            decode::parameters("path", path)?,
            decode::query(self.query.as_deref())?,
            typed_body(self.body.as_ref())?,
        ))
    }
}

/// An absent body is the empty document of endpoints that take none.
fn typed_body<T: DeserializeOwned + 'static>(body: Option<&Value>) -> Result<T, Error> {
    if let Some(value) = body {
        return strict::typed(value);
    }
    if TypeId::of::<T>() == TypeId::of::<Nothing>() {
        return strict::typed(&Value::Object(serde_json::Map::new()));
    }
    Err(malformed("the body is missing", "send a JSON document; /docs says what it contains"))
}

pub(super) async fn admit<G: Gate>(
    gate: &G,
    rule: &Rule,
    request: Request,
) -> Result<(Admitted, Busy), Error> {
    let presented = gate::presented(request.headers())?;
    admit_as(gate, rule, request, presented, true).await
}

/// The same for whoever presented itself in another way. A session that browsers send along by themselves is only taken
/// from our own pages.
pub(crate) async fn admit_as<G: Gate>(
    gate: &G,
    rule: &Rule,
    request: Request,
    presented: Presented,
    is_browser: bool,
) -> Result<(Admitted, Busy), Error> {
    let (mut parts, body) = request.into_parts();
    gate.limits().source(source(&parts))?;
    let caller = presented.caller(gate).await?;
    gate::check_source(&caller, source(&parts))?;
    if let Some(session) = presented.session().filter(|_| is_browser) {
        gate::check_browser(gate, &parts, session)?;
    }
    gate.limits().principal(caller.principal_id)?;
    let busy = gate.limits().begin(caller.principal_id)?;
    let path = path_parameters(&mut parts).await;
    let project = {
        let named = path.as_ref().ok().and_then(|path| {
            let found = path.iter().find(|(name, _)| name == "project");
            found.map(|(_, value)| value.as_str())
        });
        gate::authorise(gate, &caller, rule.access, rule.permission, named).await?
    };
    let known = Known { caller, presented, project };
    Ok((read(gate, rule, parts, path?, body, Some(known)).await?, busy))
}

pub(crate) async fn admit_public<G: Gate>(
    gate: &G,
    rule: &Rule,
    request: Request,
) -> Result<Admitted, Error> {
    let (mut parts, body) = request.into_parts();
    gate::check_public(&parts)?;
    if let Some(which) = rule.public {
        gate.limits().public(which, source(&parts))?;
    }
    let path = path_parameters(&mut parts).await?;
    read(gate, rule, parts, path, body, None).await
}

async fn read<G: Gate>(
    gate: &G,
    rule: &Rule,
    parts: Parts,
    path: Vec<(String, String)>,
    body: Body,
    known: Option<Known>,
) -> Result<Admitted, Error> {
    let expected = match rule.if_match {
        IfMatch::Always => if_match(&parts.headers)?,
        IfMatch::IfPresent if parts.headers.contains_key(IF_MATCH) => if_match(&parts.headers)?,
        IfMatch::IfPresent | IfMatch::Never => Generation::ZERO,
    };
    let key = match rule.method == Method::POST {
        true => idempotency_key(&parts.headers)?,
        false => None,
    };
    let (body, incoming) = match rule.is_duplex {
        true => (Bytes::new(), body),
        false => {
            let reading = read_body(&parts.headers, body, rule);
            let read = gate.clock().timeout(gate.limits().body_time(), reading).await;
            let late = || malformed("the body did not arrive in time", "send it again");
            (read.map_err(|_| late())??, Body::empty())
        }
    };
    let (body, raw) = match (body.is_empty(), rule.is_raw || rule.is_any) {
        (true, false) => (None, body),
        (false, false) => (Some(strict::parse(&body)?), Bytes::new()),
        (_, true) => (None, body),
    };
    let idempotency = key.map(|key| Idempotency {
        request_hash: request_hash(&rule.method, parts.uri.path(), body.as_ref()),
        key,
    });
    let header = |name: &str| {
        let text = parts.headers.get(name)?.to_str().ok()?;
        Some(text.chars().take(256).collect::<String>())
    };
    let trace = Trace::of(&parts.extensions);
    Ok(Admitted {
        request: RequestMeta {
            request_id: trace.request_id().to_owned(),
            trace: trace.context(),
            source: source(&parts).map(|ip| ip.to_string()).unwrap_or_default(),
            user_agent: header(USER_AGENT.as_str()).unwrap_or_default(),
            idempotency,
            consent: consent(&parts.headers)?,
        },
        path,
        query: parts.uri.query().map(str::to_owned),
        body,
        raw,
        incoming,
        expected,
        known,
        last_event_id: header("last-event-id"),
    })
}

fn source(parts: &Parts) -> Option<IpAddr> {
    parts.extensions.get::<Peer>().map(|Peer(address)| address.ip().to_canonical())
}

async fn path_parameters(parts: &mut Parts) -> Result<Vec<(String, String)>, Error> {
    let bad = |_| malformed("the path is not UTF-8", "percent-encode names as UTF-8");
    let raw = RawPathParams::from_request_parts(parts, &()).await.map_err(bad)?;
    raw.iter()
        .map(|(name, value)| {
            decode::check_text(value)?;
            Ok((name.to_owned(), value.to_owned()))
        })
        .collect()
}

fn if_match(headers: &HeaderMap) -> Result<Generation, Error> {
    let mut values = headers.get_all(IF_MATCH).iter();
    let Some(value) = values.next() else {
        return Err(Error::new(
            Code::PreconditionRequired,
            "this change needs an If-Match header",
            "read the object, and send the ETag of that answer as If-Match",
        ));
    };
    let number = value
        .to_str()
        .ok()
        .and_then(|text| text.strip_prefix('"')?.strip_suffix('"'))
        .filter(|digits| (1..=18).contains(&digits.len()))
        .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
        .and_then(|digits| digits.parse().ok());
    match (number, values.next()) {
        (Some(number), None) => Ok(Generation::from_u64(number)),
        _ => Err(malformed(
            "If-Match is not one ETag of ours",
            "send the ETag as it was given, such as \"7\" with its quotes",
        )),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Error> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let fits =
        |bytes: &[u8]| (1..=255).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
    match (value.to_str(), values.next()) {
        (Ok(key), None) if fits(key.as_bytes()) => Ok(Some(key.to_owned())),
        _ => Err(malformed(
            "Idempotency-Key is not one key of 1 to 255 visible ASCII characters",
            "use for example a UUID",
        )),
    }
}

/// What the caller says about approvals: the one it has, or why there is no time for one.
fn consent(headers: &HeaderMap) -> Result<Option<Consent>, Error> {
    let text = |name: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => match std::str::from_utf8(value.as_bytes()) {
                Ok(text) if !text.trim().is_empty() => Ok(Some(text.trim().to_owned())),
                _ => Err(bad_consent(name)),
            },
            (Some(_), Some(_)) => Err(bad_consent(name)),
        }
    };
    match (text(APPROVAL_HEADER)?, text(BREAK_GLASS_HEADER)?) {
        (None, None) => Ok(None),
        (Some(id), None) => {
            let id = id.parse().map_err(|_| bad_consent(APPROVAL_HEADER))?;
            Ok(Some(Consent::Approval(id)))
        }
        (None, Some(reason)) => {
            decode::check_text(&reason)?;
            Ok(Some(Consent::BreakGlass(reason)))
        }
        (Some(_), Some(_)) => Err(malformed(
            "the request names an approval and breaks the glass at once",
            "send one of the two headers",
        )),
    }
}

fn bad_consent(header: &str) -> Error {
    malformed(
        format!("the header {header} cannot be read"),
        "send the id of an approval, or a reason in words, once",
    )
}

fn request_hash(method: &Method, path: &str, body: Option<&Value>) -> [u8; 32] {
    let body = body.cloned().map(strict::canonical).unwrap_or_default();
    let mut hasher = blake3::Hasher::new();
    for part in [method.as_str().as_bytes(), path.as_bytes(), &body] {
        hasher.update(&(part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    *hasher.finalize().as_bytes()
}

async fn read_body(headers: &HeaderMap, body: Body, rule: &Rule) -> Result<Bytes, Error> {
    let max = rule.body_max;
    let announced =
        headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| length > max) {
        return Err(error::too_large(max));
    }
    let bytes = match Limited::new(body, max).collect().await {
        Ok(collected) => collected.to_bytes(),
        Err(failure) if failure.is::<LengthLimitError>() => return Err(error::too_large(max)),
        Err(failure) => {
            return Err(malformed("the body broke off", "send it again").with_source(failure));
        }
    };
    if rule.is_raw && !is_raw(headers) {
        return Err(Error::new(
            Code::UnsupportedMediaType,
            "the body is not declared as bytes",
            "send it with Content-Type: application/octet-stream",
        ));
    }
    if !rule.is_raw && !rule.is_any && !bytes.is_empty() && !is_json(headers) {
        return Err(Error::new(
            Code::UnsupportedMediaType,
            "the body is not declared as JSON",
            "send it with Content-Type: application/json",
        ));
    }
    Ok(bytes)
}

fn is_raw(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.as_bytes().eq_ignore_ascii_case(b"application/octet-stream"),
        _ => false,
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next().and_then(|v| v.to_str().ok()), values.next()) else {
        return false;
    };
    let mut parts = value.split(';').map(str::trim);
    parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
        && parts.all(|parameter| {
            parameter.is_empty() || parameter.eq_ignore_ascii_case("charset=utf-8")
        })
}
