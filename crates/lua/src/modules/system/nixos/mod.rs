//! `nixos`: machines that are built from what is written down.
//!
//! What the functions say is kept in `/etc/nixos/hostler.json` (`options`) and read by `/etc/nixos/hostler.nix`, which
//! the configuration of the machine imports: the configuration that people wrote is never edited, but for that import.
//! Nothing is true of the machine before `nixos.rebuild`.

mod described;
mod more;
mod options;
mod said;
mod settings;

use std::path::Path;

use hostler_host::files::{self, File};
use hostler_host::{Call, Host, Plan, Primitive};
use serde_json::{Value as Json, json};

use super::given::Given;
use super::machine::{Changing, Trouble, asking, changing, changing_with, done, host, troubled};
use super::wrapped::{self, Wrapped, perform, require};
use crate::modules::{Described, Installer, Module};
use described::OWN;
use more::MORE;
use options::{EDITS, Options};
use said::SETTINGS;

pub(crate) const MODULE: Module = Module {
    name: "nixos",
    about: "Machines of NixOS. What is said goes into `/etc/nixos/hostler.json`, which the configuration imports through `hostler.nix`; `nixos.rebuild` makes the machine so. An option that no function here is for is set with `nixos.set_option`.",
    functions: &DESCRIBED,
    install,
};

const DESCRIBED: [Described; OWN.len() + SETTINGS.len()] = {
    let mut all = [const { described::own("", "", "", "") }; OWN.len() + SETTINGS.len()];
    let mut i = 0;
    while i < all.len() {
        let it = if i < OWN.len() { &OWN[i] } else { &SETTINGS[i - OWN.len()].described };
        all[i] = described::own(it.name, it.signature, it.about, it.example);
        i += 1;
    }
    all
};

const FOLDER: &str = "/etc/nixos";
const SAID: &str = "/etc/nixos/hostler.json";
const READER: &str = "/etc/nixos/hostler.nix";
const MAIN: &str = "/etc/nixos/configuration.nix";
const TEXT: &str = include_str!("hostler.nix");
const IMPORT: &str = "./hostler.nix";
const MAX: u64 = 4 << 20;
const PROFILE: &str = "/nix/var/nix/profiles/system";

const FUNCTIONS: [Wrapped; 5] = [
    Wrapped::new(
        "create_vm",
        "; name memory cpus disk iso os network",
        "virt-install --noautoconsole --name {name} --memory {memory} --vcpus {cpus} --disk {disk} {iso=--cdrom} {os=--os-variant} {network=--network}",
    )
    .unless("virsh dominfo {name}"),
    Wrapped::new(
        "collect_garbage",
        "older_than",
        "nix-collect-garbage {older_than=--delete-older-than}",
    ),
    Wrapped::new("optimize_store", "", "nix-store --optimise"),
    Wrapped::new("update_channels", "", "nix-channel --update"),
    Wrapped::new("rollback", "", "nixos-rebuild switch --rollback"),
];

