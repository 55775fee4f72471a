//! The words of a filter, each with where it begins.

use super::{Mistake, TEXT_MAX};
use crate::Bytes;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Word(String),
    Text(String),
    Number(f64),
    /// One of [`SIGNS`].
    Sign(&'static str),
    End,
}

impl Token {
    /// As it is called in mistakes.
    pub(super) fn words(&self) -> String {
        match self {
            Token::Word(word) => format!("`{word}`"),
            Token::Text(_) => "this text".to_owned(),
            Token::Number(_) => "this number".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::End => "the end".to_owned(),
        }
    }
}

/// Longer ones first.
const SIGNS: &[&str] =
    &["==", "!=", "<=", ">=", "=~", "!~", "&&", "||", "<", ">", "!", "(", ")", "[", "]", ",", "."];

const TEXT_HINT: &str = "text stands between double quotes: \"like this\"";

pub(super) fn lex(text: &str) -> Result<Vec<(Token, usize)>, Box<Mistake>> {
    if text.len() > TEXT_MAX {
        let words = format!("a filter has at most {TEXT_MAX} bytes");
        return Err(Mistake::new(text, TEXT_MAX, words, "write a shorter one"));
    }
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
            let word = &rest[..end.unwrap_or(rest.len())];
            tokens.push((Token::Word(word.to_owned()), at));
            at += word.len();
        } else if first.is_ascii_digit() || first == '-' {
            // In a path it is a place in a list, and another word may follow.
            let is_place = matches!(tokens.last(), Some((Token::Sign("."), _)));
            let ends = |c: char| !c.is_ascii_alphanumeric() && (is_place || c != '.');
            let end = rest[1..].find(ends);
            let word = &rest[..end.map_or(rest.len(), |end| end + 1)];
            let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
            let number = number.or_else(|| size(word));
            let wrong = || Mistake::new(text, at, format!("`{word}` is not a number"), TEXT_HINT);
            tokens.push((Token::Number(number.ok_or_else(wrong)?), at));
            at += word.len();
        } else if first == '"' || first == '\'' {
            let (value, length) = quoted(text, at, first)?;
            tokens.push((Token::Text(value), at));
            at += length;
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            tokens.push((Token::Sign(sign), at));
            at += sign.len();
        } else {
            let hint = match first {
                '=' => "write `==` to compare, and `=~` for a regular expression",
                '&' => "write `and`",
                '|' => "write `or`",
                _ => TEXT_HINT,
            };
            let words = format!("`{}` means nothing here", first.escape_default());
            return Err(Mistake::new(text, at, words, hint));
        }
    }
    tokens.push((Token::End, text.len()));
    Ok(tokens)
}

/// `512MiB` is a number of bytes.
#[expect(clippy::cast_precision_loss, reason = "documents have numbers of the same precision")]
fn size(word: &str) -> Option<f64> {
    word.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64)
}

/// A text in quotes, and how many bytes it takes with them.
fn quoted(text: &str, start: usize, quote: char) -> Result<(String, usize), Box<Mistake>> {
    let mut value = String::new();
    let mut chars = text[start + 1..].char_indices();
    while let Some((i, c)) = chars.next() {
        match c {
            c if c == quote => return Ok((value, i + 2)),
            '\\' => match chars.next() {
                Some((_, 'n')) => value.push('\n'),
                Some((_, 't')) => value.push('\t'),
                Some((_, c @ ('\\' | '"' | '\''))) => value.push(c),
                _ => {
                    let hint = r#"`\n`, `\t`, `\"` and `\\` are; a regular expression doubles its backslashes: "\\d+""#;
                    return Err(Mistake::new(text, start + 1 + i, "this escape is unknown", hint));
                }
            },
            c => value.push(c),
        }
    }
    Err(Mistake::new(text, start, "this text has no end", format!("close it with {quote}")))
}
