//! `smb`: directories that other machines share.

use std::path::Path;

use hostler_host::files::{self, Block};
use hostler_host::{Host, Outcome, Primitive};
use mlua::MultiValue;
use serde_json::{Map, Value as Json, json};

use super::given::Given;
use super::machine::{Trouble, asking, done, host, troubled};
use super::wrapped::{self, Wrapped};
use crate::modules::{Described, Installer, Module, acting};

pub(crate) const MODULE: Module = Module {
    name: "smb",
    about: "Directories that are shared with Samba, in `/etc/samba/smb.conf`. The server reads the file again where it changed. Shares of others are not touched.",
    functions: &[
        Described {
            name: "share",
            signature: "{ name, path, comment, writeable, browseable, guest_ok, valid_users } -> result, result | nil, error",
            about: "Makes a directory be shared under a name.",
            example: "local function setup() assert(smb.share { name = 'docs', path = '/srv/docs', writeable = true, valid_users = { 'ann' } }) end",
        },
        Described {
            name: "unshare",
            signature: "(name) -> result, result | nil, error",
            about: "Makes a share not be there. Only shares made by `smb.share` can be removed.",
            example: "local function setup() assert(smb.unshare('docs')) end",
        },
        Described {
            name: "list_shares",
            signature: "() -> [{ name, path, comment }] | nil, error",
            about: "All shares of the configuration.",
            example: "local function look() return smb.list_shares() end",
        },
        Described {
            name: "is_shared",
            signature: "(name) -> boolean | nil, error",
            about: "Whether there is a share of this name.",
            example: "local function look() return smb.is_shared('docs') end",
        },
        Described {
            name: "reload",
            signature: "() -> result, result | nil, error",
            about: "Makes the server read its configuration.",
            example: "local function setup() assert(smb.reload()) end",
        },
        Described {
            name: "add_user",
            signature: "(username, password) -> result, result | nil, error",
            about: "Lets a user of the machine use shares with a password. Always a change.",
            example: "local function setup() assert(smb.add_user('ann', os.getenv('ANN_PASSWORD'))) end",
        },
        Described {
            name: "remove_user",
            signature: "(username) -> result, result | nil, error",
            about: "Does not let a user use shares any more.",
            example: "local function setup() assert(smb.remove_user('ann')) end",
        },
    ],
    install,
};

const FILE: &str = "/etc/samba/smb.conf";
const FILE_MAX: u64 = 1 << 20;
const READ: &str = "smbcontrol all reload-config";
const FUNCTIONS: [Wrapped; 2] = [
    Wrapped::new("reload", "", READ),
    Wrapped::new("remove_user", "username", "smbpasswd -x {username}"),
];

/// What happens with an argument table.
#[derive(Clone, Copy)]
enum Act {
    Share,
    Unshare,
    AddUser,
}

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    wrapped::install(module, &FUNCTIONS)?;
    for (name, takes, act) in [
        ("share", "name path; comment writeable browseable guest_ok valid_users", Act::Share),
        ("unshare", "name", Act::Unshare),
        ("add_user", "username password", Act::AddUser),
    ] {
        module.act_async(name, move |lua, args: MultiValue| async move {
            let given = Given::read(format!("smb.{name}"), takes, args)?;
            let host = host();
            let outcome = match act {
                Act::Share | Act::Unshare => put(&given, &host, act).await,
                Act::AddUser => add_user(&given, &host).await,
            };
            match outcome {
                Ok(outcome) => done(&lua, &outcome, &Map::new()),
                Err(trouble) => troubled(&lua, trouble),
            }
        })?;
    }
    asking(module, "list_shares", "", |_, host: Host| async move {
        Ok(vec![Json::Array(shares(&host).await?.into_iter().map(Json::Object).collect())])
    })?;
    asking(module, "is_shared", "name", |given: Given, host: Host| async move {
        let name = given.text("name")?;
        Ok(vec![json!(shares(&host).await?.iter().any(|share| share["name"] == name.as_str()))])
    })
}

