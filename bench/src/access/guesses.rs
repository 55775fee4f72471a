//! Somebody who guesses passwords, with as many addresses as they like.
//!
//! Each guess is a connection of its own from an address of its own (all of 127.0.0.0/8 is this machine),
//! most of them for a name of its own, so that neither the limit of an address nor the wait of a name
//! holds it up: what is left is the limit on how many passwords are looked at at once. A quarter is for
//! names that exist.
//!
//! Meanwhile somebody logs in with the right password, from where they always do.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use hostler_api::Nothing;
use hostler_api::session::Login;
use hostler_client::Client;
use hostler_model::{Code, PrincipalKind};
use hostler_trust::{AuthorityCertificate, tls};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpSocket;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::people::{PEOPLE, Person, World, client, login};
use crate::figures::{Section, quantile};
use crate::rig::Rig;

pub const GUESSES_PER_SECOND: u32 = 100;
const LOGIN_EVERY: Duration = Duration::from_secs(5);

/// How the guesses ended, and what became of those who knew their password.
#[derive(Default)]
pub struct Guesses {
    /// The password was looked at, and was wrong.
    wrong: usize,
    /// Told to wait before it was looked at.
    waiting: usize,
    /// No place was free to look at it.
    no_place: usize,
    let_in: usize,
    /// Right passwords: how long each took, and how many were told to come back.
    logins: Vec<f64>,
    sent_away: usize,
}

impl Guesses {
    /// Guesses for so long.
    pub async fn make(rig: &Rig, world: &World, seconds: u64) -> anyhow::Result<Guesses> {
        let (mut guesses, (logins, sent_away)) =
            tokio::try_join!(guess_all(rig, seconds), log_in_all(rig, world, seconds))?;
        guesses.logins = logins;
        guesses.sent_away = sent_away;
        Ok(guesses)
    }

    pub fn write(&self, section: &mut Section) {
        let Guesses { wrong, waiting, no_place, let_in, logins, sent_away } = self;
        section.judge("guesses: let in", let_in.to_string(), "none", *let_in == 0);
        section.note(
            "guesses: looked at and wrong, told to wait, no place to look at them",
            format!("{wrong}, {waiting}, {no_place}"),
        );
        section.note(
            "right passwords meanwhile: let in, told to come back",
            format!("{}, {sent_away}", logins.len()),
        );
        let [median, longest] = [0.5, 1.0].map(|share| quantile(logins, share));
        section.note(
            "right passwords meanwhile: median, longest",
            format!("{median:.0} ms, {longest:.0} ms"),
        );
    }
}

async fn guess_all(rig: &Rig, seconds: u64) -> anyhow::Result<Guesses> {
    let server: SocketAddr =
        rig.url.trim_start_matches("https://").parse().context("reading the server's address")?;
    let authority = AuthorityCertificate::from_pem(&rig.ca_pem)?;
    let mut config = tls::client(&authority, None)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let connector = TlsConnector::from(Arc::new(config));
    let count = u32::try_from(seconds)?.saturating_mul(GUESSES_PER_SECOND);
    let begun = Instant::now();
    let mut running = JoinSet::new();
    for number in 0..count {
        tokio::time::sleep_until(begun + Duration::from_secs(1) * number / GUESSES_PER_SECOND)
            .await;
        let connector = connector.clone();
        running.spawn(async move { Box::pin(guess(&connector, server, number)).await });
    }
    let mut guesses = Guesses::default();
    while let Some(status) = running.join_next().await {
        match status?? {
            200 => guesses.let_in += 1,
            401 => guesses.wrong += 1,
            429 => guesses.waiting += 1,
            503 => guesses.no_place += 1,
            status => bail!("a guess was answered with {status}"),
        }
    }
    Ok(guesses)
}

/// One guess; says the status of the answer.
async fn guess(connector: &TlsConnector, server: SocketAddr, number: u32) -> anyhow::Result<u16> {
    let from = Ipv4Addr::from_bits(Ipv4Addr::new(127, 1, 0, 1).to_bits() + number);
    let socket = TcpSocket::new_v4()?;
    socket.bind(SocketAddr::from((from, 0)))?;
    let tcp = socket.connect(server).await.context("a guess found no connection")?;
    let mut stream = connector.connect(ServerName::from(server.ip()), tcp).await?;
    let name = match number % 8 {
        // People have even numbers.
        0 | 4 => format!("person-{}", number as usize / 4 * 2 % PEOPLE),
        _ => format!("guess-{number}"),
    };
    let body = serde_json::json!({ "name": name, "password": "open, sesame", "kind": "token" });
    let body = body.to_string();
    let request = format!(
        "POST /api/v1/login HTTP/1.1\r\nhost: {server}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    stream.flush().await?;
    let mut head = [0; "HTTP/1.1 200".len()];
    stream.read_exact(&mut head).await.context("a guess was not answered")?;
    let head = std::str::from_utf8(&head)?;
    let status = head.rsplit(' ').next().unwrap_or_default();
    status.parse().with_context(|| format!("`{head}` is no answer"))
}

async fn log_in_all(rig: &Rig, world: &World, seconds: u64) -> anyhow::Result<(Vec<f64>, usize)> {
    let client = client(rig, None)?;
    let (mut times, mut sent_away) = (Vec::new(), 0);
    let begun = Instant::now();
    let rounds = u32::try_from(seconds / LOGIN_EVERY.as_secs())?;
    for round in 0..rounds {
        let due = begun + LOGIN_EVERY * round;
        tokio::time::sleep_until(due).await;
        match log_in(&client, world.pick(u64::from(round), is_human)?).await? {
            true => times.push(due.elapsed().as_secs_f64() * 1000.0),
            false => sent_away += 1,
        }
    }
    Ok((times, sent_away))
}

fn is_human(person: &Person) -> bool {
    person.kind == PrincipalKind::User
}

async fn log_in(client: &Client, person: &Person) -> anyhow::Result<bool> {
    match client.call::<Login>(&Nothing {}, &Nothing {}, &login(person)).await {
        Ok(_) => Ok(true),
        Err(error) if error.is(Code::Unavailable) || error.is(Code::RateLimited) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
