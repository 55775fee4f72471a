//! Secrets: values that workloads are given when they start. A value comes in as the body of a request, as
//! it is, and goes out only where it is asked for by name.

use hostler_model::{Actor, Name, Role, SECRET_MAX, SecretId, SecretLink, SecretSource, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Access, Listing, ProjectPath};

crate::endpoints! { "secrets"
    /// List secrets by environment and name, without their values.
    SecretList = "secret_list" GET "/api/v1/projects/{project}/secrets", Access::Project(Role::Viewer), SecretRead, 200,
        path: ProjectPath, query: SecretListQuery, reply: Listing<SecretView>, errors: [NotFound];
    /// Show a secret, without its value.
    SecretGet = "secret_get" GET "/api/v1/projects/{project}/secrets/{secret}", Access::Project(Role::Viewer), SecretRead, 200,
        path: SecretPath, query: SecretQuery, reply: SecretView, errors: [NotFound];
    /// Set the value of a secret: 1 byte to 64 KiB, as it is. A value that is current already makes no new version.
    SecretSet = "secret_set" PUT "/api/v1/projects/{project}/secrets/{secret}", Access::Project(Role::User), SecretSet, 200,
        path: SecretPath, query: SecretSetQuery, reply: SecretView, errors: [NotFound, Invalid, Conflict, QuotaExceeded, Stale, AlreadyExists],
        raw_body: SECRET_MAX;
    /// Have a secret lead to a value in a vault outside, which is asked for when it is needed.
    SecretLinkSet = "secret_link" PUT "/api/v1/projects/{project}/secrets/{secret}/link", Access::Project(Role::User), SecretSet, 200,
        path: SecretPath, query: SecretQuery, body: SecretLink, reply: SecretView, errors: [NotFound, Conflict, QuotaExceeded, Stale, AlreadyExists];
    /// List the vaults that secrets of the project can lead to.
    VaultList = "vault_list" GET "/api/v1/projects/{project}/vaults", Access::Project(Role::Viewer), SecretRead, 200,
        path: ProjectPath, reply: Listing<VaultView>, errors: [NotFound];
    /// Make a random value, which is not told, the current one.
    SecretGenerate = "secret_generate" POST "/api/v1/projects/{project}/secrets/{secret}/generate", Access::Project(Role::User), SecretSet, 200,
        path: SecretPath, query: SecretQuery, body: SecretGenerateBody, reply: SecretView,
        errors: [NotFound, Conflict, QuotaExceeded, Stale, AlreadyExists, KeyReused];
    /// Read a value. Every reading is in the audit trail.
    SecretRead = "secret_read" GET "/api/v1/projects/{project}/secrets/{secret}/value", Access::Project(Role::Operator), SecretValue, 200,
        path: SecretPath, query: SecretReadQuery, reply: SecretValueView, errors: [NotFound, Conflict, ApprovalRequired];
    /// List the versions of a secret, newest first.
    SecretVersionList = "secret_version_list" GET "/api/v1/projects/{project}/secrets/{secret}/versions", Access::Project(Role::Viewer), SecretRead, 200,
        path: SecretPath, query: SecretVersionListQuery, reply: Listing<SecretVersionView>, errors: [NotFound];
    /// Destroy one version for ever; the newest that is left becomes current.
    SecretVersionDestroy = "secret_version_destroy" DELETE "/api/v1/projects/{project}/secrets/{secret}/versions/{version}", Access::Project(Role::User), SecretRemove, 200,
        path: SecretVersionPath, query: SecretQuery, reply: SecretView, errors: [NotFound, Stale];
    /// Remove a secret with all its versions.
    SecretRemove = "secret_remove" DELETE "/api/v1/projects/{project}/secrets/{secret}", Access::Project(Role::User), SecretRemove, 204,
        path: SecretPath, query: SecretQuery, errors: [NotFound];
    /// Seal everything with the present master key that is sealed with a former one.
    SecretRewrap = "secret_rewrap" POST "/api/v1/secrets/rewrap", Access::Global(Role::Admin), SecretRewrap, 200,
        reply: SecretRewrapView;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the secret.
    pub secret: Name,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretVersionPath {
    /// Name or id of the project.
    pub project: String,
    /// Name of the secret.
    pub secret: Name,
    /// Number of the version.
    #[schemars(range(min = 1))]
    pub version: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecretListQuery {
    /// Only secrets of this environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Name>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(SecretListQuery);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecretQuery {
    /// The environment of the secret; `default` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Name>,
}

/// Any bytes are a value, so that a call which was not meant so has to be told by something else: the
/// environment is not left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct SecretSetQuery {
    /// The environment of the secret, such as `default`.
    pub environment: Name,
    /// Only if the secret is there already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub must_exist: Option<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecretReadQuery {
    /// The environment of the secret; `default` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Name>,
    /// Number of the version; the current one when absent.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SecretVersionListQuery {
    /// The environment of the secret; `default` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environment: Option<Name>,
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(SecretVersionListQuery);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SecretGenerateBody {
    /// How many random bytes; the value is their base64, of letters, digits, `-` and `_`.
    #[schemars(range(min = 16, max = 1024))]
    pub bytes: u32,
}

/// A secret, without its value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretView {
    pub id: SecretId,
    pub environment: Name,
    pub name: Name,
    /// What a workload says to have it: `NAME` or `ENVIRONMENT/NAME`.
    pub reference: String,
    pub source: SecretSource,
    /// Where it leads, if it is linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<SecretLink>,
    /// The version that is meant when none is named; absent when all were destroyed, and for a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    pub created_by: String,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

/// A vault that secrets of the project can lead to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VaultView {
    pub name: Name,
    /// `hashicorp` or `exec`.
    pub kind: String,
    /// What comes before the path of a link; paths of the project are all below it.
    pub prefix: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretVersionView {
    pub version: u32,
    pub is_current: bool,
    pub is_destroyed: bool,
    /// Of the value, in bytes.
    pub size: u32,
    pub created_by: Actor,
    pub time_created: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_destroyed: Option<Timestamp>,
}

/// A value. Not shown by `Debug`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretValueView {
    pub environment: Name,
    pub name: Name,
    /// Of a link, as its vault counts; 0 where that does not.
    pub version: u32,
    /// The bytes in base64.
    pub value: String,
}

impl std::fmt::Debug for SecretValueView {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SecretValueView({}/{}:{})", self.environment, self.name, self.version)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecretRewrapView {
    /// Id of the present master key.
    pub key: String,
    /// How many were sealed anew.
    pub rewrapped: u64,
    /// How many are left under other keys, because these keys are missing.
    pub left: u64,
}
