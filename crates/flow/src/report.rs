//! How an execution ended, for people and programs.

use std::collections::BTreeMap;

use hostler_model::workflow::ExecutionOutcome;
use serde::Serialize;
use serde_json::Value as Json;

/// An execution that is over.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub workflow: String,
    pub status: ExecutionOutcome,
    /// Milliseconds.
    pub duration: u64,
    /// In the order of the definition.
    pub tasks: Vec<StepReport>,
    #[serde(skip_serializing_if = "Json::is_null")]
    pub outputs: Json,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<String>,
}

/// How a step of it stands.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StepReport {
    pub name: String,
    /// `succeeded`, `failed`, `skipped`...
    pub status: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    pub attempts: u32,
    /// Milliseconds since the execution began; absent when it never did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    #[serde(skip_serializing_if = "Json::is_null")]
    pub output: Json,
}

impl Report {
    /// Results as handlers of workflows see them: by name.
    pub(crate) fn by_name(&self) -> Json {
        let entries: BTreeMap<&str, &StepReport> =
            self.tasks.iter().map(|step| (step.name.as_str(), step)).collect();
        serde_json::to_value(entries).unwrap_or(Json::Null)
    }
}
