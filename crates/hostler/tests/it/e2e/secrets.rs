//! Secrets from one end to the other: given to what runs, scrubbed from what it prints, found nowhere else;
//! without a server, after crashes, and with another master key.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde_json::Value;

use crate::rig::{Agent, Cli, Rig, Server, is_root, is_running, kill, skipped, until};

/// With what every encoding has to do something about.
pub(super) const CANARY: &str = "cANARY/7Zq+Wm\"pL9x&K2~tV";

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for part in bytes.chunks(3) {
        let padded = [part, &[0; 2]].concat();
        let number =
            padded[..3].iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        for at in 0..=part.len() {
            text.push(char::from(LETTERS[number >> (18 - 6 * at) & 63]));
        }
    }
    text
}

/// What must be found nowhere: the value, and what encodings make of it wherever it stands.
pub(super) fn needles(value: &str) -> Vec<String> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let json = serde_json::to_string(value).unwrap();
    let mut needles = vec![value.to_owned(), hex.to_uppercase(), hex];
    needles.push(json.trim_matches('"').trim_end_matches('\\').to_owned());
    for shift in 0..3 {
        let text = base64(&[&[b'x'; 3][..shift], value.as_bytes()].concat());
        needles.push(text[[0, 2, 3][shift]..text.len() - 1].to_owned());
    }
    let url: Vec<String> = needles.iter().map(|n| n.replace('+', "-").replace('/', "_")).collect();
    needles.extend(url);
    needles
}

pub(super) fn has_any(bytes: &[u8], needles: &[String]) -> bool {
    needles.iter().any(|needle| bytes.windows(needle.len()).any(|part| part == needle.as_bytes()))
}

fn files_below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => files_below(&entry.path(), found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

/// No file of the rig has the value in it: database, ledger, records, output, logs.
pub(super) fn assert_not_on_disk(rig: &Rig, needles: &[String]) {
    let mut files = Vec::new();
    files_below(&rig.dir, &mut files);
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap_or_default();
        assert!(!has_any(&bytes, needles), "the secret is in {}", file.display());
    }
}

fn set(cli: &Cli<'_>, name: &str, value: &str) {
    cli.run_with(&["secret", "set", name, "-"], value).must(0);
}

fn apply(rig: &Rig, cli: &Cli<'_>, text: &str) {
    let file = rig.path("workload.yaml");
    fs::write(&file, text).unwrap();
    cli.run(&["workload", "apply", "-f", file.to_str().unwrap()]).must(0);
}

/// The pid of a workload's only run, when it is not the one before.
fn pid_but(cli: &Cli<'_>, name: &str, before: u32) -> u32 {
    until(&format!("workload {name} has a new process"), || {
        let view = cli.json(&["workload", "get", name]);
        let there = &view["placements"][0];
        let pid = there["pid"].as_u64().filter(|_| there["phase"] == "running")?;
        u32::try_from(pid).ok().filter(|pid| *pid != before)
    })
}

/// Where the secrets of the run are, as the run says it itself.
fn vault_of(pid: u32) -> PathBuf {
    let variables = fs::read(format!("/proc/{pid}/environ")).unwrap();
    let mut variables = variables.split(|byte| *byte == 0);
    let place = variables.find_map(|word| word.strip_prefix(b"HOSTLER_SECRETS=")).unwrap();
    let files = PathBuf::from(String::from_utf8(place.to_vec()).unwrap());
    files.parent().unwrap().to_owned()
}

const SERVICE: &str = "
name: svc
mode: forever
command: [sh, -c, 'echo up $CANARY; cat $HOSTLER_SECRETS/canary.txt; exec sleep 100000']
restart: {delay: 100ms}
secrets: [{secret: canary, env: CANARY}, {secret: canary, file: canary.txt}]
";

