//! New lines of logs: of a file below `/var/log`, or of a unit in the journal.
//!
//! A file is opened from the open directory `/var/log` and cannot lead out of it. It is read on from where the last
//! look ended; another file in its place (it was rotated), or one that has become shorter, is read from its beginning.
//! A line counts when its end is there.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use hostler_base::Clock;
use hostler_engine::watch::Seen;
use hostler_host::Host;
use hostler_host::call::Call;
use hostler_model::Timestamp;
use regex::bytes::Regex;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::Looked;

pub(super) const FOLDER: &str = "/var/log";
/// What one look reads; the rest is for the next one.
const READ_MAX: u64 = 4 << 20;
/// A line that is longer counts as ended.
const LINE_MAX: usize = 64 << 10;
/// What is told of a line.
const SHOWN: usize = 300;
const TIMEOUT: Duration = Duration::from_secs(30);

/// How far a log was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Cursor {
    File {
        inode: u64,
        at: u64,
    },
    /// There was no file yet: whatever is in it when it comes is new.
    NoFile,
    /// The journal's own word for a place in it.
    Journal(String),
    /// There was nothing in it before this.
    JournalSince(Timestamp),
}

/// Lines that fit, as they are found.
#[derive(Default)]
struct Fitting {
    count: u64,
    first: String,
}

impl Fitting {
    fn look(&mut self, line: &[u8], pattern: &Regex) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if !pattern.is_match(line) {
            return;
        }
        self.count += 1;
        if self.count == 1 {
            let shown = String::from_utf8_lossy(line);
            self.first = shown.chars().take(SHOWN).collect();
        }
    }

    fn seen(self, cursor: Cursor) -> Looked {
        let Fitting { count, first } = self;
        Looked { seen: Ok(Some(Seen::Lines { count, first })), cursor: Some(cursor) }
    }
}

pub(super) fn file(folder: &Path, path: &str, cursor: Option<Cursor>, pattern: &Regex) -> Looked {
    match read_on(folder, path, cursor, pattern) {
        Ok(looked) => looked,
        Err(problem) => Looked::problem(problem),
    }
}

fn read_on(
    folder: &Path,
    path: &str,
    cursor: Option<Cursor>,
    pattern: &Regex,
) -> Result<Looked, String> {
    let below = Path::new(path)
        .strip_prefix(FOLDER)
        .map_err(|_| format!("{path} is not below {FOLDER}"))?;
    let Some(mut file) = open(folder, below, path)? else {
        return Ok(Fitting::default().seen(Cursor::NoFile));
    };
    let failed = |error: std::io::Error| format!("{path}: {error}");
    let stat = rustix::fs::fstat(&file).map_err(|errno| format!("{path}: {errno}"))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(format!("{path} is not a plain file, and is not read"));
    }
    let (inode, size) = (stat.st_ino, u64::try_from(stat.st_size).unwrap_or_default());
    let at = match cursor {
        Some(Cursor::File { inode: known, at }) if known == inode && at <= size => at,
        Some(Cursor::File { .. } | Cursor::NoFile) => 0,
        // The first look: what is there already is not new.
        _ => return Ok(Fitting::default().seen(Cursor::File { inode, at: size })),
    };
    file.seek(SeekFrom::Start(at)).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(READ_MAX).read_to_end(&mut bytes).map_err(failed)?;
    let mut fitting = Fitting::default();
    let mut from = 0;
    while let Some(length) = bytes[from..].iter().position(|byte| *byte == b'\n') {
        fitting.look(&bytes[from..from + length], pattern);
        from += length + 1;
    }
    if bytes.len() - from > LINE_MAX {
        fitting.look(&bytes[from..from + LINE_MAX], pattern);
        from = bytes.len();
    }
    Ok(fitting.seen(Cursor::File { inode, at: at + from as u64 }))
}

fn open(folder: &Path, below: &Path, path: &str) -> Result<Option<File>, String> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(dir) => dir,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(format!("{FOLDER}: {errno}")),
    };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(&dir, below, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(Some(File::from(file))),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::XDEV | Errno::LOOP) => Err(format!("{path} leads out of {FOLDER}")),
        Err(errno) => Err(format!("{path}: {errno}")),
    }
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "__CURSOR")]
    cursor: String,
    #[serde(rename = "MESSAGE", default)]
    message: serde_json::Value,
}

impl Entry {
    /// What is not text comes as a list of bytes.
    fn text(&self) -> Vec<u8> {
        match &self.message {
            serde_json::Value::String(text) => text.clone().into_bytes(),
            serde_json::Value::Array(bytes) => {
                let byte = |value: &serde_json::Value| u8::try_from(value.as_u64()?).ok();
                bytes.iter().filter_map(byte).collect()
            }
            _ => Vec::new(),
        }
    }
}

pub(super) async fn journal(
    host: &Host,
    clock: &Clock,
    unit: &str,
    cursor: Option<Cursor>,
    pattern: &Regex,
) -> Looked {
    if !host.has("journalctl") {
        return Looked::problem("there is no journal of systemd here; watch a file below /var/log");
    }
    let call = Call::new("journalctl")
        .args(["-o", "json", "--no-pager", "-q", "--output-fields=MESSAGE", "-u", unit])
        .timeout(TIMEOUT)
        .answers(&[1]);
    let (call, is_first) = match &cursor {
        Some(Cursor::Journal(at)) => (call.arg(format!("--after-cursor={at}")), false),
        Some(Cursor::JournalSince(time)) => {
            (call.arg(format!("--since=@{}", time.micros().div_euclid(1_000_000))), false)
        }
        _ => (call.args(["-n", "1"]), true),
    };
    let said = match host.run(call).await {
        Ok(finished) => finished.stdout,
        Err(error) => return Looked::problem(hostler_base::chain(&error).to_string()),
    };
    let mut fitting = Fitting::default();
    let mut last = None;
    for line in said.split(|byte| *byte == b'\n') {
        // What was cut off at the end is read by the next look.
        let Ok(entry) = serde_json::from_slice::<Entry>(line) else { continue };
        if !is_first {
            fitting.look(&entry.text(), pattern);
        }
        last = Some(Cursor::Journal(entry.cursor));
    }
    let here = last.or(cursor).unwrap_or_else(|| Cursor::JournalSince(clock.now()));
    fitting.seen(here)
}
