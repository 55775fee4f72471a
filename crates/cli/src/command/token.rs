//! API tokens.

use hostler_api::token::{TokenCreate, TokenCreateBody, TokenList, TokenPath, TokenRevoke};

use super::{Cx, DONE, Link, NONE, bare};
use crate::args::{TokenCommand, TokenCreateArgs};
use crate::failure::Outcome;
use crate::output::{self, Format, age};

pub async fn perform(cx: &Cx, command: TokenCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        TokenCommand::Create(args) => create(cx, &link, args).await,
        TokenCommand::Ls(list) => {
            let query = list.page();
            cx.list::<TokenList, _>(&link, &NONE, &query, list.limit).await
        }
        TokenCommand::Rm { tokens } => {
            for token in tokens {
                let path = TokenPath { token: bare("token", &token).to_owned() };
                link.client.call::<TokenRevoke>(&path, &NONE, &NONE).await?;
                cx.ui.say(&format!("token {} revoked", path.token));
            }
            Ok(DONE)
        }
    }
}

async fn create(cx: &Cx, link: &Link, args: TokenCreateArgs) -> Outcome {
    let body = TokenCreateBody {
        name: args.name,
        user: args.user,
        role: args.role,
        project: None,
        projects: Some(args.only_project).filter(|list| !list.is_empty()),
        can: Some(args.can).filter(|list| !list.is_empty()),
        from: Some(args.from).filter(|list| !list.is_empty()),
        ttl: args.ttl,
    };
    let made = link.client.call::<TokenCreate>(&NONE, &NONE, &body).await?;
    match cx.ui.format() {
        None | Some(Format::Table | Format::Wide | Format::Name) => {
            let until =
                made.token.time_expires.map(|time| format!(", expires {}", age(time, cx.now())));
            let may = match made.token.can {
                Some(can) => format!("for {}", can.words()),
                None => format!("with role {}", made.token.role),
            };
            cx.ui.say(&format!(
                "token {} of {} {may}{}; it is shown this once:",
                made.token.name,
                made.token.user,
                until.unwrap_or_default()
            ));
            cx.ui.line(&made.secret)?;
        }
        Some(format) => output::document(&cx.ui, format, &made)?,
    }
    Ok(DONE)
}
