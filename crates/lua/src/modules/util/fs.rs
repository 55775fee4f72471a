//! `fs`: files and directories of the machine where the step runs.

use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use mlua::{Lua, Result, Table, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::given::{Answer, Done, Text, amount, answer, done, place, would};
use crate::modules::{Described, Installer, Module, acting};

/// The largest file that is read at once.
pub(super) const LARGEST: u64 = 256 << 20;

pub(crate) const MODULE: Module = Module {
    name: "fs",
    about: "Files and directories of the machine where the step runs. Paths are relative to the working directory of the step; `~/` is its home. In check mode nothing is changed.",
    functions: &[
        Described {
            name: "read",
            signature: "(path) -> text | nil, error",
            about: "All of a file, of at most 256 MiB.",
            example: "fs.write('a.txt', 'hello')\nassert(fs.read('a.txt') == 'hello')\nlocal text, why = fs.read('b.txt')\nassert(text == nil and why:find('b.txt'))",
        },
        Described {
            name: "write",
            signature: "(path, text) -> true | false, error",
            about: "Makes a file hold a text; what was in it is gone. The result of a program can be given as it is.",
            example: "assert(fs.write('a.txt', 'one'))\nassert(fs.write('a.txt', exec.run('echo two')))\nassert(fs.read('a.txt') == 'two\\n')",
        },
        Described {
            name: "append",
            signature: "(path, text) -> true | false, error",
            about: "Adds a text to the end of a file, which is made if it is not there.",
            example: "fs.append('log', 'a\\n')\nfs.append('log', 'b\\n')\nassert(fs.read('log') == 'a\\nb\\n')",
        },
        Described {
            name: "mkdir",
            signature: "(path[, options]) -> true | false, error",
            about: "Makes a directory and those above it; one that is there is fine.",
            example: "assert(fs.mkdir('a/b/c'))\nassert(fs.mkdir('a/b/c', { recursive = true }))\nassert(fs.is_dir('a/b/c'))",
        },
        Described {
            name: "rm",
            signature: "(path) -> true | false, error",
            about: "Removes a file or an empty directory.",
            example: "fs.write('a.txt', '')\nassert(fs.rm('a.txt'))\nlocal ok, why = fs.rm('a.txt')\nassert(not ok and why:find('a.txt'))",
        },
        Described {
            name: "rmr",
            signature: "(path) -> true | false, error",
            about: "Removes a file, or a directory with everything in it; one that is not there is fine. The root is refused.",
            example: "fs.mkdir('a/b')\nassert(fs.rmr('a') and not fs.exists('a'))\nassert(fs.rmr('a'))\nassert(not fs.rmr('/'))",
        },
        Described {
            name: "rm_r",
            signature: "(path) -> true | false, error",
            about: "The same as `fs.rmr`.",
            example: "fs.mkdir('a/b')\nassert(fs.rm_r('a') and not fs.exists('a'))",
        },
        Described {
            name: "copy",
            signature: "(source, destination) -> true | false, error",
            about: "Copies a file with its permissions, or a directory with everything in it. Where the destination is a directory a file goes into it.",
            example: "fs.write('a', 'x')\nassert(fs.copy('a', 'b') and fs.read('b') == 'x')\nfs.mkdir('d')\nassert(fs.copy('a', 'd') and fs.read('d/a') == 'x')",
        },
        Described {
            name: "move",
            signature: "(source, destination) -> true | false, error",
            about: "Gives a file or directory another name.",
            example: "fs.write('a', 'x')\nassert(fs.move('a', 'b') and fs.read('b') == 'x' and not fs.exists('a'))",
        },
        Described {
            name: "exists",
            signature: "(path) -> boolean",
            about: "Whether something is there; a link that leads nowhere is not.",
            example: "assert(fs.exists('.') and not fs.exists('nothing'))",
        },
        Described {
            name: "is_dir",
            signature: "(path) -> boolean",
            about: "Whether a directory is there.",
            example: "fs.write('a', '')\nassert(fs.is_dir('.') and not fs.is_dir('a'))",
        },
        Described {
            name: "is_file",
            signature: "(path) -> boolean",
            about: "Whether a file is there.",
            example: "fs.write('a', '')\nassert(fs.is_file('a') and not fs.is_file('.'))",
        },
        Described {
            name: "ls",
            signature: "(path) -> { name } | nil, error",
            about: "The names in a directory, sorted.",
            example: "fs.write('b', '')\nfs.write('a', '')\nassert(table.concat(fs.ls('.'), ' ') == 'a b')",
        },
        Described {
            name: "stat",
            signature: "(path) -> { path, type, is_dir, is_file, is_link, size, mode, mtime, uid, gid } | nil, error",
            about: "What is known about a file; of a link, about what it leads to. `type` is `file`, `directory` or `other`, `mode` a text as `0644`, `mtime` seconds since 1970.",
            example: "fs.write('a', 'abc')\nlocal s = fs.stat('a')\nassert(s.type == 'file' and s.size == 3 and #s.mode == 4)",
        },
        Described {
            name: "size",
            signature: "(path) -> bytes | nil, error",
            about: "The size of a file.",
            example: "fs.write('a', 'abc')\nassert(fs.size('a') == 3)",
        },
        Described {
            name: "tmpname",
            signature: "([prefix]) -> path | nil, error",
            about: "Makes an empty file with a name that nobody has, readable only for the user of the step, in `TMPDIR` or `/tmp`.",
            example: "local path = fs.tmpname('build-')\nassert(fs.size(path) == 0 and fs.basename(path):find('^build%-'))\nfs.rm(path)",
        },
        Described {
            name: "basename",
            signature: "(path) -> text",
            about: "The last part of a path.",
            example: "assert(fs.basename('/a/b.txt') == 'b.txt' and fs.basename('/a/b/') == 'b')",
        },
        Described {
            name: "dirname",
            signature: "(path) -> text",
            about: "A path without its last part.",
            example: "assert(fs.dirname('/a/b.txt') == '/a' and fs.dirname('b') == '.')",
        },
        Described {
            name: "join",
            signature: "(part, ...) -> path",
            about: "Parts as one path; one that begins with `/` starts anew.",
            example: "assert(fs.join('a', 'b', 'c.txt') == 'a/b/c.txt')",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    module.act_async("read", |lua, path: Text| async move {
        match read(&path).await {
            Ok(bytes) => Ok((Value::String(lua.create_string(bytes)?), None)),
            Err(why) => Ok((Value::Nil, Some(why))),
        }
    })?;
    module.act_async("write", |_, (path, text): (Text, Text)| async move {
        Ok(done(write(&path, &text, false).await))
    })?;
    module.act_async("append", |_, (path, text): (Text, Text)| async move {
        Ok(done(write(&path, &text, true).await))
    })?;
    module.act("mkdir", |_, (path, _): (Text, Option<Table>)| {
        Ok(change(&path, "make the directory", |path| std::fs::create_dir_all(path)))
    })?;
    module.act("rm", |_, path: Text| Ok(change(&path, "remove", remove_one)))?;
    for name in ["rmr", "rm_r"] {
        module.act_async(name, |_, path: Text| async move {
            Ok(done(match place(&path) {
                Ok(path) => remove_all(path).await,
                Err(why) => Err(why),
            }))
        })?;
    }
    module.act_async("copy", |_, (from, to): (Text, Text)| async move {
        Ok(done(copy(&from, &to).await))
    })?;
    module.act("move", |_, (from, to): (Text, Text)| Ok(done(rename(&from, &to))))?;
    for (name, is) in [
        ("exists", Path::exists as fn(&Path) -> bool),
        ("is_dir", Path::is_dir),
        ("is_file", Path::is_file),
    ] {
        module.act(name, move |_, path: Text| Ok(place(&path).is_ok_and(|path| is(&path))))?;
    }
    module.act("ls", |_, path: Text| Ok(answer(list(&path))))?;
    module.act("stat", |lua, path: Text| stat(lua, &path, false))?;
    module.act("size", |_, path: Text| {
        let size = place(&path).and_then(|path| {
            let known = std::fs::metadata(&path).map_err(told("look at", &path))?;
            Ok(amount(known.len()))
        });
        Ok(answer(size))
    })?;
    module.act("tmpname", |_, prefix: Option<Text>| {
        let prefix = prefix.map_or_else(|| "hostler-".to_owned(), |prefix| prefix.lossy());
        Ok(answer(temporary(&prefix)))
    })?;
    module.pure("basename", |_, path: Text| Ok(basename(&path.lossy())))?;
    module.pure("dirname", |_, path: Text| Ok(dirname(&path.lossy())))?;
    module.pure("join", |_, parts: mlua::Variadic<Text>| {
        let path: PathBuf = parts.iter().map(Text::lossy).collect();
        Ok(path.to_string_lossy().into_owned())
    })
}

/// Why something could not be done to a path.
pub(super) fn told<'a>(
    what: &'a str,
    path: &'a Path,
) -> impl FnOnce(std::io::Error) -> String + 'a {
    move |error| format!("cannot {what} {}: {error}", path.display())
}

async fn read(path: &Text) -> std::result::Result<Vec<u8>, String> {
    let path = place(path)?;
    let mut bytes = Vec::new();
    let file = tokio::fs::File::open(&path).await.map_err(told("read", &path))?;
    file.take(LARGEST + 1).read_to_end(&mut bytes).await.map_err(told("read", &path))?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!(
            "{} is larger than 256 MiB; read it in pieces with io.open",
            path.display()
        ));
    }
    Ok(bytes)
}

