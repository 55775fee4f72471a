//! The three answers to a conditional update. Nothing in this crate overwrites a row without saying
//! which version of it was seen.

use hostler_model::Generation;

use crate::{Error, conn::Tx, value::Value};

/// What became of a conditional update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Update {
    Updated,
    /// The row is there, but not as the caller saw it.
    Stale {
        current: Generation,
    },
    Missing,
}

impl Update {
    pub fn is_updated(self) -> bool {
        self == Update::Updated
    }

    /// For callers to whom anything but success is an error.
    pub fn required(self, object: &'static str, id: impl std::fmt::Display) -> Result<(), Error> {
        match self {
            Update::Updated => Ok(()),
            Update::Stale { current } => Err(Error::Stale { object, current }),
            Update::Missing => Err(Error::Missing { object, id: id.to_string() }),
        }
    }
}

impl Tx<'_> {
    /// Runs a conditional statement; where it touched nothing, `probe` (which selects a generation by
    /// `$1`) tells why.
    pub(crate) async fn conditional(
        &mut self,
        sql: &'static str,
        params: Vec<Value>,
        probe: &'static str,
        id: impl Into<Value>,
    ) -> Result<Update, Error> {
        if self.execute(sql, params).await? > 0 {
            return Ok(Update::Updated);
        }
        let row = self.query_one(probe, vec![id.into()]).await?;
        Ok(match row {
            None => Update::Missing,
            Some(row) => Update::Stale { current: row.columns("generation").generation()? },
        })
    }
}

/// A batch is written whole or not at all: what was read in the same transaction must still be there.
pub(crate) fn all_saved(object: &'static str, saved: u64, asked: usize) -> Result<(), Error> {
    if usize::try_from(saved) == Ok(asked) {
        return Ok(());
    }
    Err(Error::Missing {
        object,
        id: format!("{} of {asked}", asked as u64 - saved.min(asked as u64)),
    })
}
