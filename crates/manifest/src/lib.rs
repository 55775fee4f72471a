//! Workload files: what people write about workloads, read strictly and kindly.
//!
//! A file is YAML (or JSON, which is YAML) and holds one workload (`name` and the fields of
//! [`hostler_model::WorkloadSpec`] beside it), several documents separated by `---`, or a list under
//! `workloads`. Files of Master Control are read too ([`Loader`] knows them by their `run_mode`).
//!
//! The rule of this crate: **every mistake at once, each at its place**. Reading never stops at the
//! first one. The stages are, in the order of the modules:
//!
//! 1. a file with templates is filled in (`template`);
//! 2. text becomes a tree whose every value knows its line and column (`parse`,
//!    `tree`); a syntax error costs
//!    its own document and no other;
//! 3. the tree is read into types (`reader`) again and again: each failure is noted and taken out of
//!    the tree, until the rest can be read (`recover`);
//! 4. what the types cannot rule out is looked at (`WorkloadSpec::problems`) and the pointers lead
//!    back into the tree;
//! 5. workloads are looked at together: names, dependencies, circles (`relations`).
//!
//! Either there is a [`Set`], and all of it is right, or there is a [`Report`]; half a folder is never
//! applied. Nothing is kept between calls, so a crash loses nothing.

mod mistake;
mod suggest;

mod template;

mod parse;
mod scalar;
mod tree;

mod fault;
mod reader;
mod recover;

mod master_control;
mod ours;

mod folder;
mod loader;
mod relations;
mod set;

mod diff;
mod print;
mod schema;

pub use diff::{Difference, FieldChange, diff};
pub use loader::{Loader, load_dir, load_file, load_str};
pub use mistake::{Mistake, Report};
pub use print::to_yaml;
pub use schema::schema;
pub use set::{Item, Set, Source};
