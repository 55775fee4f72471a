//! An object store that speaks S3: objects are put, fetched and deleted by their names, with requests that are signed
//! (`hostler_trust::aws`) and go through the one door for calls to others. The bucket is part of the path, which
//! every such store understands.

use std::path::PathBuf;
use std::time::Duration;

use hostler_base::chain;
use hostler_egress::{Answer, Egress, Request};
use hostler_model::{BackupStore, Error, Timestamp};
use hostler_trust::SecretString;
use hostler_trust::aws::{Signer, Unsigned};
use http::header::AUTHORIZATION;
use http::{HeaderName, HeaderValue, Method, StatusCode};

const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const CONTENT: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
/// A sealed chunk is never larger.
const OBJECT_MAX: usize = 2 << 20;
const TIME_MAX: Duration = Duration::from_secs(30);
const ATTEMPTS: u32 = 4;
const WAIT: Duration = Duration::from_millis(250);
/// How much is told of what it answered.
const WORDS_MAX: usize = 200;

/// A store for backups of nodes that is not the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectStoreConfig {
    pub name: BackupStore,
    /// `https://host:port`, without a path.
    pub endpoint: String,
    pub bucket: String,
    pub region: String,
    /// What comes before the names of objects, such as `hostler/`; may be empty.
    pub prefix: String,
    pub access_key: String,
    /// Read for every request, so that it can be replaced.
    pub secret_key_file: PathBuf,
    /// The only certificates that are believed, where there are some.
    pub authorities_pem: Option<Vec<u8>>,
}

pub(super) struct ObjectStore {
    config: ObjectStoreConfig,
    egress: Egress,
}

impl ObjectStore {
    pub fn new(config: &ObjectStoreConfig, egress: &Egress) -> ObjectStore {
        let egress = match &config.authorities_pem {
            Some(pem) => egress.believing_only(pem.clone()),
            None => egress.clone(),
        };
        ObjectStore { config: config.clone(), egress }
    }

    pub async fn put(&self, name: &str, bytes: Vec<u8>, now: Timestamp) -> Result<(), Error> {
        let bytes = bytes::Bytes::from(bytes);
        let answer = self.ask(&Method::PUT, name, bytes, now).await?;
        match answer.status.is_success() {
            true => Ok(()),
            false => Err(self.refused("keep an object", &answer)),
        }
    }

    /// Nothing where there is none of this name.
    pub async fn get(&self, name: &str, now: Timestamp) -> Result<Option<Vec<u8>>, Error> {
        let answer = self.ask(&Method::GET, name, bytes::Bytes::new(), now).await?;
        match answer.status {
            StatusCode::OK => Ok(Some(answer.body.to_vec())),
            StatusCode::NOT_FOUND if is_no_object(&answer) => Ok(None),
            _ => Err(self.refused("give an object", &answer)),
        }
    }

    /// One that is not there is gone.
    pub async fn delete(&self, name: &str, now: Timestamp) -> Result<(), Error> {
        let answer = self.ask(&Method::DELETE, name, bytes::Bytes::new(), now).await?;
        match answer.status {
            status if status.is_success() => Ok(()),
            StatusCode::NOT_FOUND if is_no_object(&answer) => Ok(()),
            _ => Err(self.refused("delete an object", &answer)),
        }
    }

    /// Asks until there is an answer that is not about the store being busy.
    async fn ask(
        &self,
        method: &Method,
        name: &str,
        body: bytes::Bytes,
        now: Timestamp,
    ) -> Result<Answer, Error> {
        let mut wait = WAIT;
        for attempt in 1..=ATTEMPTS {
            let request = self.request(method, name, &body, now).await?;
            let is_last = attempt == ATTEMPTS;
            match self.egress.send(request).await {
                Ok(answer) if is_last || !is_busy(answer.status) => return Ok(answer),
                Ok(answer) => {
                    tracing::debug!(status = %answer.status, "object store is busy");
                }
                Err(error) if is_last || error.is_refusal() => return Err(self.away(error)),
                Err(error) => tracing::debug!(%error, "object store asked again"),
            }
            tokio::time::sleep(wait).await;
            wait *= 2;
        }
        Err(self.away(std::io::Error::other("it was asked too often")))
    }

    async fn request(
        &self,
        method: &Method,
        name: &str,
        body: &bytes::Bytes,
        now: Timestamp,
    ) -> Result<Request, Error> {
        let config = &self.config;
        let file = &config.secret_key_file;
        let secret = tokio::fs::read_to_string(file).await.map_err(|error| {
            tracing::warn!(file = %file.display(), %error, "key of a store for backups cannot be read");
            self.away(std::io::Error::other("the file with its key cannot be read"))
        })?;
        let signer = Signer {
            access_key: config.access_key.clone(),
            secret_key: SecretString::new(secret.trim()),
            region: config.region.clone(),
        };
        let path = format!("/{}/{}{name}", config.bucket, config.prefix);
        let host = config.endpoint.split_once("://").map_or("", |(_, host)| host);
        let unsigned = Unsigned { method: method.as_str(), host, path: &path, query: "", body };
        let signed = signer.sign(unsigned, &compact(now));
        let wrong = |error: hostler_egress::Error| self.away(error);
        let value = |text: &str| HeaderValue::from_str(text).map_err(Error::internal);
        let request = Request::new(method.clone(), &format!("{}{path}", config.endpoint));
        let request = request
            .map_err(wrong)?
            .header(DATE, value(&signed.date)?)
            .header(CONTENT, value(&signed.content)?)
            .secret_header(AUTHORIZATION, &signed.authorization)
            .map_err(wrong)?
            .redirects(0)
            .time_max(TIME_MAX)
            .answer_max(OBJECT_MAX);
        Ok(match *method == Method::PUT {
            true => request.body(OCTETS, body.clone()),
            false => request,
        })
    }

    fn away(&self, error: impl std::error::Error + Send + Sync + 'static) -> Error {
        let why = chain(&error).to_string();
        let detail = format!("the store `{}` for backups cannot be used: {why}", self.config.name);
        Error::unavailable(detail, error)
    }

    fn refused(&self, what: &str, answer: &Answer) -> Error {
        let words = String::from_utf8_lossy(&answer.body);
        let words: String = words.chars().filter(|c| !c.is_control()).take(WORDS_MAX).collect();
        let why = format!("it does not {what}: {} {words}", answer.status);
        self.away(std::io::Error::other(why))
    }
}

fn is_busy(status: StatusCode) -> bool {
    status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS
}

/// A bucket that is not there is no reason to think that a backup is damaged.
fn is_no_object(answer: &Answer) -> bool {
    !String::from_utf8_lossy(&answer.body).contains("NoSuchBucket")
}

/// As signatures have it: `20130524T000000Z`.
fn compact(time: Timestamp) -> String {
    let text = time.to_string();
    let whole = text.split(['.', 'Z']).next().unwrap_or_default();
    let short: String = whole.chars().filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{short}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_signatures_have_them() {
        assert_eq!(compact(Timestamp::from_micros(1_369_353_600_000_000)), "20130524T000000Z");
        assert_eq!(compact(Timestamp::from_micros(1_369_353_600_123_456)), "20130524T000000Z");
    }
}
