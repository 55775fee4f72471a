//! An installation made of real processes, and a client that is its first admin.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use hostler_api::node::{JoinTokenCreate, JoinTokenCreateBody, NodeListQuery};
use hostler_api::session::{LoginKind, Setup, SetupBody};
use hostler_api::{Nothing, node::NodeList};
use hostler_base::Clock;
use hostler_client::{Client, ClientConfig, probe};
use hostler_model::NodeState;
use hostler_trust::SecretString;
use rustix::process::{Pid, Signal};

use crate::proc;

pub const DEADLINE: Duration = Duration::from_secs(120);
const PACE: Duration = Duration::from_millis(10);

/// Asks until there is an answer.
pub async fn until<T>(
    what: &str,
    ask: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    until_paced(what, PACE, ask).await
}

/// The same, with so much time between two questions.
pub async fn until_paced<T>(
    what: &str,
    pace: Duration,
    mut ask: impl AsyncFnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let begun = tokio::time::Instant::now();
    loop {
        if let Some(answer) = ask().await? {
            return Ok(answer);
        }
        ensure!(begun.elapsed() < DEADLINE, "waited {DEADLINE:?} in vain until {what}");
        tokio::time::sleep(pace).await;
    }
}

/// A process that is killed when dropped.
pub struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    pub fn start(log: PathBuf, mut command: Command) -> anyhow::Result<Process> {
        let file = File::create(&log).context("making a log")?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let name = command.get_program().to_string_lossy().into_owned();
        Ok(Process { child: command.spawn().with_context(|| format!("starting {name}"))?, log })
    }

    /// Tells it to end, and waits until it has.
    pub fn end(&mut self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _already_gone = pid.map(|pid| rustix::process::kill_process(pid, signal));
        let _already_gone = self.child.wait();
    }

    /// Waits for a whole line of the log that contains these words.
    pub async fn line(&mut self, words: &str) -> anyhow::Result<String> {
        until(&format!("the log says `{words}`"), async || {
            let ended = self.child.try_wait()?;
            let log = std::fs::read_to_string(&self.log)?;
            let whole = log.rfind('\n').map_or("", |end| &log[..end]);
            let found = whole.lines().find(|line| line.contains(words)).map(str::to_owned);
            if let (None, Some(status)) = (&found, ended) {
                bail!("it ended ({status}) before it said `{words}`:\n{log}");
            }
            Ok(found)
        })
        .await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_gone = self.child.wait();
    }
}

/// A server with its database, and at most one agent.
pub struct Rig {
    agent: Option<Process>,
    server: Process,
    pub client: Client,
    config: ClientConfig,
    pub url: String,
    pub ca_pem: String,
    binary: PathBuf,
    /// What every server of this installation is told.
    words: Vec<OsString>,
    dir: PathBuf,
    _temporary: tempfile::TempDir,
}

impl Rig {
    /// Starts a server on SQLite and makes its first admin.
    pub async fn new(binary: &Path) -> anyhow::Result<Rig> {
        Rig::on(binary, None).await
    }

    /// The same on another database, where one is named.
    pub async fn on(binary: &Path, database: Option<&str>) -> anyhow::Result<Rig> {
        Rig::configured(binary, database, "").await
    }

    /// The same with settings, as TOML.
    pub async fn configured(
        binary: &Path,
        database: Option<&str>,
        settings: &str,
    ) -> anyhow::Result<Rig> {
        let temporary = tempfile::Builder::new().prefix("hostler-bench-").tempdir()?;
        let dir = temporary.path().canonicalize()?;
        let file = dir.join("settings.toml");
        std::fs::write(&file, settings)?;
        let mut words: Vec<OsString> = vec!["--config".into(), file.into()];
        if let Some(url) = database {
            let key = dir.join("master.key");
            make_master_key(&key)?;
            words.extend(["--database".into(), url.into(), "--master-key-file".into(), key.into()]);
        }
        let (mut server, started) = start_server(binary, &dir, "bench", &words).await?;
        let url = format!("https://{}", word_after(&started, " api=")?);
        let code = word_after(&server.line("/#setup=").await?, "/#setup=")?;
        let presented = probe(&url, Clock::system().now(), DEADLINE).await?;
        let fingerprint = word_after(&started, " fingerprint=")?;
        ensure!(presented.fingerprint.to_string() == fingerprint, "another server answers");
        let ca_pem = presented.ca_pem;
        let config = admin(&url, &ca_pem, code).await?;
        let client = Client::new(config.clone())?;
        let binary = binary.to_owned();
        let agent = None;
        let _temporary = temporary;
        Ok(Rig { agent, server, client, config, url, ca_pem, binary, words, dir, _temporary })
    }

