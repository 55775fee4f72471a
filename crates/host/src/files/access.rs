//! Reading and listing, and the two ways of writing that are no state: adding to the end, and making a
//! file nobody has used.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::OFlags;
use serde::Serialize;

use super::Kind;
use crate::error::io_at;
use crate::outcome::Change;
use crate::place::{Place, resolve};
use crate::plan::{Plan, blocking};
use crate::{Host, HostError};

/// Something in a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    pub name: String,
    pub kind: Kind,
}

/// The content of a file, which has at most `max` bytes. Links are followed.
pub async fn read(host: &Host, path: &Path, max: u64) -> Result<Vec<u8>, HostError> {
    let at = resolve(host, &host.path(path)?)?;
    let name = path.display().to_string();
    let found = blocking(move || match Place::find(&at)? {
        Some(place) => place.read(max),
        None => Ok(None),
    });
    found.await?.ok_or(HostError::Absent {
        what: "file",
        name,
        next: "make it first, or name another",
    })
}

/// Adds to the end of a file, which is made where it is missing.
pub async fn append(host: &Host, path: &Path, bytes: &[u8]) -> Result<Plan, HostError> {
    let at = host.path(path)?;
    let name = path.display().to_string();
    let bytes = bytes.to_vec();
    blocking(move || {
        if let Some(place) = Place::find(&at)? {
            place.stat_file()?;
        }
        if bytes.is_empty() {
            return Ok(Plan::new(format!("nothing is added to {name}")));
        }
        let change = Change::content(format!("end of {name}"), None, Some(&bytes));
        let plan = Plan::new(format!("{} bytes are added to {name}", bytes.len()));
        Ok(plan.change(change).files(move || {
            Place::make(&at)?;
            let nofollow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
            OpenOptions::new()
                .append(true)
                .create(true)
                .mode(0o644)
                .custom_flags(nofollow)
                .open(&at)
                .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
                .map_err(io_at("written", &at))
        }))
    })
    .await
}

/// What is in a directory, by name. Names that are not UTF-8 are told as well as they can be.
pub async fn list(host: &Host, path: &Path) -> Result<Vec<Entry>, HostError> {
    let at = host.path(path)?;
    blocking(move || {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(&at).map_err(io_at("read", &at))? {
            let entry = entry.map_err(io_at("read", &at))?;
            let kind = match entry.file_type().map_err(io_at("read", &at))? {
                kind if kind.is_dir() => Kind::Directory,
                kind if kind.is_file() => Kind::File,
                kind if kind.is_symlink() => Kind::Link,
                _ => Kind::Other,
            };
            entries.push(Entry { name: entry.file_name().to_string_lossy().into_owned(), kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    })
    .await
}

/// A new, empty file in `/tmp` that only we can read, and its path.
pub async fn make_temporary(host: &Host, prefix: &str) -> Result<PathBuf, HostError> {
    if prefix.contains('/') || prefix.len() > 100 {
        let problem = "it must be the beginning of a name";
        return Err(HostError::invalid("the prefix", prefix, problem));
    }
    let (folder, prefix) = (host.path("/tmp")?, prefix.to_owned());
    blocking(move || {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{prefix}{}-{number}", std::process::id());
            let at = folder.join(&name);
            let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&at);
            match made {
                Ok(_) => return Ok(Path::new("/tmp").join(name)),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(io_at("made", &at)(e)),
            }
        }
    })
    .await
}
