//! `hostler doctor`: from this machine to the server and the nodes, what works and what does not.
//!
//! Checks run in the order in which they depend on each other; what cannot be checked because
//! something before it failed is skipped, so that the first failure is the one to look at. First comes what
//! the binary found of a server's files on this machine, then the way to the server, then what the server
//! finds of itself (`engine::doctor`), for those who may ask that.
//!
//! The worst finding decides how it ends. `--fix` does what can be done without risk, after asking.

use std::time::Duration;

use hostler_api::authority::AuthorityShow;
use hostler_api::backup::BackupScheduleRun;
use hostler_api::node::{NodeList, NodeListQuery, NodeView};
use hostler_api::record::AuditAnchorCreate;
use hostler_api::session::Whoami;
use hostler_api::system::{Diagnose, Livez, Readyz};
use hostler_base::chain;
use hostler_client::{Client, Error, probe};
use hostler_model::{AuthorityPhase, Code, Finding, Fix, NodeState, Severity, Timestamp};

use super::{Cx, DONE, NONE, PAGE};
use crate::args::DoctorArgs;
use crate::config;
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output::{self, Cell, Column, Show, column, counted, span, wide};
use crate::target::Target;

/// An authority that ends within so many days is told of.
const AUTHORITY_DAYS: u64 = 60;

impl Show for Finding {
    const KIND: &'static str = "finding";
    const COLUMNS: &'static [Column] = &[
        column("CHECK"),
        column("RESULT"),
        column("WHAT"),
        wide("WHY"),
        wide("EVIDENCE"),
        column("NEXT"),
    ];
    fn id(&self) -> String {
        self.check.clone()
    }
    fn name(&self) -> String {
        self.check.clone()
    }
    fn cells(&self, _: Timestamp, _: bool) -> Vec<Cell> {
        let severity = match self.severity {
            Severity::Ok => Cell::new("ok").good(),
            Severity::Notice => Cell::new("notice"),
            Severity::Warning => Cell::new("warning").warning(),
            Severity::Critical => Cell::new("CRITICAL").bad(),
        };
        let absent = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        vec![
            Cell::new(&self.check),
            severity,
            Cell::new(&self.what),
            absent(&self.why).into(),
            absent(&self.evidence.join("; ")).into(),
            absent(&self.next).into(),
        ]
    }
}

fn ok(check: &str, what: impl Into<String>) -> Finding {
    Finding::ok(check, what)
}

fn warning(check: &str, what: impl Into<String>, next: &str) -> Finding {
    Finding::new(check, Severity::Warning, what).next(next)
}

fn failed(check: &str, what: impl Into<String>, next: &str) -> Finding {
    Finding::new(check, Severity::Critical, what).next(next)
}

fn refused(check: &str, error: &Error) -> Finding {
    failed(check, chain(error).to_string(), error.hint())
}

/// How it ends, by the worst there is.
fn exit_of(findings: &[Finding]) -> u8 {
    match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Critical) => exit::Code::Failure.number(),
        Some(Severity::Warning) => exit::Code::Unhealthy.number(),
        Some(Severity::Notice | Severity::Ok) | None => DONE,
    }
}

pub async fn doctor(cx: &Cx, args: DoctorArgs) -> Outcome {
    let mut findings = cx.findings.clone();
    examine(cx, &mut findings).await;
    output::list(&cx.ui, cx.now(), &findings)?;
    if cx.is_for_people() {
        explain(cx, &findings);
    }
    let fixes: Vec<&Finding> = findings.iter().filter(|finding| finding.fix.is_some()).collect();
    match (args.fix, fixes.is_empty()) {
        (_, true) => {}
        (false, false) => cx.ui.say("`hostler doctor --fix` does what can be done without risk"),
        (true, false) => {
            for finding in fixes {
                mend(cx, finding).await?;
            }
        }
    }
    Ok(exit_of(&findings))
}

/// Why what was found matters, and how it was seen: for what is not well.
fn explain(cx: &Cx, findings: &[Finding]) {
    for finding in findings.iter().filter(|finding| finding.severity > Severity::Notice) {
        let mut text = format!("{}: {}", finding.check, finding.what);
        if !finding.why.is_empty() {
            text.push_str(&format!("; {}", finding.why));
        }
        for line in &finding.evidence {
            text.push_str(&format!("\n  - {line}"));
        }
        cx.ui.say(&text);
    }
}

