//! Secret text, and the tokens that stand for a person, a machine or a session.
//!
//! A token reads `hst_<kind>_<43 characters of secret><6 characters of checksum>`. The prefix lets
//! people and scanners see what it is; the checksum tells a mistyped token from a revoked one without
//! asking the database. Only [`hash_secret`] of a token is ever stored: tokens carry 256 random bits,
//! so a fast hash is enough. Passwords do not; see [`crate::password`].

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer};
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Text that must not be printed. `Debug` and `Display` are redacted, comparing takes constant time,
/// memory is cleared on drop, and it cannot be serialised.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct SecretString(String);

impl SecretString {
    pub fn new(text: impl Into<String>) -> SecretString {
        SecretString(text.into())
    }

    /// The text itself. Each use should be a place where the secret has to leave.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for SecretString {
    fn from(text: String) -> SecretString {
        SecretString(text)
    }
}

impl fmt::Debug for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl fmt::Display for SecretString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl PartialEq for SecretString {
    fn eq(&self, other: &SecretString) -> bool {
        constant_time_eq(self.0.as_bytes(), other.0.as_bytes())
    }
}

impl Eq for SecretString {}

impl<'de> Deserialize<'de> for SecretString {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
        String::deserialize(deserializer).map(SecretString)
    }
}

/// Bytes that must not be printed: as [`SecretString`], for what is not text.
#[derive(Clone, Default, Zeroize, ZeroizeOnDrop)]
pub struct SecretBytes(Vec<u8>);

impl SecretBytes {
    pub fn new(bytes: impl Into<Vec<u8>>) -> SecretBytes {
        SecretBytes(bytes.into())
    }

    /// The bytes themselves. Each use should be a place where the secret has to leave.
    pub fn expose(&self) -> &[u8] {
        &self.0
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<zeroize::Zeroizing<Vec<u8>>> for SecretBytes {
    fn from(mut bytes: zeroize::Zeroizing<Vec<u8>>) -> SecretBytes {
        SecretBytes(std::mem::take(&mut *bytes))
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}

impl PartialEq for SecretBytes {
    fn eq(&self, other: &SecretBytes) -> bool {
        constant_time_eq(&self.0, &other.0)
    }
}

impl Eq for SecretBytes {}

/// Compares without telling by the time it takes where the difference is.
pub fn constant_time_eq(one: &[u8], other: &[u8]) -> bool {
    one.ct_eq(other).into()
}

/// What is stored instead of a token. Not for passwords.
pub fn hash_secret(secret: &str) -> [u8; 32] {
    blake3::derive_key("hostler.secret-hash.v1", secret.as_bytes())
}

/// Fills `bytes` from the operating system's randomness.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    use rand::TryRng;
    rand::rngs::SysRng
        .try_fill_bytes(bytes)
        .expect("the operating system gives random bytes once it has booted");
}

/// What a token stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// API token of a principal.
    Personal,
    /// Single-use right of a machine to become a node.
    Join,
    /// Web session.
    Session,
    /// One-time right to create the first admin.
    Setup,
    /// One-time right to make an account.
    Invitation,
    /// One-time right to set the password of an account.
    Reset,
}

impl TokenKind {
    pub const ALL: &'static [TokenKind] = &[
        TokenKind::Personal,
        TokenKind::Join,
        TokenKind::Session,
        TokenKind::Setup,
        TokenKind::Invitation,
        TokenKind::Reset,
    ];

    pub const fn label(self) -> &'static str {
        match self {
            TokenKind::Personal => "pat",
            TokenKind::Join => "join",
            TokenKind::Session => "ses",
            TokenKind::Setup => "setup",
            TokenKind::Invitation => "inv",
            TokenKind::Reset => "reset",
        }
    }
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// Why a text is not a token. Never contains the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTokenError {
    #[error("this is not a Hostler token; one starts with `hst_`")]
    NotAToken,
    #[error("the token has an unknown kind; known are pat, join, ses, setup, inv and reset")]
    UnknownKind,
    #[error("the token is damaged (its checksum does not match); copy it again, whole")]
    Damaged,
    #[error("this is a `{found}` token where a `{expected}` token is needed")]
    WrongKind { expected: TokenKind, found: TokenKind },
}

/// A well-formed token: a kind and a secret with a right checksum.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretToken {
    kind: TokenKind,
    text: SecretString,
}

const PREFIX: &str = "hst_";
const SECRET_BYTES: usize = 32;
/// Length of `SECRET_BYTES` in base64 without padding.
const SECRET_CHARS: usize = 43;
const CHECKSUM_BYTES: usize = 4;

impl SecretToken {
    /// A new token with 256 random bits.
    pub fn generate(kind: TokenKind) -> SecretToken {
        let mut secret = [0; SECRET_BYTES];
        fill_random(&mut secret);
        let mut text = format!("{PREFIX}{kind}_{}", URL_SAFE_NO_PAD.encode(secret));
        secret.zeroize();
        text.push_str(&checksum(&text));
        SecretToken { kind, text: SecretString(text) }
    }

    pub fn kind(&self) -> TokenKind {
        self.kind
    }

    /// The whole token, to show once or to send.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }

    /// What is stored of it.
    pub fn hash(&self) -> [u8; 32] {
        hash_secret(self.expose())
    }

    /// Reads a token that must be of one kind.
    pub fn parse(text: &str, expected: TokenKind) -> Result<SecretToken, ParseTokenError> {
        let token: SecretToken = text.parse()?;
        if token.kind == expected {
            Ok(token)
        } else {
            Err(ParseTokenError::WrongKind { expected, found: token.kind })
        }
    }
}

impl FromStr for SecretToken {
    type Err = ParseTokenError;

    fn from_str(text: &str) -> Result<SecretToken, ParseTokenError> {
        let text = text.trim();
        let rest = text.strip_prefix(PREFIX).ok_or(ParseTokenError::NotAToken)?;
        let (label, body) = rest.split_once('_').ok_or(ParseTokenError::NotAToken)?;
        let kind = TokenKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.label() == label)
            .ok_or(ParseTokenError::UnknownKind)?;
        let (secret, sum) = body.split_at_checked(SECRET_CHARS).ok_or(ParseTokenError::Damaged)?;
        let signed = &text[..text.len() - sum.len()];
        let is_whole =
            URL_SAFE_NO_PAD.decode(secret).is_ok_and(|bytes| bytes.len() == SECRET_BYTES);
        if is_whole && sum == checksum(signed) {
            Ok(SecretToken { kind, text: SecretString::new(text) })
        } else {
            Err(ParseTokenError::Damaged)
        }
    }
}

impl fmt::Debug for SecretToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}_[secret]", self.kind)
    }
}

fn checksum(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(&blake3::hash(text.as_bytes()).as_bytes()[..CHECKSUM_BYTES])
}
