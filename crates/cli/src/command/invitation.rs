//! Invitations and password resets: links that are handed to people.

use hostler_api::ProjectPath;
use hostler_api::invitation::{
    InvitationCreate, InvitationCreateBody, InvitationList, InvitationPath, InvitationRevoke,
    PasswordResetIssue, PasswordResetIssueBody, ProjectInvitationCreate, ProjectInvitationList,
    ProjectInvitationPath, ProjectInvitationRevoke,
};
use hostler_api::user::UserPath;
use serde::Serialize;

use super::{Cx, DONE, Link, NONE, bare};
use crate::args::{InvitationCommand, InvitationRefs, UserInviteArgs, UserResetArgs};
use crate::failure::Outcome;
use crate::output::{self, Format, age};

pub async fn perform(cx: &Cx, command: InvitationCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        InvitationCommand::Ls { scope, list } => {
            let query = list.page();
            match scope.only_project.as_deref().map(in_project) {
                Some(path) => {
                    cx.list::<ProjectInvitationList, _>(&link, &path, &query, list.limit).await
                }
                None => cx.list::<InvitationList, _>(&link, &NONE, &query, list.limit).await,
            }
        }
        InvitationCommand::Rm(args) => remove(cx, &link, args).await,
    }
}

fn in_project(project: &str) -> ProjectPath {
    ProjectPath { project: bare("project", project).to_owned() }
}

async fn remove(cx: &Cx, link: &Link, args: InvitationRefs) -> Outcome {
    for given in &args.invitations {
        let invitation = bare("invitation", given).to_owned();
        match args.scope.only_project.as_deref().map(in_project) {
            Some(ProjectPath { project }) => {
                let path = ProjectInvitationPath { project, invitation: invitation.clone() };
                link.client.call::<ProjectInvitationRevoke>(&path, &NONE, &NONE).await?;
            }
            None => {
                let path = InvitationPath { invitation: invitation.clone() };
                link.client.call::<InvitationRevoke>(&path, &NONE, &NONE).await?;
            }
        }
        cx.ui.say(&format!("invitation {invitation} revoked"));
    }
    Ok(DONE)
}

pub(super) async fn invite(cx: &Cx, link: &Link, args: UserInviteArgs) -> Outcome {
    let body =
        InvitationCreateBody { role: args.role, name: args.name, email: args.email, ttl: args.ttl };
    let made = match args.only_project.as_deref().map(in_project) {
        Some(path) => link.client.call::<ProjectInvitationCreate>(&path, &NONE, &body).await?,
        None => link.client.call::<InvitationCreate>(&NONE, &NONE, &body).await?,
    };
    let invitation = &made.invitation;
    let place = invitation.project.as_ref().map_or_else(
        || "on the whole installation".to_owned(),
        |project| format!("in project {project}"),
    );
    let whom = invitation.name.as_ref().map_or("somebody", |name| name.as_str());
    let story = format!(
        "{whom} is invited to be {} {place}; this link works once and expires {}:",
        invitation.role,
        age(invitation.time_expires, cx.now())
    );
    handed(cx, &made, &made.link, &story, &format!("invitation/{}", invitation.id))
}

pub(super) async fn reset(cx: &Cx, link: &Link, args: UserResetArgs) -> Outcome {
    let path = UserPath { user: bare("user", &args.user).to_owned() };
    let body = PasswordResetIssueBody { ttl: args.ttl };
    let made = link.client.call::<PasswordResetIssue>(&path, &NONE, &body).await?;
    let story = format!(
        "with this link {} sets a new password, once; it expires {}:",
        made.user,
        age(made.time_expires, cx.now())
    );
    handed(cx, &made, &made.link, &story, &format!("user/{}", made.user))
}

/// A link is data; what it is for is talk.
fn handed<T: Serialize>(cx: &Cx, made: &T, link: &str, story: &str, name: &str) -> Outcome {
    match cx.ui.format() {
        None | Some(Format::Table | Format::Wide) => {
            cx.ui.say(story);
            cx.ui.line(link)?;
        }
        Some(Format::Name) => cx.ui.line(name)?,
        Some(format) => output::document(&cx.ui, format, made)?,
    }
    Ok(DONE)
}
