//! The machines of nodes: what they have and do, and what is done to them.

use hostler_model::host::{
    HostDeed, HostDisks, HostHealth, HostLogs, HostOutcome, HostPackages, HostProcesses,
    HostServices, HostUsers, PackageWhich, ProcessOrder,
};
use hostler_model::{Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Access;
use crate::node::NodePath;
use crate::operation::OperationView;

crate::endpoints! { "machines"
    /// Measure a node's machine and judge it: load, memory, disks, failed services, clock, temperatures, certificate.
    NodeHealth = "node_health" GET "/api/v1/nodes/{node}/health", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, reply: HostHealth, errors: [NotFound, Conflict, NodeUnreachable];
    /// List packages of a node's machine: installed, upgradable, or found by a search.
    NodePackages = "node_packages" GET "/api/v1/nodes/{node}/packages", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, query: NodePackagesQuery, reply: HostPackages, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// List the services of a node's machine, or show one of them.
    NodeServices = "node_services" GET "/api/v1/nodes/{node}/services", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, query: NodeServicesQuery, reply: HostServices, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// Read what a node's machine wrote down: its journal, or a file below `/var/log`.
    NodeLogs = "node_logs" GET "/api/v1/nodes/{node}/logs", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, query: NodeLogsQuery, reply: HostLogs, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// List the processes of a node's machine.
    NodeProcesses = "node_processes" GET "/api/v1/nodes/{node}/processes", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, query: NodeProcessesQuery, reply: HostProcesses, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// List the file systems of a node's machine, and what is largest below a directory.
    NodeDisks = "node_disks" GET "/api/v1/nodes/{node}/disks", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, query: NodeDisksQuery, reply: HostDisks, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// List the users of a node's machine.
    NodeUsers = "node_users" GET "/api/v1/nodes/{node}/users", Access::Global(Role::Operator), NodeInspect, 200,
        path: NodePath, query: NodeUsersQuery, reply: HostUsers, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// Say what a deed would change on a node's machine, and change nothing.
    NodeDeedCheck = "node_deed_check" POST "/api/v1/nodes/{node}/deeds/check", Access::Global(Role::Admin), NodeAdminister, 200,
        path: NodePath, body: NodeDeedBody, reply: HostOutcome, errors: [NotFound, Conflict, NodeUnreachable];
    /// Do something to a node's machine. What came of it is the result of the operation's step: `HostOutcome`.
    NodeDeed = "node_deed" POST "/api/v1/nodes/{node}/deeds", Access::Global(Role::Admin), NodeAdminister, 202,
        path: NodePath, body: NodeDeedBody, reply: OperationView, errors: [NotFound, Conflict, NodeUnreachable, KeyReused, ApprovalRequired];
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodePackagesQuery {
    /// Which packages; `installed` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub which: Option<PackageWhich>,
    /// Part of the name; of the description too where packages are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many (1 to 10000, default 10000).
    #[schemars(range(min = 1, max = 10000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeServicesQuery {
    /// Only this service, with what the service manager says about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Only those in this state, such as `running` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// Part of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many (1 to 10000, default 10000).
    #[schemars(range(min = 1, max = 10000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeLogsQuery {
    /// Only what this service wrote; needs the journal of systemd.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// A file below `/var/log` instead of the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The kernel's messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<bool>,
    /// So many of the last lines (1 to 10000, default 100).
    #[schemars(range(min = 1, max = 10000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u32>,
    /// From this time on; of the journal only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Up to this time; of the journal only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// This priority and worse, 0 (emergency) to 7 (debug); of the journal only.
    #[schemars(range(min = 0, max = 7))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// A regular expression that lines have to match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grep: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeProcessesQuery {
    /// What comes first; `cpu` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<ProcessOrder>,
    /// Part of the name or of the command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Only those of this user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// At most this many (1 to 10000, default 10000).
    #[schemars(range(min = 1, max = 10000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeDisksQuery {
    /// A directory whose largest files and directories are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<String>,
    /// At most this many of the largest (1 to 1000, default 20).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct NodeUsersQuery {
    /// The machine's own users too, such as `daemon`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system: Option<bool>,
    /// Part of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeDeedBody {
    pub deed: HostDeed,
}
