//! What runs as a caller: what its token is good for, who gets one, and when it ends.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hostler_base::reconcile::Reconciler as _;
use hostler_control::{Cx, DeliveredIdentity, NewTask, ProjectChange};
use hostler_model::{
    Actor, ActorKind, AudienceToken, Caller, Code, Error, Exit, ExitReason, Generation, Grant,
    Identity, Need, Permission, PermissionSet, PrincipalId, PrincipalKind, Report, ReportState,
    Role, Run, RunId, Scope, WorkloadSpec,
};
use hostler_store::AuditFilter;
use hostler_testkit::{SimAgent, World};
use hostler_trust::jwt::SigningKey;
use uuid::Uuid;

const MINUTE: Duration = Duration::from_mins(1);

fn with(role: Option<Role>) -> WorkloadSpec {
    let vault = AudienceToken { audience: "https://vault.example".into(), file: "vault".into() };
    let identity = Identity { role: role.map(Into::into), tokens: vec![vault] };
    WorkloadSpec { identity: Some(identity), ..WorkloadSpec::command(["true"]) }
}

async fn connected(world: &World, name: &str) -> SimAgent {
    let mut agent = world.join(name).await;
    agent.connect(&world.control).await;
    agent
}

async fn submit(world: &World, cx: &Cx, name: &str, spec: WorkloadSpec) -> Result<(), Error> {
    let new = vec![NewTask { name: Some(name.parse().unwrap()), spec }];
    world.control.task_submit(cx, &world.project, new).await.map(|_| ())
}

/// A task on the only node, and its run.
async fn placed(world: &World, name: &str, spec: WorkloadSpec) -> Run {
    submit(world, &world.cx, name, spec).await.unwrap();
    world.control.place_pending().await.unwrap();
    let task = world.control.task_get(&world.cx, &world.project, name).await.unwrap();
    task.run.unwrap()
}

async fn given(world: &World, run: &Run) -> DeliveredIdentity {
    let given = world.control.node_identity(run.node_id, run.placement_id, Some(run.id), false);
    given.await.unwrap().unwrap()
}

fn token_in<'i>(identity: &'i DeliveredIdentity, file: &str) -> &'i str {
    identity.tokens.iter().find(|token| token.file == file).unwrap().token.expose()
}

async fn caller(world: &World, identity: &DeliveredIdentity) -> Result<Caller, Error> {
    world.control.caller_by_token(token_in(identity, "hostler-token")).await
}

async fn refused(world: &World, token: &str) -> String {
    let error = world.control.caller_by_token(token).await.unwrap_err();
    assert_eq!(error.code, Code::Unauthenticated, "{error:?}");
    assert!(!error.detail.contains(token));
    error.detail
}

pub(crate) async fn end(world: &World, run: &Run) {
    let exit = Exit {
        reason: ExitReason::Exited,
        code: Some(0),
        signal: None,
        message: None,
        time: world.now(),
    };
    let report = Report {
        run_id: run.id,
        placement_id: run.placement_id,
        generation: Generation::from_u64(9),
        state: ReportState::Exited { started: Some(world.now()), pid: Some(7), exit },
        origin: None,
    };
    world.control.node_report(run.node_id, &[report]).await.unwrap();
}

#[tokio::test]
async fn a_run_calls_as_itself_while_it_runs() {
    let world = World::new(81).await;
    let _node = connected(&world, "n1").await;
    let run = placed(&world, "job", with(Some(Role::Viewer))).await;
    let identity = given(&world, &run).await;
    assert_eq!(identity.tokens.len(), 2);
    assert!(identity.authority_pem.contains("BEGIN CERTIFICATE"));
    assert!(!format!("{identity:?}").contains("eyJ"));

    let who = caller(&world, &identity).await.unwrap();
    assert_eq!((who.name.as_str(), who.kind), ("job", PrincipalKind::Workload));
    let other = ProjectChange { description: None, weight: None, quota: None };
    let other = world.control.project_create(&world.cx, "other".parse().unwrap(), other).await;
    let (here, there) = (Scope::Project(world.project.id), Scope::Project(other.unwrap().id));
    let may = |permission, scope| who.may(Need { permission, scope });
    assert!(may(Permission::TaskRead, here));
    assert!(!may(Permission::TaskSubmit, here), "it is a viewer, though its submitter is an admin");
    assert!(!may(Permission::TaskRead, there), "its own project only");
    assert!(!may(Permission::NodeRead, Scope::Global));
    for own in [Permission::TokenCreate, Permission::PasswordChange, Permission::SessionRead] {
        assert!(!may(own, Scope::Global), "{own}: it has no account");
    }
    assert_eq!(who.visible_projects(), Some(vec![world.project.id]));
    let need = Need { permission: Permission::TaskRead, scope: there };
    let error = world.control.authorise(&who, need).unwrap_err();
    assert!(error.detail.contains("its own project"), "{error:?}");
    let cx = Cx { caller: who, ..world.cx.clone() };
    let name = "project:default:task:job".to_owned();
    assert_eq!(cx.actor(), Actor { kind: ActorKind::Workload, name });
    assert_eq!(world.control.logout(&cx).await.unwrap_err().code, Code::Forbidden);

    end(&world, &run).await;
    let words = refused(&world, token_in(&identity, "hostler-token")).await;
    assert!(words.contains("its run is over"), "{words}");
    let again = world.control.node_identity(run.node_id, run.placement_id, Some(run.id), true);
    assert_eq!(again.await.unwrap_err().code, Code::Forbidden);
}