    /// One more server of the same installation, and the same admin there. It ends when it is dropped.
    pub async fn companion(&self, name: &str) -> anyhow::Result<(Process, Client)> {
        let (server, started) = start_server(&self.binary, &self.dir, name, &self.words).await?;
        let mut config = self.config.clone();
        config.address = format!("https://{}", word_after(&started, " api=")?);
        Ok((server, Client::new(config)?))
    }

    /// Kills the server, waits for so long, and starts it again, on other ports.
    pub async fn kill_server(&mut self, away: Duration) -> anyhow::Result<()> {
        self.server.end(Signal::KILL);
        tokio::time::sleep(away).await;
        let started = start_server(&self.binary, &self.dir, "bench", &self.words).await?;
        self.url = format!("https://{}", word_after(&started.1, " api=")?);
        self.server = started.0;
        self.config.address = self.url.clone();
        self.client = Client::new(self.config.clone())?;
        Ok(())
    }

    /// The same with an agent, whose node is online.
    pub async fn with_agent(binary: &Path) -> anyhow::Result<Rig> {
        let mut rig = Rig::new(binary).await?;
        let ticket = rig.ticket().await?;
        let data = rig.dir.join("agent");
        let mut join = command(&rig.binary, &rig.dir);
        join.args(["agent", "join", "-", "--name", "bench", "--server", &rig.url, "--data-dir"]);
        join.arg(&data).stdin(Stdio::piped()).stdout(Stdio::null());
        join.stderr(File::create(rig.dir.join("join.log"))?);
        let mut child = join.spawn().context("starting hostler agent join")?;
        child.stdin.take().context("no standard input")?.write_all(ticket.as_bytes())?;
        if !child.wait()?.success() {
            bail!("not joined: {}", std::fs::read_to_string(rig.dir.join("join.log"))?);
        }
        let mut run = command(&rig.binary, &rig.dir);
        run.args(["agent", "run", "--data-dir"]).arg(&data);
        rig.agent = Some(Process::start(rig.dir.join("agent.log"), run)?);
        rig.wait_online(1).await?;
        Ok(rig)
    }

    /// The same admin over connections of its own.
    pub fn another_client(&self) -> anyhow::Result<Client> {
        Ok(Client::new(self.config.clone())?)
    }

