//! Waiting until workloads stand as they were asked to.

use hostler_api::workload::{WorkloadGet, WorkloadPhase, WorkloadView};
use hostler_model::{Code, Desired, Health, Phase, Span};
use tokio::time::Instant;

use super::super::wait::{deadline, settle};
use super::super::{Cx, DONE, Link, NONE};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Failures in a row after which it is not believed any more that it will come up.
const HOPELESS: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    Up,
    Down,
    Gone,
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Yes,
    NotYet,
    Never,
}

pub async fn all(
    cx: &Cx,
    link: &Link,
    asked: Vec<WorkloadView>,
    aim: Aim,
    timeout: Option<Span>,
) -> Outcome {
    let deadline = deadline(timeout);
    let mut settled = Vec::with_capacity(asked.len());
    let mut is_well = true;
    for workload in asked {
        let name = workload.name.to_string();
        match one(cx, link, workload, aim, deadline).await? {
            None => {
                return Err(Failure::told(
                    exit::Code::TimedOut,
                    format!("workload {name} is not there within {}", timeout.unwrap_or_default()),
                    format!(
                        "it goes on; `hostler workload explain {name}` says why it takes so long"
                    ),
                ));
            }
            Some(Found::Gone) => cx.ui.say(&format!("workload {name} is gone")),
            Some(Found::There(view)) => {
                is_well &= verdict(&view, aim) == Verdict::Yes;
                if cx.ui.format().is_none() {
                    cx.ui.say(&sentence(&view));
                }
                settled.push(*view);
            }
        }
    }
    if cx.ui.format().is_some() {
        output::list(&cx.ui, cx.now(), &settled)?;
    }
    Ok(if is_well { DONE } else { exit::Code::Unhealthy.number() })
}

enum Found {
    There(Box<WorkloadView>),
    Gone,
}

async fn one(
    cx: &Cx,
    link: &Link,
    workload: WorkloadView,
    aim: Aim,
    deadline: Option<Instant>,
) -> Result<Option<Found>, Failure> {
    let spinner = cx.ui.spinner(format!("waiting for {}", workload.name));
    let path = link.workload(&workload.id.to_string());
    let fetch = async |_: Span| match link.client.call::<WorkloadGet>(&path, &NONE, &NONE).await {
        Ok(view) => Ok(Found::There(Box::new(view))),
        Err(error) if aim == Aim::Gone && error.is(Code::NotFound) => Ok(Found::Gone),
        Err(error) => Err(error),
    };
    let is_settled = |found: &Found| match found {
        Found::Gone => true,
        Found::There(view) => verdict(view, aim) != Verdict::NotYet,
    };
    let progress = |found: &Found| {
        if let Found::There(view) = found {
            spinner.message(sentence(view));
        }
    };
    settle(deadline, fetch, is_settled, progress).await
}

fn sentence(view: &WorkloadView) -> String {
    let reason = view.status.reason.as_ref().map(|reason| format!(": {reason}"));
    format!("workload {} is {}{}", view.name, view.status.phase, reason.unwrap_or_default())
}

/// A node that still stands under an older revision says nothing of the one that was asked for.
fn verdict(view: &WorkloadView, aim: Aim) -> Verdict {
    let staying = || view.placements.iter().filter(|p| p.desired != Desired::Remove);
    let is_current = staying().all(|p| p.revision == view.revision);
    match aim {
        Aim::Gone => Verdict::NotYet,
        Aim::Down => match view.status.phase {
            WorkloadPhase::Stopped if view.desired == Desired::Stop => Verdict::Yes,
            _ if view.desired == Desired::Stop => Verdict::NotYet,
            _ => Verdict::Never,
        },
        Aim::Up if view.desired != Desired::Run => Verdict::Never,
        Aim::Up if !is_current => Verdict::NotYet,
        Aim::Up => match view.status.phase {
            WorkloadPhase::Running => {
                let is_healthy =
                    view.spec.health.is_empty() || view.status.health == Some(Health::Healthy);
                if is_healthy { Verdict::Yes } else { Verdict::NotYet }
            }
            WorkloadPhase::Idle | WorkloadPhase::Completed
                if view.status.ready >= view.status.wanted =>
            {
                Verdict::Yes
            }
            WorkloadPhase::Failed => Verdict::Never,
            _ if staying().any(is_hopeless) => Verdict::Never,
            _ => Verdict::NotYet,
        },
    }
}

fn is_hopeless(placement: &hostler_api::workload::PlacementView) -> bool {
    placement.phase == Some(Phase::Failed)
        || (placement.phase == Some(Phase::Backoff) && placement.failures >= HOPELESS)
}
