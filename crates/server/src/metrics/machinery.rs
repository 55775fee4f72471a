//! The server itself in numbers: reconcilers, the database, streams, the process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hostler_base::reconcile::PassOutcome;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use super::Sample;
use super::catalogue::*;
use super::numbers::{add, copy, durations, signed};
use super::process::Process;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcilerLabel {
    reconciler: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PassLabels {
    reconciler: &'static str,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TransactionLabel {
    transaction: &'static str,
}

pub(super) struct Machinery {
    passes: Family<PassLabels, Counter>,
    pass_duration: Family<ReconcilerLabel, Histogram>,
    attempts: Family<TransactionLabel, Counter>,
    retries: Family<TransactionLabel, Counter>,
    conflicts: Family<TransactionLabel, Counter>,
    commits: Counter,
    events_head: Gauge,
    pub(super) watches: Gauge,
    cpu: Counter<f64, AtomicU64>,
    memory: Gauge,
    files: Gauge,
}

impl Machinery {
    pub(super) fn new(registry: &mut Registry) -> Machinery {
        Machinery {
            passes: add(registry, RECONCILER_PASSES, Family::default()),
            pass_duration: add(
                registry,
                RECONCILER_DURATION,
                Family::new_with_constructor(durations as fn() -> Histogram),
            ),
            attempts: add(registry, STORE_ATTEMPTS, Family::default()),
            retries: add(registry, STORE_RETRIES, Family::default()),
            conflicts: add(registry, STORE_CONFLICTS, Family::default()),
            commits: add(registry, STORE_COMMITS, Counter::default()),
            events_head: add(registry, EVENTS_HEAD, Gauge::default()),
            watches: add(registry, WATCHES, Gauge::default()),
            cpu: add(registry, PROCESS_CPU, Counter::default()),
            memory: add(registry, PROCESS_MEMORY, Gauge::default()),
            files: add(registry, PROCESS_FILES, Gauge::default()),
        }
    }

    pub(super) fn passed(&self, reconciler: &'static str, outcome: PassOutcome, took: Duration) {
        let outcome = match outcome {
            PassOutcome::Ok => "ok",
            PassOutcome::Error => "error",
            PassOutcome::Panic => "panic",
        };
        self.passes.get_or_create(&PassLabels { reconciler, outcome }).inc();
        let label = ReconcilerLabel { reconciler };
        self.pass_duration.get_or_create(&label).observe(took.as_secs_f64());
    }

    pub(super) fn set(&self, sample: &Sample) {
        for tx in &sample.transactions {
            let label = TransactionLabel { transaction: tx.name };
            for (family, value) in [
                (&self.attempts, tx.attempts),
                (&self.retries, tx.retries),
                (&self.conflicts, tx.conflicts),
            ] {
                copy(&family.get_or_create(&label), value);
            }
        }
        copy(&self.commits, sample.commits);
        self.events_head.set(signed(sample.events_head));
        let process = Process::read();
        self.cpu.inner().store(process.cpu_seconds.to_bits(), Ordering::Relaxed);
        self.memory.set(signed(process.memory));
        self.files.set(signed(process.files));
    }
}
