//! All users at a glance: each file is read once.

use std::collections::HashMap;

use serde::Serialize;

use super::database::{Account, groups, is_system_number, shadows, uid_min, users};
use crate::{Host, HostError};

/// A user with what the other files say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Profile {
    pub account: Account,
    /// The primary one first.
    pub groups: Vec<String>,
    pub is_system: bool,
    /// Whether its password is locked; `None` where we may not know.
    pub is_locked: Option<bool>,
}

/// All users of the files, in their order.
pub async fn profiles(host: &Host) -> Result<Vec<Profile>, HostError> {
    let (users, groups, uid_min) = (users(host).await?, groups(host).await?, uid_min(host).await?);
    let locks = shadows(host).await?;
    let names: HashMap<u32, &str> = groups.iter().map(|g| (g.gid, g.name.as_str())).collect();
    let mut found = Vec::with_capacity(users.len());
    for account in users {
        let primary = match names.get(&account.gid) {
            Some(name) => (*name).to_owned(),
            None => account.gid.to_string(),
        };
        let has = |group: &&super::GroupEntry| {
            group.gid != account.gid && group.members.contains(&account.username)
        };
        let others = groups.iter().filter(has).map(|group| group.name.clone());
        found.push(Profile {
            groups: std::iter::once(primary).chain(others).collect(),
            is_system: is_system_number(account.uid, uid_min),
            is_locked: locks.as_ref().map(|locks| locks.contains(&account.username)),
            account,
        });
    }
    Ok(found)
}
