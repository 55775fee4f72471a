//! Tasks and services through the same fold: tables for what follows what, and random courses.

mod asked;
mod paused;

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_model::{
    Assignment, Dependency, DependencyCondition, Desired, Exit, ExitReason, Generation, Health,
    Mode, Phase, PlacementId, ReportState, Reservation, RestartOn, RestartPolicy, RunId, Schedule,
    Span, Timestamp, WorkloadId, WorkloadSpec,
};
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

/// A node with a clock, whose programs end when the test says so.
struct Node {
    state: AgentState,
    volatile: Volatile,
    wall: Timestamp,
    mono: Duration,
    next: u128,
    written: Vec<Record>,
    stopped: Vec<RunId>,
    /// What the driver was asked to freeze, and what not to.
    frozen: BTreeMap<RunId, bool>,
}

fn placement(n: u128) -> PlacementId {
    PlacementId::from_uuid(Uuid::from_u128(n))
}

fn service(n: u128, spec: WorkloadSpec) -> Assignment {
    Assignment {
        placement_id: placement(n),
        run_id: None,
        desired: Desired::Run,
        generation: Generation::FIRST,
        workload_id: WorkloadId::from_uuid(Uuid::from_u128(n)),
        workload_name: format!("w{n}").parse().unwrap(),
        project_name: "default".parse().unwrap(),
        spec,
        grace: None,
        reservation: Reservation::default(),
        seat: None,
        trace: None,
        revision: Generation::FIRST,
    }
}

fn task(n: u128, generation: u64, desired: Desired) -> Assignment {
    Assignment {
        run_id: Some(RunId::from_uuid(Uuid::from_u128(1000 + n))),
        desired,
        generation: Generation::from_u64(generation),
        ..service(n, WorkloadSpec::command(["true"]))
    }
}

fn of_mode(mode: Mode) -> WorkloadSpec {
    WorkloadSpec {
        mode,
        restart: RestartPolicy { jitter: 0, ..RestartPolicy::default() },
        ..WorkloadSpec::command(["x"])
    }
}

fn exit(code: i32) -> Exit {
    Exit {
        reason: ExitReason::Exited,
        code: Some(code),
        signal: None,
        message: None,
        time: Timestamp::EPOCH,
    }
}

impl Node {
    fn new() -> Node {
        Node {
            state: AgentState::default(),
            volatile: Volatile::default(),
            wall: "2026-03-01T00:00:30Z".parse().unwrap(),
            mono: Duration::from_secs(100),
            next: 1,
            written: Vec::new(),
            stopped: Vec::new(),
            frozen: BTreeMap::new(),
        }
    }

    fn write(&mut self, record: Record) {
        self.state.apply(&record);
        self.written.push(record);
    }

    fn accept(&mut self, assignment: Assignment) {
        let generation = self.state.applied.next();
        let assignments = vec![Assignment { generation, ..assignment }];
        self.write(Record::Accepted { generation, assignments });
        self.settle();
    }

    /// Does everything that is to be done now; says how many runs were started.
    fn settle(&mut self) -> usize {
        let mut started = 0;
        for id in self.state.held.keys().copied().collect::<Vec<_>>() {
            loop {
                let now = Moment {
                    wall: self.wall,
                    mono: self.mono,
                    boot_id: "boot",
                    fresh_run: RunId::from_uuid(Uuid::from_u128(self.next)),
                };
                match self.state.action_for(id, now, &mut self.volatile) {
                    None => break,
                    Some(Action::Write(record)) => self.write(record),
                    Some(Action::Start { run, record }) => {
                        self.next += 1;
                        started += 1;
                        self.write(record);
                        let running = self.state.running_record(run, 7, self.wall).unwrap();
                        self.write(running);
                    }
                    Some(Action::Freeze { run }) => self.freeze(run, true),
                    Some(Action::Thaw { run }) => self.freeze(run, false),
                    Some(Action::Stop { runs }) => {
                        self.stopped.extend(runs);
                        break;
                    }
                }
            }
        }
        started
    }

