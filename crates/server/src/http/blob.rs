//! Blobs: chunks in, content out, and what tasks left.

use axum::body::Body;
use bytes::Bytes;
use hostler_api::blob::{
    BlobCommit, BlobContent, BlobGet, BlobList, BlobRemove, BlobView, ChunkPut, ChunksMissing,
    ChunksView, OutputView, SharedChunkPut, SharedChunksMissing, TaskOutputList,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{BlobDetail, BlobReader, NewBlob};
use hostler_model::{BlobKind, BlobScope, Error, KeptOutput, Name, RunOutput};
use http::header::CONTENT_LENGTH;

use super::app::StreamPermit;
use super::gather::Gather;
use super::{Answer, App, Call, page};

pub(crate) async fn list(
    app: App,
    call: Call<BlobList>,
) -> Result<Answer<Listing<BlobView>>, Error> {
    let mut list = Gather::of::<BlobList>(&call.query)?;
    let (control, project, kind) = (app.control(), call.project().id, call.query.kind);
    while let Some(ask) = list.ask() {
        let scope = BlobScope::Project(project);
        list.take(control.blob_list(scope, kind, ask.after(), ask.limit).await?, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn missing(
    app: App,
    call: Call<ChunksMissing>,
) -> Result<Answer<ChunksView>, Error> {
    let scope = BlobScope::Project(call.project().id);
    let missing = app.control().blob_missing(scope, &call.body.chunks).await?;
    Ok(Answer::new(ChunksView { missing }))
}

pub(crate) async fn shared_missing(
    app: App,
    call: Call<SharedChunksMissing>,
) -> Result<Answer<ChunksView>, Error> {
    let missing = app.control().blob_missing(BlobScope::Shared, &call.body.chunks).await?;
    Ok(Answer::new(ChunksView { missing }))
}

pub(crate) async fn put(app: App, call: Call<ChunkPut>) -> Result<Answer<Nothing>, Error> {
    let scope = BlobScope::Project(call.project().id);
    app.control().chunk_put(scope, call.path.chunk, call.raw).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn shared_put(
    app: App,
    call: Call<SharedChunkPut>,
) -> Result<Answer<Nothing>, Error> {
    app.control().chunk_put(BlobScope::Shared, call.path.chunk, call.raw).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn commit(app: App, call: Call<BlobCommit>) -> Result<Answer<BlobView>, Error> {
    let project = call.project();
    let location = format!("/api/v1/projects/{}/blobs/{}", project.name, call.body.digest);
    let new = NewBlob {
        scope: BlobScope::Project(project.id),
        digest: call.body.digest,
        kind: BlobKind::File,
        label: call.body.label.clone(),
        chunks: call.body.chunks.clone(),
    };
    let made = app.control().blob_commit(&call.cx, new).await?;
    Ok(Answer::new(view(made)).with_location(location))
}

pub(crate) async fn get(app: App, call: Call<BlobGet>) -> Result<Answer<BlobView>, Error> {
    let scope = BlobScope::Project(call.project().id);
    Ok(Answer::new(view(app.control().blob_get(scope, call.path.blob).await?)))
}

pub(crate) async fn content(app: App, call: Call<BlobContent>) -> Result<Answer<Nothing>, Error> {
    let permit = app.stream_permit()?;
    let scope = BlobScope::Project(call.project().id);
    let from = call.query.from.unwrap_or_default();
    let (blob, reader) = app.control().blob_read(scope, call.path.blob, from).await?;
    Ok(bytes_of(reader, permit).with_header(CONTENT_LENGTH, blob.size.saturating_sub(from)))
}

/// The content as the answer. When it cannot be read to its end, the answer breaks off.
pub(crate) fn bytes_of<R>(reader: BlobReader, permit: StreamPermit) -> Answer<R> {
    let reading = (reader, permit);
    let stream = futures::stream::try_unfold(reading, |(mut reader, permit)| async move {
        let bytes: Option<Bytes> = reader.next().await.inspect_err(|error| {
            tracing::warn!(%error, "content could not be read to its end");
        })?;
        Ok::<_, Error>(bytes.map(|bytes| (bytes, (reader, permit))))
    });
    Answer::stream("application/octet-stream", Body::from_stream(stream))
}

pub(crate) async fn remove(app: App, call: Call<BlobRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().blob_remove(&call.cx, call.project(), call.path.blob).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn outputs(
    app: App,
    call: Call<TaskOutputList>,
) -> Result<Answer<Listing<OutputView>>, Error> {
    let (task, outputs) = app.control().task_outputs(call.project(), &call.path.task).await?;
    Ok(Answer::new(page::whole(outputs, |output| output_view(&task, output))))
}

fn view(detail: BlobDetail) -> BlobView {
    let BlobDetail { blob, created_by } = detail;
    BlobView {
        digest: blob.digest,
        size: blob.size,
        kind: blob.kind,
        label: blob.label,
        chunks: blob.chunk_count,
        created_by,
        time_created: blob.time_created,
        time_used: blob.time_used,
    }
}

fn output_view(task: &Name, output: RunOutput) -> OutputView {
    let digest = output.kept.digest();
    let (size, is_archive, problem) = match output.kept {
        KeptOutput::File { size, .. } => (size, false, None),
        KeptOutput::Archive { size, .. } => (size, true, None),
        KeptOutput::Nothing(why) => (0, false, Some(why)),
    };
    OutputView {
        run: output.run_id,
        name: output.name,
        digest,
        size,
        is_archive,
        problem,
        task: task.clone(),
        time_created: output.time,
    }
}
