//! Services of systemd, asked and told through `systemctl`.
//!
//! [`Service`] is whether a unit runs and whether it starts at boot; [`UnitFile`] is the file that
//! describes one. What has no state to compare (restart, reload) counts as a change each time.

mod overview;
mod unit;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::call::{Call, Finished};
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

pub use overview::{Overview, overview, require_systemd};
pub use unit::UnitFile;

const NO_SYSTEMD: &str = "this machine does not run systemd";
/// Services may take their time to start and stop.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Whether a unit runs and starts at boot; what is not told is left alone. Removing stops and disables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    pub name: String,
    #[serde(default)]
    pub running: Option<bool>,
    /// Whether it starts at boot.
    #[serde(default)]
    pub enabled: Option<bool>,
}

impl Service {
    pub fn named(name: impl Into<String>) -> Service {
        Service { name: name.into(), ..Service::default() }
    }

    async fn plan(&self, host: &Host) -> Result<Plan, HostError> {
        let unit = unit_name(&self.name)?;
        let mut changes = Vec::new();
        let mut verbs = Vec::new();
        if let Some(wanted) = self.enabled {
            let (_, state) = is_enabled(host, &unit).await?;
            if let Some(verb) = enable_verb(wanted, &state) {
                let after = if wanted { "enabled" } else { "disabled" };
                changes.push(Change::altered(format!("{unit} at boot"), state, after));
                verbs.push(verb);
            }
        }
        if let Some(wanted) = self.running {
            let (_, state) = is_active(host, &unit).await?;
            if let Some(verb) = run_verb(wanted, &state) {
                let after = if wanted { "active" } else { "inactive" };
                changes.push(Change::altered(&unit, state, after));
                verbs.push(verb);
            }
        }
        if verbs.is_empty() {
            return Ok(Plan::new(format!("{unit} is already so")));
        }
        let plan = Plan::new(format!("{unit}: {}", verbs.join(", "))).changes(changes);
        Ok(plan.runs(verbs.into_iter().map(|verb| told(verb, &unit))))
    }
}

impl Primitive for Service {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        self.plan(host).await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let off = Some(false);
        Service { name: self.name.clone(), running: off, enabled: off }.plan(host).await
    }
}

fn run_verb(wanted: bool, state: &str) -> Option<&'static str> {
    let is_up = matches!(state, "active" | "activating" | "reloading" | "refreshing");
    match (wanted, is_up) {
        (true, false) => Some("start"),
        (false, true) => Some("stop"),
        _ => None,
    }
}

/// A unit that nothing can enable (static, generated, ..) is left as it is.
fn enable_verb(wanted: bool, state: &str) -> Option<&'static str> {
    let is_on = matches!(state, "enabled" | "enabled-runtime" | "linked" | "linked-runtime");
    let is_fixed = matches!(state, "static" | "indirect" | "alias" | "generated" | "transient");
    match (wanted, is_on, is_fixed) {
        (true, false, false) => Some("enable"),
        (false, true, _) => Some("disable"),
        _ => None,
    }
}

/// The name of a unit, `.service` where it has no type.
pub(crate) fn unit_name(name: &str) -> Result<String, HostError> {
    const TYPES: &[&str] = &[
        "service",
        "socket",
        "device",
        "mount",
        "automount",
        "swap",
        "target",
        "path",
        "timer",
        "slice",
        "scope",
    ];
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b":-_.\\@".contains(&byte);
    if name.is_empty()
        || name.len() > 255
        || name.starts_with(['-', '.'])
        || !name.bytes().all(is_plain)
    {
        let problem =
            "only letters, digits and `:-_.\\@` are allowed, and it must not begin with `-`";
        return Err(HostError::invalid("the unit", name, problem));
    }
    let has_type = name.rsplit_once('.').is_some_and(|(_, end)| TYPES.contains(&end));
    Ok(if has_type { name.to_owned() } else { format!("{name}.service") })
}

fn systemctl(host: &Host) -> Result<Call, HostError> {
    host.require("systemctl", NO_SYSTEMD)?;
    Ok(Call::new("systemctl"))
}

fn told(verb: &str, unit: &str) -> Call {
    Call::new("systemctl").args([verb, "--", unit]).privileged().timeout(TIMEOUT)
}

async fn state(host: &Host, verb: &str, unit: &str) -> Result<(bool, String), HostError> {
    let finished = host.attempt(systemctl(host)?.args([verb, "--", unit])).await?;
    let text = finished.text();
    let word = text.lines().next().unwrap_or_default().trim();
    match (word, finished.complaint().trim()) {
        ("", complaint) if is_unreachable(complaint) => {
            let argv = ["systemctl", verb, "--", unit].map(str::to_owned).to_vec();
            Err(HostError::failed(argv, finished.code, &finished.stderr))
        }
        ("", _) => Ok((false, "not-found".to_owned())),
        (word, _) => Ok((finished.is_success(), word.to_owned())),
    }
}

fn is_unreachable(complaint: &str) -> bool {
    complaint.contains("Failed to connect") || complaint.contains("not been booted with systemd")
}

/// Whether it runs, and the state in systemd's word.
pub async fn is_active(host: &Host, name: &str) -> Result<(bool, String), HostError> {
    state(host, "is-active", &unit_name(name)?).await
}

/// Whether it starts at boot, and the state in systemd's word; `not-found` where there is no such unit.
pub async fn is_enabled(host: &Host, name: &str) -> Result<(bool, String), HostError> {
    state(host, "is-enabled", &unit_name(name)?).await
}

