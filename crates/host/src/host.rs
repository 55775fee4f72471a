//! Where primitives act: below which directory, through whom, and with which rights.
//!
//! The root directory moves *files*; programs act on the machine that [`Commands`] stands for. Whoever
//! gives another root than `/` gives commands that belong to it (tests give ones that only record). It
//! is a prefix, not a jail: links inside it are the machine's own.
//!
//! What only root may do is refused early when we are not root, or goes through `sudo -n`, which never
//! asks for a password. Files are always touched with our own rights.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::HostError;
use crate::call::{Call, Commands, Finished};
use crate::system::System;

/// What we may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    Root,
    /// Not root, but `sudo -n` may be used for programs.
    Sudo,
    Ordinary,
}

#[derive(Clone)]
pub struct Host {
    root: PathBuf,
    commands: Arc<dyn Commands>,
    privilege: Privilege,
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("root", &self.root)
            .field("privilege", &self.privilege)
            .finish_non_exhaustive()
    }
}

impl Host {
    /// This machine, with the rights of this process.
    pub fn local() -> Host {
        let privilege = match is_root() {
            true => Privilege::Root,
            false => Privilege::Ordinary,
        };
        Host::new("/", Arc::new(System), privilege)
    }

    pub fn new(
        root: impl Into<PathBuf>,
        commands: Arc<dyn Commands>,
        privilege: Privilege,
    ) -> Host {
        Host { root: root.into(), commands, privilege }
    }

    /// The same machine, where `sudo -n` may be used if we are not root.
    pub fn with_sudo(mut self) -> Host {
        if self.privilege == Privilege::Ordinary {
            self.privilege = Privilege::Sudo;
        }
        self
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn privilege(&self) -> Privilege {
        self.privilege
    }

    /// Where a path of the machine is for us.
    pub fn path(&self, path: impl AsRef<Path>) -> Result<PathBuf, HostError> {
        let path = path.as_ref();
        let refuse = |problem: &str| {
            Err(HostError::invalid("the path", path.display().to_string(), problem))
        };
        if !path.is_absolute() {
            return refuse("it must be absolute");
        }
        if path.as_os_str().as_encoded_bytes().contains(&0) {
            return refuse("it has a NUL character");
        }
        if self.root == Path::new("/") {
            return Ok(path.to_owned());
        }
        if path.components().any(|part| part == Component::ParentDir) {
            return refuse("it must not go up with `..`");
        }
        Ok(self.root.join(path.strip_prefix("/").unwrap_or(path)))
    }

    pub fn find(&self, program: &str) -> Option<PathBuf> {
        self.commands.find(program)
    }

    pub fn has(&self, program: &str) -> bool {
        self.find(program).is_some()
    }

    /// An error with a next step where a program is not there.
    pub(crate) fn require(&self, program: &str, next: &'static str) -> Result<(), HostError> {
        match self.has(program) {
            true => Ok(()),
            false => Err(HostError::Missing { program: program.to_owned(), next }),
        }
    }

    /// Runs a program; an exit code that is neither 0 nor an answer is an error.
    pub async fn run(&self, call: Call) -> Result<Finished, HostError> {
        let (argv, answers) = (call.argv(), call.answers);
        let finished = self.attempt(call).await?;
        match finished.code {
            Some(0) => Ok(finished),
            Some(code) if answers.contains(&code) => Ok(finished),
            code => {
                let stderr = match finished.stderr.is_empty() {
                    true => &finished.stdout,
                    false => &finished.stderr,
                };
                Err(HostError::failed(argv, code, stderr))
            }
        }
    }

    /// Runs a program whose whole answer is needed.
    pub(crate) async fn ask(&self, call: Call) -> Result<String, HostError> {
        let (argv, max) = (call.argv(), call.output_max);
        let finished = self.run(call).await?;
        match finished.is_cut {
            true => Err(HostError::TooMuch { argv, max }),
            false => Ok(finished.text()),
        }
    }

    /// Runs a program and leaves its exit code to the caller.
    pub async fn attempt(&self, call: Call) -> Result<Finished, HostError> {
        let call = match (call.is_privileged, self.privilege) {
            (true, Privilege::Ordinary) => {
                return Err(HostError::Privilege { program: call.program });
            }
            (true, Privilege::Sudo) => through_sudo(call),
            _ => call,
        };
        self.commands.run(call).await
    }
}

/// `sudo` starts from an environment of its own, so what the call needs is set behind it.
fn through_sudo(mut call: Call) -> Call {
    let env = call.env.iter().map(|(name, value)| format!("{name}={value}"));
    let head = ["-n", "--", "env", "LC_ALL=C"].into_iter().map(str::to_owned);
    call.args = head.chain(env).chain(call.argv()).collect();
    call.program = "sudo".to_owned();
    call.env.clear();
    call
}

/// Whether this process has the rights of root.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below(root: &str) -> Host {
        Host::new(root, Arc::new(System), Privilege::Ordinary)
    }

    #[test]
    fn paths_are_below_the_root_and_cannot_leave_it() {
        let host = below("/tmp/x");
        assert_eq!(host.path("/etc/hosts").unwrap(), Path::new("/tmp/x/etc/hosts"));
        for bad in ["etc/hosts", "", "/etc/../../secret", "/a\0b"] {
            assert!(host.path(bad).is_err(), "{bad}");
        }
        assert_eq!(below("/").path("/etc/../x").unwrap(), Path::new("/etc/../x"));
    }

    #[test]
    fn sudo_sets_the_environment_behind_itself() {
        let call = Call::new("apt-get").arg("update").env("DEBIAN_FRONTEND", "noninteractive");
        let call = through_sudo(call);
        assert_eq!(
            call.argv().join(" "),
            "sudo -n -- env LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get update"
        );
        assert!(call.env.is_empty());
    }

    #[tokio::test]
    async fn without_rights_it_is_not_even_tried() {
        let call = Call::new("useradd").privileged();
        let error = below("/").run(call).await.unwrap_err();
        assert!(matches!(&error, HostError::Privilege { program } if program == "useradd"));
        assert_eq!(below("/").with_sudo().privilege(), Privilege::Sudo);
    }
}
