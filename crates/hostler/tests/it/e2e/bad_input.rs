//! What people and programs get wrong, one test each, on an agent without a server: the outcome is
//! clear, and a neighbour that does nothing wrong does not notice.

use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::rig::{
    Alone, DEADLINE, Rig, birth, fill, is_root, is_running, kill, pids, skipped, until,
};

const NEIGHBOUR: &str = "{name: neighbour, mode: forever, command: [sleep, '100000']}";

/// An agent with a neighbour and whatever else is written here.
struct Street<'a> {
    alone: Alone<'a>,
    born: (u32, String),
}

impl<'a> Street<'a> {
    fn new(rig: &'a Rig, more: &[(&str, &str)]) -> Street<'a> {
        let alone = Alone::start(rig, &[&[("neighbour.yaml", NEIGHBOUR)], more].concat());
        let born = birth(alone.pid("neighbour")).unwrap();
        Street { alone, born }
    }

    /// The neighbour is the very process that it was, and its agent knows.
    #[track_caller]
    fn is_quiet(&self) {
        assert_eq!(birth(self.alone.pid("neighbour")).as_ref(), Some(&self.born));
        let neighbour = self.alone.list().remove("neighbour").unwrap();
        assert_eq!(neighbour["launched"], 1, "{neighbour}");
    }

    /// A file that a reload must refuse, saying all of these words; nothing else changes.
    #[track_caller]
    fn refuses(&self, files: &[(&str, &[u8])], words: &[&str]) {
        let before = self.alone.list();
        for (name, text) in files {
            std::fs::write(self.alone.rig.path("workloads").join(name), text).unwrap();
        }
        let refused = self.alone.try_run(&["reload"]).must(2);
        for word in words {
            assert!(refused.err.contains(word), "{word} is not in:\n{}", refused.err);
        }
        let names = |list: &std::collections::BTreeMap<String, Value>| -> Vec<String> {
            list.keys().cloned().collect()
        };
        assert_eq!(names(&self.alone.list()), names(&before), "nothing of it was applied");
        let problem = &self.alone.json(&["status"])["directoryProblem"]["mistakes"];
        assert!(!problem.as_array().unwrap().is_empty(), "the status says so too");
        self.is_quiet();
        for (name, _) in files {
            self.alone.remove(name);
        }
        self.alone.run(&["reload"]);
        self.is_quiet();
    }
}

#[test]
fn bad_input_invalid_yaml() {
    let rig = Rig::new();
    let street = Street::new(&rig, &[]);
    street.refuses(
        &[
            ("bracket.yaml", b"name: [unclosed\n"),
            ("tab.yaml", b"name: x\n\tcommand: [y]\n"),
            ("bytes.yaml", b"name: x\xff\n"),
            ("good.yaml", b"{name: good, command: ['true']}"),
        ],
        &["bracket.yaml:1:7", "unclosed", "tab.yaml:1:", "bytes.yaml:1:8", "UTF-8", "3 mistakes"],
    );
}

#[test]
fn bad_input_duplicate_names() {
    let rig = Rig::new();
    let street = Street::new(&rig, &[]);
    street.refuses(
        &[
            ("a.yaml", b"{name: twin, command: ['true']}"),
            ("b.yaml", b"command: ['true']\nname: twin\n"),
        ],
        &["b.yaml:2:7", "a.yaml:1:8", "two workloads", "rename"],
    );
    let stolen = b"{name: neighbour, mode: forever, command: [sleep, '1']}";
    street.refuses(&[("a.yaml", stolen)], &["`neighbour` is the name of two workloads"]);
}

#[test]
fn bad_input_unknown_fields() {
    let rig = Rig::new();
    let street = Street::new(&rig, &[]);
    street.refuses(
        &[("a.yaml", b"name: a\ncomand: [x]\nlimits: {memry: 1GiB}\nhealth: [{chek: process}]\n")],
        &["a.yaml:2:1", "did you mean `command`?", "a.yaml:3:10", "`memory`", "a.yaml:4:11"],
    );
}

#[test]
fn bad_input_impossible_limits() {
    let rig = Rig::new();
    let street = Street::new(&rig, &[]);
    let limits = "{memory: 1KiB, memoryHigh: 2KiB, cpu: 0, cpuWeight: 0, nice: 40, pids: 0, files: 3, ioWeight: 20000}";
    let text = format!("{{name: a, command: [x], limits: {limits}}}");
    street.refuses(
        &[
            ("a.yaml", text.as_bytes()),
            ("b.yaml", b"{name: b, command: [x], limits: {memory: lots}}"),
        ],
        &[
            "9 mistakes",
            "256 KiB",
            "the soft limit is above the hard one",
            "0.01 cores",
            "limits.cpuWeight",
            "-20 to 19",
            "limits.pids",
            "limits.files",
            "limits.ioWeight",
            "`lots` is not a size",
        ],
    );
    let huge = "{name: huge, mode: forever, command: [sleep, '100000'], limits: {memory: 1000TiB}}";
    street.alone.write("huge.yaml", huge);
    street.alone.run(&["reload"]);
    street.alone.pid("huge");
    street.is_quiet();
}

#[test]
fn bad_input_missing_executable() {
    let rig = Rig::new();
    let program = rig.path("program");
    let text = format!(
        "{{name: missing, mode: forever, command: ['{}'], restart: {{delay: 50ms, maxDelay: 300ms}}}}",
        program.display()
    );
    let street = Street::new(&rig, &[("missing.yaml", &text)]);
    let missing = street.alone.wait_phase("missing", "backoff");
    let reason = missing["status"]["reason"].as_str().unwrap();
    assert!(reason.contains(program.to_str().unwrap()), "{reason}");
    assert_eq!(missing["status"]["lastExit"]["reason"], "start-failed", "{missing}");
    street.is_quiet();

    let draft = rig.path("draft");
    std::fs::copy("/bin/sh", &draft).unwrap();
    std::fs::rename(draft, &program).unwrap();
    until("it runs once there is such a program", || {
        let missing = street.alone.list().remove("missing")?;
        (missing["status"]["lastExit"]["reason"] == "exited").then_some(())
    });
    street.is_quiet();
}

#[test]
fn bad_input_unreadable_working_directory() {
    if !is_root() {
        return skipped("another user needs root");
    }
    let rig = Rig::new();
    let (locked, file) = (rig.path("locked"), rig.path("file"));
    std::fs::create_dir(&locked).unwrap();
    std::fs::write(&file, "").unwrap();
    let mode = |mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&locked, mode).unwrap();
    };
    mode(0o700);
    let one = |name: &str, place: &Path| {
        let rest = "mode: forever, user: nobody, command: [sleep, '100000'], restart: {delay: 100ms, maxDelay: 300ms}";
        format!("- {{name: {name}, workdir: '{}', {rest}}}\n", place.display())
    };
    let places =
        [("locked", locked.as_path()), ("file", file.as_path()), ("absent", Path::new("/no/such"))];
    let each: String = places.iter().map(|(name, place)| one(name, place)).collect();
    let street = Street::new(&rig, &[("places.yaml", &format!("workloads:\n{each}"))]);
    for (name, place) in places {
        let view = street.alone.wait_phase(name, "backoff");
        let reason = view["status"]["reason"].as_str().unwrap();
        assert!(reason.contains("could not be started"), "{reason}");
        assert!(reason.contains(place.to_str().unwrap()), "{reason}");
    }
    street.is_quiet();
    // The rig's own directory is closed to others as well.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&rig.dir, open).unwrap();
    mode(0o755);
    street.alone.pid("locked");
    street.is_quiet();
}

