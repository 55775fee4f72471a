//! Configuration of software, as Heat keeps it beside stacks: what is to be done on a machine, and how it went.

use hostler_control::{NewSoftwareConfig, NewSoftwareDeployment, SoftwareDeploymentEdit};
use hostler_model::stack::{SoftwareConfigBody, SoftwareDeploymentBody, StackStatus};
use serde_json::{Map, Value, json};

use super::body::Body;
use super::call::{Call, Gathering};
use super::fault::Fault;
use super::reply::Reply;
use super::stack_list::status;
use super::view;

/// Its times are those of Heat.
fn shown(mut document: Map<String, Value>) -> Value {
    for name in ["creation_time", "updated_time"] {
        if let Some(time) = document.get_mut(name) {
            *time = view::shorter(time);
        }
    }
    Value::Object(document)
}

pub(super) async fn configs(call: Call) -> Result<Reply, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let mut found = Gathering::new(call.query.limit()?, call.query.get("marker"));
    while let Some((after, step)) = found.next() {
        let page = control.software_config_list(cx, project, after, step).await?;
        found.take(page);
    }
    let found = found.all();
    let brief = found.iter().map(|config| {
        json!({
            "id": config.id,
            "name": config.name,
            "group": config.group,
            "creation_time": view::time(config.time_created),
        })
    });
    Ok(Reply::ok(json!({ "software_configs": brief.collect::<Vec<_>>() })))
}

pub(super) async fn config_create(call: Call) -> Result<Reply, Fault> {
    let body = Body(call.map()?);
    let new = NewSoftwareConfig {
        name: body.text("name")?.unwrap_or_default().to_owned(),
        group: body.text("group")?.unwrap_or("Heat::Ungrouped").to_owned(),
        body: SoftwareConfigBody {
            config: body.0.get("config").cloned().unwrap_or_default(),
            inputs: body.list("inputs")?.cloned().unwrap_or_default(),
            outputs: body.list("outputs")?.cloned().unwrap_or_default(),
            options: body.map("options")?.cloned().unwrap_or_default(),
        },
    };
    let made = call.control().software_config_create(call.cx(), call.project(), new).await?;
    Ok(Reply::ok(json!({ "software_config": shown(made) })))
}

pub(super) async fn config(call: Call) -> Result<Reply, Fault> {
    let id = call.part("config");
    let found = call.control().software_config_get(call.cx(), call.project(), id).await?;
    Ok(Reply::ok(json!({ "software_config": shown(found) })))
}

pub(super) async fn config_remove(call: Call) -> Result<Reply, Fault> {
    let id = call.part("config");
    call.control().software_config_remove(call.cx(), call.project(), id).await?;
    Ok(Reply::nothing())
}

fn status_of(body: &Body) -> Result<Option<StackStatus>, Fault> {
    let Some(text) = body.text("status")? else { return Ok(None) };
    let unknown = || Fault::invalid(format!("'{text}' is no status of a deployment"));
    status(text).map(Some).ok_or_else(unknown)
}

fn of_id(body: &Body, name: &str) -> Result<String, Fault> {
    let found = body.text(name)?.map(str::to_owned);
    found.ok_or_else(|| Fault::bad(format!("Missing mandatory ({name}) key from the request")))
}

pub(super) async fn deployments(call: Call) -> Result<Reply, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let server = call.query.get("server_id");
    let all = control.software_deployment_list(cx, project, server).await?;
    let all: Vec<Value> = all.into_iter().map(shown).collect();
    Ok(Reply::ok(json!({ "software_deployments": all })))
}

pub(super) async fn deployment_create(call: Call) -> Result<Reply, Fault> {
    let body = Body(call.map()?);
    let new = NewSoftwareDeployment {
        config: of_id(&body, "config_id")?,
        server: of_id(&body, "server_id")?,
        action: body.text("action")?.unwrap_or("INIT").to_owned(),
        status: status_of(&body)?.unwrap_or(StackStatus::Complete),
        reason: body.text("status_reason")?.unwrap_or_default().to_owned(),
        body: SoftwareDeploymentBody {
            input_values: body.map("input_values")?.cloned().unwrap_or_default(),
            output_values: body.map("output_values")?.cloned().unwrap_or_default(),
        },
    };
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let made = control.software_deployment_create(cx, project, new).await?;
    Ok(Reply::ok(json!({ "software_deployment": shown(made) })))
}

pub(super) async fn deployment(call: Call) -> Result<Reply, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let found = control.software_deployment_get(cx, project, call.part("deployment")).await?;
    Ok(Reply::ok(json!({ "software_deployment": shown(found) })))
}

pub(super) async fn deployment_update(call: Call) -> Result<Reply, Fault> {
    let body = Body(call.map()?);
    let edit = SoftwareDeploymentEdit {
        config: body.text("config_id")?.map(str::to_owned),
        action: body.text("action")?.map(str::to_owned),
        status: status_of(&body)?,
        reason: body.text("status_reason")?.map(str::to_owned),
        input_values: body.map("input_values")?.cloned(),
        output_values: body.map("output_values")?.cloned(),
    };
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let id = call.part("deployment");
    let changed = control.software_deployment_update(cx, project, id, &edit).await?;
    Ok(Reply::ok(json!({ "software_deployment": shown(changed) })))
}

pub(super) async fn deployment_remove(call: Call) -> Result<Reply, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    control.software_deployment_remove(cx, project, call.part("deployment")).await?;
    Ok(Reply::nothing())
}

/// What a machine asks for: the configurations that are for it.
pub(super) async fn metadata(call: Call) -> Result<Reply, Fault> {
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let all = control.software_metadata(cx, project, call.part("server")).await?;
    let all: Vec<Value> = all.into_iter().map(shown).collect();
    Ok(Reply::ok(json!({ "metadata": all })))
}
