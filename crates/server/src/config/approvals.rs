//! `[approvals]`: who is told of what waits for an approval.

use std::path::PathBuf;

use hostler_control::{ApprovalConfig, ApprovalWebhook};
use serde::Deserialize;

use super::{ConfigError, Kind, Setting};

settings! {
    /// Who is told of approvals that are asked for.
    ApprovalsSection APPROVAL_SETTINGS {
        /// Every event about approvals is sent here as JSON, at least once and in order: `https://host/path`. What is not public has to be in `egress.allow`.
        webhook: Option<String> = None, Kind::Text, "nowhere";
        /// File with a bearer token for the webhook; read for every delivery, so it can be replaced at any time.
        webhook_token_file: Option<PathBuf> = None, Kind::Text, "none";
        /// Address of the dashboard in what is sent, such as `https://hostler.example.org`.
        dashboard: Option<String> = None, Kind::Text, "the first of `advertise`, and the port of `listen`";
    }
}

impl ApprovalsSection {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let wrong = |setting, problem: &str| {
            Err(ConfigError::Setting { setting, problem: problem.to_owned() })
        };
        if let Some(url) = &self.webhook
            && hostler_egress::Request::post(url).is_err()
        {
            return wrong("approvals.webhook", "write an address such as https://host/path");
        }
        if self.webhook.is_none() && self.webhook_token_file.is_some() {
            return wrong("approvals.webhook_token_file", "there is no webhook that takes it");
        }
        if self.dashboard.as_ref().is_some_and(|url| !url.starts_with("https://")) {
            return wrong("approvals.dashboard", "write an address such as https://host:7443");
        }
        Ok(())
    }

    /// What was checked, for the application.
    pub(super) fn control(&self, address: &str) -> ApprovalConfig {
        let webhook = self.webhook.as_ref().map(|url| ApprovalWebhook {
            url: url.clone(),
            token_file: self.webhook_token_file.clone(),
        });
        let dashboard = self.dashboard.clone().unwrap_or_else(|| format!("https://{address}"));
        ApprovalConfig { webhook, dashboard }
    }
}
