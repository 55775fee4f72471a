//! Versions of modules that projects keep, numbered as those of workflows are: a number is given when a version is
//! entered and never again, and what is entered twice in a row is one version.

use hostler_model::workflow::ModuleVersion;
use hostler_model::{Limit, Page, ProjectId};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "module_version.id, module_version.project_id, module_version.name, module_version.version, module_version.bundle, module_version.file, module_version.modules, module_version.created_by, module_version.time_created"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM module_version");

/// The newest of every name.
const SELECT_NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM module_name JOIN module_version ON module_version.project_id = module_name.project_id AND module_version.name = module_name.name AND module_version.version = module_name.version_last"
);

/// As an insert names them.
const INSERT: &str = "INSERT INTO module_version (id, project_id, name, version, bundle, file, modules, created_by, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

fn decode(row: &Row) -> Result<ModuleVersion, Error> {
    let mut columns = row.columns("module_version");
    Ok(ModuleVersion {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.text()?,
        version: columns.small()?,
        bundle: columns.digest()?,
        file: columns.text()?,
        modules: columns.json()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
    })
}

impl Conn {
    /// The newest where no number is given.
    pub async fn module_version_get(
        &mut self,
        project: ProjectId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<ModuleVersion>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_value("name =", name)
            .and_some("version =", version)
            .first("version DESC", 1);
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    /// Of one name, newest first; an unknown cursor begins anew.
    pub async fn module_versions(
        &mut self,
        project: ProjectId,
        name: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ModuleVersion>, Error> {
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
    pub async fn module_list(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<ModuleVersion>, Error> {
        let (sql, params) = Select::new(SELECT_NEWEST)
            .and_value("module_name.project_id =", project)
            .and_some("module_name.name >", after)
            .page("module_name.name", limit);
        let rows = self.query(sql, params).await?;
        let versions = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(versions, limit, |version| version.name.clone()))
    }
}

impl Tx<'_> {
    /// Enters a version with the next number of its name; as it was entered. Where the newest version of the name
    /// has the same text, it is that one, and nothing is done.
    pub async fn module_version_insert(
        &mut self,
        version: &ModuleVersion,
    ) -> Result<ModuleVersion, Error> {
        let newest = self.module_version_get(version.project_id, &version.name, None).await?;
        let is_same =
            |newest: &ModuleVersion| newest.bundle == version.bundle && newest.file == version.file;
        if let Some(newest) = newest.filter(is_same) {
            return Ok(newest);
        }
        let row = self
            .query_one(
                "INSERT INTO module_name (project_id, name, version_last) VALUES ($1, $2, 1) ON CONFLICT (project_id, name) DO UPDATE SET version_last = module_name.version_last + 1 RETURNING version_last",
                params![version.project_id, &version.name],
            )
            .await?;
        let number = match row {
            Some(row) => row.columns("module_name").small()?,
            None => 1,
        };
        let version = ModuleVersion { version: number, ..version.clone() };
        self.execute(
            INSERT,
            params![
                version.id,
                version.project_id,
                &version.name,
                version.version,
                version.bundle,
                &version.file,
                Value::json(&version.modules),
                version.created_by,
                version.time_created
            ],
        )
        .await?;
        Ok(version)
    }

    /// Removes all versions of a name, and what they need of blobs; says how many there were.
    pub async fn module_remove(&mut self, project: ProjectId, name: &str) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM blob_use WHERE holder IN (SELECT id FROM module_version WHERE project_id = $1 AND name = $2)",
            params![project, name],
        )
        .await?;
        self.execute(
            "DELETE FROM module_version WHERE project_id = $1 AND name = $2",
            params![project, name],
        )
        .await
    }
}
