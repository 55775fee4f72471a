//! Executions whose process died.

use std::io::Write;
use std::time::{Duration, Instant};

use hostler_flow::{FlowError, Journal, JournalError};
use hostler_model::workflow::{ExecutionOutcome, StepEnd};

use crate::world::{World, status};

const FILE: &str = r#"workflow.define("w", { tasks = {
  { name = "a", command = "echo a >> log" },
  { name = "b", depends_on = "a", command = function() exec.run("echo b >> log") return true, "ok", { n = 1 } end },
  { name = "c", depends_on = "b", command = function(this, params, deps) exec.run("echo c" .. deps.b.n .. " >> log") end },
} })"#;

/// Leaves only the first lines of the journal, as if the process had died then.
fn cut(world: &World, lines: usize, and_half: bool) {
    let path = world.execution().join("journal.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut kept: String = text.split_inclusive('\n').take(lines).collect();
    if and_half {
        kept.push_str(&text.split_inclusive('\n').nth(lines).unwrap()[..10]);
    }
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(kept.as_bytes()).unwrap();
}

#[test]
fn what_was_finished_is_not_done_again_wherever_the_process_died() {
    // began, (started, ended) of a, b, c, finished
    for (lines, expected_log, uncertain) in [
        (1, "a\nb\nc\na\nb\nc1\n", None),
        (2, "", Some("a")),
        (3, "b\nc1\n", None),
        (4, "", Some("b")),
        (5, "c1\n", None),
        (6, "", Some("c")),
        (7, "", None),
    ] {
        let world = World::new();
        world.run(FILE).unwrap();
        std::fs::remove_file(world.path("log")).unwrap();
        cut(&world, lines, lines < 7);
        let report = world.resume().unwrap();
        let expected_log = if lines == 1 { "a\nb\nc1\n" } else { expected_log };
        assert_eq!(world.read("log"), expected_log, "after {lines} lines");
        match uncertain {
            Some(step) => {
                assert_eq!(status(&report, step), StepEnd::Uncertain.label());
                assert_eq!(report.status, ExecutionOutcome::Failed);
            }
            None => assert_eq!(report.status, ExecutionOutcome::Succeeded, "after {lines} lines"),
        }
    }
}

#[test]
fn what_is_uncertain_is_done_again_only_when_somebody_says_so() {
    let mut world = World::new();
    world.run(FILE).unwrap();
    std::fs::remove_file(world.path("log")).unwrap();
    cut(&world, 4, false);
    world.setup.repeat_uncertain = true;
    let report = world.resume().unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded);
    assert_eq!(world.read("log"), "b\nc1\n");
    assert_eq!(world.past().outcome, Some(ExecutionOutcome::Succeeded));
}

#[test]
fn what_failed_is_done_again_when_asked_and_what_succeeded_is_not() {
    let mut world = World::new();
    let file = r#"workflow.define("w", { tasks = {
  { name = "a", command = "echo a >> log" },
  { name = "b", depends_on = "a", command = "test -f fixed" },
  { name = "c", depends_on = "b", command = "echo c >> log" },
} })"#;
    assert_eq!(world.run(file).unwrap().status, ExecutionOutcome::Failed);
    std::fs::write(world.path("fixed"), "").unwrap();
    world.setup.repeat_failed = true;
    let report = world.resume().unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", world.memory.lines());
    assert_eq!(world.read("log"), "a\nc\n");
}

#[test]
fn what_was_undone_is_done_again_when_asked_and_is_not_undone_twice() {
    let mut world = World::new();
    let file = r#"workflow.define("w", { config = { on_failure = "compensate" }, tasks = {
  { name = "a", command = "echo a >> log", compensate = "echo undo a >> log" },
  { name = "b", depends_on = "a", command = "test -f fixed" },
} })"#;
    assert_eq!(world.run(file).unwrap().status, ExecutionOutcome::Failed);
    assert_eq!(world.read("log"), "a\nundo a\n");
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Failed);
    assert_eq!(world.read("log"), "a\nundo a\n", "it was undone before");
    world.setup.repeat_failed = true;
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Failed);
    assert_eq!(world.read("log"), "a\nundo a\na\nundo a\n", "what is done again is undone again");
    std::fs::write(world.path("fixed"), "").unwrap();
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Succeeded);
    assert_eq!(world.read("log"), "a\nundo a\na\nundo a\na\n");
}

#[test]
fn an_execution_that_dies_again_and_again_keeps_a_journal_that_can_be_read() {
    let world = World::new();
    world.run(FILE).unwrap();
    cut(&world, 3, true);
    let path = world.execution().join("journal.jsonl");
    let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&[0xc3]).unwrap();
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Succeeded);
    assert_eq!(world.past().outcome, Some(ExecutionOutcome::Succeeded));
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().filter(|line| line.contains("\"began\"")).count(), 1, "{text}");
}

