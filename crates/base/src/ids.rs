//! Where ids come from.
//!
//! Ids are made by whoever creates an object, never by the database, so that a repeated insert finds
//! the first one. In production they are UUIDv7 (sorted by time of creation, monotonic within a
//! process); a seeded source gives the same ids in the same order every time, for tests. The kind of
//! id is what the caller wants it to be: `let id: RunId = ids.fresh();`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hostler_model::TypedId;
use uuid::Uuid;

/// The source of ids; cheap to clone.
#[derive(Clone, Debug)]
pub struct Ids(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Seeded { seed: u64, next: Arc<AtomicU64> },
}

impl Ids {
    /// UUIDv7 from the wall clock and the system's randomness.
    pub fn system() -> Ids {
        Ids(Source::System)
    }

    /// The same ids in the same order for the same seed; clones share the sequence.
    pub fn seeded(seed: u64) -> Ids {
        Ids(Source::Seeded { seed, next: Arc::new(AtomicU64::new(0)) })
    }

    /// A new id, as the typed id that is wanted (or as a bare `Uuid`).
    pub fn fresh<T: TypedId>(&self) -> T {
        T::from_uuid(match &self.0 {
            Source::System => system_uuid(),
            Source::Seeded { seed, next } => {
                seeded_uuid(*seed, next.fetch_add(1, Ordering::Relaxed))
            }
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the place where ids come from")]
fn system_uuid() -> Uuid {
    Uuid::now_v7()
}

/// 2024-01-01 in milliseconds, so that seeded ids look like real ones.
const SEEDED_MILLIS: u64 = 1_704_067_200_000;

fn seeded_uuid(seed: u64, index: u64) -> Uuid {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(&index.to_le_bytes());
    let mut random = [0; 10];
    hasher.finalize_xof().fill(&mut random);
    uuid::Builder::from_unix_timestamp_millis(SEEDED_MILLIS + index, &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{NodeId, RunId};

    #[test]
    fn seeded_ids_repeat_and_are_sorted() {
        let (a, b) = (Ids::seeded(7), Ids::seeded(7));
        let first: Vec<RunId> = (0..100).map(|_| a.fresh()).collect();
        let second: Vec<RunId> = (0..100).map(|_| b.fresh()).collect();
        assert_eq!(first, second);
        assert!(first.is_sorted());
        assert_ne!(Ids::seeded(8).fresh::<RunId>(), first[0]);
    }

    #[test]
    fn system_ids_are_version_7_and_differ() {
        let ids = Ids::system();
        let (one, two): (NodeId, NodeId) = (ids.fresh(), ids.fresh());
        assert!(one < two);
        assert_eq!(one.uuid().get_version_num(), 7);
    }
}
