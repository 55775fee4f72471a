//! JSON web tokens (RFC 7515, 7519): those that this installation signs for what it runs, and those that
//! others sign and we check.
//!
//! A token is taken apart ([`parse`]), somebody finds the key that it names, and only [`Unverified::verify`]
//! gives what it says. Which algorithm checks it is the *key's* to say: the token's header has to name one of
//! those, and can choose nothing. There is no `none`, and nothing with a shared secret, so that a public key
//! can never be taken for one. A token with `crit` wants something of us that we do not know, and is refused.
//!
//! Ours are signed with ECDSA on P-256 (ES256), which everybody who checks tokens knows. A key is named by its
//! thumbprint (RFC 7638).
//!
//! What a token *says* (who it is from and for, and until when) is not looked at here.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED, ED25519,
    EcdsaKeyPair, KeyPair, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};

use crate::secret::SecretBytes;

/// A longer text is no token.
pub const TOKEN_MAX: usize = 16 << 10;

/// Why a token is not believed, or a key cannot be used. Never contains the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("it is not a signed JSON web token")]
    NotAToken,
    #[error("its header asks for something that is not known here")]
    Critical,
    #[error("it is signed in another way than its key is for")]
    Algorithm,
    #[error("its signature is wrong")]
    Signature,
    #[error("the key cannot be used")]
    Key,
}

/// How a token is signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    Rs256,
    Ps256,
    Es256,
    Es384,
    EdDsa,
}

impl Algorithm {
    pub const ALL: &'static [Algorithm] =
        &[Algorithm::Rs256, Algorithm::Ps256, Algorithm::Es256, Algorithm::Es384, Algorithm::EdDsa];

    pub const fn label(self) -> &'static str {
        match self {
            Algorithm::Rs256 => "RS256",
            Algorithm::Ps256 => "PS256",
            Algorithm::Es256 => "ES256",
            Algorithm::Es384 => "ES384",
            Algorithm::EdDsa => "EdDSA",
        }
    }

    fn from_label(label: &str) -> Option<Algorithm> {
        Algorithm::ALL.iter().copied().find(|algorithm| algorithm.label() == label)
    }
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    crit: Option<serde_json::Value>,
}

/// A token that nobody has checked yet: all that can be asked of it is which key it names.
pub struct Unverified<'t> {
    header: Header,
    signed: &'t str,
    payload: &'t str,
    signature: &'t str,
}

/// Takes a token apart.
pub fn parse(text: &str) -> Result<Unverified<'_>, Error> {
    if text.len() > TOKEN_MAX {
        return Err(Error::NotAToken);
    }
    let (signed, signature) = text.rsplit_once('.').ok_or(Error::NotAToken)?;
    let (header, payload) = signed.split_once('.').ok_or(Error::NotAToken)?;
    if payload.contains('.') {
        return Err(Error::NotAToken);
    }
    let header: Header = serde_json::from_slice(&decode(header)?).map_err(|_| Error::NotAToken)?;
    if header.crit.is_some() {
        return Err(Error::Critical);
    }
    Ok(Unverified { header, signed, payload, signature })
}

/// What a verifier of PKCE is asked with (RFC 7636, `S256`).
pub fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()))
}

/// Whether a text looks like a token of this kind, without believing any of it.
pub fn looks_like(text: &str) -> bool {
    text.starts_with("eyJ") && text.bytes().filter(|byte| *byte == b'.').count() == 2
}

impl Unverified<'_> {
    /// The key that it says it is signed with.
    pub fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// What it says, when this key signed it.
    pub fn verify(&self, key: &PublicKey) -> Result<Vec<u8>, Error> {
        let algorithm = Algorithm::from_label(&self.header.alg).ok_or(Error::Algorithm)?;
        if !key.algorithms.contains(&algorithm) {
            return Err(Error::Algorithm);
        }
        let signature = decode(self.signature)?;
        let signed = self.signed.as_bytes();
        let plain = |bytes: &[u8], way: &'static dyn ring::signature::VerificationAlgorithm| {
            UnparsedPublicKey::new(way, bytes).verify(signed, &signature)
        };
        let verified =
            match (&key.material, algorithm) {
                (Material::Rsa { n, e }, Algorithm::Rs256) => RsaPublicKeyComponents { n, e }
                    .verify(&RSA_PKCS1_2048_8192_SHA256, signed, &signature),
                (Material::Rsa { n, e }, Algorithm::Ps256) => RsaPublicKeyComponents { n, e }
                    .verify(&RSA_PSS_2048_8192_SHA256, signed, &signature),
                (Material::Curve(bytes), Algorithm::Es256) => {
                    plain(bytes, &ECDSA_P256_SHA256_FIXED)
                }
                (Material::Curve(bytes), Algorithm::Es384) => {
                    plain(bytes, &ECDSA_P384_SHA384_FIXED)
                }
                (Material::Curve(bytes), Algorithm::EdDsa) => plain(bytes, &ED25519),
                (Material::Rsa { .. } | Material::Curve(_), _) => return Err(Error::Algorithm),
            };
        verified.map_err(|_| Error::Signature)?;
        decode(self.payload)
    }
}

