//! Images on this node: fetched when a run needs them, listed, tagged, removed, made from containers, and
//! carried from node to node as tar streams.
//!
//! What is carried is content-addressed twice. An image's id is the digest of its configuration, which
//! names every layer by digest: the engine computes it when it loads, and what was expected is compared
//! with it. And the stream itself is hashed as it passes, so that whoever stores it knows it by content.
//! What we export has no names, so that taking it in replaces no name that somebody else gave; the name
//! is given after the check. A stream that breaks off leaves nothing: the engine takes images whole.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bollard::models::{ContainerConfig, CreateImageInfo};
use bollard::query_parameters::{
    CommitContainerOptionsBuilder, CreateImageOptionsBuilder, ImportImageOptionsBuilder,
    ListImagesOptionsBuilder, RemoveImageOptionsBuilder, TagImageOptionsBuilder,
};
use bytes::Bytes;
use futures::{Stream, StreamExt};
use hostler_model::{PullPolicy, Timestamp};

use super::body::ImageFacts;
use super::engine::{Engine, EngineError, check_container, check_image};

/// How long loading or saving an image may take before its first word.
const TRANSFER: Duration = Duration::from_hours(2);

/// An image in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRow {
    /// `sha256:…`
    pub id: String,
    /// Names with tags.
    pub names: Vec<String>,
    /// Names with the digests under which registries know it.
    pub digests: Vec<String>,
    pub size: u64,
    pub time_created: Timestamp,
}

/// How far fetching an image has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullProgress {
    /// As far as they are known yet.
    pub layers: usize,
    pub layers_done: usize,
    pub bytes: u64,
    pub bytes_total: u64,
}

/// Bytes on their way out.
pub type Content = Pin<Box<dyn Stream<Item = Result<Bytes, EngineError>> + Send>>;

/// An image on its way out.
pub struct Exported {
    pub image_id: String,
    pub content: Content,
}

/// An image that has come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    pub image_id: String,
    /// Of the stream.
    pub blake3: String,
    pub bytes: u64,
}

impl Engine {
    pub async fn images(&self) -> Result<Vec<ImageRow>, EngineError> {
        let options = ListImagesOptionsBuilder::default().build();
        let found = self.docker().await?.list_images(Some(options)).await;
        let found = found.map_err(|e| self.error(e))?.into_iter().map(|image| ImageRow {
            id: image.id,
            names: real_names(image.repo_tags),
            digests: real_names(image.repo_digests),
            size: u64::try_from(image.size).unwrap_or(0),
            time_created: Timestamp::from_micros(image.created.saturating_mul(1_000_000)),
        });
        Ok(found.collect())
    }

    /// One image; `None` when the node does not have it.
    pub async fn image(&self, name: &str) -> Result<Option<ImageRow>, EngineError> {
        check_image(name)?;
        let found = self.docker().await?.inspect_image(name).await.map_err(|e| self.error(e));
        let found = match found {
            Ok(found) => found,
            Err(e) if e.is_missing() => return Ok(None),
            Err(e) => return Err(e),
        };
        Ok(Some(ImageRow {
            id: found.id.unwrap_or_default(),
            names: real_names(found.repo_tags.unwrap_or_default()),
            digests: real_names(found.repo_digests.unwrap_or_default()),
            size: found.size.and_then(|size| u64::try_from(size).ok()).unwrap_or(0),
            time_created: found
                .created
                .and_then(|time| time.parse::<jiff::Timestamp>().ok())
                .map_or(Timestamp::EPOCH, |time| Timestamp::from_micros(time.as_microsecond())),
        }))
    }

    /// What a container of an image would run.
    pub(super) async fn image_facts(&self, name: &str) -> Result<ImageFacts, EngineError> {
        check_image(name)?;
        let found = self.docker().await?.inspect_image(name).await.map_err(|e| self.error(e))?;
        let config = found.config.unwrap_or_default();
        Ok(ImageFacts {
            id: found.id.unwrap_or_else(|| name.to_owned()),
            entrypoint: config.entrypoint.unwrap_or_default(),
            command: config.cmd.unwrap_or_default(),
        })
    }

