//! Files, directories and links.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hostler_host::files::{
    Directory, File, Kind, Link, LinkKind, append, list, make_temporary, read, stat,
};
use hostler_host::{Content, HostError, Mode, Primitive, is_root};

use crate::world::*;

#[tokio::test]
async fn a_file_is_made_with_its_directories_and_shown() {
    let world = World::new();
    let file = File {
        mode: Some(Mode::new(0o600)),
        ..File::with_content("/etc/app/app.conf", "a = 1\nb = 2\n")
    };
    let outcome = world.applies(&file).await;
    assert_eq!(world.read("/etc/app/app.conf"), "a = 1\nb = 2\n");
    assert_eq!((world.mode("/etc/app/app.conf"), world.mode("/etc/app")), (0o600, 0o755));
    assert_eq!(
        outcome.render(),
        "--- /dev/null\n+++ /etc/app/app.conf\n@@ -0,0 +1,2 @@\n+a = 1\n+b = 2\n"
    );
    let file = File::with_content("/etc/app/app.conf", "a = 1\nb = 3\n");
    let outcome = world.applies(&file).await;
    assert!(outcome.render().contains("-b = 2\n+b = 3\n"));
    assert_eq!(world.mode("/etc/app/app.conf"), 0o600, "the mode is kept");
    assert_eq!(std::fs::read_dir(world.at("/etc/app")).unwrap().count(), 1, "no draft is left");
    world.removes(&file).await;
    assert!(!world.at("/etc/app/app.conf").exists());
}

#[tokio::test]
async fn a_new_file_has_the_usual_mode_whatever_the_umask() {
    let world = World::new();
    world.applies(&File::with_content("/plain", "x")).await;
    assert_eq!(world.mode("/plain"), 0o644);
    world.applies(&File::new("/empty")).await;
    assert_eq!(world.read("/empty"), "");
}

#[tokio::test]
async fn only_owner_and_mode_are_altered_when_only_they_differ() {
    let world = World::new();
    world.write("/f", "keep").chmod("/f", 0o644);
    let before = std::fs::metadata(world.at("/f")).unwrap().ino();
    let file = File {
        mode: Some(Mode::new(0o640)),
        owner: Some(uid().to_string()),
        group: Some(gid().to_string()),
        ..File::new("/f")
    };
    let outcome = world.applies(&file).await;
    assert_eq!(outcome.render(), "mode of /f: 0644 -> 0640\n");
    assert_eq!(std::fs::metadata(world.at("/f")).unwrap().ino(), before);
    if is_root() {
        let file = File { owner: Some("1234".into()), group: Some("99".into()), ..File::new("/f") };
        world.applies(&file).await;
        world.applies(&File::with_content("/f", "new")).await;
        let about = std::fs::metadata(world.at("/f")).unwrap();
        assert_eq!((about.uid(), about.gid()), (1234, 99), "the owner is kept");
        assert_eq!(world.mode("/f"), 0o640);
    }
}

#[tokio::test]
async fn owners_are_known_by_name() {
    let world = World::new();
    world.write("/etc/passwd", format!("me:x:{}:{}::/:/bin/sh\n", uid(), gid()));
    world.write("/etc/group", format!("us:x:{}:\n", gid()));
    let file = |owner: &str, group: &str| File {
        owner: Some(owner.into()),
        group: Some(group.into()),
        ..File::with_content("/f", "x")
    };
    world.applies(&file("me", "us")).await;
    let error = world.refuses(&file("nobody-here", "us")).await;
    assert!(matches!(error, HostError::Absent { what: "user", .. }), "{error}");
    let error = world.refuses(&file("me", "no-group")).await;
    assert!(matches!(error, HostError::Absent { what: "group", .. }), "{error}");
    world.refuses(&file("4294967295", "us")).await;
}

#[tokio::test]
async fn a_copy_is_compared_by_content() {
    let world = World::new();
    let large = vec![7u8; 300 << 10];
    world.write("/src", &large);
    let copy = File::copy_of("/src", "/into/dest");
    let outcome = world.applies(&copy).await;
    assert!(outcome.diff[0].after.as_ref().unwrap().starts_with("(307200 bytes, sha256 "));
    assert_eq!(std::fs::read(world.at("/into/dest")).unwrap(), large);
    world.write("/src", "now small\n").write("/into/dest", "was small\n");
    let outcome = world.applies(&copy).await;
    assert!(outcome.render().contains("-was small\n+now small\n"));
    let error = world.refuses(&File::copy_of("/gone", "/x")).await;
    assert!(error.to_string().contains("/gone cannot be read"), "{error}");
    let both = File { content: Some(Content::from("x")), ..copy };
    assert!(matches!(world.refuses(&both).await, HostError::Invalid { .. }));
}

