//! Schedules of the control plane, and which of them somebody has to look at.
//!
//! People change a schedule from the generation that they read. Deciding on its times is not a change in their
//! eyes, and happens as often as every second: that has a counter of its own, `turn`, which a change by people
//! moves on too. So of two servers that decide at the same time, and of a decision and a change, one is written.

use hostler_model::schedule::Schedule;
use hostler_model::{
    Generation, Limit, Mandate, Name, ObjectRef, Page, PermissionSet, ProjectId, ScheduleId,
    Timestamp,
};

use crate::conn::{CHUNK, Sql, values_list};
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

macro_rules! columns {
    () => {
        "id, project_id, name, spec, created_by, mandate_principal, mandate_can, pause, log, turn, made, time_due, time_next, generation, time_created, time_modified"
    };
}

const PROBE: &str = "SELECT generation FROM schedule WHERE id = $1";

/// What was decided on the times of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleTurn {
    pub id: ScheduleId,
    /// As it was read.
    pub turn: Generation,
    pub log: serde_json::Value,
    pub time_due: Option<Timestamp>,
    pub time_next: Option<Timestamp>,
}

/// What a fire made.
#[derive(Clone, Debug, PartialEq)]
pub struct ScheduleMade {
    pub id: ScheduleId,
    /// Of the fire: what a later one made stays.
    pub time: Timestamp,
    pub object: ObjectRef,
}

