//! Reading of properties that were resolved and converted: what is there has the right shape, what is not there is not there.

use std::time::Duration;

use hostler_model::Timestamp;
use serde_json::{Map, Value};

/// A map of properties, by name.
pub(crate) trait Read {
    fn text(&self, name: &str) -> Option<&str>;
    fn number(&self, name: &str) -> Option<f64>;
    fn integer(&self, name: &str) -> Option<i64>;
    fn flag(&self, name: &str) -> bool;
    fn list(&self, name: &str) -> &[Value];
    fn map(&self, name: &str) -> Option<&Map<String, Value>>;

    /// The texts of a list.
    fn texts(&self, name: &str) -> Vec<&str> {
        self.list(name).iter().filter_map(Value::as_str).collect()
    }
}

impl Read for Map<String, Value> {
    fn text(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Value::as_str)
    }

    fn number(&self, name: &str) -> Option<f64> {
        self.get(name).and_then(Value::as_f64)
    }

    fn integer(&self, name: &str) -> Option<i64> {
        let value = self.get(name)?;
        #[expect(clippy::cast_possible_truncation, reason = "the fraction is what is to go")]
        let cut = || value.as_f64().map(|number| number as i64);
        value.as_i64().or_else(cut)
    }

    fn flag(&self, name: &str) -> bool {
        self.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    fn list(&self, name: &str) -> &[Value] {
        self.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    fn map(&self, name: &str) -> Option<&Map<String, Value>> {
        self.get(name).and_then(Value::as_object)
    }
}

/// So many seconds later. More than a century is a century.
pub(crate) fn later(from: Timestamp, seconds: f64) -> Timestamp {
    const CENTURY: Duration = Duration::from_secs(100 * 366 * 86_400);
    let length = Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(CENTURY);
    from.plus(length.min(CENTURY))
}

/// When somebody looks at what waits only to be told: what tells it wakes it, so this is for what was missed.
pub(crate) fn when_told(now: Timestamp) -> Timestamp {
    now.plus(Duration::from_secs(3600))
}

/// Data as a document with blanks after its commas and colons, as clients compare it.
pub(crate) fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(spaced).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let of = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::String(key.clone()), spaced(value))
            };
            let entries: Vec<_> = map.iter().map(of).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn properties_are_read_as_what_they_are() {
        let value = json!({"a": "x", "n": 2.7, "i": -3, "f": true, "l": ["p", 1], "m": {"k": 1}});
        let map = value.as_object().unwrap();
        assert_eq!((map.text("a"), map.text("n")), (Some("x"), None));
        assert_eq!(
            (map.number("n"), map.integer("n"), map.integer("i")),
            (Some(2.7), Some(2), Some(-3))
        );
        assert!(map.flag("f") && !map.flag("a"));
        assert_eq!((map.texts("l"), map.list("nothing").len()), (vec!["p"], 0));
        assert!(map.map("m").is_some());
    }

    #[test]
    fn times_are_never_too_far() {
        let zero = Timestamp::from_micros(0);
        assert_eq!(later(zero, 1.5), Timestamp::from_micros(1_500_000));
        assert_eq!(later(zero, -4.0), zero);
        assert_eq!(later(zero, f64::MAX), later(zero, f64::INFINITY));
    }

    #[test]
    fn documents_have_blanks() {
        let value = json!({"1": "a\"b", "l": [1, null, {}]});
        assert_eq!(spaced(&value), r#"{"1": "a\"b", "l": [1, null, {}]}"#);
    }
}