/// For people: state, processes, last lines of the journal.
pub async fn status(host: &Host, name: &str) -> Result<String, HostError> {
    let unit = unit_name(name)?;
    let call = systemctl(host)?
        .args(["status", "--no-pager", "--full", "--lines=20", "--", &unit])
        .answers(&[1, 2, 3]);
    match host.attempt(call).await? {
        Finished { code: Some(4), .. } => Err(no_unit(unit)),
        finished => Ok(finished.text()),
    }
}

fn no_unit(unit: String) -> HostError {
    let next = "write its file first, install its package, or check the name";
    HostError::Absent { what: "unit", name: unit, next }
}

/// Everything systemd knows about a unit, as `Name=value` lines.
pub async fn show(host: &Host, name: &str) -> Result<String, HostError> {
    let unit = unit_name(name)?;
    host.ask(systemctl(host)?.args(["show", "--no-pager", "--", &unit])).await
}

/// Stops and starts again; starts what does not run.
pub async fn restart(host: &Host, name: &str) -> Result<Plan, HostError> {
    action(host, "restart", name)
}

/// Makes it read its configuration again.
pub async fn reload(host: &Host, name: &str) -> Result<Plan, HostError> {
    action(host, "reload", name)
}

fn action(host: &Host, verb: &str, name: &str) -> Result<Plan, HostError> {
    let unit = unit_name(name)?;
    systemctl(host)?;
    Ok(Plan::new(format!("{unit}: {verb}"))
        .change(Change::altered(&unit, "as it is", verb))
        .run(told(verb, &unit)))
}

/// Stops and disables a service and removes the file that describes it.
pub async fn remove(host: &Host, name: &str) -> Result<Plan, HostError> {
    unit::remove(host, name).await
}

/// Makes systemd read unit files again.
pub async fn daemon_reload(host: &Host) -> Result<Plan, HostError> {
    let call = systemctl(host)?.arg("daemon-reload").privileged();
    Ok(Plan::new("systemd reads unit files again").run(call))
}

/// A line of [`list`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    pub name: String,
    pub load: String,
    pub active: String,
    pub sub: String,
    pub description: String,
}

/// Services, those of one state (`running`, `failed`, ..) where it is told.
pub async fn list(host: &Host, state: Option<&str>) -> Result<Vec<Listed>, HostError> {
    let text = list_text(host, state, true).await?;
    Ok(text.lines().filter_map(listed).collect())
}

/// As [`list`], as systemd prints it.
pub async fn list_text(
    host: &Host,
    state: Option<&str>,
    no_header: bool,
) -> Result<String, HostError> {
    let mut call = systemctl(host)?.args([
        "list-units",
        "--type=service",
        "--all",
        "--plain",
        "--full",
        "--no-pager",
    ]);
    if let Some(state) = state {
        if !state.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') || state.is_empty() {
            let problem = "write a word such as `running` or `failed`";
            return Err(HostError::invalid("the state", state, problem));
        }
        call = call.arg(format!("--state={state}"));
    }
    if no_header {
        call = call.arg("--no-legend");
    }
    host.ask(call).await
}

fn listed(line: &str) -> Option<Listed> {
    let line = line.trim_start_matches(['●', '*', ' ']);
    let mut words = line.split_whitespace();
    let mut word = || words.next().map(str::to_owned);
    let (name, load, active, sub) = (word()?, word()?, word()?, word()?);
    let description = words.collect::<Vec<_>>().join(" ");
    Some(Listed { name, load, active, sub, description })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_names_get_their_type_and_cannot_be_options() {
        for (given, unit) in [
            ("nginx", "nginx.service"),
            ("nginx.service", "nginx.service"),
            ("a.b", "a.b.service"),
            ("backup.timer", "backup.timer"),
            ("getty@tty1", "getty@tty1.service"),
        ] {
            assert_eq!(unit_name(given).unwrap(), unit);
        }
        for bad in ["", "-h", "a b", "a/b", "../x", "a;b", "a\nb", ".hidden"] {
            assert!(unit_name(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn verbs_follow_from_states() {
        for (wanted, state, verb) in [
            (true, "active", None),
            (true, "activating", None),
            (true, "inactive", Some("start")),
            (true, "failed", Some("start")),
            (true, "not-found", Some("start")),
            (false, "active", Some("stop")),
            (false, "failed", None),
            (false, "unknown", None),
        ] {
            assert_eq!(run_verb(wanted, state), verb, "{wanted} {state}");
        }
        for (wanted, state, verb) in [
            (true, "enabled", None),
            (true, "disabled", Some("enable")),
            (true, "static", None),
            (true, "masked", Some("enable")),
            (true, "not-found", Some("enable")),
            (false, "enabled", Some("disable")),
            (false, "enabled-runtime", Some("disable")),
            (false, "static", None),
            (false, "disabled", None),
        ] {
            assert_eq!(enable_verb(wanted, state), verb, "{wanted} {state}");
        }
    }

    #[test]
    fn lists_are_read() {
        let line = "● ssh.service loaded active running OpenBSD Secure Shell server";
        let found = listed(line).unwrap();
        assert_eq!((found.name.as_str(), found.sub.as_str()), ("ssh.service", "running"));
        assert_eq!(found.description, "OpenBSD Secure Shell server");
        assert!(listed("").is_none());
    }
}
