//! Schedules of the control plane: something is done when its time comes, by whichever server is there.
//!
//! (A *workload* with mode `schedule` is another thing: its nodes follow its times by themselves, without any
//! server. Both know the same cron expressions, time zones, overlaps and ways of catching up.)
//!
//! A [`Schedule`] belongs to a project and has an owner, in whose name its target is done. A [`Fire`] is a time
//! of it, and what became of it. There is one row for each, whose key is the schedule and the time, so that
//! nothing is done twice whichever servers meet:
//!
//! ```text
//!   (its time comes) --> begun --done--> done
//!          |               |--------> failed      it was refused, or could not be done
//!          |               '--------> uncertain   nobody knows whether a call was made
//!          '-----------> missed                   nothing was done; the reason says why
//! ```
//!
//! `begun` is owned by the server that began it until `time_lease`, and then by any that finds it. The rest is
//! final. A missed row may stand for a stretch of times, from its own to `time_last`.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::spec::{CatchUp, Cron, Overlap, ZoneError, zone};
use crate::{
    Action, Diagnostic, Generation, Mandate, Name, ObjectRef, PrincipalId, ProjectId, ScheduleId,
    ServerId, Span, Timestamp,
};

/// What somebody writes about a schedule: when, and what. Exactly one of `cron`, `every` and `at` is given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ScheduleSpec {
    /// Five fields (minute hour day month weekday) or six (with seconds first), or a nickname such as `@daily`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// Again and again after this long, counted from `starts`, or from round times of UTC where that is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
    /// Once, at this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// A name of the time zone database such as `Europe/Berlin`, by which `cron` is read; `UTC` when absent.
    #[serde(default = "utc", skip_serializing_if = "is_utc")]
    pub timezone: String,
    /// Each time is put off by up to this: by how much is chosen once for each time, the same on all servers.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub jitter: Span,
    /// What happens when it is time and what was begun before still goes on.
    #[serde(default)]
    pub overlap: Overlap,
    /// What becomes of times that passed while no server was there.
    #[serde(default)]
    pub catch_up: CatchUp,
    /// How far back catching up looks.
    #[serde(default = "a_day")]
    pub catch_up_window: Span,
    /// How many times at most are caught up with.
    #[serde(default = "a_hundred")]
    #[schemars(range(min = 1, max = 1000))]
    pub catch_up_limit: u32,
    /// Nothing before this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Timestamp>,
    /// Nothing after this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends: Option<Timestamp>,
    /// What is done about a call of which nobody knows whether it was made. Everything else is done once.
    #[serde(default)]
    pub delivery: Delivery,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 1000))]
    pub description: String,
    /// What is done.
    pub target: Action,
}

crate::labels! {
    /// What is done about a call of which nobody knows whether it was made.
    #[derive(Default)]
    pub enum Delivery ("delivery") {
        /// It is made again, with the same key.
        #[default]
        AtLeastOnce = "at-least-once",
        /// It is not made again, and the fire is uncertain.
        AtMostOnce = "at-most-once",
    }
}

fn utc() -> String {
    "UTC".to_owned()
}

fn is_utc(zone: &str) -> bool {
    zone == "UTC"
}

const fn a_day() -> Span {
    Span::from_secs(86_400)
}

const fn a_hundred() -> u32 {
    100
}

/// When a schedule comes, with its text read.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    Cron(Box<Cron>, TimeZone),
    Every(Span),
    At(Timestamp),
}

const EVERY_MIN: Span = Span::from_secs(1);
const EVERY_MAX: Span = Span::from_secs(366 * 86_400);
const JITTER_MAX: Span = Span::from_secs(86_400);
const DESCRIPTION_MAX: usize = 1000;
/// Of the whole, as it is stored.
const SIZE_MAX: usize = 512 << 10;

impl ScheduleSpec {
    /// One that does something by a cron expression, with everything else as it is when nothing is said.
    pub fn cron(cron: impl Into<String>, target: Action) -> ScheduleSpec {
        ScheduleSpec { cron: Some(cron.into()), ..ScheduleSpec::never(target) }
    }

    pub fn every(every: Span, target: Action) -> ScheduleSpec {
        ScheduleSpec { every: Some(every), ..ScheduleSpec::never(target) }
    }

    pub fn at(at: Timestamp, target: Action) -> ScheduleSpec {
        ScheduleSpec { at: Some(at), ..ScheduleSpec::never(target) }
    }

    /// Without a time; somebody has to give it one.
    pub fn never(target: Action) -> ScheduleSpec {
        ScheduleSpec {
            cron: None,
            every: None,
            at: None,
            timezone: utc(),
            jitter: Span::from_millis(0),
            overlap: Overlap::default(),
            catch_up: CatchUp::default(),
            catch_up_window: a_day(),
            catch_up_limit: a_hundred(),
            starts: None,
            ends: None,
            delivery: Delivery::default(),
            description: String::new(),
            target,
        }
    }

