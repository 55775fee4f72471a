//! What versions of images are called in the engine of a node.
//!
//! `hostler.local/train:v3.DIGEST`: a host that is no registry, so that nobody can fetch such a name from
//! elsewhere, and the digest, so that a name means the same content on every node and in every installation.

use std::path::Path;

use hostler_model::{Digest, IMAGE_SCHEME, ImagePick, ImageRef, Name, OperationId, StoredImage};

const HOST: &str = "hostler.local/";

pub(crate) fn engine_name(image: &StoredImage) -> String {
    format!("{HOST}{}:v{}.{}", image.name, image.version, image.digest)
}

/// Which version a name of the engine's is.
pub(super) fn stored(engine_name: &str) -> Option<(Name, u32, Digest)> {
    let (name, tag) = engine_name.strip_prefix(HOST)?.split_once(':')?;
    let (version, digest) = tag.strip_prefix('v')?.split_once('.')?;
    Some((name.parse().ok()?, version.parse().ok()?, digest.parse().ok()?))
}

pub(super) fn is_meant(reference: &ImageRef, name: &Name, version: u32, digest: Digest) -> bool {
    reference.name == *name
        && match reference.pick {
            ImagePick::Newest => true,
            ImagePick::Version(wanted) => wanted == version,
            ImagePick::Content(wanted) => wanted == digest,
        }
}

pub(super) fn reference(name: &Name, version: u32) -> String {
    format!("{IMAGE_SCHEME}{name}:{version}")
}

/// What tells copies that this agent makes from those of others on the same engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark(String);

impl Mark {
    pub fn of(data_dir: &Path) -> Mark {
        let digest = blake3::hash(crate::container::data_label(data_dir).as_bytes());
        Mark(digest.to_hex()[..16].to_owned())
    }

    /// What a container is called while it is given to the installation.
    pub fn taken(&self, job: OperationId) -> String {
        format!("{HOST}taken-{}:{job}", self.0)
    }

    /// The job of this agent that left a name.
    pub fn taken_by(&self, engine_name: &str) -> Option<OperationId> {
        let rest = engine_name.strip_prefix(HOST)?.strip_prefix("taken-")?;
        rest.strip_prefix(&self.0)?.strip_prefix(':')?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::Bytes;

    #[test]
    fn names_say_what_they_are() {
        let digest = Digest::from_bytes([7; 32]);
        let name: Name = "train".parse().unwrap();
        let image = StoredImage { name: name.clone(), version: 12, digest, size: Bytes::mib(1) };
        let called = engine_name(&image);
        assert_eq!(stored(&called), Some((name.clone(), 12, digest)));
        assert!(hostler_model::image_problem(&called).is_none());
        assert!(called.split_once(':').unwrap().1.len() <= 128, "engines take no longer tags");
        for other in ["debian:12", "hostler.local/train", "hostler.local/train:v1", "train:v1.x"] {
            assert_eq!(stored(other), None, "{other}");
        }
        for (text, is) in [("train", true), ("train:12", true), ("train:3", false), ("x", false)] {
            assert_eq!(is_meant(&text.parse().unwrap(), &name, 12, digest), is, "{text}");
        }
        let job = OperationId::from_uuid(uuid::Uuid::from_u128(5));
        let (ours, others) = (Mark::of(Path::new("/a")), Mark::of(Path::new("/b")));
        assert_eq!(ours.taken_by(&ours.taken(job)), Some(job));
        assert_eq!(ours.taken_by(&others.taken(job)), None);
        assert_eq!(stored(&ours.taken(job)), None);
        assert_eq!(ours.taken_by(&called), None);
    }
}
