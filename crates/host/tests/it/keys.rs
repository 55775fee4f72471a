//! Keys in homes of users who may not be friendly.

use std::os::unix::fs::MetadataExt;

use hostler_host::authorized_keys::{AuthorizedKey, exists, list};
use hostler_host::{HostError, Primitive};

use crate::world::*;

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ann@laptop";
const FILE: &str = "/srv/ann/.ssh/authorized_keys";

fn machine() -> World {
    let world = World::new();
    world.write("/etc/passwd", format!("ann:x:{}:{}::/srv/ann:/bin/sh\n", uid(), gid()));
    world.mkdir("/srv/ann");
    world
}

fn key(line: &str) -> AuthorizedKey {
    AuthorizedKey { user: "ann".into(), key: line.into(), comment: None, options: None }
}

#[tokio::test]
async fn a_key_is_added_once_and_removed() {
    let world = machine();
    world.applies(&key(KEY)).await;
    assert_eq!(world.read(FILE), format!("{KEY}\n"));
    assert_eq!((world.mode("/srv/ann/.ssh"), world.mode(FILE)), (0o700, 0o600));
    assert_eq!(std::fs::metadata(world.at(FILE)).unwrap().uid(), uid());
    world.is_settled(&key("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 another comment")).await;
    world.applies(&key("ssh-rsa AAAAB3 x")).await;
    let host = &world.host;
    let keys = list(host, "ann").await.unwrap();
    assert_eq!((keys.len(), keys[0].comment.as_str()), (2, "ann@laptop"));
    assert!(exists(host, "ann", KEY).await.unwrap());
    world.removes(&key(KEY)).await;
    assert!(!exists(host, "ann", KEY).await.unwrap());
    assert_eq!(world.read(FILE), "ssh-rsa AAAAB3 x\n");
}

#[tokio::test]
async fn comment_and_options_are_altered_in_place() {
    let world = machine();
    world.write(FILE, format!("# mine\n{KEY}\nssh-rsa AAAAB3 x\n")).chmod("/srv/ann/.ssh", 0o700);
    let limited = AuthorizedKey {
        options: Some("no-pty,command=\"/bin/x y\"".into()),
        comment: Some("new".into()),
        ..key(KEY)
    };
    world.applies(&limited).await;
    assert_eq!(
        world.read(FILE),
        "# mine\nno-pty,command=\"/bin/x y\" ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 new\n\
         ssh-rsa AAAAB3 x\n"
    );
    world.is_settled(&key(KEY)).await;
}

#[tokio::test]
async fn links_of_the_user_are_not_followed() {
    let world = machine();
    world.mkdir("/etc/ssh").symlink("/srv/ann/.ssh", "/etc/ssh");
    assert!(matches!(world.refuses(&key(KEY)).await, HostError::Link { .. }));
    std::fs::remove_file(world.at("/srv/ann/.ssh")).unwrap();
    world.mkdir("/srv/ann/.ssh").write("/etc/target", "x\n").symlink(FILE, "/etc/target");
    assert!(matches!(world.refuses(&key(KEY)).await, HostError::Link { .. }));
    assert_eq!(world.read("/etc/target"), "x\n");
}

#[tokio::test]
async fn what_is_no_key_is_refused() {
    let world = machine();
    for line in ["", "AAAA", "ssh-rsa AAAA\nssh-rsa BBBB", "command=\"x\" AAAA", "ssh-rsa ****"] {
        assert!(matches!(world.refuses(&key(line)).await, HostError::Invalid { .. }), "{line}");
    }
    let spaced = AuthorizedKey { options: Some("a b".into()), ..key(KEY) };
    world.refuses(&spaced).await;
    let torn = AuthorizedKey { comment: Some("a\nb".into()), ..key(KEY) };
    world.refuses(&torn).await;
    let nobody = AuthorizedKey { user: "eve".into(), ..key(KEY) };
    assert!(matches!(world.refuses(&nobody).await, HostError::Absent { .. }));
    assert!(list(&world.host, "eve").await.is_err());
    assert_eq!(list(&world.host, "ann").await.unwrap(), []);
    assert!(!key(KEY).remove(&world.host).await.unwrap().changed);
}

#[tokio::test]
async fn a_missing_home_is_not_made() {
    let world = machine();
    std::fs::remove_dir(world.at("/srv/ann")).unwrap();
    let error = key(KEY).apply(&world.host).await.unwrap_err();
    assert!(error.to_string().contains("make it first"), "{error}");
    assert!(!world.at("/srv/ann").exists());
}
