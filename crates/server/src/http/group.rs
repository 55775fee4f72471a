//! Groups.

use hostler_api::group::{
    GroupCreate, GroupGet, GroupList, GroupMemberAdd, GroupMemberRemove, GroupRemove,
    GroupRoleView, GroupUpdate, GroupView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{GroupChange, GroupDetail, NewGroup};
use hostler_model::Error;

use super::gather::Gather;
use super::{Answer, App, Call};

pub(crate) async fn list(
    app: App,
    call: Call<GroupList>,
) -> Result<Answer<Listing<GroupView>>, Error> {
    let mut list = Gather::of::<GroupList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let groups = app.control().group_list(&call.cx, ask.after(), ask.limit).await?;
        list.take(groups, view)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn get(app: App, call: Call<GroupGet>) -> Result<Answer<GroupView>, Error> {
    Ok(shown(app.control().group_get(&call.cx, &call.path.group).await?))
}

pub(crate) async fn create(app: App, call: Call<GroupCreate>) -> Result<Answer<GroupView>, Error> {
    let new = NewGroup {
        name: call.body.name,
        description: call.body.description,
        members: call.body.members,
    };
    let detail = app.control().group_create(&call.cx, new).await?;
    let location = format!("/api/v1/groups/{}", detail.group.name);
    Ok(shown(detail).with_location(location))
}

pub(crate) async fn update(app: App, call: Call<GroupUpdate>) -> Result<Answer<GroupView>, Error> {
    let change = GroupChange {
        description: call.body.description,
        role: call.body.role.map(|role| role.role()),
    };
    let group = &call.path.group;
    Ok(shown(app.control().group_update(&call.cx, group, change, call.expected).await?))
}

pub(crate) async fn add(app: App, call: Call<GroupMemberAdd>) -> Result<Answer<GroupView>, Error> {
    let (group, user) = (&call.path.group, &call.path.user);
    Ok(shown(app.control().group_member_add(&call.cx, group, user).await?))
}

pub(crate) async fn take(
    app: App,
    call: Call<GroupMemberRemove>,
) -> Result<Answer<GroupView>, Error> {
    let (group, user) = (&call.path.group, &call.path.user);
    Ok(shown(app.control().group_member_remove(&call.cx, group, user).await?))
}

pub(crate) async fn remove(app: App, call: Call<GroupRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().group_remove(&call.cx, &call.path.group, call.expected).await?;
    Ok(Answer::new(Nothing {}))
}

fn shown(detail: GroupDetail) -> Answer<GroupView> {
    let generation = detail.group.generation;
    Answer::new(view(detail)).with_generation(generation)
}

fn view(detail: GroupDetail) -> GroupView {
    let GroupDetail { group, members, roles } = detail;
    GroupView {
        id: group.id,
        name: group.name,
        description: group.description,
        members,
        roles: roles.into_iter().map(|(role, project)| GroupRoleView { role, project }).collect(),
        generation: group.generation.get(),
        time_created: group.time_created,
        time_modified: group.time_modified,
    }
}