    fn freeze(&mut self, run: RunId, is_frozen: bool) {
        self.frozen.insert(run, is_frozen);
        let record = self.state.frozen_record(run, is_frozen).unwrap();
        self.write(record);
    }

    fn pass(&mut self, length: Duration) -> usize {
        self.mono += length;
        self.wall = self.wall.plus(length);
        self.settle()
    }

    fn live(&self, n: u128) -> Vec<RunId> {
        let held = &self.state.held[&placement(n)];
        self.state.live(held).map(|(run, _)| run).collect()
    }

    /// Ends a run, and has the server know.
    fn end(&mut self, run: RunId, exit: Exit) {
        let held = self.state.by_run(run).unwrap();
        let since = match held.local {
            Local::Running { since, .. } => Some(since),
            _ => None,
        };
        let exit = Exit { time: self.wall, ..exit };
        let record = self.state.exit_record(run, since, Some(7), exit).unwrap();
        self.write(record);
        self.state.note_end(run, self.wall, self.mono, &mut self.volatile);
        let generation = self.state.by_run(run).unwrap().report_generation;
        self.write(Record::Acknowledged { run, generation });
        self.settle();
    }

    fn fail(&mut self, n: u128) {
        let run = self.live(n)[0];
        self.end(run, exit(1));
    }

    fn phase(&self, n: u128) -> Phase {
        self.state.phase(&self.state.held[&placement(n)], &self.volatile)
    }
}

#[test]
fn newer_is_taken_equal_is_known_and_a_gap_is_refused() {
    let generation = Generation::from_u64;
    let mut state = AgentState::default();
    let first = state.judge(generation(0), generation(2), vec![task(1, 2, Desired::Run)]);
    let Acceptance::Write(record) = first else { panic!("{first:?}") };
    state.apply(&record);
    assert_eq!(state.judge(generation(0), generation(2), vec![]), Acceptance::Known);
    assert_eq!(state.judge(generation(1), generation(1), vec![]), Acceptance::Known);
    assert_eq!(state.judge(generation(3), generation(4), vec![]), Acceptance::Gap);
}

#[test]
fn a_task_goes_from_wish_to_forgotten() {
    let mut node = Node::new();
    node.accept(task(1, 1, Desired::Run));
    let run = node.live(1)[0];
    assert_eq!(node.state.reports().len(), 1);
    node.accept(task(1, 2, Desired::Stop));
    assert_eq!(node.stopped, [run]);
    let record = node.state.exit_record(run, None, None, exit(0)).unwrap();
    node.write(record);
    node.settle();
    assert_eq!(node.state.held.len(), 1, "not before it is acknowledged");
    node.write(Record::Acknowledged { run, generation: Generation::from_u64(2) });
    node.settle();
    assert_eq!(
        node.state,
        AgentState { applied: Generation::from_u64(2), ..AgentState::default() }
    );
}

#[test]
fn a_task_that_is_stopped_before_it_ran_never_runs() {
    let mut node = Node::new();
    node.accept(task(1, 1, Desired::Stop));
    assert!(
        matches!(&node.state.reports()[0].state, ReportState::Exited { started: None, exit, .. } if exit.reason == ExitReason::Stopped)
    );
}

#[test]
fn recovery_starts_again_only_what_certainly_never_ran() {
    let mut state = AgentState::default();
    let run = RunId::from_uuid(Uuid::from_u128(1001));
    state.apply(&Record::Accepted {
        generation: Generation::FIRST,
        assignments: vec![task(1, 1, Desired::Run)],
    });
    state.apply(&Record::Starting { run, boot_id: "boot-1".into() });
    let now = Timestamp::EPOCH;
    assert_eq!(state.recover(run, Finding::NeverStarted, "boot-1", now), None);
    let other_boot = state.recover(run, Finding::NeverStarted, "boot-2", now).unwrap();
    assert!(
        matches!(other_boot, Record::Observed { state: ReportState::Exited { exit, .. }, .. } if exit.reason == ExitReason::Vanished)
    );
}

