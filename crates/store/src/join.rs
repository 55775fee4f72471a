//! How nodes come to be trusted: single-use join tokens, and the certificates issued for them.

use std::collections::BTreeMap;

use hostler_model::{
    JoinToken, JoinTokenId, Limit, Name, NodeCertificate, NodeId, NodeState, Page, Timestamp,
};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "id, secret_hash, node_name, labels, created_by, time_created, time_expires, time_used, used_by, time_revoked"
    };
}

fn decode(row: &Row) -> Result<JoinToken, Error> {
    let mut columns = row.columns("join_token");
    Ok(JoinToken {
        id: columns.parse()?,
        secret_hash: columns.blob()?,
        node_name: columns.opt_parse()?,
        labels: columns.json()?,
        created_by: columns.parse()?,
        time_created: columns.time()?,
        time_expires: columns.time()?,
        time_used: columns.opt_time()?,
        used_by: columns.opt_parse()?,
        time_revoked: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn join_token_get(&mut self, id: JoinTokenId) -> Result<Option<JoinToken>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM join_token WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    pub async fn join_token_by_hash(&mut self, hash: &[u8]) -> Result<Option<JoinToken>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM join_token WHERE secret_hash = $1");
        let row = self.query_one(sql, params![hash]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Newest first.
    pub async fn join_token_list(
        &mut self,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<JoinToken>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM join_token"))
            .and_some("id <", after)
            .page("id DESC", limit);
        let rows = self.query(sql, params).await?;
        let tokens = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(tokens, limit, |t| t.id.to_string()))
    }

    pub async fn node_certificate_get(
        &mut self,
        serial: &str,
    ) -> Result<Option<NodeCertificate>, Error> {
        let row = self
            .query_one(
                "SELECT serial, node_id, authority, time_created, time_expires, time_presented, time_revoked FROM node_certificate WHERE serial = $1",
                params![serial],
            )
            .await?;
        let Some(row) = row else { return Ok(None) };
        let mut columns = row.columns("node_certificate");
        Ok(Some(NodeCertificate {
            serial: columns.text()?,
            node_id: columns.parse()?,
            authority: columns.opt_text()?,
            time_created: columns.time()?,
            time_expires: columns.time()?,
            time_presented: columns.opt_time()?,
            time_revoked: columns.opt_time()?,
        }))
    }

    /// When the newest certificate of each node ends; of those that have a valid one.
    pub async fn node_certificate_ends(&mut self) -> Result<BTreeMap<NodeId, Timestamp>, Error> {
        let rows = self
            .query(
                "SELECT node_id, MAX(time_expires) FROM node_certificate WHERE time_revoked IS NULL GROUP BY node_id",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("node_certificate");
                Ok((columns.parse()?, columns.time()?))
            })
            .collect()
    }

    /// The nodes that have a certificate of another authority and have not come with one of this one
    /// since they got it, by name.
    pub async fn nodes_of_other_authorities(
        &mut self,
        authority: &str,
        now: Timestamp,
    ) -> Result<Vec<(NodeId, Name)>, Error> {
        let rows = self
            .query(
                "SELECT node.id, node.name FROM node WHERE node.state <> $3 AND EXISTS (SELECT 1 FROM node_certificate other WHERE other.node_id = node.id AND other.time_revoked IS NULL AND other.time_expires > $2 AND (other.authority IS NULL OR other.authority <> $1) AND NOT EXISTS (SELECT 1 FROM node_certificate fresh WHERE fresh.node_id = node.id AND fresh.time_revoked IS NULL AND fresh.time_expires > $2 AND fresh.authority = $1 AND fresh.time_presented >= other.time_created)) ORDER BY node.name",
                params![authority, now, NodeState::Removed.label()],
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("node");
                Ok((columns.parse()?, columns.parse()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    pub async fn join_token_insert(&mut self, token: &JoinToken) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO join_token (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
            ),
            params![
                token.id,
                &token.secret_hash,
                token.node_name.as_ref().map(|n| n.as_str()),
                Value::json(&token.labels),
                token.created_by,
                token.time_created,
                token.time_expires,
                token.time_used,
                token.used_by,
                token.time_revoked
            ],
        )
        .await?;
        Ok(())
    }

    /// Uses the token up; false when it was used, revoked or expired before. Only one caller ever
    /// gets true.
    pub async fn join_token_consume(
        &mut self,
        id: JoinTokenId,
        node: NodeId,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE join_token SET time_used = $3, used_by = $2 WHERE id = $1 AND time_used IS NULL AND time_revoked IS NULL AND time_expires > $3",
                params![id, node, now],
            )
            .await?;
        Ok(done > 0)
    }

    /// False when there is no such token, or it was used or revoked before.
    pub async fn join_token_revoke(
        &mut self,
        id: JoinTokenId,
        now: Timestamp,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE join_token SET time_revoked = $2 WHERE id = $1 AND time_used IS NULL AND time_revoked IS NULL",
                params![id, now],
            )
            .await?;
        Ok(done > 0)
    }

    pub async fn node_certificate_insert(
        &mut self,
        certificate: &NodeCertificate,
    ) -> Result<(), Error> {
        self.execute(
            "INSERT INTO node_certificate (serial, node_id, authority, time_created, time_expires, time_presented, time_revoked) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            params![
                &certificate.serial,
                certificate.node_id,
                certificate.authority.as_deref(),
                certificate.time_created,
                certificate.time_expires,
                certificate.time_presented,
                certificate.time_revoked
            ],
        )
        .await?;
        Ok(())
    }

    /// The node came with this certificate.
    pub async fn node_certificate_presented(
        &mut self,
        serial: &str,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.execute(
            "UPDATE node_certificate SET time_presented = $2 WHERE serial = $1 AND time_presented IS NULL",
            params![serial, now],
        )
        .await?;
        Ok(())
    }

    /// Revokes every certificate of a node; returns how many were valid until now.
    pub async fn node_certificates_revoke(
        &mut self,
        node: NodeId,
        now: Timestamp,
    ) -> Result<u64, Error> {
        self.execute(
            "UPDATE node_certificate SET time_revoked = $2 WHERE node_id = $1 AND time_revoked IS NULL",
            params![node, now],
        )
        .await
    }
}
