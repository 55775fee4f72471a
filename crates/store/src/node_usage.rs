//! What services use on each node, as their agents last told. One row a node, written over again and again;
//! it goes with the node.

use std::collections::BTreeMap;

use hostler_model::{NodeId, Timestamp, WorkloadUsage};

use crate::conn::{CHUNK, Sql, values_list};
use crate::value::{Value, params};
use crate::{Conn, Error, Tx};

impl Conn {
    /// What was told since a time, by node.
    pub async fn node_usage_since(
        &mut self,
        time: Timestamp,
    ) -> Result<BTreeMap<NodeId, Vec<WorkloadUsage>>, Error> {
        let rows = self
            .query("SELECT node_id, usage FROM node_usage WHERE time_modified >= $1", params![time])
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("node_usage");
                Ok((columns.parse()?, columns.json()?))
            })
            .collect()
    }
}

impl Tx<'_> {
    /// Writes what these nodes told, over what they told before.
    pub async fn node_usage_put_batch(
        &mut self,
        now: Timestamp,
        told: &[(NodeId, Vec<WorkloadUsage>)],
    ) -> Result<(), Error> {
        for chunk in told.chunks(CHUNK) {
            let rows =
                chunk.iter().map(|(node, usage)| params![*node, Value::json(usage)]).collect();
            let (values, more) = values_list(rows, 1);
            let text = format!(
                "WITH told (told_node, told_usage) AS (VALUES {values}) INSERT INTO node_usage (node_id, usage, time_modified) SELECT told_node, told_usage, CAST($1 AS BIGINT) FROM told WHERE TRUE ON CONFLICT (node_id) DO UPDATE SET usage = excluded.usage, time_modified = excluded.time_modified"
            );
            let mut params = params![now];
            params.extend(more);
            self.execute(Sql::for_rows(text, chunk.len()), params).await?;
        }
        Ok(())
    }

    /// Forgets what was told of nodes that are not heard of any more; says of how many.
    pub async fn node_usage_delete_before(&mut self, time: Timestamp) -> Result<u64, Error> {
        self.execute("DELETE FROM node_usage WHERE time_modified < $1", params![time]).await
    }
}
