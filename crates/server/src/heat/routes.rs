//! Every route of these doors, with what it asks of its caller.

use hostler_model::Permission::{ServerRead, StackApply, StackRead, StackRemove, StackSignal};
use http::Method;

use super::mount::{Asks, Table};
use super::{
    action, document, event, keystone, preview, resource, signal, snapshot, software, stack,
    stack_list, types, versions,
};
use crate::http::limit::Public;

const READ: Asks = Asks::For(StackRead);
const APPLY: Asks = Asks::For(StackApply);
const REMOVE: Asks = Asks::For(StackRemove);
const SIGNAL: Asks = Asks::For(StackSignal);
const OPEN: Asks = Asks::Nothing(None);
const PROBE: Asks = Asks::Nothing(Some(Public::Probe));
const LOGIN: Asks = Asks::Nothing(Some(Public::Login));

const GET: Method = Method::GET;
const POST: Method = Method::POST;
const PUT: Method = Method::PUT;
const PATCH: Method = Method::PATCH;
const DELETE: Method = Method::DELETE;

/// Of stacks by name, what else can be asked for: what stands behind the id in the whole address.
const PARTS: [(&str, &str); 6] = [
    ("resources", "/v1/{project}/stacks/{stack}/resources"),
    ("events", "/v1/{project}/stacks/{stack}/events"),
    ("template", "/v1/{project}/stacks/{stack}/template"),
    ("actions", "/v1/{project}/stacks/{stack}/actions"),
    ("environment", "/v1/{project}/stacks/{stack}/environment"),
    ("files", "/v1/{project}/stacks/{stack}/files"),
];

/// Heat's API, and Keystone's beside it.
pub(super) fn heat() -> Table {
    let mut table = Table::default();
    for path in ["/", "/versions", "/v1", "/v1/"] {
        table.on("heat_versions", GET, path, OPEN, versions::heat);
    }
    by_name(&mut table);
    stacks(&mut table);
    parts(&mut table);
    around(&mut table);
    identity(&mut table);
    table
}

fn by_name(table: &mut Table) {
    for method in [GET, POST, PUT, PATCH, DELETE] {
        let path = "/v1/{project}/stacks/{stack}";
        table.on("heat_stack_find", method.clone(), path, READ, |call| stack::find(call, ""));
        let path = "/v1/{project}/stacks/{stack}/{id}/{part}";
        table.on("heat_stack_find", method, path, READ, stack::find_by_arn);
    }
    for (part, path) in PARTS {
        for method in [GET, POST] {
            table.on("heat_stack_find", method, path, READ, move |call| stack::find(call, part));
        }
    }
}

fn stacks(table: &mut Table) {
    let all = "/v1/{project}/stacks";
    table.on("heat_stack_list", GET, all, READ, stack_list::list);
    table.on("heat_stack_create", POST, all, APPLY, stack::create);
    let path = "/v1/{project}/stacks/detail";
    table.on("heat_stack_list", GET, path, READ, stack_list::whole);
    let path = "/v1/{project}/stacks/preview";
    table.on("heat_stack_preview", POST, path, APPLY, preview::create);
    let one = "/v1/{project}/stacks/{stack}/{id}";
    table.on("heat_stack_get", GET, one, READ, stack::show);
    table.on("heat_stack_update", PUT, one, APPLY, |call| stack::update(call, false));
    table.on("heat_stack_update", PATCH, one, APPLY, |call| stack::update(call, true));
    table.on("heat_stack_remove", DELETE, one, REMOVE, stack::remove);
    let path = "/v1/{project}/stacks/{stack}/{id}/preview";
    table.on("heat_stack_preview", PUT, path, APPLY, |call| preview::update(call, false));
    table.on("heat_stack_preview", PATCH, path, APPLY, |call| preview::update(call, true));
    let path = "/v1/{project}/stacks/{stack}/{id}/abandon";
    table.on("heat_stack_abandon", DELETE, path, REMOVE, document::abandon);
    let path = "/v1/{project}/stacks/{stack}/{id}/export";
    table.on("heat_stack_export", GET, path, APPLY, document::export);
    let path = "/v1/{project}/stacks/{stack}/{id}/actions";
    table.on("heat_stack_action", POST, path, APPLY, action::act);
}

