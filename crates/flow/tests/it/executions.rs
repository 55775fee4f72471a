//! Workflows of every dialect, carried out for real.

use std::time::{Duration, Instant};

use hostler_model::workflow::ExecutionOutcome;

use crate::world::{World, status};

#[test]
fn a_fluent_workflow_runs_and_outputs_travel() {
    let world = World::new();
    let report = world
        .run(
            r#"
local build = task("build"):command(function(this, params)
    local r = exec.run("echo bits > app.bin && cat app.bin")
    return true, "built", { artifact = "app.bin", text = r.stdout }
end):artifacts({"app.bin"}):build()
local deploy = task("deploy"):depends_on({build}):command(function(this, params, deps)
    log.info("deploying " .. deps.build.artifact .. " as " .. this.name)
    return deps.build.text == "bits\n", "deployed"
end):build()
workflow.define("release"):tasks({build, deploy}):on_complete(function(success, results)
    log.info("complete " .. tostring(success) .. " " .. results.build.status)
end)
outputs = { fixed = 1 }
"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", world.memory.lines());
    assert!(world.memory.has("deploy: deploying app.bin as deploy"), "{:?}", world.memory.lines());
    assert!(world.memory.has("workflow: complete true succeeded"), "{:?}", world.memory.lines());
    assert_eq!(report.outputs["fixed"], 1);
    assert_eq!(report.tasks[0].message, "built");
}

#[test]
fn commands_that_are_text_are_executed() {
    let world = World::new();
    let report = world
        .run(
            r#"TaskDefinitions = { g = { tasks = {
  { name = "a", command = "echo one > a.txt; echo said" },
  { name = "b", depends_on = "a", command = "cat a.txt >&2; exit 3" },
  { name = "c", next_if_fail = "b", command = "echo recovered > c.txt" },
  { name = "d", depends_on = "b", command = "echo never > d.txt" },
} } }"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Failed);
    assert_eq!(world.read("c.txt"), "recovered\n");
    assert!(!world.path("d.txt").exists());
    assert!(
        world.memory.has("a: said") && world.memory.has("b: one"),
        "{:?}",
        world.memory.lines()
    );
    assert_eq!(report.tasks[1].message, "exit code 3");
    assert_eq!(status(&report, "d"), "skipped");
}

#[test]
fn independent_steps_run_at_the_same_time() {
    let world = World::new();
    let began = Instant::now();
    let report = world
        .run(
            r#"local ts = {}
for i = 1, 6 do
  table.insert(ts, task("t" .. i):command(function() exec.run("sleep 0.4") end):build())
  table.insert(ts, task("s" .. i):command("sleep 0.4"):build())
end
workflow.define("w"):tasks(ts):config({ max_parallel_tasks = 12 })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
}

#[test]
fn a_loop_that_does_not_wait_does_not_keep_others_from_going_on() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "busy", timeout = "2s", command = function() while true do end end },
  { name = "stubborn", timeout = "2s", command = function() while true do pcall(function() while true do end end) end end },
  { name = "other", command = function() for i = 1, 3 do exec.run("true") end log.info("done") end },
} })"#,
        )
        .unwrap();
    assert_eq!(status(&report, "busy"), "timed-out");
    assert_eq!(status(&report, "stubborn"), "timed-out");
    let lines = world.memory.lines();
    let at = |line: &str| lines.iter().position(|told| told == line).unwrap();
    assert!(at("other: done") < at("end busy timed-out"), "{lines:?}");
}

#[test]
fn timeouts_kill_children_and_call_their_handler() {
    let world = World::new();
    let began = Instant::now();
    let report = world
        .run(
            r#"local t = task("slow"):timeout("300ms"):command(function()
  exec.run("echo $$ > pid; sleep 60 & echo $! >> pid; wait")
end):on_timeout(function(this) log.info("late") end):build()
workflow.define("w"):tasks({ t, task("text"):timeout("300ms"):command("sleep 61 & echo $! >> pid2; wait"):build() })"#,
        )
        .unwrap();
    assert!(began.elapsed() < Duration::from_secs(10));
    assert_eq!(status(&report, "slow"), "timed-out");
    assert_eq!(status(&report, "text"), "timed-out");
    assert!(world.memory.has("slow: late"), "{:?}", world.memory.lines());
    let pids = world.read("pid") + &world.read("pid2");
    assert_eq!(pids.lines().count(), 3);
    for pid in pids.lines() {
        let deadline = Instant::now() + Duration::from_secs(5);
        let is_alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        while is_alive() {
            assert!(Instant::now() < deadline, "{pid} is still there");
            std::thread::yield_now();
        }
    }
}

