//! State: entries by namespace and key, transactions, and the stream.
//!
//! A value is any bytes. On its own it travels as it is; inside a document it is text where it is UTF-8, and
//! otherwise base64 with `encoding` saying so.
//!
//! The *state stream* is one request whose body and answer go on side by side: lines of JSON in both
//! directions, each request with a number that its answer has too. Answers come as they are ready, in any
//! order.

use hostler_model::{
    Actor, Code, Diagnostic, Name, Role, STATE_VALUE_MAX, Span, StateChangeKind, StateEnd,
    StateKey, StateMark, StateRelation, Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Access, Listing, PageQuery, ProjectPath};

crate::endpoints! { "state"
    /// List the namespaces of a project's state that hold something.
    StateNamespaceList = "state_namespace_list" GET "/api/v1/projects/{project}/state", Access::Project(Role::Viewer), StateRead, 200,
        path: ProjectPath, query: PageQuery, reply: Listing<StateNamespaceView>, errors: [NotFound];
    /// Empty a namespace.
    StateNamespaceClear = "state_namespace_clear" DELETE "/api/v1/projects/{project}/state/{namespace}", Access::Project(Role::Operator), StateClear, 200,
        path: StateNamespacePath, reply: StateClearedView, errors: [NotFound];
    /// List entries by key, or watch what becomes of them.
    StateList = "state_list" GET "/api/v1/projects/{project}/state/{namespace}", Access::Project(Role::Viewer), StateRead, 200,
        path: StateNamespacePath, query: StateListQuery, reply: Listing<StateEntryView>, errors: [NotFound, CursorGone], stream: Watch;
    /// Show an entry with its value.
    StateGet = "state_get" GET "/api/v1/projects/{project}/state/{namespace}/entry", Access::Project(Role::Viewer), StateRead, 200,
        path: StateNamespacePath, query: StateKeyQuery, reply: StateEntryView, errors: [NotFound];
    /// Delete an entry.
    StateDelete = "state_delete" DELETE "/api/v1/projects/{project}/state/{namespace}/entry", Access::Project(Role::User), StateWrite, 200,
        path: StateNamespacePath, query: StateDeleteQuery, reply: StateDeletedView, errors: [NotFound, Stale];
    /// Read a value as it is; the answer's headers have its revision and its time.
    StateValueGet = "state_value_get" GET "/api/v1/projects/{project}/state/{namespace}/value", Access::Project(Role::Viewer), StateRead, 200,
        path: StateNamespacePath, query: StateKeyQuery, errors: [NotFound], stream: Raw;
    /// Give an entry a value: at most 1 MiB, as it is.
    StatePut = "state_put" PUT "/api/v1/projects/{project}/state/{namespace}/value", Access::Project(Role::User), StateWrite, 200,
        path: StateNamespacePath, query: StatePutQuery, reply: StateEntryView, errors: [NotFound, AlreadyExists, Stale, QuotaExceeded], raw_body: STATE_VALUE_MAX;
    /// List the changes of an entry, newest first, as far as they are kept.
    StateHistory = "state_history" GET "/api/v1/projects/{project}/state/{namespace}/history", Access::Project(Role::Viewer), StateRead, 200,
        path: StateNamespacePath, query: StateHistoryQuery, reply: Listing<StateChangeView>, errors: [NotFound, CursorGone];
    /// Carry out a transaction: where all conditions hold one list of operations, otherwise another.
    StateCommit = "state_commit" POST "/api/v1/projects/{project}/state-transactions", Access::Project(Role::User), StateWrite, 200,
        path: ProjectPath, body: StateTxnBody, reply: StateAnswerView, errors: [NotFound, Conflict, QuotaExceeded, KeyReused];
    /// Open a stream of requests and answers, which stays open.
    StateStream = "state_stream" POST "/api/v1/projects/{project}/state-stream", Access::Project(Role::Viewer), StateRead, 200,
        path: ProjectPath, reply: StateLine, errors: [NotFound], stream: Duplex;
}

