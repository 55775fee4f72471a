//! Services of a machine, whoever starts them: systemd tells how each stands, and of others only what there is can
//! be told without running anything of theirs.

use super::{Listed, list};
use crate::facts::{Init, init};
use crate::plan::blocking;
use crate::{Host, HostError};

const SCRIPTS: &str = "/etc/init.d";
const NO_STATES: &str = "this machine does not run systemd; these are the scripts in /etc/init.d, and only running one would tell how it stands";
const NOBODY: &str = "no service manager was found on this machine: it may be a container";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overview {
    pub init: Init,
    pub services: Vec<Listed>,
    /// What cannot be told, and why.
    pub note: Option<&'static str>,
}

/// All services, or those of one state (`running`, `failed`, ..).
pub async fn overview(host: &Host, state: Option<&str>) -> Result<Overview, HostError> {
    let init = init(host)?;
    if init == Init::Systemd {
        let services = list(host, state).await?;
        return Ok(Overview { init, services, note: None });
    }
    let folder = host.path(SCRIPTS)?;
    let scripts = blocking(move || Ok(scripts(&folder))).await?;
    let note = if scripts.is_empty() { NOBODY } else { NO_STATES };
    let script = |name: String| Listed {
        name,
        load: "script".to_owned(),
        active: String::new(),
        sub: "unknown".to_owned(),
        description: String::new(),
    };
    let services = match state {
        Some(_) => Vec::new(),
        None => scripts.into_iter().map(script).collect(),
    };
    Ok(Overview { init, services, note: Some(note) })
}

fn scripts(folder: &std::path::Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt as _;
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_script = |entry: &std::fs::DirEntry| {
        entry
            .metadata()
            .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
    };
    let names = entries.filter(is_script).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name != "skeleton").collect();
    names.sort();
    names
}

/// An error that says what to do where services cannot be told anything.
pub fn require_systemd(host: &Host) -> Result<(), HostError> {
    match init(host)? {
        Init::Systemd => Ok(()),
        Init::Openrc | Init::Sysv | Init::Unknown => Err(HostError::Missing {
            program: "systemd".to_owned(),
            next: "services are told what to do only on machines that run it; use what starts this machine's services, by a task or a workload",
        }),
    }
}
