//! Decisions under clocks that stand still, jump and lie, and under crashes.

use std::collections::BTreeSet;
use std::time::Duration;

use hostler_model::{CatchUp, Overlap, Schedule, Span, Timestamp};
use jiff::tz::TimeZone;
use proptest::prelude::*;

use super::log::STRETCHES;
use super::{Decision, FireLog, Skip, Timetable};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// 2026-06-01 at this time of day.
fn on_monday(time: &str) -> Timestamp {
    at(&format!("2026-06-01T{time}Z"))
}

fn timetable(cron: &str, overlap: Overlap, catch_up: CatchUp) -> Timetable {
    let schedule = Schedule { overlap, catch_up, ..Schedule::new(cron) };
    Timetable::new(&schedule, 0, &TimeZone::UTC).unwrap()
}

fn hourly(catch_up: CatchUp) -> Timetable {
    timetable("0 * * * *", Overlap::Forbid, catch_up)
}

fn skips(decision: &Decision) -> Vec<(Skip, Timestamp, Timestamp, u32)> {
    decision.skipped.iter().map(|s| (s.why, s.first, s.last, s.count)).collect()
}

#[test]
fn a_fire_starts_once_at_its_time() {
    let timetable = hourly(CatchUp::None);
    let log = FireLog::starting(on_monday("10:30:00"));
    let early = timetable.decide(&log, on_monday("10:59:59"), false);
    assert_eq!((early.start, early.wake), (None, Some(on_monday("11:00:00"))));
    assert_eq!(early.log, log, "nothing to write");
    for time in ["11:00:00", "11:00:07", "11:01:00"] {
        let decision = timetable.decide(&log, on_monday(time), false);
        assert_eq!(decision.start, Some(on_monday("11:00:00")), "{time}");
        assert_eq!(decision.wake, Some(on_monday("12:00:00")));
        assert_eq!(timetable.decide(&decision.log, on_monday(time), false).start, None);
    }
}

#[test]
fn logs_survive_writing() {
    let timetable = hourly(CatchUp::All);
    let log = FireLog::starting(on_monday("01:30:00"));
    let log = timetable.decide(&log, on_monday("09:30:00"), false).log;
    assert!(log.is_waiting());
    let text = serde_json::to_string(&log).unwrap();
    assert_eq!(serde_json::from_str::<FireLog>(&text).unwrap(), log);
}

#[test]
fn overlap_policies() {
    let due = on_monday("11:00:00");
    let log = FireLog::starting(on_monday("10:30:00"));
    for (overlap, start, stop, skipped) in [
        (Overlap::Allow, Some(due), false, vec![]),
        (Overlap::Forbid, None, false, vec![(Skip::Overlap, due, due, 1)]),
        (Overlap::Replace, Some(due), true, vec![]),
    ] {
        for catch_up in [CatchUp::None, CatchUp::One, CatchUp::All] {
            let timetable = timetable("0 * * * *", overlap, catch_up);
            let decision = timetable.decide(&log, due, true);
            assert_eq!((decision.start, decision.stop_running), (start, stop), "{overlap:?}");
            assert_eq!(skips(&decision), skipped);
            assert_eq!(timetable.decide(&decision.log, due, false).start, None, "{overlap:?}");
            let free = timetable.decide(&log, due, false);
            assert_eq!((free.start, free.stop_running), (Some(due), false));
        }
    }
}

#[test]
fn nothing_is_caught_up_with() {
    let log = FireLog::starting(on_monday("01:30:00"));
    let (first, last) = (on_monday("02:00:00"), on_monday("09:00:00"));
    let late = hourly(CatchUp::None).decide(&log, on_monday("09:30:00"), false);
    assert_eq!(late.start, None);
    assert_eq!(skips(&late), [(Skip::Missed, first, last, 8)]);
    assert_eq!(late.wake, Some(on_monday("10:00:00")));
    let prompt = hourly(CatchUp::None).decide(&log, on_monday("09:00:30"), false);
    assert_eq!(prompt.start, Some(last));
    assert_eq!(skips(&prompt), [(Skip::Missed, first, on_monday("08:00:00"), 7)]);
}

