//! How commands fail, and how that is told: what happened, every mistake, what to do next, the code.

use hostler_base::chain;
use hostler_client::Error;

use crate::exit;
use crate::output::lines;

/// Why a command did not succeed.
#[derive(Debug)]
pub enum Failure {
    /// The server refused, or there is none.
    Client(Error),
    /// Found out here.
    Told { exit: exit::Code, detail: String, hint: String },
    /// Something on this machine did not work.
    Other(anyhow::Error),
    /// Nobody reads what we print any more.
    NoReader,
}

/// The exit code of a command that did what it was to do.
pub type Outcome = Result<u8, Failure>;

impl Failure {
    pub fn told(exit: exit::Code, detail: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::Told { exit, detail: detail.into(), hint: hint.into() }
    }

    pub fn usage(detail: impl Into<String>, hint: impl Into<String>) -> Failure {
        Failure::told(exit::Code::Usage, detail, hint)
    }

    pub fn exit(&self) -> u8 {
        match self {
            Failure::Client(error) => exit::Code::of_error(error).number(),
            Failure::Told { exit, .. } => exit.number(),
            Failure::Other(_) => exit::Code::Failure.number(),
            Failure::NoReader => exit::Code::Success.number(),
        }
    }

    /// What stderr shows; empty where there is nothing to say.
    pub fn render(&self, is_colored: bool) -> String {
        let error = if is_colored { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
        match self {
            Failure::Client(problem) => {
                let mut text = format!("{error} {}\n", lines(&chain(problem).to_string()));
                for diagnostic in problem.diagnostics() {
                    let at = match diagnostic.pointer.as_str() {
                        "" => "the whole",
                        pointer => pointer,
                    };
                    // A single mistake is what the refusal says already.
                    if diagnostic.detail == problem.to_string() {
                        if !diagnostic.pointer.is_empty() {
                            text.push_str(&format!("  at: {}\n", lines(at)));
                        }
                        continue;
                    }
                    text.push_str(&format!("  {}: {}\n", lines(at), lines(&diagnostic.detail)));
                }
                text.push_str(&format!("  hint: {}\n", lines(problem.hint())));
                if let Some(code) = problem.code() {
                    text.push_str(&format!("  code: {code} (`hostler explain {code}`)"));
                    if let Some(id) = problem.request_id().filter(|id| !id.is_empty()) {
                        text.push_str(&format!(", request {}", lines(id)));
                    }
                    text.push('\n');
                }
                text
            }
            Failure::Told { detail, hint, .. } => {
                let hint =
                    if hint.is_empty() { String::new() } else { format!("  hint: {hint}\n") };
                format!("{error} {}", lines(&format!("{detail}\n{hint}")))
            }
            Failure::Other(other) => format!("{error} {}\n", lines(&format!("{other:#}"))),
            Failure::NoReader => String::new(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Client(error)
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Failure {
        Failure::Other(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            Failure::NoReader
        } else {
            Failure::Other(error.into())
        }
    }
}

impl From<hostler_base::fs::Error> for Failure {
    fn from(error: hostler_base::fs::Error) -> Failure {
        Failure::Other(error.into())
    }
}

#[cfg(test)]
mod tests {
    use hostler_api::Problem;
    use hostler_model::{Code, Diagnostic};

    use super::*;

    fn told(errors: Vec<Diagnostic>) -> String {
        let refused = hostler_model::Error::invalid(errors);
        let problem = Problem {
            kind: "about:blank".to_owned(),
            title: String::new(),
            status: 422,
            detail: refused.detail,
            code: Code::Invalid,
            hint: "mend it".to_owned(),
            request_id: String::new(),
            errors: refused.errors,
        };
        Failure::Client(Error::Problem(Box::new(problem))).render(false)
    }

    #[test]
    fn a_single_mistake_is_told_once_with_its_place() {
        let one = told(vec![Diagnostic::new("/spec/command", "the command is empty")]);
        assert_eq!(
            one,
            "error: the command is empty\n  at: /spec/command\n  hint: mend it\n  code: invalid (`hostler explain invalid`)\n"
        );
        let whole = told(vec![Diagnostic::new("", "it is empty")]);
        assert_eq!(
            whole,
            "error: it is empty\n  hint: mend it\n  code: invalid (`hostler explain invalid`)\n"
        );
        let several =
            told(vec![Diagnostic::new("/a", "a is wrong"), Diagnostic::new("/b", "b is wrong")]);
        assert!(several.contains("  /a: a is wrong\n  /b: b is wrong\n"), "{several}");
    }
}
