//! What events say to programs: a small document whose form is fixed by the event's kind.
//!
//! Fields are only ever added, and a field that is not known is left out. A payload that cannot be read, because
//! a newer version wrote it, is none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::stack::{StackAction, StackStatus};
use crate::{
    ApprovalId, ApprovalState, Digest, Exit, ExitReason, Labels, Name, NodeState, OperationState,
    Permission, RunId, Timestamp, WatchCondition,
};

macro_rules! payloads {
    ($($(#[$meta:meta])* $name:ident($type:ident) = [$($noun:literal),+],)+) => {
        /// What an event says to programs.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum EventPayload {
            $($(#[$meta])* $name($type),)+
        }

        $(impl From<$type> for EventPayload {
            fn from(payload: $type) -> EventPayload {
                EventPayload::$name(payload)
            }
        })+

        impl EventPayload {
            /// Reads what events of this kind have; `None` where it cannot be read.
            pub fn read(kind: crate::EventKind, text: &str) -> Option<EventPayload> {
                match kind.noun() {
                    $($($noun)|+ => serde_json::from_str(text).ok().map(EventPayload::$name),)+
                    _ => None,
                }
            }

            /// The schema of what events about `noun` have, where they have something.
            pub fn schema(noun: &str) -> Option<schemars::Schema> {
                match noun {
                    $($($noun)|+ => Some(schemars::schema_for!($type)),)+
                    _ => None,
                }
            }
        }
    };
}

payloads! {
    Approval(ApprovalPayload) = ["approval"],
    Custom(CustomPayload) = ["custom"],
    Execution(ExecutionPayload) = ["execution"],
    Hook(HookPayload) = ["hook"],
    Node(NodePayload) = ["node"],
    Operation(OperationPayload) = ["operation"],
    Run(RunPayload) = ["task", "workload"],
    Stack(StackPayload) = ["stack"],
    Watcher(WatcherPayload) = ["watcher"],
}

impl crate::EventKind {
    /// What it is about: the part of its label before the dot.
    pub fn noun(self) -> &'static str {
        self.label().split('.').next().unwrap_or_default()
    }
}

/// A request for an approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPayload {
    /// Of the request.
    pub id: ApprovalId,
    /// What somebody wants to do.
    pub verb: Permission,
    /// Of exactly what will be done.
    pub digest: Digest,
    /// How it stands.
    pub state: ApprovalState,
    /// Until when it can be decided on, and used.
    pub time_expires: Timestamp,
}

/// Whatever somebody told, of any form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct CustomPayload(pub serde_json::Value);

/// An execution of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionPayload {
    /// Its name.
    pub workflow: String,
    /// Which version of it.
    pub version: u32,
    /// How it ended, when it did: succeeded, failed, cancelled and so on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// A delivery of an event hook.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookPayload {
    /// Number of the event that was to be delivered.
    pub sequence: u64,
    /// How often it was tried.
    pub attempts: u32,
    /// Why it was given up.
    pub reason: String,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NodePayload {
    /// How it stands now.
    pub state: NodeState,
    /// By key.
    #[serde(default, skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OperationPayload {
    /// What it does.
    pub plan: String,
    /// How it stands now.
    pub state: OperationState,
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
    #[must_use]
    pub fn ended(mut self, exit: &Exit) -> RunPayload {
        self.exit_code = exit.code;
        self.signal = exit.signal;
        self.reason = Some(exit.reason);
        self
    }
}

/// A stack, and what is done with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StackPayload {
    /// What is done, or was done last.
    pub action: StackAction,
    /// How far that is.
    pub status: StackStatus,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Number of the change.
    pub traversal: u64,
    /// Its newest revision; 0 before there is one.
    #[serde(default)]
    pub revision: u32,
    /// Name of the resource, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource: Option<String>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventKind;

    #[test]
    fn payloads_are_read_back_by_the_kind_of_their_event() {
        let payload = RunPayload {
            node: Some("n1".parse().unwrap()),
            exit_code: Some(3),
            tags: vec!["prod".to_owned()],
            ..RunPayload::default()
        };
        let text = serde_json::to_string(&EventPayload::from(payload.clone())).unwrap();
        assert_eq!(text, r#"{"node":"n1","exitCode":3,"tags":["prod"]}"#);
        let read = |kind| EventPayload::read(kind, &text);
        assert_eq!(read(EventKind::TaskFailed), Some(payload.clone().into()));
        assert_eq!(read(EventKind::WorkloadFailed), Some(payload.into()));
        assert_eq!(read(EventKind::ProjectCreated), None);
        assert_eq!(read(EventKind::NodeOffline), None, "of another form");
    }

    #[test]
    fn what_a_newer_version_added_is_left_out() {
        let text = r#"{"plan":"node.drain","state":"succeeded","colour":"red"}"#;
        assert!(EventPayload::read(EventKind::OperationEnded, text).is_some());
    }
}
