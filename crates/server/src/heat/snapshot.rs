//! Snapshots of stacks. What one holds has secrets in it: it is told to those who may change the stack.

use hostler_model::stack::{StackPoint, StackSnapshot, StackStatus};
use hostler_model::{Need, Permission, StackSnapshotId};
use serde_json::{Value, json};

use super::body::Body;
use super::call::{Call, Gathering};
use super::fault::Fault;
use super::reply::Reply;
use super::stack::stack_of;
use super::view;

fn id_of(call: &Call) -> Result<StackSnapshotId, Fault> {
    let given = call.part("snapshot");
    given.parse().map_err(|_| Fault::absent(format!("Snapshot with id {given} not found")))
}

fn shown(snapshot: &StackSnapshot, data: Value) -> Value {
    let reason = match snapshot.status {
        StackStatus::InProgress => Value::Null,
        StackStatus::Complete | StackStatus::Failed => json!(snapshot.reason),
    };
    json!({
        "id": snapshot.id,
        "name": snapshot.name,
        "action": "CREATE",
        "status": snapshot.status.heat(),
        "status_reason": reason,
        "data": data,
        "creation_time": view::time(snapshot.time_created),
    })
}

/// What a snapshot holds; nothing before it is complete, or where the caller may not know it.
async fn held(call: &Call, stack: &str, snapshot: &StackSnapshot) -> Result<Value, Fault> {
    let need = Need::of(Permission::StackApply, Some(call.project().id));
    if snapshot.status != StackStatus::Complete || !call.cx().caller.may(need) {
        return Ok(Value::Null);
    }
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    Ok(control.stack_snapshot_document(cx, project, stack, snapshot.id).await?)
}

pub(super) async fn create(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let body = Body(call.map()?);
    let name = body.text("name")?.unwrap_or_default();
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let made = control.stack_snapshot_create(cx, project, &id, name).await?;
    Ok(Reply::ok(shown(&made, Value::Null)))
}

pub(super) async fn list(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let mut found = Gathering::new(None, None);
    while let Some((after, step)) = found.next() {
        let page = control.stack_snapshots(cx, project, &id, after, step).await?;
        found.take(page);
    }
    let mut all = Vec::new();
    for snapshot in &found.all() {
        all.push(shown(snapshot, held(&call, &id, snapshot).await?));
    }
    Ok(Reply::ok(json!({ "snapshots": all })))
}

pub(super) async fn show(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let snapshot = id_of(&call)?;
    let (control, cx, project) = (call.control(), call.cx(), call.project());
    let (found, _) = control.stack_snapshot_get(cx, project, &id, snapshot).await?;
    let data = held(&call, &id, &found).await?;
    Ok(Reply::ok(json!({ "snapshot": shown(&found, data) })))
}

pub(super) async fn restore(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let point = StackPoint::Snapshot(id_of(&call)?);
    call.control().stack_restore(call.cx(), call.project(), &id, point, "").await?;
    Ok(Reply::accepted())
}

pub(super) async fn remove(call: Call) -> Result<Reply, Fault> {
    let id = stack_of(&call).await?.id.to_string();
    let snapshot = id_of(&call)?;
    call.control().stack_snapshot_remove(call.cx(), call.project(), &id, snapshot).await?;
    Ok(Reply::nothing())
}
