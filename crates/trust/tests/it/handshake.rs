//! Handshakes in memory: who gets through to whom.

use std::sync::Arc;
use std::time::Duration;

use hostler_model::{NodeId, ServerId, Timestamp};
use hostler_trust::certificate::{Identity, peer_identity};
use hostler_trust::{
    Authority, AuthorityBundle, Fingerprint, NodeKey, PeerIdentity, SecretString, tls,
};
use rcgen::{CertificateParams, ExtendedKeyUsagePurpose, Issuer, KeyPair, SanType};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, ServerConfig, ServerConnection};
use uuid::Uuid;

const DAY: Duration = Duration::from_hours(24);

/// Real time: the handshake looks at the machine's clock.
#[expect(clippy::disallowed_methods, reason = "rustls reads the same clock")]
fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::EPOCH.plus(since)
}

fn server_id() -> ServerId {
    ServerId::from_uuid(Uuid::from_u128(1))
}

fn node_id() -> NodeId {
    NodeId::from_uuid(Uuid::from_u128(2))
}

fn server(authority: &Authority) -> Identity {
    server_at(authority, now())
}

fn server_at(authority: &Authority, time: Timestamp) -> Identity {
    authority.issue_server(server_id(), &["control.example".to_owned()], time, DAY).unwrap().1
}

fn node(authority: &Authority) -> Identity {
    node_at(authority, now())
}

fn node_at(authority: &Authority, time: Timestamp) -> Identity {
    let key = NodeKey::generate().unwrap();
    let issued = authority.sign_node(&key.csr_pem().unwrap(), node_id(), time, DAY).unwrap();
    key.identity(issued.chain_pem)
}

/// Shakes hands under a name that no certificate has; returns both ends or the first error.
fn shake(
    client: ClientConfig,
    server: ServerConfig,
) -> Result<(ClientConnection, ServerConnection), rustls::Error> {
    let name = ServerName::try_from("somewhere.else").unwrap();
    let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
    let mut server = ServerConnection::new(Arc::new(server)).unwrap();
    for _ in 0..10 {
        let mut wire = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut wire).unwrap();
        }
        feed_server(&mut server, &wire)?;
        let mut wire = Vec::new();
        while server.wants_write() {
            server.write_tls(&mut wire).unwrap();
        }
        feed_client(&mut client, &wire)?;
    }
    assert!(!client.is_handshaking() && !server.is_handshaking());
    Ok((client, server))
}

fn feed_server(server: &mut ServerConnection, mut wire: &[u8]) -> Result<(), rustls::Error> {
    while !wire.is_empty() {
        server.read_tls(&mut wire).unwrap();
        server.process_new_packets()?;
    }
    Ok(())
}

fn feed_client(client: &mut ClientConnection, mut wire: &[u8]) -> Result<(), rustls::Error> {
    while !wire.is_empty() {
        client.read_tls(&mut wire).unwrap();
        client.process_new_packets()?;
    }
    Ok(())
}

#[test]
fn a_node_and_a_server_know_each_other() {
    let authority = Authority::create(now(), "test").unwrap();
    let client = tls::client(authority.certificate(), Some(&node(&authority))).unwrap();
    let listener = tls::server_mutual(&server(&authority), authority.certificate()).unwrap();
    let (client, server) = shake(client, listener).unwrap();
    let seen = server.peer_certificates().unwrap();
    assert_eq!(peer_identity(&seen[0]).unwrap(), PeerIdentity::Node(node_id()));
    let seen = client.peer_certificates().unwrap();
    assert_eq!(peer_identity(&seen[0]).unwrap(), PeerIdentity::Server(server_id()));
    assert_eq!(client.protocol_version(), Some(rustls::ProtocolVersion::TLSv1_3));
}

#[test]
fn servers_can_call_each_other() {
    let authority = Authority::create(now(), "test").unwrap();
    let client = tls::client(authority.certificate(), Some(&server(&authority))).unwrap();
    let listener = tls::server_mutual(&server(&authority), authority.certificate()).unwrap();
    assert!(shake(client, listener).is_ok());
}

#[test]
fn a_node_cannot_pose_as_a_server() {
    let authority = Authority::create(now(), "test").unwrap();
    let client = tls::client(authority.certificate(), None).unwrap();
    let listener = tls::server_public(&node(&authority)).unwrap();
    let error = shake(client, listener).unwrap_err();
    assert!(matches!(error, rustls::Error::InvalidCertificate(_)), "{error}");
}

