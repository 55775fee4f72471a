//! Indents a file as its blocks nest.
//!
//! Only what is before the first and behind the last word of a line changes; a line that begins inside a string or a
//! long comment stays as it is, and so does the end of one that leads into it. Whatever opens a block remembers how far its own line was indented: what is inside goes one further,
//! and what closes it goes back to that.

use hostler_model::workflow::Place;
use mlua::Lua;
use mlua::chunk::ChunkMode;

use crate::diagnose::{Mistake, Mistakes, from_error};

const UNIT: &str = "    ";

/// The text, indented; or why it cannot be read.
pub fn indented(name: &str, text: &str) -> Result<String, Mistakes> {
    if let Some(at) = text.find('\0') {
        let line = u32::try_from(text[..at].lines().count().max(1)).unwrap_or(u32::MAX);
        let place = Place { file: name.to_owned(), line };
        let mistake = Mistake::at(place, "a NUL: what is behind it would not be read");
        return Err(Mistakes(vec![mistake.with_text(text)], Vec::new()));
    }
    let lua = Lua::new();
    let chunk = lua.load(text).set_name(format!("={name}")).set_mode(ChunkMode::Text);
    if let Err(error) = chunk.into_function() {
        let mistake = from_error(&error, name).with_text(text);
        return Err(Mistakes(vec![mistake], Vec::new()));
    }
    Ok(indent(text))
}

fn indent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut state = State::default();
    for line in text.split_inclusive('\n') {
        if state.inside.is_some() {
            let tokens = state.read(line);
            state.nest(&tokens);
            put(&mut out, line, state.inside.is_some());
            continue;
        }
        let words = line.trim_start_matches(is_space);
        if words.is_empty() {
            out.push('\n');
            continue;
        }
        let tokens = state.read(words);
        for _ in 0..state.nest(&tokens) {
            out.push_str(UNIT);
        }
        put(&mut out, words, state.inside.is_some());
    }
    let kept = out.trim_end_matches('\n').len();
    out.truncate(kept);
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Adds a line; its end is its own where it is inside a string.
fn put(out: &mut String, line: &str, is_inside: bool) {
    if is_inside {
        out.push_str(line);
    } else {
        out.push_str(line.trim_end_matches(is_space));
        out.push('\n');
    }
}

/// What the language takes for space.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

/// What a line is made of, as far as nesting goes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Open,
    Close,
    If,
    Then,
    Else,
    ElseIf,
    /// Something after which an `if` is a value.
    Operator,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// A block, and how far the line that opened it is indented.
    Block(usize),
    /// An `if` that is a value has no `end`.
    Value,
}

/// What the next line begins in.
#[derive(Clone, Debug)]
enum Inside {
    /// A long string or comment, and what ends it.
    Long(String),
    /// A string in quotes that goes on: the newline is escaped, or skipped with all the space around it.
    Quoted { quote: char, skips: bool },
}

/// What a brace is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Brace {
    Table,
    /// A string in backticks goes on behind it.
    String,
}

#[derive(Default)]
struct State {
    inside: Option<Inside>,
    braces: Vec<Brace>,
    frames: Vec<Frame>,
    /// Whether the last word asks for a value.
    wants_value: bool,
}

