//! An execution on the command line whose process is killed at any moment, again and again.
//!
//! Every task writes its name into one file, whoever carries it out. The journal says how often each was begun and what
//! was reported of it; the file says what was really done.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

use serde_json::Value;

use crate::rig::{Cli, Process, Rig, pids, until};

const STEPS: usize = 200;
const LAYER: usize = 20;
const KILLS: usize = 50;

/// Numbers that nobody can foresee, and that can be had again.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// Layers of tasks: lines, programs, functions that start programs, functions that write themselves; a few take long
/// when they are tried first, and notice it when they run beside themselves.
fn text(folder: &Path) -> String {
    let dir = folder.display();
    let mut text = format!("local t, log = {{}}, '{dir}/log'\n");
    for i in 0..STEPS {
        let on = match i.checked_sub(LAYER) {
            None => String::new(),
            Some(below) => {
                let other = below / LAYER * LAYER + (i * 7 + 3) % LAYER;
                format!(":depends_on({{ 's{below}', 's{other}' }})")
            }
        };
        let act = match i % 4 {
            _ if i % 40 == 17 => format!(
                "'p=$(cat {dir}/pid-s{i} 2>/dev/null); grep -qs HOSTLER_STEP=s{i} /proc/${{p:-none}}/environ && echo s{i} beside itself >> {dir}/log; echo $$ > {dir}/pid-s{i}; if [ ! -e {dir}/tried-s{i} ]; then : > {dir}/tried-s{i}; sleep 2; fi; echo s{i} >> {dir}/log'"
            ),
            0 => format!("'echo s{i} >> {dir}/log; sleep 0.03'"),
            1 => format!("{{ 'sh', '-c', 'sleep 0.03; echo s{i} >> {dir}/log' }}"),
            2 => format!("function() exec.run('echo s{i} >> {dir}/log; sleep 0.02') end"),
            _ => format!("function() fs.append(log, 's{i}\\n') end"),
        };
        let _ = writeln!(text, "t[{}] = task('s{i}'){on}:command({act}):build()", i + 1);
    }
    text.push_str("workflow.define('many'):tasks(t):config({ max_parallel_tasks = 6 })\n");
    text
}

/// What a journal says of a step.
#[derive(Clone, Default)]
struct Told {
    begun: usize,
    uncertain: usize,
    succeeded: usize,
    is_open: bool,
}

fn journal(path: &Path) -> BTreeMap<String, Told> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let mut steps: BTreeMap<String, Told> = BTreeMap::new();
    for line in bytes[..whole].split_inclusive(|byte| *byte == b'\n') {
        let line: Value = serde_json::from_slice(line).expect("lines of a journal can be read");
        let Some(step) = line["step"].as_str() else { continue };
        let told = steps.entry(step.to_owned()).or_default();
        match line["what"].as_str() {
            Some("started") => {
                assert!(!told.is_open, "{step} is begun again before anything was said of it");
                assert_eq!(told.succeeded, 0, "{step} is begun again, and had succeeded");
                assert_eq!(told.begun, told.uncertain, "{step}");
                told.begun += 1;
                told.is_open = true;
            }
            Some("ended") => {
                told.is_open = false;
                match line["result"]["end"].as_str() {
                    Some("succeeded") => told.succeeded += 1,
                    Some("uncertain") => told.uncertain += 1,
                    other => panic!("{step} ended as {other:?}: {line}"),
                }
            }
            _ => {}
        }
    }
    steps
}

struct World<'a> {
    rig: &'a Rig,
    cli: Cli<'a>,
    dice: Dice,
    kills: usize,
    repeated: usize,
}

/// One execution, from its first process to its last.
struct Execution {
    id: String,
    folder: PathBuf,
    journal: PathBuf,
}