const MODES: [&str; 6] = ["switch", "boot", "test", "build", "dry-build", "dry-activate"];

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    wrapped::install(module, &FUNCTIONS)?;
    for (name, takes, edit) in EDITS.iter().chain(MORE) {
        changing(module, name, takes, move |given: Given, host: Host| async move {
            say(&host, |options| edit(&given, options)).await
        })?;
    }
    for setting in SETTINGS {
        let name = setting.described.name;
        changing_with(module, name, setting.takes(), move |given: Given, host: Host| async move {
            say(&host, |options| setting.say(&given, options)).await
        })?;
    }
    for (name, is_there) in [("add_import", true), ("remove_import", false)] {
        changing(module, name, "path", move |given: Given, host: Host| async move {
            let path = given.text("path")?;
            imported(&host, &path, is_there).await
        })?;
    }
    changing(module, "backup_config", "backup_path", |given: Given, host: Host| async move {
        let to = given.maybe("backup_path")?.unwrap_or_else(|| format!("{MAIN}.backup"));
        let copy = File::copy_of(MAIN, to);
        Ok::<Plan, Trouble>(copy.present(&host).await?)
    })?;
    changing(module, "import_configuration", "path name", taken_over)?;
    changing(module, "export_module", "path", written_out)?;
    telling(module)?;
    for (name, takes) in [
        ("rebuild", "mode; upgrade"),
        ("create_snapshot", "dataset name"),
        ("switch_generation", "generation"),
        ("delete_generations", "older_than"),
    ] {
        module.act_async(name, move |lua, args| async move {
            let given = Given::read(format!("nixos.{name}"), takes, args)?;
            let outcome = match name {
                "rebuild" => rebuild(&given, &host()).await,
                "create_snapshot" => snapshot(given).await,
                "switch_generation" => switch(&given, &host()).await,
                _ => delete(&given, &host()).await,
            };
            match outcome {
                Ok(outcome) => done(&lua, &outcome, &serde_json::Map::new()),
                Err(trouble) => troubled(&lua, trouble),
            }
        })?;
    }
    Ok(())
}

/// Functions that only look.
fn telling(module: &mut Installer<'_>) -> mlua::Result<()> {
    asking(module, "get_config", "", |_, host: Host| async move {
        Ok(vec![json!(true), json!(text(&host, MAIN).await?.unwrap_or_default())])
    })?;
    asking(module, "get_config_value", "option", |given: Given, host: Host| async move {
        let option = given.text("option")?;
        let path: Vec<&str> = option.split('.').collect();
        let value = said(&host).await?.get(&path).cloned();
        let absent = || Trouble::new(format!("`{option}` is not said in {SAID}"));
        Ok(vec![json!(true), value.ok_or_else(absent)?])
    })?;
    asking(module, "user_exists", "username", |given: Given, host: Host| async move {
        let user = given.text("username")?;
        Ok(vec![json!(said(&host).await?.get(&["users", "users", &user]).is_some())])
    })?;
    for (name, path) in [
        ("list_users", ["users", "users"]),
        ("list_packages", ["environment", "systemPackages"]),
        ("list_services", ["services", ""]),
    ] {
        asking(module, name, "", move |_, host: Host| async move {
            let path: Vec<&str> = path.into_iter().filter(|part| !part.is_empty()).collect();
            Ok(vec![json!(true), json!(names(said(&host).await?.get(&path)).join("\n"))])
        })?;
    }
    asking(module, "list_channels", "", |_, host: Host| async move {
        Ok(vec![json!(true), json!(ask(&host, &["nix-channel", "--list"]).await?)])
    })?;
    asking(module, "list_generations", "", |_, host: Host| async move {
        Ok(vec![json!(true), json!(generations(&host).await?)])
    })?;
    asking(module, "get_current_generation", "", |_, host: Host| async move {
        let all = generations(&host).await?;
        let line = all.lines().find(|line| line.contains("(current)")).unwrap_or_default();
        let number = line.split_whitespace().next().and_then(|word| word.parse::<u32>().ok());
        let absent = || Trouble::new("no generation is the current one");
        Ok(vec![json!(true), json!(number.ok_or_else(absent)?)])
    })?;
    for (name, mode) in [("validate_config", "dry-build"), ("test_config", "dry-activate")] {
        asking(module, name, "", move |_, host: Host| async move {
            require(&host, "nixos-rebuild")?;
            let call = Call::new("nixos-rebuild").arg(mode).privileged();
            let ended = host.attempt(call.timeout(wrapped::LONGEST)).await?;
            let words = if ended.is_success() { ended.text() } else { ended.complaint() };
            Ok(vec![json!(ended.is_success()), json!(words.trim())])
        })?;
    }
    Ok(())
}

