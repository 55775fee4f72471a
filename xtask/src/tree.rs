//! The text of every file that git tracks, or would track if it were added.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

pub struct Tree {
    root: PathBuf,
    /// Path relative to the root, and the text; `None` for what is not text.
    files: BTreeMap<String, Option<String>>,
}

impl Tree {
    /// Reads the working tree; what git ignores is not part of it.
    pub fn open(root: &Path) -> anyhow::Result<Tree> {
        #[expect(clippy::disallowed_methods, reason = "a chore, not a workload")]
        let output = Command::new("git")
            .args(["-c", "safe.directory=*", "ls-files", "-z"])
            .args(["--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .context("tidy asks git which files belong to the project; is git installed?")?;
        ensure!(
            output.status.success(),
            "git ls-files failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let listed = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        let mut files = BTreeMap::new();
        for path in listed.split('\0').filter(|path| !path.is_empty()) {
            match std::fs::read(root.join(path)) {
                Ok(bytes) => files.insert(path.to_owned(), String::from_utf8(bytes).ok()),
                // Removed from disk but not yet from the index.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error).with_context(|| format!("reading {path}")),
            };
        }
        Ok(Tree { root: root.to_owned(), files })
    }

    /// A tree that exists only here, for the tests of the rules.
    pub fn of<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Tree {
        let files = files
            .into_iter()
            .map(|(path, text)| (path.to_owned(), Some(text.to_owned())))
            .collect();
        Tree { root: PathBuf::new(), files }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether there is such a file or folder.
    pub fn has(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        path.is_empty()
            || self.files.contains_key(path)
            || self
                .files
                .range(format!("{path}/")..)
                .next()
                .is_some_and(|(first, _)| first.starts_with(&format!("{path}/")))
    }

    pub fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.as_deref()
    }

    /// Every text file with its path.
    pub fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().filter_map(|(path, text)| Some((path.as_str(), text.as_deref()?)))
    }
}

/// The part of a path after its last dot.
pub fn extension(path: &str) -> &str {
    match path.rsplit('/').next().unwrap_or(path).rsplit_once('.') {
        Some((_, extension)) => extension,
        None => "",
    }
}
