//! Every crate has the same shape: versions, lints and package fields come from the workspace.

use toml::{Table, Value};

use super::Report;
use crate::Tree;

const INHERITED: &[&str] = &["version", "edition", "rust-version", "license", "publish"];
const KINDS: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

pub fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts() {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else {
            continue;
        };
        match text.parse::<Table>() {
            Ok(manifest) => check_manifest(tree, folder, &manifest, report),
            Err(error) => report.find("manifest", path, error.message()),
        }
    }
}

fn check_manifest(tree: &Tree, folder: &str, manifest: &Table, report: &mut Report) {
    let place = format!("{folder}/Cargo.toml");
    let mut say = |detail: String| report.find("manifest", &place, detail);
    let package = manifest.get("package").and_then(Value::as_table);
    let field = |name: &str| package.and_then(|p| p.get(name));

    let name = field("name").and_then(Value::as_str).unwrap_or_default();
    let wanted = match folder.strip_prefix("crates/") {
        Some("hostler") => "hostler".to_owned(),
        Some(room) => format!("hostler-{room}"),
        None if folder == "bench" => "hostler-bench".to_owned(),
        None => folder.to_owned(),
    };
    if name != wanted {
        say(format!("the package is named `{name}`, not `{wanted}`"));
    }
    if field("description").is_none() {
        say("has no description: one sentence that says what the room is for".into());
    }
    for inherited in INHERITED {
        if !field(inherited).is_some_and(from_workspace) {
            say(format!("`{inherited}.workspace = true` is missing"));
        }
    }
    if !manifest.get("lints").is_some_and(from_workspace) {
        say("`[lints] workspace = true` is missing".into());
    }
    for (kind, table) in dependency_tables(manifest) {
        for (dependency, value) in table {
            if !from_workspace(value) {
                say(format!("`{dependency}` in {kind} must be `{dependency}.workspace = true`"));
            }
        }
    }
    let has_doctests =
        manifest.get("lib").and_then(|lib| lib.get("doctest")).and_then(Value::as_bool)
            != Some(false);
    if tree.has(&format!("{folder}/src/lib.rs")) && has_doctests {
        say("`[lib] doctest = false` is missing".into());
    }
    if tree.has(&format!("{folder}/build.rs")) {
        say("has a build script; generate with `cargo xtask gen` and commit the result".into());
    }
    for (test, _) in tree.texts() {
        let inside = test.strip_prefix(&format!("{folder}/tests/"));
        if inside.is_some_and(|file| file.ends_with(".rs") && !file.contains('/')) {
            say(format!(
                "{test} is a test binary of its own; make it a module of tests/it/main.rs"
            ));
        }
    }
}

fn from_workspace(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// Dependency tables at the top and under `[target.'cfg(..)']`.
fn dependency_tables(manifest: &Table) -> Vec<(&'static str, &Table)> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let scopes = std::iter::once(manifest).chain(
        targets.into_iter().flat_map(|targets| targets.values().filter_map(Value::as_table)),
    );
    let mut tables = Vec::new();
    for scope in scopes {
        for kind in KINDS {
            if let Some(table) = scope.get(*kind).and_then(Value::as_table) {
                tables.push((*kind, table));
            }
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[package]
name = "hostler-a"
description = "A room."
version.workspace = true
edition.workspace = true
rust-version.workspace = true
license.workspace = true
publish.workspace = true
[lib]
doctest = false
[dependencies]
serde.workspace = true
tokio = { workspace = true, optional = true }
[lints]
workspace = true
"#;

    fn details(files: &[(&str, &str)]) -> Vec<String> {
        let mut report = Report::default();
        check(&Tree::of(files.iter().copied()), &mut report);
        report.findings.into_iter().map(|f| f.detail).collect()
    }

    #[test]
    fn the_house_shape_passes() {
        let files = [("crates/a/Cargo.toml", GOOD), ("crates/a/src/lib.rs", "")];
        assert_eq!(details(&files), Vec::<String>::new());
    }

    #[test]
    fn each_deviation_is_found() {
        let cases = [
            ("serde.workspace = true", "serde = \"1\"", "`serde` in"),
            ("[lints]\nworkspace = true", "", "[lints]"),
            ("license.workspace = true", "license = \"MIT\"", "`license"),
            ("hostler-a", "a", "named `a`"),
            ("doctest = false", "", "doctest"),
            ("description = \"A room.\"", "", "description"),
        ];
        for (from, to, expected) in cases {
            let manifest = GOOD.replace(from, to);
            let files = [("crates/a/Cargo.toml", manifest.as_str()), ("crates/a/src/lib.rs", "")];
            let found = details(&files);
            assert_eq!(found.len(), 1, "{expected}: {found:?}");
            assert!(found[0].contains(expected), "{expected}: {found:?}");
        }
    }

    #[test]
    fn build_scripts_and_stray_test_binaries_are_found() {
        let files = [
            ("crates/a/Cargo.toml", GOOD),
            ("crates/a/build.rs", ""),
            ("crates/a/tests/one.rs", ""),
            ("crates/a/tests/it/main.rs", ""),
        ];
        assert_eq!(details(&files).len(), 2);
    }
}
