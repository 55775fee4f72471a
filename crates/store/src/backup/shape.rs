//! What tables there are, as the database itself says.

use hostler_model::backup::{Cell, ColumnKind, ColumnShape, TableShape, parents_first};

use crate::value::{Row, Value, params};
use crate::{Conn, Dialect, Error};

/// How far migrations are; the version is in the head of a backup.
const PROGRESS: &str = "schema_version";

/// A table of this database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTable {
    pub shape: TableShape,
    /// Which columns are booleans to this database.
    flags: Vec<bool>,
}

const SQLITE_TABLES: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
const POSTGRES_TABLES: &str = "SELECT table_name::TEXT FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY table_name";
/// Name, type and place in the key, 0 where it is not in it.
const SQLITE_COLUMNS: &str =
    "SELECT name, lower(type), pk FROM pragma_table_info($1) ORDER BY name";
const POSTGRES_COLUMNS: &str = "SELECT c.column_name::TEXT, c.data_type::TEXT, COALESCE(k.ordinal_position, 0)::BIGINT FROM information_schema.columns c LEFT JOIN information_schema.table_constraints t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.constraint_type = 'PRIMARY KEY' LEFT JOIN information_schema.key_column_usage k ON k.constraint_schema = t.constraint_schema AND k.constraint_name = t.constraint_name AND k.table_name = t.table_name AND k.column_name = c.column_name WHERE c.table_schema = current_schema() AND c.table_name = $1 ORDER BY c.column_name::TEXT COLLATE \"C\"";
const SQLITE_PARENTS: &str = "SELECT DISTINCT \"table\" FROM pragma_foreign_key_list($1)";
const POSTGRES_PARENTS: &str = "SELECT DISTINCT p.relname::TEXT FROM pg_constraint f JOIN pg_class c ON c.oid = f.conrelid JOIN pg_class p ON p.oid = f.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE f.contype = 'f' AND n.nspname = current_schema() AND c.relname = $1";

impl Conn {
    /// Every table but the note of migrations; each after those that it refers to.
    pub async fn stored_tables(&mut self) -> Result<Vec<StoredTable>, Error> {
        let (tables, parents) = match self.dialect() {
            Dialect::Sqlite => (SQLITE_TABLES, SQLITE_PARENTS),
            Dialect::Postgres => (POSTGRES_TABLES, POSTGRES_PARENTS),
        };
        let mut known = Vec::new();
        for name in self.names(tables, Vec::new()).await? {
            if name != PROGRESS {
                let parents = self.names(parents, params![&name]).await?;
                known.push((name, parents));
            }
        }
        let order = parents_first(&known)
            .ok_or_else(|| Error::corrupt("tables that refer to each other in a circle"))?;
        let mut tables = Vec::with_capacity(order.len());
        for name in order {
            tables.push(self.stored_table(name).await?);
        }
        Ok(tables)
    }

    async fn names(&mut self, sql: &'static str, params: Vec<Value>) -> Result<Vec<String>, Error> {
        let rows = self.query(sql, params).await?;
        rows.iter().map(|row| row.columns("schema").text()).collect()
    }

    async fn stored_table(&mut self, name: String) -> Result<StoredTable, Error> {
        let sql = match self.dialect() {
            Dialect::Sqlite => SQLITE_COLUMNS,
            Dialect::Postgres => POSTGRES_COLUMNS,
        };
        let (mut columns, mut flags, mut key) = (Vec::new(), Vec::new(), Vec::new());
        for row in self.query(sql, params![&name]).await? {
            let mut cells = row.columns("schema");
            let (column, kind, place) = (cells.text()?, cells.text()?, cells.int()?);
            let (kind, is_flag) = match kind.as_str() {
                "integer" | "bigint" => (ColumnKind::Int, false),
                "boolean" => (ColumnKind::Int, true),
                "text" => (ColumnKind::Text, false),
                "blob" | "bytea" => (ColumnKind::Bytes, false),
                other => {
                    let what = format!("column {name}.{column} of type {other}");
                    return Err(Error::corrupt(what));
                }
            };
            if place > 0 {
                key.push((place, column.clone()));
            }
            columns.push(ColumnShape { name: column, kind });
            flags.push(is_flag);
        }
        key.sort();
        let key: Vec<String> = key.into_iter().map(|(_, column)| column).collect();
        match key.is_empty() {
            false => Ok(StoredTable { shape: TableShape { name, columns, key }, flags }),
            true => Err(Error::corrupt(format!("table {name} without a key"))),
        }
    }
}

