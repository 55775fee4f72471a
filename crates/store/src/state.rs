//! Entries of state, what they come to, and the head.
//!
//! A batch of transactions is one transaction here: [`Tx::state_head_lock`] takes the one head row, which
//! makes servers wait for each other; rows are read with few statements, `engine::state` decides, and
//! [`Tx::state_write`] writes everything it says. Commit order is the order of revisions.
//!
//! The revision of an entry takes the place of a generation: it is compared where the rows were read,
//! under the lock of the head.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use hostler_model::{
    Limit, Name, Page, ProjectId, StateAddress, StateBatch, StateHead, StateRecord, StateSum,
    Timestamp,
};

use crate::select::Select;
use crate::state_log::{self, owner_of, owner_text};
use crate::value::{Column, Columns, Row, Value, params, without_nul};
use crate::{Conn, Dialect, Error, Tx};

/// Rows that are asked for with one statement.
const ASKED_MAX: usize = 256;

macro_rules! columns {
    () => {
        "id, is_gone, revision, create_revision, version, size, owner, time_created, time_modified, time_expires"
    };
}

/// What becomes of a row that is there: one without a value keeps what it has.
macro_rules! upserted {
    () => {
        "ON CONFLICT (id) DO UPDATE SET is_gone = excluded.is_gone, revision = excluded.revision, create_revision = excluded.create_revision, version = excluded.version, size = excluded.size, owner = excluded.owner, time_created = excluded.time_created, time_modified = excluded.time_modified, time_expires = excluded.time_expires, value = CASE WHEN excluded.is_gone OR excluded.value IS NOT NULL THEN excluded.value ELSE state_entry.value END"
    };
}

const SUM_UPSERT: &str =
    "ON CONFLICT (id) DO UPDATE SET entries = excluded.entries, bytes = excluded.bytes";

/// Which entries to list.
#[derive(Clone, Copy, Debug)]
pub struct StateListing<'a> {
    pub project: ProjectId,
    pub namespace: &'a Name,
    /// What their keys begin with.
    pub prefix: &'a str,
    /// After this key.
    pub after: Option<&'a str>,
    pub with_values: bool,
    /// What is past its time then is left out.
    pub now: Timestamp,
}

fn record(columns: &mut Columns<'_>) -> Result<StateRecord, Error> {
    let at: StateAddress = columns.parse()?;
    let is_gone = columns.flag()?;
    let (revision, create_revision, version) =
        (columns.number()?, columns.number()?, columns.number()?);
    let size = columns.number()?;
    let owner = columns.text()?;
    let unreadable = || Error::corrupt(format!("the owner of the state entry {at}"));
    Ok(StateRecord {
        owner: owner_of(&owner).ok_or_else(unreadable)?,
        at,
        is_gone,
        revision,
        create_revision,
        version,
        size,
        value: None,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        time_expires: columns.opt_time()?,
    })
}

fn without_value(row: &Row) -> Result<StateRecord, Error> {
    record(&mut row.columns("state_entry"))
}

fn with_value(row: &Row) -> Result<StateRecord, Error> {
    let mut columns = row.columns("state_entry");
    let record = record(&mut columns)?;
    Ok(StateRecord { value: columns.opt_blob()?.map(Into::into), ..record })
}

/// The first text that no text with this beginning comes after.
fn end_of(prefix: &str) -> String {
    let mut end = prefix.to_owned();
    while let Some(last) = end.pop() {
        let next = (u32::from(last) + 1..=u32::from(char::MAX)).find_map(char::from_u32);
        if let Some(next) = next {
            end.push(next);
            break;
        }
    }
    end
}

fn no_head() -> Error {
    Error::corrupt("the head of the state is missing")
}

fn head_of(columns: &mut Columns<'_>) -> Result<StateHead, Error> {
    let (revision, time, logged) = (columns.number()?, columns.time()?, columns.number()?);
    Ok(StateHead { revision, time, logged })
}

const COLUMNS: usize = 11;

fn values(row: &StateRecord) -> [Value; COLUMNS] {
    [
        Value::from(&row.at.to_string()),
        row.is_gone.into(),
        row.revision.into(),
        row.create_revision.into(),
        row.version.into(),
        row.size.into(),
        Value::from(&owner_text(&row.owner)),
        row.time_created.into(),
        row.time_modified.into(),
        row.time_expires.into(),
        Value::Blob(row.value.as_ref().map(|value| value.to_vec())),
    ]
}

/// How many of the rows that are left go into the next statement on SQLite.
const fn piece(left: usize) -> usize {
    match left {
        ..8 => left,
        8..64 => left - left % 8,
        _ => 64,
    }
}