#[test]
fn bad_input_cyclic_dependencies() {
    let rig = Rig::new();
    let street = Street::new(&rig, &[]);
    street.refuses(
        &[(
            "a.yaml",
            b"workloads:\n\
            - {name: p, command: [x], depends: [{workload: q}]}\n\
            - {name: q, command: [x], depends: [{workload: r}]}\n\
            - {name: r, command: [x], depends: [{workload: p}]}\n\
            - {name: s, command: [x], depends: [{workload: s}]}\n\
            - {name: t, command: [x], depends: [{workload: nobody}]}\n",
        )],
        &["p -> q -> r -> p", "`s` depends on itself", "there is no workload `nobody`"],
    );
}

#[test]
fn bad_input_ignores_sigterm() {
    let rig = Rig::new();
    let ready = rig.path("ready");
    let text = format!(
        "{{name: stubborn, mode: forever, stop: {{grace: 300ms}}, command: [sh, -c, \"trap '' TERM INT HUP; (trap '' TERM; exec sleep 100000) & echo $! > {}; while :; do sleep 0.05; done\"]}}",
        ready.display()
    );
    let street = Street::new(&rig, &[("stubborn.yaml", &text)]);
    let pid = street.alone.pid("stubborn");
    let child: u32 =
        until("it is ready", || std::fs::read_to_string(&ready).ok()?.trim().parse().ok());
    let asked = Instant::now();
    assert_eq!(street.alone.run(&["stop", "stubborn"]), "Stopped 'stubborn'\n");
    assert!(asked.elapsed() >= Duration::from_millis(300), "its grace was its own");
    assert!(!is_running(pid) && !is_running(child), "nothing of it is left");
    let ended = street.alone.json(&["history", "stubborn"])["items"][0]["exit"].clone();
    assert_eq!((&ended["reason"], &ended["signal"]), (&"stopped".into(), &9.into()), "{ended}");
    street.is_quiet();
}

