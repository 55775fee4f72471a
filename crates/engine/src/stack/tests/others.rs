//! Deadlines, leases, places, and what is broken off.

use hostler_model::stack::{DeletionPolicy, ResourceAction, StackAction, StackOptions};

use super::*;

const WAITING: Outcome = Outcome::Waiting { until: None, is_idle: true };

#[test]
fn what_takes_too_long_is_given_up_and_undone() {
    let options = StackOptions { timeout: Some(Span::from_secs(60)), ..rolling_back() };
    let mut desk = Desk::create_with(goal(1, &[("a", &[]), ("b", &[])]), options);
    desk.go_on();
    desk.answer_all(&Verdict::Create);
    desk.end("a", WAITING);
    assert_eq!(desk.stack().time_due, Some(at(30)), "b is somebody's until then");
    desk.now = 60;
    let b = desk.begun[0].1;
    desk.course.renew(b);
    desk.go_on();
    desk.told(&[
        "S CREATE_IN_PROGRESS Stack CREATE started",
        "a CREATE_IN_PROGRESS",
        "b CREATE_IN_PROGRESS",
        "a CREATE_FAILED CREATE aborted (Timed out)",
    ]);
    desk.begun.retain(|(.., deed, kind)| *deed == b && *kind == DeedKind::Create);
    desk.begun.truncate(1);
    desk.end("b", Outcome::Done);
    desk.told(&[
        "b CREATE_COMPLETE",
        "S CREATE_FAILED Timed out",
        "S ROLLBACK_IN_PROGRESS Stack ROLLBACK started",
    ]);
    desk.roll_back(empty());
    desk.end_all();
    assert_eq!(desk.standing(), "ROLLBACK_COMPLETE");
}

#[test]
fn a_stack_has_failed_although_something_waits_and_that_is_brought_to_its_end() {
    let mut desk = Desk::create(goal(1, &[("a", &[]), ("b", &[]), ("c", &["a"])]));
    desk.go_on();
    desk.answer_all(&Verdict::Create);
    desk.end("a", WAITING);
    desk.fail("b", "Error", "no");
    assert_eq!(desk.standing(), "CREATE_FAILED");
    assert!(desk.stack().time_due.is_some(), "somebody looks when the time is over");
    let id = desk.row_mut("a").id;
    desk.rebuild(goal(1, &[("a", &[]), ("b", &[]), ("c", &["a"])]));
    desk.course.wake(id);
    desk.go_on();
    assert_eq!(desk.begun(), ["a create"]);
    desk.said.clear();
    desk.end("a", Outcome::Done);
    desk.told(&["a CREATE_COMPLETE"]);
    assert_eq!((desk.stack().time_due, desk.stack().time_deadline), (None, None));
    assert_eq!(desk.asked().len(), 0, "nothing is begun");
}

#[test]
fn what_waits_for_an_object_that_is_to_go_is_broken_off() {
    let mut desk = Desk::create(goal(1, &[("a", &[]), ("b", &[])]));
    desk.go_on();
    desk.answer_all(&Verdict::Create);
    desk.end("a", WAITING);
    desk.change(StackAction::Delete, empty());
    desk.told(&[
        "S CREATE_IN_PROGRESS Stack CREATE started",
        "a CREATE_IN_PROGRESS",
        "b CREATE_IN_PROGRESS",
        "S DELETE_IN_PROGRESS Stack DELETE started",
        "a CREATE_FAILED CREATE aborted (Stack DELETE started)",
        "a DELETE_IN_PROGRESS",
    ]);
    desk.end("b", WAITING);
    desk.told(&["b CREATE_FAILED CREATE aborted (Stack DELETE started)", "b DELETE_IN_PROGRESS"]);
    desk.end_all();
    assert_eq!(desk.standing(), "DELETE_COMPLETE");
}

#[test]
fn somebody_else_goes_on_when_a_lease_ends_and_is_believed_once() {
    let one = goal(1, &[("a", &[])]);
    let mut desk = Desk::create(one.clone());
    desk.go_on();
    desk.answer("a", Verdict::Create);
    let first = desk.begun.remove(0).1;
    desk.now = 29;
    desk.rebuild(one.clone());
    assert_eq!(desk.begun(), Vec::<String>::new());
    desk.now = 30;
    desk.rebuild(one);
    assert_eq!(desk.begun(), ["a create"]);
    assert_eq!(desk.begun[0].1, first, "under the same number");
    assert!(desk.course.told(first, Outcome::Done));
    assert!(!desk.course.told(first, Outcome::Failed(Failure::new("Error", "late"))));
    desk.go_on();
    assert_eq!(desk.standing(), "CREATE_COMPLETE");
}

