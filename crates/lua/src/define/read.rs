//! Reading the tables that a definition collected, whichever dialect wrote them.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::suggest::nearest;
use hostler_model::workflow::{
    Act, ApprovalStep, Compensation, Condition, Handler, OnFailure, Place, Retry, Step, Workflow,
};
use mlua::{Function, Lua, Result, Table, Value};

use super::words;
use super::{Notes, Remark};
use crate::define::amounts;
use crate::diagnose::Mistake;
use crate::stage::is_unknown;
use crate::value::{kind, text, to_json};

/// A workflow, its table, and the tables of its steps in their order.
pub(crate) type Found = (Workflow, Table, Vec<Table>);

pub(crate) struct Reader<'a> {
    pub lua: &'a Lua,
    /// Gives the table behind a builder.
    pub fields_of: &'a Function,
    pub notes: &'a mut Notes,
    /// Tables of tasks that some workflow has.
    taken: BTreeSet<usize>,
}

const STEP_HANDLERS: &[(&str, Handler)] = &[
    ("before", Handler::Before),
    ("after", Handler::After),
    ("on_success", Handler::Success),
    ("on_failure", Handler::Failure),
    ("on_timeout", Handler::Timeout),
    ("on_retry", Handler::Retry),
    ("on_skip", Handler::Skip),
];

const WORKFLOW_HANDLERS: &[(&str, Handler)] = &[
    ("on_start", Handler::Start),
    ("on_complete", Handler::Complete),
    ("on_task_start", Handler::StepStart),
    ("on_task_complete", Handler::StepComplete),
    ("on_success", Handler::Success),
    ("on_failure", Handler::Failure),
];

/// Where a handler is found in the table of a step, or of a workflow.
pub(crate) fn handler_field(handler: Handler, of_workflow: bool) -> &'static str {
    let known = if of_workflow { WORKFLOW_HANDLERS } else { STEP_HANDLERS };
    known.iter().find(|(_, known)| *known == handler).map_or("", |(field, _)| *field)
}

impl<'a> Reader<'a> {
    pub fn new(lua: &'a Lua, fields_of: &'a Function, notes: &'a mut Notes) -> Reader<'a> {
        Reader { lua, fields_of, notes, taken: BTreeSet::new() }
    }
}

impl Reader<'_> {
    pub(super) fn remark(&mut self, place: &Place, detail: String) {
        self.notes.remarks.push(Remark { place: place.clone(), detail });
    }

    pub(super) fn mistake(&mut self, place: &Place, detail: String) {
        self.notes.mistakes.push(Mistake::at(place.clone(), detail));
    }

    /// The groups of `TaskDefinitions`, by name.
    pub fn legacy(&mut self, groups: &Table) -> Result<Vec<Found>> {
        let mut named = BTreeMap::new();
        groups.for_each(|key: Value, group: Value| {
            if let (Value::String(name), Value::Table(group)) = (key, group) {
                named.insert(text(&name), group);
            }
            Ok(())
        })?;
        let mut found = Vec::new();
        for (name, group) in named {
            if group.get::<Value>("name")?.is_nil() {
                group.set("name", name)?;
            }
            found.push(self.workflow(&group)?);
        }
        Ok(found)
    }