async fn write(path: &Text, text: &Text, is_append: bool) -> std::result::Result<(), String> {
    let path = place(path)?;
    if would(|| format!("write {} bytes to {}", text.0.len(), path.display())) {
        return Ok(());
    }
    let mut options = tokio::fs::OpenOptions::new();
    options.create(true).write(true).append(is_append).truncate(!is_append);
    let mut file = options.open(&path).await.map_err(told("write", &path))?;
    file.write_all(&text.0).await.map_err(told("write", &path))?;
    file.flush().await.map_err(told("write", &path))
}

fn change(path: &Text, what: &str, f: impl FnOnce(&Path) -> std::io::Result<()>) -> Done {
    done(place(path).and_then(|path| {
        if would(|| format!("{what} {}", path.display())) {
            return Ok(());
        }
        f(&path).map_err(told(what, &path))
    }))
}

/// A file, a link, or an empty directory.
pub(super) fn remove_one(path: &Path) -> std::io::Result<()> {
    if std::fs::symlink_metadata(path)?.is_dir() {
        std::fs::remove_dir(path)
    } else {
        std::fs::remove_file(path)
    }
}

async fn remove_all(path: PathBuf) -> std::result::Result<(), String> {
    if would(|| format!("remove {} and everything in it", path.display())) {
        return crate::modules::removable(&path).map(drop);
    }
    crate::modules::remove_tree(&path).await.map(drop)
}