/// The statement for a piece.
fn upsert(rows: usize) -> &'static str {
    static TEXTS: LazyLock<BTreeMap<usize, String>> = LazyLock::new(|| {
        let row = format!("({})", ["?"; COLUMNS].join(", "));
        let text = |rows: usize| {
            let rows = vec![row.as_str(); rows].join(", ");
            let head = concat!("INSERT INTO state_entry (", columns!(), ", value)");
            format!("{head} VALUES {rows} {}", upserted!())
        };
        let sizes = (1..8).chain((8..=64).step_by(8));
        sizes.map(|rows| (rows, text(rows))).collect()
    });
    TEXTS.get(&rows).expect("a piece has one of these sizes")
}

fn sum_id(project: ProjectId, namespace: Option<&Name>) -> String {
    match namespace {
        None => project.to_string(),
        Some(namespace) => format!("{project}/{namespace}"),
    }
}

fn sum(row: &Row) -> Result<StateSum, Error> {
    let mut columns = row.columns("state_sum");
    let id = columns.text()?;
    let unreadable = || Error::corrupt(format!("the state sum `{id}`"));
    let (project, namespace) = match id.split_once('/') {
        None => (id.as_str(), None),
        Some((project, namespace)) => (project, Some(namespace)),
    };
    Ok(StateSum {
        project_id: project.parse().map_err(|_| unreadable())?,
        namespace: namespace.map(str::parse).transpose().map_err(|_| unreadable())?,
        entries: columns.number()?,
        bytes: columns.number()?,
    })
}

impl Conn {
    pub async fn state_head(&mut self) -> Result<StateHead, Error> {
        let sql = "SELECT revision, time_modified, logged FROM state_head WHERE id = 'state'";
        let row = self.query_one(sql, Vec::new()).await?.ok_or_else(no_head)?;
        head_of(&mut row.columns("state_head"))
    }

