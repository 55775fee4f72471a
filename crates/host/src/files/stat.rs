//! What is at a path.

use std::path::{Path, PathBuf};

use rustix::fs::FileType;
use serde::Serialize;

use crate::accounts::{group_name, user_name};
use crate::digest::sha256_hex_of;
use crate::error::io_at;
use crate::place::{Place, resolve};
use crate::plan::blocking;
use crate::values::Mode;
use crate::{Host, HostError};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// What is known about something that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Facts {
    pub path: PathBuf,
    pub kind: Kind,
    pub size: u64,
    pub mode: Mode,
    /// Seconds since 1970.
    pub time_modified: i64,
    pub uid: u32,
    pub gid: u32,
    pub owner: Option<String>,
    pub group: Option<String>,
    /// SHA-256 of a plain file, where it was asked for.
    pub checksum: Option<String>,
    /// Where a symbolic link leads.
    pub target: Option<PathBuf>,
}

/// What is at a path, `None` for nothing. Links are told as links unless they are followed.
pub async fn stat(
    host: &Host,
    path: &Path,
    follow: bool,
    with_checksum: bool,
) -> Result<Option<Facts>, HostError> {
    let mut at = host.path(path)?;
    if follow {
        at = resolve(host, &at)?;
    }
    let path = path.to_owned();
    let found = blocking(move || look(at, path, with_checksum)).await?;
    let Some(mut facts) = found else { return Ok(None) };
    facts.owner = user_name(host, facts.uid).await?;
    facts.group = group_name(host, facts.gid).await?;
    Ok(Some(facts))
}

fn look(at: PathBuf, path: PathBuf, with_checksum: bool) -> Result<Option<Facts>, HostError> {
    let place = match at.file_name() {
        Some(_) => Place::find(&at)?,
        None => None,
    };
    let stat = match &place {
        Some(place) => place.stat()?,
        None if at.file_name().is_none() => {
            Some(rustix::fs::stat(&at).map_err(io_at("looked at", &at))?)
        }
        None => None,
    };
    let Some(stat) = stat else { return Ok(None) };
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    };
    let checksum = match (&place, kind) {
        (Some(place), Kind::File) if with_checksum => match place.open()? {
            Some(file) => Some(sha256_hex_of(file).map_err(io_at("read", &at))?),
            None => return Ok(None),
        },
        _ => None,
    };
    let target = match (&place, kind) {
        (Some(place), Kind::Link) => Some(place.link_target()?),
        _ => None,
    };
    Ok(Some(Facts {
        path,
        kind,
        size: stat.st_size.unsigned_abs(),
        mode: Mode::new(stat.st_mode),
        time_modified: stat.st_mtime,
        uid: stat.st_uid,
        gid: stat.st_gid,
        owner: None,
        group: None,
        checksum,
        target,
    }))
}
