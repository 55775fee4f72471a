//! Regular expressions: of the kind that takes linear time, so those that look around or back are refused.

use std::rc::Rc;

use regex::{Captures, Regex, RegexBuilder};

use super::super::machine::Machine;
use super::super::trouble::Trouble;
use super::super::value::{Names, Val};
use super::Shape::{Function, Method};
use super::{Arguments, Builtin};

type Outcome = Result<Val, Trouble>;

/// What one expression may compile to, in bytes.
const SIZE_MAX: usize = 256 << 10;
/// What compiling one costs, in steps.
const COMPILING: usize = 20_000;

pub(super) const TABLE: &[Builtin] = &[
    Builtin {
        name: "regex",
        shape: Function,
        parameters: &["pattern", "ignoreCase", "multiLine", "dotAll"],
        run: regex,
    },
    Builtin { name: "matches", shape: Method, parameters: &["string"], run: matches },
    Builtin { name: "search", shape: Method, parameters: &["string", "selector"], run: search },
    Builtin {
        name: "searchAll",
        shape: Method,
        parameters: &["string", "selector"],
        run: search_all,
    },
];

fn compile(machine: &Machine, pattern: &str, flags: [bool; 3]) -> Result<Regex, Trouble> {
    machine.spend(COMPILING)?;
    let [ignore_case, multi_line, dot_all] = flags;
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(ignore_case).multi_line(multi_line).dot_matches_new_line(dot_all);
    builder.size_limit(SIZE_MAX).nest_limit(32).build().map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
        Trouble::Other(format!("The regular expression \"{pattern}\" is not supported: {reason}"))
    })
}

fn regex(given: &Arguments<'_>) -> Outcome {
    let flags = [given.is_true(1, false)?, given.is_true(2, false)?, given.is_true(3, false)?];
    let regex = compile(given.machine, &given.needed_text(0)?, flags)?;
    Ok(Val::Regex(Rc::new(regex)))
}

/// `text =~ pattern`
pub(in super::super) fn is_match(
    machine: &Machine,
    text: &Val,
    pattern: &Val,
) -> Result<bool, Trouble> {
    let Val::Text(text) = text else { return Err(Trouble::no_function("#operator_=~")) };
    machine.spend(text.len())?;
    match pattern {
        Val::Regex(regex) => Ok(regex.is_match(text)),
        Val::Text(pattern) => Ok(compile(machine, pattern, [false; 3])?.is_match(text)),
        _ => Err(Trouble::no_function("#operator_=~")),
    }
}

fn matches(given: &Arguments<'_>) -> Outcome {
    let other = given.needed(0)?;
    let answer = match (given.receiver(), &other) {
        (Val::Regex(_), Val::Text(_)) => is_match(given.machine, &other, given.receiver())?,
        (Val::Text(_), Val::Text(_)) => is_match(given.machine, given.receiver(), &other)?,
        _ => return Err(given.no_match()),
    };
    Ok(Val::Bool(answer))
}

/// The regular expression that is asked, and the text.
fn asked<'v>(given: &'v Arguments<'_>) -> Result<(&'v Regex, Rc<str>), Trouble> {
    let Val::Regex(regex) = given.receiver() else { return Err(given.no_match()) };
    let text = given.needed_text(0)?;
    given.machine.spend(text.len())?;
    Ok((regex, text))
}

/// What was found: all of it, or what a selector makes of it and of its groups.
fn found(given: &Arguments<'_>, text: &str, captures: &Captures<'_>, names: &Regex) -> Outcome {
    let Some(selector) = given.lambda(1) else { return Ok(Val::text(&captures[0])) };
    let group = |group: Option<regex::Match<'_>>| {
        let place = |at: usize| {
            let chars = text[..at].chars().count();
            i128::try_from(chars).map(Val::Whole).map_err(|_| Trouble::overflow())
        };
        let (value, start, end) = match group {
            Some(group) => (Val::text(group.as_str()), place(group.start())?, place(group.end())?),
            None => (Val::Null, Val::Whole(-1), Val::Whole(-1)),
        };
        let words = [("value", value), ("start", start), ("end", end)];
        Val::dict(words.into_iter().map(|(word, value)| (Val::text(word), value)).collect())
    };
    given.machine.spend(text.len() / 16 * captures.len())?;
    let groups = captures.iter().map(group).collect::<Result<Vec<_>, _>>()?;
    let mut own: Vec<(String, Val)> =
        groups.into_iter().enumerate().map(|(i, group)| ((i + 1).to_string(), group)).collect();
    for name in names.capture_names().flatten() {
        own.push((name.to_owned(), group(captures.name(name))?));
    }
    let names = Names { own, outer: Some(Rc::clone(given.names)) };
    selector.within(Rc::new(names))
}

