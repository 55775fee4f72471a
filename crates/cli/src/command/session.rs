//! Browsers that are logged in.

use hostler_api::session::{
    UserSessionEnd, UserSessionEndAll, UserSessionList, UserSessionPath, WebSessionEnd,
    WebSessionEndOthers, WebSessionList, WebSessionPath, WebSessionView,
};
use hostler_api::user::UserPath;

use super::{Cx, DONE, Link, NONE, bare};
use crate::args::{SessionCommand, SessionRemoveArgs};
use crate::failure::Outcome;
use crate::output;

pub async fn perform(cx: &Cx, command: SessionCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        SessionCommand::Ls(args) => {
            let sessions: Vec<WebSessionView> = match args.user.as_deref().map(path) {
                Some(path) => link.client.call::<UserSessionList>(&path, &NONE, &NONE).await?.items,
                None => link.client.call::<WebSessionList>(&NONE, &NONE, &NONE).await?.items,
            };
            output::list(&cx.ui, cx.now(), &sessions)?;
            Ok(DONE)
        }
        SessionCommand::Rm(args) => remove(cx, &link, args).await,
    }
}

fn path(user: &str) -> UserPath {
    UserPath { user: bare("user", user).to_owned() }
}

async fn remove(cx: &Cx, link: &Link, args: SessionRemoveArgs) -> Outcome {
    let user = args.user.as_deref().map(path);
    if args.all {
        let ended = match &user {
            Some(path) => link.client.call::<UserSessionEndAll>(path, &NONE, &NONE).await?,
            None => link.client.call::<WebSessionEndOthers>(&NONE, &NONE, &NONE).await?,
        };
        match cx.ui.format() {
            Some(format) => output::document(&cx.ui, format, &ended)?,
            None => cx.ui.say(&format!(
                "sessions ended: {} of browsers, {} of command lines",
                ended.browsers, ended.command_lines
            )),
        }
        return Ok(DONE);
    }
    for given in &args.sessions {
        let session = bare("session", given).to_owned();
        match &user {
            Some(UserPath { user }) => {
                let path = UserSessionPath { user: user.clone(), session: session.clone() };
                link.client.call::<UserSessionEnd>(&path, &NONE, &NONE).await?;
            }
            None => {
                let path = WebSessionPath { session: session.clone() };
                link.client.call::<WebSessionEnd>(&path, &NONE, &NONE).await?;
            }
        }
        cx.ui.say(&format!("session {session} ended"));
    }
    Ok(DONE)
}
