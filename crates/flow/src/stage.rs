//! What a step is given: its directory, its environment, and whom it talks to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hostler_model::workflow::{Step, Workflow};

use crate::caller::Ground;
use crate::leftover::{EXECUTION, STEP};
use crate::run::Setup;

/// What a step sees as its environment.
pub(crate) fn environment(
    workflow: &Workflow,
    step: Option<&Step>,
    setup: &Setup,
) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = setup.environment.clone();
    environment.extend(workflow.config.env.clone());
    environment.insert("HOSTLER_WORKFLOW".to_owned(), workflow.name.clone());
    if let Some(step) = step {
        environment.extend(step.env.clone());
        environment.insert(STEP.to_owned(), step.name.clone());
    }
    if let Some(execution) = setup.environment.get(EXECUTION) {
        environment.insert(EXECUTION.to_owned(), execution.clone());
    }
    environment
}

/// Where a step works: what it says, what the workflow says, or where the execution was started.
pub(crate) fn workdir(workflow: &Workflow, step: Option<&Step>, setup: &Setup) -> PathBuf {
    let said = step.and_then(|step| step.workdir.as_ref()).or(workflow.config.workdir.as_ref());
    let home = setup.environment.get("HOME");
    match (said, said.and_then(|path| path.strip_prefix("~/")).zip(home)) {
        (_, Some((rest, home))) => Path::new(home).join(rest),
        (Some(path), None) => setup.workdir.join(path),
        (None, None) => setup.workdir.clone(),
    }
}

/// The same, which is there.
pub(crate) fn made_workdir(
    workflow: &Workflow,
    step: Option<&Step>,
    setup: &Setup,
) -> Result<PathBuf, String> {
    let workdir = workdir(workflow, step, setup);
    if workdir != setup.workdir {
        std::fs::create_dir_all(&workdir).map_err(|error| {
            format!("the working directory {} cannot be made: {error}", workdir.display())
        })?;
    }
    Ok(workdir)
}

/// Everything that a try of a step, or a handler of the workflow, is done with.
pub(crate) fn ground(
    workflow: &Workflow,
    step: Option<&Step>,
    setup: &Setup,
) -> Result<Ground, String> {
    Ok(Ground {
        workdir: made_workdir(workflow, step, setup)?,
        environment: environment(workflow, step, setup),
        secrets: setup.secrets.clone(),
        check: setup.check,
        services: setup.services.clone(),
        stack: workflow.stack.clone(),
    })
}
