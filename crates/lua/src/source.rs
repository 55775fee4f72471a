//! Where the text of a definition comes from: one main file, those that it imports, and modules that a server keeps.
//!
//! While it is defined, files are asked for by name ([`Files`]); which of them were used is noted, so that the same
//! [`Bundle`] can travel to where its steps run. Names are relative to the main file, are written with `/`, and
//! never lead out of its directory.
//!
//! A module that a server keeps lies in a folder of its own, whose name tells its version and ends with `//`, which no
//! name of a file beside the main one can have. In a bundle `web@3//lib/x.lua` is a file of the third version of `web`,
//! and the folder alone, `web@3//`, says which of them is its main file. What that module needs of others was settled
//! when it was kept, and lies in folders within its own: `web@3//note@1//note.lua`. So what a bundle was made of stays
//! what it is, whatever is kept later.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hostler_model::workflow::{ModuleAsk, ModuleRef};
use serde::{Deserialize, Serialize};

/// What the folder of a kept module ends with.
const FOLDER: &str = "//";

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

impl Bundle {
    /// How many bytes of text there are.
    pub fn size(&self) -> usize {
        self.text.len() + self.files.values().map(String::len).sum::<usize>()
    }

    /// Versions of kept modules that are part of it, also of those that modules need.
    pub fn modules(&self) -> Vec<ModuleRef> {
        let folders = self.files.keys().filter_map(|name| name.strip_suffix(FOLDER));
        let last = |folder: &str| {
            ModuleRef::of(folder.rsplit_once(FOLDER).map_or(folder, |(_, last)| last))
        };
        folders.filter_map(last).collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// How deep modules are nested in it.
    pub fn depth(&self) -> usize {
        self.files.keys().map(|name| name.matches(FOLDER).count()).max().unwrap_or(0)
    }

    /// Without the modules that a server keeps.
    pub fn alone(mut self) -> Bundle {
        self.files.retain(|name, _| !is_kept(name));
        self
    }

    /// Its texts by the names that they have as the module of this name and version.
    pub(crate) fn as_module(&self, module: &ModuleRef) -> BTreeMap<String, String> {
        let folder = format!("{module}{FOLDER}");
        let others =
            self.files.iter().map(|(name, text)| (format!("{folder}{name}"), text.clone()));
        let mut texts: BTreeMap<String, String> = others.collect();
        texts.insert(format!("{folder}{}", self.name), self.text.clone());
        texts.insert(folder, self.name.clone());
        texts
    }
}

/// Whether a name in a bundle is one of a kept module.
pub fn is_kept(name: &str) -> bool {
    name.contains(FOLDER)
}

/// Gives the text of a file by its name relative to the main file.
pub trait Files {
    fn text(&self, name: &str) -> Option<String>;

    /// The version of a kept module that is meant in the folder `within`, and every text of it.
    fn module(&self, _within: &str, _ask: &ModuleAsk) -> Option<(u32, BTreeMap<String, String>)> {
        None
    }

    /// Where modules are looked for besides, in words; nothing where there is no such place.
    fn shelf(&self) -> Option<&'static str> {
        None
    }
}

/// There is only the main file.
pub struct NoFiles;

impl Files for NoFiles {
    fn text(&self, _: &str) -> Option<String> {
        None
    }
}

/// The files of a bundle.
impl Files for BTreeMap<String, String> {
    fn text(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }

    fn module(&self, within: &str, ask: &ModuleAsk) -> Option<(u32, BTreeMap<String, String>)> {
        let below = |prefix: String| {
            self.range(prefix.clone()..).take_while(move |(name, _)| name.starts_with(&prefix))
        };
        let named = format!("{within}{}@", ask.name);
        let version_of = |name: &str| {
            let number = name.strip_prefix(&named)?.strip_suffix(FOLDER)?;
            number.parse::<u32>().ok()
        };
        let newest = || below(named.clone()).filter_map(|(name, _)| version_of(name)).max();
        let version = ask.version.or_else(newest)?;
        let folder = format!("{named}{version}{FOLDER}");
        self.get(&folder)?;
        Some((version, below(folder).map(|(name, text)| (name.clone(), text.clone())).collect()))
    }

    fn shelf(&self) -> Option<&'static str> {
        Some("among what came with the workflow")
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
    /// Folders of modules by where and how they were asked for.
    folders: RefCell<BTreeMap<(String, ModuleAsk), String>>,
}

impl Library {
    pub fn new(files: Box<dyn Files>) -> Library {
        Library { files, used: RefCell::default(), folders: RefCell::default() }
    }

    pub fn text(&self, name: &str) -> Option<String> {
        if let Some(text) = self.used.borrow().get(name) {
            return Some(text.clone());
        }
        if is_kept(name) {
            return None;
        }
        let text = self.files.text(name)?;
        self.used.borrow_mut().insert(name.to_owned(), text.clone());
        Some(text)
    }

