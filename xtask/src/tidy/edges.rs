//! Which crate may use which, as `deps.toml` says.
//!
//! `[rooms]` lists the edges between our crates; `[test_rooms]` what tests may use in addition;
//! `[owners]` which rooms a heavy third-party crate is behind. An edge that is not written there does
//! not exist, and one that is written but not used is said in a note.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;
use serde::Deserialize;

use super::Report;
use super::graph::{Graph, Package, room};

type Lists = BTreeMap<String, Vec<String>>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rooms: Lists,
    test_rooms: Lists,
    owners: Lists,
}

pub fn check(graph: &Graph, rules: &str, report: &mut Report) -> anyhow::Result<()> {
    let rules: Rules = toml::from_str(rules).context("reading deps.toml")?;
    let rooms: Vec<&str> = graph.ours().map(|package| room(&package.name)).collect();
    for package in graph.ours() {
        check_room(package, &rules, &rooms, report);
    }
    let known: BTreeSet<&String> = rules.rooms.keys().chain(rules.test_rooms.keys()).collect();
    for name in known {
        if !rooms.contains(&name.as_str()) {
            report.note(format!("deps.toml knows a room `{name}` that does not exist"));
        }
    }
    Ok(())
}

fn check_room(package: &Package, rules: &Rules, rooms: &[&str], report: &mut Report) {
    let this = room(&package.name);
    let Some(allowed) = rules.rooms.get(this) else {
        report.find("edges", "deps.toml", format!("has no line for the room `{this}`"));
        return;
    };
    let in_tests = rules.test_rooms.get(this).map_or(&[][..], Vec::as_slice);
    for dependency in &package.dependencies {
        let is_test = dependency.kind.as_deref() == Some("dev");
        let target = room(&dependency.name);
        let has = |list: &[String], name: &str| list.iter().any(|entry| entry == name);
        if rooms.contains(&target) && dependency.name.as_str() != target || target == "hostler" {
            let is_allowed = has(allowed, target) || is_test && has(in_tests, target);
            if !is_allowed && target != this {
                let tests = if is_test { "tests of " } else { "" };
                let detail = format!("{tests}`{this}` may not use `{target}`");
                report.find("edges", &package.name, detail);
            }
        } else if let Some(owners) = rules.owners.get(&dependency.name)
            && !is_test
            && !has(owners, this)
        {
            let detail = format!(
                "`{this}` may not use `{}`; it is behind {}",
                dependency.name,
                owners.join(", ")
            );
            report.find("edges", &package.name, detail);
        }
    }
    let uses = |target: &str| package.dependencies.iter().any(|d| room(&d.name) == target);
    let unused: Vec<&str> = allowed
        .iter()
        .map(String::as_str)
        .filter(|target| rooms.contains(target) && !uses(target))
        .collect();
    if !unused.is_empty() {
        report
            .note(format!("deps.toml lets `{this}` use {}, which it does not", unused.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RULES: &str = r#"
[rooms]
model = []
store = ["model"]
testkit = ["model", "store"]
[test_rooms]
model = ["testkit"]
[owners]
sqlx = ["store"]
"#;

    fn graph(room: &str, dependency: &str, kind: Option<&str>) -> Graph {
        let package = |name: &str, dependencies: serde_json::Value| {
            json!({
                "id": name, "name": name, "source": null, "dependencies": dependencies,
            })
        };
        let names = ["hostler-model", "hostler-store", "hostler-testkit"];
        let packages: Vec<_> = names
            .iter()
            .map(|name| {
                let edges = if *name == room {
                    json!([{ "name": dependency, "kind": kind }])
                } else {
                    json!([])
                };
                package(name, edges)
            })
            .collect();
        Graph::of(json!({ "packages": packages, "workspace_members": names }))
    }

    fn findings(room: &str, dependency: &str, kind: Option<&str>) -> usize {
        let mut report = Report::default();
        check(&graph(room, dependency, kind), RULES, &mut report).unwrap();
        report.findings.len()
    }

    #[test]
    fn only_written_edges_exist() {
        assert_eq!(findings("hostler-store", "hostler-model", None), 0);
        assert_eq!(findings("hostler-model", "hostler-store", None), 1);
        assert_eq!(findings("hostler-model", "hostler-store", Some("dev")), 1);
        assert_eq!(findings("hostler-model", "hostler-testkit", Some("dev")), 0);
        assert_eq!(findings("hostler-model", "hostler-testkit", None), 1);
    }

    #[test]
    fn heavy_crates_stay_behind_their_owner() {
        assert_eq!(findings("hostler-store", "sqlx", None), 0);
        assert_eq!(findings("hostler-model", "sqlx", None), 1);
        assert_eq!(findings("hostler-model", "sqlx", Some("build")), 1);
        assert_eq!(findings("hostler-model", "sqlx", Some("dev")), 0);
        assert_eq!(findings("hostler-model", "serde", None), 0);
    }

    #[test]
    fn a_room_without_a_line_is_found() {
        let rules = RULES.replace("store = [\"model\"]\n", "");
        let mut report = Report::default();
        check(&graph("hostler-store", "sqlx", None), &rules, &mut report).unwrap();
        assert_eq!(report.findings.len(), 1);
    }
}
