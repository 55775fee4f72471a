//! Reading the tables that a definition collected, whichever dialect wrote them.

use std::collections::{BTreeMap, BTreeSet};

use hostler_model::suggest::nearest;
use hostler_model::workflow::{
    Act, ApprovalStep, Compensation, Handler, OnFailure, Place, Retry, Step, Workflow,
};
use mlua::{Function, Lua, Result, Table, Value};

use super::lists::{handlers, strings};
use super::{Notes, Remark, amounts, kinds, words};
use crate::budget::{Budget, NODE};
use crate::diagnose::{Mistake, cut, from_error};
use crate::stage::is_unknown;
use crate::value::{json, kind, text};

/// How long a name may be, and what is told of something.
const LONGEST_NAME: usize = 200;
const LONGEST_NOTE: usize = 1000;

/// A workflow, its table, and the tables of its steps in their order.
pub(crate) type Found = (Workflow, Table, Vec<Table>);

pub(crate) struct Reader<'a> {
    pub lua: &'a Lua,
    /// Gives the table behind a builder.
    pub fields_of: &'a Function,
    pub notes: &'a mut Notes,
    /// What may be made of all that the file said.
    pub budget: Budget,
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
    ("clean_workdir_after_run", Handler::CleanWorkdir),
];

/// Where a handler is found in the table of a step, or of a workflow.
pub(crate) fn handler_field(handler: Handler, of_workflow: bool) -> &'static str {
    let known = if of_workflow { WORKFLOW_HANDLERS } else { STEP_HANDLERS };
    known.iter().find(|(_, known)| *known == handler).map_or("", |(field, _)| *field)
}

impl<'a> Reader<'a> {
    pub fn new(lua: &'a Lua, fields_of: &'a Function, notes: &'a mut Notes) -> Reader<'a> {
        Reader { lua, fields_of, notes, budget: Budget::of(lua), taken: BTreeSet::new() }
    }
}

impl Reader<'_> {
    pub(super) fn remark(&mut self, place: &Place, detail: String) {
        self.notes.remark(Remark { place: place.clone(), detail: cut(&detail, LONGEST_NOTE) });
    }

    pub(super) fn mistake(&mut self, place: &Place, detail: String) {
        self.notes.mistake(Mistake::at(place.clone(), cut(&detail, LONGEST_NOTE)));
    }

    /// So much is wrong that nobody reads on.
    pub(super) fn is_hopeless(&self) -> bool {
        self.notes.mistakes.len() >= Notes::MOST
    }

    /// What cannot be called like this, whatever it is.
    fn check_name(&mut self, what: &str, name: &str, place: &Place) {
        if name.chars().count() > LONGEST_NAME {
            let start = cut(name, 40);
            let detail =
                format!("the name of a {what}, `{start}`, is longer than {LONGEST_NAME} letters");
            self.mistake(place, detail);
        } else if name.contains(char::is_control) {
            let shown = name.escape_debug();
            let detail = format!(
                "the name of a {what}, `{shown}`, has more than one line, or something that cannot be seen; give it a plain one"
            );
            self.mistake(place, detail);
        }
    }

