//! Texts, and the functions that work on lists under the same names.

use super::super::trouble::Trouble;
use super::super::value::{Val, limit};
use super::Shape::{Both, Function, Method};
use super::{Arguments, Builtin, pattern, query};
use crate::function::python;

type Outcome = Result<Val, Trouble>;

macro_rules! table {
    ($($name:literal $shape:ident [$($parameter:literal),*] $run:expr;)*) => {
        &[$(Builtin { name: $name, shape: $shape, parameters: &[$($parameter),*], run: $run }),*]
    };
}

pub(super) const TABLE: &[Builtin] = table! {
    "str" Function ["value"] string;
    "isString" Function ["arg"] is_string;
    "concat" Both ["*"] concat;
    "join" Method ["separator", "predicate", "selector"] join;
    "split" Method ["separator", "maxSplits"] split;
    "rightSplit" Method ["separator", "maxSplits"] right_split;
    "toUpper" Method [] to_upper;
    "toLower" Method [] to_lower;
    "trim" Method ["chars"] trim;
    "trimLeft" Method ["chars"] trim_left;
    "trimRight" Method ["chars"] trim_right;
    "norm" Both ["chars"] norm;
    "isEmpty" Both ["trimSpaces", "chars"] is_empty;
    "replace" Method ["old", "new", "count"] replace;
    "substring" Method ["start", "length"] substring;
    "indexOf" Method ["sub", "start", "length"] index_of;
    "lastIndexOf" Method ["sub", "start", "length"] last_index_of;
    "toCharArray" Method [] to_char_array;
    "startsWith" Method ["*"] starts_with;
    "endsWith" Method ["*"] ends_with;
};

/// `str(value)`
fn text_of(value: &Val) -> Result<String, Trouble> {
    match value {
        Val::Null => Ok("null".to_owned()),
        Val::Bool(true) => Ok("true".to_owned()),
        Val::Bool(false) => Ok("false".to_owned()),
        Val::Whole(whole) => Ok(whole.to_string()),
        Val::Real(real) => Ok(python::real_text(*real)),
        Val::Text(text) => Ok(text.to_string()),
        _ => Err(Trouble::other("A list or a map is not made a text here: use join()")),
    }
}

fn string(given: &Arguments<'_>) -> Outcome {
    Ok(Val::text(text_of(&given.needed(0)?)?))
}

fn is_string(given: &Arguments<'_>) -> Outcome {
    Ok(Val::Bool(matches!(given.needed(0)?, Val::Text(_))))
}

/// Texts, or collections.
fn concat(given: &Arguments<'_>) -> Outcome {
    let mut all = vec![given.receiver().clone()];
    all.extend(given.rest()?);
    if matches!(all[0], Val::Text(_)) {
        let mut out = String::new();
        for part in &all {
            let Val::Text(part) = part else { return Err(given.no_match()) };
            given.machine.spend(1 + part.len() / 16)?;
            out.push_str(part);
        }
        return Ok(Val::text(out));
    }
    let mut joined = Vec::new();
    for part in &all {
        joined.extend(given.as_collection(part)?.items.iter().cloned());
    }
    Val::stream(joined)
}

fn join(given: &Arguments<'_>) -> Outcome {
    if given.lambda(1).is_some() {
        return query::join_collections(given);
    }
    let other = given.needed(0)?;
    let (items, separator) = match (given.receiver(), &other) {
        (Val::Seq(seq), Val::Text(separator)) | (Val::Text(separator), Val::Seq(seq)) => {
            (&seq.items, separator)
        }
        _ => return Err(given.no_match()),
    };
    limit(items.len())?;
    let texts = items.iter().map(text_of).collect::<Result<Vec<_>, _>>()?;
    given.machine.spend(texts.iter().map(|text| 1 + text.len() / 16).sum())?;
    Ok(Val::text(texts.join(separator)))
}

