//! Linked secrets: what a vault outside gives, to whom, and what is said when it does not.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_control::{
    ControlConfig, HashiCorpVault, NewTask, ProjectChange, VaultConfig, VaultKind, VaultLogin,
    VaultProjects,
};
use hostler_egress::{Egress, Options, Policy};
use hostler_model::{
    Code, Error, EventKind, Grant, Limit, Project, Role, Scope, SecretLink, SecretRef,
    SecretSource, SecretUse, WorkloadSpec,
};
use hostler_store::{AuditFilter, EventFilter, OpenOptions, Store};
use hostler_testkit::World;
use hostler_trust::SecretBytes;
use serde_json::json;

use crate::vault_server::{JWT, ROLE_ID, SECRET_ID, Stored, VaultServer};

const CANARY: &str = "canary-5ecret-value";
const KEEP: Duration = Duration::from_secs(30);

fn named(text: &str) -> SecretRef {
    text.parse().unwrap()
}

fn to(text: &str) -> SecretLink {
    SecretLink::parse("corp".parse().unwrap(), text).unwrap()
}

fn credential(dir: &Path, text: &str) -> PathBuf {
    let path = dir.join("credential");
    std::fs::write(&path, format!("{text}\n")).unwrap();
    path
}

fn vault(kind: VaultKind, projects: VaultProjects) -> VaultConfig {
    VaultConfig {
        name: "corp".parse().unwrap(),
        projects,
        prefix: "teams/{project}".parse().unwrap(),
        time_max: Duration::from_secs(5),
        keep: KEEP,
        kind,
    }
}

fn hashicorp(server: &VaultServer, login: VaultLogin) -> VaultKind {
    VaultKind::HashiCorp(HashiCorpVault {
        address: server.address(),
        mount: "secret".to_owned(),
        namespace: None,
        authorities_pem: Some(server.pem.clone().into_bytes()),
        login,
    })
}

fn approle(server: &VaultServer, dir: &Path) -> VaultKind {
    let login = VaultLogin::AppRole {
        mount: "approle".to_owned(),
        role_id: ROLE_ID.to_owned(),
        secret_id_file: credential(dir, SECRET_ID),
    };
    hashicorp(server, login)
}

async fn world_with(vault: VaultConfig, allow: &[&str]) -> World {
    let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let policy = Policy {
        allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
        ..Policy::default()
    };
    let config = ControlConfig {
        vaults: vec![vault],
        egress: Egress::new(Options { policy, ..Options::default() }),
        ..ControlConfig::default()
    };
    World::configured(store, 11, config).await
}

async fn world(kind: VaultKind) -> World {
    world_with(vault(kind, VaultProjects::All), &["127.0.0.1"]).await
}

async fn link(world: &World, name: &str, text: &str) {
    let linked =
        world.control.secret_link(&world.cx, &world.project, &named(name), &to(text)).await;
    assert_eq!(linked.unwrap().secret.link, Some(to(text)));
}

async fn read_of(world: &World, project: &Project, name: &str) -> Result<(u32, String), Error> {
    let read = world.control.secret_read(&world.cx, project, &named(name)).await?;
    Ok((read.version, String::from_utf8(read.value.expose().to_vec()).unwrap()))
}

async fn read(world: &World, name: &str) -> Result<(u32, String), Error> {
    read_of(world, &world.project, name).await
}

/// Links, reads, and says what came of it.
async fn refused(world: &World, text: &str) -> (Code, String) {
    link(world, "probe", text).await;
    let error = read(world, "probe").await.unwrap_err();
    (error.code, format!("{}; {}", error.detail, error.hint))
}

async fn journal(world: &World) -> String {
    let mut read = world.store.read().await.unwrap();
    let all = Limit::LARGEST;
    let events = read.event_list(EventFilter::default(), 0, all).await.unwrap();
    let audits = read.audit_list(AuditFilter::default(), None, all).await.unwrap();
    format!("{events:?}{audits:?}")
}

fn password(text: &str) -> Stored {
    Stored::Data(json!({ "user": "app", "password": text }))
}