#[test]
fn a_canary_is_given_and_found_in_no_sink() {
    let rig = Rig::new();
    let (mut server, cli) = Server::up(&rig);
    let needles = needles(CANARY);
    set(&cli, "canary", CANARY);
    let read = cli.run(&["secret", "get", "canary"]).must(0);
    assert_eq!(read.out, CANARY.as_bytes(), "exactly what was set");

    let script = r#"
        printf 'value %s\n' "$CANARY"; cat "$HOSTLER_SECRETS/canary.txt"; echo
        printf %s "$CANARY" | base64 -w0; echo; printf 'x%s' "$CANARY" | base64 -w0; echo
        printf '%.9s' "$CANARY"; sleep 0.3; printf %s "$CANARY" | tail -c +10; echo
        printf %s "$CANARY" | rev; echo; rev "$HOSTLER_SECRETS/canary.txt"; echo
        printf 'to stderr %s\n' "$CANARY" >&2
        exit 3"#;
    let given = ["--secret-env", "CANARY=canary", "--secret-file", "canary.txt=canary:1"];
    let submit = |name: &str, words: &[&str]| {
        let first = ["task", "submit", "--name", name, "--wait"];
        cli.run(&[&first[..], &given, &["--"], words].concat())
    };
    assert_ne!(submit("prints", &["sh", "-c", script]).code, 0);
    submit("absent", &["/not/there"]);
    let printed = cli.run(&["logs", "prints"]).must(0);
    let logs = format!("{}{}", printed.text(), printed.err);
    let backwards: String = CANARY.chars().rev().collect();
    assert_eq!(logs.matches(&backwards).count(), 2, "it was really given: {logs}");
    for line in ["value [secret:canary]", "\n[secret:canary]\n", "to stderr [secret:canary]"] {
        assert!(logs.contains(line), "{line} in {logs}");
    }
    assert!(logs.matches("[secret:canary]").count() >= 6, "{logs}");

    apply(
        &rig,
        &cli,
        &format!(
            "{SERVICE}health: [{{check: {{exec: [sh, -c, 'echo bad $CANARY; exit 1']}}, interval: 1s, unhealthyAfter: 1, onUnhealthy: mark}}]\n",
        ),
    );
    let pid = pid_but(&cli, "svc", 0);
    let vault = vault_of(pid);
    assert!(vault.starts_with("/dev/shm") || vault.starts_with("/run"), "{}", vault.display());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&vault), mode(&vault.join("files/canary.txt"))), (0o700, 0o400));
    let said = cli.run(&["workload", "exec", "svc", "--", "sh", "-c", "echo said $CANARY"]).must(0);
    assert_eq!(said.text(), "said [secret:canary]\n");
    until("the check has failed", || {
        let events = cli.json(&["event", "ls"]).to_string();
        events.contains("bad [secret:canary]").then_some(())
    });

    let mut sinks = vec![logs];
    for words in [
        &["secret", "ls"][..],
        &["secret", "versions", "canary"],
        &["task", "get", "prints"],
        &["task", "explain", "prints"],
        &["task", "get", "absent"],
        &["workload", "get", "svc"],
        &["workload", "explain", "svc"],
        &["workload", "history", "svc"],
        &["event", "ls"],
        &["audit", "ls"],
        &["node", "ls"],
        &["debug", "reconcilers"],
    ] {
        sinks.push(cli.json(words).to_string());
    }
    sinks.push(cli.ok(&["workload", "logs", "svc"]));
    let made = cli.json(&["token", "create", "raw", "--role", "admin"]);
    let https = server.https().token(made["secret"].as_str().unwrap());
    let metrics = String::from_utf8(https.get("/metrics").body).unwrap();
    assert!(metrics.contains("hostler_secrets_total{outcome=\"read\"} 1\n"), "{metrics}");
    assert!(!metrics.contains("hostler_secrets_total{outcome=\"delivered\"} 0\n"));
    sinks.push(metrics);
    let agent = rig.path("up/agent");
    sinks.push(cli.ok(&["agent", "status", "-o", "json", "--data-dir", agent.to_str().unwrap()]));
    for sink in &sinks {
        assert!(!has_any(sink.as_bytes(), &needles), "{sink}");
    }
    let audit = cli.json(&["audit", "ls"]).to_string();
    assert!(audit.contains("secret.read") && audit.contains("secret.deliver"), "{audit}");
    assert_not_on_disk(&rig, &needles);

    cli.run(&["workload", "rm", "svc", "--yes"]).must(0);
    until("nothing of it is left in memory", || (!vault.exists()).then_some(()));
    server.process.signal(Signal::ABORT);
    until("the server has crashed", || server.process.ended());
    assert_not_on_disk(&rig, &needles);
    let root = vault.parent().unwrap();
    assert_eq!(fs::read_dir(root).unwrap().count(), 0);
    fs::remove_dir(root).unwrap();
}