#[test]
fn a_certificate_for_servers_without_the_role_of_one_is_refused() {
    let authority = Authority::create(now(), "test").unwrap();
    let issuer_key = KeyPair::from_pem(authority.key_pem().expose()).unwrap();
    let issuer = Issuer::from_ca_cert_pem(&authority.certificate_pem(), issuer_key).unwrap();
    let server_uri = PeerIdentity::Server(server_id()).uri();
    let node_uri = PeerIdentity::Node(node_id()).uri();
    let cases: [(&[&str], bool); 5] = [
        (&[&server_uri], true),
        (&[&node_uri], false),
        (&[&server_uri, &node_uri], false),
        (&["https://elsewhere.example/server"], false),
        (&[], false),
    ];
    for (uris, is_accepted) in cases {
        let mut params = CertificateParams::new(vec!["somewhere.else".to_owned()]).unwrap();
        for uri in uris {
            let name = (*uri).try_into().unwrap();
            params.subject_alt_names.push(SanType::URI(name));
        }
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = KeyPair::generate().unwrap();
        let leaf = params.signed_by(&key, &issuer).unwrap();
        let identity = Identity {
            chain_pem: leaf.pem() + &authority.certificate_pem(),
            key_pem: SecretString::new(key.serialize_pem()),
        };
        let client = tls::client(authority.certificate(), None).unwrap();
        let outcome = shake(client, tls::server_public(&identity).unwrap());
        assert_eq!(outcome.is_ok(), is_accepted, "{uris:?}");
    }
}

#[test]
fn a_foreign_authority_is_refused_by_both_sides() {
    let ours = Authority::create(now(), "ours").unwrap();
    let theirs = Authority::create(now(), "theirs").unwrap();

    let client = tls::client(ours.certificate(), None).unwrap();
    let listener = tls::server_public(&server(&theirs)).unwrap();
    assert!(shake(client, listener).is_err());

    let client = tls::client(ours.certificate(), Some(&node(&theirs))).unwrap();
    let listener = tls::server_mutual(&server(&ours), ours.certificate()).unwrap();
    assert!(shake(client, listener).is_err());
}

#[test]
fn an_authority_of_the_same_name_is_still_foreign() {
    let ours = Authority::create(now(), "same").unwrap();
    let theirs = Authority::create(now(), "same").unwrap();
    let client = tls::client(ours.certificate(), None).unwrap();
    let listener = tls::server_public(&server(&theirs)).unwrap();
    assert!(shake(client, listener).is_err());
}

#[test]
fn expired_and_early_certificates_are_refused() {
    let long_ago = now().minus(30 * DAY);
    let authority = Authority::create(long_ago, "test").unwrap();

    let client = tls::client(authority.certificate(), None).unwrap();
    let listener = tls::server_public(&server_at(&authority, long_ago)).unwrap();
    assert!(shake(client, listener).is_err());

    let client =
        tls::client(authority.certificate(), Some(&node_at(&authority, long_ago))).unwrap();
    let listener = tls::server_mutual(&server(&authority), authority.certificate()).unwrap();
    assert!(shake(client, listener).is_err());

    let client = tls::client(authority.certificate(), None).unwrap();
    let listener = tls::server_public(&server_at(&authority, now().plus(DAY))).unwrap();
    assert!(shake(client, listener).is_err());
}

#[test]
fn a_client_certificate_is_required() {
    let authority = Authority::create(now(), "test").unwrap();
    let client = tls::client(authority.certificate(), None).unwrap();
    let listener = tls::server_mutual(&server(&authority), authority.certificate()).unwrap();
    let error = shake(client, listener).unwrap_err();
    assert_eq!(error, rustls::Error::NoCertificatesPresented);
}

#[test]
fn first_contact_shows_the_authority_that_issued_the_server() {
    let authority = Authority::create(now(), "test").unwrap();
    let (client, captured) = tls::first_contact().unwrap();
    assert!(captured.authority(now()).is_err());
    let listener = tls::server_public(&server(&authority)).unwrap();
    shake(client, listener).unwrap();
    let pinned = captured.authority(now()).unwrap();
    assert_eq!(&pinned, authority.certificate());
    let client = tls::client(&pinned, None).unwrap();
    let listener = tls::server_public(&server(&authority)).unwrap();
    assert!(shake(client, listener).is_ok());
}

