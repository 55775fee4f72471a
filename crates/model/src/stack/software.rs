//! Configuration of software on machines, as Heat's interface keeps it beside stacks: what is to be done there, and
//! how it went.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{ResourceAction, StackStatus};
use crate::{Envelope, Generation, ProjectId, SoftwareConfigId, SoftwareDeploymentId, Timestamp};

/// What is to be done on a machine. Never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftwareConfig {
    pub id: SoftwareConfigId,
    pub project_id: ProjectId,
    pub name: String,
    /// Which tool on the machine understands it.
    pub group: String,
    /// A [`SoftwareConfigBody`].
    pub envelope: Envelope,
    pub time_created: Timestamp,
}

/// What is sealed of a configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SoftwareConfigBody {
    pub config: Value,
    pub inputs: Vec<Value>,
    pub outputs: Vec<Value>,
    pub options: Map<String, Value>,
}

/// A configuration on one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoftwareDeployment {
    pub id: SoftwareDeploymentId,
    pub project_id: ProjectId,
    pub config_id: SoftwareConfigId,
    /// Which machine, as its agent calls itself when it asks.
    pub server: String,
    pub action: ResourceAction,
    pub status: StackStatus,
    pub reason: String,
    /// A [`SoftwareDeploymentBody`].
    pub envelope: Envelope,
    pub generation: Generation,
    pub time_created: Timestamp,
    /// When it was changed last; none before it was.
    pub time_updated: Option<Timestamp>,
}

/// What is sealed of a deployment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct SoftwareDeploymentBody {
    pub input_values: Map<String, Value>,
    pub output_values: Map<String, Value>,
}
