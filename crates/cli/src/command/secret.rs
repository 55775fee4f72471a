//! Secrets: values go in from files and stdin, and come out on stdout.

use std::path::Path;

use hostler_api::ProjectPath;
use hostler_api::secret::{
    SecretGenerate, SecretGenerateBody, SecretGet, SecretLinkSet, SecretList, SecretListQuery,
    SecretPath, SecretQuery, SecretRead, SecretReadQuery, SecretRemove, SecretRewrap, SecretSet,
    SecretSetQuery, SecretVersionDestroy, SecretVersionList, SecretVersionListQuery,
    SecretVersionPath, SecretView, VaultList,
};
use hostler_client::decode_data;
use hostler_model::{SECRET_MAX, SecretLink, SecretRef};
use hostler_trust::SecretBytes;

use super::{Cx, DONE, Link, NONE, PAGE};
use crate::args::{SecretArg, SecretCommand, SecretLinkArgs, SecretListArgs, SecretValueArgs};
use crate::exit;
use crate::failure::{Failure, Outcome};
use crate::output;

const STDIN: &str = "-";

pub async fn perform(cx: &Cx, command: SecretCommand) -> Outcome {
    let link = cx.link()?;
    match command {
        SecretCommand::Ls(args) => ls(cx, &link, args).await,
        SecretCommand::Set(args) => set(cx, &link, &args.secret, args.value, false).await,
        SecretCommand::Rotate(args) => set(cx, &link, &args.secret, args.value, true).await,
        SecretCommand::Link(args) => link_to(cx, &link, args).await,
        SecretCommand::Vaults => {
            let path = ProjectPath { project: link.project.clone() };
            cx.list::<VaultList, _>(&link, &path, &NONE, None).await
        }
        SecretCommand::Get { secret, version } => {
            let version = version.or(secret.secret.version);
            get(cx, &link, &secret.secret, version).await
        }
        SecretCommand::Versions { secret, list } => {
            let query = SecretVersionListQuery {
                environment: environment(&secret.secret),
                filter: list.filter,
                limit: PAGE,
                cursor: None,
            };
            let path = path(&link, &secret.secret);
            cx.list::<SecretVersionList, _>(&link, &path, &query, list.limit).await
        }
        SecretCommand::Rm { secrets } => rm(cx, &link, &secrets).await,
        SecretCommand::Rewrap => rewrap(cx, &link).await,
    }
}

fn path(link: &Link, secret: &SecretRef) -> SecretPath {
    SecretPath { project: link.project.clone(), secret: secret.name.clone() }
}

fn environment(secret: &SecretRef) -> Option<hostler_model::Name> {
    Some(secret.environment.clone())
        .filter(|name| name.as_str() != hostler_model::DEFAULT_ENVIRONMENT)
}

fn of(secret: &SecretRef) -> SecretQuery {
    SecretQuery { environment: environment(secret) }
}

async fn ls(cx: &Cx, link: &Link, args: SecretListArgs) -> Outcome {
    let query = SecretListQuery {
        environment: args.environment,
        filter: args.list.filter,
        limit: PAGE,
        cursor: None,
    };
    let path = ProjectPath { project: link.project.clone() };
    cx.list::<SecretList, _>(link, &path, &query, args.list.limit).await
}

async fn set(
    cx: &Cx,
    link: &Link,
    secret: &SecretArg,
    value: SecretValueArgs,
    must_exist: bool,
) -> Outcome {
    let secret = &secret.secret;
    if secret.version.is_some() {
        return Err(Failure::usage(
            "versions are counted by the server and never changed",
            format!("leave `:{}` out", secret.version.unwrap_or_default()),
        ));
    }
    let path = path(link, secret);
    let before = match link.client.call::<SecretGet>(&path, &of(secret), &NONE).await {
        Ok(before) => Some(before),
        Err(error) if error.is(hostler_model::Code::NotFound) && !must_exist => None,
        Err(error) => return Err(error.into()),
    };
    let after: SecretView = match value.generate {
        Some(bytes) => {
            let body = SecretGenerateBody { bytes };
            link.client.call::<SecretGenerate>(&path, &of(secret), &body).await?
        }
        None => {
            let value = read(cx, secret, &value)?;
            let query = SecretSetQuery {
                environment: secret.environment.clone(),
                must_exist: must_exist.then_some(true),
            };
            let body = value.expose().to_vec().into();
            link.client.call_raw::<SecretSet>(&path, &query, body).await?
        }
    };
    let version = after.version.unwrap_or_default();
    let is_same = before.is_some_and(|before| before.version == after.version);
    let what = match is_same {
        true => format!("has this value already, as version {version}"),
        false => format!("set, version {version}"),
    };
    cx.changed(&after, &what)
}

