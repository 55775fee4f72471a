//! How far the objects of a stack are from what it says: every object is looked at, and compared with what it was made as.

use std::collections::{HashMap, HashSet};

use futures::FutureExt;
use futures::future::BoxFuture;
use hostler_base::chain::chain;
use hostler_model::stack::{
    ResourceBody, StackDriftItem, StackDriftKind, StackResource, StackStatus, StackValueChange,
};
use hostler_model::{Code, Error, StackResourceId};
use serde_json::{Map, Value};

use super::examine::unwell;
use super::hidden::Hidden;
use super::live::Live;
use super::plan_words::value_change;
use super::plugin::{Plugin, STACK_OUTPUT};
use super::stage::Stage;
use crate::Control;

/// What was found of one object.
struct Found {
    drift: StackDriftKind,
    properties: Vec<StackValueChange>,
    message: String,
}

impl Found {
    fn of(drift: StackDriftKind, message: impl Into<String>) -> Found {
        Found { drift, properties: Vec::new(), message: message.into() }
    }
}

impl Control {
    /// Looks at every object of a stack and of the stacks below it.
    pub(crate) async fn stack_drift_look(&self, stage: &Stage) -> Vec<StackDriftItem> {
        let (mut items, hidden) = (Vec::new(), Hidden::of(stage.secrets(self)));
        self.stack_drift_of(stage, &[], &hidden, &mut items).await;
        match self.stack_extra(stage).await {
            Ok(extra) => items.extend(extra),
            Err(error) => {
                let stack = &stage.scene.stack.name;
                tracing::warn!(%stack, error = %chain(&error), "nobody knows what a stack left behind");
            }
        }
        for item in &mut items {
            item.message = hidden.scrub(&item.message);
        }
        items
    }

    fn stack_drift_of<'a>(
        &'a self,
        stage: &'a Stage,
        path: &'a [String],
        hidden: &'a Hidden,
        items: &'a mut Vec<StackDriftItem>,
    ) -> BoxFuture<'a, ()> {
        async move {
            let scene = &stage.scene;
            let blueprint = scene.blueprint.as_deref();
            let mut live: HashMap<StackResourceId, Result<Option<Live>, Error>> =
                self.stack_live(scene, true).await.into_iter().collect();
            let mut rows: Vec<&StackResource> = scene.rows.iter().collect();
            let place = |row: &StackResource| blueprint.and_then(|it| it.position(&row.name));
            rows.sort_by_key(|row| (place(row).unwrap_or(usize::MAX), row.id));
            let mut found: HashMap<StackResourceId, Found> = HashMap::with_capacity(rows.len());
            let nothing = ResourceBody::default();
            for row in &rows {
                let is_wanted = row.replaced_by.is_none() && place(row).is_some();
                let body = scene.bodies.get(&row.id).unwrap_or(&nothing);
                let one = match self.stack_plugin(&body.plugin) {
                    _ if !is_wanted && blueprint.is_some() => {
                        Found::of(StackDriftKind::Extra, "the stack does not want it any more")
                    }
                    None => Found::of(StackDriftKind::Unknown, "its type is not there any more"),
                    Some(plugin) => {
                        let looked = live.remove(&row.id);
                        let one = compared(row, body, plugin.as_ref(), looked, hidden);
                        let is_theirs =
                            blueprint.is_some_and(|it| it.external(&row.name).is_some());
                        match one.drift {
                            StackDriftKind::Configuration if is_theirs => {
                                Found::of(StackDriftKind::InSync, "somebody else looks after it")
                            }
                            _ => one,
                        }
                    }
                };
                found.insert(row.id, one);
            }
            without_what_they_require(&rows, &mut found);
            for row in rows {
                let Some(one) = found.remove(&row.id) else { continue };
                items.push(StackDriftItem {
                    name: row.name.clone(),
                    path: path.to_vec(),
                    kind: row.kind.clone(),
                    physical: row.physical.clone(),
                    drift: one.drift,
                    properties: one.properties,
                    message: one.message,
                });
                if let Some(below) = stage.below.get(&row.id) {
                    let path: Vec<String> =
                        path.iter().cloned().chain([row.name.clone()]).collect();
                    self.stack_drift_of(below, &path, hidden, items).await;
                }
            }
        }
        .boxed()
    }
}