#[tokio::test]
async fn without_a_role_nothing_is_allowed() {
    let world = World::new(82).await;
    let _node = connected(&world, "n1").await;
    let run = placed(&world, "job", with(None)).await;
    let who = caller(&world, &given(&world, &run).await).await.unwrap();
    for scope in [Scope::Global, Scope::Project(world.project.id)] {
        assert_eq!(who.permissions_in(scope), PermissionSet::EMPTY);
        for permission in Permission::ALL {
            assert!(!who.may(Need { permission: *permission, scope }), "{permission}");
        }
    }
    let plain = placed(&world, "plain", WorkloadSpec::command(["true"])).await;
    let none =
        world.control.node_identity(plain.node_id, plain.placement_id, Some(plain.id), false);
    assert_eq!(none.await.unwrap(), None, "it asks for nothing");
}

#[tokio::test]
async fn a_node_gets_tokens_for_its_own_runs_only() {
    let world = World::new(83).await;
    let one = connected(&world, "n1").await;
    let run = placed(&world, "job", with(Some(Role::User))).await;
    assert_eq!(run.node_id, one.node_id);
    let two = connected(&world, "n2").await;
    let code = async |node: &SimAgent, run_id: Option<RunId>| {
        let asked = world.control.node_identity(node.node_id, run.placement_id, run_id, false);
        asked.await.map(|_| ()).map_err(|e| e.code)
    };
    assert_eq!(code(&one, Some(run.id)).await, Ok(()));
    assert_eq!(code(&two, Some(run.id)).await, Err(Code::Forbidden), "another node's");
    let made_up = RunId::from_uuid(Uuid::from_u128(5));
    assert_eq!(code(&one, Some(made_up)).await, Err(Code::Forbidden), "no run of it");
    assert_eq!(code(&one, None).await, Err(Code::Forbidden));
    let mut read = world.store.read().await.unwrap();
    let all = read.audit_list(AuditFilter::default(), None, hostler_model::Limit::LARGEST).await;
    let issued: Vec<_> =
        all.unwrap().items.into_iter().filter(|e| e.entry.action == "identity.issue").collect();
    assert_eq!(issued.len(), 1);
    assert_eq!(issued[0].entry.actor, Actor { kind: ActorKind::Node, name: "n1".into() });
    assert!(!format!("{issued:?}").contains("eyJ"));
}

#[tokio::test]
async fn tokens_are_for_one_audience_and_a_quarter_of_an_hour() {
    let world = World::new(84).await;
    let _node = connected(&world, "n1").await;
    let run = placed(&world, "job", with(Some(Role::Viewer))).await;
    let identity = given(&world, &run).await;
    let good = token_in(&identity, "hostler-token").to_owned();
    let words = refused(&world, token_in(&identity, "vault")).await;
    assert!(words.contains("for somebody else"), "{words}");

    let parts: Vec<&str> = good.split('.').collect();
    let claims = URL_SAFE_NO_PAD.decode(parts[1]).unwrap();
    let claims: serde_json::Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(claims["sub"], "project:default:task:job");
    assert_eq!(claims["node"], "n1");
    assert_eq!(claims["aud"], "hostler");
    let header = URL_SAFE_NO_PAD.decode(parts[0]).unwrap();
    let header: serde_json::Value = serde_json::from_slice(&header).unwrap();
    for alg in ["none", "HS256", "RS256", "EdDSA"] {
        let forged = serde_json::json!({ "alg": alg, "typ": "JWT", "kid": header["kid"] });
        let forged = URL_SAFE_NO_PAD.encode(forged.to_string());
        for signature in ["", parts[2]] {
            let words = refused(&world, &format!("{forged}.{}.{signature}", parts[1])).await;
            assert!(words.contains("signature"), "{alg}: {words}");
        }
    }
    let foreign = SigningKey::from_pkcs8(SigningKey::generate().unwrap().expose()).unwrap();
    let words = refused(&world, &foreign.sign(&claims).unwrap()).await;
    assert!(words.contains("key is not known"), "{words}");
    let mut more = claims.clone();
    more["run"] = RunId::from_uuid(Uuid::from_u128(5)).to_string().into();
    let more = URL_SAFE_NO_PAD.encode(more.to_string());
    refused(&world, &format!("{}.{more}.{}", parts[0], parts[2])).await;

    world.advance(MINUTE * 14);
    caller(&world, &identity).await.unwrap();
    let fresh = world.control.node_identity(run.node_id, run.placement_id, Some(run.id), true);
    let fresh = fresh.await.unwrap().unwrap();
    world.advance(MINUTE);
    assert!(refused(&world, &good).await.contains("expired"));
    caller(&world, &fresh).await.unwrap();
}

