//! `Store`: the handle everybody clones, and `tx`, the one way to write.
//!
//! `tx` runs a closure in a serialisable transaction and, when the database says that another one got
//! in the way, runs it again from its beginning: up to ten times, with a little random wait. So the
//! closure must have no effect outside the transaction, and must not call `tx` or `read` itself (on
//! SQLite it would wait for its own writer). Wake reconcilers after `tx` has returned.
//!
//! On PostgreSQL the first attempts of all callers run side by side. A transaction that met a
//! serialisation failure runs its next attempt alone in this process: hot rows, such as the head of
//! the journal, then cost each caller one failed attempt at most, however many callers there are.
//!
//! A store that was opened stays usable when the database goes away: calls fail with
//! `Error::Unavailable` within the acquire timeout and work again once it is back.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::ConnectOptions as _;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use tokio::sync::{Mutex, OwnedMutexGuard, RwLock, oneshot};

use crate::conn::{Conn, Link, PgLink, Reader, Tx};
use crate::stats::{Counters, Stats};
use crate::writer::Writer;
use crate::{Dialect, Error};

const ATTEMPTS: u32 = 10;
const JITTER_MILLIS: u64 = 50;
/// Pages that the connection that writes keeps, in KiB (negative: SQLite takes a positive number for pages).
const WRITER_CACHE: &str = "-8192";

/// How long one row of a large reading may take on PostgreSQL.
const SNAPSHOT_PATIENCE: Duration = Duration::from_secs(120);

/// How to open a store; the defaults suit a server.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Connections to PostgreSQL, or reading connections to SQLite, at most.
    pub connections_max: u32,
    /// How long a call waits for a connection, or for its turn to write.
    pub acquire_timeout: Duration,
    /// How long one statement may take on PostgreSQL.
    pub statement_timeout: Duration,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            connections_max: 16,
            acquire_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(10),
        }
    }
}

/// The rows. Cheap to clone; all clones share the connections.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    database: Database,
    options: OpenOptions,
    counters: Counters,
}

enum Database {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

struct SqliteDatabase {
    writer: Arc<Mutex<Writer>>,
    /// Transactions that wait for their turn.
    waiting: AtomicUsize,
    readers: SqlitePool,
    path: PathBuf,
    /// Removed with the last handle: what `sqlite::memory:` stands for.
    scratch: Option<PathBuf>,
}

struct PostgresDatabase {
    pool: PgPool,
    /// First attempts hold it shared, repeated ones alone.
    gate: RwLock<()>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("dialect", &self.dialect()).finish_non_exhaustive()
    }
}

impl Drop for SqliteDatabase {
    fn drop(&mut self) {
        let Some(file) = &self.scratch else { return };
        for suffix in ["", "-wal", "-shm"] {
            let mut path = file.clone().into_os_string();
            path.push(suffix);
            std::fs::remove_file(path).ok();
        }
    }
}

/// Counts one waiting transaction for as long as it lives.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Waiting<'a> {
        count.fetch_add(1, Ordering::SeqCst);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// What became of one attempt.
enum Attempt<T, E> {
    Done(Result<T, E>),
    /// Met a serialisation failure; the error is for when there are no attempts left.
    Again(E),
}

impl Store {
    /// Opens `sqlite:/path/file.db`, `sqlite::memory:` (a private database in a temporary file, gone
    /// with the last handle) or `postgres://user@host/database`, and checks that it answers.
    pub async fn open(url: &str, options: OpenOptions) -> Result<Store, Error> {
        let counters = Counters::default();
        let database = match url.split_once(':') {
            Some(("sqlite", rest)) => {
                Database::Sqlite(SqliteDatabase::new(rest, url, &options, &counters)?)
            }
            Some(("postgres" | "postgresql", _)) => {
                Database::Postgres(PostgresDatabase::new(url, &options)?)
            }
            _ => return Err(address_error(url, "it has no known scheme")),
        };
        let store = Store { inner: Arc::new(Inner { database, options, counters }) };
        if let Database::Sqlite(sqlite) = &store.inner.database {
            let mut writer = store.writer(sqlite).await?;
            writer.enter().await?;
            writer.leave(None).await;
            writer.commit().await;
        }
        store.ping().await?;
        Ok(store)
    }