#[test]
fn bad_input_forks_and_daemonises() {
    let rig = Rig::new();
    let pids_file = rig.path("daemons");
    let text = format!(
        "{{name: daemon, mode: forever, restart: {{delay: 50ms, attempts: 2}}, command: [sh, -c, \"setsid sh -c 'echo $$ >> {0}; setsid sleep 100000 & echo $! >> {0}; exec sleep 100000' >/dev/null 2>&1 & while [ $(wc -l < {0} || echo 0) -lt 2 ]; do sleep 0.02; done; exit 3\"]}}",
        pids_file.display()
    );
    let street = Street::new(&rig, &[("forks.yaml", &text)]);
    let failed = street.alone.wait_phase("daemon", "failed");
    assert_eq!(failed["launched"], 3, "its policy holds for it as for any other: {failed}");
    let history = street.alone.json(&["history", "daemon"]);
    let first = history["items"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(first["exit"]["code"], 3, "{first}");
    let said = first["exit"]["message"].as_str().unwrap();
    assert!(said.contains("behind, which were ended"), "{said}");
    let daemons = std::fs::read_to_string(&pids_file).unwrap();
    assert!(daemons.lines().count() >= 2, "{daemons}");
    let left: Vec<&str> = daemons.lines().filter(|pid| is_running(pid.parse().unwrap())).collect();
    assert_eq!(left, [""; 0], "a run that is over has no processes");
    street.is_quiet();
}

#[test]
fn bad_input_prints_100_megabytes_a_second() {
    const BYTES: u64 = 800_000_000;
    let rig = Rig::new();
    let (half, done) = (rig.path("half"), rig.path("done"));
    let line = "$(head -c 4000 /dev/zero | tr '\\0' x)";
    let part = format!("yes {line} | head -c {}", BYTES / 2);
    let script = format!(
        "{part}; touch {}; {part}; echo; touch {}; exec sleep 100000",
        half.display(),
        done.display()
    );
    let text = format!("name: flood\nmode: forever\ncommand:\n- sh\n- -c\n- |\n  {script}\n");
    let talker = "{name: talker, mode: forever, command: [sh, -c, 'while :; do echo here; sleep 0.1; done']}";
    let begun = Instant::now();
    let mut street = Street::new(&rig, &[("flood.yaml", &text), ("talker.yaml", talker)]);
    let born = birth(street.alone.pid("flood")).unwrap();
    street.alone.pid("talker");
    let runs = street.alone.data_dir.join("runs");
    let (mut most, mut slowest) = (0, Duration::ZERO);
    until("half of it is said", || {
        let asked = Instant::now();
        assert_eq!(street.alone.run(&["exec", "talker", "--", "echo", "well"]), "well\n");
        slowest = slowest.max(asked.elapsed());
        most = most.max(bytes_below(&runs));
        half.exists().then_some(())
    });
    street.alone.process.kill();
    until("the writer goes on without an agent", || {
        most = most.max(bytes_below(&runs));
        done.exists().then_some(())
    });
    let rate = BYTES / 1_000_000 * 1000 / u64::try_from(begun.elapsed().as_millis()).unwrap();
    println!("{rate} MB/s, {most} bytes kept at most, a command beside it took {slowest:?}");
    assert!(most < 80 << 20, "{most} bytes were kept");
    street.alone.again();
    assert_eq!(birth(street.alone.pid("flood")).as_ref(), Some(&born));
    let (lost, kept) = until("all of it is accounted for", || {
        let said = street.alone.run(&["logs", "flood", "-o", "jsonl"]);
        let (mut lost, mut kept) = (0, 0);
        for record in said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
            match record["kind"].as_str().unwrap() {
                "gap" => lost += record["bytes"].as_u64().unwrap(),
                "line" => kept += record["text"].as_str().unwrap().len() as u64 + 1,
                _ => {}
            }
        }
        (lost + kept > BYTES).then_some((lost, kept))
    });
    assert_eq!(lost + kept, BYTES + 1, "every byte is there or said to be missing");
    assert!(lost > BYTES / 2 && kept > 1 << 20, "{lost} bytes are missing, {kept} are there");
    let said = street.alone.run(&["logs", "talker", "--tail", "1"]);
    assert!(said.lines().all(|line| line == "here") && !said.is_empty(), "{said}");
    street.is_quiet();
}

