//! What the kernel says of the machine, in `/proc` and `/sys`.

use std::fs;
use std::path::Path;

use super::machine::Trouble;

/// Looks where looking may take a moment.
pub(super) async fn blocking<T: Send + 'static>(
    look: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Trouble> {
    let looked = tokio::task::spawn_blocking(look).await;
    looked.map_err(|_| Trouble::new("this process is stopping; do it again once it is back"))
}

/// A file of the kernel, empty where it is missing.
pub(super) fn text(path: &Path) -> String {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
        .unwrap_or_default()
}

/// Ports of sockets that wait, for TCP those in the state of listening, for UDP those without a partner.
pub(super) fn listening(net: &Path, protocols: &[&str]) -> Vec<u16> {
    let mut ports = Vec::new();
    for protocol in protocols {
        let state = if *protocol == "tcp" { "0A" } else { "07" };
        for file in [(*protocol).to_owned(), format!("{protocol}6")] {
            let table = text(&net.join(file));
            ports.extend(table.lines().skip(1).filter_map(|line| {
                let words: Vec<&str> = line.split_whitespace().collect();
                let [_, local, _, is, ..] = words.as_slice() else { return None };
                let (_, port) = local.rsplit_once(':')?;
                (*is == state).then(|| u16::from_str_radix(port, 16).ok()).flatten()
            }));
        }
    }
    ports
}

/// Processes by their directories.
fn processes(proc: &Path) -> Vec<std::path::PathBuf> {
    let Ok(entries) = fs::read_dir(proc) else { return Vec::new() };
    let is_process = |name: &std::ffi::OsStr| {
        name.to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit()))
    };
    entries
        .flatten()
        .filter(|entry| is_process(&entry.file_name()))
        .map(|entry| entry.path())
        .collect()
}

/// The command lines of all processes but our own, words joined by spaces.
pub(super) fn command_lines(proc: &Path) -> Vec<String> {
    let own = std::process::id().to_string();
    let others = processes(proc).into_iter().filter(|path| path.file_name() != Some(own.as_ref()));
    let line = |path: std::path::PathBuf| {
        let words = text(&path.join("cmdline"));
        words.trim_matches('\0').replace('\0', " ")
    };
    others.map(line).filter(|line| !line.is_empty()).collect()
}

/// The states of all processes, one letter each.
pub(super) fn states(proc: &Path) -> Vec<char> {
    let state = |path: std::path::PathBuf| {
        let stat = text(&path.join("stat"));
        stat.rsplit_once(')')?.1.trim_start().chars().next()
    };
    processes(proc).into_iter().filter_map(state).collect()
}

/// A line of `/proc/mounts`.
#[derive(serde::Serialize)]
pub(super) struct Mount {
    pub device: String,
    pub mountpoint: String,
    pub fstype: String,
    pub options: String,
}

pub(super) fn mounts(proc: &Path) -> Vec<Mount> {
    let table = text(&proc.join("mounts"));
    let mount = |line: &str| {
        let mut words = line.split_whitespace().map(unescaped);
        Some(Mount {
            device: words.next()?,
            mountpoint: words.next()?,
            fstype: words.next()?,
            options: words.next()?,
        })
    };
    table.lines().filter_map(mount).collect()
}

/// Spaces and their like are written in octal there.
fn unescaped(word: &str) -> String {
    let codes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    codes.iter().fold(word.to_owned(), |word, (code, plain)| word.replace(code, plain))
}

/// `Name: 123 kB` lines, in bytes.
pub(super) fn memory(proc: &Path) -> impl Fn(&str) -> u64 + use<> {
    let table = text(&proc.join("meminfo"));
    move |name| {
        let line = table.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kilobytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) * 1024
    }
}