#[test]
fn so_many_are_worked_on_at_once_and_who_waits_for_a_signal_is_not_counted() {
    let options = StackOptions { at_once: Some(2), ..StackOptions::default() };
    let lines: &[(&str, &[&str])] = &[("a", &[]), ("b", &[]), ("c", &[]), ("d", &[])];
    let mut desk = Desk::create_with(goal(1, lines), options);
    desk.go_on();
    assert_eq!(desk.asked(), ["a", "b"]);
    desk.answer_all(&Verdict::Create);
    assert_eq!(desk.asked().len(), 0);
    desk.end("a", WAITING);
    assert_eq!(desk.asked(), ["c"]);
    desk.answer("c", Verdict::Create);
    desk.end("b", Outcome::Waiting { until: Some(at(5)), is_idle: false });
    assert_eq!(desk.asked().len(), 0, "b takes its place until it is done");
    desk.end("c", Outcome::Done);
    assert_eq!(desk.asked(), ["d"]);
}

#[test]
fn an_object_that_is_gone_when_it_is_changed_is_made_again() {
    let mut desk = Desk::made(goal(1, &[("a", &[])]), StackOptions::default());
    desk.change(StackAction::Update, goal(2, &[("a", &[])]));
    desk.answer("a", Verdict::Update);
    desk.end("a", Outcome::Gone);
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    assert_eq!(desk.begun(), ["a delete"]);
    desk.end("a", Outcome::Gone);
    assert_eq!(desk.standing(), "UPDATE_COMPLETE");
    assert_eq!(desk.rows().count(), 1);
}

#[test]
fn a_rollback_takes_back_what_was_replaced() {
    let first = goal(1, &[("a", &[]), ("b", &["a"])]);
    let mut desk = Desk::made(first.clone(), rolling_back());
    let old = desk.row_mut("a").id;
    desk.change(StackAction::Update, goal(2, &[("a", &[]), ("b", &["a"])]));
    desk.answer("a", Verdict::Replace);
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    desk.answer("b", Verdict::Update);
    desk.fail("b", "Error", "no");
    desk.said.clear();
    desk.roll_back(first);
    assert_eq!(desk.asked, [("a".to_owned(), old)]);
    desk.answer("a", Verdict::Unchanged);
    assert_eq!(desk.begun(), Vec::<String>::new(), "b may still use the new one");
    desk.answer("b", Verdict::Update);
    desk.end("b", Outcome::Done);
    desk.end("a", Outcome::Done);
    desk.told(&[
        "b UPDATE_IN_PROGRESS",
        "b UPDATE_COMPLETE",
        "a DELETE_IN_PROGRESS",
        "a DELETE_COMPLETE",
        "S ROLLBACK_COMPLETE Stack ROLLBACK completed successfully",
    ]);
    let a = desk.row_mut("a");
    assert_eq!((a.id, a.replaced_by), (old, None));
}

#[test]
fn what_was_replaced_in_this_change_stays_replaced_after_a_crash() {
    let first = goal(1, &[("a", &[])]);
    let mut desk = Desk::made(first.clone(), StackOptions::default());
    desk.change(StackAction::Rollback, first.clone());
    desk.answer("a", Verdict::Replace);
    let new = desk.asked[0].1;
    desk.rebuild(first);
    assert_eq!(desk.asked, [("a".to_owned(), new)]);
}

#[test]
fn an_update_of_what_was_never_whole_has_nowhere_to_go_back() {
    let mut desk = Desk::create(goal(1, &[("a", &[])]));
    desk.go_on();
    desk.answer("a", Verdict::Impossible(Failure::new("ValueError", "no such image")));
    assert_eq!(desk.row_mut("a").standing.heat(), "CREATE_FAILED");
    desk.stack.options.is_rollback_enabled = true;
    desk.change(StackAction::Update, goal(2, &[("a", &[])]));
    desk.answer("a", Verdict::Create);
    desk.fail("a", "Error", "no");
    assert_eq!(desk.standing(), "UPDATE_FAILED");
    desk.change(StackAction::Update, goal(3, &[]));
    assert_eq!(desk.begun(), ["a delete"], "something may be there");
}