    pub fn dialect(&self) -> Dialect {
        match &self.inner.database {
            Database::Sqlite(_) => Dialect::Sqlite,
            Database::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Whether the database answers.
    pub async fn ping(&self) -> Result<(), Error> {
        self.read().await?.query("SELECT 1", Vec::new()).await?;
        Ok(())
    }

    /// Finishes what is open and closes every connection; later calls fail.
    pub async fn close(&self) {
        match &self.inner.database {
            Database::Sqlite(sqlite) => {
                sqlite.writer.clone().lock_owned().await.close().await;
                sqlite.readers.close().await;
            }
            Database::Postgres(postgres) => postgres.pool.close().await,
        }
    }

    pub fn stats(&self) -> Stats {
        self.inner.counters.snapshot()
    }

    /// A connection for reading, outside any transaction.
    pub async fn read(&self) -> Result<Reader, Error> {
        Ok(Reader::new(match &self.inner.database {
            Database::Sqlite(sqlite) => Link::SqliteReader(sqlite.readers.acquire().await?),
            Database::Postgres(postgres) => Link::Postgres(self.postgres_link(postgres).await?),
        }))
    }

    /// A connection of its own that sees everything as it is at one moment, however long it is used.
    pub(crate) async fn read_apart(&self) -> Result<Conn, Error> {
        match &self.inner.database {
            Database::Sqlite(sqlite) => {
                let mut conn = sqlite.readers.acquire().await?.detach();
                sqlx::raw_sql("BEGIN").execute(&mut conn).await?;
                Ok(Conn::new(Link::SqliteApart(conn)))
            }
            Database::Postgres(postgres) => {
                let mut link = PgLink::new(postgres.pool.acquire().await?, SNAPSHOT_PATIENCE);
                link.begin_snapshot().await?;
                Ok(Conn::new(Link::Postgres(link)))
            }
        }
    }

    /// Where the database is, when that is a file.
    pub fn file(&self) -> Option<&Path> {
        match &self.inner.database {
            Database::Sqlite(sqlite) => Some(&sqlite.path),
            Database::Postgres(_) => None,
        }
    }

    /// Runs `f` in a transaction and commits it if it returns `Ok`. See the module for what `f` must
    /// not do. Values that `f` needs are captured as references:
    ///
    /// ```ignore
    /// store.tx("project_create", |tx| Box::pin(tx.project_insert(&project))).await?;
    ///
    /// let (project, events) = (&project, &events);
    /// store
    ///     .tx("project_create", |tx| {
    ///         Box::pin(async move {
    ///             tx.project_insert(project).await?;
    ///             tx.journal_append(events, &[]).await
    ///         })
    ///     })
    ///     .await?;
    /// ```
    pub async fn tx<'c, T, E, F>(&'c self, name: &'static str, f: F) -> Result<T, E>
    where
        T: Send,
        E: From<Error> + Send,
        F: for<'t> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync,
    {
        for number in 1..=ATTEMPTS {
            self.inner.counters.attempt(name, number);
            let attempt = match &self.inner.database {
                Database::Sqlite(sqlite) => self.sqlite_attempt(sqlite, &f).await,
                Database::Postgres(postgres) => self.postgres_attempt(postgres, number, &f).await,
            };
            match attempt {
                Attempt::Done(result) => return result,
                Attempt::Again(error) if number == ATTEMPTS => {
                    self.inner.counters.conflict(name);
                    tracing::warn!(transaction = name, "transaction given up after conflicts");
                    return Err(error);
                }
                Attempt::Again(_) => {
                    let wait = Duration::from_millis(rand::random_range(0..=JITTER_MILLIS));
                    tracing::debug!(transaction = name, number, "transaction repeated");
                    tokio::time::sleep(wait).await;
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    async fn writer(&self, sqlite: &SqliteDatabase) -> Result<OwnedMutexGuard<Writer>, Error> {
        let _waiting = Waiting::new(&sqlite.waiting);
        let turn = sqlite.writer.clone().lock_owned();
        let limit = self.inner.options.acquire_timeout;
        tokio::time::timeout(limit, turn).await.map_err(|_| {
            Error::unavailable(format!("writing was not this call's turn within {limit:?}"))
        })
    }

    async fn sqlite_attempt<'c, T, E, F>(&'c self, sqlite: &SqliteDatabase, f: &F) -> Attempt<T, E>
    where
        T: Send,
        E: From<Error> + Send,
        F: for<'t> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync,
    {
        let mut writer = match self.writer(sqlite).await {
            Ok(writer) => writer,
            Err(error) => return Attempt::Done(Err(error.into())),
        };
        if let Err(error) = writer.enter().await {
            return Attempt::from_error(error);
        }
        let mut tx = Tx::new(Link::Writer(writer));
        let result = f(&mut tx).await;
        let (link, failure) = tx.into_parts();
        let Link::Writer(mut writer) = link else {
            unreachable!("the link was made a writer above")
        };
        let is_retryable = failure.as_ref().is_some_and(Error::is_retryable);
        let result = match (result, failure) {
            (Ok(value), None) => match writer.join().await {
                Ok(receiver) => Ok((value, receiver)),
                Err(error) => {
                    writer.leave(Some(error.clone())).await;
                    Err(error.into())
                }
            },
            (Ok(_), Some(error)) => {
                writer.leave(Some(error.clone())).await;
                Err(error.into())
            }
            (Err(error), failure) => {
                writer.leave(failure).await;
                Err(error)
            }
        };
        if writer.is_due(sqlite.waiting.load(Ordering::SeqCst)) {
            writer.commit().await;
        }
        drop(writer);
        match result {
            Ok((value, receiver)) => match committed(sqlite, receiver).await {
                Ok(()) => Attempt::Done(Ok(value)),
                Err(error) => Attempt::from_error(error),
            },
            Err(error) if is_retryable => Attempt::Again(error),
            Err(error) => Attempt::Done(Err(error)),
        }
    }

    async fn postgres_link(&self, postgres: &PostgresDatabase) -> Result<PgLink, Error> {
        let conn = postgres.pool.acquire().await?;
        Ok(PgLink::new(conn, self.inner.options.statement_timeout))
    }

    /// Nothing has happened yet when `BEGIN` fails, so a connection that died in the pool is replaced.
    async fn postgres_begin(&self, postgres: &PostgresDatabase) -> Result<PgLink, Error> {
        let mut link = self.postgres_link(postgres).await?;
        match link.begin().await {
            Ok(()) => Ok(link),
            Err(Error::Unavailable { .. }) => {
                drop(link);
                let mut link = self.postgres_link(postgres).await?;
                link.begin().await?;
                Ok(link)
            }
            Err(error) => Err(error),
        }
    }

    async fn postgres_attempt<'c, T, E, F>(
        &'c self,
        postgres: &PostgresDatabase,
        number: u32,
        f: &F,
    ) -> Attempt<T, E>
    where
        T: Send,
        E: From<Error> + Send,
        F: for<'t> Fn(&'t mut Tx<'c>) -> BoxFuture<'t, Result<T, E>> + Send + Sync,
    {
        let (_shared, _alone) = if number == 1 {
            (Some(postgres.gate.read().await), None)
        } else {
            (None, Some(postgres.gate.write().await))
        };
        let link = match self.postgres_begin(postgres).await {
            Ok(link) => link,
            Err(error) => return Attempt::from_error(error),
        };
        let mut tx = Tx::new(Link::Postgres(link));
        let result = f(&mut tx).await;
        let (link, failure) = tx.into_parts();
        let Link::Postgres(mut link) = link else {
            unreachable!("the link was made for PostgreSQL above")
        };
        match (result, failure) {
            (Ok(value), None) => match link.commit().await {
                Ok(()) => {
                    self.inner.counters.commits.fetch_add(1, Ordering::Relaxed);
                    Attempt::Done(Ok(value))
                }
                Err(error) => Attempt::from_error(error.during_commit()),
            },
            (Ok(_), Some(error)) => {
                link.rollback().await;
                Attempt::from_error(error)
            }
            (Err(error), failure) => {
                link.rollback().await;
                if failure.is_some_and(|f| f.is_retryable()) {
                    Attempt::Again(error)
                } else {
                    Attempt::Done(Err(error))
                }
            }
        }
    }
}

impl<T, E: From<Error>> Attempt<T, E> {
    fn from_error(error: Error) -> Attempt<T, E> {
        if error.is_retryable() {
            Attempt::Again(error.into())
        } else {
            Attempt::Done(Err(error.into()))
        }
    }
}

/// Waits until the group of this member is committed, and commits it where nobody else does.
async fn committed(
    sqlite: &SqliteDatabase,
    mut receiver: oneshot::Receiver<Result<(), Error>>,
) -> Result<(), Error> {
    tokio::select! {
        biased;
        answer = &mut receiver => return lost_or(answer),
        mut writer = sqlite.writer.clone().lock_owned() => writer.commit().await,
    }
    lost_or(receiver.await)
}

fn lost_or(answer: Result<Result<(), Error>, oneshot::error::RecvError>) -> Result<(), Error> {
    answer.unwrap_or_else(|_| Err(Error::Ambiguous { source: None }))
}

fn address_error(url: &str, why: impl std::fmt::Display) -> Error {
    Error::Address { url: without_password(url), why: why.to_string() }
}

/// The address without what stands between `//` and `@`.
fn without_password(url: &str) -> String {
    match (url.find("//"), url.rfind('@')) {
        (Some(from), Some(to)) if from < to => format!("{}...{}", &url[..from + 2], &url[to..]),
        _ => url.to_owned(),
    }
}

impl SqliteDatabase {
    fn new(
        rest: &str,
        url: &str,
        options: &OpenOptions,
        counters: &Counters,
    ) -> Result<SqliteDatabase, Error> {
        let path = rest.strip_prefix("//").unwrap_or(rest);
        let (path, scratch) = match path {
            "" => return Err(address_error(url, "it names no file")),
            ":memory:" => {
                let file = scratch_file();
                (file.clone(), Some(file))
            }
            path => (PathBuf::from(path), None),
        };
        create_private(&path);
        let common = SqliteConnectOptions::new()
            .filename(&path)
            .foreign_keys(true)
            .busy_timeout(Duration::from_millis(500))
            .statement_cache_capacity(256)
            // What one statement gives mostly fits, so that its thread need not wait for whoever takes it.
            .row_buffer_size(512)
            .disable_statement_logging();
        let writing = common
            .clone()
            .create_if_missing(true)
            .pragma("cache_size", WRITER_CACHE)
            // What a statement may have to take back is as large as what it changes: small, but
            // otherwise written to a file, page by page.
            .pragma("temp_store", "MEMORY")
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(if scratch.is_some() {
                SqliteSynchronous::Off
            } else {
                SqliteSynchronous::Full
            });
        let readers = SqlitePoolOptions::new()
            .max_connections(options.connections_max.min(8))
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .max_lifetime(None)
            .connect_lazy_with(common.create_if_missing(false).pragma("query_only", "ON"));
        Ok(SqliteDatabase {
            writer: Arc::new(Mutex::new(Writer::new(writing, counters.commits.clone()))),
            waiting: AtomicUsize::new(0),
            readers,
            path,
            scratch,
        })
    }
}

/// Makes the file, if it is not there, so that nobody else can read it; SQLite gives the files beside
/// it the same rights. Where this fails, opening the database says why.
fn create_private(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok();
}

fn scratch_file() -> PathBuf {
    let name = format!("hostler-{}-{:016x}.db", std::process::id(), rand::random::<u64>());
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.join(name) } else { std::env::temp_dir().join(name) }
}

impl PostgresDatabase {
    fn new(url: &str, options: &OpenOptions) -> Result<PostgresDatabase, Error> {
        let connect = PgConnectOptions::from_str(url)
            .map_err(|e| address_error(url, e))?
            .application_name("hostler")
            .statement_cache_capacity(256)
            .disable_statement_logging();
        let pool = PgPoolOptions::new()
            .max_connections(options.connections_max)
            .acquire_timeout(options.acquire_timeout)
            .test_before_acquire(false)
            .before_acquire(|conn, meta| {
                Box::pin(async move {
                    // One that was used a moment ago is taken to be alive; saves a round trip.
                    if meta.idle_for < Duration::from_secs(1) {
                        return Ok(true);
                    }
                    Ok(sqlx::Connection::ping(conn).await.is_ok())
                })
            })
            .connect_lazy_with(connect);
        Ok(PostgresDatabase { pool, gate: RwLock::new(()) })
    }
}