fn names(value: Option<&Json>) -> Vec<String> {
    match value {
        Some(Json::Object(map)) => map.keys().cloned().collect(),
        Some(Json::Array(list)) => {
            list.iter().filter_map(|item| Some(item["_package"].as_str()?.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

async fn text(host: &Host, path: &str) -> Result<Option<String>, Trouble> {
    if files::stat(host, Path::new(path), true, false).await?.is_none() {
        return Ok(None);
    }
    let bytes = files::read(host, Path::new(path), MAX).await?;
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

async fn said(host: &Host) -> Result<Options, Trouble> {
    match text(host, SAID).await? {
        None => Ok(Options::default()),
        Some(text) => Options::read(&text).map_err(|error| {
            Trouble::new(format!("{SAID} cannot be read: {error}; mend it or remove it"))
        }),
    }
}

/// Changes what is said, and lets the configuration read it.
async fn say(
    host: &Host,
    edit: impl FnOnce(&mut Options) -> Result<(), Trouble>,
) -> Result<Changing, Trouble> {
    is_nixos(host).await?;
    let mut after = said(host).await?;
    edit(&mut after)?;
    if after == Options::default() && text(host, SAID).await?.is_none() {
        return Ok(Plan::new("nothing was said of it").into());
    }
    // What is said may be a password, in clear or as its hash.
    let document = File { secret: true, ..file(SAID, &after.text(), "0600")? };
    let plan = document.present(host).await?.then(file(READER, TEXT, "0644")?.present(host).await?);
    Ok(plan.then(imported(host, IMPORT, true).await?).into())
}

async fn is_nixos(host: &Host) -> Result<(), Trouble> {
    match files::stat(host, Path::new(FOLDER), true, false).await? {
        Some(_) => Ok(()),
        None => Err(Trouble::new(format!("there is no {FOLDER}; this machine is no NixOS"))),
    }
}

/// Copies a file of Nix beside the configuration, which imports it then.
async fn taken_over(given: Given, host: Host) -> Result<Plan, Trouble> {
    is_nixos(&host).await?;
    let from = given.path("path")?;
    let own = from.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = given.maybe("name")?.or(own).unwrap_or_default();
    let name = if name.ends_with(".nix") { name } else { format!("{name}.nix") };
    if name.contains('/') || name == "configuration.nix" || name == "hostler.nix" {
        return Err(given.misuse(&format!("cannot use `{name}` as a name in {FOLDER}")).into());
    }
    let text = files::read(&host, &from, MAX).await?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let copy = file(&format!("{FOLDER}/{name}"), &text, "0644")?;
    Ok(copy.present(&host).await?.then(imported(&host, &format!("./{name}"), true).await?))
}

/// Writes what is said as a file that needs no other beside it.
async fn written_out(given: Given, host: Host) -> Result<Plan, Trouble> {
    let document = said(&host).await?.text();
    let quoted = document.replace("''", "'''").replace("${", "''${");
    let text = TEXT.replace(
        "(builtins.readFile ./hostler.json)",
        &format!("''\n{}''", quoted.trim_end().to_owned() + "\n"),
    );
    let to = given.path("path")?;
    let module = file(&to.display().to_string(), &text, "0600")?;
    Ok(File { secret: true, ..module }.present(&host).await?)
}

async fn snapshot(given: Given) -> Result<hostler_host::Outcome, Trouble> {
    let host = host();
    let (dataset, name) = (given.text("dataset")?, given.text("name")?);
    let is_plain = |text: &str| {
        let is_known = |b: u8| b.is_ascii_alphanumeric() || b"/._:-".contains(&b);
        !text.is_empty() && !text.starts_with('-') && text.bytes().all(is_known)
    };
    if !is_plain(&dataset) || !is_plain(&name) || name.contains('/') {
        return Err(given.misuse("needs a dataset such as `tank/home` and a plain `name`").into());
    }
    let full = format!("{dataset}@{name}");
    require(&host, "zfs")?;
    let asked = Call::new("zfs").args(["list", "-H", "-t", "snapshot", "-o", "name", &full]);
    if host.attempt(asked.privileged()).await?.is_success() {
        return Ok(hostler_host::Outcome::unchanged(format!("{full} is already there")));
    }
    perform(&host, Call::new("zfs").args(["snapshot", &full]).privileged()).await
}

fn file(path: &str, text: &str, mode: &str) -> Result<File, Trouble> {
    Ok(File { mode: Some(mode.parse()?), ..File::with_content(path, text) })
}

/// Makes the configuration import a path, or not.
async fn imported(host: &Host, path: &str, is_there: bool) -> Result<Plan, Trouble> {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"./_-+<>".contains(&b);
    if !path.contains(['/', '<']) || !path.bytes().all(is_plain) {
        return Err(Trouble::new(format!("`{path}` is no path of Nix; write it like ./web.nix")));
    }
    let now = text(host, MAIN).await?.unwrap_or_default();
    let is_now = now.split_whitespace().any(|word| word.trim_end_matches(']') == path);
    if is_now == is_there {
        let words = if is_there { "imports" } else { "does not import" };
        return Ok(Plan::new(format!("{MAIN} {words} {path} already")));
    }
    let wanted = if is_there {
        let list = regex::Regex::new(r"imports\s*=\s*\[")
            .map_err(|error| Trouble::new(error.to_string()))?;
        let Some(at) = list.find(&now).map(|found| found.end()) else {
            return Err(Trouble::new(format!(
                "{MAIN} has no list of imports; add `imports = [ {path} ];` to it"
            )));
        };
        format!("{} {path}{}", &now[..at], &now[at..])
    } else {
        let word = regex::Regex::new(&format!(r"[ \t]*{}([\s\]])", regex::escape(path)));
        let word = word.map_err(|error| Trouble::new(error.to_string()))?;
        word.replace(&now, "$1").into_owned()
    };
    Ok(File::with_content(MAIN, wanted.as_str()).present(host).await?)
}

async fn ask(host: &Host, argv: &[&str]) -> Result<String, Trouble> {
    let (program, words) = argv.split_first().unwrap_or((&"", &[]));
    require(host, program)?;
    Ok(host.run(Call::new(*program).args(words.iter().copied()).privileged()).await?.text())
}

async fn generations(host: &Host) -> Result<String, Trouble> {
    ask(host, &["nix-env", "--list-generations", "-p", PROFILE]).await
}

async fn rebuild(given: &Given, host: &Host) -> Result<hostler_host::Outcome, Trouble> {
    let mode = given.word("mode", &MODES)?.unwrap_or("switch");
    let mut call = Call::new("nixos-rebuild").arg(mode).privileged().timeout(wrapped::LONGEST);
    if given.is("upgrade")? {
        call = call.arg("--upgrade");
    }
    perform(host, call).await
}

async fn switch(given: &Given, host: &Host) -> Result<hostler_host::Outcome, Trouble> {
    let number: u32 =
        given.number("generation")?.ok_or_else(|| given.misuse("needs `generation`"))?;
    let number = number.to_string();
    let words = ["--switch-generation", &number, "-p", PROFILE];
    let first = perform(host, Call::new("nix-env").args(words).privileged()).await?;
    let program = host.path(format!("{PROFILE}/bin/switch-to-configuration"))?;
    let activate = Call::new(program.display().to_string()).arg("switch");
    if crate::modules::acting().check {
        return Ok(first);
    }
    let output = host.run(activate.privileged().timeout(wrapped::LONGEST)).await?.text();
    Ok(hostler_host::Outcome {
        message: format!("{}; it is activated", first.message),
        output,
        ..first
    })
}

async fn delete(given: &Given, host: &Host) -> Result<hostler_host::Outcome, Trouble> {
    let what = given.maybe("older_than")?.unwrap_or_else(|| "old".to_owned());
    if what.starts_with('-') {
        return Err(given.misuse("needs `30d`, a number or `old` as `older_than`").into());
    }
    let words = ["--delete-generations", &what, "-p", PROFILE];
    perform(host, Call::new("nix-env").args(words).privileged()).await
}
