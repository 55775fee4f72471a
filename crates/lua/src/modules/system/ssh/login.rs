//! Passwords for other machines.
//!
//! OpenSSH takes a password from a program that it asks (`SSH_ASKPASS`). Ours is two lines of shell that print a variable;
//! the password itself is in the memory of the step and in the environment of that one `ssh`, in no file and in no argument.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use crate::modules::system::machine::Trouble;
use crate::modules::tasks;

const VARIABLE: &str = "HOSTLER_SSH_PASSWORD";
const SCRIPT: &str = "#!/bin/sh\nprintf '%s\\n' \"$HOSTLER_SSH_PASSWORD\"\n";

/// The passwords of a step, and what tells them.
#[derive(Default)]
struct Logins(RefCell<Kept>);

#[derive(Default)]
struct Kept {
    passwords: Vec<String>,
    script: Option<Script>,
}

/// A file that is gone with the step.
struct Script(PathBuf);

impl Script {
    fn write() -> std::io::Result<Script> {
        let path = std::env::temp_dir().join(format!("hostler-askpass-{}", uuid::Uuid::new_v4()));
        let mut options = fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o700).open(&path)?;
        let script = Script(path);
        file.write_all(SCRIPT.as_bytes())?;
        Ok(script)
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        let _it_may_be_gone = fs::remove_file(&self.0);
    }
}

/// Keeps a password for as long as the step lasts; gives its number.
pub(super) fn keep(password: String) -> Result<usize, Trouble> {
    let logins = tasks().kept::<Logins>();
    let mut kept = logins.0.borrow_mut();
    if kept.script.is_none() {
        let script = Script::write().map_err(|error| {
            Trouble::new(format!("no file can be made for passwords: {error}; use `key_path`"))
        })?;
        kept.script = Some(script);
    }
    kept.passwords.push(password);
    Ok(kept.passwords.len() - 1)
}

/// Lets OpenSSH ask for a password that was kept.
pub(super) fn tell(login: usize, environment: &mut Vec<(OsString, OsString)>) {
    let logins = tasks().kept::<Logins>();
    let kept = logins.0.borrow();
    let (Some(password), Some(script)) = (kept.passwords.get(login), &kept.script) else { return };
    environment.retain(|(name, _)| name != "SSH_ASKPASS" && name != "SSH_ASKPASS_REQUIRE");
    environment.extend([
        ("SSH_ASKPASS".into(), script.0.clone().into_os_string()),
        ("SSH_ASKPASS_REQUIRE".into(), "force".into()),
        (VARIABLE.into(), password.into()),
    ]);
    // OpenSSH before 8.4 asks a program only where there is a display.
    if !environment.iter().any(|(name, _)| name == "DISPLAY") {
        environment.push(("DISPLAY".into(), ":".into()));
    }
}
