//! Decisions about callers: examples, and what holds for all of them.

use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::TokenId;

fn project(n: u128) -> ProjectId {
    ProjectId::from_uuid(Uuid::from_u128(n))
}

fn caller(grants: Vec<Grant>, credential: Credential) -> Caller {
    Caller {
        principal_id: PrincipalId::from_uuid(Uuid::from_u128(9)),
        name: "ada".parse().unwrap(),
        kind: PrincipalKind::User,
        grants,
        credential,
    }
}

fn built_in(grants: &[(Scope, Role)]) -> Vec<Grant> {
    grants.iter().map(|(scope, role)| Grant::built_in(*scope, *role)).collect()
}

fn web() -> Credential {
    Credential::WebSession(WebSessionId::from_uuid(Uuid::from_u128(1)))
}

fn token(limits: TokenLimits) -> Credential {
    Credential::Token { id: TokenId::from_uuid(Uuid::from_u128(1)), limits }
}

fn narrow(role_max: Role, projects: &[u128]) -> Credential {
    let projects = Some(projects.iter().map(|n| project(*n)).collect());
    token(TokenLimits { projects, ..TokenLimits::role(role_max) })
}

fn need(permission: Permission, scope: Scope) -> Need {
    Need { permission, scope }
}

const ONE: u128 = 1;

#[test]
fn nothing_is_allowed_without_a_grant_but_what_is_everybodys() {
    let nobody = caller(vec![], web());
    for permission in Permission::ALL {
        for scope in [Scope::Global, Scope::Project(project(ONE))] {
            let may = nobody.may(need(*permission, scope));
            assert_eq!(may, permission.least().is_none(), "{permission}");
        }
    }
    assert_eq!(nobody.visible_projects(), Some(vec![]));
    assert_eq!(nobody.projects_with(Permission::EventRead), Some(vec![]));
    assert_eq!(nobody.role_in(Scope::Global), None);
    assert!(!nobody.sees(Scope::Project(project(ONE))));
}

#[test]
fn a_global_role_holds_in_every_project_but_not_the_other_way() {
    let global = caller(built_in(&[(Scope::Global, Role::User)]), web());
    assert!(global.may(need(Permission::TaskSubmit, Scope::Project(project(7)))));
    assert_eq!(global.role_in(Scope::Project(project(7))), Some(Role::User));
    let local = caller(built_in(&[(Scope::Project(project(ONE)), Role::Admin)]), web());
    assert!(local.may(need(Permission::MemberSet, Scope::Project(project(ONE)))));
    assert!(!local.may(need(Permission::NodeRead, Scope::Global)));
    assert!(!local.may(need(Permission::TaskRead, Scope::Project(project(2)))));
    assert_eq!(local.visible_projects(), Some(vec![project(ONE)]));
}

#[test]
fn a_token_narrows_by_role_project_and_permission() {
    let admin = built_in(&[(Scope::Global, Role::Admin)]);
    let in_one = Scope::Project(project(ONE));
    let viewer = caller(admin.clone(), narrow(Role::Viewer, &[ONE, 3]));
    assert!(viewer.may(need(Permission::TaskRead, in_one)));
    assert!(!viewer.may(need(Permission::TaskSubmit, in_one)));
    assert!(!viewer.may(need(Permission::TaskRead, Scope::Project(project(2)))));
    assert!(!viewer.may(need(Permission::NodeRead, Scope::Global)));
    assert_eq!(viewer.visible_projects(), Some(vec![project(ONE), project(3)]));
    let can = Some(PermissionSet::read(["task.submit", "task.read"]).unwrap());
    let limits = TokenLimits { can, ..TokenLimits::role(Role::Admin) };
    let robot = caller(admin.clone(), token(limits));
    assert!(robot.may(need(Permission::TaskSubmit, in_one)));
    assert!(!robot.may(need(Permission::TaskKill, in_one)));
    assert!(!robot.may(need(Permission::TokenCreate, Scope::Global)));
    assert_eq!(robot.role_in(in_one), None);
    assert_eq!(robot.visible_projects(), None);
    assert_eq!(robot.projects_with(Permission::EventRead), Some(vec![]));
    for empty in [
        TokenLimits { projects: Some(vec![]), ..TokenLimits::role(Role::Admin) },
        TokenLimits { can: Some(PermissionSet::EMPTY), ..TokenLimits::role(Role::Admin) },
    ] {
        let nothing = caller(admin.clone(), token(empty));
        assert!(!nothing.may(need(Permission::TaskRead, in_one)));
        assert_eq!(nothing.visible_projects(), Some(vec![]));
    }
}

