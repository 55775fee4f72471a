//! Removing directories with everything in them. There is one way, and it refuses what nobody means: parts of the
//! system, homes, the directory in which the execution was started, and whatever holds one of these.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hostler_host::kept_because;

use super::acting;

/// The path as it really is, if it may be removed.
pub(crate) fn removable(path: &Path) -> Result<PathBuf, String> {
    let mut used = vec![acting().workdir.clone()];
    used.extend(started_in());
    judged(path, used)
}

fn judged(path: &Path, mut used: Vec<PathBuf>) -> Result<PathBuf, String> {
    used.extend(acting().env("HOME").map(PathBuf::from));
    let real: Vec<PathBuf> = used.iter().filter_map(|place| place.canonicalize().ok()).collect();
    used.extend(real);
    let found = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match kept_because(&found, &used).or_else(|| kept_because(path, &used)) {
        None => Ok(found),
        Some(why) => Err(why),
    }
}

fn started_in() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Whether a directory is the step's alone, so that it may be emptied or removed by it.
pub(crate) fn is_own(path: &Path) -> bool {
    judged(path, started_in().into_iter().collect()).is_ok()
}

/// Removes a file, or a directory with everything in it; false when there is none. A link is removed, not what it
/// leads to.
pub(crate) async fn remove_tree(path: &Path) -> Result<bool, String> {
    let failed = |error: std::io::Error| format!("{} cannot be removed: {error}", path.display());
    let known = match std::fs::symlink_metadata(path) {
        Ok(known) => known,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return removable(path).map(|_| false);
        }
        Err(error) => return Err(failed(error)),
    };
    if !known.is_dir() {
        return tokio::fs::remove_file(path).await.map(|()| true).map_err(failed);
    }
    removable(path)?;
    tokio::fs::remove_dir_all(path).await.map(|()| true).map_err(failed)
}

/// Removes what is in the directory of the step, which stays because the step is in it.
pub(crate) async fn empty_own() -> Result<(), String> {
    let folder = acting().workdir.clone();
    if !is_own(&folder) {
        return Err(format!(
            "{} is not emptied, because it is not the step's alone; give the step a `workdir`",
            folder.display()
        ));
    }
    let failed = |error: std::io::Error| format!("{} cannot be listed: {error}", folder.display());
    let entries = match std::fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    for entry in entries {
        remove_tree(&entry.map_err(failed)?.path()).await?;
    }
    Ok(())
}
