//! The endpoint of a model.
//!
//! It is called with `curl`. Everything goes in by its standard input, the key and the prompt, too, so that neither is
//! seen in the list of processes.

use serde_json::{Value as Json, json};

use super::super::tool::{Call, Program, failure};
use super::{history, variable};

static CURL: Program = Program::new(
    "curl",
    "install it with the machine's packages: pkg.install{ packages = 'curl' }",
);

/// How long a model has, in seconds.
const PATIENCE: f64 = 120.0;

/// Asks, and gives the text of the answer.
pub(super) async fn ask(messages: Vec<Json>, options: &Json) -> Result<String, String> {
    let config = history::config().await;
    if config["enabled"] == json!(false) {
        return Err("it is disabled here; ai.configure{ enabled = true } changes that".to_owned());
    }
    let url = variable("HOSTLER_AI_URL").ok_or(
        "no model is configured; set HOSTLER_AI_URL (as https://host/v1), HOSTLER_AI_MODEL and HOSTLER_AI_KEY in the environment of the task",
    )?;
    let model = [&options["model"], &config["model"]]
        .into_iter()
        .find_map(|model| model.as_str().map(str::to_owned))
        .or_else(|| variable("HOSTLER_AI_MODEL"))
        .ok_or("no model is named; set HOSTLER_AI_MODEL in the environment of the task")?;
    let mut body = json!({ "model": model, "messages": messages });
    for name in ["temperature", "max_tokens", "response_format"] {
        if !options[name].is_null() {
            body[name] = options[name].clone();
        }
    }
    let patience = options["timeout"].as_f64().unwrap_or(PATIENCE);
    let answer = post(&place(&url), &body, patience).await?;
    match answer["choices"][0]["message"]["content"].as_str() {
        Some(text) => Ok(text.to_owned()),
        None => {
            Err(format!("the endpoint answered without a message: {}", short(&answer.to_string())))
        }
    }
}

fn place(url: &str) -> String {
    let url = url.trim_end_matches('/');
    if url.ends_with("/chat/completions") {
        url.to_owned()
    } else {
        format!("{url}/chat/completions")
    }
}

async fn post(url: &str, body: &Json, patience: f64) -> Result<Json, String> {
    let mut lines = vec![
        format!("url = \"{}\"", escaped(url)),
        "header = \"Content-Type: application/json\"".to_owned(),
        format!("data-raw = \"{}\"", escaped(&body.to_string())),
        format!("max-time = {patience}"),
    ];
    if let Some(key) = variable("HOSTLER_AI_KEY") {
        lines.push(format!("header = \"Authorization: Bearer {}\"", escaped(key.trim())));
    }
    let words = ["--disable", "--silent", "--show-error", "--fail-with-body", "--config", "-"];
    let mut call = Call::new(&CURL, words);
    call.input = Some(lines.join("\n").into_bytes());
    let ended = call.run().await?;
    let said = String::from_utf8_lossy(&ended.stdout);
    if !ended.is_success() {
        let answer: Json = serde_json::from_str(&said).unwrap_or_default();
        return Err(match answer["error"]["message"].as_str() {
            Some(message) => format!("the endpoint refused: {message}"),
            None => format!("the endpoint could not be asked: {}", failure(&CURL, &ended)),
        });
    }
    serde_json::from_str(&said)
        .map_err(|_| format!("the endpoint answered something that is no JSON: {}", short(&said)))
}

/// A text in quotes of a configuration of curl.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace(['\n', '\r'], " ")
}

pub(super) fn short(text: &str) -> String {
    text.chars().take(200).collect()
}