#[test]
fn what_runs_has_of_its_submitter_what_its_role_names_in_its_project() {
    let admin = built_in(&[(Scope::Global, Role::Admin)]);
    let (here, there) = (Scope::Project(project(ONE)), Scope::Project(project(2)));
    let runs = |can: PermissionSet| {
        Credential::Workload(WorkloadIdentity {
            run_id: crate::RunId::from_uuid(Uuid::from_u128(4)),
            project_id: project(ONE),
            subject: "project:p:workload:w".to_owned(),
            can: can.intersection(PermissionSet::of_projects()),
        })
    };
    let user = caller(admin.clone(), runs(Role::User.permissions()));
    assert!(user.may(need(Permission::TaskSubmit, here)));
    assert!(!user.may(need(Permission::TaskManage, here)));
    assert!(!user.may(need(Permission::TaskSubmit, there)));
    assert!(!user.may(need(Permission::TaskSubmit, Scope::Global)));
    assert!(!user.may(need(Permission::TokenCreate, Scope::Global)), "it has no account");
    assert_eq!(user.projects_with(Permission::TaskRead), Some(vec![project(ONE)]));
    let submit = need(Permission::TaskSubmit, there);
    assert!(matches!(user.verdict(submit), Verdict::Narrowed(Narrowing::Project, _)));
    let manage = need(Permission::TaskManage, here);
    assert!(matches!(user.verdict(manage), Verdict::Narrowed(Narrowing::Permission, _)));
    let poor = caller(built_in(&[(here, Role::Viewer)]), runs(Role::Admin.permissions()));
    assert_eq!(poor.role_in(here), Some(Role::Viewer), "no more than its submitter");
    let nothing = caller(admin, runs(PermissionSet::EMPTY));
    assert!(Permission::ALL.iter().all(|p| !nothing.may(need(*p, here))));
}

#[test]
fn a_token_is_used_from_its_addresses_only() {
    let from = |sources: Option<&[&str]>, address: Option<&str>| {
        let sources = sources.map(|all| all.iter().map(|range| range.parse().unwrap()).collect());
        let limits = TokenLimits { sources, ..TokenLimits::role(Role::Admin) };
        caller(vec![], token(limits)).may_come_from(address.map(|a| a.parse().unwrap()))
    };
    assert!(from(None, None));
    assert!(from(Some(&["192.0.2.0/24", "10.0.0.0/8"]), Some("10.9.9.9")));
    assert!(from(Some(&["10.0.0.0/8"]), Some("::ffff:10.9.9.9")));
    assert!(!from(Some(&["10.0.0.0/8"]), Some("11.0.0.1")));
    assert!(!from(Some(&["10.0.0.0/8"]), None));
    assert!(!from(Some(&[]), Some("10.0.0.1")));
}

#[test]
fn reasons_name_what_decided() {
    let in_one = Scope::Project(project(ONE));
    let mut grants = built_in(&[(Scope::Global, Role::Viewer), (in_one, Role::User)]);
    grants[1].group = Some("ops".parse().unwrap());
    let person = caller(grants.clone(), web());
    let Verdict::Granted(by) = person.verdict(need(Permission::TaskSubmit, in_one)) else {
        panic!("a user submits")
    };
    assert_eq!(by, [&grants[1]]);
    let everybodys = person.verdict(need(Permission::TokenCreate, Scope::Global));
    assert_eq!(everybodys, Verdict::Everybodys);
    assert_eq!(person.verdict(need(Permission::TaskManage, in_one)), Verdict::NotGranted);
    let submit = need(Permission::TaskSubmit, in_one);
    let narrowing = |credential| match caller(grants.clone(), credential).verdict(submit) {
        Verdict::Narrowed(narrowing, _) => narrowing,
        other => panic!("{other:?}"),
    };
    assert_eq!(narrowing(narrow(Role::Admin, &[2])), Narrowing::Project);
    assert_eq!(narrowing(narrow(Role::Viewer, &[1])), Narrowing::Role(Role::Viewer));
    let can = Some(PermissionSet::EMPTY.with(Permission::TaskRead));
    let limits = TokenLimits { can, ..TokenLimits::role(Role::Admin) };
    assert_eq!(narrowing(token(limits)), Narrowing::Permission);
}

#[test]
fn what_was_made_is_seen_by_its_maker_unless_a_token_is_for_something_else() {
    let in_one = Scope::Project(project(ONE));
    let env = need(Permission::TaskEnv, in_one);
    let grants = built_in(&[(in_one, Role::User)]);
    let person = caller(grants.clone(), web());
    let (own, other) = (person.principal_id, PrincipalId::from_uuid(Uuid::from_u128(8)));
    assert!(person.may_or_made(env, own) && !person.may_or_made(env, other));
    let by_role = caller(grants.clone(), token(TokenLimits::role(Role::User)));
    assert!(by_role.may_or_made(env, own));
    let can = Some(PermissionSet::EMPTY.with(Permission::TaskRead));
    let limits = TokenLimits { can, ..TokenLimits::role(Role::Admin) };
    assert!(!caller(grants, token(limits)).may_or_made(env, own));
}

fn scopes() -> impl Strategy<Value = Scope> {
    prop_oneof![Just(Scope::Global), (1u128..4).prop_map(|n| Scope::Project(project(n)))]
}