/// Does one thing about a finding, after asking.
async fn mend(cx: &Cx, finding: &Finding) -> Result<(), Failure> {
    let Some(fix) = finding.fix else { return Ok(()) };
    let question = match fix {
        Fix::BackupNow => "Make a backup now?",
        Fix::AuditAnchor => "Sign the audit chain as it is?",
        Fix::TightenKey => "Let nobody else read the file of the master key?",
    };
    cx.ui.confirm(question)?;
    match fix {
        Fix::BackupNow => {
            cx.link()?.client.call::<BackupScheduleRun>(&NONE, &NONE, &NONE).await?;
            cx.ui.say("a backup is made now");
        }
        Fix::AuditAnchor => {
            cx.link()?.client.call::<AuditAnchorCreate>(&NONE, &NONE, &NONE).await?;
            cx.ui.say("the audit chain is signed");
        }
        Fix::TightenKey => {
            use std::os::unix::fs::PermissionsExt as _;
            for path in &finding.evidence {
                let mode = std::fs::Permissions::from_mode(0o600);
                std::fs::set_permissions(path, mode).map_err(|e| {
                    let detail = format!("{path} cannot be changed: {e}");
                    Failure::told(exit::Code::Failure, detail, "do it as the owner of the file")
                })?;
                cx.ui.say(&format!("only its owner can read {path}"));
            }
        }
    }
    Ok(())
}

async fn examine(cx: &Cx, checks: &mut Vec<Finding>) {
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
    match client.call::<Diagnose>(&NONE, &NONE, &NONE).await {
        Ok(diagnosis) => checks.extend(diagnosis.findings),
        Err(error) if error.is(Code::Forbidden) || error.is(Code::NotFound) => {
            checks.extend(authority(&client, cx.now()).await);
            checks.push(nodes(&client).await);
        }
        Err(error) => checks.push(refused("diagnosis", &error)),
    }
}

/// Whether there is anything further to ask.
async fn reach(cx: &Cx, client: &Client, checks: &mut Vec<Finding>) -> bool {
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

fn clock(date: Option<&str>, now: Timestamp) -> Finding {
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
async fn authority(client: &Client, now: Timestamp) -> Option<Finding> {
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

fn authority_age(expires: Timestamp, now: Timestamp) -> Option<Finding> {
    let days = expires.since(now).as_secs() / 86_400;
    let hint = "`hostler ca rotate` replaces it while everything goes on";
    match days {
        0 if expires <= now => Some(failed("authority", "it has expired", hint)),
        0..AUTHORITY_DAYS => Some(warning(
            "authority",
            format!("it expires in {}, on {expires}", counted(days, "day")),
            hint,
        )),
        _ => None,
    }
}

async fn nodes(client: &Client) -> Finding {
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
    fn the_worst_finding_decides_how_it_ends() {
        let of = |severity| Finding::new("x", severity, "y");
        assert_eq!(exit_of(&[]), 0);
        assert_eq!(exit_of(&[of(Severity::Ok), of(Severity::Notice)]), 0);
        assert_eq!(exit_of(&[of(Severity::Warning), of(Severity::Ok)]), 4);
        assert_eq!(exit_of(&[of(Severity::Warning), of(Severity::Critical)]), 1);
    }

    #[test]
    fn an_authority_that_ends_soon_is_told() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let verdict = |expires: &str| {
            authority_age(expires.parse().unwrap(), now).map(|finding| finding.severity)
        };
        assert_eq!(verdict("2036-01-31T12:00:00Z"), None);
        assert_eq!(verdict("2026-03-31T12:00:00Z"), Some(Severity::Warning));
        assert_eq!(verdict("2026-01-31T13:00:00Z"), Some(Severity::Warning));
        assert_eq!(verdict("2026-01-31T11:00:00Z"), Some(Severity::Critical));
    }

    #[test]
    fn clocks_that_are_apart_are_told() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let verdict = |date: &str| clock(Some(date), now).severity;
        assert_eq!(verdict("Sat, 31 Jan 2026 12:00:10 GMT"), Severity::Ok);
        assert_eq!(verdict("Sat, 31 Jan 2026 11:58:00 GMT"), Severity::Warning);
        assert_eq!(verdict("Sat, 31 Jan 2026 14:00:00 GMT"), Severity::Critical);
        assert_eq!(clock(None, now).severity, Severity::Warning);
    }
}
