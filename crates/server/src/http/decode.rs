//! Reading parameters, strictly: one reading is possible or none.
//!
//! Path parameters are percent-decoded exactly once (by the router). Query keys may not repeat, and
//! a parameter that does not exist is a mistake. Everything wrong here is `malformed`, with the
//! parameter named as `/query/limit` or `/path/node`.

use std::fmt;

use hostler_model::{Diagnostic, Error};
use serde::de::value::MapDeserializer;
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde_path_to_error::{Path, Segment};

use super::error::{malformed, shortened};

/// Reads query parameters from the part of an address after `?`.
pub(crate) fn query<T: DeserializeOwned>(raw: Option<&str>) -> Result<T, Error> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in raw.unwrap_or_default().split('&').filter(|p| !p.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let (key, value) = (form_text(key)?, form_text(value)?);
        if pairs.iter().any(|(known, _)| *known == key) {
            return Err(malformed(
                format!("the parameter `{}` is given twice", shortened(&key)),
                "give every parameter once",
            ));
        }
        pairs.push((key, value));
    }
    parameters("query", pairs.iter().map(|(k, v)| (k.as_str(), v.as_str())))
}

/// Reads decoded parameters into their type.
pub(crate) fn parameters<'a, T: DeserializeOwned>(
    place: &str,
    pairs: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<T, Error> {
    let map = MapDeserializer::new(pairs.map(|(key, value)| (key, Text(value))));
    serde_path_to_error::deserialize(map).map_err(|error: serde_path_to_error::Error<Wrong>| {
        let at = format!("/{place}{}", pointer(error.path()));
        let detail = error.inner().to_string();
        let mut refused = malformed(
            format!("a {place} parameter is wrong: {detail}"),
            "see /docs for the parameters of this endpoint",
        );
        refused.errors = vec![Diagnostic::new(at, detail)];
        refused
    })
}

/// Refuses what no parameter can contain.
pub(crate) fn check_text(text: &str) -> Result<(), Error> {
    if text.contains('\0') {
        return Err(malformed("a parameter contains a NUL character", "remove it"));
    }
    Ok(())
}

pub(crate) fn form_text(raw: &str) -> Result<String, Error> {
    let bad =
        |what: &str| malformed(format!("a query parameter {what}"), "encode it as in RFC 3986");
    let mut bytes = Vec::with_capacity(raw.len());
    let mut rest = raw.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = tail.get(..2).and_then(|d| std::str::from_utf8(d).ok());
                let value = digits
                    .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))
                    .and_then(|d| u8::from_str_radix(d, 16).ok())
                    .ok_or_else(|| bad("has a broken percent-encoding"))?;
                bytes.push(value);
                rest = &tail[2..];
            }
            other => bytes.push(other),
        }
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("is not UTF-8"))?;
    check_text(&text)?;
    Ok(text)
}

/// RFC 6901.
pub(crate) fn pointer(path: &Path) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => text.push_str(&format!("/{index}")),
            Segment::Map { key } => push_key(&mut text, key),
            Segment::Enum { variant } => push_key(&mut text, variant),
            Segment::Unknown => {}
        }
    }
    text
}

pub(crate) fn push_key(pointer: &mut String, key: &str) {
    pointer.push('/');
    for c in key.chars().take(200) {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            other => pointer.push(other),
        }
    }
}

/// A parameter: text that can be read as what its field wants.
#[derive(Clone, Copy)]
struct Text<'a>(&'a str);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Wrong(String);

impl de::Error for Wrong {
    fn custom<T: fmt::Display>(message: T) -> Wrong {
        Wrong(message.to_string())
    }
}

impl<'de> IntoDeserializer<'de, Wrong> for Text<'_> {
    type Deserializer = Self;
    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! numbers {
    ($($method:ident $visit:ident)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            let number = self.0.parse().map_err(|_| Wrong(format!("`{}` is not a number in range", shortened(self.0))))?;
            visitor.$visit(number)
        }
    )+};
}

impl<'de> de::Deserializer<'de> for Text<'_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_str(self.0)
    }
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            other => Err(Wrong(format!("`{}` is not `true` or `false`", shortened(other)))),
        }
    }
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_some(self)
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        visitor.visit_enum(self.0.into_deserializer())
    }
    numbers! {
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_f32 visit_f32
        deserialize_f64 visit_f64
    }
    serde::forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostler_model::{Code, Span};
    use serde::Deserialize;

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct Query {
        limit: Option<u32>,
        watch: Option<bool>,
        wait: Option<Span>,
        role: Option<hostler_model::Role>,
        text: Option<String>,
    }

    #[test]
    fn queries_are_read_as_their_types() {
        let read: Query =
            query(Some("limit=5&watch=true&wait=1m30s&role=admin&text=a%20b+c%2F")).unwrap();
        assert_eq!(read.limit, Some(5));
        assert_eq!(read.watch, Some(true));
        assert_eq!(read.wait, Some(Span::from_secs(90)));
        assert_eq!(read.role, Some(hostler_model::Role::Admin));
        assert_eq!(read.text.as_deref(), Some("a b c/"));
        assert_eq!(query::<Query>(None).unwrap(), Query::default());
    }

    #[test]
    fn wrong_queries_are_malformed() {
        for raw in [
            "limit=1&limit=2",
            "limit=x",
            "limit=-1",
            "limit=",
            "limit=99999999999",
            "watch=1",
            "wait=10",
            "role=king",
            "nope=1",
            "text=%zz",
            "text=%ff",
            "text=a%00b",
            "%6cimit=1&limit=2",
        ] {
            assert_eq!(query::<Query>(Some(raw)).unwrap_err().code, Code::Malformed, "{raw}");
        }
        let error = query::<Query>(Some("limit=x")).unwrap_err();
        assert_eq!(error.errors[0].pointer, "/query/limit");
    }
}