    /// The groups of `TaskDefinitions`, by name.
    pub fn legacy(&mut self, groups: &Table) -> Result<Vec<Found>> {
        let mut named = BTreeMap::new();
        groups.for_each(|key: Value, group: Value| {
            if let (Value::String(name), Value::Table(group)) = (key, group) {
                named.insert(self.budget.text(&name)?, group);
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
        let place = self.place_of(raw)?;
        self.workflow_at(raw, &place).map_err(|error| placed(&error, &place))
    }

    fn workflow_at(&mut self, raw: &Table, place: &Place) -> Result<Found> {
        self.budget.take(size_of::<Workflow>())?;
        let (fields, _) = self.normal(raw, words::WORKFLOW, "workflow", place)?;
        let name = self.budget.words(&fields.get::<Value>("name")?)?;
        self.check_name("workflow", &name, place);
        let mut workflow = Workflow {
            name,
            description: self.word(&fields, "description")?,
            version: self.word(&fields, "version")?,
            place: place.clone(),
            ..Workflow::default()
        };
        workflow.delegate = self.delegation(&fields, place)?;
        workflow.handlers = handlers(&fields, WORKFLOW_HANDLERS)?;
        if let Value::String(stack) = fields.get("stack")? {
            workflow.stack = Some(self.budget.text(&stack)?);
        }
        if let serde_json::Value::Object(entries) = self.json(&fields, "metadata")? {
            workflow.metadata = entries.into_iter().collect();
        }
        let mut default_retry = Retry::default();
        if let Value::Table(config) = fields.get("config")? {
            workflow.config = self.config(&config, &mut default_retry, place)?;
        }
        if let Some(timeout) = self.limit(&fields, place)? {
            workflow.config.timeout = Some(timeout);
        }
        self.directory(&fields, &mut workflow, place)?;
        workflow.config.env.extend(strings(&self.budget, &fields.get::<Value>("env")?)?);
        let mut items = Vec::new();
        self.gather(&fields.get::<Value>("tasks")?, place, &mut items)?;
        let mut tables = Vec::with_capacity(items.len());
        for item in items {
            self.taken.insert(item.to_pointer().addr());
            let item = self.based(item)?;
            let (step, table) = self.step(&item, place, &default_retry)?;
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
            self.budget.take(0)?;
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

    fn json(&self, fields: &Table, field: &str) -> Result<serde_json::Value> {
        json(&fields.get::<Value>(field)?, &self.budget)
    }

    pub(super) fn fields(&self, table: &Table) -> Result<Option<Table>> {
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
        let (mut strange, mut wrong) = (Vec::new(), Vec::new());
        let mut idle = false;
        raw.for_each(|key: Value, value: Value| {
            let Value::String(key) = key else { return Ok(()) };
            self.budget.take(NODE + key.as_bytes().len())?;
            let key = text(&key);
            let field = words::field(known, &key);
            idle |= field
                .is_some_and(|field| words::WITHOUT_EFFECT.iter().any(|(idle, _)| *idle == field));
            match field {
                Some(field) => {
                    if !is_unknown(self.lua, &value)
                        && let Some(detail) = kinds::wrong(what, field, &value)
                    {
                        wrong.push(detail);
                    }
                    let is_new = fields.get::<Value>(field)?.is_nil();
                    count += usize::from(is_new);
                    if is_new || field == key {
                        fields.set(field, value)?;
                    }
                }
                None if strange.len() < Notes::MOST => strange.push(cut(&key, LONGEST_NAME)),
                None => {}
            }
            Ok(())
        })?;
        wrong.sort();
        for detail in wrong {
            self.remark(place, detail);
        }
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
        let own = self.place_of(raw)?;
        let place = if own.is_unknown() { around.clone() } else { own.clone() };
        let read = self.step_at(raw, place.clone(), own.is_unknown(), retry);
        read.map_err(|error| placed(&error, &place))
    }

    fn step_at(
        &mut self,
        raw: &Table,
        mut place: Place,
        is_around: bool,
        retry: &Retry,
    ) -> Result<(Step, Table)> {
        let (fields, count) = self.normal(raw, words::TASK, "task", &place)?;
        let name = match fields.get::<Value>("name")? {
            Value::String(name) => self.budget.text(&name)?,
            _ => {
                self.mistake(
                    &place,
                    "a task has no name; give it one: name = \"build\"".to_owned(),
                );
                String::new()
            }
        };
        self.check_name("task", &name, &place);
        if let Value::Function(function) = fields.get::<Value>("command")?
            && is_around
            && let Some(line) = function.info().line_defined
        {
            place.line = u32::try_from(line).unwrap_or(place.line);
        }
        let mut step = Step {
            name,
            description: self.word(&fields, "description")?,
            retry: retry.clone(),
            place: place.clone(),
            ..Step::default()
        };
        step.act = self.act(&fields, &mut step.shell, &step.name, &place)?;
        step.depends_on = self.names(&fields.get::<Value>("depends_on")?, "depends_on", &place)?;
        // Most say nothing else, and asking for what is not there takes as long as for what is.
        let mut said = 0;
        for field in ["name", "place", "description", "command", "depends_on"] {
            said += usize::from(!fields.get::<Value>(field)?.is_nil());
        }
        if said == count {
            return Ok((step, fields));
        }
        let after = fields.get::<Value>("next_if_fail")?;
        step.after_failure_of = self.names(&after, "next_if_fail", &place)?;
        step.timeout = self.limit(&fields, &place)?;
        self.retry(&fields, &mut step.retry, &place)?;
        step.run_if = self.conditions(&fields, "run_if", &place)?;
        step.abort_if = self.conditions(&fields, "abort_if", &place)?;
        step.health_check = self.conditions(&fields, "health_check", &place)?.into_iter().next();
        step.delegate = self.delegation(&fields, &place)?;
        step.workdir = self.optional(&fields, "workdir")?;
        step.user = self.optional(&fields, "user")?;
        step.env = strings(&self.budget, &fields.get::<Value>("env")?)?;
        if let serde_json::Value::Object(entries) = self.json(&fields, "params")? {
            step.params = entries.into_iter().collect();
        }
        step.tags = self.list(&fields.get("tags")?, "tags", &place)?;
        step.artifacts = self.list(&fields.get("artifacts")?, "artifacts", &place)?;
        step.consumes = self.list(&fields.get("consumes")?, "consumes", &place)?;
        step.handlers = handlers(&fields, STEP_HANDLERS)?;
        step.background = matches!(fields.get("async")?, Value::Boolean(true));
        step.may_fail = matches!(fields.get("may_fail")?, Value::Boolean(true));
        step.compensation = match fields.get::<Value>("compensate")? {
            Value::Function(_) => Some(Compensation::Function),
            Value::String(line) => Some(Compensation::Command(self.budget.text(&line)?)),
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
            return Ok(Act::Program(self.list(&Value::Table(program), "program", place)?));
        }
        let given = self.optional(fields, "shell")?;
        let is_line =
            given.as_deref().is_some_and(|given| given.trim().contains(char::is_whitespace));
        if is_line && fields.get::<Value>("command")?.is_nil() {
            return Ok(Act::Command(given.unwrap_or_default()));
        }
        *shell = match given {
            Some(given) if is_line => Some(self.shell_of(&given, place)),
            given => given,
        };
        Ok(match fields.get::<Value>("command")? {
            Value::String(line) => Act::Command(self.budget.text(&line)?),
            Value::Function(_) => Act::Function,
            Value::Table(words) if words.raw_len() > 0 => {
                Act::Program(self.list(&Value::Table(words), "command", place)?)
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
                    message: self.word(&options, "message")?,
                    count: amounts::count(&options.get("count")?).unwrap_or(1).max(1),
                    approvers: self.list(&options.get("approvers")?, "approvers", place)?,
                }),
                message => Act::Approval(ApprovalStep {
                    message: self.budget.words(&message)?,
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

    /// The shell of `bash -c`: the line of a task is given to it with `-c` anyway.
    fn shell_of(&mut self, given: &str, place: &Place) -> String {
        let mut words = given.split_whitespace();
        let shell = words.next().unwrap_or_default().to_owned();
        let others: Vec<&str> = words.filter(|word| *word != "-c").collect();
        if !others.is_empty() {
            let detail = format!(
                "`shell` is the name of a shell, without `{}`; say it in the command, as in `set -e`",
                others.join(" ")
            );
            self.mistake(place, detail);
        }
        shell
    }

    fn delegation(
        &mut self,
        fields: &Table,
        place: &Place,
    ) -> Result<Option<hostler_model::workflow::Delegation>> {
        match super::delegation::read(self.lua, &self.budget, fields) {
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

/// An error that has no place of its own is one of what is read.
fn placed(error: &mlua::Error, place: &Place) -> mlua::Error {
    let mistake = from_error(error, "");
    if !mistake.place.is_unknown() || place.is_unknown() {
        return error.clone();
    }
    mlua::Error::runtime(format!("{place}: {}", mistake.detail))
}
