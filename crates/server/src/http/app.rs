//! What every handler holds.

use std::future::Future;
use std::sync::Arc;

use hostler_base::{Clock, Ids};
use hostler_control::Control;
use hostler_model::{Caller, Error, Need, Project};
use hostler_trust::SecretString;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::envelope::Envelope;
use super::error;
use super::gate::Gate;
use super::limit::{Limits, Rates};
use crate::metrics::{Metrics, OpenWatch};

/// What an [`App`] is made of.
pub struct AppParts {
    pub control: Control,
    pub ids: Ids,
    pub metrics: Metrics,
    pub rates: Rates,
    /// How many watch and log streams may be open at once.
    pub streams_max: usize,
    pub version: String,
    /// `host:port` where people and machines reach the API, for the commands we show.
    pub api_address: String,
    /// Cancelled when this server begins to stop.
    pub stopping: CancellationToken,
}

/// The HTTP side of a server. Cheap to clone; all clones are the same.
#[derive(Clone)]
pub struct App(Arc<Inner>);

struct Inner {
    control: Control,
    ids: Ids,
    metrics: Metrics,
    limits: Limits,
    streams: Arc<Semaphore>,
    version: String,
    api_address: String,
    stopping: CancellationToken,
}

/// A place among the open streams; given back when dropped.
pub(crate) struct StreamPermit {
    _place: OwnedSemaphorePermit,
    _counted: OpenWatch,
}

impl App {
    pub fn new(parts: AppParts) -> App {
        let limits = Limits::new(parts.rates, parts.control.clock());
        App(Arc::new(Inner {
            control: parts.control,
            ids: parts.ids,
            metrics: parts.metrics,
            limits,
            streams: Arc::new(Semaphore::new(parts.streams_max)),
            version: parts.version,
            api_address: parts.api_address,
            stopping: parts.stopping,
        }))
    }

    pub fn control(&self) -> &Control {
        &self.0.control
    }
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }
    pub(crate) fn version(&self) -> &str {
        &self.0.version
    }
    pub(crate) fn api_address(&self) -> &str {
        &self.0.api_address
    }
    pub(crate) fn is_stopping(&self) -> bool {
        self.0.stopping.is_cancelled()
    }
    /// The same as `stopping`, to be kept and asked again and again.
    pub(crate) fn stopping_owned(&self) -> impl Future<Output = ()> + Send + use<> {
        self.0.stopping.clone().cancelled_owned()
    }

    pub(crate) fn envelope(&self) -> Envelope {
        Envelope {
            clock: self.clock().clone(),
            ids: self.0.ids.clone(),
            metrics: self.0.metrics.http(),
        }
    }

    pub(crate) fn stream_permit(&self) -> Result<StreamPermit, Error> {
        match self.0.streams.clone().try_acquire_owned() {
            Ok(place) => {
                Ok(StreamPermit { _place: place, _counted: self.0.metrics.watch_opened() })
            }
            Err(_) => Err(error::rate_limited(std::time::Duration::from_secs(10))),
        }
    }
}

impl Gate for App {
    async fn caller_by_token(&self, secret: &SecretString) -> Result<Caller, Error> {
        self.control().caller_by_token(secret.expose()).await
    }
    async fn caller_by_session(&self, secret: &SecretString) -> Result<Caller, Error> {
        self.control().caller_by_session(secret.expose()).await
    }
    fn csrf_token(&self, session: &SecretString) -> String {
        self.control().csrf_token(session.expose())
    }
    fn authorise(&self, caller: &Caller, need: Need) -> Result<(), Error> {
        self.control().authorise(caller, need)
    }
    fn check_proven(&self, caller: &Caller) -> Result<(), Error> {
        self.control().require_second_factor(caller)
    }
    async fn project_resolve(&self, project: &str) -> Result<Project, Error> {
        self.control().project_resolve(project).await
    }
    fn limits(&self) -> &Limits {
        &self.0.limits
    }
    fn clock(&self) -> &Clock {
        self.control().clock()
    }
    fn stopping(&self) -> impl Future<Output = ()> + Send {
        self.0.stopping.cancelled()
    }
}
