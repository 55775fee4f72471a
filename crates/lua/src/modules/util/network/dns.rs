//! Names: questions to a name server, and what is in its answers.
//!
//! The machine itself only answers for addresses. For everything else a question of one packet goes to the name server
//! of the machine, by UDP and, where the answer does not fit, by TCP. An answer must come from the server, carry the
//! random id and repeat the question; names in it may point back only, so reading it always ends.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mlua::{Lua, Result, Table, Value};
use ring::rand::{SecureRandom, SystemRandom};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use super::{Options, PATIENCE};
use crate::modules::Installer;
use crate::modules::util::given::{Answer, Text};

/// What can be asked for, with its number.
const KINDS: [(&str, u16); 8] = [
    ("A", 1),
    ("NS", 2),
    ("CNAME", 5),
    ("PTR", 12),
    ("MX", 15),
    ("TXT", 16),
    ("AAAA", 28),
    ("SRV", 33),
];
const INTERNET: u16 = 1;
const TRIES: u32 = 2;

pub(super) fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async(
        "dns_lookup",
        |lua, (name, kind, options): (Text, Option<String>, Option<Table>)| async move {
            let kind = kind.map_or_else(|| "A".to_owned(), |kind| kind.to_uppercase());
            told(&lua, lookup(&name.lossy(), &kind, Options::of(options)?).await)
        },
    )?;
    module.act_async("mx_lookup", |lua, (name, options): (Text, Option<Table>)| async move {
        told(&lua, lookup(&name.lossy(), "MX", Options::of(options)?).await)
    })
}

#[derive(Debug, PartialEq, PartialOrd)]
enum Record {
    Text(String),
    Mail { priority: u16, host: String },
    Service { priority: u16, weight: u16, port: u16, host: String },
}

fn told(lua: &Lua, found: std::result::Result<Vec<Record>, String>) -> Result<Answer<Table>> {
    let records = match found {
        Ok(records) => records,
        Err(why) => return Ok((None, Some(why))),
    };
    let list = lua.create_table()?;
    for record in records {
        let value = match record {
            Record::Text(text) => Value::String(lua.create_string(text)?),
            Record::Mail { priority, host } => {
                let table = lua.create_table()?;
                table.set("priority", priority)?;
                table.set("host", host)?;
                Value::Table(table)
            }
            Record::Service { priority, weight, port, host } => {
                let table = lua.create_table()?;
                table.set("priority", priority)?;
                table.set("weight", weight)?;
                table.set("port", port)?;
                table.set("host", host)?;
                Value::Table(table)
            }
        };
        list.push(value)?;
    }
    Ok((Some(list), None))
}

async fn lookup(
    name: &str,
    kind: &str,
    options: Options,
) -> std::result::Result<Vec<Record>, String> {
    let Some((_, number)) = KINDS.iter().find(|(known, _)| *known == kind) else {
        let known: Vec<&str> = KINDS.iter().map(|(known, _)| *known).collect();
        return Err(format!("`{kind}` cannot be looked up; use one of {}", known.join(", ")));
    };
    let timeout = options.timeout.unwrap_or(PATIENCE);
    let mut records = match (options.server, kind) {
        (None, "A" | "AAAA") => addresses(name, kind == "A", timeout).await?,
        (server, _) => {
            let name = match (kind, name.parse::<IpAddr>()) {
                ("PTR", Ok(address)) => backwards(address),
                _ => name.to_owned(),
            };
            ask(&name, *number, server_of(server.as_deref())?, timeout).await?
        }
    };
    records.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    records.dedup();
    if records.is_empty() { Err(format!("{name} has no {kind} record")) } else { Ok(records) }
}

/// Addresses as the machine finds them.
async fn addresses(
    name: &str,
    is_v4: bool,
    timeout: Duration,
) -> std::result::Result<Vec<Record>, String> {
    let found = tokio::time::timeout(timeout, tokio::net::lookup_host((name, 0)))
        .await
        .map_err(|_| format!("{name}: no answer in time"))?
        .map_err(|error| format!("{name}: {error}"))?;
    let wanted = found.map(|found| found.ip()).filter(|address| address.is_ipv4() == is_v4);
    Ok(wanted.map(|address| Record::Text(address.to_string())).collect())
}

fn backwards(address: IpAddr) -> String {
    match address {
        IpAddr::V4(v4) => {
            let parts: Vec<String> = v4.octets().iter().rev().map(u8::to_string).collect();
            format!("{}.in-addr.arpa", parts.join("."))
        }
        IpAddr::V6(v6) => {
            let nibbles = v6.octets().into_iter().rev().flat_map(|byte| [byte & 15, byte >> 4]);
            let parts: Vec<String> = nibbles.map(|nibble| format!("{nibble:x}")).collect();
            format!("{}.ip6.arpa", parts.join("."))
        }
    }
}

