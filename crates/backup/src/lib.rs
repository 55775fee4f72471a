//! The file of a backup: everything the control plane knows, in a form that knows no database.
//!
//! ```text
//!   magic and format | length | head (JSON)          readable by everybody
//!   piece | piece | ... | last piece                 sealed, or at least numbered and summed
//!     \_ zstd \_ records: keys?, (table, row*, table end)*, end
//! ```
//!
//! The head says what the file is of, how it is sealed and what it needs; it holds no secret. Every piece
//! is bound to the head and to its place, so a bit that changed anywhere, a piece that is missing, doubled
//! or moved, and a file that ends early are all noticed, and said apart from a wrong key. A file that is
//! not sealed has sums in the place of tags: it is protected from accidents, not from people.
//!
//! A table's end says how many rows it had and the digest of them ([`TableHasher`]); the end says the same
//! of all tables together. Whoever reads a file to its end has verified it. Both directions take memory
//! for a few pieces and one row, however large the file is.
//!
//! Rows come in the order of their key and tables after those that they refer to, so a file can be loaded
//! as it is read.

mod error;
mod head;
mod piece;
mod reader;
mod record;
mod writer;

#[doc(hidden)]
pub mod fuzz;

pub use error::Error;
pub use head::{FORMAT, Head, MAGIC};
pub use reader::{Item, Opened, Reader, verify};
pub use record::TableHasher;
pub use writer::{Summary, Writer};
