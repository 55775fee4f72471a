//! `network`: what can be reached from the machine where the step runs, and how.

mod certificate;
mod dns;
mod interfaces;
mod programs;
mod reach;

use std::net::IpAddr;
use std::time::Duration;

use mlua::{FromLua, Lua, Result, Table, Value};

use super::given::{Answer, Span, Text, answer, count};
use super::web::Request;
use crate::modules::{Described, Installer, Module, acting};

/// How long is waited for a connection if nothing else is said.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) const MODULE: Module = Module {
    name: "network",
    about: "What can be reached from the machine where the step runs, and how. `ping`, `traceroute` and `whois` use the programs of these names, and say so where there are none.",
    functions: &[
        Described {
            name: "ping",
            signature: "(host[, { count, timeout }]) -> { success, sent, received, loss, min, avg, max, output } | nil, error",
            about: "Pings a host four times or so often. `loss` is in percent, times are in milliseconds.",
            example: "local r, why = network.ping('-bad')\nassert(r == nil and why:find('bad'))",
        },
        Described {
            name: "port_check",
            signature: "(host, port[, timeout]) -> boolean, error",
            about: "Whether a TCP port takes connections; 5 seconds are waited if nothing else is said.",
            example: "local open, why = network.port_check('127.0.0.1', 1, 1)\nassert(open == false and why)",
        },
        Described {
            name: "port_scan",
            signature: "(host, ports[, timeout]) -> { open, closed, total_scanned } | nil, error",
            about: "Which TCP ports of a list take connections; 2 seconds are waited for each, for many at a time.",
            example: "local r = network.port_scan('127.0.0.1', { 1, 2 }, 1)\nassert(r.total_scanned == 2 and #r.open == 0 and r.closed[1] == 1)",
        },
        Described {
            name: "telnet",
            signature: "(host, port[, { send, timeout }]) -> { connected, output } | nil, error",
            about: "Connects, sends what is given, and takes what comes: until the other side closes, falls silent for a second, or the time is over.",
            example: "assert(network.telnet('127.0.0.1', 1, { timeout = 1 }) == nil)",
        },
        Described {
            name: "latency_test",
            signature: "(host[, { port, count, timeout }]) -> { success, count, lost, min, avg, max } | nil, error",
            about: "How long connections to a TCP port take, in milliseconds; port 443 and four times if nothing else is said.",
            example: "local r = network.latency_test('127.0.0.1', { port = 1, count = 2 })\nassert(not r.success and r.lost == 2)",
        },
        Described {
            name: "bandwidth_test",
            signature: "(url[, { timeout }]) -> { bytes, seconds, mbps } | nil, error",
            about: "How fast the answer to a request comes, in megabits a second; its first 64 MiB are taken.",
            example: "assert(network.bandwidth_test('http://127.0.0.1:1/') == nil)",
        },
        Described {
            name: "dns_lookup",
            signature: "(name[, type[, { server, timeout }]]) -> list | nil, error",
            about: "What a name stands for: texts for `A` (which is meant without a type), `AAAA`, `CNAME`, `NS`, `TXT` and `PTR`, tables for `MX` (`host`, `priority`) and `SRV` (`host`, `port`, `priority`, `weight`). Addresses are found as the machine finds them, the rest by asking its name server, or the one that is given.",
            example: "assert(network.dns_lookup('127.0.0.1')[1] == '127.0.0.1')\nlocal none, why = network.dns_lookup('x', 'NOPE')\nassert(none == nil and why:find('NOPE'))",
        },
        Described {
            name: "reverse_dns",
            signature: "(address) -> { name } | nil, error",
            about: "The names of an address, as the machine knows them.",
            example: "local none, why = network.reverse_dns('not an address')\nassert(none == nil and why)",
        },
        Described {
            name: "mx_lookup",
            signature: "(domain[, { server, timeout }]) -> { { host, priority } } | nil, error",
            about: "Who takes mail for a domain, the preferred first.",
            example: "assert(network.mx_lookup('') == nil)",
        },
        Described {
            name: "interfaces",
            signature: "() -> { { name, mac, mtu, is_up, is_loopback, addresses } } | nil, error",
            about: "The network interfaces of the machine.",
            example: "assert(type(network.interfaces()) == 'table')",
        },
        Described {
            name: "local_ip",
            signature: "() -> address | nil, error",
            about: "The address with which the machine reaches others.",
            example: "local ip, why = network.local_ip()\nassert(ip or why)",
        },
        Described {
            name: "public_ip",
            signature: "([url][, { timeout }]) -> address | nil, error",
            about: "The address with which the machine is seen by a service that answers with it. Which one is yours to choose: here, or for all steps in HOSTLER_PUBLIC_IP_URL of their environment.",
            example: "local ip, why = network.public_ip('http://127.0.0.1:1/')\nassert(ip == nil and why)\nip, why = network.public_ip()\nassert(ip == nil and why:find('HOSTLER_PUBLIC_IP_URL'))",
        },
        Described {
            name: "ssl_check",
            signature: "(host[, port[, timeout]]) -> { valid, error, subject, issuer, names, serial, not_before, not_after, days_left, protocol } | nil, error",
            about: "The certificate of a server and whether it is to be believed: `valid`, or `error` says why not. Moments are seconds since 1970.",
            example: "assert(network.ssl_check('127.0.0.1', 1, 1) == nil)",
        },
        Described {
            name: "traceroute",
            signature: "(host[, { hops, timeout }]) -> { output, hops } | nil, error",
            about: "The way to a host: for every hop its `number`, `address` and `times` in milliseconds.",
            example: "assert(network.traceroute('a b') == nil)",
        },
        Described {
            name: "whois",
            signature: "(name) -> text | nil, error",
            about: "What is registered about a domain or an address.",
            example: "assert(network.whois('a b') == nil)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("ping", |lua, (host, options): (Text, Option<Table>)| async move {
        let options = Options::of(options)?;
        programs::ping(&lua, &host.lossy(), options.count.unwrap_or(4), options.timeout).await
    })?;
    module.act_async("traceroute", |lua, (host, options): (Text, Option<Table>)| async move {
        let options = Options::of(options)?;
        programs::traceroute(&lua, &host.lossy(), options.hops, options.timeout).await
    })?;
    module.act_async("whois", |_, name: Text| async move {
        Ok(answer(programs::whois(&name.lossy()).await))
    })?;
    module.act_async("reverse_dns", |_, address: Text| async move {
        Ok(answer(programs::reverse(&address.lossy()).await))
    })?;
    reach::install(module)?;
    dns::install(module)?;
    module.act("interfaces", |lua, ()| match interfaces::all() {
        Ok(all) => Ok((Some(interfaces::table(lua, &all)?), None)),
        Err(why) => Ok((None, Some(why))),
    })?;
    module.act_async("local_ip", |_, ()| async move { Ok(answer(interfaces::own().await)) })?;
    module.act_async("public_ip", |lua, (first, second): (Value, Option<Table>)| async move {
        let (url, options) = match first {
            Value::Table(options) => (None, Some(options)),
            Value::Nil => (None, second),
            url => (Some(Text::from_lua(url, &lua)?.lossy()), second),
        };
        let options = Options::of(options)?;
        let Some(url) = url.or_else(|| acting().env("HOSTLER_PUBLIC_IP_URL")) else {
            return Ok(answer(Err(
                "give it the URL of a service that answers with the address it sees, or name one in HOSTLER_PUBLIC_IP_URL".to_owned(),
            )));
        };
        Ok(answer(public_ip(&url, options.timeout).await))
    })?;
    module.act_async(
        "ssl_check",
        |lua, (host, port, timeout): (Text, Option<Value>, Option<Span>)| async move {
            let port = match port {
                None | Some(Value::Nil) => 443,
                Some(port) => Port::from_lua(port, &lua)?.0,
            };
            let timeout = timeout.map_or(PATIENCE * 2, Span::duration);
            certificate::check(&lua, &host.lossy(), port, timeout).await
        },
    )
}

