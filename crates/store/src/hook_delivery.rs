//! Deliveries of event hooks: one row for each hook and event, made once.
//!
//! Of a line (a hook and an object) at most one row is ready, performing or following; the others are
//! queued, and the first of them takes its place in the transaction in which it ends. A server takes a row
//! by raising its number of claims, and writes the result of that claim and no other.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use hostler_model::{
    DeliveryState, HookDelivery, HookId, HookLine, Limit, OnDead, Page, Timestamp,
};

use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "hook_id, sequence, object, event, chain, state, attempts, claims, time_due, made, time_begun, note, status, time_created, time_ended"
    };
}

const SELECT: &str = concat!("SELECT ", columns!(), " FROM hook_delivery");

/// Dead letters that are looked at together.
const DEAD_PAGE: u64 = 256;

/// Which deliveries of a hook to list.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeliveryFilter {
    pub state: Option<DeliveryState>,
}

/// How many deliveries of a hook are in each state.
pub type DeliveryCounts = BTreeMap<DeliveryState, u64>;

fn decode(row: &Row) -> Result<HookDelivery, Error> {
    let mut columns = row.columns("hook_delivery");
    let hook = columns.parse()?;
    let sequence = columns.number()?;
    Ok(HookDelivery {
        line: HookLine { hook, object: columns.text()? },
        sequence,
        event: columns.json()?,
        chain: columns.json()?,
        state: columns.parse()?,
        attempts: columns.small()?,
        claims: columns.small()?,
        time_due: columns.time()?,
        made: columns.opt_json()?,
        time_begun: columns.opt_time()?,
        note: columns.text()?,
        status: columns.opt_small()?.and_then(|status| u16::try_from(status).ok()),
        time_created: columns.time()?,
        time_ended: columns.opt_time()?,
    })
}

impl Conn {
    pub async fn hook_delivery_get(
        &mut self,
        hook: HookId,
        sequence: u64,
    ) -> Result<Option<HookDelivery>, Error> {
        let sql = concat!(
            "SELECT ",
            columns!(),
            " FROM hook_delivery WHERE hook_id = $1 AND sequence = $2"
        );
        let row = self.query_one(sql, params![hook, sequence]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// Of a hook, newest first; the page's key is the number to go on before.
    pub async fn hook_delivery_list(
        &mut self,
        hook: HookId,
        filter: DeliveryFilter,
        before: Option<u64>,
        limit: Limit,
    ) -> Result<Page<HookDelivery>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("hook_id =", hook)
            .and_some("state =", filter.state.map(DeliveryState::label))
            .and_some("sequence <", before)
            .page("sequence DESC", limit);
        let rows = self.query(sql, params).await?;
        let found = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(found, limit, |delivery| delivery.sequence.to_string()))
    }

