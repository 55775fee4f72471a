//! Who is who, and what stays secret: the installation's certificate authority, TLS between its
//! parts, tokens, passwords, data sealed at rest, and texts without secrets.
//!
//! Nothing here is async and nothing reads a clock: callers pass the time in. There is no insecure
//! mode: every TLS configuration made here checks its peer, except [`tls::first_contact`], whose only
//! use is to show a person the fingerprint of the authority before any secret is sent.
//!
//! Reading order is the order of the modules below.

pub mod secret;

pub mod aws;
pub mod join;
pub mod jwt;
pub mod link;
pub mod mac;
pub mod password;
pub mod scrub;
pub mod seal;
pub mod totp;
pub mod webhook;

pub mod keyring;
pub mod lock;

pub mod authority;
pub mod bundle;
pub mod certificate;
pub mod tls;

pub use authority::{Authority, Issued, NodeKey};
pub use bundle::AuthorityBundle;
pub use certificate::{AuthorityCertificate, Fingerprint, PeerCertificate, PeerIdentity};
pub use join::JoinTicket;
pub use keyring::Keyring;
pub use link::Link;
pub use lock::{Lock, LockKey, LockKind, StreamKey};
pub use seal::MasterKey;
pub use secret::{SecretBytes, SecretString, SecretToken, TokenKind};
pub use totp::TotpSecret;
