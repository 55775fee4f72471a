//! What is asked of state over a stream, and what its log holds.

use hostler_model::{
    ProjectId, STATE_KEY_MAX, STATE_OPS_MAX, STATE_VALUE_MAX, StateAct, StateAddress, StateList,
};

/// Lines of a state stream: whatever passes is within its limits, every address is read back as itself, and
/// what can be taken for a list is one when it is written.
pub fn state_line(bytes: &[u8]) {
    let project: ProjectId = "00000000-0000-0000-0000-000000000001".parse().expect("this is an id");
    for line in bytes.split(|byte| *byte == b'\n') {
        let Some(txn) = hostler_server::http::fuzz::state_line(line, project) else { continue };
        let is_fine = txn.problems().is_empty();
        for at in txn.addresses() {
            assert_eq!(at.project_id, project);
            assert!((1..=STATE_KEY_MAX).contains(&at.key.as_str().len()));
            assert_eq!(at.to_string().parse::<StateAddress>().as_ref(), Ok(at));
        }
        if !is_fine {
            continue;
        }
        assert!(txn.compares.len() + txn.then.len() + txn.otherwise.len() <= STATE_OPS_MAX);
        for op in txn.then.iter().chain(&txn.otherwise) {
            let StateAct::Put { value, .. } = &op.act else { continue };
            assert!(value.len() <= STATE_VALUE_MAX);
            if let Ok(list) = StateList::read(value) {
                let again = StateList::read(&list.write()).expect("a list that was written");
                assert_eq!(again.len(), list.len());
            }
        }
    }
}

/// Changes as the log keeps them: what can be read is written as it was, or shorter, and read as the same.
pub fn state_changes(bytes: &[u8]) {
    hostler_store::fuzz::state_changes(bytes);
}
