//! Invitations, password resets, second factors, and logins that failed.

use hostler_model::*;
use hostler_store::Error;

use crate::access::{token, web_session};
use crate::world::*;

crate::conformance!(
    an_invitation_is_what_was_written,
    invitations_are_listed_newest_first_and_by_scope,
    an_invitation_is_used_once_however_many_try,
    an_invitation_that_has_ended_is_not_used,
    a_reset_replaces_the_one_before_and_is_used_once,
    a_second_factor_counts_once_it_is_confirmed,
    a_step_is_used_once_however_many_try,
    recovery_codes_are_used_once_each,
    an_identity_belongs_to_one_user,
    what_belongs_to_a_principal_goes_with_it,
    failures_are_kept_taken_back_and_forgotten,
    sessions_get_new_secrets_and_end_when_nobody_uses_them,
    tokens_are_revoked_by_name,
);

fn invitation(by: &Principal, n: u8, scope: Scope) -> Invitation {
    Invitation {
        id: InvitationId::from_uuid(next_uuid()),
        secret_hash: vec![n; 32],
        scope,
        role: Role::Operator,
        user_name: Some(name("grace")),
        email: "grace@example.org".to_owned(),
        created_by: by.id,
        time_created: at(0),
        time_expires: at(100),
        time_used: None,
        used_by: None,
        time_revoked: None,
    }
}

fn factor(of: &Principal, n: u8) -> SecondFactor {
    SecondFactor {
        principal_id: of.id,
        secret_sealed: vec![n; 60],
        step_last: 0,
        time_created: at(0),
        time_confirmed: None,
    }
}

async fn insert(world: &World, invitation: &Invitation) {
    world.tx("test", |tx| Box::pin(tx.invitation_insert(invitation))).await.unwrap();
}

async fn an_invitation_is_what_was_written(world: World) {
    let (ada, project) = (world.principal("ada").await, world.project("alpha").await);
    let bound = invitation(&ada, 1, Scope::Project(project.id));
    let loose =
        Invitation { user_name: None, email: String::new(), ..invitation(&ada, 2, Scope::Global) };
    for written in [&bound, &loose] {
        insert(&world, written).await;
        let mut reader = world.read().await.unwrap();
        let found = reader.invitation_get(written.id).await.unwrap();
        assert_eq!(found.as_ref(), Some(written));
        assert_eq!(reader.invitation_by_hash(&written.secret_hash).await.unwrap(), found);
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.invitation_by_hash(&[9; 32]).await.unwrap(), None);
    let twin = invitation(&ada, 1, Scope::Global);
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.invitation_insert(&twin))).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
    let deleted =
        world.tx("test", |tx| Box::pin(tx.project_delete(project.id, Generation::FIRST))).await;
    assert!(deleted.unwrap().is_updated());
    assert_eq!(reader.invitation_get(bound.id).await.unwrap(), None);
}

async fn invitations_are_listed_newest_first_and_by_scope(world: World) {
    let (ada, project) = (world.principal("ada").await, world.project("alpha").await);
    let mut made = Vec::new();
    for n in 0..5 {
        let scope = if n % 2 == 0 { Scope::Global } else { Scope::Project(project.id) };
        let one = invitation(&ada, n, scope);
        insert(&world, &one).await;
        made.push(one.id);
    }
    let mut reader = world.read().await.unwrap();
    let ids = |page: &Page<Invitation>| page.items.iter().map(|i| i.id).collect::<Vec<_>>();
    let first = reader.invitation_list(None, None, limit(3)).await.unwrap();
    assert_eq!(ids(&first), [made[4], made[3], made[2]]);
    let rest = reader.invitation_list(None, first.next.as_deref(), limit(3)).await.unwrap();
    assert_eq!((ids(&rest), rest.next), (vec![made[1], made[0]], None));
    let scope = Some(Scope::Project(project.id));
    let page = reader.invitation_list(scope, None, limit(9)).await.unwrap();
    assert_eq!(ids(&page), [made[3], made[1]]);
    let gone = world.tx("test", |tx| Box::pin(tx.invitation_delete_before(at(99)))).await;
    assert_eq!(gone.unwrap(), 0);
    let gone = world.tx("test", |tx| Box::pin(tx.invitation_delete_before(at(100)))).await;
    assert_eq!(gone.unwrap(), 5);
}

