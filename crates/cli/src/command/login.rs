//! Getting in and out.
//!
//! The order matters: the authority is pinned before anything secret is sent. What was pinned for the
//! same address before must still be there; a changed authority is refused unless its fingerprint is
//! given. A link that was handed out carries the fingerprint of its authority: it is as good as one
//! that was typed, but never replaces one that was pinned.

use std::time::Duration;

use hostler_api::invitation::{
    InvitationAccept, InvitationAcceptBody, InvitationOfferView, InvitationShow,
    InvitationShowBody, PasswordResetUse, PasswordResetUseBody,
};
use hostler_api::session::{
    Login, LoginBody, LoginKind, LoginView, Logout, Setup, SetupBody, Whoami, WhoamiView,
};
use hostler_client::{Client, ClientConfig, Presented, probe_for};
use hostler_model::{Code, DEFAULT_PROJECT, Name, PermissionSet, Role, SecondFactorState};
use hostler_trust::{Link, SecretString, TokenKind};

use super::second_factor::asked;
use super::user::{new_password, password};
use super::{Cx, DONE, NONE};
use crate::args::LoginArgs;
use crate::config::{self, Secrets};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;
use crate::target::{Target, given, same_address};

pub async fn login(cx: &Cx, args: LoginArgs) -> Outcome {
    let config = config::load(&cx.environment)?;
    let asked = given(&cx.globals.context).or(config.current.as_deref());
    let known = asked.and_then(|name| config.contexts.get(name));
    let handed = Handed::of(&args)?;
    let Some(address) = handed
        .as_ref()
        .map(|handed| handed.link().address.as_str())
        .or(args.url.as_deref())
        .or(given(&cx.globals.address))
        .or(known.map(|c| c.address.as_str()))
    else {
        return Err(Failure::usage(
            "which server?",
            "give its address: `hostler login https://host:7443`",
        ));
    };
    let pinned = config.contexts.values().find(|context| same_address(&context.address, address));
    let wanted = handed
        .as_ref()
        .map(|handed| handed.link().authority)
        .or(args.fingerprint)
        .or(pinned.and_then(|context| context.fingerprint.parse().ok()));
    let presented = probe_for(address, wanted, cx.now(), Duration::from_secs(10)).await?;
    trust(cx, &args, handed.as_ref(), &config, &presented)?;

    let token = token(cx, &args, handed.as_ref(), &presented).await?;
    let mut with_token = ClientConfig::new(&presented.address, &presented.ca_pem);
    with_token.token = Some(token.clone());
    let me = Client::new(with_token)?.call::<Whoami>(&NONE, &NONE, &NONE).await?;

    let name = match given(&cx.globals.context) {
        Some(name) => name.to_owned(),
        None => context_name(&config, &presented.address),
    };
    let project = given(&cx.globals.project)
        .or(config.contexts.get(&name).and_then(|context| context.project.as_deref()))
        .unwrap_or(DEFAULT_PROJECT);
    let secrets = Secrets { token: Some(token), ca_pem: presented.ca_pem };
    config::save_context(
        &cx.environment,
        &name,
        &presented.address,
        Some(project),
        &secrets,
        true,
    )?;
    cx.ui.say(&format!(
        "logged in to {} as {}; the current context is {name}",
        presented.address, me.name
    ));
    Ok(DONE)
}

/// A link that an admin made.
enum Handed {
    Invitation(Link),
    Reset(Link),
}

impl Handed {
    fn of(args: &LoginArgs) -> Result<Option<Handed>, Failure> {
        let read = |text: &str, kind| {
            Link::parse(text, kind).map_err(|error| {
                Failure::usage(
                    hostler_base::chain(&error).to_string(),
                    "quote the link: it has a `#`",
                )
            })
        };
        match (&args.invitation, &args.reset) {
            (Some(text), _) => Ok(Some(Handed::Invitation(read(text, TokenKind::Invitation)?))),
            (None, Some(text)) => Ok(Some(Handed::Reset(read(text, TokenKind::Reset)?))),
            (None, None) => Ok(None),
        }
    }

    fn link(&self) -> &Link {
        match self {
            Handed::Invitation(link) | Handed::Reset(link) => link,
        }
    }
}

/// The context that has this address already, or a new one named after the host.
fn context_name(config: &config::Config, address: &str) -> String {
    let known = config.contexts.iter().find(|(_, context)| context.address == address);
    match known {
        Some((name, _)) => name.clone(),
        None => {
            let host = address.strip_prefix("https://").unwrap_or(address);
            let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
            let host = if host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|ip| ip.is_loopback())
            {
                "local"
            } else {
                host.trim_matches(['[', ']'])
            };
            host.to_owned()
        }
    }
}

