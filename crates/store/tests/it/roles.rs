//! Custom roles, groups, and what principals hold through both.

use hostler_model::*;
use hostler_store::{ConflictReason, Error, Update};

use crate::world::*;

crate::conformance!(
    a_role_is_what_was_written,
    role_updates_name_the_generation_they_saw,
    roles_are_listed_by_name,
    holders_of_a_role_are_found,
    a_group_is_what_was_written,
    membership_comes_and_goes,
    grants_add_up_over_groups,
    members_are_users_and_groups,
    what_is_removed_leaves_nothing,
);

fn role(text: &str, permissions: &[&str]) -> CustomRole {
    CustomRole {
        id: RoleId::from_uuid(next_uuid()),
        name: name(text),
        description: "for tests".to_owned(),
        permissions: PermissionSet::read(permissions).unwrap(),
        generation: Generation::FIRST,
        time_created: at(1),
        time_modified: at(1),
    }
}

fn group(text: &str) -> Group {
    Group {
        id: GroupId::from_uuid(next_uuid()),
        name: name(text),
        description: String::new(),
        generation: Generation::FIRST,
        time_created: at(1),
        time_modified: at(1),
    }
}

async fn made_role(world: &World, text: &str, permissions: &[&str]) -> CustomRole {
    let role = role(text, permissions);
    world.tx("test", |tx| Box::pin(tx.custom_role_insert(&role))).await.unwrap();
    role
}

async fn made_group(world: &World, text: &str) -> Group {
    let group = group(text);
    world.tx("test", |tx| Box::pin(tx.group_insert(&group))).await.unwrap();
    group
}

fn custom(role: &CustomRole) -> RoleName {
    RoleName::Custom(role.name.clone())
}

async fn a_role_is_what_was_written(world: World) {
    let role = made_role(&world, "deployer", &["workload.*", "task.read"]).await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.custom_role_by_name(&role.name).await.unwrap(), Some(role.clone()));
    assert_eq!(reader.custom_role_by_name(&name("other")).await.unwrap(), None);
    let allowed = reader.role_permissions(&custom(&role)).await.unwrap();
    assert_eq!(allowed, Some(role.permissions));
    let built_in = reader.role_permissions(&Role::User.into()).await.unwrap();
    assert_eq!(built_in, Some(Role::User.permissions()));
    let none = reader.role_permissions(&RoleName::Custom(name("other"))).await.unwrap();
    assert_eq!(none, None);
    let twin = self::role("deployer", &["task.read"]);
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.custom_role_insert(&twin))).await.unwrap_err();
    assert!(
        matches!(error, Error::Conflict { reason: ConflictReason::NameTaken, .. }),
        "{error:?}"
    );
}

async fn role_updates_name_the_generation_they_saw(world: World) {
    let mut role = made_role(&world, "deployer", &["task.read"]).await;
    role.permissions = PermissionSet::read(["task.kill"]).unwrap();
    role.time_modified = at(5);
    let first = Generation::FIRST;
    let update = async |role: &CustomRole| {
        world.tx("test", |tx| Box::pin(tx.custom_role_update(role, first))).await.unwrap()
    };
    assert_eq!(update(&role).await, Update::Updated);
    let current = Generation::from_u64(2);
    assert_eq!(update(&role).await, Update::Stale { current });
    assert_eq!(update(&self::role("other", &["task.read"])).await, Update::Missing);
    let stored = world.read().await.unwrap().custom_role_by_name(&role.name).await.unwrap();
    assert_eq!(stored, Some(CustomRole { generation: current, ..role.clone() }));
    let delete = async |expected: Generation| {
        world.tx("test", |tx| Box::pin(tx.custom_role_delete(&role, expected))).await.unwrap()
    };
    assert_eq!(delete(first).await, Update::Stale { current });
    assert_eq!(delete(current).await, Update::Updated);
    assert_eq!(delete(current).await, Update::Missing);
}

async fn roles_are_listed_by_name(world: World) {
    for text in ["c", "a", "b"] {
        made_role(&world, text, &["task.read"]).await;
        made_group(&world, text).await;
    }
    let mut reader = world.read().await.unwrap();
    let first = reader.custom_role_list(None, limit(2)).await.unwrap();
    let rest = reader.custom_role_list(first.next.as_deref(), limit(2)).await.unwrap();
    let names: Vec<_> = first.items.iter().chain(&rest.items).map(|r| r.name.as_str()).collect();
    assert_eq!((names, rest.next), (vec!["a", "b", "c"], None));
    let first = reader.group_list(None, limit(2)).await.unwrap();
    let rest = reader.group_list(first.next.as_deref(), limit(2)).await.unwrap();
    let names: Vec<_> = first.items.iter().chain(&rest.items).map(|g| g.name.as_str()).collect();
    assert_eq!((names, rest.next), (vec!["a", "b", "c"], None));
}