#[tokio::test]
async fn a_link_is_not_written_through_unless_it_is_followed() {
    let world = World::new();
    world.write("/real/target", "old").mkdir("/etc");
    world.symlink("/etc/f", "/real/target");
    let file = File::with_content("/etc/f", "new");
    let error = world.refuses(&file).await;
    assert!(matches!(error, HostError::Link { .. }), "{error}");
    assert!(error.to_string().contains("say `follow`"));
    world.applies(&File { follow: true, ..file }).await;
    assert_eq!(world.read("/real/target"), "new");
    assert!(world.at("/etc/f").is_symlink());
    world.symlink("/etc/out", "../../../../../etc/hostname");
    let out = File { follow: true, ..File::with_content("/etc/out", "x") };
    assert!(matches!(world.refuses(&out).await, HostError::Link { .. }));
    world.symlink("/etc/loop", "loop");
    let endless = File { follow: true, ..File::with_content("/etc/loop", "x") };
    assert!(matches!(world.refuses(&endless).await, HostError::Io { .. }));
    world.removes(&File::new("/etc/f")).await;
    assert_eq!(world.read("/real/target"), "new", "only the link goes");
}

#[tokio::test]
async fn what_is_no_file_is_left_alone() {
    let world = World::new();
    world.mkdir("/dir");
    let file = File::with_content("/dir", "x");
    assert!(matches!(world.refuses(&file).await, HostError::Kind { is: "a directory", .. }));
    let error = file.remove(&world.host).await.unwrap_err();
    assert!(matches!(error, HostError::Kind { .. }), "{error}");
    let lonely = File { parents: false, ..File::with_content("/none/f", "x") };
    assert!(world.refuses(&lonely).await.to_string().contains("make what is missing first"));
    assert!(!file_removes(&world, "/none/f").await);
    for path in ["relative", "/a/../b", "/"] {
        world.refuses(&File::with_content(path, "x")).await;
    }
}

async fn file_removes(world: &World, path: &str) -> bool {
    File::new(path).remove(&world.host).await.unwrap().changed
}

#[tokio::test]
async fn what_is_secret_is_not_shown() {
    let world = World::new();
    let file = File { secret: true, ..File::with_content("/key", "hunter2") };
    let outcome = world.applies(&file).await;
    assert!(!format!("{outcome:?}").contains("hunter2"));
    let outcome = world.removes(&file).await;
    assert!(!format!("{outcome:?}").contains("hunter2"));
}

#[tokio::test]
async fn directories_are_made_altered_and_removed() {
    let world = World::new();
    let dir = Directory { mode: Some(Mode::new(0o750)), ..Directory::new("/srv/a/b") };
    world.applies(&dir).await;
    assert_eq!((world.mode("/srv/a/b"), world.mode("/srv/a")), (0o750, 0o755));
    let dir = Directory { mode: Some(Mode::new(0o700)), ..dir };
    assert_eq!(world.applies(&dir).await.render(), "mode of /srv/a/b: 0750 -> 0700\n");
    world.write("/srv/a/b/f", "x");
    let error = dir.remove(&world.host).await.unwrap_err();
    assert!(error.to_string().contains("say `recursive`"), "{error}");
    let outcome = world.removes(&Directory { recursive: true, ..dir }).await;
    assert_eq!(outcome.render(), "- /srv/a/b: directory with 1 entry\n");
    world.removes(&Directory::new("/srv/a")).await;
    for path in ["/", "/etc", "/usr/lib"] {
        let all = Directory { recursive: true, ..Directory::new(path) };
        assert!(matches!(all.remove(&world.host).await, Err(HostError::Invalid { .. })), "{path}");
    }
    assert!(!Directory::new("/").apply(&world.host).await.unwrap().changed);
}

#[tokio::test]
async fn a_tree_is_removed_without_following_links() {
    let world = World::new();
    world.write("/data/keep", "x").mkdir("/data/old").mkdir("/data/old/sub");
    world.symlink("/data/old/sub/out", "/data");
    world.removes(&Directory { recursive: true, ..Directory::new("/data/old") }).await;
    assert_eq!(world.read("/data/keep"), "x");
    world.symlink("/data/link", "/data");
    let link = Directory { recursive: true, ..Directory::new("/data/link") };
    assert!(matches!(link.remove(&world.host).await, Err(HostError::Link { .. })));
    assert!(matches!(world.refuses(&link).await, HostError::Link { .. }));
    world.mkdir("/data/x").symlink("/data/to-x", "x");
    let followed = Directory { follow: true, ..Directory::new("/data/to-x") };
    world.is_settled(&followed).await;
}

