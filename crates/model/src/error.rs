//! The public error: what went wrong in words a person can act on, free of any transport.
//!
//! `server` turns it into HTTP problems and gRPC statuses, `cli` into exit codes. The cause of an
//! internal error is in `source()` and goes to the log only.

use std::error::Error as StdError;

use serde::{Deserialize, Serialize};

crate::labels! {
    /// Stable, documented codes; `docs/reference/errors.md` is generated from them.
    pub enum Code ("error code") {
        /// The request could not be read at all (malformed JSON, bad parameter).
        Malformed = "malformed",
        /// The request was read, but what it asks for is not valid; `errors` lists every reason.
        Invalid = "invalid",
        /// Nobody is logged in, or the credential is wrong, expired or revoked.
        Unauthenticated = "unauthenticated",
        /// The password is right, but a code of the second factor is needed as well; or the caller's
        /// roles need a second factor, and there is none yet.
        SecondFactorRequired = "second-factor-required",
        /// The caller is known but may not do this.
        Forbidden = "forbidden",
        /// There is no such object, or the caller may not know of it.
        NotFound = "not-found",
        /// There is no such path.
        NoSuchRoute = "no-such-route",
        /// The path exists, but not with this method.
        MethodNotAllowed = "method-not-allowed",
        /// Something of that name exists already.
        AlreadyExists = "already-exists",
        /// The object is not in a state that allows this.
        Conflict = "conflict",
        /// Others have to agree first; a request for that is made, and the answer names it.
        ApprovalRequired = "approval-required",
        /// The project may not have that much; a larger quota, or waiting, helps.
        QuotaExceeded = "quota-exceeded",
        /// `If-Match` names a generation that is not the current one.
        Stale = "stale",
        /// This change needs `If-Match`.
        PreconditionRequired = "precondition-required",
        /// The same `Idempotency-Key` was used for another request.
        KeyReused = "idempotency-key-reused",
        /// The cursor points before what is kept; list again from the start.
        CursorGone = "cursor-gone",
        /// The body is larger than allowed.
        TooLarge = "too-large",
        /// The body's content type is not understood.
        UnsupportedMediaType = "unsupported-media-type",
        /// Too many attempts; wait as `Retry-After` says.
        RateLimited = "rate-limited",
        /// The node that has what was asked for cannot be reached now.
        NodeUnreachable = "node-unreachable",
        /// The service cannot answer now (database away, shutting down); try again.
        Unavailable = "unavailable",
        /// A defect in Hostler; the log has the details under the request id.
        Internal = "internal",
    }
}

/// One mistake in what a user wrote, with where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Diagnostic {
    /// JSON pointer (RFC 6901) to the value, empty for the whole document.
    pub pointer: String,
    pub detail: String,
}

impl Diagnostic {
    pub fn new(pointer: impl Into<String>, detail: impl Into<String>) -> Diagnostic {
        Diagnostic { pointer: pointer.into(), detail: detail.into() }
    }
}

/// The error of every service method.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub struct Error {
    pub code: Code,
    /// What happened to this request, for the person who made it.
    pub detail: String,
    /// What to do next.
    pub hint: String,
    /// Every mistake, when the input was invalid.
    pub errors: Vec<Diagnostic>,
    /// For `rate-limited` and `unavailable`: after how many seconds to try again.
    pub retry_after: Option<u64>,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    pub fn new(code: Code, detail: impl Into<String>, hint: impl Into<String>) -> Error {
        Error {
            code,
            detail: detail.into(),
            hint: hint.into(),
            errors: Vec::new(),
            retry_after: None,
            source: None,
        }
    }

    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        self.source = Some(source.into());
        self
    }

    #[must_use]
    pub fn with_retry_after(mut self, seconds: u64) -> Error {
        self.retry_after = Some(seconds);
        self
    }

    pub fn not_found(kind: &str, id: impl std::fmt::Display) -> Error {
        let command = match kind {
            "join token" => "node token ls",
            "member" => "project members",
            "session" => "session ls",
            other => return Error::absent(other, id, &format!("{other} ls")),
        };
        Error::absent(kind, id, command)
    }

    fn absent(kind: &str, id: impl std::fmt::Display, command: &str) -> Error {
        let detail = format!("there is no {kind} `{id}`");
        Error::new(Code::NotFound, detail, format!("list them with `hostler {command}`"))
    }

    pub fn already_exists(kind: &str, name: impl std::fmt::Display) -> Error {
        Error::new(
            Code::AlreadyExists,
            format!("a {kind} named `{name}` exists already"),
            "choose another name, or change the existing one",
        )
    }

    pub fn invalid(errors: Vec<Diagnostic>) -> Error {
        let detail = match errors.as_slice() {
            [one] => one.detail.clone(),
            many => format!("{} mistakes in the request", many.len()),
        };
        Error {
            errors,
            ..Error::new(
                Code::Invalid,
                detail,
                "correct the fields listed in `errors` and send it again",
            )
        }
    }

    pub fn conflict(detail: impl Into<String>, hint: impl Into<String>) -> Error {
        Error::new(Code::Conflict, detail, hint)
    }

    pub fn stale(kind: &str, current: crate::Generation) -> Error {
        Error::new(
            Code::Stale,
            format!("the {kind} has changed; its generation is now {current}"),
            "read it again, look at the change, and repeat with the new ETag",
        )
    }

    pub fn forbidden(detail: impl Into<String>) -> Error {
        Error::new(
            Code::Forbidden,
            detail,
            "ask an admin of the project for a role that allows it; `hostler whoami` shows yours",
        )
    }

    pub fn unauthenticated(detail: impl Into<String>) -> Error {
        Error::new(
            Code::Unauthenticated,
            detail,
            "log in with `hostler login`, or pass a valid token in HOSTLER_TOKEN",
        )
    }

    pub fn internal(source: impl Into<Box<dyn StdError + Send + Sync>>) -> Error {
        Error::new(
            Code::Internal,
            "something failed inside Hostler",
            "the server's log has the details under this request id",
        )
        .with_source(source)
    }

    pub fn unavailable(
        detail: impl Into<String>,
        source: impl Into<Box<dyn StdError + Send + Sync>>,
    ) -> Error {
        Error::new(
            Code::Unavailable,
            detail,
            "try again in a moment; `hostler doctor` shows what is away",
        )
        .with_retry_after(2)
        .with_source(source)
    }
}
