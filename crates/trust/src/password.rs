//! Passwords: argon2id, stored as PHC strings.
//!
//! Hashing and verifying cost tens of milliseconds and about 19 MiB by design: call them from a
//! blocking thread, behind a limit on how many run at once. [`verify`] takes as long for an unknown
//! user (`None`) as for a known one, so that the time of an answer does not tell who exists.

use std::sync::LazyLock;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::secret::{SecretString, fill_random};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the password could not be hashed")]
    Hash(#[source] argon2::password_hash::Error),
    #[error("the stored password hash is damaged; set a new password with `hostler user passwd`")]
    Stored,
}

pub const LENGTH_MIN: usize = 10;
pub const LENGTH_MAX: usize = 1024;

/// A PHC string (`$argon2id$v=19$...`) with a fresh salt.
pub fn hash(password: &SecretString) -> Result<String, Error> {
    Argon2::default()
        .hash_password(password.expose().as_bytes())
        .map(|hash| hash.to_string())
        .map_err(Error::Hash)
}

/// Whether `password` is the one behind `stored`. `None` stands for a user that does not exist: it
/// costs the same and is always wrong.
pub fn verify(password: &SecretString, stored: Option<&str>) -> Result<bool, Error> {
    let phc = PasswordHash::new(stored.unwrap_or(&DUMMY)).map_err(|_| Error::Stored)?;
    let is_right = Argon2::default().verify_password(password.expose().as_bytes(), &phc).is_ok();
    Ok(is_right && stored.is_some())
}

static DUMMY: LazyLock<String> = LazyLock::new(|| {
    let mut random = [0; 32];
    fill_random(&mut random);
    Argon2::default()
        .hash_password(&random)
        .map(|hash| hash.to_string())
        .expect("32 bytes and default parameters are within the limits of argon2")
});

/// Why a new password is not acceptable, in words for the person who chose it.
pub fn problem(password: &str, user_name: &str) -> Option<String> {
    let folded = password.to_lowercase();
    let user_name = user_name.to_lowercase();
    let letters: Vec<char> = folded.chars().collect();
    if letters.len() < LENGTH_MIN {
        return Some(format!("use at least {LENGTH_MIN} characters"));
    }
    if password.len() > LENGTH_MAX {
        return Some(format!("use at most {LENGTH_MAX} bytes"));
    }
    if !user_name.is_empty() && is_built_from(&folded, &user_name) {
        return Some("do not use your user name as the password".to_owned());
    }
    if letters.iter().all(|letter| *letter == letters[0]) {
        return Some("do not repeat one character".to_owned());
    }
    let is_common = WORST.iter().any(|worst| is_built_from(&folded, worst) || folded == *worst);
    is_common.then(|| "this is among the first passwords that attackers try".to_owned())
}

/// Whether `text` is `part` with at most four characters around it, or `part` over and over.
fn is_built_from(text: &str, part: &str) -> bool {
    let rest = text.replace(part, "");
    text.contains(part) && rest.chars().count() <= 4
}

/// The most common passwords of ten characters and more, and the words that others are made from.
const WORST: &[&str] = &[
    "0123456789",
    "0987654321",
    "1029384756",
    "1111111111",
    "1122334455",
    "123123123",
    "123456789",
    "12345678",
    "1q2w3e4r5t",
    "1qaz2wsx3edc",
    "987654321",
    "abc123456",
    "abcdefghij",
    "administrator",
    "asdfghjkl",
    "baseball",
    "changeme",
    "football",
    "hostler",
    "iloveyou",
    "letmein",
    "p@ssw0rd",
    "passw0rd",
    "password",
    "princess",
    "q1w2e3r4t5",
    "qazwsxedc",
    "qwerty123",
    "qwertyuiop",
    "starwars",
    "sunshine",
    "superman",
    "trustno1",
    "welcome123",
    "zaq12wsx",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_verified_and_unknown_users_never_match() {
        let right = SecretString::new("a right long phrase");
        let stored = hash(&right).unwrap();
        assert!(stored.starts_with("$argon2id$"));
        assert!(verify(&right, Some(&stored)).unwrap());
        assert!(!verify(&SecretString::new("another phrase"), Some(&stored)).unwrap());
        assert!(!verify(&right, None).unwrap());
        assert!(matches!(verify(&right, Some("plain")), Err(Error::Stored)));
        assert_ne!(hash(&right).unwrap(), stored, "salts differ");
    }

    #[test]
    fn weak_passwords_are_named() {
        for weak in [
            "short",
            "Password123",
            "ada.lovelace",
            "Ada.Lovelace1",
            "qwertyuiop",
            "zzzzzzzzzzzz",
            "passwordpassword",
            "hostler2026",
        ] {
            assert!(problem(weak, "ada.lovelace").is_some(), "{weak}");
        }
        for fine in ["correct horse battery", "Zwölf Boxkämpfer", "ada.lovelace likes looms"] {
            assert_eq!(problem(fine, "ada.lovelace"), None, "{fine}");
        }
        assert!(problem(&"x1y2z3".repeat(300), "ada").is_some());
    }
}
