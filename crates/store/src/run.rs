//! Runs: one execution attempt each. A report is applied only over the report generation it was
//! compared with, so a late or repeated one changes nothing.

use hostler_model::{
    Generation, Limit, NodeId, Placement, Run, RunId, RunStateKind, Timestamp, Workload, WorkloadId,
};

use crate::conn::CHUNK;
use crate::select::Select;
use crate::update::all_saved;
use crate::value::{Columns, Row, Value, params};
use crate::workload::Specs;
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "run.id, run.placement_id, run.workload_id, run.project_id, run.node_id, run.attempt, run.cause, run.fire, run.state_detail, run.report_generation, run.time_created, run.time_started, run.time_ended"
    };
}
pub(crate) use columns;

pub(crate) fn decode_from(columns: &mut Columns<'_>) -> Result<Run, Error> {
    Ok(Run {
        id: columns.parse()?,
        placement_id: columns.parse()?,
        workload_id: columns.parse()?,
        project_id: columns.parse()?,
        node_id: columns.parse()?,
        attempt: columns.small()?,
        cause: columns.opt_parse()?,
        fire: columns.opt_time()?,
        state: columns.json()?,
        report_generation: columns.generation()?,
        time_created: columns.time()?,
        time_started: columns.opt_time()?,
        time_ended: columns.opt_time()?,
    })
}

pub(crate) const INSERT: &str = "INSERT INTO run (id, placement_id, workload_id, project_id, node_id, attempt, cause, fire, state, state_detail, report_generation, time_created, time_started, time_ended)";

pub(crate) fn row_of(r: &Run) -> Vec<Value> {
    params![
        r.id,
        r.placement_id,
        r.workload_id,
        r.project_id,
        r.node_id,
        r.attempt,
        r.cause.map(|cause| cause.label()),
        r.fire,
        r.state.kind().label(),
        Value::json(&r.state),
        r.report_generation,
        r.time_created,
        r.time_started,
        r.time_ended
    ]
}

pub(crate) fn decode(row: &Row) -> Result<Run, Error> {
    decode_from(&mut row.columns("run"))
}

/// A run with what it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct RunContext {
    pub run: Run,
    pub placement: Placement,
    pub workload: Workload,
}

impl Conn {
    /// Runs of tasks with what they belong to, in no particular order; those that are not there are
    /// left out.
    pub async fn run_context(&mut self, ids: &[RunId]) -> Result<Vec<RunContext>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        let mut specs = Specs::default();
        for chunk in ids.chunks(CHUNK) {
            let head = concat!(
                "SELECT ",
                columns!(),
                ", ",
                crate::placement::columns!(),
                ", ",
                crate::workload::columns!(),
                " FROM run JOIN placement ON placement.id = run.placement_id JOIN workload ON workload.id = run.workload_id",
                crate::workload::joined!()
            );
            let (sql, params) = Select::new(head)
                .and_in("run.id", chunk.iter().copied())
                .and("run.cause IS NULL")
                .first("run.id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                let mut columns = row.columns("run");
                found.push(RunContext {
                    run: decode_from(&mut columns)?,
                    placement: crate::placement::decode_from(&mut columns)?,
                    workload: crate::workload::decode_from(&mut columns, &mut specs)?,
                });
            }
        }
        Ok(found)
    }

    pub async fn run_get(&mut self, id: RunId) -> Result<Option<Run>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM run WHERE run.id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Every run of a workload, oldest first.
    pub async fn run_list(&mut self, workload: WorkloadId) -> Result<Vec<Run>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM run WHERE run.workload_id = $1 ORDER BY run.id");
        let rows = self.query(sql, params![workload]).await?;
        rows.iter().map(decode).collect()
    }

    /// Runs of services that have ended, the last to end first, of those that ended before a time and a run.
    pub async fn run_list_ended(
        &mut self,
        services: &[WorkloadId],
        since: Option<Timestamp>,
        until: Option<Timestamp>,
        before: Option<(Timestamp, RunId)>,
        limit: Limit,
    ) -> Result<Vec<Run>, Error> {
        let mut select = Select::new(concat!("SELECT ", columns!(), " FROM run"))
            .and_in("run.workload_id", services.iter().copied())
            .and("run.cause IS NOT NULL")
            .and("run.time_ended IS NOT NULL")
            .and_some("run.time_ended >=", since)
            .and_some("run.time_ended <", until);
        if let Some((time, run)) = before {
            select = select.and_pair("(run.time_ended, run.id) <", time, run);
        }
        let (sql, params) =
            select.first("run.time_ended DESC, run.id DESC", u64::from(limit.get()));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// Runs of tasks that a node still owes an end: assigned, running or paused.
    pub async fn run_unsettled_on(&mut self, node: NodeId) -> Result<Vec<Run>, Error> {
        let open = [RunStateKind::Assigned, RunStateKind::Running, RunStateKind::Paused];
        self.run_on(node, &open).await
    }

    /// Runs that were assigned before `time` and have not been heard of since, oldest first.
    pub async fn run_assigned_before(
        &mut self,
        time: Timestamp,
        limit: u32,
    ) -> Result<Vec<Run>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM run WHERE run.state = 'assigned' AND run.time_created < $1 ORDER BY run.time_created, run.id LIMIT $2"
        );
        let rows = self.query(sql, params![time, limit]).await?;
        rows.iter().map(decode).collect()
    }

    /// Runs of tasks on a node that were declared lost.
    pub async fn run_lost_on(&mut self, node: NodeId) -> Result<Vec<Run>, Error> {
        self.run_on(node, &[RunStateKind::Lost]).await
    }

    async fn run_on(&mut self, node: NodeId, states: &[RunStateKind]) -> Result<Vec<Run>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM run"))
            .and_value("run.node_id =", node)
            .and_in("run.state", states.iter().map(|s| s.label()))
            .and("run.cause IS NULL")
            .first("run.id", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }
}

impl Tx<'_> {
    pub async fn run_insert_batch(&mut self, runs: &[Run]) -> Result<(), Error> {
        self.insert_many(INSERT, runs.iter().map(row_of).collect()).await?;
        Ok(())
    }

    /// Writes runs that were read in this transaction, over an older or equal report generation.
    /// `Stale` when one of them is newer or gone.
    pub async fn run_save_batch(&mut self, runs: &[Run]) -> Result<(), Error> {
        let rows = runs
            .iter()
            .map(|run| {
                params![
                    run.id,
                    run.state.kind().label(),
                    Value::json(&run.state),
                    run.report_generation,
                    run.time_started,
                    run.time_ended
                ]
            })
            .collect();
        let saved = self
            .update_many(
                "run",
                "state = v.column2, state_detail = v.column3, report_generation = v.column4, time_started = v.column5, time_ended = v.column6",
                "run.report_generation <= v.column4",
                &["TEXT", "TEXT", "TEXT", "BIGINT", "BIGINT", "BIGINT"],
                rows,
            )
            .await?;
        all_saved("run", saved, runs.len())
    }

    /// Writes the state, times and the record's own report generation over `expected`.
    pub async fn run_update(&mut self, run: &Run, expected: Generation) -> Result<Update, Error> {
        self.conditional(
            "UPDATE run SET state = $3, state_detail = $4, report_generation = $5, time_started = $6, time_ended = $7 WHERE id = $1 AND report_generation = $2",
            params![
                run.id,
                expected,
                run.state.kind().label(),
                Value::json(&run.state),
                run.report_generation,
                run.time_started,
                run.time_ended
            ],
            "SELECT report_generation FROM run WHERE id = $1",
            run.id,
        )
        .await
    }
}
