//! Rows of PostgreSQL, as they come: as texts without values beside the statement, as bytes with.

use jiff::civil::{Date, DateTime, Time};
use jiff::{SignedDuration, ToSpan};
use mlua::{Lua, Table, Value};
use sqlx::postgres::{PgConnectOptions, PgRow, PgSslMode, PgValueFormat};
use sqlx::{Column, Row, TypeInfo, ValueRef};

use super::link::number;

/// Options of `host=.. port=.. user=.. password=.. dbname=.. sslmode=..`.
pub(super) fn options(dsn: &str) -> Result<PgConnectOptions, String> {
    let mut options = PgConnectOptions::new();
    for word in dsn.split_whitespace() {
        let Some((name, value)) = word.split_once('=') else {
            return Err(
                "the address cannot be read; write it as postgres://user:password@host:5432/database"
                    .to_owned(),
            );
        };
        let value = value.trim_matches('\'');
        options = match name {
            "host" => options.host(value),
            "port" => options.port(value.parse().map_err(|_| format!("`{value}` is no port"))?),
            "user" => options.username(value),
            "password" => options.password(value),
            "dbname" | "database" => options.database(value),
            "sslmode" => {
                let mode: PgSslMode =
                    value.parse().map_err(|_| format!("there is no sslmode `{value}`"))?;
                options.ssl_mode(mode)
            }
            _ => options,
        };
    }
    Ok(options)
}

pub(super) fn row(lua: &Lua, row: &PgRow) -> Result<Table, String> {
    let told = |error: mlua::Error| error.to_string();
    let table = lua.create_table().map_err(told)?;
    for (i, column) in row.columns().iter().enumerate() {
        let raw = row.try_get_raw(i).map_err(|error| error.to_string())?;
        if raw.is_null() {
            continue;
        }
        let kind = raw.type_info().into_owned();
        let bytes = raw.as_bytes().map_err(|error| error.to_string())?;
        let plain = match raw.format() {
            PgValueFormat::Text => of_text(kind.name(), bytes),
            PgValueFormat::Binary => of_bytes(kind.name(), bytes),
        };
        let plain = plain.ok_or_else(|| {
            format!(
                "the column `{0}` is of the type {1}, which cannot be read; ask for `{0}::text`",
                column.name(),
                kind.name()
            )
        })?;
        table.raw_set(column.name(), plain.value(lua).map_err(told)?).map_err(told)?;
    }
    Ok(table)
}

