//! What cargo knows of the workspace and of everything it is built from.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
pub struct Graph {
    pub packages: Vec<Package>,
    workspace_members: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    /// Where it comes from; `None` for our own.
    pub source: Option<String>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `dev`, `build`, or `None` for an ordinary one.
    pub kind: Option<String>,
}

impl Graph {
    /// Asks cargo, for the platform we build on.
    pub fn load(root: &Path) -> anyhow::Result<Graph> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        #[expect(clippy::disallowed_methods, reason = "a chore, not a workload")]
        let output = Command::new(cargo)
            .args(["metadata", "--format-version=1", "--locked"])
            .args(["--filter-platform", &platform])
            .current_dir(root)
            .output()
            .context("running cargo metadata")?;
        ensure!(
            output.status.success(),
            "cargo metadata failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        serde_json::from_slice(&output.stdout).context("reading what cargo metadata printed")
    }

    /// Our own crates.
    pub fn ours(&self) -> impl Iterator<Item = &Package> {
        let is_ours = |package: &&Package| self.workspace_members.contains(&package.id);
        self.packages.iter().filter(is_ours)
    }

    /// Everybody else's.
    pub fn theirs(&self) -> impl Iterator<Item = &Package> {
        self.packages.iter().filter(|p| p.source.is_some())
    }

    #[cfg(test)]
    pub fn of(value: serde_json::Value) -> Graph {
        serde_json::from_value(value).unwrap()
    }
}

/// The name of the room: a package's name without our prefix.
pub fn room(package: &str) -> &str {
    package.strip_prefix("hostler-").unwrap_or(package)
}
