//! Mounting of routes beside the API: the only way a handler of these doors gets a path.
//!
//! A route says what it asks of its caller, or it cannot be written down. It is admitted by the same code as the requests of
//! the API (`http::admit`): budgets, who is it, may they, and only then the body, which may be only so large and take only
//! so long. What differs is how callers present themselves ([`super::door`]) and what a refusal looks like ([`super::fault`]).

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter};
use futures::future::BoxFuture;
use hostler_api::Access;
use hostler_control::{Consent, Cx};
use hostler_model::{Permission, Reach};
use hostler_trust::SecretString;
use http::header::ALLOW;
use http::{HeaderName, HeaderValue, Method, StatusCode};

use super::Doors;
use super::call::Call;
use super::door;
use super::fault::{Fault, Room};
use super::here::Here;
use super::query::Query;
use super::reply::Reply;
use crate::http::Trace;
use crate::http::admit::{Admitted, Rule, admit_as, admit_public};
use crate::http::error;
use crate::http::limit::Public;
use crate::http::mount::in_time;

/// The token that a request to Keystone is about.
pub(super) const SUBJECT: HeaderName = HeaderName::from_static("x-subject-token");
/// A template with its files, and a stack that was exported with everything below it.
const BODY_MAX: usize = 8 << 20;
/// What a signal says.
const SIGNAL_MAX: usize = 256 << 10;

/// What a route asks of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// Nothing; and which budget it draws from.
    Nothing(Option<Public>),
    /// To be somebody; it is about the caller itself.
    Somebody,
    /// This permission, in the project of the path where it is about one.
    For(Permission),
}

impl Asks {
    fn access(self) -> Access {
        match self {
            Asks::Nothing(_) => Access::Public,
            Asks::Somebody => Access::LoggedIn,
            Asks::For(permission) => match (permission.reach(), permission.least()) {
                (Reach::Project, Some(role)) => Access::Project(role),
                (Reach::Global, Some(role)) => Access::Global(role),
                (_, None) => Access::LoggedIn,
            },
        }
    }

    fn permission(self) -> Option<Permission> {
        match self {
            Asks::For(permission) => Some(permission),
            Asks::Nothing(_) | Asks::Somebody => None,
        }
    }
}

type Serve = Arc<dyn Fn(Call) -> BoxFuture<'static, Result<Reply, Fault>> + Send + Sync>;

#[derive(Clone)]
struct Route {
    name: &'static str,
    method: Method,
    path: &'static str,
    asks: Asks,
    room: Room,
    /// The body is bytes, whatever it is said to be.
    takes_any: bool,
    serve: Serve,
}

/// A route as it is known outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatRoute {
    /// Its name in logs and metrics.
    pub name: &'static str,
    pub method: Method,
    pub path: &'static str,
    pub access: Access,
    pub permission: Option<Permission>,
}

/// Routes on their way to becoming a router.
#[derive(Default)]
pub(super) struct Table {
    routes: Vec<Route>,
}

impl Table {
    pub(super) fn on<F, A>(
        &mut self,
        name: &'static str,
        method: Method,
        path: &'static str,
        asks: Asks,
        handler: F,
    ) where
        F: Fn(Call) -> A + Send + Sync + 'static,
        A: Future<Output = Result<Reply, Fault>> + Send + 'static,
    {
        let is_identity = path.starts_with("/identity");
        self.routes.push(Route {
            name,
            method,
            path,
            asks,
            room: if is_identity { Room::Identity } else { Room::Heat },
            takes_any: false,
            serve: Arc::new(move |call| Box::pin(handler(call))),
        });
    }

    /// The last one takes its body as it is.
    pub(super) fn takes_any(&mut self) {
        if let Some(last) = self.routes.last_mut() {
            last.takes_any = true;
        }
    }

    pub(super) fn described(&self) -> Vec<HeatRoute> {
        let described = |route: &Route| HeatRoute {
            name: route.name,
            method: route.method.clone(),
            path: route.path,
            access: route.asks.access(),
            permission: route.asks.permission(),
        };
        self.routes.iter().map(described).collect()
    }

