//! Usage lines: how the arguments of a function become the words of a program, as data.
//!
//! A line reads like the first line of a manual page:
//!
//! ```text
//! delete {kind} {name} [--namespace {namespace}] [--force] [detach? -d] [-e {env=}] -- {command$}
//! ```
//!
//! `{x}` is an argument that must be there; `{a/b}` goes by either name; `{x:text}` has a default; `{x|text}` is the
//! text where the argument is `true`. A group in brackets is there when its argument is; `[--dry-run]` when `dry_run`
//! is true, `[detach? -d]` when `detach` is, `[refresh~ -refresh=false]` when `refresh` was said to be false; `[yes? ]`
//! is accepted and adds nothing. What stands behind the name says how a value becomes words: `...` one word for each,
//! `*` the whole group for each, `=` the group for each pair as `key=value`, `#` the same with tables in tables as
//! `a.b=value`, `,` all in one word, `@` as JSON, `~` a path in which `~/` is the home of the step, `$` a list as it is
//! and a text as a line for the shell. Quotes keep a word literal.
//!
//! A value that stands alone may not begin with a dash, because the program would take it for an option; behind `--`
//! it may.

use mlua::{Result, Value};
use serde_json::Value as Json;

use super::super::acting;
use crate::value::{text, to_json};

/// A line that was read.
pub(super) struct Usage {
    pieces: Vec<Piece>,
}

enum Piece {
    Word(Word),
    Group { when: When, words: Vec<Word> },
}

/// What makes a group be there.
enum When {
    True(String),
    False(String),
    Given,
}

struct Word {
    before: &'static str,
    slot: Option<Slot>,
    /// What follows the slot in the same word.
    after: Option<Box<Word>>,
}

impl Word {
    fn slots(&self) -> Vec<&Slot> {
        let after = self.after.iter().flat_map(|after| after.slots());
        self.slot.iter().chain(after).collect()
    }
}

struct Slot {
    names: Vec<&'static str>,
    kind: Kind,
    default: Option<&'static str>,
    when_true: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    One,
    Spread,
    Each,
    Pairs,
    Flat,
    Joined,
    Json,
    Path,
    Shell,
}

/// Where values come from.
pub(super) trait Source {
    fn value(&self, name: &str) -> Result<Value>;
}

/// Why there are no words.
#[derive(Debug)]
pub(super) enum Unfit {
    Missing(&'static str),
    Dash(&'static str, String),
    Lua(mlua::Error),
}

type Filled<T> = std::result::Result<T, Unfit>;

impl From<mlua::Error> for Unfit {
    fn from(error: mlua::Error) -> Unfit {
        Unfit::Lua(error)
    }
}

impl Usage {
    pub fn read(line: &'static str) -> std::result::Result<Usage, String> {
        let mut pieces = Vec::new();
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            if let Some(inner) = rest.strip_prefix('[') {
                let end = inner.find(']').ok_or_else(|| format!("a group has no end: {line}"))?;
                pieces.push(group(&inner[..end])?);
                rest = inner[end + 1..].trim_start();
            } else {
                let (word, after) = next_word(rest)?;
                pieces.push(Piece::Word(word));
                rest = after;
            }
        }
        Ok(Usage { pieces })
    }

    /// Every name that the line speaks of.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Word(word) => {
                    names.extend(word.slots().into_iter().flat_map(|slot| &slot.names));
                }
                Piece::Group { when, words } => {
                    if let When::True(name) | When::False(name) = when {
                        names.push(name.as_str());
                    }
                    let slots = words.iter().flat_map(Word::slots);
                    names.extend(slots.flat_map(|slot| &slot.names));
                }
            }
        }
        names
    }

    /// The arguments that must be there, in their order: those without a name of their own in a call.
    pub fn required(&self) -> Vec<&'static str> {
        let slots = self.pieces.iter().flat_map(|piece| match piece {
            Piece::Word(word) => word.slots(),
            Piece::Group { .. } => Vec::new(),
        });
        let mut names: Vec<&'static str> = Vec::new();
        for slot in slots.filter(|slot| slot.default.is_none()) {
            if !names.contains(&slot.names[0]) {
                names.push(slot.names[0]);
            }
        }
        names
    }

    /// Whether an argument may be a table with names in it, so that such a table is not the table of options.
    pub fn takes_table(&self, name: &str) -> bool {
        self.pieces.iter().any(|piece| match piece {
            Piece::Word(Word { slot: Some(slot), .. }) => {
                slot.names.contains(&name)
                    && matches!(slot.kind, Kind::Pairs | Kind::Flat | Kind::Json)
            }
            _ => false,
        })
    }

    pub fn fill(&self, source: &dyn Source) -> Filled<Vec<String>> {
        let mut words = Words::default();
        for piece in &self.pieces {
            match piece {
                Piece::Word(word) => words.required(word, source)?,
                Piece::Group { when, words: group } => words.group(when, group, source)?,
            }
        }
        Ok(words.all)
    }
}

