//! What is called around steps and around the whole: it has its time, and keeps nobody from going on.

use std::time::{Duration, Instant};

use hostler_model::workflow::ExecutionOutcome;

use crate::world::{World, status};

fn has(world: &World, part: &str) -> bool {
    world.memory.lines().iter().any(|line| line.contains(part))
}

/// Ready once a file is there.
async fn seen(world: &World, name: &str) {
    let began = Instant::now();
    while !world.path(name).exists() && began.elapsed() < Duration::from_secs(20) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[test]
fn a_handler_that_does_not_end_is_ended_and_the_next_one_is_called() {
    let world = World::new();
    let began = Instant::now();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = { { name = "t", command = "true" } }, config = { timeout = "2s" },
  on_success = function() while true do pcall(function() while true do end end) end end,
  on_complete = function(success) log.info("complete " .. tostring(success)) end })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded);
    assert!(has(&world, "success: it took longer than 5s"), "{:?}", world.memory.lines());
    assert!(world.memory.has("workflow: complete true"), "{:?}", world.memory.lines());
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}

#[test]
fn what_is_called_first_has_no_more_time_than_the_whole() {
    let world = World::new();
    let began = Instant::now();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = { { name = "t", command = "touch done" } }, config = { timeout = "500ms" },
  on_start = function() exec.run("echo $$ > pid; exec sleep 60") end })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::TimedOut);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    assert!(!world.path("done").exists());
    let pid = world.read("pid");
    assert!(!pid.is_empty(), "it was called");
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

#[test]
fn what_is_called_first_may_say_no() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = { { name = "t", command = "touch done" } },
  on_start = function() return false end,
  on_complete = function(success) log.info("complete " .. tostring(success)) end })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Cancelled);
    assert!(!world.path("done").exists());
    assert!(has(&world, "says no") && has(&world, "complete false"), "{:?}", world.memory.lines());
}

#[test]
fn a_slow_handler_keeps_nobody_but_its_own_step_waiting() {
    let world = World::new();
    let report = world
        .run(
            r#"local t = task("flaky"):retries(1, "fixed", 0.01):command(function()
  exec.run("echo x >> tries")
  return exec.run("test -e mended").success
end):on_retry(function() exec.run("sleep 3; touch mended") end):build()
workflow.define("w"):tasks({ t,
  task("late"):timeout("1s"):command("sleep 60"):build(),
  task("next"):next_if_fail("late"):command("true"):build() })"#,
        )
        .unwrap();
    let lines = world.memory.lines();
    assert_eq!(status(&report, "flaky"), "succeeded", "{lines:?}");
    assert_eq!(status(&report, "late"), "timed-out");
    let at = |line: &str| lines.iter().position(|told| told == line).unwrap();
    assert!(at("end next succeeded") < at("end flaky succeeded"), "{lines:?}");
    let late = report.tasks.iter().find(|task| task.name == "late").unwrap();
    assert!(late.duration.unwrap() < 2900, "{late:?}");
}

#[test]
fn handlers_and_undoing_end_when_somebody_wants_it() {
    for text in [
        r#"workflow.define("w", { tasks = { { name = "t", command = "true" } },
  on_complete = function() exec.run("touch begun") while true do end end })"#,
        r#"workflow.define("w", { tasks = { { name = "t", command = "true" } },
  on_start = function() exec.run("touch begun; sleep 60") end })"#,
    ] {
        let world = World::new();
        let began = Instant::now();
        let report = world.run_until(text, seen(&world, "begun")).unwrap();
        assert!(world.path("begun").exists());
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
        let is_first = text.contains("on_start");
        let expected =
            if is_first { ExecutionOutcome::Cancelled } else { ExecutionOutcome::Succeeded };
        assert_eq!(report.status, expected);
        assert!(has(&world, "it was stopped"), "{:?}", world.memory.lines());
    }
}

#[test]
fn what_is_called_before_a_step_comes_before_it() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = { { name = "a", command = "cat told" }, { name = "b", depends_on = "a", command = "cat told" } },
  on_task_start = function(name) exec.run("sleep 0.2; echo " .. name .. " >> told") end,
  on_task_complete = function(name, success) log.info(name .. " is over") end })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", world.memory.lines());
    assert!(world.memory.has("b: b") && world.memory.has("workflow: b is over"));
    assert_eq!(world.read("told"), "a\nb\n");
}

#[test]
fn a_slow_handler_does_not_change_how_its_step_ended() {
    let world = World::new();
    let began = Instant::now();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "waits", timeout = "1s", command = function() return true, "ok", { n = 1 } end, on_success = function() exec.run("sleep 60") end },
  { name = "computes", timeout = "1s", command = "true", on_success = function() while true do end end },
} })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", report.tasks);
    assert_eq!(report.tasks[0].output["n"], 1);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}
