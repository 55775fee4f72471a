//! What audit entries say of what was and what is: every change has digests, or a reason to have none.

use std::collections::{BTreeMap, BTreeSet};

use hostler_control::{
    Bundle, Cx, ExecutionRetry, LoginKind, NewArray, NewBlob, NewExecution, NewInvitation, NewTask,
    NewWorkflow, Stateless, UserPatch,
};
use hostler_model::{
    AuditEntry, BlobKind, BlobScope, Digest, Limit, NewAuditEntry, Role, WorkloadSpec,
};
use hostler_testkit::World;
use hostler_trust::SecretBytes;

use crate::people::{browser, from, secret, user};

const PASSWORD: &str = "correct horse battery staple";

/// Everything that was recorded, oldest first.
async fn record(world: &World) -> Vec<NewAuditEntry> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let limit = Limit::LARGEST;
        let page = world.control.audit_export(&world.cx, None, after, limit).await.unwrap();
        seen.extend(page.items.into_iter().map(|entry: AuditEntry| entry.entry));
        match page.next {
            Some(next) => after = Some(next.parse().unwrap()),
            None => return seen,
        }
    }
}

/// The digests of the only entry with this action.
async fn only(world: &World, action: &str) -> (Option<Digest>, Option<Digest>) {
    let mut found = record(world).await;
    found.retain(|entry| entry.action == action);
    assert_eq!(found.len(), 1, "{action}");
    (found[0].digest_before, found[0].digest_after)
}

async fn tasks(world: &World, names: &[&str]) {
    let new = names.iter().map(|name| NewTask {
        name: Some(name.parse().unwrap()),
        spec: WorkloadSpec::command(["true"]),
    });
    world.control.task_submit(&world.cx, &world.project, new.collect()).await.unwrap();
}

async fn people(world: &World) {
    let (control, cx) = (&world.control, &world.cx);
    let new = NewInvitation { role: Role::User, name: None, email: String::new(), ttl: None };
    for (who, project) in [("ada", None), ("eve", Some(&world.project))] {
        let (_, link) = control.invitation_create(cx, project, new.clone()).await.unwrap();
        let (name, password) = (Some(who.parse().unwrap()), secret(PASSWORD));
        let request = from("10.0.0.7");
        control
            .invitation_accept(&request, link.expose(), name, &password, LoginKind::Token)
            .await
            .unwrap();
    }
    user(world, "bob", Some(Role::Viewer)).await;
    let (bob, _) = browser(world, "bob", None).await;
    let changed = secret("another horse battery staple");
    control.password_change(&bob, &secret(PASSWORD), &changed).await.unwrap();
    control.second_factor_enrol(&bob, &changed).await.unwrap();
    control.logout(&bob).await.unwrap();
    control.user_sessions_end(cx, "ada").await.unwrap();
    let (_, _, link) = control.password_reset_issue(cx, "bob", None).await.unwrap();
    let new = secret("a third horse battery staple");
    control.password_reset_use(&from("10.0.0.7"), link.expose(), &new).await.unwrap();
    control.second_factor_reset(cx, "bob").await.unwrap();
}

async fn content(world: &World) {
    let (control, cx, project) = (&world.control, &world.cx, &world.project);
    let reference = "db".parse().unwrap();
    let value = SecretBytes::new(b"value".to_vec());
    control.secret_set(cx, project, &reference, &value, false).await.unwrap();
    control.secret_read(cx, project, &reference).await.unwrap();
    let scope = BlobScope::Project(project.id);
    let new = NewBlob {
        scope,
        kind: BlobKind::File,
        label: "nothing".into(),
        digest: hostler_blob::digest_of(b""),
        chunks: Vec::new(),
    };
    let blob = control.blob_commit(cx, new).await.unwrap().blob;
    control.blob_remove(cx, project, blob.digest).await.unwrap();
}

async fn workflows(world: &World) {
    let (control, cx, project) = (&world.control, &world.cx, &world.project);
    for text in ["true", "false"] {
        let text = format!("workflow.define('w'):tasks({{ task('a'):command('{text}'):build() }})");
        let bundle = Bundle { name: "w.sloth".into(), text, files: BTreeMap::new() };
        let new = NewWorkflow { bundle, values: serde_json::Value::Null, is_strict: true };
        control.workflow_push(cx, project, new).await.unwrap();
    }
    let begun = control.workflow_run(cx, project, "w", NewExecution::default()).await.unwrap();
    let id = begun.execution.id;
    control.execution_cancel(cx, project, id).await.unwrap();
    while control.advance_executions().await.unwrap().0.moved > 0 {}
    control.execution_retry(cx, project, id, &ExecutionRetry::default()).await.unwrap();
    control.workflow_remove(cx, project, "w").await.unwrap();
}

async fn nodes(world: &World) {
    let (control, cx) = (&world.control, &world.cx);
    world.join("n1").await;
    control.node_drain(cx, "n1", "gone".into(), None).await.unwrap();
    let mut operations = world.operations();
    operations.pass().await;
    let operation = control.node_drain(cx, "n1", "again".into(), None).await.unwrap();
    control.operation_cancel(cx, operation.id).await.unwrap();
}

