//! Runs of commands, one line of JSON each, and what can be counted from them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value as Json, json};
use tokio::io::AsyncWriteExt;

use super::super::super::acting;

fn folder() -> PathBuf {
    acting().path("~/.hostler/ai")
}

async fn write(name: &str, text: &str, is_added: bool) -> Result<(), String> {
    let folder = folder();
    let told = |error: std::io::Error| format!("{}: {error}", folder.join(name).display());
    tokio::fs::create_dir_all(&folder).await.map_err(told)?;
    let mut file = tokio::fs::OpenOptions::new()
        .create(true)
        .write(true)
        .append(is_added)
        .truncate(!is_added)
        .mode(0o600)
        .open(folder.join(name))
        .await
        .map_err(told)?;
    file.write_all(text.as_bytes()).await.map_err(told)?;
    file.flush().await.map_err(told)
}

pub(super) async fn record(run: &Json) -> Result<(), String> {
    if acting().check {
        return Ok(());
    }
    #[expect(clippy::disallowed_methods, reason = "a history says when")]
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let mut line = run.clone();
    if line["timestamp"].is_null() {
        line["timestamp"] = json!(now);
    }
    write("history.jsonl", &format!("{line}\n"), true).await
}

/// Every run, the oldest first. Lines that cannot be read are passed over.
pub(super) async fn all() -> Result<Vec<Json>, String> {
    let path = folder().join("history.jsonl");
    match tokio::fs::read_to_string(&path).await {
        Ok(text) => Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// Runs of a command, or of a task of that name.
pub(super) async fn of(command: &str) -> Result<Vec<Json>, String> {
    let is_it = |run: &Json| run["command"] == command || run["task_name"] == command;
    Ok(all().await?.into_iter().filter(is_it).collect())
}

fn is_success(run: &Json) -> bool {
    run["success"] == json!(true)
}

fn times(runs: &[Json]) -> Vec<f64> {
    runs.iter().filter_map(|run| run["execution_time"].as_f64()).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs are small")]
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "counts of runs are small")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

pub(super) fn stats(runs: &[Json]) -> Json {
    let successful = runs.iter().filter(|run| is_success(run)).count();
    let times = times(runs);
    json!({
        "total_executions": runs.len(),
        "successful": successful,
        "failed": runs.len() - successful,
        "success_rate": share(successful, runs.len()),
        "average_time": mean(&times),
        "min_time": times.iter().copied().reduce(f64::min),
        "max_time": times.iter().copied().reduce(f64::max),
        "last_execution": runs.last().map(|run| run["timestamp"].clone()),
    })
}

/// Times of runs: how far apart, and where they go.
pub(super) fn performance(runs: &[Json]) -> Json {
    let mut all = stats(runs);
    let times = times(runs);
    let (older, newer) = times.split_at(times.len() / 2);
    let trend = match (mean(older), mean(newer)) {
        (Some(older), Some(newer)) if newer < older * 0.9 => "faster",
        (Some(older), Some(newer)) if newer > older * 1.1 => "slower",
        (Some(_), Some(_)) => "steady",
        _ => "unknown",
    };
    all["trend"] = json!(trend);
    if let Some(middle) = mean(&times) {
        let squares: Vec<f64> = times.iter().map(|time| (time - middle).powi(2)).collect();
        all["deviation"] = json!(mean(&squares).unwrap_or(0.0).sqrt());
        let mut sorted = times;
        sorted.sort_by(f64::total_cmp);
        let at = (sorted.len() * 95).div_ceil(100).saturating_sub(1);
        all["p95_time"] = json!(sorted[at]);
    }
    all
}

fn words(command: &str) -> BTreeSet<&str> {
    command.split_whitespace().collect()
}

fn grouped(runs: &[Json]) -> BTreeMap<&str, Vec<Json>> {
    let mut groups: BTreeMap<&str, Vec<Json>> = BTreeMap::new();
    for run in runs {
        if let Some(command) = run["command"].as_str() {
            groups.entry(command).or_default().push(run.clone());
        }
    }
    groups
}

pub(super) fn by_command(runs: &[Json]) -> Json {
    let groups = grouped(runs).into_iter();
    Json::Object(groups.map(|(command, runs)| (command.to_owned(), performance(&runs))).collect())
}

/// Commands by the share of words that they have in common with one.
pub(super) fn similar(runs: &[Json], command: &str, limit: usize) -> Json {
    let wanted = words(command);
    let mut found: Vec<(f64, &str, Json)> = Vec::new();
    for (other, runs) in grouped(runs) {
        let has = words(other);
        let alike = share(wanted.intersection(&has).count(), wanted.union(&has).count());
        if alike > 0.0 {
            found.push((alike, other, stats(&runs)));
        }
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    found.truncate(limit);
    let found = found.into_iter().map(|(alike, command, mut stats)| {
        stats["command"] = json!(command);
        stats["similarity"] = json!(alike);
        stats
    });
    Json::Array(found.collect())
}

/// Settings, with what is so where nobody said otherwise.
pub(super) async fn config() -> Json {
    let mut config = json!({
        "enabled": true,
        "learning_mode": "adaptive",
        "optimization_level": 5,
        "failure_prediction": true,
        "auto_optimize": false,
    });
    for (name, value) in kept().await {
        config[name] = value;
    }
    config
}

async fn kept() -> Map<String, Json> {
    let text = tokio::fs::read_to_string(folder().join("config.json")).await.unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

pub(super) async fn configure(more: &Json) -> Result<(), String> {
    const KNOWN: [&str; 6] = [
        "enabled",
        "learning_mode",
        "optimization_level",
        "failure_prediction",
        "auto_optimize",
        "model",
    ];
    let mut config = kept().await;
    for (name, value) in more.as_object().into_iter().flatten() {
        if !KNOWN.contains(&name.as_str()) {
            return Err(format!("there is no setting `{name}`; there are {}", KNOWN.join(", ")));
        }
        config.insert(name.clone(), value.clone());
    }
    if let Some(level) = config.get("optimization_level").and_then(Json::as_f64)
        && !(1.0..=10.0).contains(&level)
    {
        return Err("`optimization_level` is from 1 to 10".to_owned());
    }
    if acting().check {
        return Ok(());
    }
    write("config.json", &Json::Object(config).to_string(), false).await
}
