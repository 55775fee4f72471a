//! What is told, in which order and in which words, as measured on Heat.

use hostler_model::stack::{StackAction, StackOptions};

use super::*;

#[test]
fn a_stack_is_created() {
    let mut desk = Desk::create(goal(1, &[("r1", &[]), ("r2", &["r1"]), ("n1", &["r1"])]));
    desk.go_on();
    assert_eq!(desk.asked(), ["r1"]);
    desk.answer("r1", Verdict::Create);
    desk.end("r1", Outcome::Done);
    assert_eq!(desk.asked(), ["r2", "n1"]);
    desk.answer_all(&Verdict::Create);
    desk.end_all();
    desk.told(&[
        "S CREATE_IN_PROGRESS Stack CREATE started",
        "r1 CREATE_IN_PROGRESS",
        "r1 CREATE_COMPLETE",
        "r2 CREATE_IN_PROGRESS",
        "n1 CREATE_IN_PROGRESS",
        "r2 CREATE_COMPLETE",
        "n1 CREATE_COMPLETE",
        "S CREATE_COMPLETE Stack CREATE completed successfully",
    ]);
    assert_eq!(desk.course.ended(), Some(Ended::Complete));
    assert_eq!(desk.stack().settled, Some(definition(1)));
    assert_eq!((desk.stack().time_due, desk.stack().time_deadline), (None, None));
}

#[test]
fn what_is_under_way_is_finished_and_looked_at_anew() {
    let mut desk = Desk::made(goal(1, &[("a", &[]), ("b", &["a"])]), StackOptions::default());
    desk.change(StackAction::Update, goal(2, &[("a", &[]), ("b", &["a"])]));
    desk.answer("a", Verdict::Update);
    desk.end("a", Outcome::Waiting { until: Some(at(8)), is_idle: false });
    desk.now = 3;
    desk.change(StackAction::Update, goal(3, &[("a", &[]), ("b", &["a"]), ("c", &[])]));
    assert_eq!(desk.asked(), ["c"]);
    desk.answer("c", Verdict::Create);
    desk.end("c", Outcome::Done);
    desk.now = 8;
    desk.go_on();
    assert_eq!(desk.begun(), ["a update"]);
    desk.end("a", Outcome::Done);
    desk.answer("a", Verdict::Update);
    desk.end("a", Outcome::Done);
    desk.answer("b", Verdict::Update);
    desk.end("b", Outcome::Done);
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "a UPDATE_IN_PROGRESS",
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "c CREATE_IN_PROGRESS",
        "c CREATE_COMPLETE",
        "a UPDATE_COMPLETE",
        "a UPDATE_IN_PROGRESS",
        "a UPDATE_COMPLETE",
        "b UPDATE_IN_PROGRESS",
        "b UPDATE_COMPLETE",
        "S UPDATE_COMPLETE Stack UPDATE completed successfully",
    ]);
}

#[test]
fn a_change_that_is_cancelled_is_not_interrupted() {
    let first = goal(1, &[("a", &[])]);
    let mut desk = Desk::made(first.clone(), StackOptions::default());
    desk.change(StackAction::Update, goal(2, &[("a", &[])]));
    desk.answer("a", Verdict::Update);
    desk.change(StackAction::Rollback, first);
    assert_eq!(desk.asked().len(), 0);
    desk.end("a", Outcome::Done);
    desk.answer("a", Verdict::Update);
    desk.end("a", Outcome::Done);
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "a UPDATE_IN_PROGRESS",
        "S ROLLBACK_IN_PROGRESS Stack ROLLBACK started",
        "a UPDATE_COMPLETE",
        "a UPDATE_IN_PROGRESS",
        "a UPDATE_COMPLETE",
        "S ROLLBACK_COMPLETE Stack ROLLBACK completed successfully",
    ]);
}

