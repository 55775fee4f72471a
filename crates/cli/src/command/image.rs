//! Images that the installation keeps, and the containers of nodes.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use futures::{Stream, StreamExt};
use hostler_api::image::{
    ImageContent, ImageGet, ImageList, ImageListQuery, ImageNodes, ImagePath, ImagePush,
    ImagePushBody, ImageRemove, ImageSync, ImageSyncBody, ImageTake, ImageTakeBody,
    NodeContainerFiles, NodeContainerList, NodeContainerPath, NodeContainerRemove, NodeImageList,
    NodeImageQuery, NodeImageRemove,
};
use hostler_api::node::NodePath;
use hostler_base::image_stream::Passing;
use hostler_base::image_tar;
use hostler_client::UploadTo;
use hostler_model::{Bytes, Code, Content, IMAGE_SCHEME, ImageSource, Name};

use super::{Cx, DONE, Link, NONE, PAGE, bare, operation};
use crate::args::{
    ContainerCommand, ContainerCommitArgs, ContainerExportArgs, ImageCommand, ImageExportArgs,
    ImageListArgs, ImagePushArgs, ImageRemoveArgs, ImageSyncArgs,
};
use crate::failure::{Failure, Outcome};
use crate::output;

const STDIN: &str = "-";

pub async fn images(cx: &Cx, command: ImageCommand) -> Outcome {
    match command {
        ImageCommand::Ls(args) => ls(cx, args).await,
        ImageCommand::Show(args) => show(cx, &args.image).await,
        ImageCommand::Push(args) => push(cx, args).await,
        ImageCommand::Rm(args) => rm(cx, args).await,
        ImageCommand::Sync(args) => sync(cx, args).await,
        ImageCommand::Export(args) => export(cx, args).await,
    }
}

pub async fn containers(cx: &Cx, command: ContainerCommand) -> Outcome {
    match command {
        ContainerCommand::Ls { node } => {
            let link = cx.link()?;
            let found = link.client.call::<NodeContainerList>(&on(&node), &NONE, &NONE).await?;
            output::list(&cx.ui, cx.now(), &found.items)?;
            Ok(DONE)
        }
        ContainerCommand::Commit(args) => commit(cx, args).await,
        ContainerCommand::Rm { node, containers } => {
            let names = containers.join(", ");
            cx.ui.confirm(&format!("Remove {names} from {node}?"))?;
            let link = cx.link()?;
            for container in containers {
                let path = inside(&node, &container);
                link.client.call::<NodeContainerRemove>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("container {container} removed"));
            }
            Ok(DONE)
        }
        ContainerCommand::Export(args) => export_files(cx, args).await,
    }
}

/// `image/train`, `hostler://train` and `train` are the same image.
fn image(given: &str) -> ImagePath {
    let given = bare("image", given);
    ImagePath { image: given.strip_prefix(IMAGE_SCHEME).unwrap_or(given).to_owned() }
}

fn on(node: &str) -> NodePath {
    NodePath { node: bare("node", node).to_owned() }
}

fn inside(node: &str, container: &str) -> NodeContainerPath {
    let container = bare("container", container).to_owned();
    NodeContainerPath { node: bare("node", node).to_owned(), container }
}

async fn ls(cx: &Cx, args: ImageListArgs) -> Outcome {
    let link = cx.link()?;
    if let Some(node) = args.node {
        let found = link.client.call::<NodeImageList>(&on(&node), &NONE, &NONE).await?;
        output::list(&cx.ui, cx.now(), &found.items)?;
        return Ok(DONE);
    }
    let query =
        ImageListQuery { name: args.name, filter: args.list.filter, limit: PAGE, cursor: None };
    cx.list::<ImageList, _>(&link, &NONE, &query, args.list.limit).await
}

/// With the nodes that have it, for those who may know.
async fn show(cx: &Cx, given: &str) -> Outcome {
    let (link, path) = (cx.link()?, image(given));
    let version = link.client.call::<ImageGet>(&path, &NONE, &NONE).await?;
    let exactly = ImagePath { image: format!("{}:{}", version.name, version.version) };
    let nodes = match link.client.call::<ImageNodes>(&exactly, &NONE, &NONE).await {
        Ok(told) => Some(told.items),
        Err(error) if error.is(Code::Forbidden) => None,
        Err(error) => return Err(error.into()),
    };
    cx.one(&output::ImageWithNodes { image: version, nodes })
}

async fn push(cx: &Cx, args: ImagePushArgs) -> Outcome {
    let link = cx.link()?;
    if let Some(node) = args.from_node {
        let source = ImageSource::Image { image: args.what };
        return take(cx, &link, &args.name, &node, source, args.no_wait).await;
    }
    let (content, origin) = upload(cx, &link, &args.what).await?;
    let body =
        ImagePushBody { name: args.name, digest: content.digest, chunks: content.chunks, origin };
    let made = link.client.call::<ImagePush>(&NONE, &NONE, &body).await?;
    cx.changed(&made, &format!("is kept, {}", made.size))
}

