//! HashiCorp Vault: the key-value store in its second version, read over HTTP.
//!
//! A reading is `GET /v1/MOUNT/data/PATH`, with `?version=N` where one is meant. What comes back has the fields
//! and, beside them, which version it is; of a version that was deleted there, only the latter. Nothing is
//! leased that would have to be given back.
//!
//! The credential is a token: out of a file that somebody else keeps fresh (an agent of Vault's, say), or
//! from a login with an AppRole or a JWT. A token from a login is used for two thirds of its life, and thrown
//! away earlier when it is refused: it may have been revoked. A refusal right after a login is meant.

use std::path::Path;
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_base::chain::chain;
use hostler_egress::{Answer, Egress, Request};
use hostler_trust::SecretString;
use http::{HeaderName, HeaderValue, StatusCode};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use super::{
    ANSWER_MAX, Ask, Fetched, HashiCorpVault, Provider, VaultError, VaultLogin, pick, words,
};

const TOKEN: HeaderName = HeaderName::from_static("x-vault-token");
const NAMESPACE: HeaderName = HeaderName::from_static("x-vault-namespace");
const REQUEST: HeaderName = HeaderName::from_static("x-vault-request");
/// A refusal this soon after a login is not because of the login.
const FRESH: Duration = Duration::from_secs(10);
const DAY: Duration = Duration::from_secs(86_400);
/// How long a token is used whose life has no end.
const ENDLESS: Duration = Duration::from_secs(3600);

pub(super) struct HashiCorp {
    config: HashiCorpVault,
    egress: Egress,
    /// From the last login.
    session: Mutex<Option<Session>>,
}

#[derive(Clone)]
struct Session {
    token: SecretString,
    since: Duration,
    until: Duration,
}

/// What a login answers.
#[derive(Deserialize)]
struct LoggedIn {
    auth: Auth,
}

#[derive(Deserialize)]
struct Auth {
    client_token: SecretString,
    /// In seconds; 0 has no end.
    #[serde(default)]
    lease_duration: u64,
}

#[derive(Deserialize)]
struct Reading {
    data: ReadingData,
}

#[derive(Deserialize)]
struct ReadingData {
    data: Option<Map<String, Value>>,
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    version: u32,
    #[serde(default)]
    deletion_time: String,
    #[serde(default)]
    destroyed: bool,
}

#[derive(Default, Deserialize)]
struct Complaint {
    #[serde(default)]
    errors: Vec<String>,
}

impl HashiCorp {
    pub(super) fn new(config: HashiCorpVault, egress: &Egress) -> HashiCorp {
        let egress = match &config.authorities_pem {
            Some(pem) => egress.believing_only(pem.clone()),
            None => egress.clone(),
        };
        HashiCorp { config, egress, session: Mutex::default() }
    }

    async fn read_now(&self, ask: &Ask, now: Duration) -> Result<Fetched, VaultError> {
        let (token, since) = self.token(now).await?;
        let first = self.get(ask, &token).await;
        let is_old = since.is_some_and(|since| now.saturating_sub(since) >= FRESH);
        if !is_old || !matches!(first, Err(VaultError::Denied(_))) {
            return first;
        }
        self.forget(&token).await;
        let (token, _) = self.token(now).await?;
        self.get(ask, &token).await
    }

    /// A token, and since when it is there if it is from a login.
    async fn token(&self, now: Duration) -> Result<(SecretString, Option<Duration>), VaultError> {
        let (mount, body) = match &self.config.login {
            VaultLogin::Token { file } => return Ok((credential(file).await?, None)),
            VaultLogin::AppRole { mount, role_id, secret_id_file } => {
                (mount, LoginBody::AppRole { role_id, secret_id_file })
            }
            VaultLogin::Jwt { mount, role, file } => (mount, LoginBody::Jwt { role, file }),
        };
        let mut session = self.session.lock().await;
        if let Some(held) = session.as_ref().filter(|held| now < held.until) {
            return Ok((held.token.clone(), Some(held.since)));
        }
        let auth = self.login(mount, body.json().await?).await?;
        let life = match auth.lease_duration {
            0 => ENDLESS,
            seconds => Duration::from_secs(seconds).min(DAY) * 2 / 3,
        };
        let made = Session { token: auth.client_token, since: now, until: now + life };
        *session = Some(made.clone());
        Ok((made.token, Some(now)))
    }

    /// Unless there is a newer one already.
    async fn forget(&self, token: &SecretString) {
        let mut session = self.session.lock().await;
        if session.as_ref().is_some_and(|held| held.token == *token) {
            *session = None;
        }
    }

    async fn login(&self, mount: &str, body: Value) -> Result<Auth, VaultError> {
        let url = format!("{}/v1/auth/{mount}/login", self.config.address);
        let json = HeaderValue::from_static("application/json");
        let request = Request::post(&url).map_err(away)?.body(json, body.to_string());
        let answer = self.send(request).await?;
        if answer.status.is_success() {
            let read: Result<LoggedIn, _> = serde_json::from_slice(&answer.body);
            return read.map(|read| read.auth).map_err(|_| strange());
        }
        Err(match answer.status.as_u16() {
            400..=428 => {
                VaultError::Denied(format!("the servers cannot log in there{}", said(&answer)))
            }
            _ => refusal(&answer),
        })
    }

