//! Parameters and rows: the four column types the house uses, and nothing of either driver beyond.
//!
//! A row is read through a cursor, column by column, in the order of the `SELECT` list. Every decode
//! failure is `Error::Corrupt` and names the table and column, so that one bad row can be found.

use std::error::Error as StdError;
use std::str::FromStr;

use hostler_model::{
    ApprovalId, ApprovalPolicyId, ArrayId, BackupId, Bytes, Digest, ExecutionId, Generation,
    GroupId, HookId, ImageId, InvitationId, JoinTokenId, KeyId, LockHoldId, LockId, ModuleId, Name,
    NodeBackupId, NodeId, OperationId, PlacementId, PrincipalId, ProjectId, RoleId, RunId,
    ScheduleId, SecretId, ServerId, SoftwareConfigId, SoftwareDeploymentId, Span,
    StackDefinitionId, StackEventId, StackId, StackPlanId, StackPluginId, StackResourceId,
    StackSnapshotId, Timestamp, TokenId, WatcherId, WebSessionId, WorkflowId, WorkloadId,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row as _;

use crate::Error;

/// A parameter. Absent values keep their type, because PostgreSQL asks for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(Option<String>),
    Int(Option<i64>),
    Blob(Option<Vec<u8>>),
    Bool(Option<bool>),
    Column(Column),
}

/// A column of values for `UNNEST`: many rows with one statement, whose text does not depend on how many.
/// Only PostgreSQL has it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Column {
    Texts(Vec<String>),
    Ints(Vec<Option<i64>>),
    Blobs(Vec<Option<Vec<u8>>>),
    Flags(Vec<bool>),
}

/// Makes a parameter list from anything that is a `Value`.
macro_rules! params {
    ($($value:expr),* $(,)?) => { vec![$($crate::value::Value::from($value)),*] };
}
pub(crate) use params;

/// PostgreSQL's TEXT cannot hold NUL; both databases store the replacement character instead.
pub(crate) fn without_nul(text: &str) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text.to_owned() }
}

impl Value {
    /// A stored JSON document.
    pub(crate) fn json(document: &impl Serialize) -> Value {
        Value::Text(Some(
            serde_json::to_string(document).expect("our documents have string keys only"),
        ))
    }

    pub(crate) fn json_opt(document: Option<&impl Serialize>) -> Value {
        document.map_or(Value::Text(None), Value::json)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(Some(without_nul(text)))
    }
}
impl From<&String> for Value {
    fn from(text: &String) -> Value {
        Value::from(text.as_str())
    }
}
impl From<Option<&str>> for Value {
    fn from(text: Option<&str>) -> Value {
        Value::Text(text.map(without_nul))
    }
}
impl From<&Name> for Value {
    fn from(name: &Name) -> Value {
        Value::from(name.as_str())
    }
}
impl From<Option<&Name>> for Value {
    fn from(name: Option<&Name>) -> Value {
        Value::from(name.map(Name::as_str))
    }
}
impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Bool(Some(flag))
    }
}
impl From<Option<bool>> for Value {
    fn from(flag: Option<bool>) -> Value {
        Value::Bool(flag)
    }
}
impl From<i64> for Value {
    fn from(n: i64) -> Value {
        Value::Int(Some(n))
    }
}
impl From<u64> for Value {
    fn from(n: u64) -> Value {
        Value::Int(Some(i64::try_from(n).unwrap_or(i64::MAX)))
    }
}
impl From<Option<u64>> for Value {
    fn from(n: Option<u64>) -> Value {
        Value::Int(n.map(|n| i64::try_from(n).unwrap_or(i64::MAX)))
    }
}
impl From<u32> for Value {
    fn from(n: u32) -> Value {
        Value::Int(Some(i64::from(n)))
    }
}
impl From<Option<u32>> for Value {
    fn from(n: Option<u32>) -> Value {
        Value::Int(n.map(i64::from))
    }
}
impl From<Bytes> for Value {
    fn from(bytes: Bytes) -> Value {
        Value::from(bytes.get())
    }
}
impl From<Generation> for Value {
    fn from(generation: Generation) -> Value {
        Value::Int(Some(generation.as_i64()))
    }
}
impl From<Timestamp> for Value {
    fn from(time: Timestamp) -> Value {
        Value::Int(Some(time.micros()))
    }
}
impl From<Option<Timestamp>> for Value {
    fn from(time: Option<Timestamp>) -> Value {
        Value::Int(time.map(Timestamp::micros))
    }
}
impl From<Option<Span>> for Value {
    fn from(span: Option<Span>) -> Value {
        Value::Text(span.map(|s| s.to_string()))
    }
}
impl From<&[u8]> for Value {
    fn from(bytes: &[u8]) -> Value {
        Value::Blob(Some(bytes.to_vec()))
    }
}
impl From<Digest> for Value {
    fn from(digest: Digest) -> Value {
        Value::from(digest.bytes().as_slice())
    }
}
impl From<Option<Digest>> for Value {
    fn from(digest: Option<Digest>) -> Value {
        Value::Blob(digest.map(|digest| digest.bytes().to_vec()))
    }
}
impl From<KeyId> for Value {
    fn from(id: KeyId) -> Value {
        Value::Text(Some(id.to_string()))
    }
}
impl From<&Vec<u8>> for Value {
    fn from(bytes: &Vec<u8>) -> Value {
        Value::from(bytes.as_slice())
    }
}