    /// The main file of a kept module that a file asks for. What the folder of the file does not have, the one around
    /// everything may.
    pub fn module(&self, from: &str, ask: &ModuleAsk) -> Option<String> {
        let folder = self.folder(folder_of(from), ask).or_else(|| self.folder("", ask))?;
        let main = self.text(&folder)?;
        Some(format!("{folder}{main}"))
    }

    fn folder(&self, within: &str, ask: &ModuleAsk) -> Option<String> {
        let key = (within.to_owned(), ask.clone());
        if let Some(folder) = self.folders.borrow().get(&key) {
            return Some(folder.clone());
        }
        let (version, texts) = self.files.module(within, ask)?;
        self.used.borrow_mut().extend(texts);
        let folder = format!("{within}{}@{version}{FOLDER}", ask.name);
        self.folders.borrow_mut().insert(key, folder.clone());
        Some(folder)
    }

    pub fn used(&self) -> BTreeMap<String, String> {
        self.used.borrow().clone()
    }

    pub fn shelf(&self) -> Option<&'static str> {
        self.files.shelf()
    }
}

/// The folder of the module that a file belongs to; empty for what belongs to none.
pub(crate) fn folder_of(file: &str) -> &str {
    file.rfind(FOLDER).map_or("", |at| &file[..at + FOLDER.len()])
}

/// What a text is known by once it was run: a version of a module is the same wherever it lies.
pub(crate) fn identity(file: &str) -> &str {
    let folder = folder_of(file);
    let outer = folder.strip_suffix(FOLDER).and_then(|inner| inner.rfind(FOLDER));
    outer.map_or(file, |at| &file[at + FOLDER.len()..])
}

/// `name` as seen from the file `from`, or nothing when it would lead out of the directory of the main file, or of the
/// folder of its module.
pub(crate) fn resolve(from: &str, name: &str) -> Option<String> {
    let folder = folder_of(from);
    let mut parts: Vec<&str> = from[folder.len()..].split('/').collect();
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
    (!name.starts_with('/') && !parts.is_empty()).then(|| format!("{folder}{}", parts.join("/")))
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
            ("main.sloth", "web@3//x.lua", Some("web@3/x.lua")),
            ("web@3//web.lua", "lib/x.lua", Some("web@3//lib/x.lua")),
            ("web@3//lib/x.lua", "../y.lua", Some("web@3//y.lua")),
            ("web@3//web.lua", "../main.sloth", None),
            ("web@3//note@1//lib/x.lua", "y.lua", Some("web@3//note@1//lib/y.lua")),
        ] {
            assert_eq!(resolve(from, name).as_deref(), expected, "{name} from {from}");
        }
    }

    #[test]
    fn a_module_is_itself_wherever_it_lies() {
        for (file, expected) in [
            ("main.sloth", "main.sloth"),
            ("lib/x.lua", "lib/x.lua"),
            ("web@3//lib/x.lua", "web@3//lib/x.lua"),
            ("web@3//note@1//x.lua", "note@1//x.lua"),
            ("a@1//web@3//note@1//x.lua", "note@1//x.lua"),
        ] {
            assert_eq!(identity(file), expected);
        }
    }

    #[test]
    fn a_bundle_finds_the_modules_in_it() {
        let note = |text: &str| Bundle {
            name: "note.lua".to_owned(),
            text: text.to_owned(),
            files: BTreeMap::from([("lib/x.lua".to_owned(), "x".to_owned())]),
        };
        let module = |name: &str, version| ModuleRef { name: name.to_owned(), version };
        let mut web = Bundle { name: "init.lua".to_owned(), text: "w".to_owned(), ..note("") };
        web.files.extend(note("first").as_module(&module("note", 1)));
        let mut main = Bundle { name: "main.sloth".to_owned(), ..Bundle::default() };
        main.files.extend(web.as_module(&module("web", 3)));
        for version in [2, 10] {
            main.files.extend(note("later").as_module(&module("note", version)));
        }
        let told: Vec<String> = main.modules().iter().map(ToString::to_string).collect();
        assert_eq!(told, ["note@1", "note@2", "note@10", "web@3"]);
        assert_eq!(main.depth(), 2);
        let ask = |word: &str| ModuleAsk::of(word).unwrap();
        let found = |within: &str, word: &str| main.files.module(within, &ask(word));
        assert_eq!(found("", "note").unwrap().0, 10);
        assert_eq!(found("", "note@2").unwrap().1.len(), 3);
        assert_eq!(found("", "note@3"), None);
        assert_eq!(found("", "we"), None);
        let (version, texts) = found("web@3//", "note").unwrap();
        assert_eq!((version, texts["web@3//note@1//note.lua"].as_str()), (1, "first"));
        assert_eq!(main.clone().alone().files, BTreeMap::new());
    }
}
