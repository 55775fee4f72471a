//! Watchers of projects, as people write them.

use hostler_model::{
    Generation, Limit, Mandate, Name, Page, PermissionSet, ProjectId, Watcher, WatcherId,
};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, project_id, name, spec, mandate_principal, mandate_can, is_enabled, generation, time_created, time_modified"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM watcher");
const PROBE: &str = "SELECT generation FROM watcher WHERE id = $1";

fn decode(row: &Row) -> Result<Watcher, Error> {
    let mut columns = row.columns("watcher");
    Ok(Watcher {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        spec: columns.json()?,
        mandate: Mandate { principal: columns.parse()?, can: columns.opt_json::<PermissionSet>()? },
        is_enabled: columns.flag()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

impl Conn {
    pub async fn watcher_get(&mut self, id: WatcherId) -> Result<Option<Watcher>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM watcher WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Those of these that are there.
    pub async fn watcher_get_batch(&mut self, ids: &[WatcherId]) -> Result<Vec<Watcher>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) =
                Select::new(SELECT).and_in("id", chunk.iter().copied()).first("id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    pub async fn watcher_by_name(
        &mut self,
        project: ProjectId,
        name: &Name,
    ) -> Result<Option<Watcher>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM watcher WHERE project_id = $1 AND name = $2");
        self.query_one(sql, params![project, name]).await?.as_ref().map(decode).transpose()
    }

    /// By name.
    pub async fn watcher_list(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Watcher>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_some("name >", after)
            .page("name", limit);
        let rows = self.query(sql, params).await?;
        let watchers = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(watchers, limit, |watcher| watcher.name.to_string()))
    }

    /// Every one that is enabled, the oldest first. How many a project has is bounded where they are made.
    pub async fn watchers_enabled(&mut self) -> Result<Vec<Watcher>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM watcher WHERE is_enabled = $1 ORDER BY id");
        let rows = self.query(sql, params![true]).await?;
        rows.iter().map(decode).collect()
    }

    pub async fn watcher_count_in(&mut self, project: ProjectId) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM watcher WHERE project_id = $1".to_owned();
        self.count(sql, params![project]).await
    }

    /// How many there are, and how many of them are enabled.
    pub async fn watcher_count(&mut self) -> Result<(u64, u64), Error> {
        let all = self.count("SELECT COUNT(*) FROM watcher".to_owned(), Vec::new()).await?;
        let sql = "SELECT COUNT(*) FROM watcher WHERE is_enabled = $1".to_owned();
        Ok((all, self.count(sql, params![true]).await?))
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken in the project.
    pub async fn watcher_insert(&mut self, watcher: &Watcher) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO watcher (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            ),
            params![
                watcher.id,
                watcher.project_id,
                &watcher.name,
                Value::json(&watcher.spec),
                watcher.mandate.principal,
                Value::json_opt(watcher.mandate.can.as_ref()),
                watcher.is_enabled,
                watcher.generation,
                watcher.time_created,
                watcher.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    pub async fn watcher_update(
        &mut self,
        watcher: &Watcher,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE watcher SET spec = $3, mandate_principal = $4, mandate_can = $5, is_enabled = $6, generation = $7, time_modified = $8 WHERE id = $1 AND generation = $2",
            params![
                watcher.id,
                expected,
                Value::json(&watcher.spec),
                watcher.mandate.principal,
                Value::json_opt(watcher.mandate.can.as_ref()),
                watcher.is_enabled,
                expected.next(),
                watcher.time_modified
            ],
            PROBE,
            watcher.id,
        )
        .await
    }

    /// With what nodes told of it.
    pub async fn watcher_delete(
        &mut self,
        id: WatcherId,
        expected: Generation,
    ) -> Result<Update, Error> {
        let sql = "DELETE FROM watcher WHERE id = $1 AND generation = $2";
        let update = self.conditional(sql, params![id, expected], PROBE, id).await?;
        if update.is_updated() {
            self.execute("DELETE FROM watcher_node WHERE watcher_id = $1", params![id]).await?;
        }
        Ok(update)
    }
}
