//! Who is at the other end, and how it is spoken to.

use std::time::Duration;

use mlua::{Lua, Table, Value};

use super::login;
use crate::modules::system::given::Given;
use crate::modules::system::machine::Trouble;
use crate::modules::{Ended, Order, acting};

/// What `ssh` ends with when it is about the connection and not the program.
const NO_CONNECTION: i32 = 255;
/// Seconds until a machine that does not answer is given up.
const CONNECT: f64 = 30.0;
/// What marks a client of ours.
pub(super) const MARK: &str = "_ssh";

/// Which of the passwords of the step it is let in with.
const LOGIN: &str = "_login";

pub(super) struct Client {
    options: Vec<String>,
    destination: String,
    login: Option<usize>,
}

impl Client {
    /// From what `connect` is given.
    pub fn read(given: &Given) -> Result<Client, Trouble> {
        let (host, user) = (given.text("host")?, given.maybe("user")?);
        let is_plain = |text: &str| {
            !text.is_empty()
                && !text.starts_with('-')
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._:%-[]@\\".contains(&b))
        };
        if !is_plain(&host) || user.as_deref().is_some_and(|user| !is_plain(user)) {
            return Err(given
                .misuse("cannot use such a host or user; write a name or an address")
                .into());
        }
        let checking = if given.is("accept_new")? { "accept-new" } else { "yes" };
        let timeout = given.amount("timeout")?.unwrap_or(CONNECT);
        let password = given.maybe("password")?;
        let mut options = match &password {
            None => vec!["BatchMode=yes".to_owned()],
            // It stands first, because `sftp` with commands on its input says the contrary later.
            Some(_) => vec![
                "BatchMode=no".to_owned(),
                "PreferredAuthentications=password,keyboard-interactive".to_owned(),
                "NumberOfPasswordPrompts=1".to_owned(),
            ],
        };
        options.extend([
            format!("StrictHostKeyChecking={checking}"),
            format!("ConnectTimeout={}", timeout.ceil().max(1.0)),
            "ServerAliveInterval=15".to_owned(),
            "ServerAliveCountMax=4".to_owned(),
        ]);
        options.extend(user.map(|user| format!("User={user}")));
        options.extend(given.number::<u16>("port")?.map(|port| format!("Port={port}")));
        if let Some(file) = given.maybe_path("known_hosts")? {
            options
                .push(format!("UserKnownHostsFile={}", configured(&file.display().to_string())?));
        }
        if let Some(key) = given.maybe_path("key_path")? {
            options.push(format!("IdentityFile={}", configured(&key.display().to_string())?));
            options.push("IdentitiesOnly=yes".to_owned());
        }
        let destination = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let login = password.map(login::keep).transpose()?;
        Ok(Client { options, destination, login })
    }

    /// As Lua has it.
    pub fn table(&self, lua: &Lua) -> mlua::Result<Table> {
        let table = lua.create_table()?;
        table.raw_set("host", self.destination.as_str())?;
        table.raw_set(LOGIN, self.login)?;
        table.raw_set(MARK, lua.create_sequence_from(self.options.iter().map(String::as_str))?)?;
        Ok(table)
    }

    /// The client that a function is given.
    pub fn of(given: &Given) -> Result<Client, Trouble> {
        let misuse = || given.misuse("needs a client; `ssh.connect` gives one");
        let Value::Table(table) = given.value("client") else { return Err(misuse().into()) };
        match table.raw_get::<Value>(MARK)? {
            Value::Table(options) => Ok(Client {
                options: options.sequence_values().collect::<mlua::Result<_>>()?,
                destination: table.raw_get("host")?,
                login: table.raw_get(LOGIN)?,
            }),
            Value::Boolean(false) => {
                Err(Trouble::new("this client is disconnected; connect again"))
            }
            _ => Err(misuse().into()),
        }
    }

    pub fn close(table: &Table) -> mlua::Result<()> {
        table.raw_set(MARK, false)
    }

    pub fn name(&self) -> &str {
        &self.destination
    }

    fn order(&self, program: &str, more: &[&str]) -> Order {
        let options = self.options.iter().flat_map(|option| ["-o", option.as_str()]);
        let argv = std::iter::once(program).chain(options).chain(more.iter().copied());
        let mut order = Order { program: argv.map(Into::into).collect(), ..Order::default() };
        order.prepare(&acting());
        if let Some(login) = self.login {
            login::tell(login, &mut order.environment);
        }
        order
    }

