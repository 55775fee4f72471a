//! What tasks need of the project's content: it has to be there when they are submitted, and stays for
//! as long as they are on record.

use std::collections::HashMap;

use hostler_model::{
    BlobScope, Diagnostic, Digest, Error, Project, Timestamp, Workload, WorkloadSpec,
};
use hostler_store::Tx;

/// What one task, or array, needs.
pub(super) struct Need<'a> {
    /// JSON pointer of its spec.
    pub at: String,
    pub spec: &'a WorkloadSpec,
    /// Id of the task or array.
    pub holder: String,
}

/// What the tasks of a batch need.
pub(super) fn needs(made: &[Workload]) -> Vec<Need<'_>> {
    let is_batch = made.len() > 1;
    let with_inputs = made.iter().enumerate().filter(|(_, task)| !task.spec.inputs.is_empty());
    with_inputs
        .map(|(i, task)| {
            let at = if is_batch { format!("/tasks/{i}/spec") } else { "/spec".to_owned() };
            Need { at, spec: task.spec.as_ref(), holder: task.id.to_string() }
        })
        .collect()
}

/// Notes what is needed; every blob that is not there is a mistake.
pub(super) async fn hold_inputs(
    tx: &mut Tx<'_>,
    project: &Project,
    needs: &[Need<'_>],
    now: Timestamp,
) -> Result<(), Error> {
    let scope = BlobScope::Project(project.id);
    let mut known: HashMap<Digest, bool> = HashMap::new();
    let mut problems = Vec::new();
    let mut uses = Vec::new();
    for need in needs {
        for (i, input) in need.spec.inputs.iter().enumerate() {
            let is_there = match known.get(&input.blob) {
                Some(is_there) => *is_there,
                None => {
                    let is_there = tx.blob_get(scope, input.blob).await?.is_some();
                    known.insert(input.blob, is_there);
                    is_there
                }
            };
            if is_there {
                uses.push((scope, input.blob, need.holder.clone()));
            } else {
                let at = format!("{}/inputs/{i}/blob", need.at);
                let text = "the project has no such blob; upload it first, `--input` does";
                problems.push(Diagnostic::new(at, text));
            }
        }
    }
    if !problems.is_empty() {
        return Err(Error::invalid(problems));
    }
    if uses.is_empty() {
        return Ok(());
    }
    Ok(tx.blob_use(&uses, now).await?)
}
