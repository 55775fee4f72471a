//! Values of steps as the bytes that an installation keeps of them, and back.
//!
//! What is kept is read by others too: a text is kept as it is, a number in digits, a table as JSON. A text that would
//! read as something else (`5`, `{}`) is kept as a text of JSON, so that every value comes back as it was. What is
//! neither JSON nor text comes back as the bytes that it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Number, Value as Json};

/// The only field of what stands for bytes that are no text.
const BYTES: &str = "\u{0}bytes";

/// Bytes that are no text, among values that JSON knows.
pub fn of_bytes(bytes: &[u8]) -> Json {
    let encoded = Json::String(STANDARD.encode(bytes));
    Json::Object(Map::from_iter([(BYTES.to_owned(), encoded)]))
}

/// The bytes that a value stands for, if it does.
pub fn bytes_of(value: &Json) -> Option<Vec<u8>> {
    match value {
        Json::Object(fields) if fields.len() == 1 => {
            STANDARD.decode(fields.get(BYTES)?.as_str()?).ok()
        }
        _ => None,
    }
}

/// A value as it is kept.
pub fn encode(value: &Json) -> Vec<u8> {
    if let Some(bytes) = bytes_of(value) {
        return bytes;
    }
    match value {
        Json::String(text) if decode(text.as_bytes()) == *value => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

/// What is kept as a value.
pub fn decode(bytes: &[u8]) -> Json {
    let Ok(text) = std::str::from_utf8(bytes) else { return of_bytes(bytes) };
    match serde_json::from_str::<Json>(text) {
        Ok(Json::Number(number)) => {
            exact(number, text).map_or_else(|| Json::String(text.to_owned()), Json::Number)
        }
        Ok(value) => value,
        Err(_) => Json::String(text.to_owned()),
    }
}

/// A number that is written exactly so; digits that a number cannot hold are text.
fn exact(read: Number, text: &str) -> Option<Number> {
    let number = match read.is_f64() {
        true => Number::from_f64(text.parse().ok()?)?,
        false => read,
    };
    (number.to_string() == text).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_kept_reads_well_and_comes_back_as_it_was() {
        for (value, kept) in [
            (json!("web-1"), "web-1"),
            (json!(""), ""),
            (json!("5"), "\"5\""),
            (json!("{}"), "\"{}\""),
            (json!("\"a\""), "\"\\\"a\\\"\""),
            (json!(" 5"), " 5"),
            (json!("007"), "007"),
            (json!("1e5"), "1e5"),
            (json!("a\nb\u{e4}"), "a\nb\u{e4}"),
            (json!(5), "5"),
            (json!(-2.5), "-2.5"),
            (json!(0.1 + 0.2), "0.30000000000000004"),
            (json!(1e300), "1e+300"),
            (json!(true), "true"),
            (json!(null), "null"),
            (json!([1, "x", {"a": null}]), "[1,\"x\",{\"a\":null}]"),
            (json!({}), "{}"),
        ] {
            assert_eq!(String::from_utf8(encode(&value)).unwrap(), kept, "{value}");
            assert_eq!(decode(&encode(&value)), value);
        }
        let bytes = [0, 255, 128, b'x'];
        assert_eq!(bytes_of(&decode(&bytes)).unwrap(), bytes);
        assert_eq!(encode(&decode(&bytes)), bytes);
    }

    #[test]
    fn what_others_kept_is_read() {
        for (kept, value) in [
            ("42", json!(42)),
            ("12345678901234567890123", json!("12345678901234567890123")),
            ("1.50", json!("1.50")),
            ("host=db1", json!("host=db1")),
            ("[1, 2]", json!([1, 2])),
            ("{\"a\": ", json!("{\"a\": ")),
        ] {
            assert_eq!(decode(kept.as_bytes()), value, "{kept}");
        }
    }
}
