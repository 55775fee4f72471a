//! Packing closed segments with gzip, in the agent: shims have better things to do.
//!
//! A closed segment never changes, so it is packed once: into a temporary file, which is put on disk,
//! gets its name, and only then is the plain one removed. The file keeps the time of the plain one,
//! which is that of its last frame.
//!
//! A crash leaves either a temporary file, which means nothing, or both forms, of which the plain one
//! counts; the next round clears both cases up. A shim may delete a segment while it is being packed:
//! then the packed one goes as well.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Form, packed_name, segment_name, segment_number};
use crate::rundir;

/// Less than this is not worth a file: most file systems would need as much room for it.
const WORTH_IT: u64 = 16 * 1024;

/// What a round of packing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Packed {
    pub segments: u64,
    pub bytes_before: u64,
    /// These were written.
    pub bytes_after: u64,
}

impl Packed {
    pub(super) fn add(&mut self, other: Packed) {
        self.segments += other.segments;
        self.bytes_before += other.bytes_before;
        self.bytes_after += other.bytes_after;
    }
}

/// One segment as it lies in a run's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub number: u32,
    pub form: Form,
    pub bytes: u64,
    pub time: hostler_model::Timestamp,
    /// It will not be written to any more.
    pub is_closed: bool,
}

impl Stored {
    pub fn is_worth_packing(&self) -> bool {
        self.is_closed && self.form == Form::Plain && self.bytes >= WORTH_IT
    }

    pub fn name(&self) -> String {
        match self.form {
            Form::Plain => segment_name(self.number),
            Form::Packed => packed_name(self.number),
        }
    }
}

/// The segments of a run, oldest first, after clearing away what an interrupted round left. To be
/// called by one at a time. A run that is gone has none.
pub(super) fn take_stock(dir: &Path) -> io::Result<Vec<Stored>> {
    look_through(dir, true)
}

/// The same without touching anything, for whoever may be beside a round.
pub(super) fn survey(dir: &Path) -> io::Result<Vec<Stored>> {
    look_through(dir, false)
}

fn look_through(dir: &Path, is_clearing: bool) -> io::Result<Vec<Stored>> {
    let is_over = dir.join(rundir::EXIT).exists();
    let mut found: Vec<Stored> = Vec::new();
    let entries = match std::fs::read_dir(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(found),
        other => other?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if is_leftover(name) {
            if is_clearing {
                remove(&entry.path())?;
            }
        } else if let Some((number, form)) = segment_number(name) {
            let Ok(metadata) = entry.metadata() else { continue };
            let time = super::segment::modified(&metadata);
            found.push(Stored { number, form, bytes: metadata.len(), time, is_closed: true });
        }
    }
    found.sort_by_key(|stored| (stored.number, stored.form == Form::Packed));
    let doubles: Vec<_> = found
        .windows(2)
        .filter(|pair| pair[0].number == pair[1].number)
        .map(|pair| pair[1].number)
        .collect();
    for number in doubles {
        if is_clearing {
            remove(&dir.join(packed_name(number)))?;
        }
        found.retain(|stored| stored.number != number || stored.form == Form::Plain);
    }
    if let Some(last) = found.last_mut() {
        last.is_closed = is_over;
    }
    Ok(found)
}

fn is_leftover(name: &str) -> bool {
    let is_packed = |name| matches!(segment_number(name), Some((_, Form::Packed)));
    name.strip_prefix('.').is_some_and(is_packed)
}

/// Packs every closed segment of a run that is worth it.
pub fn compress_closed(dir: &Path) -> io::Result<Packed> {
    let mut packed = Packed::default();
    for stored in take_stock(dir)?.iter().filter(|stored| stored.is_worth_packing()) {
        packed.add(pack(dir, stored.number)?);
    }
    Ok(packed)
}

/// Packs one closed segment. Nothing is done when it is gone, or would not become smaller.
pub(super) fn pack(dir: &Path, number: u32) -> io::Result<Packed> {
    let plain = dir.join(segment_name(number));
    let packed = dir.join(packed_name(number));
    let temporary = dir.join(rundir::temporary(&packed_name(number)));
    let source = match File::open(&plain) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Packed::default()),
        other => other?,
    };
    let written = write_packed(&source, &temporary).and_then(|bytes| {
        let bytes_before = source.metadata()?.len();
        if bytes >= bytes_before {
            std::fs::remove_file(&temporary)?;
            return Ok(None);
        }
        std::fs::rename(&temporary, &packed)?;
        Ok(Some(bytes))
    });
    let bytes_after = match written {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            // It was read for nothing, which counts.
            let bytes_before = source.metadata()?.len();
            return Ok(Packed { segments: 0, bytes_before, bytes_after: 0 });
        }
        Err(e) => {
            let _ = std::fs::remove_file(&temporary);
            return match e.kind() {
                // The whole directory has gone.
                io::ErrorKind::NotFound => Ok(Packed::default()),
                _ => Err(e),
            };
        }
    };
    if !remove(&plain)? {
        remove(&packed)?;
    }
    Ok(Packed { segments: 1, bytes_before: source.metadata()?.len(), bytes_after })
}

fn write_packed(source: &File, temporary: &Path) -> io::Result<u64> {
    let file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(temporary)?;
    let mut encoder = GzEncoder::new(file, Compression::default());
    io::copy(&mut BufReader::with_capacity(64 * 1024, source), &mut encoder)?;
    let file = encoder.finish()?;
    file.set_modified(source.metadata()?.modified()?)?;
    // The plain form, which is about to go, may have been on disk for long.
    file.sync_data()?;
    Ok(file.metadata()?.len())
}

/// False when it was not there.
pub(super) fn remove(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(e),
    }
}
