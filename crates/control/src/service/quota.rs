//! Quotas on what is declared and kept: workloads, stacks, secrets, content. (State has its own sums, see
//! `engine::state`. Cores, memory and GPUs are what
//! placement looks at; what is beyond them waits. Tasks are counted in `task_submit`.)
//!
//! Each is looked at in the transaction that adds: transactions are serialisable, so that of two servers that
//! add the last one at the same time one is sent back and finds it taken. A quota that is made smaller than
//! what is there takes nothing away; it is only not added to.

use hostler_model::{BlobScope, Bytes, Code, Error, Project, Quota};
use hostler_store::Tx;

use super::stack_refusal::StackRefusal;

/// Read in the transaction: it may have changed since the request came in.
async fn quota(tx: &mut Tx<'_>, project: hostler_model::ProjectId) -> Result<Quota, Error> {
    Ok(tx.project_get(project).await?.map(|project| project.quota).unwrap_or_default())
}

pub(crate) fn exceeded(
    what: &str,
    limit: impl std::fmt::Display,
    has: impl std::fmt::Display,
) -> Error {
    Error::new(
        Code::QuotaExceeded,
        format!("the project may have {limit} {what}, and has {has}"),
        "remove some that are not needed, or ask for a larger quota; `hostler project quota` shows all",
    )
}

/// Whether one more workload may be applied.
pub(super) async fn room_for_workload(tx: &mut Tx<'_>, project: &Project) -> Result<(), Error> {
    let Some(limit) = quota(tx, project.id).await?.workloads else { return Ok(()) };
    let has = tx.service_count(project.id).await?;
    if has < limit { Ok(()) } else { Err(exceeded("workloads", limit, has)) }
}

/// Whether one more secret may be made.
pub(super) async fn room_for_secret(tx: &mut Tx<'_>, project: &Project) -> Result<(), Error> {
    let Some(limit) = quota(tx, project.id).await?.secrets else { return Ok(()) };
    let has = tx.secret_count(project.id).await?;
    if has < limit { Ok(()) } else { Err(exceeded("secrets", limit, has)) }
}

/// Whether one more stack may be made.
pub(super) async fn room_for_stack(tx: &mut Tx<'_>, project: &Project) -> Result<(), StackRefusal> {
    let Some(limit) = quota(tx, project.id).await?.stacks else { return Ok(()) };
    let has = tx.stack_count_in(project.id).await?;
    if has < limit {
        return Ok(());
    }
    let text = format!(
        "You have reached the maximum stacks per tenant, {limit}. Please delete some stacks."
    );
    Err(StackRefusal::limit(&text, exceeded("stacks", limit, has)))
}

/// Whether the blobs are within the quota together with the one of this size that was entered just now.
pub(super) async fn room_for_blob(
    tx: &mut Tx<'_>,
    scope: BlobScope,
    entered: u64,
) -> Result<(), Error> {
    let Some(project) = scope.project() else { return Ok(()) };
    let Some(limit) = quota(tx, project).await?.blobs else { return Ok(()) };
    let has = tx.blob_bytes(project).await?;
    if has <= limit.get() {
        return Ok(());
    }
    let (before, more) = (Bytes::new(has.saturating_sub(entered)), Bytes::new(entered));
    Err(exceeded("of blobs", limit, format!("{before}; this is {more} more")))
}
