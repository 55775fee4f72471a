//! `file_ops`: files as they are to be.

use hostler_host::archive::Unpacked;
use hostler_host::files::{self, Block, Directory, File, Kind, Line, Link, LinkKind, Replace};
use hostler_host::{Content, Host, Mode};
use mlua::{MultiValue, Result, Value};
use serde_json::{Value as Json, json};

use super::given::Given;
use super::machine::{Changing, Trouble, asking, changing, host, settle, troubled, wanted};
use super::template;
use crate::modules::{Described, Installer, Module};

/// Templates larger than this are mistakes.
const TEMPLATE_MAX: u64 = 16 << 20;

pub(crate) const MODULE: Module = Module {
    name: "file_ops",
    about: "Files as they are to be. What is so already is left alone and reported as not changed; what changes is told as a diff. Files are replaced as a whole, and keep their owner and mode unless told otherwise. Every function takes its arguments in one table or by position with a table of options at the end.",
    functions: &[
        Described {
            name: "copy",
            signature: "{ src | content, dest, mode, owner, group, follow } | (src, dest[, options]) -> result, result | nil, error",
            about: "Makes a file have the content of another, or the one given. Missing directories above are made. The result has `changed`, `message`, `diff`, `src`, `dest` and `size`.",
            example: "local first = file_ops.copy { content = 'a = 1\\n', dest = 'etc/app.conf', mode = '0600' }\nassert(first.changed)\nlocal ok, again = file_ops.copy('etc/app.conf', 'backup/app.conf', { mode = '0600' })\nassert(ok and again.changed and again.size == 6)\nassert(not file_ops.copy('etc/app.conf', 'backup/app.conf').changed)",
        },
        Described {
            name: "fetch",
            signature: "{ src, dest, mode, owner, group, follow } | (src, dest[, options]) -> result, result | nil, error",
            about: "Copies a file of the machine to another place on it; the same as `copy` with `src`.",
            example: "file_ops.copy { content = 'x', dest = 'a' }\nassert(file_ops.fetch { src = 'a', dest = 'kept/a' }.changed)",
        },
        Described {
            name: "template",
            signature: "{ src | content, dest, vars, mode, owner, group, follow } | (src, dest, vars) -> result, result | nil, error",
            about: "Makes a file from a template with `{{ .name }}`, `{{ .a.b }}`, `if`, `else`, `range`, `with`, `end`, and the pipes `default`, `upper`, `lower`, `quote`, `join` and others. A name without a value is an error.",
            example: "file_ops.copy { content = 'port {{ .port }}{{ range .hosts }}\\nhost {{ . | upper }}{{ end }}\\n', dest = 'app.tmpl' }\nlocal r = file_ops.template('app.tmpl', 'app.conf', { port = 80, hosts = { 'a', 'b' } })\nassert(r.changed)\nassert(exec.run('cat app.conf').stdout == 'port 80\\nhost A\\nhost B\\n')",
        },
        Described {
            name: "lineinfile",
            signature: "{ path, line, state, regexp, insert_after, insert_before, create, follow } | (path, line[, options]) -> result, result | nil, error",
            about: "Makes a line be in a file, in place of the last one that fits `regexp` where there is one; `state = 'absent'` takes out what is the line or fits.",
            example: "local r = file_ops.lineinfile { path = 'hosts', line = '10.0.0.1 api', create = true }\nassert(r.changed)\nassert(not file_ops.lineinfile('hosts', '10.0.0.1 api').changed)\nassert(file_ops.lineinfile('hosts', '10.0.0.2 api', { regexp = ' api$' }).changed)",
        },
        Described {
            name: "blockinfile",
            signature: "{ path, block, state, marker_begin, marker_end, create, follow } | (path, block[, options]) -> result, result | nil, error",
            about: "Makes lines be in a file between two markers; `state = 'absent'` takes them out with the markers.",
            example: "local r = file_ops.blockinfile { path = 'conf', block = 'a\\nb', create = true }\nassert(r.changed)\nassert(not file_ops.blockinfile('conf', 'a\\nb').changed)\nassert(file_ops.blockinfile { path = 'conf', state = 'absent' }.changed)",
        },
        Described {
            name: "replace",
            signature: "{ path, pattern, replacement, follow } | (path, pattern, replacement[, options]) -> result, result | nil, error",
            about: "Replaces whatever fits a regular expression; `$1` in the replacement is what its first group matched.",
            example: "file_ops.copy { content = 'version=1.2\\n', dest = 'v' }\nassert(file_ops.replace('v', 'version=(\\\\d+)\\\\.\\\\d+', 'version=$1.9').changed)\nassert(exec.run('cat v').stdout == 'version=1.9\\n')",
        },
        Described {
            name: "unarchive",
            signature: "{ src, dest, owner, group } | (src, dest[, options]) -> result, result | nil, error",
            about: "Unpacks a zip or tar archive (plain or with gzip) into a directory. An archive that would write outside of it is refused as a whole.",
            example: "exec.run('mkdir in && echo x > in/f && tar czf a.tgz in')\nassert(file_ops.unarchive { src = 'a.tgz', dest = 'out' }.changed)\nassert(not file_ops.unarchive('a.tgz', 'out').changed)\nassert(file_ops.stat('out/in/f').is_file)",
        },
        Described {
            name: "stat",
            signature: "{ path, follow, checksum } | (path) -> facts, facts | nil, error",
            about: "What is at a path: `exists`, `path`, `size`, `mode`, `is_dir`, `is_directory`, `is_file`, `is_link`, `target`, `mtime`, `uid`, `gid`, `owner`, `group`, and the SHA-256 of a file as `checksum` unless `checksum = false`.",
            example: "local s = file_ops.stat { path = '.' }\nassert(s.exists and s.is_dir)\nassert(not file_ops.stat('nothing').exists)",
        },
        Described {
            name: "file",
            signature: "{ path, state, content, mode, owner, group, follow } | (path[, options]) -> result, result | nil, error",
            about: "Makes a file be there, with a content where one is given; `state = 'absent'` removes it.",
            example: "assert(file_ops.file { path = 'f', mode = '0640' }.changed)\nassert(not file_ops.file('f', { mode = 640 }).changed)\nassert(file_ops.file { path = 'f', state = 'absent' }.changed)",
        },
        Described {
            name: "directory",
            signature: "{ path, state, mode, owner, group, follow, recursive } | (path[, options]) -> result, result | nil, error",
            about: "Makes a directory be there, with those above; `state = 'absent'` removes it, with all that is in it only where `recursive = true`.",
            example: "assert(file_ops.directory { path = 'a/b', mode = '0750' }.changed)\nassert(file_ops.directory { path = 'a', state = 'absent', recursive = true }.changed)",
        },
        Described {
            name: "link",
            signature: "{ path, target, state, hard, force } | (path, target[, options]) -> result, result | nil, error",
            about: "Makes a symbolic link (or with `hard = true` a second name of a file) be there; a plain file in its place is replaced only with `force = true`.",
            example: "assert(file_ops.link('current', 'releases/7').changed)\nassert(file_ops.stat('current').target == 'releases/7')\nassert(file_ops.link { path = 'current', state = 'absent' }.changed)",
        },
    ],
    install,
};

