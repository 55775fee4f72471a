//! Locks on the real binary: commands that run while they hold one, and what kills leave behind.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::rig::{Cli, DEADLINE, Database, Process, Rig, Server, is_running, until};

fn script<'a>(lock: &'a [&'a str], script: &'a str) -> Vec<&'a str> {
    [&["lock", "run"], lock, &["--", "sh", "-c", script]].concat()
}

/// A script that says that it runs, and goes on until a file is there.
fn until_told(begun: &Path, go_on: &Path) -> String {
    format!(
        "echo $HOSTLER_LOCK_TOKEN >> {}; while [ ! -e {} ]; do sleep 0.05; done",
        begun.display(),
        go_on.display()
    )
}

fn lines(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn server(rig: &Rig) -> (Server, Cli<'_>) {
    let mut server = Server::alone(rig, "first", None);
    let cli = server.first_login(rig);
    (server, cli)
}

#[test]
fn a_command_runs_while_its_lock_is_held_and_passes_on_how_it_ends() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let said = cli.run(&script(&["db/migrate"], "echo $HOSTLER_LOCK_NAME $HOSTLER_LOCK_TOKEN"));
    assert_eq!(said.must(0).text(), "db/migrate 1\n");
    cli.run(&script(&["db/migrate"], "exit 7")).must(7);
    cli.run(&script(&["db/migrate"], "kill -USR1 $$")).must(128 + 10);
    let missing = cli.run(&["lock", "run", "db/migrate", "--", "/no/such/program"]).must(127);
    assert!(missing.err.contains("cannot be run"), "{}", missing.err);

    let (begun, go_on) = (rig.path("begun"), rig.path("go-on"));
    let body = until_told(&begun, &go_on);
    let mut running = cli.spawn("run", &script(&["deploy", "--why", "release 42"], &body));
    until("the command runs", || (!lines(&begun).is_empty()).then_some(()));
    let shown = cli.ok(&["lock", "show", "deploy"]);
    for words in ["1 of 1", "admin on ", ": release 42", "runs sh -c"] {
        assert!(shown.contains(words), "{words} in\n{shown}");
    }
    let listed = cli.json(&["lock", "ls"]);
    assert_eq!(listed["items"][0]["holders"][0]["holder"]["why"], "release 42");
    let missing = cli.run(&["lock", "run", "deploy", "--", "nosuchcmd"]).must(127);
    assert!(missing.err.contains("`nosuchcmd` cannot be run"), "at once: {}", missing.err);
    let busy = cli.run(&["lock", "try", "deploy"]).must(5);
    assert!(busy.err.contains("lock deploy is not free: admin on"), "{}", busy.err);
    let late = cli.run(&script(&["deploy", "--wait", "200ms"], "echo never")).must(9);
    assert!(late.text().is_empty() && late.err.contains("was not to be had"), "{}", late.err);
    let waiting = &cli.json(&["lock", "show", "deploy"])["waiting"];
    assert_eq!(waiting, 0, "who gives up leaves the queue");
    running.signal(Signal::TERM);
    assert_eq!(running.wait_within(DEADLINE).0, 128 + 15, "{}", running.log());
    cli.ok(&["lock", "try", "deploy", "-q"]);
}