#[test]
fn first_contact_does_not_pin_an_authority_that_is_only_shown() {
    let ours = Authority::create(now(), "ours").unwrap();
    let theirs = Authority::create(now(), "theirs").unwrap();
    let mut false_front = server(&theirs);
    let leaf_end = false_front.chain_pem.find("-----END").unwrap() + 26;
    false_front.chain_pem.truncate(leaf_end);
    false_front.chain_pem.push_str(&ours.certificate_pem());

    let (client, captured) = tls::first_contact().unwrap();
    shake(client, tls::server_public(&false_front).unwrap()).unwrap();
    assert!(matches!(captured.authority(now()), Err(tls::Error::NotIssued(_))));

    let (client, _) = tls::client_by_fingerprint(ours.fingerprint()).unwrap();
    assert!(shake(client, tls::server_public(&false_front).unwrap()).is_err());
}

#[test]
fn a_joining_machine_trusts_only_the_fingerprint_it_was_given() {
    let ours = Authority::create(now(), "ours").unwrap();
    let theirs = Authority::create(now(), "theirs").unwrap();

    let (client, captured) = tls::client_by_fingerprint(ours.fingerprint()).unwrap();
    shake(client, tls::server_public(&server(&ours)).unwrap()).unwrap();
    assert_eq!(&captured.authority(now()).unwrap(), ours.certificate());

    let (client, captured) = tls::client_by_fingerprint(ours.fingerprint()).unwrap();
    assert!(shake(client, tls::server_public(&server(&theirs)).unwrap()).is_err());
    assert!(captured.chain().is_empty());

    let (client, _) = tls::client_by_fingerprint(ours.fingerprint()).unwrap();
    assert!(shake(client, tls::server_public(&node(&ours)).unwrap()).is_err());
}

/// A certificate that browsers would know, and a client like one of them.
fn operator() -> (Identity, ClientConfig) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["somewhere.else".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let identity =
        Identity { chain_pem: certificate.pem(), key_pem: SecretString::new(key.serialize_pem()) };
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let browser = ClientConfig::builder_with_provider(tls::provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (identity, browser)
}

#[test]
fn browsers_see_the_operators_certificate_and_our_clients_ours() {
    let authority = Authority::create(now(), "test").unwrap();
    let (shown, browser) = operator();
    let listener = || tls::server_public_showing(&server(&authority), Some(&shown)).unwrap();
    shake(browser.clone(), listener()).unwrap();
    let pinned = tls::client(authority.certificate(), None).unwrap();
    let (client, _) = shake(pinned, listener()).unwrap();
    let seen = client.peer_certificates().unwrap();
    assert_eq!(peer_identity(&seen[0]).unwrap(), PeerIdentity::Server(server_id()));
    let (joining, _) = tls::client_by_fingerprint(authority.fingerprint()).unwrap();
    shake(joining, listener()).unwrap();
    let (first, captured) = tls::first_contact().unwrap();
    shake(first, listener()).unwrap();
    assert_eq!(captured.authority(now()).unwrap().fingerprint(), authority.fingerprint());
    assert!(shake(browser, tls::server_public(&server(&authority)).unwrap()).is_err());
}

#[test]
fn a_key_that_does_not_belong_to_its_certificate_is_refused() {
    let authority = Authority::create(now(), "test").unwrap();
    let ((one, _), (two, _)) = (operator(), operator());
    let mixed = Identity { chain_pem: one.chain_pem, key_pem: two.key_pem };
    let refused = tls::server_public_showing(&server(&authority), Some(&mixed));
    assert!(matches!(refused, Err(tls::Error::Shown(_))), "{refused:?}");
}

#[test]
fn nobody_speaks_an_old_version() {
    let authority = Authority::create(now(), "test").unwrap();
    let (shown, _) = operator();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.certificate().der().clone()).unwrap();
    let old = ClientConfig::builder_with_provider(tls::provider())
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let listeners = [
        tls::server_public(&server(&authority)).unwrap(),
        tls::server_public_showing(&server(&authority), Some(&shown)).unwrap(),
        tls::server_mutual(&server(&authority), authority.certificate()).unwrap(),
    ];
    for listener in listeners {
        let refused = shake(old.clone(), listener).unwrap_err();
        assert!(matches!(refused, rustls::Error::PeerIncompatible(_)), "{refused:?}");
    }
}

