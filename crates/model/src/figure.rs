//! Key figures of an installation over time: what servers keep in memory, for people who have no monitoring
//! besides.

use crate::{TaskStateKind, Timestamp};

crate::labels! {
    /// A figure that is kept over time.
    pub enum Figure ("figure") {
        NodesOnline = "nodes.online",
        NodesStale = "nodes.stale",
        NodesOffline = "nodes.offline",
        TasksPending = "tasks.pending",
        TasksAssigning = "tasks.assigning",
        TasksRunning = "tasks.running",
        TasksPaused = "tasks.paused",
        /// Tasks that ended, a second.
        TasksEnded = "tasks.ended",
        /// How long tasks waited for a node, on average, of those this server placed.
        QueueWait = "queue.wait",
        QueueWaitMost = "queue.wait-most",
        CpuUsed = "cpu.used",
        CpuTotal = "cpu.total",
        MemoryUsed = "memory.used",
        MemoryTotal = "memory.total",
        GpuUsed = "gpu.used",
        GpuTotal = "gpu.total",
        /// Requests to this server, a second.
        ApiRequests = "api.requests",
        /// Requests that this server could not serve, a second.
        ApiErrors = "api.errors",
        /// Time until the answer, on average.
        ApiLatency = "api.latency",
        /// Nineteen of twenty requests were faster.
        ApiLatencyHigh = "api.latency-p95",
    }
}

crate::labels! {
    /// What a figure is measured in.
    pub enum FigureUnit ("unit") {
        Count = "count",
        PerSecond = "per-second",
        Seconds = "seconds",
        Cores = "cores",
        Bytes = "bytes",
    }
}

impl Figure {
    pub const fn unit(self) -> FigureUnit {
        match self {
            Figure::TasksEnded | Figure::ApiRequests | Figure::ApiErrors => FigureUnit::PerSecond,
            Figure::QueueWait
            | Figure::QueueWaitMost
            | Figure::ApiLatency
            | Figure::ApiLatencyHigh => FigureUnit::Seconds,
            Figure::CpuUsed | Figure::CpuTotal => FigureUnit::Cores,
            Figure::MemoryUsed | Figure::MemoryTotal => FigureUnit::Bytes,
            _ => FigureUnit::Count,
        }
    }

    /// Of a longer time the most is told, not the average.
    const fn is_most(self) -> bool {
        matches!(self, Figure::QueueWaitMost | Figure::ApiLatencyHigh)
    }

    /// The figure that counts tasks in a state, where one does.
    pub const fn of_tasks(state: TaskStateKind) -> Option<Figure> {
        match state {
            TaskStateKind::Pending => Some(Figure::TasksPending),
            TaskStateKind::Assigning => Some(Figure::TasksAssigning),
            TaskStateKind::Running => Some(Figure::TasksRunning),
            TaskStateKind::Paused => Some(Figure::TasksPaused),
            _ => None,
        }
    }
}

const COUNT: usize = Figure::ALL.len();

/// All figures for a stretch of time; one that there was nothing to measure of is absent.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSample {
    /// The end of the stretch.
    pub time: Timestamp,
    pub seconds: f64,
    values: [Option<f64>; COUNT],
}

impl FigureSample {
    pub fn new(time: Timestamp, seconds: f64) -> FigureSample {
        FigureSample { time, seconds, values: [None; COUNT] }
    }

    #[must_use]
    pub fn with(mut self, figure: Figure, value: f64) -> FigureSample {
        self.values[figure as usize] = Some(value).filter(|value| value.is_finite());
        self
    }

    pub fn get(&self, figure: Figure) -> Option<f64> {
        self.values[figure as usize]
    }

    /// What both say together: averages by their lengths, the most where that is what is told.
    #[must_use]
    pub fn joined(&self, later: &FigureSample) -> FigureSample {
        let seconds = self.seconds + later.seconds;
        let mut joined = FigureSample::new(later.time, seconds);
        for figure in Figure::ALL {
            let value = match (self.get(*figure), later.get(*figure)) {
                (Some(a), Some(b)) if figure.is_most() => Some(a.max(b)),
                (Some(a), Some(b)) if seconds > 0.0 => {
                    Some((a * self.seconds + b * later.seconds) / seconds)
                }
                (a, b) => b.or(a),
            };
            joined.values[*figure as usize] = value;
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_stretches_make_those_of_one() {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let first = FigureSample::new(at(10), 10.0)
            .with(Figure::CpuUsed, 1.0)
            .with(Figure::QueueWaitMost, 9.0)
            .with(Figure::GpuUsed, f64::NAN);
        let later = FigureSample::new(at(40), 30.0)
            .with(Figure::CpuUsed, 3.0)
            .with(Figure::QueueWaitMost, 2.0)
            .with(Figure::QueueWait, 2.0);
        let joined = first.joined(&later);
        assert_eq!((joined.time, joined.seconds), (at(40), 40.0));
        let of = |figure| joined.get(figure);
        assert_eq!(of(Figure::CpuUsed), Some(2.5));
        assert_eq!(of(Figure::QueueWaitMost), Some(9.0));
        assert_eq!(of(Figure::QueueWait), Some(2.0), "there was none before");
        assert_eq!(of(Figure::GpuUsed), None);
    }
}
