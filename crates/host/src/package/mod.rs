//! Packages, through whichever manager the machine has.
//!
//! What is there is asked of the manager's database and compared by name, so what is installed already
//! is not touched. All calls are non-interactive; files of the configuration that somebody changed are
//! kept. Names are checked so that none can be an option.

mod ask;
mod calls;
mod local;
mod parse;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::values::one_or_many;
use crate::{Host, HostError};

pub use ask::{
    Found, Installed, Which, dependencies, info, is_installed, list, search, upgradable, version,
    which,
};
pub use local::LocalPackage;

/// More packages than these are counted in a message.
const NAMED_MAX: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Manager {
    Apt,
    Dnf,
    Yum,
    Pacman,
    Zypper,
    Apk,
}

impl Manager {
    /// In the order in which they are looked for.
    pub const ALL: [Manager; 6] =
        [Manager::Apt, Manager::Dnf, Manager::Yum, Manager::Pacman, Manager::Zypper, Manager::Apk];

    /// The manager of the machine.
    pub fn detect(host: &Host) -> Result<Manager, HostError> {
        let found = Manager::ALL.into_iter().find(|manager| host.has(manager.program()));
        found.ok_or(HostError::NoPackageManager)
    }

    pub fn program(self) -> &'static str {
        match self {
            Manager::Apt => "apt-get",
            Manager::Dnf => "dnf",
            Manager::Yum => "yum",
            Manager::Pacman => "pacman",
            Manager::Zypper => "zypper",
            Manager::Apk => "apk",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Manager::Apt => "apt",
            other => other.program(),
        }
    }
}

impl fmt::Display for Manager {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Packages that are installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    #[serde(deserialize_with = "one_or_many")]
    pub packages: Vec<String>,
    /// The machine's own when left out.
    #[serde(default)]
    pub manager: Option<Manager>,
    /// Whether the lists of packages are fetched anew before something is installed.
    #[serde(default)]
    pub update: bool,
    /// Whether removing takes files of the configuration, too, where the manager can.
    #[serde(default)]
    pub purge: bool,
}

impl Package {
    pub fn of<I: IntoIterator<Item: Into<String>>>(packages: I) -> Package {
        Package { packages: packages.into_iter().map(Into::into).collect(), ..Package::default() }
    }

    fn manager(&self, host: &Host) -> Result<Manager, HostError> {
        match self.manager {
            Some(manager) => Ok(manager),
            None => Manager::detect(host),
        }
    }

    /// The packages in two parts: those that are there with their versions, and those that are not.
    async fn divided(
        &self,
        host: &Host,
        manager: Manager,
    ) -> Result<(Vec<Installed>, Vec<String>), HostError> {
        if self.packages.is_empty() {
            return Err(HostError::invalid("the packages", "", "name at least one"));
        }
        let mut names: Vec<&str> = Vec::new();
        for name in &self.packages {
            let name = package_name(name)?;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let installed = ask::installed_among(host, manager, &names).await?;
        let is_there = |name: &str| installed.iter().any(|found| found.name == name);
        let missing = names.iter().filter(|name| !is_there(name)).map(|name| (*name).to_owned());
        let missing = missing.collect();
        Ok((installed, missing))
    }
}

impl Primitive for Package {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let manager = self.manager(host)?;
        let (_, missing) = self.divided(host, manager).await?;
        if missing.is_empty() {
            return Ok(Plan::new(format!("{} installed already", are(&self.packages))));
        }
        let added = |name: &String| Change::added(format!("package {name}"), "installed");
        let mut plan =
            Plan::new(format!("{} installed", are(&missing))).changes(missing.iter().map(added));
        if self.update {
            plan = plan.run(calls::update(manager));
        }
        Ok(plan.run(calls::install(manager, &missing)))
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let manager = self.manager(host)?;
        let (installed, _) = self.divided(host, manager).await?;
        if installed.is_empty() {
            return Ok(Plan::new(format!("{} not installed", are(&self.packages))));
        }
        let names: Vec<String> = installed.iter().map(|found| found.name.clone()).collect();
        let removed = |found: &Installed| {
            Change::removed(format!("package {}", found.name), found.version.clone())
        };
        Ok(Plan::new(format!("{} removed", are(&names)))
            .changes(installed.iter().map(removed))
            .run(calls::remove(manager, &names, self.purge)))
    }
}

