//! Questions about packages. Nothing here changes anything.

use std::path::PathBuf;

use serde::Serialize;

use super::{Manager, package_name, parse};
use crate::call::Call;
use crate::{Host, HostError};

const RPM_FORMAT: &str = "%{NAME}\\t%{VERSION}-%{RELEASE}\\n";

/// An installed package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Installed {
    pub name: String,
    pub version: String,
}

impl Installed {
    pub(super) fn new(name: impl Into<String>, version: impl Into<String>) -> Installed {
        Installed { name: name.into(), version: version.into() }
    }
}

/// A package that a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    pub name: String,
    pub version: Option<String>,
    pub description: String,
}

impl Found {
    pub(super) fn new(
        name: impl Into<String>,
        version: Option<String>,
        description: impl Into<String>,
    ) -> Found {
        Found { name: name.into(), version, description: description.into() }
    }
}

fn is_rpm(manager: Manager) -> bool {
    matches!(manager, Manager::Dnf | Manager::Yum | Manager::Zypper)
}

fn no_such(name: &str) -> HostError {
    let next = "update the lists of packages, or check the name";
    HostError::Absent { what: "package", name: name.to_owned(), next }
}

/// Those of the names that are installed.
pub(super) async fn installed_among(
    host: &Host,
    manager: Manager,
    names: &[&str],
) -> Result<Vec<Installed>, HostError> {
    let (call, read): (Call, fn(&str) -> Vec<Installed>) = match manager {
        Manager::Apt => {
            let format = "-f=${binary:Package}\\t${Version}\\t${db:Status-Abbrev}\\n";
            (Call::new("dpkg-query").args(["-W", format]).answers(&[1]), parse::dpkg)
        }
        Manager::Pacman => (Call::new("pacman").arg("-Q").answers(&[1]), parse::spaced),
        Manager::Apk => (Call::new("apk").args(["info", "-e", "-v"]).answers(&[1]), parse::apk),
        _ => (Call::new("rpm").args(["-q", "--qf", RPM_FORMAT]), parse::tabbed),
    };
    // What `rpm` exits with is how many are missing, so any code is an answer.
    let call = call.args(names.iter().copied());
    let (argv, max) = (call.argv(), call.output_max);
    let answers = call.answers;
    let finished = host.attempt(call).await?;
    let is_answer = match finished.code {
        Some(0) => true,
        Some(code) => is_rpm(manager) || answers.contains(&code),
        None => false,
    };
    if !is_answer {
        return Err(HostError::failed(argv, finished.code, &finished.stderr));
    }
    if finished.is_cut {
        return Err(HostError::TooMuch { argv, max });
    }
    let found = read(&finished.text());
    Ok(names
        .iter()
        .filter_map(|name| {
            let found = found.iter().find(|found| is_named(&found.name, name))?;
            Some(Installed::new(*name, found.version.clone()))
        })
        .collect())
}

/// dpkg adds the architecture where there could be several.
fn is_named(found: &str, name: &str) -> bool {
    found == name || found.split_once(':').is_some_and(|(bare, _)| bare == name)
}

pub async fn is_installed(host: &Host, name: &str) -> Result<bool, HostError> {
    Ok(version(host, name).await?.is_some())
}

/// The installed version, `None` where it is not installed.
pub async fn version(host: &Host, name: &str) -> Result<Option<String>, HostError> {
    let manager = Manager::detect(host)?;
    let found = installed_among(host, manager, &[package_name(name)?]).await?;
    Ok(found.into_iter().next().map(|found| found.version))
}

/// All installed packages.
pub async fn list(host: &Host) -> Result<Vec<Installed>, HostError> {
    Ok(match Manager::detect(host)? {
        Manager::Apt => {
            let format = "-f=${binary:Package}\\t${Version}\\t${db:Status-Abbrev}\\n";
            parse::dpkg(&host.ask(Call::new("dpkg-query").args(["-W", format])).await?)
        }
        Manager::Pacman => parse::spaced(&host.ask(Call::new("pacman").arg("-Q")).await?),
        Manager::Apk => parse::apk(&host.ask(Call::new("apk").args(["list", "-I"])).await?),
        _ => parse::tabbed(&host.ask(Call::new("rpm").args(["-qa", "--qf", RPM_FORMAT])).await?),
    })
}

