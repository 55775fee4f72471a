//! TCP and HTTP against real listeners.

use hostler_model::{HttpCheck, TcpCheck};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

async fn listener(address: &str) -> (TcpListener, u16) {
    let listener = TcpListener::bind((address, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The first finding about a check, while `server` serves.
async fn finding(check: HealthCheck, server: impl Future<Output = ()>) -> Health {
    let mut ward = Ward::in_real_time();
    let _handle = ward.watch(subject(1), vec![check]);
    tokio::select! {
        biased;
        event = ward.event() => event.health,
        () = async { server.await; std::future::pending().await } => unreachable!(),
    }
}

fn why(health: Health) -> String {
    match health {
        Health::Healthy => panic!("found healthy"),
        Health::Unhealthy { why, .. } => why,
    }
}

fn tcp(host: &str, port: u16) -> HealthCheck {
    quick(Check::Tcp(TcpCheck { host: host.to_owned(), port }))
}

fn http(port: u16, status: &[u16]) -> HealthCheck {
    quick(Check::Http(HttpCheck {
        host: "127.0.0.1".to_owned(),
        port,
        path: "/ready?now".to_owned(),
        status: status.to_vec(),
    }))
}

/// Answers every request with these bytes and then either hangs up or keeps the connection.
async fn answer(listener: &TcpListener, bytes: &[u8], is_kept: bool) {
    let mut kept = Vec::new();
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await.unwrap() > 0 {}
        let _ = stream.write_all(bytes).await;
        if is_kept {
            kept.push(stream);
        }
    }
}

async fn http_finding(bytes: &[u8], is_kept: bool, status: &[u16]) -> Health {
    let (listener, port) = listener("127.0.0.1").await;
    finding(http(port, status), answer(&listener, bytes, is_kept)).await
}

#[tokio::test]
async fn tcp_is_good_when_something_listens() {
    for address in ["127.0.0.1", "::1"] {
        let Ok(listener) = TcpListener::bind((address, 0)).await else {
            assert_eq!(address, "::1", "only IPv6 may be missing here");
            continue;
        };
        let port = listener.local_addr().unwrap().port();
        let names = if address == "::1" { ["::1", "[::1]"] } else { ["127.0.0.1", "localhost"] };
        for name in names {
            let found = finding(tcp(name, port), std::future::pending()).await;
            assert_eq!(found, Health::Healthy, "{name}");
        }
    }
}

#[tokio::test]
async fn tcp_is_bad_when_nothing_does() {
    let (listener, port) = listener("127.0.0.1").await;
    drop(listener);
    let found = why(finding(tcp("127.0.0.1", port), std::future::pending()).await);
    assert_eq!(found, format!("cannot connect to 127.0.0.1:{port}: Connection refused"));
}

#[tokio::test]
async fn a_name_that_does_not_exist_is_bad_for_its_own_check_only() {
    let (_listener, port) = listener("127.0.0.1").await;
    let mut ward = Ward::in_real_time();
    let lost = tcp("nowhere.invalid", port);
    let handle = ward.watch(subject(1), vec![lost, tcp("127.0.0.1", port)]);
    let Health::Unhealthy { check, .. } = ward.event().await.health else {
        panic!("found healthy");
    };
    assert_eq!(check, format!("tcp nowhere.invalid:{port}"));
    in_time(async {
        while handle.report()[1].health.is_none() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(handle.report()[1].health, Some(Known::Healthy));
}

#[tokio::test]
async fn http_answers_are_judged_by_their_status() {
    let page = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 2\r\n\r\nok");
    let cases: [(&str, &[u16], Option<&str>); 8] = [
        ("200 OK", &[], None),
        ("204 No Content", &[], None),
        ("301 Moved Permanently", &[], None),
        ("500 Internal Server Error", &[], Some("HTTP status 500")),
        ("404 Not Found", &[], Some("HTTP status 404")),
        ("404 Not Found", &[200, 404], None),
        ("200 OK", &[204], Some("HTTP status 200")),
        ("199 Odd", &[], Some("HTTP status 199")),
    ];
    for (status, listed, complaint) in cases {
        let found = http_finding(page(status).as_bytes(), false, listed).await;
        match complaint {
            None => assert_eq!(found, Health::Healthy, "{status}"),
            Some(complaint) => assert_eq!(why(found), complaint, "{status}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_keeps_the_connection_is_not_waited_for() {
    let page = b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n";
    let (listener, port) = listener("127.0.0.1").await;
    let found = finding(http(port, &[]), answer(&listener, page, true)).await;
    assert_eq!(found, Health::Healthy);
    let mut target = net::Target::new("127.0.0.1", port);
    let check = HttpCheck { host: String::new(), port, path: "/".to_owned(), status: vec![] };
    let manual = ManualClock::new(Timestamp::EPOCH);
    let clock = manual.clock();
    let asked = async {
        net::get(&mut target, &check).await.expect("good before anybody hangs up");
        tokio::join!(target.hang_up(&clock), async {
            manual.wait_for_sleepers(1).await;
            manual.advance(Duration::from_secs(1));
        });
    };
    tokio::select! {
        () = in_time(asked) => {}
        () = answer(&listener, page, true) => {}
    }
}

#[tokio::test]
async fn garbage_silence_and_endless_lines_are_bad() {
    let found = http_finding(b"SSH-2.0-OpenSSH_10\r\n", false, &[]).await;
    assert_eq!(why(found), "the answer is not HTTP; it begins with `SSH-2.0-OpenSSH_10`");
    let found = http_finding(b"", false, &[]).await;
    assert_eq!(why(found), "the connection was closed without an answer");
    let found = http_finding(&[b'x'; 100_000], true, &[]).await;
    assert!(why(found).starts_with("the answer is not HTTP; it begins with `xxxx"));
}

#[tokio::test]
async fn a_server_that_hangs_is_cut_at_the_timeout() {
    let (listener, port) = listener("127.0.0.1").await;
    let check = HealthCheck { timeout: Span::from_millis(50), ..http(port, &[]) };
    let found = finding(check, answer(&listener, b"", true)).await;
    assert_eq!(why(found), "no answer within 50ms");
    let check = HealthCheck { timeout: Span::from_millis(50), ..http(port, &[]) };
    let found = finding(check, answer(&listener, b"HTTP/1.1 2", true)).await;
    assert_eq!(why(found), "no answer within 50ms");
}

#[tokio::test]
async fn the_request_says_what_it_must() {
    let (listener, port) = listener("127.0.0.1").await;
    let mut ward = Ward::in_real_time();
    let _handle = ward.watch(subject(1), vec![http(port, &[])]);
    let (mut stream, _) = in_time(listener.accept()).await.unwrap();
    let mut request = Vec::new();
    in_time(async {
        while !request.ends_with(b"\r\n\r\n") {
            assert!(stream.read_buf(&mut request).await.unwrap() > 0);
        }
    })
    .await;
    let request = String::from_utf8(request).unwrap();
    assert!(request.starts_with("GET /ready?now HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("\r\nHost: 127.0.0.1:{port}\r\n")), "{request}");
    assert!(request.contains("\r\nConnection: close\r\n"), "{request}");
    stream.write_all(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n\r\n").await.unwrap();
    drop(stream);
    assert_eq!(ward.event().await, healthy(1));
}
