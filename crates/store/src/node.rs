//! Nodes. The lease (who holds the session, when last heard of) is a row of its own, because it is
//! written every few seconds; lists join it in.
//!
//! A removed node keeps its row and its name, but frees the name: uniqueness is on `name_key`, which
//! is NULL for removed nodes.

use hostler_model::{
    Cordon, Generation, Labels, Limit, Name, Node, NodeId, NodeState, Page, selector_matches,
};

use crate::conn::CHUNK;
use crate::node_lease::decode_lease;
use crate::select::Select;
use crate::value::{Row, Value, params};
use crate::{Conn, Error, Tx, Update};

const PROBE: &str = "SELECT generation FROM node WHERE id = $1";

macro_rules! select {
    () => {
        "SELECT node.id, node.name, node.labels, node.state, node.cordon_reason, node.time_cordoned, node.is_draining, node.facts, node.agent_version, node.generation, node.desired_generation, node.time_created, node.time_modified, node.time_state, node_lease.node_id, node_lease.server_id, node_lease.session_epoch, node_lease.applied_generation, node_lease.time_seen, node_lease.metrics FROM node LEFT JOIN node_lease ON node_lease.node_id = node.id"
    };
}

/// Which nodes to list.
#[derive(Clone, Debug, Default)]
pub struct NodeFilter {
    /// `None` lists all that are present; removed ones are listed only when asked for.
    pub state: Option<NodeState>,
    /// Only nodes that carry all of these.
    pub selector: Labels,
}

fn decode(row: &Row) -> Result<Node, Error> {
    let mut columns = row.columns("node");
    let id = columns.parse()?;
    let name = columns.parse()?;
    let labels = columns.json()?;
    let state = columns.parse()?;
    let cordon_reason = columns.opt_text()?;
    let time_cordoned = columns.opt_time()?;
    let is_draining = columns.flag()?;
    Ok(Node {
        id,
        name,
        labels,
        state,
        cordon: cordon_reason.map(|reason| Cordon {
            reason,
            time: time_cordoned.unwrap_or_default(),
            is_draining,
        }),
        facts: columns.opt_json()?,
        agent_version: columns.text()?,
        generation: columns.generation()?,
        desired_generation: columns.generation()?,
        time_created: columns.time()?,
        time_modified: columns.time()?,
        time_state: columns.time()?,
        lease: decode_lease(&mut columns)?,
    })
}

fn name_key(node: &Node) -> Value {
    Value::from((node.state != NodeState::Removed).then_some(node.name.as_str()))
}

fn key(node: &Node) -> String {
    format!("{}/{}", node.name, node.id)
}

