//! Doors for the fuzz targets (`crates/fuzz`) to what reads what an identity provider says, and what a job on a
//! node tells. Nothing else uses them.

use hostler_model::Name;
use hostler_model::workflow::JobReport;
use hostler_trust::jwt::PublicKey;

use crate::OidcConfig;
use crate::execution::report;
use crate::oidc::{Expected, person};
use crate::service::step_ask;
use crate::service::{KeySet, Provider};

/// Somebody whom a provider vouches for.
pub struct Vouched {
    pub subject: String,
    pub email: String,
    /// Of an account for them.
    pub name: Option<Name>,
    pub may_enter: bool,
}

/// Who the claims of an ID token are about, where they are believed.
pub fn id_token(said: &[u8], config: &OidcConfig, nonce: &str, now: i64) -> Option<Vouched> {
    let expected = Expected { issuer: &config.issuer, client_id: &config.client_id, nonce, now };
    let person = person(said, &expected).ok()?;
    Some(Vouched {
        name: person.account_name(&config.name_claim),
        may_enter: person.problem(config).is_none(),
        subject: person.subject,
        email: person.email,
    })
}

/// Where a provider is asked, where what it says of itself is believed.
pub fn provider(document: &[u8], config: &OidcConfig) -> Option<Vec<String>> {
    let provider: Provider = serde_json::from_slice(document).ok()?;
    let is_believed = provider.problem(config).is_none();
    is_believed.then(|| provider.places().map(str::to_owned).to_vec())
}

/// The keys of a set that can be used.
pub fn keys(document: &[u8]) -> Option<Vec<PublicKey>> {
    serde_json::from_slice::<KeySet>(document).ok().map(|set| set.usable())
}

/// The most characters, and the most bytes, of what a report brings into rows.
pub const REPORT_BOUNDS: ReportBounds = ReportBounds {
    message: report::MESSAGE_MAX,
    artifacts: report::ARTIFACTS_MAX,
    name: report::NAME_MAX,
    exported: report::EXPORTED_MAX,
};

pub struct ReportBounds {
    pub message: usize,
    pub artifacts: usize,
    pub name: usize,
    pub exported: usize,
}

/// What a job told, as far as it is believed.
pub fn job_report(text: &[u8]) -> Option<JobReport> {
    report::read(text)
}

/// What a step says, as a node hands it on: whatever is read can be said again.
pub fn step_ask(said: &[u8]) {
    step_ask::fuzz::read(said);
}