#[test]
fn forever_starts_again_with_growing_waits_that_a_good_run_resets() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Forever)));
    let mut waits = Vec::new();
    for _ in 0..5 {
        node.fail(1);
        assert_eq!(node.phase(1), Phase::Backoff);
        let mut wait = 0;
        while node.pass(Duration::from_millis(500)) == 0 {
            wait += 1;
        }
        waits.push((wait + 1) / 2);
    }
    assert_eq!(waits, [1, 2, 4, 8, 16]);
    node.pass(Duration::from_secs(61));
    node.fail(1);
    assert_eq!(node.pass(Duration::from_secs(1)), 1, "it counts anew");
    let held = &node.state.held[&placement(1)];
    let status = node.state.status(held, &node.volatile).unwrap();
    assert_eq!((status.phase, status.runs, status.failures), (Phase::Running, 7, 1));
}

#[test]
fn times_runs_so_many_times_and_a_restart_counts_anew() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Times(3))));
    for code in [0, 1] {
        let run = node.live(1)[0];
        node.end(run, exit(code));
        node.pass(Duration::from_secs(5));
    }
    let run = node.live(1)[0];
    node.end(run, exit(1));
    assert_eq!(node.pass(Duration::from_secs(500)), 0);
    assert_eq!(node.phase(1), Phase::Completed);
    let command = Command::Start;
    node.write(Record::Commanded { placement: placement(1), command });
    assert_eq!(node.settle(), 1);
}

#[test]
fn once_is_complete_or_failed_and_is_tried_again_only_where_the_policy_says_so() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Once)));
    let mut retry = of_mode(Mode::Once);
    retry.restart.on = Some(RestartOn::Failure);
    node.accept(service(2, retry));
    node.accept(service(3, of_mode(Mode::Once)));
    node.fail(1);
    node.fail(2);
    let run = node.live(3)[0];
    node.end(run, exit(0));
    node.pass(Duration::from_secs(5));
    assert_eq!(
        (node.phase(1), node.phase(2), node.phase(3)),
        (Phase::Failed, Phase::Running, Phase::Completed)
    );
}

#[test]
fn a_stop_by_hand_holds_until_a_start_or_a_change() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Forever)));
    let first = node.live(1)[0];
    let say = |node: &mut Node, command| {
        node.write(Record::Commanded { placement: placement(1), command });
        node.settle()
    };
    say(&mut node, Command::Stop);
    assert_eq!((node.stopped.clone(), node.phase(1)), (vec![first], Phase::Stopping));
    node.end(first, Exit { reason: ExitReason::Stopped, ..exit(0) });
    assert_eq!((node.pass(Duration::from_secs(1000)), node.phase(1)), (0, Phase::Stopped));
    assert_eq!(say(&mut node, Command::Start), 1);
    let second = node.live(1)[0];
    say(&mut node, Command::Restart);
    assert_eq!(node.stopped, [first, second]);
    node.end(second, Exit { reason: ExitReason::Stopped, ..exit(0) });
    assert_eq!(node.phase(1), Phase::Running, "a replacement waits for nothing");
    say(&mut node, Command::Stop);
    let third = node.live(1)[0];
    node.end(third, Exit { reason: ExitReason::Stopped, ..exit(0) });
    node.accept(Assignment {
        revision: Generation::from_u64(2),
        ..service(1, of_mode(Mode::Forever))
    });
    assert_eq!(node.phase(1), Phase::Running);
}

#[test]
fn a_changed_spec_replaces_what_runs_and_an_unchanged_one_does_not() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Forever)));
    let first = node.live(1)[0];
    node.accept(service(1, of_mode(Mode::Forever)));
    assert_eq!((node.live(1), node.stopped.len()), (vec![first], 0));
    node.accept(Assignment {
        revision: Generation::from_u64(2),
        ..service(1, of_mode(Mode::Forever))
    });
    assert_eq!(node.stopped, [first]);
    node.end(first, Exit { reason: ExitReason::Stopped, ..exit(0) });
    assert_ne!(node.live(1), [first]);
    assert_eq!(node.live(1).len(), 1);
}