    pub fn workflow(&mut self, raw: &Table) -> Result<Found> {
        let place = place_of(raw)?;
        let (fields, _) = self.normal(raw, words::WORKFLOW, "workflow", &place)?;
        let name = fields.get::<Value>("name")?.to_string()?;
        let mut workflow = Workflow {
            name,
            description: word(&fields, "description")?,
            version: word(&fields, "version")?,
            place: place.clone(),
            ..Workflow::default()
        };
        workflow.delegate = self.delegation(&fields, &place)?;
        workflow.handlers = handlers(&fields, WORKFLOW_HANDLERS)?;
        if let Value::String(stack) = fields.get("stack")? {
            workflow.stack = Some(text(&stack));
        }
        if let serde_json::Value::Object(entries) = to_json(&fields.get::<Value>("metadata")?) {
            workflow.metadata = entries.into_iter().collect();
        }
        let mut default_retry = Retry::default();
        if let Value::Table(config) = fields.get("config")? {
            workflow.config = self.config(&config, &mut default_retry, &place)?;
        }
        if let Some(timeout) = self.time(&fields, "timeout", &place)? {
            workflow.config.timeout = Some(timeout);
        }
        if let Value::String(path) = fields.get("workdir")? {
            workflow.config.workdir = Some(text(&path));
        }
        workflow.config.env.extend(strings(&fields.get::<Value>("env")?)?);
        let mut items = Vec::new();
        self.gather(&fields.get::<Value>("tasks")?, &mut items)?;
        let mut tables = Vec::with_capacity(items.len());
        for item in items {
            self.taken.insert(item.to_pointer().addr());
            let item = self.based(item)?;
            let (step, table) = self.step(&item, &place, &default_retry)?;
            workflow.steps.push(step);
            tables.push(table);
        }
        if workflow.steps.iter().any(|step| step.compensation.is_some())
            && workflow.config.on_failure == OnFailure::Stop
        {
            workflow.config.on_failure = OnFailure::Compensate;
        }
        Ok((workflow, fields, tables))
    }

    /// A workflow that names no tasks: it has those that name it, or, if there is no other, those that are in none.
    pub fn adopting(&mut self, raw: &Table, drafted: &Table, is_only: bool) -> Result<Found> {
        let name: Value = raw.get("name")?;
        let tasks = self.lua.create_table()?;
        for task in drafted.sequence_values::<Table>() {
            let task = task?;
            let is_free = !self.taken.contains(&task.to_pointer().addr());
            let whose: Value = task.get("workflow")?;
            if is_free && (whose == name || whose.is_nil() && is_only) {
                tasks.push(task)?;
            }
        }
        raw.set("tasks", tasks)?;
        let found = self.workflow(raw)?;
        if found.0.steps.is_empty() {
            let detail = format!("`{}` has no tasks", found.0.name);
            self.remark(&found.0.place, detail);
        }
        Ok(found)
    }

    /// Tasks in lists, in lists of lists, and in maps by name.
    fn gather(&mut self, value: &Value, into: &mut Vec<Table>) -> Result<()> {
        let Value::Table(table) = value else { return Ok(()) };
        if let Some(fields) = self.fields(table)? {
            into.push(fields);
            return Ok(());
        }
        if table.raw_len() == 0 && table.get::<Value>("name")?.is_string() {
            into.push(table.clone());
            return Ok(());
        }
        if table.raw_len() > 0 {
            for item in table.sequence_values::<Value>() {
                match item? {
                    Value::Table(task) if self.fields(&task)?.is_none() && task.raw_len() == 0 => {
                        into.push(task)
                    }
                    item => self.gather(&item, into)?,
                }
            }
            return Ok(());
        }
        let mut named = BTreeMap::new();
        table.for_each(|key: Value, value: Value| {
            if let (Value::String(name), Value::Table(task)) = (key, value) {
                named.insert(text(&name), task);
            }
            Ok(())
        })?;
        for (name, task) in named {
            let task = self.fields(&task)?.unwrap_or(task);
            if task.get::<Value>("name")?.is_nil() {
                task.set("name", name)?;
            }
            into.push(task);
        }
        Ok(())
    }

    fn fields(&self, table: &Table) -> Result<Option<Table>> {
        self.fields_of.call(table)
    }

