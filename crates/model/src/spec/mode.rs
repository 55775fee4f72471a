//! How often a workload runs, and when it is started again.

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::Problems;
use super::cron::Cron;
use super::zone::{ZoneError, zone};
use crate::{Exit, ExitReason, Span};

/// How often a workload runs: `once`, `forever`, `{times: 3}` or `{schedule: {cron: "0 3 * * *"}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One run, to its end.
    #[default]
    Once,
    /// Always one run: started again whenever it ends.
    Forever,
    /// This many runs, one after the other.
    Times(#[schemars(range(min = 1))] u32),
    /// A run whenever the time has come.
    Schedule(Schedule),
}

crate::labels! {
    /// A mode without what belongs to it.
    pub enum ModeKind ("mode") {
        Once = "once",
        Forever = "forever",
        Times = "times",
        Schedule = "schedule",
    }
}

impl Mode {
    pub const fn kind(&self) -> ModeKind {
        match self {
            Mode::Once => ModeKind::Once,
            Mode::Forever => ModeKind::Forever,
            Mode::Times(_) => ModeKind::Times,
            Mode::Schedule(_) => ModeKind::Schedule,
        }
    }
}

/// When a scheduled workload runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Schedule {
    /// Five fields (minute hour day month weekday) or six (with seconds first), or a nickname such as
    /// `@daily`.
    pub cron: String,
    /// A name of the time zone database such as `Europe/Berlin`; `UTC` when absent; `local` for the
    /// node's own.
    #[serde(default = "utc", skip_serializing_if = "is_utc")]
    pub timezone: String,
    /// Starts are put off by up to this, differently on every node and the same each time.
    #[serde(default, skip_serializing_if = "Span::is_zero")]
    pub jitter: Span,
    #[serde(default)]
    pub overlap: Overlap,
    #[serde(default)]
    pub catch_up: CatchUp,
    /// How far back catching up looks.
    #[serde(default = "a_day")]
    pub catch_up_window: Span,
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

impl Schedule {
    pub fn new(cron: impl Into<String>) -> Schedule {
        Schedule {
            cron: cron.into(),
            timezone: utc(),
            jitter: Span::from_millis(0),
            overlap: Overlap::default(),
            catch_up: CatchUp::default(),
            catch_up_window: a_day(),
        }
    }
}

impl Schedule {
    /// Its time zone, when `local` is the node's own.
    pub fn zone(&self, local: &TimeZone) -> Result<TimeZone, ZoneError> {
        zone(&self.timezone, local)
    }

    pub(super) fn look(&self, say: &mut Problems<'_>) {
        if let Err(mistake) = self.cron.parse::<Cron>() {
            say.at("/mode/schedule/cron", mistake.to_string());
        }
        if let Err(mistake) = self.zone(&TimeZone::UTC) {
            say.at("/mode/schedule/timezone", mistake.to_string());
        }
        if self.catch_up_window.is_zero() && self.catch_up != CatchUp::None {
            say.at("/mode/schedule/catchUpWindow", "a window of zero catches nothing up");
        }
    }
}

crate::labels! {
    /// What happens when it is time and the last run still goes on.
    #[derive(Default)]
    pub enum Overlap ("overlap policy") {
        /// Both run.
        Allow = "allow",
        /// The new one is left out.
        #[default]
        Forbid = "forbid",
        /// The old one is stopped first.
        Replace = "replace",
        /// The new one waits until the old one has ended; one waits at most, and later ones are left out.
        Queue = "queue",
    }
}

crate::labels! {
    /// What becomes of times that passed while nothing could be started.
    #[derive(Default)]
    pub enum CatchUp ("catch-up policy") {
        None = "none",
        /// The latest of them, once.
        #[default]
        One = "one",
        /// Each of them, one after the other.
        All = "all",
    }
}

crate::labels! {
    /// After which ends a run is followed by another.
    pub enum RestartOn ("restart condition") {
        Always = "always",
        Failure = "failure",
        Never = "never",
    }
}

/// When and how fast a workload is started again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct RestartPolicy {
    /// After which ends; absent: always for `forever`, never for `schedule` and `once`. For `times`
    /// every run counts, however it ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<RestartOn>,
    /// Exit codes that are no failure, besides 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub success_codes: Vec<i32>,
    /// Before the first restart; zero for at once.
    pub delay: Span,
    /// Each further restart waits this many times longer.
    #[schemars(range(min = 1, max = 100))]
    pub factor: u32,
    /// The longest wait.
    pub max_delay: Span,
    /// Waits vary by up to this many per cent.
    #[schemars(range(min = 0, max = 100))]
    pub jitter: u8,
    /// A run that lasted this long starts the counting anew.
    pub reset_after: Span,
    /// Give up after this many restarts within `window`; never when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    pub window: Span,
}

impl Default for RestartPolicy {
    fn default() -> RestartPolicy {
        RestartPolicy {
            on: None,
            success_codes: Vec::new(),
            delay: Span::from_secs(1),
            factor: 2,
            max_delay: Span::from_secs(300),
            jitter: 10,
            reset_after: Span::from_secs(60),
            attempts: None,
            window: Span::from_secs(600),
        }
    }
}

impl RestartPolicy {
    pub(super) fn is_default(&self) -> bool {
        *self == RestartPolicy::default()
    }

    /// After which ends, for a workload of this mode.
    pub fn on(&self, mode: &Mode) -> RestartOn {
        self.on.unwrap_or(match mode {
            Mode::Forever | Mode::Times(_) => RestartOn::Always,
            Mode::Once | Mode::Schedule(_) => RestartOn::Never,
        })
    }

    /// Whether a run that ended like this counts as a success.
    pub fn is_success(&self, exit: &Exit) -> bool {
        exit.is_success()
            || exit.reason == ExitReason::Exited
                && exit.code.is_some_and(|code| self.success_codes.contains(&code))
    }

    pub(super) fn look(&self, mode: &Mode, say: &mut Problems<'_>) {
        if !(1..=100).contains(&self.factor) {
            say.at("/restart/factor", "the factor is a whole number from 1 to 100");
        }
        if self.jitter > 100 {
            say.at("/restart/jitter", "the jitter is a percentage from 0 to 100");
        }
        if self.max_delay < self.delay {
            say.at("/restart/maxDelay", "the longest wait is shorter than the first one");
        }
        if self.attempts == Some(0) {
            say.at("/restart/attempts", "zero attempts: say `on: never` instead");
        }
        if self.window.is_zero() {
            say.at("/restart/window", "a window of zero never holds an attempt");
        }
        if matches!(mode, Mode::Times(_)) && self.on == Some(RestartOn::Never) {
            say.at("/restart/on", "with `times`, runs follow each other; `never` contradicts it");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mistake_of_a_schedule_is_found() {
        let mistakes = |schedule: &Schedule| {
            let mut say = Problems { base: "", found: Vec::new() };
            schedule.look(&mut say);
            say.found
        };
        assert_eq!(mistakes(&Schedule::new("0 3 * * *")), []);
        let wrong = Schedule {
            timezone: "Europe/Berlim".to_owned(),
            catch_up_window: Span::from_millis(0),
            ..Schedule::new("0 25 * * *")
        };
        let found = mistakes(&wrong);
        let places: Vec<&str> = found.iter().map(|mistake| mistake.pointer.as_str()).collect();
        assert_eq!(
            places,
            ["/mode/schedule/cron", "/mode/schedule/timezone", "/mode/schedule/catchUpWindow"]
        );
        assert!(found[0].detail.starts_with("hour `25`: allowed are"), "{found:?}");
    }
}
