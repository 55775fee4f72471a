//! The one writing connection of SQLite, and how many transactions share one commit.
//!
//! SQLite takes one writer at a time, and a durable commit costs an fsync. So callers queue for the
//! writer, and each runs inside its own savepoint of one open transaction, the *group*. A caller that
//! fails rolls back its savepoint and nobody else's. Whoever finds nobody behind it, or a full or old
//! group, commits for all; every member is answered only after that. The first member needs no
//! savepoint, for which SQLite would copy every page it touches: there is nobody yet to be kept.
//!
//! ```text
//!   idle --BEGIN--> first member --(joins)--> group --COMMIT--> idle
//!                   first member --ROLLBACK-----------------> idle
//!   group --SAVEPOINT--> member --RELEASE, or ROLLBACK TO--> group
//! ```
//!
//! Every statement is a way to the thread of the connection and back, which takes longer than what most of
//! them do there. So `BEGIN` goes along with the first query of the first member, where that begins with one.
//!
//! No task of its own drives this: callers do, and any of them may vanish at any await. Two rules keep
//! that harmless. The statements that move between the states above are *kept in the writer* while
//! they run, with the connection inside them, so that whoever comes next finishes them and learns
//! their true result. And a member that vanished inside its savepoint is rolled back by whoever comes
//! next. Members that wait for their answer also queue for the writer, so a group with anybody left
//! who cares is always committed. A group nobody waits for is committed by the next transaction or by
//! `close`; if the process dies before, nobody had been told that it was there.
//!
//! If SQLite itself gives the transaction up (disk full, I/O error), every member gets that error.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _};
use tokio::sync::oneshot;

use crate::Error;

/// Members per group at most.
const GROUP_MAX: usize = 64;
/// A group older than this is committed even though others wait behind it.
const GROUP_AGE: Duration = Duration::from_millis(5);

type Answer = Result<(), Error>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Begin,
    Savepoint,
    Release,
    Undo,
    Commit,
    Rollback,
}

impl Move {
    const fn sql(self) -> &'static str {
        match self {
            Move::Begin => "BEGIN IMMEDIATE",
            Move::Savepoint => "SAVEPOINT member",
            Move::Release => "RELEASE member",
            Move::Undo => "ROLLBACK TO member; RELEASE member",
            Move::Commit => "COMMIT",
            Move::Rollback => "ROLLBACK",
        }
    }
}

type Moving = BoxFuture<'static, (SqliteConnection, Result<(), sqlx::Error>)>;

struct Group {
    members: Vec<oneshot::Sender<Answer>>,
    opened: Instant,
}

pub(crate) struct Writer {
    options: SqliteConnectOptions,
    conn: Option<SqliteConnection>,
    /// A move that was begun; it holds the connection.
    moving: Option<(Move, Moving)>,
    group: Option<Group>,
    is_member_open: bool,
    /// The open member has the transaction to itself, and no savepoint.
    is_first: bool,
    /// `BEGIN` was not sent yet: the first statement takes it along.
    owes_begin: bool,
    is_closed: bool,
    /// Why the last member failed: the reason given to all, should the group be lost with it.
    cause: Option<Error>,
    commits: Arc<AtomicU64>,
}

impl Writer {
    pub(crate) fn new(options: SqliteConnectOptions, commits: Arc<AtomicU64>) -> Writer {
        Writer {
            options,
            conn: None,
            moving: None,
            group: None,
            is_member_open: false,
            is_first: false,
            owes_begin: false,
            is_closed: false,
            cause: None,
            commits,
        }
    }

    /// The connection, for the statements of the member that holds the writer.
    pub(crate) async fn statement_conn(&mut self) -> Result<&mut SqliteConnection, Error> {
        if self.owes_begin {
            self.begin().await?;
        }
        self.open_conn()
    }

    /// The connection for a query, and what has to come before its text.
    pub(crate) fn query_conn(&mut self) -> Result<(&mut SqliteConnection, &'static str), Error> {
        let before = if std::mem::take(&mut self.owes_begin) { "BEGIN IMMEDIATE; " } else { "" };
        self.open_conn().map(|conn| (conn, before))
    }

    fn open_conn(&mut self) -> Result<&mut SqliteConnection, Error> {
        self.conn
            .as_mut()
            .ok_or_else(|| Error::unavailable("the connection was lost within the transaction"))
    }

    /// Sends what is owed, by itself.
    async fn begin(&mut self) -> Result<(), Error> {
        self.owes_begin = false;
        self.step(Move::Begin).await
    }

    pub(crate) async fn script(&mut self, text: Cow<'static, str>) -> Result<(), Error> {
        let conn = self.statement_conn().await?;
        sqlx::raw_sql(AssertSqlSafe(text)).execute(conn).await?;
        Ok(())
    }

    /// Lets a new member in, after tidying up behind the last one.
    pub(crate) async fn enter(&mut self) -> Result<(), Error> {
        self.settle().await;
        if self.is_closed {
            return Err(Error::unavailable("the store was closed"));
        }
        if self.conn.is_none() {
            let conn = self.options.connect().await?;
            self.conn = Some(conn);
        }
        if self.group.is_none() {
            self.group = Some(Group { members: Vec::new(), opened: Instant::now() });
            self.is_member_open = true;
            self.is_first = true;
            self.owes_begin = true;
            return Ok(());
        }
        self.step(Move::Savepoint).await
    }

    /// What the member did becomes the group's; the receiver hears of the commit.
    pub(crate) async fn join(&mut self) -> Result<oneshot::Receiver<Answer>, Error> {
        if self.owes_begin {
            self.begin().await?;
        }
        if self.is_first {
            self.is_member_open = false;
            self.is_first = false;
        } else {
            self.step(Move::Release).await?;
        }
        let (sender, receiver) = oneshot::channel();
        match &mut self.group {
            Some(group) => group.members.push(sender),
            None => {
                return Err(Error::unavailable("the transaction was given up by the database"));
            }
        }
        Ok(receiver)
    }