fn server_of(given: Option<&str>) -> std::result::Result<SocketAddr, String> {
    let parsed = |text: &str| {
        text.parse::<SocketAddr>().ok().or_else(|| {
            let address: IpAddr = text.parse().ok()?;
            Some(SocketAddr::new(address, 53))
        })
    };
    if let Some(text) = given {
        return parsed(text).ok_or_else(|| format!("`{text}` is no address of a name server"));
    }
    let settings = std::fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    settings
        .lines()
        .filter_map(|line| line.trim().strip_prefix("nameserver"))
        .find_map(|rest| parsed(rest.trim()))
        .ok_or_else(|| {
            "/etc/resolv.conf names no name server; give one with { server = \"10.0.0.1\" }"
                .to_owned()
        })
}

async fn ask(
    name: &str,
    kind: u16,
    server: SocketAddr,
    timeout: Duration,
) -> std::result::Result<Vec<Record>, String> {
    let mut id = [0; 2];
    SystemRandom::new()
        .fill(&mut id)
        .map_err(|_| "the machine has no random numbers".to_owned())?;
    let question = question(name, kind, id)?;
    let told = |error: std::io::Error| format!("the name server {server}: {error}");
    for _ in 0..TRIES {
        let asked = tokio::time::timeout(timeout / TRIES, by_udp(&question, server)).await;
        let Ok(answer) = asked else { continue };
        let mut answer = answer.map_err(told)?;
        let is_cut = answer.get(2).is_some_and(|flags| flags & 2 != 0);
        if is_cut {
            answer = tokio::time::timeout(timeout, by_tcp(&question, server))
                .await
                .map_err(|_| format!("the name server {server} does not answer in time"))?
                .map_err(told)?;
        }
        return records(&answer, &question, kind, name);
    }
    Err(format!("the name server {server} does not answer in time"))
}

async fn by_udp(question: &[u8], server: SocketAddr) -> std::io::Result<Vec<u8>> {
    let any: SocketAddr =
        if server.is_ipv4() { ([0, 0, 0, 0], 0).into() } else { ([0_u16; 8], 0).into() };
    let socket = UdpSocket::bind(any).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut buffer = vec![0; 4096];
    loop {
        let read = socket.recv(&mut buffer).await?;
        if read >= 12 && buffer[..2] == question[..2] {
            buffer.truncate(read);
            return Ok(buffer);
        }
    }
}

async fn by_tcp(question: &[u8], server: SocketAddr) -> std::io::Result<Vec<u8>> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).unwrap_or(u16::MAX);
    stream.write_all(&[&length.to_be_bytes(), question].concat()).await?;
    let mut answer = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}

