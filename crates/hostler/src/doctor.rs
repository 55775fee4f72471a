//! What `hostler doctor` finds of a server's files on this machine, whether it runs or not.
//!
//! Nothing is changed, and nothing is made that is not there. Where no configuration and no data directory is
//! named, and none is at its usual place, there is no server here and nothing is said of one.

use std::path::Path;
use std::time::Duration;

use hostler_base::chain;
use hostler_cli::ClientCommand;
use hostler_cli::args::DoctorArgs;
use hostler_model::{Finding, Fix, Severity};
use hostler_server::Listening;
use hostler_server::config::ServerConfig;
use hostler_store::{OpenOptions, RESTORE_UNFINISHED, Store};
use hostler_trust::seal;

const PATIENCE: Duration = Duration::from_secs(5);

/// The same command, with what was found here.
pub fn prepared(command: ClientCommand) -> ClientCommand {
    let Some(args) = command.doctor().cloned() else { return command };
    match look(args) {
        Some(findings) => command.with_findings(findings),
        None => command,
    }
}

fn critical(check: &str, what: impl Into<String>) -> Finding {
    Finding::new(check, Severity::Critical, what)
}

fn look(args: DoctorArgs) -> Option<Vec<Finding>> {
    const CHECK: &str = "server configuration";
    let store = args.store;
    let is_named = store.config.is_some() || store.data_dir.is_some() || store.database.is_some();
    if !is_named && !Path::new("/etc/hostler/hostler.toml").exists() {
        return None;
    }
    let config = match crate::server::load_present(store.into_options()) {
        Ok(config) => config,
        Err(error) => {
            let why = "a server does not start with it";
            let next = "docs/reference/config.md lists every key";
            let finding = critical(CHECK, chain(error.as_ref()).to_string()).why(why).next(next);
            return Some(vec![finding]);
        }
    };
    let mut findings = vec![Finding::ok(CHECK, format!("data in {}", config.data_dir.display()))];
    findings.extend(data_directory(&config));
    findings.extend(master_key(&config));
    findings.extend(listening(&config));
    if let Ok(runtime) = super::runtime(1) {
        findings.extend(runtime.block_on(database(&config)));
    }
    Some(findings)
}

fn data_directory(config: &ServerConfig) -> Vec<Finding> {
    const CHECK: &str = "data directory";
    let (path, shown) = (&config.data_dir, config.data_dir.display());
    if !path.is_dir() {
        return vec![
            critical(CHECK, format!("{shown} is not there"))
                .why("the database and the master key are looked for there")
                .next("name the right one with --data-dir, or restore a backup into it"),
        ];
    }
    match rustix::fs::access(path, rustix::fs::Access::WRITE_OK) {
        Ok(()) => vec![Finding::ok(CHECK, shown.to_string())],
        Err(error) => vec![
            Finding::new(CHECK, Severity::Warning, format!("{shown} cannot be written by you"))
                .why("a server started as you could not keep anything")
                .evidence([error.to_string()])
                .next("run this as the user of the server"),
        ],
    }
}

fn master_key(config: &ServerConfig) -> Vec<Finding> {
    const CHECK: &str = "master key file";
    if config.has_passphrase() {
        return Vec::new();
    }
    let path = config.master_key_path();
    let finding = match hostler_trust::MasterKey::load(&path) {
        Ok(key) => return vec![Finding::ok(CHECK, format!("{} in {}", key.id(), path.display()))],
        Err(seal::Error::FileIsOpen(_)) => {
            critical(CHECK, "others can read the master key")
                .why("who has it and the database reads every secret; no server starts with it")
                .evidence([path.display().to_string()])
                .next("chmod 600, and consider the key known: hostler server rekey")
                .fix(Fix::TightenKey)
        }
        Err(seal::Error::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            Finding::new(CHECK, Severity::Warning, format!("{} is not there", path.display()))
                .why("unless systemd gives it to the server as a credential, nothing that is sealed can be opened")
                .next("put it back from where you keep a copy: docs/running/master-key.md")
        }
        Err(error) => critical(CHECK, chain(&error).to_string())
            .why("without it nothing that is sealed in the database can be opened")
            .next("put it back from where you keep a copy: docs/running/master-key.md"),
    };
    vec![finding]
}

