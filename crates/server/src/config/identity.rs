//! `[identity]`: tokens with which what runs proves what it is.

use hostler_control::IdentityConfig;
use hostler_model::Span;
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// Tokens with which what runs proves what it is.
    IdentitySection IDENTITY_SETTINGS {
        /// Address under which others find the keys of tokens, such as `https://hostler.example:7443`: they look below it for `/.well-known/openid-configuration`. It stands in every token, and is the same on every server. Not needed for tokens that Hostler's own API takes.
        issuer: Option<String> = None, Kind::Text, "a name of this installation";
        /// A new key is made after this time; the one before it goes on for as long as it is needed.
        rotate_every: Span = Span::from_secs(30 * 86_400), Kind::Text, "30d";
    }
}

impl IdentitySection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: &str| {
            Err(ConfigError::Setting { setting, problem: problem.to_owned() })
        };
        if let Some(issuer) = &self.issuer {
            let host = issuer.strip_prefix("https://").unwrap_or_default();
            let is_plain = |c: char| c.is_ascii_graphic() && !"?#\\\"<>@".contains(c);
            if host.is_empty() || host.ends_with('/') || !host.chars().all(is_plain) {
                return wrong(
                    "identity.issuer",
                    "it is https://, a host and perhaps a port and a path, without a slash at the end",
                );
            }
        }
        if self.rotate_every < Span::from_secs(86_400) {
            return wrong("identity.rotate_every", "it is at least 1d");
        }
        Ok(())
    }

    /// What was checked, for the application.
    pub(super) fn control(&self) -> IdentityConfig {
        IdentityConfig {
            issuer: self.issuer.clone(),
            rotate_every: self.rotate_every.duration(),
            ..IdentityConfig::default()
        }
    }
}
