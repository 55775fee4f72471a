//! Files that people write or keep: workload files, those of other supervisors, exported audit records.

use std::collections::BTreeMap;
use std::time::Duration;

use hostler_import::{CrontabForm, Plan, Source, Unreadable, Variables};
use hostler_lua::{Given, Limits, NoFiles, define};
use hostler_manifest::{Loader, diff, to_yaml};
use hostler_model::{AuditAnchorRecord, AuditChain, AuditRecord};

use crate::text;

/// What anchors repeat can become longer than a file may be.
const PRINTED_MAX: usize = 1 << 18;

fn loader() -> Loader {
    let env = BTreeMap::from([("WHERE".to_owned(), "here".to_owned())]);
    Loader::new().env(env).open().home("/srv/mc")
}

/// Workload files: every mistake has a place in the text, and what was read is printed so that it is read
/// as the same.
pub fn manifest(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let set = match loader().str("fuzz.yaml", text) {
        Ok(set) => set,
        Err(report) => {
            assert!(!report.to_string().is_empty());
            return;
        }
    };
    assert!(diff(&set, &set).is_empty());
    for (name, item) in &set.workloads {
        let printed = to_yaml(name, &item.spec);
        if printed.len() > PRINTED_MAX {
            continue;
        }
        let again = loader().str("again.yaml", &printed);
        let again = again.unwrap_or_else(|report| panic!("{printed}\n{report}"));
        assert_eq!(again.get(name.as_str()), Some(&item.spec), "{printed}");
    }
}

/// Reads it twice: the same text says the same.
fn import(bytes: &[u8], read: impl Fn(&[Source<'_>]) -> Result<Plan, Unreadable>) {
    let Some(text) = text(bytes) else { return };
    let sources = [Source { file: "fuzz", text }];
    match (read(&sources), read(&sources)) {
        (Ok(plan), Ok(again)) => {
            assert_eq!(plan, again);
            for (_, spec) in &plan.workloads {
                let _problems = spec.problems("");
            }
        }
        (Err(error), Err(again)) => assert_eq!(error, again),
        (one, other) => panic!("{one:?} and {other:?} of the same text"),
    }
}

pub fn compose(bytes: &[u8]) {
    import(bytes, |sources| hostler_import::compose(sources, &Variables::new()));
}

pub fn crontab(bytes: &[u8]) {
    for form in [CrontabForm::Guess, CrontabForm::User, CrontabForm::System] {
        import(bytes, |sources| hostler_import::crontab(sources, form));
    }
}

pub fn procfile(bytes: &[u8]) {
    import(bytes, |sources| hostler_import::procfile(sources, &Variables::new()));
}

pub fn supervisord(bytes: &[u8]) {
    import(bytes, hostler_import::supervisord);
}

/// A service, and a timer beside it where the text has a line `---`.
pub fn systemd(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let (service, timer) = text.split_once("\n---\n").unwrap_or((text, ""));
    let mut sources = vec![Source { file: "fuzz.service", text: service }];
    if !timer.is_empty() {
        sources.push(Source { file: "fuzz.timer", text: timer });
    }
    let once = hostler_import::systemd(&sources);
    assert_eq!(once, hostler_import::systemd(&sources));
}

/// A line of an exported audit record: what was read is written as the same, and no entry follows itself.
pub fn audit_record(bytes: &[u8]) {
    if let Ok(record) = serde_json::from_slice::<AuditRecord>(bytes)
        && let Some(entry) = record.entry()
    {
        let mut chain = AuditChain::before(&entry);
        if chain.follow(&entry).is_ok() {
            assert!(chain.follow(&entry).is_err(), "entry {} follows itself", entry.sequence);
        }
        let again = AuditRecord::from(entry.clone()).entry();
        assert_eq!(again, Some(entry));
    }
    if let Ok(record) = serde_json::from_slice::<AuditAnchorRecord>(bytes)
        && let Some(anchor) = record.anchor()
    {
        let _signed = anchor.signed();
        let again = AuditAnchorRecord::from(anchor.clone()).anchor();
        assert_eq!(again, Some(anchor));
    }
}

/// What `task submit -f` is given: every mistake is told, and to look for those in a spec changes nothing. The
/// same as lines of `--env-file`.
pub fn task_file(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    match hostler_cli::fuzz::task_file(text) {
        Ok(specs) => {
            for spec in &specs {
                let _problems = spec.problems("");
            }
        }
        Err(mistake) => assert!(!mistake.is_empty()),
    }
    if let Ok(variables) = hostler_cli::fuzz::variables(text) {
        assert!(variables.len() <= text.lines().count());
        assert!(variables.iter().all(|(key, _)| !key.is_empty() && !key.contains('=')));
    }
}

/// What `schedule add -f` is given: every mistake is told; what has none is read back as it was, and what is hidden
/// of it is not written back.
pub fn schedule_file(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let spec = match hostler_cli::fuzz::schedule_file(text) {
        Ok(spec) => spec,
        Err(mistake) => return assert!(!mistake.is_empty()),
    };
    let _words = (spec.timing(), spec.target.summary());
    if spec.problems().is_empty() {
        assert!(spec.when().is_ok());
        let written = serde_json::to_string(&spec).expect("what was read is written");
        assert_eq!(hostler_cli::fuzz::schedule_file(&written), Ok(spec.clone()));
        let mut hidden = spec.clone();
        hidden.target.hide();
        assert!(hidden == spec || !hidden.problems().is_empty(), "{hidden:?}");
    }
}

/// What `watcher add -f` is given: what has no mistake is read back as it was, and can be said in words.
pub fn watcher_file(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let spec = match hostler_cli::fuzz::watcher_file(text) {
        Ok(spec) => spec,
        Err(mistake) => return assert!(!mistake.is_empty()),
    };
    if spec.problems("").is_empty() {
        assert!(spec.watch.summary().starts_with(spec.watch.label()));
        assert!(!spec.watch.on().is_empty() && !spec.watch.subject().is_empty());
        let written = serde_json::to_string(&spec).expect("what was read is written");
        assert_eq!(hostler_cli::fuzz::watcher_file(&written), Ok(spec));
    }
}

/// `KEY=VALUE` lines: what was read has keys that are variables.
pub fn env_file(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Ok(variables) = hostler_import::variables(Source { file: "fuzz.env", text }) {
        for key in variables.keys() {
            assert!(!key.is_empty() && !key.contains(['=', '\n', '\0']), "{key:?}");
        }
    }
}

/// Files of workflows: whatever the program in them does, it ends in its bounds; a graph is one that can run, and is
/// written and read as the same; a mistake has words.
pub fn workflow(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let limits = Limits { memory: 16 << 20, time: Some(Duration::from_millis(200)) };
    let given = Given { limits: Some(limits), ..Given::default() };
    match define("fuzz.sloth", text, Box::new(NoFiles), &given) {
        Err(mistakes) => assert!(!mistakes.to_string().is_empty()),
        Ok(definition) => {
            assert!(!definition.workflows.is_empty());
            for workflow in &definition.workflows {
                assert!(workflow.problems().is_empty(), "{workflow:?}");
                let written = serde_json::to_vec(workflow).expect("a workflow can be written");
                let again = serde_json::from_slice(&written).expect("a workflow that was written");
                assert_eq!(*workflow, again);
            }
        }
    }
}
