//! Files that a template names, found beside it and sent along.
//!
//! A server never reads files of whoever asks it. So whatever a template, a template below it or an environment names is
//! read here: `get_file`, types that are templates, and what registries register. Each is sent under its `file://`
//! address, and the name in the text becomes that address. The rest of the text stays as it was written, so that what is
//! wrong with it is told at its line.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use hostler_client::encode_data;
use hostler_template::diagnostic::{Diagnostic, Diagnostics, Fault};
use hostler_template::place::{Path as Spot, Place};
use hostler_template::read::{self, Kind};
use hostler_template::value::{Data, Entry, Node};

use super::super::Cx;
use crate::failure::Failure;

/// How long a file may be.
const SIZE_MAX: u64 = 8 << 20;
/// Words by which a text is known to be a template.
const VERSIONS: [&str; 3] =
    ["heat_template_version", "HeatTemplateFormatVersion", "AWSTemplateFormatVersion"];

/// What was collected so far.
#[derive(Default)]
pub struct Files {
    /// By address.
    pub texts: BTreeMap<String, String>,
    /// How people call what has an address.
    pub names: BTreeMap<String, String>,
    wrong: Diagnostics,
}

/// Where names in a text lead to.
enum Base {
    Folder(PathBuf),
    /// Somewhere in a network.
    Away(String),
}

/// A name in a text that becomes an address.
struct Edit {
    place: Option<Place>,
    from: String,
    to: String,
}

impl Files {
    /// Reads a template, and all that it names. `-` is stdin.
    pub fn template(&mut self, cx: &Cx, path: &Path) -> Result<String, Failure> {
        let (name, text, base) = self.read(cx, path)?;
        Ok(self.rewritten(Kind::Template, &name, &text, base))
    }

    /// Reads an environment, and all that it registers; gives its address.
    pub fn environment(&mut self, cx: &Cx, path: &Path) -> Result<String, Failure> {
        let (name, text, base) = self.read(cx, path)?;
        let address = match path == Path::new("-") {
            true => name.clone(),
            false => address(&absolute(path)?),
        };
        self.names.insert(address.clone(), name.clone());
        let text = self.rewritten(Kind::Environment, &name, &text, base);
        self.texts.insert(address.clone(), text);
        Ok(address)
    }

    /// Everything that is wrong so far, as a failure.
    pub fn check(&self) -> Result<(), Failure> {
        if self.wrong.is_empty() {
            return Ok(());
        }
        let hint = if self.wrong.len() == 1 { "correct it" } else { "correct them" };
        Err(Failure::usage(self.wrong.to_string(), format!("{hint}; nothing was sent")))
    }

    fn read(&self, cx: &Cx, path: &Path) -> Result<(String, String, Base), Failure> {
        if path == Path::new("-") {
            let folder = std::env::current_dir()?;
            return Ok(("stdin".to_owned(), cx.ui.input_all()?, Base::Folder(folder)));
        }
        let name = path.display().to_string();
        let bytes = contents(path).map_err(|why| {
            Failure::usage(format!("{name} cannot be read: {why}"), "name a file with a template")
        })?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::usage(format!("{name} is no text in UTF-8"), "name a file with a template")
        })?;
        let folder = absolute(path)?.parent().map(Path::to_owned).unwrap_or_default();
        Ok((name, text, Base::Folder(folder)))
    }

    /// A text whose names of files are addresses; as it was where it is wrong.
    fn rewritten(&mut self, kind: Kind, name: &str, text: &str, base: Base) -> String {
        let mut root = match read::text(kind, name, text) {
            Ok(document) => document.root,
            Err(wrong) => {
                self.wrong.extend(wrong);
                return text.to_owned();
            }
        };
        let mut found = Found { files: self, base, edits: Vec::new(), wrong: Diagnostics::new() };
        match kind {
            Kind::Template => found.walk(&mut root),
            Kind::Environment => found.registry(&mut root),
        }
        let Found { edits, wrong, .. } = found;
        self.wrong.extend(wrong.in_file(name, Some(text)));
        if edits.is_empty() {
            return text.to_owned();
        }
        let is_same = |edited: &String| {
            read::text(kind, name, edited).is_ok_and(|it| it.root.to_json() == root.to_json())
        };
        // A name may be written in a way that cannot be changed in its line: over several of them, or behind an anchor.
        edited(text, edits).filter(is_same).unwrap_or_else(|| format!("{:#}", root.to_json()))
    }

    /// Takes a file in, with what it names if it is a template.
    fn take(&mut self, path: &Path, must_be_template: bool) -> Result<String, String> {
        let address = address(path);
        if self.texts.contains_key(&address) {
            return Ok(address);
        }
        let bytes = contents(path)?;
        let name = shown(path);
        self.names.insert(address.clone(), name.clone());
        let Ok(text) = String::from_utf8(bytes.clone()) else {
            self.texts.insert(address.clone(), encode_data(&bytes));
            return Ok(address);
        };
        self.texts.insert(address.clone(), text.clone());
        if must_be_template || is_template(&text) {
            let folder = path.parent().map(Path::to_owned).unwrap_or_default();
            let text = self.rewritten(Kind::Template, &name, &text, Base::Folder(folder));
            self.texts.insert(address.clone(), text);
        }
        Ok(address)
    }
}

