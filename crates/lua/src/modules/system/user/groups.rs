//! Groups, and who is in them.

use hostler_host::accounts::{self, Group, GroupEntry, Member};
use hostler_host::{Host, Primitive};
use serde_json::json;

use crate::modules::Installer;
use crate::modules::system::given::Given;
use crate::modules::system::machine::{Changing, Trouble, asking, changing, json, wanted};

pub(super) fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    for (name, takes, is_present) in [
        ("add_to_group", "username group", true),
        ("group_add_member", "group username", true),
        ("remove_from_group", "username group", false),
        ("group_remove_member", "group username", false),
    ] {
        changing(module, name, takes, move |given, host| member(given, host, is_present))?;
    }
    changing(module, "group_create", "group; gid system", |given: Given, host: Host| async move {
        let group = Group {
            name: given.text("group")?,
            gid: given.number("gid")?,
            system: given.is("system")?,
        };
        Ok(group.present(&host).await?)
    })?;
    changing(module, "group_delete", "group", |given: Given, host: Host| async move {
        Ok(Group::named(given.text("group")?).absent(&host).await?)
    })?;
    asking(module, "group_exists", "group", |given: Given, host: Host| async move {
        let name = given.text("group")?;
        let is_there = accounts::find_group(&host, &name).await?.is_some();
        let words = if is_there { "there is a group" } else { "there is no group" };
        Ok(vec![json!(is_there), json!(format!("{words} {name}"))])
    })?;
    asking(module, "group_get_info", "group", |given: Given, host: Host| async move {
        Ok(vec![json(&found(&given, &host).await?)])
    })?;
    asking(module, "group_get_gid", "group", |given: Given, host: Host| async move {
        Ok(vec![json!(found(&given, &host).await?.gid)])
    })?;
    asking(module, "group_list", "", |_, host: Host| async move {
        Ok(vec![json(&accounts::groups(&host).await?)])
    })?;
    asking(module, "group_members", "group", |given: Given, host: Host| async move {
        Ok(vec![json!(accounts::group_members(&host, &given.text("group")?).await?)])
    })
}

async fn member(given: Given, host: Host, is_present: bool) -> Result<Changing, Trouble> {
    let member = Member::new(given.text("username")?, given.text("group")?);
    wanted(&host, is_present, &member).await
}

async fn found(given: &Given, host: &Host) -> Result<GroupEntry, Trouble> {
    let name = given.text("group")?;
    let absent =
        || Trouble::new(format!("there is no group `{name}`; create it first, or check the name"));
    accounts::find_group(host, &name).await?.ok_or_else(absent)
}
