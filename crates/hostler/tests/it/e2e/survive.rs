//! Fifty tasks run, and the processes that look after them are killed with -9. The tasks keep their
//! processes, and what they say and how they end is known afterwards, also of those that said it and
//! ended while nobody was there but their shims.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;

use crate::rig::{Agent, Barrier, Cli, Rig, Server, birth, pid_of, until};

const TASKS: usize = 50;
const LINES: usize = 200;

struct World<'a> {
    server: Server,
    agent: Agent,
    cli: Cli<'a>,
    rig: &'a Rig,
    /// Passed while somebody is dead.
    first: Barrier,
    /// Passed when everybody lives again, by the even ones.
    second: Barrier,
    marks: PathBuf,
}

/// Which process a task is, and with which code it will end.
type Started = BTreeMap<String, (i64, (u32, String))>;

impl World<'_> {
    fn new(rig: &Rig) -> World<'_> {
        let mut server = Server::alone(rig, "server", None);
        let cli = server.first_login(rig);
        let agent = Agent::join(rig, &cli, &server, "node-1");
        let marks = rig.path("marks");
        std::fs::create_dir(&marks).unwrap();
        let (first, second) = (Barrier::new(rig, "first"), Barrier::new(rig, "second"));
        World { server, agent, cli, rig, first, second, marks }
    }

    fn script(&self, number: usize) -> String {
        let mark = |what: &str| self.marks.join(format!("{what}-{number}")).display().to_string();
        let rest = match is_early(number) {
            true => String::new(),
            false => format!("{}; echo late {number}; ", self.second.wait()),
        };
        format!(
            "set -C; true > {ran} || true > {twice}; echo $$; {first}; \
             for n in $(seq {LINES}); do echo {number}.$n; done; true > {said}; {rest}exit {code}",
            ran = mark("ran"),
            twice = mark("twice"),
            first = self.first.wait(),
            said = mark("said"),
            code = code(number),
        )
    }

    fn start(&self) -> Started {
        let scripts: Vec<(String, String)> =
            (1..=TASKS).map(|number| (name(number), self.script(number))).collect();
        self.cli.submit_all(&scripts);
        let tasks = until("all tasks run", || {
            let tasks = self.cli.tasks();
            tasks.values().all(|task| pid_of(task).is_some()).then_some(tasks)
        });
        assert_eq!(tasks.len(), TASKS);
        (1..=TASKS)
            .map(|number| {
                let pid = pid_of(&tasks[&name(number)]).unwrap();
                (name(number), (code(number), birth(pid).expect("it runs")))
            })
            .collect()
    }

    /// Lets the tasks pass the first barrier; half of them end, the others say all they have to say.
    fn speak(&self, started: &Started) {
        until("every task has spoken", || {
            self.first.open();
            let said = |n: usize| self.marks.join(format!("said-{n}")).exists();
            let over = |n: usize| {
                let (_, born) = &started[&name(n)];
                !is_early(n) || birth(born.0).as_ref() != Some(born)
            };
            (1..=TASKS).all(|n| said(n) && over(n)).then_some(())
        });
    }

    /// Everybody lives again: who still runs is who it was, who ended is known to have.
    fn settle(&self, started: &Started) {
        let early: Vec<String> = (1..=TASKS).filter(|n| is_early(*n)).map(name).collect();
        until("the early ends are known", || {
            let tasks = self.cli.tasks();
            early.iter().all(|name| tasks[name]["status"]["exit"].is_object()).then_some(())
        });
        let tasks = self.cli.tasks();
        for number in (1..=TASKS).filter(|n| !is_early(*n)) {
            let (_, born) = &started[&name(number)];
            assert_eq!(pid_of(&tasks[&name(number)]), Some(born.0), "{}", tasks[&name(number)]);
            assert_eq!(birth(born.0).as_ref(), Some(born), "{}", name(number));
        }
        assert_eq!(self.cli.run(&["run", "--", "sh", "-c", "exit 77"]).code, 77);
        let tasks = until("every task has ended", || {
            self.second.open();
            let tasks = self.cli.tasks();
            tasks.values().all(|task| task["status"]["exit"].is_object()).then_some(tasks)
        });
        for (name, (code, born)) in started {
            self.check(&tasks[name], *code, born.0);
        }
        let twice = std::fs::read_dir(&self.marks).unwrap().flatten();
        let twice: Vec<_> = twice.map(|e| e.file_name().into_string().unwrap()).collect();
        assert!(twice.iter().all(|name| !name.starts_with("twice")), "{twice:?}");
        assert_eq!(self.cli.json(&["audit", "verify"])["isIntact"], true);
    }

    fn check(&self, task: &Value, code: i64, pid: u32) {
        let name = task["name"].as_str().unwrap();
        let exit = &task["status"]["exit"];
        assert_eq!((&exit["reason"], &exit["code"]), (&"exited".into(), &code.into()), "{task}");
        let runs = self.cli.json(&["task", "runs", name]);
        assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
        let number: usize = name.trim_start_matches("task-").parse().unwrap();
        let mut expected = format!("{pid}\n");
        expected.extend((1..=LINES).map(|line| format!("{number}.{line}\n")));
        if !is_early(number) {
            expected.push_str(&format!("late {number}\n"));
        }
        assert_eq!(self.cli.ok(&["logs", name]), expected, "{name}");
    }
}

fn name(number: usize) -> String {
    format!("task-{number}")
}

fn code(number: usize) -> i64 {
    i64::try_from(number).unwrap() + 100
}

fn is_early(number: usize) -> bool {
    number % 2 == 1
}

#[test]
fn the_agent_dies() {
    let rig = Rig::new();
    let mut world = World::new(&rig);
    let started = world.start();
    world.agent.process.kill();
    world.speak(&started);
    world.agent.restart(world.rig);
    world.settle(&started);
}

#[test]
fn the_executor_dies() {
    let rig = Rig::new();
    let world = World::new(&rig);
    let started = world.start();
    let before = world.agent.executor();
    world.agent.kill_executor();
    world.speak(&started);
    world.settle(&started);
    assert_ne!(world.agent.executor(), before);
}

#[test]
fn the_server_dies() {
    let rig = Rig::new();
    let mut world = World::new(&rig);
    let started = world.start();
    world.server.process.kill();
    world.speak(&started);
    world.server.restart(world.rig);
    world.settle(&started);
}

#[test]
fn everybody_dies_at_once() {
    let rig = Rig::new();
    let mut world = World::new(&rig);
    let started = world.start();
    let executor = world.agent.executor();
    world.agent.process.kill();
    crate::rig::kill(executor, rustix::process::Signal::KILL);
    world.server.process.kill();
    world.speak(&started);
    world.agent.restart(world.rig);
    world.server.restart(world.rig);
    world.settle(&started);
}
