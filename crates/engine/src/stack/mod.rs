//! How a stack becomes as its template says.
//!
//! [`Course`] is one pass over a stack: a fold over its rows towards a [`Goal`]. It says what can be done now ([`Step`]), is
//! told what came of it, and keeps the rows that have to be written. It holds nothing that is not in the rows, so one
//! that was thrown away before its rows were written is built again and goes on as if it had never been; what was begun is
//! in the row before anything happens, under a number that is the same however often it is carried out.
//!
//! What always holds:
//!
//! - An object is made or changed when everything that it requires is as wanted in this traversal, and removed when nothing
//!   that requires it is left. What takes the place of another is there, and whoever uses it was looked at, before the other goes.
//! - Of one row at most one deed is under way. What an older traversal began is finished first, and then looked at anew; only
//!   what merely waits for an object that nobody wants any more is broken off.
//! - Deeds of a row are numbered, so whoever carries them out can tell that one comes too late: a newer one was heard of.
//! - After a failure nothing is begun. The stack has failed as soon as nobody has a deed in hand; what waits by itself goes
//!   on until its end or the deadline, also of a stack that has failed.
//! - The work is proportional to what there is: every row, every edge and every deed is touched a bounded number of times.
//!
//! Why no circle of waiting can arise, though rows remember what they required under older definitions: what is done in
//! this traversal requires only what is done as well, as the goal says, and the goal has no circles; what is not done has
//! its older edges, which had no circle before, and new ones to what is done. So going from row to row along what is required
//! one can come from what is not done to what is done, and never back.
//!
//! [`plan`] asks a course what it would do. [`StackLinks`] orders stacks among one another, and [`scale`] has the arithmetic
//! of groups. [`alarm`] says when one rings.

pub mod alarm;
mod begin;
mod course;
mod failure;
mod goal;
mod graph;
mod happening;
mod links;
mod plan;
pub mod scale;
mod step;

#[cfg(test)]
mod tests;

pub use begin::begin;
pub use course::{Changed, Changes, Course, Ended, FreshId, Hands, HookRefusal, clear_hook};
pub use failure::Failure;
pub use goal::{Goal, GoalFault, Wanted};
pub use graph::Circle;
pub use happening::{Happening, described};
pub use links::{StackLink, StackLinks};
pub use plan::{ChangeKind, PlannedChange, plan};
pub use step::{DeedRef, Outcome, Restriction, Step, Verdict};