#[test]
fn what_fails_is_tried_again_with_its_handlers() {
    let world = World::new();
    let report = world
        .run(
            r#"local t = task("flaky"):retries(3, "fixed"):command(function(this, params)
  local ok = exec.run("test $(wc -l < tries) -ge 2").success
  exec.run("echo x >> tries")
  return ok, "not yet"
end):on_retry(function(this, params, err) log.info("again: " .. err.error) end)
    :on_success(function(this, params, output) log.info("at last") end):build()
workflow.define("w"):tasks({ task("make"):command("touch tries"):build(), t:depends_on("make") })
  :config({ retry_policy = { delay = 0.01 } })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", world.memory.lines());
    let flaky = report.tasks.iter().find(|task| task.name == "flaky").unwrap();
    assert_eq!(flaky.attempts, 3);
    assert!(world.memory.has("flaky: again: not yet") && world.memory.has("flaky: at last"));
}

#[test]
fn conditions_hooks_and_older_signatures_are_honoured() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "fetch", command = function(params, deps) return true, "ok", { data = "x" } end,
    on_success = function(params, output) log.info("got " .. output.data) end },
  { name = "flag", command = "touch flag" },
  { name = "yes", depends_on = {"fetch", "flag"}, run_if = "test -f flag", command = function(params, deps) return true, deps.fetch.data end },
  { name = "no", depends_on = "flag", run_if = function(params, deps) return false end, command = "exit 1",
    on_skip = function() log.info("skipped") end },
  { name = "after-no", depends_on = "no", command = "true" },
  { name = "hooked", params = { who = "me" }, pre_exec = function(params) log.info("before " .. params.who) return true end,
    post_exec = function(this, params, output) log.info("after") return true end, command = "true" },
  { name = "bad", command = function() return false, "boom" end,
    on_failure = function(params, err) log.info("why: " .. err) end },
} })"#,
        )
        .unwrap();
    let lines = world.memory.lines();
    assert_eq!(status(&report, "yes"), "succeeded", "{lines:?}");
    assert_eq!(report.tasks[2].message, "x");
    assert_eq!(status(&report, "no"), "skipped");
    assert_eq!(status(&report, "after-no"), "succeeded");
    for line in ["fetch: got x", "hooked: before me", "hooked: after", "bad: why: boom"] {
        assert!(world.memory.has(line), "{line}: {lines:?}");
    }
}

#[test]
fn abort_if_ends_everything() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "guard", abort_if = "true", command = "true" },
  { name = "long", command = "sleep 60" },
  { name = "later", depends_on = "long", command = "true" },
} })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Failed);
    assert_eq!(status(&report, "guard"), "aborted");
    assert_eq!(status(&report, "long"), "cancelled");
}

#[test]
fn a_saga_is_undone_the_last_first() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w"):tasks(workflow.saga("order", {
  { name = "reserve", action = "echo reserve >> log", compensate = "echo release >> log" },
  { name = "charge", action = function() exec.run("echo charge >> log") return true, "ok", { id = 7 } end,
    compensate = function(this, params) exec.run("echo refund " .. params.id .. " >> log") end },
  { name = "ship", action = "exit 1", compensate = "echo never >> log" },
}))"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Failed);
    assert_eq!(
        world.read("log"),
        "reserve\ncharge\nrefund 7\nrelease\n",
        "{:?}",
        world.memory.lines()
    );
}

#[test]
fn artifacts_go_from_one_directory_to_another() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("ci", { tasks = {
  { name = "build", workdir = "one", command = "mkdir -p out && echo bits > out/app.bin", artifacts = "out/*" },
  { name = "test", workdir = "two", depends_on = "build", consumes = "app.bin", command = "grep bits app.bin" },
  { name = "none", depends_on = "build", workdir = "three", consumes = "nope", command = "true" },
} })"#,
        )
        .unwrap();
    assert_eq!(status(&report, "test"), "succeeded", "{:?}", world.memory.lines());
    let told = &report.tasks[2].message;
    assert!(told.contains("consumes `nope`, which is not there"), "{told}");
}