async fn an_invitation_is_used_once_however_many_try(world: World) {
    let ada = world.principal("ada").await;
    let one = invitation(&ada, 1, Scope::Global);
    insert(&world, &one).await;
    let (store, id) = (world.store.clone(), one.id);
    let outcomes = together(50, move |_| {
        let store = store.clone();
        let by = PrincipalId::from_uuid(next_uuid());
        async move {
            let done: Result<bool> =
                store.tx("test", |tx| Box::pin(tx.invitation_consume(id, by, at(1)))).await;
            done.map(|done| done.then_some(by))
        }
    })
    .await;
    let winners: Vec<PrincipalId> =
        outcomes.into_iter().filter_map(|outcome| outcome.unwrap()).collect();
    assert_eq!(winners.len(), 1);
    let used = world.read().await.unwrap().invitation_get(id).await.unwrap().unwrap();
    assert_eq!((used.time_used, used.used_by), (Some(at(1)), Some(winners[0])));
    let revoked = world.tx("test", |tx| Box::pin(tx.invitation_revoke(id, at(2)))).await;
    assert!(!revoked.unwrap(), "what was used cannot be taken back");
}

async fn an_invitation_that_has_ended_is_not_used(world: World) {
    let ada = world.principal("ada").await;
    let (late, revoked) = (invitation(&ada, 1, Scope::Global), invitation(&ada, 2, Scope::Global));
    insert(&world, &late).await;
    insert(&world, &revoked).await;
    let consume = async |id, time| -> bool {
        let by = PrincipalId::from_uuid(next_uuid());
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.invitation_consume(id, by, time))).await;
        done.unwrap()
    };
    assert!(!consume(late.id, at(100)).await);
    for expected in [true, false] {
        let done = world.tx("test", |tx| Box::pin(tx.invitation_revoke(revoked.id, at(1)))).await;
        assert_eq!(done.unwrap(), expected);
    }
    assert!(!consume(revoked.id, at(2)).await);
    assert!(consume(late.id, at(99)).await);
}

async fn a_reset_replaces_the_one_before_and_is_used_once(world: World) {
    let ada = world.principal("ada").await;
    let reset = |n: u8| PasswordReset {
        principal_id: ada.id,
        secret_hash: vec![n; 32],
        created_by: ada.id,
        time_created: at(0),
        time_expires: at(100),
    };
    let (first, second) = (reset(1), reset(2));
    for reset in [&first, &second] {
        world.tx("test", |tx| Box::pin(tx.password_reset_set(reset))).await.unwrap();
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.password_reset_by_hash(&first.secret_hash).await.unwrap(), None);
    let found = reader.password_reset_by_hash(&second.secret_hash).await.unwrap();
    assert_eq!(found.as_ref(), Some(&second));
    let consume = async |time| -> bool {
        let hash = &second.secret_hash;
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.password_reset_consume(hash, time))).await;
        done.unwrap()
    };
    assert!(!consume(at(100)).await);
    assert!(consume(at(99)).await);
    assert!(!consume(at(99)).await);
    world.tx("test", |tx| Box::pin(tx.password_reset_set(&first))).await.unwrap();
    for (time, expected) in [(at(99), 0), (at(100), 1)] {
        let gone = world.tx("test", |tx| Box::pin(tx.password_reset_delete_expired(time))).await;
        assert_eq!(gone.unwrap(), expected);
    }
    world.tx("test", |tx| Box::pin(tx.password_reset_set(&first))).await.unwrap();
    for expected in [true, false] {
        let gone = world.tx("test", |tx| Box::pin(tx.password_reset_delete(ada.id))).await;
        assert_eq!(gone.unwrap(), expected);
    }
}

async fn a_second_factor_counts_once_it_is_confirmed(world: World) {
    let ada = world.principal("ada").await;
    let (first, second) = (factor(&ada, 1), factor(&ada, 2));
    for factor in [&first, &second] {
        let begun = world.tx("test", |tx| Box::pin(tx.second_factor_begin(factor))).await;
        assert!(begun.unwrap());
    }
    let mut reader = world.read().await.unwrap();
    let found = reader.second_factor_get(ada.id).await.unwrap().unwrap();
    assert_eq!((&found, found.is_on()), (&second, false));
    let unused = world.tx("test", |tx| Box::pin(tx.second_factor_use(ada.id, 7))).await;
    assert!(!unused.unwrap(), "it does not count yet");
    let confirm = async |factor: &SecondFactor| -> bool {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.second_factor_confirm(factor, 7, at(3)))).await;
        done.unwrap()
    };
    assert!(!confirm(&first).await, "it was replaced");
    assert!(confirm(&second).await);
    assert!(!confirm(&second).await);
    let found = reader.second_factor_get(ada.id).await.unwrap().unwrap();
    assert_eq!((found.step_last, found.time_confirmed), (7, Some(at(3))));
    let begun = world.tx("test", |tx| Box::pin(tx.second_factor_begin(&first))).await;
    assert!(!begun.unwrap(), "one that counts is not replaced");
    for expected in [true, false] {
        let gone = world.tx("test", |tx| Box::pin(tx.second_factor_delete(ada.id))).await;
        assert_eq!(gone.unwrap(), expected);
    }
}