/// An object, compared with what it was made as.
fn compared(
    row: &StackResource,
    body: &ResourceBody,
    plugin: &dyn Plugin,
    looked: Option<Result<Option<Live>, Error>>,
    hidden: &Hidden,
) -> Found {
    let is_link = plugin.schema().type_name == STACK_OUTPUT;
    let is_failed = row.standing.status == StackStatus::Failed;
    let live = match looked {
        _ if row.deed.is_some() => {
            return Found::of(StackDriftKind::Unknown, "something is being done to it");
        }
        Some(Ok(Some(live))) => live,
        Some(Err(error)) if is_link && error.code == Code::Conflict => {
            return Found::of(StackDriftKind::Dependency, error.detail);
        }
        Some(Err(error)) => return Found::of(StackDriftKind::Unknown, error.detail),
        _ if is_failed => return Found::of(StackDriftKind::State, row.standing.reason.clone()),
        None => return Found::of(StackDriftKind::InSync, ""),
        Some(Ok(None)) => return Found::of(StackDriftKind::Unknown, "its type cannot tell"),
    };
    let Some(live) = live else {
        return Found::of(StackDriftKind::Missing, "there is no such object");
    };
    let properties = other_properties(body, plugin, &live, hidden);
    let live = Some(live);
    let unwell = unwell(body, plugin, Some(&live));
    if !properties.is_empty() {
        let drift = StackDriftKind::Configuration;
        return Found { drift, properties, message: String::new() };
    }
    if let Some(first) = unwell.first() {
        let drift = if is_link { StackDriftKind::Dependency } else { StackDriftKind::State };
        let (was, is) = (body.attributes.get(*first), live.as_ref().and_then(|it| it.get(*first)));
        let message = match is_link {
            true => "the stack that gives it gives another value now".to_owned(),
            false => format!("{} is not as it was", unwell.join(", ")),
        };
        let properties = vec![value_change(first, was, is, hidden)];
        return Found { drift, properties, message };
    }
    match is_failed {
        true => Found::of(StackDriftKind::State, row.standing.reason.clone()),
        false => Found::of(StackDriftKind::InSync, ""),
    }
}

/// Properties that are others in the world. What was not given, and is nothing in the world either, is the same.
fn other_properties(
    body: &ResourceBody,
    plugin: &dyn Plugin,
    live: &Map<String, Value>,
    hidden: &Hidden,
) -> Vec<StackValueChange> {
    let schema = plugin.schema();
    let nothing = Value::Null;
    let is_other = |(name, value): &(&String, &Value)| {
        schema.get(name).is_some() && body.properties.get(*name).unwrap_or(&nothing) != *value
    };
    let change = |(name, value): (&String, &Value)| {
        value_change(name, body.properties.get(name), Some(value), hidden)
    };
    live.iter().filter(is_other).map(change).collect()
}

/// Objects that are well, and were made from something that is missing.
fn without_what_they_require(rows: &[&StackResource], found: &mut HashMap<StackResourceId, Found>) {
    let is_missing = |row: &&&StackResource| {
        found.get(&row.id).is_some_and(|one| one.drift == StackDriftKind::Missing)
    };
    let missing: HashMap<StackResourceId, &str> =
        rows.iter().filter(is_missing).map(|row| (row.id, row.name.as_str())).collect();
    let known: HashSet<StackResourceId> = rows.iter().map(|row| row.id).collect();
    for row in rows {
        let names: Vec<&str> = row
            .requires
            .iter()
            .filter_map(|id| match missing.get(id) {
                Some(name) => Some(*name),
                None if !known.contains(id) => Some("a resource that the stack does not know"),
                None => None,
            })
            .collect();
        if let Some(one) = found.get_mut(&row.id)
            && one.drift == StackDriftKind::InSync
            && !names.is_empty()
        {
            let message = format!("it was made from {}, which is missing", names.join(", "));
            *one = Found::of(StackDriftKind::Dependency, message);
        }
    }
}
