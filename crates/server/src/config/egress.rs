//! `[egress]`: what may be called from here.

use std::path::PathBuf;

use hostler_egress::{Destination, Egress, Limits, Options, Policy};
use hostler_model::{Bytes, Span};
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// What may be called from here: by hooks, identity providers, vaults, audit sinks.
    EgressSection EGRESS_SETTINGS {
        /// Destinations that may be called although they are not public: `vault.example:8200`, `*.corp.example`, `10.0.0.0/8`, `[fd00::1]:443`. A name allows private addresses only; this machine, the local link and metadata services need their address.
        allow: Vec<String> = Vec::new(), Kind::List, "none";
        /// Whether public addresses may be called without being listed.
        public: bool = true, Kind::Flag, "true";
        /// File with certificates of authorities to believe besides those of the machine, in PEM form.
        authorities: Option<PathBuf> = None, Kind::Text, "none";
        /// How long one call may take, redirects included.
        time_max: Span = Span::from_secs(30), Kind::Text, "30s";
        /// How large an answer may be.
        answer_max: Bytes = Bytes::mib(1), Kind::Text, "1MiB";
    }
}

impl EgressSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: String| Err(ConfigError::Setting { setting, problem });
        for text in &self.allow {
            if let Err(error) = text.parse::<Destination>() {
                return wrong("egress.allow", error.to_string());
            }
        }
        if let Some(path) = &self.authorities
            && let Err(error) = std::fs::read(path)
        {
            return wrong(
                "egress.authorities",
                format!("{} cannot be read: {error}", path.display()),
            );
        }
        if self.time_max < Span::from_millis(100) {
            return wrong("egress.time_max", "it is at least 100ms".to_owned());
        }
        Ok(())
    }

    /// What was checked, as the door that everything goes through.
    pub(super) fn door(&self) -> Egress {
        let usual = Limits::default();
        let total = self.time_max.duration();
        Egress::new(Options {
            policy: Policy {
                allow: self.allow.iter().filter_map(|text| text.parse().ok()).collect(),
                is_public_allowed: self.public,
            },
            limits: Limits {
                connect: usual.connect.min(total),
                total,
                answer_max: usize::try_from(self.answer_max.get()).unwrap_or(usize::MAX),
            },
            authorities_pem: self.authorities.as_ref().and_then(|path| std::fs::read(path).ok()),
            resolver: None,
        })
    }
}
