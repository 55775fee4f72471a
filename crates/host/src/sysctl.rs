//! Kernel parameters: what the kernel has now, and what it gets at the next boot.
//!
//! A parameter is a file below `/proc/sys`. In its name dots stand for slashes, unless the first
//! separator is a slash: then dots are dots (`net/ipv4/conf/eth0.100/forwarding`), as `sysctl` has it.
//! What is to last is one line in a file of `/etc/sysctl.d`. Removing takes that line away and leaves
//! what the kernel has.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::error::io_at;
use crate::files::{Line, pattern, read_text};
use crate::outcome::Change;
use crate::plan::{Plan, Primitive, blocking};
use crate::values::{one_line, yes};
use crate::{Host, HostError, Privilege};

const PARAMETERS: &str = "/proc/sys";
const LISTED_MAX: usize = 20_000;
const VALUE_MAX: usize = 64 << 10;

/// Where lasting values go unless told otherwise.
pub const PERSISTENT_FILE: &str = "/etc/sysctl.d/99-hostler.conf";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sysctl {
    pub key: String,
    pub value: String,
    /// Whether the kernel gets it now.
    #[serde(default = "yes")]
    pub runtime: bool,
    /// Whether it lasts over a boot.
    #[serde(default)]
    pub persistent: bool,
    /// Where it is written for that; [`PERSISTENT_FILE`] when left out.
    #[serde(default)]
    pub file: Option<PathBuf>,
}

impl Sysctl {
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Sysctl {
        Sysctl {
            key: key.into(),
            value: value.into(),
            runtime: true,
            persistent: false,
            file: None,
        }
    }

    fn line(&self) -> Line {
        let separated = self.key.replace(['.', '/'], "\0");
        let key = regex::escape(&separated).replace('\0', "[./]");
        Line {
            path: self.file.clone().unwrap_or_else(|| PERSISTENT_FILE.into()),
            line: Some(format!("{} = {}", self.key, self.value)),
            regexp: Some(format!(r"^\s*-?\s*{key}\s*=")),
            create: true,
            ..Line::default()
        }
    }

    async fn plan_runtime(&self, host: &Host) -> Result<Plan, HostError> {
        let key = &self.key;
        let at = location(host, key)?;
        let before = value_at(&at).await?.ok_or_else(|| absent(key))?;
        if same_value(&before, &self.value) {
            return Ok(Plan::new(format!("{key} is already so")));
        }
        let plan =
            Plan::new(format!("{key} is set")).change(Change::altered(key, before, &self.value));
        if host.privilege() == Privilege::Sudo {
            let setting = format!("{}={}", key, self.value);
            return Ok(plan.run(Call::new("sysctl").args(["-q", "-w", &setting]).privileged()));
        }
        let value = format!("{}\n", self.value);
        Ok(plan.files(move || {
            let opened = fs::OpenOptions::new().write(true).truncate(true).open(&at);
            let written =
                opened.and_then(|mut file| std::io::Write::write_all(&mut file, value.as_bytes()));
            written.map_err(io_at("set", &at))
        }))
    }
}

impl Primitive for Sysctl {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        parts(&self.key)?;
        one_line("the value", &self.value)?;
        let mut plan = Plan::new(format!("{} is left alone", self.key));
        if self.runtime {
            plan = self.plan_runtime(host).await?;
        }
        if self.persistent {
            plan = plan.then(self.line().present(host).await?);
        }
        Ok(plan)
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        parts(&self.key)?;
        self.line().absent(host).await
    }
}

fn parts(key: &str) -> Result<Vec<&str>, HostError> {
    let by_slash = key.find(['.', '/']).is_some_and(|at| key[at..].starts_with('/'));
    let parts: Vec<&str> = key.split(if by_slash { '/' } else { '.' }).collect();
    let is_good = |part: &&str| {
        !part.is_empty()
            && **part != *".."
            && **part != *"."
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.@:*".contains(&b))
    };
    match parts.len() > 1 && parts.iter().all(is_good) && key.len() <= 255 {
        true => Ok(parts),
        false => {
            let problem = "write a name such as `net.ipv4.ip_forward`";
            Err(HostError::invalid("the parameter", key, problem))
        }
    }
}

fn location(host: &Host, key: &str) -> Result<PathBuf, HostError> {
    let mut at = host.path(PARAMETERS)?;
    at.extend(parts(key)?);
    Ok(at)
}

fn absent(key: &str) -> HostError {
    let next = "check its name, or load the module of the kernel that has it";
    HostError::Absent { what: "kernel parameter", name: key.to_owned(), next }
}

async fn value_at(at: &Path) -> Result<Option<String>, HostError> {
    let at = at.to_owned();
    blocking(move || match fs::read(&at) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::IsADirectory) => Ok(None),
        Err(e) => Err(io_at("read", &at)(e)),
    })
    .await
}

