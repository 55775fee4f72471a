//! Texts as numbers and as truths, the way parameters and properties take them.

use serde_json::{Number, Value};

use crate::function::python;

/// A value as a number: itself, or what its text says.
pub fn number(value: &Value) -> Result<Number, String> {
    match value {
        Value::Number(number) => Ok(number.clone()),
        Value::Bool(value) => Ok(u8::from(*value).into()),
        Value::String(text) => number_text(text)
            .ok_or_else(|| format!("could not convert string to float: {}", python::repr(value))),
        other => Err(no_number(other)),
    }
}

/// A value as a whole number; what follows the point is cut off.
pub fn integer(value: &Value) -> Result<Number, String> {
    match value {
        Value::Bool(value) => Ok(u8::from(*value).into()),
        Value::Number(number) if number.is_f64() => number
            .as_f64()
            .and_then(cut)
            .ok_or_else(|| format!("Value '{}' is not an integer", python::text(value))),
        Value::Number(number) => Ok(number.clone()),
        Value::String(text) => python::parse_whole(text)
            .and_then(whole)
            .ok_or_else(|| format!("Value '{text}' is not an integer")),
        other => Err(no_number(other)),
    }
}

fn no_number(value: &Value) -> String {
    format!(
        "int() argument must be a string, a bytes-like object or a real number, not '{}'",
        python::type_name(value)
    )
}

fn cut(value: f64) -> Option<Number> {
    let whole_part = value.trunc();
    format!("{whole_part:.0}").parse().ok().and_then(whole)
}

fn whole(value: i128) -> Option<Number> {
    match u64::try_from(value) {
        Ok(value) => Some(value.into()),
        Err(_) => i64::try_from(value).ok().map(Number::from),
    }
}

/// The number that a text is: whole, or with a point or an exponent.
pub fn number_text(text: &str) -> Option<Number> {
    if let Some(value) = python::parse_whole(text) {
        return whole(value);
    }
    let plain = text.trim();
    let is_grouped = plain.split('_').all(|part| {
        part.starts_with(|c: char| c.is_ascii_digit())
            && part.ends_with(|c: char| c.is_ascii_digit())
    });
    let plain = if is_grouped { plain.replace('_', "") } else { plain.to_owned() };
    let is_digits = plain.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
    plain.parse::<f64>().ok().filter(|_| is_digits).and_then(Number::from_f64)
}

const TRUE: [&str; 6] = ["1", "on", "t", "true", "y", "yes"];
const FALSE: [&str; 6] = ["0", "f", "false", "n", "no", "off"];

/// The truth that a value says when it is written as text.
pub fn boolean(value: &Value) -> Result<bool, String> {
    let word = python::text(value).trim().to_lowercase();
    match (TRUE.contains(&word.as_str()), FALSE.contains(&word.as_str())) {
        (true, _) => Ok(true),
        (_, true) => Ok(false),
        _ => {
            let mut words = [TRUE, FALSE].concat();
            words.sort_unstable();
            let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
            let given = python::text(value);
            Err(format!(
                "Unrecognized value '{given}', acceptable values are: {}",
                words.join(", ")
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_become_numbers() {
        for (given, expected) in [
            (json!("12"), Ok(json!(12))),
            (json!(" 12 "), Ok(json!(12))),
            (json!("-1_000"), Ok(json!(-1000))),
            (json!("1.50"), Ok(json!(1.5))),
            (json!("1e3"), Ok(json!(1000.0))),
            (json!(true), Ok(json!(1))),
            (json!("0x10"), Err("could not convert string to float: '0x10'")),
            (json!("abc"), Err("could not convert string to float: 'abc'")),
            (json!(""), Err("could not convert string to float: ''")),
            (json!("inf"), Err("could not convert string to float: 'inf'")),
            (
                json!([]),
                Err(
                    "int() argument must be a string, a bytes-like object or a real number, not 'list'",
                ),
            ),
        ] {
            let expected = expected.map_err(str::to_owned);
            assert_eq!(number(&given).map(Value::Number), expected, "{given}");
        }
    }

    #[test]
    fn whole_numbers_are_cut_off() {
        for (given, expected) in [
            (json!(1.7), Ok(json!(1))),
            (json!(-1.7), Ok(json!(-1))),
            (json!("7"), Ok(json!(7))),
            (json!("1.7"), Err("Value '1.7' is not an integer")),
            (json!("abc"), Err("Value 'abc' is not an integer")),
            (json!(1e30), Err("Value '1e+30' is not an integer")),
            (json!(u64::MAX), Ok(json!(u64::MAX))),
        ] {
            let expected = expected.map_err(str::to_owned);
            assert_eq!(integer(&given).map(Value::Number), expected, "{given}");
        }
    }

    #[test]
    fn truths_have_many_words() {
        for word in ["t", "TRUE", " on ", "y", "Yes", "1"] {
            assert_eq!(boolean(&json!(word)), Ok(true), "{word}");
        }
        for word in ["F", "false", "off", "n", "no", "0"] {
            assert_eq!(boolean(&json!(word)), Ok(false), "{word}");
        }
        assert_eq!(boolean(&json!(1)), Ok(true));
        assert_eq!(
            boolean(&json!("maybe")),
            Err("Unrecognized value 'maybe', acceptable values are: '0', '1', 'f', 'false', 'n', \
                 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
                .to_owned())
        );
    }
}
