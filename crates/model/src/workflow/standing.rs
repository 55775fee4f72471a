//! How a step of an execution stands.

use serde::{Deserialize, Serialize};

use super::{SkipReason, StepEnd};
use crate::Span;

/// How a step stands. Times are since the beginning of the execution.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Standing {
    /// Its turn has not come.
    #[default]
    Waiting,
    Running {
        attempt: u32,
        since: Span,
    },
    /// It is tried again at this time.
    Resting {
        attempt: u32,
        until: Span,
    },
    Ended(StepEnd),
    Skipped(SkipReason),
}

impl Standing {
    pub const fn is_over(self) -> bool {
        matches!(self, Standing::Ended(_) | Standing::Skipped(_))
    }
    pub const fn is_failure(self) -> bool {
        matches!(self, Standing::Ended(end) if end.is_failure())
    }

    /// In one word.
    pub const fn label(self) -> &'static str {
        match self {
            Standing::Waiting => "waiting",
            Standing::Running { .. } => "running",
            Standing::Resting { .. } => "resting",
            Standing::Ended(end) => end.label(),
            Standing::Skipped(_) => "skipped",
        }
    }
}
