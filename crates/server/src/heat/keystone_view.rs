//! Callers, projects and places as Keystone writes them.

use hostler_model::{Caller, Project, Scope, Timestamp};
use serde_json::{Value, json};

use super::call::Call;
use super::here::Here;

/// What is told of a credential.
pub(super) struct Issued {
    /// Of the session or the token; no secret.
    pub(super) id: String,
    pub(super) methods: Vec<String>,
    pub(super) begun: Timestamp,
    pub(super) ends: Timestamp,
    pub(super) project: Option<Project>,
}

const REGION: &str = "RegionOne";

fn domain() -> Value {
    json!({ "id": "default", "name": "Default" })
}

pub(super) fn version(here: &Here) -> Value {
    json!({
        "id": "v3.14",
        "status": "stable",
        "updated": "2020-04-07T00:00:00Z",
        "links": [{ "rel": "self", "href": format!("{}/", here.identity()) }],
        "media-types": [{
            "base": "application/json",
            "type": "application/vnd.openstack.identity-v3+json",
        }],
    })
}

/// Roles by their names, on the whole installation and in a project.
fn roles(caller: &Caller, project: &Project) -> Vec<Value> {
    let is_here = |scope: &Scope| match scope {
        Scope::Global => true,
        Scope::Project(id) => *id == project.id,
    };
    let mut names: Vec<String> = caller
        .grants
        .iter()
        .filter(|grant| is_here(&grant.scope))
        .map(|grant| grant.role.to_string())
        .collect();
    names.sort();
    names.dedup();
    names.into_iter().map(|name| json!({ "id": name, "name": name })).collect()
}

pub(super) fn token(call: &Call, caller: &Caller, issued: &Issued) -> Value {
    let mut token = json!({
        "methods": issued.methods,
        "user": {
            "id": caller.principal_id,
            "name": caller.name,
            "domain": domain(),
            "password_expires_at": Value::Null,
        },
        "audit_ids": [issued.id],
        "issued_at": issued.begun.to_string(),
        "expires_at": issued.ends.to_string(),
    });
    if let Some(project) = &issued.project {
        token["project"] = json!({ "id": project.id, "name": project.name, "domain": domain() });
        token["is_domain"] = json!(false);
        token["roles"] = json!(roles(caller, project));
        token["catalog"] = json!(catalog(call, Some(project)));
    }
    json!({ "token": token })
}

pub(super) fn catalog(call: &Call, project: Option<&Project>) -> Vec<Value> {
    let service = |kind: &str, name: &str, url: String| {
        let endpoint = |interface: &str| {
            json!({
                "id": format!("{name}-{interface}"),
                "interface": interface,
                "region": REGION,
                "region_id": REGION,
                "url": url,
            })
        };
        let endpoints = ["public", "internal", "admin"].map(endpoint);
        json!({
            "id": name,
            "type": kind,
            "name": name,
            "endpoints": endpoints,
        })
    };
    let here = &call.here;
    let mut all = vec![service("identity", "keystone", here.identity())];
    if let Some(project) = project {
        let url = here.project(&project.id.to_string());
        all.push(service("orchestration", "heat", url));
    }
    let signals = call.doors.signals();
    if !signals.is_empty() {
        let url = format!("{}/v1", signals.trim_end_matches('/'));
        all.push(service("cloudformation", "heat-cfn", url));
    }
    all
}

pub(super) fn project(here: &Here, project: &Project) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "description": project.description,
        "domain_id": "default",
        "parent_id": "default",
        "enabled": true,
        "is_domain": false,
        "tags": [],
        "options": {},
        "links": { "self": format!("{}/projects/{}", here.identity(), project.id) },
    })
}
