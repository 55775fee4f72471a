//! One noun per concept: other products' words do not creep into the text that users read.
//!
//! Looked at are the guide, the README, the example files and the API description. `GLOSSARY.md`,
//! which lists these words, and the decision records and the modules of workflows, which speak of other
//! products, are not.

use super::Report;
use crate::Tree;
use crate::tree::extension;

/// A word that is not ours, and ours. Small on purpose: only what would confuse.
const FOREIGN: &[(&str, &str)] = &[
    ("job", "task"),
    ("jobs", "tasks"),
    ("worker", "node"),
    ("workers", "nodes"),
    ("minion", "node"),
    ("tenant", "project"),
    ("tenants", "projects"),
    ("daemonset", "workload"),
    ("pod", "workload"),
    ("pods", "workloads"),
];

pub fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts().filter(|(path, _)| is_public(path)) {
        for (number, line) in text.lines().enumerate() {
            for word in line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
                let known = FOREIGN.iter().find(|(foreign, _)| foreign.eq_ignore_ascii_case(word));
                if let Some((_, ours)) = known {
                    report.find(
                        "words",
                        format!("{path}:{}", number + 1),
                        format!("says `{word}`; our word is `{ours}` (see GLOSSARY.md)"),
                    );
                }
            }
        }
    }
}

fn is_public(path: &str) -> bool {
    let is_text = matches!(extension(path), "md" | "yaml" | "json");
    let is_of_others = path.starts_with("docs/adr/") || path == "docs/reference/modules.md";
    let is_guide = path.starts_with("docs/") && !is_of_others;
    is_text && (path == "README.md" || path.starts_with("examples/") || is_guide)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        let mut report = Report::default();
        check(&Tree::of([(path, text)]), &mut report);
        report.findings.len()
    }

    #[test]
    fn foreign_words_are_found_in_what_users_read() {
        assert_eq!(findings("docs/quickstart.md", "Your first Job, done"), 1);
        assert_eq!(findings("docs/quickstart.md", "a jobless task, job_name: hostler"), 0);
        assert_eq!(findings("docs/adr/0001-x.md", "Nomad calls it a job"), 0);
        assert_eq!(findings("GLOSSARY.md", "not job, not worker"), 0);
    }
}