    /// Makes sure that the node has an image, as the policy says.
    pub async fn ensure_image(
        &self,
        name: &str,
        policy: PullPolicy,
        limit: Duration,
        progress: impl FnMut(&PullProgress),
    ) -> Result<(), EngineError> {
        let is_here = match policy {
            PullPolicy::Always => false,
            PullPolicy::Missing | PullPolicy::Never => self.image(name).await?.is_some(),
        };
        match policy {
            _ if is_here => Ok(()),
            PullPolicy::Never => Err(EngineError::NotFound(format!(
                "image {name} is not on this node and its pull policy is never; bring it here first, or set container.pull"
            ))),
            PullPolicy::Missing | PullPolicy::Always => self.pull(name, limit, progress).await,
        }
    }

    /// Fetches an image from its registry.
    pub async fn pull(
        &self,
        name: &str,
        limit: Duration,
        progress: impl FnMut(&PullProgress),
    ) -> Result<(), EngineError> {
        check_image(name)?;
        match tokio::time::timeout(limit, self.pull_all(name, limit, progress)).await {
            Ok(pulled) => pulled.map_err(|e| match e {
                EngineError::NotFound(why) | EngineError::Refused(why) => EngineError::NotFound(
                    format!("image {name} is not on this node and cannot be fetched: {why}"),
                ),
                other => other,
            }),
            Err(_) => Err(EngineError::TimedOut(format!(
                "image {name} could not be fetched within {} s",
                limit.as_secs()
            ))),
        }
    }

    async fn pull_all(
        &self,
        name: &str,
        limit: Duration,
        mut progress: impl FnMut(&PullProgress),
    ) -> Result<(), EngineError> {
        let (from, tag) = split_name(name);
        let options = CreateImageOptionsBuilder::default().from_image(from).tag(tag).build();
        let docker = self.patient(limit).await?;
        let mut news = docker.create_image(Some(options), None, None);
        let mut tally = Tally::default();
        while let Some(info) = news.next().await {
            tally.take(info.map_err(|e| self.error(e))?);
            progress(&tally.sum());
        }
        Ok(())
    }

    /// Gives an image another name, `repository:tag`.
    pub async fn tag_image(&self, name: &str, new: &str) -> Result<(), EngineError> {
        check_image(name)?;
        check_image(new)?;
        let (repository, tag) = split_name(new);
        if tag.is_empty() || new.contains('@') {
            let why = format!("`{new}` is no name with a tag");
            return Err(EngineError::Invalid(why));
        }
        let options = TagImageOptionsBuilder::default().repo(repository).tag(tag).build();
        let tagged = self.docker().await?.tag_image(name, Some(options)).await;
        tagged.map_err(|e| self.error(e))
    }

    /// Removes a name, and the image with its last one. Refused while a container needs it.
    pub async fn remove_image(&self, name: &str, is_forced: bool) -> Result<(), EngineError> {
        check_image(name)?;
        let options = RemoveImageOptionsBuilder::default().force(is_forced).build();
        let removed = self.docker().await?.remove_image(name, Some(options), None).await;
        removed.map(|_| ()).map_err(|e| self.error(e))
    }

    /// Makes an image from what a container is now; it is frozen meanwhile. The id of the image.
    pub async fn commit(&self, container: &str, new: &str) -> Result<String, EngineError> {
        check_container(container)?;
        check_image(new)?;
        let (repository, tag) = split_name(new);
        let options = CommitContainerOptionsBuilder::default()
            .container(container)
            .repo(repository)
            .tag(if tag.is_empty() { "latest" } else { tag })
            .pause(true)
            .build();
        let docker = self.patient(TRANSFER).await?;
        let made = docker.commit_container(options, ContainerConfig::default()).await;
        Ok(made.map_err(|e| self.error(e))?.id)
    }

