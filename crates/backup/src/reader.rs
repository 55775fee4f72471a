//! Reads a file: bytes in, items out, everything verified on the way.

use std::io::{BufReader, Read};

use hostler_model::backup::{Cell, TableShape, TableSum};
use hostler_trust::{LockKey, MasterKey};
use zstd::stream::read::Decoder;

use crate::piece::{PieceReader, Seal};
use crate::record::{COLUMNS_MAX, END, KEYS, Parts, ROW, TABLE, TABLE_END, TableHasher};
use crate::{Error, Head, Summary};

/// Larger windows are not needed for what we write; what says otherwise was not written by us.
const WINDOW_LOG_MAX: u32 = 23;
const KEYS_MAX: u32 = 1000;

/// A file whose head was read.
pub struct Opened<R> {
    head: Head,
    bytes: Vec<u8>,
    from: R,
}

/// What a file holds, in order.
#[derive(Clone, Debug)]
pub enum Item {
    Keys(Vec<MasterKey>),
    Table(TableShape),
    Row(Vec<Cell>),
    TableEnd(TableSum),
    End(Summary),
}

pub struct Reader<R: Read> {
    parts: Parts<Decoder<'static, BufReader<PieceReader<R>>>>,
    has_keys: bool,
    open: Option<(TableShape, TableHasher)>,
    done: Vec<TableSum>,
    is_over: bool,
}

impl<R: Read> Opened<R> {
    pub fn new(mut from: R) -> Result<Opened<R>, Error> {
        let (head, bytes) = Head::read(&mut from)?;
        Ok(Opened { head, bytes, from })
    }

    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Opens the body. With a passphrase this takes a good part of a second.
    pub fn unlock(self, key: Option<&LockKey>) -> Result<Reader<R>, Error> {
        let key = match (&self.head.lock, key) {
            (None, None) => None,
            (None, Some(_)) => return Err(Error::NeedsNoKey),
            (Some(_), None) => return Err(Error::NeedsKey),
            (Some(lock), Some(key)) => Some(key.unlock(lock)?),
        };
        let pieces = PieceReader::new(self.from, Seal::new(key, &self.bytes));
        let mut body = Decoder::new(pieces).map_err(Error::from_io)?;
        body.window_log_max(WINDOW_LOG_MAX).map_err(Error::from_io)?;
        Ok(Reader {
            parts: Parts(body),
            has_keys: self.head.has_keys,
            open: None,
            done: Vec::new(),
            is_over: false,
        })
    }
}

impl<R: Read> Reader<R> {
    /// The next item; `None` after the end.
    #[expect(clippy::should_implement_trait, reason = "it fails, and then is not asked again")]
    pub fn next(&mut self) -> Result<Option<Item>, Error> {
        if self.is_over {
            return Ok(None);
        }
        let tag = self.parts.tag().map_err(unpacked)?.ok_or(Error::Truncated)?;
        self.item(tag).map(Some).map_err(unpacked)
    }

    fn item(&mut self, tag: u8) -> Result<Item, Error> {
        match (tag, self.open.is_some()) {
            (KEYS, false) if self.has_keys && self.done.is_empty() => {
                self.has_keys = false;
                let mut keys = Vec::new();
                for _ in 0..self.parts.length(KEYS_MAX)? {
                    let text = zeroize::Zeroizing::new(self.parts.name()?);
                    let key = text.parse().map_err(|_| Error::damaged("inside: a key is none"))?;
                    keys.push(key);
                }
                Ok(Item::Keys(keys))
            }
            (TABLE, false) => {
                let shape = self.parts.shape()?;
                self.open = Some((shape.clone(), TableHasher::new(&shape)?));
                Ok(Item::Table(shape))
            }
            (ROW, true) => self.row(),
            (TABLE_END, true) => self.table_end(),
            (END, false) => self.end(),
            _ => Err(Error::damaged(format!("inside: record {tag} in the wrong place"))),
        }
    }

    fn row(&mut self) -> Result<Item, Error> {
        let Some((shape, hasher)) = &mut self.open else { return Err(misplaced()) };
        let cells = self.parts.row(shape)?;
        hasher.row(&cells)?;
        Ok(Item::Row(cells))
    }

    fn table_end(&mut self) -> Result<Item, Error> {
        let (rows, digest) = self.parts.sum()?;
        let Some((_, hasher)) = self.open.take() else { return Err(misplaced()) };
        let sum = hasher.finish();
        if (sum.rows, sum.digest) != (rows, digest) {
            return Err(Error::damaged(format!("inside: table {} is not what it was", sum.name)));
        }
        self.done.push(sum.clone());
        Ok(Item::TableEnd(sum))
    }

    fn end(&mut self) -> Result<Item, Error> {
        let tables = self.parts.length(COLUMNS_MAX)?;
        let (rows, digest) = self.parts.sum()?;
        let summary = Summary::of(std::mem::take(&mut self.done));
        let is_same =
            (summary.tables.len(), summary.rows, summary.digest) == (tables as usize, rows, digest);
        if !is_same {
            return Err(Error::damaged("inside: its tables are not those that it had"));
        }
        if self.parts.tag()?.is_some() {
            return Err(Error::damaged("inside: there is more after its end"));
        }
        self.is_over = true;
        Ok(Item::End(summary))
    }
}

fn misplaced() -> Error {
    Error::damaged("inside: a row without a table")
}

/// What does not unpack is damaged; there is nothing wrong with the disk.
fn unpacked(error: Error) -> Error {
    match error {
        Error::Io(cause) if cause.raw_os_error().is_none() => {
            Error::damaged(format!("inside: {cause}"))
        }
        other => other,
    }
}

/// Reads to the end: everything that can be checked without a database is.
pub fn verify<R: Read>(opened: Opened<R>, key: Option<&LockKey>) -> Result<Summary, Error> {
    let mut reader = opened.unlock(key)?;
    while let Some(item) = reader.next()? {
        if let Item::End(summary) = item {
            return Ok(summary);
        }
    }
    Err(Error::Truncated)
}

#[cfg(test)]
mod tests;