fn group(inner: &'static str) -> std::result::Result<Piece, String> {
    let (mark, body) = match inner.split_once(' ') {
        Some((first, body)) if first.ends_with(['?', '~']) => (Some(first), body),
        _ => (None, inner),
    };
    let mut words = Vec::new();
    let mut rest = body.trim_start();
    while !rest.is_empty() {
        let (word, after) = next_word(rest)?;
        words.push(word);
        rest = after;
    }
    let when = match mark {
        Some(mark) if mark.ends_with('?') => When::True(mark.trim_end_matches('?').to_owned()),
        Some(mark) => When::False(mark.trim_end_matches('~').to_owned()),
        None if words.iter().any(|word| word.slot.is_some()) => When::Given,
        None => When::True(body.trim().trim_start_matches('-').replace('-', "_")),
    };
    Ok(Piece::Group { when, words })
}

fn next_word(line: &'static str) -> std::result::Result<(Word, &'static str), String> {
    if let Some(quoted) = line.strip_prefix('\'') {
        let end = quoted.find('\'').ok_or_else(|| format!("a quote has no end: {line}"))?;
        let word = Word { before: &quoted[..end], slot: None, after: None };
        return Ok((word, quoted[end + 1..].trim_start()));
    }
    let end = line.find(' ').unwrap_or(line.len());
    let (word, rest) = (&line[..end], line[end..].trim_start());
    Ok((parts(word)?, rest))
}

fn parts(word: &'static str) -> std::result::Result<Word, String> {
    let Some((before, tail)) = word.split_once('{') else {
        return Ok(Word { before: word, slot: None, after: None });
    };
    let (inner, after) =
        tail.split_once('}').ok_or_else(|| format!("an argument has no end: {word}"))?;
    let after = if after.is_empty() { None } else { Some(Box::new(parts(after)?)) };
    Ok(Word { before, slot: Some(slot(inner)), after })
}

fn slot(inner: &'static str) -> Slot {
    let (inner, default) = match inner.split_once(':') {
        Some((inner, default)) => (inner, Some(default)),
        None => (inner, None),
    };
    let (inner, when_true) = match inner.split_once('|') {
        Some((inner, text)) => (inner, Some(text)),
        None => (inner, None),
    };
    let kinds = [
        ("...", Kind::Spread),
        ("*", Kind::Each),
        ("=", Kind::Pairs),
        ("#", Kind::Flat),
        (",", Kind::Joined),
        ("@", Kind::Json),
        ("~", Kind::Path),
        ("$", Kind::Shell),
    ];
    let (names, kind) = kinds
        .into_iter()
        .find_map(|(mark, kind)| Some((inner.strip_suffix(mark)?, kind)))
        .unwrap_or((inner, Kind::One));
    Slot { names: names.split('/').collect(), kind, default, when_true }
}

impl Slot {
    fn value(&self, source: &dyn Source) -> Result<Option<Value>> {
        for name in &self.names {
            match source.value(name)? {
                Value::Nil => {}
                value => return Ok(Some(value)),
            }
        }
        Ok(None)
    }

    fn required(&self, source: &dyn Source) -> Filled<Vec<String>> {
        match (self.value(source)?, self.default) {
            (Some(value), _) => Ok(self.words(&value)?),
            (None, Some(default)) => Ok(vec![default.to_owned()]),
            (None, None) => Err(Unfit::Missing(self.names[0])),
        }
    }

    /// Whether the program would take a value for an option.
    fn is_dangerous(&self, value: &str) -> bool {
        matches!(self.kind, Kind::One | Kind::Path) && value.starts_with('-')
    }