    /// An `ssh` that only forwards a port.
    pub fn tunnel(&self, way: &str) -> Order {
        let words = ["-N", "-T", "-o", "ExitOnForwardFailure=yes", "-L", way, "--"];
        self.order("ssh", &[&words[..], &[&self.destination]].concat())
    }

    /// Runs a line on the other machine. That the line fails is no trouble here.
    pub async fn run(&self, line: &str) -> Result<Ended, Trouble> {
        let ended =
            started("ssh", self.order("ssh", &["-T", "--", &self.destination, line])).await?;
        match ended.code() {
            NO_CONNECTION => Err(Trouble::new(format!(
                "{} cannot be reached: {}",
                self.destination,
                advice(&String::from_utf8_lossy(&ended.stderr))
            ))),
            _ => Ok(ended),
        }
    }

    /// Runs words on the other machine, which must succeed.
    pub async fn tell(&self, words: &[&str]) -> Result<String, Trouble> {
        let ended = self.run(&line(words)).await?;
        match ended.is_success() {
            true => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
                Err(Trouble::new(format!("{}: `{}`: {said}", self.destination, words.join(" "))))
            }
        }
    }

    /// Moves files, with commands of `sftp`.
    pub async fn transfer(&self, commands: &[String]) -> Result<(), Trouble> {
        let mut order = self.order("sftp", &["-q", "-b", "-", "--", &self.destination]);
        order.input =
            Some(commands.iter().flat_map(|c| [c.as_str(), "\n"]).collect::<String>().into());
        let ended = started("sftp", order).await?;
        match ended.is_success() {
            true => Ok(()),
            false => Err(Trouble::new(format!(
                "{}: {}",
                self.destination,
                advice(&String::from_utf8_lossy(&ended.stderr))
            ))),
        }
    }
}

/// A program of OpenSSH, to its end.
pub(super) async fn started(program: &str, order: Order) -> Result<Ended, Trouble> {
    order.run().await.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Trouble::new(format!(
            "{program} is not installed here; install OpenSSH's client (`openssh-client` or `openssh-clients`)"
        )),
        _ => Trouble::new(format!("{program} cannot be started: {error}")),
    })
}

/// How long programs that only look at files may take.
pub(super) const SHORT: Duration = Duration::from_secs(60);

/// A value as the configuration of OpenSSH reads it.
fn configured(path: &str) -> Result<String, Trouble> {
    match path.contains(['"', '\n', '%']) {
        true => Err(Trouble::new(format!(
            "the path `{path}` cannot be used: it has a quote, `%` or a line break"
        ))),
        false => Ok(format!("\"{path}\"")),
    }
}

/// A complaint with what to do.
fn advice(said: &str) -> String {
    let said = said.trim();
    let next = if said.contains("Host key verification failed")
        || said.contains("No ED25519 host key is known")
    {
        "; put its host key into known_hosts, or say `accept_new = true` for the first time"
    } else if said.contains("Permission denied") {
        "; say `key_path`, or add the key to the other machine's authorized keys"
    } else {
        ""
    };
    format!("{said}{next}")
}

/// Words as one line that every shell divides into the same words again.
pub(super) fn line(words: &[&str]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-+=:,@".contains(&b);
    match !word.is_empty() && word.bytes().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A path as `sftp` reads it: between quotes only quotes and backslashes mean something.
pub(super) fn path_word(path: &str) -> Result<String, Trouble> {
    if path.contains(['\n', '\r', '\0']) || path.is_empty() {
        return Err(Trouble::new("a path must be one line that is not empty"));
    }
    let mut word = String::from("\"");
    for c in path.chars() {
        if matches!(c, '"' | '\\') {
            word.push('\\');
        }
        word.push(c);
    }
    word.push('"');
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_arrive_as_they_are() {
        assert_eq!(line(&["rm", "--", "/a/b c"]), "rm -- '/a/b c'");
        assert_eq!(line(&["echo", "it's", "$HOME", ""]), r"echo 'it'\''s' '$HOME' ''");
    }

    #[test]
    fn paths_are_quoted_for_sftp() {
        assert_eq!(path_word("/a b").ok().as_deref(), Some("\"/a b\""));
        assert_eq!(path_word("a\"*\\").ok().as_deref(), Some(r#""a\"*\\""#));
        assert!(path_word("a\nrm x").is_err());
    }
}
