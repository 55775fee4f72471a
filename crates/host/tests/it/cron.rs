//! Crontabs: a fake `crontab` that keeps what it is given.

use hostler_host::cron::{Cron, exists, list, remove, set_enabled, validate_schedule};
use hostler_host::{HostError, Primitive};

use crate::world::*;

const OTHERS: &str = "MAILTO=ops\n5 5 * * * /bin/other\n";

fn backup() -> Cron {
    Cron {
        name: "backup".into(),
        schedule: "0  3 * * *".into(),
        command: "/bin/backup --all".into(),
        user: None,
        enabled: true,
    }
}

/// What was given to `crontab -` last.
fn written(world: &World) -> Option<String> {
    let calls = world.calls();
    let call = calls.iter().rev().find(|call| call.args.last().is_some_and(|arg| arg == "-"))?;
    Some(String::from_utf8(call.input().unwrap().to_vec()).unwrap())
}

fn machine(table: &str) -> World {
    let world = World::with("crontab");
    world.answer("crontab -l", 0, table, "");
    world
}

#[tokio::test]
async fn an_entry_is_added_and_others_stay() {
    let world = machine(OTHERS);
    let checked = backup().check(&world.host).await.unwrap();
    assert!(checked.changed && written(&world).is_none());
    assert!(checked.render().contains("+# hostler: backup\n+0 3 * * * /bin/backup --all\n"));
    backup().apply(&world.host).await.unwrap();
    let table = written(&world).unwrap();
    assert_eq!(table, format!("{OTHERS}# hostler: backup\n0 3 * * * /bin/backup --all\n"));
    world.answer("crontab -l", 0, &table, "");
    assert!(!backup().apply(&world.host).await.unwrap().changed);
    assert!(written(&world).is_none());
    let entries = list(&world.host, None).await.unwrap();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[1].name.as_deref(), Some("backup"));
    assert!(exists(&world.host, "backup", None).await.unwrap());
    assert!(!exists(&world.host, "other", None).await.unwrap());
    backup().remove(&world.host).await.unwrap();
    assert_eq!(written(&world).unwrap(), OTHERS);
}

#[tokio::test]
async fn an_entry_is_altered_disabled_and_enabled() {
    let world = machine("# hostler: backup\n0 3 * * * /bin/backup --all\n");
    let host = &world.host;
    let later = Cron { schedule: "@daily".into(), ..backup() };
    later.apply(host).await.unwrap();
    assert_eq!(written(&world).unwrap(), "# hostler: backup\n@daily /bin/backup --all\n");
    let plan = set_enabled(host, "backup", None, false).await.unwrap();
    plan.perform(host).await.unwrap();
    let table = written(&world).unwrap();
    assert_eq!(table, "# hostler: backup (disabled)\n#0 3 * * * /bin/backup --all\n");
    assert!(set_enabled(host, "backup", None, true).await.unwrap().is_empty());
    world.answer("crontab -l", 0, &table, "");
    assert!(!list(host, None).await.unwrap()[0].enabled);
    assert!(set_enabled(host, "backup", None, false).await.unwrap().is_empty());
    set_enabled(host, "backup", None, true).await.unwrap().perform(host).await.unwrap();
    assert!(written(&world).unwrap().starts_with("# hostler: backup\n0 3"));
    let error = set_enabled(host, "none", None, true).await.unwrap_err();
    assert!(matches!(error, HostError::Absent { .. }), "{error}");
    let off = Cron { enabled: false, ..backup() };
    assert!(!off.apply(host).await.unwrap().changed);
}

#[tokio::test]
async fn crontabs_of_others_need_root() {
    let world = World::with("crontab");
    world.answer("crontab -u ann -l", 1, "", "no crontab for ann\n");
    let entry = Cron { user: Some("ann".into()), ..backup() };
    entry.apply(&world.host).await.unwrap();
    let calls = world.calls();
    assert!(calls.iter().all(|call| call.is_privileged));
    let lines: Vec<String> = calls.iter().map(|call| call.argv().join(" ")).collect();
    assert_eq!(lines, ["crontab -u ann -l", "crontab -u ann -"]);
    let bad = Cron { user: Some("-r".into()), ..backup() };
    world.refuses(&bad).await;
}

#[tokio::test]
async fn nothing_is_lost_when_the_table_cannot_be_read() {
    let world = World::with("crontab");
    world.answer("crontab -l", 1, "", "permission denied\n");
    assert!(matches!(world.refuses(&backup()).await, HostError::Failed { .. }));
    world.answer_cut("crontab -l", "0 1 * * * /bin/half");
    assert!(matches!(world.refuses(&backup()).await, HostError::TooMuch { .. }));
    assert!(written(&world).is_none());
    let world = World::new();
    let error = world.refuses(&backup()).await;
    assert!(error.to_string().starts_with("crontab is missing: install cron"), "{error}");
}

#[tokio::test]
async fn what_is_no_entry_is_refused() {
    let world = machine("");
    for entry in [
        Cron { name: String::new(), ..backup() },
        Cron { name: "a\n* * * * * x".into(), ..backup() },
        Cron { name: "a (disabled)".into(), ..backup() },
        Cron { schedule: "* * * *".into(), ..backup() },
        Cron { schedule: "61 * * * *".into(), ..backup() },
        Cron { command: " ".into(), ..backup() },
        Cron { command: "a\n* * * * * b".into(), ..backup() },
    ] {
        world.refuses(&entry).await;
    }
    assert!(validate_schedule("*/5 * * * *").is_ok() && validate_schedule("x").is_err());
    assert!(remove(&world.host, "none", None).await.unwrap().is_empty());
}