fn search(given: &Arguments<'_>) -> Outcome {
    let (regex, text) = asked(given)?;
    match regex.captures(&text) {
        Some(captures) => found(given, &text, &captures, regex),
        None => Ok(Val::Null),
    }
}

fn search_all(given: &Arguments<'_>) -> Outcome {
    let (regex, text) = asked(given)?;
    let all = regex.captures_iter(&text).map(|captures| found(given, &text, &captures, regex));
    Val::stream(all.collect::<Result<_, _>>()?)
}

/// A regular expression, and the text that it is for.
type Pair = (Rc<Regex>, Rc<str>);

/// The regular expression and the text of a call in which either may come first.
fn either(given: &Arguments<'_>) -> Result<Option<Pair>, Trouble> {
    let other = match (given.receiver(), given.trees().first()) {
        (Val::Regex(_), _) => given.needed(0)?,
        (Val::Text(_), Some(super::super::tree::Tree::Text(_))) => return Ok(None),
        (Val::Text(_), Some(_)) => given.needed(0)?,
        _ => return Ok(None),
    };
    Ok(match (given.receiver(), other) {
        (Val::Regex(regex), Val::Text(text)) => Some((Rc::clone(regex), text)),
        (Val::Text(text), Val::Regex(regex)) => Some((regex, Rc::clone(text))),
        _ => None,
    })
}

/// `split` by a regular expression: what its groups found stands between the pieces.
pub(super) fn split(given: &Arguments<'_>) -> Result<Option<Val>, Trouble> {
    let Some((regex, text)) = either(given)? else { return Ok(None) };
    given.machine.spend(text.len())?;
    let most = given.whole(1)?.and_then(|most| usize::try_from(most).ok()).filter(|most| *most > 0);
    let mut pieces = Vec::new();
    let mut from = 0;
    for captures in regex.captures_iter(&text).take(most.unwrap_or(usize::MAX)) {
        let whole = captures.get_match();
        pieces.push(Val::text(&text[from..whole.start()]));
        let groups = captures.iter().skip(1);
        pieces.extend(groups.map(|group| group.map_or(Val::Null, |g| Val::text(g.as_str()))));
        from = whole.end();
    }
    pieces.push(Val::text(&text[from..]));
    Val::list(pieces).map(Some)
}

/// `replace` by a regular expression; `\1` and `\g<name>` are what groups found.
pub(super) fn replace(given: &Arguments<'_>) -> Result<Option<Val>, Trouble> {
    let Some((regex, text)) = either(given)? else { return Ok(None) };
    let with = expansion(&given.needed_text(1)?);
    let most = given.whole(2)?.and_then(|most| usize::try_from(most).ok()).unwrap_or(0);
    let many = regex.find_iter(&text).count();
    let size = (text.len() + with.len()).saturating_mul(many.max(1));
    given.machine.spend(size)?;
    let replaced = regex.replacen(&text, most, with.as_str()).into_owned();
    Ok(Some(Val::text(replaced)))
}

/// The same replacement as this crate's regular expressions write it.
fn expansion(with: &str) -> String {
    let mut out = String::new();
    let mut rest = with;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        if c == '$' {
            out.push_str("$$");
            continue;
        }
        if c != '\\' {
            out.push(c);
            continue;
        }
        let named = rest.strip_prefix("g<").and_then(|rest| rest.split_once('>'));
        let digits = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
        match (named, rest.chars().next()) {
            (Some((name, after)), _) => {
                out.push_str(&format!("${{{name}}}"));
                rest = after;
            }
            (None, Some(_)) if digits > 0 => {
                out.push_str(&format!("${{{}}}", &rest[..digits]));
                rest = &rest[digits..];
            }
            (None, Some(c)) => {
                match c {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    '\\' => out.push('\\'),
                    other => {
                        out.push('\\');
                        out.push(other);
                    }
                }
                rest = &rest[c.len_utf8()..];
            }
            (None, None) => out.push('\\'),
        }
    }
    out
}