macro_rules! id_values {
    ($($id:ident),+ $(,)?) => {$(
        impl From<$id> for Value {
            fn from(id: $id) -> Value { Value::Text(Some(id.to_string())) }
        }
        impl From<Option<$id>> for Value {
            fn from(id: Option<$id>) -> Value { Value::Text(id.map(|id| id.to_string())) }
        }
    )+};
}
id_values!(
    ApprovalId,
    ApprovalPolicyId,
    ArrayId,
    BackupId,
    ExecutionId,
    GroupId,
    HookId,
    ImageId,
    InvitationId,
    JoinTokenId,
    LockHoldId,
    LockId,
    ModuleId,
    NodeBackupId,
    NodeId,
    OperationId,
    PlacementId,
    PrincipalId,
    ProjectId,
    RoleId,
    RunId,
    ScheduleId,
    SecretId,
    ServerId,
    SoftwareConfigId,
    SoftwareDeploymentId,
    StackDefinitionId,
    StackEventId,
    StackId,
    StackPlanId,
    StackPluginId,
    StackResourceId,
    StackSnapshotId,
    TokenId,
    WatcherId,
    WebSessionId,
    WorkflowId,
    WorkloadId,
);

/// A row as it came from either driver.
pub(crate) enum Row {
    Sqlite(sqlx::sqlite::SqliteRow),
    Postgres(sqlx::postgres::PgRow),
}

impl Row {
    /// Reads the columns from the first on; `table` is for error messages.
    pub(crate) fn columns(&self, table: &'static str) -> Columns<'_> {
        Columns { row: self, table, at: 0 }
    }
}

/// A cursor over the columns of one row.
pub(crate) struct Columns<'r> {
    row: &'r Row,
    table: &'static str,
    at: usize,
}

macro_rules! getter {
    ($(#[$meta:meta])* $name:ident, $type:ty) => {
        $(#[$meta])*
        pub(crate) fn $name(&mut self) -> Result<$type, Error> {
            let at = self.at;
            self.at += 1;
            // SQLite has no booleans and forgets declared types in expressions: its values convert
            // by themselves, so only PostgreSQL's types are checked.
            match self.row {
                Row::Sqlite(row) => row.try_get_unchecked::<$type, _>(at),
                Row::Postgres(row) => row.try_get::<$type, _>(at),
            }
            .map_err(|source| self.bad_source(at, std::sync::Arc::new(source)))
        }
    };
}

impl Columns<'_> {
    getter!(text, String);
    getter!(opt_text, Option<String>);
    getter!(int, i64);
    getter!(opt_int, Option<i64>);
    getter!(blob, Vec<u8>);
    getter!(opt_blob, Option<Vec<u8>>);
    getter!(flag, bool);
    getter!(opt_flag, Option<bool>);

    fn bad_source(&self, at: usize, source: crate::error::Cause) -> Error {
        Error::corrupt_by(format!("column {} of a {} row", at + 1, self.table), source)
    }

    fn bad<E: StdError + Send + Sync + 'static>(&self, source: E) -> Error {
        self.bad_source(self.at - 1, std::sync::Arc::new(source))
    }

    pub(crate) fn parse<T: FromStr>(&mut self) -> Result<T, Error>
    where
        T::Err: StdError + Send + Sync + 'static,
    {
        self.text()?.parse().map_err(|e| self.bad(e))
    }

    pub(crate) fn opt_parse<T: FromStr>(&mut self) -> Result<Option<T>, Error>
    where
        T::Err: StdError + Send + Sync + 'static,
    {
        self.opt_text()?.map(|text| text.parse().map_err(|e| self.bad(e))).transpose()
    }

    pub(crate) fn json<T: DeserializeOwned>(&mut self) -> Result<T, Error> {
        serde_json::from_str(&self.text()?).map_err(|e| self.bad(e))
    }

    /// A document whose text was read just now.
    pub(crate) fn document<T: DeserializeOwned>(&self, text: &str) -> Result<T, Error> {
        serde_json::from_str(text).map_err(|e| self.bad(e))
    }

    pub(crate) fn opt_json<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        self.opt_text()?
            .map(|text| serde_json::from_str(&text).map_err(|e| self.bad(e)))
            .transpose()
    }

    pub(crate) fn digest(&mut self) -> Result<Digest, Error> {
        let bytes = self.blob()?;
        Digest::from_slice(&bytes).ok_or_else(|| self.bad(std::io::Error::other("no 32 bytes")))
    }

    pub(crate) fn opt_digest(&mut self) -> Result<Option<Digest>, Error> {
        let bytes = self.opt_blob()?;
        let read = |bytes: Vec<u8>| {
            Digest::from_slice(&bytes).ok_or_else(|| self.bad(std::io::Error::other("no 32 bytes")))
        };
        bytes.map(read).transpose()
    }

    pub(crate) fn time(&mut self) -> Result<Timestamp, Error> {
        self.int().map(Timestamp::from_micros)
    }

    pub(crate) fn opt_time(&mut self) -> Result<Option<Timestamp>, Error> {
        Ok(self.opt_int()?.map(Timestamp::from_micros))
    }

    pub(crate) fn number(&mut self) -> Result<u64, Error> {
        u64::try_from(self.int()?).map_err(|e| self.bad(e))
    }

    pub(crate) fn opt_number(&mut self) -> Result<Option<u64>, Error> {
        self.opt_int()?.map(|n| u64::try_from(n).map_err(|e| self.bad(e))).transpose()
    }

    pub(crate) fn small(&mut self) -> Result<u32, Error> {
        u32::try_from(self.int()?).map_err(|e| self.bad(e))
    }

    pub(crate) fn opt_small(&mut self) -> Result<Option<u32>, Error> {
        self.opt_int()?.map(|n| u32::try_from(n).map_err(|e| self.bad(e))).transpose()
    }

    pub(crate) fn generation(&mut self) -> Result<Generation, Error> {
        self.number().map(Generation::from_u64)
    }
}
