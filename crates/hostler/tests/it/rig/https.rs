//! A client that can say what no well-made client says: plain HTTP/1.0 over TLS with the pinned
//! authority, one request to a connection.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

type Wire = BufReader<StreamOwned<ClientConnection, TcpStream>>;

#[derive(Clone)]
pub struct Https {
    address: SocketAddr,
    tls: Arc<ClientConfig>,
    token: Option<String>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub took: Duration,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every header of this name.
    pub fn headers(&self, name: &str) -> impl Iterator<Item = &str> {
        let of_name = self.headers.iter().filter(move |(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// Checks that it is a problem as documented, and gives it.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        let problem = self.json();
        let shown = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status, status, "{shown}");
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{shown}");
        assert_eq!(problem["code"], code, "{shown}");
        assert_eq!(problem["status"], status, "{shown}");
        for field in ["type", "title", "detail", "hint", "requestId"] {
            assert!(
                problem[field].as_str().is_some_and(|text| !text.is_empty()),
                "{field} {shown}"
            );
        }
        problem
    }
}

impl Https {
    pub fn new(address: SocketAddr, fingerprint: &str) -> Https {
        let fingerprint = fingerprint.parse().unwrap();
        let (mut tls, _) = hostler_trust::tls::client_by_fingerprint(fingerprint).unwrap();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Https { address, tls: Arc::new(tls), token: None }
    }

    /// For somebody else's server, with a certificate of this authority.
    pub fn of_authority(address: SocketAddr, authority: &CertificateDer<'static>) -> Https {
        let mut roots = RootCertStore::empty();
        roots.add(authority.clone()).unwrap();
        let mut tls = ClientConfig::builder_with_provider(hostler_trust::tls::provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Https { address, tls: Arc::new(tls), token: None }
    }

    pub fn token(&self, secret: &str) -> Https {
        Https { token: Some(secret.to_owned()), ..self.clone() }
    }

    fn connect(&self) -> Wire {
        let name = ServerName::from(self.address.ip());
        let tls = ClientConnection::new(self.tls.clone(), name).unwrap();
        let tcp = TcpStream::connect_timeout(&self.address, Duration::from_secs(10)).unwrap();
        tcp.set_read_timeout(Some(super::DEADLINE)).unwrap();
        tcp.set_nodelay(true).unwrap();
        BufReader::new(StreamOwned::new(tls, tcp))
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Wire {
        let mut text = format!("{method} {path} HTTP/1.0\r\nHost: {}\r\n", self.address);
        if let Some(token) = &self.token {
            text.push_str(&format!("Authorization: Bearer {token}\r\n"));
        }
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("Content-Length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        let mut wire = self.connect();
        wire.get_mut().write_all(text.as_bytes()).unwrap();
        wire.get_mut().write_all(body).unwrap();
        wire.get_mut().flush().unwrap();
        wire
    }

    pub fn get(&self, path: &str) -> Reply {
        self.request("GET", path, &[], b"")
    }

    pub fn post(&self, path: &str, body: &str) -> Reply {
        self.request("POST", path, &[("Content-Type", "application/json")], body.as_bytes())
    }

    pub fn request(&self, method: &str, path: &str, more: &[(&str, &str)], body: &[u8]) -> Reply {
        let begun = Instant::now();
        let mut wire = self.send(method, path, more, body);
        let (status, headers) = head(&mut wire);
        let mut body = Vec::new();
        match wire.read_to_end(&mut body) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
            Err(error) => panic!("{method} {path}: {error}"),
        }
        Reply { status, headers, body, took: begun.elapsed() }
    }

    /// A connection for more than one request, in whatever words.
    pub fn talk(&self) -> Talk {
        Talk { wire: self.connect() }
    }

    /// Opens a stream of server-sent events.
    pub fn watch(&self, path: &str, more: &[(&str, &str)]) -> Watch {
        let mut wire = self.send("GET", path, more, b"");
        let (status, headers) = head(&mut wire);
        assert_eq!(status, 200, "{headers:?}");
        Watch { wire }
    }
}

pub struct Talk {
    wire: Wire,
}

impl Talk {
    pub fn say(&mut self, bytes: &[u8]) {
        self.wire.get_mut().write_all(bytes).unwrap();
        self.wire.get_mut().flush().unwrap();
    }

    /// The next answer, of the length it says.
    pub fn hear(&mut self) -> Reply {
        let begun = Instant::now();
        let (status, headers) = head(&mut self.wire);
        let mut reply = Reply { status, headers, body: Vec::new(), took: Duration::ZERO };
        let length = reply.header("content-length").map_or(0, |text| text.parse().unwrap());
        reply.body.resize(length, 0);
        self.wire.read_exact(&mut reply.body).unwrap();
        reply.took = begun.elapsed();
        reply
    }
}

/// One event of a stream.
#[derive(Debug)]
pub struct Event {
    pub id: String,
    pub kind: String,
    pub data: Value,
}

pub struct Watch {
    wire: Wire,
}

impl Watch {
    /// The next event; `None` when the server has ended the stream.
    pub fn next(&mut self) -> Option<Event> {
        let mut event = Event { id: String::new(), kind: String::new(), data: Value::Null };
        loop {
            let line = line(&mut self.wire)?;
            match line.split_once(": ") {
                Some(("id", value)) => event.id = value.to_owned(),
                Some(("event", value)) => event.kind = value.to_owned(),
                Some(("data", value)) => event.data = serde_json::from_str(value).unwrap(),
                _ if line.is_empty() && !event.kind.is_empty() => return Some(event),
                _ => {}
            }
        }
    }

    /// Goes on to the first event that fits.
    pub fn find(&mut self, what: &str, fits: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.next().unwrap_or_else(|| panic!("the stream ended before {what}"));
            if fits(&event) {
                return event;
            }
        }
    }
}

fn line(wire: &mut Wire) -> Option<String> {
    let mut text = String::new();
    match wire.read_line(&mut text) {
        Ok(0) => None,
        Ok(_) => Some(text.trim_end().to_owned()),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => None,
        Err(error) => panic!("reading: {error}"),
    }
}

fn head(wire: &mut Wire) -> (u16, Vec<(String, String)>) {
    let first = line(wire).expect("an answer");
    let status = first.split(' ').nth(1).and_then(|code| code.parse().ok());
    let mut headers = Vec::new();
    while let Some(line) = line(wire).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').unwrap();
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    (status.unwrap_or_else(|| panic!("{first}")), headers)
}
