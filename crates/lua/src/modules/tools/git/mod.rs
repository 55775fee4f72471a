//! `git`: repositories.
//!
//! Functions take `path` in a table; `git.clone` and `git.repo` give an object with the same verbs as methods. What
//! is made so (a clone, a pull, a commit) says whether it changed something. A clone that is there already stays as it
//! is, unless it is of something else.

mod words;

use std::path::Path;

use mlua::{Lua, MultiValue, Result, Table, Value};

use super::super::{Described, Installer, Module, acting, removable, remove_tree};
use super::arguments::Arguments;
use super::class::Class;
use super::tool::{Call, Program, failure, one, planned, refused, result, settled, stdout, two};
use super::verb::{describe, install as install_verbs};
use words::{OWN, VERBS};

static GIT: Program =
    Program::new("git", "install it with the machine's packages: pkg.install{ packages = 'git' }");

pub(crate) const MODULE: Module = Module {
    name: "git",
    about: "Git repositories, with the `git` of the machine. A clone or `git.repo(path)` is an object whose methods can be chained; a chain stops where something failed.",
    functions: &FUNCTIONS,
    install,
};

const FUNCTIONS: [Described; OWN.len() + VERBS.len()] = describe(OWN, VERBS);

fn install(module: &mut Installer<'_>) -> Result<()> {
    let classes = install_verbs(module, &GIT, VERBS)?;
    let repo = classes["repo"].clone();
    repo.remembers(module.lua)?;
    repo.act(module.lua, "checkout", {
        let repo = repo.clone();
        move |lua, object, args| checkout(lua, repo.clone(), object, args)
    })?;
    for (name, f) in [("pull", Make::Pull), ("commit", Make::Commit)] {
        let class = repo.clone();
        repo.act(module.lua, name, move |lua, object, args| {
            let class = class.clone();
            async move {
                let names: &[&str] =
                    if f == Make::Pull { &["remote", "branch"] } else { &["message"] };
                let args = Arguments::read(&lua, f.what(), args, names)?;
                let path: String = object.raw_get("path")?;
                let table = match f.make(&lua, Path::new(&path), &args).await? {
                    Ok(table) => table,
                    Err(Failed::NotRun(why)) => return refused(&lua, &why),
                    Err(Failed::Ended(table)) => table,
                };
                let error: Option<String> = table.raw_get("error")?;
                class.carry(&lua, &object, &table)?;
                two(&lua, table, error)
            }
        })?;
        module.act_async(name, move |lua, args: MultiValue| async move {
            let names: &[&str] = &["path", "remote", "branch"];
            let args = Arguments::read(
                &lua,
                f.what(),
                args,
                if f == Make::Pull { names } else { &["path", "message"] },
            )?;
            let path = acting().path(&args.required(&["path", "local_path"])?);
            match f.make(&lua, &path, &args).await? {
                Ok(table) => one(&lua, table),
                Err(Failed::NotRun(why)) => refused(&lua, &why),
                Err(Failed::Ended(table)) => refused(&lua, &table.raw_get::<String>("error")?),
            }
        })?;
    }
    module.act_async("clone", {
        let repo = repo.clone();
        move |lua, args: MultiValue| clone(lua, repo.clone(), args)
    })?;
    module.act_async("repo", move |lua, args: MultiValue| {
        let repo = repo.clone();
        async move {
            let args = Arguments::read(&lua, "git.repo", args, &["path"])?;
            let path = acting().path(&args.required(&["path", "local_path"])?);
            match url_of(&path).await {
                Err(why) => refused(&lua, &format!("{} is no repository: {why}", path.display())),
                Ok(url) => one(&lua, opened(&lua, &repo, &path, &url, true).await?),
            }
        }
    })?;
    module.act_async("is_repo", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "git.is_repo", args, &["path"])?;
        let path = acting().path(&args.required(&["path", "local_path"])?);
        Ok(is_repo(&path).await)
    })?;
    module.act_async("ensure_clean", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "git.ensure_clean", args, &["path"])?;
        let path = acting().path(&args.required(&["path", "local_path"])?);
        match remove(&path).await {
            Ok(changed) => one(&lua, settled(&lua, changed, &gone(&path, changed))?),
            Err(why) => refused(&lua, &why),
        }
    })
}

