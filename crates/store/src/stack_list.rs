//! Lists of stacks, with every filter and order that Heat's interface has. A page goes on after a stack: after where it
//! stands now, if it moved since.

use hostler_model::stack::{Stack, StackAction, StackStatus};
use hostler_model::{Limit, Page, PrincipalId, ProjectId, Span, StackId};

use crate::select::Select;
use crate::stack::{decode, stack_columns, tag_text};
use crate::value::{Value, params};
use crate::{Conn, Dialect, Error};

/// Which stacks to list; what is empty does not matter.
#[derive(Clone, Copy, Debug, Default)]
pub struct StackFilter<'a> {
    /// None for those of all projects.
    pub project: Option<ProjectId>,
    pub ids: &'a [StackId],
    pub names: &'a [String],
    pub actions: &'a [StackAction],
    pub statuses: &'a [StackStatus],
    /// One of these: a status, or one of one action.
    pub standings: &'a [(Option<StackAction>, StackStatus)],
    /// Why it stands as it does, as it is said.
    pub reasons: &'a [String],
    /// Whose resources they are.
    pub parents: &'a [StackId],
    /// In whose name they act.
    pub principals: &'a [PrincipalId],
    /// Those with all of these tags...
    pub tags: &'a [String],
    /// ...with one of these...
    pub tags_any: &'a [String],
    /// ...not with all of these...
    pub not_tags: &'a [String],
    /// ...and with none of these.
    pub not_tags_any: &'a [String],
    /// Only those whose changes are undone when they fail, or are not.
    pub is_rollback_enabled: Option<bool>,
    /// How long a change may take, where that was chosen.
    pub timeouts: &'a [Span],
    /// Only those whose drift is looked for by itself.
    pub looks_for_drift: bool,
    /// Also those that were deleted.
    pub with_deleted: bool,
    /// Also those that are resources of others.
    pub with_nested: bool,
}

/// By what stacks are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StackSort {
    Created,
    /// Those that were never changed first.
    Updated,
    Name,
    Status,
}

/// In which order stacks are listed: by these, one after the other. Nothing is the same as [`StackSort::Created`].
#[derive(Clone, Copy, Debug, Default)]
pub struct StackOrder<'a> {
    pub keys: &'a [StackSort],
    pub is_ascending: bool,
}

impl StackSort {
    const fn column(self) -> &'static str {
        match self {
            StackSort::Created => "time_created",
            StackSort::Updated => "COALESCE(time_updated, 0)",
            StackSort::Name => "name",
            StackSort::Status => "status",
        }
    }

    fn value(self, stack: &Stack) -> Value {
        match self {
            StackSort::Created => Value::from(stack.time_created),
            StackSort::Updated => {
                Value::Int(Some(stack.time_updated.map_or(0, hostler_model::Timestamp::micros)))
            }
            StackSort::Name => Value::from(stack.name.as_str()),
            StackSort::Status => Value::from(stack.standing.status.label()),
        }
    }
}

impl StackOrder<'_> {
    fn keys(&self) -> &[StackSort] {
        if self.keys.is_empty() { &[StackSort::Created] } else { self.keys }
    }

    fn text(&self) -> String {
        let direction = if self.is_ascending { "" } else { " DESC" };
        let columns = self.keys().iter().map(|key| key.column()).chain(["id"]);
        columns.map(|column| format!("{column}{direction}")).collect::<Vec<_>>().join(", ")
    }

    /// Only those that come after this one.
    fn after(&self, select: Select, stack: &Stack) -> Select {
        let columns: Vec<&str> = self.keys().iter().map(|key| key.column()).collect();
        let operator = if self.is_ascending { ">" } else { "<" };
        let values = self.keys().iter().map(|key| key.value(stack));
        select.and_row(
            &format!("({}, id) {operator}", columns.join(", ")),
            values.chain([Value::from(stack.id)]).collect(),
        )
    }
}

