//! How clients expect values to behave and to be written: comparisons, truth, numbers, texts, JSON.
//!
//! Templates were made for an engine in Python, and what it does with values shows: in the text that a
//! number becomes, in what equals what, in the JSON that ends up in the user data of a machine and is hashed
//! there. All of it is here, and nowhere else.

use std::fmt::Write;

use serde_json::{Number, Value};

/// `==`: numbers by their value and not their type, true is 1 and false is 0, maps without order.
pub(crate) fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| is_equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, l)| right.get(key).is_some_and(|r| is_equal(l, r)))
        }
        _ => match (numeric(left), numeric(right)) {
            (Some(left), Some(right)) => left == right,
            _ => false,
        },
    }
}

/// A number, or a boolean as one.
fn numeric(value: &Value) -> Option<Numeric> {
    match value {
        Value::Bool(value) => Some(Numeric::Whole(i128::from(*value))),
        Value::Number(number) => Some(Numeric::of(number)),
        _ => None,
    }
}

/// A number without the question how it is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Numeric {
    Whole(i128),
    Real(f64),
}

impl Numeric {
    pub fn of(number: &Number) -> Numeric {
        let whole = number.as_i64().map(i128::from).or(number.as_u64().map(i128::from));
        match whole {
            Some(whole) => Numeric::Whole(whole),
            None => Numeric::Real(number.as_f64().unwrap_or(f64::NAN)),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "what is too large is near enough")]
    pub fn real(self) -> f64 {
        match self {
            Numeric::Whole(whole) => whole as f64,
            Numeric::Real(real) => real,
        }
    }

    /// Without what comes after the point; nothing where that is not a number that can be kept.
    pub fn whole(self) -> Option<i128> {
        match self {
            Numeric::Whole(whole) => Some(whole),
            Numeric::Real(real) => whole_of(real.trunc()),
        }
    }

    pub fn order(self, other: Numeric) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Numeric::Whole(left), Numeric::Whole(right)) => Some(left.cmp(&right)),
            (left, right) => left.real().partial_cmp(&right.real()),
        }
    }
}

impl PartialEq for Numeric {
    fn eq(&self, other: &Numeric) -> bool {
        match (*self, *other) {
            (Numeric::Whole(left), Numeric::Whole(right)) => left == right,
            (Numeric::Real(left), Numeric::Real(right)) => left == right,
            (Numeric::Whole(whole), Numeric::Real(real))
            | (Numeric::Real(real), Numeric::Whole(whole)) => {
                real.fract() == 0.0 && whole_of(real) == Some(whole)
            }
        }
    }
}

/// A number without a fraction, when it is not too large.
#[expect(clippy::cast_possible_truncation, reason = "the bounds were looked at")]
fn whole_of(real: f64) -> Option<i128> {
    (real.is_finite() && real.abs() < 1e38).then_some(real as i128)
}

/// Whether `value in list`.
pub(crate) fn is_in(value: &Value, list: &[Value]) -> bool {
    list.iter().any(|item| is_equal(item, value))
}

/// What is nothing, zero or empty is not true.
pub(crate) fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(number) => Numeric::of(number) != Numeric::Whole(0),
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(map) => !map.is_empty(),
    }
}

/// `value[key]`: maps by text, lists and texts by number, from the end when it is negative.
pub(crate) fn item(value: &Value, key: &Value) -> Option<Value> {
    match (value, key) {
        (Value::Object(map), Value::String(key)) => map.get(key).cloned(),
        (Value::Array(items), _) => items.get(position(index_of(key)?, items.len())?).cloned(),
        (Value::String(text), _) => {
            let at = position(index_of(key)?, text.chars().count())?;
            text.chars().nth(at).map(|c| Value::String(c.to_string()))
        }
        _ => None,
    }
}

/// A whole number that is not written as another one, or true or false.
fn index_of(key: &Value) -> Option<i128> {
    match key {
        Value::Bool(value) => Some(i128::from(*value)),
        Value::Number(number) => match Numeric::of(number) {
            Numeric::Whole(whole) => Some(whole),
            Numeric::Real(_) => None,
        },
        _ => None,
    }
}

/// An index among so many, counted from the end when it is negative.
pub(crate) fn position(index: i128, length: usize) -> Option<usize> {
    let size = i128::try_from(length).ok()?;
    let at = if index < 0 { index + size } else { index };
    usize::try_from(at).ok().filter(|at| *at < length)
}

/// `int(text)`: blanks around it, a sign, `_` between digits.
pub(crate) fn parse_whole(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty()
        && digits.split('_').all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()));
    match is_number {
        true => text.replace('_', "").parse().ok(),
        false => None,
    }
}

/// `int(value)` for everything but text that is not a number.
pub(crate) fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => parse_whole(text),
        _ => numeric(value)?.whole(),
    }
}

/// `str(value)` of a number.
pub(crate) fn number_text(number: &Number) -> String {
    match Numeric::of(number) {
        Numeric::Whole(whole) => whole.to_string(),
        Numeric::Real(real) => real_text(real),
    }
}

