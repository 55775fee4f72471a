//! Steps of other users in executions on this machine, secrets that are read for them, and an end that is wanted twice.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::rig::{Cli, Rig, Server, is_root, is_running, skipped, until};

fn write(rig: &Rig, name: &str, text: &str) -> String {
    let path = rig.path(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

fn message(report: &Value, step: &str) -> String {
    let tasks = report["tasks"].as_array().unwrap();
    let found = tasks.iter().find(|task| task["name"] == step).unwrap();
    format!("{}: {}", found["status"], found["message"])
}

/// A directory of `nobody`, where everybody may go.
struct Place(std::path::PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path =
            std::path::PathBuf::from(format!("/tmp/hostler-users-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(&path, mode).unwrap();
        Place(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _another_time = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_step_here_is_carried_out_by_its_user_with_all_that_belongs_to_it() {
    if !is_root() {
        return skipped("another user needs root");
    }
    let (rig, place) = (Rig::new(), Place::new("all"));
    let cli = Cli::new(&rig);
    let text = r#"
local at = "PLACE"
local function who() return (exec.run("id -un").stdout:gsub("%s", "")) end
local make = task("make"):command("id -un | tee made"):workdir(at .. "/root"):artifacts({ "made" }):build()
local line = task("line"):user("nobody"):workdir(at .. "/line"):depends_on(make):consumes({ "made" }):artifacts({ "who" })
  :command("cat made > who; id -un >> who; echo $USER:$HOME:$HOSTLER_STEP; test -z \"$HOSTLER_TOKEN\""):build()
local body = task("body"):user("nobody"):workdir(at .. "/body"):depends_on(line):consumes({ "who" })
  :run_if(function() return who() == "nobody" end)
  :command(function(this, params, deps)
    assert(state.set("by", who()) and state.increment("count") == 1)
    assert(state.with_lock("l", function() return true end))
    assert(fs.read("who") == "root\nnobody\n", fs.read("who"))
    assert(not fs.read("/etc/shadow"))
    fs.write("left", "x")
    print("printed")
    export({ who = who(), out = deps.line.stdout })
    return true, "well", { n = 7 }
  end)
  :on_success(function(this, params, output) print("success " .. who() .. output.n) end):build()
local again = task("again"):user("nobody"):workdir(at .. "/again"):depends_on(body):retries(1, "fixed", 0.01)
  :command(function(this, params, deps) assert(deps.body.n == 7) return params.attempt == 2, "not yet" end)
  :on_retry(function(this, params, err) print("again " .. who() .. " " .. err.error) end)
  :compensate(function() print("undone " .. who()) end):build()
local late = task("late"):user("nobody"):workdir(at .. "/late"):timeout("1s"):depends_on(again)
  :command("sleep 961 & setsid sleep 962 & echo $! ; wait")
  :on_timeout(function() print("late " .. who()) end):build()
local never = task("never"):user("nobody"):workdir(at .. "/never"):depends_on(late):command("true")
  :on_skip(function() print("skipped " .. who()) end):build()
local after = task("after"):depends_on(body):command(function() return state.get("by") == "nobody", state.get("by") end):build()
workflow.define("w"):tasks({ make, line, body, again, late, never, after }):on_complete(function() print("complete " .. who()) end)
"#
    .replace("PLACE", &place.0.display().to_string());
    let file = write(&rig, "w.sloth", &text);
    let ended = cli.run(&["run", &file, "-o", "json"]).must(4);
    let report: Value = serde_json::from_str(&ended.text()).unwrap();
    let told = format!("{report:#}\n{}", ended.err);
    for (step, expected) in [
        ("make", "\"succeeded\""),
        ("line", "\"succeeded\""),
        ("body", "\"succeeded\": \"well\""),
        ("again", "\"succeeded\""),
        ("late", "\"timed-out\""),
        ("never", "\"skipped\": \"something it depends on"),
        ("after", "\"succeeded\": \"nobody\""),
    ] {
        assert!(message(&report, step).starts_with(expected), "{step}: {told}");
    }
    assert_eq!(report["outputs"]["who"], "nobody");
    assert!(report["outputs"]["out"].as_str().unwrap().starts_with("nobody:/"), "{told}");
    for line in [
        "body | printed",
        "body | success nobody7",
        "again | again nobody not yet",
        "late | late nobody",
        "never | skipped nobody",
        "again | undone nobody",
        "complete root",
    ] {
        assert!(ended.err.contains(line), "{line}: {told}");
    }
    let owner =
        std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(place.0.join("body/left")).unwrap());
    assert_ne!(owner, 0);
    let left = ended.err.lines().find_map(|line| line.strip_prefix("late | ")?.trim().parse().ok());
    let left: u32 = left.unwrap_or_else(|| panic!("{told}"));
    until("what left its group is killed too", || (!is_running(left)).then_some(()));
}

#[test]
fn whoever_cannot_become_somebody_is_told_before_anything_begins() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let mark = rig.path("mark");
    let text = |user: &str| {
        format!(
            "workflow.define('w'):tasks({{ task('first'):command('touch {}'), task('t'):user('{user}'):command('true') }})",
            mark.display()
        )
    };
    let file = write(&rig, "w.sloth", &text("no-such-user"));
    let told = cli.run(&["run", &file]).must(2).err;
    assert!(told.contains("no user `no-such-user`"), "{told}");
    if is_root() {
        // The directory of a test is nobody else's.
        let file = write(
            &rig,
            "w.sloth",
            &text("nobody").replace("user('nobody')", "user('nobody'):workdir('/root')"),
        );
        let told = cli.run(&["run", &file]).must(4).err;
        assert!(
            told.contains("cannot go to /root") && told.contains("give the step a `workdir`"),
            "{told}"
        );
        let file = write(&rig, "w.sloth", &text("root"));
        cli.ok(&["run", &file]);
    } else {
        let file = write(&rig, "w.sloth", &text("root"));
        let told = cli.run(&["run", &file]).must(2).err;
        assert!(told.contains("only root can become somebody else"), "{told}");
        assert!(!mark.exists());
    }
}

#[test]
fn a_second_interrupt_kills_everything_at_once_and_says_so() {
    let rig = Rig::new();
    let cli = Cli::new(&rig);
    let pids = rig.path("pids");
    let text = format!(
        "workflow.define('s'):tasks({{ task('t'):command(function() return exec.run('trap \"\" TERM; echo $$ >> {0}; sleep 963').success end) }}):on_complete(function() exec.run('echo $$ >> {0}; sleep 964') end)",
        pids.display()
    );
    let file = write(&rig, "s.sloth", &text);
    let mut running = cli.spawn("run", &["run", &file]);
    let numbers = |count: usize| {
        until("its programs run", || {
            let text = std::fs::read_to_string(&pids).unwrap_or_default();
            let numbers: Vec<u32> = text.lines().filter_map(|line| line.parse().ok()).collect();
            (numbers.len() >= count).then_some(numbers)
        })
    };
    numbers(1);
    running.signal(Signal::INT);
    running.line(&["asked to end", "once more kills"]);
    let begun = numbers(2);
    running.signal(Signal::INT);
    assert_eq!(running.wait_within(Duration::from_secs(20)).0, 130, "{}", running.log());
    running.line(&["killed", "workflow resume"]);
    for pid in begun {
        until("it is gone", || (!is_running(pid)).then_some(()));
    }
}

#[test]
fn secrets_are_read_for_an_execution_here_and_told_to_nobody() {
    let rig = Rig::new();
    let (_server, cli) = Server::up(&rig);
    cli.run_with(&["secret", "set", "db", "-"], "hunter22canary").must(0);
    let text = r#"workflow.define("s"):tasks({ task("t"):command(function()
  print("it is " .. secrets.db)
  return false, "no: " .. secrets.get("default/db")
end) })"#;
    let file = write(&rig, "s.sloth", text);
    let ended = cli.run(&["run", &file, "--here", "--secret", "db"]).must(4);
    let told = ended.text() + &ended.err;
    assert!(told.contains("t | it is [secret:"), "{told}");
    assert!(told.contains("no: [secret:") && !told.contains("hunter22"), "{told}");
    let none = cli.run(&["run", &file, "--here", "--secret", "none"]).must(3).err;
    assert!(none.contains("none"), "{none}");
}
