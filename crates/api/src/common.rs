//! Shapes that many endpoints share: pages, watch streams, problems.

use hostler_model::{Code, Diagnostic};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listing<T> {
    pub items: Vec<T>,
    /// Pass it as `cursor` to get what follows; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Where a watch that misses nothing after this list begins; absent where nothing can be watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watch_cursor: Option<String>,
}

/// Parameters of lists that take nothing but these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
pub struct PageQuery {
    /// Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
    /// be empty although more follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// At most this many items (1 to 1000, default 100).
    #[schemars(range(min = 1, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// `nextCursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

crate::paged!(PageQuery);

/// Parameters of a list that has pages and takes a filter of what it answers.
pub trait Paged {
    fn limit(&self) -> Option<u32>;
    fn cursor(&self) -> Option<&str>;
    fn filter(&self) -> Option<&str>;
}

/// Implements [`Paged`] for parameters that have fields of these names.
#[macro_export]
macro_rules! paged {
    ($query:ident) => {
        impl $crate::Paged for $query {
            fn limit(&self) -> Option<u32> {
                self.limit
            }
            fn cursor(&self) -> Option<&str> {
                self.cursor.as_deref()
            }
            fn filter(&self) -> Option<&str> {
                self.filter.as_deref()
            }
        }
    };
}

/// One message of a watch stream: the SSE event name is `type`, its id the cursor to resume from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", bound(deserialize = "T: Deserialize<'de>"))]
pub struct WatchMessage<T> {
    #[serde(rename = "type")]
    pub kind: WatchKind,
    pub cursor: String,
    /// The object as it is now; absent for `BOOKMARK`, only id and name are certain for `DELETED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<T>,
    /// Id of the object, for `DELETED`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

hostler_model::labels! {
    pub enum WatchKind ("watch message type") {
        Added = "ADDED",
        Modified = "MODIFIED",
        Deleted = "DELETED",
        /// Nothing happened; remember the cursor.
        Bookmark = "BOOKMARK",
    }
}

/// The body of every error (RFC 9457, `application/problem+json`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// Address of the code's documentation.
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub status: u16,
    pub detail: String,
    pub code: Code,
    /// What to do next.
    pub hint: String,
    /// Names this request in the server's log.
    pub request_id: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Diagnostic>,
}

pub const PROBLEM_CONTENT_TYPE: &str = "application/problem+json";
/// Repeats of a POST with the same key and body have one effect and the same answer for 24 hours.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// Names the approval that a request which needs one has.
pub const APPROVAL_HEADER: &str = "hostler-approval";
/// The reason for doing without an approval what needs one.
pub const BREAK_GLASS_HEADER: &str = "hostler-break-glass";
/// Browsers must send the token they got at login with every change.
pub const CSRF_HEADER: &str = "x-hostler-csrf";
pub const SESSION_COOKIE: &str = "hostler_session";
pub const REQUEST_ID_HEADER: &str = "x-request-id";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectPath {
    /// Name or id of the project.
    pub project: String,
}
