//! What the commands take from around them: variables, files, terminals. Given by the caller, so that
//! a test can give its own.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::Context;
use hostler_base::Clock;
use hostler_trust::SecretString;

/// Variables and places.
#[derive(Clone, Debug)]
pub struct Environment {
    /// `HOSTLER_TOKEN`.
    pub token: Option<SecretString>,
    /// `HOSTLER_ADDR_FILE`: what runs finds the address of its server there.
    pub address_file: Option<PathBuf>,
    /// Contexts: `HOSTLER_CONFIG`, or `hostler/config.toml` in the user's configuration directory.
    pub config_file: PathBuf,
    /// Tokens and pinned authorities, for the user alone.
    pub credentials_file: PathBuf,
    /// What this machine remembers of workflows that were run here.
    pub state_dir: PathBuf,
    /// `NO_COLOR` is set.
    pub has_no_color: bool,
    /// `CLICOLOR_FORCE` is set and not 0.
    pub has_forced_color: bool,
    pub clock: Clock,
}

impl Environment {
    pub fn from_process() -> anyhow::Result<Environment> {
        Environment::from_lookup(|key| std::env::var_os(key))
    }

    /// Empty variables count as absent.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<OsString>) -> anyhow::Result<Environment> {
        let get = |key: &str| lookup(key).filter(|value| !value.is_empty());
        let place = |xdg: &str, below_home: &str| {
            get(xdg)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
                .or_else(|| Some(PathBuf::from(get("HOME")?).join(below_home)))
                .with_context(|| format!("neither HOME nor {xdg} is set; set one of them"))
        };
        let config_file = match get("HOSTLER_CONFIG") {
            Some(path) => path.into(),
            None => place("XDG_CONFIG_HOME", ".config")?.join("hostler/config.toml"),
        };
        let token = get("HOSTLER_TOKEN")
            .map(|token| token.into_string().ok().context("HOSTLER_TOKEN is not text"))
            .transpose()?;
        Ok(Environment {
            token: token.map(|token| SecretString::new(token.trim())),
            address_file: get("HOSTLER_ADDR_FILE").map(PathBuf::from),
            config_file,
            credentials_file: place("XDG_DATA_HOME", ".local/share")?
                .join("hostler/credentials.toml"),
            state_dir: place("XDG_STATE_HOME", ".local/state")?.join("hostler"),
            has_no_color: get("NO_COLOR").is_some(),
            has_forced_color: get("CLICOLOR_FORCE").is_some_and(|value| value != "0"),
            clock: Clock::system(),
        })
    }
}

/// Where data, talk and answers go.
pub struct Streams {
    pub input: RefCell<Box<dyn BufRead>>,
    pub out: RefCell<Box<dyn Write>>,
    pub err: RefCell<Box<dyn Write>>,
    pub is_input_terminal: bool,
    pub is_out_terminal: bool,
    pub is_err_terminal: bool,
}

impl Streams {
    pub fn of_process() -> Streams {
        Streams {
            is_input_terminal: io::stdin().is_terminal(),
            is_out_terminal: io::stdout().is_terminal(),
            is_err_terminal: io::stderr().is_terminal(),
            input: RefCell::new(Box::new(io::stdin().lock())),
            out: RefCell::new(Box::new(io::stdout())),
            err: RefCell::new(Box::new(io::stderr())),
        }
    }
}
