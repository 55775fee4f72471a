//! A connection to a database of either kind.

use std::str::FromStr;
use std::time::Duration;

use futures::TryStreamExt;
use mlua::{Lua, Result, Table, Value};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor};

use super::{postgres, sqlite};
use crate::modules::acting;

/// How long is waited for a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most rows that are taken.
const MOST: usize = 100_000;

/// A value that stands beside a statement.
#[derive(Clone, Debug)]
pub(super) enum Param {
    Nil,
    Bool(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The values of a list; with `n` there may be nils in it.
pub(super) fn params(list: &Table) -> Result<Vec<Param>> {
    let length = match list.raw_get::<Option<usize>>("n")? {
        Some(length) => length.min(65_535),
        None => list.raw_len(),
    };
    (1..=length)
        .map(|i| {
            Ok(match list.raw_get::<Value>(i)? {
                Value::Nil => Param::Nil,
                Value::Boolean(b) => Param::Bool(b),
                Value::Integer(n) => Param::Whole(n),
                Value::Number(n) => real_or_whole(n),
                Value::String(text) => {
                    let bytes = text.as_bytes().to_vec();
                    match String::from_utf8(bytes) {
                        Ok(text) => Param::Text(text),
                        Err(error) => Param::Bytes(error.into_bytes()),
                    }
                }
                other => {
                    return Err(mlua::Error::runtime(format!(
                        "value {i} of the statement is a {}; give it a text, a number or a boolean",
                        other.type_name()
                    )));
                }
            })
        })
        .collect()
}

pub(super) fn optional(list: Option<Table>) -> Result<Vec<Param>> {
    list.map_or_else(|| Ok(Vec::new()), |list| params(&list))
}

#[expect(clippy::cast_possible_truncation, reason = "whole numbers below 2^53 are exact")]
fn real_or_whole(n: f64) -> Param {
    if n.fract() == 0.0 && n.abs() < 9_007_199_254_740_992.0 {
        Param::Whole(n as i64)
    } else {
        Param::Real(n)
    }
}

/// A whole number for Lua: beyond what its numbers can hold, as a text.
pub(super) fn number(lua: &Lua, n: i64) -> Result<Value> {
    if n.unsigned_abs() <= 1 << 53 {
        #[expect(clippy::cast_precision_loss, reason = "it was just looked at")]
        return Ok(Value::Number(n as f64));
    }
    Ok(Value::String(lua.create_string(n.to_string())?))
}

/// What a statement did.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ran {
    pub rows: u64,
    pub id: Option<i64>,
}

pub(super) enum Link {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

fn told(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.to_string(),
        error => format!("the database: {error}"),
    }
}

macro_rules! bound {
    ($sql:expr, $params:expr) => {
        $params.into_iter().fold(sqlx::query(AssertSqlSafe($sql)), |query, param| match param {
            Param::Nil => query.bind(None::<String>),
            Param::Bool(b) => query.bind(b),
            Param::Whole(n) => query.bind(n),
            Param::Real(n) => query.bind(n),
            Param::Text(text) => query.bind(text),
            Param::Bytes(bytes) => query.bind(bytes),
        })
    };
}

impl Link {
    pub async fn open(driver: &str, dsn: &str) -> std::result::Result<Link, String> {
        let opening = async {
            match driver {
                "sqlite" | "sqlite3" => open_sqlite(dsn).await,
                "postgres" | "postgresql" | "pgx" => open_postgres(dsn).await,
                other => {
                    Err(format!("there is no driver `{other}`; use \"sqlite3\" or \"postgres\""))
                }
            }
        };
        match tokio::time::timeout(PATIENCE, opening).await {
            Ok(opened) => opened,
            Err(_) => Err("the database does not answer in time".to_owned()),
        }
    }

    pub async fn ping(&mut self) -> std::result::Result<(), String> {
        match self {
            Link::Sqlite(link) => link.ping().await,
            Link::Postgres(link) => link.ping().await,
        }
        .map_err(|error| told(&error))
    }

