//! Names for machines, where OpenSSH looks for them: `~/.ssh/config`.
//!
//! Each is a `Host` between two lines that mark it as ours; what stands outside such lines is never touched.

use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mlua::{Lua, MultiValue, Result};

use super::super::super::{Installer, acting};
use super::super::arguments::Arguments;
use super::super::tool::{one, planned, refused, settled};

/// A name, and what it stands for: the words of OpenSSH and ours.
const FIELDS: [(&str, &str); 4] =
    [("HostName", "host"), ("User", "user"), ("Port", "port"), ("IdentityFile", "key_path")];

fn begin(name: &str) -> String {
    format!("# hostler: {name}")
}
const END: &str = "# hostler: end";

pub(super) fn install(ssh: &mut Installer<'_>) -> Result<()> {
    ssh.act_async("add", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.ssh.add", args, &["name", "host"])?;
        let name = args.required(&["name"])?;
        args.required(&["host", "ssh_host"])?;
        let mut block = vec![begin(&name), format!("Host {name}")];
        for (word, field) in FIELDS {
            let other = format!("ssh_{}", if field == "key_path" { "key" } else { field });
            if let Some(value) = args.any(&[field, &other])? {
                let value = if value.contains(' ') { format!("\"{value}\"") } else { value };
                block.push(format!("    {word} {value}"));
            }
        }
        block.push(END.to_owned());
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if name.starts_with('-') || !name.chars().all(is_plain) {
            return Err(args.mistake("a name is made of letters, digits, `-`, `_` and `.`"));
        }
        if block.iter().any(|line| line.contains(['\n', '\r'])) {
            return Err(args.mistake("a value is one line"));
        }
        changed(&lua, &name, Some(&block))
    })?;
    ssh.act_async("remove", |lua, args: MultiValue| async move {
        let args = Arguments::read(&lua, "sloth.ssh.remove", args, &["name"])?;
        changed(&lua, &args.required(&["name"])?, None)
    })?;
    ssh.act("list", |lua, _: MultiValue| {
        let text = match read(&place()) {
            Ok(text) => text,
            Err(why) => return refused(lua, &why),
        };
        let list = lua.create_table()?;
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(name) = line.strip_prefix("# hostler: ").filter(|_| line != END) else {
                continue;
            };
            let profile = lua.create_table()?;
            profile.raw_set("name", name)?;
            for line in lines.by_ref().take_while(|line| *line != END) {
                let (word, value) = line.trim().split_once(' ').unwrap_or_default();
                if let Some((_, field)) = FIELDS.iter().find(|(known, _)| *known == word) {
                    let value = value.trim_matches('"');
                    match value.parse::<u16>() {
                        Ok(port) if *field == "port" => profile.raw_set(*field, port)?,
                        _ => profile.raw_set(*field, value)?,
                    }
                }
            }
            list.raw_push(profile)?;
        }
        one(lua, list)
    })
}

fn place() -> PathBuf {
    let path = acting().path("~/.ssh/config");
    path.canonicalize().unwrap_or(path)
}

fn read(path: &Path) -> std::result::Result<String, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}

/// The text with a name as it is to be: in its place, at the end, or nowhere.
fn edited(text: &str, name: &str, block: Option<&[String]>) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_there = false;
    let mut old = text.lines();
    while let Some(line) = old.next() {
        if line != begin(name) {
            lines.push(line.to_owned());
            continue;
        }
        old.by_ref().find(|line| *line == END);
        if let Some(block) = block.filter(|_| !is_there) {
            lines.extend_from_slice(block);
        }
        is_there = true;
    }
    if let Some(block) = block.filter(|_| !is_there) {
        if lines.last().is_some_and(|line| !line.is_empty()) {
            lines.push(String::new());
        }
        lines.extend_from_slice(block);
    }
    lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect()
}

fn changed(lua: &Lua, name: &str, block: Option<&[String]>) -> Result<MultiValue> {
    let path = place();
    let before = match read(&path) {
        Ok(text) => text,
        Err(why) => return refused(lua, &why),
    };
    let after = edited(&before, name, block);
    if after == before || before.is_empty() && block.is_none() {
        return one(lua, settled(lua, false, &format!("{} says so already", path.display()))?);
    }
    if acting().check {
        let message = format!("would write {name} in {}", path.display());
        acting().say(&message);
        return one(lua, planned(lua, &message)?);
    }
    match write(&path, &after) {
        Ok(()) => one(lua, settled(lua, true, &format!("wrote {}", path.display()))?),
        Err(error) => refused(lua, &format!("{} could not be written: {error}", path.display())),
    }
}

/// Nobody else may read it, and nobody sees half of it.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    if !folder.exists() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let aside = folder.join(format!(".config.{}", uuid::Uuid::new_v4()));
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(&aside)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&aside, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_wrote_stays() {
        let block =
            |port: &str| vec![begin("web"), "Host web".to_owned(), port.to_owned(), END.to_owned()];
        let own = "Host other\n    User bea\n";
        let with = edited(own, "web", Some(&block("    Port 1")));
        assert_eq!(with, format!("{own}\n# hostler: web\nHost web\n    Port 1\n{END}\n"));
        assert_eq!(edited(&with, "web", Some(&block("    Port 1"))), with);
        let more = format!("{with}Host third\n");
        assert!(
            edited(&more, "web", Some(&block("    Port 2")))
                .ends_with("Port 2\n# hostler: end\nHost third\n")
        );
        assert_eq!(edited(&with, "web", None), format!("{own}\n"));
        assert_eq!(edited(own, "web", None), own);
    }
}