/// The revision of an entry, beside its value.
pub const STATE_REVISION_HEADER: &str = "hostler-state-revision";
/// How often it was changed.
pub const STATE_VERSION_HEADER: &str = "hostler-state-version";
/// When it is gone, where that is known.
pub const STATE_EXPIRES_HEADER: &str = "hostler-state-expires";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateNamespacePath {
    /// Name or id of the project.
    pub project: String,
    pub namespace: Name,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateKeyQuery {
    pub key: StateKey,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StateListQuery {
    /// Only keys that begin with this.
    #[schemars(length(max = 512))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// With their values; `limit` is at most 100 then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<bool>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before; with `watch`, the revision after which to begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// Stream changes instead of listing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watch: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StatePutQuery {
    pub key: StateKey,
    /// After this long it is gone; when absent it stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
    /// Only if its revision is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<u64>,
    /// Only if there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_absent: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StateDeleteQuery {
    pub key: StateKey,
    /// Only if its revision is this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StateHistoryQuery {
    pub key: StateKey,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

hostler_model::labels! {
    /// How a value is written in a document.
    pub enum StateEncoding ("encoding") {
        Text = "text",
        Base64 = "base64",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateNamespaceView {
    pub name: Name,
    pub entries: u64,
    /// Keys and values.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateClearedView {
    /// Entries that went.
    pub entries: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateDeletedView {
    /// Of the deletion.
    pub revision: u64,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateEntryView {
    pub namespace: Name,
    pub key: StateKey,
    /// Absent where it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// `base64` where the value is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<StateEncoding>,
    /// Of the value, in bytes.
    pub size: u64,
    /// Of its last change.
    pub revision: u64,
    /// Of the change that made it.
    pub create_revision: u64,
    /// How often it was changed since it was made.
    pub version: u64,
    /// Who changed it last.
    pub owner: Actor,
    pub time_created: Timestamp,
    pub time_modified: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_expires: Option<Timestamp>,
}

/// One change of an entry: what histories are made of, and what a watch tells.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateChangeView {
    pub kind: StateChangeKind,
    pub namespace: Name,
    pub key: StateKey,
    pub revision: u64,
    /// Of the change of this entry before; 0 when this is the first.
    pub previous: u64,
    pub create_revision: u64,
    pub version: u64,
    /// Of a `put`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<StateEncoding>,
    pub owner: Actor,
    pub time: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_expires: Option<Timestamp>,
}

hostler_model::labels! {
    /// What is done with an entry.
    pub enum StateVerb ("operation") {
        Get = "get",
        /// Needs `value`.
        Put = "put",
        Delete = "delete",
        /// Needs `ttl`, or `never`.
        Touch = "touch",
        /// Adds `by`, 1 when absent.
        Increment = "increment",
        /// Adds `items` to a list, at `end`.
        Push = "push",
        /// Takes `count` items, 1 when absent, from `end` of a list.
        Pop = "pop",
        Length = "length",
    }
}

/// One operation. Which fields it has depends on `op`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StateOpBody {
    pub op: StateVerb,
    /// `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Name>,
    pub key: StateKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<StateEncoding>,
    /// After this long it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<Span>,
    /// It stays: for `touch`, `increment` and `push`, which otherwise leave its time as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<i64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<serde_json::Value>,
    /// `back` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<StateEnd>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

impl StateOpBody {
    /// With nothing but what every operation has.
    pub fn new(op: StateVerb, namespace: Name, key: StateKey) -> StateOpBody {
        StateOpBody {
            op,
            namespace: Some(namespace),
            key,
            value: None,
            encoding: None,
            ttl: None,
            never: None,
            by: None,
            items: Vec::new(),
            end: None,
            count: None,
        }
    }
}

hostler_model::labels! {
    /// What is asked about an entry.
    pub enum StateQuestion ("condition") {
        Present = "present",
        Absent = "absent",
        /// Needs `number`; `is` is `equal` when absent.
        Revision = "revision",
        /// The same, of the change that made it.
        CreateRevision = "create-revision",
        /// The same, of how often it was changed.
        Version = "version",
        /// Needs `value`; not true of an entry that is not there.
        Value = "value",
    }
}

impl StateQuestion {
    /// The number that it is about, if it is about one.
    pub const fn mark(self) -> Option<StateMark> {
        match self {
            StateQuestion::Revision => Some(StateMark::Revision),
            StateQuestion::CreateRevision => Some(StateMark::CreateRevision),
            StateQuestion::Version => Some(StateMark::Version),
            StateQuestion::Present | StateQuestion::Absent | StateQuestion::Value => None,
        }
    }
}

/// What has to be true of an entry.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StateCompareBody {
    #[serde(rename = "if")]
    pub question: StateQuestion,
    /// `default` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<Name>,
    pub key: StateKey,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is: Option<StateRelation>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<StateEncoding>,
}

/// All or nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct StateTxnBody {
    /// All of them have to hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub compare: Vec<StateCompareBody>,
    /// What is done when they do.
    pub then: Vec<StateOpBody>,
    /// What is done when one does not.
    #[serde(rename = "else", skip_serializing_if = "Vec::is_empty")]
    pub otherwise: Vec<StateOpBody>,
}

/// What one operation came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct StateResultView {
    /// Of the entry after it; 0 where there is none.
    pub revision: u64,
    /// How often the entry was changed; 0 where there is none.
    pub version: u64,
    /// Of a `get`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<StateEntryView>,
    /// Of a `delete`: whether there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// Of an `increment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<i64>,
    /// Of a list, after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// Of a `pop`.
    #[schemars(with = "Vec<serde_json::Value>")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<Box<RawValue>>,
}

/// What a transaction came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateAnswerView {
    /// Whether every condition held.
    pub held: bool,
    /// Of this transaction; the newest before it where it changed nothing.
    pub revision: u64,
    /// One for every operation that was done.
    pub results: Vec<StateResultView>,
}

/// A line that a client sends on a stream: a number of its own, and one of the other two.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StateAsk {
    pub id: u64,
    /// One operation.
    #[serde(rename = "do", default, skip_serializing_if = "Option::is_none")]
    pub op: Option<StateOpBody>,
    /// With `do`: only if the entry's revision is this; 0 is that there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub if_revision: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub txn: Option<StateTxnBody>,
}

/// A line that a server sends on a stream: what became of the request with this number.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateLine {
    pub id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<StateAnswerView>,
    /// Nothing was changed, unless its code is `unavailable`: then nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<StateProblem>,
}

/// Why a request of a stream failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateProblem {
    pub code: Code,
    pub detail: String,
    /// What to do next.
    pub hint: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Diagnostic>,
}