    pub async fn exec(
        &mut self,
        sql: &str,
        params: Vec<Param>,
    ) -> std::result::Result<Ran, String> {
        let sql = sql.to_owned();
        match self {
            Link::Sqlite(link) => {
                let ran = if params.is_empty() {
                    link.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await
                } else {
                    bound!(sql, params).execute(&mut **link).await
                };
                ran.map(|ran| Ran { rows: ran.rows_affected(), id: Some(ran.last_insert_rowid()) })
            }
            Link::Postgres(link) => {
                let ran = if params.is_empty() {
                    link.execute(sqlx::raw_sql(AssertSqlSafe(sql))).await
                } else {
                    bound!(sql, params).execute(&mut **link).await
                };
                ran.map(|ran| Ran { rows: ran.rows_affected(), id: None })
            }
        }
        .map_err(|error| told(&error))
    }

    pub async fn query(
        &mut self,
        lua: &Lua,
        sql: &str,
        params: Vec<Param>,
    ) -> std::result::Result<Table, String> {
        let sql = sql.to_owned();
        let table = lua.create_table().map_err(|error| error.to_string())?;
        let mut count = 0;
        let mut add = |row: std::result::Result<Table, String>| {
            count += 1;
            if count > MOST {
                return Err(format!(
                    "the statement gives more than {MOST} rows; ask for fewer with LIMIT"
                ));
            }
            table.push(row?).map_err(|error| error.to_string())
        };
        match self {
            Link::Sqlite(link) => {
                let mut rows = bound!(sql, params).fetch(&mut **link);
                while let Some(row) = rows.try_next().await.map_err(|error| told(&error))? {
                    add(sqlite::row(lua, &row))?;
                }
            }
            Link::Postgres(link) if params.is_empty() => {
                let mut rows = link.fetch(sqlx::raw_sql(AssertSqlSafe(sql)));
                while let Some(row) = rows.try_next().await.map_err(|error| told(&error))? {
                    add(postgres::row(lua, &row))?;
                }
            }
            Link::Postgres(link) => {
                let mut rows = bound!(sql, params).fetch(&mut **link);
                while let Some(row) = rows.try_next().await.map_err(|error| told(&error))? {
                    add(postgres::row(lua, &row))?;
                }
            }
        }
        Ok(table)
    }
}

async fn open_sqlite(dsn: &str) -> std::result::Result<Link, String> {
    let step = acting();
    let bare = dsn.trim_start_matches("sqlite://").trim_start_matches("file:");
    let is_memory = bare.starts_with(":memory:") || bare.is_empty();
    let options = if is_memory {
        SqliteConnectOptions::from_str("sqlite::memory:").map_err(|error| told(&error))?
    } else {
        let path = bare.split_once('?').map_or(bare, |(path, _)| path);
        SqliteConnectOptions::new().filename(step.path(path)).create_if_missing(!step.check)
    };
    let link = options
        .read_only(step.check && !is_memory)
        .busy_timeout(Duration::from_secs(5))
        .disable_statement_logging()
        .connect()
        .await
        .map_err(|error| told(&error))?;
    Ok(Link::Sqlite(Box::new(link)))
}

async fn open_postgres(dsn: &str) -> std::result::Result<Link, String> {
    let options = if dsn.contains("://") {
        PgConnectOptions::from_str(dsn).map_err(|_| "the address cannot be read; write it as postgres://user:password@host:5432/database".to_owned())?
    } else {
        postgres::options(dsn)?
    };
    let mut link = options
        .application_name("hostler step")
        .disable_statement_logging()
        .connect()
        .await
        .map_err(|error| told(&error))?;
    if acting().check {
        link.execute("SET default_transaction_read_only = on")
            .await
            .map_err(|error| told(&error))?;
    }
    Ok(Link::Postgres(Box::new(link)))
}
