//! Approvals: who may agree, what exactly to, once, and that nothing gets around it.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use hostler_base::ids::Ids;
use hostler_base::reconcile::Reconciler as _;
use hostler_control::{
    ApprovalConfig, ApprovalDetail, ApprovalQuery, ApprovalWebhook, Consent, Control,
    ControlConfig, Cx, NewArray, NewTask, TaskDetail,
};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::{
    ApprovalId, ApprovalRule, ApprovalState, Code, Error, EventKind, Generation, Grant, Limit,
    Principal, PrincipalKind, Role, Scope, Span, TaskStateKind, WorkloadSpec,
};
use hostler_store::{AuditFilter, EventFilter, OpenOptions, Store};
use hostler_testkit::World;
use serde_json::json;

use crate::postgres::Schema;

/// Somebody with a role in the project of the tests, in the database too.
async fn somebody(world: &World, name: &str, role: Role, kind: PrincipalKind) -> Cx {
    somebody_in(world, Scope::Project(world.project.id), name, role, kind).await
}

pub(crate) async fn somebody_in(
    world: &World,
    scope: Scope,
    name: &str,
    role: Role,
    kind: PrincipalKind,
) -> Cx {
    let mut cx = world.cx.clone();
    cx.caller.principal_id = Ids::system().fresh();
    cx.caller.name = name.parse().unwrap();
    cx.caller.kind = kind;
    cx.caller.grants = vec![Grant::built_in(scope, role)];
    let principal = Principal {
        id: cx.caller.principal_id,
        name: cx.caller.name.clone(),
        kind,
        password_hash: None,
        is_disabled: false,
        generation: Generation::FIRST,
        time_created: world.now(),
        time_modified: world.now(),
    };
    let principal = &principal;
    let stored: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(async move {
                tx.principal_insert(principal).await?;
                tx.role_binding_set(principal.id, scope, role).await
            })
        })
        .await;
    stored.unwrap();
    cx
}

pub(crate) async fn person(world: &World, name: &str, role: Role) -> Cx {
    somebody(world, name, role, PrincipalKind::User).await
}

pub(crate) async fn policy(world: &World, rule: serde_json::Value) {
    let rule: ApprovalRule = serde_json::from_value(rule).unwrap();
    let (name, project) = ("eyes".parse().unwrap(), Some(&world.project));
    let set =
        world.control.approval_policy_set(&world.cx, project, &name, rule, Generation::ZERO).await;
    set.unwrap();
}

async fn submit(world: &World, cx: &Cx, command: &str) -> TaskDetail {
    let task = NewTask { name: None, spec: WorkloadSpec::command([command]) };
    let made = world.control.task_submit(cx, &world.project, vec![task]).await.unwrap();
    made.into_iter().next().unwrap()
}

async fn state(world: &World, task: &TaskDetail) -> TaskStateKind {
    let id = task.workload.id.to_string();
    let task = world.control.task_get(&world.cx, &world.project, &id).await.unwrap();
    task.workload.state.kind()
}

pub(crate) async fn newest(world: &World, cx: &Cx) -> ApprovalDetail {
    let query = ApprovalQuery { is_mine: true, ..ApprovalQuery::default() };
    let page = world.control.approval_list(cx, &query, None, Limit::DEFAULT).await.unwrap();
    page.items.into_iter().next().unwrap()
}

pub(crate) async fn approve(
    world: &World,
    cx: &Cx,
    id: ApprovalId,
) -> Result<ApprovalState, Error> {
    let decided = world.control.approval_decide(cx, id, true, "", None).await?;
    Ok(decided.approval.state)
}

pub(crate) fn with(cx: &Cx, consent: Consent) -> Cx {
    let mut cx = cx.clone();
    cx.request.consent = Some(consent);
    cx
}

