//! What somebody on the node asks for, and what a stop of the agent leaves.

use hostler_model::Overlap;

use super::*;

fn stopped() -> Exit {
    Exit { reason: ExitReason::Stopped, ..exit(0) }
}

/// Says a command and does what follows; says how many runs were started.
fn say(node: &mut Node, command: Command) -> usize {
    node.write(Record::Commanded { placement: placement(1), command });
    node.settle()
}

fn scheduled(overlap: Overlap) -> WorkloadSpec {
    of_mode(Mode::Schedule(Schedule { overlap, ..Schedule::new("0 0 1 1 *") }))
}

#[test]
fn a_start_leaves_what_runs_alone() {
    for mode in [Mode::Forever, Mode::Times(3), Mode::Once] {
        let mut node = Node::new();
        node.accept(service(1, of_mode(mode.clone())));
        let first = node.live(1);
        let before = node.state.clone();
        assert_eq!((say(&mut node, Command::Start), node.live(1)), (0, first), "{mode:?}");
        assert_eq!((node.stopped.len(), &node.state), (0, &before), "{mode:?}");
    }
}

#[test]
fn a_start_begins_anew_what_is_over_waits_or_is_being_stopped() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Forever)));
    node.fail(1);
    assert_eq!((node.phase(1), say(&mut node, Command::Start)), (Phase::Backoff, 1));
    say(&mut node, Command::Stop);
    assert_eq!((node.phase(1), say(&mut node, Command::Start)), (Phase::Stopping, 0));
    let run = node.live(1)[0];
    node.end(run, stopped());
    assert_eq!((node.phase(1), node.live(1).len()), (Phase::Running, 1));

    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Once)));
    for code in [0, 1] {
        let run = node.live(1)[0];
        node.end(run, exit(code));
        assert_eq!(say(&mut node, Command::Start), 1);
    }
}

#[test]
fn a_start_of_a_schedule_asks_for_a_run_as_its_overlap_policy_lets_it() {
    let both = |overlap| {
        let mut node = Node::new();
        node.accept(service(1, scheduled(overlap)));
        assert_eq!(say(&mut node, Command::Start), 1, "{overlap}: it runs at once");
        let first = node.live(1)[0];
        let started = say(&mut node, Command::Start);
        (node, first, started)
    };
    let (node, first, started) = both(Overlap::Allow);
    assert_eq!((started, node.live(1).len(), node.stopped.len()), (1, 2, 0));
    assert_eq!(node.live(1)[0], first);

    let (mut node, first, started) = both(Overlap::Forbid);
    assert_eq!((started, node.live(1), node.stopped.len()), (0, vec![first], 0));
    node.end(first, exit(0));
    assert_eq!(node.live(1).len(), 1, "when the first one is over");

    let (mut node, first, started) = both(Overlap::Replace);
    assert_eq!((started, node.stopped.clone()), (0, vec![first]));
    node.end(first, stopped());
    assert_eq!(node.live(1).len(), 1);
}

/// What follows a stop of everything together with the agent, by mode and restart policy.
#[test]
fn what_was_stopped_with_its_agent_goes_on_as_its_mode_says() {
    let cron = Mode::Schedule(Schedule::new("0 0 1 1 *"));
    let cases = [
        (Mode::Forever, None, Phase::Running),
        (Mode::Forever, Some(RestartOn::Never), Phase::Running),
        (Mode::Times(2), None, Phase::Running),
        (Mode::Times(1), None, Phase::Completed),
        (Mode::Once, None, Phase::Stopped),
        (Mode::Once, Some(RestartOn::Failure), Phase::Running),
        (cron, None, Phase::Idle),
    ];
    for (mode, on, expected) in cases {
        let mut spec = of_mode(mode.clone());
        spec.restart.on = on;
        let mut node = Node::new();
        node.accept(service(1, spec));
        say(&mut node, Command::Start);
        let run = node.live(1)[0];
        node.end(run, stopped());
        assert_eq!(node.phase(1), expected, "{mode:?} {on:?}");
        if expected == Phase::Stopped {
            let held = &node.state.held[&placement(1)];
            let status = node.state.status(held, &node.volatile).unwrap();
            assert!(status.reason.is_some_and(|reason| reason.contains("with its agent")));
            assert_eq!(node.pass(Duration::from_secs(100_000)), 0);
            assert_eq!(say(&mut node, Command::Start), 1);
        }
    }
}
