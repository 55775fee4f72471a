use hostler_model::workflow::{Compensation, Retry, Step, WorkflowConfig};
use proptest::prelude::*;

use super::*;

fn step(name: &str, on: &[&str]) -> Step {
    Step {
        name: name.into(),
        depends_on: on.iter().map(|s| (*s).into()).collect(),
        ..Step::default()
    }
}

fn workflow(steps: Vec<Step>) -> Workflow {
    Workflow { name: "w".into(), steps, ..Workflow::default() }
}

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

fn starts(actions: &[Action]) -> Vec<usize> {
    actions
        .iter()
        .filter_map(|action| match action {
            Action::Start { step, .. } => Some(*step),
            _ => None,
        })
        .collect()
}

/// Runs an execution to its end; `end` says how each try ends. Gives the outcome and how each step stands.
fn run(
    workflow: Workflow,
    mut end: impl FnMut(&str, u32) -> StepEnd,
) -> (ExecutionOutcome, Vec<Standing>, Vec<String>) {
    let (mut course, actions) = Course::begin(workflow, Options::default());
    let mut queue: std::collections::VecDeque<Action> = actions.into();
    let mut now = 0;
    let mut told = Vec::new();
    loop {
        match queue.pop_front() {
            Some(Action::Start { step, attempt }) => {
                now += 1;
                let name = course.workflow().steps[step].name.clone();
                let how = end(&name, attempt);
                told.push(format!("{name}#{attempt} {how}"));
                queue.extend(course.ended(step, how, ms(now)));
            }
            Some(Action::Undo { step }) => {
                told.push(format!("undo {}", course.workflow().steps[step].name));
                queue.extend(course.undone(step, ms(now)));
            }
            Some(Action::Finish { outcome }) => {
                let standing = (0..course.standing.len()).map(|i| course.standing(i)).collect();
                return (outcome, standing, told);
            }
            Some(_) => {}
            None => {
                let due = course.next_due().expect("something is due or it is over");
                now = now.max(due.millis());
                queue.extend(course.tick(ms(now)));
            }
        }
    }
}

#[test]
fn what_is_given_up_is_not_tried_again() {
    let flaky = Step { retry: Retry { retries: 3, ..Retry::default() }, ..step("flaky", &[]) };
    for (is_given_up, expected) in [(false, 1), (true, 0)] {
        let graph = workflow(vec![flaky.clone(), step("next", &["flaky"])]);
        let (mut course, _) = Course::begin(graph, Options::default());
        let actions = match is_given_up {
            true => course.given_up(0, StepEnd::Failed, ms(1)),
            false => course.ended(0, StepEnd::Failed, ms(1)),
        };
        let again = actions.iter().filter(|action| matches!(action, Action::Again { .. })).count();
        assert_eq!(again, expected, "{actions:?}");
        assert_eq!(course.outcome().is_some(), is_given_up);
    }
}

#[test]
fn what_can_run_at_once_does_and_the_rest_follows() {
    let graph =
        workflow(vec![step("a", &[]), step("b", &[]), step("c", &["a", "b"]), step("d", &["a"])]);
    let (mut course, actions) = Course::begin(graph, Options::default());
    assert_eq!(starts(&actions), [0, 1]);
    assert_eq!(starts(&course.ended(0, StepEnd::Succeeded, ms(1))), [3]);
    assert_eq!(starts(&course.ended(1, StepEnd::Succeeded, ms(2))), [2]);
    assert_eq!(course.ended(3, StepEnd::Succeeded, ms(3)), []);
    assert_eq!(
        course.ended(2, StepEnd::Succeeded, ms(4)),
        [Action::Finish { outcome: ExecutionOutcome::Succeeded }]
    );
}

#[test]
fn only_so_many_run_at_once_and_those_in_the_background_do_not_count() {
    let mut steps: Vec<Step> = ["a", "b", "c", "d"].map(|name| step(name, &[])).to_vec();
    steps[3].background = true;
    let mut graph = workflow(steps);
    graph.config.max_parallel = Some(2);
    let (mut course, actions) = Course::begin(graph, Options::default());
    assert_eq!(starts(&actions), [0, 1, 3]);
    assert_eq!(starts(&course.ended(3, StepEnd::Succeeded, ms(1))), Vec::<usize>::new());
    assert_eq!(starts(&course.ended(1, StepEnd::Succeeded, ms(1))), [2]);
}

