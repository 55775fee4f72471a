//! Vaults outside: where the values of linked secrets are kept.
//!
//! One trait, [`Provider`], and two ways to be one: HashiCorp Vault's key-value store in its second version,
//! over HTTP ([`hashicorp`]), and a program of the operator's choice ([`exec`]). Which there are says the
//! configuration of the servers and nothing else; people name them, and a path.
//!
//! *Whose path.* A vault has a list of projects and a prefix. A path that a link names is put behind the
//! prefix with the project's name in it, and neither can lead up (`model::secret_link`), so a project reaches
//! what is below its own prefix and nothing else, whatever the servers' credential may read. The rule that
//! several projects never share a prefix is checked when the configuration is read
//! ([`VaultConfig::problem`]).
//!
//! *How long.* Values are asked for when a run starts or somebody reads them. They are kept in memory for a
//! short while, so that a thousand tasks which start at once ask once or a few times; they are stored
//! nowhere. A failure is never kept.

mod exec;
mod hashicorp;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_egress::Egress;
use hostler_model::{Code, Error, Name, Project, SECRET_MAX, SecretLink, SecretRef, VaultPrefix};
use hostler_trust::SecretBytes;

/// What an answer may have at most, in bytes, before the value is taken out of it.
const ANSWER_MAX: usize = 1 << 20;
/// Values that are kept in memory at once.
const KEPT_MAX: usize = 1000;
/// What is told of somebody else's words.
const WORDS_MAX: usize = 200;

/// One vault, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultConfig {
    pub name: Name,
    pub projects: VaultProjects,
    pub prefix: VaultPrefix,
    /// How long one reading may take.
    pub time_max: Duration,
    /// How long a value is kept in memory.
    pub keep: Duration,
    pub kind: VaultKind,
}

/// Who may have links into a vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultProjects {
    All,
    Named(Vec<Name>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultKind {
    HashiCorp(HashiCorpVault),
    /// A program and its arguments.
    Exec(Vec<String>),
}

impl VaultKind {
    pub const fn label(&self) -> &'static str {
        match self {
            VaultKind::HashiCorp(_) => "hashicorp",
            VaultKind::Exec(_) => "exec",
        }
    }
}

/// HashiCorp Vault, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashiCorpVault {
    /// `https://host:port`.
    pub address: String,
    /// Where the key-value store is mounted.
    pub mount: String,
    pub namespace: Option<String>,
    /// Certificates to believe, instead of those that other calls believe, in PEM form.
    pub authorities_pem: Option<Vec<u8>>,
    pub login: VaultLogin,
}

/// How the servers prove who they are. Files are read whenever they are needed, so they can be replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VaultLogin {
    Token {
        file: PathBuf,
    },
    AppRole {
        mount: String,
        role_id: String,
        secret_id_file: PathBuf,
    },
    /// The methods `jwt` and `kubernetes`, which speak alike.
    Jwt {
        mount: String,
        role: String,
        file: PathBuf,
    },
}

impl VaultConfig {
    /// What is wrong with it as a whole.
    pub fn problem(&self) -> Option<&'static str> {
        let is_shared = match &self.projects {
            VaultProjects::All => true,
            VaultProjects::Named(names) => names.len() > 1,
        };
        let is_open = is_shared && !self.prefix.is_per_project();
        is_open.then_some(
            "several projects would share one prefix: put `{project}` into it, or name one project",
        )
    }

    fn is_for(&self, project: &Name) -> bool {
        match &self.projects {
            VaultProjects::All => true,
            VaultProjects::Named(names) => names.contains(project),
        }
    }
}

/// What is asked of a vault.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ask {
    pub(crate) project: Name,
    /// Whole, with the prefix.
    pub(crate) path: String,
    pub(crate) field: Option<String>,
    pub(crate) version: Option<u32>,
}

/// What a vault answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fetched {
    pub(crate) value: SecretBytes,
    /// As the vault counts; 0 where it does not.
    pub(crate) version: u32,
}

/// Why a vault does not give a value. Never contains one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VaultError {
    /// It is not there. Waiting does not help.
    #[error("{0}")]
    Absent(String),
    /// It is there, and cannot be used. Waiting does not help.
    #[error("{0}")]
    Unusable(String),
    /// The servers may not read it.
    #[error("{0}")]
    Denied(String),
    /// The vault cannot answer now.
    #[error("{0}")]
    Away(String),
}

