//! Doors for the fuzz targets (`crates/fuzz`) to the files that people give to commands. Nothing else uses
//! them.

use hostler_model::schedule::ScheduleSpec;
use hostler_model::{WatcherSpec, WorkloadSpec};

use crate::command::spec::{Submission, env_lines, parse};
use crate::command::{schedule, watcher};

/// Reads what `task submit -f` is given: every spec in it, or what is wrong.
pub fn task_file(text: &str) -> Result<Vec<WorkloadSpec>, String> {
    Ok(match parse(text)? {
        Submission::One(body) => vec![body.spec],
        Submission::Array(body) => vec![body.spec],
        Submission::Batch(batch) => batch.tasks.into_iter().map(|task| task.spec).collect(),
    })
}

/// Reads what `schedule add -f` is given.
pub fn schedule_file(text: &str) -> Result<ScheduleSpec, String> {
    schedule::parse(text)
}

/// Reads what `watcher add -f` is given.
pub fn watcher_file(text: &str) -> Result<WatcherSpec, String> {
    watcher::parse(text)
}

/// Reads what `--env-file` is given; or the number of the line that is wrong.
pub fn variables(text: &str) -> Result<Vec<(String, String)>, usize> {
    env_lines(text)
}