async fn holders_of_a_role_are_found(world: World) {
    let role = made_role(&world, "deployer", &["task.read"]).await;
    let (ada, ops) = (world.principal("ada").await, made_group(&world, "ops").await);
    let project = world.project("alpha").await;
    let scope = Scope::Project(project.id);
    let named = custom(&role);
    let none = world.read().await.unwrap().role_holders(&named).await.unwrap();
    assert_eq!(none, vec![]);
    let named_ref = &named;
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.role_binding_set(ada.id, scope, named_ref.clone()).await?;
                tx.group_binding_set(ops.id, Scope::Global, named_ref).await
            })
        })
        .await
        .unwrap();
    let held = world.read().await.unwrap().role_holders(&named).await.unwrap();
    let expected =
        [(Subject::User(name("ada")), scope), (Subject::Group(name("ops")), Scope::Global)];
    assert_eq!(held, expected);
}

async fn a_group_is_what_was_written(world: World) {
    let mut ops = made_group(&world, "ops").await;
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.group_get(ops.id).await.unwrap(), Some(ops.clone()));
    assert_eq!(reader.group_by_name(&ops.name).await.unwrap(), Some(ops.clone()));
    let twin = group("ops");
    let error: Error = world.tx("test", |tx| Box::pin(tx.group_insert(&twin))).await.unwrap_err();
    assert!(
        matches!(error, Error::Conflict { reason: ConflictReason::NameTaken, .. }),
        "{error:?}"
    );
    ops.description = "on call".to_owned();
    ops.time_modified = at(7);
    let update = world.tx("test", |tx| Box::pin(tx.group_update(&ops, Generation::FIRST))).await;
    assert_eq!(update.unwrap(), Update::Updated);
    ops.generation = Generation::from_u64(2);
    assert_eq!(reader.group_get(ops.id).await.unwrap(), Some(ops.clone()));
    let stale = world.tx("test", |tx| Box::pin(tx.group_update(&ops, Generation::FIRST))).await;
    assert_eq!(stale.unwrap(), Update::Stale { current: ops.generation });
    let touched = world.tx("test", |tx| Box::pin(tx.group_touch(ops.id, at(8)))).await;
    assert!(touched.unwrap());
    let now = reader.group_get(ops.id).await.unwrap().unwrap();
    assert_eq!((now.generation, now.time_modified), (Generation::from_u64(3), at(8)));
    let nobody = GroupId::from_uuid(next_uuid());
    assert!(!world.tx("test", |tx| Box::pin(tx.group_touch(nobody, at(8)))).await.unwrap());
}

async fn membership_comes_and_goes(world: World) {
    let ops = made_group(&world, "ops").await;
    for text in ["grace", "ada"] {
        let who = world.principal(text).await;
        for expected in [true, false] {
            let added = world.tx("test", |tx| Box::pin(tx.group_member_add(ops.id, who.id))).await;
            assert_eq!(added.unwrap(), expected);
        }
    }
    let mut reader = world.read().await.unwrap();
    assert_eq!(reader.group_members(ops.id).await.unwrap(), [name("ada"), name("grace")]);
    let ada = reader.principal_by_name(&name("ada")).await.unwrap().unwrap();
    for expected in [true, false] {
        let gone = world.tx("test", |tx| Box::pin(tx.group_member_remove(ops.id, ada.id))).await;
        assert_eq!(gone.unwrap(), expected);
    }
    assert_eq!(reader.group_members(ops.id).await.unwrap(), [name("grace")]);
    let ghost = principal("ghost");
    let error: Error =
        world.tx("test", |tx| Box::pin(tx.group_member_add(ops.id, ghost.id))).await.unwrap_err();
    assert!(
        matches!(error, Error::Conflict { reason: ConflictReason::Reference, .. }),
        "{error:?}"
    );
}

