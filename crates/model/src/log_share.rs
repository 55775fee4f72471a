//! Shares: how what a project may keep of its runs' output is divided between the nodes that it lies on.
//!
//! Output stays where it was written, also when that node cannot be reached. So the quota is divided, and each
//! node keeps to its part by itself. A part that is made smaller holds its place until the node has said that
//! it is in force; only what is free then can be given to others.

use serde::{Deserialize, Serialize};

use crate::{Bytes, Generation, Name, NodeId, ProjectId};

/// What one node may keep of the output of one project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogShare {
    pub project_id: ProjectId,
    pub node_id: NodeId,
    /// As it was last decided.
    pub granted: Bytes,
    /// The most that may be in force on the node: the largest that was granted since the last of which the
    /// node has said that it is in force, and that one. Never less than what is granted.
    pub ceiling: Bytes,
    /// Of the grant; from the numbers in which the node is told things.
    pub generation: Generation,
}

impl LogShare {
    /// Grants another amount.
    #[must_use]
    pub fn regranted(&self, granted: Bytes, generation: Generation) -> LogShare {
        LogShare { granted, ceiling: self.ceiling.max(granted), generation, ..self.clone() }
    }

    /// The node has said that the grant of this number is in force.
    #[must_use]
    pub fn acknowledged(&self, generation: Generation) -> LogShare {
        let is_latest = generation == self.generation;
        let ceiling = if is_latest { self.granted } else { self.ceiling };
        LogShare { ceiling, ..self.clone() }
    }
}

/// A share as its node is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogGrant {
    pub project_name: Name,
    pub bytes: Bytes,
    pub generation: Generation,
}

/// What a node keeps of the output of a project that has a share there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputKept {
    pub project: Name,
    /// Of the share that is in force.
    pub generation: Generation,
    pub bytes: Bytes,
}
