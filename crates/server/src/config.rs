//! The configuration of a server: defaults, then a TOML file, then the environment, then flags.
//!
//! Every setting is declared once in [`settings!`], with its type, default and meaning; the reader of
//! the environment and the reference page are made from the same list. What does not exist is an
//! error that names it. `listen = "..."` in the file is `HOSTLER_SERVER__LISTEN` in the environment,
//! and a key of a section has its section in front: `HOSTLER_SERVER__PATIENCE__LOST_AFTER`.
//!
//! The configuration is read once, at the start, and checked as a whole before anything is opened.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use hostler_base::host::host_name;
use hostler_base::log::{LogConfig, LogFormat, TelemetryConfig};
use hostler_control::{BlobLimits, ControlConfig, StateLimits};
use hostler_model::{Bytes, Role, Span};
use hostler_trust::MasterKey;
use serde::Deserialize;
use toml::{Table, Value};

use crate::http::{ConnectionLimits, Rate, Rates};

mod keys;
mod reference;
#[cfg(test)]
mod tests;

pub use reference::reference_markdown;

const ENV_PREFIX: &str = "HOSTLER_SERVER__";

/// A setting as documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: &'static str,
    pub kind: Kind,
    pub default: &'static str,
    pub doc: &'static str,
}

/// How a setting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Number,
    Flag,
    /// In the environment: separated by commas.
    List,
    Section(&'static [Setting]),
    /// Any number of sections of one kind; only in the file.
    Sections(&'static [Setting]),
    /// Any number of sections, each under a name; only in the file.
    Named(&'static [Setting]),
}

macro_rules! settings {
    ($(#[doc = $about:literal])+ $type:ident $list:ident {
        $(#[doc = $doc:literal] $name:ident: $field:ty = $default:expr, $kind:expr, $shown:literal;)+
    }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $type { $(#[doc = $doc] pub $name: $field,)+ }

        impl Default for $type {
            fn default() -> $type { $type { $($name: $default,)+ } }
        }

        /// Every key, in the order of the reference page.
        pub const $list: &[Setting] = &[$(Setting {
            name: stringify!($name),
            kind: $kind,
            default: $shown,
            doc: $doc.trim_ascii(),
        },)+];
    };
}

mod approvals;
mod audit;
mod backup;
mod backup_store;
mod egress;
mod identity;
mod oidc;
mod stacks;
mod tls;
mod vault;

pub use approvals::{APPROVAL_SETTINGS, ApprovalsSection};
pub use audit::{AUDIT_SETTINGS, AuditSection, SINK_SETTINGS, SinkSection};
pub use backup::{BACKUP_SETTINGS, BackupSection};
pub use backup_store::{BACKUP_STORE_SETTINGS, BackupStoreSection};
pub use egress::{EGRESS_SETTINGS, EgressSection};
pub use identity::{IDENTITY_SETTINGS, IdentitySection};
pub use oidc::{OIDC_SETTINGS, OidcSection};
pub use stacks::{
    HEAT_SETTINGS, HeatSection, SIGNAL_SETTINGS, STACKS_SETTINGS, SignalSection, StacksSection,
};
pub use tls::{TLS_SETTINGS, TlsSection};
pub use vault::{VAULT_SETTINGS, VaultSection};

settings! {
    /// Everything that can be set about a server.
    ServerConfig SETTINGS {
        /// Where this server keeps its files: the embedded database, the master key.
        data_dir: PathBuf = "/var/lib/hostler".into(), Kind::Text, "/var/lib/hostler";
        /// Database: `sqlite:/path/file.db`, or `postgres://user@host/name` (PostgreSQL or CockroachDB) to run several servers.
        database: Option<String> = None, Kind::Text, "sqlite in `data_dir`";
        /// Address and port of the API and the dashboard.
        listen: SocketAddr = SocketAddr::from(([0, 0, 0, 0], 7443)), Kind::Text, "0.0.0.0:7443";
        /// Address and port that agents and other servers connect to.
        agent_listen: SocketAddr = SocketAddr::from(([0, 0, 0, 0], 7444)), Kind::Text, "0.0.0.0:7444";
        /// Names and addresses under which this server is reached; the first is given to agents.
        advertise: Vec<String> = Vec::new(), Kind::List, "the host name";
        /// Name of this server in lists and logs.
        name: Option<String> = None, Kind::Text, "the host name";
        /// File with the master key, 32 bytes in base64, mode 0600. Made on the first start with SQLite; with PostgreSQL it must be there, the same on every server. When it is not set and systemd gives a credential `hostler-master-key`, that is the key. Former keys are read from the same name with `.former`.
        master_key_file: Option<PathBuf> = None, Kind::Text, "`data_dir`/master.key";
        /// File with a passphrase to derive the master key from (argon2id), instead of a file with the key; its first line, at least 20 characters. A descriptor such as `/dev/fd/3` will do.
        master_passphrase_file: Option<PathBuf> = None, Kind::Text, "nowhere";
        /// File with the passphrase before, while what it sealed is sealed anew.
        master_passphrase_former_file: Option<PathBuf> = None, Kind::Text, "nowhere";
        /// Serve metrics here as well, in plain text and without a credential.
        metrics_listen: Option<SocketAddr> = None, Kind::Text, "nowhere";
        /// Allow `metrics_listen` to be reached from other machines.
        metrics_allow_remote: bool = false, Kind::Flag, "false";
        /// `text` for people or `json` for machines.
        log_format: LogFormat = LogFormat::Text, Kind::Text, "text";
        /// What is logged, such as `info` or `info,hostler_server=debug`.
        log_filter: String = "info".into(), Kind::Text, "info";
        /// Send traces to the OTLP/gRPC collector at this address.
        otlp_endpoint: Option<String> = None, Kind::Text, "nowhere";
        /// How often agents say that they are alive.
        heartbeat: Span = Span::from_secs(5), Kind::Text, "5s";
        /// How long events are kept.
        event_retention: Span = Span::from_secs(30 * 86_400), Kind::Text, "30d";
        /// How long tasks and executions of workflows are kept after they ended.
        task_retention: Span = Span::from_secs(30 * 86_400), Kind::Text, "30d";
        /// How long it is kept what became of the times of schedules...
        schedule_retention: Span = Span::from_secs(30 * 86_400), Kind::Text, "30d";
        /// ...and of how many times at most, of each schedule.
        schedule_history: u32 = 1000, Kind::Number, "1000";
        /// How long a browser stays logged in.
        web_session_ttl: Span = Span::from_secs(43_200), Kind::Text, "12h";
        /// How long a browser stays logged in that nobody uses.
        web_session_idle: Span = Span::from_secs(7200), Kind::Text, "2h";
        /// People with this role or a higher one, anywhere, need a second factor: until they have one, nothing is allowed to them but to enrol.
        second_factor_from: Option<Role> = None, Kind::Text, "no role";
        /// How long nodes may be quiet.
        patience: PatienceConfig = PatienceConfig::default(), Kind::Section(PATIENCE_SETTINGS), "";
        /// How much content is kept: images, and files of tasks.
        blobs: BlobsConfig = BlobsConfig::default(), Kind::Section(BLOB_SETTINGS), "";
        /// How long changes of state can be looked up, and watched from.
        state: StateConfig = StateConfig::default(), Kind::Section(STATE_SETTINGS), "";
        /// The audit record beyond the database: signed anchors, and sinks that are told of every entry.
        audit: AuditSection = AuditSection::default(), Kind::Section(AUDIT_SETTINGS), "";
        /// The backups that a server makes by itself.
        backup: BackupSection = BackupSection::default(), Kind::Section(BACKUP_SETTINGS), "";
        /// Who is told of approvals that are asked for.
        approvals: ApprovalsSection = ApprovalsSection::default(), Kind::Section(APPROVAL_SETTINGS), "";
        /// What may be called from here: by hooks, identity providers, vaults, audit sinks.
        egress: EgressSection = EgressSection::default(), Kind::Section(EGRESS_SETTINGS), "";
        /// Tokens with which what runs proves what it is.
        identity: IdentitySection = IdentitySection::default(), Kind::Section(IDENTITY_SETTINGS), "";
        /// An identity provider where people can log in.
        oidc: OidcSection = OidcSection::default(), Kind::Section(OIDC_SETTINGS), "";
        /// Vaults outside that secrets can lead to, each under a name of its own.
        vault: BTreeMap<String, VaultSection> = BTreeMap::new(), Kind::Named(VAULT_SETTINGS), "";
        /// Object stores that backups of nodes can be kept in, each under a name of its own.
        backup_store: BTreeMap<String, BackupStoreSection> = BTreeMap::new(), Kind::Named(BACKUP_STORE_SETTINGS), "";
        /// What speaks with stacks besides the API, each on an address of its own.
        stacks: StacksSection = StacksSection::default(), Kind::Section(STACKS_SETTINGS), "";
        /// The certificate that browsers see. Hostler's own clients and agents go on using that of the installation.
        tls: TlsSection = TlsSection::default(), Kind::Section(TLS_SETTINGS), "";
        /// How much is served at once.
        limits: LimitsConfig = LimitsConfig::default(), Kind::Section(LIMIT_SETTINGS), "";
    }
}

settings! {
    /// How long nodes may be quiet.
    PatienceConfig PATIENCE_SETTINGS {
        /// After this long nothing new is placed on the node.
        stale_after: Span = Span::from_secs(20), Kind::Text, "20s";
        /// After this long the node counts as away.
        offline_after: Span = Span::from_secs(90), Kind::Text, "1m30s";
        /// After this long what ran there is declared lost.
        lost_after: Span = Span::from_secs(600), Kind::Text, "10m";
        /// After this long, though never before the node counts as away, another node takes over its workloads that are not bound to it.
        replace_after: Span = Span::from_secs(300), Kind::Text, "5m";
    }
}

settings! {
    /// How much content is kept: images, and files of tasks.
    BlobsConfig BLOB_SETTINGS {
        /// Of one blob.
        size_max: Bytes = Bytes::mib(20 << 10), Kind::Text, "20GiB";
        /// Of everything together, as it is kept.
        total_max: Bytes = Bytes::mib(100 << 10), Kind::Text, "100GiB";
        /// How long what nothing needs is kept after it was last asked for.
        retention: Span = Span::from_secs(7 * 86_400), Kind::Text, "7d";
    }
}

settings! {
    /// How long changes of state can be looked up, and watched from.
    StateConfig STATE_SETTINGS {
        /// How long they are kept.
        log_retention: Span = Span::from_secs(86_400), Kind::Text, "24h";
        /// How much of them is kept, of all projects together; the oldest go first.
        log_max: Bytes = Bytes::mib(512), Kind::Text, "512MiB";
    }
}

settings! {
    /// How much is served at once.
    LimitsConfig LIMIT_SETTINGS {
        /// Connections to the API; more wait.
        connections: u32 = 8192, Kind::Number, "8192";
        /// Connections of one address; more are closed.
        connections_per_source: u32 = 2048, Kind::Number, "2048";
        /// Open watch and log streams.
        streams: u32 = 4096, Kind::Number, "4096";
        /// Requests of one principal in a second, on average.
        requests_per_second: u32 = 2000, Kind::Number, "2000";
        /// Requests of one principal at once.
        requests_burst: u32 = 4000, Kind::Number, "4000";
        /// Requests of one principal that are worked on at once.
        requests_at_once: u32 = 512, Kind::Number, "512";
        /// Requests of one address in a second, on average, whoever makes them.
        source_requests_per_second: u32 = 10_000, Kind::Number, "10000";
        /// Requests of one address at once.
        source_requests_burst: u32 = 20_000, Kind::Number, "20000";
        /// How long the head of a request may take to arrive.
        head_time: Span = Span::from_secs(30), Kind::Text, "30s";
        /// How long the body of a request may take to arrive.
        body_time: Span = Span::from_secs(30), Kind::Text, "30s";
        /// How long a client may take nothing of an answer that waits for it.
        stall_time: Span = Span::from_secs(60), Kind::Text, "1m";
        /// Logins of one address in a minute, on average.
        logins_per_minute: u32 = 30, Kind::Number, "30";
        /// Joins of one address in a second, on average.
        joins_per_second: u32 = 100, Kind::Number, "100";
    }
}

/// What flags say; absent means not given.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub data_dir: Option<PathBuf>,
    pub database: Option<String>,
    pub listen: Option<SocketAddr>,
    pub agent_listen: Option<SocketAddr>,
    /// Empty means not given.
    pub advertise: Vec<String>,
    pub name: Option<String>,
    pub master_key_file: Option<PathBuf>,
    pub metrics_listen: Option<SocketAddr>,
    pub log_format: Option<LogFormat>,
    pub log_filter: Option<String>,
    pub otlp_endpoint: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the configuration file {} cannot be read", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the configuration file {} is wrong; `docs/reference/config.md` lists every key", path.display())]
    File {
        path: PathBuf,
        #[source]
        source: Box<toml::de::Error>,
    },
    #[error("the environment variable {name} is wrong: {problem}")]
    Environment { name: String, problem: String },
    #[error("the configuration is wrong; `docs/reference/config.md` lists every key")]
    Whole(#[source] Box<toml::de::Error>),
    #[error("`{setting}` is wrong: {problem}")]
    Setting { setting: &'static str, problem: String },
    #[error("the master key cannot be used")]
    MasterKey(#[source] hostler_trust::seal::Error),
    #[error(
        "the master key is missing and is never made for a shared database: copy master.key from the first server, or for a new installation make one with `head -c 32 /dev/urandom | base64` (mode 0600), and name it in `master_key_file`"
    )]
    MasterKeyMissing(#[source] hostler_trust::seal::Error),
}

impl ServerConfig {
    /// Reads everything there is. `base` holds the defaults to start from.
    pub fn load(
        base: ServerConfig,
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
        overrides: Overrides,
    ) -> Result<ServerConfig, ConfigError> {
        let mut table = match file {
            Some(path) => read_file(path)?,
            None => Table::new(),
        };
        for (name, value) in environment {
            if let Some(key) = name.strip_prefix(ENV_PREFIX) {
                let problem = |problem| ConfigError::Environment { name: name.clone(), problem };
                set(&mut table, SETTINGS, key, &value).map_err(problem)?;
            }
        }
        for (key, value) in [
            ("listen", base.listen.to_string()),
            ("agent_listen", base.agent_listen.to_string()),
            ("data_dir", base.data_dir.display().to_string()),
        ] {
            table.entry(key).or_insert(Value::String(value));
        }
        let read: ServerConfig =
            table.try_into().map_err(|source| ConfigError::Whole(Box::new(source)))?;
        let config = read.overridden(overrides);
        config.check()?;
        Ok(config)
    }

    /// The defaults of `hostler up`: this machine only.
    pub fn for_up(data_dir: PathBuf) -> ServerConfig {
        ServerConfig {
            data_dir,
            listen: SocketAddr::from(([127, 0, 0, 1], 7443)),
            agent_listen: SocketAddr::from(([127, 0, 0, 1], 7444)),
            ..ServerConfig::default()
        }
    }

    fn overridden(self, flags: Overrides) -> ServerConfig {
        ServerConfig {
            data_dir: flags.data_dir.unwrap_or(self.data_dir),
            database: flags.database.or(self.database),
            listen: flags.listen.unwrap_or(self.listen),
            agent_listen: flags.agent_listen.unwrap_or(self.agent_listen),
            advertise: match flags.advertise.is_empty() {
                true => self.advertise,
                false => flags.advertise,
            },
            name: flags.name.or(self.name),
            master_key_file: flags.master_key_file.or(self.master_key_file),
            metrics_listen: flags.metrics_listen.or(self.metrics_listen),
            log_format: flags.log_format.unwrap_or(self.log_format),
            log_filter: flags.log_filter.unwrap_or(self.log_filter),
            otlp_endpoint: flags.otlp_endpoint.or(self.otlp_endpoint),
            ..self
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: &str| {
            Err(ConfigError::Setting { setting, problem: problem.to_owned() })
        };
        let url = self.database_url();
        if !["sqlite:", "postgres://", "postgresql://"].iter().any(|s| url.starts_with(s)) {
            return wrong("database", "it begins with `sqlite:` or `postgres://`");
        }
        if let Some(address) = self.metrics_listen
            && !address.ip().is_loopback()
            && !self.metrics_allow_remote
        {
            return wrong(
                "metrics_listen",
                "metrics are served there to anybody; use a loopback address, or set `metrics_allow_remote`",
            );
        }
        if let Err(error) = hostler_base::log::filter(&self.log_filter) {
            return wrong("log_filter", &error.to_string());
        }
        if !(Span::from_millis(100)..=Span::from_secs(60)).contains(&self.heartbeat) {
            return wrong("heartbeat", "it is 100ms to 60s");
        }
        let patience = &self.patience;
        if patience.stale_after < Span::from_millis(self.heartbeat.millis() * 2) {
            return wrong("patience.stale_after", "it is at least two heartbeats");
        }
        if patience.offline_after <= patience.stale_after {
            return wrong("patience.offline_after", "it is longer than `stale_after`");
        }
        if patience.lost_after < patience.offline_after {
            return wrong("patience.lost_after", "it is not shorter than `offline_after`");
        }
        if self.web_session_ttl < Span::from_secs(60) {
            return wrong("web_session_ttl", "it is at least 1m");
        }
        if self.web_session_idle < Span::from_secs(60) {
            return wrong("web_session_idle", "it is at least 1m");
        }
        let limits = &self.limits;
        let amounts = [
            limits.connections,
            limits.connections_per_source,
            limits.streams,
            limits.requests_per_second,
            limits.requests_burst,
            limits.logins_per_minute,
            limits.joins_per_second,
            limits.requests_at_once,
            limits.source_requests_per_second,
            limits.source_requests_burst,
        ];
        if amounts.contains(&0) {
            return wrong("limits", "none of them can be 0");
        }
        let times = [limits.head_time, limits.body_time, limits.stall_time];
        if times.iter().any(|time| *time < Span::from_millis(100)) {
            return wrong("limits", "times are at least 100ms");
        }
        if let Some(bad) = self.advertise.iter().find(|name| !is_host(name)) {
            return wrong(
                "advertise",
                &format!("`{bad}` is not a host name or address (without port)"),
            );
        }
        self.tls.check()?;
        self.audit.check()?;
        self.backup.check()?;
        self.approvals.check()?;
        self.identity.check()?;
        self.oidc.check()?;
        vault::check(&self.vault)?;
        backup_store::check(&self.backup_store)?;
        self.stacks.check()?;
        self.egress.check()
    }

    /// The name of the file in the data directory, where no other database is named.
    pub const DATABASE_FILE: &'static str = "hostler.db";

    pub fn database_url(&self) -> String {
        match &self.database {
            Some(url) => url.clone(),
            None => format!("sqlite:{}", self.data_dir.join(Self::DATABASE_FILE).display()),
        }
    }

    fn is_embedded(&self) -> bool {
        self.database_url().starts_with("sqlite:")
    }

    pub fn master_key_path(&self) -> PathBuf {
        match &self.master_key_file {
            Some(path) => path.clone(),
            None => self.data_dir.join("master.key"),
        }
    }

    /// Reads the master key from its file; makes it only where no other server can have another.
    pub fn master_key(&self) -> Result<MasterKey, ConfigError> {
        let path = self.master_key_path();
        if self.is_embedded() {
            return MasterKey::load_or_create(&path).map_err(ConfigError::MasterKey);
        }
        MasterKey::load(&path).map_err(|error| match error {
            hostler_trust::seal::Error::File { ref source, .. }
                if source.kind() == std::io::ErrorKind::NotFound =>
            {
                ConfigError::MasterKeyMissing(error)
            }
            error => ConfigError::MasterKey(error),
        })
    }

    pub fn server_name(&self) -> String {
        self.name.clone().unwrap_or_else(host_name)
    }

    /// Names and addresses for the certificate, so that browsers accept it under all of them.
    pub fn certificate_names(&self) -> Vec<String> {
        let mut names = self.advertise.clone();
        names.push(host_name());
        names.extend(["localhost", "127.0.0.1", "::1"].map(str::to_owned));
        for address in [self.listen.ip(), self.agent_listen.ip()] {
            if !address.is_unspecified() {
                names.push(address.to_string());
            }
        }
        names.retain(|name| is_host(name));
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    /// `host:port` under which a listener that got the address `bound` is reached from elsewhere.
    pub fn advertised(&self, bound: SocketAddr) -> String {
        let host = match (self.advertise.first(), bound.ip()) {
            (Some(name), _) => name.clone(),
            (None, ip) if ip.is_unspecified() => host_name(),
            (None, ip) => ip.to_string(),
        };
        match host.parse::<IpAddr>() {
            Ok(IpAddr::V6(six)) => format!("[{six}]:{}", bound.port()),
            _ => format!("{host}:{}", bound.port()),
        }
    }

    /// For the application. `agent_address` is where agents reach this server.
    pub fn control(&self, agent_address: String) -> ControlConfig {
        let mut config = ControlConfig {
            heartbeat: self.heartbeat.duration(),
            event_retention: self.event_retention.duration(),
            task_retention: self.task_retention.duration(),
            schedule_retention: self.schedule_retention.duration(),
            schedule_history: self.schedule_history.max(1),
            web_session_ttl: self.web_session_ttl.duration(),
            web_session_idle: self.web_session_idle.duration(),
            second_factor_from: self.second_factor_from,
            replace_after: self.patience.replace_after.duration(),
            blobs: BlobLimits {
                size_max: self.blobs.size_max,
                total_max: self.blobs.total_max,
                retention: self.blobs.retention.duration(),
            },
            state: StateLimits {
                log_retention: self.state.log_retention.duration(),
                log_max: self.state.log_max,
            },
            audit: self.audit.control(),
            backup: self.backup.control(),
            approvals: self.approvals.control(&self.advertised(self.listen)),
            egress: self.egress.door(),
            identity: self.identity.control(),
            vaults: vault::control(&self.vault),
            backup_stores: backup_store::control(&self.backup_store),
            stacks: self.stacks(self.stacks.signal.listen),
            agent_addresses: vec![agent_address],
            ..ControlConfig::default()
        };
        config.patience.stale_after = self.patience.stale_after.duration();
        config.patience.offline_after = self.patience.offline_after.duration();
        config.patience.lost_after = self.patience.lost_after.duration();
        config
    }

    pub fn rates(&self) -> Rates {
        let limits = &self.limits;
        let joins = f64::from(limits.joins_per_second);
        let logins = f64::from(limits.logins_per_minute);
        Rates {
            login_source: Rate::new(logins, logins / 60.0),
            join_source: Rate::new(joins * 20.0, joins),
            principal: Rate::new(
                f64::from(limits.requests_burst),
                f64::from(limits.requests_per_second),
            ),
            source: Rate::new(
                f64::from(limits.source_requests_burst),
                f64::from(limits.source_requests_per_second),
            ),
            at_once: limits.requests_at_once as usize,
            body_time: limits.body_time.duration(),
            ..Rates::default()
        }
    }

    pub fn connection_limits(&self) -> ConnectionLimits {
        ConnectionLimits {
            total: self.limits.connections as usize,
            per_source: self.limits.connections_per_source as usize,
            head_time: self.limits.head_time.duration(),
            stall_time: self.limits.stall_time.duration(),
        }
    }

    pub fn log(&self) -> LogConfig {
        LogConfig {
            format: self.log_format,
            filter: self.log_filter.clone(),
            telemetry: self.otlp_endpoint.clone().map(|endpoint| TelemetryConfig {
                endpoint,
                service: "hostler-server".to_owned(),
                instance: self.server_name(),
            }),
        }
    }
}

fn read_file(path: &Path) -> Result<Table, ConfigError> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
    let wrong = |source| ConfigError::File { path: path.to_owned(), source: Box::new(source) };
    toml::from_str::<ServerConfig>(&text).map_err(wrong)?;
    toml::from_str(&text).map_err(wrong)
}

/// Puts the value of an environment variable where it belongs.
fn set(table: &mut Table, settings: &[Setting], key: &str, text: &str) -> Result<(), String> {
    let (first, rest) = match key.split_once("__") {
        Some((first, rest)) => (first, Some(rest)),
        None => (key, None),
    };
    let setting = settings
        .iter()
        .find(|s| s.name.eq_ignore_ascii_case(first))
        .ok_or_else(|| "there is no such setting".to_owned())?;
    let value = match (setting.kind, rest) {
        (Kind::Section(inner), Some(rest)) => {
            let section = table.entry(setting.name).or_insert_with(|| Value::Table(Table::new()));
            return match section {
                Value::Table(section) => set(section, inner, rest, text),
                _ => Err("it is a section".to_owned()),
            };
        }
        (Kind::Section(_), None) => return Err("it is a section; name a key of it".to_owned()),
        (Kind::Sections(_) | Kind::Named(_), _) => {
            return Err("it can only be set in the file".to_owned());
        }
        (_, Some(_)) => return Err("there is no such setting".to_owned()),
        (Kind::Text, None) => Value::String(text.to_owned()),
        (Kind::Number, None) => Value::Integer(text.parse().map_err(|_| "it is not a number")?),
        (Kind::Flag, None) => {
            Value::Boolean(text.parse().map_err(|_| "it is not `true` or `false`")?)
        }
        (Kind::List, None) => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
            Value::Array(items.map(|item| Value::String(item.to_owned())).collect())
        }
    };
    table.insert(setting.name.to_owned(), value);
    Ok(())
}

fn is_host(text: &str) -> bool {
    let is_name = (1..=253).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
    is_name || text.parse::<IpAddr>().is_ok()
}
