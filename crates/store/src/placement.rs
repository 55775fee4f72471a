//! Placements: what each node should hold. The feed is what a server pushes to an agent: everything
//! not yet released whose desired generation is newer than what the agent has.

use std::sync::Arc;

use hostler_model::{
    Bytes, Cores, Generation, Name, NodeId, Placement, PlacementId, ProjectId, Reservation,
    TaskSeat, Timestamp, TraceContext, WorkloadId, WorkloadSpec,
};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::workload::Specs;
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "placement.id, placement.workload_id, placement.project_id, placement.node_id, placement.run_id, placement.desired, placement.desired_generation, placement.stop_grace, placement.cores_millis, placement.memory, placement.disk, placement.reservation, placement.is_released, placement.revision, placement.status, placement.status_generation, placement.time_created, placement.time_modified"
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
    pub spec: Arc<WorkloadSpec>,
    pub seat: Option<TaskSeat>,
    pub trace: Option<TraceContext>,
}

/// What the plain placements that are not released reserve on a node: those that hold no particular
/// cores or devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeUsage {
    pub node_id: NodeId,
    pub cores: Cores,
    pub memory: Bytes,
    pub disk: Bytes,
    pub placements: u64,
    /// When something was given to it last.
    pub time_given: Timestamp,
}

/// What the placements that are not released reserve for a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectUsage {
    pub project_id: ProjectId,
    /// In thousandths.
    pub cores: u64,
    pub memory: Bytes,
}

/// A task's placement with what it would take to push it away.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldPlacement {
    pub placement: Placement,
    pub spec: Arc<WorkloadSpec>,
    pub time_started: Option<Timestamp>,
}

/// Something that is placed, with the words that rules look at.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedWords {
    pub node_id: NodeId,
    pub project_id: ProjectId,
    /// The name of its array, or its own.
    pub family: Name,
    pub spec: Arc<WorkloadSpec>,
}

/// A placement that holds particular cores or devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParticularHold {
    pub node_id: NodeId,
    pub project_id: ProjectId,
    pub workload_id: WorkloadId,
    pub reservation: Reservation,
    pub time_given: Timestamp,
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
        reservation: reservation(columns)?,
        is_released: columns.flag()?,
        revision: columns.generation()?,
        status: columns.opt_json()?,
        status_generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn reservation(columns: &mut Columns<'_>) -> Result<Reservation, Error> {
    let cores = Cores::from_millis(columns.small()?);
    let (memory, disk) = (Bytes::new(columns.number()?), Bytes::new(columns.number()?));
    let particular: Option<Reservation> = columns.opt_json()?;
    Ok(Reservation { cores, memory, disk, ..particular.unwrap_or_default() })
}

