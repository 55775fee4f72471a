//! `strings`: what can be done with texts.
//!
//! Lengths are counted in characters. Bytes that are no UTF-8 are replaced where a function has to know characters;
//! encodings and digests are of the bytes as they are.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use mlua::{Lua, LuaString, Result, Table, Value};
use regex::{Regex, RegexBuilder};

use super::crypto::{Algorithm, base64_decoded, base64_encoded};
use super::given::{Answer, Text, count};
use crate::budget::{Budget, NODE};
use crate::modules::{Described, Installer, Module};
use crate::stage::{Scene, Stage};

/// How many patterns are kept ready.
const PATTERNS: usize = 16;

/// How many bytes a pattern may take that is ready.
const LARGEST_PATTERN: usize = 1 << 20;

/// The longest text in which patterns are looked for while a file is defined.
const LONGEST_SEARCHED: usize = 64 << 10;

/// How long a text that is filled up may become.
const LONGEST: u32 = 1 << 24;

pub(crate) const MODULE: Module = Module {
    name: "strings",
    about: "What can be done with texts. Patterns are regular expressions (not those of Lua), in which nothing takes exponential time; invalid ones give `nil, error`.",
    functions: &[
        Described {
            name: "trim",
            signature: "(text) -> text",
            about: "Without white space at both ends.",
            example: "assert(strings.trim('  a b \\n') == 'a b')",
        },
        Described {
            name: "upper",
            signature: "(text) -> text",
            about: "In capital letters.",
            example: "assert(strings.upper('häuser') == 'HÄUSER')",
        },
        Described {
            name: "lower",
            signature: "(text) -> text",
            about: "In small letters.",
            example: "assert(strings.lower('HÄUSER') == 'häuser')",
        },
        Described {
            name: "title",
            signature: "(text) -> text",
            about: "Every word with a capital letter in front.",
            example: "assert(strings.title('a small house') == 'A Small House')",
        },
        Described {
            name: "split",
            signature: "(text, separator) -> { text }",
            about: "The parts between separators; an empty separator gives the characters.",
            example: "local parts = strings.split('a,b,,c', ',')\nassert(#parts == 4 and parts[2] == 'b' and parts[3] == '')\nassert(#strings.split('abc', '') == 3)",
        },
        Described {
            name: "join",
            signature: "(list, separator) -> text",
            about: "The items of a list as one text.",
            example: "assert(strings.join({ 'a', 1, true }, '-') == 'a-1-true')",
        },
        Described {
            name: "replace",
            signature: "(text, old, new[, count]) -> text",
            about: "Another text in place of each that stands there, or of the first so many.",
            example: "assert(strings.replace('a.a.a', '.', '-') == 'a-a-a')\nassert(strings.replace('aaa', 'a', 'b', 2) == 'bba')",
        },
        Described {
            name: "contains",
            signature: "(text, part) -> boolean",
            about: "Whether a text is in another.",
            example: "assert(strings.contains('hostler', 'stl') and not strings.contains('a', 'b'))",
        },
        Described {
            name: "starts_with",
            signature: "(text, part) -> boolean",
            about: "Whether a text begins with another.",
            example: "assert(strings.starts_with('hostler', 'host'))",
        },
        Described {
            name: "ends_with",
            signature: "(text, part) -> boolean",
            about: "Whether a text ends with another.",
            example: "assert(strings.ends_with('a.tar.gz', '.gz'))",
        },
        Described {
            name: "count",
            signature: "(text, part) -> number",
            about: "How often a text is in another.",
            example: "assert(strings.count('banana', 'an') == 2)",
        },
        Described {
            name: "match",
            signature: "(text, pattern) -> { whole, group, ... } | nil, error",
            about: "The first place that fits, and its groups; a group that is not there is empty. Without such a place it is nil.",
            example: "local m = strings.match('v1.22', '(\\\\d+)\\\\.(\\\\d+)')\nassert(m[1] == '1.22' and m[2] == '1' and m[3] == '22')\nassert(strings.match('x', '\\\\d') == nil)\nlocal none, why = strings.match('x', '(')\nassert(none == nil and why)",
        },
        Described {
            name: "match_all",
            signature: "(text, pattern) -> { text } | nil, error",
            about: "Every place that fits.",
            example: "assert(table.concat(strings.match_all('a1b22', '\\\\d+'), ' ') == '1 22')",
        },
        Described {
            name: "replace_regex",
            signature: "(text, pattern, new) -> text | nil, error",
            about: "Another text in place of every one that fits; `$1` is its first group.",
            example: "assert(strings.replace_regex('a1b2', '([a-z])(\\\\d)', '$2$1') == '1a2b')",
        },
        Described {
            name: "base64_encode",
            signature: "(text) -> text",
            about: "The bytes in base64.",
            example: "assert(strings.base64_encode('hello') == 'aGVsbG8=')",
        },
        Described {
            name: "base64_decode",
            signature: "(text) -> text | nil, error",
            about: "The bytes behind base64, of either alphabet, with or without its padding.",
            example: "assert(strings.base64_decode('aGVsbG8=') == 'hello' and strings.base64_decode('aGVsbG8') == 'hello')\nlocal none, why = strings.base64_decode('%')\nassert(none == nil and why)",
        },
        Described {
            name: "url_encode",
            signature: "(text) -> text",
            about: "As a value in a query of a URL.",
            example: "assert(strings.url_encode('a b&c/d') == 'a+b%26c%2Fd')",
        },
        Described {
            name: "url_decode",
            signature: "(text) -> text | nil, error",
            about: "The text behind a value in a query.",
            example: "assert(strings.url_decode('a+b%26c') == 'a b&c')\nassert(strings.url_decode('%zz') == nil)",
        },
        Described {
            name: "md5",
            signature: "(text) -> text",
            about: "The MD5 digest in hex; for old protocols, not for safety.",
            example: "assert(strings.md5('') == 'd41d8cd98f00b204e9800998ecf8427e')",
        },
        Described {
            name: "sha1",
            signature: "(text) -> text",
            about: "The SHA-1 digest in hex; for old protocols, not for safety.",
            example: "assert(strings.sha1('abc') == 'a9993e364706816aba3e25717850c26c9cd0d89d')",
        },
        Described {
            name: "sha256",
            signature: "(text) -> text",
            about: "The SHA-256 digest in hex.",
            example: "assert(strings.sha256('abc'):sub(1, 8) == 'ba7816bf')",
        },
        Described {
            name: "is_email",
            signature: "(text) -> boolean",
            about: "Whether it looks as an address of mail does.",
            example: "assert(strings.is_email('a.b@example.org') and not strings.is_email('a@b'))",
        },
        Described {
            name: "is_url",
            signature: "(text) -> boolean",
            about: "Whether it is a URL with a host.",
            example: "assert(strings.is_url('https://example.org/x') and not strings.is_url('example'))",
        },
        Described {
            name: "is_numeric",
            signature: "(text) -> boolean",
            about: "Whether it is a number.",
            example: "assert(strings.is_numeric('-1.5') and not strings.is_numeric('1a') and not strings.is_numeric(''))",
        },
        Described {
            name: "is_alpha",
            signature: "(text) -> boolean",
            about: "Whether it has letters and nothing else.",
            example: "assert(strings.is_alpha('abc') and not strings.is_alpha('a1') and not strings.is_alpha(''))",
        },
        Described {
            name: "is_alphanumeric",
            signature: "(text) -> boolean",
            about: "Whether it has letters and digits and nothing else.",
            example: "assert(strings.is_alphanumeric('a1') and not strings.is_alphanumeric('a-1'))",
        },
        Described {
            name: "pad_left",
            signature: "(text, length[, character]) -> text",
            about: "Filled up in front, with spaces if nothing else is said.",
            example: "assert(strings.pad_left('7', 3, '0') == '007' and strings.pad_left('long', 2) == 'long')",
        },
        Described {
            name: "pad_right",
            signature: "(text, length[, character]) -> text",
            about: "Filled up at the end, with spaces if nothing else is said.",
            example: "assert(strings.pad_right('a', 3) == 'a  ')",
        },
        Described {
            name: "truncate",
            signature: "(text, length[, suffix]) -> text",
            about: "At most so long; what is cut ends with the suffix, `...` if nothing else is said.",
            example: "assert(strings.truncate('a long text', 6) == 'a l...' and strings.truncate('ab', 6) == 'ab')",
        },
    ],
    install,
};

