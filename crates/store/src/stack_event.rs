//! What happened to stacks and their resources, as Heat tells of it.
//!
//! Each event of a stack has a position, the number after the last; whoever waits for what comes next asks for what is
//! after the last that they saw. Ids are made by servers, whose clocks differ: they order what happened in several stacks
//! as well as can be. The row of the stack knows which number was the last, and up to which they were removed.

use std::collections::BTreeMap;

use hostler_model::stack::{StackEvent, StackEventStatus, StackStatus};
use hostler_model::{Limit, Page, StackEventId, StackId};

use crate::select::Select;
use crate::value::{Columns, Row, Value, params};
use crate::{Conn, Error, Tx};

macro_rules! columns {
    () => {
        "stack_event.id, stack_event.stack_id, stack_event.resource_id, stack_event.name, stack_event.kind, stack_event.physical, stack_event.subject, stack_event.action, stack_event.status, stack_event.reason, stack_event.properties, stack_event.time_created"
    };
}

/// Of which stacks.
#[derive(Clone, Copy, Debug)]
pub enum StackEventScope<'a> {
    /// Of this one, in the order in which they happened.
    One(StackId),
    /// Of these, in the order of their ids.
    Among(&'a [StackId]),
    /// Of one at the top and everything below it, down to a depth; in the order of their ids.
    Below { root: StackId, depth: u32 },
}

/// Which events to list; what is empty does not matter.
#[derive(Clone, Copy, Debug)]
pub struct StackEventFilter<'a> {
    pub scope: StackEventScope<'a>,
    /// Names of resources or stacks.
    pub names: &'a [String],
    /// Types of resources.
    pub kinds: &'a [String],
    /// Labels of actions; `signal` for those.
    pub actions: &'a [String],
    pub statuses: &'a [StackStatus],
    /// Not those about a stack as a whole.
    pub resources_only: bool,
    /// The oldest first; otherwise the newest.
    pub is_ascending: bool,
}

impl<'a> StackEventFilter<'a> {
    /// All of them, the oldest first.
    pub const fn new(scope: StackEventScope<'a>) -> StackEventFilter<'a> {
        StackEventFilter {
            scope,
            names: &[],
            kinds: &[],
            actions: &[],
            statuses: &[],
            resources_only: false,
            is_ascending: true,
        }
    }
}

fn decode_status(columns: &mut Columns<'_>) -> Result<StackEventStatus, Error> {
    Ok(match columns.text()?.as_str() {
        "stack" => StackEventStatus::Stack(columns.parse()?, columns.parse()?),
        "resource" => StackEventStatus::Resource(columns.parse()?, columns.parse()?),
        "signal" => {
            columns.text()?;
            StackEventStatus::Signal(columns.parse()?)
        }
        other => return Err(Error::corrupt(format!("subject `{other}` of a stack_event row"))),
    })
}

fn decode(row: &Row) -> Result<StackEvent, Error> {
    let mut columns = row.columns("stack_event");
    Ok(StackEvent {
        id: columns.parse()?,
        stack_id: columns.parse()?,
        resource_id: columns.opt_parse()?,
        name: columns.text()?,
        kind: columns.text()?,
        physical: columns.opt_text()?,
        status: decode_status(&mut columns)?,
        reason: columns.text()?,
        properties: columns.opt_json()?,
        time: columns.time()?,
    })
}

/// Subject, action and status.
fn labels(status: StackEventStatus) -> [&'static str; 3] {
    match status {
        StackEventStatus::Stack(action, status) => ["stack", action.label(), status.label()],
        StackEventStatus::Resource(action, status) => ["resource", action.label(), status.label()],
        StackEventStatus::Signal(status) => ["signal", "signal", status.label()],
    }
}

fn row_of(event: &StackEvent, root: StackId, position: u64) -> Vec<Value> {
    let [subject, action, status] = labels(event.status);
    params![
        event.stack_id,
        position,
        event.id,
        root,
        event.resource_id,
        &event.name,
        &event.kind,
        event.physical.as_deref(),
        subject,
        action,
        status,
        &event.reason,
        Value::json_opt(event.properties.as_ref()),
        event.time
    ]
}

impl Conn {
    /// What to ask of an event by its stack and its id, with the help of the index that begins with the root.
    fn of_stack(&self, columns: &str) -> String {
        let table = self.by_index("stack_event", "stack_event_root");
        format!(
            "SELECT {columns} FROM stack JOIN {table} ON stack_event.root_id = stack.root_id WHERE stack.id = $1 AND stack_event.id = $2 AND stack_event.stack_id = $1"
        )
    }

    pub async fn stack_event_get(
        &mut self,
        stack: StackId,
        id: StackEventId,
    ) -> Result<Option<StackEvent>, Error> {
        let sql = self.of_stack(columns!());
        self.query_one(sql, params![stack, id]).await?.as_ref().map(decode).transpose()
    }

