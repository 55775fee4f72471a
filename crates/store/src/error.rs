//! The one error of this crate, and how the drivers' errors become it.
//!
//! Three questions decide what happens with a failure: may the same transaction simply be run again
//! (`Contended`), is the database away for a while (`Unavailable`), or did the change perhaps happen
//! although nobody said so (`Ambiguous`)? Everything else is either an answer (`Conflict`, `Stale`,
//! `Missing`) or a defect (`Corrupt`, `Other`). The cause is always in `source()`.
//!
//! The error is `Clone`, because one failed group commit is the answer to many callers.

use std::error::Error as StdError;
use std::sync::Arc;

use hostler_model::{Code, Generation};

/// A cause that several callers may hold.
pub type Cause = Arc<dyn StdError + Send + Sync>;

/// Why a row could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConflictReason {
    /// Another row has the same name, or the same id.
    NameTaken,
    /// Other rows still belong to it.
    InUse,
    /// A row it refers to is not there (any more), or still refers to it.
    Reference,
}

#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    #[error("the database cannot be used now: {what}; it is tried again with every request")]
    Unavailable {
        what: String,
        #[source]
        source: Option<Cause>,
    },
    #[error("other transactions were always faster; try again in a moment")]
    Contended {
        #[source]
        source: Option<Cause>,
    },
    #[error(
        "the connection broke while the change was being committed, so it may or may not have happened; look before repeating it"
    )]
    Ambiguous {
        #[source]
        source: Option<Cause>,
    },
    #[error("{}", conflict_text(*.reason, .object))]
    Conflict {
        reason: ConflictReason,
        /// What was written, in words: `project`, `workload`.
        object: String,
        #[source]
        source: Option<Cause>,
    },
    #[error("the {object} has changed; its generation is now {current}; read it again and repeat")]
    Stale { object: &'static str, current: Generation },
    #[error("there is no {object} `{id}`; list them to see which there are")]
    Missing { object: &'static str, id: String },
    #[error(
        "the database holds something unreadable: {what}; restore the row, or the database from a backup"
    )]
    Corrupt {
        what: String,
        #[source]
        source: Option<Cause>,
    },
    #[error(
        "the database has schema {found}, but this version of Hostler knows only up to {known}; start a newer Hostler"
    )]
    SchemaTooNew { found: u64, known: u64 },
    #[error("`{url}` is not a database address: {why}; use sqlite:/path/file.db or postgres://...")]
    Address { url: String, why: String },
    #[error("the database refused a statement: {what}; this is a defect, or the schema is missing")]
    Other {
        what: String,
        #[source]
        source: Option<Cause>,
    },
}

fn conflict_text(reason: ConflictReason, object: &str) -> String {
    match reason {
        ConflictReason::NameTaken => format!(
            "a {object} of that name exists already; choose another name, or change the existing one"
        ),
        ConflictReason::InUse => {
            format!("the {object} still has things in it; remove those first")
        }
        ConflictReason::Reference => format!(
            "something the {object} belongs to is gone, or something still belongs to it; look again"
        ),
    }
}

impl Error {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Error::Unavailable { .. } | Error::Contended { .. } | Error::Ambiguous { .. }
        )
    }

    /// Whether the transaction can be run again from its beginning at once.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(self, Error::Contended { .. })
    }

    pub(crate) fn unavailable(what: impl Into<String>) -> Error {
        Error::Unavailable { what: what.into(), source: None }
    }

    pub(crate) fn corrupt(what: impl Into<String>) -> Error {
        Error::Corrupt { what: what.into(), source: None }
    }

    pub(crate) fn corrupt_by(what: impl Into<String>, source: impl Into<Cause>) -> Error {
        Error::Corrupt { what: what.into(), source: Some(source.into()) }
    }

    pub(crate) fn in_use(object: &str) -> Error {
        Error::Conflict { reason: ConflictReason::InUse, object: object.to_owned(), source: None }
    }

    /// The same failure, seen while a commit was under way: what is not known is said to be unknown.
    pub(crate) fn during_commit(self) -> Error {
        match self {
            Error::Unavailable { source, .. } => Error::Ambiguous { source },
            other => other,
        }
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        let what = error.to_string();
        match &error {
            sqlx::Error::Database(db) => {
                let code = db.code().unwrap_or_default().into_owned();
                let is_sqlite = db.try_downcast_ref::<sqlx::sqlite::SqliteError>().is_some();
                let object = object_of(db.as_ref());
                let class = if is_sqlite {
                    sqlite_class(code.parse().unwrap_or(0))
                } else {
                    postgres_class(&code)
                };
                let source: Option<Cause> = Some(Arc::new(error));
                match class {
                    Class::Contended => Error::Contended { source },
                    Class::Unavailable(why) => {
                        Error::Unavailable { what: format!("{why} ({what})"), source }
                    }
                    Class::Conflict(reason) => Error::Conflict { reason, object, source },
                    Class::Corrupt => Error::Corrupt { what, source },
                    Class::Other => Error::Other { what, source },
                }
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::Protocol(_)
            | sqlx::Error::WorkerCrashed => Error::Unavailable {
                what: "the connection failed".to_owned(),
                source: Some(Arc::new(error)),
            },
            sqlx::Error::PoolTimedOut => Error::Unavailable {
                what: "no connection could be had in time".to_owned(),
                source: Some(Arc::new(error)),
            },
            sqlx::Error::PoolClosed => Error::Unavailable {
                what: "the store was closed".to_owned(),
                source: Some(Arc::new(error)),
            },
            sqlx::Error::ColumnDecode { .. }
            | sqlx::Error::Decode(_)
            | sqlx::Error::ColumnIndexOutOfBounds { .. }
            | sqlx::Error::ColumnNotFound(_) => {
                Error::Corrupt { what, source: Some(Arc::new(error)) }
            }
            _ => Error::Other { what, source: Some(Arc::new(error)) },
        }
    }
}

