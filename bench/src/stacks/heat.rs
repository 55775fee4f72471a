//! Real Heat, as it was measured, and our door for its clients, measured the same way.
//!
//! Heat 27.0.1 was measured on two shared processors, once as it is and once without the second that it sleeps after each
//! resource that nothing waits for. What stands here are the best times of either: what it would take on a quieter
//! machine is less than what was measured on a busy one, and nobody is compared with a sleep. It was measured with 100
//! and 300 resources; for more than that a straight line from 100 is drawn, though it was seen to grow faster.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use super::PACE;
use super::shape::Shape;
use crate::rig::until_paced;

/// What a server is told so that it has the door.
pub const SETTINGS: &str = "[stacks.heat]
enabled = true
listen = '127.0.0.1:0'
plain = true
";
/// What the server says when it has it.
pub const SERVED: (&str, &str) = ("the API of Heat is served", " address=");

/// Seconds that Heat takes.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    pub create: f64,
    /// An update that changes nothing.
    pub update: f64,
    pub delete: f64,
    /// Worked out from what was measured of fewer.
    pub is_drawn: bool,
}

/// Of 100 independent `OS::Heat::RandomString`.
const FLAT: Known = Known { create: 15.5, update: 13.8, delete: 9.4, is_drawn: false };
/// Of 300; only its creation was measured.
const FLAT_300: f64 = 91.1;
/// Of 100 in a chain.
const CHAIN: Known = Known { create: 17.3, update: 17.5, delete: 14.0, is_drawn: false };

impl Known {
    pub fn of(shape: Shape) -> Known {
        let hundreds = shape.count() as f64 / 100.0;
        let drawn = |from: Known| Known {
            create: from.create * hundreds,
            update: from.update * hundreds,
            delete: from.delete * hundreds,
            is_drawn: shape.count() != 100,
        };
        match shape {
            Shape::Flat(300) => Known { create: FLAT_300, ..drawn(FLAT) },
            Shape::Flat(_) => drawn(FLAT),
            Shape::Chain(_) => drawn(CHAIN),
        }
    }
}

/// A client of Heat: one connection, and a token.
pub struct Heat {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
    token: String,
}

/// What was answered.
struct Reply {
    status: u16,
    body: Value,
}

impl Heat {
    pub async fn connect(address: &str, token: String) -> anyhow::Result<Heat> {
        let address: SocketAddr = address.parse().context("the address of the door")?;
        let stream = BufReader::new(TcpStream::connect(address).await?);
        Ok(Heat { stream, address, token })
    }

    async fn ask(&mut self, method: &str, path: &str, body: &Value) -> anyhow::Result<Reply> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} /v1/default{path} HTTP/1.1\r\nHost: {}\r\nX-Auth-Token: {}\r\nAccept: application/json\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        );
        self.stream.write_all(format!("{head}{body}").as_bytes()).await?;
        let mut line = String::new();
        self.stream.read_line(&mut line).await?;
        let status = line.split(' ').nth(1).context("an answer has a status")?.parse()?;
        let mut length = 0;
        loop {
            line.clear();
            ensure!(self.stream.read_line(&mut line).await? > 0, "the door was closed");
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
        let mut bytes = vec![0; length];
        self.stream.read_exact(&mut bytes).await?;
        let body = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Reply { status, body })
    }

    /// The state that a stack of this name is in, if there is one; and its address below the project.
    async fn state(&mut self, name: &str) -> anyhow::Result<Option<(String, String)>> {
        let found = self.ask("GET", &format!("/stacks?name={name}"), &Value::Null).await?;
        ensure!(found.status == 200, "{}: {}", found.status, found.body);
        let Some(one) = found.body["stacks"].get(0) else { return Ok(None) };
        let id = one["id"].as_str().context("a stack has an id")?;
        let state = one["stack_status"].as_str().context("a stack has a status")?.to_owned();
        ensure!(!state.ends_with("FAILED"), "{}", one["stack_status_reason"]);
        Ok(Some((state, format!("/stacks/{name}/{id}"))))
    }

    async fn wait(&mut self, name: &str, wanted: &str) -> anyhow::Result<String> {
        until_paced("the stack is complete", PACE, async || {
            let (state, place) = self.state(name).await?.context("the stack is gone")?;
            Ok((state == wanted).then_some(place))
        })
        .await
    }

    /// Makes a stack, asks for what is there already, and takes it down.
    pub async fn round(&mut self, name: &str, template: &str) -> anyhow::Result<[Duration; 3]> {
        let begun = Instant::now();
        let body = json!({ "stack_name": name, "template": template, "disable_rollback": true });
        let made = self.ask("POST", "/stacks", &body).await?;
        ensure!(made.status == 201, "{}: {}", made.status, made.body);
        let place = self.wait(name, "CREATE_COMPLETE").await?;
        let create = begun.elapsed();
        let begun = Instant::now();
        let asked = self.ask("PUT", &place, &json!({ "template": template })).await?;
        ensure!(asked.status == 202, "{}: {}", asked.status, asked.body);
        self.wait(name, "UPDATE_COMPLETE").await?;
        let update = begun.elapsed();
        let begun = Instant::now();
        let asked = self.ask("DELETE", &place, &Value::Null).await?;
        ensure!(asked.status == 204, "{}: {}", asked.status, asked.body);
        until_paced("the stack is gone", PACE, async || {
            Ok(self.state(name).await?.is_none().then_some(()))
        })
        .await?;
        Ok([create, update, begun.elapsed()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_is_drawn_from_what_was() {
        assert!(!Known::of(Shape::Flat(100)).is_drawn);
        let far = Known::of(Shape::Flat(5000));
        assert!(far.is_drawn && (far.create - 775.0).abs() < 1e-9);
        assert!((Known::of(Shape::Flat(300)).create - 91.1).abs() < 1e-9);
        assert!((Known::of(Shape::Chain(500)).create - 86.5).abs() < 1e-9);
    }
}
