//! What a text asks for with `require` and `import`, found without running it.
//!
//! Bodies of tasks run later and elsewhere, and what they ask for has to be there then. So names that are written out
//! are looked for in the text itself, outside of its comments and strings; names that are computed are known only to
//! whoever runs it, and all that can be said is that there are some.

/// How something is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Import,
    Require,
}

/// Something that is asked for by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Want {
    pub word: Word,
    pub name: String,
    /// From 1.
    pub line: u32,
}

/// What a text asks for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    pub named: Vec<Want>,
    /// Something is asked for by a name that is computed.
    pub is_open: bool,
}

pub(crate) fn wants(text: &str) -> Wants {
    let mut wants = Wants::default();
    if !["import", "require"].iter().any(|word| text.contains(word)) {
        return wants;
    }
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = if c.is_alphabetic() || c == '_' {
            let length = word_length(rest);
            let word = match &rest[..length] {
                "import" => Some(Word::Import),
                "require" => Some(Word::Require),
                _ => None,
            };
            let at = text.len() - rest.len();
            if let Some(word) = word.filter(|_| !is_member(&text[..at])) {
                let line = text[..at].bytes().filter(|b| *b == b'\n').count() + 1;
                match literal(&rest[length..]) {
                    Some(name) => wants.named.push(Want {
                        word,
                        name: name.to_owned(),
                        line: u32::try_from(line).unwrap_or(0),
                    }),
                    None => wants.is_open = true,
                }
            }
            length
        } else {
            passed(rest, c)
        };
        rest = &rest[length..];
    }
    wants
}

/// Whether what comes next is a field or a method of what is before.
fn is_member(before: &str) -> bool {
    let before = before.trim_end();
    before.ends_with(':') || before.ends_with('.') && !before.ends_with("..")
}

fn word_length(rest: &str) -> usize {
    rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

/// How long a comment, a string or another character is.
fn passed(rest: &str, c: char) -> usize {
    let comment = rest.strip_prefix("--");
    let begun = comment.unwrap_or(rest);
    if let Some((length, end)) = long_bracket(begun) {
        let skipped = rest.len() - begun.len() + length;
        return rest[skipped..].find(&end).map_or(rest.len(), |at| skipped + at + end.len());
    }
    if comment.is_some() {
        return rest.find('\n').unwrap_or(rest.len());
    }
    match c {
        '"' | '\'' | '`' => quoted(rest, c).map_or(rest.len(), |inside| inside.len() + 2),
        c => c.len_utf8(),
    }
}

/// `[[` or `[==[`: how long it is, and what ends it.
fn long_bracket(rest: &str) -> Option<(usize, String)> {
    let inner = rest.strip_prefix('[')?;
    let signs = inner.len() - inner.trim_start_matches('=').len();
    let is_one = inner[signs..].starts_with('[');
    is_one.then(|| (signs + 2, format!("]{}]", "=".repeat(signs))))
}

/// What stands between the quotes that a text begins with.
fn quoted(rest: &str, quote: char) -> Option<&str> {
    let mut is_escaped = false;
    let inside = &rest[1..];
    for (at, c) in inside.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return Some(&inside[..at]),
            _ => {}
        }
    }
    None
}

/// The name in `("name")` or `"name"`; nothing when it is not all of what is asked for.
fn literal(rest: &str) -> Option<&str> {
    let rest = rest.trim_start();
    let (inside, is_call) = match rest.strip_prefix('(') {
        Some(inside) => (inside.trim_start(), true),
        None => (rest, false),
    };
    let quote = inside.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let name = quoted(inside, quote).filter(|name| !name.contains('\\'))?;
    let after = inside[name.len() + 2..].trim_start();
    (!is_call || after.starts_with(')')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_written_out_are_found() {
        let text = r#"
local a = require("a")
local b = require 'lib.b'
-- require("comment")
--[[ require("long
comment") ]]
local s = "require('string')" .. [==[ require("long") ]==]
local c = import ( "c.lua" )
task("t"):command(function() return require('d@3').go() end)
import.me("x") other.require("no") required("no")
print("é" .. require("e"))
"#;
        let found = wants(text);
        let told: Vec<_> = found.named.iter().map(|w| (w.word, w.name.as_str(), w.line)).collect();
        let expected = [
            (Word::Require, "a", 2),
            (Word::Require, "lib.b", 3),
            (Word::Import, "c.lua", 8),
            (Word::Require, "d@3", 9),
            (Word::Require, "e", 11),
        ];
        assert_eq!(told, expected);
        assert!(found.is_open, "`import.me` is not understood");
    }

    #[test]
    fn names_that_are_computed_are_only_noticed() {
        for text in ["require('a' .. b)", "require(name)", "pcall(require, 'x')", "require('\\97')"]
        {
            assert_eq!(wants(text), Wants { named: Vec::new(), is_open: true }, "{text}");
        }
        for text in
            ["", "print(1)", "-- require('x')", "\"import", "'require(\\'x\\')'", "[[require"]
        {
            assert_eq!(wants(text), Wants::default(), "{text}");
        }
    }
}