    /// The same admin at the command line, in a folder: the program, and what it finds in its environment.
    pub fn command_line(
        &self,
        folder: &Path,
    ) -> anyhow::Result<(PathBuf, [(&'static str, OsString); 3])> {
        let authority = folder.join("authority.pem");
        std::fs::write(&authority, &self.ca_pem)?;
        let variables = [
            ("HOSTLER_ADDR", self.url.clone().into()),
            ("HOSTLER_CACERT", authority.into()),
            ("HOSTLER_TOKEN", self.token()?.into()),
        ];
        Ok((self.binary.clone(), variables))
    }

    /// With which the admin proves to be who it is.
    pub fn token(&self) -> anyhow::Result<String> {
        let token = self.config.token.as_ref().context("the admin has a token")?;
        Ok(token.expose().to_owned())
    }

    /// Waits for a line of the server's log that contains these words; gives the word after the others.
    pub async fn server_word(&mut self, words: &str, name: &str) -> anyhow::Result<String> {
        word_after(&self.server.line(words).await?, name)
    }

    /// What the files of the server occupy, in bytes.
    pub fn server_files(&self) -> anyhow::Result<u64> {
        let mut all = 0;
        for entry in std::fs::read_dir(self.dir.join("bench"))? {
            let entry = entry?.metadata()?;
            all += if entry.is_file() { entry.len() } else { 0 };
        }
        Ok(all)
    }

    /// A fresh join ticket.
    pub async fn ticket(&self) -> anyhow::Result<String> {
        let body = JoinTokenCreateBody::default();
        let made = self.client.call::<JoinTokenCreate>(&Nothing {}, &Nothing {}, &body).await?;
        Ok(made.ticket)
    }

    /// Waits until so many nodes are online.
    pub async fn wait_online(&self, count: usize) -> anyhow::Result<()> {
        let query = NodeListQuery {
            state: Some(NodeState::Online),
            limit: Some(1000),
            ..NodeListQuery::default()
        };
        until("the nodes are online", async || {
            let nodes = self.client.call::<NodeList>(&Nothing {}, &query, &Nothing {}).await?;
            Ok((nodes.items.len() == count).then_some(()))
        })
        .await
    }

    pub fn server_pid(&self) -> u32 {
        self.server.child.id()
    }

    pub fn agent_pid(&self) -> anyhow::Result<u32> {
        Ok(self.agent.as_ref().context("there is no agent")?.child.id())
    }

    /// The process that forks shims for the agent.
    pub async fn executor_pid(&self) -> anyhow::Result<u32> {
        let agent = self.agent_pid()?;
        until("there is an executor", async || {
            let is_it =
                |pid: &u32| proc::name(*pid) == "hostler-exec" && proc::parent(*pid) == Some(agent);
            Ok(proc::pids().into_iter().find(is_it))
        })
        .await
    }

    /// Kills whatever still has to do with this directory.
    fn sweep(&self) {
        for _ in 0..50 {
            let left = processes_of(&self.dir);
            if left.is_empty() {
                return;
            }
            for pid in left {
                let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
                let _already_gone = pid.map(|pid| rustix::process::kill_process(pid, Signal::KILL));
            }
            std::thread::park_timeout(Duration::from_millis(50));
        }
    }

    fn remove_cgroups(&self) {
        let runs = std::fs::read_dir(self.dir.join("agent/runs")).into_iter().flatten().flatten();
        for run in runs {
            let record = std::fs::read(run.path().join("started.json")).unwrap_or_default();
            let record: serde_json::Value = serde_json::from_slice(&record).unwrap_or_default();
            if let Some(cgroup) = record["cgroup"].as_str() {
                let _not_empty = std::fs::remove_dir(cgroup);
            }
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.agent = None;
        let _already_gone = self.server.child.kill();
        self.sweep();
        self.remove_cgroups();
    }
}

/// Starts a server; gives what it says when it serves.
async fn start_server(
    binary: &Path,
    dir: &Path,
    name: &str,
    words: &[OsString],
) -> anyhow::Result<(Process, String)> {
    let mut command = command(binary, dir);
    command.args(["server", "run", "--name", name, "--listen", "127.0.0.1:0"]);
    command.args(["--agent-listen", "127.0.0.1:0", "--data-dir"]).arg(dir.join(name)).args(words);
    let mut server = Process::start(dir.join(format!("{name}.log")), command)?;
    let started = server.line("server started").await?;
    Ok((server, started))
}

/// What seals secrets in a database that is not the server's own.
fn make_master_key(path: &Path) -> anyhow::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    Ok(file.write_all(b"aG9zdGxlciBtZWFzdXJlbWVudCBrZXkgMzIgYnl0ZXM=\n")?)
}

async fn admin(url: &str, ca_pem: &str, code: String) -> anyhow::Result<ClientConfig> {
    let stranger = Client::new(ClientConfig::new(url, ca_pem))?;
    let body = SetupBody {
        code,
        name: "admin".parse()?,
        password: "a horse, a lantern, a gate".to_owned(),
        kind: LoginKind::Token,
    };
    let login = stranger.call::<Setup>(&Nothing {}, &Nothing {}, &body).await?;
    let mut config = ClientConfig::new(url, ca_pem);
    config.token = Some(SecretString::new(login.token.context("setup gave no token")?));
    config.timeout = DEADLINE;
    Ok(config)
}

#[expect(clippy::disallowed_methods, reason = "what is measured is a process of its own")]
fn command(binary: &Path, dir: &Path) -> Command {
    let mut command = Command::new(binary);
    command.env_clear().current_dir(dir);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("HOME", dir);
    command
}

fn word_after(line: &str, name: &str) -> anyhow::Result<String> {
    let rest = line.split_once(name).map(|(_, rest)| rest);
    let word = rest.and_then(|rest| rest.split_ascii_whitespace().next());
    Ok(word.with_context(|| format!("no `{name}` in `{line}`"))?.to_owned())
}

/// Processes that were started in or for a directory.
fn processes_of(dir: &Path) -> Vec<u32> {
    let needle = dir.as_os_str().as_encoded_bytes();
    let mentions = |bytes: &[u8]| bytes.windows(needle.len()).any(|part| part == needle);
    let belongs = |pid: &u32| {
        let words = ["cmdline", "environ"]
            .map(|file| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default());
        let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
        words.iter().any(|text| mentions(text)) || place.starts_with(dir)
    };
    let others = proc::pids().into_iter().filter(|pid| *pid != std::process::id());
    others.filter(|pid| proc::is_running(*pid)).filter(belongs).collect()
}
