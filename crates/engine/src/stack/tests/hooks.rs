//! Resources that stop at hooks.

use hostler_model::stack::{StackAction, StackOptions};

use super::*;

#[test]
fn a_resource_waits_at_a_hook_before_it_is_made() {
    let hooked = with_hooks(goal(1, &[("h1", &[])]), "h1", &[StackHook::PreCreate]);
    let mut desk = Desk::create(hooked.clone());
    desk.go_on();
    desk.answer("h1", Verdict::Create);
    desk.told(&[
        "S CREATE_IN_PROGRESS Stack CREATE started",
        "h1 INIT_COMPLETE CREATE paused until Hook pre-create is cleared",
    ]);
    desk.rebuild(hooked.clone());
    desk.told(&[]);
    assert_eq!(desk.asked(), Vec::<&str>::new(), "it still waits");
    let id = desk.row_mut("h1").id;
    desk.course.cleared(id, StackHook::PreCreate).unwrap();
    desk.go_on();
    desk.answer("h1", Verdict::Create);
    desk.end("h1", Outcome::Done);
    desk.told(&[
        "h1 INIT_COMPLETE Hook pre-create is cleared",
        "h1 CREATE_IN_PROGRESS",
        "h1 CREATE_COMPLETE",
        "S CREATE_COMPLETE Stack CREATE completed successfully",
    ]);
    let refused = desk.course.cleared(id, StackHook::PreCreate).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "The \"pre-create\" hook is not defined on TestResource \"h1\" [h1-id] Stack \"S\" [{}]",
            desk.stack().id
        )
    );
}

#[test]
fn others_wait_for_what_stands_at_a_hook_after_it_was_made() {
    let lines: &[(&str, &[&str])] = &[("a", &[]), ("b", &["a"])];
    let hooked = with_hooks(goal(1, lines), "a", &[StackHook::PostCreate]);
    for is_rebuilt in [false, true] {
        let mut desk = Desk::create(hooked.clone());
        desk.go_on();
        desk.answer("a", Verdict::Create);
        desk.end("a", Outcome::Done);
        assert_eq!(desk.asked(), Vec::<&str>::new());
        desk.told(&[
            "S CREATE_IN_PROGRESS Stack CREATE started",
            "a CREATE_IN_PROGRESS",
            "a CREATE_COMPLETE",
            "a CREATE_COMPLETE CREATE paused until Hook post-create is cleared",
        ]);
        if is_rebuilt {
            let (stack, traversal) = (desk.stack().clone(), desk.stack().traversal);
            let a = desk.row_mut("a");
            clear_hook(&stack, a, StackHook::PostCreate, at(1)).unwrap();
            assert_eq!(a.hooks[&StackHook::PostCreate].traversal, traversal);
            desk.rebuild(hooked.clone());
        } else {
            let id = desk.row_mut("a").id;
            desk.course.cleared(id, StackHook::PostCreate).unwrap();
            desk.go_on();
        }
        assert_eq!(desk.asked(), ["b"], "a is not looked at again");
        desk.answer("b", Verdict::Create);
        desk.end("b", Outcome::Done);
        assert_eq!(desk.standing(), "CREATE_COMPLETE");
    }
}

#[test]
fn a_hook_counts_anew_in_every_change_and_before_and_after_the_end() {
    let hooks = [StackHook::PreUpdate, StackHook::PreDelete, StackHook::PostDelete];
    let mut desk = Desk::made(goal(1, &[("a", &[])]), StackOptions::default());
    for number in [2, 3] {
        desk.change(StackAction::Update, with_hooks(goal(number, &[("a", &[])]), "a", &hooks));
        desk.answer("a", Verdict::Update);
        let id = desk.row_mut("a").id;
        assert_eq!(desk.begun(), Vec::<String>::new());
        desk.course.cleared(id, StackHook::PreUpdate).unwrap();
        desk.go_on();
        desk.answer("a", Verdict::Update);
        desk.end("a", Outcome::Done);
        assert_eq!(desk.standing(), "UPDATE_COMPLETE");
    }
    desk.said.clear();
    desk.change(StackAction::Delete, with_hooks(empty(), "a", &hooks));
    let id = desk.row_mut("a").id;
    desk.course.cleared(id, StackHook::PreDelete).unwrap();
    desk.go_on();
    desk.end("a", Outcome::Done);
    assert_eq!(desk.rows().count(), 1, "it is not forgotten yet");
    desk.rebuild(with_hooks(empty(), "a", &hooks));
    desk.course.cleared(id, StackHook::PostDelete).unwrap();
    desk.go_on();
    desk.told(&[
        "S DELETE_IN_PROGRESS Stack DELETE started",
        "a UPDATE_COMPLETE DELETE paused until Hook pre-delete is cleared",
        "a UPDATE_COMPLETE Hook pre-delete is cleared",
        "a DELETE_IN_PROGRESS",
        "a DELETE_COMPLETE",
        "a DELETE_COMPLETE DELETE paused until Hook post-delete is cleared",
        "a DELETE_COMPLETE Hook post-delete is cleared",
        "S DELETE_COMPLETE Stack DELETE completed successfully",
    ]);
    assert_eq!(desk.rows().count(), 0);
}
