//! The audit record: what entries say of a change, and anchors that show when it was touched.

use std::time::Duration;

use hostler_base::reconcile::Reconciler as _;
use hostler_control::{
    AuditConfig, AuditQuery, ControlConfig, EventQuery, GroupChange, NewGroup, NewJoinToken,
    NewRole, NewTask, NewUser, ProjectChange, RoleChange, UserPatch,
};
use hostler_model::{
    AuditAnchor, AuditEntry, Digest, EventKind, Generation, Labels, Limit, PrincipalKind, Role,
    WorkloadSpec,
};
use hostler_store::{OpenOptions, Store};
use hostler_testkit::World;
use hostler_trust::SecretBytes;

async fn world(audit: AuditConfig) -> World {
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let config = ControlConfig { audit, ..ControlConfig::default() };
    World::configured(store, 5, config).await
}

async fn of(world: &World, action: &str) -> Vec<AuditEntry> {
    let query = AuditQuery { action: Some(action.to_owned()), ..AuditQuery::default() };
    let page = world.control.audit_list(&world.cx, &query, None, Limit::LARGEST).await.unwrap();
    page.items
}

#[tokio::test]
async fn a_change_says_what_was_before_and_what_is_after() {
    let world = World::new(1).await;
    let (control, cx) = (&world.control, &world.cx);
    let change = |text: &str| ProjectChange {
        description: Some(text.to_owned()),
        ..ProjectChange::default()
    };
    let lab = control.project_create(cx, "lab".parse().unwrap(), change("one")).await.unwrap();
    let lab = control.project_update(cx, &lab, change("two"), lab.generation).await.unwrap();
    let same = control.project_update(cx, &lab, change("two"), lab.generation).await.unwrap();
    let user = NewUser {
        name: "bob".parse().unwrap(),
        kind: PrincipalKind::Service,
        password: None,
        role: Some(Role::Viewer.into()),
    };
    control.user_create(cx, user).await.unwrap();
    control.member_set(cx, &same, "bob", Role::User.into()).await.unwrap();
    control.member_set(cx, &same, "bob", Role::Operator.into()).await.unwrap();
    control.member_remove(cx, &same, "bob").await.unwrap();
    let disable = UserPatch { is_disabled: Some(true), ..UserPatch::default() };
    control.user_update(cx, "bob", disable, Generation::FIRST).await.unwrap();
    control.user_remove(cx, "bob", Generation::FIRST.next()).await.unwrap();
    control.project_remove(cx, &same, same.generation).await.unwrap();

    let one = async |action| of(&world, action).await.remove(0).entry;
    let (created, removed) = (one("project.create").await, one("project.remove").await);
    let updates = of(&world, "project.update").await;
    assert_eq!(created.digest_before, None);
    assert_eq!(removed.digest_after, None);
    assert_eq!(created.digest_after, updates[1].entry.digest_before);
    assert_eq!(updates[1].entry.digest_after, updates[0].entry.digest_before);
    assert_eq!(updates[0].entry.digest_after, removed.digest_before);
    assert_ne!(updates[1].entry.digest_before, updates[1].entry.digest_after);

    let members = of(&world, "member.set").await;
    assert_eq!(members[1].entry.digest_before, None);
    assert_eq!(members[1].entry.digest_after, members[0].entry.digest_before);
    let gone = one("member.remove").await;
    assert_eq!((gone.digest_before, gone.digest_after), (members[0].entry.digest_after, None));

    let (made, changed) = (one("user.create").await, one("user.update").await);
    assert_eq!(made.digest_after, changed.digest_before);
    assert_eq!(changed.digest_after, one("user.remove").await.digest_before);

    world.join("n1").await;
    let labels: Labels = [("rack".parse().unwrap(), "a".to_owned())].into_iter().collect();
    let node = control.node_get(cx, "n1").await.unwrap();
    control.node_update(cx, "n1", labels, node.generation).await.unwrap();
    let labelled = of(&world, "node.update").await.remove(0).entry;
    assert!(labelled.digest_before.is_some() && labelled.digest_after.is_some());
    assert_ne!(labelled.digest_before, labelled.digest_after);
    let verdict = control.audit_verify(cx).await.unwrap();
    assert!(verdict.is_intact, "{verdict:?}");
}

async fn anchored(world: &World) -> Option<u64> {
    let pass = world.control.audit_anchor_reconciler().reconcile().await;
    assert_eq!(pass.error, None);
    pass.report.anchored
}

