//! The talk with the identity provider: what it says of itself, its keys, and what it gives for a code.
//!
//! Everything goes through the one door out. What the provider says of itself and its keys are kept for a
//! while. A key that is not known is looked for at once, though not more often than every [`KEYS_AGAIN`]; a
//! provider that does not answer is left alone for [`REST`]. So nobody can have it called at will, and logins
//! do not queue up behind calls that come to nothing.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hostler_egress::{Answer, Request};
use hostler_model::{Code, Error};
use hostler_trust::jwt::{self, Jwk, PublicKey};
use http::header::{ACCEPT, AUTHORIZATION};
use http::{HeaderValue, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::oidc::encoded;
use crate::{Control, OidcConfig};

/// How long what the provider says of itself is believed.
const KEPT: Duration = Duration::from_hours(1);
const KEYS_AGAIN: Duration = Duration::from_mins(1);
const REST: Duration = Duration::from_secs(5);
const CALL_MAX: Duration = Duration::from_secs(10);
const BASIC: &str = "client_secret_basic";

/// What the provider says of itself.
#[derive(Clone, Deserialize)]
pub(crate) struct Provider {
    issuer: String,
    pub(super) authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
    /// How clients show who they are; [`BASIC`] where it says nothing.
    #[serde(default)]
    token_endpoint_auth_methods_supported: Option<Vec<String>>,
}

#[derive(Deserialize)]
pub(crate) struct KeySet {
    keys: Vec<Jwk>,
}

impl KeySet {
    /// Those that can check a signature.
    pub(crate) fn usable(&self) -> Vec<PublicKey> {
        self.keys.iter().filter_map(|jwk| PublicKey::from_jwk(jwk).ok()).collect()
    }
}

#[derive(Deserialize)]
struct Exchanged {
    id_token: String,
}

/// Why it gives nothing for a code.
#[derive(Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    error: String,
}

/// What was fetched, and when.
#[derive(Default)]
pub(crate) struct OidcKept(tokio::sync::Mutex<Kept>);

#[derive(Default)]
struct Kept {
    provider: Option<(Provider, Duration)>,
    keys: Option<(Vec<PublicKey>, Duration)>,
    /// When a key was looked for that was not among those that were fetched before.
    looked: Option<Duration>,
    /// When it did not answer.
    failed: Option<Duration>,
}

impl Kept {
    fn rested(&self, now: Duration) -> Result<(), Error> {
        match self.failed.is_some_and(|at| now.saturating_sub(at) < REST) {
            true => Err(away("it did not answer a moment ago")),
            false => Ok(()),
        }
    }
}

impl Provider {
    /// Why it is not used, if so. Its address of the login page goes to browsers and terminals as it is.
    pub(crate) fn problem(&self, config: &OidcConfig) -> Option<&'static str> {
        let is_plain = config.issuer.starts_with("http://");
        let is_odd = |url: &str| !url.bytes().all(|b| b.is_ascii_graphic()) || url.contains('#');
        if self.issuer != config.issuer {
            Some("it calls itself otherwise than `oidc.issuer`")
        } else if !is_plain && self.places().iter().any(|url| !url.starts_with("https://")) {
            Some("one of its addresses does not begin with https://")
        } else if is_odd(&self.authorization_endpoint) {
            Some("the address of its login page cannot be used")
        } else {
            None
        }
    }

    pub(crate) fn places(&self) -> [&str; 3] {
        [&self.authorization_endpoint, &self.token_endpoint, &self.jwks_uri]
    }

    fn takes_basic(&self) -> bool {
        let named = self.token_endpoint_auth_methods_supported.as_ref();
        named.is_none_or(|all| all.iter().any(|method| method == BASIC))
    }
}

impl Control {
    pub(super) async fn oidc_provider(&self, config: &OidcConfig) -> Result<Provider, Error> {
        let mut kept = self.oidc_kept.0.lock().await;
        let instant = self.clock.instant();
        if let Some((provider, at)) = &kept.provider
            && instant.saturating_sub(*at) < KEPT
        {
            return Ok(provider.clone());
        }
        kept.rested(instant)?;
        let asked = self.oidc_discover(config).await;
        kept.failed = asked.is_err().then(|| self.clock.instant());
        let provider = asked?;
        kept.provider = Some((provider.clone(), instant));
        Ok(provider)
    }

    async fn oidc_discover(&self, config: &OidcConfig) -> Result<Provider, Error> {
        let issuer = config.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let request = Request::get(&url).map_err(away)?;
        let provider: Provider = read(&self.oidc_send(request).await?)?;
        match provider.problem(config) {
            Some(problem) => Err(away(problem)),
            None => Ok(provider),
        }
    }

