//! `hostler agent`.

use std::path::PathBuf;

use anyhow::Context as _;
use hostler_agent::AgentConfig;
use hostler_agent::join::{JoinRequest, join};
use hostler_base::{Clock, Shutdown, log};
use hostler_cli::AgentInvocation;
use hostler_cli::args::{AgentJoinArgs, AgentRunArgs, AgentStatusArgs};

use crate::server::tell;

const DATA_DIR: &str = "/var/lib/hostler/agent";

pub fn run(invocation: AgentInvocation) -> anyhow::Result<()> {
    match invocation {
        AgentInvocation::Run(args) => serve(args),
        AgentInvocation::Join(args) => become_node(args),
        AgentInvocation::Status(args) => status(args),
    }
}

fn data_dir(given: Option<PathBuf>) -> PathBuf {
    given.unwrap_or_else(|| DATA_DIR.into())
}

/// What an agent in this binary is told.
pub fn config(data_dir: PathBuf) -> anyhow::Result<AgentConfig> {
    let program = std::env::current_exe().context("find this program")?;
    Ok(AgentConfig::new(data_dir, program))
}

fn serve(args: AgentRunArgs) -> anyhow::Result<()> {
    // Supervising costs little; one thread keeps the agent small.
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
        hostler_agent::run(config(data_dir(args.data_dir))?, clock, &shutdown).await?;
        Ok(())
    })
}

fn become_node(args: AgentJoinArgs) -> anyhow::Result<()> {
    let ticket = args.read_ticket()?;
    let name = match args.name {
        Some(name) => name,
        None => node_name()?,
    };
    let data_dir = data_dir(args.data_dir);
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

fn status(args: AgentStatusArgs) -> anyhow::Result<()> {
    super::runtime(1)?.block_on(async {
        let status =
            hostler_agent::local::query(&data_dir(args.data_dir), &Clock::system()).await?;
        let mut text = serde_json::to_vec_pretty(&status)?;
        text.push(b'\n');
        std::io::Write::write_all(&mut std::io::stdout(), &text)?;
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
