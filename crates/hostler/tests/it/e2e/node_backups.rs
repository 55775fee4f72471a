//! Backups of paths of nodes through the real binary: made, changed, verified, put back and compared byte by byte, also
//! when the agent, the server or both die meanwhile.

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use hostler_testkit::ObjectServer;
use serde_json::{Value, json};

use crate::rig::{Agent, Cli, Rig, Server, until};

/// Bytes that look random, from a seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A tree with so many MiB of files, and one of everything.
fn tree(root: &Path, mib: u64) {
    std::fs::create_dir_all(root.join("deep/er")).unwrap();
    for n in 0..mib {
        std::fs::write(root.join(format!("file-{n}")), noise(n + 1, 1 << 20)).unwrap();
    }
    for n in 0..100 {
        std::fs::write(root.join(format!("deep/small-{n}")), format!("content {n}")).unwrap();
    }
    std::fs::write(root.join("deep/er/secret"), "s").unwrap();
    std::fs::set_permissions(root.join("deep/er/secret"), std::fs::Permissions::from_mode(0o600))
        .unwrap();
    std::fs::hard_link(root.join("file-0"), root.join("deep/other-name")).unwrap();
    symlink("../file-1", root.join("deep/link")).unwrap();
    std::fs::File::create(root.join("hole")).unwrap().set_len(5 << 20).unwrap();
}

/// Below a directory, by path: mode, time and content.
fn picture(root: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            let meta = std::fs::symlink_metadata(&path).unwrap();
            let content = if meta.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else if meta.is_file() {
                std::fs::read(&path).unwrap()
            } else {
                left.push(path.clone());
                Vec::new()
            };
            let within = path.strip_prefix(root).unwrap().to_owned();
            found.insert(within, (meta.mode(), meta.mtime(), meta.mtime_nsec(), content));
        }
    }
    found
}

/// Where a tree is below the place that it was put back to.
fn back(place: &Path, root: &Path) -> PathBuf {
    place.join(root.canonicalize().unwrap().strip_prefix("/").unwrap())
}

fn same(place: &Path, root: &Path) {
    let (found, expected) = (picture(&back(place, root)), picture(root));
    let names = |map: &BTreeMap<PathBuf, _>| map.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&found), names(&expected));
    for (path, expected) in &expected {
        assert!(found[path] == *expected, "{} is not as it was", path.display());
    }
}

