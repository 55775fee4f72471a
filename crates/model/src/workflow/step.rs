//! A step as it is defined.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::Place;
use crate::Span;

/// One step of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Step {
    /// Unique in its workflow.
    pub name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub act: Act,
    /// Steps that have to succeed, or to be skipped by their own condition, before this one runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// It runs only when one of these has failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub after_failure_of: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    #[serde(skip_serializing_if = "Retry::is_default")]
    pub retry: Retry,
    /// Skipped unless all of these hold where it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub run_if: Vec<Condition>,
    /// When one of these holds, the step fails and the whole execution ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub abort_if: Vec<Condition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delegate: Option<Delegation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// What runs text commands, with `-c`; `sh` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Patterns of files below its working directory that later steps can consume.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// Names of artifacts that are put into its working directory before it runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub consumes: Vec<String>,
    /// What is called around it, by kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<Handler>,
    /// Asked after it succeeded; it has failed if the answer is no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health_check: Option<Condition>,
    /// It takes none of the places of those that run at once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub background: bool,
    /// Its failure is told, but counts as success for others and for the execution.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
    /// What undoes it when a later step fails and the workflow says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensation: Option<Compensation>,
    #[serde(skip_serializing_if = "Place::is_unknown")]
    pub place: Place,
}

/// What a step does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Act {
    /// Nothing; it only groups what it depends on.
    #[default]
    Nothing,
    /// A line for the shell.
    Command(String),
    /// A program and its arguments, without a shell.
    Program(Vec<String>),
    /// A function of the definition.
    Function,
    /// The whole file: it defines nothing, and is done from its first line to its last.
    Script,
    /// It waits until people have agreed.
    Approval(ApprovalStep),
}

/// A step that waits until people have agreed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct ApprovalStep {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// How many have to agree.
    pub count: u32,
    /// Who may agree; whoever may approve in the project when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
}

/// How a step is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Compensation {
    Command(String),
    Function,
}

/// Something that is true or false where the step runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// The definition knew the answer.
    Always(bool),
    /// A line for the shell: true when it ends with 0.
    Command(String),
    /// A function of the definition.
    Function,
}

crate::labels! {
    /// When a function of the definition is called besides that of the step.
    pub enum Handler ("handler") {
        Before = "before",
        After = "after",
        Success = "success",
        Failure = "failure",
        Timeout = "timeout",
        Retry = "retry",
        Skip = "skip",
        Start = "start",
        Complete = "complete",
        StepStart = "step-start",
        StepComplete = "step-complete",
        /// Says whether the directory of the workflow is removed at the end.
        CleanWorkdir = "clean-workdir",
    }
}

/// How often a step is tried again, and how long it waits before that.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Retry {
    /// Tries after the first one.
    pub retries: u32,
    pub backoff: Backoff,
    /// One second when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<Span>,
    /// Five minutes when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<Span>,
    /// Up to this part of the delay is added, in hundredths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<u32>,
}

impl Retry {
    pub fn is_default(&self) -> bool {
        *self == Retry::default()
    }
}

crate::labels! {
    /// How the wait between tries grows.
    #[derive(Default)]
    pub enum Backoff ("retry strategy") {
        Fixed = "fixed",
        Linear = "linear",
        #[default]
        Exponential = "exponential",
    }
}

/// Where a step runs, when not wherever its execution runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Delegation {
    pub targets: Targets,
    pub strategy: PickStrategy,
    /// Runs where the execution runs when no node can be had.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub fallback: bool,
}

/// Which nodes are meant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Targets {
    /// One node that fits.
    #[default]
    Any,
    /// Every one of these nodes.
    Nodes(Vec<String>),
    /// One node that has all of these labels.
    Labels(BTreeMap<String, String>),
    /// Every node that has all of these labels.
    All(BTreeMap<String, String>),
    /// A function of the definition names them, from what is known of the nodes.
    Function,
}

impl fmt::Display for Targets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let labels = |labels: &BTreeMap<String, String>| {
            labels.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
        };
        match self {
            Targets::Any => f.write_str("any node"),
            Targets::Nodes(names) if names.is_empty() => {
                f.write_str("nowhere (a value is missing)")
            }
            Targets::Nodes(names) => f.write_str(&names.join(", ")),
            Targets::Labels(wanted) => write!(f, "a node with {}", labels(wanted)),
            Targets::All(wanted) if wanted.is_empty() => f.write_str("every node"),
            Targets::All(wanted) => write!(f, "every node with {}", labels(wanted)),
            Targets::Function => f.write_str("nodes that a function names"),
        }
    }
}

crate::labels! {
    /// How one node is chosen of several.
    #[derive(Default)]
    pub enum PickStrategy ("node strategy") {
        #[default]
        LeastLoaded = "least-loaded",
        RoundRobin = "round-robin",
        Random = "random",
        Location = "location",
    }
}
