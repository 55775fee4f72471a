//! What a conformance page says is shown by a test is shown by a test.
//!
//! In `docs/conformance/` the last column of every table names tests, each as a code span. Every row
//! must name at least one, and each must be a test of that name somewhere in the tree.

use std::collections::BTreeSet;

use super::Report;
use crate::Tree;
use crate::tree::extension;

const RULE: &str = "conformance";
const PAGES: &str = "docs/conformance/";

pub fn check(tree: &Tree, report: &mut Report) {
    let sources = tree.texts().filter(|(path, _)| extension(path) == "rs");
    let tests: BTreeSet<&str> = sources.flat_map(|(_, text)| tests(text)).collect();
    let pages = tree.texts().filter(|(path, _)| path.starts_with(PAGES) && extension(path) == "md");
    for (path, text) in pages {
        for (line, names) in rows(text) {
            let place = format!("{path}:{line}");
            if names.is_empty() {
                report.find(RULE, place.clone(), "this row names no test");
            }
            for name in names.into_iter().filter(|name| !tests.contains(name)) {
                report.find(RULE, place.clone(), format!("there is no test `{name}`"));
            }
        }
    }
}

/// Names of functions that follow a test attribute.
fn tests(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
            is_test = true;
        }
        let declared = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let Some(name) = declared.and_then(|rest| rest.split(['(', '<']).next()) {
            if is_test {
                found.push(name);
            }
            is_test = false;
        }
    }
    found
}

/// Rows of tables below their headings: the line, and the code spans of the last cell.
fn rows(text: &str) -> Vec<(usize, Vec<&str>)> {
    let mut found = Vec::new();
    let mut is_below_heading = false;
    for (number, line) in text.lines().enumerate() {
        let Some(row) = line.strip_prefix('|') else {
            is_below_heading = false;
            continue;
        };
        if row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' ')) {
            is_below_heading = true;
        } else if is_below_heading {
            let last = row.trim_end().trim_end_matches('|').rsplit('|').next().unwrap_or_default();
            found.push((number + 1, last.split('`').skip(1).step_by(2).collect()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_tests_and_tests_that_are_not_there_are_found() {
        let page = "# Page\n\n| it | is shown by |\n|---|---|\n| `a` works | `shown`, `shown_too` |\n| b | `gone` |\n| c | later |\n\n| not | a table |\n";
        let source = "#[test]\nfn shown() {}\n\nfn gone() {}\n\n    #[tokio::test(flavor = \"x\")]\n    async fn shown_too() {}\n";
        let files = [("docs/conformance/p.md", page), ("crates/x/src/lib.rs", source)];
        let mut report = Report::default();
        check(&Tree::of(files), &mut report);
        let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "docs/conformance/p.md:6: conformance: there is no test `gone`",
                "docs/conformance/p.md:7: conformance: this row names no test",
            ]
        );
    }
}
