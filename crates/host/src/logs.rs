//! What a machine wrote down: the journal of systemd, or files below `/var/log`.
//!
//! Files are opened from the open directory `/var/log` and cannot lead out of it, whatever links are in there;
//! only the end of a large file is read. Which lines are wanted is decided here, so that a pattern means the same
//! wherever lines come from.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use regex::bytes::Regex as BytesRegex;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use serde::Deserialize;

use crate::call::Call;
use crate::error::io_at;
use crate::facts::{Init, init};
use crate::plan::blocking;
use crate::service::unit_name;
use crate::{Host, HostError};

const FOLDER: &str = "/var/log";
/// What is read of the end of a file, and of the journal.
const READ_MAX: u64 = 8 << 20;
/// Where syslog writes, in the order in which they are looked for.
const SYSLOG: &[&str] = &["syslog", "messages"];
const KERNEL: &[&str] = &["kern.log", "dmesg"];
/// How many entries are read of the journal to find those that match a pattern.
const SEARCHED: u32 = 50_000;
pub(crate) const LINE_MAX: usize = 8 << 10;
const TIMEOUT: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    System,
    Service(String),
    Kernel,
    File(String),
}

/// Which lines are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// So many of the last.
    pub lines: u32,
    /// Seconds since 1970; for the journal only.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// This and worse; for the journal only.
    pub priority: Option<u8>,
    pub grep: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Microseconds since 1970.
    pub micros: Option<i64>,
    pub by: Option<String>,
    pub priority: Option<u8>,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    pub source: String,
    /// The newest last.
    pub lines: Vec<Line>,
    /// Whether there are more that would fit.
    pub is_cut: bool,
}

pub async fn read(host: &Host, source: &Source, wanted: &Wanted) -> Result<Logs, HostError> {
    let pattern = wanted.grep.as_deref().map(pattern).transpose()?;
    let has_journal = init(host)? == Init::Systemd && host.has("journalctl");
    match source {
        Source::File(path) => file(host, &[inside(path)?], wanted, pattern).await,
        Source::Service(name) if has_journal => {
            let unit = unit_name(name)?;
            journal(host, "journal", &["-u", &unit], wanted, pattern.as_ref()).await
        }
        Source::System if has_journal => {
            journal(host, "journal", &[], wanted, pattern.as_ref()).await
        }
        Source::Kernel if has_journal => {
            journal(host, "kernel", &["-k"], wanted, pattern.as_ref()).await
        }
        Source::Service(_) => Err(HostError::Missing {
            program: "the journal of systemd".to_owned(),
            next: "only it knows which service wrote what; read a file below /var/log instead",
        }),
        Source::System => file(host, &names(SYSLOG), wanted, pattern).await,
        Source::Kernel => file(host, &names(KERNEL), wanted, pattern).await,
    }
}

fn names(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}

fn pattern(text: &str) -> Result<BytesRegex, HostError> {
    let built = regex::bytes::RegexBuilder::new(text).size_limit(1 << 20).build();
    built.map_err(|source| HostError::Pattern {
        given: text.chars().take(200).collect(),
        source: Box::new(source),
    })
}

/// The path below the folder of logs.
fn inside(path: &str) -> Result<PathBuf, HostError> {
    let below = Path::new(path).strip_prefix(FOLDER).unwrap_or(Path::new(path));
    if below.is_absolute() || below.as_os_str().is_empty() || path.contains('\0') {
        let problem = "only files below /var/log are read";
        return Err(HostError::invalid("the file", path, problem));
    }
    Ok(below.to_owned())
}