fn installation(rig: &Rig) -> (Server, Cli<'_>, Agent) {
    let mut server = Server::alone(rig, "server", None);
    let cli = server.first_login(rig);
    let agent = Agent::join(rig, &cli, &server, "node-1");
    (server, cli, agent)
}

#[test]
fn without_a_server_what_was_given_is_remembered_and_else_waited_for() {
    let rig = Rig::new();
    let (mut server, cli, mut agent) = installation(&rig);
    set(&cli, "canary", CANARY);
    apply(&rig, &cli, SERVICE);
    let first = pid_but(&cli, "svc", 0);
    let root = vault_of(first).parent().unwrap().to_owned();
    let mine = |pid: u32| {
        let text = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        text.split(|byte| *byte == 0).any(|word| word == format!("CANARY={CANARY}").as_bytes())
    };
    let process = || crate::rig::pids().into_iter().find(|pid| mine(*pid) && is_running(*pid));

    server.process.kill();
    kill(first, Signal::KILL);
    let second =
        until("it was started again without a server", || process().filter(|pid| *pid != first));
    agent.restart(&rig);
    kill(second, Signal::KILL);
    agent.process.line(&["start did not succeed", "its secrets cannot be had"]);
    assert_eq!(process(), None, "it waits");

    server.restart(&rig);
    cli.wait_node("node-1", "online");
    let third = until("it is started again", process);
    until("of the others nothing is left", || {
        (fs::read_dir(&root).unwrap().count() == 1).then_some(())
    });

    // What is gone does not come back by waiting.
    cli.run(&["secret", "rm", "canary", "--yes"]).must(0);
    kill(third, Signal::KILL);
    let view = until("it cannot be started", || {
        let view = cli.json(&["workload", "get", "svc"]);
        view.to_string().contains("there is no secret `canary`").then_some(view)
    });
    assert_ne!(view["placements"][0]["phase"], "running");
    cli.run(&["workload", "rm", "svc", "--yes"]).must(0);
    until("nothing is left", || (fs::read_dir(&root).unwrap().count() == 0).then_some(()));
    assert_not_on_disk(&rig, &needles(CANARY));
    fs::remove_dir(&root).unwrap();
}

#[test]
fn what_a_crash_leaves_in_memory_is_removed() {
    let rig = Rig::new();
    let (_server, cli, mut agent) = installation(&rig);
    set(&cli, "canary", CANARY);
    apply(&rig, &cli, SERVICE);
    let pid = pid_but(&cli, "svc", 0);
    let vault = vault_of(pid);
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let shim = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap().parse().unwrap();
    agent.process.kill();
    assert!(vault.exists() && is_running(pid), "what runs keeps what it was given");
    kill(shim, Signal::KILL);
    kill(pid, Signal::KILL);
    until("both are gone", || (!is_running(pid) && !is_running(shim)).then_some(()));
    assert!(vault.exists());
    agent.restart(&rig);
    until("the next agent has removed it", || (!vault.exists()).then_some(()));
    pid_but(&cli, "svc", pid);
    cli.run(&["workload", "rm", "svc", "--yes"]).must(0);
    let root = vault.parent().unwrap();
    until("nothing is left", || (fs::read_dir(root).unwrap().count() == 0).then_some(()));
    fs::remove_dir(root).unwrap();
}

