//! Agents as processes of their own, joined as a person would do it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::cli::BINARY;
use super::process::command;
use super::{Cli, Output, Process, Rig, Server, is_running, pids, until};

pub struct Agent {
    pub process: Process,
    pub name: String,
    pub data_dir: PathBuf,
    options: Vec<String>,
}

impl Agent {
    /// Makes a ticket, joins with it and runs; waits until the node is online.
    pub fn join(rig: &Rig, cli: &Cli<'_>, server: &Server, name: &str) -> Agent {
        Agent::join_so(rig, cli, server, name, &[])
    }

    /// The same with options for its whole life.
    pub fn join_so(
        rig: &Rig,
        cli: &Cli<'_>,
        server: &Server,
        name: &str,
        options: &[&str],
    ) -> Agent {
        let data_dir = rig.path(name);
        let ticket = Agent::ticket(cli, &["--name", name]);
        Agent::join_with(rig, &ticket, server, name, &data_dir).must(0);
        let agent = Agent::start_with(rig, name, &data_dir, options);
        cli.wait_node(name, "online");
        agent
    }

    pub fn ticket(cli: &Cli<'_>, words: &[&str]) -> String {
        let made = cli.json(&[&["node", "token", "create"], words].concat());
        made["ticket"].as_str().unwrap().to_owned()
    }

    /// `hostler agent join`, however it ends.
    pub fn join_with(
        rig: &Rig,
        ticket: &str,
        server: &Server,
        name: &str,
        data_dir: &Path,
    ) -> Output {
        let (url, dir) = (server.url(), data_dir.to_str().unwrap());
        let place = ["--server", &url, "--name", name, "--data-dir", dir];
        Cli::new(rig).run_with(&[&["agent", "join", "-"], &place[..]].concat(), ticket)
    }

    /// `hostler agent run` in a directory that has joined.
    pub fn start_with(rig: &Rig, name: &str, data_dir: &Path, options: &[&str]) -> Agent {
        let mut command = command(rig, BINARY);
        command.args(["agent", "run", "--data-dir"]).arg(data_dir).args(options);
        let process = Process::spawn(rig, name, command);
        let options = options.iter().map(|word| (*word).to_owned()).collect();
        Agent { process, name: name.to_owned(), data_dir: data_dir.to_owned(), options }
    }

    /// Starts it again; waits until it has looked around, not until a server answers.
    pub fn restart(&mut self, rig: &Rig) {
        self.process.kill();
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        *self = Agent::start_with(rig, &self.name, &self.data_dir, &options);
        self.process.line(&["runs recovered"]);
    }

    /// What the agent says of itself on its local socket.
    pub fn status(&self, rig: &Rig) -> Option<Value> {
        let dir = self.data_dir.to_str().unwrap();
        let said = Cli::new(rig).run(&["agent", "status", "-o", "json", "--data-dir", dir]);
        (said.code == 0).then(|| serde_json::from_slice(&said.out).unwrap())
    }

    /// The process that starts shims for this agent.
    pub fn executor(&self) -> u32 {
        until("there is an executor", || find_executor(&self.data_dir))
    }

    pub fn kill_executor(&self) {
        let pid = self.executor();
        super::kill(pid, rustix::process::Signal::KILL);
        until("the executor is gone", || (!is_running(pid)).then_some(()));
    }
}

fn find_executor(data_dir: &Path) -> Option<u32> {
    pids().into_iter().find(|pid| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let dir = data_dir.as_os_str().as_encoded_bytes();
        name.trim() == "hostler-exec"
            && is_running(*pid)
            && words.split(|byte| *byte == 0).any(|word| word == dir)
    })
}