fn gone(path: &Path, changed: bool) -> String {
    let path = path.display();
    match (changed, acting().check) {
        (false, _) => format!("{path} is not there"),
        (true, true) => format!("would remove {path}"),
        (true, false) => format!("removed {path}"),
    }
}

/// Removes a directory, unless it is one that nobody means.
async fn remove(path: &Path) -> std::result::Result<bool, String> {
    if !tokio::fs::try_exists(path).await.unwrap_or(false) {
        return Ok(false);
    }
    if acting().check {
        return removable(path).map(|_| true);
    }
    remove_tree(path).await
}

fn git(path: &Path, words: &[&str]) -> Call {
    Call::new(&GIT, words.iter().copied()).at(path)
}

async fn is_repo(path: &Path) -> bool {
    path.is_dir() && git(path, &["rev-parse", "--git-dir"]).text().await.is_ok()
}

/// The address that a repository was cloned from; nothing where it has none.
async fn url_of(path: &Path) -> std::result::Result<String, String> {
    if !path.is_dir() {
        return Err("there is no such directory".to_owned());
    }
    git(path, &["rev-parse", "--git-dir"]).text().await?;
    Ok(git(path, &["remote", "get-url", "origin"]).text().await.unwrap_or_default())
}

/// A repository as an object.
async fn opened(lua: &Lua, class: &Class, path: &Path, url: &str, exists: bool) -> Result<Table> {
    let branch = git(path, &["symbolic-ref", "--short", "-q", "HEAD"]).text().await;
    let shown = path.to_string_lossy().into_owned();
    let object = lua.create_table()?;
    object.raw_set("success", true)?;
    object.raw_set("changed", !exists)?;
    object.raw_set("path", shown.as_str())?;
    object.raw_set("url", url)?;
    object.raw_set("exists", exists)?;
    let (local, remote, current) = (lua.create_table()?, lua.create_table()?, lua.create_table()?);
    local.raw_set("path", shown)?;
    remote.raw_set("url", url)?;
    current.raw_set("branch", branch.unwrap_or_else(|_| "HEAD".to_owned()))?;
    object.raw_set("local", local)?;
    object.raw_set("remote", remote)?;
    object.raw_set("current", current)?;
    class.object(object)
}

async fn clone(lua: Lua, class: Class, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "git.clone", args, &["url", "local_path"])?;
    let url = args.required(&["url"])?;
    let path = match args.any(&["local_path", "path", "dest"])? {
        Some(path) => acting().path(&path),
        None => acting().path(url.trim_end_matches(".git").rsplit('/').next().unwrap_or(&url)),
    };
    if args.flag("clean")?
        && let Err(why) = remove(&path).await
    {
        return refused(&lua, &why);
    }
    if !args.flag("clean")? && path.join(".git").exists() {
        return match url_of(&path).await {
            Ok(there) if there == url || there == acting().path(&url).to_string_lossy() => {
                one(&lua, opened(&lua, &class, &path, &url, true).await?)
            }
            Ok(there) => refused(
                &lua,
                &format!(
                    "{} is a clone of {there}; give `clean = true` to replace it",
                    path.display()
                ),
            ),
            Err(why) => refused(&lua, &why),
        };
    }
    let mut call = Call::new(&GIT, ["clone", "--quiet"]);
    for (name, flag) in [("branch", "--branch"), ("depth", "--depth")] {
        if let Some(value) = args.text(name)? {
            call.words.extend([flag.to_owned(), value]);
        }
    }
    call.words.extend(["--".to_owned(), url.clone(), path.to_string_lossy().into_owned()]);
    if acting().check {
        let table = planned(&lua, &format!("would run: {}", call.line()))?;
        acting().say(&table.raw_get::<String>("message")?);
        table.raw_set("path", path.to_string_lossy().into_owned())?;
        table.raw_set("url", url)?;
        return one(&lua, class.object(table)?);
    }
    match call.text().await {
        Ok(_) => one(&lua, opened(&lua, &class, &path, &url, false).await?),
        Err(why) => refused(&lua, &why),
    }
}

