//! The directory that a workflow has for itself: made before it begins, removed at the end where that is wanted.
//!
//! It has the name of the execution, so that one that goes on finds it again. What a machine needs, and the directory in
//! which the execution was started, is never removed.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use hostler_lua::modules::kept_because;
use hostler_model::workflow::Workflow;

/// Gives a workflow a directory of its own where it wants one and names none.
pub(crate) fn provide(workflow: &mut Workflow, execution: &str) -> Result<(), String> {
    if !workflow.config.own_workdir || workflow.config.workdir.is_some() {
        return Ok(());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let name: String = workflow.name.chars().filter(|c| is_plain(*c)).take(60).collect();
    let path = std::env::temp_dir().join(format!("hostler-{name}-{execution}"));
    make(&path).map_err(|error| {
        format!("the directory of the workflow, {}, cannot be made: {error}", path.display())
    })?;
    workflow.config.workdir = Some(path.to_string_lossy().into_owned());
    Ok(())
}

/// Makes a directory that nobody else can change, or takes one of ours that is there.
fn make(path: &Path) -> std::io::Result<()> {
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            let found = fs::symlink_metadata(path)?;
            let is_ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw();
            if is_ours { Ok(()) } else { Err(error) }
        }
        made => made,
    }
}

/// Removes the directory of a workflow with everything in it; an error says why not.
pub(crate) fn remove(path: &Path, mut used: Vec<PathBuf>) -> Result<(), String> {
    used.extend(used.clone().iter().filter_map(|place| place.canonicalize().ok()));
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    if let Some(why) = kept_because(&real, &used).or_else(|| kept_because(path, &used)) {
        return Err(why);
    }
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{} cannot be removed: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use hostler_model::workflow::WorkflowConfig;

    use super::*;

    #[test]
    fn a_directory_is_made_once_and_removed_unless_it_is_used() {
        let config = WorkflowConfig { own_workdir: true, ..WorkflowConfig::default() };
        let fresh =
            || Workflow { name: "a/b c".into(), config: config.clone(), ..Workflow::default() };
        let id = format!("test-{}", std::process::id());
        let (mut one, mut again) = (fresh(), fresh());
        provide(&mut one, &id).unwrap();
        provide(&mut again, &id).unwrap();
        let path = PathBuf::from(one.config.workdir.clone().unwrap());
        assert!(
            one.config == again.config
                && path.is_dir()
                && path.ends_with(format!("hostler-abc-{id}"))
        );
        fs::write(path.join("x"), "").unwrap();
        assert!(remove(&path, vec![path.join("below")]).is_err());
        remove(&path, Vec::new()).unwrap();
        assert!(!path.exists());
        remove(&path, Vec::new()).unwrap();
        assert!(remove(Path::new("/etc"), Vec::new()).is_err());
    }
}
