//! Patterns of texts.
//!
//! They are written in the dialect of regular expressions that templates have always had. It is nearly the
//! one of our library; where the two differ in spelling, a pattern is respelt. What looks around or refers
//! back is tried step by step, and only for so many steps: a text that takes more does not match.

use std::iter::Peekable;
use std::str::Chars;

use regex::{Regex, RegexBuilder};

/// A pattern that a whole text can match.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    engine: Engine,
}

#[derive(Clone, Debug)]
enum Engine {
    /// Takes time as the text is long, whatever the pattern.
    Plain(Regex),
    /// Looks around and refers back.
    Stepwise(Box<fancy_regex::Regex>),
}

/// What a compiled pattern may take of memory.
const SIZE: usize = 1 << 20;
/// How many steps a pattern that is tried step by step may go back.
const STEPS: usize = 100_000;

impl Pattern {
    pub fn new(text: &str) -> Result<Pattern, String> {
        let spelt = format!(r"\A(?:{})", respelt(text));
        let engine = match RegexBuilder::new(&spelt).size_limit(SIZE).build() {
            Ok(regex) => Engine::Plain(regex),
            Err(regex::Error::CompiledTooBig(_)) => return Err("it is too large".to_owned()),
            Err(error) => match stepwise(&spelt) {
                Some(regex) => Engine::Stepwise(Box::new(regex)),
                None => {
                    let error = error.to_string();
                    let last = error.lines().last().unwrap_or_default();
                    return Err(last.strip_prefix("error: ").unwrap_or(last).to_owned());
                }
            },
        };
        Ok(Pattern { text: text.to_owned(), engine })
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether what the pattern matches first, from the beginning, is the whole text.
    pub fn is_match(&self, text: &str) -> bool {
        let end = match &self.engine {
            Engine::Plain(regex) => regex.find(text).map(|found| found.end()),
            Engine::Stepwise(regex) => regex.find(text).ok().flatten().map(|found| found.end()),
        };
        end == Some(text.len())
    }
}

fn stepwise(spelt: &str) -> Option<fancy_regex::Regex> {
    let mut builder = fancy_regex::RegexBuilder::new(spelt);
    builder.backtrack_limit(STEPS).delegate_size_limit(SIZE).max_prog_size(SIZE / 16);
    builder.build().ok()
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

/// What looks around takes nothing, so that it is the same however often it is repeated: it has to be there, or it has not.
fn respelt(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.chars().peekable();
    let mut open: Vec<bool> = Vec::new();
    while let Some(c) = rest.next() {
        match c {
            '(' => {
                let begin: String = rest.clone().take(3).collect();
                let looks = ["?=", "?!", "?<=", "?<!"].iter().any(|sign| begin.starts_with(sign));
                open.push(looks);
                out.push_str(if looks { "(?:(" } else { "(" });
            }
            ')' if open.pop() == Some(true) => out.push_str(match rest.peek() {
                Some('*' | '?') => {
                    rest.next();
                    ")|)"
                }
                Some('+') => {
                    rest.next();
                    "))"
                }
                _ => "))",
            }),
            '\\' => escape(&mut rest, &mut out),
            '[' => class(&mut rest, &mut out),
            '{' => match bounds(rest.clone()) {
                Some(length) => {
                    out.push('{');
                    out.push_str(if rest.peek() == Some(&',') { "0" } else { "" });
                    out.extend(rest.by_ref().take(length));
                }
                None => out.push_str("\\{"),
            },
            '}' => out.push_str("\\}"),
            _ => out.push(c),
        }
    }
    out
}

fn escape(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    match rest.next() {
        Some('Z') => out.push_str("\\z"),
        Some(c @ ('<' | '>')) => out.push(c),
        Some(c) => out.extend(['\\', c]),
        None => out.push('\\'),
    }
}

/// A class in brackets, in which other brackets and doubled signs mean nothing special.
fn class(rest: &mut Peekable<Chars<'_>>, out: &mut String) {
    out.push('[');
    out.extend(rest.next_if_eq(&'^'));
    if rest.next_if_eq(&']').is_some() {
        out.push_str("\\]");
    }
    while let Some(c) = rest.next() {
        match c {
            ']' => {
                out.push(']');
                return;
            }
            '[' | '&' | '~' => out.extend(['\\', c]),
            '\\' => escape(rest, out),
            _ => out.push(c),
        }
    }
}

/// How many characters the bounds of a repetition have with the closing brace, when these are some.
fn bounds(rest: Peekable<Chars<'_>>) -> Option<usize> {
    let inner: String = rest.take_while(|c| *c != '}').take(24).collect();
    let (min, max) = inner.split_once(',').unwrap_or((&inner, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let is_some = inner.len() > 1 || !min.is_empty();
    (is_some && inner.len() < 24 && is_digits(min) && is_digits(max)).then_some(inner.len() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn patterns_match_whole_texts() {
        for (pattern, text, expected) in [
            ("[a-z]+", "abc", true),
            ("[a-z]+", "abcD", false),
            ("^[a-z]+$", "abc", true),
            ("^abc$", "abc\n", false),
            ("a|ab", "ab", false),
            ("(a|ab)$", "ab", true),
            ("[]a]+", "]a", true),
            ("[^]a]+", "]", false),
            ("[[a]+", "[a", true),
            ("[a&&b]+", "&", true),
            ("a{,2}", "aa", true),
            ("a{,2}", "aaa", false),
            ("a{2,}", "aaa", true),
            ("a{x}", "a{x}", true),
            ("a{", "a{", true),
            ("{}", "{}", true),
            (r"\d{1,3}(\.\d{1,3}){3}", "10.0.0.1", true),
            (r"a\Z", "a", true),
            (r"\<b\>", "<b>", true),
            (r"(?P<x>a)b", "ab", true),
            ("(?i)abc", "ABC", true),
            ("", "", true),
            ("", "a", false),
            ("ä+", "ää", true),
            ("(?=^.{8,255}$)((?=.*\\d)(?=.*[A-Z])(?=.*[a-z])).*", "Passw0rd", true),
            ("(?=^.{8,255}$)((?=.*\\d)(?=.*[A-Z])(?=.*[a-z])).*", "password", false),
            ("(?!root$)[a-z]+", "root", false),
            ("(?!root$)[a-z]+", "roots", true),
            (".*(?<!-)", "a-", false),
            (".*(?<!-)", "a-b", true),
            (r"(a|b)\1", "bb", true),
            (r"(a|b)\1", "ab", false),
            (r"(?P<x>a|b)(?P=x)", "aa", true),
            ("[a-z]+(?=[.-][a-z])*[.][a-z]+", "ab.cd", true),
            ("(?=a)(a|aa)+b", &"a".repeat(100_000), false),
        ] {
            let found = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert_eq!(found.is_match(text), expected, "{pattern} {text}");
        }
        for pattern in ["(", "[a", "*", r"(a)\2", "(?=a", "((a{1000}){1000}){1000}", "\\"] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn no_pattern_is_too_strange(pattern in "[\\[\\](){}a-c\\\\^$|*+?,0-9&~.-]{0,20}|\\PC{0,12}", text: String) {
            if let Ok(found) = Pattern::new(&pattern) {
                let _ = found.is_match(&text);
            }
        }
    }
}