#[test]
fn what_needs_others_is_refused_before_anything_begins() {
    let world = World::new();
    let refused = |text: &str| world.run(text).unwrap_err().to_string();
    let told = refused(
        r#"workflow.define("w", { tasks = { { name = "t", command = "touch x", delegate_to = "web-01" } } })"#,
    );
    assert!(told.contains("`t`") && told.contains("--here"), "{told}");
    let told = refused(
        r#"workflow.define("w", { config = { require_lock = true }, tasks = { { name = "t", command = "touch x" } } })"#,
    );
    assert!(told.contains("require_lock") && told.contains("--remote"), "{told}");
    assert!(!world.path("x").exists());
    let fallback = r#"workflow.define("w", { tasks = { { name = "t", command = "touch x", delegate_to = { any = true, fallback = "local" } } } })"#;
    assert_eq!(world.run(fallback).unwrap().status, ExecutionOutcome::Succeeded);
}

#[test]
fn another_user_is_refused_and_not_forgotten() {
    let world = World::new();
    let text = r#"workflow.define("w"):tasks({ task("t"):user("no-such-user"):command("touch x"):build(), task("u"):command("true"):build() })"#;
    let told = world.run(text).unwrap_err().to_string();
    assert!(told.contains("`t`") && told.contains("`no-such-user`"), "{told}");
    assert!(!world.path("x").exists());
}

#[test]
fn what_left_its_group_ends_with_its_step() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "plain", timeout = "700ms", command = "setsid sleep 4322 & echo $! >> pids; sleep 60" },
  { name = "body", timeout = "700ms", command = function() exec.run("setsid sleep 4323 & echo $! >> pids; sleep 60") end },
} })"#,
        )
        .unwrap();
    assert_eq!((status(&report, "plain"), status(&report, "body")), ("timed-out", "timed-out"));
    let pids = world.read("pids");
    assert_eq!(pids.lines().count(), 2, "{pids}");
    for pid in pids.lines() {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        assert!(stat.is_empty() || stat.contains(") Z "), "{stat}");
    }
}

#[test]
fn a_pattern_that_matches_nothing_is_told_and_a_name_fails() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "plain", command = "true", artifacts = "*.xml" },
  { name = "body", command = function() end, artifacts = "out/**" },
  { name = "name", command = "true", artifacts = "app.bin" },
} })"#,
        )
        .unwrap();
    let ends = ["plain", "body", "name"].map(|name| status(&report, name));
    assert_eq!(ends, ["succeeded", "succeeded", "failed"], "{:?}", report.tasks);
    let lines = world.memory.lines();
    for pattern in ["`*.xml`", "`out/**`"] {
        assert!(
            lines.iter().any(|line| line.starts_with("warn") && line.contains(pattern)),
            "{lines:?}"
        );
    }
}

#[test]
fn stopping_an_execution_stops_what_runs() {
    let world = World::new();
    let stop = async {
        let began = Instant::now();
        while !world.path("begun").exists() && began.elapsed() < Duration::from_secs(20) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let report = world
        .run_until(
            r#"workflow.define("w", { tasks = { { name = "t", command = "touch begun; sleep 60" }, { name = "u", depends_on = "t", command = "true" } } })"#,
            stop,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Cancelled);
    assert_eq!(status(&report, "t"), "cancelled");
}

#[test]
fn large_and_strange_output_is_told_and_bounded() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "large", command = function() local r = exec.run("head -c 10485760 /dev/zero | tr '\\0' x") return #r.stdout == 10485760, tostring(#r.stdout) end },
  { name = "binary", command = function() local r = exec.run("printf '\\377\\000\\001'") return #r.stdout == 3, "three bytes", { raw = r.stdout } end },
  { name = "text", command = "printf '\\377\\n'" },
  { name = "raises", command = function() error("no \255 good") end },
  { name = "table", command = function() error({ code = 7 }) end },
} })"#,
        )
        .unwrap();
    for name in ["large", "binary", "text"] {
        assert_eq!(status(&report, name), "succeeded", "{name}: {:?}", report.tasks);
    }
    assert!(world.memory.has("text: \u{fffd}"));
    assert_eq!(status(&report, "raises"), "failed");
    assert_eq!(status(&report, "table"), "failed");
}
