//! Turns of schedules that servers follow: intervals, appointments, bounds, jitter, overlaps, outages.

use std::collections::BTreeSet;

use hostler_model::schedule::{FireRemark, ScheduleSpec};
use hostler_model::{
    Action, CatchUp, Overlap, ScheduleId, Span, Timestamp, WorkloadAction, WorkloadVerb,
};
use proptest::prelude::*;
use uuid::Uuid;

use super::{FireLog, Skip, Timetable, Turn};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn on_monday(time: &str) -> Timestamp {
    at(&format!("2026-06-01T{time}Z"))
}

fn target() -> Action {
    let name = "web".parse().unwrap();
    Action::Workload(WorkloadAction { name, verb: WorkloadVerb::Restart })
}

fn every(text: &str) -> ScheduleSpec {
    ScheduleSpec::every(text.parse().unwrap(), target())
}

fn timetable(spec: &ScheduleSpec) -> Timetable {
    Timetable::of(spec, ScheduleId::from_uuid(Uuid::from_u128(7))).unwrap()
}

fn shown(turn: &Turn) -> (Vec<String>, Vec<(Skip, String, u32)>) {
    let face = |time: Timestamp| time.to_string()[11..19].to_owned();
    let starts = turn.starts.iter().map(|start| face(start.fire.time)).collect();
    let missed = turn.missed.iter().map(|skip| (skip.why, face(skip.first), skip.count)).collect();
    (starts, missed)
}

fn next(spec: &ScheduleSpec, after: &str, n: usize) -> Vec<String> {
    let fires = timetable(spec).preview(at(after), n);
    fires.iter().map(|fire| fire.time.to_string()[..19].to_owned()).collect()
}

#[test]
fn intervals_are_counted_from_round_times_or_from_their_start() {
    assert_eq!(
        next(&every("10m"), "2026-06-01T10:03:00Z", 2),
        ["2026-06-01T10:10:00", "2026-06-01T10:20:00"]
    );
    let mut own = every("7m");
    own.starts = Some(at("2026-06-01T10:01:30Z"));
    assert_eq!(
        next(&own, "2026-06-01T09:00:00Z", 3),
        ["2026-06-01T10:01:30", "2026-06-01T10:08:30", "2026-06-01T10:15:30"]
    );
    own.ends = Some(at("2026-06-01T10:08:30Z"));
    assert_eq!(
        next(&own, "2026-06-01T09:00:00Z", 9),
        ["2026-06-01T10:01:30", "2026-06-01T10:08:30"]
    );
    assert!(next(&own, "2026-06-01T10:08:30Z", 9).is_empty());
}

#[test]
fn an_appointment_comes_once() {
    let spec = ScheduleSpec::at(on_monday("10:00:00"), target());
    let log = FireLog::starting(on_monday("09:00:00"));
    let early = timetable(&spec).turn(&log, on_monday("09:59:59"), false);
    assert_eq!((early.starts.len(), early.due), (0, Some(on_monday("10:00:00"))));
    let turn = timetable(&spec).turn(&log, on_monday("10:00:01"), false);
    assert_eq!(shown(&turn).0, ["10:00:00"]);
    assert_eq!((turn.due, turn.next), (None, None));
    assert_eq!(timetable(&spec).turn(&turn.log, on_monday("11:00:00"), false).starts, []);
}

#[test]
fn bounds_hold_for_cron_too() {
    let mut spec = ScheduleSpec::cron("0 * * * *", target());
    spec.starts = Some(on_monday("11:00:00"));
    spec.ends = Some(on_monday("12:59:59"));
    let log = FireLog::starting(on_monday("08:30:00"));
    let turn = timetable(&spec).turn(&log, on_monday("10:30:00"), false);
    assert_eq!((turn.starts.len(), turn.due), (0, Some(on_monday("11:00:00"))));
    let turn = timetable(&spec).turn(&log, on_monday("11:00:00"), false);
    assert_eq!(shown(&turn).0, ["11:00:00"]);
    let turn = timetable(&spec).turn(&turn.log, on_monday("12:00:00"), false);
    assert_eq!((shown(&turn).0, turn.due), (vec!["12:00:00".to_owned()], None));
}

