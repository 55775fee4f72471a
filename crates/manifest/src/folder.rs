//! Which files of a folder are workload files, and reading one of them.
//!
//! Every `*.yaml` and `*.yml`, in folders below too, sorted; not what is hidden, and not `daemon`,
//! `inventory` and `vars`, which mean other things there. Links are followed, and one that leads back
//! to a folder it is in is a mistake.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::mistake::{Mistake, Notes, Place};

/// The largest file that is read.
pub(crate) const FILE_MAX: usize = 1 << 20;
const FILES_MAX: usize = 10_000;
const SKIPPED: [&str; 3] = ["daemon", "inventory", "vars"];

#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub files: Vec<PathBuf>,
    pub mistakes: Vec<Mistake>,
}

pub(crate) fn walk(root: &Path) -> Folder {
    let mut folder = Folder::default();
    folder.descend(root, &mut Vec::new());
    folder
}

impl Folder {
    fn descend(&mut self, path: &Path, above: &mut Vec<PathBuf>) {
        let entered = fs::canonicalize(path).and_then(|real| Ok((real, fs::read_dir(path)?)));
        let (real, entries) = match entered {
            Ok(entered) => entered,
            Err(error) => return self.mistakes.push(unreadable(path, &error)),
        };
        if above.contains(&real) {
            let detail = "this link leads back to a folder it is in";
            return self.mistakes.push(whole(path, detail, "remove the link"));
        }
        above.push(real);
        let mut names = BTreeSet::new();
        for entry in entries {
            match entry {
                Ok(entry) => drop(names.insert(entry.file_name())),
                Err(error) => self.mistakes.push(unreadable(path, &error)),
            }
        }
        for name in names {
            let is_hidden = name.to_string_lossy().starts_with('.');
            let path = path.join(&name);
            if is_hidden || self.files.len() > FILES_MAX {
                continue;
            }
            match fs::metadata(&path) {
                Ok(meta) if meta.is_dir() => self.descend(&path, above),
                Ok(_) if is_workload_file(&path) => self.file(path),
                Err(error) if is_workload_file(&path) || is_loop(&error) => {
                    self.mistakes.push(unreadable(&path, &error));
                }
                Ok(_) | Err(_) => {}
            }
        }
        above.pop();
    }

    fn file(&mut self, path: PathBuf) {
        if self.files.len() == FILES_MAX {
            let detail = format!("there are more than {FILES_MAX} files");
            self.mistakes.push(whole(&path, detail, "is this the right folder?"));
        }
        self.files.push(path);
    }
}

fn is_loop(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(ELOOP))
}

/// Too many levels of symbolic links, on Linux.
const ELOOP: i32 = 40;

fn is_workload_file(path: &Path) -> bool {
    let is_yaml = path.extension().is_some_and(|ext| ext == "yaml" || ext == "yml");
    is_yaml && !path.file_stem().is_some_and(|stem| SKIPPED.iter().any(|name| stem == *name))
}

/// The text of a file.
pub(crate) fn read(path: &Path) -> Result<String, Mistake> {
    let meta = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    if !meta.is_file() {
        return Err(whole(path, "this is not a file", "a workload file is a plain file"));
    }
    check_size(path, &meta)?;
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(FILE_MAX as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if bytes.len() > FILE_MAX {
        return Err(too_large(path));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..good]).into_owned();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let file = path.display().to_string();
        let mut notes = Notes::new(&file, &before);
        notes.at(Place { line, column }, "this is not UTF-8 text", "save the file as UTF-8");
        notes.found.remove(0)
    })
}

fn check_size(path: &Path, meta: &Metadata) -> Result<(), Mistake> {
    if meta.len() > FILE_MAX as u64 { Err(too_large(path)) } else { Ok(()) }
}

pub(crate) fn too_large(path: &Path) -> Mistake {
    whole(path, "the file is larger than 1 MiB", "split it into several files")
}

fn unreadable(path: &Path, error: &io::Error) -> Mistake {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => "check the path; a link may lead nowhere",
        io::ErrorKind::PermissionDenied => "give the user who reads it permission",
        _ if is_loop(error) => "remove the link",
        _ => "",
    };
    whole(path, format!("cannot be read: {error}"), hint)
}

fn whole(path: &Path, detail: impl Into<String>, hint: &str) -> Mistake {
    let file = path.display().to_string();
    let mut notes = Notes::new(&file, "");
    notes.at(Place::default(), detail, hint);
    notes.found.remove(0)
}
