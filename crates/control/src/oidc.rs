//! Logging in at an identity provider (OpenID Connect): what can be set, and what is believed of what a
//! provider says.
//!
//! The flow is that of an authorization code with PKCE. Whoever begins a login, a page of the dashboard or
//! the command line, gets a *ticket*: state, nonce and verifier, sealed with the master key. Only who holds
//! the ticket can finish: the code that the provider shows at the end is worth nothing without it. So the
//! servers keep nothing in between, and a code may be copied by hand from a browser into a terminal.
//!
//! Of an ID token nothing is believed before its signature was checked with one of the provider's keys
//! ([`hostler_trust::jwt`]), and then only what [`person`] lets through. Who somebody is says the issuer
//! together with the subject; an e-mail address only ever keeps people out.

use std::path::PathBuf;

use hostler_model::{Name, RoleName};
use serde_json::{Map, Value};

/// How far the provider's clock may be from ours.
const LEEWAY: i64 = 60;
/// As long as the standard lets it be.
const SUBJECT_MAX: usize = 255;

/// An identity provider, and who may come from there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OidcConfig {
    pub issuer: String,
    pub client_id: String,
    /// Read for every login; a public client has none.
    pub client_secret_file: Option<PathBuf>,
    /// Where the provider sends people back to; exactly as it is registered there.
    pub redirect_uri: String,
    pub scopes: Vec<String>,
    /// What people know the provider as.
    pub label: String,
    /// The claim that an account which is made gets its name from.
    pub name_claim: String,
    /// Only people with a checked e-mail address in one of these; everybody when empty.
    pub email_domains: Vec<String>,
    /// Only people with this value in this claim.
    pub required: Option<(String, String)>,
    /// The claim with the groups that somebody is in.
    pub groups_claim: String,
    /// A group there, and the group here that its members are in.
    pub groups: Vec<(String, Name)>,
    /// People whom nobody knows get an account, with this role on the whole installation if any.
    pub creates_accounts: bool,
    pub role: Option<RoleName>,
    /// Who has an identity there does not log in with a password.
    pub is_password_off: bool,
}

/// What an ID token has to say.
pub(crate) struct Expected<'e> {
    pub issuer: &'e str,
    pub client_id: &'e str,
    pub nonce: &'e str,
    /// Seconds since 1970.
    pub now: i64,
}

/// Somebody whom the provider vouches for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Person {
    pub subject: String,
    /// Empty where the provider has not checked it.
    pub email: String,
    claims: Map<String, Value>,
}

/// Reads an ID token whose signature was checked.
pub(crate) fn person(said: &[u8], expected: &Expected<'_>) -> Result<Person, &'static str> {
    let Ok(claims) = serde_json::from_slice::<Map<String, Value>>(said) else {
        return Err("it says nothing");
    };
    let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
    let time = |claim: &str| claims.get(claim).and_then(Value::as_i64);
    if text("iss") != Some(expected.issuer) {
        return Err("it was issued by somebody else");
    }
    let audiences: Vec<&str> = match claims.get("aud") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(all)) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !audiences.contains(&expected.client_id) {
        return Err("it is for somebody else");
    }
    match claims.get("azp") {
        Some(party) if party.as_str() != Some(expected.client_id) => {
            return Err("it was given to somebody else");
        }
        None if audiences.len() > 1 => return Err("it does not say to whom it was given"),
        Some(_) | None => {}
    }
    let (earliest, latest) = (expected.now - LEEWAY, expected.now + LEEWAY);
    if time("exp").is_none_or(|expires| expires <= earliest) {
        return Err("it has expired");
    }
    if time("iat").is_none_or(|issued| issued > latest)
        || time("nbf").is_some_and(|from| from > latest)
    {
        return Err("it is not valid yet; compare the clocks");
    }
    if text("nonce") != Some(expected.nonce) {
        return Err("it belongs to another login");
    }
    let subject = text("sub").unwrap_or_default().to_owned();
    if subject.is_empty() || subject.len() > SUBJECT_MAX || subject.chars().any(char::is_control) {
        return Err("it does not say who it is about");
    }
    let is_checked = match claims.get("email_verified") {
        Some(Value::Bool(is_checked)) => *is_checked,
        Some(Value::String(text)) => text == "true",
        _ => false,
    };
    let email = text("email").filter(|_| is_checked).unwrap_or_default();
    let email: String = email.chars().filter(|c| !c.is_control()).take(254).collect();
    Ok(Person { subject, email, claims })
}

impl Person {
    /// Why they may not come in, if so.
    pub(crate) fn problem(&self, config: &OidcConfig) -> Option<&'static str> {
        let domain = self.email.rsplit_once('@').map(|(_, domain)| domain);
        let is_from = |own: &String| domain.is_some_and(|d| d.eq_ignore_ascii_case(own));
        if !config.email_domains.is_empty() && !config.email_domains.iter().any(is_from) {
            return Some(
                "your e-mail address is not checked, or in none of the domains that may come in",
            );
        }
        match &config.required {
            Some((claim, value)) if !self.has(claim, value) => {
                Some("you are not among those whom this installation lets in")
            }
            Some(_) | None => None,
        }
    }

    /// Whether a claim is, or contains, this value.
    pub(crate) fn has(&self, claim: &str, value: &str) -> bool {
        match self.claims.get(claim) {
            Some(Value::String(one)) => one == value,
            Some(Value::Array(all)) => all.iter().any(|each| each.as_str() == Some(value)),
            Some(Value::Bool(is_so)) => is_so.to_string() == value,
            _ => false,
        }
    }

    /// The name of an account for them: what stands before an `@`, in small letters.
    pub(crate) fn account_name(&self, claim: &str) -> Option<Name> {
        let given = self.claims.get(claim).and_then(Value::as_str)?;
        let given = given.split('@').next().unwrap_or_default().to_ascii_lowercase();
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let name: String = given.chars().map(plain).collect();
        name.trim_matches('-').parse().ok()
    }
}

