//! Locks: one row for each, which counts who holds it and who waits, and one for each of those.
//!
//! Whoever changes what a lock grants writes its row, with the generation that was seen; so of two who change
//! it at the same time one comes second and looks again. Only a renewal leaves it alone: it is one statement
//! on one row. Nothing reads a whole queue but who wants to show it.
//!
//! A lock that nobody has used for a while goes, and with it the count of its tokens. The largest count that
//! ever went is kept, and new locks count from there, so that no name gives a token twice.

use hostler_model::{
    Generation, Limit, Lock, LockHold, LockHoldId, LockId, LockName, LockSighting, Page,
    PrincipalId, ProjectId, Span, Timestamp,
};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Dialect, Error, Tx, Update};

macro_rules! lock_columns {
    () => {
        "lock.id, lock.project_id, lock.name, lock.slots, lock.held, lock.waiting, lock.place_last, lock.token_last, lock.past, lock.generation, lock.time_created, lock.time_modified"
    };
}

macro_rules! hold_columns {
    () => {
        "lock_hold.id, lock_hold.lock_id, lock_hold.principal_id, lock_hold.held_by, lock_hold.holder, lock_hold.place, lock_hold.token, lock_hold.is_taken, lock_hold.ttl, lock_hold.generation, lock_hold.time_asked, lock_hold.time_granted, lock_hold.time_renewed"
    };
}

const SELECT: &str = concat!("SELECT ", lock_columns!(), " FROM lock");
const SELECT_HOLD: &str = concat!("SELECT ", hold_columns!(), " FROM lock_hold");
const SELECT_BOTH: &str = concat!(
    "SELECT ",
    lock_columns!(),
    ", ",
    hold_columns!(),
    " FROM lock_hold JOIN lock ON lock.id = lock_hold.lock_id"
);
const PROBE: &str = "SELECT generation FROM lock WHERE id = $1";
const PROBE_HOLD: &str = "SELECT generation FROM lock_hold WHERE id = $1";

fn lock(columns: &mut Columns<'_>) -> Result<Lock, Error> {
    Ok(Lock {
        id: columns.parse()?,
        project_id: columns.parse()?,
        name: columns.parse()?,
        slots: columns.small()?,
        held: columns.small()?,
        waiting: columns.small()?,
        place_last: columns.number()?,
        token_last: columns.number()?,
        past: columns.json()?,
        generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
    })
}

fn hold(columns: &mut Columns<'_>) -> Result<LockHold, Error> {
    Ok(LockHold {
        id: columns.parse()?,
        lock_id: columns.parse()?,
        principal_id: columns.parse()?,
        by: columns.text()?,
        holder: columns.json()?,
        place: columns.number()?,
        token: columns.opt_number()?,
        is_taken: columns.flag()?,
        ttl: columns.number().map(Span::from_millis)?,
        generation: columns.generation()?,
        time_asked: columns.time()?,
        time_granted: columns.opt_time()?,
        time_renewed: columns.time()?,
    })
}

fn decode(row: &Row) -> Result<Lock, Error> {
    lock(&mut row.columns("lock"))
}

fn decode_hold(row: &Row) -> Result<LockHold, Error> {
    hold(&mut row.columns("lock_hold"))
}

/// With the parameters after those of the lock.
macro_rules! hold_insert {
    () => {
        "INSERT INTO lock_hold (id, lock_id, principal_id, held_by, holder, place, token, is_taken, ttl, generation, time_asked, time_granted, time_renewed) VALUES ($11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) ON CONFLICT (id) DO NOTHING"
    };
}

/// What changes of a lock, with the generation that it has.
macro_rules! lock_set {
    () => {
        "UPDATE lock SET slots = $3, held = $4, waiting = $5, place_last = $6, token_last = $7, past = $8, generation = $9, time_modified = $10 WHERE id = $1 AND generation = $2"
    };
}

fn lock_params(lock: &Lock, expected: Generation) -> Vec<Value> {
    params![
        lock.id,
        expected,
        lock.slots,
        lock.held,
        lock.waiting,
        lock.place_last,
        lock.token_last,
        Value::json(&lock.past),
        lock.generation,
        lock.time_modified
    ]
}