#[tokio::test]
async fn links_are_made_and_turned() {
    let world = World::new();
    let link = Link::symbolic("/opt/current", "releases/1");
    assert_eq!(world.applies(&link).await.render(), "+ /opt/current: link to releases/1\n");
    let link = Link::symbolic("/opt/current", "releases/2");
    world.applies(&link).await;
    assert_eq!(std::fs::read_link(world.at("/opt/current")).unwrap(), Path::new("releases/2"));
    world.write("/opt/file", "x");
    let over = Link { path: "/opt/file".into(), ..link.clone() };
    assert!(matches!(world.refuses(&over).await, HostError::Kind { is: "a file", .. }));
    world.applies(&Link { force: true, ..over }).await;
    world.mkdir("/opt/dir");
    let over = Link { path: "/opt/dir".into(), force: true, ..link.clone() };
    assert!(matches!(world.refuses(&over).await, HostError::Kind { is: "a directory", .. }));
    world.removes(&link).await;
    world.write("/opt/current", "a file now");
    assert!(matches!(link.remove(&world.host).await, Err(HostError::Kind { .. })));
    world.refuses(&Link::symbolic("/opt/y", "")).await;
}

#[tokio::test]
async fn a_hard_link_is_a_second_name() {
    let world = World::new();
    world.write("/a", "x");
    let link = Link { kind: LinkKind::Hard, ..Link::symbolic("/b/c", "/a") };
    world.applies(&link).await;
    let ino = |path: &str| std::fs::metadata(world.at(path)).unwrap().ino();
    assert_eq!(ino("/a"), ino("/b/c"));
    world.removes(&link).await;
    assert_eq!(world.read("/a"), "x");
    world.refuses(&Link { target: "/gone".into(), ..link }).await;
}

#[tokio::test]
async fn what_is_there_is_told() {
    let world = World::new();
    world.write("/f", "abc").chmod("/f", 0o640).symlink("/l", "f").mkdir("/d");
    world.write("/etc/passwd", format!("me:x:{}:{}::/:/bin/sh\n", uid(), gid()));
    let host = &world.host;
    let facts = stat(host, Path::new("/f"), false, true).await.unwrap().unwrap();
    assert_eq!((facts.kind, facts.size, facts.mode), (Kind::File, 3, Mode::new(0o640)));
    assert_eq!((facts.uid, facts.owner.as_deref()), (uid(), Some("me")));
    assert!(facts.checksum.unwrap().starts_with("ba7816bf"));
    assert!(facts.time_modified > 1_600_000_000);
    let facts = stat(host, Path::new("/l"), false, true).await.unwrap().unwrap();
    assert_eq!((facts.kind, facts.target.as_deref()), (Kind::Link, Some(Path::new("f"))));
    let facts = stat(host, Path::new("/l"), true, false).await.unwrap().unwrap();
    assert_eq!((facts.kind, facts.checksum), (Kind::File, None));
    let facts = stat(host, Path::new("/d"), false, true).await.unwrap().unwrap();
    assert_eq!(facts.kind, Kind::Directory);
    assert_eq!(stat(host, Path::new("/none/f"), false, true).await.unwrap(), None);
    let root = stat(host, Path::new("/"), false, true).await.unwrap().unwrap();
    assert_eq!(root.kind, Kind::Directory);
}

#[tokio::test]
async fn files_are_read_listed_added_to_and_made() {
    let world = World::new();
    world.write("/d/b", "1234").write("/d/a", "").symlink("/d/c", "b").mkdir("/d/e").mkdir("/tmp");
    let host = &world.host;
    assert_eq!(read(host, Path::new("/d/c"), 4).await.unwrap(), b"1234");
    assert!(matches!(read(host, Path::new("/d/b"), 3).await, Err(HostError::TooLarge { .. })));
    assert!(matches!(read(host, Path::new("/d/x"), 3).await, Err(HostError::Absent { .. })));
    let entries = list(host, Path::new("/d")).await.unwrap();
    let told: Vec<_> = entries.iter().map(|entry| (entry.name.as_str(), entry.kind)).collect();
    let expected =
        [("a", Kind::File), ("b", Kind::File), ("c", Kind::Link), ("e", Kind::Directory)];
    assert_eq!(told, expected);
    assert!(list(host, Path::new("/gone")).await.is_err());

    let plan = append(host, Path::new("/d/b"), b"56").await.unwrap();
    assert_eq!(world.read("/d/b"), "1234", "a plan does nothing");
    assert!(plan.perform(host).await.unwrap().changed);
    assert_eq!(world.read("/d/b"), "123456");
    append(host, Path::new("/new/f"), b"x").await.unwrap().perform(host).await.unwrap();
    assert_eq!(world.read("/new/f"), "x");
    assert!(append(host, Path::new("/d/b"), b"").await.unwrap().is_empty());
    let through = append(host, Path::new("/d/c"), b"x").await;
    assert!(matches!(through, Err(HostError::Link { .. })));

    let one = make_temporary(host, "job-").await.unwrap();
    let two = make_temporary(host, "job-").await.unwrap();
    assert!(one != two && one.starts_with("/tmp"));
    assert_eq!(world.mode(one.to_str().unwrap()), 0o600);
    assert!(make_temporary(host, "../x").await.is_err());
}
