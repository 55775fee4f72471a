//! Syslog messages (RFC 5424), over the local socket, UDP (RFC 5426), TCP with counted frames
//! (RFC 6587) and TLS (RFC 5425).
//!
//! Syslog has no acknowledgements. Over a stream we say that nothing more comes and wait for the server
//! to close its side: it does so after it has read everything, and a connection that broke shows.

use std::path::Path;

use hostler_egress::Egress;
use hostler_model::Timestamp;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{UdpSocket, UnixDatagram};

use super::{DELIVERY_MAX, Parcel, SinkError};

/// What surely fits a datagram.
const DATAGRAM_MAX: usize = 60_000;
const SEVERITY_NOTICE: u8 = 5;

/// Writes messages of one server.
pub(super) struct Writer<'a> {
    pub(super) facility: u8,
    pub(super) host: &'a str,
}

impl Writer<'_> {
    fn message(&self, parcel: &Parcel) -> String {
        let (time, id) = match parcel {
            Parcel::Entry(record) => (record.time, record.action.as_str()),
            Parcel::Anchor(record) => (record.time, "audit.anchor"),
        };
        self.framed(time, id, &parcel.line())
    }

    /// A message that fits a datagram: what is too long goes without its detail, which says so.
    fn short_message(&self, parcel: &Parcel) -> String {
        let whole = self.message(parcel);
        match parcel {
            Parcel::Entry(record) if whole.len() > DATAGRAM_MAX => {
                let mut short = record.clone();
                short.detail = serde_json::json!({ "omitted": "too long for a datagram" });
                self.message(&Parcel::Entry(short))
            }
            _ => whole,
        }
    }

    fn framed(&self, time: Timestamp, id: &str, text: &str) -> String {
        let priority = u16::from(self.facility) * 8 + u16::from(SEVERITY_NOTICE);
        let (host, id) = (word(self.host, 255), word(id, 32));
        format!("<{priority}>1 {time} {host} hostler - {id} - {text}")
    }

    pub(super) async fn to_unix(&self, path: &Path, parcels: &[Parcel]) -> Result<(), SinkError> {
        let at = path.display().to_string();
        let broken = |source| SinkError::Broken { at: at.clone(), source };
        let send = async {
            let socket = UnixDatagram::unbound().map_err(broken)?;
            socket.connect(path).map_err(broken)?;
            for parcel in parcels {
                socket.send(self.short_message(parcel).as_bytes()).await.map_err(broken)?;
            }
            Ok(())
        };
        in_time(&at, send).await
    }

    pub(super) async fn to_udp(
        &self,
        egress: &Egress,
        host: &str,
        port: u16,
        parcels: &[Parcel],
    ) -> Result<(), SinkError> {
        let at = format!("{host}:{port}");
        let broken = |source| SinkError::Broken { at: at.clone(), source };
        let send = async {
            let to = egress.datagram_address(host, port).await?;
            let from = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
            let socket = UdpSocket::bind(from).await.map_err(broken)?;
            socket.connect(to).await.map_err(broken)?;
            for parcel in parcels {
                socket.send(self.short_message(parcel).as_bytes()).await.map_err(broken)?;
            }
            Ok(())
        };
        in_time(&at, send).await
    }

    pub(super) async fn to_tcp(
        &self,
        egress: &Egress,
        host: &str,
        port: u16,
        parcels: &[Parcel],
    ) -> Result<(), SinkError> {
        let at = format!("{host}:{port}");
        let send = async { self.stream(&at, egress.dial(host, port).await?, parcels).await };
        in_time(&at, send).await
    }

    pub(super) async fn to_tls(
        &self,
        egress: &Egress,
        host: &str,
        port: u16,
        parcels: &[Parcel],
    ) -> Result<(), SinkError> {
        let at = format!("{host}:{port}");
        let send = async { self.stream(&at, egress.dial_tls(host, port).await?, parcels).await };
        in_time(&at, send).await
    }

    async fn stream(
        &self,
        at: &str,
        mut stream: impl AsyncRead + AsyncWrite + Unpin,
        parcels: &[Parcel],
    ) -> Result<(), SinkError> {
        let broken = |source| SinkError::Broken { at: at.to_owned(), source };
        for parcel in parcels {
            let message = self.message(parcel);
            let frame = format!("{} {message}", message.len());
            stream.write_all(frame.as_bytes()).await.map_err(broken)?;
        }
        stream.flush().await.map_err(broken)?;
        stream.shutdown().await.map_err(broken)?;
        let mut rest = [0; 512];
        loop {
            match stream.read(&mut rest).await {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                // Many servers close a TLS connection without the farewell; the data was taken.
                Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(()),
                Err(error) => return Err(broken(error)),
            }
        }
    }
}

async fn in_time(
    at: &str,
    send: impl Future<Output = Result<(), SinkError>>,
) -> Result<(), SinkError> {
    match tokio::time::timeout(DELIVERY_MAX, send).await {
        Ok(sent) => sent,
        Err(_) => Err(SinkError::Slow { at: at.to_owned() }),
    }
}

/// A word for the head of a message: printable ASCII, without spaces, not too long, not empty.
fn word(text: &str, max: usize) -> String {
    let word: String = text.chars().filter(char::is_ascii_graphic).take(max).collect();
    if word.is_empty() { "-".to_owned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{
        Actor, ActorKind, AuditChain, AuditEntry, NewAuditEntry, ObjectKind, ObjectRef,
    };

    fn parcel(detail: &str) -> Parcel {
        let entry = NewAuditEntry {
            time: Timestamp::from_micros(1_700_000_000_123_456),
            actor: Actor { kind: ActorKind::User, name: "ada\n<0>1 forged".to_owned() },
            action: "node.cordon".to_owned(),
            object: ObjectRef::new(ObjectKind::Node, "n1", "web"),
            project_id: None,
            request_id: "r".to_owned(),
            source: "::1".to_owned(),
            detail: serde_json::json!({ "text": detail }),
            digest_before: None,
            digest_after: None,
        };
        let hash = AuditChain::link(&[0; 32], &entry, 1);
        AuditEntry { sequence: 1, entry, hash_previous: vec![0; 32], hash }.into()
    }

    #[test]
    fn a_message_has_the_head_that_the_standard_asks_for() {
        let writer = Writer { facility: 13, host: "server one\u{e9}" };
        let message = writer.message(&parcel("x"));
        let head =
            "<109>1 2023-11-14T22:13:20.123456Z serverone hostler - node.cordon - {\"sequence\":1,";
        assert!(message.starts_with(head), "{message}");
        assert!(!message.contains('\n'), "{message}");
        assert_eq!(word("", 5), "-");
        assert_eq!(word("abcdefgh", 5), "abcde");
    }

    #[test]
    fn what_is_too_long_for_a_datagram_goes_without_detail() {
        let writer = Writer { facility: 13, host: "h" };
        let long = parcel(&"y".repeat(100_000));
        assert!(writer.message(&long).len() > DATAGRAM_MAX);
        let short = writer.short_message(&long);
        assert!(short.len() < 2000 && short.contains("too long for a datagram"), "{short}");
        let fits = parcel("small");
        assert_eq!(writer.short_message(&fits), writer.message(&fits));
    }
}
