//! Secrets that workloads name: they have to be there when a workload is submitted or applied. They are
//! looked for again when a run starts (`node_secret`), as they may be gone by then.

use std::collections::HashMap;

use hostler_model::{Diagnostic, Error, Project, SecretRef, Workload, WorkloadSpec};
use hostler_store::{Conn, Tx};

/// The specs of a batch that name secrets, each with its JSON pointer.
pub(super) fn secret_needs(made: &[Workload]) -> Vec<(String, &WorkloadSpec)> {
    let is_batch = made.len() > 1;
    let with_secrets = made.iter().enumerate().filter(|(_, task)| !task.spec.secrets.is_empty());
    with_secrets
        .map(|(i, task)| {
            let at = if is_batch { format!("/tasks/{i}/spec") } else { "/spec".to_owned() };
            (at, task.spec.as_ref())
        })
        .collect()
}

/// Every secret that is not there is a mistake.
pub(super) async fn check_secrets<'s>(
    tx: &mut Tx<'_>,
    project: &Project,
    specs: impl IntoIterator<Item = (String, &'s WorkloadSpec)>,
) -> Result<(), Error> {
    let mut known: HashMap<SecretRef, Option<&'static str>> = HashMap::new();
    let mut problems = Vec::new();
    for (at, spec) in specs {
        for (i, given) in spec.secrets.iter().enumerate() {
            let problem = match known.get(&given.secret) {
                Some(problem) => *problem,
                None => {
                    let problem = problem(tx, project, &given.secret).await?;
                    known.insert(given.secret.clone(), problem);
                    problem
                }
            };
            if let Some(why) = problem {
                problems.push(Diagnostic::new(format!("{at}/secrets/{i}/secret"), why));
            }
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(Error::invalid(problems)) }
}

async fn problem(
    read: &mut Conn,
    project: &Project,
    reference: &SecretRef,
) -> Result<Option<&'static str>, Error> {
    let Some(secret) = read.secret_find(project.id, reference).await? else {
        return Ok(Some("the project has no such secret; set it first with `hostler secret set`"));
    };
    if secret.link.is_some() {
        let text = "the secret is a link and has no versions here; leave the version out";
        return Ok(reference.version.map(|_| text));
    }
    let version = reference.version.unwrap_or(secret.version_current);
    Ok(match read.secret_version_get(secret.id, version).await? {
        Some(version) if !version.is_destroyed() => None,
        Some(_) => Some("this version was destroyed; name another one, or none for the current"),
        None if reference.version.is_some() => {
            Some("the secret has no such version; `hostler secret versions` lists them")
        }
        None => Some("every version of the secret was destroyed; set it anew"),
    })
}