fn trust(
    cx: &Cx,
    args: &LoginArgs,
    handed: Option<&Handed>,
    config: &config::Config,
    presented: &Presented,
) -> Result<(), Failure> {
    let shown = presented.fingerprint.to_string();
    let pinned = config.contexts.values().find(|context| context.address == presented.address);
    let of_link = handed.map(|handed| handed.link().authority);
    if let Some(expected) = of_link.filter(|expected| *expected != presented.fingerprint) {
        return Err(Failure::told(
            exit::Code::Denied,
            format!(
                "the authority of {} is {shown}, not {expected} as the link says",
                presented.address
            ),
            "ask who gave you the link; somebody may be in between",
        ));
    }
    let expected = args.fingerprint.or(of_link.filter(|_| pinned.is_none()));
    match (&expected, pinned) {
        (Some(expected), _) if *expected == presented.fingerprint => Ok(()),
        (Some(expected), _) => Err(Failure::told(
            exit::Code::Denied,
            format!("the authority of {} is {shown}, not {expected}", presented.address),
            "compare with what the server printed at its start; somebody may be in between",
        )),
        (None, Some(context)) if context.fingerprint == shown => Ok(()),
        (None, Some(context)) => Err(Failure::told(
            exit::Code::Denied,
            format!(
                "the authority of {} has changed from {} to {shown}",
                presented.address, context.fingerprint
            ),
            format!(
                "if the installation was made anew, say so with --fingerprint {shown}; if not, somebody may be in between"
            ),
        )),
        (None, None) if cx.ui.may_ask() => {
            cx.ui.say(&format!(
                "The authority of {} has the fingerprint\n  {shown}",
                presented.address
            ));
            let answer = cx.ui.ask("Is it the one that the server printed at its start? [y/N] ")?;
            if matches!(answer.as_str(), "y" | "Y" | "yes") {
                return Ok(());
            }
            Err(Failure::told(
                exit::Code::Denied,
                "the authority is not trusted; nothing was sent",
                "find out whose server it is",
            ))
        }
        (None, None) => Err(Failure::told(
            exit::Code::Denied,
            format!(
                "the authority of {} is not known yet; its fingerprint is {shown}",
                presented.address
            ),
            format!(
                "compare it with what the server printed at its start, then say --fingerprint {shown}"
            ),
        )),
    }
}

async fn token(
    cx: &Cx,
    args: &LoginArgs,
    handed: Option<&Handed>,
    presented: &Presented,
) -> Result<SecretString, Failure> {
    if args.token_stdin {
        return Ok(SecretString::new(cx.ui.input_line()?.trim()));
    }
    let client = Client::new(ClientConfig::new(&presented.address, &presented.ca_pem))?;
    let view = match (handed, &args.setup) {
        (Some(Handed::Invitation(link)), _) => accept(cx, args, &client, link).await?,
        (Some(Handed::Reset(link)), _) => reset(cx, args, &client, link).await?,
        (None, Some(code)) => {
            let name = name(cx, args)?;
            let password = new_password(cx, &format!("Password for {name}"), args.password_stdin)?;
            let name = parsed(&name)?;
            let body = SetupBody {
                code: code.clone(),
                name,
                password: password.expose().to_owned(),
                kind: LoginKind::Token,
            };
            client.call::<Setup>(&NONE, &NONE, &body).await?
        }
        (None, None) if args.oidc => super::oidc::enter(cx, &client).await?,
        (None, None) => {
            let name = name(cx, args)?;
            let password = password(cx, &format!("Password for {name}"), args.password_stdin)?;
            enter(cx, args, &client, name, &password).await?
        }
    };
    view.token.map(SecretString::new).ok_or_else(|| {
        Failure::told(
            exit::Code::Failure,
            "the server gave no token",
            "`hostler version` shows whether the versions fit",
        )
    })
}

fn name(cx: &Cx, args: &LoginArgs) -> Result<String, Failure> {
    match &args.name {
        Some(name) => Ok(name.clone()),
        None if cx.ui.may_ask() => cx.ui.ask("Name: "),
        None => {
            Err(Failure::usage("a name is needed, and nobody can be asked", "give it with --name"))
        }
    }
}

fn parsed(name: &str) -> Result<Name, Failure> {
    name.parse().map_err(|error| Failure::usage(format!("{error}"), ""))
}

/// Logs in, with a code where one is needed.
async fn enter(
    cx: &Cx,
    args: &LoginArgs,
    client: &Client,
    name: String,
    password: &SecretString,
) -> Result<LoginView, Failure> {
    let password = password.expose().to_owned();
    let mut body = LoginBody { name, password, code: None, kind: LoginKind::Token };
    let needed = match client.call::<Login>(&NONE, &NONE, &body).await {
        Err(error) if error.is(Code::SecondFactorRequired) => error,
        answer => return Ok(answer?),
    };
    let code =
        if args.password_stdin { SecretString::new(cx.ui.input_line()?) } else { asked(cx)? };
    if code.expose().trim().is_empty() {
        return Err(needed.into());
    }
    body.code = Some(code.expose().to_owned());
    Ok(client.call::<Login>(&NONE, &NONE, &body).await?)
}

