//! An agent that needs no server: what it promises of its workloads, whatever happens to it. Named
//! after the sections of the document that describes such a daemon.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::rig::{Alone, Barrier, DEADLINE, Output, Rig, birth, is_running, kill, until};

const SLEEPER: &str = "{name: web, mode: forever, command: [sleep, '100000']}";

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn component_responsibilities_start_stop_restart() {
    let rig = Rig::new();
    let alone = Alone::start(&rig, &[("web.yaml", SLEEPER)]);
    let first = alone.pid("web");
    assert_eq!(alone.run(&["start", "web"]), "Workload 'web' is already running\n");
    assert_eq!(alone.pid("web"), first);
    assert_eq!(alone.run(&["stop", "web"]), "Stopped 'web'\n");
    assert!(!is_running(first));
    assert_eq!(alone.run(&["stop", "web"]), "Workload 'web' is not running\n");
    assert_eq!(alone.run(&["start", "web"]), "Started 'web'\n");
    let second = alone.pid("web");
    assert_eq!(alone.run(&["restart", "web"]), "Restarted 'web'\n");
    assert!(!is_running(second) && alone.pid("web") != second);
    let unknown = alone.try_run(&["start", "nobody"]).must(3);
    assert!(unknown.err.contains("Unknown workload: nobody"), "{}", unknown.err);
    let status = alone.json(&["status"]);
    assert_eq!(status["workloads"]["running"], 1, "{status}");
    assert_eq!(status["directory"], rig.path("workloads").to_str().unwrap());
    let detail = alone.json(&["show", "web"]);
    assert_eq!(detail["spec"]["command"][0], "sleep");
    assert_eq!(detail["history"].as_array().unwrap().len(), 2, "{detail}");
    assert!(alone.run(&["metrics"]).contains("hostler_workload_up{workload=\"web\""));
}

#[test]
fn component_responsibilities_reload_touches_only_what_changed() {
    let rig = Rig::new();
    let alone = Alone::start(
        &rig,
        &[
            ("a.yaml", "{name: same, mode: forever, command: [sleep, '100001']}"),
            ("b.yaml", "{name: other, mode: forever, command: [sleep, '100002']}"),
            ("c.yaml", "{name: gone, mode: forever, command: [sleep, '100003']}"),
        ],
    );
    let (same, other, gone) = (alone.pid("same"), alone.pid("other"), alone.pid("gone"));
    let born = birth(same);

    alone.write("b.yaml", "{name: other, mode: forevr, command: [sleep, '1'], colour: red}");
    alone.write("d.yaml", "{name: fresh, mode: forever, command: [sleep, '100004']}");
    let refused = alone.try_run(&["reload"]).must(2);
    for word in ["b.yaml:1:21", "forever", "colour"] {
        assert!(refused.err.contains(word), "{word}: {}", refused.err);
    }
    assert_eq!(alone.list().len(), 3);
    assert_eq!((alone.pid("other"), alone.pid("gone")), (other, gone));
    assert!(alone.json(&["status"])["directoryProblem"]["mistakes"].as_array().unwrap().len() > 1);

    alone.write("b.yaml", "{name: other, mode: forever, command: [sleep, '100005']}");
    alone.remove("c.yaml");
    let reloaded = alone.json(&["reload"]);
    assert_eq!(names(&reloaded["added"]), ["fresh"]);
    assert_eq!(names(&reloaded["removed"]), ["gone"]);
    assert_eq!(names(&reloaded["unchanged"]), ["same"]);
    let field = json!({ "path": "command[1]", "old": "100002", "new": "100005" });
    let changed = json!([{ "name": "other", "isReplaced": true, "fields": [field] }]);
    assert_eq!(reloaded["changed"], changed);
    until("the old processes are gone", || (!is_running(gone) && !is_running(other)).then_some(()));
    until("the removed one is forgotten", || (alone.list().len() == 3).then_some(()));
    until("the changed one is replaced", || (alone.pid("other") != other).then_some(()));
    assert!(alone.pid("fresh") > 0);
    assert_eq!(birth(same), born);
    assert!(alone.json(&["status"])["directoryProblem"].is_null());

    alone.write("a.yaml", "{name: same, mode: forever, command: [sleep, '100001'], tags: [blue]}");
    alone.process.signal(Signal::HUP);
    until("the new tag shows", || (alone.list()["same"]["tags"] == json!(["blue"])).then_some(()));
    assert_eq!(birth(same), born);
    assert!(alone.process.find_line(&["SIGHUP received"]).is_some());
    let shown = alone.run(&["reload"]);
    assert_eq!(shown, "0 added, 0 removed, 0 changed, 3 unchanged\n");
}

