//! An identity provider that people log in at, and a browser for its pages.
//!
//! The provider is `oidc-provider`, a real one (`tests/oidc/provider.mjs`), with a certificate of an authority of
//! its own. What it asks people is on pages with forms; [`Browser`] fills them in.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hostler_base::{Clock, Ids};
use hostler_trust::Authority;
use serde_json::Value;

use super::{Https, Process, Reply, Rig, command, skipped};

/// Where the provider sends people back to. Nobody is there: what they would bring is read on the way.
const REDIRECT: &str = "https://hostler.example/";

pub struct Provider {
    pub process: Process,
    pub issuer: String,
    address: SocketAddr,
    https: Https,
    authorities: PathBuf,
    secret_file: PathBuf,
}

impl Provider {
    /// As the client of the provider has it, with everything in it that has to be written otherwise.
    pub const SECRET: &'static str = "a secret: with %, + and spaces";
    /// Of `ada@example.org`, in the groups `hostler-users` and `platform`.
    pub const ADA: &'static str = "00u1-ada";
    /// Of `bob@elsewhere.example`, in the group `hostler-users`.
    pub const BOB: &'static str = "00u2-bob";

    /// Nothing where there is no Node.js.
    pub fn start(rig: &Rig) -> Option<Provider> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|dir| dir.join("node").is_file()) {
            skipped("`node` is not installed");
            return None;
        }
        let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oidc");
        assert!(
            place.join("node_modules/oidc-provider").exists(),
            "the identity provider is not installed; `make test` does it"
        );
        let now = Clock::system().now();
        let authority = Authority::create(now, "provider").unwrap();
        let (id, day) = (Ids::system().fresh(), Duration::from_hours(24));
        let names = ["127.0.0.1".to_owned()];
        let (_, identity) = authority.issue_server(id, &names, now, day).unwrap();
        let write = |name: &str, text: &str| {
            let path = rig.path(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let chain = write("provider-chain.pem", &identity.chain_pem);
        let key = write("provider-key.pem", identity.key_pem.expose());
        let mut node = command(rig, "node");
        node.arg(place.join("provider.mjs")).arg("0").args([chain, key]).arg(REDIRECT);
        let mut process = Process::spawn(rig, "provider", node);
        let line = process.line(&["the provider is at "]);
        let issuer = line.split_ascii_whitespace().find(|word| word.starts_with("https://"));
        let issuer = issuer.unwrap().to_owned();
        let address = issuer.strip_prefix("https://").unwrap().parse().unwrap();
        Some(Provider {
            process,
            issuer,
            address,
            https: Https::of_authority(address, authority.certificate().der()),
            authorities: write("provider-authority.pem", &authority.certificate_pem()),
            secret_file: write("provider-secret", &format!("{}\n", Provider::SECRET)),
        })
    }

    /// What a server has to know of it, with more for the section `[oidc]`.
    pub fn settings(&self, more: &str) -> String {
        let (address, issuer) = (self.address, &self.issuer);
        let (authorities, secret_file) = (self.authorities.display(), self.secret_file.display());
        format!(
            "[egress]\n\
             allow = ['{address}']\n\
             authorities = '{authorities}'\n\
             [oidc]\n\
             issuer = '{issuer}'\n\
             client_id = 'hostler'\n\
             client_secret_file = '{secret_file}'\n\
             redirect = '{REDIRECT}'\n\
             scopes = ['openid', 'profile', 'email', 'groups']\n\
             label = 'Example SSO'\n\
             {more}"
        )
    }

    /// Says other things of somebody from now on.
    pub fn change(&self, subject: &str, claims: &Value) {
        let reply = self.https.post(&format!("/-/accounts/{subject}"), &claims.to_string());
        assert_eq!(reply.status, 200);
    }

    /// Signs with a new key of another kind from now on, and forgets the old one.
    pub fn rotate(&self) {
        assert_eq!(self.https.post("/-/rotate", "").status, 200);
    }

    /// How often somebody asked for this.
    pub fn asked(&self, path: &str) -> u64 {
        self.https.get("/-/asked").json()["asked"][path].as_u64().unwrap_or_default()
    }

    /// Opens an address of the provider in a fresh browser, logs in there as `subject`, and agrees to everything.
    pub fn log_in(&self, url: &str, subject: &str) -> Returned {
        let (https, issuer) = (self.https.clone(), self.issuer.clone());
        let mut browser = Browser { https, issuer, cookies: BTreeMap::new() };
        let mut place = browser.place(url);
        for _ in 0..10 {
            let mut reply = browser.ask("GET", &place, "");
            if reply.status == 200 {
                let form = match String::from_utf8_lossy(&reply.body).contains("name=\"login\"") {
                    true => format!("prompt=login&login={subject}&password=any"),
                    false => "prompt=consent".to_owned(),
                };
                reply = browser.ask("POST", &place, &form);
            }
            let shown = String::from_utf8_lossy(&reply.body);
            assert_eq!(reply.status, 303, "{place}\n{shown}");
            let to = reply.header("location").unwrap();
            match to.strip_prefix(REDIRECT) {
                Some(query) => return Returned::read(query),
                None => place = browser.place(to),
            }
        }
        panic!("the provider sends people round and round, lately to {place}");
    }
}

/// What the provider sent somebody back with.
#[derive(Debug)]
pub struct Returned {
    pub state: String,
    pub code: String,
}

impl Returned {
    fn read(query: &str) -> Returned {
        let of = |name: &str| {
            let pairs = query.trim_start_matches('?').split('&');
            let found = pairs.filter_map(|pair| pair.split_once('=')).find(|(key, _)| *key == name);
            found.unwrap_or_else(|| panic!("{name} in {query}")).1.to_owned()
        };
        Returned { state: of("state"), code: of("code") }
    }
}

/// Keeps cookies, each for its path and what is below it.
struct Browser {
    https: Https,
    issuer: String,
    cookies: BTreeMap<(String, String), String>,
}

impl Browser {
    fn place(&self, url: &str) -> String {
        url.strip_prefix(&self.issuer).unwrap_or(url).to_owned()
    }

    fn ask(&mut self, method: &str, place: &str, form: &str) -> Reply {
        let path = place.split('?').next().unwrap_or_default();
        let fits = |of: &str| of == "/" || path == of || path.starts_with(&format!("{of}/"));
        let own = self.cookies.iter().filter(|((of, _), _)| fits(of));
        let own: Vec<String> = own.map(|((_, name), value)| format!("{name}={value}")).collect();
        let cookies = own.join("; ");
        let kind = ("Content-Type", "application/x-www-form-urlencoded");
        let more = [kind, ("Cookie", cookies.as_str())];
        let more = if cookies.is_empty() { &more[..1] } else { &more[..] };
        let reply = self.https.request(method, place, more, form.as_bytes());
        for cookie in reply.headers("set-cookie") {
            self.keep(cookie);
        }
        reply
    }

    fn keep(&mut self, cookie: &str) {
        let mut parts = cookie.split("; ");
        let (name, value) = parts.next().and_then(|first| first.split_once('=')).unwrap();
        let path = parts.find_map(|part| part.strip_prefix("path=")).unwrap_or("/");
        let key = (path.to_owned(), name.to_owned());
        if cookie.contains("expires=Thu, 01 Jan 1970") {
            self.cookies.remove(&key);
        } else {
            self.cookies.insert(key, value.to_owned());
        }
    }
}
