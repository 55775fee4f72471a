//! The states of objects that audit entries have digests of: what a change can change, and nothing that
//! must not be guessed (no password, no token, not even their hashes).

use hostler_model::{
    CustomRole, Group, Image, Invitation, JoinToken, Name, Node, Principal, Project, RoleName,
    Scope, Secret, Service, Subject, TaskArray, Token, Workload,
};
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

/// Without its secret, and without the hash of it.
pub(crate) fn token(token: &Token, is_revoked: bool) -> Value {
    json!({
        "id": token.id,
        "user": token.principal_id,
        "name": token.name,
        "role": token.limits.role_max,
        "projects": token.limits.projects,
        "can": token.limits.can,
        "from": token.limits.sources,
        "expires": token.time_expires,
        "isRevoked": is_revoked,
    })
}

pub(crate) fn role(role: &CustomRole) -> Value {
    json!({
        "id": role.id,
        "name": role.name,
        "description": role.description,
        "permissions": role.permissions,
        "generation": role.generation,
    })
}

pub(crate) fn group(group: &Group, members: &[Name], roles: &[(Scope, RoleName)]) -> Value {
    let roles: Vec<Value> = roles
        .iter()
        .map(|(scope, role)| match scope {
            Scope::Global => json!({ "role": role }),
            Scope::Project(project) => json!({ "role": role, "project": project }),
        })
        .collect();
    json!({
        "id": group.id,
        "name": group.name,
        "description": group.description,
        "members": members,
        "roles": roles,
    })
}

/// Without its secret, and without the hash of it.
pub(crate) fn invitation(invitation: &Invitation, is_revoked: bool) -> Value {
    let project = match invitation.scope {
        Scope::Global => None,
        Scope::Project(project) => Some(project),
    };
    json!({
        "id": invitation.id,
        "project": project,
        "role": invitation.role,
        "name": invitation.user_name,
        "email": invitation.email,
        "expires": invitation.time_expires,
        "isRevoked": is_revoked,
    })
}

/// Without its secret, and without the hash of it.
pub(crate) fn join_token(token: &JoinToken, is_revoked: bool) -> Value {
    json!({
        "id": token.id,
        "name": token.node_name,
        "labels": token.labels,
        "expires": token.time_expires,
        "isRevoked": is_revoked,
    })
}

/// What is known of a secret without its values.
pub(crate) fn secret(secret: &Secret) -> Value {
    json!({
        "id": secret.id,
        "environment": secret.environment,
        "name": secret.name,
        "source": secret.source,
        "current": secret.version_current,
        "last": secret.version_last,
        "generation": secret.generation,
    })
}

pub(crate) fn image(image: &Image) -> Value {
    json!({
        "id": image.id,
        "name": image.name,
        "version": image.version,
        "digest": image.digest,
        "origin": image.origin,
    })
}

/// As people asked for it: what nodes report of it is no change of theirs.
pub(crate) fn task(task: &Workload) -> Value {
    json!({
        "id": task.id,
        "name": task.name,
        "spec": &*task.spec,
        "desired": task.desired,
        "state": task.state.kind(),
    })
}

pub(crate) fn array(array: &TaskArray, is_stopped: bool) -> Value {
    json!({
        "id": array.id,
        "name": array.name,
        "spec": array.spec,
        "range": array.range,
        "isStopped": is_stopped,
    })
}
