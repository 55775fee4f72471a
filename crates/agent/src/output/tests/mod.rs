//! Reading, searching, packing and keeping, on output made by a writer or by hand.

mod kept;
mod lines;
mod packed;
mod runs;
mod search;
mod shares;
pub mod shelf;
