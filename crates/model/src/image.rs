//! Images that the installation keeps, and what can be asked of a node's container engine.
//!
//! An image has a name and versions, counted from 1 and never used again while the name has any. A
//! version is content (a tar stream as `docker save` makes it), named by its digest, in the shared blobs.
//! Workloads say `hostler://NAME` for the newest version, `hostler://NAME:3` for one of them and
//! `hostler://NAME@DIGEST` for exactly this content; everything else is an image of the node or of a
//! registry.
//!
//! What only a node can do with its engine is an [`EngineAsk`]. Long work on a node is a *job*: asking
//! for it starts it, asking again tells how it stands ([`JobState`]). Nothing is kept of a job but in the
//! memory of the agent; whoever wants it done asks until it is, and it begins anew where the agent has
//! died. So both jobs can be done twice without harm.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Actor, Bytes, Digest, EventId, ImageId, Name, OperationId, RunId, Timestamp};

/// What begins the name of an image that the installation keeps.
pub const IMAGE_SCHEME: &str = "hostler://";

/// One version of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub id: ImageId,
    pub name: Name,
    pub version: u32,
    pub digest: Digest,
    pub size: Bytes,
    /// Where it came from, in words.
    pub origin: String,
    pub created_by: Actor,
    pub time_created: Timestamp,
}

impl Image {
    /// As workloads say it.
    pub fn reference(&self) -> String {
        format!("{IMAGE_SCHEME}{}:{}", self.name, self.version)
    }

    pub fn stored(&self) -> StoredImage {
        StoredImage {
            name: self.name.clone(),
            version: self.version,
            digest: self.digest,
            size: self.size,
        }
    }
}

/// A version of an image, as nodes know it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredImage {
    pub name: Name,
    pub version: u32,
    pub digest: Digest,
    pub size: Bytes,
}

impl fmt::Display for StoredImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{IMAGE_SCHEME}{}:{}", self.name, self.version)
    }
}

/// Which image is meant: `NAME`, `NAME:VERSION` or `NAME@DIGEST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageRef {
    pub name: Name,
    pub pick: ImagePick,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImagePick {
    Newest,
    Version(u32),
    Content(Digest),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an image that Hostler keeps is called NAME, NAME:VERSION or NAME@DIGEST, such as `train:3`"
)]
pub struct ParseImageRefError;

impl ImageRef {
    /// What a workload's image means; `None` when it is one of the node or of a registry.
    pub fn of_spec(image: &str) -> Option<Result<ImageRef, ParseImageRefError>> {
        image.strip_prefix(IMAGE_SCHEME).map(str::parse)
    }
}

impl FromStr for ImageRef {
    type Err = ParseImageRefError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = |name: &str| name.parse::<Name>().map_err(|_| ParseImageRefError);
        if let Some((before, digest)) = text.split_once('@') {
            let digest = digest.parse().map_err(|_| ParseImageRefError)?;
            return Ok(ImageRef { name: name(before)?, pick: ImagePick::Content(digest) });
        }
        let Some((before, version)) = text.split_once(':') else {
            return Ok(ImageRef { name: name(text)?, pick: ImagePick::Newest });
        };
        let is_plain = version.bytes().all(|b| b.is_ascii_digit()) && !version.starts_with('0');
        match version.parse() {
            Ok(version) if is_plain => {
                Ok(ImageRef { name: name(before)?, pick: ImagePick::Version(version) })
            }
            _ => Err(ParseImageRefError),
        }
    }
}

impl fmt::Display for ImageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pick {
            ImagePick::Newest => write!(f, "{}", self.name),
            ImagePick::Version(version) => write!(f, "{}:{version}", self.name),
            ImagePick::Content(digest) => write!(f, "{}@{digest}", self.name),
        }
    }
}

