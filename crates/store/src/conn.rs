//! The thin waist: one connection to either database, and the four functions everything else uses.
//!
//! [`Conn`] has what reads; [`Tx`] adds what writes, and [`Reader`] is a connection outside any
//! transaction. Both lead to the same `Conn`, so a query is written once. SQL text is written once as
//! well, in the subset that SQLite, PostgreSQL and CockroachDB share.
//!
//! A statement that failed spoils its transaction (PostgreSQL insists on it, and here SQLite behaves
//! the same): the connection remembers it, and `Store::tx` will not commit, whatever the closure
//! returns. A PostgreSQL connection that is dropped inside a transaction, or whose statement did not
//! answer in time, is closed instead of going back to the pool; the server rolls back by itself.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::time::Duration;

use futures::stream::BoxStream;
use futures::{StreamExt as _, TryStreamExt as _};
use sqlx::pool::PoolConnection;
use sqlx::{Arguments, AssertSqlSafe, Postgres, Sqlite};
use tokio::sync::OwnedMutexGuard;

use crate::value::{Column, Row, Value};
use crate::writer::Writer;
use crate::{Dialect, Error};

/// Rows per statement of a multi-row insert or update.
pub(crate) const CHUNK: usize = 100;

/// Statement text, and whether it is worth keeping prepared.
pub(crate) struct Sql {
    text: Cow<'static, str>,
    is_kept: bool,
}

impl From<&'static str> for Sql {
    fn from(text: &'static str) -> Sql {
        Sql { text: Cow::Borrowed(text), is_kept: true }
    }
}

impl From<String> for Sql {
    fn from(text: String) -> Sql {
        Sql { text: Cow::Owned(text), is_kept: true }
    }
}

impl Sql {
    fn after(self, before: &str) -> Sql {
        match before {
            "" => self,
            _ => Sql { text: Cow::Owned(format!("{before}{}", self.text)), ..self },
        }
    }

    /// Text that varies with the number of rows: only the common sizes stay prepared.
    pub(crate) fn for_rows(text: String, rows: usize) -> Sql {
        Sql { text: Cow::Owned(text), is_kept: rows == CHUNK || rows.is_power_of_two() }
    }
}

/// A PostgreSQL connection that only goes back to its pool when it is clean.
pub(crate) struct PgLink {
    conn: Option<PoolConnection<Postgres>>,
    is_in_transaction: bool,
    is_broken: bool,
    timeout: Duration,
}

impl PgLink {
    pub(crate) fn new(conn: PoolConnection<Postgres>, timeout: Duration) -> PgLink {
        PgLink { conn: Some(conn), is_in_transaction: false, is_broken: false, timeout }
    }

    async fn within<T>(
        timeout: Duration,
        is_broken: &mut bool,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, Error> {
        match tokio::time::timeout(timeout, work).await {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => {
                *is_broken |= !matches!(error, sqlx::Error::Database(_));
                Err(error.into())
            }
            Err(_) => {
                *is_broken = true;
                Err(Error::unavailable(format!("a statement did not answer within {timeout:?}")))
            }
        }
    }

    /// Runs a statement without parameters: `BEGIN`, `COMMIT`, a migration.
    pub(crate) async fn script(&mut self, text: Cow<'static, str>) -> Result<(), Error> {
        let conn = self.conn.as_deref_mut().expect("taken only by drop");
        let work = sqlx::raw_sql(AssertSqlSafe(text)).execute(conn);
        Self::within(self.timeout, &mut self.is_broken, work).await.map(drop)
    }

    pub(crate) async fn begin(&mut self) -> Result<(), Error> {
        self.is_in_transaction = true;
        self.script("BEGIN ISOLATION LEVEL SERIALIZABLE".into()).await
    }

    /// From now on everything is read as it is at one moment.
    pub(crate) async fn begin_snapshot(&mut self) -> Result<(), Error> {
        self.is_in_transaction = true;
        self.script("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".into()).await
    }

    pub(crate) async fn commit(&mut self) -> Result<(), Error> {
        let result = self.script("COMMIT".into()).await;
        // After an error the connection is closed on drop, unless the server said it rolled back.
        if matches!(&result, Ok(()) | Err(Error::Contended { .. })) {
            self.is_in_transaction = false;
        }
        result
    }

    pub(crate) async fn rollback(&mut self) {
        if !self.is_broken && self.script("ROLLBACK".into()).await.is_ok() {
            self.is_in_transaction = false;
        }
    }
}

impl Drop for PgLink {
    fn drop(&mut self) {
        if (self.is_in_transaction || self.is_broken)
            && let Some(conn) = self.conn.take()
        {
            drop(conn.detach());
        }
    }
}

pub(crate) enum Link {
    /// The one writing connection of SQLite, inside a savepoint.
    Writer(OwnedMutexGuard<Writer>),
    SqliteReader(PoolConnection<Sqlite>),
    /// One that left the pool, and is closed with whatever it has begun.
    SqliteApart(sqlx::SqliteConnection),
    Postgres(PgLink),
}

/// A connection: everything that only reads is a method of this.
pub struct Conn {
    link: Link,
    /// Of the first statement that failed.
    failure: Option<Error>,
}

/// A transaction: reads through [`Conn`], and writes. `'c` only says that the closure which got it
/// may borrow from where `Store::tx` was called.
pub struct Tx<'c> {
    conn: Conn,
    scope: PhantomData<&'c ()>,
}