/// Which rows of a table hold content that can be made or pushed again: images, and what tasks left. Files
/// stay, because workflows and modules are such. Of what stays, all its parts do.
fn without_content(table: &str) -> &'static str {
    match table {
        "blob" => " WHERE kind = 'file' OR (kind = 'backup' AND scope <> 'backup:server')",
        "blob_chunk" => {
            " WHERE EXISTS (SELECT 1 FROM blob b WHERE b.scope = blob_chunk.scope AND b.digest = blob_chunk.blob AND (b.kind = 'file' OR (b.kind = 'backup' AND b.scope <> 'backup:server')))"
        }
        "blob_use" => {
            " WHERE EXISTS (SELECT 1 FROM blob b WHERE b.scope = blob_use.scope AND b.digest = blob_use.digest AND (b.kind = 'file' OR (b.kind = 'backup' AND b.scope <> 'backup:server')))"
        }
        "node_backup" => " WHERE store <> 'server'",
        "chunk" => {
            " WHERE EXISTS (SELECT 1 FROM blob_chunk c JOIN blob b ON b.scope = c.scope AND b.digest = c.blob WHERE c.scope = chunk.scope AND c.digest = chunk.digest AND (b.kind = 'file' OR (b.kind = 'backup' AND b.scope <> 'backup:server')))"
        }
        _ => "",
    }
}

impl StoredTable {
    pub(super) fn select(&self, has_content: bool) -> String {
        let TableShape { name, columns, key } = &self.shape;
        let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let filter = if has_content { "" } else { without_content(name) };
        format!(
            "SELECT \"{}\" FROM \"{name}\"{filter} ORDER BY \"{}\"",
            columns.join("\", \""),
            key.join("\", \"")
        )
    }

    pub(super) fn insert(&self) -> String {
        let TableShape { name, columns, .. } = &self.shape;
        let columns: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        format!("INSERT INTO \"{name}\" (\"{}\")", columns.join("\", \""))
    }

    pub(super) fn cells(&self, row: &Row) -> Result<Vec<Cell>, Error> {
        let mut columns = row.columns("backup");
        let mut cells = Vec::with_capacity(self.flags.len());
        for (column, is_flag) in self.shape.columns.iter().zip(&self.flags) {
            cells.push(match (column.kind, is_flag) {
                (ColumnKind::Int, false) => columns.opt_int()?.map_or(Cell::Null, Cell::Int),
                (ColumnKind::Int, true) => {
                    columns.opt_flag()?.map_or(Cell::Null, |flag| Cell::Int(i64::from(flag)))
                }
                (ColumnKind::Text, _) => columns.opt_text()?.map_or(Cell::Null, Cell::Text),
                (ColumnKind::Bytes, _) => columns.opt_blob()?.map_or(Cell::Null, Cell::Bytes),
            });
        }
        Ok(cells)
    }

    /// A row as parameters; `None` where it does not fit.
    pub(super) fn values(&self, row: Vec<Cell>) -> Option<Vec<Value>> {
        if row.len() != self.flags.len() {
            return None;
        }
        let columns = self.shape.columns.iter().zip(&self.flags);
        let value = |(cell, (column, is_flag)): (Cell, (&ColumnShape, &bool))| {
            Some(match (column.kind, is_flag, cell) {
                (ColumnKind::Int, true, Cell::Null) => Value::Bool(None),
                (ColumnKind::Int, true, Cell::Int(n @ (0 | 1))) => Value::Bool(Some(n == 1)),
                (ColumnKind::Int, false, Cell::Null) => Value::Int(None),
                (ColumnKind::Int, false, Cell::Int(n)) => Value::Int(Some(n)),
                (ColumnKind::Text, _, Cell::Null) => Value::Text(None),
                (ColumnKind::Text, _, Cell::Text(text)) => Value::Text(Some(text)),
                (ColumnKind::Bytes, _, Cell::Null) => Value::Blob(None),
                (ColumnKind::Bytes, _, Cell::Bytes(bytes)) => Value::Blob(Some(bytes)),
                _ => return None,
            })
        };
        row.into_iter().zip(columns).map(value).collect()
    }
}
