use super::*;

fn target() -> Action {
    serde_json::from_str(r#"{"workload": {"name": "web", "verb": "restart"}}"#).unwrap()
}

#[test]
fn one_time_and_only_one_is_given() {
    let never = ScheduleSpec::never(target());
    assert_eq!(never.problems().len(), 1);
    let two =
        ScheduleSpec { every: Some(Span::from_secs(60)), ..ScheduleSpec::cron("@daily", target()) };
    assert_eq!(two.problems()[0].detail, "give only one of `cron`, `every` and `at`");
    for good in [
        ScheduleSpec::cron("0 3 * * *", target()),
        ScheduleSpec::every(Span::from_secs(600), target()),
        ScheduleSpec::at(Timestamp::from_micros(1), target()),
    ] {
        assert_eq!(good.problems(), [], "{}", good.timing());
        let text = serde_json::to_string(&good).unwrap();
        assert_eq!(serde_json::from_str::<ScheduleSpec>(&text).unwrap(), good);
    }
}

#[test]
fn every_mistake_is_found() {
    let wrong = ScheduleSpec {
        timezone: "Berlin".to_owned(),
        jitter: Span::from_secs(90_000),
        catch_up_window: Span::from_millis(0),
        catch_up_limit: 0,
        starts: Some(Timestamp::from_micros(2)),
        ends: Some(Timestamp::from_micros(1)),
        description: "x".repeat(1001),
        ..ScheduleSpec::cron("0 25 * * *", target())
    };
    let found = wrong.problems();
    let places: Vec<&str> = found.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(
        places,
        [
            "/cron",
            "/timezone",
            "/jitter",
            "/catchUpWindow",
            "/catchUpLimit",
            "/ends",
            "/description"
        ]
    );
    assert!(found[1].detail.contains("Europe/Berlin"));
    let local =
        ScheduleSpec { timezone: "local".to_owned(), ..ScheduleSpec::cron("@daily", target()) };
    assert_eq!(local.problems()[0].pointer, "/timezone");
}

#[test]
fn a_wrong_field_has_a_caret_below_it() {
    let wrong = ScheduleSpec::cron("0 25 * * mon", target()).problems();
    insta::assert_snapshot!(wrong[0].detail, @r"
    hour `25`: allowed are *, 0-23, lists `6,18`, rising ranges `9-17` and steps `*/4`
      0 25 * * mon
        ^^
    ");
}

#[test]
fn times_are_shown_in_their_zone() {
    let spec = ScheduleSpec {
        timezone: "Europe/Berlin".to_owned(),
        ..ScheduleSpec::cron("0 3 * * *", target())
    };
    let at = |text: &str| spec.local_time(text.parse().unwrap());
    assert_eq!(at("2026-12-01T02:00:00Z"), "Tue 2026-12-01 03:00:00 CET");
    assert_eq!(at("2026-07-01T01:00:00Z"), "Wed 2026-07-01 03:00:00 CEST");
}

#[test]
fn moments_are_read_in_their_zone() {
    let read = |text: &str, zone: &str| read_moment(text, zone).map(|time| time.to_string());
    assert_eq!(read("2026-12-01T03:00", "Europe/Berlin").unwrap(), "2026-12-01T02:00:00.000000Z");
    assert_eq!(read("2026-12-01 03:00:30", "UTC").unwrap(), "2026-12-01T03:00:30.000000Z");
    assert_eq!(read("2026-12-01T03:00:00+02:00", "UTC").unwrap(), "2026-12-01T01:00:00.000000Z");
    assert_eq!(read("2026-03-29T02:30", "Europe/Berlin").unwrap(), "2026-03-29T01:30:00.000000Z");
    assert!(read("tomorrow", "UTC").unwrap_err().contains("2026-12-01T03:00"));
    assert!(read("2026-12-01T03:00", "Berlim").is_err());
}
