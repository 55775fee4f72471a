//! What every error code means and what to do about it, known without a server.

use hostler_api::openapi::status_of;
use hostler_model::Code;

use crate::exit;

/// Meaning, and what to do.
const fn about(code: Code) -> (&'static str, &'static str) {
    match code {
        Code::Malformed => (
            "The request could not be read at all: malformed JSON, an unknown field, a parameter that is not of its type.",
            "Correct the request; the message says where reading stopped. If this command line made it, the versions of client and server may be too far apart: `hostler version` shows both.",
        ),
        Code::Invalid => (
            "The request was read, but what it asks for is not valid. Every reason is listed with where it is.",
            "Correct the fields that are listed and send it again.",
        ),
        Code::Unauthenticated => (
            "Nobody is logged in, or the password or token is wrong, expired or revoked.",
            "Log in with `hostler login`, or give a valid token in HOSTLER_TOKEN.",
        ),
        Code::SecondFactorRequired => (
            "The password is right, but a code of the second factor is needed too; or your role needs a second factor, and you have none yet.",
            "Log in again with the code of your authenticator (`hostler login` asks for it), or with a recovery code. Where you have none yet: `hostler auth totp enrol`.",
        ),
        Code::Forbidden => (
            "You are known, but your roles do not allow this.",
            "`hostler whoami` shows your roles. Ask an admin of the project for one that allows it (`hostler project grant`). A token may allow less than its owner may do.",
        ),
        Code::NotFound => (
            "There is no such object, or you may not know of it.",
            "List what there is (`ls`), and look whether you work in the right project: `hostler context show`.",
        ),
        Code::NoSuchRoute => (
            "The server has no such path.",
            "Look at the address and at the versions: `hostler version`. The API is described at /openapi.json.",
        ),
        Code::MethodNotAllowed => {
            ("The path exists, but not with this method.", "The API is described at /openapi.json.")
        }
        Code::AlreadyExists => (
            "Something of that name exists already.",
            "Choose another name, or change the existing one.",
        ),
        Code::Conflict => (
            "The object is not in a state that allows this, such as removing a task that still runs.",
            "The message says which state it is in; bring it into another one first, or wait.",
        ),
        Code::ApprovalRequired => (
            "Others have to agree first: a policy of approvals holds this back. A request was made, and the message names it.",
            "Wait until it is approved (`hostler approval show ID`), then repeat the command with `--approval ID`. In an emergency, who may does it with `--break-glass REASON`.",
        ),
        Code::QuotaExceeded => (
            "There may not be that much at once: the project's quota for tasks that wait or run is used up, or there are as many locks, schedules, hooks or watchers, or as much state or content, as there may be. The message says which, and how many.",
            "For tasks wait until some have ended, or ask an admin for more: `hostler project set PROJECT --quota-tasks N`; `hostler queue` shows what is held. Of everything else remove what is not needed any more (`hostler schedule rm`, `hook rm`, `watcher rm`, `state clear`, `image rm` and so on).",
        ),
        Code::Stale => (
            "The object has changed since you looked at it, so your change was not made.",
            "Read it again, look at what changed, and repeat. This command line does so by itself a few times.",
        ),
        Code::PreconditionRequired => (
            "This change must say which generation of the object it was made for, with `If-Match`.",
            "Read the object and send its ETag in `If-Match`.",
        ),
        Code::KeyReused => (
            "The same `Idempotency-Key` was used for another request within a day.",
            "Use a fresh key for every request that is not a repetition.",
        ),
        Code::CursorGone => (
            "The cursor points before what the server keeps.",
            "List again from the start, and watch from the new cursor.",
        ),
        Code::TooLarge => (
            "The request is larger than allowed.",
            "Send less at once; batches hold at most 1000 tasks.",
        ),
        Code::UnsupportedMediaType => (
            "The content type of the request is not understood.",
            "Send JSON, with `Content-Type: application/json`.",
        ),
        Code::RateLimited => {
            ("Too many attempts in a short time.", "Wait as `Retry-After` says, then try again.")
        }
        Code::NodeUnreachable => (
            "The node that has what was asked for, such as the output of a task, is not connected now.",
            "`hostler node describe NODE` shows since when. Its tasks go on; their output can be read when it is back.",
        ),
        Code::Unavailable => (
            "The server cannot answer now: its database is away, or it is starting or stopping.",
            "Try again in a moment; `hostler doctor` shows what is away.",
        ),
        Code::Internal => (
            "A defect in Hostler.",
            "The server's log has the details under the request id. Please report it.",
        ),
    }
}

/// What `hostler explain CODE` prints.
pub fn explanation(code: Code) -> String {
    let (meaning, advice) = about(code);
    let exit = exit::Code::of(code);
    format!(
        "{code} (HTTP {}, exit code {})\n\n{meaning}\n\nWhat to do: {advice}\n",
        status_of(code),
        exit.number()
    )
}

/// Reference of all error codes and exit codes.
pub fn errors_markdown() -> String {
    let mut text = String::from(
        "# Errors\n\nEvery error of the API is a problem document (RFC 9457) with one of these codes; \
         `hostler explain CODE` prints the same without a server.\n\n\
         | code | HTTP | exit | meaning | what to do |\n|---|---|---|---|---|\n",
    );
    for code in Code::ALL {
        let (meaning, advice) = about(*code);
        text.push_str(&format!(
            "| `{code}` | {} | {} | {meaning} | {advice} |\n",
            status_of(*code),
            exit::Code::of(*code).number()
        ));
    }
    text.push_str("\n## Exit codes\n\n");
    text.push_str(&exit_table());
    text
}

pub(crate) fn exit_table() -> String {
    let mut text = String::from("| code | meaning |\n|---|---|\n");
    for code in exit::Code::ALL {
        text.push_str(&format!("| {} | {} |\n", code.number(), code.meaning()));
    }
    text.push_str(&format!(
        "| {} | `run` was interrupted here; the task goes on |\n| other | `run` passes on the task's own code, or 128 + signal |\n",
        exit::INTERRUPTED
    ));
    text
}
