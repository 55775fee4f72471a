//! A server, or somebody whose words it passes on, that means harm to whoever reads the terminal.

use axum::Json;
use axum::routing::get;
use hostler_model::Code;
use serde_json::json;

use crate::world::{World, exited, refusal, task};

/// Clears the screen, renames the window, fills the clipboard, writes backwards, and begins a new line.
const EVIL: &str =
    "a\u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}]52;c;cm0=\u{7}\u{9b}1A\u{202e}z\r\nerror: forged";

fn assert_harmless(shown: &str, lines: usize) {
    let obeyed = |letter: char| {
        letter != '\n' && (letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter))
    };
    assert!(!shown.chars().any(obeyed), "{shown:?}");
    assert_eq!(shown.lines().count(), lines, "{shown}");
}

#[tokio::test]
async fn escapes_in_names_and_messages_do_not_reach_the_terminal() {
    let event = json!({
        "sequence": 12, "kind": "task.created", "time": "2026-01-31T11:55:00Z",
        "object": { "kind": "task", "id": "x", "name": EVIL },
        "actor": { "kind": "user", "name": EVIL }, "message": EVIL,
    });
    let mut broke = exited(Some(3), None);
    broke["message"] = EVIL.into();
    let shown = task(1, "broke", broke);
    let (listed, one) = (shown.clone(), shown);
    let router = axum::Router::new()
        .route("/api/v1/events", get(move || async move { Json(json!({ "items": [event] })) }))
        .route(
            "/api/v1/projects/default/tasks",
            get(move || async move { Json(json!({ "items": [listed] })) }),
        )
        .route("/api/v1/projects/default/tasks/broke", get(move || async move { Json(one) }))
        .route("/api/v1/nodes", get(|| async { refusal(Code::Forbidden, EVIL) }));
    let world = World::new(router).await;
    for words in [&["event", "ls"][..], &["task", "ls"], &["task", "ls", "-o", "wide"]] {
        let ran = world.hostler(words).await;
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert_harmless(&ran.text(), 2);
    }
    let raw = world.hostler(&["event", "ls", "-o", "json"]).await;
    let parsed: serde_json::Value = serde_json::from_slice(&raw.out).unwrap();
    assert_eq!(parsed["items"][0]["message"], EVIL, "a program gets what was said");
    assert!(!raw.out.contains(&0x1b), "escaped as JSON wants it");

    let refused = world.hostler(&["node", "ls"]).await;
    assert_ne!(refused.code, 0);
    let obeyed = |letter: char| letter != '\n' && letter.is_control();
    assert!(!refused.err.chars().any(obeyed), "{:?}", refused.err);
}

#[tokio::test]
async fn a_yaml_bomb_in_a_task_file_is_refused() {
    let world = World::new(axum::Router::new()).await;
    let mut aliases = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    for (letter, before) in ('b'..='k').zip('a'..) {
        let ten = vec![format!("*{before}"); 10].join(", ");
        aliases.push_str(&format!("{letter}: &{letter} [{ten}]\n"));
    }
    let deep = format!("command: {}x{}\n", "[".repeat(100_000), "]".repeat(100_000));
    for (name, text) in [("aliases", aliases), ("depth", deep)] {
        let begun = std::time::Instant::now();
        let ran = world.hostler_with(&["task", "submit", "-f", "-"], &text).await;
        assert_ne!(ran.code, 0, "{name}");
        assert!(ran.err.starts_with("error: "), "{name}: {}", ran.err);
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "{name} took long");
    }
    assert!(world.requests().is_empty(), "nothing was sent");
}