/// A connection outside a transaction. Two queries on it may see different moments.
pub struct Reader {
    conn: Conn,
}

impl Deref for Tx<'_> {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        &self.conn
    }
}
impl DerefMut for Tx<'_> {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}
impl Deref for Reader {
    type Target = Conn;
    fn deref(&self) -> &Conn {
        &self.conn
    }
}
impl DerefMut for Reader {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}

impl Reader {
    pub(crate) fn new(link: Link) -> Reader {
        Reader { conn: Conn::new(link) }
    }
}

impl Tx<'_> {
    pub(crate) fn new(link: Link) -> Self {
        Tx { conn: Conn::new(link), scope: PhantomData }
    }

    pub(crate) fn into_parts(self) -> (Link, Option<Error>) {
        (self.conn.link, self.conn.failure)
    }

    /// Runs a whole file of statements (a migration).
    pub(crate) async fn script(&mut self, text: Cow<'static, str>) -> Result<(), Error> {
        let result = match &mut self.conn.link {
            Link::Writer(writer) => writer.script(text).await,
            Link::Postgres(link) => link.script(text).await,
            Link::SqliteReader(_) | Link::SqliteApart(_) => {
                Err(Error::unavailable("a reader cannot write"))
            }
        };
        self.conn.remember(result)
    }

    /// Inserts any number of rows with as few statements as fit. `head` ends before `VALUES`.
    pub(crate) async fn insert_many(
        &mut self,
        head: &str,
        rows: Vec<Vec<Value>>,
    ) -> Result<u64, Error> {
        self.insert_many_or(head, rows, "").await
    }

    /// The same; `tail` says what happens to rows that are there already.
    pub(crate) async fn insert_many_or(
        &mut self,
        head: &str,
        rows: Vec<Vec<Value>>,
        tail: &str,
    ) -> Result<u64, Error> {
        let mut rows = rows.into_iter();
        let mut inserted = 0;
        while let Some(count) = self.piece(rows.len()) {
            let chunk: Vec<Vec<Value>> = rows.by_ref().take(count).collect();
            let (values, params) = values_list(chunk, 0);
            let sql = self.in_order(format!("{head} VALUES {values} {tail}"), count);
            inserted += self.execute(sql, params).await?;
        }
        Ok(inserted)
    }
}

impl Tx<'_> {
    /// How many of the rows that are left go into the next statement; `None` at the end. SQLite is not
    /// far away, but slow to read a long statement that it has not seen: it gets pieces of few sizes,
    /// all of which stay prepared. To PostgreSQL as much as fits goes at once.
    fn piece(&self, left: usize) -> Option<usize> {
        let most = left.min(CHUNK);
        match self.dialect() {
            _ if most == 0 => None,
            Dialect::Sqlite => Some(1 << most.ilog2()),
            Dialect::Postgres => Some(most),
        }
    }

    /// Text whose parameters stand in the order of their numbers, each once. SQLite looks every
    /// numbered parameter up in a list, which costs the square of their number; in order they need
    /// no number there.
    fn in_order(&self, text: String, rows: usize) -> Sql {
        let text = match self.dialect() {
            Dialect::Postgres => text,
            Dialect::Sqlite => {
                let mut parts = text.split('$');
                let mut plain = parts.next().unwrap_or_default().to_owned();
                for part in parts {
                    plain.push('?');
                    plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
                }
                plain
            }
        };
        Sql::for_rows(text, rows)
    }

    /// Updates any number of rows with as few statements as fit. Each row of values begins with the
    /// id; `sets` and `condition` know them as `v.column1`, `v.column2` and so on. Returns how many
    /// rows were updated.
    pub(crate) async fn update_many(
        &mut self,
        table: &str,
        sets: &str,
        condition: &str,
        types: &[&str],
        rows: Vec<Vec<Value>>,
    ) -> Result<u64, Error> {
        let condition = format!("{table}.id = v.column1 AND {condition}");
        self.update_many_where(table, sets, &condition, types, rows).await
    }

    /// The same, where rows are found by something else than an id: the whole of it is in `condition`.
    pub(crate) async fn update_many_where(
        &mut self,
        table: &str,
        sets: &str,
        condition: &str,
        types: &[&str],
        rows: Vec<Vec<Value>>,
    ) -> Result<u64, Error> {
        let mut rows = rows.into_iter();
        let mut updated = 0;
        while let Some(count) = self.piece(rows.len()) {
            let chunk: Vec<Vec<Value>> = rows.by_ref().take(count).collect();
            let mut params = Vec::new();
            let mut values = Vec::with_capacity(count);
            for row in chunk {
                let cast = |(value, kind): (Value, &&str)| {
                    params.push(value);
                    format!("CAST(${} AS {kind})", params.len())
                };
                let casts: Vec<String> = row.into_iter().zip(types).map(cast).collect();
                values.push(format!("({})", casts.join(", ")));
            }
            let text = format!(
                "UPDATE {table} SET {sets} FROM (VALUES {}) AS v WHERE {condition}",
                values.join(", ")
            );
            let sql = self.in_order(text, count);
            updated += self.execute(sql, params).await?;
        }
        Ok(updated)
    }
}

