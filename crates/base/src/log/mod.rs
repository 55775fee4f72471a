//! Logs and traces: one line per event on stderr, and spans to a collector if one is configured.
//!
//! Two formats. `text` is for people: time, level, target, message, then `key=value`. `json` is for
//! machines: one object per line with `ts`, `level`, `msg`, `target` and every field beside them;
//! fields of the enclosing spans come along, and an event's own field wins over a span's of the same
//! name. Writing never fails the program: a line that cannot be written is dropped.
//!
//! Traces go out over OTLP (gRPC) in batches, in the background. A collector that is away costs
//! nothing but its spans: start never waits for it, and stopping waits for a short moment only.

mod lines;
mod telemetry;

pub use lines::Lines;
pub use telemetry::{Telemetry, TelemetryConfig, continue_trace, record_span, trace_of};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, filter};

use crate::clock::Clock;

hostler_model::labels! {
    /// How log lines look.
    pub enum LogFormat ("log format") {
        /// For people.
        Text = "text",
        /// For machines: one JSON object per line.
        Json = "json",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogConfig {
    pub format: LogFormat,
    /// Which events are logged, as in `info,hostler_agent=debug`.
    pub filter: String,
    /// Where traces go; `None` means nowhere.
    pub telemetry: Option<TelemetryConfig>,
}

impl Default for LogConfig {
    fn default() -> LogConfig {
        LogConfig { format: LogFormat::Text, filter: "info".to_owned(), telemetry: None }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "`{filter}` is not a log filter; write for example `info` or `info,hostler_agent=debug`"
    )]
    Filter {
        filter: String,
        #[source]
        source: filter::ParseError,
    },
    #[error(
        "`{endpoint}` is not the address of a collector; write for example http://127.0.0.1:4317"
    )]
    Endpoint { endpoint: String },
    #[error("the exporter of traces cannot be set up")]
    Exporter(#[source] opentelemetry_otlp::ExporterBuildError),
    #[error("logging was set up twice in one process")]
    Twice(#[source] tracing_subscriber::util::TryInitError),
}

/// Keeps logging alive; dropping it sends the last traces.
#[must_use = "traces are flushed when the guard is dropped"]
#[derive(Debug)]
pub struct LogGuard {
    _telemetry: Option<Telemetry>,
}

/// Sets up logging for the whole process. With telemetry it must be called inside a tokio runtime.
pub fn init(config: &LogConfig, clock: &Clock) -> Result<LogGuard, Error> {
    let filter = filter(&config.filter)?;
    let telemetry = config.telemetry.as_ref().map(Telemetry::start).transpose()?;
    let lines = Lines::new(config.format, clock.clone(), std::io::stderr());
    tracing_subscriber::registry()
        .with(telemetry.as_ref().map(Telemetry::layer))
        .with(lines.with_filter(filter))
        .try_init()
        .map_err(Error::Twice)?;
    Ok(LogGuard { _telemetry: telemetry })
}

/// Reads a filter; also to check one before it is used.
pub fn filter(text: &str) -> Result<EnvFilter, Error> {
    EnvFilter::builder()
        .parse(text)
        .map_err(|source| Error::Filter { filter: text.chars().take(256).collect(), source })
}
