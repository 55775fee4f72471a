//! Rows of SQLite.

use mlua::{Lua, Table, Value};
use sqlx::sqlite::SqliteRow;
use sqlx::{Column, Decode, Row, Sqlite, TypeInfo, ValueRef};

use super::link::number;

pub(super) fn row(lua: &Lua, row: &SqliteRow) -> Result<Table, String> {
    let told = |error: mlua::Error| error.to_string();
    let table = lua.create_table().map_err(told)?;
    for (i, column) in row.columns().iter().enumerate() {
        let value = value(lua, row, i, column.type_info().name() == "BOOLEAN")
            .map_err(|error| format!("the column `{}`: {error}", column.name()))?;
        table.raw_set(column.name(), value).map_err(told)?;
    }
    Ok(table)
}

type Wrong = Box<dyn std::error::Error + Send + Sync>;

fn value(lua: &Lua, row: &SqliteRow, i: usize, is_bool: bool) -> Result<Value, Wrong> {
    let raw = row.try_get_raw(i)?;
    if raw.is_null() {
        return Ok(Value::Nil);
    }
    let kind = raw.type_info().into_owned();
    let value = match kind.name() {
        "BOOLEAN" | "INTEGER" if is_bool => {
            Ok(Value::Boolean(<bool as Decode<'_, Sqlite>>::decode(raw)?))
        }
        "INTEGER" => number(lua, <i64 as Decode<'_, Sqlite>>::decode(raw)?),
        "REAL" => Ok(Value::Number(<f64 as Decode<'_, Sqlite>>::decode(raw)?)),
        _ => lua.create_string(<&[u8] as Decode<'_, Sqlite>>::decode(raw)?).map(Value::String),
    };
    value.map_err(|error| error.to_string().into())
}