/// How many cuts at most.
fn cuts(given: &Arguments<'_>) -> Result<usize, Trouble> {
    Ok(given.whole(1)?.and_then(|cuts| usize::try_from(cuts).ok()).unwrap_or(usize::MAX - 1))
}

fn pieces<'p>(pieces: impl Iterator<Item = &'p str>) -> Outcome {
    Val::list(pieces.map(Val::text).collect())
}

fn separator(given: &Arguments<'_>) -> Result<Option<std::rc::Rc<str>>, Trouble> {
    match given.text(0)? {
        Some(separator) if separator.is_empty() => Err(Trouble::other("empty separator")),
        separator => Ok(separator),
    }
}

fn split(given: &Arguments<'_>) -> Outcome {
    if let Some(parts) = pattern::split(given)? {
        return Ok(parts);
    }
    let (text, cuts) = (given.string()?, cuts(given)?);
    match separator(given)? {
        Some(separator) => pieces(text.splitn(cuts + 1, &*separator)),
        None => pieces(blank_pieces(text, cuts).into_iter()),
    }
}

/// Between blanks; the last piece is the rest when no cut is left.
fn blank_pieces(text: &str, cuts: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = match found.len() == cuts {
            true => rest.len(),
            false => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        found.push(&rest[..end]);
        rest = rest[end..].trim_start();
    }
    found
}

fn right_split(given: &Arguments<'_>) -> Outcome {
    let (text, cuts) = (given.string()?, cuts(given)?);
    let mut parts: Vec<&str> = match separator(given)? {
        Some(separator) => text.rsplitn(cuts + 1, &*separator).collect(),
        None => {
            let mut found = Vec::new();
            let mut rest = text.trim_end();
            while !rest.is_empty() {
                let start = match found.len() == cuts {
                    true => 0,
                    false => {
                        let blank = rest.char_indices().rev().find(|(_, c)| c.is_whitespace());
                        blank.map_or(0, |(at, c)| at + c.len_utf8())
                    }
                };
                found.push(&rest[start..]);
                rest = rest[..start].trim_end();
            }
            found
        }
    };
    parts.reverse();
    pieces(parts.into_iter())
}

fn to_upper(given: &Arguments<'_>) -> Outcome {
    Ok(Val::text(given.string()?.to_uppercase()))
}

fn to_lower(given: &Arguments<'_>) -> Outcome {
    Ok(Val::text(given.string()?.to_lowercase()))
}

/// Whether a character is to go.
fn is_cut(chars: Option<&str>, c: char) -> bool {
    chars.map_or(c.is_whitespace(), |chars| chars.contains(c))
}

fn trim(given: &Arguments<'_>) -> Outcome {
    let chars = given.text(0)?;
    Ok(Val::text(given.string()?.trim_matches(|c| is_cut(chars.as_deref(), c))))
}

fn trim_left(given: &Arguments<'_>) -> Outcome {
    let chars = given.text(0)?;
    Ok(Val::text(given.string()?.trim_start_matches(|c| is_cut(chars.as_deref(), c))))
}

fn trim_right(given: &Arguments<'_>) -> Outcome {
    let chars = given.text(0)?;
    Ok(Val::text(given.string()?.trim_end_matches(|c| is_cut(chars.as_deref(), c))))
}

fn norm(given: &Arguments<'_>) -> Outcome {
    if matches!(given.receiver(), Val::Null) {
        return Ok(Val::Null);
    }
    match trim(given)? {
        Val::Text(text) if text.is_empty() => Ok(Val::Null),
        text => Ok(text),
    }
}

fn is_empty(given: &Arguments<'_>) -> Outcome {
    if matches!(given.receiver(), Val::Null) {
        return Ok(Val::Bool(true));
    }
    let (text, chars) = (given.string()?, given.text(1)?);
    let is_empty = match given.is_true(0, true)? {
        true => text.chars().all(|c| is_cut(chars.as_deref(), c)),
        false => text.is_empty(),
    };
    Ok(Val::Bool(is_empty))
}

