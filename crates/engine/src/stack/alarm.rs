//! When an alarm rings: what was measured lately, against a threshold.
//!
//! The time up to now is cut into periods. What was measured in one is one number; it is *beyond* when the comparison with the
//! threshold holds. With every period beyond the alarm rings, with none it does not; where they differ it stays as it was,
//! so that a measure that sways around its threshold does not ring all the time. A period in which nothing was measured
//! leaves nothing to be said, and one that began before anybody looked leaves everything as it is.

use std::time::Duration;

use hostler_model::Timestamp;

/// How an alarm stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AlarmState {
    #[default]
    InsufficientData,
    Ok,
    Alarm,
}

impl AlarmState {
    pub const ALL: [AlarmState; 3] =
        [AlarmState::InsufficientData, AlarmState::Ok, AlarmState::Alarm];

    pub const fn label(self) -> &'static str {
        match self {
            AlarmState::InsufficientData => "insufficient data",
            AlarmState::Ok => "ok",
            AlarmState::Alarm => "alarm",
        }
    }

    pub fn of(label: &str) -> Option<AlarmState> {
        let label = label.replace(['_', '-'], " ").to_lowercase();
        AlarmState::ALL.into_iter().find(|state| state.label() == label)
    }
}

/// When a number is beyond a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

impl Comparison {
    pub const ALL: [(&'static str, Comparison); 4] = [
        ("gt", Comparison::Above),
        ("ge", Comparison::AtLeast),
        ("lt", Comparison::Below),
        ("le", Comparison::AtMost),
    ];

    pub fn of(label: &str) -> Option<Comparison> {
        Comparison::ALL.into_iter().find(|(name, _)| *name == label).map(|(_, it)| it)
    }

    fn holds(self, value: f64, threshold: f64) -> bool {
        match self {
            Comparison::Above => value > threshold,
            Comparison::AtLeast => value >= threshold,
            Comparison::Below => value < threshold,
            Comparison::AtMost => value <= threshold,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Comparison::Above => "above",
            Comparison::AtLeast => "at least",
            Comparison::Below => "below",
            Comparison::AtMost => "at most",
        }
    }
}

/// What becomes of several numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Average,
    Maximum,
    Minimum,
    Sum,
}

impl Statistic {
    pub const ALL: [(&'static str, Statistic); 4] = [
        ("avg", Statistic::Average),
        ("max", Statistic::Maximum),
        ("min", Statistic::Minimum),
        ("sum", Statistic::Sum),
    ];

    pub fn of(label: &str) -> Option<Statistic> {
        Statistic::ALL.into_iter().find(|(name, _)| *name == label).map(|(_, it)| it)
    }

    /// Of no numbers there is none.
    #[expect(clippy::cast_precision_loss, reason = "nobody measures so often")]
    pub fn over(self, values: &[f64]) -> Option<f64> {
        let sum = || values.iter().sum::<f64>();
        let pick = |better: fn(f64, f64) -> f64| values.iter().copied().reduce(better);
        match self {
            _ if values.is_empty() => None,
            Statistic::Average => Some(sum() / values.len() as f64),
            Statistic::Maximum => pick(f64::max),
            Statistic::Minimum => pick(f64::min),
            Statistic::Sum => Some(sum()),
        }
    }
}

/// What rings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AlarmRule {
    /// What becomes of what was measured in one period.
    pub statistic: Statistic,
    pub comparison: Comparison,
    pub threshold: f64,
    pub period: Duration,
    /// How many periods, up to now.
    pub periods: u32,
}

impl AlarmRule {
    /// How far back it looks.
    pub fn reach(&self) -> Duration {
        self.period.saturating_mul(self.periods.max(1))
    }
}

/// What was measured, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    pub time: Timestamp,
    pub value: f64,
}

/// How an alarm stands now, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlarmVerdict {
    pub state: AlarmState,
    pub reason: String,
}

/// Judges what was measured, in any order. `since` is when somebody began to look. Nothing is to be said of a time that
/// nobody saw.
pub fn judge(
    rule: &AlarmRule,
    readings: &[Reading],
    since: Timestamp,
    before: AlarmState,
    now: Timestamp,
) -> Option<AlarmVerdict> {
    if now.minus(rule.reach()) < since {
        return None;
    }
    let periods = rule.periods.max(1);
    let mut values = Vec::with_capacity(periods as usize);
    for back in 0..periods {
        let end = now.minus(rule.period.saturating_mul(back));
        let begin = end.minus(rule.period);
        let is_in = |one: &&Reading| begin < one.time && one.time <= end && one.value.is_finite();
        let of: Vec<f64> = readings.iter().filter(is_in).map(|one| one.value).collect();
        match rule.statistic.over(&of) {
            Some(value) => values.push(value),
            None => {
                let reason = format!("nothing was measured in {}", seconds(rule.period));
                return Some(AlarmVerdict { state: AlarmState::InsufficientData, reason });
            }
        }
    }
    let beyond = values.iter().filter(|value| rule.comparison.holds(**value, rule.threshold));
    let (beyond, newest) = (beyond.count(), values.first().copied().unwrap_or_default());
    let is_newest_beyond = rule.comparison.holds(newest, rule.threshold);
    let state = match (beyond == values.len(), beyond == 0, before) {
        (true, ..) => AlarmState::Alarm,
        (_, true, _) => AlarmState::Ok,
        (.., AlarmState::InsufficientData) if is_newest_beyond => AlarmState::Alarm,
        (.., AlarmState::InsufficientData) => AlarmState::Ok,
        (.., before) => before,
    };
    let reason = format!(
        "{beyond} of {periods} periods of {} were {} {}, the newest with {}",
        seconds(rule.period),
        rule.comparison.words(),
        short(rule.threshold),
        short(newest),
    );
    Some(AlarmVerdict { state, reason })
}

