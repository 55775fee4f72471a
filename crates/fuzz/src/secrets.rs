//! Tokens, links, codes and certificates: what proves who somebody is.

use std::sync::LazyLock;
use std::time::Duration;

use hostler_model::{NodeId, Timestamp};
use hostler_trust::{
    Authority, AuthorityCertificate, Fingerprint, JoinTicket, Link, MasterKey, PeerCertificate,
    PeerIdentity, SecretToken, TotpSecret, password, totp,
};
use rustls::pki_types::CertificateDer;

use crate::text;

/// Tokens, join tickets and links: what was read is written as the same.
pub fn token(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(token) = text.parse::<SecretToken>() {
        assert_eq!(token.expose(), text.trim());
        assert!(!format!("{token:?}").contains(token.expose()));
    }
    if let Ok(ticket) = text.parse::<JoinTicket>() {
        let encoded = ticket.encode();
        let again: JoinTicket = encoded.expose().parse().expect("a ticket that was written");
        assert_eq!(again.encode().expose(), encoded.expose());
    }
    if let Ok(link) = text.parse::<Link>() {
        let encoded = link.encode();
        let again: Link = encoded.expose().parse().expect("a link that was written");
        assert_eq!(again.encode().expose(), encoded.expose());
    }
    if let Ok(print) = text.parse::<Fingerprint>() {
        assert_eq!(print.hex().parse::<Fingerprint>().ok(), Some(print));
    }
    let _key = text.parse::<MasterKey>();
}

/// What people type when they log in: codes of a second factor, and new passwords.
pub fn code(bytes: &[u8]) {
    const NOW: u64 = 1_700_000_000;
    let Some(text) = text(bytes) else { return };
    let secret = TotpSecret::from_bytes(b"a secret of twenty by");
    let plain = totp::plain(text);
    assert_eq!(totp::plain(&plain), plain);
    let found = secret.find_step(&plain, NOW, 0);
    assert!(found.is_none_or(|step| step.abs_diff(NOW / totp::STEP_SECONDS) <= 1));
    assert!(found.is_none() || totp::is_device_code(&plain), "{text:?}");
    let _hash = totp::recovery_hash("ada", &plain);
    let _problem = password::problem(text, "ada");
}

/// Certificates, and what machines that join ask to have signed. Nobody becomes another node by what they
/// ask for.
pub fn certificate(bytes: &[u8]) {
    static AUTHORITY: LazyLock<Authority> =
        LazyLock::new(|| Authority::create(now(), "fuzz").expect("an authority can be made"));
    let _peer = PeerCertificate::from_der(&CertificateDer::from(bytes));
    let _authority = AuthorityCertificate::from_der(&CertificateDer::from(bytes));
    let Some(text) = text(bytes) else { return };
    let _peer = PeerCertificate::from_pem(text);
    let _authority = AuthorityCertificate::from_pem(text);
    let node = "0192f0c1-2345-7890-abcd-ef0123456789".parse::<NodeId>().expect("an id");
    if let Ok(issued) = AUTHORITY.sign_node(text, node, now(), Duration::from_secs(3600)) {
        let peer = PeerCertificate::from_pem(&issued.chain_pem).expect("what was signed");
        assert_eq!(peer.identity, PeerIdentity::Node(node));
    }
}

fn now() -> Timestamp {
    Timestamp::from_micros(1_700_000_000_000_000)
}
