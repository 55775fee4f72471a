//! Who somebody is, as others say it: tokens and keys, identity providers, authorities; and what needs others
//! to agree.

use std::sync::LazyLock;

use hostler_control::{OidcConfig, fuzz as control};
use hostler_model::{ApprovalRule, Labels, WorkloadSpec};
use hostler_server::http::fuzz;
use hostler_trust::AuthorityBundle;
use hostler_trust::jwt::{Jwk, PublicKey, SigningKey, parse};
use serde_json::Value;

use crate::text;

const NOW: i64 = 1_700_000_000;
const NONCE: &str = "n1";
/// What is signed for the sake of reading it again is no longer, so that its token is short enough.
const SIGNED_MAX: usize = 1024;

/// Tokens and the keys that check them: a token on the first line, behind it a key or a set of keys. Nothing
/// is believed that our key did not sign, and what it did sign is read as it was.
pub fn jwt(bytes: &[u8]) {
    static OWN: LazyLock<(SigningKey, PublicKey)> = LazyLock::new(|| {
        let secret = SigningKey::generate().expect("a key can be made");
        let key = SigningKey::from_pkcs8(secret.expose()).expect("a key that was made");
        let public = PublicKey::from_jwk(&key.jwk()).expect("a key of ours");
        (key, public)
    });
    let Some(text) = text(bytes) else { return };
    let (token, document) = text.split_once('\n').unwrap_or((text, ""));
    let mut keys = control::keys(document.as_bytes()).unwrap_or_default();
    if let Ok(jwk) = serde_json::from_str::<Jwk>(document) {
        let written = serde_json::to_string(&jwk).expect("a key can be written");
        let again: Jwk = serde_json::from_str(&written).expect("a key that was written");
        assert_eq!(again, jwk);
        keys.extend(PublicKey::from_jwk(&jwk));
    }
    let (own, public) = &*OWN;
    if let Ok(unverified) = parse(token) {
        let _named = unverified.key_id();
        assert!(unverified.verify(public).is_err(), "nobody signed this with our key");
        for key in &keys {
            let _said = unverified.verify(key);
        }
    }
    if token.len() <= SIGNED_MAX {
        let signed = own.sign(&token).expect("a text can be signed");
        let said = parse(&signed).and_then(|unverified| unverified.verify(public));
        assert_eq!(said.ok(), serde_json::to_vec(token).ok());
    }
}

/// What an identity provider says, of somebody and of itself: who is let in is who it is about, for this
/// client and this login, and nothing is asked where it is not encrypted.
pub fn id_token(bytes: &[u8]) {
    static CONFIG: LazyLock<OidcConfig> = LazyLock::new(|| OidcConfig {
        issuer: "https://id.example".to_owned(),
        client_id: "hostler".to_owned(),
        client_secret_file: None,
        redirect_uri: "https://hostler.example/".to_owned(),
        scopes: vec!["openid".to_owned()],
        label: "Example".to_owned(),
        name_claim: "preferred_username".to_owned(),
        email_domains: vec!["example.org".to_owned()],
        required: None,
        groups_claim: "groups".to_owned(),
        groups: Vec::new(),
        creates_accounts: true,
        role: None,
        is_password_off: false,
    });
    if let Some(person) = control::id_token(bytes, &CONFIG, NONCE, NOW) {
        let claims: Value = serde_json::from_slice(bytes).expect("claims that were read");
        assert_eq!(claims["iss"], CONFIG.issuer.as_str());
        assert_eq!(claims["nonce"], NONCE);
        assert_eq!(claims["sub"], person.subject.as_str());
        assert!((1..=255).contains(&person.subject.len()));
        let texts = [&person.subject, &person.email];
        assert!(!texts.iter().any(|text| text.chars().any(char::is_control)), "{texts:?}");
        let is_inside = person.email.to_ascii_lowercase().ends_with("@example.org");
        assert!(is_inside || !person.may_enter, "{:?} is let in", person.email);
        assert!(person.name.is_none_or(|name| name.as_str().len() <= 63));
    }
    if let Some(places) = control::provider(bytes, &CONFIG) {
        assert!(places.iter().all(|place| place.starts_with("https://")), "{places:?}");
    }
    let _keys = control::keys(bytes);
}

/// The authorities that are trusted: what was read is written so that it is read as the same.
pub fn authorities(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let Ok(bundle) = AuthorityBundle::from_pem(text) else { return };
    let again = AuthorityBundle::from_pem(&bundle.pem()).expect("a bundle that was written");
    assert_eq!(again, bundle);
    assert_eq!(again.mark(), bundle.mark());
    assert!(bundle.all().iter().all(|authority| bundle.has(authority.fingerprint())));
    assert!(!bundle.has_signed("fuzz", text.as_bytes(), &[0; 64]), "nobody signed this");
}

/// What needs an approval: every mistake has a pointer, and what was read is written so that it names the
/// same verbs and people.
pub fn approval(bytes: &[u8]) {
    let Ok(value) = fuzz::json(bytes) else { return };
    let Ok(rule) = fuzz::typed::<ApprovalRule>(&value) else { return };
    let written = serde_json::to_value(&rule).expect("a rule can be written");
    let again: ApprovalRule = fuzz::typed(&written).expect("a rule that was written");
    assert_eq!((&again.verbs, &again.exempt), (&rule.verbs, &rule.exempt));
    assert_eq!((&again.by, again.words()), (&rule.by, rule.words()));
    for problem in rule.problems("/rule") {
        assert!(problem.pointer.starts_with("/rule/"), "{problem:?}");
        assert!(!problem.detail.is_empty(), "{problem:?}");
    }
    let spec = WorkloadSpec::command(["true"]);
    let _of_a_spec = rule.when.matches(Some(&spec), None);
    let _of_a_node = rule.when.matches(None, Some(&Labels::new()));
    assert_eq!(rule.when.matches(None, None), rule.when.is_empty());
}
