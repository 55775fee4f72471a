//! The issuer of tokens for what runs: its keys, and what its tokens say.
//!
//! *Keys* are in one setting, oldest first, each sealed with the master key. A new one is made from time to
//! time (`reconcile::identity_key`). Everybody who checks tokens keeps the list of keys for a while, so a
//! key is published for [`PUBLISH`] before anything is signed with it, and stays published until what the
//! key before it has signed is long expired: at no moment is a good token refused for a key that is not
//! known.
//!
//! *Tokens* are for one audience each, and short-lived; an agent fetches new ones at two thirds of
//! [`LIFETIME`]. What a token says is for others to decide by. Our own API believes of it no more than
//! which run it was given to; everything else is looked up when it is used (`service::workload_caller`).

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_model::{
    Error, EventKind, IdentityPayload, ObjectKind, ObjectRef, PlacementId, RunId, Timestamp,
};
use hostler_store::Tx;
use hostler_trust::jwt::{self, Jwk, PublicKey, SigningKey};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::Control;

/// How long a token is good for.
pub(crate) const LIFETIME: Duration = Duration::from_mins(15);
/// How long a key is known to others before it signs.
pub(crate) const PUBLISH: Duration = Duration::from_hours(1);
/// How far the clocks of servers may be apart.
const LEEWAY: Duration = Duration::from_mins(1);
pub(crate) const IDENTITY_KEYS: &str = "identity_keys";

/// How tokens for what runs are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityConfig {
    /// Address under which others find the keys; needed by those only.
    pub issuer: Option<String>,
    /// A new key is made after this time.
    pub rotate_every: Duration,
    /// `host:port` where what runs reaches the API.
    pub api_address: String,
}

impl Default for IdentityConfig {
    fn default() -> IdentityConfig {
        IdentityConfig {
            issuer: None,
            rotate_every: Duration::from_hours(30 * 24),
            api_address: String::new(),
        }
    }
}

/// What became of tokens since this server started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdentityCounts {
    /// Given to nodes.
    pub issued: u64,
    /// The API believed them.
    pub taken: u64,
    pub refused: u64,
}

#[derive(Default)]
pub(crate) struct IdentityTally {
    issued: AtomicU64,
    taken: AtomicU64,
    refused: AtomicU64,
}

impl IdentityTally {
    pub(crate) fn issued(&self, count: usize) {
        self.issued.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn presented(&self, is_taken: bool) {
        let counter = if is_taken { &self.taken } else { &self.refused };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// What is stored of the keys, oldest first.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct StoredKeys {
    /// Who issues, where the configuration does not say: made with the first key, and the same for ever.
    name: String,
    pub(crate) keys: Vec<StoredKey>,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredKey {
    id: String,
    /// Sealed with the master key.
    pub(crate) sealed: Vec<u8>,
    public: Jwk,
    time_created: Timestamp,
}

impl StoredKey {
    /// A sealed key opens in its own place only.
    pub(crate) fn belongs_to(&self) -> String {
        belongs_to(&self.id)
    }
}

fn belongs_to(id: &str) -> String {
    format!("{IDENTITY_KEYS}:{id}")
}

impl StoredKeys {
    pub(crate) fn read(bytes: &[u8]) -> Result<StoredKeys, Error> {
        serde_json::from_slice(bytes).map_err(Error::internal)
    }

    pub(crate) fn write(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(Error::internal)
    }

    /// Those that there are, for the record.
    fn ids(&self) -> serde_json::Value {
        self.keys.iter().map(|key| key.id.as_str()).collect()
    }

    /// The newest that others have had the time to learn of; the first one needs none.
    fn signer(&self, now: Timestamp) -> Option<&StoredKey> {
        let is_known = |key: &&StoredKey| key.time_created.plus(PUBLISH) <= now;
        self.keys.iter().rev().find(is_known).or(self.keys.first())
    }

    /// One more.
    fn add(&mut self, key: StoredKey) {
        if self.keys.is_empty() {
            self.name = format!("urn:hostler:{}", key.id);
        }
        self.keys.push(key);
    }

    fn is_due(&self, now: Timestamp, every: Duration) -> bool {
        self.keys.last().is_none_or(|newest| newest.time_created.plus(every) <= now)
    }

    /// Forgets keys whose last token is long expired; how many.
    fn retire(&mut self, now: Timestamp) -> usize {
        let is_settled = |key: &StoredKey| key.time_created.plus(PUBLISH + LIFETIME * 2) <= now;
        let former = self.keys.iter().rposition(is_settled).unwrap_or_default();
        self.keys.drain(..former).count()
    }
}

/// What a token says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Claims {
    pub iss: String,
    /// `project:NAME:workload:NAME`, or `task` in place of `workload`.
    pub sub: String,
    pub aud: String,
    pub exp: i64,
    pub nbf: i64,
    pub iat: i64,
    pub jti: String,
    pub project: String,
    pub workload: String,
    pub node: String,
    pub placement: PlacementId,
    pub run: RunId,
}

impl Claims {
    /// Why a token that says this is not for us now, if so.
    pub(crate) fn problem(&self, issuer: &str, audience: &str, now: i64) -> Option<&'static str> {
        let leeway = i64::try_from(LEEWAY.as_secs()).unwrap_or_default();
        if self.iss != issuer {
            return Some("it was issued by somebody else");
        }
        if self.aud != audience {
            return Some("it is for somebody else");
        }
        if self.exp <= now {
            return Some("it has expired");
        }
        let is_early = self.nbf > now + leeway || self.iat > now + leeway;
        is_early.then_some("it is not valid yet; compare the clocks of the servers")
    }
}

pub(crate) fn seconds(time: Timestamp) -> i64 {
    time.micros().div_euclid(1_000_000)
}

impl Control {
    /// What became of tokens since this server started.
    pub fn identity_counts(&self) -> IdentityCounts {
        let IdentityTally { issued, taken, refused } = &self.identity_tally;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        IdentityCounts { issued: count(issued), taken: count(taken), refused: count(refused) }
    }

