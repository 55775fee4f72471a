//! Connections: whether, how long, how fast, and what is said.

use std::time::{Duration, Instant};

use futures::StreamExt;
use mlua::{Lua, Result, Table};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Options, PATIENCE, Port};
use crate::modules::Installer;
use crate::modules::util::given::{Answer, Span, Text, amount};
use crate::modules::util::web::Request;

/// How many connections are tried at a time.
const AT_ONCE: usize = 128;
/// How long a connection may be silent before it is taken as done.
const SILENCE: Duration = Duration::from_secs(1);
/// The most that is taken of what the other side says.
const HEARD: usize = 1 << 20;
/// The most that is taken to see how fast it comes.
const MEASURED: usize = 64 << 20;

pub(super) fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async(
        "port_check",
        |_, (host, port, timeout): (Text, Port, Option<Span>)| async move {
            let timeout = timeout.map_or(PATIENCE, Span::duration);
            Ok(match connect(&host.lossy(), port.0, timeout).await {
                Ok(_) => (true, None),
                Err(why) => (false, Some(why)),
            })
        },
    )?;
    module.act_async(
        "port_scan",
        |lua, (host, ports, timeout): (Text, Vec<Port>, Option<Span>)| async move {
            let timeout = timeout.map_or(Duration::from_secs(2), Span::duration);
            let ports = ports.into_iter().map(|port| port.0).collect();
            scan(&lua, &host.lossy(), ports, timeout).await
        },
    )?;
    module.act_async(
        "telnet",
        |lua, (host, port, options): (Text, Port, Option<Table>)| async move {
            talk(&lua, &host.lossy(), port.0, Options::of(options)?).await
        },
    )?;
    module.act_async("latency_test", |lua, (host, options): (Text, Option<Table>)| async move {
        latency(&lua, &host.lossy(), Options::of(options)?).await
    })?;
    module.act_async("bandwidth_test", |lua, (url, options): (Text, Option<Table>)| async move {
        bandwidth(&lua, &url.lossy(), Options::of(options)?).await
    })
}

pub(super) async fn connect(
    host: &str,
    port: u16,
    timeout: Duration,
) -> std::result::Result<TcpStream, String> {
    match tokio::time::timeout(timeout, TcpStream::connect((host, port))).await {
        Ok(Ok(stream)) => Ok(stream),
        Ok(Err(error)) => Err(format!("{host} port {port}: {error}")),
        Err(_) => Err(format!("{host} port {port}: no answer in time")),
    }
}

pub(super) async fn scan(
    lua: &Lua,
    host: &str,
    ports: Vec<u16>,
    timeout: Duration,
) -> Result<Answer<Table>> {
    // A name is looked up once, not for every port.
    let address = match tokio::net::lookup_host((host, 0)).await.map(|mut found| found.next()) {
        Ok(Some(found)) => found.ip().to_string(),
        Ok(None) => return Ok((None, Some(format!("{host} has no address")))),
        Err(error) => return Ok((None, Some(format!("{host}: {error}")))),
    };
    let total = ports.len();
    let tries = ports.into_iter().map(|port| {
        let address = address.clone();
        async move { (port, connect(&address, port, timeout).await.is_ok()) }
    });
    let mut found: Vec<(u16, bool)> =
        futures::stream::iter(tries).buffer_unordered(AT_ONCE).collect().await;
    found.sort_unstable();
    let with = |is_open: bool| {
        let ports = found.iter().filter(move |(_, open)| *open == is_open).map(|(port, _)| *port);
        lua.create_sequence_from(ports)
    };
    let table = lua.create_table()?;
    table.set("open", with(true)?)?;
    table.set("closed", with(false)?)?;
    table.set("total_scanned", total)?;
    Ok((Some(table), None))
}

async fn talk(lua: &Lua, host: &str, port: u16, options: Options) -> Result<Answer<Table>> {
    let timeout = options.timeout.unwrap_or(PATIENCE);
    let mut stream = match connect(host, port, timeout).await {
        Ok(stream) => stream,
        Err(why) => return Ok((None, Some(why))),
    };
    let mut heard = Vec::new();
    let conversation = async {
        if let Some(text) = options.send {
            stream.write_all(&text).await?;
        }
        let mut buffer = vec![0; 16 << 10];
        while heard.len() < HEARD {
            match tokio::time::timeout(SILENCE, stream.read(&mut buffer)).await {
                Ok(read) => match read? {
                    0 => break,
                    read => heard.extend_from_slice(&buffer[..read]),
                },
                Err(_) => break,
            }
        }
        std::io::Result::Ok(())
    };
    if let Ok(Err(error)) = tokio::time::timeout(timeout, conversation).await {
        return Ok((None, Some(format!("{host} port {port}: {error}"))));
    }
    let table = lua.create_table()?;
    table.set("connected", true)?;
    table.set("output", lua.create_string(&heard)?)?;
    Ok((Some(table), None))
}

async fn latency(lua: &Lua, host: &str, options: Options) -> Result<Answer<Table>> {
    let count = options.count.unwrap_or(4);
    let timeout = options.timeout.unwrap_or(PATIENCE);
    let mut times = Vec::new();
    for _ in 0..count {
        let began = Instant::now();
        if connect(host, options.port.unwrap_or(443), timeout).await.is_ok() {
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
    }
    let table = lua.create_table()?;
    table.set("success", !times.is_empty())?;
    table.set("count", count)?;
    table.set("lost", u64::from(count) - times.len() as u64)?;
    if !times.is_empty() {
        table.set("min", times.iter().copied().fold(f64::INFINITY, f64::min))?;
        table.set("max", times.iter().copied().fold(0.0, f64::max))?;
        table.set("avg", times.iter().sum::<f64>() / amount(times.len() as u64))?;
    }
    Ok((Some(table), None))
}

async fn bandwidth(lua: &Lua, url: &str, options: Options) -> Result<Answer<Table>> {
    let mut request = Request::new("GET", url);
    request.timeout = options.timeout.unwrap_or(request.timeout);
    let response = match request.begin().await {
        Ok(response) if response.status().is_success() => response,
        Ok(response) => return Ok((None, Some(format!("{url} answers {}", response.status())))),
        Err(why) => return Ok((None, Some(why))),
    };
    let began = Instant::now();
    let mut bytes = 0;
    let mut pieces = response.bytes_stream();
    while bytes < MEASURED
        && let Some(piece) = pieces.next().await
    {
        match piece {
            Ok(piece) => bytes += piece.len(),
            Err(error) if error.is_timeout() && bytes > 0 => break,
            Err(error) => return Ok((None, Some(format!("{url}: {error}")))),
        }
    }
    let (bytes, seconds) = (amount(bytes as u64), began.elapsed().as_secs_f64().max(1e-6));
    let table = lua.create_table()?;
    table.set("bytes", bytes)?;
    table.set("seconds", seconds)?;
    table.set("mbps", bytes * 8.0 / 1e6 / seconds)?;
    Ok((Some(table), None))
}
