//! What the agent is told by whoever starts it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use hostler_base::notify::Notifier;
use hostler_model::Bytes;

use crate::container::ContainerConfig;
use crate::http::HttpConfig;
use crate::standalone::Standalone;

hostler_model::labels! {
    /// What becomes of runs when the agent is asked to stop.
    #[derive(Default)]
    pub enum OnStop ("stop policy") {
        /// They go on; the next agent finds them again.
        #[default]
        Leave = "leave",
        /// They are stopped too, as if a user had asked.
        Stop = "stop",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// Holds identity, ledger, runs and the local socket; for one agent alone.
    pub data_dir: PathBuf,
    /// The program to start as executor: normally this very binary.
    pub executor_program: PathBuf,
    /// What makes it one; `--data-dir <dir>` is added.
    pub executor_args: Vec<OsString>,
    /// Where to connect, `host:port`, instead of what the servers said.
    pub addresses: Vec<String>,
    /// How many ended runs keep their directory, and so their output.
    pub keep_runs: usize,
    /// For how long, at most.
    pub keep_for: Duration,
    pub on_stop: OnStop,
    /// Take workloads from a directory, and from no server.
    pub standalone: Option<Standalone>,
    /// Serve the local HTTP API.
    pub http: Option<HttpConfig>,
    /// What the node's container engine may be used for.
    pub containers: ContainerConfig,
    /// How much content (images, files of tasks) is kept for the next time.
    pub content_cache: Bytes,
    /// The most that agent and shims should write to disk in a day.
    pub write_budget: Option<Bytes>,
    /// The link to the servers is paid for by what it carries.
    pub is_metered: bool,
    /// A file that says which GPUs there are, in place of those of the machine; for tests, and for trying
    /// things out.
    pub simulated_gpus: Option<PathBuf>,
    /// How long stopping in good order may take altogether.
    pub stop_grace: Duration,
    /// Who is told when the agent supervises, and that it still does.
    pub notifier: Notifier,
}

impl AgentConfig {
    pub fn new(data_dir: impl Into<PathBuf>, executor_program: impl Into<PathBuf>) -> AgentConfig {
        AgentConfig {
            data_dir: data_dir.into(),
            executor_program: executor_program.into(),
            executor_args: vec!["executor".into()],
            addresses: Vec::new(),
            keep_runs: 2000,
            keep_for: Duration::from_hours(7 * 24),
            on_stop: OnStop::Leave,
            standalone: None,
            http: None,
            containers: ContainerConfig::default(),
            content_cache: crate::runner::CONTENT_CACHE,
            write_budget: None,
            is_metered: false,
            simulated_gpus: None,
            stop_grace: Duration::from_secs(20),
            notifier: Notifier::silent(),
        }
    }
}
