//! The workflow language: Lua files that define graphs of tasks, and the bodies of those tasks.
//!
//! A file is run twice. First it is *defined* ([`define`]): in a sandbox, with no way to touch anything, bounded
//! in memory and time; what comes out is a [`Definition`]: plain data, or every mistake at its place. Later, where a
//! step runs, the same source is defined once more and the one function that the step is about is called
//! ([`body`]), now with modules that act.
//!
//! The dialect is Luau (of the Lua 5.1 family), and what files written for Sloth Runner expect beyond it is given
//! by our own modules ([`modules`]). Nothing outside this crate knows the interpreter.
//!
//! Reading order: `vm` (limits), `budget` (limits of what is outside of it), `ours` (what is compiled beforehand), `stage` (what may be done when), `missing` (what is
//! not there), `value` (to JSON and back), `source` (files and kept
//! modules), `define`, `modules`, `body`.

pub mod account;
mod budget;
mod limits;
mod missing;
mod ours;
mod shelf;
mod source;
mod stage;
mod value;
mod vm;
mod wants;

mod define;
mod diagnose;
mod indent;
mod pick;

pub mod body;
#[doc(hidden)]
pub mod fuzz;
pub mod modules;

pub use define::{Definition, Given, Remark, define, module};
pub use diagnose::{Mistake, Mistakes};
pub use indent::indented;
pub use limits::Limits;
pub use ours::compiled;
pub use pick::pick;
pub use shelf::{ROUNDS, Shelf};
pub use source::{Bundle, Files, FolderFiles, NoFiles, is_kept};
