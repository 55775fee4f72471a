//! Machines and what is on them: nodes, runs, images, watchers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forms;
use crate::node_backup::NodeBackup;
use crate::{
    Bytes, Digest, Exit, ExitReason, Image, Labels, Name, Node, NodeBackupId, NodeState,
    OperationId, RunId, Timestamp, WatchCondition, Watcher, WorkloadSpec,
};

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodePayload {
    /// How it stands now.
    pub state: NodeState,
    /// By key.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

forms! {
    /// Something that was done to a node's machine.
    NodeDeedPayload {
        /// Id of the operation.
        operation: OperationId,
        /// What was to be done: `packages-install`, `service`, `primitive` and so on.
        deed: String,
        /// Whether something is different now.
        changed: bool,
        /// Why it failed.
        reason: String,
    }

    /// A backup of a node.
    NodeBackupPayload {
        /// Its id.
        backup: NodeBackupId,
        /// What people call it.
        label: String,
        /// The node that it is of.
        node: Name,
        /// The operation that did it.
        operation: OperationId,
        /// What it is of.
        paths: Vec<String>,
        /// How many files it has, or were put back.
        files: u64,
        /// Of the files.
        bytes: Bytes,
        /// Below which directory it was put back.
        directory: String,
        /// Why it failed, or what is wrong with it.
        reason: String,
    }

    /// A GPU of a node.
    NodeGpuPayload {
        /// Its number on the node.
        index: u32,
        /// What it is.
        model: String,
        /// Why it is out of service.
        trouble: String,
    }

    /// A version of an image on a node.
    NodeImagePayload {
        /// Its name.
        image: Name,
        /// Which version.
        version: u32,
        /// Why nobody needs it there.
        reason: String,
        /// Why it is there still.
        problem: String,
    }

    /// A version of an image.
    ImagePayload {
        /// Its number.
        version: u32,
        /// Of what it is.
        digest: Digest,
        /// How large it is.
        size: Bytes,
        /// Where it came from.
        origin: String,
    }

    /// A watcher, as it was made or changed.
    WatcherSetPayload {
        /// What is looked at: file, port, cpu and so on.
        watch: String,
        /// Whether nodes look.
        is_enabled: bool,
    }
}

/// A task or a workload, and its run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunPayload {
    /// Where it runs or ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<Name>,
    /// Id of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// Of a program that returned one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// That ended the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Why the run ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExitReason>,
    /// What it was tagged with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

impl RunPayload {
    /// What is known before there is a run.
    pub fn of(spec: &WorkloadSpec) -> RunPayload {
        RunPayload { tags: spec.tags.clone(), ..RunPayload::default() }
    }

    #[must_use]
    pub fn ended(mut self, exit: &Exit) -> RunPayload {
        self.exit_code = exit.code;
        self.signal = exit.signal;
        self.reason = Some(exit.reason);
        self
    }
}

/// What a watcher saw on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WatcherPayload {
    /// Where it was seen.
    pub node: Name,
    /// What is looked at: file, port, cpu and so on.
    pub watch: String,
    /// Why it fired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<WatchCondition>,
    /// Which file, port, unit, line of a log and so on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// What was measured, where something was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// What it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// How many this stands for.
    pub count: u64,
    /// How often it would have fired since it last did, but for its cooldown.
    #[serde(default)]
    pub skipped: u64,
    /// How many were given up before this one, because nobody took them for too long.
    #[serde(default)]
    pub lost: u64,
    /// When the node saw it.
    pub time_seen: Timestamp,
}

impl From<&Node> for NodePayload {
    fn from(node: &Node) -> NodePayload {
        NodePayload { state: node.state, labels: node.labels.clone() }
    }
}

impl From<&NodeBackup> for NodeBackupPayload {
    fn from(backup: &NodeBackup) -> NodeBackupPayload {
        NodeBackupPayload {
            backup: Some(backup.id),
            label: (!backup.label.is_empty()).then(|| backup.label.clone()),
            node: Some(backup.node_name.clone()),
            paths: Some(backup.spec.paths.clone()),
            files: backup.outcome.as_ref().map(|outcome| outcome.files),
            bytes: backup.outcome.as_ref().map(|outcome| outcome.bytes),
            ..NodeBackupPayload::default()
        }
    }
}

impl From<&Image> for ImagePayload {
    fn from(image: &Image) -> ImagePayload {
        ImagePayload {
            version: Some(image.version),
            digest: Some(image.digest),
            size: Some(image.size),
            origin: Some(image.origin.clone()),
        }
    }
}

impl From<&Watcher> for WatcherSetPayload {
    fn from(watcher: &Watcher) -> WatcherSetPayload {
        WatcherSetPayload {
            watch: Some(watcher.spec.watch.label().to_owned()),
            is_enabled: Some(watcher.is_enabled),
        }
    }
}
