//! Freezing a task and letting it go on, with a crash of the agent wherever it may happen.

use hostler_model::ReportState;

use super::*;

fn wish(node: &mut Node, desired: Desired) {
    node.accept(task(1, 1, desired));
}

fn reported(node: &Node, run: RunId) -> ReportState {
    node.state.by_run(run).unwrap().report(run).unwrap().state
}

fn next(state: &AgentState) -> Option<Action> {
    let now = Moment {
        wall: Timestamp::EPOCH,
        mono: Duration::ZERO,
        boot_id: "boot",
        fresh_run: RunId::from_uuid(Uuid::from_u128(9)),
    };
    state.action_for(placement(1), now, &mut Volatile::default())
}

#[test]
fn a_paused_task_is_frozen_and_kept_and_goes_on() {
    let mut node = Node::new();
    wish(&mut node, Desired::Run);
    let run = node.live(1)[0];
    assert!(node.frozen.is_empty());
    wish(&mut node, Desired::Pause);
    assert_eq!((node.frozen[&run], node.live(1)), (true, vec![run]));
    assert!(matches!(reported(&node, run), ReportState::Paused { pid: 7, .. }));
    assert_eq!(next(&node.state), None);
    wish(&mut node, Desired::Run);
    assert!(!node.frozen[&run]);
    assert!(matches!(reported(&node, run), ReportState::Running { pid: 7, .. }));
    assert_eq!((next(&node.state), node.stopped.len()), (None, 0));
}

#[test]
fn a_task_that_waits_to_be_paused_starts_frozen() {
    let mut node = Node::new();
    wish(&mut node, Desired::Pause);
    let run = node.live(1)[0];
    assert!(node.frozen[&run]);
}

#[test]
fn a_paused_task_can_be_stopped_and_can_end() {
    let mut node = Node::new();
    wish(&mut node, Desired::Pause);
    let run = node.live(1)[0];
    wish(&mut node, Desired::Stop);
    assert_eq!(node.stopped, [run]);
    node.end(run, exit(1));
    assert!(node.state.held.is_empty());
    assert_eq!(node.state.frozen_record(run, true), None);
}

#[test]
fn whatever_is_lost_in_between_a_frozen_run_is_not_taken_for_one_that_runs() {
    let mut node = Node::new();
    wish(&mut node, Desired::Run);
    let run = node.live(1)[0];
    let assignments = vec![task(1, 2, Desired::Pause)];
    node.write(Record::Accepted { generation: Generation::from_u64(2), assignments });
    let Some(Action::Write(record)) = next(&node.state) else { panic!("it is written first") };
    node.write(record);
    assert_eq!(next(&node.state), Some(Action::Freeze { run }));

    let mut state = AgentState::default();
    node.state.compacted().iter().for_each(|record| state.apply(record));
    assert_eq!(state, node.state);
    assert_eq!(next(&state), Some(Action::Freeze { run }));
    let assignments = vec![task(1, 3, Desired::Run)];
    state.apply(&Record::Accepted { generation: Generation::from_u64(3), assignments });
    assert_eq!(next(&state), Some(Action::Thaw { run }));
    state.apply(&state.frozen_record(run, false).unwrap());
    assert_eq!((next(&state), state.frozen_record(run, false)), (None, None));
}

#[test]
fn a_service_is_not_paused() {
    let mut node = Node::new();
    node.accept(service(1, of_mode(Mode::Forever)));
    node.accept(Assignment { desired: Desired::Pause, ..service(1, of_mode(Mode::Forever)) });
    assert_eq!((node.phase(1), node.live(1).len()), (Phase::Running, 1));
    assert_eq!((node.stopped.len(), node.frozen.len()), (0, 0));
}