#[tokio::test]
async fn a_run_gets_what_the_vault_has_and_nothing_keeps_it() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    server.put("teams/default/db/app", password(CANARY));
    let world = world(approle(&server, dir.path())).await;
    link(&world, "db", "db/app#password").await;
    let mut agent = world.join("n1").await;
    agent.connect(&world.control).await;
    let given = SecretUse { secret: named("db"), env: Some("DB".into()), file: None };
    let spec = WorkloadSpec { secrets: vec![given], ..WorkloadSpec::command(["true"]) };
    let new = vec![NewTask { name: Some("t".parse().unwrap()), spec }];
    world.control.task_submit(&world.cx, &world.project, new).await.unwrap();
    world.control.place_pending().await.unwrap();
    let task = world.control.task_get(&world.cx, &world.project, "t").await.unwrap();
    let placement = task.run.unwrap().placement_id;
    let given = world.control.node_secrets(agent.node_id, placement, None).await.unwrap();
    assert_eq!(given.len(), 1);
    assert_eq!((given[0].reference.to_string(), given[0].version), ("db".to_owned(), 1));
    assert_eq!(given[0].value.expose(), CANARY.as_bytes());
    assert_eq!(server.counts(), (1, 1));

    server.put("teams/default/db/app", password("the next value"));
    assert_eq!(read(&world, "db").await.unwrap(), (1, CANARY.to_owned()), "for a moment");
    assert_eq!(server.state().readings, 1);
    world.advance(KEEP);
    assert_eq!(read(&world, "db").await.unwrap(), (2, "the next value".to_owned()));
    assert_eq!(server.counts(), (1, 2), "one login will do");

    server.state().is_sealed = true;
    world.advance(KEEP);
    let error = world.control.node_secrets(agent.node_id, placement, None).await.unwrap_err();
    assert_eq!(error.code, Code::Unavailable, "so that the run waits");
    assert!(error.detail.contains("Vault is sealed"), "{error:?}");
    let counts = world.control.secret_counts();
    assert_eq!((counts.followed, counts.lost, counts.delivered, counts.read), (3, 1, 1, 2));

    let text = journal(&world).await;
    assert!(!text.contains("canary-5ecret") && !text.contains("the next value"), "{text}");
    assert!(!text.contains(SECRET_ID) && !text.contains("hvs."), "{text}");
    assert!(text.contains("SecretLinked") && text.contains("corp:db/app#password"), "{text}");
    for action in ["secret.link", "secret.deliver", "secret.read"] {
        assert!(text.contains(action), "{action}");
    }
}

#[tokio::test]
async fn versions_and_fields_are_the_vaults() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    let at = "teams/default/db";
    for stored in [password("one"), Stored::Deleted, Stored::Destroyed, password("four")] {
        server.put(at, stored);
    }
    server.put("teams/default/only", Stored::Data(json!({ "key": "single" })));
    server.put("teams/default/empty", Stored::Data(json!({ "key": "" })));
    server.put("teams/default/large", Stored::Data(json!({ "key": "x".repeat(65 << 10) })));
    let world = world(approle(&server, dir.path())).await;
    for (text, version, value) in
        [("db#password", 4, "four"), ("db#password@1", 1, "one"), ("only", 1, "single")]
    {
        link(&world, "probe", text).await;
        assert_eq!(read(&world, "probe").await.unwrap(), (version, value.to_owned()), "{text}");
    }
    for (text, code, why) in [
        ("db#password@2", Code::NotFound, "version 2 was deleted there"),
        ("db#password@3", Code::NotFound, "version 3 was destroyed there"),
        ("db#password@9", Code::NotFound, "nothing at that path"),
        ("none", Code::NotFound, "nothing at that path"),
        ("db#other", Code::NotFound, "no field `other`"),
        ("db", Code::Conflict, "2 fields"),
        ("empty", Code::Conflict, "is empty"),
        ("large", Code::Conflict, "more than 64 KiB"),
    ] {
        let (found, words) = refused(&world, text).await;
        assert_eq!(found, code, "{text}: {words}");
        assert!(words.contains(why) && words.contains("hostler secret link probe"), "{words}");
        assert!(words.contains("`teams/default/"), "{words}");
    }
    let error = read(&world, "probe:1").await.unwrap_err();
    assert!(error.detail.contains("no versions here"), "{error:?}");
    let given = SecretUse { secret: named("probe:1"), env: Some("P".into()), file: None };
    let spec = WorkloadSpec { secrets: vec![given], ..WorkloadSpec::command(["true"]) };
    let new = vec![NewTask { name: None, spec }];
    let error = world.control.task_submit(&world.cx, &world.project, new).await.unwrap_err();
    assert!(error.errors[0].detail.contains("is a link"), "{error:?}");
}

