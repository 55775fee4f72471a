//! No addresses of package registries, and no paths of one developer's machine.
//!
//! Packages are named, never located: a mirror, a proxy or a vendored copy must do. `Cargo.lock` is
//! excepted, because cargo itself writes the registry's canonical name there.

use super::Report;
use crate::Tree;

/// Written in two halves, so that this file does not contain what it looks for.
const BANNED: &[(&str, &str)] = &[
    (concat!("registry.", "npmjs"), REGISTRY),
    (concat!("registry.", "yarnpkg"), REGISTRY),
    (concat!("crates.io-", "index"), REGISTRY),
    (concat!("index.", "crates.io"), REGISTRY),
    (concat!("static.", "crates.io"), REGISTRY),
    (concat!("files.", "pythonhosted"), REGISTRY),
    (concat!("pypi.", "org"), REGISTRY),
    (concat!("deb.", "debian.org"), REGISTRY),
    (concat!("/wo", "rk/"), DEVELOPER),
    (concat!("/ro", "ot/"), DEVELOPER),
    (concat!("/ho", "me/"), DEVELOPER),
];
const REGISTRY: &str = "names a package registry; name the package instead";
const DEVELOPER: &str = "is a path of somebody's machine; use a relative or a made-up one";

pub fn check(tree: &Tree, report: &mut Report) {
    for (path, text) in tree.texts().filter(|(path, _)| !path.ends_with("Cargo.lock")) {
        for (number, line) in text.lines().enumerate() {
            for (banned, why) in BANNED {
                if line.match_indices(banned).any(|(at, _)| is_whole(line, at)) {
                    report.find(
                        "address",
                        format!("{path}:{}", number + 1),
                        format!("`{banned}` {why}"),
                    );
                }
            }
        }
    }
}

/// A path is meant only where it begins: `a/work/b` is a relative one.
fn is_whole(line: &str, at: usize) -> bool {
    let is_path = line[at..].starts_with('/');
    let before = line[..at].chars().next_back();
    !is_path || !before.is_some_and(|c| c.is_ascii_alphanumeric() || "-_.}>*".contains(c))
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
    fn registries_and_developers_paths_are_found() {
        for (banned, _) in BANNED {
            assert_eq!(findings("a.json", &format!("\"{banned}x\"")), 1, "{banned}");
        }
    }

    #[test]
    fn the_lock_file_and_relative_paths_are_fine() {
        let line = concat!("source = \"crates.io-", "index\"");
        assert_eq!(findings("Cargo.lock", line), 0);
        assert_eq!(findings("fuzz/Cargo.lock", line), 0);
        assert_eq!(findings("a.rs", concat!("run_dir/wo", "rk/file")), 0);
    }
}
