//! Secrets: who may do what, what is left in the records, what nodes get, and master keys that change.

use hostler_control::{
    Boot, BootError, Control, ControlConfig, Cx, NewSoftwareConfig, NewSoftwareDeployment, NewTask,
};
use hostler_model::stack::{SoftwareConfigBody, SoftwareDeploymentBody, StackStatus};
use hostler_model::{
    Actor, ActorKind, Code, EventKind, Grant, Limit, PlacementId, Role, Scope, SecretRef,
    SecretUse, WorkloadSpec,
};
use hostler_store::{AuditFilter, EventFilter};
use hostler_testkit::{SimAgent, World};
use hostler_trust::{Keyring, MasterKey, SecretBytes};
use serde_json::{Map, json};

const CANARY: &[u8] = b"canary-5ecret-value";

fn named(text: &str) -> SecretRef {
    text.parse().unwrap()
}

async fn set(control: &Control, world: &World, cx: &Cx, name: &str, value: &[u8]) -> u32 {
    let value = SecretBytes::new(value);
    let set = control.secret_set(cx, &world.project, &named(name), &value, false).await;
    set.unwrap().secret.version_current
}

/// Somebody with a role in the project of the tests.
fn somebody(world: &World, seed: u128, role: Role) -> Cx {
    let mut cx = world.cx.clone();
    let id = hostler_model::PrincipalId::from_uuid(uuid::Uuid::from_u128(seed));
    cx.caller.principal_id = id;
    let scope = Scope::Project(world.project.id);
    cx.caller.grants = vec![Grant::built_in(scope, role)];
    cx
}

/// Everything that the journal says.
async fn journal(world: &World) -> String {
    let mut read = world.store.read().await.unwrap();
    let all = Limit::LARGEST;
    let events = read.event_list(EventFilter::default(), 0, all).await.unwrap();
    let audits = read.audit_list(AuditFilter::default(), None, all).await.unwrap();
    format!("{events:?}{audits:?}")
}

async fn actions(world: &World) -> Vec<(String, Actor)> {
    let mut read = world.store.read().await.unwrap();
    let all = Limit::LARGEST;
    let audits = read.audit_list(AuditFilter::default(), None, all).await.unwrap();
    let mut actions: Vec<_> = audits
        .items
        .into_iter()
        .map(|entry| (entry.entry.action, entry.entry.actor))
        .filter(|(action, _)| action.starts_with("secret."))
        .collect();
    actions.reverse();
    actions
}

#[tokio::test]
async fn versions_grow_and_the_same_value_makes_none() {
    let world = World::new(71).await;
    let (control, cx) = (&world.control, &world.cx);
    assert_eq!(set(control, &world, cx, "db", CANARY).await, 1);
    assert_eq!(set(control, &world, cx, "db", CANARY).await, 1);
    assert_eq!(set(control, &world, cx, "db", b"another value").await, 2);
    assert_eq!(set(control, &world, cx, "db", CANARY).await, 3, "back again is a version too");
    assert_eq!(set(control, &world, cx, "prod/db", b"elsewhere").await, 1);
    let read = async |name: &str| {
        let read = control.secret_read(cx, &world.project, &named(name)).await;
        read.map(|read| (read.version, read.value.expose().to_vec())).map_err(|e| e.code)
    };
    assert_eq!(read("db").await, Ok((3, CANARY.to_vec())));
    assert_eq!(read("db:2").await, Ok((2, b"another value".to_vec())));
    assert_eq!(read("prod/db").await, Ok((1, b"elsewhere".to_vec())));
    assert_eq!(read("db:9").await, Err(Code::NotFound));
    assert_eq!(read("stage/db").await, Err(Code::NotFound));

    let left = control.secret_destroy(cx, &world.project, &named("db"), 3).await.unwrap();
    assert_eq!(left.secret.version_current, 2);
    assert_eq!(read("db").await, Ok((2, b"another value".to_vec())));
    assert_eq!(read("db:3").await, Err(Code::NotFound));
    assert_eq!(set(control, &world, cx, "db", CANARY).await, 4, "numbers are not used again");
    let made = control.secret_generate(cx, &world.project, &named("key"), 32).await.unwrap();
    assert_eq!(made.secret.version_current, 1);
    assert_eq!(read("key").await.unwrap().1.len(), 43);
    control.secret_remove(cx, &world.project, &named("db")).await.unwrap();
    assert_eq!(read("db").await, Err(Code::NotFound));
    assert_eq!(set(control, &world, cx, "db", b"a new secret").await, 1);
    assert!(matches!(read("db:2").await, Err(Code::NotFound)));

    let empty = SecretBytes::new(b"");
    let refused = control.secret_set(cx, &world.project, &named("x"), &empty, false).await;
    assert_eq!(refused.unwrap_err().code, Code::Invalid);
    let large = SecretBytes::new(vec![1; (64 << 10) + 1]);
    let refused = control.secret_set(cx, &world.project, &named("x"), &large, false).await;
    assert_eq!(refused.unwrap_err().code, Code::TooLarge);
    let value = SecretBytes::new(b"v");
    let refused = control.secret_set(cx, &world.project, &named("x"), &value, true).await;
    assert_eq!(refused.unwrap_err().code, Code::NotFound);
    assert!(set(control, &world, cx, "x", &vec![0; 64 << 10]).await == 1, "any bytes");
}