#[test]
fn what_could_not_be_removed_is_not_taken_up_again() {
    let mut desk = Desk::made(goal(1, &[("a", &[])]), StackOptions::default());
    let old = desk.row_mut("a").id;
    desk.change(StackAction::Update, goal(2, &[]));
    desk.fail("a", "Error", "in use");
    assert_eq!(desk.standing(), "UPDATE_FAILED");
    desk.change(StackAction::Update, goal(3, &[("a", &[])]));
    assert_ne!(desk.asked[0].1, old);
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    assert_eq!(desk.begun(), ["a delete"]);
    desk.end("a", Outcome::Done);
    assert_eq!(desk.standing(), "UPDATE_COMPLETE");
    assert_eq!(
        desk.rows().map(|row| row.standing.action).collect::<Vec<_>>(),
        [ResourceAction::Create]
    );
}

#[test]
fn what_failed_cannot_be_put_to_sleep() {
    let one = goal(1, &[("a", &[])]);
    let mut desk = Desk::create(one.clone());
    desk.go_on();
    desk.answer("a", Verdict::Create);
    desk.fail("a", "Error", "no");
    desk.said.clear();
    desk.change(StackAction::Suspend, one);
    desk.told(&[
        "S SUSPEND_IN_PROGRESS Stack SUSPEND started",
        "a SUSPEND_FAILED Error: resources.a: State CREATE_FAILED invalid for suspend",
        "S SUSPEND_FAILED Resource SUSPEND failed: Error: resources.a: State CREATE_FAILED invalid for suspend",
    ]);
}

#[test]
fn what_was_not_made_to_its_end_stays_failed_whatever_else_is_done() {
    let two = goal(1, &[("a", &[]), ("b", &["a"])]);
    let mut desk = Desk::made(two.clone(), StackOptions::default());
    desk.change(StackAction::Update, goal(2, &[("a", &[]), ("b", &["a"])]));
    desk.answer("a", Verdict::Update);
    desk.fail("a", "Error", "no");
    for (action, standing) in
        [(StackAction::Check, "CHECK_FAILED"), (StackAction::Resume, "RESUME_COMPLETE")]
    {
        desk.change(action, goal(2, &[("a", &[]), ("b", &["a"])]));
        assert_eq!(desk.begun().len(), 1, "only b");
        desk.end("b", Outcome::Done);
        assert_eq!(desk.standing(), standing);
        assert_eq!(desk.row_mut("a").standing.heat(), "UPDATE_FAILED");
    }
}

#[test]
fn what_was_checked_in_its_sleep_is_woken() {
    let one = goal(1, &[("a", &[])]);
    let mut desk = Desk::made(one.clone(), StackOptions::default());
    for action in [StackAction::Suspend, StackAction::Check] {
        desk.change(action, one.clone());
        desk.end("a", Outcome::Done);
    }
    desk.change(StackAction::Resume, one);
    assert_eq!(desk.begun(), ["a resume"]);
}

#[test]
fn what_somebody_gives_up_stays_as_it_is() {
    let mut desk = Desk::create_with(goal(1, &[("a", &[])]), rolling_back());
    desk.go_on();
    desk.answer("a", Verdict::Create);
    desk.course.give_up("Stack CREATE cancelled", true);
    desk.end("a", Outcome::Done);
    assert_eq!(desk.standing(), "CREATE_FAILED");
    assert_eq!(desk.stack().standing.reason, "Stack CREATE cancelled");
    assert_eq!(desk.course.ended(), Some(Ended::Failed));
}

#[test]
fn what_the_goal_says_besides_properties_is_kept_without_a_deed() {
    let mut desk = Desk::made(goal(1, &[("a", &[]), ("b", &[])]), StackOptions::default());
    let mut second = goal(2, &[("a", &[]), ("b", &["a"])]);
    second.wanted[1].deletion_policy = DeletionPolicy::Retain;
    desk.change(StackAction::Update, second);
    desk.answer("a", Verdict::Unchanged);
    desk.answer("b", Verdict::Unchanged);
    let a = desk.row_mut("a").id;
    let b = desk.row_mut("b");
    assert_eq!((b.deletion_policy, b.requires.as_slice()), (DeletionPolicy::Retain, &[a][..]));
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "S UPDATE_COMPLETE Stack UPDATE completed successfully",
    ]);
}
