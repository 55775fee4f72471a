//! Reading texts, and lists of texts, tasks and conditions.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::workflow::{Condition, Handler, Place, Step};
use mlua::{Result, Table, Value};

use super::read::Reader;
use crate::budget::{Budget, NODE, too_much};
use crate::stage::is_unknown;
use crate::value::{kind, text};

/// How deep lists may lie in each other.
const DEEPEST: usize = 32;
/// What a task takes besides its texts.
const STEP: usize = size_of::<Step>() + 512;
/// How many tasks one workflow may have.
const MOST_STEPS: usize = 100_000;
/// Fields in which nothing may be left out.
const WITHOUT_HOLES: [&str; 3] = ["tasks", "depends_on", "next_if_fail"];

impl Reader<'_> {
    /// What a list has at 1, 2, 3 and so on. Luau ends a list at the first place with nothing in it; what comes after
    /// that is part of it here, and the place is told.
    pub(super) fn items(&mut self, list: &Table, field: &str, place: &Place) -> Result<Vec<Value>> {
        let mut found = Vec::new();
        let budget = &self.budget;
        list.for_each(|key: Value, value: Value| {
            budget.take(NODE)?;
            if let Value::Integer(index) = key
                && index > 0
            {
                if found.len() >= MOST_STEPS {
                    return Err(too_much());
                }
                found.push((index, value));
            }
            Ok(())
        })?;
        found.sort_by_key(|(index, _)| *index);
        let hole = (1..).zip(&found).find(|(at, (index, _))| at != index).map(|(at, _)| at);
        if let Some(at) = hole {
            let detail = format!("`{field}`: item {at} is nil; is a name misspelt, or made later?");
            if WITHOUT_HOLES.contains(&field) {
                self.mistake(place, detail);
            } else {
                self.remark(place, detail);
            }
        }
        Ok(found.into_iter().map(|(_, value)| value).collect())
    }

    /// Tasks in lists, in lists of lists, and in maps by name.
    pub(super) fn gather(
        &mut self,
        value: &Value,
        place: &Place,
        into: &mut Vec<Table>,
    ) -> Result<()> {
        self.gather_at(value, place, into, 0)
    }

    fn gather_at(
        &mut self,
        value: &Value,
        place: &Place,
        into: &mut Vec<Table>,
        depth: usize,
    ) -> Result<()> {
        self.budget.take(NODE)?;
        let table = match value {
            Value::Nil => return Ok(()),
            Value::Table(table) if !is_unknown(self.lua, value) => table,
            Value::Table(_) => {
                let detail = "`tasks` has something that nobody knows while the file is defined; it is left out";
                self.remark(place, detail.to_owned());
                return Ok(());
            }
            other => {
                let detail =
                    format!("`tasks` has a {}, which is no task; it is left out", kind(other));
                self.remark(place, detail);
                return Ok(());
            }
        };
        if let Some(fields) = self.fields(table)? {
            return self.add(into, fields);
        }
        if table.raw_len() == 0 && table.get::<Value>("name")?.is_string() {
            return self.add(into, table.clone());
        }
        if depth > DEEPEST {
            let detail = format!(
                "`tasks`: lists lie more than {DEEPEST} deep in each other; is one in itself?"
            );
            self.mistake(place, detail);
            return Ok(());
        }
        let items = self.items(table, "tasks", place)?;
        if !items.is_empty() {
            for item in items {
                match &item {
                    Value::Table(task)
                        if task.raw_len() == 0
                            && !is_unknown(self.lua, &item)
                            && self.fields(task)?.is_none() =>
                    {
                        self.add(into, task.clone())?;
                    }
                    item => self.gather_at(item, place, into, depth + 1)?,
                }
                if self.is_hopeless() {
                    return Ok(());
                }
            }
            return Ok(());
        }
        let mut named = BTreeMap::new();
        table.for_each(|key: Value, value: Value| {
            if let (Value::String(name), Value::Table(task)) = (key, value) {
                if named.len() >= MOST_STEPS {
                    return Err(too_much());
                }
                named.insert(self.budget.text(&name)?, task);
            }
            Ok(())
        })?;
        for (name, task) in named {
            let task = self.fields(&task)?.unwrap_or(task);
            if task.get::<Value>("name")?.is_nil() {
                task.set("name", name)?;
            }
            self.add(into, task)?;
        }
        Ok(())
    }

    fn add(&self, into: &mut Vec<Table>, task: Table) -> Result<()> {
        self.budget.take(STEP)?;
        if into.len() >= MOST_STEPS {
            return Err(too_much());
        }
        into.push(task);
        Ok(())
    }

    /// Names of steps: texts, tasks, or lists of them.
    pub(super) fn names(
        &mut self,
        value: &Value,
        field: &str,
        place: &Place,
    ) -> Result<Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        self.add_names(value, field, place, &mut found, 0)?;
        if found.len() < 2 {
            return Ok(found);
        }
        let mut seen = BTreeSet::new();
        found.retain(|name| seen.insert(name.clone()));
        Ok(found)
    }

    fn add_names(
        &mut self,
        value: &Value,
        field: &str,
        place: &Place,
        into: &mut Vec<String>,
        depth: usize,
    ) -> Result<()> {
        self.budget.take(NODE)?;
        match value {
            Value::String(name) => into.push(self.budget.text(name)?),
            Value::Table(_) if is_unknown(self.lua, value) => {}
            Value::Table(table) => {
                let fields = self.fields(table)?;
                let table = fields.as_ref().unwrap_or(table);
                if let Value::String(name) = table.get::<Value>("name")?
                    && table.raw_len() == 0
                {
                    into.push(self.budget.text(&name)?);
                    return Ok(());
                }
                if depth > DEEPEST {
                    let detail = format!(
                        "`{field}`: lists lie more than {DEEPEST} deep in each other; is one in itself?"
                    );
                    self.mistake(place, detail);
                    return Ok(());
                }
                for item in self.items(table, field, place)? {
                    self.add_names(&item, field, place, into, depth + 1)?;
                    if self.is_hopeless() {
                        return Ok(());
                    }
                }
            }
            Value::Nil => {}
            other => {
                let kind = kind(other);
                self.remark(place, format!("`{field}` has a {kind}, which names no task"));
            }
        }
        Ok(())
    }

    /// One text, or a list of texts, or the keys of a map whose values are true.
    pub(super) fn list(
        &mut self,
        value: &Value,
        field: &str,
        place: &Place,
    ) -> Result<Vec<String>> {
        Ok(match value {
            Value::Table(_) if is_unknown(self.lua, value) => Vec::new(),
            Value::Table(table) => {
                let items = self.items(table, field, place)?;
                if items.is_empty() {
                    return Ok(strings(&self.budget, value)?
                        .into_iter()
                        .map(
                            |(key, value)| {
                                if value == "true" { key } else { format!("{key}={value}") }
                            },
                        )
                        .collect());
                }
                items.iter().map(|item| self.budget.words(item)).collect::<Result<_>>()?
            }
            Value::Nil => Vec::new(),
            other => vec![self.budget.words(other)?],
        })
    }

    pub(super) fn conditions(
        &mut self,
        fields: &Table,
        field: &str,
        place: &Place,
    ) -> Result<Vec<Condition>> {
        let mut found = Vec::new();
        let value = fields.get::<Value>(field)?;
        let items = match &value {
            Value::Table(list) if list.raw_len() > 0 && !is_unknown(self.lua, &value) => {
                self.items(list, field, place)?
            }
            Value::Nil => Vec::new(),
            other => vec![other.clone()],
        };
        for item in items {
            match &item {
                Value::String(line) => found.push(Condition::Command(self.budget.text(line)?)),
                Value::Function(_) => found.push(Condition::Function),
                Value::Boolean(answer) => found.push(Condition::Always(*answer)),
                Value::Table(options) => match options.get::<Value>("command")? {
                    Value::String(line) => found.push(Condition::Command(self.budget.text(&line)?)),
                    Value::Function(_) => found.push(Condition::Function),
                    _ => self.remark(
                        place,
                        format!("`{field}` is a table without a command; it has no effect"),
                    ),
                },
                other => {
                    let kind = kind(other);
                    self.mistake(
                        place,
                        format!("`{field}` is a {kind}; give a function or a line for the shell"),
                    );
                }
            }
        }
        Ok(found)
    }

    /// A text, or nothing.
    pub(super) fn optional(&self, fields: &Table, field: &str) -> Result<Option<String>> {
        Ok(match fields.get::<Value>(field)? {
            Value::String(value) => {
                Some(self.budget.text(&value)?).filter(|value| !value.is_empty())
            }
            _ => None,
        })
    }

    pub(super) fn word(&self, fields: &Table, field: &str) -> Result<String> {
        match fields.get::<Value>(field)? {
            Value::Nil | Value::Table(_) | Value::Function(_) => Ok(String::new()),
            other => self.budget.words(&other),
        }
    }

    pub(super) fn place_of(&self, raw: &Table) -> Result<Place> {
        let Value::Table(place) = raw.get::<Value>("place")? else { return Ok(Place::default()) };
        let line = match place.get::<Value>("line")? {
            Value::Integer(line) => u32::try_from(line).unwrap_or(0),
            _ => 0,
        };
        Ok(Place { file: self.word(&place, "file")?, line })
    }
}

pub(super) fn handlers(fields: &Table, known: &[(&str, Handler)]) -> Result<Vec<Handler>> {
    let mut found = Vec::new();
    for (field, handler) in known {
        if fields.get::<Value>(*field)?.is_function() {
            found.push(*handler);
        }
    }
    Ok(found)
}

/// A map of texts; numbers and truth values become texts.
pub(super) fn strings(budget: &Budget, value: &Value) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    if let Value::Table(table) = value {
        table.for_each(|key: Value, value: Value| {
            budget.take(NODE)?;
            if let Value::String(key) = key
                && matches!(
                    value,
                    Value::String(_) | Value::Number(_) | Value::Integer(_) | Value::Boolean(_)
                )
            {
                found.insert(text(&key), budget.words(&value)?);
            }
            Ok(())
        })?;
    }
    Ok(found)
}