async fn copy(from: &Text, to: &Text) -> std::result::Result<(), String> {
    let (from, mut to) = (place(from)?, place(to)?);
    let is_tree = from.is_dir();
    if let (true, false, Some(name)) = (to.is_dir(), is_tree, from.file_name()) {
        to.push(name);
    }
    if would(|| format!("copy {} to {}", from.display(), to.display())) {
        return Ok(());
    }
    let copied = if is_tree {
        if to.starts_with(&from) {
            return Err(format!("{} lies in {}", to.display(), from.display()));
        }
        let (from, to) = (from.clone(), to.clone());
        tokio::task::spawn_blocking(move || copy_tree(&from, &to))
            .await
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
    } else {
        tokio::fs::copy(&from, &to).await.map(drop)
    };
    copied.map_err(|error| format!("cannot copy {} to {}: {error}", from.display(), to.display()))
}

fn copy_tree(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_tree(&source, &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(&source)?, &target)?;
        } else {
            std::fs::copy(&source, &target)?;
        }
    }
    std::fs::set_permissions(to, std::fs::metadata(from)?.permissions())
}

pub(super) fn rename(from: &Text, to: &Text) -> std::result::Result<(), String> {
    let (from, to) = (place(from)?, place(to)?);
    if would(|| format!("rename {} to {}", from.display(), to.display())) {
        return Ok(());
    }
    std::fs::rename(&from, &to)
        .map_err(|error| format!("cannot rename {} to {}: {error}", from.display(), to.display()))
}

fn list(path: &Text) -> std::result::Result<Vec<String>, String> {
    let path = place(path)?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&path).map_err(told("list", &path))? {
        let entry = entry.map_err(told("list", &path))?;
        names.push(entry.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// What is known about a path, or about the link itself.
pub(super) fn stat(lua: &Lua, path: &Text, is_link_meant: bool) -> Result<Answer<Table>> {
    use std::os::unix::fs::MetadataExt;
    let looked = place(path).and_then(|path| {
        let look = if is_link_meant { std::fs::symlink_metadata } else { std::fs::metadata };
        look(&path).map(|known| (path.clone(), known)).map_err(told("look at", &path))
    });
    let (path, known) = match looked {
        Ok(looked) => looked,
        Err(why) => return Ok((None, Some(why))),
    };
    let kind = known.file_type();
    let word = match kind {
        kind if kind.is_file() => "file",
        kind if kind.is_dir() => "directory",
        kind if kind.is_symlink() => "link",
        _ => "other",
    };
    let table = lua.create_table()?;
    table.set("path", path.to_string_lossy())?;
    table.set("type", word)?;
    table.set("is_dir", kind.is_dir())?;
    table.set("is_file", kind.is_file())?;
    table.set("is_link", kind.is_symlink())?;
    table.set("size", amount(known.len()))?;
    table.set("mode", format!("{:04o}", known.mode() & 0o7777))?;
    table.set("mtime", known.mtime())?;
    table.set("uid", known.uid())?;
    table.set("gid", known.gid())?;
    Ok((Some(table), None))
}

/// An empty file with a name that nobody has.
pub(super) fn temporary(prefix: &str) -> std::result::Result<String, String> {
    if prefix.contains(['/', '\0']) {
        return Err("the prefix of a temporary name has no `/` in it".to_owned());
    }
    let step = acting();
    let folder = step.env("TMPDIR").unwrap_or_else(|| "/tmp".to_owned());
    let path = Path::new(&folder).join(format!("{prefix}{}", uuid::Uuid::new_v4().simple()));
    if !step.check {
        std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(told("make", &path))?;
    }
    Ok(path.to_string_lossy().into_owned())
}

fn basename(path: &str) -> String {
    match Path::new(path).file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None if path.starts_with('/') => "/".to_owned(),
        None if path.is_empty() => ".".to_owned(),
        None => path.to_owned(),
    }
}

fn dirname(path: &str) -> String {
    let shown = |path: &Path| path.to_string_lossy().into_owned();
    match Path::new(path).parent() {
        Some(parent) if parent.as_os_str().is_empty() => ".".to_owned(),
        Some(parent) => shown(parent),
        None if path.starts_with('/') => "/".to_owned(),
        None => ".".to_owned(),
    }
}
