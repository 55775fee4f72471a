//! The issuer of tokens for what runs: where it is, and its public keys. Anybody may keep both for a while.

use hostler_api::identity::{DiscoveryView, JwkView, Jwks, JwksView, OpenIdConfiguration};
use hostler_model::{Code, Error};
use hostler_trust::jwt::Jwk;
use http::header::CACHE_CONTROL;

use super::{Answer, App, PublicCall};

/// Well within the time that a key is published before it signs.
const CACHED: &str = "public, max-age=300";
const CLAIMS: [&str; 12] = [
    "iss",
    "sub",
    "aud",
    "exp",
    "nbf",
    "iat",
    "jti",
    "project",
    "workload",
    "node",
    "placement",
    "run",
];

pub(crate) async fn discovery(
    app: App,
    _: PublicCall<OpenIdConfiguration>,
) -> Result<Answer<DiscoveryView>, Error> {
    let Some(issuer) = &app.control().config().identity.issuer else {
        return Err(Error::new(
            Code::NotFound,
            "this installation has not said under which address others find it",
            "set `issuer` in the section [identity] of the configuration",
        ));
    };
    let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let view = DiscoveryView {
        issuer: issuer.clone(),
        jwks_uri: format!("{issuer}/oauth/jwks"),
        response_types_supported: own(&["id_token"]),
        subject_types_supported: own(&["public"]),
        id_token_signing_alg_values_supported: own(&["ES256"]),
        claims_supported: own(&CLAIMS),
    };
    Ok(Answer::new(view).with_header(CACHE_CONTROL, CACHED))
}

pub(crate) async fn jwks(app: App, _: PublicCall<Jwks>) -> Result<Answer<JwksView>, Error> {
    let keys = app.control().identity_jwks().await?.into_iter().map(key).collect();
    Ok(Answer::new(JwksView { keys }).with_header(CACHE_CONTROL, CACHED))
}

fn key(key: Jwk) -> JwkView {
    JwkView {
        kty: key.kty,
        kid: key.kid.unwrap_or_default(),
        usage: key.usage.unwrap_or_default(),
        alg: key.alg.unwrap_or_default(),
        crv: key.crv.unwrap_or_default(),
        x: key.x.unwrap_or_default(),
        y: key.y.unwrap_or_default(),
    }
}
