//! Everything at once: read as it is at one moment, and put into an empty database of either kind.
//!
//! Which tables there are, their columns, keys and references are read from the database itself, so a new
//! table is in every backup without anybody thinking of it. Rows are cells ([`hostler_model::backup`]), in
//! the order of their key. Text that is a key is ordered by bytes in both databases, so the order is the
//! same in both.
//!
//! A snapshot is a transaction that only reads, on a connection of its own. On SQLite others go on writing
//! meanwhile; the write-ahead log cannot be shortened before the snapshot ends. On PostgreSQL it is
//! `REPEATABLE READ`: the state that was committed at one moment, which is what recovery after a crash would
//! show too. Rows are read one after the other as they are asked for.
//!
//! Loading goes step by step, and says in a setting that it is not finished ([`RESTORE_UNFINISHED`]) from
//! the moment at which the database is empty until all is well: no server starts on what is half there.

mod in_use;
mod load;
mod shape;
mod snapshot;

pub use load::{Occupancy, RESTORE_UNFINISHED, RESTORED};
pub use shape::StoredTable;
pub use snapshot::Snapshot;