fn replace(given: &Arguments<'_>) -> Outcome {
    if let Some(replaced) = pattern::replace(given)? {
        return Ok(replaced);
    }
    let text = given.string()?;
    let old = given.needed(0)?;
    let (pairs, count) = match &old {
        Val::Text(old) => (vec![(old.to_string(), given.needed_text(1)?.to_string())], 2),
        Val::Dict(dict) => {
            let pairs = dict.entries.iter().map(|(k, v)| Ok((text_of(k)?, text_of(v)?)));
            (pairs.collect::<Result<Vec<_>, Trouble>>()?, 1)
        }
        _ => return Err(given.no_match()),
    };
    let most = given.whole(count)?.and_then(|count| usize::try_from(count).ok());
    let mut out = text.to_owned();
    for (old, new) in pairs {
        let times = out.matches(&old).count().min(most.unwrap_or(usize::MAX));
        let size = times.saturating_mul(new.len()).saturating_add(out.len());
        given.machine.spend(1 + size / 16)?;
        if size > 8 << 20 {
            return Err(Trouble::too_large());
        }
        out = out.replacen(&old, &new, times);
    }
    Ok(Val::text(out))
}

/// Where a part begins and ends, in characters.
fn part(text: &str, start: i128, length: i128) -> (usize, usize) {
    let size = i128::try_from(text.chars().count()).unwrap_or(i128::MAX);
    let start = if start < 0 { start + size } else { start }.clamp(0, size);
    let length = if length < 0 { size } else { length };
    let end = start.saturating_add(length).clamp(start, size);
    (usize::try_from(start).unwrap_or(0), usize::try_from(end).unwrap_or(0))
}

fn substring(given: &Arguments<'_>) -> Outcome {
    let text = given.string()?;
    let (start, end) = part(text, given.needed_whole(0)?, given.whole(1)?.unwrap_or(-1));
    Ok(Val::text(text.chars().skip(start).take(end - start).collect::<String>()))
}

/// Where something is: in a list, or in a part of a text.
fn find(given: &Arguments<'_>, is_last: bool) -> Outcome {
    if let Val::Seq(_) = given.receiver() {
        let wanted = given.needed(0)?;
        let mut place = -1;
        for (at, item) in (0..).zip(&given.collection()?.items) {
            if item.equals(&wanted, given.machine)? {
                place = at;
                if !is_last {
                    break;
                }
            }
        }
        return Ok(Val::Whole(place));
    }
    let (text, sub) = (given.string()?, given.needed_text(0)?);
    let (start, end) = part(text, given.whole(1)?.unwrap_or(0), given.whole(2)?.unwrap_or(-1));
    let within: String = text.chars().skip(start).take(end - start).collect();
    let found = if is_last { within.rfind(&*sub) } else { within.find(&*sub) };
    let place = found.map(|at| start + within[..at].chars().count());
    let place = place.map_or(Ok(-1), i128::try_from).map_err(|_| Trouble::overflow())?;
    Ok(Val::Whole(place))
}

fn index_of(given: &Arguments<'_>) -> Outcome {
    find(given, false)
}

fn last_index_of(given: &Arguments<'_>) -> Outcome {
    find(given, true)
}

fn to_char_array(given: &Arguments<'_>) -> Outcome {
    Val::list(given.string()?.chars().map(|c| Val::text(c.to_string())).collect())
}

fn ends(given: &Arguments<'_>, has: fn(&str, &str) -> bool) -> Outcome {
    let text = given.string()?;
    let mut is_so = false;
    for end in given.rest()? {
        let Val::Text(end) = end else { return Err(given.no_match()) };
        is_so |= has(text, &end);
    }
    Ok(Val::Bool(is_so))
}

fn starts_with(given: &Arguments<'_>) -> Outcome {
    ends(given, |text, end| text.starts_with(end))
}

fn ends_with(given: &Arguments<'_>) -> Outcome {
    ends(given, |text, end| text.ends_with(end))
}
