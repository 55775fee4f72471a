//! Files aim under 500 lines and stop at 1,000: a longer one holds more than one noun.

use super::Report;
use crate::Tree;
use crate::generate::is_generated;
use crate::tree::extension;

const AIM: usize = 500;
const STOP: usize = 1000;

pub fn check(tree: &Tree, report: &mut Report) {
    let mut long = Vec::new();
    for (path, text) in tree.texts() {
        if !matches!(extension(path), "rs" | "ts" | "svelte" | "mjs") || is_generated(path) {
            continue;
        }
        let lines = text.lines().count();
        if lines > STOP {
            report.find("size", path, format!("{lines} lines, more than {STOP}; split it by noun"));
        } else if lines > AIM {
            long.push((lines, path));
        }
    }
    long.sort_unstable_by(|a, b| b.cmp(a));
    for (lines, path) in long {
        report.note(format!("{path} has {lines} lines (aim: under {AIM})"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_files_are_noted_and_longer_ones_found() {
        let (ok, long, longer) = ("x\n".repeat(500), "x\n".repeat(501), "x\n".repeat(1001));
        let tree = Tree::of([
            ("crates/a/src/ok.rs", ok.as_str()),
            ("crates/a/src/long.rs", &long),
            ("web/src/App.svelte", &longer),
            ("crates/proto/src/gen/big.rs", &longer),
            ("docs/long.md", &longer),
        ]);
        let mut report = Report::default();
        check(&tree, &mut report);
        assert_eq!(report.notes.len(), 1);
        assert_eq!(report.findings.len(), 1);
        assert_eq!(report.findings[0].place, "web/src/App.svelte");
    }
}
