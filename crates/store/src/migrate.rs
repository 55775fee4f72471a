//! Brings a database to the schema this binary knows, and refuses one it does not know.
//!
//! A version is a folder in `schema/` with numbered steps, one file each, side by side for both
//! dialects. Steps are idempotent; where SQL has no words for that, a step's first line names the
//! column that it adds, and it is left out where that is there. Each runs in one transaction together with the note that it was
//! done, and that note is one row which the transaction locks first: of two servers that migrate at
//! the same time one waits or is sent back, and then finds the step done. A crash between steps is
//! continued by the next `migrate`.

use std::borrow::Cow;

use crate::value::params;
use crate::{Conn, Dialect, Error, Store, Tx};

struct Version {
    number: u64,
    sqlite: &'static [&'static str],
    postgres: &'static [&'static str],
}

impl Version {
    fn steps(&self, dialect: Dialect) -> &'static [&'static str] {
        match dialect {
            Dialect::Sqlite => self.sqlite,
            Dialect::Postgres => self.postgres,
        }
    }
}

macro_rules! version {
    ($number:literal, $folder:literal, [$($file:literal),+ $(,)?]) => {
        Version {
            number: $number,
            sqlite: &[$(include_str!(concat!("../../../schema/", $folder, "/sqlite/", $file))),+],
            postgres: &[$(include_str!(concat!("../../../schema/", $folder, "/postgres/", $file))),+],
        }
    };
}

/// Every version, oldest first. A new one goes to the end; see `schema/README.md`.
const KNOWN: &[Version] = &[
    version!(1, "0001-initial", ["up1.sql", "up2.sql", "up3.sql", "up4.sql", "up5.sql"]),
    version!(2, "0002-workloads", ["up1.sql", "up2.sql", "up3.sql"]),
    version!(3, "0003-tasks", ["up1.sql", "up2.sql", "up3.sql", "up4.sql", "up5.sql"]),
    version!(4, "0004-blobs", ["up1.sql"]),
    version!(5, "0005-images", ["up1.sql"]),
    version!(6, "0006-roles", ["up1.sql", "up2.sql"]),
    version!(7, "0007-people", ["up1.sql"]),
    version!(8, "0008-secrets", ["up1.sql"]),
    version!(9, "0009-audit", ["up1.sql", "up2.sql"]),
    version!(10, "0010-ca", ["up1.sql"]),
    version!(11, "0011-approvals", ["up1.sql"]),
    version!(12, "0012-identity", ["up1.sql"]),
    version!(13, "0013-limits", ["up1.sql", "up2.sql"]),
    version!(14, "0014-workflows", ["up1.sql"]),
    version!(
        15,
        "0015-coordination",
        [
            "up1.sql", "up2.sql", "up3.sql", "up4.sql", "up5.sql", "up6.sql", "up7.sql", "up8.sql",
            "up9.sql"
        ]
    ),
    version!(16, "0016-stacks", ["up1.sql"]),
    version!(17, "0017-traces", ["up1.sql", "up2.sql"]),
    version!(18, "0018-stack-plugins", ["up1.sql"]),
];

/// BIGINT has integer affinity in SQLite, so this one table is spelled once.
const PROGRESS_TABLE: &str = "CREATE TABLE IF NOT EXISTS schema_version (
    id TEXT NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL,
    step BIGINT NOT NULL
)";

/// CockroachDB orders text by bytes always, and does not take the words for it.
const BYTE_ORDER: &str = " COLLATE \"C\"";

/// How far a database is: all versions before `version` are complete, and `step` steps of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Progress {
    version: u64,
    step: usize,
}

impl Store {
    /// The version this binary brings a database to.
    pub const fn schema_known() -> u64 {
        KNOWN[KNOWN.len() - 1].number
    }

    /// The newest version that is completely applied; 0 for an empty database.
    pub async fn schema_version(&self) -> Result<u64, Error> {
        self.read().await?.version_complete().await
    }

    /// Brings the database to the newest known version. Safe to call at any time, by any number of
    /// servers at once; does nothing when there is nothing to do.
    pub async fn migrate(&self) -> Result<(), Error> {
        self.migrate_to(Store::schema_known()).await
    }

    /// The same, no further than to `last`: what a backup of that version is loaded into.
    pub async fn migrate_to(&self, last: u64) -> Result<(), Error> {
        let known = Store::schema_known();
        let found = self.schema_version().await?.max(last);
        if found > known {
            return Err(Error::SchemaTooNew { found, known });
        }
        self.migrate_prepare().await?;
        let from = self.schema_version().await?;
        loop {
            let before = self.read().await?.progress().await?;
            match self.tx("migrate_step", |tx| Box::pin(tx.migrate_step(last))).await {
                Ok(true) => {
                    let to = self.schema_version().await?;
                    if to != from {
                        tracing::info!(from, to, "schema prepared");
                    }
                    return Ok(());
                }
                Ok(false) => {}
                // Another server was always first; what it did need not be done here.
                Err(Error::Contended { .. }) if self.read().await?.progress().await? != before => {}
                Err(error) => return Err(error),
            }
        }
    }
}

