//! Every example is what it claims to be: it parses strictly and has no mistake we know of. YAML
//! contains JSON, so one reader does for both.

use hostler_api::task::TaskSubmitBody;
use xtask::{Tree, root};

#[test]
fn every_task_example_can_be_submitted() {
    let tree = Tree::open(&root()).unwrap();
    let mut seen = 0;
    for (path, text) in tree.texts().filter(|(path, _)| path.starts_with("examples/tasks/")) {
        if !path.ends_with(".yaml") && !path.ends_with(".json") {
            assert!(path.ends_with(".md"), "{path} is neither an example nor its text");
            continue;
        }
        let task: TaskSubmitBody =
            serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{path}: {error}"));
        let problems = task.spec.problems("/spec");
        assert!(problems.is_empty(), "{path}: {problems:?}");
        assert!(task.name.is_some(), "{path}: an example has a name");
        let is_explained = text.starts_with('#') || path.ends_with(".json");
        assert!(is_explained, "{path}: an example begins by saying what it shows");
        seen += 1;
    }
    assert!(seen >= 4, "only {seen} examples");
}

#[test]
fn a_wrong_example_would_be_noticed() {
    let unknown = "name: x\nspec:\n  comand: [echo]\n";
    assert!(serde_saphyr::from_str::<TaskSubmitBody>(unknown).is_err());
}
