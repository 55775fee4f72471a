//! Exchanges: what goes out, what comes back, and what is too slow or too much.

use std::io::Write;
use std::time::{Duration, Instant};

use hostler_egress::{Error, Limits, Request};
use http::HeaderValue;

use crate::world::*;

const LOCAL: &[&str] = &["127.0.0.1"];

#[tokio::test]
async fn a_request_goes_out_and_its_answer_comes_back() {
    let server = Server::saying(ok("fine"));
    let door = door(LOCAL);
    let request = Request::post(&server.url("/in?x=1"))
        .unwrap()
        .bearer("s3cret")
        .unwrap()
        .body(HeaderValue::from_static("text/plain"), "content");
    assert!(!format!("{request:?}").contains("s3cret"));
    let answer = door.send(request).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.body[..]), (200, &b"fine"[..]));
    let seen = server.seen().remove(0);
    assert!(seen.starts_with("POST /in?x=1 HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains(&format!("host: 127.0.0.1:{}\r\n", server.port)), "{seen}");
    assert!(seen.contains("authorization: Bearer s3cret\r\n") && seen.ends_with("\r\n\r\ncontent"));
    assert_eq!(door.counts().answered, 1);
}

#[tokio::test]
async fn any_status_is_an_answer() {
    let server = Server::saying("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy");
    let answer = door(LOCAL).send(Request::get(&server.url("/")).unwrap()).await.unwrap();
    assert_eq!((answer.status.as_u16(), &answer.body[..]), (503, &b"busy"[..]));
}

#[tokio::test]
async fn a_large_answer_is_cut_off() {
    let announced = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n");
    let endless = Server::start(|_, stream| {
        let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let chunked = Server::start(|_, stream| {
        let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        let part = [b"1000\r\n".as_slice(), &[b'x'; 4096], b"\r\n"].concat();
        while stream.write_all(&part).is_ok() {}
    });
    for server in [announced, endless, chunked] {
        let request = Request::get(&server.url("/")).unwrap().answer_max(100_000);
        let error = door(LOCAL).send(request).await.unwrap_err();
        assert!(matches!(error, Error::TooLarge { max: 100_000, .. }), "{error:?}");
    }
    let fits = Server::saying(ok(&"y".repeat(1000)));
    let request = Request::get(&fits.url("/")).unwrap().answer_max(1000);
    assert_eq!(door(LOCAL).send(request).await.unwrap().body.len(), 1000);
}

#[tokio::test]
async fn a_huge_head_is_cut_off() {
    let server = Server::start(|_, stream| {
        let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nX-Long: ");
        while stream.write_all(&[b'x'; 4096]).is_ok() {}
    });
    let error = door(LOCAL).send(Request::get(&server.url("/")).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Http { .. }), "{error:?}");
}

#[tokio::test]
async fn a_slow_answer_is_given_up() {
    let dripping = Server::start(|_, stream| {
        let _gone = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        let (_kept, pause) = std::sync::mpsc::channel::<()>();
        while stream.write_all(b"x").is_ok() {
            let _nothing_comes = pause.recv_timeout(Duration::from_millis(20));
        }
    });
    let silent = Server::start(|_, _| {
        let nothing = std::sync::mpsc::channel::<()>();
        let _nothing_comes = nothing.1.recv_timeout(Duration::from_secs(60));
    });
    for server in [dripping, silent] {
        let began = Instant::now();
        let limit = Duration::from_millis(300);
        let request = Request::get(&server.url("/")).unwrap().time_max(limit);
        let error = door(LOCAL).send(request).await.unwrap_err();
        assert!(matches!(error, Error::Timeout { .. }), "{error:?}");
        assert!(began.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn a_broken_answer_is_an_error() {
    for text in
        ["", "220 mail.example ESMTP\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"]
    {
        let server = Server::saying(text);
        let error = door(LOCAL).send(Request::get(&server.url("/")).unwrap()).await.unwrap_err();
        assert!(matches!(error, Error::Http { .. }), "{text}: {error:?}");
    }
    let limits = Limits { connect: Duration::from_secs(2), ..Limits::default() };
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let request = Request::get(&format!("http://127.0.0.1:{nobody}/path?secret")).unwrap();
    let error = door_with(LOCAL, None, limits).send(request).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(!words(&error).contains("secret"), "{}", words(&error));
}

#[test]
fn only_http_is_spoken_and_credentials_are_not_in_urls() {
    for url in [
        "file:///etc/passwd",
        "gopher://a.example/",
        "ftp://a.example/",
        "unix:/run/docker.sock",
        "javascript:1",
        "/relative",
        "",
        "https://",
        "https://user:word@a.example/",
        "https://user@a.example/",
        "http://a.example:0/",
    ] {
        assert!(matches!(Request::get(url), Err(Error::Url(_))), "{url}");
    }
    assert!(Request::get("HTTPS://A.example/x").is_ok());
}

#[tokio::test]
async fn a_certificate_must_be_believed() {
    let (port, pem) = tls_server("inside.example", ok("sealed"));
    let names = Names::of(&[("inside.example", &["127.0.0.1"]), ("other.example", &["127.0.0.1"])]);
    let with = |authorities_pem: Option<Vec<u8>>| {
        hostler_egress::Egress::new(hostler_egress::Options {
            policy: hostler_egress::Policy {
                allow: vec!["127.0.0.1".parse().unwrap()],
                ..Default::default()
            },
            authorities_pem,
            resolver: Some(names.clone()),
            ..Default::default()
        })
    };
    let request = |host: &str| Request::get(&format!("https://{host}:{port}/")).unwrap();
    let stranger = with(None).send(request("inside.example")).await.unwrap_err();
    assert!(matches!(stranger, Error::Tls { .. }), "{stranger:?}");
    assert!(stranger.to_string().contains("egress.authorities"));
    let believing = with(Some(pem.clone().into_bytes()));
    let answer = believing.send(request("inside.example")).await.unwrap();
    assert_eq!(&answer.body[..], b"sealed");
    let wrong_name = believing.send(request("other.example")).await.unwrap_err();
    assert!(matches!(wrong_name, Error::Tls { .. }), "{wrong_name:?}");

    let only = with(None).believing_only(pem.into_bytes());
    let answer = only.send(request("inside.example")).await.unwrap();
    assert_eq!(&answer.body[..], b"sealed");
    assert_eq!(only.counts().answered, 1);
    let (_, other) = tls_server("inside.example", ok("sealed"));
    let wrong_authority = believing.believing_only(other.into_bytes());
    let error = wrong_authority.send(request("inside.example")).await.unwrap_err();
    assert!(matches!(error, Error::Tls { .. }), "{error:?}");
    assert_eq!(believing.counts().failed, 2, "doors made from one another count together");
}
