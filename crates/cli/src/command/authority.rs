//! The certificate authority, and what this machine has pinned of it.
//!
//! A server says with every answer which authorities are trusted, in a few letters. Where a context has
//! pinned others, they are asked for after the command, over the connection that is trusted already, and
//! pinned in their place.

use std::time::Duration;

use hostler_api::authority::{
    AuthorityAbort, AuthorityCertificateView, AuthorityFinish, AuthorityFinishBody,
    AuthorityRotate, AuthorityShow, AuthorityTrusted, AuthorityView,
};
use hostler_client::Client;
use hostler_model::AuthorityPhase;
use hostler_trust::AuthorityBundle;

use super::{Cx, DONE, NONE};
use crate::args::CaCommand;
use crate::config;
use crate::failure::Outcome;
use crate::output;

/// For learning whom to trust.
const PATIENCE: Duration = Duration::from_secs(5);

pub async fn perform(cx: &Cx, command: CaCommand) -> Outcome {
    let link = cx.link()?;
    let client = &link.client;
    let (view, said) = match command {
        CaCommand::Show => (client.call::<AuthorityShow>(&NONE, &NONE, &NONE).await?, None),
        CaCommand::Rotate => {
            let view = client.call::<AuthorityRotate>(&NONE, &NONE, &NONE).await?;
            (
                view,
                Some(
                    "a new authority takes the place of the old one; `hostler ca show` tells how far it is",
                ),
            )
        }
        CaCommand::Abort => {
            let view = client.call::<AuthorityAbort>(&NONE, &NONE, &NONE).await?;
            (
                view,
                Some(
                    "the old authority issues again; `hostler ca finish` drops the new one when every node is back",
                ),
            )
        }
        CaCommand::Finish { force } => {
            if force {
                let before = client.call::<AuthorityShow>(&NONE, &NONE, &NONE).await?;
                if !before.waiting.is_empty() {
                    let names = names(&before);
                    cx.ui.confirm(&format!("Cut off {names}, which then have to join again?"))?;
                }
            }
            let body = AuthorityFinishBody { force };
            let view = client.call::<AuthorityFinish>(&NONE, &NONE, &body).await?;
            (view, Some("the old authority is dropped"))
        }
    };
    if let Some(said) = said {
        cx.ui.say(said);
    }
    match cx.ui.format() {
        _ if cx.ui.is_quiet() => cx.ui.line(&view.present.fingerprint)?,
        Some(output::Format::Name) => {
            cx.ui.line(&format!("authority/{}", view.present.fingerprint))?
        }
        Some(output::Format::Table | output::Format::Wide) | None => {
            cx.ui.data(describe(&view).as_bytes())?;
        }
        Some(format) => output::document(&cx.ui, format, &view)?,
    }
    Ok(DONE)
}

fn names(view: &AuthorityView) -> String {
    let names: Vec<&str> = view.waiting.iter().map(|node| node.name.as_str()).collect();
    names.join(", ")
}

fn describe(view: &AuthorityView) -> String {
    let one = |authority: &AuthorityCertificateView| {
        format!("{}, until {}", authority.fingerprint, authority.time_expires)
    };
    let standing = match view.phase {
        AuthorityPhase::Stable => "one authority, nothing is being replaced".to_owned(),
        AuthorityPhase::Spreading => "servers and agents hear of a new authority".to_owned(),
        AuthorityPhase::Renewing if view.waiting.is_empty() => {
            "every node has renewed: `hostler ca finish`".to_owned()
        }
        AuthorityPhase::Renewing => match view.waiting.len() {
            1 => "1 node has to renew".to_owned(),
            many => format!("{many} nodes have to renew"),
        },
    };
    let mut text = output::Description::default();
    text.pair("Phase", view.phase.to_string())
        .pair("Standing", standing)
        .pair("Authority", one(&view.present))
        .pair("Former", view.former.as_ref().map(one))
        .pair("Waiting", (!view.waiting.is_empty()).then(|| names(view)));
    for retired in &view.retired {
        text.pair("Retired", one(retired));
    }
    text.render()
}

/// Pins what the server of a context says is trusted, should that have changed. Nothing that goes wrong
/// here spoils the command that was carried out.
pub async fn learn(cx: &Cx, client: &Client, context: &str) {
    if !client.has_other_authorities() {
        return;
    }
    let client = client.with_timeout(PATIENCE);
    let Ok(told) = client.call::<AuthorityTrusted>(&NONE, &NONE, &NONE).await else { return };
    let Ok(bundle) = AuthorityBundle::from_pem(&told.certificates) else { return };
    if let Err(error) = config::repin(&cx.environment, context, &bundle) {
        cx.ui.warn(&format!("the server's authority has changed and cannot be pinned: {error:#}"));
    }
}