/// A walk through one text.
struct Found<'a> {
    files: &'a mut Files,
    base: Base,
    edits: Vec<Edit>,
    wrong: Diagnostics,
}

impl Found<'_> {
    fn walk(&mut self, node: &mut Node) {
        match &mut node.data {
            Data::List(items) => items.iter_mut().for_each(|item| self.walk(item)),
            Data::Map(entries) => {
                for entry in entries {
                    let is_type = entry.key == "type" && entry.node.as_str().is_some_and(is_file);
                    if is_type || entry.key == "get_file" && entry.node.as_str().is_some() {
                        self.take(entry, is_type);
                    } else {
                        self.walk(&mut entry.node);
                    }
                }
            }
            _ => {}
        }
    }

    /// Types that lead to templates, for all resources and for single ones.
    fn registry(&mut self, root: &mut Node) {
        if let Some(entries) = section(root, "resource_registry") {
            self.level(entries);
        }
    }

    fn level(&mut self, entries: &mut [Entry]) {
        let here = entries.iter().find(|entry| entry.key == "base_url");
        let here = here.and_then(|entry| entry.node.as_str()).map(|base| self.base.at(base));
        let above = here.map(|here| std::mem::replace(&mut self.base, here));
        for entry in entries {
            match &mut entry.node.data {
                Data::Map(below) if !is_rule(&entry.key) => self.level(below),
                Data::String(target) if !is_rule(&entry.key) && !target.contains("::") => {
                    self.take(entry, true);
                }
                _ => {}
            }
        }
        if let Some(above) = above {
            self.base = above;
        }
    }

    fn take(&mut self, entry: &mut Entry, must_be_template: bool) {
        let Some(given) = entry.node.as_str().map(str::to_owned) else { return };
        let place = entry.node.place;
        let taken = match self.base.at(&given) {
            Base::Folder(path) => self.files.take(&path, must_be_template),
            Base::Away(_) => Err(
                "it is in a network, from where nothing is fetched: keep it as a file beside this one"
                    .to_owned(),
            ),
        };
        match taken {
            Ok(to) => {
                entry.node.data = Data::String(to.clone());
                self.edits.push(Edit { place, from: given, to });
            }
            Err(why) => {
                let spot = Spot::of([entry.key.as_str()]);
                let found = Diagnostic::new(Fault::FileMissing, &spot, format!("{given}: {why}"));
                self.wrong.push(found.at(place));
            }
        }
    }
}

fn section<'a>(root: &'a mut Node, name: &str) -> Option<&'a mut Vec<Entry>> {
    let Data::Map(entries) = &mut root.data else { return None };
    let found = entries.iter_mut().find(|entry| entry.key == name)?;
    match &mut found.node.data {
        Data::Map(entries) => Some(entries),
        _ => None,
    }
}

/// What a registry says that is no type.
fn is_rule(key: &str) -> bool {
    matches!(key, "base_url" | "hooks" | "restricted_actions")
}

fn is_file(name: &str) -> bool {
    name.ends_with(".yaml") || name.ends_with(".template")
}

fn is_template(text: &str) -> bool {
    let read = read::text(Kind::Template, "", text);
    read.is_ok_and(|it| VERSIONS.iter().any(|word| it.root.get(word).is_some()))
}

impl Base {
    /// Where a name leads to from here.
    fn at(&self, name: &str) -> Base {
        match (self, name.split_once("://")) {
            (_, Some(("file", path))) => Base::Folder(plain(Path::new(&decoded(path)))),
            (_, Some(_)) => Base::Away(name.to_owned()),
            (Base::Folder(folder), None) => Base::Folder(plain(&folder.join(name))),
            (Base::Away(base), None) => Base::Away(format!("{base}/{name}")),
        }
    }
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    Ok(plain(&std::path::absolute(path)?))
}

/// Without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Relative to where we are, where it is below that.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}

fn contents(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("there is no file {}", shown(path)),
        _ => error.to_string(),
    })?;
    let mut bytes = Vec::new();
    file.take(SIZE_MAX + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > SIZE_MAX {
        return Err(format!("it is larger than {} MiB", SIZE_MAX >> 20));
    }
    Ok(bytes)
}

/// `file:///srv/web.yaml`.
fn address(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    let mut address = "file://".to_owned();
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                address.push(char::from(*byte));
            }
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address
}