#[tokio::test]
async fn a_vault_that_does_not_answer_is_told_from_one_that_refuses() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    server.put("teams/default/db", Stored::Data(json!({ "key": CANARY })));
    let world = world(approle(&server, dir.path())).await;
    server.state().readable = "elsewhere/".to_owned();
    let (code, words) = refused(&world, "db").await;
    assert_eq!(code, Code::Unavailable);
    assert!(words.contains("permission denied") && !words.contains('\n'), "{words}");
    assert_eq!(server.state().logins, 1, "a refusal right after a login is meant");
    server.state().readable = "teams/".to_owned();
    assert!(read(&world, "probe").await.is_ok(), "failures are not kept");

    // A token that was revoked is replaced.
    world.advance(Duration::from_secs(60));
    server.state().tokens.clear();
    assert_eq!(read(&world, "probe").await.unwrap().1, CANARY);
    assert_eq!(server.state().logins, 2);

    std::fs::write(dir.path().join("credential"), "wrong").unwrap();
    world.advance(Duration::from_secs(7200));
    let (code, words) = refused(&world, "db").await;
    assert_eq!(code, Code::Unavailable);
    assert!(words.contains("cannot log in there (invalid role or secret ID)"), "{words}");
    std::fs::remove_file(dir.path().join("credential")).unwrap();
    let (_, words) = refused(&world, "db").await;
    assert!(words.contains("credential for it cannot be read"), "{words}");
    assert!(!words.contains(dir.path().to_str().unwrap()), "{words}");
}

#[tokio::test]
async fn a_vault_is_called_only_where_that_is_allowed_and_trusted() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    let kind = approle(&server, dir.path());
    let world_closed = world_with(vault(kind.clone(), VaultProjects::All), &[]).await;
    let (code, words) = refused(&world_closed, "db").await;
    assert_eq!(code, Code::Unavailable);
    let entry = format!("add `127.0.0.1:{}` to `egress.allow`", server.port);
    assert!(words.contains(&entry), "{words}");

    let VaultKind::HashiCorp(mut other) = kind else { panic!("it is one") };
    other.authorities_pem = Some(VaultServer::start().pem.into_bytes());
    let world_wary = world(VaultKind::HashiCorp(other)).await;
    let (code, words) = refused(&world_wary, "db").await;
    assert_eq!(code, Code::Unavailable);
    assert!(words.contains("cannot be trusted"), "{words}");
    assert_eq!(server.counts(), (0, 0));

    server.state().is_silent = true;
    let brief = VaultConfig {
        time_max: Duration::from_millis(300),
        ..vault(approle(&server, dir.path()), VaultProjects::All)
    };
    let world_brief = world_with(brief, &["127.0.0.1"]).await;
    let (code, words) = refused(&world_brief, "db").await;
    assert_eq!(code, Code::Unavailable, "{words}");
}

