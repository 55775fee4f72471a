//! Keys of rows that are sealed with a master key, in tables that call them alike: `wrapped_key` and `key_id`. When
//! the master key is replaced they are sealed anew, one after the other, and what they open is not touched.

use std::error::Error as StdError;
use std::fmt::Display;
use std::str::FromStr;

use hostler_model::KeyId;

use crate::select::Select;
use crate::value::params;
use crate::{Conn, Error, Tx};

/// The key of a row, sealed with some master key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedKey<Id> {
    pub id: Id,
    pub wrapped_key: Vec<u8>,
}

impl Conn {
    /// Under which master keys there are keys, and how many.
    pub(crate) async fn sealed_keys(
        &mut self,
        table: &'static str,
    ) -> Result<Vec<(KeyId, u64)>, Error> {
        let sql = format!("SELECT key_id, COUNT(*) FROM {table} GROUP BY key_id ORDER BY key_id");
        let rows = self.query(sql, Vec::new()).await?;
        let each = rows.iter().map(|row| {
            let mut columns = row.columns(table);
            Ok::<_, Error>((columns.parse()?, columns.number()?))
        });
        each.collect()
    }

    /// Keys that are sealed with another master key than this one, of the rows after one.
    pub(crate) async fn sealed_keys_but<Id>(
        &mut self,
        table: &'static str,
        key_id: KeyId,
        after: Option<Id>,
        limit: u32,
    ) -> Result<Vec<SealedKey<Id>>, Error>
    where
        Id: FromStr + Display,
        Id::Err: StdError + Send + Sync + 'static,
    {
        let after = after.map(|id| id.to_string());
        let (sql, params) = Select::new(&format!("SELECT id, wrapped_key FROM {table}"))
            .and_value("key_id <>", key_id)
            .and_some("id >", after.as_deref())
            .first("id", limit.into());
        let rows = self.query(sql, params).await?;
        let each = rows.iter().map(|row| {
            let mut columns = row.columns(table);
            Ok::<_, Error>(SealedKey { id: columns.parse()?, wrapped_key: columns.blob()? })
        });
        each.collect()
    }
}

impl Tx<'_> {
    /// Puts the same key, sealed with another master key, in the place of what was read; false when that is not
    /// there any more.
    pub(crate) async fn sealed_key_replace<Id: Display>(
        &mut self,
        table: &'static str,
        before: &SealedKey<Id>,
        wrapped_key: &[u8],
        key_id: KeyId,
    ) -> Result<bool, Error> {
        let sql = format!(
            "UPDATE {table} SET wrapped_key = $3, key_id = $4 WHERE id = $1 AND wrapped_key = $2"
        );
        let id = before.id.to_string();
        let params = params![&id, &before.wrapped_key, wrapped_key, key_id];
        Ok(self.execute(sql, params).await? > 0)
    }
}
