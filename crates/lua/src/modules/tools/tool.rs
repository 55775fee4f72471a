//! Other people's programs: finding one on the path of the step, running it, and what came of it.
//!
//! A program is started with words, never with a line for a shell. Where it is not installed the answer says so and
//! what to do. What changes something is only told in check mode.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mlua::{IntoLua, Lua, MultiValue, Result, Table, Value};

use super::super::{Acting, Ended, Order, acting, as_text, exec};

/// A program that a module drives.
pub(super) struct Program {
    pub name: &'static str,
    /// How it comes onto a machine.
    pub hint: &'static str,
    /// The variable of the step that may name another one.
    pub variable: Option<&'static str>,
}

impl Program {
    pub const fn new(name: &'static str, hint: &'static str) -> Program {
        Program { name, hint, variable: None }
    }

    /// What it is called on behalf of a step.
    pub fn called(&self, step: &Acting) -> String {
        self.variable
            .and_then(|variable| step.env(variable))
            .filter(|name| !name.is_empty())
            .unwrap_or_else(|| self.name.to_owned())
    }
}

/// Where a program is, for a step.
pub(super) fn find(step: &Acting, name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(step.path(name)).filter(|path| is_program(path));
    }
    let path = step.env("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| step.workdir.join(folder).join(name))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// A program with its words, on behalf of the step that runs.
pub(super) struct Call {
    pub program: &'static Program,
    /// Where the program is, when it is none of the path.
    pub path: Option<PathBuf>,
    pub words: Vec<String>,
    pub workdir: PathBuf,
    pub environment: BTreeMap<String, String>,
    pub input: Option<Vec<u8>>,
    pub timeout: Option<Duration>,
}

impl Call {
    pub fn new<W: Into<String>>(
        program: &'static Program,
        words: impl IntoIterator<Item = W>,
    ) -> Call {
        let step = acting();
        Call {
            program,
            path: None,
            words: words.into_iter().map(Into::into).collect(),
            workdir: step.workdir.clone(),
            environment: step.environment.clone(),
            input: None,
            timeout: None,
        }
    }

    pub fn at(mut self, workdir: impl Into<PathBuf>) -> Call {
        self.workdir = workdir.into();
        self
    }

    /// Goes into a virtual environment, as `activate` does.
    pub fn enter(&mut self, venv: &Path) {
        let path = self.environment.get("PATH").cloned().unwrap_or_default();
        let path = format!("{}:{path}", venv.join("bin").display());
        self.environment.insert("PATH".to_owned(), path);
        self.environment.insert("VIRTUAL_ENV".to_owned(), venv.to_string_lossy().into_owned());
        self.environment.remove("PYTHONHOME");
    }

    /// As one would type it.
    pub fn line(&self) -> String {
        let words = std::iter::once(self.program.name).chain(self.words.iter().map(String::as_str));
        words.map(quoted).collect::<Vec<_>>().join(" ")
    }

    /// Runs it; an error says why it could not be started.
    pub async fn run(self) -> std::result::Result<Ended, String> {
        let step = acting();
        let name = self.program.called(&step);
        let found = match self.path {
            Some(path) => Some(path).filter(|path| is_program(path)),
            None => find(&step, &name),
        };
        let Some(path) = found else {
            return Err(format!("{name} is not installed here; {}", self.program.hint));
        };
        let words = self.words.into_iter().map(Into::into);
        let pairs = self.environment.into_iter().map(|(name, value)| (name.into(), value.into()));
        let order = Order {
            program: std::iter::once(path.into()).chain(words).collect(),
            workdir: self.workdir,
            environment: pairs.collect(),
            input: self.input,
            timeout: self.timeout,
            echo: None,
            linger: None,
        };
        let workdir = order.workdir.clone();
        order.run().await.map_err(|error| {
            if workdir.is_dir() {
                format!("{name} could not be started: {error}")
            } else {
                format!("{name} could not be started: there is no directory {}", workdir.display())
            }
        })
    }

    /// Runs it and gives what it printed; an error is one of it, too.
    pub async fn text(self) -> std::result::Result<String, String> {
        let program = self.program;
        let ended = self.run().await?;
        if ended.is_success() { Ok(stdout(&ended)) } else { Err(failure(program, &ended)) }
    }
}

pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./:,@%+{}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// The words of a line, with quotes as a shell has them and nothing else of a shell.
pub(super) fn split(line: &str) -> std::result::Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match characters.next() {
                        None => return Err(format!("a quote has no end: {line}")),
                        Some(next) if next == c => break,
                        Some('\\') if c == '"' => word.extend(characters.next()),
                        Some(next) => word.push(next),
                    }
                }
            }
            '\\' => word.get_or_insert_default().extend(characters.next()),
            c if c.is_whitespace() => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

