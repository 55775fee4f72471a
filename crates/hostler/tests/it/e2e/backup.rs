//! The restore drill on the real binary: a busy control plane is backed up, restored on the other database,
//! and its people, secrets and nodes find themselves there again. Both directions.

use std::path::Path;

use serde_json::Value;

use crate::rig::{Agent, Cli, Database, Rig, Server, until};

const CANARY: &str = "tell-nobody-of-the-canary";

pub(super) fn make_key(rig: &Rig, name: &str, letter: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = rig.path(name);
    std::fs::write(&path, format!("{}=\n", letter.repeat(43))).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.to_str().unwrap().to_owned()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_busy_control_plane_moves_to_the_other_database_and_back() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut server = Server::alone(&rig, "one", None);
    let cli = server.first_login(&rig);
    let agent = Agent::join(&rig, &cli, &server, "n1");
    cli.wait_node("n1", "online");
    cli.run_with(&["secret", "set", "canary", "-"], CANARY).must(0);
    cli.submit("long", "exec sleep 1000");
    let pid = cli.wait_pid("long");
    let key = make_key(&rig, "backup.key", "Q");
    let (file, data) = (text(&rig.path("first.backup")), text(&rig.path("one")));
    let taken = std::thread::scope(|scope| {
        let here = Cli::new(&rig);
        let create = ["backup", "create", &file, "--offline", "--with-master-key"];
        let words = [&create[..], &["--data-dir", &data, "--key-file", &key]].concat();
        let taking = scope.spawn(move || here.run(&words));
        // Life goes on meanwhile.
        for n in 0..20 {
            cli.submit(&format!("busy-{n}"), "true");
        }
        taking.join().unwrap()
    });
    assert!(taken.must(0).err.contains("the master key is in it"));
    let words = ["backup", "verify", &file, "--key-file", &key, "--drill"];
    let drilled = Cli::new(&rig).json(&words);
    assert_eq!((&drilled["isRestored"], &drilled["hasMasterKey"]), (&true.into(), &true.into()));
    cli.submit("after", "true");
    cli.wait_state("after", "completed");

    server.process.kill();
    let master = text(&rig.path("master.key"));
    let place = ["--database", &database.url, "--master-key-file", &master, "--data-dir"];
    let two = text(&rig.path("two"));
    let restore = ["backup", "restore", &file, "--key-file", &key];
    let said = Cli::new(&rig).run(&[&restore[..], &place, &[&two]].concat()).must(0);
    assert!(said.err.contains("the master key"), "{}", said.err);
    server.moved(&rig, "two", Some(&database.url));
    assert_eq!(cli.ok(&["whoami", "-o", "jsonpath={.name}"]), "admin\n");
    assert_eq!(cli.ok(&["secret", "get", "canary"]), CANARY);
    cli.wait_node("n1", "online");
    until("the node has said what it holds", || {
        let nodes = finding(&cli, "nodes");
        (nodes["severity"] == "ok").then_some(())
    });
    assert_eq!(cli.task("long")["status"]["state"], "running");
    assert_eq!(cli.wait_pid("long"), pid, "the same process");
    cli.run(&["task", "get", "after"]).must(3);
    assert!(cli.json(&["audit", "verify"])["isIntact"].as_bool().unwrap());
    cli.submit("again", "true");
    cli.wait_state("again", "completed");

    let back = text(&rig.path("back.backup"));
    let said = cli.run(&["backup", "create", &back, "--key-file", &key]).must(0);
    assert!(said.err.contains("the master key is not in it"), "{}", said.err);
    server.process.kill();
    let three = rig.path("three");
    std::fs::create_dir(&three).unwrap();
    std::fs::copy(&master, three.join("master.key")).unwrap();
    let restore = ["backup", "restore", &back, "--key-file", &key, "--data-dir"];
    Cli::new(&rig).run(&[&restore[..], &[&text(&three)]].concat()).must(0);
    server.moved(&rig, "three", None);
    assert_eq!(cli.ok(&["secret", "get", "canary"]), CANARY);
    cli.wait_node("n1", "online");
    cli.ok(&["task", "kill", "long"]);
    cli.wait_state("long", "killed");
    drop(agent);
}