#[tokio::test]
async fn everything_is_recorded_and_no_value_is() {
    let world = World::new(72).await;
    let (control, cx) = (&world.control, &world.cx);
    set(control, &world, cx, "db", b"the first value").await;
    set(control, &world, cx, "db", CANARY).await;
    control.secret_read(cx, &world.project, &named("db")).await.unwrap();
    control.secret_destroy(cx, &world.project, &named("db"), 1).await.unwrap();
    control.secret_remove(cx, &world.project, &named("db")).await.unwrap();
    let names: Vec<String> = actions(&world).await.into_iter().map(|(action, _)| action).collect();
    assert_eq!(
        names,
        ["secret.create", "secret.rotate", "secret.read", "secret.destroy", "secret.remove"]
    );
    let mut read = world.store.read().await.unwrap();
    let all = Limit::LARGEST;
    let events = read.event_list(EventFilter::default(), 0, all).await.unwrap();
    let kinds = [
        EventKind::SecretCreated,
        EventKind::SecretRotated,
        EventKind::SecretDestroyed,
        EventKind::SecretRemoved,
    ];
    for kind in kinds {
        assert_eq!(events.iter().filter(|event| event.event.kind == kind).count(), 1);
    }
    drop(read);
    let text = journal(&world).await;
    assert!(!text.contains("canary-5ecret") && !text.contains("first value"), "{text}");
    assert_eq!(control.secret_counts().read, 1);
}

#[tokio::test]
async fn users_change_their_own_and_operators_everybodys() {
    let world = World::new(73).await;
    let (ann, bob) = (somebody(&world, 1, Role::User), somebody(&world, 2, Role::User));
    let boss = somebody(&world, 3, Role::Operator);
    let (control, project) = (&world.control, &world.project);
    set(control, &world, &ann, "db", b"of ann's").await;
    set(control, &world, &ann, "db", b"of ann's, new").await;
    let value = SecretBytes::new(b"of bob's");
    let refused = control.secret_set(&bob, project, &named("db"), &value, false).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
    let refused = control.secret_generate(&bob, project, &named("db"), 32).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
    let refused = control.secret_destroy(&bob, project, &named("db"), 1).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
    let refused = control.secret_remove(&bob, project, &named("db")).await;
    assert_eq!(refused.unwrap_err().code, Code::Forbidden);
    assert_eq!(set(control, &world, &boss, "db", b"of the operator's").await, 3);
    control.secret_remove(&ann, project, &named("db")).await.unwrap();
}

fn using(secret: &str) -> WorkloadSpec {
    let given = SecretUse { secret: named(secret), env: Some("DB".into()), file: None };
    WorkloadSpec { secrets: vec![given], ..WorkloadSpec::command(["true"]) }
}

async fn submit(world: &World, name: &str, spec: WorkloadSpec) -> Result<(), hostler_model::Error> {
    let new = vec![NewTask { name: Some(name.parse().unwrap()), spec }];
    world.control.task_submit(&world.cx, &world.project, new).await.map(|_| ())
}

/// Where a task was put.
async fn placement(world: &World, name: &str) -> PlacementId {
    world.control.place_pending().await.unwrap();
    let task = world.control.task_get(&world.cx, &world.project, name).await.unwrap();
    task.run.unwrap().placement_id
}