fn decode(text: &str) -> Result<Vec<u8>, Error> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Error::NotAToken)
}

/// A public key as others write it (RFC 7517).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Jwk {
    pub kty: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kid: Option<String>,
    #[serde(default, rename = "use", skip_serializing_if = "Option::is_none")]
    pub usage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alg: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crv: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub e: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Material {
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// Of an elliptic curve, as ring takes it.
    Curve(Vec<u8>),
}

/// A key that checks signatures, and the ways of signing it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicKey {
    id: Option<String>,
    algorithms: Vec<Algorithm>,
    material: Material,
}

impl PublicKey {
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The key that others published; one that is not for signatures, or of a kind that is not known here,
    /// cannot be used.
    pub fn from_jwk(jwk: &Jwk) -> Result<PublicKey, Error> {
        if jwk.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return Err(Error::Key);
        }
        let part = |text: &Option<String>| {
            URL_SAFE_NO_PAD.decode(text.as_deref().unwrap_or_default()).map_err(|_| Error::Key)
        };
        let point = |bytes: usize| {
            let (x, y) = (part(&jwk.x)?, part(&jwk.y)?);
            match x.len() == bytes && y.len() == bytes {
                true => Ok(Material::Curve([&[4][..], &x, &y].concat())),
                false => Err(Error::Key),
            }
        };
        let (material, mut algorithms) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
            ("RSA", _) => {
                let (n, e) = (part(&jwk.n)?, part(&jwk.e)?);
                (Material::Rsa { n, e }, vec![Algorithm::Rs256, Algorithm::Ps256])
            }
            ("EC", Some("P-256")) => (point(32)?, vec![Algorithm::Es256]),
            ("EC", Some("P-384")) => (point(48)?, vec![Algorithm::Es384]),
            ("OKP", Some("Ed25519")) => (Material::Curve(part(&jwk.x)?), vec![Algorithm::EdDsa]),
            _ => return Err(Error::Key),
        };
        if let Some(only) = &jwk.alg {
            algorithms.retain(|algorithm| algorithm.label() == only);
        }
        match algorithms.is_empty() {
            true => Err(Error::Key),
            false => Ok(PublicKey { id: jwk.kid.clone(), algorithms, material }),
        }
    }
}

/// A key that signs for this installation. `Debug` shows its name.
pub struct SigningKey {
    id: String,
    pair: EcdsaKeyPair,
}

impl SigningKey {
    /// A new key, to be sealed.
    pub fn generate() -> Result<SecretBytes, Error> {
        let made =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        made.map(|document| SecretBytes::new(document.as_ref())).map_err(|_| Error::Key)
    }

    pub fn from_pkcs8(bytes: &[u8]) -> Result<SigningKey, Error> {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, bytes, &random)
            .map_err(|_| Error::Key)?;
        let (x, y) = coordinates(&pair).ok_or(Error::Key)?;
        let thumb = format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#);
        let thumb = ring::digest::digest(&ring::digest::SHA256, thumb.as_bytes());
        Ok(SigningKey { id: URL_SAFE_NO_PAD.encode(thumb), pair })
    }

    /// Its thumbprint.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What others check its signatures with.
    pub fn jwk(&self) -> Jwk {
        let (x, y) = coordinates(&self.pair).unwrap_or_default();
        Jwk {
            kty: "EC".to_owned(),
            kid: Some(self.id.clone()),
            usage: Some("sig".to_owned()),
            alg: Some(Algorithm::Es256.label().to_owned()),
            crv: Some("P-256".to_owned()),
            x: Some(x),
            y: Some(y),
            ..Jwk::default()
        }
    }

    /// A token that says this.
    pub fn sign(&self, claims: &impl Serialize) -> Result<String, Error> {
        let header = serde_json::json!({
            "alg": Algorithm::Es256.label(), "typ": "JWT", "kid": self.id,
        });
        let payload = serde_json::to_vec(claims).map_err(|_| Error::NotAToken)?;
        let (header, payload) =
            (URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(payload));
        let signed = format!("{header}.{payload}");
        let signature = self.pair.sign(&SystemRandom::new(), signed.as_bytes());
        let signature = signature.map_err(|_| Error::Key)?;
        Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
    }
}

