//! What a word without quotes means in YAML 1.1.
//!
//! `yes` and `off` are booleans, `0777` is octal, `1:30` is ninety, and `_` may stand in numbers. Dates and
//! times stay texts, so that a version may be written without quotes. Numbers that JSON does not have (not a
//! number, infinity, whole ones of more than 64 bits) stay the texts they are.

use serde_json::{Number, Value};

/// What a plain word means.
pub fn meaning(word: &str) -> Value {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Value::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Value::Bool(false)
        }
        _ => number(word).map_or_else(|| Value::String(word.to_owned()), Value::Number),
    }
}

/// The number that a word means, if it means one.
pub fn number(word: &str) -> Option<Number> {
    let (is_negative, body) = match word.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, word.strip_prefix('+').unwrap_or(word)),
    };
    if let Some(value) = whole(body) {
        let signed = if is_negative { -value } else { value };
        return match u64::try_from(signed) {
            Ok(value) => Some(value.into()),
            Err(_) => i64::try_from(signed).ok().map(Number::from),
        };
    }
    let has_sign = body.len() < word.len();
    let value = fraction(body, has_sign)?;
    Number::from_f64(if is_negative { -value } else { value })
}

fn whole(body: &str) -> Option<i128> {
    let digits = |text: &str, radix: u32| -> Option<i128> {
        let is_digits = text.chars().all(|c| c == '_' || c.is_digit(radix));
        let plain = text.replace('_', "");
        i128::from_str_radix(&plain, radix).ok().filter(|_| is_digits)
    };
    if let Some(rest) = body.strip_prefix("0b") {
        return digits(rest, 2);
    }
    if let Some(rest) = body.strip_prefix("0x") {
        return digits(rest, 16);
    }
    if body == "0" {
        return Some(0);
    }
    if let Some(rest) = body.strip_prefix('0') {
        return digits(rest, 8).or_else(|| rest.chars().all(|c| c == '_').then_some(0));
    }
    let (first, rest) = body.split_once(':').unwrap_or((body, ""));
    let value = digits(first, 10).filter(|_| first.starts_with(|c: char| c.is_ascii_digit()))?;
    if !body.contains(':') {
        return Some(value);
    }
    rest.split(':').try_fold(value, |sum, part| sum.checked_mul(60)?.checked_add(sixtieth(part)?))
}

fn sixtieth(part: &str) -> Option<i128> {
    let is_short = matches!(part.len(), 1 | 2) && part.bytes().all(|b| b.is_ascii_digit());
    part.parse().ok().filter(|value: &i128| is_short && *value < 60)
}

fn fraction(body: &str, has_sign: bool) -> Option<f64> {
    let (before, after) = body.split_once('.')?;
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let begins_with_digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    if before.contains(':') {
        let whole = whole(before).filter(|_| is_digits(after) && !before.starts_with("0b"))?;
        let rest = format!("0.{}0", after.replace('_', "")).parse::<f64>().ok()?;
        return whole.to_string().parse::<f64>().ok().map(|whole| whole + rest);
    }
    let (digits, exponent) = match after.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, Some(exponent)),
        None => (after, None),
    };
    let is_number = match before.is_empty() {
        true => !has_sign && begins_with_digit(digits),
        false => begins_with_digit(before) && is_digits(before),
    };
    let is_exponent = exponent.is_none_or(|exponent| {
        let rest = exponent.strip_prefix(['+', '-']).unwrap_or_default();
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit())
    });
    let text = format!("0{before}.{digits}0e{}", exponent.unwrap_or("0")).replace('_', "");
    text.parse().ok().filter(|_| is_number && is_exponent && is_digits(digits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn words_mean_what_they_meant_in_the_first_edition() {
        for (word, expected) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("Null", json!(null)),
            ("nULL", json!("nULL")),
            ("yes", json!(true)),
            ("On", json!(true)),
            ("oN", json!("oN")),
            ("y", json!("y")),
            ("off", json!(false)),
            ("NO", json!(false)),
            ("0", json!(0)),
            ("-0", json!(0)),
            ("42", json!(42)),
            ("+7", json!(7)),
            ("-7", json!(-7)),
            ("1_000", json!(1000)),
            ("_1", json!("_1")),
            ("0777", json!(511)),
            ("-010", json!(-8)),
            ("0o17", json!("0o17")),
            ("089", json!("089")),
            ("0x1F", json!(31)),
            ("0x", json!("0x")),
            ("0b101", json!(5)),
            ("0b2", json!("0b2")),
            ("1:30", json!(90)),
            ("-1:30", json!(-90)),
            ("1:30:00", json!(5400)),
            ("12:60", json!("12:60")),
            ("01:30", json!("01:30")),
            ("1:2:3.5", json!(3723.5)),
            ("00:11:22:33:44:55", json!("00:11:22:33:44:55")),
            ("1.5", json!(1.5)),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("-.5", json!("-.5")),
            ("1e3", json!("1e3")),
            ("1.0e3", json!("1.0e3")),
            ("1.0e+3", json!(1000.0)),
            ("1.5E-1", json!(0.15)),
            ("1.0e+", json!("1.0e+")),
            ("1.2.3", json!("1.2.3")),
            (".", json!(".")),
            ("-", json!("-")),
            (".inf", json!(".inf")),
            (".nan", json!(".nan")),
            ("1.0e+999", json!("1.0e+999")),
            ("2013-05-23", json!("2013-05-23")),
            ("2001-12-14t21:59:43.10-05:00", json!("2001-12-14t21:59:43.10-05:00")),
            ("10.0.0.1", json!("10.0.0.1")),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!("18446744073709551616")),
            ("-9223372036854775808", json!(i64::MIN)),
            ("=", json!("=")),
            ("ä1", json!("ä1")),
            ("1ä", json!("1ä")),
            ("0x_", json!("0x_")),
        ] {
            assert_eq!(meaning(word), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn no_word_is_too_strange(word in "[-+0-9a-fx_:.eE]{0,24}|\\PC{0,12}") {
            if let Value::String(text) = meaning(&word) {
                prop_assert_eq!(text, word);
            }
        }

        #[test]
        fn whole_numbers_are_themselves(number: i64) {
            prop_assert_eq!(meaning(&number.to_string()), json!(number));
        }
    }
}
