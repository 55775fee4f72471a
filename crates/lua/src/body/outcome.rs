//! What a body returned, as how it ended.
//!
//! | returned | means |
//! |---|---|
//! | nothing | it went well |
//! | `true, message, output` | it went well |
//! | `false, message` or `nil, message` | it failed |
//! | a table with `failed`, `success`, `changed`, `message` | as they say; the table is the output |
//! | a text or a number | it went well; that is the message |

use hostler_model::workflow::{StepEnd, StepResult};
use mlua::{MultiValue, Result, Table, Value};
use serde_json::Value as Json;

use crate::value::{to_json, words};

pub(crate) fn of_return(returned: &MultiValue) -> StepResult {
    read(returned).unwrap_or_else(|error| {
        let message = format!("what it returned cannot be kept: {error}");
        StepResult::new(StepEnd::Failed, message)
    })
}

fn read(returned: &MultiValue) -> Result<StepResult> {
    let mut values = returned.iter();
    let first = values.next();
    let second = values.next();
    let third = values.next();
    let message = match second {
        None | Some(Value::Nil) => String::new(),
        Some(value) => words(value)?,
    };
    Ok(match first {
        None => StepResult::new(StepEnd::Succeeded, ""),
        Some(Value::Nil) if second.is_none() => StepResult::new(StepEnd::Succeeded, ""),
        Some(Value::Nil | Value::Boolean(false)) => {
            let output = third.map_or(Ok(Json::Null), to_json)?;
            StepResult { output, ..StepResult::new(StepEnd::Failed, message) }
        }
        Some(Value::Boolean(true)) => {
            let output = match (second, third) {
                (_, Some(third)) => to_json(third)?,
                (Some(table @ Value::Table(_)), None) => to_json(table)?,
                _ => Json::Null,
            };
            let changed = output.get("changed").and_then(Json::as_bool);
            StepResult { output, changed, ..StepResult::new(StepEnd::Succeeded, message) }
        }
        Some(Value::Table(table)) => of_table(table)?,
        Some(other) => StepResult::new(StepEnd::Succeeded, words(other)?),
    })
}

fn of_table(table: &Table) -> Result<StepResult> {
    let output = to_json(&Value::Table(table.clone()))?;
    let is = |name: &str| output.get(name).and_then(Json::as_bool);
    let failed =
        is("failed") == Some(true) || is("success") == Some(false) || is("ok") == Some(false);
    let word = |name: &str| output.get(name).and_then(Json::as_str).map(str::to_owned);
    let message =
        word("message").or_else(|| word("error")).or_else(|| word("msg")).unwrap_or_default();
    let end = if failed { StepEnd::Failed } else { StepEnd::Succeeded };
    Ok(StepResult { changed: is("changed"), output, ..StepResult::new(end, message) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_return_is_understood() {
        let lua = mlua::Lua::new();
        for (source, end, message, output) in [
            ("return", StepEnd::Succeeded, "", "null"),
            ("return true", StepEnd::Succeeded, "", "null"),
            ("return true, 'ok', {a=1}", StepEnd::Succeeded, "ok", r#"{"a":1}"#),
            ("return false, 'no'", StepEnd::Failed, "no", "null"),
            ("return nil, 'no'", StepEnd::Failed, "no", "null"),
            ("return false", StepEnd::Failed, "", "null"),
            ("return false, 'x\\255'", StepEnd::Failed, "x\u{fffd}", "null"),
            ("return 'done'", StepEnd::Succeeded, "done", "null"),
            (
                "return {changed=false, message='m'}",
                StepEnd::Succeeded,
                "m",
                r#"{"changed":false,"message":"m"}"#,
            ),
            (
                "return {failed=true, message='m'}",
                StepEnd::Failed,
                "m",
                r#"{"failed":true,"message":"m"}"#,
            ),
            (
                "return {success=false, error='e'}",
                StepEnd::Failed,
                "e",
                r#"{"error":"e","success":false}"#,
            ),
        ] {
            let returned: MultiValue = lua.load(source).eval().unwrap();
            let result = of_return(&returned);
            assert_eq!(
                (result.end, result.message.as_str(), result.output.to_string().as_str()),
                (end, message, output),
                "{source}"
            );
        }
    }
}
