//! Roles.

use hostler_api::role::{
    RoleCreate, RoleGet, RoleHolderView, RoleHolders, RoleList, RoleRemove, RoleUpdate, RoleView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{NewRole, RoleChange, RoleDetail};
use hostler_model::{CustomRole, Error, Generation, Role, RoleName};

use super::gather::Gather;
use super::{Answer, App, Call, page};

pub(crate) async fn list(
    app: App,
    call: Call<RoleList>,
) -> Result<Answer<Listing<RoleView>>, Error> {
    let mut list = Gather::of::<RoleList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let roles = app.control().role_list(&call.cx, ask.after(), ask.limit).await?;
        list.take(roles, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<RoleGet>) -> Result<Answer<RoleView>, Error> {
    let detail = app.control().role_get(&call.cx, &call.path.role).await?;
    let generation = match &detail {
        RoleDetail::BuiltIn(_) => Generation::ZERO,
        RoleDetail::Custom(role) => role.generation,
    };
    Ok(Answer::new(view(detail)).with_generation(generation))
}

pub(crate) async fn holders(
    app: App,
    call: Call<RoleHolders>,
) -> Result<Answer<Listing<RoleHolderView>>, Error> {
    let holders = app.control().role_holders(&call.cx, &call.path.role).await?;
    let view = |held: hostler_control::RoleHolder| RoleHolderView {
        holder: held.holder,
        project: held.project,
    };
    Ok(Answer::new(page::whole(holders, view)))
}

pub(crate) async fn create(app: App, call: Call<RoleCreate>) -> Result<Answer<RoleView>, Error> {
    let new = NewRole {
        name: call.body.name,
        description: call.body.description,
        permissions: call.body.permissions,
    };
    let role = app.control().role_create(&call.cx, new).await?;
    let location = format!("/api/v1/roles/{}", role.name);
    Ok(shown(role).with_location(location))
}

pub(crate) async fn update(app: App, call: Call<RoleUpdate>) -> Result<Answer<RoleView>, Error> {
    let change =
        RoleChange { description: call.body.description, permissions: call.body.permissions };
    let role = &call.path.role;
    Ok(shown(app.control().role_update(&call.cx, role, change, call.expected).await?))
}

pub(crate) async fn remove(app: App, call: Call<RoleRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().role_remove(&call.cx, &call.path.role, call.expected).await?;
    Ok(Answer::new(Nothing {}))
}

fn shown(role: CustomRole) -> Answer<RoleView> {
    let generation = role.generation;
    Answer::new(view(RoleDetail::Custom(role))).with_generation(generation)
}

fn view(detail: RoleDetail) -> RoleView {
    match detail {
        RoleDetail::BuiltIn(role) => RoleView {
            id: None,
            name: RoleName::BuiltIn(role),
            description: described(role).to_owned(),
            is_built_in: true,
            permissions: role.permissions(),
            generation: 0,
            time_created: None,
            time_modified: None,
        },
        RoleDetail::Custom(role) => RoleView {
            id: Some(role.id),
            name: RoleName::Custom(role.name),
            description: role.description,
            is_built_in: false,
            permissions: role.permissions,
            generation: role.generation.get(),
            time_created: Some(role.time_created),
            time_modified: Some(role.time_modified),
        },
    }
}

fn described(role: Role) -> &'static str {
    match role {
        Role::Viewer => "sees everything in the scope",
        Role::User => "runs things in the scope",
        Role::Operator => "tends nodes and everybody's workloads in the scope",
        Role::Admin => "gives roles and changes the scope itself",
    }
}
