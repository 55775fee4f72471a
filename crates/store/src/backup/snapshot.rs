//! Everything as it is at one moment.

use std::ops::{Deref, DerefMut};

use futures::StreamExt as _;
use futures::stream::BoxStream;
use hostler_model::backup::Cell;

use super::StoredTable;
use crate::{Conn, Error, Store};

/// The database at one moment, for as long as this lives. Reads everything that a [`Conn`] does.
pub struct Snapshot {
    conn: Conn,
    /// Of the schema.
    pub version: u64,
}

impl Store {
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let mut conn = self.read_apart().await?;
        // The first statement fixes the moment.
        let version = conn.version_complete().await?;
        Ok(Snapshot { conn, version })
    }
}

impl Deref for Snapshot {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl DerefMut for Snapshot {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}

impl Snapshot {
    /// Every row of a table, in the order of its key; on request without those of images and of what tasks
    /// left.
    pub fn rows<'s>(
        &'s mut self,
        table: &'s StoredTable,
        has_content: bool,
    ) -> BoxStream<'s, Result<Vec<Cell>, Error>> {
        self.conn.stream(table.select(has_content)).map(|row| table.cells(&row?)).boxed()
    }
}