async fn file(
    host: &Host,
    names: &[PathBuf],
    wanted: &Wanted,
    pattern: Option<BytesRegex>,
) -> Result<Logs, HostError> {
    let (folder, names) = (host.path(FOLDER)?, names.to_vec());
    let most = usize::try_from(wanted.lines).unwrap_or(usize::MAX);
    blocking(move || {
        let shown = |name: &Path| Path::new(FOLDER).join(name);
        for name in &names {
            let Some((bytes, is_tail)) = end_of(&folder, name)? else { continue };
            let (lines, is_cut) = last_lines(&bytes, is_tail, most, pattern.as_ref());
            return Ok(Logs { source: shown(name).display().to_string(), lines, is_cut });
        }
        let tried: Vec<String> = names.iter().map(|n| shown(n).display().to_string()).collect();
        Err(HostError::Absent {
            what: "log",
            name: tried.join("` or `"),
            next: "name a file below /var/log that is there",
        })
    })
    .await
}

/// The end of a plain file, and whether something is before it; `None` where there is none.
fn end_of(folder: &Path, name: &Path) -> Result<Option<(Vec<u8>, bool)>, HostError> {
    let path = folder.join(name);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let dir = match rustix::fs::open(folder, flags, Mode::empty()) {
        Ok(dir) => dir,
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(e) => return Err(io_at("opened", folder)(e)),
    };
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let mut file = match rustix::fs::openat2(&dir, name, flags, Mode::empty(), resolve) {
        Ok(file) => File::from(file),
        Err(rustix::io::Errno::NOENT) => return Ok(None),
        Err(rustix::io::Errno::XDEV | rustix::io::Errno::LOOP) => {
            let problem = "it leads out of /var/log";
            return Err(HostError::invalid("the file", path.display().to_string(), problem));
        }
        Err(e) => return Err(io_at("opened", &path)(e)),
    };
    let stat = rustix::fs::fstat(&file).map_err(io_at("read", &path))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        let is = crate::place::kind_words(kind);
        return Err(HostError::Kind { path, is, wanted: "a file" });
    }
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let from = size.saturating_sub(READ_MAX);
    file.seek(SeekFrom::Start(from)).map_err(io_at("read", &path))?;
    let mut bytes = Vec::new();
    file.take(READ_MAX).read_to_end(&mut bytes).map_err(io_at("read", &path))?;
    Ok(Some((bytes, from > 0)))
}

pub(crate) fn last_lines(
    bytes: &[u8],
    is_tail: bool,
    most: usize,
    pattern: Option<&BytesRegex>,
) -> (Vec<Line>, bool) {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let mut all: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    if is_tail || bytes.is_empty() {
        // The first one is not whole, or there is none.
        all.remove(0);
    }
    all.retain(|line| pattern.is_none_or(|pattern| pattern.is_match(line)));
    let from = all.len().saturating_sub(most);
    let lines = all[from..].iter().map(|line| Line { text: text(line), ..Line::default() });
    (lines.collect(), is_tail || from > 0)
}

/// What can be shown, cut where it is long.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(LINE_MAX)]);
    text.trim_end_matches('\r').to_owned()
}

async fn journal(
    host: &Host,
    source: &str,
    args: &[&str],
    wanted: &Wanted,
    pattern: Option<&BytesRegex>,
) -> Result<Logs, HostError> {
    let read = if pattern.is_some() { SEARCHED } else { wanted.lines.saturating_add(1) };
    let mut call = Call::new("journalctl")
        .args(["-o", "json", "--no-pager", "-q", "-r", "-n", &read.to_string()])
        .args(["--output-fields=MESSAGE,PRIORITY,SYSLOG_IDENTIFIER,_SYSTEMD_UNIT,_COMM"])
        .args(args.iter().copied())
        .timeout(TIMEOUT);
    if let Some(since) = wanted.since {
        call = call.arg(format!("--since=@{since}"));
    }
    if let Some(until) = wanted.until {
        call = call.arg(format!("--until=@{until}"));
    }
    if let Some(priority) = wanted.priority {
        call = call.arg(format!("--priority={priority}"));
    }
    let finished = host.run(call).await?;
    let most = usize::try_from(wanted.lines).unwrap_or(usize::MAX);
    let entries = finished.stdout.split(|byte| *byte == b'\n').filter_map(entry);
    let mut fitting =
        entries.filter(|line| pattern.is_none_or(|pattern| pattern.is_match(line.text.as_bytes())));
    let mut lines: Vec<Line> = fitting.by_ref().take(most).collect();
    let is_cut = finished.is_cut || fitting.next().is_some();
    lines.reverse();
    Ok(Logs { source: source.to_owned(), lines, is_cut })
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "__REALTIME_TIMESTAMP", default)]
    time: Option<String>,
    #[serde(rename = "MESSAGE", default)]
    message: serde_json::Value,
    #[serde(rename = "PRIORITY", default)]
    priority: Option<String>,
    #[serde(rename = "SYSLOG_IDENTIFIER", default)]
    identifier: serde_json::Value,
    #[serde(rename = "_SYSTEMD_UNIT", default)]
    unit: serde_json::Value,
    #[serde(rename = "_COMM", default)]
    program: serde_json::Value,
}

