//! The issuer of tokens for what runs, as others look for it (OpenID Connect Discovery, RFC 7517). Names of
//! fields are those of the standards.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Access;

crate::endpoints! { "identity"
    /// Describe the issuer of workload tokens to those who check them.
    OpenIdConfiguration = "openid_configuration" GET "/.well-known/openid-configuration", Access::Public, Nobody, 200,
        reply: DiscoveryView, errors: [NotFound];
    /// List the public keys that workload tokens are signed with.
    Jwks = "jwks" GET "/oauth/jwks", Access::Public, Nobody, 200, reply: JwksView;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DiscoveryView {
    pub issuer: String,
    pub jwks_uri: String,
    pub response_types_supported: Vec<String>,
    pub subject_types_supported: Vec<String>,
    pub id_token_signing_alg_values_supported: Vec<String>,
    pub claims_supported: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JwksView {
    /// One key and more while keys change; none before the first token.
    pub keys: Vec<JwkView>,
}

/// A public key on the curve P-256.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JwkView {
    pub kty: String,
    pub kid: String,
    #[serde(rename = "use")]
    pub usage: String,
    pub alg: String,
    pub crv: String,
    pub x: String,
    pub y: String,
}
