//! `stow`: files of packages, linked into place by GNU Stow.
//!
//! A package is a directory in the stow directory; its files are linked into the target. What would be done is asked
//! of Stow itself in check mode. Whether something changed is what Stow says that it linked and unlinked. Looking at
//! links is done here, by what they lead to.

use std::path::{Path, PathBuf};

use mlua::{Lua, MultiValue, Result, Table, Value};

use super::super::{Described, Installer, Module, acting};
use super::arguments::Arguments;
use super::tool::{Call, Program, failure, one, refused, result, settled, would};

static STOW: Program = Program::new(
    "stow",
    "install it with the machine's packages: pkg.install{ packages = 'stow' }",
);

pub(crate) const MODULE: Module = Module {
    name: "stow",
    about: "Files of packages, linked into place by GNU Stow. `dir` (or `source_dir`) is the directory of packages, `~/.dotfiles` or `~/dotfiles` where nobody says; `target` (or `target_dir`) is where links go, the directory above where nobody says.",
    functions: FUNCTIONS,
    install,
};

const FUNCTIONS: &[Described] = &[
    Described {
        name: "stow",
        signature: "{ package or packages, dir, target, verbose, no_folding, ignore, create_target } -> result | nil, error",
        about: "Links packages into place; `changed` says whether there was something to link.",
        example: "local r = stow.stow{ package = 'vim', dir = 'd', target = 't', show_only = true }\nassert(r.argv[2] == '--verbose' and r.argv[#r.argv] == 'vim')",
    },
    Described {
        name: "link",
        signature: "{ package, source_dir, target_dir, create_target, verbose, no_folding } -> result | nil, error",
        about: "The same as `stow.stow`.",
        example: "assert(stow.link{ package = 'vim', source_dir = 'd', target_dir = 't', show_only = true }.argv[1] == 'stow')",
    },
    Described {
        name: "unstow",
        signature: "{ package or packages, dir, target } -> result | nil, error",
        about: "Takes the links of packages away.",
        example: "local r = stow.unstow{ package = 'vim', dir = 'd', show_only = true }\nassert(r.command:find('--delete vim', 1, true))",
    },
    Described {
        name: "unlink",
        signature: "{ package, source_dir, target_dir } -> result | nil, error",
        about: "The same as `stow.unstow`.",
        example: "assert(stow.unlink{ package = 'vim', dir = 'd', show_only = true }.command:find('--delete', 1, true))",
    },
    Described {
        name: "restow",
        signature: "{ package or packages, dir, target } -> result | nil, error",
        about: "Takes links away and makes them again, for packages whose files have changed.",
        example: "assert(stow.restow{ package = 'vim', dir = 'd', show_only = true }.command:find('--restow vim', 1, true))",
    },
    Described {
        name: "adopt",
        signature: "{ package, dir, target } -> result | nil, error",
        about: "Takes files that are in the way into the package, and links them.",
        example: "assert(stow.adopt{ package = 'vim', dir = 'd', show_only = true }.command:find('--adopt', 1, true))",
    },
    Described {
        name: "check",
        signature: "{ package, dir, target } -> { would_succeed, output, conflicts } | nil, error",
        about: "Whether packages could be linked, and what is in the way.",
        example: "local r, err = stow.check{ package = 'none', dir = '.' }\nassert(r == nil and err or r.would_succeed == false)",
    },
    Described {
        name: "simulate",
        signature: "{ package, dir, target } -> { would_succeed, output, conflicts, changed } | nil, error",
        about: "The same as `stow.check`; `output` has what would be linked.",
        example: "local r, err = stow.simulate{ package = 'none', dir = '.' }\nassert(r == nil and err or r.would_succeed == false)",
    },
    Described {
        name: "ensure_target",
        signature: "{ path, mode, owner } -> result | nil, error",
        about: "Makes a directory be there, with its mode and owner.",
        example: "assert(stow.ensure_target{ path = 'a/b', mode = '0750' }.changed)\nassert(stow.ensure_target{ path = 'a/b', mode = '0750' }.changed == false)",
    },
    Described {
        name: "list_packages",
        signature: "([{ dir }]) -> list | nil, error",
        about: "Packages of a stow directory.",
        example: "exec.run('mkdir -p d/vim d/zsh d/.git')\nassert(table.concat(stow.list_packages{ dir = 'd' }, ' ') == 'vim zsh')",
    },
    Described {
        name: "is_stowed",
        signature: "{ package, dir, target } -> boolean",
        about: "Whether every file of a package is linked into place.",
        example: "exec.run('mkdir -p d/vim t && touch d/vim/.vimrc')\nassert(stow.is_stowed{ package = 'vim', dir = 'd', target = 't' } == false)\nexec.run('ln -s ../d/vim/.vimrc t/.vimrc')\nassert(stow.is_stowed{ package = 'vim', dir = 'd', target = 't' })",
    },
    Described {
        name: "get_links",
        signature: "{ package, dir, target } -> list | nil, error",
        about: "Links of a package that are in place: `path`, `source`.",
        example: "exec.run('mkdir -p d/vim t && touch d/vim/.vimrc && ln -s ../d/vim/.vimrc t/.vimrc')\nassert(stow.get_links{ package = 'vim', dir = 'd', target = 't' }[1].path:find('t/.vimrc', 1, true))",
    },
    Described {
        name: "verify",
        signature: "{ package, dir, target } -> { total_files, stowed_links, missing, conflicts, is_valid, is_complete } | nil, error",
        about: "How much of a package is in place. It is valid where nothing else is in its way, complete where all of it is linked.",
        example: "exec.run('mkdir -p d/vim t && touch d/vim/a d/vim/b t/b && ln -s ../d/vim/a t/a')\nlocal v = stow.verify{ package = 'vim', dir = 'd', target = 't' }\nassert(v.total_files == 2 and v.stowed_links == 1 and not v.is_valid and v.conflicts[1]:find('t/b', 1, true))",
    },
];

