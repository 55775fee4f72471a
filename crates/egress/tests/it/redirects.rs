//! Where redirects may lead, and with what.

use hostler_egress::{Error, Limits, Request};
use http::HeaderValue;

use crate::world::*;

const LOCAL: &[&str] = &["127.0.0.1"];

fn problem(error: Error) -> &'static str {
    match error {
        Error::Redirect { problem, .. } => problem,
        error => panic!("{error:?}"),
    }
}

#[tokio::test]
async fn a_redirect_is_followed_and_credentials_stay_behind() {
    let end = Server::saying(ok("end"));
    let other = Server::redirecting(302, &end.url("/end"));
    let request = Request::get(&other.url("/start"))
        .unwrap()
        .bearer("s3cret")
        .unwrap()
        .secret_header(http::HeaderName::from_static("x-vault-token"), "s3cret")
        .unwrap()
        .header(http::header::COOKIE, HeaderValue::from_static("s3cret"))
        .header(http::header::ACCEPT, HeaderValue::from_static("text/plain"));
    let answer = door(LOCAL).send(request).await.unwrap();
    assert_eq!(&answer.body[..], b"end");
    assert_eq!(other.seen()[0].matches("s3cret").count(), 3);
    let seen = end.seen().remove(0);
    assert!(seen.starts_with("GET /end ") && seen.contains("accept: text/plain"), "{seen}");
    assert!(!seen.contains("s3cret"), "{seen}");
}

#[tokio::test]
async fn the_same_origin_keeps_its_credentials() {
    let server = Server::start(|number, stream| {
        let text = match number {
            0 => "HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n".to_owned(),
            _ => ok("there"),
        };
        let _gone = std::io::Write::write_all(stream, text.as_bytes());
    });
    let request = Request::post(&server.url("/here"))
        .unwrap()
        .bearer("s3cret")
        .unwrap()
        .body(HeaderValue::from_static("text/plain"), "content");
    assert_eq!(&door(LOCAL).send(request).await.unwrap().body[..], b"there");
    let seen = server.seen().remove(1);
    assert!(seen.starts_with("POST /there ") && seen.ends_with("content"), "{seen}");
    assert!(seen.contains("Bearer s3cret"), "{seen}");
}

#[tokio::test]
async fn content_does_not_go_to_another_origin() {
    let end = Server::saying(ok("end"));
    let post = |status| {
        let server = Server::redirecting(status, &end.url("/"));
        let request = Request::post(&server.url("/")).unwrap();
        (server, request.body(HeaderValue::from_static("text/plain"), "content"))
    };
    let (_server, request) = post(308);
    let error = door(LOCAL).send(request).await.unwrap_err();
    assert_eq!(problem(error), "a request with content to another host");
    assert!(end.seen().is_empty());
    let (_server, request) = post(303);
    assert_eq!(&door(LOCAL).send(request).await.unwrap().body[..], b"end");
    let seen = end.seen().remove(0);
    assert!(seen.starts_with("GET / ") && !seen.contains("content"), "{seen}");
}

#[tokio::test]
async fn a_redirect_is_judged_like_any_request() {
    for to in ["http://169.254.169.254/latest/", "http://10.0.0.1/", "http://[::1]:1/", "http://0/"]
    {
        let server = Server::redirecting(302, to);
        let error = door(LOCAL).send(Request::get(&server.url("/")).unwrap()).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{to}: {error:?}");
    }
    for to in ["file:///etc/passwd", "gopher://127.0.0.1/", "http://u:p@127.0.0.1/"] {
        let server = Server::redirecting(301, to);
        let error = door(LOCAL).send(Request::get(&server.url("/")).unwrap()).await.unwrap_err();
        assert_eq!(problem(error), "to what is not an address for HTTP", "{to}");
    }
}

#[tokio::test]
async fn a_redirect_does_not_cross_the_line() {
    let names = Names::of(&[("public.example", &["8.8.8.8"])]);
    let server = Server::redirecting(302, "http://public.example/");
    let door = door_with(LOCAL, Some(names), Limits::default());
    let error = door.send(Request::get(&server.url("/")).unwrap()).await.unwrap_err();
    assert_eq!(problem(error), "between the public network and what is inside");
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::redirecting(302, "/again");
    let error = door(LOCAL).send(Request::get(&server.url("/")).unwrap()).await.unwrap_err();
    assert_eq!(problem(error), "too often");
    assert_eq!(server.seen().len(), 4);
    let request = Request::get(&server.url("/")).unwrap().redirects(0);
    assert_eq!(door(LOCAL).send(request).await.unwrap().status.as_u16(), 302);
}

#[tokio::test]
async fn a_redirect_does_not_take_the_seal_off() {
    let plain = Server::saying(ok("plain"));
    let says =
        format!("HTTP/1.1 302 There\r\nLocation: {}\r\nContent-Length: 0\r\n\r\n", plain.url("/"));
    let (port, pem) = tls_server("localhost", says);
    let door = hostler_egress::Egress::new(hostler_egress::Options {
        policy: hostler_egress::Policy {
            allow: vec!["127.0.0.1".parse().unwrap()],
            ..Default::default()
        },
        authorities_pem: Some(pem.into_bytes()),
        resolver: Some(Names::of(&[("localhost", &["127.0.0.1"])])),
        ..Default::default()
    });
    let request = Request::get(&format!("https://localhost:{port}/")).unwrap();
    assert_eq!(problem(door.send(request).await.unwrap_err()), "from `https` to `http`");
    assert!(plain.seen().is_empty());
}
