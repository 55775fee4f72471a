//! Links that are handed to people: `https://host:7443/#invitation=<token>.<fingerprint in hex>`.
//!
//! The secret stands in the fragment, which browsers do not send: it is in no log of a server or a
//! proxy, and in no referrer. Beside it is the fingerprint of the authority, so that the command line
//! knows whom to trust before it sends the secret.

use std::fmt;
use std::str::FromStr;

use crate::certificate::{Fingerprint, ParseFingerprintError};
use crate::secret::{ParseTokenError, SecretString, SecretToken, TokenKind};

#[derive(Clone, PartialEq, Eq)]
pub struct Link {
    /// `https://host:7443`.
    pub address: String,
    pub token: SecretToken,
    pub authority: Fingerprint,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseLinkError {
    #[error(
        "this is not a link of Hostler (`https://host:port/#invitation=...`); copy it again, whole"
    )]
    NotALink,
    #[error("the link cannot be used for this; it is for `{0}`")]
    Other(&'static str),
    #[error("the secret in the link cannot be read")]
    Token(#[source] ParseTokenError),
    #[error("the fingerprint in the link cannot be read")]
    Fingerprint(#[source] ParseFingerprintError),
}

/// What the fragment calls a kind of link.
const fn word(kind: TokenKind) -> &'static str {
    match kind {
        TokenKind::Invitation => "invitation",
        TokenKind::Reset => "reset",
        TokenKind::Personal => "token",
        TokenKind::Join => "join",
        TokenKind::Session => "session",
        TokenKind::Setup => "setup",
    }
}

impl Link {
    /// The text to show once.
    pub fn encode(&self) -> SecretString {
        SecretString::new(format!(
            "{}/#{}={}.{}",
            self.address,
            word(self.token.kind()),
            self.token.expose(),
            self.authority.hex()
        ))
    }

    /// Reads a link that must be of one kind.
    pub fn parse(text: &str, expected: TokenKind) -> Result<Link, ParseLinkError> {
        let link: Link = text.parse()?;
        match link.token.kind() == expected {
            true => Ok(link),
            false => Err(ParseLinkError::Other(word(link.token.kind()))),
        }
    }
}

impl FromStr for Link {
    type Err = ParseLinkError;

    fn from_str(text: &str) -> Result<Link, ParseLinkError> {
        let (address, fragment) = text.trim().split_once("/#").ok_or(ParseLinkError::NotALink)?;
        let (_, secret) = fragment.split_once('=').ok_or(ParseLinkError::NotALink)?;
        let (token, authority) = secret.split_once('.').ok_or(ParseLinkError::NotALink)?;
        if !address.starts_with("https://") {
            return Err(ParseLinkError::NotALink);
        }
        Ok(Link {
            address: address.to_owned(),
            token: token.parse().map_err(ParseLinkError::Token)?,
            authority: authority.parse().map_err(ParseLinkError::Fingerprint)?,
        })
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/#{:?}.{}", self.address, self.token, self.authority.hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_they_are_written() {
        let authority: Fingerprint = "ab".repeat(32).parse().unwrap();
        for kind in [TokenKind::Invitation, TokenKind::Reset] {
            let link = Link {
                address: "https://control:7443".to_owned(),
                token: SecretToken::generate(kind),
                authority,
            };
            let text = link.encode();
            assert_eq!(Link::parse(&format!(" {}\n", text.expose()), kind).unwrap(), link);
            assert!(!text.expose().contains('?'), "a query would be sent");
            assert!(!format!("{link:?}").contains(link.token.expose()));
            let other = Link::parse(text.expose(), TokenKind::Join);
            assert_eq!(other, Err(ParseLinkError::Other(word(kind))));
            let plain = text.expose().replace("https:", "http:");
            assert_eq!(plain.parse::<Link>(), Err(ParseLinkError::NotALink));
            let cut = &text.expose()[..text.expose().len() - 60];
            assert!(cut.parse::<Link>().is_err());
        }
        assert_eq!("https://h/#x".parse::<Link>(), Err(ParseLinkError::NotALink));
    }
}
