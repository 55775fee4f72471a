//! Node leases: which server holds a node's session. The session epoch, counted by the agent, fences:
//! a connection with an older epoch can neither take nor renew the lease, whichever server has it.
//!
//! A released lease keeps its row, since its epoch must go on fencing and `time_seen` goes on telling
//! when the node was last heard of; only renewals are refused.

use hostler_model::{
    Generation, NodeId, NodeLease, NodeMetrics, ServerId, Timestamp, WorkloadUsage,
};

use crate::conn::{CHUNK, Sql, values_list};
use crate::value::{Columns, Value, params};
use crate::{Conn, Error, Tx};

/// What became of an attempt to take a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Attach {
    Attached,
    /// A connection with this epoch, not older than the one presented, has been here.
    Fenced {
        epoch: Generation,
    },
}

/// One heartbeat, as the server that holds the session saw it.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseRenewal {
    pub node_id: NodeId,
    pub session_epoch: Generation,
    pub applied_generation: Generation,
    /// `None` keeps what was last reported.
    pub metrics: Option<NodeMetrics>,
    /// What services use there, when that was told.
    pub usage: Option<Vec<WorkloadUsage>>,
}

/// Reads the columns that `node` joins in; all are NULL where there is no lease.
pub(crate) fn decode_lease(columns: &mut Columns<'_>) -> Result<Option<NodeLease>, Error> {
    let Some(node_id) = columns.opt_parse()? else {
        return Ok(None);
    };
    Ok(Some(NodeLease {
        node_id,
        server_id: columns.parse()?,
        session_epoch: columns.generation()?,
        applied_generation: columns.generation()?,
        time_seen: columns.time()?,
        metrics: columns.opt_json()?,
    }))
}

/// JSON has no NaN or infinity: a sample that is not a number is stored as zero.
fn metrics_value(metrics: Option<&NodeMetrics>) -> Value {
    let finite = |n: f64| if n.is_finite() { n } else { 0.0 };
    let clean = metrics.map(|m| NodeMetrics {
        load_1m: finite(m.load_1m),
        cpu_ratio: finite(m.cpu_ratio),
        ..m.clone()
    });
    Value::json_opt(clean.as_ref())
}

impl Conn {
    /// Nodes with a session on this server whose agent had not accepted everything when last heard of.
    pub async fn node_behind(&mut self, server: ServerId) -> Result<Vec<NodeId>, Error> {
        let rows = self
            .query(
                "SELECT node.id FROM node JOIN node_lease ON node_lease.node_id = node.id WHERE node_lease.server_id = $1 AND node.desired_generation > node_lease.applied_generation ORDER BY node.id",
                params![server],
            )
            .await?;
        rows.iter().map(|row| row.columns("node").parse()).collect()
    }
}

impl Tx<'_> {
    /// Takes the lease for a new session, if its epoch is newer than any seen of this node.
    pub async fn node_lease_attach(&mut self, lease: &NodeLease) -> Result<Attach, Error> {
        let taken = self
            .query_one(
                "INSERT INTO node_lease (node_id, server_id, is_held, session_epoch, applied_generation, time_seen, metrics) VALUES ($1, $2, TRUE, $3, $4, $5, $6) ON CONFLICT (node_id) DO UPDATE SET server_id = excluded.server_id, is_held = TRUE, session_epoch = excluded.session_epoch, applied_generation = excluded.applied_generation, time_seen = excluded.time_seen, metrics = COALESCE(excluded.metrics, node_lease.metrics) WHERE node_lease.session_epoch < excluded.session_epoch RETURNING session_epoch",
                params![
                    lease.node_id,
                    lease.server_id,
                    lease.session_epoch,
                    lease.applied_generation,
                    lease.time_seen,
                    metrics_value(lease.metrics.as_ref())
                ],
            )
            .await?;
        if taken.is_some() {
            return Ok(Attach::Attached);
        }
        let row = self
            .query_one(
                "SELECT session_epoch FROM node_lease WHERE node_id = $1",
                params![lease.node_id],
            )
            .await?
            .ok_or_else(|| Error::corrupt("a node lease that exists and does not"))?;
        Ok(Attach::Fenced { epoch: row.columns("node_lease").generation()? })
    }

    /// Renews many leases of one server; returns the nodes whose lease was renewed. Those missing
    /// from the answer are fenced: another session has taken them.
    pub async fn node_lease_renew_batch(
        &mut self,
        server: ServerId,
        now: Timestamp,
        renewals: &[LeaseRenewal],
    ) -> Result<Vec<NodeId>, Error> {
        let mut renewed = Vec::with_capacity(renewals.len());
        for chunk in renewals.chunks(CHUNK) {
            let rows = chunk
                .iter()
                .map(|r| {
                    params![
                        r.node_id,
                        r.session_epoch,
                        r.applied_generation,
                        metrics_value(r.metrics.as_ref())
                    ]
                })
                .collect();
            let (values, more) = values_list(rows, 2);
            let text = format!(
                "WITH beat (beat_node, beat_epoch, beat_applied, beat_metrics) AS (VALUES {values}) UPDATE node_lease SET time_seen = $2, applied_generation = CASE WHEN beat_applied > applied_generation THEN beat_applied ELSE applied_generation END, metrics = COALESCE(beat_metrics, metrics) FROM beat WHERE node_id = beat_node AND session_epoch = beat_epoch AND server_id = $1 AND is_held = TRUE RETURNING node_id"
            );
            let mut params = params![server, now];
            params.extend(more);
            let rows = self.query(Sql::for_rows(text, chunk.len()), params).await?;
            for row in &rows {
                renewed.push(row.columns("node_lease").parse()?);
            }
        }
        Ok(renewed)
    }

    /// Lets the session go; false when another one has taken the lease.
    pub async fn node_lease_release(
        &mut self,
        node: NodeId,
        server: ServerId,
        epoch: Generation,
    ) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE node_lease SET is_held = FALSE WHERE node_id = $1 AND server_id = $2 AND session_epoch = $3 AND is_held = TRUE",
                params![node, server, epoch],
            )
            .await?;
        Ok(done > 0)
    }
}
