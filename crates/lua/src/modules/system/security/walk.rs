//! Going through directories: one file system, no links, and not without end.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value as Json;

/// The most that is looked at.
const MOST: usize = 4_000_000;
const ANYBODY_WRITES: u32 = 0o002;
const STICKY: u32 = 0o1000;
const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;
const OTHERS: u32 = 0o077;

/// Something that anybody could change or read.
#[derive(Serialize)]
pub(super) struct Loose {
    path: String,
    mode: String,
    problem: &'static str,
}

/// A program that runs as somebody else.
#[derive(Serialize)]
pub(super) struct Borrowed {
    path: String,
    mode: String,
    uid: u32,
    gid: u32,
    setuid: bool,
    setgid: bool,
}

/// What was found, with paths as the machine has them.
pub(super) fn shown<T: Serialize>(found: Vec<T>, root: &Path) -> Result<Json, String> {
    let mut json = serde_json::to_value(found).map_err(|error| error.to_string())?;
    for item in json.as_array_mut().into_iter().flatten() {
        if let Some(Json::String(path)) = item.get_mut("path")
            && let Ok(rest) = Path::new(path.as_str()).strip_prefix(root)
        {
            *path = Path::new("/").join(rest).display().to_string();
        }
    }
    Ok(json)
}

/// What anybody could change, and keys that others can read.
pub(super) fn loose(at: &Path) -> Result<Vec<Loose>, String> {
    gathered(at, |path, meta| {
        let (mode, is_link) = (meta.mode() & 0o7777, meta.file_type().is_symlink());
        let is_shared = meta.is_dir() && mode & STICKY != 0;
        let problem = if is_link {
            return None;
        } else if mode & ANYBODY_WRITES != 0 && !is_shared && (meta.is_dir() || meta.is_file()) {
            "anybody can change it"
        } else if meta.is_file() && mode & OTHERS != 0 && is_key(path) {
            "it is named like a private key, and others can read it"
        } else {
            return None;
        };
        Some(Loose { path: path.display().to_string(), mode: format!("{mode:04o}"), problem })
    })
}

/// Programs that run as their owner or group.
pub(super) fn borrowed(at: &Path) -> Result<Vec<Borrowed>, String> {
    gathered(at, |path, meta| {
        let mode = meta.mode() & 0o7777;
        (meta.is_file() && mode & (SETUID | SETGID) != 0).then(|| Borrowed {
            path: path.display().to_string(),
            mode: format!("{mode:04o}"),
            uid: meta.uid(),
            gid: meta.gid(),
            setuid: mode & SETUID != 0,
            setgid: mode & SETGID != 0,
        })
    })
}

fn is_key(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".key") || name.starts_with("id_") && !name.ends_with(".pub")
}

fn gathered<T>(
    at: &Path,
    mut judge: impl FnMut(&Path, &Metadata) -> Option<T>,
) -> Result<Vec<T>, String> {
    let first = fs::symlink_metadata(at).map_err(|error| format!("{}: {error}", at.display()))?;
    let device = first.dev();
    let mut found: Vec<T> = judge(at, &first).into_iter().collect();
    let mut folders: Vec<PathBuf> = if first.is_dir() { vec![at.to_owned()] } else { Vec::new() };
    let mut seen = 0_usize;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        let mut entries: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        entries.sort();
        for path in entries {
            seen += 1;
            if seen > MOST {
                return Err(format!("there are more than {MOST} files; tell a path below"));
            }
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            if meta.dev() != device {
                continue;
            }
            found.extend(judge(&path, &meta));
            if meta.is_dir() {
                folders.push(path);
            }
        }
    }
    Ok(found)
}