    /// When it comes; every mistake where it says nothing that can be followed.
    pub fn when(&self) -> Result<When, Vec<Diagnostic>> {
        let one = |at: &str, text: String| vec![Diagnostic::new(at, text)];
        match (&self.cron, self.every, self.at) {
            (Some(cron), None, None) => {
                let mut problems = Vec::new();
                let cron = cron.parse::<Cron>().map_err(|e| one("/cron", e.marked(cron)));
                let zone = self.zone().map_err(|e| one("/timezone", e.to_string()));
                match (cron, zone) {
                    (Ok(cron), Ok(zone)) => return Ok(When::Cron(Box::new(cron), zone)),
                    (cron, zone) => {
                        problems.extend(cron.err().into_iter().flatten());
                        problems.extend(zone.err().into_iter().flatten());
                    }
                }
                Err(problems)
            }
            (None, Some(every), None) if every < EVERY_MIN || every > EVERY_MAX => {
                Err(one("/every", "an interval is at least 1s and at most 366d".to_owned()))
            }
            (None, Some(every), None) => Ok(When::Every(every)),
            (None, None, Some(at)) => Ok(When::At(at)),
            (None, None, None) => {
                let text = "when? give one of `cron`, `every` and `at`";
                Err(one("", text.to_owned()))
            }
            _ => Err(one("", "give only one of `cron`, `every` and `at`".to_owned())),
        }
    }

    /// The zone in which it is read and shown. No server has one of its own: `local` is nobody's here.
    pub fn zone(&self) -> Result<TimeZone, ZoneError> {
        match self.timezone.as_str() {
            "local" => Err(ZoneError::nobodys()),
            name => zone(name, &TimeZone::UTC),
        }
    }

    /// A time as clocks show it in its zone.
    pub fn local_time(&self, time: Timestamp) -> String {
        let zone = self.zone().unwrap_or(TimeZone::UTC);
        match jiff::Timestamp::from_microsecond(time.micros()) {
            Ok(moment) => moment.to_zoned(zone).strftime("%a %Y-%m-%d %H:%M:%S %Z").to_string(),
            Err(_) => time.to_string(),
        }
    }

    /// Every mistake, those of the target too.
    pub fn problems(&self) -> Vec<Diagnostic> {
        let mut found = self.when().err().unwrap_or_default();
        let mut say = |at: &str, text: &str| found.push(Diagnostic::new(at, text));
        if self.cron.is_none() && self.zone().is_err() {
            say("/timezone", "no such time zone; write `UTC` or a name such as `Europe/Berlin`");
        }
        if self.jitter > JITTER_MAX {
            say("/jitter", "the jitter is at most 1d");
        }
        let looks_back = self.catch_up != CatchUp::None || self.overlap == Overlap::Queue;
        if self.catch_up_window.is_zero() && looks_back {
            say("/catchUpWindow", "a window of zero catches nothing up, and lets nothing wait");
        }
        if !(1..=1000).contains(&self.catch_up_limit) {
            say("/catchUpLimit", "from 1 to 1000 times are caught up with");
        }
        if self.starts.zip(self.ends).is_some_and(|(starts, ends)| ends <= starts) {
            say("/ends", "it would end before it starts");
        }
        if self.at.is_some() && (self.starts.is_some() || self.ends.is_some()) {
            say("/at", "what comes once needs neither `starts` nor `ends`");
        }
        if self.description.len() > DESCRIPTION_MAX {
            say("/description", "a description has at most 1000 characters");
        }
        if serde_json::to_string(self).map_or(usize::MAX, |text| text.len()) > SIZE_MAX {
            say("", "a schedule has at most 512 KiB");
        }
        found.extend(self.target.problems("/target"));
        found
    }

    /// When, in words for lists.
    pub fn timing(&self) -> String {
        match (&self.cron, self.every, self.at) {
            (Some(cron), ..) => match is_utc(&self.timezone) {
                true => cron.clone(),
                false => format!("{cron} {}", self.timezone),
            },
            (_, Some(every), _) => format!("every {every}"),
            (_, _, Some(at)) => format!("at {at}"),
            (None, None, None) => "never".to_owned(),
        }
    }

    /// Whether times that were decided under one mean nothing under the other.
    pub fn has_other_times(&self, other: &ScheduleSpec) -> bool {
        (&self.cron, self.every, self.at, &self.timezone, self.starts, self.ends)
            != (&other.cron, other.every, other.at, &other.timezone, other.starts, other.ends)
    }
}