#[tokio::test]
async fn other_ways_to_log_in() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    server.put("teams/default/db", Stored::Data(json!({ "key": CANARY })));
    server.state().namespace = Some("web".to_owned());
    server.state().tokens.insert("hvs.static".to_owned());
    let in_namespace = |login| {
        let VaultKind::HashiCorp(vault) = hashicorp(&server, login) else { panic!("it is one") };
        VaultKind::HashiCorp(HashiCorpVault { namespace: Some("web".to_owned()), ..vault })
    };
    let with_token =
        world(in_namespace(VaultLogin::Token { file: credential(dir.path(), "hvs.static") }));
    let with_token = with_token.await;
    link(&with_token, "db", "db#key").await;
    assert_eq!(read(&with_token, "db").await.unwrap().1, CANARY);
    assert_eq!(server.state().logins, 0);

    let with_jwt = world(in_namespace(VaultLogin::Jwt {
        mount: "kubernetes".to_owned(),
        role: "hostler".to_owned(),
        file: credential(dir.path(), JWT),
    }));
    let with_jwt = with_jwt.await;
    link(&with_jwt, "db", "db#key").await;
    assert_eq!(read(&with_jwt, "db").await.unwrap().1, CANARY);
    assert_eq!(server.state().logins, 1);
}

#[tokio::test]
async fn a_project_reaches_only_what_is_its_own() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    server.put("teams/default/db", Stored::Data(json!({ "key": CANARY })));
    server.put("teams/beta/db", Stored::Data(json!({ "key": "of beta's" })));
    let projects = ["default", "beta"].map(|name| name.parse().unwrap());
    let vault = vault(approle(&server, dir.path()), VaultProjects::Named(projects.to_vec()));
    let world = world_with(vault, &["127.0.0.1"]).await;
    let make = async |name: &str| {
        let change = ProjectChange::default();
        world.control.project_create(&world.cx, name.parse().unwrap(), change).await.unwrap()
    };
    let (beta, gamma) = (make("beta").await, make("gamma").await);
    let prefixes = |project: &Project| {
        let listed = world.control.vault_list(&world.cx, project);
        listed.into_iter().map(|vault| vault.prefix).collect::<Vec<_>>()
    };
    assert_eq!(prefixes(&world.project), ["teams/default/"]);
    assert_eq!(prefixes(&gamma), Vec::<String>::new());
    link(&world, "db", "db#key").await;
    let linked = world.control.secret_link(&world.cx, &beta, &named("db"), &to("db#key")).await;
    assert_eq!(linked.unwrap().secret.source, SecretSource::Linked);
    assert_eq!(read(&world, "db").await.unwrap().1, CANARY);
    assert_eq!(read_of(&world, &beta, "db").await.unwrap().1, "of beta's");
    let error = world.control.secret_link(&world.cx, &gamma, &named("db"), &to("db")).await;
    assert_eq!(error.unwrap_err().code, Code::Forbidden);
    let unknown = SecretLink::parse("nowhere".parse().unwrap(), "db").unwrap();
    let error = world.control.secret_link(&world.cx, &world.project, &named("x"), &unknown).await;
    assert_eq!(error.unwrap_err().errors[0].pointer, "/provider");
}

#[tokio::test]
async fn a_secret_is_kept_or_linked_and_whoever_made_it_changes_it() {
    let (server, dir) = (VaultServer::start(), tempfile::tempdir().unwrap());
    let world = world(approle(&server, dir.path())).await;
    let (control, project) = (&world.control, &world.project);
    let value = SecretBytes::new(b"value");
    control.secret_set(&world.cx, project, &named("kept"), &value, false).await.unwrap();
    let error = control.secret_link(&world.cx, project, &named("kept"), &to("a")).await;
    assert_eq!(error.unwrap_err().code, Code::Conflict);
    link(&world, "led", "a").await;
    link(&world, "led", "a").await;
    link(&world, "led", "b").await;
    let error = control.secret_set(&world.cx, project, &named("led"), &value, false).await;
    assert_eq!(error.unwrap_err().code, Code::Conflict);
    let error = control.secret_generate(&world.cx, project, &named("led"), 32).await;
    assert_eq!(error.unwrap_err().code, Code::Conflict);
    let mut bob = world.cx.clone();
    bob.caller.principal_id = hostler_model::PrincipalId::from_uuid(uuid::Uuid::from_u128(2));
    bob.caller.grants = vec![Grant::built_in(Scope::Project(project.id), Role::User)];
    let error = control.secret_link(&bob, project, &named("led"), &to("c")).await;
    assert_eq!(error.unwrap_err().code, Code::Forbidden);
    let mut read = world.store.read().await.unwrap();
    let events = read.event_list(EventFilter::default(), 0, Limit::LARGEST).await.unwrap();
    let linked = events.iter().filter(|event| event.event.kind == EventKind::SecretLinked);
    assert_eq!(linked.count(), 2, "leading to the same place is no change");
    drop(read);
    control.secret_remove(&world.cx, project, &named("led")).await.unwrap();
    control.secret_set(&world.cx, project, &named("led"), &value, false).await.unwrap();
}

