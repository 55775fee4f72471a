//! Every page is reachable and every link leads somewhere.
//!
//! Relative links of all Markdown files must resolve inside the repository, every page of the guide
//! must stand in `docs/SUMMARY.md`, and every decision record in `docs/adr/README.md`.

use super::Report;
use crate::Tree;
use crate::tree::extension;

const SUMMARY: &str = "docs/SUMMARY.md";
const ADR_INDEX: &str = "docs/adr/README.md";

pub fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts().filter(|(path, _)| extension(path) == "md") {
        for (line, target) in links(text) {
            let resolved = resolve(path, &target);
            if !resolved.as_deref().is_some_and(|file| tree.has(file)) {
                report.find("links", format!("{path}:{line}"), format!("`{target}` leads nowhere"));
            }
        }
    }
    let is_page = |path: &str| path.starts_with("docs/") && extension(path) == "md";
    require_listed(tree, SUMMARY, report, |path| is_page(path) && path != SUMMARY);
    require_listed(tree, ADR_INDEX, report, is_decision);
    check_numbers(tree, report);
}

fn is_decision(path: &str) -> bool {
    path.starts_with("docs/adr/") && extension(path) == "md" && path != ADR_INDEX
}

/// Every page that `belongs` must be linked from the index.
fn require_listed(tree: &Tree, index: &str, report: &mut Report, belongs: impl Fn(&str) -> bool) {
    let listed: Vec<String> = tree
        .text(index)
        .map(links)
        .unwrap_or_default()
        .iter()
        .filter_map(|(_, target)| resolve(index, target))
        .collect();
    for (path, _) in tree.texts().filter(|(path, _)| belongs(path)) {
        if !listed.iter().any(|target| target == path) {
            report.find("links", path, format!("is not linked from {index}"));
        }
    }
}

/// Decision records are numbered 0001, 0002, .. without gaps or repeats.
fn check_numbers(tree: &Tree, report: &mut Report) {
    let records = tree.texts().filter(|(path, _)| is_decision(path));
    for (position, (path, _)) in records.enumerate() {
        let wanted = format!("docs/adr/{:04}-", position + 1);
        if !path.starts_with(&wanted) {
            report.find("links", path, format!("should be number {:04}", position + 1));
        }
    }
}

/// Relative link targets outside code, with their line numbers; fragments are cut off.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_code = false;
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        // Every second piece between backticks is code.
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" ");
        for piece in prose.split("](").skip(1) {
            let target = piece.split([')', ' ']).next().unwrap_or_default();
            let path = target.split('#').next().unwrap_or_default();
            if !path.is_empty() && !target.contains("://") && !target.starts_with("mailto:") {
                found.push((number + 1, path.to_owned()));
            }
        }
    }
    found
}

/// The target as a path from the root; `None` where it leaves the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let mut report = Report::default();
        check(&Tree::of(files.iter().copied()), &mut report);
        report.findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn links_resolve_or_are_found() {
        let files = [
            ("README.md", "[a](docs/a.md) [b](docs/b.md#x) [c](https://x.example/y) ![d](docs/)"),
            ("docs/SUMMARY.md", "- [A](a.md)"),
            (
                "docs/a.md",
                "`[code](nowhere.md)` [up](../README.md) [out](../../x)\n```\n[z](z)\n```",
            ),
        ];
        let found = findings(&files);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("docs/b.md"), "{found:?}");
        assert!(found[1].contains("../../x"), "{found:?}");
    }

    #[test]
    fn pages_and_decisions_must_be_listed_and_numbered() {
        let files = [
            ("docs/SUMMARY.md", "[i](adr/README.md) [1](adr/0001-a.md) [3](adr/0003-b.md)"),
            ("docs/adr/0001-a.md", ""),
            ("docs/adr/0003-b.md", ""),
            ("docs/adr/README.md", "[1](0001-a.md)"),
            ("docs/orphan.md", ""),
        ];
        let found = findings(&files);
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
