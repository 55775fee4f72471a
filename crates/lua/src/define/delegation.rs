//! Where a task says it runs.

use std::collections::BTreeMap;

use hostler_model::workflow::{Delegation, PickStrategy, Targets};
use mlua::{Lua, Table, Value};

use super::lists::strings;
use crate::budget::{Budget, NODE};
use crate::stage::is_unknown;
use crate::value::{kind, text};

pub(crate) enum Unreadable {
    Lua(mlua::Error),
    Mistake(String),
}

impl From<mlua::Error> for Unreadable {
    fn from(error: mlua::Error) -> Unreadable {
        Unreadable::Lua(error)
    }
}

/// How deep tables of nodes may lie in each other.
const DEEPEST: usize = 4;
/// Words for where the execution itself runs.
const HERE: [&str; 3] = ["local", "localhost", "127.0.0.1"];

/// What the fields of a task or workflow say, and what is odd about it.
pub(crate) fn read(
    lua: &Lua,
    budget: &Budget,
    fields: &Table,
) -> Result<(Option<Delegation>, Option<String>), Unreadable> {
    let target: Value = fields.get("delegate_to")?;
    let mut remark = None;
    let mut found = match &target {
        Value::Nil => None,
        Value::String(name) => named(&budget.text(name)?)?,
        Value::Function(_) => Some(to(Targets::Function)),
        Value::Table(_) if is_unknown(lua, &target) => Some(to(Targets::Nodes(Vec::new()))),
        Value::Table(table) => Some(from_table(budget, table, 0)?),
        other => {
            return Err(Unreadable::Mistake(format!(
                "`delegate_to` is a {}; give the name of a node, a list of them, {{ tags = {{...}} }}, \"any\" or a function",
                kind(other)
            )));
        }
    };
    let tags: Value = fields.get("delegate_tags")?;
    if !tags.is_nil() {
        found.get_or_insert_default().targets = Targets::Labels(labels(budget, &tags)?);
    }
    if let Some(delegation) = &mut found {
        for options in [fields.clone(), options_of(fields)?.unwrap_or(lua.create_table()?)] {
            for (strategy, fallback) in
                [("delegate_strategy", "delegate_fallback"), ("strategy", "fallback")]
            {
                if let Value::String(word) = options.get::<Value>(strategy)? {
                    delegation.strategy = pick(&text(&word))?;
                }
                delegation.fallback |= is_fallback(&options.get::<Value>(fallback)?);
            }
        }
        if delegation.targets == Targets::Nodes(Vec::new()) {
            remark = Some(
                "`delegate_to` was given nothing; is a value missing? It runs nowhere like this"
                    .to_owned(),
            );
        }
    }
    Ok((found, remark))
}

/// The same for whoever is not reading a file.
pub(crate) fn delegation_of(lua: &Lua, fields: &Table) -> Result<Option<Delegation>, String> {
    match read(lua, &Budget::of(lua), fields) {
        Ok((found, _)) => Ok(found),
        Err(Unreadable::Lua(error)) => Err(error.to_string()),
        Err(Unreadable::Mistake(detail)) => Err(detail),
    }
}

fn options_of(fields: &Table) -> Result<Option<Table>, Unreadable> {
    Ok(match fields.get::<Value>("delegate_options")? {
        Value::Table(options) => Some(options),
        _ => None,
    })
}

fn to(targets: Targets) -> Delegation {
    Delegation { targets, ..Delegation::default() }
}

fn named(name: &str) -> Result<Option<Delegation>, Unreadable> {
    let name = name.trim();
    if HERE.contains(&name) {
        return Ok(None);
    }
    for prefix in ["tag:", "tags:", "label:", "labels:"] {
        if let Some(words) = name.strip_prefix(prefix) {
            let found = words.split(',').map(str::trim).filter(|w| !w.is_empty()).map(label);
            return Ok(Some(to(Targets::Labels(found.collect()))));
        }
    }
    Ok(Some(match name {
        "" => to(Targets::Nodes(Vec::new())),
        "any" | "*" | "auto" => to(Targets::Any),
        "all" => to(Targets::All(BTreeMap::new())),
        "round_robin" | "round-robin" | "least_loaded" | "least-loaded" => {
            Delegation { strategy: pick(name)?, ..Delegation::default() }
        }
        name => to(Targets::Nodes(vec![name.to_owned()])),
    }))
}