#[test]
fn the_latest_is_caught_up_with() {
    let timetable = hourly(CatchUp::One);
    let log = FireLog::starting(on_monday("01:30:00"));
    let decision = timetable.decide(&log, on_monday("09:30:00"), false);
    assert_eq!(decision.start, Some(on_monday("09:00:00")));
    let skipped = (Skip::Missed, on_monday("02:00:00"), on_monday("08:00:00"), 7);
    assert_eq!(skips(&decision), [skipped]);

    let daily = Schedule { catch_up_window: Span::from_secs(3600), ..Schedule::new("0 3 * * *") };
    let daily = Timetable::new(&daily, 0, &TimeZone::UTC).unwrap();
    assert!(daily.decide(&log, on_monday("03:59:00"), false).start.is_some());
    let too_late = daily.decide(&log, on_monday("04:01:00"), false);
    assert_eq!(too_late.start, None);
    assert_eq!(skips(&too_late).len(), 1);
}

#[test]
fn all_are_caught_up_with_one_after_the_other() {
    for overlap in [Overlap::Allow, Overlap::Forbid, Overlap::Replace] {
        let timetable = timetable("0 * * * *", overlap, CatchUp::All);
        let mut log = FireLog::starting(on_monday("01:30:00"));
        let mut started = Vec::new();
        for minute in 10..40 {
            let now = on_monday(&format!("05:{minute}:00"));
            let is_running = minute % 3 != 0;
            let decision = timetable.decide(&log, now, is_running);
            assert_eq!(skips(&decision), []);
            assert!(!decision.stop_running, "a missed one replaces nothing");
            assert!(!is_running || decision.start.is_none());
            started.extend(decision.start);
            log = decision.log;
        }
        let expected = ["02:00:00", "03:00:00", "04:00:00", "05:00:00"].map(on_monday);
        assert_eq!(started, expected, "{overlap:?}");
        assert!(!log.is_waiting());
    }
}

#[test]
fn those_on_time_queue_behind_the_missed_only_where_they_may_not_overlap() {
    for (overlap, expected) in [
        (Overlap::Forbid, ["02:00:00", "03:00:00", "04:00:00", "05:00:00"]),
        (Overlap::Allow, ["04:00:00", "02:00:00", "05:00:00", "03:00:00"]),
        (Overlap::Replace, ["04:00:00", "02:00:00", "05:00:00", "03:00:00"]),
    ] {
        let timetable = timetable("0 * * * *", overlap, CatchUp::All);
        let mut log = FireLog::starting(on_monday("01:30:00"));
        let mut started = Vec::new();
        for (time, is_running) in [
            ("04:00:20", false),
            ("04:20:00", true),
            ("04:40:00", false),
            ("05:00:00", true),
            ("05:20:00", false),
            ("05:40:00", false),
        ] {
            let decision = timetable.decide(&log, on_monday(time), is_running);
            assert_eq!(skips(&decision), [], "{overlap:?} {time}");
            started.extend(decision.start);
            log = decision.log;
        }
        assert_eq!(started, expected.map(on_monday), "{overlap:?}");
    }
}

#[test]
fn a_year_of_downtime_is_bounded() {
    let now = at("2027-06-01T09:30:30Z");
    for cron in ["* * * * * *", "* * * * *"] {
        for catch_up in [CatchUp::None, CatchUp::One, CatchUp::All] {
            let timetable = timetable(cron, Overlap::Forbid, catch_up);
            let mut log = FireLog::starting(on_monday("00:00:00"));
            let first = timetable.decide(&log, now, false);
            assert!(first.skipped.len() <= 2 && !first.skipped.is_empty(), "{cron} {catch_up:?}");
            assert!(first.skipped.iter().all(|skipped| skipped.count <= 1000));
            let mut starts = 0;
            for _ in 0..300 {
                let decision = timetable.decide(&log, now, false);
                starts += usize::from(decision.start.is_some());
                log = decision.log;
            }
            assert_eq!(starts, if catch_up == CatchUp::All { 100 } else { 1 }, "{cron}");
        }
    }
}

#[test]
fn what_waits_too_long_is_given_up() {
    let timetable = hourly(CatchUp::All);
    let log = FireLog::starting(on_monday("01:30:00"));
    let log = timetable.decide(&log, on_monday("05:30:00"), false).log;
    let tuesday = at("2026-06-02T03:30:00Z");
    let waited = timetable.decide(&log, tuesday, true);
    let lost = (Skip::Missed, on_monday("03:00:00"), on_monday("03:00:00"), 1);
    assert_eq!(skips(&waited), [lost]);
    assert_eq!(
        timetable.decide(&waited.log, tuesday, false).start,
        Some(on_monday("04:00:00")),
        "the rest still waits"
    );
}

