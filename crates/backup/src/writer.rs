//! Writes a file: rows in, bytes out. Nothing here waits; whoever calls takes the bytes when it suits.

use hostler_model::Digest;
use hostler_model::backup::{Cell, TableShape, TableSum};
use hostler_trust::{MasterKey, StreamKey};
use zeroize::Zeroizing;
use zstd::stream::write::Encoder;

use crate::piece::{PieceWriter, Seal};
use crate::record::{
    END, KEYS, ROW, TABLE, TABLE_END, TableHasher, put_length, put_shape, put_sum, put_text,
    whole_digest, write_all,
};
use crate::{Error, Head};

const LEVEL: i32 = 3;

/// What is in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    pub tables: Vec<TableSum>,
    pub rows: u64,
    /// Of all tables together.
    pub digest: Digest,
}

impl Summary {
    pub(crate) fn of(tables: Vec<TableSum>) -> Summary {
        let rows = tables.iter().map(|table| table.rows).sum();
        Summary { rows, digest: whole_digest(&tables), tables }
    }
}

pub struct Writer {
    body: Encoder<'static, PieceWriter>,
    open: Option<(TableShape, TableHasher)>,
    done: Vec<TableSum>,
}

impl Writer {
    /// The key is there exactly when the head has a lock.
    pub fn new(head: &Head, key: Option<StreamKey>) -> Result<Writer, Error> {
        match (&head.lock, &key) {
            (Some(lock), Some(key)) if lock.fits(key) => {}
            (None, None) if !head.has_keys => {}
            (None, None) => {
                return Err(Error::Misuse("keys are written only into what is sealed".to_owned()));
            }
            _ => return Err(Error::Misuse("the key is not the one of the lock".to_owned())),
        }
        let head = head.to_bytes()?;
        let seal = Seal::new(key, &head);
        let body = Encoder::new(PieceWriter::new(seal, head), LEVEL).map_err(Error::from_io)?;
        Ok(Writer { body, open: None, done: Vec::new() })
    }

    /// The master keys, before anything else.
    pub fn keys(&mut self, keys: &[MasterKey]) -> Result<(), Error> {
        let mut record = Zeroizing::new(vec![KEYS]);
        put_length(&mut record, keys.len())?;
        for key in keys {
            put_text(&mut record, key.to_base64().expose())?;
        }
        write_all(&mut self.body, &record)
    }

    pub fn table(&mut self, shape: &TableShape) -> Result<(), Error> {
        self.table_end()?;
        let mut record = vec![TABLE];
        put_shape(&mut record, shape)?;
        write_all(&mut self.body, &record)?;
        self.open = Some((shape.clone(), TableHasher::new(shape)?));
        Ok(())
    }

    pub fn row(&mut self, cells: &[Cell]) -> Result<(), Error> {
        let (shape, hasher) =
            self.open.as_mut().ok_or_else(|| Error::Misuse("a row without a table".to_owned()))?;
        let fits = cells.len() == shape.columns.len()
            && shape.columns.iter().zip(cells).all(|(column, cell)| column.kind.holds(cell));
        if !fits {
            return Err(Error::Misuse(format!("a row of {} is not like its table", shape.name)));
        }
        let row = hasher.encode(cells)?;
        write_all(&mut self.body, &[ROW])?;
        write_all(&mut self.body, row)
    }

    /// What was put off the table that is open.
    fn table_end(&mut self) -> Result<(), Error> {
        let Some((_, hasher)) = self.open.take() else { return Ok(()) };
        let sum = hasher.finish();
        let mut record = vec![TABLE_END];
        put_sum(&mut record, sum.rows, &sum.digest);
        self.done.push(sum);
        write_all(&mut self.body, &record)
    }

    /// How many bytes can be taken.
    pub fn waiting(&self) -> usize {
        self.body.get_ref().waiting()
    }

    /// What is ready.
    pub fn take(&mut self) -> Vec<u8> {
        self.body.get_mut().take()
    }

    /// The rest of the file, and what is in all of it.
    pub fn finish(mut self) -> Result<(Vec<u8>, Summary), Error> {
        self.table_end()?;
        let summary = Summary::of(std::mem::take(&mut self.done));
        let mut record = vec![END];
        put_length(&mut record, summary.tables.len())?;
        put_sum(&mut record, summary.rows, &summary.digest);
        write_all(&mut self.body, &record)?;
        let pieces = self.body.finish().map_err(Error::from_io)?;
        Ok((pieces.finish()?, summary))
    }
}