fn install(module: &mut Installer<'_>) -> Result<()> {
    for (name, flag) in [
        ("stow", "--stow"),
        ("link", "--stow"),
        ("unstow", "--delete"),
        ("unlink", "--delete"),
        ("restow", "--restow"),
        ("adopt", "--adopt"),
    ] {
        module.act_async(name, move |lua, args: MultiValue| place(lua, args, flag))?;
    }
    for name in ["check", "simulate"] {
        module.act_async(name, |lua, args: MultiValue| simulate(lua, args))?;
    }
    module.act_async("ensure_target", |lua, args: MultiValue| ensure_target(lua, args))?;
    module.act_async("list_packages", |lua, args: MultiValue| list_packages(lua, args))?;
    for name in ["is_stowed", "get_links", "verify"] {
        module.act_async(name, move |lua, args: MultiValue| look(lua, args, name))?;
    }
    Ok(())
}

/// What packages, from where to where.
struct Order {
    packages: Vec<String>,
    dir: PathBuf,
    target: PathBuf,
}

impl Order {
    fn read(args: &Arguments) -> Result<Order> {
        if args.flag("delegate_to")? {
            return Err(args.mistake("it acts where its task runs; give the task `delegate_to`"));
        }
        let mut packages = args.list("packages")?;
        packages.extend(args.list("package")?);
        if packages.is_empty() {
            return Err(args.mistake("`package` is missing"));
        }
        if let Some(wrong) = packages.iter().find(|name| name.starts_with('-')) {
            return Err(args.mistake(&format!("`{wrong}` is no package")));
        }
        let dir = directory(args)?;
        let target = match args.any(&["target", "target_dir"])? {
            Some(target) => acting().path(&target),
            None => dir.parent().unwrap_or(&dir).to_owned(),
        };
        Ok(Order { packages, dir, target })
    }

    fn call(&self, args: &Arguments, flag: &str) -> Result<Call> {
        let mut call = Call::new(&STOW, ["--verbose"]);
        call.words.push(format!("--dir={}", self.dir.display()));
        call.words.push(format!("--target={}", self.target.display()));
        if args.flag("no_folding")? {
            call.words.push("--no-folding".to_owned());
        }
        call.words.extend(args.list("ignore")?.into_iter().map(|glob| format!("--ignore={glob}")));
        if flag == "--adopt" {
            call.words.extend(["--adopt".to_owned(), "--stow".to_owned()]);
        } else {
            call.words.push(flag.to_owned());
        }
        call.words.extend(self.packages.iter().cloned());
        Ok(call)
    }
}

fn directory(args: &Arguments) -> Result<PathBuf> {
    let step = acting();
    Ok(match args.any(&["dir", "source_dir"])? {
        Some(dir) => step.path(&dir),
        None => ["~/.dotfiles", "~/dotfiles"]
            .into_iter()
            .map(|path| step.path(path))
            .find(|path| path.is_dir())
            .unwrap_or_else(|| step.path("~/.dotfiles")),
    })
}