fn from_table(budget: &Budget, table: &Table, depth: usize) -> Result<Delegation, Unreadable> {
    if depth > DEEPEST {
        return Err(Unreadable::Mistake(format!(
            "`delegate_to`: tables lie more than {DEEPEST} deep in each other; is one in itself?"
        )));
    }
    if table.raw_len() > 0 {
        let mut names = Vec::new();
        for item in table.sequence_values::<Value>() {
            budget.take(NODE)?;
            match item? {
                Value::String(name) => names.push(budget.text(&name)?),
                Value::Table(inner) => names.push(name_in(budget, &inner)?.unwrap_or_default()),
                other => {
                    return Err(Unreadable::Mistake(format!(
                        "`delegate_to` lists a {}; give names of nodes",
                        kind(&other)
                    )));
                }
            }
        }
        return Ok(to(Targets::Nodes(names)));
    }
    let mut found = Delegation::default();
    let mut is_said = false;
    for key in ["nodes", "names", "agents", "hosts"] {
        if let Value::Table(names) = table.get::<Value>(key)? {
            found.targets = from_table(budget, &names, depth + 1)?.targets;
            is_said = true;
        }
    }
    if let Some(name) = name_in(budget, table)? {
        found.targets = named(&name)?.map_or(Targets::Nodes(Vec::new()), |named| named.targets);
        is_said = true;
    }
    for key in ["tags", "labels", "tag", "label", "selector"] {
        let given: Value = table.get(key)?;
        if !given.is_nil() {
            let wanted = labels(budget, &given)?;
            let all = matches!(table.get("all")?, Value::Boolean(true));
            found.targets = if all { Targets::All(wanted) } else { Targets::Labels(wanted) };
            is_said = true;
        }
    }
    if let Value::String(location) = table.get::<Value>("location")? {
        let mut wanted = BTreeMap::new();
        wanted.insert("location".to_owned(), budget.text(&location)?);
        found.targets = Targets::Labels(wanted);
        found.strategy = PickStrategy::Location;
        is_said = true;
    }
    for key in ["select", "choose", "fn", "custom"] {
        if table.get::<Value>(key)?.is_function() {
            found.targets = Targets::Function;
            is_said = true;
        }
    }
    if matches!(table.get("any")?, Value::Boolean(true)) {
        is_said = true;
    }
    if let Value::String(word) = table.get::<Value>("strategy")? {
        found.strategy = pick(&text(&word))?;
        is_said = true;
    }
    found.fallback = is_fallback(&table.get::<Value>("fallback")?)
        || is_fallback(&table.get::<Value>("fallback_to_local")?);
    if !is_said {
        found.targets = Targets::Nodes(Vec::new());
    }
    Ok(found)
}

fn name_in(budget: &Budget, table: &Table) -> Result<Option<String>, Unreadable> {
    for key in ["name", "node", "agent", "host", "address"] {
        if let Value::String(name) = table.get::<Value>(key)? {
            return Ok(Some(budget.text(&name)?));
        }
    }
    Ok(None)
}

fn is_fallback(value: &Value) -> bool {
    match value {
        Value::Boolean(yes) => *yes,
        Value::String(word) => HERE.contains(&text(word).as_str()),
        _ => false,
    }
}

fn pick(word: &str) -> Result<PickStrategy, Unreadable> {
    match word.replace('_', "-").as_str() {
        "least-loaded" | "tags" | "tag-based" | "custom" => Ok(PickStrategy::LeastLoaded),
        "round-robin" => Ok(PickStrategy::RoundRobin),
        "random" => Ok(PickStrategy::Random),
        "location" | "geographic" | "geo" => Ok(PickStrategy::Location),
        other => Err(Unreadable::Mistake(format!(
            "`{other}` is no strategy; there are least-loaded, round-robin, random and location"
        ))),
    }
}

/// `zone=eu` as it stands; a bare word is a label that is `true`.
fn label(word: &str) -> (String, String) {
    match word.split_once('=') {
        Some((key, value)) => (key.trim().to_owned(), value.trim().to_owned()),
        None => (word.to_owned(), "true".to_owned()),
    }
}

fn labels(budget: &Budget, value: &Value) -> Result<BTreeMap<String, String>, Unreadable> {
    Ok(match value {
        Value::String(words) => {
            text(words).split(',').map(str::trim).filter(|w| !w.is_empty()).map(label).collect()
        }
        Value::Table(table) => {
            let mut found = strings(budget, value)?;
            for item in table.sequence_values::<Value>() {
                let (key, value) = label(&budget.words(&item?)?);
                found.insert(key, value);
            }
            found
        }
        _ => BTreeMap::new(),
    })
}
