//! How much we build from: a first build on two cores must stay a matter of minutes.
//!
//! Licences, banned crates and origins are `cargo deny`'s (`deny.toml`); the number of packages is
//! ours to watch.

use std::collections::BTreeMap;

use super::Report;
use super::graph::Graph;

const PACKAGES_MAX: usize = 450;

pub fn check(graph: &Graph, report: &mut Report) {
    let count = graph.theirs().count();
    if count > PACKAGES_MAX {
        let detail = format!("{count} packages, more than {PACKAGES_MAX}; every first build pays");
        report.find("budget", "Cargo.lock", detail);
    }
    report.note(format!("built from {count} packages (at most {PACKAGES_MAX})"));
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in graph.theirs() {
        *versions.entry(&package.name).or_default() += 1;
    }
    let doubles: Vec<&str> =
        versions.into_iter().filter(|(_, count)| *count > 1).map(|(name, _)| name).collect();
    if !doubles.is_empty() {
        report.note(format!("in more than one version: {}", doubles.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn findings(count: usize) -> usize {
        let packages: Vec<_> = (0..count)
            .map(|n| json!({ "id": n.to_string(), "name": n.to_string(), "source": "registry", "dependencies": [] }))
            .collect();
        let graph = Graph::of(json!({ "packages": packages, "workspace_members": [] }));
        let mut report = Report::default();
        check(&graph, &mut report);
        report.findings.len()
    }

    #[test]
    fn too_many_packages_are_found() {
        assert_eq!(findings(PACKAGES_MAX), 0);
        assert_eq!(findings(PACKAGES_MAX + 1), 1);
    }
}
