//! Where audit entries are sent besides the database: a collector over HTTP, or a syslog server.
//!
//! Sinks are told of every entry at least once and in order. A cursor per sink is kept in the database
//! and goes forward when a delivery is known to have arrived; who writes entries never waits for it.
//! What a sink gets is what an export has ([`hostler_model::AuditRecord`]), one JSON document per entry,
//! so that the chain can be followed there. Anchors come in between, as `{"anchor": {...}}`.
//!
//! | sink | delivered means |
//! |---|---|
//! | `https://`, `http://` | the collector answered with 2xx |
//! | `syslog+tcp://`, `syslog+tls://` | the server took everything and closed the connection after us |
//! | `syslog+unix:` | the local daemon took every datagram |
//! | `syslog+udp://` | the datagrams were sent; the network may lose them |

mod http;
mod syslog;

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use hostler_egress::Egress;
use hostler_model::{AuditAnchor, AuditAnchorRecord, AuditEntry, AuditRecord};

/// How long one delivery may take.
const DELIVERY_MAX: Duration = Duration::from_secs(10);

/// One sink, as configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditSink {
    /// Its cursor is kept under this name.
    pub name: String,
    pub to: SinkAddress,
    /// File with a bearer token for HTTP, read for every delivery.
    pub token_file: Option<PathBuf>,
    /// Of syslog messages.
    pub facility: u8,
    /// Entries in one delivery at most.
    pub batch: u32,
}

/// Where a sink is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SinkAddress {
    Http { url: String },
    SyslogUnix { path: PathBuf },
    SyslogUdp { host: String, port: u16 },
    SyslogTcp { host: String, port: u16 },
    SyslogTls { host: String, port: u16 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "write `https://host/path`, `syslog+tls://host:6514`, `syslog+tcp://host:601`, `syslog+udp://host:514` or `syslog+unix:/dev/log`"
)]
pub struct ParseSinkError;

impl FromStr for SinkAddress {
    type Err = ParseSinkError;

    fn from_str(text: &str) -> Result<SinkAddress, ParseSinkError> {
        if text.starts_with("https://") || text.starts_with("http://") {
            hostler_egress::Request::post(text).map_err(|_| ParseSinkError)?;
            return Ok(SinkAddress::Http { url: text.to_owned() });
        }
        if let Some(path) = text.strip_prefix("syslog+unix:") {
            return match path.starts_with('/') {
                true => Ok(SinkAddress::SyslogUnix { path: path.into() }),
                false => Err(ParseSinkError),
            };
        }
        let (scheme, place) = text.split_once("://").ok_or(ParseSinkError)?;
        let at = |usual| host_and_port(place, usual).ok_or(ParseSinkError);
        match scheme {
            "syslog+udp" => at(514).map(|(host, port)| SinkAddress::SyslogUdp { host, port }),
            "syslog+tcp" => at(601).map(|(host, port)| SinkAddress::SyslogTcp { host, port }),
            "syslog+tls" => at(6514).map(|(host, port)| SinkAddress::SyslogTls { host, port }),
            _ => Err(ParseSinkError),
        }
    }
}

fn host_and_port(place: &str, usual: u16) -> Option<(String, u16)> {
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (place, usual),
    };
    let is_host = !host.is_empty() && !host.contains(['/', '@', '?', '#', ' ']) && port != 0;
    is_host.then(|| (host.to_owned(), port))
}

impl SinkAddress {
    /// For people: without what may be secret in a URL.
    pub fn shown(&self) -> String {
        match self {
            SinkAddress::Http { url } => {
                let end = url.match_indices(['/', '?', '#']).map(|(at, _)| at).nth(2);
                url[..end.unwrap_or(url.len())].to_owned()
            }
            SinkAddress::SyslogUnix { path } => format!("syslog+unix:{}", path.display()),
            SinkAddress::SyslogUdp { host, port } => format!("syslog+udp://{host}:{port}"),
            SinkAddress::SyslogTcp { host, port } => format!("syslog+tcp://{host}:{port}"),
            SinkAddress::SyslogTls { host, port } => format!("syslog+tls://{host}:{port}"),
        }
    }
}

/// Why a delivery failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SinkError {
    #[error("it cannot be called")]
    Egress(#[from] hostler_egress::Error),
    #[error("its token cannot be read from {}", path.display())]
    Token {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("it answered with status {0}; see its own log")]
    Status(u16),
    #[error("the connection to {at} broke off")]
    Broken {
        at: String,
        #[source]
        source: std::io::Error,
    },
    #[error("{at} did not take everything within {} s", DELIVERY_MAX.as_secs())]
    Slow { at: String },
}

/// What is delivered: an entry or an anchor.
#[derive(Clone, Debug)]
pub(crate) enum Parcel {
    Entry(Box<AuditRecord>),
    Anchor(AuditAnchorRecord),
}

impl From<AuditEntry> for Parcel {
    fn from(entry: AuditEntry) -> Parcel {
        Parcel::Entry(Box::new(entry.into()))
    }
}

impl From<AuditAnchor> for Parcel {
    fn from(anchor: AuditAnchor) -> Parcel {
        Parcel::Anchor(anchor.into())
    }
}

impl Parcel {
    /// One line of JSON, without its end.
    fn line(&self) -> String {
        let line = match self {
            Parcel::Entry(record) => serde_json::to_string(record),
            Parcel::Anchor(record) => {
                serde_json::to_string(&serde_json::json!({ "anchor": record }))
            }
        };
        line.unwrap_or_default()
    }
}

impl AuditSink {
    /// Delivers everything, in order, or fails. What was delivered before a failure comes again.
    pub(crate) async fn deliver(
        &self,
        egress: &Egress,
        server_name: &str,
        parcels: &[Parcel],
    ) -> Result<(), SinkError> {
        let writer = syslog::Writer { facility: self.facility, host: server_name };
        match &self.to {
            SinkAddress::Http { url } => {
                http::deliver(egress, url, self.token_file.as_deref(), parcels).await
            }
            SinkAddress::SyslogUnix { path } => writer.to_unix(path, parcels).await,
            SinkAddress::SyslogUdp { host, port } => {
                writer.to_udp(egress, host, *port, parcels).await
            }
            SinkAddress::SyslogTcp { host, port } => {
                writer.to_tcp(egress, host, *port, parcels).await
            }
            SinkAddress::SyslogTls { host, port } => {
                writer.to_tls(egress, host, *port, parcels).await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown_without_secrets() {
        for (text, shown) in [
            ("https://siem.example/in/s3cret?key=s3cret", "https://siem.example"),
            ("http://10.0.0.1:8080?key=s3cret", "http://10.0.0.1:8080"),
            ("syslog+unix:/dev/log", "syslog+unix:/dev/log"),
            ("syslog+udp://log.example", "syslog+udp://log.example:514"),
            ("syslog+tcp://log.example:1514", "syslog+tcp://log.example:1514"),
            ("syslog+tls://[fd00::1]", "syslog+tls://[fd00::1]:6514"),
            ("syslog+tls://[fd00::1]:99", "syslog+tls://[fd00::1]:99"),
        ] {
            assert_eq!(text.parse::<SinkAddress>().unwrap().shown(), shown);
        }
        for bad in [
            "",
            "siem.example",
            "ftp://a",
            "syslog+unix:dev/log",
            "syslog+tcp://",
            "https://",
            "syslog+tcp://a:b",
            "syslog+tcp://a:0",
            "syslog+udp://a/b",
            "https://u:p@a/",
        ] {
            assert!(bad.parse::<SinkAddress>().is_err(), "{bad}");
        }
    }
}