    /// Who issues: the address where others find the keys, or a name of this installation.
    fn identity_issuer(&self, keys: &StoredKeys) -> String {
        self.config.identity.issuer.clone().unwrap_or_else(|| keys.name.clone())
    }

    async fn identity_keys(&self) -> Result<StoredKeys, Error> {
        let kept = self.store.read().await?.setting_get(IDENTITY_KEYS).await?;
        Ok(kept.map(|kept| StoredKeys::read(&kept)).transpose()?.unwrap_or_default())
    }

    /// The keys that check tokens, for whoever asks.
    pub async fn identity_jwks(&self) -> Result<Vec<Jwk>, Error> {
        Ok(self.identity_keys().await?.keys.into_iter().map(|key| key.public).collect())
    }

    /// Who issues, and the key that signs now; the first one is made when it is needed.
    pub(crate) async fn identity_signer(&self) -> Result<(String, SigningKey), Error> {
        let mut keys = self.identity_keys().await?;
        if keys.keys.is_empty() {
            keys = self.identity_keys_keep().await?.0;
        }
        let signer = keys.signer(self.now());
        let signer = signer.ok_or_else(|| Error::internal("there is no key to sign with"))?;
        let opened = self.keyring.open(&signer.sealed, signer.belongs_to().as_bytes());
        let opened = opened.map_err(|error| {
            Error::unavailable("the key that signs tokens of workloads cannot be opened", error)
        })?;
        let key = SigningKey::from_pkcs8(&opened).map_err(Error::internal)?;
        Ok((self.identity_issuer(&keys), key))
    }

    /// Makes a key when one is due and forgets those that are not needed; says what there is, and what was
    /// done.
    pub(crate) async fn identity_keys_keep(&self) -> Result<(StoredKeys, Kept), Error> {
        let fresh = self.identity_key_make()?;
        let fresh = &fresh;
        self.store
            .tx("identity_keys_keep", |tx| {
                Box::pin(async move {
                    let now = self.now();
                    let kept = tx.setting_get(IDENTITY_KEYS).await?;
                    let mut keys =
                        kept.map(|kept| StoredKeys::read(&kept)).transpose()?.unwrap_or_default();
                    let before = keys.ids();
                    let made = keys.is_due(now, self.config.identity.rotate_every);
                    if made {
                        keys.add(fresh.clone());
                    }
                    let retired = keys.retire(now);
                    if made || retired > 0 {
                        tx.setting_replace(IDENTITY_KEYS, &keys.write()?).await?;
                        let made = made.then_some(fresh.id.as_str());
                        self.identity_journal(tx, made, retired, [before, keys.ids()]).await?;
                    }
                    Ok::<_, Error>((keys, Kept { made, retired }))
                })
            })
            .await
    }

    /// Whether there is something for [`Control::identity_keys_keep`] to do. The first key is made when it is
    /// needed.
    pub(crate) async fn identity_keys_due(&self) -> Result<bool, Error> {
        let mut keys = self.identity_keys().await?;
        if keys.keys.is_empty() {
            return Ok(false);
        }
        let now = self.now();
        Ok(keys.is_due(now, self.config.identity.rotate_every) || keys.retire(now) > 0)
    }

    fn identity_key_make(&self) -> Result<StoredKey, Error> {
        let secret = SigningKey::generate().map_err(Error::internal)?;
        let key = SigningKey::from_pkcs8(secret.expose()).map_err(Error::internal)?;
        let id = key.id().to_owned();
        let sealed = self
            .keyring
            .seal(secret.expose(), belongs_to(&id).as_bytes())
            .map_err(Error::internal)?;
        Ok(StoredKey { id, sealed, public: key.jwk(), time_created: self.now() })
    }

