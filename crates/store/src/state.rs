//! Entries of state, what they come to, and the head.
//!
//! A batch of transactions is one transaction here: [`Tx::state_head_lock`] takes the one head row, which
//! makes servers wait for each other; rows are read with few statements, `engine::state` decides, and
//! [`Tx::state_write`] writes everything it says. Commit order is the order of revisions.
//!
//! The revision of an entry takes the place of a generation: it is compared where the rows were read,
//! under the lock of the head.

use std::collections::HashMap;

use hostler_model::{
    Limit, Name, Page, ProjectId, StateAddress, StateBatch, StateHead, StateRecord, StateSum,
    Timestamp,
};

use crate::select::Select;
use crate::state_log::{owner_of, owner_text};
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Dialect, Error, Tx};

/// Rows that are asked for with one statement.
const ASKED_MAX: usize = 256;

macro_rules! columns {
    () => {
        "id, is_gone, revision, create_revision, version, size, owner, time_created, time_modified, time_expires"
    };
}

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

fn head(row: Option<Row>) -> Result<StateHead, Error> {
    let row = row.ok_or_else(|| Error::corrupt("the head of the state is missing"))?;
    let mut columns = row.columns("state_head");
    let (revision, time, logged) = (columns.number()?, columns.time()?, columns.number()?);
    Ok(StateHead { revision, time, logged })
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
        head(self.query_one(sql, Vec::new()).await?)
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

    /// How many bytes each of these projects may have; those that are gone are left out.
    pub async fn state_quotas(
        &mut self,
        projects: impl IntoIterator<Item = ProjectId>,
    ) -> Result<HashMap<ProjectId, Option<u64>>, Error> {
        let select = Select::new("SELECT id, quota FROM project").and_in("id", projects);
        let (sql, params) = select.unordered();
        let mut found = HashMap::new();
        for row in &self.query(sql, params).await? {
            let mut columns = row.columns("project");
            let (id, quota) = (columns.parse()?, columns.json::<hostler_model::Quota>()?);
            found.insert(id, quota.state.map(hostler_model::Bytes::get));
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// The head, which nobody else takes before this transaction ends. Call it first.
    pub async fn state_head_lock(&mut self) -> Result<StateHead, Error> {
        // SQLite has one writer: whoever is here is alone.
        let sql = match self.dialect() {
            Dialect::Sqlite => {
                "SELECT revision, time_modified, logged FROM state_head WHERE id = 'state'"
            }
            Dialect::Postgres => {
                "SELECT revision, time_modified, logged FROM state_head WHERE id = 'state' FOR UPDATE"
            }
        };
        head(self.query_one(sql, Vec::new()).await?)
    }

    /// Writes what a batch came to, and logs it.
    pub async fn state_write(
        &mut self,
        head: StateHead,
        rows: &[StateRecord],
        sums: &[StateSum],
        batch: &StateBatch,
    ) -> Result<(), Error> {
        let values = rows
            .iter()
            .map(|row| {
                params![
                    &row.at.to_string(),
                    row.is_gone,
                    row.revision,
                    row.create_revision,
                    row.version,
                    row.size,
                    &owner_text(&row.owner),
                    row.time_created,
                    row.time_modified,
                    row.time_expires,
                    Value::Blob(row.value.as_ref().map(|value| value.to_vec()))
                ]
            })
            .collect();
        self.insert_many_or(
            concat!("INSERT INTO state_entry (", columns!(), ", value)"),
            values,
            "ON CONFLICT (id) DO UPDATE SET is_gone = excluded.is_gone, revision = excluded.revision, create_revision = excluded.create_revision, version = excluded.version, size = excluded.size, owner = excluded.owner, time_created = excluded.time_created, time_modified = excluded.time_modified, time_expires = excluded.time_expires, value = CASE WHEN excluded.is_gone OR excluded.value IS NOT NULL THEN excluded.value ELSE state_entry.value END",
        )
        .await?;
        let values = sums
            .iter()
            .map(|sum| {
                let id = sum_id(sum.project_id, sum.namespace.as_ref());
                params![&id, sum.entries, sum.bytes]
            })
            .collect();
        self.insert_many_or(
            "INSERT INTO state_sum (id, entries, bytes)",
            values,
            "ON CONFLICT (id) DO UPDATE SET entries = excluded.entries, bytes = excluded.bytes",
        )
        .await?;
        let logged = self.state_log_append(batch, head).await?;
        self.execute(
            "UPDATE state_head SET revision = $1, time_modified = $2, logged = $3 WHERE id = 'state'",
            params![head.revision, head.time, logged],
        )
        .await?;
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