/// A line of `journalctl -o json`. What is not text comes as a list of bytes.
pub(crate) fn entry(line: &[u8]) -> Option<Line> {
    let entry: Entry =
        serde_json::from_slice(Some(line).filter(|line| line.starts_with(b"{"))?).ok()?;
    let by = [&entry.identifier, &entry.unit, &entry.program];
    let by = by.into_iter().find_map(|name| name.as_str().map(str::to_owned));
    Some(Line {
        micros: entry.time.and_then(|time| time.parse().ok()),
        by,
        priority: entry.priority.and_then(|level| level.parse().ok()),
        text: match &entry.message {
            serde_json::Value::String(message) => text(message.as_bytes()),
            serde_json::Value::Array(bytes) => {
                let byte = |value: &serde_json::Value| u8::try_from(value.as_u64()?).ok();
                text(&bytes.iter().filter_map(byte).collect::<Vec<u8>>())
            }
            _ => String::new(),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_file_are_told() {
        let told = |bytes: &[u8], is_tail, most, grep: Option<&str>| {
            let pattern = grep.map(|text| pattern(text).unwrap());
            let (lines, is_cut) = last_lines(bytes, is_tail, most, pattern.as_ref());
            (lines.into_iter().map(|line| line.text).collect::<Vec<_>>().join("|"), is_cut)
        };
        assert_eq!(told(b"a\nb\r\nc\n", false, 9, None), ("a|b|c".into(), false));
        assert_eq!(told(b"a\nb\nc", false, 2, None), ("b|c".into(), true));
        assert_eq!(told(b"part\nb\n", true, 9, None), ("b".into(), true));
        assert_eq!(told(b"", false, 9, None), (String::new(), false));
        assert_eq!(told(b"ab\nb\nac\n", false, 1, Some("^a")), ("ac".into(), true));
        assert_eq!(told(b"\xff\n", false, 1, None), ("\u{fffd}".into(), false));
    }

    #[test]
    fn entries_of_the_journal_are_read() {
        let line = br#"{"__REALTIME_TIMESTAMP":"5","MESSAGE":"hi","PRIORITY":"3","_COMM":"x","SYSLOG_IDENTIFIER":"sshd"}"#;
        let read = entry(line).unwrap();
        assert_eq!(
            (read.micros, read.priority, read.by.as_deref()),
            (Some(5), Some(3), Some("sshd"))
        );
        let read = entry(br#"{"MESSAGE":[104,105,300],"_COMM":"x"}"#).unwrap();
        assert_eq!((read.text.as_str(), read.by.as_deref()), ("hi", Some("x")));
        assert_eq!(entry(br#"{"MESSAGE":null}"#).unwrap().text, "");
        assert!(entry(b"").is_none() && entry(b"[]").is_none());
    }

    #[test]
    fn only_files_below_the_folder_are_named() {
        assert_eq!(inside("/var/log/nginx/a.log").unwrap(), Path::new("nginx/a.log"));
        assert_eq!(inside("syslog").unwrap(), Path::new("syslog"));
        for bad in ["/etc/shadow", "/var/log", "", "/var/logs/x", "a\0b"] {
            assert!(inside(bad).is_err(), "{bad}");
        }
    }
}
