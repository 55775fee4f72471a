//! Files that steps leave for others.
//!
//! They are kept by their digest, so that a file that did not change is kept once, with a table of names beside them. A
//! name is the path relative to the working directory of the step that left it; asked for by its last part alone it is
//! found too.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

/// The artifacts of one execution.
pub(crate) struct Artifacts {
    folder: PathBuf,
    /// Where there are more.
    others: Vec<PathBuf>,
}

/// Where the table of names is.
const NAMES: &str = "names.json";

fn write_table(folder: &Path, table: &BTreeMap<String, String>) -> Result<(), String> {
    let text = serde_json::to_vec(table).expect("names can be written");
    fs::write(folder.join(NAMES), text).map_err(|error| error.to_string())
}

/// What a name means: the path of that name, or one that ends in it.
fn meant<'t>(
    table: &'t BTreeMap<String, PathBuf>,
    name: &str,
) -> Option<(&'t String, &'t PathBuf)> {
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path) == name;
    table.get_key_value(name).or_else(|| table.iter().find(|(path, _)| last(path)))
}

/// Names and digests, without what is none: the table may come from another machine, and leads nowhere else.
fn table_in(folder: &Path) -> BTreeMap<String, String> {
    let text = fs::read(folder.join(NAMES)).unwrap_or_default();
    let mut table: BTreeMap<String, String> = serde_json::from_slice(&text).unwrap_or_default();
    table.retain(|_, digest| digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit()));
    table
}

impl Artifacts {
    pub fn new(folder: PathBuf, others: Vec<PathBuf>) -> Artifacts {
        Artifacts { folder, others }
    }

    /// Names of what was kept.
    pub fn names(&self) -> Vec<String> {
        table_in(&self.folder).into_keys().collect()
    }

    /// Where what is kept lies, by name.
    fn everything(&self) -> BTreeMap<String, PathBuf> {
        let folders = self.others.iter().chain([&self.folder]);
        folders
            .flat_map(|folder| {
                table_in(folder).into_iter().map(|(name, digest)| (name, folder.join(digest)))
            })
            .collect()
    }

    /// Keeps what matches the patterns below a directory; says what matches nothing. A name that matches nothing is an
    /// error: somebody waits for that file.
    pub fn keep(&self, workdir: &Path, patterns: &[String]) -> Result<Vec<String>, String> {
        let mut missed = Vec::new();
        let mut table = table_in(&self.folder);
        fs::create_dir_all(&self.folder).map_err(|error| error.to_string())?;
        for pattern in patterns {
            let matcher = matcher(pattern);
            let mut found = Vec::new();
            walk(workdir, workdir, &mut |path| {
                if matcher.is_match(path) {
                    found.push(path.to_owned());
                }
            })
            .map_err(|error| format!("{}: {error}", workdir.display()))?;
            if found.is_empty() {
                let words =
                    format!("nothing in {} matches the artifact `{pattern}`", workdir.display());
                if !pattern.contains(['*', '?']) {
                    return Err(words);
                }
                missed.push(words);
            }
            for name in found {
                let bytes =
                    fs::read(workdir.join(&name)).map_err(|error| format!("{name}: {error}"))?;
                let digest = blake3::hash(&bytes).to_hex().to_string();
                let place = self.folder.join(&digest);
                if !place.exists() {
                    let fresh = self.folder.join(format!("{digest}.new"));
                    fs::copy(workdir.join(&name), &fresh)
                        .and_then(|_| fs::rename(&fresh, &place))
                        .map_err(|error| format!("{name}: {error}"))?;
                }
                table.insert(name, digest);
            }
        }
        write_table(&self.folder, &table)?;
        Ok(missed)
    }

    /// Whether somebody left it.
    pub fn has(&self, name: &str) -> bool {
        meant(&self.everything(), name).is_some()
    }

