//! What was written in one day, and how that compares with what was declared for it. Pure.

use std::collections::BTreeMap;

use hostler_model::{Bytes, Timestamp};
use serde::{Deserialize, Serialize};

hostler_model::labels! {
    /// What is written for.
    pub(crate) enum What ("kind of writing") {
        /// What the node should run and what was seen.
        Ledger = "ledger",
        /// What shims write: what programs print, and how each run began and ended.
        Output = "output",
        /// Closed output, packed.
        Packing = "packing",
        /// Files that tasks and containers need.
        Content = "content",
        /// What is to be run, for each run, and this count.
        Records = "records",
    }
}

hostler_model::labels! {
    /// How much of the day's budget is used.
    #[derive(Default)]
    pub(crate) enum Level ("level of writing") {
        #[default]
        Within = "within",
        /// Four fifths.
        Near = "near",
        /// All of it.
        Over = "over",
    }
}

impl Level {
    fn of(written: u64, budget: Option<Bytes>) -> Level {
        let Some(budget) = budget else { return Level::Within };
        if written >= budget.get() {
            Level::Over
        } else if written >= budget.get() - budget.get() / 5 {
            Level::Near
        } else {
            Level::Within
        }
    }
}

const DAY_MICROS: i64 = 24 * 60 * 60 * 1_000_000;

/// Days since 1970, of UTC.
pub(crate) fn day_of(time: Timestamp) -> i64 {
    time.micros().div_euclid(DAY_MICROS)
}

/// A day's count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Day {
    number: i64,
    written: BTreeMap<What, u64>,
    /// What people have been told of today.
    told: Level,
}

impl Day {
    /// Adds to the count of a day, which begins anew when it is another. The level, when it has not been
    /// as high on that day before.
    pub fn add(
        &mut self,
        today: i64,
        what: What,
        bytes: u64,
        budget: Option<Bytes>,
    ) -> Option<Level> {
        self.turn(today);
        let count = self.written.entry(what).or_default();
        *count = count.saturating_add(bytes);
        let level = Level::of(self.total(), budget);
        if level <= self.told {
            return None;
        }
        self.told = level;
        Some(level)
    }

    /// Makes it the count of this day. Whenever the day is another one the count begins anew, also when
    /// the clock was set back.
    pub fn turn(&mut self, today: i64) {
        if self.number != today {
            *self = Day { number: today, ..Day::default() };
        }
    }

    pub fn total(&self) -> u64 {
        self.written.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    pub fn of(&self, what: What) -> u64 {
        self.written.get(&what).copied().unwrap_or_default()
    }

    pub fn level(&self, budget: Option<Bytes>) -> Level {
        Level::of(self.total(), budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Option<Bytes> = Some(Bytes::new(1000));

    #[test]
    fn levels_are_told_once_a_day() {
        let mut day = Day::default();
        assert_eq!(day.add(5, What::Ledger, 799, BUDGET), None);
        assert_eq!(day.level(BUDGET), Level::Within);
        assert_eq!(day.add(5, What::Output, 1, BUDGET), Some(Level::Near));
        assert_eq!(day.add(5, What::Output, 100, BUDGET), None);
        assert_eq!(day.add(5, What::Ledger, 100, BUDGET), Some(Level::Over));
        assert_eq!(day.add(5, What::Ledger, 9000, BUDGET), None);
        assert_eq!((day.of(What::Ledger), day.of(What::Output)), (9899, 101));
        assert_eq!(day.add(6, What::Ledger, 10, BUDGET), None);
        assert_eq!((day.total(), day.level(BUDGET)), (10, Level::Within));
        assert_eq!(day.add(6, What::Packing, 5000, BUDGET), Some(Level::Over), "both at once");
    }

    #[test]
    fn without_a_budget_nothing_is_too_much() {
        let mut day = Day::default();
        assert_eq!(day.add(1, What::Output, u64::MAX, None), None);
        assert_eq!(day.add(1, What::Output, 7, None), None);
        assert_eq!(day.total(), u64::MAX);
        assert_eq!(day.level(Some(Bytes::ZERO)), Level::Over);
    }

    #[test]
    fn days_are_those_of_utc_and_a_count_survives_its_file() {
        let midnight = Timestamp::from_micros(20_000 * DAY_MICROS);
        assert_eq!(day_of(midnight), 20_000);
        assert_eq!(day_of(Timestamp::from_micros(midnight.micros() - 1)), 19_999);
        assert_eq!(day_of(Timestamp::from_micros(-1)), -1);
        let mut day = Day::default();
        day.add(3, What::Records, 1000, BUDGET);
        let text = serde_json::to_string(&day).unwrap();
        assert_eq!(serde_json::from_str::<Day>(&text).unwrap(), day);
    }
}