/// The password goes to standard input, twice, as `smbpasswd` wants it.
async fn add_user(given: &Given, host: &Host) -> Result<Outcome, Trouble> {
    let password = given.text("password")?;
    if password.contains('\n') || password.is_empty() {
        return Err(given.misuse("needs a password of one line").into());
    }
    let call = wrapped::call(given, "smbpasswd -s -a {username}")?;
    wrapped::perform(host, call.stdin(format!("{password}\n{password}\n"))).await
}

async fn put(given: &Given, host: &Host, act: Act) -> Result<Outcome, Trouble> {
    let name = given.text("name")?;
    let is_good = !name.is_empty() && !name.contains(['[', ']', '\n', '/', '\\']);
    if !is_good || ["global", "homes", "printers"].contains(&name.to_lowercase().as_str()) {
        return Err(given.misuse(&format!("cannot use `{name}` as the name of a share")).into());
    }
    let text = match act {
        Act::Share => section(given, &name)?,
        _ => String::new(),
    };
    let mut block = Block::new(FILE, text);
    block.marker_begin = format!("# BEGIN hostler share {name}");
    block.marker_end = format!("# END hostler share {name}");
    block.create = true;
    let is_theirs = shares(host).await?.iter().any(|share| share["name"] == name.as_str())
        && !configuration(host).await?.lines().any(|line| line == block.marker_begin);
    if is_theirs {
        let words =
            format!("{FILE} has a share `{name}` that is not ours; remove it by hand first");
        return Err(Trouble::new(words));
    }
    let plan = match act {
        Act::Share => block.present(host).await?,
        _ => block.absent(host).await?,
    };
    if acting().check {
        let outcome = plan.outcome();
        if outcome.changed {
            acting().say(&outcome.message);
        }
        return Ok(outcome);
    }
    wrapped::require(host, "smbcontrol")?;
    let mut outcome = plan.perform(host).await?;
    if outcome.changed {
        outcome.output = wrapped::perform(host, wrapped::call(given, READ)?).await?.output;
    }
    Ok(outcome)
}

fn section(given: &Given, name: &str) -> Result<String, Trouble> {
    let yes = |name: &str, standard: bool| -> mlua::Result<String> {
        Ok(if given.flag(name)?.unwrap_or(standard) { "yes" } else { "no" }.to_owned())
    };
    let mut lines = vec![format!("[{name}]")];
    let mut set = |key: &str, value: String| lines.push(format!("   {key} = {value}"));
    set("path", given.text("path")?);
    if let Some(comment) = given.maybe("comment")? {
        set("comment", comment);
    }
    set("writeable", yes("writeable", false)?);
    set("browseable", yes("browseable", true)?);
    set("guest ok", yes("guest_ok", false)?);
    let users = given.texts("valid_users")?;
    if !users.is_empty() {
        set("valid users", users.join(" "));
    }
    match lines.iter().any(|line| line.contains('\n')) {
        true => Err(given.misuse("needs values of one line").into()),
        false => Ok(lines.join("\n")),
    }
}

async fn configuration(host: &Host) -> Result<String, Trouble> {
    if files::stat(host, Path::new(FILE), true, false).await?.is_none() {
        return Ok(String::new());
    }
    let text = files::read(host, Path::new(FILE), FILE_MAX).await?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Sections with their settings; spaces in names of settings are written as `_`.
async fn shares(host: &Host) -> Result<Vec<Map<String, Json>>, Trouble> {
    let mut shares: Vec<Map<String, Json>> = Vec::new();
    for line in configuration(host).await?.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            shares.push(Map::from_iter([("name".to_owned(), json!(name))]));
        } else if let (Some((key, value)), Some(share)) = (line.split_once('='), shares.last_mut())
            && !line.starts_with(['#', ';'])
        {
            share.insert(key.trim().to_lowercase().replace(' ', "_"), json!(value.trim()));
        }
    }
    shares.retain(|share| share["name"] != "global");
    Ok(shares)
}