/// Renders rows as `($1, $2), ($3, $4)`, with numbers that begin after `before`.
pub(crate) fn values_list(rows: Vec<Vec<Value>>, before: usize) -> (String, Vec<Value>) {
    use std::fmt::Write as _;
    let mut text = String::new();
    let mut params = Vec::new();
    for row in rows {
        text.push_str(if text.is_empty() { "(" } else { ", (" });
        for (i, value) in row.into_iter().enumerate() {
            params.push(value);
            let separator = if i == 0 { "" } else { ", " };
            write!(text, "{separator}${}", before + params.len())
                .expect("writing to a string cannot fail");
        }
        text.push(')');
    }
    (text, params)
}

impl Conn {
    pub(crate) fn new(link: Link) -> Conn {
        Conn { link, failure: None }
    }

    /// A statement without parameters, its rows one after the other as they come: however many there
    /// are, few are held. Each may take as long as a whole statement otherwise.
    pub(crate) fn stream(&mut self, sql: String) -> BoxStream<'_, Result<Row, Error>> {
        let sql = AssertSqlSafe(sql);
        let sqlite = |row: sqlx::Result<_>| row.map(Row::Sqlite).map_err(Error::from);
        match &mut self.link {
            Link::Writer(_) => {
                let error = Error::unavailable("rows are not streamed within a transaction");
                futures::stream::iter([Err(error)]).boxed()
            }
            Link::SqliteReader(conn) => sqlx::query(sql).fetch(&mut **conn).map(sqlite).boxed(),
            Link::SqliteApart(conn) => sqlx::query(sql).fetch(conn).map(sqlite).boxed(),
            Link::Postgres(link) => {
                let conn = link.conn.as_deref_mut().expect("taken only by drop");
                let rows = sqlx::query(sql).fetch(conn);
                let reading = (rows, &mut link.is_broken, link.timeout);
                futures::stream::try_unfold(reading, |(mut rows, is_broken, timeout)| async move {
                    let row = PgLink::within(timeout, is_broken, rows.try_next()).await?;
                    Ok(row.map(|row| (Row::Postgres(row), (rows, is_broken, timeout))))
                })
                .boxed()
            }
        }
    }

    /// A table, read by this index. SQLite keeps no statistics and would take an equality that half of the
    /// table fulfils for the better hint; where it cannot use the index, it says so. PostgreSQL knows.
    pub(crate) fn by_index(&self, table: &str, index: &str) -> String {
        match self.dialect() {
            Dialect::Sqlite => format!("{table} INDEXED BY {index}"),
            Dialect::Postgres => table.to_owned(),
        }
    }

    pub fn dialect(&self) -> Dialect {
        match &self.link {
            Link::Writer(_) | Link::SqliteReader(_) | Link::SqliteApart(_) => Dialect::Sqlite,
            Link::Postgres(_) => Dialect::Postgres,
        }
    }

    fn remember<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if let Err(error) = &result
            && self.failure.is_none()
        {
            self.failure = Some(error.clone());
        }
        result
    }

    /// Runs a statement and returns its rows.
    pub(crate) async fn query(
        &mut self,
        sql: impl Into<Sql>,
        params: Vec<Value>,
    ) -> Result<Vec<Row>, Error> {
        let sql = sql.into();
        let result = match &mut self.link {
            Link::Writer(writer) => {
                let (conn, before) = writer.query_conn()?;
                sqlite_query(conn, sql.after(before), params).await
            }
            Link::SqliteReader(conn) => sqlite_query(conn, sql, params).await,
            Link::SqliteApart(conn) => sqlite_query(conn, sql, params).await,
            Link::Postgres(link) => {
                let conn = link.conn.as_deref_mut().expect("taken only by drop");
                let work = sqlx::query_with(AssertSqlSafe(sql.text), postgres_args(params)?)
                    .persistent(sql.is_kept)
                    .fetch_all(conn);
                PgLink::within(link.timeout, &mut link.is_broken, work)
                    .await
                    .map(|rows| rows.into_iter().map(Row::Postgres).collect())
            }
        };
        self.remember(result)
    }

    /// Runs a statement and returns its first row.
    pub(crate) async fn query_one(
        &mut self,
        sql: impl Into<Sql>,
        params: Vec<Value>,
    ) -> Result<Option<Row>, Error> {
        Ok(self.query(sql, params).await?.into_iter().next())
    }

    /// Runs a statement and returns how many rows it touched.
    pub(crate) async fn execute(
        &mut self,
        sql: impl Into<Sql>,
        params: Vec<Value>,
    ) -> Result<u64, Error> {
        let sql = sql.into();
        let result = match &mut self.link {
            Link::Writer(writer) => match writer.statement_conn().await {
                Ok(conn) => sqlite_execute(conn, sql, params).await,
                Err(error) => Err(error),
            },
            Link::SqliteReader(conn) => sqlite_execute(conn, sql, params).await,
            Link::SqliteApart(conn) => sqlite_execute(conn, sql, params).await,
            Link::Postgres(link) => {
                let conn = link.conn.as_deref_mut().expect("taken only by drop");
                let work = sqlx::query_with(AssertSqlSafe(sql.text), postgres_args(params)?)
                    .persistent(sql.is_kept)
                    .execute(conn);
                PgLink::within(link.timeout, &mut link.is_broken, work)
                    .await
                    .map(|done| done.rows_affected())
            }
        };
        self.remember(result)
    }
}

