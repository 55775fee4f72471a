//! Images that the installation keeps.
//!
//! A version is a row that names content in the shared blobs. The content is entered first, so that a row
//! never names what is not there; content that no row names is collected with other blobs that nobody
//! needs. What takes long (having an image on nodes, making one from what a node has) is an operation.

use hostler_model::{
    Actor, BlobKind, BlobScope, Bytes, ChunkRef, Digest, Error, EventKind, Generation, Image,
    ImageId, ImagePayload, ImagePick, ImageRef, ImageSource, Limit, Name, Node, NodeId, NodeState,
    ObjectKind, ObjectRef, Operation, OperationPayload, OperationPlan, OperationState, Page, Step,
    TakenImage,
};
use hostler_store::{Committed, Tx};
use serde_json::json;

use super::blob::{NewBlob, lacking_chunks};
use super::project::check_text;
use crate::{Control, Cx, audit_state};

const ORIGIN_MAX: usize = 256;

/// Content that is to be a version of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewImage {
    pub name: Name,
    pub digest: Digest,
    pub chunks: Vec<ChunkRef>,
    pub origin: String,
}

impl Control {
    pub async fn image_list(
        &self,
        _: &Cx,
        name: Option<&Name>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Image>, Error> {
        Ok(self.store.read().await?.image_list(name, after, limit).await?)
    }

    pub async fn image_get(&self, _: &Cx, reference: &str) -> Result<Image, Error> {
        let reference = parse(reference)?;
        self.image_resolve(&reference).await?.ok_or_else(|| Error::not_found("image", reference))
    }

    /// The version that is meant, as it is now.
    pub async fn image_resolve(&self, reference: &ImageRef) -> Result<Option<Image>, Error> {
        Ok(self.store.read().await?.image_find(reference).await?)
    }

    /// Makes a version of chunks that are there. Content that is the newest version already makes none.
    pub async fn image_push(&self, cx: &Cx, new: NewImage) -> Result<Image, Error> {
        check_text("/origin", &new.origin, 0..=ORIGIN_MAX)?;
        let newest = ImageRef { name: new.name.clone(), pick: ImagePick::Newest };
        if let Some(newest) = self.image_resolve(&newest).await?
            && newest.digest == new.digest
        {
            return Ok(newest);
        }
        let blob = NewBlob {
            scope: BlobScope::Shared,
            digest: new.digest,
            kind: BlobKind::Image,
            label: new.name.to_string(),
            chunks: new.chunks,
        };
        let content = self.checked_blob(&blob, Some(cx.caller.principal_id)).await?;
        let size = Bytes::new(content.size);
        let taken = TakenImage { digest: content.digest, size };
        let image = self.image_record(self.ids.fresh(), new.name, taken, new.origin, cx.actor());
        let (image, content, chunks) = (&image, &content, &blob.chunks);
        let made = self
            .store
            .tx("image_push", |tx| {
                Box::pin(async move {
                    let object = ObjectRef::new(ObjectKind::Image, image.id, &image.name);
                    if let Some(made) = self.claim(tx, cx, &object).await?
                        && let Ok(id) = made.id.parse::<ImageId>()
                        && let Some(made) = tx.image_get(id).await?
                    {
                        return Ok(made);
                    }
                    if let Committed::Lacking(lacking) = tx.blob_commit(content, chunks).await? {
                        return Err(lacking_chunks(&lacking));
                    }
                    let image = tx.image_insert(image).await?;
                    let event = self.image_added(&image, cx.actor());
                    let audit = self
                        .audit(cx, "image.push", &object, None, about(&image))
                        .with_states(None, Some(&audit_state::image(&image)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(image)
                })
            })
            .await?;
        self.feed.ring();
        Ok(made)
    }

    /// Enters what a node has put into the shared blobs; once for one id.
    pub(crate) async fn image_taken(
        &self,
        operation: &Operation,
        name: &Name,
        taken: TakenImage,
        origin: String,
    ) -> Result<Image, Error> {
        let id = taken_id(operation);
        let actor = operation.created_by.clone();
        let image = self.image_record(id, name.clone(), taken, origin, actor.clone());
        let (image, actor) = (&image, &actor);
        let made = self
            .store
            .tx("image_taken", |tx| {
                Box::pin(async move {
                    if let Some(before) = tx.image_get(image.id).await? {
                        return Ok(before);
                    }
                    if tx.blob_get(BlobScope::Shared, image.digest).await?.is_none() {
                        return Err(Error::conflict(
                            "what the node says that it has sent is not here",
                            "try it again",
                        ));
                    }
                    let image = tx.image_insert(image).await?;
                    let object = ObjectRef::new(ObjectKind::Image, image.id, &image.name);
                    let event = self.image_added(&image, actor.clone());
                    let audit = self
                        .audit_system("image.taken", &object, None, about(&image))
                        .with_states(None, Some(&audit_state::image(&image)));
                    tx.journal_append(&[event], &[audit]).await?;
                    Ok::<_, Error>(image)
                })
            })
            .await?;
        self.feed.ring();
        Ok(made)
    }

    fn image_record(
        &self,
        id: ImageId,
        name: Name,
        content: TakenImage,
        origin: String,
        created_by: Actor,
    ) -> Image {
        let TakenImage { digest, size } = content;
        let time_created = self.now();
        Image { id, name, version: 0, digest, size, origin, created_by, time_created }
    }

    fn image_added(&self, image: &Image, actor: Actor) -> hostler_model::NewEvent {
        let object = ObjectRef::new(ObjectKind::Image, image.id, &image.name);
        let message = format!("version {} is kept: {}", image.version, image.size);
        self.event(EventKind::ImageAdded, None, &object, actor, message)
            .with_payload(ImagePayload::from(image))
    }

    /// Removes one version, or every version where none is named. Nodes are told, and let go of what nothing
    /// there uses.
    pub async fn image_remove(&self, cx: &Cx, reference: &str) -> Result<(), Error> {
        let reference = &parse(reference)?;
        self.store
            .tx("image_remove", |tx| {
                Box::pin(async move {
                    let found = tx.image_find(reference).await?;
                    let mut left = Some(found.ok_or_else(|| Error::not_found("image", reference))?);
                    while let Some(image) = left {
                        self.image_forget(tx, cx, &image).await?;
                        left = match reference.pick {
                            ImagePick::Version(_) => None,
                            ImagePick::Newest | ImagePick::Content(_) => {
                                tx.image_find(reference).await?
                            }
                        };
                    }
                    Ok::<_, Error>(())
                })
            })
            .await?;
        self.feed.ring();
        self.tell_to_tidy().await;
        Ok(())
    }

    async fn image_forget(&self, tx: &mut Tx<'_>, cx: &Cx, image: &Image) -> Result<(), Error> {
        tx.image_delete(image.id).await?;
        if !tx.image_has_content(image.digest).await? {
            tx.blob_remove(BlobScope::Shared, image.digest).await?;
        }
        let object = ObjectRef::new(ObjectKind::Image, image.id, &image.name);
        let message = format!("version {} is not kept any more", image.version);
        let event = self
            .event(EventKind::ImageRemoved, None, &object, cx.actor(), message)
            .with_payload(ImagePayload::from(image));
        let audit = self
            .audit(cx, "image.remove", &object, None, about(image))
            .with_states(Some(&audit_state::image(image)), None);
        tx.journal_append(&[event], &[audit]).await?;
        Ok(())
    }

    /// Makes a version from what a node has.
    pub async fn image_take(
        &self,
        cx: &Cx,
        name: &str,
        node: &str,
        source: ImageSource,
    ) -> Result<Operation, Error> {
        let reference = parse(name)?;
        if reference.pick != ImagePick::Newest {
            return Err(Error::conflict(
                "a new version gets its number by itself",
                format!("give the name alone: `{}`", reference.name),
            ));
        }
        let node = self.node_find(node).await?;
        super::node::require_present(&node)?;
        let detail = json!({ "node": node.name, "source": source });
        let plan = OperationPlan::ImageTake { name: reference.name.clone(), node: node.id, source };
        let object = ObjectRef::new(ObjectKind::Image, &reference.name, &reference.name);
        self.image_operation(cx, plan, "image.take", &object, detail).await
    }

    /// Has a version on nodes: on these, or on every one that is online and has an engine.
    pub async fn image_sync(
        &self,
        cx: &Cx,
        reference: &str,
        nodes: &[String],
    ) -> Result<Operation, Error> {
        let image = self.image_get(cx, reference).await?;
        let ids = match nodes {
            [] => self.nodes_with_engine().await?,
            named => {
                let mut ids = Vec::with_capacity(named.len());
                for name in named {
                    let node = self.node_find(name).await?;
                    super::node::require_present(&node)?;
                    if !ids.contains(&node.id) {
                        ids.push(node.id);
                    }
                }
                ids
            }
        };
        if ids.is_empty() {
            return Err(Error::conflict(
                "no node is online that has a container engine",
                "`hostler node describe NODE` shows whether a node has one",
            ));
        }
        let detail = json!({ "version": image.version, "nodes": ids });
        let plan = OperationPlan::ImageSync { image: image.id, nodes: ids };
        let object = ObjectRef::new(ObjectKind::Image, image.id, &image.name);
        self.image_operation(cx, plan, "image.sync", &object, detail).await
    }

    /// Those that are online.
    pub(super) async fn nodes_with_engine(&self) -> Result<Vec<NodeId>, Error> {
        let nodes = self.store.read().await?.node_list_all_present().await?;
        let is_meant = |node: &Node| node.state == NodeState::Online && has_engine(node);
        Ok(nodes.into_iter().filter(is_meant).map(|node| node.id).collect())
    }

    async fn image_operation(
        &self,
        cx: &Cx,
        plan: OperationPlan,
        action: &str,
        about: &ObjectRef,
        detail: serde_json::Value,
    ) -> Result<Operation, Error> {
        let now = self.now();
        let operation = Operation {
            id: self.ids.fresh(),
            project_id: None,
            steps: plan.steps().iter().map(|name| Step::waiting(name)).collect(),
            plan,
            state: OperationState::Pending,
            error: None,
            is_cancel_requested: false,
            created_by: cx.actor(),
            owner: None,
            generation: Generation::FIRST,
            time_created: now,
            time_modified: now,
            time_ended: None,
        };
        let object = ObjectRef::new(ObjectKind::Operation, operation.id, operation.plan.label());
        let message = format!("{} of {}", operation.plan.label(), about.name);
        let event = self
            .event(EventKind::OperationCreated, None, &object, cx.actor(), message)
            .with_payload(OperationPayload::from(&operation));
        let mut detail = detail;
        detail["operation"] = json!(operation.id);
        let audit = self
            .audit(cx, action, about, None, detail)
            .with_states(None, Some(&audit_state::operation(&operation, false)));
        let (made, object, event, audit) = (&operation, &object, &event, &audit);
        let replay = self
            .store
            .tx("image_operation_create", |tx| {
                Box::pin(async move {
                    if let Some(made) = self.claim(tx, cx, object).await? {
                        return Ok(Some(made));
                    }
                    tx.operation_insert(made).await?;
                    tx.journal_append(std::slice::from_ref(event), std::slice::from_ref(audit))
                        .await?;
                    Ok::<_, Error>(None)
                })
            })
            .await?;
        self.wakers.operation.wake();
        self.feed.ring();
        match replay.and_then(|made| made.id.parse().ok()) {
            Some(id) => self.operation_get(cx, id).await,
            None => Ok(operation),
        }
    }
}

pub(super) fn has_engine(node: &Node) -> bool {
    node.facts.as_ref().is_some_and(|facts| facts.container_engine.is_some())
}

/// The id of the version that an operation makes: always the same, so that it is made once.
pub(crate) fn taken_id(operation: &Operation) -> ImageId {
    ImageId::from_uuid(operation.id.uuid())
}

fn parse(reference: &str) -> Result<ImageRef, Error> {
    let bare = reference.strip_prefix(hostler_model::IMAGE_SCHEME).unwrap_or(reference);
    bare.parse().map_err(|_| Error::not_found("image", reference))
}

fn about(image: &Image) -> serde_json::Value {
    json!({ "version": image.version, "digest": image.digest, "origin": image.origin })
}
