//! How the work grows.

use hostler_model::stack::{StackAction, StackOptions};

use super::*;

/// Every deed is done at once. Gives how often something was touched, for what is made, looked at again, and removed.
fn run(lines: &[(String, Vec<String>)]) -> [u64; 3] {
    let wanted = |number: u128| Goal {
        definition: Some(definition(number)),
        wanted: lines
            .iter()
            .map(|(name, requires)| Wanted {
                name: name.clone(),
                requires: requires.clone(),
                ..Wanted::default()
            })
            .collect(),
        ..Goal::default()
    };
    let mut stack = new_stack();
    let mut rows = Vec::new();
    [
        (StackAction::Create, wanted(1)),
        (StackAction::Update, wanted(2)),
        (StackAction::Delete, empty()),
    ]
    .map(|(action, goal)| {
        let verdict =
            if action == StackAction::Create { Verdict::Create } else { Verdict::Unchanged };
        stack.options = StackOptions::default();
        begin(&mut stack, action, goal.definition, at(0));
        let given = std::mem::take(&mut rows);
        let mut course = Course::new(stack.clone(), goal, given, hands(1, 7), at(0)).unwrap();
        let mut steps = 0;
        while let Some(step) = course.next_step() {
            steps += 1;
            match step {
                Step::Examine { row } => course.examined(row, verdict.clone()),
                Step::Begin { deed, .. } | Step::Carry { deed, .. } => {
                    course.told(deed, Outcome::Done);
                }
                Step::Pause { .. } => {}
            }
        }
        assert_eq!(course.ended(), Some(Ended::Complete));
        let each = if action == StackAction::Create { 2 } else { 1 };
        assert_eq!(steps, lines.len() * each);
        let changes = course.take_changes();
        rows = changes.rows.into_iter().map(|changed| changed.resource).collect();
        stack = course.stack().clone();
        course.touches()
    })
}

#[test]
fn the_work_is_proportional_to_what_there_is() {
    let name = |i: usize| format!("r{i}");
    let flat = |count: usize| (0..count).map(|i| (name(i), Vec::new())).collect::<Vec<_>>();
    let chain = |count: usize| {
        let on = |i: usize| i.checked_sub(1).map(name).into_iter().collect();
        (0..count).map(|i| (name(i), on(i))).collect::<Vec<_>>()
    };
    let star = |count: usize| {
        let mut lines = flat(count);
        lines.push(("centre".to_owned(), (0..count).map(name).collect()));
        lines
    };
    for (small, large, times) in [
        (run(&flat(500)), run(&flat(5000)), 10),
        (run(&chain(50)), run(&chain(500)), 10),
        (run(&star(50)), run(&star(5000)), 100),
    ] {
        for (small, large) in small.into_iter().zip(large) {
            assert!(large <= small * times + times * 4, "{small} became {large}");
        }
    }
    let [made, seen, removed] = run(&flat(5000));
    assert!(made <= 5000 * 8, "{made}");
    assert!(seen <= 5000 * 6, "{seen}");
    assert!(removed <= 5000 * 8, "{removed}");
}