    /// A task with what it `uses` below it; some files give the other task as the command.
    fn based(&self, raw: Table) -> Result<Table> {
        let base = match (raw.get::<Value>("uses")?, raw.get::<Value>("command")?) {
            (Value::Table(base), _) => self.fields(&base)?.unwrap_or(base),
            (_, Value::Table(task)) => match self.fields(&task)? {
                Some(base) => {
                    raw.set("command", Value::Nil)?;
                    base
                }
                None => return Ok(raw),
            },
            _ => return Ok(raw),
        };
        let merged = self.lua.create_table()?;
        for table in [&base, &raw] {
            table.for_each(|key: Value, value: Value| merged.set(key, value))?;
        }
        if let (Value::Table(below), Value::Table(above)) =
            (base.get::<Value>("params")?, raw.get::<Value>("params")?)
        {
            let params = self.lua.create_table()?;
            for table in [below, above] {
                table.for_each(|key: Value, value: Value| params.set(key, value))?;
            }
            merged.set("params", params)?;
        }
        Ok(merged)
    }

    /// A copy with one name for each field, and how many there are; what is not known is told.
    pub(super) fn normal(
        &mut self,
        raw: &Table,
        known: &[(&'static str, &'static str)],
        what: &str,
        place: &Place,
    ) -> Result<(Table, usize)> {
        let fields = self.lua.create_table()?;
        let mut count = 0;
        let mut strange = Vec::new();
        let mut idle = false;
        raw.for_each(|key: Value, value: Value| {
            let Value::String(key) = key else { return Ok(()) };
            let key = text(&key);
            let field = words::field(known, &key);
            idle |= field
                .is_some_and(|field| words::WITHOUT_EFFECT.iter().any(|(idle, _)| *idle == field));
            match field {
                Some(field) => {
                    let is_new = fields.get::<Value>(field)?.is_nil();
                    count += usize::from(is_new);
                    if is_new || field == key {
                        fields.set(field, value)?;
                    }
                }
                None => strange.push(key),
            }
            Ok(())
        })?;
        strange.sort();
        for key in strange {
            let meant = match nearest(&key, known.iter().map(|(word, _)| *word)) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => "it has no effect".to_owned(),
            };
            self.remark(place, format!("a {what} has no `{key}`; {meant}"));
        }
        for (field, why) in words::WITHOUT_EFFECT.iter().filter(|_| idle) {
            if !fields.get::<Value>(*field)?.is_nil() {
                self.remark(place, format!("`{field}` of a {what} has no effect: {why}"));
            }
        }
        Ok((fields, count))
    }

    fn step(&mut self, raw: &Table, around: &Place, retry: &Retry) -> Result<(Step, Table)> {
        let mut place = place_of(raw)?;
        if place.is_unknown() {
            place = around.clone();
        }
        let (fields, count) = self.normal(raw, words::TASK, "task", &place)?;
        let name = match fields.get::<Value>("name")? {
            Value::String(name) => text(&name),
            _ => {
                self.mistake(
                    &place,
                    "a task has no name; give it one: name = \"build\"".to_owned(),
                );
                String::new()
            }
        };
        if let Value::Function(function) = fields.get::<Value>("command")?
            && place_of(raw)?.is_unknown()
            && let Some(line) = function.info().line_defined
        {
            place.line = u32::try_from(line).unwrap_or(place.line);
        }
        let mut step = Step {
            name,
            description: word(&fields, "description")?,
            retry: retry.clone(),
            place: place.clone(),
            ..Step::default()
        };
        step.act = self.act(&fields, &mut step.shell, &step.name, &place)?;
        step.depends_on = self.names(&fields.get::<Value>("depends_on")?)?;
        // Most say nothing else, and asking for what is not there takes as long as for what is.
        let mut said = 0;
        for field in ["name", "place", "description", "command", "depends_on"] {
            said += usize::from(!fields.get::<Value>(field)?.is_nil());
        }
        if said == count {
            return Ok((step, fields));
        }
        step.after_failure_of = self.names(&fields.get::<Value>("next_if_fail")?)?;
        step.timeout = self.time(&fields, "timeout", &place)?;
        self.retry(&fields, &mut step.retry, &place)?;
        step.run_if = self.conditions(&fields, "run_if", &place)?;
        step.abort_if = self.conditions(&fields, "abort_if", &place)?;
        step.health_check = self.conditions(&fields, "health_check", &place)?.into_iter().next();
        step.delegate = self.delegation(&fields, &place)?;
        step.workdir = optional(&fields, "workdir")?;
        step.user = optional(&fields, "user")?;
        step.env = strings(&fields.get::<Value>("env")?)?;
        if let serde_json::Value::Object(entries) = to_json(&fields.get::<Value>("params")?) {
            step.params = entries.into_iter().collect();
        }
        step.tags = self.list(&fields.get::<Value>("tags")?)?;
        step.artifacts = self.list(&fields.get::<Value>("artifacts")?)?;
        step.consumes = self.list(&fields.get::<Value>("consumes")?)?;
        step.handlers = handlers(&fields, STEP_HANDLERS)?;
        step.background = matches!(fields.get("async")?, Value::Boolean(true));
        step.may_fail = matches!(fields.get("may_fail")?, Value::Boolean(true));
        step.compensation = match fields.get::<Value>("compensate")? {
            Value::Function(_) => Some(Compensation::Function),
            Value::String(line) => Some(Compensation::Command(text(&line))),
            _ => None,
        };
        Ok((step, fields))
    }

    fn act(
        &mut self,
        fields: &Table,
        shell: &mut Option<String>,
        name: &str,
        place: &Place,
    ) -> Result<Act> {
        if let Value::Table(program) = fields.get::<Value>("program")? {
            return Ok(Act::Program(self.list(&Value::Table(program))?));
        }
        let given = optional(fields, "shell")?;
        let is_line =
            given.as_deref().is_some_and(|given| given.trim().contains(char::is_whitespace));
        if is_line && fields.get::<Value>("command")?.is_nil() {
            return Ok(Act::Command(given.unwrap_or_default()));
        }
        *shell = given;
        Ok(match fields.get::<Value>("command")? {
            Value::String(line) => Act::Command(text(&line)),
            Value::Function(_) => Act::Function,
            Value::Table(words) if words.raw_len() > 0 => {
                Act::Program(self.list(&Value::Table(words))?)
            }
            Value::Nil => match fields.get::<Value>("approval")? {
                Value::Nil => {
                    let waits = !fields.get::<Value>("depends_on")?.is_nil();
                    if !waits {
                        self.remark(place, format!("`{name}` has no command; it does nothing"));
                    }
                    Act::Nothing
                }
                Value::Table(options) => Act::Approval(ApprovalStep {
                    message: word(&options, "message")?,
                    count: amounts::count(&options.get("count")?).unwrap_or(1).max(1),
                    approvers: self.list(&options.get("approvers")?)?,
                }),
                message => Act::Approval(ApprovalStep {
                    message: message.to_string()?,
                    count: 1,
                    approvers: Vec::new(),
                }),
            },
            other => {
                let kind = kind(&other);
                self.mistake(
                    place,
                    format!("the command of `{name}` is a {kind}; give a function or a line for the shell"),
                );
                Act::Nothing
            }
        })
    }

    /// Names of steps: texts, tasks, or lists of them.
    fn names(&self, value: &Value) -> Result<Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        self.add_names(value, &mut found)?;
        let mut unique = Vec::with_capacity(found.len());
        for name in found {
            if !unique.contains(&name) {
                unique.push(name);
            }
        }
        Ok(unique)
    }

    fn add_names(&self, value: &Value, into: &mut Vec<String>) -> Result<()> {
        match value {
            Value::String(name) => into.push(text(name)),
            Value::Table(_) if is_unknown(self.lua, value) => {}
            Value::Table(table) => {
                let fields = self.fields(table)?;
                let table = fields.as_ref().unwrap_or(table);
                if let Value::String(name) = table.get::<Value>("name")?
                    && table.raw_len() == 0
                {
                    into.push(text(&name));
                    return Ok(());
                }
                for item in table.sequence_values::<Value>() {
                    self.add_names(&item?, into)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// One text, or a list of texts, or the keys of a map whose values are true.
    fn list(&self, value: &Value) -> Result<Vec<String>> {
        Ok(match value {
            Value::String(one) => vec![text(one)],
            Value::Table(_) if is_unknown(self.lua, value) => Vec::new(),
            Value::Table(table) if table.raw_len() > 0 => {
                let mut items = Vec::with_capacity(table.raw_len());
                for item in table.sequence_values::<Value>() {
                    items.push(item?.to_string()?);
                }
                items
            }
            Value::Table(table) => strings(&Value::Table(table.clone()))?
                .into_iter()
                .map(|(key, value)| if value == "true" { key } else { format!("{key}={value}") })
                .collect(),
            Value::Nil => Vec::new(),
            other => vec![other.to_string()?],
        })
    }

    fn conditions(&mut self, fields: &Table, field: &str, place: &Place) -> Result<Vec<Condition>> {
        let mut found = Vec::new();
        let value = fields.get::<Value>(field)?;
        let items = match &value {
            Value::Table(list) if list.raw_len() > 0 && !is_unknown(self.lua, &value) => {
                list.sequence_values::<Value>().collect::<Result<Vec<_>>>()?
            }
            Value::Nil => Vec::new(),
            other => vec![other.clone()],
        };
        for item in items {
            match &item {
                Value::String(line) => found.push(Condition::Command(text(line))),
                Value::Function(_) => found.push(Condition::Function),
                Value::Boolean(answer) => found.push(Condition::Always(*answer)),
                Value::Table(options) => match options.get::<Value>("command")? {
                    Value::String(line) => found.push(Condition::Command(text(&line))),
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

    fn delegation(
        &mut self,
        fields: &Table,
        place: &Place,
    ) -> Result<Option<hostler_model::workflow::Delegation>> {
        match super::delegation::read(self.lua, fields) {
            Ok((found, None)) => Ok(found),
            Ok((found, Some(remark))) => {
                self.remark(place, remark);
                Ok(found)
            }
            Err(super::delegation::Unreadable::Lua(error)) => Err(error),
            Err(super::delegation::Unreadable::Mistake(detail)) => {
                self.mistake(place, detail);
                Ok(None)
            }
        }
    }
}

fn handlers(fields: &Table, known: &[(&str, Handler)]) -> Result<Vec<Handler>> {
    let mut found = Vec::new();
    for (field, handler) in known {
        if fields.get::<Value>(*field)?.is_function() {
            found.push(*handler);
        }
    }
    Ok(found)
}

fn place_of(raw: &Table) -> Result<Place> {
    let Value::Table(place) = raw.get::<Value>("place")? else { return Ok(Place::default()) };
    Ok(Place {
        file: place.get::<Option<String>>("file")?.unwrap_or_default(),
        line: place.get::<Option<u32>>("line")?.unwrap_or(0),
    })
}

/// A text, or nothing.
pub(super) fn optional(fields: &Table, field: &str) -> Result<Option<String>> {
    Ok(match fields.get::<Value>(field)? {
        Value::String(value) => Some(text(&value)).filter(|value| !value.is_empty()),
        _ => None,
    })
}

fn word(fields: &Table, field: &str) -> Result<String> {
    Ok(match fields.get::<Value>(field)? {
        Value::Nil => String::new(),
        Value::Table(_) | Value::Function(_) => String::new(),
        other => other.to_string()?,
    })
}

/// A map of texts; numbers and truth values become texts.
pub(crate) fn strings(value: &Value) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    if let Value::Table(table) = value {
        table.for_each(|key: Value, value: Value| {
            if let Value::String(key) = key
                && matches!(
                    value,
                    Value::String(_) | Value::Number(_) | Value::Integer(_) | Value::Boolean(_)
                )
            {
                found.insert(text(&key), value.to_string()?);
            }
            Ok(())
        })?;
    }
    Ok(found)
}
