//! [`Egress`]: judges a destination, and opens connections to it and to nothing else.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use url::Host;

use crate::address::{Kind, kind};
use crate::resolve::{Resolve, System};
use crate::{Error, Policy, Side};

/// How many addresses of one name are tried.
const ADDRESSES_MAX: usize = 8;

/// How long and how much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Looking up, and connecting with one address.
    pub connect: Duration,
    /// A whole exchange, redirects included.
    pub total: Duration,
    /// Bytes of an answer.
    pub answer_max: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: Duration::from_secs(10),
            total: Duration::from_secs(30),
            answer_max: 1 << 20,
        }
    }
}

/// What a door is made of.
#[derive(Clone, Default)]
pub struct Options {
    pub policy: Policy,
    pub limits: Limits,
    /// Certificates to believe besides those of the machine, in PEM form.
    pub authorities_pem: Option<Vec<u8>>,
    /// Where addresses of names come from; the machine's own way when absent.
    pub resolver: Option<Arc<dyn Resolve>>,
}

/// The door; cheap to clone, clones are the same door.
#[derive(Clone, Default)]
pub struct Egress(Arc<Inner>);

struct Inner {
    policy: Policy,
    limits: Limits,
    authorities_pem: Option<Vec<u8>>,
    /// Whether the authorities that this machine knows are believed.
    is_machine_believed: bool,
    resolver: Arc<dyn Resolve>,
    tls: OnceLock<Arc<ClientConfig>>,
    tally: Arc<Tally>,
}

/// Doors that were made from one another count together.
#[derive(Default)]
struct Tally {
    answered: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner::new(Options::default())
    }
}

impl Inner {
    fn new(options: Options) -> Inner {
        Inner {
            policy: options.policy,
            limits: options.limits,
            authorities_pem: options.authorities_pem,
            is_machine_believed: true,
            resolver: options.resolver.unwrap_or_else(|| Arc::new(System)),
            tls: OnceLock::new(),
            tally: Arc::default(),
        }
    }
}

/// How calls ended since the process started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub answered: u64,
    pub refused: u64,
    pub failed: u64,
}

/// A destination that was judged: the only addresses a connection may go to.
#[derive(Clone, Debug)]
pub(crate) struct Route {
    pub(crate) host: Host,
    pub(crate) port: u16,
    addresses: Vec<IpAddr>,
    pub(crate) side: Side,
}

impl Route {
    /// `host:port`, for errors.
    pub(crate) fn at(&self) -> String {
        at(&self.host, self.port)
    }

    fn name(&self) -> Option<&str> {
        name(&self.host)
    }
}

pub(crate) fn at(host: &Host<impl AsRef<str>>, port: u16) -> String {
    match host {
        Host::Domain(name) => format!("{}:{port}", name.as_ref()),
        Host::Ipv4(four) => format!("{four}:{port}"),
        Host::Ipv6(six) => format!("[{six}]:{port}"),
    }
}