fn backup(cli: &Cli<'_>, words: &[&str]) -> Value {
    let told = cli.json(&[&["node", "backup", "create"], words].concat());
    let answer = &told["items"][0];
    assert_eq!((&answer["state"], &answer["result"]["state"]), (&json!("ok"), &json!("complete")));
    answer["result"].clone()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_tree_is_kept_changed_verified_and_put_back_as_it_was() {
    let rig = Rig::new();
    let (server, cli) = Server::up(&rig);
    let root = rig.path("tree");
    tree(&root, 6);
    let path = root.to_str().unwrap();

    let first = backup(&cli, &["local", path, "--label", "first", "--exclude", "*.tmp"]);
    let outcome = &first["outcome"];
    assert_eq!(outcome["unreadable"], 0, "{first}");
    assert_eq!(number(&outcome["files"]), 6 + 100 + 3);
    let sent = outcome["bytesSent"].clone();
    // The same again sends nothing.
    let second = backup(&cli, &["local", path, "--label", "second"]);
    assert_ne!(sent, second["outcome"]["bytesSent"]);
    assert_eq!(second["outcome"]["bytesSent"], json!(0), "{second}");

    cli.ok(&["node", "backup", "verify", "first"]);
    let shown = cli.json(&["node", "backup", "show", "first"]);
    assert!(shown["verdict"]["time"].is_string() && shown["verdict"]["problem"].is_null());
    assert!(cli.ok(&["node", "backup", "show", "first"]).contains("everything is there"));

    // Into a fresh directory, and compared.
    let place = cli.ok(&["node", "backup", "restore", "first", "-q"]);
    let place = PathBuf::from(place.trim());
    same(&place, &root);
    let original = picture(&root);

    // Changed, compared, and put back in place.
    std::fs::write(root.join("file-2"), "changed").unwrap();
    std::fs::remove_file(root.join("deep/small-7")).unwrap();
    let check = ["node", "backup", "restore", "first", "--in-place", "--overwrite", "--check"];
    let told = cli.run(&check).must(10);
    assert!(told.text().contains("file-2") && told.text().contains("small-7"), "{}", told.text());
    assert_eq!(std::fs::read(root.join("file-2")).unwrap(), b"changed", "a check does nothing");
    let careful = ["node", "backup", "restore", "first", "--in-place"];
    cli.ok(&careful);
    assert!(root.join("deep/small-7").exists());
    assert_eq!(std::fs::read(root.join("file-2")).unwrap(), b"changed", "it was there");
    cli.ok(&["node", "backup", "restore", "first", "--in-place", "--overwrite", "--yes"]);
    assert!(picture(&root) == original, "it is as it was");
    cli.run(&check).must(0);

    let files = cli.json(&["node", "backup", "files", "first", "--path", path]);
    let files = files["items"].as_array().unwrap();
    assert_eq!(files.len(), 6 + 100 + 3 + 1 + 3, "files, a link, directories");
    assert!(files.iter().any(|file| file["kind"] == "link" && file["target"] == "../file-1"));
    let part = rig.path("part");
    let (wanted, part_to) = (root.join("deep/er"), part.to_str().unwrap());
    let words = ["node", "backup", "restore", "first", "--to", part_to, "--path"];
    cli.ok(&[&words[..], &[wanted.to_str().unwrap()]].concat());
    assert_eq!(picture(&back(&part, &root)).len(), 3, "the file, and the directories above it");

    for (words, code, why) in [
        (vec!["create", "local", "/nowhere/at/all"], 4, "/nowhere/at/all"),
        (vec!["create", "local"], 2, "no path"),
        (vec!["create", "nobody", "/etc"], 3, "nobody"),
        (vec!["create", "local", "/etc", "--store", "moon"], 4, "moon"),
        (vec!["show", "nothing"], 3, "nothing"),
        (vec!["restore", "first", "--to", "relative"], 2, "begins with"),
    ] {
        let refused = cli.run(&[&["node", "backup"], &words[..]].concat());
        assert!(refused.code != 0, "{words:?}");
        let refused = refused.must(code);
        assert!(refused.err.contains(why), "{words:?}: {}", refused.err);
    }

    let events = cli.json(&["event", "ls", "--kind", "node.backed-up"]);
    assert_eq!(events["items"].as_array().unwrap().len(), 2);
    let restored = cli.json(&["event", "ls", "--kind", "node.restored"]);
    assert_eq!(restored["items"].as_array().unwrap().len(), 4);
    cli.ok(&["audit", "verify"]);

    cli.ok(&["node", "backup", "rm", "first", "--yes"]);
    let left = cli.json(&["node", "backup", "ls"]);
    assert!(left["items"].as_array().unwrap().iter().all(|one| one["label"] != "first"), "{left}");
    same(
        &{
            let place = cli.ok(&["node", "backup", "restore", "second", "-q"]);
            PathBuf::from(place.trim())
        },
        &root,
    );
    drop(server);
}

#[test]
fn whoever_dies_meanwhile_it_goes_on() {
    let rig = Rig::new();
    let mut server = Server::alone(&rig, "server", None);
    let cli = server.first_login(&rig);
    let mut agent = Agent::join(&rig, &cli, &server, "n1");
    let root = rig.path("tree");
    tree(&root, 80);
    let path = root.to_str().unwrap();

    let words = ["node", "backup", "create", "n1", path, "--label", "a", "--no-wait"];
    let begun = cli.json(&words);
    let begun = &begun["items"][0]["result"];
    let (id, operation) = (begun["id"].as_str().unwrap(), begun["operation"].as_str().unwrap());
    let step = || cli.json(&["operation", "get", operation])["steps"][0]["message"].clone();
    until("the node reads", || step().as_str().filter(|m| m.contains("reading")).map(|_| ()));
    agent.process.kill();
    agent.restart(&rig);
    until("the node reads again", || {
        let message = step();
        let message = message.as_str().unwrap_or_default().to_owned();
        let state = cli.json(&["operation", "get", operation])["state"].clone();
        (message.contains("reading") || state == "succeeded").then_some(())
    });
    server.process.kill();
    server.restart(&rig);
    cli.ok(&["operation", "wait", operation, "--timeout", "5m"]);
    let shown = cli.json(&["node", "backup", "show", id]);
    assert_eq!((&shown["state"], &shown["outcome"]["changed"]), (&json!("complete"), &json!(0)));

    let place = rig.path("place");
    let restore = ["node", "backup", "restore", id, "--to", place.to_str().unwrap(), "--no-wait"];
    let restoring = cli.json(&restore);
    let operation = restoring["id"].as_str().unwrap();
    until("something is back", || back(&place, &root).join("file-10").exists().then_some(()));
    agent.process.kill();
    agent.restart(&rig);
    server.process.kill();
    server.restart(&rig);
    cli.ok(&["operation", "wait", operation, "--timeout", "5m"]);
    // What was back already is left alone; what a directory lacked of what it was it gets.
    same(&place, &root);
}

#[test]
fn an_object_store_keeps_backups_of_several_nodes_once() {
    let rig = Rig::new();
    let objects = ObjectServer::start();
    let secret = rig.path("secret");
    std::fs::write(&secret, ObjectServer::SECRET_KEY).unwrap();
    let settings = format!(
        "[egress]\nallow = [\"127.0.0.1\"]\n[backup_store.s3]\nendpoint = \"{}\"\nbucket = \"{}\"\nregion = \"{}\"\naccess_key = \"{}\"\nsecret_key_file = \"{}\"\n",
        objects.endpoint(),
        ObjectServer::BUCKET,
        ObjectServer::REGION,
        ObjectServer::ACCESS_KEY,
        secret.display()
    );
    let mut server = Server::configured(&rig, "server", &settings);
    let cli = server.first_login(&rig);
    let _one = Agent::join(&rig, &cli, &server, "one");
    let _two = Agent::join(&rig, &cli, &server, "two");
    for node in ["one", "two"] {
        cli.ok(&["node", "label", node, "role=web"]);
    }
    let root = rig.path("tree");
    tree(&root, 3);
    let path = root.to_str().unwrap();
    let first = backup(&cli, &["one", path, "--store", "s3", "--label", "s3"]);
    assert_ne!(first["outcome"]["bytesSent"], json!(0));
    let other = cli.json(&["node", "backup", "create", path, "-l", "role=web", "--store", "s3"]);
    for answer in other["items"].as_array().unwrap() {
        assert_eq!(answer["result"]["outcome"]["bytesSent"], json!(0), "{answer}");
    }
    assert_eq!(objects.state().refused, Vec::<String>::new());
    let place = rig.path("place");
    let to = place.to_str().unwrap();
    cli.ok(&["node", "backup", "restore", "s3", "--node", "two", "--to", to]);
    same(&place, &root);
    // A byte of an object is another.
    {
        let mut state = objects.state();
        let bytes = state.objects.values_mut().next().unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
    }
    let refused = cli.run(&["node", "backup", "verify", "s3"]).must(4);
    assert!(refused.err.contains("damaged"), "{}", refused.err);
}
