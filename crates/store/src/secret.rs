//! Secrets and their versions. What is stored of a value is sealed by whoever stores it.
//!
//! Numbers of versions grow with the secret's row and are never given twice; a version's row is written
//! once, and then only emptied (when it is destroyed) or given the same key under another master key.

use hostler_model::{
    Envelope, KeyId, Limit, Name, Page, ProjectId, Secret, SecretId, SecretRef, SecretVersion,
    Timestamp,
};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, project_id, environment, name, source, link, version_current, version_last, generation, created_by, time_created, time_modified"
    };
}

macro_rules! version_columns {
    () => {
        "secret_id, version, size, key_id, created_by, time_created, time_destroyed"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM secret");
const PROBE: &str = "SELECT generation FROM secret WHERE id = $1";

/// A version's own key, sealed with some master key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedKey {
    pub secret_id: SecretId,
    pub version: u32,
    pub wrapped_key: Vec<u8>,
}

fn decode(row: &Row) -> Result<Secret, Error> {
    let mut columns = row.columns("secret");
    Ok(Secret {
        id: columns.parse()?,
        project_id: columns.parse()?,
        environment: columns.parse()?,
        name: columns.parse()?,
        source: columns.parse()?,
        link: columns.opt_json()?,
        version_current: columns.small()?,
        version_last: columns.small()?,
        generation: columns.generation()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn decode_version(row: &Row) -> Result<SecretVersion, Error> {
    let mut columns = row.columns("secret_version");
    Ok(SecretVersion {
        secret_id: columns.parse()?,
        version: columns.small()?,
        size: columns.small()?,
        key_id: columns.opt_parse()?,
        created_by: columns.json()?,
        time_created: columns.time()?,
        time_destroyed: columns.opt_time()?,
    })
}

fn cursor(secret: &Secret) -> String {
    format!("{}/{}", secret.environment, secret.name)
}

impl Conn {
    pub async fn secret_get(&mut self, id: SecretId) -> Result<Option<Secret>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM secret WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// The secret that is meant, whichever of its versions.
    pub async fn secret_find(
        &mut self,
        project: ProjectId,
        reference: &SecretRef,
    ) -> Result<Option<Secret>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM secret WHERE project_id = $1 AND environment = $2 AND name = $3"
        );
        let row =
            self.query_one(sql, params![project, &reference.environment, &reference.name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By environment and name; an unknown cursor begins anew.
    pub async fn secret_list(
        &mut self,
        project: ProjectId,
        environment: Option<&Name>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Secret>, Error> {
        let mut select = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_some("environment =", environment);
        if let Some((environment, name)) = after.and_then(|after| after.split_once('/')) {
            select = select.and_pair("(environment, name) >", environment, name);
        }
        let (sql, params) = select.page("environment, name", limit);
        let rows = self.query(sql, params).await?;
        let secrets = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(secrets, limit, cursor))
    }

    pub async fn secret_version_get(
        &mut self,
        secret: SecretId,
        version: u32,
    ) -> Result<Option<SecretVersion>, Error> {
        let sql = concat!(
            "SELECT ",
            version_columns!(),
            " FROM secret_version WHERE secret_id = $1 AND version = $2"
        );
        let row = self.query_one(sql, params![secret, version]).await?;
        row.as_ref().map(decode_version).transpose()
    }

    /// Newest first; an unknown cursor begins anew.
    pub async fn secret_version_list(
        &mut self,
        secret: SecretId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<SecretVersion>, Error> {
        let after = after.and_then(|after| after.parse::<u32>().ok());
        let head = concat!("SELECT ", version_columns!(), " FROM secret_version");
        let (sql, params) = Select::new(head)
            .and_value("secret_id =", secret)
            .and_some("version <", after)
            .page("version DESC", limit);
        let rows = self.query(sql, params).await?;
        let versions = rows.iter().map(decode_version).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(versions, limit, |version| version.version.to_string()))
    }

    /// What is sealed of a version; `None` when there is none, or it was destroyed.
    pub async fn secret_envelope(
        &mut self,
        secret: SecretId,
        version: u32,
    ) -> Result<Option<Envelope>, Error> {
        let sql = "SELECT sealed, wrapped_key, key_id FROM secret_version WHERE secret_id = $1 AND version = $2 AND time_destroyed IS NULL";
        let Some(row) = self.query_one(sql, params![secret, version]).await? else {
            return Ok(None);
        };
        let mut columns = row.columns("secret_version");
        Ok(Some(Envelope {
            sealed: columns.blob()?,
            wrapped_key: columns.blob()?,
            key_id: columns.parse()?,
        }))
    }

    /// Under which master keys there are keys of versions, and how many.
    pub async fn secret_keys(&mut self) -> Result<Vec<(KeyId, u64)>, Error> {
        let sql = "SELECT key_id, COUNT(*) FROM secret_version WHERE key_id IS NOT NULL GROUP BY key_id ORDER BY key_id";
        let rows = self.query(sql, Vec::new()).await?;
        let each = rows.iter().map(|row| {
            let mut columns = row.columns("secret_version");
            Ok::<_, Error>((columns.parse()?, columns.number()?))
        });
        each.collect()
    }

    /// Keys that are sealed with another master key than this one, from one version on.
    pub async fn secret_keys_but(
        &mut self,
        key_id: KeyId,
        after: Option<(SecretId, u32)>,
        limit: u32,
    ) -> Result<Vec<WrappedKey>, Error> {
        let head = "SELECT secret_id, version, wrapped_key FROM secret_version";
        let mut select = Select::new(head).and("key_id IS NOT NULL").and_value("key_id <>", key_id);
        if let Some((secret, version)) = after {
            select = select.and_pair("(secret_id, version) >", secret, version);
        }
        let (sql, params) = select.first("secret_id, version", limit.into());
        let rows = self.query(sql, params).await?;
        let each = rows.iter().map(|row| {
            let mut columns = row.columns("secret_version");
            Ok::<_, Error>(WrappedKey {
                secret_id: columns.parse()?,
                version: columns.small()?,
                wrapped_key: columns.blob()?,
            })
        });
        each.collect()
    }
}

impl Tx<'_> {
    /// A new secret, without a version. `Error::Conflict` when there is one of that name.
    pub async fn secret_insert(&mut self, secret: &Secret) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO secret (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"
            ),
            params![
                secret.id,
                secret.project_id,
                &secret.environment,
                &secret.name,
                secret.source.label(),
                Value::json_opt(secret.link.as_ref()),
                secret.version_current,
                secret.version_last,
                secret.generation,
                secret.created_by,
                secret.time_created,
                secret.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    /// Which version is current, and which was the last; where it is, if it is linked.
    pub async fn secret_update(&mut self, secret: &Secret) -> Result<Update, Error> {
        let expected = secret.generation;
        self.conditional(
            "UPDATE secret SET version_current = $3, version_last = $4, generation = $5, time_modified = $6, link = $7 WHERE id = $1 AND generation = $2",
            params![
                secret.id,
                expected,
                secret.version_current,
                secret.version_last,
                expected.next(),
                secret.time_modified,
                Value::json_opt(secret.link.as_ref())
            ],
            PROBE,
            secret.id,
        )
        .await
    }

    pub async fn secret_version_insert(
        &mut self,
        version: &SecretVersion,
        envelope: &Envelope,
    ) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO secret_version (",
                version_columns!(),
                ", sealed, wrapped_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)"
            ),
            params![
                version.secret_id,
                version.version,
                version.size,
                envelope.key_id,
                Value::json(&version.created_by),
                version.time_created,
                version.time_destroyed,
                &envelope.sealed,
                &envelope.wrapped_key
            ],
        )
        .await?;
        Ok(())
    }

    /// Lets go of what is sealed; false when there is nothing to let go of.
    pub async fn secret_version_destroy(
        &mut self,
        secret: SecretId,
        version: u32,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE secret_version SET sealed = NULL, wrapped_key = NULL, key_id = NULL, time_destroyed = $3 WHERE secret_id = $1 AND version = $2 AND time_destroyed IS NULL",
                params![secret, version, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// The newest version that is not destroyed.
    pub async fn secret_version_newest(&mut self, secret: SecretId) -> Result<Option<u32>, Error> {
        let sql = "SELECT version FROM secret_version WHERE secret_id = $1 AND time_destroyed IS NULL ORDER BY version DESC LIMIT 1";
        let row = self.query_one(sql, params![secret]).await?;
        row.map(|row| row.columns("secret_version").small()).transpose()
    }

    /// Puts the same key, sealed with another master key, in the place of what was read; false when that
    /// is not there any more.
    pub async fn secret_key_replace(
        &mut self,
        before: &WrappedKey,
        wrapped_key: &[u8],
        key_id: KeyId,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE secret_version SET wrapped_key = $4, key_id = $5 WHERE secret_id = $1 AND version = $2 AND wrapped_key = $3",
                params![
                    before.secret_id,
                    before.version,
                    &before.wrapped_key,
                    wrapped_key,
                    key_id
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// Removes a secret with all its versions; false when there is none.
    pub async fn secret_delete(&mut self, id: SecretId) -> Result<bool, Error> {
        self.execute("DELETE FROM secret_version WHERE secret_id = $1", params![id]).await?;
        Ok(self.execute("DELETE FROM secret WHERE id = $1", params![id]).await? > 0)
    }
}
