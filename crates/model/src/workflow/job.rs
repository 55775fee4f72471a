//! What a node is given to do for an execution, and what it tells at its end.
//!
//! A job is a task like any other, with the runtime `lua`. What it needs lies in its working directory when it
//! starts, below [`JobOrder::FOLDER`], and what it tells lies there when it has ended: files that are content like all
//! files of tasks. So results and artifacts go from node to node by their digests, whatever their size.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{ExecutionOutcome, JobKind, StepResult};
use crate::ExecutionId;

/// What to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct JobOrder {
    pub execution: ExecutionId,
    pub kind: JobKind,
    pub workflow: String,
    /// Nothing when it is about the whole.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub step: String,
    /// Which try of the step, from 1.
    pub attempt: u32,
    /// Why the try before failed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub before: String,
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub values: Json,
    /// What the clock showed when the execution began, in seconds since 1970.
    pub now: i64,
    /// Results of other steps that lie in the folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<JobFile>,
    /// Directories of the folder with what others left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub consumed: Vec<String>,
    /// Files of secrets, by what bodies call them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// The stack that it is about, instead of the one that the workflow names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
    /// How everything ended, for what is called last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<JobEnd>,
}

/// A result of a step that lies in the folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobFile {
    pub step: String,
    /// Where it ran, when it ran on several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    pub file: String,
}

/// How an execution ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobEnd {
    pub outcome: ExecutionOutcome,
    pub steps: Vec<JobStep>,
}

/// How a step of it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobStep {
    pub name: String,
    pub status: String,
    pub message: String,
    pub attempts: u32,
}

impl JobOrder {
    pub const FOLDER: &'static str = ".hostler";
    pub const ORDER: &'static str = ".hostler/job.json";
    pub const BUNDLE: &'static str = ".hostler/bundle.json";
    pub const REPORT: &'static str = ".hostler/report.json";
    pub const ARTIFACTS: &'static str = ".hostler/artifacts";
    /// Names the socket of the agent where a step asks for what it shares with others.
    pub const SOCKET: &'static str = "HOSTLER_STEP_SOCKET";
}

/// What a job tells at its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct JobReport {
    pub result: StepResult,
    /// Names of the files that it left for others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// What the definition gives out.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub outputs: Json,
}
