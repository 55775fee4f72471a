//! What can be set about the application.

use std::time::Duration;

use hostler_engine::liveness::Patience;
use hostler_engine::place::Settings;
use hostler_model::Bytes;

#[derive(Clone, Debug)]
pub struct ControlConfig {
    /// How often agents say that they are alive.
    pub heartbeat: Duration,
    pub patience: Patience,
    /// A workload on a node that has been away for this long gets another node in its place.
    pub replace_after: Duration,
    /// How long events are kept.
    pub event_retention: Duration,
    /// How long ended tasks are kept.
    pub task_retention: Duration,
    /// How long a node's certificate is valid; it renews itself at two thirds.
    pub node_certificate_ttl: Duration,
    pub server_certificate_ttl: Duration,
    pub web_session_ttl: Duration,
    /// How many tasks one placement pass places at most; there is another pass at once.
    pub placement_batch: usize,
    /// How many tasks one placement pass looks at, about; it goes on with the rest in the next.
    pub placement_looks: usize,
    /// How nodes are chosen, and what becomes of large and urgent tasks.
    pub placement: Settings,
    pub blobs: BlobLimits,
    /// `host:port` where agents reach this installation.
    pub agent_addresses: Vec<String>,
}

/// How much content is kept, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobLimits {
    /// Of one blob.
    pub size_max: Bytes,
    /// Of everything together, as it is kept.
    pub total_max: Bytes,
    /// How long what nothing needs is kept after it was last asked for.
    pub retention: Duration,
}

impl Default for BlobLimits {
    fn default() -> BlobLimits {
        BlobLimits {
            size_max: Bytes::mib(20 << 10),
            total_max: Bytes::mib(100 << 10),
            retention: Duration::from_hours(7 * 24),
        }
    }
}

impl Default for ControlConfig {
    fn default() -> ControlConfig {
        const DAY: u64 = 86_400;
        ControlConfig {
            heartbeat: Duration::from_secs(5),
            patience: Patience::default(),
            replace_after: Duration::from_secs(300),
            event_retention: Duration::from_secs(30 * DAY),
            task_retention: Duration::from_secs(30 * DAY),
            node_certificate_ttl: Duration::from_secs(DAY),
            server_certificate_ttl: Duration::from_secs(7 * DAY),
            web_session_ttl: Duration::from_secs(DAY / 2),
            placement_batch: 1000,
            placement_looks: 16_384,
            placement: Settings::default(),
            blobs: BlobLimits::default(),
            agent_addresses: Vec::new(),
        }
    }
}