#[test]
fn a_failure_is_felt_however_far_away_and_others_go_on() {
    let graph =
        workflow(vec![step("a", &[]), step("b", &["a"]), step("c", &["b"]), step("other", &[])]);
    let (outcome, standing, _) =
        run(graph, |name, _| if name == "a" { StepEnd::Failed } else { StepEnd::Succeeded });
    assert_eq!(outcome, ExecutionOutcome::Failed);
    assert_eq!(
        standing,
        [
            Standing::Ended(StepEnd::Failed),
            Standing::Skipped(SkipReason::Dependency),
            Standing::Skipped(SkipReason::Dependency),
            Standing::Ended(StepEnd::Succeeded)
        ]
    );
}

#[test]
fn one_whose_condition_does_not_hold_counts_as_done() {
    let graph = workflow(vec![step("maybe", &[]), step("after", &["maybe"])]);
    let (outcome, standing, _) =
        run(graph, |name, _| if name == "maybe" { StepEnd::Skipped } else { StepEnd::Succeeded });
    assert_eq!(outcome, ExecutionOutcome::Succeeded);
    assert_eq!(standing[1], Standing::Ended(StepEnd::Succeeded));
}

#[test]
fn who_is_there_for_a_failure_runs_only_then() {
    let graph = || {
        let mut recover = step("recover", &[]);
        recover.after_failure_of = vec!["a".into()];
        workflow(vec![step("a", &[]), recover, step("final", &["recover"])])
    };
    let (outcome, standing, _) =
        run(graph(), |name, _| if name == "a" { StepEnd::Failed } else { StepEnd::Succeeded });
    assert_eq!(outcome, ExecutionOutcome::Failed);
    assert_eq!(standing[2], Standing::Ended(StepEnd::Succeeded));
    let (outcome, standing, _) = run(graph(), |_, _| StepEnd::Succeeded);
    assert_eq!(outcome, ExecutionOutcome::Succeeded);
    assert_eq!(standing[1], Standing::Skipped(SkipReason::NoFailure));
    assert_eq!(standing[2], Standing::Skipped(SkipReason::Dependency));
}

#[test]
fn what_fails_is_tried_again_and_no_more_often_than_allowed() {
    let mut flaky = step("flaky", &[]);
    flaky.retry = Retry { retries: 2, ..Retry::default() };
    let (outcome, _, told) = run(workflow(vec![flaky.clone()]), |_, attempt| {
        if attempt < 3 { StepEnd::Failed } else { StepEnd::Succeeded }
    });
    assert_eq!(outcome, ExecutionOutcome::Succeeded);
    assert_eq!(told, ["flaky#1 failed", "flaky#2 failed", "flaky#3 succeeded"]);
    let (outcome, _, told) = run(workflow(vec![flaky]), |_, _| StepEnd::TimedOut);
    assert_eq!((outcome, told.len()), (ExecutionOutcome::Failed, 3));
}

#[test]
fn what_nobody_knows_is_not_tried_again() {
    let mut unsure = step("unsure", &[]);
    unsure.retry = Retry { retries: 5, ..Retry::default() };
    let (outcome, _, told) = run(workflow(vec![unsure]), |_, _| StepEnd::Uncertain);
    assert_eq!((outcome, told.len()), (ExecutionOutcome::Failed, 1));
}

#[test]
fn steps_and_executions_that_take_too_long_are_stopped() {
    let mut slow = step("slow", &[]);
    slow.timeout = Some(ms(100));
    let mut graph = workflow(vec![slow, step("next", &["slow"])]);
    graph.config.timeout = Some(ms(500));
    let (mut course, _) = Course::begin(graph, Options::default());
    assert_eq!(course.next_due(), Some(ms(100)));
    assert_eq!(course.tick(ms(100)), [Action::Stop { step: 0, end: StepEnd::TimedOut }]);
    let actions = course.ended(0, StepEnd::TimedOut, ms(101));
    assert_eq!(
        actions,
        [
            Action::Skip { step: 1, reason: SkipReason::Dependency },
            Action::Finish { outcome: ExecutionOutcome::Failed }
        ]
    );

    let mut graph = workflow(vec![step("slow", &[]), step("next", &["slow"])]);
    graph.config.timeout = Some(ms(500));
    let (mut course, _) = Course::begin(graph, Options::default());
    assert_eq!(
        course.tick(ms(500)),
        [
            Action::Stop { step: 0, end: StepEnd::Cancelled },
            Action::Skip { step: 1, reason: SkipReason::Ended }
        ]
    );
    assert_eq!(
        course.ended(0, StepEnd::Cancelled, ms(501)),
        [Action::Finish { outcome: ExecutionOutcome::TimedOut }]
    );
}