type Map = fn(&str) -> String;
type Is = fn(&str) -> bool;
type Has = fn(&str, &str) -> bool;

fn install(module: &mut Installer<'_>) -> Result<()> {
    let maps: [(&str, Map); 5] = [
        ("trim", |text| text.trim().to_owned()),
        ("upper", |text| text.to_uppercase()),
        ("lower", |text| text.to_lowercase()),
        ("title", title),
        ("url_encode", |text| url::form_urlencoded::byte_serialize(text.as_bytes()).collect()),
    ];
    for (name, map) in maps {
        module.pure(name, move |_, text: Text| Ok(map(&text.lossy())))?;
    }
    let tests: [(&str, Is); 5] = [
        ("is_email", is_email),
        ("is_url", |text| url::Url::parse(text).is_ok_and(|url| url.has_host())),
        ("is_numeric", is_numeric),
        ("is_alpha", |text| !text.is_empty() && text.chars().all(char::is_alphabetic)),
        ("is_alphanumeric", |text| !text.is_empty() && text.chars().all(char::is_alphanumeric)),
    ];
    for (name, is) in tests {
        module.pure(name, move |_, text: Text| Ok(is(&text.lossy())))?;
    }
    let pairs: [(&str, Has); 3] = [
        ("contains", |text, part| text.contains(part)),
        ("starts_with", |text, part| text.starts_with(part)),
        ("ends_with", |text, part| text.ends_with(part)),
    ];
    for (name, has) in pairs {
        module.pure(name, move |_, (text, part): (Text, Text)| {
            Ok(has(&text.lossy(), &part.lossy()))
        })?;
    }
    module.pure("count", |_, (text, part): (Text, Text)| {
        Ok(text.lossy().matches(&part.lossy()).count())
    })?;
    module.pure("split", |lua, (text, separator): (Text, Text)| {
        let (text, separator) = (text.lossy(), separator.lossy());
        let parts: Vec<&str> = if separator.is_empty() {
            text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect()
        } else {
            text.split(&separator).collect()
        };
        lua.create_sequence_from(parts)
    })?;
    module.pure("join", |lua, (list, separator): (Table, Option<Text>)| {
        let budget = Budget::of(lua);
        let separator = separator.map_or_else(String::new, |text| text.lossy());
        let mut joined = String::new();
        for (at, item) in list.sequence_values::<Value>().enumerate() {
            let item = budget.words(&item?)?;
            budget.take(separator.len())?;
            if at > 0 {
                joined.push_str(&separator);
            }
            joined.push_str(&item);
        }
        Ok(joined)
    })?;
    module.pure("replace", |lua, (text, old, new, most): (Text, Text, Text, Option<f64>)| {
        let (text, old, new) = (text.lossy(), old.lossy(), new.lossy());
        let most = match most {
            Some(most) if most >= 0.0 => count(most, u32::MAX) as usize,
            _ => usize::MAX,
        };
        let times = text.matches(&old).count().min(most);
        Budget::of(lua).take_each(times, new.len())?;
        Ok(text.replacen(&old, &new, most))
    })?;
    for (name, is_left) in [("pad_left", true), ("pad_right", false)] {
        module.pure(name, move |lua, (text, length, with): (Text, f64, Option<Text>)| {
            if length > f64::from(LONGEST) {
                let detail = format!("a text is filled up to {LONGEST} characters at most");
                return Err(mlua::Error::runtime(detail));
            }
            let length = count(length, LONGEST) as usize;
            Budget::of(lua).take_each(length, 4)?;
            Ok(padded(&text.lossy(), length, with.as_ref(), is_left))
        })?;
    }
    module.pure("truncate", |_, (text, length, suffix): (Text, f64, Option<Text>)| {
        let suffix = suffix.map_or_else(|| "...".to_owned(), |suffix| suffix.lossy());
        Ok(truncated(&text.lossy(), count(length, u32::MAX) as usize, &suffix))
    })?;
    patterns(module)?;
    encodings(module)
}

