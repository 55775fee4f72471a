//! Idempotency keys: a repeated request finds what the first one made. Claimed in the transaction
//! that makes the object, so that either both are there or neither is.

use hostler_model::{ObjectRef, PrincipalId, Timestamp};

use crate::value::params;
use crate::{Error, Tx};

/// What a key says about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Claim {
    /// Never seen: carry the request out.
    Fresh,
    /// The same request made this object before.
    Replay(ObjectRef),
    /// Another request used the key.
    Mismatch,
}

impl Tx<'_> {
    pub async fn idempotency_claim(
        &mut self,
        principal: PrincipalId,
        key: &str,
        request_hash: &[u8],
        object: &ObjectRef,
        now: Timestamp,
    ) -> Result<Claim, Error> {
        let inserted = self
            .execute(
                "INSERT INTO idempotency_key (principal_id, name, request_hash, object_kind, object_id, object_name, time_created) VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (principal_id, name) DO NOTHING",
                params![
                    principal,
                    key,
                    request_hash,
                    object.kind.label(),
                    &object.id,
                    &object.name,
                    now
                ],
            )
            .await?;
        if inserted > 0 {
            return Ok(Claim::Fresh);
        }
        match self.idempotency_find(principal, key, request_hash).await? {
            Claim::Fresh => Err(Error::corrupt("an idempotency key that exists and does not")),
            known => Ok(known),
        }
    }

    /// What a claim would find, without making it.
    pub async fn idempotency_find(
        &mut self,
        principal: PrincipalId,
        key: &str,
        request_hash: &[u8],
    ) -> Result<Claim, Error> {
        let row = self
            .query_one(
                "SELECT request_hash, object_kind, object_id, object_name FROM idempotency_key WHERE principal_id = $1 AND name = $2",
                params![principal, key],
            )
            .await?;
        let Some(row) = row else { return Ok(Claim::Fresh) };
        let mut columns = row.columns("idempotency_key");
        if columns.blob()? != request_hash {
            return Ok(Claim::Mismatch);
        }
        Ok(Claim::Replay(ObjectRef {
            kind: columns.parse()?,
            id: columns.text()?,
            name: columns.text()?,
        }))
    }

    /// Forgets keys claimed before `time`; returns how many.
    pub async fn idempotency_delete_before(&mut self, time: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM idempotency_key WHERE time_created < $1", params![time]).await
    }
}