#[test]
fn another_object_takes_the_place_of_one() {
    let mut desk = Desk::made(goal(1, &[("a", &[]), ("b", &["a"])]), StackOptions::default());
    desk.change(StackAction::Update, goal(2, &[("a", &[]), ("b", &["a"])]));
    desk.answer("a", Verdict::Replace);
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    assert_eq!(desk.begun(), Vec::<String>::new(), "b was not looked at yet");
    desk.answer("b", Verdict::Unchanged);
    assert_eq!(desk.begun(), ["a delete"]);
    desk.end("a", Outcome::Done);
    let id = desk.stack().id;
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "a UPDATE_IN_PROGRESS",
        &format!(
            "a UPDATE_COMPLETE The Resource TestResource \"a\" [a-id] Stack \"S\" [{id}] requires replacement."
        ),
        "a CREATE_IN_PROGRESS",
        "a CREATE_COMPLETE",
        "a DELETE_IN_PROGRESS",
        "a DELETE_COMPLETE",
        "S UPDATE_COMPLETE Stack UPDATE completed successfully",
    ]);
    let a = desk.row_mut("a");
    assert_eq!((a.replaces, a.replaced_by), (None, None));
    let (a, b) = (a.id, desk.row_mut("b").requires.clone());
    assert_eq!(b, [a]);
}

#[test]
fn what_was_replaced_is_found_again_by_a_change_that_leads_back() {
    let mut desk = Desk::made(goal(1, &[("a", &[]), ("b", &["a"])]), StackOptions::default());
    let first = desk.row_mut("a").id;
    desk.change(StackAction::Update, goal(2, &[("a", &[]), ("b", &["a"])]));
    desk.answer("a", Verdict::Replace);
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    desk.said.clear();
    desk.change(StackAction::Update, goal(3, &[("a", &[]), ("b", &["a"])]));
    desk.answer("a", Verdict::Replace);
    desk.answer("a", Verdict::Unchanged);
    desk.answer("b", Verdict::Unchanged);
    assert_eq!(desk.begun(), ["a delete"], "no third object is made");
    desk.end("a", Outcome::Done);
    assert_eq!(desk.standing(), "UPDATE_COMPLETE");
    let a = desk.row_mut("a");
    assert_eq!((a.id, a.replaces, a.replaced_by), (first, None, None));
    assert_eq!(desk.rows().count(), 2);
}

#[test]
fn an_update_that_fails_goes_back() {
    let first = goal(1, &[("a", &[])]);
    let mut desk = Desk::made(first.clone(), rolling_back());
    desk.change(StackAction::Update, goal(2, &[("a", &[]), ("z", &["a"])]));
    desk.answer("a", Verdict::Update);
    desk.end("a", Outcome::Done);
    desk.answer("z", Verdict::Create);
    desk.fail("z", "ValueError", "Test Resource failed z");
    desk.roll_back(first);
    desk.answer("a", Verdict::Update);
    assert_eq!(desk.begun(), ["z delete", "a update"]);
    desk.end("z", Outcome::Done);
    desk.end("a", Outcome::Done);
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "a UPDATE_IN_PROGRESS",
        "a UPDATE_COMPLETE",
        "z CREATE_IN_PROGRESS",
        "z CREATE_FAILED ValueError: resources.z: Test Resource failed z",
        "S UPDATE_FAILED Resource CREATE failed: ValueError: resources.z: Test Resource failed z",
        "S ROLLBACK_IN_PROGRESS Stack ROLLBACK started",
        "z DELETE_IN_PROGRESS",
        "a UPDATE_IN_PROGRESS",
        "z DELETE_COMPLETE",
        "a UPDATE_COMPLETE",
        "S ROLLBACK_COMPLETE Stack ROLLBACK completed successfully",
    ]);
    assert_eq!(desk.stack().settled, Some(definition(1)));
}

#[test]
fn a_creation_that_fails_goes_back_to_nothing() {
    let mut desk = Desk::create_with(goal(1, &[("f1", &[]), ("g", &["f1"])]), rolling_back());
    desk.go_on();
    desk.answer("f1", Verdict::Create);
    desk.fail("f1", "ValueError", "no");
    desk.roll_back(empty());
    desk.end("f1", Outcome::Done);
    desk.told(&[
        "S CREATE_IN_PROGRESS Stack CREATE started",
        "f1 CREATE_IN_PROGRESS",
        "f1 CREATE_FAILED ValueError: resources.f1: no",
        "S CREATE_FAILED Resource CREATE failed: ValueError: resources.f1: no",
        "S ROLLBACK_IN_PROGRESS Stack ROLLBACK started",
        "f1 DELETE_IN_PROGRESS",
        "f1 DELETE_COMPLETE",
        "S ROLLBACK_COMPLETE Stack ROLLBACK completed successfully",
    ]);
    assert_eq!(desk.rows().count(), 0);
}

