//! Watchers: what a look at a machine means, after all the looks before it.
//!
//! A node keeps a [`Memory`] of each watcher and asks [`judge`] after every look; what comes back is to be told.
//!
//! - *Edges* (a file was changed, a port was closed) are what is so now and was otherwise at the look before. The
//!   first look has none before it and tells nothing.
//! - *Levels* (a disk is fuller than this) begin when they were so at every look for as long as is wanted, and are over
//!   when the figure has passed the threshold in the other direction by some way. Only one that was told is told to be
//!   over.
//! - Within the cooldown nothing fires. Edges are counted instead; a level that is still so afterwards fires then.
//!
//! What is remembered outlives the agent, apart from how long a level has been so: an agent that was away cannot
//! know that it was so all the time.

mod condition;
mod level;

use std::collections::BTreeMap;

use hostler_model::{
    Generation, Timestamp, Watch, WatchCondition, WatcherOrder, WatcherTold, WatcherWord,
};
use serde::{Deserialize, Serialize};

/// How seldom a watcher that can look one moment and cannot the next tells of it.
const TROUBLE_EVERY: std::time::Duration = std::time::Duration::from_mins(10);
/// How many of many are named.
pub(crate) const NAMED: usize = 5;

/// What is there of a file or an entry of a directory: two that are alike are the same to us.
pub type Mark = u64;

/// How a unit of systemd is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnitState {
    Running,
    Stopped,
    Failed,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ran {
    /// Absent when a signal ended it, or its time was up.
    pub code: Option<i32>,
    /// Of what it printed.
    pub output: Mark,
    /// Whether that fits the pattern.
    pub is_match: bool,
}

/// What a look saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Seen {
    /// A file, if there is one.
    File(Option<Mark>),
    /// The entries of a directory, or none where it is not there.
    Entries(BTreeMap<String, Mark>),
    /// How many processes.
    Processes(u64),
    /// Whether somebody listens.
    Port(bool),
    Command(Ran),
    /// New lines that fit: how many, and the first of them.
    Lines {
        count: u64,
        first: String,
    },
    Figure(f64),
    Unit(UnitState),
    /// When it ends.
    Certificate(Timestamp),
}

/// What is remembered of a watcher from one look to the next.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Memory {
    /// What the last look saw, as far as the next one needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Seen>,
    /// A level that was told and is not over.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_firing: bool,
    /// Since when a level is so that was not told.
    #[serde(skip)]
    pub since: Option<Timestamp>,
    /// A level that would have fired but for the cooldown.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_held: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_fired: Option<Timestamp>,
    /// What would have fired since.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped: u64,
    /// Why it cannot be looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_trouble: Option<Timestamp>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Something that a watcher fires on, before it is known whether it may.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Spark {
    pub condition: WatchCondition,
    pub subject: String,
    pub value: Option<f64>,
    pub threshold: Option<f64>,
    pub count: u64,
    pub words: String,
}

impl Spark {
    fn told(self, word: WatcherWord, skipped: u64) -> WatcherTold {
        WatcherTold {
            word,
            condition: Some(self.condition),
            subject: self.subject,
            value: self.value,
            threshold: self.threshold,
            count: self.count,
            skipped,
            words: self.words,
        }
    }
}

/// What follows from a look: what is to be told, in this order.
pub fn judge(
    order: &WatcherOrder,
    memory: &mut Memory,
    looked: Result<Seen, String>,
    now: Timestamp,
) -> Vec<WatcherTold> {
    let seen = match looked {
        Ok(seen) => seen,
        Err(problem) => return trouble(order, memory, problem, now),
    };
    memory.trouble = None;
    match &seen {
        Seen::Figure(_) | Seen::Certificate(_) => level::judge(order, memory, &seen, now),
        _ => {
            let sparks = condition::edges(&order.watch, memory.before.as_ref(), &seen);
            memory.before = kept(&order.watch, seen);
            let mut told = Vec::new();
            for spark in sparks {
                if !order.watch.fires_on(spark.condition) {
                    continue;
                }
                match may_fire(order, memory, now) || !told.is_empty() {
                    true => told.push(fire(memory, spark, now)),
                    false => memory.skipped = memory.skipped.saturating_add(spark.count),
                }
            }
            told
        }
    }
}

