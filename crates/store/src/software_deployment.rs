//! Configurations of software on machines, and how it went there.
//!
//! A change seals what it writes with a new key, so that keys are sealed anew without a generation: what was changed
//! meanwhile is sealed with the present master key already.

use hostler_model::stack::SoftwareDeployment;
use hostler_model::{
    Envelope, Generation, KeyId, Limit, Page, ProjectId, SoftwareConfigId, SoftwareDeploymentId,
};

use crate::sealed_key::SealedKey;
use crate::select::Select;
use crate::value::{Row, params};
use crate::{Conn, Error, Tx, Update};

const SELECT: &str = "SELECT id, project_id, config_id, server, action, status, reason, sealed, wrapped_key, key_id, generation, time_created, time_updated FROM software_deployment";
const PROBE: &str = "SELECT generation FROM software_deployment WHERE id = $1";

/// Which deployments to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct SoftwareDeploymentFilter<'a> {
    /// None for those of all projects.
    pub project: Option<ProjectId>,
    /// On which machine.
    pub server: Option<&'a str>,
    pub config: Option<SoftwareConfigId>,
}

fn decode(row: &Row) -> Result<SoftwareDeployment, Error> {
    let mut columns = row.columns("software_deployment");
    Ok(SoftwareDeployment {
        id: columns.parse()?,
        project_id: columns.parse()?,
        config_id: columns.parse()?,
        server: columns.text()?,
        action: columns.parse()?,
        status: columns.parse()?,
        reason: columns.text()?,
        envelope: Envelope {
            sealed: columns.blob()?,
            wrapped_key: columns.blob()?,
            key_id: columns.parse()?,
        },
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_updated: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn software_deployment_get(
        &mut self,
        id: SoftwareDeploymentId,
    ) -> Result<Option<SoftwareDeployment>, Error> {
        let sql = format!("{SELECT} WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Oldest first.
    pub async fn software_deployment_list(
        &mut self,
        filter: SoftwareDeploymentFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<SoftwareDeployment>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_some("project_id =", filter.project)
            .and_some("server =", filter.server)
            .and_some("config_id =", filter.config)
            .and_some("id >", after)
            .page("id", limit);
        let rows = self.query(sql, params).await?;
        let found = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(found, limit, |deployment| deployment.id.to_string()))
    }

    /// Under which master keys there are keys of deployments, and how many.
    pub async fn software_deployment_keys(&mut self) -> Result<Vec<(KeyId, u64)>, Error> {
        self.sealed_keys("software_deployment").await
    }

    /// Keys that are sealed with another master key than this one, of the deployments after one.
    pub async fn software_deployment_keys_but(
        &mut self,
        key_id: KeyId,
        after: Option<SoftwareDeploymentId>,
        limit: u32,
    ) -> Result<Vec<SealedKey<SoftwareDeploymentId>>, Error> {
        self.sealed_keys_but("software_deployment", key_id, after, limit).await
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when there is no such configuration.
    pub async fn software_deployment_insert(
        &mut self,
        deployment: &SoftwareDeployment,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO software_deployment (id, project_id, config_id, server, action, status, reason, sealed, wrapped_key, key_id, generation, time_created, time_updated) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            params![
                deployment.id,
                deployment.project_id,
                deployment.config_id,
                &deployment.server,
                deployment.action.label(),
                deployment.status.label(),
                &deployment.reason,
                &deployment.envelope.sealed,
                &deployment.envelope.wrapped_key,
                deployment.envelope.key_id,
                deployment.generation,
                deployment.time_created,
                deployment.time_updated
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes what can change: configuration, action, status, what is sealed; with the generation after `expected`.
    pub async fn software_deployment_update(
        &mut self,
        deployment: &SoftwareDeployment,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE software_deployment SET generation = $3, config_id = $4, action = $5, status = $6, reason = $7, sealed = $8, wrapped_key = $9, key_id = $10, time_updated = $11 WHERE id = $1 AND generation = $2",
            params![
                deployment.id,
                expected,
                expected.next(),
                deployment.config_id,
                deployment.action.label(),
                deployment.status.label(),
                &deployment.reason,
                &deployment.envelope.sealed,
                &deployment.envelope.wrapped_key,
                deployment.envelope.key_id,
                deployment.time_updated
            ],
            PROBE,
            deployment.id,
        )
        .await
    }

    /// False when there is none.
    pub async fn software_deployment_delete(
        &mut self,
        id: SoftwareDeploymentId,
    ) -> Result<bool, Error> {
        Ok(self.execute("DELETE FROM software_deployment WHERE id = $1", params![id]).await? > 0)
    }

    /// Puts the same key, sealed with another master key, in the place of what was read; false when that is not
    /// there any more.
    pub async fn software_deployment_key_replace(
        &mut self,
        before: &SealedKey<SoftwareDeploymentId>,
        wrapped_key: &[u8],
        key_id: KeyId,
    ) -> Result<bool, Error> {
        self.sealed_key_replace("software_deployment", before, wrapped_key, key_id).await
    }
}