    /// The files of a container as a tar stream.
    pub async fn container_files(&self, container: &str) -> Result<Content, EngineError> {
        check_container(container)?;
        if self.inspect_container(container).await?.is_none() {
            let why = format!("there is no container `{container}` on this node");
            return Err(EngineError::NotFound(why));
        }
        let (engine, docker) = (self.clone(), self.patient(TRANSFER).await?);
        let content = docker.export_container(container);
        Ok(content.map(move |part| part.map_err(|e| engine.error(e))).boxed())
    }

    /// An image as a tar stream, without its names.
    pub async fn export_image(&self, name: &str) -> Result<Exported, EngineError> {
        let found = self.image(name).await?;
        let image_id = found
            .map(|image| image.id)
            .ok_or_else(|| EngineError::NotFound(format!("image {name} is not on this node")))?;
        let (engine, docker) = (self.clone(), self.patient(TRANSFER).await?);
        let content =
            docker.export_image(&image_id).map(move |part| part.map_err(|e| engine.error(e)));
        Ok(Exported { content: content.boxed(), image_id })
    }

    /// Takes an image in from a tar stream, compares it with what is expected, and names it.
    pub async fn import_image<S, E>(
        &self,
        content: S,
        expected: Option<&str>,
        name: Option<&str>,
    ) -> Result<Imported, EngineError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>> + 'static,
    {
        name.map(check_image).transpose()?;
        let hashed = Arc::new(Mutex::new(Hashed::default()));
        let content = Hashing { content: Box::pin(content), hashed: hashed.clone() };
        let docker = self.patient(TRANSFER).await?;
        let options = ImportImageOptionsBuilder::default().quiet(true).build();
        let mut news = docker.import_image_stream(options, content, None);
        let mut loaded = Vec::new();
        while let Some(info) = news.next().await {
            let info = info.map_err(|e| self.error(e))?;
            loaded.extend(info.stream.as_deref().and_then(loaded_image));
        }
        let broken =
            || EngineError::Invalid("the stream holds no image, or more than one".to_owned());
        let [loaded] = loaded.as_slice() else { return Err(broken()) };
        let image_id = self.image(loaded).await?.map(|image| image.id).ok_or_else(broken)?;
        if let Some(expected) = expected.filter(|expected| *expected != image_id) {
            let _ = self.remove_image(&image_id, false).await;
            return Err(EngineError::Invalid(format!(
                "the stream holds image {image_id}, not {expected}; it was damaged or mixed up on its way"
            )));
        }
        if let Some(name) = name {
            self.tag_image(&image_id, name).await?;
        }
        let hashed = hashed.lock().unwrap_or_else(PoisonError::into_inner);
        let blake3 = hashed.hasher.finalize().to_hex().to_string();
        Ok(Imported { image_id, blake3, bytes: hashed.bytes })
    }
}

fn real_names(names: Vec<String>) -> Vec<String> {
    names.into_iter().filter(|name| !name.contains("<none>")).collect()
}

/// Name and tag, or name with digest and nothing; the tag is `latest` when there is none.
fn split_name(name: &str) -> (&str, &str) {
    if name.contains('@') {
        return (name, "");
    }
    match name.rsplit_once(':') {
        Some((from, tag)) if !tag.contains('/') => (from, tag),
        _ => (name, "latest"),
    }
}

/// The image that the engine says it has loaded.
fn loaded_image(words: &str) -> Option<String> {
    let (kind, image) = words.trim().split_once(": ")?;
    kind.starts_with("Loaded image").then(|| image.trim().to_owned())
}

/// What the engine has said of each layer.
#[derive(Default)]
struct Tally {
    layers: HashMap<String, Layer>,
}

#[derive(Clone, Copy, Default)]
struct Layer {
    bytes: u64,
    total: u64,
    is_done: bool,
}