fn question(name: &str, kind: u16, id: [u8; 2]) -> std::result::Result<Vec<u8>, String> {
    let mut packet = vec![id[0], id[1], 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    let bad = || format!("`{name}` cannot be a name");
    for label in name.trim_end_matches('.').split('.') {
        let length = u8::try_from(label.len()).ok().filter(|n| (1..=63).contains(n));
        packet.push(length.ok_or_else(bad)?);
        packet.extend_from_slice(label.as_bytes());
    }
    packet.push(0);
    if packet.len() > 12 + 255 {
        return Err(bad());
    }
    packet.extend_from_slice(&kind.to_be_bytes());
    packet.extend_from_slice(&INTERNET.to_be_bytes());
    Ok(packet)
}

fn records(
    answer: &[u8],
    question: &[u8],
    kind: u16,
    name: &str,
) -> std::result::Result<Vec<Record>, String> {
    let repeats = answer.get(12..question.len()).is_some_and(|asked| {
        question.get(12..).is_some_and(|question| asked.eq_ignore_ascii_case(question))
    });
    if answer.get(..2) != question.get(..2) || !repeats {
        return Err("the name server answers another question".to_owned());
    }
    match answer.get(3).map(|flags| flags & 15) {
        Some(0) => {}
        Some(3) => return Err(format!("there is no name {name}")),
        Some(code) => return Err(format!("the name server refuses with code {code}")),
        None => return Err("the name server answers nothing".to_owned()),
    }
    let mut packet = Packet { bytes: answer, at: 6 };
    let unreadable = || "the answer of the name server cannot be read".to_owned();
    let count = packet.number().ok_or_else(unreadable)?;
    packet.at = question.len();
    let mut found = Vec::new();
    for _ in 0..count {
        let record = packet.record(kind).ok_or_else(unreadable)?;
        found.extend(record);
    }
    Ok(found)
}

/// An answer, and how far it is read.
struct Packet<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Packet<'_> {
    fn number(&mut self) -> Option<u16> {
        let bytes = self.bytes.get(self.at..self.at + 2)?;
        self.at += 2;
        Some(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// The next record, if it is one that was asked for.
    fn record(&mut self, wanted: u16) -> Option<Option<Record>> {
        self.name()?;
        let kind = self.number()?;
        self.at += 6;
        let length = usize::from(self.number()?);
        let end = self.at + length;
        let data = self.bytes.get(self.at..end)?;
        let record = if kind == wanted { Some(self.value(kind, data)?) } else { None };
        self.at = end;
        Some(record)
    }

    fn value(&mut self, kind: u16, data: &[u8]) -> Option<Record> {
        Some(match kind {
            1 => Record::Text(IpAddr::from(<[u8; 4]>::try_from(data).ok()?).to_string()),
            28 => Record::Text(IpAddr::from(<[u8; 16]>::try_from(data).ok()?).to_string()),
            15 => Record::Mail { priority: self.number()?, host: self.name()? },
            33 => Record::Service {
                priority: self.number()?,
                weight: self.number()?,
                port: self.number()?,
                host: self.name()?,
            },
            16 => Record::Text(texts(data)?),
            _ => Record::Text(self.name()?),
        })
    }

    /// A name; what points elsewhere may only point back.
    fn name(&mut self) -> Option<String> {
        let mut labels: Vec<String> = Vec::new();
        let mut at = self.at;
        let mut limit = self.bytes.len();
        let mut after = None;
        loop {
            let length = usize::from(*self.bytes.get(at)?);
            match length >> 6 {
                0 if length == 0 => {
                    self.at = after.unwrap_or(at + 1);
                    return Some(labels.join("."));
                }
                0 => {
                    let label = self.bytes.get(at + 1..at + 1 + length)?;
                    labels.push(String::from_utf8_lossy(label).into_owned());
                    at += 1 + length;
                }
                3 => {
                    let target = (length & 63) << 8 | usize::from(*self.bytes.get(at + 1)?);
                    after = after.or(Some(at + 2));
                    if target >= at.min(limit) {
                        return None;
                    }
                    limit = target;
                    at = target;
                }
                _ => return None,
            }
        }
    }
}

fn texts(data: &[u8]) -> Option<String> {
    let mut text = Vec::new();
    let mut rest = data;
    while let Some((length, after)) = rest.split_first() {
        let (part, next) = after.split_at_checked(usize::from(*length))?;
        text.extend_from_slice(part);
        rest = next;
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(question: &[u8], count: u8, rest: &[u8]) -> Vec<u8> {
        let mut packet = question.to_vec();
        packet[2] = 0x81;
        packet[3] = 0x80;
        packet[7] = count;
        packet.extend_from_slice(rest);
        packet
    }

    #[test]
    fn records_are_read_with_names_that_point_back() {
        let asked = question("example.org", 15, [7, 7]).unwrap();
        let mut rest = vec![0xc0, 12, 0, 15, 0, 1, 0, 0, 0, 60, 0, 9, 0, 10];
        rest.extend_from_slice(&[4, b'm', b'a', b'i', b'l', 0xc0, 12]);
        let found = records(&answer(&asked, 1, &rest), &asked, 15, "example.org").unwrap();
        assert_eq!(found, [Record::Mail { priority: 10, host: "mail.example.org".into() }]);
    }

    #[test]
    fn what_is_wrong_is_refused_and_ends() {
        let asked = question("a.b", 5, [1, 2]).unwrap();
        let at = u8::try_from(asked.len() + 12).unwrap();
        let endless = [0xc0, 12, 0, 5, 0, 1, 0, 0, 0, 60, 0, 2, 0xc0, at];
        assert!(records(&answer(&asked, 1, &endless), &asked, 5, "a.b").is_err());
        assert!(records(&answer(&asked, 9, &[]), &asked, 5, "a.b").is_err());
        let other = question("c.d", 5, [1, 2]).unwrap();
        assert!(records(&answer(&other, 0, &[]), &asked, 5, "a.b").is_err());
        let mut none = answer(&asked, 0, &[]);
        none[3] = 0x83;
        assert!(records(&none, &asked, 5, "a.b").unwrap_err().contains("no name"));
        let full = answer(&asked, 1, &endless);
        for length in 0..full.len() {
            assert!(records(&full[..length], &asked, 5, "a.b").is_err());
        }
        assert!(question("", 1, [0, 0]).is_err());
        assert!(question(&"a".repeat(64), 1, [0, 0]).is_err());
    }

    #[test]
    fn addresses_are_turned_around() {
        assert_eq!(backwards("192.0.2.1".parse().unwrap()), "1.2.0.192.in-addr.arpa");
        assert!(backwards("2001:db8::1".parse().unwrap()).starts_with("1.0.0.0."));
    }
}
