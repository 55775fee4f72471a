//! `parallel` in a body: several things at the same time, each with a name.
//!
//! The global `parallel` combines tasks while a file is defined; while a body runs it carries out what it is given, here.

use std::time::Instant;

use futures::future::join_all;
use mlua::{Function, Lua, MultiValue, Result, Table, Value};
use tokio::sync::Semaphore;

use super::{acting, call, failure};
use crate::modules::Order;
use crate::value::text;

/// One thing to do.
struct Item {
    name: String,
    what: What,
    params: Table,
}

enum What {
    Nothing,
    Line(String),
    Function(Function),
}

/// How it went.
struct Report {
    name: String,
    seconds: f64,
    outcome: std::result::Result<Value, String>,
}

/// The function behind `parallel(list)` while a body runs: results, and what went wrong if something did.
pub(crate) fn parallel(lua: &Lua) -> Result<Function> {
    lua.create_async_function(|lua, list: Table| async move {
        let count = list.raw_len().max(1);
        run(&lua, "parallel", &list, count).await
    })
}

/// Carries out a list, so many at once. Each is a function, a line for the shell, or a table with a `name` and one of
/// them as its `command`.
pub(super) async fn run(
    lua: &Lua,
    function: &str,
    list: &Table,
    most: usize,
) -> Result<(Table, Option<String>)> {
    let mut items = Vec::new();
    for (at, value) in list.sequence_values::<Value>().enumerate() {
        items.push(read(lua, function, at + 1, value?)?);
    }
    let turns = Semaphore::new(most);
    let turns = &turns;
    let reports = join_all(items.into_iter().map(|item| async move {
        let _turn = turns.acquire().await;
        let began = Instant::now();
        let name = item.name.clone();
        let outcome = item.carry_out().await;
        Report { name, seconds: began.elapsed().as_secs_f64(), outcome }
    }))
    .await;
    tell(lua, &reports)
}

fn read(lua: &Lua, function: &str, at: usize, value: Value) -> Result<Item> {
    let numbered = || at.to_string();
    let bad = || {
        mlua::Error::runtime(format!(
            "{function}: item {at} has to be a function, a command, or {{ name = ..., command = ... }}"
        ))
    };
    let (name, command, params) = match value {
        Value::Table(table) => {
            let name = table.get::<Option<String>>("name")?.unwrap_or_else(numbered);
            let command = match table.get::<Value>("command")? {
                Value::Nil => table.get::<Value>("run")?,
                command => command,
            };
            (name, command, table.get::<Option<Table>>("params")?)
        }
        Value::Nil => return Err(bad()),
        command => (numbered(), command, None),
    };
    let what = match command {
        Value::Nil => What::Nothing,
        Value::String(line) => What::Line(text(&line)),
        Value::Function(function) => What::Function(function),
        _ => return Err(bad()),
    };
    let params = match params {
        Some(params) => params,
        None => lua.create_table()?,
    };
    Ok(Item { name, what, params })
}

impl Item {
    async fn carry_out(self) -> std::result::Result<Value, String> {
        match self.what {
            What::Nothing => Ok(Value::Nil),
            What::Line(line) => shell(&line).await.map(|()| Value::Nil),
            What::Function(function) => {
                let arguments = MultiValue::from_vec(vec![Value::Table(self.params)]);
                let returned = call(function, arguments).await?;
                match failure(&returned).or_else(|| table_failure(returned.front())) {
                    Some(error) => Err(error),
                    None => Ok(returned.into_iter().next().unwrap_or(Value::Nil)),
                }
            }
        }
    }
}

/// What `{ failed = true, message = ... }` says.
fn table_failure(value: Option<&Value>) -> Option<String> {
    let table = value?.as_table()?;
    let is =
        |name: &str, answer: bool| table.get::<Value>(name).ok() == Some(Value::Boolean(answer));
    (is("failed", true) || is("success", false)).then(|| {
        let word = |name: &str| table.get::<Option<String>>(name).ok().flatten();
        word("message").or_else(|| word("error")).unwrap_or_else(|| "it failed".to_owned())
    })
}

async fn shell(line: &str) -> std::result::Result<(), String> {
    let on = acting();
    if on.check {
        on.say(&format!("would run {line}"));
        return Ok(());
    }
    let mut order = Order::shell("/bin/sh", line);
    order.prepare(&on);
    order.echo = Some(std::rc::Rc::clone(&on.sink));
    match order.run().await {
        Ok(ended) if ended.is_success() => Ok(()),
        Ok(ended) => Err(format!("exit code {}", ended.code())),
        Err(error) => Err(format!("it could not be started: {error}")),
    }
}

fn tell(lua: &Lua, reports: &[Report]) -> Result<(Table, Option<String>)> {
    let results = lua.create_table()?;
    let mut failures = Vec::new();
    for (at, report) in reports.iter().enumerate() {
        let result = lua.create_table()?;
        result.set("name", report.name.as_str())?;
        result.set("duration", (report.seconds * 1e3).round() / 1e3)?;
        match &report.outcome {
            Ok(value) => {
                result.set("status", "Success")?;
                result.set("success", true)?;
                result.set("value", value)?;
            }
            Err(error) => {
                result.set("status", "Failed")?;
                result.set("success", false)?;
                result.set("error", error.as_str())?;
                failures.push(format!("{}: {error}", report.name));
            }
        }
        results.raw_set(at + 1, result)?;
    }
    let error = (!failures.is_empty()).then(|| {
        format!("{} of {} failed: {}", failures.len(), reports.len(), failures.join("; "))
    });
    Ok((results, error))
}
