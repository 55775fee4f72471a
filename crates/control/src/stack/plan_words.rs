//! The words of plans: which values differ, and why something has to be done.

use std::collections::{BTreeMap, BTreeSet};

use hostler_engine::stack::Verdict;
use hostler_model::stack::{
    DeedBody, STACK_HIDDEN, StackResourceChange, StackStatus, StackValueChange,
};
use serde_json::{Map, Value};

use super::blueprint::{Blueprint, Part};
use super::examine::{Question, unwell};
use super::hidden::Hidden;
use super::plugin::Plugin;
use super::scene::Output;

/// A value that was and is to be another; what is nothing is not there.
fn change(name: &str, before: Option<&Value>, after: Option<&Value>) -> StackValueChange {
    let of = |value: Option<&Value>| value.filter(|it| !it.is_null()).cloned();
    StackValueChange {
        name: name.to_owned(),
        before: of(before),
        after: of(after),
        ..StackValueChange::default()
    }
}

/// The same, as it may be shown.
pub(crate) fn value_change(
    name: &str,
    before: Option<&Value>,
    after: Option<&Value>,
    hidden: &Hidden,
) -> StackValueChange {
    let mut change = change(name, before, after);
    conceal(&mut change, hidden);
    change
}

/// Where one of two values is secret, the other is so too.
fn conceal(change: &mut StackValueChange, hidden: &Hidden) {
    let is_secret = |value: &Value| {
        let mut shown = value.clone();
        hidden.hide(&mut shown);
        shown != *value
    };
    if [&change.before, &change.after].into_iter().flatten().any(is_secret) {
        change.is_secret = true;
        for value in [&mut change.before, &mut change.after].into_iter().flatten() {
            *value = Value::String(STACK_HIDDEN.to_owned());
        }
    }
}

pub(crate) fn conceal_all(changes: &mut [StackValueChange], hidden: &Hidden) {
    changes.iter_mut().for_each(|change| conceal(change, hidden));
}

pub(super) fn conceal_resources(lines: &mut [StackResourceChange], hidden: &Hidden) {
    for line in lines {
        line.reason = hidden.scrub(&line.reason);
        conceal_all(&mut line.properties, hidden);
    }
}

/// Values that differ between two maps, by name.
pub(crate) fn values_differ(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    hidden: &Hidden,
) -> Vec<StackValueChange> {
    super::examine::differing(before, after)
        .iter()
        .map(|name| value_change(name, before.get(name), after.get(name), hidden))
        .collect()
}

/// The properties of a resource that differ from what it is to be.
pub(super) fn difference(
    question: &Question<'_>,
    plugin: &dyn Plugin,
    meant: &DeedBody,
    unknown: &BTreeSet<String>,
    verdict: &Verdict,
) -> Vec<StackValueChange> {
    let before = question.before(plugin);
    let names: Vec<&String> = match verdict {
        Verdict::Create => {
            meant.properties.iter().filter(|(_, it)| !it.is_null()).map(|(name, _)| name).collect()
        }
        _ => meant.changed.iter().collect(),
    };
    let schema = plugin.schema();
    let one = |name: &String| {
        let is_unknown = unknown.contains(name);
        let after = meant.properties.get(name).filter(|_| !is_unknown);
        let is_fixed = schema.get(name).is_some_and(|one| !one.is_updatable);
        StackValueChange {
            is_unknown,
            replaces: *verdict == Verdict::Replace && is_fixed,
            ..change(name, before.get(name), after)
        }
    };
    names.into_iter().map(one).collect()
}

/// Why something has to be done, where the properties do not say it.
pub(super) fn reason(
    question: &Question<'_>,
    part: &Part,
    plugin: &dyn Plugin,
    meant: &DeedBody,
    verdict: &Verdict,
) -> String {
    let Question { row, body, live, .. } = question;
    let is_failed = row.standing.status == StackStatus::Failed;
    let failed = || format!("what was done to it last has failed: {}", row.standing.reason);
    match verdict {
        Verdict::Replace => {
            if body.plugin != part.plugin {
                return format!("it is to be of type {}", part.kind);
            }
            if matches!(live, Some(None)) {
                return "it is not there any more".to_owned();
            }
            let schema = plugin.schema();
            let is_fixed = |name: &&String| schema.get(name).is_some_and(|one| !one.is_updatable);
            let fixed: Vec<&str> =
                meant.changed.iter().filter(is_fixed).map(String::as_str).collect();
            match fixed.as_slice() {
                [] if is_failed => failed(),
                [] => "it cannot become so in its place".to_owned(),
                names => format!("{} cannot be changed in its place", names.join(", ")),
            }
        }
        Verdict::Update if meant.changed.is_empty() => {
            let unwell = unwell(body, plugin, *live);
            if !unwell.is_empty() {
                return format!("{} is not as it was", unwell.join(", "));
            }
            if is_failed {
                return failed();
            }
            if part.has_metadata && body.metadata != meant.metadata {
                return "its metadata differs".to_owned();
            }
            if body.update_policy != meant.update_policy {
                return "its update policy differs".to_owned();
            }
            String::new()
        }
        _ => String::new(),
    }
}

/// Outputs that would be others: with their values as far as they are known, and whether they are not.
pub(super) fn outputs_differ(
    before: &[Output],
    after: &[(String, Option<Value>, bool)],
) -> Vec<StackValueChange> {
    let known: BTreeMap<&str, &Value> = before
        .iter()
        .filter_map(|one| Some((one.name.as_str(), one.value.as_ref().ok()?)))
        .collect();
    let mut found = Vec::new();
    for (name, value, is_unknown) in after {
        let before = known.get(name.as_str()).copied();
        let is_same =
            before.filter(|it| !it.is_null()) == value.as_ref().filter(|it| !it.is_null());
        if *is_unknown || !is_same {
            let change = change(name, before, value.as_ref());
            found.push(StackValueChange { is_unknown: *is_unknown, ..change });
        }
    }
    let is_gone = |name: &&str| !after.iter().any(|(other, _, _)| other == name);
    for name in known.keys().filter(|name| is_gone(name)) {
        found.push(change(name, known.get(name).copied(), None));
    }
    found
}

/// Parameters whose values would be others.
pub(crate) fn parameters_differ(
    before: Option<&Blueprint>,
    after: Option<&Blueprint>,
) -> Vec<StackValueChange> {
    let values = |blueprint: Option<&Blueprint>| -> BTreeMap<String, (Value, bool)> {
        let declared = blueprint.into_iter().flat_map(|it| it.parameters.declared());
        declared
            .filter_map(|one| {
                let value = one.value()?.clone();
                Some((one.schema.name.clone(), (value, one.schema.is_hidden)))
            })
            .collect()
    };
    let (before, after) = (values(before), values(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut found = Vec::new();
    for name in names {
        let (was, is) = (before.get(name), after.get(name));
        if was.map(|it| &it.0) == is.map(|it| &it.0) {
            continue;
        }
        let is_secret = [was, is].into_iter().flatten().any(|it| it.1);
        let value = |it: Option<&(Value, bool)>| match is_secret {
            true => it.map(|_| Value::String(STACK_HIDDEN.to_owned())),
            false => it.map(|it| it.0.clone()),
        };
        found.push(StackValueChange {
            name: name.clone(),
            before: value(was),
            after: value(is),
            is_secret,
            ..StackValueChange::default()
        });
    }
    found
}
