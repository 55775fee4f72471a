//! What can go wrong with a call, in words for the person who made it.

use std::error::Error as StdError;
use std::time::Duration;

use hostler_api::Problem;
use hostler_model::{Code, Diagnostic};

type Source = Box<dyn StdError + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server answered that it will not.
    #[error("{}", .0.detail)]
    Problem(Box<Problem>),
    #[error("cannot reach the server at {address}")]
    Unreachable {
        address: String,
        #[source]
        source: Source,
    },
    #[error("the server at {address} did not prove that it belongs to the pinned authority")]
    Untrusted {
        address: String,
        #[source]
        source: Source,
    },
    #[error("no answer from {address} within {} seconds", .after.as_secs_f32())]
    Timeout { address: String, after: Duration },
    #[error("{address} gave an answer that is not understood: {detail}")]
    Unexpected {
        address: String,
        detail: String,
        #[source]
        source: Option<Source>,
    },
    #[error("`{address}` is not an address; write for example https://host:7443")]
    Address { address: String },
    #[error("the client cannot be set up")]
    Setup(#[source] Source),
    #[error("the content cannot be read or written here")]
    Local(#[source] std::io::Error),
}

impl Error {
    /// The server's code, when it gave one.
    pub fn code(&self) -> Option<Code> {
        match self {
            Error::Problem(problem) => Some(problem.code),
            Error::Unreachable { .. }
            | Error::Untrusted { .. }
            | Error::Timeout { .. }
            | Error::Unexpected { .. }
            | Error::Address { .. }
            | Error::Setup(_)
            | Error::Local(_) => None,
        }
    }

    /// The same with another hint, where the server refused with this code.
    #[must_use]
    pub fn with_hint(mut self, code: Code, hint: impl Into<String>) -> Error {
        if let Error::Problem(problem) = &mut self
            && problem.code == code
        {
            problem.hint = hint.into();
        }
        self
    }

    pub fn is(&self, code: Code) -> bool {
        self.code() == Some(code)
    }

    /// What to do next.
    pub fn hint(&self) -> &str {
        match self {
            Error::Problem(problem) => &problem.hint,
            Error::Unreachable { .. } => {
                "is it running, and is the address right? `hostler doctor` checks both"
            }
            Error::Untrusted { .. } => {
                "if the installation was made anew, `hostler login` pins its authority again; if not, somebody may be in between"
            }
            Error::Timeout { .. } => "try again; `hostler doctor` shows what is slow or away",
            Error::Unexpected { .. } => {
                "is it a Hostler server of a neighbouring version? `hostler version` shows both"
            }
            Error::Address { .. } => "give the address of a server, as `hostler up` printed it",
            Error::Setup(_) => "`hostler login` pins the authority anew",
            Error::Local(_) => "check the file, its rights and the space on the disk",
        }
    }

    /// Every mistake that the server found in what was sent.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Error::Problem(problem) => &problem.errors,
            Error::Unreachable { .. }
            | Error::Untrusted { .. }
            | Error::Timeout { .. }
            | Error::Unexpected { .. }
            | Error::Address { .. }
            | Error::Setup(_)
            | Error::Local(_) => &[],
        }
    }

    /// Names the request in the server's log.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Error::Problem(problem) => Some(&problem.request_id),
            Error::Unreachable { .. }
            | Error::Untrusted { .. }
            | Error::Timeout { .. }
            | Error::Unexpected { .. }
            | Error::Address { .. }
            | Error::Setup(_)
            | Error::Local(_) => None,
        }
    }

    /// Whether the same call may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        match self {
            Error::Problem(problem) => {
                matches!(problem.code, Code::Unavailable | Code::NodeUnreachable)
            }
            Error::Unreachable { .. } | Error::Timeout { .. } => true,
            Error::Untrusted { .. }
            | Error::Unexpected { .. }
            | Error::Address { .. }
            | Error::Setup(_)
            | Error::Local(_) => false,
        }
    }

    /// Sorts what the HTTP library says into what a person needs to know.
    pub(crate) fn from_transport(address: &str, error: reqwest::Error) -> Error {
        let error = error.without_url();
        let address = address.to_owned();
        if error.is_decode() || error.is_builder() {
            return Error::Unexpected {
                address,
                detail: "the answer cannot be read".to_owned(),
                source: Some(error.into()),
            };
        }
        let source = root_cause(&error).into();
        if is_certificate_refused(&error) {
            return Error::Untrusted { address, source };
        }
        Error::Unreachable { address, source }
    }
}

/// What lies at the bottom; the layers above it only name parts of the HTTP library.
fn root_cause(error: &(dyn StdError + 'static)) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

fn is_certificate_refused(error: &(dyn StdError + 'static)) -> bool {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>()
            && let Some(inner) = io.get_ref()
            && is_certificate_refused(inner)
        {
            return true;
        }
        if error.to_string().starts_with("invalid peer certificate") {
            return true;
        }
        cause = error.source();
    }
    false
}
