//! What must hold of every parser that reads what a user or a node sends, whatever it is given.
//!
//! Each target is a plain function from bytes to nothing that panics when something does not hold:
//!
//! 1. nothing panics, and nothing takes long or takes much memory;
//! 2. what was read and is printed is read back, and printed the same;
//! 3. what bounds something bounds it (archives, packed chunks), and what is confined stays inside.
//!
//! They are used twice. `fuzz/` builds one libFuzzer binary for each (`scripts/fuzz`), which looks for
//! bytes that break them; and the test of this crate gives each of them the committed corpus
//! (`fuzz/corpus/NAME/`) and what is near it, with no more than an ordinary build. What a fuzzer finds
//! becomes a file of the corpus, so that it is tried for ever.
//!
//! A new parser gets a target here, a line in [`TARGETS`], `fuzz/fuzz_targets/NAME.rs`, a `[[bin]]` in
//! `fuzz/Cargo.toml`, and seeds; the test says which of them is missing.

mod archives;
mod files;
mod identity;
mod messages;
mod output;
mod requests;
mod secrets;
mod stacks;
mod state;
mod words;
mod workflows;

pub use archives::{archive, backup, backup_list, chunk, image_tar, ledger, unpacked};
pub use files::{
    audit_record, compose, crontab, env_file, manifest, procfile, schedule_file, supervisord,
    systemd, task_file, watcher_file, workflow,
};
pub use identity::{approval, authorities, id_token, jwt};
pub use messages::{agent_message, blob_message, facts, machine, peer_message, server_message};
pub use output::{container_line, events, health_answer, line, log_cursor, scrub, segment, sse};
pub use requests::{body, credential, cursor, local_question, local_route, query, spec};
pub use secrets::{certificate, code, token};
pub use stacks::{stack_function, stack_template};
pub use state::{state_changes, state_line};
pub use words::{
    address, amount, command_line, constraint, cron, filter, format, name, target, traceparent,
};
pub use workflows::{artifact_table, indent, job_order, job_report, journal, step_ask};

/// Something that must hold of any bytes.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub check: fn(&[u8]),
}

macro_rules! targets {
    ($($name:ident,)+) => {
        &[$(Target { name: stringify!($name), check: $name },)+]
    };
}

/// All of them, by name.
pub const TARGETS: &[Target] = targets![
    address,
    agent_message,
    amount,
    approval,
    archive,
    artifact_table,
    audit_record,
    authorities,
    backup,
    backup_list,
    blob_message,
    body,
    certificate,
    chunk,
    code,
    command_line,
    compose,
    constraint,
    container_line,
    credential,
    cron,
    crontab,
    cursor,
    env_file,
    events,
    facts,
    filter,
    format,
    health_answer,
    id_token,
    image_tar,
    indent,
    job_order,
    job_report,
    journal,
    jwt,
    ledger,
    line,
    local_question,
    local_route,
    log_cursor,
    machine,
    manifest,
    name,
    peer_message,
    procfile,
    query,
    schedule_file,
    scrub,
    segment,
    server_message,
    spec,
    sse,
    stack_function,
    stack_template,
    state_changes,
    state_line,
    step_ask,
    supervisord,
    systemd,
    target,
    task_file,
    token,
    traceparent,
    unpacked,
    watcher_file,
    workflow,
];

/// Text, for targets that read text.
fn text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes).ok()
}

/// A directory of its own, in memory where there is a file system for that.
fn scratch() -> tempfile::TempDir {
    let builder = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix("hostler-fuzz-");
        builder
    };
    builder()
        .tempdir_in("/dev/shm")
        .or_else(|_| builder().tempdir())
        .expect("a temporary directory can be made")
}
