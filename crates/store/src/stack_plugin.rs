//! Versions of plugins of stacks, numbered as those of modules are, and which definitions of stacks are read with them.
//!
//! A version is in use for as long as a stack that is there goes towards a definition that is read with it, was last as one,
//! or has a resource that is. What only a revision or a snapshot would need does not count: whoever goes back to it takes the
//! newest version where the old one is gone.

use hostler_model::stack::{StackDefinition, StackPlugin};
use hostler_model::{Limit, Page, ProjectId, StackPluginId};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{ConflictReason, Conn, Error, Tx};

macro_rules! columns {
    () => {
        "stack_plugin.id, stack_plugin.project_id, stack_plugin.name, stack_plugin.version, stack_plugin.kind, stack_plugin.file, stack_plugin.artefact, stack_plugin.manifest, stack_plugin.place, stack_plugin.created_by, stack_plugin.time_created"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM stack_plugin");

/// The newest that there is of every name.
const SELECT_NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM stack_plugin JOIN (SELECT project_id, name, MAX(version) AS newest FROM stack_plugin GROUP BY project_id, name) AS latest ON latest.project_id = stack_plugin.project_id AND latest.name = stack_plugin.name AND latest.newest = stack_plugin.version"
);

const INSERT: &str = "INSERT INTO stack_plugin (id, project_id, name, version, kind, file, artefact, manifest, place, created_by, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

/// Stacks that use a version.
const USERS: &str = "SELECT DISTINCT stack.name FROM stack_plugin_use JOIN stack ON stack.id = stack_plugin_use.stack_id WHERE stack_plugin_use.plugin_id = $1 AND stack.time_deleted IS NULL AND (stack.wanted = stack_plugin_use.definition_id OR stack.settled = stack_plugin_use.definition_id OR EXISTS (SELECT 1 FROM stack_resource WHERE stack_resource.stack_id = stack.id AND (stack_resource.definition_id = stack_plugin_use.definition_id OR stack_resource.deed_definition = stack_plugin_use.definition_id))) ORDER BY stack.name LIMIT 10";

fn decode(row: &Row) -> Result<StackPlugin, Error> {
    let mut columns = row.columns("stack_plugin");
    Ok(StackPlugin {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        version: columns.small()?,
        kind: columns.parse()?,
        file: columns.text()?,
        artefact: columns.digest()?,
        manifest: columns.json()?,
        place: columns.json()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
    })
}

impl Conn {
    /// The newest where no number is given.
    pub async fn stack_plugin_get(
        &mut self,
        project: ProjectId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<StackPlugin>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_value("name =", name)
            .and_some("version =", version)
            .first("version DESC", 1);
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    pub async fn stack_plugin_by_id(
        &mut self,
        id: StackPluginId,
    ) -> Result<Option<StackPlugin>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM stack_plugin WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Of one name, newest first; an unknown cursor begins anew.
    pub async fn stack_plugin_versions(
        &mut self,
        project: ProjectId,
        name: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackPlugin>, Error> {
        let after = after.and_then(|after| after.parse::<u32>().ok());
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_value("name =", name)
            .and_some("version <", after)
            .page("version DESC", limit);
        let rows = self.query(sql, params).await?;
        let versions = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(versions, limit, |version| version.version.to_string()))
    }

    /// The newest version of every name, by name.
    pub async fn stack_plugin_list(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackPlugin>, Error> {
        let (sql, params) = Select::new(SELECT_NEWEST)
            .and_value("stack_plugin.project_id =", project)
            .and_some("stack_plugin.name >", after)
            .page("stack_plugin.name", limit);
        let rows = self.query(sql, params).await?;
        let versions = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(versions, limit, |version| version.name.to_string()))
    }

    /// How many plugins a project has, and how many versions of one.
    pub async fn stack_plugin_counts(
        &mut self,
        project: ProjectId,
        name: &str,
    ) -> Result<(u64, u64), Error> {
        let plugins = "SELECT COUNT(DISTINCT name) FROM stack_plugin WHERE project_id = $1";
        let versions = "SELECT COUNT(*) FROM stack_plugin WHERE project_id = $1 AND name = $2";
        let plugins = self.count(plugins, params![project]).await?;
        Ok((plugins, self.count(versions, params![project, name]).await?))
    }

    /// Names of some stacks that use a version.
    pub async fn stack_plugin_users(&mut self, id: StackPluginId) -> Result<Vec<String>, Error> {
        let rows = self.query(USERS, params![id]).await?;
        rows.iter().map(|row| row.columns("stack").text()).collect()
    }
}

impl Tx<'_> {
    /// Enters a version with the next number of its name; as it was entered. Where the newest version is the same, it is
    /// that one, and nothing is done.
    pub async fn stack_plugin_insert(
        &mut self,
        plugin: &StackPlugin,
    ) -> Result<StackPlugin, Error> {
        let newest = self.stack_plugin_get(plugin.project_id, plugin.name.as_str(), None).await?;
        let is_same = |newest: &StackPlugin| {
            newest.kind == plugin.kind
                && newest.artefact == plugin.artefact
                && newest.manifest == plugin.manifest
                && newest.place == plugin.place
                && newest.file == plugin.file
        };
        if let Some(newest) = newest.filter(is_same) {
            return Ok(newest);
        }
        let row = self
            .query_one(
                "INSERT INTO stack_plugin_name (project_id, name, version_last) VALUES ($1, $2, 1) ON CONFLICT (project_id, name) DO UPDATE SET version_last = stack_plugin_name.version_last + 1 RETURNING version_last",
                params![plugin.project_id, plugin.name.as_str()],
            )
            .await?;
        let number = match row {
            Some(row) => row.columns("stack_plugin_name").small()?,
            None => 1,
        };
        let plugin = StackPlugin { version: number, ..plugin.clone() };
        self.execute(
            INSERT,
            params![
                plugin.id,
                plugin.project_id,
                plugin.name.as_str(),
                plugin.version,
                plugin.kind.label(),
                &plugin.file,
                plugin.artefact,
                Value::json(&plugin.manifest),
                Value::json(&plugin.place),
                plugin.created_by,
                plugin.time_created
            ],
        )
        .await?;
        Ok(plugin)
    }

    /// Removes a version that nothing uses any more, and what it needs of blobs. Says whether it was there.
    pub async fn stack_plugin_remove(&mut self, id: StackPluginId) -> Result<bool, Error> {
        self.execute("DELETE FROM stack_plugin_use WHERE plugin_id = $1", params![id]).await?;
        self.execute("DELETE FROM blob_use WHERE holder = $1", params![id]).await?;
        Ok(self.execute("DELETE FROM stack_plugin WHERE id = $1", params![id]).await? > 0)
    }

    /// Notes which versions a definition is read with; a conflict where one was removed meanwhile.
    pub(crate) async fn stack_plugin_use(
        &mut self,
        definition: &StackDefinition,
    ) -> Result<(), Error> {
        for plugin in &definition.plugins {
            let noted = self
                .execute(
                    "INSERT INTO stack_plugin_use (plugin_id, definition_id, stack_id) SELECT id, $2, $3 FROM stack_plugin WHERE id = $1",
                    params![*plugin, definition.id, definition.stack_id],
                )
                .await?;
            if noted == 0 {
                return Err(Error::Conflict {
                    reason: ConflictReason::Reference,
                    object: "stack".to_owned(),
                    source: None,
                });
            }
        }
        Ok(())
    }
}
