//! What would be done.

use hostler_model::stack::{DeletionPolicy, StackAction, StackOptions};

use super::*;

#[test]
fn a_plan_says_what_would_be_done_in_order() {
    let lines: &[(&str, &[&str])] =
        &[("net", &[]), ("db", &["net"]), ("web", &["db"]), ("old", &["net"]), ("kept", &[])];
    let mut desk = Desk::made(goal(1, lines), StackOptions::default());
    desk.row_mut("kept").deletion_policy = DeletionPolicy::Retain;
    let rows: Vec<StackResource> = desk.rows().cloned().collect();
    let row = |name: &str| rows.iter().find(|row| row.name == name).map(|row| row.id);
    let mut stack = desk.stack().clone();
    begin(&mut stack, StackAction::Update, Some(definition(2)), at(1));
    let next = goal(2, &[("net", &[]), ("db", &["net"]), ("web", &["db"]), ("new", &["web"])]);
    let next = with_hooks(next, "web", &[StackHook::PreUpdate]);
    let answer = |row: &StackResource| match (row.name.as_str(), row.deeds) {
        (_, 0) => Verdict::Create,
        ("db", _) => Verdict::Replace,
        ("web", _) => Verdict::Update,
        _ => Verdict::Unchanged,
    };
    let found =
        plan(stack.clone(), next.clone(), rows.clone(), hands(1, 9000), at(1), answer).unwrap();
    let found: Vec<_> = found.into_iter().map(|line| (line.name, line.change, line.row)).collect();
    let line = |name: &str, change, row| (name.to_owned(), change, row);
    assert_eq!(
        found,
        [
            line("net", ChangeKind::Unchanged, row("net")),
            line("db", ChangeKind::Replace, row("db")),
            line("web", ChangeKind::Update, row("web")),
            line("new", ChangeKind::Create, None),
            line("old", ChangeKind::Delete, row("old")),
            line("kept", ChangeKind::Forget, row("kept")),
        ]
    );

    let failure = Failure::new("ValueError", "no");
    let refusing = |row: &StackResource| match row.name.as_str() {
        "db" => Verdict::Refused(Restriction::Replace),
        "new" => Verdict::Impossible(failure.clone()),
        _ => Verdict::Unchanged,
    };
    let found = plan(stack, next, rows, hands(1, 9000), at(1), refusing).unwrap();
    let changes: Vec<_> = found.into_iter().map(|line| line.change).collect();
    assert_eq!(
        changes,
        [
            ChangeKind::Unchanged,
            ChangeKind::Refused(Restriction::Replace),
            ChangeKind::Unchanged,
            ChangeKind::Impossible(failure.clone()),
            ChangeKind::Delete,
            ChangeKind::Forget,
        ]
    );
}

#[test]
fn a_plan_of_a_removal_lists_everything_from_its_end() {
    let lines: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
    let desk = Desk::made(goal(1, lines), StackOptions::default());
    let mut stack = desk.stack().clone();
    begin(&mut stack, StackAction::Delete, None, at(1));
    let rows = desk.rows().cloned().collect();
    let found = plan(stack, empty(), rows, hands(1, 9000), at(1), |_| Verdict::Unchanged).unwrap();
    let names: Vec<_> = found.iter().map(|line| line.name.as_str()).collect();
    assert_eq!(names, ["b", "a"]);
    assert!(found.iter().all(|line| line.change == ChangeKind::Delete));
}
