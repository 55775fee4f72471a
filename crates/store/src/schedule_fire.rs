//! Times of schedules, and what became of them. The key is the schedule and the time: whoever inserts a row
//! first has it, and nobody else does what it stands for.
//!
//! A row that was begun belongs to a server until its lease is over; then another can take it, and each taking
//! counts. Its end is written only by who took it last.

use hostler_model::schedule::{Fire, FireState};
use hostler_model::{Limit, Page, ScheduleId, ServerId, Timestamp};

use crate::conn::{CHUNK, Sql, values_list};
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "schedule_id, time, project_id, state, cause, time_planned, time_begun, time_ended, time_last, count, object, status, message, replaces, asked_by, is_call, tries, server_id, time_lease"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM schedule_fire");

fn decode(row: &Row) -> Result<Fire, Error> {
    let mut columns = row.columns("schedule_fire");
    Ok(Fire {
        schedule_id: columns.parse()?,
        time: columns.time()?,
        project_id: columns.parse()?,
        state: columns.parse()?,
        cause: columns.parse()?,
        time_planned: columns.time()?,
        time_begun: columns.time()?,
        time_ended: columns.opt_time()?,
        time_last: columns.time()?,
        count: columns.small()?,
        object: columns.opt_json()?,
        status: columns.opt_small()?.and_then(|status| u16::try_from(status).ok()),
        message: columns.text()?,
        replaces: columns.opt_json()?,
        asked_by: columns.opt_text()?,
        is_call: columns.flag()?,
        tries: columns.small()?,
        server_id: columns.parse()?,
        time_lease: columns.time()?,
    })
}

fn row_of(fire: &Fire) -> Vec<Value> {
    params![
        fire.schedule_id,
        fire.time,
        fire.project_id,
        fire.state.label(),
        fire.cause.label(),
        fire.time_planned,
        fire.time_begun,
        fire.time_ended,
        fire.time_last,
        fire.count,
        Value::json_opt(fire.object.as_ref()),
        fire.status.map(u32::from),
        &fire.message,
        Value::json_opt(fire.replaces.as_ref()),
        fire.asked_by.as_deref(),
        fire.is_call,
        fire.tries,
        fire.server_id,
        fire.time_lease
    ]
}

impl Conn {
    pub async fn schedule_fire_get(
        &mut self,
        schedule: ScheduleId,
        time: Timestamp,
    ) -> Result<Option<Fire>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("schedule_id =", schedule)
            .and_value("time =", time)
            .first("time", 1);
        self.query(sql, params).await?.first().map(decode).transpose()
    }

    /// Newest first.
    pub async fn schedule_fire_list(
        &mut self,
        schedule: ScheduleId,
        state: Option<FireState>,
        after: Option<Timestamp>,
        limit: Limit,
    ) -> Result<Page<Fire>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("schedule_id =", schedule)
            .and_some("state =", state.map(FireState::label))
            .and_some("time <", after)
            .page("time DESC", limit);
        let rows = self.query(sql, params).await?;
        let fires = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(fires, limit, |fire| fire.time.micros().to_string()))
    }

    /// Which of these schedules have something begun of which the end is not known.
    pub async fn schedule_fires_begun(
        &mut self,
        schedules: &[ScheduleId],
    ) -> Result<Vec<ScheduleId>, Error> {
        let mut found = Vec::new();
        for chunk in schedules.chunks(CHUNK) {
            let table = self.by_index("schedule_fire", "schedule_fire_begun");
            let (sql, params) = Select::new(&format!("SELECT DISTINCT schedule_id FROM {table}"))
                .and("state = 'begun'")
                .and_in("schedule_id", chunk.iter().copied())
                .unordered();
            for row in &self.query(sql, params).await? {
                found.push(row.columns("schedule_fire").parse()?);
            }
        }
        Ok(found)
    }

    /// Begun ones whose lease is over, the longest ago first; calls, or everything else.
    pub async fn schedule_fires_left(
        &mut self,
        is_call: bool,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<Fire>, Error> {
        let table = self.by_index("schedule_fire", "schedule_fire_begun");
        let (sql, params) = Select::new(&format!("SELECT {} FROM {table}", columns!()))
            .and("state = 'begun'")
            .and_value("is_call =", is_call)
            .and_value("time_lease <=", now)
            .first("time_lease, schedule_id, time", u64::from(limit));
        self.query(sql, params).await?.iter().map(decode).collect()
    }

    /// When the first lease of a begun one is over.
    pub async fn schedule_fires_next_left(
        &mut self,
        is_call: bool,
    ) -> Result<Option<Timestamp>, Error> {
        let sql = "SELECT time_lease FROM schedule_fire WHERE state = 'begun' AND is_call = $1 ORDER BY time_lease, schedule_id, time LIMIT 1";
        self.query_one(sql, params![is_call])
            .await?
            .map(|row| row.columns("schedule_fire").time())
            .transpose()
    }
}

