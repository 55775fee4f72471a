//! Placements of services: where they are, and how they stand there. A status is applied only over an
//! older one, so a late or repeated one changes nothing. Placements of tasks have a run; these have
//! none.

use std::collections::BTreeMap;

use hostler_model::{
    Generation, Name, NodeId, Placement, PlacementId, PlacementStatus, Timestamp, WorkloadId,
};

use crate::conn::CHUNK;
use crate::placement::{columns, decode_from, particular};
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

const SELECT: &str = concat!("SELECT ", columns!(), " FROM placement");

/// A placement of a service, with the name of what it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct ServicePlacement {
    pub placement: Placement,
    pub workload_name: Name,
}

fn decode(row: &Row) -> Result<Placement, Error> {
    decode_from(&mut row.columns("placement"))
}

fn decode_all(rows: &[Row]) -> Result<Vec<Placement>, Error> {
    rows.iter().map(decode).collect()
}

impl Conn {
    /// What is not released of these services, oldest first.
    pub async fn service_placements(
        &mut self,
        services: &[WorkloadId],
    ) -> Result<Vec<Placement>, Error> {
        let mut found = Vec::new();
        for chunk in services.chunks(CHUNK) {
            let (sql, params) = Select::new(SELECT)
                .and_in("placement.workload_id", chunk.iter().copied())
                .and("placement.run_id IS NULL")
                .and("placement.is_released = FALSE")
                .first("placement.id", u64::from(u32::MAX));
            found.extend(decode_all(&self.query(sql, params).await?)?);
        }
        Ok(found)
    }

    /// What is not released of any service, oldest first.
    pub async fn service_placements_all(&mut self) -> Result<Vec<Placement>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and("placement.run_id IS NULL")
            .and("placement.is_released = FALSE")
            .first("placement.id", u64::from(u32::MAX));
        decode_all(&self.query(sql, params).await?)
    }

    /// What a node holds or should hold of services, oldest first.
    pub async fn service_placements_on(&mut self, node: NodeId) -> Result<Vec<Placement>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("placement.node_id =", node)
            .and("placement.run_id IS NULL")
            .and("placement.is_released = FALSE")
            .first("placement.id", u64::from(u32::MAX));
        decode_all(&self.query(sql, params).await?)
    }

    /// How many services each node has; nodes that have none are left out.
    pub async fn service_counts_by_node(&mut self) -> Result<BTreeMap<NodeId, u64>, Error> {
        let rows = self
            .query(
                "SELECT node_id, COUNT(*) FROM placement WHERE run_id IS NULL AND is_released = FALSE GROUP BY node_id",
                Vec::new(),
            )
            .await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("placement");
                Ok((columns.parse()?, columns.number()?))
            })
            .collect()
    }

    /// These placements, as far as they are of services; released ones too.
    pub async fn service_placement_context(
        &mut self,
        ids: &[PlacementId],
    ) -> Result<Vec<ServicePlacement>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let head = concat!(
                "SELECT ",
                columns!(),
                ", workload.name FROM placement JOIN workload ON workload.id = placement.workload_id"
            );
            let (sql, params) = Select::new(head)
                .and_in("placement.id", chunk.iter().copied())
                .and("placement.run_id IS NULL")
                .first("placement.id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                let mut columns = row.columns("placement");
                found.push(ServicePlacement {
                    placement: decode_from(&mut columns)?,
                    workload_name: columns.parse()?,
                });
            }
        }
        Ok(found)
    }

    /// Released placements of services that are still there though they left before `time`.
    pub async fn service_placements_left_before(
        &mut self,
        time: Timestamp,
        limit: u32,
    ) -> Result<Vec<PlacementId>, Error> {
        let (sql, params) = Select::new("SELECT placement.id FROM placement")
            .and("placement.run_id IS NULL")
            .and("placement.is_released = TRUE")
            .and_value("placement.time_modified <", time)
            .first("placement.time_modified, placement.id", u64::from(limit));
        let rows = self.query(sql, params).await?;
        rows.iter().map(|row| row.columns("placement").parse()).collect()
    }
}

impl Tx<'_> {
    /// Writes what their nodes are to be told of placements that were read in this transaction:
    /// desired state, its generation, revision and what is reserved.
    pub async fn service_placement_save_batch(
        &mut self,
        placements: &[Placement],
    ) -> Result<(), Error> {
        let rows = placements
            .iter()
            .map(|p| {
                params![
                    p.id,
                    p.desired.label(),
                    p.desired_generation,
                    p.revision,
                    p.time_modified,
                    p.reservation.cores.millis(),
                    p.reservation.memory,
                    p.reservation.disk,
                    particular(&p.reservation)
                ]
            })
            .collect();
        let saved = self
            .update_many(
                "placement",
                "desired = v.column2, desired_generation = v.column3, revision = v.column4, time_modified = v.column5, cores_millis = v.column6, memory = v.column7, disk = v.column8, reservation = v.column9",
                "placement.desired_generation < v.column3 AND placement.is_released = FALSE",
                &["TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "BIGINT", "TEXT"],
                rows,
            )
            .await?;
        crate::update::all_saved("placement", saved, placements.len())
    }

    /// Writes how placements stand, each over an older status; returns how many were.
    pub async fn service_status_save_batch(
        &mut self,
        statuses: &[(PlacementId, Generation, PlacementStatus)],
    ) -> Result<u64, Error> {
        let rows = statuses
            .iter()
            .map(|(id, generation, status)| params![*id, *generation, Value::json(status)])
            .collect();
        self.update_many(
            "placement",
            "status = v.column3, status_generation = v.column2",
            "placement.status_generation < v.column2",
            &["TEXT", "BIGINT", "TEXT"],
            rows,
        )
        .await
    }

    /// Deletes released placements with their runs.
    pub async fn service_placement_delete_batch(
        &mut self,
        ids: &[PlacementId],
    ) -> Result<u64, Error> {
        let mut deleted = 0;
        for chunk in ids.chunks(CHUNK) {
            let numbers: Vec<String> = (1..=chunk.len()).map(|n| format!("${n}")).collect();
            let list = numbers.join(", ");
            let params = || chunk.iter().map(|id| Value::from(*id)).collect::<Vec<_>>();
            let released = "SELECT id FROM placement WHERE is_released = TRUE AND run_id IS NULL";
            let runs = format!(
                "DELETE FROM run WHERE placement_id IN ({list}) AND placement_id IN ({released})"
            );
            self.execute(runs, params()).await?;
            let rows = format!(
                "DELETE FROM placement WHERE id IN ({list}) AND is_released = TRUE AND run_id IS NULL"
            );
            deleted += self.execute(rows, params()).await?;
        }
        Ok(deleted)
    }
}