/// Three hours without a server, looked at again at 13:00:10.
#[test]
fn an_outage_is_caught_up_with_as_it_says() {
    let log = FireLog::starting(on_monday("10:30:00"));
    let missed = |first: &str, count| vec![(Skip::Missed, first.to_owned(), count)];
    let cases = [
        (CatchUp::None, Overlap::Forbid, "1d", 100, vec!["13:00:00"], missed("11:00:00", 2)),
        (CatchUp::One, Overlap::Forbid, "1d", 100, vec!["13:00:00"], missed("11:00:00", 2)),
        (CatchUp::All, Overlap::Allow, "1d", 100, vec!["11:00:00", "12:00:00", "13:00:00"], vec![]),
        (CatchUp::All, Overlap::Forbid, "1d", 100, vec!["11:00:00"], vec![]),
        (
            CatchUp::All,
            Overlap::Allow,
            "1h30m",
            100,
            vec!["12:00:00", "13:00:00"],
            missed("11:00:00", 1),
        ),
        (
            CatchUp::All,
            Overlap::Allow,
            "1d",
            1,
            vec!["12:00:00", "13:00:00"],
            vec![(Skip::TooMany, "11:00:00".to_owned(), 1)],
        ),
    ];
    for (catch_up, overlap, window, catch_up_limit, starts, missed) in cases {
        let spec = ScheduleSpec {
            catch_up,
            overlap,
            catch_up_window: window.parse().unwrap(),
            catch_up_limit,
            ..ScheduleSpec::cron("0 * * * *", target())
        };
        let turn = timetable(&spec).turn(&log, on_monday("13:00:10"), false);
        let expected = (starts.into_iter().map(str::to_owned).collect::<Vec<_>>(), missed);
        assert_eq!(shown(&turn), expected, "{catch_up} {overlap} {window} {catch_up_limit}");
        let again = timetable(&spec).turn(&turn.log, on_monday("13:00:10"), true);
        assert_eq!(again.starts, [], "nothing twice");
    }
}

#[test]
fn what_still_runs_decides_by_the_overlap() {
    let log = FireLog::starting(on_monday("10:30:00"));
    let turn = |overlap, is_running| {
        let spec = ScheduleSpec { overlap, ..every("1h") };
        timetable(&spec).turn(&log, on_monday("11:00:00"), is_running)
    };
    for overlap in [Overlap::Allow, Overlap::Forbid, Overlap::Replace, Overlap::Queue] {
        assert_eq!(shown(&turn(overlap, false)).0, ["11:00:00"], "{overlap}");
        assert!(!turn(overlap, false).starts[0].is_replacing);
    }
    assert_eq!(shown(&turn(Overlap::Allow, true)).0, ["11:00:00"]);
    let replace = turn(Overlap::Replace, true);
    assert!(replace.starts[0].is_replacing);
    let forbid = turn(Overlap::Forbid, true);
    assert_eq!(shown(&forbid), (vec![], vec![(Skip::Overlap, "11:00:00".to_owned(), 1)]));
    assert_eq!(forbid.due, Some(on_monday("12:00:00")));
    let queue = turn(Overlap::Queue, true);
    assert_eq!((queue.starts.len(), queue.missed.len()), (0, 0));
    assert_eq!(queue.due, Some(on_monday("11:00:02")), "it is looked at again soon");
}

#[test]
fn one_waits_and_no_more() {
    let spec = ScheduleSpec { overlap: Overlap::Queue, ..every("1h") };
    let timetable = timetable(&spec);
    let log = FireLog::starting(on_monday("10:30:00"));
    let first = timetable.turn(&log, on_monday("11:00:00"), true);
    let second = timetable.turn(&first.log, on_monday("12:00:00"), true);
    assert_eq!(shown(&second), (vec![], vec![(Skip::Overlap, "12:00:00".to_owned(), 1)]));
    let ended = timetable.turn(&second.log, on_monday("12:30:00"), false);
    assert_eq!(shown(&ended).0, ["11:00:00"]);
    assert!(ended.starts[0].is_late);
    assert!(!ended.log.is_waiting());
    let both = timetable.turn(&first.log, on_monday("12:00:00"), false);
    assert_eq!(shown(&both), (vec!["11:00:00".to_owned()], vec![]), "who waited goes first");
    assert!(both.log.is_waiting(), "and the new one waits");
}

