//! `test`: tests of workflows, in the language of workflows.
//!
//! A file that calls `test.describe` at its top is a test: carrying it out runs the tests, and the workflows that it
//! defines or imports are not carried out but are there for `test.run_task`. A mock stands for one function of a module
//! until its test ends. All tests are run; the step has failed when one of them did.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Instant;

use hostler_model::workflow::{Act, Step, StepEnd, StepResult, Workflow};
use mlua::{Function, Lua, MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use super::{Described, Installer, Module, acting, tasks};
use crate::body::{Input, arguments, carry_out, of_return};
use crate::stage::Scene;
use crate::value::{self, from_json, to_json};

pub(crate) const MODULE: Module = Module {
    name: "test",
    about: "Tests of workflows. A file that calls `test.describe` at its top is a test: what it defines or imports is not carried out, but is there for `test.run_task`. The functions of `test.assert` are those of `assert`, too, where a file says `assert.equals`.",
    functions: &[
        Described {
            name: "describe",
            signature: "(name, function)",
            about: "Tests that belong together.",
            example: "test.describe('numbers', function()\n  test.it('are added', function() test.assert.equals(1 + 1, 2) end)\nend)",
        },
        Described {
            name: "it",
            signature: "([name, ]function) -> boolean",
            about: "A test: it has failed when the function raises an error. Mocks end with it.",
            example: "test.describe('numbers', function()\n  assert(test.it('are added', function() test.assert.equals(1 + 1, 2) end))\nend)",
        },
        Described {
            name: "run_task",
            signature: "(name) -> { success, message, output, duration, error, changed }",
            about: "Carries out a task by its name, without what it depends on and without conditions; the outputs of tasks that were run before are its `deps`.",
            example: "workflow.define('w', { tasks = { { name = 'build', command = function() return true, 'built', { size = 7 } end } } })\ntest.describe('build', function()\n  test.it('has a size', function()\n    local r = test.run_task('build')\n    test.assert.is_true(r.success)\n    test.assert.equals(r.output.size, 7)\n  end)\nend)",
        },
        Described {
            name: "mock",
            signature: "(function, { returns })",
            about: "Lets a function of a module, as `exec.run`, give what is in the list `returns`, until the test ends. Functions in tables of a module (`aws.s3.sync`) and methods cannot be mocked.",
            example: "test.describe('who', function()\n  test.it('is told', function()\n    test.mock('exec.run', { returns = { { success = true, stdout = 'ann' } } })\n    test.assert.equals(exec.run('whoami').stdout, 'ann')\n  end)\nend)",
        },
        Described {
            name: "assert.is_true",
            signature: "(value[, message])",
            about: "It is true.",
            example: "test.assert.is_true(1 < 2)\nassert(not pcall(test.assert.is_true, 1 > 2, 'less'))",
        },
        Described {
            name: "assert.is_false",
            signature: "(value[, message])",
            about: "It is false or nothing.",
            example: "test.assert.is_false(nil)\nassert(not pcall(test.assert.is_false, 1))",
        },
        Described {
            name: "assert.is_nil",
            signature: "(value[, message])",
            about: "It is nothing.",
            example: "test.assert.is_nil(nil)\nassert(not pcall(test.assert.is_nil, false))",
        },
        Described {
            name: "assert.equals",
            signature: "(actual, expected[, message])",
            about: "Both are the same; tables are when what is in them is.",
            example: "test.assert.equals({ a = { 1, 2 } }, { a = { 1, 2 } })\nlocal ok, why = pcall(test.assert.equals, 1, 2, 'sum')\nassert(not ok and tostring(why):find('sum: 2 was expected, and it is 1'))",
        },
        Described {
            name: "assert.not_equals",
            signature: "(actual, other[, message])",
            about: "They are not the same.",
            example: "test.assert.not_equals('a', 'b')\nassert(not pcall(test.assert.not_equals, 'a', 'a'))",
        },
        Described {
            name: "assert.contains",
            signature: "(text or list, part[, message])",
            about: "A text has a part, or a list an item.",
            example: "test.assert.contains('workflow', 'flow')\ntest.assert.contains({ 'a', 'b' }, 'b')\nassert(not pcall(test.assert.contains, 'a', 'b'))",
        },
    ],
    install,
};

/// Tasks that a file of tests defines or imports.
pub(crate) struct Tested(pub Vec<(Workflow, Vec<Table>)>);

/// How the tests of a step go.
#[derive(Default)]
struct Tests(RefCell<Going>);

#[derive(Default)]
struct Going {
    groups: Vec<String>,
    passed: usize,
    failed: Vec<String>,
    outputs: BTreeMap<String, Json>,
}

/// What is to be said when tests failed.
pub(crate) fn verdict() -> Option<String> {
    let tests = tasks().kept::<Tests>();
    let going = tests.0.borrow();
    let all = going.passed + going.failed.len();
    let words =
        format!("{} of {all} tests failed: {}", going.failed.len(), going.failed.join(", "));
    (!going.failed.is_empty()).then_some(words)
}

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("describe", |_, (name, tests): (String, Function)| async move {
        let kept = tasks().kept::<Tests>();
        kept.0.borrow_mut().groups.push(name);
        let result = tests.call_async::<()>(()).await;
        kept.0.borrow_mut().groups.pop();
        result
    })?;
    module.act_async("it", |lua, (first, second): (Value, Option<Function>)| {
        it(lua, first, second)
    })?;
    module.act_async("run_task", |lua, name: String| run_task(lua, name))?;
    module.act("mock", |lua, (function, with): (String, Table)| {
        let known = function.split_once('.').is_some_and(|(name, _)| super::is_known(name));
        let Value::Table(returns) = with.get("returns")? else {
            return Err(mlua::Error::runtime("test.mock needs { returns = { ... } }"));
        };
        if !known {
            let words = format!("test.mock knows no function `{function}`; write it like exec.run");
            return Err(mlua::Error::runtime(words));
        }
        let count = returns.raw_len();
        returns.raw_set("n", count)?;
        Scene::of(lua).mocks.borrow_mut().insert(function, returns);
        Ok(())
    })?;
    let assert = module.lua.create_table()?;
    let mut inner = Installer { lua: module.lua, table: assert.clone(), module: "assert" };
    inner.pure("is_true", |_, (value, words): (Value, Option<String>)| {
        let holds = !matches!(value, Value::Nil | Value::Boolean(false));
        judged(holds, words, || format!("it should be true, and is {}", shown(&value)))
    })?;
    inner.pure("is_false", |_, (value, words): (Value, Option<String>)| {
        let holds = matches!(value, Value::Nil | Value::Boolean(false));
        judged(holds, words, || format!("it should be false, and is {}", shown(&value)))
    })?;
    inner.pure("is_nil", |_, (value, words): (Value, Option<String>)| {
        judged(value.is_nil(), words, || format!("it should be nil, and is {}", shown(&value)))
    })?;
    inner.pure("equals", |_, (actual, expected, words): (Value, Value, Option<String>)| {
        judged(is_same(&actual, &expected), words, || {
            format!("{} was expected, and it is {}", shown(&expected), shown(&actual))
        })
    })?;
    inner.pure("not_equals", |_, (actual, other, words): (Value, Value, Option<String>)| {
        judged(!is_same(&actual, &other), words, || format!("both are {}", shown(&actual)))
    })?;
    inner.pure("contains", |_, (all, part, words): (Value, Value, Option<String>)| {
        let holds = match &all {
            Value::Table(list) => {
                list.sequence_values::<Value>().flatten().any(|item| is_same(&item, &part))
            }
            text => value::words(text)?.contains(&value::words(&part)?),
        };
        judged(holds, words, || format!("{} is not in {}", shown(&part), shown(&all)))
    })?;
    module.table.raw_set("assert", assert)
}

