//! Images that Hostler keeps, on a real engine: pushed, brought to nodes when they are needed and ahead,
//! made from containers; and what is killed while they travel.
//!
//! Where there is no engine (`HOSTLER_TEST_DOCKER`), these tests say so and do nothing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::containers::World;
use crate::rig::{Docker, IMAGE, OwnEngine, Rig, until};

fn in_image(image: &str) -> Value {
    json!({ "container": { "image": image, "pull": "missing" } })
}

impl World<'_> {
    /// Pushes an image of the shared engine as a file; the file.
    fn push(&self, name: &str, image: &str) -> (PathBuf, Value) {
        let file = self.rig.path(&format!("{name}.tar"));
        let shared = Docker::shared(self.rig).unwrap();
        shared.save(self.rig, image, &file);
        let made = self.cli.json(&["image", "push", name, file.to_str().unwrap()]);
        (file, made)
    }

    fn node_images(&self) -> Vec<Value> {
        self.cli.json(&["image", "ls", "--node", "node-1"])["items"].as_array().unwrap().clone()
    }

    fn has(&self, reference: &str) -> bool {
        self.node_images().iter().any(|image| image["kept"] == json!([reference]))
    }

    /// The same where the engine has other names for it too.
    fn keeps(&self, reference: &str) -> bool {
        let is_kept = |image: &Value| {
            image["kept"].as_array().is_some_and(|kept| kept.iter().any(|name| name == reference))
        };
        self.node_images().iter().any(is_kept)
    }

    /// Makes an image that nothing is like, and pushes it.
    fn push_fresh(&self, name: &str, from: &str) {
        let shared = Docker::shared(self.rig).unwrap();
        shared.make_image(self.rig, from, 1 << 16);
        self.push(name, &format!("{from}:1"));
        let _gone = shared.ask(shared.engine.remove_image(&format!("{from}:1"), true));
    }

    /// What was told of images that left the node by themselves, oldest first.
    fn left(&self) -> Vec<String> {
        let told = self.cli.json(&["event", "ls", "--kind", "node.image-removed"]);
        let told = told["items"].as_array().unwrap().clone();
        let mut told: Vec<_> =
            told.iter().map(|it| (it["sequence"].as_u64(), it.clone())).collect();
        told.sort_by_key(|(sequence, _)| *sequence);
        told.into_iter().map(|(_, it)| it["message"].as_str().unwrap().to_owned()).collect()
    }

    fn brought(&self) -> usize {
        self.agent.process.log().matches("image brought here").count()
    }
}

#[test]
fn an_image_is_pushed_fetched_once_by_many_and_used() {
    let rig = Rig::new();
    let Some(engine) = OwnEngine::bare(&rig, false) else { return };
    let world = World::new(&rig, Docker::at(&rig, &engine.socket()));
    let (file, first) = world.push("box", IMAGE);
    assert_eq!((&first["version"], &first["reference"]), (&json!(1), &json!("hostler://box:1")));
    assert!(first["origin"].as_str().unwrap().contains(IMAGE), "{first}");
    assert_eq!(world.push("box", IMAGE).1, first, "what is there already is no new version");

    for n in 0..4 {
        world.submit(&format!("many-{n}"), "cat /etc/inside", &in_image("hostler://box"));
    }
    for n in 0..4 {
        let name = format!("many-{n}");
        world.cli.wait_state(&name, "completed");
        assert_eq!(world.cli.ok(&["logs", &name]), "yes\n");
    }
    assert_eq!(world.brought(), 1, "it travels once");
    assert!(world.has("hostler://box:1"));
    let names: Vec<_> = world.node_images().iter().map(|image| image["names"].clone()).collect();
    assert_eq!(names, [json!([])], "the file gives no names");

    for (name, image, words) in [
        ("none", "hostler://none", "there is no image hostler://none"),
        ("later", "hostler://box:9", "there is no image hostler://box:9"),
    ] {
        world.submit(name, "true", &in_image(image));
        let why = world.start_failure(name);
        assert!(why.contains(words), "{why}");
    }
    let never = json!({ "container": { "image": "hostler://none", "pull": "never" } });
    world.submit("never", "true", &never);
    assert!(world.start_failure("never").contains("hostler image sync"));
    let here = json!({ "container": { "image": "hostler://box", "pull": "never" } });
    world.submit("here", "true", &here);
    world.cli.wait_state("here", "completed");

    let copy = rig.path("copy.tar");
    world.cli.ok(&["image", "export", "box:1", copy.to_str().unwrap()]);
    assert!(std::fs::read(&copy).unwrap() == std::fs::read(&file).unwrap());
    world.cli.ok(&["image", "rm", "--node", "node-1", "hostler://box:1", "--yes"]);
    assert!(!world.has("hostler://box:1"));
    world.cli.ok(&["image", "rm", "box:1", "--yes"]);
    world.cli.run(&["image", "show", "box"]).must(3);
    assert_eq!(world.push("box", IMAGE).1["version"], 2, "numbers are not used again");
    world.docker.nothing_is_left();
}