#[test]
fn a_suspended_machine_goes_on() {
    let timetable = timetable("*/5 * * * *", Overlap::Forbid, CatchUp::One);
    let log = FireLog::starting(on_monday("08:58:00"));
    let log = timetable.decide(&log, on_monday("09:00:00"), false).log;
    let woken = timetable.decide(&log, on_monday("17:32:00"), false);
    assert_eq!(woken.start, Some(on_monday("17:30:00")));
    assert_eq!(woken.skipped[0].count, 101);
    assert_eq!(woken.wake, Some(on_monday("17:35:00")));
}

#[test]
fn a_clock_set_back_a_little_repeats_nothing() {
    let timetable = timetable("* * * * *", Overlap::Allow, CatchUp::One);
    let log = FireLog::starting(on_monday("11:59:30"));
    let log = timetable.decide(&log, on_monday("12:00:00"), false).log;
    for time in ["11:59:58", "11:30:00", "12:00:00"] {
        let again = timetable.decide(&log, on_monday(time), false);
        assert_eq!((again.start, again.wake), (None, Some(on_monday("12:01:00"))), "{time}");
        assert_eq!(again.log, log);
    }
}

#[test]
fn a_clock_that_was_years_ahead_stops_nothing() {
    let timetable = hourly(CatchUp::One);
    let log = FireLog::starting(on_monday("10:30:00"));
    let log = timetable.decide(&log, on_monday("11:00:00"), false).log;
    let ahead = timetable.decide(&log, at("2036-01-01T00:20:00Z"), false);
    assert_eq!(ahead.start, Some(at("2036-01-01T00:00:00Z")));
    let back = timetable.decide(&ahead.log, on_monday("11:20:00"), false);
    assert_eq!((back.start, back.wake), (None, Some(on_monday("12:00:00"))));
    assert_eq!(back.skipped, []);
    let noon = timetable.decide(&back.log, on_monday("12:00:00"), false);
    assert_eq!(noon.start, Some(on_monday("12:00:00")));

    let much_later = timetable.decide(&noon.log, at("2035-12-31T23:00:00Z"), false);
    assert_eq!(much_later.start, Some(at("2035-12-31T23:00:00Z")));
    assert_eq!(much_later.wake, Some(at("2036-01-01T01:00:00Z")), "midnight was started before");
}

#[test]
fn nothing_starts_before_the_clock_makes_sense() {
    let timetable = timetable("* * * * *", Overlap::Allow, CatchUp::All);
    let boot = at("1970-01-01T00:00:10Z");
    let log = FireLog::starting(boot);
    let decision = timetable.decide(&log, at("1970-01-01T00:10:00Z"), false);
    assert_eq!((decision.start, decision.wake), (None, Some(at("1970-01-01T00:11:00Z"))));
    assert_eq!(decision.log, log);
    let synced = timetable.decide(&decision.log, on_monday("12:00:30"), false);
    assert_eq!((synced.start, synced.wake), (None, Some(on_monday("12:01:00"))));
    assert_eq!(synced.skipped, []);

    let known = FireLog::starting(on_monday("11:58:30"));
    let rebooted = timetable.decide(&known, boot, false);
    assert_eq!((rebooted.start, &rebooted.log), (None, &known));
    let back = timetable.decide(&known, on_monday("12:00:30"), false);
    assert_eq!(back.start, Some(on_monday("12:00:00")), "real downtime is caught up with");
}

#[test]
fn jitter_puts_starts_off_but_not_their_names() {
    let schedule = Schedule { jitter: Span::from_secs(1800), ..Schedule::new("0 * * * *") };
    let timetable = Timetable::new(&schedule, 7, &TimeZone::UTC).unwrap();
    let log = FireLog::starting(on_monday("10:59:00"));
    let fire = timetable.next(on_monday("10:59:00")).unwrap();
    assert!(fire.start > fire.time);
    let early = timetable.decide(&log, fire.start.minus(Duration::from_micros(1)), false);
    assert_eq!((early.start, early.wake), (None, Some(fire.start)));
    let due = timetable.decide(&log, fire.start, false);
    assert_eq!((due.start, due.skipped), (Some(on_monday("11:00:00")), vec![]));
}

#[derive(Clone, Debug)]
enum Move {
    /// The clock goes on, and the schedule is looked at.
    Pass {
        seconds: u64,
    },
    Forward {
        hours: u64,
    },
    Back {
        hours: u64,
    },
    /// The agent dies after deciding and before writing.
    DieUnwritten,
    /// The agent dies after writing and before acting.
    DieWritten,
    /// Sleep until the decision's own time.
    Wake,
    RunEnds,
}