/// A vault that is this shell script.
async fn scripted(dir: &Path, script: &str, time_max: Duration) -> World {
    let path = dir.join("keeper.sh");
    std::fs::write(&path, script).unwrap();
    let command = vec!["/bin/sh".to_owned(), path.to_str().unwrap().to_owned()];
    let config = VaultConfig {
        time_max,
        keep: Duration::ZERO,
        ..vault(VaultKind::Exec(command), VaultProjects::All)
    };
    world_with(config, &[]).await
}

#[tokio::test]
async fn a_program_is_asked_in_json() {
    let dir = tempfile::tempdir().unwrap();
    let seen = dir.path().join("seen");
    let script = format!(
        "/bin/cat > {0}\n/usr/bin/env >> {0}\necho '{{\"valueBase64\": \"AAH/\", \"version\": 7}}'\n",
        seen.display()
    );
    let world = scripted(dir.path(), &script, Duration::from_secs(20)).await;
    link(&world, "db", "db/app#password@3").await;
    let read = world.control.secret_read(&world.cx, &world.project, &named("db")).await.unwrap();
    assert_eq!((read.version, read.value.expose()), (7, &[0, 1, 255][..]));
    let seen = std::fs::read_to_string(seen).unwrap();
    let (question, environment) = seen.split_once('\n').unwrap();
    let question: serde_json::Value = serde_json::from_str(question).unwrap();
    let expected = json!({
        "project": "default", "path": "teams/default/db/app", "field": "password", "version": 3,
    });
    assert_eq!(question, expected);
    assert!(!environment.contains("HOME=") && !environment.contains("CARGO"), "{environment}");
}

#[tokio::test]
async fn what_a_program_does_wrong_is_told() {
    for (script, code, why) in [
        ("echo '{\"error\": \"absent\", \"message\": \"no entry\"}'", Code::NotFound, "no entry"),
        ("echo '{\"error\": \"denied\"}'", Code::Unavailable, "may not read it"),
        ("echo '{\"error\": \"away\"}'", Code::Unavailable, "cannot answer now"),
        ("echo '{\"error\": \"other\"}'", Code::Unavailable, "of a known kind"),
        ("echo '{\"value\": \"a\", \"valueBase64\": \"YQ==\"}'", Code::Unavailable, "neither one"),
        ("echo '{\"valueBase64\": \"?\"}'", Code::Conflict, "not base64"),
        ("echo canary-5ecret", Code::Unavailable, "answers wrongly"),
        ("exit 3", Code::Unavailable, "failed"),
        ("exec /usr/bin/yes", Code::Unavailable, "says too much"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let world = scripted(dir.path(), script, Duration::from_secs(20)).await;
        let (found, words) = refused(&world, "db").await;
        assert_eq!(found, code, "{script}: {words}");
        assert!(words.contains(why) && !words.contains("canary"), "{script}: {words}");
    }
}

#[tokio::test]
async fn a_program_that_hangs_goes_with_everything_it_started() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let script = format!("/bin/sleep 600 &\necho $! > {}\nwait\n", pid.display());
    let world = scripted(dir.path(), &script, Duration::from_secs(2)).await;
    let (code, words) = refused(&world, "db").await;
    assert_eq!(code, Code::Unavailable);
    assert!(words.contains("did not answer within 2 s"), "{words}");
    let pid: u32 = std::fs::read_to_string(pid).unwrap().trim().parse().unwrap();
    let is_gone = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => stat.contains(") Z "),
        Err(_) => true,
    };
    for _ in 0..1000 {
        if is_gone() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the child of the program is still there");
}
