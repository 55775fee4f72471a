//! Shares of what projects may keep of their output, by node. What is in force adds up to no more than a
//! quota because every change is made in a transaction that has read all shares of the project.

use hostler_model::{Bytes, LogShare, Name, NodeId, ProjectId, Quota};

use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "project_id, node_id, granted, ceiling, generation"
    };
}

fn decode(row: &Row) -> Result<LogShare, Error> {
    let mut columns = row.columns("log_share");
    Ok(LogShare {
        project_id: columns.parse()?,
        node_id: columns.parse()?,
        granted: Bytes::new(columns.number()?),
        ceiling: Bytes::new(columns.number()?),
        generation: columns.generation()?,
    })
}

impl Conn {
    /// Projects that may keep only so much of their output.
    pub async fn log_quotas(&mut self) -> Result<Vec<(ProjectId, Name, Bytes)>, Error> {
        let sql = "SELECT id, name, quota FROM project WHERE quota LIKE '%\"logs\"%' ORDER BY id";
        let mut found = Vec::new();
        for row in &self.query(sql, Vec::new()).await? {
            let mut columns = row.columns("project");
            let (id, name) = (columns.parse()?, columns.parse()?);
            let quota: Quota = columns.json()?;
            found.extend(quota.logs.map(|logs| (id, name, logs)));
        }
        Ok(found)
    }

    /// Projects of which there are shares.
    pub async fn log_share_projects(&mut self) -> Result<Vec<ProjectId>, Error> {
        let sql = "SELECT DISTINCT project_id FROM log_share ORDER BY project_id";
        let rows = self.query(sql, Vec::new()).await?;
        rows.iter().map(|row| row.columns("log_share").parse()).collect()
    }

    pub async fn log_share_of_project(
        &mut self,
        project: ProjectId,
    ) -> Result<Vec<LogShare>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM log_share WHERE project_id = $1 ORDER BY node_id"
        );
        let rows = self.query(sql, params![project]).await?;
        rows.iter().map(decode).collect()
    }

    pub async fn log_share_of_node(&mut self, node: NodeId) -> Result<Vec<LogShare>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM log_share WHERE node_id = $1 ORDER BY project_id"
        );
        let rows = self.query(sql, params![node]).await?;
        rows.iter().map(decode).collect()
    }

    /// Nodes on which something of a project is to run.
    pub async fn placement_nodes_of(&mut self, project: ProjectId) -> Result<Vec<NodeId>, Error> {
        let sql = "SELECT DISTINCT node_id FROM placement WHERE project_id = $1 AND is_released = FALSE ORDER BY node_id";
        let rows = self.query(sql, params![project]).await?;
        rows.iter().map(|row| row.columns("placement").parse()).collect()
    }
}

impl Tx<'_> {
    pub async fn log_share_put(&mut self, share: &LogShare) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO log_share (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5) ON CONFLICT (project_id, node_id) DO UPDATE SET granted = excluded.granted, ceiling = excluded.ceiling, generation = excluded.generation"
            ),
            params![
                share.project_id,
                share.node_id,
                share.granted,
                share.ceiling,
                share.generation
            ],
        )
        .await?;
        Ok(())
    }

    pub async fn log_share_delete(&mut self, share: &LogShare) -> Result<(), Error> {
        self.execute(
            "DELETE FROM log_share WHERE project_id = $1 AND node_id = $2",
            params![share.project_id, share.node_id],
        )
        .await?;
        Ok(())
    }
}
