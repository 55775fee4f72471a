//! Checked conversions of what is said about content.

use hostler_model::{ChunkRef, Digest, KeptOutput, OperationId, RunId, RunOutput, Timestamp};

use crate::{ConvertError, v1};

pub fn parse_digest(bytes: &[u8]) -> Result<Digest, ConvertError> {
    let problem = || ConvertError::Bad {
        field: "digest",
        problem: format!("{} bytes instead of 32", bytes.len()),
    };
    Digest::from_slice(bytes).ok_or_else(problem)
}

pub fn parse_digests(list: &[Vec<u8>]) -> Result<Vec<Digest>, ConvertError> {
    list.iter().map(|bytes| parse_digest(bytes)).collect()
}

pub fn digests_to_message(digests: &[Digest]) -> Vec<Vec<u8>> {
    digests.iter().map(|digest| digest.bytes().to_vec()).collect()
}

pub fn chunks_to_message(chunks: &[ChunkRef]) -> Vec<v1::ChunkEntry> {
    let entry = |chunk: &ChunkRef| v1::ChunkEntry {
        digest: chunk.digest.bytes().to_vec(),
        size: chunk.size,
    };
    chunks.iter().map(entry).collect()
}

pub fn parse_chunks(entries: &[v1::ChunkEntry]) -> Result<Vec<ChunkRef>, ConvertError> {
    let parse = |entry: &v1::ChunkEntry| {
        Ok(ChunkRef { digest: parse_digest(&entry.digest)?, size: entry.size })
    };
    entries.iter().map(parse).collect()
}

/// Empty is none.
pub fn parse_run(text: &str) -> Result<Option<RunId>, ConvertError> {
    if text.is_empty() {
        return Ok(None);
    }
    let bad = |problem: &dyn std::fmt::Display| ConvertError::Bad {
        field: "run_id",
        problem: problem.to_string(),
    };
    text.parse().map(Some).map_err(|e| bad(&e))
}

/// Empty is none. `field` is for the words.
pub fn parse_operation(
    text: &str,
    field: &'static str,
) -> Result<Option<OperationId>, ConvertError> {
    if text.is_empty() {
        return Ok(None);
    }
    let bad =
        |problem: &dyn std::fmt::Display| ConvertError::Bad { field, problem: problem.to_string() };
    text.parse().map(Some).map_err(|e| bad(&e))
}

pub fn output_to_message(output: &RunOutput) -> v1::OutputEntry {
    let (size, is_archive, problem) = match &output.kept {
        KeptOutput::File { size, .. } => (*size, false, String::new()),
        KeptOutput::Archive { size, .. } => (*size, true, String::new()),
        KeptOutput::Nothing(why) => (0, false, why.clone()),
    };
    v1::OutputEntry {
        name: output.name.clone(),
        digest: output.kept.digest().map(|digest| digest.bytes().to_vec()).unwrap_or_default(),
        size,
        is_archive,
        problem,
        time_micros: output.time.micros(),
    }
}

pub fn parse_output(run_id: RunId, entry: v1::OutputEntry) -> Result<RunOutput, ConvertError> {
    let size = entry.size;
    let kept = match (entry.digest.is_empty(), entry.is_archive) {
        (true, _) => KeptOutput::Nothing(entry.problem),
        (false, true) => KeptOutput::Archive { digest: parse_digest(&entry.digest)?, size },
        (false, false) => KeptOutput::File { digest: parse_digest(&entry.digest)?, size },
    };
    let time = Timestamp::from_micros(entry.time_micros);
    Ok(RunOutput { run_id, name: entry.name, kept, time })
}
