//! The account files, read.

use std::collections::HashSet;

use serde::Serialize;

use crate::call::Call;
use crate::error::io_at;
use crate::place::Manner;
use crate::plan::blocking;
use crate::values::Mode;
use crate::{Host, HostError};

const PASSWD: &str = "/etc/passwd";
const GROUP: &str = "/etc/group";
const SHADOW: &str = "/etc/shadow";
/// The first number of people, where `/etc/login.defs` does not say.
const UID_MIN: u32 = 1000;
const NOBODY: u32 = 65_534;

/// A user, as `/etc/passwd` knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    pub username: String,
    pub uid: u32,
    pub gid: u32,
    /// The whole fifth field.
    pub comment: String,
    pub home: String,
    pub shell: String,
}

impl Account {
    /// The person's name: the comment up to its first comma.
    pub fn full_name(&self) -> &str {
        self.comment.split(',').next().unwrap_or_default()
    }

    fn parse(line: &str) -> Option<Account> {
        let mut parts = line.split(':');
        let username = parts.next().filter(|name| !name.is_empty())?.to_owned();
        parts.next()?;
        let uid = parts.next()?.parse().ok()?;
        let gid = parts.next()?.parse().ok()?;
        let mut text = || parts.next().map(str::to_owned);
        Some(Account { username, uid, gid, comment: text()?, home: text()?, shell: text()? })
    }
}

/// A group, as `/etc/group` knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupEntry {
    pub name: String,
    pub gid: u32,
    /// Whose primary group it is not.
    pub members: Vec<String>,
}

impl GroupEntry {
    fn parse(line: &str) -> Option<GroupEntry> {
        let mut parts = line.split(':');
        let name = parts.next().filter(|name| !name.is_empty())?.to_owned();
        parts.next()?;
        let gid = parts.next()?.parse().ok()?;
        let members = parts.next()?.split(',').map(str::trim).filter(|name| !name.is_empty());
        Some(GroupEntry { name, gid, members: members.map(str::to_owned).collect() })
    }
}

/// What `/etc/shadow` says of a user. Not printed.
pub(crate) struct Shadow {
    pub hash: String,
    /// Days since 1970; 0 means that a new password is due.
    pub last_change: Option<i64>,
    pub expires: Option<i64>,
}

impl Shadow {
    fn parse(line: &str, name: &str) -> Option<Shadow> {
        let parts: Vec<&str> = line.split(':').collect();
        if parts.first() != Some(&name) {
            return None;
        }
        let number = |at: usize| parts.get(at).and_then(|text| text.parse().ok());
        Some(Shadow {
            hash: (*parts.get(1)?).to_owned(),
            last_change: number(2),
            expires: number(7).filter(|days| *days >= 0),
        })
    }

    pub fn is_locked(&self) -> bool {
        self.hash.starts_with('!')
    }
}

async fn text(host: &Host, path: &'static str) -> Result<String, HostError> {
    let at = host.path(path)?;
    blocking(move || match std::fs::read(&at) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(e) => Err(io_at("read", &at)(e)),
    })
    .await
}

/// All users of the files, in their order.
pub async fn users(host: &Host) -> Result<Vec<Account>, HostError> {
    Ok(text(host, PASSWD).await?.lines().filter_map(Account::parse).collect())
}

/// All groups of the files, in their order.
pub async fn groups(host: &Host) -> Result<Vec<GroupEntry>, HostError> {
    Ok(text(host, GROUP).await?.lines().filter_map(GroupEntry::parse).collect())
}

async fn getent(host: &Host, database: &str, key: &str) -> Result<Option<String>, HostError> {
    if !host.has("getent") || key.is_empty() || key.starts_with('-') {
        return Ok(None);
    }
    let call = Call::new("getent").args([database, key]).answers(&[2]);
    Ok(host.ask(call).await?.lines().next().map(str::to_owned))
}

/// A user by name, of the files or of a directory.
pub async fn find_user(host: &Host, name: &str) -> Result<Option<Account>, HostError> {
    let found = users(host).await?.into_iter().find(|user| user.username == name);
    match found {
        Some(user) => Ok(Some(user)),
        None if is_number(name) => Ok(None),
        None => Ok(getent(host, "passwd", name).await?.as_deref().and_then(Account::parse)),
    }
}