#[test]
fn component_responsibilities_bad_files_keep_a_first_start_away() {
    let rig = Rig::new();
    std::fs::create_dir(rig.path("workloads")).unwrap();
    let broken = "name: a\nmode: sometimes\ncommand: [x]\nlimits: {memory: lots}\n";
    std::fs::write(rig.path("workloads/a.yaml"), broken).unwrap();
    let mut process = Alone::spawn(&rig, &[]);
    assert_eq!(process.wait_within(DEADLINE).0, 2);
    let log = process.log();
    for word in ["a.yaml:2:7", "a.yaml:4:", "sometimes", "lots"] {
        assert!(log.contains(word), "{word}: {log}");
    }
    let validate = |code: i32| -> Output {
        let dir = rig.path("workloads");
        let words = ["agent", "validate", dir.to_str().unwrap()];
        crate::rig::Cli::new(&rig).run(&words).must(code)
    };
    assert!(validate(2).err.contains("2 mistakes"));
    std::fs::write(rig.path("workloads/a.yaml"), SLEEPER).unwrap();
    let said = validate(0).text();
    assert_eq!(said, "All configs valid. 1 workload(s) found.\n  - web (process, forever)\n");
    let mut alone = Alone::start(&rig, &[]);
    let pid = alone.pid("web");

    alone.write("a.yaml", broken);
    alone.process.kill();
    alone.again();
    assert_eq!(alone.pid("web"), pid);
    assert!(alone.process.find_line(&["ERROR", "a.yaml", "mistake in a workload file"]).is_some());
    assert!(alone.json(&["status"])["directoryProblem"]["mistakes"].is_array());
}

#[test]
fn component_responsibilities_one_agent_for_one_data_directory() {
    let rig = Rig::new();
    let alone = Alone::start(&rig, &[("web.yaml", SLEEPER)]);
    let mut second = Alone::spawn(&rig, &[]);
    assert_ne!(second.wait_within(DEADLINE).0, 0);
    assert!(second.log().contains("another process"), "{}", second.log());
    assert!(alone.pid("web") > 0);
}

