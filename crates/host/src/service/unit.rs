//! The file that describes a service to systemd.
//!
//! Every value is one line: a line break would begin another setting. What is run is written as systemd
//! reads it; values of the environment are quoted, and `%` in them is only a percent sign.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{NO_SYSTEMD, Service, unit_name};
use crate::call::Call;
use crate::files::File;
use crate::plan::{Plan, Primitive};
use crate::values::{Mode, one_line, one_or_many};
use crate::{Host, HostError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitFile {
    pub name: String,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    pub after: Vec<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    pub wants: Vec<String>,
    #[serde(default, deserialize_with = "one_or_many")]
    pub requires: Vec<String>,
    pub exec_start: String,
    #[serde(default)]
    pub exec_stop: Option<String>,
    #[serde(default)]
    pub exec_reload: Option<String>,
    #[serde(default = "simple", rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default)]
    pub group: Option<String>,
    #[serde(default)]
    pub working_directory: Option<String>,
    #[serde(default = "always")]
    pub restart: String,
    /// Seconds, or a time such as `1min 30s`.
    #[serde(default)]
    pub restart_sec: Option<String>,
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    #[serde(default = "multi_user", deserialize_with = "one_or_many")]
    pub wanted_by: Vec<String>,
}

fn simple() -> String {
    "simple".to_owned()
}

fn always() -> String {
    "always".to_owned()
}

fn multi_user() -> Vec<String> {
    vec!["multi-user.target".to_owned()]
}

impl UnitFile {
    pub fn new(name: impl Into<String>, exec_start: impl Into<String>) -> UnitFile {
        UnitFile {
            name: name.into(),
            description: None,
            after: Vec::new(),
            wants: Vec::new(),
            requires: Vec::new(),
            exec_start: exec_start.into(),
            exec_stop: None,
            exec_reload: None,
            kind: simple(),
            user: None,
            group: None,
            working_directory: None,
            restart: always(),
            restart_sec: None,
            environment: BTreeMap::new(),
            wanted_by: multi_user(),
        }
    }

    /// Where the file is.
    pub fn path(&self) -> Result<PathBuf, HostError> {
        path(&self.name)
    }

    /// The text of the file.
    pub fn render(&self) -> Result<String, HostError> {
        let mut text = Settings::default();
        text.section("Unit");
        text.set("Description", Some(self.description.as_deref().unwrap_or(&self.name)))?;
        text.set_list("After", &self.after)?;
        text.set_list("Wants", &self.wants)?;
        text.set_list("Requires", &self.requires)?;
        text.section("Service");
        text.set("Type", Some(&self.kind))?;
        text.set("ExecStart", Some(&self.exec_start))?;
        text.set("ExecStop", self.exec_stop.as_deref())?;
        text.set("ExecReload", self.exec_reload.as_deref())?;
        text.set("User", self.user.as_deref())?;
        text.set("Group", self.group.as_deref())?;
        text.set("WorkingDirectory", self.working_directory.as_deref())?;
        text.set("Restart", Some(&self.restart))?;
        text.set("RestartSec", self.restart_sec.as_deref())?;
        for (name, value) in &self.environment {
            text.set_environment(name, value)?;
        }
        text.section("Install");
        text.set_list("WantedBy", &self.wanted_by)?;
        Ok(text.0)
    }
}

fn path(name: &str) -> Result<PathBuf, HostError> {
    let unit = unit_name(name)?;
    match unit.ends_with(".service") {
        true => Ok(PathBuf::from("/etc/systemd/system").join(unit)),
        false => Err(HostError::invalid("the unit", name, "only services are written here")),
    }
}

#[derive(Default)]
struct Settings(String);

impl Settings {
    fn section(&mut self, name: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = writeln!(self.0, "[{name}]");
    }

    fn set(&mut self, name: &'static str, value: Option<&str>) -> Result<(), HostError> {
        let Some(value) = value else { return Ok(()) };
        let value = one_line(name, value)?.trim();
        if value.is_empty() || value.ends_with('\\') {
            let problem = "it must not be empty or end with a backslash";
            return Err(HostError::invalid(name, value, problem));
        }
        let _ = writeln!(self.0, "{name}={value}");
        Ok(())
    }

    fn set_list(&mut self, name: &'static str, values: &[String]) -> Result<(), HostError> {
        match values.is_empty() {
            true => Ok(()),
            false => self.set(name, Some(&values.join(" "))),
        }
    }

    fn set_environment(&mut self, name: &str, value: &str) -> Result<(), HostError> {
        let is_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !is_name {
            let problem = "only letters, digits and underscores are allowed";
            return Err(HostError::invalid("the variable", name, problem));
        }
        let value = one_line("the value of a variable", value)?;
        let quoted = value.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%");
        let _ = writeln!(self.0, "Environment=\"{name}={quoted}\"");
        Ok(())
    }
}

impl Primitive for UnitFile {
    /// Writes the file and makes systemd read it; starting it is [`Service`]'s.
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        host.require("systemctl", NO_SYSTEMD)?;
        let mut file = File::with_content(self.path()?, self.render()?.as_str());
        file.mode = Some(Mode::new(0o644));
        let plan = file.present(host).await?;
        Ok(if plan.is_empty() { plan } else { plan.run(daemon_reload()) })
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        remove(host, &self.name).await
    }
}

