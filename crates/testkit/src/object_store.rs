//! A stand-in for an object store that speaks S3, over plain HTTP: objects of one bucket, in memory. It believes no
//! request whose signature is not the one that it computes itself, and answers as such stores do when something is
//! wrong.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostler_trust::SecretString;
use hostler_trust::aws::{Signer, Unsigned};

const BODY_MAX: usize = 8 << 20;

/// What it has, and how it is.
#[derive(Debug, Default)]
pub struct Objects {
    /// By their paths below the bucket.
    pub objects: BTreeMap<String, Vec<u8>>,
    /// So many requests are answered with "slow down" before the next is served.
    pub busy: usize,
    /// Requests that were served, by method.
    pub served: BTreeMap<String, usize>,
    /// Requests that were refused, and why.
    pub refused: Vec<String>,
}

/// The stand-in. It ends with the process.
#[derive(Clone, Debug)]
pub struct ObjectServer {
    pub port: u16,
    state: Arc<Mutex<Objects>>,
}

struct Asked {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl ObjectServer {
    pub const BUCKET: &'static str = "backups";
    pub const REGION: &'static str = "eu-test-1";
    pub const ACCESS_KEY: &'static str = "HOSTLERTEST";
    pub const SECRET_KEY: &'static str = "not+a/real=key";

    /// Begins to listen, on a port of this machine that nobody else has.
    pub fn start() -> ObjectServer {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        let state: Arc<Mutex<Objects>> = Arc::default();
        let server = ObjectServer { port, state };
        let serving = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = serving.clone();
                std::thread::spawn(move || server.serve(stream));
            }
        });
        server
    }

    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn state(&self) -> MutexGuard<'_, Objects> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut stream: TcpStream) {
        let _waits_no_longer = stream.set_read_timeout(Some(Duration::from_secs(10)));
        let Some(asked) = read(&mut stream) else { return };
        let (status, body) = self.answer(&asked);
        let head = format!(
            "HTTP/1.1 {status} Said\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        let _gone = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    }

    fn answer(&self, asked: &Asked) -> (u16, Vec<u8>) {
        let error = |code: &str| format!("<Error><Code>{code}</Code></Error>").into_bytes();
        let mut state = self.state();
        if state.busy > 0 {
            state.busy -= 1;
            return (503, error("SlowDown"));
        }
        if let Err(why) = self.check(asked) {
            state.refused.push(why);
            return (403, error("SignatureDoesNotMatch"));
        }
        let bucket = format!("/{}/", ObjectServer::BUCKET);
        let Some(name) = asked.path.strip_prefix(&bucket).map(str::to_owned) else {
            return (404, error("NoSuchBucket"));
        };
        *state.served.entry(asked.method.clone()).or_default() += 1;
        match asked.method.as_str() {
            "PUT" => {
                state.objects.insert(name, asked.body.clone());
                (200, Vec::new())
            }
            "GET" => match state.objects.get(&name) {
                Some(bytes) => (200, bytes.clone()),
                None => (404, error("NoSuchKey")),
            },
            "DELETE" => {
                state.objects.remove(&name);
                (204, Vec::new())
            }
            _ => (405, error("MethodNotAllowed")),
        }
    }

    fn check(&self, asked: &Asked) -> Result<(), String> {
        let header = |name: &str| {
            asked.headers.get(name).cloned().ok_or_else(|| format!("the header {name} is missing"))
        };
        let signer = Signer {
            access_key: ObjectServer::ACCESS_KEY.to_owned(),
            secret_key: SecretString::new(ObjectServer::SECRET_KEY),
            region: ObjectServer::REGION.to_owned(),
        };
        let host = header("host")?;
        let unsigned = Unsigned {
            method: &asked.method,
            host: &host,
            path: &asked.path,
            query: "",
            body: &asked.body,
        };
        let expected = signer.sign(unsigned, &header("x-amz-date")?);
        if header("x-amz-content-sha256")? != expected.content {
            return Err("the body has another digest".to_owned());
        }
        match header("authorization")? == expected.authorization {
            true => Ok(()),
            false => Err("the signature is another".to_owned()),
        }
    }
}

fn read(stream: &mut TcpStream) -> Option<Asked> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 16 << 10]);
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut buffer) {
            Ok(got @ 1..) if bytes.len() < BODY_MAX => bytes.extend_from_slice(&buffer[..got]),
            _ => return None,
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length: usize = headers.get("content-length").and_then(|n| n.parse().ok()).unwrap_or(0);
    let mut body = bytes[end + 4..].to_vec();
    while body.len() < length && body.len() < BODY_MAX {
        match stream.read(&mut buffer) {
            Ok(got @ 1..) => body.extend_from_slice(&buffer[..got]),
            _ => return None,
        }
    }
    Some(Asked { method, path, headers, body })
}
