//! A PostgreSQL of a test's own, which syncs what it answers and can be crashed.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::Signal;

use super::{Process, Rig, command, is_root, skipped};

pub struct Postgres<'a> {
    pub url: String,
    rig: &'a Rig,
    /// Not below the rig: PostgreSQL refuses to run as root, and its own user may not go in there.
    folder: tempfile::TempDir,
    port: u16,
    process: Option<Process>,
}

/// Where Debian keeps it, or wherever it is found.
fn programs() -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut kept: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    kept.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    kept.into_iter().rev().chain(std::env::split_paths(&path)).find(|d| d.join("initdb").is_file())
}

/// Runs as the user that Debian's package has made, where we are root.
fn unprivileged(rig: &Rig, program: OsString) -> Command {
    if !is_root() {
        return command(rig, program);
    }
    let mut words = command(rig, "setpriv");
    words.args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"]).arg(program);
    words.current_dir("/");
    words
}

impl<'a> Postgres<'a> {
    /// Nothing where it is not installed; `make test` does that.
    pub fn start(rig: &'a Rig) -> Option<Postgres<'a>> {
        let Some(programs) = programs() else {
            skipped("PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::Builder::new().prefix("hostler-postgres-").tempdir().unwrap();
        if is_root() {
            let mut chown = command(rig, "chown");
            assert!(chown.arg("postgres").arg(folder.path()).status().unwrap().success());
        }
        let mut made = unprivileged(rig, programs.join("initdb").into());
        made.arg("-D").arg(folder.path().join("data"));
        made.args(["-U", "hostler", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        let made = made.output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("postgres://hostler@127.0.0.1:{port}/postgres");
        let mut postgres = Postgres { url, rig, folder, port, process: None };
        postgres.run();
        Some(postgres)
    }

    fn run(&mut self) {
        let program = programs().expect("it was there before").join("postgres");
        let mut words = unprivileged(self.rig, program.into());
        words.arg("-D").arg(self.folder.path().join("data"));
        words.arg("-k").arg(self.folder.path()).args(["-p", &self.port.to_string()]);
        words.args(["-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=32MB"]);
        let mut process = Process::spawn(self.rig, "postgres", words);
        process.line(&["database system is ready to accept connections"]);
        self.process = Some(process);
    }

    /// Ends every connection at once and writes nothing more, then recovers from its log.
    pub fn crash(&mut self) {
        self.end();
        self.run();
    }

    fn end(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.signal(Signal::QUIT);
            process.wait_within(super::DEADLINE);
        }
    }
}

impl Drop for Postgres<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
