//! Timelines.

use clap::Args;
use hostler_model::TimelineSource;

use super::{When, labels_of};

/// Show everything that touched an object, newest first
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  hostler timeline workload/web\n  hostler timeline node/web-1 --since 1d\n  hostler timeline backup-7f3a --source event,run\n  hostler timeline custom/deploy -o json\n\nIt has events about the object and those that it caused, events of the nodes it was on, ends of runs, times of\nschedules, deliveries of hooks, and what people did. What you may not see is left out, and said to be."
)]
pub struct TimelineArgs {
    /// Which object: KIND/NAME such as workload/web, or only its name or id where that is clear
    #[arg(value_name = "OBJECT")]
    pub object: String,
    /// From this time on: a moment such as 2026-01-31T12:00:00Z, or how long ago, such as 10m
    #[arg(long, value_name = "WHEN")]
    pub since: Option<When>,
    /// Up to this time
    #[arg(long, value_name = "WHEN")]
    pub until: Option<When>,
    /// Only from these sources
    #[arg(long, value_name = "SOURCE,..", value_delimiter = ',', value_parser = labels_of!(TimelineSource))]
    pub source: Vec<TimelineSource>,
    /// At most this many; 0 for all
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub limit: usize,
}
