//! A file with a content, an owner and a mode.
//!
//! The content is given, or that of another file of the machine, or left alone (a missing file is then
//! made empty). Copies are compared and written without being held in memory.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::manner_changes;
use crate::accounts::manner_of;
use crate::digest::sha256_hex_of;
use crate::error::io_at;
use crate::outcome::Change;
use crate::place::{Manner, Place, resolve};
use crate::plan::{Plan, Primitive, blocking};
use crate::values::{Content, Mode, yes};
use crate::{Host, HostError};

/// A file up to here is shown in a difference.
const SHOWN_MAX: u64 = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub path: PathBuf,
    #[serde(default)]
    pub content: Option<Content>,
    /// Another file of the machine, whose content it has.
    #[serde(default)]
    pub from: Option<PathBuf>,
    #[serde(default)]
    pub mode: Option<Mode>,
    /// A name or a number.
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub group: Option<String>,
    /// Whether a symbolic link at `path` leads to the file that is meant.
    #[serde(default)]
    pub follow: bool,
    /// Whether missing directories above are made.
    #[serde(default = "yes")]
    pub parents: bool,
    /// Whether the content must not show in differences.
    #[serde(default)]
    pub secret: bool,
}

impl File {
    /// A file whose content, owner and mode are left alone.
    pub fn new(path: impl Into<PathBuf>) -> File {
        File {
            path: path.into(),
            content: None,
            from: None,
            mode: None,
            owner: None,
            group: None,
            follow: false,
            parents: true,
            secret: false,
        }
    }

    pub fn with_content(path: impl Into<PathBuf>, content: impl Into<Content>) -> File {
        File { content: Some(content.into()), ..File::new(path) }
    }

    pub fn copy_of(from: impl Into<PathBuf>, path: impl Into<PathBuf>) -> File {
        File { from: Some(from.into()), ..File::new(path) }
    }

    fn place(&self, host: &Host) -> Result<PathBuf, HostError> {
        let path = host.path(&self.path)?;
        if self.follow { resolve(host, &path) } else { Ok(path) }
    }

    fn source(&self, host: &Host) -> Result<Source, HostError> {
        match (&self.content, &self.from) {
            (Some(_), Some(from)) => {
                let given = from.display().to_string();
                Err(HostError::invalid("`from`", given, "the content is given too; keep one"))
            }
            (Some(content), None) => Ok(Source::Bytes(content.0.clone())),
            (None, Some(from)) => Ok(Source::Copy(resolve(host, &host.path(from)?)?)),
            (None, None) => Ok(Source::Nothing),
        }
    }
}

impl Primitive for File {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let manner = manner_of(host, self.mode, self.owner.as_deref(), self.group.as_deref());
        let wanted = Wanted {
            path: self.place(host)?,
            name: self.path.display().to_string(),
            source: self.source(host)?,
            manner: manner.await?,
            parents: self.parents,
            secret: self.secret,
        };
        blocking(move || wanted.plan()).await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let path = host.path(&self.path)?;
        let (name, secret) = (self.path.display().to_string(), self.secret);
        blocking(move || plan_removal(&path, &name, secret)).await
    }
}

enum Source {
    Bytes(Vec<u8>),
    Copy(PathBuf),
    Nothing,
}

struct Wanted {
    path: PathBuf,
    name: String,
    source: Source,
    manner: Manner,
    parents: bool,
    secret: bool,
}

impl Wanted {
    fn plan(self) -> Result<Plan, HostError> {
        let place = Place::find(&self.path)?;
        if place.is_none() && !self.parents {
            let missing = self.path.parent().unwrap_or(&self.path);
            return Err(io_at("opened", missing)(io::Error::from(io::ErrorKind::NotFound)));
        }
        let stat = place.as_ref().map(Place::stat_file).transpose()?.flatten();
        let is_same = match (&place, &stat) {
            (Some(place), Some(_)) => self.is_same(place)?,
            _ => false,
        };
        let altered = stat.as_ref().map(|stat| manner_changes(&self.name, self.manner, stat));
        match (is_same, altered) {
            (true, Some(altered)) if altered.is_empty() => {
                Ok(Plan::new(format!("{} is already so", self.name)))
            }
            (true, Some(altered)) => {
                let plan = Plan::new(format!("{} gets its owner and mode", self.name));
                let (path, manner) = (self.path, self.manner);
                Ok(plan.changes(altered).files(move || Place::make(&path)?.give(manner)))
            }
            (_, altered) => {
                let verb = if stat.is_some() { "is replaced" } else { "is made" };
                let plan = Plan::new(format!("{} {verb}", self.name))
                    .change(self.content_change(place.as_ref().filter(|_| stat.is_some()))?)
                    .changes(altered.unwrap_or_default());
                Ok(plan.files(move || self.write()))
            }
        }
    }

