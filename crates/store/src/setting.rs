//! Settings of the installation: small values by name, such as its sealed keys. Secret ones are
//! encrypted by whoever stores them.

use crate::value::params;
use crate::{Conn, Error, Tx};

impl Conn {
    pub async fn setting_get(&mut self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let row =
            self.query_one("SELECT content FROM setting WHERE name = $1", params![key]).await?;
        row.map(|row| row.columns("setting").blob()).transpose()
    }
}

impl Tx<'_> {
    /// Stores a value unless there is one; false when there is.
    pub async fn setting_insert(&mut self, key: &str, bytes: &[u8]) -> Result<bool, Error> {
        let done = self
            .execute(
                "INSERT INTO setting (name, content) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
                params![key, bytes],
            )
            .await?;
        Ok(done > 0)
    }

    pub async fn setting_replace(&mut self, key: &str, bytes: &[u8]) -> Result<(), Error> {
        self.execute(
            "INSERT INTO setting (name, content) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET content = excluded.content",
            params![key, bytes],
        )
        .await?;
        Ok(())
    }

    /// False when there was none.
    pub async fn setting_delete(&mut self, key: &str) -> Result<bool, Error> {
        let gone = self.execute("DELETE FROM setting WHERE name = $1", params![key]).await?;
        Ok(gone > 0)
    }
}