fn patterns(module: &mut Installer<'_>) -> Result<()> {
    let ready: Rc<Patterns> = Rc::default();
    module.pure("match", {
        let ready = Rc::clone(&ready);
        move |lua, (text, pattern): (Text, Text)| {
            let text = searched(lua, &text)?;
            Ok(match ready.get(&pattern.lossy()) {
                Err(why) => (None, Some(why)),
                Ok(pattern) => {
                    let groups = pattern.captures(&text).map(|found| {
                        found
                            .iter()
                            .map(|group| group.map_or("", |group| group.as_str()).to_owned())
                            .collect::<Vec<_>>()
                    });
                    (groups, None)
                }
            })
        }
    })?;
    module.pure("match_all", {
        let ready = Rc::clone(&ready);
        move |lua, (text, pattern): (Text, Text)| {
            let (text, budget) = (searched(lua, &text)?, Budget::of(lua));
            let pattern = match ready.get(&pattern.lossy()) {
                Err(why) => return Ok((None, Some(why))),
                Ok(pattern) => pattern,
            };
            let mut all = Vec::new();
            for found in pattern.find_iter(&text) {
                budget.take(NODE + found.len())?;
                all.push(found.as_str().to_owned());
            }
            Ok((Some(all), None))
        }
    })?;
    module.pure("replace_regex", move |lua, (text, pattern, new): (Text, Text, Text)| {
        let pattern = match ready.get(&pattern.lossy()) {
            Err(why) => return Ok((None, Some(why))),
            Ok(pattern) => pattern,
        };
        let (text, new, budget) = (searched(lua, &text)?, new.lossy(), Budget::of(lua));
        let mut replaced = String::new();
        let mut at = 0;
        for found in pattern.captures_iter(&text) {
            let Some(whole) = found.get(0) else { continue };
            let groups: usize = found.iter().flatten().map(|group| group.len()).sum();
            // What stands for a group is at least two letters of the new text.
            budget.take(NODE + whole.len())?;
            budget.take_each(groups, new.matches('$').count())?;
            budget.take(new.len())?;
            replaced.push_str(&text[at..whole.start()]);
            found.expand(&new, &mut replaced);
            at = whole.end();
        }
        replaced.push_str(&text[at..]);
        Ok((Some(replaced), None))
    })
}

