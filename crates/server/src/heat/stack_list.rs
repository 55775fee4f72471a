//! Lists of stacks, with the filters and orders of Heat.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use hostler_control::StackQuery;
use hostler_model::stack::{Stack, StackAction, StackStatus};
use hostler_model::{Need, Permission, PrincipalId, Scope, Span};
use hostler_store::StackSort;
use serde_json::{Value, json};

use super::call::{Call, Gathering};
use super::fault::Fault;
use super::query::Query;
use super::reply::Reply;
use super::{stack, view};

/// Which stacks are asked for; nothing where none can be meant.
struct Asked {
    query: StackQuery,
    can_be: bool,
}

/// As Heat writes a status: `IN_PROGRESS`.
pub(super) fn status(text: &str) -> Option<StackStatus> {
    StackStatus::ALL.iter().copied().find(|status| status.heat() == text.to_ascii_uppercase())
}

pub(super) fn action(text: &str) -> Option<StackAction> {
    StackAction::ALL.iter().copied().find(|action| action.heat() == text.to_ascii_uppercase())
}

/// `COMPLETE`, or `CREATE_COMPLETE`.
fn standing(text: &str) -> Option<(Option<StackAction>, StackStatus)> {
    if let Some(status) = status(text) {
        return Some((None, status));
    }
    let (first, rest) = text.split_once('_')?;
    Some((Some(action(first)?), status(rest)?))
}

fn sort(query: &Query) -> Vec<StackSort> {
    let key = |word: &str| match word {
        "stack_name" | "name" => Some(StackSort::Name),
        "stack_status" | "status" => Some(StackSort::Status),
        "creation_time" | "created_at" => Some(StackSort::Created),
        "updated_time" | "updated_at" => Some(StackSort::Updated),
        _ => None,
    };
    query.words("sort_keys").iter().filter_map(|word| key(word)).collect()
}

impl Asked {
    /// What of the values can be read; that none can be means that no stack is meant.
    fn read<T>(&mut self, values: &[&str], read: impl Fn(&str) -> Option<T>) -> Vec<T> {
        let found: Vec<T> = values.iter().filter_map(|value| read(value)).collect();
        self.can_be &= values.is_empty() || !found.is_empty();
        found
    }

    fn text(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    async fn of(call: &Call) -> Result<Asked, Fault> {
        let query = &call.query;
        let mut asked = Asked { query: StackQuery::default(), can_be: true };
        let ids = asked.read(&query.all("id"), |id| id.parse().ok());
        let parents = asked.read(&query.any_of(&["owner_id", "parent"]), |id| id.parse().ok());
        let actions = asked.read(&query.any_of(&["action", "stack_action"]), action);
        let standings = asked.read(&query.any_of(&["status", "stack_status"]), standing);
        let owners = query.any_of(&["username", "stack_owner"]);
        let mut principals: Vec<PrincipalId> = Vec::new();
        for owner in &owners {
            if let Ok(user) = call.control().user_get(call.cx(), owner).await {
                principals.push(user.principal.id);
            }
        }
        asked.can_be &= owners.is_empty() || !principals.is_empty();
        let own = [call.project().id.to_string(), call.project().name.to_string()];
        let tenants = query.any_of(&["tenant", "stack_user_project_id"]);
        let is_own = |tenant: &&str| own.iter().any(|known| known == tenant);
        asked.can_be &= tenants.is_empty() || tenants.iter().any(is_own);
        let minutes = |text: &str| {
            let minutes: u32 = text.parse().ok()?;
            Some(Span::from_secs(u64::from(minutes) * 60))
        };
        let timeouts = asked.read(&query.all("timeout_mins"), minutes);
        let keeps = query.get("disable_rollback").map(|_| query.flag("disable_rollback", true));
        let is_rollback_enabled = keeps.transpose()?.map(|keeps| !keeps);
        asked.query = StackQuery {
            ids,
            names: Asked::text(&query.any_of(&["name", "stack_name"])),
            actions,
            standings,
            reasons: Asked::text(&query.all("stack_status_reason")),
            with_nested: query.flag("show_nested", false)? || !parents.is_empty(),
            parents,
            principals,
            is_rollback_enabled,
            timeouts,
            tags: query.words("tags"),
            tags_any: query.words("tags_any"),
            not_tags: query.words("not_tags"),
            not_tags_any: query.words("not_tags_any"),
            with_deleted: query.flag("show_deleted", false)?,
            sort: sort(query),
            is_ascending: !query.is_descending(true)?,
            ..StackQuery::default()
        };
        Ok(asked)
    }
}

/// Whether somebody may see the stacks of all projects.
fn sees_all(call: &Call) -> bool {
    let need = Need { permission: Permission::StackRead, scope: Scope::Global };
    call.cx().caller.may(need)
}

pub(super) async fn list(call: Call) -> Result<Reply, Fault> {
    let asked = Asked::of(&call).await?;
    let is_wide = call.query.flag("global_tenant", false)?;
    let is_global = is_wide && sees_all(&call);
    let limit = call.query.limit()?;
    let stacks = match asked.can_be {
        true => found(&call, &asked.query, is_global, limit).await?,
        false => Vec::new(),
    };
    let mut body = json!({ "stacks": views(&call, &stacks, is_wide || sees_all(&call)).await });
    if let (Some(limit), Some(last)) = (limit, stacks.last())
        && limit == stacks.len()
    {
        let rest = call.query.without("marker");
        let href = call.here.path(&format!("/stacks?{rest}&marker={}", last.id));
        body["links"] = json!([{ "rel": "next", "href": href }]);
    }
    if call.query.flag("with_count", false)? {
        let count = match asked.can_be {
            true => call.control().stack_count(call.cx(), call.project(), &asked.query).await?,
            false => 0,
        };
        body["count"] = json!(count);
    }
    Ok(Reply::ok(body))
}

/// All of them, whatever else is asked for.
pub(super) async fn whole(call: Call) -> Result<Reply, Fault> {
    let stacks = found(&call, &StackQuery::default(), false, None).await?;
    Ok(Reply::ok(json!({ "stacks": views(&call, &stacks, sees_all(&call)).await })))
}

async fn found(
    call: &Call,
    query: &StackQuery,
    is_global: bool,
    limit: Option<usize>,
) -> Result<Vec<Stack>, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let mut found = Gathering::new(limit, call.query.get("marker"));
    while let Some((after, step)) = found.next() {
        let page = match is_global {
            true => control.stack_list_everywhere(cx, query, after, step).await?,
            false => control.stack_list(cx, project, query, after, step).await?,
        };
        found.take(page);
    }
    Ok(found.all())
}

async fn views(call: &Call, stacks: &[Stack], is_placed: bool) -> Vec<Value> {
    let mut owners: HashMap<PrincipalId, String> = HashMap::new();
    let mut all = Vec::with_capacity(stacks.len());
    for one in stacks {
        let owner = match owners.entry(one.mandate.principal) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(stack::owner(call, one).await),
        };
        let here = call.here.clone();
        let here = match one.project_id == call.project().id {
            true => here,
            false => here.in_project(&one.project_id.to_string()),
        };
        all.push(view::summary(&here, one, owner, is_placed));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_heat_are_read() {
        assert_eq!(standing("COMPLETE"), Some((None, StackStatus::Complete)));
        assert_eq!(
            standing("CREATE_IN_PROGRESS"),
            Some((Some(StackAction::Create), StackStatus::InProgress))
        );
        assert_eq!(standing("NOPE_COMPLETE"), None);
        assert_eq!(action("suspend"), Some(StackAction::Suspend));
    }
}
