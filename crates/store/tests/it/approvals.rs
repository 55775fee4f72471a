//! Approvals: what is written comes back, one of many decides, and old ones go.

use hostler_model::*;
use hostler_store::{ApprovalFilter, Update};

use crate::world::*;

crate::conformance!(
    a_policy_is_found_where_it_holds,
    a_request_is_what_was_written,
    one_of_many_decides,
    requests_are_listed_page_by_page,
    what_is_over_is_found_and_goes,
    an_array_waits_for_its_approval,
    who_made_a_token_is_remembered,
);

fn rule() -> ApprovalRule {
    serde_json::from_value(serde_json::json!({
        "verbs": ["task.submit"], "by": ["group:ops"], "when": { "coresAbove": 2 },
    }))
    .unwrap()
}

fn policy(scope: Scope, text: &str) -> ApprovalPolicy {
    ApprovalPolicy {
        id: ApprovalPolicyId::from_uuid(next_uuid()),
        scope,
        name: name(text),
        rule: rule(),
        created_by: PrincipalId::from_uuid(next_uuid()),
        generation: Generation::FIRST,
        time_created: at(1),
        time_modified: at(1),
    }
}

fn request(project: Option<&Project>, by: PrincipalId) -> Approval {
    Approval {
        id: ApprovalId::from_uuid(next_uuid()),
        project_id: project.map(|project| project.id),
        verb: Permission::WorkloadApply,
        name: "web".to_owned(),
        digest: Digest::from_bytes([7; 32]),
        what: serde_json::json!({ "b": 1, "a": [2] }),
        requested_by: by,
        tasks: Vec::new(),
        array_id: None,
        needs: vec![ApprovalNeed {
            policy: ApprovalPolicyId::from_uuid(next_uuid()),
            name: name("eyes"),
            approvals: 1,
            by: vec!["group:ops".parse().unwrap()],
            approval_ttl: Span::from_secs(60),
        }],
        decisions: Vec::new(),
        state: ApprovalState::Waiting,
        why: String::new(),
        generation: Generation::FIRST,
        time_created: at(1),
        time_expires: at(100),
        time_ended: None,
    }
}

async fn insert(world: &World, approval: &Approval) {
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.approval_insert(approval))).await;
    done.unwrap();
}

async fn update(world: &World, approval: &Approval, expected: Generation) -> Update {
    let done: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.approval_update(approval, expected))).await;
    done.unwrap()
}

fn somebody() -> PrincipalId {
    PrincipalId::from_uuid(next_uuid())
}

async fn a_policy_is_found_where_it_holds(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let here = Scope::Project(alpha.id);
    let (own, all) = (policy(here, "eyes"), policy(Scope::Global, "eyes"));
    for one in [&own, &all] {
        let done: Result<()> =
            world.tx("test", |tx| Box::pin(tx.approval_policy_insert(one))).await;
        done.unwrap();
    }
    let twin = policy(here, "eyes");
    let twice: Result<()> = world.tx("test", |tx| Box::pin(tx.approval_policy_insert(&twin))).await;
    assert!(matches!(twice.unwrap_err(), hostler_store::Error::Conflict { .. }));
    let mut read = world.read().await.unwrap();
    let found = read.approval_policy_by_name(here, &own.name).await.unwrap();
    assert_eq!(found.as_ref(), Some(&own));
    let ids = |list: Vec<ApprovalPolicy>| {
        let mut ids: Vec<_> = list.into_iter().map(|policy| policy.id).collect();
        ids.sort();
        ids
    };
    let mut both = vec![own.id, all.id];
    both.sort();
    assert_eq!(ids(read.approval_policies_in(Some(alpha.id)).await.unwrap()), both);
    assert_eq!(ids(read.approval_policies_in(Some(beta.id)).await.unwrap()), [all.id]);
    assert_eq!(ids(read.approval_policies_in(None).await.unwrap()), [all.id]);
    let page = read.approval_policy_list(here, None, limit(9)).await.unwrap();
    assert_eq!(ids(page.items), [own.id]);
    drop(read);
    let mut changed = own.clone();
    changed.rule.approvals = 2;
    let (changed, stale) = (&changed, Generation::FIRST.next());
    let refused: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.approval_policy_update(changed, stale))).await;
    assert_eq!(refused.unwrap(), Update::Stale { current: Generation::FIRST });
    let done: Result<Update> = world
        .tx("test", |tx| Box::pin(tx.approval_policy_update(changed, Generation::FIRST)))
        .await;
    assert_eq!(done.unwrap(), Update::Updated);
    let gone: Result<Update> =
        world.tx("test", |tx| Box::pin(tx.approval_policy_delete(changed, stale))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
}

