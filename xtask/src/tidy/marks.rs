//! Nothing unfinished is committed: no stubs, no skipped tests, no silenced lints, no notes to self.

use super::Report;
use crate::Tree;
use crate::generate::is_generated;
use crate::tree::extension;

/// Written in two halves, so that this file does not contain what it looks for.
const MARKS: &[(&str, &str)] = &[
    (concat!("to", "do!("), "finish it"),
    (concat!("unimple", "mented!("), "finish it"),
    (concat!("#[ig", "nore"), "a test runs or does not exist; make it fast and steady"),
    (
        concat!("#[all", "ow("),
        "use #[expect(.., reason = \"..\")], which complains once it is not needed",
    ),
    (
        concat!("#![all", "ow("),
        "use #![expect(.., reason = \"..\")], which complains once it is not needed",
    ),
    (concat!("TO", "DO"), "do it, or open an issue"),
    (concat!("FIX", "ME"), "fix it, or open an issue"),
    (concat!("XX", "X"), "fix it, or open an issue"),
];

const EXTENSIONS: &[&str] =
    &["rs", "ts", "svelte", "mjs", "js", "css", "html", "sh", "sql", "proto", "toml", "yaml", "md"];

pub fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts() {
        let is_script = path.starts_with("scripts/") || path == "Makefile";
        if is_generated(path) || !(is_script || EXTENSIONS.contains(&extension(path))) {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            for (mark, advice) in MARKS {
                if contains_word(line, mark) {
                    report.find(
                        "unfinished",
                        format!("{path}:{}", number + 1),
                        format!("contains `{mark}`: {advice}"),
                    );
                }
            }
        }
    }
}

/// Whether the mark stands by itself and not inside a longer word (`mktemp` patterns, base64).
fn contains_word(line: &str, mark: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    let bounded_after = mark.ends_with(|c: char| c.is_ascii_alphanumeric());
    line.match_indices(mark).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + mark.len()..].chars().next();
        let fits_before = mark.starts_with('#') || !is_part(before);
        let fits_after = !bounded_after || mark.starts_with('#') || !is_part(after);
        fits_before && fits_after
    })
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
    fn every_mark_is_found() {
        for (mark, _) in MARKS {
            let line = format!("    {mark} something");
            assert_eq!(findings("crates/a/src/lib.rs", &line), 1, "{mark}");
        }
    }

    #[test]
    fn words_that_only_contain_a_mark_are_fine() {
        let template = concat!("mktemp -d /tmp/x.", "XXXX", "XX");
        assert_eq!(findings("scripts/test", template), 0);
        assert_eq!(findings("crates/a/src/lib.rs", "#[expect(dead_code)]"), 0);
        assert_eq!(findings("crates/a/src/x.snap", concat!("TO", "DO")), 0);
    }
}
