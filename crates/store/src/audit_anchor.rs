//! Signed anchors of the audit chain. Whether a signature is good is not known here.

use hostler_model::{AuditAnchor, Limit, Page};

use crate::select::Select;
use crate::value::{Columns, Row, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "audit_anchor.sequence, audit_anchor.hash, audit_anchor.time_created, audit_anchor.authority, audit_anchor.signature"
    };
}

fn read(columns: &mut Columns<'_>) -> Result<AuditAnchor, Error> {
    Ok(AuditAnchor {
        sequence: columns.number()?,
        hash: columns.blob()?,
        time: columns.time()?,
        authority: columns.text()?,
        signature: columns.blob()?,
    })
}

fn decode(row: &Row) -> Result<AuditAnchor, Error> {
    read(&mut row.columns("audit_anchor"))
}

impl Conn {
    /// Newest first; the page's key is the number to go on from.
    pub async fn audit_anchor_list(
        &mut self,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<AuditAnchor>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM audit_anchor"))
            .and_some("sequence <", before)
            .page("sequence DESC", limit);
        let rows = self.query(sql, params).await?;
        let anchors = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(anchors, limit, |anchor| anchor.sequence.to_string()))
    }

    /// The newest.
    pub async fn audit_anchor_last(&mut self) -> Result<Option<AuditAnchor>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM audit_anchor ORDER BY sequence DESC LIMIT 1");
        let row = self.query_one(sql, Vec::new()).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Anchors after entry `after`, up to entry `last`, oldest first.
    pub async fn audit_anchors_between(
        &mut self,
        after: u64,
        last: u64,
        limit: u64,
    ) -> Result<Vec<AuditAnchor>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM audit_anchor"))
            .and_value("sequence >", after)
            .and_value("sequence <=", last)
            .first("sequence", limit);
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// Anchors after entry `after`, oldest first, each with the hash that its entry has now.
    pub async fn audit_anchors_held(
        &mut self,
        after: u64,
        limit: u64,
    ) -> Result<Vec<(AuditAnchor, Option<Vec<u8>>)>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            ", audit_entry.hash FROM audit_anchor LEFT JOIN audit_entry ON audit_entry.sequence = audit_anchor.sequence WHERE audit_anchor.sequence > $1 ORDER BY audit_anchor.sequence LIMIT $2"
        );
        let rows = self.query(sql, params![after, limit]).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("audit_anchor");
                Ok((read(&mut columns)?, columns.opt_blob()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    /// False when the entry has an anchor already.
    pub async fn audit_anchor_insert(&mut self, anchor: &AuditAnchor) -> Result<bool, Error> {
        let done = self
            .execute(
                "INSERT INTO audit_anchor (sequence, hash, time_created, authority, signature) VALUES ($1, $2, $3, $4, $5) ON CONFLICT (sequence) DO NOTHING",
                params![
                    anchor.sequence,
                    &anchor.hash,
                    anchor.time,
                    &anchor.authority,
                    &anchor.signature
                ],
            )
            .await?;
        Ok(done > 0)
    }
}
