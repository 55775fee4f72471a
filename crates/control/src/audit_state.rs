//! The states of objects that audit entries have digests of: what a change can change, and nothing that
//! must not be guessed (no password, no token, not even their hashes).

use hostler_model::{Node, Principal, Project, RoleName, Service, Subject};
use serde_json::{Value, json};

pub(crate) fn project(project: &Project) -> Value {
    json!({
        "id": project.id,
        "name": project.name,
        "description": project.description,
        "quota": project.quota,
        "weight": project.weight,
        "generation": project.generation,
    })
}

pub(crate) fn user(principal: &Principal, role: Option<&RoleName>) -> Value {
    json!({
        "id": principal.id,
        "name": principal.name,
        "kind": principal.kind,
        "isDisabled": principal.is_disabled,
        "role": role,
        "generation": principal.generation,
    })
}

pub(crate) fn member(subject: &Subject, role: &RoleName) -> Value {
    json!({ "subject": subject.to_string(), "role": role })
}

pub(crate) fn workload(service: &Service) -> Value {
    json!({
        "id": service.id,
        "name": service.name,
        "spec": service.spec,
        "desired": service.desired,
        "revision": service.revision,
        "generation": service.generation,
    })
}

pub(crate) fn node(node: &Node) -> Value {
    json!({
        "id": node.id,
        "name": node.name,
        "labels": node.labels,
        "cordon": node.cordon.as_ref().map(|cordon| &cordon.reason),
        "isDraining": node.cordon.as_ref().map(|cordon| cordon.is_draining),
        "generation": node.generation,
    })
}