/// Somebody who keeps secrets. `now` is the clock's instant.
pub(crate) trait Provider: Send + Sync {
    fn read<'a>(
        &'a self,
        ask: &'a Ask,
        now: Duration,
    ) -> BoxFuture<'a, Result<Fetched, VaultError>>;
}

/// A vault that a project may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VaultDetail {
    pub name: Name,
    pub kind: &'static str,
    /// What comes before the paths of the project's links.
    pub prefix: String,
}

/// Every vault of the configuration, and what they said a moment ago.
pub(crate) struct Vaults {
    by_name: BTreeMap<Name, Vault>,
    kept: Mutex<HashMap<(Name, Ask), Kept>>,
}

struct Vault {
    config: VaultConfig,
    provider: Box<dyn Provider>,
}

struct Kept {
    fetched: Fetched,
    until: Duration,
}

impl Vaults {
    pub(crate) fn new(configs: &[VaultConfig], egress: &Egress) -> Vaults {
        let made = configs.iter().map(|config| {
            let provider: Box<dyn Provider> = match &config.kind {
                VaultKind::HashiCorp(vault) => {
                    Box::new(hashicorp::HashiCorp::new(vault.clone(), egress))
                }
                VaultKind::Exec(command) => Box::new(exec::Exec::new(command.clone())),
            };
            (config.name.clone(), Vault { config: config.clone(), provider })
        });
        Vaults { by_name: made.collect(), kept: Mutex::default() }
    }

    /// Those that the project may use, by name.
    pub(crate) fn list(&self, project: &Project) -> Vec<VaultDetail> {
        let usable = self.by_name.values().filter(|vault| vault.config.is_for(&project.name));
        usable
            .map(|vault| VaultDetail {
                name: vault.config.name.clone(),
                kind: vault.config.kind.label(),
                prefix: vault.config.prefix.of(&project.name),
            })
            .collect()
    }

    fn find(&self, project: &Project, provider: &Name) -> Result<&Vault, Error> {
        let vault = self.by_name.get(provider).ok_or_else(|| {
            Error::new(
                Code::Unavailable,
                format!("this server knows no vault `{provider}`"),
                "list those it knows with `hostler secret vaults`; an operator adds one as `[vault.NAME]` to the configuration of every server",
            )
        })?;
        if !vault.config.is_for(&project.name) {
            return Err(Error::new(
                Code::Forbidden,
                format!("the project `{}` may not use the vault `{provider}`", project.name),
                "an operator can add it to `projects` of the vault, in the configuration of the servers",
            ));
        }
        Ok(vault)
    }

    pub(crate) fn has(&self, provider: &Name) -> bool {
        self.by_name.contains_key(provider)
    }

    /// Whether the project may link to this vault at all.
    pub(crate) fn check(&self, project: &Project, provider: &Name) -> Result<(), Error> {
        self.find(project, provider).map(|_| ())
    }

