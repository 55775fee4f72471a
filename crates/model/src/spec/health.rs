//! Whether what runs also works.

use serde::{Deserialize, Serialize};

use super::{Problems, look_at_command};
use crate::Span;

/// A question asked again and again of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HealthCheck {
    pub check: Check,
    /// From one question to the next.
    #[serde(default = "ten_seconds")]
    pub interval: Span,
    /// No answer in this time is a bad one.
    #[serde(default = "two_seconds")]
    pub timeout: Span,
    /// Bad answers do not count in the first time of a run, until the first good one.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub start_period: Span,
    /// So many good answers in a row make it healthy.
    #[schemars(range(min = 1))]
    #[serde(default = "one")]
    pub healthy_after: u32,
    /// So many bad answers in a row make it unhealthy.
    #[schemars(range(min = 1))]
    #[serde(default = "three")]
    pub unhealthy_after: u32,
    /// What follows when it becomes unhealthy.
    #[serde(default)]
    pub on_unhealthy: OnUnhealthy,
}

const fn ten_seconds() -> Span {
    Span::from_secs(10)
}

const fn two_seconds() -> Span {
    Span::from_secs(2)
}

const fn one() -> u32 {
    1
}

const fn three() -> u32 {
    3
}

/// The question: `process`, `{tcp: {port: 80}}`, `{http: {port: 80, path: /}}`, `{exec: [..]}` or
/// `{log: PATTERN}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// Is its process there, and neither stopped nor a zombie?
    Process,
    /// Does a TCP port take a connection?
    Tcp(TcpCheck),
    /// Does an HTTP request get a good answer?
    Http(HttpCheck),
    /// Does a command, run beside the program as the same user, exit with 0?
    Exec(Vec<String>),
    /// Has a line of its output matched this pattern? Good from then on.
    Log(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct TcpCheck {
    #[serde(default = "loopback")]
    pub host: String,
    #[schemars(range(min = 1))]
    pub port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpCheck {
    #[serde(default = "loopback")]
    pub host: String,
    #[schemars(range(min = 1))]
    pub port: u16,
    #[serde(default = "root")]
    pub path: String,
    /// Statuses that are good; any from 200 to 399 when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub status: Vec<u16>,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

fn root() -> String {
    "/".to_owned()
}

/// What follows from bad health: `mark`, `restart` or `{hook: [..]}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OnUnhealthy {
    /// It is said, and nothing else.
    Mark,
    /// The run is stopped and followed by another, as its restart policy says for failures.
    #[default]
    Restart,
    /// This command is run beside the program.
    Hook(Vec<String>),
}

impl HealthCheck {
    /// A check with the usual timings.
    pub fn new(check: Check) -> HealthCheck {
        HealthCheck {
            check,
            interval: ten_seconds(),
            timeout: two_seconds(),
            start_period: Span::from_millis(0),
            healthy_after: 1,
            unhealthy_after: 3,
            on_unhealthy: OnUnhealthy::default(),
        }
    }

    pub(super) fn look(&self, at: &str, say: &mut Problems<'_>) {
        if self.interval < Span::from_millis(100) {
            say.at(&format!("{at}/interval"), "checks are at least 100ms apart");
        }
        if self.timeout.is_zero() {
            say.at(&format!("{at}/timeout"), "a timeout of zero fails every check");
        }
        if self.healthy_after == 0 {
            say.at(&format!("{at}/healthyAfter"), "at least one good answer is needed");
        }
        if self.unhealthy_after == 0 {
            say.at(&format!("{at}/unhealthyAfter"), "at least one bad answer is needed");
        }
        match &self.check {
            Check::Process => {}
            Check::Tcp(tcp) => look_at_host(&format!("{at}/check/tcp"), &tcp.host, tcp.port, say),
            Check::Http(http) => {
                let at = format!("{at}/check/http");
                look_at_host(&at, &http.host, http.port, say);
                if !http.path.starts_with('/')
                    || http.path.contains(|c: char| c.is_control() || c == ' ')
                {
                    say.at(&format!("{at}/path"), "a path begins with `/` and has no spaces");
                }
                if http.status.iter().any(|status| !(100..=599).contains(status)) {
                    say.at(&format!("{at}/status"), "an HTTP status is from 100 to 599");
                }
            }
            Check::Exec(command) => look_at_command(&format!("{at}/check/exec"), command, say),
            Check::Log(pattern) => {
                if let Err(error) = regex::Regex::new(pattern) {
                    say.at(&format!("{at}/check/log"), crate::pattern_mistake(&error));
                }
            }
        }
        if let OnUnhealthy::Hook(command) = &self.on_unhealthy {
            look_at_command(&format!("{at}/onUnhealthy/hook"), command, say);
        }
    }
}

fn look_at_host(at: &str, host: &str, port: u16, say: &mut Problems<'_>) {
    if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c.is_control()) {
        say.at(&format!("{at}/host"), "a host is a name or an address");
    }
    if port == 0 {
        say.at(&format!("{at}/port"), "a port is from 1 to 65535");
    }
}