fn parts(table: &mut Table) {
    let path = "/v1/{project}/stacks/{stack}/{id}/template";
    table.on("heat_stack_template", GET, path, READ, document::template);
    let path = "/v1/{project}/stacks/{stack}/{id}/environment";
    table.on("heat_stack_environment", GET, path, READ, document::environment);
    let path = "/v1/{project}/stacks/{stack}/{id}/files";
    table.on("heat_stack_files", GET, path, READ, document::files);
    let path = "/v1/{project}/stacks/{stack}/{id}/outputs";
    table.on("heat_output_list", GET, path, READ, document::outputs);
    let path = "/v1/{project}/stacks/{stack}/{id}/outputs/{key}";
    table.on("heat_output_get", GET, path, READ, document::output);
    let all = "/v1/{project}/stacks/{stack}/{id}/snapshots";
    table.on("heat_snapshot_list", GET, all, READ, snapshot::list);
    table.on("heat_snapshot_create", POST, all, APPLY, snapshot::create);
    let one = "/v1/{project}/stacks/{stack}/{id}/snapshots/{snapshot}";
    table.on("heat_snapshot_get", GET, one, APPLY, snapshot::show);
    table.on("heat_snapshot_remove", DELETE, one, APPLY, snapshot::remove);
    let path = "/v1/{project}/stacks/{stack}/{id}/snapshots/{snapshot}/restore";
    table.on("heat_snapshot_restore", POST, path, APPLY, snapshot::restore);
    let path = "/v1/{project}/stacks/{stack}/{id}/resources";
    table.on("heat_resource_list", GET, path, READ, resource::list);
    let one = "/v1/{project}/stacks/{stack}/{id}/resources/{resource}";
    table.on("heat_resource_get", GET, one, READ, resource::show);
    table.on("heat_resource_mark", PATCH, one, SIGNAL, resource::mark);
    let path = "/v1/{project}/stacks/{stack}/{id}/resources/{resource}/metadata";
    table.on("heat_resource_metadata", GET, path, READ, resource::metadata);
    table.on("heat_resource_signal", POST, SIGNAL_PATH, SIGNAL, resource::signal);
    let path = "/v1/{project}/stacks/{stack}/{id}/events";
    table.on("heat_event_list", GET, path, READ, event::list);
    let path = "/v1/{project}/stacks/{stack}/{id}/resources/{resource}/events";
    table.on("heat_event_list", GET, path, READ, event::list_of_resource);
    let path = "/v1/{project}/stacks/{stack}/{id}/resources/{resource}/events/{event}";
    table.on("heat_event_get", GET, path, READ, event::show);
}

const SIGNAL_PATH: &str = "/v1/{project}/stacks/{stack}/{id}/resources/{resource}/signal";

/// What there is besides stacks.
fn around(table: &mut Table) {
    table.on("heat_validate", POST, "/v1/{project}/validate", READ, document::validate);
    let path = "/v1/{project}/resource_types";
    table.on("heat_type_list", GET, path, READ, types::list);
    let path = "/v1/{project}/resource_types/{type}";
    table.on("heat_type_get", GET, path, READ, types::show);
    let path = "/v1/{project}/resource_types/{type}/template";
    table.on("heat_type_template", GET, path, READ, types::template);
    let path = "/v1/{project}/template_versions";
    table.on("heat_template_versions", GET, path, READ, types::versions);
    let path = "/v1/{project}/template_versions/{version}/functions";
    table.on("heat_template_functions", GET, path, READ, types::functions);
    table.on("heat_build_info", GET, "/v1/{project}/build_info", READ, versions::build);
    let path = "/v1/{project}/services";
    table.on("heat_services", GET, path, Asks::For(ServerRead), versions::services);
    let all = "/v1/{project}/software_configs";
    table.on("heat_config_list", GET, all, READ, software::configs);
    table.on("heat_config_create", POST, all, APPLY, software::config_create);
    let one = "/v1/{project}/software_configs/{config}";
    table.on("heat_config_get", GET, one, SIGNAL, software::config);
    table.on("heat_config_remove", DELETE, one, APPLY, software::config_remove);
    let all = "/v1/{project}/software_deployments";
    table.on("heat_deployment_list", GET, all, SIGNAL, software::deployments);
    table.on("heat_deployment_create", POST, all, APPLY, software::deployment_create);
    let one = "/v1/{project}/software_deployments/{deployment}";
    table.on("heat_deployment_get", GET, one, SIGNAL, software::deployment);
    table.on("heat_deployment_update", PUT, one, APPLY, software::deployment_update);
    table.on("heat_deployment_remove", DELETE, one, APPLY, software::deployment_remove);
    let path = "/v1/{project}/software_deployments/metadata/{server}";
    table.on("heat_deployment_metadata", GET, path, SIGNAL, software::metadata);
}

fn identity(table: &mut Table) {
    for path in ["/identity", "/identity/"] {
        table.on("identity_versions", GET, path, OPEN, keystone::versions);
    }
    for path in ["/identity/v3", "/identity/v3/"] {
        table.on("identity_version", GET, path, OPEN, keystone::version);
    }
    let path = "/identity/v3/auth/tokens";
    table.on("identity_login", POST, path, LOGIN, keystone::login);
    table.on("identity_token", GET, path, Asks::Somebody, keystone::token);
    table.on("identity_logout", DELETE, path, Asks::Somebody, keystone::revoke);
    let path = "/identity/v3/auth/catalog";
    table.on("identity_catalog", GET, path, Asks::Somebody, keystone::catalog);
    for path in [
        "/identity/v3/auth/projects",
        "/identity/v3/projects",
        "/identity/v3/users/{user}/projects",
    ] {
        table.on("identity_projects", GET, path, Asks::Somebody, keystone::projects);
    }
    let path = "/identity/v3/projects/{named}";
    table.on("identity_project", GET, path, Asks::Somebody, keystone::project);
}

/// Signals. Whoever has an address proves it by its signature, or else has to be somebody.
pub(super) fn signals() -> Table {
    let mut table = Table::default();
    for path in ["/", "/v1", "/v1/"] {
        table.on("signal_versions", GET, path, PROBE, signal::versions);
        table.on("signal_other", POST, path, PROBE, signal::other);
        table.takes_any();
    }
    let path = "/v1/signal/{arn}/{stack}/{id}/resources/{resource}";
    table.on("signal", POST, path, PROBE, |call| signal::take(call, false));
    table.takes_any();
    let path = "/v1/waitcondition/{arn}/{stack}/{id}/resources/{resource}";
    table.on("signal_wait", PUT, path, PROBE, |call| signal::take(call, true));
    table.takes_any();
    table.on("heat_resource_signal", POST, SIGNAL_PATH, SIGNAL, resource::signal);
    table
}