async fn a_request_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let task = world.workload(&project, "one").await;
    let by = somebody();
    let mut asked = request(Some(&project), by);
    asked.tasks = vec![task.id];
    insert(&world, &asked).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.approval_get(asked.id).await.unwrap(), Some(asked.clone()));
    assert_eq!(read.approval_of_task(task.id).await.unwrap(), Some(asked.clone()));
    let (verb, digest) = (asked.verb, asked.digest);
    assert_eq!(read.approval_open(by, verb, digest, at(50)).await.unwrap(), Some(asked.clone()));
    assert_eq!(read.approval_open(by, verb, digest, at(100)).await.unwrap(), None);
    assert_eq!(read.approval_count_waiting().await.unwrap(), 1);
    drop(read);
    let mut decided = asked.clone();
    decided.decisions.push(ApprovalDecision {
        by: somebody(),
        name: name("olga"),
        is_approval: true,
        reason: "fine".to_owned(),
        policies: vec![asked.needs[0].policy],
        time: at(9),
    });
    decided.state = ApprovalState::Approved;
    decided.time_expires = at(70);
    assert_eq!(update(&world, &decided, Generation::FIRST).await, Update::Updated);
    decided.generation = Generation::FIRST.next();
    let mut read = world.read().await.unwrap();
    assert_eq!(read.approval_get(asked.id).await.unwrap(), Some(decided));
    assert_eq!(read.approval_count_waiting().await.unwrap(), 0);
}

async fn one_of_many_decides(world: World) {
    let asked = request(None, somebody());
    insert(&world, &asked).await;
    let (store, seen) = (world.store.clone(), asked.clone());
    let states = [
        ApprovalState::Approved,
        ApprovalState::Denied,
        ApprovalState::Expired,
        ApprovalState::Withdrawn,
    ];
    let outcomes = together(40, move |i| {
        let store = store.clone();
        let next = seen.ended(states[i % states.len()], format!("by {i}"), at(5));
        async move {
            let next = &next;
            let done: Result<Update> =
                store.tx("test", |tx| Box::pin(tx.approval_update(next, Generation::FIRST))).await;
            (i, done.unwrap())
        }
    })
    .await;
    let winners: Vec<usize> =
        outcomes.iter().filter(|(_, done)| done.is_updated()).map(|(i, _)| *i).collect();
    assert_eq!(winners.len(), 1);
    let last = world.read().await.unwrap().approval_get(asked.id).await.unwrap().unwrap();
    assert_eq!(last.why, format!("by {}", winners[0]));
    assert_eq!(last.state, states[winners[0] % states.len()]);
}

async fn requests_are_listed_page_by_page(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let (ann, bob) = (somebody(), somebody());
    let all = [
        request(Some(&alpha), ann),
        request(Some(&beta), ann),
        request(None, bob),
        request(Some(&alpha), bob),
    ];
    for one in &all {
        insert(&world, one).await;
    }
    let mut read = world.read().await.unwrap();
    let first = read.approval_list(ApprovalFilter::default(), None, limit(3)).await.unwrap();
    let rest = read
        .approval_list(ApprovalFilter::default(), first.next.as_deref(), limit(3))
        .await
        .unwrap();
    let mut ids: Vec<_> = first.items.iter().chain(&rest.items).map(|a| a.id).collect();
    assert_eq!((ids.len(), rest.next), (4, None));
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let only = [alpha.id];
    let here = ApprovalFilter { projects: Some(&only), ..ApprovalFilter::default() };
    assert_eq!(read.approval_list(here, None, limit(9)).await.unwrap().items.len(), 2);
    let none = ApprovalFilter { projects: Some(&[]), ..ApprovalFilter::default() };
    assert_eq!(read.approval_list(none, None, limit(9)).await.unwrap().items, []);
    let of_bob = ApprovalFilter {
        requested_by: Some(bob),
        state: Some(ApprovalState::Waiting),
        ..ApprovalFilter::default()
    };
    assert_eq!(read.approval_list(of_bob, None, limit(9)).await.unwrap().items.len(), 2);
}

