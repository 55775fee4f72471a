//! Where the text of a definition comes from: one main file, and those that it imports.
//!
//! While it is defined, files are asked for by name ([`Files`]); which of them were used is noted, so that the same
//! [`Bundle`] can travel to where its steps run. Names are relative to the main file, are written with `/`, and
//! never lead out of its directory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Text of a main file and of what it imports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// Name of the main file, for messages.
    pub name: String,
    pub text: String,
    /// The others, by their name relative to the main file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

/// Gives the text of a file by its name relative to the main file.
pub trait Files {
    fn text(&self, name: &str) -> Option<String>;
}

/// There is only the main file.
pub struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _: &str) -> Option<String> {
        None
    }
}

impl Files for BTreeMap<String, String> {
    fn text(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }
}

/// Files below a directory.
pub struct FolderFiles {
    folder: PathBuf,
}

impl FolderFiles {
    /// The largest file that is read.
    const MAX: u64 = 4 << 20;

    pub fn beside(main: &Path) -> FolderFiles {
        let folder = main.parent().filter(|p| !p.as_os_str().is_empty());
        FolderFiles { folder: folder.unwrap_or(Path::new(".")).to_owned() }
    }
}

impl Files for FolderFiles {
    fn text(&self, name: &str) -> Option<String> {
        let path = self.folder.join(name);
        let small = std::fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= Self::MAX);
        if small { std::fs::read_to_string(path).ok() } else { None }
    }
}

/// Files that were asked for and found, and the answers.
pub(crate) struct Library {
    files: Box<dyn Files>,
    used: RefCell<BTreeMap<String, String>>,
}

impl Library {
    pub fn new(files: Box<dyn Files>) -> Library {
        Library { files, used: RefCell::default() }
    }

    pub fn text(&self, name: &str) -> Option<String> {
        if let Some(text) = self.used.borrow().get(name) {
            return Some(text.clone());
        }
        let text = self.files.text(name)?;
        self.used.borrow_mut().insert(name.to_owned(), text.clone());
        Some(text)
    }

    pub fn used(&self) -> BTreeMap<String, String> {
        self.used.borrow().clone()
    }
}

/// `name` as seen from the file `from`, or nothing when it would lead out of the main file's directory.
pub(crate) fn resolve(from: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    (!name.starts_with('/') && !parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_seen_from_the_file_and_never_lead_out() {
        for (from, name, expected) in [
            ("main.sloth", "shared/docker.lua", Some("shared/docker.lua")),
            ("shared/a.lua", "b.lua", Some("shared/b.lua")),
            ("shared/a.lua", "../c.lua", Some("c.lua")),
            ("main.sloth", "./x.lua", Some("x.lua")),
            ("main.sloth", "../x.lua", None),
            ("shared/a.lua", "../../x.lua", None),
            ("main.sloth", "/etc/passwd", None),
            ("main.sloth", "", None),
        ] {
            assert_eq!(resolve(from, name).as_deref(), expected, "{name} from {from}");
        }
    }
}