async fn sqlite_query(
    conn: &mut sqlx::SqliteConnection,
    sql: Sql,
    params: Vec<Value>,
) -> Result<Vec<Row>, Error> {
    let rows = sqlx::query_with(AssertSqlSafe(sql.text), sqlite_args(params)?)
        .persistent(sql.is_kept)
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(Row::Sqlite).collect())
}

async fn sqlite_execute(
    conn: &mut sqlx::SqliteConnection,
    sql: Sql,
    params: Vec<Value>,
) -> Result<u64, Error> {
    let done = sqlx::query_with(AssertSqlSafe(sql.text), sqlite_args(params)?)
        .persistent(sql.is_kept)
        .execute(conn)
        .await?;
    Ok(done.rows_affected())
}

type Added = Result<(), sqlx::error::BoxDynError>;

fn sqlite_column(_: &mut sqlx::sqlite::SqliteArguments, _: Column) -> Added {
    Err("SQLite has no columns of values as parameters".into())
}

fn postgres_column(args: &mut sqlx::postgres::PgArguments, column: Column) -> Added {
    match column {
        Column::Texts(values) => args.add(values),
        Column::Ints(values) => args.add(values),
        Column::Blobs(values) => args.add(values),
        Column::Flags(values) => args.add(values),
    }
}

macro_rules! arguments {
    ($name:ident, $type:ty, $column:ident) => {
        fn $name(params: Vec<Value>) -> Result<$type, Error> {
            let mut args = <$type>::default();
            for value in params {
                match value {
                    Value::Text(text) => args.add(text),
                    Value::Int(n) => args.add(n),
                    Value::Blob(bytes) => args.add(bytes),
                    Value::Bool(flag) => args.add(flag),
                    Value::Column(column) => $column(&mut args, column),
                }
                .map_err(|e| Error::from(sqlx::Error::Encode(e)))?;
            }
            Ok(args)
        }
    };
}
arguments!(sqlite_args, sqlx::sqlite::SqliteArguments, sqlite_column);
arguments!(postgres_args, sqlx::postgres::PgArguments, postgres_column);

impl Conn {
    /// Runs a `SELECT` of one non-negative number.
    pub(crate) async fn count(
        &mut self,
        sql: impl Into<Sql>,
        params: Vec<Value>,
    ) -> Result<u64, Error> {
        match self.query_one(sql, params).await? {
            Some(row) => row.columns("count").number(),
            None => Ok(0),
        }
    }
}