async fn grants_add_up_over_groups(world: World) {
    let role = made_role(&world, "deployer", &["workload.apply"]).await;
    let (ada, bob) = (world.principal("ada").await, world.principal("bob").await);
    let (ops, dev) = (made_group(&world, "ops").await, made_group(&world, "dev").await);
    let project = world.project("alpha").await;
    let scope = Scope::Project(project.id);
    let named = &custom(&role);
    let unknown = &RoleName::Custom(name("gone"));
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.role_binding_set(ada.id, Scope::Global, Role::Viewer).await?;
                tx.role_binding_set(ada.id, scope, named.clone()).await?;
                tx.group_member_add(ops.id, ada.id).await?;
                tx.group_binding_set(ops.id, scope, &Role::User.into()).await?;
                tx.group_binding_set(ops.id, scope, &Role::Operator.into()).await?;
                tx.group_binding_set(ops.id, Scope::Global, unknown).await?;
                tx.group_binding_set(dev.id, Scope::Global, &Role::Admin.into()).await
            })
        })
        .await
        .unwrap();
    let mut reader = world.read().await.unwrap();
    let grants = reader.grants_of(ada.id).await.unwrap();
    let via = Some(name("ops"));
    let grant = |scope, role: RoleName, permissions, group: &Option<Name>| Grant {
        scope,
        role,
        permissions,
        group: group.clone(),
    };
    let expected = [
        Grant::built_in(Scope::Global, Role::Viewer),
        grant(scope, named.clone(), role.permissions, &None),
        grant(Scope::Global, unknown.clone(), PermissionSet::EMPTY, &via),
        grant(scope, Role::Operator.into(), Role::Operator.permissions(), &via),
    ];
    assert_eq!(grants, expected);
    assert_eq!(reader.grants_of(bob.id).await.unwrap(), vec![]);
    let gone = world.tx("test", |tx| Box::pin(tx.group_binding_remove(ops.id, scope))).await;
    assert!(gone.unwrap());
    assert_eq!(reader.grants_of(ada.id).await.unwrap().len(), 3);
    let held = reader.role_binding_get(ada.id, scope).await.unwrap();
    assert_eq!(held, Some(named.clone()));
    assert_eq!(reader.role_binding_get(bob.id, scope).await.unwrap(), None);
}

async fn members_are_users_and_groups(world: World) {
    let (alpha, beta) = (world.project("alpha").await, world.project("beta").await);
    let scope = Scope::Project(alpha.id);
    for text in ["zed", "ada", "grouch"] {
        let who = world.principal(text).await;
        for scope in [scope, Scope::Project(beta.id), Scope::Global] {
            world
                .tx("test", |tx| Box::pin(tx.role_binding_set(who.id, scope, Role::User)))
                .await
                .unwrap();
        }
    }
    let ops = made_group(&world, "ops").await;
    let viewer = RoleName::BuiltIn(Role::Viewer);
    world.tx("test", |tx| Box::pin(tx.group_binding_set(ops.id, scope, &viewer))).await.unwrap();
    let mut reader = world.read().await.unwrap();
    let mut seen = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = reader.member_list(scope, after.as_deref(), limit(1)).await.unwrap();
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let who: Vec<_> = seen.iter().map(|member| member.subject.to_string()).collect();
    assert_eq!(who, ["ada", "grouch", "group:ops", "zed"]);
    assert_eq!((seen[2].id.clone(), &seen[2].role), (ops.id.to_string(), &viewer));
}

async fn what_is_removed_leaves_nothing(world: World) {
    let (ada, ops) = (world.principal("ada").await, made_group(&world, "ops").await);
    let alpha = world.project("alpha").await;
    let scope = Scope::Project(alpha.id);
    world
        .tx("test", |tx| {
            Box::pin(async move {
                tx.group_member_add(ops.id, ada.id).await?;
                tx.group_binding_set(ops.id, scope, &Role::User.into()).await?;
                tx.group_binding_set(ops.id, Scope::Global, &Role::Viewer.into()).await
            })
        })
        .await
        .unwrap();
    let first = Generation::FIRST;
    let gone = world.tx("test", |tx| Box::pin(tx.project_delete(alpha.id, first))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    let mut reader = world.read().await.unwrap();
    let bound = reader.group_bindings(ops.id).await.unwrap();
    assert_eq!(bound, [(Scope::Global, Role::Viewer.into())]);
    let gone = world.tx("test", |tx| Box::pin(tx.principal_delete(ada.id, first))).await;
    assert_eq!(gone.unwrap(), Update::Updated);
    assert_eq!(reader.group_members(ops.id).await.unwrap(), Vec::<Name>::new());
    let bob = world.principal("bob").await;
    world.tx("test", |tx| Box::pin(tx.group_member_add(ops.id, bob.id))).await.unwrap();
    let delete = async |expected: Generation| {
        world.tx("test", |tx| Box::pin(tx.group_delete(ops.id, expected))).await.unwrap()
    };
    assert_eq!(delete(Generation::from_u64(9)).await, Update::Stale { current: first });
    assert_eq!(delete(first).await, Update::Updated);
    assert_eq!(delete(first).await, Update::Missing);
    assert_eq!(reader.grants_of(bob.id).await.unwrap(), vec![]);
}