fn hold_params(hold: &LockHold) -> [Value; 13] {
    [
        hold.id.into(),
        hold.lock_id.into(),
        hold.principal_id.into(),
        Value::from(&hold.by),
        Value::json(&hold.holder),
        hold.place.into(),
        hold.token.into(),
        hold.is_taken.into(),
        hold.ttl.millis().into(),
        hold.generation.into(),
        hold.time_asked.into(),
        hold.time_granted.into(),
        hold.time_renewed.into(),
    ]
}

/// What became of somebody who came to a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum LockEntered {
    Entered,
    /// There is a hold with this id already; nothing was changed.
    Known,
    /// The lock is not as the caller saw it: the transaction has to be given up.
    Stale,
}

/// Which locks to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct LockFilter {
    /// Only those that somebody holds or waits for.
    pub is_used: bool,
}

impl Conn {
    pub async fn lock_get(
        &mut self,
        project: ProjectId,
        name: &LockName,
    ) -> Result<Option<Lock>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("project_id =", project)
            .and_value("name =", name.as_str())
            .unordered();
        self.query_one(sql, params).await?.as_ref().map(decode).transpose()
    }

    /// By name.
    pub async fn lock_list(
        &mut self,
        project: ProjectId,
        filter: LockFilter,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Lock>, Error> {
        let mut select =
            Select::new(SELECT).and_value("project_id =", project).and_some("name >", after);
        if filter.is_used {
            select = select.and("(held > 0 OR waiting > 0)");
        }
        let (sql, params) = select.page("name", limit);
        let rows = self.query(sql, params).await?;
        let locks = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(locks, limit, |lock| lock.name.to_string()))
    }

    /// How many locks a project has; counted no further than `most`.
    pub async fn lock_count(&mut self, project: ProjectId, most: u64) -> Result<u64, Error> {
        self.count(
            "SELECT COUNT(*) FROM (SELECT 1 FROM lock WHERE project_id = $1 LIMIT $2) AS counted",
            params![project, most],
        )
        .await
    }

    pub async fn lock_hold_get(&mut self, id: LockHoldId) -> Result<Option<LockHold>, Error> {
        let (sql, params) = Select::new(SELECT_HOLD).and_value("id =", id).unordered();
        self.query_one(sql, params).await?.as_ref().map(decode_hold).transpose()
    }

    /// A hold and its lock.
    pub async fn lock_by_hold(
        &mut self,
        id: LockHoldId,
    ) -> Result<Option<(Lock, LockHold)>, Error> {
        let (sql, params) = Select::new(SELECT_BOTH).and_value("lock_hold.id =", id).unordered();
        let row = self.query_one(sql, params).await?;
        row.map(|row| {
            let mut columns = row.columns("lock and lock_hold");
            Ok((lock(&mut columns)?, hold(&mut columns)?))
        })
        .transpose()
    }

    /// Those who hold any of these locks, in the order of arrival.
    pub async fn lock_holders(&mut self, locks: &[LockId]) -> Result<Vec<LockHold>, Error> {
        let (sql, params) = Select::new(SELECT_HOLD)
            .and_in("lock_id", locks.iter().copied())
            .and("token IS NOT NULL")
            .first("lock_id, place", u64::from(u32::MAX));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode_hold).collect()
    }

    /// Those who have waited longest.
    pub async fn lock_queue(&mut self, lock: LockId, most: u64) -> Result<Vec<LockHold>, Error> {
        let (sql, params) = Select::new(SELECT_HOLD)
            .and_value("lock_id =", lock)
            .and("token IS NULL")
            .first("place", most);
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode_hold).collect()
    }

    /// How many wait before this place.
    pub async fn lock_waiting_before(&mut self, lock: LockId, place: u64) -> Result<u64, Error> {
        self.count(
            "SELECT COUNT(*) FROM lock_hold WHERE lock_id = $1 AND place < $2 AND token IS NULL",
            params![lock, place],
        )
        .await
    }

    /// All holds there are, by id, for a server that watches.
    pub async fn lock_sightings(
        &mut self,
        after: Option<LockHoldId>,
        limit: Limit,
    ) -> Result<Vec<LockSighting>, Error> {
        let (sql, params) =
            Select::new("SELECT id, generation, token, is_taken, ttl FROM lock_hold")
                .and_some("id >", after)
                .first("id", u64::from(limit.get()));
        let rows = self.query(sql, params).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("lock_hold");
                let (id, generation) = (columns.parse()?, columns.generation()?);
                let (is_held, is_taken) = (columns.opt_int()?.is_some(), columns.flag()?);
                let ttl = Span::from_millis(columns.number()?);
                Ok(LockSighting::new(id, generation, is_held, is_taken, ttl))
            })
            .collect()
    }

    /// No lock gives a token up to this again.
    pub async fn lock_floor(&mut self) -> Result<u64, Error> {
        self.count("SELECT token FROM lock_floor WHERE id = 'lock'", Vec::new()).await
    }
}