#[tokio::test]
async fn nobody_gives_more_than_they_hold_and_it_goes_when_they_lose_it() {
    let world = World::new(85).await;
    let _node = connected(&world, "n1").await;
    let mut user = world.cx.clone();
    user.caller.principal_id = PrincipalId::from_uuid(Uuid::from_u128(1));
    let here = Scope::Project(world.project.id);
    user.caller.grants = vec![Grant::built_in(here, Role::User)];
    let error = submit(&world, &user, "t", with(Some(Role::Operator))).await.unwrap_err();
    assert_eq!(error.code, Code::Forbidden, "{error:?}");
    let unknown = Identity { role: Some("nonesuch".parse().unwrap()), tokens: vec![] };
    let unknown = WorkloadSpec { identity: Some(unknown), ..WorkloadSpec::command(["true"]) };
    let error = submit(&world, &world.cx, "t", unknown.clone()).await.unwrap_err();
    assert_eq!(error.errors[0].pointer, "/spec/identity/role");
    let name = "svc".parse().unwrap();
    let applied = world.control.workload_apply(&world.cx, &world.project, &name, &unknown, None);
    assert_eq!(applied.await.unwrap_err().code, Code::Invalid);

    let run = placed(&world, "job", with(Some(Role::Operator))).await;
    let identity = given(&world, &run).await;
    let manage = Need { permission: Permission::TaskManage, scope: here };
    let read = Need { permission: Permission::TaskRead, scope: here };
    assert!(caller(&world, &identity).await.unwrap().may(manage));
    let principal = world.cx.caller.principal_id;
    let demoted: Result<(), hostler_store::Error> = world
        .store
        .tx("demote", |tx| {
            Box::pin(
                async move { tx.role_binding_set(principal, Scope::Global, Role::Viewer).await },
            )
        })
        .await;
    demoted.unwrap();
    let who = caller(&world, &identity).await.unwrap();
    assert!(!who.may(manage) && who.may(read), "no more than its submitter");
}

#[tokio::test]
async fn keys_are_replaced_without_a_token_that_is_refused() {
    let world = World::new(86).await;
    let _node = connected(&world, "n1").await;
    let control = &world.control;
    let keep = async || {
        let pass = control.identity_key_reconciler().reconcile().await;
        assert_eq!(pass.error, None);
        control.identity_jwks().await.unwrap().len()
    };
    assert_eq!(keep().await, 0, "none before the first token");
    let run = placed(&world, "job", with(Some(Role::Viewer))).await;
    given(&world, &run).await;
    assert_eq!(keep().await, 1);
    world.advance(Duration::from_hours(30 * 24));
    let old = given(&world, &run).await;
    assert_eq!(keep().await, 2, "the next one is published");
    let still = given(&world, &run).await;
    let key_of = |identity: &DeliveredIdentity| {
        token_in(identity, "hostler-token").split('.').next().unwrap().to_owned()
    };
    assert_eq!(key_of(&old), key_of(&still), "and does not sign yet");
    world.advance(Duration::from_hours(1));
    let last = world.another_server().await;
    let fresh = given(&world, &run).await;
    assert_ne!(key_of(&old), key_of(&fresh));
    last.caller_by_token(token_in(&fresh, "hostler-token")).await.unwrap();
    assert_eq!(keep().await, 2, "tokens of the one before may still be about");
    world.advance(MINUTE * 30);
    assert_eq!(keep().await, 1);
    let renewed = given(&world, &run).await;
    caller(&world, &renewed).await.unwrap();
}
