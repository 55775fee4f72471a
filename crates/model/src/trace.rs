//! Which trace something belongs to: the W3C Trace Context of the request that began it.
//!
//! It is written as a `traceparent`: `00-TRACE-SPAN-FLAGS`, in lowercase hex. The trace is what everything
//! that follows from one request shares, on every process and machine; the span is the part of it that this
//! is a part of.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A trace, and the span in it that caused what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceContext {
    trace: [u8; 16],
    span: [u8; 8],
    flags: u8,
}

/// What is not a `traceparent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a traceparent; it looks like 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")]
pub struct NotTraceparent;

impl TraceContext {
    /// A trace that is recorded, where somebody records; `None` for ids of nothing but zeros, which mean
    /// that there is none.
    pub fn new(trace: [u8; 16], span: [u8; 8]) -> Option<TraceContext> {
        let is_there = trace != [0; 16] && span != [0; 8];
        is_there.then_some(TraceContext { trace, span, flags: 1 })
    }

    /// Whoever began it wants it recorded.
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }

    pub fn trace(&self) -> [u8; 16] {
        self.trace
    }

    pub fn span(&self) -> [u8; 8] {
        self.span
    }

    /// What people look it up by: 32 hex digits.
    pub fn trace_id(&self) -> String {
        hex(&self.trace)
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex<const N: usize>(text: &str) -> Result<[u8; N], NotTraceparent> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err(NotTraceparent),
    };
    let text = text.as_bytes();
    if text.len() != 2 * N {
        return Err(NotTraceparent);
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(bytes)
}

impl fmt::Display for TraceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "00-{}-{}-{:02x}", hex(&self.trace), hex(&self.span), self.flags)
    }
}

impl FromStr for TraceContext {
    type Err = NotTraceparent;

    /// Versions after the first may have more fields; what they have in common is read.
    fn from_str(text: &str) -> Result<TraceContext, NotTraceparent> {
        let mut parts = text.split('-');
        let mut next = || parts.next().ok_or(NotTraceparent);
        let [version] = unhex::<1>(next()?)?;
        let (trace, span) = (unhex(next()?)?, unhex(next()?)?);
        let [flags] = unhex::<1>(next()?)?;
        let has_more = parts.next().is_some();
        if version == 0xff || version == 0 && has_more {
            return Err(NotTraceparent);
        }
        let known = TraceContext::new(trace, span).ok_or(NotTraceparent)?;
        Ok(TraceContext { flags: flags & 1, ..known })
    }
}

impl Serialize for TraceContext {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TraceContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TraceContext, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_traceparent_is_read_and_printed_alike() {
        let text = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let context: TraceContext = text.parse().unwrap();
        assert_eq!(context.to_string(), text);
        assert_eq!(context.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        let unsampled: TraceContext =
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-02".parse().unwrap();
        assert!(
            unsampled.to_string().ends_with("-00"),
            "flags that are not known are not passed on"
        );
        let later = format!("cc{}-more", &text[2..]);
        assert_eq!(later.parse::<TraceContext>().unwrap().trace_id(), context.trace_id());
    }

    #[test]
    fn what_is_not_is_not() {
        for text in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473\u{e4}-00f067aa0ba902b7-01",
        ] {
            assert_eq!(text.parse::<TraceContext>(), Err(NotTraceparent), "{text}");
        }
    }
}
