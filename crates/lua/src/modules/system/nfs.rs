//! `nfs`: directories that other machines mount.

use std::path::Path;

use hostler_host::files::{self, Line};
use hostler_host::{Host, Outcome, Primitive};
use mlua::MultiValue;
use serde_json::{Map, Value as Json, json};

use super::given::Given;
use super::machine::{Trouble, asking, done, host, troubled};
use super::wrapped::{self, Wrapped};
use crate::modules::{Described, Installer, Module, acting};

pub(crate) const MODULE: Module = Module {
    name: "nfs",
    about: "Directories that other machines mount, in `/etc/exports`. The server reads the file again where it changed.",
    functions: &[
        Described {
            name: "export",
            signature: "{ path, clients, options } | (path, clients, options) -> result, result | nil, error",
            about: "Makes a directory be exported to clients: a name, an address or a network, or a list of them.",
            example: "local function setup() assert(nfs.export { path = '/srv/data', clients = '10.0.0.0/8', options = 'rw,sync,no_subtree_check' }) end",
        },
        Described {
            name: "unexport",
            signature: "(path) -> result, result | nil, error",
            about: "Makes a directory not be exported.",
            example: "local function setup() assert(nfs.unexport('/srv/data')) end",
        },
        Described {
            name: "list_exports",
            signature: "() -> [{ path, clients }] | nil, error",
            about: "What the file of exports says.",
            example: "local function look() return nfs.list_exports() end",
        },
        Described {
            name: "is_exported",
            signature: "(path) -> boolean | nil, error",
            about: "Whether a directory is in the file of exports.",
            example: "local function look() return nfs.is_exported('/srv/data') end",
        },
        Described {
            name: "reload",
            signature: "() -> result, result | nil, error",
            about: "Makes the server read the file of exports.",
            example: "local function setup() assert(nfs.reload()) end",
        },
    ],
    install,
};

const EXPORTS: &str = "/etc/exports";
const EXPORTS_MAX: u64 = 1 << 20;
const RELOAD: [Wrapped; 1] = [Wrapped::new("reload", "", READ)];
const READ: &str = "exportfs -ra";

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    wrapped::install(module, &RELOAD)?;
    for (name, takes, is_present) in
        [("export", "path clients options", true), ("unexport", "path", false)]
    {
        module.act_async(name, move |lua, args: MultiValue| async move {
            let given = Given::read(format!("nfs.{name}"), takes, args)?;
            match put(&given, &host(), is_present).await {
                Ok(outcome) => done(&lua, &outcome, &Map::new()),
                Err(trouble) => troubled(&lua, trouble),
            }
        })?;
    }
    asking(module, "list_exports", "", |_, host: Host| async move {
        let shown =
            |(path, clients): (String, Vec<String>)| json!({ "path": path, "clients": clients });
        Ok(vec![Json::Array(exports(&host).await?.into_iter().map(shown).collect())])
    })?;
    asking(module, "is_exported", "path", |given: Given, host: Host| async move {
        let path = given.text("path")?;
        Ok(vec![json!(exports(&host).await?.iter().any(|(exported, _)| *exported == path))])
    })
}

async fn put(given: &Given, host: &Host, is_present: bool) -> Result<Outcome, Trouble> {
    let path = given.text("path")?;
    if !path.starts_with('/') || path.contains(['"', '\n', '#', '\\']) {
        return Err(given.misuse("needs an absolute path without quotes as `path`").into());
    }
    let word = if path.contains(' ') { format!("\"{path}\"") } else { path };
    let mut line = Line {
        path: EXPORTS.into(),
        regexp: Some(format!(r"^\s*{}(\s|$)", regex::escape(&word))),
        create: true,
        ..Line::default()
    };
    if is_present {
        let options =
            given.maybe("options")?.unwrap_or_else(|| "ro,sync,no_subtree_check".to_owned());
        let clients = match given.texts("clients")? {
            none if none.is_empty() => vec!["*".to_owned()],
            some => some,
        };
        let is_plain = |text: &String| !text.contains([' ', '(', ')', '\n', '#']);
        if !clients.iter().chain([&options]).all(is_plain) {
            return Err(given
                .misuse("cannot use spaces or parentheses in `clients` and `options`")
                .into());
        }
        let clients: Vec<String> =
            clients.iter().map(|client| format!("{client}({options})")).collect();
        line.line = Some(format!("{word} {}", clients.join(" ")));
    }
    let plan = if is_present { line.present(host).await? } else { line.absent(host).await? };
    if acting().check {
        let outcome = plan.outcome();
        if outcome.changed {
            acting().say(&outcome.message);
        }
        return Ok(outcome);
    }
    wrapped::require(host, "exportfs")?;
    let mut outcome = plan.perform(host).await?;
    if outcome.changed {
        outcome.output = wrapped::perform(host, wrapped::call(given, READ)?).await?.output;
    }
    Ok(outcome)
}

/// Paths and their clients.
async fn exports(host: &Host) -> Result<Vec<(String, Vec<String>)>, Trouble> {
    if files::stat(host, Path::new(EXPORTS), true, false).await?.is_none() {
        return Ok(Vec::new());
    }
    let text = files::read(host, Path::new(EXPORTS), EXPORTS_MAX).await?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let divided = lines.filter_map(|line| match line.strip_prefix('"') {
        Some(rest) => rest.split_once('"'),
        None => Some(line.split_once(char::is_whitespace).unwrap_or((line, ""))),
    });
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Ok(divided.map(|(path, clients)| (path.to_owned(), words(clients))).collect())
}