#[tokio::test]
async fn every_change_has_digests_or_a_reason_to_have_none() {
    let world = World::new(81).await;
    people(&world).await;
    content(&world).await;
    Box::pin(workflows(&world)).await;
    nodes(&world).await;
    tasks(&world, &["one"]).await;
    tasks(&world, &["two", "three"]).await;
    world.control.task_kill(&world.cx, &world.project, "one", None).await.unwrap();
    world.control.task_remove(&world.cx, &world.project, "one").await.unwrap();
    let new = NewArray {
        name: None,
        spec: WorkloadSpec::command(["true"]),
        range: Some("1-3".parse().unwrap()),
    };
    let made = world.control.task_array_submit(&world.cx, &world.project, new).await.unwrap();
    let id = made.array.id.to_string();
    world.control.task_array_kill(&world.cx, &world.project, &id, None).await.unwrap();
    world.control.audit_anchor_create(&world.cx).await.unwrap();

    let stateless: BTreeSet<&str> = Stateless::ALL.iter().map(|one| one.action()).collect();
    let record = record(&world).await;
    for entry in &record {
        let has = entry.digest_before.is_some() || entry.digest_after.is_some();
        assert_ne!(has, stateless.contains(entry.action.as_str()), "{}", entry.action);
    }
    let seen: BTreeSet<&str> = record.iter().map(|entry| entry.action.as_str()).collect();
    for action in [
        "array.create",
        "array.kill",
        "blob.create",
        "blob.remove",
        "execution.cancel",
        "execution.create",
        "execution.retry",
        "invitation.accept",
        "login",
        "logout",
        "node.drain",
        "node.join",
        "operation.cancel",
        "password-reset.issue",
        "password-reset.use",
        "second-factor.enrol",
        "second-factor.reset",
        "secret.read",
        "task.create-batch",
        "user.end-sessions",
        "user.password-change",
        "workflow.push",
        "workflow.remove",
    ] {
        assert!(seen.contains(action), "{action} is not tried; there are {seen:?}");
    }
}

#[tokio::test]
async fn accounts_follow_on_from_an_invitation() {
    let world = World::new(82).await;
    let (control, cx) = (&world.control, &world.cx);
    let new = NewInvitation { role: Role::User, name: None, email: String::new(), ttl: None };
    let (_, link) = control.invitation_create(cx, None, new).await.unwrap();
    let (name, password) = (Some("ada".parse().unwrap()), secret(PASSWORD));
    let kind = LoginKind::Token;
    let request = from("10.0.0.7");
    control.invitation_accept(&request, link.expose(), name, &password, kind).await.unwrap();
    let (ada, _): (Cx, _) = browser(&world, "ada", None).await;
    let changed = secret("another horse battery staple");
    control.password_change(&ada, &password, &changed).await.unwrap();
    let now = control.user_get(cx, "ada").await.unwrap();
    let disable = UserPatch { is_disabled: Some(true), ..UserPatch::default() };
    control.user_update(cx, "ada", disable, now.principal.generation).await.unwrap();

    let accepted = only(&world, "invitation.accept").await;
    let changed = only(&world, "user.password-change").await;
    let updated = only(&world, "user.update").await;
    assert_eq!(accepted.0, None);
    assert!(accepted.1.is_some());
    assert_eq!(accepted.1, changed.0);
    assert_eq!(changed.1, updated.0);
}

#[tokio::test]
async fn a_batch_has_one_digest_of_the_state_of_each() {
    let world = World::new(83).await;
    tasks(&world, &["one", "two", "three"]).await;
    let (before, after) = only(&world, "task.create-batch").await;
    assert_eq!(before, None);
    world.control.task_kill(&world.cx, &world.project, "two", None).await.unwrap();
    let (was, _) = only(&world, "task.kill").await;
    let states: Vec<serde_json::Value> = {
        let mut states = Vec::new();
        for name in ["one", "two", "three"] {
            let task = world.control.task_get(&world.cx, &world.project, name).await.unwrap();
            let task = task.workload;
            let state = serde_json::json!({
                "id": task.id,
                "name": task.name,
                "spec": &*task.spec,
                "desired": "run",
                "state": "pending",
            });
            let digest = hostler_blob::digest_of(state.to_string().as_bytes());
            if name == "two" {
                assert_eq!(Some(digest), was, "each one's state is as the next change says");
            }
            states.push(serde_json::json!({ "id": task.id, "digest": digest }));
        }
        states
    };
    let all = hostler_blob::digest_of(serde_json::Value::Array(states).to_string().as_bytes());
    assert_eq!(after, Some(all));
}

#[test]
fn what_has_no_digests_is_in_the_documents() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/running/audit.md");
    let page = std::fs::read_to_string(page).unwrap();
    for one in Stateless::ALL {
        let row = format!("| `{}` | {} |", one.action(), one.reason());
        assert!(page.contains(&row), "docs/running/audit.md lacks the line:\n{row}");
    }
}
