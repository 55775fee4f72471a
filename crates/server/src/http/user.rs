//! Users, service accounts, and roles in projects.

use hostler_api::user::{
    MemberList, MemberRemove, MemberSet, MemberView, UserCreate, UserGet, UserList, UserRemove,
    UserUpdate, UserView,
};
use hostler_api::{Listing, Nothing};
use hostler_control::{NewUser, UserDetail, UserPatch};
use hostler_model::Error;
use hostler_trust::SecretString;

use super::gather::Gather;
use super::{Answer, App, Call, view};

pub(crate) async fn list(
    app: App,
    call: Call<UserList>,
) -> Result<Answer<Listing<UserView>>, Error> {
    let mut list = Gather::of::<UserList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let users = app.control().user_list(&call.cx, ask.after(), ask.limit).await?;
        list.take(users, view::user)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn create(app: App, call: Call<UserCreate>) -> Result<Answer<UserView>, Error> {
    let new = NewUser {
        name: call.body.name,
        kind: call.body.kind,
        password: call.body.password.map(SecretString::new),
        role: call.body.role,
    };
    let detail = app.control().user_create(&call.cx, new).await?;
    let location = format!("/api/v1/users/{}", detail.principal.name);
    Ok(shown(detail).with_location(location))
}

pub(crate) async fn get(app: App, call: Call<UserGet>) -> Result<Answer<UserView>, Error> {
    Ok(shown(app.control().user_get(&call.cx, &call.path.user).await?))
}

pub(crate) async fn update(app: App, call: Call<UserUpdate>) -> Result<Answer<UserView>, Error> {
    let patch = UserPatch {
        is_disabled: call.body.is_disabled,
        password: call.body.password.map(SecretString::new),
        role: call.body.role.map(|role| role.role()),
    };
    let updated =
        app.control().user_update(&call.cx, &call.path.user, patch, call.expected).await?;
    Ok(shown(updated))
}

pub(crate) async fn remove(app: App, call: Call<UserRemove>) -> Result<Answer<Nothing>, Error> {
    app.control().user_remove(&call.cx, &call.path.user, call.expected).await?;
    Ok(Answer::new(Nothing {}))
}

fn shown(detail: UserDetail) -> Answer<UserView> {
    let generation = detail.principal.generation;
    Answer::new(view::user(detail)).with_generation(generation)
}

pub(crate) async fn members(
    app: App,
    call: Call<MemberList>,
) -> Result<Answer<Listing<MemberView>>, Error> {
    let mut list = Gather::of::<MemberList>(&call.query)?;
    while let Some(ask) = list.ask() {
        let members =
            app.control().member_list(&call.cx, call.project(), ask.after(), ask.limit).await?;
        list.take(members, view::member)?;
    }
    Ok(Answer::new(list.listing()))
}

pub(crate) async fn member_set(
    app: App,
    call: Call<MemberSet>,
) -> Result<Answer<MemberView>, Error> {
    let role = call.body.role.clone();
    let member = app.control().member_set(&call.cx, call.project(), &call.path.user, role).await?;
    Ok(Answer::new(view::member(member)))
}

pub(crate) async fn member_remove(
    app: App,
    call: Call<MemberRemove>,
) -> Result<Answer<Nothing>, Error> {
    app.control().member_remove(&call.cx, call.project(), &call.path.user).await?;
    Ok(Answer::new(Nothing {}))
}