#[test]
fn what_is_not_well_is_replaced() {
    let mut desk = Desk::made(goal(1, &[("a", &[])]), StackOptions::default());
    let a = desk.row_mut("a");
    a.standing = hostler_model::stack::ResourceStanding {
        action: hostler_model::stack::ResourceAction::Check,
        status: hostler_model::stack::StackStatus::Failed,
        reason: "dead".to_owned(),
    };
    desk.change(StackAction::Update, goal(2, &[("a", &[])]));
    desk.answer("a", Verdict::Replace);
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    desk.end("a", Outcome::Done);
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "a CREATE_IN_PROGRESS",
        "a CREATE_COMPLETE",
        "a DELETE_IN_PROGRESS",
        "a DELETE_COMPLETE",
        "S UPDATE_COMPLETE Stack UPDATE completed successfully",
    ]);
}

#[test]
fn every_resource_is_checked_and_failures_are_collected() {
    let mut three = goal(1, &[("r1", &[]), ("r2", &["r1"]), ("r3", &["r1"])]);
    three.wanted[1].is_checkable = false;
    three.wanted[1].kind = "OS::Heat::RandomString".to_owned();
    let mut desk = Desk::made(three.clone(), StackOptions::default());
    desk.change(StackAction::Check, three.clone());
    desk.end("r1", Outcome::Done);
    desk.end("r3", Outcome::Done);
    desk.told(&[
        "S CHECK_IN_PROGRESS Stack CHECK started",
        "r1 CHECK_IN_PROGRESS",
        "r1 CHECK_COMPLETE",
        "r2 CHECK_COMPLETE CHECK not supported for OS::Heat::RandomString",
        "r3 CHECK_IN_PROGRESS",
        "r3 CHECK_COMPLETE",
        "S CHECK_COMPLETE Stack CHECK completed successfully. 'CHECK' not fully supported (see resources)",
    ]);
    desk.change(StackAction::Check, three);
    desk.fail("r1", "Error", "it is off");
    desk.end("r3", Outcome::Gone);
    assert_eq!(desk.standing(), "CHECK_FAILED");
    assert_eq!(
        desk.stack().standing.reason,
        "Resource CHECK failed: r1: Error: resources.r1: it is off; r3: EntityNotFound: resources.r3: The TestResource (r3-id) could not be found."
    );
}

#[test]
fn what_belongs_to_somebody_else_is_taken_over_and_checked() {
    let mut two = goal(1, &[("a", &[]), ("b", &["a"])]);
    for wanted in &mut two.wanted {
        wanted.is_external = true;
    }
    two.wanted[1].is_checkable = false;
    two.wanted[1].kind = "OS::Heat::RandomString".to_owned();
    let mut desk = Desk::create(two);
    desk.go_on();
    desk.answer("a", Verdict::Create);
    desk.end("a", Outcome::Done);
    desk.end("a", Outcome::Done);
    desk.answer("b", Verdict::Create);
    desk.end("b", Outcome::Done);
    desk.told(&[
        "S CREATE_IN_PROGRESS Stack CREATE started",
        "a ADOPT_IN_PROGRESS",
        "a ADOPT_COMPLETE",
        "a CHECK_IN_PROGRESS",
        "a CHECK_COMPLETE",
        "b ADOPT_IN_PROGRESS",
        "b ADOPT_COMPLETE",
        "b CHECK_COMPLETE CHECK not supported for OS::Heat::RandomString",
        "S CREATE_COMPLETE Stack CREATE completed successfully",
    ]);
}

