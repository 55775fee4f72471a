//! The key figures of the installation over time, kept by this server in memory: coarser the older, gone
//! with the process. For people who have no monitoring besides, and for the dashboard.
//!
//! What the fleet has and does is read from rows, so every server keeps the same; how fast requests are
//! answered and how long tasks waited is what this server saw itself.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hostler_base::chain;
use hostler_base::history::{History, SAMPLE_EVERY};
use hostler_control::{Control, FleetStanding};
use hostler_model::{Figure, FigureSample, NodeState, TaskStateKind, Timestamp};

use crate::metrics::{Answered, Latency, Metrics};

/// What was sampled; shared by the one who samples and those who ask.
#[derive(Default)]
pub(crate) struct FigureBook(Mutex<History<FigureSample>>);

impl FigureBook {
    pub fn since(&self, time: Timestamp) -> Vec<FigureSample> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).since(time)
    }

    fn push(&self, sample: FigureSample) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sample);
    }
}

/// What was counted when the last sample was taken.
struct Before {
    time: Timestamp,
    instant: Duration,
    placed: u64,
    waited: f64,
}

/// Samples until it is stopped. A database that is away leaves a hole.
pub(crate) async fn keep(control: Control, metrics: Metrics) {
    let clock = control.clock().clone();
    let counted = |time, instant| {
        let queue = control.queue_counts();
        Before { time, instant, placed: queue.placed(), waited: queue.wait_seconds }
    };
    let mut before = counted(clock.now(), clock.instant());
    loop {
        clock.sleep(SAMPLE_EVERY).await;
        let (time, instant) = (clock.now(), clock.instant());
        let standing = control.fleet_standing(before.time).await;
        let latency: &Latency = metrics.latency();
        match standing {
            Ok(standing) => {
                let seconds = instant.saturating_sub(before.instant).as_secs_f64();
                let sample = sample(time, seconds, &before, &standing, &latency.take());
                metrics.figures().push(sample);
            }
            Err(error) => tracing::debug!(error = %chain(&error), "figures could not be sampled"),
        }
        before = counted(time, instant);
    }
}

#[expect(clippy::cast_precision_loss, reason = "figures for people need no more than 52 bits")]
fn sample(
    time: Timestamp,
    seconds: f64,
    before: &Before,
    standing: &FleetStanding,
    answered: &Answered,
) -> FigureSample {
    let seconds = seconds.max(0.001);
    let fleet = &standing.fleet;
    let nodes = |state| fleet.nodes.get(&state).copied().unwrap_or(0) as f64;
    let mut sample = FigureSample::new(time, seconds)
        .with(Figure::NodesOnline, nodes(NodeState::Online))
        .with(Figure::NodesStale, nodes(NodeState::Stale))
        .with(Figure::NodesOffline, nodes(NodeState::Offline))
        .with(Figure::TasksEnded, standing.ended as f64 / seconds)
        .with(Figure::CpuUsed, fleet.cpu_used)
        .with(Figure::CpuTotal, fleet.cpu_total)
        .with(Figure::MemoryUsed, fleet.memory_used)
        .with(Figure::MemoryTotal, fleet.memory_total)
        .with(Figure::GpuUsed, fleet.gpu_used)
        .with(Figure::GpuTotal, fleet.gpu_total)
        .with(Figure::ApiRequests, answered.requests as f64 / seconds)
        .with(Figure::ApiErrors, answered.errors as f64 / seconds);
    for state in TaskStateKind::ALL {
        if let Some(figure) = Figure::of_tasks(*state) {
            let known = standing.tasks.iter().find(|(other, _)| other == state);
            sample = sample.with(figure, known.map_or(0, |(_, count)| *count) as f64);
        }
    }
    let placed = standing.queue.placed().saturating_sub(before.placed);
    if placed > 0 {
        let waited = (standing.queue.wait_seconds - before.waited).max(0.0);
        sample = sample
            .with(Figure::QueueWait, waited / placed as f64)
            .with(Figure::QueueWaitMost, standing.wait_most);
    }
    for (figure, value) in
        [(Figure::ApiLatency, answered.mean()), (Figure::ApiLatencyHigh, answered.high())]
    {
        if let Some(value) = value {
            sample = sample.with(figure, value);
        }
    }
    sample
}

#[cfg(test)]
mod tests {
    use hostler_control::{FleetSums, QueueCounts};

    use super::*;

    #[test]
    fn counts_become_rates_and_nothing_becomes_nothing() {
        let time = Timestamp::from_micros(1_000_000);
        let before =
            Before { time: Timestamp::EPOCH, instant: Duration::ZERO, placed: 1, waited: 10.0 };
        let mut standing = FleetStanding {
            fleet: FleetSums { cpu_used: 1.5, cpu_total: 4.0, ..FleetSums::default() },
            tasks: vec![(TaskStateKind::Running, 3), (TaskStateKind::Completed, 100)],
            ended: 5,
            queue: QueueCounts { wait_seconds: 10.0, ..QueueCounts::default() },
            wait_most: 7.0,
        };
        standing.queue.waits[0] = 1;
        let of = |standing: &FleetStanding, figure| {
            sample(time, 10.0, &before, standing, &Answered::default()).get(figure)
        };
        assert_eq!(of(&standing, Figure::TasksEnded), Some(0.5));
        assert_eq!(of(&standing, Figure::TasksRunning), Some(3.0));
        assert_eq!(of(&standing, Figure::TasksPending), Some(0.0));
        assert_eq!(of(&standing, Figure::QueueWait), None, "nothing was placed");
        assert_eq!(of(&standing, Figure::ApiLatency), None, "nobody asked");
        standing.queue.waits[3] = 2;
        standing.queue.wait_seconds = 13.0;
        assert_eq!(of(&standing, Figure::QueueWait), Some(1.5));
        assert_eq!(of(&standing, Figure::QueueWaitMost), Some(7.0));
    }
}