#[test]
fn run_mode_strategies() {
    let rig = Rig::new();
    let alone = Alone::start(
        &rig,
        &[(
            "all.yaml",
            "workloads:
             - {name: always, mode: forever, command: [sleep, '100000'], restart: {delay: 0s}}
             - {name: thrice, mode: {times: 3}, command: ['false'], restart: {delay: 10ms, factor: 1}}
             - {name: once, command: ['true']}
             - {name: fails, command: [sh, -c, exit 7]}
             - {name: tick, mode: {schedule: {cron: '* * * * * *'}}, command: [sh, -c, 'echo $HOSTLER_FIRE_TIME']}
             - {name: yearly, mode: {schedule: {cron: '@yearly'}}, command: ['true']}",
        )],
    );
    let pid = alone.pid("always");
    kill(pid, Signal::KILL);
    until("another takes its place", || {
        let view = alone.list().remove("always")?;
        (view["status"]["phase"] == "running" && view["pid"] != pid).then_some(())
    });
    assert_eq!(alone.wait_phase("thrice", "completed")["launched"], 3);
    assert_eq!(alone.wait_phase("once", "completed")["launched"], 1);
    let failed = alone.wait_phase("fails", "failed");
    assert_eq!(failed["status"]["lastExit"]["code"], 7);
    until("the schedule fires again and again", || {
        (alone.list()["tick"]["launched"].as_u64()? >= 2).then_some(())
    });
    let history = alone.json(&["history", "tick"]);
    let fires: Vec<&str> = history["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| run["fire"].as_str().unwrap())
        .collect();
    let mut distinct = fires.clone();
    distinct.dedup();
    assert_eq!(fires, distinct, "a time fired twice");
    let yearly = alone.wait_phase("yearly", "idle");
    assert_eq!(yearly["launched"], 0);
    let next = alone.json(&["next", "yearly", "-n", "2"]);
    assert_eq!(next["items"][0]["time"], yearly["status"]["next"]);
    assert_eq!(next["items"].as_array().unwrap().len(), 2);
    alone.try_run(&["next", "always"]).must(5);
    assert_eq!(alone.run(&["start", "yearly"]), "Started 'yearly'\n");
    assert_eq!(alone.wait_phase("yearly", "idle")["launched"], 1);
}

#[test]
fn error_handling_and_recovery_agent_killed() {
    let rig = Rig::new();
    let (early, late) = (Barrier::new(&rig, "early"), Barrier::new(&rig, "late"));
    let waiting = |name: &str, barrier: &Barrier, code: u8| {
        format!(
            "- {{name: {name}, command: [sh, -c, \"{}; echo said by {name}; exit {code}\"]}}\n",
            barrier.wait()
        )
    };
    let text = format!(
        "workloads:\n- {SLEEPER}\n{}{}",
        waiting("early", &early, 5),
        waiting("late", &late, 6)
    );
    let mut alone = Alone::start(&rig, &[("all.yaml", &text)]);
    let born = ["web", "early", "late"].map(|name| birth(alone.pid(name)).unwrap());
    alone.process.kill();
    assert_eq!(alone.try_run(&["ls"]).code, 8);
    until("one ends while nobody looks", || {
        early.open();
        (birth(born[1].0).as_ref() != Some(&born[1])).then_some(())
    });
    alone.again();
    assert_eq!(birth(alone.pid("web")).as_ref(), Some(&born[0]));
    assert_eq!(birth(alone.pid("late")).as_ref(), Some(&born[2]));
    assert_eq!(alone.wait_phase("early", "failed")["status"]["lastExit"]["code"], 5);
    assert_eq!(alone.run(&["logs", "early"]), "said by early\n");
    until("the other ends", || {
        late.open();
        (alone.list()["late"]["status"]["phase"] == "failed").then_some(())
    });
    assert_eq!(alone.list()["late"]["status"]["lastExit"]["code"], 6);

    let count = alone.list().len();
    alone.end(Signal::TERM);
    assert!(is_running(born[0].0), "it goes on when its agent stops");
    std::fs::remove_file(alone.data_dir.join("ledger-standalone")).unwrap();
    alone.again();
    until("the workloads are known again", || (alone.list().len() == count).then_some(()));
    assert_eq!(birth(alone.pid("web")).as_ref(), Some(&born[0]), "it is adopted without a ledger");
}

#[test]
fn error_handling_and_recovery_graceful_shutdown() {
    let rig = Rig::new();
    let stubborn = "{name: stubborn, mode: forever, stop: {grace: 5s}, command: [sh, -c, 'trap \"\" TERM; while :; do sleep 100000; done']}";
    let once = "{name: setup, mode: once, command: [sleep, '100000']}";
    let text = format!("workloads:\n- {SLEEPER}\n- {stubborn}\n- {once}\n");
    let mut alone = Alone::start(&rig, &[("all.yaml", &text)]);
    let before = [alone.pid("web"), alone.pid("stubborn"), alone.pid("setup")];
    let late = alone.try_run(&["shutdown", "--runs", "stop", "--timeout", "200ms"]).must(9);
    assert!(late.err.contains("left") && late.err.contains("goes on stopping"), "{}", late.err);
    assert_eq!(alone.json(&["status"])["stopping"], "stop");
    assert!(alone.try_run(&["restart", "web"]).must(5).err.contains("is stopping"));
    assert!(alone.try_run(&["shutdown"]).must(0).err.contains("the agent has stopped"));
    assert!(before.iter().all(|pid| !is_running(*pid)), "everything stops with the agent");
    assert_eq!(alone.process.wait_within(Duration::from_secs(1)).0, 0, "which has gone by then");
    alone.again();
    let after = [alone.pid("web"), alone.pid("stubborn")];
    assert!(after.iter().all(|pid| !before.contains(pid)));
    assert_eq!(alone.list()["web"]["launched"], 2);
    let setup = alone.wait_phase("setup", "stopped");
    let reason = setup["status"]["reason"].as_str().unwrap();
    assert!(reason.contains("together with its agent"), "{reason}");
    assert_eq!(alone.run(&["start", "setup"]), "Started 'setup'\n");

    assert_eq!(alone.run(&["stop", "web"]), "Stopped 'web'\n");
    alone.end(Signal::INT);
    alone.again();
    alone.wait_phase("web", "stopped");
    assert_eq!(alone.pid("stubborn"), after[1]);
}

#[test]
fn error_handling_and_recovery_what_cannot_run_disturbs_nobody() {
    let rig = Rig::new();
    let text = format!(
        "workloads:
        - {SLEEPER}
        - {{name: missing, mode: forever, command: [/no/such/program], restart: {{delay: 50ms}}}}
        - {{name: nowhere, mode: forever, command: [sleep, '1'], workdir: /no/such/place}}
        - {{name: loops, mode: forever, command: ['false'], restart: {{delay: 10ms, attempts: 3, window: 1m}}}}
        - {{name: behind, mode: forever, command: [sleep, '100000'], depends: [{{workload: missing}}]}}"
    );
    let alone = Alone::start(&rig, &[("all.yaml", &text)]);
    let pid = alone.pid("web");
    let missing = alone.wait_phase("missing", "backoff");
    let reason = missing["status"]["reason"].as_str().unwrap();
    assert!(reason.contains("/no/such/program"), "{reason}");
    let nowhere = alone.wait_phase("nowhere", "backoff");
    assert!(nowhere["status"]["reason"].as_str().unwrap().contains("/no/such/place"), "{nowhere}");
    let loops = alone.wait_phase("loops", "failed");
    assert_eq!(loops["launched"], 4, "{loops}");
    let behind = alone.wait_phase("behind", "waiting");
    assert!(behind["status"]["reason"].as_str().unwrap().contains("missing"), "{behind}");
    let said = alone.try_run(&["restart", "missing"]).must(4);
    assert!(said.text().contains("/no/such/program"), "{}", said.text());
    assert_eq!(alone.pid("web"), pid);
    assert_eq!(alone.list()["web"]["launched"], 1);
}

#[test]
fn error_handling_and_recovery_commands_at_once_never_start_twice() {
    let rig = Rig::new();
    let script = "set -C; true > one || true > twice; sleep 100000";
    let place = rig.path("marks");
    std::fs::create_dir(&place).unwrap();
    let text = format!(
        "{{name: web, mode: forever, workdir: '{}', command: [sh, -c, '{script}']}}",
        place.display()
    );
    let alone = Alone::start(&rig, &[("web.yaml", &text)]);
    alone.pid("web");
    alone.run(&["stop", "web"]);
    std::fs::remove_file(place.join("one")).unwrap();
    let answers: Vec<String> = std::thread::scope(|scope| {
        let askers: Vec<_> =
            (0..16).map(|_| scope.spawn(|| alone.ask(r#"{"ask":"start","name":"web"}"#))).collect();
        askers.into_iter().map(|asker| asker.join().unwrap()).collect()
    });
    let started =
        answers.iter().filter(|answer| answer.contains("\"outcome\":\"started\"")).count();
    assert_eq!(started, 1, "{answers:?}");
    assert_eq!(alone.list()["web"]["launched"], 2);
    assert!(!place.join("twice").exists());
}

#[test]
fn component_responsibilities_one_agent_in_a_place() {
    let rig = Rig::new();
    let mut alone = Alone::start(&rig, &[("web.yaml", SLEEPER)]);
    let refused = |alone: &Alone<'_>, words: &[&str], told: &str| {
        let refused = alone.try_run(words).must(1);
        assert!(refused.err.contains(told), "{}", refused.err);
    };
    refused(&alone, &["run"], "`hostler agent shutdown --data-dir ");
    let workloads = rig.path("workloads");
    refused(&alone, &["up", "--standalone", workloads.to_str().unwrap()], "stop it first");
    let pid = alone.pid("web");
    alone.end(Signal::TERM);
    refused(&alone, &["run"], "`hostler agent up --standalone DIR`");
    alone.again();
    assert_eq!(alone.pid("web"), pid);
}
