//! Versions of workflows. A number is given when a version is entered and never again, also when the
//! versions have gone; what is entered twice in a row is one version. All versions of a name go together,
//! so the last number that was given is that of the newest version, or of none.

use hostler_model::workflow::WorkflowVersion;
use hostler_model::{Limit, Page, ProjectId};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "workflow_version.id, workflow_version.project_id, workflow_version.name, workflow_version.version, workflow_version.bundle, workflow_version.file, workflow_version.graph, workflow_version.modules, workflow_version.created_by, workflow_version.time_created"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM workflow_version");

/// The newest of every name.
const SELECT_NEWEST: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM workflow_name JOIN workflow_version ON workflow_version.project_id = workflow_name.project_id AND workflow_version.name = workflow_name.name AND workflow_version.version = workflow_name.version_last"
);

/// As an insert names them.
const INSERT: &str = "INSERT INTO workflow_version (id, project_id, name, version, bundle, file, graph, modules, created_by, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";

fn decode(row: &Row) -> Result<WorkflowVersion, Error> {
    let mut columns = row.columns("workflow_version");
    Ok(WorkflowVersion {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.text()?,
        version: columns.small()?,
        bundle: columns.digest()?,
        file: columns.text()?,
        graph: columns.json()?,
        modules: columns.json()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
    })
}

/// Whether the text is the same; the graph may have been made with other values.
fn is_same(stored: &WorkflowVersion, version: &WorkflowVersion) -> bool {
    stored.bundle == version.bundle && stored.file == version.file
}

impl Conn {
    /// The newest where no number is given.
    pub async fn workflow_version_get(
        &mut self,
        project: ProjectId,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<WorkflowVersion>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_value("name =", name)
            .and_some("version =", version)
            .first("version DESC", 1);
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    /// Of one name, newest first; an unknown cursor begins anew.
    pub async fn workflow_versions(
        &mut self,
        project: ProjectId,
        name: &str,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<WorkflowVersion>, Error> {
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
    pub async fn workflow_list(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<WorkflowVersion>, Error> {
        let (sql, params) = Select::new(SELECT_NEWEST)
            .and_value("workflow_name.project_id =", project)
            .and_some("workflow_name.name >", after)
            .page("workflow_name.name", limit);
        let rows = self.query(sql, params).await?;
        let versions = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(versions, limit, |version| version.name.clone()))
    }
}

impl Tx<'_> {
    /// Enters a version with the next number of its name; as it was entered. Where the newest version of
    /// the name has the same text, it is that one, and nothing is done.
    pub async fn workflow_version_insert(
        &mut self,
        version: &WorkflowVersion,
    ) -> Result<WorkflowVersion, Error> {
        let newest = self.workflow_version_get(version.project_id, &version.name, None).await?;
        if let Some(newest) = newest.filter(|newest| is_same(newest, version)) {
            return Ok(newest);
        }
        let row = self
            .query_one(
                "INSERT INTO workflow_name (project_id, name, version_last) VALUES ($1, $2, 1) ON CONFLICT (project_id, name) DO UPDATE SET version_last = workflow_name.version_last + 1 RETURNING version_last",
                params![version.project_id, &version.name],
            )
            .await?;
        let number = match row {
            Some(row) => row.columns("workflow_name").small()?,
            None => 1,
        };
        let version = WorkflowVersion { version: number, ..version.clone() };
        self.execute(
            INSERT,
            params![
                version.id,
                version.project_id,
                &version.name,
                version.version,
                version.bundle,
                &version.file,
                Value::json(&version.graph),
                Value::json(&version.modules),
                version.created_by,
                version.time_created
            ],
        )
        .await?;
        Ok(version)
    }

    /// Removes all versions of a name, and what they need of blobs; says how many there were.
    pub async fn workflow_remove(&mut self, project: ProjectId, name: &str) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM blob_use WHERE holder IN (SELECT id FROM workflow_version WHERE project_id = $1 AND name = $2)",
            params![project, name],
        )
        .await?;
        self.execute(
            "DELETE FROM workflow_version WHERE project_id = $1 AND name = $2",
            params![project, name],
        )
        .await
    }
}