impl World<'_> {
    fn executions(&self) -> PathBuf {
        self.rig.path("home/.local/state/hostler/executions")
    }

    fn ids(&self) -> BTreeSet<String> {
        let entries = std::fs::read_dir(self.executions()).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
    }

    /// Kills a process at some moment, unless it ends before; says how it ended then.
    fn strike(&mut self, running: &mut Process, journal: impl Fn() -> u64) -> Option<i32> {
        if self.dice.roll(3) > 0 {
            let before = journal();
            until("something happens", || {
                (journal() != before || running.ended().is_some()).then_some(())
            });
        }
        let moment = Instant::now() + Duration::from_millis(self.dice.roll(500));
        while Instant::now() < moment {
            if running.ended().is_some() {
                return Some(running.wait_within(Duration::ZERO).0);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        running.kill();
        self.kills += 1;
        None
    }

    /// Begins an execution whose process is killed.
    fn begin(&mut self, number: usize) -> Execution {
        let folder = self.rig.path(&format!("many-{number}"));
        std::fs::create_dir(&folder).unwrap();
        let file = folder.join("many.sloth");
        std::fs::write(&file, text(&folder)).unwrap();
        loop {
            let before = self.ids();
            let mut running = self.cli.spawn("run", &["run", file.to_str().unwrap()]);
            let bytes = || {
                let new = self.ids().difference(&before).next().cloned()?;
                let path = self.executions().join(new).join("journal.jsonl");
                Some(std::fs::metadata(path).ok()?.len())
            };
            until("it begins", || (bytes() > Some(0) || running.ended().is_some()).then_some(()));
            let executions = self.executions();
            let id = self.ids().difference(&before).next().cloned().unwrap();
            let path = executions.join(&id).join("journal.jsonl");
            let length = || std::fs::metadata(&path).map_or(0, |found| found.len());
            let ended = self.strike(&mut running, length);
            assert_eq!(ended, None, "it ended before it was killed: {}", running.log());
            if !journal(&path).is_empty() {
                return Execution { id, folder, journal: path };
            }
        }
    }

    /// Goes on with it once. True when it is over.
    fn go_on(&mut self, execution: &Execution, is_repeating: bool, is_struck: bool) -> Option<i32> {
        let before = journal(&execution.journal);
        let mut words = vec!["workflow", "resume", &execution.id, "-o", "json"];
        if is_repeating {
            words.push("--repeat-uncertain");
        }
        let (mut running, out) = self.cli.spawn_split("resume", &words);
        let ended = if is_struck {
            let length = || std::fs::metadata(&execution.journal).map_or(0, |found| found.len());
            self.strike(&mut running, length)
        } else {
            Some(running.wait_within(Duration::from_secs(60)).0)
        };
        let after = journal(&execution.journal);
        for (step, then) in before.iter().filter(|(_, then)| then.begun > 0) {
            let again = after[step].begun - then.begun;
            assert!(again == 0 || is_repeating, "{step} was repeated, and nobody wanted it");
            assert!(again <= 1 && (again == 0 || then.succeeded == 0), "{step}");
            self.repeated += again;
        }
        if let Some(code) = ended {
            let text = std::fs::read_to_string(&out).unwrap();
            if text.is_empty() && running.log().contains("it succeeded already") {
                // It was killed between its last line in the journal and its last word.
                assert!(code == 0 && after.values().all(|then| then.succeeded == 1));
                return ended;
            }
            let report: Value = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{error}: {text}{}", running.log()));
            is_told(&report, code, &after);
        }
        ended
    }
}

/// A report says what the journal knows, and why.
fn is_told(report: &Value, code: i32, steps: &BTreeMap<String, Told>) {
    let mut uncertain = 0;
    for task in report["tasks"].as_array().unwrap() {
        let name = task["name"].as_str().unwrap();
        let told = steps.get(name).cloned().unwrap_or_default();
        match task["status"].as_str().unwrap() {
            "succeeded" => assert_eq!(told.succeeded, 1, "{task}"),
            "skipped" => assert_eq!(told.begun, 0, "{task}"),
            "uncertain" => {
                assert!(told.begun == told.uncertain && told.begun > 0, "{task}");
                assert!(task["message"].as_str().unwrap().contains("not known"), "{task}");
                uncertain += 1;
            }
            _ => panic!("{task}"),
        }
    }
    assert_eq!(code, if uncertain == 0 { 0 } else { 4 }, "{report}");
}

/// What was done is what the journal says, and nothing of it runs any more.
fn is_settled(execution: &Execution) {
    let steps = journal(&execution.journal);
    let log = std::fs::read_to_string(execution.folder.join("log")).unwrap();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for line in log.lines() {
        *lines.entry(line).or_default() += 1;
    }
    for i in 0..STEPS {
        let name = format!("s{i}");
        let told = &steps[&name];
        let done = lines.remove(name.as_str()).unwrap_or(0);
        assert_eq!(told.succeeded, 1, "{name}");
        assert!((1..=1 + told.uncertain).contains(&done), "{name}: {done} times");
    }
    assert!(lines.is_empty(), "{lines:?}");
    let word = format!("HOSTLER_EXECUTION={}", execution.id);
    let is_left = |pid: &u32| {
        let bytes = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        bytes.split(|byte| *byte == 0).any(|found| found == word.as_bytes())
    };
    let left: Vec<u32> = pids().into_iter().filter(is_left).collect();
    assert!(left.is_empty(), "these still run: {left:?}");
}

#[test]
fn every_task_is_done_once_however_often_the_command_is_killed() {
    let rig = Rig::new();
    let seed = UNIX_EPOCH.elapsed().unwrap().as_micros();
    let seed = u64::try_from(seed).unwrap();
    println!("seed {seed}");
    let cli = Cli::new(&rig);
    let mut world = World { rig: &rig, cli, dice: Dice(seed), kills: 0, repeated: 0 };
    let mut number = 0;
    while world.kills < KILLS {
        number += 1;
        let execution = world.begin(number);
        let mut is_repeating = world.dice.roll(2) == 0;
        let mut ended = None;
        while ended != Some(0) {
            let is_struck = world.kills < KILLS;
            ended = world.go_on(&execution, is_repeating, is_struck);
            // What ends by itself has nothing left but what is uncertain.
            is_repeating = ended.is_some() || is_struck && world.dice.roll(2) == 0;
        }
        is_settled(&execution);
    }
    println!("{number} executions, {} kills, {} repeated", world.kills, world.repeated);
}
