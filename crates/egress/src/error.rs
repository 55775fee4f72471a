//! What can go wrong when something is called, with what to do about it.

use std::error::Error as StdError;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use crate::policy::Refusal;

type Cause = Box<dyn StdError + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the address cannot be used: {0}")]
    Url(&'static str),
    #[error("{host} cannot be looked up; check the name, and the name servers of this machine")]
    Lookup {
        host: String,
        #[source]
        source: io::Error,
    },
    #[error("{host} has no address")]
    NoAddress { host: String },
    #[error("{what} and is not called from here; {remedy}")]
    Refused { what: String, remedy: String },
    #[error("{at} cannot be reached")]
    Connect {
        at: String,
        #[source]
        source: io::Error,
    },
    #[error(
        "{at} cannot be trusted; if its certificate is of an authority of your own, name that in `egress.authorities`"
    )]
    Tls {
        at: String,
        #[source]
        source: io::Error,
    },
    #[error("TLS cannot be set up")]
    TlsSetup(#[source] Cause),
    #[error("the talk with {at} broke off")]
    Http {
        at: String,
        #[source]
        source: hyper::Error,
    },
    #[error("{at} did not answer completely within {} s", after.as_secs_f64())]
    Timeout { at: String, after: Duration },
    #[error("{at} answered with more than {max} bytes")]
    TooLarge { at: String, max: usize },
    #[error("{at} redirects {problem}; give the address it leads to, if that is meant")]
    Redirect { at: String, problem: &'static str },
}

impl Error {
    /// Whether it was not tried at all, because it may not be called: trying again is of no use.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Error::Url(_) | Error::Refused { .. } | Error::Redirect { .. })
    }

    pub(crate) fn refused(
        host: Option<&str>,
        address: IpAddr,
        port: u16,
        refusal: Refusal,
    ) -> Error {
        let (kind, remedy) = match refusal {
            Refusal::ByNameOrAddress(kind) => (kind, Some(host)),
            Refusal::ByAddress(kind) => (kind, Some(None)),
            Refusal::Never(kind) => (kind, None),
        };
        let what = match host {
            Some(host) => format!("{host} leads to {address}, which is {}", kind.words()),
            None => format!("{address} is {}", kind.words()),
        };
        let remedy = match remedy {
            None => "nothing allows that; use the address of a machine".to_owned(),
            Some(name) => {
                let entry = match (name, address) {
                    (Some(name), _) => format!("{name}:{port}"),
                    (None, IpAddr::V6(six)) => format!("[{six}]:{port}"),
                    (None, four) => format!("{four}:{port}"),
                };
                format!(
                    "if it is meant, add `{entry}` to `egress.allow` in the configuration of the servers"
                )
            }
        };
        Error::Refused { what, remedy }
    }

    pub(crate) fn this_machine(host: Option<&str>, address: IpAddr, port: u16) -> Error {
        Error::refused(host, address, port, Refusal::ByAddress(crate::address::Kind::Loopback))
    }
}