fn a_move() -> impl Strategy<Value = Move> {
    prop_oneof![
        4 => (0u64..7200).prop_map(|seconds| Move::Pass { seconds }),
        1 => (1u64..9000).prop_map(|hours| Move::Forward { hours }),
        1 => (1u64..9000).prop_map(|hours| Move::Back { hours }),
        1 => Just(Move::DieUnwritten),
        1 => Just(Move::DieWritten),
        6 => Just(Move::Wake),
        4 => Just(Move::RunEnds),
    ]
}

fn a_timetable() -> impl Strategy<Value = Timetable> {
    let cron = prop::sample::select(vec!["* * * * *", "0 * * * *", "30 2 * * *", "*/20 0 * * * *"]);
    let zone = prop::sample::select(vec!["UTC", "Europe/Berlin", "Australia/Lord_Howe"]);
    let overlap = prop::sample::select(vec![Overlap::Allow, Overlap::Forbid, Overlap::Replace]);
    let catch_up = prop::sample::select(vec![CatchUp::None, CatchUp::One, CatchUp::All]);
    let jitter = prop::sample::select(vec![0, 30, 5000]);
    let window = prop::sample::select(vec![60, 7200, 86_400, 10_000_000]);
    (cron, zone, overlap, catch_up, jitter, window, any::<u64>()).prop_map(
        |(cron, zone, overlap, catch_up, jitter, window, salt)| {
            let schedule = Schedule {
                timezone: zone.to_owned(),
                jitter: Span::from_secs(jitter),
                overlap,
                catch_up,
                catch_up_window: Span::from_secs(window),
                ..Schedule::new(cron)
            };
            Timetable::new(&schedule, salt, &TimeZone::UTC).unwrap()
        },
    )
}

/// A node with a clock that cannot be trusted.
struct World {
    timetable: Timetable,
    now: Timestamp,
    log: FireLog,
    is_running: bool,
    started: BTreeSet<Timestamp>,
}

impl World {
    fn decide(&self) -> Decision {
        let decision = self.timetable.decide(&self.log, self.now, self.is_running);
        assert_eq!(decision, self.timetable.decide(&self.log, self.now, self.is_running));
        assert!(decision.wake.unwrap() > self.now);
        assert!(decision.skipped.len() <= 4 && decision.log.handled.len() <= STRETCHES);
        assert!(!decision.stop_running || decision.start.is_some());
        for pair in decision.log.handled.windows(2) {
            assert!(pair[0].first <= pair[0].last && pair[0].last < pair[1].first);
        }
        if decision.skipped.iter().any(|skip| skip.why == Skip::Overlap) {
            assert!(self.is_running && decision.start.is_none());
        }
        decision
    }

    fn act(&mut self, decision: Decision) {
        self.log = decision.log;
        if let Some(fire) = decision.start {
            assert!(self.started.insert(fire), "{fire} was started twice");
            self.is_running = true;
        }
    }

    fn step(&mut self, step: &Move) {
        match step {
            Move::Pass { seconds } => self.now = self.now.plus(Duration::from_secs(*seconds)),
            Move::Forward { hours } => self.now = self.now.plus(Duration::from_secs(hours * 3600)),
            Move::Back { hours } => self.now = self.now.minus(Duration::from_secs(hours * 3600)),
            Move::DieUnwritten => drop(self.decide()),
            Move::DieWritten => self.log = self.decide().log,
            Move::Wake => self.now = self.decide().wake.unwrap(),
            Move::RunEnds => self.is_running = false,
        }
        let decision = self.decide();
        self.act(decision);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_clock_does(
        timetable in a_timetable(),
        moves in prop::collection::vec(a_move(), 1..60),
    ) {
        let now = on_monday("12:00:00");
        let (log, started) = (FireLog::starting(now), BTreeSet::new());
        let mut world = World { timetable, now, log, is_running: false, started };
        for step in &moves {
            world.step(step);
        }

        world.now = world.now.max(at("2021-01-01T00:00:00Z"));
        let from = world.now;
        let jumps = moves
            .iter()
            .filter(|step| matches!(step, Move::Forward { .. } | Move::Back { .. } | Move::Pass { .. }))
            .count();
        let handled: Duration =
            world.log.handled.iter().map(|stretch| stretch.last.since(stretch.first)).sum();
        let before = world.started.len();
        for _ in 0..2 {
            world.is_running = false;
            world.step(&Move::Wake);
        }
        prop_assert!(world.started.len() > before, "it goes on");
        if jumps < STRETCHES {
            let days = Duration::from_secs(4 * 86_400);
            prop_assert!(world.now.since(from) < days + handled, "{from} {}", world.now);
        }
    }
}