/// Makes an account with an invitation.
async fn accept(
    cx: &Cx,
    args: &LoginArgs,
    client: &Client,
    link: &Link,
) -> Result<LoginView, Failure> {
    let invitation = link.token.expose().to_owned();
    let body = InvitationShowBody { invitation: invitation.clone() };
    let offer = client.call::<InvitationShow>(&NONE, &NONE, &body).await?;
    cx.ui.say(&offered(&offer));
    let name = match (&args.name, offer.name) {
        (Some(given), _) => parsed(given)?,
        (None, Some(bound)) => bound,
        (None, None) => parsed(&name(cx, args)?)?,
    };
    let password = new_password(cx, &format!("Password for {name}"), args.password_stdin)?;
    let body = InvitationAcceptBody {
        invitation,
        name: Some(name),
        password: password.expose().to_owned(),
        kind: LoginKind::Token,
    };
    Ok(client.call::<InvitationAccept>(&NONE, &NONE, &body).await?)
}

fn offered(offer: &InvitationOfferView) -> String {
    let place = offer.project.as_ref().map_or_else(
        || "on the whole installation".to_owned(),
        |project| format!("in project {project}"),
    );
    format!("{} invites you to be {} {place}", offer.created_by, offer.role)
}

/// Sets a new password with a link, and logs in with it.
async fn reset(
    cx: &Cx,
    args: &LoginArgs,
    client: &Client,
    link: &Link,
) -> Result<LoginView, Failure> {
    let password = new_password(cx, "New password", args.password_stdin)?;
    let body = PasswordResetUseBody {
        reset: link.token.expose().to_owned(),
        password: password.expose().to_owned(),
    };
    let used = client.call::<PasswordResetUse>(&NONE, &NONE, &body).await?;
    cx.ui.say(&format!("the password of {} is set, and its sessions have ended", used.user));
    enter(cx, args, client, used.user.to_string(), &password).await
}

pub async fn logout(cx: &Cx) -> Outcome {
    let target = Target::resolve(&cx.globals, &cx.environment)?;
    if target.token.is_none() {
        cx.ui.say("nobody is logged in");
        return Ok(DONE);
    }
    match target.client()?.call::<Logout>(&NONE, &NONE, &NONE).await {
        Ok(_) => {}
        Err(error) if error.is(Code::Unauthenticated) => {}
        Err(error) if error.is_transient() => {
            cx.ui.warn(&format!(
                "{error}; the token is forgotten here but stays valid until it expires"
            ));
        }
        Err(error) => return Err(error.into()),
    }
    if let Some(name) = &target.context {
        config::forget_token(&cx.environment, name)?;
    }
    cx.ui.say(&format!("logged out of {}", target.address.value));
    Ok(DONE)
}

pub async fn whoami(cx: &Cx) -> Outcome {
    let link = cx.link()?;
    let me = link.client.call::<Whoami>(&NONE, &NONE, &NONE).await?;
    match cx.ui.format() {
        _ if cx.ui.is_quiet() => cx.ui.line(&me.id.to_string())?,
        Some(output::Format::Name) => cx.ui.line(&format!("user/{}", me.name))?,
        Some(format) => output::document(&cx.ui, format, &me)?,
        None => cx.ui.data(describe(&me, link.client.address()).as_bytes())?,
    }
    Ok(DONE)
}

fn describe(me: &WhoamiView, address: &str) -> String {
    let mut text = output::Description::default();
    let everywhere = format!("{} on the whole installation", standing(me.role, me.permissions));
    text.pair("Name", me.name.to_string())
        .pair("Kind", me.kind.to_string())
        .pair("Id", me.id.to_string())
        .pair("Server", address.to_owned())
        .pair("Role", everywhere)
        .pair("Second factor", second_factor(me.second_factor));
    for project in &me.projects {
        let standing = standing(project.role, project.permissions);
        let name =
            project.name.as_ref().map_or_else(|| project.project.to_string(), Name::to_string);
        text.pair(&format!("In project {name}"), standing);
    }
    text.render()
}

/// The role that is held, or what is held instead of one.
fn standing(role: Option<Role>, permissions: PermissionSet) -> String {
    match role {
        Some(role) => role.to_string(),
        None if permissions.is_empty() => "none".to_owned(),
        None => permissions.words(),
    }
}

fn second_factor(state: SecondFactorState) -> Option<String> {
    match state {
        SecondFactorState::Off => None,
        SecondFactorState::On => Some("on".to_owned()),
        SecondFactorState::Required => {
            Some("required, and missing: `hostler auth totp enrol`".to_owned())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contexts_are_named_after_hosts() {
        let mut config = config::Config::default();
        let cases = [
            ("https://control:7443", "control"),
            ("https://127.0.0.1:7443", "local"),
            ("https://[::1]:7443", "local"),
            ("https://h.example.org", "h.example.org"),
        ];
        for (address, expected) in cases {
            assert_eq!(context_name(&config, address), expected);
        }
        let known = config::Context {
            address: "https://control:7443".to_owned(),
            project: None,
            fingerprint: String::new(),
        };
        config.contexts.insert("mine".to_owned(), known);
        assert_eq!(context_name(&config, "https://control:7443"), "mine");
    }
}
