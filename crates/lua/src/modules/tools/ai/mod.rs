//! `ai`: a language model, and what was learnt from runs.
//!
//! A model is any HTTP endpoint that speaks as OpenAI's does, named by HOSTLER_AI_URL, HOSTLER_AI_KEY and
//! HOSTLER_AI_MODEL in the environment of the step (the key may be a secret of that name). Where an answer has a
//! shape, the model is asked for JSON and its answer is judged before anybody sees it (`advice`). What is learnt from
//! runs needs no model: it is counted from a history of lines in the home of the step (`history`).

mod advice;
mod endpoint;
mod history;

use mlua::{Lua, MultiValue, Result, Value};
use serde_json::{Value as Json, json};

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::tool::{one, refused, two};
use crate::value::{from_json, to_json};

pub(crate) const MODULE: Module = Module {
    name: "ai",
    about: "A language model behind an OpenAI-compatible endpoint (HOSTLER_AI_URL, HOSTLER_AI_KEY, HOSTLER_AI_MODEL in the environment of the step), and a history of runs in `~/.hostler/ai`. Functions with a result give it twice, so that both `local ok, r =` and `local r =` work.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "ask",
        signature: "(prompt[, { system, model, temperature, max_tokens, timeout }]) -> text | nil, error",
        about: "Asks the model, and gives its answer.",
        example: "local answer, err = ai.ask('hello')\nassert(answer == nil and err:find('HOSTLER_AI_URL'))",
    },
    Described {
        name: "complete",
        signature: "(prompt[, options]) -> text | nil, error",
        about: "The same as `ai.ask`.",
        example: "assert(ai.complete('hello') == nil)",
    },
    Described {
        name: "chat",
        signature: "(messages[, options]) -> text | nil, error",
        about: "Continues a conversation of `{ role, content }`.",
        example: "assert(ai.chat({ { role = 'user', content = 'hello' } }) == nil)",
    },
    Described {
        name: "optimize_command",
        signature: "(command[, { context }]) -> result, result | nil, error",
        about: "Asks the model for a better command: `original_command`, `optimized_command`, `confidence_score`, `expected_speedup`, `rationale`, `optimizations`, `resource_savings`.",
        example: "local r, err = ai.optimize_command('make')\nassert(r == nil and err)",
    },
    Described {
        name: "predict_failure",
        signature: "(task, command) -> result, result | nil, error",
        about: "Asks the model how likely a run fails, given its history: `failure_probability`, `confidence`, `risk_factors`, `recommendations`.",
        example: "local r, err = ai.predict_failure('build', 'make')\nassert(r == nil and err)",
    },
    Described {
        name: "generate_insights",
        signature: "([{ scope }]) -> result, result | nil, error",
        about: "Asks the model what the history says: `insights`, each with `title`, `detail` and `severity`.",
        example: "local r, err = ai.generate_insights()\nassert(r == nil and err)",
    },
    Described {
        name: "record_execution",
        signature: "{ task_name, command, success, execution_time, error_message, parameters } -> boolean, error",
        about: "Adds a run to the history.",
        example: "assert(ai.record_execution{ command = 'make', success = true, execution_time = 2 })",
    },
    Described {
        name: "get_task_history",
        signature: "(command[, limit]) -> list, list",
        about: "Runs of a command, the newest first.",
        example: "ai.record_execution{ command = 'make', success = false, error_message = 'x' }\nassert(ai.get_task_history('make')[1].error_message == 'x')",
    },
    Described {
        name: "get_task_stats",
        signature: "(command) -> result, result",
        about: "Counts of the runs of a command: `total_executions`, `successful`, `failed`, `success_rate`, `average_time`, `min_time`, `max_time`, `last_execution`.",
        example: "for i = 1, 4 do ai.record_execution{ command = 'make', success = i ~= 1, execution_time = i } end\nlocal s = ai.get_task_stats('make')\nassert(s.total_executions == 4 and s.success_rate == 0.75 and s.average_time == 2.5)",
    },
    Described {
        name: "find_similar_tasks",
        signature: "(command[, limit]) -> list, list",
        about: "Commands of the history that have words in common, the most alike first: `command`, `similarity`, `total_executions`, `success_rate`.",
        example: "ai.record_execution{ command = 'make test', success = true }\nai.record_execution{ command = 'ls', success = true }\nlocal found = ai.find_similar_tasks('make all')\nassert(#found == 1 and found[1].command == 'make test')",
    },
    Described {
        name: "analyze_performance",
        signature: "(command) -> result, result",
        about: "How long runs of a command take: the counts, `p95_time`, `deviation`, and `trend` (`faster`, `slower`, `steady`, `unknown`) of the newer half against the older.",
        example: "for _, t in ipairs({ 10, 10, 2, 2 }) do ai.record_execution{ command = 'make', success = true, execution_time = t } end\nassert(ai.analyze_performance('make').trend == 'faster')",
    },
    Described {
        name: "configure",
        signature: "{ enabled, learning_mode, optimization_level, failure_prediction, auto_optimize, model } -> boolean, error",
        about: "Keeps settings beside the history. `enabled = false` keeps the model from being asked.",
        example: "assert(ai.configure{ enabled = false })\nlocal _, err = ai.ask('x')\nassert(err:find('disabled'))",
    },
    Described {
        name: "get_config",
        signature: "() -> table",
        about: "The settings.",
        example: "assert(ai.get_config().learning_mode == 'adaptive' and ai.get_config().enabled)",
    },
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    for name in ["ask", "complete"] {
        module.act_async(name, |lua, args: MultiValue| async move {
            let args = Arguments::read(&lua, "ai.ask", args, &["prompt"])?;
            let mut messages = Vec::new();
            if let Some(system) = args.text("system")? {
                messages.push(json!({ "role": "system", "content": system }));
            }
            messages.push(json!({ "role": "user", "content": args.required(&["prompt"])? }));
            answer(&lua, messages, &args).await
        })?;
    }
    module.act_async("chat", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.chat", args, &["messages"])?;
        let messages = match to_json(&args.value("messages")?)? {
            Json::Array(messages) if messages.iter().all(is_message) => messages,
            _ => return Err(args.mistake("messages are a list of { role, content }")),
        };
        answer(&lua, messages, &args).await
    })?;
    module.act_async("optimize_command", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.optimize_command", args, &["command"])?;
        let command = args.required(&["command"])?;
        let context = to_json(&Value::Table(args.table.clone()))?;
        shaped(&lua, advice::optimize(&command, &context).await)
    })?;
    module.act_async("predict_failure", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.predict_failure", args, &["task", "command"])?;
        let (task, command) = (args.required(&["task"])?, args.required(&["command"])?);
        shaped(&lua, advice::predict(&task, &command).await)
    })?;
    module.act_async("generate_insights", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.generate_insights", args, &["scope"])?;
        let scope = args.text("scope")?;
        shaped(&lua, advice::insights(scope.as_deref()).await)
    })?;
    module.act_async("record_execution", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.record_execution", args, &[])?;
        args.required(&["command"])?;
        let run = to_json(&Value::Table(args.table))?;
        flagged(&lua, history::record(&run).await)
    })?;
    module.act_async("get_task_history", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.get_task_history", args, &["command", "limit"])?;
        let (command, limit) = (args.required(&["command"])?, limit(&args, 100)?);
        shaped(
            &lua,
            history::of(&command).await.map(|mut runs| {
                runs.reverse();
                runs.truncate(limit);
                Json::Array(runs)
            }),
        )
    })?;
    module.act_async("get_task_stats", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.get_task_stats", args, &["command"])?;
        let command = args.required(&["command"])?;
        shaped(&lua, history::of(&command).await.map(|runs| history::stats(&runs)))
    })?;
    module.act_async("analyze_performance", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.analyze_performance", args, &["command"])?;
        let command = args.required(&["command"])?;
        shaped(&lua, history::of(&command).await.map(|runs| history::performance(&runs)))
    })?;
    module.act_async("find_similar_tasks", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.find_similar_tasks", args, &["command", "limit"])?;
        let (command, limit) = (args.required(&["command"])?, limit(&args, 10)?);
        shaped(&lua, history::all().await.map(|runs| history::similar(&runs, &command, limit)))
    })?;
    module.act_async("configure", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "ai.configure", args, &[])?;
        flagged(&lua, history::configure(&to_json(&Value::Table(args.table))?).await)
    })?;
    module.act_async("get_config", |lua, _: MultiValue| async move {
        one(&lua, from_json(&lua, &history::config().await)?)
    })
}

