//! Which API this is, and who serves it.

use std::time::Duration;

use hostler_model::{ServerRegistration, Timestamp};
use serde_json::{Value, json};

use super::call::Call;
use super::fault::Fault;
use super::here::Here;
use super::reply::Reply;

/// How often servers say that they are there, as Heat tells it of its engines.
const REPORTS: Duration = Duration::from_secs(60);

/// The document that tells of the one version there is.
pub(super) fn document(here: &Here) -> Value {
    let link = json!({ "rel": "self", "href": format!("{}/v1/", here.base()) });
    json!({ "versions": [{ "id": "v1.0", "status": "CURRENT", "links": [link] }] })
}

pub(super) async fn heat(call: Call) -> Result<Reply, Fault> {
    Ok(Reply::choices(document(&call.here)))
}

pub(super) async fn build(call: Call) -> Result<Reply, Fault> {
    let revision = call.app().version();
    Ok(Reply::ok(json!({ "api": { "revision": revision }, "engine": { "revision": revision } })))
}

/// Without the zone, which is always that of Greenwich.
fn moment(time: Timestamp) -> String {
    time.to_string().trim_end_matches('Z').to_owned()
}

fn engine(server: &ServerRegistration, now: Timestamp) -> Value {
    let is_up = now.since(server.time_seen) < REPORTS;
    json!({
        "id": server.id,
        "binary": "heat-engine",
        "engine_id": server.id,
        "host": server.name,
        "hostname": server.name,
        "topic": "engine",
        "report_interval": REPORTS.as_secs(),
        "created_at": moment(server.time_started),
        "updated_at": moment(server.time_seen),
        "deleted_at": Value::Null,
        "status": if is_up { "up" } else { "down" },
    })
}

pub(super) async fn services(call: Call) -> Result<Reply, Fault> {
    let now = call.control().clock().now();
    let servers = call.control().server_list(call.cx()).await?;
    let all: Vec<Value> = servers.iter().map(|server| engine(server, now)).collect();
    Ok(Reply::ok(json!({ "services": all })))
}
