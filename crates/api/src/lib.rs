//! The REST contract: every endpoint of Hostler declared once, with its path, types, errors and the
//! role it needs. Nothing here knows a server or a client.

mod common;
mod endpoint;
pub mod openapi;

pub mod blob;
pub mod image;
pub mod node;
pub mod operation;
pub mod project;
pub mod record;
pub mod session;
pub mod system;
pub mod task;
pub mod token;
pub mod user;
pub mod workload;

pub use common::{
    CSRF_HEADER, IDEMPOTENCY_KEY, Listing, PROBLEM_CONTENT_TYPE, PageQuery, Problem, ProjectPath,
    REQUEST_ID_HEADER, SESSION_COOKIE, WatchKind, WatchMessage,
};
pub use endpoint::{Access, Described, Endpoint, IfMatch, Nothing, SchemaOf, Stream, Visitor};

/// Every endpoint there is.
pub fn all() -> Vec<Described> {
    let mut endpoints = Vec::new();
    let modules: [fn(&mut dyn Visitor); 12] = [
        system::visit,
        session::visit,
        user::visit,
        token::visit,
        project::visit,
        node::visit,
        image::visit,
        task::visit,
        workload::visit,
        blob::visit,
        operation::visit,
        record::visit,
    ];
    for visit in modules {
        visit(&mut endpoints);
    }
    endpoints
}