/// Packages whose name or description fits.
pub async fn search(host: &Host, query: &str) -> Result<Vec<Found>, HostError> {
    if query.is_empty() || query.starts_with('-') || query.contains(['\n', '\0']) {
        let problem = "write words that do not begin with `-`";
        return Err(HostError::invalid("the query", query, problem));
    }
    Ok(match Manager::detect(host)? {
        Manager::Apt => {
            let call = Call::new("apt-cache").args(["search", query]);
            parse::dashed(&host.ask(call).await?)
        }
        manager @ (Manager::Dnf | Manager::Yum) => {
            let call = Call::new(manager.program()).args(["-q", "search", query]).answers(&[1]);
            parse::dnf_search(&host.ask(call).await?)
        }
        Manager::Pacman => {
            let call = Call::new("pacman").args(["-Ss", query]).answers(&[1]);
            parse::pacman_search(&host.ask(call).await?)
        }
        Manager::Zypper => {
            let call = Call::new("zypper");
            let call = call.args(["--non-interactive", "--quiet", "search", query]);
            parse::zypper_search(&host.ask(call.answers(&[104])).await?)
        }
        Manager::Apk => {
            let call = Call::new("apk").args(["search", "-v", query]);
            parse::apk_search(&host.ask(call).await?)
        }
    })
}

/// What the manager says about a package, for people.
pub async fn info(host: &Host, name: &str) -> Result<String, HostError> {
    let name = package_name(name)?;
    let manager = Manager::detect(host)?;
    let call = match manager {
        Manager::Apt => Call::new("apt-cache").args(["show", name]),
        manager @ (Manager::Dnf | Manager::Yum) => {
            Call::new(manager.program()).args(["-q", "info", name])
        }
        Manager::Pacman => Call::new("pacman").args(["-Si", name]),
        Manager::Zypper => Call::new("zypper").args(["--non-interactive", "--quiet", "info", name]),
        Manager::Apk => Call::new("apk").args(["info", "-a", name]),
    };
    let finished = host.attempt(call).await?;
    let text = finished.text();
    // zypper says so and succeeds.
    let is_unknown = manager == Manager::Zypper && text.contains(&format!("'{name}' not found"));
    match finished.is_success() && !text.trim().is_empty() && !is_unknown {
        true => Ok(text),
        false => Err(no_such(name)),
    }
}

/// What a package needs: packages, or what packages provide.
pub async fn dependencies(host: &Host, name: &str) -> Result<Vec<String>, HostError> {
    let name = package_name(name)?;
    let manager = Manager::detect(host)?;
    let (call, read): (Call, fn(&str) -> Vec<String>) = match manager {
        Manager::Apt => (Call::new("apt-cache").args(["depends", name]), parse::apt_depends),
        Manager::Pacman => (Call::new("pacman").args(["-Si", name]), parse::pacman_depends),
        Manager::Apk => (Call::new("apk").args(["info", "-R", name]), parse::apk_depends),
        Manager::Dnf if version(host, name).await?.is_none() => {
            let call = Call::new("dnf").args(["-q", "repoquery", "--requires", name]);
            (call, parse::rpm_requires)
        }
        _ => (Call::new("rpm").args(["-q", "--requires", name]), parse::rpm_requires),
    };
    let finished = host.attempt(call).await?;
    match finished.is_success() {
        true => Ok(read(&finished.text())),
        false => Err(no_such(name)),
    }
}

/// A program and the package it came with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Which {
    pub path: PathBuf,
    /// `None` where no package owns it, or no manager is there to ask.
    pub package: Option<String>,
}

/// Where a program is, `None` where there is none of this name.
pub async fn which(host: &Host, executable: &str) -> Result<Option<Which>, HostError> {
    if executable.is_empty() || executable.starts_with('-') || executable.contains('/') {
        let problem = "write the name of a program, without a path";
        return Err(HostError::invalid("the executable", executable, problem));
    }
    let Some(path) = host.find(executable) else { return Ok(None) };
    let at = path.display().to_string();
    let mut package = None;
    if let Ok(manager) = Manager::detect(host) {
        package = owner(host, manager, &at).await?;
        // Packages older than the merge of `/usr` name what is in `/bin`.
        if let (None, Some(merged)) = (&package, at.strip_prefix("/usr/bin/")) {
            package = owner(host, manager, &format!("/bin/{merged}")).await?;
        }
    }
    Ok(Some(Which { path, package }))
}

