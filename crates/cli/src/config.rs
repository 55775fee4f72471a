//! Contexts: the servers this machine knows, and the credentials for them.
//!
//! Two files, each written whole and atomically. `config.toml` may be shown to anybody; what must not
//! be is in `credentials.toml`, which only its owner can read: tokens, and the pinned authorities next
//! to them (they are not secret, but who could change them could pose as the server). A crash between
//! the two leaves a context without credentials, which says so and asks for a login.

use std::collections::BTreeMap;

use anyhow::Context as _;
use hostler_base::fs;
use hostler_trust::{AuthorityBundle, AuthorityCertificate, SecretString};
use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// `config.toml`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Name of the context that is used when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub contexts: BTreeMap<String, Context>,
}

/// A server that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Context {
    /// `https://host:7443`.
    pub address: String,
    /// Project to work in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Of the authority that is pinned.
    pub fingerprint: String,
}

/// `credentials.toml`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Credentials {
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    contexts: BTreeMap<String, StoredSecrets>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StoredSecrets {
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "exposed")]
    token: Option<SecretString>,
    ca: String,
}

fn exposed<S: serde::Serializer>(
    token: &Option<SecretString>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    token.as_ref().map(SecretString::expose).serialize(serializer)
}

/// What is kept for a context besides what anybody may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    pub token: Option<SecretString>,
    /// The pinned authority.
    pub ca_pem: String,
}

pub fn load(environment: &Environment) -> anyhow::Result<Config> {
    read(&environment.config_file)
}

/// The secrets of a context; `None` where nothing is kept.
pub fn load_secrets(environment: &Environment, name: &str) -> anyhow::Result<Option<Secrets>> {
    let mut credentials: Credentials = read(&environment.credentials_file)?;
    Ok(credentials
        .contexts
        .remove(name)
        .map(|stored| Secrets { token: stored.token, ca_pem: stored.ca }))
}

/// Adds or replaces a context with its secrets, and makes it the current one if asked to. Without a
/// new token the old one is kept, as long as the authority is the same.
pub fn save_context(
    environment: &Environment,
    name: &str,
    address: &str,
    project: Option<&str>,
    secrets: &Secrets,
    make_current: bool,
) -> anyhow::Result<()> {
    let authority = AuthorityCertificate::from_pem(&secrets.ca_pem)
        .context("read the authority's certificate")?;
    let mut credentials: Credentials = read(&environment.credentials_file)?;
    let is_known = |stored: &StoredSecrets| {
        AuthorityBundle::from_pem(&stored.ca)
            .is_ok_and(|pinned| pinned.has(authority.fingerprint()))
    };
    let before = credentials.contexts.remove(name).filter(is_known);
    let token = secrets.token.clone().or(before.and_then(|stored| stored.token));
    let stored = StoredSecrets { token, ca: secrets.ca_pem.clone() };
    credentials.contexts.insert(name.to_owned(), stored);
    write(&environment.credentials_file, &credentials)?;

    let mut config = load(environment)?;
    let context = Context {
        address: address.to_owned(),
        project: project.map(str::to_owned),
        fingerprint: authority.fingerprint().to_string(),
    };
    config.contexts.insert(name.to_owned(), context);
    if make_current || config.current.is_none() {
        config.current = Some(name.to_owned());
    }
    save(environment, &config)
}

/// Pins other authorities for a context. The credentials come first: they still have the authority whose
/// fingerprint the configuration has, should it stop in between.
pub fn repin(
    environment: &Environment,
    name: &str,
    authorities: &AuthorityBundle,
) -> anyhow::Result<()> {
    let mut credentials: Credentials = read(&environment.credentials_file)?;
    let Some(stored) = credentials.contexts.get_mut(name) else { return Ok(()) };
    stored.ca = authorities.pem();
    write(&environment.credentials_file, &credentials)?;
    let mut config = load(environment)?;
    if let Some(context) = config.contexts.get_mut(name) {
        context.fingerprint = authorities.first().fingerprint().to_string();
        save(environment, &config)?;
    }
    Ok(())
}

pub fn save(environment: &Environment, config: &Config) -> anyhow::Result<()> {
    write(&environment.config_file, config)
}

/// Forgets the token of a context, and says whether there was one. The authority stays pinned.
pub fn forget_token(environment: &Environment, name: &str) -> anyhow::Result<bool> {
    let mut credentials: Credentials = read(&environment.credentials_file)?;
    let had =
        credentials.contexts.get_mut(name).is_some_and(|stored| stored.token.take().is_some());
    if had {
        write(&environment.credentials_file, &credentials)?;
    }
    Ok(had)
}

/// Forgets a context with its secrets, and says whether it was known.
pub fn remove_context(environment: &Environment, name: &str) -> anyhow::Result<bool> {
    let mut config = load(environment)?;
    let was_known = config.contexts.remove(name).is_some();
    if config.current.as_deref() == Some(name) {
        config.current = None;
    }
    if was_known {
        save(environment, &config)?;
    }
    let mut credentials: Credentials = read(&environment.credentials_file)?;
    if credentials.contexts.remove(name).is_some() {
        write(&environment.credentials_file, &credentials)?;
    }
    Ok(was_known)
}

fn read<T: Default + for<'de> Deserialize<'de>>(path: &std::path::Path) -> anyhow::Result<T> {
    let Some(bytes) = fs::read_optional(path)? else {
        return Ok(T::default());
    };
    let text =
        String::from_utf8(bytes).with_context(|| format!("read {} as text", path.display()))?;
    toml::from_str(&text).with_context(|| {
        format!("understand {}; correct it, or move it away and log in again", path.display())
    })
}

fn write<T: Serialize>(path: &std::path::Path, content: &T) -> anyhow::Result<()> {
    let text = toml::to_string(content).context("write the configuration as TOML")?;
    if let Some(directory) = path.parent().filter(|directory| !directory.as_os_str().is_empty())
        && !directory.exists()
    {
        fs::create_dir(directory, 0o700)?;
    }
    Ok(fs::write_atomic(path, text.as_bytes(), 0o600)?)
}
