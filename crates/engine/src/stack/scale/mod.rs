//! The arithmetic of groups: how many members there are to be, which of them go, what they are called, and in which batches
//! they are changed.

mod adjust;
mod cooldown;
mod names;
mod rolling;
mod shrink;

pub use hostler_model::stack::{AdjustmentKind, RemovalMode};

pub use adjust::{Adjustment, Bounds, BoundsFault};
pub use cooldown::{GroupState, Ignored, scale};
pub use names::{Removed, batches, names, removed};
pub use rolling::{Batch, Rolling, Target, next_batch};
pub use shrink::{Member, leaving, shrink_order};
