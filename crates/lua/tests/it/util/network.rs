//! `network`, against servers and programs of ours.

use std::sync::Arc;

use hostler_model::workflow::StepEnd;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, UdpSocket};

use super::{World, alone};

async fn run(world: &World, text: &str) {
    let result = world.step(text).await;
    assert_eq!(result.end, StepEnd::Succeeded, "{}", result.message);
}

#[test]
fn open_ports_are_found_and_what_they_say_is_heard() {
    alone(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::task::spawn_local(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::task::spawn_local(async move {
                    stream.write_all(b"hello\n").await.ok();
                    let mut heard = [0; 4];
                    if stream.read_exact(&mut heard).await.is_ok() {
                        stream.write_all(&heard).await.ok();
                    }
                });
            }
        });
        let world = World::new().with("PORT", &port.to_string());
        run(
            &world,
            "local port = tonumber(os.getenv('PORT')) or 1
             assert(network.port_check('127.0.0.1', port))
             local r = network.port_scan('localhost', { port, 1, 2 }, 2)
             assert(r.open[1] == port and #r.closed == 2 and r.total_scanned == 3)
             local t = network.telnet('127.0.0.1', port, { send = 'ping', timeout = 5 })
             assert(t.connected and t.output == 'hello\\nping')
             local l = network.latency_test('127.0.0.1', { port = port, count = 3 })
             assert(l.success and l.lost == 0 and l.min <= l.avg and l.avg <= l.max)
             local none, why = network.port_scan('nowhere.invalid', { 1 })
             assert(none == nil and why)",
        )
        .await;
    });
}

/// A name server that has one answer for everything: two mail hosts, cut off by UDP.
async fn name_server() -> u16 {
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = tcp.local_addr().unwrap().port();
    let udp = UdpSocket::bind(("127.0.0.1", port)).await.unwrap();
    tokio::task::spawn_local(async move {
        let mut question = [0; 512];
        while let Ok((length, from)) = udp.recv_from(&mut question).await {
            let mut answer = question[..length].to_vec();
            // An answer with another id comes first, as of somebody who guesses.
            let mut forged = answer.clone();
            forged[0] ^= 1;
            forged[2] = 0x81;
            udp.send_to(&forged, from).await.ok();
            answer[2] = 0x83;
            udp.send_to(&answer, from).await.ok();
        }
    });
    tokio::task::spawn_local(async move {
        while let Ok((mut stream, _)) = tcp.accept().await {
            let length = usize::from(stream.read_u16().await.unwrap());
            let mut answer = vec![0; length];
            stream.read_exact(&mut answer).await.unwrap();
            answer[2] = 0x81;
            answer[7] = 2;
            for (priority, label) in [(20, b'b'), (10, b'a')] {
                answer.extend_from_slice(&[0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 60, 0, 6]);
                answer.extend_from_slice(&[0, priority, 1, label, 0xc0, 12]);
            }
            let length = u16::try_from(answer.len()).unwrap();
            stream.write_u16(length).await.unwrap();
            stream.write_all(&answer).await.unwrap();
        }
    });
    port
}

#[test]
fn names_are_asked_for_and_forged_answers_are_not_believed() {
    alone(async {
        let port = name_server().await;
        let world = World::new().with("SERVER", &format!("127.0.0.1:{port}"));
        run(
            &world,
            "local server = os.getenv('SERVER')
             if server then
               local mx = network.mx_lookup('example.org', { server = server, timeout = 5 })
               assert(#mx == 2 and mx[1].host == 'a.example.org' and mx[1].priority == 10 and mx[2].priority == 20)
               local none, why = network.dns_lookup('example.org', 'txt', { server = server })
               assert(none == nil and why:find('TXT'))
               assert(network.dns_lookup('localhost')[1] == '127.0.0.1')
               local none, why = network.dns_lookup('x', 'MX', { server = 'nonsense' })
               assert(none == nil and why:find('nonsense'))
             end",
        )
        .await;
    });
}

#[test]
fn programs_are_used_and_missed() {
    let ping = "echo ping \"$@\" > asked\necho '3 packets transmitted, 2 received, 33% packet loss'\necho 'rtt min/avg/max/mdev = 1.0/2.0/3.0/0.1 ms'";
    let traceroute =
        "echo 'traceroute to x'\necho ' 1  10.0.0.1  0.5 ms  0.6 ms *'\necho ' 2  * * *'";
    let world = World::new()
        .with_program("ping", ping)
        .with_program("traceroute", traceroute)
        .with_program("whois", "echo \"domain: $1\"")
        .with_program("getent", "echo \"$2 one.example two.example\"");
    world.run(
        "local r = network.ping('example.org', { count = 3, timeout = 1 })
         assert(r.success and r.sent == 3 and r.received == 2 and r.avg == 2 and math.floor(r.loss) == 33)
         assert(fs.read('asked') == 'ping -n -c 3 -W 1 example.org\\n')
         local t = network.traceroute('example.org')
         assert(#t.hops == 2 and t.hops[1].address == '10.0.0.1' and t.hops[1].times[2] == 0.6 and #t.hops[2].times == 0)
         assert(network.whois('example.org'):find('domain: example.org'))
         assert(network.reverse_dns('192.0.2.1')[2] == 'two.example')",
    );
    let bare = World::new().with("PATH", "/nowhere");
    bare.run(
        "for _, f in { network.ping, network.traceroute, network.whois } do
           local none, why = f('example.org')
           assert(none == nil and why:find('is not installed here'))
         end
         for _, bad in { '-f', 'a;b', '$(x)', '' } do
           local none, why = network.ping(bad)
           assert(none == nil and why:find('cannot be a host'))
         end",
    );
}

#[test]
fn a_certificate_is_shown_whether_it_is_believed_or_not() {
    alone(async {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::task::spawn_local(async move {
            while let Ok((stream, _)) = listener.accept().await {
                acceptor.accept(stream).await.ok();
            }
        });
        let world = World::new().with("PORT", &port.to_string());
        run(
            &world,
            "local port = tonumber(os.getenv('PORT')) or 1
             local c, why = network.ssl_check('localhost', port)
             assert(c, why)
             assert(c.valid == false and c.error and c.names[1] == 'localhost' and c.protocol == 'TLS 1.3')
             assert(c.days_left > 300 and c.not_after > c.not_before)
             local r, why = http.get('https://localhost:' .. port .. '/')
             assert(r == nil and why:find('certificate'), why)",
        )
        .await;
    });
}
