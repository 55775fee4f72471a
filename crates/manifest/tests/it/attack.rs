//! Files that are written to do harm: small to send, and endless to read.

use std::time::{Duration, Instant};

use hostler_manifest::load_str;

/// Refused soon, with the mistake named.
fn refuses(name: &str, text: &str, word: &str) {
    let begun = Instant::now();
    let report = load_str("f", text).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(20), "{name} took {:?}", begun.elapsed());
    let told: Vec<&str> = report.mistakes.iter().map(|mistake| mistake.detail.as_str()).collect();
    assert!(told.iter().any(|detail| detail.contains(word)), "{name}: {told:?}");
}

#[test]
fn a_yaml_bomb_of_aliases_is_refused() {
    let mut lists = String::from("a: &a [x, x, x, x, x, x, x, x, x, x]\n");
    let mut maps = String::from("a: &a {x: 1, y: 2}\n");
    for (letter, before) in ('b'..='k').zip('a'..) {
        let ten = vec![format!("*{before}"); 10].join(", ");
        lists.push_str(&format!("{letter}: &{letter} [{ten}]\n"));
        maps.push_str(&format!(
            "{letter}: &{letter} {{p: *{before}, q: *{before}, r: *{before}, s: *{before}}}\n"
        ));
    }
    refuses("lists", &lists, "too much, with its aliases counted");
    refuses("maps", &maps, "too much, with its aliases counted");
    let text = "y".repeat(100_000);
    let copies = vec!["*t"; 1000].join(", ");
    refuses("text", &format!("t: &t {text}\nu: [{copies}]\n"), "too much");
}

#[test]
fn a_yaml_bomb_of_depth_is_refused() {
    for (name, text) in [
        ("flow lists", format!("name: {}", "[".repeat(200_000))),
        ("flow maps", format!("name: {}", "{a: ".repeat(100_000))),
        ("block lists", format!("name:\n  {}x\n", "- ".repeat(200_000))),
    ] {
        refuses(name, &text, "not valid YAML");
    }
    let indented: String = (0..700).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
    refuses("block maps", &indented, "not valid YAML");
}

#[test]
fn an_alias_of_itself_is_refused() {
    refuses("itself", "name: &a [*a]\ncommand: [x]\n", "this alias stands for what it is part of");
    refuses("merged", "a: &a\n  <<: *a\n", "this alias stands for what it is part of");
}

#[test]
fn huge_keys_and_many_are_mistakes_like_any_other() {
    let begun = Instant::now();
    let huge = format!("name: a\ncommand: [x]\n{}: 1\n", "k".repeat(500_000));
    let report = load_str("f", &huge).unwrap_err();
    assert!((1..10).contains(&report.mistakes.len()), "{}", report.mistakes.len());
    let many: String = (0..5000).map(|n| format!("k{n}: 1\n")).collect();
    let report = load_str("f", &format!("name: a\ncommand: [x]\n{many}")).unwrap_err();
    assert!((1..1100).contains(&report.mistakes.len()), "{}", report.mistakes.len());
    assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
}
