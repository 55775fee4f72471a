//! Pieces of a stream: lines, numbers, all of it.

use std::io::{BufRead, Error, Read, Result};

use crate::modules::util::fs::LARGEST;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Format {
    Line { with_end: bool },
    Number,
    All,
    Bytes(usize),
}

/// What was there.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    Text(Vec<u8>),
    Number(f64),
    Nothing,
}

impl Format {
    /// `*l`, `*L`, `*n`, `*a`, with or without the star; only the first letter counts.
    pub fn named(name: &str) -> Option<Format> {
        Some(match name.trim_start_matches('*').chars().next()? {
            'l' => Format::Line { with_end: false },
            'L' => Format::Line { with_end: true },
            'n' => Format::Number,
            'a' => Format::All,
            _ => return None,
        })
    }

    pub fn read(self, from: &mut dyn BufRead) -> Result<Piece> {
        match self {
            Format::Line { with_end } => line(from, with_end),
            Format::Number => number(from),
            Format::All => bounded(from, u64::MAX).map(Piece::Text),
            Format::Bytes(0) if from.fill_buf()?.is_empty() => Ok(Piece::Nothing),
            Format::Bytes(0) => Ok(Piece::Text(Vec::new())),
            Format::Bytes(most) => {
                let bytes = bounded(from, most as u64)?;
                Ok(if bytes.is_empty() { Piece::Nothing } else { Piece::Text(bytes) })
            }
        }
    }
}

fn too_much() -> Error {
    Error::other("that is more than 256 MiB at once; read it in pieces")
}

fn bounded(from: &mut dyn BufRead, most: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.min(LARGEST + 1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST { Err(too_much()) } else { Ok(bytes) }
}

fn line(from: &mut dyn BufRead, with_end: bool) -> Result<Piece> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(Piece::Nothing);
    }
    if bytes.len() as u64 > LARGEST {
        return Err(too_much());
    }
    if !with_end && bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    Ok(Piece::Text(bytes))
}

/// As much as can belong to a number; what is none is nothing.
fn number(from: &mut dyn BufRead) -> Result<Piece> {
    while let Some(byte) = peek(from)?
        && byte.is_ascii_whitespace()
    {
        from.consume(1);
    }
    let mut text = String::new();
    while let Some(byte) = peek(from)?
        && text.len() < 200
    {
        let is_hex = text.trim_start_matches(['+', '-']).to_ascii_lowercase().starts_with("0x");
        let fits = match byte {
            b'0'..=b'9' => true,
            b'+' | b'-' => text.is_empty() || (!is_hex && text.ends_with(['e', 'E'])),
            b'x' | b'X' => matches!(text.trim_start_matches(['+', '-']), "0"),
            b'e' | b'E' if !is_hex => !text.is_empty() && !text.contains(['e', 'E']),
            b'a'..=b'f' | b'A'..=b'F' => is_hex,
            b'.' => !is_hex && !text.contains(['.', 'e', 'E']),
            _ => false,
        };
        if !fits {
            break;
        }
        text.push(char::from(byte));
        from.consume(1);
    }
    Ok(value_of(&text).map_or(Piece::Nothing, Piece::Number))
}

fn peek(from: &mut dyn BufRead) -> Result<Option<u8>> {
    Ok(from.fill_buf()?.first().copied())
}

fn value_of(text: &str) -> Option<f64> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    match rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
        #[expect(clippy::cast_precision_loss, reason = "as Lua does")]
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|n| sign * n as f64),
        None => rest.parse::<f64>().ok().map(|n| sign * n),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn numbers_are_read_as_far_as_they_go() {
        for (text, value, rest) in [
            ("12 x", Some(12.0), " x"),
            ("  -1.5e3,", Some(-1500.0), ","),
            ("0x1fz", Some(31.0), "z"),
            ("+7", Some(7.0), ""),
            ("abc", None, "abc"),
            ("", None, ""),
            (".5.5", Some(0.5), ".5"),
            ("inf", None, "inf"),
        ] {
            let mut from = Cursor::new(text.as_bytes());
            let expected = value.map_or(Piece::Nothing, Piece::Number);
            assert_eq!(Format::Number.read(&mut from).unwrap(), expected, "{text}");
            let mut left = String::new();
            from.read_to_string(&mut left).unwrap();
            assert_eq!(left, rest, "{text}");
        }
    }

    #[test]
    fn the_end_is_nothing_except_for_everything() {
        let mut from = Cursor::new(b"");
        for (name, expected) in [
            ("*l", Piece::Nothing),
            ("*L", Piece::Nothing),
            ("*a", Piece::Text(Vec::new())),
            ("a", Piece::Text(Vec::new())),
            ("*n", Piece::Nothing),
        ] {
            assert_eq!(Format::named(name).unwrap().read(&mut from).unwrap(), expected, "{name}");
        }
        assert_eq!(Format::Bytes(0).read(&mut from).unwrap(), Piece::Nothing);
        assert_eq!(Format::Bytes(3).read(&mut from).unwrap(), Piece::Nothing);
        assert_eq!(Format::named("*x"), None);
        assert_eq!(Format::named("*"), None);
    }
}