impl State {
    fn read(&mut self, line: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        let mut rest = match self.inside.take() {
            None => line,
            Some(Inside::Long(end)) => self.long(line, end),
            Some(Inside::Quoted { quote, skips }) => self.quoted(line, quote, skips, &mut tokens),
        };
        while let Some(c) = rest.chars().next() {
            if is_space(c) {
                rest = &rest[1..];
                continue;
            }
            let comment = rest.strip_prefix("--");
            if let Some((end, length)) = long_bracket(comment.unwrap_or(rest)) {
                rest = self.long(&comment.unwrap_or(rest)[length..], end);
                if comment.is_none() {
                    tokens.push(Token::Other);
                }
                continue;
            }
            if comment.is_some() {
                rest = rest.find('\r').map_or("", |at| &rest[at..]);
                continue;
            }
            let behind = &rest[c.len_utf8()..];
            rest = match c {
                '"' | '\'' | '`' => {
                    tokens.push(Token::Other);
                    self.quoted(behind, c, false, &mut tokens)
                }
                '(' | '{' | '[' => {
                    if c == '{' {
                        self.braces.push(Brace::Table);
                    }
                    tokens.extend([Token::Open, Token::Operator]);
                    behind
                }
                ')' | '}' | ']' => {
                    tokens.push(Token::Close);
                    match c == '}' && self.braces.pop() == Some(Brace::String) {
                        true => self.quoted(behind, '`', false, &mut tokens),
                        false => behind,
                    }
                }
                ';' => {
                    tokens.push(Token::Other);
                    behind
                }
                c if c.is_alphabetic() || c == '_' => {
                    let word = rest
                        .find(|c: char| !c.is_alphanumeric() && c != '_')
                        .map_or(rest, |at| &rest[..at]);
                    tokens.push(of_word(word));
                    &rest[word.len()..]
                }
                c if c.is_ascii_digit() => {
                    let ends = |c: char| !c.is_alphanumeric() && c != '.' && c != '_';
                    tokens.push(Token::Other);
                    &rest[rest.find(ends).unwrap_or(rest.len())..]
                }
                _ => {
                    tokens.push(Token::Operator);
                    behind
                }
            };
        }
        if line.starts_with([':', '.']) && !line.starts_with("..") {
            // Marks a line that goes on with what the line before began.
            tokens.insert(0, Token::Operator);
            tokens.insert(0, Token::Operator);
        }
        tokens
    }

    /// What follows a long string or comment.
    fn long<'l>(&mut self, text: &'l str, end: String) -> &'l str {
        match text.find(&end) {
            Some(at) => &text[at + end.len()..],
            None => {
                self.inside = Some(Inside::Long(end));
                ""
            }
        }
    }

    /// What follows a string in quotes, from behind its first one on.
    fn quoted<'l>(
        &mut self,
        text: &'l str,
        quote: char,
        skips: bool,
        tokens: &mut Vec<Token>,
    ) -> &'l str {
        let mut skips = skips;
        let mut characters = text.char_indices();
        while let Some((at, c)) = characters.next() {
            if skips && is_space(c) {
                continue;
            }
            skips = false;
            match c {
                '\\' => match characters.next() {
                    Some((_, 'z')) => skips = true,
                    Some((_, '\r')) if text[at + 2..].starts_with('\n') => {
                        characters.next();
                    }
                    _ => {}
                },
                c if c == quote => return &text[at + 1..],
                '{' if quote == '`' => {
                    self.braces.push(Brace::String);
                    tokens.extend([Token::Open, Token::Operator]);
                    return &text[at + 1..];
                }
                _ => {}
            }
        }
        self.inside = Some(Inside::Quoted { quote, skips });
        ""
    }

    /// How far a line goes in, and what follows for the next one.
    fn nest(&mut self, tokens: &[Token]) -> usize {
        let inner = |frames: &[Frame]| {
            frames.iter().rev().find_map(|frame| match frame {
                Frame::Block(depth) => Some(*depth + 1),
                Frame::Value => None,
            })
        };
        let goes_on = tokens.starts_with(&[Token::Operator, Token::Operator, Token::Operator]);
        let mut depth = inner(&self.frames).unwrap_or(0) + usize::from(goes_on);
        let mut is_leading = true;
        for token in tokens {
            let is_back = matches!(token, Token::Close | Token::Else | Token::ElseIf);
            let closed = match token {
                Token::Close => self.close(),
                Token::Else | Token::ElseIf if self.frames.last() != Some(&Frame::Value) => {
                    self.close()
                }
                _ => None,
            };
            if is_leading
                && is_back
                && let Some(opened) = closed
            {
                depth = opened;
            }
            is_leading &= is_back;
            match token {
                Token::Open | Token::Then if self.frames.last() != Some(&Frame::Value) => {
                    self.frames.push(Frame::Block(depth));
                }
                Token::Open => self.frames.push(Frame::Block(depth)),
                Token::If if self.wants_value => self.frames.push(Frame::Value),
                Token::Else if self.frames.last() == Some(&Frame::Value) => {
                    self.frames.pop();
                }
                Token::Else => self.frames.push(Frame::Block(depth)),
                _ => {}
            }
            self.wants_value =
                matches!(token, Token::Operator) || *token == Token::Else && closed.is_none();
        }
        depth
    }

    fn close(&mut self) -> Option<usize> {
        while let Some(frame) = self.frames.pop() {
            if let Frame::Block(depth) = frame {
                return Some(depth);
            }
        }
        None
    }
}

