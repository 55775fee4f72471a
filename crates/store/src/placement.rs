//! Placements: what each node should hold. The feed is what a server pushes to an agent: everything
//! not yet released whose desired generation is newer than what the agent has.

use hostler_model::{
    Bytes, Cores, Generation, Name, NodeId, Placement, PlacementId, Resources, Timestamp,
    WorkloadId, WorkloadSpec,
};

use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "placement.id, placement.workload_id, placement.project_id, placement.node_id, placement.run_id, placement.desired, placement.desired_generation, placement.stop_grace, placement.is_released, placement.revision, placement.status, placement.status_generation, placement.time_created, placement.time_modified"
    };
}
pub(crate) use columns;

/// A placement with everything an agent needs to carry it out.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedEntry {
    pub placement: Placement,
    /// The workload's own, which goes with the spec; the placement's may be older.
    pub revision: Generation,
    pub workload_name: Name,
    pub project_name: Name,
    pub spec: WorkloadSpec,
}

/// What the placements that are not released reserve on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeUsage {
    pub node_id: NodeId,
    pub cores: Cores,
    pub memory: Bytes,
    pub placements: u64,
}

pub(crate) fn decode_from(columns: &mut Columns<'_>) -> Result<Placement, Error> {
    Ok(Placement {
        id: columns.parse()?,
        workload_id: columns.parse()?,
        project_id: columns.parse()?,
        node_id: columns.parse()?,
        run_id: columns.opt_parse()?,
        desired: columns.parse()?,
        desired_generation: columns.generation()?,
        stop_grace: columns.opt_parse()?,
        is_released: columns.flag()?,
        revision: columns.generation()?,
        status: columns.opt_json()?,
        status_generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn decode(row: &Row) -> Result<Placement, Error> {
    decode_from(&mut row.columns("placement"))
}

impl Conn {
    pub async fn placement_get(&mut self, id: PlacementId) -> Result<Option<Placement>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM placement WHERE id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Every placement a workload has had, oldest first.
    pub async fn placement_by_workload(
        &mut self,
        workload: WorkloadId,
    ) -> Result<Vec<Placement>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM placement WHERE workload_id = $1 ORDER BY id");
        let rows = self.query(sql, params![workload]).await?;
        rows.iter().map(decode).collect()
    }

    /// What a node holds or should hold, oldest first.
    pub async fn placement_active_on(&mut self, node: NodeId) -> Result<Vec<Placement>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM placement WHERE node_id = $1 AND is_released = FALSE ORDER BY id"
        );
        let rows = self.query(sql, params![node]).await?;
        rows.iter().map(decode).collect()
    }

    /// What changed for a node after a generation, in the order of the changes. Ask again from the
    /// last one's `desired_generation` while the answer is `limit` long.
    pub async fn placement_feed(
        &mut self,
        node: NodeId,
        after: Generation,
        limit: u32,
    ) -> Result<Vec<FeedEntry>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            ", workload.revision, workload.name, project.name, workload.spec FROM placement JOIN workload ON workload.id = placement.workload_id JOIN project ON project.id = placement.project_id WHERE placement.node_id = $1 AND placement.desired_generation > $2 AND placement.is_released = FALSE ORDER BY placement.desired_generation, placement.id LIMIT $3"
        );
        let rows = self.query(sql, params![node, after, limit]).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement feed");
                Ok(FeedEntry {
                    placement: decode_from(&mut columns)?,
                    revision: columns.generation()?,
                    workload_name: columns.parse()?,
                    project_name: columns.parse()?,
                    spec: columns.json()?,
                })
            })
            .collect()
    }

    /// Nodes without placements are left out.
    pub async fn placement_usage(&mut self) -> Result<Vec<NodeUsage>, Error> {
        let rows = self
            .query(
                "SELECT node_id, CAST(SUM(cores_millis) AS BIGINT), CAST(SUM(memory) AS BIGINT), COUNT(*) FROM placement WHERE is_released = FALSE GROUP BY node_id ORDER BY node_id",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok(NodeUsage {
                    node_id: columns.parse()?,
                    cores: Cores::from_millis(u32::try_from(columns.number()?).unwrap_or(u32::MAX)),
                    memory: Bytes::new(columns.number()?),
                    placements: columns.number()?,
                })
            })
            .collect()
    }
}

impl Tx<'_> {
    /// Inserts placements with what each reserves on its node.
    pub async fn placement_insert_batch(
        &mut self,
        placements: &[(Placement, Resources)],
    ) -> Result<(), Error> {
        let rows = placements
            .iter()
            .map(|(p, resources)| {
                params![
                    p.id,
                    p.workload_id,
                    p.project_id,
                    p.node_id,
                    p.run_id,
                    p.desired.label(),
                    p.desired_generation,
                    p.stop_grace,
                    p.is_released,
                    p.revision,
                    Value::json_opt(p.status.as_ref()),
                    p.status_generation,
                    p.time_created,
                    p.time_modified,
                    resources.cores.millis(),
                    resources.memory
                ]
            })
            .collect();
        self.insert_many(
            "INSERT INTO placement (id, workload_id, project_id, node_id, run_id, desired, desired_generation, stop_grace, is_released, revision, status, status_generation, time_created, time_modified, cores_millis, memory)",
            rows,
        )
        .await?;
        Ok(())
    }

    /// Releases placements that were read in this transaction and are not released yet.
    pub async fn placement_release_batch(
        &mut self,
        placements: &[PlacementId],
        now: Timestamp,
    ) -> Result<(), Error> {
        let rows = placements.iter().map(|id| params![*id, now]).collect();
        let saved = self
            .update_many(
                "placement",
                "is_released = TRUE, time_modified = v.column2",
                "placement.is_released = FALSE",
                &["TEXT", "BIGINT"],
                rows,
            )
            .await?;
        crate::update::all_saved("placement", saved, placements.len())
    }

    /// Writes desired, its generation, the grace period and whether it is released. A record with an older
    /// `desired_generation` than the stored one is `Stale`.
    pub async fn placement_update(&mut self, placement: &Placement) -> Result<Update, Error> {
        self.conditional(
            "UPDATE placement SET desired = $2, desired_generation = $3, stop_grace = $4, is_released = $5, time_modified = $6 WHERE id = $1 AND desired_generation <= $3",
            params![
                placement.id,
                placement.desired.label(),
                placement.desired_generation,
                placement.stop_grace,
                placement.is_released,
                placement.time_modified
            ],
            "SELECT desired_generation FROM placement WHERE id = $1",
            placement.id,
        )
        .await
    }
}
