//! Mounting: the only way a handler gets a path.
//!
//! A handler is mounted for a declared `Endpoint`. It is called once the request was admitted (see
//! `admit`) with everything decoded, and has a deadline to begin its answer.
//!
//! [`Routes::finish`] compares what is mounted with the contract: an endpoint that is missing, mounted
//! twice, or mounted without asking who calls (though its rule wants to know) is an error, and the
//! server does not start.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter};
use bytes::Bytes;
use futures::future::BoxFuture;
use hostler_api::{Access, Described, Endpoint};
use hostler_control::{Cx, RequestMeta};
use hostler_model::{Error, Generation, Project};
use http::header::ALLOW;
use http::{HeaderValue, Method};

use super::admit::{Admitted, Rule, admit, admit_public};
use super::answer::Answer;
use super::envelope::Trace;
use super::error;
use super::gate::{Gate, Presented};

/// How long a handler may take to begin its answer; long waits are at most 60 s.
const DEADLINE: Duration = Duration::from_secs(70);
/// How long requests may go on once the server is stopping.
const STOPPING_GRACE: Duration = Duration::from_secs(3);

/// A request that may be served: who calls, and what was asked, decoded.
pub struct Call<E: Endpoint> {
    pub cx: Cx,
    pub path: E::Path,
    pub query: E::Query,
    pub body: E::Body,
    /// The body of an endpoint that takes bytes as they are.
    pub raw: Bytes,
    /// The body of an endpoint that goes on reading it while it answers.
    pub incoming: Unread,
    /// What `If-Match` names; zero where there is none.
    pub expected: Generation,
    /// What the caller proved itself with, for streams that ask again.
    pub presented: Presented,
    /// Where a browser says it wants to resume a stream.
    pub last_event_id: Option<String>,
    project: Option<Project>,
}

/// A body that is read while the answer is written. (Bodies cannot be shared between threads, and calls
/// are; a lock that nobody ever waits for makes up for it.)
pub struct Unread(Mutex<Body>);

