//! A user, with what is told about it; what is not told is left alone.
//!
//! A password that is a crypt hash is compared with what `/etc/shadow` holds and set where it differs. A
//! plain one cannot be compared, so it is set when the user is made, and later only where
//! `password_update` says `always`, which then counts as a change each time.

use serde::{Deserialize, Serialize};

use super::SHADOW_UTILS;
use super::database::{
    Account, Shadow, find_user, groups, groups_of, id, is_number, require_group, require_user,
    shadow,
};
use super::login::password_call;
use super::names::{account_name, expiry_days, field, path_field};
use crate::call::Call;
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::values::{Password, many_by_comma};
use crate::{Host, HostError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PasswordUpdate {
    #[default]
    OnCreate,
    Always,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct User {
    pub username: String,
    #[serde(default)]
    pub password: Option<Password>,
    #[serde(default)]
    pub password_update: PasswordUpdate,
    #[serde(default)]
    pub uid: Option<u32>,
    /// The primary group: a name or a number.
    #[serde(default)]
    pub gid: Option<String>,
    #[serde(default)]
    pub home: Option<String>,
    /// Whether a home that changes is moved with what is in it.
    #[serde(default)]
    pub move_home: bool,
    #[serde(default)]
    pub shell: Option<String>,
    /// Groups it is in beside the primary one.
    #[serde(default, deserialize_with = "many_by_comma")]
    pub groups: Vec<String>,
    /// Whether it is in no other groups than those.
    #[serde(default)]
    pub exact_groups: bool,
    #[serde(default)]
    pub comment: Option<String>,
    /// Whether a new one is one of the machine's own, with a low number.
    #[serde(default)]
    pub system: bool,
    /// Whether a new one gets its home made; yes unless it is a system user.
    #[serde(default)]
    pub create_home: Option<bool>,
    /// `YYYY-MM-DD`, or `never`.
    #[serde(default)]
    pub expiry: Option<String>,
    /// Whether its password is locked.
    #[serde(default)]
    pub locked: Option<bool>,
    /// Whether removing takes the home, too.
    #[serde(default)]
    pub remove_home: bool,
}

impl User {
    pub fn named(username: impl Into<String>) -> User {
        User { username: username.into(), ..User::default() }
    }

    fn validate(&self) -> Result<(), HostError> {
        account_name("the user", &self.username)?;
        if let Some(gid) = &self.gid {
            account_name("the group", gid)?;
        }
        for group in &self.groups {
            account_name("the group", group)?;
        }
        let paths = [("the home", &self.home), ("the shell", &self.shell)];
        for (what, path) in paths {
            path.as_deref().map(|path| path_field(what, path)).transpose()?;
        }
        self.comment.as_deref().map(|text| field("the comment", text)).transpose()?;
        self.expiry.as_deref().map(expiry_days).transpose()?;
        self.uid.map(|uid| id(&uid.to_string())).transpose()?;
        Ok(())
    }

    /// As [`Primitive::present`], for a user that must be there already.
    pub async fn modify(&self, host: &Host) -> Result<Plan, HostError> {
        self.validate()?;
        let user = require_user(host, &self.username).await?;
        self.plan_altering(host, user).await
    }

    fn plan_making(&self) -> Result<Plan, HostError> {
        let mut call = Call::new("useradd").privileged();
        let mut says = Vec::new();
        let mut tell = |call: Call, flag: &str, what: &str, value: String| {
            says.push(format!("{what} {value}"));
            call.args([flag.to_owned(), value])
        };
        if let Some(uid) = self.uid {
            call = tell(call, "-u", "uid", uid.to_string());
        }
        if let Some(gid) = &self.gid {
            call = tell(call, "-g", "group", gid.clone());
        }
        if let Some(home) = &self.home {
            call = tell(call, "-d", "home", home.clone());
        }
        if let Some(shell) = &self.shell {
            call = tell(call, "-s", "shell", shell.clone());
        }
        if !self.groups.is_empty() {
            call = tell(call, "-G", "groups", self.groups.join(","));
        }
        if let Some(comment) = &self.comment {
            call = tell(call, "-c", "comment", comment.clone());
        }
        if let Some(expiry) = &self.expiry {
            call = tell(call, "-e", "expiry", expiry_argument(expiry).to_owned());
        }
        if self.system {
            call = call.arg("-r");
            says.push("system".to_owned());
        }
        let makes_home = self.create_home.unwrap_or(!self.system);
        call = call.arg(if makes_home { "-m" } else { "-M" }).arg(&self.username);
        let about = if says.is_empty() { "made".to_owned() } else { says.join(", ") };
        let mut plan = Plan::new(format!("user {} is made", self.username))
            .change(Change::added(format!("user {}", self.username), about))
            .run(call);
        if let Some(password) = &self.password {
            plan = plan.run(password_call(&self.username, password)?);
        }
        if self.locked == Some(true) {
            plan = plan.run(usermod().args(["-L", &self.username]));
        }
        Ok(plan)
    }

    async fn plan_altering(&self, host: &Host, user: Account) -> Result<Plan, HostError> {
        let name = &self.username;
        let mut altering = Altering { name, call: usermod(), changes: Vec::new() };
        if let Some(uid) = self.uid.filter(|uid| *uid != user.uid) {
            altering.set("-u", "uid", user.uid.to_string(), uid.to_string());
        }
        if let Some(gid) = &self.gid {
            let number = match is_number(gid) {
                true => id(gid)?,
                false => require_group(host, gid).await?.gid,
            };
            if number != user.gid {
                altering.set("-g", "primary group", user.gid.to_string(), gid.clone());
            }
        }
        if let Some(home) = self.home.as_ref().filter(|home| **home != user.home) {
            altering.set("-d", "home", user.home.clone(), home.clone());
            if self.move_home {
                altering.call = altering.call.arg("-m");
            }
        }
        if let Some(shell) = self.shell.as_ref().filter(|shell| **shell != user.shell) {
            altering.set("-s", "shell", user.shell.clone(), shell.clone());
        }
        if let Some(comment) = self.comment.as_ref().filter(|text| **text != user.comment) {
            altering.set("-c", "comment", user.comment.clone(), comment.clone());
        }
        self.alter_groups(host, &mut altering).await?;
        self.alter_login(host, &mut altering).await?;
        let mut plan = altering.plan();
        if let Some(password) = self.password_to_set(host).await? {
            let hidden = "(not shown)";
            let set = Plan::new(format!("user {name} gets a password"))
                .change(Change::altered(format!("password of user {name}"), hidden, hidden))
                .run(password_call(name, password)?);
            plan = plan.then(set);
        }
        Ok(plan)
    }

    async fn alter_groups(
        &self,
        host: &Host,
        altering: &mut Altering<'_>,
    ) -> Result<(), HostError> {
        if self.groups.is_empty() && !self.exact_groups {
            return Ok(());
        }
        let has: Vec<String> = groups_of(host, &self.username).await?.into_iter().skip(1).collect();
        let all = groups(host).await?;
        let primary = groups_of(host, &self.username).await?.into_iter().next();
        let mut wanted: Vec<String> = Vec::new();
        for group in &self.groups {
            let by_number =
                all.iter().find(|known| is_number(group) && known.gid.to_string() == *group);
            let group = by_number.map_or(group, |known| &known.name).clone();
            if Some(&group) != primary.as_ref() && !wanted.contains(&group) {
                wanted.push(group);
            }
        }
        let missing: Vec<String> =
            wanted.iter().filter(|group| !has.contains(group)).cloned().collect();
        let has_others = has.iter().any(|group| !wanted.contains(group));
        if self.exact_groups && (has_others || !missing.is_empty()) {
            altering.set("-G", "groups", has.join(","), wanted.join(","));
        } else if !missing.is_empty() {
            let after = has.iter().chain(&missing).cloned().collect::<Vec<_>>().join(",");
            altering.say("groups", has.join(","), after);
            let call = std::mem::replace(&mut altering.call, usermod());
            altering.call = call.args(["-a", "-G", &missing.join(",")]);
        }
        Ok(())
    }

    async fn alter_login(&self, host: &Host, altering: &mut Altering<'_>) -> Result<(), HostError> {
        if self.expiry.is_none() && self.locked.is_none() {
            return Ok(());
        }
        let shadow = shadow(host, &self.username).await?;
        if let Some(expiry) = &self.expiry {
            let (wanted, is) = (expiry_days(expiry)?, shadow.as_ref().and_then(|s| s.expires));
            if wanted != is {
                let words = is.map_or("never".to_owned(), |days| format!("day {days}"));
                altering.set("-e", "expiry", words, expiry_argument(expiry).to_owned());
            }
        }
        let is_locked = shadow.as_ref().is_some_and(Shadow::is_locked);
        if let Some(locked) = self.locked.filter(|locked| *locked != is_locked) {
            let words = |locked| if locked { "locked" } else { "unlocked" };
            altering.say("password", words(is_locked).into(), words(locked).into());
            let call = std::mem::replace(&mut altering.call, usermod());
            altering.call = call.arg(if locked { "-L" } else { "-U" });
        }
        Ok(())
    }

    async fn password_to_set(&self, host: &Host) -> Result<Option<&Password>, HostError> {
        let Some(password) = &self.password else { return Ok(None) };
        if !password.is_hash() {
            return Ok(Some(password).filter(|_| self.password_update == PasswordUpdate::Always));
        }
        let shadow = shadow(host, &self.username).await?;
        let is_same = shadow.is_some_and(|s| s.hash.trim_start_matches('!') == password.expose());
        Ok(Some(password).filter(|_| !is_same))
    }
}

impl Primitive for User {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        self.validate()?;
        match find_user(host, &self.username).await? {
            Some(user) => self.plan_altering(host, user).await,
            None => {
                host.require("useradd", SHADOW_UTILS)?;
                self.plan_making()
            }
        }
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        self.validate()?;
        let name = &self.username;
        let Some(user) = find_user(host, name).await? else {
            return Ok(Plan::new(format!("user {name} is not there")));
        };
        if user.uid == 0 {
            let problem = "a machine cannot be without it";
            return Err(HostError::invalid("the user", name, problem));
        }
        host.require("userdel", SHADOW_UTILS)?;
        let mut call = Call::new("userdel").privileged();
        if self.remove_home {
            call = call.arg("-r");
        }
        let about = format!("uid {}, home {}", user.uid, user.home);
        Ok(Plan::new(format!("user {name} is removed"))
            .change(Change::removed(format!("user {name}"), about))
            .run(call.arg(name)))
    }
}

/// What `usermod` is told, and what becomes different by it.
struct Altering<'a> {
    name: &'a str,
    call: Call,
    changes: Vec<Change>,
}

impl Altering<'_> {
    fn say(&mut self, what: &str, before: String, after: String) {
        self.changes.push(Change::altered(format!("{what} of user {}", self.name), before, after));
    }

    fn set(&mut self, flag: &str, what: &str, before: String, after: String) {
        let call = std::mem::replace(&mut self.call, usermod());
        self.call = call.args([flag, &after]);
        self.say(what, before, after);
    }

    fn plan(self) -> Plan {
        if self.changes.is_empty() {
            return Plan::new(format!("user {} is already so", self.name));
        }
        let plan = Plan::new(format!("user {} is altered", self.name));
        plan.changes(self.changes).run(self.call.arg(self.name))
    }
}

fn usermod() -> Call {
    Call::new("usermod").privileged()
}

fn expiry_argument(expiry: &str) -> &str {
    if expiry == "never" { "" } else { expiry }
}