/// A server that runs, or was killed, has said where it listens; otherwise the configuration does.
fn listening(config: &ServerConfig) -> Vec<Finding> {
    let Listening { api, agents } = Listening::read(&config.data_dir)
        .unwrap_or(Listening { api: config.listen, agents: config.agent_listen });
    let places = [("api port", api), ("agent port", agents)];
    let ask = |(check, mut address): (&str, std::net::SocketAddr)| {
        if address.ip().is_unspecified() {
            let ip: std::net::IpAddr = match address {
                std::net::SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                std::net::SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            };
            address.set_ip(ip);
        }
        match std::net::TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => Finding::ok(check, format!("somebody listens on {address}")),
            Err(error) => critical(check, format!("nobody listens on {address}"))
                .why("the server does not run, or listens elsewhere")
                .evidence([error.to_string()])
                .next("systemctl status hostler-server; journalctl -u hostler-server"),
        }
    };
    places.into_iter().filter(|(_, address)| address.port() != 0).map(ask).collect()
}

async fn database(config: &ServerConfig) -> Vec<Finding> {
    const CHECK: &str = "database file";
    let url = config.database_url();
    let file = url.strip_prefix("sqlite:").map(Path::new);
    if let Some(file) = file.filter(|file| !file.exists()) {
        return vec![
            critical(CHECK, format!("there is no database {}", file.display()))
                .why("a server that starts now begins an installation anew")
                .next("name the right data directory, or restore a backup: hostler backup restore"),
        ];
    }
    let options = OpenOptions { acquire_timeout: PATIENCE, ..OpenOptions::default() };
    let opened = async {
        let store = Store::open(&url, options).await?;
        let version = store.schema_version().await?;
        let unfinished = match version {
            0 => None,
            _ => store.read().await?.setting_get(RESTORE_UNFINISHED).await?,
        };
        let sealed = match version {
            0 => None,
            _ => store.read().await?.setting_get("seal_check").await?,
        };
        store.close().await;
        Ok::<_, hostler_store::Error>((version, unfinished.is_some(), sealed))
    };
    let (version, is_unfinished, sealed) = match opened.await {
        Ok(found) => found,
        Err(error) => {
            return vec![
                critical(CHECK, "the database cannot be opened")
                    .why("no server can work without it")
                    .evidence([chain(&error).to_string()])
                    .next("look whether it runs and whether its address is right"),
            ];
        }
    };
    let mut findings = Vec::new();
    let known = Store::schema_known();
    if version > known {
        findings.push(
            critical(
                CHECK,
                format!("the database has schema {version}, this Hostler knows {known}"),
            )
            .why("a server of this version does not start on it")
            .next("use a newer Hostler"),
        );
    }
    if is_unfinished {
        findings.push(
            critical(CHECK, "a restore did not come to its end")
                .why("no server starts on what is half there")
                .next("hostler backup restore FILE, which begins anew"),
        );
    }
    findings.extend(sealed.and_then(|sealed| other_key(config, &sealed)));
    if findings.is_empty() {
        findings.push(Finding::ok(CHECK, format!("opens, schema {version}")));
    }
    findings
}

/// The key in the file is not the one of the database.
fn other_key(config: &ServerConfig, sealed: &[u8]) -> Option<Finding> {
    let needed = hostler_trust::MasterKey::sealed_with(sealed)?;
    if config.has_passphrase() || !config.master_key_path().exists() {
        return None;
    }
    let keys = config.keyring(None).ok()?.ids();
    (!keys.contains(&needed)).then(|| {
        critical(
            "master key file",
            format!("the database is sealed with the master key {needed}, which is not there"),
        )
        .why("no server starts with another one; nothing is lost as long as that key exists")
        .evidence(keys.iter().map(|id| format!("there is {id}")))
        .next("put the right master.key back: docs/running/master-key.md")
    })
}