#[test]
fn another_user_reads_its_own_secrets_and_nobody_elses() {
    if !is_root() {
        return skipped("running as another user needs root");
    }
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    set(&cli, "canary", CANARY);
    let script = "echo $HOSTLER_SECRETS; rev $HOSTLER_SECRETS/canary.txt; echo; exec sleep 100000";
    let first = ["task", "submit", "--name", "one", "--user", "nobody"];
    let rest = ["--secret-file", "canary.txt=canary", "--", "sh", "-c", script];
    cli.ok(&[&first[..], &rest].concat());
    let vault = vault_of(cli.wait_pid("one"));
    let (files, values) = (vault.join("files"), vault.join("values"));
    let owner = |path: &Path| fs::metadata(path).unwrap().uid();
    assert!(owner(&files) != 0 && owner(&files.join("canary.txt")) == owner(&files));
    assert_eq!((owner(&vault), owner(&values)), (0, 0));
    let backwards: String = CANARY.chars().rev().collect();
    until("it reads its own", || cli.ok(&["logs", "one"]).contains(&backwards).then_some(()));
    let peek = format!(
        "cat {0}/values; ls {0}; ls {1}",
        vault.display(),
        vault.parent().unwrap().display()
    );
    let peeking =
        ["task", "submit", "--name", "two", "--user", "nobody", "--wait", "--", "sh", "-c", &peek];
    assert_ne!(cli.run(&peeking).code, 0);
    let said = cli.run(&["logs", "two"]).must(0).err;
    assert_eq!(said.matches("denied").count(), 3, "{said}");
    cli.run(&["task", "kill", "one", "--yes"]);
    until("it is gone", || (!vault.exists()).then_some(()));
    fs::remove_dir(vault.parent().unwrap()).unwrap();
}

#[test]
fn a_master_key_is_replaced_and_the_wrong_one_refused() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    set(&cli, "canary", CANARY);
    let data = rig.path("server");
    let place = ["--data-dir", data.to_str().unwrap()];
    let told = cli.run(&[&["server", "rekey"][..], &place].concat()).must(0).err;
    assert!(told.contains("hostler secret rewrap"), "{told}");
    let (key, former) = (data.join("master.key"), data.join("master.key.former"));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&key), mode(&former)), (0o600, 0o600));
    server.restart(&rig);
    assert_eq!(cli.ok(&["secret", "get", "canary"]), CANARY);
    let done = cli.json(&["secret", "rewrap"]);
    assert_eq!((&done["rewrapped"], &done["left"]), (&Value::from(3), &Value::from(0)), "{done}");
    assert_eq!(cli.json(&["secret", "rewrap"])["rewrapped"], 0);
    fs::rename(&former, rig.path("old.key")).unwrap();
    server.restart(&rig);
    assert_eq!(cli.ok(&["secret", "get", "canary"]), CANARY);

    server.process.kill();
    fs::rename(&key, rig.path("new.key")).unwrap();
    fs::copy(rig.path("old.key"), &key).unwrap();
    let mut refused = Server::spawn_alone(&rig, "server", None);
    let line = refused.line(&["error:", "master key does not open"]);
    assert!(line.contains("master.key that was used before"), "{line}");
    until("it has ended", || refused.ended());

    // From the file to a passphrase.
    fs::rename(rig.path("new.key"), &former).unwrap();
    fs::remove_file(&key).unwrap();
    let words = rig.path("passphrase");
    fs::write(&words, "seven horses, one lantern\n").unwrap();
    fs::set_permissions(&words, fs::Permissions::from_mode(0o600)).unwrap();
    let settings = format!("master_passphrase_file = '{}'\n", words.display());
    let mut server = Server::configured(&rig, "server", &settings);
    let cli = server.login(&rig, &[]);
    assert_eq!(cli.ok(&["secret", "get", "canary"]), CANARY);
    assert_eq!(cli.json(&["secret", "rewrap"])["rewrapped"], 3);
    fs::remove_file(&former).unwrap();
    server.restart(&rig);
    assert_eq!(cli.ok(&["secret", "get", "canary"]), CANARY);
    assert!(!key.exists(), "no key file is made beside a passphrase");
}