fn of_word(word: &str) -> Token {
    match word {
        "function" | "do" | "repeat" => Token::Open,
        "end" | "until" => Token::Close,
        "if" => Token::If,
        "then" => Token::Then,
        "else" => Token::Else,
        "elseif" => Token::ElseIf,
        "return" | "and" | "or" | "not" | "in" => Token::Operator,
        _ => Token::Other,
    }
}

/// What ends a long bracket that begins here, and how long its beginning is.
fn long_bracket(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix('[')?;
    let level = inner.len() - inner.trim_start_matches('=').len();
    inner[level..].starts_with('[').then(|| (format!("]{}]", "=".repeat(level)), level + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn becomes(text: &str, expected: &str) {
        let once = indented("a.lua", text).unwrap();
        assert_eq!(once, expected);
        assert_eq!(indented("a.lua", &once).unwrap(), once, "twice is once");
    }

    #[test]
    fn blocks_nest() {
        becomes(
            "if a then\nb()\nelseif c then\nfor i = 1, 2 do\nd()   \nend\nelse\nrepeat e() until f\nend\n\n\n",
            "if a then\n    b()\nelseif c then\n    for i = 1, 2 do\n        d()\n    end\nelse\n    repeat e() until f\nend\n",
        );
    }

    #[test]
    fn chains_go_in_once_and_what_is_in_them_once_more() {
        becomes(
            "local t = task('x')\n:command(function(this)\nlocal ok = f({\na = 1,\n})\nreturn ok\nend)\n:build()\nworkflow.define('w', {\ntasks = { t },\n})\n",
            "local t = task('x')\n    :command(function(this)\n        local ok = f({\n            a = 1,\n        })\n        return ok\n    end)\n    :build()\nworkflow.define('w', {\n    tasks = { t },\n})\n",
        );
    }

    #[test]
    fn long_strings_and_comments_stay_as_they_are() {
        becomes(
            "do\nlocal s = [==[\n  as it is ]]\n\tend\n]==]\n--[[ also\n      this ]]\nx = 'do -- not' -- function\nend\n",
            "do\n    local s = [==[\n  as it is ]]\n\tend\n]==]\n    --[[ also\n      this ]]\n    x = 'do -- not' -- function\nend\n",
        );
    }

    #[test]
    fn strings_that_go_on_stay_as_they_are() {
        becomes(
            "do\nlocal s = 'a\\\n   end\\z  \n\n   b' .. [[\r\r\n]]  \nend",
            "do\n    local s = 'a\\\n   end\\z  \n\n   b' .. [[\r\r\n]]\nend\n",
        );
        becomes(
            "local s = `{\"`\"}` .. [[\n  x]]\nlocal t = `a{ {\n1,\n} }b\\\n  c`\n",
            "local s = `{\"`\"}` .. [[\n  x]]\nlocal t = `a{ {\n    1,\n} }b\\\n  c`\n",
        );
    }

    #[test]
    fn a_file_that_begins_with_a_tab_is_text() {
        becomes("\tx = 1 -- \u{a0}\n", "x = 1 -- \u{a0}\n");
    }

    #[test]
    fn an_if_that_is_a_value_has_no_end() {
        becomes(
            "local a = if b then 1 else 2\nf(if a then b elseif c then d else e, 3)\nif a then\nreturn if b then c else d\nend\n",
            "local a = if b then 1 else 2\nf(if a then b elseif c then d else e, 3)\nif a then\n    return if b then c else d\nend\n",
        );
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        let mistakes = indented("a.lua", "do\nx = = 1\nend").unwrap_err();
        assert_eq!(mistakes.0[0].place.line, 2);
        let mistakes = indented("a.lua", "x = 1\ny = \0 2").unwrap_err();
        assert_eq!(mistakes.0[0].place.line, 2);
    }
}