/// For a query or a form: everything but letters, digits and `-._~` as `%XX`.
pub(crate) fn encoded(pairs: &[(&str, &str)]) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    let word = |text: &str| -> String {
        let each = text.bytes().map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        });
        each.collect()
    };
    let each = pairs.iter().map(|(key, value)| format!("{}={}", word(key), word(value)));
    each.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const EXPECTED: Expected<'static> =
        Expected { issuer: "https://id.example", client_id: "hostler", nonce: "n1", now: 10_000 };

    fn claims() -> Value {
        json!({
            "iss": "https://id.example", "aud": "hostler", "sub": "u-1", "nonce": "n1",
            "exp": 10_600, "iat": 9_990, "email": "Ada@Example.org", "email_verified": true,
            "preferred_username": "Ada.Lovelace@example.org", "groups": ["dev", "ops"],
        })
    }

    fn with(claim: &str, value: Value) -> Result<Person, &'static str> {
        let mut claims = claims();
        claims[claim] = value;
        person(claims.to_string().as_bytes(), &EXPECTED)
    }

    #[test]
    fn an_id_token_is_believed_for_one_client_login_and_time() {
        let ada = person(claims().to_string().as_bytes(), &EXPECTED).unwrap();
        assert_eq!((ada.subject.as_str(), ada.email.as_str()), ("u-1", "Ada@Example.org"));
        for (claim, value, why) in [
            ("iss", json!("https://evil.example"), "issued by"),
            ("iss", json!("https://id.example/"), "issued by"),
            ("aud", json!("other"), "for somebody else"),
            ("aud", json!(["other", "another"]), "for somebody else"),
            ("aud", Value::Null, "for somebody else"),
            ("aud", json!(["hostler", "other"]), "to whom"),
            ("azp", json!("other"), "given to"),
            ("exp", json!(9_940), "expired"),
            ("exp", Value::Null, "expired"),
            ("exp", json!("99999"), "expired"),
            ("iat", json!(10_061), "not valid yet"),
            ("iat", Value::Null, "not valid yet"),
            ("nbf", json!(10_061), "not valid yet"),
            ("nonce", json!("n2"), "another login"),
            ("nonce", Value::Null, "another login"),
            ("sub", json!(""), "who it is about"),
            ("sub", json!(7), "who it is about"),
            ("sub", json!("x".repeat(256)), "who it is about"),
        ] {
            let problem = with(claim, value.clone()).unwrap_err();
            assert!(problem.contains(why), "{claim} = {value}: {problem}");
        }
        assert!(with("exp", json!(9_941)).is_ok(), "clocks differ a little");
        let mut several = claims();
        several["aud"] = json!(["other", "hostler"]);
        several["azp"] = json!("hostler");
        assert!(person(several.to_string().as_bytes(), &EXPECTED).is_ok());
        assert!(person(b"[]", &EXPECTED).is_err());
    }

    fn config() -> OidcConfig {
        OidcConfig {
            issuer: "https://id.example".into(),
            client_id: "hostler".into(),
            client_secret_file: None,
            redirect_uri: "https://h/".into(),
            scopes: vec!["openid".into()],
            label: "Example".into(),
            name_claim: "preferred_username".into(),
            email_domains: vec!["example.org".into()],
            required: None,
            groups_claim: "groups".into(),
            groups: Vec::new(),
            creates_accounts: false,
            role: None,
            is_password_off: false,
        }
    }

    #[test]
    fn an_address_that_nobody_checked_lets_nobody_in() {
        let domain = config();
        let problem = |claim: &str, value: Value| with(claim, value).unwrap().problem(&domain);
        assert_eq!(problem("x", Value::Null), None);
        for value in [json!(false), Value::Null, json!("yes"), json!(1)] {
            assert!(problem("email_verified", value.clone()).is_some(), "{value}");
        }
        assert!(problem("email", json!("ada@example.org.evil.example")).is_some());
        assert!(problem("email", json!("example.org")).is_some());
        let required = OidcConfig { required: Some(("groups".into(), "ops".into())), ..config() };
        let problem = |value: Value| with("groups", value).unwrap().problem(&required);
        assert_eq!(problem(json!(["ops"])), None);
        assert_eq!(problem(json!("ops")), None);
        for value in [json!(["dev"]), json!("ops2"), Value::Null, json!({ "ops": true })] {
            assert!(problem(value.clone()).is_some(), "{value}");
        }
    }

    #[test]
    fn names_are_made_of_what_the_provider_calls_people() {
        let name = |given: &str| {
            let person = with("preferred_username", json!(given)).unwrap();
            person.account_name("preferred_username").map(|name| name.to_string())
        };
        assert_eq!(name("Ada.Lovelace@example.org").as_deref(), Some("ada-lovelace"));
        assert_eq!(name("ada").as_deref(), Some("ada"));
        assert_eq!(name("@"), None);
        assert_eq!(name("../.."), None);
        assert_eq!(with("x", Value::Null).unwrap().account_name("none"), None);
    }

    #[test]
    fn what_is_asked_is_encoded() {
        let pairs = [("scope", "openid email"), ("redirect_uri", "https://h:7443/?a=b&c")];
        let text = encoded(&pairs);
        assert_eq!(text, "scope=openid%20email&redirect_uri=https%3A%2F%2Fh%3A7443%2F%3Fa%3Db%26c");
    }
}