/// What the next look needs of this one, and no more: what is remembered is written down whenever it changes.
fn kept(watch: &Watch, seen: Seen) -> Option<Seen> {
    match (watch, seen) {
        (_, Seen::Lines { .. } | Seen::Figure(_) | Seen::Certificate(_)) => None,
        (Watch::Process(it), Seen::Processes(count)) => {
            Some(Seen::Processes(count.min(u64::from(it.count))))
        }
        (_, Seen::Command(ran)) => {
            let is_needed = watch.fires_on(WatchCondition::OutputChanged);
            Some(Seen::Command(Ran { output: if is_needed { ran.output } else { 0 }, ..ran }))
        }
        (_, seen) => Some(seen),
    }
}

/// Whether the memory of a watcher is good for another order: what is looked at is the same.
pub fn goes_on(before: &WatcherOrder, after: &WatcherOrder) -> bool {
    before.watch == after.watch
}

/// A clock that was put back does not keep a watcher quiet.
fn may_fire(order: &WatcherOrder, memory: &Memory, now: Timestamp) -> bool {
    memory
        .time_fired
        .is_none_or(|fired| fired > now || now.since(fired) >= order.cooldown.duration())
}

fn fire(memory: &mut Memory, spark: Spark, now: Timestamp) -> WatcherTold {
    memory.time_fired = Some(now);
    spark.told(WatcherWord::Fired, std::mem::take(&mut memory.skipped))
}

fn trouble(
    order: &WatcherOrder,
    memory: &mut Memory,
    problem: String,
    now: Timestamp,
) -> Vec<WatcherTold> {
    memory.since = None;
    let is_known = memory.trouble.is_some();
    memory.trouble = Some(problem.clone());
    let pause = TROUBLE_EVERY.max(order.cooldown.duration());
    let is_early = memory.time_trouble.is_some_and(|last| last <= now && now.since(last) < pause);
    if is_known || is_early {
        return Vec::new();
    }
    memory.time_trouble = Some(now);
    vec![WatcherTold {
        word: WatcherWord::Trouble,
        condition: None,
        subject: order.watch.subject(),
        value: None,
        threshold: None,
        count: 1,
        skipped: 0,
        words: problem,
    }]
}

/// What a look saw, in a few words.
pub fn in_words(order: &WatcherOrder, seen: &Seen, now: Timestamp) -> String {
    match seen {
        Seen::File(None) => "not there".to_owned(),
        Seen::File(Some(_)) => "there".to_owned(),
        Seen::Entries(entries) if entries.len() == 1 => "1 entry".to_owned(),
        Seen::Entries(entries) => format!("{} entries", entries.len()),
        Seen::Processes(1) => "1 process".to_owned(),
        Seen::Processes(count) => format!("{count} processes"),
        Seen::Port(true) => "open".to_owned(),
        Seen::Port(false) => "closed".to_owned(),
        Seen::Command(Ran { code: Some(code), .. }) => format!("exit code {code}"),
        Seen::Command(_) => "was ended".to_owned(),
        Seen::Lines { count: 0, .. } => "no new lines that fit".to_owned(),
        Seen::Lines { count: 1, .. } => "1 new line that fits".to_owned(),
        Seen::Lines { count, .. } => format!("{count} new lines that fit"),
        Seen::Figure(value) => level::figure(&order.watch, *value),
        Seen::Unit(UnitState::Running) => "running".to_owned(),
        Seen::Unit(UnitState::Stopped) => "stopped".to_owned(),
        Seen::Unit(UnitState::Failed) => "failed".to_owned(),
        Seen::Certificate(ends) => level::ends(*ends, now),
    }
}

/// Which orders a node has from now on, if these are newer than what it has.
pub fn accepts(held: Generation, given: Generation) -> bool {
    given > held
}

#[cfg(test)]
mod tests;
