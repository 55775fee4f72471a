//! What can be set about the application.

use std::path::PathBuf;
use std::time::Duration;

use hostler_egress::Egress;
use hostler_engine::liveness::Patience;
use hostler_engine::place::Settings;
use hostler_engine::throttle;
use hostler_model::{Bytes, Role};

use crate::{AuditSink, IdentityConfig, ObjectStoreConfig, OidcConfig, VaultConfig};

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
    /// How long what became of the times of schedules is kept...
    pub schedule_retention: Duration,
    /// ...and how much of it at most, of each schedule.
    pub schedule_history: u32,
    /// How long a node's certificate is valid; it renews itself at two thirds.
    pub node_certificate_ttl: Duration,
    pub server_certificate_ttl: Duration,
    pub web_session_ttl: Duration,
    /// How long a browser stays logged in that nobody uses.
    pub web_session_idle: Duration,
    /// How long whose logins fail has to wait.
    pub login_rules: throttle::Rules,
    /// People with this role or a higher one need a second factor; nobody does when absent.
    pub second_factor_from: Option<Role>,
    /// How many tasks one placement pass places at most; there is another pass at once.
    pub placement_batch: usize,
    /// How many tasks one placement pass looks at, about; it goes on with the rest in the next.
    pub placement_looks: usize,
    /// How nodes are chosen, and what becomes of large and urgent tasks.
    pub placement: Settings,
    pub blobs: BlobLimits,
    pub state: StateLimits,
    pub audit: AuditConfig,
    /// Deliveries of event hooks under way on one server.
    pub hook_workers: usize,
    /// The backups that this server makes by itself.
    pub backup: Option<BackupConfig>,
    pub approvals: ApprovalConfig,
    pub identity: IdentityConfig,
    /// Where people can log in besides here.
    pub oidc: Option<OidcConfig>,
    /// The door for everything that calls out.
    pub egress: Egress,
    /// Where linked secrets are.
    pub vaults: Vec<VaultConfig>,
    /// Where backups of nodes can be kept besides the database.
    pub backup_stores: Vec<ObjectStoreConfig>,
    /// `host:port` where agents reach this installation.
    pub agent_addresses: Vec<String>,
    pub stacks: StackConfig,
}

/// How resources of stacks are signalled from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackConfig {
    /// Where programs reach this installation: what addresses of signals begin with. Empty where nobody said so.
    pub address: String,
    /// How long an address of a signal is good that is not one for as long as its resource is there.
    pub signal_ttl: Duration,
}

impl Default for StackConfig {
    fn default() -> StackConfig {
        StackConfig { address: String::new(), signal_ttl: Duration::from_hours(365 * 24) }
    }
}

/// How the audit record is kept beyond its rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditConfig {
    /// The chain is signed after so many entries...
    pub anchor_every: u64,
    /// ...or after so much time, when there is a new one.
    pub anchor_interval: Duration,
    /// Who else is told of every entry.
    pub sinks: Vec<AuditSink>,
}

impl Default for AuditConfig {
    fn default() -> AuditConfig {
        AuditConfig {
            anchor_every: 1000,
            anchor_interval: Duration::from_hours(1),
            sinks: Vec::new(),
        }
    }
}

/// The backups that a server makes by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupConfig {
    pub directory: PathBuf,
    pub every: Duration,
    /// How many are kept.
    pub keep: usize,
    /// What they are sealed with; absent when they are not.
    pub key_file: Option<PathBuf>,
    pub has_master_key: bool,
    pub has_content: bool,
}

impl Default for BackupConfig {
    fn default() -> BackupConfig {
        BackupConfig {
            directory: PathBuf::new(),
            every: Duration::from_hours(24),
            keep: 7,
            key_file: None,
            has_master_key: false,
            has_content: true,
        }
    }
}

/// Who is told of approvals that are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalConfig {
    pub webhook: Option<ApprovalWebhook>,
    /// Address of the dashboard, for links.
    pub dashboard: String,
}

/// Where news of approvals are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovalWebhook {
    pub url: String,
    /// File with a bearer token, read for every delivery.
    pub token_file: Option<PathBuf>,
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

/// How long changes of state can be looked up, and watched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateLimits {
    pub log_retention: Duration,
    /// Of the log of all projects together; the oldest goes first.
    pub log_max: Bytes,
}

impl Default for StateLimits {
    fn default() -> StateLimits {
        StateLimits { log_retention: Duration::from_hours(24), log_max: Bytes::mib(512) }
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
            schedule_retention: Duration::from_secs(30 * DAY),
            schedule_history: 1000,
            node_certificate_ttl: Duration::from_secs(DAY),
            server_certificate_ttl: Duration::from_secs(7 * DAY),
            web_session_ttl: Duration::from_secs(DAY / 2),
            web_session_idle: Duration::from_secs(DAY / 12),
            login_rules: throttle::Rules::default(),
            second_factor_from: None,
            placement_batch: 1000,
            placement_looks: 16_384,
            placement: Settings::default(),
            blobs: BlobLimits::default(),
            state: StateLimits::default(),
            audit: AuditConfig::default(),
            hook_workers: 500,
            backup: None,
            approvals: ApprovalConfig::default(),
            identity: IdentityConfig::default(),
            oidc: None,
            egress: Egress::default(),
            vaults: Vec::new(),
            backup_stores: Vec::new(),
            agent_addresses: Vec::new(),
            stacks: StackConfig::default(),
        }
    }
}