fn name(host: &Host) -> Option<&str> {
    match host {
        Host::Domain(name) => Some(name.trim_end_matches('.')),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

impl Egress {
    pub fn new(options: Options) -> Egress {
        Egress(Arc::new(Inner::new(options)))
    }

    /// The same door, with the same policy, for who has an authority of its own: certificates of that are
    /// believed, and of nobody else.
    #[must_use]
    pub fn believing_only(&self, authorities_pem: Vec<u8>) -> Egress {
        Egress(Arc::new(Inner {
            policy: self.0.policy.clone(),
            limits: self.0.limits,
            authorities_pem: Some(authorities_pem),
            is_machine_believed: false,
            resolver: Arc::clone(&self.0.resolver),
            tls: OnceLock::new(),
            tally: Arc::clone(&self.0.tally),
        }))
    }

    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    pub fn counts(&self) -> Counts {
        Counts {
            answered: self.0.tally.answered.load(Ordering::Relaxed),
            refused: self.0.tally.refused.load(Ordering::Relaxed),
            failed: self.0.tally.failed.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn counted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        let counter = match &result {
            Ok(_) => &self.0.tally.answered,
            Err(error) if error.is_refusal() => &self.0.tally.refused,
            Err(_) => &self.0.tally.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        result
    }

    /// Whether a request would be let out now, without sending it.
    pub async fn judge(&self, request: &crate::Request) -> Result<(), Error> {
        let url = &request.url;
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(Error::Url("it names no host and port"));
        };
        self.route(host.to_owned(), port).await.map(drop)
    }

    /// A connection to `host` (a name or an address), for what is not HTTP.
    pub async fn dial(&self, host: &str, port: u16) -> Result<TcpStream, Error> {
        self.counted(self.dial_judged(host, port).await)
    }

    /// A TLS connection to `host`, whose certificate must be of that name.
    pub async fn dial_tls(&self, host: &str, port: u16) -> Result<TlsStream<TcpStream>, Error> {
        let dialled = async {
            let route = self.route(parse(host)?, port).await?;
            let stream = self.connect(&route).await?;
            self.secure(&route, stream).await
        };
        self.counted(dialled.await)
    }

    /// Where a datagram for `host` may be sent.
    pub async fn datagram_address(&self, host: &str, port: u16) -> Result<SocketAddr, Error> {
        let judged = async {
            let route = self.route(parse(host)?, port).await?;
            let address = route.addresses.first().copied();
            address
                .map(|address| SocketAddr::new(address, port))
                .ok_or_else(|| Error::NoAddress { host: route.at() })
        };
        self.counted(judged.await)
    }

    async fn dial_judged(&self, host: &str, port: u16) -> Result<TcpStream, Error> {
        let route = self.route(parse(host)?, port).await?;
        self.connect(&route).await
    }

    /// Looks a host up, once, and judges every address it has.
    pub(crate) async fn route(&self, host: Host, port: u16) -> Result<Route, Error> {
        let addresses = match &host {
            Host::Ipv4(four) => vec![IpAddr::V4(*four)],
            Host::Ipv6(six) => vec![IpAddr::V6(*six)],
            Host::Domain(_) => self.look_up(name(&host).unwrap_or_default()).await?,
        };
        let mut side = Side::Public;
        for address in &addresses {
            let judged = self.0.policy.judge(name(&host), *address, port);
            let of = judged.map_err(|why| Error::refused(name(&host), *address, port, why))?;
            if of == Side::Inside {
                side = Side::Inside;
            }
        }
        Ok(Route { host, port, addresses, side })
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, Error> {
        let limit = self.0.limits.connect;
        let found = tokio::time::timeout(limit, self.0.resolver.resolve(name))
            .await
            .map_err(|_| Error::Timeout { at: format!("the lookup of {name}"), after: limit })?
            .map_err(|source| Error::Lookup { host: name.to_owned(), source })?;
        let mut addresses = Vec::with_capacity(found.len());
        for address in found {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        match addresses.is_empty() {
            true => Err(Error::NoAddress { host: name.to_owned() }),
            false => Ok(addresses),
        }
    }

    /// Connects with the addresses that were judged, in order.
    pub(crate) async fn connect(&self, route: &Route) -> Result<TcpStream, Error> {
        let limit = self.0.limits.connect;
        let mut last = Error::NoAddress { host: route.at() };
        for address in route.addresses.iter().take(ADDRESSES_MAX) {
            let to = SocketAddr::new(*address, route.port);
            match tokio::time::timeout(limit, TcpStream::connect(to)).await {
                Ok(Ok(stream)) => return self.not_ourselves(route, *address, stream),
                Ok(Err(source)) => last = Error::Connect { at: route.at(), source },
                Err(_) => last = Error::Timeout { at: route.at(), after: limit },
            }
        }
        Err(last)
    }

    /// A public address can be this very machine's: then both ends of the connection are the same.
    fn not_ourselves(
        &self,
        route: &Route,
        address: IpAddr,
        stream: TcpStream,
    ) -> Result<TcpStream, Error> {
        let local =
            stream.local_addr().map_err(|source| Error::Connect { at: route.at(), source })?;
        let is_ours = kind(address) == Kind::Public && local.ip().to_canonical() == address;
        if is_ours && !self.0.policy.lists_address(address, route.port) {
            return Err(Error::this_machine(route.name(), address, route.port));
        }
        Ok(stream)
    }

    pub(crate) async fn secure(
        &self,
        route: &Route,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Error> {
        let name = match &route.host {
            Host::Domain(_) => ServerName::try_from(route.name().unwrap_or_default().to_owned())
                .map_err(|_| Error::Url("its host is not a name that a certificate can have"))?,
            Host::Ipv4(four) => ServerName::IpAddress(IpAddr::V4(*four).into()),
            Host::Ipv6(six) => ServerName::IpAddress(IpAddr::V6(*six).into()),
        };
        let limit = self.0.limits.connect;
        tokio::time::timeout(limit, TlsConnector::from(self.tls()?).connect(name, stream))
            .await
            .map_err(|_| Error::Timeout { at: route.at(), after: limit })?
            .map_err(|source| Error::Tls { at: route.at(), source })
    }

    fn tls(&self) -> Result<Arc<ClientConfig>, Error> {
        if let Some(config) = self.0.tls.get() {
            return Ok(Arc::clone(config));
        }
        let made =
            crate::tls::config(self.0.authorities_pem.as_deref(), self.0.is_machine_believed)?;
        Ok(Arc::clone(self.0.tls.get_or_init(|| made)))
    }
}

fn parse(host: &str) -> Result<Host, Error> {
    Host::parse(host).map_err(|_| Error::Url("its host is neither a name nor an address"))
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Egress({} destinations allowed)", self.0.policy.allow.len())
    }
}
