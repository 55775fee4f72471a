//! What the HTTP API and the local door read before they know what to do.

use hostler_agent::local::Question;
use hostler_api::Endpoint;
use hostler_api::access::{AccessCheck, AccessExplain};
use hostler_api::approval::{ApprovalApprove, ApprovalDeny, ApprovalList, ApprovalPolicySet};
use hostler_api::authority::AuthorityFinish;
use hostler_api::blob::{BlobCommit, BlobList, ChunksMissing};
use hostler_api::group::GroupCreate;
use hostler_api::image::{ImageList, ImagePush};
use hostler_api::invitation::{
    InvitationAccept, InvitationCreate, InvitationShow, PasswordResetUse,
};
use hostler_api::node::{Join, JoinTokenCreate, NodeDrain, NodeList, NodeUpdate};
use hostler_api::oidc::{OidcFinish, UserIdentityAdd, UserIdentityRemove};
use hostler_api::operation::OperationList;
use hostler_api::project::{ProjectCreate, ProjectUpdate};
use hostler_api::record::{AuditExport, AuditList, EventList};
use hostler_api::role::{RoleCreate, RoleUpdate};
use hostler_api::second_factor::TotpConfirm;
use hostler_api::secret::{SecretGenerate, SecretList, SecretSet};
use hostler_api::session::{Login, PasswordChange, Setup};
use hostler_api::state::{StateCommit, StateHistory, StateList, StatePut};
use hostler_api::task::{AccountReport, ArraySubmit, TaskLogs, TaskSubmit, TaskSubmitBatch};
use hostler_api::token::TokenCreate;
use hostler_api::user::{MemberSet, UserCreate, UserUpdate};
use hostler_api::workload::{WorkloadApply, WorkloadExec, WorkloadList, WorkloadLogs};
use hostler_model::WorkloadSpec;
use hostler_server::http::fuzz;
use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderName, Uri};
use serde_json::Value;

use crate::text;

/// Bodies: whatever is JSON has one text, which is read as the same; no type makes reading it panic; and
/// what was read can be written and read again.
pub fn body(bytes: &[u8]) {
    let Ok(value) = fuzz::json(bytes) else { return };
    let one_text = fuzz::canonical(value.clone());
    let again = fuzz::json(&one_text).expect("a document that was written");
    if !has_fractions(&value) {
        assert_eq!(fuzz::canonical(again), one_text);
    }
    body_of::<ApprovalApprove>(&value);
    body_of::<ApprovalDeny>(&value);
    body_of::<ApprovalPolicySet>(&value);
    body_of::<ArraySubmit>(&value);
    body_of::<AuthorityFinish>(&value);
    body_of::<BlobCommit>(&value);
    body_of::<ChunksMissing>(&value);
    body_of::<GroupCreate>(&value);
    body_of::<ImagePush>(&value);
    body_of::<InvitationAccept>(&value);
    body_of::<InvitationCreate>(&value);
    body_of::<InvitationShow>(&value);
    body_of::<Join>(&value);
    body_of::<JoinTokenCreate>(&value);
    body_of::<Login>(&value);
    body_of::<MemberSet>(&value);
    body_of::<NodeDrain>(&value);
    body_of::<NodeUpdate>(&value);
    body_of::<OidcFinish>(&value);
    body_of::<PasswordChange>(&value);
    body_of::<PasswordResetUse>(&value);
    body_of::<ProjectCreate>(&value);
    body_of::<ProjectUpdate>(&value);
    body_of::<RoleCreate>(&value);
    body_of::<RoleUpdate>(&value);
    body_of::<SecretGenerate>(&value);
    body_of::<Setup>(&value);
    body_of::<StateCommit>(&value);
    body_of::<TaskSubmit>(&value);
    body_of::<TaskSubmitBatch>(&value);
    body_of::<TokenCreate>(&value);
    body_of::<TotpConfirm>(&value);
    body_of::<UserCreate>(&value);
    body_of::<UserIdentityAdd>(&value);
    body_of::<UserIdentityRemove>(&value);
    body_of::<UserUpdate>(&value);
    body_of::<WorkloadApply>(&value);
    body_of::<WorkloadExec>(&value);
}

