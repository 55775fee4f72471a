//! Redis with a log that is synced for every write, in its own protocol.
//!
//! It has no revisions: compare and swap is the script that people use, which compares the value.

use std::time::Instant;

use anyhow::{bail, ensure};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};

use super::process::{Peer, free_port};
use super::{Caller, LOCKS, Measured, rates};
use crate::rig::until;

const SWAP: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) return 1 end return 0";
const UNLOCK: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

struct Redis {
    answers: BufReader<OwnedReadHalf>,
    requests: OwnedWriteHalf,
}

impl Redis {
    async fn connect(port: u16) -> anyhow::Result<Redis> {
        let stream = TcpStream::connect(("127.0.0.1", port)).await?;
        stream.set_nodelay(true)?;
        let (answers, requests) = stream.into_split();
        Ok(Redis { answers: BufReader::new(answers), requests })
    }

    /// Gives what a string, a status or a number says; nothing when there is none.
    async fn ask(&mut self, words: &[&str]) -> anyhow::Result<Option<String>> {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        self.requests.write_all(request.as_bytes()).await?;
        let mut line = String::new();
        self.answers.read_line(&mut line).await?;
        let line = line.trim_end();
        match line.split_at_checked(1) {
            Some(("+" | ":", rest)) => Ok(Some(rest.to_owned())),
            Some(("$", "-1")) => Ok(None),
            Some(("$", length)) => {
                let mut bytes = vec![0; length.parse::<usize>()? + 2];
                self.answers.read_exact(&mut bytes).await?;
                bytes.truncate(bytes.len() - 2);
                Ok(Some(String::from_utf8(bytes)?))
            }
            _ => bail!("redis says {line:?}"),
        }
    }
}

impl Caller for Redis {
    async fn put(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        ensure!(self.ask(&["SET", key, value]).await?.as_deref() == Some("OK"), "it is set");
        Ok(())
    }

    async fn swap(&mut self, key: &str, value: &str) -> anyhow::Result<()> {
        let answer = self.ask(&["EVAL", SWAP, "1", key, value, value]).await?;
        ensure!(answer.as_deref() == Some("1"), "nobody else changes this key");
        Ok(())
    }

    async fn get(&mut self, key: &str) -> anyhow::Result<()> {
        ensure!(self.ask(&["GET", key]).await?.is_some(), "what was put is there");
        Ok(())
    }
}

pub async fn measure() -> anyhow::Result<Measured> {
    let port = free_port()?;
    let _server = Peer::start("redis-server", |command, folder| {
        command.args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--dir"]).arg(folder);
        command.args(["--appendonly", "yes", "--appendfsync", "always", "--save", ""]);
    })?;
    until("redis answers", async || {
        let Ok(mut caller) = Redis::connect(port).await else { return Ok(None) };
        Ok(caller.put("first", "").await.ok())
    })
    .await?;
    let mut measured = Measured::default();
    rates(&mut measured, async || Redis::connect(port).await).await?;
    measured.lock_millis = locks(port).await?;
    Ok(measured)
}

async fn locks(port: u16) -> anyhow::Result<Vec<f64>> {
    let mut caller = Redis::connect(port).await?;
    let mut millis = Vec::new();
    for n in 0..LOCKS {
        let me = n.to_string();
        let begun = Instant::now();
        let taken = caller.ask(&["SET", "bench-lock", &me, "NX", "PX", "30000"]).await?;
        let freed = caller.ask(&["EVAL", UNLOCK, "1", "bench-lock", &me]).await?;
        millis.push(begun.elapsed().as_secs_f64() * 1000.0);
        ensure!(taken.is_some() && freed.as_deref() == Some("1"), "nobody else wants it");
    }
    Ok(millis)
}
