//! What belongs to stacks besides making them: locks, snapshots, drift, and looking at templates.

use std::time::Instant;

use anyhow::ensure;
use hostler_api::Nothing;
use hostler_api::lock::LockAcquireBody;
use hostler_api::stack_check::{
    StackFormCheck, StackFormCheckBody, StackTemplateCheck, StackTemplateCheckBody,
};
use hostler_api::stack_lock::{
    StackLockAcquire, StackLockPath, StackLockRelease, StackLockReleaseQuery,
};
use hostler_api::stack_plan::StackDriftDetect;
use hostler_api::stack_point::{
    StackSnapshotBody, StackSnapshotCreate, StackSnapshotGet, StackSnapshotPath,
    StackSnapshotRemove,
};
use hostler_client::Client;
use hostler_model::LockHoldId;
use hostler_model::stack::StackStatus;
use serde_json::json;
use uuid::Uuid;

use super::PACE;
use super::ours::{create, delete, form, place, project};
use crate::figures::{Section, quantile};
use crate::rig::until_paced;

const TIMES: usize = 30;
const WARM_UP: usize = 3;
/// Objects that are looked at for drift.
const LOOKED: usize = 200;
const STACK: &str = "typical";
const LARGE: &str = "entries";
/// A template of the kind that people write.
const TYPICAL: &str = include_str!("typical.yaml");

/// Milliseconds of something that is done many times.
async fn times(mut once: impl AsyncFnMut() -> anyhow::Result<f64>) -> anyhow::Result<Vec<f64>> {
    let mut millis = Vec::with_capacity(TIMES);
    for time in 0..TIMES + WARM_UP {
        let took = once().await?;
        if time >= WARM_UP {
            millis.push(took);
        }
    }
    Ok(millis)
}

fn millis(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}

/// Everything that has a target of its own.
pub async fn measure(client: &Client) -> anyhow::Result<Section> {
    let how = format!(
        "One client, one after the other, {TIMES} times after {WARM_UP} to warm up; what is judged is the median. The stack is of the kind that people write (`bench/src/stacks/typical.yaml`): twelve resources of eight types, with parameters, conditions, functions, a group of three below it and outputs. A lock is acquired and released in two requests. A snapshot counts from the request until a question finds it complete. Drift is looked for in a stack of {LOOKED} entries of state, each of which is read and compared. A template is validated as `hostler stack validate` does it; the checklist looks at permissions, existence, locks and room as well."
    );
    let mut section = Section::new("What belongs to stacks", how);
    create(client, STACK, TYPICAL).await?;
    create(client, LARGE, &entries()).await?;
    for (what, found, most) in [
        ("acquire a lock and release it", lock(client).await?, 5.0),
        ("take a snapshot", snapshot(client).await?, 20.0),
        ("look for drift of 200 local resources", drift(client).await?, 100.0),
        ("validate a template", validate(client).await?, 50.0),
        ("go through the checklist of a change", checklist(client).await?, 50.0),
    ] {
        let half = quantile(&found, 0.5);
        section.judge(what, format!("{half:.1} ms"), format!("under {most} ms"), half < most);
        let most = quantile(&found, 0.95);
        section.note(format!("{what}: 95 of 100 within"), format!("{most:.1} ms"));
    }
    delete(client, LARGE).await?;
    delete(client, STACK).await?;
    Ok(section)
}

fn entries() -> String {
    let one = |number| {
        let entry = json!({
            "type": "Hostler::StateEntry",
            "properties": { "namespace": "drift", "key": format!("k{number}"), "value": "kept" },
        });
        (format!("r{number}"), entry)
    };
    let resources: serde_json::Map<_, _> = (0..LOOKED).map(one).collect();
    json!({ "heat_template_version": "2018-08-31", "resources": resources }).to_string()
}

async fn lock(client: &Client) -> anyhow::Result<Vec<f64>> {
    times(async || {
        let hold = LockHoldId::from_uuid(Uuid::new_v4());
        let path = StackLockPath { project: project().project, stack: STACK.to_owned(), hold };
        let body: LockAcquireBody = serde_json::from_value(json!({}))?;
        let begun = Instant::now();
        client.call::<StackLockAcquire>(&path, &Nothing {}, &body).await?;
        let query = StackLockReleaseQuery { hold: Some(hold) };
        client.call::<StackLockRelease>(&place(STACK), &query, &Nothing {}).await?;
        Ok(millis(begun))
    })
    .await
}

async fn snapshot(client: &Client) -> anyhow::Result<Vec<f64>> {
    times(async || {
        let begun = Instant::now();
        let body = StackSnapshotBody { name: "bench".to_owned() };
        let taken = client.call::<StackSnapshotCreate>(&place(STACK), &Nothing {}, &body).await?;
        let path = StackSnapshotPath {
            project: project().project,
            stack: STACK.to_owned(),
            snapshot: taken.id,
        };
        until_paced("the snapshot is taken", PACE, async || {
            let found = client.call::<StackSnapshotGet>(&path, &Nothing {}, &Nothing {}).await?;
            ensure!(found.status != StackStatus::Failed, "{}", found.reason);
            Ok((found.status == StackStatus::Complete).then_some(()))
        })
        .await?;
        let took = millis(begun);
        client.call::<StackSnapshotRemove>(&path, &Nothing {}, &Nothing {}).await?;
        Ok(took)
    })
    .await
}

async fn drift(client: &Client) -> anyhow::Result<Vec<f64>> {
    times(async || {
        let begun = Instant::now();
        let found =
            client.call::<StackDriftDetect>(&place(LARGE), &Nothing {}, &Nothing {}).await?;
        let took = millis(begun);
        let looked = usize::try_from(found.looked)?;
        ensure!(looked == LOOKED && !found.is_drifted, "{looked} were looked at");
        Ok(took)
    })
    .await
}

async fn validate(client: &Client) -> anyhow::Result<Vec<f64>> {
    times(async || {
        let body =
            StackTemplateCheckBody { form: form(TYPICAL), needs_values: true, nested: false };
        let begun = Instant::now();
        let found = client.call::<StackTemplateCheck>(&project(), &Nothing {}, &body).await?;
        let took = millis(begun);
        ensure!(found.resources > 0, "there are no resources");
        Ok(took)
    })
    .await
}

async fn checklist(client: &Client) -> anyhow::Result<Vec<f64>> {
    times(async || {
        let body = StackFormCheckBody { name: Some(STACK.parse()?), form: form(TYPICAL) };
        let begun = Instant::now();
        let found = client.call::<StackFormCheck>(&project(), &Nothing {}, &body).await?;
        let took = millis(begun);
        ensure!(found.is_passed, "the checklist is not passed: {:?}", found.lines);
        Ok(took)
    })
    .await
}
