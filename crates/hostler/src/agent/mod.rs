//! `hostler agent`: becoming one, and talking to the one that is there.

mod local;
mod rows;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use hostler_agent::container::ContainerConfig;
use hostler_agent::join::{JoinRequest, join};
use hostler_agent::{AgentConfig, AgentError, HttpConfig, Standalone};
use hostler_base::notify::Notifier;
use hostler_base::{Clock, Shutdown, chain, log};
use hostler_cli::args::{
    AgentContainerArgs, AgentDataDir, AgentHttpArgs, AgentJoinArgs, AgentRunArgs, AgentUpArgs,
};
use hostler_cli::{AgentInvocation, exit};
use hostler_trust::SecretString;

use crate::install;
use crate::server::tell;

const DATA_DIR: &str = "/var/lib/hostler/agent";
const HTTP_TOKEN: &str = "HOSTLER_AGENT_HTTP_TOKEN";
/// A file that says which GPUs there are, in place of those of the machine.
const SIMULATED_GPUS: &str = "HOSTLER_SIMULATED_GPUS";

pub fn run(invocation: AgentInvocation) -> ExitCode {
    let done = match invocation {
        AgentInvocation::Run(args) => serve(args, None),
        AgentInvocation::Up(args) => up(args),
        AgentInvocation::Join(args) => become_node(args),
        AgentInvocation::Install(args) => return install::agent(args),
        AgentInvocation::Uninstall(args) => return install::agent_away(args),
        AgentInvocation::Local { globals, command } => return local::run(&globals, *command),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error),
    }
}

/// Tells why there is no agent. Mistakes in files are told each at its place.
fn failed(error: &anyhow::Error) -> ExitCode {
    if let Some(AgentError::Files { report, .. }) = error.downcast_ref() {
        tell(&format!("{}\n\nerror: {error}: {}", report.with_source(), report.summary()));
        return ExitCode::from(exit::Code::Usage.number());
    }
    tell(&format!("error: {}", chain(error.as_ref())));
    ExitCode::FAILURE
}

pub fn data_dir(given: AgentDataDir) -> PathBuf {
    given.data_dir.unwrap_or_else(|| DATA_DIR.into())
}

/// What an agent in this binary is told.
pub fn config(data_dir: PathBuf, containers: AgentContainerArgs) -> anyhow::Result<AgentConfig> {
    let program = std::env::current_exe().context("find this program")?;
    let simulated_gpus = std::env::var_os(SIMULATED_GPUS).filter(|file| !file.is_empty());
    Ok(AgentConfig {
        simulated_gpus: simulated_gpus.map(PathBuf::from),
        containers: engine(containers)?,
        ..AgentConfig::new(data_dir, program)
    })
}

/// Paths are as whoever starts the agent sees them, wherever it works later.
fn engine(args: AgentContainerArgs) -> anyhow::Result<ContainerConfig> {
    let whole = |path: PathBuf| {
        std::path::absolute(&path).with_context(|| format!("{} is no path", path.display()))
    };
    let default = ContainerConfig::default();
    Ok(ContainerConfig {
        socket: args.engine.map(whole).transpose()?.unwrap_or(default.socket),
        mounts: args.allow_mounts.into_iter().map(whole).collect::<anyhow::Result<_>>()?,
        allow_privileged: args.allow_privileged,
        pull_timeout: default.pull_timeout,
        image_retention: args.image_retention.map_or(default.image_retention, |it| it.duration()),
    })
}

fn up(args: AgentUpArgs) -> anyhow::Result<()> {
    let standalone = Standalone::new(&args.standalone, args.home.as_deref())
        .with_context(|| format!("{} cannot be a directory", args.standalone.display()))?;
    let on_stop = args.on_stop.parse()?;
    serve(args.run, Some((standalone, on_stop)))
}

fn serve(
    args: AgentRunArgs,
    standalone: Option<(Standalone, hostler_agent::OnStop)>,
) -> anyhow::Result<()> {
    let mut config = config(data_dir(args.place), args.containers)?;
    config.http = http(args.http)?;
    (config.write_budget, config.is_metered) = (args.edge.write_budget, args.edge.metered);
    config.content_cache = args.edge.content_cache.unwrap_or(config.content_cache);
    config.notifier = Notifier::from_environment();
    if let Some((directory, on_stop)) = standalone {
        (config.standalone, config.on_stop) = (Some(directory), on_stop);
    }
    // Supervising costs little; one thread and one heap keep the agent small.
    hostler_agent::prepare_process();
    let runtime = super::runtime(1)?;
    let clock = Clock::system();
    let log_config = log::LogConfig {
        format: args.log.log_format.unwrap_or(log::LogFormat::Text),
        filter: args.log.log.unwrap_or_else(|| "info".to_owned()),
        telemetry: args.otlp.map(|endpoint| log::TelemetryConfig {
            endpoint,
            service: "hostler-agent".to_owned(),
            instance: hostler_base::host::host_name(),
        }),
    };
    let _guard = {
        let _inside = runtime.enter();
        log::init(&log_config, &clock).context("set up logging")?
    };
    runtime.block_on(async {
        let shutdown = Shutdown::new(clock.clone());
        shutdown.listen_for_signals().context("listen for signals")?;
        hostler_agent::run(config, clock, &shutdown).await?;
        Ok(())
    })
}

/// There is no API without a token.
fn http(args: AgentHttpArgs) -> anyhow::Result<Option<HttpConfig>> {
    let Some(address) = args.http else { return Ok(None) };
    let token = match args.http_token_file {
        Some(file) => std::fs::read_to_string(&file)
            .with_context(|| format!("the token file {} cannot be read", file.display()))?,
        None => std::env::var(HTTP_TOKEN).unwrap_or_default(),
    };
    let token = SecretString::new(token.trim());
    anyhow::ensure!(
        !token.expose().is_empty(),
        "the HTTP API needs a token; give --http-token-file FILE, or set {HTTP_TOKEN}"
    );
    Ok(Some(HttpConfig { address, token }))
}

fn become_node(args: AgentJoinArgs) -> anyhow::Result<()> {
    let ticket = args.read_ticket()?;
    let name = match args.name {
        Some(name) => name,
        None => node_name()?,
    };
    let data_dir = data_dir(args.place);
    let request = JoinRequest {
        ticket,
        server: args.server,
        name,
        data_dir: data_dir.clone(),
        is_forced: args.force,
    };
    super::runtime(1)?.block_on(async {
        let joined = join(request, &Clock::system()).await?;
        tell(&format!(
            "This machine is now the node `{}`. Start its agent with:\n\n  hostler agent run --data-dir {}",
            joined.name,
            data_dir.display()
        ));
        Ok(())
    })
}

/// The machine's own name, made into a node's name.
pub fn node_name() -> anyhow::Result<hostler_model::Name> {
    let host = hostler_base::host::host_name();
    let label: String = host
        .split('.')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(63)
        .collect();
    label
        .trim_matches('-')
        .parse()
        .with_context(|| format!("the host name `{host}` cannot name a node; give one with --name"))
}
