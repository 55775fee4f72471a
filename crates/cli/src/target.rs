//! Which server, as whom, in which project: flag over environment over context over default.
//!
//! A stored token is only ever sent to the address it was stored with: `--address` alone does not
//! borrow the credentials of the current context.
//!
//! Something that runs with an identity is told all of it by its environment: its token, the address of its
//! server and the authority to trust are in files that `HOSTLER_*` name.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use hostler_client::{Client, ClientConfig};
use hostler_model::DEFAULT_PROJECT;
use hostler_trust::{AuthorityBundle, SecretString};

use crate::args::Globals;
use crate::config::{self, Config, Secrets};
use crate::environment::Environment;
use crate::failure::Failure;

/// Everything a call needs, with where it came from.
#[derive(Clone, Debug)]
pub struct Target {
    /// Name of the context that gave something.
    pub context: Option<String>,
    pub address: Sourced<String>,
    pub project: Sourced<String>,
    pub ca_pem: Sourced<String>,
    pub token: Option<Sourced<SecretString>>,
}

/// A value and where it came from.
#[derive(Clone, Debug)]
pub struct Sourced<T> {
    pub value: T,
    pub source: String,
}

fn sourced<T>(value: T, source: impl Into<String>) -> Sourced<T> {
    Sourced { value, source: source.into() }
}

impl Target {
    pub fn client(&self) -> Result<Client, Failure> {
        let mut config = ClientConfig::new(&self.address.value, &self.ca_pem.value);
        config.token = self.token.as_ref().map(|token| token.value.clone());
        config.timeout = Duration::from_secs(30);
        Ok(Client::new(config)?)
    }

    pub fn resolve(globals: &Globals, environment: &Environment) -> Result<Target, Failure> {
        let in_run = in_run(globals, environment)?;
        let globals = in_run.as_ref().unwrap_or(globals);
        let config = config::load(environment)?;
        let name = context_name(globals, &config)?;
        let secrets = match &name {
            Some(name) => config::load_secrets(environment, name)?,
            None => None,
        };
        let context = name.as_ref().and_then(|name| config.contexts.get(name));
        let from_context = || format!("context `{}`", name.as_deref().unwrap_or_default());
        let address = match (given(&globals.address), context) {
            (Some(address), _) if in_run.is_some() => {
                sourced(address.to_owned(), "HOSTLER_ADDR_FILE")
            }
            (Some(address), _) => sourced(address.to_owned(), "--address or HOSTLER_ADDR"),
            (None, Some(context)) => sourced(context.address.clone(), from_context()),
            (None, None) => return Err(nothing_known()),
        };
        Ok(Target {
            project: match (given(&globals.project), context.and_then(|c| c.project.as_deref())) {
                (Some(project), _) => sourced(project.to_owned(), "--project or HOSTLER_PROJECT"),
                (None, Some(project)) => sourced(project.to_owned(), from_context()),
                (None, None) => sourced(DEFAULT_PROJECT.to_owned(), "default"),
            },
            ca_pem: match (path(&globals.cacert), &secrets) {
                (Some(path), _) => sourced(read(path)?, "--cacert or HOSTLER_CACERT"),
                (None, Some(secrets)) => {
                    sourced(checked(&config, name.as_deref(), secrets)?, from_context())
                }
                (None, None) => return Err(nothing_pinned(&address.value)),
            },
            token: match (
                &environment.token,
                path(&globals.token_file),
                secrets.and_then(|s| s.token),
            ) {
                (Some(token), _, _) => Some(sourced(token.clone(), "HOSTLER_TOKEN")),
                (None, Some(path), _) => {
                    let token = SecretString::new(read(path)?.trim());
                    if token.expose().is_empty() {
                        return Err(Failure::usage(
                            format!("{} is empty: a token was expected in it", path.display()),
                            "name another with --token-file or HOSTLER_TOKEN_FILE; `hostler token create` makes one",
                        ));
                    }
                    Some(sourced(token, "--token-file or HOSTLER_TOKEN_FILE"))
                }
                (None, None, Some(token)) => Some(sourced(token, from_context())),
                (None, None, None) => None,
            },
            context: name,
            address,
        })
    }
}

/// What was given, with the address that a run was told; `None` where it was told none, or somebody says
/// otherwise.
fn in_run(globals: &Globals, environment: &Environment) -> Result<Option<Globals>, Failure> {
    let is_said = given(&globals.address).is_some() || given(&globals.context).is_some();
    let Some(path) = environment.address_file.as_deref().filter(|_| !is_said) else {
        return Ok(None);
    };
    let address = Some(read(path)?.trim().to_owned());
    Ok(Some(Globals { address, ..globals.clone() }))
}

/// The context that was named; or, where only an address was, the one that has this address; or the
/// current one.
fn context_name(globals: &Globals, config: &Config) -> Result<Option<String>, Failure> {
    let has_address = |name: &str, address: &str| {
        config.contexts.get(name).is_some_and(|context| same_address(&context.address, address))
    };
    match (given(&globals.context), given(&globals.address)) {
        (Some(name), address) => {
            if !config.contexts.contains_key(name) {
                return Err(Failure::told(
                    crate::exit::Code::NotFound,
                    format!("there is no context `{name}`"),
                    "list them with `hostler context ls`",
                ));
            }
            Ok(Some(name.to_owned()).filter(|name| address.is_none_or(|a| has_address(name, a))))
        }
        (None, Some(address)) => {
            let others = config.contexts.keys().map(String::as_str);
            let mut candidates = config.current.as_deref().into_iter().chain(others);
            Ok(candidates.find(|name| has_address(name, address)).map(str::to_owned))
        }
        (None, None) => Ok(config.current.clone()),
    }
}

pub(crate) fn given(value: &Option<String>) -> Option<&str> {
    value.as_deref().filter(|text| !text.is_empty())
}

fn path(value: &Option<PathBuf>) -> Option<&Path> {
    value.as_deref().filter(|path| !path.as_os_str().is_empty())
}

pub(crate) fn same_address(one: &str, other: &str) -> bool {
    let bare = |address: &str| {
        let address = address.strip_prefix("https://").unwrap_or(address);
        address.trim_end_matches('/').to_ascii_lowercase()
    };
    bare(one) == bare(other)
}

/// The two files must agree: a changed authority is not trusted because of one of them.
fn checked(config: &Config, name: Option<&str>, secrets: &Secrets) -> Result<String, Failure> {
    let pinned = AuthorityBundle::from_pem(&secrets.ca_pem).context("read the pinned authority")?;
    let expected =
        name.and_then(|name| config.contexts.get(name)).map(|context| &context.fingerprint);
    match expected {
        Some(expected) if !expected.parse().is_ok_and(|one| pinned.has(one)) => Err(Failure::told(
            crate::exit::Code::Denied,
            "the pinned authority is not the one whose fingerprint the configuration has",
            "log in again with `hostler login` and compare the fingerprint with the server's",
        )),
        _ => Ok(secrets.ca_pem.clone()),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    Ok(std::fs::read_to_string(path).with_context(|| format!("read {}", path.display()))?)
}

fn nothing_known() -> Failure {
    Failure::usage(
        "no server is known here",
        "`hostler up` starts one on this machine, `hostler login https://host:7443` takes one that runs",
    )
}

fn nothing_pinned(address: &str) -> Failure {
    Failure::told(
        crate::exit::Code::Denied,
        format!("the authority of {address} is not known"),
        format!(
            "`hostler login {address}` pins it after you compared its fingerprint; or give its certificate with --cacert"
        ),
    )
}