/// Whether Stow says that it linked or unlinked something, and did not take it back.
fn is_changed(said: &[u8]) -> bool {
    String::from_utf8_lossy(said).lines().any(|line| {
        let does = ["LINK:", "UNLINK:", "MKDIR:", "RMDIR:", "MV:"];
        does.iter().any(|word| line.starts_with(word)) && !line.contains("reverts previous action")
    })
}

async fn place(lua: Lua, args: MultiValue, flag: &'static str) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "stow", args, &["package"])?;
    let order = Order::read(&args)?;
    let mut call = order.call(&args, flag)?;
    if args.flag("show_only")? {
        return one(&lua, would(&lua, &call)?);
    }
    let check = acting().check;
    let makes_target = !matches!(args.value("create_target")?, Value::Boolean(false));
    if !order.target.exists() && flag != "--delete" && makes_target {
        if check {
            let message = format!(
                "would link {} into a new {}",
                order.packages.join(", "),
                order.target.display()
            );
            acting().say(&message);
            return one(&lua, settled(&lua, true, &message)?);
        }
        if let Err(error) = tokio::fs::create_dir_all(&order.target).await {
            return refused(
                &lua,
                &format!("{} could not be made: {error}", order.target.display()),
            );
        }
    }
    if check {
        call.words.insert(0, "--simulate".to_owned());
    }
    let ended = match call.run().await {
        Ok(ended) => ended,
        Err(why) => return refused(&lua, &why),
    };
    if !ended.is_success() {
        return refused(&lua, &failure(&STOW, &ended));
    }
    let table = result(&lua, &STOW, &ended)?;
    let changed = is_changed(&ended.stderr);
    let names = order.packages.join(", ");
    let message = match (changed, check) {
        (false, _) => format!("{names}: everything is in place"),
        (true, true) => format!("{names}: links would be changed"),
        (true, false) => format!("{names}: links were changed"),
    };
    if check && changed {
        acting().say(&message);
    }
    table.raw_set("changed", changed)?;
    table.raw_set("message", message)?;
    one(&lua, table)
}

async fn simulate(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "stow.check", args, &["package"])?;
    let mut call = Order::read(&args)?.call(&args, "--stow")?;
    call.words.insert(0, "--simulate".to_owned());
    let ended = match call.run().await {
        Ok(ended) => ended,
        Err(why) => return refused(&lua, &why),
    };
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    let conflicts = said.lines().filter(|line| line.trim_start().starts_with("* "));
    let conflicts: Vec<&str> = conflicts.map(|line| line.trim_start_matches([' ', '*'])).collect();
    let table = result(&lua, &STOW, &ended)?;
    table.raw_set("would_succeed", ended.is_success())?;
    table.raw_set("changed", is_changed(&ended.stderr))?;
    table.raw_set("conflicts", lua.create_sequence_from(conflicts)?)?;
    table.raw_set("output", said)?;
    one(&lua, table)
}

async fn ensure_target(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    use std::os::unix::fs::PermissionsExt;
    let args = Arguments::read(&lua, "stow.ensure_target", args, &["path"])?;
    let path = acting().path(&args.required(&["path"])?);
    let mode = args.text("mode")?.unwrap_or_else(|| "0755".to_owned());
    let mode = u32::from_str_radix(&mode, 8)
        .map_err(|_| args.mistake(&format!("`mode` is octal, as '0755', not '{mode}'")))?;
    let shown = path.display().to_string();
    let now = tokio::fs::metadata(&path).await.ok();
    let is_wrong = now.as_ref().is_none_or(|meta| meta.permissions().mode() & 0o7777 != mode);
    if now.as_ref().is_some_and(|meta| !meta.is_dir()) {
        return refused(&lua, &format!("{shown} is there and is no directory"));
    }
    if is_wrong && !acting().check {
        let made = async {
            tokio::fs::create_dir_all(&path).await?;
            tokio::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).await
        };
        if let Err(error) = made.await {
            return refused(&lua, &format!("{shown} could not be made: {error}"));
        }
    }
    let mut changed = is_wrong;
    if let Some(owner) = args.text("owner")? {
        match own(&path, &owner).await {
            Ok(was_other) => changed |= was_other,
            Err(why) => return refused(&lua, &why),
        }
    }
    let verb = if acting().check && changed { "would be made so" } else { "is as it should be" };
    one(&lua, settled(&lua, changed, &format!("{shown} {verb}"))?)
}

