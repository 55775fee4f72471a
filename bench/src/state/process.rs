//! The others, as processes that end with their measurement.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use rustix::process::Signal;

use crate::rig::Process;

/// A port that nobody listens on; the peers cannot be told to choose one.
pub fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// A server with a folder of its own.
pub struct Peer {
    _process: Process,
    _folder: tempfile::TempDir,
}

impl Peer {
    pub fn start(program: &str, words: impl FnOnce(&mut Command, &Path)) -> anyhow::Result<Peer> {
        let folder = tempfile::Builder::new().prefix("hostler-bench-").tempdir()?;
        let mut command = command(program);
        words(&mut command, folder.path());
        let process = Process::start(folder.path().join("log"), command)
            .with_context(|| format!("{program} is missing; start this with bench/state"))?;
        Ok(Peer { _process: process, _folder: folder })
    }
}

#[expect(clippy::disallowed_methods, reason = "what is measured is a process of its own")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// PostgreSQL as Debian sets it up, but for its port: every commit is synced.
pub struct Postgres {
    programs: PathBuf,
    port: u16,
    process: Process,
    folder: tempfile::TempDir,
}

impl Postgres {
    pub async fn start() -> anyhow::Result<Postgres> {
        let programs = programs().context("PostgreSQL is missing; start this with bench/state")?;
        let folder = tempfile::Builder::new().prefix("hostler-bench-").tempdir()?;
        if is_root() {
            let mut chown = command("chown");
            let given = chown.arg("postgres").arg(folder.path()).status()?;
            ensure!(given.success(), "the folder cannot be given to postgres");
        }
        let mut made = unprivileged(&programs.join("initdb"));
        made.arg("-D").arg(folder.path().join("data"));
        made.args(["-U", "hostler", "-A", "trust", "-E", "UTF8", "--locale=C"]);
        let made = made.output()?;
        ensure!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = free_port()?;
        let mut words = unprivileged(&programs.join("postgres"));
        words.arg("-D").arg(folder.path().join("data")).arg("-k").arg(folder.path());
        words.args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"]);
        words.args(["-c", "max_connections=200"]);
        let mut process = Process::start(folder.path().with_extension("log"), words)?;
        process.line("database system is ready to accept connections").await?;
        Ok(Postgres { programs, port, process, folder })
    }

    pub fn url(&self) -> String {
        format!("postgres://hostler@127.0.0.1:{}/postgres", self.port)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A program of PostgreSQL's with this database; gives what it prints.
    pub async fn run(&self, program: &str, words: &[&str]) -> anyhow::Result<String> {
        let mut command = tokio::process::Command::from(command(self.programs.join(program)));
        command.args(["-h", "127.0.0.1", "-U", "hostler", "-p", &self.port.to_string()]);
        let done = command.args(words).arg("postgres").kill_on_drop(true).output().await?;
        ensure!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(String::from_utf8(done.stdout)?)
    }
}

impl Drop for Postgres {
    /// Killed, it would leave shared memory behind.
    fn drop(&mut self) {
        self.process.end(Signal::QUIT);
        let _absent = std::fs::remove_file(self.folder.path().with_extension("log"));
    }
}

/// The newest there is: Debian keeps it out of PATH.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut kept: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    kept.sort();
    kept.into_iter().rev().find(|folder| folder.join("initdb").is_file())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// PostgreSQL refuses to run as root.
fn unprivileged(program: &Path) -> Command {
    if !is_root() {
        return command(program);
    }
    let mut words = command("setpriv");
    words.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    words.current_dir("/");
    words
}
