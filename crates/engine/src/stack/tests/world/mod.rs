//! Stacks in a world in which everything goes wrong.
//!
//! A [`Play`] has the rows that were written, at most one server that works on them, and a [`World`] of objects outside. A
//! stream of numbers decides what happens next: steps are taken and written, or thrown away; deeds are carried out, by whoever
//! was asked and by whoever was given up long ago; answers come or are lost; other changes are asked for. When the
//! numbers are used up everything goes well, and it has to come to rest and be as it was asked for last.

mod play;
mod version;
#[expect(clippy::module_inception, reason = "the world is what the module is about")]
mod world;

use hostler_model::stack::{StackAction, StackStatus};
use proptest::prelude::*;

use play::Play;
use version::{Version, versions};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_it_ends_as_it_was_asked_for_last(
        versions in versions(),
        numbers in proptest::collection::vec(any::<u8>(), 0..400),
        is_rollback_enabled: bool,
        at_once in proptest::option::of(1_u32..4),
    ) {
        let mut play = Play::new(versions, numbers, is_rollback_enabled, at_once);
        play.run();
        play.come_to_rest();
        if play.stack.standing.action != StackAction::Delete {
            if play.stack.standing.action == StackAction::Suspend {
                play.ask(StackAction::Resume, 0);
                play.come_to_rest();
            }
            for _ in 0..2 {
                let last = play.versions.len() - 1;
                play.ask(StackAction::Update, last);
                play.come_to_rest();
                prop_assert_eq!(play.stack.standing.heat(), "UPDATE_COMPLETE");
                play.is_as(last);
            }
            play.ask(StackAction::Suspend, 0);
            play.come_to_rest();
            prop_assert_eq!(play.stack.standing.heat(), "SUSPEND_COMPLETE");
            play.ask(StackAction::Resume, 0);
            play.come_to_rest();
            prop_assert_eq!(play.stack.standing.heat(), "RESUME_COMPLETE");
        }
        play.ask(StackAction::Delete, 0);
        play.come_to_rest();
        prop_assert_eq!(play.stack.standing.heat(), "DELETE_COMPLETE");
        play.is_empty();
    }

    #[test]
    fn of_ten_changes_at_once_the_last_one_is_left(
        versions in proptest::collection::vec(version::version(), 10..11),
        numbers in proptest::collection::vec(0_u8..80, 0..200),
        passes in proptest::collection::vec(0_u8..4, 10..11),
    ) {
        let mut play = Play::new(versions, numbers, false, None);
        play.may_fail = false;
        for (i, passes) in passes.into_iter().enumerate() {
            play.ask(StackAction::Update, i);
            for _ in 0..passes {
                play.happen();
            }
        }
        play.come_to_rest();
        prop_assert_eq!(play.stack.standing.heat(), "UPDATE_COMPLETE");
        play.is_as(9);
    }

    #[test]
    fn a_change_that_fails_leads_back_to_what_was_there(
        before in version::version(),
        after in version::version(),
        numbers in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut play = Play::new(vec![before, after], numbers, false, None);
        play.may_fail = false;
        play.is_asking = false;
        play.come_to_rest();
        prop_assert_eq!(play.stack.standing.status, StackStatus::Complete);
        play.stack.options.is_rollback_enabled = true;
        play.ask(StackAction::Update, 1);
        play.may_fail = true;
        play.run();
        play.come_to_rest();
        match play.stack.standing.heat().as_str() {
            "UPDATE_COMPLETE" => play.is_as(1),
            "ROLLBACK_COMPLETE" => play.is_as(0),
            "ROLLBACK_FAILED" => {}
            other => prop_assert!(false, "{}", other),
        }
    }
}

/// Edges that turn around from one version to the next, with something that is replaced each time and never succeeds,
/// leave rows that remember both directions.
#[test]
fn edges_that_turn_around_leave_no_circle() {
    let there = Version::of(&[(0, 1, &[]), (1, 1, &[0]), (2, 1, &[1])]);
    let back = Version::of(&[(2, 2, &[]), (1, 2, &[2]), (0, 2, &[1])]);
    for failing in 0..3 {
        let versions = vec![there.clone(), back.clone(), there.clone(), back.clone()];
        let mut play = Play::new(versions, Vec::new(), false, None);
        play.come_to_rest();
        for version in [1, 2, 3, 0] {
            play.world.failing = Some(failing);
            play.ask(StackAction::Update, version);
            play.come_to_rest();
        }
        play.world.failing = None;
        play.ask(StackAction::Delete, 0);
        play.come_to_rest();
        play.is_empty();
    }
}
