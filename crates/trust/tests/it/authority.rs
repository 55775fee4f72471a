//! What certificates say, and whose requests are signed.

use std::time::Duration;

use hostler_model::{NodeId, ServerId, Timestamp};
use hostler_trust::authority::Error;
use hostler_trust::certificate::{AuthorityCertificate, PeerCertificate};
use hostler_trust::{Authority, Fingerprint, NodeKey, PeerIdentity, SecretString};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use uuid::Uuid;

const NOW: Timestamp = Timestamp::from_micros(1_790_000_000_123_456);
const DAY: Duration = Duration::from_hours(24);

fn node_id() -> NodeId {
    NodeId::from_uuid(Uuid::from_u128(7))
}

#[test]
fn an_authority_survives_storage() {
    let made = Authority::create(NOW, "test installation").unwrap();
    let read = Authority::from_pem(&made.certificate_pem(), &made.key_pem()).unwrap();
    assert_eq!(read.fingerprint(), made.fingerprint());
    assert_eq!(read.certificate(), made.certificate());

    let text = made.fingerprint().to_string();
    assert!(text.starts_with("sha256:") && text.len() == 7 + 64, "{text}");
    assert_eq!(text.parse::<Fingerprint>().unwrap(), made.fingerprint());
    assert_eq!(made.fingerprint().hex().parse::<Fingerprint>().unwrap(), made.fingerprint());

    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    assert!(read.sign_node(&csr, node_id(), NOW, DAY).is_ok());
}

#[test]
fn an_authority_needs_its_own_key() {
    let one = Authority::create(NOW, "one").unwrap();
    let two = Authority::create(NOW, "two").unwrap();
    let mixed = Authority::from_pem(&one.certificate_pem(), &two.key_pem());
    assert!(matches!(mixed, Err(Error::KeyMismatch)));
    let broken = Authority::from_pem(&one.certificate_pem(), &SecretString::new("no key"));
    assert!(matches!(broken, Err(Error::Key(_))));
}

#[test]
fn a_leaf_is_not_taken_for_an_authority() {
    let authority = Authority::create(NOW, "test").unwrap();
    let key = NodeKey::generate().unwrap();
    let issued = authority.sign_node(&key.csr_pem().unwrap(), node_id(), NOW, DAY).unwrap();
    assert!(AuthorityCertificate::from_pem(&issued.chain_pem).is_err());
    assert!(AuthorityCertificate::from_pem("nothing").is_err());
}

#[test]
fn a_node_certificate_says_what_the_server_decided() {
    let authority = Authority::create(NOW, "test").unwrap();
    let key = NodeKey::generate().unwrap();
    let issued = authority.sign_node(&key.csr_pem().unwrap(), node_id(), NOW, DAY).unwrap();
    let read = PeerCertificate::from_pem(&issued.chain_pem).unwrap();
    assert_eq!(read.identity, PeerIdentity::Node(node_id()));
    assert_eq!(read.serial, issued.serial);
    assert_eq!(read.time_expires, issued.time_expires);
    assert_eq!(read.time_begins, issued.time_begins);
    assert_eq!(
        issued.time_expires.since(NOW).as_secs(),
        DAY.as_secs() - 1,
        "rounded down to the second"
    );
    assert_eq!(issued.serial.len(), 32);
    assert_eq!(issued.chain_pem.matches("BEGIN CERTIFICATE").count(), 2);
}

#[test]
fn names_in_a_request_are_ignored() {
    let authority = Authority::create(NOW, "test").unwrap();
    let key = KeyPair::generate().unwrap();
    let mut greedy = CertificateParams::new(vec!["control.example".to_owned()]).unwrap();
    let server = PeerIdentity::Server(ServerId::from_uuid(Uuid::from_u128(1)));
    greedy.subject_alt_names.push(rcgen::SanType::URI(server.uri().as_str().try_into().unwrap()));
    greedy.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    greedy.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let csr = greedy.serialize_request(&key).unwrap().pem().unwrap();

    let issued = authority.sign_node(&csr, node_id(), NOW, DAY).unwrap();
    let read = PeerCertificate::from_pem(&issued.chain_pem).unwrap();
    assert_eq!(read.identity, PeerIdentity::Node(node_id()));
    assert!(AuthorityCertificate::from_pem(&issued.chain_pem).is_err());
}

