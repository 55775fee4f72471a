//! Groups.

use hostler_api::group::{
    GroupCreate, GroupCreateBody, GroupGet, GroupList, GroupMemberAdd, GroupMemberPath,
    GroupMemberRemove, GroupPath, GroupRemove, GroupUpdate, GroupUpdateBody, GroupView,
};
use hostler_api::user::GlobalRole;
use hostler_model::Generation;

use super::{Cx, DONE, Link, NONE, again_if_stale, bare};
use crate::args::GroupCommand;
use crate::failure::Outcome;

pub async fn perform(cx: &Cx, command: GroupCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        GroupCommand::Ls(list) => {
            let query = list.page();
            cx.list::<GroupList, _>(&link, &NONE, &query, list.limit).await
        }
        GroupCommand::Show { group } => cx.one(&get(&link, &group).await?),
        GroupCommand::Create(args) => {
            let body = GroupCreateBody {
                name: args.name,
                description: args.description,
                members: args.users,
            };
            cx.changed(&link.client.call::<GroupCreate>(&NONE, &NONE, &body).await?, "created")
        }
        GroupCommand::Add(args) => {
            for user in &args.users {
                let path = member(&args.group, user);
                link.client.call::<GroupMemberAdd>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("{} is in the group {}", path.user, path.group));
            }
            Ok(DONE)
        }
        GroupCommand::Remove(args) => {
            for user in &args.users {
                let path = member(&args.group, user);
                link.client.call::<GroupMemberRemove>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("{} is not in the group {} any more", path.user, path.group));
            }
            Ok(DONE)
        }
        GroupCommand::Rm { groups } => {
            cx.ui.confirm(&format!("Remove {} with the roles bound to it?", groups.join(", ")))?;
            for group in &groups {
                let remove = again_if_stale(async || {
                    let generation = Generation::from_u64(get(&link, group).await?.generation);
                    link.client
                        .call_if_match::<GroupRemove>(&path(group), &NONE, &NONE, generation)
                        .await
                });
                remove.await?;
                cx.ui.say(&format!("group {} removed", bare("group", group)));
            }
            Ok(DONE)
        }
    }
}

fn path(group: &str) -> GroupPath {
    GroupPath { group: bare("group", group).to_owned() }
}

fn member(group: &str, user: &str) -> GroupMemberPath {
    GroupMemberPath { group: bare("group", group).to_owned(), user: bare("user", user).to_owned() }
}

async fn get(link: &Link, group: &str) -> Result<GroupView, hostler_client::Error> {
    link.client.call::<GroupGet>(&path(group), &NONE, &NONE).await
}

/// Sets the role on the whole installation.
pub async fn role(cx: &Cx, link: &Link, group: &str, role: &GlobalRole) -> Outcome {
    let body = GroupUpdateBody { role: Some(role.clone()), ..GroupUpdateBody::default() };
    let update = again_if_stale(async || {
        let generation = Generation::from_u64(get(link, group).await?.generation);
        link.client.call_if_match::<GroupUpdate>(&path(group), &NONE, &body, generation).await
    });
    cx.changed(&update.await?, &format!("has role {role} on the whole installation"))
}