/// Gives a directory to its owner, with the programs that know users.
async fn own(path: &Path, owner: &str) -> std::result::Result<bool, String> {
    use std::os::unix::fs::MetadataExt;
    static ID: Program = Program::new("id", "it is part of coreutils");
    static CHOWN: Program = Program::new("chown", "it is part of coreutils");
    let wanted = Call::new(&ID, ["-u", "--", owner]).text().await?;
    let now = tokio::fs::metadata(path).await.map(|meta| meta.uid().to_string());
    if now.is_ok_and(|now| now == wanted) {
        return Ok(false);
    }
    if !acting().check {
        Call::new(&CHOWN, ["--", owner, &path.to_string_lossy()]).text().await?;
    }
    Ok(true)
}

async fn list_packages(lua: Lua, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "stow.list_packages", args, &["dir"])?;
    let dir = directory(&args)?;
    let mut names = Vec::new();
    let mut entries = match tokio::fs::read_dir(&dir).await {
        Ok(entries) => entries,
        Err(error) => return refused(&lua, &format!("{}: {error}", dir.display())),
    };
    while let Ok(Some(entry)) = entries.next_entry().await {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_dir() {
            names.push(name);
        }
    }
    names.sort();
    one(&lua, lua.create_sequence_from(names)?)
}

/// How a file of a package is in place.
enum Place {
    Linked(PathBuf, PathBuf),
    Missing(PathBuf),
    Taken(PathBuf),
}

async fn look(lua: Lua, args: MultiValue, name: &'static str) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "stow", args, &["package"])?;
    let order = Order::read(&args)?;
    let mut places = Vec::new();
    for package in &order.packages {
        let (root, target) = (order.dir.join(package), order.target.clone());
        let looked = tokio::task::spawn_blocking(move || {
            let mut found = Vec::new();
            walk(&root, &root, &target, &mut found).map(|()| found)
        });
        match looked.await {
            Ok(Ok(found)) => places.extend(found),
            Ok(Err(_)) if name == "is_stowed" => return one(&lua, false),
            Ok(Err(error)) => return refused(&lua, &format!("the package {package}: {error}")),
            Err(error) => return refused(&lua, &error.to_string()),
        }
    }
    match name {
        "is_stowed" => {
            let all = places.iter().all(|place| matches!(place, Place::Linked(..)));
            one(&lua, all && !places.is_empty())
        }
        "get_links" => {
            let links = lua.create_table()?;
            for place in &places {
                if let Place::Linked(path, source) = place {
                    let link = lua.create_table()?;
                    link.raw_set("path", path.to_string_lossy().into_owned())?;
                    link.raw_set("source", source.to_string_lossy().into_owned())?;
                    links.raw_push(link)?;
                }
            }
            one(&lua, links)
        }
        _ => one(&lua, verified(&lua, &places)?),
    }
}

fn verified(lua: &Lua, places: &[Place]) -> Result<Table> {
    let paths = |wanted: fn(&Place) -> Option<&PathBuf>| {
        let paths =
            places.iter().filter_map(wanted).map(|path| path.to_string_lossy().into_owned());
        lua.create_sequence_from(paths)
    };
    let missing = paths(|place| match place {
        Place::Missing(path) => Some(path),
        _ => None,
    })?;
    let taken = paths(|place| match place {
        Place::Taken(path) => Some(path),
        _ => None,
    })?;
    let linked = places.len() - missing.raw_len() - taken.raw_len();
    let table = lua.create_table()?;
    table.raw_set("total_files", places.len())?;
    table.raw_set("stowed_links", linked)?;
    table.raw_set("is_valid", taken.raw_len() == 0)?;
    table.raw_set("is_complete", linked == places.len())?;
    table.raw_set("missing", missing)?;
    table.raw_set("conflicts", taken)?;
    Ok(table)
}

fn walk(root: &Path, folder: &Path, target: &Path, found: &mut Vec<Place>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    entries.sort();
    for source in entries {
        if source.is_dir() && !source.is_symlink() {
            walk(root, &source, target, found)?;
            continue;
        }
        let path = target.join(source.strip_prefix(root).unwrap_or(&source));
        let leads = |path: &Path| std::fs::canonicalize(path).ok();
        found.push(match (leads(&path), leads(&source)) {
            (Some(there), Some(here)) if there == here => Place::Linked(path, source),
            (None, _) if !path.is_symlink() => Place::Missing(path),
            _ => Place::Taken(path),
        });
    }
    Ok(())
}