async fn owner(host: &Host, manager: Manager, path: &str) -> Result<Option<String>, HostError> {
    let call = match manager {
        Manager::Apt => Call::new("dpkg-query").args(["-S", path]),
        Manager::Pacman => Call::new("pacman").args(["-Qoq", path]),
        Manager::Apk => Call::new("apk").args(["info", "-q", "-W", path]),
        _ => Call::new("rpm").args(["-qf", "--qf", "%{NAME}\\n", path]),
    };
    let finished = host.attempt(call).await?;
    if !finished.is_success() {
        return Ok(None);
    }
    let text = finished.text();
    let line = text.lines().next().unwrap_or_default().trim();
    let name = match manager {
        Manager::Apt => line.split([':', ',']).next().unwrap_or_default().to_owned(),
        Manager::Apk => parse::apk_name(line).map_or_else(|| line.to_owned(), |p| p.name),
        _ => line.to_owned(),
    };
    Ok(Some(name).filter(|name| !name.is_empty()))
}

/// Packages that the lists on the machine know a newer version of: that version, and which one is there, as far as
/// the manager says.
pub async fn upgradable(host: &Host) -> Result<Vec<Found>, HostError> {
    newer(host, Manager::detect(host)?).await
}

/// Their names, of one manager.
pub(super) async fn pending(host: &Host, manager: Manager) -> Result<Vec<String>, HostError> {
    Ok(newer(host, manager).await?.into_iter().map(|found| found.name).collect())
}

async fn newer(host: &Host, manager: Manager) -> Result<Vec<Found>, HostError> {
    Ok(match manager {
        Manager::Apt => {
            let said = host.ask(Call::new("apt-get").args(["-s", "-q", "upgrade"])).await?;
            parse::apt_updates(&said)
        }
        Manager::Dnf | Manager::Yum => {
            let call = Call::new(manager.program()).args(["-q", "check-update"]).answers(&[100]);
            parse::dnf_updates(&host.ask(call.timeout(super::local::LONG)).await?)
        }
        Manager::Pacman => {
            let call = Call::new("pacman").arg("-Qu").answers(&[1]);
            parse::pacman_updates(&host.ask(call).await?)
        }
        Manager::Zypper => {
            let call = Call::new("zypper");
            let call = call.args(["--non-interactive", "--quiet", "list-updates"]);
            parse::zypper_updates(&host.ask(call.timeout(super::local::LONG)).await?)
        }
        Manager::Apk => {
            let said = host.ask(Call::new("apk").args(["version", "-q", "-l", "<"])).await?;
            let names = parse::first_words(&said).into_iter();
            names.map(|name| Found::new(name, None, "")).collect()
        }
    })
}

/// Packages that came for others and that nothing needs; `None` where only doing it would tell. apk
/// keeps none.
pub(super) async fn unneeded(
    host: &Host,
    manager: Manager,
) -> Result<Option<Vec<String>>, HostError> {
    Ok(Some(match manager {
        Manager::Apt => {
            let said = host.ask(Call::new("apt-get").args(["-s", "-q", "autoremove"])).await?;
            parse::apt_simulated(&said, "Remv")
        }
        Manager::Dnf => {
            let call = Call::new("dnf");
            let call = call.args(["-q", "repoquery", "--installed", "--unneeded", "--qf"]);
            let call = call.arg("%{name}\n").timeout(super::local::LONG);
            parse::first_words(&host.ask(call).await?)
        }
        Manager::Yum => return Ok(None),
        Manager::Pacman => {
            let call = Call::new("pacman").arg("-Qdtq").answers(&[1]);
            parse::first_words(&host.ask(call).await?)
        }
        Manager::Zypper => {
            let call = Call::new("zypper");
            let call = call.args(["--non-interactive", "--quiet", "packages", "--unneeded"]);
            parse::zypper_names(&host.ask(call).await?)
        }
        Manager::Apk => Vec::new(),
    }))
}