fn encodings(module: &mut Installer<'_>) -> Result<()> {
    for (name, algorithm) in
        [("md5", Algorithm::Md5), ("sha1", Algorithm::Sha1), ("sha256", Algorithm::Sha256)]
    {
        module.pure(name, move |_, text: Text| Ok(algorithm.hex(&text.0)))?;
    }
    module.pure("base64_encode", |_, text: Text| Ok(base64_encoded(&text.0)))?;
    module.pure("base64_decode", |lua, text: Text| as_bytes(lua, base64_decoded(&text.0)))?;
    module.pure("url_decode", |lua, text: Text| as_bytes(lua, url_decoded(&text.0)))
}

/// A text in which a pattern is looked for. How long that takes grows with the pattern, too, and nothing can interrupt
/// it: while a file is defined it is a short one.
fn searched(lua: &Lua, text: &Text) -> Result<String> {
    let is_defining = Scene::of(lua).stage.get() == Stage::Defining;
    if is_defining && text.0.len() > LONGEST_SEARCHED {
        let kib = LONGEST_SEARCHED >> 10;
        let detail =
            format!("while a file is defined, patterns are looked for in {kib} KiB at most");
        return Err(mlua::Error::runtime(detail));
    }
    Ok(text.lossy())
}

/// Bytes as a string of Lua.
pub(super) fn as_bytes(
    lua: &Lua,
    bytes: std::result::Result<Vec<u8>, String>,
) -> Result<Answer<LuaString>> {
    match bytes {
        Ok(bytes) => Ok((Some(lua.create_string(bytes)?), None)),
        Err(why) => Ok((None, Some(why))),
    }
}

/// Patterns that were used, ready to be used again.
#[derive(Default)]
struct Patterns(RefCell<BTreeMap<String, Regex>>);

impl Patterns {
    fn get(&self, pattern: &str) -> std::result::Result<Regex, String> {
        let mut ready = self.0.borrow_mut();
        if let Some(known) = ready.get(pattern) {
            return Ok(known.clone());
        }
        let made = made(pattern).map_err(|error| format!("the pattern cannot be used: {error}"))?;
        if ready.len() >= PATTERNS {
            ready.clear();
        }
        ready.insert(pattern.to_owned(), made.clone());
        Ok(made)
    }
}

fn made(pattern: &str) -> std::result::Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(LARGEST_PATTERN).dfa_size_limit(LARGEST_PATTERN).build()
}

fn title(text: &str) -> String {
    let mut at_start = true;
    let mut titled = String::with_capacity(text.len());
    for c in text.chars() {
        if at_start {
            titled.extend(c.to_uppercase());
        } else {
            titled.push(c);
        }
        at_start = c.is_whitespace() || matches!(c, '-' | '/' | '(');
    }
    titled
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else { return false };
    let is_local = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+/=?^_`{|}~.-".contains(c);
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    !local.is_empty()
        && local.split('.').all(|part| !part.is_empty())
        && local.chars().all(is_local)
        && domain.contains('.')
        && domain.split('.').all(is_label)
}

fn is_numeric(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c)) && text.parse::<f64>().is_ok()
}

fn padded(text: &str, length: usize, with: Option<&Text>, is_left: bool) -> String {
    let with = with.map_or_else(|| " ".to_owned(), Text::lossy);
    let missing = length.saturating_sub(text.chars().count());
    let filling: String =
        if with.is_empty() { String::new() } else { with.chars().cycle().take(missing).collect() };
    if is_left { filling + text } else { text.to_owned() + &filling }
}

fn truncated(text: &str, length: usize, suffix: &str) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    match length.checked_sub(suffix.chars().count()) {
        Some(kept) => text.chars().take(kept).chain(suffix.chars()).collect(),
        None => suffix.chars().take(length).collect(),
    }
}

fn url_decoded(text: &[u8]) -> std::result::Result<Vec<u8>, String> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => match (digit(bytes.next()), digit(bytes.next())) {
                (Some(high), Some(low)) => u8::try_from(high * 16 + low).unwrap_or(0),
                _ => return Err("a `%` is not followed by two hex digits".to_owned()),
            },
            byte => *byte,
        });
    }
    Ok(decoded)
}