    /// The value that a link leads to.
    pub(crate) async fn resolve(
        &self,
        project: &Project,
        reference: &SecretRef,
        link: &SecretLink,
        now: Duration,
    ) -> Result<Fetched, Error> {
        let vault = self.find(project, &link.provider)?;
        let ask = Ask {
            project: project.name.clone(),
            path: format!("{}{}", vault.config.prefix.of(&project.name), link.path),
            field: link.field.clone(),
            version: link.version,
        };
        let key = (link.provider.clone(), ask);
        if let Some(kept) = self.kept().get(&key).filter(|kept| now < kept.until) {
            return Ok(kept.fetched.clone());
        }
        let limit = vault.config.time_max;
        let read = tokio::time::timeout(limit, vault.provider.read(&key.1, now)).await;
        let read = read.unwrap_or_else(|_| {
            Err(VaultError::Away(format!("it did not answer within {} s", limit.as_secs_f64())))
        });
        let fetched = match read.and_then(usable) {
            Ok(fetched) => fetched,
            Err(error) => return Err(told(reference, link, &key.1.path, error)),
        };
        if !vault.config.keep.is_zero() {
            let mut kept = self.kept();
            if kept.len() >= KEPT_MAX {
                kept.retain(|_, kept| now < kept.until);
            }
            if kept.len() < KEPT_MAX {
                let until = now.saturating_add(vault.config.keep);
                kept.insert(key, Kept { fetched: fetched.clone(), until });
            }
        }
        Ok(fetched)
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<(Name, Ask), Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets go of what is too old to be used.
    pub(crate) fn sweep(&self, now: Duration) {
        self.kept().retain(|_, kept| now < kept.until);
    }
}

fn usable(fetched: Fetched) -> Result<Fetched, VaultError> {
    match fetched.value.len() {
        0 => Err(VaultError::Unusable("the value there is empty".to_owned())),
        1..=SECRET_MAX => Ok(fetched),
        n => Err(VaultError::Unusable(format!("the value there has {n} bytes, more than 64 KiB"))),
    }
}

fn told(reference: &SecretRef, link: &SecretLink, path: &str, error: VaultError) -> Error {
    let (code, hint) = match &error {
        VaultError::Absent(_) => (
            Code::NotFound,
            format!(
                "put it there, or link it to another place with `hostler secret link {reference}`"
            ),
        ),
        VaultError::Unusable(_) => (
            Code::Conflict,
            format!(
                "change it there, or link it to another place with `hostler secret link {reference}`"
            ),
        ),
        VaultError::Denied(_) => (
            Code::Unavailable,
            "let the credential of the servers read it in the vault; what waits for it starts then"
                .to_owned(),
        ),
        VaultError::Away(_) => (
            Code::Unavailable,
            "see how the vault is doing; what waits for it starts when it answers".to_owned(),
        ),
    };
    let provider = &link.provider;
    let detail = format!(
        "the secret `{reference}` cannot be had from the vault `{provider}` at `{path}`: {error}"
    );
    Error::new(code, detail, hint)
}

/// Words of a stranger, short and printable.
fn words(text: &str) -> String {
    let clean = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    clean.take(WORDS_MAX).collect::<String>().trim().to_owned()
}

/// The field that is meant, as bytes: text as it is, everything else as JSON.
fn pick(
    fields: &serde_json::Map<String, serde_json::Value>,
    field: Option<&str>,
) -> Result<SecretBytes, VaultError> {
    let found = match field {
        Some(field) => fields
            .get(field)
            .ok_or_else(|| VaultError::Absent(format!("there is no field `{field}`")))?,
        None => match (fields.len(), fields.values().next()) {
            (1, Some(only)) => only,
            (0, _) | (_, None) => {
                return Err(VaultError::Absent("there is no field at all".to_owned()));
            }
            (n, Some(_)) => {
                let text = format!("there are {n} fields, and the link names none of them");
                return Err(VaultError::Unusable(text));
            }
        },
    };
    Ok(match found {
        serde_json::Value::String(text) => SecretBytes::new(text.as_bytes()),
        other => SecretBytes::new(other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn config(projects: VaultProjects, prefix: &str) -> VaultConfig {
        VaultConfig {
            name: "corp".parse().unwrap(),
            projects,
            prefix: prefix.parse().unwrap(),
            time_max: Duration::from_secs(1),
            keep: Duration::ZERO,
            kind: VaultKind::Exec(vec!["/bin/true".to_owned()]),
        }
    }

    #[test]
    fn projects_share_no_prefix() {
        let named = |names: &[&str]| {
            VaultProjects::Named(names.iter().map(|name| name.parse().unwrap()).collect())
        };
        for (projects, prefix, is_fine) in [
            (VaultProjects::All, "teams/{project}", true),
            (VaultProjects::All, "teams", false),
            (VaultProjects::All, "", false),
            (named(&["a"]), "", true),
            (named(&["a", "b"]), "shared", false),
            (named(&["a", "b"]), "{project}", true),
            (named(&[]), "", true),
        ] {
            assert_eq!(config(projects, prefix).problem().is_none(), is_fine, "{prefix}");
        }
    }

    #[test]
    fn a_field_is_picked_or_missed_in_words() {
        let fields = |value: serde_json::Value| value.as_object().unwrap().clone();
        let one = fields(json!({ "password": "a\nb" }));
        assert_eq!(pick(&one, None).unwrap().expose(), b"a\nb");
        assert_eq!(pick(&one, Some("password")).unwrap().expose(), b"a\nb");
        assert!(matches!(pick(&one, Some("user")), Err(VaultError::Absent(_))));
        let two = fields(json!({ "port": 5432, "tls": { "on": true } }));
        assert_eq!(pick(&two, Some("port")).unwrap().expose(), b"5432");
        assert_eq!(pick(&two, Some("tls")).unwrap().expose(), b"{\"on\":true}");
        assert!(matches!(pick(&two, None), Err(VaultError::Unusable(_))));
        assert!(matches!(pick(&fields(json!({})), None), Err(VaultError::Absent(_))));
        assert_eq!(words("bad\r\nthing \u{7}"), "bad  thing");
        assert_eq!(words(&"x".repeat(900)).len(), WORDS_MAX);
    }
}