    /// An unknown cursor begins anew.
    pub async fn stack_event_list(
        &mut self,
        filter: StackEventFilter<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<StackEvent>, Error> {
        let (direction, operator) = if filter.is_ascending { ("", ">") } else { (" DESC", "<") };
        let head = concat!("SELECT ", columns!(), " FROM stack_event");
        let below = concat!(
            "SELECT ",
            columns!(),
            " FROM stack_event JOIN stack ON stack.id = stack_event.stack_id"
        );
        let after = after.and_then(|after| after.parse::<StackEventId>().ok());
        let (select, order) = match filter.scope {
            StackEventScope::One(stack) => {
                let position = match after {
                    None => None,
                    Some(id) => self.stack_event_position(stack, id).await?,
                };
                let select = Select::new(head)
                    .and_value("stack_event.stack_id =", stack)
                    .and_some(&format!("stack_event.position {operator}"), position);
                (select, format!("stack_event.position{direction}"))
            }
            StackEventScope::Among(stacks) => {
                let select = Select::new(head)
                    .and_in("stack_event.stack_id", stacks.iter().copied())
                    .and_some(&format!("stack_event.id {operator}"), after);
                (select, format!("stack_event.id{direction}"))
            }
            StackEventScope::Below { root, depth } => {
                let select = Select::new(below)
                    .and_value("stack_event.root_id =", root)
                    .and_value("stack.depth <=", depth)
                    .and_some(&format!("stack_event.id {operator}"), after);
                (select, format!("stack_event.id{direction}"))
            }
        };
        let select = select
            .and_in_any("stack_event.name", filter.names)
            .and_in_any("stack_event.kind", filter.kinds)
            .and_in_any("stack_event.action", filter.actions)
            .and_in_any("stack_event.status", filter.statuses.iter().map(|one| one.label()));
        let select = match filter.resources_only {
            true => select.and("stack_event.resource_id IS NOT NULL"),
            false => select,
        };
        let (sql, params) = select.page(&order, limit);
        let rows = self.query(sql, params).await?;
        let events = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(events, limit, |event| event.id.to_string()))
    }

    async fn stack_event_position(
        &mut self,
        stack: StackId,
        id: StackEventId,
    ) -> Result<Option<u64>, Error> {
        let sql = self.of_stack("stack_event.position");
        let row = self.query_one(sql, params![stack, id]).await?;
        row.map(|row| row.columns("stack_event").number()).transpose()
    }
}

impl Tx<'_> {
    /// Enters events, each after those that its stack has; in their order.
    pub async fn stack_event_insert_batch(&mut self, events: &[StackEvent]) -> Result<(), Error> {
        let mut stacks: BTreeMap<StackId, u64> = BTreeMap::new();
        for event in events {
            *stacks.entry(event.stack_id).or_default() += 1;
        }
        let mut heads = BTreeMap::new();
        for (stack, count) in stacks {
            let sql = "UPDATE stack SET event_last = event_last + $2 WHERE id = $1 RETURNING root_id, event_last";
            let missing = || Error::Missing { object: "stack", id: stack.to_string() };
            let row = self.query_one(sql, params![stack, count]).await?.ok_or_else(missing)?;
            let mut columns = row.columns("stack");
            let (root, last): (StackId, u64) = (columns.parse()?, columns.number()?);
            heads.insert(stack, (root, last - count));
        }
        let mut rows = Vec::with_capacity(events.len());
        for event in events {
            if let Some((root, last)) = heads.get_mut(&event.stack_id) {
                *last += 1;
                rows.push(row_of(event, *root, *last));
            }
        }
        self.insert_many(
            "INSERT INTO stack_event (stack_id, position, id, root_id, resource_id, name, kind, physical, subject, action, status, reason, properties, time_created)",
            rows,
        )
        .await?;
        Ok(())
    }

    /// Removes the oldest events of stacks that have more than `keep`, down to that; of so many stacks. Says how many
    /// events went.
    pub async fn stack_event_trim(&mut self, keep: u64, limit: u32) -> Result<u64, Error> {
        let sql = "UPDATE stack SET event_gone = event_last - $1 WHERE id IN (SELECT id FROM stack WHERE event_last - event_gone > $1 ORDER BY id LIMIT $2) RETURNING id, event_gone";
        let mut gone = 0;
        for row in &self.query(sql, params![keep, limit]).await? {
            let mut columns = row.columns("stack");
            let (stack, position): (StackId, u64) = (columns.parse()?, columns.number()?);
            let sql = "DELETE FROM stack_event WHERE stack_id = $1 AND position <= $2";
            gone += self.execute(sql, params![stack, position]).await?;
        }
        Ok(gone)
    }
}