/// A tar file that looks like an image from afar: its manifest is no list.
fn like_an_image() -> String {
    let mut header = [0; 512];
    header[..13].copy_from_slice(b"manifest.json");
    header[124..135].copy_from_slice(b"00000000002");
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
    let header = String::from_utf8(header.to_vec()).unwrap();
    format!("{header}no{}", "\0".repeat(510 + 1024))
}

#[test]
fn what_is_no_image_and_who_may_not_are_told() {
    let rig = Rig::new();
    let Some(docker) = Docker::shared(&rig) else { return };
    let world = World::new(&rig, docker);
    let write = |name: &str, bytes: &[u8]| {
        std::fs::write(rig.path(name), bytes).unwrap();
        rig.path(name).display().to_string()
    };
    let gzip = write("gzip", b"\x1f\x8b\x08rest");
    let text = write("text", b"no image at all");
    for (file, words) in [(gzip, "compressed"), (text.clone(), "no image")] {
        let refused = world.cli.run(&["image", "push", "bad", &file]).must(2);
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    for (stream, words) in [("", "nothing came"), ("no image at all", "no tar file")] {
        let refused = world.cli.run_with(&["image", "push", "bad", "-"], stream).must(2);
        assert!(refused.err.contains(words), "{}", refused.err);
    }
    world.cli.run_with(&["image", "push", "bad", "-"], &like_an_image()).must(0);
    world.submit("bad", "true", &in_image("hostler://bad"));
    let why = world.start_failure("bad");
    assert!(why.contains("hostler://bad:1 cannot be used: it is no image"), "{why}");

    world.cli.ok(&["user", "create", "robot", "--service"]);
    world.cli.ok(&["project", "grant", "default", "robot", "user"]);
    let token = ["token", "create", "t", "--user", "robot", "--role", "user"];
    let robot = world.cli.token(world.cli.json(&token)["secret"].as_str().unwrap());
    assert_eq!(robot.json(&["image", "ls"])["items"][0]["name"], "bad");
    for words in [
        &["image", "rm", "bad", "--yes"][..],
        &["image", "sync", "bad", "--all"],
        &["image", "export", "bad", "-"],
        &["image", "ls", "--node", "node-1"],
        &["container", "ls", "node-1"],
        &["container", "rm", "node-1", "x", "--yes"],
        &["container", "commit", "node-1", "x", "y"],
        &["container", "export", "node-1", "x", "-"],
    ] {
        robot.run(words).must(6);
    }
    world.cli.run(&["container", "rm", "node-1", "nothing-like-it", "--yes"]).must(3);
    world.cli.run(&["image", "sync", "none", "--all"]).must(3);
    let unknown = ["image", "push", "x", "--from-node", "node-1", "hostler-test/none:1"];
    let failed = world.cli.run(&unknown);
    assert_ne!(failed.code, 0);
    assert!(failed.err.contains("not on this node"), "{}", failed.err);
}

#[test]
fn a_container_becomes_a_version_and_a_node_gives_what_it_has() {
    let rig = Rig::new();
    let Some(engine) = OwnEngine::start(&rig, false) else { return };
    let world = World::new(&rig, Docker::at(&rig, &engine.socket()));
    world.cli.ok(&["image", "push", "box", "--from-node", "node-1", IMAGE]);
    let first = world.cli.json(&["image", "show", "box"]);
    assert_eq!(first["origin"], format!("image {IMAGE} of node node-1"), "{first}");
    world.submit(
        "set-up",
        "echo changed > /mark; echo up; sleep 100000",
        &in_image("hostler://box"),
    );
    world.has_said_more("set-up", 0);
    let container = world.the_container();
    let listed = world.cli.json(&["container", "ls", "node-1"]);
    assert_eq!(listed["items"][0]["name"], container.name.as_str(), "{listed}");
    assert_eq!(listed["items"][0]["run"], container.run_id.unwrap().to_string());
    let refused = world.cli.run(&["container", "rm", "node-1", &container.name, "--yes"]).must(5);
    assert!(refused.err.contains("has not ended"), "{}", refused.err);

    world.cli.ok(&["container", "commit", "node-1", &container.name, "box"]);
    let second = world.cli.json(&["image", "show", "box"]);
    assert_eq!(second["version"], 2, "{second}");
    assert_eq!(second["createdBy"]["name"], "admin");
    let files = rig.path("files.tar");
    world.cli.ok(&["container", "export", "node-1", &container.name, files.to_str().unwrap()]);
    let bytes = std::fs::read(&files).unwrap();
    assert!(bytes.windows(8).any(|part| part == b"changed\n"));
    world.cli.ok(&["task", "kill", "set-up", "--grace", "100ms", "--yes"]);
    world.cli.wait_state("set-up", "killed");

    world.submit("next", "cat /mark", &in_image("hostler://box"));
    world.cli.wait_state("next", "completed");
    assert_eq!(world.cli.ok(&["logs", "next"]), "changed\n");
    world.submit("before", "cat /mark", &in_image("hostler://box:1"));
    world.cli.wait_state("before", "failed");
    let left: Vec<_> =
        world.node_images().iter().flat_map(|i| i["names"].as_array().cloned()).flatten().collect();
    assert_eq!(left, [json!(IMAGE)], "nothing of the copying stays");
    for action in ["image.take", "image.taken", "node.container.export"] {
        let record = world.cli.json(&["audit", "ls", "--action", action]);
        assert!(!record["items"].as_array().unwrap().is_empty(), "{action}");
    }
    world.docker.nothing_is_left();
}

fn count(dir: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let each = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => count(&entry.path()),
        _ => 1,
    });
    each.sum()
}

