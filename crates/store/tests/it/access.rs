//! Projects, principals, role bindings, tokens, web sessions.

use hostler_model::*;
use hostler_store::{ConflictReason, Error, Update};

use crate::world::*;

crate::conformance!(
    a_project_is_what_was_written,
    project_names_are_unique,
    projects_are_listed_by_name_in_pages,
    project_updates_name_the_generation_they_saw,
    a_project_with_workloads_stays,
    a_project_takes_its_bindings_and_tokens_along,
    a_principal_is_what_was_written,
    principals_are_listed_by_name,
    a_deleted_principal_leaves_nothing,
    one_role_is_bound_per_scope,
    bindings_are_listed_in_pages,
    admins_are_counted,
    a_token_is_found_by_hash_until_it_is_gone,
    limits_of_tokens_are_what_was_written,
    tokens_are_listed_newest_first,
    last_use_never_goes_back,
    web_sessions_come_and_go,
);

async fn a_project_is_what_was_written(world: World) {
    let project = world.project("alpha").await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.project_get(project.id).await.unwrap(), Some(project.clone()));
    assert_eq!(reader.project_by_name(&project.name).await.unwrap(), Some(project));
    assert_eq!(reader.project_by_name(&name("beta")).await.unwrap(), None);
    let nobody = ProjectId::from_uuid(next_uuid());
    assert_eq!(reader.project_get(nobody).await.unwrap(), None);
}

async fn project_names_are_unique(world: World) {
    world.project("alpha").await;
    let twin = project("alpha");
    let error: Error = world.tx("test", |tx| Box::pin(tx.project_insert(&twin))).await.unwrap_err();
    assert!(
        matches!(&error, Error::Conflict { reason: ConflictReason::NameTaken, object, .. } if object == "project"),
        "{error:?}"
    );
    assert_eq!(hostler_model::Error::from(error).code, Code::AlreadyExists);
}

async fn projects_are_listed_by_name_in_pages(world: World) {
    // By bytes: `a-z` before `a0` before `ab`, in any locale.
    let names = ["a-z", "a0", "ab", "b", "c"];
    let mut projects = Vec::new();
    for text in ["c", "ab", "b", "a-z", "a0"] {
        projects.push(world.project(text).await);
    }
    let mut reader = world.read().await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = reader.project_list(None, after.as_deref(), limit(2)).await.unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(page.items.iter().map(|p| p.name.to_string()));
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    assert_eq!(seen, names);
    let visible = [projects[0].id, projects[2].id, projects[3].id];
    let page = reader.project_list(Some(&visible), None, limit(10)).await.unwrap();
    let seen: Vec<_> = page.items.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(seen, ["a-z", "b", "c"]);
    let none = reader.project_list(Some(&[]), None, limit(10)).await.unwrap();
    assert!(none.items.is_empty() && none.next.is_none());
}

async fn project_updates_name_the_generation_they_saw(world: World) {
    let mut project = world.project("alpha").await;
    project.description = "changed".to_owned();
    project.time_modified = at(5);
    let update =
        world.tx("test", |tx| Box::pin(tx.project_update(&project, Generation::FIRST))).await;
    assert_eq!(update.unwrap(), Update::Updated);
    let stale =
        world.tx("test", |tx| Box::pin(tx.project_update(&project, Generation::FIRST))).await;
    let current = Generation::from_u64(2);
    assert_eq!(stale.unwrap(), Update::Stale { current });
    let stored = world.read().await.unwrap().project_get(project.id).await.unwrap();
    assert_eq!(stored, Some(Project { generation: current, ..project.clone() }));
    let other = self::project("other");
    let missing =
        world.tx("test", |tx| Box::pin(tx.project_update(&other, Generation::FIRST))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
    let error = Update::Missing.required("project", other.id).unwrap_err();
    assert_eq!(hostler_model::Error::from(error).code, Code::NotFound);
    let error = Update::Stale { current }.required("project", other.id).unwrap_err();
    assert_eq!(hostler_model::Error::from(error).code, Code::Stale);
}

async fn a_project_with_workloads_stays(world: World) {
    let project = world.project("alpha").await;
    world.workload(&project, "job").await;
    let error: Error = world
        .tx("test", |tx| Box::pin(tx.project_delete(project.id, Generation::FIRST)))
        .await
        .unwrap_err();
    assert!(matches!(error, Error::Conflict { reason: ConflictReason::InUse, .. }), "{error:?}");
    assert_eq!(hostler_model::Error::from(error).code, Code::Conflict);
}

async fn a_project_takes_its_bindings_and_tokens_along(world: World) {
    let project = world.project("alpha").await;
    let ada = world.principal("ada").await;
    let mut bound = token(&ada, 1);
    bound.limits.projects = Some(vec![project.id]);
    let mut wide = token(&ada, 2);
    wide.limits.projects = Some(vec![project.id, ProjectId::from_uuid(next_uuid())]);
    let (project_ref, ada_ref, bound_ref, wide_ref) = (&project, &ada, &bound, &wide);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.role_binding_set(ada_ref.id, Scope::Project(project_ref.id), Role::User).await?;
                tx.token_insert(bound_ref).await?;
                tx.token_insert(wide_ref).await
            })
        })
        .await
        .unwrap();
    let stale = world
        .tx("test", |tx| Box::pin(tx.project_delete(project.id, Generation::from_u64(7))))
        .await;
    assert_eq!(stale.unwrap(), Update::Stale { current: Generation::FIRST });
    let gone =
        world.tx("test", |tx| Box::pin(tx.project_delete(project.id, Generation::FIRST))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    let missing =
        world.tx("test", |tx| Box::pin(tx.project_delete(project.id, Generation::FIRST))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.role_bindings_of(ada.id).await.unwrap(), vec![]);
    assert_eq!(reader.token_get(bound.id).await.unwrap(), None);
    assert_eq!(reader.token_get(wide.id).await.unwrap(), Some(wide));
}

