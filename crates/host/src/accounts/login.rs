//! Passwords, locks, who logged in, and running something as somebody.

use std::time::Duration;

use serde::Serialize;

use super::SHADOW_UTILS;
use super::database::{Shadow, require_user, shadow};
use super::names::account_name;
use super::user::User;
use crate::call::{Call, Finished};
use crate::outcome::Change;
use crate::plan::Plan;
use crate::values::Password;
use crate::{Host, HostError, Privilege};

/// The password goes to standard input, where no list of processes shows it.
pub(super) fn password_call(name: &str, password: &Password) -> Result<Call, HostError> {
    let secret = password.expose();
    if secret.is_empty() || secret.contains(['\n', '\r', '\0']) {
        let problem = "it must be one line that is not empty";
        return Err(HostError::invalid("the password", "(not shown)", problem));
    }
    let mut call = Call::new("chpasswd").privileged();
    if password.is_hash() {
        call = call.arg("-e");
    }
    Ok(call.stdin(format!("{name}:{secret}\n")))
}

/// Sets a password. A hash that is there already is no change; a plain one always is.
pub async fn set_password(host: &Host, name: &str, password: &Password) -> Result<Plan, HostError> {
    let update = super::user::PasswordUpdate::Always;
    let password = Some(password.clone());
    User { password, password_update: update, ..User::named(name) }.modify(host).await
}

pub async fn lock(host: &Host, name: &str) -> Result<Plan, HostError> {
    User { locked: Some(true), ..User::named(name) }.modify(host).await
}

pub async fn unlock(host: &Host, name: &str) -> Result<Plan, HostError> {
    User { locked: Some(false), ..User::named(name) }.modify(host).await
}

/// Whether the password is locked. Keys may still let somebody in.
pub async fn is_locked(host: &Host, name: &str) -> Result<bool, HostError> {
    require_user(host, account_name("the user", name)?).await?;
    Ok(shadow(host, name).await?.as_ref().is_some_and(Shadow::is_locked))
}

/// Makes the user choose a new password at the next login.
pub async fn expire_password(host: &Host, name: &str) -> Result<Plan, HostError> {
    require_user(host, account_name("the user", name)?).await?;
    if shadow(host, name).await?.is_some_and(|shadow| shadow.last_change == Some(0)) {
        return Ok(Plan::new(format!("the password of {name} is expired already")));
    }
    host.require("chage", SHADOW_UTILS)?;
    Ok(Plan::new(format!("the password of {name} expires"))
        .change(Change::altered(format!("password of user {name}"), "valid", "expired"))
        .run(Call::new("chage").args(["-d", "0", name]).privileged()))
}

/// When and from where somebody logged in last, in the machine's own words; `None` for never.
pub async fn last_login(host: &Host, name: &str) -> Result<Option<String>, HostError> {
    require_user(host, account_name("the user", name)?).await?;
    for program in ["lastlog", "lastlog2"] {
        if host.has(program) {
            let said = host.ask(Call::new(program).args(["-u", name])).await?;
            return Ok(about(&said, name).filter(|line| !line.contains("**Never logged in**")));
        }
    }
    let next = "install what records logins (util-linux, `lastlog2` or `wtmpdb`)";
    host.require("last", next)?;
    let said = host.ask(Call::new("last").args(["-F", "-w", "-n", "1", name])).await?;
    Ok(about(&said, name))
}

/// The rest of the first line about somebody.
fn about(said: &str, name: &str) -> Option<String> {
    said.lines().find_map(|line| {
        let (first, rest) = line.split_once(char::is_whitespace)?;
        (first == name).then(|| rest.trim().to_owned())
    })
}

/// Logins of somebody that failed, as far as the machine remembers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FailedLogins {
    pub count: usize,
    pub lines: Vec<String>,
}

pub async fn failed_logins(host: &Host, name: &str) -> Result<FailedLogins, HostError> {
    account_name("the user", name)?;
    let lines: Vec<String> = if host.has("faillock") {
        let said = host.ask(Call::new("faillock").args(["--user", name]).privileged()).await?;
        let is_record = |line: &&str| line.starts_with(|c: char| c.is_ascii_digit());
        said.lines().filter(is_record).map(str::to_owned).collect()
    } else {
        host.require("lastb", "install what records failed logins (util-linux, or pam_faillock)")?;
        let said = host.ask(Call::new("lastb").args(["-F", "-w", name]).privileged()).await?;
        let of_user = |line: &&str| line.split_whitespace().next() == Some(name);
        said.lines().filter(of_user).map(str::to_owned).collect()
    };
    Ok(FailedLogins { count: lines.len(), lines })
}

/// Runs a program as somebody else. That it fails is no error.
pub async fn run_as(
    host: &Host,
    name: &str,
    argv: &[String],
    timeout: Duration,
) -> Result<Finished, HostError> {
    require_user(host, account_name("the user", name)?).await?;
    if argv.is_empty() {
        return Err(HostError::invalid("the command", "", "it is empty"));
    }
    let call = if host.privilege() == Privilege::Root && host.has("runuser") {
        Call::new("runuser").args(["-u", name, "--"]).privileged()
    } else {
        host.require("sudo", "install util-linux (for `runuser`) or sudo")?;
        Call::new("sudo").args(["-n", "-u", name, "--"])
    };
    host.attempt(call.args(argv).timeout(timeout)).await
}