fn decoded(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A text in which names are replaced where they stand; nothing when one of them stands otherwise than it reads.
fn edited(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    edits.sort_by_key(|edit| edit.place);
    edits.dedup_by_key(|edit| edit.place);
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for edit in edits.into_iter().rev() {
        let place = edit.place?;
        let line = lines.get_mut(usize::try_from(place.line).ok()?.checked_sub(1)?)?;
        let column = usize::try_from(place.column).ok()?.checked_sub(1)?;
        let at = line.char_indices().nth(column)?.0;
        let Edit { from, to, .. } = edit;
        let forms = [format!("\"{from}\""), format!("'{from}'"), from];
        let length = forms.iter().find(|form| line[at..].starts_with(form.as_str()))?.len();
        line.replace_range(at..at + length, &format!("\"{to}\""));
    }
    Some(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn rewritten(kind: Kind, text: &str, folder: &Path) -> (String, Files) {
        let mut files = Files::default();
        let text = files.rewritten(kind, "root.yaml", text, Base::Folder(folder.to_owned()));
        (text, files)
    }

    const INNER: &str = "heat_template_version: 2021-04-16\nresources: { v: { type: OS::Heat::Value, properties: { value: { get_file: ../say.txt } } } }\n";

    #[test]
    fn what_a_template_names_is_found_beside_it_and_below() {
        let folder = folder(&[("say.txt", "hello"), ("in/inner.yaml", INNER)]);
        let root = "heat_template_version: 2021-04-16 # stays\nresources:\n  a: { type: in/inner.yaml }\n  b:\n    type: OS::Heat::Value\n    properties: { value: { get_file: 'say.txt' }, type: text }\n";
        let (text, files) = rewritten(Kind::Template, root, folder.path());
        files.check().unwrap();
        let at = |name: &str| address(&folder.path().join(name));
        let expected = root
            .replace("in/inner.yaml", &format!("\"{}\"", at("in/inner.yaml")))
            .replace("'say.txt'", &format!("\"{}\"", at("say.txt")));
        assert_eq!(text, expected);
        assert_eq!(files.texts[&at("say.txt")], "hello");
        assert!(files.texts[&at("in/inner.yaml")].contains(&at("say.txt")));
        assert_eq!(files.texts.len(), 2);
    }

    #[test]
    fn environments_register_templates_and_leave_types_and_rules_alone() {
        let folder = folder(&[("t/a.yaml", INNER), ("say.txt", "x")]);
        let text = "resource_registry:\n  My::A: t/a.yaml\n  My::B: OS::Heat::None\n  resources:\n    one: { hooks: pre-create, My::A: t/a.yaml }\n    two: { base_url: t/, My::C: a.yaml }\n";
        let (text, files) = rewritten(Kind::Environment, text, folder.path());
        files.check().unwrap();
        assert_eq!(text.matches(&address(&folder.path().join("t/a.yaml"))).count(), 3, "{text}");
        assert!(text.contains("My::B: OS::Heat::None") && text.contains("hooks: pre-create"));
    }

    #[test]
    fn what_is_missing_or_away_is_told_at_its_place() {
        let folder = folder(&[]);
        let root = "heat_template_version: 2021-04-16\nresources:\n  a: { type: gone.yaml }\n  b: { type: https://example.org/b.yaml }\n";
        let (_, files) = rewritten(Kind::Template, root, folder.path());
        let Err(Failure::Told { detail, .. }) = files.check() else { panic!("nothing is wrong") };
        assert!(detail.contains("root.yaml:3:14: type: gone.yaml: there is no file"), "{detail}");
        assert!(
            detail.contains("root.yaml:4:14: type: https://example.org/b.yaml: it is in a network"),
            "{detail}"
        );
        assert!(detail.contains('^'), "{detail}");
    }

    #[test]
    fn names_that_cannot_be_changed_in_their_line_are_changed_all_the_same() {
        let folder = folder(&[("say.txt", "x")]);
        for name in ["\"say.\\x74xt\"", ">-\n        say.txt"] {
            let root = format!(
                "heat_template_version: 2021-04-16\noutputs:\n  a:\n    value:\n      get_file: {name}\n"
            );
            let (text, files) = rewritten(Kind::Template, &root, folder.path());
            files.check().unwrap();
            let read = read::text(Kind::Template, "", &text).unwrap().root.to_json();
            let address = address(&folder.path().join("say.txt"));
            assert_eq!(read["outputs"]["a"]["value"]["get_file"], address, "{text}");
        }
    }

    #[test]
    fn templates_that_name_each_other_are_read_once() {
        let text = "heat_template_version: 2021-04-16\nresources: { a: { type: b.yaml } }\n";
        let folder = folder(&[("b.yaml", &text.replace("b.yaml", "a.yaml")), ("a.yaml", text)]);
        let (_, files) = rewritten(Kind::Template, text, folder.path());
        files.check().unwrap();
        assert_eq!(files.texts.len(), 2);
    }

    #[test]
    fn addresses_are_those_of_files() {
        let path = Path::new("/srv/a b/ü.yaml");
        assert_eq!(address(path), "file:///srv/a%20b/%C3%BC.yaml");
        assert_eq!(decoded("/srv/a%20b/%C3%BC.yaml"), "/srv/a b/ü.yaml");
        assert_eq!(plain(Path::new("/a/./b/../c")), Path::new("/a/c"));
    }
}
