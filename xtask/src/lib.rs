//! Chores of the house: what is generated, and what is checked by a machine.
//!
//! `cargo xtask gen` writes every generated file; `gen --check` says which of them are out of date.
//! `cargo xtask tidy` checks the rules that no compiler knows: which crate may use which, how long a
//! file may be, which SQL every database understands, which licences are fine. Both also run as tests
//! (`cargo nextest run -p xtask`), so that a broken rule fails like a broken function.
//!
//! Everything works on a [`Tree`]: the text of all files that git tracks or would track. Rules are
//! plain functions over it, each with a test that shows what it catches.

pub mod generate;
pub mod tidy;

mod tree;

pub use tree::Tree;

use std::path::{Path, PathBuf};

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies one level below the root")
        .to_owned()
}