async fn a_principal_is_what_was_written(world: World) {
    let mut ada = world.principal("ada").await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.principal_get(ada.id).await.unwrap(), Some(ada.clone()));
    assert_eq!(reader.principal_by_name(&ada.name).await.unwrap(), Some(ada.clone()));
    assert_eq!(reader.principal_count().await.unwrap(), 1);
    ada.password_hash = None;
    ada.is_disabled = true;
    let update =
        world.tx("test", |tx| Box::pin(tx.principal_update(&ada, Generation::FIRST))).await;
    assert_eq!(update.unwrap(), Update::Updated);
    ada.generation = Generation::from_u64(2);
    assert_eq!(reader.principal_get(ada.id).await.unwrap(), Some(ada.clone()));
    let stale = world.tx("test", |tx| Box::pin(tx.principal_update(&ada, Generation::FIRST))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: ada.generation });
    let twin = principal("ada");
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.principal_insert(&twin))).await.unwrap_err();
    assert!(matches!(error, Error::Conflict { .. }), "{error:?}");
}

async fn principals_are_listed_by_name(world: World) {
    for text in ["c", "a", "b"] {
        world.principal(text).await;
    }
    let mut reader = world.read().await.unwrap();
    let first = reader.principal_list(None, limit(2)).await.unwrap();
    let names = |page: &Page<Principal>| -> Vec<String> {
        page.items.iter().map(|p| p.name.to_string()).collect()
    };
    assert_eq!(names(&first), ["a", "b"]);
    let rest = reader.principal_list(first.next.as_deref(), limit(2)).await.unwrap();
    assert_eq!(names(&rest), ["c"]);
    assert_eq!(rest.next, None);
}

async fn a_deleted_principal_leaves_nothing(world: World) {
    let ada = world.principal("ada").await;
    let (token, session) = (token(&ada, 1), web_session(&ada, 2, 100));
    let (ada_ref, token_ref, session_ref) = (&ada, &token, &session);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.role_binding_set(ada_ref.id, Scope::Global, Role::Admin).await?;
                tx.token_insert(token_ref).await?;
                tx.web_session_insert(session_ref).await
            })
        })
        .await
        .unwrap();
    let stale =
        world.tx("test", |tx| Box::pin(tx.principal_delete(ada.id, Generation::from_u64(9)))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: Generation::FIRST });
    let gone =
        world.tx("test", |tx| Box::pin(tx.principal_delete(ada.id, Generation::FIRST))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.principal_get(ada.id).await.unwrap(), None);
    assert_eq!(reader.token_get(token.id).await.unwrap(), None);
    assert_eq!(reader.web_session_get(session.id).await.unwrap(), None);
    assert_eq!(reader.role_bindings_of(ada.id).await.unwrap(), vec![]);
    let missing =
        world.tx("test", |tx| Box::pin(tx.principal_delete(ada.id, Generation::FIRST))).await;
    assert_eq!(missing.unwrap(), Update::Missing);
}

