//! Mail, given to the server that takes it: a few words of SMTP.
//!
//! What is said is said over TLS: from the beginning (`tls = "tls"`, port 465) or after the server agreed to it
//! (`"starttls"`, port 587); only without a password may it be said in clear (`"none"`, port 25). A message is one text
//! of UTF-8.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::clock;
use crate::modules::util::tls;

/// How long all of it may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// The longest line of an answer.
const LONGEST: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover {
    None,
    Start,
    Whole,
}

/// A letter, and who takes it.
pub(super) struct Letter {
    pub server: String,
    pub port: u16,
    pub cover: Cover,
    pub login: Option<(String, String)>,
    pub from: String,
    pub to: Vec<String>,
    pub subject: String,
    pub text: String,
}

impl Letter {
    /// What must not be in it, before anybody is asked.
    pub fn check(&self) -> Result<(), String> {
        let is_address = |text: &str| {
            text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
                && text.chars().all(|c| c.is_ascii_graphic() && !"<>\"(),;:\\".contains(c))
        };
        let addresses = std::iter::once(&self.from).chain(&self.to);
        if let Some(wrong) = addresses.into_iter().find(|address| !is_address(address)) {
            return Err(format!("`{wrong}` is no address; write it like ann@example.org"));
        }
        if self.subject.contains(['\r', '\n']) {
            return Err("a `subject` is one line".to_owned());
        }
        if self.login.is_some() && self.cover == Cover::None {
            return Err("a password is not sent without TLS; say `tls = \"starttls\"`".to_owned());
        }
        Ok(())
    }

    /// As it is sent.
    fn document(&self) -> String {
        let at = jiff::Timestamp::from_microsecond(clock::now().micros()).unwrap_or_default();
        let date = jiff::fmt::rfc2822::to_string(&at.to_zoned(jiff::tz::TimeZone::UTC));
        let host = self.from.rsplit('@').next().unwrap_or("localhost");
        let subject = match self.subject.is_ascii() {
            true => self.subject.clone(),
            false => format!("=?UTF-8?B?{}?=", STANDARD.encode(&self.subject)),
        };
        let body = STANDARD.encode(&self.text);
        let lines = body.as_bytes().chunks(76).map(String::from_utf8_lossy);
        let lines = lines.collect::<Vec<_>>().join("\r\n");
        format!(
            "From: <{}>\r\nTo: {}\r\nSubject: {subject}\r\nDate: {}\r\nMessage-ID: <{}@{host}>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n{lines}\r\n",
            self.from,
            self.to.iter().map(|to| format!("<{to}>")).collect::<Vec<_>>().join(", "),
            date.unwrap_or_default(),
            uuid::Uuid::new_v4(),
        )
    }

    /// Gives it to the server.
    pub async fn send(&self) -> Result<(), String> {
        let given = tokio::time::timeout(PATIENCE, self.give());
        let told = |why: String| format!("{} port {}: {why}", self.server, self.port);
        given.await.map_err(|_| told("no answer in time".to_owned()))?.map_err(told)
    }

    async fn give(&self) -> Result<(), String> {
        let stream = TcpStream::connect((self.server.as_str(), self.port)).await;
        let stream = stream.map_err(|error| error.to_string())?;
        match self.cover {
            Cover::None => {
                let mut talk = Talk(BufReader::new(stream));
                talk.hear(220).await?;
                self.deliver(talk).await
            }
            Cover::Whole => {
                let mut talk = Talk(BufReader::new(self.covered(stream).await?));
                talk.hear(220).await?;
                self.deliver(talk).await
            }
            Cover::Start => {
                let mut talk = Talk(BufReader::new(stream));
                talk.hear(220).await?;
                talk.tell("EHLO localhost", 250).await?;
                talk.tell("STARTTLS", 220).await?;
                if !talk.0.buffer().is_empty() {
                    return Err("it says more than it was asked before TLS began".to_owned());
                }
                self.deliver(Talk(BufReader::new(self.covered(talk.0.into_inner()).await?))).await
            }
        }
    }

    async fn covered(
        &self,
        stream: TcpStream,
    ) -> Result<tokio_rustls::client::TlsStream<TcpStream>, String> {
        let name = ServerName::try_from(self.server.clone())
            .map_err(|_| "it cannot be a host; give it a name or an address".to_owned())?;
        let mut config = (*tls()?).clone();
        config.alpn_protocols.clear();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        connector.connect(name, stream).await.map_err(|error| error.to_string())
    }

    async fn deliver<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        mut talk: Talk<S>,
    ) -> Result<(), String> {
        talk.tell("EHLO localhost", 250).await?;
        if let Some((user, password)) = &self.login {
            let words = STANDARD.encode(format!("\0{user}\0{password}"));
            talk.say(&format!("AUTH PLAIN {words}")).await?;
            talk.hear(235).await.map_err(|why| format!("it does not let {user} in: {why}"))?;
        }
        talk.tell(&format!("MAIL FROM:<{}>", self.from), 250).await?;
        for to in &self.to {
            talk.tell(&format!("RCPT TO:<{to}>"), 250).await?;
        }
        talk.tell("DATA", 354).await?;
        talk.tell(&format!("{}.", self.document()), 250).await?;
        // It has the letter: how it says goodbye changes nothing.
        let _it_may_hang_up = talk.say("QUIT").await;
        Ok(())
    }
}

/// Line by line, with whoever takes mail.
struct Talk<S>(BufReader<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> Talk<S> {
    async fn say(&mut self, line: &str) -> Result<(), String> {
        let stream = self.0.get_mut();
        let told = |error: std::io::Error| error.to_string();
        stream.write_all(format!("{line}\r\n").as_bytes()).await.map_err(told)?;
        stream.flush().await.map_err(told)
    }

    async fn tell(&mut self, line: &str, wanted: u16) -> Result<(), String> {
        self.say(line).await?;
        self.hear(wanted).await
    }

    /// Reads an answer, which may have several lines: `250-` goes on, `250 ` ends it.
    async fn hear(&mut self, wanted: u16) -> Result<(), String> {
        loop {
            let mut line = Vec::new();
            let mut taken = tokio::io::AsyncReadExt::take(&mut self.0, LONGEST as u64);
            let read = taken.read_until(b'\n', &mut line).await;
            if read.map_err(|error| error.to_string())? == 0 {
                return Err("it hung up".to_owned());
            }
            let line = String::from_utf8_lossy(&line).trim_end().to_owned();
            let code = line.get(..3).and_then(|code| code.parse::<u16>().ok());
            match (code, line.as_bytes().get(3)) {
                (Some(code), Some(b'-')) if code == wanted => {}
                (Some(code), _) if code == wanted => return Ok(()),
                _ => {
                    return Err(format!(
                        "it answered `{}`",
                        line.chars().take(200).collect::<String>()
                    ));
                }
            }
        }
    }
}