async fn a_step_is_used_once_however_many_try(world: World) {
    let ada = world.principal("ada").await;
    let own = factor(&ada, 1);
    let own = &own;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.second_factor_begin(own).await?;
                tx.second_factor_confirm(own, 5, at(1)).await
            })
        })
        .await
        .unwrap();
    let (store, id) = (world.store.clone(), ada.id);
    let outcomes = together(20, move |_| {
        let store = store.clone();
        async move {
            let done: Result<bool> =
                store.tx("test", |tx| Box::pin(tx.second_factor_use(id, 6))).await;
            done
        }
    })
    .await;
    assert_eq!(outcomes.into_iter().filter(|done| *done.as_ref().unwrap()).count(), 1);
    let older = world.tx("test", |tx| Box::pin(tx.second_factor_use(ada.id, 5))).await;
    assert!(!older.unwrap());
}

async fn recovery_codes_are_used_once_each(world: World) {
    let ada = world.principal("ada").await;
    let set = async |codes: &[[u8; 32]]| {
        let done: Result<()> =
            world.tx("test", |tx| Box::pin(tx.recovery_codes_set(ada.id, codes))).await;
        done.unwrap();
    };
    set(&[[1; 32], [2; 32]]).await;
    set(&[[2; 32], [3; 32], [4; 32]]).await;
    let used = async |code: [u8; 32]| -> bool {
        let done: Result<bool> =
            world.tx("test", |tx| Box::pin(tx.recovery_code_use(ada.id, &code))).await;
        done.unwrap()
    };
    assert!(!used([1; 32]).await, "it was replaced");
    assert!(used([3; 32]).await);
    assert!(!used([3; 32]).await);
    assert_eq!(world.read().await.unwrap().recovery_code_count(ada.id).await.unwrap(), 2);
}

async fn what_belongs_to_a_principal_goes_with_it(world: World) {
    let ada = world.principal("ada").await;
    let (own, made) = (factor(&ada, 1), invitation(&ada, 1, Scope::Global));
    let reset = PasswordReset {
        principal_id: ada.id,
        secret_hash: vec![3; 32],
        created_by: ada.id,
        time_created: at(0),
        time_expires: at(9),
    };
    let (own, made, reset) = (&own, &made, &reset);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.second_factor_begin(own).await?;
                tx.recovery_codes_set(own.principal_id, &[[1; 32]]).await?;
                tx.password_reset_set(reset).await?;
                tx.invitation_insert(made).await
            })
        })
        .await
        .unwrap();
    let gone =
        world.tx("test", |tx| Box::pin(tx.principal_delete(ada.id, Generation::FIRST))).await;
    assert!(gone.unwrap().is_updated());
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.second_factor_get(ada.id).await.unwrap(), None);
    assert_eq!(reader.recovery_code_count(ada.id).await.unwrap(), 0);
    assert_eq!(reader.password_reset_by_hash(&reset.secret_hash).await.unwrap(), None);
    assert_eq!(reader.invitation_get(made.id).await.unwrap(), None);
}

async fn failures_are_kept_taken_back_and_forgotten(world: World) {
    let tally = |kind, failures, seconds| LoginTally {
        kind,
        subject: vec![5; 32],
        failures,
        time_last: at(seconds),
        is_told: failures > 1,
    };
    let get =
        async |kind| world.read().await.unwrap().login_tally_get(kind, &[5; 32]).await.unwrap();
    for tally in [tally(TallyKind::Name, 1, 0), tally(TallyKind::Source, 7, 5)] {
        world.tx("test", |tx| Box::pin(tx.login_tally_set(&tally))).await.unwrap();
        assert_eq!(get(tally.kind).await, Some(tally));
    }
    let again = tally(TallyKind::Name, 2, 9);
    world.tx("test", |tx| Box::pin(tx.login_tally_set(&again))).await.unwrap();
    assert_eq!(get(TallyKind::Name).await, Some(again));
    for left in [1, 0, 0] {
        world
            .tx("test", |tx| Box::pin(tx.login_tally_refund(TallyKind::Name, &[5; 32])))
            .await
            .unwrap();
        assert_eq!(get(TallyKind::Name).await.unwrap().failures, left);
    }
    for (seconds, gone) in [(5, 0), (6, 1)] {
        let done = world
            .tx("test", |tx| Box::pin(tx.login_tally_delete_before(TallyKind::Source, at(seconds))))
            .await;
        assert_eq!(done.unwrap(), gone);
    }
    assert!(get(TallyKind::Name).await.is_some(), "another kind stays");
    world
        .tx("test", |tx| Box::pin(tx.login_tally_delete(TallyKind::Name, &[5; 32])))
        .await
        .unwrap();
    assert_eq!(get(TallyKind::Name).await, None);
}