impl Unread {
    pub(crate) fn into_body(self) -> Body {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<E: Endpoint> Call<E> {
    /// The project of the path, which the caller has the needed role in.
    pub fn project(&self) -> &Project {
        self.project
            .as_ref()
            .expect("mounting resolves the project of endpoints whose rule is about one")
    }
}

/// A request to an endpoint that anybody may call.
pub struct PublicCall<E: Endpoint> {
    pub request: RequestMeta,
    pub path: E::Path,
    pub query: E::Query,
    pub body: E::Body,
}

/// Why the routes are not what the contract says.
#[derive(Debug, thiserror::Error)]
pub enum MountError {
    #[error("the endpoint `{0}` has no handler")]
    Missing(&'static str),
    #[error("the endpoint `{0}` is mounted twice")]
    Twice(&'static str),
    #[error("the endpoint `{0}` is mounted but not part of the contract")]
    Unknown(&'static str),
    #[error("the endpoint `{0}` is mounted with the wrong kind of handler for its access rule")]
    Kind(&'static str),
}

/// Handlers on their way to becoming a router.
pub struct Routes<G> {
    gate: G,
    paths: BTreeMap<&'static str, Mounted>,
    names: Vec<&'static str>,
    wrong: Vec<&'static str>,
}

#[derive(Default)]
struct Mounted {
    router: MethodRouter,
    methods: BTreeSet<&'static str>,
}

impl<G: Gate> Routes<G> {
    pub fn new(gate: G) -> Routes<G> {
        Routes { gate, paths: BTreeMap::new(), names: Vec::new(), wrong: Vec::new() }
    }

    /// Mounts the handler of an endpoint that needs a caller.
    #[must_use]
    pub fn on<E, F, A>(mut self, _: E, handler: F) -> Routes<G>
    where
        E: Endpoint,
        F: Fn(G, Call<E>) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Answer<E::Reply>, Error>> + Send + 'static,
    {
        if E::ACCESS == Access::Public {
            self.wrong.push(E::NAME);
        }
        let (gate, rule) = (self.gate.clone(), Arc::new(Rule::of::<E>()));
        self.add::<E>(move |request: Request| {
            let (gate, rule, handler) = (gate.clone(), rule.clone(), handler.clone());
            Box::pin(async move {
                let trace = Trace::of(request.extensions());
                let inner = gate.clone();
                let work = async move {
                    let (admitted, _busy) = admit(&inner, &rule, request).await?;
                    let call = admitted.into_call::<E>()?;
                    handler(inner, call).await?.into_response::<E>()
                };
                within_time(&gate, &trace, work).await
            })
        })
    }

    /// Mounts the handler of an endpoint that anybody may call.
    #[must_use]
    pub fn on_public<E, F, A>(mut self, _: E, handler: F) -> Routes<G>
    where
        E: Endpoint,
        F: Fn(G, PublicCall<E>) -> A + Clone + Send + Sync + 'static,
        A: Future<Output = Result<Answer<E::Reply>, Error>> + Send + 'static,
    {
        if E::ACCESS != Access::Public {
            self.wrong.push(E::NAME);
        }
        let (gate, rule) = (self.gate.clone(), Arc::new(Rule::of::<E>()));
        self.add::<E>(move |request: Request| {
            let (gate, rule, handler) = (gate.clone(), rule.clone(), handler.clone());
            Box::pin(async move {
                let trace = Trace::of(request.extensions());
                let inner = gate.clone();
                let work = async move {
                    let admitted = admit_public(&inner, &rule, request).await?;
                    let call = admitted.into_public_call::<E>()?;
                    handler(inner, call).await?.into_response::<E>()
                };
                within_time(&gate, &trace, work).await
            })
        })
    }

    fn add<E: Endpoint>(
        mut self,
        serve: impl Fn(Request) -> BoxFuture<'static, Response> + Clone + Send + Sync + 'static,
    ) -> Routes<G> {
        self.names.push(E::NAME);
        let Ok(filter) = MethodFilter::try_from(E::METHOD) else {
            self.wrong.push(E::NAME);
            return self;
        };
        let mounted = self.paths.entry(E::PATH).or_default();
        if mounted.methods.insert(method_label(&E::METHOD)) {
            let named = move |request: Request| {
                Trace::of(request.extensions()).name_endpoint(E::NAME);
                serve(request)
            };
            mounted.router = std::mem::take(&mut mounted.router).on(filter, named);
        }
        self
    }

    /// The router, if it serves exactly the given contract.
    pub fn finish(self, contract: &[Described]) -> Result<Router, MountError> {
        let mut seen = BTreeSet::new();
        for name in &self.names {
            if !seen.insert(*name) {
                return Err(MountError::Twice(name));
            }
            if !contract.iter().any(|e| e.name == *name) {
                return Err(MountError::Unknown(name));
            }
        }
        if let Some(name) = self.wrong.first() {
            return Err(MountError::Kind(name));
        }
        if let Some(missing) = contract.iter().find(|e| !seen.contains(e.name)) {
            return Err(MountError::Missing(missing.name));
        }
        Ok(self.paths.into_iter().fold(Router::new(), |router, (path, mounted)| {
            let mut methods = mounted.methods;
            if methods.contains("GET") {
                methods.insert("HEAD");
            }
            let allowed = methods.into_iter().collect::<Vec<_>>().join(", ");
            let refuse =
                move |request: Request| std::future::ready(refuse_method(&request, &allowed));
            router.route(path, mounted.router.fallback(refuse))
        }))
    }
}

fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        _ => "other",
    }
}

fn refuse_method(request: &Request, allowed: &str) -> Response {
    let trace = Trace::of(request.extensions());
    let error = error::method_not_allowed(request.method(), allowed);
    let mut response = error::answer(&error, trace.request_id());
    if let Ok(value) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(ALLOW, value);
    }
    response
}

async fn within_time<G: Gate>(
    gate: &G,
    trace: &Trace,
    work: impl Future<Output = Result<Response, Error>> + Send,
) -> Response {
    let result = in_time(gate, work).await;
    result.unwrap_or_else(|error| error::answer(&error, trace.request_id()))
}

/// What comes of work that may take only so long, and not much longer once the server is stopping.
pub(crate) async fn in_time<G: Gate, T, E: From<Error>>(
    gate: &G,
    work: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, E> {
    let stopping = async {
        gate.stopping().await;
        gate.clock().sleep(STOPPING_GRACE).await;
    };
    tokio::select! {
        biased;
        result = work => result,
        () = gate.clock().sleep(DEADLINE) => Err(error::timed_out().into()),
        () = stopping => Err(error::shutting_down().into()),
    }
}

impl Admitted {
    fn into_call<E: Endpoint>(self) -> Result<Call<E>, Error> {
        let (path, query, body) = self.typed::<E>()?;
        let Some(known) = self.known else {
            return Err(Error::unauthenticated("nobody is logged in"));
        };
        Ok(Call {
            cx: Cx { caller: known.caller, request: self.request },
            path,
            query,
            body,
            raw: self.raw,
            incoming: Unread(Mutex::new(self.incoming)),
            expected: self.expected,
            presented: known.presented,
            last_event_id: self.last_event_id,
            project: known.project,
        })
    }

    fn into_public_call<E: Endpoint>(self) -> Result<PublicCall<E>, Error> {
        let (path, query, body) = self.typed::<E>()?;
        Ok(PublicCall { request: self.request, path, query, body })
    }
}