    /// Of some hooks, about an object (`KIND/ID`), newest first, before an event and a hook.
    pub async fn hook_delivery_about(
        &mut self,
        hooks: &[HookId],
        object: &str,
        before: Option<(u64, HookId)>,
        limit: Limit,
    ) -> Result<Vec<HookDelivery>, Error> {
        let mut select = Select::new(SELECT)
            .and_value("object =", object)
            .and_in("hook_id", hooks.iter().copied());
        if let Some((sequence, hook)) = before {
            select = select.and_pair("(sequence, hook_id) <", sequence, hook);
        }
        let (sql, params) = select.first("sequence DESC, hook_id DESC", u64::from(limit.get()));
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// Ready ones of a hook that are due, the longest due first.
    pub async fn hook_delivery_due(
        &mut self,
        hook: HookId,
        now: Timestamp,
        limit: u64,
    ) -> Result<Vec<HookDelivery>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("hook_id =", hook)
            .and_value("state =", DeliveryState::Ready.label())
            .and_value("time_due <=", now)
            .first("time_due, sequence", limit);
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// Those in a state, of whatever hook, that are due: what is followed, or whose server is gone.
    pub async fn hook_delivery_due_in(
        &mut self,
        state: DeliveryState,
        now: Timestamp,
        limit: u64,
    ) -> Result<Vec<HookDelivery>, Error> {
        let (sql, params) = Select::new(SELECT)
            .and_value("state =", state.label())
            .and_value("time_due <=", now)
            .first("time_due", limit);
        let rows = self.query(sql, params).await?;
        rows.iter().map(decode).collect()
    }

    /// When the next one is due that is ready, followed or performed.
    pub async fn hook_delivery_next_due(&mut self) -> Result<Option<Timestamp>, Error> {
        let mut next: Option<Timestamp> = None;
        for state in [DeliveryState::Ready, DeliveryState::Following, DeliveryState::Performing] {
            let sql = "SELECT MIN(time_due) FROM hook_delivery WHERE state = $1";
            let row = self.query_one(sql, params![state.label()]).await?;
            let due = row.map(|row| row.columns("hook_delivery").opt_time()).transpose()?.flatten();
            next = next.into_iter().chain(due).min();
        }
        Ok(next)
    }

    /// How many of each hook are under way.
    pub async fn hook_delivery_under_way(&mut self) -> Result<BTreeMap<HookId, u64>, Error> {
        let (sql, params) = Select::new("SELECT hook_id, COUNT(*) FROM hook_delivery")
            .and_in("state", [DeliveryState::Performing.label(), DeliveryState::Following.label()])
            .unordered();
        let rows = self.query(format!("{sql} GROUP BY hook_id"), params).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("hook_delivery");
                Ok((columns.parse()?, columns.number()?))
            })
            .collect()
    }

    /// How many there are in each state, of one hook or of all.
    pub async fn hook_delivery_counts(
        &mut self,
        hook: Option<HookId>,
    ) -> Result<DeliveryCounts, Error> {
        let (sql, params) = Select::new("SELECT state, COUNT(*) FROM hook_delivery")
            .and_some("hook_id =", hook)
            .unordered();
        let rows = self.query(format!("{sql} GROUP BY state"), params).await?;
        rows.iter()
            .map(|row| {
                let mut columns = row.columns("hook_delivery");
                Ok((columns.parse()?, columns.number()?))
            })
            .collect()
    }

    /// When the oldest event happened that waits to be delivered for the first time.
    pub async fn hook_delivery_oldest(&mut self) -> Result<Option<Timestamp>, Error> {
        let (sql, params) = Select::new("SELECT MIN(time_created) FROM hook_delivery")
            .and_in("state", DeliveryState::OPEN.iter().map(|state| state.label()))
            .unordered();
        let row = self.query_one(sql, params).await?;
        Ok(row.map(|row| row.columns("hook_delivery").opt_time()).transpose()?.flatten())
    }

    /// Which of these objects have deliveries of a hook that new ones have to wait behind.
    async fn hook_lines_busy(
        &mut self,
        hook: HookId,
        objects: &HashSet<&str>,
        on_dead: OnDead,
    ) -> Result<HashSet<String>, Error> {
        let mut busy = HashSet::new();
        let objects: Vec<&str> = objects.iter().copied().collect();
        for part in objects.chunks(500) {
            let (sql, params) = Select::new("SELECT DISTINCT object FROM hook_delivery")
                .and_value("hook_id =", hook)
                .and_in("object", part.iter().copied())
                .and_in("state", blocking(on_dead).map(DeliveryState::label))
                .unordered();
            for row in self.query(sql, params).await? {
                busy.insert(row.columns("hook_delivery").text()?);
            }
        }
        Ok(busy)
    }
}

/// What later ones of a line wait for.
fn blocking(on_dead: OnDead) -> impl Iterator<Item = DeliveryState> {
    let dead = (on_dead == OnDead::Block).then_some(DeliveryState::Dead);
    DeliveryState::OPEN.iter().copied().chain(dead)
}

