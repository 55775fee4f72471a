//! The house as it stands: tidy, generated files, examples.

mod commands;
mod examples;

use xtask::{Tree, generate, root, tidy};

#[test]
fn the_house_is_tidy() {
    let tree = Tree::open(&root()).unwrap();
    let findings = tidy::run(&tree).unwrap().findings;
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    assert!(findings.is_empty(), "\n{}\n", lines.join("\n"));
}

#[test]
fn generated_files_are_current() {
    let stale = generate::stale(&root()).unwrap();
    assert!(stale.is_empty(), "run `cargo xtask gen`: {stale:?}");
}

#[test]
fn generating_twice_gives_the_same_bytes() {
    let once = generate::documents(&root()).unwrap();
    let twice = generate::documents(&root()).unwrap();
    assert_eq!(once.len(), twice.len());
    for (a, b) in once.iter().zip(&twice) {
        assert_eq!(a.path, b.path);
        assert!(a.content == b.content, "{} differs", a.path);
        assert!(generate::is_generated(&a.path), "{} is unknown to is_generated", a.path);
        let is_text = !a.path.ends_with(".luauc");
        assert!(!is_text || a.content.ends_with(b"\n"), "{} has no last newline", a.path);
    }
}