async fn act(world: &World, times: usize) {
    for _ in 0..times {
        let task = NewTask { name: None, spec: WorkloadSpec::command(["true"]) };
        world.control.task_submit(&world.cx, &world.project, vec![task]).await.unwrap();
    }
}

#[tokio::test]
async fn the_chain_is_anchored_after_so_many_entries_or_so_much_time() {
    let config = AuditConfig { anchor_every: 10, ..AuditConfig::default() };
    let world = world(config).await;
    act(&world, 1).await;
    let head = async || world.store.read().await.unwrap().audit_head().await.unwrap().0;
    assert_eq!(anchored(&world).await, Some(head().await));
    assert_eq!(anchored(&world).await, None);
    act(&world, 9).await;
    assert_eq!(anchored(&world).await, None);
    act(&world, 1).await;
    assert_eq!(anchored(&world).await, Some(head().await));
    act(&world, 1).await;
    world.advance(Duration::from_secs(3599));
    assert_eq!(anchored(&world).await, None);
    world.advance(Duration::from_secs(1));
    assert_eq!(anchored(&world).await, Some(head().await));
    world.advance(Duration::from_secs(36_000));
    assert_eq!(anchored(&world).await, None, "nothing is new");

    let by_hand = world.control.audit_anchor_create(&world.cx).await.unwrap();
    assert_eq!(by_hand.sequence, head().await);
    let listed = world.control.audit_anchor_list(&world.cx, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(listed.items.len(), 4);
    assert_eq!(listed.items[0], by_hand);
    let query = EventQuery { kind: Some(EventKind::AuditAnchored.into()), ..EventQuery::default() };
    let told = world.control.event_list(&world.cx, &query, None, Limit::DEFAULT).await.unwrap();
    assert_eq!(told.items.len(), 4);
    assert_eq!(of(&world, "audit.anchor").await.len(), 1, "only what somebody asked for");
    let verdict = world.control.audit_verify(&world.cx).await.unwrap();
    assert!(verdict.is_intact && verdict.anchors == 4, "{verdict:?}");
}

/// What `audit verify` says when `anchor` is there as well.
async fn with(anchor: impl Fn(&World, &AuditAnchor) -> AuditAnchor) -> String {
    let world = World::new(2).await;
    act(&world, 3).await;
    let good = world.control.audit_anchor_create(&world.cx).await.unwrap();
    act(&world, 1).await;
    let odd = anchor(&world, &good);
    let odd_ref = &odd;
    let done: Result<bool, hostler_store::Error> =
        world.store.tx("odd", |tx| Box::pin(tx.audit_anchor_insert(odd_ref))).await;
    assert!(done.unwrap());
    let verdict = world.control.audit_verify(&world.cx).await.unwrap();
    assert!(!verdict.is_intact);
    assert_eq!(verdict.first_bad, Some(odd.sequence));
    verdict.problem.unwrap()
}

#[tokio::test]
async fn an_anchor_that_does_not_fit_shows() {
    let signed = |world: &World, sequence: u64, hash: Vec<u8>, good: &AuditAnchor| {
        let statement = AuditAnchor::statement(sequence, &hash, good.time);
        let authority = world.control.authority();
        let signature = authority.sign_statement(AuditAnchor::PURPOSE, &statement).unwrap();
        AuditAnchor { sequence, hash, signature, ..good.clone() }
    };
    let rewritten = with(|world, good| signed(world, 1, vec![9; 32], good)).await;
    assert!(rewritten.contains("written anew"), "{rewritten}");
    let ahead = with(|world, good| signed(world, 999, vec![9; 32], good)).await;
    assert!(ahead.contains("missing"), "{ahead}");
    let forged = with(|_, good| AuditAnchor { sequence: 1, ..good.clone() }).await;
    assert!(forged.contains("not the authority's"), "{forged}");
    let stranger = with(|_, good| AuditAnchor {
        sequence: 1,
        authority: "sha256:1".to_owned(),
        ..good.clone()
    });
    assert!(stranger.await.contains("another authority"));
}

#[tokio::test]
async fn an_export_has_every_entry_and_no_gap() {
    let world = World::new(3).await;
    act(&world, 25).await;
    let middle = world.now();
    world.advance(Duration::from_secs(60));
    act(&world, 5).await;
    let all = async |since| {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let limit = Limit::new(7).unwrap();
            let page = world.control.audit_export(&world.cx, since, after, limit).await.unwrap();
            seen.extend(page.items);
            match page.next {
                Some(next) => after = Some(next.parse().unwrap()),
                None => return seen,
            }
        }
    };
    let whole = all(None).await;
    assert!(whole.len() >= 30);
    let mut chain = hostler_model::AuditChain::default();
    for entry in &whole {
        chain.follow(entry).unwrap();
    }
    let late = all(Some(middle.plus(Duration::from_secs(1)))).await;
    assert_eq!(late, whole[whole.len() - 5..]);
    assert!(all(Some(world.now().plus(Duration::from_secs(1)))).await.is_empty());
}

