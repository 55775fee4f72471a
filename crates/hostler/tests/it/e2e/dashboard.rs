//! The dashboard in a real browser, as a new user meets it.

use std::path::Path;
use std::time::Duration;

use crate::rig::{BINARY, Process, Rig, Server, command, skipped};

#[test]
fn a_new_user_sets_up_runs_things_and_sees_to_people_and_secrets() {
    let has = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|dir| dir.join(program).is_file())
    };
    if let Some(missing) = ["chromium", "node"].iter().find(|program| !has(program)) {
        return skipped(&format!("`{missing}` is not installed; `make test` installs what it can"));
    }
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web").canonicalize().unwrap();
    assert!(
        web.join("node_modules/playwright-core").exists(),
        "the dashboard's packages are not installed; `make web` does it"
    );
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    let start = server.https().get("/");
    let page = String::from_utf8_lossy(&start.body).into_owned();
    assert_eq!(start.status, 200);
    assert!(page.contains("/assets/"), "the dashboard is not built; `make web` does it:\n{page}");

    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dashboard");
    let mut node = command(&rig, "node");
    node.arg(web.join("e2e/dashboard.mjs")).args([server.url(), server.setup_code()]);
    node.arg(&pictures).env("HOSTLER_E2E_CLI", BINARY);
    let mut walk = Process::spawn(&rig, "browser", node);
    let (code, _) = walk.wait_within(Duration::from_secs(280));
    assert_eq!(code, 0, "pictures are in {}\n{}", pictures.display(), walk.log());
    let said = cli
        .tasks()
        .into_keys()
        .any(|name| cli.run(&["logs", &name]).text().contains("hello-from-browser"));
    assert!(said, "the task of the browser left no output");

    let kept = cli.json(&["workload", "get", "kept"]);
    assert_eq!((&kept["desired"], &kept["status"]["phase"]), (&"stop".into(), &"stopped".into()));
    let runs = cli.json(&["workload", "history", "kept"]);
    assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(runs["items"][0]["exit"]["reason"], "stopped");
    let stopped = cli.json(&["event", "ls", "--kind", "workload.stop-requested"]);
    assert_eq!(stopped["items"][0]["actor"]["name"], "admin", "{stopped}");

    let secrets = cli.json(&["secret", "ls"]);
    assert_eq!(
        (&secrets["items"][0]["name"], &secrets["items"][0]["version"]),
        (&"db".into(), &2.into())
    );
    let guest = cli.json(&["user", "get", "wanda"]);
    assert_eq!((&guest["role"], &guest["isDisabled"]), (&"viewer".into(), &true.into()));
    let read = cli.json(&["audit", "search", "--action", "secret.read"]);
    assert_eq!(
        read["items"].as_array().unwrap().len(),
        1,
        "only what was asked for is read: {read}"
    );
    assert_eq!(read["items"][0]["actor"]["name"], "admin", "{read}");
}