#[test]
fn a_lock_held_by_a_script_is_renewed_released_and_taken_away() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let hold = cli.ok(&["lock", "acquire", "deploy", "--ttl", "1h", "-q"]);
    let hold = hold.trim();
    cli.ok(&["lock", "renew", "deploy", hold]);
    cli.ok(&["lock", "release", "deploy", hold]);
    cli.ok(&["lock", "release", "deploy", hold]);
    let over = cli.run(&["lock", "renew", "deploy", hold]).must(12);
    assert!(over.err.contains("was released at"), "{}", over.err);

    let taken = cli.json(&["lock", "acquire", "deploy"]);
    let (hold, token) = (taken["hold"]["id"].as_str().unwrap(), &taken["hold"]["token"]);
    assert_eq!(*token, 2);
    cli.run(&["lock", "force-release", "deploy", "--reason", "stuck"]).must(2);
    cli.ok(&["-y", "lock", "force-release", "deploy", "--reason", "web-1 is gone"]);
    let lost = cli.run(&["lock", "release", "deploy", hold]).must(12);
    assert!(lost.err.contains("taken away by admin"), "{}", lost.err);
    assert!(cli.ok(&["event", "ls"]).contains("taken away from admin: web-1 is gone"));
    let audited = cli.ok(&["audit", "ls", "-o", "json"]);
    assert!(audited.contains("lock.force"), "{audited}");
    for (words, code) in [
        (&["lock", "acquire", "deploy", "--ttl", "0s"][..], 2),
        (&["lock", "acquire", "deploy", "--ttl", "365d"], 2),
        (&["lock", "acquire", ""], 2),
        (&["lock", "acquire", "a//b"], 2),
        (&["lock", "acquire", "deploy", "--slots", "0"], 2),
        (&["lock", "show", "nobody-used-it"], 3),
        (&["lock", "renew", "deploy", "0192f3c4-0000-7000-8000-000000000000"], 12),
    ] {
        cli.run(words).must(code);
    }
}

#[test]
fn commands_go_one_after_the_other_in_the_order_of_arrival() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let (order, go_on) = (rig.path("order"), rig.path("go-on"));
    let first = until_told(&order, &go_on);
    let mut all = vec![cli.spawn("run-0", &script(&["line"], &first))];
    until("the first holds it", || (!lines(&order).is_empty()).then_some(()));
    let inside = rig.path("inside");
    let body = format!(
        "mkdir {0} || echo overlap >> {1}; echo $HOSTLER_LOCK_TOKEN $WHO >> {1}; rmdir {0}",
        inside.display(),
        order.display()
    );
    for n in 1..=4 {
        let one = cli.with("WHO", &format!("run-{n}"));
        all.push(one.spawn(&format!("run-{n}"), &script(&["line"], &body)));
        until("it waits in its place", || {
            (cli.json(&["lock", "show", "line"])["waiting"] == n).then_some(())
        });
    }
    std::fs::write(&go_on, "").unwrap();
    for process in &mut all {
        assert_eq!(process.wait_within(DEADLINE).0, 0, "{}", process.log());
    }
    assert_eq!(lines(&order), ["1", "2 run-1", "3 run-2", "4 run-3", "5 run-4"]);
}

#[test]
fn a_command_is_ended_before_its_ttl_is_over_when_the_server_is_away() {
    let rig = Rig::new();
    let (mut server, cli) = server(&rig);
    let (begun, stopped) = (rig.path("begun"), rig.path("stopped"));
    let body = format!(
        "trap 'echo asked > {}' TERM; echo $$ > {}; while :; do sleep 0.05; done",
        stopped.display(),
        begun.display()
    );
    let mut running = cli.spawn("run", &script(&["deploy", "--ttl", "4s"], &body));
    let pid = until("the command runs", || lines(&begun).first()?.parse::<u32>().ok());
    let gone = Instant::now();
    server.process.kill();
    let (code, _) = running.wait_within(DEADLINE);
    let took = gone.elapsed();
    assert_eq!(code, 12, "{}", running.log());
    assert!(took < Duration::from_millis(4500), "it took {took:?}");
    assert!(!is_running(pid), "it did not stop when it was asked, and was killed");
    assert_eq!(lines(&stopped), ["asked"]);
    assert!(running.log().contains("was lost, and the command was stopped"), "{}", running.log());
}

#[test]
fn a_hold_outlives_the_server_and_is_renewed_when_it_is_back() {
    let rig = Rig::new();
    let (mut server, cli) = server(&rig);
    let (begun, go_on) = (rig.path("begun"), rig.path("go-on"));
    let body = until_told(&begun, &go_on);
    let mut running = cli.spawn("run", &script(&["deploy", "--ttl", "9s"], &body));
    until("the command runs", || (!lines(&begun).is_empty()).then_some(()));
    let renewed = |cli: &Cli<'_>| {
        let shown = cli.json(&["lock", "show", "deploy"]);
        shown["holders"][0]["timeRenewed"].as_str().map(str::to_owned)
    };
    let before = renewed(&cli);
    server.restart(&rig);
    until("it was renewed through the server that came back", || {
        (renewed(&cli) != before).then_some(())
    });
    std::fs::write(&go_on, "").unwrap();
    assert_eq!(running.wait_within(DEADLINE).0, 0, "{}", running.log());
    assert_eq!(cli.json(&["lock", "show", "deploy"])["held"], 0);
}