/// Two authorities, of which one takes the place of the other, and the server's certificates: the old
/// one first.
fn both() -> (Authority, Authority, Vec<Identity>) {
    let old = Authority::create(now(), "old").unwrap();
    let new = Authority::create(now(), "new").unwrap();
    let faces = vec![server(&old), server(&new)];
    (old, new, faces)
}

fn bundle(first: &Authority, others: &[&Authority]) -> AuthorityBundle {
    let others = others.iter().map(|one| one.certificate().clone());
    AuthorityBundle::new(first.certificate().clone(), others)
}

/// The authority whose certificate the client was shown.
fn shown(client: ClientConfig, server: ServerConfig) -> Fingerprint {
    let (client, _) = shake(client, server).unwrap();
    Fingerprint::of(client.peer_certificates().unwrap().last().unwrap())
}

#[test]
fn everybody_is_shown_an_authority_they_know() {
    let (old, new, faces) = both();
    let listener = || tls::server_public_faces(&faces, None).unwrap();
    let knowing = |trusted: &AuthorityBundle| tls::client_of(trusted, None).unwrap();
    assert_eq!(shown(knowing(&bundle(&old, &[])), listener()), old.fingerprint());
    assert_eq!(shown(knowing(&bundle(&new, &[])), listener()), new.fingerprint());
    assert_eq!(shown(knowing(&bundle(&new, &[&old])), listener()), new.fingerprint());
    for authority in [&old, &new] {
        let wanted = authority.fingerprint();
        let (joining, _) = tls::client_by_fingerprint(wanted).unwrap();
        assert_eq!(shown(joining, listener()), wanted);
        let (first, captured) = tls::first_contact_wanting(Some(wanted)).unwrap();
        assert_eq!(shown(first, listener()), wanted);
        assert_eq!(captured.authority(now()).unwrap().fingerprint(), wanted);
    }
    let (first, _) = tls::first_contact().unwrap();
    assert_eq!(shown(first, listener()), old.fingerprint());
    let stranger = Authority::create(now(), "stranger").unwrap();
    assert!(shake(knowing(&bundle(&stranger, &[])), listener()).is_err());
}

#[test]
fn nodes_of_either_authority_get_in_until_one_is_dropped() {
    let (old, new, faces) = both();
    let trusted = bundle(&new, &[&old]);
    for (authority, known) in [
        (&old, bundle(&old, &[])),
        (&old, trusted.clone()),
        (&new, trusted.clone()),
        (&new, bundle(&new, &[])),
    ] {
        let client = tls::client_of(&known, Some(&node(authority))).unwrap();
        let listener = tls::server_mutual_faces(&faces, &trusted).unwrap();
        assert!(shake(client, listener).is_ok(), "{known:?}");
    }
    let after = || tls::server_mutual_faces(&faces[1..], &bundle(&new, &[])).unwrap();
    let client = tls::client_of(&trusted, Some(&node(&new))).unwrap();
    assert!(shake(client, after()).is_ok());
    let client = tls::client_of(&trusted, Some(&node(&old))).unwrap();
    assert!(shake(client, after()).is_err());
    let client = tls::client_of(&bundle(&old, &[]), Some(&node(&old))).unwrap();
    assert!(shake(client, after()).is_err());
}

#[test]
fn a_bundle_is_read_as_it_was_written() {
    let (old, new, _) = both();
    let trusted = bundle(&new, &[&old, &new]);
    assert_eq!(trusted.all().len(), 2);
    assert_eq!(AuthorityBundle::from_pem(&trusted.pem()).unwrap(), trusted);
    assert_eq!(AuthorityBundle::from_pem(&old.certificate_pem()).unwrap(), bundle(&old, &[]));
    assert!(trusted.has(old.fingerprint()) && trusted.has(new.fingerprint()));
    assert_ne!(trusted.mark(), bundle(&new, &[]).mark());
    for bad in ["", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert!(AuthorityBundle::from_pem(bad).is_err(), "{bad}");
    }
    assert!(AuthorityBundle::from_pem(&node(&old).chain_pem).is_err());
    let signature = old.sign_statement("test", b"said").unwrap();
    assert!(trusted.has_signed("test", b"said", &signature));
    assert!(!bundle(&new, &[]).has_signed("test", b"said", &signature));
}