    /// Takes back what the member did; `cause` is the statement that failed, if one did.
    pub(crate) async fn leave(&mut self, cause: Option<Error>) {
        self.cause = cause;
        self.settle().await;
        self.cause = None;
    }

    /// Whether the group should be committed now, given how many wait behind.
    pub(crate) fn is_due(&self, waiting: usize) -> bool {
        self.group.as_ref().is_some_and(|group| {
            waiting == 0 || group.members.len() >= GROUP_MAX || group.opened.elapsed() >= GROUP_AGE
        })
    }

    /// Commits the group and answers its members.
    pub(crate) async fn commit(&mut self) {
        self.settle().await;
        let ending = match &self.group {
            None => return,
            Some(group) if group.members.is_empty() => Move::Rollback,
            Some(_) => Move::Commit,
        };
        // The members hear of a failure; this caller may be none of them.
        if let Err(error) = self.step(ending).await {
            tracing::debug!(error = %error, "group not committed");
        }
    }

    pub(crate) async fn close(&mut self) {
        self.commit().await;
        self.is_closed = true;
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::debug!(error = %error, "writer did not close cleanly");
        }
    }

    /// Finishes what a vanished caller left: a move under way, then an open savepoint.
    async fn settle(&mut self) {
        if self.moving.is_some() {
            self.finish().await.ok();
        }
        if self.owes_begin {
            self.owes_begin = false;
            let gone = Error::unavailable("the transaction was not begun");
            self.give_up(&gone);
        }
        if self.is_member_open && (self.is_first || self.step(Move::Undo).await.is_err()) {
            self.step(Move::Rollback).await.ok();
        }
    }

    async fn step(&mut self, step: Move) -> Result<(), Error> {
        let Some(mut conn) = self.conn.take() else {
            let error = Error::unavailable("the connection was lost within the transaction");
            self.give_up(&error);
            return Err(error);
        };
        if step == Move::Savepoint {
            self.is_member_open = true;
        }
        let moving = async move {
            let result = sqlx::raw_sql(step.sql()).execute(&mut conn).await;
            (conn, result.map(drop))
        };
        self.moving = Some((step, moving.boxed()));
        self.finish().await
    }

    /// Drives the move under way to its end. May itself be dropped and called again.
    async fn finish(&mut self) -> Result<(), Error> {
        let Some((step, moving)) = self.moving.as_mut() else {
            return Ok(());
        };
        let step = *step;
        let (conn, result) = moving.await;
        self.moving = None;
        self.conn = Some(conn);
        let result = match (step, result) {
            (Move::Commit, Err(error @ sqlx::Error::WorkerCrashed)) => {
                Err(Error::from(error).during_commit())
            }
            (_, result) => result.map_err(Error::from),
        };
        match (step, &result) {
            (Move::Begin, Ok(())) => {}
            (Move::Begin, Err(error)) => {
                self.distrust(error);
                self.give_up(error);
            }
            (Move::Savepoint, Ok(())) => {}
            (Move::Release | Move::Undo, Ok(())) => self.is_member_open = false,
            (Move::Savepoint | Move::Release | Move::Undo, Err(_)) => {}
            (Move::Commit, Ok(())) => {
                self.commits.fetch_add(1, Ordering::Relaxed);
                self.answer(&Ok(()));
            }
            (Move::Commit, Err(error)) => {
                self.answer(&Err(error.clone()));
                self.conn = None;
            }
            (Move::Rollback, _) => {
                let lost = || Error::unavailable("the transaction was given up by the database");
                let error = self.cause.take().unwrap_or_else(lost);
                self.give_up(&error);
                if result.is_err() {
                    self.conn = None;
                }
            }
        }
        result
    }

    /// Answers every member and ends the group.
    fn answer(&mut self, answer: &Answer) {
        self.is_member_open = false;
        self.is_first = false;
        for member in self.group.take().into_iter().flat_map(|g| g.members) {
            member.send(answer.clone()).ok();
        }
    }

    fn give_up(&mut self, error: &Error) {
        self.answer(&Err(error.clone()));
    }

    /// A connection that cannot even begin is replaced, unless it was only busy.
    fn distrust(&mut self, error: &Error) {
        if !error.is_retryable() {
            self.conn = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Error, OpenOptions, Store};

    async fn fill(store: &Store, key: &str, size: usize) -> Result<bool, Error> {
        let bytes = vec![7; size];
        store.tx("fill", |tx| Box::pin(tx.setting_insert(key, &bytes))).await
    }

    #[tokio::test]
    async fn a_full_disk_is_unavailable_for_the_one_and_harmless_to_the_next() {
        let store = Store::open("sqlite::memory:", OpenOptions::default()).await.unwrap();
        store.migrate().await.unwrap();
        store
            .tx("limit", |tx| Box::pin(tx.script("PRAGMA max_page_count = 100".into())))
            .await
            .unwrap();
        assert!(fill(&store, "small", 100).await.unwrap());
        let error = fill(&store, "large", 1 << 20).await.unwrap_err();
        assert!(
            matches!(&error, Error::Unavailable { what, .. } if what.contains("disk is full")),
            "{error:?}"
        );
        assert!(fill(&store, "next", 100).await.unwrap());
        let mut reader = store.read().await.unwrap();
        assert_eq!(reader.setting_get("large").await.unwrap(), None);
        assert_eq!(reader.setting_get("next").await.unwrap().map(|b| b.len()), Some(100));
    }
}
