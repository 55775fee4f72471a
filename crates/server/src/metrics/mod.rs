//! Metrics in the OpenMetrics text format, on three pages.
//!
//! - `/metrics` is about one server: what it did since it started, and how the installation stands in
//!   numbers. Its labels come from fixed sets, so the number of series does not grow with use.
//! - `/metrics/nodes` and `/metrics/workloads` (`fleet`) have series for every node, and for every service
//!   on every node. All of it is in rows, so every server says the same: one is asked, not all. They are
//!   pages of their own because they grow with the fleet. Nothing names a run or a person.
//!
//! `CATALOGUE` is the list of everything that is measured; what is rendered is checked against it,
//! and the reference page is made from it. Names begin with `hostler_`, units are base units.
//!
//! Counters that somebody else keeps (the store's, the process's) are copied in when a scrape asks;
//! what needs the database comes in as a [`Sample`].
//! Each noun has its own numbers in a module; what all of them are made of is in `numbers`.

mod catalogue;
mod coordination;
mod fleet;
mod latency;
mod lateness;
mod machinery;
mod numbers;
mod process;
mod requests;
mod sample;
mod stacks;
mod trust;
mod waits;
mod work;

#[cfg(test)]
mod tests;

pub use catalogue::{CATALOGUE, MetricDoc, MetricPage, catalogue, reference_markdown};
pub(crate) use fleet::{nodes, workloads};
pub use latency::WAITING;
pub(crate) use latency::{Answered, Latency};
pub use requests::HttpMetrics;
pub use sample::{Sample, TransactionSample};

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use hostler_base::reconcile::Observer;
use hostler_model::Timestamp;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::history::FigureBook;
use catalogue::{BUILD, help, registered};
use coordination::Coordination;
use machinery::Machinery;
use stacks::Stacks;
use trust::Trust;
use work::Work;

/// All metrics of a server; cheap to clone.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    figures: FigureBook,
    /// When this server's certificate expires, in microseconds; zero before there is one.
    server_ends: AtomicI64,
    http: HttpMetrics,
    machinery: Machinery,
    trust: Trust,
    work: Work,
    coordination: Coordination,
    stacks: Stacks,
}

impl Metrics {
    pub fn new(version: &str) -> Metrics {
        let mut registry = Registry::default();
        let build = Info::new(vec![("version".to_owned(), version.to_owned())]);
        registry.register(registered(BUILD), help(BUILD), build);
        let inner = Inner {
            figures: FigureBook::default(),
            server_ends: AtomicI64::new(0),
            http: HttpMetrics::new(&mut registry),
            machinery: Machinery::new(&mut registry),
            trust: Trust::new(&mut registry),
            work: Work::new(&mut registry),
            coordination: Coordination::new(&mut registry),
            stacks: Stacks::new(&mut registry),
            registry,
        };
        Metrics(Arc::new(inner))
    }

    pub fn http(&self) -> HttpMetrics {
        self.0.http.clone()
    }

    pub(crate) fn figures(&self) -> &FigureBook {
        &self.0.figures
    }

    /// This server has a certificate until then.
    pub(crate) fn set_server_ends(&self, time: Timestamp) {
        self.0.server_ends.store(time.micros(), Ordering::Relaxed);
    }

    pub(crate) fn server_ends(&self) -> Option<Timestamp> {
        let micros = self.0.server_ends.load(Ordering::Relaxed);
        (micros != 0).then(|| Timestamp::from_micros(micros))
    }

    pub(crate) fn latency(&self) -> &Latency {
        self.0.http.latency()
    }

    /// For the reconciler driver.
    pub fn reconciler_observer(&self) -> Observer {
        let inner = self.0.clone();
        Arc::new(move |reconciler, outcome, took| inner.machinery.passed(reconciler, outcome, took))
    }

    /// Counts a stream for as long as the result lives.
    pub(crate) fn watch_opened(&self) -> OpenWatch {
        let watches = self.0.machinery.watches.clone();
        watches.inc();
        OpenWatch(watches)
    }

    /// The text of a scrape.
    pub fn render(&self, sample: &Sample) -> String {
        let inner = &self.0;
        inner.machinery.set(sample);
        inner.trust.set(sample);
        inner.work.set(sample);
        inner.coordination.set(sample);
        inner.stacks.set(&sample.stacks);
        let mut text = String::new();
        prometheus_client::encoding::text::encode(&mut text, &inner.registry)
            .expect("writing to a string cannot fail");
        text
    }
}

/// An open stream, counted.
pub(crate) struct OpenWatch(Gauge);

impl Drop for OpenWatch {
    fn drop(&mut self) {
        self.0.dec();
    }
}
