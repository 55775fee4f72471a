//! How programs are started: without a shell where that makes no difference, and beside each other.

use std::os::unix::fs::PermissionsExt;

use hostler_model::workflow::ExecutionOutcome;

use crate::world::World;

fn script(world: &World, name: &str, mode: u32, text: &str) {
    std::fs::write(world.path(name), text).unwrap();
    std::fs::set_permissions(world.path(name), PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_line_means_the_same_with_a_shell_and_without() {
    let mut world = World::new();
    world.setup.environment.insert("PWD".into(), "/elsewhere".into());
    script(&world, "bare", 0o755, "echo \"bare $1 in $PWD\"\nexit 7\n");
    script(&world, "locked", 0o644, "echo never\n");
    script(&world, "strange", 0o755, "#!/no/such/interpreter\n");
    let lines = [
        "true",
        "false",
        "printenv PWD",
        "printenv HOSTLER_WORKFLOW",
        "seq 3",
        "ls  -d\t. ",
        "ls ./not-there",
        "no-such-program-here a b",
        "/no/such/program",
        "./bare x",
        "./locked",
        "./strange",
        "env -u PWD printenv PATH",
        "sh -c exit",
    ];
    let mut text = "local ts = {}\n".to_owned();
    for (i, line) in lines.iter().enumerate() {
        for (kind, before) in [("plain", ""), ("shell", ": && ")] {
            text.push_str(&format!(
                "table.insert(ts, task(\"{kind}{i}\"):command({:?}):continue_on_error(true):build())\n",
                format!("{before}{line}")
            ));
        }
    }
    text.push_str("workflow.define(\"w\"):tasks(ts)\n");
    let report = world.run(&text).unwrap();
    for (pair, line) in report.tasks.chunks(2).zip(lines) {
        assert_eq!(pair[0].output, pair[1].output, "{line}");
        assert_eq!(pair[0].message, pair[1].message, "{line}");
    }
    assert_eq!(report.tasks[14].output["exit_code"], 127);
    assert_eq!(report.tasks[18].output["exit_code"], 7);
}

#[test]
fn a_list_is_a_program_and_its_arguments() {
    let world = World::new();
    script(&world, "tool", 0o755, "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\"\n");
    let report = world
        .run(
            r#"workflow.define("w", { tasks = {
  { name = "a", command = { "./tool", "two words", "$HOME" } },
  { name = "b", command = { "printf", "%s", "a;b" } },
  { name = "c", command = { "no-such-program-here" } },
} })"#,
        )
        .unwrap();
    assert_eq!(report.tasks[0].output["stdout"], "./tool|two words|$HOME|");
    assert_eq!(report.tasks[1].output["stdout"], "a;b");
    assert!(report.tasks[2].message.starts_with("it could not be started"), "{report:?}");
}

#[test]
fn what_runs_beside_others_is_ended_with_its_children() {
    let world = World::new();
    script(&world, "family", 0o755, "#!/bin/sh\nsleep 4321 &\necho $! >> pids\nwait\n");
    let report = world
        .run(
            r#"local ts = {}
for i = 1, 6 do table.insert(ts, task("t" .. i):command("./family"):timeout("700ms"):build()) end
workflow.define("w"):tasks(ts):config({ max_parallel_tasks = 6 })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Failed);
    let pids = world.read("pids");
    assert_eq!(pids.lines().count(), 6, "{pids}");
    let is_alive = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start().chars().next();
        state.is_some_and(|state| !"ZX".contains(state))
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while pids.lines().any(is_alive) {
        assert!(std::time::Instant::now() < deadline, "some live on: {pids}");
        std::thread::yield_now();
    }
}

#[test]
fn no_more_run_at_once_than_may_and_none_before_what_it_needs() {
    let world = World::new();
    let count = "#!/bin/sh\nmkdir here.$$\nls -d here.* | wc -l >> counts\necho $HOSTLER_STEP >> order\nrmdir here.$$\n";
    script(&world, "count", 0o755, count);
    let report = world
        .run(
            r#"local ts = {}
for layer = 1, 3 do for i = 1, 10 do
    local t = task("t" .. layer .. "_" .. i):command("./count")
    if layer > 1 then t:depends_on("t" .. (layer - 1) .. "_" .. i) end
    table.insert(ts, t:build())
end end
workflow.define("w"):tasks(ts):config({ max_parallel_tasks = 3 })"#,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Succeeded);
    let counts = world.read("counts");
    assert_eq!(counts.lines().count(), 30);
    assert!(counts.lines().all(|line| (1..=3).contains(&line.trim().parse().unwrap())), "{counts}");
    let order = world.read("order");
    let at = |name: &str| order.lines().position(|line| line == name).unwrap();
    for (layer, i) in (2..=3).flat_map(|layer| (1..=10).map(move |i| (layer, i))) {
        assert!(at(&format!("t{}_{i}", layer - 1)) < at(&format!("t{layer}_{i}")), "{order}");
    }
}

#[test]
fn what_only_waited_when_it_was_stopped_did_not_begin() {
    let world = World::new();
    script(&world, "long", 0o755, "#!/bin/sh\necho $HOSTLER_STEP >> begun\nexec sleep 4321\n");
    let stop = async {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while world.read("begun").lines().count() < 2 && std::time::Instant::now() < deadline {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    let report = world
        .run_until(
            r#"local ts = {}
for i = 1, 8 do table.insert(ts, task("t" .. i):command("./long"):build()) end
workflow.define("w"):tasks(ts):config({ max_parallel_tasks = 2 })"#,
            stop,
        )
        .unwrap();
    assert_eq!(report.status, ExecutionOutcome::Cancelled);
    let journal = std::fs::read_to_string(world.execution().join("journal.jsonl")).unwrap();
    let started = journal.lines().filter(|line| line.contains(r#""what":"started""#)).count();
    assert_eq!(started, 2, "{journal}");
    script(&world, "long", 0o755, "#!/bin/sh\necho $HOSTLER_STEP >> done\n");
    assert_eq!(world.resume().unwrap().status, ExecutionOutcome::Succeeded);
    assert_eq!(world.read("begun").lines().count(), 2);
    assert_eq!(world.read("done").lines().count(), 8);
}