/// Kills what a lock is held by, and the command that it leaves.
fn die(process: &mut Process, pid_file: &Path) {
    process.kill();
    for pid in lines(pid_file) {
        crate::rig::kill(pid.parse().unwrap(), Signal::KILL);
    }
}

#[test]
fn when_a_leader_dies_the_next_one_leads_after_its_ttl() {
    let rig = Rig::new();
    let (_server, cli) = server(&rig);
    let lead = |name: &str| {
        let file = rig.path(&format!("pid-of-{name}"));
        let body = format!(
            "echo $$ > {}; echo {name} $HOSTLER_LOCK_TOKEN >> {}; while :; do sleep 0.05; done",
            file.display(),
            rig.path("leaders").display()
        );
        let words = ["lock", "lead", "primary", "--ttl", "3s", "--", "sh", "-c", &body];
        (cli.spawn(&format!("lead-{name}"), &words), file)
    };
    let leaders = || lines(&rig.path("leaders"));
    let (mut first, first_pid) = lead("first");
    until("the first leads", || (leaders().len() == 1).then_some(()));
    let (mut second, _) = lead("second");
    until("the second stands by", || {
        (cli.json(&["lock", "show", "primary"])["waiting"] == 1).then_some(())
    });
    let dead = Instant::now();
    die(&mut first, &first_pid);
    until("the second leads", || (leaders().len() == 2).then_some(()));
    let took = dead.elapsed();
    assert!(took >= Duration::from_millis(1900), "a TTL was not over: {took:?}");
    assert_eq!(leaders(), ["first 1", "second 2"]);
    assert!(cli.ok(&["event", "ls"]).contains("was silent for 3s"));

    let (mut third, _) = lead("third");
    until("the third stands by", || {
        (cli.json(&["lock", "show", "primary"])["waiting"] == 1).then_some(())
    });
    cli.ok(&["-y", "lock", "force-release", "primary", "--reason", "a change of guard"]);
    until("the third leads, and the second waits for its turn", || {
        (leaders().len() == 3 && cli.json(&["lock", "show", "primary"])["waiting"] == 1)
            .then_some(())
    });
    third.signal(Signal::TERM);
    assert_eq!(third.wait_within(DEADLINE).0, 128 + 15);
    until("the second leads again, at once", || (leaders().len() == 4).then_some(()));
    assert_eq!(leaders()[2..], ["third 3", "second 4"]);
    second.signal(Signal::TERM);
    assert_eq!(second.wait_within(DEADLINE).0, 128 + 15);
    assert_eq!(cli.json(&["lock", "show", "primary"])["held"], 0);
}

#[test]
fn two_servers_share_their_locks_and_one_may_die() {
    let rig = Rig::new();
    let Some(database) = Database::create(&rig) else { return };
    let mut first = Server::alone(&rig, "first", Some(&database.url));
    let through_first = first.first_login(&rig);
    let second = Server::alone(&rig, "second", Some(&database.url));
    let through_second = second.login(&rig, &[]);
    let (begun, go_on) = (rig.path("begun"), rig.path("go-on"));
    let body = until_told(&begun, &go_on);
    let mut holds = through_second.spawn("holds", &script(&["deploy"], &body));
    until("the command runs", || (!lines(&begun).is_empty()).then_some(()));
    let mut waits = through_first.spawn("waits", &script(&["deploy"], "echo second > waited"));
    until("the other waits", || {
        (through_second.json(&["lock", "show", "deploy"])["waiting"] == 1).then_some(())
    });
    first.restart(&rig);
    std::fs::write(&go_on, "").unwrap();
    assert_eq!(holds.wait_within(DEADLINE).0, 0, "{}", holds.log());
    assert_eq!(waits.wait_within(DEADLINE).0, 0, "{}", waits.log());
    assert_eq!(lines(&rig.path("waited")), ["second"]);
    let past = through_first.json(&["lock", "show", "deploy"]);
    assert_eq!(past["token"], 2);
}