#[test]
fn a_stack_sleeps_in_the_opposite_order_and_wakes_in_its_own() {
    let three = goal(1, &[("r1", &[]), ("r2", &["r1"]), ("n1", &["r1"])]);
    let mut desk = Desk::made(three.clone(), StackOptions::default());
    desk.change(StackAction::Suspend, three.clone());
    assert_eq!(desk.begun(), ["r2 suspend", "n1 suspend"]);
    desk.end_all();
    desk.end_all();
    desk.told(&[
        "S SUSPEND_IN_PROGRESS Stack SUSPEND started",
        "r2 SUSPEND_IN_PROGRESS",
        "n1 SUSPEND_IN_PROGRESS",
        "r2 SUSPEND_COMPLETE",
        "n1 SUSPEND_COMPLETE",
        "r1 SUSPEND_IN_PROGRESS",
        "r1 SUSPEND_COMPLETE",
        "S SUSPEND_COMPLETE Stack SUSPEND completed successfully",
    ]);
    desk.change(StackAction::Resume, three.clone());
    assert_eq!(desk.begun(), ["r1 resume"]);
    desk.end_all();
    assert_eq!(desk.begun(), ["r2 resume", "n1 resume"]);
    desk.end_all();
    assert_eq!(desk.standing(), "RESUME_COMPLETE");
    assert_eq!(desk.stack().settled, Some(definition(1)));
    desk.said.clear();
    desk.change(StackAction::Resume, three);
    desk.told(&[
        "S RESUME_IN_PROGRESS Stack RESUME started",
        "S RESUME_COMPLETE Stack RESUME completed successfully",
    ]);
}

#[test]
fn a_stack_goes_in_the_opposite_order() {
    let mut desk =
        Desk::made(goal(1, &[("a", &[]), ("b", &["a"]), ("c", &["b"])]), StackOptions::default());
    desk.row_mut("b").deletion_policy = hostler_model::stack::DeletionPolicy::Retain;
    desk.row_mut("a").deletion_policy = hostler_model::stack::DeletionPolicy::Snapshot;
    desk.change(StackAction::Delete, empty());
    assert_eq!(desk.begun(), ["c delete"]);
    desk.end("c", Outcome::Done);
    assert_eq!(desk.begun(), ["a snapshot"]);
    desk.end("a", Outcome::Done);
    assert_eq!(desk.begun(), ["a delete"]);
    desk.end("a", Outcome::Gone);
    desk.told(&[
        "S DELETE_IN_PROGRESS Stack DELETE started",
        "c DELETE_IN_PROGRESS",
        "c DELETE_COMPLETE",
        "b DELETE_IN_PROGRESS",
        "b DELETE_COMPLETE",
        "a DELETE_IN_PROGRESS",
        "a DELETE_COMPLETE",
        "S DELETE_COMPLETE Stack DELETE completed successfully",
    ]);
    assert_eq!(desk.rows().count(), 0);
    assert!(desk.stack().is_deleted());
}

#[test]
fn a_stack_takes_over_what_is_there() {
    let mut desk = Desk::with(StackAction::Adopt, goal(1, &[("a", &[])]), StackOptions::default());
    desk.go_on();
    desk.answer("a", Verdict::Create);
    assert_eq!(desk.begun(), ["a adopt"]);
    desk.end("a", Outcome::Done);
    desk.told(&[
        "S ADOPT_IN_PROGRESS Stack ADOPT started",
        "a ADOPT_IN_PROGRESS",
        "a ADOPT_COMPLETE",
        "S ADOPT_COMPLETE Stack ADOPT completed successfully",
    ]);
}

#[test]
fn what_is_forbidden_fails_the_stack_and_leaves_the_object() {
    let mut desk = Desk::made(goal(1, &[("a", &[])]), StackOptions::default());
    desk.change(StackAction::Update, goal(2, &[("a", &[])]));
    desk.answer("a", Verdict::Refused(Restriction::Replace));
    desk.told(&[
        "S UPDATE_IN_PROGRESS Stack UPDATE started",
        "a UPDATE_FAILED replace is restricted for resource.",
        "S UPDATE_FAILED Resource UPDATE failed: ResourceActionRestricted: resources.a: replace is restricted for resource.",
    ]);
    assert_eq!(desk.row_mut("a").standing.heat(), "CREATE_COMPLETE");
}
