//! Exit codes: what a script can tell from a command's end.

use hostler_client::Error;
use hostler_model as model;

/// Every code but those that `run` passes on from a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Code {
    Success = 0,
    Failure = 1,
    Usage = 2,
    NotFound = 3,
    Unhealthy = 4,
    Conflict = 5,
    Denied = 6,
    ApprovalRequired = 7,
    Unreachable = 8,
    TimedOut = 9,
    ChangesPresent = 10,
    Unplaceable = 11,
    Lost = 12,
}

impl Code {
    pub const ALL: &'static [Code] = &[
        Code::Success,
        Code::Failure,
        Code::Usage,
        Code::NotFound,
        Code::Unhealthy,
        Code::Conflict,
        Code::Denied,
        Code::ApprovalRequired,
        Code::Unreachable,
        Code::TimedOut,
        Code::ChangesPresent,
        Code::Unplaceable,
        Code::Lost,
    ];

    pub const fn number(self) -> u8 {
        self as u8
    }

    pub const fn meaning(self) -> &'static str {
        match self {
            Code::Success => "success, no changes, healthy",
            Code::Failure => "failure of another kind; `doctor` found something",
            Code::Usage => "wrong usage: a flag, a file or a request that is not valid",
            Code::NotFound => "not found",
            Code::Unhealthy => "it ended, but not well: failed, killed, lost, rolled back",
            Code::Conflict => {
                "conflict: exists already, is in the wrong state, has changed meanwhile, quota used up"
            }
            Code::Denied => {
                "denied: not logged in, not allowed, or the server is not the trusted one"
            }
            Code::ApprovalRequired => "an approval is needed or pending",
            Code::Unreachable => "the server or the node cannot be reached",
            Code::TimedOut => "timed out while waiting; the work goes on",
            Code::ChangesPresent => "a plan or a difference has changes",
            Code::Unplaceable => "cannot be placed on any node",
            Code::Lost => "a lock was lost: its time was over, or it was taken away",
        }
    }

    /// The exit code of a server's error code.
    pub const fn of(code: model::Code) -> Code {
        match code {
            model::Code::Malformed
            | model::Code::Invalid
            | model::Code::TooLarge
            | model::Code::UnsupportedMediaType => Code::Usage,
            model::Code::Unauthenticated
            | model::Code::SecondFactorRequired
            | model::Code::Forbidden => Code::Denied,
            model::Code::NotFound => Code::NotFound,
            model::Code::AlreadyExists
            | model::Code::Conflict
            | model::Code::QuotaExceeded
            | model::Code::Stale
            | model::Code::PreconditionRequired
            | model::Code::KeyReused
            | model::Code::CursorGone => Code::Conflict,
            model::Code::ApprovalRequired => Code::ApprovalRequired,
            model::Code::NodeUnreachable | model::Code::Unavailable => Code::Unreachable,
            model::Code::NoSuchRoute
            | model::Code::MethodNotAllowed
            | model::Code::RateLimited
            | model::Code::Internal => Code::Failure,
        }
    }

    pub fn of_error(error: &Error) -> Code {
        match error {
            Error::Problem(problem) => Code::of(problem.code),
            Error::Unreachable { .. } | Error::Timeout { .. } => Code::Unreachable,
            Error::Untrusted { .. } => Code::Denied,
            Error::Address { .. } => Code::Usage,
            Error::Unexpected { .. } | Error::Setup(_) | Error::Local(_) => Code::Failure,
        }
    }
}

impl From<Code> for u8 {
    fn from(code: Code) -> u8 {
        code.number()
    }
}

/// What `run` shows of a task that was interrupted here and goes on there.
pub const INTERRUPTED: u8 = 130;
