//! The doors for programs that were made for OpenStack: Heat's orchestration API, as much of Keystone as its clients ask for,
//! and the addresses at which resources of stacks are signalled.
//!
//! Two listeners. One has `/v1/{project}/…`, Heat's API ([`routes`]), and `/identity/v3`, which gives sessions of ours for
//! names and passwords of ours and says where everything is ([`keystone`]). The other takes signals ([`signal`]): whoever
//! knows a signed address may signal that one resource, and nothing else.
//!
//! Nothing is decided here. Every handler reads what the client sends, calls a service of `control` that the native API calls
//! as well, and writes what came of it in the words and shapes that clients of Heat compare. Requests are admitted by the
//! code of the API ([`mount`]); bodies, headers, budgets, connections and metrics are its own too.
//!
//! A path names a project by its name or its id. Programs hold on to what answers say of addresses, so these repeat the name
//! under which the project was asked for ([`here`]).

mod call;
mod door;
mod fault;
mod here;
mod listen;
mod mount;
mod query;
mod reply;
mod routes;

mod action;
mod body;
mod document;
mod event;
mod function_words;
mod keystone;
mod keystone_view;
mod preview;
mod resource;
mod signal;
mod snapshot;
mod software;
mod stack;
mod stack_list;
mod types;
mod versions;
mod view;

pub(crate) use listen::{Listeners, Serving};
pub use mount::HeatRoute;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::Response;
use http::{HeaderName, HeaderValue, StatusCode};

use crate::http::{App, Trace, in_url, surround};

/// What every answer of Heat says of its request.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-openstack-request-id");

/// What the doors are made of.
#[derive(Clone, Debug)]
pub struct DoorParts {
    /// The listener speaks TLS.
    pub is_tls: bool,
    /// `host:port` of the listener, for callers that name no host.
    pub address: String,
    /// Where signals are taken: what their addresses begin with. Empty where they are not.
    pub signals: String,
}

/// One of the listeners. Cheap to clone.
#[derive(Clone)]
pub struct Doors {
    app: App,
    parts: Arc<DoorParts>,
}

impl Doors {
    pub fn new(app: App, parts: DoorParts) -> Doors {
        Doors { app, parts: Arc::new(parts) }
    }

    fn app(&self) -> &App {
        &self.app
    }

    fn is_tls(&self) -> bool {
        self.parts.is_tls
    }

    fn address(&self) -> &str {
        &self.parts.address
    }

    fn signals(&self) -> &str {
        &self.parts.signals
    }
}

/// Heat's API, and as much of Keystone as belongs to it.
pub fn heat_router(doors: &Doors) -> Router {
    enclosed(doors, routes::heat().mounted(doors))
}

/// The addresses at which resources are signalled.
pub fn signal_router(doors: &Doors) -> Router {
    enclosed(doors, routes::signals().mounted(doors))
}

/// Every route of both, for whoever checks what they ask for.
pub fn heat_routes() -> Vec<HeatRoute> {
    routes::heat().described()
}

pub fn signal_routes() -> Vec<HeatRoute> {
    routes::signals().described()
}

fn enclosed(doors: &Doors, router: Router) -> Router {
    let guarded = router
        .fallback(|| {
            std::future::ready((StatusCode::NOT_FOUND, "404 Not Found: there is nothing here.\n"))
        })
        .layer(from_fn_with_state(doors.app.clone(), in_url::refuse))
        .layer(from_fn(stamp));
    surround(guarded, doors.app.envelope())
}

/// Answers name their request as Heat's do.
async fn stamp(request: Request, next: Next) -> Response {
    let id = format!("req-{}", Trace::of(request.extensions()).request_id());
    let mut response = next.run(request).await;
    if let Ok(id) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}