/// The shortest text that is this number: `1.5`, `1e+16`, `1e-05`.
pub(crate) fn real_text(real: f64) -> String {
    if real.is_nan() {
        return "nan".to_owned();
    }
    if real.is_infinite() {
        return if real > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{real:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if (-4..16).contains(&power) {
        let plain = format!("{real}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

/// `str(value)`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr(other),
    }
}

/// `repr(value)`.
pub(crate) fn repr(value: &Value) -> String {
    let mut out = String::new();
    write_repr(value, &mut out);
    out
}

/// `repr(value)` as messages quote it, which are not to become long.
pub(crate) fn repr_short(value: &Value) -> String {
    repr(value).chars().take(200).collect()
}

fn write_repr(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("None"),
        Value::Bool(true) => out.push_str("True"),
        Value::Bool(false) => out.push_str("False"),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_quoted(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_repr(item, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (at, (key, item)) in map.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_quoted(key, out);
                out.push_str(": ");
                write_repr(item, out);
            }
            out.push('}');
        }
    }
}

/// Between single quotes, or double ones where there are only single ones in it.
fn write_quoted(text: &str, out: &mut String) {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
}

/// The type as messages call it.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(number) => match Numeric::of(number) {
            Numeric::Whole(_) => "int",
            Numeric::Real(_) => "float",
        },
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// JSON in ASCII with `, ` and `: ` between things; the keys sorted, or as they stand.
pub(crate) fn json(value: &Value, is_sorted: bool) -> String {
    let mut out = String::new();
    write_json(value, is_sorted, &mut out);
    out
}

fn write_json(value: &Value, is_sorted: bool, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number)),
        Value::String(text) => write_json_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_json(item, is_sorted, out);
            }
            out.push(']');
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            if is_sorted {
                entries.sort_by_key(|(key, _)| *key);
            }
            out.push('{');
            for (at, (key, item)) in entries.into_iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                write_json_text(key, out);
                out.push_str(": ");
                write_json(item, is_sorted, out);
            }
            out.push('}');
        }
    }
}

fn write_json_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            _ => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn numbers_are_written_as_clients_know_them() {
        for (real, written) in [
            (1.0, "1.0"),
            (1.5, "1.5"),
            (-0.25, "-0.25"),
            (0.1, "0.1"),
            (0.0001, "0.0001"),
            (0.000_01, "1e-05"),
            (1.25e-7, "1.25e-07"),
            (1e15, "1000000000000000.0"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1e16, "1e+16"),
            (1e100, "1e+100"),
            (0.0, "0.0"),
        ] {
            assert_eq!(real_text(real), written);
        }
        assert_eq!(text(&value!(7)), "7");
        assert_eq!(text(&value!(true)), "True");
        assert_eq!(text(&Value::Null), "None");
        assert_eq!(text(&value!(18_446_744_073_709_551_615_u64)), "18446744073709551615");
    }

    #[test]
    fn values_are_written_with_the_quotes_that_fit() {
        for (given, written) in [
            (value!("a"), r"'a'"),
            (value!("it's"), r#""it's""#),
            (value!("it's \"so\""), r#"'it\'s "so"'"#),
            (value!("a\\b\n\u{1}é"), r"'a\\b\n\x01é'"),
            (value!([1, "a", null, 1.0]), "[1, 'a', None, 1.0]"),
            (value!({"a": {"b": false}}), "{'a': {'b': False}}"),
        ] {
            assert_eq!(repr(&given), written);
        }
    }

    #[test]
    fn json_is_ascii_and_sorted() {
        let given = value!({"b": [1, 2.0, null], "a": true, "é": "\u{7f}\u{1F600}\"\\\n"});
        let sorted = r#"{"a": true, "b": [1, 2.0, null], "\u00e9": "\u007f\ud83d\ude00\"\\\n"}"#;
        assert_eq!(json(&given, true), sorted);
        let back: Value = serde_json::from_str(&json(&given, false)).unwrap();
        assert_eq!(back, given);
    }

    #[test]
    fn what_equals_what() {
        for (left, right, are_equal) in [
            (value!(1), value!(1.0), true),
            (value!(true), value!(1), true),
            (value!(false), value!(0.0), true),
            (value!(1), value!("1"), false),
            (value!("true"), value!(true), false),
            (value!(null), value!(false), false),
            (value!([1, true]), value!([true, 1.0]), true),
            (value!({"a": 1, "b": 2}), value!({"b": 2, "a": true}), true),
            (value!({"a": 1}), value!({"a": 1, "b": 2}), false),
            (value!([]), value!({}), false),
            (value!(9_007_199_254_740_993_i64), value!(9_007_199_254_740_992.0), false),
        ] {
            assert_eq!(is_equal(&left, &right), are_equal, "{left} {right}");
            assert_eq!(is_equal(&right, &left), are_equal, "{right} {left}");
        }
    }

    #[test]
    fn whole_numbers_are_read_like_their_language_reads_them() {
        for (given, number) in [
            (value!(" 12 "), Some(12)),
            (value!("-1_000"), Some(-1000)),
            (value!("+3"), Some(3)),
            (value!("1__0"), None),
            (value!("1.5"), None),
            (value!(""), None),
            (value!(1.9), Some(1)),
            (value!(-1.9), Some(-1)),
            (value!(true), Some(1)),
            (value!(null), None),
        ] {
            assert_eq!(whole(&given), number, "{given}");
        }
    }
}