    pub(super) fn mounted(self, doors: &Doors) -> Router {
        let mut paths: BTreeMap<&'static str, Vec<Route>> = BTreeMap::new();
        for route in self.routes {
            paths.entry(route.path).or_default().push(route);
        }
        paths.into_iter().fold(Router::new(), |router, (path, routes)| {
            router.route(path, methods(doors, routes))
        })
    }
}

fn methods(doors: &Doors, routes: Vec<Route>) -> MethodRouter {
    let mut allowed: BTreeSet<&str> = routes.iter().map(|route| text(&route.method)).collect();
    if allowed.contains("GET") {
        allowed.insert("HEAD");
    }
    let allowed = allowed.into_iter().collect::<Vec<_>>().join(",");
    let mut router = MethodRouter::new();
    for route in routes {
        let Ok(filter) = MethodFilter::try_from(route.method.clone()) else { continue };
        let (doors, route) = (doors.clone(), Arc::new(route));
        router = router.on(filter, move |request: Request| {
            let (doors, route) = (doors.clone(), Arc::clone(&route));
            async move { answer(&doors, &route, request).await }
        });
    }
    let doors = doors.clone();
    router.fallback(move |request: Request| std::future::ready(other(&doors, &request, &allowed)))
}

fn text(method: &Method) -> &str {
    method.as_str()
}

/// What is asked with a method that there is no route for.
fn other(doors: &Doors, request: &Request, allowed: &str) -> Response {
    let here = Here::of(doors, request.headers(), request.uri());
    let mut response = match *request.method() {
        Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => {
            let fault = Fault::from(error::method_not_allowed(request.method(), allowed));
            fault.answer(Room::Heat, &here, Trace::of(request.extensions()).request_id())
        }
    };
    if let Ok(value) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

async fn answer(doors: &Doors, route: &Route, request: Request) -> Response {
    let trace = Trace::of(request.extensions());
    trace.name_endpoint(route.name);
    let here = Here::of(doors, request.headers(), request.uri());
    let work = admitted(doors, route, request, here.clone());
    match in_time(doors.app(), work).await {
        Ok(reply) => reply.into_response(),
        Err(fault) => fault.answer(route.room, &here, trace.request_id()),
    }
}

async fn admitted(
    doors: &Doors,
    route: &Route,
    request: Request,
    here: Here,
) -> Result<Reply, Fault> {
    let (access, permission) = (route.asks.access(), route.asks.permission());
    let public = match route.asks {
        Asks::Nothing(public) => public,
        Asks::Somebody | Asks::For(_) => None,
    };
    let body_max = if route.takes_any { SIGNAL_MAX } else { BODY_MAX };
    let rule = Rule::beside(route.method.clone(), access, permission, public, body_max);
    let rule = if route.takes_any { rule.with_any_body() } else { rule };
    let subject = request.headers().get(SUBJECT).and_then(|value| value.to_str().ok());
    let subject = subject.map(SecretString::new);
    if access == Access::Public {
        let admitted = admit_public(doors.app(), &rule, request).await?;
        return (route.serve)(call_of(doors, admitted, here, subject)?).await;
    }
    let presented = door::presented(request.headers())?;
    let admission = admit_as(doors.app(), &rule, request, presented, false).await;
    let (admitted, _busy) = admission.map_err(|error| Fault::from(error).foreign())?;
    (route.serve)(call_of(doors, admitted, here, subject)?).await
}

fn call_of(
    doors: &Doors,
    admitted: Admitted,
    here: Here,
    subject: Option<SecretString>,
) -> Result<Call, Fault> {
    let query = Query::read(admitted.query.as_deref())?;
    let mut request = admitted.request;
    // Programs that were made for Heat cannot say which approval they have; they ask again.
    request.consent.get_or_insert(Consent::Given);
    let (cx, project) = match admitted.known {
        None => (None, None),
        Some(known) => {
            let cx = Cx { caller: known.caller, request: request.clone() };
            (Some(cx), known.project)
        }
    };
    let named = admitted.path.iter().find(|(name, _)| name == "project");
    let here = match (named, &project) {
        (Some((_, tenant)), Some(_)) => here.in_project(tenant),
        _ => here,
    };
    Ok(Call {
        doors: doors.clone(),
        here,
        query,
        body: admitted.body,
        subject,
        raw: admitted.raw,
        request,
        path: admitted.path,
        cx,
        project,
    })
}