fn install(module: &mut Installer<'_>) -> Result<()> {
    changing(module, "copy", "src dest; content mode owner group follow", copy)?;
    changing(module, "fetch", "src dest; mode owner group follow", copy)?;
    changing(
        module,
        "lineinfile",
        "path line; state regexp insert_after insert_before create follow",
        line,
    )?;
    changing(
        module,
        "blockinfile",
        "path block; state marker_begin marker_end create follow",
        block,
    )?;
    changing(module, "replace", "path pattern replacement; follow", replace)?;
    changing(module, "unarchive", "src dest; owner group", unarchive)?;
    changing(module, "file", "path; state content mode owner group follow", file)?;
    changing(module, "directory", "path; state mode owner group follow recursive", directory)?;
    changing(module, "link", "path target; state hard force", link)?;
    asking(module, "stat", "path; follow checksum", stat)?;
    module.act_async("template", |lua, args: MultiValue| async move {
        let given = Given::read("file_ops.template".into(), TEMPLATE, with_vars(&lua, args)?)?;
        let host = host();
        match render(given, &host).await {
            Ok(changing) => settle(&lua, &host, changing).await,
            Err(trouble) => troubled(&lua, trouble),
        }
    })
}

const TEMPLATE: &str = "src dest; content vars mode owner group follow";

/// By position, the third argument is the values themselves, unless they are called `vars` in it.
fn with_vars(lua: &mlua::Lua, args: MultiValue) -> Result<MultiValue> {
    let mut args: Vec<Value> = args.into_iter().collect();
    if let (Some(Value::String(_)), Some(Value::Table(third))) = (args.first(), args.get(2))
        && !third.contains_key("vars")?
    {
        let options = lua.create_table()?;
        options.set("vars", third)?;
        args[2] = Value::Table(options);
    }
    Ok(MultiValue::from_vec(args))
}

pub(super) fn is_present(given: &Given) -> Result<bool> {
    let state = given.word("state", &["present", "absent"])?;
    Ok(state != Some("absent"))
}

fn mode(given: &Given) -> std::result::Result<Option<Mode>, Trouble> {
    Ok(given.maybe("mode")?.map(|mode| mode.parse()).transpose()?)
}

fn content(given: &Given) -> Result<Option<Content>> {
    match given.value("content") {
        Value::String(bytes) => Ok(Some(Content(bytes.as_bytes().to_vec()))),
        _ => Ok(given.maybe("content")?.map(|text| Content(text.into_bytes()))),
    }
}

/// A file with what is told about its owner and mode.
fn described(given: &Given, path: &str) -> std::result::Result<File, Trouble> {
    Ok(File {
        mode: mode(given)?,
        owner: given.maybe("owner")?,
        group: given.maybe("group")?,
        follow: given.is("follow")?,
        ..File::new(given.path(path)?)
    })
}

