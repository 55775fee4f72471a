//! Blobs: content by its digest, sent in chunks.
//!
//! Whoever has content cuts it into chunks, asks which are missing, sends those, and then names the
//! whole. What was sent already, in this attempt or for something alike, is not sent again.

use hostler_model::{BlobKind, CHUNK_MAX, ChunkRef, Digest, Name, Role, RunId, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::task::TaskPath;
use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "blobs"
    /// List blobs, newest first.
    BlobList = "blob_list" GET "/api/v1/projects/{project}/blobs", Access::Project(Role::Viewer), BlobRead, 200,
        path: ProjectPath, query: BlobListQuery, reply: Listing<BlobView>, errors: [NotFound];
    /// Say which chunks would have to be sent.
    ChunksMissing = "chunks_missing" POST "/api/v1/projects/{project}/chunks/missing", Access::Project(Role::User), BlobCreate, 200,
        path: ProjectPath, body: ChunksBody, reply: ChunksView, errors: [NotFound];
    /// Send a chunk: at most 1 MiB, as it is.
    ChunkPut = "chunk_put" PUT "/api/v1/projects/{project}/chunks/{chunk}", Access::Project(Role::User), BlobCreate, 204,
        path: ChunkPath, errors: [NotFound, QuotaExceeded], raw_body: CHUNK_MAX;
    /// Make a blob of chunks that were sent.
    BlobCommit = "blob_commit" POST "/api/v1/projects/{project}/blobs", Access::Project(Role::User), BlobCreate, 201,
        path: ProjectPath, body: BlobCommitBody, reply: BlobView, errors: [NotFound, Conflict, QuotaExceeded];
    /// Show a blob.
    BlobGet = "blob_get" GET "/api/v1/projects/{project}/blobs/{blob}", Access::Project(Role::Viewer), BlobRead, 200,
        path: BlobPath, reply: BlobView, errors: [NotFound];
    /// Read a blob's content.
    BlobContent = "blob_content" GET "/api/v1/projects/{project}/blobs/{blob}/content", Access::Project(Role::Viewer), BlobContent, 200,
        path: BlobPath, query: BlobContentQuery, errors: [NotFound], stream: Raw;
    /// Remove a blob that nothing needs.
    BlobRemove = "blob_remove" DELETE "/api/v1/projects/{project}/blobs/{blob}", Access::Project(Role::User), BlobRemove, 204,
        path: BlobPath, errors: [NotFound, Conflict];
    /// Say which chunks of what belongs to everybody would have to be sent.
    SharedChunksMissing = "shared_chunks_missing" POST "/api/v1/blobs/missing", Access::Global(Role::Operator), ImagePush, 200,
        body: ChunksBody, reply: ChunksView;
    /// Send a chunk of what belongs to everybody: at most 1 MiB, as it is.
    SharedChunkPut = "shared_chunk_put" PUT "/api/v1/blobs/chunks/{chunk}", Access::Global(Role::Operator), ImagePush, 204,
        path: SharedChunkPath, errors: [QuotaExceeded], raw_body: CHUNK_MAX;
    /// List what the runs of a task left, newest run first.
    TaskOutputList = "task_output_list" GET "/api/v1/projects/{project}/tasks/{task}/outputs", Access::Project(Role::Viewer), TaskOutput, 200,
        path: TaskPath, reply: Listing<OutputView>, errors: [NotFound];
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlobPath {
    /// Name or id of the project.
    pub project: String,
    /// Digest of the blob.
    pub blob: Digest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChunkPath {
    /// Name or id of the project.
    pub project: String,
    /// Digest of the chunk.
    pub chunk: Digest,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SharedChunkPath {
    /// Digest of the chunk.
    pub chunk: Digest,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlobListQuery {
    /// Only blobs of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<BlobKind>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(BlobListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BlobContentQuery {
    /// Leave out this many bytes at the beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChunksBody {
    #[schemars(length(max = 1000))]
    pub chunks: Vec<Digest>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChunksView {
    pub missing: Vec<Digest>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BlobCommitBody {
    /// Of the whole content.
    pub digest: Digest,
    /// What people call it, such as a file name.
    #[schemars(length(max = 256))]
    #[serde(default)]
    pub label: String,
    /// In the order of the content.
    pub chunks: Vec<ChunkRef>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BlobView {
    pub digest: Digest,
    pub size: u64,
    pub kind: BlobKind,
    pub label: String,
    pub chunks: u32,
    /// Absent when a node made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    pub time_created: Timestamp,
    /// When it was last asked for, give or take an hour.
    pub time_used: Timestamp,
}

/// Something that a run left, or should have left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OutputView {
    pub run: RunId,
    pub name: String,
    /// The blob; absent when nothing could be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
    pub size: u64,
    /// It was a directory, and is a tar archive.
    pub is_archive: bool,
    /// Why nothing could be kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub task: Name,
    pub time_created: Timestamp,
}