impl Store {
    /// PostgreSQL lets two `CREATE TABLE IF NOT EXISTS` collide: the loser looks again.
    async fn migrate_prepare(&self) -> Result<(), Error> {
        let mut tries = 0;
        loop {
            let result: Result<(), Error> =
                self.tx("migrate_prepare", |tx| Box::pin(tx.prepare_progress())).await;
            tries += 1;
            match result {
                Err(Error::Conflict { .. } | Error::Contended { .. } | Error::Other { .. })
                    if tries < 5 =>
                {
                    tracing::debug!(tries, "another server prepares the schema");
                }
                result => return result,
            }
        }
    }
}

/// The table and column of a step that begins with `-- unless table.column`.
fn added_column(script: &str) -> Option<(&str, &str)> {
    script.lines().next()?.strip_prefix("-- unless ")?.split_once('.')
}

fn complete(progress: Progress, dialect: Dialect) -> u64 {
    match KNOWN.iter().find(|v| v.number == progress.version) {
        Some(version) if progress.step < version.steps(dialect).len() => progress.version - 1,
        Some(_) | None => progress.version,
    }
}

impl Conn {
    /// The newest version that is complete; 0 where there is no schema.
    pub(crate) async fn version_complete(&mut self) -> Result<u64, Error> {
        if !self.has_progress_table().await? {
            return Ok(0);
        }
        let progress = self.progress().await?;
        Ok(complete(progress, self.dialect()))
    }

    pub(crate) async fn has_progress_table(&mut self) -> Result<bool, Error> {
        let sql = match self.dialect() {
            Dialect::Sqlite => "SELECT 1 FROM sqlite_master WHERE name = 'schema_version'",
            Dialect::Postgres => {
                "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = 'schema_version'"
            }
        };
        Ok(self.query_one(sql, Vec::new()).await?.is_some())
    }

    async fn has_column(&mut self, table: &str, column: &str) -> Result<bool, Error> {
        let sql = match self.dialect() {
            Dialect::Sqlite => "SELECT 1 FROM pragma_table_info($1) WHERE name = $2",
            Dialect::Postgres => {
                "SELECT 1 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1 AND column_name = $2"
            }
        };
        Ok(self.query_one(sql, params![table, column]).await?.is_some())
    }

    async fn is_cockroach(&mut self) -> Result<bool, Error> {
        if self.dialect() == Dialect::Sqlite {
            return Ok(false);
        }
        let row = self.query_one("SELECT version()", Vec::new()).await?;
        let version = row.map(|row| row.columns("version").text()).transpose()?;
        Ok(version.is_some_and(|v| v.contains("CockroachDB")))
    }

    async fn progress(&mut self) -> Result<Progress, Error> {
        let sql = "SELECT version, step FROM schema_version WHERE id = 'schema'";
        let Some(row) = self.query_one(sql, Vec::new()).await? else {
            return Ok(Progress { version: 0, step: 0 });
        };
        let mut columns = row.columns("schema_version");
        Ok(Progress {
            version: columns.number()?,
            step: usize::try_from(columns.small()?).unwrap_or(usize::MAX),
        })
    }
}

impl Tx<'_> {
    async fn prepare_progress(&mut self) -> Result<(), Error> {
        if !self.has_progress_table().await? {
            self.script(PROGRESS_TABLE.into()).await?;
        }
        // Whoever migrates already changes the row all the time: only looked at where it is there.
        let known = "SELECT 1 FROM schema_version WHERE id = 'schema'";
        if self.query_one(known, Vec::new()).await?.is_none() {
            self.execute(
                "INSERT INTO schema_version (id, version, step) VALUES ('schema', 0, 0) ON CONFLICT (id) DO NOTHING",
                Vec::new(),
            )
            .await?;
        }
        Ok(())
    }

    /// Applies the next step of a version up to `last`; true when there is none.
    async fn migrate_step(&mut self, last: u64) -> Result<bool, Error> {
        self.execute("UPDATE schema_version SET step = step WHERE id = 'schema'", Vec::new())
            .await?;
        let progress = self.progress().await?;
        let known = Store::schema_known();
        if progress.version > known {
            return Err(Error::SchemaTooNew { found: progress.version, known });
        }
        let dialect = self.dialect();
        let Some((version, step, script)) = KNOWN
            .iter()
            .filter(|v| (progress.version..=last).contains(&v.number))
            .flat_map(|v| {
                let done = if v.number == progress.version { progress.step } else { 0 };
                v.steps(dialect)
                    .iter()
                    .enumerate()
                    .skip(done)
                    .map(move |(i, script)| (v.number, i + 1, *script))
            })
            .next()
        else {
            return Ok(true);
        };
        let text = if self.is_cockroach().await? {
            Cow::Owned(script.replace(BYTE_ORDER, ""))
        } else {
            Cow::Borrowed(script)
        };
        let is_done = match added_column(script) {
            Some((table, column)) => self.has_column(table, column).await?,
            None => false,
        };
        if !is_done {
            self.script(text).await?;
        }
        self.execute(
            "UPDATE schema_version SET version = $1, step = $2 WHERE id = 'schema'",
            params![version, u64::try_from(step).unwrap_or(u64::MAX)],
        )
        .await?;
        tracing::debug!(version, step, "schema step applied");
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_up_and_have_the_same_steps_in_both_dialects() {
        for (i, version) in KNOWN.iter().enumerate() {
            assert_eq!(version.number, i as u64 + 1);
            assert_eq!(version.sqlite.len(), version.postgres.len());
        }
    }
}