async fn one_role_is_bound_per_scope(world: World) {
    let ada = world.principal("ada").await;
    let project = world.project("alpha").await;
    let scope = Scope::Project(project.id);
    for role in [Role::User, Role::Operator] {
        world.tx("test", |tx| Box::pin(tx.role_binding_set(ada.id, scope, role))).await.unwrap();
    }
    world
        .tx("test", |tx| Box::pin(tx.role_binding_set(ada.id, Scope::Global, Role::Viewer)))
        .await
        .unwrap();
    let bindings = world.read().await.unwrap().role_bindings_of(ada.id).await.unwrap();
    let roles: Vec<_> = bindings.into_iter().map(|b| (b.scope, b.role)).collect();
    assert_eq!(roles, [(scope, Role::Operator.into()), (Scope::Global, Role::Viewer.into())]);
    for expected in [true, false] {
        let removed = world.tx("test", |tx| Box::pin(tx.role_binding_remove(ada.id, scope))).await;
        assert_eq!(removed.unwrap(), expected);
    }
}

async fn bindings_are_listed_in_pages(world: World) {
    let alpha = world.project("alpha").await;
    for text in ["c", "a", "b"] {
        let principal = world.principal(text).await;
        for scope in [Scope::Project(alpha.id), Scope::Global] {
            world
                .tx("test", |tx| Box::pin(tx.role_binding_set(principal.id, scope, Role::User)))
                .await
                .unwrap();
        }
    }
    let mut reader = world.read().await.unwrap();
    for (scope, expected) in [
        (None, vec!["a", "a", "b", "b", "c", "c"]),
        (Some(Scope::Global), vec!["a", "b", "c"]),
        (Some(Scope::Project(alpha.id)), vec!["a", "b", "c"]),
    ] {
        let mut seen = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let page = reader.role_binding_list(scope, after.as_deref(), limit(1)).await.unwrap();
            for (principal, binding) in &page.items {
                assert_eq!(binding.principal_id, principal.id);
                assert!(scope.is_none_or(|s| s == binding.scope));
                seen.push(principal.name.to_string());
            }
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, expected);
    }
}

async fn admins_are_counted(world: World) {
    let project = world.project("alpha").await;
    let [mut a, b, c] =
        [world.principal("a").await, world.principal("b").await, world.principal("c").await];
    for (principal, scope, role) in [
        (&a, Scope::Global, Role::Admin),
        (&b, Scope::Global, Role::Operator),
        (&c, Scope::Project(project.id), Role::Admin),
    ] {
        world
            .tx("test", |tx| Box::pin(tx.role_binding_set(principal.id, scope, role)))
            .await
            .unwrap();
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.admin_count().await.unwrap(), 1);
    a.is_disabled = true;
    let update = world.tx("test", |tx| Box::pin(tx.principal_update(&a, Generation::FIRST))).await;
    assert!(update.unwrap().is_updated());
    assert_eq!(reader.admin_count().await.unwrap(), 0);
}

pub fn token(principal: &Principal, salt: u8) -> Token {
    Token {
        id: TokenId::from_uuid(next_uuid()),
        principal_id: principal.id,
        name: name("ci"),
        secret_hash: vec![salt; 32],
        limits: TokenLimits::role(Role::User),
        time_created: at(0),
        time_expires: Some(at(1000)),
        time_last_used: None,
        time_revoked: None,
    }
}

async fn a_token_is_found_by_hash_until_it_is_gone(world: World) {
    let ada = world.principal("ada").await;
    let mut token = token(&ada, 7);
    world.tx("test", |tx| Box::pin(tx.token_insert(&token))).await.unwrap();
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.token_get(token.id).await.unwrap(), Some(token.clone()));
    assert_eq!(reader.token_by_hash(&[7; 32]).await.unwrap(), Some(token.clone()));
    assert_eq!(reader.token_by_hash(&[8; 32]).await.unwrap(), None);
    for expected in [true, false] {
        let revoked = world.tx("test", |tx| Box::pin(tx.token_revoke(token.id, at(9)))).await;
        assert_eq!(revoked.unwrap(), expected);
    }
    token.time_revoked = Some(at(9));
    assert_eq!(reader.token_by_hash(&[7; 32]).await.unwrap(), Some(token));
    let orphan = self::token(&principal("ghost"), 9);
    let error: Error = world.tx("test", |tx| Box::pin(tx.token_insert(&orphan))).await.unwrap_err();
    assert!(
        matches!(error, Error::Conflict { reason: ConflictReason::Reference, .. }),
        "{error:?}"
    );
}