/// Lets `assert` be asked for more, where a file does.
pub(super) fn widen_assert(lua: &Lua) -> Result<()> {
    let globals = lua.globals();
    let Value::Function(plain) = globals.raw_get("assert")? else { return Ok(()) };
    let Value::Table(module) = super::load(lua, MODULE.name)? else { return Ok(()) };
    let assert: Table = module.raw_get("assert")?;
    let meta = lua.create_table()?;
    let call: Function = lua
        .load("local plain = ... return function(_, ...) return plain(...) end")
        .set_name("=[assert]")
        .call(plain)?;
    meta.raw_set("__call", call)?;
    assert.set_metatable(Some(meta))?;
    globals.raw_set("assert", assert)
}

fn judged(holds: bool, words: Option<String>, otherwise: impl FnOnce() -> String) -> Result<()> {
    match (holds, words) {
        (true, _) => Ok(()),
        (false, None) => Err(mlua::Error::runtime(otherwise())),
        (false, Some(words)) => Err(mlua::Error::runtime(format!("{words}: {}", otherwise()))),
    }
}

fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Table(_), Value::Table(_)) => {
            to_json(a).is_ok_and(|a| to_json(b).is_ok_and(|b| a == b))
        }
        _ => a == b,
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => to_json(value).map_or_else(|e| e.to_string(), |json| json.to_string()),
        value => value::words(value).unwrap_or_default(),
    }
}