/// What there is beyond the amounts, which have columns of their own.
pub(crate) fn particular(reservation: &Reservation) -> Value {
    Value::json_opt(reservation.is_particular().then_some(reservation))
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
            ", workload.revision, workload.name, project.name, COALESCE(task_array.spec, workload.spec), workload.array_id, workload.array_index, workload.trace FROM placement JOIN workload ON workload.id = placement.workload_id JOIN project ON project.id = placement.project_id LEFT JOIN task_array ON task_array.id = workload.array_id WHERE placement.node_id = $1 AND placement.desired_generation > $2 AND placement.is_released = FALSE ORDER BY placement.desired_generation, placement.id LIMIT $3"
        );
        let rows = self.query(sql, params![node, after, limit]).await?;
        let mut specs = Specs::default();
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement feed");
                Ok(FeedEntry {
                    placement: decode_from(&mut columns)?,
                    revision: columns.generation()?,
                    workload_name: columns.parse()?,
                    project_name: columns.parse()?,
                    spec: specs.read(&mut columns)?,
                    seat: crate::workload::seat(&mut columns)?,
                    trace: columns.opt_parse()?,
                })
            })
            .collect()
    }

    /// Nodes without placements are left out.
    pub async fn placement_usage(&mut self) -> Result<Vec<NodeUsage>, Error> {
        let rows = self
            .query(
                "SELECT node_id, CAST(SUM(cores_millis) AS BIGINT), CAST(SUM(memory) AS BIGINT), CAST(SUM(disk) AS BIGINT), COUNT(*), MAX(time_created) FROM placement WHERE is_released = FALSE AND reservation IS NULL GROUP BY node_id ORDER BY node_id",
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
                    disk: Bytes::new(columns.number()?),
                    placements: columns.number()?,
                    time_given: columns.time()?,
                })
            })
            .collect()
    }

    /// Projects without placements are left out.
    pub async fn placement_usage_by_project(&mut self) -> Result<Vec<ProjectUsage>, Error> {
        let rows = self
            .query(
                "SELECT project_id, CAST(SUM(cores_millis) AS BIGINT), CAST(SUM(memory) AS BIGINT) FROM placement WHERE is_released = FALSE GROUP BY project_id ORDER BY project_id",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok(ProjectUsage {
                    project_id: columns.parse()?,
                    cores: columns.number()?,
                    memory: Bytes::new(columns.number()?),
                })
            })
            .collect()
    }

    /// What services hold, by node: it does not end by itself. Plain ones are added up.
    pub async fn placement_lasting(&mut self) -> Result<Vec<(NodeId, Reservation)>, Error> {
        let table = self.by_index("placement", "placement_service");
        let sql = format!(
            "SELECT node_id, CAST(SUM(cores_millis) AS BIGINT), CAST(SUM(memory) AS BIGINT), CAST(SUM(disk) AS BIGINT), reservation FROM {table} WHERE run_id IS NULL AND is_released = FALSE GROUP BY node_id, reservation ORDER BY node_id"
        );
        let rows = self.query(sql, Vec::new()).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok((columns.parse()?, reservation(&mut columns)?))
            })
            .collect()
    }

    /// What is placed of tasks, with what it would take to push it away.
    pub async fn placement_held(&mut self) -> Result<Vec<HeldPlacement>, Error> {
        let table = self.by_index("placement", "placement_usage");
        let head = format!(
            "SELECT {}, COALESCE(task_array.spec, workload.spec), run.time_started FROM {table} JOIN workload ON workload.id = placement.workload_id JOIN run ON run.id = placement.run_id LEFT JOIN task_array ON task_array.id = workload.array_id",
            columns!()
        );
        let (sql, params) = Select::new(&head)
            .and("placement.is_released = FALSE")
            .and("placement.run_id IS NOT NULL")
            .first("placement.id", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        let mut specs = Specs::default();
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok(HeldPlacement {
                    placement: decode_from(&mut columns)?,
                    spec: specs.read(&mut columns)?,
                    time_started: columns.opt_time()?,
                })
            })
            .collect()
    }

    /// What is placed where, with the words that rules look at.
    pub async fn placement_words(&mut self) -> Result<Vec<PlacedWords>, Error> {
        let table = self.by_index("placement", "placement_usage");
        let head = format!(
            "SELECT placement.node_id, placement.project_id, COALESCE(task_array.name, workload.name), COALESCE(task_array.spec, workload.spec) FROM {table} JOIN workload ON workload.id = placement.workload_id LEFT JOIN task_array ON task_array.id = workload.array_id"
        );
        let (sql, params) = Select::new(&head)
            .and("placement.is_released = FALSE")
            .first("placement.id", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        let mut specs = Specs::default();
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok(PlacedWords {
                    node_id: columns.parse()?,
                    project_id: columns.parse()?,
                    family: columns.parse()?,
                    spec: specs.read(&mut columns)?,
                })
            })
            .collect()
    }

    /// Everything that holds particular cores or devices, or sits in a gang.
    pub async fn placement_particular(&mut self) -> Result<Vec<ParticularHold>, Error> {
        let rows = self
            .query(
                "SELECT node_id, project_id, workload_id, cores_millis, memory, disk, reservation, time_created FROM placement WHERE is_released = FALSE AND reservation IS NOT NULL ORDER BY node_id, id",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok(ParticularHold {
                    node_id: columns.parse()?,
                    project_id: columns.parse()?,
                    workload_id: columns.parse()?,
                    reservation: reservation(&mut columns)?,
                    time_given: columns.time()?,
                })
            })
            .collect()
    }
}

impl Tx<'_> {
    pub async fn placement_insert_batch(&mut self, placements: &[Placement]) -> Result<(), Error> {
        let rows = placements
            .iter()
            .map(|p| {
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
                    p.reservation.cores.millis(),
                    p.reservation.memory,
                    p.reservation.disk,
                    particular(&p.reservation)
                ]
            })
            .collect();
        self.insert_many(
            "INSERT INTO placement (id, workload_id, project_id, node_id, run_id, desired, desired_generation, stop_grace, is_released, revision, status, status_generation, time_created, time_modified, cores_millis, memory, disk, reservation)",
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
