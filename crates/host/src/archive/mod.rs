//! What is in an archive, unpacked into a directory.
//!
//! Zip and tar, plain or with gzip, told by their contents; a file that is only packed with gzip is one
//! file. Every entry is compared with what is there, so unpacking again changes nothing, and a check says
//! which entries would be written. Owners, times and set-user-id bits of an archive mean nothing here.
//!
//! An archive may have been made by somebody hostile. Refused, with all of it: names that are absolute
//! or lead out, entries that go through a link (of the archive or one that is there already), links that
//! lead out, devices, pipes and sparse files, encrypted entries, and what is larger than the bounds say,
//! counted as it comes. It is read to its end before anything is written.

mod member;
mod tarball;
mod tree;
mod zip;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::accounts::manner_of;
use crate::error::io_at;
use crate::outcome::Change;
use crate::place::{Manner, Place, make_directories, resolve};
use crate::plan::{Plan, Primitive, blocking};
use crate::{Host, HostError};

use member::{Member, Parts, Refusal, What};
use tree::{State, Tree};

/// Changes that are told one by one.
const TOLD_MAX: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unpacked {
    /// The archive, a file of the machine.
    pub src: PathBuf,
    /// A directory, made where it is missing.
    pub dest: PathBuf,
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default = "bytes_max")]
    pub bytes_max: u64,
    #[serde(default = "entries_max")]
    pub entries_max: u64,
}

fn bytes_max() -> u64 {
    64 << 30
}

fn entries_max() -> u64 {
    1_000_000
}

impl Unpacked {
    pub fn new(src: impl Into<PathBuf>, dest: impl Into<PathBuf>) -> Unpacked {
        Unpacked {
            src: src.into(),
            dest: dest.into(),
            owner: None,
            group: None,
            bytes_max: bytes_max(),
            entries_max: entries_max(),
        }
    }

    async fn unpacking(&self, host: &Host) -> Result<Unpacking, HostError> {
        let manner = manner_of(host, None, self.owner.as_deref(), self.group.as_deref()).await?;
        Ok(Unpacking {
            src: resolve(host, &host.path(&self.src)?)?,
            dest: host.path(&self.dest)?,
            names: (self.src.display().to_string(), self.dest.display().to_string()),
            manner,
            bounds: Bounds { bytes: self.bytes_max, entries: self.entries_max },
        })
    }
}

impl Primitive for Unpacked {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let unpacking = self.unpacking(host).await?;
        blocking(move || unpacking.plan()).await
    }

    /// Removes the files and links that the archive names, and its directories where they are empty then.
    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let unpacking = self.unpacking(host).await?;
        blocking(move || unpacking.plan_removal()).await
    }
}

/// How much an archive may become.
#[derive(Clone, Copy, Debug)]
struct Bounds {
    bytes: u64,
    entries: u64,
}

impl Bounds {
    fn take(&mut self, bytes: u64) -> Result<(), Refusal> {
        let entries = self.entries.checked_sub(1);
        self.entries = entries.ok_or_else(|| Refusal::new("it has too many entries"))?;
        let bytes = self.bytes.checked_sub(bytes);
        self.bytes = bytes.ok_or_else(|| Refusal::new("it has too many bytes"))?;
        Ok(())
    }
}

/// What is done with each entry.
type Visit<'a> = &'a mut dyn FnMut(&Member, &mut dyn Read) -> Result<(), Refusal>;

struct Unpacking {
    src: PathBuf,
    dest: PathBuf,
    names: (String, String),
    manner: Manner,
    bounds: Bounds,
}

impl Unpacking {
    fn walk(&self, visit: Visit<'_>) -> Result<(), HostError> {
        let place = Place::find(&self.src)?;
        let file = place.map(|place| place.open()).transpose()?.flatten();
        let missing = || io_at("read", &self.src)(io::Error::from(io::ErrorKind::NotFound));
        let file = file.ok_or_else(missing)?;
        walk(file, &self.src, self.bounds, visit).map_err(|refusal| refusal.at(&self.src))
    }

    /// How each entry stands; the last of several with the same name counts.
    fn standing(&self) -> Result<BTreeMap<Parts, (State, What)>, HostError> {
        let tree = Tree::open(&self.dest)?;
        let mut standing = BTreeMap::new();
        self.walk(&mut |member, data| {
            let state = match &tree {
                Some(tree) => tree.compare(member, data)?,
                None => State::Missing,
            };
            io::copy(data, &mut io::sink())?;
            standing.insert(member.parts.clone(), (state, member.what.clone()));
            Ok(())
        })?;
        Ok(standing)
    }