    async fn get(&self, ask: &Ask, token: &SecretString) -> Result<Fetched, VaultError> {
        let HashiCorpVault { address, mount, .. } = &self.config;
        let mut url = format!("{address}/v1/{mount}/data/{}", ask.path);
        if let Some(version) = ask.version {
            url.push_str(&format!("?version={version}"));
        }
        let request = Request::get(&url).and_then(|get| get.secret_header(TOKEN, token.expose()));
        let answer = self.send(request.map_err(away)?).await?;
        let read: Result<Reading, _> = serde_json::from_slice(&answer.body);
        match (answer.status, read) {
            (
                StatusCode::OK,
                Ok(Reading { data: ReadingData { data: Some(fields), metadata } }),
            ) => {
                let value = pick(&fields, ask.field.as_deref())?;
                Ok(Fetched { value, version: metadata.version })
            }
            (StatusCode::OK | StatusCode::NOT_FOUND, Ok(reading)) => {
                Err(gone(&reading.data.metadata))
            }
            (StatusCode::OK, Err(_)) => Err(strange()),
            _ => Err(refusal(&answer)),
        }
    }

    async fn send(&self, request: Request) -> Result<Answer, VaultError> {
        let mut request = request
            .header(REQUEST, HeaderValue::from_static("true"))
            .redirects(0)
            .answer_max(ANSWER_MAX);
        if let Some(namespace) = &self.config.namespace {
            let value = HeaderValue::from_str(namespace)
                .map_err(|_| VaultError::Away("its namespace is not one".to_owned()))?;
            request = request.header(NAMESPACE, value);
        }
        self.egress.send(request).await.map_err(away)
    }
}

impl Provider for HashiCorp {
    fn read<'a>(
        &'a self,
        ask: &'a Ask,
        now: Duration,
    ) -> BoxFuture<'a, Result<Fetched, VaultError>> {
        Box::pin(self.read_now(ask, now))
    }
}

/// What a login says.
enum LoginBody<'a> {
    AppRole { role_id: &'a str, secret_id_file: &'a Path },
    Jwt { role: &'a str, file: &'a Path },
}

impl LoginBody<'_> {
    async fn json(&self) -> Result<Value, VaultError> {
        Ok(match self {
            LoginBody::AppRole { role_id, secret_id_file } => {
                let secret_id = credential(secret_id_file).await?;
                json!({ "role_id": role_id, "secret_id": secret_id.expose() })
            }
            LoginBody::Jwt { role, file } => {
                let jwt = credential(file).await?;
                json!({ "role": role, "jwt": jwt.expose() })
            }
        })
    }
}

async fn credential(file: &Path) -> Result<SecretString, VaultError> {
    let text = tokio::fs::read_to_string(file).await.map_err(|error| {
        tracing::warn!(file = %file.display(), %error, "credential for a vault cannot be read");
        let text = "the servers' credential for it cannot be read; the log of the server says why";
        VaultError::Away(text.to_owned())
    })?;
    Ok(SecretString::new(text.trim()))
}

fn away(error: hostler_egress::Error) -> VaultError {
    VaultError::Away(chain(&error).to_string())
}

fn strange() -> VaultError {
    VaultError::Away("it answered with something else than such a vault does".to_owned())
}

fn gone(of: &Metadata) -> VaultError {
    let version = of.version;
    VaultError::Absent(match (of.destroyed, of.deletion_time.is_empty()) {
        (true, _) => format!("version {version} was destroyed there"),
        (false, false) => format!("version {version} was deleted there"),
        (false, true) => format!("version {version} has no data there"),
    })
}

/// What it complains of, in brackets.
fn said(answer: &Answer) -> String {
    let complaint: Complaint = serde_json::from_slice(&answer.body).unwrap_or_default();
    let said = words(&complaint.errors.join("; "));
    if said.is_empty() { said } else { format!(" ({said})") }
}

/// What an answer that is not a value means.
fn refusal(answer: &Answer) -> VaultError {
    let said = said(answer);
    let status = answer.status.as_u16();
    match status {
        404 => VaultError::Absent("there is nothing at that path".to_owned()),
        400 | 405 => VaultError::Unusable(format!(
            "it does not understand the question{said}; is a key-value store of version 2 mounted there?"
        )),
        401 | 403 => VaultError::Denied(format!("the servers may not read it{said}")),
        429 | 472 | 473 => VaultError::Away(format!("it does not answer questions now{said}")),
        503 => VaultError::Away(format!("it is sealed or under maintenance{said}")),
        300..=399 => VaultError::Away(format!(
            "it sends to another address with status {status}; configure the address of the active one"
        )),
        _ => VaultError::Away(format!("it answered with status {status}{said}")),
    }
}
