//! What projects have of what is counted: workloads, secrets, content, state, stacks. Asked for inside a transaction that
//! adds to it, the answer and the addition are one: two servers cannot both give the last of it away.

use std::collections::BTreeMap;

use hostler_model::{BlobScope, Bytes, ProjectId, ProjectUsage};

use crate::blob::scope_key;
use crate::value::params;
use crate::{Conn, Error};

impl Conn {
    /// Workloads that were applied, those on their way out included.
    pub async fn service_count(&mut self, project: ProjectId) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM workload WHERE project_id = $1 AND kind = 'service'";
        self.count(sql, params![project]).await
    }

    pub async fn secret_count(&mut self, project: ProjectId) -> Result<u64, Error> {
        self.count("SELECT COUNT(*) FROM secret WHERE project_id = $1", params![project]).await
    }

    /// Stacks that are not resources of others, those on their way out included.
    pub async fn stack_count_in(&mut self, project: ProjectId) -> Result<u64, Error> {
        let table = self.by_index("stack", "stack_name");
        let sql = format!(
            "SELECT COUNT(*) FROM {table} WHERE project_id = $1 AND time_deleted IS NULL AND parent_stack_id IS NULL"
        );
        self.count(sql, params![project]).await
    }

    /// The sizes of its blobs together, also of what they have in common.
    pub async fn blob_bytes(&mut self, project: ProjectId) -> Result<u64, Error> {
        let sql = "SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM blob WHERE scope = $1";
        self.count(sql, params![&scope_key(BlobScope::Project(project))]).await
    }

    /// Projects that have nothing are left out.
    pub async fn project_usage_all(&mut self) -> Result<BTreeMap<ProjectId, ProjectUsage>, Error> {
        let mut found: BTreeMap<ProjectId, ProjectUsage> = BTreeMap::new();
        let sql =
            "SELECT project_id, COUNT(*) FROM workload WHERE kind = 'service' GROUP BY project_id";
        for row in &self.query(sql, Vec::new()).await? {
            let mut columns = row.columns("workload");
            let (project, amount) = (columns.parse()?, columns.number()?);
            found.entry(project).or_default().workloads = amount;
        }
        let sql = "SELECT project_id, COUNT(*) FROM secret GROUP BY project_id";
        for row in &self.query(sql, Vec::new()).await? {
            let mut columns = row.columns("secret");
            let (project, amount) = (columns.parse()?, columns.number()?);
            found.entry(project).or_default().secrets = amount;
        }
        let sql =
            "SELECT scope, CAST(SUM(size) AS BIGINT) FROM blob WHERE scope <> '' GROUP BY scope";
        for row in &self.query(sql, Vec::new()).await? {
            let mut columns = row.columns("blob");
            let (project, amount) = (columns.parse()?, columns.number()?);
            found.entry(project).or_default().blobs = Bytes::new(amount);
        }
        let sql = "SELECT id, bytes FROM state_sum WHERE LENGTH(id) = 36 AND bytes > 0";
        for row in &self.query(sql, Vec::new()).await? {
            let mut columns = row.columns("state_sum");
            let (project, amount) = (columns.parse()?, columns.number()?);
            found.entry(project).or_default().state = Bytes::new(amount);
        }
        let sql = "SELECT project_id, COUNT(*) FROM stack WHERE time_deleted IS NULL AND parent_stack_id IS NULL GROUP BY project_id";
        for row in &self.query(sql, Vec::new()).await? {
            let mut columns = row.columns("stack");
            let (project, amount) = (columns.parse()?, columns.number()?);
            found.entry(project).or_default().stacks = amount;
        }
        Ok(found)
    }
}
