//! A whole server: from its configuration to listeners and reconcilers, and back down in order.
//!
//! Starting waits for the database as long as it takes (it may be starting as well), migrates it,
//! makes sure that the authority and the default project exist, and only then listens. Stopping goes
//! through the phases of [`Shutdown`]: listeners, sessions, reconcilers; then the registration is taken
//! back. None of it is needed for correctness: a server may be killed at any time.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hostler_base::backoff::Backoff;
use hostler_base::chain::chain;
use hostler_base::reconcile::Driver;
use hostler_base::shutdown::{OnError, Phase, Shutdown};
use hostler_base::{Clock, Ids};
use hostler_control::{Boot, BootError, Control};
use hostler_store::{OpenOptions, Store};
use hostler_trust::certificate::Identity;
use hostler_trust::{AuthorityBundle, Fingerprint, SecretToken};
use tokio::net::TcpListener;

use crate::config::{ConfigError, ServerConfig};
use crate::grpc::{Peers, serve_agents};
use crate::heat::{Listeners, Serving};
use crate::http::{App, AppParts, MountError, metrics_router, router, serve_http};
use crate::listening::{Kept, Listening};
use crate::metrics::Metrics;
use crate::operator_tls::FileError;
use crate::tls::{PublicFaces, ServerTls};