/// The kernel puts tabs between numbers, people put spaces.
fn same_value(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

pub async fn get(host: &Host, key: &str) -> Result<String, HostError> {
    value_at(&location(host, key)?).await?.ok_or_else(|| absent(key))
}

pub async fn exists(host: &Host, key: &str) -> Result<bool, HostError> {
    Ok(location(host, key)?.is_file())
}

/// A parameter and what the kernel has for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Parameter {
    pub name: String,
    pub value: String,
}

/// All parameters that can be read and whose name fits the pattern, by name.
pub async fn list(host: &Host, fitting: Option<&str>) -> Result<Vec<Parameter>, HostError> {
    let fit = fitting.map(pattern).transpose()?;
    let root = host.path(PARAMETERS)?;
    blocking(move || {
        let mut found = Vec::new();
        let mut folders = vec![(root, Vec::new())];
        while let Some((folder, above)) = folders.pop() {
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().into_string() else { continue };
                let names: Vec<String> = above.iter().cloned().chain([name]).collect();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push((entry.path(), names)),
                    Ok(kind) if kind.is_file() && found.len() < LISTED_MAX => {
                        let full = written(&names);
                        if fit.as_ref().is_none_or(|fit| fit.is_match(&full))
                            && let Ok(bytes) = fs::read(entry.path())
                            && bytes.len() <= VALUE_MAX
                        {
                            let value = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                            found.push(Parameter { name: full, value });
                        }
                    }
                    _ => {}
                }
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    })
    .await
}

/// As [`parts`] reads it: with slashes where a name has dots of its own.
fn written(names: &[String]) -> String {
    let has_dots = names.iter().any(|name| name.contains('.'));
    names.join(if has_dots { "/" } else { "." })
}

const NO_SYSCTL: &str = "install procps";

/// Gives the kernel what one file says; `/etc/sysctl.conf` when left out.
pub async fn reload(host: &Host, file: Option<&Path>) -> Result<Plan, HostError> {
    host.require("sysctl", NO_SYSCTL)?;
    let file = file.unwrap_or(Path::new("/etc/sysctl.conf"));
    let at = host.path(file)?;
    let text = blocking(move || read_text(&at)).await?;
    let name = file.display().to_string();
    let next = "write it first, or name another";
    let text = text.ok_or(HostError::Absent { what: "file", name: name.clone(), next })?;
    let call = Call::new("sysctl").args(["-p", &name]).privileged();
    Ok(Plan::new(format!("parameters are loaded from {name}"))
        .changes(settings(host, &text).await?)
        .run(call))
}

/// Gives the kernel what all files of the machine say.
pub async fn apply_all(host: &Host) -> Result<Plan, HostError> {
    host.require("sysctl", NO_SYSCTL)?;
    let call = Call::new("sysctl").arg("--system").privileged();
    Ok(Plan::new("parameters are loaded from all files").run(call))
}

/// What would be different by the lines of a file.
async fn settings(host: &Host, text: &str) -> Result<Vec<Change>, HostError> {
    let mut changes = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with(['#', ';'])) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let (key, value) = (key.trim().trim_start_matches('-').trim(), value.trim());
        let Ok(at) = location(host, key) else { continue };
        if let Ok(Some(before)) = value_at(&at).await
            && !same_value(&before, value)
        {
            changes.push(Change::altered(key, before, value));
        }
    }
    Ok(changes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_below_proc_and_nothing_else() {
        assert_eq!(parts("net.ipv4.ip_forward").unwrap(), ["net", "ipv4", "ip_forward"]);
        assert_eq!(
            parts("net/ipv4/conf/eth0.1/x").unwrap(),
            ["net", "ipv4", "conf", "eth0.1", "x"]
        );
        for key in ["", "net", "net..x", "../../etc/passwd", "net/../../x", "a.b c", ".a", "/a/b"] {
            assert!(parts(key).is_err(), "{key}");
        }
    }

    #[test]
    fn numbers_are_the_same_however_they_are_spaced() {
        assert!(same_value("4096\t87380\t6291456\n", "4096 87380  6291456"));
        assert!(!same_value("1", "0"));
    }

    #[test]
    fn a_line_is_found_in_both_writings() {
        let line = Sysctl::new("net.ipv4.ip_forward", "1").line();
        let fit = pattern(&line.regexp.unwrap()).unwrap();
        assert!(fit.is_match("net.ipv4.ip_forward=0") && fit.is_match(" net/ipv4/ip_forward = 0"));
        assert!(
            !fit.is_match("net.ipv4.ip_forward_x = 0")
                && !fit.is_match("# net.ipv4.ip_forward = 0")
        );
    }
}
