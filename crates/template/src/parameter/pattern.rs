//! Patterns of texts.
//!
//! They are written in the dialect of regular expressions that templates have always had. It is nearly the
//! one of our library; where the two differ in spelling, a pattern is respelt. Where they differ in what
//! there is (looking around, referring back), a pattern is refused when it is read.

use std::iter::Peekable;
use std::str::Chars;

use regex::{Regex, RegexBuilder};

/// A pattern that a whole text can match.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
}

/// What a compiled pattern may take of memory.
const SIZE: usize = 1 << 20;

impl Pattern {
    pub fn new(text: &str) -> Result<Pattern, String> {
        let spelt = format!(r"\A(?:{})", respelt(text));
        match RegexBuilder::new(&spelt).size_limit(SIZE).build() {
            Ok(regex) => Ok(Pattern { text: text.to_owned(), regex }),
            Err(regex::Error::CompiledTooBig(_)) => Err("it is too large".to_owned()),
            Err(error) => {
                let error = error.to_string();
                let last = error.lines().last().unwrap_or_default();
                Err(last.strip_prefix("error: ").unwrap_or(last).to_owned())
            }
        }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether what the pattern matches first, from the beginning, is the whole text.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.find(text).is_some_and(|found| found.end() == text.len())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Pattern) -> bool {
        self.text == other.text
    }
}

fn respelt(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
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
        ] {
            let found = Pattern::new(pattern).unwrap_or_else(|why| panic!("{pattern}: {why}"));
            assert_eq!(found.is_match(text), expected, "{pattern} {text}");
        }
        for pattern in ["(", "[a", "*", r"(a)\1", "(?=a)", "((a{1000}){1000}){1000}", "\\"] {
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
