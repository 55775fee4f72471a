//! A symbolic link, or a second name of a file.
//!
//! A link that leads elsewhere is turned around. A file in its place is replaced only where `force` is
//! said, a directory never.

use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

use crate::error::io_at;
use crate::outcome::Change;
use crate::place::{Place, kind_words};
use crate::plan::{Plan, Primitive, blocking};
use crate::{Host, HostError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkKind {
    #[default]
    Symbolic,
    Hard,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub path: PathBuf,
    /// What a symbolic link says, word for word; the file a hard link is a name of.
    pub target: PathBuf,
    #[serde(default)]
    pub kind: LinkKind,
    /// Whether a plain file in its place is replaced.
    #[serde(default)]
    pub force: bool,
}

impl Link {
    pub fn symbolic(path: impl Into<PathBuf>, target: impl Into<PathBuf>) -> Link {
        Link { path: path.into(), target: target.into(), kind: LinkKind::Symbolic, force: false }
    }
}

impl Primitive for Link {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let path = host.path(&self.path)?;
        let target = match self.kind {
            LinkKind::Symbolic => self.target.clone(),
            LinkKind::Hard => host.path(&self.target)?,
        };
        if target.as_os_str().is_empty() {
            return Err(HostError::invalid("the target", "", "it is empty"));
        }
        let link = self.clone();
        blocking(move || link.plan(path, target)).await
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let path = host.path(&self.path)?;
        let link = self.clone();
        blocking(move || link.plan_removal(&path)).await
    }
}

impl Link {
    fn plan(self, path: PathBuf, target: PathBuf) -> Result<Plan, HostError> {
        let name = self.path.display().to_string();
        let place = Place::find(&path)?;
        let stat = place.as_ref().map(Place::stat).transpose()?.flatten();
        let before = match (&place, &stat) {
            (Some(place), Some(stat)) => {
                let kind = FileType::from_raw_mode(stat.st_mode);
                let is_same = match (self.kind, kind) {
                    (LinkKind::Symbolic, FileType::Symlink) => place.link_target()? == target,
                    (LinkKind::Hard, FileType::RegularFile) => {
                        let other = file_at(&target)?.1;
                        (other.st_dev, other.st_ino) == (stat.st_dev, stat.st_ino)
                    }
                    _ => false,
                };
                if is_same {
                    return Ok(Plan::new(format!("{name} is already so")));
                }
                let may_replace =
                    kind == FileType::Symlink || kind == FileType::RegularFile && self.force;
                if !may_replace {
                    let (is, wanted) = (kind_words(kind), "a link");
                    return Err(HostError::Kind { path, is, wanted });
                }
                Some(words(place, kind)?)
            }
            _ => None,
        };
        let after = match self.kind {
            LinkKind::Symbolic => format!("link to {}", target.display()),
            LinkKind::Hard => {
                file_at(&target)?;
                format!("name of {}", self.target.display())
            }
        };
        let plan = Plan::new(format!("{name} is made a {after}"));
        let plan = plan.change(Change::new(&name, before, Some(after)));
        Ok(plan.files(move || {
            let place = Place::make(&path)?;
            match self.kind {
                LinkKind::Symbolic => place.symlink(&target),
                LinkKind::Hard => place.hard_link(&file_at(&target)?.0),
            }
        }))
    }

    /// A hard link is a file like any other, so only the name goes.
    fn plan_removal(self, path: &Path) -> Result<Plan, HostError> {
        let name = self.path.display().to_string();
        let place = Place::find(path)?;
        let stat = place.as_ref().map(Place::stat).transpose()?.flatten();
        let (Some(place), Some(stat)) = (place, stat) else {
            return Ok(Plan::new(format!("{name} is not there")));
        };
        let kind = FileType::from_raw_mode(stat.st_mode);
        let is_ours = match self.kind {
            LinkKind::Symbolic => kind == FileType::Symlink,
            LinkKind::Hard => kind == FileType::RegularFile,
        };
        if !is_ours {
            let (path, is) = (path.to_owned(), kind_words(kind));
            return Err(HostError::Kind { path, is, wanted: "a link" });
        }
        let plan = Plan::new(format!("{name} is removed"));
        let plan = plan.change(Change::removed(&name, words(&place, kind)?));
        Ok(plan.files(move || place.remove()))
    }
}

/// The plain file that gets a second name.
fn file_at(path: &Path) -> Result<(Place, Stat), HostError> {
    let missing = || io_at("read", path)(std::io::Error::from(std::io::ErrorKind::NotFound));
    let place = Place::find(path)?.ok_or_else(missing)?;
    let stat = place.stat_file()?.ok_or_else(missing)?;
    Ok((place, stat))
}

fn words(place: &Place, kind: FileType) -> Result<String, HostError> {
    Ok(match kind {
        FileType::Symlink => format!("link to {}", place.link_target()?.display()),
        kind => kind_words(kind).to_owned(),
    })
}
