//! What is asked of a node's container engine: over its session, through any server. Nothing is kept of
//! it. Users have no way here; every question is one of [`EngineAsk`], made by this process.

use std::time::Duration;

use hostler_model::{
    Code, EngineAsk, Error, JobState, NodeContainer, NodeId, NodeImage, ObjectKind, ObjectRef,
    RunId,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::{Control, Cx, NodeAsk, OutputItem, OutputReceiver};

/// How long an engine may take for a list.
const LIST_TIME: Duration = Duration::from_secs(20);
/// How long it may take to remove something large.
const REMOVE_TIME: Duration = Duration::from_secs(60);
/// How long a node may take to say how a job stands.
const JOB_TIME: Duration = Duration::from_secs(5);
const READINESS_TIME: Duration = Duration::from_secs(2);

impl Control {
    pub async fn node_images(&self, cx: &Cx, node: &str) -> Result<Vec<NodeImage>, Error> {
        let node = self.node_get(cx, node).await?;
        self.engine_documents(node.id, EngineAsk::Images, LIST_TIME).await
    }

    pub async fn node_containers(&self, cx: &Cx, node: &str) -> Result<Vec<NodeContainer>, Error> {
        let node = self.node_get(cx, node).await?;
        self.engine_documents(node.id, EngineAsk::Containers, LIST_TIME).await
    }

    pub async fn node_image_remove(&self, cx: &Cx, node: &str, image: String) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Image, &image, &image);
        self.engine_remove(cx, node, EngineAsk::ImageRemove { image }, "node.image.remove", object)
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
        self.engine_remove(cx, node, ask, "node.container.remove", object).await
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
        self.engine_audit(cx, "node.container.export", &object, &node.name).await?;
        self.node_open(node.id, NodeAsk::Engine(EngineAsk::ContainerFiles { container })).await
    }

    /// Asks first and writes down after, because what was refused has not happened.
    async fn engine_remove(
        &self,
        cx: &Cx,
        node: &str,
        ask: EngineAsk,
        action: &str,
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
        action: &str,
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

    /// What keeps a run that was given to a node, in words; `None` when nothing does, or nobody answers.
    pub(crate) async fn readiness(&self, node: NodeId, run: RunId) -> Option<String> {
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