/// What is asked of a node's container engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum EngineAsk {
    /// Answered with a [`NodeImage`] each.
    Images,
    /// Answered with a [`NodeContainer`] each.
    Containers,
    ImageRemove {
        image: String,
    },
    ContainerRemove {
        container: String,
    },
    /// The files of a container as a tar stream.
    ContainerFiles {
        container: String,
    },
    /// Have an image there; answered with a [`JobState`].
    Load {
        job: OperationId,
        image: StoredImage,
    },
    /// Give an image to the installation; answered with a [`JobState`]. Begun only with a grant.
    Take {
        job: OperationId,
        grant: Option<String>,
        source: ImageSource,
    },
    /// What a run waits for; answered with a [`crate::Readiness`], or nothing.
    Readiness {
        run: RunId,
    },
    /// Look soon for versions that nobody needs; answered with nothing.
    Tidy,
}

/// Where on a node an image is taken from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum ImageSource {
    /// One that the node's engine has.
    Image { image: String },
    /// What a container is now.
    Container { container: String },
}

impl fmt::Display for ImageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageSource::Image { image } => write!(f, "image {image}"),
            ImageSource::Container { container } => write!(f, "container {container}"),
        }
    }
}

/// How a job on a node stands, and in the end what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "kebab-case")]
pub enum JobState<T = TakenImage> {
    /// The node knows of no such job.
    Unknown,
    Going {
        words: String,
    },
    Done {
        /// What was taken, or done.
        #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
        content: Option<T>,
    },
    Failed {
        why: String,
    },
}

const fn nothing<T>() -> Option<T> {
    None
}

/// Content that a node has put into the shared blobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenImage {
    pub digest: Digest,
    pub size: Bytes,
}

/// An image that a node's engine has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeImage {
    /// The engine's own, `sha256:…`.
    pub id: String,
    /// What the engine calls it.
    pub names: Vec<String>,
    /// Versions of images that Hostler keeps, such as `hostler://train:3`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    pub size: Bytes,
    pub time_created: Timestamp,
}

/// What an agent did by itself with a version of an image that nobody needs on its node: removed it, or
/// could not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ImageNews {
    /// The same however often it is told.
    pub id: EventId,
    pub name: Name,
    pub version: u32,
    /// Why nobody needs it there.
    pub why: String,
    /// Why it is there still; absent when it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    pub time: Timestamp,
}

/// A container that a node's engine has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeContainer {
    pub id: String,
    pub name: String,
    pub image: String,
    pub command: String,
    /// Such as `running`, `exited`, `paused`.
    pub state: String,
    /// In the engine's words, such as `Up 3 minutes`.
    pub status: String,
    /// The run it belongs to, when it is one of Hostler's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub time_created: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_read_as_they_are_written() {
        let digest = "a".repeat(64);
        let exact = format!("train@{digest}");
        for (text, pick) in [
            ("train", ImagePick::Newest),
            ("train:3", ImagePick::Version(3)),
            (exact.as_str(), ImagePick::Content(digest.parse().unwrap())),
        ] {
            let read: ImageRef = text.parse().unwrap();
            assert_eq!((read.name.as_str(), read.pick), ("train", pick));
            assert_eq!(read.to_string(), text);
            let spec = format!("hostler://{text}");
            assert_eq!(ImageRef::of_spec(&spec), Some(Ok(read)));
            assert_eq!(ImageRef::of_spec(text), None);
        }
        for bad in [
            "",
            ":",
            "train:",
            "train:0",
            "train:x",
            "train:+3",
            "train:03",
            "train@",
            "train@ab",
            "Train",
            "a/b",
            "train:3@x",
            "train:99999999999",
        ] {
            assert!(bad.parse::<ImageRef>().is_err(), "{bad}");
        }
    }

    #[test]
    fn questions_survive_their_document() {
        let job = OperationId::from_uuid(uuid::Uuid::from_u128(1));
        let source = ImageSource::Container { container: "web".into() };
        for ask in [
            EngineAsk::Images,
            EngineAsk::Tidy,
            EngineAsk::ContainerRemove { container: "a".into() },
            EngineAsk::Take { job, grant: Some("g".into()), source },
        ] {
            let text = serde_json::to_string(&ask).unwrap();
            assert_eq!(serde_json::from_str::<EngineAsk>(&text).unwrap(), ask);
        }
    }
}
