//! A stand-in for HashiCorp Vault: HTTPS, a key-value store of version 2, logins with AppRole and JWT, and the
//! answers that Vault gives when something is wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};

#[derive(Clone)]
pub enum Stored {
    Data(Value),
    Deleted,
    Destroyed,
}

#[derive(Default)]
pub struct State {
    /// Versions by path, from 1 on.
    pub secrets: BTreeMap<String, Vec<Stored>>,
    pub tokens: BTreeSet<String>,
    /// What tokens may read.
    pub readable: String,
    pub namespace: Option<String>,
    pub is_sealed: bool,
    pub is_silent: bool,
    /// How often somebody logged in, and how often something was read.
    pub logins: usize,
    pub readings: usize,
}

pub struct VaultServer {
    pub port: u16,
    /// The certificate, which is its own authority.
    pub pem: String,
    state: Arc<Mutex<State>>,
}

pub const ROLE_ID: &str = "role-1";
pub const SECRET_ID: &str = "secret-id-1";
pub const JWT: &str = "head.body.signature";

impl VaultServer {
    pub fn start() -> VaultServer {
        let key = rcgen::KeyPair::generate().unwrap();
        let params = rcgen::CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
        let certificate = params.self_signed(&key).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let der = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], der.into())
            .unwrap();
        let config = Arc::new(config);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state: Arc<Mutex<State>> = Arc::default();
        state.lock().unwrap().readable = "teams/".to_owned();
        let kept = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let _waits_no_longer = stream.set_read_timeout(Some(Duration::from_secs(10)));
                let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
                let mut both = rustls::Stream::new(&mut tls, &mut stream);
                let Some(request) = read_request(&mut both) else { continue };
                if kept.lock().unwrap().is_silent {
                    continue;
                }
                let (status, body) = kept.lock().unwrap().answer(&request);
                let text = body.to_string();
                let answer = format!(
                    "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{text}",
                    text.len()
                );
                let _gone = both.write_all(answer.as_bytes());
                tls.send_close_notify();
                let _gone = tls.write_tls(&mut stream);
            }
        });
        VaultServer { port, pem: certificate.pem(), state }
    }

    pub fn address(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// How often somebody logged in, and how often something was read.
    pub fn counts(&self) -> (usize, usize) {
        let state = self.state();
        (state.logins, state.readings)
    }

    pub fn put(&self, path: &str, stored: Stored) {
        self.state().secrets.entry(path.to_owned()).or_default().push(stored);
    }
}

struct Asked {
    method: String,
    target: String,
    headers: BTreeMap<String, String>,
    body: Value,
}

fn read_request(stream: &mut impl Read) -> Option<Asked> {
    let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let mut lines = head.lines();
            let mut first = lines.next()?.split(' ');
            let headers: BTreeMap<String, String> = lines
                .filter_map(|line| line.split_once(": "))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
                .collect();
            let length: usize =
                headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return Some(Asked {
                    method: first.next()?.to_owned(),
                    target: first.next()?.to_owned(),
                    headers,
                    body: serde_json::from_str(body).unwrap_or_default(),
                });
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
        }
    }
}

fn errors(words: &[&str]) -> Value {
    json!({ "errors": words })
}

impl State {
    fn answer(&mut self, asked: &Asked) -> (u16, Value) {
        if self.is_sealed {
            return (503, errors(&["Vault is sealed"]));
        }
        if self.namespace.as_ref() != asked.headers.get("x-vault-namespace") {
            return (404, errors(&["no handler for route"]));
        }
        let (path, query) = asked.target.split_once('?').unwrap_or((asked.target.as_str(), ""));
        let body = &asked.body;
        match (asked.method.as_str(), path) {
            ("POST", "/v1/auth/approle/login") => {
                let is_right = body["role_id"] == ROLE_ID && body["secret_id"] == SECRET_ID;
                self.login(is_right, "invalid role or secret ID")
            }
            ("POST", "/v1/auth/kubernetes/login") => {
                let is_right = body["role"] == "hostler" && body["jwt"] == JWT;
                self.login(is_right, "invalid audience (aud) claim")
            }
            ("GET", _) => match path.strip_prefix("/v1/secret/data/") {
                Some(path) => self.reading(path, query, asked.headers.get("x-vault-token")),
                None => (404, errors(&["no handler for route"])),
            },
            _ => (405, errors(&["unsupported operation"])),
        }
    }

    fn login(&mut self, is_right: bool, why: &str) -> (u16, Value) {
        if !is_right {
            return (400, errors(&[why]));
        }
        self.logins += 1;
        let token = format!("hvs.{}", self.logins);
        self.tokens.insert(token.clone());
        let auth = json!({
            "client_token": token, "accessor": "a", "policies": ["default", "hostler"],
            "lease_duration": 3600, "renewable": true, "token_type": "service",
        });
        (200, json!({ "request_id": "r", "lease_id": "", "data": null, "auth": auth }))
    }

    fn reading(&mut self, path: &str, query: &str, token: Option<&String>) -> (u16, Value) {
        self.readings += 1;
        let is_known = token.is_some_and(|token| self.tokens.contains(token));
        if !is_known || !path.starts_with(&self.readable) {
            return (403, errors(&["1 error occurred:\n\t* permission denied\n\n"]));
        }
        let versions = self.secrets.get(path).map(Vec::as_slice).unwrap_or_default();
        let asked: usize =
            query.strip_prefix("version=").map_or(versions.len(), |n| n.parse().unwrap());
        let Some(stored) = asked.checked_sub(1).and_then(|i| versions.get(i)) else {
            return (404, errors(&[]));
        };
        let (data, deleted) = match stored {
            Stored::Data(data) => (data.clone(), ""),
            Stored::Deleted => (Value::Null, "2026-02-01T10:00:00.1Z"),
            Stored::Destroyed => (Value::Null, ""),
        };
        let status = if data.is_null() { 404 } else { 200 };
        let metadata = json!({
            "created_time": "2026-01-31T10:00:00.1Z", "custom_metadata": null,
            "deletion_time": deleted, "destroyed": matches!(stored, Stored::Destroyed),
            "version": asked,
        });
        let body = json!({
            "request_id": "r", "lease_id": "", "renewable": false, "lease_duration": 0,
            "data": { "data": data, "metadata": metadata },
            "wrap_info": null, "warnings": null, "auth": null,
        });
        (status, body)
    }
}
