//! A certificate of the operator's, for browsers, while everything of ours goes on with its own.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use hostler_base::Clock;
use hostler_trust::Authority;
use rustix::process::Signal;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream};

use crate::rig::{Agent, Rig, Server, until};

/// An authority that browsers know, and the files that an operator has from it.
struct Operator {
    authority: Authority,
    chain: String,
    key: String,
}

impl Operator {
    fn new(name: &str) -> Operator {
        let now = Clock::system().now();
        let authority = Authority::create(now, name).unwrap();
        let id = hostler_base::Ids::system().fresh();
        let day = std::time::Duration::from_hours(24);
        let names = ["localhost".to_owned()];
        let (_, identity) = authority.issue_server(id, &names, now, day).unwrap();
        Operator { authority, chain: identity.chain_pem, key: identity.key_pem.expose().to_owned() }
    }

    /// What a browser that knows this authority gets, if it believes the server at all.
    fn browse(&self, address: SocketAddr) -> Option<String> {
        let mut roots = RootCertStore::empty();
        roots.add(self.authority.certificate().der().clone()).unwrap();
        let config = ClientConfig::builder_with_provider(hostler_trust::tls::provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut tls = ClientConnection::new(Arc::new(config), name).unwrap();
        let mut tcp = TcpStream::connect(address).unwrap();
        let mut wire = Stream::new(&mut tls, &mut tcp);
        wire.write_all(b"GET /livez HTTP/1.0\r\nHost: localhost\r\n\r\n").ok()?;
        let mut text = Vec::new();
        let _ended = wire.read_to_end(&mut text);
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

#[test]
fn browsers_see_the_operators_certificate_and_its_successor() {
    let rig = Rig::new();
    let (first, second) = (Operator::new("one"), Operator::new("two"));
    let (chain, key) = (rig.path("chain.pem"), rig.path("key.pem"));
    let write = |operator: &Operator| {
        std::fs::write(&chain, &operator.chain).unwrap();
        std::fs::write(&key, &operator.key).unwrap();
    };
    write(&first);
    let settings =
        format!("[tls]\ncertificate = '{}'\nkey = '{}'\n", chain.display(), key.display());
    let mut server = Server::configured(&rig, "server", &settings);
    let answer = first.browse(server.api).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=31536000\r\n"), "{answer}");
    assert!(second.browse(server.api).is_none());
    let cli = server.first_login(&rig);
    let _agent = Agent::join(&rig, &cli, &server, "n1");
    cli.wait_node("n1", "online");

    std::fs::write(&key, &second.key).unwrap();
    server.process.signal(Signal::HUP);
    server.process.line(&["cannot be replaced; the old one stays"]);
    assert!(first.browse(server.api).is_some(), "files that do not fit change nothing");
    write(&second);
    server.process.signal(Signal::HUP);
    until("the new certificate is shown", || second.browse(server.api));
    assert!(first.browse(server.api).is_none());
    cli.ok(&["node", "ls"]);
    assert_eq!(server.https().get("/livez").status, 200);
}

#[test]
fn a_certificate_that_cannot_be_used_stops_the_start() {
    let rig = Rig::new();
    let operator = Operator::new("one");
    let (chain, key) = (rig.path("chain.pem"), rig.path("key.pem"));
    std::fs::write(&chain, &operator.chain).unwrap();
    std::fs::write(&key, &Operator::new("two").key).unwrap();
    let config = rig.path("bad.toml");
    let settings =
        format!("[tls]\ncertificate = '{}'\nkey = '{}'\n", chain.display(), key.display());
    std::fs::write(&config, settings).unwrap();
    let data = rig.path("data");
    let cli = crate::rig::Cli::new(&rig);
    let words = ["server", "run", "--config", config.to_str().unwrap(), "--data-dir"];
    let ports = ["--listen", "127.0.0.1:0", "--agent-listen", "127.0.0.1:0"];
    let run = cli.run(&[&words, &[data.to_str().unwrap()][..], &ports].concat());
    assert!(run.code != 0 && run.err.contains("belong together"), "{run:?}");
}
