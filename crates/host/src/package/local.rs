//! A package from a file on the machine.
//!
//! The file says which package and version it is; when that is installed already, nothing is done. It
//! has to be signed as the manager wants it, unless `untrusted` is said.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::ask::{Installed, installed_among};
use super::{Manager, calls, parse};
use crate::call::Call;
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

/// For what may have to fetch lists.
pub(super) const LONG: Duration = Duration::from_secs(600);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalPackage {
    pub file: PathBuf,
    /// Whether its signature does not matter.
    #[serde(default)]
    pub untrusted: bool,
}

impl LocalPackage {
    pub fn new(file: impl Into<PathBuf>) -> LocalPackage {
        LocalPackage { file: file.into(), untrusted: false }
    }

    fn path(&self, host: &Host) -> Result<String, HostError> {
        let name = self.file.display().to_string();
        match host.path(&self.file)?.is_file() {
            true => Ok(name),
            false => {
                let next = "bring it to the machine first";
                Err(HostError::Absent { what: "file", name, next })
            }
        }
    }

    async fn described(&self, host: &Host, manager: Manager) -> Result<Installed, HostError> {
        let path = self.path(host)?;
        let found = match manager {
            Manager::Apt => {
                let format = "${Package}\\t${Version}\\n";
                let call = Call::new("dpkg-deb").args(["--show", "--showformat", format, &path]);
                parse::tabbed(&host.ask(call).await?).into_iter().next()
            }
            Manager::Pacman => {
                let call = Call::new("pacman").args(["-Qp", &path]);
                parse::spaced(&host.ask(call).await?).into_iter().next()
            }
            Manager::Apk => {
                let stem = self.file.file_stem().and_then(|stem| stem.to_str());
                stem.and_then(parse::apk_name)
            }
            _ => {
                let format = "%{NAME}\\t%{VERSION}-%{RELEASE}\\n";
                let call = Call::new("rpm").args(["-qp", "--qf", format, &path]);
                parse::tabbed(&host.ask(call).await?).into_iter().next()
            }
        };
        let problem = "it does not say which package it is; check that it is one";
        found.ok_or_else(|| HostError::invalid("the file", path, problem))
    }
}

impl Primitive for LocalPackage {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let manager = Manager::detect(host)?;
        let wanted = self.described(host, manager).await?;
        let name = &wanted.name;
        let found = installed_among(host, manager, &[name]).await?.into_iter().next();
        if found.as_ref().is_some_and(|found| found.version == wanted.version) {
            return Ok(Plan::new(format!("{name} {} is installed already", wanted.version)));
        }
        let before = found.map(|found| found.version);
        let change = Change::new(format!("package {name}"), before, Some(&wanted.version));
        Ok(Plan::new(format!("{name} {} is installed", wanted.version))
            .change(change)
            .run(calls::install_local(manager, &self.path(host)?, self.untrusted)))
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let manager = Manager::detect(host)?;
        let wanted = self.described(host, manager).await?;
        super::Package { manager: Some(manager), ..super::Package::of([wanted.name]) }
            .absent(host)
            .await
    }
}
