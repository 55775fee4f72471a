//! The second factor of whoever is logged in.

use hostler_api::second_factor::{
    RecoveryCodesView, TotpConfirm, TotpConfirmBody, TotpDisable, TotpDisableBody, TotpEnrol,
    TotpEnrolBody, TotpShow, TotpView,
};
use hostler_trust::SecretString;

use super::user::password;
use super::{Cx, DONE, Link, NONE};
use crate::args::{TotpCommand, TotpDisableArgs, TotpEnrolArgs};
use crate::failure::{Failure, Outcome};
use crate::output::{self, Format};

pub async fn perform(cx: &Cx, command: TotpCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        TotpCommand::Show => show(cx, &link).await,
        TotpCommand::Enrol(args) => enrol(cx, &link, args).await,
        TotpCommand::Confirm(args) => {
            let code = given_or_asked(cx, args.code)?;
            confirm(cx, &link, &code).await
        }
        TotpCommand::Disable(args) => disable(cx, &link, args).await,
    }
}

async fn show(cx: &Cx, link: &Link) -> Outcome {
    let view = link.client.call::<TotpShow>(&NONE, &NONE, &NONE).await?;
    match cx.ui.format() {
        None | Some(Format::Table | Format::Wide) => {
            cx.ui.data(describe(&view).as_bytes())?;
        }
        Some(Format::Name) => cx.ui.line(view.state.label())?,
        Some(format) => output::document(&cx.ui, format, &view)?,
    }
    Ok(DONE)
}

fn describe(view: &TotpView) -> String {
    let mut text = output::Description::default();
    text.pair("Second factor", view.state.to_string())
        .pair("Since", view.time_confirmed.map(|time| time.to_string()))
        .pair("Recovery codes", format!("{} left", view.recovery_codes_left));
    text.render()
}

async fn enrol(cx: &Cx, link: &Link, args: TotpEnrolArgs) -> Outcome {
    let password = password(cx, "Your password", args.password.password_stdin)?;
    let body = TotpEnrolBody { password: password.expose().to_owned() };
    let made = link.client.call::<TotpEnrol>(&NONE, &NONE, &body).await?;
    match cx.ui.format() {
        None | Some(Format::Table | Format::Wide | Format::Name) => {
            cx.ui.say("type this secret into your authenticator, or open the link with it:");
            cx.ui.line(&made.secret)?;
            cx.ui.line(&made.uri)?;
        }
        Some(format) => output::document(&cx.ui, format, &made)?,
    }
    if cx.ui.may_ask() {
        let code = asked(cx)?;
        return confirm(cx, link, &code).await;
    }
    cx.ui.say("it counts once `hostler auth totp confirm CODE` has seen a code of it");
    Ok(DONE)
}

async fn confirm(cx: &Cx, link: &Link, code: &SecretString) -> Outcome {
    let body = TotpConfirmBody { code: code.expose().to_owned() };
    let view = link.client.call::<TotpConfirm>(&NONE, &NONE, &body).await?;
    cx.ui.say("your logins need a code from now on, and your other sessions have ended");
    print_codes(cx, &view)
}

fn print_codes(cx: &Cx, view: &RecoveryCodesView) -> Outcome {
    match cx.ui.format() {
        None | Some(Format::Table | Format::Wide | Format::Name) => {
            cx.ui.say("keep these recovery codes; each stands in for a code once, and they are shown this once:");
            view.recovery_codes.iter().try_for_each(|code| cx.ui.line(code))?;
        }
        Some(format) => output::document(&cx.ui, format, view)?,
    }
    Ok(DONE)
}

async fn disable(cx: &Cx, link: &Link, args: TotpDisableArgs) -> Outcome {
    let password = password(cx, "Your password", args.password.password_stdin)?;
    let code = given_or_asked(cx, args.code)?;
    let body =
        TotpDisableBody { password: password.expose().to_owned(), code: code.expose().to_owned() };
    link.client.call::<TotpDisable>(&NONE, &NONE, &body).await?;
    cx.ui.say("your logins need the password only from now on");
    Ok(DONE)
}

fn given_or_asked(cx: &Cx, given: Option<String>) -> Result<SecretString, Failure> {
    match given {
        Some(code) => Ok(SecretString::new(code)),
        None if cx.ui.may_ask() => asked(cx),
        None => Err(Failure::usage(
            "a code is needed, and nobody can be asked",
            "give it as an argument: six digits of the authenticator; each works once",
        )),
    }
}

/// Asks for a code. It may be seen: it works once.
pub(super) fn asked(cx: &Cx) -> Result<SecretString, Failure> {
    Ok(SecretString::new(cx.ui.ask("Code of your authenticator: ")?))
}