/// A value before Lua has it.
#[derive(Debug, PartialEq)]
enum Plain {
    Bool(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Plain {
    fn value(self, lua: &Lua) -> mlua::Result<Value> {
        Ok(match self {
            Plain::Bool(b) => Value::Boolean(b),
            Plain::Whole(n) => number(lua, n)?,
            Plain::Real(n) => Value::Number(n),
            Plain::Text(text) => Value::String(lua.create_string(text)?),
            Plain::Bytes(bytes) => Value::String(lua.create_string(bytes)?),
        })
    }
}

fn of_text(kind: &str, bytes: &[u8]) -> Option<Plain> {
    let text = std::str::from_utf8(bytes).ok()?;
    Some(match kind {
        "BOOL" => Plain::Bool(text == "t"),
        "INT2" | "INT4" | "INT8" | "OID" => Plain::Whole(text.parse().ok()?),
        "FLOAT4" | "FLOAT8" => Plain::Real(text.parse().ok()?),
        "BYTEA" => Plain::Bytes(unhex(text.strip_prefix("\\x")?)?),
        _ => Plain::Text(text.to_owned()),
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? * 16 + digit(*low)?),
            _ => None,
        })
        .collect()
}

fn of_bytes(kind: &str, bytes: &[u8]) -> Option<Plain> {
    let text = |bytes: &[u8]| Some(Plain::Text(String::from_utf8_lossy(bytes).into_owned()));
    match kind {
        "BOOL" => Some(Plain::Bool(bytes != [0])),
        "INT2" => Some(Plain::Whole(i16::from_be_bytes(bytes.try_into().ok()?).into())),
        "INT4" => Some(Plain::Whole(i32::from_be_bytes(bytes.try_into().ok()?).into())),
        "INT8" => Some(Plain::Whole(i64::from_be_bytes(bytes.try_into().ok()?))),
        "OID" => Some(Plain::Whole(u32::from_be_bytes(bytes.try_into().ok()?).into())),
        "FLOAT4" => Some(Plain::Real(f32::from_be_bytes(bytes.try_into().ok()?).into())),
        "FLOAT8" => Some(Plain::Real(f64::from_be_bytes(bytes.try_into().ok()?))),
        "BYTEA" => Some(Plain::Bytes(bytes.to_vec())),
        "JSONB" => text(bytes.strip_prefix(&[1])?),
        "TEXT" | "VARCHAR" | "CHAR" | "\"CHAR\"" | "NAME" | "JSON" | "XML" | "UNKNOWN"
        | "CITEXT" => text(bytes),
        "UUID" => Some(Plain::Text(uuid::Uuid::from_slice(bytes).ok()?.to_string())),
        "NUMERIC" => Some(Plain::Text(numeric(bytes)?)),
        "DATE" => {
            let days = i32::from_be_bytes(bytes.try_into().ok()?);
            let date = Date::constant(2000, 1, 1).checked_add(days.days()).ok()?;
            Some(Plain::Text(date.to_string()))
        }
        "TIME" => {
            let span = SignedDuration::from_micros(i64::from_be_bytes(bytes.try_into().ok()?));
            let time = Time::midnight().checked_add(span).ok()?;
            Some(Plain::Text(time.to_string()))
        }
        "TIMESTAMP" | "TIMESTAMPTZ" => {
            let span = SignedDuration::from_micros(i64::from_be_bytes(bytes.try_into().ok()?));
            let when = DateTime::constant(2000, 1, 1, 0, 0, 0, 0).checked_add(span).ok()?;
            let zone = if kind == "TIMESTAMPTZ" { "+00" } else { "" };
            Some(Plain::Text(format!("{}{zone}", when.strftime("%Y-%m-%d %H:%M:%S%.f"))))
        }
        _ => None,
    }
}

/// A decimal number: groups of four digits, where the first stands, and how many digits follow the point.
fn numeric(bytes: &[u8]) -> Option<String> {
    let mut numbers = bytes.chunks_exact(2).map(|pair| i16::from_be_bytes([pair[0], pair[1]]));
    let count = usize::try_from(numbers.next()?).ok()?;
    let weight = i32::from(numbers.next()?);
    let sign = numbers.next()?.cast_unsigned();
    let scale = usize::try_from(numbers.next()?).ok()?;
    match sign {
        0xc000 => return Some("NaN".to_owned()),
        0xd000 => return Some("Infinity".to_owned()),
        0xf000 => return Some("-Infinity".to_owned()),
        _ => {}
    }
    let groups: Vec<i16> = numbers.take(count).collect();
    if groups.len() != count {
        return None;
    }
    let group = |place: i32| {
        let i = usize::try_from(weight - place).ok();
        i.and_then(|i| groups.get(i)).copied().unwrap_or(0)
    };
    let whole: String =
        (0..=weight.max(0)).rev().map(|place| format!("{:04}", group(place))).collect();
    let whole = whole.trim_start_matches('0');
    let mut text = String::new();
    if sign == 0x4000 {
        text.push('-');
    }
    text.push_str(if whole.is_empty() { "0" } else { whole });
    if scale > 0 {
        let places = i32::try_from(scale.div_ceil(4)).ok()?;
        let digits: String = (1..=places).map(|place| format!("{:04}", group(-place))).collect();
        text.push('.');
        text.push_str(&digits[..scale]);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(weight: i16, sign: u16, scale: i16, groups: &[i16]) -> Vec<u8> {
        let count = i16::try_from(groups.len()).unwrap();
        [count, weight, sign.cast_signed(), scale]
            .iter()
            .chain(groups)
            .flat_map(|n| n.to_be_bytes())
            .collect()
    }

    #[test]
    fn decimal_numbers_are_read_exactly() {
        for (bytes, expected) in [
            (packed(0, 0, 0, &[]), "0"),
            (packed(0, 0, 2, &[12, 3400]), "12.34"),
            (packed(1, 0x4000, 0, &[1, 2]), "-10002"),
            (packed(-1, 0, 4, &[1]), "0.0001"),
            (packed(-2, 0, 6, &[100]), "0.000001"),
            (packed(2, 0, 0, &[7]), "700000000"),
            (packed(0, 0xc000, 0, &[]), "NaN"),
        ] {
            assert_eq!(numeric(&bytes).as_deref(), Some(expected));
        }
        assert_eq!(numeric(&[0, 1, 0, 0]), None);
    }

    #[test]
    fn values_are_the_same_as_texts_and_as_bytes() {
        for (kind, text, bytes) in [
            ("BOOL", "t", vec![1]),
            ("INT4", "-2", (-2_i32).to_be_bytes().to_vec()),
            ("INT8", "7", 7_i64.to_be_bytes().to_vec()),
            ("FLOAT8", "1.5", 1.5_f64.to_be_bytes().to_vec()),
            ("BYTEA", "\\x00ff", vec![0, 255]),
            ("DATE", "2000-01-03", 2_i32.to_be_bytes().to_vec()),
            ("TIMESTAMP", "2000-01-01 00:00:01.5", 1_500_000_i64.to_be_bytes().to_vec()),
            ("TIMESTAMPTZ", "1999-12-31 23:59:59+00", (-1_000_000_i64).to_be_bytes().to_vec()),
            ("TIME", "00:01:00", 60_000_000_i64.to_be_bytes().to_vec()),
            ("JSONB", "{}", vec![1, b'{', b'}']),
        ] {
            assert_eq!(of_text(kind, text.as_bytes()), of_bytes(kind, &bytes), "{kind}");
            assert!(of_bytes(kind, &bytes).is_some(), "{kind}");
        }
        assert_eq!(of_bytes("POINT", &[0]), None);
        assert_eq!(of_bytes("INT4", &[0]), None);
    }
}