    /// Puts what is meant by some names into another place of the kind, for somebody who cannot come here.
    pub fn lend(&self, names: &[String], folder: &Path) -> Result<(), String> {
        let everything = self.everything();
        let mut table = BTreeMap::new();
        for name in names {
            let Some((path, place)) = meant(&everything, name) else { continue };
            let digest = place.file_name().unwrap_or_default();
            fs::copy(place, folder.join(digest)).map_err(|error| format!("{name}: {error}"))?;
            table.insert(path.clone(), digest.to_string_lossy().into_owned());
        }
        write_table(folder, &table)
    }

    /// Keeps what was kept in another place of the kind. Whoever did that is not believed.
    pub fn take_over(&self, folder: &Path) -> Result<(), String> {
        let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file());
        if !is_file(&folder.join(NAMES)) {
            return Ok(());
        }
        let mut table = table_in(&self.folder);
        fs::create_dir_all(&self.folder).map_err(|error| error.to_string())?;
        for (name, digest) in table_in(folder) {
            let source = folder.join(&digest);
            let inside =
                Path::new(&name).components().all(|part| matches!(part, Component::Normal(_)));
            if !inside || !is_file(&source) {
                return Err(format!("the artifact `{name}` is none"));
            }
            let bytes = fs::read(&source).map_err(|error| format!("{name}: {error}"))?;
            if *blake3::hash(&bytes).to_hex() != *digest {
                return Err(format!("the artifact `{name}` was changed after it was left"));
            }
            let place = self.folder.join(&digest);
            if !place.exists() {
                let fresh = self.folder.join(format!("{digest}.new"));
                fs::copy(&source, &fresh)
                    .and_then(|_| fs::rename(&fresh, &place))
                    .map_err(|error| format!("{name}: {error}"))?;
            }
            table.insert(name, digest);
        }
        write_table(&self.folder, &table)
    }

    /// Puts an artifact into a directory.
    pub fn place(&self, name: &str, workdir: &Path) -> Result<(), String> {
        let table = self.everything();
        let Some((path, place)) = meant(&table, name) else {
            let known: Vec<&str> = table.keys().map(String::as_str).collect();
            let known = if known.is_empty() {
                "none was left".to_owned()
            } else {
                format!("there are {}", known.join(", "))
            };
            return Err(format!("there is no artifact `{name}`; {known}"));
        };
        if !fs::symlink_metadata(place).is_ok_and(|meta| meta.is_file()) {
            return Err(format!("the artifact `{path}` is not there"));
        }
        let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(format!("the artifact `{path}` leads out of the working directory"));
        }
        let target = workdir.join(if table.contains_key(name) { path } else { name });
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(|error| error.to_string())?;
        }
        fs::copy(place, &target).map(drop).map_err(|error| format!("{name}: {error}"))
    }
}

/// Calls for every file below a directory with its path relative to the first; links are not followed.
fn walk(base: &Path, folder: &Path, found: &mut dyn FnMut(&str)) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<io::Result<_>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        let path = entry.path();
        if kind.is_dir() {
            walk(base, &path, found)?;
        } else if kind.is_file()
            && let Ok(name) = path.strip_prefix(base)
            && let Some(name) = name.to_str()
        {
            found(name);
        }
    }
    Ok(())
}

