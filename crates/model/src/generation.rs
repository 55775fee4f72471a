//! Generations: the one mechanism that keeps things from going backwards.
//!
//! Everything that is pushed, reported or updated carries one. Older is refused, equal is a no-op,
//! newer is written durably before it is acted on. They fit a signed 64-bit SQL column.

use serde::{Deserialize, Serialize};

/// A counter that only grows. Starts at 0 ("nothing yet"); the first content has 1.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Generation(u64);

impl Generation {
    pub const ZERO: Generation = Generation(0);
    pub const FIRST: Generation = Generation(1);

    /// From a stored or received number; negative numbers (a corrupt row) become zero.
    pub fn from_i64(n: i64) -> Generation {
        Generation(u64::try_from(n).unwrap_or(0))
    }
    pub const fn from_u64(n: u64) -> Generation {
        Generation(n)
    }
    pub const fn get(self) -> u64 {
        self.0
    }
    /// For SQL. Generations count changes one by one, so the top half of the range is never reached.
    pub fn as_i64(self) -> i64 {
        i64::try_from(self.0).unwrap_or(i64::MAX)
    }
    #[must_use]
    pub const fn next(self) -> Generation {
        Generation(self.0 + 1)
    }
}

impl std::fmt::Display for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What to do with something that arrives with a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    Older,
    Equal,
    Newer,
}

impl Generation {
    /// Compares an arriving generation with the one already held.
    pub fn freshness_over(self, held: Generation) -> Freshness {
        match self.cmp(&held) {
            std::cmp::Ordering::Less => Freshness::Older,
            std::cmp::Ordering::Equal => Freshness::Equal,
            std::cmp::Ordering::Greater => Freshness::Newer,
        }
    }
}
