//! Structured lines: JSON objects, one per line, as most logging libraries can write them.
//!
//! Only what nearly all of them have is looked for, under the names they use: a level, a message and
//! a time. Everything else is passed over without being kept, and the line itself stays as it is.

use std::fmt;

use hostler_model::Timestamp;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

hostler_model::labels! {
    /// How grave a structured line says it is, ascending.
    pub enum Level ("level") {
        Trace = "trace",
        Debug = "debug",
        Info = "info",
        Warn = "warn",
        Error = "error",
        Fatal = "fatal",
    }
}

impl Level {
    /// The words that libraries use.
    fn from_word(word: &str) -> Option<Level> {
        Some(match word.to_ascii_lowercase().as_str() {
            "trace" | "trc" | "finest" | "verbose" => Level::Trace,
            "debug" | "dbg" | "fine" => Level::Debug,
            "info" | "inf" | "information" | "informational" | "notice" => Level::Info,
            "warn" | "wrn" | "warning" => Level::Warn,
            "error" | "err" | "severe" => Level::Error,
            "fatal" | "ftl" | "critical" | "crit" | "panic" | "alert" | "emerg" | "emergency" => {
                Level::Fatal
            }
            _ => return None,
        })
    }

    /// The numbers that libraries use: syslog's up to 7, and tens from 10 on.
    fn from_number(number: u64) -> Option<Level> {
        Some(match number {
            0..=2 => Level::Fatal,
            3 => Level::Error,
            4 => Level::Warn,
            5 | 6 => Level::Info,
            7 => Level::Debug,
            10..20 => Level::Trace,
            20..30 => Level::Debug,
            30..40 => Level::Info,
            40..50 => Level::Warn,
            50..60 => Level::Error,
            60..=100 => Level::Fatal,
            _ => return None,
        })
    }
}

/// What a structured line says, where it says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    pub level: Option<Level>,
    pub message: Option<String>,
    /// The program's own time.
    pub time: Option<Timestamp>,
}

/// `None` when the line is not a JSON object.
pub fn fields(line: &[u8]) -> Option<Fields> {
    let text = line.trim_ascii();
    if text.first() != Some(&b'{') || text.last() != Some(&b'}') {
        return None;
    }
    serde_json::from_slice(text).ok()
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Fields, D::Error> {
        deserializer.deserialize_map(FieldsVisitor)
    }
}

struct FieldsVisitor;

impl<'de> Visitor<'de> for FieldsVisitor {
    type Value = Fields;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<Key>()? {
            match key {
                Key::Level => fields.level = fields.level.or(level(&map.next_value()?)),
                Key::Message => {
                    if let Value::String(text) = map.next_value()? {
                        fields.message = fields.message.or(Some(text));
                    }
                }
                Key::Time => fields.time = fields.time.or(time(&map.next_value()?)),
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(fields)
    }
}

enum Key {
    Level,
    Message,
    Time,
    Other,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(match name {
            "level" | "severity" | "lvl" => Key::Level,
            "msg" | "message" => Key::Message,
            "time" | "ts" | "timestamp" | "@timestamp" => Key::Time,
            _ => Key::Other,
        })
    }
}

fn level(value: &Value) -> Option<Level> {
    match value {
        Value::String(word) => Level::from_word(word),
        Value::Number(number) => Level::from_number(number.as_u64()?),
        _ => None,
    }
}

fn time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        Value::Number(number) => {
            let number = number.as_f64().filter(|n| *n >= 0.0)?;
            // Seconds, milliseconds, microseconds or nanoseconds since 1970: within the years
            // that matter these do not overlap.
            let seconds = [1e11, 1e14, 1e17, 1e20]
                .iter()
                .zip([1.0, 1e3, 1e6, 1e9])
                .find(|(limit, _)| number < **limit)
                .map(|(_, unit)| number / unit)?;
            Some(Timestamp::EPOCH.plus(std::time::Duration::try_from_secs_f64(seconds).ok()?))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_names_are_found() {
        let noon: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        let table = [
            (r#"{"level":"warn","msg":"low"}"#, Some(Level::Warn), Some("low"), None),
            (r#"{"severity":"ERROR","message":"x\n"}"#, Some(Level::Error), Some("x\n"), None),
            (r#"{"lvl":"inf","ts":1769860800}"#, Some(Level::Info), None, Some(noon)),
            (r#"{"level":30,"time":1769860800000}"#, Some(Level::Info), None, Some(noon)),
            (r#"{"level":3,"timestamp":1769860800000000}"#, Some(Level::Error), None, Some(noon)),
            (r#"{"@timestamp":"2026-01-31T13:00:00+01:00"}"#, None, None, Some(noon)),
            (r#"  {"a":{"level":"warn"},"level":{}} "#, None, None, None),
            (r#"{"level":"loud","level":"debug","msg":1}"#, Some(Level::Debug), None, None),
            ("{}", None, None, None),
        ];
        for (line, level, message, time) in table {
            let found = fields(line.as_bytes()).expect(line);
            assert_eq!((found.level, found.message.as_deref(), found.time), (level, message, time));
        }
    }

    #[test]
    fn other_lines_are_not_structured() {
        for line in ["", "{", "{}x", "[1]", "level=warn", r#"{"a":}"#, r#"{"a":1} {"b":2}"#, "7"] {
            assert_eq!(fields(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn levels_are_ordered_and_every_label_is_a_word() {
        assert!(Level::ALL.is_sorted());
        for level in Level::ALL {
            assert_eq!(Level::from_word(level.label()), Some(*level));
        }
    }
}
