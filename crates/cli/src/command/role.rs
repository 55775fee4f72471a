//! Roles.

use hostler_api::role::{
    RoleCreate, RoleCreateBody, RoleGet, RoleHolders, RoleList, RolePath, RoleRemove, RoleUpdate,
    RoleUpdateBody, RoleView,
};
use hostler_model::{Code, Generation, PermissionSet};

use super::{Cx, DONE, Link, NONE, again_if_stale, bare};
use crate::args::{RoleCommand, RoleEditArgs};
use crate::failure::{Failure, Outcome};
use crate::output::Description;

pub async fn perform(cx: &Cx, command: RoleCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        RoleCommand::Ls(list) => {
            let query = list.page();
            cx.list::<RoleList, _>(&link, &NONE, &query, list.limit).await
        }
        RoleCommand::Show { role } => show(cx, &link, &role).await,
        RoleCommand::Create(args) => {
            let body = RoleCreateBody {
                name: args.name,
                description: args.description,
                permissions: args.can,
            };
            cx.changed(&link.client.call::<RoleCreate>(&NONE, &NONE, &body).await?, "created")
        }
        RoleCommand::Edit(args) => edit(cx, &link, args).await,
        RoleCommand::Rm { roles } => {
            cx.ui.confirm(&format!("Remove {}?", roles.join(", ")))?;
            for role in &roles {
                let remove = again_if_stale(async || {
                    let generation = Generation::from_u64(get(&link, role).await?.generation);
                    link.client
                        .call_if_match::<RoleRemove>(&path(role), &NONE, &NONE, generation)
                        .await
                });
                remove.await?;
                cx.ui.say(&format!("role {} removed", bare("role", role)));
            }
            Ok(DONE)
        }
    }
}

fn path(role: &str) -> RolePath {
    RolePath { role: bare("role", role).to_owned() }
}

async fn get(link: &Link, role: &str) -> Result<RoleView, hostler_client::Error> {
    link.client.call::<RoleGet>(&path(role), &NONE, &NONE).await
}

async fn show(cx: &Cx, link: &Link, name: &str) -> Outcome {
    let role = get(link, name).await?;
    if !cx.is_for_people() || cx.ui.is_quiet() {
        return cx.one(&role);
    }
    let holders = match link.client.call::<RoleHolders>(&path(name), &NONE, &NONE).await {
        Ok(holders) => holders.items,
        // Who holds what is for those who may see users.
        Err(error) if error.is(Code::Forbidden) => Vec::new(),
        Err(error) => return Err(error.into()),
    };
    let mut text = Description::default();
    text.pair("Name", role.name.to_string())
        .pair("Kind", if role.is_built_in { "built in" } else { "custom" }.to_owned())
        .pair("Description", role.description.clone());
    text.section("Allows");
    for permission in role.permissions.iter() {
        text.pair(permission.label(), permission.meaning().to_owned());
    }
    text.section("Held by");
    for held in holders {
        let place = held.project.map_or_else(
            || "on the whole installation".to_owned(),
            |project| format!("in project {project}"),
        );
        text.pair(&held.holder.to_string(), place);
    }
    cx.ui.data(text.render().as_bytes())?;
    Ok(DONE)
}

async fn edit(cx: &Cx, link: &Link, args: RoleEditArgs) -> Outcome {
    let read = |given: &[String]| {
        PermissionSet::read(given).map_err(|error| {
            Failure::usage(error.to_string(), "`hostler role show admin` lists all permissions")
        })
    };
    let (added, gone) = (read(&args.add)?, read(&args.remove)?);
    let name = args.role;
    let change = again_if_stale(async || {
        let role = get(link, &name).await?;
        let permissions = match (args.can.as_slice(), added.is_empty() && gone.is_empty()) {
            ([], true) => None,
            ([], false) => {
                let set = role.permissions.union(added).without(gone);
                Some(set.iter().map(|permission| permission.label().to_owned()).collect())
            }
            (can, _) => Some(can.to_vec()),
        };
        let body = RoleUpdateBody { description: args.description.clone(), permissions };
        let generation = Generation::from_u64(role.generation);
        link.client.call_if_match::<RoleUpdate>(&path(&name), &NONE, &body, generation).await
    });
    cx.changed(&change.await?, "changed")
}