/// Fractions are read with the last digit rounded, so that their text may differ in it.
fn has_fractions(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_fractions),
        Value::Object(fields) => fields.values().any(has_fractions),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn body_of<E: Endpoint>(value: &Value) {
    let Ok(read) = fuzz::typed::<E::Body>(value) else { return };
    let written = serde_json::to_value(&read).expect("a body can be written");
    let again = fuzz::typed::<E::Body>(&written);
    assert!(again.is_ok(), "{}: {written} is not read again", E::NAME);
}

/// Specs, alone: every mistake has a pointer, and to look at one changes nothing.
pub fn spec(bytes: &[u8]) {
    let Ok(value) = fuzz::json(bytes) else { return };
    let Ok(spec) = fuzz::typed::<WorkloadSpec>(&value) else { return };
    for problem in spec.problems("/spec") {
        assert!(problem.pointer.starts_with("/spec"), "{problem:?}");
        assert!(!problem.detail.is_empty(), "{problem:?}");
    }
}

/// Queries of lists and reports.
pub fn query(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    query_of::<AccessCheck>(text);
    query_of::<AccessExplain>(text);
    query_of::<AccountReport>(text);
    query_of::<ApprovalList>(text);
    query_of::<AuditExport>(text);
    query_of::<AuditList>(text);
    query_of::<BlobList>(text);
    query_of::<EventList>(text);
    query_of::<ImageList>(text);
    query_of::<NodeList>(text);
    query_of::<OperationList>(text);
    query_of::<SecretList>(text);
    query_of::<SecretSet>(text);
    query_of::<StateHistory>(text);
    query_of::<StateList>(text);
    query_of::<StatePut>(text);
    query_of::<TaskLogs>(text);
    query_of::<WorkloadList>(text);
    query_of::<WorkloadLogs>(text);
}

fn query_of<E: Endpoint>(raw: &str) {
    if let Ok(read) = fuzz::query::<E::Query>(raw) {
        serde_json::to_value(&read).expect("a query can be written");
    }
}

/// Headers, one a line, of which `a` is for `Authorization` and `c` for `Cookie`; and the first line is an
/// address too.
pub fn credential(bytes: &[u8]) {
    let lines = bytes.split(|byte| *byte == b'\n').take(64);
    let headers: Vec<(HeaderName, &[u8])> = lines
        .filter_map(|line| match line.split_first()? {
            (b'a', value) => Some((AUTHORIZATION, value)),
            (b'c', value) => Some((COOKIE, value)),
            _ => None,
        })
        .collect();
    let has_any = !headers.is_empty();
    assert!(!fuzz::has_credential(&headers) || has_any);
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if let Ok(uri) = Uri::try_from(first) {
        let _found = fuzz::has_secret(&uri);
    }
}

/// Cursors of pages, of the journal and of output, and the keys of pages behind them.
pub fn cursor(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    if let Some(key) = fuzz::cursor(text) {
        assert!(key.len() <= text.len(), "{text:?}");
        assert!(!key.contains('\0'), "{text:?} is a key that a database does not take");
    }
    if let Some(key) = hostler_store::fuzz::blob_key(text) {
        assert_eq!(hostler_store::fuzz::blob_key(&key), Some(key.clone()), "{text:?}");
    }
}

/// An address of the local HTTP port: nothing is changed by a word that only asks, and lines are few.
pub fn local_route(bytes: &[u8]) {
    const CHANGES: [&str; 4] = ["start", "stop", "restart", "reload"];
    let Some(text) = text(bytes) else { return };
    let (path, query) = text.split_once('?').unwrap_or((text, ""));
    if let Some((is_change, lines)) = hostler_agent::fuzz::local_route(path, query) {
        let verb = path.trim_matches('/').split('/').nth(1).unwrap_or_default();
        assert_eq!(is_change, CHANGES.contains(&verb), "{path:?}");
        assert!(lines.is_none_or(|lines| (1..=10_000).contains(&lines)), "{query:?}");
    }
}

/// A line of the local door, in our spelling or in Master Control's.
pub fn local_question(bytes: &[u8]) {
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let has_command = value.get("command").is_some_and(Value::is_string);
        assert!(has_command || value.is_array() || !hostler_agent::fuzz::local_command(value));
    }
    if let Ok(question) = serde_json::from_slice::<Question>(bytes) {
        let written = serde_json::to_vec(&question).expect("a question can be written");
        let again: Question = serde_json::from_slice(&written).expect("what was written");
        assert_eq!(again, question);
    }
}
