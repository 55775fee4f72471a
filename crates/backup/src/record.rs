//! Records: what is in the body, one after the other; and the digest of a table.
//!
//! A record is a tag and what belongs to it. Lengths are `u32`, numbers `i64` or `u64`, all little endian.
//! Nothing is taken into memory because a length says so, only as it is read.

use std::io::{Read, Write};

use hostler_model::Digest;
use hostler_model::backup::{Cell, ColumnKind, ColumnShape, TableShape, TableSum};

use crate::Error;

pub(crate) const KEYS: u8 = 1;
pub(crate) const TABLE: u8 = 2;
pub(crate) const ROW: u8 = 3;
pub(crate) const TABLE_END: u8 = 4;
pub(crate) const END: u8 = 5;

const NULL: u8 = 0;
const INT: u8 = 1;
const TEXT: u8 = 2;
const BYTES: u8 = 3;

/// No cell is larger; chunks of content, the largest there are, have a megabyte.
const CELL_MAX: u32 = 256 << 20;
const NAME_MAX: u32 = 256;
pub(crate) const COLUMNS_MAX: u32 = 1024;

pub(crate) fn put_length(into: &mut Vec<u8>, length: usize) -> Result<(), Error> {
    let length = u32::try_from(length).ok().filter(|length| *length <= CELL_MAX);
    let length = length.ok_or_else(|| Error::Misuse("a cell is too large".to_owned()))?;
    into.extend(length.to_le_bytes());
    Ok(())
}

pub(crate) fn put_text(into: &mut Vec<u8>, text: &str) -> Result<(), Error> {
    put_length(into, text.len())?;
    into.extend(text.as_bytes());
    Ok(())
}

fn put_cell(into: &mut Vec<u8>, cell: &Cell) -> Result<(), Error> {
    match cell {
        Cell::Null => into.push(NULL),
        Cell::Int(n) => {
            into.push(INT);
            into.extend(n.to_le_bytes());
        }
        Cell::Text(text) => {
            into.push(TEXT);
            put_text(into, text)?;
        }
        Cell::Bytes(bytes) => {
            into.push(BYTES);
            put_length(into, bytes.len())?;
            into.extend(bytes);
        }
    }
    Ok(())
}

/// The digest of a table, row by row. The same for the same rows, whatever they are kept in.
pub struct TableHasher {
    name: String,
    rows: u64,
    hasher: blake3::Hasher,
    row: Vec<u8>,
}

impl TableHasher {
    pub fn new(shape: &TableShape) -> Result<TableHasher, Error> {
        let mut hasher = blake3::Hasher::new_derive_key("hostler.backup-table.v1");
        let mut text = Vec::new();
        put_shape(&mut text, shape)?;
        hasher.update(&text);
        Ok(TableHasher { name: shape.name.clone(), rows: 0, hasher, row: Vec::new() })
    }

    pub fn row(&mut self, cells: &[Cell]) -> Result<(), Error> {
        self.encode(cells).map(drop)
    }

    /// The same; gives the row as it is written.
    pub(crate) fn encode(&mut self, cells: &[Cell]) -> Result<&[u8], Error> {
        self.row.clear();
        for cell in cells {
            put_cell(&mut self.row, cell)?;
        }
        self.hasher.update(&self.row);
        self.rows += 1;
        Ok(&self.row)
    }

    pub fn finish(self) -> TableSum {
        let digest = Digest::from_bytes(*self.hasher.finalize().as_bytes());
        TableSum { name: self.name, rows: self.rows, digest }
    }
}

/// The digest of all tables together.
pub(crate) fn whole_digest(tables: &[TableSum]) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("hostler.backup-whole.v1");
    for table in tables {
        hasher.update(table.name.as_bytes()).update(&[0]);
        hasher.update(&table.rows.to_le_bytes()).update(table.digest.bytes());
    }
    Digest::from_bytes(*hasher.finalize().as_bytes())
}