impl Tx<'_> {
    /// Adds deliveries of one hook, in the order of their events. Each is ready if it is the first of its
    /// line, and queued otherwise, whatever its state says.
    pub async fn hook_delivery_insert(
        &mut self,
        hook: HookId,
        deliveries: &[HookDelivery],
        on_dead: OnDead,
    ) -> Result<(), Error> {
        let objects: HashSet<&str> =
            deliveries.iter().map(|delivery| delivery.line.object.as_str()).collect();
        let mut busy = self.hook_lines_busy(hook, &objects, on_dead).await?;
        let rows = deliveries
            .iter()
            .map(|delivery| {
                let state = match busy.insert(delivery.line.object.clone()) {
                    true => DeliveryState::Ready,
                    false => DeliveryState::Queued,
                };
                params![
                    delivery.line.hook,
                    delivery.sequence,
                    &delivery.line.object,
                    Value::json(&delivery.event),
                    Value::json(&delivery.chain),
                    state.label(),
                    u64::from(delivery.attempts),
                    u64::from(delivery.claims),
                    delivery.time_due,
                    Value::json_opt(delivery.made.as_ref()),
                    delivery.time_begun,
                    &delivery.note,
                    delivery.status.map(u32::from),
                    delivery.time_created,
                    delivery.time_ended
                ]
            })
            .collect();
        let head = concat!("INSERT INTO hook_delivery (", columns!(), ")");
        self.insert_many_or(head, rows, "ON CONFLICT (hook_id, sequence) DO NOTHING").await?;
        Ok(())
    }

    /// Takes ready deliveries for a server, until `lease`. Those that somebody else took are left out.
    pub async fn hook_delivery_claim(
        &mut self,
        found: Vec<HookDelivery>,
        now: Timestamp,
        lease: Timestamp,
    ) -> Result<Vec<HookDelivery>, Error> {
        let mut taken = Vec::with_capacity(found.len());
        for mut delivery in found {
            let done = self
                .execute(
                    "UPDATE hook_delivery SET state = $4, claims = claims + 1, time_due = $5, time_begun = $6 WHERE hook_id = $1 AND sequence = $2 AND claims = $3 AND state = $7",
                    params![
                        delivery.line.hook,
                        delivery.sequence,
                        u64::from(delivery.claims),
                        DeliveryState::Performing.label(),
                        lease,
                        now,
                        DeliveryState::Ready.label()
                    ],
                )
                .await?;
            if done > 0 {
                delivery.state = DeliveryState::Performing;
                delivery.claims += 1;
                delivery.time_due = lease;
                delivery.time_begun = Some(now);
                taken.push(delivery);
            }
        }
        Ok(taken)
    }

    /// Writes what became of a delivery that was performed or followed, as that claim left it; false when it
    /// is not that claim's any more.
    pub async fn hook_delivery_save(&mut self, delivery: &HookDelivery) -> Result<bool, Error> {
        let done = self
            .execute(
                "UPDATE hook_delivery SET state = $4, attempts = $5, time_due = $6, made = $7, time_begun = $8, note = $9, status = $10, time_ended = $11 WHERE hook_id = $1 AND sequence = $2 AND claims = $3 AND state IN ('performing', 'following')",
                params![
                    delivery.line.hook,
                    delivery.sequence,
                    u64::from(delivery.claims),
                    delivery.state.label(),
                    u64::from(delivery.attempts),
                    delivery.time_due,
                    Value::json_opt(delivery.made.as_ref()),
                    delivery.time_begun,
                    &delivery.note,
                    delivery.status.map(u32::from),
                    delivery.time_ended
                ],
            )
            .await?;
        Ok(done > 0)
    }

    /// Makes the first queued delivery of a line ready, if nothing of it is in the way.
    pub async fn hook_line_advance(
        &mut self,
        line: &HookLine,
        on_dead: OnDead,
        now: Timestamp,
    ) -> Result<(), Error> {
        self.execute(
            "UPDATE hook_delivery SET state = 'ready', time_due = $3 WHERE hook_id = $1 AND sequence = (SELECT MIN(sequence) FROM hook_delivery WHERE hook_id = $1 AND object = $2 AND state = 'queued') AND state = 'queued' AND NOT EXISTS (SELECT 1 FROM hook_delivery other WHERE other.hook_id = $1 AND other.object = $2 AND (other.state IN ('ready', 'performing', 'following') OR (other.state = 'dead' AND $4 = 'block')))",
            params![line.hook, &line.object, now, on_dead.label()],
        )
        .await?;
        Ok(())
    }

    /// Lines of a hook that wait behind a dead letter, or behind nothing.
    pub async fn hook_lines_stuck(&mut self, hook: HookId) -> Result<Vec<HookLine>, Error> {
        let rows = self
            .query(
                "SELECT DISTINCT object FROM hook_delivery waits WHERE hook_id = $1 AND state = 'queued' AND NOT EXISTS (SELECT 1 FROM hook_delivery other WHERE other.hook_id = $1 AND other.object = waits.object AND other.state IN ('ready', 'performing', 'following'))",
                params![hook],
            )
            .await?;
        rows.iter()
            .map(|row| Ok(HookLine { hook, object: row.columns("hook_delivery").text()? }))
            .collect()
    }

    /// Puts dead letters back, the oldest first: one, or all up to so many. They are tried as if for the
    /// first time.
    pub async fn hook_delivery_replay(
        &mut self,
        hook: HookId,
        sequence: Option<u64>,
        on_dead: OnDead,
        now: Timestamp,
        limit: u64,
    ) -> Result<u64, Error> {
        let head = "UPDATE hook_delivery SET state = 'queued', attempts = 0, time_created = $1, made = NULL, time_begun = NULL, status = NULL, time_ended = NULL";
        let begin = move || {
            let mut select = Select::new(head);
            let _first = select.given(now);
            select
        };
        self.hook_delivery_dead(hook, sequence, begin, (on_dead, now), limit).await
    }

    /// Forgets dead letters: one, or all up to so many.
    pub async fn hook_delivery_discard(
        &mut self,
        hook: HookId,
        sequence: Option<u64>,
        on_dead: OnDead,
        now: Timestamp,
        limit: u64,
    ) -> Result<u64, Error> {
        let begin = || Select::new("DELETE FROM hook_delivery");
        self.hook_delivery_dead(hook, sequence, begin, (on_dead, now), limit).await
    }

    /// Does something with dead letters, page by page: there may be many, and what they tell is not looked
    /// at. Then what waited behind them goes on.
    async fn hook_delivery_dead(
        &mut self,
        hook: HookId,
        sequence: Option<u64>,
        begin: impl Fn() -> Select + Send,
        (on_dead, now): (OnDead, Timestamp),
        limit: u64,
    ) -> Result<u64, Error> {
        let mut objects: BTreeSet<String> = BTreeSet::new();
        let (mut count, mut last) = (0, None);
        while count < limit {
            let (sql, params) = Select::new("SELECT sequence, object FROM hook_delivery")
                .and_value("hook_id =", hook)
                .and_value("state =", DeliveryState::Dead.label())
                .and_some("sequence =", sequence)
                .and_some("sequence >", last)
                .first("sequence", DEAD_PAGE.min(limit - count));
            let mut page: Vec<u64> = Vec::new();
            for row in &self.query(sql, params).await? {
                let mut columns = row.columns("hook_delivery");
                page.push(columns.number()?);
                objects.insert(columns.text()?);
            }
            let Some(newest) = page.last() else { break };
            last = Some(*newest);
            count += page.len() as u64;
            let (sql, params) = begin()
                .and_value("hook_id =", hook)
                .and("state = 'dead'")
                .and_in("sequence", page)
                .unordered();
            self.execute(sql, params).await?;
        }
        for object in objects {
            self.hook_line_advance(&HookLine { hook, object }, on_dead, now).await?;
        }
        Ok(count)
    }

    /// Forgets what ended before `time`, at most so many; says of which lines dead letters went.
    pub async fn hook_delivery_delete_before(
        &mut self,
        state: DeliveryState,
        time: Timestamp,
        limit: u64,
    ) -> Result<Vec<HookLine>, Error> {
        let (sql, params) = Select::new("SELECT hook_id, object, sequence FROM hook_delivery")
            .and_value("state =", state.label())
            .and_value("time_ended <", time)
            .first("time_ended", limit);
        let rows = self.query(sql, params).await?;
        let mut lines = Vec::with_capacity(rows.len());
        for row in &rows {
            let mut columns = row.columns("hook_delivery");
            let line = HookLine { hook: columns.parse()?, object: columns.text()? };
            let sequence = columns.number()?;
            let sql = "DELETE FROM hook_delivery WHERE hook_id = $1 AND sequence = $2";
            self.execute(sql, params![line.hook, sequence]).await?;
            lines.push(line);
        }
        Ok(lines)
    }

    /// Forgets the oldest of a hook that are done, beyond the newest `keep`; at most so many.
    pub async fn hook_delivery_prune_done(
        &mut self,
        hook: HookId,
        keep: u64,
        limit: u64,
    ) -> Result<u64, Error> {
        self.execute(
            "DELETE FROM hook_delivery WHERE hook_id = $1 AND sequence IN (SELECT sequence FROM hook_delivery WHERE hook_id = $1 AND state = 'done' ORDER BY sequence DESC LIMIT $3 OFFSET $2)",
            params![hook, keep, limit],
        )
        .await
    }
}
