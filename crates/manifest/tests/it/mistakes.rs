//! A folder with every kind of mistake: all of them are said, each at its place.

use std::path::Path;

use hostler_manifest::load_dir;

#[test]
fn every_mistake_of_a_folder_is_said_at_once() {
    let report = load_dir(Path::new("tests/it/wrong")).unwrap_err();
    insta::assert_snapshot!(report);
}

#[test]
fn mistakes_can_be_shown_with_their_lines() {
    let report = load_dir(Path::new("tests/it/wrong")).unwrap_err();
    let some: Vec<String> =
        report.mistakes.iter().step_by(7).map(|mistake| mistake.with_source()).collect();
    insta::assert_snapshot!(some.join("\n\n"));
    assert!(report.summary().contains("mistakes in"));
}
