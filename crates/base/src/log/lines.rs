//! The layer that writes events as lines.

use std::error::Error as StdError;
use std::fmt::{self, Write as _};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::LogFormat;
use crate::chain::chain;
use crate::clock::Clock;

/// Writes every event as one line, with the fields of its spans.
pub struct Lines<W> {
    format: LogFormat,
    clock: Clock,
    writer: Mutex<W>,
}

impl<W: Write + Send + 'static> Lines<W> {
    pub fn new(format: LogFormat, clock: Clock, writer: W) -> Lines<W> {
        Lines { format, clock, writer: Mutex::new(writer) }
    }

    fn render(&self, event: &Event<'_>, mut fields: Map<String, Value>) -> String {
        let message = match fields.shift_remove(MESSAGE) {
            Some(Value::String(text)) => text,
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let meta = event.metadata();
        let mut line = String::with_capacity(160);
        match self.format {
            LogFormat::Json => {
                let mut object = Map::new();
                object.insert("ts".to_owned(), self.clock.now().to_string().into());
                object.insert("level".to_owned(), meta.level().as_str().into());
                object.insert("msg".to_owned(), message.into());
                object.insert("target".to_owned(), meta.target().into());
                for (key, value) in fields {
                    let key = if object.contains_key(&key) { format!("field.{key}") } else { key };
                    object.insert(key, value);
                }
                line.push_str(&Value::Object(object).to_string());
            }
            LogFormat::Text => {
                // Writing to a string cannot fail.
                let _ = write!(
                    line,
                    "{} {:5} {}: {}",
                    self.clock.now(),
                    meta.level(),
                    meta.target(),
                    Printable(&message),
                );
                for (key, value) in &fields {
                    let _ = match value {
                        Value::String(text) if is_plain(text) => write!(line, " {key}={text}"),
                        value => write!(line, " {key}={}", Printable(&value.to_string())),
                    };
                }
            }
        }
        line.push('\n');
        line
    }
}

impl<S, W> Layer<S> for Lines<W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    W: Write + Send + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        if let Some(span) = context.span(id) {
            let mut fields = Fields::default();
            attributes.record(&mut fields);
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut own = Fields::default();
        event.record(&mut own);
        let mut all = own.0;
        for span in context.event_scope(event).into_iter().flat_map(|scope| scope.from_root()) {
            if let Some(fields) = span.extensions().get::<Fields>() {
                for (key, value) in &fields.0 {
                    if !all.contains_key(key) {
                        all.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        let line = self.render(event, all);
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // There is nowhere left to complain to.
        let _ = writer.write_all(line.as_bytes());
    }
}

const MESSAGE: &str = "message";

/// The fields of a span or an event, in order.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        let name = field.name();
        let name = name.strip_prefix("r#").unwrap_or(name);
        self.0.insert(name.to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }
    fn record_i128(&mut self, field: &Field, value: i128) {
        self.put(field, value.to_string());
    }
    fn record_u128(&mut self, field: &Field, value: u128) {
        self.put(field, value.to_string());
    }
    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }
    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, value);
    }
    fn record_error(&mut self, field: &Field, value: &(dyn StdError + 'static)) {
        self.put(field, chain(value).to_string());
    }
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, format!("{value:?}"));
    }
}

/// Whether a value needs no quotes in the text format.
fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| {
            !letter.is_whitespace() && !is_risky(letter) && letter != '"' && letter != '='
        })
}

/// Whether a terminal would do something else with a character than show it: control characters, ends of
/// lines, and marks for another direction of writing.
fn is_risky(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A text on one line and without terminal controls, whatever was in it.
struct Printable<'a>(&'a str);

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            if is_risky(letter) {
                write!(f, "{}", letter.escape_default())?;
            } else {
                f.write_char(letter)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use hostler_model::Timestamp;
    use tracing::{error, info, info_span};
    use tracing_subscriber::layer::SubscriberExt;

    use crate::clock::ManualClock;

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: LogFormat, events: impl FnOnce()) -> Vec<String> {
        let sink = Sink::default();
        let clock = ManualClock::new(Timestamp::from_micros(1_790_000_000_000_001)).clock();
        let subscriber =
            tracing_subscriber::registry().with(Lines::new(format, clock, sink.clone()));
        tracing::subscriber::with_default(subscriber, events);
        let bytes = sink.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn json_lines_have_the_promised_keys() {
        let lines = logged(LogFormat::Json, || {
            let span = info_span!("session", node_id = 7, session = tracing::field::Empty);
            span.record("session", "s-1");
            let _entered = span.enter();
            info!(node_id = 8, name = "a b", msg = "mine", "node config accepted");
        });
        assert_eq!(
            lines,
            [
                r#"{"ts":"2026-09-21T14:13:20.000001Z","level":"INFO","msg":"node config accepted","target":"hostler_base::log::lines::tests","node_id":8,"name":"a b","field.msg":"mine","session":"s-1"}"#
            ]
        );
    }

    #[test]
    fn text_lines_stay_one_line() {
        let lines = logged(LogFormat::Text, || {
            let cause = std::io::Error::other("disk\nis gone");
            error!(
                error = &cause as &(dyn StdError + 'static),
                path = "/var",
                "bad\u{1b}[31m news"
            );
        });
        assert_eq!(
            lines,
            [
                r#"2026-09-21T14:13:20.000001Z ERROR hostler_base::log::lines::tests: bad\u{1b}[31m news error="disk\nis gone" path=/var"#
            ]
        );
    }

    #[test]
    fn log_injection_stays_on_its_line() {
        let evil =
            "x\r\n2026-09-21T14:13:20Z INFO forged: yes\u{1b}[2J\u{9b}1A\u{7f}\u{2028}\u{202e}z";
        for format in [LogFormat::Text, LogFormat::Json] {
            let lines = logged(format, || {
                let span = info_span!("request", path = evil);
                let _entered = span.enter();
                info!(name = evil, shown = %evil, debugged = ?evil, "{evil}");
            });
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(!lines[0].contains('\u{1b}'), "{}", lines[0]);
            if format == LogFormat::Text {
                assert!(!lines[0].chars().any(is_risky), "{}", lines[0]);
            }
        }
    }
}
