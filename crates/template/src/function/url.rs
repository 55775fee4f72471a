//! `make_url`: a URL of its parts, each written so that it is read back as what it was.

use serde_json::{Map, Value};

use super::python;
use super::{Context, Expr, ResolveError};

const PARTS: [&str; 8] =
    ["scheme", "username", "password", "host", "port", "path", "query", "fragment"];

/// Schemes whose URLs have `//` even without a host.
const WITH_HOSTS: [&str; 25] = [
    "ftp", "http", "gopher", "nntp", "telnet", "imap", "wais", "file", "mms", "https", "shttp",
    "snews", "prospero", "rtsp", "rtsps", "rtspu", "rsync", "svn", "svn+ssh", "sftp", "nfs", "git",
    "git+ssh", "ws", "wss",
];

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MakeUrl(pub Vec<(String, Expr)>);

impl MakeUrl {
    pub fn read(name: &str, arguments: Expr) -> Result<MakeUrl, String> {
        let Ok(entries) = arguments.into_entries() else {
            return Err(format!("The arguments to \"{name}\" must be a map"));
        };
        let unknown = entries.iter().map(|(key, _)| key.as_str());
        let mut unknown: Vec<&str> = unknown.filter(|key| !PARTS.contains(key)).collect();
        if !unknown.is_empty() {
            unknown.sort_unstable();
            return Err(format!("Invalid arguments to \"{name}\": {}", unknown.join(", ")));
        }
        let known = entries.iter().filter_map(|(key, value)| match value {
            Expr::Plain(value) => Some((key.clone(), value.clone())),
            _ => None,
        });
        let known: Map<String, Value> = known.collect();
        for part in PARTS {
            let open = entries.iter().find(|(key, _)| key == part).map(|(_, value)| value);
            match open {
                Some(Expr::Plain(value)) => check(name, part, value, &known)?,
                Some(Expr::Map(_)) if part == "query" => {}
                Some(Expr::Map(_) | Expr::List(_)) => {
                    check(name, part, &Value::Array(Vec::new()), &known)?;
                }
                Some(Expr::Call(_) | Expr::Absent) | None => {}
            }
        }
        Ok(MakeUrl(entries))
    }

    pub fn resolve(&self, name: &str, context: &Context<'_>) -> Result<Value, ResolveError> {
        let Value::Object(parts) = Expr::Map(self.0.clone()).value(context)? else {
            return Err(ResolveError::wrong(format!("The arguments to \"{name}\" must be a map")));
        };
        for part in PARTS {
            if let Some(value) = parts.get(part) {
                check(name, part, value, &parts).map_err(ResolveError::wrong)?;
            }
        }
        let text = |part: &str| parts.get(part).and_then(Value::as_str).unwrap_or_default();
        let scheme = text("scheme");
        if scheme.contains(':') {
            return Err(ResolveError::wrong("URL \"scheme\" should not contain ':'"));
        }
        let query = parts.get("query").and_then(Value::as_object).map(query).unwrap_or_default();
        let mut url = join(scheme, &host(&parts), &quote(text("path"), "/", false));
        if !query.is_empty() {
            url.push('?');
            url.push_str(&query);
        }
        let fragment = quote(text("fragment"), "/", false);
        if !fragment.is_empty() {
            url.push('#');
            url.push_str(&fragment);
        }
        context.meter.pay(url.len())?;
        Ok(Value::String(url))
    }
}

fn check(name: &str, part: &str, value: &Value, all: &Map<String, Value>) -> Result<(), String> {
    match (part, value) {
        ("query", Value::Object(_)) => Ok(()),
        ("query", _) => Err(format!("The \"query\" argument to \"{name}\" must be a map")),
        ("port", port) => {
            let Some(number) = python::whole(port) else {
                let (port, all) = (python::text(port), python::repr(&Value::Object(all.clone())));
                return Err(format!("Invalid URL port \"{port}\" for {name} called with {all}"));
            };
            match (1..=65535).contains(&number) {
                true => Ok(()),
                false => Err(format!("Invalid URL port {number}, must be in range 1-65535")),
            }
        }
        (_, Value::String(_)) => Ok(()),
        _ => Err(format!("The \"{part}\" argument to \"{name}\" must be a string")),
    }
}

/// `user:password@host:port`
fn host(parts: &Map<String, Value>) -> String {
    let text = |part: &str| parts.get(part).and_then(Value::as_str).unwrap_or_default();
    let (user, password) = (quote(text("username"), "", false), quote(text("password"), "", false));
    let mut out = user;
    if !password.is_empty() {
        out.push(':');
        out.push_str(&password);
    }
    if !out.is_empty() {
        out.push('@');
    }
    let name = text("host");
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let bare = quote(bare, ":", false);
    match bare.contains(':') {
        true => out.push_str(&format!("[{bare}]")),
        false => out.push_str(&bare),
    }
    if let Some(port) = parts.get("port") {
        out.push(':');
        out.push_str(&python::text(port));
    }
    out
}

fn query(pairs: &Map<String, Value>) -> String {
    let pairs = pairs.iter().map(|(key, value)| {
        let (key, value) = (quote(key, "/", true), quote(&python::text(value), "/", true));
        format!("{key}={value}")
    });
    pairs.collect::<Vec<_>>().join("&")
}

fn join(scheme: &str, host: &str, path: &str) -> String {
    let mut out = String::new();
    if !scheme.is_empty() {
        out.push_str(scheme);
        out.push(':');
    }
    let is_rooted = path.is_empty() || path.starts_with('/');
    if !host.is_empty() || path.starts_with("//") || WITH_HOSTS.contains(&scheme) {
        out.push_str("//");
        out.push_str(host);
        if !is_rooted {
            out.push('/');
        }
    }
    out.push_str(path);
    out
}

/// Everything but letters, digits, `_.-~` and what is `safe` by its bytes, as `%41`.
fn quote(text: &str, safe: &str, blanks_are_plus: bool) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        let c = char::from(byte);
        match c {
            ' ' if blanks_are_plus => out.push('+'),
            c if c.is_ascii_alphanumeric() || "_.-~".contains(c) => out.push(c),
            c if c.is_ascii() && safe.contains(c) => out.push(c),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
