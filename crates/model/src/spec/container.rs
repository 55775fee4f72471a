//! Workloads that run in a container.

use serde::{Deserialize, Serialize};

use super::Problems;
use crate::ImageRef;

/// The container a workload runs in. Command, environment, user, working directory, limits and
/// resources are those of the workload.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct Container {
    /// Name and tag, or digest, of an image that the node has or that a registry has; or of one that
    /// Hostler keeps: `hostler://NAME`, `hostler://NAME:VERSION`, `hostler://NAME@DIGEST`.
    pub image: String,
    pub pull: PullPolicy,
    /// Replaces the image's entry point; an empty list runs the command alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entrypoint: Option<Vec<String>>,
    /// Directories and files of the node. Allowed are only those that the node's agent is configured for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub mounts: Vec<Mount>,
    pub network: ContainerNetwork,
    /// Everything the node may; needs a project that allows it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub privileged: bool,
}

/// Something of the node that the container sees.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Mount {
    /// Absolute path on the node.
    pub source: String,
    /// Absolute path in the container.
    pub target: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}

crate::labels! {
    /// When an image is fetched.
    #[derive(Default)]
    pub enum PullPolicy ("pull policy") {
        /// When the node does not have it.
        #[default]
        Missing = "missing",
        /// Before every run.
        Always = "always",
        Never = "never",
    }
}

crate::labels! {
    /// What network a container sees.
    #[derive(Default)]
    pub enum ContainerNetwork ("container network") {
        /// The engine's own bridge.
        #[default]
        Bridge = "bridge",
        /// Only itself.
        None = "none",
        /// The node's own; needs a project that allows it.
        Host = "host",
    }
}

impl Container {
    pub(super) fn look(&self, say: &mut Problems<'_>) {
        match ImageRef::of_spec(&self.image) {
            Some(Ok(_)) => {}
            Some(Err(problem)) => say.at("/container/image", problem.to_string()),
            None => {
                if let Some(problem) = image_problem(&self.image) {
                    say.at("/container/image", problem);
                }
            }
        }
        for (i, mount) in self.mounts.iter().enumerate() {
            for (field, path) in [("source", &mount.source), ("target", &mount.target)] {
                if let Some(problem) = path_problem(path) {
                    say.at(&format!("/container/mounts/{i}/{field}"), problem);
                }
            }
        }
    }
}

/// What is wrong with the name of an image of an engine or a registry.
pub fn image_problem(image: &str) -> Option<&'static str> {
    let is_good = (1..=255).contains(&image.len())
        && image.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-/:@".contains(&b))
        && image.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !image.contains("..")
        && !image.contains("//");
    (!is_good).then_some("an image is named like `debian:12` or `team/tool@sha256:…`")
}

fn path_problem(path: &str) -> Option<&'static str> {
    if !path.starts_with('/') || path.contains(['\0', ':', '\n']) {
        return Some("an absolute path is needed, without `:`");
    }
    path.split('/').any(|part| part == "..").then_some("`..` is not allowed in a path")
}