#[test]
fn what_is_removed_stops_and_says_so() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Forever)));
    let run = node.live(1)[0];
    node.accept(Assignment { desired: Desired::Remove, ..service(1, of_mode(Mode::Forever)) });
    assert_eq!((node.stopped.clone(), node.phase(1)), (vec![run], Phase::Stopping));
    node.end(run, Exit { reason: ExitReason::Stopped, ..exit(0) });
    assert_eq!(node.phase(1), Phase::Removed);
    node.write(Record::Forgotten { placement: placement(1) });
    assert!(node.state.held.is_empty());
}

#[test]
fn too_many_restarts_within_the_window_are_given_up() {
    let mut spec = of_mode(Mode::Forever);
    spec.restart.delay = Span::from_millis(0);
    spec.restart.attempts = Some(3);
    let mut node = Node::new();
    node.accept(service(1, spec));
    for _ in 0..4 {
        node.fail(1);
        node.pass(Duration::from_secs(10));
    }
    assert_eq!((node.phase(1), node.live(1).len()), (Phase::Failed, 0));
    assert_eq!(node.pass(Duration::from_secs(100_000)), 0);
    node.write(Record::Commanded { placement: placement(1), command: Command::Start });
    assert_eq!(node.settle(), 1);
}

#[test]
fn dependencies_are_waited_for() {
    let mut web = of_mode(Mode::Forever);
    let need =
        |n: u128, condition| Dependency { workload: format!("w{n}").parse().unwrap(), condition };
    web.depends =
        vec![need(2, DependencyCondition::Healthy), need(3, DependencyCondition::Completed)];
    let mut node = Node::new();
    node.accept(service(1, web));
    assert_eq!(node.phase(1), Phase::Waiting);
    node.accept(service(2, of_mode(Mode::Forever)));
    node.accept(service(3, of_mode(Mode::Once)));
    assert_eq!(node.phase(1), Phase::Waiting);
    let setup = node.live(3)[0];
    node.end(setup, exit(0));
    assert_eq!(node.phase(1), Phase::Waiting);
    let database = node.live(2)[0];
    assert!(node.state.note_health(database, Health::Healthy, None, &mut node.volatile));
    assert_eq!(node.settle(), 1);
    assert_eq!(node.phase(1), Phase::Running);
}

#[test]
fn schedules_fire_and_a_run_can_be_asked_for_in_between() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Schedule(Schedule::new("* * * * *")))));
    assert_eq!((node.phase(1), node.live(1).len()), (Phase::Idle, 0));
    assert_eq!(node.pass(Duration::from_secs(31)), 1);
    let run = node.live(1)[0];
    let origin = node.state.by_run(run).unwrap().origin.unwrap();
    assert_eq!(origin.fire.unwrap().to_string(), "2026-03-01T00:01:00.000000Z");
    node.end(run, exit(1));
    assert_eq!((node.phase(1), node.settle()), (Phase::Idle, 0), "no restart before its time");
    node.write(Record::Commanded { placement: placement(1), command: Command::Start });
    assert_eq!(node.settle(), 1);
    let run = node.live(1)[0];
    assert_eq!(node.pass(Duration::from_secs(60)), 0, "the last one still runs");
    node.end(run, exit(0));
    let held = &node.state.held[&placement(1)];
    assert_eq!(node.state.status(held, &node.volatile).unwrap().missed, 1);
}

#[test]
fn restarts_are_counted_by_what_ended_the_run_before() {
    let mut node = Node::new();
    let mut spec = of_mode(Mode::Forever);
    spec.restart.delay = Span::from_millis(0);
    node.accept(service(1, spec.clone()));
    let killed = || Exit { reason: ExitReason::OutOfMemory, ..exit(137) };
    for end in [exit(1), killed(), exit(0), killed(), killed()] {
        let run = node.live(1)[0];
        node.end(run, end);
        node.pass(Duration::from_secs(400));
    }
    let counted = |node: &Node| {
        let held = &node.state.held[&placement(1)];
        node.state.status(held, &node.volatile).unwrap().restarts
    };
    let expected = BTreeMap::from([(ExitReason::Exited, 2), (ExitReason::OutOfMemory, 3)]);
    assert_eq!(counted(&node), expected);
    node.accept(Assignment { revision: Generation::FIRST.next(), ..service(1, spec) });
    let run = node.stopped.last().copied().unwrap();
    node.end(run, Exit { reason: ExitReason::Stopped, ..exit(0) });
    node.settle();
    assert_eq!(counted(&node), expected, "what somebody asked for is no restart");
}

