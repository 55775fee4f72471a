//! Those who are told: each on a port of its own, each with a manner of its own.
//!
//! A receiver keeps no bodies. Of every event it remembers that it was accepted, and of every object the number of the
//! last event that was: enough to say what is missing, what came again, and what came out of order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// How long a slow one takes for each answer.
pub const SLOW: Duration = Duration::from_millis(100);
/// Connections that wait to be taken.
const WAITING_MAX: u32 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    Well,
    Slow,
    /// Every third call is answered badly, every seventh not at all.
    Moody,
    /// Refuses everything until it is told to recover.
    Late,
    /// Nobody listens until it is told to recover.
    Absent,
}

/// What one receiver was told.
#[derive(Clone, Debug, Default)]
pub struct Book {
    /// By the number that the event was given when it was emitted.
    seen: Vec<bool>,
    /// Of each object, the number of the event that was accepted last.
    last: HashMap<String, u64>,
    calls: u64,
    pub accepted: u64,
    /// Accepted before already.
    pub again: u64,
    /// Accepted after a later one about the same object.
    pub disordered: u64,
    /// Answered badly, or not at all.
    pub turned_away: u64,
    /// No delivery of an event of this run.
    pub strange: u64,
}

impl Book {
    fn accept(&mut self, body: &[u8]) {
        let event: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let number = event["payload"]["number"].as_u64().and_then(|n| usize::try_from(n).ok());
        let (object, sequence) = (event["object"]["id"].as_str(), event["sequence"].as_u64());
        let known = number.and_then(|number| self.seen.get_mut(number));
        let (Some(seen), Some(object), Some(sequence)) = (known, object, sequence) else {
            self.strange += 1;
            return;
        };
        if std::mem::replace(seen, true) {
            self.again += 1;
            return;
        }
        self.accepted += 1;
        let before = self.last.insert(object.to_owned(), sequence);
        if before.is_some_and(|before| before > sequence) {
            self.disordered += 1;
        }
    }
}

pub struct Receiver {
    pub manner: Manner,
    pub url: String,
    /// Of one that nobody listens for.
    socket: Option<TcpSocket>,
    ear: Ear,
    tasks: JoinSet<()>,
}

/// What all talks of a receiver share.
#[derive(Clone)]
struct Ear {
    manner: Manner,
    has_recovered: Arc<AtomicBool>,
    book: Arc<Mutex<Book>>,
}

impl Receiver {
    /// For events with numbers below `events`.
    pub fn start(manner: Manner, events: usize) -> anyhow::Result<Receiver> {
        let socket = TcpSocket::new_v4()?;
        socket.bind("127.0.0.1:0".parse().context("an address of this machine")?)?;
        let url = format!("http://{}/in", socket.local_addr()?);
        let book = Book { seen: vec![false; events], ..Book::default() };
        let ear = Ear { manner, has_recovered: Arc::default(), book: Arc::new(Mutex::new(book)) };
        let socket = Some(socket);
        let mut receiver = Receiver { manner, url, socket, ear, tasks: JoinSet::new() };
        if manner != Manner::Absent {
            receiver.listen()?;
        }
        Ok(receiver)
    }

    fn listen(&mut self) -> anyhow::Result<()> {
        if let Some(socket) = self.socket.take() {
            let listener = socket.listen(WAITING_MAX)?;
            self.tasks.spawn(receive(listener, self.ear.clone()));
        }
        Ok(())
    }

    /// From now on everything is accepted.
    pub fn recover(&mut self) -> anyhow::Result<()> {
        self.ear.has_recovered.store(true, Ordering::SeqCst);
        self.listen()
    }

    pub fn accepted(&self) -> u64 {
        self.ear.book.lock().unwrap_or_else(PoisonError::into_inner).accepted
    }

    pub fn book(&self) -> Book {
        self.ear.book.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn receive(listener: TcpListener, ear: Ear) {
    let mut talks = JoinSet::new();
    while let Ok((caller, _)) = listener.accept().await {
        talks.spawn(answer(caller, ear.clone()));
        while talks.try_join_next().is_some() {}
    }
}

async fn answer(caller: TcpStream, ear: Ear) -> std::io::Result<()> {
    let mut caller = BufReader::new(caller);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if caller.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or_default();
                }
                Some(_) => {}
                None if line.trim_end().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        caller.read_exact(&mut body).await?;
        if ear.manner == Manner::Slow {
            tokio::time::sleep(SLOW).await;
        }
        match ear.said(&body) {
            Some(status) => {
                let words = format!("HTTP/1.1 {status} Said\r\nContent-Length: 0\r\n\r\n");
                caller.write_all(words.as_bytes()).await?;
            }
            None => return Ok(()),
        }
    }
}

impl Ear {
    /// The status of the answer; `None` hangs up without one.
    fn said(&self, body: &[u8]) -> Option<u16> {
        let mut book = self.book.lock().unwrap_or_else(PoisonError::into_inner);
        book.calls += 1;
        let is_usual = self.has_recovered.load(Ordering::SeqCst);
        let said = match self.manner {
            Manner::Late if !is_usual => Some(503),
            Manner::Moody if book.calls.is_multiple_of(7) => None,
            Manner::Moody if book.calls.is_multiple_of(3) => Some(500),
            _ => Some(204),
        };
        match said {
            Some(204) => book.accept(body),
            _ => book.turned_away += 1,
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_book_knows_what_came_again_and_what_came_too_late() {
        let mut book = Book { seen: vec![false; 3], ..Book::default() };
        let event = |number: u64, sequence: u64, object: &str| {
            serde_json::json!({
                "sequence": sequence, "object": { "id": object }, "payload": { "number": number },
            })
            .to_string()
        };
        for (number, sequence, object) in
            [(0, 10, "a"), (2, 12, "a"), (2, 12, "a"), (1, 11, "a"), (9, 13, "a")]
        {
            book.accept(event(number, sequence, object).as_bytes());
        }
        book.accept(b"nothing");
        assert_eq!((book.accepted, book.again, book.disordered, book.strange), (3, 1, 1, 2));
    }
}