/// `*` and `?` within a part of the path, `**` over several.
fn matcher(pattern: &str) -> Regex {
    let pattern = pattern.trim_start_matches("./");
    let mut written = String::from("^");
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("**/") {
            written.push_str("(?:.*/)?");
            rest = after;
            continue;
        }
        match c {
            '*' if rest.starts_with("**") => {
                written.push_str(".*");
                rest = &rest[2..];
                continue;
            }
            '*' => written.push_str("[^/]*"),
            '?' => written.push_str("[^/]"),
            c => written.push_str(&regex::escape(&c.to_string())),
        }
        rest = &rest[c.len_utf8()..];
    }
    written.push('$');
    Regex::new(&written).expect("everything else was escaped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_shells() {
        for (pattern, path, expected) in [
            ("*.txt", "a.txt", true),
            ("*.txt", "b/a.txt", false),
            ("**/*.txt", "b/c/a.txt", true),
            ("**/*.txt", "a.txt", true),
            ("dist/**", "dist/a/b", true),
            ("app.bin", "app.bin", true),
            ("app.bin", "appXbin", false),
            ("./a?c", "abc", true),
        ] {
            assert_eq!(matcher(pattern).is_match(path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn what_is_kept_is_placed_elsewhere() {
        let base = tempfile::tempdir().unwrap();
        let (one, two) = (base.path().join("one"), base.path().join("two"));
        fs::create_dir_all(one.join("out")).unwrap();
        fs::create_dir_all(&two).unwrap();
        fs::write(one.join("out/app.bin"), b"bits").unwrap();
        let artifacts = Artifacts::new(base.path().join("execution"), Vec::new());
        assert!(artifacts.keep(&one, &["out/*".into()]).unwrap().is_empty());
        assert_eq!(artifacts.names(), ["out/app.bin"]);
        artifacts.place("app.bin", &two).unwrap();
        assert_eq!(fs::read(two.join("app.bin")).unwrap(), b"bits");
        artifacts.place("out/app.bin", &two).unwrap();
        assert!(two.join("out/app.bin").exists());
        assert!(artifacts.place("nope", &two).unwrap_err().contains("out/app.bin"));
        assert!(artifacts.keep(&one, &["none.bin".into()]).is_err());
        let missed = artifacts.keep(&one, &["*.none".into(), "out/*".into()]).unwrap();
        assert!(missed.len() == 1 && missed[0].contains("`*.none`"), "{missed:?}");
    }

    #[test]
    fn what_is_lent_comes_back_unless_it_was_changed() {
        let base = tempfile::tempdir().unwrap();
        let [work, lent, back] = ["work", "lent", "back"].map(|name| base.path().join(name));
        fs::create_dir_all(work.join("out")).unwrap();
        fs::create_dir_all(&lent).unwrap();
        fs::write(work.join("out/app"), b"bits").unwrap();
        let artifacts = Artifacts::new(base.path().join("execution"), Vec::new());
        artifacts.keep(&work, &["out/*".into()]).unwrap();
        assert!(artifacts.has("app") && artifacts.has("out/app") && !artifacts.has("out"));
        artifacts.lend(&["app".into(), "none".into()], &lent).unwrap();
        let other = Artifacts::new(back, Vec::new());
        other.take_over(&work).unwrap();
        assert!(other.names().is_empty(), "nothing was kept there");
        other.take_over(&lent).unwrap();
        assert_eq!(other.names(), ["out/app"]);
        let digest = blake3::hash(b"bits").to_hex().to_string();
        fs::write(lent.join(digest), b"others").unwrap();
        assert!(other.take_over(&lent).unwrap_err().contains("was changed"));
    }

    #[test]
    fn a_table_of_others_leads_nowhere_else() {
        let base = tempfile::tempdir().unwrap();
        let [secret, left, work] = ["secret", "left", "work"].map(|name| base.path().join(name));
        fs::write(&secret, b"canary").unwrap();
        fs::create_dir_all(&left).unwrap();
        fs::create_dir_all(&work).unwrap();
        let link = "a".repeat(64);
        std::os::unix::fs::symlink(&secret, left.join(&link)).unwrap();
        let table = serde_json::json!({ "one": secret, "two": "../secret", "three": link });
        fs::write(left.join("names.json"), table.to_string()).unwrap();
        let artifacts = Artifacts::new(work.join(".none"), vec![left]);
        for name in ["one", "two", "three"] {
            assert!(artifacts.place(name, &work).is_err(), "{name}");
            assert!(!work.join(name).exists());
        }
    }
}