/// The certificate of a server, for others.
pub(in crate::modules) async fn certificate(
    lua: &Lua,
    host: &str,
    port: u16,
    timeout: Duration,
) -> Result<Answer<Table>> {
    certificate::check(lua, host, port, timeout).await
}

/// Which ports take connections, for others.
pub(in crate::modules) async fn scan(
    lua: &Lua,
    host: &str,
    ports: Vec<u16>,
    timeout: Duration,
) -> Result<Answer<Table>> {
    reach::scan(lua, host, ports, timeout).await
}

/// The status and the headers of what a server answers, for others.
pub(in crate::modules) async fn headers(
    url: &str,
    timeout: Duration,
) -> std::result::Result<(u16, Vec<(String, Vec<u8>)>), String> {
    let reply = Request { timeout, ..Request::new("GET", url) }.send().await?;
    Ok((reply.status, reply.headers))
}

/// What functions here can be told besides.
#[derive(Default)]
struct Options {
    count: Option<u32>,
    hops: Option<u32>,
    port: Option<u16>,
    timeout: Option<Duration>,
    server: Option<String>,
    send: Option<Vec<u8>>,
}

impl Options {
    fn of(table: Option<Table>) -> Result<Options> {
        let Some(table) = table else { return Ok(Options::default()) };
        Ok(Options {
            count: table.get::<Option<f64>>("count")?.map(|n| count(n, 1000).max(1)),
            hops: table.get::<Option<f64>>("hops")?.map(|n| count(n, 255).max(1)),
            port: table.get::<Option<Port>>("port")?.map(|port| port.0),
            timeout: table.get::<Option<Span>>("timeout")?.map(Span::duration),
            server: table.get("server")?,
            send: table.get::<Option<Text>>("send")?.map(|text| text.0),
        })
    }
}

/// A port, as a number or as its text.
struct Port(u16);

impl FromLua for Port {
    fn from_lua(value: Value, lua: &mlua::Lua) -> Result<Port> {
        let from = value.type_name();
        let number: Option<f64> = f64::from_lua(value, lua).ok();
        let port = number
            .filter(|n| n.fract() == 0.0 && (1.0..=65535.0).contains(n))
            .and_then(|n| u16::try_from(count(n, 65535)).ok());
        port.map(Port).ok_or_else(|| mlua::Error::FromLuaConversionError {
            from,
            to: "a port".to_owned(),
            message: Some("ports are whole numbers from 1 to 65535".to_owned()),
        })
    }
}

async fn public_ip(url: &str, timeout: Option<Duration>) -> std::result::Result<String, String> {
    let mut request = Request::new("GET", url);
    request.timeout = timeout.unwrap_or(request.timeout);
    let reply = request.send().await?;
    let text = String::from_utf8_lossy(&reply.body).trim().to_owned();
    match text.parse::<IpAddr>() {
        Ok(address) if (200..300).contains(&reply.status) => Ok(address.to_string()),
        _ => Err(format!("{url} does not answer with an address ({})", reply.reason)),
    }
}
