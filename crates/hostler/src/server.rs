//! `hostler server`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use hostler_base::notify::Notifier;
use hostler_base::{Clock, Shutdown, log};
use hostler_cli::ServerInvocation;
use hostler_cli::args::ServerOptions;
use hostler_server::config::{Overrides, ServerConfig};

use crate::install;

/// How long stopping in good order may take.
pub const STOP_GRACE: Duration = Duration::from_secs(20);

pub fn run(invocation: ServerInvocation) -> ExitCode {
    let load = |options| load(ServerConfig::default(), options);
    super::ended(match invocation {
        ServerInvocation::Run(args) => load(args.options).and_then(serve),
        ServerInvocation::Migrate(args) => {
            load_present(args.options).and_then(|config| migrate(&config))
        }
        ServerInvocation::Rekey(args) => {
            load_present(args.options).and_then(|config| rekey(&config))
        }
        ServerInvocation::Install(args) => return install::server(args),
        ServerInvocation::Uninstall(_) => return install::server_away(),
    })
}

/// Puts defaults, file, environment and flags together.
pub fn load(base: ServerConfig, options: ServerOptions) -> anyhow::Result<ServerConfig> {
    let file = options.config.or_else(|| {
        let usual = PathBuf::from("/etc/hostler/hostler.toml");
        usual.exists().then_some(usual)
    });
    let overrides = Overrides {
        data_dir: options.data_dir,
        database: options.database,
        listen: options.listen,
        agent_listen: options.agent_listen,
        advertise: options.advertise,
        name: options.name.map(|name| name.to_string()),
        master_key_file: options.master_key_file,
        metrics_listen: options.metrics_listen,
        log_format: options.log.log_format,
        log_filter: options.log.log,
        otlp_endpoint: options.otlp,
    };
    Ok(ServerConfig::load(base, file.as_deref(), std::env::vars(), overrides)?)
}

/// The same for whoever works on what a server keeps: `hostler up --data-dir DIR` has it in `DIR/server`.
pub fn load_present(options: ServerOptions) -> anyhow::Result<ServerConfig> {
    let mut config = load(ServerConfig::default(), options)?;
    let of_up = config.data_dir.join("server");
    let is_there = |dir: &Path| dir.join(ServerConfig::DATABASE_FILE).is_file();
    if !is_there(&config.data_dir) && is_there(&of_up) {
        config.data_dir = of_up;
    }
    Ok(config)
}

fn serve(config: ServerConfig) -> anyhow::Result<()> {
    let runtime =
        super::runtime(std::thread::available_parallelism().map_or(2, usize::from).min(8))?;
    let clock = Clock::system();
    let _guard = {
        let _inside = runtime.enter();
        log::init(&config.log(), &clock).context("set up logging")?
    };
    runtime.block_on(async {
        let shutdown = Shutdown::new(clock.clone());
        shutdown.listen_for_signals().context("listen for signals")?;
        let running = hostler_server::start(&config, super::VERSION, clock, &shutdown).await?;
        if let Some(code) = &running.setup_code {
            let address = config.advertised(running.api);
            tell(&format!(
                "No admin exists yet. Make one with this code, which works once:\n\n  https://{address}/#setup={code}\n  hostler login https://{address} --setup {code}\n\nFingerprint of this installation: {fingerprint}",
                code = code.expose(),
                fingerprint = running.fingerprint,
            ));
        }
        let notifier = Notifier::from_environment();
        notifier.ready(&format!("serves the API on {}", running.api));
        shutdown.requested().await;
        notifier.stopping();
        shutdown.run(STOP_GRACE).await;
        Ok(running.close().await?)
    })
}

fn migrate(config: &ServerConfig) -> anyhow::Result<()> {
    let clock = Clock::system();
    let _guard = log::init(&config.log(), &clock).context("set up logging")?;
    super::runtime(1)?.block_on(async {
        let shutdown = Shutdown::new(clock.clone());
        shutdown.listen_for_signals().context("listen for signals")?;
        let store = hostler_server::open_store(config, &clock, &shutdown).await?;
        let version = store.schema_version().await?;
        store.close().await;
        tell(&format!("The database has schema {version}."));
        Ok(())
    })
}

fn rekey(config: &ServerConfig) -> anyhow::Result<()> {
    let path = config.master_key_to_replace()?;
    let (old, new) =
        hostler_trust::keyring::replace_file(&path).context("replace the master key")?;
    let former = hostler_trust::keyring::former_path(&path);
    tell(&format!(
        "{path} holds the new master key {new}; the old one, {old}, is in {former}.\n\nNow:\n  1. copy both files to every other server, and keep a copy elsewhere\n  2. restart every server\n  3. hostler secret rewrap\n  4. remove {former}, when that says that nothing is left",
        path = path.display(),
        former = former.display(),
        new = new.id(),
        old = old.id(),
    ));
    Ok(())
}

/// Words for the person who started this, beside the log.
pub fn tell(text: &str) {
    let _nobody_listens =
        std::io::Write::write_all(&mut std::io::stderr(), format!("{text}\n").as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(dir: &Path) -> PathBuf {
        let options = ServerOptions { data_dir: Some(dir.to_owned()), ..ServerOptions::default() };
        load_present(options).unwrap().data_dir
    }

    #[test]
    fn what_hostler_up_keeps_is_found_by_the_directory_it_was_given() {
        let dir = tempfile::tempdir().unwrap();
        let server = dir.path().join("server");
        assert_eq!(found(dir.path()), dir.path(), "nothing is there yet");
        std::fs::create_dir(&server).unwrap();
        std::fs::write(server.join("hostler.db"), "").unwrap();
        assert_eq!(found(dir.path()), server);
        assert_eq!(found(&server), server);
        std::fs::write(dir.path().join("hostler.db"), "").unwrap();
        assert_eq!(found(dir.path()), dir.path(), "a server of its own");
    }
}
