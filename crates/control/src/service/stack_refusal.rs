//! Why something is not done with a stack: once for people, and once in the words that programs compare that were made for
//! Heat.

use hostler_model::{Caller, Code, Diagnostic, Error, Need, Permission, Project};
use hostler_template::diagnostic::{Diagnostics, Fault};

use super::access::refusal;
use crate::Cx;

/// The error of every service of stacks.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct StackRefusal {
    pub error: Box<Error>,
    /// What kind of mistake it is, as Heat calls it: `StackValidationFailed`.
    pub kind: &'static str,
    /// As Heat words it.
    pub message: String,
    /// Everything that is wrong with a template or an environment, each with its file, line and column.
    pub wrong: Diagnostics,
}

impl StackRefusal {
    pub(crate) fn new(
        kind: &'static str,
        message: impl Into<String>,
        error: Error,
    ) -> StackRefusal {
        StackRefusal {
            error: Box::new(error),
            kind,
            message: message.into(),
            wrong: Diagnostics::new(),
        }
    }

    /// The request says something that cannot be.
    pub(crate) fn invalid(kind: &'static str, pointer: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let error = Error::invalid(vec![Diagnostic::new(pointer, message.clone())]);
        StackRefusal::new(kind, message, error)
    }

    /// The stack does not stand so that this can be done.
    pub(crate) fn state(kind: &'static str, message: impl Into<String>, hint: &str) -> Self {
        let message = message.into();
        StackRefusal::new(kind, message.clone(), Error::conflict(message, hint))
    }

    /// There may be no more of it.
    pub(crate) fn limit(message: &str, error: Error) -> StackRefusal {
        let message = format!("Request limit exceeded: {message}");
        StackRefusal::new("RequestLimitExceeded", message, error)
    }

    pub(crate) fn missing(what: &str, name: &str) -> StackRefusal {
        let message = match what {
            "stack" => format!("The Stack ({name}) could not be found."),
            _ => format!("The {what} ({name}) could not be found."),
        };
        StackRefusal::new("EntityNotFound", message, Error::not_found(what, name))
    }
}

impl From<Error> for StackRefusal {
    fn from(error: Error) -> StackRefusal {
        let kind = match error.code {
            Code::Malformed => "HTTPBadRequest",
            Code::Invalid => "StackValidationFailed",
            Code::NotFound => "EntityNotFound",
            Code::AlreadyExists => "StackExists",
            Code::Conflict | Code::Stale | Code::KeyReused => "ActionInProgress",
            Code::QuotaExceeded | Code::TooLarge => "RequestLimitExceeded",
            Code::Forbidden | Code::Unauthenticated | Code::ApprovalRequired => "Forbidden",
            _ => "Error",
        };
        StackRefusal::new(kind, error.detail.clone(), error)
    }
}

impl From<hostler_store::Error> for StackRefusal {
    fn from(error: hostler_store::Error) -> StackRefusal {
        Error::from(error).into()
    }
}

impl From<StackRefusal> for Error {
    fn from(refusal: StackRefusal) -> Error {
        *refusal.error
    }
}

impl From<Diagnostics> for StackRefusal {
    fn from(wrong: Diagnostics) -> StackRefusal {
        let errors = wrong.iter().filter(|one| one.fault != Fault::Warning).map(|one| {
            let pointer = match one.file.as_str() {
                "" => String::new(),
                whole @ ("template" | "environment") => format!("/{whole}"),
                name => format!("/files/{}", name.replace('~', "~0").replace('/', "~1")),
            };
            Diagnostic::new(pointer, one.to_string())
        });
        let error = Error::invalid(errors.collect());
        let (kind, message) = match wrong.first() {
            Some(first) => (first.fault.heat_type(), first.api_message()),
            None => ("StackValidationFailed", error.detail.clone()),
        };
        StackRefusal { error: Box::new(error), kind, message, wrong }
    }
}

/// Whether the caller may do this with the stacks of a project.
pub(super) fn require(cx: &Cx, project: &Project, permission: Permission) -> Result<(), Error> {
    let need = Need::of(permission, Some(project.id));
    let caller: &Caller = &cx.caller;
    if caller.may(need) { Ok(()) } else { Err(refusal(caller, need)) }
}
