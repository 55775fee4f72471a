//! What a person pastes on a new machine: `<join token>.<fingerprint of the authority in hex>`.
//!
//! The token proves to the server that the machine may join; the fingerprint proves to the machine
//! that it talks to the right server, before it sends the token. The server's address travels apart.

use std::fmt;
use std::str::FromStr;

use crate::certificate::{Fingerprint, ParseFingerprintError};
use crate::secret::{ParseTokenError, SecretString, SecretToken, TokenKind};

#[derive(Clone, PartialEq, Eq)]
pub struct JoinTicket {
    pub token: SecretToken,
    pub authority: Fingerprint,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseTicketError {
    #[error(
        "the join ticket has no fingerprint (`<token>.<fingerprint>`); copy it again, whole, or make \
         another with `hostler node token create`"
    )]
    NoFingerprint,
    #[error("the token in the join ticket cannot be used")]
    Token(#[source] ParseTokenError),
    #[error("the fingerprint in the join ticket cannot be read")]
    Fingerprint(#[source] ParseFingerprintError),
}

impl JoinTicket {
    /// The text to show once.
    pub fn encode(&self) -> SecretString {
        SecretString::new(format!("{}.{}", self.token.expose(), self.authority.hex()))
    }
}

impl FromStr for JoinTicket {
    type Err = ParseTicketError;

    fn from_str(text: &str) -> Result<JoinTicket, ParseTicketError> {
        let (token, authority) =
            text.trim().split_once('.').ok_or(ParseTicketError::NoFingerprint)?;
        Ok(JoinTicket {
            token: SecretToken::parse(token, TokenKind::Join).map_err(ParseTicketError::Token)?,
            authority: authority.parse().map_err(ParseTicketError::Fingerprint)?,
        })
    }
}

impl fmt::Debug for JoinTicket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}.{}", self.token, self.authority.hex())
    }
}