/// What it printed, without the end of the last line.
pub(super) fn stdout(ended: &Ended) -> String {
    String::from_utf8_lossy(&ended.stdout).trim_end_matches(['\n', '\r']).to_owned()
}

/// What went wrong, in the program's own words where it has some.
pub(super) fn failure(program: &Program, ended: &Ended) -> String {
    if ended.is_timeout {
        return format!("{} took longer than it may", program.name);
    }
    let said = [&ended.stderr, &ended.stdout]
        .into_iter()
        .map(|bytes| String::from_utf8_lossy(bytes).trim().to_owned())
        .find(|text| !text.is_empty());
    match said {
        Some(text) => format!("{} ended with {}: {text}", program.name, ended.code()),
        None => format!("{} ended with {}", program.name, ended.code()),
    }
}

/// The end of a program as Lua sees it.
pub(super) fn result(lua: &Lua, program: &Program, ended: &Ended) -> Result<Table> {
    let table = exec::result(lua, ended)?;
    if !ended.is_success() {
        let error = failure(program, ended);
        table.raw_set("error", error.as_str())?;
        table.raw_set("message", error)?;
    }
    Ok(table)
}

/// What would be run, as a result.
pub(super) fn would(lua: &Lua, call: &Call) -> Result<Table> {
    let line = call.line();
    let table = planned(lua, &format!("would run: {line}"))?;
    table.raw_set("command", line)?;
    let argv = std::iter::once(call.program.name).chain(call.words.iter().map(String::as_str));
    table.raw_set("argv", lua.create_sequence_from(argv)?)?;
    Ok(table)
}

/// A result of what was not done.
pub(super) fn planned(lua: &Lua, message: &str) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("success", true)?;
    table.raw_set("changed", true)?;
    table.raw_set("check", true)?;
    table.raw_set("message", message)?;
    for name in ["stdout", "output", "stderr"] {
        table.raw_set(name, "")?;
    }
    for name in ["exit_code", "code"] {
        table.raw_set(name, 0)?;
    }
    as_text(lua, &table, "message")?;
    Ok(table)
}

/// A result of what was made so: whether it changed something, and what to say of it.
pub(super) fn settled(lua: &Lua, changed: bool, message: &str) -> Result<Table> {
    let table = lua.create_table()?;
    table.raw_set("success", true)?;
    table.raw_set("changed", changed)?;
    table.raw_set("message", message)?;
    table.raw_set("output", message)?;
    as_text(lua, &table, "message")?;
    Ok(table)
}

/// One value.
pub(super) fn one(lua: &Lua, value: impl IntoLua) -> Result<MultiValue> {
    Ok(MultiValue::from_vec(vec![value.into_lua(lua)?]))
}

/// Two values.
pub(super) fn two(lua: &Lua, a: impl IntoLua, b: impl IntoLua) -> Result<MultiValue> {
    Ok(MultiValue::from_vec(vec![a.into_lua(lua)?, b.into_lua(lua)?]))
}

/// Nothing, and why.
pub(super) fn refused(lua: &Lua, why: &str) -> Result<MultiValue> {
    two(lua, Value::Nil, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_as_a_shell_would() {
        for (line, expected) in [
            ("install -r a.txt", vec!["install", "-r", "a.txt"]),
            ("  a  'b c' \"d \\\" e\" f\\ g ''", vec!["a", "b c", "d \" e", "f g", ""]),
            ("$HOME; rm", vec!["$HOME;", "rm"]),
        ] {
            assert_eq!(split(line).unwrap(), expected, "{line}");
        }
        assert!(split("a 'b").is_err());
    }
}