async fn connected(world: &World, name: &str) -> SimAgent {
    let mut agent = world.join(name).await;
    agent.connect(&world.control).await;
    agent
}

#[tokio::test]
async fn a_workload_names_only_what_is_there() {
    let world = World::new(74).await;
    set(&world.control, &world, &world.cx, "db", b"value").await;
    for (secret, at) in
        [("none", "no such secret"), ("prod/db", "no such secret"), ("db:2", "no such version")]
    {
        let error = submit(&world, "t", using(secret)).await.unwrap_err();
        assert_eq!(
            (error.code, error.errors[0].pointer.as_str()),
            (Code::Invalid, "/spec/secrets/0/secret")
        );
        assert!(error.errors[0].detail.contains(at), "{error:?}");
        let name = "svc".parse().unwrap();
        let spec = using(secret);
        let applied = world.control.workload_apply(&world.cx, &world.project, &name, &spec, None);
        assert_eq!(applied.await.unwrap_err().code, Code::Invalid);
    }
    submit(&world, "good", using("db:1")).await.unwrap();
    world.control.secret_destroy(&world.cx, &world.project, &named("db"), 1).await.unwrap();
    let error = submit(&world, "t", using("db")).await.unwrap_err();
    assert!(error.errors[0].detail.contains("every version"), "{error:?}");
}

#[tokio::test]
async fn a_node_gets_the_secrets_of_what_it_is_to_run() {
    let world = World::new(75).await;
    let (one, two) = (connected(&world, "n1").await, connected(&world, "n2").await);
    let control = &world.control;
    set(control, &world, &world.cx, "db", CANARY).await;
    set(control, &world, &world.cx, "other", b"not for them").await;
    let on = |node: &str, spec: WorkloadSpec| {
        let mut spec = spec;
        spec.placement.node = Some(node.parse().unwrap());
        spec
    };
    submit(&world, "mine", on("n1", using("db"))).await.unwrap();
    let mine = placement(&world, "mine").await;
    let given = control.node_secrets(one.node_id, mine, None).await.unwrap();
    assert_eq!(given.len(), 1, "only what it names");
    assert_eq!((given[0].reference.to_string(), given[0].version), ("db".to_owned(), 1));
    assert_eq!(given[0].value.expose(), CANARY);
    assert!(!format!("{given:?}").contains("canary"));
    let code = async |node: &SimAgent, placement| {
        control.node_secrets(node.node_id, placement, None).await.map(|_| ()).map_err(|e| e.code)
    };
    assert_eq!(code(&two, mine).await, Err(Code::Forbidden), "another node's");
    let unknown = PlacementId::from_uuid(uuid::Uuid::from_u128(1));
    assert_eq!(code(&one, unknown).await, Err(Code::Forbidden));

    let delivered: Vec<_> = actions(&world)
        .await
        .into_iter()
        .filter(|(action, _)| action == "secret.deliver")
        .collect();
    assert_eq!(delivered.len(), 1);
    assert_eq!(delivered[0].1, Actor { kind: ActorKind::Node, name: "n1".to_owned() });
    assert!(!journal(&world).await.contains("canary-5ecret"));
    assert_eq!(control.secret_counts().delivered, 1);

    set(control, &world, &world.cx, "db", b"the next").await;
    let given = control.node_secrets(one.node_id, mine, None).await.unwrap();
    assert_eq!((given[0].version, given[0].value.expose()), (2, &b"the next"[..]));
    control.secret_remove(&world.cx, &world.project, &named("db")).await.unwrap();
    assert_eq!(code(&one, mine).await, Err(Code::NotFound), "looked for again");
    set(control, &world, &world.cx, "db", b"anew").await;
    control.task_kill(&world.cx, &world.project, "mine", None).await.unwrap();
    assert_eq!(code(&one, mine).await, Err(Code::Forbidden), "it is not to run any more");
}

fn boot(world: &World, master_key: Keyring) -> Boot {
    Boot {
        store: world.store.clone(),
        clock: world.clock.clock(),
        ids: hostler_base::ids::Ids::seeded(99),
        config: ControlConfig::default(),
        master_key,
        server_name: "again".into(),
    }
}