/// Chunks of images that have come to the node.
fn come(world: &World<'_>) -> usize {
    count(&world.agent.data_dir.join("blobs/chunks"))
}

/// Begins to bring an image to the node, and stops in the middle; the operation.
fn begin_sync(world: &World<'_>, image: &str) -> String {
    let before = come(world);
    let words = ["image", "sync", image, "--node", "node-1", "--no-wait"];
    let operation = world.cli.ok(&words).trim().to_owned();
    until("some of it has come", || (come(world) > before + 8).then_some(()));
    operation
}

#[test]
fn an_image_arrives_although_agent_and_server_are_killed_on_its_way() {
    const SIZE: u64 = 96 << 20;
    let rig = Rig::new();
    let Some(engine) = OwnEngine::bare(&rig, false) else { return };
    let mut world = World::new(&rig, Docker::at(&rig, &engine.socket()));
    let shared = Docker::shared(&rig).unwrap();
    for name in ["big-one", "big-two", "big-three"] {
        shared.make_image(&rig, name, SIZE);
        world.push(name, &format!("{name}:1"));
        let _gone = shared.ask(shared.engine.remove_image(&format!("{name}:1"), true));
    }
    let runs = |world: &World<'_>, name: &str| {
        world.submit(name, "wc -c < /own", &in_image(&format!("hostler://{name}")));
        world.cli.wait_state(name, "completed");
        assert_eq!(world.cli.ok(&["logs", name]).trim(), SIZE.to_string());
    };

    let operation = begin_sync(&world, "big-one");
    world.agent.process.kill();
    assert_eq!(world.docker.ask(world.docker.engine.images()).unwrap().len(), 0, "in the middle");
    let came = come(&world);
    world.agent.restart(world.rig);
    world.cli.ok(&["operation", "wait", &operation]);
    assert!(world.has("hostler://big-one:1"));
    assert!(came > 8, "what had come was there to go on with");
    runs(&world, "big-one");

    let operation = begin_sync(&world, "big-two");
    world.server.process.kill();
    world.server.restart(world.rig);
    world.cli.ok(&["operation", "wait", &operation]);
    assert!(world.has("hostler://big-two:1"));
    runs(&world, "big-two");

    let before = come(&world);
    world.submit("big-three", "wc -c < /own", &in_image("hostler://big-three"));
    until("some of it has come", || (come(&world) > before + 8).then_some(()));
    let why = world.cli.json(&["task", "explain", "big-three"])["summary"].clone();
    assert!(why.as_str().unwrap().contains("image hostler://big-three:1 is being"), "{why}");
    world.agent.process.kill();
    world.agent.restart(world.rig);
    world.cli.wait_state("big-three", "completed");
    assert_eq!(world.cli.ok(&["logs", "big-three"]).trim(), SIZE.to_string());
    let ran = world.cli.json(&["task", "runs", "big-three"]);
    assert_eq!(ran["items"].as_array().unwrap().len(), 1, "{ran}");
    world.docker.nothing_is_left();
}

