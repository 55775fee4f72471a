//! Machines looked after: what can be asked of a node's machine, and what can be done to it.
//!
//! A question ([`HostAsk`]) goes to the agent over its session, in the words of this module and no others:
//! nothing is ever given to a shell, and the one deed that names programs (the primitive `command`) is, like every
//! deed, for those who may administer machines. What only looks is answered at once. What changes the machine is a
//! [`HostDeed`]; it can be checked, which says what would be different and does nothing, or done, which is a
//! job of an operation: asking begins it, and asking again tells how it stands.
//!
//! Everything is bounded: lists have a most, texts have a length. Where something was left out, the answer
//! says how much there is altogether.

mod deed;
mod found;
mod vitals;

pub use deed::{
    DECLARATION_MAX, HostChange, HostDeed, HostOutcome, HostPrimitive, NAMES_MAX, ProcessSignal,
    ServiceVerb, UserAdd,
};
pub use found::{
    HostDisks, HostLogLine, HostLogs, HostMount, HostPackage, HostPackages, HostProcess,
    HostProcesses, HostService, HostServices, HostTree, HostUser, HostUsers,
};
pub use vitals::{HealthLevel, HostFinding, HostHealth, HostVitals, Vital};

use serde::{Deserialize, Serialize};

use crate::node_backup::{NodeBackupSpec, RestoreOrder};
use crate::{Diagnostic, OperationId, Timestamp};

/// The most items of any list.
pub const HOST_ITEMS_MAX: u32 = 10_000;
/// The most lines of a log.
pub const HOST_LINES_MAX: u32 = 10_000;
/// How long what somebody looks for may be.
pub const HOST_FILTER_MAX: usize = 200;
/// The longest path.
pub const HOST_PATH_MAX: usize = 4095;

/// What is asked of a node's machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum HostAsk {
    /// Answered with [`HostVitals`].
    Vitals,
    /// Answered with [`HostPackages`].
    Packages { query: PackageQuery },
    /// Answered with [`HostServices`].
    Services { query: ServiceQuery },
    /// Answered with [`HostLogs`].
    Logs { query: LogQuery },
    /// Answered with [`HostProcesses`].
    Processes { query: ProcessQuery },
    /// Answered with [`HostDisks`].
    Disks { query: DiskQuery },
    /// Answered with [`HostUsers`].
    Users { query: UserQuery },
    /// What would be different; answered with [`HostOutcome`].
    Check { deed: HostDeed },
    /// Do it; answered with a [`crate::JobState`] whose content is a [`HostOutcome`].
    Do { job: OperationId, deed: HostDeed },
    /// Keep what is on these paths; answered with a [`crate::JobState`] whose content is a
    /// [`crate::NodeBackupOutcome`]. Begun only with a spec.
    Backup { job: OperationId, spec: Option<NodeBackupSpec> },
    /// Put a backup back; answered with a [`crate::JobState`] whose content is a [`crate::RestoreOutcome`].
    /// Begun only with an order.
    Restore { job: OperationId, order: Option<Box<RestoreOrder>> },
    /// Nobody waits for this job any more; answered with nothing. What has begun to change something is
    /// brought to its end.
    Forget { job: OperationId },
}