impl Tally {
    fn take(&mut self, info: CreateImageInfo) {
        let (Some(id), Some(status)) = (info.id, info.status) else { return };
        let is_layer = ["Pull", "Down", "Wait", "Verif", "Extr", "Already", "Layer already"];
        if !is_layer.iter().any(|word| status.starts_with(word))
            || status.starts_with("Pulling from")
        {
            return;
        }
        let layer = self.layers.entry(id).or_default();
        layer.is_done |= status == "Pull complete" || status == "Already exists";
        if let (Some(detail), true) = (info.progress_detail, status == "Downloading") {
            let number = |n: Option<i64>| n.and_then(|n| u64::try_from(n).ok());
            layer.bytes = number(detail.current).unwrap_or(layer.bytes);
            layer.total = number(detail.total).unwrap_or(layer.total);
        }
        if layer.is_done || status == "Download complete" {
            layer.bytes = layer.total;
        }
    }

    fn sum(&self) -> PullProgress {
        let mut sum = PullProgress { layers: self.layers.len(), ..PullProgress::default() };
        for layer in self.layers.values() {
            sum.layers_done += usize::from(layer.is_done);
            sum.bytes = sum.bytes.saturating_add(layer.bytes);
            sum.bytes_total = sum.bytes_total.saturating_add(layer.total);
        }
        sum
    }
}

#[derive(Default)]
struct Hashed {
    hasher: blake3::Hasher,
    bytes: u64,
}

/// Hashes what passes.
struct Hashing<S: ?Sized> {
    hashed: Arc<Mutex<Hashed>>,
    content: Pin<Box<S>>,
}

impl<S: Stream<Item = Result<Bytes, E>>, E> Stream for Hashing<S> {
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = self.content.as_mut().poll_next(cx);
        if let Poll::Ready(Some(Ok(part))) = &next {
            let mut hashed = self.hashed.lock().unwrap_or_else(PoisonError::into_inner);
            hashed.hasher.update(part);
            hashed.bytes += part.len() as u64;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bollard::models::ProgressDetail;

    #[test]
    fn names_are_taken_apart() {
        for (name, parts) in [
            ("debian", ("debian", "latest")),
            ("debian:12", ("debian", "12")),
            ("localhost:5000/a/b", ("localhost:5000/a/b", "latest")),
            ("localhost:5000/a/b:c", ("localhost:5000/a/b", "c")),
            ("a@sha256:12", ("a@sha256:12", "")),
        ] {
            assert_eq!(split_name(name), parts, "{name}");
        }
    }

    #[test]
    fn the_engines_words_are_understood() {
        assert_eq!(loaded_image("Loaded image: a:1\n").as_deref(), Some("a:1"));
        assert_eq!(loaded_image("Loaded image ID: sha256:12\n").as_deref(), Some("sha256:12"));
        assert_eq!(loaded_image("Importing something"), None);
    }

    #[test]
    fn progress_adds_up() {
        let mut tally = Tally::default();
        let mut say = |id: &str, status: &str, of: Option<(i64, i64)>| {
            let progress_detail = of.map(|(current, total)| ProgressDetail {
                current: Some(current),
                total: Some(total),
            });
            let (id, status) = (Some(id.to_owned()), Some(status.to_owned()));
            tally.take(CreateImageInfo { id, status, progress_detail, error_detail: None });
            tally.sum()
        };
        say("12", "Pulling from library/debian", None);
        say("a", "Pulling fs layer", None);
        say("b", "Already exists", None);
        let half = say("a", "Downloading", Some((50, 100)));
        assert_eq!((half.layers, half.layers_done, half.bytes, half.bytes_total), (2, 1, 50, 100));
        say("a", "Extracting", Some((1, 7)));
        let all = say("a", "Pull complete", None);
        assert_eq!((all.layers_done, all.bytes, all.bytes_total), (2, 100, 100));
    }
}
