//! The REST contract: every endpoint of Hostler declared once, with its path, types, errors and the
//! permission it needs. Nothing here knows a server or a client.

mod common;
mod endpoint;
pub mod filter;
pub mod openapi;

pub mod access;
pub mod approval;
pub mod authority;
pub mod backup;
pub mod blob;
pub mod group;
pub mod hook;
pub mod host;
pub mod identity;
pub mod image;
pub mod invitation;
pub mod lock;
pub mod module;
pub mod node;
pub mod node_backup;
pub mod oidc;
pub mod operation;
pub mod project;
pub mod record;
pub mod role;
pub mod schedule;
pub mod second_factor;
pub mod secret;
pub mod session;
pub mod stack;
pub mod stack_check;
pub mod stack_lock;
pub mod stack_plan;
pub mod stack_plugin;
pub mod stack_point;
pub mod stack_resource;
pub mod stack_type;
pub mod state;
pub mod system;
pub mod task;
pub mod timeline;
pub mod token;
pub mod user;
pub mod watcher;
pub mod workflow;
pub mod workload;

pub use common::{
    APPROVAL_HEADER, BREAK_GLASS_HEADER, CSRF_HEADER, IDEMPOTENCY_KEY, Listing,
    PROBLEM_CONTENT_TYPE, PageQuery, Paged, Problem, ProjectPath, REQUEST_ID_HEADER,
    SESSION_COOKIE, WatchKind, WatchMessage,
};
pub use endpoint::{
    Access, Described, Endpoint, IfMatch, Nothing, SchemaOf, Stream, Visitor, fits,
};

/// Every endpoint there is.
pub fn all() -> Vec<Described> {
    let mut endpoints = Vec::new();
    let modules: &[fn(&mut dyn Visitor)] = &[
        system::visit,
        backup::visit,
        authority::visit,
        identity::visit,
        session::visit,
        oidc::visit,
        second_factor::visit,
        invitation::visit,
        user::visit,
        role::visit,
        group::visit,
        access::visit,
        approval::visit,
        token::visit,
        project::visit,
        node::visit,
        host::visit,
        node_backup::visit,
        image::visit,
        task::visit,
        workload::visit,
        workflow::visit,
        module::visit,
        schedule::visit,
        watcher::visit,
        blob::visit,
        secret::visit,
        lock::visit,
        hook::visit,
        state::visit,
        operation::visit,
        record::visit,
        timeline::visit,
        stack::visit,
        stack_resource::visit,
        stack_plan::visit,
        stack_plugin::visit,
        stack_point::visit,
        stack_lock::visit,
        stack_check::visit,
        stack_type::visit,
    ];
    for visit in modules {
        visit(&mut endpoints);
    }
    endpoints
}
