//! What can go wrong on a machine, with what to do about it.
//!
//! An error of a program carries what was run, how it ended and the tail of what it complained about.
//! Secrets are never on a command line, so they are never in an error.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much of a program's complaint is kept.
const COMPLAINT_MAX: usize = 2000;

#[derive(Debug, thiserror::Error)]
pub enum HostError {
    #[error("{what} `{given}` cannot be used: {problem}")]
    Invalid { what: &'static str, given: String, problem: String },
    #[error("`{given}` is not a regular expression; mend it, or escape what is meant literally")]
    Pattern {
        given: String,
        #[source]
        source: Box<regex::Error>,
    },
    #[error("{} cannot be {doing}{}", path.display(), after_io(source))]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "{} is a symbolic link and is not followed; name what it leads to, or say `follow`",
        path.display()
    )]
    Link { path: PathBuf },
    #[error("{} is {is}, not {wanted}; move it away first, or name another path", path.display())]
    Kind { path: PathBuf, is: &'static str, wanted: &'static str },
    #[error("{} is not empty; say `recursive` to remove it with all that is in it", path.display())]
    NotEmpty { path: PathBuf },
    #[error("{} has more than {max} bytes, which is too much for this", path.display())]
    TooLarge { path: PathBuf, max: u64 },
    #[error("{} is not UTF-8 text; replace it as a whole instead of editing it", path.display())]
    NotText { path: PathBuf },
    #[error("{} cannot be edited: {problem}", path.display())]
    Edit { path: PathBuf, problem: String },
    #[error("{} cannot be unpacked: {problem}", path.display())]
    Archive { path: PathBuf, problem: String },
    #[error("there is no {what} `{name}`; {next}")]
    Absent { what: &'static str, name: String, next: &'static str },
    #[error("{program} is missing: {next}")]
    Missing { program: String, next: &'static str },
    #[error(
        "no package manager was found; install one of apt-get, dnf, yum, pacman, zypper, apk, or use a machine that has one"
    )]
    NoPackageManager,
    #[error("no firewall was found; install one of firewalld, ufw, iptables, nftables")]
    NoFirewall,
    #[error(
        "`{program}` needs the rights of root; run the agent as root, or let it use sudo without a password"
    )]
    Privilege { program: String },
    #[error("`{}` cannot be started{}", argv.join(" "), after_io(source))]
    Start {
        argv: Vec<String>,
        #[source]
        source: io::Error,
    },
    #[error("`{}` {}{}", argv.join(" "), ending(*code), complaint(stderr))]
    Failed { argv: Vec<String>, code: Option<i32>, stderr: String },
    #[error(
        "`{}` did not end within {} s and was killed; see what it waits for, or allow it more time",
        argv.join(" "),
        after.as_secs()
    )]
    Timeout { argv: Vec<String>, after: Duration },
    #[error("`{}` said more than {max} bytes, so that its answer is incomplete", argv.join(" "))]
    TooMuch { argv: Vec<String>, max: usize },
    #[error("this process is stopping; do it again once it is back")]
    Stopping,
}

impl HostError {
    pub(crate) fn invalid(
        what: &'static str,
        given: impl Into<String>,
        problem: impl Into<String>,
    ) -> HostError {
        let given: String = given.into();
        HostError::Invalid {
            what,
            given: given.chars().take(200).collect(),
            problem: problem.into(),
        }
    }

    pub(crate) fn failed(argv: Vec<String>, code: Option<i32>, stderr: &[u8]) -> HostError {
        HostError::Failed { argv, code, stderr: tail(stderr) }
    }
}

/// Says what was being done to which path.
pub(crate) fn io_at<E: Into<io::Error>>(
    doing: &'static str,
    path: &Path,
) -> impl FnOnce(E) -> HostError + use<E> {
    let path = path.to_owned();
    move |source| HostError::Io { doing, path, source: source.into() }
}

/// The end of a text, cut at a character.
pub(crate) fn tail(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_end();
    let cut = text.len().saturating_sub(COMPLAINT_MAX);
    let start = (cut..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    text[start..].to_owned()
}

fn after_io(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied => "; run the agent as root, or give its user the right",
        io::ErrorKind::NotFound => "; make what is missing first",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; make room on the disk",
        io::ErrorKind::ReadOnlyFilesystem => "; mount the file system writable",
        io::ErrorKind::ResourceBusy => "; something is mounted there, unmount it first",
        _ => "",
    }
}

fn ending(code: Option<i32>) -> String {
    match code {
        Some(code) => format!("failed with exit code {code}"),
        None => "was ended by a signal".to_owned(),
    }
}

fn complaint(stderr: &str) -> String {
    if stderr.is_empty() { String::new() } else { format!(": {stderr}") }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_failed_program_says_what_it_was_and_what_it_complained_about() {
        let argv = vec!["useradd".to_owned(), "ann".to_owned()];
        let error = HostError::failed(argv.clone(), Some(9), b"useradd: user 'ann' exists\n");
        assert_eq!(
            error.to_string(),
            "`useradd ann` failed with exit code 9: useradd: user 'ann' exists"
        );
        let error = HostError::failed(argv, None, b"");
        assert_eq!(error.to_string(), "`useradd ann` was ended by a signal");
    }

    #[test]
    fn only_the_tail_of_a_complaint_is_kept_and_no_character_is_split() {
        let long = format!("start {} the end", "ä".repeat(3000));
        let kept = tail(long.as_bytes());
        assert!(kept.len() <= COMPLAINT_MAX && kept.ends_with("the end"));
        assert!(!kept.contains("start"));
    }

    #[test]
    fn the_cause_is_the_source_and_the_next_step_is_in_words() {
        let error =
            io_at("written", Path::new("/etc/x"))(io::Error::from(io::ErrorKind::PermissionDenied));
        assert!(error.to_string().starts_with("/etc/x cannot be written; run the agent as root"));
        assert!(error.source().is_some());
    }
}
