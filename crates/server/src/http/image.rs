//! Images that the installation keeps, and nodes' container engines.

use axum::body::Body;
use bytes::Bytes;
use hostler_api::image::{
    ImageContent, ImageGet, ImageList, ImageNodeView, ImageNodes, ImagePush, ImageRemove,
    ImageSync, ImageTake, ImageView, NodeContainerFiles, NodeContainerList, NodeContainerRemove,
    NodeImageList, NodeImageRemove,
};
use hostler_api::operation::OperationView;
use hostler_api::{Listing, Nothing};
use hostler_control::{ImageOnNode, ImagePresence, NewImage, OutputItem, OutputReceiver};
use hostler_model::{BlobScope, Code, Error, Image, NodeContainer, NodeImage, Operation};
use http::header::CONTENT_LENGTH;

use super::gather::Gather;
use super::{Answer, App, Call, blob, page, view};

const BYTES: &str = "application/octet-stream";

fn shown(image: Image) -> ImageView {
    ImageView {
        reference: image.reference(),
        id: image.id,
        name: image.name,
        version: image.version,
        digest: image.digest,
        size: image.size,
        origin: image.origin,
        created_by: image.created_by,
        time_created: image.time_created,
    }
}

pub(crate) async fn list(
    app: App,
    call: Call<ImageList>,
) -> Result<Answer<Listing<ImageView>>, Error> {
    let mut list = Gather::of::<ImageList>(&call.query)?;
    let name = call.query.name.as_ref();
    while let Some(ask) = list.ask() {
        let images = app.control().image_list(&call.cx, name, ask.after(), ask.limit).await?;
        list.take(images, shown)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<ImageGet>) -> Result<Answer<ImageView>, Error> {
    Ok(Answer::new(shown(app.control().image_get(&call.cx, &call.path.image).await?)))
}

pub(crate) async fn push(app: App, call: Call<ImagePush>) -> Result<Answer<ImageView>, Error> {
    let body = call.body;
    let new =
        NewImage { name: body.name, digest: body.digest, chunks: body.chunks, origin: body.origin };
    let image = app.control().image_push(&call.cx, new).await?;
    let path = format!("/api/v1/images/{}:{}", image.name, image.version);
    Ok(Answer::new(shown(image)).with_location(path))
}

pub(crate) async fn content(app: App, call: Call<ImageContent>) -> Result<Answer<Nothing>, Error> {
    let permit = app.stream_permit()?;
    let image = app.control().image_get(&call.cx, &call.path.image).await?;
    let (blob, reader) = app.control().blob_read(BlobScope::Shared, image.digest, 0).await?;
    Ok(blob::bytes_of(reader, permit).with_header(CONTENT_LENGTH, blob.size))
}

pub(crate) async fn nodes(
    app: App,
    call: Call<ImageNodes>,
) -> Result<Answer<Listing<ImageNodeView>>, Error> {
    let nodes = app.control().image_nodes(&call.cx, &call.path.image).await?;
    Ok(Answer::new(page::whole(nodes, presence)))
}

fn presence(told: ImageOnNode) -> ImageNodeView {
    let (is_here, problem) = match told.presence {
        ImagePresence::Here => (Some(true), None),
        ImagePresence::Absent => (Some(false), None),
        ImagePresence::Unknown(why) => (None, Some(why)),
    };
    ImageNodeView { node: told.node, is_here, problem }
}

pub(crate) async fn remove(app: App, call: Call<ImageRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().image_remove(&call.cx, &call.path.image).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn take(app: App, call: Call<ImageTake>) -> Result<Answer<OperationView>, Error> {
    let body = call.body;
    let taken = app.control().image_take(&call.cx, &call.path.image, &body.node, body.source);
    Ok(begun(taken.await?))
}

pub(crate) async fn sync(app: App, call: Call<ImageSync>) -> Result<Answer<OperationView>, Error> {
    let synced = app.control().image_sync(&call.cx, &call.path.image, &call.body.nodes);
    Ok(begun(synced.await?))
}

fn begun(operation: Operation) -> Answer<OperationView> {
    let path = format!("/api/v1/operations/{}", operation.id);
    Answer::new(view::operation(operation)).with_location(path)
}

pub(crate) async fn on_node(
    app: App,
    call: Call<NodeImageList>,
) -> Result<Answer<Listing<NodeImage>>, Error> {
    let images = app.control().node_images(&call.cx, &call.path.node).await?;
    Ok(Answer::new(page::whole(images, |image| image)))
}

pub(crate) async fn remove_on_node(
    app: App,
    call: Call<NodeImageRemove>,
) -> Result<Answer<Nothing>, Error> {
    app.control().node_image_remove(&call.cx, &call.path.node, call.query.image).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn containers(
    app: App,
    call: Call<NodeContainerList>,
) -> Result<Answer<Listing<NodeContainer>>, Error> {
    let containers = app.control().node_containers(&call.cx, &call.path.node).await?;
    Ok(Answer::new(page::whole(containers, |container| container)))
}

pub(crate) async fn container_remove(
    app: App,
    call: Call<NodeContainerRemove>,
) -> Result<Answer<Nothing>, Error> {
    let path = call.path;
    app.control().node_container_remove(&call.cx, &path.node, path.container).await?;
    Ok(Answer::new(Nothing {}))
}

pub(crate) async fn container_files(
    app: App,
    call: Call<NodeContainerFiles>,
) -> Result<Answer<Nothing>, Error> {
    let permit = app.stream_permit()?;
    let path = call.path;
    let told = app.control().node_container_files(&call.cx, &path.node, path.container).await?;
    let mut told = told;
    // What the node refuses is an answer, and no stream that breaks off.
    let first = next(&mut told).await?;
    let sending = (first, told, permit);
    let stream = futures::stream::try_unfold(sending, |(first, mut told, permit)| async move {
        let bytes = match first {
            Some(bytes) => Some(bytes),
            None => next(&mut told).await?,
        };
        Ok::<_, Error>(bytes.map(|bytes| (bytes, (None, told, permit))))
    });
    Ok(Answer::stream(BYTES, Body::from_stream(stream)))
}

/// The next bytes; `None` at the end. A stream that breaks off is an error.
async fn next(told: &mut OutputReceiver) -> Result<Option<Bytes>, Error> {
    loop {
        match told.recv().await {
            Some(Ok(OutputItem::Data { bytes, .. })) => return Ok(Some(bytes.into())),
            Some(Ok(OutputItem::End { complete: true })) => return Ok(None),
            Some(Ok(item)) if !item.is_last() => {}
            Some(Err(error)) => return Err(error),
            Some(Ok(_)) | None => {
                return Err(Error::new(
                    Code::NodeUnreachable,
                    "the node went away before everything was sent",
                    "try it again",
                ));
            }
        }
    }
}