pub async fn find_group(host: &Host, name: &str) -> Result<Option<GroupEntry>, HostError> {
    let found = groups(host).await?.into_iter().find(|group| group.name == name);
    match found {
        Some(group) => Ok(Some(group)),
        None if is_number(name) => Ok(None),
        None => Ok(getent(host, "group", name).await?.as_deref().and_then(GroupEntry::parse)),
    }
}

pub(crate) async fn require_user(host: &Host, name: &str) -> Result<Account, HostError> {
    let next = "create it first, or check the name";
    let absent = || HostError::Absent { what: "user", name: name.to_owned(), next };
    find_user(host, name).await?.ok_or_else(absent)
}

pub(crate) async fn require_group(host: &Host, name: &str) -> Result<GroupEntry, HostError> {
    let next = "create it first, or check the name";
    let absent = || HostError::Absent { what: "group", name: name.to_owned(), next };
    find_group(host, name).await?.ok_or_else(absent)
}

pub(crate) async fn user_name(host: &Host, uid: u32) -> Result<Option<String>, HostError> {
    let found = users(host).await?.into_iter().find(|user| user.uid == uid);
    match found {
        Some(user) => Ok(Some(user.username)),
        None => {
            let line = getent(host, "passwd", &uid.to_string()).await?;
            Ok(line.as_deref().and_then(Account::parse).map(|user| user.username))
        }
    }
}

pub(crate) async fn group_name(host: &Host, gid: u32) -> Result<Option<String>, HostError> {
    let found = groups(host).await?.into_iter().find(|group| group.gid == gid);
    match found {
        Some(group) => Ok(Some(group.name)),
        None => {
            let line = getent(host, "group", &gid.to_string()).await?;
            Ok(line.as_deref().and_then(GroupEntry::parse).map(|group| group.name))
        }
    }
}

/// Who this process is.
pub async fn current(host: &Host) -> Result<Account, HostError> {
    let uid = rustix::process::geteuid().as_raw();
    let found = users(host).await?.into_iter().find(|user| user.uid == uid);
    match found {
        Some(user) => Ok(user),
        None => {
            let line = getent(host, "passwd", &uid.to_string()).await?;
            let next = "this process runs as a number without a name";
            line.as_deref().and_then(Account::parse).ok_or_else(|| HostError::Absent {
                what: "user with the number",
                name: uid.to_string(),
                next,
            })
        }
    }
}

/// Whether the number is one of those kept for the machine's own users.
pub async fn is_system_user(host: &Host, user: &Account) -> Result<bool, HostError> {
    Ok(is_system_number(user.uid, uid_min(host).await?))
}

/// The first number of people.
pub(crate) async fn uid_min(host: &Host) -> Result<u32, HostError> {
    let definitions = text(host, "/etc/login.defs").await?;
    let uid_min = definitions.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some("UID_MIN")).then(|| words.next()?.parse().ok()).flatten()
    });
    Ok(uid_min.unwrap_or(UID_MIN))
}

pub(crate) fn is_system_number(uid: u32, uid_min: u32) -> bool {
    uid < uid_min || uid == NOBODY
}

/// Names of those whose password is locked; `None` where we may not know.
pub(crate) async fn shadows(host: &Host) -> Result<Option<HashSet<String>>, HostError> {
    let at = host.path(SHADOW)?;
    let bytes = match tokio::fs::read(&at).await {
        Ok(bytes) => bytes,
        Err(_) => return Ok(None),
    };
    let text = String::from_utf8_lossy(&bytes);
    let locked = text.lines().filter_map(|line| {
        let name = line.split(':').next()?;
        Shadow::parse(line, name)?.is_locked().then(|| name.to_owned())
    });
    Ok(Some(locked.collect()))
}