async fn limits_of_tokens_are_what_was_written(world: World) {
    let ada = world.principal("ada").await;
    let (one, two) = (world.project("one").await, world.project("two").await);
    let can = PermissionSet::read(["task.submit", "node.read"]).unwrap();
    let cases = [
        TokenLimits::role(Role::Admin),
        TokenLimits { projects: Some(vec![one.id]), ..TokenLimits::role(Role::Viewer) },
        TokenLimits {
            role_max: Role::User,
            projects: Some(vec![two.id, one.id]),
            can: Some(can),
            sources: Some(vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()]),
        },
        TokenLimits {
            role_max: Role::Admin,
            projects: Some(vec![]),
            can: Some(PermissionSet::EMPTY),
            sources: Some(vec![]),
        },
    ];
    for (salt, limits) in (0..).zip(cases) {
        let token = Token { limits, ..token(&ada, salt) };
        world.tx("test", |tx| Box::pin(tx.token_insert(&token))).await.unwrap();
        let read = world.read().await.unwrap().token_by_hash(&[salt; 32]).await.unwrap();
        assert_eq!(read, Some(token));
    }
}

async fn tokens_are_listed_newest_first(world: World) {
    let (ada, bob) = (world.principal("ada").await, world.principal("bob").await);
    let mut tokens = Vec::new();
    for salt in 0..5 {
        let token = token(if salt == 2 { &bob } else { &ada }, salt);
        world.tx("test", |tx| Box::pin(tx.token_insert(&token))).await.unwrap();
        tokens.push(token);
    }
    let mut reader = world.read().await.unwrap();
    let all = reader.token_list(None, None, limit(3)).await.unwrap();
    assert_eq!(all.items, [tokens[4].clone(), tokens[3].clone(), tokens[2].clone()]);
    let rest = reader.token_list(None, all.next.as_deref(), limit(3)).await.unwrap();
    assert_eq!(rest.items, [tokens[1].clone(), tokens[0].clone()]);
    assert_eq!(rest.next, None);
    let bobs = reader.token_list(Some(bob.id), None, limit(3)).await.unwrap();
    assert_eq!(bobs.items, [tokens[2].clone()]);
}

async fn last_use_never_goes_back(world: World) {
    let ada = world.principal("ada").await;
    let (token, session) = (token(&ada, 1), web_session(&ada, 2, 100));
    let (token_ref, session_ref) = (&token, &session);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.token_insert(token_ref).await?;
                tx.web_session_insert(session_ref).await
            })
        })
        .await
        .unwrap();
    for (seconds, expected) in [(50, 50), (40, 50), (60, 60)] {
        world
            .tx("test", |tx| {
                Box::pin(async move {
                    let unknown = TokenId::from_uuid(next_uuid());
                    tx.token_touch_batch(&[(token_ref.id, at(seconds)), (unknown, at(1))]).await?;
                    tx.web_session_touch_batch(&[(session_ref.id, at(seconds))]).await?;
                    tx.token_touch_batch(&[]).await
                })
            })
            .await
            .unwrap();
        let mut reader = world.read().await.unwrap();
        let stored = reader.token_get(token.id).await.unwrap().unwrap();
        assert_eq!(stored.time_last_used, Some(at(expected)));
        let stored = reader.web_session_get(session.id).await.unwrap().unwrap();
        assert_eq!(stored.time_last_used, at(expected));
    }
}

pub fn web_session(principal: &Principal, salt: u8, expires: i64) -> WebSession {
    WebSession {
        id: WebSessionId::from_uuid(next_uuid()),
        principal_id: principal.id,
        secret_hash: vec![salt; 32],
        user_agent: "browser\u{0}1".replace('\0', " "),
        time_created: at(0),
        time_expires: at(expires),
        time_last_used: at(0),
    }
}

async fn web_sessions_come_and_go(world: World) {
    let ada = world.principal("ada").await;
    let sessions = [web_session(&ada, 1, 10), web_session(&ada, 2, 20), web_session(&ada, 3, 30)];
    for session in &sessions {
        world.tx("test", |tx| Box::pin(tx.web_session_insert(session))).await.unwrap();
    }
    let mut reader = world.read().await.unwrap();
    let found = reader.web_session_by_hash(&[2; 32]).await.unwrap();
    assert_eq!(found, Some(sessions[1].clone()));
    let listed = reader.web_session_list(ada.id).await.unwrap();
    assert_eq!(listed, [sessions[2].clone(), sessions[1].clone(), sessions[0].clone()]);
    let gone = world.tx("test", |tx| Box::pin(tx.web_session_delete_expired(at(20)))).await;
    assert_eq!(gone.unwrap(), 2);
    for expected in [true, false] {
        let deleted = world.tx("test", |tx| Box::pin(tx.web_session_delete(sessions[2].id))).await;
        assert_eq!(deleted.unwrap(), expected);
    }
    assert_eq!(reader.web_session_list(ada.id).await.unwrap(), vec![]);
}