pub(crate) fn put_shape(into: &mut Vec<u8>, shape: &TableShape) -> Result<(), Error> {
    put_text(into, &shape.name)?;
    put_length(into, shape.columns.len())?;
    for column in &shape.columns {
        put_text(into, &column.name)?;
        put_text(into, column.kind.label())?;
    }
    put_length(into, shape.key.len())?;
    for name in &shape.key {
        put_text(into, name)?;
    }
    Ok(())
}

pub(crate) fn put_sum(into: &mut Vec<u8>, rows: u64, digest: &Digest) {
    into.extend(rows.to_le_bytes());
    into.extend(digest.bytes());
}

/// Reads the parts of records.
pub(crate) struct Parts<R>(pub(crate) R);

impl<R: Read> Parts<R> {
    fn fixed<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).map_err(Error::from_io)?;
        Ok(bytes)
    }

    /// `None` at the end.
    pub(crate) fn tag(&mut self) -> Result<Option<u8>, Error> {
        let mut tag = [0];
        match self.0.read(&mut tag).map_err(Error::from_io)? {
            0 => Ok(None),
            _ => Ok(Some(tag[0])),
        }
    }

    pub(crate) fn length(&mut self, most: u32) -> Result<u32, Error> {
        let length = u32::from_le_bytes(self.fixed()?);
        match length <= most {
            true => Ok(length),
            false => Err(Error::damaged(format!("inside: {length} is too much"))),
        }
    }

    fn bytes(&mut self, most: u32) -> Result<Vec<u8>, Error> {
        let length = self.length(most)?;
        let mut bytes = Vec::new();
        let read = (&mut self.0).take(u64::from(length)).read_to_end(&mut bytes);
        match read.map_err(Error::from_io)? == length as usize {
            true => Ok(bytes),
            false => Err(Error::Truncated),
        }
    }

    fn string(&mut self, most: u32) -> Result<String, Error> {
        let bytes = self.bytes(most)?;
        String::from_utf8(bytes).map_err(|_| Error::damaged("inside: text is no text"))
    }

    pub(crate) fn name(&mut self) -> Result<String, Error> {
        self.string(NAME_MAX)
    }

    fn cell(&mut self) -> Result<Cell, Error> {
        let [tag] = self.fixed()?;
        Ok(match tag {
            NULL => Cell::Null,
            INT => Cell::Int(i64::from_le_bytes(self.fixed()?)),
            TEXT => Cell::Text(self.string(CELL_MAX)?),
            BYTES => Cell::Bytes(self.bytes(CELL_MAX)?),
            other => return Err(Error::damaged(format!("inside: there is no cell {other}"))),
        })
    }

    pub(crate) fn row(&mut self, shape: &TableShape) -> Result<Vec<Cell>, Error> {
        let mut cells = Vec::with_capacity(shape.columns.len());
        for column in &shape.columns {
            let cell = self.cell()?;
            if !column.kind.holds(&cell) {
                let place = format!("inside: {}.{} holds something else", shape.name, column.name);
                return Err(Error::damaged(place));
            }
            cells.push(cell);
        }
        Ok(cells)
    }

    pub(crate) fn shape(&mut self) -> Result<TableShape, Error> {
        let name = self.name()?;
        let mut columns = Vec::new();
        for _ in 0..self.length(COLUMNS_MAX)? {
            let name = self.name()?;
            let kind: ColumnKind = self
                .name()?
                .parse()
                .map_err(|_| Error::damaged("inside: a column is of no known kind"))?;
            columns.push(ColumnShape { name, kind });
        }
        let mut key = Vec::new();
        for _ in 0..self.length(COLUMNS_MAX)? {
            key.push(self.name()?);
        }
        Ok(TableShape { name, columns, key })
    }

    pub(crate) fn sum(&mut self) -> Result<(u64, Digest), Error> {
        let rows = u64::from_le_bytes(self.fixed()?);
        Ok((rows, Digest::from_bytes(self.fixed()?)))
    }
}

pub(crate) fn write_all(into: &mut impl Write, bytes: &[u8]) -> Result<(), Error> {
    into.write_all(bytes).map_err(Error::from_io)
}