    /// The ID token that the provider gives for a code.
    pub(super) async fn oidc_exchange(
        &self,
        config: &OidcConfig,
        provider: &Provider,
        verifier: &str,
        code: &str,
    ) -> Result<String, Error> {
        let secret = match &config.client_secret_file {
            Some(path) => Some(tokio::fs::read_to_string(path).await.map_err(|error| {
                Error::unavailable("the file of `oidc.client_secret_file` cannot be read", error)
            })?),
            None => None,
        };
        let secret = secret.as_deref().map(str::trim);
        let mut form = vec![
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", config.redirect_uri.as_str()),
            ("client_id", config.client_id.as_str()),
            ("code_verifier", verifier),
        ];
        let mut request = Request::post(&provider.token_endpoint).map_err(away)?;
        match secret {
            Some(secret) if provider.takes_basic() => {
                let pair = encoded(&[(config.client_id.as_str(), secret)]).replacen('=', ":", 1);
                let basic = format!("Basic {}", STANDARD.encode(pair));
                request = request.secret_header(AUTHORIZATION, &basic).map_err(away)?;
            }
            Some(secret) => form.push(("client_secret", secret)),
            None => {}
        }
        let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
        let answer = self.oidc_send(request.body(kind, encoded(&form))).await?;
        if answer.status == StatusCode::BAD_REQUEST {
            let refusal: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
            return Err(match refusal.error.as_str() {
                why @ ("invalid_client" | "unauthorized_client" | "unsupported_grant_type") => {
                    away(format!("it does not take this installation as a client: {why}"))
                }
                _ => refused("the provider does not take it: it was used already, or is too old"),
            });
        }
        Ok(read::<Exchanged>(&answer)?.id_token)
    }

    /// What an ID token says, when one of the provider's keys signed it.
    pub(super) async fn oidc_verify(
        &self,
        config: &OidcConfig,
        provider: &Provider,
        text: &str,
    ) -> Result<Vec<u8>, Error> {
        let bad = |why: jwt::Error| refused(&format!("the token of {}: {why}", config.label));
        let token = jwt::parse(text).map_err(bad)?;
        let mut kept = self.oidc_kept.0.lock().await;
        let instant = self.clock.instant();
        let age = |at: Duration| instant.saturating_sub(at);
        let fresh = kept.keys.as_ref().filter(|(_, at)| age(*at) < KEPT);
        let is_known = fresh.is_some_and(|(keys, _)| find_key(keys, token.key_id()).is_some());
        let is_fresh = fresh.is_some();
        let may_look = kept.looked.is_none_or(|at| age(at) >= KEYS_AGAIN);
        if !is_known && (!is_fresh || may_look) {
            kept.rested(instant)?;
            let asked = self.oidc_keys(provider).await;
            kept.failed = asked.is_err().then(|| self.clock.instant());
            kept.keys = Some((asked?, instant));
            if is_fresh {
                kept.looked = Some(instant);
            }
        }
        let keys = kept.keys.as_ref().map(|(keys, _)| keys.as_slice()).unwrap_or_default();
        let key = find_key(keys, token.key_id());
        let key =
            key.ok_or_else(|| refused("the provider's token is signed with an unknown key"))?;
        token.verify(key).map_err(bad)
    }

    async fn oidc_keys(&self, provider: &Provider) -> Result<Vec<PublicKey>, Error> {
        let request = Request::get(&provider.jwks_uri).map_err(away)?;
        let set: KeySet = read(&self.oidc_send(request).await?)?;
        Ok(set.usable())
    }

    async fn oidc_send(&self, request: Request) -> Result<Answer, Error> {
        let request = request
            .header(ACCEPT, HeaderValue::from_static("application/json"))
            .redirects(0)
            .time_max(CALL_MAX);
        self.config.egress.send(request).await.map_err(away)
    }
}

fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, Error> {
    match answer.status.is_success() {
        true => serde_json::from_slice(&answer.body).map_err(away),
        false => Err(away(format!("it answers with {}", answer.status))),
    }
}

/// The key of this name; without a name, the only one there is.
fn find_key<'k>(keys: &'k [PublicKey], id: Option<&str>) -> Option<&'k PublicKey> {
    match (id, keys) {
        (Some(id), _) => keys.iter().find(|key| key.id() == Some(id)),
        (None, [only]) => Some(only),
        (None, _) => None,
    }
}

/// Somebody does not get in, and what they brought is of no use any more.
pub(super) fn refused(why: &str) -> Error {
    Error::new(Code::Unauthenticated, why, "begin the login again")
}

fn away(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let mut away = Error::unavailable("the identity provider cannot be asked", error);
    away.hint = "try again in a moment; who has a password can log in with that meanwhile".into();
    away
}