    /// The words of a value.
    fn words(&self, value: &Value) -> Result<Vec<String>> {
        Ok(match (self.kind, value) {
            (_, Value::Boolean(true)) => vec![self.when_true.unwrap_or("true").to_owned()],
            (Kind::Shell, Value::String(line)) => {
                vec!["sh".to_owned(), "-c".to_owned(), text(line)]
            }
            (Kind::Json, Value::Table(_)) => vec![to_json(value)?.to_string()],
            (Kind::Joined, Value::Table(_)) => vec![items(value, self.kind)?.join(",")],
            (Kind::Path, _) => vec![at_home(word(value)?)],
            (Kind::One, _) => vec![word(value)?],
            _ => items(value, self.kind)?,
        })
    }
}

/// The items of a list, or the pairs of a table as `key=value`.
fn items(value: &Value, kind: Kind) -> Result<Vec<String>> {
    let Value::Table(table) = value else { return Ok(vec![word(value)?]) };
    if table.raw_len() > 0 || kind == Kind::Spread {
        return table.sequence_values::<Value>().map(|item| word(&item?)).collect();
    }
    let mut pairs = Vec::new();
    if kind == Kind::Flat {
        flatten("", &to_json(value)?, &mut pairs);
    } else {
        table.for_each(|key: Value, value: Value| {
            pairs.push(format!("{}={}", word(&key)?, word(&value)?));
            Ok(())
        })?;
    }
    pairs.sort();
    Ok(pairs)
}

/// Pairs of everything that lies in a document, lists as `{a,b}`.
fn flatten(path: &str, json: &Json, pairs: &mut Vec<String>) {
    let plain = |json: &Json| match json {
        Json::String(text) => text.replace(',', "\\,"),
        json => json.to_string(),
    };
    match json {
        Json::Object(entries) => {
            for (name, inner) in entries {
                let name = name.replace('.', "\\.");
                let path = if path.is_empty() { name } else { format!("{path}.{name}") };
                flatten(&path, inner, pairs);
            }
        }
        Json::Array(list) => {
            let list: Vec<String> = list.iter().map(plain).collect();
            pairs.push(format!("{path}={{{}}}", list.join(",")));
        }
        json => pairs.push(format!("{path}={}", plain(json))),
    }
}

/// A path as the shell would give it to a program.
fn at_home(path: String) -> String {
    if path.starts_with("~/") { acting().path(&path).to_string_lossy().into_owned() } else { path }
}

/// A value as one word.
pub(super) fn word(value: &Value) -> Result<String> {
    Ok(match value {
        Value::String(string) => text(string),
        Value::Table(table) if table.metatable().is_some() => crate::value::words(value)?,
        Value::Number(_) | Value::Table(_) => to_json(value)?.to_string(),
        value => value.to_string()?,
    })
}

#[derive(Default)]
struct Words {
    all: Vec<String>,
}

impl Words {
    fn push(&mut self, word: &Word, value: &str, source: &dyn Source) -> Filled<()> {
        let after = match &word.after {
            Some(after) => joined(after, source)?,
            None => String::new(),
        };
        self.all.push(format!("{}{value}{after}", word.before));
        Ok(())
    }

    fn required(&mut self, word: &Word, source: &dyn Source) -> Filled<()> {
        let Some(slot) = &word.slot else { return self.push(word, "", source) };
        let is_alone = word.before.is_empty()
            && !self.all.iter().any(|word| word == "--")
            && !self.all.last().is_some_and(|last| last.starts_with('-'));
        for value in slot.required(source)? {
            if is_alone && slot.is_dangerous(&value) {
                return Err(Unfit::Dash(slot.names[0], value));
            }
            self.push(word, &value, source)?;
        }
        Ok(())
    }

