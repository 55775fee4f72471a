//! `[audit]`: signed anchors, and sinks that are told of every entry.

use std::collections::BTreeSet;
use std::path::PathBuf;

use hostler_control::{AuditConfig, AuditSink, SinkAddress};
use hostler_model::{Name, Span};
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// The audit record beyond the database: signed anchors, and sinks that are told of every entry.
    AuditSection AUDIT_SETTINGS {
        /// The chain is signed after this many entries.
        anchor_every: u32 = 1000, Kind::Number, "1000";
        /// The chain is signed after this time, when there is a new entry.
        anchor_interval: Span = Span::from_secs(3600), Kind::Text, "1h";
        /// Who is told of every entry besides the database, at least once and in order. Each has a name of its own.
        sink: Vec<SinkSection> = Vec::new(), Kind::Sections(SINK_SETTINGS), "";
    }
}

settings! {
    /// One sink of audit entries.
    SinkSection SINK_SETTINGS {
        /// How far it has been told is kept under this name; another name is told everything anew.
        name: String = String::new(), Kind::Text, "must be set";
        /// Where it is: `https://host/path`, `syslog+tls://host:6514`, `syslog+tcp://host:601`, `syslog+udp://host:514` or `syslog+unix:/dev/log`. What is not public has to be in `egress.allow`.
        to: String = String::new(), Kind::Text, "must be set";
        /// File with a bearer token for HTTP; read for every delivery, so it can be replaced at any time.
        token_file: Option<PathBuf> = None, Kind::Text, "none";
        /// Facility of syslog messages; 13 is "log audit".
        facility: u8 = 13, Kind::Number, "13";
        /// Entries in one delivery at most.
        batch: u32 = 500, Kind::Number, "500";
    }
}

impl AuditSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: String| Err(ConfigError::Setting { setting, problem });
        if self.anchor_every == 0 {
            return wrong("audit.anchor_every", "it is at least 1".to_owned());
        }
        if self.anchor_interval < Span::from_secs(1) {
            return wrong("audit.anchor_interval", "it is at least 1s".to_owned());
        }
        let mut names = BTreeSet::new();
        for sink in &self.sink {
            let of = |problem: String| format!("`{}`: {problem}", sink.name);
            if sink.name.parse::<Name>().is_err() {
                let problem = of("a name has small letters, digits and dashes".to_owned());
                return wrong("audit.sink.name", problem);
            }
            if !names.insert(&sink.name) {
                return wrong("audit.sink.name", of("two sinks have this name".to_owned()));
            }
            let to = match sink.to.parse::<SinkAddress>() {
                Ok(to) => to,
                Err(error) => return wrong("audit.sink.to", of(error.to_string())),
            };
            if sink.token_file.is_some() && !matches!(to, SinkAddress::Http { .. }) {
                let problem = of("only a sink over HTTP takes a token".to_owned());
                return wrong("audit.sink.token_file", problem);
            }
            if sink.facility > 23 {
                return wrong("audit.sink.facility", of("it is 0 to 23".to_owned()));
            }
            if !(1..=1000).contains(&sink.batch) {
                return wrong("audit.sink.batch", of("it is 1 to 1000".to_owned()));
            }
        }
        Ok(())
    }

    /// What was checked, for the application.
    pub(super) fn control(&self) -> AuditConfig {
        let sinks = self.sink.iter().filter_map(|sink| {
            Some(AuditSink {
                name: sink.name.clone(),
                to: sink.to.parse().ok()?,
                token_file: sink.token_file.clone(),
                facility: sink.facility,
                batch: sink.batch,
            })
        });
        AuditConfig {
            anchor_every: u64::from(self.anchor_every),
            anchor_interval: self.anchor_interval.duration(),
            sinks: sinks.collect(),
        }
    }
}
