//! Programs, as data: what is run, and what came of it.
//!
//! A program is run from its arguments, never through a shell. What is secret goes to its standard
//! input, which is redacted in every debug print and wiped after use. [`Commands`] is who runs them:
//! [`crate::System`] on a real machine, something that records and answers in tests.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::HostError;

const TIMEOUT: Duration = Duration::from_secs(60);
const OUTPUT_MAX: usize = 8 << 20;

pub type Running<'a> = Pin<Box<dyn Future<Output = Result<Finished, HostError>> + Send + 'a>>;

/// Runs programs.
pub trait Commands: fmt::Debug + Send + Sync {
    /// Runs to the end. That the program failed is no error here; that it could not be run is one.
    fn run(&self, call: Call) -> Running<'_>;

    /// Where a program is, if there is one of this name.
    fn find(&self, program: &str) -> Option<PathBuf>;
}

/// A program to run.
#[derive(Clone)]
pub struct Call {
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub timeout: Duration,
    /// Each of its two outputs is kept up to here.
    pub output_max: usize,
    /// Whether only root may do this.
    pub is_privileged: bool,
    /// Exit codes beside 0 that are answers, not failures.
    pub answers: &'static [i32],
    stdin: Option<Zeroizing<Vec<u8>>>,
}

impl Call {
    pub fn new(program: impl Into<String>) -> Call {
        Call {
            program: program.into(),
            args: Vec::new(),
            env: Vec::new(),
            timeout: TIMEOUT,
            output_max: OUTPUT_MAX,
            is_privileged: false,
            answers: &[],
            stdin: None,
        }
    }

    pub fn arg(mut self, arg: impl Into<String>) -> Call {
        self.args.push(arg.into());
        self
    }

    pub fn args<I: IntoIterator<Item: Into<String>>>(mut self, args: I) -> Call {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Call {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Call {
        self.stdin = Some(Zeroizing::new(bytes.into()));
        self
    }

    pub fn timeout(mut self, timeout: Duration) -> Call {
        self.timeout = timeout;
        self
    }

    pub fn privileged(mut self) -> Call {
        self.is_privileged = true;
        self
    }

    pub fn answers(mut self, codes: &'static [i32]) -> Call {
        self.answers = codes;
        self
    }

    pub fn argv(&self) -> Vec<String> {
        std::iter::once(&self.program).chain(&self.args).cloned().collect()
    }

    /// What the program is given on its standard input.
    pub fn input(&self) -> Option<&[u8]> {
        self.stdin.as_ref().map(|bytes| bytes.as_slice())
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("argv", &self.argv())
            .field("env", &self.env)
            .field("stdin_bytes", &self.stdin.as_ref().map(|bytes| bytes.len()))
            .field("is_privileged", &self.is_privileged)
            .finish_non_exhaustive()
    }
}

/// How a program ended and what it said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Finished {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// Whether it said more than was kept.
    pub is_cut: bool,
}

impl Finished {
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn complaint(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn input_is_never_printed() {
        let call = Call::new("chpasswd").arg("-e").stdin("ann:hunter2");
        let printed = format!("{call:?}");
        assert!(!printed.contains("hunter2"), "{printed}");
        assert!(printed.contains("stdin_bytes: Some(11)"), "{printed}");
        assert_eq!(call.argv(), ["chpasswd", "-e"]);
        assert_eq!(call.input(), Some(&b"ann:hunter2"[..]));
    }
}
