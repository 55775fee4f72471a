//! Runs that agents made. They come to be known by being reported, so a report either finds its row or
//! makes it. Of each placement the newest [`RUNS_KEPT`] are kept; older ones that have ended are
//! removed a batch at a time, and reports about what is older still are not taken any more.

use std::collections::BTreeMap;

use hostler_model::{Limit, NodeId, Page, PlacementId, Run, RunId, RunStateKind, WorkloadId};

use crate::conn::CHUNK;
use crate::run::{INSERT, columns, decode, row_of};
use crate::select::Select;
use crate::value::params;
use crate::{Conn, Error, Tx};

/// Of each placement.
pub const RUNS_KEPT: u32 = 50;

const SELECT: &str = concat!("SELECT ", columns!(), " FROM run");

impl Conn {
    /// These runs, as far as agents made them and they are known.
    pub async fn service_runs_get(&mut self, ids: &[RunId]) -> Result<Vec<Run>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new(SELECT)
                .and_in("run.id", chunk.iter().copied())
                .and("run.cause IS NOT NULL")
                .first("run.id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    /// The number of the newest run of each of these placements; those without runs are left out.
    pub async fn service_runs_newest(
        &mut self,
        placements: &[PlacementId],
    ) -> Result<BTreeMap<PlacementId, u32>, Error> {
        let mut newest = BTreeMap::new();
        for chunk in placements.chunks(CHUNK) {
            let numbers: Vec<String> = (1..=chunk.len()).map(|n| format!("${n}")).collect();
            let sql = format!(
                "SELECT placement_id, MAX(attempt) FROM run WHERE placement_id IN ({}) AND cause IS NOT NULL GROUP BY placement_id",
                numbers.join(", ")
            );
            let ids = chunk.iter().map(|id| (*id).into()).collect();
            for row in &self.query(sql, ids).await? {
                let mut columns = row.columns("run");
                newest.insert(columns.parse()?, columns.small()?);
            }
        }
        Ok(newest)
    }

    /// Newest first.
    pub async fn service_run_list(
        &mut self,
        service: WorkloadId,
        node: Option<NodeId>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Run>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("run.workload_id =", service)
            .and("run.cause IS NOT NULL")
            .and_some("run.node_id =", node)
            .and_some("run.id <", after)
            .page("run.id DESC", limit);
        let rows = self.query(sql, params).await?;
        let runs = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(runs, limit, |run| run.id.to_string()))
    }

    /// Runs of these placements that have not ended, oldest first.
    pub async fn service_runs_live_of(
        &mut self,
        placements: &[PlacementId],
    ) -> Result<Vec<Run>, Error> {
        let mut found = Vec::new();
        for chunk in placements.chunks(CHUNK) {
            let (sql, params) = Select::new(SELECT)
                .and_in("run.placement_id", chunk.iter().copied())
                .and("run.cause IS NOT NULL")
                .and_in(
                    "run.state",
                    [RunStateKind::Assigned.label(), RunStateKind::Running.label()],
                )
                .first("run.id", u64::from(u32::MAX));
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    /// Runs of a placement that have not ended, oldest first.
    pub async fn service_runs_live(&mut self, placement: PlacementId) -> Result<Vec<Run>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("run.placement_id =", placement)
            .and("run.cause IS NOT NULL")
            .and_in("run.state", [RunStateKind::Assigned.label(), RunStateKind::Running.label()])
            .first("run.id", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    /// Writes runs, known or new; one whose stored report is as new or newer, or which is of another
    /// placement, stays as it is.
    pub async fn service_run_put_batch(&mut self, runs: &[Run]) -> Result<(), Error> {
        self.insert_many_or(
            INSERT,
            runs.iter().map(row_of).collect(),
            "ON CONFLICT (id) DO UPDATE SET state = excluded.state, state_detail = excluded.state_detail, report_generation = excluded.report_generation, time_started = excluded.time_started, time_ended = excluded.time_ended WHERE run.report_generation < excluded.report_generation AND run.placement_id = excluded.placement_id",
        )
        .await?;
        Ok(())
    }

    /// Removes ended runs beyond the newest [`RUNS_KEPT`] of each placement, for up to `limit`
    /// placements; returns how many placements and runs that were.
    pub async fn service_run_prune(&mut self, limit: u32) -> Result<(usize, u64), Error> {
        let rows = self
            .query(
                "SELECT placement_id, MAX(attempt) FROM run WHERE cause IS NOT NULL AND state IN ('exited', 'lost') GROUP BY placement_id HAVING MAX(attempt) - MIN(attempt) >= $1 ORDER BY placement_id LIMIT $2",
                params![RUNS_KEPT, limit],
            )
            .await?;
        let mut removed = 0;
        for row in &rows {
            let mut columns = row.columns("run");
            let placement: PlacementId = columns.parse()?;
            let newest = columns.small()?;
            removed += self
                .execute(
                    "DELETE FROM run WHERE placement_id = $1 AND attempt <= $2 AND cause IS NOT NULL AND state IN ('exited', 'lost')",
                    params![placement, newest.saturating_sub(RUNS_KEPT)],
                )
                .await?;
        }
        Ok((rows.len(), removed))
    }
}
