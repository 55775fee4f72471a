//! Executions whose process died.

use std::io::Write;

use hostler_model::workflow::{ExecutionOutcome, StepEnd};

use crate::world::{World, status};

const FILE: &str = r#"workflow.define("w", { tasks = {
  { name = "a", command = "echo a >> log" },
  { name = "b", depends_on = "a", command = function() exec.run("echo b >> log") return true, "ok", { n = 1 } end },
  { name = "c", depends_on = "b", command = function(this, params, deps) exec.run("echo c" .. deps.b.n .. " >> log") end },
} })"#;

/// Leaves only the first lines of the journal, as if the process had died then.
fn cut(world: &World, lines: usize, and_half: bool) {
    let path = world.path(".execution/journal.jsonl");
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