async fn kinds(world: &World) -> Vec<EventKind> {
    let mut read = world.store.read().await.unwrap();
    let events = read.event_list(EventFilter::default(), 0, Limit::LARGEST).await.unwrap();
    events.into_iter().map(|event| event.event.kind).collect()
}

pub(crate) async fn actions(world: &World) -> Vec<String> {
    let mut read = world.store.read().await.unwrap();
    let audits = read.audit_list(AuditFilter::default(), None, Limit::LARGEST).await.unwrap();
    audits.items.into_iter().map(|entry| entry.entry.action).collect()
}

fn tasks_of_users() -> serde_json::Value {
    json!({ "verbs": ["task.submit"], "exempt": ["role:operator"] })
}

#[tokio::test]
async fn a_task_waits_until_another_person_agrees() {
    let world = World::new(90).await;
    policy(&world, tasks_of_users()).await;
    let (ada, olga) =
        (person(&world, "ada", Role::User).await, person(&world, "olga", Role::Operator).await);
    let free = submit(&world, &olga, "free").await;
    assert_eq!(free.workload.state.kind(), TaskStateKind::Pending, "operators are exempt");

    let held = submit(&world, &ada, "held").await;
    assert_eq!(held.workload.state.kind(), TaskStateKind::PendingApproval);
    let request = newest(&world, &ada).await;
    let id = request.approval.id;
    assert_eq!(request.approval.tasks, [held.workload.id]);
    assert!(!request.is_decidable);
    let name = held.workload.name.to_string();
    let why = world.control.task_explain(&ada, &world.project, &name).await.unwrap();
    let hints = why.hints.join("\n");
    assert!(hints.contains(&format!("hostler approval approve {id}")), "{hints}");
    assert!(hints.contains("approval.decide"), "{hints}");

    assert_eq!(approve(&world, &ada, id).await.unwrap_err().code, Code::Forbidden);
    let query = ApprovalQuery { is_to_decide: true, ..ApprovalQuery::default() };
    let listed = world.control.approval_list(&olga, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(listed.items.iter().map(|d| d.approval.id).collect::<Vec<_>>(), [id]);
    let other = hostler_model::Digest::from_bytes([1; 32]);
    let wrong = world.control.approval_decide(&olga, id, true, "", Some(other)).await;
    assert_eq!(wrong.unwrap_err().code, Code::Conflict, "another digest was looked at");
    assert_eq!(state(&world, &held).await, TaskStateKind::PendingApproval);

    let digest = Some(request.approval.digest);
    let done = world.control.approval_decide(&olga, id, true, "fine", digest).await.unwrap();
    assert_eq!(done.approval.state, ApprovalState::Used);
    assert_eq!(state(&world, &held).await, TaskStateKind::Pending);
    assert_eq!(approve(&world, &olga, id).await.unwrap_err().code, Code::Conflict);
    let kinds = kinds(&world).await;
    for kind in [
        EventKind::TaskApprovalRequested,
        EventKind::ApprovalRequested,
        EventKind::ApprovalApproved,
        EventKind::ApprovalUsed,
    ] {
        assert!(kinds.contains(&kind), "{kind}");
    }
    let counts = world.control.approval_counts().await.unwrap();
    assert_eq!((counts.waiting, counts.approved, counts.used), (0, 1, 1));
}

#[tokio::test]
async fn nobody_agrees_to_their_own_by_any_account() {
    let world = World::new(91).await;
    policy(&world, json!({ "verbs": ["task.submit"], "approvals": 2 })).await;
    let robot = somebody(&world, "robot", Role::Operator, PrincipalKind::Service).await;
    let (owner, olga, otto) = (
        person(&world, "owner", Role::Operator).await,
        person(&world, "olga", Role::Operator).await,
        person(&world, "otto", Role::Operator).await,
    );
    let (account, maker) = (robot.caller.principal_id, owner.caller.principal_id);
    let noted: Result<(), hostler_store::Error> =
        world.store.tx("test", |tx| Box::pin(tx.token_maker_add(account, maker))).await;
    noted.unwrap();
    let task = submit(&world, &robot, "robots").await;
    let id = newest(&world, &robot).await.approval.id;
    for who in [&robot, &owner] {
        assert_eq!(approve(&world, who, id).await.unwrap_err().code, Code::Forbidden);
    }
    assert_eq!(approve(&world, &olga, id).await.unwrap(), ApprovalState::Waiting);
    let mut second_token = olga.clone();
    second_token.caller.credential = hostler_model::Credential::WebSession(Ids::system().fresh());
    let twice = approve(&world, &second_token, id).await.unwrap_err();
    assert_eq!(twice.code, Code::Conflict, "one person is not two");
    assert_eq!(approve(&world, &otto, id).await.unwrap(), ApprovalState::Used);
    assert_eq!(state(&world, &task).await, TaskStateKind::Pending);

    let own = submit(&world, &olga, "olgas").await;
    let id = newest(&world, &olga).await.approval.id;
    assert_eq!(approve(&world, &olga, id).await.unwrap_err().code, Code::Forbidden);
    assert_eq!(state(&world, &own).await, TaskStateKind::PendingApproval);
}

#[tokio::test]
async fn who_agrees_holds_what_is_agreed_to_and_is_named_by_the_policy() {
    let world = World::new(92).await;
    policy(&world, json!({ "verbs": ["workload.apply"], "by": ["olga"] })).await;
    let ada = person(&world, "ada", Role::User).await;
    let (olga, otto, vera) = (
        person(&world, "olga", Role::Operator).await,
        person(&world, "otto", Role::Operator).await,
        person(&world, "vera", Role::Viewer).await,
    );
    let (name, spec) = ("web".parse().unwrap(), WorkloadSpec::command(["serve"]));
    let held = world.control.workload_apply(&ada, &world.project, &name, &spec, None).await;
    assert_eq!(held.unwrap_err().code, Code::ApprovalRequired);
    let id = newest(&world, &ada).await.approval.id;
    for who in [&otto, &vera] {
        assert_eq!(approve(&world, who, id).await.unwrap_err().code, Code::Forbidden);
    }
    assert_eq!(approve(&world, &olga, id).await.unwrap(), ApprovalState::Approved);
}

#[tokio::test]
async fn an_approval_is_for_exactly_what_was_approved_and_once() {
    let world = World::new(93).await;
    policy(&world, json!({ "verbs": ["workload.apply", "workload.remove"] })).await;
    let (ada, olga) =
        (person(&world, "ada", Role::User).await, person(&world, "olga", Role::Operator).await);
    let name: hostler_model::Name = "web".parse().unwrap();
    let apply = async |cx: &Cx, spec: &WorkloadSpec| {
        let applied = world.control.workload_apply(cx, &world.project, &name, spec, None).await;
        applied.map(|_| ()).map_err(|error| error.code)
    };
    let mut good = WorkloadSpec::command(["serve"]);
    good.env.insert("TOKEN".to_owned(), "env-canary".to_owned());
    let mut evil = good.clone();
    evil.env.insert("TOKEN".to_owned(), "another".to_owned());

    assert_eq!(apply(&ada, &good).await, Err(Code::ApprovalRequired));
    assert_eq!(apply(&ada, &good).await, Err(Code::ApprovalRequired));
    let query = ApprovalQuery { is_mine: true, ..ApprovalQuery::default() };
    let asked = world.control.approval_list(&ada, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(asked.items.len(), 1, "asking again is the same request");
    let id = asked.items[0].approval.id;
    assert!(!asked.items[0].approval.what.to_string().contains("env-canary"));
    let with_id = with(&ada, Consent::Approval(id));
    assert_eq!(apply(&with_id, &good).await, Err(Code::ApprovalRequired), "nobody agreed yet");
    assert_eq!(approve(&world, &olga, id).await.unwrap(), ApprovalState::Approved);
    assert_eq!(apply(&with_id, &evil).await, Err(Code::ApprovalRequired), "it was edited");
    assert!(actions(&world).await.contains(&"approval.refuse".to_owned()));
    let stolen = with(&olga, Consent::Approval(id));
    assert_eq!(apply(&stolen, &good).await, Err(Code::NotFound), "it is not hers");
    assert_eq!(apply(&with_id, &good).await, Ok(()));
    assert_eq!(apply(&ada, &good).await, Ok(()), "what is there already needs no approval");

    let remove = async |cx: &Cx| {
        let removed = world.control.workload_remove(cx, &world.project, "web", None).await;
        removed.map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(remove(&with_id).await, Err(Code::ApprovalRequired), "it is for another verb");
    assert_eq!(remove(&ada).await, Err(Code::ApprovalRequired));
    let shown = world.control.approval_get(&ada, id).await.unwrap();
    assert_eq!(shown.approval.state, ApprovalState::Used);
    let journal = {
        let mut read = world.store.read().await.unwrap();
        let events = read.event_list(EventFilter::default(), 0, Limit::LARGEST).await.unwrap();
        format!("{events:?}")
    };
    assert!(!journal.contains("env-canary"));
}

#[tokio::test]
async fn an_approval_is_used_once_however_many_try() {
    let world = World::new(94).await;
    policy(&world, json!({ "verbs": ["secret.value"] })).await;
    let (olga, otto) = (
        person(&world, "olga", Role::Operator).await,
        person(&world, "otto", Role::Operator).await,
    );
    let value = hostler_trust::SecretBytes::new(b"canary-value");
    let reference = "db".parse().unwrap();
    let set = world.control.secret_set(&world.cx, &world.project, &reference, &value, false).await;
    set.unwrap();
    let read = world.control.secret_read(&olga, &world.project, &reference).await;
    assert_eq!(read.unwrap_err().code, Code::ApprovalRequired);
    let id = newest(&world, &olga).await.approval.id;
    approve(&world, &otto, id).await.unwrap();
    let with_id = with(&olga, Consent::Approval(id));
    let tries = (0..8).map(|_| world.control.secret_read(&with_id, &world.project, &reference));
    let read = join_all(tries).await;
    assert_eq!(read.iter().filter(|outcome| outcome.is_ok()).count(), 1);
}

#[tokio::test]
async fn what_was_not_approved_never_runs() {
    let world = World::new(95).await;
    policy(&world, tasks_of_users()).await;
    let (ada, olga) =
        (person(&world, "ada", Role::User).await, person(&world, "olga", Role::Operator).await);
    let (control, project) = (&world.control, &world.project);

    let denied = submit(&world, &ada, "denied").await;
    let id = newest(&world, &ada).await.approval.id;
    let silent = control.approval_decide(&olga, id, false, "", None).await.unwrap_err();
    assert_eq!(silent.code, Code::Invalid, "a reason is needed");
    control.approval_decide(&olga, id, false, "not on a Friday", None).await.unwrap();
    assert_eq!(state(&world, &denied).await, TaskStateKind::Rejected);
    let name = denied.workload.name.to_string();
    let why = control.task_explain(&ada, project, &name).await.unwrap();
    assert!(why.summary.contains("not on a Friday"), "{}", why.summary);

    let killed = submit(&world, &ada, "killed").await;
    let id = newest(&world, &ada).await.approval.id;
    let name = killed.workload.name.to_string();
    control.task_kill(&ada, project, &name, None).await.unwrap();
    let again = control.task_retry(&ada, project, &name).await.unwrap_err();
    assert_eq!(again.code, Code::Conflict, "a retry is no way around");
    assert_eq!(control.approval_sweep().await.unwrap(), 1);
    let void = control.approval_get(&ada, id).await.unwrap();
    assert_eq!(void.approval.state, ApprovalState::Void);

    let late = submit(&world, &ada, "late").await;
    let id = newest(&world, &ada).await.approval.id;
    world.advance(Duration::from_secs(86_401));
    assert_eq!(approve(&world, &olga, id).await.unwrap_err().code, Code::Conflict);
    assert_eq!(control.approval_sweep().await.unwrap(), 1);
    assert_eq!(state(&world, &late).await, TaskStateKind::Rejected);
    assert!(kinds(&world).await.contains(&EventKind::ApprovalExpired));

    let back = submit(&world, &ada, "back").await;
    let id = newest(&world, &ada).await.approval.id;
    let foreign = control.approval_withdraw(&olga, id).await.unwrap_err();
    assert_eq!(foreign.code, Code::Forbidden);
    control.approval_withdraw(&ada, id).await.unwrap();
    assert_eq!(state(&world, &back).await, TaskStateKind::Rejected);
}

#[tokio::test]
async fn rights_are_looked_at_again_when_it_is_done() {
    let world = World::new(96).await;
    policy(&world, tasks_of_users()).await;
    let (ada, olga) =
        (person(&world, "ada", Role::User).await, person(&world, "olga", Role::Operator).await);
    let task = submit(&world, &ada, "gone").await;
    let id = newest(&world, &ada).await.approval.id;
    let (asker, scope) = (ada.caller.principal_id, Scope::Project(world.project.id));
    let unbound: Result<(), hostler_store::Error> = world
        .store
        .tx("test", |tx| {
            Box::pin(async move { tx.role_binding_set(asker, scope, Role::Viewer).await })
        })
        .await;
    unbound.unwrap();
    assert_eq!(approve(&world, &olga, id).await.unwrap(), ApprovalState::Void);
    assert_eq!(state(&world, &task).await, TaskStateKind::Rejected);
}

#[tokio::test]
async fn an_array_is_one_request_for_all_of_it() {
    let world = World::new(97).await;
    policy(&world, tasks_of_users()).await;
    let (ada, olga) =
        (person(&world, "ada", Role::User).await, person(&world, "olga", Role::Operator).await);
    let (control, project) = (&world.control, &world.project);
    let array = async |name: &str| {
        let new = NewArray {
            name: Some(name.parse().unwrap()),
            spec: {
                let mut spec = WorkloadSpec::command(["true"]);
                spec.queue.start_within = Some(Span::from_secs(60));
                spec
            },
            range: Some("1-5".parse().unwrap()),
        };
        control.task_array_submit(&ada, project, new).await.unwrap();
        newest(&world, &ada).await.approval.id
    };
    let counts = async |name: &str| {
        let detail = control.task_array_get(&ada, project, name).await.unwrap();
        detail.counts.into_iter().collect::<Vec<_>>()
    };
    let id = array("good").await;
    assert_eq!(control.fill_arrays().await.unwrap().made, 0);
    assert_eq!(counts("good").await, [("pending_approval".to_owned(), 5)]);
    world.advance(Duration::from_secs(3600));
    assert_eq!(approve(&world, &olga, id).await.unwrap(), ApprovalState::Used);
    assert_eq!(control.fill_arrays().await.unwrap().made, 5);
    assert_eq!(control.give_up_overdue().await.unwrap(), 0, "its time begins with the approval");
    assert_eq!(counts("good").await, [("pending".to_owned(), 5)]);

    let id = array("bad").await;
    control.approval_decide(&olga, id, false, "too many", None).await.unwrap();
    assert_eq!(control.fill_arrays().await.unwrap().made, 0);
    assert_eq!(counts("bad").await, [("rejected".to_owned(), 5)]);
    let standing = control.task_array_get(&ada, project, "bad").await.unwrap().standing;
    assert_eq!((standing.unsettled, standing.unsuccessful), (0, 5));
}

#[tokio::test]
async fn a_drain_waits_for_somebody_of_the_whole_installation() {
    let world = World::new(101).await;
    world.join("n1").await;
    let rule: ApprovalRule = serde_json::from_value(json!({ "verbs": ["node.drain"] })).unwrap();
    let (control, name) = (&world.control, "drains".parse().unwrap());
    let set = control.approval_policy_set(&world.cx, None, &name, rule, Generation::ZERO).await;
    set.unwrap();
    let kind = PrincipalKind::User;
    let (olga, otto) = (
        somebody_in(&world, Scope::Global, "olga", Role::Operator, kind).await,
        somebody_in(&world, Scope::Global, "otto", Role::Operator, kind).await,
    );
    let local = person(&world, "local", Role::Admin).await;
    let drain = async |cx: &Cx, reason: &str| {
        let drained = control.node_drain(cx, "n1", reason.to_owned(), None).await;
        drained.map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(drain(&olga, "disks").await, Err(Code::ApprovalRequired));
    let id = newest(&world, &olga).await.approval.id;
    let refused = approve(&world, &local, id).await.unwrap_err();
    assert_eq!(refused.code, Code::NotFound, "it is nothing of a project");
    assert_eq!(approve(&world, &otto, id).await.unwrap(), ApprovalState::Approved);
    let with_id = with(&olga, Consent::Approval(id));
    assert_eq!(drain(&with_id, "other disks").await, Err(Code::ApprovalRequired));
    assert_eq!(drain(&with_id, "disks").await, Ok(()));
    assert_eq!(drain(&with_id, "disks").await, Err(Code::ApprovalRequired), "it was used");
}

#[tokio::test]
async fn glass_is_broken_by_few_and_loudly() {
    let world = World::new(98).await;
    policy(&world, json!({ "verbs": ["task.submit"] })).await;
    let ada = person(&world, "ada", Role::User).await;
    let reason = Consent::BreakGlass("the cluster is on fire".to_owned());
    let task = NewTask { name: None, spec: WorkloadSpec::command(["true"]) };
    let refused = world
        .control
        .task_submit(&with(&ada, reason.clone()), &world.project, vec![task])
        .await
        .unwrap_err();
    assert_eq!(refused.code, Code::Forbidden);
    let task = submit(&world, &with(&world.cx, reason), "now").await;
    assert_eq!(task.workload.state.kind(), TaskStateKind::Pending);
    assert!(kinds(&world).await.contains(&EventKind::ApprovalBreakGlass));
    assert!(actions(&world).await.contains(&"approval.break-glass".to_owned()));
    assert_eq!(world.control.approval_counts().await.unwrap().broken, 1);
}

/// Approving, denying, withdrawing and the end of its time, all at once and through two servers.
async fn one_outcome(world: World) {
    policy(&world, tasks_of_users()).await;
    let (ada, olga, otto) = (
        person(&world, "ada", Role::User).await,
        person(&world, "olga", Role::Operator).await,
        person(&world, "otto", Role::Operator).await,
    );
    let other = world.another_server().await;
    for round in 0..8 {
        let task = submit(&world, &ada, "raced").await;
        let id = newest(&world, &ada).await.approval.id;
        if round % 2 == 1 {
            world.advance(Duration::from_secs(86_400));
        }
        let decide = async |control: &Control, cx: &Cx, is_approval: bool| {
            control.approval_decide(cx, id, is_approval, "raced", None).await.is_ok()
        };
        let (approved, denied, withdrawn, swept) = tokio::join!(
            decide(&world.control, &olga, true),
            decide(&other, &otto, false),
            world.control.approval_withdraw(&ada, id),
            other.approval_sweep(),
        );
        let swept = swept.unwrap() > 0;
        let won = [approved, denied, withdrawn.is_ok(), swept];
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "round {round}: {won:?}");
        let last = world.control.approval_get(&ada, id).await.unwrap().approval.state;
        let expected = match won {
            [true, ..] => ApprovalState::Used,
            [_, true, ..] => ApprovalState::Denied,
            [_, _, true, _] => ApprovalState::Withdrawn,
            _ => ApprovalState::Expired,
        };
        assert_eq!(last, expected);
        let is_running = state(&world, &task).await == TaskStateKind::Pending;
        assert_eq!(is_running, last == ApprovalState::Used);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_has_one_outcome() {
    Box::pin(one_outcome(World::new(99).await)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_request_has_one_outcome_on_postgres() {
    let Some(schema) = Schema::create("approvals") else { return };
    Box::pin(one_outcome(World::on(schema.open().await, 99).await)).await;
}

/// Answers every request with a status of the test's choice, and keeps the bodies it accepted.
fn collector(statuses: Vec<u16>) -> (u16, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let bodies: Arc<Mutex<Vec<String>>> = Arc::default();
    let kept = Arc::clone(&bodies);
    std::thread::spawn(move || {
        let mut statuses = statuses.into_iter();
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut text, mut buffer) = (String::new(), [0_u8; 4096]);
            loop {
                if let Some((head, body)) = text.split_once("\r\n\r\n") {
                    let length = head
                        .lines()
                        .filter_map(|line| line.split_once(':'))
                        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
                        .and_then(|(_, value)| value.trim().parse::<usize>().ok());
                    if body.len() >= length.unwrap_or(0) {
                        break;
                    }
                }
                match stream.read(&mut buffer) {
                    Ok(count) if count > 0 => {
                        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
                    }
                    _ => break,
                }
            }
            let status = statuses.next().unwrap_or(200);
            if status == 200
                && let Some((_, body)) = text.split_once("\r\n\r\n")
            {
                kept.lock().unwrap().push(body.to_owned());
            }
            let answer =
                format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    (port, bodies)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_webhook_is_told_in_order_and_again_when_it_fails() {
    let (port, bodies) = collector(vec![503]);
    let policy_of_egress =
        Policy { allow: vec!["127.0.0.1".parse().unwrap()], ..Policy::default() };
    let config = ControlConfig {
        approvals: ApprovalConfig {
            webhook: Some(ApprovalWebhook {
                url: format!("http://127.0.0.1:{port}/hook"),
                token_file: None,
            }),
            dashboard: "https://hostler.test:7443/".to_owned(),
        },
        egress: Egress::new(Options { policy: policy_of_egress, ..Options::default() }),
        ..ControlConfig::default()
    };
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let world = World::configured(store, 100, config).await;
    let mut notice = world.control.approval_notice_reconciler();
    assert_eq!(notice.reconcile().await.error, None, "it begins with what comes now");
    policy(&world, tasks_of_users()).await;
    let (ada, olga) =
        (person(&world, "ada", Role::User).await, person(&world, "olga", Role::Operator).await);
    submit(&world, &ada, "told").await;
    let id = newest(&world, &ada).await.approval.id;
    let failed = notice.reconcile().await;
    assert!(failed.report.is_failing && failed.report.delivered == 0);
    approve(&world, &olga, id).await.unwrap();
    world.advance(Duration::from_secs(600));
    let told = notice.reconcile().await;
    assert_eq!((told.report.delivered, told.report.is_failing), (3, false), "{:?}", told.error);
    let bodies: Vec<serde_json::Value> =
        bodies.lock().unwrap().iter().map(|body| serde_json::from_str(body).unwrap()).collect();
    let kinds: Vec<_> = bodies.iter().map(|body| body["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["approval.requested", "approval.approved", "approval.used"]);
    let link = format!("https://hostler.test:7443/#/approvals/{id}");
    assert_eq!(bodies[0]["approval"]["link"], json!(link));
    world.advance(Duration::from_secs(600));
    assert_eq!(notice.reconcile().await.report.delivered, 0, "each is told once it arrived");
}
