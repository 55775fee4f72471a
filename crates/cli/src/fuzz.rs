//! Doors for the fuzz targets (`crates/fuzz`) to the files that people give to commands. Nothing else uses
//! them.

use hostler_model::WorkloadSpec;

use crate::command::spec::{Submission, env_lines, parse};

/// Reads what `task submit -f` is given: every spec in it, or what is wrong.
pub fn task_file(text: &str) -> Result<Vec<WorkloadSpec>, String> {
    Ok(match parse(text)? {
        Submission::One(body) => vec![body.spec],
        Submission::Array(body) => vec![body.spec],
        Submission::Batch(batch) => batch.tasks.into_iter().map(|task| task.spec).collect(),
    })
}

/// Reads what `--env-file` is given; or the number of the line that is wrong.
pub fn variables(text: &str) -> Result<Vec<(String, String)>, usize> {
    env_lines(text)
}
