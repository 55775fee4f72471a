//! Images that the installation keeps, and what nodes have in their container engines.

use hostler_model::{
    Actor, Bytes, ChunkRef, Digest, ImageId, ImageSource, Name, NodeContainer, NodeImage, Role,
    Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::node::NodePath;
use crate::operation::OperationView;
use crate::{Access, Listing};

crate::endpoints! { "images"
    /// List every version of every image, by name.
    ImageList = "image_list" GET "/api/v1/images", Access::LoggedIn, ImageRead, 200,
        query: ImageListQuery, reply: Listing<ImageView>;
    /// Show a version of an image; the newest where none is named.
    ImageGet = "image_get" GET "/api/v1/images/{image}", Access::LoggedIn, ImageRead, 200,
        path: ImagePath, reply: ImageView, errors: [NotFound];
    /// Make a version of an image from chunks that were sent.
    ImagePush = "image_push" POST "/api/v1/images", Access::Global(Role::Operator), ImagePush, 201,
        body: ImagePushBody, reply: ImageView, errors: [Conflict, QuotaExceeded, KeyReused];
    /// Read a version's content, as `docker load` takes it.
    ImageContent = "image_content" GET "/api/v1/images/{image}/content", Access::Global(Role::Operator), ImageExport, 200,
        path: ImagePath, errors: [NotFound], stream: Raw;
    /// Keep a version of an image no longer; without a version, all of them.
    ImageRemove = "image_remove" DELETE "/api/v1/images/{image}", Access::Global(Role::Operator), ImageRemove, 204,
        path: ImagePath, errors: [NotFound];
    /// Make a version of an image from what a node has: an image, or a container as it is now.
    ImageTake = "image_take" POST "/api/v1/images/{image}/take", Access::Global(Role::Operator), ImageTake, 202,
        path: ImagePath, body: ImageTakeBody, reply: OperationView, errors: [NotFound, Conflict, KeyReused];
    /// Have a version of an image on nodes before anything needs it there.
    ImageSync = "image_sync" POST "/api/v1/images/{image}/sync", Access::Global(Role::Operator), ImageSync, 202,
        path: ImagePath, body: ImageSyncBody, reply: OperationView, errors: [NotFound, Conflict, KeyReused];
    /// Ask every node that has a container engine whether it has a version of an image.
    ImageNodes = "image_nodes" GET "/api/v1/images/{image}/nodes", Access::Global(Role::Operator), NodeImageRead, 200,
        path: ImagePath, reply: Listing<ImageNodeView>, errors: [NotFound];
    /// List the images that a node's engine has.
    NodeImageList = "node_image_list" GET "/api/v1/nodes/{node}/images", Access::Global(Role::Operator), NodeImageRead, 200,
        path: NodePath, reply: Listing<NodeImage>, errors: [NotFound, Conflict, NodeUnreachable];
    /// Remove an image from a node's engine.
    NodeImageRemove = "node_image_remove" DELETE "/api/v1/nodes/{node}/images", Access::Global(Role::Operator), NodeImageRemove, 204,
        path: NodePath, query: NodeImageQuery, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// List the containers that a node's engine has.
    NodeContainerList = "node_container_list" GET "/api/v1/nodes/{node}/containers", Access::Global(Role::Operator), ContainerRead, 200,
        path: NodePath, reply: Listing<NodeContainer>, errors: [NotFound, Conflict, NodeUnreachable];
    /// Remove a container that no run needs from a node's engine.
    NodeContainerRemove = "node_container_remove" DELETE "/api/v1/nodes/{node}/containers/{container}", Access::Global(Role::Operator), ContainerRemove, 204,
        path: NodeContainerPath, errors: [NotFound, Invalid, Conflict, NodeUnreachable];
    /// Read the files of a container as a tar stream.
    NodeContainerFiles = "node_container_files" GET "/api/v1/nodes/{node}/containers/{container}/files", Access::Global(Role::Operator), ContainerExport, 200,
        path: NodeContainerPath, errors: [NotFound, Invalid, Conflict, NodeUnreachable], stream: Raw;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImagePath {
    /// NAME, NAME:VERSION or NAME@DIGEST.
    pub image: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeContainerPath {
    /// Name or id of the node.
    pub node: String,
    /// Name or id of the container.
    pub container: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeImageQuery {
    /// Name or id of the image, as the node's engine knows it.
    pub image: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImageListQuery {
    /// Only versions of this image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
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

crate::paged!(ImageListQuery);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImagePushBody {
    pub name: Name,
    /// Of the whole content.
    pub digest: Digest,
    /// In the order of the content.
    pub chunks: Vec<ChunkRef>,
    /// Where it comes from, for people.
    #[schemars(length(max = 256))]
    #[serde(default)]
    pub origin: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ImageTakeBody {
    /// Name or id of the node.
    pub node: String,
    pub source: ImageSource,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ImageSyncBody {
    /// Names or ids of nodes; every node that is online and has a container engine where none is named.
    #[schemars(length(max = 1000))]
    pub nodes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageView {
    pub id: ImageId,
    pub name: Name,
    pub version: u32,
    /// What a workload says to have it: `hostler://NAME:VERSION`.
    pub reference: String,
    pub digest: Digest,
    pub size: Bytes,
    pub origin: String,
    pub created_by: Actor,
    pub time_created: Timestamp,
}

/// Whether a version of an image is on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImageNodeView {
    pub node: Name,
    /// Absent when the node has not said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_here: Option<bool>,
    /// Why it has not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}