/// Sends what the server does not have yet; says what it is, and where it comes from.
async fn upload(cx: &Cx, link: &Link, file: &str) -> Result<(Content, String), Failure> {
    let spinner = cx.ui.spinner(format!("sending {file}"));
    let progress = |so_far: hostler_client::Progress| {
        let (sent, read) = (Bytes::new(so_far.sent), Bytes::new(so_far.read));
        spinner.message(format!("{read} read, {sent} sent"));
    };
    let cannot = |why: String| {
        let what = if file == STDIN { "what came on standard input" } else { file };
        Failure::usage(format!("{what} cannot be pushed: {why}"), "see `hostler image push --help`")
    };
    if file == STDIN {
        // Its own handle: the other one is held by whoever asks questions.
        let input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
        let (passing, seen) = Passing::new(input);
        let content = link.client.upload(UploadTo::Shared, passing, progress).await?;
        seen.judge().map_err(|e| cannot(e.to_string()))?;
        return Ok((content, "a stream".to_owned()));
    }
    let mut opened = File::open(file).map_err(|e| cannot(e.to_string()))?;
    let found = image_tar::look(&mut opened).map_err(|e| cannot(e.to_string()))?;
    std::io::Seek::rewind(&mut opened).map_err(|e| cannot(e.to_string()))?;
    let content = link.client.upload(UploadTo::Shared, opened, progress).await?;
    let origin = match found.names.first() {
        Some(name) => format!("file with {name}"),
        None => "file".to_owned(),
    };
    Ok((content, origin))
}

async fn take(
    cx: &Cx,
    link: &Link,
    name: &Name,
    node: &str,
    source: ImageSource,
    no_wait: bool,
) -> Outcome {
    let body = ImageTakeBody { node: bare("node", node).to_owned(), source };
    let path = ImagePath { image: name.to_string() };
    let begun = link.client.call::<ImageTake>(&path, &NONE, &body).await?;
    operation::started(cx, link, begun, no_wait).await
}

async fn commit(cx: &Cx, args: ContainerCommitArgs) -> Outcome {
    let link = cx.link()?;
    let container = bare("container", &args.container).to_owned();
    let source = ImageSource::Container { container };
    take(cx, &link, &args.name, &args.node, source, args.no_wait).await
}

async fn rm(cx: &Cx, args: ImageRemoveArgs) -> Outcome {
    let names = args.images.join(", ");
    let link = cx.link()?;
    if let Some(node) = args.node {
        cx.ui.confirm(&format!("Remove {names} from {node}?"))?;
        for image in args.images {
            let query = NodeImageQuery { image };
            link.client.call::<NodeImageRemove>(&on(&node), &query, &NONE).await?;
            cx.ui.say(&format!("image {} removed from {node}", query.image));
        }
        return Ok(DONE);
    }
    cx.ui.confirm(&format!("Keep {names} no longer?"))?;
    for name in &args.images {
        link.client.call::<ImageRemove>(&image(name), &NONE, &NONE).await?;
        cx.ui.say(&format!("image {name} is not kept any more"));
    }
    Ok(DONE)
}

async fn sync(cx: &Cx, args: ImageSyncArgs) -> Outcome {
    let link = cx.link()?;
    let nodes = args.nodes.iter().map(|node| bare("node", node).to_owned()).collect();
    let body = ImageSyncBody { nodes };
    let begun = link.client.call::<ImageSync>(&image(&args.image.image), &NONE, &body).await?;
    operation::started(cx, &link, begun, args.no_wait).await
}

async fn export(cx: &Cx, args: ImageExportArgs) -> Outcome {
    let link = cx.link()?;
    let path = image(&args.image.image);
    let content = link.client.bytes::<ImageContent>(&path, &NONE).await?;
    write(cx, content, args.file.as_deref()).await
}

async fn export_files(cx: &Cx, args: ContainerExportArgs) -> Outcome {
    let link = cx.link()?;
    let path = inside(&args.node, &args.container);
    let content = link.client.bytes::<NodeContainerFiles>(&path, &NONE).await?;
    write(cx, content, args.file.as_deref()).await
}

/// A file that could not be written whole does not stay.
async fn write<B: AsRef<[u8]>>(
    cx: &Cx,
    content: impl Stream<Item = Result<B, hostler_client::Error>>,
    file: Option<&str>,
) -> Outcome {
    let mut content = std::pin::pin!(content);
    let Some(path) = file.filter(|file| *file != STDIN) else {
        while let Some(bytes) = content.next().await {
            cx.ui.data(bytes?.as_ref())?;
        }
        return Ok(DONE);
    };
    let cannot = |e: std::io::Error| {
        Failure::usage(format!("{path} cannot be written: {e}"), "give another file, or `-`")
    };
    let part = format!("{path}.part");
    let mut file = File::create(&part).map_err(cannot)?;
    let mut total = 0;
    let spinner = cx.ui.spinner(format!("writing {path}"));
    while let Some(bytes) = content.next().await {
        let bytes = bytes.inspect_err(|_| {
            let _nothing_stays = std::fs::remove_file(&part);
        })?;
        file.write_all(bytes.as_ref()).map_err(cannot)?;
        total += bytes.as_ref().len() as u64;
        spinner.message(format!("{} written", Bytes::new(total)));
    }
    file.sync_all().and_then(|()| std::fs::rename(&part, path)).map_err(cannot)?;
    drop(spinner);
    cx.ui.say(&format!("{} written to {path}", Bytes::new(total)));
    Ok(DONE)
}