async fn link_to(cx: &Cx, link: &Link, args: SecretLinkArgs) -> Outcome {
    let secret = &args.secret.secret;
    if let Some(version) = secret.version {
        return Err(Failure::usage(
            "a link has no versions of its own",
            format!("leave `:{version}` out; a version of the vault's is named with --version"),
        ));
    }
    let example = "name it such as --path db/app --field password";
    let mut to = SecretLink::parse(args.provider, &args.path)
        .map_err(|error| Failure::usage(error.to_string(), example))?;
    if (to.field.is_some() && args.field.is_some())
        || (to.version.is_some() && args.version.is_some())
    {
        let text =
            "a field and a version are named once: in the path, or with --field and --version";
        return Err(Failure::usage(text, example));
    }
    to.field = to.field.or(args.field);
    to.version = to.version.or(args.version);
    let linked = link.client.call::<SecretLinkSet>(&path(link, secret), &of(secret), &to).await?;
    cx.changed(&linked, &format!("linked to {to}"))
}

/// The value, from wherever it may come from.
fn read(cx: &Cx, secret: &SecretRef, from: &SecretValueArgs) -> Result<SecretBytes, Failure> {
    let bytes = match (&from.file, from.stdin.as_deref()) {
        (Some(file), _) if file == Path::new(STDIN) => cx.ui.input_bytes()?,
        (None, Some(STDIN)) => cx.ui.input_bytes()?,
        (Some(file), _) => std::fs::read(file).map_err(|error| {
            Failure::usage(
                format!("{} cannot be read: {error}", file.display()),
                "name a file that holds the value, or `-` for stdin",
            )
        })?,
        (None, Some(_)) => {
            return Err(Failure::usage(
                "a value is never an argument: others on this machine can see it, and your shell keeps it",
                "give it with --file, or on stdin with `-`; take the one you typed as known, and use another",
            ));
        }
        (None, None) if cx.ui.may_ask() => {
            let value = cx.ui.ask_secret(&format!("Value of {secret}"))?;
            value.expose().as_bytes().to_vec()
        }
        (None, None) => {
            return Err(Failure::usage(
                "no value is given",
                "give it with --file FILE, on stdin with `-`, or have one made with --generate 32",
            ));
        }
    };
    let value = SecretBytes::new(bytes);
    if value.is_empty() {
        return Err(Failure::usage(
            "the value is empty",
            "look at the file, or at what was piped in",
        ));
    }
    if value.len() > SECRET_MAX {
        return Err(Failure::usage(
            format!("the value has {} bytes; at most 64 KiB are kept", value.len()),
            "keep what is larger as a blob, sealed with a key that is a secret",
        ));
    }
    Ok(value)
}

/// The current value of a secret, or that of the version that is named.
pub(super) async fn value(link: &Link, secret: &SecretRef) -> Result<SecretBytes, Failure> {
    let query = SecretReadQuery { environment: environment(secret), version: secret.version };
    let read = link.client.call::<SecretRead>(&path(link, secret), &query, &NONE).await?;
    Ok(SecretBytes::new(decode_data(&read.value)?))
}

async fn get(cx: &Cx, link: &Link, secret: &SecretRef, version: Option<u32>) -> Outcome {
    let query = SecretReadQuery { environment: environment(secret), version };
    let read = link.client.call::<SecretRead>(&path(link, secret), &query, &NONE).await?;
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &read)?,
        None => cx.ui.data(SecretBytes::new(decode_data(&read.value)?).expose())?,
    }
    Ok(DONE)
}

async fn rm(cx: &Cx, link: &Link, secrets: &[SecretRef]) -> Outcome {
    let named: Vec<String> = secrets.iter().map(ToString::to_string).collect();
    cx.ui.confirm(&format!("Remove {} for ever?", named.join(", ")))?;
    for secret in secrets {
        match secret.version {
            None => {
                let path = path(link, secret);
                link.client.call::<SecretRemove>(&path, &of(secret), &NONE).await?;
                cx.ui.say(&format!("secret {secret} removed"));
            }
            Some(version) => {
                let SecretPath { project, secret: name } = path(link, secret);
                let path = SecretVersionPath { project, secret: name, version };
                link.client.call::<SecretVersionDestroy>(&path, &of(secret), &NONE).await?;
                cx.ui.say(&format!("version {version} of secret {} destroyed", secret.name));
            }
        }
    }
    Ok(DONE)
}

async fn rewrap(cx: &Cx, link: &Link) -> Outcome {
    let done = link.client.call::<SecretRewrap>(&NONE, &NONE, &NONE).await?;
    match cx.ui.format().filter(|_| !cx.is_for_people()) {
        Some(format) => output::document(&cx.ui, format, &done)?,
        None => {
            let words = match done.rewrapped {
                0 => format!("nothing was left to seal with the master key {}", done.key),
                n => format!("{n} sealed with the master key {}", done.key),
            };
            cx.ui.line(&words)?;
        }
    }
    if done.left == 0 {
        return Ok(DONE);
    }
    Err(Failure::told(
        exit::Code::Failure,
        format!("{} are left, sealed with keys that this server does not have", done.left),
        "start the server with those keys in the file with the former ones, and repeat this",
    ))
}