#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the configuration cannot be used")]
    Config(#[from] ConfigError),
    #[error("the data directory cannot be made")]
    DataDir(#[from] hostler_base::fs::Error),
    #[error("the database cannot be used")]
    Store(#[from] hostler_store::Error),
    #[error("the installation cannot be prepared")]
    Boot(#[from] BootError),
    #[error("a server certificate cannot be made")]
    Certificate(#[from] hostler_trust::authority::Error),
    #[error("the operator's certificate cannot be used")]
    OperatorTls(#[from] FileError),
    #[error("TLS cannot be set up")]
    Tls(#[from] hostler_trust::tls::Error),
    #[error(
        "{address} cannot be listened on; is another server running? choose another with {flag}"
    )]
    Listen {
        address: SocketAddr,
        flag: &'static str,
        #[source]
        source: std::io::Error,
    },
    #[error("the API is incomplete")]
    Mount(#[from] MountError),
    #[error("the server cannot be registered")]
    Register(#[source] hostler_model::Error),
    #[error("stopped before the start was complete")]
    Stopped,
}

/// Why a server ended that nobody stopped.
#[derive(Debug, thiserror::Error)]
#[error(
    "the database was restored from a backup while this server worked on it; start it again when the restore is complete"
)]
pub struct Restored;

/// A server that runs.
pub struct Running {
    pub control: Control,
    pub api: SocketAddr,
    pub agents: SocketAddr,
    /// Where the API of Heat is served, if it is.
    pub heat: Option<SocketAddr>,
    /// Where signals of stacks are taken, if they are.
    pub signals: Option<SocketAddr>,
    pub fingerprint: Fingerprint,
    /// To be shown once, while there is no admin.
    pub setup_code: Option<SecretToken>,
    kept: Kept,
}

/// Prepares the database: what `hostler server migrate` does, and every start.
pub async fn open_store(
    config: &ServerConfig,
    clock: &Clock,
    shutdown: &Shutdown,
) -> Result<Store, StartError> {
    hostler_base::fs::create_dir(&config.data_dir, 0o700)?;
    let url = config.database_url();
    let mut backoff =
        Backoff::new(Duration::from_millis(200), Duration::from_secs(5), Duration::MAX);
    loop {
        let opened = async {
            let store = Store::open(&url, OpenOptions::default()).await?;
            store.migrate().await?;
            Ok::<_, hostler_store::Error>(store)
        };
        match opened.await {
            Ok(store) => return Ok(store),
            Err(error) if error.is_transient() => {
                tracing::warn!(error = %chain(&error), "waiting for the database");
                tokio::select! {
                    () = clock.sleep(backoff.next_delay()) => {}
                    () = shutdown.requested() => return Err(StartError::Stopped),
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Starts a server. What it spawned ends when `shutdown` runs; then call [`Running::close`].
pub async fn start(
    config: &ServerConfig,
    version: &str,
    clock: Clock,
    shutdown: &Shutdown,
) -> Result<Running, StartError> {
    let store = open_store(config, &clock, shutdown).await?;
    let salt = match config.has_passphrase() {
        true => Some(hostler_control::passphrase_salt(&store).await?),
        false => None,
    };
    let master_key = config.keyring(salt.as_deref())?;
    let (api_listener, api) = listen(config.listen, "--listen").await?;
    let (agent_listener, agents) = listen(config.agent_listen, "--agent-listen").await?;
    let doors = Listeners::bind(config).await?;
    let (api_address, agent_address) = (config.advertised(api), config.advertised(agents));
    let ids = Ids::system();
    let mut control_config = config.control(agent_address.clone());
    control_config.identity.api_address = api_address.clone();
    control_config.oidc = config.oidc.control(&api_address);
    if let Some(address) = doors.signal() {
        control_config.stacks = config.stacks(address);
    }
    let boot = Boot {
        store,
        clock: clock.clone(),
        ids: ids.clone(),
        config: control_config,
        master_key,
        server_name: config.server_name(),
    };
    let control = boot.run().await?;
    let metrics = Metrics::new(version);
    let identities = Identities::issue(config, &control, &metrics)?;
    let files = config.tls.files();
    let shown = files.as_ref().map(|files| files.read()).transpose()?;
    let faces = Arc::new(PublicFaces::new(identities.all.clone(), shown.clone())?);
    let mutual = ServerTls::of(identities.mutual()?);
    let sessions = shutdown.tasks(Phase::Sessions);
    let familiar = identities.familiar()?;
    let peers = Arc::new(Peers::new(identities.trusted, familiar, sessions.clone()));
    control.set_peers(Arc::clone(&peers) as Arc<dyn hostler_control::PeerLinks>);
    let listeners = shutdown.tasks(Phase::Listeners);
    let app = App::new(AppParts {
        control: control.clone(),
        ids,
        metrics: metrics.clone(),
        rates: config.rates(),
        streams_max: config.limits.streams as usize,
        version: version.to_owned(),
        api_address: api_address.clone(),
        stopping: listeners.token(),
    });
    let api_router = with_hsts(router(app.clone())?, config);
    control.register(api_address, agent_address, version).await.map_err(StartError::Register)?;
    let driver = Driver::new(shutdown.tasks(Phase::Reconcilers), clock.clone())
        .with_observer(metrics.reconciler_observer());
    control.start(driver);
    if let Some(address) = config.metrics_listen {
        let (listener, _) = listen(address, "--metrics-listen").await?;
        let (tasks, clock) = (listeners.clone(), clock.clone());
        let (router, limits) = (metrics_router(app.clone()), config.connection_limits());
        listeners.spawn("metrics listener", OnError::Shutdown, async move {
            serve_http(router, listener, None, limits, &tasks, clock).await;
        });
    }
    let (tasks, limits, tls) = (listeners.clone(), config.connection_limits(), faces.tls());
    let http_clock = clock.clone();
    let (heat, signals) = (doors.heat(), doors.signal());
    let serving = Serving { app: &app, tls: tls.clone(), limits, tasks: &listeners, clock: &clock };
    doors.serve(config, &serving);
    listeners.spawn("api listener", OnError::Shutdown, async move {
        serve_http(api_router, api_listener, Some(tls), limits, &tasks, http_clock).await;
    });
    let (agent_control, agent_tls, agent_tasks) =
        (control.clone(), mutual.clone(), sessions.clone());
    sessions.spawn("agent listener", OnError::Shutdown, async move {
        serve_agents(agent_control, agent_listener, agent_tls, agent_tasks).await
    });
    let renewal = Renewal {
        metrics: metrics.clone(),
        config: config.clone(),
        control: control.clone(),
        faces: Arc::clone(&faces),
        mutual,
        peers,
    };
    if let Some((files, shown)) = files.zip(shown) {
        shutdown.tasks(Phase::Reconcilers).spawn_until_cancelled(
            "operator's certificate",
            OnError::Log,
            files.follow(faces, shown, clock.clone()),
        );
    }
    shutdown.tasks(Phase::Reconcilers).spawn_until_cancelled(
        "certificate renewal",
        OnError::Log,
        renewal.run(clock),
    );
    shutdown.tasks(Phase::Reconcilers).spawn_until_cancelled(
        "figures over time",
        OnError::Log,
        crate::history::keep(control.clone(), metrics),
    );
    let (restored, stop) = (control.clone(), shutdown.clone());
    shutdown.tasks(Phase::Reconcilers).spawn_until_cancelled(
        "database is still ours",
        OnError::Log,
        async move {
            restored.until_restored().await;
            stop.request("the database was restored from a backup");
        },
    );
    let setup_code = control.setup_code_issue().await.map_err(StartError::Register)?;
    let fingerprint = control.authority().fingerprint();
    tracing::info!(server_id = %control.server_id(), %api, %agents, %fingerprint, "server started");
    let kept = Listening { api, agents }.keep(&config.data_dir);
    Ok(Running { control, api, agents, heat, signals, fingerprint, setup_code, kept })
}

impl Running {
    /// Takes the registration back and closes the database, after everything else has stopped. A database that was
    /// restored under the server knows nothing of it, and is not written to.
    pub async fn close(self) -> Result<(), Restored> {
        self.kept.take_back();
        if self.control.is_restored() {
            self.control.store().close().await;
            return Err(Restored);
        }
        if let Err(error) = self.control.unregister().await {
            tracing::warn!(error = %chain(&error), "registration could not be taken back");
        }
        self.control.store().close().await;
        Ok(())
    }
}

pub(crate) async fn listen(
    address: SocketAddr,
    flag: &'static str,
) -> Result<(TcpListener, SocketAddr), StartError> {
    let failed = |source| StartError::Listen { address, flag, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((listener, bound))
}

/// Asks browsers to stay with HTTPS. Only on the listener that speaks it.
fn with_hsts(router: axum::Router, config: &ServerConfig) -> axum::Router {
    let asked = config.tls.hsts_header().and_then(|text| http::HeaderValue::try_from(text).ok());
    match asked {
        Some(value) => {
            let name = http::header::STRICT_TRANSPORT_SECURITY;
            router.layer(tower_http::set_header::SetResponseHeaderLayer::overriding(name, value))
        }
        None => router,
    }
}

/// A certificate of this server from each authority that is trusted.
struct Identities {
    trusted: AuthorityBundle,
    /// The one for whoever does not say which authority it knows comes first.
    all: Vec<Identity>,
}

impl Identities {
    fn issue(
        config: &ServerConfig,
        control: &Control,
        metrics: &Metrics,
    ) -> Result<Identities, StartError> {
        let names = config.certificate_names();
        let ttl = control.config().server_certificate_ttl;
        let (set, now) = (control.authorities(), control.clock().now());
        let mut all = Vec::new();
        for authority in set.serving() {
            let (issued, identity) =
                authority.issue_server(control.server_id(), &names, now, ttl)?;
            metrics.set_server_ends(issued.time_expires);
            all.push(identity);
        }
        Ok(Identities { trusted: set.trusted(), all })
    }

    /// What every server and client knows for certain.
    fn familiar(&self) -> Result<Identity, StartError> {
        let none = hostler_trust::authority::Error::Expired;
        self.all.first().cloned().ok_or(StartError::Certificate(none))
    }

    fn mutual(&self) -> Result<rustls::ServerConfig, StartError> {
        let mut config = hostler_trust::tls::server_mutual_faces(&self.all, &self.trusted)?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }
}

/// Replaces the server's certificates well before they expire, and when the authorities change.
struct Renewal {
    metrics: Metrics,
    config: ServerConfig,
    control: Control,
    faces: Arc<PublicFaces>,
    mutual: ServerTls,
    peers: Arc<Peers>,
}

impl Renewal {
    async fn run(self, clock: Clock) {
        let every = self.control.config().server_certificate_ttl / 2;
        let mut authorities = self.control.authorities_watch();
        loop {
            tokio::select! {
                () = clock.sleep(every) => {}
                Ok(()) = authorities.changed() => {}
            }
            match self.renew() {
                Ok(()) => tracing::info!("server certificate renewed"),
                Err(error) => {
                    tracing::error!(error = %chain(&error), "server certificate could not be renewed")
                }
            }
        }
    }

    fn renew(&self) -> Result<(), StartError> {
        let identities = Identities::issue(&self.config, &self.control, &self.metrics)?;
        let familiar = identities.familiar()?;
        self.mutual.replace(identities.mutual()?);
        self.faces.replace_ours(identities.all)?;
        self.peers.replace(identities.trusted, familiar);
        Ok(())
    }
}