#[test]
fn an_abort_and_a_first_failure_end_everything() {
    let ended = |config: WorkflowConfig, end: StepEnd| {
        let mut graph = workflow(vec![step("a", &[]), step("long", &[]), step("later", &["long"])]);
        graph.config = config;
        let (mut course, _) = Course::begin(graph, Options::default());
        course.ended(0, end, ms(1))
    };
    let everything = [
        Action::Stop { step: 1, end: StepEnd::Cancelled },
        Action::Skip { step: 2, reason: SkipReason::Ended },
    ];
    let fast = WorkflowConfig { fail_fast: true, ..WorkflowConfig::default() };
    assert_eq!(ended(fast, StepEnd::Failed), everything);
    assert_eq!(ended(WorkflowConfig::default(), StepEnd::Aborted), everything);
    assert_eq!(ended(WorkflowConfig::default(), StepEnd::Failed), []);
}

#[test]
fn one_that_may_fail_stops_nobody() {
    let mut graph = workflow(vec![step("lint", &[]), step("build", &["lint"])]);
    graph.steps[0].may_fail = true;
    graph.config.fail_fast = true;
    let (outcome, standing, _) =
        run(graph, |name, _| if name == "lint" { StepEnd::Failed } else { StepEnd::Succeeded });
    assert_eq!(outcome, ExecutionOutcome::Succeeded);
    assert_eq!(standing[1], Standing::Ended(StepEnd::Succeeded));
}

#[test]
fn what_was_done_is_undone_the_last_first() {
    let mut steps = vec![step("a", &[]), step("b", &["a"]), step("c", &["b"]), step("d", &["c"])];
    for i in [0, 2] {
        steps[i].compensation = Some(Compensation::Function);
    }
    let mut graph = workflow(steps);
    graph.config.on_failure = OnFailure::Compensate;
    let (outcome, _, told) =
        run(
            graph.clone(),
            |name, _| if name == "d" { StepEnd::Failed } else { StepEnd::Succeeded },
        );
    assert_eq!(outcome, ExecutionOutcome::Failed);
    assert_eq!(told[4..], ["undo c", "undo a"]);
    let (_, _, told) = run(graph, |_, _| StepEnd::Succeeded);
    assert_eq!(told.len(), 4);
}

#[test]
fn only_what_is_asked_for_runs_with_what_it_needs() {
    let graph =
        workflow(vec![step("a", &[]), step("b", &["a"]), step("c", &["b"]), step("x", &[])]);
    let options = Options { only: Some(BTreeSet::from([1])), ..Options::default() };
    let (mut course, actions) = Course::begin(graph, options);
    assert_eq!(starts(&actions), [0]);
    assert_eq!(starts(&course.ended(0, StepEnd::Succeeded, ms(1))), [1]);
    let last = course.ended(1, StepEnd::Succeeded, ms(2));
    assert_eq!(last, [Action::Finish { outcome: ExecutionOutcome::Succeeded }]);
}

#[test]
fn what_is_over_is_not_done_again() {
    let graph = workflow(vec![step("a", &[]), step("b", &["a"]), step("c", &["a"])]);
    let over = [(0, Standing::Ended(StepEnd::Succeeded)), (1, Standing::Ended(StepEnd::Uncertain))];
    let (mut course, actions) =
        Course::resume(graph, Options::default(), &over, &BTreeSet::new(), ms(5));
    assert_eq!(actions, [Action::Start { step: 2, attempt: 1 }]);
    assert_eq!(
        course.ended(2, StepEnd::Succeeded, ms(6)),
        [Action::Finish { outcome: ExecutionOutcome::Failed }]
    );
}