impl Tx<'_> {
    /// Enters rows; answers which were not there before.
    pub async fn schedule_fire_insert_batch(
        &mut self,
        fires: &[Fire],
    ) -> Result<Vec<(ScheduleId, Timestamp)>, Error> {
        let mut entered = Vec::with_capacity(fires.len());
        for chunk in fires.chunks(CHUNK) {
            let (values, params) = values_list(chunk.iter().map(row_of).collect(), 0);
            let text = format!(
                "INSERT INTO schedule_fire ({}) VALUES {values} ON CONFLICT (schedule_id, time) DO NOTHING RETURNING schedule_id, time",
                columns!()
            );
            for row in &self.query(Sql::for_rows(text, chunk.len()), params).await? {
                let mut columns = row.columns("schedule_fire");
                entered.push((columns.parse()?, columns.time()?));
            }
        }
        Ok(entered)
    }

    /// Takes begun ones over, each as it was read; answers which.
    pub async fn schedule_fire_take_batch(
        &mut self,
        fires: &[Fire],
        server: ServerId,
        lease: Timestamp,
    ) -> Result<Vec<(ScheduleId, Timestamp)>, Error> {
        let mut taken = Vec::with_capacity(fires.len());
        for chunk in fires.chunks(CHUNK) {
            let rows = chunk.iter().map(|fire| params![fire.schedule_id, fire.time, fire.tries]);
            let (values, more) = values_list(rows.collect(), 2);
            let text = format!(
                "WITH taken (taken_id, taken_time, taken_tries) AS (VALUES {values}) UPDATE schedule_fire SET server_id = $1, time_lease = $2, tries = tries + 1 FROM taken WHERE schedule_id = taken_id AND time = taken_time AND tries = taken_tries AND state = 'begun' RETURNING schedule_id, time"
            );
            let mut params = params![server, lease];
            params.extend(more);
            for row in &self.query(Sql::for_rows(text, chunk.len()), params).await? {
                let mut columns = row.columns("schedule_fire");
                taken.push((columns.parse()?, columns.time()?));
            }
        }
        Ok(taken)
    }

    /// Writes how begun ones ended, if they were not taken by another since; answers which.
    pub async fn schedule_fire_end_batch(
        &mut self,
        fires: &[Fire],
    ) -> Result<Vec<(ScheduleId, Timestamp)>, Error> {
        let mut ended = Vec::with_capacity(fires.len());
        for chunk in fires.chunks(CHUNK) {
            let rows = chunk.iter().map(|fire| {
                params![
                    fire.schedule_id,
                    fire.time,
                    fire.tries,
                    fire.state.label(),
                    fire.time_ended,
                    Value::json_opt(fire.object.as_ref()),
                    fire.status.map(u32::from),
                    &fire.message,
                    fire.time_lease
                ]
            });
            let (values, params) = values_list(rows.collect(), 0);
            let text = format!(
                "WITH ended (end_id, end_time, end_tries, end_state, end_ended, end_object, end_status, end_message, end_lease) AS (VALUES {values}) UPDATE schedule_fire SET state = end_state, time_ended = end_ended, object = end_object, status = end_status, message = end_message, time_lease = end_lease FROM ended WHERE schedule_id = end_id AND time = end_time AND tries = end_tries AND state = 'begun' RETURNING schedule_id, time"
            );
            for row in &self.query(Sql::for_rows(text, chunk.len()), params).await? {
                let mut columns = row.columns("schedule_fire");
                ended.push((columns.parse()?, columns.time()?));
            }
        }
        Ok(ended)
    }

    /// Forgets what is older than `before`, and of up to `limit` schedules what is beyond the newest `keep`;
    /// never what was only begun. Says how many rows, and whether there may be more.
    pub async fn schedule_fire_prune(
        &mut self,
        before: Timestamp,
        keep: u32,
        limit: u32,
    ) -> Result<(u64, bool), Error> {
        let old = self
            .execute(
                "DELETE FROM schedule_fire WHERE (schedule_id, time) IN (SELECT schedule_id, time FROM schedule_fire WHERE time < $1 AND state <> 'begun' ORDER BY time, schedule_id LIMIT $2)",
                params![before, limit],
            )
            .await?;
        let rows = self
            .query(
                "SELECT schedule_id FROM schedule_fire GROUP BY schedule_id HAVING COUNT(*) > $1 ORDER BY schedule_id LIMIT $2",
                params![keep, limit],
            )
            .await?;
        let mut many = 0;
        for row in &rows {
            let id: ScheduleId = row.columns("schedule_fire").parse()?;
            many += self
                .execute(
                    "DELETE FROM schedule_fire WHERE schedule_id = $1 AND state <> 'begun' AND time < (SELECT time FROM schedule_fire WHERE schedule_id = $1 ORDER BY time DESC LIMIT 1 OFFSET $2)",
                    params![id, keep.saturating_sub(1)],
                )
                .await?;
        }
        let is_more = old >= u64::from(limit) || many > 0 && rows.len() >= limit as usize;
        Ok((old + many, is_more))
    }
}
