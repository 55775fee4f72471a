//! Logging in at an identity provider, and which identities there are whose.
//!
//! The provider sends the browser back to the dashboard, which shows what it was given; a person copies that
//! into the terminal. It is worth nothing to anybody else: only who began the login holds the ticket.

use hostler_api::oidc::{
    OidcBegin, OidcFinish, OidcFinishBody, UserIdentityAdd, UserIdentityAddBody, UserIdentityList,
    UserIdentityRemove, UserIdentityRemoveBody,
};
use hostler_api::session::{LoginKind, LoginView};
use hostler_api::user::UserPath;
use hostler_client::Client;

use super::{Cx, DONE, Link, NONE, bare};
use crate::args::UserIdentityCommand;
use crate::failure::{Failure, Outcome};
use crate::output;

/// Logs in through a browser, wherever that is.
pub async fn enter(cx: &Cx, client: &Client) -> Result<LoginView, Failure> {
    let begun = client.call::<OidcBegin>(&NONE, &NONE, &NONE).await?;
    cx.ui.instruct(&format!(
        "Open this address in a browser, and log in there:\n\n  {}\n",
        begun.url
    ));
    let pasted = match cx.ui.may_ask() {
        true => cx.ui.ask("Then paste the code that the dashboard shows: ")?,
        false => cx.ui.input_line()?,
    };
    // The code itself may contain dots; the state does not.
    let Some((state, code)) = pasted.trim().split_once('.') else {
        return Err(Failure::usage(
            "this is not the code that the dashboard shows",
            "copy all of it; begin again with `hostler login --oidc`",
        ));
    };
    let body = OidcFinishBody {
        ticket: begun.ticket,
        state: state.to_owned(),
        code: code.to_owned(),
        kind: LoginKind::Token,
    };
    Ok(client.call::<OidcFinish>(&NONE, &NONE, &body).await?)
}

pub async fn identities(cx: &Cx, link: &Link, command: UserIdentityCommand) -> Outcome {
    let path = |user: &str| UserPath { user: bare("user", user).to_owned() };
    match command {
        UserIdentityCommand::Ls { user } => {
            let listed = link.client.call::<UserIdentityList>(&path(&user), &NONE, &NONE).await?;
            output::list(&cx.ui, cx.now(), &listed.items)?;
            Ok(DONE)
        }
        UserIdentityCommand::Add { user, subject } => {
            let body = UserIdentityAddBody { subject };
            let added = link.client.call::<UserIdentityAdd>(&path(&user), &NONE, &body).await?;
            cx.changed(&added, &format!("logs in as {}", bare("user", &user)))
        }
        UserIdentityCommand::Rm { user, subject, issuer } => {
            let listed = link.client.call::<UserIdentityList>(&path(&user), &NONE, &NONE).await?;
            let is_meant = |own: &str| issuer.as_deref().is_none_or(|issuer| issuer == own);
            let mut found = listed.items.into_iter();
            let found = found.find(|each| each.subject == subject && is_meant(&each.issuer));
            let Some(identity) = found else {
                return Err(Failure::told(
                    crate::exit::Code::NotFound,
                    format!("{user} has no such identity"),
                    format!("list them with `hostler user identity ls {user}`"),
                ));
            };
            cx.ui.confirm(&format!("Let {subject} not log in as {user} any more?"))?;
            let body = UserIdentityRemoveBody { issuer: identity.issuer, subject };
            link.client.call::<UserIdentityRemove>(&path(&user), &NONE, &body).await?;
            cx.ui.say(&format!("identity {} removed", body.subject));
            Ok(DONE)
        }
    }
}