    fn is_same(&self, place: &Place) -> Result<bool, HostError> {
        let Some(mut there) = place.open()? else { return Ok(false) };
        match &self.source {
            Source::Nothing => Ok(true),
            Source::Bytes(bytes) => {
                let same = same_bytes(&mut there, &mut bytes.as_slice());
                same.map_err(io_at("read", place.path()))
            }
            Source::Copy(from) => {
                let mut other = open_source(from)?;
                same_bytes(&mut there, &mut other).map_err(io_at("read", from))
            }
        }
    }

    fn content_change(&self, old: Option<&Place>) -> Result<Change, HostError> {
        let hidden = || "(not shown)".to_owned();
        if self.secret {
            let before = old.map(|_| hidden());
            return Ok(Change::new(&self.name, before, Some(hidden())));
        }
        let old_file = old.map(Place::open).transpose()?.flatten();
        let new_file = match &self.source {
            Source::Copy(from) => Some(open_source(from)?),
            _ => None,
        };
        let size = |file: &fs::File| file.metadata().map_or(u64::MAX, |found| found.len());
        let are_small = [&old_file, &new_file]
            .into_iter()
            .all(|file| file.as_ref().is_none_or(|file| size(file) <= SHOWN_MAX));
        let after = match &self.source {
            Source::Bytes(bytes) => Some(bytes.clone()),
            Source::Nothing => Some(Vec::new()),
            Source::Copy(_) => None,
        };
        if !are_small {
            let describe = |file: &fs::File| -> Result<String, HostError> {
                let digest = sha256_hex_of(file).map_err(io_at("read", &self.path))?;
                Ok(format!("({} bytes, sha256 {digest})", size(file)))
            };
            let before = old_file.as_ref().map(describe).transpose()?;
            let after = match (&after, &new_file) {
                (Some(bytes), _) => format!("({} bytes)", bytes.len()),
                (None, Some(file)) => describe(file)?,
                (None, None) => String::new(),
            };
            return Ok(Change::new(&self.name, before, Some(after)));
        }
        let whole = |mut file: fs::File| -> Result<Vec<u8>, HostError> {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).map_err(io_at("read", &self.path))?;
            Ok(bytes)
        };
        let before = old_file.map(whole).transpose()?;
        let after = match after {
            Some(bytes) => Some(bytes),
            None => new_file.map(whole).transpose()?,
        };
        Ok(Change::content(&self.name, before.as_deref(), after.as_deref()))
    }

    fn write(self) -> Result<(), HostError> {
        let place = Place::make(&self.path)?;
        match &self.source {
            Source::Bytes(bytes) => place.replace(bytes, self.manner),
            Source::Nothing => place.replace(&[], self.manner),
            Source::Copy(from) => {
                let mut source = open_source(from)?;
                place.replace_with(self.manner, |file| io::copy(&mut source, file).map(drop))
            }
        }
    }
}

fn open_source(path: &Path) -> Result<fs::File, HostError> {
    match Place::find(path)?.map(|place| place.open()).transpose()?.flatten() {
        Some(file) => Ok(file),
        None => Err(io_at("read", path)(io::Error::from(io::ErrorKind::NotFound))),
    }
}

/// Whether both give the same bytes to their ends.
pub(crate) fn same_bytes(one: &mut dyn Read, other: &mut dyn Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; 64 << 10], vec![0; 64 << 10]);
    loop {
        let (read_a, read_b) = (read_full(one, &mut a)?, read_full(other, &mut b)?);
        if a[..read_a] != b[..read_b] {
            return Ok(false);
        }
        if read_a == 0 {
            return Ok(true);
        }
    }
}

fn read_full(from: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// A file or a link, which is removed itself; a directory is refused.
fn plan_removal(path: &Path, name: &str, secret: bool) -> Result<Plan, HostError> {
    use rustix::fs::FileType;
    let gone = || Ok(Plan::new(format!("{name} is not there")));
    let Some(place) = Place::find(path)? else { return gone() };
    let Some(stat) = place.stat()? else { return gone() };
    let change = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory => {
            place.stat_file()?;
            return gone();
        }
        FileType::RegularFile if !secret && stat.st_size.unsigned_abs() <= SHOWN_MAX => {
            Change::content(name, place.read(SHOWN_MAX)?.as_deref(), None)
        }
        FileType::Symlink => {
            let target = place.link_target()?.display().to_string();
            Change::removed(name, format!("link to {target}"))
        }
        _ => Change::removed(name, format!("({} bytes)", stat.st_size)),
    };
    let plan = Plan::new(format!("{name} is removed")).change(change);
    Ok(plan.files(move || place.remove()))
}
