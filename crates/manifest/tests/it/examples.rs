//! The examples are what they claim to be.

use std::path::Path;

use hostler_manifest::load_dir;
use hostler_model::ModeKind;

#[test]
fn every_example_loads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workloads");
    let set = load_dir(&folder).unwrap_or_else(|report| panic!("{}", report.with_source()));
    let theirs = |file: &str| file.contains("master-control");
    let count = set.workloads.values().filter(|item| theirs(&item.source.file)).count();
    assert!(count >= 3 && set.len() - count >= 4, "{:?}", set.workloads.keys());
    for kind in [ModeKind::Forever, ModeKind::Times, ModeKind::Schedule] {
        assert!(set.workloads.values().any(|item| item.spec.mode.kind() == kind), "{kind}");
    }
}
