//! Does something listen, and does it answer well? TCP and HTTP/1.1, no more of either than a health
//! check needs: of an HTTP answer only the status line counts, redirects are answers like others.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use futures::future::BoxFuture;
use hostler_base::Clock;
use hostler_engine::health::authority;
use hostler_model::HttpCheck;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, lookup_host};

/// The most that is read of an answer.
const ANSWER_MAX: usize = 4096;
/// How long the rest of an answer is waited for, so that a server can finish before we hang up. This
/// comes after the answer was judged and is no part of the time allowed for it.
const LINGER: Duration = Duration::from_millis(100);

/// Where to connect.
pub(super) struct Target {
    host: String,
    port: u16,
    /// A name that is being looked up. It cannot be called back, so a question that is cut leaves it
    /// to the next one instead of asking again: a resolver without network is not flooded.
    lookup: Option<BoxFuture<'static, io::Result<Vec<SocketAddr>>>>,
    /// A connection whose answer has been judged, with how much more may be read from it.
    judged: Option<(TcpStream, usize)>,
}

impl Target {
    pub fn new(host: &str, port: u16) -> Target {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        Target { host: bare.unwrap_or(host).to_owned(), port, lookup: None, judged: None }
    }

    fn authority(&self) -> String {
        authority(&self.host, self.port)
    }

    pub async fn connect(&mut self) -> Result<TcpStream, String> {
        let addresses = self.addresses().await.map_err(|error| {
            format!("the name {} cannot be resolved: {}", self.host, plain(&error))
        })?;
        let place = self.authority();
        let failed = |error| format!("cannot connect to {place}: {}", plain(&error));
        let stream = TcpStream::connect(&*addresses).await.map_err(failed)?;
        if is_with_itself(&stream) {
            return Err(failed(io::ErrorKind::ConnectionRefused.into()));
        }
        Ok(stream)
    }

    /// Hangs up, after a moment in which the other side may finish.
    pub async fn hang_up(&mut self, clock: &Clock) {
        let Some((mut stream, most)) = self.judged.take() else { return };
        let rest = async {
            let mut bytes = Vec::new();
            while matches!(read_some(&mut stream, &mut bytes, most).await, Ok(length) if length > 0)
            {
            }
        };
        let _ = clock.timeout(LINGER, rest).await;
    }

    async fn addresses(&mut self) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, self.port)]);
        }
        let lookup = self.lookup.get_or_insert_with(|| {
            let name = (self.host.clone(), self.port);
            Box::pin(async move { Ok(lookup_host(name).await?.collect()) })
        });
        let found = lookup.await;
        self.lookup = None;
        found
    }
}

/// Whether nothing listens and the kernel, by chance, gave our end the very port that we asked for.
fn is_with_itself(stream: &TcpStream) -> bool {
    matches!((stream.local_addr(), stream.peer_addr()), (Ok(ours), Ok(theirs)) if ours == theirs)
}

/// An error without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Asks for a page and looks at the status.
pub(super) async fn get(target: &mut Target, check: &HttpCheck) -> Result<(), String> {
    let mut stream = target.connect().await?;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: hostler-health/{}\r\nAccept: */*\r\nConnection: close\r\n\r\n",
        check.path,
        target.authority(),
        env!("CARGO_PKG_VERSION"),
    );
    let lost = |error: io::Error| format!("the connection failed: {}", plain(&error));
    stream.write_all(request.as_bytes()).await.map_err(lost)?;
    let mut answer = Vec::new();
    while !answer.contains(&b'\n') && answer.len() < ANSWER_MAX {
        if read_some(&mut stream, &mut answer, ANSWER_MAX).await.map_err(lost)? == 0 {
            break;
        }
    }
    let status = status(&answer)?;
    target.judged = Some((stream, ANSWER_MAX - answer.len()));
    let is_good = match check.status.as_slice() {
        [] => (200..400).contains(&status),
        listed => listed.contains(&status),
    };
    if is_good { Ok(()) } else { Err(format!("HTTP status {status}")) }
}

/// Reads so that at most `most` bytes are there.
async fn read_some(stream: &mut TcpStream, bytes: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let room = u64::try_from(most.saturating_sub(bytes.len())).unwrap_or(0);
    stream.take(room).read_buf(bytes).await
}

/// The status in the first line of an answer.
pub(crate) fn status(answer: &[u8]) -> Result<u16, String> {
    if answer.is_empty() {
        return Err("the connection was closed without an answer".to_owned());
    }
    let line = answer.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_end();
    let parsed = || {
        let line = std::str::from_utf8(line.get(..12)?).ok()?;
        let is_end = answer.get(12).is_none_or(u8::is_ascii_whitespace);
        let status = line.strip_prefix("HTTP/1.0 ").or_else(|| line.strip_prefix("HTTP/1.1 "))?;
        let is_number = status.bytes().all(|b| b.is_ascii_digit());
        status.parse().ok().filter(|status| is_end && is_number && (100..600).contains(status))
    };
    parsed().ok_or_else(|| {
        let begin = String::from_utf8_lossy(&line[..line.len().min(60)]);
        format!("the answer is not HTTP; it begins with `{begin}`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_status_lines_are_believed() {
        let good = [
            ("HTTP/1.1 200 OK\r\nServer: x\r\n\r\n", 200),
            ("HTTP/1.0 404 Not Found\r\n", 404),
            ("HTTP/1.1 503\r\n", 503),
            ("HTTP/1.1 204 \r\n", 204),
            ("HTTP/1.1 301 Moved\n", 301),
        ];
        for (answer, number) in good {
            assert_eq!(status(answer.as_bytes()), Ok(number), "{answer:?}");
        }
        let bad = ["HTTP/1.1 2000 OK\r\n", "HTTP/1.1 +20 OK\r\n", "SSH-2.0-x\r\n", "HTTP/1.1\r\n"];
        for answer in bad {
            assert!(status(answer.as_bytes()).unwrap_err().contains("not HTTP"), "{answer:?}");
        }
        assert!(status(b"\xff\xfe\x00").unwrap_err().contains("not HTTP"));
        assert!(status(b"").unwrap_err().contains("without an answer"));
    }

    #[tokio::test]
    async fn a_connection_with_itself_is_recognised() {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let own = socket.local_addr().unwrap();
        let stream = socket.connect(own).await.unwrap();
        assert!(is_with_itself(&stream));
    }
}