/// A configuration of software and its deployment, by whose id it is known.
async fn deployed(world: &World) -> String {
    let (control, cx, project) = (&world.control, &world.cx, &world.project);
    let body = SoftwareConfigBody { config: json!("echo hidden"), ..SoftwareConfigBody::default() };
    let new = NewSoftwareConfig { name: "c".to_owned(), group: "script".to_owned(), body };
    let config = control.software_config_create(cx, project, new).await.unwrap();
    let input_values = Map::from_iter([("a".to_owned(), json!("hidden"))]);
    let new = NewSoftwareDeployment {
        config: config["id"].as_str().unwrap().to_owned(),
        server: "srv".to_owned(),
        action: "CREATE".to_owned(),
        status: StackStatus::InProgress,
        reason: String::new(),
        body: SoftwareDeploymentBody { input_values, ..SoftwareDeploymentBody::default() },
    };
    let made = control.software_deployment_create(cx, project, new).await.unwrap();
    made["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_master_key_is_replaced_bit_by_bit() {
    let world = World::new(76).await;
    let (old, new) = (MasterKey::from_bytes([7; 32]), MasterKey::from_bytes([8; 32]));
    for n in 0..250 {
        set(&world.control, &world, &world.cx, &format!("s{n}"), format!("value {n}").as_bytes())
            .await;
    }
    let deployed = deployed(&world).await;
    let both = || Keyring::new(new.clone(), vec![old.clone()]);
    assert!(matches!(
        boot(&world, new.clone().into()).run().await,
        Err(BootError::WrongMasterKey(_))
    ));
    let control = boot(&world, both()).run().await.unwrap();
    set(&control, &world, &world.cx, "fresh", b"with the new key").await;
    let done = control.secret_rewrap(&world.cx).await.unwrap();
    assert_eq!((done.key_id, done.count, done.left), (new.id(), 254, vec![]));
    let again = control.secret_rewrap(&world.cx).await.unwrap();
    assert_eq!(again.count, 0, "there is nothing left");
    assert!(matches!(
        boot(&world, old.clone().into()).run().await,
        Err(BootError::WrongMasterKey(_))
    ));
    let alone = boot(&world, new.clone().into()).run().await.unwrap();
    for (name, value) in [("s0", "value 0"), ("s249", "value 249"), ("fresh", "with the new key")] {
        let read = alone.secret_read(&world.cx, &world.project, &named(name)).await.unwrap();
        assert_eq!(read.value.expose(), value.as_bytes());
    }
    let told = alone.software_metadata(&world.cx, &world.project, "srv").await.unwrap();
    assert_eq!(told[0]["config"], "echo hidden");
    let deployment = alone.software_deployment_get(&world.cx, &world.project, &deployed).await;
    assert_eq!(deployment.unwrap()["input_values"], json!({ "a": "hidden" }));
    assert_eq!(alone.authority().fingerprint(), world.control.authority().fingerprint());
}

#[tokio::test]
async fn a_server_that_lacks_a_key_does_not_start_and_damage_is_told_once() {
    let world = World::new(77).await;
    let (old, new) = (MasterKey::from_bytes([7; 32]), MasterKey::from_bytes([8; 32]));
    set(&world.control, &world, &world.cx, "db", CANARY).await;
    let other = boot(&world, Keyring::new(new.clone(), vec![old.clone()])).run().await.unwrap();
    set(&other, &world, &world.cx, "late", b"sealed with the new key").await;
    let Err(error) = boot(&world, old.clone().into()).run().await else { panic!("it starts") };
    assert!(matches!(error, BootError::LackingKeys(_)), "{error:?}");
    let words = error.to_string();
    assert!(
        words.contains(&new.id().to_string()) && words.contains("master.key.former"),
        "{words}"
    );

    // The server that is still there cannot open it, says so, and serves the rest.
    for _ in 0..3 {
        let error =
            world.control.secret_read(&world.cx, &world.project, &named("late")).await.unwrap_err();
        assert_eq!(error.code, Code::Unavailable);
        assert!(error.detail.contains("another master key"), "{error:?}");
    }
    assert_eq!(world.control.secret_counts().unopened, 3);
    let told = journal(&world).await.matches("SecretUnopened").count();
    assert_eq!(told, 1);
    world.control.secret_read(&world.cx, &world.project, &named("db")).await.unwrap();
    let left = world.control.secret_rewrap(&world.cx).await.unwrap().left;
    assert_eq!(left, [(new.id(), 1)]);
}
