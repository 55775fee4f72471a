//! `hostler up`: a server and an agent in one foreground process, joined to each other.
//!
//! It is the production path in small: the same TLS, the same join, the same ledger. What it adds is a
//! context named `local` for the command line of the user who started it, who owns the data directory
//! and so everything in it anyway.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use hostler_agent::identity::Identity;
use hostler_agent::join::{JoinRequest, join};
use hostler_base::{Clock, Shutdown, log};
use hostler_cli::Environment;
use hostler_cli::args::{AgentContainerArgs, UpArgs};
use hostler_cli::config::{Secrets, save_context};
use hostler_control::{Cx, NewJoinToken, RequestMeta};
use hostler_model::{Labels, Name};
use hostler_server::Running;
use hostler_server::config::ServerConfig;
use hostler_trust::{JoinTicket, SecretString};

use crate::agent;
use crate::server::{STOP_GRACE, load, tell};

/// What whoever started it said, besides what the server is told.
struct Told {
    /// Of the node.
    name: Option<Name>,
    containers: AgentContainerArgs,
    is_quiet: bool,
}

pub fn run(mut args: UpArgs) -> anyhow::Result<()> {
    let data_dir = match args.options.data_dir.take() {
        Some(dir) => std::path::absolute(dir)?,
        None => default_data_dir()?,
    };
    let told = Told {
        name: args.options.name.clone(),
        containers: args.containers,
        is_quiet: args.no_browser_hint,
    };
    let config = load(ServerConfig::for_up(data_dir.join("server")), args.options)?;
    let runtime =
        super::runtime(std::thread::available_parallelism().map_or(2, usize::from).min(8))?;
    let clock = Clock::system();
    let _guard = {
        let _inside = runtime.enter();
        log::init(&config.log(), &clock).context("set up logging")?
    };
    runtime.block_on(both(&config, &data_dir, told, clock))
}

fn default_data_dir() -> anyhow::Result<PathBuf> {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let base = std::env::var_os("XDG_DATA_HOME")
        .map(PathBuf::from)
        .filter(|p| p.is_absolute())
        .or_else(home);
    Ok(base.context("neither HOME nor XDG_DATA_HOME is set; give --data-dir")?.join("hostler/up"))
}

async fn both(
    config: &ServerConfig,
    data_dir: &Path,
    told: Told,
    clock: Clock,
) -> anyhow::Result<()> {
    let signals = Shutdown::new(clock.clone());
    signals.listen_for_signals().context("listen for signals")?;
    let server_stop = Shutdown::new(clock.clone());
    let running =
        hostler_server::start(config, super::VERSION, clock.clone(), &server_stop).await?;
    let outcome = with_agent(&running, data_dir, told, clock, &signals, &server_stop).await;
    server_stop.run(STOP_GRACE).await;
    let closed = running.close().await;
    outcome?;
    Ok(closed?)
}

async fn with_agent(
    running: &Running,
    data_dir: &Path,
    told: Told,
    clock: Clock,
    signals: &Shutdown,
    server_stop: &Shutdown,
) -> anyhow::Result<()> {
    let agent_dir = data_dir.join("agent");
    let token = running.control.local_token_issue().await?;
    let api = reachable(running.api);
    let url = format!("https://{api}");
    if !Identity::exists(&agent_dir) {
        let ticket = ticket(running, token.expose()).await?;
        let name = match told.name {
            Some(name) => name,
            None => agent::node_name()?,
        };
        let request = JoinRequest {
            ticket,
            server: url.clone(),
            name,
            data_dir: agent_dir.clone(),
            is_forced: false,
        };
        join(request, &clock).await.context("join this machine to its own server")?;
    }
    let secrets = Secrets {
        token: Some(SecretString::new(token.expose())),
        ca_pem: running.control.authorities().trusted().pem(),
    };
    let saved = Environment::from_process()
        .and_then(|environment| save_context(&environment, "local", &url, None, &secrets, true));
    if let Err(error) = &saved {
        tracing::warn!(%error, "the command line could not be set up");
    }
    if !told.is_quiet {
        greet(running, &url, saved.is_ok());
    }
    let mut config = agent::config(agent_dir, told.containers)?;
    config.addresses = vec![reachable(running.agents).to_string()];
    let agent_stop = Shutdown::new(clock.clone());
    let agent = hostler_agent::run(config, clock, &agent_stop);
    tokio::pin!(agent);
    tokio::select! {
        ended = &mut agent => return ended.context("the agent stopped"),
        () = signals.requested() => {}
        () = server_stop.requested() => {}
    }
    agent_stop.request("hostler up stops");
    agent.await?;
    Ok(())
}

async fn ticket(running: &Running, token: &str) -> anyhow::Result<JoinTicket> {
    let caller = running.control.caller_by_token(token).await?;
    let request = RequestMeta {
        request_id: "up".into(),
        trace: None,
        source: "local".into(),
        user_agent: "hostler up".into(),
        idempotency: None,
        consent: None,
    };
    let new = NewJoinToken { name: None, labels: Labels::new(), ttl: None };
    let (_, ticket) = running.control.join_token_create(&Cx { caller, request }, new).await?;
    Ok(ticket.expose().parse()?)
}

fn greet(running: &Running, url: &str, has_context: bool) {
    let mut text = format!("\n  Hostler is up.\n\n  Dashboard   {url}\n");
    if let Some(code) = &running.setup_code {
        text.push_str(&format!("  First admin {url}/#setup={}   (works once)\n", code.expose()));
    }
    text.push_str(&format!("  Fingerprint {}\n", running.fingerprint));
    if has_context {
        text.push_str("\n  The command line of this user is logged in (context `local`). In another terminal:\n\n");
        text.push_str("    hostler run -- echo hello\n    hostler node ls\n    hostler task ls\n");
    } else {
        text.push_str(&format!("\n  Log in with: hostler login {url}\n"));
    }
    text.push_str(
        "\n  Ctrl-C stops server and agent; tasks go on, and the next start finds them.\n",
    );
    tell(&text);
}

/// An address that this machine can connect to.
fn reachable(bound: SocketAddr) -> SocketAddr {
    match bound.ip() {
        ip if ip.is_unspecified() => SocketAddr::from(([127, 0, 0, 1], bound.port())),
        _ => bound,
    }
}