#[test]
fn a_wait_has_an_end() {
    let spec = ScheduleSpec {
        overlap: Overlap::Queue,
        catch_up_window: "30m".parse().unwrap(),
        ..every("1h")
    };
    let timetable = timetable(&spec);
    let log = FireLog::starting(on_monday("10:30:00"));
    let first = timetable.turn(&log, on_monday("11:00:00"), true);
    let later = timetable.turn(&first.log, on_monday("11:31:00"), true);
    assert_eq!(shown(&later), (vec![], vec![(Skip::Missed, "11:00:00".to_owned(), 1)]));
}

#[test]
fn jitter_is_another_for_each_time_and_the_same_on_every_server() {
    let spec = ScheduleSpec { jitter: Span::from_secs(600), ..every("1h") };
    let (one, other) = (timetable(&spec), timetable(&spec));
    let fires = one.preview(on_monday("00:00:00"), 50);
    assert_eq!(fires, other.preview(on_monday("00:00:00"), 50));
    let delays: BTreeSet<_> = fires.iter().map(|fire| fire.start.since(fire.time)).collect();
    assert!(delays.len() > 40, "{delays:?}");
    assert!(delays.iter().all(|delay| delay.as_secs() < 600));
    let else_where = Timetable::of(&spec, ScheduleId::from_uuid(Uuid::from_u128(8))).unwrap();
    assert_ne!(fires, else_where.preview(on_monday("00:00:00"), 50));
}

#[test]
fn changed_clocks_are_remarked_on() {
    let berlin = |cron: &str| ScheduleSpec {
        timezone: "Europe/Berlin".to_owned(),
        ..ScheduleSpec::cron(cron, target())
    };
    let remarks = |spec: &ScheduleSpec, after: &str| {
        let timetable = timetable(spec);
        let fires = timetable.preview(at(after), 3);
        let before = |i: usize| i.checked_sub(1).map(|i| fires[i].time);
        (0..3).map(|i| timetable.remark(fires[i].time, before(i))).collect::<Vec<_>>()
    };
    let spring = "2026-03-27T12:00:00Z";
    assert_eq!(remarks(&berlin("30 2 * * *"), spring), [None, Some(FireRemark::Skipped), None]);
    assert_eq!(remarks(&berlin("0 12 * * *"), spring), [None, Some(FireRemark::Changed), None]);
    let autumn = "2026-10-24T12:00:00Z";
    assert_eq!(remarks(&berlin("30 2 * * *"), autumn)[0], Some(FireRemark::FirstOfTwo));
    let night = "2026-10-25T00:15:00Z";
    assert_eq!(
        remarks(&berlin("30 * * * *"), night),
        [Some(FireRemark::Twice), Some(FireRemark::Twice), None]
    );
    assert_eq!(remarks(&every("1h"), spring), [None, None, None]);
}

proptest! {
    /// Whatever the clock does and whenever servers look: no time is begun twice, nothing is begun before
    /// any clock showed its time, and what is begun or missed is a time of the schedule.
    #[test]
    fn nothing_is_begun_twice(
        moves in prop::collection::vec((-7_200i64..7_200, any::<bool>()), 1..40),
        overlap in prop::sample::select(Overlap::ALL),
        catch_up in prop::sample::select(CatchUp::ALL),
        jitter in prop::sample::select(&[0u64, 30, 600]),
    ) {
        let spec = ScheduleSpec {
            overlap,
            catch_up,
            jitter: Span::from_secs(jitter),
            ..every("10m")
        };
        let timetable = timetable(&spec);
        let mut now = on_monday("12:00:00");
        let (mut log, mut latest) = (FireLog::starting(now), now);
        let mut begun = BTreeSet::new();
        for (seconds, is_running) in moves {
            now = Timestamp::from_micros(now.micros() + seconds * 1_000_000);
            latest = latest.max(now);
            let turn = timetable.turn(&log, now, is_running);
            for start in &turn.starts {
                prop_assert!(start.fire.start <= latest);
                prop_assert!(begun.insert(start.fire.time), "{:?} twice", start.fire.time);
                prop_assert_eq!(start.fire.time.micros() % 600_000_000, 0);
            }
            if overlap != Overlap::Allow {
                prop_assert!(turn.starts.len() <= 1);
            }
            prop_assert_eq!(timetable.turn(&turn.log, now, true).starts, []);
            log = turn.log;
        }
    }
}