async fn it(lua: Lua, first: Value, second: Option<Function>) -> Result<bool> {
    let kept = tasks().kept::<Tests>();
    let (name, test) = match (first, second) {
        (Value::Function(test), None) => {
            let going = kept.0.borrow();
            (format!("test {}", going.passed + going.failed.len() + 1), test)
        }
        (name, Some(test)) => (value::words(&name)?, test),
        _ => return Err(mlua::Error::runtime("test.it needs a function")),
    };
    let groups = kept.0.borrow().groups.clone();
    let full = groups.into_iter().chain([name]).collect::<Vec<_>>().join(": ");
    let ended = test.call_async::<MultiValue>(()).await;
    Scene::of(&lua).mocks.borrow_mut().clear();
    let mut going = kept.0.borrow_mut();
    match ended {
        Ok(_) => {
            going.passed += 1;
            acting().say(&format!("✓ {full}"));
            Ok(true)
        }
        Err(error) => {
            let mistake = crate::diagnose::from_error(&error, "");
            acting().complain(&format!("✗ {full}: {}", mistake.detail));
            going.failed.push(full);
            Ok(false)
        }
    }
}

async fn run_task(lua: Lua, name: String) -> Result<Table> {
    let tested = lua.app_data_ref::<Rc<Tested>>().map(|tested| Rc::clone(&tested));
    let known = tested.iter().flat_map(|tested| &tested.0);
    let mut steps = known.flat_map(|(workflow, tables)| {
        workflow.steps.iter().zip(tables).map(move |s| (workflow, s))
    });
    let Some((workflow, (step, table))) = steps.find(|(_, (step, _))| step.name == name) else {
        let words =
            format!("test.run_task knows no task `{name}`; define it in this file, or import it");
        return Err(mlua::Error::runtime(words));
    };
    let begun = Instant::now();
    let result = carried_out(&lua, workflow, step, table).await?;
    let kept = tasks().kept::<Tests>();
    kept.0.borrow_mut().outputs.insert(name, result.output.clone());
    let is_well = result.end == StepEnd::Succeeded;
    let told = lua.create_table()?;
    told.raw_set("success", is_well)?;
    told.raw_set("message", result.message.as_str())?;
    told.raw_set("output", from_json(&lua, &result.output)?)?;
    told.raw_set("changed", result.changed)?;
    told.raw_set("duration", begun.elapsed().as_secs_f64())?;
    told.raw_set("error", (!is_well).then_some(result.message))?;
    Ok(told)
}

async fn carried_out(
    lua: &Lua,
    workflow: &Workflow,
    step: &Step,
    table: &Table,
) -> Result<StepResult> {
    let on = acting();
    if !matches!(step.act, Act::Function) {
        return Ok(carry_out(step, &on).await);
    }
    let function: Function = table.get("command")?;
    let deps = tasks().kept::<Tests>().0.borrow().outputs.clone();
    let input = Input { deps, attempt: 1, ..Input::default() };
    let values = arguments(lua, &workflow.name, step, &input, &Json::Null, "")?;
    Ok(match function.call_async::<MultiValue>(values).await {
        Ok(returned) => of_return(&returned),
        Err(error) => {
            StepResult::new(StepEnd::Failed, crate::diagnose::from_error(&error, "").detail)
        }
    })
}
