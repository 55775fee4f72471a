//! What the other rooms need to know of a machine: its distribution, and who starts its services.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::io_at;
use crate::{Host, HostError};

/// `/etc/os-release`, read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// `debian`, `fedora`, `alpine`, ..
    pub id: String,
    /// What it is made from or compatible with.
    pub id_like: Vec<String>,
    pub version: String,
    /// For people.
    pub name: String,
    /// Every field, by its name in the file.
    pub fields: BTreeMap<String, String>,
}

impl Distribution {
    fn parse(text: &str) -> Distribution {
        let fields: BTreeMap<String, String> = text
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim())))
            .collect();
        let field = |name: &str| fields.get(name).cloned().unwrap_or_default();
        let name = match field("PRETTY_NAME") {
            name if name.is_empty() => field("NAME"),
            name => name,
        };
        Distribution {
            id: field("ID"),
            id_like: field("ID_LIKE").split_whitespace().map(str::to_owned).collect(),
            version: field("VERSION_ID"),
            name,
            fields,
        }
    }

    /// Whether it is this one, or made from it.
    pub fn is_like(&self, id: &str) -> bool {
        self.id == id || self.id_like.iter().any(|like| like == id)
    }
}

/// Quotes and backslashes as a shell would take them.
fn unquoted(value: &str) -> String {
    let inner = ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value);
    let mut plain = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.extend(chars.next()),
            c => plain.push(c),
        }
    }
    plain
}

/// The distribution of the machine; empty where it does not say.
pub async fn distribution(host: &Host) -> Result<Distribution, HostError> {
    for path in ["/etc/os-release", "/usr/lib/os-release"] {
        let at = host.path(path)?;
        match tokio::fs::read(&at).await {
            Ok(bytes) => return Ok(Distribution::parse(&String::from_utf8_lossy(&bytes))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(io_at("read", &at)(e)),
        }
    }
    Ok(Distribution::default())
}

/// Who starts services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Init {
    Systemd,
    Openrc,
    Sysv,
    Unknown,
}

pub fn init(host: &Host) -> Result<Init, HostError> {
    let there = |path: &str| host.path(path).map(|at| at.exists());
    Ok(if there("/run/systemd/system")? {
        Init::Systemd
    } else if there("/run/openrc")? || there("/sbin/openrc-run")? {
        Init::Openrc
    } else if there("/etc/init.d")? && there("/etc/inittab")? {
        Init::Sysv
    } else {
        Init::Unknown
    })
}

impl Init {
    pub fn name(self) -> &'static str {
        match self {
            Init::Systemd => "systemd",
            Init::Openrc => "openrc",
            Init::Sysv => "sysv",
            Init::Unknown => "unknown",
        }
    }
}

/// Why the machine should be restarted, as its package manager left word of it; `None` where nothing asks for it.
pub fn reboot_wanted(host: &Host) -> Result<Option<String>, HostError> {
    for path in ["/run/reboot-required", "/var/run/reboot-required"] {
        if !host.path(path)?.exists() {
            continue;
        }
        let packages = std::fs::read(host.path(format!("{path}.pkgs"))?).unwrap_or_default();
        let packages = String::from_utf8_lossy(&packages[..packages.len().min(4096)]).into_owned();
        let mut names: Vec<&str> = packages.lines().map(str::trim).collect();
        names.retain(|name| !name.is_empty());
        names.sort_unstable();
        names.dedup();
        return Ok(Some(match names.as_slice() {
            [] => "packages were upgraded".to_owned(),
            names => names.join(", "),
        }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_read() {
        let text = "# a comment\nNAME=\"Rocky Linux\"\nVERSION_ID='9.3'\nID=rocky\n\
                    ID_LIKE=\"rhel centos fedora\"\nPRETTY_NAME=\"Rocky \\\"Linux\\\" 9.3\"\n";
        let found = Distribution::parse(text);
        assert_eq!((found.id.as_str(), found.version.as_str()), ("rocky", "9.3"));
        assert_eq!(found.name, "Rocky \"Linux\" 9.3");
        assert!(found.is_like("fedora") && found.is_like("rocky") && !found.is_like("debian"));
        assert_eq!(found.fields["NAME"], "Rocky Linux");
        assert_eq!(Distribution::parse(""), Distribution::default());
        assert_eq!(Distribution::parse("NAME=Plain").name, "Plain");
    }
}