    fn group(&mut self, when: &When, group: &[Word], source: &dyn Source) -> Filled<()> {
        let is_there = match when {
            When::True(name) => !matches!(source.value(name)?, Value::Nil | Value::Boolean(false)),
            When::False(name) => matches!(source.value(name)?, Value::Boolean(false)),
            When::Given => true,
        };
        if !is_there {
            return Ok(());
        }
        let Some(slot) = group.iter().find_map(|word| word.slot.as_ref()) else {
            return group.iter().try_for_each(|word| self.push(word, "", source));
        };
        let values = match (slot.value(source)?, slot.default) {
            (Some(Value::Boolean(false)), _) | (None, None) => return Ok(()),
            (Some(value), _) => slot.words(&value)?,
            (None, Some(default)) => vec![default.to_owned()],
        };
        if group.len() == 1
            && group[0].before.is_empty()
            && let Some(value) = values.iter().find(|value| slot.is_dangerous(value))
        {
            return Err(Unfit::Dash(slot.names[0], value.clone()));
        }
        let is_together = matches!(slot.kind, Kind::Spread | Kind::Shell);
        let turns: Vec<Vec<String>> = match is_together {
            true if values.is_empty() => Vec::new(),
            true => vec![values],
            false => values.into_iter().map(|value| vec![value]).collect(),
        };
        for turn in turns {
            for word in group {
                match &word.slot {
                    None => self.push(word, "", source)?,
                    Some(_) => {
                        for value in &turn {
                            self.push(word, value, source)?;
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The rest of a word.
fn joined(word: &Word, source: &dyn Source) -> Filled<String> {
    let value = match &word.slot {
        Some(slot) => slot.required(source)?.join(","),
        None => String::new(),
    };
    let after = match &word.after {
        Some(after) => joined(after, source)?,
        None => String::new(),
    };
    Ok(format!("{}{value}{after}", word.before))
}

#[cfg(test)]
mod tests {
    use mlua::{Lua, Table};

    use super::*;

    impl Source for Table {
        fn value(&self, name: &str) -> Result<Value> {
            self.get(name)
        }
    }

    fn filled(line: &'static str, given: &str) -> String {
        let lua = Lua::new();
        let table: Table = lua.load(given).eval().unwrap();
        match Usage::read(line).unwrap().fill(&table) {
            Ok(words) => words.join(" "),
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn a_line_becomes_words() {
        for (line, given, expected) in [
            ("get {kind}", "{kind = 'pods'}", "get pods"),
            ("get {kind}", "{}", "Missing(\"kind\")"),
            ("get {kind}", "{kind = '-x'}", "Dash(\"kind\", \"-x\")"),
            ("get -- {kind}", "{kind = '-x'}", "get -- -x"),
            ("set --to {kind}", "{kind = '-x'}", "set --to -x"),
            ("get {a/b}", "{b = 1}", "get 1"),
            ("push {remote:origin}", "{}", "push origin"),
            ("x [--dry-run={dry_run|client}]", "{dry_run = true}", "x --dry-run=client"),
            ("x [--dry-run={dry_run|client}]", "{dry_run = 'server'}", "x --dry-run=server"),
            ("x [--dry-run={dry_run|client}]", "{dry_run = false}", "x"),
            ("x [--no-folding]", "{no_folding = true}", "x --no-folding"),
            ("x [--no-folding]", "{no_folding = false}", "x"),
            ("x [detach? -d] [refresh~ -refresh=false]", "{detach = 1}", "x -d"),
            ("x [refresh~ -refresh=false]", "{refresh = false}", "x -refresh=false"),
            ("x {kind}/{name} y", "{kind = 'a', name = 'b'}", "x a/b y"),
            ("x {kind}/{name} y", "{kind = 'a'}", "Missing(\"name\")"),
            ("x [yes? ] [-{n}]", "{yes = true, n = 3}", "x -3"),
            ("x [-p {ports*}]", "{ports = {'1:1', '2:2'}}", "x -p 1:1 -p 2:2"),
            ("x [-p {ports*}]", "{ports = '1:1'}", "x -p 1:1"),
            ("x [-e {env=}]", "{env = {B = 2, A = 'x'}}", "x -e A=x -e B=2"),
            ("x [-e {env=}]", "{env = {'B=2'}}", "x -e B=2"),
            (
                "x [--set {v#}]",
                "{v = {a = {b = 1, c = {'x', 'y,z'}}, d = true}}",
                "x --set a.b=1 --set a.c={x,y\\,z} --set d=true",
            ),
            ("x [--set {v,}]", "{v = {1, 2}}", "x --set 1,2"),
            ("patch -p {patch@}", "{patch = {a = {1}}}", r#"patch -p {"a":[1]}"#),
            ("exec -- {command$}", "{command = 'a b'}", "exec -- sh -c a b"),
            ("exec -- {command$}", "{command = {'a', 'b'}}", "exec -- a b"),
            ("{args...}", "{args = {'rm', '-f', 'x'}}", "rm -f x"),
            ("ps '{{json .}}'", "{}", "ps {{json .}}"),
            ("up [-- {more...}]", "{more = {'a', 'b'}}", "up -- a b"),
        ] {
            assert_eq!(filled(line, given), expected, "{line} {given}");
        }
    }
}
