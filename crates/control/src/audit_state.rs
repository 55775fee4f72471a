//! The states of objects that audit entries have digests of: what a change can change, and nothing that
//! must not be guessed (no password, no token, not even their hashes).

use hostler_model::schedule::Schedule;
use hostler_model::stack::{
    SoftwareConfig, SoftwareDeployment, Stack, StackDrift, StackPlan, StackResource,
};
use hostler_model::workflow::{Execution, WorkflowVersion};
use hostler_model::{
    Approval, Blob, CustomRole, Error, Group, Image, Invitation, JoinToken, Lock, LockHold, Name,
    Node, NodeBackup, NodeCertificate, Operation, PasswordReset, Principal, Project, RoleName,
    Scope, SecondFactor, Secret, Service, StateSum, Subject, TaskArray, Token, UserIdentity,
    Watcher, WebSession, Workload,
};
use hostler_store::Conn;
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

/// What a namespace of state holds.
pub(crate) fn state_namespace(namespace: &Name, sum: Option<&StateSum>) -> Value {
    json!({
        "namespace": namespace,
        "entries": sum.map_or(0, |sum| sum.entries),
        "bytes": sum.map_or(0, |sum| sum.bytes),
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

/// With the role that it has now.
pub(crate) async fn user_now(conn: &mut Conn, principal: &Principal) -> Result<Value, Error> {
    let role = conn.role_binding_get(principal.id, Scope::Global).await?;
    Ok(user(principal, role.as_ref()))
}

/// With how many codes stand in for it; without what it is checked with.
pub(crate) fn second_factor(factor: &SecondFactor, recovery_codes: u64) -> Value {
    json!({
        "user": factor.principal_id,
        "isOn": factor.is_on(),
        "begun": factor.time_created,
        "recoveryCodes": recovery_codes,
    })
}

/// Somebody's second factor as it is now.
pub(crate) async fn second_factor_now(
    conn: &mut Conn,
    principal: &Principal,
) -> Result<Option<Value>, Error> {
    let Some(factor) = conn.second_factor_get(principal.id).await? else { return Ok(None) };
    let codes = conn.recovery_code_count(principal.id).await?;
    Ok(Some(second_factor(&factor, codes)))
}

/// Without its secret, and without the hash of it.
pub(crate) fn password_reset(reset: &PasswordReset) -> Value {
    json!({ "user": reset.principal_id, "expires": reset.time_expires })
}

/// Without its secret, and without the hash of it.
pub(crate) fn web_session(session: &WebSession) -> Value {
    json!({
        "id": session.id,
        "user": session.principal_id,
        "expires": session.time_expires,
    })
}

pub(crate) fn user_identity(identity: &UserIdentity) -> Value {
    json!({
        "user": identity.principal_id,
        "issuer": identity.issuer,
        "subject": identity.subject,
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

pub(crate) fn node_certificate(certificate: &NodeCertificate) -> Value {
    json!({
        "serial": certificate.serial,
        "node": certificate.node_id,
        "expires": certificate.time_expires,
    })
}

/// What was asked for; how far it has come is no change of anybody's.
pub(crate) fn node_backup(backup: &NodeBackup) -> Value {
    json!({
        "id": backup.id,
        "node": backup.node_id,
        "label": backup.label,
        "store": backup.store,
        "spec": backup.spec,
        "state": backup.state,
        "manifest": backup.outcome.as_ref().map(|outcome| outcome.manifest.digest),
        "verdict": backup.verdict,
        "generation": backup.generation,
    })
}

pub(crate) fn operation(operation: &Operation, is_cancel_requested: bool) -> Value {
    json!({
        "id": operation.id,
        "plan": operation.plan,
        "isCancelRequested": is_cancel_requested,
    })
}

pub(crate) fn approval(approval: &Approval) -> Value {
    json!({
        "id": approval.id,
        "verb": approval.verb,
        "name": approval.name,
        "digest": approval.digest,
        "user": approval.requested_by,
        "decisions": approval.decisions,
        "state": approval.state,
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

/// As people made it; what becomes of its times is no change of theirs.
pub(crate) fn schedule(schedule: &Schedule) -> Value {
    json!({
        "id": schedule.id,
        "name": schedule.name,
        "spec": schedule.spec,
        "owner": schedule.mandate.principal,
        "can": schedule.mandate.can,
        "pause": schedule.pause,
        "generation": schedule.generation,
    })
}

/// As people made it; what nodes tell of it is no change of theirs.
pub(crate) fn watcher(watcher: &Watcher) -> Value {
    json!({
        "id": watcher.id,
        "name": watcher.name,
        "spec": watcher.spec,
        "owner": watcher.mandate.principal,
        "can": watcher.mandate.can,
        "isEnabled": watcher.is_enabled,
        "generation": watcher.generation,
    })
}

/// What is known of a secret without its values.
pub(crate) fn secret(secret: &Secret) -> Value {
    let mut state = json!({
        "id": secret.id,
        "environment": secret.environment,
        "name": secret.name,
        "source": secret.source,
        "current": secret.version_current,
        "last": secret.version_last,
        "generation": secret.generation,
    });
    if let Some(link) = &secret.link {
        state["link"] = json!(link);
    }
    state
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

/// Tasks that were submitted together: which they are, and the digest of each one's state.
pub(crate) fn tasks(tasks: &[Workload]) -> Value {
    let one = |it: &Workload| json!({ "id": it.id, "digest": hostler_blob::digest_of(task(it).to_string().as_bytes()) });
    tasks.iter().map(one).collect()
}

pub(crate) fn blob(blob: &Blob) -> Value {
    json!({
        "project": blob.scope.project(),
        "digest": blob.digest,
        "size": blob.size,
        "kind": blob.kind,
        "label": blob.label,
    })
}

pub(crate) fn workflow(version: &WorkflowVersion) -> Value {
    json!({
        "id": version.id,
        "name": version.name,
        "version": version.version,
        "bundle": version.bundle,
        "file": version.file,
    })
}

/// With those who hold it; who waits changes with every moment.
pub(crate) fn lock(lock: &Lock, holders: &[LockHold]) -> Value {
    let one = |hold: &LockHold| json!({ "id": hold.id, "by": hold.by, "token": hold.token });
    json!({
        "id": lock.id,
        "name": lock.name,
        "slots": lock.slots,
        "token": lock.token_last,
        "holders": holders.iter().map(one).collect::<Vec<_>>(),
        "generation": lock.generation,
    })
}

pub(crate) fn module(version: &hostler_model::workflow::ModuleVersion) -> Value {
    json!({
        "id": version.id,
        "name": version.name,
        "version": version.version,
        "bundle": version.bundle,
        "file": version.file,
    })
}

pub(crate) fn stack_plugin(plugin: &hostler_model::stack::StackPlugin) -> Value {
    json!({
        "id": plugin.id,
        "name": plugin.name,
        "version": plugin.version,
        "kind": plugin.kind,
        "artefact": plugin.artefact,
        "file": plugin.file,
        "types": plugin.manifest.types.keys().collect::<Vec<_>>(),
        "manifest": plugin.manifest.digest(),
        "place": plugin.place,
    })
}

/// Without the values it was given: some people give passwords there, and they could be guessed.
pub(crate) fn execution(execution: &Execution) -> Value {
    json!({
        "id": execution.id,
        "workflow": execution.workflow,
        "version": execution.version,
        "bundle": execution.bundle,
        "options": execution.options,
        "state": execution.state.label(),
        "outcome": execution.state.outcome(),
        "isCancelRequested": execution.is_cancel_requested,
        "stack": execution.care.as_ref().map(|care| &care.stack),
    })
}

/// Without what it says, which may be a secret and is never changed.
pub(crate) fn software_config(config: &SoftwareConfig) -> Value {
    json!({
        "id": config.id,
        "project": config.project_id,
        "name": config.name,
        "group": config.group,
        "created": config.time_created,
    })
}

/// Without its values; a change of them is one of its generation.
pub(crate) fn software_deployment(deployment: &SoftwareDeployment) -> Value {
    json!({
        "id": deployment.id,
        "project": deployment.project_id,
        "config": deployment.config_id,
        "server": deployment.server,
        "action": deployment.action,
        "status": deployment.status,
        "reason": deployment.reason,
        "changed": deployment.time_updated,
    })
}

/// What it is made of is known by its definition.
pub(crate) fn stack(stack: &Stack) -> Value {
    json!({
        "id": stack.id,
        "name": stack.name,
        "standing": stack.standing.heat(),
        "traversal": stack.traversal,
        "wanted": stack.wanted,
        "settled": stack.settled,
        "options": stack.options,
        "mandate": stack.mandate.principal,
        "isFailing": stack.failure.is_some(),
        "isDeleted": stack.is_deleted(),
    })
}

/// What would be done stands in its digest.
pub(crate) fn stack_plan(plan: &StackPlan) -> Value {
    json!({
        "id": plan.id,
        "stack": plan.stack_id,
        "base": plan.base,
        "digest": plan.digest,
        "expires": plan.time_expires,
        "used": plan.time_used,
    })
}

pub(crate) fn stack_drift(drift: &StackDrift) -> Value {
    json!({
        "stack": drift.stack_id,
        "traversal": drift.traversal,
        "looked": drift.looked,
        "changed": drift.changed,
        "missing": drift.missing,
        "unknown": drift.unknown,
        "time": drift.time,
    })
}

pub(crate) fn stack_resource(resource: &StackResource) -> Value {
    json!({
        "id": resource.id,
        "name": resource.name,
        "type": resource.kind,
        "standing": resource.standing.heat(),
        "reason": resource.standing.reason,
        "physical": resource.physical,
        "hooks": resource.hooks,
    })
}