async fn checkout(lua: Lua, class: Class, object: Table, args: MultiValue) -> Result<MultiValue> {
    let args = Arguments::read(&lua, "repo:checkout", args, &["branch"])?;
    let branch = args.required(&["branch"])?;
    if branch.starts_with('-') {
        return Err(args.mistake("a branch does not begin with a dash"));
    }
    let path: String = object.raw_get("path")?;
    let path = Path::new(&path);
    let is_new = args.flag("create")?
        && git(path, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")])
            .text()
            .await
            .is_err();
    let mut call = git(path, &["checkout", "--quiet"]);
    if args.flag("force")? {
        call.words.push("--force".to_owned());
    }
    if is_new {
        call.words.push("-b".to_owned());
    }
    call.words.extend([branch, "--".to_owned()]);
    let table = if acting().check {
        super::tool::would(&lua, &call)?
    } else {
        match call.run().await {
            Ok(ended) => result(&lua, &GIT, &ended)?,
            Err(why) => return refused(&lua, &why),
        }
    };
    let now = git(path, &["symbolic-ref", "--short", "-q", "HEAD"]).text().await;
    if let Value::Table(current) = object.raw_get("current")? {
        current.raw_set("branch", now.unwrap_or_else(|_| "HEAD".to_owned()))?;
    }
    let error: Option<String> = table.raw_get("error")?;
    class.carry(&lua, &object, &table)?;
    two(&lua, table, error)
}

/// What is made so, and says whether it changed something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Make {
    Pull,
    Commit,
}

enum Failed {
    NotRun(String),
    Ended(Table),
}

impl Make {
    fn what(self) -> &'static str {
        match self {
            Make::Pull => "git pull",
            Make::Commit => "git commit",
        }
    }

    async fn make(
        self,
        lua: &Lua,
        path: &Path,
        args: &Arguments,
    ) -> Result<std::result::Result<Table, Failed>> {
        let call = match self {
            Make::Pull => pull_call(path, args)?,
            Make::Commit => commit_call(path, args)?,
        };
        if acting().check {
            let table = super::tool::would(lua, &call)?;
            acting().say(&table.raw_get::<String>("message")?);
            return Ok(Ok(table));
        }
        if self == Make::Commit {
            if args.flag("add_all")?
                && let Err(why) = git(path, &["add", "--all"]).text().await
            {
                return Ok(Err(Failed::NotRun(why)));
            }
            match git(path, &["diff", "--cached", "--quiet"]).run().await {
                Err(why) => return Ok(Err(Failed::NotRun(why))),
                Ok(ended) if ended.is_success() => {
                    return Ok(Ok(settled(lua, false, "there is nothing to commit")?));
                }
                Ok(_) => {}
            }
        }
        let before = head(path).await;
        let ended = match call.run().await {
            Err(why) => return Ok(Err(Failed::NotRun(why))),
            Ok(ended) => ended,
        };
        let table = result(lua, &GIT, &ended)?;
        if !ended.is_success() {
            table.raw_set("error", failure(&GIT, &ended))?;
            return Ok(Err(Failed::Ended(table)));
        }
        let after = head(path).await;
        table.raw_set("changed", before != after)?;
        table.raw_set("message", stdout(&ended))?;
        table.raw_set("revision", after)?;
        Ok(Ok(table))
    }
}

async fn head(path: &Path) -> String {
    git(path, &["rev-parse", "HEAD"]).text().await.unwrap_or_default()
}

fn pull_call(path: &Path, args: &Arguments) -> Result<Call> {
    let way = if args.flag("rebase")? { "--rebase" } else { "--ff-only" };
    let mut call = git(path, &["pull", way]);
    for name in ["remote", "branch"] {
        if let Some(value) = args.text(name)? {
            if value.starts_with('-') {
                return Err(args.mistake(&format!("`{name}` does not begin with a dash")));
            }
            call.words.push(value);
        }
    }
    Ok(call)
}

fn commit_call(path: &Path, args: &Arguments) -> Result<Call> {
    let mut call = git(path, &["commit", "-m", &args.required(&["message"])?]);
    if let Some(author) = args.text("author")? {
        call.words.extend(["--author".to_owned(), author]);
    }
    Ok(call)
}