/// A time as people write it: RFC 3339 with an offset, or a date and a time of day in a zone.
pub fn read_moment(text: &str, timezone: &str) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let zone = zone(timezone, &TimeZone::UTC).map_err(|error| error.to_string())?;
    let wrong = || {
        format!(
            "`{}` is no time; write for example 2026-12-01T03:00, or 2026-12-01T03:00:00Z",
            text.chars().take(64).collect::<String>()
        )
    };
    let face: jiff::civil::DateTime = text.replace(' ', "T").parse().map_err(|_| wrong())?;
    let moment = zone.to_ambiguous_timestamp(face).compatible().map_err(|_| wrong())?;
    Ok(Timestamp::from_micros(moment.as_microsecond()))
}

/// Why and by whom a schedule is paused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    pub by: String,
    pub reason: String,
    pub time: Timestamp,
}

/// A schedule as it is kept. `log` is the engine's: what became of its times, as far as deciding needs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    pub id: ScheduleId,
    pub project_id: ProjectId,
    pub name: Name,
    pub spec: ScheduleSpec,
    /// In whose name its target is done.
    pub mandate: Mandate,
    pub pause: Option<Pause>,
    pub log: serde_json::Value,
    /// Grows whenever its times are decided on, or it is changed: of two servers that decide, one writes.
    pub turn: Generation,
    /// What its last fire made.
    pub last_made: Option<ObjectRef>,
    /// When somebody has to look at it; never when absent.
    pub time_due: Option<Timestamp>,
    /// When it comes next, as far as is known.
    pub time_next: Option<Timestamp>,
    pub created_by: PrincipalId,
    pub generation: Generation,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
}

crate::labels! {
    pub enum FireState ("state of a fire") {
        Begun = "begun",
        Done = "done",
        Failed = "failed",
        Uncertain = "uncertain",
        Missed = "missed",
    }
}

crate::labels! {
    /// Why something was, or was not, done.
    pub enum FireCause ("cause of a fire") {
        /// Its time came.
        Planned = "planned",
        /// Its time had passed, and was caught up with, or it had to wait for the one before.
        CaughtUp = "caught-up",
        /// Somebody asked for it.
        Manual = "manual",
        /// Missed: no server was there, or the clock was set forward.
        Outage = "outage",
        /// Missed: what was begun before still went on.
        Overlap = "overlap",
        /// Missed: more times had passed than are caught up with.
        TooMany = "too-many",
    }
}

/// A time of a schedule, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fire {
    pub schedule_id: ScheduleId,
    /// When the schedule says; names the fire.
    pub time: Timestamp,
    pub project_id: ProjectId,
    pub state: FireState,
    pub cause: FireCause,
    /// When it was to be begun: the time, put off by jitter.
    pub time_planned: Timestamp,
    pub time_begun: Timestamp,
    pub time_ended: Option<Timestamp>,
    /// The last time that a missed row stands for.
    pub time_last: Timestamp,
    /// How many times it stands for; counting stops at a thousand.
    pub count: u32,
    /// What was made, or what it was done to.
    pub object: Option<ObjectRef>,
    /// What a call was answered with.
    pub status: Option<u16>,
    /// What went wrong.
    pub message: String,
    /// What is stopped first.
    pub replaces: Option<ObjectRef>,
    /// Who asked for it.
    pub asked_by: Option<String>,
    /// Whether it is a call of an address outside, which servers make apart from the rest.
    pub is_call: bool,
    /// How often it was tried.
    pub tries: u32,
    pub server_id: ServerId,
    pub time_lease: Timestamp,
}

impl Fire {
    /// Names what is done at this time, for ever.
    pub fn key(&self) -> String {
        format!("fire/{}/{}", self.schedule_id, self.time.micros())
    }

    pub fn lateness(&self) -> Span {
        let late = self.time_begun.since(self.time_planned).as_millis();
        Span::from_millis(u64::try_from(late).unwrap_or(u64::MAX))
    }
}

crate::labels! {
    /// What is special about a time, where clocks are changed.
    pub enum FireRemark ("remark on a fire") {
        /// The clock skips the time that is asked for; it comes at the moment of the change.
        Skipped = "skipped",
        /// The clock shows this time twice; the first of them counts.
        FirstOfTwo = "first-of-two",
        /// The clock shows this time twice, and it comes twice.
        Twice = "twice",
        /// Clocks were changed since the time before.
        Changed = "changed",
    }
}

impl FireRemark {
    pub const fn words(self) -> &'static str {
        match self {
            FireRemark::Skipped => "the clock skips the time asked for; it comes at the change",
            FireRemark::FirstOfTwo => "the clock shows this time twice; the first counts",
            FireRemark::Twice => "the clock shows this time twice, and it comes twice",
            FireRemark::Changed => "clocks are changed before this",
        }
    }
}

#[cfg(test)]
mod tests;