fn seconds(period: Duration) -> String {
    format!("{} s", period.as_secs())
}

/// A number with two digits behind its point, where it has any.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_000_000_000_000);

    fn at(seconds_ago: u64, value: f64) -> Reading {
        Reading { time: NOW.minus(Duration::from_secs(seconds_ago)), value }
    }

    fn rule(periods: u32) -> AlarmRule {
        AlarmRule {
            statistic: Statistic::Average,
            comparison: Comparison::Above,
            threshold: 80.0,
            period: Duration::from_secs(60),
            periods,
        }
    }

    fn state(rule: &AlarmRule, readings: &[Reading], before: AlarmState) -> Option<AlarmState> {
        let long_ago = Timestamp::from_micros(0);
        judge(rule, readings, long_ago, before, NOW).map(|verdict| verdict.state)
    }

    #[test]
    fn an_alarm_rings_when_every_period_is_beyond() {
        use AlarmState as S;
        let hot = [at(10, 90.0), at(70, 85.0)];
        let cold = [at(10, 10.0), at(70, 20.0)];
        let rising = [at(10, 90.0), at(70, 20.0)];
        let cases: [(u32, &[Reading], S, S); 10] = [
            (1, &hot, S::Ok, S::Alarm),
            (2, &hot, S::Ok, S::Alarm),
            (2, &cold, S::Alarm, S::Ok),
            (1, &rising, S::Ok, S::Alarm),
            (2, &rising, S::Ok, S::Ok),
            (2, &rising, S::Alarm, S::Alarm),
            (2, &rising, S::InsufficientData, S::Alarm),
            (3, &hot, S::Alarm, S::InsufficientData),
            (1, &[], S::Ok, S::InsufficientData),
            (1, &[at(10, f64::NAN)], S::Ok, S::InsufficientData),
        ];
        for (periods, readings, before, wanted) in cases {
            assert_eq!(
                state(&rule(periods), readings, before),
                Some(wanted),
                "{periods} {readings:?} {before:?}"
            );
        }
    }

    #[test]
    fn comparisons_and_statistics() {
        let readings = [at(5, 1.0), at(15, 2.0), at(25, 6.0)];
        let cases = [
            (Statistic::Average, Comparison::Above, 2.9, true),
            (Statistic::Average, Comparison::Above, 3.0, false),
            (Statistic::Average, Comparison::AtLeast, 3.0, true),
            (Statistic::Maximum, Comparison::AtLeast, 6.0, true),
            (Statistic::Minimum, Comparison::Below, 1.0, false),
            (Statistic::Minimum, Comparison::AtMost, 1.0, true),
            (Statistic::Sum, Comparison::Above, 8.9, true),
        ];
        for (statistic, comparison, threshold, rings) in cases {
            let rule = AlarmRule { statistic, comparison, threshold, ..rule(1) };
            let wanted = if rings { AlarmState::Alarm } else { AlarmState::Ok };
            assert_eq!(state(&rule, &readings, AlarmState::Ok), Some(wanted), "{rule:?}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_nobody_saw() {
        let since = NOW.minus(Duration::from_secs(100));
        let judged = |periods| judge(&rule(periods), &[], since, AlarmState::Ok, NOW);
        assert_eq!(judged(2), None);
        assert_eq!(judged(1).unwrap().state, AlarmState::InsufficientData);
    }

    #[test]
    fn reasons_are_for_people() {
        let readings = [at(10, 93.456), at(70, 85.0)];
        let verdict =
            judge(&rule(2), &readings, Timestamp::from_micros(0), AlarmState::Ok, NOW).unwrap();
        assert_eq!(verdict.reason, "2 of 2 periods of 60 s were above 80, the newest with 93.46");
    }

    proptest! {
        #[test]
        fn an_alarm_that_rings_keeps_ringing_on_the_same(values in prop::collection::vec(0.0..100.0_f64, 1..40), periods in 1..4_u32) {
            let readings: Vec<Reading> =
                values.iter().enumerate().map(|(i, value)| at(i as u64 * 7, *value)).collect();
            let rule = rule(periods);
            if let Some(once) = state(&rule, &readings, AlarmState::Ok) {
                prop_assert_eq!(state(&rule, &readings, once), Some(once));
            }
        }
    }
}