async fn sessions_get_new_secrets_and_end_when_nobody_uses_them(world: World) {
    let ada = world.principal("ada").await;
    let session = web_session(&ada, 1, 100);
    world.tx("test", |tx| Box::pin(tx.web_session_insert(&session))).await.unwrap();
    let done = world.tx("test", |tx| Box::pin(tx.web_session_rekey(session.id, &[9; 32]))).await;
    assert!(done.unwrap());
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.web_session_by_hash(&session.secret_hash).await.unwrap(), None);
    let found = reader.web_session_by_hash(&[9; 32]).await.unwrap().unwrap();
    assert_eq!(found.id, session.id);
    let used = session.time_last_used;
    let before = Timestamp::from_micros(used.micros() - 1);
    for (since, gone) in [(before, 0), (used, 1)] {
        let done = world.tx("test", |tx| Box::pin(tx.web_session_delete_idle(since))).await;
        assert_eq!(done.unwrap(), gone);
    }
    let done = world.tx("test", |tx| Box::pin(tx.web_session_rekey(session.id, &[8; 32]))).await;
    assert!(!done.unwrap());
}

async fn tokens_are_revoked_by_name(world: World) {
    let (ada, eve) = (world.principal("ada").await, world.principal("eve").await);
    let named = |of: &Principal, n: u8, text: &str| Token { name: name(text), ..token(of, n) };
    let (kept, gone) = (named(&ada, 1, "login"), named(&ada, 2, "login"));
    let (other, hers) = (named(&ada, 3, "laptop"), named(&eve, 4, "login"));
    for token in [&kept, &gone, &other, &hers] {
        world.tx("test", |tx| Box::pin(tx.token_insert(token))).await.unwrap();
    }
    let revoke = async |but| -> u64 {
        let done: Result<u64> = world
            .tx("test", |tx| Box::pin(tx.token_revoke_named(ada.id, "login", but, at(1))))
            .await;
        done.unwrap()
    };
    assert_eq!(revoke(Some(kept.id)).await, 1);
    assert_eq!(revoke(Some(kept.id)).await, 0);
    let mut reader = world.read().await.unwrap();
    for (token, is_revoked) in [(&kept, false), (&gone, true), (&other, false), (&hers, false)] {
        let found = reader.token_get(token.id).await.unwrap().unwrap();
        assert_eq!(found.time_revoked.is_some(), is_revoked, "{found:?}");
    }
    assert_eq!(revoke(None).await, 1);
}

async fn an_identity_belongs_to_one_user(world: World) {
    let (ada, bob) = (world.principal("ada").await, world.principal("bob").await);
    let identity = |of: &Principal, issuer: &str, subject: &str| UserIdentity {
        issuer: issuer.to_owned(),
        subject: subject.to_owned(),
        principal_id: of.id,
        email: "ada@example.org".to_owned(),
        time_created: at(1),
        time_last_used: None,
    };
    let first = identity(&ada, "https://a.example", "u1");
    let second = identity(&ada, "https://b.example", "u1");
    for own in [&second, &first] {
        assert!(world.tx("test", |tx| Box::pin(tx.user_identity_insert(own))).await.unwrap());
    }
    let stolen = identity(&bob, "https://a.example", "u1");
    assert!(!world.tx("test", |tx| Box::pin(tx.user_identity_insert(&stolen))).await.unwrap());
    let mut reader = world.store.read().await.unwrap();
    let found = reader.user_identity_get("https://a.example", "u1").await.unwrap();
    assert_eq!(found, Some(first.clone()));
    assert_eq!(reader.user_identity_get("https://a.example", "U1").await.unwrap(), None);
    assert_eq!(reader.user_identity_list(ada.id).await.unwrap(), [first.clone(), second.clone()]);
    assert!(reader.user_identity_list(bob.id).await.unwrap().is_empty());
    drop(reader);
    let used = world
        .tx("test", |tx| Box::pin(tx.user_identity_use("https://a.example", "u1", "new", at(5))))
        .await;
    assert!(used.unwrap());
    let delete = async |of: PrincipalId, issuer: &str| {
        let gone = world.tx("test", |tx| Box::pin(tx.user_identity_delete(of, issuer, "u1"))).await;
        gone.unwrap()
    };
    assert!(!delete(bob.id, "https://a.example").await, "it is not his");
    assert!(delete(ada.id, "https://b.example").await);
    let mut reader = world.store.read().await.unwrap();
    let left = reader.user_identity_list(ada.id).await.unwrap();
    let expected = UserIdentity { email: "new".into(), time_last_used: Some(at(5)), ..first };
    assert_eq!(left, [expected]);
    drop(reader);
    let gone = world.tx("test", |tx| Box::pin(tx.principal_delete(ada.id, ada.generation))).await;
    assert_eq!(gone.unwrap(), hostler_store::Update::Updated);
    let mut reader = world.store.read().await.unwrap();
    assert_eq!(reader.user_identity_get("https://a.example", "u1").await.unwrap(), None);
}
