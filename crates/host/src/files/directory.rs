//! A directory with an owner and a mode.
//!
//! Removing takes what is inside with it only where `recursive` is said, never follows links on the way,
//! and never takes what a machine cannot be without.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::manner_changes;
use crate::accounts::manner_of;
use crate::error::io_at;
use crate::keep::kept_because;
use crate::outcome::Change;
use crate::place::{Place, resolve};
use crate::plan::{Plan, Primitive, blocking};
use crate::values::Mode;
use crate::{Host, HostError};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Directory {
    pub path: PathBuf,
    #[serde(default)]
    pub mode: Option<Mode>,
    #[serde(default)]
    pub owner: Option<String>,
    #[serde(default)]
    pub group: Option<String>,
    /// Whether a symbolic link at `path` leads to the directory that is meant.
    #[serde(default)]
    pub follow: bool,
    /// Whether removing takes what is inside, too.
    #[serde(default)]
    pub recursive: bool,
}

impl Directory {
    pub fn new(path: impl Into<PathBuf>) -> Directory {
        Directory {
            path: path.into(),
            mode: None,
            owner: None,
            group: None,
            follow: false,
            recursive: false,
        }
    }

    fn place(&self, host: &Host) -> Result<PathBuf, HostError> {
        let path = host.path(&self.path)?;
        if self.follow { resolve(host, &path) } else { Ok(path) }
    }
}

impl Primitive for Directory {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let path = self.place(host)?;
        let name = self.path.display().to_string();
        if path == host.root() {
            return Ok(Plan::new(format!("{name} is already so")));
        }
        let (owner, group) = (self.owner.as_deref(), self.group.as_deref());
        let manner = manner_of(host, self.mode, owner, group).await?;
        blocking(move || {
            let place = Place::find(&path)?;
            let Some(stat) = place.as_ref().map(Place::stat_directory).transpose()?.flatten()
            else {
                let plan = Plan::new(format!("{name} is made"));
                return Ok(plan
                    .change(Change::added(&name, "directory"))
                    .files(move || Place::make(&path)?.make_directory(manner)));
            };
            let altered = manner_changes(&name, manner, &stat);
            if altered.is_empty() {
                return Ok(Plan::new(format!("{name} is already so")));
            }
            let plan = Plan::new(format!("{name} gets its owner and mode")).changes(altered);
            Ok(plan.files(move || Place::make(&path)?.give(manner)))
        })
        .await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let path = host.path(&self.path)?;
        let name = self.path.display().to_string();
        if let Some(why) = kept_because(&self.path, &[]) {
            return Err(HostError::invalid("the directory", name, why));
        }
        let is_recursive = self.recursive;
        blocking(move || plan_removal(path, &name, is_recursive)).await
    }
}

fn plan_removal(path: PathBuf, name: &str, is_recursive: bool) -> Result<Plan, HostError> {
    let place = Place::find(&path)?;
    let found = place.as_ref().map(Place::stat_directory).transpose()?.flatten();
    let (Some(place), Some(_)) = (place, found) else {
        return Ok(Plan::new(format!("{name} is not there")));
    };
    let entries = std::fs::read_dir(&path).map_err(io_at("read", &path))?.count();
    if entries > 0 && !is_recursive {
        return Err(HostError::NotEmpty { path });
    }
    let inside = match entries {
        0 => "directory, empty".to_owned(),
        1 => "directory with 1 entry".to_owned(),
        entries => format!("directory with {entries} entries"),
    };
    let plan = Plan::new(format!("{name} is removed")).change(Change::removed(name, inside));
    Ok(plan.files(move || match is_recursive {
        true => std::fs::remove_dir_all(&path).map_err(io_at("removed", &path)),
        false => place.remove_directory(),
    }))
}
