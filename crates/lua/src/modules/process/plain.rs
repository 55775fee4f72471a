//! Lines for the shell that need none.
//!
//! `make -j2 app` means the same to `/bin/sh` as to whoever cuts it at its spaces, and a shell would only start what is
//! started anyway. So such a line is started directly, as make does it. That must make no difference that anybody can
//! see: a line counts as plain only when every character in it is known to mean nothing to a shell, when its first word
//! is none of the words that some shell has in itself, and when a program of that name is found. Everything else is left
//! to the shell and its messages: a name that is not found, too, and what is found and cannot be started. What a shell
//! would tell its child, it is told: `PWD` is where it runs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Words that mean something to `dash`, `bash` or `ash` themselves.
const SHELLS_OWN: &[&str] = &[
    ".",
    ":",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "login",
    "logout",
    "mapfile",
    "newgrp",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
];
/// Those that do what the program does, when they are alone.
const ALIKE: &[&str] = &["false", "true"];
/// Variables that change how a shell reads a line.
const SHELLS_VARIABLES: &[&str] = &["BASHOPTS", "BASH_ENV", "ENV", "SHELLOPTS"];

type Environment = [(OsString, OsString)];

/// The words of a line that means the same without a shell.
pub(super) fn words(line: &str) -> Option<Vec<OsString>> {
    let is_first = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./+,:@".contains(&byte);
    let is_other = |byte: u8| is_first(byte) || b"=%".contains(&byte);
    let words: Vec<&str> = line.split([' ', '\t']).filter(|word| !word.is_empty()).collect();
    let (first, rest) = words.split_first()?;
    let is_plain = first.bytes().all(is_first)
        && !first.starts_with('-')
        && rest.iter().all(|word| word.bytes().all(is_other));
    let is_own = SHELLS_OWN.contains(first) || ALIKE.contains(first) && !rest.is_empty();
    (is_plain && !is_own).then(|| words.into_iter().map(Into::into).collect())
}

/// Whether a shell in this environment does something before it reads its line, or reads it in its own way.
pub(super) fn is_changed(environment: &Environment) -> bool {
    environment.iter().any(|(name, _)| {
        let is_function = name.as_bytes().starts_with(b"BASH_FUNC_");
        is_function || SHELLS_VARIABLES.iter().any(|known| name == *known)
    })
}

/// The program that a name stands for in a directory and an environment.
pub(super) fn found(name: &OsStr, workdir: &Path, environment: &Environment) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return is_program(&workdir.join(name)).then(|| PathBuf::from(name));
    }
    for place in std::env::split_paths(variable(environment, "PATH")?) {
        let path = place.join(name);
        if !place.is_absolute() {
            return None;
        }
        if is_program(&path) {
            return Some(path);
        }
    }
    None
}

/// What a shell in a directory says where it is; nothing when the environment says it already.
pub(super) fn whereabouts(workdir: &Path, environment: &Environment) -> Option<PathBuf> {
    let said = variable(environment, "PWD").map(Path::new).filter(|said| said.is_absolute());
    match said {
        Some(said) if said == workdir || is_same(said, workdir) => None,
        _ => std::fs::canonicalize(workdir).ok(),
    }
}

fn variable<'a>(environment: &'a Environment, name: &str) -> Option<&'a OsStr> {
    environment.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_os_str())
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

fn is_same(one: &Path, other: &Path) -> bool {
    match (std::fs::metadata(one), std::fs::metadata(other)) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_lines_are_cut_at_their_spaces() {
        for (line, count) in [
            ("true", 1),
            ("  make\t-j2  app ", 3),
            ("/usr/bin/env -i A=b ./tool --x=1,2", 5),
            ("date +%s", 2),
            ("python3.11 -m http.server", 3),
        ] {
            assert_eq!(words(line).map(|words| words.len()), Some(count), "{line}");
        }
    }

    #[test]
    fn what_means_something_to_a_shell_is_left_to_it() {
        for line in [
            "",
            "  ",
            "cd src",
            "exit 3",
            "echo hi",
            "true x",
            "time make",
            "A=b make",
            "-x",
            "a; b",
            "a && b",
            "a | b",
            "a > b",
            "a < b",
            "a $B",
            "a `b`",
            "a 'b'",
            "a \"b\"",
            "a *",
            "a ?",
            "a [b]",
            "a {b,c}",
            "a ~",
            "a #b",
            "! a",
            "a\nb",
            "a\\b",
            "a (b)",
            "ä",
            "%1",
            ".",
            ": x",
            "a\r",
        ] {
            assert_eq!(words(line), None, "{line:?}");
        }
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, mode: u32| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "").unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
            path
        };
        place("one/tool", 0o644);
        let second = place("two/tool", 0o755);
        let path = |value: String| vec![(OsString::from("PATH"), OsString::from(value))];
        let root = folder.path().display();
        let both = path(format!("{root}/none:{root}/one:{root}/two"));
        let name = OsStr::new("tool");
        assert_eq!(found(name, folder.path(), &both), Some(second));
        assert_eq!(found(name, folder.path(), &path(format!(".:{root}/two"))), None);
        assert_eq!(found(name, folder.path(), &[]), None);
        assert_eq!(found(OsStr::new("one/tool"), folder.path(), &both), None);
        assert!(found(OsStr::new("two/tool"), folder.path(), &both).is_some());
    }
}