#[test]
fn ends_that_nobody_hears_of_are_bounded_and_counted() {
    let mut node = Node::new();
    let mut spec = of_mode(Mode::Forever);
    spec.restart.reset_after = Span::from_millis(0);
    spec.restart.delay = Span::from_millis(0);
    node.accept(service(1, spec));
    for _ in 0..300 {
        let run = node.live(1)[0];
        let record = node.state.exit_record(run, None, None, exit(1)).unwrap();
        node.write(record);
        node.state.note_end(run, node.wall, node.mono, &mut node.volatile);
        node.pass(Duration::from_secs(1));
    }
    let held = &node.state.held[&placement(1)];
    let status = node.state.status(held, &node.volatile).unwrap();
    assert!(held.runs.len() <= 202, "{}", held.runs.len());
    assert_eq!(status.untold + held.runs.len() as u64, 301);
}

proptest! {
    /// Whatever happens: one live run at a time, never two runs of one id, and what is written folds to
    /// the same state, from the beginning, again, and compacted.
    #[test]
    fn random_courses(steps in prop::collection::vec((0u8..9, 1u128..4, 0u64..90), 0..120)) {
        let mut node = Node::new();
        let modes = [Mode::Forever, Mode::Times(2), Mode::Schedule(Schedule::new("*/2 * * * *"))];
        let mut revision = Generation::FIRST;
        for (kind, n, amount) in steps {
            let mode = modes[usize::try_from(n - 1).unwrap()].clone();
            match kind {
                0 => node.accept(service(n, of_mode(mode))),
                1 => {
                    revision = revision.next();
                    node.accept(Assignment { revision, ..service(n, of_mode(mode)) });
                }
                2 => node.accept(Assignment { desired: Desired::Stop, revision, ..service(n, of_mode(mode)) }),
                3 => node.accept(Assignment { desired: Desired::Remove, revision, ..service(n, of_mode(mode)) }),
                4 | 5 => {
                    node.pass(Duration::from_secs(amount));
                }
                6 => {
                    let held = node.state.held.get(&placement(n));
                    let live = held.and_then(|held| node.state.live(held).next().map(|(run, _)| run));
                    if let Some(run) = live {
                        let is_stopped = node.stopped.contains(&run);
                        let reason = if is_stopped { ExitReason::Stopped } else { ExitReason::Exited };
                        node.end(run, Exit { reason, ..exit(i32::try_from(amount % 2).unwrap()) });
                    }
                }
                7 => {
                    let command = [Command::Start, Command::Stop, Command::Restart][usize::try_from(amount % 3).unwrap()];
                    node.write(Record::Commanded { placement: placement(n), command });
                    node.settle();
                }
                _ => {
                    let held = node.state.held.get(&placement(n));
                    if held.is_some_and(|held| node.state.phase(held, &node.volatile) == Phase::Removed) {
                        node.write(Record::Forgotten { placement: placement(n) });
                    }
                }
            }
            for held in node.state.held.values() {
                prop_assert!(node.state.live(held).count() <= 1);
            }
        }
        let launched: Vec<RunId> = node.written.iter().filter_map(|record| match record {
            Record::Launched { run, .. } => Some(*run),
            _ => None,
        }).collect();
        let mut unique = launched.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), launched.len());
        let mut again = AgentState::default();
        for record in &node.written {
            again.apply(record);
        }
        prop_assert_eq!(&again, &node.state);
        let mut compact = AgentState::default();
        for record in node.state.compacted().iter().chain(&node.state.compacted()) {
            compact.apply(&serde_json::from_str(&serde_json::to_string(record).unwrap()).unwrap());
        }
        prop_assert_eq!(&compact, &node.state);
    }
}
