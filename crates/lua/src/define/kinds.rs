//! What kind of value each field takes: what is of another kind has no effect, and that is told.

use mlua::Value;

use super::amounts;
use crate::value::{kind, text};

/// What a field takes.
#[derive(Clone, Copy)]
enum Takes {
    Function,
    Text,
    /// Text or a number.
    Word,
    /// Text, or a list of texts.
    List,
    Table,
    Truth,
    /// A number of at least one.
    Count,
    FunctionOrText,
    FunctionOrTruth,
    /// How retries are made: a table, or the name of a way to wait.
    Policy,
}

const TASK: &[(&str, Takes)] = &[
    ("after", Takes::Function),
    ("artifacts", Takes::List),
    ("async", Takes::Truth),
    ("before", Takes::Function),
    ("compensate", Takes::FunctionOrText),
    ("consumes", Takes::List),
    ("delegate_options", Takes::Table),
    ("depends_on", Takes::List),
    ("description", Takes::Word),
    ("env", Takes::Table),
    ("may_fail", Takes::Truth),
    ("next_if_fail", Takes::List),
    ("on_failure", Takes::Function),
    ("on_retry", Takes::Function),
    ("on_skip", Takes::Function),
    ("on_success", Takes::Function),
    ("on_timeout", Takes::Function),
    ("params", Takes::Table),
    ("program", Takes::Table),
    ("retry_strategy", Takes::Text),
    ("shell", Takes::Text),
    ("tags", Takes::List),
    ("user", Takes::Text),
    ("uses", Takes::Table),
    ("workdir", Takes::Text),
];

const WORKFLOW: &[(&str, Takes)] = &[
    ("clean_workdir_after_run", Takes::FunctionOrTruth),
    ("config", Takes::Table),
    ("create_workdir_before_run", Takes::Truth),
    ("delegate_options", Takes::Table),
    ("description", Takes::Word),
    ("env", Takes::Table),
    ("metadata", Takes::Table),
    ("on_complete", Takes::Function),
    ("on_failure", Takes::Function),
    ("on_start", Takes::Function),
    ("on_success", Takes::Function),
    ("on_task_complete", Takes::Function),
    ("on_task_start", Takes::Function),
    ("stack", Takes::Text),
    ("tasks", Takes::Table),
    ("version", Takes::Word),
    ("workdir", Takes::Text),
];

const CONFIG: &[(&str, Takes)] = &[
    ("concurrency", Takes::Count),
    ("create_snapshot", Takes::Truth),
    ("detect_drift", Takes::Truth),
    ("env", Takes::Table),
    ("environment", Takes::Table),
    ("fail_fast", Takes::Truth),
    ("max_concurrent_tasks", Takes::Count),
    ("max_parallel", Takes::Count),
    ("max_parallel_tasks", Takes::Count),
    ("parallel", Takes::Truth),
    ("require_lock", Takes::Truth),
    ("retry_policy", Takes::Policy),
    ("rollback_on_failure", Takes::Truth),
    ("validate_before", Takes::Truth),
    ("workdir", Takes::Text),
];

impl Takes {
    fn is_right(self, value: &Value) -> bool {
        let is_text = matches!(value, Value::String(_));
        let is_number = matches!(value, Value::Integer(_) | Value::Number(_));
        match self {
            Takes::Function => value.is_function(),
            Takes::Text => is_text,
            Takes::Word => is_text || is_number,
            Takes::List => is_text || value.is_table(),
            Takes::Table => value.is_table(),
            Takes::Truth => value.is_boolean(),
            Takes::Count => amounts::count(value).is_some_and(|count| count > 0),
            Takes::FunctionOrText => is_text || value.is_function(),
            Takes::FunctionOrTruth => value.is_boolean() || value.is_function(),
            Takes::Policy => match value {
                Value::String(word) => amounts::backoff(&text(word)).is_some(),
                other => other.is_table(),
            },
        }
    }

    fn advice(self) -> &'static str {
        match self {
            Takes::Function => "give a function",
            Takes::Text | Takes::Word => "give a text",
            Takes::List => "give a text or a list",
            Takes::Table => "give a table",
            Takes::Truth => "say true or false",
            Takes::Count => "give a whole number of at least 1",
            Takes::FunctionOrText => "give a function or a line for the shell",
            Takes::FunctionOrTruth => "give a function, or say true or false",
            Takes::Policy => "say fixed, linear or exponential, or give a table",
        }
    }
}

/// What is wrong with the value of a field.
pub(super) fn wrong(what: &str, field: &str, value: &Value) -> Option<String> {
    let known = match what {
        "task" => TASK,
        "workflow" => WORKFLOW,
        _ => CONFIG,
    };
    let (_, takes) = known.iter().find(|(known, _)| *known == field)?;
    if takes.is_right(value) {
        return None;
    }
    let is = match value {
        Value::String(word) if matches!(takes, Takes::Policy | Takes::Count) => {
            format!("\"{}\"", crate::diagnose::cut(&text(word), 40))
        }
        Value::Integer(_) | Value::Number(_) if matches!(takes, Takes::Count) => {
            value.to_string().unwrap_or_default()
        }
        other => format!("a {}", kind(other)),
    };
    Some(format!("`{field}` of a {what} is {is}, which has no effect; {}", takes.advice()))
}