#[test]
fn what_is_under_way_or_rests_goes_on() {
    let mut graph = workflow(vec![step("a", &[]), step("b", &[]), step("c", &["a", "b"])]);
    graph.steps[0].retry.retries = 3;
    graph.steps[1].retry.retries = 3;
    let known = [
        (0, Standing::Running { attempt: 2, since: ms(10) }),
        (1, Standing::Resting { attempt: 3, until: ms(50) }),
    ];
    let (mut course, actions) =
        Course::resume(graph, Options::default(), &known, &BTreeSet::new(), ms(20));
    assert_eq!(actions, []);
    assert_eq!(course.next_due(), Some(ms(50)));
    assert_eq!(course.tick(ms(50)), [Action::Start { step: 1, attempt: 3 }]);
    course.ended(0, StepEnd::Succeeded, ms(51));
    let last = course.ended(1, StepEnd::Succeeded, ms(52));
    assert_eq!(last, [Action::Start { step: 2, attempt: 1 }]);
}

/// Whoever takes an execution up while it is being ended knows why it ends.
#[test]
fn why_it_was_stopped_is_known_afterwards() {
    let mut graph = workflow(vec![step("a", &[]), step("b", &["a"])]);
    graph.config.timeout = Some(ms(100));
    let begun = [(0, Standing::Running { attempt: 1, since: ms(0) })];
    let stop = Action::Stop { step: 0, end: StepEnd::Cancelled };
    let skip = Action::Skip { step: 1, reason: SkipReason::Ended };
    for (at, is_cancelled, outcome) in
        [(50, true, ExecutionOutcome::Cancelled), (150, false, ExecutionOutcome::TimedOut)]
    {
        let options = Options { is_cancelled, ..Options::default() };
        let (mut course, actions) =
            Course::resume(graph.clone(), options.clone(), &begun, &BTreeSet::new(), ms(at));
        assert_eq!(actions, [stop.clone(), skip.clone()]);
        let last = course.ended(0, StepEnd::Cancelled, ms(at + 1));
        assert_eq!(last, [Action::Finish { outcome }]);
        let over: Vec<_> = (0..2).map(|i| (i, course.standing(i))).collect();
        let (_, actions) =
            Course::resume(graph.clone(), options, &over, &BTreeSet::new(), ms(at + 2));
        assert_eq!(actions, [Action::Finish { outcome }]);
    }
    let alone = [(0, Standing::Ended(StepEnd::Cancelled))];
    let (_, actions) =
        Course::resume(graph.clone(), Options::default(), &alone, &BTreeSet::new(), ms(9));
    let finish = Action::Finish { outcome: ExecutionOutcome::Cancelled };
    assert_eq!(actions.last(), Some(&finish), "somebody killed the one step");
    let done = [0, 1].map(|i| (i, Standing::Ended(StepEnd::Succeeded)));
    let (_, actions) = Course::resume(graph, Options::default(), &done, &BTreeSet::new(), ms(200));
    let finish = Action::Finish { outcome: ExecutionOutcome::Succeeded };
    assert_eq!(actions, [finish], "what is done is not late because nobody looked");
}

#[test]
fn what_was_undone_is_not_undone_again() {
    let mut graph = workflow(vec![step("a", &[]), step("b", &[]), step("c", &["a", "b"])]);
    graph.config.on_failure = OnFailure::Compensate;
    for step in &mut graph.steps {
        step.compensation = Some(Compensation::Function);
    }
    // The order in which they ended, not that of the definition.
    let known = [
        (1, Standing::Ended(StepEnd::Succeeded)),
        (0, Standing::Ended(StepEnd::Succeeded)),
        (2, Standing::Ended(StepEnd::Failed)),
    ];
    let resume = |undone: &[usize]| {
        let undone = undone.iter().copied().collect();
        Course::resume(graph.clone(), Options::default(), &known, &undone, ms(9))
    };
    let (mut course, actions) = resume(&[]);
    assert_eq!(actions, [Action::Undo { step: 0 }]);
    assert_eq!(course.tick(ms(10)), [], "it is asked for once");
    assert_eq!(course.undone(0, ms(11)), [Action::Undo { step: 1 }]);
    let (mut course, actions) = resume(&[0]);
    assert_eq!(actions, [Action::Undo { step: 1 }]);
    let last = course.undone(1, ms(12));
    assert_eq!(last, [Action::Finish { outcome: ExecutionOutcome::Failed }]);
}

