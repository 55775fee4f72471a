//! The listeners of these doors: bound before anything is made known, served like the API's own.

use std::net::SocketAddr;

use axum::Router;
use hostler_base::{Clock, OnError, Tasks};
use tokio::net::TcpListener;

use super::{DoorParts, Doors, heat_router, signal_router};
use crate::config::ServerConfig;
use crate::http::{App, ConnectionLimits, serve_http};
use crate::run::{StartError, listen};
use crate::tls::ServerTls;

struct Bound {
    listener: TcpListener,
    address: SocketAddr,
    /// Without TLS; the configuration has seen to it that only this machine gets there.
    is_plain: bool,
}

/// What was chosen of the two, bound.
pub(crate) struct Listeners {
    heat: Option<Bound>,
    signal: Option<Bound>,
}

/// What they are served with.
pub(crate) struct Serving<'a> {
    pub app: &'a App,
    pub tls: ServerTls,
    pub limits: ConnectionLimits,
    pub tasks: &'a Tasks,
    pub clock: &'a Clock,
}

async fn bound(
    is_enabled: bool,
    address: SocketAddr,
    is_plain: bool,
    setting: &'static str,
) -> Result<Option<Bound>, StartError> {
    if !is_enabled {
        return Ok(None);
    }
    let (listener, address) = listen(address, setting).await?;
    Ok(Some(Bound { listener, address, is_plain }))
}

impl Listeners {
    pub(crate) async fn bind(config: &ServerConfig) -> Result<Listeners, StartError> {
        let (heat, signal) = (&config.stacks.heat, &config.stacks.signal);
        Ok(Listeners {
            heat: bound(heat.enabled, heat.listen, heat.plain, "stacks.heat.listen").await?,
            signal: bound(signal.enabled, signal.listen, signal.plain, "stacks.signal.listen")
                .await?,
        })
    }

    pub(crate) fn heat(&self) -> Option<SocketAddr> {
        self.heat.as_ref().map(|bound| bound.address)
    }

    pub(crate) fn signal(&self) -> Option<SocketAddr> {
        self.signal.as_ref().map(|bound| bound.address)
    }

    /// Begins to serve; it ends with the group of tasks.
    pub(crate) fn serve(self, config: &ServerConfig, serving: &Serving<'_>) {
        let doors = |bound: &Bound| {
            let parts = DoorParts {
                is_tls: !bound.is_plain,
                address: config.advertised(bound.address),
                signals: serving.app.control().config().stacks.address.clone(),
            };
            Doors::new(serving.app.clone(), parts)
        };
        if let Some(heat) = self.heat {
            tracing::info!(address = %heat.address, is_plain = heat.is_plain, "the API of Heat is served");
            serving.spawn("heat listener", heat_router(&doors(&heat)), heat);
        }
        if let Some(signal) = self.signal {
            tracing::info!(address = %signal.address, is_plain = signal.is_plain, "signals of stacks are taken");
            serving.spawn("signal listener", signal_router(&doors(&signal)), signal);
        }
    }
}

impl Serving<'_> {
    fn spawn(&self, name: &'static str, router: Router, bound: Bound) {
        let (tasks, limits, clock) = (self.tasks.clone(), self.limits, self.clock.clone());
        let tls = (!bound.is_plain).then(|| self.tls.clone());
        self.tasks.spawn(name, OnError::Shutdown, async move {
            serve_http(router, bound.listener, tls, limits, &tasks, clock).await;
        });
    }
}
