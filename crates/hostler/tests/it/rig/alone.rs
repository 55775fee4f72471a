//! An agent without a server: a directory of workload files, and everything its local doors say.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::process::Signal;
use serde_json::Value;

use super::cli::BINARY;
use super::process::command;
use super::{Cli, DEADLINE, Output, Process, Rig, until};

pub struct Alone<'a> {
    pub rig: &'a Rig,
    pub process: Process,
    pub data_dir: PathBuf,
    options: Vec<String>,
}

impl<'a> Alone<'a> {
    /// Starts one on these files (name and text), and waits until it has applied them.
    pub fn start(rig: &'a Rig, files: &[(&str, &str)]) -> Alone<'a> {
        Alone::start_with(rig, files, &[])
    }

    pub fn start_with(rig: &'a Rig, files: &[(&str, &str)], options: &[&str]) -> Alone<'a> {
        std::fs::create_dir_all(rig.path("workloads")).unwrap();
        for (name, text) in files {
            std::fs::write(rig.path("workloads").join(name), text).unwrap();
        }
        let options: Vec<String> = options.iter().map(|word| (*word).to_owned()).collect();
        let process = Alone::spawn(rig, &options);
        let mut alone = Alone { rig, process, data_dir: rig.path("alone"), options };
        alone.process.line(&["workload files applied"]);
        alone
    }

    /// `hostler agent up`, however that goes.
    pub fn spawn(rig: &Rig, options: &[String]) -> Process {
        let mut command = command(rig, BINARY);
        command.args(["agent", "up", "--standalone"]).arg(rig.path("workloads"));
        command.arg("--data-dir").arg(rig.path("alone")).args(options);
        command.env("HOSTLER_AGENT_HTTP_TOKEN", "open sesame");
        Process::spawn(rig, "alone", command)
    }

    /// Starts it again after it has ended.
    pub fn again(&mut self) {
        self.process = Alone::spawn(self.rig, &self.options);
        self.process.line(&["runs recovered"]);
        until("the agent answers", || (self.try_run(&["ls"]).code == 0).then_some(()));
    }

    /// Asks it to stop, and waits until it has.
    pub fn end(&mut self, signal: Signal) {
        self.process.signal(signal);
        assert_eq!(self.process.wait_within(DEADLINE).0, 0);
    }

    pub fn write(&self, file: &str, text: &str) {
        std::fs::write(self.rig.path("workloads").join(file), text).unwrap();
    }

    pub fn remove(&self, file: &str) {
        std::fs::remove_file(self.rig.path("workloads").join(file)).unwrap();
    }

    fn cli(&self) -> Cli<'a> {
        Cli::new(self.rig).with("HOSTLER_AGENT_DATA_DIR", self.data_dir.to_str().unwrap())
    }

    /// `hostler agent ...`, however it ends.
    pub fn try_run(&self, words: &[&str]) -> Output {
        self.cli().run(&[&["agent"], words].concat())
    }

    /// `hostler agent ...`, which must succeed; what it printed.
    #[track_caller]
    pub fn run(&self, words: &[&str]) -> String {
        self.try_run(words).must(0).text()
    }

    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        self.cli().json(&[&["agent"], words].concat())
    }

    pub fn follow(&self, name: &str, words: &[&str]) -> (Process, PathBuf) {
        self.cli().spawn_split(name, &[&["agent"], words].concat())
    }

    /// Every workload by its name.
    pub fn list(&self) -> BTreeMap<String, Value> {
        let listing = self.json(&["ls"]);
        let items = listing["items"].as_array().unwrap().iter();
        items.map(|one| (one["name"].as_str().unwrap().to_owned(), one.clone())).collect()
    }

    /// Waits until a workload is in a phase, and shows it.
    #[track_caller]
    pub fn wait_phase(&self, name: &str, phase: &str) -> Value {
        until(&format!("{name} is {phase}"), || {
            self.list().remove(name).filter(|one| one["status"]["phase"] == phase)
        })
    }

    #[track_caller]
    pub fn pid(&self, name: &str) -> u32 {
        let view = self.wait_phase(name, "running");
        u32::try_from(view["pid"].as_u64().unwrap()).unwrap()
    }

    /// One line to the local socket by hand; everything that comes back.
    pub fn ask(&self, line: &str) -> String {
        // The path may be longer than a socket's address.
        let socket = self.data_dir.join("agent.sock");
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.write_all(format!("{line}\n").as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// The same in Master Control's spelling, which has one answer.
    #[track_caller]
    pub fn command(&self, question: &Value) -> Value {
        let answer = self.ask(&question.to_string());
        assert_eq!(answer.matches('\n').count(), 1, "{answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// A request to the HTTP API; its status and body.
    pub fn http(&mut self, method: &str, path: &str, token: Option<&str>) -> (u16, String) {
        let line = self.process.line(&["http api listens"]);
        let (_, address) = line.split_once("address=").unwrap();
        let address = address.split(' ').next().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\n");
        text.push_str("Connection: close\r\nContent-Length: 0\r\n");
        if let Some(token) = token {
            text.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        stream.write_all(format!("{text}\r\n").as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let status = reply.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = reply.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.unwrap_or_else(|| panic!("no status in {reply}")), body.to_owned())
    }
}
