//! `hostler doctor`: from the configuration file to the nodes, what works and what does not.
//!
//! Checks run in the order in which they depend on each other; what cannot be checked because
//! something before it failed is skipped, so that the first failure is the one to look at.

use std::time::Duration;

use hostler_api::authority::AuthorityShow;
use hostler_api::node::{NodeList, NodeListQuery, NodeView};
use hostler_api::session::Whoami;
use hostler_api::system::{Livez, Readyz};
use hostler_base::chain;
use hostler_client::{Client, Error, probe};
use hostler_model::{AuthorityPhase, Code, NodeState, Timestamp};
use serde::Serialize;

use super::{Cx, DONE, NONE, PAGE};
use crate::config;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Cell, Column, Show, column, span};
use crate::target::Target;

/// An authority that ends within so many days is told of.
const AUTHORITY_DAYS: u64 = 60;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    Warning,
    Failed,
}

#[derive(Debug, Serialize)]
struct Check {
    name: &'static str,
    verdict: Verdict,
    detail: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    hint: String,
}

impl Show for Check {
    const KIND: &'static str = "check";
    const COLUMNS: &'static [Column] = &[column("CHECK"), column("RESULT"), column("DETAIL")];
    fn id(&self) -> String {
        self.name.to_owned()
    }
    fn name(&self) -> String {
        self.name.to_owned()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let verdict = match self.verdict {
            Verdict::Ok => Cell::new("ok").good(),
            Verdict::Warning => Cell::new("warning").warning(),
            Verdict::Failed => Cell::new("FAILED").bad(),
        };
        let detail = match self.hint.as_str() {
            "" => self.detail.clone(),
            hint => format!("{}; {hint}", self.detail),
        };
        vec![Cell::new(self.name), verdict, Cell::new(detail)]
    }
}

fn ok(name: &'static str, detail: impl Into<String>) -> Check {
    Check { name, verdict: Verdict::Ok, detail: detail.into(), hint: String::new() }
}

fn warning(name: &'static str, detail: impl Into<String>, hint: &str) -> Check {
    Check { name, verdict: Verdict::Warning, detail: detail.into(), hint: hint.to_owned() }
}

fn failed(name: &'static str, detail: impl Into<String>, hint: &str) -> Check {
    Check { name, verdict: Verdict::Failed, detail: detail.into(), hint: hint.to_owned() }
}

fn refused(name: &'static str, error: &Error) -> Check {
    failed(name, chain(error).to_string(), error.hint())
}

pub async fn doctor(cx: &Cx) -> Outcome {
    let mut checks = Vec::new();
    examine(cx, &mut checks).await;
    output::list(&cx.ui, cx.now(), &checks)?;
    let is_well = checks.iter().all(|check| check.verdict != Verdict::Failed);
    Ok(if is_well { DONE } else { exit::Code::Failure.number() })
}

async fn examine(cx: &Cx, checks: &mut Vec<Check>) {
    match config::load(&cx.environment) {
        Ok(config) => checks.push(ok(
            "configuration",
            format!(
                "{} (contexts: {})",
                cx.environment.config_file.display(),
                config.contexts.len()
            ),
        )),
        Err(error) => return checks.push(failed("configuration", format!("{error:#}"), "")),
    }
    let target = match Target::resolve(&cx.globals, &cx.environment) {
        Ok(target) => target,
        Err(Failure::Told { detail, hint, .. }) => {
            return checks.push(failed("context", detail, &hint));
        }
        Err(failure) => return checks.push(failed("context", failure.render(false), "")),
    };
    let context = target.context.as_deref().unwrap_or("none");
    checks.push(ok(
        "context",
        format!("{context}: {} from {}", target.address.value, target.address.source),
    ));
    let client = match target.client() {
        Ok(client) => client.with_timeout(Duration::from_secs(10)),
        Err(failure) => return checks.push(failed("server", failure.render(false), "")),
    };
    if !reach(cx, &client, checks).await {
        return;
    }
    checks.push(match client.call::<Readyz>(&NONE, &NONE, &NONE).await {
        Ok(health) if health.status == "ok" => ok("ready", "the server can do its work"),
        Ok(health) => {
            let wrong = health.checks.iter().filter(|(_, state)| *state != "ok");
            let wrong: Vec<_> = wrong.map(|(name, state)| format!("{name}: {state}")).collect();
            failed(
                "ready",
                format!("{} {}", health.status, wrong.join(", ")),
                "look at the server's log",
            )
        }
        Err(error) => refused("ready", &error),
    });
    if target.token.is_none() {
        return checks.push(failed("login", "there is no token", "log in with `hostler login`"));
    }
    match client.call::<Whoami>(&NONE, &NONE, &NONE).await {
        Ok(me) => checks.push(ok("login", format!("{} ({})", me.name, me.kind))),
        Err(error) => return checks.push(refused("login", &error)),
    }
    checks.extend(authority(&client, cx.now()).await);
    checks.push(nodes(&client).await);
}