impl Conn {
    pub async fn node_get(&mut self, id: NodeId) -> Result<Option<Node>, Error> {
        let sql = concat!(select!(), " WHERE node.id = $1");
        let row = self.query_one(sql, params![id]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// These nodes, removed ones too, in no particular order.
    pub async fn node_get_many(&mut self, ids: &[NodeId]) -> Result<Vec<Node>, Error> {
        let mut nodes = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(CHUNK) {
            let (sql, params) = Select::new(select!())
                .and_in("node.id", chunk.iter().copied())
                .first("node.id", CHUNK as u64);
            for row in &self.query(sql, params).await? {
                nodes.push(decode(row)?);
            }
        }
        Ok(nodes)
    }

    /// The node of this name that is not removed.
    pub async fn node_by_name(&mut self, name: &Name) -> Result<Option<Node>, Error> {
        let sql = concat!(select!(), " WHERE node.name_key = $1");
        let row = self.query_one(sql, params![name]).await?;
        row.as_ref().map(decode).transpose()
    }

    /// By name. The selector is matched here, so it may take several reads to fill a page.
    pub async fn node_list(
        &mut self,
        filter: &NodeFilter,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Node>, Error> {
        let wanted = limit.get() as usize + 1;
        let mut found: Vec<Node> = Vec::new();
        let mut after = after.map(str::to_owned);
        loop {
            let page = self.node_read(filter.state, after.as_deref(), limit).await?;
            found.extend(
                page.items
                    .into_iter()
                    .filter(|node| selector_matches(&filter.selector, &node.labels)),
            );
            after = page.next;
            if found.len() >= wanted || after.is_none() {
                found.truncate(wanted);
                return Ok(Page::from_rows(found, limit, key));
            }
        }
    }

    /// Every node that is not removed, by name: for liveness and placement.
    pub async fn node_list_all_present(&mut self) -> Result<Vec<Node>, Error> {
        let limit = Limit::new(Limit::MAX).expect("the maximum is in range");
        let mut nodes = Vec::new();
        let mut after = None;
        loop {
            let page = self.node_read(None, after.as_deref(), limit).await?;
            nodes.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(nodes),
            }
        }
    }

    async fn node_read(
        &mut self,
        state: Option<NodeState>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Node>, Error> {
        let mut select = Select::new(select!());
        select = match state {
            Some(state) => select.and_value("node.state =", state.label()),
            None => select.and("node.name_key IS NOT NULL"),
        };
        if let Some(after) = after {
            let (name, id) = after.split_once('/').unwrap_or((after, "~"));
            select = select.and_pair("(node.name, node.id) >", name, id);
        }
        let (sql, params) = select.page("node.name, node.id", limit);
        let rows = self.query(sql, params).await?;
        let nodes = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(nodes, limit, key))
    }
}

impl Tx<'_> {
    /// `Error::Conflict` when a present node has the name. The lease is not written.
    pub async fn node_insert(&mut self, node: &Node) -> Result<(), Error> {
        let cordon = node.cordon.as_ref();
        self.execute(
            "INSERT INTO node (id, name, name_key, labels, state, cordon_reason, time_cordoned, is_draining, facts, agent_version, generation, desired_generation, time_created, time_modified, time_state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
            params![
                node.id,
                &node.name,
                name_key(node),
                Value::json(&node.labels),
                node.state.label(),
                cordon.map(|c| c.reason.as_str()),
                cordon.map(|c| c.time),
                cordon.is_some_and(|c| c.is_draining),
                Value::json_opt(node.facts.as_ref()),
                &node.agent_version,
                node.generation,
                node.desired_generation,
                node.time_created,
                node.time_modified,
                node.time_state
            ],
        )
        .await?;
        Ok(())
    }

    /// Writes everything but the lease and `desired_generation`.
    pub async fn node_update(
        &mut self,
        node: &Node,
        expected: Generation,
    ) -> Result<Update, Error> {
        let cordon = node.cordon.as_ref();
        self.conditional(
            "UPDATE node SET name = $3, name_key = $4, labels = $5, state = $6, cordon_reason = $7, time_cordoned = $8, is_draining = $9, facts = $10, agent_version = $11, generation = $12, time_modified = $13, time_state = $14 WHERE id = $1 AND generation = $2",
            params![
                node.id,
                expected,
                &node.name,
                name_key(node),
                Value::json(&node.labels),
                node.state.label(),
                cordon.map(|c| c.reason.as_str()),
                cordon.map(|c| c.time),
                cordon.is_some_and(|c| c.is_draining),
                Value::json_opt(node.facts.as_ref()),
                &node.agent_version,
                expected.next(),
                node.time_modified,
                node.time_state
            ],
            PROBE,
            node.id,
        )
        .await
    }

    /// Takes `by` new numbers of the node's desired generation; returns the last of them, or `None`
    /// when there is no such node.
    pub async fn node_desired_bump(
        &mut self,
        node: NodeId,
        by: u64,
    ) -> Result<Option<Generation>, Error> {
        let row = self
            .query_one(
                "UPDATE node SET desired_generation = desired_generation + $2 WHERE id = $1 RETURNING desired_generation",
                params![node, by],
            )
            .await?;
        row.map(|row| row.columns("node").generation()).transpose()
    }

    /// Raises the node's desired generation to at least `to`; never lowers it.
    pub async fn node_desired_raise(&mut self, node: NodeId, to: Generation) -> Result<(), Error> {
        self.execute(
            "UPDATE node SET desired_generation = $2 WHERE id = $1 AND desired_generation < $2",
            params![node, to],
        )
        .await?;
        Ok(())
    }
}