/// Of a point that is written as a four and its two halves.
fn coordinates(pair: &EcdsaKeyPair) -> Option<(String, String)> {
    let (kind, point) = pair.public_key().as_ref().split_first()?;
    let (x, y) = point.split_at_checked(32)?;
    let encode = |half: &[u8]| URL_SAFE_NO_PAD.encode(half);
    (*kind == 4 && y.len() == 32).then(|| (encode(x), encode(y)))
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ring::hmac;
    use serde_json::json;

    fn key() -> SigningKey {
        SigningKey::from_pkcs8(SigningKey::generate().unwrap().expose()).unwrap()
    }

    fn public(key: &SigningKey) -> PublicKey {
        PublicKey::from_jwk(&key.jwk()).unwrap()
    }

    fn part(value: &serde_json::Value) -> String {
        URL_SAFE_NO_PAD.encode(value.to_string())
    }

    fn check(text: &str, key: &PublicKey) -> Result<Vec<u8>, Error> {
        parse(text)?.verify(key)
    }

    #[test]
    fn what_was_signed_is_read_and_nothing_else() {
        let (own, other) = (key(), key());
        let claims = json!({ "sub": "me" });
        let token = own.sign(&claims).unwrap();
        assert!(looks_like(&token) && !looks_like("hst_pat_abc"));
        assert_eq!(parse(&token).unwrap().key_id(), Some(own.id()));
        let said = check(&token, &public(&own)).unwrap();
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&said).unwrap(), claims);
        assert_eq!(check(&token, &public(&other)), Err(Error::Signature));
        let parts: Vec<&str> = token.split('.').collect();
        let forged = format!("{}.{}.{}", parts[0], part(&json!({ "sub": "you" })), parts[2]);
        assert_eq!(check(&forged, &public(&own)), Err(Error::Signature));
        for wrong in
            ["", "a", "a.b", "a.b.c", "a.b.c.d", &format!("{token}.x"), &format!("{token}=")]
        {
            assert!(check(wrong, &public(&own)).is_err(), "{wrong}");
        }
        assert_eq!(parse(&"a".repeat(TOKEN_MAX + 1)).err(), Some(Error::NotAToken));
    }

    #[test]
    fn the_key_says_how_it_is_checked() {
        let own = key();
        let jwk = own.jwk();
        let payload = part(&json!({ "sub": "root" }));
        for alg in ["none", "None", "NONE", ""] {
            let header = part(&json!({ "alg": alg, "kid": own.id() }));
            let token = format!("{header}.{payload}.");
            assert_eq!(check(&token, &public(&own)), Err(Error::Algorithm), "{alg}");
        }
        // The public key as the secret of an HMAC, in the ways it could be written down.
        let point = own.pair.public_key().as_ref().to_vec();
        for secret in [point, serde_json::to_vec(&jwk).unwrap()] {
            let signed = format!("{}.{payload}", part(&json!({ "alg": "HS256", "kid": own.id() })));
            let mac = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &secret), signed.as_bytes());
            let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac));
            assert_eq!(check(&token, &public(&own)), Err(Error::Algorithm));
        }
        for alg in ["RS256", "ES384", "EdDSA"] {
            let signed = format!("{}.{payload}", part(&json!({ "alg": alg })));
            assert_eq!(check(&format!("{signed}.AAAA"), &public(&own)), Err(Error::Algorithm));
        }
        let critical = part(&json!({ "alg": "ES256", "crit": ["b64"], "b64": false }));
        assert_eq!(parse(&format!("{critical}.{payload}.AAAA")).err(), Some(Error::Critical));
    }

    #[test]
    fn keys_of_others_are_for_signatures_of_known_kinds() {
        let jwk = key().jwk();
        assert!(PublicKey::from_jwk(&jwk).is_ok());
        let with = |change: fn(&mut Jwk)| {
            let mut jwk = jwk.clone();
            change(&mut jwk);
            PublicKey::from_jwk(&jwk)
        };
        assert_eq!(with(|jwk| jwk.usage = Some("enc".into())), Err(Error::Key));
        assert_eq!(with(|jwk| jwk.alg = Some("HS256".into())), Err(Error::Key));
        assert_eq!(with(|jwk| jwk.kty = "oct".into()), Err(Error::Key));
        assert_eq!(with(|jwk| jwk.crv = Some("P-521".into())), Err(Error::Key));
        assert_eq!(with(|jwk| jwk.x = Some("AAAA".into())), Err(Error::Key));
        assert_eq!(with(|jwk| jwk.y = None), Err(Error::Key));
        assert!(with(|jwk| jwk.alg = None).is_ok());
        assert!(!format!("{:?}", key()).contains("pair"));
    }

    #[test]
    fn a_challenge_is_that_of_the_standard() {
        // RFC 7636, appendix B.
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(challenge(verifier), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn an_example_of_the_standard_is_read() {
        // RFC 7515, appendix A.3.
        let jwk = Jwk {
            kty: "EC".into(),
            crv: Some("P-256".into()),
            x: Some("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU".into()),
            y: Some("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0".into()),
            ..Jwk::default()
        };
        let token = "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
        let said = check(token, &PublicKey::from_jwk(&jwk).unwrap()).unwrap();
        assert!(said.starts_with(b"{\"iss\":\"joe\""));
    }
}