/// Whether there is anything further to ask.
async fn reach(cx: &Cx, client: &Client, checks: &mut Vec<Check>) -> bool {
    match client.call_for_answer::<Livez>(&NONE, &NONE, &NONE).await {
        Ok(answer) => {
            checks.push(ok("server", format!("{} answers", client.address())));
            checks.push(ok("authority", "the server belongs to the pinned authority"));
            checks.push(clock(answer.date.as_deref(), cx.now()));
            true
        }
        Err(error @ Error::Untrusted { .. }) => {
            checks.push(ok("server", format!("{} answers", client.address())));
            let presented = probe(client.address(), cx.now(), Duration::from_secs(5)).await;
            let detail = match presented {
                Ok(presented) => format!("{error}; it presents {}", presented.fingerprint),
                Err(_) => chain(&error).to_string(),
            };
            checks.push(failed("authority", detail, error.hint()));
            false
        }
        Err(error) => {
            checks.push(refused("server", &error));
            false
        }
    }
}

fn clock(date: Option<&str>, now: Timestamp) -> Check {
    let Some(server) = date.and_then(|text| jiff::fmt::rfc2822::parse(text).ok()) else {
        return warning("clock", "the server did not tell its time", "");
    };
    let server = Timestamp::from_micros(server.timestamp().as_microsecond());
    let apart = server.since(now).max(now.since(server));
    let detail = format!("{} apart from the server's", span(apart));
    let hint = "set the clocks by NTP on both machines";
    match apart.as_secs() {
        0..=30 => ok("clock", detail),
        31..=240 => warning("clock", detail, hint),
        _ => failed("clock", detail, hint),
    }
}

/// What is to be said of the authority; nothing where it is well, or not for the caller to see.
async fn authority(client: &Client, now: Timestamp) -> Option<Check> {
    let view = client.call::<AuthorityShow>(&NONE, &NONE, &NONE).await.ok()?;
    if let Some(check) = authority_age(view.present.time_expires, now) {
        return Some(check);
    }
    let waiting = view.waiting.len();
    (view.phase != AuthorityPhase::Stable).then(|| {
        let detail = format!(
            "another takes the place of the old one, nodes that have not renewed: {waiting}"
        );
        warning("authority", detail, "`hostler ca show` names them, `hostler ca finish` ends it")
    })
}

fn authority_age(expires: Timestamp, now: Timestamp) -> Option<Check> {
    let days = expires.since(now).as_secs() / 86_400;
    let hint = "`hostler ca rotate` replaces it while everything goes on";
    match days {
        0 if expires <= now => Some(failed("authority", "it has expired", hint)),
        0..AUTHORITY_DAYS => {
            Some(warning("authority", format!("it expires in {days} days, on {expires}"), hint))
        }
        _ => None,
    }
}

async fn nodes(client: &Client) -> Check {
    let query = NodeListQuery { limit: PAGE, ..NodeListQuery::default() };
    let listing = match client.list_all::<NodeList, NodeView>(&NONE, &query).await {
        Ok(listing) => listing,
        Err(error) if error.is(Code::Forbidden) => {
            return ok("nodes", "not for you to see");
        }
        Err(error) => return refused("nodes", &error),
    };
    let online = listing.items.iter().filter(|node| node.state == NodeState::Online).count();
    let detail = format!("{online} of {} online", listing.items.len());
    if online == 0 {
        failed(
            "nodes",
            detail,
            "`hostler node token create` lets a machine join; `hostler node ls` shows who is away",
        )
    } else if online < listing.items.len() {
        warning("nodes", detail, "`hostler node ls` shows who is away")
    } else {
        ok("nodes", detail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_authority_that_ends_soon_is_told() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let verdict =
            |expires: &str| authority_age(expires.parse().unwrap(), now).map(|check| check.verdict);
        assert_eq!(verdict("2036-01-31T12:00:00Z"), None);
        assert_eq!(verdict("2026-03-31T12:00:00Z"), Some(Verdict::Warning));
        assert_eq!(verdict("2026-01-31T13:00:00Z"), Some(Verdict::Warning));
        assert_eq!(verdict("2026-01-31T11:00:00Z"), Some(Verdict::Failed));
    }

    #[test]
    fn clocks_that_are_apart_are_told() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let verdict = |date: &str| clock(Some(date), now).verdict;
        assert_eq!(verdict("Sat, 31 Jan 2026 12:00:10 GMT"), Verdict::Ok);
        assert_eq!(verdict("Sat, 31 Jan 2026 11:58:00 GMT"), Verdict::Warning);
        assert_eq!(verdict("Sat, 31 Jan 2026 14:00:00 GMT"), Verdict::Failed);
        assert_eq!(clock(None, now).verdict, Verdict::Warning);
    }
}
