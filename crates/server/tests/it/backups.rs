//! Backups over HTTP: the whole of it, sealed as was asked, and who may.

use hostler_control::backup::{self, Shelf};
use hostler_control::{BackupConfig, ControlConfig};
use hostler_store::{OpenOptions, Store};
use hostler_trust::{LockKey, MasterKey};
use serde_json::json;

use crate::world::World;

const BACKUPS: &str = "/api/v1/backups";

#[tokio::test]
async fn a_backup_is_sealed_as_was_asked_and_can_be_restored() {
    let world = World::new().await;
    let key = LockKey::File(MasterKey::from_bytes([5; 32]));
    let (lock, stream) = key.lock().unwrap();
    let seal = json!({ "lock": lock, "key": stream.to_base64().expose() });
    let made = world.post(BACKUPS, json!({ "seal": seal })).await;
    assert_eq!(made.status, 200);
    assert_eq!(made.header("content-type"), "application/octet-stream");
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.backup");
    std::fs::write(&file, &made.bytes).unwrap();
    let copy = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
    let now = world.control.clock().now();
    let restored = backup::restore(&copy, &file, Some(&key), false, now).await.unwrap();
    assert!(restored.keys.is_empty() && !restored.head.has_keys, "never over the network");
    assert!(!restored.head.needs_keys.is_empty());
    // Its own entry is in it.
    let mut read = copy.read().await.unwrap();
    let (head, _) = read.audit_head().await.unwrap();
    let entries = read.audit_after(head.saturating_sub(2), 5).await.unwrap();
    let actions: Vec<&str> = entries.iter().map(|entry| entry.entry.action.as_str()).collect();
    assert_eq!(actions, ["backup.create", "backup.restore"]);
    drop(read);
    copy.close().await;
}

#[tokio::test]
async fn what_does_not_fit_is_refused() {
    let world = World::new().await;
    let (lock, _) = LockKey::File(MasterKey::from_bytes([5; 32])).lock().unwrap();
    let (_, other) = LockKey::File(MasterKey::from_bytes([6; 32])).lock().unwrap();
    let other = other.to_base64();
    for (seal, why) in [
        (json!({ "lock": lock, "key": other.expose() }), "another key"),
        (json!({ "lock": lock, "key": "short" }), "no key"),
        (json!({ "lock": { "kind": "door" }, "key": other.expose() }), "no lock"),
    ] {
        let reply = world.post(BACKUPS, json!({ "seal": seal })).await;
        assert_eq!(reply.code(), "malformed", "{why}: {}", reply.json());
    }
    let none = world.post("/api/v1/backup-schedule/run", json!({})).await;
    assert_eq!(none.code(), "conflict", "{}", none.json());
    let schedule = world.get("/api/v1/backup-schedule").await.json();
    assert_eq!(schedule.get("directory"), None);
    assert_eq!(schedule["isOverdue"], false);
}

#[tokio::test]
async fn files_that_no_row_knows_are_listed_too() {
    let dir = tempfile::tempdir().unwrap();
    let config = BackupConfig { directory: dir.path().to_owned(), ..BackupConfig::default() };
    let config = ControlConfig { backup: Some(config), ..ControlConfig::default() };
    let world = World::configured(hostler_server::http::Rates::default(), config).await;
    let made = world.post(BACKUPS, json!({ "withoutContent": true })).await;
    let name = Shelf::name(world.control.clock().now());
    std::fs::write(dir.path().join(&name), &made.bytes).unwrap();
    std::fs::write(dir.path().join("notes.txt"), "no backup").unwrap();
    let listed = world.get(BACKUPS).await.json();
    let items = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{listed}");
    assert_eq!((&items[0]["name"], &items[0]["standing"]), (&json!(name), &json!("unverified")));
    assert_eq!((&items[0]["isSealed"], &items[0]["hasMasterKey"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn the_control_plane_examines_itself() {
    let world = World::new().await;
    let found = world.get("/api/v1/diagnosis").await.json();
    let checks: Vec<&str> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| finding["check"].as_str().unwrap())
        .collect();
    for check in ["database", "schema", "master key", "nodes", "queue", "audit", "backup"] {
        assert!(checks.contains(&check), "{check} in {checks:?}");
    }
    assert_eq!(found["worst"], "notice", "{found}");
}