fn are(names: &[String]) -> String {
    match names {
        [one] => format!("{one} is"),
        few if few.len() <= NAMED_MAX => format!("{} are", few.join(", ")),
        many => format!("{} packages are", many.len()),
    }
}

pub(crate) fn package_name(name: &str) -> Result<&str, HostError> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+._:~-".contains(&byte);
    let is_good = (1..=200).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.bytes().all(is_plain);
    match is_good {
        true => Ok(name),
        false => {
            let problem = "a name begins with a letter or digit and has only those and `+._:~-`";
            Err(HostError::invalid("the package", name, problem))
        }
    }
}

/// Fetches the lists of packages anew.
pub async fn update(host: &Host) -> Result<Plan, HostError> {
    let manager = Manager::detect(host)?;
    Ok(Plan::new("the lists of packages are fetched").run(calls::update(manager)))
}

/// Brings all packages up to date, as far as the lists on the machine know.
pub async fn upgrade(host: &Host) -> Result<Plan, HostError> {
    let manager = Manager::detect(host)?;
    let pending = ask::pending(host, manager).await?;
    if pending.is_empty() {
        return Ok(Plan::new("all packages are up to date"));
    }
    let newer = |name: &String| Change::altered(format!("package {name}"), "older", "newer");
    Ok(Plan::new(format!("{} upgraded", are(&pending)))
        .changes(pending.iter().map(newer))
        .run(calls::upgrade(manager)))
}

/// Brings these packages up to date; those that are not installed are left alone.
pub async fn upgrade_some(host: &Host, names: &[String]) -> Result<Plan, HostError> {
    let manager = Manager::detect(host)?;
    for name in names {
        package_name(name)?;
    }
    let mut pending = ask::pending(host, manager).await?;
    pending.retain(|name| names.contains(name));
    if pending.is_empty() {
        return Ok(Plan::new(format!("{} up to date", are(names))));
    }
    let newer = |name: &String| Change::altered(format!("package {name}"), "older", "newer");
    Ok(Plan::new(format!("{} upgraded", are(&pending)))
        .changes(pending.iter().map(newer))
        .run(calls::upgrade_some(manager, &pending)))
}

/// Removes what was fetched to install packages from.
pub async fn clean(host: &Host) -> Result<Plan, HostError> {
    let manager = Manager::detect(host)?;
    Ok(Plan::new("fetched packages are removed").run(calls::clean(manager)))
}

/// Removes packages that came for others and that nothing needs any more.
pub async fn autoremove(host: &Host) -> Result<Plan, HostError> {
    let manager = Manager::detect(host)?;
    let Some(unneeded) = ask::unneeded(host, manager).await? else {
        let plan = Plan::new("packages that nothing needs are removed");
        return Ok(plan.run(calls::autoremove(manager, &[])));
    };
    if unneeded.is_empty() {
        return Ok(Plan::new("no package is there without need"));
    }
    let removed = |name: &String| Change::removed(format!("package {name}"), "not needed");
    Ok(Plan::new(format!("{} removed", are(&unneeded)))
        .changes(unneeded.iter().map(removed))
        .run(calls::autoremove(manager, &unneeded)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_be_options_or_paths() {
        for name in ["nginx", "g++", "libc6:i386", "python3.11", "7zip", "a_b~c"] {
            assert!(package_name(name).is_ok(), "{name}");
        }
        for name in ["", "-y", "--force", "../x", "/tmp/x.deb", "a b", "a;b", "@group", "a=1", "a*"]
        {
            assert!(package_name(name).is_err(), "{name}");
        }
    }
}
