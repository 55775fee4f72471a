//! Master Control's spelling: `{"command": "list"}` and its like, answered in its words and with
//! `"status": "ok"` besides; what fails has `"status": "error"` and `error`. In the answer to `status`,
//! `status` is the workload's.

use hostler_model::Span;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Rule;
use crate::config::OnStop;
use crate::door::master_control::{brief, changes, environment, full, message, object};
use crate::door::view::{LogRecord, Refusal, RefusalCode};
use crate::door::{Door, LogAsk};

const LINES: usize = 50;
const LINES_MAX: usize = 10_000;
const EXEC_TIMEOUT: f64 = 30.0;

#[derive(Deserialize)]
struct Request {
    command: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    lines: Option<usize>,
    #[serde(default)]
    exec_command: Vec<String>,
    #[serde(default)]
    timeout: Option<f64>,
}

type Fields = Map<String, Value>;

/// Answers a question in this spelling.
pub(super) async fn answer(door: &Door, question: Value) -> Value {
    let answered = match serde_json::from_value::<Request>(question) {
        Ok(request) => perform(door, request).await,
        Err(error) => Err(Refusal::new(RefusalCode::Malformed, error.to_string())),
    };
    match answered {
        Ok(fields) => {
            let mut answer = object(json!({ "status": "ok" }));
            answer.extend(fields);
            Value::Object(answer)
        }
        Err(Refusal { detail, mistakes, .. }) => {
            let mut answer = object(json!({ "status": "error", "error": detail }));
            if !mistakes.is_empty() {
                answer.insert("mistakes".to_owned(), json!(mistakes));
            }
            Value::Object(answer)
        }
    }
}

/// Whether a question in this spelling can be read.
pub(crate) fn is_command(question: Value) -> bool {
    serde_json::from_value::<Request>(question).is_ok()
}

/// What a command does; one that is not known to be harmless is not.
pub(super) fn rule(command: &str) -> Rule {
    match command {
        "list" | "status" | "logs" | "workload_env" => Rule::Look,
        _ => Rule::Change,
    }
}

async fn perform(door: &Door, request: Request) -> Result<Fields, Refusal> {
    let name = request.name.as_deref();
    let named = || {
        let detail = format!("`{}` needs `name`", request.command);
        name.ok_or_else(|| Refusal::new(RefusalCode::Malformed, detail))
    };
    let said = |done| object(json!({ "message": message(&done).1 }));
    match request.command.as_str() {
        "list" => {
            let services = door.services().await;
            let workloads: Vec<Fields> = services.iter().map(|one| brief(one)).collect();
            Ok(object(json!({ "workloads": workloads })))
        }
        "status" => Ok(full(&*door.service(named()?).await?)),
        "start" => door.start(named()?).await.map(said),
        "stop" => door.stop(named()?).await.map(said),
        "restart" => door.restart(named()?).await.map(said),
        "reload" | "reload-configs" => {
            let reloaded = door.reload().await?;
            Ok(object(json!({ "changes": changes(&reloaded) })))
        }
        "logs" => {
            let name = named()?;
            let lines = lines(door, name, request.lines.unwrap_or(LINES)).await?;
            Ok(object(json!({ "name": name, "lines": lines })))
        }
        "exec" => exec(door, named()?, &request).await,
        "workload_env" => Ok(environment(&*door.service(named()?).await?)),
        "shutdown" => {
            door.shutdown(Some(OnStop::Stop));
            Ok(object(json!({ "message": "Shutting down" })))
        }
        other => Err(Refusal::new(RefusalCode::Malformed, format!("Unknown command: {other}"))),
    }
}

async fn exec(door: &Door, name: &str, request: &Request) -> Result<Fields, Refusal> {
    let seconds = request.timeout.unwrap_or(EXEC_TIMEOUT);
    let timeout = std::time::Duration::try_from_secs_f64(seconds).map_err(|_| {
        Refusal::new(RefusalCode::Malformed, "`timeout` is a number of seconds from 0 up")
    })?;
    let millis = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
    let argv = request.exec_command.clone();
    let done = door.exec_collected(name, argv, Some(Span::from_millis(millis))).await?;
    if done.end.is_timed_out {
        let detail = format!("Command timed out after {seconds} seconds");
        return Err(Refusal::new(RefusalCode::Conflict, detail));
    }
    let code = done.end.code.or_else(|| done.end.signal.map(|signal| -signal));
    Ok(object(json!({
        "stdout": String::from_utf8_lossy(&done.stdout),
        "stderr": String::from_utf8_lossy(&done.stderr),
        "exit_code": code.unwrap_or(1),
    })))
}

/// The last lines of a workload's output.
pub(crate) async fn lines(door: &Door, name: &str, count: usize) -> Result<Vec<String>, Refusal> {
    let tail = Some(count.clamp(1, LINES_MAX));
    let ask = LogAsk { name: name.to_owned(), tail, ..LogAsk::default() };
    let mut stream = door.logs(&ask).await?;
    let mut lines = Vec::new();
    while let Some(records) = stream.next().await? {
        lines.extend(records.into_iter().filter_map(|record| match record {
            LogRecord::Line { text, .. } => Some(text),
            LogRecord::Gap { .. } | LogRecord::Mark { .. } => None,
        }));
    }
    Ok(lines)
}
