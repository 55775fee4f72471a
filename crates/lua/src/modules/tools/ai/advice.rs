//! Answers of a model that have a shape. What it says is judged; what does not fit is an error, not a guess.

use serde_json::{Value as Json, json};

use super::endpoint::{ask, short};
use super::history;

/// How many runs a model is told of.
const TOLD: usize = 20;

pub(super) async fn optimize(command: &str, context: &Json) -> Result<Json, String> {
    let runs = history::of(command).await?;
    let asked = json!({
        "command": command,
        "context": context,
        "history": history::stats(&runs),
    });
    let mut answer = shaped(
        "You improve shell commands without changing what they do. Answer with one JSON object: optimized_command (text), confidence_score (0 to 1), expected_speedup (a factor, 1 for none), rationale (text), optimizations (a list of objects with the texts type, description, impact), resource_savings (an object, may be empty).",
        &asked,
    )
    .await?;
    text(&answer, "optimized_command")?;
    text(&answer, "rationale")?;
    fraction(&answer, "confidence_score")?;
    number(&answer, "expected_speedup")?;
    for item in list(&answer, "optimizations")? {
        for name in ["type", "description", "impact"] {
            text(item, name)?;
        }
    }
    if answer["resource_savings"].is_null() {
        answer["resource_savings"] = json!({});
    }
    answer["original_command"] = json!(command);
    Ok(answer)
}

pub(super) async fn predict(task: &str, command: &str) -> Result<Json, String> {
    let mut runs = history::of(command).await?;
    let stats = history::stats(&runs);
    runs.reverse();
    runs.truncate(TOLD);
    let asked =
        json!({ "task": task, "command": command, "statistics": stats, "newest_runs": runs });
    let answer = shaped(
        "You judge how likely a command fails when it is run next. Answer with one JSON object: failure_probability (0 to 1), confidence (0 to 1), risk_factors (a list of texts), recommendations (a list of texts).",
        &asked,
    )
    .await?;
    fraction(&answer, "failure_probability")?;
    fraction(&answer, "confidence")?;
    for name in ["risk_factors", "recommendations"] {
        if !list(&answer, name)?.iter().all(Json::is_string) {
            return Err(unfit(name, "a list of texts", &answer));
        }
    }
    Ok(answer)
}

pub(super) async fn insights(scope: Option<&str>) -> Result<Json, String> {
    let runs = history::all().await?;
    let asked = json!({ "scope": scope, "commands": history::by_command(&runs) });
    let answer = shaped(
        "You look at statistics of commands and say what is worth knowing. Answer with one JSON object: insights (a list of objects with the texts title, detail, and severity: info, warning or critical).",
        &asked,
    )
    .await?;
    for item in list(&answer, "insights")? {
        for name in ["title", "detail"] {
            text(item, name)?;
        }
        if !["info", "warning", "critical"].contains(&text(item, "severity")?) {
            return Err(unfit("severity", "info, warning or critical", item));
        }
    }
    Ok(answer)
}

async fn shaped(system: &str, asked: &Json) -> Result<Json, String> {
    let messages = vec![
        json!({ "role": "system", "content": system }),
        json!({ "role": "user", "content": asked.to_string() }),
    ];
    let options = json!({ "temperature": 0, "response_format": { "type": "json_object" } });
    let said = ask(messages, &options).await?;
    let inner = said.trim().trim_start_matches("```json").trim_matches('`').trim();
    match serde_json::from_str::<Json>(inner) {
        Ok(answer @ Json::Object(_)) => Ok(answer),
        _ => Err(format!("the model was asked for JSON and said: {}", short(&said))),
    }
}

fn unfit(name: &str, expected: &str, answer: &Json) -> String {
    format!("the model's `{name}` is not {expected}: {}", short(&answer.to_string()))
}

fn text<'a>(answer: &'a Json, name: &str) -> Result<&'a str, String> {
    answer[name].as_str().ok_or_else(|| unfit(name, "a text", answer))
}

fn number(answer: &Json, name: &str) -> Result<f64, String> {
    answer[name].as_f64().ok_or_else(|| unfit(name, "a number", answer))
}

fn fraction(answer: &Json, name: &str) -> Result<(), String> {
    match number(answer, name)? {
        value if (0.0..=1.0).contains(&value) => Ok(()),
        _ => Err(unfit(name, "from 0 to 1", answer)),
    }
}

fn list<'a>(answer: &'a Json, name: &str) -> Result<&'a [Json], String> {
    match answer[name].as_array() {
        Some(list) => Ok(list),
        None => Err(unfit(name, "a list", answer)),
    }
}
