//! Configuration of software, as Heat's interface keeps it. Entered once, never changed.

use hostler_model::stack::SoftwareConfig;
use hostler_model::{Envelope, KeyId, Limit, Page, ProjectId, SoftwareConfigId};

use crate::sealed_key::SealedKey;
use crate::select::Select;
use crate::value::{Row, params};
use crate::{Conn, Error, Tx};

const SELECT: &str = "SELECT id, project_id, name, tool, sealed, wrapped_key, key_id, time_created FROM software_config";

fn decode(row: &Row) -> Result<SoftwareConfig, Error> {
    let mut columns = row.columns("software_config");
    Ok(SoftwareConfig {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.text()?,
        group: columns.text()?,
        envelope: Envelope {
            sealed: columns.blob()?,
            wrapped_key: columns.blob()?,
            key_id: columns.parse()?,
        },
        time_created: columns.time()?,
    })
}

impl Conn {
    pub async fn software_config_get(
        &mut self,
        id: SoftwareConfigId,
    ) -> Result<Option<SoftwareConfig>, Error> {
        let sql = format!("{SELECT} WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Of one project, or of all; newest first.
    pub async fn software_config_list(
        &mut self,
        project: Option<ProjectId>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<SoftwareConfig>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_some("project_id =", project)
            .and_some("id <", after)
            .page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let configs = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(configs, limit, |config| config.id.to_string()))
    }

    /// Under which master keys there are keys of configurations, and how many.
    pub async fn software_config_keys(&mut self) -> Result<Vec<(KeyId, u64)>, Error> {
        self.sealed_keys("software_config").await
    }

    /// Keys that are sealed with another master key than this one, of the configurations after one.
    pub async fn software_config_keys_but(
        &mut self,
        key_id: KeyId,
        after: Option<SoftwareConfigId>,
        limit: u32,
    ) -> Result<Vec<SealedKey<SoftwareConfigId>>, Error> {
        self.sealed_keys_but("software_config", key_id, after, limit).await
    }
}

impl Tx<'_> {
    pub async fn software_config_insert(&mut self, config: &SoftwareConfig) -> Result<(), Error> {
        self.execute(
            "INSERT INTO software_config (id, project_id, name, tool, sealed, wrapped_key, key_id, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            params![
                config.id,
                config.project_id,
                &config.name,
                &config.group,
                &config.envelope.sealed,
                &config.envelope.wrapped_key,
                config.envelope.key_id,
                config.time_created
            ],
        )
        .await?;
        Ok(())
    }

    /// False when there is none; `Error::Conflict` while a deployment is about it.
    pub async fn software_config_delete(&mut self, id: SoftwareConfigId) -> Result<bool, Error> {
        let used = self
            .query_one(
                "SELECT 1 FROM software_deployment WHERE config_id = $1 LIMIT 1",
                params![id],
            )
            .await?;
        if used.is_some() {
            return Err(Error::in_use("software config"));
        }
        Ok(self.execute("DELETE FROM software_config WHERE id = $1", params![id]).await? > 0)
    }

    /// Puts the same key, sealed with another master key, in the place of what was read; false when that is not
    /// there any more.
    pub async fn software_config_key_replace(
        &mut self,
        before: &SealedKey<SoftwareConfigId>,
        wrapped_key: &[u8],
        key_id: KeyId,
    ) -> Result<bool, Error> {
        self.sealed_key_replace("software_config", before, wrapped_key, key_id).await
    }
}
