//! A group, and that somebody is in one.

use serde::{Deserialize, Serialize};

use super::SHADOW_UTILS;
use super::database::{find_group, find_user, id, require_group, require_user};
use super::names::account_name;
use crate::call::Call;
use crate::outcome::Change;
use crate::plan::{Plan, Primitive};
use crate::{Host, HostError};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub name: String,
    #[serde(default)]
    pub gid: Option<u32>,
    /// Whether a new one is one of the machine's own, with a low number.
    #[serde(default)]
    pub system: bool,
}

impl Group {
    pub fn named(name: impl Into<String>) -> Group {
        Group { name: name.into(), ..Group::default() }
    }
}

impl Primitive for Group {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let name = account_name("the group", &self.name)?;
        self.gid.map(|gid| id(&gid.to_string())).transpose()?;
        match (find_group(host, name).await?, self.gid) {
            (Some(group), Some(gid)) if group.gid != gid => {
                let what = format!("gid of group {name}");
                Ok(Plan::new(format!("group {name} is altered"))
                    .change(Change::altered(what, group.gid.to_string(), gid.to_string()))
                    .run(Call::new("groupmod").args(["-g", &gid.to_string(), name]).privileged()))
            }
            (Some(_), _) => Ok(Plan::new(format!("group {name} is already so"))),
            (None, gid) => {
                host.require("groupadd", SHADOW_UTILS)?;
                let mut call = Call::new("groupadd").privileged();
                if let Some(gid) = gid {
                    call = call.args(["-g", &gid.to_string()]);
                }
                if self.system {
                    call = call.arg("-r");
                }
                let about = gid.map_or("made".to_owned(), |gid| format!("gid {gid}"));
                Ok(Plan::new(format!("group {name} is made"))
                    .change(Change::added(format!("group {name}"), about))
                    .run(call.arg(name)))
            }
        }
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let name = account_name("the group", &self.name)?;
        let Some(group) = find_group(host, name).await? else {
            return Ok(Plan::new(format!("group {name} is not there")));
        };
        if group.gid == 0 {
            let problem = "a machine cannot be without it";
            return Err(HostError::invalid("the group", name, problem));
        }
        host.require("groupdel", SHADOW_UTILS)?;
        Ok(Plan::new(format!("group {name} is removed"))
            .change(Change::removed(format!("group {name}"), format!("gid {}", group.gid)))
            .run(Call::new("groupdel").arg(name).privileged()))
    }
}

/// That a user is in a group beside its primary one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    pub user: String,
    pub group: String,
}

impl Member {
    pub fn new(user: impl Into<String>, group: impl Into<String>) -> Member {
        Member { user: user.into(), group: group.into() }
    }

    fn call(&self, host: &Host, flag: &str) -> Result<Call, HostError> {
        host.require("gpasswd", SHADOW_UTILS)?;
        Ok(Call::new("gpasswd").args([flag, &self.user, &self.group]).privileged())
    }
}

impl Primitive for Member {
    async fn present(&self, host: &Host) -> Result<Plan, HostError> {
        let user = account_name("the user", &self.user)?;
        let name = account_name("the group", &self.group)?;
        let account = require_user(host, user).await?;
        let group = require_group(host, name).await?;
        if group.gid == account.gid || group.members.iter().any(|member| member == user) {
            return Ok(Plan::new(format!("{user} is in group {name} already")));
        }
        Ok(Plan::new(format!("{user} is put into group {name}"))
            .change(Change::added(format!("member of group {name}"), user))
            .run(self.call(host, "-a")?))
    }

    async fn absent(&self, host: &Host) -> Result<Plan, HostError> {
        let user = account_name("the user", &self.user)?;
        let name = account_name("the group", &self.group)?;
        let group = find_group(host, name).await?;
        let is_member = group.as_ref().is_some_and(|group| group.members.iter().any(|m| m == user));
        if is_member {
            return Ok(Plan::new(format!("{user} is taken out of group {name}"))
                .change(Change::removed(format!("member of group {name}"), user))
                .run(self.call(host, "-d")?));
        }
        let account = find_user(host, user).await?;
        match (group, account) {
            (Some(group), Some(account)) if group.gid == account.gid => {
                let problem = "it is the primary group of the user; give the user another first";
                Err(HostError::invalid("the group", name, problem))
            }
            _ => Ok(Plan::new(format!("{user} is not in group {name}"))),
        }
    }
}
