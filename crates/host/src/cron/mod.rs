//! Entries of crontabs, each under a name.
//!
//! The crontab of a user is read with `crontab -l`, changed as text and put back as a whole with
//! `crontab -`, so lines of others stay as they are. An entry of ours is two lines: a comment with its
//! name, and the entry, which is itself a comment while it is disabled. See [`table`].

mod schedule;
mod table;

use serde::{Deserialize, Serialize};

use crate::accounts::account_name;
use crate::call::Call;
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::values::{one_line, yes};
use crate::{Host, HostError};

pub use schedule::validate_schedule;
pub use table::Entry;

use table::Table;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cron {
    pub name: String,
    /// Five fields, or a word such as `@daily`.
    pub schedule: String,
    /// As the crontab has it: run by the shell, and `%` is a line break unless escaped.
    pub command: String,
    /// Whose crontab; ours when left out.
    #[serde(default)]
    pub user: Option<String>,
    #[serde(default = "yes")]
    pub enabled: bool,
}

impl Cron {
    fn validate(&self) -> Result<(), HostError> {
        entry_name(&self.name)?;
        validate_schedule(&self.schedule)?;
        let command = one_line("the command", &self.command)?;
        if command.trim().is_empty() {
            return Err(HostError::invalid("the command", command, "it is empty"));
        }
        Ok(())
    }
}

impl Primitive for Cron {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        self.validate()?;
        let old = read(host, self.user.as_deref()).await?;
        let mut table = Table::parse(&old);
        table.put(&Entry {
            name: Some(self.name.clone()),
            schedule: schedule::normal(&self.schedule),
            command: self.command.trim().to_owned(),
            user: self.user.clone(),
            enabled: self.enabled,
        });
        plan(self.user.as_deref(), &self.name, &old, &table)
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        remove(host, &self.name, self.user.as_deref()).await
    }
}

fn entry_name(name: &str) -> Result<&str, HostError> {
    let is_plain = |c: char| !c.is_control() && c != '(' && c != ')';
    match !name.trim().is_empty() && name.trim() == name && name.chars().all(is_plain) {
        true => Ok(name),
        false => {
            let problem = "it must be one line, without parentheses or spaces around it";
            Err(HostError::invalid("the name", name, problem))
        }
    }
}

fn crontab(user: Option<&str>) -> Result<Call, HostError> {
    let call = Call::new("crontab");
    Ok(match user {
        Some(user) => call.args(["-u", account_name("the user", user)?]).privileged(),
        None => call,
    })
}

async fn read(host: &Host, user: Option<&str>) -> Result<String, HostError> {
    host.require("crontab", "install cron (the package is `cron`, `cronie` or `dcron`)")?;
    let call = crontab(user)?.arg("-l");
    let (argv, max) = (call.argv(), call.output_max);
    let finished = host.attempt(call).await?;
    if finished.is_cut {
        return Err(HostError::TooMuch { argv, max });
    }
    if finished.is_success() {
        return match String::from_utf8(finished.stdout) {
            Ok(text) => Ok(text),
            Err(_) => Err(HostError::NotText { path: "crontab".into() }),
        };
    }
    let complaint = finished.complaint().to_lowercase();
    let is_none = complaint.contains("no crontab") || complaint.contains("can't open");
    match finished.code == Some(1) && is_none {
        true => Ok(String::new()),
        false => Err(HostError::failed(argv, finished.code, &finished.stderr)),
    }
}

fn plan(user: Option<&str>, name: &str, old: &str, table: &Table<'_>) -> Result<Plan, HostError> {
    let new = table.render();
    if new == old {
        return Ok(Plan::new(format!("cron entry {name} is already so")));
    }
    let what = user.map_or("crontab".to_owned(), |user| format!("crontab of {user}"));
    let old = (!old.is_empty()).then_some(old.as_bytes());
    Ok(Plan::new(format!("cron entry {name} is written"))
        .change(Change::content(what, old, Some(new.as_bytes())))
        .run(crontab(user)?.arg("-").stdin(new)))
}

/// All entries of a crontab, those without a name included.
pub async fn list(host: &Host, user: Option<&str>) -> Result<Vec<Entry>, HostError> {
    Ok(Table::parse(&read(host, user).await?).entries(user))
}

pub async fn exists(host: &Host, name: &str, user: Option<&str>) -> Result<bool, HostError> {
    Ok(list(host, user).await?.iter().any(|entry| entry.name.as_deref() == Some(name)))
}

/// Takes an entry away by its name alone.
pub async fn remove(host: &Host, name: &str, user: Option<&str>) -> Result<Plan, HostError> {
    entry_name(name)?;
    let old = read(host, user).await?;
    let mut table = Table::parse(&old);
    match table.take(name) {
        true => plan(user, name, &old, &table),
        false => Ok(Plan::new(format!("cron entry {name} is not there"))),
    }
}

/// Lets an entry run, or keeps it without running it.
pub async fn set_enabled(
    host: &Host,
    name: &str,
    user: Option<&str>,
    enabled: bool,
) -> Result<Plan, HostError> {
    entry_name(name)?;
    let old = read(host, user).await?;
    let mut table = Table::parse(&old);
    let entries = table.entries(user);
    match entries.into_iter().find(|entry| entry.name.as_deref() == Some(name)) {
        Some(entry) => {
            table.put(&Entry { enabled, ..entry });
            plan(user, name, &old, &table)
        }
        None => Err(HostError::Absent {
            what: "cron entry",
            name: name.to_owned(),
            next: "add it first, or list those there are",
        }),
    }
}