fn permissions() -> impl Strategy<Value = Permission> {
    proptest::sample::select(Permission::ALL)
}

fn sets() -> impl Strategy<Value = PermissionSet> {
    proptest::collection::vec(permissions(), 0..12).prop_map(|all| all.into_iter().collect())
}

fn roles() -> impl Strategy<Value = Role> {
    proptest::sample::select(Role::ALL)
}

fn grants() -> impl Strategy<Value = Vec<Grant>> {
    let custom = (scopes(), sets(), any::<bool>()).prop_map(|(scope, permissions, is_group)| {
        let role = RoleName::Custom("special".parse().unwrap());
        let group = is_group.then(|| "ops".parse().unwrap());
        Grant { scope, role, permissions, group }
    });
    let plain = (scopes(), roles()).prop_map(|(scope, role)| Grant::built_in(scope, role));
    proptest::collection::vec(prop_oneof![custom, plain], 0..4)
}

fn limits() -> impl Strategy<Value = TokenLimits> {
    let projects =
        proptest::option::of(proptest::collection::vec((1u128..4).prop_map(project), 0..3));
    (roles(), projects, proptest::option::of(sets())).prop_map(|(role_max, projects, can)| {
        TokenLimits { role_max, projects, can, sources: None }
    })
}

proptest! {
    #[test]
    fn a_token_only_narrows(grants in grants(), limits in limits(), p in permissions(), scope in scopes()) {
        let (free, bound) = (caller(grants.clone(), web()), caller(grants, token(limits.clone())));
        let asked = need(p, scope);
        prop_assert!(!bound.may(asked) || free.may(asked));
        prop_assert!(bound.permissions_in(scope).is_within(free.permissions_in(scope)));
        prop_assert!(!bound.sees(scope) || free.sees(scope));
        prop_assert!(bound.role_in(scope) <= free.role_in(scope));
        if let (Some(seen), Some(all)) = (bound.visible_projects(), free.visible_projects()) {
            prop_assert!(seen.iter().all(|id| all.contains(id)));
        }
        if !p.is_everybodys() && bound.may(asked) {
            prop_assert!(limits.role_max.permissions().has(p) && limits.reaches(scope));
            prop_assert!(limits.can.is_none_or(|can| can.has(p)));
        }
    }

    #[test]
    fn limits_within_others_allow_no_more(
        grants in grants(), a in limits(), b in limits(), p in permissions(), scope in scopes(),
    ) {
        let (small, large) = (caller(grants.clone(), token(a.clone())), caller(grants, token(b.clone())));
        prop_assert!(a.is_within(&a));
        if a.is_within(&b) {
            prop_assert!(!small.may(need(p, scope)) || large.may(need(p, scope)));
        }
    }

    #[test]
    fn groups_add_up(own in grants(), more in grants(), p in permissions(), scope in scopes()) {
        let both = caller(own.iter().chain(&more).cloned().collect(), web());
        let apart = [caller(own, web()), caller(more, web())];
        let expected = apart.iter().any(|caller| caller.may(need(p, scope)));
        prop_assert_eq!(both.may(need(p, scope)), expected);
    }

    #[test]
    fn a_custom_role_gives_what_it_names_and_nothing_else(set in sets(), at in scopes(), p in permissions(), scope in scopes()) {
        let role = RoleName::Custom("special".parse().unwrap());
        let grant = Grant { scope: at, role, permissions: set, group: None };
        let holder = caller(vec![grant.clone()], web());
        let expected = p.is_everybodys() || (set.has(p) && grant.holds_in(scope));
        prop_assert_eq!(holder.may(need(p, scope)), expected);
        let most = holder.role_in(scope).map_or(PermissionSet::EMPTY, Role::permissions);
        prop_assert!(holder.lacks(most, scope).is_empty());
    }

    #[test]
    fn what_nobody_granted_is_denied(grants in grants(), limits in proptest::option::of(limits()), p in permissions(), scope in scopes()) {
        let credential = limits.map_or_else(web, token);
        let who = caller(grants.clone(), credential);
        let has = grants.iter().any(|g| g.holds_in(scope) && g.permissions.has(p));
        prop_assert!(has || p.is_everybodys() || !who.may(need(p, scope)));
        let verdict = who.verdict(need(p, scope));
        prop_assert_eq!(verdict.is_allowed(), who.may(need(p, scope)));
    }

    #[test]
    fn listed_projects_are_those_where_it_is_allowed(grants in grants(), limits in proptest::option::of(limits()), p in permissions()) {
        let who = caller(grants, limits.map_or_else(web, token));
        let listed = who.projects_with(p);
        for id in (1..4).map(project) {
            let may = who.may(need(p, Scope::Project(id)));
            let is_listed = listed.as_ref().is_none_or(|ids| ids.contains(&id));
            prop_assert!(may == is_listed || p.is_everybodys());
        }
    }
}
