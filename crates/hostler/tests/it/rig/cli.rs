//! The command line of one user: words in, bytes and a code out.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::process::{code, command};
use super::{Process, Rig, until};

pub const BINARY: &str = env!("CARGO_BIN_EXE_hostler");

/// What a command left.
#[derive(Debug)]
pub struct Output {
    pub code: i32,
    pub out: Vec<u8>,
    pub err: String,
}

impl Output {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    #[track_caller]
    pub fn must(self, code: i32) -> Output {
        assert_eq!(self.code, code, "{}\n{}", self.text(), self.err);
        self
    }
}

/// Runs `hostler` as the user of a rig, with what is set here.
#[derive(Clone)]
pub struct Cli<'a> {
    rig: &'a Rig,
    variables: BTreeMap<String, String>,
    folder: Option<PathBuf>,
}

impl<'a> Cli<'a> {
    pub fn new(rig: &'a Rig) -> Cli<'a> {
        Cli { rig, variables: BTreeMap::new(), folder: None }
    }

    pub fn with(&self, variable: &str, value: &str) -> Cli<'a> {
        let mut with = self.clone();
        with.variables.insert(variable.to_owned(), value.to_owned());
        with
    }

    pub fn context(&self, name: &str) -> Cli<'a> {
        self.with("HOSTLER_CONTEXT", name)
    }

    pub fn token(&self, secret: &str) -> Cli<'a> {
        self.with("HOSTLER_TOKEN", secret)
    }

    /// The same in another working directory.
    pub fn at(&self, folder: &Path) -> Cli<'a> {
        Cli { folder: Some(folder.to_owned()), ..self.clone() }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = command(self.rig, BINARY);
        command.args(words).envs(&self.variables);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        command
    }

    /// Runs to the end, whatever that is.
    pub fn run(&self, words: &[&str]) -> Output {
        self.run_with(words, "")
    }

    pub fn run_with(&self, words: &[&str], input: &str) -> Output {
        let file = || tempfile::tempfile_in(&self.rig.dir).unwrap();
        let (mut stdin, mut out, mut err) = (file(), file(), file());
        stdin.write_all(input.as_bytes()).unwrap();
        rewind(&mut stdin);
        let mut command = self.command(words);
        command.stdin(stdin).stdout(out.try_clone().unwrap()).stderr(err.try_clone().unwrap());
        let mut child = command.spawn().unwrap();
        let begun = std::time::Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > super::DEADLINE {
                let _ = child.kill();
                let _ = child.wait();
                panic!("`hostler {}` does not end; it said:\n{}", words.join(" "), read(&mut err));
            }
            std::thread::park_timeout(std::time::Duration::from_millis(5));
        };
        let mut bytes = Vec::new();
        rewind(&mut out);
        std::io::Read::read_to_end(&mut out, &mut bytes).unwrap();
        Output { code: code(status), out: bytes, err: read(&mut err) }
    }

    /// Runs what must succeed, and says what it printed.
    #[track_caller]
    pub fn ok(&self, words: &[&str]) -> String {
        self.run(words).must(0).text()
    }

    /// Runs what must succeed and print one JSON document.
    #[track_caller]
    pub fn json(&self, words: &[&str]) -> Value {
        let text = self.ok(&[words, &["-o", "json"]].concat());
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{words:?}: {e}\n{text}"))
    }

    /// Starts it and goes on; what it prints is in the log `name`.
    pub fn spawn(&self, name: &str, words: &[&str]) -> Process {
        Process::spawn(self.rig, name, self.command(words))
    }

    /// Like [`Cli::spawn`], and waits for a line on its stdin.
    pub fn spawn_fed(&self, name: &str, words: &[&str]) -> Process {
        Process::spawn_fed(self.rig, name, self.command(words))
    }

    /// Like [`Cli::spawn`], with stdout in a file of its own.
    pub fn spawn_split(&self, name: &str, words: &[&str]) -> (Process, PathBuf) {
        let out = self.rig.path(&format!("{name}.out"));
        let file = File::create(&out).unwrap();
        (Process::spawn_split(self.rig, name, file, self.command(words)), out)
    }

    /// Submits a shell script as a task.
    pub fn submit(&self, name: &str, script: &str) {
        self.ok(&["task", "submit", "--name", name, "--", "sh", "-c", script]);
    }

    /// Submits many at once, all or none.
    pub fn submit_all(&self, scripts: &[(String, String)]) {
        let tasks: Vec<Value> = scripts
            .iter()
            .map(|(name, script)| {
                let spec =
                    json!({ "command": ["sh", "-c", script], "resources": { "cores": 0.01 } });
                json!({ "name": name, "spec": spec })
            })
            .collect();
        let file = self.rig.path("tasks.json");
        std::fs::write(&file, json!({ "tasks": tasks }).to_string()).unwrap();
        self.ok(&["task", "submit", "-f", file.to_str().unwrap()]);
    }

    pub fn task(&self, name: &str) -> Value {
        self.json(&["task", "get", name])
    }

    /// Every task by its name.
    pub fn tasks(&self) -> BTreeMap<String, Value> {
        let listing = self.json(&["task", "ls"]);
        let items = listing["items"].as_array().unwrap().iter();
        items.map(|task| (task["name"].as_str().unwrap().to_owned(), task.clone())).collect()
    }

    /// Waits until a task is in a state, and shows it.
    #[track_caller]
    pub fn wait_state(&self, name: &str, state: &str) -> Value {
        until(&format!("task {name} is {state}"), || {
            Some(self.task(name)).filter(|task| task["status"]["state"] == state)
        })
    }

    pub fn wait_node(&self, name: &str, state: &str) -> Value {
        until(&format!("node {name} is {state}"), || {
            let listing = self.json(&["node", "ls"]);
            let items = listing["items"].as_array().unwrap().iter();
            items.clone().find(|node| node["name"] == name && node["state"] == state).cloned()
        })
    }

    /// The pid of a task that runs, once the server knows it.
    pub fn wait_pid(&self, name: &str) -> u32 {
        until(&format!("task {name} has a pid"), || pid_of(&self.task(name)))
    }
}

pub fn pid_of(task: &Value) -> Option<u32> {
    let status = &task["status"];
    let pid = status["pid"].as_u64().filter(|_| status["state"] == "running")?;
    u32::try_from(pid).ok()
}

fn rewind(file: &mut File) {
    std::io::Seek::rewind(file).unwrap();
}

fn read(file: &mut File) -> String {
    rewind(file);
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(file, &mut bytes).unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
