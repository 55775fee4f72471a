//! What is asked of a node's container engine: over its session, through any server. Nothing is kept of
//! it. Users have no way here; every question is one of [`EngineAsk`], made by this process.

use std::time::Duration;

use futures::StreamExt;
use hostler_model::{
    Code, EngineAsk, Error, Image, JobState, NodeContainer, NodeId, NodeImage, NodeState,
    ObjectKind, ObjectRef, Readiness, RunId,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{
    Control, Cx, ImageOnNode, ImagePresence, NodeAsk, OutputItem, OutputReceiver, Stateless,
};

/// How long an engine may take for a list.
const LIST_TIME: Duration = Duration::from_secs(20);
/// How long it may take to remove something large.
const REMOVE_TIME: Duration = Duration::from_secs(60);
/// How long a node may take to say how a job stands.
const JOB_TIME: Duration = Duration::from_secs(5);
const READINESS_TIME: Duration = Duration::from_secs(2);
/// How long a node may take to say whether it has an image, when all are asked.
const PRESENCE_TIME: Duration = Duration::from_secs(5);
/// How long nodes are told, at most, that there may be something to clean up.
const TIDY_TIME: Duration = Duration::from_secs(2);
/// How many nodes are asked at the same time.
const TOGETHER: usize = 64;

impl Control {
    pub async fn node_images(&self, cx: &Cx, node: &str) -> Result<Vec<NodeImage>, Error> {
        let node = self.node_get(cx, node).await?;
        self.engine_documents(node.id, EngineAsk::Images, LIST_TIME).await
    }

    /// On which nodes a version lies, as they say now; every node that has a container engine, by name.
    pub async fn image_nodes(&self, cx: &Cx, reference: &str) -> Result<Vec<ImageOnNode>, Error> {
        let image = &self.image_get(cx, reference).await?;
        let nodes = self.store.read().await?.node_list_all_present().await?;
        let with_engine = nodes.into_iter().filter(super::image::has_engine);
        let asked = futures::stream::iter(with_engine).map(|node| async move {
            let presence = match node.state {
                NodeState::Online => self.image_presence(node.id, image).await,
                _ => ImagePresence::Unknown(format!("the node is {}", node.state)),
            };
            ImageOnNode { node: node.name, presence }
        });
        let mut told: Vec<ImageOnNode> = asked.buffer_unordered(TOGETHER).collect().await;
        told.sort_by(|a, b| a.node.cmp(&b.node));
        Ok(told)
    }

    async fn image_presence(&self, node: NodeId, image: &Image) -> ImagePresence {
        let images = self.engine_documents(node, EngineAsk::Images, PRESENCE_TIME).await;
        let images: Vec<NodeImage> = match images {
            Ok(images) => images,
            Err(error) => return ImagePresence::Unknown(error.detail),
        };
        match images.iter().any(|it| it.kept.contains(&image.reference())) {
            true => ImagePresence::Here,
            false => ImagePresence::Absent,
        }
    }

    /// Tells nodes that there may be images to clean up. Those that do not hear of it find out by
    /// themselves, later.
    pub(super) async fn tell_to_tidy(&self) {
        let told = async {
            let nodes = self.nodes_with_engine().await?;
            let tell = |node| self.engine_documents::<()>(node, EngineAsk::Tidy, TIDY_TIME);
            let all = futures::stream::iter(nodes).map(tell).buffer_unordered(TOGETHER);
            Ok::<_, Error>(all.filter(|told| std::future::ready(told.is_err())).count().await)
        };
        match self.clock.timeout(TIDY_TIME, told).await {
            Ok(Ok(0)) => {}
            Ok(Ok(deaf)) => tracing::debug!(deaf, "nodes were not told to clean up images"),
            Ok(Err(error)) => tracing::debug!(%error, "nodes were not told to clean up images"),
            Err(_) => tracing::debug!("not all nodes were told to clean up images"),
        }
    }

    pub async fn node_containers(&self, cx: &Cx, node: &str) -> Result<Vec<NodeContainer>, Error> {
        let node = self.node_get(cx, node).await?;
        self.engine_documents(node.id, EngineAsk::Containers, LIST_TIME).await
    }

    pub async fn node_image_remove(&self, cx: &Cx, node: &str, image: String) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Image, &image, &image);
        self.engine_remove(
            cx,
            node,
            EngineAsk::ImageRemove { image },
            Stateless::NodeImageRemove,
            object,
        )
        .await
    }

    pub async fn node_container_remove(
        &self,
        cx: &Cx,
        node: &str,
        container: String,
    ) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Container, &container, &container);
        let ask = EngineAsk::ContainerRemove { container };
        self.engine_remove(cx, node, ask, Stateless::NodeContainerRemove, object).await
    }

    /// The files of a container as a tar stream, in the items' bytes.
    pub async fn node_container_files(
        &self,
        cx: &Cx,
        node: &str,
        container: String,
    ) -> Result<OutputReceiver, Error> {
        let node = self.node_get(cx, node).await?;
        let object = ObjectRef::new(ObjectKind::Container, &container, &container);
        self.engine_audit(cx, Stateless::NodeContainerExport, &object, &node.name).await?;
        self.node_open(node.id, NodeAsk::Engine(EngineAsk::ContainerFiles { container })).await
    }

    /// Asks first and writes down after, because what was refused has not happened.
    async fn engine_remove(
        &self,
        cx: &Cx,
        node: &str,
        ask: EngineAsk,
        action: Stateless,
        object: ObjectRef,
    ) -> Result<(), Error> {
        let node = self.node_get(cx, node).await?;
        let _nothing: Vec<serde_json::Value> =
            self.engine_documents(node.id, ask, REMOVE_TIME).await?;
        self.engine_audit(cx, action, &object, &node.name).await
    }

    async fn engine_audit(
        &self,
        cx: &Cx,
        action: Stateless,
        object: &ObjectRef,
        node: &hostler_model::Name,
    ) -> Result<(), Error> {
        let audit = self.audit(cx, action, object, None, json!({ "node": node }));
        let audit = &audit;
        self.store
            .tx("node_engine", |tx| {
                Box::pin(async move {
                    tx.journal_append(&[], std::slice::from_ref(audit)).await?;
                    Ok::<_, Error>(())
                })
            })
            .await
    }

    /// How a job stands; asking begins it.
    pub(crate) async fn engine_job(&self, node: NodeId, ask: EngineAsk) -> Result<JobState, Error> {
        let told = self.engine_documents(node, ask, JOB_TIME).await?;
        told.into_iter().next().ok_or_else(silent)
    }

    /// What a run on a node waits for; `None` when it does not, or nobody answers.
    pub(crate) async fn readiness(&self, node: NodeId, run: RunId) -> Option<Readiness> {
        let ask = EngineAsk::Readiness { run };
        let told = self.engine_documents(node, ask, READINESS_TIME).await.ok()?;
        told.into_iter().next()
    }

    async fn engine_documents<T: DeserializeOwned>(
        &self,
        node: NodeId,
        ask: EngineAsk,
        time: Duration,
    ) -> Result<Vec<T>, Error> {
        let asked = async {
            let told = self.node_open(node, NodeAsk::Engine(ask)).await?;
            documents(told).await
        };
        self.clock.timeout(time, asked).await.map_err(|late| {
            Error::new(Code::NodeUnreachable, "the node takes too long to answer", "ask again")
                .with_retry_after(5)
                .with_source(late)
        })?
    }
}

async fn documents<T: DeserializeOwned>(mut told: OutputReceiver) -> Result<Vec<T>, Error> {
    let mut documents = Vec::new();
    while let Some(item) = told.recv().await {
        match item? {
            OutputItem::Data { bytes, .. } => {
                documents.push(serde_json::from_slice(&bytes).map_err(Error::internal)?);
            }
            item if item.is_last() => return Ok(documents),
            _ => {}
        }
    }
    Err(silent())
}

fn silent() -> Error {
    Error::new(
        Code::NodeUnreachable,
        "the node went away before it answered",
        "ask again in a moment",
    )
    .with_retry_after(1)
}