async fn copy(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let mut file = described(&given, "dest")?;
    file.content = content(&given)?;
    if file.content.is_none() {
        file.from = Some(given.path("src")?);
    } else if given.has("src") {
        return Err(given.misuse("has both `src` and `content`; keep one").into());
    }
    let size = match (&file.content, &file.from) {
        (Some(content), _) => Json::from(content.0.len()),
        (None, Some(from)) => files::stat(&host, from, true, false)
            .await?
            .map_or(Json::Null, |found| found.size.into()),
        (None, None) => Json::Null,
    };
    let changing = wanted(&host, true, &file).await?;
    let src = given.maybe("src")?.map_or(Json::Null, Json::String);
    Ok(changing.with("src", src).with("dest", given.text("dest")?).with("size", size))
}

async fn render(given: Given, host: &Host) -> std::result::Result<Changing, Trouble> {
    let text = match content(&given)? {
        Some(content) => content.0,
        None => files::read(host, &given.path("src")?, TEMPLATE_MAX).await?,
    };
    let name = given.maybe("src")?.unwrap_or_else(|| "the template".to_owned());
    let text =
        String::from_utf8(text).map_err(|_| Trouble::new(format!("{name} is not UTF-8 text")))?;
    let made = template::render(&text, &Json::Object(given.map("vars")?))
        .map_err(|problem| Trouble::new(format!("{name}: {problem}")))?;
    let mut file = described(&given, "dest")?;
    let size = made.len();
    file.content = Some(Content(made.into_bytes()));
    let changing = wanted(host, true, &file).await?;
    let src = given.maybe("src")?.map_or(Json::Null, Json::String);
    Ok(changing.with("src", src).with("dest", given.text("dest")?).with("size", size))
}

async fn line(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let line = Line {
        path: given.path("path")?,
        line: given.maybe("line")?,
        regexp: given.maybe("regexp")?,
        insert_after: given.maybe("insert_after")?,
        insert_before: given.maybe("insert_before")?,
        create: given.is("create")?,
        follow: given.is("follow")?,
    };
    wanted(&host, is_present(&given)?, &line).await
}

async fn block(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let is_present = is_present(&given)?;
    let text = if is_present { given.text("block")? } else { String::new() };
    let mut block = Block::new(given.path("path")?, text);
    block.create = given.is("create")?;
    block.follow = given.is("follow")?;
    if let Some(marker) = given.maybe("marker_begin")? {
        block.marker_begin = marker;
    }
    if let Some(marker) = given.maybe("marker_end")? {
        block.marker_end = marker;
    }
    wanted(&host, is_present, &block).await
}

async fn replace(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let mut replace =
        Replace::new(given.path("path")?, given.text("pattern")?, given.text("replacement")?);
    replace.follow = given.is("follow")?;
    wanted(&host, true, &replace).await
}

async fn unarchive(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let mut unpacked = Unpacked::new(given.path("src")?, given.path("dest")?);
    unpacked.owner = given.maybe("owner")?;
    unpacked.group = given.maybe("group")?;
    let changing = wanted(&host, true, &unpacked).await?;
    Ok(changing.with("src", given.text("src")?).with("dest", given.text("dest")?))
}

async fn file(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let mut file = described(&given, "path")?;
    file.content = content(&given)?;
    wanted(&host, is_present(&given)?, &file).await
}

async fn directory(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let directory = Directory {
        mode: mode(&given)?,
        owner: given.maybe("owner")?,
        group: given.maybe("group")?,
        follow: given.is("follow")?,
        recursive: given.is("recursive")?,
        ..Directory::new(given.path("path")?)
    };
    wanted(&host, is_present(&given)?, &directory).await
}

async fn link(given: Given, host: Host) -> std::result::Result<Changing, Trouble> {
    let (is_present, is_hard) = (is_present(&given)?, given.is("hard")?);
    let target = match (is_present, is_hard) {
        (true, true) => given.path("target")?,
        (true, false) => given.text("target")?.into(),
        (false, _) => given.maybe("target")?.unwrap_or_default().into(),
    };
    let kind = if is_hard { LinkKind::Hard } else { LinkKind::Symbolic };
    let link = Link { path: given.path("path")?, target, kind, force: given.is("force")? };
    wanted(&host, is_present, &link).await
}

async fn stat(given: Given, host: Host) -> std::result::Result<Vec<Json>, Trouble> {
    let path = given.path("path")?;
    let with_checksum = given.flag("checksum")?.unwrap_or(true);
    let found = files::stat(&host, &path, given.is("follow")?, with_checksum).await?;
    let facts = match found {
        None => {
            json!({ "exists": false, "path": path, "is_dir": false, "is_directory": false, "is_file": false, "is_link": false })
        }
        Some(found) => json!({
            "exists": true,
            "path": path,
            "size": found.size,
            "mode": found.mode,
            "is_dir": found.kind == Kind::Directory,
            "is_directory": found.kind == Kind::Directory,
            "is_file": found.kind == Kind::File,
            "is_link": found.kind == Kind::Link,
            "target": found.target,
            "mtime": found.time_modified,
            "checksum": found.checksum,
            "uid": found.uid,
            "gid": found.gid,
            "owner": found.owner,
            "group": found.group,
        }),
    };
    Ok(vec![facts.clone(), facts])
}