/// Names of all groups a user is in, the primary one first.
pub async fn groups_of(host: &Host, name: &str) -> Result<Vec<String>, HostError> {
    let user = require_user(host, name).await?;
    let all = groups(host).await?;
    let primary = all.iter().find(|group| group.gid == user.gid);
    let first = primary.map_or_else(|| user.gid.to_string(), |group| group.name.clone());
    let others = all
        .iter()
        .filter(|group| group.gid != user.gid && group.members.iter().any(|m| m == name))
        .map(|group| group.name.clone());
    Ok(std::iter::once(first).chain(others).collect())
}

/// Everybody in a group, those included whose primary group it is.
pub async fn group_members(host: &Host, name: &str) -> Result<Vec<String>, HostError> {
    let group = require_group(host, name).await?;
    let mut members = group.members;
    for user in users(host).await? {
        if user.gid == group.gid && !members.contains(&user.username) {
            members.push(user.username);
        }
    }
    Ok(members)
}

pub(crate) async fn shadow(host: &Host, name: &str) -> Result<Option<Shadow>, HostError> {
    let at = host.path(SHADOW)?;
    let read = tokio::fs::read(&at).await;
    let text = match read {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            let call = Call::new("getent").args(["shadow", name]).privileged().answers(&[2]);
            host.ask(call).await?
        }
        Err(e) => return Err(io_at("read", &at)(e)),
    };
    Ok(text.lines().find_map(|line| Shadow::parse(line, name)))
}

/// Owner and mode as numbers.
pub(crate) async fn manner_of(
    host: &Host,
    mode: Option<Mode>,
    owner: Option<&str>,
    group: Option<&str>,
) -> Result<Manner, HostError> {
    let uid = match owner {
        None => None,
        Some(number) if is_number(number) => Some(id(number)?),
        Some(name) => Some(require_user(host, name).await?.uid),
    };
    let gid = match group {
        None => None,
        Some(number) if is_number(number) => Some(id(number)?),
        Some(name) => Some(require_group(host, name).await?.gid),
    };
    Ok(Manner { mode: mode.map(Mode::bits), uid, gid })
}

pub(crate) fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The highest number means "none" to the kernel.
pub(crate) fn id(text: &str) -> Result<u32, HostError> {
    let problem = "it must be a number below 4294967295";
    let refuse = || HostError::invalid("the id", text, problem);
    text.parse().ok().filter(|id| *id != u32::MAX).ok_or_else(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_account_files_are_read() {
        let user = Account::parse("ann:x:1000:100:Ann Smith,,,:/srv/ann:/bin/bash").unwrap();
        assert_eq!((user.uid, user.gid, user.full_name()), (1000, 100, "Ann Smith"));
        assert_eq!((user.home.as_str(), user.shell.as_str()), ("/srv/ann", "/bin/bash"));
        for line in ["", "+", "ann:x:a:1::/:/", "ann:x:1:1:c:/", ":x:1:1::/:/"] {
            assert!(Account::parse(line).is_none(), "{line}");
        }
        let group = GroupEntry::parse("wheel:x:10:ann, bob,").unwrap();
        assert_eq!((group.gid, group.members), (10, vec!["ann".to_owned(), "bob".to_owned()]));
        assert_eq!(GroupEntry::parse("empty:x:11:").unwrap().members, Vec::<String>::new());
        assert!(GroupEntry::parse("a:b").is_none());
    }

    #[test]
    fn shadow_tells_locks_and_expiry() {
        let shadow = Shadow::parse("ann:$6$s$h:19000:0:99999:7::20000:", "ann").unwrap();
        assert_eq!((shadow.last_change, shadow.expires), (Some(19000), Some(20000)));
        assert!(!shadow.is_locked());
        assert!(Shadow::parse("ann:!$6$s$h:0:::::-1:", "ann").unwrap().is_locked());
        assert_eq!(Shadow::parse("ann:!:0:::::-1:", "ann").unwrap().expires, None);
        assert!(Shadow::parse("ann:x:1", "bob").is_none());
    }

    #[test]
    fn ids_are_numbers_that_mean_somebody() {
        assert_eq!(id("0").unwrap(), 0);
        for text in ["4294967295", "99999999999", ""] {
            assert!(id(text).is_err(), "{text}");
        }
    }
}