fn decode(row: &Row) -> Result<Schedule, Error> {
    let mut columns = row.columns("schedule");
    Ok(Schedule {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        spec: columns.json()?,
        created_by: columns.parse()?,
        mandate: Mandate { principal: columns.parse()?, can: columns.opt_json::<PermissionSet>()? },
        pause: columns.opt_json()?,
        log: columns.json()?,
        turn: columns.generation()?,
        last_made: columns.opt_json()?,
        time_due: columns.opt_time()?,
        time_next: columns.opt_time()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

impl Conn {
    pub async fn schedule_get(&mut self, id: ScheduleId) -> Result<Option<Schedule>, Error> {
        let sql = concat!("SELECT ", columns!(), " FROM schedule WHERE id = $1");
        self.query_one(sql, params![id]).await?.as_ref().map(decode).transpose()
    }

    /// Those of these that are there.
    pub async fn schedule_get_batch(&mut self, ids: &[ScheduleId]) -> Result<Vec<Schedule>, Error> {
        let mut found = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM schedule"))
                .and_in("id", chunk.iter().copied())
                .first("id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                found.push(decode(row)?);
            }
        }
        Ok(found)
    }

    pub async fn schedule_by_name(
        &mut self,
        project: ProjectId,
        name: &Name,
    ) -> Result<Option<Schedule>, Error> {
        let sql =
            concat!("SELECT ", columns!(), " FROM schedule WHERE project_id = $1 AND name = $2");
        self.query_one(sql, params![project, name]).await?.as_ref().map(decode).transpose()
    }

    /// By name.
    pub async fn schedule_list(
        &mut self,
        project: ProjectId,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Schedule>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM schedule"))
            .and_value("project_id =", project)
            .and_some("name >", after)
            .page("name", limit);
        let rows = self.query(sql, params).await?;
        let schedules = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(schedules, limit, |schedule| schedule.name.to_string()))
    }

    /// Those whose time has come, the longest ago first.
    pub async fn schedule_due(
        &mut self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Schedule>, Error> {
        let (sql, params) = Select::new(concat!("SELECT ", columns!(), " FROM schedule"))
            .and_value("time_due <=", now)
            .first("time_due, id", u64::from(limit));
        self.query(sql, params).await?.iter().map(decode).collect()
    }

    /// When the next one wants somebody to look.
    pub async fn schedule_next_due(&mut self) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT time_due FROM schedule WHERE time_due IS NOT NULL ORDER BY time_due, id LIMIT 1";
        self.query_one(sql, Vec::new()).await?.map(|row| row.columns("schedule").time()).transpose()
    }

    /// How many a project has.
    pub async fn schedule_count_in(&mut self, project: ProjectId) -> Result<u64, Error> {
        let sql = "SELECT COUNT(*) FROM schedule WHERE project_id = $1".to_owned();
        self.count(sql, params![project]).await
    }

    /// How many there are, and how many of them are paused.
    pub async fn schedule_count(&mut self) -> Result<(u64, u64), Error> {
        let sql = "SELECT COUNT(*), COUNT(pause) FROM schedule";
        let Some(row) = self.query_one(sql, Vec::new()).await? else { return Ok((0, 0)) };
        let mut columns = row.columns("schedule");
        Ok((columns.number()?, columns.number()?))
    }
}

impl Tx<'_> {
    pub async fn schedule_insert(&mut self, schedule: &Schedule) -> Result<(), Error> {
        self.execute(
            concat!(
                "INSERT INTO schedule (",
                columns!(),
                ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)"
            ),
            params![
                schedule.id,
                schedule.project_id,
                &schedule.name,
                Value::json(&schedule.spec),
                schedule.created_by,
                schedule.mandate.principal,
                Value::json_opt(schedule.mandate.can.as_ref()),
                Value::json_opt(schedule.pause.as_ref()),
                Value::json(&schedule.log),
                schedule.turn,
                Value::json_opt(schedule.last_made.as_ref()),
                schedule.time_due,
                schedule.time_next,
                schedule.generation,
                schedule.time_created,
                schedule.time_modified
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes what people can change, and what follows from it for the times.
    pub async fn schedule_update(
        &mut self,
        schedule: &Schedule,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE schedule SET spec = $3, mandate_principal = $4, mandate_can = $5, pause = $6, log = $7, turn = turn + 1, time_due = $8, time_next = $9, time_modified = $10, generation = $11 WHERE id = $1 AND generation = $2",
            params![
                schedule.id,
                expected,
                Value::json(&schedule.spec),
                schedule.mandate.principal,
                Value::json_opt(schedule.mandate.can.as_ref()),
                Value::json_opt(schedule.pause.as_ref()),
                Value::json(&schedule.log),
                schedule.time_due,
                schedule.time_next,
                schedule.time_modified,
                expected.next()
            ],
            PROBE,
            schedule.id,
        )
        .await
    }

    /// With everything that became of its times.
    pub async fn schedule_delete(
        &mut self,
        id: ScheduleId,
        expected: Generation,
    ) -> Result<Update, Error> {
        let Some(row) = self.query_one(PROBE, params![id]).await? else {
            return Ok(Update::Missing);
        };
        let current = row.columns("schedule").generation()?;
        if current != expected {
            return Ok(Update::Stale { current });
        }
        self.execute("DELETE FROM schedule_fire WHERE schedule_id = $1", params![id]).await?;
        self.execute("DELETE FROM schedule WHERE id = $1", params![id]).await?;
        Ok(Update::Updated)
    }

    /// Writes what was decided; answers whose turn it was. Those missing were decided on, changed or removed by
    /// somebody else.
    pub async fn schedule_turn_batch(
        &mut self,
        turns: &[ScheduleTurn],
    ) -> Result<Vec<ScheduleId>, Error> {
        let mut written = Vec::with_capacity(turns.len());
        for chunk in turns.chunks(CHUNK) {
            let rows = chunk.iter().map(|one| {
                let (due, next) = (one.time_due, one.time_next);
                params![one.id, one.turn, Value::json(&one.log), due, next]
            });
            let (values, params) = values_list(rows.collect(), 0);
            let text = format!(
                "WITH decided (decided_id, decided_turn, decided_log, decided_due, decided_next) AS (VALUES {values}) UPDATE schedule SET log = decided_log, time_due = decided_due, time_next = decided_next, turn = turn + 1 FROM decided WHERE id = decided_id AND turn = decided_turn RETURNING id"
            );
            for row in &self.query(Sql::for_rows(text, chunk.len()), params).await? {
                written.push(row.columns("schedule").parse()?);
            }
        }
        Ok(written)
    }

    /// Notes what fires made, unless a later one made something since.
    pub async fn schedule_made_batch(&mut self, made: &[ScheduleMade]) -> Result<(), Error> {
        for chunk in made.chunks(CHUNK) {
            let rows = chunk.iter().map(|one| params![one.id, one.time, Value::json(&one.object)]);
            let (values, params) = values_list(rows.collect(), 0);
            let text = format!(
                "WITH fired (fired_id, fired_time, fired_object) AS (VALUES {values}) UPDATE schedule SET made = fired_object, time_made = fired_time FROM fired WHERE id = fired_id AND (time_made IS NULL OR time_made < fired_time)"
            );
            self.execute(Sql::for_rows(text, chunk.len()), params).await?;
        }
        Ok(())
    }
}
