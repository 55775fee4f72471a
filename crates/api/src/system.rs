//! The installation itself: health, version, servers, reconcilers.

use hostler_model::{Figure, FigureUnit, Finding, Role, ServerId, Severity, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing};

crate::endpoints! { "system"
    /// Say that the process is alive.
    Livez = "livez" GET "/livez", Access::Public, Nobody, 200, reply: HealthView;
    /// Say whether the server can do its work.
    Readyz = "readyz" GET "/readyz", Access::Public, Nobody, 200, reply: HealthView;
    /// Show version and build.
    Version = "version" GET "/version", Access::Public, Nobody, 200, reply: VersionView;
    /// The OpenAPI 3.1 description of this API.
    OpenApi = "openapi" GET "/openapi.json", Access::Public, Nobody, 200, reply: serde_json::Map<String, serde_json::Value>;
    /// Metrics in the Prometheus text format.
    Metrics = "metrics" GET "/metrics", Access::Global(Role::Viewer), MetricsRead, 200, reply: String, stream: Metrics;
    /// Metrics of every node in the Prometheus text format.
    MetricsNodes = "metrics_nodes" GET "/metrics/nodes", Access::Global(Role::Viewer), MetricsRead, 200, reply: String, stream: Metrics;
    /// Metrics of every service on every node in the Prometheus text format.
    MetricsWorkloads = "metrics_workloads" GET "/metrics/workloads", Access::Global(Role::Viewer), MetricsRead, 200, reply: String, stream: Metrics;
    /// Key figures of the installation over time, as this server remembers them.
    MetricsHistory = "metrics_history" GET "/api/v1/metrics/history", Access::Global(Role::Viewer), MetricsRead, 200,
        query: MetricsHistoryQuery, reply: MetricsHistoryView, errors: [Invalid];
    /// List the control-plane processes.
    ServerList = "server_list" GET "/api/v1/servers", Access::Global(Role::Viewer), ServerRead, 200, reply: Listing<ServerView>;
    /// Show what every reconciler of this server is doing and last did.
    ReconcilerList = "reconciler_list" GET "/api/v1/debug/reconcilers", Access::Global(Role::Operator), ServerDebug, 200,
        reply: Listing<ReconcilerView>;
    /// Examine the control plane: what is wrong with it, and what to do.
    Diagnose = "diagnose" GET "/api/v1/diagnosis", Access::Global(Role::Operator), SystemDiagnose, 200,
        reply: DiagnosisView;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiagnosisView {
    /// The worst of the findings.
    pub worst: Severity,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HealthView {
    /// `ok`, or what is wrong.
    pub status: String,
    /// Each check with `ok` or what is wrong.
    pub checks: std::collections::BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VersionView {
    pub version: String,
    /// Of this API.
    pub api_version: String,
    pub server_id: ServerId,
    /// True until the first admin exists; the dashboard then offers setup.
    pub needs_setup: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct MetricsHistoryQuery {
    /// Names of figures, separated by commas, such as `cpu.used,cpu.total`; without it all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// From when on; without it an hour ago. The longer ago, the longer the stretches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// Figures over time, in columns: the n-th value of a series is of the n-th stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MetricsHistoryView {
    /// Who remembers; it forgets when it ends.
    pub server_id: ServerId,
    /// The end of each stretch.
    pub times: Vec<Timestamp>,
    /// The length of each stretch, in seconds.
    pub seconds: Vec<f64>,
    pub series: Vec<FigureSeriesView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FigureSeriesView {
    pub name: Figure,
    pub unit: FigureUnit,
    /// Absent where there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    pub id: ServerId,
    pub name: String,
    pub version: String,
    pub api_address: String,
    pub agent_address: String,
    pub is_current: bool,
    pub time_started: Timestamp,
    pub time_seen: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReconcilerView {
    pub name: String,
    pub description: String,
    pub period_seconds: f64,
    pub is_running: bool,
    pub passes: u64,
    pub errors: u64,
    pub panics: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_last_started: Option<Timestamp>,
    pub seconds_last: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_last: Option<String>,
    /// What the last pass did.
    pub report: serde_json::Value,
}