impl Tx<'_> {
    /// False where somebody else has made a lock of this name meanwhile.
    pub async fn lock_insert(&mut self, lock: &Lock) -> Result<bool, Error> {
        let made = self.execute(
            "INSERT INTO lock (id, project_id, name, slots, held, waiting, place_last, token_last, past, generation, time_created, time_modified) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT (project_id, name) DO NOTHING",
            params![
                lock.id,
                lock.project_id,
                lock.name.as_str(),
                lock.slots,
                lock.held,
                lock.waiting,
                lock.place_last,
                lock.token_last,
                Value::json(&lock.past),
                lock.generation,
                lock.time_created,
                lock.time_modified
            ],
        )
        .await?;
        Ok(made > 0)
    }

    /// Writes what changes of a lock, with the generation that it has.
    pub async fn lock_update(
        &mut self,
        lock: &Lock,
        expected: Generation,
    ) -> Result<Update, Error> {
        let params = lock_params(lock, expected);
        self.conditional(lock_set!(), params, PROBE, lock.id).await
    }

    /// False where there is a hold with this id already. Asking this way, rather than looking first, keeps those
    /// who use other locks out of the way: a look for what is not there is a look at what is beside it.
    pub async fn lock_hold_insert(&mut self, hold: &LockHold) -> Result<bool, Error> {
        let sql = "INSERT INTO lock_hold (id, lock_id, principal_id, held_by, holder, place, token, is_taken, ttl, generation, time_asked, time_granted, time_renewed) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (id) DO NOTHING";
        Ok(self.execute(sql, hold_params(hold).into()).await? > 0)
    }

    /// The same for a lock that is there, which is changed with it: one way to the database and back.
    pub async fn lock_enter(
        &mut self,
        lock: &Lock,
        expected: Generation,
        hold: &LockHold,
    ) -> Result<LockEntered, Error> {
        // The place is the lock's newest: a hold that was there has another, and nothing is changed for it.
        let sql = match self.dialect() {
            Dialect::Sqlite => concat!(
                hold_insert!(),
                " RETURNING 1; ",
                lock_set!(),
                " AND EXISTS (SELECT 1 FROM lock_hold WHERE lock_hold.id = $11 AND lock_hold.lock_id = $1 AND lock_hold.place = $16) RETURNING 2"
            ),
            Dialect::Postgres => concat!(
                "WITH entered AS (",
                hold_insert!(),
                " RETURNING id), changed AS (",
                lock_set!(),
                " AND EXISTS (SELECT 1 FROM entered) RETURNING id) SELECT CAST(1 AS BIGINT) FROM entered UNION ALL SELECT CAST(2 AS BIGINT) FROM changed"
            ),
        };
        let mut params = lock_params(lock, expected);
        params.extend(hold_params(hold));
        Ok(match self.both(sql, params).await? {
            (true, true) => LockEntered::Entered,
            (true, false) => LockEntered::Stale,
            (false, _) => LockEntered::Known,
        })
    }

    /// A hold is gone and its lock changed; false where either is not as the caller saw it.
    pub async fn lock_leave(
        &mut self,
        lock: &Lock,
        expected: Generation,
        hold: LockHoldId,
    ) -> Result<bool, Error> {
        let sql = match self.dialect() {
            Dialect::Sqlite => concat!(
                "DELETE FROM lock_hold WHERE id = $11 RETURNING 1; ",
                lock_set!(),
                " RETURNING 2"
            ),
            Dialect::Postgres => concat!(
                "WITH gone AS (DELETE FROM lock_hold WHERE id = $11 RETURNING id), changed AS (",
                lock_set!(),
                " RETURNING id) SELECT CAST(1 AS BIGINT) FROM gone UNION ALL SELECT CAST(2 AS BIGINT) FROM changed"
            ),
        };
        let mut params = lock_params(lock, expected);
        params.push(hold.into());
        Ok(self.both(sql, params).await? == (true, true))
    }

    /// Whether the first of two changes, and the second, found its row.
    async fn both(&mut self, sql: &'static str, params: Vec<Value>) -> Result<(bool, bool), Error> {
        let mut done = (false, false);
        for row in &self.query(sql, params).await? {
            match row.columns("lock and lock_hold").int()? {
                1 => done.0 = true,
                _ => done.1 = true,
            }
        }
        Ok(done)
    }

    /// Writes what changes of a hold, with the generation that it has.
    pub async fn lock_hold_update(
        &mut self,
        hold: &LockHold,
        expected: Generation,
    ) -> Result<Update, Error> {
        self.conditional(
            "UPDATE lock_hold SET token = $3, is_taken = $4, ttl = $5, generation = $6, time_granted = $7, time_renewed = $8 WHERE id = $1 AND generation = $2",
            params![
                hold.id,
                expected,
                hold.token,
                hold.is_taken,
                hold.ttl.millis(),
                hold.generation,
                hold.time_granted,
                hold.time_renewed
            ],
            PROBE_HOLD,
            hold.id,
        )
        .await
    }

    /// Somebody who holds was heard of; `None` where nobody of this id and principal holds this lock.
    pub async fn lock_hold_renew(
        &mut self,
        project: ProjectId,
        name: &LockName,
        id: LockHoldId,
        principal: PrincipalId,
        ttl: Option<Span>,
        now: Timestamp,
    ) -> Result<Option<LockHold>, Error> {
        let row = self
            .query_one(
                concat!(
                    "UPDATE lock_hold SET generation = generation + 1, is_taken = TRUE, ttl = COALESCE($3, ttl), time_renewed = $4 WHERE id = $1 AND principal_id = $2 AND token IS NOT NULL AND lock_id = (SELECT lock.id FROM lock WHERE lock.project_id = $5 AND lock.name = $6) RETURNING ",
                    "id, lock_id, principal_id, held_by, holder, place, token, is_taken, ttl, generation, time_asked, time_granted, time_renewed"
                ),
                params![id, principal, ttl.map(Span::millis), now, project, name.as_str()],
            )
            .await?;
        row.as_ref().map(decode_hold).transpose()
    }

    pub async fn lock_hold_delete(&mut self, id: LockHoldId) -> Result<bool, Error> {
        let gone = self.execute("DELETE FROM lock_hold WHERE id = $1", params![id]).await?;
        Ok(gone > 0)
    }

    /// Forgets locks that nobody has used since `before`, and what they had counted to is kept in the floor.
    pub async fn lock_delete_idle(&mut self, before: Timestamp, most: u32) -> Result<u64, Error> {
        let rows = self
            .query(
                "SELECT id, token_last FROM lock WHERE held = 0 AND waiting = 0 AND time_modified < $1 ORDER BY time_modified LIMIT $2",
                params![before, most],
            )
            .await?;
        let mut floor = 0;
        let mut ids = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut columns = row.columns("lock");
            ids.push(columns.parse::<LockId>()?);
            floor = columns.number()?.max(floor);
        }
        if ids.is_empty() {
            return Ok(0);
        }
        self.lock_floor_raise(floor).await?;
        let (sql, params) = Select::new("DELETE FROM lock").and_in("id", ids).unordered();
        self.execute(sql, params).await
    }

    /// Removes all locks of a project, with those who hold them or wait.
    pub(crate) async fn lock_delete_all(&mut self, project: ProjectId) -> Result<(), Error> {
        let floor = self
            .count(
                "SELECT COALESCE(MAX(token_last), 0) FROM lock WHERE project_id = $1",
                params![project],
            )
            .await?;
        self.lock_floor_raise(floor).await?;
        for sql in [
            "DELETE FROM lock_hold WHERE lock_id IN (SELECT id FROM lock WHERE project_id = $1)",
            "DELETE FROM lock WHERE project_id = $1",
        ] {
            self.execute(sql, params![project]).await?;
        }
        Ok(())
    }

    pub(crate) async fn lock_floor_raise(&mut self, token: u64) -> Result<(), Error> {
        self.execute(
            "INSERT INTO lock_floor (id, token) VALUES ('lock', $1) ON CONFLICT (id) DO UPDATE SET token = excluded.token WHERE lock_floor.token < excluded.token",
            params![token],
        )
        .await?;
        Ok(())
    }
}