#[track_caller]
fn finding(cli: &Cli<'_>, check: &str) -> Value {
    let said = cli.run(&["doctor", "-o", "json"]);
    let all: Value = serde_json::from_slice(&said.out).unwrap();
    let items = all["items"].as_array().unwrap();
    let found = items.iter().find(|item| item["check"] == check);
    found.unwrap_or_else(|| panic!("{check} in {all}")).clone()
}

#[test]
fn bad_files_and_places_are_told_and_nothing_is_lost() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "one", None);
    let cli = server.first_login(&rig);
    let here = Cli::new(&rig);
    let (key, other) = (make_key(&rig, "backup.key", "Q"), make_key(&rig, "other.key", "g"));
    let file = text(&rig.path("a.backup"));
    cli.run(&["backup", "create", &file]).must(2);
    cli.run(&["backup", "create", &file, "--key-file", &key]).must(0);
    cli.run(&["backup", "create", &file, "--key-file", &key]).must(2);
    let data = text(&rig.path("one"));
    let words = ["backup", "restore", &file, "--key-file", &key, "--data-dir", &data];
    let lively = here.run(&[&words[..], &["--force", "--yes"]].concat()).must(5);
    assert!(lively.err.contains("hostler.db is in use"), "{}", lively.err);
    assert!(lively.err.contains("stop the server"), "{}", lively.err);
    assert_eq!(cli.ok(&["whoami", "-o", "jsonpath={.name}"]), "admin\n", "it does not notice");
    let own = text(&rig.path("one/master.key"));
    let offline = ["backup", "create", "-", "--offline", "--with-master-key", "--data-dir", &data];
    let refused = here.run(&[&offline[..], &["--key-file", &own]].concat()).must(2);
    assert!(refused.err.contains("sealed with the master key that is in it"), "{}", refused.err);
    server.process.kill();
    let restore = |file: &str, key: &str, more: &[&str]| {
        let words = ["backup", "restore", file, "--key-file", key, "--data-dir", &data];
        here.run(&[&words[..], more].concat())
    };
    let occupied = restore(&file, &key, &[]).must(5);
    assert!(occupied.err.contains("not empty"), "{}", occupied.err);
    let unconfirmed = restore(&file, &key, &["--force", "--no-input"]);
    assert_ne!(unconfirmed.code, 0);
    let wrong = restore(&file, &other, &["--force", "--yes"]).must(2);
    assert!(wrong.err.contains("not the key"), "{}", wrong.err);
    let bytes = std::fs::read(&file).unwrap();
    let bad = text(&rig.path("bad.backup"));
    std::fs::write(&bad, &bytes[..bytes.len() / 2]).unwrap();
    let cut = restore(&bad, &key, &["--force", "--yes"]).must(2);
    assert!(cut.err.contains("cut off"), "{}", cut.err);
    let verify = here.run(&["backup", "verify", &bad, "--key-file", &key]).must(2);
    assert!(verify.err.contains("cut off"), "{}", verify.err);
    here.run(&["backup", "verify", &text(&rig.path("no.backup"))]).must(3);
    server.moved(&rig, "one", None);
    assert_eq!(cli.ok(&["whoami", "-o", "jsonpath={.name}"]), "admin\n");
}