async fn what_is_over_is_found_and_goes(world: World) {
    let project = world.project("alpha").await;
    let task = world.workload(&project, "one").await;
    let mut of_task = request(Some(&project), somebody());
    of_task.verb = Permission::TaskSubmit;
    of_task.tasks = vec![task.id];
    let other = request(Some(&project), somebody());
    insert(&world, &of_task).await;
    insert(&world, &other).await;
    let mut read = world.read().await.unwrap();
    assert_eq!(read.approval_overdue(at(99), 9).await.unwrap(), []);
    assert_eq!(read.approval_overdue(at(100), 9).await.unwrap().len(), 2);
    let orphans = read.approval_orphans(9).await.unwrap();
    assert_eq!(orphans, std::slice::from_ref(&of_task), "its task does not wait for it");
    drop(read);
    for one in [&of_task, &other] {
        let over = one.ended(ApprovalState::Expired, "late", at(100));
        assert_eq!(update(&world, &over, Generation::FIRST).await, Update::Updated);
    }
    let forget = async || -> u64 {
        let gone: Result<u64> =
            world.tx("test", |tx| Box::pin(tx.approval_delete_before(at(200), 9))).await;
        gone.unwrap()
    };
    assert_eq!(forget().await, 1, "what a task that is there waited for stays");
    world.raw("DELETE FROM workload").await;
    assert_eq!(forget().await, 1);
    assert_eq!(world.read().await.unwrap().approval_get(of_task.id).await.unwrap(), None);
}

async fn an_array_waits_for_its_approval(world: World) {
    let project = world.project("alpha").await;
    let array = TaskArray {
        id: ArrayId::from_uuid(next_uuid()),
        project_id: project.id,
        name: name("many"),
        spec: WorkloadSpec::command(["true"]),
        range: "1-3".parse().unwrap(),
        is_gang: false,
        is_stopped: false,
        trace: None,
        generation: Generation::FIRST,
        created_by: somebody(),
        time_created: at(1),
        time_modified: at(1),
    };
    let mut asked = request(Some(&project), array.created_by);
    asked.array_id = Some(array.id);
    let made: Result<()> = world.tx("test", |tx| Box::pin(tx.task_array_insert(&array))).await;
    made.unwrap();
    insert(&world, &asked).await;
    assert_eq!(world.read().await.unwrap().task_array_unmade(9).await.unwrap(), []);
    let used = asked.ended(ApprovalState::Used, "", at(5));
    assert_eq!(update(&world, &used, Generation::FIRST).await, Update::Updated);
    let id = array.id;
    let done: Result<()> = world.tx("test", |tx| Box::pin(tx.task_array_touch(id, at(5)))).await;
    done.unwrap();
    let unmade = world.read().await.unwrap().task_array_unmade(9).await.unwrap();
    assert_eq!(unmade.len(), 1);
    assert_eq!(unmade[0].array.time_modified, at(5));
}

async fn who_made_a_token_is_remembered(world: World) {
    let (robot, ann, bob) = (somebody(), somebody(), somebody());
    for _ in 0..2 {
        let done: Result<()> =
            world.tx("test", |tx| Box::pin(tx.token_maker_add(robot, ann))).await;
        done.unwrap();
    }
    let mut read = world.read().await.unwrap();
    assert!(read.token_maker_is(robot, ann).await.unwrap());
    assert!(!read.token_maker_is(robot, bob).await.unwrap());
    assert!(!read.token_maker_is(ann, robot).await.unwrap());
    assert_eq!(read.groups_of(ann).await.unwrap(), Vec::<Name>::new());
}