/// The digests of entries with these actions, oldest first.
async fn digests(world: &World, actions: &str) -> Vec<(Option<Digest>, Option<Digest>)> {
    let mut entries = of(world, actions).await;
    entries.reverse();
    entries.iter().map(|entry| (entry.entry.digest_before, entry.entry.digest_after)).collect()
}

/// From nothing, each from where the one before it ended, and back to nothing where it says so.
fn assert_fits(digests: &[(Option<Digest>, Option<Digest>)], is_gone: bool) {
    assert!(digests.len() > 1, "{digests:?}");
    assert_eq!(digests[0].0, None, "{digests:?}");
    for pair in digests.windows(2) {
        assert!(pair[0].1.is_some() && pair[0].1 == pair[1].0, "{digests:?}");
    }
    for (before, after) in digests {
        assert_ne!(before, after, "a change changes something");
    }
    assert_eq!(digests.last().is_some_and(|(_, after)| after.is_none()), is_gone, "{digests:?}");
}

#[tokio::test]
async fn changes_of_roles_groups_secrets_and_tokens_follow_on_each_other() {
    let world = World::new(71).await;
    let (control, cx) = (&world.control, &world.cx);
    let new = NewRole {
        name: "reader".parse().unwrap(),
        description: String::new(),
        permissions: vec!["node.read".into()],
    };
    let role = control.role_create(cx, new).await.unwrap();
    let change =
        RoleChange { permissions: Some(vec!["server.read".into()]), ..RoleChange::default() };
    let role = control.role_update(cx, "reader", change, role.generation).await.unwrap();
    control.role_remove(cx, "reader", role.generation).await.unwrap();
    assert_fits(&digests(&world, "role.*").await, true);

    let user = NewUser {
        name: "bob".parse().unwrap(),
        kind: PrincipalKind::Service,
        password: None,
        role: None,
    };
    control.user_create(cx, user).await.unwrap();
    let new =
        NewGroup { name: "ops".parse().unwrap(), description: String::new(), members: Vec::new() };
    control.group_create(cx, new).await.unwrap();
    let group = control.group_member_add(cx, "ops", "bob").await.unwrap();
    let change = GroupChange { role: Some(Some(Role::Viewer.into())), ..GroupChange::default() };
    let group = control.group_update(cx, "ops", change, group.group.generation).await.unwrap();
    control.group_remove(cx, "ops", group.group.generation).await.unwrap();
    assert_fits(&digests(&world, "group.*").await, true);

    let reference = "db".parse().unwrap();
    for value in ["one", "two"] {
        let value = SecretBytes::new(value.as_bytes().to_vec());
        control.secret_set(cx, &world.project, &reference, &value, false).await.unwrap();
    }
    control.secret_destroy(cx, &world.project, &reference, 2).await.unwrap();
    control.secret_remove(cx, &world.project, &reference).await.unwrap();
    assert_fits(&digests(&world, "secret.*").await, true);

    let new = NewJoinToken { name: None, labels: Labels::new(), ttl: None };
    let (token, _) = control.join_token_create(cx, new).await.unwrap();
    control.join_token_revoke(cx, token.id).await.unwrap();
    assert_fits(&digests(&world, "join-token.*").await, false);

    let task = NewTask { name: Some("t".parse().unwrap()), spec: WorkloadSpec::command(["true"]) };
    control.task_submit(cx, &world.project, vec![task]).await.unwrap();
    control.task_pause(cx, &world.project, "t").await.unwrap();
    control.task_resume(cx, &world.project, "t").await.unwrap();
    assert_fits(&digests(&world, "task.*").await, false);
}