#[test]
fn a_request_must_be_signed_by_its_key() {
    let authority = Authority::create(NOW, "test").unwrap();
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let mut der = pem_body(&csr);
    let last = der.len() - 1;
    der[last] ^= 1;
    let forged = pem_text(&der);
    let refused = authority.sign_node(&forged, node_id(), NOW, DAY);
    assert!(matches!(refused, Err(Error::RequestSignature(_))), "{refused:?}");
    for garbage in ["", "-----BEGIN CERTIFICATE REQUEST-----", &pem_text(b"xx")] {
        let refused = authority.sign_node(garbage, node_id(), NOW, DAY);
        assert!(matches!(refused, Err(Error::RequestUnreadable)));
    }
}

#[test]
fn other_kinds_of_keys_are_refused() {
    let authority = Authority::create(NOW, "test").unwrap();
    for algorithm in [&rcgen::PKCS_ECDSA_P384_SHA384, &rcgen::PKCS_ED25519] {
        let key = KeyPair::generate_for(algorithm).unwrap();
        let csr = CertificateParams::default().serialize_request(&key).unwrap().pem().unwrap();
        let refused = authority.sign_node(&csr, node_id(), NOW, DAY);
        assert!(matches!(refused, Err(Error::RequestKey)), "{refused:?}");
    }
}

#[test]
fn nothing_outlives_the_authority() {
    let authority = Authority::create(NOW, "test").unwrap();
    let end = authority.certificate().time_expires();
    let csr = NodeKey::generate().unwrap().csr_pem().unwrap();
    let late = authority.sign_node(&csr, node_id(), end.minus(DAY), 30 * DAY).unwrap();
    assert_eq!(late.time_expires, end);
    let too_late = authority.sign_node(&csr, node_id(), end, DAY);
    assert!(matches!(too_late, Err(Error::Expired)));
}

#[test]
fn server_names_are_checked() {
    let authority = Authority::create(NOW, "test").unwrap();
    let id = ServerId::from_uuid(Uuid::from_u128(1));
    let names = ["control.example", "10.0.0.1", "::1", "localhost"].map(String::from);
    let (issued, identity) = authority.issue_server(id, &names, NOW, DAY).unwrap();
    assert_eq!(identity.chain_pem, issued.chain_pem);
    assert_eq!(identity.certificate().unwrap().identity, PeerIdentity::Server(id));
    let refused = authority.issue_server(id, &["not a name".to_owned()], NOW, DAY);
    assert!(matches!(refused, Err(Error::Name(name)) if name == "not a name"));
}

#[test]
fn keys_survive_storage() {
    let key = NodeKey::generate().unwrap();
    let read = NodeKey::from_pem(&key.pem()).unwrap();
    assert_eq!(read.pem(), key.pem());
    assert_eq!(format!("{key:?}"), "NodeKey([secret])");
}

fn pem_body(pem: &str) -> Vec<u8> {
    use base64::Engine;
    let body: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    base64::engine::general_purpose::STANDARD.decode(body).unwrap()
}

fn pem_text(der: &[u8]) -> String {
    use base64::Engine;
    let body = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN CERTIFICATE REQUEST-----\n{body}\n-----END CERTIFICATE REQUEST-----\n")
}

#[test]
fn a_statement_is_signed_for_one_purpose_by_one_authority() {
    let one = Authority::create(NOW, "one").unwrap();
    let two = Authority::create(NOW, "two").unwrap();
    let signature = one.sign_statement("anchor", b"here").unwrap();
    let read = AuthorityCertificate::from_pem(&one.certificate_pem()).unwrap();
    assert!(read.has_signed("anchor", b"here", &signature));
    assert!(!read.has_signed("anchor", b"there", &signature));
    assert!(!read.has_signed("anchor2", b"here", &signature));
    assert!(!read.has_signed("anchor", b"", &signature));
    assert!(!two.certificate().has_signed("anchor", b"here", &signature));
    for at in [0, signature.len() / 2, signature.len() - 1] {
        let mut bent = signature.clone();
        bent[at] ^= 1;
        assert!(!read.has_signed("anchor", b"here", &bent));
    }
    assert!(!read.has_signed("anchor", b"here", &[]));
}