impl StackFilter<'_> {
    fn select(&self, head: &str, dialect: Dialect) -> Select {
        let texts = |texts: &[String]| texts.iter().map(Value::from).collect::<Vec<_>>();
        let mut select = Select::new(head);
        // Where few rows are meant, the index of a whole project is hidden from the planner.
        let is_few = !self.ids.is_empty() || !self.parents.is_empty();
        if let Some(project) = self.project {
            let column = if is_few { "COALESCE(project_id, '') =" } else { "project_id =" };
            select = select.and_value(column, project);
        }
        if !self.with_deleted {
            select = select.and("time_deleted IS NULL");
        }
        if !self.with_nested {
            select = select.and("parent_stack_id IS NULL");
        }
        select = select
            .and_in_any("id", self.ids.iter().copied())
            .and_in_any("name", texts(self.names))
            .and_in_any("action", self.actions.iter().map(|action| action.label()))
            .and_in_any("status", self.statuses.iter().map(|status| status.label()))
            .and_in_any("reason", texts(self.reasons))
            .and_in_any("parent_stack_id", self.parents.iter().copied())
            .and_in_any("mandate_principal", self.principals.iter().copied());
        if !self.standings.is_empty() {
            let one = |(action, status): &(Option<StackAction>, StackStatus)| {
                let status = format!("status = {}", select.given(status.label()));
                match action {
                    None => status,
                    Some(action) => {
                        format!("({status} AND action = {})", select.given(action.label()))
                    }
                }
            };
            let either: Vec<String> = self.standings.iter().map(one).collect();
            select = select.and(&format!("({})", either.join(" OR ")));
        }
        let mut has = |text: &str| {
            let text = select.given(text);
            match dialect {
                Dialect::Sqlite => format!("INSTR(options, {text}) > 0"),
                Dialect::Postgres => format!("STRPOS(options, {text}) > 0"),
            }
        };
        let mut chosen = Vec::new();
        if let Some(is_enabled) = self.is_rollback_enabled {
            let not = if is_enabled { "" } else { "NOT " };
            chosen.push(format!("{not}({})", has("\"isRollbackEnabled\":true")));
        }
        if !self.timeouts.is_empty() {
            let one = |timeout: &Span| has(&format!("\"timeout\":\"{timeout}\""));
            let either: Vec<String> = self.timeouts.iter().map(one).collect();
            chosen.push(format!("({})", either.join(" OR ")));
        }
        if self.looks_for_drift {
            chosen.push(has("\"driftEvery\":"));
        }
        for condition in chosen {
            select = select.and(&condition);
        }
        for (tags, word, is_wanted) in [
            (self.tags, " AND ", true),
            (self.tags_any, " OR ", true),
            (self.not_tags, " AND ", false),
            (self.not_tags_any, " OR ", false),
        ] {
            if tags.is_empty() {
                continue;
            }
            let one = |tag: &String| {
                let tag = select.given(tag_text(tag).as_str());
                match dialect {
                    Dialect::Sqlite => format!("INSTR(tags, {tag}) > 0"),
                    Dialect::Postgres => format!("STRPOS(tags, {tag}) > 0"),
                }
            };
            let each: Vec<String> = tags.iter().map(one).collect();
            let not = if is_wanted { "" } else { "NOT " };
            select = select.and(&format!("{not}({})", each.join(word)));
        }
        select
    }
}

impl Conn {
    /// An unknown cursor begins anew.
    pub async fn stack_list(
        &mut self,
        filter: StackFilter<'_>,
        order: StackOrder<'_>,
        after: Option<&str>,
        limit: Limit,
    ) -> Result<Page<Stack>, Error> {
        let head = concat!("SELECT ", stack_columns!(), " FROM stack");
        let mut select = filter.select(head, self.dialect());
        if let Some(id) = after.and_then(|after| after.parse::<StackId>().ok()) {
            let sql = concat!("SELECT ", stack_columns!(), " FROM stack WHERE id = $1");
            if let Some(row) = self.query_one(sql, params![id]).await? {
                select = order.after(select, &decode(&row)?);
            }
        }
        let (sql, params) = select.page(&order.text(), limit);
        let rows = self.query(sql, params).await?;
        let stacks = rows.iter().map(decode).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_rows(stacks, limit, |stack| stack.id.to_string()))
    }

    /// How many there are on all pages together.
    pub async fn stack_count(&mut self, filter: StackFilter<'_>) -> Result<u64, Error> {
        let (sql, params) = filter.select("SELECT COUNT(*) FROM stack", self.dialect()).unordered();
        self.count(sql, params).await
    }
}
