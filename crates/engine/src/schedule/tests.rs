//! Timetables: changed clocks, leap days, jitter.

use std::time::Duration;

use hostler_model::{CronError, NodeId, Schedule, Span, Timestamp, WorkloadId};
use jiff::tz::TimeZone;
use uuid::Uuid;

use super::{ScheduleError, Timetable, first_starts};

fn schedule(cron: &str, zone: &str) -> Schedule {
    Schedule { timezone: zone.to_owned(), ..Schedule::new(cron) }
}

fn timetable(cron: &str, zone: &str) -> Timetable {
    Timetable::new(&schedule(cron, zone), 0, &TimeZone::UTC).unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn times(cron: &str, zone: &str, after: &str, n: usize) -> Vec<String> {
    timetable(cron, zone)
        .preview(at(after), n)
        .iter()
        .map(|fire| {
            assert_eq!(fire.start, fire.time);
            jiff::Timestamp::from_microsecond(fire.time.micros()).unwrap().to_string()
        })
        .collect()
}

/// Clocks go forward: Berlin 2026-03-29 02:00 to 03:00 (01:00Z), New York 2026-03-08 02:00 to 03:00
/// (07:00Z), Lord Howe 2026-10-04 02:00 to 02:30 (15:30Z the day before), Cairo 2026-04-24 00:00 to
/// 01:00 (22:00Z the day before).
#[test]
fn what_the_clock_leaves_out() {
    let berlin = ("Europe/Berlin", "2026-03-28T12:00:00Z");
    let new_york = ("America/New_York", "2026-03-07T18:00:00Z");
    let lord_howe = ("Australia/Lord_Howe", "2026-10-03T04:00:00Z");
    let cairo = ("Africa/Cairo", "2026-04-23T12:00:00Z");
    let cases: [(&str, (&str, &str), &[&str]); 13] = [
        ("30 2 * * *", berlin, &["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]),
        ("0 2 * * *", berlin, &["2026-03-29T01:00:00Z", "2026-03-30T00:00:00Z"]),
        ("0 3 * * *", berlin, &["2026-03-29T01:00:00Z", "2026-03-30T01:00:00Z"]),
        ("10,20,50 2 * * *", berlin, &["2026-03-29T01:00:00Z", "2026-03-30T00:10:00Z"]),
        ("30 2,3 * * *", berlin, &["2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z"]),
        ("59 1 * * *", berlin, &["2026-03-29T00:59:00Z", "2026-03-29T23:59:00Z"]),
        ("30 2 29 3 *", berlin, &["2026-03-29T01:00:00Z", "2027-03-29T00:30:00Z"]),
        ("*/20 2 * * *", berlin, &["2026-03-30T00:00:00Z", "2026-03-30T00:20:00Z"]),
        ("30 2 * * *", new_york, &["2026-03-08T07:00:00Z", "2026-03-09T06:30:00Z"]),
        ("15 2 * * *", lord_howe, &["2026-10-03T15:30:00Z", "2026-10-04T15:15:00Z"]),
        ("30 2 * * *", lord_howe, &["2026-10-03T15:30:00Z", "2026-10-04T15:30:00Z"]),
        ("45 2 * * *", lord_howe, &["2026-10-03T15:45:00Z", "2026-10-04T15:45:00Z"]),
        ("@daily", cairo, &["2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z"]),
    ];
    for (cron, (zone, after), expected) in cases {
        assert_eq!(times(cron, zone, after, 2), expected, "{cron} {zone}");
    }
}

/// Clocks go back: Berlin 2026-10-25 03:00 to 02:00 (01:00Z), New York 2026-11-01 02:00 to 01:00
/// (06:00Z), Lord Howe 2026-04-05 02:00 to 01:30 (15:00Z the day before).
#[test]
fn what_the_clock_shows_twice() {
    let berlin = ("Europe/Berlin", "2026-10-24T12:00:00Z");
    let new_york = ("America/New_York", "2026-10-31T18:00:00Z");
    let lord_howe = ("Australia/Lord_Howe", "2026-04-04T04:00:00Z");
    let cases: [(&str, (&str, &str), &[&str]); 7] = [
        ("30 2 * * *", berlin, &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"]),
        ("0 2 * * *", berlin, &["2026-10-25T00:00:00Z", "2026-10-26T01:00:00Z"]),
        ("0 3 * * *", berlin, &["2026-10-25T02:00:00Z", "2026-10-26T02:00:00Z"]),
        ("0,30 2 * * *", berlin, &["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"]),
        ("*/30 2 * * *", berlin, &["2026-10-25T00:00:00Z", "2026-10-25T00:30:00Z"]),
        ("30 1 * * *", new_york, &["2026-11-01T05:30:00Z", "2026-11-02T06:30:00Z"]),
        ("45 1 * * *", lord_howe, &["2026-04-04T14:45:00Z", "2026-04-05T15:15:00Z"]),
    ];
    for (cron, (zone, after), expected) in cases {
        assert_eq!(times(cron, zone, after, 2), expected, "{cron} {zone}");
    }
    let second_round = "2026-10-25T01:10:00Z";
    assert_eq!(times("30 2 * * *", "Europe/Berlin", second_round, 1), ["2026-10-26T01:30:00Z"]);
    assert_eq!(times("*/30 2 * * *", "Europe/Berlin", second_round, 1), ["2026-10-25T01:30:00Z"]);
}

#[test]
fn intervals_keep_real_time_through_both_changes() {
    for (zone, minutes) in [
        ("Europe/Berlin", 15),
        ("America/New_York", 15),
        ("Australia/Lord_Howe", 15),
        ("Australia/Lord_Howe", 30),
        ("Europe/Berlin", 60),
    ] {
        let cron = if minutes == 60 { "0 * * * *".into() } else { format!("*/{minutes} * * * *") };
        let fires = timetable(&cron, zone).preview(at("2026-01-01T00:00:00Z"), 24 * 4 * 366);
        for pair in fires.windows(2) {
            let apart = pair[1].time.since(pair[0].time);
            assert_eq!(apart, Duration::from_secs(minutes * 60), "{zone} {pair:?}");
        }
    }
}

#[test]
fn appointments_come_once_a_day_all_year() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"] {
        for cron in ["0 0 * * *", "30 1 * * *", "0 2 * * *", "15 2 * * *", "59 2 * * *"] {
            let fires = timetable(cron, zone).preview(at("2026-01-01T16:00:00Z"), 365);
            let last = fires.last().unwrap().time;
            let year = last.since(at("2026-01-01T16:00:00Z"));
            assert!((364..=365).contains(&(year.as_secs() / 86_400)), "{cron} {zone} {last}");
        }
    }
}

#[test]
fn leap_days() {
    let expected = ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"];
    assert_eq!(times("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 2), expected);
    assert_eq!(
        times("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1),
        ["2104-02-29T00:00:00Z"],
        "2100 has none"
    );
    assert_eq!(
        times("0 12 L 2 *", "UTC", "2027-01-01T00:00:00Z", 2),
        ["2027-02-28T12:00:00Z", "2028-02-29T12:00:00Z"]
    );
}

#[test]
fn local_is_the_nodes_own_zone() {
    let tokyo = TimeZone::fixed(jiff::tz::offset(9));
    let timetable = Timetable::new(&schedule("0 9 * * *", "local"), 0, &tokyo).unwrap();
    assert_eq!(
        timetable.next(at("2026-01-01T12:00:00Z")).unwrap().time,
        at("2026-01-02T00:00:00Z")
    );
}

#[test]
fn what_cannot_be_followed_is_refused() {
    let refused = |cron: &str, zone: &str| {
        Timetable::new(&schedule(cron, zone), 0, &TimeZone::UTC).unwrap_err()
    };
    assert_eq!(refused("0 0 30 2 *", "UTC"), ScheduleError::Cron(CronError::Never));
    assert!(matches!(refused("@daily", "Europe/Berlim"), ScheduleError::Zone(_)));
}

#[test]
fn the_latest_time_is_found_from_any_distance() {
    for (cron, zone) in [
        ("* * * * * *", "UTC"),
        ("* 3 * * *", "Europe/Berlin"),
        ("30 2 * * *", "Europe/Berlin"),
        ("0 0 29 2 *", "UTC"),
        ("*/7 1-3 * * 1", "Australia/Lord_Howe"),
    ] {
        let timetable = timetable(cron, zone);
        let from = at("2026-03-20T00:00:00Z");
        let mut latest = from;
        for fire in timetable.preview(from, 300) {
            let until = fire.time.minus(Duration::from_micros(1));
            let expected = Some(latest).filter(|time| *time > from);
            assert_eq!(timetable.last_time(from, until), expected, "{cron} {until}");
            assert_eq!(timetable.last_time(from, fire.time), Some(fire.time), "{cron}");
            latest = fire.time;
        }
        assert_eq!(timetable.last_time(latest, latest), None);
    }
}

#[test]
fn jitter_is_the_nodes_own_and_keeps_the_order() {
    let from = at("2026-01-01T00:00:00Z");
    for (cron, jitter) in [("0 3 * * *", 3600), ("* * * * *", 3600), ("0,1 */6 * * *", 600)] {
        let mut starts = Vec::new();
        for salt in 0..20 {
            let spec = Schedule { jitter: Span::from_secs(jitter), ..Schedule::new(cron) };
            let timetable = Timetable::new(&spec, salt, &TimeZone::UTC).unwrap();
            let fires = timetable.preview(from, 50);
            assert_eq!(fires, timetable.preview(from, 50));
            for pair in fires.windows(2) {
                assert!(pair[0].start < pair[1].time && pair[0].start >= pair[0].time);
                assert!(pair[0].start.since(pair[0].time) <= Duration::from_secs(jitter));
            }
            starts.push(fires[0].start);
        }
        starts.sort_unstable();
        starts.dedup();
        assert_eq!(starts.len(), 20, "{cron}: nodes are spread");
    }
}

#[test]
fn a_start_that_was_put_off_is_still_to_come() {
    let jittered = Schedule { jitter: Span::from_secs(3600), ..schedule("0 3 * * *", "UTC") };
    let timetable = (0..).map(|salt| Timetable::new(&jittered, salt, &TimeZone::UTC).unwrap());
    let late = |table: &Timetable| {
        let fire = table.next(at("2026-01-01T00:00:00Z")).unwrap();
        fire.start.since(fire.time) > Duration::from_secs(1800)
    };
    let table = timetable.into_iter().find(late).unwrap();
    let now = at("2026-01-01T03:10:00Z");
    let fires = table.preview(now, 2);
    assert_eq!(fires[0].time, at("2026-01-01T03:00:00Z"));
    assert!(fires[0].start > now);
    assert_eq!(fires[1].time, at("2026-01-02T03:00:00Z"));
    assert_eq!(table.preview(fires[0].start, 1), [fires[1]]);
}

#[test]
fn starts_over_several_nodes_come_in_their_order() {
    let local = schedule("0 3 * * *", "local");
    let workload = WorkloadId::from_uuid(Uuid::from_u128(7));
    let on = |node: u128, zone: Option<&str>, jitter: u64| {
        let schedule = Schedule { jitter: Span::from_secs(jitter), ..local.clone() };
        Timetable::on_node(&schedule, NodeId::from_uuid(Uuid::from_u128(node)), workload, zone)
    };
    assert_eq!(on(1, None, 0).unwrap_err(), ScheduleError::LocalUnknown);
    assert!(matches!(on(1, Some("Mars/Olympus"), 0), Err(ScheduleError::Zone(_))));
    let zones = ["Europe/Berlin", "America/New_York", "Europe/Berlin"];
    let tables: Vec<Timetable> =
        (1..).zip(zones).map(|(node, zone)| on(node, Some(zone), 0).unwrap()).collect();
    let starts = first_starts(&tables, at("2026-01-01T00:00:00Z"), 3);
    let found: Vec<(Timestamp, Vec<usize>)> =
        starts.into_iter().map(|one| (one.fire.start, one.of)).collect();
    assert_eq!(
        found,
        [
            (at("2026-01-01T02:00:00Z"), vec![0, 2]),
            (at("2026-01-01T08:00:00Z"), vec![1]),
            (at("2026-01-02T02:00:00Z"), vec![0, 2]),
        ]
    );
    let tables: Vec<Timetable> = (1..6).map(|n| on(n, Some("UTC"), 600).unwrap()).collect();
    let starts = first_starts(&tables, at("2026-01-01T00:00:00Z"), 12);
    assert_eq!(starts.len(), 12);
    assert!(starts.is_sorted_by_key(|one| one.fire.start));
    let first = tables[0].preview(at("2026-01-01T00:00:00Z"), 2);
    let of_first = starts.iter().filter(|one| one.of == [0]).map(|one| one.fire);
    assert_eq!(of_first.take(2).collect::<Vec<_>>(), first);
}
