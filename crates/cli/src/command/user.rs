//! Users and service accounts.

use hostler_api::second_factor::TotpReset;
use hostler_api::session::{PasswordChange, PasswordChangeBody};
use hostler_api::user::{
    UserCreate, UserCreateBody, UserGet, UserList, UserPath, UserRemove, UserUpdate,
    UserUpdateBody, UserView,
};
use hostler_model::{Generation, PrincipalKind, Subject};
use hostler_trust::SecretString;

use super::{Cx, DONE, Link, NONE, again_if_stale, bare, group};
use crate::args::{UserCommand, UserCreateArgs, UserPasswdArgs};
use crate::failure::{Failure, Outcome};

pub async fn perform(cx: &Cx, command: UserCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        UserCommand::Create(args) => create(cx, &link, args).await,
        UserCommand::Invite(args) => super::invitation::invite(cx, &link, args).await,
        UserCommand::Reset(args) => super::invitation::reset(cx, &link, args).await,
        UserCommand::TotpReset(args) => {
            cx.ui.confirm(&format!(
                "Let {} log in with the password alone?",
                args.users.join(", ")
            ))?;
            for user in &args.users {
                link.client.call::<TotpReset>(&path(user), &NONE, &NONE).await?;
                cx.ui.say(&format!("user {} has no second factor any more", bare("user", user)));
            }
            Ok(DONE)
        }
        UserCommand::Identity(command) => super::oidc::identities(cx, &link, command).await,
        UserCommand::Ls(list) => {
            let query = list.page();
            cx.list::<UserList, _>(&link, &NONE, &query, list.limit).await
        }
        UserCommand::Get { user } => cx.one(&get(&link, &user).await?),
        UserCommand::Disable(args) => each(cx, &link, &args.users, true).await,
        UserCommand::Enable(args) => each(cx, &link, &args.users, false).await,
        UserCommand::Passwd(args) => passwd(cx, &link, args).await,
        UserCommand::Role { user, role } => {
            if let Some(group) = user.strip_prefix(Subject::GROUP) {
                return group::role(cx, &link, group, &role).await;
            }
            let words = format!("has role {role} on the whole installation");
            let body = UserUpdateBody { role: Some(role), ..UserUpdateBody::default() };
            let user = update(&link, &user, &body).await?;
            cx.changed(&user, &words)
        }
        UserCommand::Rm(args) => {
            cx.ui.confirm(&format!(
                "Remove {} with tokens, sessions and roles?",
                args.users.join(", ")
            ))?;
            for name in &args.users {
                let remove = again_if_stale(async || {
                    let generation = Generation::from_u64(get(&link, name).await?.generation);
                    link.client
                        .call_if_match::<UserRemove>(&path(name), &NONE, &NONE, generation)
                        .await
                });
                remove.await?;
                cx.ui.say(&format!("user {} removed", bare("user", name)));
            }
            Ok(DONE)
        }
    }
}

fn path(user: &str) -> UserPath {
    UserPath { user: bare("user", user).to_owned() }
}

async fn get(link: &Link, user: &str) -> Result<UserView, hostler_client::Error> {
    link.client.call::<UserGet>(&path(user), &NONE, &NONE).await
}

async fn update(
    link: &Link,
    user: &str,
    body: &UserUpdateBody,
) -> Result<UserView, hostler_client::Error> {
    let update = again_if_stale(async || {
        let generation = Generation::from_u64(get(link, user).await?.generation);
        link.client.call_if_match::<UserUpdate>(&path(user), &NONE, body, generation).await
    });
    update.await
}

async fn each(cx: &Cx, link: &Link, users: &[String], is_disabled: bool) -> Outcome {
    let body = UserUpdateBody { is_disabled: Some(is_disabled), ..UserUpdateBody::default() };
    for user in users {
        let user = update(link, user, &body).await?;
        cx.changed(&user, if is_disabled { "disabled" } else { "enabled" })?;
    }
    Ok(DONE)
}

async fn create(cx: &Cx, link: &Link, args: UserCreateArgs) -> Outcome {
    let password = if args.service {
        None
    } else {
        Some(new_password(
            cx,
            &format!("Password for {}", args.name),
            args.password.password_stdin,
        )?)
    };
    let body = UserCreateBody {
        name: args.name,
        kind: if args.service { PrincipalKind::Service } else { PrincipalKind::User },
        password: password.map(|password| password.expose().to_owned()),
        role: args.role,
    };
    cx.changed(&link.client.call::<UserCreate>(&NONE, &NONE, &body).await?, "created")
}

async fn passwd(cx: &Cx, link: &Link, args: UserPasswdArgs) -> Outcome {
    if let Some(user) = args.user {
        let password = new_password(cx, &format!("New password for {user}"), args.password_stdin)?;
        let body = UserUpdateBody {
            password: Some(password.expose().to_owned()),
            ..UserUpdateBody::default()
        };
        return cx.changed(&update(link, &user, &body).await?, "has a new password");
    }
    let current = password(cx, "Present password", args.password_stdin)?;
    let new = new_password(cx, "New password", args.password_stdin)?;
    let body =
        PasswordChangeBody { current: current.expose().to_owned(), new: new.expose().to_owned() };
    link.client.call::<PasswordChange>(&NONE, &NONE, &body).await?;
    cx.ui.say("your password is changed; your other sessions have ended");
    Ok(DONE)
}

/// A password that exists: from stdin, or asked for once.
pub fn password(cx: &Cx, prompt: &str, is_stdin: bool) -> Result<SecretString, Failure> {
    if is_stdin {
        return Ok(SecretString::new(cx.ui.input_line()?));
    }
    if !cx.ui.may_ask() {
        return Err(Failure::usage(
            "a password is needed, and nobody can be asked",
            "give it with --password-stdin",
        ));
    }
    cx.ui.ask_secret(&format!("{prompt}: "))
}

/// A password that is to be: asked for twice.
pub fn new_password(cx: &Cx, prompt: &str, is_stdin: bool) -> Result<SecretString, Failure> {
    let once = password(cx, prompt, is_stdin)?;
    if !is_stdin && cx.ui.ask_secret("The same again: ")? != once {
        return Err(Failure::usage("the two are not the same", "try again"));
    }
    Ok(once)
}
