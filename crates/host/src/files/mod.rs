//! Files, directories and links, and edits of text.
//!
//! Everything goes through [`crate::place`]: replaced as a whole, owner and mode kept unless told
//! otherwise, symbolic links at the end of a path refused unless `follow` is said.

mod manner;
mod text;

mod access;
mod block;
mod directory;
mod file;
mod line;
mod link;
mod replace;
mod stat;

pub use access::{Entry, append, list, make_temporary, read};
pub use block::Block;
pub use directory::Directory;
pub use file::File;
pub use line::Line;
pub use link::{Link, LinkKind};
pub use replace::Replace;
pub use stat::{Facts, Kind, stat};

pub(crate) use file::same_bytes;
pub(crate) use manner::manner_changes;
pub(crate) use text::{TEXT_MAX, joined, lines, pattern, read_text};
