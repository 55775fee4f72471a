//! Servers that say exactly what a test wants, and a name server that may change its mind.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hostler_egress::{Egress, Limits, Options, Policy, Resolve, Resolving};

/// A server on a port of its own. Every request it got is kept as it came.
pub struct Server {
    pub port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `answer` gets the number of the connection and writes whatever it wants.
    pub fn start(answer: impl Fn(usize, &mut TcpStream) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&seen);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let Ok(mut stream) = stream else { return };
                if let Some(request) = read_request(&mut stream) {
                    kept.lock().unwrap().push(request);
                    answer(number, &mut stream);
                }
            }
        });
        Server { port, seen }
    }

    /// Says the same every time.
    pub fn saying(text: impl Into<String>) -> Server {
        let text = text.into();
        Server::start(move |_, stream| {
            let _gone = stream.write_all(text.as_bytes());
        })
    }

    pub fn redirecting(status: u16, to: &str) -> Server {
        Server::saying(format!(
            "HTTP/1.1 {status} Elsewhere\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n"
        ))
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }
}

pub fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    stream.set_read_timeout(Some(Duration::from_secs(10))).ok()?;
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| {
                    line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
                })
                .unwrap_or(0usize);
            if body.len() >= length {
                return Some(text);
            }
        }
        match stream.read(&mut part) {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
        }
    }
}

/// Names and what they resolve to, the first time, the second time, and so on; the last for ever.
#[derive(Default)]
pub struct Names {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Names {
    pub fn of(names: &[(&str, &[&str])]) -> Arc<Names> {
        let answers = names
            .iter()
            .map(|(name, turns)| {
                let turn = |turn: &&str| turn.split(' ').map(|a| a.parse().unwrap()).collect();
                ((*name).to_owned(), turns.iter().map(turn).collect())
            })
            .collect();
        Arc::new(Names { answers, asked: AtomicUsize::new(0) })
    }

    pub fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let turn = self.asked.fetch_add(1, Ordering::SeqCst);
        let found = self.answers.get(name).map(|turns| turns[turn.min(turns.len() - 1)].clone());
        Box::pin(async move { found.ok_or_else(|| std::io::Error::other("no such name")) })
    }
}

pub fn door(allow: &[&str]) -> Egress {
    door_with(allow, None, Limits::default())
}

pub fn door_with(allow: &[&str], names: Option<Arc<Names>>, limits: Limits) -> Egress {
    Egress::new(Options {
        policy: Policy {
            allow: allow.iter().map(|text| text.parse().unwrap()).collect(),
            ..Policy::default()
        },
        limits,
        resolver: names.map(|names| names as Arc<dyn Resolve>),
        authorities_pem: None,
    })
}

/// An error with its causes, as people see it.
pub fn words(error: &hostler_egress::Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

/// A server with a certificate of its own for `name`: its port, and the certificate.
pub fn tls_server(name: &str, says: String) -> (u16, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let params = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(key.serialize_der());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.into())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut tls = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut head = [0; 4096];
            let mut both = rustls::Stream::new(&mut tls, &mut stream);
            if both.read(&mut head).is_ok_and(|n| n > 0) {
                let _gone = both.write_all(says.as_bytes());
                tls.send_close_notify();
                let _gone = tls.write_tls(&mut stream);
            }
        }
    });
    (port, certificate.pem())
}
