//! Directories of workflows, files that are not there, and secrets that are not told.

use hostler_flow::Scrub;
use hostler_model::workflow::ExecutionOutcome;

use crate::world::{World, status};

fn message<'a>(report: &'a hostler_flow::Report, step: &str) -> &'a str {
    &report.tasks.iter().find(|task| task.name == step).unwrap().message
}

#[test]
fn what_is_consumed_and_not_there_fails_at_once() {
    let world = World::new();
    let report = world
        .run(
            r#"local build = task("build"):artifacts({ "out/*.bin" }):command("mkdir -p out; touch out/other.bin"):build()
workflow.define("w"):tasks({ build,
  task("plain"):retries(5, "fixed", 30):consumes({ "out/app.bin" }):depends_on("build"):command("touch ran"):build(),
  task("body"):retries(5, "fixed", 30):consumes({ "none.txt" }):depends_on("build")
    :command(function() exec.run("touch ran") end)
    :on_failure(function(this, params, err) log.info("told " .. err.error) end):build(),
  task("there"):consumes({ "other.bin" }):depends_on("build"):command("test -e other.bin"):build(),
})"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Failed);
    assert!(report.duration < 20_000, "{}", report.duration);
    for step in ["plain", "body"] {
        let task = report.tasks.iter().find(|task| task.name == step).unwrap();
        assert_eq!((task.status.as_str(), task.attempts), ("failed", 1));
    }
    let told = message(&report, "plain");
    assert!(
        told.contains("`build` is to leave `out/*.bin`") && told.contains("left no such"),
        "{told}"
    );
    assert!(message(&report, "body").contains("no task says that it leaves it"));
    let lines = world.memory.lines();
    assert!(lines.iter().any(|line| line.starts_with("body: told it consumes")), "{lines:?}");
    assert_eq!(status(&report, "there"), "succeeded");
    assert!(!world.path("ran").exists());
}

#[test]
fn no_time_is_as_long_as_it_takes() {
    let world = World::new();
    let report = world
        .run(
            r#"workflow.define("w", { config = { timeout = "0s" }, tasks = {
  { name = "line", timeout = 0, command = "sleep 0.3" },
  { name = "body", timeout = "0s", command = function() exec.run("sleep 0.3") end },
} })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded, "{:?}", report.tasks);
}

#[test]
fn a_directory_of_its_own_is_made_and_removed_as_the_workflow_says() {
    for (clean, fails, stays) in [
        ("function(r) return r.success end", false, false),
        ("function(r) return r.success end", true, true),
        ("function(r) return not r.success and r.error:find('^last: ') ~= nil end", true, false),
        ("true", false, false),
        ("true", true, true),
        ("nil", false, true),
    ] {
        let world = World::new();
        let last = if fails { "false" } else { "test -e here" };
        let report = world
            .run(&format!(
                r#"TaskDefinitions = {{ g = {{ create_workdir_before_run = true, clean_workdir_after_run = {clean}, tasks = {{
  {{ name = "first", command = function(this)
      exec.run("touch here")
      return true, "ok", {{ at = this.workdir.get() }}
    end }},
  {{ name = "last", depends_on = "first", command = "{last}" }},
}} }} }}"#,
            ))
            .unwrap();
        assert_eq!(status(&report, "last"), if fails { "failed" } else { "succeeded" });
        let place = report.tasks[0].output["at"].as_str().unwrap().to_owned();
        assert!(place.contains("hostler-g-"), "{place}");
        assert!(!world.path("here").exists());
        assert_eq!(std::path::Path::new(&place).exists(), stays, "{clean} {fails}");
        let _it_may_be_gone = std::fs::remove_dir_all(&place);
    }
}

#[test]
fn a_directory_that_is_in_use_stays() {
    let world = World::new();
    std::fs::write(world.path("kept"), "").unwrap();
    let report = world
        .run(r#"workflow.define("w", { workdir = ".", clean_workdir_after_run = true, tasks = { { name = "t", command = "true" } } })"#)
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded);
    assert!(world.path("kept").exists());
    assert!(world.memory.lines().iter().any(|line| line.contains("in use")));
}

#[test]
fn secrets_are_told_to_nobody_and_given_to_others() {
    let mut world = World::new();
    world.setup.secrets.insert("db".into(), "tr0ub4dor".into());
    world.setup.scrub = Some(Scrub::new(|text| text.replace("tr0ub4dor", "[secret:db]")));
    let report = world
        .run(
            r#"workflow.define("w"):tasks({
  task("first"):command(function()
    exec.run({ "echo", secrets.db })
    print("it is " .. secrets.db)
    export({ given = "x" .. secrets.db })
    return true, "with " .. secrets.db, { password = secrets.db }
  end):build(),
  task("line"):depends_on("first"):command(function(this, params, deps)
    assert(deps.first.password == secrets.db)
    error("cannot log in with " .. secrets.get("db"))
  end):build(),
}):on_complete(function() log.warn("last " .. secrets.db) end)"#,
        )
        .unwrap();
    let told = serde_json::to_string(&report).unwrap() + &world.memory.lines().join("\n");
    assert!(!told.contains("tr0ub4dor"), "{told}");
    assert!(world.memory.has("first: it is [secret:db]"), "{told}");
    assert!(message(&report, "line").starts_with("cannot log in with [secret:db]"), "{told}");
    assert_eq!(report.outputs["given"], "x[secret:db]");
    assert!(told.contains("last [secret:db]"), "{told}");
}
