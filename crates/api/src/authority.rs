//! The installation's certificate authority, and how one takes the place of another.

use hostler_model::{AuthorityPhase, Name, NodeId, Role, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Access;

crate::endpoints! { "authority"
    /// Show the certificates of the authorities that are trusted, to be pinned by whoever trusts this connection.
    AuthorityTrusted = "authority_trusted" GET "/api/v1/authority/trusted", Access::Public, Nobody, 200,
        reply: AuthorityTrustedView;
    /// Show the authority, and how far another is in taking its place.
    AuthorityShow = "authority_show" GET "/api/v1/authority", Access::Global(Role::Viewer), ServerRead, 200,
        reply: AuthorityView;
    /// Begin to replace the authority: a new one is trusted at once and issues a few seconds later.
    AuthorityRotate = "authority_rotate" POST "/api/v1/authority/rotate", Access::Global(Role::Admin), AuthorityRotate, 200,
        reply: AuthorityView, errors: [Conflict, KeyReused];
    /// Go back to the authority that was to be replaced; it issues again, and the new one goes.
    AuthorityAbort = "authority_abort" POST "/api/v1/authority/abort", Access::Global(Role::Admin), AuthorityRotate, 200,
        reply: AuthorityView, errors: [Conflict, KeyReused];
    /// Drop the authority that goes.
    AuthorityFinish = "authority_finish" POST "/api/v1/authority/finish", Access::Global(Role::Admin), AuthorityRotate, 200,
        body: AuthorityFinishBody, reply: AuthorityView, errors: [Conflict, KeyReused];
}

/// The header of every answer that says, in a few letters, which authorities are trusted: whoever has
/// pinned others asks for them.
pub const AUTHORITIES_HEADER: &str = "hostler-authorities";

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuthorityFinishBody {
    /// Although nodes are cut off by it, and have to join again.
    pub force: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorityTrustedView {
    /// One certificate after the other, in PEM form; the one that stays comes first.
    pub certificates: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorityView {
    pub phase: AuthorityPhase,
    /// The authority that stays.
    pub present: AuthorityCertificateView,
    /// The authority that goes, while it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<AuthorityCertificateView>,
    /// From when on nodes get certificates of the one that stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_issues: Option<Timestamp>,
    /// Nodes that have not come with a certificate of the one that stays yet.
    pub waiting: Vec<AuthorityNodeView>,
    /// Authorities that went, newest first; what they signed can still be held against them.
    pub retired: Vec<AuthorityCertificateView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorityCertificateView {
    /// SHA-256 of the certificate, as `sha256:` and hexadecimal digits.
    pub fingerprint: String,
    pub time_expires: Timestamp,
    /// In PEM form.
    pub certificate: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuthorityNodeView {
    pub id: NodeId,
    pub name: Name,
}