#[test]
fn an_execution_has_one_process_and_one_that_did_not_begin_says_so() {
    let world = World::new();
    let held = Journal::create(&world.execution()).unwrap();
    let refused = |found: Result<_, FlowError>| match found {
        Err(FlowError::Journal(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(refused(world.resume()), JournalError::Busy));
    drop(held);
    assert!(matches!(refused(world.resume()), JournalError::NotBegun(_)));
}

/// A program that runs as one of a step of the execution would.
struct Stray(std::process::Child);

impl Stray {
    fn of(world: &World, step: &str, script: &str) -> Stray {
        Stray::with(world, step, script, &[])
    }

    #[expect(clippy::disallowed_methods, reason = "it is what a process that died has left")]
    fn with(world: &World, step: &str, script: &str, more: &[(&str, &str)]) -> Stray {
        let mut command = std::process::Command::new("/bin/sh");
        let execution = world.execution();
        command.args(["-c", script]).current_dir(world.path(""));
        command.env("HOSTLER_EXECUTION", execution.file_name().unwrap());
        command.env("HOSTLER_STEP", step).envs(more.iter().copied());
        Stray(command.spawn().unwrap())
    }
    fn pid(&self) -> u32 {
        self.0.id()
    }
    fn is_running(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Stray {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn lines_of(world: &World, name: &str, count: usize) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let lines: Vec<String> = world.read(name).lines().map(str::to_owned).collect();
        if lines.len() >= count {
            return lines;
        }
        assert!(Instant::now() < deadline, "{name}: {lines:?}");
        std::thread::park_timeout(Duration::from_millis(5));
    }
}

#[test]
fn what_is_left_of_a_step_is_told_and_ended_before_it_is_done_again() {
    let mut world = World::new();
    world.run(FILE).unwrap();
    cut(&world, 4, false);
    let mut polite = Stray::of(&world, "b", "exec sleep 4321");
    // It does not listen, and what it started knows nothing of the execution but hangs below it.
    let script = "trap '' TERM; env -i sleep 4321 & echo $! >> below; while :; do wait; done";
    let mut stubborn = Stray::of(&world, "b", script);
    let mut finished = Stray::of(&world, "a", "exec sleep 4321");
    let below = lines_of(&world, "below", 1)[0].clone();

    let report = world.resume().unwrap();
    let message = &report.tasks[1].message;
    for pid in [polite.pid().to_string(), stubborn.pid().to_string(), below.clone()] {
        assert!(message.contains("still runs") && message.contains(&pid), "{pid}: {message}");
    }
    assert!(polite.is_running() && stubborn.is_running());

    world.setup.repeat_uncertain = true;
    let report = world.resume().unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", world.memory.lines());
    assert!(!polite.is_running() && !stubborn.is_running());
    let stat = std::fs::read_to_string(format!("/proc/{below}/stat")).unwrap_or_default();
    assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    assert!(finished.is_running(), "what a step left that had ended is not touched");
    let told = world.memory.lines();
    let ended: Vec<_> = told.iter().filter(|line| line.contains("still ran")).collect();
    assert_eq!(ended.len(), 1, "{told:?}");
    assert!(ended[0].contains("`b`") && ended[0].contains(&below), "{told:?}");
}

#[test]
fn programs_know_their_execution_and_their_step_whatever_they_are_given() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "a", command = "echo $HOSTLER_EXECUTION $HOSTLER_STEP", env = { HOSTLER_EXECUTION = "x" } },
  { name = "b", command = function() return true, "", exec.run("echo $HOSTLER_EXECUTION $HOSTLER_STEP") end },
} })"#,
        )
        .unwrap();
    let id = world.execution().file_name().unwrap().to_str().unwrap().to_owned();
    for (i, name) in ["a", "b"].into_iter().enumerate() {
        assert_eq!(report.tasks[i].output["stdout"], format!("{id} {name}\n"), "{report:?}");
    }
}

#[test]
fn an_undoing_of_which_nothing_is_known_is_told_and_repeated_only_when_somebody_says_so() {
    let mut world = World::new();
    let file = r#"workflow.define("w", { config = { on_failure = "compensate" }, tasks = {
  { name = "a", command = "echo a >> log", compensate = "echo undo a >> log" },
  { name = "b", depends_on = "a", command = "false" },
} })"#;
    assert_eq!(world.run(file).unwrap().status, ExecutionOutcome::Failed);
    // began, (started, ended) of a and b, undoing a, undone, finished
    cut(&world, 6, true);
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Failed);
    assert_eq!(world.read("log"), "a\nundo a\n");
    let told = world.memory.lines();
    assert!(told.iter().any(|line| line.contains("the undoing of `a` was under way")), "{told:?}");
    let mut left = Stray::of(&world, "a", "exec sleep 4321");
    let mut undoing = Stray::with(&world, "a", "exec sleep 4321", &[("HOSTLER_UNDOING", "1")]);
    world.setup.repeat_uncertain = true;
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Failed);
    assert_eq!(world.read("log"), "a\nundo a\nundo a\n");
    assert!(left.is_running() && !undoing.is_running());
}