fn is_message(message: &Json) -> bool {
    let has = |name: &str| message.get(name).is_some_and(Json::is_string);
    has("role") && has("content")
}

fn limit(args: &Arguments, most: usize) -> Result<usize> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count that people say"
    )]
    Ok(args.number("limit")?.map_or(most, |limit| limit.max(0.0) as usize))
}

async fn answer(lua: &Lua, messages: Vec<Json>, args: &Arguments) -> Result<MultiValue> {
    let options = to_json(&Value::Table(args.table.clone()))?;
    match endpoint::ask(messages, &options).await {
        Ok(text) => one(lua, text),
        Err(why) => refused(lua, &why),
    }
}

fn shaped(lua: &Lua, answer: std::result::Result<Json, String>) -> Result<MultiValue> {
    match answer {
        Err(why) => refused(lua, &why),
        Ok(json) => {
            let value = from_json(lua, &json)?;
            two(lua, value.clone(), value)
        }
    }
}

fn flagged(lua: &Lua, done: std::result::Result<(), String>) -> Result<MultiValue> {
    match done {
        Ok(()) => one(lua, true),
        Err(why) => two(lua, false, why),
    }
}

/// A variable of the step, or a secret of that name.
fn variable(name: &str) -> Option<String> {
    let step = acting();
    step.env(name).or_else(|| step.secret(name)).filter(|value| !value.is_empty())
}