    fn plan(self) -> Result<Plan, HostError> {
        let (src, dest) = self.names.clone();
        let mut standing = self.standing()?;
        let is_missing = Tree::open(&self.dest)?.is_none();
        standing.retain(|_, (state, _)| *state != State::Same);
        if standing.is_empty() && !is_missing {
            return Ok(Plan::new(format!("{src} is unpacked in {dest} already")));
        }
        let count = standing.len();
        let plan = Plan::new(format!("{count} entries of {src} are unpacked in {dest}"));
        let told = standing.iter().take(TOLD_MAX).map(|(parts, (state, what))| {
            let name = Path::new(&dest).join(parts.path()).display().to_string();
            match state {
                State::Missing => Change::added(name, what.word()),
                _ => Change::altered(name, "different", what.word()),
            }
        });
        let told: Vec<Change> = told.collect();
        let rest = (count > TOLD_MAX)
            .then(|| Change::added("further entries", (count - TOLD_MAX).to_string()));
        Ok(plan.changes(told).changes(rest).files(move || {
            make_directories(&self.dest)?;
            let tree = Tree::require(&self.dest)?;
            self.walk(&mut |member, data| match standing.contains_key(&member.parts) {
                true => tree.put(member, data, self.manner),
                false => Ok(()),
            })?;
            tree.sync()
        }))
    }

    fn plan_removal(self) -> Result<Plan, HostError> {
        let (src, dest) = self.names.clone();
        let mut standing = self.standing()?;
        standing.retain(|_, (state, _)| *state != State::Missing);
        let is_folder = |what: &What| matches!(what, What::Directory);
        if !standing.values().any(|(_, what)| !is_folder(what)) {
            return Ok(Plan::new(format!("nothing of {src} is in {dest}")));
        }
        let count = standing.len();
        let told: Vec<Change> = standing
            .iter()
            .take(TOLD_MAX)
            .map(|(parts, (_, what))| {
                let name = Path::new(&dest).join(parts.path()).display().to_string();
                Change::removed(name, what.word())
            })
            .collect();
        let plan = Plan::new(format!("{count} entries of {src} are removed from {dest}"));
        Ok(plan.changes(told).files(move || {
            let tree = Tree::require(&self.dest)?;
            let (folders, files): (Vec<_>, Vec<_>) =
                standing.into_iter().partition(|(_, (_, what))| is_folder(what));
            for (parts, _) in &files {
                tree.take(parts, false).map_err(|refusal| refusal.at(&self.src))?;
            }
            for (parts, _) in folders.iter().rev() {
                tree.take(parts, true).map_err(|refusal| refusal.at(&self.src))?;
            }
            tree.sync()
        }))
    }
}

fn walk(mut file: File, path: &Path, bounds: Bounds, visit: Visit<'_>) -> Result<(), Refusal> {
    let mut magic = [0; 6];
    let known = read_up_to(&mut file, &mut magic)?;
    file.rewind()?;
    match &magic[..known] {
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => zip::walk(file, bounds, visit),
        [0x1f, 0x8b, ..] => {
            let mut block = [0; 512];
            let plain = flate2::read::MultiGzDecoder::new(io::BufReader::new(file.try_clone()?));
            let read = read_up_to(&mut { plain }, &mut block)?;
            file.rewind()?;
            let plain = flate2::read::MultiGzDecoder::new(io::BufReader::new(file));
            match tarball::is_tar(&block[..read]) {
                true => tarball::walk(plain, bounds, visit),
                false => one_file(plain, path, bounds, visit),
            }
        }
        [0xfd, b'7', b'z', b'X', b'Z', 0]
        | [b'B', b'Z', b'h', ..]
        | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err(Refusal::new("it is packed with xz, bzip2 or zstd; pack it with gzip, or as a zip"))
        }
        _ => {
            let mut block = [0; 512];
            let read = read_up_to(&mut file, &mut block)?;
            file.rewind()?;
            match tarball::is_tar(&block[..read]) {
                true => tarball::walk(io::BufReader::new(file), bounds, visit),
                false => Err(Refusal::new("it is neither a zip nor a tar archive")),
            }
        }
    }
}

/// A file that is only packed: its name without `.gz`.
fn one_file(
    plain: impl Read,
    path: &Path,
    bounds: Bounds,
    visit: Visit<'_>,
) -> Result<(), Refusal> {
    let name = path.file_stem().map(PathBuf::from).unwrap_or_default();
    let member = Member { parts: Parts::of(&name)?, what: What::File, mode: 0o644 };
    let mut plain = Bounded { from: plain, left: bounds.bytes };
    visit(&member, &mut plain)?;
    // To the end, so that damage and too many bytes are seen.
    io::copy(&mut plain, &mut io::sink())?;
    Ok(())
}

struct Bounded<R> {
    from: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(buffer)?;
        let left = u64::try_from(read).ok().and_then(|read| self.left.checked_sub(read));
        self.left = left.ok_or_else(|| io::Error::other("it has too many bytes"))?;
        Ok(read)
    }
}

fn read_up_to(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match from.read(&mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    Ok(filled)
}