#[test]
fn nothing_to_do_is_done() {
    let (course, actions) = Course::begin(workflow(Vec::new()), Options::default());
    assert_eq!(actions, [Action::Finish { outcome: ExecutionOutcome::Succeeded }]);
    assert_eq!(course.outcome(), Some(ExecutionOutcome::Succeeded));
}

proptest! {
    /// Whatever the graph, however steps end and however often whoever performs it is replaced by another: it ends,
    /// nothing begins before what it depends on succeeded, nothing is begun twice, no more than allowed run at once, and
    /// every step is over exactly once.
    #[test]
    fn every_execution_ends_in_order(
        edges in prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..4), 1..24),
        ends in prop::collection::vec(0..6_u8, 24 * 4),
        places in prop::option::of(1..5_u32),
        fail_fast in any::<bool>(),
        retries in 0..3_u32,
        restarts in prop::collection::vec(prop::bool::weighted(0.3), 24),
    ) {
        let steps = edges.iter().enumerate().map(|(i, on)| {
            let mut made = step(&format!("s{i}"), &[]);
            if i > 0 {
                made.depends_on = on.iter().map(|index| format!("s{}", index.index(i))).collect();
                made.depends_on.sort();
                made.depends_on.dedup();
            }
            made.retry = Retry { retries, ..Retry::default() };
            made
        }).collect();
        let mut graph = workflow(steps);
        graph.config.max_parallel = places;
        graph.config.fail_fast = fail_fast;
        let (mut course, actions) = Course::begin(graph.clone(), Options::default());
        let mut running: Vec<usize> = Vec::new();
        let mut over = vec![0; course.standing.len()];
        let mut queue = actions;
        let mut now = 0;
        let mut turn = 0;
        let outcome = loop {
            let mut outcome = None;
            for action in std::mem::take(&mut queue) {
                match action {
                    Action::Start { step, .. } => {
                        for name in &course.workflow().steps[step].depends_on {
                            let i = course.workflow().position(name).unwrap();
                            prop_assert!(matches!(course.standing(i), Standing::Ended(StepEnd::Succeeded | StepEnd::Skipped)));
                        }
                        prop_assert!(!running.contains(&step), "begun twice");
                        running.push(step);
                    }
                    Action::Stop { step, end } => {
                        if let Some(at) = running.iter().position(|other| *other == step) {
                            running.swap_remove(at);
                            over[step] += 1;
                            queue.extend(course.ended(step, end, ms(now)));
                        }
                    }
                    Action::Skip { step, .. } => over[step] += 1,
                    Action::Finish { outcome: how } => outcome = Some(how),
                    Action::Again { .. } | Action::Undo { .. } => {}
                }
            }
            if let Some(places) = places {
                prop_assert!(running.len() <= places as usize);
            }
            if let Some(outcome) = outcome {
                break outcome;
            }
            if !queue.is_empty() {
                continue;
            }
            turn += 1;
            prop_assert!(turn < 2000, "it goes on for ever");
            if restarts[turn % restarts.len()] {
                let known: Vec<(usize, Standing)> =
                    (0..over.len()).map(|i| (i, course.standing(i))).collect();
                let (next, again) =
                    Course::resume(graph.clone(), Options::default(), &known, &BTreeSet::new(), ms(now));
                let is_new = again.iter().any(|action| !matches!(action, Action::Stop { .. }));
                prop_assert!(!is_new, "{again:?}");
                course = next;
            }
            if let Some(step) = running.pop() {
                let how = [StepEnd::Succeeded, StepEnd::Succeeded, StepEnd::Failed, StepEnd::Skipped, StepEnd::TimedOut, StepEnd::Succeeded]
                    [usize::from(ends[turn % ends.len()])];
                queue = course.ended(step, how, ms(now));
                if course.standing(step).is_over() {
                    over[step] += 1;
                }
            } else {
                let due = course.next_due();
                prop_assert!(due.is_some(), "nothing runs and nothing is due");
                now = now.max(due.unwrap().millis());
                queue = course.tick(ms(now));
            }
        };
        prop_assert!(running.is_empty());
        prop_assert!(over.iter().all(|times| *times == 1), "{over:?}");
        prop_assert_eq!(course.outcome(), Some(outcome));
    }
}