enum Class {
    Contended,
    Unavailable(&'static str),
    Conflict(ConflictReason),
    Corrupt,
    Other,
}

/// By SQLite's extended result code; its lowest byte is the primary one.
fn sqlite_class(code: i32) -> Class {
    match (code & 0xff, code) {
        (5 | 6, _) => Class::Contended,
        (13, _) => Class::Unavailable("the disk is full"),
        (10, _) => Class::Unavailable("the disk failed"),
        (14, _) => Class::Unavailable("the database file cannot be opened"),
        (8, _) => Class::Unavailable("the database file cannot be written"),
        (7, _) => Class::Unavailable("there is not enough memory"),
        (9, _) => Class::Unavailable("the statement was interrupted"),
        (11 | 26, _) => Class::Corrupt,
        (19, 1555 | 2067 | 2579) => Class::Conflict(ConflictReason::NameTaken),
        (19, 787) => Class::Conflict(ConflictReason::Reference),
        _ => Class::Other,
    }
}

/// By SQLSTATE, whose first two characters are its class.
fn postgres_class(code: &str) -> Class {
    match (code.get(..2).unwrap_or_default(), code) {
        (_, "40001" | "40P01") => Class::Contended,
        (_, "40003") => Class::Unavailable("the outcome of the statement is unknown"),
        (_, "23505") => Class::Conflict(ConflictReason::NameTaken),
        (_, "23503") => Class::Conflict(ConflictReason::Reference),
        (_, "53100") => Class::Unavailable("the database's disk is full"),
        ("53", _) => Class::Unavailable("the database is out of resources"),
        ("08", _) => Class::Unavailable("the connection failed"),
        (_, "57014") => Class::Unavailable("the statement took too long"),
        ("57", _) => Class::Unavailable("the database is starting or stopping"),
        ("58", _) => Class::Unavailable("the database's machine failed"),
        (_, "25006") => Class::Unavailable("the database is read-only at present"),
        ("28", _) => Class::Unavailable("the database refused the login"),
        (_, "3D000") => Class::Unavailable("the database named in the address does not exist"),
        ("XX", _) => Class::Corrupt,
        _ => Class::Other,
    }
}

/// The noun a constraint error is about: the table, with spaces.
fn object_of(db: &dyn sqlx::error::DatabaseError) -> String {
    let table = match db.table() {
        Some(table) => table,
        // SQLite says `UNIQUE constraint failed: project.name`.
        None => db
            .message()
            .rsplit(": ")
            .next()
            .and_then(|rest| rest.split_once('.'))
            .map_or("row", |(table, _)| table),
    };
    table.replace('_', " ")
}

impl From<Error> for hostler_model::Error {
    fn from(error: Error) -> hostler_model::Error {
        use hostler_model::Error as Public;
        match &error {
            Error::Unavailable { .. } => {
                Public::unavailable("the database cannot be used now", error)
            }
            Error::Contended { .. } => Public::unavailable(
                "too many changes at the same place at the same time",
                error,
            )
            .with_retry_after(1),
            Error::Ambiguous { .. } => Public::new(
                Code::Unavailable,
                "the database went away while the change was being committed; it may or may not have happened",
                "look whether the change is there before you repeat it; a repeat with the same Idempotency-Key is safe",
            )
            .with_retry_after(2)
            .with_source(error),
            Error::Conflict { reason, object, .. } => {
                let (code, hint) = match reason {
                    ConflictReason::NameTaken => (
                        Code::AlreadyExists,
                        "choose another name, or change the existing one",
                    ),
                    ConflictReason::InUse => {
                        (Code::Conflict, "remove what is in it first, then try again")
                    }
                    ConflictReason::Reference => {
                        (Code::Conflict, "look at it again, and repeat if it still fits")
                    }
                };
                let detail = match reason {
                    ConflictReason::NameTaken => {
                        format!("a {object} of that name exists already")
                    }
                    ConflictReason::InUse => format!("the {object} is not empty"),
                    ConflictReason::Reference => {
                        format!("something the {object} belongs to has just changed")
                    }
                };
                Public::new(code, detail, hint).with_source(error)
            }
            Error::Stale { object, current } => Public::stale(object, *current),
            Error::Missing { object, id } => Public::not_found(object, id),
            Error::Corrupt { .. }
            | Error::SchemaTooNew { .. }
            | Error::Address { .. }
            | Error::Other { .. } => Public::internal(error),
        }
    }
}