/// Stops and disables a service and removes its file.
pub(super) async fn remove(host: &Host, name: &str) -> Result<Plan, HostError> {
    host.require("systemctl", NO_SYSTEMD)?;
    let removal = File::new(path(name)?).absent(host).await?;
    if removal.is_empty() {
        return Ok(removal);
    }
    let stopped = Service::named(name).absent(host).await?;
    Ok(stopped.then(removal.run(daemon_reload())))
}

fn daemon_reload() -> Call {
    Call::new("systemctl").arg("daemon-reload").privileged()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_written() {
        let unit: UnitFile = serde_json::from_str(
            r#"{"name": "app", "description": "The app", "after": "network.target",
                "wants": ["a.service", "b.service"], "requires": ["c.service"],
                "exec_start": "/usr/bin/app --port 80", "exec_stop": "/usr/bin/app stop",
                "exec_reload": "/bin/kill -HUP $MAINPID", "type": "notify", "user": "app",
                "group": "app", "working_directory": "/srv/app", "restart": "on-failure",
                "restart_sec": "5", "environment": {"A": "1 \"x\" 50%", "B": "c\\d"},
                "wanted_by": "graphical.target"}"#,
        )
        .unwrap();
        assert_eq!(
            unit.render().unwrap(),
            "[Unit]\nDescription=The app\nAfter=network.target\nWants=a.service b.service\n\
             Requires=c.service\n\n[Service]\nType=notify\nExecStart=/usr/bin/app --port 80\n\
             ExecStop=/usr/bin/app stop\nExecReload=/bin/kill -HUP $MAINPID\nUser=app\nGroup=app\n\
             WorkingDirectory=/srv/app\nRestart=on-failure\nRestartSec=5\n\
             Environment=\"A=1 \\\"x\\\" 50%%\"\nEnvironment=\"B=c\\\\d\"\n\n\
             [Install]\nWantedBy=graphical.target\n"
        );
    }

    #[test]
    fn what_is_not_told_is_the_usual() {
        assert_eq!(
            UnitFile::new("app", "/bin/app").render().unwrap(),
            "[Unit]\nDescription=app\n\n[Service]\nType=simple\nExecStart=/bin/app\n\
             Restart=always\n\n[Install]\nWantedBy=multi-user.target\n"
        );
        let path = UnitFile::new("app", "/bin/app").path().unwrap();
        assert_eq!(path, PathBuf::from("/etc/systemd/system/app.service"));
        assert!(UnitFile::new("app.timer", "/bin/app").path().is_err());
    }

    #[test]
    fn no_value_can_begin_another_setting() {
        let with = |change: fn(&mut UnitFile)| {
            let mut unit = UnitFile::new("app", "/bin/app");
            change(&mut unit);
            unit.render()
        };
        assert!(with(|unit| unit.exec_start = "/bin/a\nUser=root".into()).is_err());
        assert!(with(|unit| unit.description = Some("a\nb".into())).is_err());
        assert!(with(|unit| unit.description = Some("a\\".into())).is_err());
        assert!(with(|unit| unit.after = vec!["a\nb".into()]).is_err());
        assert!(with(|unit| unit.exec_start = " ".into()).is_err());
        assert!(with(|unit| drop(unit.environment.insert("A".into(), "b\nc".into()))).is_err());
        assert!(with(|unit| drop(unit.environment.insert("A=B".into(), "c".into()))).is_err());
    }
}
