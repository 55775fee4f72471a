//! Projects. A project can only go once no workload and no stack is left in it; its role bindings and the tokens
//! that were tied to it go with it.

use hostler_model::{Generation, Limit, Name, Page, Project, ProjectId};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, name, description, quota, weight, generation, time_created, time_modified"
    };
}

const PROBE: &str = "SELECT generation FROM project WHERE id = $1";

fn decode(row: &Row) -> Result<Project, Error> {
    let mut columns = row.columns("project");
    Ok(Project {
        id: columns.parse()?,
        name: columns.parse()?,
        description: columns.text()?,
        quota: columns.json()?,
        weight: columns.small()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

impl Conn {
    pub async fn project_get(&mut self, id: ProjectId) -> Result<Option<Project>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM project WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn project_by_name(&mut self, name: &Name) -> Result<Option<Project>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM project WHERE name = $1");
        let row = self.query_one(sql, params![name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By name. `visible` limits the list to these projects; `None` lists all.
    pub async fn project_list(
        &mut self,
        visible: Option<&[ProjectId]>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Project>, Error> {
        let mut select =
            Select::new(concat!("SELECT ", columns!(), " FROM project")).and_some("name >", after);
        if let Some(visible) = visible {
            select = select.and_in("id", visible.iter().copied());
        }
        let (sql, params) = select.page("name", limit);
        let rows = self.query(sql, params).await?;
        let projects = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(projects, limit, |p| p.name.to_string()))
    }
}

impl Conn {
    /// Every project: for the reconciler that shares the fleet between them.
    pub async fn project_list_all(&mut self) -> Result<Vec<Project>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM project ORDER BY id");
        let rows = self.query(sql, Vec::new()).await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when the name is taken.
    pub async fn project_insert(&mut self, project: &Project) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO project (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
            ),
            params![
                project.id,
                &project.name,
                &project.description,
                Value::json(&project.quota),
                project.weight,
                project.generation,
                project.time_created,
                project.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes the record with the generation after `expected`.
    pub async fn project_update(
        &mut self,
        project: &Project,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE project SET name = $3, description = $4, quota = $5, weight = $6, generation = $7, time_modified = $8 WHERE id = $1 AND generation = $2",
            params![
                project.id,
                expected,
                &project.name,
                &project.description,
                Value::json(&project.quota),
                project.weight,
                expected.next(),
                project.time_modified
            ],
            PROBE,
            project.id,
        )
        .await
    }

    /// `Error::Conflict` while workloads, secrets, state or stacks are left in the project.
    pub async fn project_delete(
        &mut self,
        id: ProjectId,
        expected: Generation,
    ) -> Result<Update, Error> {
        let row = self.query_one(PROBE, params![id]).await?;
        let Some(row) = row else {
            return Ok(Update::Missing);
        };
        let current = row.columns("project").generation()?;
        if current != expected {
            return Ok(Update::Stale { current });
        }
        let used = self
            .query_one("SELECT 1 FROM workload WHERE project_id = $1 LIMIT 1", params![id])
            .await?;
        let sealed = self
            .query_one("SELECT 1 FROM secret WHERE project_id = $1 LIMIT 1", params![id])
            .await?;
        let shared = self
            .query_one("SELECT 1 FROM state_sum WHERE id = $1 AND entries > 0", params![id])
            .await?;
        let stacks = self.stack_count_in(id).await?;
        if used.is_some() || sealed.is_some() || shared.is_some() || stacks > 0 {
            return Err(Error::in_use("project"));
        }
        self.lock_delete_all(id).await?;
        self.stack_forget_project(id).await?;
        for sql in [
            "DELETE FROM task_array WHERE project_id = $1",
            "DELETE FROM blob_use WHERE scope = $1",
            "DELETE FROM blob_chunk WHERE scope = $1",
            "DELETE FROM blob WHERE scope = $1",
            "DELETE FROM chunk WHERE scope = $1",
            "DELETE FROM role_binding WHERE scope = $1",
            "DELETE FROM group_binding WHERE scope = $1",
            "DELETE FROM token WHERE project_id = $1",
            "DELETE FROM invitation WHERE scope = $1",
            "DELETE FROM approval_policy WHERE scope = $1",
            "DELETE FROM approval_task WHERE approval_id IN (SELECT id FROM approval WHERE project_id = $1)",
            "DELETE FROM approval WHERE project_id = $1",
            "DELETE FROM log_share WHERE project_id = $1",
            "DELETE FROM execution_job WHERE execution_id IN (SELECT id FROM execution WHERE project_id = $1)",
            "DELETE FROM execution_step WHERE execution_id IN (SELECT id FROM execution WHERE project_id = $1)",
            "DELETE FROM execution WHERE project_id = $1",
            "DELETE FROM watcher_node WHERE watcher_id IN (SELECT id FROM watcher WHERE project_id = $1)",
            "DELETE FROM watcher WHERE project_id = $1",
            "DELETE FROM schedule_fire WHERE project_id = $1",
            "DELETE FROM schedule WHERE project_id = $1",
            "DELETE FROM workflow_version WHERE project_id = $1",
            "DELETE FROM workflow_name WHERE project_id = $1",
            "DELETE FROM module_version WHERE project_id = $1",
            "DELETE FROM module_name WHERE project_id = $1",
            "DELETE FROM stack_plugin_use WHERE plugin_id IN (SELECT id FROM stack_plugin WHERE project_id = $1)",
            "DELETE FROM stack_plugin WHERE project_id = $1",
            "DELETE FROM stack_plugin_name WHERE project_id = $1",
            "DELETE FROM project WHERE id = $1",
        ] {
            self.execute(sql, params![id]).await?;
        }
        self.state_forget_project(id).await?;
        Ok(Update::Updated)
    }
}
