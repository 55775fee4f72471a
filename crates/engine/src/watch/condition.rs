//! Edges: what is so now and was otherwise at the look before.

use std::collections::BTreeMap;

use hostler_model::{Watch, WatchCondition as On};

use super::{Mark, NAMED, Ran, Seen, Spark, UnitState};

/// Everything that has become otherwise, whether the watcher fires on it or not.
pub(super) fn edges(watch: &Watch, before: Option<&Seen>, now: &Seen) -> Vec<Spark> {
    let subject = watch.subject();
    let one = |condition, words: String| {
        let (value, threshold) = (None, None);
        vec![Spark { condition, subject: subject.clone(), value, threshold, count: 1, words }]
    };
    match (before, now) {
        (_, Seen::Lines { count, first }) => lines(&subject, *count, first),
        (Some(Seen::File(before)), Seen::File(now)) => match (before, now) {
            (None, Some(_)) => one(On::Created, format!("{subject} is there")),
            (Some(_), None) => one(On::Removed, format!("{subject} is gone")),
            (Some(before), Some(now)) if before != now => {
                one(On::Changed, format!("{subject} was changed"))
            }
            _ => Vec::new(),
        },
        (Some(Seen::Entries(before)), Seen::Entries(now)) => entries(before, now),
        (Some(Seen::Processes(before)), Seen::Processes(now)) => {
            let needed = match watch {
                Watch::Process(it) => u64::from(it.count),
                _ => 1,
            };
            match (*before >= needed, *now >= needed) {
                (false, true) => counted(&subject, On::Started, *now, needed, "runs"),
                (true, false) => {
                    counted(&subject, On::Ended, *now, needed, "does not run any more")
                }
                _ => Vec::new(),
            }
        }
        (Some(Seen::Port(false)), Seen::Port(true)) => {
            one(On::Opened, format!("{subject} is open"))
        }
        (Some(Seen::Port(true)), Seen::Port(false)) => {
            one(On::Closed, format!("{subject} is closed"))
        }
        (Some(Seen::Unit(before)), Seen::Unit(now)) if before != now => match now {
            UnitState::Running => one(On::Started, format!("{subject} runs")),
            UnitState::Stopped => one(On::Stopped, format!("{subject} was stopped")),
            UnitState::Failed => one(On::Failed, format!("{subject} has failed")),
        },
        (Some(Seen::Command(before)), Seen::Command(now)) => command(&subject, before, now),
        _ => Vec::new(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody has so many processes")]
fn counted(subject: &str, condition: On, count: u64, needed: u64, what: &str) -> Vec<Spark> {
    let words = match needed {
        1 => format!("{subject} {what}"),
        _ => format!("{subject} {what} as often as it should: {count} of {needed}"),
    };
    let (value, threshold) = (Some(count as f64), Some(needed as f64));
    vec![Spark { condition, subject: subject.to_owned(), value, threshold, count: 1, words }]
}

fn lines(subject: &str, count: u64, first: &str) -> Vec<Spark> {
    if count == 0 {
        return Vec::new();
    }
    let words = match count {
        1 => format!("{subject}: {first}"),
        _ => format!("{subject}: {count} lines, the first: {first}"),
    };
    let (subject, value, threshold) = (first.to_owned(), None, None);
    vec![Spark { condition: On::Matches, subject, value, threshold, count, words }]
}

/// One spark for everything that was created, one for what was changed, one for what was removed.
fn entries(before: &BTreeMap<String, Mark>, now: &BTreeMap<String, Mark>) -> Vec<Spark> {
    let created = now.keys().filter(|name| !before.contains_key(*name));
    let changed =
        now.iter().filter(|(name, mark)| before.get(*name).is_some_and(|before| before != *mark));
    let removed = before.keys().filter(|name| !now.contains_key(*name));
    let all = [
        (On::Created, created.collect::<Vec<_>>()),
        (On::Changed, changed.map(|(name, _)| name).collect()),
        (On::Removed, removed.collect()),
    ];
    let mut sparks = Vec::new();
    for (condition, names) in all {
        let Some(first) = names.first() else { continue };
        let shown: Vec<&str> = names.iter().take(NAMED).map(|name| name.as_str()).collect();
        let more = match names.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        sparks.push(Spark {
            condition,
            subject: (*first).clone(),
            value: None,
            threshold: None,
            count: names.len() as u64,
            words: format!("{condition}: {}{more}", shown.join(", ")),
        });
    }
    sparks
}

fn command(subject: &str, before: &Ran, now: &Ran) -> Vec<Spark> {
    let is_good = |ran: &Ran| ran.code == Some(0);
    let how = match now.code {
        Some(code) => format!("exit code {code}"),
        None => "it was ended".to_owned(),
    };
    let mut sparks = Vec::new();
    let mut say = |condition, words: String| {
        sparks.push(Spark {
            condition,
            subject: subject.to_owned(),
            value: now.code.map(f64::from),
            threshold: None,
            count: 1,
            words,
        });
    };
    match (is_good(before), is_good(now)) {
        (true, false) => say(On::Failed, format!("{subject} fails: {how}")),
        (false, true) => say(On::Recovered, format!("{subject} does not fail any more")),
        _ => {}
    }
    if before.code != now.code {
        say(On::Changed, format!("{subject} ends otherwise: {how}"));
    }
    if before.output != now.output {
        say(On::OutputChanged, format!("{subject} prints something else"));
    }
    if now.is_match && !before.is_match {
        say(On::Matches, format!("{subject} prints what fits"));
    }
    sparks
}
