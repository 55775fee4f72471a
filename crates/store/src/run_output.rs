//! What runs left behind.

use hostler_model::{BlobScope, KeptOutput, ProjectId, RunOutput, WorkloadId};

use super::blob::scope_key;
use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

fn decode(row: &Row) -> Result<RunOutput, Error> {
    let mut columns = row.columns("run_output");
    let (run_id, name) = (columns.parse()?, columns.text()?);
    let (kind, digest, size) = (columns.text()?, columns.opt_digest()?, columns.number()?);
    let words = columns.text()?;
    let kept = match (kind.as_str(), digest) {
        ("archive", Some(digest)) => KeptOutput::Archive { digest, size },
        (_, Some(digest)) => KeptOutput::File { digest, size },
        (_, None) => KeptOutput::Nothing(words),
    };
    Ok(RunOutput { run_id, name, kept, time: columns.time()? })
}

impl Conn {
    /// Of every run of a task, newest run first.
    pub async fn run_outputs(&mut self, workload: WorkloadId) -> Result<Vec<RunOutput>, Error> {
        let rows = self
            .query(
                "SELECT run_id, name, kind, digest, size, words, time_created FROM run_output WHERE workload_id = $1 ORDER BY run_id DESC, name",
                params![workload],
            )
            .await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// Said again, it replaces what was said before.
    pub async fn run_output_put(
        &mut self,
        project: ProjectId,
        workload: WorkloadId,
        output: &RunOutput,
    ) -> Result<(), Error> {
        let (kind, size, words) = match &output.kept {
            KeptOutput::File { size, .. } => ("file", *size, ""),
            KeptOutput::Archive { size, .. } => ("archive", *size, ""),
            KeptOutput::Nothing(words) => ("nothing", 0, words.as_str()),
        };
        self.execute(
            "INSERT INTO run_output (run_id, name, workload_id, scope, kind, digest, size, words, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (run_id, name) DO UPDATE SET kind = excluded.kind, digest = excluded.digest, size = excluded.size, words = excluded.words, time_created = excluded.time_created",
            params![
                output.run_id,
                &output.name,
                workload,
                scope_key(BlobScope::Project(project)).as_str(),
                kind,
                output.kept.digest(),
                size,
                words,
                output.time
            ],
        )
        .await?;
        Ok(())
    }
}
