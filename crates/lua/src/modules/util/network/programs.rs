//! What only programs of the machine can do.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Duration;

use mlua::{Lua, Result, Table};
use regex::Regex;

use crate::modules::util::given::Answer;
use crate::modules::{Ended, Order, acting, as_text};

/// What can be a host on a command line: never an option.
fn host(name: &str) -> std::result::Result<&str, String> {
    let is_fine = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '%');
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_fine) {
        return Err(format!("`{name}` cannot be a host; give it a name or an address"));
    }
    Ok(name)
}

async fn run(
    words: &[&str],
    package: &str,
    timeout: Duration,
) -> std::result::Result<Ended, String> {
    let mut order = Order {
        program: words.iter().map(OsString::from).collect(),
        timeout: Some(timeout),
        ..Order::default()
    };
    order.prepare(&acting());
    let name = words.first().copied().unwrap_or_default();
    match order.run().await {
        Ok(ended) if ended.is_timeout => Err(format!("{name} took too long")),
        Ok(ended) => Ok(ended),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(format!(
            "{name} is not installed here; install it ({package}) or run the step elsewhere"
        )),
        Err(error) => Err(format!("{name} could not be started: {error}")),
    }
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a program complained about, for people.
fn complaint(name: &str, ended: &Ended) -> String {
    let text = said(if ended.stderr.is_empty() { &ended.stdout } else { &ended.stderr });
    let last = text.trim().lines().last().unwrap_or_default().to_owned();
    format!("{name} ended with {}: {last}", ended.code())
}

pub(super) async fn ping(
    lua: &Lua,
    name: &str,
    count: u32,
    timeout: Option<Duration>,
) -> Result<Answer<Table>> {
    let each = timeout.unwrap_or(Duration::from_secs(5)).as_secs().max(1);
    let whole = Duration::from_secs(u64::from(count) * (each + 1) + 5);
    let (count, each) = (count.to_string(), each.to_string());
    let ran = match host(name) {
        Ok(host) => {
            let words = ["ping", "-n", "-c", &count, "-W", &each, host];
            run(&words, "iputils-ping", whole).await
        }
        Err(why) => Err(why),
    };
    let ended = match ran {
        Ok(ended) => ended,
        Err(why) => return Ok((None, Some(why))),
    };
    let output = said(&ended.stdout);
    let Some(summary) = Summary::of(&output) else {
        return Ok((None, Some(complaint("ping", &ended))));
    };
    let table = lua.create_table()?;
    table.set("success", ended.is_success() && summary.received > 0.0)?;
    table.set("sent", summary.sent)?;
    table.set("received", summary.received)?;
    table.set("loss", (1.0 - summary.received / summary.sent.max(1.0)) * 100.0)?;
    if let Some((least, mean, most)) = summary.times {
        table.set("min", least)?;
        table.set("avg", mean)?;
        table.set("max", most)?;
    }
    table.set("output", output)?;
    as_text(lua, &table, "output")?;
    Ok((Some(table), None))
}

/// What every ping says at its end.
struct Summary {
    sent: f64,
    received: f64,
    times: Option<(f64, f64, f64)>,
}

impl Summary {
    fn of(output: &str) -> Option<Summary> {
        let counts = Regex::new(r"(\d+) packets transmitted, (\d+)").ok()?.captures(output)?;
        let times = Regex::new(r"= ([\d.]+)/([\d.]+)/([\d.]+)").ok()?.captures(output);
        Some(Summary {
            sent: counts[1].parse().ok()?,
            received: counts[2].parse().ok()?,
            times: times.and_then(|times| {
                Some((times[1].parse().ok()?, times[2].parse().ok()?, times[3].parse().ok()?))
            }),
        })
    }
}

pub(super) async fn traceroute(
    lua: &Lua,
    name: &str,
    hops: Option<u32>,
    timeout: Option<Duration>,
) -> Result<Answer<Table>> {
    let hops = hops.unwrap_or(30).to_string();
    let ran = match host(name) {
        Ok(host) => {
            let words = ["traceroute", "-n", "-m", &hops, host];
            run(&words, "traceroute", timeout.unwrap_or(Duration::from_secs(120))).await
        }
        Err(why) => Err(why),
    };
    let ended = match ran {
        Ok(ended) if ended.is_success() => ended,
        Ok(ended) => return Ok((None, Some(complaint("traceroute", &ended)))),
        Err(why) => return Ok((None, Some(why))),
    };
    let output = said(&ended.stdout);
    let list = lua.create_table()?;
    for line in output.lines() {
        let mut words = line.split_whitespace();
        let Some(number) = words.next().and_then(|word| word.parse::<u32>().ok()) else { continue };
        let words: Vec<&str> = words.collect();
        let hop = lua.create_table()?;
        hop.set("number", number)?;
        hop.set("address", words.iter().find(|word| word.parse::<IpAddr>().is_ok()).copied())?;
        let times = words
            .windows(2)
            .filter(|pair| pair[1] == "ms")
            .filter_map(|pair| pair[0].parse::<f64>().ok());
        hop.set("times", lua.create_sequence_from(times)?)?;
        list.push(hop)?;
    }
    let table = lua.create_table()?;
    table.set("output", output)?;
    table.set("hops", list)?;
    as_text(lua, &table, "output")?;
    Ok((Some(table), None))
}

pub(super) async fn whois(name: &str) -> std::result::Result<String, String> {
    let ended = run(&["whois", host(name)?], "whois", Duration::from_secs(30)).await?;
    if ended.stdout.is_empty() {
        return Err(complaint("whois", &ended));
    }
    Ok(said(&ended.stdout))
}

pub(super) async fn reverse(address: &str) -> std::result::Result<Vec<String>, String> {
    let address: IpAddr = address.parse().map_err(|_| format!("`{address}` is no address"))?;
    let text = address.to_string();
    let ended = run(&["getent", "hosts", &text], "libc-bin", Duration::from_secs(15)).await?;
    let output = said(&ended.stdout);
    let names: Vec<String> = output
        .lines()
        .flat_map(|line| line.split_whitespace().skip(1))
        .map(str::to_owned)
        .collect();
    if names.is_empty() { Err(format!("{text} has no name")) } else { Ok(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_every_ping_is_understood() {
        let linux = "4 packets transmitted, 3 received, 25% packet loss, time 3ms\nrtt min/avg/max/mdev = 0.031/0.042/0.059/0.010 ms";
        let busybox = "4 packets transmitted, 3 packets received, 25% packet loss\nround-trip min/avg/max = 0.031/0.042/0.059 ms";
        for output in [linux, busybox] {
            let summary = Summary::of(output).unwrap();
            assert_eq!((summary.sent, summary.received), (4.0, 3.0));
            assert_eq!(summary.times, Some((0.031, 0.042, 0.059)));
        }
        assert!(Summary::of("4 packets transmitted, 0 received").unwrap().times.is_none());
        assert!(Summary::of("unknown host").is_none());
    }

    #[test]
    fn an_option_is_no_host() {
        for bad in ["", "-f", "a b", "a;b", "$(x)", "a/b"] {
            assert!(host(bad).is_err(), "{bad}");
        }
        for good in ["example.org", "::1", "fe80::1%eth0", "10.0.0.1", "a_b"] {
            assert!(host(good).is_ok(), "{good}");
        }
    }
}
