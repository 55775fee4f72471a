//! Locks, expiry, who logged in, and running as somebody.

use std::time::Duration;

use hostler_host::accounts::{
    expire_password, failed_logins, is_locked, last_login, lock, run_as, unlock,
};
use hostler_host::{HostError, Plan, Privilege};

use crate::world::*;

fn machine(programs: &str) -> World {
    let world = World::with(programs);
    world.write("/etc/passwd", "ann:x:1000:1000::/srv/ann:/bin/sh\nbob:x:1001:1001::/:/bin/sh\n");
    world.write("/etc/shadow", "ann:$6$a$b:19000::::::\nbob:!$6$a$b:0::::::\n");
    world
}

async fn performed(world: &World, plan: Result<Plan, HostError>) -> Vec<String> {
    plan.unwrap().perform(&world.host).await.unwrap();
    world.told()
}

#[tokio::test]
async fn passwords_are_locked_and_unlocked() {
    let world = machine("usermod");
    let host = &world.host;
    assert!(!is_locked(host, "ann").await.unwrap() && is_locked(host, "bob").await.unwrap());
    assert!(is_locked(host, "eve").await.is_err());
    assert_eq!(performed(&world, lock(host, "ann").await).await, ["usermod -L ann"]);
    assert_eq!(performed(&world, unlock(host, "bob").await).await, ["usermod -U bob"]);
    assert!(lock(host, "bob").await.unwrap().is_empty());
    assert!(unlock(host, "ann").await.unwrap().is_empty());
}

#[tokio::test]
async fn passwords_expire() {
    let world = machine("chage");
    let host = &world.host;
    assert_eq!(performed(&world, expire_password(host, "ann").await).await, ["chage -d 0 ann"]);
    assert!(expire_password(host, "bob").await.unwrap().is_empty());
    assert!(expire_password(host, "eve").await.is_err());
}

#[tokio::test]
async fn the_last_login_is_told_by_whoever_knows() {
    let header = "Username         Port     From             Latest\n";
    let world = machine("lastlog");
    world.answer("lastlog -u ann", 0, &format!("{header}ann   pts/0  10.0.0.9  Mon Jan 1\n"), "");
    world.answer("lastlog -u bob", 0, &format!("{header}bob    **Never logged in**\n"), "");
    let host = &world.host;
    let found = last_login(host, "ann").await.unwrap();
    assert_eq!(found.as_deref(), Some("pts/0  10.0.0.9  Mon Jan 1"));
    assert_eq!(last_login(host, "bob").await.unwrap(), None);
    let world = machine("last");
    world.answer("last -F -w -n 1 ann", 0, "ann pts/1 :0 Tue\n\nwtmp begins Mon\n", "");
    let found = last_login(&world.host, "ann").await.unwrap();
    assert_eq!(found.as_deref(), Some("pts/1 :0 Tue"));
    assert_eq!(last_login(&world.host, "bob").await.unwrap(), None);
    let error = last_login(&machine("").host, "ann").await.unwrap_err();
    assert!(matches!(error, HostError::Missing { .. }), "{error}");
}

#[tokio::test]
async fn failed_logins_are_counted() {
    let world = machine("faillock");
    let said = "ann:\nWhen Type Source Valid\n2024-01-01 10:00 RHOST 10.0.0.1 V\n2024-01-02 x\n";
    world.answer("faillock --user ann", 0, said, "");
    let found = failed_logins(&world.host, "ann").await.unwrap();
    assert_eq!((found.count, found.lines.len()), (2, 2));
    let world = machine("lastb");
    world.answer("lastb", 0, "ann ssh:notty 10.0.0.1 Mon\nanna x\n\nbtmp begins\n", "");
    assert_eq!(failed_logins(&world.host, "ann").await.unwrap().count, 1);
    assert!(failed_logins(&machine("").host, "ann").await.is_err());
}

#[tokio::test]
async fn programs_run_as_somebody_else() {
    let world = machine("runuser sudo");
    world.answer("runuser", 3, "out", "err");
    let argv = ["echo".to_owned(), "a b; c".to_owned()];
    let second = Duration::from_secs(1);
    let finished = run_as(&world.host, "ann", &argv, second).await.unwrap();
    assert_eq!((finished.code, finished.text()), (Some(3), "out".into()));
    let calls = world.calls();
    assert_eq!(calls[0].argv(), ["runuser", "-u", "ann", "--", "echo", "a b; c"]);
    assert_eq!(calls[0].timeout, second);
    let ordinary = world.host_as(Privilege::Ordinary);
    run_as(&ordinary, "ann", &argv, second).await.unwrap();
    assert_eq!(world.ran(), ["sudo -n -u ann -- echo a b; c"]);
    assert!(run_as(&world.host, "eve", &argv, second).await.is_err());
    assert!(run_as(&world.host, "ann", &[], second).await.is_err());
}

#[tokio::test]
async fn without_root_the_shadow_is_asked_through_sudo() {
    if hostler_host::is_root() {
        return;
    }
    let world = machine("getent");
    world.chmod("/etc/shadow", 0o000);
    world.answer("sudo -n -- env LC_ALL=C getent shadow ann", 0, "ann:!x:1::::::\n", "");
    assert!(is_locked(&world.host_as(Privilege::Sudo), "ann").await.unwrap());
    let error = is_locked(&world.host_as(Privilege::Ordinary), "ann").await.unwrap_err();
    assert!(matches!(error, HostError::Privilege { .. }), "{error}");
}