    /// Rows of entries, those of what is gone too; in no order.
    pub async fn state_rows(
        &mut self,
        ids: &[String],
        with_values: bool,
    ) -> Result<Vec<StateRecord>, Error> {
        let text = match with_values {
            true => concat!("SELECT ", columns!(), ", value FROM state_entry"),
            false => concat!("SELECT ", columns!(), " FROM state_entry"),
        };
        let decode = if with_values { with_value } else { without_value };
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(ASKED_MAX) {
            let (sql, params) = Select::new(text).and_in("id", ids).unordered();
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    /// By key.
    pub async fn state_list(
        &mut self,
        of: StateListing<'_>,
        limit: Limit,
    ) -> Result<Page<StateRecord>, Error> {
        let from = format!("{}/{}/{}", of.project, of.namespace, of.prefix);
        let after = of.after.map(|key| format!("{}/{}/{key}", of.project, of.namespace));
        let head = match of.with_values {
            true => concat!("SELECT ", columns!(), ", value FROM state_entry"),
            false => concat!("SELECT ", columns!(), " FROM state_entry"),
        };
        let (sql, params) = Select::new(head)
            .and_value("id >=", &from)
            .and_value("id <", &end_of(&from))
            .and_some("id >", after.as_deref())
            .and("is_gone = FALSE")
            .and_value("COALESCE(time_expires, 9223372036854775807) >", of.now)
            .page("id", limit);
        let rows = self.query(sql, params).await?;
        let decode = if of.with_values { with_value } else { without_value };
        let records = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(records, limit, |record| record.at.key.to_string()))
    }

    /// Entries whose time has come, the longest due first.
    pub async fn state_due(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<StateAddress>, Error> {
        let sql = "SELECT id FROM state_entry WHERE time_expires <= $1 ORDER BY time_expires, id LIMIT $2";
        let rows = self.query(sql, params![now, limit]).await?;
        rows.iter().map(|row| row.columns("state_entry").parse()).collect()
    }

    /// When the time of the next entry comes.
    pub async fn state_next_due(&mut self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT time_expires FROM state_entry WHERE time_expires IS NOT NULL ORDER BY time_expires LIMIT 1";
        let row = self.query_one(sql, Vec::new()).await?;
        row.map(|row| row.columns("state_entry").time()).transpose()
    }

    /// What these projects, and these namespaces of them, hold; those with nothing may be left out.
    pub async fn state_sums(
        &mut self,
        of: impl IntoIterator<Item = (ProjectId, Option<&Name>)>,
    ) -> Result<Vec<StateSum>, Error> {
        let ids: Vec<String> = of.into_iter().map(|(id, name)| sum_id(id, name)).collect();
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(ASKED_MAX) {
            let select = Select::new("SELECT id, entries, bytes FROM state_sum").and_in("id", ids);
            let (sql, params) = select.unordered();
            for row in &self.query(sql, params).await? {
                found.push(sum(row)?);
            }
        }
        Ok(found)
    }

    /// Namespaces of a project that hold something, by name.
    pub async fn state_namespaces(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StateSum>, Error> {
        let from = format!("{project}/");
        let after = after.map(|name| format!("{project}/{name}"));
        let (sql, params) = Select::new("SELECT id, entries, bytes FROM state_sum")
            .and_value("id >=", &from)
            .and_value("id <", &end_of(&from))
            .and_some("id >", after.as_deref())
            .and("entries > 0")
            .page("id", limit);
        let rows = self.query(sql, params).await?;
        let sums = rows.iter().map(sum).collect::<Result<Vec<_>, _>>()?;
        let name = |sum: &StateSum| sum.namespace.as_ref().map(Name::to_string).unwrap_or_default();
        Ok(Page::from_rows(sums, limit, name))
    }
}

impl Tx<'_> {
    /// The head, which nobody else takes before this transaction ends; and how many bytes each of these
    /// projects may have, those that are gone left out. Call it first.
    pub async fn state_head_lock(
        &mut self,
        projects: impl IntoIterator<Item = ProjectId>,
    ) -> Result<(StateHead, HashMap<ProjectId, Option<u64>>), Error> {
        let (sql, params) = Select::new("").and_in("project.id", projects).unordered();
        let which = sql.trim_start_matches(" WHERE ");
        // SQLite has one writer: whoever is here is alone.
        let lock = match self.dialect() {
            Dialect::Sqlite => "",
            Dialect::Postgres => " FOR UPDATE OF state_head",
        };
        let sql = format!(
            "SELECT state_head.revision, state_head.time_modified, state_head.logged, project.id, project.quota FROM state_head LEFT JOIN project ON {which} WHERE state_head.id = 'state'{lock}"
        );
        let (mut found, mut quotas) = (None, HashMap::new());
        for row in &self.query(sql, params).await? {
            let mut columns = row.columns("state_head and project");
            found = Some(head_of(&mut columns)?);
            if let Some(id) = columns.opt_parse()? {
                let quota: hostler_model::Quota = columns.json()?;
                quotas.insert(id, quota.state.map(hostler_model::Bytes::get));
            }
        }
        found.ok_or_else(no_head).map(|head| (head, quotas))
    }

    /// Writes what a batch came to, and logs it.
    pub async fn state_write(
        &mut self,
        head: StateHead,
        rows: &[StateRecord],
        sums: &[StateSum],
        batch: &StateBatch,
    ) -> Result<(), Error> {
        let changes = state_log::write(batch);
        let logged = head.logged + changes.len() as u64;
        let closing = params![
            batch.last,
            batch.first,
            batch.time,
            logged,
            Value::Blob(Some(changes)),
            head.revision,
            head.time
        ];
        match self.dialect() {
            Dialect::Sqlite => self.state_write_pieces(rows, sums, closing).await,
            Dialect::Postgres => self.state_write_at_once(rows, sums, closing).await,
        }
    }

    /// SQLite is not far away, but each statement is a way to its thread and back, and it is slow to read a
    /// long text that it has not seen: rows go in pieces of few sizes, all of which stay prepared.
    async fn state_write_pieces(
        &mut self,
        rows: &[StateRecord],
        sums: &[StateSum],
        closing: Vec<Value>,
    ) -> Result<(), Error> {
        let mut left = rows;
        while !left.is_empty() {
            let (piece, rest) = left.split_at(piece(left.len()));
            left = rest;
            let mut params = Vec::with_capacity(piece.len() * COLUMNS);
            piece.iter().for_each(|row| params.extend(values(row)));
            self.execute(upsert(piece.len()), params).await?;
        }
        let values = sums
            .iter()
            .map(|sum| {
                let id = sum_id(sum.project_id, sum.namespace.as_ref());
                params![&id, sum.entries, sum.bytes]
            })
            .collect();
        self.insert_many_or("INSERT INTO state_sum (id, entries, bytes)", values, SUM_UPSERT)
            .await?;
        self.execute(
            concat!(
                "INSERT INTO state_log (last_revision, first_revision, time_created, logged, changes) VALUES ($1, $2, $3, $4, $5); ",
                "UPDATE state_head SET revision = $6, time_modified = $7, logged = $4 WHERE id = 'state'"
            ),
            closing,
        )
        .await?;
        Ok(())
    }

    /// To PostgreSQL everything goes at once, as columns: one way there and back, and one text.
    async fn state_write_at_once(
        &mut self,
        rows: &[StateRecord],
        sums: &[StateSum],
        mut closing: Vec<Value>,
    ) -> Result<(), Error> {
        let texts = |of: &dyn Fn(&StateRecord) -> String| {
            Value::Column(Column::Texts(rows.iter().map(|row| without_nul(&of(row))).collect()))
        };
        let ints = |of: &dyn Fn(&StateRecord) -> Option<i64>| {
            Value::Column(Column::Ints(rows.iter().map(of).collect()))
        };
        let number = |number: u64| Some(i64::try_from(number).unwrap_or(i64::MAX));
        let value = |row: &StateRecord| row.value.as_ref().map(|value| value.to_vec());
        closing.extend([
            texts(&|row| row.at.to_string()),
            Value::Column(Column::Flags(rows.iter().map(|row| row.is_gone).collect())),
            ints(&|row| number(row.revision)),
            ints(&|row| number(row.create_revision)),
            ints(&|row| number(row.version)),
            ints(&|row| number(row.size)),
            texts(&|row| owner_text(&row.owner)),
            ints(&|row| Some(row.time_created.micros())),
            ints(&|row| Some(row.time_modified.micros())),
            ints(&|row| row.time_expires.map(Timestamp::micros)),
            Value::Column(Column::Blobs(rows.iter().map(value).collect())),
        ]);
        let id = |sum: &StateSum| sum_id(sum.project_id, sum.namespace.as_ref());
        let ints = |of: &dyn Fn(&StateSum) -> u64| {
            Value::Column(Column::Ints(sums.iter().map(|sum| number(of(sum))).collect()))
        };
        closing.extend([
            Value::Column(Column::Texts(sums.iter().map(id).collect())),
            ints(&|sum| sum.entries),
            ints(&|sum| sum.bytes),
        ]);
        let sql = concat!(
            "WITH entry AS (INSERT INTO state_entry (",
            columns!(),
            ", value) SELECT * FROM UNNEST(CAST($8 AS TEXT[]), CAST($9 AS BOOLEAN[]), CAST($10 AS BIGINT[]), CAST($11 AS BIGINT[]), CAST($12 AS BIGINT[]), CAST($13 AS BIGINT[]), CAST($14 AS TEXT[]), CAST($15 AS BIGINT[]), CAST($16 AS BIGINT[]), CAST($17 AS BIGINT[]), CAST($18 AS BYTEA[])) AS given ",
            upserted!(),
            "), sums AS (INSERT INTO state_sum (id, entries, bytes) SELECT * FROM UNNEST(CAST($19 AS TEXT[]), CAST($20 AS BIGINT[]), CAST($21 AS BIGINT[])) AS given ON CONFLICT (id) DO UPDATE SET entries = excluded.entries, bytes = excluded.bytes), ",
            "logged AS (INSERT INTO state_log (last_revision, first_revision, time_created, logged, changes) VALUES ($1, $2, $3, $4, $5)) ",
            "UPDATE state_head SET revision = $6, time_modified = $7, logged = $4 WHERE id = 'state'"
        );
        self.execute(sql, closing).await?;
        Ok(())
    }

    /// Forgets entries that are gone and whose last change is not kept any more; returns how many.
    pub async fn state_forget_gone(&mut self, before: u64, limit: u32) -> Result<u64, Error> {
        let sql = "DELETE FROM state_entry WHERE id IN (SELECT id FROM state_entry WHERE is_gone = TRUE AND revision < $1 ORDER BY revision, id LIMIT $2)";
        self.execute(sql, params![before, limit]).await
    }

    /// What is left of a project that is gone: rows of what was deleted, and sums of nothing.
    pub(crate) async fn state_forget_project(&mut self, project: ProjectId) -> Result<(), Error> {
        let from = format!("{project}/");
        let range = params![&from, &end_of(&from)];
        self.execute("DELETE FROM state_entry WHERE id >= $1 AND id < $2", range.clone()).await?;
        self.execute("DELETE FROM state_sum WHERE id >= $1 AND id < $2", range).await?;
        self.execute("DELETE FROM state_sum WHERE id = $1", params![project]).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::end_of;

    #[test]
    fn a_range_holds_every_text_with_its_beginning() {
        for prefix in ["a", "a/", "ä", "a\u{d7ff}", "a\u{10ffff}", "z\u{10ffff}\u{10ffff}"] {
            let end = end_of(prefix);
            for after in ["", "x", "\u{10ffff}", "\u{10ffff}\u{10ffff}"] {
                let inside = format!("{prefix}{after}");
                assert!(*prefix <= *inside && inside < end, "{prefix:?} {inside:?} {end:?}");
            }
        }
        assert_eq!(end_of("a/"), "a0");
        assert_eq!(end_of("a\u{d7ff}"), "a\u{e000}");
        assert_eq!(end_of("a\u{10ffff}"), "b");
    }
}
