//! Backups: rows in a form that knows no database.
//!
//! A table is its name, its columns in the order of their names, and which of them are its key; a cell is
//! nothing, a number, text or bytes. SQLite has no booleans, so what is one in PostgreSQL is 0 or 1 here.
//! The same rows are the same cells in the same order wherever they are read from, so digests of them can
//! be compared.

use crate::{BackupId, Digest, Timestamp};

/// What a cell holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Cell {
    /// How much it holds, about.
    pub fn size(&self) -> usize {
        match self {
            Cell::Null => 1,
            Cell::Int(_) => 8,
            Cell::Text(text) => text.len(),
            Cell::Bytes(bytes) => bytes.len(),
        }
    }
}

crate::labels! {
    /// What the cells of a column are, where they are not null.
    pub enum ColumnKind ("column kind") {
        Int = "int",
        Text = "text",
        Bytes = "bytes",
    }
}

impl ColumnKind {
    pub const fn holds(self, cell: &Cell) -> bool {
        matches!(
            (self, cell),
            (_, Cell::Null)
                | (ColumnKind::Int, Cell::Int(_))
                | (ColumnKind::Text, Cell::Text(_))
                | (ColumnKind::Bytes, Cell::Bytes(_))
        )
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnShape {
    pub name: String,
    pub kind: ColumnKind,
}

/// A table without its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableShape {
    pub name: String,
    /// In the order of their names.
    pub columns: Vec<ColumnShape>,
    /// The columns of its primary key, in its order: rows come in the order of these.
    pub key: Vec<String>,
}

/// How many rows a table has, and what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSum {
    pub name: String,
    pub rows: u64,
    pub digest: Digest,
}

/// A backup that a server made by itself, or tried to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupAttempt {
    pub id: BackupId,
    /// The server that did it; the file is on its machine.
    pub server_name: String,
    pub file: String,
    pub size: u64,
    /// Of all tables together, once the file is whole and was read back.
    pub digest: Option<Digest>,
    /// Why there is no file.
    pub problem: Option<String>,
    pub time_created: Timestamp,
    /// Absent while it is under way, or when its server died over it.
    pub time_ended: Option<Timestamp>,
}

/// Puts tables in an order in which each comes after those that it refers to; names decide where that
/// leaves a choice. `None` when they refer to each other in a circle.
pub fn parents_first(tables: &[(String, Vec<String>)]) -> Option<Vec<String>> {
    let mut left: std::collections::BTreeMap<&str, &[String]> =
        tables.iter().map(|(name, parents)| (name.as_str(), parents.as_slice())).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |name: &str, parents: &[String]| {
            parents.iter().all(|parent| parent == name || !left.contains_key(parent.as_str()))
        };
        let free = left.iter().find(|(name, parents)| is_free(name, parents));
        let (name, _) = free?;
        let name = *name;
        left.remove(name);
        order.push(name.to_owned());
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parents_come_first_and_circles_are_refused() {
        let of = |list: &[(&str, &[&str])]| {
            let tables: Vec<_> = list
                .iter()
                .map(|(n, p)| ((*n).to_owned(), p.iter().map(|p| (*p).to_owned()).collect()))
                .collect();
            parents_first(&tables)
        };
        let order = of(&[("a", &["z"]), ("b", &[]), ("z", &["m"]), ("m", &[])]).unwrap();
        assert_eq!(order, ["b", "m", "z", "a"]);
        assert_eq!(of(&[("tree", &["tree"])]).unwrap(), ["tree"]);
        assert_eq!(of(&[("a", &["elsewhere"])]).unwrap(), ["a"]);
        assert_eq!(of(&[("a", &["b"]), ("b", &["a"])]), None);
    }

    #[test]
    fn a_column_holds_its_kind_and_nothing() {
        assert!(ColumnKind::Int.holds(&Cell::Null) && ColumnKind::Int.holds(&Cell::Int(1)));
        assert!(!ColumnKind::Int.holds(&Cell::Text("1".into())));
        assert!(!ColumnKind::Text.holds(&Cell::Bytes(vec![1])));
    }
}
