//! How long one short task takes, from its submission to the answer that it has ended.

use std::path::Path;
use std::time::Instant;

use anyhow::ensure;
use hostler_api::Nothing;
use hostler_api::task::{TaskGet, TaskGetQuery, TaskSubmit};
use hostler_model::{Span, TaskStateKind};

use crate::figures::{Section, quantile};
use crate::rig::Rig;
use crate::throughput::{body, project, task};

const TIMES: usize = 50;
const WARM_UP: usize = 5;

pub async fn measure(binary: &Path) -> anyhow::Result<Section> {
    let rig = Rig::with_agent(binary).await?;
    let mut millis = Vec::new();
    for _ in 0..TIMES + WARM_UP {
        millis.push(once(&rig).await?);
    }
    let millis = &millis[WARM_UP..];
    let how = format!(
        "One task `true` at a time, submitted and waited for through the client, {TIMES} times on an idle installation (after {WARM_UP} to warm up)."
    );
    let mut section = Section::new("Latency", how);
    for (what, share) in [("median", 0.5), ("95 of 100 within", 0.95), ("slowest", 1.0)] {
        section
            .note(format!("submit to end: {what}"), format!("{:.1} ms", quantile(millis, share)));
    }
    Ok(section)
}

async fn once(rig: &Rig) -> anyhow::Result<f64> {
    let begun = Instant::now();
    let made = rig.client.call::<TaskSubmit>(&project(), &Nothing {}, &body(&["true"])).await?;
    let wait = TaskGetQuery { wait: Some(Span::from_secs(30)) };
    let ended = rig.client.call::<TaskGet>(&task(made.id), &wait, &Nothing {}).await?;
    let took = begun.elapsed();
    ensure!(ended.status.state == TaskStateKind::Completed, "a task did not complete");
    Ok(took.as_secs_f64() * 1000.0)
}