fn bytes_below(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(of) if of.is_dir() => bytes_below(&entry.path()),
        Ok(of) => of.len(),
        Err(_) => 0,
    };
    entries.map(size).sum()
}

#[test]
fn bad_input_full_disk() {
    if !is_root() {
        return skipped("a file system of its own needs root");
    }
    let rig = Rig::new();
    let dir = rig.mount_small("alone", "8m");
    let (more, said) = (rig.path("more"), rig.path("said"));
    let script = format!(
        "echo before; while [ ! -e {} ]; do sleep 0.05; done; seq 1 100000; touch {}; exec sleep 100000",
        more.display(),
        said.display()
    );
    let talker = format!("{{name: talker, mode: forever, command: [sh, -c, '{script}']}}");
    let dies = "{name: dies, mode: forever, command: [sleep, '100000'], restart: {delay: 0s}}";
    let mut street = Street::new(&rig, &[("talker.yaml", &talker), ("dies.yaml", dies)]);
    let talking = birth(street.alone.pid("talker")).unwrap();
    let dead = street.alone.pid("dies");
    until("it has spoken", || (street.alone.run(&["logs", "talker"]) == "before\n").then_some(()));

    fill(&dir);
    std::fs::write(&more, "").unwrap();
    until("who writes is neither stopped nor held up", || said.exists().then_some(()));
    kill(dead, Signal::KILL);
    // More than fits into what the file system has left of the ledger's last page.
    let long = "#".repeat(8000);
    street.alone.write("long.yaml", &format!("{{name: long, command: ['true', '{long}']}}"));
    let (mut reload, _) = street.alone.follow("reload", &["reload"]);
    street.alone.process.line(&["WARN", "ledger cannot be written"]);
    let status = street.alone.json(&["status"]);
    assert!(status["ledgerProblem"].as_str().unwrap().contains("space"), "{status}");
    assert_eq!(birth(talking.0), Some(talking.clone()));

    std::fs::remove_file(dir.join("filler")).unwrap();
    street.alone.process.line(&["ledger can be written again"]);
    until("what died is replaced without a hand", || {
        let dies = street.alone.list().remove("dies")?;
        (dies["status"]["phase"] == "running" && dies["pid"] != dead).then_some(())
    });
    assert_eq!(reload.wait_within(DEADLINE).0, 0, "what was asked for happens in the end");
    street.alone.wait_phase("long", "completed");
    let history = street.alone.json(&["history", "dies"]);
    assert_eq!(history["items"][0]["exit"]["signal"], 9, "{history}");
    let records = street.alone.run(&["logs", "talker", "-o", "jsonl", "--tail", "1000000"]);
    assert!(records.contains("\"kind\":\"gap\""), "what was lost is said to be lost");
    assert_eq!(birth(street.alone.pid("talker")), Some(talking));
    street.is_quiet();
}