crate::labels! {
    /// Which packages are meant.
    pub enum PackageWhich ("kind of list of packages") {
        /// Those that are there.
        Installed = "installed",
        /// Those that the lists on the machine know a newer version of.
        Upgradable = "upgradable",
        /// Those whose name or description fits, there or not.
        Available = "available",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PackageQuery {
    pub which: PackageWhich,
    /// Part of the name; of the description too where packages are searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ServiceQuery {
    /// One service, with what the service manager says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Such as `running` or `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Part of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    pub limit: u32,
}

/// Where lines come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum LogSource {
    /// The journal of systemd, or where there is none, the file that syslog writes.
    System,
    /// What one service wrote into the journal.
    Service { name: String },
    /// The kernel's messages.
    Kernel,
    /// A file below `/var/log`.
    File { path: String },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogQuery {
    pub source: LogSource,
    /// So many of the last lines.
    pub lines: u32,
    /// The following only for what comes from the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// This and worse: 0 (emergency) to 7 (debug).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// A regular expression that lines have to match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grep: Option<String>,
}

crate::labels! {
    pub enum ProcessOrder ("order of processes") {
        /// What uses most of the processors now.
        Cpu = "cpu",
        Memory = "memory",
        Pid = "pid",
        /// The newest first.
        Started = "started",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessQuery {
    pub order: ProcessOrder,
    /// Part of the name or of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DiskQuery {
    /// A directory whose largest files and directories are wanted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest: Option<String>,
    pub limit: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserQuery {
    /// The machine's own too, such as `daemon`.
    pub system: bool,
    /// Part of the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

impl HostAsk {
    /// Every mistake that can be seen without the machine.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let mut short = |pointer: &str, text: Option<&String>, most: usize| {
            if text.is_some_and(|text| text.len() > most || text.contains('\0')) {
                let detail = format!("at most {most} bytes, and no NUL");
                problems.push(Diagnostic::new(pointer, detail));
            }
        };
        match self {
            HostAsk::Vitals | HostAsk::Forget { .. } => {}
            HostAsk::Backup { spec, .. } => {
                problems.extend(spec.iter().flat_map(NodeBackupSpec::problems));
            }
            HostAsk::Restore { order, .. } => {
                problems.extend(order.iter().flat_map(|order| order.spec.problems()));
            }
            HostAsk::Packages { query } => {
                short("/query/filter", query.filter.as_ref(), HOST_FILTER_MAX);
                if query.which == PackageWhich::Available && query.filter.is_none() {
                    let detail =
                        "say what to search for: `filter` is part of a name or description";
                    problems.push(Diagnostic::new("/query/filter", detail));
                }
            }
            HostAsk::Services { query } => {
                short("/query/name", query.name.as_ref(), HOST_FILTER_MAX);
                short("/query/state", query.state.as_ref(), HOST_FILTER_MAX);
                short("/query/filter", query.filter.as_ref(), HOST_FILTER_MAX);
            }
            HostAsk::Logs { query } => {
                match &query.source {
                    LogSource::Service { name } => {
                        short("/query/service", Some(name), HOST_FILTER_MAX)
                    }
                    LogSource::File { path } => short("/query/file", Some(path), HOST_PATH_MAX),
                    LogSource::System | LogSource::Kernel => {}
                }
                short("/query/grep", query.grep.as_ref(), 1000);
                if query.priority.is_some_and(|priority| priority > 7) {
                    let detail = "a priority is 0 (emergency) to 7 (debug)";
                    problems.push(Diagnostic::new("/query/priority", detail));
                }
            }
            HostAsk::Processes { query } => {
                short("/query/filter", query.filter.as_ref(), HOST_FILTER_MAX);
                short("/query/user", query.user.as_ref(), HOST_FILTER_MAX);
            }
            HostAsk::Disks { query } => {
                short("/query/largest", query.largest.as_ref(), HOST_PATH_MAX);
                if query.largest.as_ref().is_some_and(|path| !path.starts_with('/')) {
                    let detail = "a path of the machine begins with `/`";
                    problems.push(Diagnostic::new("/query/largest", detail));
                }
            }
            HostAsk::Users { query } => {
                short("/query/filter", query.filter.as_ref(), HOST_FILTER_MAX);
            }
            HostAsk::Check { deed } | HostAsk::Do { deed, .. } => problems.extend(deed.problems()),
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks() -> Vec<HostAsk> {
        let job = OperationId::from_uuid(uuid::Uuid::from_u128(1));
        let deed = HostDeed::Service { name: "nginx".into(), verb: ServiceVerb::Restart };
        vec![
            HostAsk::Vitals,
            HostAsk::Packages {
                query: PackageQuery { which: PackageWhich::Upgradable, filter: None, limit: 5 },
            },
            HostAsk::Services {
                query: ServiceQuery { name: Some("x".into()), state: None, filter: None, limit: 5 },
            },
            HostAsk::Logs {
                query: LogQuery {
                    source: LogSource::File { path: "/var/log/syslog".into() },
                    lines: 3,
                    since: Some(Timestamp::from_micros(5)),
                    until: None,
                    priority: Some(3),
                    grep: Some("a|b".into()),
                },
            },
            HostAsk::Processes {
                query: ProcessQuery {
                    order: ProcessOrder::Memory,
                    filter: Some("x".into()),
                    user: None,
                    limit: 10,
                },
            },
            HostAsk::Disks { query: DiskQuery { largest: Some("/var".into()), limit: 3 } },
            HostAsk::Users { query: UserQuery { system: true, filter: None } },
            HostAsk::Check { deed: deed.clone() },
            HostAsk::Do { job, deed },
            HostAsk::Forget { job },
        ]
    }

    #[test]
    fn questions_survive_their_document() {
        for ask in asks() {
            let text = serde_json::to_string(&ask).unwrap();
            assert_eq!(serde_json::from_str::<HostAsk>(&text).unwrap(), ask);
            assert_eq!(ask.problems(), [], "{ask:?}");
        }
    }

    #[test]
    fn mistakes_are_found_before_a_node_is_asked() {
        let long = "x".repeat(HOST_FILTER_MAX + 1);
        let bad = [
            HostAsk::Packages {
                query: PackageQuery { which: PackageWhich::Available, filter: None, limit: 5 },
            },
            HostAsk::Packages {
                query: PackageQuery {
                    which: PackageWhich::Installed,
                    filter: Some(long.clone()),
                    limit: 5,
                },
            },
            HostAsk::Disks { query: DiskQuery { largest: Some("var".into()), limit: 3 } },
            HostAsk::Users { query: UserQuery { system: false, filter: Some("a\0".into()) } },
            HostAsk::Logs {
                query: LogQuery {
                    source: LogSource::Service { name: long },
                    lines: 3,
                    since: None,
                    until: None,
                    priority: None,
                    grep: None,
                },
            },
            HostAsk::Logs {
                query: LogQuery {
                    source: LogSource::Kernel,
                    lines: 3,
                    since: None,
                    until: None,
                    priority: Some(8),
                    grep: None,
                },
            },
        ];
        for ask in bad {
            assert_eq!(ask.problems().len(), 1, "{ask:?}");
        }
    }
}
