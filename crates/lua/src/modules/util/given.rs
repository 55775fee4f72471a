//! What functions are given, and how they answer.

use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use mlua::{FromLua, Lua, Result, Value};

use crate::budget::check_length;
use crate::modules::acting;
use crate::value::words;

/// A text: a string of any bytes, a number, or what can be used as a text (the result of a program).
#[derive(Debug)]
pub(super) struct Text(pub Vec<u8>);

impl Text {
    pub fn lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl FromLua for Text {
    fn from_lua(value: Value, lua: &Lua) -> Result<Text> {
        match &value {
            Value::String(text) => {
                let bytes = text.as_bytes();
                check_length(lua, bytes.len())?;
                Ok(Text(bytes.to_vec()))
            }
            Value::Integer(_) | Value::Number(_) => Ok(Text(value.to_string()?.into_bytes())),
            Value::Table(table) if table.metatable().is_some() => {
                let words = words(&value)?;
                check_length(lua, words.len())?;
                Ok(Text(words.into_bytes()))
            }
            other => Err(not(other, "a text", "give it a string")),
        }
    }
}

/// A span of time: seconds, or a text as `1h30m`, `250ms`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span(pub f64);

impl Span {
    pub fn duration(self) -> Duration {
        Duration::try_from_secs_f64(self.0.max(0.0)).unwrap_or(Duration::MAX)
    }
}

impl FromLua for Span {
    fn from_lua(value: Value, _: &Lua) -> Result<Span> {
        let seconds = match &value {
            #[expect(clippy::cast_precision_loss, reason = "spans are far below 2^53 seconds")]
            Value::Integer(n) => Some(*n as f64),
            Value::Number(n) => Some(*n),
            Value::String(text) => seconds(&text.to_string_lossy()),
            _ => None,
        };
        match seconds.filter(|seconds| seconds.is_finite()) {
            Some(seconds) => Ok(Span(seconds)),
            None => Err(not(&value, "a span of time", "write seconds, or \"1h30m\" or \"250ms\"")),
        }
    }
}

/// Seconds of a text as `1h30m`, `-1.5s`, `250ms`, or of a bare number.
pub(super) fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, mut rest) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if let Ok(seconds) = rest.parse::<f64>() {
        return Some(sign * seconds);
    }
    let mut total = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let letters = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = match &rest[..letters] {
            "ns" => 1e-9,
            "us" | "µs" | "μs" => 1e-6,
            "ms" => 1e-3,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            "d" => 86_400.0,
            "w" => 604_800.0,
            _ => return None,
        };
        total += number * unit;
        rest = &rest[letters..];
    }
    Some(sign * total)
}

fn not(value: &Value, wanted: &str, advice: &str) -> mlua::Error {
    mlua::Error::FromLuaConversionError {
        from: value.type_name(),
        to: wanted.to_owned(),
        message: Some(advice.to_owned()),
    }
}

/// A count that came as a number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it is held between 0 and the bound"
)]
pub(super) fn count(number: f64, most: u32) -> u32 {
    number.clamp(0.0, f64::from(most)) as u32
}

/// A number for Lua, which knows only one kind.
#[expect(clippy::cast_precision_loss, reason = "sizes and counts stay below 2^53")]
pub(super) fn amount(number: u64) -> f64 {
    number as f64
}

/// Where a path of the step leads; nothing leads nowhere.
pub(super) fn place(path: &Text) -> std::result::Result<PathBuf, String> {
    let text = path.lossy();
    if text.is_empty() {
        return Err("the path is empty; say which file is meant".to_owned());
    }
    if text.contains('\0') {
        return Err("the path has a zero byte in it".to_owned());
    }
    Ok(acting().path(&text))
}

/// `value`, or `nil` and why there is none.
pub(super) type Answer<T> = (Option<T>, Option<String>);

pub(super) fn answer<T, E: Display>(result: std::result::Result<T, E>) -> Answer<T> {
    match result {
        Ok(value) => (Some(value), None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// `true`, or `false` and why not.
pub(super) type Done = (bool, Option<String>);

pub(super) fn done<E: Display>(result: std::result::Result<(), E>) -> Done {
    match result {
        Ok(()) => (true, None),
        Err(error) => (false, Some(error.to_string())),
    }
}

/// In check mode: says what would be done, and that it is not.
pub(super) fn would(what: impl FnOnce() -> String) -> bool {
    let step = acting();
    if step.check {
        step.say(&format!("would {}", what()));
    }
    step.check
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        for (text, expected) in [
            ("5", Some(5.0)),
            ("1h30m", Some(5400.0)),
            ("-1.5s", Some(-1.5)),
            ("250ms", Some(0.25)),
            ("1d", Some(86_400.0)),
            ("", None),
            ("h", None),
            ("5x", None),
            ("1h5", None),
            ("é", None),
            ("5é", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