/// A ledger damaged in this way: what runs is found again, nothing runs twice.
fn damaged(how: &str, damage: impl Fn(Vec<u8>) -> Vec<u8>, is_kept_aside: bool) {
    let rig = Rig::new();
    let text = "workloads:\n- {name: a, mode: forever, command: [sleep, '100001']}\n- {name: b, mode: forever, command: [sleep, '100002']}\n";
    let mut street = Street::new(&rig, &[("more.yaml", text)]);
    let mut born = ["a", "b"].map(|name| birth(street.alone.pid(name)).unwrap());
    street.alone.run(&["restart", "b"]);
    born[1] = birth(street.alone.pid("b")).unwrap();
    street.alone.process.kill();
    let ledger = street.alone.data_dir.join("ledger-standalone");
    let bytes = damage(std::fs::read(&ledger).unwrap());
    std::fs::write(&ledger, &bytes).unwrap();
    street.alone.again();
    for (name, born) in ["a", "b"].iter().zip(&born) {
        assert_eq!(birth(street.alone.pid(name)).as_ref(), Some(born), "{how}: {name}");
    }
    assert_eq!(birth(street.alone.pid("neighbour")), Some(street.born.clone()), "{how}");
    let same = |arg: &str| pids().into_iter().filter(|pid| is_sleeping(&rig, *pid, arg)).count();
    assert_eq!(["100000", "100001", "100002"].map(same), [1; 3], "{how}: nothing runs twice");

    let kept = std::fs::read_dir(&street.alone.data_dir).unwrap().flatten();
    let kept: Vec<_> = kept
        .map(|entry| entry.path())
        .filter(|path| path.to_str().unwrap().contains(".corrupt-"))
        .collect();
    let status = street.alone.json(&["status"]);
    if is_kept_aside {
        assert_eq!(kept.len(), 1, "{how}");
        assert_eq!(std::fs::read(&kept[0]).unwrap(), bytes, "{how}: kept as it was found");
        assert_eq!(status["ledgerQuarantined"], kept[0].to_str().unwrap(), "{how}");
        assert!(street.alone.process.find_line(&["ERROR", "ledger was damaged"]).is_some());
    } else {
        assert!(kept.is_empty() && status["ledgerQuarantined"].is_null(), "{how}");
    }
    // What was rebuilt is on disk again: the next agent needs no repair.
    street.alone.process.kill();
    street.alone.again();
    assert_eq!(birth(street.alone.pid("a")).as_ref(), Some(&born[0]), "{how}");
    assert!(street.alone.json(&["status"])["ledgerQuarantined"].is_null(), "{how}");
    assert_eq!(street.alone.run(&["stop", "a"]), "Stopped 'a'\n");
    assert!(!is_running(born[0].0));
}

fn is_sleeping(rig: &Rig, pid: u32, arg: &str) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let place = std::fs::read_link(format!("/proc/{pid}/cwd")).unwrap_or_default();
    words == format!("sleep\0{arg}\0").as_bytes() && place.starts_with(&rig.dir)
}

#[test]
fn bad_input_corrupted_ledger_bytes_in_the_middle() {
    let flip = |mut bytes: Vec<u8>| {
        let middle = bytes.len() / 2;
        bytes[middle..middle + 4].iter_mut().for_each(|byte| *byte ^= 0xff);
        bytes
    };
    damaged("flipped", flip, true);
}

#[test]
fn bad_input_corrupted_ledger_truncated_tail() {
    let cut = |bytes: Vec<u8>| bytes[..bytes.len() * 2 / 3].to_vec();
    damaged("cut", cut, false);
}

#[test]
fn bad_input_corrupted_ledger_zero_length() {
    damaged("emptied", |_| Vec::new(), false);
}

#[test]
fn bad_input_corrupted_ledger_noise_from_end_to_end() {
    damaged("noise", |bytes| bytes.iter().map(|byte| byte.wrapping_mul(37) ^ 0x5a).collect(), true);
}

#[test]
fn bad_input_neighbours_are_left_alone_by_all_of_it_at_once() {
    let rig = Rig::new();
    let each: String = (0..20)
        .map(|n| {
            let command = match n % 4 {
                0 => "['/no/such/program']",
                1 => "[sh, -c, 'setsid sleep 100000 & exit 1']",
                2 => "[sh, -c, 'yes | head -c 3000000; exit 1']",
                _ => "[sh, -c, 'kill -9 $$']",
            };
            format!("- {{name: bad-{n}, mode: forever, command: {command}, restart: {{delay: 10ms, maxDelay: 100ms}}}}\n")
        })
        .collect();
    let street = Street::new(&rig, &[("bad.yaml", &format!("workloads:\n{each}"))]);
    until("each has failed five times", || {
        let list = street.alone.list();
        let bad = list.iter().filter(|(name, _)| name.starts_with("bad-"));
        bad.map(|(_, one)| one["launched"].as_u64().unwrap()).all(|made| made >= 5).then_some(())
    });
    street.is_quiet();
    std::fs::remove_file(rig.path("workloads/bad.yaml")).unwrap();
    street.alone.run(&["reload"]);
    until("they are gone", || (street.alone.list().len() == 1).then_some(()));
    street.is_quiet();
}
