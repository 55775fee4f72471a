//! `pkg`: packages, through whichever manager the machine has.

use hostler_host::package::{self, LocalPackage, Manager, Package};
use hostler_host::{Host, Primitive};
use mlua::{Lua, MultiValue, Table};
use serde_json::{Value as Json, json};

use super::given::Given;
use super::machine::{Changing, Trouble, asking, changing, host, json, troubled};
use crate::modules::{Described, Installer, Module, as_text};
use crate::value::from_json;

pub(crate) const MODULE: Module = Module {
    name: "pkg",
    about: "Packages, through whichever manager the machine has: apt, dnf, yum, pacman, zypper or apk. What is installed already is not touched. Who is not root needs `sudo` without a password.",
    functions: &[
        Described {
            name: "install",
            signature: "{ packages, update } | (packages) -> result, result | nil, error",
            about: "Makes packages be installed; one name or a list. With `update = true` the lists are fetched before something is installed. The result names what was `installed`.",
            example: "local function prepare()\n  local r = pkg.install { packages = { 'nginx', 'curl' } }\n  if r.changed then log.info(r.message) end\nend",
        },
        Described {
            name: "remove",
            signature: "{ packages, purge } | (packages) -> result, result | nil, error",
            about: "Makes packages not be installed; with `purge = true` their configuration goes, too, where the manager can. The result names what was `removed`.",
            example: "local function prepare()\n  assert(pkg.remove { packages = 'telnet' })\nend",
        },
        Described {
            name: "update",
            signature: "() -> result, result | nil, error",
            about: "Fetches the lists of packages anew.",
            example: "local function prepare() return pkg.update() end",
        },
        Described {
            name: "upgrade",
            signature: "() -> result, result | nil, error",
            about: "Brings all packages up to date, as far as the lists on the machine know.",
            example: "local function prepare() return pkg.upgrade {} end",
        },
        Described {
            name: "clean",
            signature: "() -> result, result | nil, error",
            about: "Removes what was fetched to install packages from.",
            example: "local function prepare() return pkg.clean() end",
        },
        Described {
            name: "autoremove",
            signature: "() -> result, result | nil, error",
            about: "Removes packages that came for others and that nothing needs any more.",
            example: "local function prepare() return pkg.autoremove() end",
        },
        Described {
            name: "install_local",
            signature: "{ file, untrusted } | (file) -> result, result | nil, error",
            about: "Installs a package from a file on the machine, unless that version is there. Its signature counts unless `untrusted = true`.",
            example: "local function prepare() return pkg.install_local { file = 'agent.deb' } end",
        },
        Described {
            name: "search",
            signature: "{ query } | (query) -> true, packages | nil, error",
            about: "Packages whose name or description fits: a list of `{ name, version, description }` that can be used as a text of lines.",
            example: "local function look()\n  local ok, found = pkg.search('editor')\n  for _, p in ipairs(found) do print(p.name, p.description) end\nend",
        },
        Described {
            name: "info",
            signature: "{ package } | (package) -> true, text | nil, error",
            about: "What the manager says about a package.",
            example: "local function look()\n  local ok, text = pkg.info('curl')\n  print(text)\nend",
        },
        Described {
            name: "list",
            signature: "() -> true, packages | nil, error",
            about: "All installed packages: a list of `{ name, version }`.",
            example: "local function look()\n  local ok, packages = pkg.list()\n  print(#packages)\nend",
        },
        Described {
            name: "is_installed",
            signature: "{ package } | (package) -> boolean, message | nil, error",
            about: "Whether a package is installed.",
            example: "local function look()\n  if not pkg.is_installed('nginx') then pkg.install('nginx') end\nend",
        },
        Described {
            name: "version",
            signature: "{ package } | (package) -> version | nil, error",
            about: "The installed version of a package.",
            example: "local function look() return pkg.version('openssl') end",
        },
        Described {
            name: "deps",
            signature: "{ package } | (package) -> true, names | nil, error",
            about: "What a package needs: a list of names that can be used as a text of lines.",
            example: "local function look()\n  local ok, needs = pkg.deps('curl')\n  print(#needs)\nend",
        },
        Described {
            name: "which",
            signature: "{ executable } | (executable) -> path, package | nil, error",
            about: "Where a program is, and the package that owns it where that is known.",
            example: "assert(pkg.which('sh'):match('/sh$'))\nassert(pkg.which('no-such-program-here') == nil)",
        },
        Described {
            name: "get_manager",
            signature: "() -> name | nil, error",
            about: "The name of the manager: `apt`, `dnf`, `yum`, `pacman`, `zypper` or `apk`.",
            example: "local manager, err = pkg.get_manager()\nassert(manager or err)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> mlua::Result<()> {
    changing(module, "install", "packages; package name update manager", |given, host| {
        put(given, host, true)
    })?;
    changing(module, "remove", "packages; package name purge manager", |given, host| {
        put(given, host, false)
    })?;
    changing(module, "install_local", "file; untrusted", local)?;
    changing(
        module,
        "update",
        "",
        |_, host: Host| async move { Ok(package::update(&host).await?) },
    )?;
    changing(
        module,
        "upgrade",
        "",
        |_, host: Host| async move { Ok(package::upgrade(&host).await?) },
    )?;
    changing(module, "clean", "", |_, host: Host| async move { Ok(package::clean(&host).await?) })?;
    changing(module, "autoremove", "", |_, host: Host| async move {
        Ok(package::autoremove(&host).await?)
    })?;
    asking(module, "info", "package; name", |given: Given, host: Host| async move {
        Ok(vec![json!(true), json!(package::info(&host, &name(&given)?).await?)])
    })?;
    asking(module, "list", "", |_, host: Host| async move {
        Ok(vec![json!(true), json(&package::list(&host).await?)])
    })?;
    asking(module, "is_installed", "package; name", |given: Given, host: Host| async move {
        let name = name(&given)?;
        Ok(match package::version(&host, &name).await? {
            Some(version) => vec![json!(true), json!(format!("{name} {version} is installed"))],
            None => vec![json!(false), json!(format!("{name} is not installed"))],
        })
    })?;
    asking(module, "version", "package; name", |given: Given, host: Host| async move {
        let name = name(&given)?;
        let version = package::version(&host, &name).await?;
        let absent = || Trouble::new(format!("{name} is not installed; install it first"));
        Ok(vec![json!(version.ok_or_else(absent)?)])
    })?;
    asking(module, "which", "executable; name", |given: Given, host: Host| async move {
        let name =
            if given.has("name") { given.text("name")? } else { given.text("executable")? };
        let found = package::which(&host, &name).await?;
        let found = found.ok_or_else(|| Trouble::new(format!("there is no program `{name}`")))?;
        Ok(vec![json!(found.path), json!(found.package)])
    })?;
    asking(module, "get_manager", "", |_, host: Host| async move {
        Ok(vec![json!(Manager::detect(&host)?.name())])
    })?;
    listing(module, "search", "query", |given: Given, host: Host| async move {
        let found = package::search(&host, &given.text("query")?).await?;
        let line = |found: &package::Found| format!("{} - {}", found.name, found.description);
        let lines = found.iter().map(line).collect();
        Ok((found.iter().map(json).collect(), lines))
    })?;
    listing(module, "deps", "package; name", |given: Given, host: Host| async move {
        let needs = package::dependencies(&host, &name(&given)?).await?;
        Ok((needs.iter().map(json).collect(), needs))
    })
}

fn name(given: &Given) -> mlua::Result<String> {
    if given.has("name") { given.text("name") } else { given.text("package") }
}

/// A function that answers with a list that is also a text of lines.
fn listing<F>(
    module: &mut Installer<'_>,
    name: &'static str,
    takes: &'static str,
    f: impl Fn(Given, Host) -> F + Clone + 'static,
) -> mlua::Result<()>
where
    F: Future<Output = Result<(Vec<Json>, Vec<String>), Trouble>> + 'static,
{
    module.act_async(name, move |lua: Lua, args: MultiValue| {
        let f = f.clone();
        async move {
            let given = Given::read(format!("pkg.{name}"), takes, args)?;
            match f(given, host()).await {
                Ok((items, lines)) => {
                    let table = listed(&lua, &items, &lines)?;
                    mlua::IntoLuaMulti::into_lua_multi((true, table), &lua)
                }
                Err(trouble) => troubled(&lua, trouble),
            }
        }
    })
}

fn listed(lua: &Lua, items: &[Json], lines: &[String]) -> mlua::Result<Table> {
    let table = lua.create_table()?;
    for item in items {
        table.push(from_json(lua, item)?)?;
    }
    table.set("text", lines.join("\n"))?;
    as_text(lua, &table, "text")?;
    Ok(table)
}

async fn put(given: Given, host: Host, is_present: bool) -> Result<Changing, Trouble> {
    let field = ["packages", "package", "name"].into_iter().find(|field| given.has(field));
    let packages = given.texts(field.unwrap_or("packages"))?;
    if packages.is_empty() {
        return Err(given.misuse("needs `packages`: a name or a list of them").into());
    }
    let manager = match given.maybe("manager")? {
        None => Manager::detect(&host)?,
        Some(word) => {
            let found = Manager::ALL.into_iter().find(|manager| manager.name() == word);
            found.ok_or_else(|| given.misuse(&format!("does not know the manager `{word}`")))?
        }
    };
    let package = Package {
        packages,
        manager: Some(manager),
        update: given.is("update")?,
        purge: given.is("purge")?,
    };
    let plan =
        if is_present { package.present(&host).await? } else { package.absent(&host).await? };
    let named: Vec<String> = plan
        .outcome()
        .diff
        .iter()
        .filter_map(|change| change.what.strip_prefix("package ").map(str::to_owned))
        .collect();
    let changing = Changing::from(plan).with("manager", manager.name());
    Ok(changing.with(if is_present { "installed" } else { "removed" }, named))
}

async fn local(given: Given, host: Host) -> Result<Changing, Trouble> {
    let file = LocalPackage { file: given.path("file")?, untrusted: given.is("untrusted")? };
    Ok(file.present(&host).await?.into())
}
