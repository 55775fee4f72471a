//! Servers: alone, or with an agent inside as `hostler up`.

use std::ffi::OsString;
use std::net::SocketAddr;

use super::cli::BINARY;
use super::process::command;
use super::{Cli, Https, Process, Rig};

/// Of the admin that [`Server::first_login`] makes.
pub const PASSWORD: &str = "a horse, a lantern, a gate";

pub struct Server {
    pub process: Process,
    pub name: String,
    pub api: SocketAddr,
    pub agents: SocketAddr,
    pub fingerprint: String,
    words: Vec<OsString>,
}

impl Server {
    /// `hostler up` in the directory `up`, with its node `local` online.
    pub fn up<'a>(rig: &'a Rig) -> (Server, Cli<'a>) {
        let cli = Cli::new(rig);
        let words = placed(rig, "up", &["up", "--name", "local"]);
        let mut server = Server::started(spawn(rig, "up", &words, None), "up", words);
        server.process.line(&["Ctrl-C stops"]);
        cli.wait_node("local", "online");
        (server, cli)
    }

    /// `hostler server` with a database of its own, or the one given.
    pub fn alone(rig: &Rig, name: &str, database: Option<&str>) -> Server {
        Server::started(Server::spawn_alone(rig, name, database), name, alone(rig, name, database))
    }

    /// The same with settings of its own, as TOML.
    pub fn configured(rig: &Rig, name: &str, settings: &str) -> Server {
        let file = rig.path(&format!("{name}.toml"));
        std::fs::write(&file, settings).unwrap();
        let mut words = alone(rig, name, None);
        words.extend(["--config".into(), file.into()]);
        Server::started(spawn(rig, name, &words, None), name, words)
    }

    /// The same, without waiting for anything.
    pub fn spawn_alone(rig: &Rig, name: &str, database: Option<&str>) -> Process {
        spawn(rig, name, &alone(rig, name, database), None)
    }

    fn started(mut process: Process, name: &str, words: Vec<OsString>) -> Server {
        let line = process.line(&["server started"]);
        let field = |name: &str| {
            let rest = line.split_once(name).unwrap_or_else(|| panic!("{name} in {line}")).1;
            rest.split_ascii_whitespace().next().unwrap().to_owned()
        };
        Server {
            name: name.to_owned(),
            api: field(" api=").parse().unwrap(),
            agents: field(" agents=").parse().unwrap(),
            fingerprint: field(" fingerprint="),
            process,
            words,
        }
    }

    /// Starts the same server again, on the same ports: agents know them.
    pub fn restart(&mut self, rig: &Rig) {
        self.process.kill();
        let process = spawn(rig, &self.name, &self.words, Some((self.api, self.agents)));
        *self = Server::started(process, &self.name, std::mem::take(&mut self.words));
    }

    /// Goes on with other data, or another database, on the same ports.
    pub fn moved(&mut self, rig: &Rig, data: &str, database: Option<&str>) {
        self.process.kill();
        self.words = alone(rig, data, database);
        self.restart(rig);
    }

    pub fn url(&self) -> String {
        format!("https://{}", self.api)
    }

    pub fn https(&self) -> Https {
        Https::new(self.api, &self.fingerprint)
    }

    /// The code with which the first admin is made, as a person reads it.
    pub fn setup_code(&mut self) -> String {
        let line = self.process.line(&["/#setup="]);
        let rest = line.split_once("/#setup=").unwrap().1;
        rest.split_ascii_whitespace().next().unwrap().to_owned()
    }

    /// Makes the first admin; the command line keeps the login in a context named after the server.
    pub fn first_login<'a>(&mut self, rig: &'a Rig) -> Cli<'a> {
        let code = self.setup_code();
        self.login(rig, &["--setup", &code])
    }

    pub fn login<'a>(&self, rig: &'a Rig, more: &[&str]) -> Cli<'a> {
        let cli = Cli::new(rig).context(&self.name);
        let url = self.url();
        let place = ["login", &url, "--context", &self.name, "--fingerprint", &self.fingerprint];
        let words = [&place, &["--name", "admin", "--password-stdin"][..], more].concat();
        Cli::new(rig).run_with(&words, PASSWORD).must(0);
        cli
    }
}

fn alone(rig: &Rig, name: &str, database: Option<&str>) -> Vec<OsString> {
    let mut words = placed(rig, name, &["server", "run", "--name", name]);
    if let Some(url) = database {
        let key = rig.path("master.key");
        if !key.exists() {
            make_master_key(&key);
        }
        words.extend(["--database".into(), url.into(), "--master-key-file".into(), key.into()]);
    }
    words
}

fn placed(rig: &Rig, name: &str, words: &[&str]) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
    words.extend(["--data-dir".into(), rig.path(name).into()]);
    words
}

fn spawn(
    rig: &Rig,
    name: &str,
    words: &[OsString],
    ports: Option<(SocketAddr, SocketAddr)>,
) -> Process {
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let (api, agents) = ports.unwrap_or((any, any));
    let mut command = command(rig, BINARY);
    command.args(words);
    command.args(["--listen", &api.to_string(), "--agent-listen", &agents.to_string()]);
    Process::spawn(rig, name, command)
}

/// As the message of a server without one says.
fn make_master_key(path: &std::path::Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let mut file = std::fs::File::options();
    let mut file = file.write(true).create_new(true).mode(0o600).open(path).unwrap();
    let text = "aG9zdGxlciBlbmQgdG8gZW5kIHRlc3Qga2V5IDMyIGI=\n";
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}