#[test]
fn versions_that_nobody_needs_leave_a_node_and_nothing_else_does() {
    let rig = Rig::new();
    let Some(engine) = OwnEngine::bare(&rig, false) else { return };
    let docker = Docker::at(&rig, &engine.socket());
    let mut world = World::so(&rig, docker, &["--image-retention", "2s"]);
    world.push_fresh("box", "tidy-one");
    world.submit("holds", "echo up; sleep 100000", &in_image("hostler://box:1"));
    world.has_said_more("holds", 0);
    let others = format!("hostler.local/other:v1.{}", "a".repeat(64));
    let all = world.docker.ask(world.docker.engine.images()).unwrap();
    world.docker.ask(world.docker.engine.tag_image(&all[0].id, &others)).unwrap();

    world.push_fresh("box", "tidy-two");
    world.cli.ok(&["image", "sync", "box", "--node", "node-1"]);
    assert!(world.keeps("hostler://box:1") && world.keeps("hostler://box:2"));
    let shown = world.cli.json(&["image", "show", "box"]);
    assert_eq!(shown["version"], 2, "{shown}");
    assert_eq!(shown["nodes"], json!([{ "node": "node-1", "isHere": true }]), "{shown}");

    world.push_fresh("box", "tidy-three");
    let shown = world.cli.json(&["image", "show", "box"]);
    assert_eq!(shown["nodes"], json!([{ "node": "node-1", "isHere": false }]), "{shown}");
    world.cli.ok(&["image", "sync", "box", "--node", "node-1"]);
    until("the second version leaves", || (!world.keeps("hostler://box:2")).then_some(()));
    assert!(world.keeps("hostler://box:1"), "a container uses it");

    world.agent.process.kill();
    world.agent.restart(world.rig);
    world.cli.ok(&["task", "kill", "holds", "--grace", "100ms", "--yes"]);
    world.cli.wait_state("holds", "killed");
    until("the first version leaves", || (!world.keeps("hostler://box:1")).then_some(()));
    assert!(world.keeps("hostler://box:3"), "it is the newest");
    world.submit("newest", "echo there", &in_image("hostler://box"));
    world.cli.wait_state("newest", "completed");
    assert_eq!(world.brought(), 0, "the agent that was started again had nothing to bring");

    world.cli.ok(&["image", "rm", "box", "--yes"]);
    until("the third version leaves", || (!world.keeps("hostler://box:3")).then_some(()));
    assert!(world.keeps("hostler://other:1"), "this agent did not bring it");
    let told = until("all of it was told", || Some(world.left()).filter(|told| told.len() >= 3));
    let expected = [
        "image hostler://box:2 removed: there is a newer one",
        "image hostler://box:1 removed: there is a newer one",
        "image hostler://box:3 removed: it is not kept any more",
    ];
    assert_eq!(told, expected);
    world.docker.nothing_is_left();
}

#[test]
fn an_image_that_is_not_kept_any_more_leaves_nodes_at_once() {
    let rig = Rig::new();
    let Some(engine) = OwnEngine::bare(&rig, false) else { return };
    let world = World::new(&rig, Docker::at(&rig, &engine.socket()));
    world.push_fresh("box", "gone-one");
    world.push_fresh("box", "gone-two");
    for version in ["box:1", "box:2"] {
        world.cli.ok(&["image", "sync", version, "--node", "node-1"]);
    }
    world.cli.ok(&["image", "rm", "box:1", "--yes"]);
    until("the first version leaves", || (!world.has("hostler://box:1")).then_some(()));
    assert!(world.has("hostler://box:2"));
}
