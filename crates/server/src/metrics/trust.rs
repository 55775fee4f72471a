//! Who may what, and what is kept safe, in numbers: people, secrets, approvals, identities, the audit, certificates,
//! backups, and calls to the outside.

use hostler_model::LoginOutcome;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Sample;
use super::catalogue::*;
use super::numbers::{NoLabels, Outcomes, add, copy, set_outcomes, signed};

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    listener: &'static str,
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SinkLabel {
    sink: String,
}

pub(super) struct Trust {
    logins: Outcomes,
    secrets: Outcomes,
    approvals: Outcomes,
    approvals_waiting: Gauge,
    identities: Outcomes,
    audit_chain_ok: Family<NoLabels, Gauge>,
    audit_sink_lag: Family<SinkLabel, Gauge>,
    authority_expires: Gauge,
    authority_waiting: Gauge,
    cert_expiry: Family<KindLabel, Gauge>,
    backup_last: Gauge,
    backup_overdue: Gauge,
    egress: Outcomes,
    refused: Family<RefusalLabels, Counter>,
}

impl Trust {
    pub(super) fn new(registry: &mut Registry) -> Trust {
        Trust {
            logins: add(registry, LOGINS, Family::default()),
            secrets: add(registry, SECRETS, Family::default()),
            approvals: add(registry, APPROVALS, Family::default()),
            approvals_waiting: add(registry, APPROVALS_WAITING, Gauge::default()),
            identities: add(registry, IDENTITY_TOKENS, Family::default()),
            audit_chain_ok: add(registry, AUDIT_CHAIN_OK, Family::default()),
            audit_sink_lag: add(registry, AUDIT_SINK_LAG, Family::default()),
            authority_expires: add(registry, AUTHORITY_EXPIRES, Gauge::default()),
            authority_waiting: add(registry, AUTHORITY_WAITING, Gauge::default()),
            cert_expiry: add(registry, CERT_EXPIRY, Family::default()),
            backup_last: add(registry, BACKUP_LAST, Gauge::default()),
            backup_overdue: add(registry, BACKUP_OVERDUE, Gauge::default()),
            egress: add(registry, EGRESS, Family::default()),
            refused: add(registry, CONNECTIONS_REFUSED, Family::default()),
        }
    }

    pub(super) fn set(&self, sample: &Sample) {
        let logins = LoginOutcome::ALL.iter().map(|outcome| {
            let known = sample.logins.iter().find(|(of, _)| of == outcome);
            (outcome.label(), known.map_or(0, |(_, count)| *count))
        });
        set_outcomes(&self.logins, logins);
        let secrets = sample.secrets;
        set_outcomes(
            &self.secrets,
            [
                ("read", secrets.read),
                ("delivered", secrets.delivered),
                ("unopened", secrets.unopened),
                ("followed", secrets.followed),
                ("lost", secrets.lost),
            ],
        );
        let approvals = sample.approvals;
        set_outcomes(
            &self.approvals,
            [
                ("approved", approvals.approved),
                ("denied", approvals.denied),
                ("expired", approvals.expired),
                ("used", approvals.used),
                ("break-glass", approvals.broken),
            ],
        );
        self.approvals_waiting.set(signed(approvals.waiting));
        let hostler_control::IdentityCounts { issued, taken, refused } = sample.identities;
        let tokens = [("issued", issued), ("taken", taken), ("refused", refused)];
        set_outcomes(&self.identities, tokens);
        if let Some(is_ok) = sample.is_audit_chain_ok {
            self.audit_chain_ok.get_or_create(&[]).set(i64::from(is_ok));
        }
        for (sink, lag) in &sample.audit_sinks {
            self.audit_sink_lag.get_or_create(&SinkLabel { sink: sink.clone() }).set(signed(*lag));
        }
        let (expires, waiting) = sample.authority;
        self.authority_expires.set(signed(expires));
        self.authority_waiting.set(signed(waiting));
        for (kind, ends) in [("authority", sample.authority_ends), ("server", sample.server_ends)] {
            if let Some(ends) = ends {
                self.cert_expiry.get_or_create(&KindLabel { kind }).set(ends.micros() / 1_000_000);
            }
        }
        let (last, is_overdue) = sample.backup;
        self.backup_last.set(last.map_or(0, |time| time.micros() / 1_000_000));
        self.backup_overdue.set(i64::from(is_overdue));
        let hostler_egress::Counts { answered, refused, failed } = sample.egress;
        let calls = [("answered", answered), ("refused", refused), ("failed", failed)];
        set_outcomes(&self.egress, calls);
        for (listener, reason, count) in crate::refusals::counts() {
            let label = RefusalLabels { listener: listener.label(), reason: reason.label() };
            copy(&self.refused.get_or_create(&label), count);
        }
    }
}