#[test]
fn a_server_makes_backups_by_itself_and_the_doctor_looks_after_them() {
    let rig = Rig::new();
    let key = make_key(&rig, "backup.key", "Q");
    let shelf = rig.path("shelf");
    let settings = format!(
        "[backup]\ndirectory = \"{}\"\nkey_file = \"{key}\"\nkeep = 2\nmaster_key = true\n",
        shelf.display()
    );
    let mut server = Server::configured(&rig, "one", &settings);
    let cli = server.first_login(&rig);
    let made = |count: usize| {
        until("a backup is there and was read back", || {
            let listing = cli.json(&["backup", "ls"]);
            let items = listing["items"].as_array().unwrap().clone();
            let good = items.iter().filter(|item| item["standing"] == "verified").count();
            (good >= count).then_some(items)
        })
    };
    let first = made(1);
    assert_eq!(first[0]["hasMasterKey"], true, "{first:?}");
    let name = first[0]["name"].as_str().unwrap();
    let words = ["backup", "verify", &text(&shelf.join(name)), "--key-file", &key, "--drill"];
    assert_eq!(Cli::new(&rig).json(&words)["isRestored"], true);
    assert_eq!(finding(&cli, "backup")["severity"], "ok");
    let schedule = cli.json(&["backup", "schedule"]);
    assert_eq!((&schedule["keep"], &schedule["isOverdue"]), (&2.into(), &false.into()));
    assert!(schedule["timeNext"].is_string(), "{schedule}");
    let local = Cli::new(&rig).json(&["backup", "ls", &text(&shelf)]);
    assert_eq!(local["items"].as_array().unwrap().len(), 1);

    // Its directory cannot be written any more: that is an event, and the doctor's business.
    std::fs::remove_dir_all(&shelf).unwrap();
    std::fs::write(&shelf, "in the way").unwrap();
    cli.ok(&["backup", "schedule", "--now"]);
    until("the doctor sees it", || {
        let backup = finding(&cli, "backup");
        let evidence = backup["evidence"].as_array().map_or(0, Vec::len);
        (backup["severity"] == "critical" && backup["fix"] == "backup-now" && evidence == 3)
            .then_some(())
    });
    let lost = finding(&cli, "backup");
    assert_eq!(lost["what"], "the last backup is not there any more", "{lost}");
    let events = cli.json(&["event", "ls", "--kind", "backup.failed"]);
    assert_eq!(events["items"].as_array().unwrap().len(), 1, "{events}");
    std::fs::remove_file(&shelf).unwrap();
    cli.run(&["doctor", "--fix", "--yes"]);
    made(1);
    until("all is well", || (finding(&cli, "backup")["severity"] == "ok").then_some(()));
}

#[test]
fn the_doctor_works_when_the_server_does_not() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "one", None);
    server.first_login(&rig);
    let data = text(&rig.path("one"));
    let cli = Cli::new(&rig);
    let running = cli.run(&["doctor", "--data-dir", &data, "-o", "json"]);
    let running: Value = serde_json::from_slice(&running.out).unwrap();
    for port in ["api port", "agent port"] {
        let items = running["items"].as_array().unwrap();
        let found = items.iter().find(|item| item["check"] == port).unwrap();
        assert_eq!(found["severity"], "ok", "the server says itself where it listens: {found}");
    }
    server.process.kill();
    let look = |check: &str| {
        let said = cli.run(&["doctor", "--data-dir", &data, "-o", "json"]).must(1);
        let all: Value = serde_json::from_slice(&said.out).unwrap();
        let items = all["items"].as_array().unwrap().clone();
        items.into_iter().find(|item| item["check"] == check)
    };
    assert_eq!(look("database file").unwrap()["severity"], "ok");
    assert_eq!(look("master key file").unwrap()["severity"], "ok");
    assert_eq!(look("api port").unwrap()["severity"], "critical");
    let master = rig.path("one/master.key");
    std::fs::rename(&master, rig.path("kept.key")).unwrap();
    std::fs::copy(make_key(&rig, "wrong.key", "w"), &master).unwrap();
    let wrong = look("master key file").unwrap();
    assert_eq!(wrong["severity"], "ok", "the file itself is one");
    let all = cli.run(&["doctor", "--data-dir", &data, "-o", "json"]);
    assert!(all.text().contains("which is not there"), "{}", all.text());
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::rename(rig.path("kept.key"), &master).unwrap();
    std::fs::set_permissions(&master, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(look("master key file").unwrap()["fix"], "tighten-key");
    cli.run(&["doctor", "--data-dir", &data, "--fix", "--yes"]);
    assert_eq!(look("master key file").unwrap()["severity"], "ok");
    std::fs::remove_file(rig.path("one/hostler.db")).unwrap();
    assert!(look("database file").unwrap()["what"].as_str().unwrap().contains("no database"));
    assert!(!rig.path("one/hostler.db").exists(), "nothing is made by looking");
}
