//! Master Control's form, field by field.

use hostler_manifest::{Loader, Report, load_str};
use hostler_model::{Bytes, CatchUp, Mode, Overlap, RestartOn, Schedule, Span, WorkloadSpec};

const BASE: &str = "name: sync\ntype: agent\nmodule: shop.sync\n";

fn one(text: &str) -> WorkloadSpec {
    let set = load_str("f.yaml", text).unwrap_or_else(|report| panic!("{report}"));
    assert_eq!(set.len(), 1);
    set.workloads.into_values().next().unwrap().spec
}

fn wrong(text: &str) -> Report {
    load_str("f.yaml", text).unwrap_err()
}

#[test]
fn each_mode_becomes_ours() {
    let forever = one(&format!("{BASE}run_mode: forever\n"));
    assert_eq!(forever.mode, Mode::Forever);
    assert_eq!(forever.restart.on(&forever.mode), RestartOn::Always);
    assert_eq!(forever.restart.delay, Span::from_secs(5));
    let python = forever.python.unwrap();
    assert_eq!((python.module.as_str(), python.entry.as_str()), ("shop.sync", "run"));
    assert_eq!(forever.tags, ["type:agent"]);

    let times = one(&format!("{BASE}run_mode: n_times\nmax_runs: 3\nrestart_delay: 0.5\n"));
    assert_eq!(times.mode, Mode::Times(3));
    assert_eq!(times.restart.delay, Span::from_millis(500));

    let schedule = one(&format!("{BASE}run_mode: schedule\nschedule: '*/5 * * * *'\n"));
    let expected = Schedule {
        timezone: "local".into(),
        overlap: Overlap::Forbid,
        catch_up: CatchUp::None,
        ..Schedule::new("*/5 * * * *")
    };
    assert_eq!(schedule.mode, Mode::Schedule(expected));
}

#[test]
fn every_field_is_carried_over() {
    let spec = one(
        "name: My_Job\ntype: script\nrun_mode: forever\nmodule: a.b\nentry_point: main\nparams: {n: 1, deep: {x: [true, null, 1.5]}}\nrestart_delay: 400\ntimeout: 1.5\ntags: [nightly, 7]\nversion: 1.20\nmemory_limit_mb: 64\ncpu_nice: -5\nschedule: null\n",
    );
    let python = spec.python.as_ref().unwrap();
    assert_eq!(python.entry, "main");
    assert_eq!(
        serde_json::to_string(&python.params).unwrap(),
        "{\"n\":1,\"deep\":{\"x\":[true,null,1.5]}}"
    );
    assert_eq!(spec.restart.delay, Span::from_secs(400));
    assert_eq!(spec.restart.max_delay, Span::from_secs(400));
    assert_eq!(spec.timeout, Some(Span::from_millis(1500)));
    assert_eq!(spec.tags, ["nightly", "7", "type:script", "name:My_Job"]);
    assert_eq!(spec.version.as_deref(), Some("1.20"));
    assert_eq!(spec.limits.memory, Some(Bytes::mib(64)));
    assert_eq!(spec.limits.nice, Some(-5));
    assert!(spec.problems("").is_empty());
}

#[test]
fn names_become_names_and_a_place_to_run_can_be_given() {
    let text = format!("{}run_mode: forever\n", BASE.replace("sync\n", "my_job\n"));
    let set = Loader::new().home("/srv/shop").str("f", &text).unwrap();
    let (name, item) = set.workloads.iter().next().unwrap();
    assert_eq!(name.as_str(), "my-job");
    assert_eq!(item.spec.workdir.as_deref(), Some("/srv/shop"));
}

#[test]
fn their_rules_hold() {
    for (more, place, words) in [
        ("run_mode: schedule\n", (1, 1), "needs `schedule`"),
        ("run_mode: schedule\nschedule: ''\n", (5, 11), "`schedule`"),
        ("run_mode: n_times\n", (1, 1), "needs `max_runs`"),
        ("run_mode: n_times\nmax_runs: 0\n", (5, 11), "from 1 up"),
        ("run_mode: sometimes\n", (4, 11), "cannot be `sometimes`"),
        ("run_mode: forever\ncpu_nice: 20\n", (5, 11), "-20 to 19"),
        ("run_mode: forever\nmemory_limit_mb: 0\n", (5, 18), "from 1 up"),
        ("run_mode: forever\ntimeout: 0\n", (5, 10), "above 0"),
        ("run_mode: forever\nrestart_delay: -1\n", (5, 16), "from 0 up"),
        ("run_mode: forever\nrestart_delay: soon\n", (5, 16), "must be a number"),
        ("run_mode: forever\nmax_run: 3\n", (5, 1), "not a field of a Master Control workload"),
        ("run_mode: forever\nparams: 3\n", (5, 9), "must be a mapping"),
        ("run_mode: forever\nentry_point: 1x\n", (5, 14), "name of a function"),
    ] {
        let report = wrong(&format!("{BASE}{more}"));
        let [mistake] = report.mistakes.as_slice() else {
            panic!("{more}: {report}");
        };
        assert_eq!((mistake.line, mistake.column), place, "{report}");
        assert!(mistake.detail.contains(words), "{report}");
    }
    let all = wrong("run_mode: forever\n");
    assert_eq!(all.mistakes.len(), 3, "{all}");
}
