//! Why a value could not be read into its type, before it is put into words for people.

use std::fmt;

use serde::de::{self, Expected, Unexpected};

use crate::tree::Step;

/// What went wrong and where, seen from the value that reading began with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    pub kind: Kind,
    /// Innermost step first.
    path: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Type {
        found: String,
        expected: String,
    },
    UnknownField {
        field: String,
        known: &'static [&'static str],
    },
    UnknownVariant {
        given: String,
        known: &'static [&'static str],
        is_key: bool,
    },
    Missing(&'static str),
    Other(String),
    /// Was noted when the tree was built.
    Noted,
}

impl Fault {
    pub fn new(kind: Kind) -> Fault {
        Fault { kind, path: Vec::new() }
    }

    /// The same, seen from one step further up.
    #[must_use]
    pub fn below(mut self, step: Step) -> Fault {
        self.path.push(step);
        self
    }

    pub fn path(&self) -> Vec<Step> {
        self.path.iter().rev().cloned().collect()
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.kind)
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Fault {
        Fault::new(Kind::Other(message.to_string()))
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Fault {
        let (found, expected) = (in_words(found), plainly(&expected.to_string()));
        Fault::new(Kind::Type { found, expected })
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Fault {
        de::Error::invalid_type(found, expected)
    }

    fn unknown_variant(given: &str, known: &'static [&'static str]) -> Fault {
        Fault::new(Kind::UnknownVariant { given: short(given), known, is_key: false })
    }

    fn unknown_field(field: &str, known: &'static [&'static str]) -> Fault {
        Fault::new(Kind::UnknownField { field: field.to_owned(), known })
    }

    fn missing_field(field: &'static str) -> Fault {
        Fault::new(Kind::Missing(field))
    }
}

/// At most 60 characters of a text, on one line.
pub(crate) fn short(text: &str) -> String {
    let line: String =
        text.chars().take(61).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn in_words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Unsigned(value) => format!("the number {value}"),
        Unexpected::Signed(value) => format!("the number {value}"),
        Unexpected::Float(value) => format!("the number {value}"),
        Unexpected::Str(text) => format!("the text `{}`", short(text)),
        Unexpected::Unit | Unexpected::Option => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

fn plainly(expected: &str) -> String {
    let range = |least: String, most: String| format!("a whole number from {least} to {most}");
    match expected {
        "a string" => "a text".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "u8" => range(u8::MIN.to_string(), u8::MAX.to_string()),
        "u16" => range(u16::MIN.to_string(), u16::MAX.to_string()),
        "u32" => range(u32::MIN.to_string(), u32::MAX.to_string()),
        "i32" => range(i32::MIN.to_string(), i32::MAX.to_string()),
        "u64" | "i64" | "usize" => "a whole number".to_owned(),
        "a map" => "a mapping".to_owned(),
        other if other.starts_with("struct ") => "a mapping".to_owned(),
        other => other.to_owned(),
    }
}
