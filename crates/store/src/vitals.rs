//! How the database itself is: its clock, its size, whether it takes writes, how far replicas are behind.
//! What a database does not tell, or not to us, is absent.

use std::time::Duration;

use hostler_model::Timestamp;

use crate::value::params;
use crate::{Conn, Dialect, Error, Store};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vitals {
    /// Absent for SQLite, whose clock is ours.
    pub clock: Option<Timestamp>,
    pub size: u64,
    /// Of the write-ahead log of SQLite.
    pub log_size: Option<u64>,
    pub is_read_only: bool,
    pub replica_lag: Option<Duration>,
}

/// Tasks that could be placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub waiting: u64,
    pub oldest: Option<Timestamp>,
}

const POSTGRES: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT), pg_database_size(current_database()), current_setting('transaction_read_only') = 'on'";
const REPLICAS: &str =
    "SELECT CAST(MAX(EXTRACT(EPOCH FROM replay_lag)) * 1000 AS BIGINT) FROM pg_stat_replication";
const SQLITE: &str = "SELECT (SELECT page_count FROM pragma_page_count()) * (SELECT page_size FROM pragma_page_size())";

impl Store {
    pub async fn vitals(&self) -> Result<Vitals, Error> {
        let mut reader = self.read().await?;
        match self.dialect() {
            Dialect::Sqlite => {
                let log_size = self.file().and_then(|file| {
                    let mut log = file.as_os_str().to_owned();
                    log.push("-wal");
                    Some(std::fs::metadata(log).ok()?.len())
                });
                let size = reader.count(SQLITE, Vec::new()).await?;
                Ok(Vitals { clock: None, size, log_size, is_read_only: false, replica_lag: None })
            }
            Dialect::Postgres => {
                let row = reader.query_one(POSTGRES, Vec::new()).await?;
                let row = row.ok_or_else(|| Error::corrupt("no answer about the database"))?;
                let mut columns = row.columns("vitals");
                let clock = Some(columns.time()?);
                let (size, is_read_only) = (columns.number()?, columns.flag()?);
                // CockroachDB has no such view, and not everybody may read it.
                let mut apart = self.read().await?;
                let replica_lag = match apart.query_one(REPLICAS, Vec::new()).await {
                    Ok(Some(row)) => row.columns("vitals").opt_int()?,
                    Ok(None) | Err(_) => None,
                };
                let replica_lag = replica_lag.and_then(|ms| u64::try_from(ms).ok());
                let replica_lag = replica_lag.map(Duration::from_millis);
                Ok(Vitals { clock, size, log_size: None, is_read_only, replica_lag })
            }
        }
    }
}

impl Conn {
    /// Tasks that wait for a node and could have one by `now`.
    pub async fn workload_backlog(&mut self, now: Timestamp) -> Result<Backlog, Error> {
        let sql = "SELECT COUNT(*), MIN(time_ready) FROM workload WHERE kind = 'task' AND state = 'pending' AND time_ready <= $1";
        let Some(row) = self.query_one(sql, params![now]).await? else {
            return Ok(Backlog::default());
        };
        let mut columns = row.columns("workload");
        Ok(Backlog { waiting: columns.number()?, oldest: columns.opt_time()? })
    }
}