    async fn identity_journal(
        &self,
        tx: &mut Tx<'_>,
        made: Option<&str>,
        retired: usize,
        [before, after]: [serde_json::Value; 2],
    ) -> Result<(), Error> {
        let object = ObjectRef::new(ObjectKind::Server, self.server_id, &self.server_name);
        let message = match made {
            Some(id) => format!("key {id} will sign the tokens of what runs"),
            None => format!("{retired} former keys of tokens are forgotten"),
        };
        let actor = self.system_actor();
        let event =
            self.event(EventKind::IdentityKeysChanged, None, &object, actor, message).with_payload(
                IdentityPayload { key: made.map(str::to_owned), forgotten: Some(retired as u64) },
            );
        let detail = json!({ "made": made, "forgotten": retired });
        let audit = self
            .audit_system("identity.keys", &object, None, detail)
            .with_states(Some(&before), Some(&after));
        Ok(tx.journal_append(&[event], &[audit]).await?)
    }

    /// What a token for this audience says, when one of our keys signed it and it is good now; or why it is
    /// not.
    pub(crate) async fn identity_claims(
        &self,
        text: &str,
        audience: &str,
    ) -> Result<Result<Claims, &'static str>, Error> {
        let Ok(token) = jwt::parse(text) else { return Ok(Err("it cannot be read")) };
        let keys = self.identity_keys().await?;
        let key = token.key_id().and_then(|id| keys.keys.iter().find(|key| key.id == id));
        let Some(key) = key else { return Ok(Err("its key is not known here")) };
        let key = PublicKey::from_jwk(&key.public).map_err(Error::internal)?;
        let Ok(said) = token.verify(&key) else { return Ok(Err("its signature is wrong")) };
        let Ok(claims) = serde_json::from_slice::<Claims>(&said) else {
            return Ok(Err("it does not say what it should"));
        };
        let problem = claims.problem(&self.identity_issuer(&keys), audience, seconds(self.now()));
        Ok(match problem {
            Some(why) => Err(why),
            None => Ok(claims),
        })
    }
}

/// What was done about the keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    pub made: bool,
    /// How many were forgotten.
    pub retired: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const DAY: Duration = Duration::from_hours(24);

    fn at(length: Duration) -> Timestamp {
        Timestamp::EPOCH.plus(length)
    }

    fn keys(made: &[Duration]) -> StoredKeys {
        let key = |(n, time): (usize, &Duration)| StoredKey {
            id: n.to_string(),
            sealed: Vec::new(),
            public: Jwk::default(),
            time_created: at(*time),
        };
        StoredKeys { name: String::new(), keys: made.iter().enumerate().map(key).collect() }
    }

    fn signer(keys: &StoredKeys, now: Duration) -> Option<&str> {
        keys.signer(at(now)).map(|key| key.id.as_str())
    }

    #[test]
    fn a_key_signs_when_others_know_it_and_stays_until_its_tokens_are_gone() {
        assert_eq!(signer(&keys(&[]), DAY), None);
        assert!(keys(&[]).is_due(at(DAY), DAY));
        let first = keys(&[DAY]);
        assert_eq!(signer(&first, DAY), Some("0"), "the first one has nobody before it");
        assert!(!first.is_due(at(DAY * 2 - Duration::from_secs(1)), DAY));
        assert!(first.is_due(at(DAY * 2), DAY));
        let mut two = keys(&[DAY, DAY * 2]);
        assert_eq!(signer(&two, DAY * 2), Some("0"));
        assert_eq!(signer(&two, DAY * 2 + PUBLISH), Some("1"));
        assert_eq!(two.retire(at(DAY * 2 + PUBLISH + LIFETIME)), 0, "tokens of the first live");
        assert_eq!(two.retire(at(DAY * 2 + PUBLISH + LIFETIME * 2)), 1);
        assert_eq!(two.keys[0].id, "1");
        assert_eq!(two.retire(at(DAY * 9)), 0, "the last one stays");
    }

    #[test]
    fn a_token_is_for_one_audience_and_a_short_time() {
        let claims = Claims {
            iss: "urn:us".into(),
            sub: "project:p:task:t".into(),
            aud: "hostler".into(),
            exp: 1900,
            nbf: 1000,
            iat: 1000,
            jti: "1".into(),
            project: "p".into(),
            workload: "t".into(),
            node: "n".into(),
            placement: PlacementId::from_uuid(Uuid::from_u128(1)),
            run: RunId::from_uuid(Uuid::from_u128(2)),
        };
        let problem = |issuer, audience, now| claims.problem(issuer, audience, now);
        assert_eq!(problem("urn:us", "hostler", 1000), None);
        assert_eq!(problem("urn:us", "hostler", 1899), None);
        assert!(problem("urn:us", "hostler", 1900).unwrap().contains("expired"));
        assert_eq!(problem("urn:us", "hostler", 940), None, "clocks differ a little");
        assert!(problem("urn:us", "hostler", 939).unwrap().contains("not valid yet"));
        assert!(problem("urn:them", "hostler", 1000).unwrap().contains("issued"));
        assert!(problem("urn:us", "vault", 1000).unwrap().contains("somebody else"));
    }
}
